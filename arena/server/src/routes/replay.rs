//! Replays: a page for each turn, two episodes side by side, and the check of the stored log.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use super::episodes::{check, read_turn};
use super::web::{page, shown};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::who::Who;
use crate::instance::episodes::Record;
use crate::pages::campus::{Proof, Told, episode_page, replay_page, versus_page};
use crate::play::{self, Story};
use crate::problem::Problem;

/// Episodes that a page offers to put beside its own.
const OTHERS_MAX: usize = 10;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/episodes", get(all))
        .route("/episodes/{episode}", get(episode))
        .route("/episodes/{episode}/turns/{turn}", get(turn))
        .route("/episodes/{episode}/versus/{other}/turns/{turn}", get(versus))
}

async fn all() -> Redirect {
    Redirect::to("/play")
}

/// The stored log, replayed again for whoever looks.
async fn proof(app: &Shared, story: &Story) -> Result<Proof, Problem> {
    let Some(end) = &story.record.end else { return Ok(Proof::Open) };
    let log = play::log_bytes(app, end).await?;
    Ok(Proof::Checked(Box::new(check(app, log).await?)))
}

async fn episode(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let story = play::story(&app, &who.viewer, &id).await?;
    let proof = proof(&app, &story).await?;
    let others: Vec<Record> = app.look(|instance| {
        let others = instance.episodes.finished_on(story.record.pins.pack_sha256);
        others.filter(|other| other.number != story.record.number).take(OTHERS_MAX).cloned().collect()
    })?;
    let now_ms = arrival.at.unix_ms();
    Ok(page(episode_page(&Told {
        story: &story,
        viewer: shown(&who),
        proof: &proof,
        others: &others,
        now_ms,
    })))
}

async fn turn(
    State(app): State<Shared>,
    Path((id, turn)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let turn = read_turn(&turn)? as usize;
    let story = play::story(&app, &who.viewer, &id).await?;
    if turn >= story.steps.len() {
        return Err(Problem::new("not_found", "this turn has not been played"));
    }
    let proof = proof(&app, &story).await?;
    let now_ms = arrival.at.unix_ms();
    Ok(page(replay_page(
        &Told { story: &story, viewer: shown(&who), proof: &proof, others: &[], now_ms },
        turn,
    )))
}

async fn versus(
    State(app): State<Shared>,
    Path((id, other, turn)): Path<(String, String, String)>,
    who: Who,
) -> Result<Response, Problem> {
    let turn = read_turn(&turn)? as usize;
    let a = play::story(&app, &who.viewer, &id).await?;
    let b = play::story(&app, &who.viewer, &other).await?;
    if turn >= a.steps.len().max(b.steps.len()) {
        return Err(Problem::new("not_found", "neither episode has played this turn"));
    }
    Ok(page(versus_page(&a, &b, turn, shown(&who))).into_response())
}
