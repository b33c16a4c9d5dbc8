//! The campus as the server plays it: packs on a shelf, turns that are stepped, stories that are told again,
//! logs that are checked.
//!
//! A person at a form and an agent at the API go through the same `commit`. What a turn comes to is the
//! engine's to say; here it is only asked, outside the writer, from the actions so far. A log is told again by
//! playing it again, which takes a microsecond a turn, so nothing is kept between two pages.

mod check;
mod commit;
mod shelf;
mod step;
mod story;

pub(crate) use check::check;
pub(crate) use commit::{commit, read_action};
pub use shelf::{Published, Shelf, ShelfError, TURNS_MAX};
pub(crate) use step::{Reach, Step, metrics_json, rebuild};
pub(crate) use story::{Story, log_bytes, now, story};
