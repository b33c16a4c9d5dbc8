//! Does nothing: what everyone else is measured against.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Plays the empty action.
pub struct Idle;

impl Strategy for Idle {
    fn brief(_brief: &Brief) -> Self {
        Idle
    }

    fn act(&mut self, _seen: &Observation) -> Action {
        Action::default()
    }
}

arena_sdk::export_campus!(Idle);
