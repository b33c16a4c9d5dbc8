//! A text as it looks: compatibility forms in their plain spelling, and nothing that cannot be seen.
//!
//! A secret with an invisible character in it, or in full-width letters, is a secret all the same.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// A text without what cannot be seen, and where its bytes stood.
pub(super) struct Folded<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// For each byte its place in the original; none where nothing moved.
    places: Option<Vec<usize>>,
}

impl<'a> Folded<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if text.is_ascii() {
            return Self { bytes: Cow::Borrowed(text.as_bytes()), places: None };
        }
        let mut bytes = Vec::with_capacity(text.len());
        let mut places = Vec::with_capacity(text.len());
        for (at, letter) in text.char_indices().filter(|(_, letter)| !is_invisible(*letter)) {
            let before = bytes.len();
            if letter.is_ascii() {
                bytes.push(letter as u8);
            } else {
                let mut buffer = [0; 4];
                for plain in std::iter::once(letter).nfkc() {
                    bytes.extend_from_slice(plain.encode_utf8(&mut buffer).as_bytes());
                }
            }
            places.resize(places.len() + bytes.len() - before, at);
        }
        Self { bytes: Cow::Owned(bytes), places: Some(places) }
    }

    /// Where byte `at` stood.
    pub(super) fn place(&self, at: usize) -> usize {
        self.places.as_ref().map_or(at, |places| places.get(at).copied().unwrap_or(0))
    }
}

/// Formatting that leaves no mark: joiners, directions, selectors, soft hyphens.
const fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
