//! Episodes of the campus: who plays which pack, and every action so far.
//!
//! An open episode is its pack and its actions; the seat that is stepped is a cache of them, and the seats
//! that have not been used for longest go first. A finished one is its log, a blob, and a line about its
//! outcome.

pub(super) mod snapshot;

use std::collections::BTreeSet;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_cow::{CowMap, CowSet};
use arena_engine::ENGINE_VERSION;
use arena_engine::campus::{Episode, Given, MetricId, Pack, RawAction};
use arena_engine::limits::V1;
use arena_store::Event;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

use super::{Answer, Decision, Instance, Known, Request, Row};
use crate::auth::{Scope, Viewer};
use crate::instance::stamp;
use crate::play::rebuild;
use crate::problem::Problem;

/// The kinds of the rows that the fold reads.
pub const JOINED: &str = "episode.joined";
/// An action, and after the last turn what came of it all.
pub const ACTED: &str = "episode.acted";

/// Open episodes of one agent. They never end by time.
pub const OPEN_MAX: usize = 8;
/// Seats that are kept ready; the others are made again from their actions.
const SEATS_MAX: usize = 4_096;
const ID_DIGITS_MAX: usize = 12;

/// What can be wanted.
#[derive(Debug, Clone)]
pub enum Command {
    /// Starts an episode.
    Join {
        /// The pack's name.
        pack: String,
        /// Its version.
        version: String,
    },
    /// Acts on a turn. What it comes to was worked out before; the log of a finished episode is a blob
    /// already.
    Act {
        /// Which episode.
        episode: String,
        /// The turn.
        turn: u32,
        /// The action, as it was given.
        action: RawAction,
        /// With the last turn: the outcome.
        end: Option<Outcome>,
    },
}

/// What decides an episode, fixed when it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The pack's name.
    pub pack_id: String,
    /// Its version.
    pub pack_version: String,
    /// The digest of its document.
    pub pack_sha256: Digest,
    /// Its turns.
    pub turns: u32,
    /// The rules of play.
    pub engine_version: String,
    /// The scoring.
    pub score_version: String,
    /// The row of the limits.
    pub limits_version: u32,
}

/// One metric of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What is measured.
    pub id: MetricId,
    /// How much, where it has a value.
    pub value: Option<f64>,
}

/// How an episode ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The digest of the log.
    pub log_sha256: Digest,
    /// Its bytes.
    pub log_bytes: u64,
    /// Stars earned.
    pub stars: u8,
    /// Both metrics, in the pack's order.
    pub metrics: [Measured; 2],
    /// Limits that bit.
    pub clamps: u64,
}

/// An episode.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// Who plays it.
    pub agent: String,
    /// Since when.
    pub joined_at: Moment,
    /// When the last thing happened.
    pub last_at: Moment,
    /// What decides it.
    pub pins: Arc<Pinned>,
    /// The turn to act on.
    pub turn: u32,
    /// How it ended.
    pub end: Option<Outcome>,
    /// While it is open.
    actions: Vec<RawAction>,
    seat: Option<Box<Episode>>,
    used: u64,
}

/// All episodes.
#[derive(Debug, Clone, Default)]
pub struct Episodes {
    all: CowMap<u64, Record>,
    open: CowMap<String, BTreeSet<u64>>,
    finished: CowSet<u64>,
    finished_by: CowMap<String, CowSet<u64>>,
    finished_on: CowMap<Digest, CowSet<u64>>,
    pins: Vec<Arc<Pinned>>,
    seats: CowMap<u64, u64>,
    clock: u64,
}

/// Whether a text is the id of an episode, and its number.
fn number_of(id: &str) -> Option<u64> {
    let digits = id.strip_prefix('e')?;
    let plain =
        (1..=ID_DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain && !digits.starts_with('0'))
}

impl Record {
    /// Its name in addresses.
    pub fn id(&self) -> String {
        format!("e{}", self.number)
    }

    /// Its place in lists: the newest comes first.
    pub fn place(&self) -> String {
        format!("{:020}", u64::MAX - self.number)
    }

    /// The actions so far, while it is open.
    pub(crate) fn actions(&self) -> &[RawAction] {
        &self.actions
    }

    /// The seat, where it is kept ready.
    pub(crate) fn seat(&self) -> Option<&Episode> {
        self.seat.as_deref()
    }

    /// What everybody who may see it is told.
    pub fn to_json(&self) -> Value {
        let pins = &self.pins;
        let end = self.end.as_ref();
        json!({
            "episode": self.id(),
            "agent": self.agent,
            "status": if end.is_some() { "finished" } else { "open" },
            "pack": { "id": pins.pack_id, "version": pins.pack_version, "sha256": pins.pack_sha256 },
            "engine_version": pins.engine_version,
            "score_version": pins.score_version,
            "limits_version": pins.limits_version,
            "turns": pins.turns,
            "turn": self.turn,
            "joined_at": stamp(self.joined_at),
            "finished_at": end.map(|_| stamp(self.last_at)),
            "stars": end.map(|end| end.stars),
            "metrics": end.map(|end| end.metrics),
            "clamps": end.map(|end| end.clamps),
            "log_sha256": end.map(|end| end.log_sha256),
        })
    }
}

