//! What a command comes to. Refusals are found in one order: time, names, who, when, conflicts, money, content.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_draw::Purpose;
use arena_ledger::{Account, Amount, Asset, Stake, Transaction, deposit, hold, pay_out, transfer};

use super::command::{Command, Stamped};
use super::draws::{commit, resolve, wanted};
use super::eligible::{free_for, known};
use super::event::{Event, Vacancy};
use super::follow::follow;
use super::judging::{Ballot, by_reference, sides};
use super::parties::{hold_parties, reveal_round};
use super::refusal::Refusal;
use super::settling::{UNEXPLAINED, auditor_bond, end, release};
use super::world::{Claim, Part, Phase, World};
use crate::commitment::{Sealed, canary_commitment, commitment, job_id};
use crate::document::is_line;
use crate::envelope::{Expected, PublicKey, is_usable, take_unsigned, verify};
use crate::fault::{Faults, Finding};
use crate::manifest::{ID_BYTES_MAX, Input, Manifest};
use crate::params::Params;
use crate::record::{Record, Role};
use crate::settle::Ending;

/// Names that money or balances use.
const RESERVED: [&str; 4] = ["funders", "runner", "treasury", "pool"];
const CAPABILITIES_MAX: usize = 64;
/// Each on its own host configuration.
const REFERENCE_RECORDS: usize = 2;

/// The events of a command, or why there are none. Nothing is changed here.
pub fn decide(world: &World, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
    if stamped.at < world.now {
        return Err(Refusal::TimeGoesBack { at: stamped.at, now: world.now });
    }
    let by = stamped.by.as_str();
    match &stamped.command {
        Command::Register { operator, key, capabilities } => {
            register(world, by, operator, *key, capabilities)
        }
        Command::Deposit { amount } => {
            known(world, by)?;
            let account = world.avail_account(by).map_err(|why| bad_name(by, why))?;
            let transaction = checked(world, deposit(&account, *amount))?;
            Ok(vec![Event::Deposited { agent: by.to_owned(), amount: *amount, transaction }])
        }
        Command::PayOut { amount } => {
            known(world, by)?;
            let account = world.avail_account(by).map_err(|why| bad_name(by, why))?;
            let transaction = checked(world, pay_out(&account, *amount))?;
            Ok(vec![Event::PaidOut { agent: by.to_owned(), transaction }])
        }
        Command::RevealRound { round, preimage } => {
            Ok(vec![reveal_round(world, (by, stamped.at), *round, *preimage)?])
        }
        Command::List { claim, manifest, deposit, canary } => {
            list(world, by, claim, manifest, *deposit, *canary)
        }
        other => {
            let id = other.claim().unwrap_or_default();
            let claim = world.claims.get(id).ok_or_else(|| Refusal::UnknownClaim { claim: id.to_owned() })?;
            // Time comes first: what follows from it is told by a tick of its own.
            let ticks = matches!(other, Command::Tick { .. });
            if !ticks && stamped.at >= claim.until && !follow(world, claim, stamped).is_empty() {
                return Err(Refusal::DeadlinePassed { claim: id.to_owned() });
            }
            of_claim(world, claim, stamped)
        }
    }
}

fn of_claim(world: &World, claim: &Claim, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
    let by = stamped.by.as_str();
    let id = || claim.id.clone();
    match &stamped.command {
        Command::DeclarePosition { .. } => {
            known(world, by)?;
            Ok(vec![Event::PositionDeclared { claim: id(), agent: by.to_owned() }])
        }
        Command::Fund { amount, .. } => fund(world, claim, by, *amount),
        Command::Withdraw { .. } => withdraw(world, claim, by),
        Command::CommitDraw { .. } if claim.draw.is_some() => Err(Refusal::DrawCommitted),
        Command::CommitDraw { .. } => commit_draw(world, claim, stamped),
        Command::ResolveDraw { proof, .. } => resolved(world, claim, stamped, proof),
        Command::Accept { .. } => accept(world, claim, by, stamped.at),
        Command::Decline { reason, .. } => decline(world, claim, by, reason.as_deref()),
        Command::CheckInputs { found, .. } => check_inputs(world, claim, by, found),
        Command::CommitRun { digest, .. } => commit_run(claim, by, *digest),
        Command::CommitChallenge { digest, .. } => commit_challenge(world, claim, stamped, *digest),
        Command::Reveal { nonce, envelope, .. } => reveal(world, claim, stamped, *nonce, envelope),
        Command::CommitVote { digest, .. } => commit_vote(claim, by, *digest),
        Command::RevealVote { nonce, ballot, .. } => reveal_vote(claim, by, *nonce, ballot),
        Command::Appeal { .. } => appeal(world, claim, by),
        Command::PublishReference { records, .. } => publish(world, claim, by, records),
        Command::Relist { manifest, deposit, .. } => relist(world, claim, stamped, manifest, *deposit),
        Command::OpenCanary { salt, .. } => {
            operator_only(world, by)?;
            if !claim.phase.is_terminal() {
                return Err(wrong_phase(claim, "over"));
            }
            match claim.canary {
                Some(mark) if mark == canary_commitment(&claim.id, *salt) => {
                    Ok(vec![Event::CanaryOpened { claim: id(), salt: *salt }])
                }
                _ => Err(Refusal::NoCanary),
            }
        }
        Command::Tick { .. }
        | Command::Register { .. }
        | Command::Deposit { .. }
        | Command::PayOut { .. }
        | Command::RevealRound { .. }
        | Command::List { .. } => Ok(Vec::new()),
    }
}

