//! The server as its clients see it: every route through all layers, over a real store.

mod identity;
mod support;
