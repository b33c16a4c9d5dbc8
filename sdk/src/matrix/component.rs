//! The border: one strategy per component instance, driven by the two functions the host calls.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::bindings::exports::arena::matrix::player::Guest;
use super::{Brief, Move, Observation, Strategy};

thread_local! {
    /// The game this instance plays. An instance lives for one game and has one thread.
    static SEAT: RefCell<Option<Box<dyn Strategy>>> = const { RefCell::new(None) };
}

/// Makes the exports of a component out of a [`Strategy`]; see [`export_matrix!`](crate::export_matrix).
pub struct Component<S>(PhantomData<S>);

impl<S: Strategy> Guest for Component<S> {
    fn brief(brief: Brief) {
        #[cfg(target_arch = "wasm32")]
        {
            crate::log::send_to(keep_line);
            crate::panics::report();
        }
        SEAT.set(Some(Box::new(S::brief(&brief))));
    }

    /// Moves, or cooperates if the host never gave a brief: without one there is no strategy to ask.
    fn act(now: Observation) -> Move {
        SEAT.with_borrow_mut(|seat| seat.as_mut().map_or(Move::Cooperate, |strategy| strategy.act(&now)))
    }
}

#[cfg(target_arch = "wasm32")]
fn keep_line(level: crate::log::Level, text: &str) {
    use super::bindings::arena::matrix::host;
    use crate::log::Level;

    let level = match level {
        Level::Debug => host::Level::Debug,
        Level::Info => host::Level::Info,
        Level::Warn => host::Level::Warn,
        Level::Error => host::Level::Error,
    };
    host::log(level, text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::testing;

    /// Cooperates until it has made as many moves as the brief has points for a reward.
    struct Patient {
        moves_left: i32,
    }

    impl Strategy for Patient {
        fn brief(brief: &Brief) -> Self {
            Patient { moves_left: brief.r }
        }

        fn act(&mut self, _seen: &Observation) -> Move {
            self.moves_left -= 1;
            if self.moves_left >= 0 { Move::Cooperate } else { Move::Defect }
        }
    }

    type Played = Component<Patient>;

    #[test]
    fn one_strategy_plays_from_brief_to_last_round() {
        Played::brief(Brief { r: 2, ..testing::brief() });
        let moves = [0, 1, 2, 3].map(|round| Played::act(testing::round(round).build()));
        assert_eq!(moves, [Move::Cooperate, Move::Cooperate, Move::Defect, Move::Defect]);
        Played::brief(Brief { r: 1, ..testing::brief() });
        let moves = [0, 1].map(|round| Played::act(testing::round(round).build()));
        assert_eq!(moves, [Move::Cooperate, Move::Defect], "a new brief is a new game");
    }

    #[test]
    fn without_a_brief_it_cooperates() {
        assert_eq!(Played::act(testing::round(0).build()), Move::Cooperate);
    }
}
