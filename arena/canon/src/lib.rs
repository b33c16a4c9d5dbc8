//! What everything that is recorded is made of: canonical JSON (RFC 8785) and digests.
//!
//! Nothing here knows a game, a file or a clock.

mod digest;
pub mod json;
mod preimage;

pub use digest::{Digest, Hasher, ParseDigestError};
pub use preimage::Preimage;
