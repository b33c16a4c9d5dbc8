//! Recomputes everything a run left behind, and names the first thing that differs.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use arena_canon::{Digest, json};

use crate::ending::Class;
use crate::executor::{Done, Executor, Finished};
use crate::fault::RunFault;
use crate::finish::{self, Plan, Tabulated};
use crate::folder::{COMMITMENTS, IDENTITIES, RECEIPT, SCORECARD, SCORECARD_MD};
use crate::freeze::Pins;
use crate::frozen::Matchup;
use crate::identities;
use crate::names::MatchId;
use crate::receipt::{self, Receipt};
use crate::run::Run;

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
}

/// What differs: the first thing that was found.
pub type Difference = String;

/// Reads the run in `root` and recomputes its records, journal, identities, scorecard and receipt.
pub fn verify(root: &Path, pins: &Pins) -> Result<Result<Verification, Difference>, RunFault> {
    let run = match Run::open(root, pins)? {
        Ok(run) => run,
        Err(halted) => return Ok(Err(halted.reason().to_owned())),
    };
    let Some(bytes) = run.folder().read(RECEIPT, receipt::BYTES_MAX)? else {
        return Ok(Err(format!("{RECEIPT} is missing: the run has not ended; resume it")));
    };
    let receipt = match receipt::read(&bytes) {
        Ok(receipt) => receipt,
        Err(why) => return Ok(Err(format!("{RECEIPT} cannot be read: {why}"))),
    };
    let tabulated = match check(&run, &receipt)? {
        Ok(tabulated) => tabulated,
        Err(difference) => return Ok(Err(difference)),
    };
    let digests = tabulated.digests;
    Ok(Ok(Verification { run, receipt, digests }))
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
    let tabulated = match finish::tabulate(&plan, completed.min(run.frozen().matchups.len()))? {
        Ok(tabulated) => tabulated,
        Err(ending) if receipt.terminal == Class::Blocked => {
            return Ok(Err(format!("the run is blocked, and still is: {}", ending.reason)));
        }
        Err(ending) => return Ok(Err(ending.reason)),
    };
    let difference = check_class(&plan, receipt, &tabulated)?;
    let difference = match difference {
        None => check_receipt(&plan, receipt)?,
        found => found,
    };
    Ok(difference.map_or(Ok(tabulated), Err))
}

/// What the terminal class promises.
fn check_class(
    plan: &Plan<'_>,
    receipt: &Receipt,
    tabulated: &Tabulated<'_>,
) -> Result<Option<Difference>, RunFault> {
    let complete = tabulated.digests.len() == plan.frozen.matchups.len();
    if receipt.terminal != Class::Success {
        let card = [SCORECARD, SCORECARD_MD].into_iter().find(|name| plan.folder.at(name).exists());
        return Ok(card.map(|name| format!("{name} exists, and the run did not succeed")));
    }
    if !complete {
        return Ok(Some("the receipt says success, and the matrix is not complete".to_owned()));
    }
    let (seating, secret) = (plan.jobs.seating(), plan.jobs.secret());
    let commitments = plan.folder.read(COMMITMENTS, 16 << 20)?.unwrap_or_default();
    if let Some(mismatch) = identities::validate(plan.frozen, seating, secret, &commitments).first() {
        return Ok(Some(mismatch.0.clone()));
    }
    let identities = identities::identities(plan.frozen, seating, secret);
    let expected = identities::disclosure_file(plan.frozen.digest(), secret, identities);
    if plan.folder.read(IDENTITIES, 16 << 20)?.as_deref() != Some(&expected) {
        return Ok(Some(format!("{IDENTITIES} is not what the secret leads to")));
    }
    check_scorecard(plan, tabulated)
}

fn check_scorecard(plan: &Plan<'_>, tabulated: &Tabulated<'_>) -> Result<Option<Difference>, RunFault> {
    let open = |name: &str| {
        let path = plan.folder.at(name);
        File::open(&path).map_err(RunFault::io("open", &path))
    };
    let mut json = Compare::new(open(SCORECARD)?);
    let mut markdown = Compare::new(open(SCORECARD_MD)?);
    let path = plan.folder.at(SCORECARD);
    let written = plan.write_scorecard(tabulated, &mut json, &mut markdown);
    written.map_err(RunFault::io("recompute", &path))?;
    for (name, compared) in [(SCORECARD, json), (SCORECARD_MD, markdown)] {
        if let Some(line) = compared.first_difference() {
            return Ok(Some(format!("{name} differs from what its records lead to in line {line}")));
        }
    }
    Ok(None)
}

fn check_receipt(plan: &Plan<'_>, receipt: &Receipt) -> Result<Option<Difference>, RunFault> {
    let mut expected = receipt::assemble(plan.folder, plan.frozen, &receipt.ending())?;
    expected.run_id.clone_from(&receipt.run_id);
    expected.started_at.clone_from(&receipt.started_at);
    expected.finished_at.clone_from(&receipt.finished_at);
    expected.budget.wall_seconds = receipt.budget.wall_seconds;
    expected.versions.arena.clone_from(&receipt.versions.arena);
    expected.record_digest = expected.own_digest();
    let value = |receipt: &Receipt| serde_json::to_value(receipt).expect("a receipt has string keys");
    let (found, expected) = (value(receipt), value(&expected));
    let Some((at, found, expected)) = json::first_difference(&found, &expected) else { return Ok(None) };
    // A file that changed says more by its name than by its place in a list.
    let of = file_at(receipt, at.as_str()).map_or_else(String::new, |name| format!(" (of {name})"));
    let shown = |value: Option<&serde_json::Value>| {
        let text = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        arena_engine::Excerpt { text: &text, max: 90 }.to_string()
    };
    let text = format!("{RECEIPT}{of} says at {at} {}, and it is {}", shown(found), shown(expected));
    Ok(Some(text))
}

/// The file that a place of the receipt is about.
fn file_at<'r>(receipt: &'r Receipt, pointer: &str) -> Option<&'r str> {
    let index: usize = pointer.strip_prefix("/files/")?.split('/').next()?.parse().ok()?;
    receipt.files.get(index).map(|file| file.path.as_str())
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

    /// The matchups to play again: every one, or an even sample of at most `sample`.
    pub fn choose(&self, sample: Option<usize>) -> Vec<MatchId> {
        let count = self.digests.len();
        let wanted = sample.unwrap_or(count).min(count);
        (0..wanted).map(|k| MatchId((k * count / wanted.max(1)) as u32 + 1)).collect()
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
