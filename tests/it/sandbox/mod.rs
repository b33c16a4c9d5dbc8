//! The sandbox under attack: hostile guests, hostile components, a hostile machine.

pub(crate) mod guest;
mod hostile;
