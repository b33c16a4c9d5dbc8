//! After the last match: every record is read again, every identity is checked, and only then is there
//! a scorecard.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_engine::campus::Pack;
use tempfile::SpooledTempFile;

use crate::beside::side_by_side;
use crate::budget;
use crate::ending::{Class, Ending};
use crate::fault::RunFault;
use crate::folder::{
    self, COMMITMENTS, Folder, IDENTITIES, IDENTITIES_BYTES_MAX, JOURNAL, SCORECARD, SCORECARD_MD, SECRET,
    TEMPORARY, guest_name, match_name,
};
use crate::frozen::{Frozen, Matchup, pack_of};
use crate::identities::{self, Identity};
use crate::job::Jobs;
use crate::journal::{self, Entry};
use crate::names::{MATCHUPS_MAX, MatchId};
use crate::receipt::{Chain, Known};
use crate::record::{RECORD_BYTES_MAX, Record, Used, borne_digest, sealed_digest};
use crate::run::Watch;
use crate::scorecard::{self, Source};
use crate::standings::{MatchResult, Standing, Standings};

/// What a finished matrix is read with.
pub(crate) struct Plan<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) frozen: &'a Frozen,
    pub(crate) jobs: &'a Jobs,
    pub(crate) packs: &'a BTreeMap<Digest, Arc<Pack>>,
    /// Threads that share the reading.
    pub(crate) threads: usize,
}

/// What the records of a complete matrix say.
pub(crate) struct Tabulated<'a> {
    pub(crate) standings: Standings<'a>,
    pub(crate) digests: Vec<Digest>,
    /// What counts for budgets.
    pub(crate) used: Used,
    /// What was read anyway.
    pub(crate) known: Known,
    /// Records that not everybody may read yet.
    closed: Vec<String>,
    /// A row for each matchup, as the scorecard lists them: too many to keep in memory.
    pairs: SpooledTempFile,
}

/// What one record says.
struct Checked {
    result: MatchResult,
    /// The record's file.
    name: String,
    sha256: Digest,
    bytes: u64,
    is_open: bool,
}

/// Records that follow each other, as far as they hold.
#[derive(Default)]
struct Share {
    checked: Vec<Checked>,
    /// Their rows, as the scorecard lists them.
    rows: Vec<u8>,
    /// What came after them, if they are not all.
    stopped: Option<Stop>,
}

impl Share {
    fn panicked() -> Self {
        let fault = RunFault::Executor("checking records panicked".to_owned());
        Self { stopped: Some(Err(fault)), ..Self::default() }
    }
}

/// Why no further record is read: the run ends otherwise, or the machine failed.
type Stop = Result<Ending, RunFault>;

/// What one record is checked against.
struct Expected<'a> {
    entries: &'a [Entry],
    /// The matchups of which there is a guest file, listed once: where there is none, none is looked for.
    guests: &'a BTreeSet<MatchId>,
}

/// Records that a thread checks before it hands them over.
const SHARE: usize = 32;
/// Shares for each thread that may be under way or wait to be taken.
const AHEAD: usize = 4;
/// Most bytes of rows that are kept in memory; more are in a file.
const SPOOL_BYTES_MAX: usize = 16 << 20;
/// Rows and scorecards are written in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

/// Turns the end of the matrix into the end of the run: a success becomes one only if everything holds.
pub(crate) fn finish(
    plan: &Plan<'_>,
    ending: Ending,
    watch: &mut dyn Watch,
) -> Result<(Ending, Known), RunFault> {
    if ending.class != Class::Success {
        return Ok((ending, Known::default()));
    }
    let commitments = plan.folder.read(COMMITMENTS, IDENTITIES_BYTES_MAX)?.unwrap_or_default();
    let (seating, secret) = (plan.jobs.seating(), plan.jobs.secret());
    let frozen = (plan.frozen, plan.jobs.frozen_sha256());
    watch.talk("reading every record again");
    let (mismatches, tabulated) = side_by_side(
        || identities::validate(frozen, seating, secret, &commitments),
        || tabulate(plan, plan.frozen.matchups.len()),
    );
    if !mismatches.is_empty() {
        return Ok((Ending::mismatch(mismatches), Known::default()));
    }
    let mut tabulated = match tabulated? {
        Ok(tabulated) => tabulated,
        Err(ending) => return Ok((ending, Known::default())),
    };
    let standings = tabulated.standings.standings();
    publish(plan, &mut tabulated, &standings)?;
    Ok((ending, Known { standings, ..tabulated.known }))
}

