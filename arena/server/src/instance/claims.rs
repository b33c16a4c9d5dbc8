//! Claims: anybody lists a result; drawn runners, sealed challengers and panels settle it.
//!
//! The facts are the commands with everything that came of them, so that the fold decides nothing again. What a viewer
//! may see of a claim is decided by `view::seen` alone, for the API, the pages and the answers to commands; what
//! everybody may know at once is decided by `told`.

mod genesis;
pub(crate) mod log;
mod material;
mod refused;
#[cfg(test)]
mod tests;
mod told;
pub(crate) mod view;
mod wanted;

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::life::{self, Event, Phase, Seen, Stamped, World};
use arena_cow::CowMap;
use arena_draw::Purpose;
use arena_draw::beacon::{Schedule, Source};
use arena_ledger::Amount;
use serde_json::json;

pub use genesis::{Genesis, Unfounded};
pub use material::Kept;
pub(crate) use material::{PINS_MAX, Shelf};
pub use refused::problem;
pub use wanted::RoundWanted;

use super::{Answer, Decision, Instance, Known, Request, Row};
use crate::auth::{Scope, Viewer};
use crate::problem::Problem;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "claim.command";

/// Bytes of events that are put into one row, unless one event alone has more.
const FACT_BYTES: usize = 64 << 10;
/// Agents whose keys are bound at most: a draw names everybody who may be drawn, and has to fit into a row. That of an
/// audit holds two transcripts with an entry of at most 160 bytes for each.
pub const AGENTS_MAX: usize = 700;

/// What is signed and drawn for an instance of claims, and everything that happened there.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// Nothing before the first command. It keeps the genesis that it began with, whatever is configured later.
    world: Option<World>,
    /// The latest round of the beacon that was shown.
    latest: Option<Seen>,
    /// Rounds that draws wait for.
    rounds: BTreeMap<u64, Vec<u8>>,
    /// The latest round that a draw takes which everybody may see.
    drawn: u64,
    /// The secrets of audits, by job.
    salts: CowMap<Digest, Digest>,
    /// How claims ended, by job, with the money that it moved.
    ends: CowMap<Digest, (u64, Event)>,
    /// What claims pin, as far as it was brought here.
    material: Shelf,
    /// Everything that happened, as others can hold it against the instance.
    log: log::Log,
    /// How often the server was up again while claims were under way.
    resumed: u64,
}

/// What an assignment asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Duty {
    /// To run it.
    Runner,
    /// To run it again in secret.
    Auditor,
    /// To sit on a panel.
    Reviewer,
}

impl Duty {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Auditor => "auditor",
            Self::Reviewer => "reviewer",
        }
    }
}

/// What can be wanted of them.
#[derive(Debug, Clone)]
pub enum Command {
    /// Makes the agent known here, with the key that its records are signed by.
    Bind {
        /// The key.
        key: Digest,
        /// What it can do.
        capabilities: Vec<String>,
    },
    /// Brings money in for an agent, or takes it out.
    Money {
        /// Whose.
        agent: String,
        /// How much.
        amount: Amount,
        /// Whether it goes out.
        is_out: bool,
    },
    /// Lists a claim; the platform names it.
    List {
        /// The manifest.
        manifest: Value,
        /// What the submitter puts in.
        deposit: Amount,
        /// What marks it as a canary.
        canary: Option<Digest>,
    },
    /// Accepts an assignment, or declines it.
    Answer {
        /// Its name.
        assignment: String,
        /// Whether it is accepted.
        accepts: bool,
        /// Why not.
        reason: Option<String>,
    },
    /// Shows a round of the beacon.
    Beacon(Seen),
    /// Writes down what the instance is, before anything happens.
    Found,
    /// Says that the server is up again: nobody could keep a deadline while it was down.
    Resume,
    /// Shows a round that the server fetched itself, for draws in secret alone: nobody is told that it is known.
    Bring(Seen),
    /// Keeps something that a claim pins. Its bytes are a blob already.
    Keep(Kept),
    /// Anything else that an agent does about a claim.
    Act(life::Command),
    /// What the operator alone does.
    Operate(life::Command),
}

