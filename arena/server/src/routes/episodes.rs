//! Packs and episodes of the campus: join, look, act, settle, and check any log.

use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_contests::document::{Faults, Object};
use arena_engine::campus::{Checked, Notice, ObservationRecord, brief};
use arena_engine::limits::limits;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::{self, Posted};
use crate::http::paging::Wanted;
use crate::http::versioned::{bytes, document};
use crate::http::who::Who;
use crate::instance::Command;
use crate::instance::episodes::{self, Outcome, Record};
use crate::play::{self, Published};
use crate::problem::Problem;

/// Logs that are checked at once. Each is bounded by its bytes.
static CHECKS: Semaphore = Semaphore::const_new(4);

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list_packs))
        .routes(routes!(pack))
        .routes(routes!(list, join))
        .routes(routes!(episode))
        .routes(routes!(read_brief))
        .routes(routes!(observation))
        .routes(routes!(turn))
        .routes(routes!(act))
        .routes(routes!(settlement))
        .routes(routes!(log))
        .routes(routes!(verify))
}

/// An episode to start.
#[derive(utoipa::ToSchema)]
#[schema(as = NewEpisode)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct NewEpisode {
    /// The pack's name.
    #[schema(min_length = 1, max_length = 64)]
    pack: String,
    /// Its version.
    #[schema(min_length = 1, max_length = 64)]
    version: String,
}

/// What to do on one turn. Every member may be left out or be null, which counts as zero or no. Nothing is out
/// of range: what cannot be is cut to what can, and every cut is told.
#[derive(utoipa::ToSchema)]
#[schema(as = CampusAction)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct Action {
    /// IT load to shed, MW.
    curtail_mw: Option<f64>,
    /// Positive discharges the battery, negative charges it, MW.
    battery_mw: Option<f64>,
    /// Output of the natural-gas generator, MW.
    diesel_mw: Option<f64>,
    /// Accept every appeal that is active now, until it ends.
    accept_offer: Option<bool>,
}

/// A pack in a few words.
fn pack_json(published: &Published) -> Value {
    let about = published.pack.document();
    json!({
        "id": about.pack_id, "version": about.pack_version, "name": about.name,
        "sha256": published.pack.sha256(), "score_version": about.score_version,
        "turns": about.time.turns, "step_minutes": about.time.step_minutes,
        "start_local": about.time.start_local,
    })
}

/// The packs that are played here.
#[utoipa::path(
    get, path = "/api/v1/packs", tag = "episodes",
    params(("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The packs"))
)]
async fn list_packs(
    State(app): State<Shared>,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    let packs = app.known().packs.all().iter().enumerate();
    Ok(wanted.page(&headers, packs.map(|(place, published)| (format!("{place:06}"), pack_json(published)))))
}

