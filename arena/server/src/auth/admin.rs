//! The admin's token: long, never a sample, compared in constant time.

use arena_canon::Digest;
use subtle::ConstantTimeEq;

/// Bytes that a token has at least.
const TOKEN_BYTES_MIN: usize = 32;
/// And at most: a header that is longer is not looked at.
const TOKEN_BYTES_MAX: usize = 512;
/// Words of tokens that somebody copied from a document.
const SAMPLES: [&str; 6] = ["changeme", "change-me", "example", "password", "secret", "your-token"];

/// The digest of the token.
#[derive(Clone)]
pub struct AdminToken(Digest);

/// Why a token is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdminTokenError {
    /// Too short or too long.
    #[error("the admin token has {bytes} bytes; it needs {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX}")]
    Length {
        /// Of the token.
        bytes: usize,
    },
    /// Not fit for a header.
    #[error("the admin token has characters that a header cannot carry; use visible ASCII")]
    Characters,
    /// Copied from a document, or typed without thought.
    #[error("the admin token is a sample; make one of random bytes, such as by `openssl rand -hex 32`")]
    Sample,
}

impl AdminToken {
    /// A token, if it can be one.
    pub fn new(token: &str) -> Result<Self, AdminTokenError> {
        let token = token.trim_end_matches(['\r', '\n']);
        if !(TOKEN_BYTES_MIN..=TOKEN_BYTES_MAX).contains(&token.len()) {
            return Err(AdminTokenError::Length { bytes: token.len() });
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(AdminTokenError::Characters);
        }
        let lower = token.to_ascii_lowercase();
        let letters: std::collections::BTreeSet<u8> = token.bytes().collect();
        if letters.len() < 8 || SAMPLES.iter().any(|sample| lower.contains(sample)) {
            return Err(AdminTokenError::Sample);
        }
        Ok(Self(Digest::of(token.as_bytes())))
    }

    /// Whether this is it. Both sides are digests, so the time does not depend on the token.
    pub fn is(&self, given: &str) -> bool {
        Digest::of(given.as_bytes()).as_bytes().ct_eq(self.0.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_sample_tokens_are_refused() {
        let hex = "9f3c1d5e7a8b0c2d4e6f8a1b3c5d7e9f";
        assert!(AdminToken::new(hex).unwrap().is(hex));
        assert!(!AdminToken::new(hex).unwrap().is("9f3c1d5e7a8b0c2d4e6f8a1b3c5d7e90"));
        assert_eq!(AdminToken::new(&hex[..31]).err(), Some(AdminTokenError::Length { bytes: 31 }));
        let samples = ["a".repeat(40), "changeme-changeme-changeme-changeme".into(), "EXAMPLE".repeat(6)];
        for sample in samples {
            assert_eq!(AdminToken::new(&sample).err(), Some(AdminTokenError::Sample), "{sample}");
        }
        let spaced = format!("{hex} {hex}");
        assert_eq!(AdminToken::new(&spaced).err(), Some(AdminTokenError::Characters));
    }
}