impl Claims {
    /// Everything there is; before the first command, an empty instance of the configured genesis.
    pub fn world<'a>(&'a self, known: &'a Known) -> &'a World {
        self.world.as_ref().unwrap_or_else(|| known.claims.world())
    }

    /// What was founded; nothing before it is written down.
    pub(crate) fn founded(&self) -> Option<&World> {
        self.world.as_ref()
    }

    /// Whether claims are under way whose deadlines may cost somebody something.
    pub(crate) fn is_waiting(&self) -> bool {
        self.world.as_ref().is_some_and(life::is_waiting)
    }

    /// How often the server was up again while claims were under way.
    pub(crate) fn resumed(&self) -> u64 {
        self.resumed
    }

    /// The latest round of the beacon that was shown here.
    pub fn latest(&self) -> Option<&Seen> {
        self.latest.as_ref()
    }

    /// The log of everything that happened.
    pub(crate) fn log(&self) -> &log::Log {
        &self.log
    }

    /// What is kept of what claims pin.
    pub(crate) fn material(&self) -> &Shelf {
        &self.material
    }

    /// How a claim's present job ended, with the money that it moved.
    pub fn end_of(&self, claim: &life::Claim) -> Option<&(u64, Event)> {
        self.ends.get(&claim.job)
    }

    /// What is known of the beacon at a time. A test beacon is known to everybody.
    fn seen_round(&self, world: &World, at: u64) -> Option<Seen> {
        match world.instance.source {
            Source::Test => {
                let round = Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1);
                Some(Seen { round, proof: Vec::new() })
            }
            _ => self.latest.clone(),
        }
    }

    fn stamped(&self, world: &World, at: u64, by: &str, fresh: Digest, command: life::Command) -> Stamped {
        let job = command.claim().and_then(|claim| world.claims.get(claim)).map(|claim| claim.job);
        let salt = job.and_then(|job| self.salts.get(&job).copied()).unwrap_or(fresh);
        Stamped { at, by: by.to_owned(), seen: self.seen_round(world, at), salt: Some(salt), command }
    }

    /// The first thing that is due at a time: what follows from a deadline, a draw that can be committed, or one whose
    /// round was shown.
    pub(super) fn due(&self, at: u64) -> Option<life::Command> {
        let world = self.world.as_ref()?;
        let at = at.max(world.now);
        let probe = Digest::of(b"a probe");
        world.claims.values().filter(|claim| !claim.phase.is_terminal()).find_map(|claim| {
            let name = || claim.id.clone();
            let tick = self.stamped(
                world,
                at,
                &world.instance.operator,
                probe,
                life::Command::Tick { claim: name() },
            );
            if !life::follow(world, claim, &tick).is_empty() {
                return Some(tick.command);
            }
            let draw = claim.draw.as_ref()?;
            // What parties with stakes revealed is in the world, and the proof is made of it.
            if !world.instance.parties.is_empty() {
                let proof = Vec::new();
                return life::is_revealed(world, draw.round)
                    .then(|| life::Command::ResolveDraw { claim: name(), proof });
            }
            let proof = self.rounds.get(&draw.round)?.clone();
            let is_time = Schedule::QUICKNET.time_of(draw.round).is_none_or(|due| due <= at);
            is_time.then(|| life::Command::ResolveDraw { claim: name(), proof })
        })
    }
}

