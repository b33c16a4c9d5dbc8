//! A whole episode in one call, for each game.

mod campus;
mod matrix;

pub use campus::{Played, play};
pub use matrix::{PlayedMatrix, matrix_play};
