//! The producer sprint and contests, through the commands.

mod demo;
mod refusals;
mod registry;
mod vectors;

use arena_cli::{Env, Exit};
use serde_json::Value;

use crate::cli::{Ran, arena_in};

/// Asks a command a question on its standard input.
fn ask(command: &str, question: &Value) -> Ran {
    arena_in(Env::default(), question.to_string().as_bytes(), command.split(' '))
}

/// The answer of a command that has one.
#[track_caller]
fn answer(command: &str, question: &Value) -> Value {
    let ran = ask(command, question);
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""), "{command} {question}");
    assert_eq!(ran.out.lines().count(), 1, "an answer is one line");
    ran.json()
}

/// Vectors as they lie in the repository.
fn vectors(name: &str) -> Value {
    let path = arena_tests::repository().join("tests/vectors").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_slice(&bytes).expect("the vectors are JSON")
}

/// The elements of `vectors[member]`, of which there must be some.
fn cases(vectors: &Value, member: &str) -> Vec<Value> {
    let cases = vectors[member].as_array().cloned().unwrap_or_default();
    assert!(!cases.is_empty(), "{member} is empty");
    cases
}
