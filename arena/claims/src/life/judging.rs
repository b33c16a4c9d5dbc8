//! What records and ballots come to: sides, verdicts, confirmed records, the outcome.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};

use super::world::{Challenge, Claim, Phase};
use crate::compare::{Cmp, Comparison, Row, compare, reruns};
use crate::document::{Object, digest_of};
use crate::fault::{Faults, Findings};
use crate::record::{Outcome, Record};
use crate::settle::{Ending, Vote};

/// A row of a report that a reviewer goes by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cited {
    /// Which comparison.
    pub cmp: Cmp,
    /// Which metric.
    pub metric: String,
}

/// What a reviewer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// Who is right, or that nobody can be, or nothing.
    pub vote: Vote,
    /// Challengers whose record is confirmed.
    pub confirms: BTreeSet<String>,
    /// The rows it goes by.
    pub rationale: Vec<Cited>,
    /// SHA-256 of a rerun, of all or a part.
    pub rerun_sha256: Option<Digest>,
}

const ROWS_MAX: usize = 64;

impl Ballot {
    /// Reads a ballot and holds it against the report: every cited row must be in it, and whoever is confirmed must
    /// have challenged.
    pub fn read(value: &Value, claim: &Claim) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(value, Pointer::default(), &mut findings);
        let ballot = object.and_then(|object| Self::of(&object, claim, &mut findings));
        findings.or_none(ballot)
    }

    fn of(object: &Object<'_>, claim: &Claim, findings: &mut Findings) -> Option<Self> {
        object.only(&["verdict", "confirms", "rationale", "rerun_sha256"], findings);
        let what = "runner_right, runner_wrong, spec_issue or abstain";
        let vote = object.read("verdict", what, findings, |value| match Vote::named(value.as_str()?)? {
            vote @ (Vote::Abstain
            | Vote::For(Ending::RunnerRight | Ending::RunnerWrong | Ending::SpecIssue)) => Some(vote),
            Vote::For(_) | Vote::NoShow => None,
        });
        let mut confirms = BTreeSet::new();
        for (at, value) in object.list("confirms", ROWS_MAX, findings) {
            match value.as_str().filter(|name| claim.challenge(name).is_some()) {
                Some(name) => drop(confirms.insert(name.to_owned())),
                None => findings.add(&at, "must be a challenger of the run"),
            }
        }
        let report = compared(claim);
        let known: BTreeSet<(Cmp, &str)> = report
            .iter()
            .flat_map(|(_, comparison)| &comparison.rows)
            .map(|row| (row.cmp, row.metric.as_str()))
            .collect();
        let mut rationale = Vec::new();
        for (at, value) in object.list("rationale", ROWS_MAX, findings) {
            let Some(row) = Object::of(value, at.clone(), findings) else { continue };
            row.only(&["cmp", "metric"], findings);
            let cmp = row.read("cmp", "C1, C2 or C3", findings, |value| {
                Cmp::ALL.into_iter().find(|cmp| Some(cmp.name()) == value.as_str())
            });
            let metric = row.text("metric", 256, findings);
            let (Some(cmp), Some(metric)) = (cmp, metric) else { continue };
            if !known.contains(&(cmp, metric)) {
                findings.add(&at, "is no row of the report");
            }
            rationale.push(Cited { cmp, metric: metric.to_owned() });
        }
        if rationale.is_empty() && vote.is_some_and(|vote| vote != Vote::Abstain) {
            findings.add(&object.place("rationale"), "a vote cites at least one row of the report");
        }
        let rerun_sha256 = match object.get("rerun_sha256") {
            None | Some(Value::Null) => None,
            Some(_) => object.read("rerun_sha256", "a digest or null", findings, digest_of),
        };
        Some(Self { vote: vote?, confirms, rationale, rerun_sha256 })
    }
}

/// The comparisons of all revealed challenges with the run, in the order of their commitments.
pub fn report_of(claim: &Claim) -> Vec<(String, Comparison)> {
    let Some(run) = claim.run.as_ref().and_then(|run| run.record.as_ref()) else { return Vec::new() };
    if !claim.report.is_empty() {
        return claim.report.clone();
    }
    let revealed =
        claim.challenges.iter().filter_map(|challenge| Some((challenge, challenge.record.as_ref()?)));
    revealed
        .map(|(challenge, record)| {
            let rules = &claim.manifest.rules;
            (challenge.agent.clone(), compare(rules, &run.results, &record.results))
        })
        .collect()
}

/// The same, made anew only while records are still revealed.
fn compared(claim: &Claim) -> Cow<'_, [(String, Comparison)]> {
    if claim.report.is_empty() { report_of(claim).into() } else { claim.report.as_slice().into() }
}

/// On which side every revealed challenger stands: whether it disagrees.
pub(super) fn sides(claim: &Claim) -> BTreeMap<String, bool> {
    let disagrees = |comparison: &Comparison| !comparison.agrees && !comparison.boundary;
    compared(claim).iter().map(|(agent, comparison)| (agent.clone(), disagrees(comparison))).collect()
}

pub(super) fn run_record(claim: &Claim) -> Option<&Record> {
    claim.run.as_ref()?.record.as_ref()
}

