use arena_canon::Digest;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The words a seed gives: ChaCha20 keystream with the seed as the key, counter and nonce 0, eight bytes
/// at a time, little-endian.
///
/// Only whole words are ever taken, and each is counted, so that anybody finds the same ones.
#[derive(Debug, Clone)]
pub struct Words {
    stream: ChaCha20Rng,
    consumed: u64,
}

impl Words {
    /// The stream of `seed`, from its start.
    pub fn new(seed: Digest) -> Self {
        Self { stream: ChaCha20Rng::from_seed(*seed.as_bytes()), consumed: 0 }
    }

    /// The next word.
    pub fn next_word(&mut self) -> u64 {
        self.consumed += 1;
        self.stream.next_u64()
    }

    /// A number from 0 to `n` - 1, each as likely as the other.
    ///
    /// Words from the last incomplete run of `n` are passed over. At least one word is consumed, also for
    /// `n` = 1.
    ///
    /// # Panics
    /// If `n` is 0 or more than 2^63.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!((1..=1 << 63).contains(&n), "a bound is from 1 to 2^63, this is {n}");
        // 2^64 mod n, without 2^64: what the last incomplete run has. 0: there is none.
        let rest = n.wrapping_neg() % n;
        loop {
            let word = self.next_word();
            if rest == 0 || word < rest.wrapping_neg() {
                return word % n;
            }
        }
    }

    /// Words taken so far.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }
}
