//! Tournaments: drafted, frozen, started, played by the workshop, and ended in exactly one way.
//!
//! Who plays under which alias is known to nobody before a run has succeeded. `seen` says who may see a tournament
//! at all, and `disclosed` whether what tells identities apart may be told; API and pages ask these two.

mod plan;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_tournament::{Class, Component, MatchId, Pins, Secret};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) use plan::{freeze, inputs};
pub(crate) use told::{json, matrix_json, moves_json};

use super::strategies::number_of;
use super::{Answer, Decision, Instance, Known, PIECE, Request, Row};
use crate::auth::{Scope, Viewer};
use crate::config;
use crate::problem::Problem;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "tournament.command";
/// Bytes of a reason that is kept.
const REASON_BYTES_MAX: usize = 2_000;
const DAY_MS: i64 = 86_400_000;

/// What can be wanted.
#[derive(Debug, Clone)]
pub enum Command {
    /// Drafts one from a document.
    Draft {
        /// The plan, with strategies by id.
        document: Value,
        /// What is allowed here.
        limits: config::Tournaments,
    },
    /// Freezes a draft. The frozen file is a blob already.
    Freeze(Freezing),
    /// Starts a frozen one, or one that stalled.
    Start {
        /// Which.
        tournament: String,
        /// What is allowed here.
        limits: config::Tournaments,
    },
    /// Its identities are committed to; the first match comes after this.
    Begin {
        /// Which.
        tournament: u64,
        /// The file with the commitments.
        commitments: Pin,
    },
    /// So many matchups have lasted.
    Tell {
        /// Which.
        tournament: u64,
        /// How many.
        completed: u64,
    },
    /// It is over.
    End {
        /// Which.
        tournament: u64,
        /// How it ended.
        ended: Box<Ended>,
    },
}

/// What freezing a draft gave.
#[derive(Debug, Clone)]
pub struct Freezing {
    /// Which.
    pub tournament: String,
    /// What only the platform knows until disclosure.
    pub secret: Secret,
    /// The frozen file.
    pub frozen: Pin,
}

/// A file that is kept as a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Its digest.
    pub sha256: Digest,
    /// Its length.
    pub bytes: u64,
}

/// How a tournament ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The terminal class.
    pub class: Class,
    /// Why.
    pub reason: String,
    /// The matchup it ended at, if it ended at one.
    pub matchup: Option<MatchId>,
    /// Matchups with a recorded outcome.
    pub completed: u64,
    /// The receipt; nothing if the run could not even write one.
    pub receipt: Option<Pin>,
    /// The digest of the receipt without its times.
    pub record_digest: Option<Digest>,
    /// The scorecard, of a success only.
    pub scorecard: Option<Pin>,
    /// The identities, of a success only.
    pub identities: Option<Pin>,
    /// Of a success: the files that are nowhere else (journal, guests' words, packs, the scorecard for people), one after
    /// the other as the receipt lists them, in pieces. Nothing for a run from before that, or if it was too much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Pin>,
}

/// What was frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// When.
    pub at: Moment,
    /// The file.
    pub file: Pin,
    /// What only the platform knows until disclosure.
    pub(crate) secret: Secret,
}

/// A tournament.
#[derive(Debug, Clone)]
pub struct Tournament {
    /// Its number, from 1.
    pub number: u64,
    /// The agent that drafted it; nobody if it was the platform.
    pub owner: Option<String>,
    /// When it was drafted.
    pub at: Moment,
    /// The plan, with ids of strategies in place of files.
    pub plan: Arc<Value>,
    /// The strategies, in the order of the plan.
    pub strategies: Vec<u64>,
    /// Matchups of the matrix.
    pub matchups: u64,
    /// Turns of all of them.
    pub turns: u64,
    /// Once it is frozen.
    pub frozen: Option<Frozen>,
    /// When it was last started.
    pub started_at: Option<Moment>,
    /// When the identities were committed to, and the file that does.
    pub begun: Option<(Moment, Pin)>,
    /// When and how it ended.
    pub end: Option<(Moment, Ended)>,
}

