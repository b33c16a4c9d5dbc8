//! What a program says of its work: a line for each thing that it did, and what it waits for, once.

use std::collections::BTreeMap;

use arena_engine::Excerpt;
use serde_json::json;

use super::Stop;
use super::view::Seen;
use crate::io::Io;

/// Claims whose last words are remembered.
const CLAIMS_MAX: usize = 10_000;

/// Says things, and nothing twice.
#[derive(Debug, Default)]
pub(super) struct Teller {
    is_json: bool,
    said: BTreeMap<String, String>,
}

impl Teller {
    pub(super) fn new(is_json: bool) -> Self {
        Self { is_json, said: BTreeMap::new() }
    }

    /// Something was done.
    pub(super) fn did(&mut self, seen: &Seen, did: &str, what: &str, io: &mut Io<'_>) {
        let what = Excerpt { text: what, max: 400 };
        if self.is_json {
            let line = json!({ "claim": seen.claim, "job": seen.job, "did": did, "what": what.to_string() });
            io.print_json(&line);
        } else {
            io.print(format_args!("{}: {did}: {what}", seen.claim));
        }
        io.flush();
        self.said.remove(&seen.claim);
    }

    /// A round of the beacon was brought to the server.
    pub(super) fn showed(&mut self, round: &str, from: &str, io: &mut Io<'_>) {
        if self.is_json {
            io.print_json(&json!({ "round": round, "did": "showed", "from": from }));
        } else {
            io.print(format_args!("round {round}: showed: from {from}"));
        }
        io.flush();
    }

    /// A party revealed its part of a round.
    pub(super) fn revealed(&mut self, round: u64, io: &mut Io<'_>) {
        if self.is_json {
            io.print_json(&json!({ "round": round.to_string(), "did": "revealed" }));
        } else {
            io.print(format_args!("round {round}: revealed"));
        }
        io.flush();
    }

    /// Something is wrong with what brings the beacon's rounds.
    pub(super) fn relay(&mut self, fault: &str, io: &mut Io<'_>) {
        let line = format!("the beacon: {}", Excerpt { text: fault, max: 400 });
        // Relays change their words more than once a look.
        if self.is_news(&line, "") {
            io.warn(line);
        }
    }

    /// A receipt that could be kept did not come.
    pub(super) fn receipt(&mut self, fault: &str, io: &mut Io<'_>) {
        let line = Excerpt { text: fault, max: 400 }.to_string();
        if self.is_news(&line, "") {
            io.warn(line);
        }
    }

    /// Something is waited for, or takes long.
    pub(super) fn waits(&mut self, about: &str, what: &str, io: &mut Io<'_>) {
        let line = format!("{about}: {}", Excerpt { text: what, max: 400 });
        if self.is_news(about, &line) {
            io.talk(line);
        }
    }

    /// Something went wrong.
    pub(super) fn trouble(&mut self, about: &str, stop: &Stop, io: &mut Io<'_>) {
        let line = format!("{about}: {stop}");
        if self.is_news(about, &line) {
            io.warn(line);
        }
    }

    fn is_news(&mut self, about: &str, line: &str) -> bool {
        if self.said.len() >= CLAIMS_MAX {
            self.said.clear();
        }
        self.said.insert(about.to_owned(), line.to_owned()).is_none_or(|last| last != line)
    }
}
