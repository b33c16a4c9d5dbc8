//! A claim as somebody may see it. [`seen`] is the one place that decides it.
//!
//! Until the window closes, nobody sees who challenges or whether anybody does, nor who audits. Records are shown to
//! everybody when the claim is over; before that to whoever made them, and once it is disputed to the parties and to
//! who sits on a panel.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::life::{self, Claim, Event, Part, Phase, World, report_of};
use arena_claims::record::Record;
use arena_contests::Moment;
use arena_draw::beacon::{Schedule, Source};
use arena_ledger::{Account, Amount, Transaction};
use serde_json::json;

use super::{Claims, Duty, open_draw, own};
use crate::auth::Viewer;
use crate::instance::stamp;
use crate::problem::Problem;

const ROLES: [&str; 6] = ["runner", "auditor", "challenger", "reviewer", "appeal", "party"];

/// A time in seconds as everybody writes it; nothing for the end of time.
pub(crate) fn time(seconds: u64) -> Option<String> {
    let ms = i64::try_from(seconds).ok()?.checked_mul(1_000)?;
    (ms < 253_402_300_800_000).then(|| stamp(Moment::from_unix_ms(ms)))
}

/// The claim of this name.
pub(crate) fn claim_of<'a>(world: &'a World, id: &str) -> Result<&'a Claim, Problem> {
    let missing = || super::problem(&life::Refusal::UnknownClaim { claim: id.chars().take(64).collect() });
    world.claims.get(id).ok_or_else(missing)
}

/// The number in a claim's name, as a place in lists.
pub(crate) fn place_of(claim: &Claim) -> String {
    let number: u64 = claim.id.strip_prefix('c').and_then(|number| number.parse().ok()).unwrap_or_default();
    format!("{number:012}")
}

/// Which part of it somebody has for itself to know.
pub(crate) fn part_name(part: Part) -> &'static str {
    match part {
        Part::Submitter => "submitter",
        Part::Funder => "funder",
        Part::Runner => "runner",
        Part::FormerRunner => "former_runner",
        Part::Challenger => "challenger",
        Part::Auditor => "auditor",
        Part::Reviewer => "reviewer",
        Part::FormerReviewer => "former_reviewer",
    }
}

/// Whether nobody may know yet who challenges and who audits.
pub(crate) fn is_window(claim: &Claim) -> bool {
    claim.phase == Phase::Committed
}

/// Whether somebody may see what was found by others.
fn sees_records(viewer: &Viewer, claim: &Claim) -> bool {
    let is_disputed = matches!(
        claim.phase,
        Phase::Seating { .. }
            | Phase::Voting { .. }
            | Phase::Opening { .. }
            | Phase::Appealable
            | Phase::Reference
    );
    let sits = |id: &str| claim.panels.iter().flat_map(|panel| &panel.seats).any(|seat| seat.agent == id);
    let is_party = |id: &str| claim.runner() == Some(id) || claim.challenge(id).is_some() || sits(id);
    claim.phase.is_terminal() || viewer.is_admin() || (is_disputed && own(viewer).is_some_and(is_party))
}

/// What is locked of an agent on a claim's present job.
fn locked(world: &World, claim: &Claim, agent: &str, roles: &[&str]) -> Amount {
    let lock = |role: &&str| Account::lock(&world.instance.asset, &claim.job_name(), role, agent).ok();
    let locks = roles.iter().filter_map(lock).map(|account| world.ledger.balance(&account));
    Amount::checked_sum(locks).unwrap_or(Amount::MAX)
}

/// Who looks at what, and what that lets them see.
struct Look<'a> {
    claim: &'a Claim,
    me: Option<&'a str>,
    /// Everything, or because it is over.
    is_open: bool,
    /// What was found by others.
    records: bool,
    /// Who challenges.
    window: bool,
}

