//! Strategies: components that were uploaded and admitted. Their bytes are blobs; the journal has what admission
//! said of them.
//!
//! A strategy is its owner's until a tournament in which it played discloses who was who. `seen` alone decides who
//! may see one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_tournament::Plan;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Decision, Instance, Request, Row};
use crate::auth::{Scope, Viewer};
use crate::instance::stamp;
use crate::problem::Problem;
use crate::workshop::Admission;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "strategy.uploaded";

/// The topic of what nobody but the platform reads.
const TOPIC: &str = "strategies";

/// What can be wanted.
#[derive(Debug, Clone)]
pub enum Command {
    /// Registers a component that was admitted. Its blob is there.
    Upload(Box<Upload>),
}

/// A component to register.
#[derive(Debug, Clone)]
pub struct Upload {
    /// What people call it.
    pub name: String,
    /// Its author's version.
    pub version: String,
    /// What admission said.
    pub admission: Arc<Admission>,
    /// Strategies that one agent may have.
    pub most: usize,
}

/// A strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Its number, from 1.
    pub number: u64,
    /// The agent that uploaded it.
    pub owner: String,
    /// When.
    pub at: Moment,
    /// What people call it.
    pub name: String,
    /// Its author's version.
    pub version: String,
    /// What admission said.
    pub admission: Arc<Admission>,
}

/// All strategies.
#[derive(Debug, Clone, Default)]
pub struct Strategies {
    all: BTreeMap<u64, Arc<Strategy>>,
    by_owner: BTreeMap<String, BTreeSet<u64>>,
    admitted: BTreeMap<Digest, Arc<Admission>>,
    /// Those that a tournament disclosed.
    disclosed: BTreeSet<u64>,
}

/// The number in an id: a letter, and digits without a leading zero.
pub(super) fn number_of(id: &str, letter: char) -> Option<u64> {
    let digits = id.strip_prefix(letter)?;
    let plain = (1..=12).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain && !digits.starts_with('0'))
}

impl Strategy {
    /// Its name in addresses.
    pub fn id(&self) -> String {
        format!("s{}", self.number)
    }

    /// Its place in lists: the newest comes first.
    pub fn place(&self) -> String {
        format!("{:020}", u64::MAX - self.number)
    }

    /// What whoever may see it is told.
    pub fn to_json(&self) -> Value {
        let Admission { sha256, size_bytes, world, imports, linker, probe } = &*self.admission;
        json!({
            "strategy": self.id(), "owner": self.owner, "name": self.name, "version": self.version,
            "status": "admitted", "uploaded_at": stamp(self.at), "sha256": sha256, "size_bytes": size_bytes,
            "world": world, "game": self.admission.game(), "imports": imports,
            "admission": { "admitted": true, "linker": linker, "probe": probe },
        })
    }
}

impl Strategies {
    /// What admission said of a component, if it was uploaded.
    pub fn admitted(&self, sha256: &Digest) -> Option<&Arc<Admission>> {
        self.admitted.get(sha256)
    }

    /// The strategy of this number.
    pub fn get(&self, number: u64) -> Option<&Arc<Strategy>> {
        self.all.get(&number)
    }

    /// The strategies of an agent, the newest first.
    pub fn of(&self, owner: &str) -> impl Iterator<Item = &Arc<Strategy>> {
        let numbers = self.by_owner.get(owner).into_iter().flat_map(|numbers| numbers.iter().rev());
        numbers.filter_map(|number| self.all.get(number))
    }

    /// All of them, the newest first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Strategy>> {
        self.all.values().rev()
    }

    /// The strategy of this name, if it is one that somebody may see: their own, a disclosed one, or any for the
    /// admin.
    pub fn seen(&self, viewer: &Viewer, id: &str) -> Result<&Arc<Strategy>, Problem> {
        let nothing =
            || Problem::new("not_found", "there is no such strategy, or it is another's and not disclosed");
        let strategy = number_of(id, 's').and_then(|number| self.all.get(&number)).ok_or_else(nothing)?;
        let is_own = viewer.agent() == Some(&strategy.owner);
        let may = is_own || viewer.is_admin() || self.disclosed.contains(&strategy.number);
        if may { Ok(strategy) } else { Err(nothing()) }
    }

    /// A strategy that somebody may enter in a tournament: their own, or any for the admin.
    pub(super) fn entered(&self, viewer: &Viewer, id: &str) -> Option<&Arc<Strategy>> {
        let strategy = self.all.get(&number_of(id, 's')?)?;
        (viewer.is_admin() || viewer.agent() == Some(&strategy.owner)).then_some(strategy)
    }

    /// Everybody may see these from now on.
    pub(super) fn disclose(&mut self, numbers: &[u64]) {
        self.disclosed.extend(numbers);
    }
}

