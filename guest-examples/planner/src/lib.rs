//! Looks three turns ahead by dynamic programming.
//!
//! The forecast is exact, so within it the planner searches: battery, generator and shedding together,
//! against the orders and appeals that are visible (`search`). What lies beyond is a guess
//! (`outlook`), and serves to say what a full battery and an unused permit are still worth (`stores`).

mod outlook;
mod search;
mod stores;

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Plans afresh on every turn, and remembers nothing.
pub struct Planner;

impl Strategy for Planner {
    fn brief(_brief: &Brief) -> Self {
        Planner
    }

    fn act(&mut self, seen: &Observation) -> Action {
        // An appeal pays for what is done anyway and asks for nothing in return.
        Action { accept_offer: seen.has_offer(), ..search::best_action(seen) }
    }
}

arena_sdk::export_campus!(Planner);

#[cfg(test)]
mod tests;
