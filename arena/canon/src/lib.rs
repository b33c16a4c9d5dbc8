//! What everything that is recorded is made of: canonical JSON (RFC 8785) and digests.
//!
//! Nothing here knows a game, a file or a clock.

mod digest;
pub mod json;

pub use digest::{Digest, ParseDigestError};
