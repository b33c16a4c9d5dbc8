//! Experiments in the sandbox.

mod examples;
mod files;
pub(crate) mod guest;
mod hostile;
