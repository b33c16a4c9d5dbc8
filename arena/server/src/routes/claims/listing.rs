//! Listing claims, and trying whether one could be listed.

use arena_claims::life;
use arena_ledger::Amount;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::bodies::{CorrectedClaim, NewClaim, optional_digest, parsed, read};
use super::send;
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::instance::{self, claims};
use crate::problem::Problem;

/// Lists a claim. What it pins is not run here first: check it with `arena claim check`. With `dry_run=true` nothing is
/// listed: all faults are told, or what would happen.
#[utoipa::path(
    post, path = "/api/v1/claims", tag = "claims", request_body(content = NewClaim),
    params(("dry_run" = Option<bool>, Query)),
    responses((status = 201, description = "It is listed; at the pool's minimum its job opens"),
              (status = 200, description = "It would be listed; nothing is"))
)]
pub(super) async fn list_claim(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    posted: Posted,
) -> Result<Response, Problem> {
    wanted.only(&["dry_run"])?;
    let is_dry = match wanted.filter("dry_run") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Problem::new("query", "`dry_run` is true or false")),
    };
    let command = read(&posted.document, &["manifest", "deposit", "canary"], |object, faults| {
        let manifest = object.required("manifest", faults).cloned();
        let deposit = parsed::<Amount>(object, "deposit", faults);
        let canary = optional_digest(object, "canary", faults);
        Some(claims::Command::List { manifest: manifest?, deposit: deposit?, canary: canary? })
    })?;
    if is_dry {
        return rehearse(&app, who, &arrival, command);
    }
    send(&app, (who, arrival), command, posted.slot).await
}

/// What would come of a command. Nothing is written, and the same command may be refused a moment later.
fn rehearse(
    app: &Shared,
    who: Who,
    arrival: &Arrival,
    command: claims::Command,
) -> Result<Response, Problem> {
    let command = instance::Command::Claims(command);
    let request = instance::Request { at: arrival.at, by: who.viewer, luck: [0; 64], command };
    let decision = app.look(|instance| instance.decide(&request, app.known()))??;
    let mut answer = instance::Answer::ok(decision.answer.body);
    answer.body["dry_run"] = json!(true);
    // Nothing was done, so nothing has a number.
    answer.body.as_object_mut().and_then(|body| body.remove("receipt"));
    Ok(crate::keeper::Answered { answer, is_replay: false }.into_response())
}

/// Lists a flagged claim again, corrected.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/relist", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = CorrectedClaim),
    responses((status = 200, description = "It is listed again, as another job"))
)]
pub(super) async fn relist(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["manifest", "deposit"], |object, faults| {
        let manifest = object.required("manifest", faults).cloned();
        let deposit = parsed::<Amount>(object, "deposit", faults);
        Some(life::Command::Relist { claim, manifest: manifest?, deposit: deposit? })
    })?;
    send(&app, (who, arrival), claims::Command::Act(command), posted.slot).await
}
