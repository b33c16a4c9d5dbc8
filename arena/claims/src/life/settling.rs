//! Ends: a claim as a case, its settlement as a transaction, and what it does to standing.

use arena_ledger::{Account, Amount, Transaction};

use super::event::{Event, Withdrawal};
use super::judging::{counted, is_confirmed, outcome_of, run_record, sides};
use super::world::{Claim, Run, World};
use crate::params::{Params, part};
use crate::record::Outcome;
use crate::settle::{
    Appeal, Case, Challenger, Ending, PostingError, Reviewer, Vote, refund, settle, settle_into,
};

const SETTLED_RUN: i32 = 2;
const OVERTURNED: i32 = -50;
pub(super) const NO_SHOW: i32 = -20;
pub(super) const SILENT: i32 = -10;
pub(super) const UNEXPLAINED: i32 = -5;

/// The claim as settlement sees it.
pub(super) fn case_of(claim: &Claim, ending: Ending, undecided: bool) -> Case {
    let sides = sides(claim);
    let mut case = Case::bare(ending, (*claim.params).clone());
    for challenge in &claim.challenges {
        let party = Challenger {
            name: challenge.agent.clone(),
            record_ok: is_confirmed(claim, challenge),
            revealed: challenge.record.is_some(),
        };
        let disagrees = sides.get(&challenge.agent).copied().unwrap_or_default();
        if disagrees { &mut case.disagree } else { &mut case.agree }.push(party);
    }
    for seat in claim.panels.iter().flat_map(|panel| &panel.seats) {
        let vote = seat.ballot.as_ref().map_or(Vote::NoShow, |ballot| counted(claim, ballot.vote));
        case.reviewers.push(Reviewer { name: seat.agent.clone(), vote });
    }
    case.auditor = claim.audit.auditor.clone().filter(|auditor| claim.challenge(auditor).is_some());
    let panel = claim.verdict.map(|(_, verdict)| verdict);
    for name in &claim.appellants {
        let name = if claim.runner() == Some(name.as_str()) { "runner" } else { name };
        case.appeals.push(Appeal { name: name.to_owned(), won: panel != Some(ending) });
    }
    let own = run_record(claim).map(|record| record.results.outcome);
    case.self_report = ending == Ending::RunnerRight && own == Some(Outcome::SpecIssue);
    case.undecided = undecided;
    case
}

fn transaction_of(world: &World, claim: &Claim, run: &Run, case: &Case) -> Result<Transaction, PostingError> {
    let (asset, job) = (&world.instance.asset, claim.job_name());
    let settlement = settle(case);
    let mut transaction =
        settle_into(case, &settlement, asset, &job, &run.runner, &claim.funders, &claim.submitter)?;
    // An auditor that accepted and never committed is in no case.
    if let Some(auditor) = claim.audit.auditor.as_deref().filter(|_| claim.audit.accepted) {
        let bond = Account::lock(asset, &job, "auditor", auditor)?;
        let to = match silent_auditor(claim) {
            Some(_) => Account::treasury(asset),
            None => Account::avail(asset, auditor)?,
        };
        transaction.push(&bond, &to, auditor_bond(&claim.params));
    }
    Ok(transaction)
}

/// What an auditor locks by accepting: as much as it loses if it never commits.
pub(super) fn auditor_bond(params: &Params) -> Amount {
    part(params.challenger_stake, params.auditor_no_show_bps)
}

fn silent_auditor(claim: &Claim) -> Option<&str> {
    let auditor = claim.audit.auditor.as_deref().filter(|_| claim.audit.accepted)?;
    claim.challenge(auditor).is_none().then_some(auditor)
}

