//! What happens by itself: at a deadline, or because everything that was waited for is there.
//!
//! One step at a time. A deadline that follows from another counts from when the first was noticed. That a server was
//! down costs nobody a deadline that it missed because of it: see [`resume`](super::resume()).

use super::command::Stamped;
use super::draws::{commit, commit_among, stalled, wanted, wanted_entries};
use super::eligible::operators;
use super::event::{Event, Vacancy, Withdrawal};
use super::judging::{by_reference, only_outcome_open, outcome_of, report_of, run_record, sides, tally};
use super::parties;
use super::settling::{SILENT, end, no_show, release, withdraw};
use super::world::{Claim, Phase, World};
use crate::params::part;
use crate::record::Outcome;
use crate::settle::Ending;

/// The next thing that happens to `claim` without a command; nothing, if everything waits.
pub fn follow(world: &World, claim: &Claim, stamped: &Stamped) -> Vec<Event> {
    let over = stamped.at >= claim.until;
    let id = || claim.id.clone();
    // Who was silent pays before anything that the silence brought about.
    let silence = parties::silence(world, claim, stamped.at);
    if !silence.is_empty() {
        return silence;
    }
    if let Some(round) = stalled(world, claim, stamped.at).filter(|_| !over) {
        return vec![Event::BeaconStalled { claim: id(), round }];
    }
    match claim.phase {
        Phase::Funding => {
            if claim.params.pool_min().is_some_and(|least| claim.pooled() >= least) {
                vec![Event::JobOpened { claim: id() }]
            } else if over {
                withdraw(world, claim, Withdrawal::Unfunded).into_iter().collect()
            } else {
                Vec::new()
            }
        }
        Phase::Drawing => drawing(world, claim, stamped, over),
        Phase::Offered => offered(world, claim, over),
        Phase::Running if over => vacated_run(world, claim),
        Phase::Committed => committed(world, claim, stamped, over),
        Phase::Revealing => revealing(world, claim, over),
        Phase::Seating { level } => seating(world, claim, stamped, level, over),
        Phase::Voting { level } => voting(world, claim, stamped, level, over),
        Phase::Opening { level } => opening(claim, level, over),
        Phase::Appealable if over => appealable(world, claim),
        Phase::Reference => reference(world, claim, over),
        Phase::Settled(_) | Phase::Withdrawn(_) => parties::released(world, claim).into_iter().collect(),
        Phase::Running | Phase::Appealable => Vec::new(),
    }
}

fn drawing(world: &World, claim: &Claim, stamped: &Stamped, over: bool) -> Vec<Event> {
    let spent = u64::from(claim.attempt) > claim.params.redraws_max;
    let entries = wanted(claim).map(|(purpose, ..)| wanted_entries(world, claim, purpose, stamped.at));
    let spent = spent || parties::is_spent(world, claim);
    if over || spent || entries.as_ref().is_some_and(Vec::is_empty) {
        return withdraw(world, claim, Withdrawal::NoRunner).into_iter().collect();
    }
    match parties::hold_parties(world, claim) {
        Ok(None) => {}
        Ok(Some(held)) => return vec![held],
        // Nothing is drawn before every party has something to lose.
        Err(_) => return Vec::new(),
    }
    entries.and_then(|entries| commit_among(world, claim, stamped, entries).ok()).into_iter().collect()
}

fn offered(world: &World, claim: &Claim, over: bool) -> Vec<Event> {
    let Some(run) = &claim.run else { return Vec::new() };
    if !over {
        return Vec::new();
    }
    let stake = claim.params.runner_stake;
    let lost = part(stake, claim.params.offer_lapse_bps);
    let transaction = release(world, claim, "runner", &run.runner, stake, lost);
    vec![
        Event::StandingChanged { agent: run.runner.clone(), change: SILENT },
        Event::RoleVacated {
            claim: claim.id.clone(),
            agent: run.runner.clone(),
            why: Vacancy::Lapsed,
            transaction,
        },
    ]
}

fn vacated_run(world: &World, claim: &Claim) -> Vec<Event> {
    let (Some(run), Some(transaction)) = (&claim.run, no_show(world, claim)) else { return Vec::new() };
    let (agent, why) = (run.runner.clone(), Vacancy::NoShow);
    vec![
        Event::StandingChanged { agent: agent.clone(), change: super::settling::NO_SHOW },
        Event::RoleVacated { claim: claim.id.clone(), agent, why, transaction },
    ]
}

