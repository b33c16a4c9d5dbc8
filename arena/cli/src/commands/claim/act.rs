//! What the verbs of a claim's life do: each is one command of the state machine.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::{Sealed, canary_commitment, commitment, nonce};
use arena_claims::envelope::{Scope, sign};
use arena_claims::life::{Claim, Command, Event, Phase};
use arena_claims::manifest::{Input, Manifest};
use arena_claims::params::Params;
use arena_claims::record::{Outcome, Place, Record, Role, assemble};
use arena_draw::beacon::Kind;
use arena_engine::Excerpt;
use serde_json::json;

use super::folder::{Folder, Round};
use super::material::{Material, Sources, dry_run, engine_config};
use super::rerun::{Configuration, rerun};
use super::verbs::{Act, Here, Signed};
use super::{faulty, params, read, read_json, shown};
use crate::commands::key;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// A signature holds this long.
const EXPIRES_S: u64 = 3_600;
const INPUT_BYTES_MAX: u64 = 64 << 20;

pub(crate) fn run(act: &Act, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match act {
        Act::Init { name, source, operator, params, dir } => {
            init(name, source, operator, params.as_deref(), dir, io)
        }
        Act::New { file, component, metrics, like, inputs, title, by, here } => {
            let folder = Folder::open(&here.dir, io)?;
            let params = folder.world.instance.params.digest();
            let claimed = match like {
                Some(path) => read_json("document", path, io)?,
                None => json!({ "metrics": claimed(metrics)? }),
            };
            let manifest = manifest(component, claimed, inputs, title.as_deref(), &by.agent, params)?;
            let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
            files::write(file, text.as_bytes(), Existing::Keep)?;
            io.talk(format_args!(
                "wrote {}; next: arena claim check {}",
                files::shown(file),
                files::shown(file)
            ));
            Ok(Exit::Success)
        }
        Act::Run { claim, results, sources, by, here } => {
            let mut folder = Folder::open(&here.dir, io)?;
            let from = results.as_deref().map_or(From::Running(sources), From::File);
            if let From::Running(sources) = from
                && !inputs_hold(&mut folder, claim, &by.agent, sources, here, io)?
            {
                io.print(Outcome::InputMismatch);
                return Ok(Exit::Success);
            }
            let record = made(&folder, claim, Role::Runner, &by.agent, from, io)?;
            io.print(format_args!("{} sha256:{}", record.results.outcome, record.digest));
            Ok(Exit::Success)
        }
        Act::Audit { claim, here } => {
            let folder = Folder::open(&here.dir, io)?;
            let audit = &claim_of(&folder, claim)?.audit;
            let about = json!({ "coin": audit.coin, "auditor": audit.auditor, "accepted": audit.accepted });
            io.print_json(&about);
            Ok(Exit::Success)
        }
        Act::Agent { agent, operator, key, can, here } => {
            let key = key::read(key)?.public();
            let command = Command::Register { operator: operator.clone(), key, capabilities: can.clone() };
            does(here, agent, "make the agent known", |_, _| Ok(command), io)
        }
        _ => in_turn(act, io),
    }
}

/// The verbs that are a command of an agent, with nothing to read.
fn in_turn(act: &Act, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let plain = |here: &Here, by: &str, doing: &str, command: Command, io: &mut Io<'_>| {
        does(here, by, doing, |_, _| Ok(command), io)
    };
    match act {
        Act::Deposit { amount, by, here } => {
            plain(here, &by.agent, "deposit", Command::Deposit { amount: *amount }, io)
        }
        Act::Payout { amount, by, here } => {
            plain(here, &by.agent, "pay out", Command::PayOut { amount: *amount }, io)
        }
        Act::Position { claim, by, here } => {
            let command = Command::DeclarePosition { claim: claim.clone() };
            plain(here, &by.agent, "declare the position", command, io)
        }
        Act::Fund { claim, amount, by, here } => {
            plain(here, &by.agent, "fund", Command::Fund { claim: claim.clone(), amount: *amount }, io)
        }
        Act::Withdraw { claim, by, here } => {
            plain(here, &by.agent, "withdraw", Command::Withdraw { claim: claim.clone() }, io)
        }
        Act::Open { claim, here } => {
            plain(here, "operator", "commit the draw", Command::CommitDraw { claim: claim.clone() }, io)
        }
        Act::Accept { claim, by, here } => {
            plain(here, &by.agent, "accept", Command::Accept { claim: claim.clone() }, io)
        }
        Act::Decline { claim, reason, by, here } => {
            let command = Command::Decline { claim: claim.clone(), reason: reason.clone() };
            plain(here, &by.agent, "decline", command, io)
        }
        Act::Appeal { claim, by, here } => {
            plain(here, &by.agent, "appeal", Command::Appeal { claim: claim.clone() }, io)
        }
        Act::Tick { claim, here } => {
            plain(here, "operator", "let time pass", Command::Tick { claim: claim.clone() }, io)
        }
        _ => with_documents(act, io),
    }
}

