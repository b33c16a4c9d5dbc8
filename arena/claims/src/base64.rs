//! Standard base64 with padding, in the one spelling there is of each text.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4usize {
            let letter = (bits >> (18usize.saturating_sub(i.saturating_mul(6)))) & 63;
            let there = i <= group.len();
            text.push(if there { char::from(LETTERS[letter as usize]) } else { '=' });
        }
    }
    text
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let padding = group.iter().rev().take_while(|letter| **letter == b'=').count();
        if group.len() != 4 || padding > 2 {
            return None;
        }
        let kept = 4usize.saturating_sub(padding);
        let mut bits = 0u32;
        for (i, digit) in group.iter().enumerate() {
            let value = if i < kept { LETTERS.iter().position(|letter| letter == digit)? } else { 0 };
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        let [_, whole @ ..] = bits.to_be_bytes();
        bytes.extend_from_slice(&whole[..3usize.saturating_sub(padding)]);
    }
    // Bits under the padding and padding before the end would be second spellings.
    (encode(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn published_vectors_come_out_both_ways() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn every_byte_survives_and_second_spellings_do_not() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        for wrong in ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9v\n", "Zm9-"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
