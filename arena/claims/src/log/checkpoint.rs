//! Checkpoints: origin, size and root in a signed note (c2sp.org/tlog-checkpoint, c2sp.org/signed-note).
//!
//! There are two signatures of the log's key: the plain one, and one with the time (c2sp.org/tlog-cosignature), which a
//! checkpoint itself does not tell.

use arena_canon::Digest;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

use crate::base64;
use crate::envelope::{PublicKey, SecretKey};

/// Most bytes of a note.
pub const NOTE_BYTES_MAX: usize = 16 << 10;
/// Most signatures that are looked at.
const SIGNATURES_MAX: usize = 16;
const EM_DASH: &str = "\u{2014} ";
const PLAIN: u8 = 0x01;
const TIMED: u8 = 0x04;

/// The name of an instance's log, which is the name of its key as well.
pub fn origin(instance: Digest) -> String {
    format!("arena-claims/{instance}")
}

/// A checkpoint as it is read. It is worth nothing before [`Checkpoint::verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Of which log.
    pub origin: String,
    /// How many events it covers.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// What is signed.
    text: String,
    signatures: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    name: String,
    key: [u8; 4],
    signature: Vec<u8>,
}

/// Why a text is no checkpoint of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CheckpointError {
    #[error("it is no signed note: {0}")]
    NoNote(&'static str),
    #[error("it is no checkpoint: {0}")]
    NoCheckpoint(&'static str),
    #[error("it is of the log `{have}`, not of `{need}`")]
    OtherOrigin { have: String, need: String },
    #[error("it has no signature of the key {key}")]
    Unsigned { key: PublicKey },
    #[error("a signature of the key {key} does not hold")]
    BadSignature { key: PublicKey },
    #[error("no signature tells its time")]
    Untimed,
}

/// The text of a checkpoint.
fn text(origin: &str, size: u64, root: Digest) -> String {
    format!("{origin}\n{size}\n{}\n", base64::encode(root.as_bytes()))
}

/// What is signed with the time.
fn timed(text: &str, at: u64) -> String {
    format!("cosignature/v1\ntime {at}\n{text}")
}

pub(super) fn key_id(name: &str, kind: u8, key: PublicKey) -> [u8; 4] {
    let digest = Digest::of_parts(&[name.as_bytes(), b"\n", &[kind], key.as_bytes()]);
    let [a, b, c, d, ..] = *digest.as_bytes();
    [a, b, c, d]
}

/// The key of a log as programs for signed notes take it: its name, its id and itself.
pub fn verifier(origin: &str, key: PublicKey) -> String {
    let id: String = key_id(origin, PLAIN, key).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{origin}+{id}+{}", base64::encode(&[&[PLAIN][..], key.as_bytes()].concat()))
}

impl Checkpoint {
    /// The note of a log at a size, signed at a time.
    pub fn sign(origin: &str, size: u64, root: Digest, at: u64, key: &SecretKey) -> String {
        let (text, public) = (text(origin, size, root), key.public());
        let signing = SigningKey::from_bytes(&key.seed());
        let sign = |message: &str| signing.sign(message.as_bytes()).to_bytes();
        let plain = [&key_id(origin, PLAIN, public)[..], &sign(&text)].concat();
        let with_time =
            [&key_id(origin, TIMED, public)[..], &at.to_be_bytes(), &sign(&timed(&text, at))].concat();
        let line = |signature: &[u8]| format!("{EM_DASH}{origin} {}\n", base64::encode(signature));
        format!("{text}\n{}{}", line(&plain), line(&with_time))
    }

    /// Reads a note.
    pub fn read(note: &str) -> Result<Self, CheckpointError> {
        use CheckpointError::{NoCheckpoint, NoNote};
        if note.len() > NOTE_BYTES_MAX {
            return Err(NoNote("more than 16 KiB"));
        }
        if note.chars().any(|c| c < ' ' && c != '\n') {
            return Err(NoNote("a control character"));
        }
        let (text, below) = note.rsplit_once("\n\n").ok_or(NoNote("no empty line before its signatures"))?;
        let lines = below.strip_suffix('\n').ok_or(NoNote("it does not end with a line break"))?;
        let signatures: Option<Vec<Line>> = lines.split('\n').map(line).collect();
        let signatures = signatures.ok_or(NoNote("a line that is no signature"))?;
        if signatures.len() > SIGNATURES_MAX {
            return Err(NoNote("more than 16 signatures"));
        }
        let text = format!("{text}\n");
        let mut parts = text.lines();
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let origin = next().ok_or(NoCheckpoint("no origin"))?.to_owned();
        let size = next().and_then(size_of).ok_or(NoCheckpoint("the second line is no size"))?;
        let root = next().and_then(root_of).ok_or(NoCheckpoint("the third line is no root"))?;
        if text.lines().skip(3).any(str::is_empty) {
            return Err(NoCheckpoint("an empty line in it"));
        }
        Ok(Self { origin, size, root, text, signatures })
    }

    /// Checks that it is of this log and signed by its key; when, in Unix time. Signatures of others are passed over.
    pub fn verify(&self, origin: &str, key: PublicKey) -> Result<u64, CheckpointError> {
        if self.origin != origin {
            let (have, need) = (self.origin.clone(), origin.to_owned());
            return Err(CheckpointError::OtherOrigin { have, need });
        }
        let bad = || CheckpointError::BadSignature { key };
        let holds = |message: &str, signature: &[u8]| {
            let verifying = VerifyingKey::from_bytes(key.as_bytes()).ok()?;
            let signature = Signature::from_slice(signature).ok()?;
            verifying.verify_strict(message.as_bytes(), &signature).ok()
        };
        let (mut signed, mut at) = (false, None);
        for line in self.signatures.iter().filter(|line| line.name == origin) {
            if line.key == key_id(origin, PLAIN, key) {
                holds(&self.text, &line.signature).ok_or_else(bad)?;
                signed = true;
            } else if line.key == key_id(origin, TIMED, key) {
                let (time, signature) = line.signature.split_first_chunk::<8>().ok_or_else(bad)?;
                let time = u64::from_be_bytes(*time);
                holds(&timed(&self.text, time), signature).ok_or_else(bad)?;
                at = Some(time);
            }
        }
        match (signed, at) {
            (false, _) => Err(CheckpointError::Unsigned { key }),
            (true, None) => Err(CheckpointError::Untimed),
            (true, Some(at)) => Ok(at),
        }
    }
}

fn line(text: &str) -> Option<Line> {
    let (name, signature) = text.strip_prefix(EM_DASH)?.split_once(' ')?;
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '+') {
        return None;
    }
    let bytes = base64::decode(signature)?;
    let (key, signature) = bytes.split_first_chunk::<4>()?;
    Some(Line { name: name.to_owned(), key: *key, signature: signature.to_vec() })
}

/// Without leading zeroes.
fn size_of(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|size| size.to_string() == text)
}

fn root_of(text: &str) -> Option<Digest> {
    let bytes: [u8; 32] = base64::decode(text)?.try_into().ok()?;
    Some(Digest::from_bytes(bytes))
}