fn bad_name(name: &str, why: impl ToString) -> Refusal {
    Refusal::BadName { name: name.chars().take(64).collect(), why: why.to_string() }
}

/// Whether an agent, its operator or a claim may be called so.
pub fn check_name(asset: &Asset, name: &str) -> Result<(), Refusal> {
    if !is_line(name, ID_BYTES_MAX) {
        return Err(bad_name(name, "1 to 128 bytes without control characters"));
    }
    if RESERVED.contains(&name) {
        return Err(bad_name(name, "money uses it"));
    }
    Account::avail(asset, name).map(|_| ()).map_err(|why| bad_name(name, why))
}

fn checked(world: &World, transaction: Transaction) -> Result<Transaction, Refusal> {
    world.ledger.check(&transaction)?;
    Ok(transaction)
}

fn wrong_phase(claim: &Claim, need: &'static str) -> Refusal {
    Refusal::WrongPhase { have: claim.phase.name(), need }
}

fn in_phase(claim: &Claim, phase: Phase) -> Result<(), Refusal> {
    if claim.phase == phase { Ok(()) } else { Err(wrong_phase(claim, phase.name())) }
}

fn operator_only(world: &World, by: &str) -> Result<(), Refusal> {
    if by == world.instance.operator { Ok(()) } else { Err(Refusal::NotYours { who: "the operator" }) }
}

fn stake(world: &World, claim: &Claim, role: &str, agent: &str) -> Result<Stake, Refusal> {
    Stake::of(&world.instance.asset, &claim.job_name(), role, agent).map_err(|why| bad_name(agent, why))
}

/// Locks `need` of what the agent has free.
fn locked(
    world: &World,
    claim: &Claim,
    role: &str,
    agent: &str,
    need: Amount,
) -> Result<Transaction, Refusal> {
    let have = world.avail(agent);
    if have < need {
        return Err(Refusal::StakeBelowMinimum { have, need });
    }
    checked(world, hold(&stake(world, claim, role, agent)?, need))
}

fn register(
    world: &World,
    agent: &str,
    operator: &str,
    key: PublicKey,
    capabilities: &[String],
) -> Result<Vec<Event>, Refusal> {
    check_name(&world.instance.asset, agent)?;
    check_name(&world.instance.asset, operator)?;
    if world.agents.contains_key(agent) || agent == world.instance.operator {
        return Err(Refusal::AgentExists { agent: agent.to_owned() });
    }
    if !is_usable(key) {
        return Err(Refusal::WeakKey);
    }
    if let Some((other, _)) = world.agents.iter().find(|(_, about)| about.key == key) {
        return Err(Refusal::KeyInUse { agent: other.clone() });
    }
    let tags: BTreeSet<&String> = capabilities.iter().collect();
    if tags.len() > CAPABILITIES_MAX || tags.iter().any(|tag| !is_line(tag, 64)) {
        return Err(bad_name("capabilities", "at most 64, each of 1 to 64 bytes"));
    }
    Ok(vec![Event::AgentRegistered {
        agent: agent.to_owned(),
        operator: operator.to_owned(),
        key,
        capabilities: tags.into_iter().cloned().collect(),
    }])
}

