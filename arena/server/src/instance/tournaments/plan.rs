//! From a document to a plan, and from a plan to the frozen file and what it pins.
//!
//! The document is the plan of a tournament as the command line knows it, with ids of strategies in place of files.

use std::collections::BTreeMap;

use arena_canon::json::{Map, Value};
use arena_tournament::{Component, Frozen, Inputs, PackPin, Pairing, Pins, Plan, PlannedScenarios, Secret};
use serde_json::json;

use super::Tournament;
use crate::auth::Viewer;
use crate::config;
use crate::instance::strategies::Strategies;
use crate::instance::{Instance, Known};
use crate::play::Published;
use crate::problem::Problem;

/// Faults of one document that are told.
const FAULTS_MAX: usize = 200;
/// Levels of a plan; a document is not deeper.
const DEPTH_MAX: usize = 16;
/// Bytes of a member's name; those of a plan are far shorter. Every place below it repeats the name.
const NAME_BYTES_MAX: usize = 64;
/// Bytes of all components of one tournament: they are read at once, and copied into its folder.
const COMPONENTS_BYTES_MAX: u64 = 128 << 20;

/// A draft that can be frozen.
pub(super) struct Drafted {
    pub(super) plan: Value,
    pub(super) strategies: Vec<u64>,
    pub(super) matchups: u64,
    pub(super) turns: u64,
}

/// Faults, each with its place.
#[derive(Default)]
struct Faults(Vec<(String, String)>);

impl Faults {
    fn push(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < FAULTS_MAX {
            self.0.push((pointer.into(), message.into()));
        }
    }

    fn problem(&self) -> Problem {
        let mut problem = Problem::new("form", "the tournament cannot be played as it is planned");
        for (pointer, message) in &self.0 {
            problem.push(pointer, "form", message);
        }
        problem
    }
}

/// Reads a document: all its faults at once.
pub(super) fn read(
    instance: &Instance,
    viewer: &Viewer,
    document: &Value,
    limits: &config::Tournaments,
    known: &Known,
) -> Result<Drafted, Problem> {
    let mut faults = Faults::default();
    let Some(given) = document.as_object() else {
        faults.push("", "it must be an object");
        return Err(faults.problem());
    };
    let mut document = given.clone();
    if document.remove("seating").is_some() {
        faults.push("/seating", "a seating by a beacon is not offered here");
    }
    let strategies = enter(&instance.strategies, viewer, &mut document, limits, &mut faults);
    bound_time(&mut document, limits, &mut faults);
    let plan = Value::Object(document);
    let parsed = match parse(&plan) {
        Ok(parsed) => Some(parsed),
        Err(more) => {
            more.0.into_iter().for_each(|(pointer, message)| faults.push(pointer, message));
            None
        }
    };
    let Some(parsed) = parsed else { return Err(faults.problem()) };
    for (place, number) in strategies.iter().enumerate() {
        let game = instance.strategies.get(*number).and_then(|strategy| strategy.admission.game());
        if game != Some(parsed.game) {
            let pointer = format!("/strategies/{place}");
            faults.push(pointer, format!("it does not play the game {}", parsed.game.name()));
        }
    }
    let bytes = component_bytes(&instance.strategies, &strategies);
    if bytes > COMPONENTS_BYTES_MAX {
        let message =
            format!("{bytes} bytes of components; this server plays at most {COMPONENTS_BYTES_MAX}");
        faults.push("/strategies", message);
    }
    let rounds: Vec<u64> = match &parsed.scenarios {
        PlannedScenarios::Matrix { rounds, .. } => vec![u64::from(*rounds)],
        PlannedScenarios::Packs(_) => {
            let packs = packs(&parsed, known, &mut faults);
            packs.iter().map(|published| 2 * u64::from(published.pack.turns())).collect()
        }
    };
    let games = pairs(&parsed).saturating_mul(u64::from(parsed.repetitions));
    let matchups = games.saturating_mul(rounds.len() as u64);
    let turns = games.saturating_mul(rounds.iter().sum());
    for (what, count, most) in
        [("matchups", matchups, limits.matchups_max), ("turns", turns, limits.turns_max)]
    {
        if count > most {
            faults.push("/matrix", format!("{count} {what}; this server plays at most {most}"));
        }
    }
    if matchups == 0 {
        faults.push("/matrix", "there is no matchup: add a strategy, or `self_play`");
    }
    if faults.0.is_empty() {
        Ok(Drafted { plan, strategies, matchups, turns })
    } else {
        Err(faults.problem())
    }
}

