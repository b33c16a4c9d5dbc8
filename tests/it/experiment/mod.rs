//! Experiments in the sandbox.

mod examples;
mod files;
mod guest;
mod hostile;