/// A pack, as the bytes whose SHA-256 an episode pins. It tells all that is going to happen.
#[utoipa::path(
    get, path = "/api/v1/packs/{pack}/{version}", tag = "episodes",
    params(("pack" = String, Path, pattern = "^[A-Za-z0-9._-]{1,64}$"),
           ("version" = String, Path, pattern = "^[A-Za-z0-9._-]{1,64}$")),
    responses((status = 200, description = "The pack"))
)]
async fn pack(
    State(app): State<Shared>,
    Path((id, version)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let published = app.known().packs.find(&id, &version).ok_or_else(no_pack)?;
    Ok(bytes(&headers, published.bytes.clone(), "application/json"))
}

pub(super) fn no_pack() -> Problem {
    Problem::new("not_found", "no pack here has this name and version")
}

/// Starts an episode. Pack, engine, scoring and limits are those of this moment, for good.
#[utoipa::path(
    post, path = "/api/v1/episodes", tag = "episodes", request_body(content = NewEpisode),
    responses((status = 201, description = "The episode is open"))
)]
async fn join(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let read = Object::read(&posted.document, &Default::default(), &["pack", "version"], &mut faults);
    let read = read.and_then(|object| {
        let pack = object.text("pack", &mut faults);
        let version = object.text("version", &mut faults);
        Some((pack?.to_owned(), version?.to_owned()))
    });
    let (pack, version) = faults.or(read).map_err(|faults| Problem::form(&faults))?;
    let command = Command::Episodes(episodes::Command::Join { pack, version });
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

/// Your episodes, and everybody's finished ones, the newest first.
#[utoipa::path(
    get, path = "/api/v1/episodes", tag = "episodes",
    params(("agent" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("status" = Option<String>, Query, pattern = "^(open|finished)$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "One page of them"))
)]
async fn list(
    State(app): State<Shared>,
    who: Who,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["agent", "status"])?;
    let open = match wanted.filter("status") {
        None => None,
        Some("open") => Some(true),
        Some("finished") => Some(false),
        Some(_) => return Err(Problem::new("query", "`status` is `open` or `finished`")),
    };
    let agent = super::query::name(&wanted, "agent")?;
    app.look(|instance| {
        let told = |record: &Record| (record.place(), record.to_json());
        if open == Some(true) {
            // Open ones are seen by their player alone, and are few.
            let own = who.viewer.agent().filter(|own| agent.is_none_or(|agent| agent == *own));
            let records = own.into_iter().flat_map(|own| instance.episodes.open_by(own));
            return wanted.page(&headers, records.map(told));
        }
        let records = instance.episodes.list(&who.viewer, agent, wanted.after.as_deref());
        let records = records.filter(|record| open.is_none() || record.end.is_some());
        wanted.page(&headers, records.map(told))
    })
}

/// An episode: whose, of which pack, where it stands, and how it ended.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The episode"))
)]
async fn episode(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let about =
        app.look(|instance| Ok::<_, Problem>(instance.episodes.seen(&who.viewer, &id)?.to_json()))??;
    Ok(document(&headers, &about))
}

/// What is told before turn 0, as Markdown.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}/brief", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The brief"))
)]
async fn read_brief(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (pack, row) = app.look(|instance| {
        let record = instance.episodes.seen(&who.viewer, &id)?;
        let pack = episodes::pack_of(record, app.known())?;
        Ok::<_, Problem>((pack, limits(record.pins.limits_version).ok_or_else(Problem::internal)?))
    })??;
    let about = json!({
        "episode": id, "pack": pack.document().pack_id, "version": pack.document().pack_version,
        "pack_sha256": pack.sha256(), "turns": pack.turns(), "brief_md": brief(&pack, row),
    });
    Ok(document(&headers, &about))
}

/// What is seen on the turn that is to be played, with the limits that bit on the last one.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}/observation", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The observation"))
)]
async fn observation(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (record, seat) = play::now(&app, &who.viewer, &id)?;
    let over = || Problem::new("episode_over", "all turns are played; read the settlement");
    let seen = seat.observe().ok_or_else(over)?;
    let clamps: Vec<_> = seen
        .notices()
        .filter_map(|notice| match notice {
            Notice::Clamped(clamp) => Some(clamp),
            _ => None,
        })
        .collect();
    let about = json!({
        "episode": id, "turn": seen.turn(), "turns": record.pins.turns,
        "observation": ObservationRecord::of(&seen), "metrics": play::metrics_json(&seat.running()),
        "last_clamps": clamps,
    });
    Ok(document(&headers, &about))
}

/// A turn that was played: what was seen, asked and granted.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}/turns/{turn}", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$"),
           ("turn" = String, Path, pattern = "^(0|[1-9][0-9]{0,5})$")),
    responses((status = 200, description = "The turn"))
)]
async fn turn(
    State(app): State<Shared>,
    Path((id, turn)): Path<(String, String)>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let turn = read_turn(&turn)?;
    let told = play::story(&app, &who.viewer, &id).await?;
    let step = told.steps.get(turn as usize);
    let step = step.ok_or_else(|| Problem::new("not_found", "this turn has not been played"))?;
    let mut about = step.to_json(&id);
    about["observation"] = json!(step.turn.observation);
    Ok(document(&headers, &about))
}

