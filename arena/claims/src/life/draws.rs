//! Committing a draw before its round exists, and resolving it once the round has spoken.

use arena_canon::Digest;
use arena_draw::beacon::Beacon;
use arena_draw::{Eligible, Entry, Purpose, Request, Transcript, Words};
use arena_ledger::{Stake, Transaction};

use super::command::Stamped;
use super::eligible::{entries, stake_of};
use super::event::{CommittedDraw, Event};
use super::parties;
use super::refusal::Refusal;
use super::world::{Claim, DrawState, Phase, World};
use crate::commitment::salt_commitment;

const ONE_PPM: u64 = crate::params::PPM;

fn refused(why: impl ToString) -> Refusal {
    Refusal::DrawRefused { why: why.to_string() }
}

fn beacon(world: &World) -> Result<Box<dyn Beacon>, Refusal> {
    let instance = &world.instance;
    instance.source.beacon(instance.id(), Some(&instance.name)).map_err(refused)
}

/// What the claim waits to have drawn: the purpose, the attempt, the seats.
pub(super) fn wanted(claim: &Claim) -> Option<(Purpose, u32, u32)> {
    if claim.draw.is_some() {
        return None;
    }
    match claim.phase {
        Phase::Drawing => Some((Purpose::Runner, claim.attempt, 1)),
        Phase::Committed if claim.audit.coin.is_none() => Some((Purpose::AuditCoin, 0, 1)),
        Phase::Committed if claim.audit.coin == Some(true) && claim.audit.auditor.is_none() => {
            let fresh = u64::from(claim.audit.attempt) <= claim.params.redraws_max && !claim.audit.exhausted;
            fresh.then_some((Purpose::Audit, claim.audit.attempt, 1))
        }
        Phase::Seating { level } | Phase::Voting { level } => {
            let (purpose, seats) = match level {
                1 => (Purpose::Panel, claim.params.panel_seats),
                _ => (Purpose::Panel2, claim.params.panel2_seats),
            };
            let panel = claim.panel()?;
            let missing = usize::try_from(seats).ok()?.saturating_sub(panel.seats.len());
            let fresh = u64::from(panel.attempt) <= claim.params.redraws_max;
            let missing = u32::try_from(missing).ok().filter(|missing| *missing > 0 && fresh)?;
            Some((purpose, panel.attempt, missing))
        }
        _ => None,
    }
}

/// Who may be drawn for what is wanted.
pub(super) fn wanted_entries(world: &World, claim: &Claim, purpose: Purpose, at: u64) -> Vec<Entry> {
    entries(world, claim, purpose, at)
}

fn is_secret(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Audit | Purpose::AuditCoin)
}

/// Whether the beacon owes the claim a round for longer than it may: an operator's fault that everybody should see. The
/// claim waits; the source is never switched.
pub(super) fn stalled(world: &World, claim: &Claim, at: u64) -> Option<u64> {
    // That an auditor is drawn again is nobody's business yet.
    let draw = claim.draw.as_ref().filter(|draw| !draw.stalled && draw.purpose != Purpose::Audit)?;
    let due = beacon(world).ok()?.time_of(draw.round)?;
    (at >= due.saturating_add(claim.params.clocks.beacon_s)).then_some(draw.round)
}

/// Commits the draw that is wanted. The round follows from the time; it must not be known yet, and that the
/// latest known round is an earlier one must be shown.
pub(super) fn commit(world: &World, claim: &Claim, stamped: &Stamped) -> Result<Event, Refusal> {
    let (purpose, ..) = wanted(claim).ok_or(Refusal::NoDrawDue)?;
    commit_among(world, claim, stamped, wanted_entries(world, claim, purpose, stamped.at))
}

/// The same where it is known already who may be drawn.
pub(super) fn commit_among(
    world: &World,
    claim: &Claim,
    stamped: &Stamped,
    eligible: Vec<Entry>,
) -> Result<Event, Refusal> {
    let eligible = Eligible::new(eligible).map_err(refused)?;
    let (purpose, attempt, seats) = wanted(claim).ok_or(Refusal::NoDrawDue)?;
    let beacon = beacon(world)?;
    // What parties with stakes revealed is told by the journal, not by whoever commands.
    let (seen, next) = match parties::known(world) {
        Some(known) => known,
        None => {
            let next = stamped.seen.as_ref().map_or(0, |seen| seen.round.saturating_add(1));
            (stamped.seen.clone(), next)
        }
    };
    let seen = seen.ok_or(Refusal::NothingSeen)?;
    beacon.verify(seen.round, &seen.proof).map_err(refused)?;
    let round = beacon.round_for_commit(stamped.at).unwrap_or(next);
    let last = parties::last_round(world);
    if !world.instance.parties.is_empty() && round > last {
        return Err(refused(format_args!("round {round} is not there, the parties' chains end with {last}")));
    }
    if seen.round >= round {
        return Err(refused(format_args!("round {} is known already, the draw takes {round}", seen.round)));
    }
    let salt_sha256 = match (is_secret(purpose), stamped.salt) {
        (true, None) => return Err(Refusal::NothingSeen),
        (true, Some(salt)) => Some(salt_commitment(claim.job, salt)),
        (false, _) => None,
    };
    Ok(Event::DrawCommitted(Box::new(CommittedDraw {
        claim: claim.id.clone(),
        purpose: purpose.name().to_owned(),
        attempt,
        seats,
        entries: eligible,
        round,
        last_round_seen: seen.round,
        committed_at: stamped.at,
        salt_sha256,
        audit_ppm: if purpose == Purpose::AuditCoin { audit_ppm(world, claim) } else { 0 },
    })))
}