fn read_manifest(world: &World, by: &str, manifest: &Value) -> Result<Manifest, Refusal> {
    let read = Manifest::read(manifest.clone()).map_err(Refusal::ManifestFaults)?;
    let need = world.params_sha256();
    if read.params != need {
        return Err(Refusal::OtherParams { have: read.params, need });
    }
    if read.submitter != by {
        return Err(Refusal::NotYours { who: "the submitter that the manifest names" });
    }
    let (fuel, fee) = (read.limits.fuel, world.instance.params.fee);
    let floor = world.instance.params.fee_floor(fuel);
    if fee.units() < floor {
        let message = format!("{fuel} fuel cost at least {floor}; the fee is {fee}");
        let finding = Finding { pointer: "/limits/fuel".to_owned(), message };
        return Err(Refusal::ManifestFaults(Faults(vec![finding])));
    }
    Ok(read)
}

fn paid_in(
    world: &World,
    claim: &str,
    job: Digest,
    params: &Params,
    by: &str,
    amount: Amount,
) -> Result<Event, Refusal> {
    let need = params.submitter_deposit_min;
    if amount < need {
        return Err(Refusal::AmountTooSmall { have: amount, need });
    }
    funded(world, claim, job, by, amount)
}

fn funded(world: &World, claim: &str, job: Digest, by: &str, amount: Amount) -> Result<Event, Refusal> {
    let from = world.avail_account(by).map_err(|why| bad_name(by, why))?;
    let pool = Account::pool(&world.instance.asset, &job.to_string()).map_err(|why| bad_name(claim, why))?;
    let transaction = checked(world, transfer(&from, &pool, amount))?;
    Ok(Event::ClaimFunded { claim: claim.to_owned(), agent: by.to_owned(), amount, transaction })
}

fn list(
    world: &World,
    by: &str,
    claim: &str,
    manifest: &Value,
    deposit: Amount,
    canary: Option<Digest>,
) -> Result<Vec<Event>, Refusal> {
    known(world, by)?;
    check_name(&world.instance.asset, claim)?;
    if world.claims.contains_key(claim) {
        return Err(Refusal::ClaimExists { claim: claim.to_owned() });
    }
    let read = read_manifest(world, by, manifest)?;
    let job = job_id(world.instance.id(), claim, read.digest, 0);
    let funding = paid_in(world, claim, job, &world.instance.params, by, deposit)?;
    let (claim, submitter, manifest) = (claim.to_owned(), by.to_owned(), manifest.clone());
    Ok(vec![Event::ClaimListed { claim, submitter, manifest, job, canary }, funding])
}

fn relist(
    world: &World,
    claim: &Claim,
    stamped: &Stamped,
    manifest: &Value,
    deposit: Amount,
) -> Result<Vec<Event>, Refusal> {
    let by = stamped.by.as_str();
    if by != claim.submitter {
        return Err(Refusal::NotYours { who: "the submitter" });
    }
    if !claim.is_flagged() {
        return Err(wrong_phase(claim, "flagged"));
    }
    // What an ended job holds is given back before its claim has another.
    if claim.parties_held {
        return Err(Refusal::DeadlinePassed { claim: claim.id.clone() });
    }
    let doubled = 1u64.checked_shl(claim.relists.min(32)).unwrap_or(u64::MAX);
    let from = claim.ended_at.saturating_add(claim.params.clocks.relist_s.saturating_mul(doubled));
    if stamped.at < from {
        return Err(Refusal::CoolingDown { from });
    }
    let read = read_manifest(world, by, manifest)?;
    if read.digest == claim.manifest.digest {
        return Err(Refusal::NotCorrected);
    }
    let job = job_id(world.instance.id(), &claim.id, read.digest, claim.n.saturating_add(1));
    let funding = paid_in(world, &claim.id, job, &claim.params, by, deposit)?;
    Ok(vec![Event::ClaimRelisted { claim: claim.id.clone(), manifest: manifest.clone(), job }, funding])
}

fn fund(world: &World, claim: &Claim, by: &str, amount: Amount) -> Result<Vec<Event>, Refusal> {
    known(world, by)?;
    in_phase(claim, Phase::Funding)?;
    // Of a relisted claim, somebody may have run it before.
    if !matches!(claim.parts.get(by), None | Some(Part::Submitter | Part::Funder)) {
        return Err(Refusal::HoldsAnotherRole);
    }
    Ok(vec![funded(world, &claim.id, claim.job, by, amount)?])
}