impl Episodes {
    /// The episode of this name, if it is one that somebody may see: an own one, or a finished one.
    pub fn seen(&self, viewer: &Viewer, id: &str) -> Result<&Record, Problem> {
        let nothing =
            || Problem::new("not_found", "there is no such episode, or it is another's and still open");
        let record = number_of(id).and_then(|number| self.all.get(&number)).ok_or_else(nothing)?;
        let may = record.end.is_some() || viewer.is_admin() || viewer.agent() == Some(&record.agent);
        if may { Ok(record) } else { Err(nothing()) }
    }

    /// What somebody may see of all episodes, the newest first: own ones, and finished ones.
    pub fn list<'a>(
        &'a self,
        viewer: &'a Viewer,
        agent: Option<&str>,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Record> + 'a {
        let below =
            after.and_then(|place| place.parse::<u64>().ok()).map_or(u64::MAX, |place| u64::MAX - place);
        let finished = match agent {
            None => Some(&self.finished),
            Some(agent) => self.finished_by.get(agent),
        };
        let open = viewer.agent().filter(|own| agent.is_none_or(|agent| agent == *own));
        let mut open = open
            .and_then(|own| self.open.get(own))
            .into_iter()
            .flat_map(move |open| open.range(..below).rev())
            .peekable();
        let mut finished =
            finished.into_iter().flat_map(move |finished| finished.range(..below).rev()).peekable();
        let numbers = std::iter::from_fn(move || match (open.peek(), finished.peek()) {
            (Some(a), Some(b)) if a > b => open.next(),
            (Some(_), None) => open.next(),
            _ => finished.next(),
        });
        numbers.filter_map(|number| self.all.get(number))
    }

    /// The open episodes of an agent, the newest first; at most [`OPEN_MAX`].
    pub fn open_by(&self, agent: &str) -> impl Iterator<Item = &Record> {
        let numbers = self.open.get(agent).into_iter().flat_map(|numbers| numbers.iter().rev());
        numbers.filter_map(|number| self.all.get(number))
    }

    /// Finished episodes of a pack, the newest first.
    pub fn finished_on(&self, pack: Digest) -> impl Iterator<Item = &Record> {
        let numbers = self.finished_on.get(&pack).into_iter().flat_map(|numbers| numbers.iter().rev());
        numbers.filter_map(|number| self.all.get(number))
    }

    fn open_of(&self, agent: &str) -> usize {
        self.open.get(agent).map_or(0, BTreeSet::len)
    }

    /// Notes that a seat was used, and lets the one go that was not for longest.
    fn use_seat(&mut self, number: u64) {
        self.clock += 1;
        let clock = self.clock;
        let Some(record) = self.all.get_mut(&number) else { return };
        self.seats.remove(&record.used);
        if record.seat.is_none() {
            return;
        }
        record.used = clock;
        self.seats.insert(clock, number);
        while self.seats.len() > SEATS_MAX {
            let Some((_, oldest)) = self.seats.pop_first() else { break };
            if let Some(record) = self.all.get_mut(&oldest) {
                record.seat = None;
            }
        }
    }

    fn keep_finished(&mut self, number: u64, agent: String, pack: Digest) {
        self.finished.insert(number);
        self.finished_by.get_or_default(agent).insert(number);
        self.finished_on.get_or_default(pack).insert(number);
    }

    fn intern(&mut self, pins: Pinned) -> Arc<Pinned> {
        if let Some(known) = self.pins.iter().find(|known| ***known == pins) {
            return Arc::clone(known);
        }
        let pins = Arc::new(pins);
        self.pins.push(Arc::clone(&pins));
        pins
    }
}

/// The pack of an episode, if it can still be played as it began.
pub(crate) fn pack_of(record: &Record, known: &Known) -> Result<Arc<Pack>, Problem> {
    let pins = &record.pins;
    if pins.engine_version != ENGINE_VERSION {
        let detail = format_args!(
            "it began under engine {}, and this server plays engine {ENGINE_VERSION}",
            pins.engine_version
        );
        return Err(Problem::new("conflict", detail));
    }
    let published = known.packs.with_digest(pins.pack_sha256);
    let gone = || {
        let name = format!("{} {}", pins.pack_id, pins.pack_version);
        Problem::new("conflict", format_args!("the pack {name} with this digest is no longer offered here"))
    };
    published.map(|published| Arc::clone(&published.pack)).ok_or_else(gone)
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    match command {
        Command::Join { pack, version } => join(instance, request, (pack, version), known),
        Command::Act { episode, turn, action, end } => {
            act(instance, request, (episode, *turn), action, end.as_ref())
        }
    }
}

