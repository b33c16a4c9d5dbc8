//! Who may take a part in a claim, and with how many tickets.

use std::collections::{BTreeMap, BTreeSet};

use arena_draw::{Entry, Purpose};
use arena_ledger::Amount;

use super::parties;
use super::refusal::Refusal;
use super::settling::auditor_bond;
use super::world::{Agent, Claim, Part, STANDING_MIN, World};

/// Whether `agent` may take a part in the claim: no other part, nor its operator; no position; standing.
pub(super) fn free_for(world: &World, claim: &Claim, agent: &str, at: u64) -> Result<(), Refusal> {
    let about = known(world, agent)?;
    match claim.parts.get(agent) {
        Some(Part::Submitter | Part::Funder) => return Err(Refusal::FunderHoldsNoRole),
        Some(_) => return Err(Refusal::HoldsAnotherRole),
        None => {}
    }
    if let Some(part) = parts_by_operator(world, claim).get(about.operator.as_str()) {
        return Err(match part {
            Part::Submitter | Part::Funder => Refusal::FunderHoldsNoRole,
            _ => Refusal::OperatorHoldsRole { operator: about.operator.clone() },
        });
    }
    if parties::operators(world).contains(about.operator.as_str()) {
        return Err(Refusal::OperatorHoldsRole { operator: about.operator.clone() });
    }
    if positions(world, claim).contains(about.operator.as_str()) {
        return Err(Refusal::HoldsMarketPosition);
    }
    let have = about.standing_on(at);
    if have < STANDING_MIN {
        return Err(Refusal::StandingTooLow { have, need: STANDING_MIN });
    }
    Ok(())
}

pub(super) fn known<'a>(world: &'a World, agent: &str) -> Result<&'a Agent, Refusal> {
    world.agents.get(agent).ok_or_else(|| Refusal::UnknownAgent { agent: agent.to_owned() })
}

fn parts_by_operator<'a>(world: &'a World, claim: &Claim) -> BTreeMap<&'a str, Part> {
    let mut parts = BTreeMap::new();
    for (agent, part) in &claim.parts {
        if let Some(operator) = world.operator_of(agent) {
            let first = parts.entry(operator).or_insert(*part);
            *first = (*first).min(*part);
        }
    }
    parts
}

/// Operators that have a market position on the claim.
fn positions<'a>(world: &'a World, claim: &Claim) -> BTreeSet<&'a str> {
    let holders = world.agents.values().filter(|agent| agent.positions.contains(&claim.id));
    holders.map(|agent| agent.operator.as_str()).collect()
}

/// What a part in a draw locks.
pub(super) fn stake_of(claim: &Claim, purpose: Purpose) -> Amount {
    match purpose {
        Purpose::Runner => claim.params.runner_stake,
        Purpose::Audit | Purpose::AuditCoin => claim.params.challenger_stake,
        Purpose::Panel | Purpose::Panel2 => claim.params.reviewer_stake,
        Purpose::Seating | Purpose::Canary => Amount::ZERO,
    }
}

/// Everybody who may be drawn. Stake counts as far as it was at rest when the job opened and is free now, so
/// that neither registering nor splitting after seeing a job helps.
pub(super) fn entries(world: &World, claim: &Claim, purpose: Purpose, at: u64) -> Vec<Entry> {
    let stake = stake_of(claim, purpose);
    let (taken, positions) = (parts_by_operator(world, claim), positions(world, claim));
    let parties = parties::operators(world);
    let rested_by = claim.opened_at.saturating_sub(claim.params.clocks.rest_s);
    let reviews = matches!(purpose, Purpose::Panel | Purpose::Panel2);
    // An auditor locks its bond as well.
    let bond = match purpose {
        Purpose::Audit | Purpose::AuditCoin => auditor_bond(&claim.params),
        _ => Amount::ZERO,
    };
    let fits = |agent: &Agent| {
        agent.since <= claim.opened_at
            && !taken.contains_key(agent.operator.as_str())
            && agent.standing_on(at) >= STANDING_MIN
            && (reviews || claim.manifest.capabilities.is_subset(&agent.capabilities))
            && !positions.contains(agent.operator.as_str())
            && !parties.contains(agent.operator.as_str())
    };
    let mut entries = Vec::new();
    for (id, agent) in world.agents.iter().filter(|(_, agent)| fits(agent)) {
        let late = agent.arrivals.iter().filter(|(at, _)| *at > rested_by).map(|(_, amount)| *amount);
        let late = Amount::checked_sum(late).unwrap_or(Amount::MAX);
        let free = world.ledger.balance(&agent.avail).less(late);
        let tickets = free.units().checked_div(stake.units()).unwrap_or_default();
        let enough = bond.checked_add(stake).is_some_and(|need| free >= need);
        let tickets = if enough { tickets.min(claim.params.tickets_max) } else { 0 };
        if tickets > 0 {
            entries.push(Entry::new(id.clone(), agent.operator.clone(), tickets));
        }
    }
    // Agents are kept in the order of their ids and within the bounds of a draw: this is an eligible set.
    entries.truncate(arena_draw::ENTRIES_MAX);
    entries
}

/// Operators among the entries: seats that can be filled at most.
pub(super) fn operators(entries: &[Entry]) -> usize {
    entries.iter().map(|entry| entry.operator.as_str()).collect::<BTreeSet<_>>().len()
}
