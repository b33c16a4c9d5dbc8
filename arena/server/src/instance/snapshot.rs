//! The instance in a snapshot, so that a start need not fold every row again.
//!
//! A snapshot holds what programs make as fast as they can: agents with their keys, and episodes. Everything else
//! (claims, contests, rounds, strategies, tournaments) is made at the pace of people, and has types that only their
//! own rules can make; it is left out, and its facts are folded again at every start. That comes to the same, because
//! those areas read one thing only of what is here, the operator of an agent, which never changes, and what is here
//! reads nothing of them.
//!
//! A snapshot is a cache that the same build wrote and whose bytes have its digest, so what is in it is taken as it is.
//! Indexes and open seats are not in it: they follow from the rest.

use arena_contests::Moment;
use serde::{Deserialize, Serialize};

use super::{Instance, agents, episodes};

/// What a snapshot depends on besides the rows: the digest that the build script took of all sources of which this
/// program's types and rules are, of the lock file, and of the compiler. Those of any other build are not read.
pub(crate) fn discriminator() -> String {
    format!("instance/{}", env!("ARENA_SOURCES_SHA256"))
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
mod sources;
#[cfg(test)]
mod tests;
