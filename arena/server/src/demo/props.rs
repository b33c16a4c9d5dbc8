//! What a season is played with that is no part of a server: programs, and who looks at them and runs them.

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::manifest::Manifest;

use crate::workshop::Workshop;

/// Everything that whoever starts the season brings.
pub struct Props<'a> {
    /// The documents of the packs: those of the server that opens the folder afterwards.
    pub packs: Vec<Vec<u8>>,
    /// Strategies of the matrix game: a name and a component each.
    pub strategies: Vec<(String, Vec<u8>)>,
    /// Who looks at them. Without, there is no tournament.
    pub workshop: Option<Arc<dyn Workshop>>,
    /// What is claimed first, run, challenged and settled.
    pub settled: Experiment,
    /// What is claimed last: its run may be challenged at the season's end.
    pub open: Experiment,
    /// Who runs both.
    pub lab: &'a dyn Lab,
    /// Told how many days have been played, whenever one more has: 0 first, [`SEASON_DAYS`](super::SEASON_DAYS) when
    /// the present one begins.
    pub on_day: &'a dyn Fn(u32),
}

/// An experiment, and what is claimed of it.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its component.
    pub component: Vec<u8>,
    /// Its inputs, by name.
    pub inputs: Vec<(String, Vec<u8>)>,
    /// `title`, `arguments`, `metrics` and `limits` of its manifest.
    pub claim: Value,
}

/// Runs what claims pin. What it gives is what anybody else gets who runs it.
pub trait Lab {
    /// The `engine` of a manifest that is run here.
    fn engine(&self) -> Value;

    /// The results of a record: what the experiment gives for this job.
    fn run(&self, experiment: &Experiment, manifest: &Manifest, job: Digest) -> Result<Value, String>;
}