impl Look<'_> {
    fn record(&self, agent: &str, record: Option<&Record>) -> Option<Value> {
        let is_shown = self.records || self.me == Some(agent);
        record.filter(|_| is_shown).map(|record| record.value().clone())
    }

    fn run(&self) -> Option<Value> {
        let run = self.claim.run.as_ref()?;
        Some(json!({
            "runner": run.runner, "inputs_checked": run.inputs_checked, "commitment": run.digest,
            "revealed": run.record.is_some(), "record": self.record(&run.runner, run.record.as_ref()),
        }))
    }

    fn challenges(&self) -> Vec<Value> {
        let all = self.claim.challenges.iter();
        let seen = all.filter(|challenge| self.window || self.me == Some(challenge.agent.as_str()));
        let told = seen.map(|challenge| {
            json!({
                "agent": challenge.agent, "commitment": challenge.digest, "expired": challenge.expired,
                "revealed": challenge.record.is_some(),
                "auditor": self.is_open.then(|| self.claim.is_auditor(&challenge.agent)),
                "record": self.record(&challenge.agent, challenge.record.as_ref()),
            })
        });
        told.collect()
    }

    fn panels(&self) -> Vec<Value> {
        let phase = self.claim.phase;
        let shows = self.is_open || matches!(phase, Phase::Appealable | Phase::Reference);
        let last = self.claim.panel().map_or(0, |panel| panel.level);
        let panels = self.claim.panels.iter().map(|panel| {
            let seats = panel.seats.iter().map(|seat| {
                let is_told = shows || panel.level < last || self.me == Some(seat.agent.as_str());
                let ballot = seat.ballot.as_ref().filter(|_| is_told).map(ballot_json);
                json!({ "agent": seat.agent, "committed": seat.digest.is_some(), "ballot": ballot })
            });
            json!({ "level": panel.level, "seats": seats.collect::<Vec<_>>() })
        });
        panels.collect()
    }

    fn audit(&self) -> Option<Value> {
        let audit = &self.claim.audit;
        let told = json!({ "audited": audit.coin, "auditor": audit.auditor, "accepted": audit.accepted });
        self.is_open.then_some(told)
    }
}

/// A claim as the viewer may see it. `end` is how its present job ended, once it has.
pub(crate) fn seen(viewer: &Viewer, end: Option<&(u64, Event)>, world: &World, claim: &Claim) -> Value {
    let is_over = claim.phase.is_terminal();
    let look = Look {
        claim,
        me: own(viewer),
        is_open: is_over || viewer.is_admin(),
        records: sees_records(viewer, claim),
        window: !is_window(claim) || viewer.is_admin(),
    };
    let report = if look.records { report_of(claim) } else { Vec::new() };
    let comparisons: Vec<Value> = report.iter().map(|(agent, found)| comparison_json(agent, found)).collect();
    let references = claim.references.iter().filter(|_| look.records).map(|record| record.value().clone());
    let funders =
        claim.funders.iter().map(|funder| json!({ "agent": funder.agent, "amount": funder.amount }));
    let (funders, references): (Vec<_>, Vec<_>) = (funders.collect(), references.collect());
    let rules = &claim.manifest.rules;
    json!({
        "claim": claim.id, "job": claim.job, "submitter": claim.submitter, "title": claim.manifest.title,
        "status": claim.phase.name(), "outcome": outcome(claim), "until": time(claim.until),
        "manifest": claim.manifest.value(), "manifest_sha256": claim.manifest.digest,
        "params_sha256": claim.params_sha256, "relists": claim.relists,
        "badges": { "tolerant": !rules.exact, "wide_tolerance": rules.wide_tolerance },
        "pool": { "have": claim.pooled(), "need": claim.params.pool_min(), "funders": funders },
        "draw": open_draw(claim).map(|draw| draw_json(world, draw)),
        "run": look.run(),
        // Challenges are taken once the coin of the audit was tossed; how it fell is not told.
        "challenges_open": is_window(claim) && claim.audit.coin.is_some(),
        "challenges_sealed": !look.window,
        "challenges": look.challenges(), "audit": look.audit(),
        "comparisons": comparisons, "boundary": claim.boundary, "panels": look.panels(),
        "verdict": claim.verdict.map(|(level, verdict)| json!({ "level": level, "verdict": verdict.name() })),
        "appellants": claim.appellants, "references": references,
        "ended_at": is_over.then(|| time(claim.ended_at)).flatten(),
        "ending": end.filter(|_| is_over).map(|(_, event)| ending_name(event)),
        "you": look.me.and_then(|me| you(world, claim, me)),
    })
}

