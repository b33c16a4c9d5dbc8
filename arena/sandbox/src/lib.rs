//! Untrusted strategies and experiments as WebAssembly components: admit, compile, seat or run.
//!
//! The only crate that names wasmtime. It knows the games it hosts and nothing of files to score,
//! tournaments or money; what a guest can cause is data, and what the machine causes is an error.

mod admit;
mod cache;
mod cell;
mod config;
mod deadline;
mod ending;
pub mod experiment;
mod floor;
mod game;
mod host;
mod limiter;
mod log;
mod play;
mod probe;
mod seat;
mod seed;
mod wasi;
mod world;

pub use admit::{
    Admitted, AdmittedExperiment, EXPERIMENT_WORLD, Refusal, Rejection, admit, admit_experiment,
};
pub use config::{engine_digest, engine_settings};
pub use deadline::OutOfTime;
pub use floor::{Floor, MatrixFloor};
pub use game::Game;
pub use host::{Experiment, Host, HostOptions, LoadError, Seats, Strategy};
pub use play::{Played, PlayedMatrix, matrix_play, play};
pub use probe::{Call, Probe, probe};
pub use seat::{MatrixSeat, Seat, SeatError, SeatUsage};
pub use seed::{SeedError, seed};

/// Version of the runtime: fuel and endings are counted by it, so every log pins it.
pub const WASMTIME_VERSION: &str = "48.0.8";