/// Whether this can be the name and the version of a strategy; a plan of a tournament has to be able to bear them.
pub(crate) fn check_name(name: &str, version: &str) -> Result<(), Problem> {
    let text = |text: &str| toml::Value::String(text.to_owned());
    let strategy = toml::Table::from_iter([
        ("name".to_owned(), text(name)),
        ("version".to_owned(), text(version)),
        ("component".to_owned(), text("-")),
    ]);
    let matrix = toml::Table::from_iter([
        ("self_play".to_owned(), toml::Value::Boolean(true)),
        ("rounds".to_owned(), toml::Value::Integer(1)),
    ]);
    let plan = toml::Table::from_iter([
        ("slug".to_owned(), text("plan")),
        ("title".to_owned(), text("plan")),
        ("game".to_owned(), text("matrix")),
        ("strategies".to_owned(), toml::Value::Array(vec![toml::Value::Table(strategy)])),
        ("matrix".to_owned(), toml::Value::Table(matrix)),
    ]);
    let Err(faults) = Plan::parse(&plan.to_string()) else { return Ok(()) };
    let mut problem = Problem::new("form", "name and version are given in the query");
    for finding in &faults.0 {
        let member = finding.pointer.strip_prefix("/strategies/0").unwrap_or(&finding.pointer);
        problem.push(member, "form", &finding.message);
    }
    Err(problem)
}

pub(super) fn decide(instance: &Instance, request: &Request, command: &Command) -> Result<Decision, Problem> {
    let Command::Upload(upload) = command;
    let agent = request.by.agent_with(Scope::Submit)?;
    check_name(&upload.name, &upload.version)?;
    let strategies = &instance.strategies;
    let is_same = |strategy: &&Arc<Strategy>| {
        strategy.admission.sha256 == upload.admission.sha256
            && strategy.name == upload.name
            && strategy.version == upload.version
    };
    if let Some(same) = strategies.of(agent).find(is_same) {
        return Ok(Decision { rows: Vec::new(), answer: Answer::ok(same.to_json()) });
    }
    let count = strategies.by_owner.get(agent).map_or(0, BTreeSet::len);
    if count >= upload.most {
        let detail = format_args!("you have {count} strategies, the limit is {}", upload.most);
        return Err(Problem::new("too_many", detail));
    }
    let strategy = Strategy {
        number: strategies.all.last_key_value().map_or(0, |(last, _)| *last) + 1,
        owner: agent.to_owned(),
        at: request.at,
        name: upload.name.clone(),
        version: upload.version.clone(),
        admission: Arc::clone(&upload.admission),
    };
    let fact = json!({
        "strategy": strategy.number, "owner": agent, "name": strategy.name, "version": strategy.version,
        "admission": *strategy.admission,
    });
    let Admission { sha256, size_bytes, .. } = *strategy.admission;
    let fact = Row::fact(request.at, TOPIC, FACT, fact).with_blob(sha256, size_bytes, "application/wasm");
    let location = format!("/api/v1/strategies/{}", strategy.id());
    Ok(Decision { rows: vec![fact], answer: Answer::accepted(location, strategy.to_json()) })
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Uploaded {
    strategy: u64,
    owner: String,
    name: String,
    version: String,
    admission: Admission,
}

pub(super) fn evolve(instance: &mut Instance, row: &Row) -> Result<(), String> {
    let fact: Uploaded = serde_json::from_value(row.body.clone()).map_err(|why| why.to_string())?;
    let Uploaded { strategy: number, owner, name, version, admission } = fact;
    let strategies = &mut *instance.strategies;
    if strategies.all.contains_key(&number) {
        return Err(format!("strategy {number} is there already"));
    }
    let admission = match strategies.admitted.get(&admission.sha256) {
        Some(known) if **known == admission => Arc::clone(known),
        _ => Arc::new(admission),
    };
    strategies.admitted.insert(admission.sha256, Arc::clone(&admission));
    strategies.by_owner.entry(owner.clone()).or_default().insert(number);
    let strategy = Strategy { number, owner, at: row.at, name, version, admission };
    strategies.all.insert(number, Arc::new(strategy));
    Ok(())
}