/// Reads the first `count` records and checks each: against the journal, against the game, and what the
/// guests said against its digest. Threads share the work; the order of the result is the matrix's.
pub(crate) fn tabulate<'a>(plan: &Plan<'a>, count: usize) -> Result<Result<Tabulated<'a>, Ending>, RunFault> {
    let journal = plan.folder.read(JOURNAL, MATCHUPS_MAX as u64 * 1_024)?.unwrap_or_default();
    let ((sha256, guests), chain) = side_by_side(
        || (Digest::of(&journal), plan.folder.guests()),
        || journal::read(&journal, plan.jobs.frozen_sha256()),
    );
    let (entries, head) = match chain {
        Ok((entries, head, length)) if length == journal.len() && entries.len() == count => (entries, head),
        Ok((entries, ..)) => {
            let why = format!("the journal has {} whole lines, not {count}", entries.len());
            return Ok(Err(Ending::blocked(None, why)));
        }
        Err(broken) => return Ok(Err(Ending::blocked(Some(broken.id), broken))),
    };
    let guests = guests?;
    let mut rows = BufWriter::with_capacity(PIECE_BYTES, SpooledTempFile::new(SPOOL_BYTES_MAX));
    let mut standings = Standings::new(plan.frozen, plan.jobs.seating());
    let mut files = BTreeMap::from([(JOURNAL.to_owned(), (sha256, journal.len() as u64))]);
    let mut closed = Vec::new();
    let spooling = |why| RunFault::io("write to a file in", &std::env::temp_dir())(why);
    let expected = Expected { entries: &entries, guests: &guests };
    let checked = plan.check_each(&plan.frozen.matchups[..count], &expected, |matchups, share| {
        for (matchup, Checked { result, name, sha256, bytes, is_open }) in matchups.iter().zip(share.checked)
        {
            standings.add(matchup, &result);
            closed.extend((!is_open).then(|| name.clone()));
            files.insert(name, (sha256, bytes));
        }
        rows.write_all(&share.rows).map_err(|why| Err(spooling(why)))?;
        share.stopped.map_or(Ok(()), Err)
    });
    match checked {
        Ok(()) => {}
        Err(Ok(ending)) => return Ok(Err(ending)),
        Err(Err(fault)) => return Err(fault),
    }
    let pairs = rows.into_inner().map_err(|why| spooling(why.into_error()))?;
    if let Some(beyond) = budget::first_beyond(&plan.frozen.budget, entries.iter().map(|entry| entry.used)) {
        let why = "it was journaled although a budget was spent before it";
        return Ok(Err(Ending::blocked(Some(entries[beyond].id), why)));
    }
    let used = entries.iter().fold(Used::default(), |sum, entry| sum.plus(entry.used));
    let chain = Some(Chain { completed: count, used, head });
    let known = Known { files, chain, standings: Vec::new() };
    let digests = entries.into_iter().map(|entry| entry.digest).collect();
    Ok(Ok(Tabulated { standings, digests, used, known, closed, pairs }))
}

