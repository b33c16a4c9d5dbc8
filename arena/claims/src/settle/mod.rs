//! Settlement: who gets what in which order, over a case that says all that matters.
//!
//! The loser pays; the treasury never does. Every step moves what is there and never more, so that no
//! case overdraws anything, and whatever goes in comes out.

mod case;
mod ending;
mod postings;
mod waterfall;

pub use case::{Appeal, Case, CaseError, Challenger, Reviewer};
pub use ending::{Ending, Vote};
pub use postings::{Funder, PostingError, refund, settle_into};
pub use waterfall::{Movement, Purse, Settlement, Step, settle};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
