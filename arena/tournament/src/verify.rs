//! Recomputes everything a run left behind, and names the first thing that differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use arena_canon::{Digest, json};

use crate::budget::{self, Spent};
use crate::ending::{Class, Ending};
use crate::executor::{Done, Executor, Finished};
use crate::fault::RunFault;
use crate::finish::{self, Plan, Tabulated};
use crate::folder::{
    Folder, IDENTITIES, IDENTITIES_BYTES_MAX, RECEIPT, SCORECARD, SCORECARD_MD, component_name, open_regular,
};
use crate::freeze::Pins;
use crate::frozen::{Frozen, Matchup, MoveValidation, StrategyPin};
use crate::identities;
use crate::names::MatchId;
use crate::receipt::{self, FileSize, Known, Receipt};
use crate::run::{Run, WALL};

/// What a run was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How it says it ended.
    pub class: Class,
    /// Records that were replayed.
    pub records: usize,
    /// Matches that were played again.
    pub replayed: usize,
}

/// A run whose files were read and hold together; what is left is to play matches again.
pub struct Verification {
    run: Run,
    receipt: Receipt,
    digests: Vec<Digest>,
    /// Components that are not there, nor were given since.
    absent: BTreeSet<Digest>,
}

/// What differs: the first thing that was found.
pub type Difference = String;

/// Reads the run in `root` and recomputes its records, journal, identities, scorecard and receipt. Its components need
/// not be there for that, only to play matches again.
pub fn verify(root: &Path, pins: &Pins) -> Result<Result<Verification, Difference>, RunFault> {
    let run = match Run::open(root, pins) {
        Ok(Ok(run)) => run,
        Ok(Err(halted)) => return Ok(Err(halted.reason())),
        Err(RunFault::Damaged { why, .. }) => return Ok(Err(why)),
        Err(fault) => return Err(fault),
    };
    let Some(bytes) = run.folder().read(RECEIPT, receipt::BYTES_MAX)? else {
        let why = if run.folder().was_fetched() {
            "the run was not fetched whole; fetch it again, into the same folder"
        } else {
            "the run has not ended; resume it"
        };
        return Ok(Err(format!("{RECEIPT} is missing: {why}")));
    };
    let receipt = match receipt::read(&bytes) {
        Ok(receipt) => receipt,
        Err(why) => return Ok(Err(format!("{RECEIPT} cannot be read: {why}"))),
    };
    let digests = match check(&run, &receipt)? {
        Ok(tabulated) => tabulated.digests,
        Err(difference) => return Ok(Err(difference)),
    };
    let absent = absent(run.folder(), run.frozen());
    Ok(Ok(Verification { run, receipt, digests, absent }))
}

