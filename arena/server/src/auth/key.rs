//! Keys: `ak_<id>_<secret>_<check>`. The prefix is for scanners of secrets, the id for the look-up, the check so
//! that a typing error is told without a look-up.

use arena_canon::Digest;
use subtle::ConstantTimeEq;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_CHARS: usize = 10;
const SECRET_CHARS: usize = 32;
const CHECK_CHARS: usize = 6;

/// Random bytes that a key is made of.
pub const KEY_BYTES: usize = 48;

/// The public part of a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(String);

impl KeyId {
    /// An id that somebody wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == ID_CHARS && text.bytes().all(|byte| BASE32.contains(&byte));
        is_id.then(|| Self(text.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A whole key. It is shown once; only its digest is kept.
#[derive(Clone)]
pub struct Key {
    id: KeyId,
    token: String,
}

/// Why a text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not of the form of one.
    #[error("a key has the form ak_<{ID_CHARS}>_<{SECRET_CHARS}>_<{CHECK_CHARS}>")]
    Form,
    /// A letter is wrong.
    #[error("the last {CHECK_CHARS} letters do not fit the rest; a letter is wrong")]
    Check,
}

impl Key {
    /// A key of random bytes.
    pub fn from_random(bytes: &[u8; KEY_BYTES]) -> Self {
        let id: String = bytes.iter().take(ID_CHARS).map(|byte| letter(BASE32, u64::from(*byte))).collect();
        // 62 letters do not divide 256: each letter is read from a number far larger than its alphabet.
        let mut number = [0_u8; 16];
        let mut secret = String::with_capacity(SECRET_CHARS);
        for half in bytes[16..].chunks(16) {
            number[..half.len()].copy_from_slice(half);
            let mut rest = u128::from_be_bytes(number);
            for _ in 0..SECRET_CHARS / 2 {
                secret.push(letter(BASE62, (rest % 62) as u64));
                rest /= 62;
            }
        }
        let body = format!("ak_{id}_{secret}");
        let token = format!("{body}_{}", check_of(&body));
        Self { id: KeyId(id), token }
    }

    /// A key that somebody sent.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let mut parts = text.split('_');
        let (Some("ak"), Some(id), Some(secret), Some(check), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyError::Form);
        };
        let is_secret = secret.len() == SECRET_CHARS && secret.bytes().all(|byte| BASE62.contains(&byte));
        let id = KeyId::parse(id).filter(|_| is_secret).ok_or(KeyError::Form)?;
        let body = format!("ak_{}_{secret}", id.as_str());
        if check_of(&body) != check {
            return Err(KeyError::Check);
        }
        Ok(Self { id, token: text.to_owned() })
    }

    /// Its public part.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// The whole, to be shown once.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What is kept of it.
    pub fn sha256(&self) -> Digest {
        Digest::of(self.token.as_bytes())
    }

    /// Whether this is the key of a digest, in constant time.
    pub fn is_of(&self, kept: &Digest) -> bool {
        self.sha256().as_bytes().ct_eq(kept.as_bytes()).into()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({}, secret)", self.id.as_str())
    }
}

fn letter(alphabet: &[u8], number: u64) -> char {
    char::from(alphabet[(number % alphabet.len() as u64) as usize])
}

/// CRC-32 in six letters.
fn check_of(body: &str) -> String {
    let mut rest = u64::from(crc32fast::hash(body.as_bytes()));
    let mut letters = [0; CHECK_CHARS];
    for place in letters.iter_mut().rev() {
        *place = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_and_any_wrong_letter_is_told() {
        let bytes: [u8; KEY_BYTES] = std::array::from_fn(|i| (i * 37 + 11) as u8);
        let key = Key::from_random(&bytes);
        let token = key.token().to_owned();
        assert_eq!(token.len(), 3 + 10 + 1 + 32 + 1 + 6);
        assert!(Key::parse(&token).unwrap().is_of(&key.sha256()));
        for place in 0..token.len() {
            let mut wrong = token.clone().into_bytes();
            wrong[place] = if wrong[place] == b'a' { b'b' } else { b'a' };
            let wrong = String::from_utf8(wrong).unwrap();
            assert!(Key::parse(&wrong).is_err(), "{wrong} was taken for a key");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ak", "ak_a_b_c", "sk_aaaaaaaaaa_00000000000000000000000000000000_000000", "ak____"]
        {
            assert_eq!(Key::parse(text).unwrap_err(), KeyError::Form, "{text}");
        }
    }

    #[test]
    fn a_key_never_shows_its_secret_by_accident() {
        let key = Key::from_random(&[7; KEY_BYTES]);
        assert!(!format!("{key:?}").contains(&key.token()[14..]));
    }
}
