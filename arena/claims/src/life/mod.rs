//! The life of a claim: what may be done when, by whom, and what follows by time alone.
//!
//! [`decide`] says what a command comes to and may refuse; [`follow`] says what happens by itself, at deadlines or
//! because everything that was waited for is there; [`evolve`] takes an event for a fact and has no rules. Time, the
//! beacon's proofs and secrets come in with the command, so a history replays to the same state anywhere.

mod command;
mod decide;
mod draws;
mod eligible;
mod event;
mod evolve;
mod execute;
mod follow;
mod judging;
mod parties;
mod refusal;
mod resume;
mod settling;
mod world;

pub use command::{Command, Seen, Stamped};
pub use decide::{check_name, decide};
pub use event::{CommittedDraw, Event, Vacancy, Withdrawal};
pub(crate) use evolve::transaction_of;
pub use evolve::{check, evolve};
pub use execute::{execute, replay, tick};
pub use follow::follow;
pub use judging::{Ballot, Cited, report_of};
pub use parties::{due_of, is_revealed, revealed_by, round_wanted};
pub use refusal::Refusal;
pub use resume::{is_waiting, resume};
pub use world::{
    Agent, Audit, Challenge, Claim, DrawState, Instance, Panel, Part, Party, Phase, Revealed, Run,
    STANDING_MIN, STANDING_START, Seat, World,
};