fn outcome(claim: &Claim) -> Option<&'static str> {
    match claim.phase {
        Phase::Settled(outcome) => Some(outcome.name()),
        Phase::Withdrawn(why) => Some(why.name()),
        _ => None,
    }
}

/// What of it is somebody's own.
fn you(world: &World, claim: &Claim, me: &str) -> Option<Value> {
    let about = world.agents.get(me)?;
    Some(json!({
        "agent": me, "part": claim.parts.get(me).map(|part| part_name(*part)),
        "free": world.avail(me), "locked": locked(world, claim, me, &ROLES),
        "counter": about.counter.to_string(),
        "market_position": about.positions.contains(&claim.id),
    }))
}

/// A claim in a list.
pub(crate) fn line(claim: &Claim) -> Value {
    json!({
        "claim": claim.id, "title": claim.manifest.title, "submitter": claim.submitter,
        "status": claim.phase.name(), "outcome": outcome(claim), "until": time(claim.until),
        "badges": { "tolerant": !claim.manifest.rules.exact, "wide_tolerance": claim.manifest.rules.wide_tolerance },
    })
}

fn comparison_json(agent: &str, found: &arena_claims::compare::Comparison) -> Value {
    json!({
        "challenger": agent, "runner_outcome": found.runner.name(), "challenger_outcome": found.challenger.name(),
        "agrees": found.agrees, "boundary": found.boundary,
        "rows": found.rows.iter().map(arena_claims::compare::Row::to_json).collect::<Vec<_>>(),
    })
}

fn ballot_json(ballot: &life::Ballot) -> Value {
    let rationale = ballot.rationale.iter();
    let rationale = rationale.map(|cited| json!({ "cmp": cited.cmp.name(), "metric": cited.metric }));
    json!({
        "verdict": ballot.vote.name(), "confirms": ballot.confirms, "rerun_sha256": ballot.rerun_sha256,
        "rationale": rationale.collect::<Vec<_>>(),
    })
}

/// When the round of a draw is due.
fn due_of(world: &World, draw: &life::DrawState) -> Option<String> {
    match world.instance.source {
        Source::HashChain(_) => time(life::due_of(draw)),
        _ => Schedule::QUICKNET.time_of(draw.round).and_then(time),
    }
}

/// A draw that waits for its round, with everybody who may be drawn.
fn draw_json(world: &World, draw: &life::DrawState) -> Value {
    let entries = draw.entries.entries().iter();
    let pool = entries
        .map(|entry| json!({ "agent": entry.agent, "operator": entry.operator, "tickets": entry.tickets.to_string() }));
    json!({
        "purpose": draw.purpose.name(), "attempt": draw.attempt, "seats": draw.seats,
        "round": draw.round.to_string(), "due": due_of(world, draw),
        "last_round_seen": draw.last_round_seen.to_string(), "committed_at": time(draw.committed_at),
        "committed_seq": draw.committed_seq.to_string(), "stalled": draw.stalled,
        "salt_sha256": draw.salt_sha256, "pool": pool.collect::<Vec<_>>(),
    })
}

/// The draws of a claim: the one that is committed, and the transcripts that may be seen.
pub(crate) fn draws(viewer: &Viewer, claims: &Claims, world: &World, claim: &Claim) -> Value {
    let is_open = claim.phase.is_terminal() || viewer.is_admin();
    let of_public = |transcript: &&Value| {
        let purpose = transcript.get("purpose").and_then(Value::as_str);
        is_open || matches!(purpose, Some("runner" | "panel" | "panel2"))
    };
    let log = claims.log();
    let transcripts = claim.transcripts.iter().filter(of_public).map(|transcript| log.carried(transcript));
    let transcripts: Vec<Value> = transcripts.collect();
    let draw = if viewer.is_admin() { claim.draw.as_ref() } else { open_draw(claim) };
    let committed = draw.map(|draw| {
        let mut committed = draw_json(world, draw);
        committed["log"] = json!(open_draw(claim).and_then(|draw| log.of_draw(draw.committed_seq)));
        committed
    });
    json!({
        "claim": claim.id, "job": claim.job, "instance": world.instance.name, "instance_id": world.instance.id(),
        "beacon": world.instance.source.kind().name(), "committed": committed, "transcripts": transcripts,
        "verify": "arena draw verify TRANSCRIPT --log-key KEY",
    })
}

