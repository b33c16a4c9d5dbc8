//! An action of a player: the one way in, whether it comes from a form or from a program.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_engine::campus::{Episode, Pack, RawAction, read_actions};

use super::step::{Step, rebuild, step};
use super::story::{finished_log, story};
use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::instance::Command;
use crate::instance::episodes::{self, Measured, Outcome, check_turn, may_act, pack_of};
use crate::problem::Problem;

/// Reads an action; every fault at once.
pub(crate) fn read_action(document: &Value) -> Result<RawAction, Problem> {
    let one = Value::Array(vec![document.clone()]);
    match read_actions(&one, 1) {
        Ok(actions) => Ok(actions.first().copied().unwrap_or_default()),
        Err(faults) => {
            let mut problem = Problem::new("form", "the action is not of its form");
            for fault in &faults.0 {
                problem.push(fault.pointer.strip_prefix("/0").unwrap_or_default(), "form", &fault.message);
            }
            Err(problem)
        }
    }
}

/// What is needed to work a turn out, taken in one look.
struct Sitting {
    pack: Arc<Pack>,
    /// Nothing if it has to be made again.
    seat: Option<Episode>,
    /// Where they are needed: for a seat that has to be made again, and for the log at the end.
    actions: Vec<RawAction>,
    is_last: bool,
}

/// Acts on a turn, for good. Sent again it is answered again, and another action for the same turn is
/// refused.
pub(crate) async fn commit(
    app: &Shared,
    viewer: &Viewer,
    at: Moment,
    id: &str,
    turn: u32,
    action: RawAction,
) -> Result<Step, Problem> {
    let sitting = match sit(app, viewer, id, turn)? {
        Ok(sitting) => sitting,
        Err(refusal) => return again(app, viewer, id, turn, action, refusal).await,
    };
    let Sitting { pack, seat, mut actions, is_last } = sitting;
    let mut seat = seat.unwrap_or_else(|| rebuild(&pack, &actions));
    let resolved = step(&mut seat, &action).ok_or_else(Problem::internal)?;
    let end = if is_last {
        actions.push(action);
        Some(keep(app, pack, actions).await?)
    } else {
        None
    };
    let command = Command::Episodes(episodes::Command::Act { episode: id.to_owned(), turn, action, end });
    match app.execute(viewer.clone(), at, command, None).await {
        Ok(_) => Ok(resolved),
        Err(refusal) => again(app, viewer, id, turn, action, refusal).await,
    }
}

/// A refusal within is what the turn itself is refused with; one without is not about the turn.
fn sit(app: &Shared, viewer: &Viewer, id: &str, turn: u32) -> Result<Result<Sitting, Problem>, Problem> {
    app.look(|instance| {
        let agent = viewer.agent_with(Scope::Play)?;
        let record = instance.episodes.seen(viewer, id)?;
        may_act(record, agent)?;
        if let Err(refusal) = check_turn(record, turn) {
            return Ok(Err(refusal));
        }
        let pack = pack_of(record, app.known())?;
        let is_last = turn + 1 == record.pins.turns;
        let seat = record.seat().cloned();
        let actions = if is_last || seat.is_none() { record.actions().to_vec() } else { Vec::new() };
        Ok(Ok(Sitting { pack, seat, actions, is_last }))
    })?
}

/// A turn that was played before: with the same action it is told again.
async fn again(
    app: &Shared,
    viewer: &Viewer,
    id: &str,
    turn: u32,
    action: RawAction,
    refusal: Problem,
) -> Result<Step, Problem> {
    if refusal.code() != "turn_already_committed" {
        return Err(refusal);
    }
    let told = story(app, viewer, id).await?;
    told.steps.into_iter().nth(turn as usize).filter(|step| step.turn.action == action).ok_or(refusal)
}

/// Writes the log of a finished episode, before anything names it.
async fn keep(app: &Shared, pack: Arc<Pack>, actions: Vec<RawAction>) -> Result<Outcome, Problem> {
    let blobs = app.store.blobs().clone();
    let kept = tokio::task::spawn_blocking(move || {
        let log = finished_log(&pack, &actions);
        let bytes = log.to_bytes();
        let settlement = &log.settlement;
        let outcome = Outcome {
            log_sha256: Digest::of(&bytes),
            log_bytes: bytes.len() as u64,
            stars: settlement.stars,
            metrics: settlement.metrics.map(|metric| Measured { id: metric.id, value: metric.value }),
            clamps: settlement.clamp_count,
        };
        blobs.put(&bytes).map(|_| outcome)
    });
    match kept.await {
        Ok(Ok(outcome)) => Ok(outcome),
        _ => {
            Err(Problem::new("overloaded", "the log could not be kept; the turn was not played")
                .retry_after(5))
        }
    }
}
