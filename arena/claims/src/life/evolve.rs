//! Facts become state. No rules here: what an event says has happened.

use std::sync::Arc;

use arena_cow::Shared;
use arena_draw::{Purpose, Transcript};
use arena_ledger::{Account, Transaction, apply};

use super::event::{CommittedDraw, Event, Vacancy};
use super::judging::{Ballot, report_of};
use super::world::{
    Agent, Audit, Challenge, Claim, DrawState, Panel, Part, Phase, Revealed, Run, STANDING_START, Seat, World,
};
use crate::manifest::Manifest;
use crate::record::Record;
use crate::settle::Funder;

/// How long deposits are remembered: longer than any stake has to rest.
const ARRIVALS_S: u64 = 40 * 86_400;

/// Takes `event`, which happened at `at`, into the state.
pub fn evolve(world: &mut World, at: u64, event: &Event) {
    world.now = world.now.max(at);
    world.seq = world.seq.saturating_add(1);
    if let Some(transaction) = transaction_of(event).filter(|transaction| !transaction.is_empty()) {
        // It was checked when it was decided; a history that does not apply is one that never was.
        let applied = apply(&mut world.ledger, transaction);
        debug_assert!(applied.is_ok(), "{event:?}: {applied:?}");
    }
    of_agents(world, at, event);
    match event {
        Event::ClaimListed { claim, submitter, manifest, job, canary } => {
            if let Ok(manifest) = Manifest::read(manifest.clone()) {
                let mut listed = new_claim(world, claim, submitter, manifest, *job, at);
                listed.canary = *canary;
                world.claims.insert(claim.clone(), listed);
            }
        }
        Event::ClaimRelisted { claim, manifest, job } => {
            if let (Ok(manifest), Some(old)) = (Manifest::read(manifest.clone()), world.claims.get(claim)) {
                let mut again = new_claim(world, claim, &old.submitter, manifest, *job, at);
                again.n = old.n.saturating_add(1);
                again.relists = old.relists.saturating_add(1);
                // It is a canary until it is opened, whatever it claims now.
                again.canary = old.canary;
                again.parts.extend(old.parts.iter().map(|(agent, part)| (agent.clone(), *part)));
                again.transcripts.clone_from(&old.transcripts);
                world.claims.insert(claim.clone(), again);
            }
        }
        Event::RoundRevealed { agent, round, preimage } => {
            world.revealed.insert(agent.clone(), Revealed { round: *round, preimage: *preimage });
        }
        Event::DrawCommitted(draw) => world.latest_drawn = world.latest_drawn.max(draw.round),
        Event::RunRevealed { claim, counter, .. } => {
            let runner = world.claims.get(claim).and_then(|claim| claim.runner()).map(str::to_owned);
            if let Some(agent) = runner.and_then(|runner| world.agents.get_mut(&runner)) {
                agent.counter = *counter;
            }
        }
        Event::ChallengeRevealed { agent, counter, .. } => {
            if let Some(agent) = world.agents.get_mut(agent) {
                agent.counter = *counter;
            }
        }
        _ => {}
    }
    let (seq, keeps) = (world.seq, !world.is_rehearsal());
    if let Some(claim) = event.claim().and_then(|id| world.claims.get_mut(id)) {
        of_claim(claim, at, seq, event);
        if keeps {
            for transcript in transcripts_of(event).into_iter().flatten() {
                claim.transcripts.push(transcript.to_value());
            }
        }
    }
}

/// The transcripts that an event brings: of an audit, the coin's and the auditor's, unless they are one.
fn transcripts_of(event: &Event) -> [Option<&Transcript>; 2] {
    match event {
        Event::DrawResolved { transcript, .. } => [Some(&**transcript), None],
        Event::CoinTossed { transcript, audit, .. } => {
            [Some(&**transcript), audit.as_deref().filter(|audit| *audit != &**transcript)]
        }
        _ => [None, None],
    }
}

