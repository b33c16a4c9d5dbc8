//! The pages of claims. A form and the API give the same commands.

use arena_claims::life;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::web::{page, shown};
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::claims::{self, Command, view};
use crate::instance::{self, Instance};
use crate::pages::claims::{self as pages, See, Told};
use crate::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/claims", get(list))
        .route("/claims/{c}", get(claim))
        .route("/claims/{c}/{verb}", post(act))
}

fn see<'a>(who: &'a Who, arrival: &Arrival) -> See<'a> {
    let acts = who.viewer.agent_with(Scope::Submit).is_ok();
    let csrf = who.session.as_ref().filter(|_| acts).map(|session| session.csrf.as_str());
    See { frame: shown(who), csrf, now: arrival.at }
}

async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["status", "fragment"])?;
    let status = wanted.filter("status");
    if status.is_some_and(|status| status.is_empty() || !status.bytes().all(|byte| byte.is_ascii_lowercase()))
    {
        return Err(Problem::new("query", "`status` is the word of a state"));
    }
    app.look(|instance| {
        let world = instance.claims.world(app.known());
        let mut found: Vec<_> = world
            .claims
            .values()
            .filter(|claim| status.is_none_or(|status| claim.phase.name() == status))
            .map(|claim| (view::place_of(claim), view::line(claim)))
            .filter(|(place, _)| wanted.after.as_ref().is_none_or(|after| place > after))
            .collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        let beacon = view::beacon_json(&who.viewer, &instance.claims, world);
        let log = instance.claims.log().checkpoint(world, app.known());
        page(pages::list_page(&see(&who, &arrival), &wanted, status, found, (&beacon, &log)))
    })
}

/// The page of a claim, with what was refused just now.
fn drawn(
    (app, instance): (&Shared, &Instance),
    id: &str,
    (who, arrival): (&Who, &Arrival),
    refused: Option<&Problem>,
) -> Result<Response, Problem> {
    let world = instance.claims.world(app.known());
    let claim = view::claim_of(world, id)?;
    let seen = view::seen(&who.viewer, instance.claims.end_of(claim), world, claim);
    let draws = view::draws(&who.viewer, &instance.claims, world, claim);
    let settlement = view::settlement(&instance.claims, claim).ok();
    let see = see(who, arrival);
    let me = claims::own(&who.viewer).filter(|_| see.csrf.is_some());
    let may = match me {
        Some(me) => view::may_now(&instance.claims, world, claim, me, claims::seconds(arrival.at)),
        None => Vec::new(),
    };
    let assignment = me.and_then(|me| view::assignments(world, me).find(|(other, ..)| other.id == claim.id));
    let assignment = assignment.map(view::assignment_json);
    let asset = world.instance.asset.as_str();
    let (settlement, assignment) = (settlement.as_ref(), assignment.as_ref());
    let told = Told { claim: &seen, draws: &draws, settlement, asset, may: &may, assignment, refused };
    let mut response = page(pages::claim_page(&see, &told));
    if let Some(problem) = refused {
        *response.status_mut() = problem.status();
    }
    Ok(response)
}

async fn claim(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["fragment"])?;
    app.look(|instance| drawn((&app, instance), &id, (&who, &arrival), None))?
}

async fn act(
    State(app): State<Shared>,
    Path((id, verb)): Path<(String, String)>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let me = who.viewer.agent_with(Scope::Submit)?.to_owned();
    let field = |name: &str| fields.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let claim = id.clone();
    let assignment = || {
        app.look(|instance| {
            let world = instance.claims.world(app.known());
            let found = view::assignments(world, &me).find(|(other, ..)| other.id == id);
            let missing = || Problem::new("not_found", "you have no such assignment");
            found.map(|(claim, duty, _)| view::assignment_id(claim, duty)).ok_or_else(missing)
        })?
    };
    let command = match verb.as_str() {
        "fund" => match field("amount").and_then(|amount| amount.parse().ok()) {
            Some(amount) => Ok(Command::Act(life::Command::Fund { claim, amount })),
            None => {
                let mut problem = Problem::new("form", "the amount is a whole number");
                problem.push("/amount", "form", "a whole number of at least 1");
                Err(problem)
            }
        },
        "withdraw" => Ok(Command::Act(life::Command::Withdraw { claim })),
        "appeal" => Ok(Command::Act(life::Command::Appeal { claim })),
        "accept" => {
            assignment().map(|assignment| Command::Answer { assignment, accepts: true, reason: None })
        }
        "decline" => {
            let reason = field("reason").map(str::to_owned);
            assignment().map(|assignment| Command::Answer { assignment, accepts: false, reason })
        }
        _ => return Err(Problem::new("not_found", "there is no such form")),
    };
    let done = match command {
        Ok(command) => {
            app.execute(who.viewer.clone(), arrival.at, instance::Command::Claims(command), None).await
        }
        Err(problem) => Err(problem),
    };
    match done {
        Ok(_) => {
            let mut response = StatusCode::SEE_OTHER.into_response();
            let path = HeaderValue::from_str(&format!("/claims/{id}"));
            response.headers_mut().insert(header::LOCATION, path.map_err(|_| Problem::internal())?);
            Ok(response)
        }
        Err(refusal) => {
            app.look(|instance| drawn((&app, instance), &id, (&who, &arrival), Some(&refusal)))?
        }
    }
}
