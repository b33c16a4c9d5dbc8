use std::num::NonZeroU64;

/// Seconds between a commitment and the round it takes, at least: nobody knows the round yet, whatever their
/// clock says.
pub const MARGIN_SECONDS: u64 = 30;

/// When the rounds of a beacon are due: the first at `genesis`, the others one `period` after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// When round 1 is due, in Unix time.
    pub genesis: u64,
    /// Seconds from one round to the next.
    pub period: NonZeroU64,
}

impl Schedule {
    /// The schedule of drand's quicknet.
    pub const QUICKNET: Self = Self { genesis: 1_692_803_367, period: NonZeroU64::new(3).unwrap() };

    /// The first round that is due at `seconds` or later.
    pub fn round_for(self, seconds: u64) -> u64 {
        seconds.saturating_sub(self.genesis).div_ceil(self.period.get()).saturating_add(1)
    }

    /// When `round` is due. Nothing for round 0, and where time ends.
    pub fn time_of(self, round: u64) -> Option<u64> {
        round.checked_sub(1)?.checked_mul(self.period.get())?.checked_add(self.genesis)
    }
}