fn of_agents(world: &mut World, at: u64, event: &Event) {
    match event {
        Event::AgentRegistered { agent, operator, key, capabilities } => {
            // The name was checked when it was decided.
            let Ok(avail) = Account::avail(&world.instance.asset, agent) else { return };
            let about = Agent {
                operator: operator.clone(),
                key: *key,
                counter: 0,
                capabilities: capabilities.iter().cloned().collect(),
                standing: STANDING_START,
                standing_at: at,
                since: at,
                arrivals: Vec::new(),
                positions: std::collections::BTreeSet::new(),
                avail,
            };
            world.agents.insert(agent.clone(), about);
        }
        Event::Deposited { agent, amount, .. } => {
            if let Some(agent) = world.agents.get_mut(agent) {
                agent.arrivals.retain(|(then, _)| then.saturating_add(ARRIVALS_S) > at);
                agent.arrivals.push((at, *amount));
            }
        }
        Event::PositionDeclared { claim, agent } => {
            if let Some(agent) = world.agents.get_mut(agent) {
                agent.positions.insert(claim.clone());
            }
        }
        Event::StandingChanged { agent, change } | Event::AuditVacated { agent, standing: change, .. } => {
            if let Some(agent) = world.agents.get_mut(agent) {
                agent.change_standing(at, *change);
            }
        }
        Event::ValidRunCounted { operator, capabilities, valid } => {
            for capability in capabilities {
                let runs = world.valid_runs.get_or_default((operator.clone(), capability.clone()));
                *runs = if *valid { runs.saturating_add(1) } else { 0 };
            }
        }
        _ => {}
    }
}

/// Whether an event of a stored history can have happened: the money that it moves is there.
pub fn check(world: &World, event: &Event) -> Result<(), arena_ledger::Refusal> {
    match transaction_of(event).filter(|transaction| !transaction.is_empty()) {
        Some(transaction) => world.ledger.check(transaction),
        None => Ok(()),
    }
}

pub(crate) fn transaction_of(event: &Event) -> Option<&Transaction> {
    match event {
        Event::Deposited { transaction, .. }
        | Event::PaidOut { transaction, .. }
        | Event::ClaimFunded { transaction, .. }
        | Event::FundsWithdrawn { transaction, .. }
        | Event::PartiesHeld { transaction, .. }
        | Event::PartiesReleased { transaction, .. }
        | Event::PartySlashed { transaction, .. }
        | Event::DrawResolved { transaction, .. }
        | Event::RoleVacated { transaction, .. }
        | Event::AuditAccepted { transaction, .. }
        | Event::ChallengeCommitted { transaction, .. }
        | Event::Appealed { transaction, .. }
        | Event::Settled { transaction, .. }
        | Event::ClaimWithdrawn { transaction, .. } => Some(transaction),
        _ => None,
    }
}

fn new_claim(
    world: &World,
    id: &str,
    submitter: &str,
    manifest: Manifest,
    job: arena_canon::Digest,
    at: u64,
) -> Claim {
    let params = world.instance.params.clone();
    Claim {
        id: id.to_owned(),
        submitter: submitter.to_owned(),
        manifest: Arc::new(manifest),
        until: at.saturating_add(params.clocks.funding_s),
        params,
        params_sha256: world.params_sha256(),
        n: 0,
        job,
        funders: Vec::new(),
        parts: [(submitter.to_owned(), Part::Submitter)].into(),
        phase: Phase::Funding,
        opened_at: 0,
        parties_held: false,
        draw: None,
        attempt: 0,
        run: None,
        challenges: Vec::new(),
        report: Vec::new(),
        audit: Audit::default(),
        extended: 0,
        reopened: false,
        panels: Vec::new(),
        verdict: None,
        appellants: Vec::new(),
        references: Vec::new(),
        boundary: false,
        relists: 0,
        ended_at: 0,
        canary: None,
        transcripts: Shared::default(),
    }
}

fn enter(claim: &mut Claim, phase: Phase, at: u64, seconds: u64) {
    claim.phase = phase;
    claim.until = at.saturating_add(seconds);
    if phase.is_terminal() {
        claim.until = u64::MAX;
        claim.ended_at = at;
        claim.draw = None;
    }
}

