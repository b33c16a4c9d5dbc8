//! Commands as JSON: what a request holds and what a journal keeps. A round is what its commands make
//! of its terms, so a journal of them is enough to derive it again.
//!
//! A line is `{"version", "at", "by", "do", "with"}`; `with` has the members of the command and no others. In version 1
//! every text stands in it. In version 2 a text may lie elsewhere, and an object of what is kept stands for it. A
//! request has no such object.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use arena_ledger::Amount;
use serde_json::json;

use super::command::{Actor, Command, Intent, Stamped, Target};
use super::entrant::{Rail, Team};
use super::judging::{Ruling, Verdict};
use super::package::{FIELDS, Package};
use super::rails::PostKind;
use crate::base64url;
use crate::document::{Faults, Object, text as text_at};
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::record::{ArtifactClass, Components, Outcome, Penalty, State};
use crate::text::{self, Text};

/// The newest version of the lines. All of them are read.
pub const JOURNAL_VERSION: u64 = 2;

/// Which version a command is written in: the oldest that can hold it.
pub fn version_of(command: &Command) -> u64 {
    let lies_elsewhere = command.texts().into_iter().any(|text| text.kept().is_some());
    if lies_elsewhere { 2 } else { 1 }
}

/// Every command by its name, with the names of its members.
pub const COMMANDS: &[(&str, &[&str])] = &[
    ("announce", &[]),
    ("cancel", &["reason"]),
    ("register", &["team", "canaries"]),
    ("acknowledge_rules", &["rules_sha256"]),
    ("enter_call", &["hold_cap_atomic"]),
    ("approve", &["company", "rail", "agent"]),
    ("publish_kickoff", &["objective", "profile"]),
    (
        "put_intent",
        &["window", "objective", "planned_artifact_class", "declared_posture_exo", "owner", "reviewer"],
    ),
    ("store_artifact", &["base64url", "media_type", "public_read"]),
    ("keep_artifact", &["artifact_hash", "size_bytes", "media_type", "public_read", "findings"]),
    ("grant_public_read", &["artifact_hash"]),
    ("put_evidence", &["artifact_hash", "kind", "description"]),
    ("post", &["kind", "window", "body", "refs", "corrects"]),
    ("submit", &FIELDS),
    ("revise", &FIELDS),
    ("judge", &["company", "window", "verdict"]),
    ("file_dispute", &["company", "window", "ground"]),
    ("amend_dispute", &["dispute", "text"]),
    ("rule_dispute", &["dispute", "ruling", "verdict", "rationale"]),
    ("invalidate", &["company", "window", "penalties", "rationale"]),
    ("record_intervention", &["company", "window", "text"]),
    ("hide", &["post", "artifact_hash", "text_sha256", "reason"]),
    ("withdraw", &[]),
    ("disqualify", &["company", "reason"]),
    ("take_snapshot", &["after"]),
    ("settle", &[]),
    ("decide_award", &["award", "pay", "reason"]),
    ("release_locked", &[]),
];

/// A command as a line of a journal.
pub fn write(Stamped { at, by, command }: &Stamped) -> Value {
    let by = match by {
        Actor::Company { company, agent } => json!({ "company": company, "agent": agent }),
        Actor::Evaluator(name) => json!({ "evaluator": name }),
        Actor::Operator(name) => json!({ "operator": name }),
        Actor::System => json!({ "system": true }),
    };
    let with = with_of_entry(command).or_else(|| with_of_rails(command)).or_else(|| with_of_judging(command));
    let with = with.unwrap_or_else(|| json!({}));
    json!({
        "version": version_of(command),
        "at": at.to_string(),
        "by": by,
        "do": name_of(command),
        "with": with,
    })
}