/// Where a tournament stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Seen by its owner only.
    Draft,
    /// Public, and not started.
    Frozen,
    /// Waiting to be played, or played.
    Started,
    /// Over.
    Over(Class),
}

/// All tournaments.
#[derive(Debug, Clone, Default)]
pub struct Tournaments {
    all: BTreeMap<u64, Arc<Tournament>>,
    /// Started and not over, in the order in which they are played.
    waiting: BTreeSet<u64>,
}

impl Status {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Frozen => "frozen",
            Self::Started => "started",
            Self::Over(class) => class.name(),
        }
    }
}

impl Tournament {
    /// Its name in addresses.
    pub fn id(&self) -> String {
        format!("t{}", self.number)
    }

    /// Its place in lists: the newest comes first.
    pub fn place(&self) -> String {
        format!("{:020}", u64::MAX - self.number)
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        match (&self.end, self.started_at, &self.frozen) {
            (Some((_, ended)), ..) => Status::Over(ended.class),
            (None, Some(_), _) => Status::Started,
            (None, None, Some(_)) => Status::Frozen,
            (None, None, None) => Status::Draft,
        }
    }

    /// A text of its plan.
    pub fn text(&self, member: &str) -> &str {
        self.plan.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// Whether somebody drafted it, or runs the platform.
    pub fn is_own(&self, viewer: &Viewer) -> bool {
        viewer.is_admin() || self.owner.as_deref().is_some_and(|owner| viewer.agent() == Some(owner))
    }

    /// How it ended, if it ended so that everybody may know who was who. Anything that tells an alias from
    /// another passes here.
    pub fn disclosed(&self) -> Result<&Ended, Problem> {
        match &self.end {
            Some((_, ended)) if ended.class == Class::Success => Ok(ended),
            Some((_, ended)) => {
                let (class, reason) = (ended.class.name(), &ended.reason);
                Err(Problem::new("no_scorecard", format_args!("it ended as {class}: {reason}")))
            }
            None => Err(Problem::new("not_over", "the identities are hidden until the run is over")),
        }
    }
}

impl Tournaments {
    /// The tournament of this name, if it is one that somebody may see: any but the drafts of others.
    pub fn seen(&self, viewer: &Viewer, id: &str) -> Result<&Arc<Tournament>, Problem> {
        let nothing =
            || Problem::new("not_found", "there is no such tournament, or it is a draft of another");
        let tournament = number_of(id, 't').and_then(|number| self.all.get(&number)).ok_or_else(nothing)?;
        if Self::may_see(tournament, viewer) { Ok(tournament) } else { Err(nothing()) }
    }

    fn may_see(tournament: &Tournament, viewer: &Viewer) -> bool {
        tournament.frozen.is_some() || tournament.is_own(viewer)
    }

    /// What somebody may see of all of them, the newest first.
    pub fn list<'a>(&'a self, viewer: &'a Viewer) -> impl Iterator<Item = &'a Arc<Tournament>> + 'a {
        self.all.values().rev().filter(|tournament| Self::may_see(tournament, viewer))
    }

    /// The tournament of this number.
    pub(crate) fn get(&self, number: u64) -> Option<&Arc<Tournament>> {
        self.all.get(&number)
    }

    /// Those that are to be played, the next one first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().copied()
    }

    /// Those that are over, and how they ended.
    pub(crate) fn over(&self) -> impl Iterator<Item = (u64, Class)> + '_ {
        self.all.values().filter_map(|it| Some((it.number, it.end.as_ref()?.1.class)))
    }

    /// The tournament of this name, for who may act on it.
    pub(crate) fn own(&self, viewer: &Viewer, id: &str) -> Result<&Arc<Tournament>, Problem> {
        if !viewer.is_admin() {
            viewer.agent_with(Scope::Submit)?;
        }
        let tournament = self.seen(viewer, id)?;
        if tournament.is_own(viewer) {
            return Ok(tournament);
        }
        Err(Problem::new("wrong_actor", "this is for whoever drafted it"))
    }

    fn with(&mut self, number: u64, change: impl FnOnce(&mut Tournament)) -> Result<(), String> {
        let tournament =
            self.all.get_mut(&number).ok_or_else(|| format!("there is no tournament {number}"))?;
        change(Arc::make_mut(tournament));
        Ok(())
    }
}

