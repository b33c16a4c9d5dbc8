//! Parties of a hash chain that have something to lose.
//!
//! While a job is open, a stake of each is held. Which rounds they revealed stands in the journal; who has not
//! revealed the round of a draw when the beacon's time is up loses a part of it by time alone. The draw stays the one
//! that was committed and waits: a silent party's value is fixed by its anchor, so nothing can be put in its place,
//! and no other source takes over.
//!
//! A chain ends. No job is begun that could need more rounds than all of them have left, so that nobody is charged for
//! a round that there is not.
//!
//! Who is drawn again to audit is committed in secret, and nobody is charged for a round that only such a draw takes: a
//! party need not know of it. That a round is revealed which no public draw takes does tell that there is one.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_draw::Purpose;
use arena_draw::beacon::{BeaconError, HashChain, MARGIN_SECONDS, ROUND_MAX, Source, rounds_before};
use arena_ledger::{Account, Amount, NameError, Stake, Transaction, split};

use super::command::Seen;
use super::event::Event;
use super::refusal::Refusal;
use super::world::{Claim, DrawState, Party, Revealed, World};

/// The part of a job that their stakes are held in.
const ROLE: &str = "party";

fn refused(why: impl ToString) -> Refusal {
    Refusal::DrawRefused { why: why.to_string() }
}

/// The chain of an instance whose parties have stakes.
fn chain(world: &World) -> Option<&HashChain> {
    match &world.instance.source {
        Source::HashChain(chain) if !world.instance.parties.is_empty() => Some(chain),
        _ => None,
    }
}

/// Operators of parties: whoever helps to make the luck takes no part that it decides on.
pub(super) fn operators(world: &World) -> BTreeSet<&str> {
    world.instance.parties.iter().filter_map(|party| world.operator_of(&party.agent)).collect()
}

/// The latest round that a party revealed; 0 before its first.
fn latest(world: &World, party: &Party) -> u64 {
    world.revealed.get(&party.agent).map_or(0, |revealed| revealed.round)
}

/// The last round that all of them have, as far as it is said how many they have.
pub(super) fn last_round(world: &World) -> u64 {
    let rounds = world.instance.parties.iter().filter_map(|party| party.rounds);
    rounds.min().unwrap_or(ROUND_MAX).min(ROUND_MAX)
}

/// How many rounds are left for draws that are committed from now on.
fn rounds_left(world: &World) -> u64 {
    let revealed = world.instance.parties.iter().map(|party| latest(world, party)).max();
    last_round(world).saturating_sub(revealed.unwrap_or_default())
}

/// The most draws that one job commits: each takes one round at most.
fn draws_max(claim: &Claim) -> u64 {
    // The runner's, the auditor's and those of two panels, each with all that follow one another; and the coin, again if
    // the window is re-opened.
    claim.params.redraws_max.saturating_add(1).saturating_mul(4).saturating_add(2)
}

/// Whether the chains are too short for what the claim may still have drawn, whatever becomes of other jobs.
pub(super) fn is_spent(world: &World, claim: &Claim) -> bool {
    let need = if claim.parties_held { 1 } else { draws_max(claim) };
    chain(world).is_some() && claim.draw.is_none() && rounds_left(world) < need
}

/// A party reveals a round. One that no draw waits for is not taken: who has all of the others' parts ahead of time
/// could choose when to have a draw committed.
///
/// Nor is one whose time is up before what follows from that is told.
pub(super) fn reveal_round(
    world: &World,
    (by, at): (&str, u64),
    round: u64,
    preimage: Digest,
) -> Result<Event, Refusal> {
    let overdue = world.claims.values().find(|claim| !silence(world, claim, at).is_empty());
    let parties = &world.instance.parties;
    let (chain, index) =
        chain(world).zip(parties.iter().position(|party| party.agent == by)).ok_or(Refusal::NoParty)?;
    if let Some(claim) = overdue {
        return Err(Refusal::DeadlinePassed { claim: claim.id.clone() });
    }
    if round <= latest(world, &parties[index]) {
        return Err(Refusal::AlreadyRevealed);
    }
    // The first is revealed to begin with, since a draw shows the latest round that is known.
    let wanted = round_wanted(world);
    if round > wanted {
        return Err(Refusal::RoundNotWanted { round, wanted });
    }
    chain.check_part(index, round, preimage).map_err(refused)?;
    Ok(Event::RoundRevealed { agent: by.to_owned(), round, preimage })
}

