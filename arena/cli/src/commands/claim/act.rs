//! What the verbs of a claim's life do: each is one command of the state machine.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::{Sealed, canary_commitment};
use arena_claims::life::{Command, Event, Stamped};
use arena_claims::manifest::Manifest;
use arena_claims::params::Params;
use arena_claims::record::{Outcome, Role};
use arena_draw::beacon::Kind;
use arena_engine::Excerpt;
use serde_json::json;

use super::beacon::{self, Round};
use super::draft::{self, input_at};
use super::folder::Folder;
use super::instance::Reading;
use super::material::{Material, Sources, dry_run};
use super::records::{Origin, assembled, claim_of, kept, made, place_of, reveal, sealed};
use super::rerun::Configuration;
use super::verbs::{
    Act, Agent, Canary, Challenge, Contribute, Decline, Fund, GiveReceipt, Here, Init, Inputs, List, Money,
    OfClaim, OnClaim, Reference, Relist, Review, Run, Sealing,
};
use super::{faulty, log, params, parties, read, read_json, shown};
use crate::commands::key;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// Who acts.
#[derive(Clone, Copy)]
enum Actor<'a> {
    /// Whoever runs the instance.
    Operator,
    /// An agent, by its id.
    Agent(&'a str),
}

pub(crate) fn run(act: &Act, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match act {
        Act::Init(args) => init(args, io),
        Act::Agent(args) => agent(args, io),
        Act::Deposit(args) => money(args, "deposit", |amount| Command::Deposit { amount }, io),
        Act::Payout(args) => money(args, "pay out", |amount| Command::PayOut { amount }, io),
        Act::Position(args) => {
            on_claim(args, "declare the position", |claim| Command::DeclarePosition { claim }, io)
        }
        Act::New(args) => draft::run(args, io),
        Act::List(args) => list(args, io),
        Act::Fund(args) => fund(args, io),
        Act::Contribute(args) => contribute(args, io),
        Act::Withdraw(args) => on_claim(args, "withdraw", |claim| Command::Withdraw { claim }, io),
        Act::Open(args) => of_claim(args, "commit the draw", |claim| Command::CommitDraw { claim }, io),
        Act::Assign(args) => assign(args, io),
        Act::Accept(args) => on_claim(args, "accept", |claim| Command::Accept { claim }, io),
        Act::Decline(args) => decline(args, io),
        Act::Inputs(args) => inputs(args, io),
        Act::Run(args) => run_claim(args, io),
        Act::Commit(args) => commit(args, io),
        Act::Challenge(args) => challenge(args, io),
        Act::Reveal(args) => open_commitment(args, io),
        Act::Audit(args) => audit(args, io),
        Act::Receipt(args) => receipt(args, io),
        Act::Review(args) => review(args, io),
        Act::Appeal(args) => on_claim(args, "appeal", |claim| Command::Appeal { claim }, io),
        Act::Reference(args) => reference(args, io),
        Act::Relist(args) => relist(args, io),
        Act::Canary(args) => canary(args, io),
        Act::Tick(args) => of_claim(args, "let time pass", |claim| Command::Tick { claim }, io),
    }
}

fn init(args: &Init, io: &mut Io<'_>) -> Result<Exit, Failure> {
    const DOING: &str = "make the instance";
    let Init { name, source, anchors, parties, rounds, operator, params: set, dir } = args;
    let set = match set {
        Some(path) => params::parse(&read("parameters", path, io)?, &shown(path))?,
        None if parties.is_empty() => Params::published(),
        None => Params::published_with_parties(),
    };
    if let Some(missed) = set.violations().first() {
        let why = format!("its parameters miss {}: {}", missed.id, missed.says);
        return Err(Failure::new(Exit::Rejected, DOING, why)
            .hint("see all conditions with `arena claim params check`"));
    }
    for (what, text) in [("name", name), ("operator", operator)] {
        if !is_name(text) {
            let why = format!("the {what} is 1 to {NAME_BYTES_MAX} bytes without control characters");
            return Err(Failure::usage(DOING, why));
        }
    }
    if *source == Kind::Test && !name.starts_with("test-") {
        return Err(Failure::usage(DOING, "a test beacon is only for names that start with `test-`"));
    }
    beacon::check(*source, anchors)?;
    parties::check(*source, anchors.len(), operator, parties, &set)?;
    let parties = parties::with_rounds(parties, *rounds)?;
    Folder::create(dir, name, operator, &set, &parties, || beacon::make(dir, *source, anchors, *rounds))?;
    if *source == Kind::HashChain && parties.is_empty() {
        io.warn("its parties have nothing to lose: one that keeps its round back stops a draw for nothing");
    }
    io.print(format_args!("instance {} in {}", Excerpt::line(name), files::shown(dir)));
    Ok(Exit::Success)
}