fn ending_name(event: &Event) -> &'static str {
    match event {
        Event::Settled { ending, .. } => ending.name(),
        Event::ClaimWithdrawn { why, .. } => why.name(),
        _ => "",
    }
}

/// How a claim ended, with every movement of money.
pub(crate) fn settlement(claims: &Claims, claim: &Claim) -> Result<Value, Problem> {
    let end = claims.end_of(claim).filter(|_| claim.phase.is_terminal());
    let (at, event) = end.ok_or_else(|| {
        Problem::new("not_over", format_args!("the claim is {}; nothing is settled", claim.phase.name()))
    })?;
    let (outcome, transaction) = match event {
        Event::Settled { outcome, transaction, .. } => (Some(outcome.name()), transaction),
        Event::ClaimWithdrawn { transaction, .. } => (None, transaction),
        _ => return Err(Problem::internal()),
    };
    Ok(json!({
        "claim": claim.id, "job": claim.job, "at": time(*at), "outcome": outcome, "ending": ending_name(event),
        "postings": postings(transaction), "params_sha256": claim.params_sha256,
    }))
}

fn postings(transaction: &Transaction) -> Vec<Value> {
    let of = transaction.postings().iter();
    of.map(|posting| json!({ "account": posting.account.name(), "change": posting.change.to_string() }))
        .collect()
}

/// An agent, bound. Its own locks are told to itself; what is locked for a sealed role counts as free for others.
pub(crate) fn agent_json(viewer: &Viewer, world: &World, agent: &str) -> Option<Value> {
    let about = world.agents.get(agent)?;
    let is_own = own(viewer) == Some(agent) || viewer.is_admin();
    let of = |claim: &Claim, roles: &[&str]| locked(world, claim, agent, roles);
    let all =
        Amount::checked_sum(world.claims.values().map(|claim| of(claim, &ROLES))).unwrap_or(Amount::MAX);
    let sealed = world.claims.values().filter(|claim| !claim.phase.is_terminal()).map(|claim| {
        // Who challenges is known when the window closes; who audits, when it is over.
        if is_window(claim) { of(claim, &["challenger", "auditor"]) } else { of(claim, &["auditor"]) }
    });
    let sealed = if is_own { Amount::ZERO } else { Amount::checked_sum(sealed).unwrap_or_default() };
    Some(json!({
        "agent": agent, "operator": about.operator, "key": about.key, "capabilities": about.capabilities,
        "free": world.avail(agent).checked_add(sealed), "locked": all.checked_sub(sealed),
        "counter": is_own.then(|| about.counter.to_string()),
        "standing": is_own.then(|| about.standing_on(world.now)),
    }))
}

/// What an agent was drawn for and has not finished: the claim, the duty, until when.
pub(crate) fn assignments<'a>(
    world: &'a World,
    agent: &'a str,
) -> impl Iterator<Item = (&'a Claim, Duty, u64)> {
    world.claims.values().filter_map(move |claim| {
        let until = claim.until;
        if claim.phase.is_terminal() {
            return None;
        }
        if claim.runner() == Some(agent) {
            return Some((claim, Duty::Runner, until));
        }
        if claim.is_auditor(agent) {
            let answers = is_window(claim) && !claim.audit.accepted && claim.challenge(agent).is_none();
            return Some((claim, Duty::Auditor, if answers { claim.audit.until } else { until }));
        }
        let sits = claim.panel().is_some_and(|panel| panel.seats.iter().any(|seat| seat.agent == agent));
        sits.then_some((claim, Duty::Reviewer, until))
    })
}

/// The name of an assignment.
pub(crate) fn assignment_id(claim: &Claim, duty: Duty) -> String {
    format!("{}-{}", claim.id, duty.name())
}

/// An assignment for the agent that has it.
pub(crate) fn assignment_json((claim, duty, until): (&Claim, Duty, u64)) -> Value {
    let accepted = match duty {
        Duty::Runner => claim.phase != Phase::Offered,
        Duty::Auditor => claim.audit.accepted,
        Duty::Reviewer => true,
    };
    json!({
        "assignment": assignment_id(claim, duty), "claim": claim.id, "role": duty.name(),
        "status": claim.phase.name(), "accepted": accepted, "until": time(until),
    })
}