fn join(
    instance: &Instance,
    request: &Request,
    (pack, version): (&str, &str),
    known: &Known,
) -> Result<Decision, Problem> {
    let agent = request.by.agent_with(Scope::Play)?;
    let episodes = &instance.episodes;
    let published = known.packs.find(pack, version).ok_or_else(|| {
        Problem::new(
            "unknown_reference",
            "no pack here has this name and version; GET /api/v1/packs lists them",
        )
    })?;
    if episodes.open_of(agent) >= OPEN_MAX {
        let detail = format_args!("you have {OPEN_MAX} open episodes, the limit; play one to its end");
        return Err(Problem::new("too_many_open", detail));
    }
    let pack = &published.pack;
    let document = pack.document();
    let pins = Pinned {
        pack_id: document.pack_id.clone(),
        pack_version: document.pack_version.clone(),
        pack_sha256: pack.sha256(),
        turns: pack.turns(),
        engine_version: ENGINE_VERSION.to_owned(),
        score_version: document.score_version.clone(),
        limits_version: V1.version,
    };
    let number = episodes.all.last_key_value().map_or(0, |(last, _)| *last) + 1;
    let record = Record {
        number,
        agent: agent.to_owned(),
        joined_at: request.at,
        last_at: request.at,
        pins: Arc::new(pins),
        turn: 0,
        end: None,
        actions: Vec::new(),
        seat: None,
        used: 0,
    };
    let (id, topic) = (record.id(), topic(number));
    let fact = json!({ "episode": number, "agent": agent, "pins": *record.pins });
    let told = json!({ "episode": id, "pack": pack.document().pack_id, "turns": pack.turns() });
    let rows = vec![
        Row::fact(request.at, topic.clone(), JOINED, fact),
        Row::announcement(request.at, topic, "match.started", told),
    ];
    let answer = Answer::created(format!("/api/v1/episodes/{id}"), record.to_json());
    Ok(Decision { rows, answer })
}

fn topic(number: u64) -> String {
    format!("episodes/e{number}")
}

fn act(
    instance: &Instance,
    request: &Request,
    (id, turn): (&str, u32),
    action: &RawAction,
    end: Option<&Outcome>,
) -> Result<Decision, Problem> {
    let agent = request.by.agent_with(Scope::Play)?;
    let record = instance.episodes.seen(&request.by, id)?;
    may_act(record, agent)?;
    check_turn(record, turn)?;
    let turns = record.pins.turns;
    if end.is_some() != (turn + 1 == turns) {
        return Err(Problem::new("conflict", "the outcome comes with the last turn; send the action again"));
    }
    let topic = topic(record.number);
    let fact = json!({ "episode": record.number, "turn": turn, "action": action, "end": end });
    let mut fact = Row::fact(request.at, topic.clone(), ACTED, fact);
    if let Some(end) = end {
        fact = fact.with_blob(end.log_sha256, end.log_bytes, "application/json");
    }
    let mut rows = vec![
        fact,
        Row::announcement(
            request.at,
            topic.clone(),
            "match.turn",
            json!({ "episode": id, "turn": turn, "turns": turns }),
        ),
    ];
    if let Some(end) = end {
        let told = json!({
            "episode": id, "agent": record.agent, "pack": record.pins.pack_id, "stars": end.stars,
            "metrics": end.metrics, "clamps": end.clamps, "log_sha256": end.log_sha256,
        });
        rows.push(Row::announcement(request.at, topic, "match.finished", told));
    }
    Ok(Decision { rows, answer: Answer::ok(json!({ "episode": id, "turn": turn })) })
}

/// Whoever plays it acts, and nobody else.
pub(crate) fn may_act(record: &Record, agent: &str) -> Result<(), Problem> {
    if record.agent == agent {
        return Ok(());
    }
    Err(Problem::new("wrong_actor", format_args!("`{}` plays this episode", record.agent)))
}