fn withdraw(world: &World, claim: &Claim, by: &str) -> Result<Vec<Event>, Refusal> {
    known(world, by)?;
    in_phase(claim, Phase::Funding)?;
    // The submitter's own stays with the listing until that ends.
    if by == claim.submitter || claim.funders.iter().all(|funder| funder.agent != by) {
        return Err(Refusal::NotYours { who: "a funder" });
    }
    let own: Vec<_> = claim.funders.iter().filter(|funder| funder.agent == by).cloned().collect();
    let transaction = crate::settle::refund(&world.instance.asset, &claim.job_name(), &own)
        .map_err(|why| bad_name(by, why))?;
    let transaction = checked(world, transaction)?;
    Ok(vec![Event::FundsWithdrawn { claim: claim.id.clone(), agent: by.to_owned(), transaction }])
}

/// Commits the draw that is due. That the stakes of the beacon's parties are held comes by time alone, as does the end
/// of a claim that nobody may run: before they are held this is left to what follows, and the draw follows with it.
fn commit_draw(world: &World, claim: &Claim, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
    let (purpose, ..) = wanted(claim).ok_or(Refusal::NoDrawDue)?;
    if purpose == Purpose::Runner && hold_parties(world, claim)?.is_some() {
        return Ok(Vec::new());
    }
    Ok(vec![commit(world, claim, stamped)?])
}

fn resolved(world: &World, claim: &Claim, stamped: &Stamped, proof: &[u8]) -> Result<Vec<Event>, Refusal> {
    let event = resolve(world, claim, stamped, proof)?;
    let mut events = vec![event];
    if let Event::CoinTossed { picks, .. } = &events[0] {
        // Between commitment and resolution somebody of the auditor's may have come in otherwise.
        let conflicted = picks.first().filter(|pick| free_for(world, claim, pick, stamped.at).is_err());
        if let Some(agent) = conflicted.cloned() {
            let claim = claim.id.clone();
            events.push(Event::AuditVacated { claim, agent, why: Vacancy::Conflicted, standing: 0 });
        }
    }
    Ok(events)
}

fn accept(world: &World, claim: &Claim, by: &str, at: u64) -> Result<Vec<Event>, Refusal> {
    known(world, by)?;
    if claim.phase == Phase::Committed && claim.is_auditor(by) {
        // An auditor that challenged has accepted by it, and locked its stake.
        if claim.audit.accepted || claim.challenge(by).is_some() {
            return Err(Refusal::AlreadyCommitted);
        }
        if at >= claim.audit.until {
            return Err(Refusal::DeadlinePassed { claim: claim.id.clone() });
        }
        // What it loses if it never commits. The commitment itself locks what every challenger's does, so that
        // nobody sees from it who audits.
        let transaction = locked(world, claim, "auditor", by, auditor_bond(&claim.params))?;
        return Ok(vec![Event::AuditAccepted { claim: claim.id.clone(), agent: by.to_owned(), transaction }]);
    }
    in_phase(claim, Phase::Offered)?;
    if claim.runner() != Some(by) {
        return Err(Refusal::NotYours { who: "the drawn runner" });
    }
    Ok(vec![Event::RunAccepted { claim: claim.id.clone() }])
}

fn decline(world: &World, claim: &Claim, by: &str, reason: Option<&str>) -> Result<Vec<Event>, Refusal> {
    known(world, by)?;
    let explained = reason.is_some_and(|reason| is_line(reason, 256));
    let why = if explained { Vacancy::Declined } else { Vacancy::DeclinedUnexplained };
    let params = &claim.params;
    let transaction = match claim.phase {
        Phase::Offered if claim.runner() == Some(by) => {
            release(world, claim, "runner", by, params.runner_stake, Amount::ZERO)
        }
        Phase::Committed if claim.is_auditor(by) && !claim.audit.accepted => {
            if claim.challenge(by).is_some() {
                return Err(Refusal::AlreadyCommitted);
            }
            let standing = if explained { 0 } else { UNEXPLAINED };
            let (claim, agent) = (claim.id.clone(), by.to_owned());
            return Ok(vec![Event::AuditVacated { claim, agent, why, standing }]);
        }
        Phase::Voting { .. } => {
            let seat = claim.panel().and_then(|panel| panel.seats.iter().find(|seat| seat.agent == by));
            if seat.ok_or(Refusal::NoSeat)?.digest.is_some() {
                return Err(Refusal::AlreadyCommitted);
            }
            release(world, claim, "reviewer", by, params.reviewer_stake, Amount::ZERO)
        }
        Phase::Offered | Phase::Committed => return Err(Refusal::NotYours { who: "whoever was drawn" }),
        _ => return Err(wrong_phase(claim, "offered")),
    };
    let mut events = Vec::new();
    if !explained {
        events.push(Event::StandingChanged { agent: by.to_owned(), change: UNEXPLAINED });
    }
    events.push(Event::RoleVacated { claim: claim.id.clone(), agent: by.to_owned(), why, transaction });
    Ok(events)
}

