//! What claims pin, over the API: brought by whoever has it, read by everybody.

use std::io::Write as _;
use std::sync::Arc;

use arena_canon::Digest;
use arena_store::{BlobFault, BlobWriter, Blobs, Found};
use arena_tournament::Frozen;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::sync::mpsc;

use super::{look, send};
use crate::app::Shared;
use crate::auth::Scope;
use crate::http::arrival::Arrival;
use crate::http::versioned::{self, document};
use crate::http::who::Who;
use crate::instance::claims::{Command, Kept, PINS_MAX, view};
use crate::problem::Problem;

/// Pieces of an upload that wait for the disk.
const PIECES: usize = 4;
const FROZEN_BYTES_MAX: u64 = arena_tournament::FROZEN_BYTES_MAX as u64;

fn unknown() -> Problem {
    Problem::new("unknown_reference", "nothing of a claim is kept under this digest")
}

fn overloaded() -> Problem {
    Problem::new("overloaded", "the bytes could not be kept").retry_after(5)
}

/// The bytes of something that a claim pins, always as a download.
#[utoipa::path(
    get, path = "/api/v1/claims/blobs/{sha256}", tag = "claims",
    params(("sha256" = String, Path, pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream"))
)]
pub(super) async fn blob(
    State(app): State<Shared>,
    Path(sha256): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let digest: Digest = sha256.parse().map_err(|_| unknown())?;
    let bytes = look(&app, |instance, _| instance.claims.material().bytes_of(&digest).ok_or_else(unknown))?;
    let busy = |_| Problem::new("overloaded", "too many downloads at once").retry_after(5);
    let place = Arc::clone(&app.downloads).try_acquire_owned().map_err(busy)?;
    let bytes = read(&app, digest, bytes).await?;
    let mut response = versioned::bytes(&headers, bytes, "application/octet-stream");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response.map(|body| {
        let held = body.into_data_stream().map(move |piece| {
            let _place = &place;
            piece
        });
        Body::from_stream(held)
    }))
}

async fn read(app: &Shared, digest: Digest, limit: u64) -> Result<Vec<u8>, Problem> {
    let blobs = app.store.blobs().clone();
    match tokio::task::spawn_blocking(move || blobs.read(digest, limit)).await {
        Ok(Ok(Found::Content(bytes))) => Ok(bytes),
        Ok(Ok(Found::Withheld { reason })) => {
            Err(Problem::new("gone", format_args!("it is withheld: {reason}")))
        }
        _ => Err(Problem::internal()),
    }
}

/// Everything that a claim pins, and whether it is kept here.
#[utoipa::path(
    get, path = "/api/v1/claims/{claim}/blobs", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The digests, with bytes where they are kept"))
)]
pub(super) async fn pinned(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        let items = instance.claims.material().told(view::claim_of(world, &id)?);
        Ok(document(&headers, &json!({ "claim": id, "items": items })))
    })
}

/// Brings something that a listed claim pins: its component, pack, frozen matrix, or an input. The bytes are the body.
/// Everybody can read it from then on. The same bytes again are no other thing.
#[utoipa::path(
    put, path = "/api/v1/claims/blobs/{sha256}", tag = "claims",
    request_body(content = String, content_type = "application/octet-stream"),
    params(("sha256" = String, Path, pattern = "^[0-9a-f]{64}$")), security(("key" = [])),
    responses((status = 201, description = "It is kept"), (status = 200, description = "It was kept before"))
)]
pub(super) async fn put_blob(
    State(app): State<Shared>,
    Path(sha256): Path<String>,
    who: Who,
    arrival: Arrival,
    request: Request,
) -> Result<Response, Problem> {
    let digest: Digest = sha256.parse().map_err(|_| unknown())?;
    who.viewer.agent_with(Scope::Submit)?;
    crate::http::body::check_type(request.headers(), "application/octet-stream")?;
    let most = app.config.limits.component_bytes as u64;
    // Whose upload would be refused is not even begun.
    let room = look(&app, |instance, world| instance.claims.material().admits(world, &digest, most))?;
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if told.and_then(|told| told.parse::<u64>().ok()).is_some_and(|told| told > room) {
        return Err(too_large(room));
    }
    let bytes = receive(&app, request.into_body(), digest, room).await?;
    let pins = pins(&app, digest, bytes).await?;
    send(&app, (who, arrival), Command::Keep(Kept { sha256: digest, bytes, pins }), None).await
}

/// What a frozen matrix pins in turn, if it is one.
async fn pins(app: &Shared, digest: Digest, bytes: u64) -> Result<Vec<Digest>, Problem> {
    let is_frozen = look(app, |_, world| Ok(crate::instance::claims::is_frozen(world, &digest)))?;
    if !is_frozen || bytes > FROZEN_BYTES_MAX {
        return Ok(Vec::new());
    }
    let Ok(frozen) = Frozen::parse(&read(app, digest, bytes).await?) else { return Ok(Vec::new()) };
    let mut pins: Vec<Digest> = frozen.strategies.iter().map(|pin| pin.sha256).collect();
    pins.extend(frozen.packs());
    pins.sort_unstable();
    pins.dedup();
    pins.truncate(PINS_MAX);
    Ok(pins)
}

fn too_large(limit: u64) -> Problem {
    Problem::new("body_too_large", format_args!("it may have {limit} bytes"))
}

/// Takes a body in, piece by piece, to a temporary file that is hashed on the way.
async fn receive(app: &Shared, body: Body, digest: Digest, limit: u64) -> Result<u64, Problem> {
    let (sender, pieces) = mpsc::channel::<Bytes>(PIECES);
    let blobs = app.store.blobs().clone();
    let writing = tokio::task::spawn_blocking(move || write(&blobs, pieces, limit));
    let mut stream = body.into_data_stream();
    let mut is_whole = true;
    while let Some(piece) = stream.next().await {
        let Ok(piece) = piece else {
            is_whole = false;
            break;
        };
        if sender.send(piece).await.is_err() {
            break;
        }
    }
    drop(sender);
    let writer = writing.await.map_err(|_| Problem::internal())?.map_err(|fault| refused(&fault, limit))?;
    if !is_whole {
        return Err(Problem::new("query", "the body broke off"));
    }
    let bytes = writer.bytes();
    let finished = tokio::task::spawn_blocking(move || writer.finish(Some(digest))).await;
    finished.map_err(|_| Problem::internal())?.map_err(|fault| refused(&fault, limit))?;
    Ok(bytes)
}

fn write(blobs: &Blobs, mut pieces: mpsc::Receiver<Bytes>, limit: u64) -> Result<BlobWriter, BlobFault> {
    let mut writer = blobs.writer(limit)?;
    while let Some(piece) = pieces.blocking_recv() {
        if let Err(source) = writer.write_all(&piece) {
            return Err(match source.kind() {
                std::io::ErrorKind::FileTooLarge => BlobFault::TooLarge { limit },
                _ => BlobFault::Io { doing: "write", source },
            });
        }
    }
    Ok(writer)
}

fn refused(fault: &BlobFault, limit: u64) -> Problem {
    match fault {
        BlobFault::TooLarge { .. } => too_large(limit),
        BlobFault::Another { found, .. } => {
            Problem::new("digest_differs", format_args!("the bytes have the SHA-256 {found}"))
        }
        BlobFault::Withheld(_) => Problem::new("gone", "these bytes were taken away"),
        _ => overloaded(),
    }
}