/// Seconds of a request.
pub(crate) fn seconds(at: arena_contests::Moment) -> u64 {
    u64::try_from(at.unix_ms()).unwrap_or_default() / 1_000
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    let world = instance.claims.world(known);
    let by_agent = || request.by.agent_with(Scope::Submit).map(str::to_owned);
    let by_operator = || request.by.admin().map(|_| world.instance.operator.clone());
    let (by, command) = match command {
        Command::Beacon(seen) => return show(instance, request, (seen, false), known),
        Command::Bring(_) | Command::Found | Command::Resume => {
            return of_its_own(instance, request, command, known);
        }
        Command::Keep(kept) => return instance.claims.material.decide(world, request, kept),
        Command::Bind { key, capabilities } => {
            let agent = by_agent()?;
            if world.agents.len() >= AGENTS_MAX && !world.agents.contains_key(&agent) {
                return Err(Problem::new(
                    "too_many",
                    format_args!("{AGENTS_MAX} agents have bound a key, the limit"),
                ));
            }
            let about = instance.agents.agent(&agent).ok_or_else(Problem::internal)?;
            let operator = about.operator.clone();
            let capabilities = capabilities.clone();
            (agent, life::Command::Register { operator, key: *key, capabilities })
        }
        Command::Money { agent, amount, is_out } => {
            by_operator()?;
            let amount = *amount;
            let command = match is_out {
                true => life::Command::PayOut { amount },
                false => life::Command::Deposit { amount },
            };
            (agent.clone(), command)
        }
        Command::List { manifest, deposit, canary } => {
            let claim = format!("c{}", world.claims.len() + 1);
            let (manifest, deposit, canary) = (manifest.clone(), *deposit, *canary);
            (by_agent()?, life::Command::List { claim, manifest, deposit, canary })
        }
        Command::Answer { assignment, accepts, reason } => {
            let agent = by_agent()?;
            let claim = view::assigned(world, &agent, assignment)?.id.clone();
            let command = match accepts {
                true => life::Command::Accept { claim },
                false => life::Command::Decline { claim, reason: reason.clone() },
            };
            (agent, command)
        }
        // Draws and the passing of time are nobody's own.
        Command::Act(
            command @ (life::Command::CommitDraw { .. }
            | life::Command::ResolveDraw { .. }
            | life::Command::Tick { .. }),
        ) => {
            if !request.by.is_admin() {
                by_agent()?;
                hidden(world, command)?;
            }
            (world.instance.operator.clone(), command.clone())
        }
        Command::Act(life::Command::CheckInputs { claim, found }) => {
            let by = by_agent()?;
            are_others(&instance.claims, world, claim, found)?;
            (by, life::Command::CheckInputs { claim: claim.clone(), found: found.clone() })
        }
        Command::Act(command) => (by_agent()?, command.clone()),
        Command::Operate(command) => (by_operator()?, command.clone()),
    };
    carry_out(instance, request, &by, command, known)
}

/// That an auditor is drawn again is nobody's business yet: for others, no draw is there.
fn hidden(world: &World, command: &life::Command) -> Result<(), Problem> {
    let claim = command.claim().and_then(|claim| world.claims.get(claim));
    let is_hidden = claim.is_some_and(|claim| claim.phase == Phase::Committed && claim.audit.coin.is_some());
    match command {
        life::Command::CommitDraw { .. } if is_hidden => Err(problem(&life::Refusal::NoDrawDue)),
        life::Command::ResolveDraw { .. } if is_hidden => Err(problem(&life::Refusal::NoDraw)),
        _ => Ok(()),
    }
}

/// That an input is not what is pinned ends a claim. Where what is pinned is kept here, nobody can have found another.
fn are_others(
    claims: &Claims,
    world: &World,
    claim: &str,
    found: &[arena_claims::manifest::Input],
) -> Result<(), Problem> {
    let manifest = world.claims.get(claim).map(|claim| &claim.manifest);
    match manifest.filter(|manifest| manifest.inputs != found && claims.material.has_inputs(manifest)) {
        Some(_) => {
            Err(Problem::new("inputs_are_kept", "every pinned input is kept here, under its own digest"))
        }
        None => Ok(()),
    }
}

/// Whether a claim that is not over pins this as its frozen matrix.
pub(crate) fn is_frozen(world: &World, sha256: &Digest) -> bool {
    let pins = |claim: &life::Claim| matches!(&claim.manifest.program, arena_claims::manifest::Program::Tournament { frozen } if frozen == sha256);
    world.claims.values().any(|claim| !claim.phase.is_terminal() && pins(claim))
}

fn is_end(event: &Event) -> bool {
    matches!(event, Event::Settled { .. } | Event::ClaimWithdrawn { .. })
}