impl Plan<'_> {
    /// Checks records side by side, and hands them over in the order of the matrix until a share is not taken.
    /// Whoever is done takes the next share, and nobody is ahead of the last that was taken by more than a few.
    fn check_each<'m>(
        &self,
        matchups: &'m [Matchup],
        expected: &Expected<'_>,
        mut take: impl FnMut(&'m [Matchup], Share) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let shares: Vec<_> = matchups.chunks(SHARE).zip(expected.entries.chunks(SHARE)).collect();
        let threads = self.threads.min(shares.len());
        let check = |at: usize| self.check_share(shares[at], expected.guests);
        if threads <= 1 {
            return (0..shares.len()).try_for_each(|at| take(shares[at].0, check(at)));
        }
        let (give, given) = channel();
        let (tell, told) = channel();
        let given = Mutex::new(given);
        let next = || given.lock().ok().and_then(|given| given.recv().ok());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let (tell, next, check) = (tell.clone(), &next, &check);
                scope.spawn(move || {
                    while let Some(at) = next() {
                        let share = catch_unwind(AssertUnwindSafe(|| check(at)));
                        if tell.send((at, share.unwrap_or_else(|_| Share::panicked()))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(tell);
            // However this ends, both ends are gone then: nothing more is given, and who has something to tell ends.
            let (give, told) = (give, told);
            let (mut waiting, mut ahead) = (BTreeMap::new(), 0..shares.len());
            for (at, (matchups, _)) in shares.iter().enumerate() {
                while ahead.start < shares.len().min(at + AHEAD * threads) {
                    give.send(ahead.start).ok();
                    ahead.start += 1;
                }
                while !waiting.contains_key(&at)
                    && let Ok((at, share)) = told.recv()
                {
                    waiting.insert(at, share);
                }
                take(matchups, waiting.remove(&at).unwrap_or_else(Share::panicked))?;
            }
            Ok(())
        })
    }

    fn check_share(&self, (matchups, entries): (&[Matchup], &[Entry]), guests: &BTreeSet<MatchId>) -> Share {
        let mut share = Share::default();
        for (matchup, entry) in matchups.iter().zip(entries) {
            match self.check(matchup, entry, guests, &mut share.rows) {
                Ok(Ok(checked)) => share.checked.push(checked),
                Ok(Err(ending)) => {
                    share.stopped = Some(Ok(ending));
                    break;
                }
                Err(fault) => {
                    share.stopped = Some(Err(fault));
                    break;
                }
            }
        }
        share
    }

    /// Checks one record, and puts its row down.
    fn check(
        &self,
        matchup: &Matchup,
        entry: &Entry,
        guests: &BTreeSet<MatchId>,
        rows: &mut Vec<u8>,
    ) -> Result<Result<Checked, Ending>, RunFault> {
        let blocked = |why: String| Ok(Err(Ending::blocked(Some(matchup.id), why)));
        let name = match_name(matchup.id);
        let Some((bytes, about)) = self.folder.read_with(&name, RECORD_BYTES_MAX as u64)? else {
            return blocked(format!("{name} is missing"));
        };
        let job = self.jobs.job(self.frozen, matchup);
        let pack = pack_of(matchup).and_then(|sha256| self.packs.get(&sha256));
        // A record that is the very bytes that its facts lead to bears its own digest.
        let read = Record::read(&bytes, &job, pack);
        let sealed = if read.is_ok() { borne_digest(&bytes) } else { sealed_digest(&bytes) };
        if sealed != Some(entry.digest) {
            return blocked(format!("{name} is not the record that was journaled"));
        }
        let record = match read {
            Ok(record) => record,
            Err(why) => return blocked(format!("{name}: {why}")),
        };
        if record.used() != entry.used {
            return blocked(format!("{name} used another amount than was journaled"));
        }
        let said = if guests.contains(&matchup.id) {
            self.folder.read(&guest_name(matchup.id), RECORD_BYTES_MAX as u64)?
        } else {
            None
        };
        if said.as_deref().map(Digest::of) != record.guest_sha256() {
            return blocked(format!("{} is not what the guests said", guest_name(matchup.id)));
        }
        if !record.agrees_with_guest(said.as_deref()) {
            let guest = guest_name(matchup.id);
            return blocked(format!("{name}: /forfeits are not those whose words are in {guest}"));
        }
        scorecard::put_pair(rows, (self.frozen, self.jobs.seating()), matchup, &record);
        Ok(Ok(Checked {
            result: MatchResult::of(&record),
            name,
            sha256: Digest::of(&bytes),
            bytes: bytes.len() as u64,
            is_open: folder::is_open(&about),
        }))
    }

    /// Every identity.
    pub(crate) fn identities(&self) -> Vec<Identity> {
        let frozen = (self.frozen, self.jobs.frozen_sha256());
        identities::identities(frozen, self.jobs.seating(), self.jobs.secret())
    }

    /// Writes a scorecard of these records: for programs, and for people.
    pub(crate) fn write_scorecard(
        &self,
        tabulated: &mut Tabulated<'_>,
        rows: &[Standing],
        json: &mut dyn Write,
        markdown: &mut dyn Write,
    ) -> io::Result<()> {
        let frozen_sha256 = self.jobs.frozen_sha256();
        let source = Source {
            frozen: self.frozen,
            frozen_sha256,
            standings: &tabulated.standings,
            rows,
            digests: &tabulated.digests,
            identities: &self.identities(),
        };
        tabulated.pairs.rewind()?;
        scorecard::write(&source, &mut tabulated.pairs, json)?;
        scorecard::markdown(&source, markdown)
    }
}

/// Discloses the identities and publishes the scorecard. Everything is written before anything is
/// renamed: a disk that is full leaves nothing half-published.
fn publish(plan: &Plan<'_>, tabulated: &mut Tabulated<'_>, rows: &[Standing]) -> Result<(), RunFault> {
    let (frozen_sha256, secret) = (plan.jobs.frozen_sha256(), plan.jobs.secret());
    let disclosure = identities::disclosure_file(frozen_sha256, secret, plan.identities());
    let temporary = |name: &str| plan.folder.at(&format!("{name}{TEMPORARY}"));
    let (json, markdown) = (temporary(SCORECARD), temporary(SCORECARD_MD));
    let create = |path: &Path| match File::create(path) {
        Ok(file) => Ok(BufWriter::with_capacity(PIECE_BYTES, file)),
        Err(why) => Err(RunFault::io("create", path)(why)),
    };
    let mut files = [create(&json)?, create(&markdown)?];
    let [first, second] = &mut files;
    plan.write_scorecard(tabulated, rows, first, second).map_err(RunFault::io("write", &json))?;
    for (file, path) in files.into_iter().zip([&json, &markdown]) {
        let file = file.into_inner().map_err(|why| RunFault::io("write", path)(why.into_error()))?;
        file.sync_all().map_err(RunFault::io("sync", path))?;
    }
    plan.folder.write(IDENTITIES, &disclosure, 0o644)?;
    for (from, name) in [(json, SCORECARD), (markdown, SCORECARD_MD)] {
        let path = plan.folder.at(name);
        std::fs::rename(&from, &path).map_err(RunFault::io("rename", &path))?;
    }
    plan.folder.disclose(&tabulated.closed)?;
    plan.folder.remove(SECRET)
}

/// Takes back what was published of a run that has not succeeded after all. The secret is still there: it
/// goes last.
pub(crate) fn withdraw(folder: &Folder) -> Result<(), RunFault> {
    for name in [SCORECARD, SCORECARD_MD] {
        folder.remove(name)?;
        folder.remove(&format!("{name}{TEMPORARY}"))?;
    }
    if folder.at(SECRET).exists() {
        folder.remove(IDENTITIES)?;
        folder.remove(&format!("{IDENTITIES}{TEMPORARY}"))?;
    }
    Ok(())
}