/// The name of every command; those that have no members are complete with it.
fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Announce => "announce",
        Command::Cancel { .. } => "cancel",
        Command::Register { .. } => "register",
        Command::AcknowledgeRules { .. } => "acknowledge_rules",
        Command::EnterCall { .. } => "enter_call",
        Command::Approve { .. } => "approve",
        Command::PublishKickoff { .. } => "publish_kickoff",
        Command::PutIntent { .. } => "put_intent",
        Command::StoreArtifact { .. } => "store_artifact",
        Command::KeepArtifact { .. } => "keep_artifact",
        Command::GrantPublicRead { .. } => "grant_public_read",
        Command::PutEvidence { .. } => "put_evidence",
        Command::Post { .. } => "post",
        Command::Submit(_) => "submit",
        Command::Revise(_) => "revise",
        Command::Judge { .. } => "judge",
        Command::FileDispute { .. } => "file_dispute",
        Command::AmendDispute { .. } => "amend_dispute",
        Command::RuleDispute { .. } => "rule_dispute",
        Command::Invalidate { .. } => "invalidate",
        Command::RecordIntervention { .. } => "record_intervention",
        Command::Hide { .. } => "hide",
        Command::Withdraw => "withdraw",
        Command::Disqualify { .. } => "disqualify",
        Command::TakeSnapshot { .. } => "take_snapshot",
        Command::Settle => "settle",
        Command::DecideAward { .. } => "decide_award",
        Command::ReleaseLocked => "release_locked",
    }
}

fn with_of_entry(command: &Command) -> Option<Value> {
    Some(match command {
        Command::Cancel { reason } => json!({ "reason": reason }),
        Command::Register { team, canaries } => json!({ "team": team_json(team), "canaries": canaries }),
        Command::AcknowledgeRules { rules_sha256 } => json!({ "rules_sha256": rules_sha256 }),
        Command::EnterCall { hold_cap } => json!({ "hold_cap_atomic": hold_cap }),
        Command::Approve { company, rail, agent } => {
            json!({ "company": company, "rail": rail, "agent": agent })
        }
        Command::PublishKickoff { objective, profile } => {
            json!({ "objective": objective, "profile": profile })
        }
        Command::PutIntent { window, intent } => intent_json(*window, intent),
        Command::Submit(package) | Command::Revise(package) => package.json(),
        _ => return None,
    })
}

fn with_of_rails(command: &Command) -> Option<Value> {
    Some(match command {
        Command::StoreArtifact { bytes, media_type, public_read } => json!({
            "base64url": base64url::encode(bytes),
            "media_type": media_type,
            "public_read": public_read,
        }),
        Command::KeepArtifact { artifact, size_bytes, media_type, public_read, findings } => json!({
            "artifact_hash": artifact,
            "size_bytes": size_bytes,
            "media_type": media_type,
            "public_read": public_read,
            "findings": findings,
        }),
        Command::GrantPublicRead { artifact } => json!({ "artifact_hash": artifact }),
        Command::PutEvidence { artifact, kind, description } => {
            json!({ "artifact_hash": artifact, "kind": kind, "description": description.json() })
        }
        Command::Post { kind, window, body, refs, corrects } => json!({
            "kind": kind, "window": window, "body": body.json(), "refs": refs, "corrects": corrects,
        }),
        Command::Hide { target: Target::Post(post), reason } => json!({ "post": post, "reason": reason }),
        Command::Hide { target: Target::Artifact(artifact), reason } => {
            json!({ "artifact_hash": artifact, "reason": reason })
        }
        Command::Hide { target: Target::Text(text), reason } => {
            json!({ "text_sha256": text, "reason": reason })
        }
        _ => return None,
    })
}

