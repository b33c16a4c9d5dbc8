//! A component on its way in: written beside everything else while it is hashed, looked at in another process, and
//! kept as a blob only if it may play.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arena_canon::{Digest, Hasher};
use arena_engine::limits::V1;
use axum::body::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::sync::mpsc;

use super::floor::Place;
use super::{Admission, Refused, Verdict};
use crate::app::{App, Shared};
use crate::problem::Problem;

/// What every WebAssembly file begins with.
const MAGIC: &[u8] = b"\0asm";
/// Pieces that wait for the disk.
const PIECES: usize = 4;

/// A component that was received. Its file is gone when this is dropped.
pub(crate) struct Received {
    beside: Beside,
    pub(crate) sha256: Digest,
    pub(crate) bytes: u64,
    _place: Place,
}

/// A file beside everything that is kept, for as long as this lives.
struct Beside(PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn too_large(limit: u64) -> Problem {
    Problem::new("body_too_large", format_args!("a component may have {limit} bytes"))
}

fn broken_off() -> Problem {
    Problem::new("query", "the body broke off")
}

fn not_kept(_: io::Error) -> Problem {
    Problem::new("overloaded", "the component could not be kept").retry_after(5)
}

/// What refuses a component: every reason at once, in the words of `arena check`.
fn refused(reasons: &[Refused]) -> Problem {
    let mut problem = Problem::new("not_admitted", "this component may not play here");
    for Refused { code, message, hint } in reasons {
        let hint = hint.as_ref().map_or_else(String::new, |hint| format!("; hint: {hint}"));
        problem.push("", "not_admitted", format_args!("{code}: {message}{hint}"));
    }
    problem
}

fn no_wasm() -> Problem {
    refused(&[Refused {
        code: "admit.not_wasm".to_owned(),
        message: "this is not WebAssembly: it does not start with \\0asm".to_owned(),
        hint: Some("build the strategy with `arena build`".to_owned()),
    }])
}

/// Takes a component in, piece by piece. What is no WebAssembly is refused before any of it is written.
pub(crate) async fn receive<E>(
    app: &Shared,
    told: Option<u64>,
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Received, Problem> {
    let limit = (app.config.limits.component_bytes as u64).min(V1.component_bytes_max);
    if told.is_some_and(|told| told > limit) {
        return Err(too_large(limit));
    }
    let place = app.floor.enter()?;
    let mut head = Vec::new();
    while head.len() < MAGIC.len() {
        match stream.next().await {
            Some(Ok(piece)) => head.extend_from_slice(&piece),
            Some(Err(_)) => return Err(broken_off()),
            None => return Err(no_wasm()),
        }
    }
    if !head.starts_with(MAGIC) {
        return Err(no_wasm());
    }
    let beside = Beside(app.floor.upload_path());
    let (sender, pieces) = mpsc::channel::<Bytes>(PIECES);
    // The file goes with the task, so that it is removed if the client goes away.
    let writing = tokio::task::spawn_blocking(move || {
        let (sha256, bytes) = write(&beside.0, pieces, limit)?;
        Ok::<_, Problem>(Received { beside, sha256, bytes, _place: place })
    });
    let mut next = Some(Ok(Bytes::from(head)));
    let mut is_whole = true;
    while let Some(piece) = next {
        let Ok(piece) = piece else {
            is_whole = false;
            break;
        };
        if sender.send(piece).await.is_err() {
            break;
        }
        next = stream.next().await;
    }
    drop(sender);
    let received = writing.await.map_err(|_| Problem::internal())??;
    if is_whole { Ok(received) } else { Err(broken_off()) }
}

fn write(path: &Path, mut pieces: mpsc::Receiver<Bytes>, limit: u64) -> Result<(Digest, u64), Problem> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).map_err(not_kept)?;
    let (mut hasher, mut bytes) = (Hasher::new(), 0);
    while let Some(piece) = pieces.blocking_recv() {
        bytes += piece.len() as u64;
        if bytes > limit {
            return Err(too_large(limit));
        }
        hasher.update(&piece);
        file.write_all(&piece).map_err(not_kept)?;
    }
    Ok((hasher.digest(), bytes))
}

/// Has a component looked at; waits for its turn.
pub(crate) async fn admit(app: &Shared, received: &Received) -> Result<Admission, Problem> {
    let workshop = app.floor.workshop()?;
    let turn = Arc::clone(&app.floor.admissions).acquire_owned().await.map_err(|_| Problem::internal())?;
    let patience = Duration::from_secs(app.config.tournaments.admission_seconds);
    let path = received.beside.0.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let verdict = workshop.admit(&path, patience);
        drop(turn);
        verdict
    });
    match looked.await.map_err(|_| Problem::internal())? {
        Ok(Verdict::Refused(reasons)) => Err(refused(&reasons)),
        Ok(Verdict::Admitted(admission)) if admission.sha256 != received.sha256 => Err(Problem::internal()),
        Ok(Verdict::Admitted(admission)) if admission.game().is_none() => Err(refused(&[Refused {
            code: "admit.experiment".to_owned(),
            message: format!("it is an experiment ({}), which plays no game", admission.world),
            hint: Some("claims run experiments; bring it with a claim".to_owned()),
        }])),
        Ok(Verdict::Admitted(admission)) => Ok(admission),
        Err(_) => Err(Problem::new("overloaded", "the workshop could not look at it").retry_after(10)),
    }
}

/// Keeps a component as a blob. It is booked by the row that names it.
pub(crate) async fn keep(app: &Shared, received: Received) -> Result<(), Problem> {
    let app = Arc::clone(app);
    let kept = tokio::task::spawn_blocking(move || copy(&app, &received));
    kept.await.map_err(|_| Problem::internal())?
}

fn copy(app: &App, received: &Received) -> Result<(), Problem> {
    let kept = |_| Problem::new("overloaded", "the component could not be kept").retry_after(5);
    let mut file = File::open(&received.beside.0).map_err(not_kept)?;
    let mut writer = app.store.blobs().writer(received.bytes).map_err(kept)?;
    io::copy(&mut file, &mut writer).map_err(not_kept)?;
    writer.finish(Some(received.sha256)).map_err(kept)?;
    Ok(())
}
