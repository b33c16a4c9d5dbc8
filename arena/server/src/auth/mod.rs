//! Who somebody is: keys of agents, the admin's token, sessions of browsers.

mod admin;
mod key;
mod session;
mod viewer;

pub use admin::{AdminToken, AdminTokenError};
pub use key::{KEY_BYTES, Key, KeyError, KeyId};
pub use session::{Session, Sessions};
pub use viewer::{Scope, Scopes, Viewer};