/// The claim ends so: money, standing, the operator's record.
pub(super) fn end(world: &World, claim: &Claim, ending: Ending, undecided: bool) -> Vec<Event> {
    let Some(run) = &claim.run else { return Vec::new() };
    let case = case_of(claim, ending, undecided);
    // Names were checked when agents registered, and funders are there: it is a transaction.
    let Ok(transaction) = transaction_of(world, claim, run, &case) else { return Vec::new() };
    let mut events = standing_changes(claim, run, ending, &case);
    events.extend(valid_run(world, claim, run, ending, &case));
    events.push(match outcome_of(claim, ending) {
        Some(outcome) => Event::Settled { claim: claim.id.clone(), outcome, ending, transaction },
        None => Event::ClaimWithdrawn { claim: claim.id.clone(), why: Withdrawal::Withheld, transaction },
    });
    events
}

fn standing_changes(claim: &Claim, run: &Run, ending: Ending, case: &Case) -> Vec<Event> {
    let of_runner = match ending {
        Ending::RunnerWrong | Ending::Withheld => OVERTURNED,
        Ending::NoShow => NO_SHOW,
        Ending::Reproduced
        | Ending::NotReproduced
        | Ending::RunnerRight
        | Ending::SpecIssue
        | Ending::InputMismatch => SETTLED_RUN,
    };
    let mut events = vec![Event::StandingChanged { agent: run.runner.clone(), change: of_runner }];
    let absent = case.reviewers.iter().filter(|reviewer| reviewer.vote == Vote::NoShow);
    let absent = absent.map(|reviewer| reviewer.name.as_str()).chain(silent_auditor(claim));
    events.extend(absent.map(|agent| Event::StandingChanged { agent: agent.to_owned(), change: NO_SHOW }));
    events
}

/// A run counts as valid when somebody looked: an auditor agreed, or a challenge was answered.
fn valid_run(world: &World, claim: &Claim, run: &Run, ending: Ending, case: &Case) -> Option<Event> {
    let valid = match ending {
        Ending::RunnerWrong | Ending::Withheld => false,
        Ending::Reproduced | Ending::NotReproduced | Ending::RunnerRight => {
            let looked = case.agree.iter().chain(&case.disagree).any(|party| party.revealed);
            if !looked {
                return None;
            }
            true
        }
        Ending::SpecIssue | Ending::InputMismatch | Ending::NoShow => return None,
    };
    let operator = world.operator_of(&run.runner)?.to_owned();
    let mut capabilities: Vec<String> = claim.manifest.capabilities.iter().cloned().collect();
    if capabilities.is_empty() {
        capabilities.push(String::new());
    }
    Some(Event::ValidRunCounted { operator, capabilities, valid })
}

/// The runner published nothing in time: a part of its stake, and the job is drawn again.
pub(super) fn no_show(world: &World, claim: &Claim) -> Option<Transaction> {
    let run = claim.run.as_ref()?;
    let case = Case::bare(Ending::NoShow, (*claim.params).clone());
    transaction_of(world, claim, run, &case).ok()
}

/// A stake back, less `lost`, which the treasury keeps.
pub(super) fn release(
    world: &World,
    claim: &Claim,
    role: &str,
    agent: &str,
    stake: Amount,
    lost: Amount,
) -> Transaction {
    let (asset, job) = (&world.instance.asset, claim.job_name());
    let mut transaction = Transaction::default();
    let accounts =
        Account::lock(asset, &job, role, agent).and_then(|lock| Ok((lock, Account::avail(asset, agent)?)));
    if let Ok((lock, avail)) = accounts
        && world.ledger.balance(&lock) >= stake
    {
        transaction.push(&lock, &Account::treasury(asset), lost);
        transaction.push(&lock, &avail, stake.less(lost));
    }
    transaction
}

/// The pool back to those who filled it.
pub(super) fn withdraw(world: &World, claim: &Claim, why: Withdrawal) -> Option<Event> {
    let transaction = refund(&world.instance.asset, &claim.job_name(), &claim.funders).ok()?;
    Some(Event::ClaimWithdrawn { claim: claim.id.clone(), why, transaction })
}