fn with_of_judging(command: &Command) -> Option<Value> {
    Some(match command {
        Command::Judge { company, window, verdict } => {
            json!({ "company": company, "window": window, "verdict": verdict_json(verdict) })
        }
        Command::FileDispute { company, window, ground } => {
            json!({ "company": company, "window": window, "ground": ground.json() })
        }
        Command::AmendDispute { dispute, text } => json!({ "dispute": dispute, "text": text.json() }),
        Command::RuleDispute { dispute, ruling, rationale } => {
            let (ruling, verdict) = match ruling {
                Ruling::Upheld(verdict) => ("upheld", verdict_json(verdict)),
                Ruling::Dismissed => ("dismissed", Value::Null),
                Ruling::Baseless => ("baseless", Value::Null),
            };
            json!({ "dispute": dispute, "ruling": ruling, "verdict": verdict, "rationale": rationale })
        }
        Command::Invalidate { company, window, penalties, rationale } => json!({
            "company": company, "window": window, "penalties": penalties, "rationale": rationale,
        }),
        Command::RecordIntervention { company, window, text } => {
            json!({ "company": company, "window": window, "text": text.json() })
        }
        Command::Disqualify { company, reason } => json!({ "company": company, "reason": reason }),
        Command::TakeSnapshot { after } => json!({ "after": after }),
        Command::DecideAward { award, pay, reason } => {
            json!({ "award": award, "pay": pay, "reason": reason })
        }
        _ => return None,
    })
}

fn team_json(team: &Team) -> Value {
    json!({
        "principal": team.principal,
        "engineering_coordinator": team.engineering_coordinator,
        "engineering_owner": team.engineering_owner,
        "quality_reviewer": team.quality_reviewer,
        "stewardship": team.stewardship,
    })
}

fn intent_json(window: Window, intent: &Intent) -> Value {
    json!({
        "window": window,
        "objective": intent.objective,
        "planned_artifact_class": intent.planned_class,
        "declared_posture_exo": intent.declared_posture_exo.to_string(),
        "owner": intent.owner,
        "reviewer": intent.reviewer,
    })
}

fn verdict_json(verdict: &Verdict) -> Value {
    let Components { delivery, evidence, continuity, budget } = verdict.components;
    let outcome = match verdict.state {
        State::OperatorAssisted(outcome) => Some(outcome),
        _ => None,
    };
    json!({
        "state": verdict.state.name(),
        "assisted_outcome": outcome,
        "delivery": delivery,
        "evidence": evidence,
        "continuity": continuity,
        "budget": budget,
        "penalties": verdict.penalties,
        "rationale": verdict.rationale,
        "external_effect": verdict.external_effect,
    })
}

/// Reads a line of a journal.
pub fn read(line: &Value) -> Result<Stamped, Faults> {
    let mut faults = Faults::default();
    let known = ["version", "at", "by", "do", "with"];
    let read = Object::read(line, &Pointer::default(), &known, &mut faults).and_then(|object| {
        let version = object.whole("version", &mut faults)?;
        if !(1..=JOURNAL_VERSION).contains(&version) {
            faults.add(&object.at("version"), format!("only versions 1 to {JOURNAL_VERSION} can be read"));
        }
        let at = object.parsed::<Moment>("at", &mut faults);
        let by = object.required("by", &mut faults);
        let by = by.and_then(|by| actor(by, &object.at("by"), &mut faults));
        let name = object.text("do", &mut faults)?;
        let with = object.required("with", &mut faults)?;
        let command = command_at(name, (with, version > 1), &object.at("with"), &mut faults);
        Some(Stamped { at: at?, by: by?, command: command? })
    });
    faults.or(read)
}

/// Reads the members of the command `name`, as a request holds them.
pub fn command(name: &str, with: &Value) -> Result<Command, Faults> {
    let mut faults = Faults::default();
    let read = command_at(name, (with, false), &Pointer::default(), &mut faults);
    faults.or(read)
}

fn actor(by: &Value, at: &Pointer, faults: &mut Faults) -> Option<Actor> {
    let known = ["company", "agent", "evaluator", "operator", "system"];
    let object = Object::read(by, at, &known, faults)?;
    let name = |key: &str, faults: &mut Faults| object.text(key, faults).map(str::to_owned);
    if object.optional("company").is_some() {
        return Some(Actor::Company { company: name("company", faults)?, agent: name("agent", faults)? });
    }
    if object.optional("evaluator").is_some() {
        return name("evaluator", faults).map(Actor::Evaluator);
    }
    if object.optional("operator").is_some() {
        return name("operator", faults).map(Actor::Operator);
    }
    if object.optional("system") == Some(&Value::Bool(true)) {
        return Some(Actor::System);
    }
    faults.add(at, "expected a company with its agent, an evaluator, an operator or the system");
    None
}

