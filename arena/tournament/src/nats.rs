//! Workers on any machine, over NATS JetStream: a stream of jobs, a stream of results, and an object
//! store for what is too large for a message.
//!
//! Nothing that a worker tells is believed: its record is derived again here, and where two workers
//! contradict each other the matchup is played here. The coordinator writes the same folder as with
//! local workers. There is no TLS: an address that wants it is refused, not tried without. A job says
//! which strategies meet, so before disclosure only those who run the tournament may read the server.

mod address;
mod answer;
mod coordinator;
mod fault;
mod link;
mod names;
mod objects;
mod shelf;
mod worker;

pub use address::NatsAddress;
pub use coordinator::{Nats, NatsOptions};
pub use fault::NatsFault;
pub use names::{RunKey, RunKeyError};
pub use worker::{RosterMaker, Worked, WorkerOptions, work};
