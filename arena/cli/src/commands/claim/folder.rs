//! An instance in a folder: `instance.json`, a hash-chained `journal.ndjson`, `blobs/`, and `sealed/` for what only
//! the instance may see yet.
//!
//! One line of the journal is one command with all its events, so that a crash loses a whole command or nothing.
//! Opening a folder replays the journal; a line that does not follow from the one before is refused.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::life::{Command, Event, Instance, Phase, Seen, Stamped, World, check, evolve, execute};
use arena_claims::params::Params;
use arena_draw::beacon::{Kind, Schedule, Source};
use arena_engine::Excerpt;
use arena_ledger::Asset;
use serde_json::json;

use super::params;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::luck;

const JOURNAL_VERSION: &str = "arena-claims-journal/v1";
const JOURNAL_BYTES_MAX: u64 = 256 << 20;
const SMALL_BYTES_MAX: u64 = 4 << 20;

/// An instance, opened: nobody else writes to it meanwhile.
pub(super) struct Folder {
    path: PathBuf,
    pub(super) world: World,
    journal: File,
    /// Bytes of whole lines.
    length: u64,
    lines: u64,
    last: Digest,
}

fn broken(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Rejected, format_args!("open instance `{}`", files::shown(path)), why)
}

fn io_failure(path: &Path, doing: &str, why: &std::io::Error) -> Failure {
    Failure::usage(format_args!("{doing} `{}`", files::shown(path)), files::plain(why))
}

impl Folder {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a new instance.
    pub(super) fn create(
        path: &Path,
        name: &str,
        beacon: Kind,
        operator: &str,
        params: &Params,
    ) -> Result<(), Failure> {
        files::make_folder(path)?;
        for inner in ["blobs", "sealed"] {
            files::make_folder(&path.join(inner))?;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let sealed = path.join("sealed");
            std::fs::set_permissions(&sealed, std::fs::Permissions::from_mode(0o700))
                .map_err(|why| io_failure(&sealed, "close folder", &why))?;
        }
        let document = json!({
            "v": "arena-instance/v1", "name": name, "beacon": beacon.name(), "operator": operator,
            "asset": "units", "params": params.to_json(),
        });
        files::write(&path.join("instance.json"), &json::canonical(&document), Existing::Keep)?;
        files::write(&path.join("journal.ndjson"), b"", Existing::Keep)
    }

    /// Opens an instance and replays its journal.
    pub(super) fn open(path: &Path, io: &mut Io<'_>) -> Result<Self, Failure> {
        Self::open_watched(path, io, &mut |_, _, _| {})
    }