/// Bytes of all components, each counted once.
fn component_bytes(strategies: &Strategies, numbers: &[u64]) -> u64 {
    let entered = numbers.iter().filter_map(|number| strategies.get(*number));
    let sizes: BTreeMap<_, _> =
        entered.map(|strategy| (strategy.admission.sha256, strategy.admission.size_bytes)).collect();
    sizes.values().sum()
}

/// Puts what a plan says of a strategy where the document has its id.
fn enter(
    strategies: &Strategies,
    viewer: &Viewer,
    document: &mut Map<String, Value>,
    limits: &config::Tournaments,
    faults: &mut Faults,
) -> Vec<u64> {
    let Some(list) = document.get_mut("strategies").and_then(Value::as_array_mut) else { return Vec::new() };
    if list.len() > limits.strategies_max {
        let message =
            format!("{} strategies; this server seats at most {}", list.len(), limits.strategies_max);
        faults.push("/strategies", message);
        // It is refused; what is beyond is not looked at one by one.
        list.truncate(limits.strategies_max);
    }
    let mut numbers = Vec::new();
    for (place, entry) in list.iter_mut().enumerate() {
        let id = entry.as_str().map(str::to_owned);
        let strategy = id.as_deref().and_then(|id| strategies.entered(viewer, id));
        *entry = match strategy {
            Some(strategy) => {
                numbers.push(strategy.number);
                json!({
                    "name": strategy.name, "version": strategy.version, "component": strategy.id(),
                })
            }
            None => {
                let pointer = format!("/strategies/{place}");
                faults.push(pointer, "not the id of a strategy of yours, such as `s1`");
                json!({ "name": format!("strategy {place}"), "component": "-" })
            }
        };
    }
    numbers
}

/// Time is bounded here, whatever a plan says.
fn bound_time(document: &mut Map<String, Value>, limits: &config::Tournaments, faults: &mut Faults) {
    let budget = document.entry("budget").or_insert_with(|| json!({}));
    let Some(budget) = budget.as_object_mut() else { return };
    let most = limits.wall_seconds_max;
    let given = budget.entry("wall_seconds").or_insert_with(|| most.into());
    if given.as_u64().is_some_and(|given| given > most) {
        faults.push("/budget/wall_seconds", format!("this server gives a tournament at most {most} seconds"));
    }
}

/// The plan of a document without ids of strangers.
fn parse(document: &Value) -> Result<Plan, Faults> {
    let mut faults = Faults::default();
    let table = toml_of(document, String::new(), 0, &mut faults);
    let text = match table {
        Some(toml::Value::Table(table)) => table.to_string(),
        _ => String::new(),
    };
    match Plan::parse(&text) {
        Ok(plan) if faults.0.is_empty() => Ok(plan),
        Ok(_) => Err(faults),
        Err(more) => {
            let told: Vec<String> = faults.0.iter().map(|(pointer, _)| pointer.clone()).collect();
            for finding in more.0.into_iter().filter(|finding| !told.contains(&finding.pointer)) {
                faults.push(finding.pointer, finding.message);
            }
            Err(faults)
        }
    }
}

/// JSON as the reader of plans has it. What it has no word for is left out and told.
fn toml_of(value: &Value, pointer: String, depth: usize, faults: &mut Faults) -> Option<toml::Value> {
    if depth > DEPTH_MAX {
        faults.push(pointer, "it is nested too deep");
        return None;
    }
    let at = |member: &str| format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Null => {
            faults.push(pointer, "null says nothing here; leave it out");
            None
        }
        Value::Bool(flag) => Some(toml::Value::Boolean(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Some(toml::Value::Integer(whole)),
            (None, float) => Some(toml::Value::Float(float.unwrap_or(f64::INFINITY))),
        },
        Value::String(text) => Some(toml::Value::String(text.clone())),
        Value::Array(list) => {
            let entries = list.iter().enumerate();
            let entries =
                entries.filter_map(|(i, entry)| toml_of(entry, at(&i.to_string()), depth + 1, faults));
            Some(toml::Value::Array(entries.collect()))
        }
        Value::Object(members) => {
            let mut table = toml::Table::new();
            for (name, member) in members {
                if name.len() > NAME_BYTES_MAX {
                    faults.push(pointer.clone(), format!("a name has more than {NAME_BYTES_MAX} bytes"));
                    continue;
                }
                if let Some(member) = toml_of(member, at(name), depth + 1, faults) {
                    table.insert(name.clone(), member);
                }
            }
            Some(toml::Value::Table(table))
        }
    }
}

