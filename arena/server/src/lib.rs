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
mod workshop;

pub use app::{App, Shared};
pub use config::{Claims, ClaimsBeacon, Config, ConfigError, Limits, Tournaments};
pub use http::log::{LINE_BYTES_MAX, Log};
pub use keeper::{Answered, Keeper, Sent};
pub use live::Live;
pub use outside::Outside;
pub use play::TURNS_MAX;
pub use serve::{Doors, ServeError, Server, Setup};
pub use workshop::{Admission, Probe, Refused, Verdict, Workshop, WorkshopFault};
