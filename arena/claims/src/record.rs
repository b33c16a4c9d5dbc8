//! Run records: what a rerun found. There are no times in one, so equal runs give equal records.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::compare::{Cmp, METRICS_MAX, Measured, Reported, Row, Status, conclude, reason};
use crate::document::{Object, digest_of, document, is_line, shown};
use crate::fault::{Faults, Findings};
use crate::manifest::{Engine, ID_BYTES_MAX, Input, Manifest, OUTPUT_BYTES_MAX, OUTPUTS_MAX};

/// The format of a record.
pub const RECORD_VERSION: &str = "arena-record/v1";
/// Most bytes of a record.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every claimed metric holds.
    Reproduced,
    /// One does not.
    NotReproduced,
    /// The manifest cannot be run as it is written.
    SpecIssue,
    /// A pinned input is not what it is said to be.
    InputMismatch,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Reproduced, Self::NotReproduced, Self::SpecIssue, Self::InputMismatch];

    /// The word in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not_reproduced",
            Self::SpecIssue => "spec_issue",
            Self::InputMismatch => "input_mismatch",
        }
    }

    /// The outcome of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// In which part a record was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Drawn to run the job.
    Runner,
    /// Reran it, as a volunteer or as the drawn auditor.
    Challenger,
    /// Sits on a panel.
    Reviewer,
    /// The operator's agent of last resort.
    Reference,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Runner, Self::Challenger, Self::Reviewer, Self::Reference];

    /// The word in documents and accounts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Challenger => "challenger",
            Self::Reviewer => "reviewer",
            Self::Reference => "reference",
        }
    }

    fn cmp(self) -> Cmp {
        match self {
            Self::Runner | Self::Reference => Cmp::C1,
            Self::Challenger | Self::Reviewer => Cmp::C2,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The part of a record that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// What its maker says it came to.
    pub outcome: Outcome,
    /// The measured values, as they are written.
    pub metrics: Vec<Reported>,
    /// Fuel used.
    pub fuel: Option<u64>,
    /// SHA-256 of the log.
    pub log_sha256: Option<Digest>,
    /// SHA-256 of each output file.
    pub outputs: BTreeMap<String, Digest>,
}

impl Results {
    /// Reads what is compared of a record, and nothing else of it. All faults are reported at once.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(value, Pointer::default(), &mut findings);
        let results = object.and_then(|object| Self::of(&object, &mut findings));
        findings.or_none(results)
    }

    fn of(object: &Object<'_>, findings: &mut Findings) -> Option<Self> {
        let what = "reproduced, not_reproduced, spec_issue or input_mismatch";
        let default = Outcome::Reproduced;
        let outcome =
            object.read_or("outcome", what, default, findings, |value| Outcome::named(value.as_str()?));
        let mut metrics: Vec<Reported> = Vec::new();
        for (at, value) in object.list("metrics", METRICS_MAX.saturating_mul(2), findings) {
            let Some(metric) = reported(value, &at, findings) else { continue };
            if metrics.iter().any(|other| other.name == metric.name) {
                findings.add(&at.key("name"), format!("the metric {} stands twice", shown(&metric.name)));
            }
            metrics.push(metric);
        }
        let fuel = object.get("fuel").and_then(|_| object.number("fuel", u64::MAX, findings));
        let log_sha256 = object.get("log_sha256").and_then(|_| object.digest("log_sha256", findings));
        let mut outputs = BTreeMap::new();
        for (at, value) in object.list_or_empty("outputs", OUTPUTS_MAX, findings) {
            let Some(output) = Object::of(value, at.clone(), findings) else { continue };
            let name = output.text("name", ID_BYTES_MAX, findings);
            let digest = output.digest("sha256", findings);
            if let (Some(name), Some(digest)) = (name, digest)
                && outputs.insert(name.to_owned(), digest).is_some()
            {
                findings.add(&at.key("name"), format!("the output {} stands twice", shown(name)));
            }
        }
        Some(Self { outcome: outcome?, metrics, fuel, log_sha256, outputs })
    }
}

fn reported(value: &Value, at: &Pointer, findings: &mut Findings) -> Option<Reported> {
    let object = Object::of(value, at.clone(), findings)?;
    object.only(&["name", "kind", "value"], findings);
    let name = object.read("name", "1 to 64 of a-z, 0-9, `_` and `.`", findings, |value| {
        value.as_str().filter(|name| crate::compare_name(name))
    });
    let kind = object.text("kind", 16, findings);
    let value = object.need("value", findings);
    Some(Reported { name: name?.to_owned(), kind: kind?.to_owned(), value: value?.clone() })
}

