//! Runs of whole tournaments, with strategies that are Rust functions: what a run does does not depend
//! on how strategies are run.

mod beacon;
mod budgets;
mod crashes;
mod endings;
mod forgeries;
mod natives;
mod nats;
mod processes;
mod tampering;
mod vocabulary;
mod workers;
