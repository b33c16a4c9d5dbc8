//! Rounds, their clocks, standings, receipts and accounts; and the calculator.

use arena_canon::json::Value;
use arena_contests::sprint::wire::{self as scores, Said};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{meant, phased, schemas};
use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::paging::Wanted;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::instance::rounds::{self, Seen, visible};
use crate::instance::{self};
use crate::problem::Problem;
use crate::routes::query;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(round))
        .routes(routes!(clock))
        .routes(routes!(standings))
        .routes(routes!(score))
        .routes(routes!(receipts))
        .routes(routes!(ledger))
        .routes(routes!(accounts))
}

/// A document about a round as somebody sees it.
pub(super) fn told(
    app: &Shared,
    (id, who, arrival, headers): (&str, &Who, &Arrival, &HeaderMap),
    tell: impl FnOnce(&Seen<'_>) -> Result<Value, Problem>,
) -> Result<Response, Problem> {
    let mut told = app.look(|instance| tell(&visible(instance, &who.viewer, id, arrival.at)?))?;
    if let Ok(told) = &mut told {
        app.texts().fill(told);
    }
    phased(app, id, arrival.at, told.map(|told| document(headers, &told)))
}

/// A list about a round as somebody sees it, each thing with its place.
pub(super) fn listed(
    app: &Shared,
    (id, who, arrival, headers): (&str, &Who, &Arrival, &HeaderMap),
    wanted: &Wanted,
    tell: impl FnOnce(&Seen<'_>) -> Result<Vec<(String, Value)>, Problem>,
) -> Result<Response, Problem> {
    let told = app.look(|instance| tell(&visible(instance, &who.viewer, id, arrival.at)?))?;
    phased(app, id, arrival.at, told.map(|told| wanted.page_of_texts(headers, told.into_iter(), app.texts())))
}

/// Rounds, by name. A draft is there for the admin alone.
#[utoipa::path(
    get, path = "/api/v1/rounds", tag = "rounds",
    params(("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The rounds"))
)]
async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    app.look(|instance| {
        let seen = instance.rounds.all().keys().filter_map(|id| {
            let seen = visible(instance, &who.viewer, id, arrival.at).ok()?;
            Some((id.clone(), rounds::round_json(seen.held, seen.round, arrival.at)))
        });
        wanted.page(&headers, seen)
    })
}

/// Makes a round, as a draft on these terms. For the admin. `timetable` is `sprint-v1` and `rules_sha256` that of
/// `/rules/sprint-v1` where they are left out; `standings_freeze` freezes the standings from the last cut-off to the
/// closeout.
#[utoipa::path(
    post, path = "/api/v1/rounds", tag = "rounds", request_body(content = schemas::Terms), security(("admin" = [])),
    responses((status = 201, description = "The draft"))
)]
async fn create(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    let command = rounds::read_creation(&posted.document).map_err(|faults| Problem::form(&faults))?;
    Ok(app
        .execute(who.viewer, arrival.at, instance::Command::Rounds(command), posted.slot)
        .await?
        .into_response())
}

/// The terms of a round, and where it is.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The round"))
)]
async fn round(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    told(&app, (&id, &who, &arrival, &headers), |seen| {
        let mut about = rounds::round_json(seen.held, seen.round, arrival.at);
        if seen.is_staff {
            about["flagged"] = rounds::flagged_json(seen.round);
        }
        Ok(about)
    })
}

/// The phase that it is, its window, when it ends, and the whole timetable. The time that counts is `Date`.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/clock", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The clock"))
)]
async fn clock(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    told(&app, (&id, &who, &arrival, &headers), |seen| Ok(rounds::clock_json(seen.round, arrival.at)))
}

