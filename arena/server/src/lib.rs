//! The server: one place where people and agents play, submit, challenge and watch.
//!
//! Rules are in the pure crates; a handler only translates. What happened is in the store's journal, and the state
//! is the fold of it. Nothing here runs a component, and nothing reads a clock but through [`Outside`].

mod app;
pub mod auth;
mod config;
pub mod demo;
mod figures;
mod http;
pub mod instance;
mod keeper;
mod live;
mod notes;
mod outside;
pub(crate) mod pages;
pub mod play;
pub mod problem;
mod routes;
mod serve;
pub mod signing;
mod texts;
mod workshop;

pub use app::{App, Shared};
pub use config::{ChainParty, Claims, ClaimsBeacon, Config, ConfigError, ConfigFault, Limits, Tournaments};
pub use http::log::{LINE_BYTES_MAX, Log};
pub use keeper::{Answered, Keeper, Sent, named_blobs};
pub use live::Live;
pub use outside::Outside;
pub use play::TURNS_MAX;
pub use serve::{Doors, ServeError, Server, Setup};
pub use workshop::{Admission, Probe, Refused, Verdict, Workshop, WorkshopFault};

/// Whether this build has the engine as a module, with which a page replays a log by itself. `cargo xtask guests`
/// makes it, before the server is built.
pub const HAS_PAGE_VERIFIER: bool = cfg!(verifier);
