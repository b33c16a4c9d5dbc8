//! The sandbox under attack: hostile guests, hostile components, a hostile machine.

mod guest;
mod hostile;
