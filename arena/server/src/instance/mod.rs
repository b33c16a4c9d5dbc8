//! Everything the server knows: the fold of its journal.
//!
//! Each area has a module with its commands, what it decides and how its events are taken in. A command comes to
//! *facts* (sealed rows that the fold reads) and *announcements* (public rows that nobody folds and everybody may
//! see), so that what is private cannot get out through a feed: it is in another row.

pub mod agents;
pub mod claims;
pub mod contests;
pub mod episodes;
pub mod rounds;
mod row;
pub(crate) mod snapshot;
mod stamp;
pub mod strategies;
mod tick;
pub mod tournaments;

use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::cite::Registry;
use arena_contests::contest::Contests;
use arena_contests::leak::Scanner;
use arena_cow::Shared;

pub use row::Row;
pub(crate) use row::{MATERIAL, PIECE, UPLOAD};
pub(crate) use stamp::stamp;

use crate::auth::Viewer;
use crate::problem::Problem;

/// What is known of the world outside, for decisions. It is the same for all of them.
pub struct Known {
    /// The acts that citations are looked up in.
    pub registry: Registry,
    /// What must never become public.
    pub scanner: Scanner,
    /// The packs that are played.
    pub packs: crate::play::Shelf,
    /// What the instance of claims is, where there is none yet.
    pub claims: claims::Genesis,
    /// By which the log of claims is signed.
    pub log: arena_claims::envelope::SecretKey,
}

/// What somebody wants, with everything that no rule can know.
#[derive(Debug, Clone)]
pub struct Request {
    /// When it came, taken once, before its body was read.
    pub at: Moment,
    /// Who it is.
    pub by: Viewer,
    /// Random bytes for what it makes: ids, keys.
    pub luck: [u8; 64],
    /// What is wanted.
    pub command: Command,
}

/// What can be wanted, by area.
#[derive(Debug, Clone)]
pub enum Command {
    /// Agents, their keys and their logins.
    Agents(agents::Command),
    /// Claims.
    Claims(claims::Command),
    /// The contest module.
    Contests(contests::Command),
    /// Episodes of the campus.
    Episodes(episodes::Command),
    /// The producer sprint.
    Rounds(rounds::Command),
    /// Strategies.
    Strategies(strategies::Command),
    /// Tournaments.
    Tournaments(tournaments::Command),
    /// Whatever is due by time alone.
    Tick,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The status of the answer.
    pub status: u16,
    /// Where what was made is.
    pub location: Option<String>,
    /// The body.
    pub body: Value,
    /// Members that are shown this once and never kept.
    pub once: Option<Value>,
}

impl Answer {
    /// It is done, and this is how it looks now.
    pub fn ok(body: Value) -> Self {
        Self { status: 200, location: None, body, once: None }
    }

    /// 202, where it stands, and its status.
    pub fn accepted(location: impl Into<String>, body: Value) -> Self {
        Self { status: 202, ..Self::created(location, body) }
    }

    /// Something new is there.
    pub fn created(location: impl Into<String>, body: Value) -> Self {
        Self { status: 201, location: Some(location.into()), body, once: None }
    }
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What is written, in order.
    pub rows: Vec<Row>,
    /// What is answered.
    pub answer: Answer,
}

/// The state. There is a version of it for each commit, and what has not changed between two is in both: an area is
/// shared as a whole until something of it changes, and what grows in it is in maps that share their parts.
#[derive(Debug, Clone, Default)]
pub struct Instance {
    /// Who there is.
    pub agents: Shared<agents::Agents>,
    /// Claims.
    pub claims: Shared<claims::Claims>,
    /// The contest module.
    pub contests: Shared<Contests>,
    /// Episodes of the campus.
    pub episodes: Shared<episodes::Episodes>,
    /// The producer sprint.
    pub rounds: Shared<rounds::Rounds>,
    /// Strategies.
    pub strategies: Shared<strategies::Strategies>,
    /// Tournaments.
    pub tournaments: Shared<tournaments::Tournaments>,
    /// When anything last happened.
    pub now: Option<Moment>,
    /// Rows that made it.
    pub seq: u64,
}

impl Instance {
    /// What follows from a request, or why nothing does. Time never goes back: a request that came before the last
    /// one that was decided counts as of that time.
    pub fn decide(&self, request: &Request, known: &Known) -> Result<Decision, Problem> {
        let at = self.now.map_or(request.at, |now| now.max(request.at));
        let later;
        let request = if at == request.at {
            request
        } else {
            later = Request { at, ..request.clone() };
            &later
        };
        match &request.command {
            Command::Agents(command) => agents::decide(self, request, command, known),
            Command::Claims(command) => claims::decide(self, request, command, known),
            Command::Contests(command) => contests::decide(self, request, command, known),
            Command::Episodes(command) => episodes::decide(self, request, command, known),
            Command::Rounds(command) => rounds::decide(self, request, command),
            Command::Strategies(command) => strategies::decide(self, request, command),
            Command::Tournaments(command) => tournaments::decide(self, request, command, known),
            Command::Tick => tick::decide(self, request, known),
        }
    }

    /// Takes a row in. Announcements change nothing.
    ///
    /// A row that does not fit was not written by this program, or its rules have changed: it says why.
    pub fn evolve(&mut self, row: &Row, known: &Known) -> Result<(), String> {
        self.refold(row, known)?;
        self.pass(row.at);
        Ok(())
    }

    /// The same without counting the row: it was counted, and is folded again.
    pub(crate) fn refold(&mut self, row: &Row, known: &Known) -> Result<(), String> {
        match row.kind.as_str() {
            agents::FACT => agents::evolve(self, row)?,
            claims::FACT => claims::evolve(self, row)?,
            contests::FACT => contests::evolve(self, row, known)?,
            episodes::JOINED | episodes::ACTED => episodes::evolve(self, row, known)?,
            rounds::FACT => rounds::evolve(self, row)?,
            strategies::FACT => strategies::evolve(self, row)?,
            tournaments::FACT => tournaments::evolve(self, row)?,
            _ => {}
        }
        Ok(())
    }

    /// Counts a row and its time, which is all that an announcement changes.
    pub(crate) fn pass(&mut self, at: Moment) {
        self.seq += 1;
        self.now = Some(self.now.map_or(at, |now| now.max(at)));
    }

    /// Whether the fold reads the rows of a kind.
    pub(crate) fn folds(kind: &str) -> bool {
        Self::FACTS.iter().any(|(fact, _)| *fact == kind)
    }

    /// Every kind that the fold reads, with the newest version it reads.
    pub const FACTS: &'static [(&'static str, u32)] = &[
        (agents::FACT, 1),
        (claims::FACT, 1),
        (contests::FACT, 1),
        (rounds::FACT, 2),
        (strategies::FACT, 1),
        (tournaments::FACT, 1),
        (episodes::JOINED, 1),
        (episodes::ACTED, 1),
    ];
}
