//! An instance in a folder, opened to write: `instance.json`, a hash-chained `journal.ndjson`, `blobs/`, `rounds/`
//! with the beacon's rounds that draws rest on, and `sealed/` for what only the instance may see yet.
//!
//! One line of the journal is one command with all its events, so that a crash loses a whole command or nothing.
//! Opening a folder replays the journal; a line that does not follow from the one before is refused, and the first
//! one follows from `instance.json`.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::founding;
use arena_claims::life::{Command, Event, Party, Phase, Stamped, execute};
use arena_claims::params::Params;
use arena_draw::beacon::Source;
use arena_engine::Excerpt;
use serde_json::json;

use super::beacon::{self, Round};
use super::instance::{INSTANCE, JOURNAL, JOURNAL_VERSION, Kept, Reading, broken, io_failure, read_instance};
use super::log;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::luck;

/// An instance, opened: nobody else writes to it meanwhile.
pub(super) struct Folder {
    pub(super) reading: Reading,
    journal: File,
}

impl Folder {
    /// Makes a new instance. The beacon's own secrets are in the folder before it is one.
    pub(super) fn create(
        path: &Path,
        name: &str,
        operator: &str,
        params: &Params,
        parties: &[Party],
        source: impl FnOnce() -> Result<Source, Failure>,
    ) -> Result<(), Failure> {
        files::make_folder(path)?;
        files::may_write(&path.join(INSTANCE), Existing::Keep)?;
        for inner in ["blobs", "rounds", "sealed"] {
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
            "v": "arena-instance/v1", "name": name, "beacon": founding::beacon_json(&source()?, parties), "operator": operator,
            "asset": "units", "params": params.to_json(), "log": log::written(log::make(path)?),
        });
        // Last, so that it is an instance or none: what was left by one that was killed is not in the way.
        files::write(&path.join(JOURNAL), b"", Existing::KeepEqual)?;
        files::write(&path.join(INSTANCE), &json::canonical(&document), Existing::Keep)
    }

    /// Opens an instance and replays its journal.
    pub(super) fn open(path: &Path, io: &mut Io<'_>) -> Result<Self, Failure> {
        let genesis = read_instance(path)?;
        let place = path.join(JOURNAL);
        // It is opened to write only after it is known to be a file.
        arena_tournament::open_regular(&place).map_err(|why| io_failure(&place, "open journal", &why))?;
        let journal = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&place)
            .map_err(|why| io_failure(&place, "open journal", &why))?;
        journal.try_lock().map_err(|why| match why {
            std::fs::TryLockError::WouldBlock => broken(path, "another arena is at work in it; try again"),
            std::fs::TryLockError::Error(why) => io_failure(&place, "lock journal", &why),
        })?;
        let reading = Reading::of(path, genesis, &journal, &mut |_, _, _| {})?;
        reading.tell(io);
        log::recover(&reading)?;
        Ok(Self { reading, journal })
    }

    /// Does a command, writes what came of it, and says what it was. `keep` writes what the journal then rests
    /// on, once the command is accepted and before the journal tells of it.
    pub(super) fn execute(
        &mut self,
        stamped: &Stamped,
        doing: &str,
        keep: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Vec<Event>, Failure> {
        let events = execute(&mut self.reading.world, stamped).map_err(|refusal| {
            let code = refusal.code();
            let text = refusal.to_string();
            let mut lines = text.lines();
            let why = Excerpt { text: lines.next().unwrap_or_default(), max: 400 }.to_string();
            let details = lines.map(|line| Excerpt { text: line, max: 400 }.to_string()).collect::<Vec<_>>();
            Failure::new(Exit::Rejected, doing, format_args!("{code}: {why}")).details(details)
        })?;
        if !events.is_empty() {
            keep()?;
            self.keep_opening(stamped, &events)?;
            beacon::keep(&self.reading, stamped, &events)?;
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
        let kept = Kept(self.reading.path.clone());
        match events.iter().find_map(|event| kept.place_of_opening(&self.reading.world, event)) {
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
                let place = self.reading.path.join("blobs").join(format!("{}.json", Digest::of(&bytes)));
                files::write(&place, &bytes, Existing::KeepEqual)?;
            }
        }
        // Who acts on what is sealed is sealed as well: it may be the auditor.
        let secret = events.iter().all(Event::is_sealed);
        let by = (!secret).then_some(&stamped.by);
        let line = json!({
            "v": JOURNAL_VERSION, "seq": (self.reading.lines + 1).to_string(), "prev": self.reading.last,
            "at": stamped.at.to_string(), "by": by, "events": written,
        });
        let bytes = json::canonical(&line);
        let leaves = self.reading.leaves_of(stamped.at, by.map(String::as_str), &written, events);
        // What is sealed may be the commitment of a draw: that there is a checkpoint must not tell.
        let commits = |event: &Event| matches!(event, Event::DrawCommitted(_)) || event.is_sealed();
        let checkpoint = match events.iter().any(commits) {
            true => log::prepare(&self.reading, &leaves, stamped.at)?,
            false => None,
        };
        let failed = |why: &std::io::Error| {
            Failure::internal(
                format_args!("write journal of `{}`", files::shown(&self.reading.path)),
                files::plain(why),
            )
        };
        let mut journal = &self.journal;
        // What a crash left of a line is written over.
        journal.set_len(self.reading.length).map_err(|why| failed(&why))?;
        journal.seek(SeekFrom::Start(self.reading.length)).map_err(|why| failed(&why))?;
        let whole = [&bytes[..], b"\n"].concat();
        journal.write_all(&whole).and_then(|()| journal.sync_all()).map_err(|why| failed(&why))?;
        self.reading.length += whole.len() as u64;
        self.reading.lines += 1;
        self.reading.last = Digest::of(&bytes);
        self.reading.leaves.extend(leaves);
        log::settle(checkpoint)
    }

    /// An event that only the instance may see, beside the journal. A nonce keeps it from being guessed.
    fn seal(&self, event: &Value) -> Result<Value, Failure> {
        let bytes = json::canonical(&json!({ "event": event, "nonce": secret()? }));
        let digest = Digest::of(&bytes);
        let place = self.reading.path.join("sealed").join(format!("{digest}.json"));
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
        let at = self.reading.time(at)?;
        let seen = beacon::seen(&self.reading, at, round)?;
        let salt = command.claim().map(|claim| self.salt(claim)).transpose()?.flatten();
        Ok(Stamped { at, by: by.to_owned(), seen, salt, command })
    }

    /// The secret of a job's audits, made when the first may be committed.
    fn salt(&self, claim: &str) -> Result<Option<Digest>, Failure> {
        let claim = self.reading.world.claims.get(claim);
        let audits = |phase| matches!(phase, Phase::Running | Phase::Committed);
        let Some(claim) = claim.filter(|claim| audits(claim.phase)) else { return Ok(None) };
        let place = self.reading.private(&format!("salt-{}", claim.job));
        if !place.exists() {
            files::write_private(&place, secret()?.to_string().as_bytes(), Existing::Keep)?;
        }
        let bytes = files::read_regular(&place, 64).map_err(|unread| unread.reading("secret", &place))?;
        let salt = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
        salt.map(Some).ok_or_else(|| broken(&place, "it is no secret of 64 hexadecimal digits"))
    }
}

/// 32 bytes that nobody knows.
pub(crate) fn secret() -> Result<Digest, Failure> {
    luck::secret_bytes().map(Digest::from_bytes)
}