/// What happened, as the journal has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
enum Fact {
    Drafted {
        tournament: u64,
        owner: Option<String>,
        plan: Value,
        strategies: Vec<u64>,
        matchups: u64,
        turns: u64,
    },
    Frozen {
        tournament: u64,
        secret: Digest,
        file: Pin,
    },
    Started {
        tournament: u64,
    },
    Begun {
        tournament: u64,
        commitments: Pin,
    },
    Ended {
        tournament: u64,
        ended: Ended,
    },
}

fn topic(number: u64) -> String {
    format!("tournaments/t{number}")
}

fn fact(request: &Request, number: u64, fact: &Fact) -> Result<Row, Problem> {
    let body = serde_json::to_value(fact).map_err(|_| Problem::internal())?;
    Ok(Row::fact(request.at, topic(number), FACT, body))
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    match command {
        Command::Draft { document, limits } => draft(instance, request, document, (limits, known)),
        Command::Freeze(freezing) => frozen(instance, request, freezing),
        Command::Start { tournament, limits } => start(instance, request, tournament, limits),
        Command::Begin { tournament, commitments } => begin(instance, request, *tournament, *commitments),
        Command::Tell { tournament, completed } => tell(instance, request, *tournament, *completed),
        Command::End { tournament, ended } => end(instance, request, *tournament, ended),
    }
}

fn draft(
    instance: &Instance,
    request: &Request,
    document: &Value,
    (limits, known): (&config::Tournaments, &Known),
) -> Result<Decision, Problem> {
    let owner = match &request.by {
        viewer if viewer.is_admin() && viewer.agent().is_none() => None,
        viewer => Some(viewer.agent_with(Scope::Submit)?.to_owned()),
    };
    let all = &instance.tournaments.all;
    if let Some(owner) = &owner {
        let own = || all.values().filter(|it| it.owner.as_ref() == Some(owner));
        let open = own().filter(|it| it.end.is_none()).count();
        if open >= limits.open_per_agent {
            let detail = format_args!("{open} of your tournaments are not over; the limit is {open}");
            return Err(Problem::new("too_many_drafts", detail));
        }
        let day_ago = request.at.unix_ms() - DAY_MS;
        let today = own().filter(|it| it.at.unix_ms() > day_ago).count();
        if today >= limits.drafts_per_day {
            let detail = format_args!("you drafted {today} tournaments in 24 hours, the limit");
            return Err(Problem::new("too_many_attempts", detail).retry_after(3_600));
        }
    }
    let plan::Drafted { plan, strategies, matchups, turns } =
        plan::read(instance, &request.by, document, limits, known)?;
    let number = all.last_key_value().map_or(0, |(last, _)| *last) + 1;
    let tournament = Tournament {
        number,
        owner: owner.clone(),
        at: request.at,
        plan: Arc::new(plan.clone()),
        strategies: strategies.clone(),
        matchups,
        turns,
        frozen: None,
        started_at: None,
        begun: None,
        end: None,
    };
    check_freezes(instance, &tournament, known)?;
    let rows = vec![fact(
        request,
        number,
        &Fact::Drafted { tournament: number, owner, plan, strategies, matchups, turns },
    )?];
    let location = format!("/api/v1/tournaments/{}", tournament.id());
    Ok(Decision { rows, answer: Answer::created(location, told::json(instance, &tournament, None)) })
}

/// What cannot be frozen is not drafted: a draft never goes away.
fn check_freezes(instance: &Instance, tournament: &Tournament, known: &Known) -> Result<(), Problem> {
    let component = |number: &u64| {
        let admission = &instance.strategies.get(*number)?.admission;
        Some(Component { sha256: admission.sha256, world: admission.world.clone() })
    };
    let components: Option<Vec<Component>> = tournament.strategies.iter().map(component).collect();
    let components = components.ok_or_else(Problem::internal)?;
    let pins = Pins { limits_version: 0, wasmtime: String::new() };
    plan::freeze(tournament, &components, known, &Secret::from_bytes([0; 32]), &pins)?;
    Ok(())
}

