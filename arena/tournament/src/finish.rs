//! After the last match: every record is read again, every identity is checked, and only then is there
//! a scorecard.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::Pack;

use crate::ending::{Class, Ending};
use crate::fault::RunFault;
use crate::folder::{
    COMMITMENTS, Folder, IDENTITIES, JOURNAL, SCORECARD, SCORECARD_MD, SECRET, TEMPORARY, guest_name,
    match_name,
};
use crate::frozen::{Frozen, Matchup, pack_of};
use crate::identities;
use crate::job::Jobs;
use crate::journal;
use crate::names::MATCHUPS_MAX;
use crate::record::{RECORD_BYTES_MAX, Record, RecordFault, sealed_digest};
use crate::run::Watch;
use crate::scorecard::{self, Source};
use crate::standings::Standings;

/// What a finished matrix is read with.
pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) frozen: &'a Frozen,
    pub(crate) jobs: &'a Jobs,
    pub(crate) packs: &'a BTreeMap<Digest, Arc<Pack>>,
}

/// What the records of a complete matrix say.
pub(crate) struct Tabulated<'a> {
    pub(crate) standings: Standings<'a>,
    pub(crate) digests: Vec<Digest>,
}

/// Turns the end of the matrix into the end of the run: a success becomes one only if everything holds.
pub(crate) fn finish(plan: &Plan<'_>, ending: Ending, watch: &mut dyn Watch) -> Result<Ending, RunFault> {
    if ending.class != Class::Success {
        return Ok(ending);
    }
    let commitments = plan.folder.read(COMMITMENTS, 16 << 20)?.unwrap_or_default();
    let (seating, secret) = (plan.jobs.seating(), plan.jobs.secret());
    let mismatches = identities::validate(plan.frozen, seating, secret, &commitments);
    if !mismatches.is_empty() {
        let mut ending = Ending::blocked(None, "an identity does not hold");
        ending.mismatches = mismatches.into_iter().map(|mismatch| mismatch.0).collect();
        return Ok(ending);
    }
    watch.talk("reading every record again");
    let tabulated = match tabulate(plan, plan.frozen.matchups.len())? {
        Ok(tabulated) => tabulated,
        Err(ending) => return Ok(ending),
    };
    publish(plan, &tabulated)?;
    Ok(ending)
}

/// Reads the first `count` records and checks each: against the journal, against the game, and what the
/// guests said against its digest.
pub(crate) fn tabulate<'a>(plan: &Plan<'a>, count: usize) -> Result<Result<Tabulated<'a>, Ending>, RunFault> {
    let journal = plan.folder.read(JOURNAL, MATCHUPS_MAX as u64 * 1_024)?.unwrap_or_default();
    let entries = match journal::read(&journal, plan.frozen.digest()) {
        Ok((entries, _, length)) if length == journal.len() && entries.len() == count => entries,
        Ok((entries, ..)) => {
            let why = format!("the journal has {} whole lines, not {count}", entries.len());
            return Ok(Err(Ending::blocked(None, why)));
        }
        Err(broken) => return Ok(Err(Ending::blocked(Some(broken.id), broken))),
    };
    let mut standings = Standings::new(plan.frozen, plan.jobs.seating());
    let mut digests = Vec::with_capacity(count);
    for (matchup, entry) in plan.frozen.matchups.iter().zip(&entries) {
        let blocked = |why: String| Ok(Err(Ending::blocked(Some(matchup.id), why)));
        let name = match_name(matchup.id);
        let Some(bytes) = plan.folder.read(&name, RECORD_BYTES_MAX as u64)? else {
            return blocked(format!("{name} is missing"));
        };
        if sealed_digest(&bytes) != Some(entry.digest) {
            return blocked(format!("{name} is not the record that was journaled"));
        }
        let record = match plan.read(matchup, &bytes) {
            Ok(record) => record,
            Err(why) => return blocked(format!("{name}: {why}")),
        };
        if record.used() != entry.used {
            return blocked(format!("{name} used another amount than was journaled"));
        }
        if record.guest_sha256().is_some() {
            let said = plan.folder.read(&guest_name(matchup.id), RECORD_BYTES_MAX as u64)?;
            if said.as_deref().map(Digest::of) != record.guest_sha256() {
                return blocked(format!("{} is not what the guests said", guest_name(matchup.id)));
            }
        }
        standings.add(matchup, &record);
        digests.push(entry.digest);
    }
    Ok(Ok(Tabulated { standings, digests }))
}

impl Plan<'_> {
    fn read(&self, matchup: &Matchup, bytes: &[u8]) -> Result<Record, RecordFault> {
        let job = self.jobs.job(self.frozen, matchup);
        let pack = pack_of(matchup).and_then(|sha256| self.packs.get(&sha256));
        Record::read(bytes, &job, pack)
    }

    /// The record of `matchup`, read a second time.
    pub(crate) fn record(&self, matchup: &Matchup) -> io::Result<Record> {
        let bytes = self.folder.read(&match_name(matchup.id), RECORD_BYTES_MAX as u64);
        let bytes = bytes.map_err(io::Error::other)?.unwrap_or_default();
        self.read(matchup, &bytes).map_err(io::Error::other)
    }

    /// Writes a scorecard of these records: for programs, and for people.
    pub(crate) fn write_scorecard(
        &self,
        tabulated: &Tabulated<'_>,
        json: &mut dyn Write,
        markdown: &mut dyn Write,
    ) -> io::Result<()> {
        let identities = identities::identities(self.frozen, self.jobs.seating(), self.jobs.secret());
        let record = |matchup: &Matchup| self.record(matchup);
        let source = Source {
            frozen: self.frozen,
            standings: &tabulated.standings,
            digests: &tabulated.digests,
            identities: &identities,
            record: &record,
        };
        scorecard::write(&source, json)?;
        scorecard::markdown(&source, markdown)
    }
}

/// Discloses the identities and publishes the scorecard.
fn publish(plan: &Plan<'_>, tabulated: &Tabulated<'_>) -> Result<(), RunFault> {
    let (seating, secret) = (plan.jobs.seating(), plan.jobs.secret());
    let identities = identities::identities(plan.frozen, seating, secret);
    let disclosure = identities::disclosure_file(plan.frozen.digest(), secret, identities);
    let temporary = |name: &str| plan.folder.at(&format!("{name}{TEMPORARY}"));
    let (json, markdown) = (temporary(SCORECARD), temporary(SCORECARD_MD));
    let create = |path: &Path| File::create(path).map_err(RunFault::io("create", path));
    let mut files = [BufWriter::new(create(&json)?), BufWriter::new(create(&markdown)?)];
    let [first, second] = &mut files;
    plan.write_scorecard(tabulated, first, second).map_err(RunFault::io("write", &json))?;
    for (file, path) in files.into_iter().zip([&json, &markdown]) {
        let file = file.into_inner().map_err(|why| RunFault::io("write", path)(why.into_error()))?;
        file.sync_all().map_err(RunFault::io("sync", path))?;
    }
    plan.folder.write(IDENTITIES, &disclosure, 0o644)?;
    for (from, name) in [(json, SCORECARD), (markdown, SCORECARD_MD)] {
        let path = plan.folder.at(name);
        std::fs::rename(&from, &path).map_err(RunFault::io("rename", &path))?;
    }
    plan.folder.remove(SECRET)?;
    plan.folder.disclose()
}
