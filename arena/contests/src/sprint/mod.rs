//! The producer sprint: three windows on three days, scored from public evidence.

pub mod clock;
pub mod example;
pub mod rank;
pub mod record;
pub mod round;
pub mod score;
pub mod stake;
pub mod wire;

use crate::words::words;

words! {
    /// One of the three scored days.
    pub enum Window {
        /// Day 1.
        W1 = "W1",
        /// Day 2.
        W2 = "W2",
        /// Day 3.
        W3 = "W3",
    }
}

impl Window {
    /// Its place among the three, from 0.
    pub const fn index(self) -> usize {
        self as usize
    }
}
