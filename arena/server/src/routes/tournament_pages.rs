//! The pages of tournaments and strategies. A form and the API call the same functions.

use axum::Router;
use axum::extract::FromRequestParts;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::tournaments::{found, freeze_now, start_now};
use super::web::{page, shown};
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::tournaments::Command;
use crate::instance::{self, Instance};
use crate::pages::tournaments::{
    Refused, See, document_of, list_page, match_page, strategies_page, strategy_page, tournament_page,
};
use crate::problem::Problem;
use crate::workshop::{read_card, read_record};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/strategies", get(strategies).post(super::strategy_form::upload))
        .route("/strategies/{s}", get(strategy))
        .route("/tournaments", get(list).post(draft))
        .route("/tournaments/{t}", get(tournament))
        .route("/tournaments/{t}/freeze", post(freeze))
        .route("/tournaments/{t}/start", post(start))
        .route("/tournaments/{t}/matches/{m}", get(played))
}

pub(super) fn see<'a>(instance: &'a Instance, who: &'a Who, arrival: &Arrival) -> See<'a> {
    let csrf = who.session.as_ref().map(|session| session.csrf.as_str());
    See { instance, viewer: &who.viewer, frame: shown(who), csrf, now: arrival.at }
}

/// To the page that shows what came of it.
pub(super) fn onward(path: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, path);
    }
    response
}

async fn strategies(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["fragment"])?;
    app.look(|instance| page(strategies_page(&see(instance, &who, &arrival), &wanted, None)))
}

async fn strategy(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    app.look(|instance| {
        let strategy = instance.strategies.seen(&who.viewer, &id)?;
        Ok(page(strategy_page(&see(instance, &who, &arrival), strategy)))
    })?
}

async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["fragment"])?;
    let played = |number| app.floor.progress(number);
    app.look(|instance| page(list_page(&see(instance, &who, &arrival), &wanted, &played, None)))
}

async fn draft(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    Form(fields): Form,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    let limits = app.config.tournaments.clone();
    let command = Command::Draft { document: document_of(&fields), limits };
    let command = instance::Command::Tournaments(command);
    match app.execute(who.viewer.clone(), arrival.at, command, None).await {
        Ok(answered) => {
            let id = answered.answer.body["tournament"].as_str().unwrap_or_default().to_owned();
            Ok(onward(&format!("/tournaments/{id}")))
        }
        Err(problem) => {
            let refused = Refused { problem: &problem, fields: &fields };
            let played = |number| app.floor.progress(number);
            let mut response = app.look(|instance| {
                page(list_page(&see(instance, &who, &arrival), &wanted, &played, Some(&refused)))
            })?;
            *response.status_mut() = problem.status();
            Ok(response)
        }
    }
}

/// The address of this server as whoever asks came to it, for commands that they copy.
struct Own(String);

impl<S: Send + Sync> FromRequestParts<S> for Own {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let text = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        Ok(Self(own(text("host"), text("x-forwarded-proto"))))
    }
}

/// Only what can be a host is repeated. Beyond this machine there is something in front that speaks TLS, unless it says
/// otherwise.
fn own(host: Option<&str>, scheme: Option<&str>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let host = host.filter(|host| (1..=255).contains(&host.len()) && host.bytes().all(is_plain));
    let Some(host) = host else { return "https://this.server".to_owned() };
    let is_here = ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|name| {
        let rest = host.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    });
    let scheme = scheme.filter(|scheme| ["http", "https"].contains(scheme));
    let scheme = scheme.unwrap_or(if is_here { "http" } else { "https" });
    format!("{scheme}://{host}")
}

/// The page of a tournament, with what was refused just now.
async fn drawn(
    app: &Shared,
    id: &str,
    (who, arrival, own): (&Who, &Arrival, &Own),
    wanted: &Wanted,
    refused: Option<&Problem>,
) -> Result<Response, Problem> {
    let tournament = found(app, who, id)?;
    let card = match tournament.disclosed() {
        Ok(_) => Some(read_card(app, &tournament).await?),
        Err(_) => None,
    };
    let shown = (app.floor.progress(tournament.number), card.as_deref(), own.0.as_str());
    app.look(|instance| {
        page(tournament_page(&see(instance, who, arrival), wanted, &tournament, shown, refused))
    })
}

async fn tournament(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    own: Own,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["fragment"])?;
    drawn(&app, &id, (&who, &arrival, &own), &wanted, None).await
}

/// Back to the page, or the page again with what is wrong.
async fn done<T>(
    app: &Shared,
    id: &str,
    asks: (&Who, &Arrival, &Own),
    wanted: &Wanted,
    done: Result<T, Problem>,
) -> Result<Response, Problem> {
    let Err(problem) = done else { return Ok(onward(&format!("/tournaments/{id}"))) };
    if matches!(problem.code(), "not_found" | "unauthorized" | "wrong_actor" | "scope_missing") {
        return Err(problem);
    }
    let mut response = drawn(app, id, asks, wanted, Some(&problem)).await?;
    *response.status_mut() = problem.status();
    Ok(response)
}

async fn freeze(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    own: Own,
    wanted: Wanted,
    Form(_): Form,
) -> Result<Response, Problem> {
    let frozen = freeze_now(&app, &who.viewer, arrival.at, &id, None).await;
    done(&app, &id, (&who, &arrival, &own), &wanted, frozen).await
}

async fn start(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    own: Own,
    wanted: Wanted,
    Form(_): Form,
) -> Result<Response, Problem> {
    let started = start_now(&app, &who.viewer, arrival.at, &id, None).await;
    done(&app, &id, (&who, &arrival, &own), &wanted, started).await
}

async fn played(
    State(app): State<Shared>,
    Path((id, played)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    let tournament = found(&app, &who, &id)?;
    let card = read_card(&app, &tournament).await?;
    let record = read_record(&app, &tournament, &card, &played).await?;
    app.look(|instance| page(match_page(&see(instance, &who, &arrival), &tournament, &card, &record)))
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn the_address_that_is_shown_is_a_host_or_none() {
        for (host, scheme, shown) in [
            (Some("127.0.0.1:8080"), None, "http://127.0.0.1:8080"),
            (Some("localhost"), None, "http://localhost"),
            (Some("[::1]:80"), None, "http://[::1]:80"),
            (Some("arena.example"), None, "https://arena.example"),
            (Some("arena.example"), Some("http"), "http://arena.example"),
            (Some("localhost:1"), Some("https"), "https://localhost:1"),
            (Some("arena.example"), Some("javascript"), "https://arena.example"),
            (Some("localhost.example"), None, "https://localhost.example"),
            (Some("a;rm -rf ~"), None, "https://this.server"),
            (Some("$(x)"), None, "https://this.server"),
            (Some(""), None, "https://this.server"),
            (None, None, "https://this.server"),
        ] {
            assert_eq!(own(host, scheme), shown, "{host:?} {scheme:?}");
        }
    }
}
