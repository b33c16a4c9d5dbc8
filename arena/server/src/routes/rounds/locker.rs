//! The Locker: artifacts by their digest, and evidence that points to them. Bytes are blobs of the store; the
//! journal has their digest and what was found in them.

use std::io::Write as _;

use arena_canon::Digest;
use arena_canon::json::Pointer;
use arena_contests::document::{Faults, Object};
use arena_contests::leak::{Severity, TEXT_BYTES_MAX};
use arena_contests::sprint::round::{Actor, Artifact, Command, Refusal, Stamped};
use arena_store::{BlobFault, BlobWriter, Blobs, Found};
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::mpsc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::reads::told;
use super::{act, command, condition, done, meant, named, schemas, taken};
use crate::app::{App, Shared};
use crate::auth::{Scope, Viewer};
use crate::http::arrival::Arrival;
use crate::http::body::Posted;
use crate::http::paging::Wanted;
use crate::http::versioned;
use crate::http::who::Who;
use crate::instance::Instance;
use crate::instance::rounds::{self, Act, Seen, visible};
use crate::problem::Problem;
use crate::routes::query;

/// Pieces of an upload that wait for the disk.
const PIECES: usize = 4;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(blob, put_blob))
        .routes(routes!(artifact, publish))
        .routes(routes!(evidence))
        .routes(routes!(put_evidence))
}

fn no_artifact() -> Problem {
    Problem::new("unknown_reference", "there is no artifact of this digest")
}

fn digest_of(text: &str) -> Result<Digest, Problem> {
    text.parse().map_err(|_| no_artifact())
}

/// Whether somebody may see an artifact: it is public, their own, or they judge.
pub(crate) fn may_see(seen: &Seen<'_>, artifact: &Artifact) -> bool {
    artifact.public_read || seen.is_staff || seen.own == Some(artifact.owner.as_str())
}

/// The artifact of a digest that somebody may see, and its round.
pub(crate) fn found<'a>(
    instance: &'a Instance,
    who: &Who,
    arrival: &Arrival,
    digest: &Digest,
    named: Option<&str>,
) -> Result<(&'a str, &'a Artifact), Problem> {
    let is_named = |id: &str| named.is_none_or(|named| named == id);
    let rounds = instance.rounds.all().keys().filter(|id| is_named(id));
    let mut found = rounds.filter_map(|id| {
        let seen = visible(instance, &who.viewer, id, arrival.at).ok()?;
        let artifact = seen.round.locker().artifact(digest).filter(|artifact| may_see(&seen, artifact))?;
        Some((id.as_str(), artifact))
    });
    found.next().ok_or_else(no_artifact)
}

/// The bytes of an artifact that somebody may see, with what is known of it.
pub(crate) async fn read_artifact(
    app: &Shared,
    who: &Who,
    arrival: &Arrival,
    digest: Digest,
) -> Result<(Artifact, Vec<u8>), Problem> {
    let artifact =
        app.look(|instance| found(instance, who, arrival, &digest, None).map(|(_, it)| it.clone()))??;
    if let Some(reason) = &artifact.hidden {
        return Err(Problem::new("gone", format_args!("it was hidden: {reason}")));
    }
    let (blobs, limit) = (app.store.blobs().clone(), app.config.limits.blob_bytes as u64);
    match tokio::task::spawn_blocking(move || blobs.read(digest, limit)).await {
        Ok(Ok(Found::Content(bytes))) => Ok((artifact, bytes)),
        Ok(Ok(Found::Withheld { reason })) => {
            Err(Problem::new("gone", format_args!("it is withheld: {reason}")))
        }
        _ => Err(Problem::internal()),
    }
}

/// The bytes of an artifact, always as a download. A private one is there for its owner and those who judge.
#[utoipa::path(
    get, path = "/api/v1/locker/blobs/{sha256}", tag = "locker",
    params(("sha256" = String, Path, pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "The bytes", content_type = "application/octet-stream"))
)]
async fn blob(
    State(app): State<Shared>,
    Path(sha256): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let digest = digest_of(&sha256)?;
    let (_, bytes) = read_artifact(&app, &who, &arrival, digest).await?;
    let mut response = versioned::bytes(&headers, bytes, "application/octet-stream");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response)
}