fn of_claim(claim: &mut Claim, at: u64, seq: u64, event: &Event) {
    let clocks = claim.params.clocks.clone();
    match event {
        Event::ClaimFunded { agent, amount, .. } => {
            claim.funders.push(Funder { agent: agent.clone(), amount: *amount });
            claim.parts.entry(agent.clone()).or_insert(Part::Funder);
        }
        Event::FundsWithdrawn { agent, .. } => {
            claim.funders.retain(|funder| funder.agent != *agent);
            if claim.parts.get(agent) == Some(&Part::Funder) {
                claim.parts.remove(agent);
            }
        }
        Event::JobOpened { .. } => {
            claim.opened_at = at;
            enter(claim, Phase::Drawing, at, clocks.drawing_s);
        }
        Event::PartiesHeld { .. } => claim.parties_held = true,
        Event::PartiesReleased { .. } => claim.parties_held = false,
        Event::DrawCommitted(draw) => claim.draw = draw_state(draw, seq),
        Event::BeaconStalled { .. } => {
            if let Some(draw) = &mut claim.draw {
                draw.stalled = true;
            }
        }
        Event::DrawResolved { picks, .. } => drawn(claim, at, picks),
        Event::CoinTossed { .. } => tossed(claim, at, event),
        Event::RoleVacated { agent, .. } => vacated(claim, at, agent),
        Event::AuditVacated { agent, why, .. } => unaudited(claim, agent, *why),
        Event::RunAccepted { .. } => {
            let seconds = claim.manifest.limits.wall_seconds.saturating_mul(clocks.run_times);
            enter(claim, Phase::Running, at, seconds);
        }
        Event::AuditAccepted { .. } => claim.audit.accepted = true,
        Event::InputsChecked { .. } => {
            if let Some(run) = &mut claim.run {
                run.inputs_checked = true;
            }
        }
        Event::RunCommitted { digest, .. } => {
            if let Some(run) = &mut claim.run {
                run.digest = Some(*digest);
            }
            enter(claim, Phase::Committed, at, clocks.window_s);
            claim.audit.until = at.saturating_add(clocks.beacon_s);
        }
        Event::ChallengeCommitted { agent, digest, .. } => {
            let (agent, digest) = (agent.clone(), *digest);
            claim.parts.entry(agent.clone()).or_insert(Part::Challenger);
            claim.challenges.push(Challenge { agent, digest, record: None, expired: false });
        }
        Event::WindowExtended { until, .. } => {
            claim.until = *until;
            claim.extended = claim.extended.saturating_add(1);
        }
        Event::WindowClosed { .. } => {
            claim.draw = None;
            enter(claim, Phase::Revealing, at, clocks.reveal_s);
        }
        Event::WindowReopened { .. } => {
            claim.reopened = true;
            for challenge in claim.challenges.iter_mut().filter(|challenge| challenge.record.is_none()) {
                challenge.expired = true;
            }
            enter(claim, Phase::Committed, at, clocks.reopen_s);
        }
        _ => of_dispute(claim, at, event),
    }
}

fn unaudited(claim: &mut Claim, agent: &str, why: Vacancy) {
    claim.audit.auditor = None;
    claim.audit.attempt = claim.audit.attempt.saturating_add(1);
    if why != Vacancy::Conflicted {
        claim.parts.insert(agent.to_owned(), Part::FormerReviewer);
    }
}

fn tossed(claim: &mut Claim, at: u64, event: &Event) {
    let Event::CoinTossed { audited, picks, salt, .. } = event else { return };
    let clocks = claim.params.clocks.clone();
    let attempt = claim.draw.take().map_or(0, |draw| draw.attempt);
    let state = &mut claim.audit;
    state.coin = Some(*audited);
    state.salt = Some(*salt);
    state.attempt = attempt;
    state.auditor = picks.first().cloned();
    state.exhausted = *audited && picks.is_empty();
    state.until = at.saturating_add(clocks.accept_s);
    if let Some(auditor) = &state.auditor {
        claim.parts.entry(auditor.clone()).or_insert(Part::Auditor);
    }
}

