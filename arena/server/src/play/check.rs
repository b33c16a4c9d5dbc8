//! Whether a log is what its own actions come to, on the server, with the engine that everybody has.

use std::sync::Arc;

use arena_engine::campus::{self, Checked};

use super::shelf::Shelf;
use crate::problem::Problem;

/// Replays a log against its pack, which has to be one of the shelf.
pub(crate) fn check(bytes: &[u8], shelf: &Shelf) -> Result<Checked, Problem> {
    let checked = campus::check(bytes, |name| {
        let published = shelf.all().iter().find(|it| name.means(&it.pack))?;
        Some(Arc::clone(&published.pack))
    });
    checked.map_err(|why| Problem::new(why.code(), why))
}