/// Stores an artifact under its digest. The bytes are the body, up to 16 MiB, and `Content-Type` says what they are.
/// The same bytes again are the same artifact.
#[utoipa::path(
    put, path = "/api/v1/locker/blobs/{sha256}", tag = "locker",
    request_body(content = String, content_type = "application/octet-stream"),
    params(("sha256" = String, Path, pattern = "^[0-9a-f]{64}$"),
           ("round" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("public_read" = Option<bool>, Query)),
    security(("key" = [])),
    responses((status = 201, description = "It is stored"), (status = 200, description = "It was stored before"))
)]
async fn put_blob(
    State(app): State<Shared>,
    Path(sha256): Path<String>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
    request: Request,
) -> Result<Response, Problem> {
    wanted.only(&["round", "public_read"])?;
    let digest = digest_of(&sha256)?;
    let public_read = match wanted.filter("public_read") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Problem::new("query", "`public_read` is true or false")),
    };
    let named = query::name(&wanted, "round")?.map(str::to_owned);
    let media_type = media_type(request.headers())?;
    let id = app.look(|instance| {
        admitted(instance, (&who.viewer, &arrival), named.as_deref(), (digest, &media_type))
    })??;
    let limit = app.config.limits.blob_bytes;
    let told = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if told.and_then(|told| told.parse::<usize>().ok()).is_some_and(|told| told > limit) {
        return Err(too_large(limit));
    }
    let body = request.into_body().into_data_stream();
    let received = receive(&app, body, Some(digest), limit, |text| clean(&app, &id, text)).await?;
    done(&app, who, &arrival, keeping(&id, received, media_type, public_read), None).await
}

/// What keeps an artifact whose bytes are there.
fn keeping(round: &str, received: Received, media_type: String, public_read: bool) -> Act {
    let keep = Command::KeepArtifact {
        artifact: received.digest,
        size_bytes: received.bytes,
        media_type,
        public_read,
        findings: Vec::new(),
    };
    Act { text: received.text, ..act(round, keep) }
}

/// An artifact on its way in.
pub(crate) struct Upload<'a> {
    pub(crate) round: &'a str,
    /// What it has to be, where that is known.
    pub(crate) digest: Option<Digest>,
    pub(crate) media_type: String,
    pub(crate) public_read: bool,
}

/// Stores an artifact that comes in pieces; tells its digest.
pub(crate) async fn store_artifact<E>(
    app: &Shared,
    (who, arrival): (&Who, &Arrival),
    upload: Upload<'_>,
    pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Digest, Problem> {
    let Upload { round, digest, media_type, public_read } = upload;
    // Whether anything of the kind is taken at all; a digest that nobody knows yet is like any other.
    let like = digest.unwrap_or_else(|| Digest::of(arrival.id.as_bytes()));
    let by = (&who.viewer, arrival);
    app.look(|instance| admitted(instance, by, Some(round), (like, &media_type)))??;
    let limit = app.config.limits.blob_bytes;
    let received = receive(app, pieces, digest, limit, |text| clean(app, round, text)).await?;
    let digest = received.digest;
    let act = keeping(round, received, media_type, public_read);
    super::execute(app, who.viewer.clone(), arrival.at, act, None).await.map(|_| digest)
}

/// Whose upload is not even begun: nobody's who could not have it stored.
fn admitted(
    instance: &Instance,
    (viewer, arrival): (&Viewer, &Arrival),
    named: Option<&str>,
    (digest, media_type): (Digest, &str),
) -> Result<String, Problem> {
    viewer.agent_with(Scope::Submit)?;
    let id = meant(instance, viewer, named, arrival.at)?;
    let seen = visible(instance, viewer, &id, arrival.at)?;
    let none = || Problem::new("unknown_company", "no company of yours takes part in this round");
    let company = seen.own.ok_or_else(none)?;
    let round = &seen.held.round;
    if round.locker().artifact(&digest).is_some_and(|found| found.owner == company) {
        return Ok(id);
    }
    let agent = viewer.agent().unwrap_or_default().to_owned();
    let by = Actor::Company { company: company.to_owned(), agent };
    let command = Command::KeepArtifact {
        artifact: digest,
        size_bytes: 0,
        media_type: media_type.to_owned(),
        public_read: false,
        findings: Vec::new(),
    };
    let at = instance.now.map_or(arrival.at, |now| now.max(arrival.at));
    round.decide(&Stamped { at, by, command }).map_err(|refusal| rounds::problem(&refusal))?;
    Ok(id)
}

fn media_type(headers: &HeaderMap) -> Result<String, Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let coded = headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity");
    if given.is_empty() || coded {
        return Err(Problem::new("media_type", "say with `Content-Type` what the bytes are, uncompressed"));
    }
    Ok(given.to_owned())
}

