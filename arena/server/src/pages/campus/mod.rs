//! The campus on pages: the seat of a person, the replay of a turn, two episodes side by side, a pack.

mod own_check;
mod packs;
mod replay;
mod seat;
mod timeline;
mod turn;
mod versus;
mod words;

pub(crate) use packs::{chooser, key_page, pack_page};
pub(crate) use replay::{Proof, Told, episode_chart, episode_page, replay_page};
pub(crate) use seat::{Faulty, Seat, seat_page};
pub(crate) use versus::versus_page;

/// What a form carries: the token of the session. Without one there is nothing that another site could use,
/// and the handler asks where the form came from.
pub(crate) fn token<'a>(viewer: Option<crate::pages::Viewer<'a>>) -> &'a str {
    viewer.map_or("none", |viewer| viewer.csrf)
}