/// How likely the run is audited.
fn audit_ppm(world: &World, claim: &Claim) -> u64 {
    let operator = claim.runner().and_then(|runner| world.operator_of(runner)).unwrap_or_default();
    let valid = |capability: &str| {
        let key = (operator.to_owned(), capability.to_owned());
        world.valid_runs.get(&key).copied().unwrap_or_default()
    };
    let least = claim.manifest.capabilities.iter().map(|capability| valid(capability)).min();
    let settled_before = world.claims.values().any(|other| {
        other.submitter == claim.submitter && other.id != claim.id && matches!(other.phase, Phase::Settled(_))
    });
    let watched = claim.manifest.rules.badge() || !settled_before;
    claim.params.audit_ppm(least.unwrap_or_else(|| valid("")), watched)
}

fn transcript(
    world: &World,
    claim: &Claim,
    draw: &DrawState,
    purpose: Purpose,
    proof: &[u8],
    salt: Option<Digest>,
) -> Result<Transcript, Refusal> {
    let request = Request {
        instance: world.instance.id(),
        instance_name: Some(world.instance.name.clone()),
        purpose,
        subject: claim.job,
        attempt: draw.attempt,
        seats: draw.seats,
        params_hash: claim.params_sha256,
        committed_seq: Some(draw.committed_seq),
        committed_at: Some(draw.committed_at),
        last_round_seen: Some(draw.last_round_seen),
        entries: draw.entries.clone(),
        salt: salt.map(|salt| salt.as_bytes().to_vec()),
        source: world.instance.source.clone(),
        round: draw.round,
        proof: proof.to_vec(),
        log: None,
    };
    request.resolve().map_err(refused)
}

fn picks(transcript: &Transcript) -> Vec<String> {
    transcript.resolution.picks.iter().map(|pick| pick.agent.clone()).collect()
}

/// Resolves the committed draw. The stake of whoever is drawn is locked in the same event.
pub(super) fn resolve(
    world: &World,
    claim: &Claim,
    stamped: &Stamped,
    proof: &[u8],
) -> Result<Event, Refusal> {
    let draw = claim.draw.as_ref().ok_or(Refusal::NoDraw)?;
    if let Some(due) = beacon(world)?.time_of(draw.round).filter(|due| stamped.at < *due) {
        return Err(Refusal::RoundNotDue { round: draw.round, due });
    }
    let revealed = parties::proof(world, draw.round)?;
    let proof = revealed.as_deref().unwrap_or(proof);
    if is_secret(draw.purpose) {
        return toss(world, claim, draw, stamped, proof);
    }
    let drawn = transcript(world, claim, draw, draw.purpose, proof, None)?;
    let role = if draw.purpose == Purpose::Runner { "runner" } else { "reviewer" };
    let need = stake_of(claim, draw.purpose);
    let mut transaction = Transaction::default();
    // Who spent the stake since the commitment is passed over, and the seat is drawn again.
    let mut picks = picks(&drawn);
    picks.retain(|pick| world.avail(pick) >= need);
    for pick in &picks {
        let stake = Stake::of(&world.instance.asset, &claim.job_name(), role, pick).map_err(refused)?;
        transaction.push(stake.avail(), stake.lock(), need);
    }
    Ok(Event::DrawResolved { claim: claim.id.clone(), transcript: Box::new(drawn), picks, transaction })
}

/// The audit: a coin first, and if it falls so, the auditor, from the same commitment.
fn toss(
    world: &World,
    claim: &Claim,
    draw: &DrawState,
    stamped: &Stamped,
    proof: &[u8],
) -> Result<Event, Refusal> {
    let salt = stamped.salt.ok_or(Refusal::OtherSalt)?;
    if draw.salt_sha256 != Some(salt_commitment(claim.job, salt)) {
        return Err(Refusal::OtherSalt);
    }
    let coin = transcript(world, claim, draw, draw.purpose, proof, Some(salt))?;
    let (audited, audit) = match draw.purpose {
        Purpose::AuditCoin => {
            let audited = Words::new(coin.resolution.seed).below(ONE_PPM) < draw.audit_ppm;
            let audit = match audited {
                true => Some(transcript(world, claim, draw, Purpose::Audit, proof, Some(salt))?),
                false => None,
            };
            (audited, audit)
        }
        _ => (true, Some(coin.clone())),
    };
    Ok(Event::CoinTossed {
        claim: claim.id.clone(),
        transcript: Box::new(coin),
        audited,
        picks: audit.as_ref().map(picks).unwrap_or_default(),
        audit: audit.map(Box::new),
        salt,
    })
}
