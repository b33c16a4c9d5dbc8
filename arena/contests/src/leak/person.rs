//! Data of persons: what has a check digit is known by it, and the rest is for somebody to look at.

/// Whether `text` is an IBAN: a country, two check digits, and a remainder of 1 by 97.
pub(super) fn is_iban(text: &[u8]) -> bool {
    let plain: Vec<u8> = text.iter().copied().filter(|byte| *byte != b' ').collect();
    let Some(length) = plain.get(..2).and_then(iban_length) else { return false };
    if plain.len() != length {
        return false;
    }
    let digits = |byte: &u8| match byte {
        b'0'..=b'9' => (10, u32::from(byte - b'0')),
        b'A'..=b'Z' => (100, u32::from(byte - b'A') + 10),
        _ => (1, 0),
    };
    let moved = plain[4..].iter().chain(&plain[..4]);
    moved.map(digits).fold(0, |rest, (factor, value)| (rest * factor + value) % 97) == 1
}

/// Characters of an IBAN of a country.
fn iban_length(country: &[u8]) -> Option<usize> {
    Some(match country {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"FO" | b"GL" | b"NL" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"XK" => 20,
        b"CH" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" | b"VA" => 22,
        b"AE" | b"GI" | b"IL" => 23,
        b"AD" | b"CZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK" | b"TN" => 24,
        b"PT" => 25,
        b"IS" | b"TR" => 26,
        b"FR" | b"GR" | b"IT" | b"MC" | b"SM" => 27,
        b"AL" | b"AZ" | b"CY" | b"HU" | b"LB" | b"PL" => 28,
        b"QA" | b"UA" => 29,
        b"MT" => 31,
        _ => return None,
    })
}

/// Whether `text` is the number of a payment card: 13 to 19 digits of a card's range, and Luhn's sum.
pub(super) fn is_card(text: &[u8]) -> bool {
    let digits = digits(text);
    let of_a_card = matches!(digits.first(), Some(2..=6)) && (13..=19).contains(&digits.len());
    of_a_card && !digits.iter().all(|digit| *digit == digits[0]) && !is_test_card(&digits) && luhn(&digits)
}

/// Numbers that payment processors publish for tests.
fn is_test_card(digits: &[u8]) -> bool {
    const PUBLISHED: [&[u8]; 8] = [
        b"4242424242424242",
        b"4111111111111111",
        b"4000056655665556",
        b"4012888888881881",
        b"5555555555554444",
        b"5105105105105100",
        b"378282246310005",
        b"6011111111111117",
    ];
    PUBLISHED.iter().any(|known| known.iter().map(|digit| digit - b'0').eq(digits.iter().copied()))
}

fn luhn(digits: &[u8]) -> bool {
    let value = |(i, digit): (usize, &u8)| match i % 2 {
        0 => u32::from(*digit),
        _ => u32::from(*digit) * 2 / 10 + u32::from(*digit) * 2 % 10,
    };
    digits.iter().rev().enumerate().map(value).sum::<u32>() % 10 == 0
}

/// Whether `text` is a personal code of Lithuania: sex and century, a day that exists, a number, and
/// a check digit.
pub(super) fn is_personal_code(text: &[u8]) -> bool {
    let digits = digits(text);
    let [first, _, _, m1, m2, d1, d2, .., last] = digits[..] else { return false };
    let (month, day) = (m1 * 10 + m2, d1 * 10 + d2);
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    if digits.len() != 11 || text.len() != 11 || !(1..=6).contains(&first) || !is_date {
        return false;
    }
    let rest = |shift: u32| {
        let weights = (0..10).map(|i| (i + shift) % 9 + 1);
        digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum::<u32>() % 11
    };
    let check = match (rest(0), rest(2)) {
        (10, 10) => 0,
        (10, second) => second,
        (first, _) => first,
    };
    check == u32::from(last)
}

fn digits(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all values of one digit, the check accepts exactly one.
    fn one_of_ten(template: &str, at: usize, check: fn(&[u8]) -> bool) {
        let right = (b'0'..=b'9').filter(|digit| {
            let mut text = template.as_bytes().to_vec();
            text[at] = *digit;
            check(&text)
        });
        assert_eq!(right.count(), 1, "{template}");
    }

    #[test]
    fn published_examples_are_known() {
        assert!(is_iban(b"GB82 WEST 1234 5698 7654 32"));
        assert!(is_iban(b"LT121000011101001000"));
        assert!(!is_iban(b"GB82 WEST 1234 5698 7654 33"));
        assert!(!is_iban(b"XX82123456789012345"));
        assert!(is_card(b"4539 1488 0343 6467"));
        assert!(!is_card(b"4242 4242 4242 4242") && !is_card(b"4539 1488 0343 6468"));
        assert!(!is_card(b"0000000000000000"));
        assert!(is_personal_code(b"33309240064"));
        assert!(!is_personal_code(b"33309240065") && !is_personal_code(b"33313240064"));
    }

    #[test]
    fn a_check_digit_has_one_value() {
        one_of_ten("4539148803436467", 15, is_card);
        one_of_ten("33309240064", 10, is_personal_code);
        one_of_ten("LT121000011101001000", 19, is_iban);
    }
}