/// How many pairs meet.
fn pairs(plan: &Plan) -> u64 {
    let of = |count: u64| count * count.saturating_sub(1) / 2;
    let count = plan.strategies.len() as u64;
    match &plan.pairing {
        Pairing::Pairs(pairs) => pairs.len() as u64,
        Pairing::RoundRobin => of(count) + if plan.self_play { count } else { 0 },
        Pairing::Gauntlet(challengers) => {
            let challengers = challengers.len() as u64;
            of(count) - of(count - challengers) + if plan.self_play { challengers } else { 0 }
        }
    }
}

/// The packs of a plan: `two-spikes`, or `two-spikes/0.1.0`.
fn packs<'k>(plan: &Plan, known: &'k Known, faults: &mut Faults) -> Vec<&'k Published> {
    let PlannedScenarios::Packs(names) = &plan.scenarios else { return Vec::new() };
    let mut found = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let (id, version) = name.split_once('/').map_or((name.as_str(), None), |(id, it)| (id, Some(it)));
        let mut named = known.packs.all().iter().filter(|published| {
            let document = published.pack.document();
            document.pack_id == id && version.is_none_or(|version| version == document.pack_version)
        });
        let pointer = format!("/matrix/packs/{place}");
        match (named.next(), named.next()) {
            (Some(published), None) => found.push(&**published),
            (None, _) => faults.push(pointer, "no pack here has this name; GET /api/v1/packs lists them"),
            (Some(_), Some(_)) => faults.push(pointer, "there are several versions; write `name/version`"),
        }
    }
    found
}

/// Everything of a drafted tournament as it was resolved.
fn resolved<'k>(tournament: &Tournament, known: &'k Known) -> Result<(Plan, Vec<&'k Published>), Problem> {
    let plan = parse(&tournament.plan).map_err(|faults| faults.problem())?;
    let mut faults = Faults::default();
    let packs = packs(&plan, known, &mut faults);
    if faults.0.is_empty() { Ok((plan, packs)) } else { Err(faults.problem()) }
}

/// Freezes a draft with a secret. `components` are its strategies in order.
pub(crate) fn freeze(
    tournament: &Tournament,
    components: &[Component],
    known: &Known,
    secret: &Secret,
    pins: &Pins,
) -> Result<Frozen, Problem> {
    let (plan, packs) = resolved(tournament, known)?;
    let pinned: Vec<PackPin> = packs
        .iter()
        .map(|published| PackPin {
            pack_id: published.pack.document().pack_id.clone(),
            pack_version: published.pack.document().pack_version.clone(),
            sha256: published.pack.sha256(),
        })
        .collect();
    let frozen = arena_tournament::freeze(&plan, components, &pinned, secret, pins);
    let (frozen, _) = frozen.map_err(|why| {
        let mut faults = Faults::default();
        faults.push("", why.to_string());
        faults.problem()
    })?;
    Ok(frozen)
}

/// What a frozen file pins, as far as it is here: what is missing ends the run as blocked. `component` gives the
/// bytes of a strategy.
pub(crate) fn inputs(
    frozen: &Frozen,
    known: &Known,
    mut component: impl FnMut(arena_canon::Digest) -> Option<Vec<u8>>,
) -> Inputs {
    let mut inputs = Inputs { components: BTreeMap::new(), packs: BTreeMap::new(), violations: Vec::new() };
    for strategy in &frozen.strategies {
        if inputs.components.contains_key(&strategy.sha256) {
            continue;
        }
        match component(strategy.sha256) {
            Some(bytes) => drop(inputs.components.insert(strategy.sha256, bytes)),
            None => {
                inputs.violations.push(format!("the component of strategy {} is missing", strategy.index));
            }
        }
    }
    for sha256 in frozen.packs() {
        match known.packs.with_digest(sha256) {
            Some(published) => drop(inputs.packs.insert(sha256, published.bytes.clone())),
            None => inputs.violations.push(format!("the pack {sha256} is not offered here any more")),
        }
    }
    inputs
}
