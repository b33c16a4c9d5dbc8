//! Luck for simulations and tests. Never for a draw.

/// SplitMix64: ten lines that no upgrade of a crate changes.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 below 0. The bias is one in 2^64 / `bound`, which no simulation sees.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_word().checked_rem(bound).unwrap_or_default()
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, ppm: u64) -> bool {
        self.below(1_000_000) < ppm
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix;

    #[test]
    fn the_published_stream_comes_out() {
        let mut luck = SplitMix::new(1_234_567);
        let words: Vec<u64> = (0..3).map(|_| luck.next_word()).collect();
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