/// The verbs that read documents.
fn with_documents(act: &Act, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match act {
        Act::List { claim, manifest, deposit, canary, sources, by, here } => {
            let (manifest, material) = runnable(manifest, sources, here, io)?;
            let canary = canary.map(|secret| canary_commitment(claim, secret));
            let command = Command::List { claim: claim.clone(), manifest, deposit: *deposit, canary };
            let exit = does(here, &by.agent, "list the claim", |_, _| Ok(command), io)?;
            material.keep(&here.dir).map(|()| exit)
        }
        Act::Relist { claim, manifest, deposit, sources, by, here } => {
            let (manifest, material) = runnable(manifest, sources, here, io)?;
            let command = Command::Relist { claim: claim.clone(), manifest, deposit: *deposit };
            let exit = does(here, &by.agent, "relist the claim", |_, _| Ok(command), io)?;
            material.keep(&here.dir).map(|()| exit)
        }
        Act::Assign { claim, here } => {
            let round = round_of(here, io)?;
            let proof = round.map_or(Vec::new(), |round| round.proof);
            let command = Command::ResolveDraw { claim: claim.clone(), proof };
            does(here, "operator", "resolve the draw", |_, _| Ok(command), io)
        }
        Act::Inputs { claim, from, by, here } => {
            let found = |folder: &Folder, _: &mut Io<'_>| {
                let manifest = &claim_of(folder, claim)?.manifest;
                let found =
                    manifest.inputs.iter().map(|input| input_at(&from.join(&input.name), &input.name));
                Ok(Command::CheckInputs { claim: claim.clone(), found: found.collect::<Result<_, _>>()? })
            };
            does(here, &by.agent, "check the inputs", found, io)
        }
        Act::Reference { claim, results, sources, here } => {
            let command = |folder: &Folder, io: &mut Io<'_>| {
                let operator = folder.world.instance.operator.clone();
                let from = match results.as_slice() {
                    [] => [Configuration::Pooled, Configuration::Plain]
                        .map(|configuration| From::Configured(sources, configuration))
                        .to_vec(),
                    files => files.iter().map(|path| From::File(path)).collect(),
                };
                let records = from.into_iter().map(|from| {
                    Ok(assembled(folder, claim, Role::Reference, &operator, from, io)?.value().clone())
                });
                let records = records.collect::<Result<_, Failure>>()?;
                Ok(Command::PublishReference { claim: claim.clone(), records })
            };
            does(here, "operator", "publish the reference", command, io)
        }
        Act::Canary { claim, secret, here } => {
            let command = Command::OpenCanary { claim: claim.clone(), salt: *secret };
            does(here, "operator", "open the canary", |_, _| Ok(command), io)
        }
        _ => with_a_key(act, io),
    }
}