/// What a command comes to, whoever gives it. What follows from a deadline comes before it.
pub(super) fn carry_out(
    instance: &Instance,
    request: &Request,
    by: &str,
    command: life::Command,
    known: &Known,
) -> Result<Decision, Problem> {
    let claims = &instance.claims;
    let at = seconds(request.at);
    let fresh = Digest::of_parts(&[b"arena audit salt", &request.luck]);
    let mut world = claims.world(known).clone();
    let mut events = Vec::new();
    let late = command.claim().and_then(|claim| world.claims.get(claim)).filter(|claim| at >= claim.until);
    if let Some(claim) = late.map(|claim| claim.id.clone()) {
        let tick = claims.stamped(&world, at, by, fresh, life::Command::Tick { claim: claim.clone() });
        events.extend(life::tick(&mut world, &claim, &tick).map_err(|refusal| problem(&refusal))?);
    }
    let is_new = matches!(command, life::Command::List { .. } | life::Command::Register { .. });
    let before = events.len();
    let stamped = claims.stamped(&world, at, by, fresh, command);
    events.extend(life::execute(&mut world, &stamped).map_err(|refusal| problem(&refusal))?);
    let about = stamped.command.claim().and_then(|claim| world.claims.get(claim));
    let salt = about.filter(|_| events.iter().any(commits_in_secret)).map(|claim| (claim.job, stamped.salt));
    let names: Vec<String> = events
        .iter()
        .filter(|event| request.by.is_admin() || told::is_told_to(event, by))
        .map(Event::name)
        .collect();
    let mut body = match about {
        Some(claim) => {
            let new = events.iter().rev().find(|event| is_end(event)).map(|event| (at, event.clone()));
            view::seen(&request.by, new.as_ref().or_else(|| claims.end_of(claim)), &world, claim)
        }
        None => view::agent_json(&request.by, &world, by).unwrap_or_default(),
    };
    body["events"] = json!(names);
    if let Some(receipt) = log::receipt_of(claims, (&request.by, by), &events, before) {
        body["receipt"] = json!(receipt);
    }
    let answer = match about {
        Some(claim) if is_new => Answer::created(format!("/api/v1/claims/{}", claim.id), body),
        None if is_new => Answer::created(format!("/api/v1/claims/agents/{by}"), body),
        _ => Answer::ok(body),
    };
    if events.is_empty() {
        return Ok(Decision { rows: Vec::new(), answer });
    }
    let mut rows = facts(claims, request, known, by, &events)?;
    if let (Some((job, salt)), Some(first)) = (salt, rows.first_mut()) {
        first.body["salt"] = json!({ "job": job, "salt": salt });
    }
    log::sign(claims, request, known, &events, &mut rows)?;
    rows.extend(events.iter().filter_map(|event| told::row(request.at, event)));
    Ok(Decision { rows, answer })
}

/// The facts of a command: one, unless its events are more than one row holds.
fn facts(
    claims: &Claims,
    request: &Request,
    known: &Known,
    by: &str,
    events: &[Event],
) -> Result<Vec<Row>, Problem> {
    let mut parts: Vec<(usize, Vec<Value>)> = Vec::new();
    for event in events {
        let value = serde_json::to_value(event).map_err(|_| Problem::internal())?;
        let bytes = json::canonical(&value).len();
        match parts.last_mut().filter(|(sum, _)| *sum + bytes <= FACT_BYTES) {
            Some((sum, part)) => {
                *sum += bytes;
                part.push(value);
            }
            None => parts.push((bytes, vec![value])),
        }
    }
    let rows = parts.into_iter().enumerate().map(|(place, (_, part))| {
        let fact = json!({ "by": by, "events": part });
        match place {
            0 => fact_row(claims, request, known, fact),
            _ => Row::fact(request.at, "claims", FACT, fact),
        }
    });
    Ok(rows.collect())
}

/// The first fact holds what the instance is, for good.
fn fact_row(claims: &Claims, request: &Request, known: &Known, mut fact: Value) -> Row {
    if claims.world.is_none() {
        fact["genesis"] = known.claims.to_json();
    }
    Row::fact(request.at, "claims", FACT, fact)
}

