//! An instance as it is read: its journal replayed, nothing locked and nothing changed. It works in a folder that
//! nobody may write to, and while another arena writes to it: what is not a whole line does not count.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::envelope::PublicKey;
use arena_claims::founding;
use arena_claims::life::{Event, Instance, World, check, evolve};
use arena_claims::log::{Logged, leaf};
use arena_engine::Excerpt;
use arena_ledger::Asset;

use super::{log, params, parties};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

pub(super) const INSTANCE: &str = "instance.json";
pub(super) const JOURNAL: &str = "journal.ndjson";
pub(super) const JOURNAL_VERSION: &str = "arena-claims-journal/v1";
const JOURNAL_BYTES_MAX: u64 = 256 << 20;
const SMALL_BYTES_MAX: u64 = 4 << 20;
/// The last second that a transcript can tell: 9999-12-30T22:00:00Z.
const TIME_MAX: u64 = 253_402_207_200;

/// An instance, replayed.
pub(super) struct Reading {
    pub(super) path: PathBuf,
    pub(super) world: World,
    /// Bytes of whole lines.
    pub(super) length: u64,
    pub(super) lines: u64,
    pub(super) last: Digest,
    /// The key of its log; nothing in folders from before there was one.
    pub(super) log: Option<PublicKey>,
    /// Every event as a hashed leaf of the log.
    pub(super) leaves: Vec<Digest>,
    /// How many events there were before each line.
    starts: Vec<u64>,
    /// What the first line follows from.
    genesis: Digest,
    /// Whether the journal ends within a line.
    torn: bool,
}

/// A line of the journal, read.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) at: u64,
    /// Who gave the command, if that is told.
    pub(super) by: Option<String>,
    pub(super) events: Vec<Event>,
}

/// Who wants to see every event before it is taken for a fact: the state so far, the line, and which of its
/// events is next.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&World, &Line, usize);

impl Reading {
    /// Reads an instance.
    pub(super) fn open(path: &Path, io: &mut Io<'_>) -> Result<Self, Failure> {
        Self::open_watched(path, io, &mut |_, _, _| {})
    }

    /// The same, watched.
    pub(super) fn open_watched(path: &Path, io: &mut Io<'_>, watch: Watch<'_>) -> Result<Self, Failure> {
        let reading = Self::quietly(path, watch)?;
        reading.tell(io);
        Ok(reading)
    }

    /// The same, for a command that opens it to write as well and tells then.
    pub(super) fn peek(path: &Path) -> Result<Self, Failure> {
        Self::quietly(path, &mut |_, _, _| {})
    }

    /// The same, watched.
    pub(super) fn quietly(path: &Path, watch: Watch<'_>) -> Result<Self, Failure> {
        let genesis = read_instance(path)?;
        let place = path.join(JOURNAL);
        let journal =
            arena_tournament::open_regular(&place).map_err(|why| io_failure(&place, "open journal", &why))?;
        Self::of(path, genesis, &journal, watch)
    }