/// The standings as they are now, or as they were recorded: `W1`, `W1.2`, `final`.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/standings", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("snapshot" = Option<String>, Query, pattern = "^(W[123]|final)([.][0-9]{1,6})?$")),
    responses((status = 200, description = "The standings"))
)]
async fn standings(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["snapshot"])?;
    told(&app, (&id, &who, &arrival, &headers), |seen| match wanted.filter("snapshot") {
        None => Ok(rounds::standings_json(seen, arrival.at)),
        Some(name) => {
            let snapshot = rounds::snapshot_named(seen.round, name);
            let none = || Problem::new("unknown_reference", "no standings of this name were recorded");
            Ok(rounds::snapshot_json(&id, snapshot.ok_or_else(none)?))
        }
    })
}

/// Scores records without keeping anything: `{"window", "previous"}` or `{"entrants": […]}`.
#[utoipa::path(
    post, path = "/api/v1/rounds/{round}/score", tag = "rounds", request_body(content = Value),
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The score, with every cap that bit"))
)]
async fn score(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    app.look(|instance| visible(instance, &who.viewer, &id, arrival.at).map(|_| ()))??;
    let scored = scored(&posted.document).map(|answer| document(&HeaderMap::new(), &answer));
    phased(&app, &id, arrival.at, scored)
}

/// What the calculator says, for the API and for the page.
pub(crate) fn scored(question: &Value) -> Result<Value, Problem> {
    match scores::score(question) {
        Ok(Said::Answer(answer)) => Ok(answer),
        Ok(Said::Refused(why, at)) => {
            let mut problem = Problem::new(why.name(), "the record breaks a rule of scoring");
            problem.push(at.as_str(), why.name(), why.name());
            Err(problem)
        }
        Err(faults) => Err(Problem::form(&faults)),
    }
}

/// The public receipts of a round: interventions, judgements, rulings.
#[utoipa::path(
    get, path = "/api/v1/rounds/{round}/receipts", tag = "rounds",
    params(("round" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "The receipts"))
)]
async fn receipts(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let all = seen.round.receipts().iter();
        let told =
            all.map(|(name, it)| (place(rounds::number_of(name)), rounds::receipt_json(&id, name, it)));
        let mut told: Vec<_> = told.collect();
        told.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(told)
    })
}

/// The place of a numbered thing in a list.
pub(super) fn place(number: u64) -> String {
    format!("{number:012}")
}

/// The accounts of a round. Everything in them adds up to nothing.
#[utoipa::path(
    get, path = "/api/v1/ledger", tag = "treasury",
    params(("round" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("account" = Option<String>, Query, max_length = 256),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "Accounts with their balances"))
)]
async fn ledger(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["round", "account"])?;
    let (named, account) = (query::name(&wanted, "round")?, query::text(&wanted, "account", 256)?);
    let id = app.look(|instance| meant(instance, &who.viewer, named, arrival.at))??;
    listed(&app, (&id, &who, &arrival, &headers), &wanted, |seen| {
        let accounts = seen.round.ledger().accounts();
        let accounts = accounts.filter(|(name, _)| account.is_none_or(|it| it == name.name()));
        Ok(accounts
            .map(|(account, balance)| {
                let told = json!({
                    "account": account.name(), "asset": account.asset().as_str(), "balance_atomic": balance.to_string(),
                });
                (account.name().to_owned(), told)
            })
            .collect())
    })
}

/// What your company has, round by round.
#[utoipa::path(
    get, path = "/api/v1/accounts/me", tag = "treasury", security(("key" = [])),
    responses((status = 200, description = "The purses"))
)]
async fn accounts(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if let Viewer::Agent { scopes, .. } = &who.viewer {
        let reads = [Scope::Read, Scope::Submit].iter().any(|scope| scopes.contains(scope));
        if !reads {
            return Err(Problem::new("scope_missing", "the key lacks the scope `read`"));
        }
    } else {
        who.viewer.agent_with(Scope::Read)?;
    }
    app.look(|instance| {
        let purses = instance.rounds.all().keys().filter_map(|id| {
            let seen = visible(instance, &who.viewer, id, arrival.at).ok()?;
            let company = seen.own?;
            let round = seen.of(company);
            Some(rounds::purse_json(round, company, &round.purse(company).ok()?))
        });
        document(&headers, &json!({ "items": purses.collect::<Vec<_>>() }))
    })
}
