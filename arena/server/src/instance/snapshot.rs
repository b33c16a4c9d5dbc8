//! The instance in a snapshot, so that a start need not fold every row again.
//!
//! A snapshot holds what programs make as fast as they can: agents with their keys, and episodes. Everything else
//! (claims, contests, rounds, strategies, tournaments) is made at the pace of people, and has types that only their
//! own rules can make; it is left out, and its facts are folded again at every start. That comes to the same, because
//! those areas read one thing only of what is here, the operator of an agent, which never changes, and what is here
//! reads nothing of them.
//!
//! A snapshot is a cache that the same sources wrote (those below) and whose bytes have its digest, so what is in it
//! is taken as it is. Indexes and open seats are not in it: they follow from the rest.

use arena_canon::Digest;
use arena_contests::Moment;
use arena_engine::ENGINE_VERSION;
use arena_engine::campus::MetricId;
use serde::{Deserialize, Serialize};

use super::{Instance, agents, episodes};

/// Everything that decides what the bytes of a snapshot mean: its form, and the rules by which rows become what is in
/// it. A change of any of it, and older snapshots are not read.
const SOURCES: &[&str] = &[
    include_str!("snapshot.rs"),
    include_str!("mod.rs"),
    include_str!("row.rs"),
    include_str!("agents.rs"),
    include_str!("agents/snapshot.rs"),
    include_str!("episodes.rs"),
    include_str!("episodes/snapshot.rs"),
    include_str!("../keeper.rs"),
    include_str!("../auth/key.rs"),
    include_str!("../auth/viewer.rs"),
    // What an action was read as is in a snapshot.
    include_str!("../../../engine/src/campus/action.rs"),
    env!("CARGO_PKG_VERSION"),
    ENGINE_VERSION,
];

/// What a snapshot depends on besides the rows.
pub(crate) fn discriminator() -> String {
    let metrics = MetricId::ALL.map(|id| format!("{id:?}")).join(" ");
    let sources: Vec<u8> = SOURCES
        .iter()
        .copied()
        .chain([metrics.as_str()])
        .flat_map(|source| Digest::of(source.as_bytes()).as_bytes().to_owned())
        .collect();
    format!("instance/{}", Digest::of(&sources))
}

/// Whether a snapshot holds what rows of a kind come to. Of announcements it holds how many there were.
pub(crate) fn holds(kind: &str) -> bool {
    matches!(kind, agents::FACT | episodes::JOINED | episodes::ACTED) || !Instance::folds(kind)
}

#[derive(Serialize, Deserialize)]
struct Written<A, E> {
    seq: u64,
    now_ms: Option<i64>,
    agents: A,
    episodes: E,
}

/// What a snapshot holds of an instance.
pub(crate) fn write(instance: &Instance) -> Option<Vec<u8>> {
    let written = Written {
        seq: instance.seq,
        now_ms: instance.now.map(Moment::unix_ms),
        agents: instance.agents.written(),
        episodes: instance.episodes.written(),
    };
    postcard::to_allocvec(&written).ok()
}

/// An instance with what a snapshot holds; what is left out is still to be folded.
pub(crate) fn read(bytes: &[u8]) -> Option<Instance> {
    let (written, rest): (Written<agents::snapshot::Agents<'_>, episodes::snapshot::Episodes<'_>>, _) =
        postcard::take_from_bytes(bytes).ok()?;
    let Written { seq, now_ms, agents, episodes } = written;
    rest.is_empty().then_some(())?;
    Some(Instance {
        agents: agents.read()?.into(),
        episodes: episodes.read()?.into(),
        now: now_ms.map(Moment::from_unix_ms),
        seq,
        ..Instance::default()
    })
}

#[cfg(test)]
mod tests;
