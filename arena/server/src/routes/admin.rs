//! The pages of whoever runs the platform. A form and the API give the same commands.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use super::web::{page, shown};
use crate::app::{App, Shared};
use crate::auth::{Scope, Scopes};
use crate::http::arrival::Arrival;
use crate::http::body::Form;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::{Answer, Command, agents};
use crate::pages::admin::{self as pages, Refused, See, agent_path};
use crate::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/admin", get(list))
        .route("/admin/agents", post(create))
        .route("/admin/agents/{agent}", get(agent))
        .route("/admin/agents/{agent}/keys", post(issue_key))
        .route("/admin/agents/{agent}/revoke", post(revoke_key))
        .route("/admin/agents/{agent}/login", post(login))
        .route("/admin/login", post(admin_login))
}

fn see<'a>(who: &'a Who, arrival: &Arrival) -> See<'a> {
    See { frame: shown(who), now: arrival.at }
}

async fn list(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    wanted.only(&[])?;
    app.look(|instance| page(pages::list_page(&see(&who, &arrival), &instance.agents, &wanted, None)))
}

async fn agent(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
) -> Result<Response, Problem> {
    who.viewer.admin()?;
    app.look(|instance| {
        let agents = &instance.agents;
        let found = agents.agent(&id).ok_or_else(|| Problem::new("not_found", "there is no such agent"))?;
        Ok(page(pages::agent_page(&see(&who, &arrival), &id, found, agents)))
    })?
}

async fn carry_out(
    app: &App,
    who: &Who,
    arrival: &Arrival,
    command: agents::Command,
) -> Result<Answer, Problem> {
    who.viewer.admin()?;
    let answered = app.execute(who.viewer.clone(), arrival.at, Command::Agents(command), None).await?;
    Ok(answered.answer)
}

async fn create(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let field = |name: &str| fields.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
    let (id, operator) = (field("id"), field("operator"));
    let command = agents::Command::Create { id: id.clone(), operator: operator.clone() };
    match carry_out(&app, &who, &arrival, command).await {
        Ok(_) => Ok(Redirect::to(&agent_path(&id)).into_response()),
        Err(problem) if matches!(problem.code(), "form" | "exists") => app.look(|instance| {
            let refused = Refused { id: &id, operator: &operator, problem: &problem };
            let see = see(&who, &arrival);
            let mut response = page(pages::list_page(&see, &instance.agents, &wanted, Some(&refused)));
            *response.status_mut() = problem.status();
            response
        }),
        Err(problem) => Err(problem),
    }
}

/// What an answer shows this once.
fn once<'a>(answer: &'a Answer, member: &str) -> &'a str {
    answer.once.as_ref().and_then(|once| once[member].as_str()).unwrap_or_default()
}

async fn issue_key(
    State(app): State<Shared>,
    Path(agent): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let is_ticked = |scope: &Scope| fields.get(scope.name()).is_some_and(|value| value == "on");
    let scopes: Scopes = Scope::ALL.into_iter().filter(is_ticked).collect();
    let back = agent_path(&agent);
    let command = agents::Command::IssueKey { agent, scopes, expires_at: None };
    let answer = carry_out(&app, &who, &arrival, command).await?;
    Ok(page(pages::once_page(&see(&who, &arrival), "The key", once(&answer, "key"), &back)))
}

async fn revoke_key(
    State(app): State<Shared>,
    Path(agent): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(fields): Form,
) -> Result<Response, Problem> {
    let key = fields.get("key").cloned().unwrap_or_default();
    carry_out(&app, &who, &arrival, agents::Command::RevokeKey { key }).await?;
    Ok(Redirect::to(&agent_path(&agent)).into_response())
}

async fn login(
    State(app): State<Shared>,
    Path(agent): Path<String>,
    who: Who,
    arrival: Arrival,
    Form(_): Form,
) -> Result<Response, Problem> {
    let back = agent_path(&agent);
    let answer = carry_out(&app, &who, &arrival, agents::Command::IssueLogin { agent: Some(agent) }).await?;
    Ok(page(pages::once_page(&see(&who, &arrival), "The link", once(&answer, "path"), &back)))
}

async fn admin_login(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    Form(_): Form,
) -> Result<Response, Problem> {
    let answer = carry_out(&app, &who, &arrival, agents::Command::IssueLogin { agent: None }).await?;
    Ok(page(pages::once_page(&see(&who, &arrival), "The link", once(&answer, "path"), "/admin")))
}
