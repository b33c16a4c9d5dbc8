//! The form that uploads a strategy. It does what the API does; a person is told every reason at once, beside the
//! fields.

use std::collections::BTreeMap;

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;

use super::strategies::{VERSION, look_at};
use super::tournament_pages::{onward, see};
use super::web::page;
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::body::check_token;
use crate::http::paging::Wanted;
use crate::http::parts::Parts;
use crate::http::who::Who;
use crate::instance::strategies::check_name;
use crate::pages::tournaments::{Refused, UPLOAD_FIELDS, strategies_page};
use crate::problem::Problem;
use crate::workshop::{Received, admit, receive};

/// Bytes of a small field. What has more is a fault of its own; the rules of names are stricter.
const FIELD_BYTES_MAX: usize = 1_024;
/// Bytes of a body beside its component.
const FORM_BYTES_MAX: u64 = 64 << 10;
const TOKEN: &str = "csrf";
const COMPONENT: &str = "component";

/// What was sent: the small fields, and what came of taking the file in.
struct Sent {
    fields: BTreeMap<String, String>,
    component: Result<Received, Problem>,
}

/// A fault of the file.
fn of_component(detail: &str) -> Problem {
    let mut problem = Problem::new("form", "the form is not filled in");
    problem.push(&format!("/{COMPONENT}"), "form", detail);
    problem
}

/// A refusal as the form tells it: what has no place is at the file.
fn at_component(refused: &Problem) -> Problem {
    let mut problem = refused.clone().without_errors();
    let place = format!("/{COMPONENT}");
    for error in refused.errors() {
        problem.push(&place, error.code, &error.detail);
    }
    if refused.errors().is_empty() {
        problem.push(&place, refused.code(), refused.detail());
    }
    problem
}

/// Reads the parts in their order: the token is the first, and nothing of the file is read before it is known to be
/// this session's.
async fn read(app: &Shared, who: &Who, request: Request) -> Result<Sent, Problem> {
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let told: Option<u64> = told.and_then(|told| told.parse().ok());
    let mut parts = Parts::of(request)?;
    let mut fields = BTreeMap::new();
    let mut component = None;
    let mut is_known = false;
    while let Some(part) = parts.next().await? {
        let name = part.name().to_owned();
        if !is_known {
            let token = if name == TOKEN { part.text(FIELD_BYTES_MAX).await? } else { String::new() };
            check_token(who, &token)?;
            is_known = true;
            continue;
        }
        let is_twice = fields.contains_key(&name) || (name == COMPONENT && component.is_some());
        if is_twice || !UPLOAD_FIELDS.contains(&name.as_str()) {
            let which = if is_twice { "a field is there twice" } else { "a field is not one of this form" };
            return Err(Problem::new("query", which));
        }
        if name == COMPONENT {
            component = Some(take_in(app, told, part).await?);
        } else {
            fields.insert(name, part.text(FIELD_BYTES_MAX).await?);
        }
    }
    if !is_known {
        check_token(who, "")?;
    }
    Ok(Sent { fields, component: component.unwrap_or_else(|| Err(of_component("choose a file"))) })
}

/// Takes the file in. One that is refused is read to its end all the same, if it is not too long: a browser shows no
/// answer before it has sent everything.
async fn take_in(
    app: &Shared,
    told: Option<u64>,
    part: crate::http::parts::Part,
) -> Result<Result<Received, Problem>, Problem> {
    use futures_util::StreamExt as _;
    let mut part = part;
    let told = told.map(|told| told.saturating_sub(FORM_BYTES_MAX));
    let mut is_empty = true;
    let counted = (&mut part).inspect(|piece| is_empty &= piece.as_ref().is_ok_and(|piece| piece.is_empty()));
    let received = receive(app, told, Box::pin(counted)).await;
    match received {
        Err(_) if is_empty => Ok(Err(of_component("choose a file"))),
        Err(problem) => {
            let mut left = app.config.limits.component_bytes;
            while let Some(Ok(piece)) = part.next().await {
                let Some(rest) = left.checked_sub(piece.len()) else { return Err(problem) };
                left = rest;
            }
            Ok(Err(problem))
        }
        received => Ok(received),
    }
}

/// All that is wrong: with the names, and with the component.
async fn faults(app: &Shared, names: Problem, component: Result<Received, Problem>) -> Problem {
    let refused = match component {
        Ok(received) => admit(app, &received).await.err(),
        Err(problem) => Some(problem),
    };
    let mut problem = names;
    for error in refused.iter().flat_map(|refused| at_component(refused).errors().to_vec()) {
        problem.push(error.pointer.trim_start_matches('#'), error.code, &error.detail);
    }
    problem
}

async fn carry_out(
    app: &Shared,
    (who, arrival): (&Who, &Arrival),
    (name, version): (String, String),
    component: Result<Received, Problem>,
) -> Result<String, Problem> {
    if let Err(names) = check_name(&name, &version) {
        return Err(faults(app, names, component).await);
    }
    let received = component.map_err(|problem| at_component(&problem))?;
    let (app, viewer, at) = (app.clone(), who.viewer.clone(), arrival.at);
    // It goes on if the browser goes away.
    let finishing = tokio::spawn(async move {
        let command =
            look_at(&app, &viewer, received, name, version).await.map_err(|why| at_component(&why))?;
        app.execute(viewer, at, command, None).await
    });
    let answered = finishing.await.map_err(|_| Problem::internal())??;
    Ok(answered.answer.body["strategy"].as_str().unwrap_or_default().to_owned())
}

pub(super) async fn upload(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    request: Request,
) -> Result<Response, Problem> {
    who.viewer.agent_with(Scope::Submit)?;
    wanted.only(&[])?;
    let Sent { fields, component } = read(&app, &who, request).await?;
    let field = |name: &str| fields.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    let version = Some(field("version")).filter(|version| !version.is_empty());
    let named = (field("name"), version.unwrap_or_else(|| VERSION.to_owned()));
    match carry_out(&app, (&who, &arrival), named, component).await {
        Ok(strategy) => Ok(onward(&format!("/strategies/{strategy}"))),
        Err(problem) => {
            let refused = Refused { problem: &problem, fields: &fields };
            let mut response = app.look(|instance| {
                page(strategies_page(&see(instance, &who, &arrival), &wanted, Some(&refused)))
            })?;
            *response.status_mut() = problem.status();
            problem.put_headers(&mut response);
            Ok(response)
        }
    }
}
