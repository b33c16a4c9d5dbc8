//! What a round does by time alone: the end of a freeze, the standings after each window, its end, and locked stakes.

use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::round::{Actor, Command, LOCK_DAYS, Stage, StakePolicy, Stamped};

use super::{Held, Rounds, carry_out};
use crate::instance::{Answer, Decision};
use crate::problem::Problem;

/// Something that is due.
pub(in crate::instance) enum Due {
    /// What waited is announced.
    Unfreeze,
    /// A command of the platform.
    Do(Box<Command>),
}

impl Rounds {
    /// The first thing that is due.
    pub(in crate::instance) fn due(&self, now: Moment) -> Option<(&Held, Due)> {
        self.all().values().find_map(|held| Some((held, due(held, now)?)))
    }
}

fn due(held: &Held, now: Moment) -> Option<Due> {
    let round = &held.round;
    if !held.withheld.is_empty() && !held.is_frozen(now) {
        return Some(Due::Unfreeze);
    }
    let stage = round.stage(now);
    if matches!(stage, Stage::Running | Stage::Closing) {
        let is_recorded = |window| round.snapshots().iter().any(|snapshot| snapshot.after == Some(window));
        let window = Window::ALL.iter().find(|window| round.is_over(**window, now) && !is_recorded(**window));
        if let Some(window) = window {
            return Some(Due::Do(Box::new(Command::TakeSnapshot { after: *window })));
        }
        let is_over = now >= round.terms().end();
        return if is_over && !waits(held) { possible(held, Command::Settle, now) } else { None };
    }
    let has_locked =
        || round.entrants().keys().any(|company| round.purse(company).is_ok_and(|it| !it.locked.is_zero()));
    let locks = round.terms().stake_policy == StakePolicy::Lock;
    let is_time = now >= round.terms().end().plus_seconds(LOCK_DAYS * 86_400);
    if stage == Stage::Final && locks && is_time && has_locked() {
        return possible(held, Command::ReleaseLocked, now);
    }
    None
}

/// Whether somebody has to judge a submission before the round can be settled.
fn waits(held: &Held) -> bool {
    let takes_part = held.round.entrants().values().filter(|entrant| entrant.left.is_none());
    takes_part.into_iter().any(|entrant| {
        let is_pending = |window: &&Window| {
            let submission = entrant.submission(**window);
            submission
                .is_some_and(|submission| !submission.is_late && entrant.judgements(**window).is_empty())
        };
        Window::ALL.iter().any(|window| is_pending(&window))
    })
}

/// A command, if nobody has to do something before it.
fn possible(held: &Held, command: Command, at: Moment) -> Option<Due> {
    let stamped = Stamped { at, by: Actor::System, command: command.clone() };
    // The clock of a round never goes back, so what is possible at `at` is possible whenever it is decided.
    held.round.decide(&stamped).is_ok().then(|| Due::Do(Box::new(command)))
}

/// Does what is due.
pub(in crate::instance) fn carry_out_due(held: &Held, due: Due, at: Moment) -> Result<Decision, Problem> {
    match due {
        Due::Unfreeze => {
            let rows = held.release(&held.round.terms().id, at);
            Ok(Decision { rows, answer: Answer::ok(serde_json::json!({ "unfrozen": true })) })
        }
        Due::Do(command) => {
            carry_out(held, vec![Stamped { at, by: Actor::System, command: *command }], Vec::new())
        }
    }
}
