//! Replays: a page for each turn, two episodes side by side, and the check of the stored log.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use super::episodes::{check, read_turn};
use super::web::{page, shown};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::finish::CROSS_ORIGIN_RESOURCE;
use crate::http::who::Who;
use crate::instance::episodes::Record;
use crate::pages::campus::{Proof, Told, episode_chart, episode_page, replay_page, versus_page};
use crate::pages::chart::picture_policy;
use crate::play::{self, Story};
use crate::problem::Problem;

/// Episodes that a page offers to put beside its own.
const OTHERS_MAX: usize = 10;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/episodes", get(all))
        .route("/episodes/{episode}", get(episode))
        .route("/episodes/{episode}/chart.svg", get(chart))
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

/// Finished episodes of the same pack.
fn others(app: &Shared, story: &Story) -> Result<Vec<Record>, Problem> {
    app.look(|instance| {
        let others = instance.episodes.finished_on(story.record.pins.pack_sha256);
        others.filter(|other| other.number != story.record.number).take(OTHERS_MAX).cloned().collect()
    })
}

/// The chart of a finished episode, for pages elsewhere: it may be loaded from anywhere and loads nothing.
async fn chart(State(app): State<Shared>, Path(id): Path<String>, who: Who) -> Result<Response, Problem> {
    let story = play::story(&app, &who.viewer, &id).await?;
    let chart = episode_chart(&story)
        .ok_or_else(|| Problem::new("not_over", "a picture is drawn of an episode that is over"))?;
    let mut response = chart.into_response();
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
        (header::CONTENT_SECURITY_POLICY, picture_policy()),
        (CROSS_ORIGIN_RESOURCE, "cross-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn episode(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let story = play::story(&app, &who.viewer, &id).await?;
    let proof = proof(&app, &story).await?;
    let others = others(&app, &story)?;
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
    let others = others(&app, &story)?;
    let now_ms = arrival.at.unix_ms();
    Ok(page(replay_page(
        &Told { story: &story, viewer: shown(&who), proof: &proof, others: &others, now_ms },
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
