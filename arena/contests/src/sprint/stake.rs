//! What becomes of the stake of a window.

use super::record::{Outcome, Penalty, Record, State};
use crate::words::words;

words! {
    /// What becomes of a stake.
    pub enum StakeResult {
        /// The company has it back.
        Returned = "returned",
        /// It is lost, or locked where the call says so.
        Burned = "burned",
        /// It waits for a judgement.
        Held = "held",
        /// None was posted.
        None = "none",
    }
}

/// What becomes of the stake of a window as it stands now. A disclosure burns it whatever the state.
pub fn settle(record: &Record) -> StakeResult {
    if record.penalties.contains(&Penalty::DisclosureViolation) {
        return StakeResult::Burned;
    }
    match record.state {
        State::Accepted | State::AcceptedWithPenalty | State::Late => StakeResult::Returned,
        State::OperatorAssisted(Outcome::Accepted) => StakeResult::Returned,
        State::Rejected | State::Reversed | State::OperatorAssisted(Outcome::Rejected) => StakeResult::Burned,
        State::Disputed | State::Pending => StakeResult::Held,
        State::Missing => StakeResult::None,
    }
}
