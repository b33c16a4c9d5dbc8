//! Where a guest's luck comes from: a digest, so that it is the same in every replay.

use arena_canon::{Digest, Preimage};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seed was neither 64 hexadecimal digits nor an integer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a seed is an integer from 0 to {max} or 64 lower-case hexadecimal digits", max = u64::MAX)]
pub struct SeedError;

/// A seed as people type it: 64 hexadecimal digits as they are, or an integer `n` as
/// `SHA256(lp("ARENA-PLAY-V1") || u64(n))`.
pub fn seed(text: &str) -> Result<Digest, SeedError> {
    if let Ok(digest) = text.parse() {
        return Ok(digest);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let n: u64 = if digits { text.parse().map_err(|_| SeedError)? } else { return Err(SeedError) };
    Ok(Preimage::new("ARENA-PLAY-V1").number(n).digest())
}

/// An endless stream of bytes.
pub(crate) type Stream = ChaCha20Rng;

/// The two streams a guest may draw from.
pub(crate) struct Luck {
    pub(crate) secure: Stream,
    pub(crate) insecure: Stream,
}

impl Luck {
    /// The streams of one seat of one match.
    pub(crate) fn new(match_seed: Digest, seat: u64) -> Self {
        let stream = |name: &str| {
            let key = Preimage::new(name).bytes(match_seed.as_bytes()).number(seat).digest();
            Stream::from_seed(*key.as_bytes())
        };
        Self { secure: stream("ARENA-GUEST-V1"), insecure: stream("ARENA-GUEST-INSECURE-V1") }
    }
}

/// The next `length` bytes of a stream.
pub(crate) fn draw(stream: &mut Stream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    stream.fill_bytes(&mut bytes);
    bytes
}

/// The next eight bytes of a stream as a number.
pub(crate) fn draw_u64(stream: &mut Stream) -> u64 {
    stream.next_u64()
}

#[cfg(test)]
mod tests {
    use super::{Luck, draw, seed};
    use arena_canon::Digest;

    #[test]
    fn integers_and_digests_are_seeds_and_nothing_else() {
        let zero = Digest::of(b"\x00\x00\x00\x0dARENA-PLAY-V1\0\0\0\0\0\0\0\0");
        assert_eq!(seed("0"), Ok(zero));
        assert_eq!(seed(&zero.to_string()), Ok(zero));
        assert_ne!(seed("1"), Ok(zero));
        for wrong in ["", "-1", "+1", "1.5", "18446744073709551616", "abc", &"A".repeat(64)] {
            assert!(seed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seats_and_streams_differ_and_repeat() {
        let first = |seed, seat| {
            let mut luck = Luck::new(seed, seat);
            (draw(&mut luck.secure, 8), draw(&mut luck.insecure, 8))
        };
        let seed = Digest::of(b"a match");
        assert_eq!(first(seed, 0), first(seed, 0));
        assert_ne!(first(seed, 0), first(seed, 1));
        assert_ne!(first(seed, 0), first(Digest::of(b"another"), 0));
        assert_ne!(first(seed, 0).0, first(seed, 0).1);
    }
}