fn of_dispute(claim: &mut Claim, at: u64, event: &Event) {
    let clocks = claim.params.clocks.clone();
    match event {
        Event::RunRevealed { record, .. } => {
            if let Some(run) = &mut claim.run {
                run.record = Some((**record).clone());
            }
        }
        Event::ChallengeRevealed { agent, record, .. } => {
            let challenge = claim.challenges.iter_mut().find(|challenge| challenge.agent == *agent);
            if let Some(challenge) = challenge {
                challenge.record = Some((**record).clone());
            }
        }
        Event::Disputed { .. } => {
            claim.report = report_of(claim);
            // An exact rerun decides at once what a panel could only look at.
            let level = if claim.params.fast_referee && claim.manifest.rules.exact { 3 } else { 1 };
            escalated(claim, at, level);
        }
        Event::Escalated { level, .. } => escalated(claim, at, *level),
        Event::BoundaryFlagged { .. } => claim.boundary = true,
        Event::VoteCommitted { agent, digest, .. } => {
            if let Some(seat) = seat(claim, agent) {
                seat.digest = Some(*digest);
            }
        }
        Event::VotesOpened { .. } => {
            claim.draw = None;
            let level = claim.panel().map_or(1, |panel| panel.level);
            enter(claim, Phase::Opening { level }, at, clocks.vote_reveal_s);
        }
        Event::VoteRevealed { agent, ballot, .. } => {
            let ballot = Ballot::read(ballot, claim).ok();
            if let Some(seat) = seat(claim, agent) {
                seat.ballot = ballot;
            }
        }
        Event::VerdictReached { level, verdict, .. } => {
            claim.verdict = Some((*level, *verdict));
            enter(claim, Phase::Appealable, at, clocks.appeal_s);
        }
        Event::Appealed { agent, .. } => {
            claim.appellants.push(agent.clone());
            escalated(claim, at, 3);
        }
        Event::ReferencePublished { records, .. } => {
            claim.references =
                records.iter().filter_map(|record| Record::read(record.clone()).ok()).collect();
        }
        Event::Settled { outcome, .. } => enter(claim, Phase::Settled(*outcome), at, 0),
        Event::ClaimWithdrawn { why, .. } => enter(claim, Phase::Withdrawn(*why), at, 0),
        Event::CanaryOpened { .. } => claim.canary = None,
        _ => {}
    }
}

fn seat<'a>(claim: &'a mut Claim, agent: &str) -> Option<&'a mut Seat> {
    claim.panels.last_mut()?.seats.iter_mut().find(|seat| seat.agent == agent)
}

fn escalated(claim: &mut Claim, at: u64, level: u32) {
    claim.draw = None;
    if level >= 3 {
        enter(claim, Phase::Reference, at, claim.params.clocks.reference_s);
    } else {
        claim.panels.push(Panel { level, seats: Vec::new(), attempt: 0 });
        enter(claim, Phase::Seating { level }, at, claim.params.clocks.seating_s);
    }
}

fn draw_state(draw: &CommittedDraw, seq: u64) -> Option<DrawState> {
    Some(DrawState {
        purpose: draw.purpose.parse::<Purpose>().ok()?,
        attempt: draw.attempt,
        seats: draw.seats,
        entries: draw.entries.clone(),
        round: draw.round,
        last_round_seen: draw.last_round_seen,
        committed_at: draw.committed_at,
        committed_seq: seq,
        stalled: false,
        salt_sha256: draw.salt_sha256,
        audit_ppm: draw.audit_ppm,
    })
}

fn drawn(claim: &mut Claim, at: u64, picks: &[String]) {
    let Some(draw) = claim.draw.take() else { return };
    if draw.purpose == Purpose::Runner {
        claim.attempt = claim.attempt.saturating_add(1);
        if let Some(runner) = picks.first() {
            claim.parts.insert(runner.clone(), Part::Runner);
            claim.run =
                Some(Run { runner: runner.clone(), inputs_checked: false, digest: None, record: None });
            enter(claim, Phase::Offered, at, claim.params.clocks.accept_s);
        }
        return;
    }
    for pick in picks {
        claim.parts.insert(pick.clone(), Part::Reviewer);
    }
    let Some(panel) = claim.panels.last_mut() else { return };
    panel.attempt = panel.attempt.saturating_add(1);
    let level = panel.level;
    panel.seats.extend(picks.iter().map(|agent| Seat { agent: agent.clone(), digest: None, ballot: None }));
    let seconds = claim.params.clocks.vote_s;
    enter(claim, Phase::Voting { level }, at, seconds);
}

fn vacated(claim: &mut Claim, at: u64, agent: &str) {
    if claim.runner() == Some(agent) {
        claim.run = None;
        claim.parts.insert(agent.to_owned(), Part::FormerRunner);
        enter(claim, Phase::Drawing, at, claim.params.clocks.drawing_s);
        return;
    }
    if let Some(panel) = claim.panels.last_mut() {
        panel.seats.retain(|seat| seat.agent != agent);
        claim.parts.insert(agent.to_owned(), Part::FormerReviewer);
    }
}
