//! From a strategy's source to a component: which compiler, what cargo is asked, and how the same
//! source comes to the same bytes wherever it lies.
//!
//! Nothing here knows a command line, admits a component or writes one.

mod cargo;
mod compiler;
mod component;
mod places;
mod wrapper;

pub(crate) use cargo::{Crate, Settings, Workspace};
pub(crate) use component::encode;
pub(crate) use places::Places;
pub use wrapper::stand_in_for_rustc;

/// The target every strategy is built for: it has no system to call, so a component needs no WASI.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