    /// Replays what is in `journal`.
    pub(super) fn of(
        path: &Path,
        Genesis { instance, digest, log }: Genesis,
        journal: impl Read,
        watch: Watch<'_>,
    ) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        journal
            .take(JOURNAL_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(|why| io_failure(&path.join(JOURNAL), "read journal", &why))?;
        if bytes.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(broken(path, format_args!("the journal has more than {JOURNAL_BYTES_MAX} bytes")));
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (length, last) = (whole as u64, digest);
        let (world, torn) = (World::new(instance), whole < bytes.len());
        let mut reading = Self {
            path: path.to_owned(),
            world,
            length,
            lines: 0,
            last,
            log,
            leaves: Vec::new(),
            starts: Vec::new(),
            genesis: digest,
            torn,
        };
        for line in bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            reading.replay(line, watch)?;
        }
        Ok(reading)
    }

    /// Warns of a line that is not whole.
    pub(super) fn tell(&self, io: &mut Io<'_>) {
        if self.torn {
            io.warn("the journal ends within a line; that command was never confirmed and is dropped");
        }
    }

    fn replay(&mut self, line: &[u8], watch: Watch<'_>) -> Result<(), Failure> {
        let number = self.lines + 1;
        let wrong = |why: String| broken(&self.path, format_args!("line {number} of the journal: {why}"));
        let value = json::read(line, line.len()).map_err(|why| wrong(why.to_string()))?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if text("v") != Some(JOURNAL_VERSION) {
            return Err(wrong(format!("is not of version {JOURNAL_VERSION}")));
        }
        if text("prev") != Some(&self.last.to_string()) || text("seq") != Some(&number.to_string()) {
            let before = if number == 1 { "instance.json" } else { "the line before" };
            return Err(wrong(format!("does not follow from {before}")));
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
        let by = text("by").map(str::to_owned);
        let read = Line { number, at, by, events: read };
        self.starts.push(self.leaves.len() as u64);
        for (i, event) in read.events.iter().enumerate() {
            watch(&self.world, &read, i);
            let leaf = self.leaf(at, read.by.as_deref(), &events[i], event);
            self.leaves.extend(leaf);
            check(&self.world, event).map_err(|why| wrong(why.to_string()))?;
            evolve(&mut self.world, at, event);
        }
        self.lines = number;
        self.last = Digest::of(line);
        Ok(())
    }

    /// The next event as a leaf of the log, if there is one.
    fn leaf(&self, at: u64, by: Option<&str>, written: &Value, event: &Event) -> Option<Digest> {
        self.log?;
        let logged = Logged { seq: self.leaves.len() as u64 + 1, at, by, written };
        Some(leaf(self.genesis, &self.world, event, &logged))
    }

    /// The leaves of a line that is about to be written, after the world has taken it in.
    pub(super) fn leaves_of(
        &self,
        at: u64,
        by: Option<&str>,
        written: &[Value],
        events: &[Event],
    ) -> Vec<Digest> {
        let first = self.leaves.len() as u64 + 1;
        let rows = written.iter().zip(events).zip(first..).filter(|_| self.log.is_some());
        let of = |((written, event), seq)| {
            leaf(self.genesis, &self.world, event, &Logged { seq, at, by, written })
        };
        rows.map(of).collect()
    }

    /// What an event is called, and where it stands, as a JSON pointer.
    pub(super) fn place_of(&self, seq: u64) -> (String, String) {
        let line = self.starts.partition_point(|before| *before < seq);
        let before = line.checked_sub(1).and_then(|line| self.starts.get(line)).copied().unwrap_or_default();
        let pointer = format!("/journal/{line}/events/{}", seq.saturating_sub(before).saturating_sub(1));
        let name = self.with_event(seq, |_, logged| {
            let name = logged.written.get("event").and_then(Value::as_str).unwrap_or("sealed");
            Excerpt { text: name, max: 60 }.to_string()
        });
        (name.unwrap_or_else(|_| "another".to_owned()), pointer)
    }

    /// An event as the journal has it.
    pub(super) fn with_event<T>(
        &self,
        seq: u64,
        take: impl FnOnce(Digest, &Logged<'_>) -> T,
    ) -> Result<T, Failure> {
        let place = self.path.join(JOURNAL);
        let bytes = files::read_regular(&place, JOURNAL_BYTES_MAX)
            .map_err(|unread| unread.reading("journal", &place))?;
        let line = self.starts.partition_point(|before| *before < seq).saturating_sub(1);
        let before = self.starts.get(line).copied().unwrap_or_default();
        let missing = || broken(&self.path, format_args!("event {seq} is not in the journal"));
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let line = lines.take(self.starts.len()).nth(line).ok_or_else(missing)?;
        let line = json::read(line, line.len()).map_err(|why| broken(&self.path, why))?;
        let at = line.get("at").and_then(Value::as_str).and_then(|at| at.parse().ok());
        let index = usize::try_from(seq.saturating_sub(before).saturating_sub(1)).ok();
        let written = index.and_then(|index| line.get("events")?.as_array()?.get(index));
        let (at, written) = at.zip(written).ok_or_else(missing)?;
        Ok(take(self.genesis, &Logged { seq, at, by: line.get("by").and_then(Value::as_str), written }))
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

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a document that is not published yet.
    pub(super) fn private(&self, name: &str) -> PathBuf {
        private(&self.path, name)
    }

    /// The place of an agent's document of a job.
    pub(super) fn private_of(&self, kind: &str, job: Digest, agent: &str) -> PathBuf {
        private_of(&self.path, kind, job, agent)
    }

    /// The time of a command: what is given, or the system's clock, never before the last event.
    pub(super) fn time(&self, at: Option<&str>) -> Result<u64, Failure> {
        match at {
            Some(text) => time(text),
            None => Ok(now().max(self.world.now)),
        }
    }
}

pub(super) fn broken(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Rejected, format_args!("open instance `{}`", files::shown(path)), why)
}

pub(super) fn io_failure(path: &Path, doing: &str, why: &std::io::Error) -> Failure {
    Failure::usage(format_args!("{doing} `{}`", files::shown(path)), files::plain(why))
}

fn private(dir: &Path, name: &str) -> PathBuf {
    dir.join("sealed").join(files::as_name(name))
}

/// Names of agents may be no names of files.
fn private_of(dir: &Path, kind: &str, job: Digest, agent: &str) -> PathBuf {
    private(dir, &format!("{kind}-{job}-{}", Digest::of(agent.as_bytes())))
}

/// What lies beside the journal, for who derives it again. Whatever is missing or unreadable is not there.
pub(super) struct Kept(pub(super) PathBuf);

impl Kept {
    /// Where the opening of the commitment is kept that `event` tells of.
    pub(super) fn place_of_opening(&self, world: &World, event: &Event) -> Option<PathBuf> {
        let claim = world.claims.get(event.claim()?)?;
        let (agent, document) = match event {
            Event::RunRevealed { record, .. } => (claim.runner()?, record.digest),
            Event::ChallengeRevealed { agent, record, .. } => (agent.as_str(), record.digest),
            Event::VoteRevealed { agent, ballot, .. } => {
                (agent.as_str(), Digest::of(&json::canonical(ballot)))
            }
            _ => return None,
        };
        let kind = format!("opening-{document}");
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

/// What an instance is, with the digest that the first line of its journal follows.
pub(super) struct Genesis {
    instance: Instance,
    digest: Digest,
    log: Option<PublicKey>,
}

pub(super) fn read_instance(path: &Path) -> Result<Genesis, Failure> {
    let place = path.join(INSTANCE);
    let bytes = files::read_regular(&place, SMALL_BYTES_MAX).map_err(|unread| {
        unread.reading("instance", &place).hint("make one with `arena claim init`, or name it with --dir")
    })?;
    let value = json::read(&bytes, bytes.len()).map_err(|why| broken(path, why))?;
    let text = |key: &str| {
        let found = value.get(key).and_then(Value::as_str).map(str::to_owned);
        found.ok_or_else(|| broken(path, format_args!("instance.json has no text `{key}`")))
    };
    let source = founding::read_beacon(value.get("beacon").unwrap_or(&Value::Null));
    let source = source.map_err(|why| broken(path, format_args!("instance.json#/beacon: {why}")))?;
    let parties = founding::read_parties(value.get("beacon").unwrap_or(&Value::Null), &source);
    let parties =
        parties.map_err(|why| broken(path, format_args!("instance.json#/beacon/parties: {why}")))?;
    let set = json::canonical(value.get("params").unwrap_or(&Value::Null));
    let set = params::parse(&set, &files::shown(&place))?;
    if let Some(missed) = set.violations().first() {
        return Err(broken(path, format_args!("its parameters miss {}: {}", missed.id, missed.says)));
    }
    founding::check_stakes(&parties, &set).map_err(|why| broken(path, why))?;
    parties::check_names(&parties, &text("operator")?)
        .map_err(|why| broken(path, format_args!("instance.json#/beacon/parties: {why}")))?;
    let instance = Instance {
        name: text("name")?,
        source,
        params: Arc::new(set),
        asset: Asset::new(&text("asset")?).map_err(|why| broken(path, why))?,
        operator: text("operator")?,
        parties,
    };
    let log = log::read(&value).map_err(|why| broken(path, format_args!("instance.json#/log: {why}")))?;
    Ok(Genesis { instance, digest: Digest::of(&json::canonical(&value)), log })
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// `1796058480` or `2026-11-30T17:08:00Z`.
fn time(text: &str) -> Result<u64, Failure> {
    let stamp =
        || text.parse::<jiff::Timestamp>().ok().and_then(|stamp| u64::try_from(stamp.as_second()).ok());
    // No transcript tells a later one, and one that was mistyped would stop the clock for good.
    let seconds = text.parse().ok().or_else(stamp).filter(|seconds| *seconds <= TIME_MAX);
    seconds.ok_or_else(|| {
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
        assert_eq!(time("9999-12-30T22:00:00Z").expect("a stamp"), TIME_MAX);
        assert_eq!(time(&TIME_MAX.to_string()).expect("seconds"), TIME_MAX);
        assert_eq!(jiff::Timestamp::MAX.as_second(), TIME_MAX as i64);
        for wrong in ["", "yesterday", "-5", "2026-04-20", "253402207201", "18446744073709551615"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
