//! The producer sprint. The facts are the terms of each round and its commands as they were taken; deciding them
//! again gives the same rounds.
//!
//! What somebody may see of a round is decided by `visible` alone, for the API, the pages and the feed. While
//! standings are frozen it gives a copy of the round as it was when the freeze began, and what is announced in
//! that time waits for its end.

mod answer;
mod due;
mod refused;
mod seen;
mod told;
mod view;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::document::{Faults, Object};
use arena_contests::sprint::Window;
use arena_contests::sprint::clock::Phase;
use arena_contests::sprint::round::{self, Actor, Happened, Round, Stamped, Terms, wire};
use arena_cow::{CowMap, Shared};
use axum::http::HeaderMap;
use serde_json::json;

pub(super) use due::carry_out_due;
pub use refused::problem;
pub(crate) use seen::{Seen, company_of, visible};
pub(crate) use view::*;

use super::agents::is_name;
use super::{Answer, Decision, Instance, Request, Row, UPLOAD};
use crate::auth::{Scope, Viewer};
use crate::instance::stamp;
use crate::problem::Problem;
use crate::texts::{MEDIA_TYPE, blob_of};

/// The kind of the rows that the fold reads.
pub const FACT: &str = "rounds.fact";

/// Rounds there may be.
const ROUNDS_MAX: usize = 1_000;

/// A round and what the server knows of it beside.
#[derive(Debug, Clone)]
pub struct Held {
    /// As it is.
    pub round: Round,
    /// Whether its standings are frozen from the last cut-off to the closeout.
    pub freezes: bool,
    /// As it was before the first thing that happened in the freeze.
    frozen: Option<Box<Round>>,
    /// What is to be announced when the freeze ends.
    withheld: Shared<Vec<Row>>,
}

/// All rounds, and for which operator each company first registered.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    rounds: CowMap<String, Held>,
    operators: CowMap<String, String>,
}

/// What can be wanted of them.
#[derive(Debug, Clone)]
pub enum Command {
    /// A new round, as a draft.
    Create {
        /// On these terms.
        terms: Box<Terms>,
        /// Whether its standings are frozen from the last cut-off to the closeout.
        freezes: bool,
    },
    /// Something of a round.
    Act(Box<Act>),
}

/// What is wanted of a round.
#[derive(Debug, Clone)]
pub struct Act {
    /// Of which.
    pub round: String,
    /// The company that registers; of everybody else it is known.
    pub company: Option<String>,
    /// What.
    pub command: round::Command,
    /// The bytes of an artifact that can be read as a text.
    pub text: Option<Vec<u8>>,
    /// For a versioned document: the version that is changed.
    pub if_match: Option<HeaderMap>,
}

impl Rounds {
    /// The round of this name.
    pub fn held(&self, id: &str) -> Option<&Held> {
        self.rounds.get(id)
    }

    /// All of them by name.
    pub fn all(&self) -> &CowMap<String, Held> {
        &self.rounds
    }
}

impl Held {
    /// When its standings freeze, and until when.
    pub fn freeze(&self) -> Option<(Moment, Moment)> {
        let terms = self.round.terms();
        let span = |phase, window| terms.timetable.span(terms.start, phase, window);
        let (from, _) = span(Phase::Evaluation, Some(Window::W3)).filter(|_| self.freezes)?;
        let (to, _) = span(Phase::Closeout, None)?;
        Some((from, to))
    }

    /// Whether they are frozen at a time.
    pub fn is_frozen(&self, now: Moment) -> bool {
        self.freeze().is_some_and(|(from, to)| from <= now && now < to)
    }

    /// What waits to be announced, if it is time.
    fn release(&self, id: &str, at: Moment) -> Vec<Row> {
        if self.withheld.is_empty() || self.is_frozen(at) {
            return Vec::new();
        }
        let fact = Row::fact(at, topic(id), FACT, json!({ "event": "unfrozen", "round": id }));
        let announced = self.withheld.iter().map(|row| {
            let mut body = row.body.clone();
            body["happened_at"] = stamp(row.at).into();
            Row { at, body, ..row.clone() }
        });
        std::iter::once(fact).chain(announced).collect()
    }
}