/// A vote as it counts: where the runner itself said that the manifest cannot be run, saying so too is saying that
/// the runner is right.
pub(super) fn counted(claim: &Claim, vote: Vote) -> Vote {
    let own = run_record(claim).map(|record| record.results.outcome);
    if vote == Vote::For(Ending::SpecIssue) && own == Some(Outcome::SpecIssue) {
        Vote::For(Ending::RunnerRight)
    } else {
        vote
    }
}

/// The verdict of the panel that voted last: more than half of its valid votes, a quorum of which there must be.
pub(super) fn tally(claim: &Claim) -> Option<Ending> {
    let panel = claim.panel()?;
    let ballots = panel.seats.iter().filter_map(|seat| seat.ballot.as_ref());
    let mut votes: BTreeMap<Ending, u64> = BTreeMap::new();
    for ballot in ballots {
        if let Vote::For(ending) = counted(claim, ballot.vote) {
            let count = votes.entry(ending).or_default();
            *count = count.saturating_add(1);
        }
    }
    let valid = votes.values().fold(0u64, |sum, count| sum.saturating_add(*count));
    if valid < claim.params.quorum {
        return None;
    }
    votes.into_iter().find(|(_, count)| count.saturating_mul(2) > valid).map(|(ending, _)| ending)
}

/// Whether two records are the same run: the same outcome, and every rerun comparison passes.
fn same_run(claim: &Claim, a: &Record, b: &Record) -> bool {
    let rows = reruns(&claim.manifest.rules, &a.results, &b.results);
    a.results.outcome == b.results.outcome && rows.iter().all(Row::passes)
}

/// What the reference's records say about the run.
pub(super) fn by_reference(claim: &Claim, references: &[Record]) -> Ending {
    let Some((first, rest)) = references.split_first() else { return Ending::SpecIssue };
    if !rest.iter().all(|other| same_run(claim, first, other)) {
        return Ending::SpecIssue;
    }
    match run_record(claim) {
        Some(run) if same_run(claim, run, first) => Ending::RunnerRight,
        _ => Ending::RunnerWrong,
    }
}

/// Whether a panel already said that the runner is wrong and only the outcome is open.
pub(super) fn only_outcome_open(claim: &Claim) -> bool {
    let wrong = matches!(claim.verdict, Some((1 | 2, Ending::RunnerWrong)));
    wrong && claim.appellants.is_empty() && confirmed_by_panel(claim).is_empty()
}

fn references_agree(claim: &Claim) -> bool {
    claim.references.split_first().is_some_and(|(first, rest)| rest.iter().all(|r| same_run(claim, first, r)))
}

/// Challengers named by more than half of the ballots for the panel's verdict.
pub(super) fn confirmed_by_panel(claim: &Claim) -> BTreeSet<String> {
    let Some((level, verdict)) = claim.verdict else { return BTreeSet::new() };
    let panel = claim.panels.iter().filter(|panel| panel.level == level);
    let ballots: Vec<&Ballot> = panel
        .flat_map(|panel| &panel.seats)
        .filter_map(|seat| seat.ballot.as_ref())
        .filter(|ballot| counted(claim, ballot.vote) == Vote::For(verdict))
        .collect();
    let named = |challenge: &&Challenge| {
        let names = ballots.iter().filter(|ballot| ballot.confirms.contains(&challenge.agent)).count();
        names.saturating_mul(2) > ballots.len()
    };
    claim.challenges.iter().filter(named).map(|challenge| challenge.agent.clone()).collect()
}

/// Whether a challenger's record is confirmed; nothing where records were not judged.
pub(super) fn is_confirmed(claim: &Claim, challenge: &Challenge) -> Option<bool> {
    if only_outcome_open(claim) {
        return Some(false);
    }
    if !claim.references.is_empty() {
        let record = challenge.record.as_ref()?;
        let reference = claim.references.first().filter(|_| references_agree(claim))?;
        return Some(same_run(claim, record, reference));
    }
    claim.verdict.map(|_| confirmed_by_panel(claim).contains(&challenge.agent))
}

/// The claim's outcome under `ending`. Nothing where only the reference can say.
pub(super) fn outcome_of(claim: &Claim, ending: Ending) -> Option<Outcome> {
    let own = run_record(claim).map(|record| record.results.outcome);
    match ending {
        Ending::Reproduced => Some(Outcome::Reproduced),
        Ending::NotReproduced => Some(Outcome::NotReproduced),
        Ending::SpecIssue => Some(Outcome::SpecIssue),
        Ending::InputMismatch => Some(Outcome::InputMismatch),
        Ending::RunnerRight => own,
        Ending::RunnerWrong => {
            let confirmed = claim.challenges.iter().find(|c| is_confirmed(claim, c) == Some(true));
            let found = confirmed.and_then(|challenge| challenge.record.as_ref());
            if let Some(record) = found {
                return Some(record.results.outcome);
            }
            if !claim.references.is_empty() {
                let first = claim.references.first().filter(|_| references_agree(claim));
                return Some(first.map_or(Outcome::SpecIssue, |reference| reference.results.outcome));
            }
            // Without a reference in time, nobody knows.
            (claim.phase == Phase::Reference).then_some(Outcome::SpecIssue)
        }
        Ending::NoShow | Ending::Withheld => None,
    }
}
