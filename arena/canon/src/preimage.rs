use sha2::{Digest as _, Sha256};

use crate::Digest;

/// What is hashed under a label: pieces that cannot be mistaken for each other.
///
/// `lp(b)` is the length of `b` as four bytes, big-endian, and then `b`; the label is the first
/// piece, so that a digest made for one purpose never serves another.
#[derive(Debug, Clone)]
pub struct Preimage(Sha256);

impl Preimage {
    /// Starts with `lp(label)`.
    pub fn new(label: &str) -> Self {
        Self(Sha256::new()).bytes(label.as_bytes())
    }

    /// Appends `lp(bytes)`.
    ///
    /// # Panics
    /// If there are 4 GiB or more of them; nothing that large is hashed as one piece.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).expect("a piece of a preimage is far below 4 GiB");
        self.0.update(length.to_be_bytes());
        self.0.update(bytes);
        self
    }

    /// Appends `n` as eight bytes, big-endian.
    #[must_use]
    pub fn number(mut self, n: u64) -> Self {
        self.0.update(n.to_be_bytes());
        self
    }

    /// The digest of everything appended.
    pub fn digest(self) -> Digest {
        Digest::from_bytes(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::Preimage;
    use crate::Digest;

    #[test]
    fn pieces_are_framed() {
        let by_hand = Digest::of(b"\0\0\0\x01L\0\0\0\x02ab\0\0\0\0\0\0\0\x07");
        assert_eq!(Preimage::new("L").bytes(b"ab").number(7).digest(), by_hand);
        assert_ne!(
            Preimage::new("L").bytes(b"a").bytes(b"b").digest(),
            Preimage::new("L").bytes(b"ab").bytes(b"").digest()
        );
    }
}
