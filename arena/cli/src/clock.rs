//! The time, where it is wanted: receipts and wall-clock budgets.

use std::time::{Duration, Instant, SystemTime};

use arena_tournament::Clock;

/// The clock of this machine.
pub(crate) struct SystemClock(Instant);

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        since.as_millis() as u64
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}