/// The round of a draw that everybody may see.
fn round_told(event: &Event) -> Option<u64> {
    match event {
        Event::DrawCommitted(draw) => (draw.purpose != Purpose::Audit.name()).then_some(draw.round),
        _ => None,
    }
}

fn commits_in_secret(event: &Event) -> bool {
    matches!(event, Event::DrawCommitted(draw) if draw.salt_sha256.is_some())
}

/// What only the server does.
fn of_its_own(
    instance: &Instance,
    request: &Request,
    command: &Command,
    known: &Known,
) -> Result<Decision, Problem> {
    request.by.admin()?;
    match command {
        Command::Bring(seen) => show(instance, request, (seen, true), known),
        Command::Resume => Ok(resumed(&instance.claims, request, known)),
        _ => Ok(found(&instance.claims, request, known)),
    }
}

/// What the instance is, written down. Nothing where that is done.
fn found(claims: &Claims, request: &Request, known: &Known) -> Decision {
    let fact = json!({ "by": request.by.name(), "events": [] });
    let rows = match claims.world {
        None => vec![fact_row(claims, request, known, fact)],
        Some(_) => Vec::new(),
    };
    Decision { rows, answer: Answer::ok(json!({})) }
}

/// That the server is up again, for everybody to see and to count. Nothing where no claim is under way, or where it was
/// said in the same second: it would move nothing.
fn resumed(claims: &Claims, request: &Request, known: &Known) -> Decision {
    let is_later = claims.world(known).resumed_at < seconds(request.at);
    let rows = if claims.is_waiting() && is_later {
        let fact = json!({ "by": request.by.name(), "events": [], "resumed": true });
        let told =
            json!({ "times": (claims.resumed + 1).to_string(), "at": view::time(seconds(request.at)) });
        let told = Row::announcement(request.at, "claims", "claim.resumed", told);
        vec![fact_row(claims, request, known, fact), told]
    } else {
        Vec::new()
    };
    Decision { rows, answer: Answer::ok(json!({})) }
}

/// Takes a round of the beacon, if its proof is one and it is due. One that is brought `quietly` is there for the draws
/// that wait for it, and is not the latest for anybody: that it is known would tell of them.
fn show(
    instance: &Instance,
    request: &Request,
    (seen, quietly): (&Seen, bool),
    known: &Known,
) -> Result<Decision, Problem> {
    if !request.by.is_admin() {
        request.by.agent_with(Scope::Submit)?;
    }
    let claims = &instance.claims;
    let world = claims.world(known);
    let refused = |why: String| problem(&life::Refusal::DrawRefused { why });
    let of = &world.instance;
    if !of.parties.is_empty() {
        return Err(refused("each party reveals its own part, under `/api/v1/beacons/preimages`".to_owned()));
    }
    let beacon = of.source.beacon(of.id(), Some(&of.name)).map_err(|why| refused(why.to_string()))?;
    let at = seconds(request.at);
    if let Some(due) = beacon.time_of(seen.round).filter(|due| at < *due) {
        return Err(problem(&life::Refusal::RoundNotDue { round: seen.round, due }));
    }
    beacon.verify(seen.round, &seen.proof).map_err(|why| refused(why.to_string()))?;
    let is_awaited = claims.awaits(seen.round) && !claims.rounds.contains_key(&seen.round);
    let is_newest = !quietly && claims.latest.as_ref().is_none_or(|latest| latest.round < seen.round);
    let answer = Answer::ok(json!({ "round": seen.round.to_string(), "verified": true }));
    if !is_awaited && !is_newest {
        return Ok(Decision { rows: Vec::new(), answer });
    }
    let mut fact = json!({ "by": request.by.name(), "events": [], "seen": { "round": seen.round.to_string(), "proof": hex(&seen.proof) } });
    if quietly {
        fact["seen"]["quietly"] = json!(true);
    }
    Ok(Decision { rows: vec![fact_row(claims, request, known, fact)], answer })
}

