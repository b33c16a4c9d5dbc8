//! The log of claims over the API: its checkpoint, proofs, and receipts.

use arena_canon::Digest;
use arena_canon::json::Value;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

use super::look;
use crate::app::Shared;
use crate::http::paging::Wanted;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::problem::Problem;

/// The latest signed checkpoint of the log of claims that everybody is shown, and the key that it is verified by. While
/// anything is sealed on a claim, that is the one with the last draw.
#[utoipa::path(
    get, path = "/api/v1/log/checkpoint", tag = "claims",
    responses((status = 200, description = "The checkpoint, a signed note of C2SP"))
)]
pub(super) async fn checkpoint(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        Ok(document(&headers, &instance.claims.log().checkpoint(world, app.known())))
    })
}

/// That the log at one size is the beginning of the log at another, as RFC 9162 proves it. Sizes beyond the checkpoint
/// that everybody is shown are proven to those who name the root of `to`.
#[utoipa::path(
    get, path = "/api/v1/log/consistency", tag = "claims",
    params(("from" = String, Query, pattern = "^(0|[1-9][0-9]{0,17})$"),
           ("to" = Option<String>, Query, pattern = "^(0|[1-9][0-9]{0,17})$"),
           ("root" = Option<String>, Query, pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "The proof"))
)]
pub(super) async fn consistency(
    State(app): State<Shared>,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["from", "to", "root"])?;
    let from = size(&wanted, "from")?.ok_or_else(|| Problem::new("query", "`from` is missing"))?;
    let to = size(&wanted, "to")?;
    let wrong = || Problem::new("query", "`root` is 64 of 0-9 a-f");
    let root = wanted.filter("root").map(|root| root.parse::<Digest>().map_err(|_| wrong())).transpose()?;
    look(&app, |instance, _| Ok(document(&headers, &instance.claims.log().consistency(from, to, root)?)))
}

fn size(wanted: &Wanted, member: &str) -> Result<Option<u64>, Problem> {
    let Some(given) = wanted.filter(member) else { return Ok(None) };
    let read = given.parse::<u64>().ok().filter(|size| size.to_string() == given && given.len() <= 18);
    let wrong = || Problem::new("query", format_args!("`{member}` is a number of at most 18 digits"));
    read.map(Some).ok_or_else(wrong)
}

/// The receipt of something that you did about claims: `receipt` in the answer to it says where. Keep it: with it
/// `arena verify --receipt FILE --server URL` tells what was left out since or written anew.
#[utoipa::path(
    get, path = "/api/v1/log/receipts/{seq}", tag = "claims",
    params(("seq" = String, Path, pattern = "^[1-9][0-9]{0,17}$")),
    responses((status = 200, description = "The receipt, `arena-receipt/v1`"))
)]
pub(super) async fn receipt(
    State(app): State<Shared>,
    Path(seq): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let missing = || Problem::new("not_found", "you did nothing that has this number");
    let number = seq.parse::<u64>().ok().filter(|number| number.to_string() == seq).ok_or_else(missing)?;
    let kept = look(&app, |instance, world| instance.claims.log().kept(world, number).ok_or_else(missing))?;
    let ((row, signed), journal) = (kept.rows(), app.store.journal().clone());
    let rows = tokio::task::spawn_blocking(move || {
        Ok::<_, arena_store::StoreFault>((journal.event(row)?, journal.event(signed)?))
    });
    let rows = rows.await.ok().and_then(Result::ok).and_then(|(row, signed)| row.zip(signed));
    let (row, signed) = rows.ok_or_else(Problem::internal)?;
    let read = |event: &arena_store::Event| event.read::<Value>().map_err(|_| Problem::internal());
    Ok(document(&headers, &kept.receipt(&who.viewer, row.at_ms / 1_000, &read(&row)?, &read(&signed)?)?))
}
