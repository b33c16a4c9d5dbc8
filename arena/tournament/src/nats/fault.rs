use std::time::Duration;

use arena_engine::Excerpt;

use crate::fault::RunFault;

/// The server or the way to it stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NatsFault {
    /// The address cannot be used.
    #[error("`{}` is no address of a NATS server: {why}", Excerpt::line(address))]
    Address {
        /// As it was given, without what it says of a password.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server speaks only TLS.
    #[error("the server at {server} wants TLS, which is not supported; tunnel to it")]
    TlsWanted {
        /// Which one.
        server: String,
    },
    /// The server refused who we say we are.
    #[error("the server at {server} refuses us: {why}")]
    Refused {
        /// Which one.
        server: String,
        /// Its reason.
        why: String,
    },
    /// Nothing came of it for as long as the patience lasts.
    #[error("{doing} failed for {} s: {}", patience.as_secs(), Excerpt::line(why))]
    Patience {
        /// What was tried.
        doing: &'static str,
        /// How long.
        patience: Duration,
        /// The last failure.
        why: String,
    },
    /// Somebody else coordinates this run.
    #[error("another coordinator is at work on run {run}")]
    Coordinated {
        /// Which one.
        run: String,
    },
    /// Something that the run needs could not be read here.
    #[error("{}", Excerpt::line(why))]
    Source {
        /// What, and why.
        why: String,
    },
    /// The system refused a thread.
    #[error("cannot start a thread: {why}")]
    Thread {
        /// Why.
        why: String,
    },
}

impl From<NatsFault> for RunFault {
    fn from(fault: NatsFault) -> Self {
        Self::Executor(fault.to_string())
    }
}
