/// `bytes` in lower-case hexadecimal digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let pair = |byte: &u8| [byte >> 4, byte & 15].map(|nibble| char::from(DIGITS[usize::from(nibble)]));
    bytes.iter().flat_map(pair).collect()
}

/// The bytes of lower-case hexadecimal digits; nothing if it is another text.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn there_is_one_spelling() {
        assert_eq!(decode("00ff1a"), Some(vec![0, 255, 26]));
        assert_eq!(encode(&[0, 255, 26]), "00ff1a");
        assert_eq!(decode(""), Some(Vec::new()));
        for wrong in ["0", "0g", "FF", "é", "0x00", " 00"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
