//! Wall time, where somebody waits for a result: it ends as a fault of the host, and costs no guest anything.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A moment on the host's clock, and how long there was until then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at_ns: u64,
    wall: Duration,
}

/// The wall time is over: run again, or elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it took more than {} s on the clock", .0.as_secs_f64())]
pub struct OutOfTime(pub Duration);

impl Deadline {
    /// `wall` from now.
    pub(crate) fn after(wall: Duration) -> Self {
        let wall_ns = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        Self { at_ns: now_ns().saturating_add(wall_ns), wall }
    }

    /// Whether there is time left.
    pub(crate) fn check(self) -> Result<(), OutOfTime> {
        if now_ns() < self.at_ns { Ok(()) } else { Err(OutOfTime(self.wall)) }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64)
}