fn topic(id: &str) -> String {
    format!("rounds/{id}")
}

fn unknown(what: &'static str) -> Problem {
    problem(&round::Refusal::Unknown { what })
}

pub(super) fn decide(instance: &Instance, request: &Request, command: &Command) -> Result<Decision, Problem> {
    match command {
        Command::Create { terms, freezes } => create(instance, request, terms, *freezes),
        Command::Act(act) => decide_act(instance, request, act),
    }
}

fn create(instance: &Instance, request: &Request, terms: &Terms, freezes: bool) -> Result<Decision, Problem> {
    request.by.admin()?;
    let id = &terms.id;
    if !is_name(id) {
        let mut problem = Problem::new("form", "the body is not of its form");
        problem.push("/id", "form", "1 to 64 of a-z 0-9 -, and no - at its start");
        return Err(problem);
    }
    terms.check().map_err(|refusal| problem(&refusal))?;
    if instance.rounds.rounds.contains_key(id) {
        return Err(Problem::new("exists", format_args!("there is a round `{id}`")));
    }
    if instance.rounds.rounds.len() >= ROUNDS_MAX {
        return Err(Problem::new("too_many", format_args!("there are {ROUNDS_MAX} rounds, the limit")));
    }
    let body = json!({ "event": "created", "terms": terms.json(), "standings_freeze": freezes });
    let held =
        Held { round: Round::draft(terms.clone()), freezes, frozen: None, withheld: Shared::default() };
    let answer = Answer::created(format!("/api/v1/rounds/{id}"), round_json(&held, &held.round, request.at));
    Ok(Decision { rows: vec![Row::fact(request.at, topic(id), FACT, body)], answer })
}

fn decide_act(instance: &Instance, request: &Request, act: &Act) -> Result<Decision, Problem> {
    let id = &act.round;
    // A round that somebody may not see is not there for them.
    let is_staff = visible(instance, &request.by, id, request.at)?.is_staff;
    let held = instance.rounds.held(id).ok_or_else(|| unknown("round"))?;
    let by = actor(instance, &request.by, held, act)?;
    // A session has the scope to judge, whoever it is of; only a key to judge by makes an evaluator.
    if matches!(by, Actor::Evaluator(_) | Actor::Operator(_)) && !is_staff {
        return Err(Problem::new("scope_missing", "no key of yours was given to judge by"));
    }
    let mut command = act.command.clone();
    if let Actor::Company { company, .. } = &by {
        check_company(instance, request, held, (company, &command))?;
        if let Some(headers) = &act.if_match {
            let now = version_of(&held.round, company, &command);
            crate::http::versioned::check_match(headers, now.as_ref())?;
        }
        command = adapted(&held.round, company, command, act.text.as_deref());
        if let Some(answer) = kept_before(held, company, &command) {
            return Ok(Decision { rows: Vec::new(), answer });
        }
    }
    held.round.check_new(&command).map_err(|refusal| problem(&refusal))?;
    let stamped = Stamped { at: request.at, by, command };
    let (stamped, texts) = laid_by(held, stamped, &request.luck)?;
    let again = snapshot_after(&held.round, &stamped);
    carry_out(held, std::iter::once(stamped).chain(again).collect(), texts)
}