    /// The same, and shows every event before it is taken for a fact: the state so far, the line, and which
    /// of its events is next.
    pub(super) fn open_watched(
        path: &Path,
        io: &mut Io<'_>,
        watch: &mut dyn FnMut(&World, &Line, usize),
    ) -> Result<Self, Failure> {
        let instance = read_instance(path)?;
        let place = path.join("journal.ndjson");
        // It is opened to write only after it is known to be a file.
        arena_tournament::open_regular(&place).map_err(|why| io_failure(&place, "open journal", &why))?;
        let mut journal = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&place)
            .map_err(|why| io_failure(&place, "open journal", &why))?;
        journal.try_lock().map_err(|why| match why {
            std::fs::TryLockError::WouldBlock => broken(path, "another arena is at work in it; try again"),
            std::fs::TryLockError::Error(why) => io_failure(&place, "lock journal", &why),
        })?;
        let mut bytes = Vec::new();
        (&mut journal)
            .take(JOURNAL_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|why| io_failure(&place, "read journal", &why))?;
        if bytes.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(broken(path, format_args!("the journal has more than {JOURNAL_BYTES_MAX} bytes")));
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            io.warn("the journal ends within a line; that command was never confirmed and is dropped");
        }
        let world = World::new(instance);
        let (length, last) = (whole as u64, Digest::of(b""));
        let mut folder = Self { path: path.to_owned(), world, journal, length, lines: 0, last };
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            folder.replay(line, watch)?;
        }
        Ok(folder)
    }

    fn replay(&mut self, line: &[u8], watch: &mut dyn FnMut(&World, &Line, usize)) -> Result<(), Failure> {
        let number = self.lines + 1;
        let wrong = |why: String| broken(&self.path, format_args!("line {number} of the journal: {why}"));
        let value = json::read(line, line.len()).map_err(|why| wrong(why.to_string()))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if text("v") != Some(JOURNAL_VERSION) {
            return Err(wrong(format!("is not of version {JOURNAL_VERSION}")));
        }
        if text("prev") != Some(&self.last.to_string()) || text("seq") != Some(&number.to_string()) {
            return Err(wrong("does not follow from the line before".into()));
        }
        let at =
            text("at").and_then(|at| at.parse::<u64>().ok()).ok_or_else(|| wrong("has no time".into()))?;
        let events =
            value.get("events").and_then(Value::as_array).ok_or_else(|| wrong("has no events".into()))?;
        let mut read = Vec::new();
        for event in events {
            let open = match event.get("sealed").and_then(Value::as_str) {
                Some(sealed) => self.unseal(sealed)?,
                None => event.clone(),
            };
            read.push(serde_json::from_value::<Event>(open).map_err(|why| wrong(why.to_string()))?);
        }
        let read = Line { number, at, events: read };
        for (i, event) in read.events.iter().enumerate() {
            watch(&self.world, &read, i);
            check(&self.world, event).map_err(|why| wrong(why.to_string()))?;
            evolve(&mut self.world, at, event);
        }
        self.lines = number;
        self.last = Digest::of(line);
        Ok(())
    }

    fn unseal(&self, sealed: &str) -> Result<Value, Failure> {
        let place = self.path.join("sealed").join(format!("{}.json", files::as_name(sealed)));
        let bytes = files::read_regular(&place, SMALL_BYTES_MAX)
            .map_err(|unread| unread.reading("sealed event", &place))?;
        let value = json::read(&bytes, bytes.len()).map_err(|why| broken(&place, why))?;
        let event = value.get("event").cloned();
        let same = Digest::of(&bytes).to_string() == sealed;
        event.filter(|_| same).ok_or_else(|| broken(&place, "it is not what the journal names"))
    }

    /// Does a command, writes what came of it, and says what it was.
    pub(super) fn execute(&mut self, stamped: &Stamped, doing: &str) -> Result<Vec<Event>, Failure> {
        let events = execute(&mut self.world, stamped).map_err(|refusal| {
            let code = refusal.code();
            let text = refusal.to_string();
            let mut lines = text.lines();
            let why = Excerpt { text: lines.next().unwrap_or_default(), max: 400 }.to_string();
            let details = lines.map(|line| Excerpt { text: line, max: 400 }.to_string()).collect::<Vec<_>>();
            Failure::new(Exit::Rejected, doing, format_args!("{code}: {why}")).details(details)
        })?;
        if !events.is_empty() {
            self.keep_opening(stamped, &events)?;
            self.append(stamped, &events)?;
        }
        Ok(events)
    }

    /// What opens a commitment is not in the journal; whoever verifies it later needs it.
    fn keep_opening(&self, stamped: &Stamped, events: &[Event]) -> Result<(), Failure> {
        let opening = match &stamped.command {
            Command::Reveal { nonce, envelope, .. } => json!({ "nonce": nonce, "envelope": envelope }),
            Command::RevealVote { nonce, ballot, .. } => json!({ "nonce": nonce, "ballot": ballot }),
            _ => return Ok(()),
        };
        let kept = Kept(self.path.clone());
        match events.iter().find_map(|event| kept.place_of_opening(&self.world, event)) {
            Some(place) => files::write_private(&place, &json::canonical(&opening), Existing::Replace),
            None => Ok(()),
        }
    }

    fn append(&mut self, stamped: &Stamped, events: &[Event]) -> Result<(), Failure> {
        let mut written = Vec::new();
        for event in events {
            let value =
                serde_json::to_value(event).map_err(|why| Failure::internal("write an event", why))?;
            written.push(if event.is_sealed() { self.seal(&value)? } else { value });
            if let Event::ClaimListed { manifest, .. } | Event::ClaimRelisted { manifest, .. } = event {
                let bytes = json::canonical(manifest);
                let place = self.path.join("blobs").join(format!("{}.json", Digest::of(&bytes)));
                files::write(&place, &bytes, Existing::KeepEqual)?;
            }
        }
        // Who acts on what is sealed is sealed as well: it may be the auditor.
        let secret = events.iter().all(Event::is_sealed);
        let by = (!secret).then_some(&stamped.by);
        let line = json!({
            "v": JOURNAL_VERSION, "seq": (self.lines + 1).to_string(), "prev": self.last,
            "at": stamped.at.to_string(), "by": by, "events": written,
        });
        let bytes = json::canonical(&line);
        let failed = |why: &std::io::Error| {
            Failure::internal(
                format_args!("write journal of `{}`", files::shown(&self.path)),
                files::plain(why),
            )
        };
        let mut journal = &self.journal;
        // What a crash left of a line is written over.
        journal.set_len(self.length).map_err(|why| failed(&why))?;
        journal.seek(SeekFrom::Start(self.length)).map_err(|why| failed(&why))?;
        let whole = [&bytes[..], b"\n"].concat();
        journal.write_all(&whole).and_then(|()| journal.sync_all()).map_err(|why| failed(&why))?;
        self.length += whole.len() as u64;
        self.lines += 1;
        self.last = Digest::of(&bytes);
        Ok(())
    }

    /// An event that only the instance may see, beside the journal. A nonce keeps it from being guessed.
    fn seal(&self, event: &Value) -> Result<Value, Failure> {
        let bytes = json::canonical(&json!({ "event": event, "nonce": secret()? }));
        let digest = Digest::of(&bytes);
        let place = self.path.join("sealed").join(format!("{digest}.json"));
        files::write_private(&place, &bytes, Existing::KeepEqual)?;
        Ok(json!({ "sealed": digest }))
    }

    /// A command of `by`, with the time and the luck that it may need.
    pub(super) fn stamped(
        &self,
        by: &str,
        at: Option<&str>,
        round: Option<&Round>,
        command: Command,
    ) -> Result<Stamped, Failure> {
        let at = match at {
            Some(text) => time(text)?,
            None => now().max(self.world.now),
        };
        let seen = match (&self.world.instance.source, round) {
            (Source::Test, _) => {
                let round = Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1);
                Some(Seen { round, proof: Vec::new() })
            }
            (_, Some(round)) => Some(Seen { round: round.number, proof: round.proof.clone() }),
            (_, None) => None,
        };
        let salt = command.claim().map(|claim| self.salt(claim)).transpose()?.flatten();
        Ok(Stamped { at, by: by.to_owned(), seen, salt, command })
    }

    /// The secret of a job's audits, made when the first may be committed.
    fn salt(&self, claim: &str) -> Result<Option<Digest>, Failure> {
        let claim = self.world.claims.get(claim);
        let audits = |phase| matches!(phase, Phase::Running | Phase::Committed);
        let Some(claim) = claim.filter(|claim| audits(claim.phase)) else { return Ok(None) };
        let place = self.private(&format!("salt-{}", claim.job));
        if !place.exists() {
            files::write_private(&place, secret()?.to_string().as_bytes(), Existing::Keep)?;
        }
        let bytes = files::read_regular(&place, 64).map_err(|unread| unread.reading("secret", &place))?;
        let salt = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
        salt.map(Some).ok_or_else(|| broken(&place, "it is no secret of 64 hexadecimal digits"))
    }

    /// The place of a document that is not published yet.
    fn private(&self, name: &str) -> PathBuf {
        private(&self.path, name)
    }

    /// The place of an agent's document of a job.
    pub(super) fn private_of(&self, kind: &str, job: Digest, agent: &str) -> PathBuf {
        private_of(&self.path, kind, job, agent)
    }
}