fn running(claim: &Claim, by: &str) -> Result<(), Refusal> {
    in_phase(claim, Phase::Running)?;
    if claim.runner() == Some(by) { Ok(()) } else { Err(Refusal::NotYours { who: "the runner" }) }
}

fn check_inputs(world: &World, claim: &Claim, by: &str, found: &[Input]) -> Result<Vec<Event>, Refusal> {
    running(claim, by)?;
    if claim.manifest.inputs == found {
        return Ok(vec![Event::InputsChecked { claim: claim.id.clone() }]);
    }
    Ok(end(world, claim, Ending::InputMismatch, false))
}

fn commit_run(claim: &Claim, by: &str, digest: Digest) -> Result<Vec<Event>, Refusal> {
    running(claim, by)?;
    if claim.run.as_ref().is_none_or(|run| !run.inputs_checked) {
        return Err(Refusal::InputsUnchecked);
    }
    Ok(vec![Event::RunCommitted { claim: claim.id.clone(), digest }])
}

fn commit_challenge(
    world: &World,
    claim: &Claim,
    stamped: &Stamped,
    digest: Digest,
) -> Result<Vec<Event>, Refusal> {
    let by = stamped.by.as_str();
    known(world, by)?;
    in_phase(claim, Phase::Committed)?;
    if claim.challenge(by).is_some() {
        return Err(Refusal::AlreadyCommitted);
    }
    let audits = claim.is_auditor(by);
    if !audits {
        free_for(world, claim, by, stamped.at)?;
        if claim.audit.coin.is_none() && stamped.at < claim.audit.until {
            return Err(Refusal::AuditPending);
        }
        // Who did not reveal has no seat in the re-opened window, or a flood would keep everybody out for good.
        let volunteers = claim.challenges.iter().filter(|c| !c.expired && !claim.is_auditor(&c.agent));
        let have = volunteers.count();
        let limit = claim.params.volunteers_max;
        if u64::try_from(have).unwrap_or(u64::MAX) >= limit {
            return Err(Refusal::WindowFull { have, limit });
        }
    }
    let made = claim.challenges.iter().map(|challenge| challenge.digest);
    if made.chain(claim.run.as_ref().and_then(|run| run.digest)).any(|other| other == digest) {
        return Err(Refusal::DuplicateCommitment);
    }
    let transaction = locked(world, claim, "challenger", by, claim.params.challenger_stake)?;
    let id = claim.id.clone();
    let mut events =
        vec![Event::ChallengeCommitted { claim: id.clone(), agent: by.to_owned(), digest, transaction }];
    let clocks = &claim.params.clocks;
    let until = stamped.at.saturating_add(clocks.late_s);
    if until > claim.until && claim.extended < clocks.late_max {
        events.push(Event::WindowExtended { claim: id, until });
    }
    Ok(events)
}

