//! The border: one strategy per component instance, driven by the three functions the host calls.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::bindings::arena::campus::types::{self as wire, Notice};
use super::bindings::exports::arena::campus::player::Guest;
use super::{Action, Brief, Observation, Strategy};

thread_local! {
    /// The game this instance plays. An instance lives for one episode and has one thread.
    static SEAT: RefCell<Option<Seat>> = const { RefCell::new(None) };
}

struct Seat {
    strategy: Box<dyn Strategy>,
    observation: Observation,
}

/// Makes the exports of a component out of a [`Strategy`]; see [`export_campus!`](crate::export_campus).
pub struct Component<S>(PhantomData<S>);

impl<S: Strategy> Guest for Component<S> {
    fn brief(brief: Brief) {
        #[cfg(target_arch = "wasm32")]
        {
            crate::log::send_to(keep_line);
            crate::panics::report();
        }
        let strategy = Box::new(S::brief(&brief));
        let observation = Observation::before_play(brief);
        SEAT.set(Some(Seat { strategy, observation }));
    }

    fn notice(notice: Notice) {
        SEAT.with_borrow_mut(|seat| {
            if let Some(seat) = seat {
                seat.observation.hear(notice);
            }
        });
    }

    /// Acts, or plays the empty action if the host never gave a brief: without one there is no
    /// strategy to ask.
    fn act(now: wire::Observation) -> Action {
        SEAT.with_borrow_mut(|seat| {
            let Some(Seat { strategy, observation }) = seat else {
                return Action::default();
            };
            observation.begin_turn(&now);
            let action = strategy.act(observation);
            observation.end_turn();
            action
        })
    }
}

#[cfg(target_arch = "wasm32")]
fn keep_line(level: crate::log::Level, text: &str) {
    use super::bindings::arena::campus::host;
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
mod tests;