/// What a tournament looks like after a fact.
fn after(
    instance: &Instance,
    tournament: &Tournament,
    change: impl FnOnce(&mut Tournament),
    rows: Vec<Row>,
) -> Decision {
    let mut changed = tournament.clone();
    change(&mut changed);
    Decision { rows, answer: Answer::ok(told::json(instance, &changed, None)) }
}

fn frozen(instance: &Instance, request: &Request, freezing: &Freezing) -> Result<Decision, Problem> {
    let Freezing { tournament, secret, frozen } = freezing;
    let tournament = instance.tournaments.own(&request.by, tournament)?;
    check_status(tournament, &[Status::Draft])?;
    let told = Fact::Frozen {
        tournament: tournament.number,
        secret: Digest::from_bytes(*secret.as_bytes()),
        file: *frozen,
    };
    let row = fact(request, tournament.number, &told)?;
    let row = row.with_blob(frozen.sha256, frozen.bytes, "application/json");
    let change = |it: &mut Tournament| {
        it.frozen = Some(Frozen { at: request.at, file: *frozen, secret: secret.clone() });
    };
    Ok(after(instance, tournament, change, vec![row]))
}

/// Whether it is where this can be done.
pub(crate) fn check_status(tournament: &Tournament, wanted: &[Status]) -> Result<(), Problem> {
    let status = tournament.status();
    if wanted.contains(&status) {
        return Ok(());
    }
    Err(Problem::new("not_in_status", format_args!("its status is {}", status.name())))
}

fn start(
    instance: &Instance,
    request: &Request,
    id: &str,
    limits: &config::Tournaments,
) -> Result<Decision, Problem> {
    let tournament = instance.tournaments.own(&request.by, id)?;
    check_status(tournament, &[Status::Frozen, Status::Over(Class::Stalled)])?;
    let waiting = instance.tournaments.waiting.len();
    if waiting >= limits.queued_max {
        let detail = format_args!("{waiting} tournaments are played or wait to be; the limit is {waiting}");
        return Err(Problem::new("overloaded", detail).retry_after(60));
    }
    let row = fact(request, tournament.number, &Fact::Started { tournament: tournament.number })?;
    let change = |it: &mut Tournament| {
        it.started_at = Some(request.at);
        it.end = None;
    };
    Ok(after(instance, tournament, change, vec![row]))
}

/// A tournament that is being played.
fn played(instance: &Instance, number: u64) -> Result<&Arc<Tournament>, Problem> {
    let tournament = instance.tournaments.get(number).ok_or_else(Problem::internal)?;
    check_status(tournament, &[Status::Started])?;
    Ok(tournament)
}

fn begin(instance: &Instance, request: &Request, number: u64, commitments: Pin) -> Result<Decision, Problem> {
    let tournament = played(instance, number)?;
    let frozen = tournament.frozen.as_ref().ok_or_else(Problem::internal)?;
    let row = fact(request, number, &Fact::Begun { tournament: number, commitments })?;
    let row = row.with_blob(commitments.sha256, commitments.bytes, "application/json");
    let told = json!({
        "tournament": tournament.id(), "frozen_sha256": frozen.file.sha256,
        "commitments_sha256": commitments.sha256, "planned": tournament.matchups,
    });
    let rows = vec![row, Row::announcement(request.at, topic(number), "match.started", told)];
    Ok(after(instance, tournament, |it| it.begun = Some((request.at, commitments)), rows))
}

/// Only how many there are: which ones would tell something of who plays fast.
fn tell(instance: &Instance, request: &Request, number: u64, completed: u64) -> Result<Decision, Problem> {
    let tournament = played(instance, number)?;
    let told = json!({
        "tournament": tournament.id(), "completed": completed, "planned": tournament.matchups,
    });
    let rows = vec![Row::announcement(request.at, topic(number), "match.finished", told)];
    Ok(after(instance, tournament, |_| {}, rows))
}