fn reveal(
    world: &World,
    claim: &Claim,
    stamped: &Stamped,
    nonce: Digest,
    envelope: &Value,
) -> Result<Vec<Event>, Refusal> {
    let by = stamped.by.as_str();
    let about = known(world, by)?;
    in_phase(claim, Phase::Revealing)?;
    let runs = claim.runner() == Some(by);
    let (role, kind, digest, revealed) = if runs {
        let run = claim.run.as_ref().ok_or(Refusal::NotCommitted)?;
        (Role::Runner, Sealed::Run, run.digest.ok_or(Refusal::NotCommitted)?, run.record.is_some())
    } else {
        let challenge = claim.challenge(by).filter(|challenge| !challenge.expired);
        let challenge = challenge.ok_or(Refusal::NotCommitted)?;
        (Role::Challenger, Sealed::Challenge, challenge.digest, challenge.record.is_some())
    };
    if revealed {
        return Err(Refusal::AlreadyRevealed);
    }
    let expected = Expected {
        instance: world.instance.id(),
        claim: &claim.id,
        job: claim.job,
        role,
        agent: by,
        operator: &about.operator,
        key: about.key,
        counter: about.counter,
        at: stamped.at,
    };
    let (record, counter) =
        if world.is_rehearsal() { take_unsigned(envelope, &expected)? } else { verify(envelope, &expected)? };
    if commitment(kind, claim.job, by, nonce, record.digest) != digest {
        return Err(Refusal::OtherCommitment);
    }
    record.check(&claim.manifest).map_err(Refusal::RecordFaults)?;
    let (id, record) = (claim.id.clone(), Box::new(record));
    Ok(vec![if runs {
        Event::RunRevealed { claim: id, record, counter }
    } else {
        Event::ChallengeRevealed { claim: id, agent: by.to_owned(), record, counter }
    }])
}

fn commit_vote(claim: &Claim, by: &str, digest: Digest) -> Result<Vec<Event>, Refusal> {
    if !matches!(claim.phase, Phase::Voting { .. }) {
        return Err(wrong_phase(claim, "voting"));
    }
    let panel = claim.panel().ok_or(Refusal::NoSeat)?;
    let seat = panel.seats.iter().find(|seat| seat.agent == by).ok_or(Refusal::NoSeat)?;
    if seat.digest.is_some() {
        return Err(Refusal::AlreadyCommitted);
    }
    if panel.seats.iter().any(|seat| seat.digest == Some(digest)) {
        return Err(Refusal::DuplicateCommitment);
    }
    Ok(vec![Event::VoteCommitted { claim: claim.id.clone(), agent: by.to_owned(), digest }])
}

fn reveal_vote(claim: &Claim, by: &str, nonce: Digest, ballot: &Value) -> Result<Vec<Event>, Refusal> {
    if !matches!(claim.phase, Phase::Opening { .. }) {
        return Err(wrong_phase(claim, "opening"));
    }
    let panel = claim.panel().ok_or(Refusal::NoSeat)?;
    let seat = panel.seats.iter().find(|seat| seat.agent == by).ok_or(Refusal::NoSeat)?;
    let digest = seat.digest.ok_or(Refusal::NotCommitted)?;
    if seat.ballot.is_some() {
        return Err(Refusal::AlreadyRevealed);
    }
    let document = Digest::of(&json::canonical_of(ballot));
    if commitment(Sealed::Vote, claim.job, by, nonce, document) != digest {
        return Err(Refusal::OtherCommitment);
    }
    Ballot::read(ballot, claim).map_err(Refusal::BallotFaults)?;
    let (claim, agent, ballot) = (claim.id.clone(), by.to_owned(), ballot.clone());
    Ok(vec![Event::VoteRevealed { claim, agent, ballot }])
}

fn appeal(world: &World, claim: &Claim, by: &str) -> Result<Vec<Event>, Refusal> {
    in_phase(claim, Phase::Appealable)?;
    let disagrees = sides(claim).get(by).copied().unwrap_or_default();
    if claim.runner() != Some(by) && !disagrees {
        return Err(Refusal::NotYours { who: "the runner or a challenger that disagrees" });
    }
    let transaction = locked(world, claim, "appeal", by, claim.params.appeal_bond())?;
    Ok(vec![Event::Appealed { claim: claim.id.clone(), agent: by.to_owned(), transaction }])
}

fn publish(world: &World, claim: &Claim, by: &str, records: &[Value]) -> Result<Vec<Event>, Refusal> {
    operator_only(world, by)?;
    in_phase(claim, Phase::Reference)?;
    if records.len() != REFERENCE_RECORDS {
        return Err(Refusal::RecordCount { have: records.len(), need: REFERENCE_RECORDS });
    }
    let mut read = Vec::new();
    for value in records {
        let record = Record::read(value.clone()).map_err(Refusal::RecordFaults)?;
        if record.role != Role::Reference || record.job != claim.job || record.claim != claim.id {
            return Err(Refusal::NotYours { who: "the reference of this job" });
        }
        record.check(&claim.manifest).map_err(Refusal::RecordFaults)?;
        read.push(record);
    }
    let verdict = by_reference(claim, &read);
    Ok(vec![Event::ReferencePublished { claim: claim.id.clone(), records: records.to_vec(), verdict }])
}
