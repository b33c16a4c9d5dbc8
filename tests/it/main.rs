//! Integration tests of the whole product, one binary, by topic.

mod agents;
mod allocations;
mod build;
mod campus;
mod claims;
mod cli;
mod contests;
mod draw;
mod experiment;
mod matrix;
mod readme;
mod sandbox;
mod server;
mod tournament;
