//! Tournaments: draft, freeze, start, and what came of it. Nothing is played in a request.

mod whole;

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self as canonical, Value};
use arena_contests::Moment;
use arena_tournament::{Class, Component, Pins, Secret};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::{App, Shared};
use crate::auth::Viewer;
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::paging::Wanted;
use crate::http::versioned::{bytes, document};
use crate::http::who::Who;
use crate::instance::tournaments::{
    self as area, Command, Freezing, Pin, Status, Tournament, check_status, matrix_json, moves_json,
};
use crate::instance::{self, Instance};
use crate::keeper::Answered;
use crate::problem::Problem;
use crate::workshop::{read_card, read_pin, read_record};

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, draft))
        .routes(routes!(tournament))
        .routes(routes!(freeze))
        .routes(routes!(start))
        .routes(routes!(frozen))
        .routes(routes!(commitments))
        .routes(routes!(matrix))
        .routes(routes!(scorecard))
        .routes(routes!(receipt))
        .routes(routes!(identities))
        .routes(routes!(moves))
        .routes(routes!(whole::run))
}

/// A tournament to draft: the plan as `arena tournament freeze --help` shows it, as JSON and with ids of strategies.
#[derive(utoipa::ToSchema)]
#[schema(as = NewTournament)]
#[expect(dead_code, reason = "its shape is what is documented")]
struct NewTournament {
    /// Its name in addresses: `a-z`, `0-9` and `-`.
    #[schema(min_length = 1, max_length = 64)]
    slug: String,
    /// Its name for people.
    #[schema(min_length = 1, max_length = 120)]
    title: String,
    /// `campus` or `matrix`.
    #[schema(pattern = "^(campus|matrix)$")]
    game: String,
    /// Ids of your strategies; the same may stand twice.
    strategies: Vec<String>,
    /// `kind`, `self_play`, `repetitions`, `pairs` or `challengers`; `packs` of the campus, or `rounds` and `payoffs`.
    matrix: Value,
    /// `move_validation` and `host_retries`.
    protocol: Option<Value>,
    /// `fuel`, `matchups`, `turns`, `wall_seconds`.
    budget: Option<Value>,
}

/// A tournament with how far it is.
fn told(app: &App, instance: &Instance, tournament: &Tournament) -> Value {
    area::json(instance, tournament, app.floor.progress(tournament.number))
}

/// The same without what may be long.
fn short(mut told: Value) -> Value {
    if let Some(members) = told.as_object_mut() {
        members.retain(|name, _| !["matrix", "strategies"].contains(&name.as_str()));
    }
    told
}

/// All that are public, and your drafts, the newest first.
#[utoipa::path(
    get, path = "/api/v1/tournaments", tag = "tournaments",
    params(("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "One page of them"))
)]
async fn list(
    State(app): State<Shared>,
    who: Who,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    app.look(|instance| {
        let seen = instance.tournaments.list(&who.viewer);
        wanted.page(&headers, seen.map(|it| (it.place(), short(told(&app, instance, it)))))
    })
}

/// Drafts a tournament between strategies of yours. Only you see it until it is frozen.
#[utoipa::path(
    post, path = "/api/v1/tournaments", tag = "tournaments", request_body(content = NewTournament),
    security(("key" = []), ("admin" = [])),
    responses((status = 201, description = "The draft"))
)]
async fn draft(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = Command::Draft { document: posted.document, limits: app.config.tournaments.clone() };
    let command = instance::Command::Tournaments(command);
    Ok(app.execute(who.viewer, arrival.at, command, posted.slot).await?.into_response())
}

/// A tournament: what is played, how far it is, and how it ended.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The tournament"))
)]
async fn tournament(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let tournament = instance.tournaments.seen(&who.viewer, &id)?;
        Ok(document(&headers, &told(&app, instance, tournament)))
    })?
}

/// Freezes a draft: what decides it is written down for good, aliases are drawn, and everybody may see it.
#[utoipa::path(
    post, path = "/api/v1/tournaments/{tournament}/freeze", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    security(("key" = []), ("admin" = [])),
    responses((status = 200, description = "It is frozen"))
)]
async fn freeze(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    Ok(freeze_now(&app, &who.viewer, arrival.at, &id, bare.slot).await?.into_response())
}

/// The same for a form.
pub(super) async fn freeze_now(
    app: &Shared,
    viewer: &Viewer,
    at: Moment,
    id: &str,
    slot: Option<arena_store::Slot>,
) -> Result<Answered, Problem> {
    let (tournament, components) = app.look(|instance| {
        let tournament = instance.tournaments.own(viewer, id)?;
        let component = |number: &u64| {
            let admission = &instance.strategies.get(*number)?.admission;
            Some(Component { sha256: admission.sha256, world: admission.world.clone() })
        };
        let components: Option<Vec<Component>> = tournament.strategies.iter().map(component).collect();
        Ok::<_, Problem>((Arc::clone(tournament), components.ok_or_else(Problem::internal)?))
    })??;
    let pins = app.floor.workshop()?.pins();
    let freezing = match check_status(&tournament, &[Status::Draft]) {
        Ok(()) => make(app, tournament, components, pins).await?,
        // It never is a draft again, so nothing is made anew: this is refused, or answered as it was before.
        Err(_) => {
            let frozen = Pin { sha256: Digest::of(b""), bytes: 0 };
            Freezing { tournament: tournament.id(), secret: Secret::from_bytes([0; 32]), frozen }
        }
    };
    let command = instance::Command::Tournaments(Command::Freeze(freezing));
    app.execute(viewer.clone(), at, command, slot).await
}