/// Who the round takes somebody for who wants this of it.
fn actor(instance: &Instance, viewer: &Viewer, held: &Held, act: &Act) -> Result<Actor, Problem> {
    use round::Command as C;
    let operator = || viewer.admin().map(|name| Actor::Operator(name.to_owned()));
    match &act.command {
        C::TakeSnapshot { .. } | C::Settle | C::ReleaseLocked => viewer.admin().map(|_| Actor::System),
        C::Judge { .. } | C::Hide { .. } if !viewer.is_admin() => {
            judge(instance, viewer, held).map(Actor::Evaluator)
        }
        C::RuleDispute { .. } => judge(instance, viewer, held).map(Actor::Evaluator),
        C::RecordIntervention { .. } if !viewer.is_admin() => {
            judge(instance, viewer, held).map(Actor::Operator)
        }
        C::Announce
        | C::Cancel { .. }
        | C::Approve { .. }
        | C::Judge { .. }
        | C::RecordIntervention { .. }
        | C::Hide { .. }
        | C::Invalidate { .. }
        | C::Disqualify { .. }
        | C::DecideAward { .. } => operator(),
        C::Register { .. } => {
            let agent = viewer.agent_with(Scope::Submit)?.to_owned();
            let company = act.company.clone().ok_or_else(Problem::internal)?;
            Ok(Actor::Company { company, agent })
        }
        _ => {
            let agent = viewer.agent_with(Scope::Submit)?.to_owned();
            let none = || Problem::new("unknown_company", "no company of yours takes part in this round");
            let company = company_of(&held.round, &agent).ok_or_else(none)?.to_owned();
            Ok(Actor::Company { company, agent })
        }
    }
}

/// The name of an evaluator. Nobody judges where its own operator takes part.
fn judge(instance: &Instance, viewer: &Viewer, held: &Held) -> Result<String, Problem> {
    let name = viewer.agent_with(Scope::Judge)?;
    let Viewer::Agent { operator, .. } = viewer else { return Err(Problem::internal()) };
    if seen::takes_part(instance, held, operator) {
        return Err(Problem::new("own_work", "nobody judges a round in which their operator takes part"));
    }
    Ok(name.to_owned())
}

/// A registration binds the agent to the company in this round, and the company to the agent's operator for good.
fn check_company(
    instance: &Instance,
    request: &Request,
    held: &Held,
    (company, command): (&str, &round::Command),
) -> Result<(), Problem> {
    let round::Command::Register { .. } = command else { return Ok(()) };
    let Viewer::Agent { id, operator, .. } = &request.by else { return Err(Problem::internal()) };
    // `me` stands for one's own company in addresses.
    if !is_name(company) || company == "me" {
        return Err(problem(&round::Refusal::BadId { id: company.chars().take(64).collect() }));
    }
    match instance.rounds.operators.get(company) {
        Some(bound) if bound != operator => Err(problem(&round::Refusal::NotOwn { what: "company" })),
        // An agent acts for one company.
        _ if company_of(&held.round, id).is_some() => Err(problem(&round::Refusal::AlreadyRegistered)),
        _ => Ok(()),
    }
}

/// A first package is submitted, a later one revises it; of an artifact's bytes the round keeps what was found.
fn adapted(round: &Round, company: &str, command: round::Command, text: Option<&[u8]>) -> round::Command {
    use round::Command as C;
    match command {
        C::Submit(package) => {
            let is_there = round.entrant(company).is_ok_and(|it| it.submission(package.window).is_some());
            if is_there { C::Revise(package) } else { C::Submit(package) }
        }
        C::KeepArtifact { artifact, size_bytes, media_type, public_read, findings: _ } => {
            let findings = text.map(|text| round.look_at(text)).unwrap_or_default();
            C::KeepArtifact { artifact, size_bytes, media_type, public_read, findings }
        }
        other => other,
    }
}

/// The same bytes are the same artifact: whoever owns it may send it again.
fn kept_before(held: &Held, company: &str, command: &round::Command) -> Option<Answer> {
    let round::Command::KeepArtifact { artifact, .. } = command else { return None };
    let found = held.round.locker().artifact(artifact).filter(|found| found.owner == company)?;
    Some(Answer::ok(artifact_json(&held.round.terms().id, artifact, found)))
}

/// A judgement that comes after a window is over changes the standings that were recorded: a new version follows.
fn snapshot_after(round: &Round, stamped: &Stamped) -> Option<Stamped> {
    use round::Command as C;
    let window = match &stamped.command {
        C::Judge { window, .. } | C::Invalidate { window, .. } => *window,
        C::RuleDispute { dispute, .. } => round.disputes().get(dispute)?.window,
        _ => return None,
    };
    let over = Window::ALL.iter().rev().find(|window| round.is_over(**window, stamped.at))?;
    let is_recorded = round.snapshots().iter().any(|snapshot| snapshot.after == Some(*over));
    let command = C::TakeSnapshot { after: *over };
    (round.is_over(window, stamped.at) && is_recorded).then_some(Stamped {
        at: stamped.at,
        by: Actor::System,
        command,
    })
}