/// The number of a turn has one spelling.
pub(super) fn read_turn(text: &str) -> Result<u32, Problem> {
    let is_one = text == "0" || !text.starts_with(['0', '+']);
    let turn = text.parse().ok().filter(|_| is_one && text.len() <= 6);
    turn.ok_or_else(|| Problem::new("not_found", "a turn is a whole number from 0"))
}

/// Acts on a turn, for good. The same again is answered with the same; another action is refused with
/// `turn_already_committed`, and a turn that is not the next one with `not_this_turn`.
#[utoipa::path(
    put, path = "/api/v1/episodes/{episode}/turns/{turn}/action", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$"),
           ("turn" = String, Path, pattern = "^(0|[1-9][0-9]{0,5})$")),
    request_body(content = Action),
    responses((status = 200, description = "What came of it, and what is seen next"))
)]
async fn act(
    State(app): State<Shared>,
    Path((id, turn)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let turn = read_turn(&turn)?;
    let action = play::read_action(&posted.document)?;
    let done = play::commit(&app, &who.viewer, arrival.at, &id, turn, action).await?;
    let mut response = json::canonical(&done.to_json(&id)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// How a finished episode ended, for whoever may see it.
pub(super) fn ended(app: &Shared, who: &Who, id: &str) -> Result<Outcome, Problem> {
    app.look(|instance| {
        let record = instance.episodes.seen(&who.viewer, id)?;
        let open = || {
            let left = record.pins.turns - record.turn;
            Problem::new("not_over", format_args!("{left} turns are left to play"))
        };
        record.end.clone().ok_or_else(open)
    })?
}

/// The outcome of a finished episode.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}/settlement", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The settlement"))
)]
async fn settlement(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let end = ended(&app, &who, &id)?;
    let log = play::log_bytes(&app, &end).await?;
    let log = json::read(&log, log.len()).map_err(|_| Problem::internal())?;
    let about = json!({
        "episode": id, "settlement": log.get("settlement"), "pins": log.get("pins"),
        "log_sha256": end.log_sha256, "log_bytes": end.log_bytes,
    });
    Ok(document(&headers, &about))
}

/// The sealed log of a finished episode: one line of canonical JSON, which `arena verify` and
/// `/replays/verify` take as it is.
#[utoipa::path(
    get, path = "/api/v1/episodes/{episode}/log", tag = "episodes",
    params(("episode" = String, Path, pattern = "^e[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The log"))
)]
async fn log(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let end = ended(&app, &who, &id)?;
    let mut response = bytes(&headers, play::log_bytes(&app, &end).await?, "application/json");
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{id}.json\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// Replays a log and compares every number of it, bit for bit. No key is needed.
#[utoipa::path(
    post, path = "/api/v1/replays/verify", tag = "episodes", request_body(content = Value),
    responses((status = 200, description = "The verdict: `verified` or `departs`, with the places"))
)]
async fn verify(State(app): State<Shared>, request: Request) -> Result<Response, Problem> {
    body::check_type(request.headers(), "application/json")?;
    let log = body::read(request, app.config.limits.replay_bytes).await?;
    if CHECKS.available_permits() == 0 {
        return Err(Problem::new("overloaded", "other logs are being checked").retry_after(1));
    }
    let checked = check(&app, log.to_vec()).await?;
    let mut response = json::canonical(&checked.to_json()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Checks a log on a thread that may take its time.
pub(super) async fn check(app: &Shared, log: Vec<u8>) -> Result<Checked, Problem> {
    let _place = CHECKS.acquire().await.map_err(|_| Problem::internal())?;
    let app = Arc::clone(app);
    let checked = tokio::task::spawn_blocking(move || play::check(&log, &app.known().packs)).await;
    checked.map_err(|_| Problem::internal())?
}
