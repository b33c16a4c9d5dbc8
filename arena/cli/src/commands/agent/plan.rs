//! What is to be done about a claim next: a function of what the server says and of what is kept on disk. Nothing is
//! remembered elsewhere, so a program that is started again goes on where the last one was.

use super::folder::{Kept, Wish};
use super::view::{Duty, Seen};

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Say whether the assignment is taken.
    Answer,
    /// Say what the inputs are.
    CheckInputs,
    /// Run it, and keep the record.
    Run,
    /// Commit the record that is kept.
    Commit,
    /// Reveal the record that is kept.
    Reveal,
    /// Say that one does not sit on a panel.
    LeaveSeat,
    /// Nothing, until something changes.
    Wait,
    /// Nothing, ever.
    Done,
}

/// In which way somebody takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It was drawn; whether it has accepted.
    Drawn(Duty, bool),
    /// It challenges of its own will.
    Volunteer,
}

/// The next step of somebody's part in a claim.
pub(super) fn next(seen: &Seen, part: Part, me: &str, kept: Option<&Kept>) -> Step {
    if seen.is_over() || kept.is_some_and(|kept| kept.wish == Wish::Pass) {
        return Step::Done;
    }
    match part {
        Part::Drawn(Duty::Runner, _) => as_runner(seen, me, kept),
        Part::Drawn(Duty::Auditor, accepted) => as_challenger(seen, kept, accepted),
        Part::Drawn(Duty::Reviewer, _) if seen.status == "voting" => Step::LeaveSeat,
        Part::Drawn(Duty::Reviewer, _) => Step::Wait,
        Part::Volunteer => as_challenger(seen, kept, true),
    }
}

fn made(kept: Option<&Kept>, then: Step) -> Step {
    if kept.is_some_and(|kept| kept.record.is_some()) { then } else { Step::Run }
}

fn as_runner(seen: &Seen, me: &str, kept: Option<&Kept>) -> Step {
    let Some(run) = seen.run.as_ref().filter(|run| run.runner == me) else { return Step::Done };
    match seen.status.as_str() {
        "offered" => Step::Answer,
        "running" if !run.inputs_checked => Step::CheckInputs,
        "running" => made(kept, Step::Commit),
        "revealing" if !run.sealed.revealed => made(kept, Step::Reveal),
        _ => Step::Wait,
    }
}

fn as_challenger(seen: &Seen, kept: Option<&Kept>, accepted: bool) -> Step {
    match (seen.status.as_str(), seen.own) {
        ("committed", None) if !accepted => Step::Answer,
        ("committed", None) if seen.is_open => made(kept, Step::Commit),
        ("revealing", Some(own)) if !own.revealed => made(kept, Step::Reveal),
        // The window is closed, and nothing was committed in it.
        ("revealing", None) => Step::Done,
        _ => Step::Wait,
    }
}