fn private(dir: &Path, name: &str) -> PathBuf {
    dir.join("sealed").join(files::as_name(name))
}

/// Names of agents may be no names of files.
fn private_of(dir: &Path, kind: &str, job: Digest, agent: &str) -> PathBuf {
    private(dir, &format!("{kind}-{job}-{}", Digest::of(agent.as_bytes())))
}

/// A line of the journal, read.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) at: u64,
    pub(super) events: Vec<Event>,
}

/// What lies beside the journal, for who derives it again. Whatever is missing or unreadable is not there.
pub(super) struct Kept(pub(super) PathBuf);

impl Kept {
    /// Where the opening of the commitment is kept that `event` tells of.
    fn place_of_opening(&self, world: &World, event: &Event) -> Option<PathBuf> {
        let claim = world.claims.get(event.claim()?)?;
        let (agent, document) = match event {
            Event::RunRevealed { record, .. } => (claim.runner()?, record),
            Event::ChallengeRevealed { agent, record, .. } => (agent.as_str(), record),
            Event::VoteRevealed { agent, ballot, .. } => (agent.as_str(), ballot),
            _ => return None,
        };
        let kind = format!("opening-{}", Digest::of(&json::canonical(document)));
        Some(private_of(&self.0, &kind, claim.job, agent))
    }