/// Freezes a draft with luck of its own, and keeps the file.
async fn make(
    app: &Shared,
    tournament: Arc<Tournament>,
    components: Vec<Component>,
    pins: Pins,
) -> Result<Freezing, Problem> {
    let luck = app.outside.luck();
    let secret = Digest::of_parts(&[b"arena tournament secret", &luck]);
    let secret = Secret::from_bytes(*secret.as_bytes());
    let app = Arc::clone(app);
    let made = tokio::task::spawn_blocking(move || {
        let frozen = area::freeze(&tournament, &components, app.known(), &secret, &pins)?;
        let bytes = frozen.to_bytes();
        let kept = |_| Problem::new("overloaded", "the frozen file could not be kept").retry_after(5);
        let sha256 = app.store.blobs().put(&bytes).map_err(kept)?;
        let frozen = Pin { sha256, bytes: bytes.len() as u64 };
        Ok(Freezing { tournament: tournament.id(), secret, frozen })
    });
    made.await.map_err(|_| Problem::internal())?
}

/// Starts a frozen tournament, or takes up one that stalled. It is played when its turn comes.
#[utoipa::path(
    post, path = "/api/v1/tournaments/{tournament}/start", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    security(("key" = []), ("admin" = [])),
    responses((status = 200, description = "It is started"))
)]
async fn start(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    Ok(start_now(&app, &who.viewer, arrival.at, &id, bare.slot).await?.into_response())
}

/// The same for a form.
pub(super) async fn start_now(
    app: &Shared,
    viewer: &Viewer,
    at: Moment,
    id: &str,
    slot: Option<arena_store::Slot>,
) -> Result<Answered, Problem> {
    app.look(|instance| instance.tournaments.own(viewer, id).map(|_| ()))??;
    app.floor.workshop()?;
    let limits = app.config.tournaments.clone();
    let command = Command::Start { tournament: id.to_owned(), limits };
    app.execute(viewer.clone(), at, instance::Command::Tournaments(command), slot).await
}

/// The tournament of this name, if somebody may see it.
pub(super) fn found(app: &Shared, who: &Who, id: &str) -> Result<Arc<Tournament>, Problem> {
    app.look(|instance| instance.tournaments.seen(&who.viewer, id).cloned())?
}

/// The frozen file: everything that decides the tournament, under aliases. Its digest binds all of it.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/frozen", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The file"))
)]
async fn frozen(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let draft = || Problem::new("not_in_status", "it is a draft; nothing is frozen yet");
    let pin = tournament.frozen.as_ref().ok_or_else(draft)?.file;
    Ok(bytes(&headers, read_pin(&app, pin).await?, "application/json"))
}

/// The commitments to the identities, from before the first match.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/commitments", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The file"))
)]
async fn commitments(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let early = || Problem::new("not_in_status", "it has not been set up yet");
    let (_, pin) = tournament.begun.ok_or_else(early)?;
    Ok(bytes(&headers, read_pin(&app, pin).await?, "application/json"))
}

/// Who scored what against whom, the standings, and who was who. Only of a success; the reason otherwise.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/matrix", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The matrix"))
)]
async fn matrix(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let card = read_card(&app, &tournament).await?;
    Ok(document(&headers, &matrix_json(&tournament, &card)))
}

/// The scorecard, as the bytes whose SHA-256 the receipt has. Only of a success; the reason otherwise.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/scorecard", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The scorecard"))
)]
async fn scorecard(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let pin = tournament.disclosed()?.scorecard.ok_or_else(Problem::internal)?;
    Ok(bytes(&headers, read_pin(&app, pin).await?, "application/json"))
}

/// Who was who, with the secret and the salts that open every commitment. Only of a success.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/identities", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The file"))
)]
async fn identities(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let pin = tournament.disclosed()?.identities.ok_or_else(Problem::internal)?;
    Ok(bytes(&headers, read_pin(&app, pin).await?, "application/json"))
}

/// The receipt: how it ended, what was spent, and every file by its digest. Of a run that was no success the files are
/// left out, and mismatches are only counted: its identities stay hidden.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/receipt", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The receipt"))
)]
async fn receipt(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let open = || Problem::new("not_over", "there is a receipt when the run is over");
    let (_, ended) = tournament.end.as_ref().ok_or_else(open)?;
    let none = || Problem::new("no_scorecard", format_args!("there is no receipt: {}", ended.reason));
    let receipt = read_pin(&app, ended.receipt.ok_or_else(none)?).await?;
    if ended.class == Class::Success {
        return Ok(bytes(&headers, receipt, "application/json"));
    }
    let mut told = canonical::read(&receipt, receipt.len()).map_err(|_| Problem::internal())?;
    told.as_object_mut().and_then(|members| members.remove("files"));
    // As it is journaled: where this server keeps its runs is in none of it.
    told["reason"] = ended.reason.clone().into();
    if let Some(mismatches) = told.pointer_mut("/identities/mismatches") {
        *mismatches = mismatches.as_array().map(Vec::len).into();
    }
    Ok(document(&headers, &told))
}

/// A match, move by move, with who sat where. Only of a success.
#[utoipa::path(
    get, path = "/api/v1/tournaments/{tournament}/matches/{match}/moves", tag = "tournaments",
    params(("tournament" = String, Path, pattern = "^t[1-9][0-9]{0,11}$"),
           ("match" = String, Path, pattern = "^m[0-9]{5}$")),
    responses((status = 200, description = "The match"))
)]
async fn moves(
    State(app): State<Shared>,
    Path((id, played)): Path<(String, String)>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let card = read_card(&app, &tournament).await?;
    let record = read_record(&app, &tournament, &card, &played).await?;
    Ok(document(&headers, &moves_json(&tournament, &card, &record)))
}
