//! Tests of the crate as its callers see it: one binary, by topic.

mod cite;
mod closure;
mod contest;
mod leak;
mod overlap;
mod sprint;

use arena_canon::json::{self, Value};

/// The vectors `name`, as they lie in the repository.
#[expect(clippy::disallowed_methods, reason = "a test is a caller, and callers read")]
fn vectors(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|why| panic!("{path}: {why}"));
    json::read(&bytes, 1 << 20).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// The elements of `vectors[member]`, of which there must be some.
fn cases<'a>(vectors: &'a Value, member: &str) -> &'a [Value] {
    let cases = vectors[member].as_array().unwrap_or_else(|| panic!("no array {member}"));
    assert!(!cases.is_empty(), "{member} is empty");
    cases
}