fn committed(world: &World, claim: &Claim, stamped: &Stamped, over: bool) -> Vec<Event> {
    if over {
        return vec![Event::WindowClosed { claim: claim.id.clone(), salt: claim.audit.salt }];
    }
    let audit = &claim.audit;
    if let Some(auditor) = audit.auditor.as_deref().filter(|_| !audit.accepted) {
        let lapsed = stamped.at >= audit.until && claim.challenge(auditor).is_none();
        return match lapsed {
            true => vec![Event::AuditVacated {
                claim: claim.id.clone(),
                agent: auditor.to_owned(),
                why: Vacancy::Lapsed,
                standing: SILENT,
            }],
            false => Vec::new(),
        };
    }
    commit(world, claim, stamped).into_iter().collect()
}

fn revealing(world: &World, claim: &Claim, over: bool) -> Vec<Event> {
    let run = run_record(claim);
    let awaited = claim.challenges.iter().any(|challenge| challenge.record.is_none() && !challenge.expired);
    if !over && (run.is_none() || awaited) {
        return Vec::new();
    }
    let Some(run) = run else { return end(world, claim, Ending::Withheld, false) };
    let mut volunteers = claim.challenges.iter().filter(|c| !claim.is_auditor(&c.agent)).peekable();
    let none_revealed = volunteers.peek().is_some() && volunteers.all(|c| c.record.is_none());
    if over && none_revealed && !claim.reopened {
        return vec![Event::WindowReopened { claim: claim.id.clone() }];
    }
    if sides(claim).values().any(|disagrees| *disagrees) {
        return vec![Event::Disputed { claim: claim.id.clone() }];
    }
    let mut events = Vec::new();
    if report_of(claim).iter().any(|(_, comparison)| comparison.boundary) {
        events.push(Event::BoundaryFlagged { claim: claim.id.clone() });
    }
    let ending = match run.results.outcome {
        Outcome::Reproduced => Ending::Reproduced,
        Outcome::NotReproduced => Ending::NotReproduced,
        Outcome::SpecIssue => Ending::SpecIssue,
        Outcome::InputMismatch => Ending::InputMismatch,
    };
    events.extend(end(world, claim, ending, false));
    events
}

fn seating(world: &World, claim: &Claim, stamped: &Stamped, level: u32, over: bool) -> Vec<Event> {
    let escalate = || vec![Event::Escalated { claim: claim.id.clone(), level: 3 }];
    if over {
        let level = level.saturating_add(1);
        return vec![Event::Escalated { claim: claim.id.clone(), level }];
    }
    if claim.draw.is_some() {
        return Vec::new();
    }
    let Some((purpose, _, seats)) = wanted(claim) else { return escalate() };
    // No smaller panel is seated silently.
    let entries = wanted_entries(world, claim, purpose, stamped.at);
    if operators(&entries) < usize::try_from(seats).unwrap_or(usize::MAX) {
        return escalate();
    }
    commit_among(world, claim, stamped, entries).into_iter().collect()
}

fn voting(world: &World, claim: &Claim, stamped: &Stamped, level: u32, over: bool) -> Vec<Event> {
    let Some(panel) = claim.panel() else { return Vec::new() };
    let whole = match level {
        1 => claim.params.panel_seats,
        _ => claim.params.panel2_seats,
    };
    let full = u64::try_from(panel.seats.len()).is_ok_and(|seats| seats >= whole);
    let all = full && panel.seats.iter().all(|seat| seat.digest.is_some());
    if over || all {
        return vec![Event::VotesOpened { claim: claim.id.clone() }];
    }
    // A seat that was declined is filled while the others vote.
    commit(world, claim, stamped).into_iter().collect()
}

fn opening(claim: &Claim, level: u32, over: bool) -> Vec<Event> {
    let Some(panel) = claim.panel() else { return Vec::new() };
    let awaited = panel.seats.iter().any(|seat| seat.digest.is_some() && seat.ballot.is_none());
    if awaited && !over {
        return Vec::new();
    }
    let claim_id = claim.id.clone();
    vec![match tally(claim) {
        Some(verdict) => Event::VerdictReached { claim: claim_id, level, verdict },
        None => Event::Escalated { claim: claim_id, level: level.saturating_add(1) },
    }]
}

fn appealable(world: &World, claim: &Claim) -> Vec<Event> {
    let Some((_, verdict)) = claim.verdict else { return Vec::new() };
    if outcome_of(claim, verdict).is_none() {
        return vec![Event::Escalated { claim: claim.id.clone(), level: 3 }];
    }
    end(world, claim, verdict, false)
}

fn reference(world: &World, claim: &Claim, over: bool) -> Vec<Event> {
    if only_outcome_open(claim) && (over || !claim.references.is_empty()) {
        return end(world, claim, Ending::RunnerWrong, false);
    }
    if !claim.references.is_empty() {
        return end(world, claim, by_reference(claim, &claim.references), false);
    }
    if over { end(world, claim, Ending::SpecIssue, true) } else { Vec::new() }
}