/// The verbs that seal or sign.
fn with_a_key(act: &Act, io: &mut Io<'_>) -> Result<Exit, Failure> {
    match act {
        Act::Commit { claim, signed, here } => {
            let command = |folder: &Folder, _: &mut Io<'_>| {
                let record = kept(folder, claim, &signed.by.agent)?;
                let digest = sealed(folder, claim, signed, Sealed::Run, record.digest)?;
                Ok(Command::CommitRun { claim: claim.clone(), digest })
            };
            does(here, &signed.by.agent, "commit the run", command, io)
        }
        Act::Challenge { claim, results, sources, signed, here } => {
            let command = |folder: &Folder, io: &mut Io<'_>| {
                let from = results.as_deref().map_or(From::Running(sources), From::File);
                let record = made(folder, claim, Role::Challenger, &signed.by.agent, from, io)?;
                let digest = sealed(folder, claim, signed, Sealed::Challenge, record.digest)?;
                Ok(Command::CommitChallenge { claim: claim.clone(), digest })
            };
            does(here, &signed.by.agent, "commit the challenge", command, io)
        }
        Act::Review { claim, ballot, signed, here } => {
            let command = |folder: &Folder, io: &mut Io<'_>| {
                let bytes = json::canonical(&read_json("ballot", ballot, io)?);
                let job = claim_of(folder, claim)?.job;
                let place = folder.private_of("ballot", job, &signed.by.agent);
                files::write_private(&place, &bytes, Existing::Replace)?;
                let digest = sealed(folder, claim, signed, Sealed::Vote, Digest::of(&bytes))?;
                Ok(Command::CommitVote { claim: claim.clone(), digest })
            };
            does(here, &signed.by.agent, "commit the vote", command, io)
        }
        Act::Reveal { claim, signed, here } => {
            let command = |folder: &Folder, _: &mut Io<'_>| reveal(folder, claim, signed, here);
            does(here, &signed.by.agent, "reveal", command, io)
        }
        _ => Ok(Exit::Success),
    }
}

fn init(
    name: &str,
    source: &str,
    operator: &str,
    set: Option<&Path>,
    dir: &Path,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let set = match set {
        Some(path) => params::parse(&read("parameters", path, io)?, &shown(path))?,
        None => Params::published(),
    };
    if let Some(missed) = set.violations().first() {
        let why = format!("its parameters miss {}: {}", missed.id, missed.says);
        return Err(Failure::new(Exit::Rejected, "make the instance", why)
            .hint("see all conditions with `arena claim params check`"));
    }
    let kind = if source == "test" { Kind::Test } else { Kind::DrandQuicknet };
    if kind == Kind::Test && !name.starts_with("test-") {
        return Err(Failure::usage(
            "make the instance",
            "a test beacon is only for names that start with `test-`",
        ));
    }
    Folder::create(dir, name, kind, operator, &set)?;
    io.print(format_args!("instance {} in {}", Excerpt::line(name), files::shown(dir)));
    Ok(Exit::Success)
}

fn round_of(here: &Here, io: &mut Io<'_>) -> Result<Option<Round>, Failure> {
    let Some(path) = &here.beacon else { return Ok(None) };
    let value = read_json("round", path, io)?;
    let wrong =
        || Failure::usage(format_args!("read round `{}`", shown(path)), "it has no `round` and `signature`");
    Round::read(&value).map(Some).ok_or_else(wrong)
}

/// Opens the folder, makes the command, does it, and tells what happened.
fn does(
    here: &Here,
    by: &str,
    doing: &str,
    command: impl FnOnce(&Folder, &mut Io<'_>) -> Result<Command, Failure>,
    io: &mut Io<'_>,
) -> Result<Exit, Failure> {
    let round = round_of(here, io)?;
    let mut folder = Folder::open(&here.dir, io)?;
    let by = if by == "operator" { folder.world.instance.operator.clone() } else { by.to_owned() };
    let command = command(&folder, io)?;
    let claim = command.claim().map(str::to_owned);
    let stamped = folder.stamped(&by, here.at.as_deref(), round.as_ref(), command)?;
    let events = folder.execute(&stamped, doing)?;
    let phase = claim.and_then(|claim| folder.world.claims.get(&claim)).map(|claim| claim.phase.name());
    if here.output.json {
        io.print_json(&json!({ "events": events.iter().map(told).collect::<Vec<_>>(), "phase": phase }));
        return Ok(Exit::Success);
    }
    if events.is_empty() {
        io.print("nothing happens yet");
    }
    for event in &events {
        io.print(event.name());
    }
    if let Some(phase) = phase {
        io.talk(format_args!("the claim is {phase}"));
    }
    Ok(Exit::Success)
}

/// What only the instance may see is told by name alone.
fn told(event: &Event) -> Value {
    if event.is_sealed() {
        return json!({ "event": event.name(), "sealed": true });
    }
    serde_json::to_value(event).unwrap_or_default()
}

fn claim_of<'a>(folder: &'a Folder, claim: &str) -> Result<&'a Claim, Failure> {
    folder.world.claims.get(claim).ok_or_else(|| {
        let name = Excerpt { text: claim, max: 80 };
        Failure::new(Exit::Rejected, format_args!("find claim `{name}`"), "unknown_claim: there is none")
    })
}

