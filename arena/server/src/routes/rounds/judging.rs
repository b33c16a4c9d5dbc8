//! Submissions and what is said about them: judgements, disputes, rulings, interventions.

use arena_canon::json::Value;
use arena_contests::sprint::Window;
use arena_contests::sprint::round::Dispute;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::reads::told;
use super::{act, command, done, meant, named, schemas, taken};
use crate::app::Shared;
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::who::Who;
use crate::instance::rounds::{self, Seen, visible};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(submission))
        .routes(routes!(judge))
        .routes(routes!(invalidate))
        .routes(routes!(file_dispute))
        .routes(routes!(dispute))
        .routes(routes!(amend))
        .routes(routes!(rule))
        .routes(routes!(intervene))
}

fn no_submission() -> Problem {
    Problem::new("unknown_reference", "there is no submission of this name")
}

fn no_dispute() -> Problem {
    Problem::new("unknown_reference", "there is no dispute of this name")
}

/// Round, company and window of a submission that somebody may see. For the others it is not there.
pub(crate) fn found_submission(
    app: &Shared,
    viewer: &Viewer,
    arrival: &Arrival,
    id: &str,
) -> Result<(String, String, Window), Problem> {
    let (round, company, window) = rounds::read_submission_id(id).ok_or_else(no_submission)?;
    app.look(|instance| {
        let seen = visible(instance, viewer, round, arrival.at).map_err(|_| no_submission())?;
        let entrant =
            seen.of(company).entrant(company).ok().filter(|entrant| entrant.submission(window).is_some());
        entrant.map(|_| (round.to_owned(), company.to_owned(), window)).ok_or_else(no_submission)
    })?
}

/// A dispute as it is shown. Those whose it is see it as it is, frozen or not.
pub(crate) fn seen_dispute<'a>(seen: &Seen<'a>, reference: &str) -> Option<&'a Dispute> {
    let live = seen.held.round.disputes().get(reference);
    let is_own = live.is_some_and(|it| seen.own.is_some_and(|own| own == it.filer || own == it.company));
    if is_own { live } else { seen.round.disputes().get(reference) }
}

/// Its round, and what the round calls it.
pub(crate) fn found_dispute(
    app: &Shared,
    viewer: &Viewer,
    arrival: &Arrival,
    id: &str,
) -> Result<(String, String), Problem> {
    let (round, reference) = rounds::local("dispute", id).ok_or_else(no_dispute)?;
    app.look(|instance| {
        let seen = visible(instance, viewer, round, arrival.at).map_err(|_| no_dispute())?;
        seen_dispute(&seen, &reference).ok_or_else(no_dispute)?;
        Ok((round.to_owned(), reference))
    })?
}

/// A submission with its revisions, judgements and disputes. Those who judge are told what they should know.
#[utoipa::path(
    get, path = "/api/v1/submissions/{submission}", tag = "rounds",
    params(("submission" = String, Path, pattern = "^boards:[a-z0-9-]{1,64}:[a-z0-9-]{1,64}:W[123](:[0-9]{1,6})?$")),
    responses((status = 200, description = "The submission"))
)]
async fn submission(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    told(&app, (&round, &who, &arrival, &headers), |seen| {
        let shown = seen.of(&company);
        let body = rounds::submission_json(shown, &company, window, arrival.at);
        let mut body = body.ok_or_else(no_submission)?;
        if seen.is_staff
            && let Ok(advice) = shown.advice(&company, window)
        {
            body["advice"] = rounds::advice_json(&advice);
        }
        Ok(body)
    })
}

/// What a body about a submission says, with the members that its address gives.
fn about(name: &str, document: &Value, company: &str, window: Window) -> Result<rounds::Act, Problem> {
    let command = command(name, document, &[("company", json!(company)), ("window", json!(window))])?;
    Ok(act("", command))
}

/// Judges a submission: `{"verdict": {…}}`. For evaluators, with the scope `judge`.
#[utoipa::path(
    post, path = "/api/v1/submissions/{submission}/judgements", tag = "rounds", request_body(content = schemas::Judgement),
    params(("submission" = String, Path, pattern = "^boards:[a-z0-9-]{1,64}:[a-z0-9-]{1,64}:W[123](:[0-9]{1,6})?$")),
    security(("key" = [])), responses((status = 201, description = "It is judged"))
)]
async fn judge(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    let act = about("judge", &posted.document, &company, window)?;
    done(&app, who, &arrival, rounds::Act { round, ..act }, posted.slot).await
}

