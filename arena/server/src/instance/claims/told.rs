//! What everybody may know the moment it happens. What is sealed, and what would tell of it, is not here: not even that
//! somebody challenged.

use arena_canon::Digest;
use arena_canon::json;
use arena_claims::life::Event;
use arena_contests::Moment;
use serde_json::json;

use super::super::Row;

/// The announcement of an event, if it is everybody's.
pub(super) fn row(at: Moment, event: &Event) -> Option<Row> {
    if event.is_sealed() {
        return None;
    }
    let body = match event {
        Event::AgentRegistered { agent, operator, key, capabilities } => {
            let body =
                json!({ "agent": agent, "operator": operator, "key": key, "capabilities": capabilities });
            return Some(Row::announcement(at, format!("agents/{agent}"), "claim.agent_registered", body));
        }
        Event::ClaimListed { submitter, manifest, job, .. } => json!({
            "submitter": submitter, "title": manifest.get("title"), "job": job,
            "manifest_sha256": Digest::of(&json::canonical_of(manifest)),
        }),
        Event::ClaimRelisted { manifest, job, .. } => json!({
            "title": manifest.get("title"), "job": job,
            "manifest_sha256": Digest::of(&json::canonical_of(manifest)),
        }),
        Event::ClaimFunded { agent, amount, .. } => json!({ "agent": agent, "amount": amount }),
        Event::FundsWithdrawn { agent, .. } => json!({ "agent": agent }),
        Event::DrawCommitted(draw) => json!({
            "purpose": draw.purpose, "attempt": draw.attempt, "seats": draw.seats,
            "round": draw.round.to_string(), "last_round_seen": draw.last_round_seen.to_string(),
            "committed_at": draw.committed_at.to_string(), "salt_sha256": draw.salt_sha256,
        }),
        Event::BeaconStalled { round, .. } => json!({ "round": round.to_string() }),
        Event::DrawResolved { transcript, picks, .. } => {
            json!({ "picks": picks, "transcript_sha256": Digest::of(&json::canonical_of(transcript)) })
        }
        Event::PartySlashed { agent, round, .. } => json!({ "agent": agent, "round": round.to_string() }),
        Event::RoleVacated { agent, why, .. } => json!({ "agent": agent, "why": why }),
        Event::RunCommitted { digest, .. } => json!({ "commitment": digest }),
        Event::WindowExtended { until, .. } => json!({ "until": until.to_string() }),
        Event::VoteCommitted { agent, digest, .. } => json!({ "agent": agent, "commitment": digest }),
        Event::VerdictReached { level, verdict, .. } => json!({ "level": level, "verdict": verdict.name() }),
        Event::Escalated { level, .. } => json!({ "level": level }),
        Event::Appealed { agent, .. } => json!({ "agent": agent }),
        Event::ReferencePublished { verdict, .. } => json!({ "verdict": verdict.name() }),
        Event::Settled { outcome, ending, .. } => {
            json!({ "outcome": outcome.name(), "ending": ending.name() })
        }
        Event::ClaimWithdrawn { why, .. } => json!({ "why": why.name() }),
        Event::CanaryOpened { salt, .. } => json!({ "salt": salt }),
        Event::JobOpened { .. }
        | Event::PartiesHeld { .. }
        | Event::PartiesReleased { .. }
        | Event::RunAccepted { .. }
        | Event::InputsChecked { .. }
        | Event::WindowClosed { .. }
        | Event::WindowReopened { .. }
        | Event::Disputed { .. }
        | Event::BoundaryFlagged { .. }
        | Event::VotesOpened { .. } => json!({}),
        // Money and standing are the agent's own; challenges are nobody's before the window closes.
        Event::Deposited { .. }
        | Event::PaidOut { .. }
        | Event::PositionDeclared { .. }
        | Event::RoundRevealed { .. }
        | Event::StandingChanged { .. }
        | Event::ValidRunCounted { .. }
        | Event::ChallengeCommitted { .. }
        | Event::CoinTossed { .. }
        | Event::AuditVacated { .. }
        | Event::AuditAccepted { .. }
        | Event::RunRevealed { .. }
        | Event::ChallengeRevealed { .. }
        | Event::VoteRevealed { .. } => return None,
    };
    let mut body = body;
    let claim = event.claim()?;
    body["claim"] = json!(claim);
    Some(Row::announcement(at, format!("claims/{claim}"), &format!("claim.{}", event.name()), body))
}

/// Whether whoever gave the command is told of an event by its name: what everybody is told, and what it did itself.
pub(super) fn is_told_to(event: &Event, by: &str) -> bool {
    let actor = match event {
        Event::Deposited { agent, .. }
        | Event::PaidOut { agent, .. }
        | Event::PositionDeclared { agent, .. }
        | Event::RoundRevealed { agent, .. }
        | Event::ChallengeCommitted { agent, .. }
        | Event::AuditAccepted { agent, .. }
        | Event::AuditVacated { agent, .. }
        | Event::ChallengeRevealed { agent, .. }
        | Event::VoteRevealed { agent, .. } => Some(agent.as_str()),
        // Nobody else's command reveals a run.
        Event::RunRevealed { .. } => return true,
        _ => None,
    };
    actor == Some(by) || row(Moment::from_unix_ms(0), event).is_some()
}