/// Where the results of a record come from.
#[derive(Clone, Copy)]
enum From<'a> {
    /// They were measured elsewhere.
    File(&'a Path),
    /// The claim is run now.
    Running(&'a Sources),
    /// The same, on a host of that kind.
    Configured(&'a Sources, Configuration),
}

/// The results, and what to call them.
fn results_of(
    folder: &Folder,
    claim: &Claim,
    from: From<'_>,
    io: &mut Io<'_>,
) -> Result<(Value, String), Failure> {
    let (sources, configuration) = match from {
        From::File(path) => return Ok((read_json("results", path, io)?, shown(path))),
        From::Running(sources) => (sources, Configuration::Ordinary),
        From::Configured(sources, configuration) => (sources, configuration),
    };
    let material = Material::gather(folder.path(), &claim.manifest, sources)?;
    let results = rerun(&claim.manifest, &material, claim.job, configuration, io)?;
    Ok((results, "the run".to_owned()))
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

/// Checks the inputs before a run, once, for the journal: a mismatch ends the claim, and nothing runs.
fn inputs_hold(
    folder: &mut Folder,
    claim: &str,
    agent: &str,
    sources: &Sources,
    here: &Here,
    io: &mut Io<'_>,
) -> Result<bool, Failure> {
    let state = claim_of(folder, claim)?;
    let found = Material::gather(folder.path(), &state.manifest, sources)?.found();
    let holds = found == state.manifest.inputs;
    let checked = state.run.as_ref().is_some_and(|run| run.inputs_checked);
    if !(checked && holds) {
        let command = Command::CheckInputs { claim: claim.to_owned(), found };
        let stamped = folder.stamped(agent, here.at.as_deref(), None, command)?;
        for event in folder.execute(&stamped, "check the inputs")? {
            io.talk(event.name());
        }
    }
    Ok(holds)
}

/// A record of the agent from results, within the claim's manifest.
fn assembled(
    folder: &Folder,
    claim: &str,
    role: Role,
    agent: &str,
    from: From<'_>,
    io: &mut Io<'_>,
) -> Result<Record, Failure> {
    let claim = claim_of(folder, claim)?;
    let (value, name) = results_of(folder, claim, from, io)?;
    let operator = folder.world.agents.get(agent).map_or("operator", |agent| agent.operator.as_str());
    let (job, manifest) = (claim.job, &claim.manifest);
    let place = Place { claim: &claim.id, job, role, agent, operator, manifest };
    let record = assemble(&place, &value).and_then(|record| record.check(manifest).map(|()| record));
    record.map_err(|faults| faulty(Exit::Rejected, "make a record of", &name, faults))
}

/// A record that is kept until it is revealed.
fn made(
    folder: &Folder,
    claim: &str,
    role: Role,
    agent: &str,
    from: From<'_>,
    io: &mut Io<'_>,
) -> Result<Record, Failure> {
    let record = assembled(folder, claim, role, agent, from, io)?;
    let place = folder.private_of("record", record.job, agent);
    files::write_private(&place, &json::canonical(record.value()), Existing::Replace)?;
    Ok(record)
}

fn kept(folder: &Folder, claim: &str, agent: &str) -> Result<Record, Failure> {
    let place = folder.private_of("record", claim_of(folder, claim)?.job, agent);
    let bytes = files::read(&place, super::DOCUMENT_BYTES_MAX)
        .map_err(|unread| unread.reading("record", &place).hint("make one with `arena claim run`"))?;
    Record::parse(&bytes).map_err(|why| Failure::new(Exit::Rejected, "read the record", why))
}

fn sealed(
    folder: &Folder,
    claim: &str,
    signed: &Signed,
    kind: Sealed,
    document: Digest,
) -> Result<Digest, Failure> {
    let job = claim_of(folder, claim)?.job;
    let seed = key::read(&signed.key)?.seed();
    Ok(commitment(kind, job, &signed.by.agent, nonce(&seed, job, kind), document))
}

fn reveal(folder: &Folder, claim: &str, signed: &Signed, here: &Here) -> Result<Command, Failure> {
    let (state, agent) = (claim_of(folder, claim)?, &signed.by.agent);
    let secret = key::read(&signed.key)?;
    let id = claim.to_owned();
    if matches!(state.phase, Phase::Opening { .. }) {
        let place = folder.private_of("ballot", state.job, agent);
        let bytes = files::read(&place, super::DOCUMENT_BYTES_MAX).map_err(|unread| {
            unread.reading("ballot", &place).hint("commit one with `arena claim review`")
        })?;
        let ballot = json::read(&bytes, bytes.len()).map_err(|why| Failure::usage("read the ballot", why))?;
        let nonce = nonce(&secret.seed(), state.job, Sealed::Vote);
        return Ok(Command::RevealVote { claim: id, nonce, ballot });
    }
    let record = kept(folder, claim, agent)?;
    let kind = if record.role == Role::Runner { Sealed::Run } else { Sealed::Challenge };
    let tick = Command::Tick { claim: id.clone() };
    let at = folder.stamped(agent, here.at.as_deref(), None, tick)?.at;
    let counter = folder.world.agents.get(agent).map_or(0, |agent| agent.counter) + 1;
    let scope =
        Scope { instance: folder.world.instance.id(), counter, expires: at.saturating_add(EXPIRES_S) };
    let envelope = sign(&record, scope, &secret);
    Ok(Command::Reveal { claim: id, nonce: nonce(&secret.seed(), state.job, kind), envelope })
}

fn input_at(path: &Path, name: &str) -> Result<Input, Failure> {
    let bytes = files::read(path, INPUT_BYTES_MAX).map_err(|unread| unread.reading("input", path))?;
    Ok(Input { name: name.to_owned(), sha256: Digest::of(&bytes), bytes: bytes.len() as u64 })
}

/// Metrics as they are given on a command line.
fn claimed(metrics: &[String]) -> Result<Vec<Value>, Failure> {
    let read = |metric: &String| {
        let (name, value) = metric.split_once('=').ok_or_else(|| {
            let text = Excerpt { text: metric, max: 80 };
            Failure::usage(format_args!("read metric `{text}`"), "a metric is like elo=1532.25")
        })?;
        let scale = value.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        Ok(json!({
            "name": name, "kind": "decimal", "scale": scale, "claim": value,
            "claim_tol": { "abs": "0", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" },
        }))
    };
    metrics.iter().map(read).collect()
}

/// A manifest of an experiment. What `claimed` does not say is as usual.
fn manifest(
    component: &Path,
    claimed: Value,
    inputs: &[PathBuf],
    title: Option<&str>,
    submitter: &str,
    params: Digest,
) -> Result<Value, Failure> {
    let program = input_at(component, "component")?.sha256;
    let mut pinned = Vec::new();
    for path in inputs {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let input = input_at(path, &name)?;
        pinned.push(json!({ "name": input.name, "sha256": input.sha256, "bytes": input.bytes }));
    }
    let mut manifest = json!({
        "v": "arena-manifest/v1", "title": "a claim", "arguments": {},
        "limits": { "fuel": 10_000_000_000u64, "memory_bytes": 67_108_864, "output_bytes": 1_048_576, "wall_seconds": 600 },
        "capabilities": [], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
        "determinism": "exact",
    });
    let own = json!({
        "submitter": submitter, "program": { "kind": "experiment", "component": program }, "inputs": pinned,
        "engine": { "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": engine_config() },
        "protocol_params_sha256": params,
    });
    let title = title.map(|title| json!({ "title": title }));
    if let Some(members) = manifest.as_object_mut() {
        for more in [Some(claimed), Some(own), title].into_iter().flatten() {
            members.extend(more.as_object().cloned().unwrap_or_default());
        }
    }
    Ok(manifest)
}