fn end(instance: &Instance, request: &Request, number: u64, ended: &Ended) -> Result<Decision, Problem> {
    let tournament = played(instance, number)?;
    let mut ended = ended.clone();
    let mut end = ended.reason.len().min(REASON_BYTES_MAX);
    while !ended.reason.is_char_boundary(end) {
        end -= 1;
    }
    ended.reason.truncate(end);
    let mut row = fact(request, number, &Fact::Ended { tournament: number, ended: ended.clone() })?;
    for pin in [ended.receipt, ended.scorecard, ended.identities].into_iter().flatten() {
        row = row.with_blob(pin.sha256, pin.bytes, "application/json");
    }
    for pin in &ended.kept {
        row = row.with_blob(pin.sha256, pin.bytes, PIECE);
    }
    let told = json!({
        "tournament": tournament.id(), "terminal": ended.class, "reason": ended.reason,
        "completed": ended.completed, "planned": tournament.matchups,
        "frozen_sha256": tournament.frozen.as_ref().map(|frozen| frozen.file.sha256),
        "receipt_sha256": ended.receipt.map(|pin| pin.sha256),
        "record_digest": ended.record_digest,
        "scorecard_sha256": ended.scorecard.map(|pin| pin.sha256),
        "identities_sha256": ended.identities.map(|pin| pin.sha256),
    });
    let rows = vec![row, Row::announcement(request.at, topic(number), "tournament.terminal", told)];
    Ok(after(instance, tournament, |it| it.end = Some((request.at, ended)), rows))
}

pub(super) fn evolve(instance: &mut Instance, row: &Row) -> Result<(), String> {
    let fact: Fact = serde_json::from_value(row.body.clone()).map_err(|why| why.to_string())?;
    let tournaments = &mut instance.tournaments;
    match fact {
        Fact::Drafted { tournament: number, owner, plan, strategies, matchups, turns } => {
            let tournament = Tournament {
                number,
                owner,
                at: row.at,
                plan: Arc::new(plan),
                strategies,
                matchups,
                turns,
                frozen: None,
                started_at: None,
                begun: None,
                end: None,
            };
            if tournaments.all.insert(number, Arc::new(tournament)).is_some() {
                return Err(format!("tournament {number} is there already"));
            }
            Ok(())
        }
        Fact::Frozen { tournament, secret, file } => {
            let secret = Secret::from_bytes(*secret.as_bytes());
            tournaments.with(tournament, |it| it.frozen = Some(Frozen { at: row.at, file, secret }))
        }
        Fact::Started { tournament } => {
            tournaments.waiting.insert(tournament);
            tournaments.with(tournament, |it| {
                it.started_at = Some(row.at);
                it.end = None;
            })
        }
        Fact::Begun { tournament, commitments } => {
            tournaments.with(tournament, |it| it.begun = Some((row.at, commitments)))
        }
        Fact::Ended { tournament, ended } => {
            tournaments.waiting.remove(&tournament);
            let played = tournaments.all.get(&tournament).map(|it| it.strategies.clone()).unwrap_or_default();
            if ended.class == Class::Success {
                instance.strategies.disclose(&played);
            }
            tournaments.with(tournament, |it| it.end = Some((row.at, ended)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_from_before_whole_runs_were_kept_is_read_and_written_as_it_was() {
        let old = json!({
            "class": "success", "reason": "r", "matchup": null, "completed": 1, "receipt": null,
            "record_digest": null, "scorecard": null, "identities": null,
        });
        let ended: Ended = serde_json::from_value(old.clone()).unwrap();
        assert!(ended.kept.is_empty());
        assert_eq!(serde_json::to_value(&ended).unwrap(), old);
        let kept = vec![Pin { sha256: Digest::of(b"piece"), bytes: 5 }];
        let new = Ended { kept, ..ended };
        let read: Ended = serde_json::from_value(serde_json::to_value(&new).unwrap()).unwrap();
        assert_eq!(read, new);
    }
}
