//! An episode as it can be told: every turn so far, and where it stands.

use std::sync::Arc;

use arena_canon::json;
use arena_engine::campus::{Episode, EpisodeLog, Pack, RawAction, read_moves};
use arena_store::Found;

use super::step::{Step, rebuild, step};
use crate::app::Shared;
use crate::auth::Viewer;
use crate::instance::episodes::{Outcome, Record, pack_of};
use crate::problem::Problem;

/// Bytes of a log.
const LOG_BYTES_MAX: u64 = 16 << 20;

/// All of an episode that somebody may see.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) record: Record,
    pub(crate) pack: Arc<Pack>,
    /// The turns that are played.
    pub(crate) steps: Vec<Step>,
    /// As it stands.
    pub(crate) seat: Episode,
}

/// Tells an episode, from its actions if it is open, from its log if it is finished.
pub(crate) async fn story(app: &Shared, viewer: &Viewer, id: &str) -> Result<Story, Problem> {
    let (record, pack) = app.look(|instance| {
        let record = instance.episodes.seen(viewer, id)?;
        Ok::<_, Problem>((record.clone(), pack_of(record, app.known())?))
    })??;
    let actions = match &record.end {
        None => record.actions().to_vec(),
        Some(end) => logged_actions(&log_bytes(app, end).await?, &pack)?,
    };
    let mut seat = Episode::new(Arc::clone(&pack));
    let steps = actions.iter().map_while(|action| step(&mut seat, action)).collect();
    Ok(Story { record, pack, steps, seat })
}

/// An episode as it stands, without what came before.
pub(crate) fn now(app: &Shared, viewer: &Viewer, id: &str) -> Result<(Record, Episode), Problem> {
    let (record, pack) = app.look(|instance| {
        let record = instance.episodes.seen(viewer, id)?;
        if record.end.is_some() {
            return Err(Problem::new("episode_over", "all turns are played; read the settlement"));
        }
        Ok((record.clone(), pack_of(record, app.known())?))
    })??;
    let seat = record.seat().cloned().unwrap_or_else(|| rebuild(&pack, record.actions()));
    Ok((record, seat))
}

fn logged_actions(bytes: &[u8], pack: &Pack) -> Result<Vec<RawAction>, Problem> {
    let log = json::read(bytes, bytes.len()).ok();
    let moves = log.and_then(|log| read_moves(&log, pack.turns()));
    moves.map(|(actions, _)| actions).ok_or_else(Problem::internal)
}

/// The stored log of a finished episode, hashed again.
pub(crate) async fn log_bytes(app: &Shared, end: &Outcome) -> Result<Vec<u8>, Problem> {
    let (blobs, sha256) = (app.store.blobs().clone(), end.log_sha256);
    let read = tokio::task::spawn_blocking(move || blobs.read(sha256, LOG_BYTES_MAX)).await;
    match read {
        Ok(Ok(Found::Content(bytes))) => Ok(bytes),
        Ok(Ok(Found::Withheld { reason })) => {
            Err(Problem::new("gone", format_args!("the log is withheld: {reason}")))
        }
        _ => Err(Problem::internal()),
    }
}

/// The log of a whole episode, and its outcome.
pub(super) fn finished_log(pack: &Arc<Pack>, actions: &[RawAction]) -> EpisodeLog {
    EpisodeLog::replay(pack, actions, &[])
}