/// Blobs of texts, by their digests.
pub(super) type Texts = Vec<(Digest, Vec<u8>)>;

/// A command whose texts lie elsewhere from now on, and these. They were looked at before: a refused text goes
/// nowhere.
fn laid_by(held: &Held, mut stamped: Stamped, luck: &[u8]) -> Result<(Stamped, Texts), Problem> {
    let mut texts = Texts::new();
    if !stamped.command.texts().is_empty() {
        held.round.decide(&stamped).map_err(|refusal| problem(&refusal))?;
        stamped.command = held.round.laid_by(stamped.command, &mut |text| {
            let (sha256, blob) = blob_of(text, luck, texts.len());
            texts.push((sha256, blob));
            sha256
        });
    }
    Ok((stamped, texts))
}

/// What commands come to, one after the other. `texts` are those of the first.
pub(super) fn carry_out(held: &Held, commands: Vec<Stamped>, mut texts: Texts) -> Result<Decision, Problem> {
    let id = held.round.terms().id.clone();
    let mut round = held.round.clone();
    let (mut rows, mut answer) = (Vec::new(), None);
    for stamped in commands {
        let happened = round.decide(&stamped).map_err(|refusal| problem(&refusal))?;
        rows.extend(held.release(&id, stamped.at).into_iter().filter(|_| answer.is_none()));
        rows.push(fact(&round, &stamped, std::mem::take(&mut texts)));
        let (after, told) = told::follow(round, &happened);
        round = after;
        if !held.is_frozen(stamped.at) {
            rows.extend(told);
        }
        answer.get_or_insert_with(|| answer::of(held, &round, &stamped, &happened));
    }
    Ok(Decision { rows, answer: answer.ok_or_else(Problem::internal)? })
}

/// A command as a fact. A row is of the second version if its line is, which older programs cannot read.
fn fact(round: &Round, stamped: &Stamped, texts: Texts) -> Row {
    let id = &round.terms().id;
    let line = wire::write(stamped);
    let version = if line["version"] == json!(1) { 1 } else { 2 };
    let body = json!({ "event": "command", "round": id, "line": line });
    let row = Row { version, texts, ..Row::fact(stamped.at, topic(id), FACT, body) };
    match &stamped.command {
        round::Command::KeepArtifact { artifact, size_bytes, .. } => {
            row.with_blob(*artifact, *size_bytes, UPLOAD)
        }
        // What must not have become public is not kept either; its digest is.
        round::Command::Hide { target: round::Target::Text(text), reason } => {
            row.withholding(*text, MEDIA_TYPE, reason)
        }
        round::Command::Hide { target: round::Target::Artifact(artifact), reason } => {
            row.withholding(*artifact, UPLOAD, reason)
        }
        round::Command::Hide { target: round::Target::Post(post), reason } => {
            match round.town().post(post).and_then(|post| post.body.as_ref()?.kept()) {
                Some(kept) => row.withholding(kept.sha256, MEDIA_TYPE, reason),
                None => row,
            }
        }
        _ => row,
    }
}

/// The blobs that a fact names: texts, and an artifact.
pub(crate) fn named_blobs(body: &Value) -> Vec<Digest> {
    let Ok(stamped) = wire::read(&body["line"]) else { return Vec::new() };
    match &stamped.command {
        round::Command::KeepArtifact { artifact, .. } => vec![*artifact],
        command => command.texts().into_iter().filter_map(|text| Some(text.kept()?.sha256)).collect(),
    }
}