/// The claim of an assignment, for the agent that has it. For everybody else it is not there.
pub(crate) fn assigned<'a>(world: &'a World, agent: &str, id: &str) -> Result<&'a Claim, Problem> {
    let missing = || Problem::new("not_found", "you have no such assignment");
    let (claim, duty) = id.split_once('-').ok_or_else(missing)?;
    let claim = world.claims.get(claim).ok_or_else(missing)?;
    let found = claim.runner() == Some(agent) && duty == Duty::Runner.name()
        || claim.is_auditor(agent) && duty == Duty::Auditor.name()
        || duty == Duty::Reviewer.name()
            && claim.panel().is_some_and(|panel| panel.seats.iter().any(|seat| seat.agent == agent));
    if found { Ok(claim) } else { Err(missing()) }
}

/// What the instance is, what is known of its beacon, and how often the server was up again while claims were under way.
/// A party, and whoever runs the instance, is told which round is to be revealed, be it that of a draw in secret, and
/// what each party revealed up to it; everybody else no more than draws take that everybody may see.
pub(crate) fn beacon_json(viewer: &Viewer, claims: &Claims, world: &World) -> Value {
    let of = &world.instance;
    let latest = claims.latest();
    let mut told = json!({
        "instance": of.name, "instance_id": of.id(), "asset": of.asset.as_str(), "beacon": of.source.kind().name(),
        "params": of.params.to_json(), "params_sha256": world.params_sha256(),
        "resumed": { "times": claims.resumed().to_string(), "at": Some(world.resumed_at).filter(|at| *at > 0).and_then(time) },
        "latest": latest.map(|seen| json!({ "round": seen.round.to_string(), "signature": super::hex(&seen.proof) })),
    });
    let Source::HashChain(chain) = &of.source else { return told };
    let me = own(viewer).filter(|me| of.parties.iter().any(|party| party.agent == **me));
    let sees_all = me.is_some() || viewer.is_admin();
    let wanted = life::round_wanted(world);
    let most = if sees_all { wanted } else { claims.drawn.max(1) };
    let parties = of.parties.iter().zip(chain.anchors()).map(|(party, anchor)| {
        let revealed = life::revealed_by(world, &party.agent, most);
        json!({
            "agent": party.agent, "anchor": anchor, "rounds": party.rounds, "stake": party.stake,
            "revealed": revealed.map(|revealed| json!({ "round": revealed.round.to_string(), "preimage": revealed.preimage })),
        })
    });
    told["parties"] = parties.collect();
    told["drawn"] = json!(claims.drawn.to_string());
    if sees_all {
        told["wanted"] = json!(wanted.to_string());
    }
    told
}

/// What somebody could do now, with the reason where it cannot: the rules themselves are asked.
pub(crate) fn may_now(
    claims: &Claims,
    world: &World,
    claim: &Claim,
    me: &str,
    at: u64,
) -> Vec<(&'static str, Result<(), Problem>)> {
    let name = || claim.id.clone();
    let digest = Digest::of(b"a probe");
    let one = Amount::new(1).unwrap_or_default();
    let probes = [
        ("fund", life::Command::Fund { claim: name(), amount: one }),
        ("withdraw", life::Command::Withdraw { claim: name() }),
        ("accept", life::Command::Accept { claim: name() }),
        ("decline", life::Command::Decline { claim: name(), reason: Some("probe".to_owned()) }),
        ("commit the run", life::Command::CommitRun { claim: name(), digest }),
        ("challenge", life::Command::CommitChallenge { claim: name(), digest }),
        ("vote", life::Command::CommitVote { claim: name(), digest }),
        ("appeal", life::Command::Appeal { claim: name() }),
    ];
    let ask = |(what, command): (&'static str, life::Command)| {
        let stamped = claims.stamped(world, at.max(world.now), me, digest, command);
        (what, life::decide(world, &stamped).map(drop).map_err(|refusal| super::problem(&refusal)))
    };
    probes.into_iter().map(ask).collect()
}
