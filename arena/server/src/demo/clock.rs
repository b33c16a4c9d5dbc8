//! The clock of the season, which is set by hand, and luck that is counted.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use arena_canon::Digest;
use arena_contests::Moment;

use crate::outside::Outside;

/// A time that walks.
pub(super) struct Walk {
    ms: AtomicI64,
    drawn: AtomicU64,
    /// Bytes that nobody knows, for the server's own keys alone.
    key: [u8; 64],
}

impl Walk {
    pub(super) fn from(start: Moment, key: [u8; 64]) -> Self {
        Self { ms: AtomicI64::new(start.unix_ms()), drawn: AtomicU64::new(0), key }
    }

    pub(super) fn set(&self, at: Moment) {
        self.ms.store(at.unix_ms(), Ordering::SeqCst);
    }
}

impl Outside for Walk {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(self.ms.load(Ordering::SeqCst))
    }

    /// It is counted: the same season has the same luck.
    fn luck(&self) -> [u8; 64] {
        let n = self.drawn.fetch_add(1, Ordering::SeqCst);
        let mut luck = [0; 64];
        for (half, place) in luck.chunks_exact_mut(32).zip(0_u64..) {
            let digest = Digest::of_parts(&[b"arena demo luck", &n.to_be_bytes(), &place.to_be_bytes()]);
            half.copy_from_slice(digest.as_bytes());
        }
        luck
    }

    /// The server's keys outlive the season.
    fn secret(&self) -> [u8; 64] {
        self.key
    }
}