/// A record (`arena-record/v1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The claim.
    pub claim: String,
    /// The job of the claim.
    pub job: Digest,
    /// In which part it was made.
    pub role: Role,
    /// Who made it.
    pub agent: String,
    /// Who runs that agent.
    pub operator: String,
    /// The manifest it follows.
    pub manifest_sha256: Digest,
    /// The engine it was made with.
    pub engine: Engine,
    /// The inputs as they were found.
    pub inputs: Vec<Input>,
    /// What it found.
    pub results: Results,
    /// Why it ended so.
    pub reason: String,
    /// SHA-256 of its canonical bytes.
    pub digest: Digest,
    /// Copies share it.
    value: Arc<Value>,
}

const MEMBERS: [&str; 16] = [
    "v",
    "claim",
    "job",
    "role",
    "agent",
    "operator",
    "manifest_sha256",
    "engine",
    "inputs",
    "outcome",
    "reason",
    "metrics",
    "outputs",
    "fuel",
    "log_sha256",
    "comparisons",
];

impl Record {
    /// Reads a record from bytes. All faults are reported at once.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordError> {
        Ok(Self::read(json::read(bytes, RECORD_BYTES_MAX)?)?)
    }

    /// Reads a record that is JSON already.
    pub fn read(value: Value) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(&value, Pointer::default(), &mut findings);
        let record = object.and_then(|object| Self::of(&object, &value, &mut findings));
        let record = findings.or_none(record)?;
        Ok(Self { value: Arc::new(value), ..record })
    }

    /// All but the document itself, which its reader still holds.
    fn of(object: &Object<'_>, value: &Value, findings: &mut Findings) -> Option<Self> {
        object.only(&MEMBERS, findings);
        for key in MEMBERS {
            object.need(key, findings);
        }
        object.constant("v", RECORD_VERSION, findings);
        let claim = object.text("claim", ID_BYTES_MAX, findings);
        let job = object.digest("job", findings);
        let role = object.read("role", "runner, challenger, reviewer or reference", findings, |value| {
            Role::ALL.into_iter().find(|role| Some(role.name()) == value.as_str())
        });
        let agent = object.text("agent", ID_BYTES_MAX, findings);
        let operator = object.text("operator", ID_BYTES_MAX, findings);
        let manifest_sha256 = object.digest("manifest_sha256", findings);
        let engine = Engine::read(object, findings);
        let inputs = Input::read_all(object, findings);
        let reason = object.read("reason", "a text of at most 256 bytes", findings, |value| {
            value.as_str().filter(|text| text.is_empty() || is_line(text, 256))
        });
        let log = object.read("log_sha256", "64 lower-case hexadecimal digits", findings, digest_of);
        let results = Results::of(object, findings);
        check_outputs(object, findings);
        object.read("comparisons", "an array", findings, |value| value.as_array())?;
        log?;
        Some(Self {
            claim: claim?.to_owned(),
            job: job?,
            role: role?,
            agent: agent?.to_owned(),
            operator: operator?.to_owned(),
            manifest_sha256: manifest_sha256?,
            engine: engine?,
            inputs,
            results: results?,
            reason: reason?.to_owned(),
            digest: Digest::of(&json::canonical_of(value)),
            value: Arc::default(),
        })
    }

    /// The document.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The document, and nothing else of it.
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.value)
    }

    /// Whether the record is one that may be published under `manifest`: of that manifest, on its
    /// engine and inputs, every value of its metric's kind, the outcome and the comparisons as they are
    /// computed from the values.
    pub fn check(&self, manifest: &Manifest) -> Result<(), Faults> {
        let mut findings = Findings::default();
        let root = Pointer::default();
        if self.manifest_sha256 != manifest.digest {
            findings
                .add(&root.key("manifest_sha256"), format!("the claim's manifest is {}", manifest.digest));
        }
        if self.engine != manifest.engine {
            findings.add(&root.key("engine"), "is not the engine that the manifest pins");
        }
        let inputs_differ = self.inputs != manifest.inputs;
        if inputs_differ != (self.results.outcome == Outcome::InputMismatch) {
            let message = "must be the manifest's inputs, unless the outcome is input_mismatch";
            findings.add(&root.key("inputs"), message);
        }
        self.check_values(manifest, &mut findings);
        let (outcome, rows) = conclude(&manifest.rules, &self.results, self.role.cmp());
        if outcome != self.results.outcome {
            findings.add(&root.key("outcome"), format!("the values come to {outcome}"));
        }
        let rows = Value::Array(rows.iter().map(Row::to_json).collect());
        if rows != self.value["comparisons"] {
            findings.add(&root.key("comparisons"), "are not what the values come to");
        }
        findings.or_none(Some(()))
    }

    fn check_values(&self, manifest: &Manifest, findings: &mut Findings) {
        for (i, reported) in self.results.metrics.iter().enumerate() {
            let at = Pointer::default().key("metrics").index(i);
            let metric = manifest.rules.metrics.iter().find(|metric| metric.name == reported.name);
            let Some(metric) = metric else { continue };
            if reported.kind != metric.kind.name() {
                findings.add(&at.key("kind"), format!("the manifest says {}", metric.kind.name()));
            } else if let Err(what) = Measured::read(metric.kind, &reported.value) {
                findings.add(&at.key("value"), format!("must be {what}"));
            }
        }
    }
}