fn too_large(limit: usize) -> Problem {
    Problem::new("body_too_large", format_args!("an artifact may have {limit} bytes"))
}

/// What blocks in a text is told before its bytes are kept; the command looks again.
fn clean(app: &App, round: &str, text: &[u8]) -> Result<(), Problem> {
    app.look(|instance| {
        let held = instance.rounds.held(round).ok_or_else(Problem::internal)?;
        let mut blocking = held.round.look_at(text);
        blocking.retain(|finding| finding.severity == Severity::Block);
        if blocking.is_empty() {
            Ok(())
        } else {
            Err(rounds::problem(&Refusal::ForbiddenDisclosure(blocking)))
        }
    })?
}

struct Received {
    digest: Digest,
    bytes: u64,
    /// All of them, if they are few enough to be looked at.
    text: Option<Vec<u8>>,
}

/// Takes a body in, piece by piece, to a temporary file that is hashed on the way.
async fn receive<E>(
    app: &Shared,
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
    digest: Option<Digest>,
    limit: usize,
    look: impl FnOnce(&[u8]) -> Result<(), Problem>,
) -> Result<Received, Problem> {
    let (sender, pieces) = mpsc::channel::<Bytes>(PIECES);
    let blobs = app.store.blobs().clone();
    let writing = tokio::task::spawn_blocking(move || write(&blobs, pieces, limit as u64));
    let mut text = Some(Vec::new());
    let mut is_whole = true;
    while let Some(piece) = stream.next().await {
        let Ok(piece) = piece else {
            is_whole = false;
            break;
        };
        text = text.filter(|text| text.len() + piece.len() <= TEXT_BYTES_MAX);
        if let Some(text) = &mut text {
            text.extend_from_slice(&piece);
        }
        if sender.send(piece).await.is_err() {
            break;
        }
    }
    drop(sender);
    let written = writing.await.map_err(|_| Problem::internal())?;
    let writer = written.map_err(|fault| refused(&fault, limit))?;
    if !is_whole {
        return Err(Problem::new("query", "the body broke off"));
    }
    if let Some(text) = &text {
        look(text)?;
    }
    let bytes = writer.bytes();
    let finished = tokio::task::spawn_blocking(move || writer.finish(digest)).await;
    let finished = finished.map_err(|_| Problem::internal())?;
    let digest = finished.map_err(|fault| refused(&fault, limit))?;
    Ok(Received { digest, bytes, text })
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

fn refused(fault: &BlobFault, limit: usize) -> Problem {
    match fault {
        BlobFault::TooLarge { .. } => too_large(limit),
        BlobFault::Another { found, .. } => {
            Problem::new("digest_differs", format_args!("the bytes have the SHA-256 {found}"))
        }
        BlobFault::Withheld(_) => Problem::new("gone", "these bytes were taken away"),
        _ => Problem::new("overloaded", "the bytes could not be kept").retry_after(5),
    }
}

/// What is known of an artifact, with the ETag that a change of it needs.
#[utoipa::path(
    get, path = "/api/v1/locker/artifacts/{artifact}", tag = "locker",
    params(("artifact" = String, Path, pattern = "^[0-9a-f]{64}$"),
           ("round" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The artifact"))
)]
async fn artifact(
    State(app): State<Shared>,
    Path(artifact): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["round"])?;
    let (digest, named) = (digest_of(&artifact)?, query::name(&wanted, "round")?);
    app.look(|instance| {
        let (round, found) = found(instance, &who, &arrival, &digest, named)?;
        Ok(versioned::document(&headers, &rounds::artifact_json(round, &digest, found)))
    })?
}