fn check<'r>(run: &'r Run, receipt: &Receipt) -> Result<Result<Tabulated<'r>, Difference>, RunFault> {
    let plan = Plan {
        folder: run.folder(),
        frozen: run.frozen(),
        jobs: run.jobs(),
        packs: run.packs(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let completed = receipt.matchups.completed as usize;
    let mut tabulated = match finish::tabulate(&plan, completed.min(run.frozen().matchups.len()))? {
        Ok(tabulated) => tabulated,
        Err(ending) => return Ok(Err(ending.reason)),
    };
    if let Some(difference) = check_class(&plan, receipt, &tabulated) {
        return Ok(Err(difference));
    }
    let mut difference = None;
    if receipt.terminal == Class::Success {
        difference = check_disclosure(&plan)?;
        if difference.is_none() {
            difference = check_scorecard(&plan, &mut tabulated)?;
        }
    }
    if difference.is_none() {
        difference = check_receipt(&plan, receipt, &tabulated.known)?;
    }
    Ok(difference.map_or(Ok(tabulated), Err))
}

/// Whether the run ended as it had to, by what it left.
fn check_class(plan: &Plan<'_>, receipt: &Receipt, tabulated: &Tabulated<'_>) -> Option<Difference> {
    let (completed, planned) = (tabulated.digests.len(), plan.frozen.matchups.len());
    let spent = budget::spent(&plan.frozen.budget, completed, tabulated.used);
    let told = receipt.ending();
    let class = told.class.name();
    let complete = completed == planned;
    let card = [SCORECARD, SCORECARD_MD].into_iter().find(|name| plan.folder.at(name).exists());
    let wrong = match told.class {
        Class::Success if !complete => "and the matrix is not complete".to_owned(),
        Class::Success if told != Ending::success() => "and gives another reason for it".to_owned(),
        Class::Success => return None,
        _ if card.is_some() => format!("and there is {}", card.unwrap_or_default()),
        _ if complete => "and the matrix is complete, and everything holds".to_owned(),
        Class::Exhausted => {
            let by_clock =
                plan.frozen.budget.wall_seconds.filter(|limit| receipt.budget.wall_seconds >= *limit);
            let reasons = [
                spent.map(|spent| spent.reason(completed, planned)),
                by_clock.map(|limit| {
                    let used = receipt.budget.wall_seconds;
                    Spent { name: WALL, limit, used }.reason(completed, planned)
                }),
            ];
            if reasons.iter().flatten().any(|reason| *reason == told.reason) {
                return None;
            }
            "and no budget is spent that says so".to_owned()
        }
        _ if spent.is_some() => "and a budget is spent".to_owned(),
        Class::Stalled if told.matchup.is_none() => "and does not name the matchup".to_owned(),
        Class::Stalled => return None,
        Class::Blocked if plan.frozen.protocol.move_validation == MoveValidation::Block => return None,
        Class::Blocked => "and nothing is found that blocks it".to_owned(),
    };
    Some(format!("{RECEIPT} says {class}, {wrong}"))
}

fn check_disclosure(plan: &Plan<'_>) -> Result<Option<Difference>, RunFault> {
    let (frozen_sha256, secret) = (plan.jobs.frozen_sha256(), plan.jobs.secret());
    let expected = identities::disclosure_file(frozen_sha256, secret, plan.identities());
    let found = plan.folder.read(IDENTITIES, IDENTITIES_BYTES_MAX)?;
    let same = found.as_deref() == Some(expected.as_slice());
    Ok((!same).then(|| format!("{IDENTITIES} is not what the secret leads to")))
}

fn check_scorecard(plan: &Plan<'_>, tabulated: &mut Tabulated<'_>) -> Result<Option<Difference>, RunFault> {
    let open = |name: &str| {
        let path = plan.folder.at(name);
        open_regular(&path).map_err(RunFault::io("open", &path))
    };
    let mut json = Compare::new(open(SCORECARD)?);
    let mut markdown = Compare::new(open(SCORECARD_MD)?);
    let path = plan.folder.at(SCORECARD);
    let rows = tabulated.standings.standings();
    let written = plan.write_scorecard(tabulated, &rows, &mut json, &mut markdown);
    written.map_err(RunFault::io("recompute", &path))?;
    for (name, compared) in [(SCORECARD, json), (SCORECARD_MD, markdown)] {
        if let Some(line) = compared.first_difference() {
            return Ok(Some(format!("{name} differs from what its records lead to in line {line}")));
        }
    }
    Ok(None)
}

fn check_receipt(plan: &Plan<'_>, receipt: &Receipt, known: &Known) -> Result<Option<Difference>, RunFault> {
    let frozen = (plan.frozen, plan.jobs.frozen_sha256());
    let mut expected = receipt::assemble(plan.folder, frozen, &receipt.ending(), known)?;
    expected.run_id.clone_from(&receipt.run_id);
    expected.started_at.clone_from(&receipt.started_at);
    expected.finished_at.clone_from(&receipt.finished_at);
    expected.budget.wall_seconds = receipt.budget.wall_seconds;
    expected.versions.arena.clone_from(&receipt.versions.arena);
    expect_absent(plan, receipt, &mut expected);
    expected.record_digest = expected.own_digest();
    if let Some(difference) = check_files(receipt, &expected) {
        return Ok(Some(difference));
    }
    let value = |receipt: &Receipt| serde_json::to_value(receipt).expect("a receipt has string keys");
    let (found, expected) = (value(receipt), value(&expected));
    let Some((at, found, expected)) = json::first_difference(&found, &expected) else { return Ok(None) };
    let shown = |value: Option<&serde_json::Value>| {
        let text = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        arena_engine::Excerpt { text: &text, max: 90 }.to_string()
    };
    let text = format!("{RECEIPT} says at {at} {}, and it is {}", shown(found), shown(expected));
    Ok(Some(text))
}

/// The components that are not in the folder of a run.
fn absent(folder: &Folder, frozen: &Frozen) -> BTreeSet<Digest> {
    let is_absent = |sha256: &Digest| {
        let about = folder.at(&component_name(*sha256)).symlink_metadata();
        about.is_err_and(|why| why.kind() == io::ErrorKind::NotFound)
    };
    frozen.strategies.iter().map(|pin| pin.sha256).filter(is_absent).collect()
}

/// A component that is not there is expected as it was frozen; only its size is taken from the receipt.
fn expect_absent(plan: &Plan<'_>, receipt: &Receipt, expected: &mut Receipt) {
    for sha256 in absent(plan.folder, plan.frozen) {
        let path = component_name(sha256);
        let bytes = receipt.files.iter().find(|file| file.path == path).map_or(0, |file| file.bytes);
        let at = expected.files.partition_point(|file| file.path < path);
        expected.files.insert(at, FileSize { path, sha256, bytes });
    }
}

/// A file that the receipt lists and that is another, or is not there, or is there and not listed.
fn check_files(receipt: &Receipt, expected: &Receipt) -> Option<Difference> {
    let by_name = |receipt: &Receipt| -> BTreeMap<String, (Digest, u64)> {
        let files = receipt.files.iter();
        files.map(|file| (file.path.clone(), (file.sha256, file.bytes))).collect()
    };
    let (listed, there) = (by_name(receipt), by_name(expected));
    let names: BTreeSet<&String> = listed.keys().chain(there.keys()).collect();
    let name = names.into_iter().find(|name| listed.get(*name) != there.get(*name))?;
    let shown = arena_engine::Excerpt { text: name, max: 120 };
    Some(match (listed.get(name), there.get(name)) {
        (Some(_), None) => format!("{shown} is missing: {RECEIPT} lists it"),
        (None, _) => format!("{shown} is not listed in {RECEIPT}"),
        (Some(_), Some(_)) => format!("{shown} is not the file that {RECEIPT} lists"),
    })
}

impl Verification {
    /// The records, by their matchups.
    pub fn records(&self) -> usize {
        self.digests.len()
    }

    /// How the run says it ended.
    pub fn class(&self) -> Class {
        self.receipt.terminal
    }

    /// Where the run is.
    pub fn root(&self) -> &Path {
        self.run.root()
    }

    /// The strategies whose components are not there: what they play cannot be played again.
    pub fn absent(&self) -> Vec<&StrategyPin> {
        let strategies = self.run.frozen().strategies.iter();
        strategies.filter(|pin| self.absent.contains(&pin.sha256)).collect()
    }

    /// Takes note of a component that somebody gives from elsewhere, for [`crate::Shelf`] to hand out. Gives `false` if
    /// it is none that is missed.
    pub fn lend(&mut self, sha256: Digest, bytes: u64) -> Result<bool, Difference> {
        let path = component_name(sha256);
        if !self.absent.remove(&sha256) {
            return Ok(false);
        }
        let listed = self.receipt.files.iter().find(|file| file.path == path).map_or(0, |file| file.bytes);
        if listed == bytes {
            return Ok(true);
        }
        Err(format!("{RECEIPT} says that {path} has {listed} bytes, and it has {bytes}"))
    }

    /// The matchups to play again: every one whose components are there, or a sample of at most so many, drawn by
    /// `luck`. A sample that could be foreseen would be one that a forger leaves alone.
    pub fn choose(&self, sample: Option<usize>, mut luck: u64) -> Vec<MatchId> {
        let (frozen, jobs) = (self.run.frozen(), self.run.jobs());
        let recorded = frozen.matchups.iter().take(self.digests.len());
        let is_playable = |matchup: &&Matchup| {
            let strategies = jobs.job(frozen, matchup).strategies;
            !strategies.iter().any(|sha256| self.absent.contains(sha256))
        };
        let mut ids: Vec<MatchId> = recorded.filter(is_playable).map(|matchup| matchup.id).collect();
        let count = ids.len();
        let wanted = sample.unwrap_or(count).min(count);
        if wanted < count {
            for k in 0..wanted {
                luck = luck.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (luck ^ (luck >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ids.swap(k, k + ((mixed ^ (mixed >> 31)) % (count - k) as u64) as usize);
            }
            ids.truncate(wanted);
            ids.sort_unstable();
        }
        ids
    }

    /// Plays these matchups again: each must give the record that is there.
    pub fn replay(
        &self,
        ids: &[MatchId],
        executor: &mut dyn Executor,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Result<Verified, Difference>, RunFault> {
        let frozen = self.run.frozen();
        let matchups: Vec<&Matchup> = ids.iter().filter_map(|id| frozen.matchup(*id)).collect();
        let (mut given, mut done) = (0, 0);
        while done < matchups.len() {
            while given < matchups.len() && given - done < executor.window() {
                executor.submit(&self.run.jobs().job(frozen, matchups[given]))?;
                given += 1;
            }
            let Some(finished) = executor.next(std::time::Duration::from_secs(1))? else { continue };
            if let Err(difference) = self.compare(&finished) {
                return Ok(Err(difference));
            }
            done += 1;
            progress(done);
        }
        let (class, records) = (self.class(), self.records());
        Ok(Ok(Verified { class, records, replayed: done }))
    }

    fn compare(&self, finished: &Finished) -> Result<(), Difference> {
        let id = finished.id;
        let recorded = self.digests.get((id.0 as usize).wrapping_sub(1));
        match &finished.result {
            Ok(Done::Match { digest, .. }) if recorded == Some(digest) => Ok(()),
            Ok(Done::Match { .. }) => Err(format!("{id}, played again, gives another record")),
            Ok(Done::Violation(violation)) => Err(format!("{id}, played again, is stopped: {violation}")),
            Err(why) => Err(format!("{id} could not be played again: {why}")),
        }
    }
}

/// Compares what is written with what a file holds.
struct Compare {
    file: BufReader<File>,
    line: usize,
    differs: bool,
}

impl Compare {
    fn new(file: File) -> Self {
        Self { file: BufReader::with_capacity(64 << 10, file), line: 1, differs: false }
    }

    /// The first line that differs, once everything is written.
    fn first_difference(mut self) -> Option<usize> {
        let more = self.file.read(&mut [0]).is_ok_and(|read| read > 0);
        (self.differs || more).then_some(self.line)
    }
}

impl Write for Compare {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.differs {
            let mut found = vec![0; bytes.len()];
            let whole = self.file.read_exact(&mut found).is_ok();
            let same = found.iter().zip(bytes).take_while(|(found, byte)| found == byte).count();
            let agreed = if whole && found == bytes { bytes.len() } else { same.min(bytes.len()) };
            self.line += bytes[..agreed].iter().filter(|byte| **byte == b'\n').count();
            self.differs = !whole || found != bytes;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
