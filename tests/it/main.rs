//! Integration tests of the whole product, one binary, by topic.

mod build;
mod campus;
mod cli;
mod sandbox;