/// Most bytes of a name that a transcript of a draw can tell.
const NAME_BYTES_MAX: usize = 128;

fn is_name(text: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

fn agent(args: &Agent, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Agent { agent, operator, key, can, here } = args;
    let key = key::read(key)?.public();
    let command = Command::Register { operator: operator.clone(), key, capabilities: can.clone() };
    does(here, Actor::Agent(agent), "make the agent known", command, io)
}

fn money(
    args: &Money,
    doing: &str,
    command: impl FnOnce(arena_ledger::Amount) -> Command,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    does(&args.here, Actor::Agent(&args.by.agent), doing, command(args.amount), io)
}

fn on_claim(
    args: &OnClaim,
    doing: &str,
    command: impl FnOnce(String) -> Command,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    does(&args.here, Actor::Agent(&args.by.agent), doing, command(args.claim.clone()), io)
}

fn of_claim(
    args: &OfClaim,
    doing: &str,
    command: impl FnOnce(String) -> Command,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    does(&args.here, Actor::Operator, doing, command(args.claim.clone()), io)
}

fn contribute(args: &Contribute, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Contribute { chain, round, by, here } = args;
    let command = parties::contribution(&here.dir, chain.as_deref(), *round)?;
    does(here, Actor::Agent(&by.agent), "reveal the round", command, io)
}

fn fund(args: &Fund, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let command = Command::Fund { claim: args.claim.clone(), amount: args.amount };
    does(&args.here, Actor::Agent(&args.by.agent), "fund", command, io)
}

fn decline(args: &Decline, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let command = Command::Decline { claim: args.claim.clone(), reason: args.reason.clone() };
    does(&args.here, Actor::Agent(&args.by.agent), "decline", command, io)
}

fn canary(args: &Canary, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let command = Command::OpenCanary { claim: args.claim.clone(), salt: args.secret };
    does(&args.here, Actor::Operator, "open the canary", command, io)
}

fn list(args: &List, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let List { claim, manifest, deposit, canary, sources, by, here } = args;
    let (manifest, material) = runnable(manifest, sources, here, io)?;
    let canary = canary.map(|secret| canary_commitment(claim, secret));
    let command = Command::List { claim: claim.clone(), manifest, deposit: *deposit, canary };
    lists(here, &by.agent, "list the claim", command, &material, io)
}

fn relist(args: &Relist, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Relist { claim, manifest, deposit, sources, by, here } = args;
    let (manifest, material) = runnable(manifest, sources, here, io)?;
    let command = Command::Relist { claim: claim.clone(), manifest, deposit: *deposit };
    lists(here, &by.agent, "relist the claim", command, &material, io)
}

/// Lists what can be run: a listed claim has everything that it pins in the folder.
fn lists(
    here: &Here,
    agent: &str,
    doing: &str,
    command: Command,
    material: &Material,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let claim = command.claim().map(str::to_owned);
    let round = round_of(here, io)?;
    let (mut folder, stamped) = stamped(here, Actor::Agent(agent), command, round.as_ref(), io)?;
    let events = folder.execute(&stamped, doing, || material.keep(&here.dir))?;
    tell(here, claim.as_deref(), &stamped.by, &(folder, events), io)
}

/// Makes a commitment. What it is to is kept once the commitment is accepted, so that a refused one leaves what was
/// committed before as it is.
fn seals(
    here: &Here,
    agent: &str,
    doing: &str,
    command: Command,
    (place, bytes): &(PathBuf, Vec<u8>),
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let claim = command.claim().map(str::to_owned);
    let round = round_of(here, io)?;
    let (mut folder, stamped) = stamped(here, Actor::Agent(agent), command, round.as_ref(), io)?;
    let events =
        folder.execute(&stamped, doing, || files::write_private(place, bytes, Existing::KeepEqual))?;
    tell(here, claim.as_deref(), &stamped.by, &(folder, events), io)
}

fn assign(args: &OfClaim, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let OfClaim { claim, here } = args;
    let round = round_of(here, io)?;
    let proof = beacon::proof(&Reading::peek(&here.dir)?, claim, round.as_ref())?;
    let command = Command::ResolveDraw { claim: claim.clone(), proof };
    let (by, done) = done(here, Actor::Operator, "resolve the draw", command, round.as_ref(), io)?;
    tell(here, Some(claim), &by, &done, io)
}

fn inputs(args: &Inputs, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Inputs { claim, from, by, here } = args;
    let folder = Reading::peek(&here.dir)?;
    let manifest = &claim_of(&folder, claim)?.manifest;
    let found = manifest.inputs.iter().map(|input| input_at(&from.join(&input.name), &input.name));
    let command = Command::CheckInputs { claim: claim.clone(), found: found.collect::<Result<_, _>>()? };
    does(here, Actor::Agent(&by.agent), "check the inputs", command, io)
}

fn run_claim(args: &Run, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Run { claim, results, sources, by, here } = args;
    let origin = Origin::of(results.as_deref(), sources);
    if matches!(origin, Origin::Running(..)) && !inputs_hold(claim, &by.agent, sources, here, io)? {
        io.print(Outcome::InputMismatch);
        return Ok(Exit::Success);
    }
    let record = made(&Reading::open(&here.dir, io)?, claim, Role::Runner, &by.agent, origin, io)?;
    io.print(format_args!("{} sha256:{}", record.results.outcome, record.digest));
    Ok(Exit::Success)
}

/// Checks the inputs before a run, once, for the journal: a mismatch ends the claim, and nothing runs.
fn inputs_hold(
    claim: &str,
    agent: &str,
    sources: &Sources,
    here: &Here,
    io: &mut Io<'_>,
) -> Result<bool, Failure> {
    let folder = Reading::peek(&here.dir)?;
    let state = claim_of(&folder, claim)?;
    let found = Material::gather(folder.path(), &state.manifest, sources)?.found();
    let holds = found == state.manifest.inputs;
    let checked = state.run.as_ref().is_some_and(|run| run.inputs_checked);
    if !(checked && holds) {
        let command = Command::CheckInputs { claim: claim.to_owned(), found };
        let round = round_of(here, io)?;
        let (_, (_, events)) =
            done(here, Actor::Agent(agent), "check the inputs", command, round.as_ref(), io)?;
        for event in &events {
            io.talk(name(event, agent));
        }
    }
    Ok(holds)
}

fn commit(args: &Sealing, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Sealing { claim, signed, here } = args;
    let folder = Reading::peek(&here.dir)?;
    let record = kept(&folder, claim, &signed.by.agent)?;
    let digest = sealed(&folder, claim, signed, Sealed::Run, record.digest)?;
    let command = Command::CommitRun { claim: claim.clone(), digest };
    let kept = (place_of(&folder, Sealed::Run, digest), json::canonical(record.value()));
    seals(here, &signed.by.agent, "commit the run", command, &kept, io)
}

fn challenge(args: &Challenge, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Challenge { claim, results, sources, signed, here } = args;
    let folder = Reading::peek(&here.dir)?;
    let origin = Origin::of(results.as_deref(), sources);
    let record = assembled(&folder, claim, Role::Challenger, &signed.by.agent, origin, io)?;
    let digest = sealed(&folder, claim, signed, Sealed::Challenge, record.digest)?;
    let command = Command::CommitChallenge { claim: claim.clone(), digest };
    let kept = (place_of(&folder, Sealed::Challenge, digest), json::canonical(record.value()));
    seals(here, &signed.by.agent, "commit the challenge", command, &kept, io)
}

fn review(args: &Review, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Review { claim, ballot, signed, here } = args;
    let folder = Reading::peek(&here.dir)?;
    let bytes = json::canonical(&read_json("ballot", ballot, io)?);
    let digest = sealed(&folder, claim, signed, Sealed::Vote, Digest::of(&bytes))?;
    let command = Command::CommitVote { claim: claim.clone(), digest };
    let kept = (place_of(&folder, Sealed::Vote, digest), bytes);
    seals(here, &signed.by.agent, "commit the vote", command, &kept, io)
}

fn open_commitment(args: &Sealing, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Sealing { claim, signed, here } = args;
    let command = reveal(&Reading::peek(&here.dir)?, claim, signed, here.at.as_deref())?;
    does(here, Actor::Agent(&signed.by.agent), "reveal", command, io)
}

fn audit(args: &OfClaim, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let folder = Reading::open(&args.here.dir, io)?;
    let audit = &claim_of(&folder, &args.claim)?.audit;
    let about = json!({ "coin": audit.coin, "auditor": audit.auditor, "accepted": audit.accepted });
    io.print_json(&about);
    Ok(Exit::Success)
}

fn receipt(args: &GiveReceipt, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let folder = Reading::open(&args.dir, io)?;
    let receipt = log::receipt(&folder, args.seq, folder.time(args.at.as_deref())?)?;
    match args.output.json {
        true => io.print_json(&receipt),
        false => io.print(receipt),
    }
    Ok(Exit::Success)
}

fn reference(args: &Reference, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let Reference { claim, results, sources, here } = args;
    let folder = Reading::peek(&here.dir)?;
    let operator = folder.world.instance.operator.clone();
    let origins: Vec<_> = match results.as_slice() {
        [] => [Configuration::Pooled, Configuration::Plain]
            .map(|configuration| Origin::Running(sources, configuration))
            .to_vec(),
        files => files.iter().map(|path| Origin::File(path)).collect(),
    };
    let record = |origin| assembled(&folder, claim, Role::Reference, &operator, origin, io);
    let records = origins.into_iter().map(record);
    let records = records.map(|record| Ok(record?.value().clone())).collect::<Result<_, Failure>>()?;
    let command = Command::PublishReference { claim: claim.clone(), records };
    does(here, Actor::Operator, "publish the reference", command, io)
}

/// A manifest that can be run, with everything that it pins.
fn runnable(
    path: &Path,
    sources: &Sources,
    here: &Here,
    io: &mut Io<'_>,
) -> Result<(Value, Material), Failure> {
    let value = read_json("manifest", path, io)?;
    let manifest = Manifest::read(value.clone())
        .map_err(|faults| faulty(Exit::Rejected, "list the claim of", &shown(path), faults))?;
    Ok((value, dry_run(&here.dir, &manifest, sources)?))
}

fn round_of(here: &Here, io: &mut Io<'_>) -> Result<Option<Round>, Failure> {
    let Some(path) = &here.beacon else { return Ok(None) };
    let round = Round::read(&read_json("round", path, io)?);
    round.map(Some).ok_or_else(|| beacon::no_round(path))
}

/// Does a command and tells what happened.
fn does(
    here: &Here,
    actor: Actor<'_>,
    doing: &str,
    command: Command,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let claim = command.claim().map(str::to_owned);
    let round = round_of(here, io)?;
    let (by, done) = done(here, actor, doing, command, round.as_ref(), io)?;
    tell(here, claim.as_deref(), &by, &done, io)
}

/// Tells what happened.
fn tell(
    here: &Here,
    claim: Option<&str>,
    by: &str,
    (folder, events): &(Folder, Vec<Event>),
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let claim = claim.and_then(|claim| folder.reading.world.claims.get(claim));
    let phase = claim.map(|claim| claim.phase.name());
    if here.output.json {
        let events: Vec<Value> = events.iter().map(|event| told(event, by)).collect();
        io.print_json(&json!({ "events": events, "phase": phase }));
        return Ok(Exit::Success);
    }
    if events.is_empty() {
        io.print("nothing happens yet");
    }
    for event in events {
        io.print(name(event, by));
    }
    if let Some(phase) = phase {
        io.talk(format_args!("the claim is {phase}"));
    }
    Ok(Exit::Success)
}

/// Does a command; says who did it and what happened.
fn done(
    here: &Here,
    actor: Actor<'_>,
    doing: &str,
    command: Command,
    round: Option<&Round>,
    io: &mut Io<'_>,
) -> Result<(String, (Folder, Vec<Event>)), Failure> {
    let (mut folder, stamped) = stamped(here, actor, command, round, io)?;
    let events = folder.execute(&stamped, doing, || Ok(()))?;
    Ok((stamped.by, (folder, events)))
}

/// Opens the folder, with a command that is ready for it. Nobody else writes to it from here on; what takes long
/// is done before.
fn stamped(
    here: &Here,
    actor: Actor<'_>,
    command: Command,
    round: Option<&Round>,
    io: &mut Io<'_>,
) -> Result<(Folder, Stamped), Failure> {
    let folder = Folder::open(&here.dir, io)?;
    let by = match actor {
        Actor::Operator => folder.reading.world.instance.operator.clone(),
        Actor::Agent(agent) => agent.to_owned(),
    };
    let stamped = folder.stamped(&by, here.at.as_deref(), round, command)?;
    Ok((folder, stamped))
}

/// The name of an event. Of what only the instance may see, whoever did it learns the name: what it did, it knows.
/// That an auditor was drawn again is an event as well, and who lets time pass need not learn that there was one.
fn name(event: &Event, by: &str) -> String {
    let own = match event {
        Event::AuditAccepted { agent, .. }
        | Event::AuditVacated { agent, .. }
        | Event::ChallengeRevealed { agent, .. }
        | Event::VoteRevealed { agent, .. } => agent == by,
        // Only the runner reveals a run, and that a coin is tossed was committed for all to see.
        Event::RunRevealed { .. } | Event::CoinTossed { .. } => true,
        other => !other.is_sealed(),
    };
    if own { event.name() } else { "sealed".to_owned() }
}

/// An event as it is told: of what is sealed, no more than the name.
fn told(event: &Event, by: &str) -> Value {
    if event.is_sealed() {
        return json!({ "event": name(event, by), "sealed": true });
    }
    serde_json::to_value(event).unwrap_or_default()
}
