//! The keys of this server, by which it signs what it states: credentials, and checkpoints of the log of its claims.
//!
//! They lie in the server's folder as `keys/instance` and `keys/log`, their owner's alone, and are made when the folder
//! is first opened. They are no part of the journal and of no export: whoever restores a folder without the first has
//! another key. The second is named in the journal: without it there is no log to go on with.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_claims::envelope::{PublicKey, SecretKey};
use arena_contests::contest::credential::{Signer, Verifier};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

const FOLDER: &str = "keys";
const FILE: &str = "instance";
const LOG: &str = "log";
const FILE_BYTES_MAX: u64 = 128;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or made.
    #[error("cannot {doing} {}: {why}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// Others may read it.
    #[error("{} has mode {mode:o}; the key of the server has to be its owner's alone (600)", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The key of the log is not there, and the log is.
    #[error("{} is gone: the log of claims in the journal is signed by {need}, so only that key can go on with it; put the file back", path.display())]
    Lost {
        /// Which.
        path: PathBuf,
        /// The key that the journal names.
        need: PublicKey,
    },
    /// The key of the log is another one.
    #[error("{} is the key {have}: the log of claims in the journal is signed by {need}, so only that key can go on with it; put it back", path.display())]
    Changed {
        /// Which.
        path: PathBuf,
        /// What is there.
        have: PublicKey,
        /// The key that the journal names.
        need: PublicKey,
    },
    /// It is no key.
    #[error("{} is not a key: 64 lower-case hexadecimal digits and a line break", path.display())]
    Form {
        /// Which.
        path: PathBuf,
    },
}

/// The key of this server.
pub struct InstanceKey(SigningKey);

impl InstanceKey {
    /// The key in a folder; if it has none, one of these random bytes is put there.
    pub fn open(folder: &Path, luck: &[u8; 64]) -> Result<Self, KeyError> {
        let folder = folder.join(FOLDER);
        let path = folder.join(FILE);
        match fs::symlink_metadata(&path) {
            Ok(about) => read(&path, &about).map(|seed| Self::of(&seed)),
            Err(why) if why.kind() == ErrorKind::NotFound => {
                let seed = Digest::of_parts(&[b"arena instance key", luck]);
                write(&folder, &path, &seed)?;
                Ok(Self::of(&seed))
            }
            Err(why) => Err(io("find", &path)(why)),
        }
    }

    fn of(seed: &Digest) -> Self {
        Self(SigningKey::from_bytes(seed.as_bytes()))
    }

    /// What others verify by: an Ed25519 key, 64 hexadecimal digits.
    pub fn public(&self) -> String {
        Digest::from_bytes(self.0.verifying_key().to_bytes()).to_string()
    }
}

/// The key of the log of claims, before it is known whether the journal's log is signed by it.
pub struct LogKey {
    path: PathBuf,
    seed: Digest,
    is_there: bool,
}

impl LogKey {
    /// The key in a folder; if it has none, one of these random bytes, which is on no disk yet.
    pub fn find(folder: &Path, luck: &[u8; 64]) -> Result<Self, KeyError> {
        let path = folder.join(FOLDER).join(LOG);
        match fs::symlink_metadata(&path) {
            Ok(about) => Ok(Self { seed: read(&path, &about)?, path, is_there: true }),
            Err(why) if why.kind() == ErrorKind::NotFound => {
                let seed = Digest::of_parts(&[b"arena log key", luck]);
                Ok(Self { path, seed, is_there: false })
            }
            Err(why) => Err(io("find", &path)(why)),
        }
    }

    /// The key.
    pub fn secret(&self) -> SecretKey {
        SecretKey::from_seed(self.seed.as_bytes())
    }

    /// Keeps it, unless the log is signed by another one. Nobody else may be at work in the folder.
    pub fn settle(self, signed_by: Option<PublicKey>) -> Result<(), KeyError> {
        let Self { path, seed, is_there } = self;
        let have = SecretKey::from_seed(seed.as_bytes()).public();
        match (signed_by, is_there) {
            (Some(need), false) => Err(KeyError::Lost { path, need }),
            (Some(need), true) if have != need => Err(KeyError::Changed { path, have, need }),
            (None, false) => write(path.parent().unwrap_or(&path), &path, &seed),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Debug for InstanceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InstanceKey(of {})", self.public())
    }
}

impl Signer for InstanceKey {
    fn key_id(&self) -> String {
        self.public()
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).to_bytes().to_vec()
    }
}

/// Takes the signatures of one public key.
pub struct SignedBy(pub String);

