//! Integration tests of the whole product, one binary, by topic.

mod campus;
mod sandbox;
