//! A claim about a tournament: the frozen matrix is played again, in the sandbox, in a folder that goes away. The
//! secret of the seating is an argument of the manifest, so a claim opens it: nobody could rerun it otherwise.
//!
//! What is measured is `score.I`, the points of the strategy at place `I` of the frozen list, which is public
//! before anybody is seated, and `scorecard`, the SHA-256 of the scorecard's bytes. Neither holds a time, a host
//! or a number of workers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arena_canon::json::{self, Value};
use arena_canon::{Digest, Preimage};
use arena_claims::compare::{Kind, METRICS_MAX};
use arena_claims::manifest::{FUEL_MAX, Manifest, OUTPUT_BYTES_MAX, RunLimits};
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Pack};
use arena_engine::limits::V1;
use arena_engine::{Excerpt, HostFault};
use arena_sandbox::{Host, admit};
use arena_tournament::{
    Body, Class, Clock, Disclosure, Done, Executor, FROZEN, FROZEN_BYTES_MAX, Finished, FolderShelf, Frozen,
    IDENTITIES, InProcess, Inputs, Job, MatchId, RECEIPT, Run, RunFault, SCORECARD, Secret, Used, Watch,
    component_name, pack_name,
};
use serde::Deserialize;
use serde_json::json;

use super::material::{Sources, blob};
use super::rerun::{beyond, spec_issue};
use super::scratch::Scratch;
use crate::commands::tournament as tournaments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::roster::SandboxRoster;

/// Live seats of a host that plays matchups one after another.
pub(super) const SEATS: u32 = 4;
/// Most strategies of a claim: each has a metric, and the scorecard has one.
const STRATEGIES_MAX: usize = METRICS_MAX - 1;
/// Most bytes of all components and packs together.
const PARTS_BYTES_MAX: usize = 256 << 20;
/// The argument that opens the seating.
const SECRET: &str = "secret";
const SMALL_BYTES_MAX: u64 = 16 << 20;

/// What a frozen matrix pins: components and packs by their digests, packs as canonical JSON.
#[derive(Default)]
pub(super) struct Parts {
    components: BTreeMap<Digest, Vec<u8>>,
    packs: BTreeMap<Digest, Vec<u8>>,
}

impl Parts {
    /// The bytes of every part.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.components.values().chain(self.packs.values())
    }

    /// Takes what is in a file, if it is what is pinned.
    fn take(&mut self, kind: Part, sha256: Digest, bytes: Vec<u8>) -> bool {
        let (found, bytes) = match kind {
            Part::Component => (Digest::of(&bytes), bytes),
            Part::Pack => {
                let value = json::read(&bytes, DOCUMENT_BYTES_MAX).unwrap_or_default();
                let canonical = json::canonical(&value);
                (Digest::of(&canonical), canonical)
            }
        };
        let parts = match kind {
            Part::Component => &mut self.components,
            Part::Pack => &mut self.packs,
        };
        if found == sha256 {
            parts.insert(sha256, bytes);
        }
        found == sha256
    }
}

#[derive(Clone, Copy)]
enum Part {
    Component,
    Pack,
}