    /// The opening of the commitment that `event` tells of.
    pub(super) fn opening(&self, world: &World, event: &Event) -> Option<Value> {
        let bytes = files::read_regular(&self.place_of_opening(world, event)?, SMALL_BYTES_MAX).ok()?;
        json::read(&bytes, bytes.len()).ok()
    }

    /// The secret of a job's audits, if it was made.
    pub(super) fn salt(&self, job: Digest) -> Option<Digest> {
        let bytes = files::read_regular(&private(&self.0, &format!("salt-{job}")), 64).ok()?;
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    }
}

fn read_instance(path: &Path) -> Result<Instance, Failure> {
    let place = path.join("instance.json");
    let bytes = files::read_regular(&place, SMALL_BYTES_MAX).map_err(|unread| {
        unread.reading("instance", &place).hint("make one with `arena claim init`, or name it with --dir")
    })?;
    let value = json::read(&bytes, bytes.len()).map_err(|why| broken(path, why))?;
    let text = |key: &str| {
        let found = value.get(key).and_then(Value::as_str).map(str::to_owned);
        found.ok_or_else(|| broken(path, format_args!("instance.json has no text `{key}`")))
    };
    let source = match text("beacon")?.as_str() {
        "drand-quicknet" => Source::DrandQuicknet,
        "test" => Source::Test,
        _ => return Err(broken(path, "the beacon is drand-quicknet or test")),
    };
    let set = json::canonical(value.get("params").unwrap_or(&Value::Null));
    let set = params::parse(&set, &files::shown(&place))?;
    if let Some(missed) = set.violations().first() {
        return Err(broken(path, format_args!("its parameters miss {}: {}", missed.id, missed.says)));
    }
    Ok(Instance {
        name: text("name")?,
        source,
        params: Arc::new(set),
        asset: Asset::new(&text("asset")?).map_err(|why| broken(path, why))?,
        operator: text("operator")?,
    })
}

/// A round of drand as its API gives it.
pub(super) struct Round {
    number: u64,
    pub(super) proof: Vec<u8>,
}

impl Round {
    /// Reads `{"round": …, "signature": "…"}`; whatever else is in it is passed over.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let number = value.get("round")?;
        let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
        // Whole pairs of digits and nothing else: a sign or an odd last digit is no proof.
        let is_hex = |text: &&str| {
            text.len() <= 1_024
                && text.len().is_multiple_of(2)
                && text.bytes().all(|digit| digit.is_ascii_hexdigit())
        };
        let text = value.get("signature")?.as_str().filter(is_hex)?;
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let proof = text.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>()?;
        Some(Self { number, proof })
    }
}

/// 32 bytes that nobody knows.
pub(crate) fn secret() -> Result<Digest, Failure> {
    luck::secret_bytes().map(Digest::from_bytes)
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// `1796058480` or `2026-11-30T17:08:00Z`.
fn time(text: &str) -> Result<u64, Failure> {
    let stamp =
        || text.parse::<jiff::Timestamp>().ok().and_then(|stamp| u64::try_from(stamp.as_second()).ok());
    text.parse().ok().or_else(stamp).ok_or_else(|| {
        let text = Excerpt { text, max: 60 };
        Failure::usage(format_args!("read time `{text}`"), "it is Unix seconds, or like 2026-11-30T17:08:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_both_spellings() {
        assert_eq!(time("1776643200").expect("seconds"), 1_776_643_200);
        assert_eq!(time("2026-04-20T00:00:00Z").expect("a stamp"), 1_776_643_200);
        for wrong in ["", "yesterday", "-5", "2026-04-20"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rounds_are_read_as_drand_gives_them() {
        let round =
            Round::read(&json!({ "round": 1000, "signature": "b446", "randomness": "00" })).expect("a round");
        assert_eq!((round.number, round.proof), (1_000, vec![0xb4, 0x46]));
        for wrong in
            [json!({}), json!({ "round": 1, "signature": "xy" }), json!({ "round": -1, "signature": "" })]
        {
            assert!(Round::read(&wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_proof_is_whole_pairs_of_hexadecimal_digits() {
        let of = |text: &str| serde_json::json!({ "round": 7, "signature": text });
        let read = |text: &str| super::Round::read(&of(text)).map(|round| round.proof);
        assert_eq!(read("0aFf"), Some(vec![10, 255]));
        assert_eq!(read(""), Some(Vec::new()));
        for wrong in ["+f", "abc", "0g", " 0", "-1", "éé", &"ab".repeat(513)] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
