//! What a server says of itself and of claims, read strictly where something depends on it. What is not read here is
//! not known here: nobody's record but one's own is taken out of an answer.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::job_id;
use arena_claims::manifest::Manifest;
use arena_claims::params::Params;
use arena_contests::Moment;
use arena_engine::Excerpt;

use super::http::Trouble;

/// Relistings that a claim may have had; the names of jobs are counted through to its own.
const RELISTS_MAX: u64 = 10_000;

fn foreign(why: impl std::fmt::Display) -> Trouble {
    Trouble::Foreign(why.to_string())
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, Trouble> {
    let found = value.get(key).and_then(Value::as_str).filter(|text| text.len() <= 256);
    found.ok_or_else(|| foreign(format_args!("it has no `{key}`")))
}

fn digest(value: &Value, key: &str) -> Result<Digest, Trouble> {
    text(value, key)?.parse().map_err(|_| foreign(format_args!("its `{key}` is no SHA-256")))
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// A digest that may be absent.
fn maybe(value: &Value, key: &str) -> Option<Digest> {
    value.get(key).and_then(Value::as_str)?.parse().ok()
}

/// Seconds of a time as servers write it.
fn seconds(value: Option<&Value>) -> Option<u64> {
    let at: Moment = value?.as_str()?.parse().ok()?;
    u64::try_from(at.unix_ms()).ok().map(|ms| ms / 1_000)
}

/// What the instance of claims is.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) id: Digest,
    pub(super) params: Params,
    pub(super) params_sha256: Digest,
    /// Whether everybody can compute the rounds of its beacon.
    pub(super) is_test: bool,
    /// Whether its rounds are those of drand's quicknet.
    pub(super) is_drand: bool,
}

impl Instance {
    pub(super) fn read(value: &Value) -> Result<Self, Trouble> {
        let name = text(value, "instance")?.to_owned();
        let id = digest(value, "instance_id")?;
        if id != Digest::of(name.as_bytes()) {
            return Err(foreign("its instance's id is not that of its name"));
        }
        let params = value.get("params").map(json::canonical).unwrap_or_default();
        let params = Params::parse(&params).map_err(|_| foreign("its parameters are none"))?;
        let params_sha256 = digest(value, "params_sha256")?;
        if params.digest() != params_sha256 {
            return Err(foreign("its parameters are not those of their digest"));
        }
        let beacon = text(value, "beacon")?;
        let is_test = beacon == "test" && name.starts_with("test-");
        let is_drand = beacon == "drand-quicknet";
        Ok(Self { name, id, params, params_sha256, is_test, is_drand })
    }
}

/// Who the key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Me {
    pub(super) agent: String,
    pub(super) operator: String,
}

impl Me {
    pub(super) fn read(value: &Value) -> Result<Self, Trouble> {
        Ok(Self { agent: text(value, "id")?.to_owned(), operator: text(value, "operator")?.to_owned() })
    }
}

/// What somebody was drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duty {
    Runner,
    Auditor,
    Reviewer,
}

/// One assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Its name on the server.
    pub(super) id: String,
    pub(super) claim: String,
    pub(super) duty: Duty,
    pub(super) accepted: bool,
    pub(super) until: Option<u64>,
}

impl Assignment {
    fn read(value: &Value) -> Result<Self, Trouble> {
        let (duty, word) = match text(value, "role")? {
            "runner" => (Duty::Runner, "runner"),
            "auditor" => (Duty::Auditor, "auditor"),
            "reviewer" => (Duty::Reviewer, "reviewer"),
            _ => return Err(foreign("an assignment is for no role that there is")),
        };
        let claim = claim_name(text(value, "claim")?)?;
        let (accepted, until) = (flag(value, "accepted"), seconds(value.get("until")));
        Ok(Self { id: format!("{claim}-{word}"), claim, duty, accepted, until })
    }

    /// All of an answer.
    pub(super) fn all(value: &Value) -> Result<Vec<Self>, Trouble> {
        let items = value["items"].as_array().ok_or_else(|| foreign("it has no `items`"))?;
        items.iter().map(Self::read).collect()
    }
}