pub(super) fn evolve(instance: &mut Instance, row: &Row) -> Result<(), String> {
    let body = &row.body;
    match body["event"].as_str() {
        Some("created") => {
            let terms = Terms::read(&body["terms"]).map_err(|faults| faults.to_string())?;
            let freezes = body["standings_freeze"].as_bool().unwrap_or(false);
            let id = terms.id.clone();
            let held =
                Held { round: Round::draft(terms), freezes, frozen: None, withheld: Shared::default() };
            instance.rounds.rounds.insert(id, held);
            Ok(())
        }
        Some("unfrozen") => {
            let held = held_mut(&mut instance.rounds, body)?;
            held.withheld.clear();
            held.frozen = None;
            Ok(())
        }
        Some("command") => {
            let stamped = wire::read(&body["line"]).map_err(|faults| faults.to_string())?;
            let held = held_mut(&mut instance.rounds, body)?;
            let happened = held.round.decide(&stamped).map_err(|refusal| refusal.to_string())?;
            bind(instance, &stamped)?;
            take_in(held_mut(&mut instance.rounds, body)?, &stamped, &happened);
            Ok(())
        }
        _ => Err("no fact of a round has this name".to_owned()),
    }
}

fn held_mut<'a>(rounds: &'a mut Rounds, body: &Value) -> Result<&'a mut Held, String> {
    let id = body["round"].as_str().unwrap_or_default();
    rounds.rounds.get_mut(id).ok_or_else(|| format!("no round is {id}"))
}

/// The operator whose agent registered a company first.
fn bind(instance: &mut Instance, stamped: &Stamped) -> Result<(), String> {
    let (Actor::Company { company, agent }, round::Command::Register { .. }) =
        (&stamped.by, &stamped.command)
    else {
        return Ok(());
    };
    let operator = instance.agents.agent(agent).ok_or("no such agent")?.operator.clone();
    instance.rounds.operators.get_or_insert_with(company.clone(), || operator);
    Ok(())
}

fn take_in(held: &mut Held, stamped: &Stamped, happened: &[Happened]) {
    let is_frozen = held.is_frozen(stamped.at);
    if is_frozen && held.frozen.is_none() {
        held.frozen = Some(Box::new(held.round.clone()));
    }
    let empty = Round::draft(held.round.terms().clone());
    let (after, told) = told::follow(std::mem::replace(&mut held.round, empty), happened);
    held.round = after;
    if is_frozen {
        held.withheld.extend(told);
        // What is hidden is hidden in what is shown meanwhile, too.
        let hidden = happened.iter().filter(|happened| matches!(happened.event, round::Event::Hidden { .. }));
        for happened in hidden {
            held.frozen = held.frozen.take().map(|frozen| Box::new(frozen.evolve(happened)));
        }
    }
}

/// The members of a new round: its terms, and whether its standings freeze. The rules and the timetable may be left
/// to be the built-in ones.
pub(crate) fn read_creation(document: &Value) -> Result<Command, Faults> {
    let mut members = match document {
        Value::Object(members) => members.clone(),
        // What is no object has one fault, and it is told as such.
        other => {
            let mut faults = Faults::default();
            Object::read(other, &Default::default(), &[], &mut faults);
            return Err(faults);
        }
    };
    let freeze = members.remove("standings_freeze");
    members.entry("timetable").or_insert_with(|| json!("sprint-v1"));
    members.entry("rules_sha256").or_insert_with(|| json!(rules_sha256()));
    let mut faults = Faults::default();
    let freezes = match &freeze {
        None | Some(Value::Null) => Some(false),
        Some(value) => {
            let wrapped = json!({ "standings_freeze": value });
            let object = Object::read(&wrapped, &Default::default(), &["standings_freeze"], &mut faults);
            object.and_then(|object| object.boolean("standings_freeze", &mut faults))
        }
    };
    let terms = match Terms::read(&Value::Object(members)) {
        Ok(terms) => Some(terms),
        Err(more) => {
            faults.0.extend(more.0);
            None
        }
    };
    let read = terms.zip(freezes);
    faults.or(read).map(|(terms, freezes)| Command::Create { terms: Box::new(terms), freezes })
}