impl Claims {
    fn awaits(&self, round: u64) -> bool {
        let draws = self.world.iter().flat_map(|world| world.claims.values());
        draws.filter_map(|claim| claim.draw.as_ref()).any(|draw| draw.round == round)
    }

    fn keep_ends(&mut self, world: &World, at: u64, events: &[Event]) {
        for event in events.iter().filter(|event| is_end(event)) {
            if let Some(claim) = event.claim().and_then(|claim| world.claims.get(claim)) {
                self.ends.insert(claim.job, (at, event.clone()));
            }
        }
    }
}

/// The bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole pairs of digits and nothing else.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len() <= 1_024
        && text.len().is_multiple_of(2)
        && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    text.as_bytes().chunks(2).filter(|_| is_hex).map(byte).collect::<Option<Vec<_>>>().filter(|_| is_hex)
}

/// A fact is what happened: nothing of it is decided again.
pub(super) fn evolve(instance: &mut Instance, row: &Row) -> Result<(), String> {
    let claims = &mut instance.claims;
    if claims.world.is_none() {
        let genesis =
            Genesis::read(&row.body["genesis"]).ok_or("the first fact has no genesis that is one")?;
        claims.world = Some(genesis.world().clone());
        claims.log.begin(&row.body["genesis"]);
    }
    let events: Vec<Event> = serde::Deserialize::deserialize(&row.body["events"])
        .map_err(|why: serde_json::Error| why.to_string())?;
    let at = seconds(row.at);
    let Some(mut world) = claims.world.take() else { return Ok(()) };
    for (place, event) in events.iter().enumerate() {
        life::check(&world, event).map_err(|why| why.to_string())?;
        claims.log.push(&world, event, row, place);
        life::evolve(&mut world, at, event);
        claims.log.follow(&world, event);
    }
    claims.log.close(row)?;
    if row.body.get("resumed").is_some() {
        life::resume(&mut world, at);
        claims.resumed += 1;
    }
    claims.keep_ends(&world, at, &events);
    claims.drawn = events.iter().filter_map(round_told).fold(claims.drawn, u64::max);
    claims.world = Some(world);
    let digest = |value: &Value| value.as_str().and_then(|text| text.parse::<Digest>().ok());
    if let Some(salt) = row.body.get("salt") {
        let pair = digest(&salt["job"]).zip(digest(&salt["salt"]));
        let (job, salt) = pair.ok_or("a secret that is none")?;
        claims.salts.insert(job, salt);
    }
    if let Some(material) = row.body.get("material") {
        claims.material.evolve(material)?;
    }
    if let Some(seen) = row.body.get("seen") {
        let round = seen["round"].as_str().and_then(|round| round.parse().ok());
        let proof = seen["proof"].as_str().and_then(unhex);
        let (round, proof) = round.zip(proof).ok_or("a round that is none")?;
        if claims.awaits(round) {
            claims.rounds.insert(round, proof.clone());
        }
        let quietly = seen.get("quietly").and_then(Value::as_bool).unwrap_or_default();
        if !quietly && claims.latest.as_ref().is_none_or(|latest| latest.round < round) {
            claims.latest = Some(Seen { round, proof });
        }
    }
    if !claims.rounds.is_empty() {
        let mut rounds = std::mem::take(&mut claims.rounds);
        rounds.retain(|round, _| claims.awaits(*round));
        claims.rounds = rounds;
    }
    Ok(())
}

/// The draw that everybody may see: not that of another auditor.
pub(crate) fn open_draw(claim: &life::Claim) -> Option<&life::DrawState> {
    claim.draw.as_ref().filter(|draw| draw.purpose != Purpose::Audit)
}

/// Who looks, with a key that may see what is its own.
pub(crate) fn own(viewer: &Viewer) -> Option<&str> {
    match viewer {
        Viewer::Agent { id, scopes, .. }
            if scopes.contains(&Scope::Read) || scopes.contains(&Scope::Submit) =>
        {
            Some(id)
        }
        _ => None,
    }
}
