//! The folder of a program: what it owes, on disk before anybody hears of it. One program at a time works in it.
//!
//! `agent.json` says whose it is, `signing.key` signs, `blobs/` holds what claims pin under its digest, `jobs/` a file
//! for each part that is taken. Each file is written whole or not at all.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::envelope::SecretKey;
use arena_claims::record::{RECORD_BYTES_MAX, Record, Role};
use serde_json::json;

use super::view::{Instance, Me};
use crate::commands::{claim, key};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};

const KEPT_VERSION: &str = "arena-agent-job/v1";
const KEPT_BYTES_MAX: u64 = 4 * RECORD_BYTES_MAX as u64;
const JOBS_MAX: usize = 100_000;

/// What is meant to become of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// It is committed and revealed.
    Commit,
    /// It is no reason to challenge: nobody hears of it.
    Pass,
    /// It is over.
    Over,
}

impl Wish {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Commit, "commit"), (Self::Pass, "pass"), (Self::Over, "over")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(wish, _)| *wish == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(wish, _)| *wish)
    }
}

/// One part in one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) claim: String,
    pub(super) job: Digest,
    pub(super) role: Role,
    pub(super) wish: Wish,
    pub(super) record: Option<Record>,
    /// The record as it was signed to be revealed.
    pub(super) envelope: Option<Signed>,
}

/// A record, signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) counter: u64,
    /// The second from which it is void.
    pub(super) expires: u64,
    pub(super) envelope: Value,
}

impl Signed {
    fn to_json(&self) -> Value {
        let (counter, expires) = (self.counter.to_string(), self.expires.to_string());
        json!({ "counter": counter, "expires": expires, "dsse": self.envelope })
    }

    fn read(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key)?.as_str()?.parse().ok();
        let envelope = value.get("dsse")?.clone();
        Some(Self { counter: number("counter")?, expires: number("expires")?, envelope })
    }
}

impl Kept {
    fn to_json(&self) -> Value {
        json!({
            "v": KEPT_VERSION, "claim": self.claim, "job": self.job, "role": self.role.name(),
            "wish": self.wish.name(), "record": self.record.as_ref().map(Record::value),
            "record_sha256": self.record.as_ref().map(|record| record.digest), "envelope": self.envelope.as_ref().map(Signed::to_json),
        })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let value = json::read(bytes, bytes.len()).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        (text("v")? == KEPT_VERSION).then_some(())?;
        let record = match value.get("record") {
            None | Some(Value::Null) => None,
            Some(record) => {
                let record = Record::read(record.clone()).ok()?;
                (text("record_sha256")? == record.digest.to_string()).then_some(record)
            }
        };
        Some(Self {
            claim: super::view::claim_name(text("claim")?).ok()?,
            job: text("job")?.parse().ok()?,
            role: Role::ALL.into_iter().find(|role| Some(role.name()) == text("role"))?,
            wish: Wish::named(text("wish")?)?,
            record,
            envelope: match value.get("envelope") {
                None | Some(Value::Null) => None,
                Some(signed) => Some(Signed::read(signed)?),
            },
        })
    }
}

/// Removes what a program that was killed had not written whole.
fn sweep(path: &Path) {
    for inner in ["", "blobs", "jobs", "receipts"] {
        let entries = std::fs::read_dir(path.join(inner)).into_iter().flatten().flatten();
        for place in entries.map(|entry| entry.path()).filter(|place| files::is_temporary(place)) {
            std::fs::remove_file(place).ok();
        }
    }
}