/// The latest round that all of them revealed, and the first of which nobody revealed anything. Nothing where parties
/// have no stakes.
pub(super) fn known(world: &World) -> Option<(Option<Seen>, u64)> {
    chain(world)?;
    let rounds = || world.instance.parties.iter().map(|party| latest(world, party));
    let round = rounds().min().unwrap_or_default();
    let proof = if round > 0 { proof(world, round).ok().flatten() } else { None };
    let seen = proof.map(|proof| Seen { round, proof });
    Some((seen, rounds().max().unwrap_or_default().saturating_add(1)))
}

/// The proof of a round, of what the parties revealed. Nothing where they have no stakes.
pub(super) fn proof(world: &World, round: u64) -> Result<Option<Vec<u8>>, Refusal> {
    if chain(world).is_none() {
        return Ok(None);
    }
    // A stranger's journal is replayed before it is judged: what it says was revealed may be beyond all chains.
    let beyond = world.revealed.values().map(|revealed| revealed.round).find(|round| *round > ROUND_MAX);
    if let Some(round) = beyond {
        return Err(refused(BeaconError::BeyondTheChain { round }));
    }
    let mut proof = Vec::new();
    for party in &world.instance.parties {
        let revealed = world.revealed.get(&party.agent);
        let later = revealed.and_then(|revealed| Some((revealed, revealed.round.checked_sub(round)?)));
        let (revealed, later) =
            later.ok_or_else(|| refused(format_args!("`{}` has not revealed round {round}", party.agent)))?;
        let preimage = rounds_before(revealed.preimage, later);
        let preimage =
            preimage.ok_or_else(|| refused(BeaconError::BeyondTheChain { round: revealed.round }))?;
        proof.extend_from_slice(preimage.as_bytes());
    }
    Ok(Some(proof))
}

/// Whether every party revealed a round, so that a draw which takes it can be resolved. Nobody did where parties have no
/// stakes.
pub fn is_revealed(world: &World, round: u64) -> bool {
    chain(world).is_some() && world.instance.parties.iter().all(|party| latest(world, party) >= round)
}

/// The latest round that a draw takes, those that are drawn in secret included: what parties are to reveal. The first
/// is revealed to begin with.
pub fn round_wanted(world: &World) -> u64 {
    world.latest_drawn.max(1)
}

/// What a party revealed last, or in round `most` where that was earlier: a round gives all before it away.
pub fn revealed_by(world: &World, agent: &str, most: u64) -> Option<Revealed> {
    let Revealed { round, preimage } = *world.revealed.get(agent)?;
    let told = round.min(most);
    let preimage = rounds_before(preimage, round.saturating_sub(told)).filter(|_| told > 0)?;
    Some(Revealed { round: told, preimage })
}

/// Holds their stakes for the job. Nothing where that is done, or where they have none.
pub(super) fn hold_parties(world: &World, claim: &Claim) -> Result<Option<Event>, Refusal> {
    if chain(world).is_none() || claim.parties_held {
        return Ok(None);
    }
    let open = world.claims.values().filter(|other| other.parties_held).map(draws_max);
    let need = open.fold(draws_max(claim), u64::saturating_add);
    let left = rounds_left(world);
    if left < need {
        return Err(Refusal::RoundsSpent { left, need });
    }
    let mut transaction = Transaction::default();
    for Party { agent, stake, .. } in &world.instance.parties {
        let have = world.avail(agent);
        if have < *stake {
            return Err(Refusal::PartyUnstaked { agent: agent.clone(), have, need: *stake });
        }
        let held = stake_of(world, claim, agent).map_err(refused)?;
        transaction.push(held.avail(), held.lock(), *stake);
    }
    world.ledger.check(&transaction)?;
    Ok(Some(Event::PartiesHeld { claim: claim.id.clone(), transaction }))
}