/// Finds what the frozen matrix in `bytes` pins: among the instance's blobs, in the run's folder that it is of, or
/// where the caller says. A matrix that is none, or too large, is refused later and has no parts.
pub(super) fn parts(dir: &Path, bytes: &[u8], sources: &Sources) -> Result<Parts, Failure> {
    let Ok(frozen) = Frozen::parse(bytes) else { return Ok(Parts::default()) };
    if frozen.strategies.len() > STRATEGIES_MAX {
        return Ok(Parts::default());
    }
    let components = frozen.strategies.iter().map(|pin| (Part::Component, pin.sha256));
    let pinned: Vec<_> =
        components.chain(frozen.packs().into_iter().map(|pack| (Part::Pack, pack))).collect();
    let beside = sources.frozen.as_ref().map(|path| path.parent().unwrap_or(Path::new("")));
    let mut parts = Parts::default();
    let mut missing = Vec::new();
    for (kind, sha256) in pinned {
        let (name, limit) = match kind {
            Part::Component => (component_name(sha256), V1.component_bytes_max),
            Part::Pack => (pack_name(sha256), DOCUMENT_BYTES_MAX as u64),
        };
        let places = [Some(blob(dir, sha256)), beside.map(|folder| folder.join(name))];
        let found = places.into_iter().flatten().find_map(|place| files::read_regular(&place, limit).ok());
        if !found.is_some_and(|bytes| parts.take(kind, sha256, bytes)) {
            missing.push((kind, sha256));
        }
        if parts.bytes().map(Vec::len).sum::<usize>() > PARTS_BYTES_MAX {
            let why = format!("its components and packs have more than {PARTS_BYTES_MAX} bytes");
            return Err(Failure::new(Exit::Rejected, "use the frozen matrix", why));
        }
    }
    if missing.is_empty() {
        return Ok(parts);
    }
    let elsewhere = sources.files.as_deref();
    let mut found = match beside.or(elsewhere) {
        Some(beside) => tournaments::parts(&frozen, beside, elsewhere)
            .map_err(|failure| failure.hint("name the folder with the components and packs with --files"))?,
        None => Inputs::default(),
    };
    for (kind, sha256) in missing {
        let (what, from) = match kind {
            Part::Component => ("component", &mut found.components),
            Part::Pack => ("pack", &mut found.packs),
        };
        if !from.remove(&sha256).is_some_and(|bytes| parts.take(kind, sha256, bytes)) {
            let why = format!("the {what} {sha256} is missing or not what was frozen");
            return Err(Failure::usage("use the frozen matrix", why)
                .hint("name the folder with the components and packs with --files"));
        }
    }
    Ok(parts)
}

/// A tournament that can be played.
pub(super) struct Tournament {
    frozen: Frozen,
    secret: Secret,
    inputs: Inputs,
}

/// Why there are no results.
pub(super) enum Stop {
    /// The host failed, or was too slow.
    Host(HostFault),
    /// Something else is in the way.
    Failed(Failure),
}