/// Reverses an accepted window: `{"penalties", "rationale"}`. For the admin.
#[utoipa::path(
    post, path = "/api/v1/submissions/{submission}/invalidation", tag = "rounds", request_body(content = schemas::Invalidation),
    params(("submission" = String, Path, pattern = "^boards:[a-z0-9-]{1,64}:[a-z0-9-]{1,64}:W[123](:[0-9]{1,6})?$")),
    security(("admin" = [])), responses((status = 200, description = "It is reversed"))
)]
async fn invalidate(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    let act = about("invalidate", &posted.document, &company, window)?;
    done(&app, who, &arrival, rounds::Act { round, ..act }, posted.slot).await
}

/// Disputes a submission: `{"ground"}`. For companies that take part, until the end of the window's day.
#[utoipa::path(
    post, path = "/api/v1/submissions/{submission}/disputes", tag = "rounds", request_body(content = schemas::Dispute),
    params(("submission" = String, Path, pattern = "^boards:[a-z0-9-]{1,64}:[a-z0-9-]{1,64}:W[123](:[0-9]{1,6})?$")),
    security(("key" = [])), responses((status = 201, description = "The dispute is open"))
)]
async fn file_dispute(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, company, window) = found_submission(&app, &who.viewer, &arrival, &id)?;
    let act = about("file_dispute", &posted.document, &company, window)?;
    done(&app, who, &arrival, rounds::Act { round, ..act }, posted.slot).await
}

/// A dispute with what was added to it.
#[utoipa::path(
    get, path = "/api/v1/disputes/{dispute}", tag = "rounds",
    params(("dispute" = String, Path, pattern = "^dispute:[a-z0-9-]{1,64}:[0-9]{1,9}$")),
    responses((status = 200, description = "The dispute"))
)]
async fn dispute(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (round, reference) = found_dispute(&app, &who.viewer, &arrival, &id)?;
    told(&app, (&round, &who, &arrival, &headers), |seen| {
        let found = seen_dispute(seen, &reference).ok_or_else(no_dispute)?;
        Ok(rounds::dispute_json(&round, &reference, found))
    })
}

/// Adds to a dispute of yours: `{"text"}`. It is shown as what came after the cut-off.
#[utoipa::path(
    post, path = "/api/v1/disputes/{dispute}/amendments", tag = "rounds", request_body(content = schemas::Amendment),
    params(("dispute" = String, Path, pattern = "^dispute:[a-z0-9-]{1,64}:[0-9]{1,9}$")), security(("key" = [])),
    responses((status = 201, description = "It is added"))
)]
async fn amend(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, reference) = found_dispute(&app, &who.viewer, &arrival, &id)?;
    let command = command("amend_dispute", &posted.document, &[("dispute", json!(reference))])?;
    done(&app, who, &arrival, act(&round, command), posted.slot).await
}

/// Rules on a dispute: `{"ruling": "upheld|dismissed|baseless", "verdict", "rationale"}`. For evaluators.
#[utoipa::path(
    post, path = "/api/v1/disputes/{dispute}/ruling", tag = "rounds", request_body(content = schemas::Ruling),
    params(("dispute" = String, Path, pattern = "^dispute:[a-z0-9-]{1,64}:[0-9]{1,9}$")), security(("key" = [])),
    responses((status = 200, description = "It is closed"))
)]
async fn rule(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, reference) = found_dispute(&app, &who.viewer, &arrival, &id)?;
    let command = command("rule_dispute", &posted.document, &[("dispute", json!(reference))])?;
    done(&app, who, &arrival, act(&round, command), posted.slot).await
}

/// Makes an intervention of an operator public: `{"round", "company", "window", "text"}`. It counts for the company's
/// eligibility. For evaluators and the admin.
#[utoipa::path(
    post, path = "/api/v1/interventions", tag = "rounds", request_body(content = schemas::Intervention), security(("key" = [])),
    responses((status = 201, description = "The receipt is public"))
)]
async fn intervene(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, with) = taken(&posted.document, "round");
    let named = named(round.as_ref())?;
    if !who.viewer.is_admin() {
        who.viewer.agent_with(Scope::Judge)?;
    }
    let id = app.look(|instance| meant(instance, &who.viewer, named, arrival.at))??;
    let command = command("record_intervention", &with, &[])?;
    done(&app, who, &arrival, act(&id, command), posted.slot).await
}