/// What comparing passes over: an output of a record says how long it is, and nothing else.
fn check_outputs(object: &Object<'_>, findings: &mut Findings) {
    let outputs = object.get("outputs").and_then(Value::as_array).into_iter().flatten().take(OUTPUTS_MAX);
    for (i, value) in outputs.enumerate().filter(|(_, value)| value.is_object()) {
        if let Some(output) = Object::of(value, object.place("outputs").index(i), findings) {
            output.only(&["name", "sha256", "bytes"], findings);
            output.number("bytes", OUTPUT_BYTES_MAX, findings);
        }
    }
}

/// As its document.
impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Where a record belongs: everything in it that is no result.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The claim.
    pub claim: &'a str,
    /// Its job.
    pub job: Digest,
    /// In which part it is made.
    pub role: Role,
    /// Who makes it.
    pub agent: &'a str,
    /// Who runs that agent.
    pub operator: &'a str,
    /// What it follows.
    pub manifest: &'a Manifest,
}

/// A record of `results` (`metrics`, `outputs`, `fuel`, `log_sha256`; `outcome` and `reason` where the run could
/// not be carried out). Outcome and comparisons are computed.
pub fn assemble(place: &Place<'_>, results: &Value) -> Result<Record, Faults> {
    let mut findings = Findings::default();
    let object = Object::of(results, Pointer::default(), &mut findings);
    if let Some(object) = &object {
        let known = ["metrics", "outputs", "fuel", "log_sha256", "outcome", "reason"];
        object.only(&known, &mut findings);
        for key in ["metrics", "fuel", "log_sha256"] {
            object.need(key, &mut findings);
        }
    }
    findings.or_none(Some(()))?;
    let read = Results::read(results)?;
    let (outcome, rows) = conclude(&place.manifest.rules, &read, place.role.cmp());
    let manifest = place.manifest.value();
    let invalid = reason(&place.manifest.rules, &rows, place.role.cmp()) == Some(Status::Nonfinite);
    let why = if invalid { Status::Nonfinite.name() } else { "" };
    let member = |key: &str, default: Value| results.get(key).cloned().unwrap_or(default);
    Record::read(document([
        ("v", RECORD_VERSION.into()),
        ("claim", place.claim.into()),
        ("job", place.job.to_string().into()),
        ("role", place.role.name().into()),
        ("agent", place.agent.into()),
        ("operator", place.operator.into()),
        ("manifest_sha256", place.manifest.digest.to_string().into()),
        ("engine", manifest["engine"].clone()),
        ("inputs", manifest["inputs"].clone()),
        ("outcome", outcome.name().into()),
        ("reason", member("reason", why.into())),
        ("metrics", results["metrics"].clone()),
        ("outputs", member("outputs", Value::Array(Vec::new()))),
        ("fuel", results["fuel"].clone()),
        ("log_sha256", results["log_sha256"].clone()),
        ("comparisons", rows.iter().map(Row::to_json).collect()),
    ]))
}

/// Why bytes are no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not a JSON document within bounds.
    #[error(transparent)]
    Read(#[from] json::ReadError),
    /// A document that is no record.
    #[error("{0}")]
    Faults(#[from] Faults),
}