/// The name of a claim, which becomes a part of paths.
pub(super) fn claim_name(text: &str) -> Result<String, Trouble> {
    let is_name = text.strip_prefix('c').is_some_and(|number| {
        (1..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let wrong = || foreign(format_args!("`{}` is no name of a claim", Excerpt { text, max: 40 }));
    is_name.then(|| text.to_owned()).ok_or_else(wrong)
}

/// What was committed by somebody, and whether it is revealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) commitment: Option<Digest>,
    pub(super) revealed: bool,
}

/// The run of a claim, as everybody may see it before the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) runner: String,
    pub(super) inputs_checked: bool,
    pub(super) sealed: Sealed,
}

/// A claim, as far as it matters for what is done next.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) claim: String,
    pub(super) job: Digest,
    pub(super) status: String,
    pub(super) manifest: Manifest,
    /// Whether challenges are taken now.
    pub(super) is_open: bool,
    /// The part that one has in it.
    pub(super) part: Option<String>,
    /// The last counter that one's key was used with.
    pub(super) counter: u64,
    pub(super) run: Option<Run>,
    /// One's own challenge, unless it came to nothing.
    pub(super) own: Option<Sealed>,
    /// When the committed draw can be resolved, and the round that it takes.
    pub(super) draw_due: Option<u64>,
    pub(super) draw_round: Option<u64>,
    pub(super) outcome: Option<String>,
}

impl Seen {
    /// Reads what is told of a claim. The job has to be that of the manifest, so that nobody runs one thing and signs
    /// another.
    pub(super) fn read(value: &Value, instance: &Instance, me: &str) -> Result<Self, Trouble> {
        let claim = claim_name(text(value, "claim")?)?;
        let job = digest(value, "job")?;
        let manifest = value.get("manifest").cloned().unwrap_or_default();
        let manifest = Manifest::read(manifest).map_err(|faults| {
            foreign(format_args!("the manifest of {claim} has {} faults", faults.0.len()))
        })?;
        let relists = value.get("relists").and_then(Value::as_u64).unwrap_or_default().min(RELISTS_MAX);
        if job_id(instance.id, &claim, manifest.digest, relists) != job {
            return Err(foreign(format_args!("the job of {claim} is not that of its manifest")));
        }
        if manifest.params != instance.params_sha256 {
            return Err(foreign(format_args!("{claim} is settled by other parameters")));
        }
        let own = value["challenges"].as_array().into_iter().flatten();
        let mut own =
            own.filter(|challenge| challenge["agent"] == me && !flag(challenge, "expired")).map(sealed);
        let you = &value["you"];
        let counter = you["counter"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default();
        Ok(Self {
            job,
            status: text(value, "status")?.to_owned(),
            manifest,
            is_open: flag(value, "challenges_open"),
            part: you["part"].as_str().map(str::to_owned),
            counter,
            run: run(&value["run"])?,
            own: own.next_back(),
            draw_due: seconds(value["draw"].get("due")),
            draw_round: value["draw"]["round"].as_str().and_then(|text| text.parse().ok()),
            outcome: value["outcome"].as_str().map(|text| Excerpt { text, max: 40 }.to_string()),
            claim,
        })
    }

    /// Whether it goes on when a draw is committed, and none is.
    pub(super) fn awaits_a_draw(&self) -> bool {
        match self.status.as_str() {
            "drawing" | "seating" => true,
            // Challenges are taken once the coin of the audit was tossed.
            "committed" => !self.is_open,
            _ => false,
        }
    }

    /// Whether nothing more comes of its job.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "settled" | "withdrawn")
    }
}

fn sealed(value: &Value) -> Sealed {
    Sealed { commitment: maybe(value, "commitment"), revealed: flag(value, "revealed") }
}

fn run(value: &Value) -> Result<Option<Run>, Trouble> {
    if value.is_null() {
        return Ok(None);
    }
    let runner = text(value, "runner")?.to_owned();
    Ok(Some(Run { runner, inputs_checked: flag(value, "inputs_checked"), sealed: sealed(value) }))
}