/// The folder, which nobody else works in meanwhile.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens the folder, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let doing = || format!("work in `{}`", files::shown(path));
        for inner in ["", "blobs", "jobs", "receipts"] {
            files::make_folder(&path.join(inner))?;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
                .map_err(|why| Failure::usage(doing(), files::plain(&why)))?;
        }
        let place = path.join("lock");
        let lock = File::options().create(true).append(true).open(&place);
        let lock = lock.map_err(|why| Failure::usage(doing(), files::plain(&why)))?;
        lock.try_lock().map_err(|why| match why {
            TryLockError::WouldBlock => Failure::usage(doing(), "another program is at work in it"),
            TryLockError::Error(why) => Failure::internal(doing(), files::plain(&why)),
        })?;
        sweep(path);
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The key that records are signed by: a file of its own, or one in the folder, made at the first start.
    pub(super) fn signing_key(&self, named: Option<&Path>) -> Result<SecretKey, Failure> {
        let place = named.map_or_else(|| self.path.join("signing.key"), Path::to_owned);
        if named.is_none() && !place.exists() {
            files::write_private(&place, format!("{}\n", claim::secret()?).as_bytes(), Existing::Keep)?;
        }
        key::read(&place)
    }

    /// Says whose the folder is, the first time; refuses it to anybody else afterwards.
    pub(super) fn belongs_to(&self, instance: &Instance, me: &Me, key: &SecretKey) -> Result<(), Failure> {
        let about = json!({
            "v": "arena-agent/v1", "instance": instance.name, "agent": me.agent, "key": key.public(),
        });
        let (place, bytes) = (self.path.join("agent.json"), json::canonical(&about));
        if !place.exists() {
            return files::write_private(&place, &bytes, Existing::Keep);
        }
        let found =
            files::read_regular(&place, 4_096).map_err(|unread| unread.reading("folder's owner", &place))?;
        if found == bytes {
            return Ok(());
        }
        let doing = format!("work in `{}`", files::shown(&self.path));
        let why = "it belongs to another agent, key or instance";
        Err(Failure::usage(doing, why).hint("name another folder with --work"))
    }

    /// Where the bytes of a digest are, or would be.
    pub(super) fn blob(&self, sha256: Digest) -> PathBuf {
        claim::blob(&self.path, sha256)
    }

    fn place(&self, job: Digest, role: Role) -> PathBuf {
        self.path.join("jobs").join(format!("{job}-{}.json", role.name()))
    }

    /// What is kept of a part, if anything is.
    pub(super) fn kept(&self, job: Digest, role: Role) -> Result<Option<Kept>, Failure> {
        let place = self.place(job, role);
        if !place.exists() {
            return Ok(None);
        }
        self.read(&place).map(Some)
    }

    fn read(&self, place: &Path) -> Result<Kept, Failure> {
        let bytes =
            files::read_regular(place, KEPT_BYTES_MAX).map_err(|unread| unread.reading("part", place))?;
        Kept::read(&bytes).ok_or_else(|| {
            let doing = format!("read `{}`", files::shown(place));
            Failure::new(Exit::Internal, doing, "it is not what was written")
                .hint("a stake may hang on it: restore it, or remove it and the claim is run again")
        })
    }

    /// Keeps what is owed. It is on disk when this returns.
    pub(super) fn keep(&self, kept: &Kept) -> Result<(), Failure> {
        let place = self.place(kept.job, kept.role);
        files::write_private(&place, &json::canonical(&kept.to_json()), Existing::Replace)
    }

    /// Keeps the receipt of an event.
    pub(super) fn keep_receipt(&self, seq: u64, receipt: &Value) -> Result<(), Failure> {
        let place = self.path.join("receipts").join(format!("{seq}.json"));
        files::write_private(&place, &json::canonical(receipt), Existing::Replace)
    }

    /// Every part that is not over, and why one could not be read, if so: it is no reason to lose the others.
    pub(super) fn open_parts(&self) -> Result<(Vec<Kept>, Option<Failure>), Failure> {
        let folder = self.path.join("jobs");
        let entries = std::fs::read_dir(&folder).map_err(|why| {
            Failure::internal(format_args!("read `{}`", files::shown(&folder)), files::plain(&why))
        })?;
        let (mut parts, mut damaged) = (Vec::new(), None);
        for entry in entries.flatten().take(JOBS_MAX) {
            let place = entry.path();
            if place.extension().is_some_and(|extension| extension == "json") {
                match self.read(&place) {
                    Ok(kept) => parts.push(kept),
                    Err(why) => damaged = Some(why),
                }
            }
        }
        parts.retain(|kept| kept.wish == Wish::Commit);
        parts.sort_by(|one, other| (&one.claim, one.job).cmp(&(&other.claim, other.job)));
        Ok((parts, damaged))
    }
}
