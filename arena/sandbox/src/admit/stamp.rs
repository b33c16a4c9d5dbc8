//! What admission found, in the one byte that stands in the cache beside a compiled component.

use crate::game::Game;

/// What a component is, and how it is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// The game it plays; an experiment plays none.
    pub(crate) plays: Option<Game>,
    /// Whether it imports WASI.
    pub(crate) wasi: bool,
}

const WASI: u8 = 0x80;

impl Stamp {
    /// The linker it is seated with: `lean`, or `wasi` if it imports WASI.
    pub(crate) fn linker(self) -> &'static str {
        if self.wasi { "wasi" } else { "lean" }
    }

    pub(crate) fn byte(self) -> u8 {
        let kind = match self.plays {
            None => 0,
            Some(Game::Campus) => 1,
            Some(Game::Matrix) => 2,
        };
        if self.wasi { kind | WASI } else { kind }
    }

    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        let plays = match byte & !WASI {
            0 => None,
            1 => Some(Game::Campus),
            2 => Some(Game::Matrix),
            _ => return None,
        };
        Some(Self { plays, wasi: byte & WASI != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn a_stamp_is_its_byte_and_no_other_byte_is_one() {
        let stamps: Vec<u8> = (0..=u8::MAX).filter(|byte| Stamp::of_byte(*byte).is_some()).collect();
        assert_eq!(stamps, [0, 1, 2, 0x80, 0x81, 0x82]);
        for byte in stamps {
            assert_eq!(Stamp::of_byte(byte).map(Stamp::byte), Some(byte));
        }
    }
}