/// The members of a command, read one by one.
struct Members<'a, 'f> {
    object: Object<'a>,
    /// Whether a text may lie elsewhere.
    elsewhere: bool,
    faults: &'f mut Faults,
}

impl Members<'_, '_> {
    fn text(&mut self, key: &str) -> Option<String> {
        self.object.text(key, self.faults).map(str::to_owned)
    }

    fn long_text(&mut self, key: &str) -> Option<Text> {
        if !self.elsewhere {
            return self.text(key).map(Text::Said);
        }
        let value = self.object.required(key, self.faults)?;
        Text::read(value, &self.object.at(key), self.faults)
    }

    fn window(&mut self) -> Option<Window> {
        self.object.word("window", Window::named, self.faults)
    }

    fn artifact(&mut self) -> Option<Digest> {
        self.object.parsed("artifact_hash", self.faults)
    }
}

/// The members of the command `name`; whether a text of it may lie elsewhere stands beside them.
fn command_at(
    name: &str,
    (with, elsewhere): (&Value, bool),
    at: &Pointer,
    faults: &mut Faults,
) -> Option<Command> {
    let known = COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, members)| *members);
    let Some(known) = known else {
        faults.add(at, "no command has this name");
        return None;
    };
    match name {
        "submit" => return Package::read_at(with, at, faults).map(Command::Submit),
        "revise" => return Package::read_at(with, at, faults).map(Command::Revise),
        _ => {}
    }
    let object = Object::read(with, at, known, faults)?;
    let mut members = Members { object, elsewhere, faults };
    let read = read_entry(name, &mut members).or_else(|| read_rails(name, &mut members));
    read.or_else(|| read_judging(name, &mut members))
}

fn read_entry(name: &str, m: &mut Members<'_, '_>) -> Option<Command> {
    Some(match name {
        "announce" => Command::Announce,
        "withdraw" => Command::Withdraw,
        "settle" => Command::Settle,
        "release_locked" => Command::ReleaseLocked,
        "cancel" => Command::Cancel { reason: m.text("reason")? },
        "register" => {
            let canaries = m.object.texts("canaries", 100, m.faults);
            let team = m.object.required("team", m.faults);
            let team = team.and_then(|team| read_team(team, &m.object.at("team"), m.faults));
            Command::Register { team: team?, canaries: canaries? }
        }
        "acknowledge_rules" => {
            Command::AcknowledgeRules { rules_sha256: m.object.parsed("rules_sha256", m.faults)? }
        }
        "enter_call" => Command::EnterCall { hold_cap: m.object.parsed("hold_cap_atomic", m.faults)? },
        "approve" => {
            let (company, agent) = (m.text("company"), m.text("agent"));
            let rail = m.object.word("rail", Rail::named, m.faults);
            Command::Approve { company: company?, rail: rail?, agent: agent? }
        }
        "publish_kickoff" => {
            let (objective, profile) = (m.text("objective"), m.text("profile"));
            Command::PublishKickoff { objective: objective?, profile: profile? }
        }
        "put_intent" => {
            let window = m.window();
            let [objective, owner, reviewer] = ["objective", "owner", "reviewer"].map(|key| m.text(key));
            let planned = m.object.word("planned_artifact_class", ArtifactClass::named, m.faults);
            let posture = m.object.parsed::<Amount>("declared_posture_exo", m.faults);
            let intent = Intent {
                objective: objective?,
                planned_class: planned?,
                declared_posture_exo: posture?.units(),
                owner: owner?,
                reviewer: reviewer?,
            };
            Command::PutIntent { window: window?, intent }
        }
        _ => return None,
    })
}

