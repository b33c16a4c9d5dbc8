//! What is due by time alone. The platform looks from time to time; what it finds is journaled like anything else.

use arena_contests::Moment;
use arena_contests::contest::{Actor, Command, ContestStatus, Stamped};
use serde_json::json;

use super::{Answer, Decision, Instance, Known, Request, claims, contests, rounds};
use crate::problem::Problem;

impl Instance {
    /// Whether a tick at this time would do anything.
    pub fn is_due(&self, now: Moment) -> bool {
        self.due_contest(now).is_some()
            || self.rounds.due(now).is_some()
            || self.claims.due(claims::seconds(now)).is_some()
    }

    fn due_contest(&self, now: Moment) -> Option<String> {
        let is_due = |contest: &&arena_contests::contest::Contest| {
            contest.status == ContestStatus::Active && now >= contest.manifest.ends_at
        };
        self.contests.all().find(is_due).map(|contest| contest.manifest.id.clone())
    }
}

/// One thing that is due. Whoever ticks goes on until nothing is.
pub(super) fn decide(instance: &Instance, request: &Request, known: &Known) -> Result<Decision, Problem> {
    if let Some(contest) = instance.due_contest(request.at) {
        let command = Command::CloseSubmissions { contest };
        let stamped = Stamped { at: request.at, by: Actor::System, command };
        return contests::carry_out(instance, stamped, known);
    }
    if let Some((held, due)) = instance.rounds.due(request.at) {
        return rounds::carry_out_due(held, due, request.at);
    }
    if let Some(command) = instance.claims.due(claims::seconds(request.at)) {
        let operator = instance.claims.world(known).instance.operator.clone();
        return claims::carry_out(instance, request, &operator, command, known);
    }
    Ok(Decision { rows: Vec::new(), answer: Answer::ok(json!({ "due": false })) })
}
