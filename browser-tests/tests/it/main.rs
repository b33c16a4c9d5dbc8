//! The pages in a real browser, over the real server.

mod play;
mod season;
mod verify;