fn read_team(team: &Value, at: &Pointer, faults: &mut Faults) -> Option<Team> {
    let roles =
        ["principal", "engineering_coordinator", "engineering_owner", "quality_reviewer", "stewardship"];
    let object = Object::read(team, at, &roles, faults)?;
    let [principal, coordinator, owner, reviewer, steward] =
        roles.map(|role| object.text(role, faults).map(str::to_owned));
    Some(Team {
        principal: principal?,
        engineering_coordinator: coordinator?,
        engineering_owner: owner?,
        quality_reviewer: reviewer?,
        stewardship: steward?,
    })
}

fn read_rails(name: &str, m: &mut Members<'_, '_>) -> Option<Command> {
    Some(match name {
        "store_artifact" => {
            let (text, media_type) = (m.text("base64url"), m.text("media_type"));
            let public_read = m.object.boolean("public_read", m.faults);
            let bytes = text.and_then(|text| {
                let bytes = base64url::decode(&text);
                if bytes.is_none() {
                    m.faults.add(&m.object.at("base64url"), "expected base64url without padding");
                }
                bytes
            });
            Command::StoreArtifact { bytes: bytes?, media_type: media_type?, public_read: public_read? }
        }
        "keep_artifact" => {
            let (artifact, media_type) = (m.artifact(), m.text("media_type"));
            let size_bytes = m.object.whole("size_bytes", m.faults);
            let public_read = m.object.boolean("public_read", m.faults);
            let findings = text::read_findings(&m.object, m.faults);
            Command::KeepArtifact {
                artifact: artifact?,
                size_bytes: size_bytes?,
                media_type: media_type?,
                public_read: public_read?,
                findings: findings?,
            }
        }
        "grant_public_read" => Command::GrantPublicRead { artifact: m.artifact()? },
        "put_evidence" => {
            let (artifact, kind, description) = (m.artifact(), m.text("kind"), m.long_text("description"));
            Command::PutEvidence { artifact: artifact?, kind: kind?, description: description? }
        }
        "post" => {
            let kind = m.object.word("kind", PostKind::named, m.faults);
            let window = m.object.optional_word("window", Window::named, m.faults);
            let (body, refs) = (m.long_text("body"), m.object.texts("refs", 100, m.faults));
            let corrects = m.object.optional_text("corrects", m.faults).map(str::to_owned);
            Command::Post { kind: kind?, window, body: body?, refs: refs?, corrects }
        }
        "hide" => {
            let reason = m.text("reason");
            let is_there = |name| m.object.optional(name).is_some();
            let target = match ["post", "artifact_hash", "text_sha256"].map(is_there) {
                [true, false, false] => m.text("post").map(Target::Post),
                [false, true, false] => m.artifact().map(Target::Artifact),
                [false, false, true] => m.object.parsed("text_sha256", m.faults).map(Target::Text),
                _ => {
                    m.faults.add(m.object.pointer(), "expected either a post, an artifact or a text");
                    None
                }
            };
            Command::Hide { target: target?, reason: reason? }
        }
        _ => return None,
    })
}

