//! Where components are looked at and played: in other processes, never in this one.
//!
//! A [`Workshop`] is brought by whoever starts the server. Here is what it is asked for, how many may ask at once,
//! and who plays the tournaments that were started. A component that cannot be compiled in time costs its submitter
//! one refusal.

mod card;
mod floor;
mod left;
mod runner;
mod upload;
mod whole;

use std::path::Path;
use std::time::Duration;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_tournament::{Game, Pins};
use serde::{Deserialize, Serialize};

pub(crate) use card::{Card, Played, Rated, read_card, read_pin, read_record};
pub(crate) use floor::Floor;
pub(crate) use runner::Runner;
pub(crate) use upload::{Received, admit, keep, receive};
pub(crate) use whole::Whole;

/// Looks at components and plays tournaments, in processes of its own. All calls block, for a bounded time.
pub trait Workshop: Send + Sync + 'static {
    /// What a tournament that is frozen here pins.
    fn pins(&self) -> Pins;

    /// Whether the component in this file may play. It is compiled and probed; that takes no longer than `patience`.
    fn admit(&self, component: &Path, patience: Duration) -> Result<Verdict, WorkshopFault>;

    /// Takes up the run in this folder and plays it to its end, for no longer than `patience`. `pulse` is called
    /// several times a second meanwhile, and tells whether to go on. What came of it is in the folder; a run that
    /// was broken off is taken up again.
    fn play(
        &self,
        folder: &Path,
        patience: Duration,
        pulse: &mut dyn FnMut() -> bool,
    ) -> Result<(), WorkshopFault>;
}

/// What came of looking at a component.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may play.
    Admitted(Admission),
    /// It may not, for all of these reasons.
    Refused(Vec<Refused>),
}

/// A component that may play.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    /// Its digest.
    pub sha256: Digest,
    /// Its size.
    pub size_bytes: u64,
    /// The world it was built for.
    pub world: String,
    /// What it imports.
    pub imports: Vec<String>,
    /// With what it is linked.
    pub linker: String,
    /// What a short game against the house told of it.
    pub probe: Probe,
}

/// What a short game told of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Fuel of the brief and the turn that used most.
    pub fuel_max: u64,
    /// Memory at most, in bytes.
    pub memory_bytes_max: u64,
    /// How it lost the ability to act, if it did; then it may still play.
    pub forfeit: Value,
}

/// A reason why a component may not play, in the words of `arena check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its stable name.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The workshop itself failed; it is nobody's component.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing}: {why}")]
pub struct WorkshopFault {
    /// What was tried.
    pub doing: &'static str,
    /// What went wrong.
    pub why: String,
}

impl Admission {
    /// The game it plays; nothing if it is an experiment.
    pub fn game(&self) -> Option<Game> {
        [Game::Campus, Game::Matrix].into_iter().find(|game| self.plays(*game))
    }

    fn plays(&self, game: Game) -> bool {
        self.world.contains(&format!(":{}/", game.name()))
    }
}