impl Tournament {
    /// Checks everything that can be checked before anything is played.
    pub(super) fn new(bytes: &[u8], parts: &Parts, manifest: &Manifest) -> Result<Self, Vec<String>> {
        let one = |why: String| vec![why];
        let frozen = Frozen::parse(bytes).map_err(|faults| one(format!("the frozen matrix: {faults}")))?;
        let count = frozen.strategies.len();
        if count > STRATEGIES_MAX {
            return Err(one(format!("{count} strategies; the limit of claims is {STRATEGIES_MAX}")));
        }
        let secret = manifest.arguments.get(SECRET).and_then(|text| text.parse::<Digest>().ok());
        let secret = secret.map(|secret| Secret::from_bytes(*secret.as_bytes()));
        let Some(secret) = secret.filter(|secret| secret.commitment() == frozen.secret_commit) else {
            return Err(one(format!(
                "the argument `{SECRET}` does not open the commitment of the frozen matrix"
            )));
        };
        let mut faults = fault_of_pins(&frozen);
        faults.extend(fault_of_metrics(manifest, count));
        for pin in &frozen.strategies {
            let bytes = parts.components.get(&pin.sha256).map_or(&[][..], Vec::as_slice);
            let of = format!("strategy {} `{}`", pin.index, Excerpt::line(&pin.name));
            match admit(bytes) {
                Err(rejection) => {
                    let first = rejection.refusals.first();
                    faults
                        .extend(first.map(|refusal| format!("{of}: {}: {}", refusal.code, refusal.message)));
                }
                Ok(admitted) if admitted.game().name() != frozen.game.name() => {
                    faults.push(format!("{of} is built for {}", admitted.world()));
                }
                Ok(_) => {}
            }
        }
        for (sha256, bytes) in &parts.packs {
            faults.extend(Pack::parse(bytes).err().map(|why| format!("pack {}: {why}", sha256.short())));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let inputs = Inputs {
            components: parts.components.clone(),
            packs: parts.packs.clone(),
            violations: Vec::new(),
        };
        Ok(Self { frozen, secret, inputs })
    }

    /// Plays it to its end. An ending that everybody would come to is a result; what the host cannot do is none.
    pub(super) fn play(
        &self,
        limits: &RunLimits,
        host: Host,
        talk: &mut dyn FnMut(&str),
    ) -> Result<Value, Stop> {
        let failed = |fault: RunFault| Stop::Failed(Failure::internal("play the tournament", fault));
        let scratch = Scratch::new().map_err(|why| {
            Stop::Failed(Failure::internal("make a folder to play the tournament in", files::plain(&why)))
        })?;
        let root = scratch.path().join("run");
        let pins = tournaments::pins();
        let run = Run::create(&root, &self.frozen, &self.secret, &self.inputs, &pins, &NoClock);
        let run = match run.map_err(failed)? {
            Ok(run) => run,
            Err(halted) => {
                let ended = halted.end(&NoClock).map_err(failed)?;
                let why = ended.ending.mismatches.first().unwrap_or(&ended.ending.reason);
                return Ok(spec_issue(&format!("blocked: {why}"), 0, Digest::of(b""), &[]));
            }
        };
        let host = Arc::new(host);
        let roster = SandboxRoster::new(Arc::clone(&host), Box::new(FolderShelf::new(&root)));
        let mut executor = Metered { inner: InProcess::new(roster), host, limits, fuel: 0, stopped: None };
        let ended = run.play(&mut executor, &mut Talk(talk), &NoClock).map_err(failed)?;
        let fuel = executor.fuel;
        match executor.stopped {
            Some(Stopped::Late(fault)) => return Err(Stop::Host(fault)),
            Some(Stopped::Spent(why)) => {
                return Ok(spec_issue(&why, limits.fuel, Digest::of(b""), &[]));
            }
            Some(Stopped::BuildDependent(why)) => {
                return Ok(spec_issue(&why, 0, Digest::of(b""), &[]));
            }
            None => {}
        }
        match ended.ending.class {
            Class::Success => results(&root.join(SCORECARD), fuel).map_err(Stop::Failed),
            Class::Stalled => {
                let why = Excerpt { text: &ended.ending.reason, max: 400 };
                Err(Stop::Failed(Failure::new(Exit::Stalled, "play the tournament", why)))
            }
            class @ (Class::Blocked | Class::Exhausted) => {
                let why = format!("{}: {}", class.name(), ended.ending.reason);
                Ok(spec_issue(&why, fuel, Digest::of(b""), &[]))
            }
        }
    }
}

/// What the frozen matrix was frozen for, and this host is not.
fn fault_of_pins(frozen: &Frozen) -> Vec<String> {
    let (protocol, here) = (&frozen.protocol, tournaments::pins());
    let pairs = [
        ("engine", protocol.engine_version.clone(), arena_engine::ENGINE_VERSION.to_owned()),
        ("wasmtime", protocol.wasmtime.clone(), here.wasmtime),
        ("limits", protocol.limits_version.to_string(), here.limits_version.to_string()),
    ];
    let other = pairs.into_iter().filter(|(_, frozen, here)| frozen != here);
    let told = other.map(|(what, frozen, here)| {
        let frozen = Excerpt::line(&frozen).to_string();
        format!("frozen for {what} {frozen}; this arena has {here}")
    });
    told.collect()
}

/// Metrics that no tournament has.
fn fault_of_metrics(manifest: &Manifest, strategies: usize) -> Vec<String> {
    let is_known = |name: &str, kind: Kind| match name.strip_prefix("score.") {
        Some(index) => {
            let place = index.parse::<usize>().ok().filter(|place| place.to_string() == index);
            kind == Kind::Int && place.is_some_and(|place| place < strategies)
        }
        None => name == "scorecard" && kind == Kind::Hash,
    };
    let unknown = manifest.rules.metrics.iter().filter(|metric| !is_known(&metric.name, metric.kind));
    let last = strategies.saturating_sub(1);
    let told = unknown.map(|metric| {
        let (name, kind) = (&metric.name, metric.kind.name());
        format!(
            "metric {name} as {kind}: a tournament has score.0 to score.{last} as int, and scorecard as hash"
        )
    });
    told.collect()
}

/// What of a scorecard is measured; its other rows are in its digest.
#[derive(Deserialize)]
struct Card {
    title: String,
    standings: Vec<Standing>,
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Standing {
    index: u32,
    score: i64,
}

#[derive(Deserialize)]
struct Record {
    digest: Digest,
}

/// The scorecard in a file, with its bytes.
fn card(path: &Path) -> Result<(Card, Vec<u8>), Failure> {
    let bytes =
        files::read_regular(path, OUTPUT_BYTES_MAX).map_err(|unread| unread.reading("scorecard", path))?;
    let mut card: Card = serde_json::from_slice(&bytes).map_err(|why| {
        let why = why.to_string();
        let doing = format!("read scorecard `{}`", files::shown(path));
        Failure::usage(doing, Excerpt { text: &why, max: 200 })
    })?;
    card.standings.sort_by_key(|standing| standing.index);
    Ok((card, bytes))
}

/// Results of a tournament that has a scorecard.
fn results(path: &Path, fuel: u64) -> Result<Value, Failure> {
    let length = std::fs::metadata(path).map_or(u64::MAX, |about| about.len());
    if length > OUTPUT_BYTES_MAX {
        let why = format!("over_limit: bytes of the scorecard; the limit is {OUTPUT_BYTES_MAX}");
        return Ok(spec_issue(&why, fuel, Digest::of(b""), &[]));
    }
    let (card, bytes) = card(path)?;
    let digest = Digest::of(&bytes);
    let mut metrics: Vec<Value> = card
        .standings
        .iter()
        .map(|of| json!({ "name": format!("score.{}", of.index), "kind": "int", "value": of.score.to_string() }))
        .collect();
    metrics.push(json!({ "name": "scorecard", "kind": "hash", "value": digest }));
    // What guests said is in the records' digests.
    let log = Preimage::new("ARENA-TOURNAMENT-LOG-V1").number(card.records.len() as u64);
    let log = card.records.iter().fold(log, |log, record| log.bytes(record.digest.as_bytes()));
    Ok(json!({
        "metrics": metrics, "fuel": fuel.to_string(), "log_sha256": log.digest(),
        "outputs": [{ "name": SCORECARD, "sha256": digest, "bytes": bytes.len() }],
    }))
}

/// What the run in `folder` lets one claim: the program of a manifest, and its other members.
pub(super) fn claimed(folder: &Path) -> Result<(Value, Value), Failure> {
    const DOING: &str = "claim a tournament";
    let read = |name: &str, limit: u64| {
        let path = folder.join(name);
        files::read_regular(&path, limit).map_err(|unread| {
            unread.reading("file", &path).hint("a finished run has it; see `arena tournament run --help`")
        })
    };
    let frozen = read(FROZEN, FROZEN_BYTES_MAX as u64)?;
    let disclosed = read(IDENTITIES, SMALL_BYTES_MAX)?;
    let disclosed: Disclosure = serde_json::from_slice(&disclosed)
        .map_err(|why| Failure::usage(DOING, format_args!("{IDENTITIES}: {why}")))?;
    let receipt = read(RECEIPT, 1 << 30)?;
    let receipt: Value = json::read(&receipt, receipt.len()).map_err(|why| Failure::usage(DOING, why))?;
    let (card, bytes) = card(&folder.join(SCORECARD))?;
    let exact = |name: String, kind: &str, claim: String| {
        let mut metric = json!({ "name": name, "kind": kind, "claim": claim });
        if kind == "int"
            && let Some(members) = metric.as_object_mut()
        {
            members.insert("claim_tol".into(), json!({ "abs": "0", "rel": "0", "dir": "two_sided" }));
            members.insert("rerun_tol".into(), json!({ "mode": "exact" }));
        }
        metric
    };
    let scores =
        card.standings.iter().map(|of| exact(format!("score.{}", of.index), "int", of.score.to_string()));
    let scorecard = exact("scorecard".into(), "hash", Digest::of(&bytes).to_string());
    let used = receipt.pointer("/budget/used/fuel").and_then(Value::as_u64).unwrap_or(FUEL_MAX);
    let program = json!({ "kind": "tournament", "frozen": Digest::of(&frozen) });
    let members = json!({
        "title": card.title, "arguments": { SECRET: disclosed.secret },
        "metrics": scores.chain([scorecard]).collect::<Vec<_>>(),
        "limits": {
            "fuel": used.clamp(1, FUEL_MAX), "memory_bytes": V1.memory_bytes_max,
            "output_bytes": 1 << 20, "wall_seconds": 3_600,
        },
    });
    Ok((program, members))
}

/// Plays in this process, within what the manifest allows.
struct Metered<'l> {
    inner: InProcess<SandboxRoster>,
    host: Arc<Host>,
    limits: &'l RunLimits,
    fuel: u64,
    stopped: Option<Stopped>,
}

/// Why the rest is not played.
enum Stopped {
    /// Nobody waits any longer.
    Late(HostFault),
    /// The manifest's fuel is spent.
    Spent(String),
    /// A strategy ended as another build might not let it end.
    BuildDependent(String),
}

/// How strategies of a record ended.
#[derive(Deserialize)]
struct Endings {
    forfeits: [Option<HowEnded>; 2],
}

#[derive(Deserialize)]
struct HowEnded {
    code: String,
    build_dependent: bool,
}

impl Metered<'_> {
    /// Whether the rest is played.
    fn weigh(&mut self, id: MatchId, used: Used, body: &Body) -> Option<Stopped> {
        self.fuel = self.fuel.saturating_add(used.fuel);
        if let Some(why) = beyond(self.limits, self.fuel) {
            return Some(Stopped::Spent(why));
        }
        let Body::Here { record, .. } = body else { return None };
        let endings: Endings = serde_json::from_slice(record).ok()?;
        let dependent = endings.forfeits.into_iter().flatten().find(|ended| ended.build_dependent)?;
        Some(Stopped::BuildDependent(format!("depends on the build: {id}: {}", dependent.code)))
    }
}

impl Executor for Metered<'_> {
    fn window(&self) -> usize {
        self.inner.window()
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.inner.submit(job)
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        let finished = match self.host.check_time() {
            Ok(()) => self.inner.next(within)?,
            Err(_) => None,
        };
        // A matchup that ended because there was no time left is no failure of it.
        self.stopped = match (self.host.check_time(), &finished) {
            (Err(late), _) => Some(Stopped::Late(late)),
            (Ok(()), Some(Finished { id, result: Ok(Done::Match { used, body, .. }) })) => {
                self.weigh(*id, *used, body)
            }
            _ => None,
        };
        match &self.stopped {
            None => Ok(finished),
            Some(_) => Err(RunFault::Executor("the rest is not played".to_owned())),
        }
    }
}

/// Nothing that a claim measures has a time: the budget of the host's own clock is the manifest's.
struct NoClock;

impl Clock for NoClock {
    fn unix_ms(&self) -> u64 {
        0
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

struct Talk<'t>(&'t mut dyn FnMut(&str));

impl Watch for Talk<'_> {
    fn progress(&mut self, _completed: usize, _planned: usize, _used: Used) {}

    fn talk(&mut self, line: &str) {
        (self.0)(&Excerpt { text: line, max: 400 }.to_string());
    }
}