impl Verifier for SignedBy {
    fn verifies(&self, key_id: &str, message: &[u8], signature: &[u8]) -> bool {
        let key = self.0.parse::<Digest>().ok().filter(|_| self.0 == key_id);
        let key = key.and_then(|key| VerifyingKey::from_bytes(key.as_bytes()).ok());
        let signature = Signature::from_slice(signature).ok();
        key.zip(signature).is_some_and(|(key, signature)| key.verify_strict(message, &signature).is_ok())
    }
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> KeyError + use<> {
    let path = path.to_owned();
    move |why| KeyError::Io { doing, path, why }
}

fn read(path: &Path, about: &fs::Metadata) -> Result<Digest, KeyError> {
    let form = || KeyError::Form { path: path.to_owned() };
    if !about.is_file() || about.len() > FILE_BYTES_MAX {
        return Err(form());
    }
    let mode = about.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Open { path: path.to_owned(), mode });
    }
    let text = fs::read_to_string(path).map_err(io("read", path))?;
    text.strip_suffix('\n').and_then(|seed| seed.parse().ok()).ok_or_else(form)
}

/// Under its name there is a whole key or none, whenever the machine stops.
fn write(folder: &Path, path: &Path, seed: &Digest) -> Result<(), KeyError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("make", folder))?;
    let half = path.with_extension("half");
    match fs::remove_file(&half) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(io("remove", &half)(why)),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half);
    let file = file.as_mut().map_err(|why| io("make", &half)(std::io::Error::from(why.kind())))?;
    file.write_all(format!("{seed}\n").as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(io("write", &half))?;
    fs::rename(&half, path).map_err(io("rename", path))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("sync", folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let key = InstanceKey::open(folder.path(), &[7; 64]).unwrap();
        let again = InstanceKey::open(folder.path(), &[8; 64]).unwrap();
        assert_eq!(key.public(), again.public());
        let path = folder.path().join("keys/instance");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!format!("{key:?}").contains(fs::read_to_string(&path).unwrap().trim()));
        let other = tempfile::tempdir().unwrap();
        assert_ne!(InstanceKey::open(other.path(), &[8; 64]).unwrap().public(), key.public());
    }

    #[test]
    fn the_key_of_a_log_is_made_once_and_no_other_goes_on_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let find = |luck: u8| LogKey::find(folder.path(), &[luck; 64]).unwrap();
        let path = folder.path().join("keys/log");
        // Nothing is written for a journal that names a key, and nothing before it is settled.
        let key = find(7);
        let public = key.secret().public();
        let lost = key.settle(Some(public)).unwrap_err();
        assert!(
            lost.to_string().contains("is gone") && lost.to_string().contains(&public.to_string()),
            "{lost}"
        );
        assert!(!path.exists());
        find(7).settle(None).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(find(8).secret().public(), public);
        find(8).settle(Some(public)).unwrap();
        let changed = find(8).settle(Some(Digest::of(b"another"))).unwrap_err();
        assert!(matches!(changed, KeyError::Changed { have, .. } if have == public), "{changed}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let open = LogKey::find(folder.path(), &[7; 64]).map(drop);
        assert!(matches!(open, Err(KeyError::Open { mode: 0o644, .. })), "{open:?}");
        assert_ne!(InstanceKey::open(folder.path(), &[7; 64]).unwrap().public(), public.to_string());
    }

    #[test]
    fn what_it_signs_is_verified_by_its_public_key_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let key = InstanceKey::open(folder.path(), &[7; 64]).unwrap();
        let other = InstanceKey::of(&Digest::of(b"other"));
        let signature = key.sign(b"stated");
        assert!(SignedBy(key.public()).verifies(&key.key_id(), b"stated", &signature));
        assert!(!SignedBy(key.public()).verifies(&key.key_id(), b"Stated", &signature));
        assert!(!SignedBy(key.public()).verifies(&other.key_id(), b"stated", &signature));
        assert!(!SignedBy(other.public()).verifies(&other.key_id(), b"stated", &signature));
        assert!(!SignedBy(key.public()).verifies(&key.key_id(), b"stated", &signature[..63]));
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        InstanceKey::open(folder.path(), &[7; 64]).unwrap();
        let path = folder.path().join("keys/instance");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = InstanceKey::open(folder.path(), &[7; 64]);
        assert!(matches!(refused, Err(KeyError::Open { mode: 0o640, .. })), "{refused:?}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for wrong in ["", "\n", &"z".repeat(64), &"ab".repeat(100)] {
            fs::write(&path, wrong).unwrap();
            let refused = InstanceKey::open(folder.path(), &[7; 64]);
            assert!(matches!(refused, Err(KeyError::Form { .. })), "{wrong}: {refused:?}");
        }
    }
}
