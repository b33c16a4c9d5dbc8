//! The iterated 2×2 matrix game: two seats move at once, round after round, and each is paid by both
//! moves. There is no luck, no noise and no history list: who wants to remember, remembers.

mod game;
mod moves;
mod play;
mod rules;

pub use game::{Game, Observation};
pub use moves::{Move, MovesFault, move_string, read_moves, replay, replay_text};
pub use play::{Competitor, play};
pub use rules::{Payoffs, ROUNDS_MAX, Rules, RulesFault};