/// Turns are played one after the other.
pub(crate) fn check_turn(record: &Record, turn: u32) -> Result<(), Problem> {
    let turns = record.pins.turns;
    if turn >= turns {
        return Err(Problem::new("not_found", format_args!("the episode has the turns 0 to {}", turns - 1)));
    }
    if turn < record.turn {
        let detail =
            format_args!("turn {turn} was played with another action; the next one is {}", record.turn);
        return Err(Problem::new("turn_already_committed", detail));
    }
    if turn > record.turn {
        return Err(Problem::new("not_this_turn", format_args!("turn {} is the one to play", record.turn)));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Joined {
    episode: u64,
    agent: String,
    pins: Pinned,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Acted {
    episode: u64,
    turn: u32,
    action: Action,
    end: Option<Outcome>,
}

/// An action as it was written into its row.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    #[serde(default, deserialize_with = "given")]
    curtail_mw: Given<f64>,
    #[serde(default, deserialize_with = "given")]
    battery_mw: Given<f64>,
    #[serde(default, deserialize_with = "given")]
    diesel_mw: Given<f64>,
    #[serde(default, deserialize_with = "given")]
    accept_offer: Given<bool>,
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Given<T>, D::Error> {
    Ok(Option::deserialize(from)?.map_or(Given::Null, Given::Value))
}

impl From<Action> for RawAction {
    fn from(action: Action) -> Self {
        let Action { curtail_mw, battery_mw, diesel_mw, accept_offer } = action;
        Self { curtail_mw, battery_mw, diesel_mw, accept_offer }
    }
}

/// Whether the seats of open episodes are stepped as their actions are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seats {
    /// They are kept ready.
    Kept,
    /// They are left until somebody acts.
    Left,
}

/// Whether the rows of a kind are those of episodes.
pub(crate) fn is_fact(kind: &str) -> bool {
    matches!(kind, JOINED | ACTED)
}

/// Takes a row in as it stands in the journal.
pub(crate) fn read(
    instance: &mut Instance,
    at: Moment,
    event: &Event,
    known: &Known,
    seats: Seats,
) -> Result<(), String> {
    let episodes = &mut instance.episodes;
    if event.kind == JOINED {
        let fact: Joined = event.read().map_err(|why| why.to_string())?;
        return joined(episodes, at, fact, (known, seats));
    }
    let fact: Acted = event.read().map_err(|why| why.to_string())?;
    acted(episodes, at, fact, (known, seats))
}

pub(super) fn evolve(instance: &mut Instance, row: &Row, known: &Known) -> Result<(), String> {
    let episodes = &mut instance.episodes;
    if row.kind == JOINED {
        let fact: Joined = serde::Deserialize::deserialize(&row.body).map_err(|why| why.to_string())?;
        return joined(episodes, row.at, fact, (known, Seats::Kept));
    }
    let fact: Acted = serde::Deserialize::deserialize(&row.body).map_err(|why| why.to_string())?;
    acted(episodes, row.at, fact, (known, Seats::Kept))
}

fn joined(
    episodes: &mut Episodes,
    at: Moment,
    fact: Joined,
    (known, seats): (&Known, Seats),
) -> Result<(), String> {
    let Joined { episode: number, agent, pins } = fact;
    if episodes.all.contains_key(&number) {
        return Err(format!("episode {number} has begun already"));
    }
    let pins = episodes.intern(pins);
    episodes.open.get_or_default(agent.clone()).insert(number);
    let record = Record {
        number,
        agent,
        joined_at: at,
        last_at: at,
        pins,
        turn: 0,
        end: None,
        actions: Vec::new(),
        seat: None,
        used: 0,
    };
    let pack = (seats == Seats::Kept).then(|| pack_of(&record, known).ok()).flatten();
    let seat = pack.map(|pack| Box::new(Episode::new(pack)));
    episodes.all.insert(number, Record { seat, ..record });
    episodes.use_seat(number);
    Ok(())
}

fn acted(
    episodes: &mut Episodes,
    at: Moment,
    fact: Acted,
    (known, seats): (&Known, Seats),
) -> Result<(), String> {
    let Acted { episode: number, turn, action, end } = fact;
    let record = episodes.all.get_mut(&number).ok_or("no such episode")?;
    if record.end.is_some() || record.turn != turn {
        return Err(format!("turn {turn} of episode {number} is not the one to play"));
    }
    record.turn += 1;
    record.last_at = at;
    if let Some(end) = end {
        let pack = record.pins.pack_sha256;
        record.end = Some(end);
        record.actions = Vec::new();
        record.seat = None;
        let agent = record.agent.clone();
        if let Some(open) = episodes.open.get_mut(&agent) {
            open.remove(&number);
            if open.is_empty() {
                episodes.open.remove(&agent);
            }
        }
        episodes.keep_finished(number, agent, pack);
    } else {
        let action = RawAction::from(action);
        record.actions.push(action);
        let pack = (seats == Seats::Kept).then(|| pack_of(record, known).ok()).flatten();
        record.seat = match (record.seat.take(), pack) {
            (Some(mut seat), Some(_)) => {
                seat.observe().is_some().then(|| seat.commit(action.action()));
                Some(seat)
            }
            (None, Some(pack)) => Some(Box::new(rebuild(&pack, &record.actions))),
            (_, None) => None,
        };
    }
    episodes.use_seat(number);
    Ok(())
}

#[cfg(test)]
mod tests;
