//! What an earlier attempt left behind: the resume point, found without playing anything.

use std::collections::BTreeMap;
use std::fs;

use arena_canon::Digest;

use super::Run;
use crate::budget;
use crate::ending::Ending;
use crate::fault::RunFault;
use crate::folder::{MATCHES, guest_name, match_name};
use crate::journal::Journal;
use crate::names::MatchId;
use crate::record::{RECORD_BYTES_MAX, Record, Used, sealed_digest};

/// Where a run is to go on.
pub(crate) struct Scanned {
    /// Journaled records whose files are missing: played again, they must give these digests.
    pub(crate) holes: BTreeMap<u32, Digest>,
    /// Records beyond the journal's end that are valid: kept, and journaled in order.
    pub(crate) kept: BTreeMap<u32, (Digest, Used)>,
    /// What the journaled records count.
    pub(crate) used: Used,
}

/// Holds the journal and the records against each other.
pub(crate) fn scan(run: &Run, journal: &Journal) -> Result<Result<Scanned, Ending>, RunFault> {
    let planned = run.frozen.matchups.len();
    if journal.entries().len() > planned {
        let why = format!("the journal has {} records of {planned} matchups", journal.entries().len());
        return Ok(Err(Ending::blocked(None, why)));
    }
    let beyond = budget::first_beyond(&run.frozen.budget, journal.entries().iter().map(|entry| entry.used));
    if let Some(entry) = beyond.and_then(|k| journal.entries().get(k)) {
        let why = "it was journaled although a budget was spent before it";
        return Ok(Err(Ending::blocked(Some(entry.id), why)));
    }
    let present = match present(run)? {
        Ok(present) => present,
        Err(ending) => return Ok(Err(ending)),
    };
    let mut scanned = Scanned { holes: BTreeMap::new(), kept: BTreeMap::new(), used: Used::default() };
    for entry in journal.entries() {
        scanned.used = scanned.used.plus(entry.used);
        if !present.contains(&entry.id) {
            scanned.holes.insert(entry.id.0, entry.digest);
            continue;
        }
        let bytes = run.folder.read(&match_name(entry.id), RECORD_BYTES_MAX as u64)?;
        match bytes.as_deref().map(sealed_digest) {
            Some(Some(digest)) if digest == entry.digest => {}
            _ => {
                let why = format!("{} is not the record that was journaled", match_name(entry.id));
                return Ok(Err(Ending::blocked(Some(entry.id), why)));
            }
        }
    }
    for id in present.range(MatchId(journal.entries().len() as u32 + 1)..) {
        match valid(run, *id)? {
            Some(kept) => drop(scanned.kept.insert(id.0, kept)),
            None => run.folder.remove(&match_name(*id))?,
        }
    }
    Ok(Ok(scanned))
}

/// The ids of the records that are there.
fn present(run: &Run) -> Result<Result<std::collections::BTreeSet<MatchId>, Ending>, RunFault> {
    let path = run.folder.at(MATCHES);
    let mut present = std::collections::BTreeSet::new();
    for entry in fs::read_dir(&path).map_err(RunFault::io("read", &path))? {
        let name = entry.map_err(RunFault::io("read", &path))?.file_name();
        let name = name.to_string_lossy();
        let id = name.strip_suffix(".json").and_then(|id| id.parse::<MatchId>().ok());
        match id.filter(|id| run.frozen.matchup(*id).is_some()) {
            Some(id) => drop(present.insert(id)),
            None => {
                let name = arena_engine::Excerpt { text: &name, max: 80 };
                let why = format!("{MATCHES}/{name} belongs to no matchup of this tournament");
                return Ok(Err(Ending::blocked(None, why)));
            }
        }
    }
    Ok(Ok(present))
}

/// A record that nobody journaled, if it is whole, of this tournament, and follows from its moves.
fn valid(run: &Run, id: MatchId) -> Result<Option<(Digest, Used)>, RunFault> {
    let Some(matchup) = run.frozen.matchup(id) else { return Ok(None) };
    let Some(bytes) = run.folder.read(&match_name(id), RECORD_BYTES_MAX as u64)? else { return Ok(None) };
    let job = run.jobs.job(&run.frozen, matchup);
    let pack = crate::frozen::pack_of(matchup).and_then(|sha256| run.packs.get(&sha256));
    let Ok(record) = Record::read(&bytes, &job, pack) else { return Ok(None) };
    let guest = run.folder.read(&guest_name(id), RECORD_BYTES_MAX as u64)?;
    let said_the_same = guest.as_deref().map(Digest::of) == record.guest_sha256()
        && record.agrees_with_guest(guest.as_deref());
    Ok(sealed_digest(&bytes).filter(|_| said_the_same).map(|digest| (digest, record.used())))
}
