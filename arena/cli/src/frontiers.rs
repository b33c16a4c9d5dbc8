//! The least cost anybody can have on a pack, by relief.

use arena_engine::campus::{Pack, Settlement};

pub(crate) fn best_at(_pack: &Pack, _settlement: &Settlement) -> Option<f64> {
    None
}

pub(crate) fn broken_promises(_pack: &Pack) -> Vec<String> {
    Vec::new()
}

pub(crate) fn closeness(_pack: &Pack, _settlement: &Settlement) -> Option<f64> {
    None
}