/// Lets anybody read an artifact of yours: `{"public_read": true}`. It cannot be taken back.
#[utoipa::path(
    patch, path = "/api/v1/locker/artifacts/{artifact}", tag = "locker", request_body(content = schemas::PublicRead),
    params(("artifact" = String, Path, pattern = "^[0-9a-f]{64}$"),
           ("round" = Option<String>, Query, pattern = "^[a-z0-9][a-z0-9-]{0,63}$"),
           ("If-Match" = String, Header, description = "The ETag of what is changed")),
    security(("key" = [])), responses((status = 200, description = "It is public"))
)]
async fn publish(
    State(app): State<Shared>,
    Path(artifact): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
    wanted: Wanted,
    posted: Posted,
) -> Result<Response, Problem> {
    wanted.only(&["round"])?;
    let (digest, named) = (digest_of(&artifact)?, query::name(&wanted, "round")?);
    who.viewer.agent_with(Scope::Submit)?;
    let mut faults = Faults::default();
    let object = Object::read(&posted.document, &Pointer::default(), &["public_read"], &mut faults);
    let read = object.and_then(|object| {
        let wanted = object.boolean("public_read", &mut faults)?;
        if !wanted {
            faults.add(&object.at("public_read"), "what is public stays so; only true can be said");
        }
        Some(wanted)
    });
    faults.or(read).map_err(|faults| Problem::form(&faults))?;
    let id = app.look(|instance| {
        found(instance, &who, &arrival, &digest, named).map(|(round, _)| round.to_owned())
    })??;
    let command = Command::GrantPublicRead { artifact: digest };
    let act = Act { if_match: Some(condition(&headers)), ..act(&id, command) };
    done(&app, who, &arrival, act, posted.slot).await
}

/// Something that speaks for an artifact. That of a private one is as private.
#[utoipa::path(
    get, path = "/api/v1/locker/evidence/{evidence}", tag = "locker",
    params(("evidence" = String, Path, pattern = "^evidence:[a-z0-9-]{1,64}:[0-9]{1,9}$")),
    responses((status = 200, description = "The evidence"))
)]
async fn evidence(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    arrival: Arrival,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let none = || Problem::new("unknown_reference", "there is no evidence of this name");
    let (round, name) = rounds::local("evidence", &id).ok_or_else(none)?;
    told(&app, (round, &who, &arrival, &headers), |seen| {
        let locker = seen.round.locker();
        let found = locker.evidence(&name).ok_or_else(none)?;
        locker.artifact(&found.artifact).filter(|artifact| may_see(seen, artifact)).ok_or_else(none)?;
        Ok(rounds::evidence_json(seen.round, &name, found))
    })
}

/// Points to what speaks for an artifact of yours: `{"round", "artifact_hash", "kind", "description"}`.
#[utoipa::path(
    post, path = "/api/v1/locker/evidence", tag = "locker", request_body(content = schemas::Evidence), security(("key" = [])),
    responses((status = 201, description = "It is kept"))
)]
async fn put_evidence(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let (round, with) = taken(&posted.document, "round");
    let named = named(round.as_ref())?;
    who.viewer.agent_with(Scope::Submit)?;
    let id = app.look(|instance| meant(instance, &who.viewer, named, arrival.at))??;
    let command = command("put_evidence", &with, &[])?;
    if let Command::PutEvidence { artifact, .. } = &command {
        // Another's private artifact is not there.
        app.look(|instance| found(instance, &who, &arrival, artifact, Some(&id)).map(|_| ()))??;
    }
    done(&app, who, &arrival, act(&id, command), posted.slot).await
}