fn read_judging(name: &str, m: &mut Members<'_, '_>) -> Option<Command> {
    Some(match name {
        "judge" => {
            let (company, window, verdict) = (m.text("company"), m.window(), read_verdict(m));
            Command::Judge { company: company?, window: window?, verdict: verdict? }
        }
        "file_dispute" => {
            let (company, window, ground) = (m.text("company"), m.window(), m.long_text("ground"));
            Command::FileDispute { company: company?, window: window?, ground: ground? }
        }
        "amend_dispute" => {
            let (dispute, text) = (m.text("dispute"), m.long_text("text"));
            Command::AmendDispute { dispute: dispute?, text: text? }
        }
        "rule_dispute" => {
            let (dispute, rationale) = (m.text("dispute"), m.text("rationale"));
            let ruling = match m.text("ruling")?.as_str() {
                "upheld" => read_verdict(m).map(Ruling::Upheld),
                "dismissed" => Some(Ruling::Dismissed),
                "baseless" => Some(Ruling::Baseless),
                _ => {
                    m.faults.add(&m.object.at("ruling"), "expected upheld, dismissed or baseless");
                    None
                }
            };
            Command::RuleDispute { dispute: dispute?, ruling: ruling?, rationale: rationale? }
        }
        "invalidate" => {
            let (company, window, rationale) = (m.text("company"), m.window(), m.text("rationale"));
            let penalties = read_penalties(&m.object, m.faults);
            Command::Invalidate {
                company: company?,
                window: window?,
                penalties: penalties?,
                rationale: rationale?,
            }
        }
        "record_intervention" => {
            let (company, window, text) = (m.text("company"), m.window(), m.long_text("text"));
            Command::RecordIntervention { company: company?, window: window?, text: text? }
        }
        "disqualify" => {
            let (company, reason) = (m.text("company"), m.text("reason"));
            Command::Disqualify { company: company?, reason: reason? }
        }
        "take_snapshot" => Command::TakeSnapshot { after: m.object.word("after", Window::named, m.faults)? },
        "decide_award" => {
            let (award, reason) = (m.text("award"), m.text("reason"));
            let pay = m.object.boolean("pay", m.faults);
            Command::DecideAward { award: award?, pay: pay?, reason: reason? }
        }
        _ => return None,
    })
}

const VERDICT: [&str; 9] = [
    "state",
    "assisted_outcome",
    "delivery",
    "evidence",
    "continuity",
    "budget",
    "penalties",
    "rationale",
    "external_effect",
];

fn read_verdict(m: &mut Members<'_, '_>) -> Option<Verdict> {
    let value = m.object.required("verdict", m.faults)?;
    let object = Object::read(value, &m.object.at("verdict"), &VERDICT, m.faults)?;
    let faults = &mut *m.faults;
    let outcome = object.optional_word("assisted_outcome", Outcome::named, faults);
    let word = object.text("state", faults);
    let state = word.and_then(|word| State::named(word, outcome.unwrap_or(Outcome::Rejected)));
    if state.is_none() && word.is_some() {
        faults.add(&object.at("state"), "no state has this name");
    }
    let is_assisted = matches!(state, Some(State::OperatorAssisted(_)));
    if state.is_some() && is_assisted != outcome.is_some() {
        faults.add(&object.at("assisted_outcome"), "stands with operator_assisted, and only there");
    }
    let [delivery, evidence, continuity, budget] =
        ["delivery", "evidence", "continuity", "budget"].map(|key| {
            let points = object.whole(key, faults)?;
            let small = u8::try_from(points).ok();
            if small.is_none() {
                faults.add(&object.at(key), format!("{points} points are more than there are"));
            }
            small
        });
    let penalties = read_penalties(&object, faults);
    let rationale = object.text("rationale", faults);
    let external_effect = object.optional_text("external_effect", faults).map(str::to_owned);
    Some(Verdict {
        state: state?,
        components: Components {
            delivery: delivery?,
            evidence: evidence?,
            continuity: continuity?,
            budget: budget?,
        },
        penalties: penalties?,
        rationale: rationale?.to_owned(),
        external_effect,
    })
}

fn read_penalties(object: &Object<'_>, faults: &mut Faults) -> Option<BTreeSet<Penalty>> {
    let mut penalties = BTreeSet::new();
    for (i, item) in object.array("penalties", 16, faults)?.iter().enumerate() {
        let at = object.at("penalties").index(i);
        let Some(word) = text_at(item, &at, faults) else { continue };
        match Penalty::named(word) {
            Some(penalty) if penalties.insert(penalty) => {}
            Some(_) => faults.add(&at, "stands twice"),
            None => faults.add(&at, "no penalty has this name"),
        }
    }
    Some(penalties)
}