fn stake_of(world: &World, claim: &Claim, agent: &str) -> Result<Stake, NameError> {
    Stake::of(&world.instance.asset, &claim.job_name(), ROLE, agent)
}

/// What is left of their stakes, once the claim is over.
pub(super) fn released(world: &World, claim: &Claim) -> Option<Event> {
    if !claim.parties_held {
        return None;
    }
    let mut transaction = Transaction::default();
    for Party { agent, .. } in &world.instance.parties {
        let stake = stake_of(world, claim, agent).ok()?;
        transaction.push(stake.lock(), stake.avail(), world.ledger.balance(stake.lock()));
    }
    Some(Event::PartiesReleased { claim: claim.id.clone(), transaction })
}

/// When the round of a draw is due, where parties reveal it.
pub fn due_of(draw: &DrawState) -> u64 {
    draw.committed_at.saturating_add(MARGIN_SECONDS)
}

/// When it should have been revealed by all of them, at the latest. Nobody reveals anything to an instance that is away:
/// the time counts from when it was up again.
fn deadline(world: &World, claim: &Claim, draw: &DrawState) -> u64 {
    let from = draw.committed_at.max(world.resumed_at);
    from.saturating_add(MARGIN_SECONDS).saturating_add(claim.params.clocks.beacon_s)
}

/// What follows from the round of a draw not being revealed in time: that it is told, and what each silent party
/// loses. It comes before whatever else a deadline brings, and once a draw; of a draw in secret, nothing follows.
pub(super) fn silence(world: &World, claim: &Claim, at: u64) -> Vec<Event> {
    let waits = claim.draw.as_ref().filter(|draw| {
        let is_open = !draw.stalled && claim.parties_held && at >= deadline(world, claim, draw);
        is_open && draw.purpose != Purpose::Audit
    });
    let Some(draw) = waits else { return Vec::new() };
    let silent: Vec<&Party> =
        world.instance.parties.iter().filter(|party| latest(world, party) < draw.round).collect();
    if silent.is_empty() {
        return Vec::new();
    }
    let mut events = vec![Event::BeaconStalled { claim: claim.id.clone(), round: draw.round }];
    // Who funded the claim waits for one draw, however many are silent.
    let mut delay = claim.params.delay_compensation;
    for party in silent {
        let Ok(transaction) = slashed(world, claim, &party.agent, &mut delay) else { continue };
        events.push(Event::PartySlashed {
            claim: claim.id.clone(),
            agent: party.agent.clone(),
            round: draw.round,
            transaction,
        });
    }
    events
}

/// B of a held stake, or what is left of it: first what funders have for the delay, the rest for the treasury.
fn slashed(world: &World, claim: &Claim, agent: &str, delay: &mut Amount) -> Result<Transaction, Refusal> {
    let lock = stake_of(world, claim, agent).map_err(refused)?.lock().clone();
    let left = world.ledger.balance(&lock);
    let lost = claim.params.party_slash.unwrap_or(left).min(left);
    let compensation = lost.min(*delay);
    *delay = delay.less(compensation);
    let weights: Vec<Amount> = claim.funders.iter().map(|funder| funder.amount).collect();
    let shares = split(compensation, &weights).map_err(refused)?;
    let asset = &world.instance.asset;
    let mut transaction = Transaction::default();
    for (funder, share) in claim.funders.iter().zip(shares) {
        let account = Account::avail(asset, &funder.agent).map_err(refused)?;
        transaction.push(&lock, &account, share);
    }
    transaction.push(&lock, &Account::treasury(asset), lost.less(compensation));
    world.ledger.check(&transaction)?;
    Ok(transaction)
}
