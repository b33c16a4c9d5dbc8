//! Commands as JSON: what a request holds and what a journal keeps. The contests are what their commands made of
//! them, so a journal of them is enough to derive them again.
//!
//! A line is `{"version": 1, "at", "by", "do", "with"}`; `with` has the members of the command and no others.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use serde_json::json;

use super::command::{Actor, Command, Scorecard, Stamped};
use super::manifest::{Manifest, Role};
use super::{ChallengeKind, RewardStatus, SubmissionStatus};
use crate::document::{Faults, Object};
use crate::moment::Moment;

/// The version of the lines.
pub const JOURNAL_VERSION: u64 = 1;
/// Strategies of one scorecard.
const STRATEGIES_MAX: usize = 1_000;

/// A command as a line of a journal.
pub fn write(Stamped { at, by, command }: &Stamped) -> Value {
    let by = match by {
        Actor::Agent { id, operator, reputation } => {
            json!({ "agent": id, "operator": operator, "reputation": reputation })
        }
        Actor::Admin(name) => json!({ "admin": name }),
        Actor::Staff { name, role } => json!({ "staff": name, "role": role }),
        Actor::System => json!({ "system": true }),
    };
    let (name, with) = written(command);
    json!({ "version": JOURNAL_VERSION, "at": at.to_string(), "by": by, "do": name, "with": with })
}

fn written(command: &Command) -> (&'static str, Value) {
    match command {
        Command::Propose(manifest) => ("propose", json!({ "manifest": manifest.document() })),
        Command::Activate { contest } => ("activate", json!({ "contest": contest })),
        Command::CloseSubmissions { contest } => ("close_submissions", json!({ "contest": contest })),
        Command::Close { contest, reason } => ("close", json!({ "contest": contest, "reason": reason })),
        Command::Cancel { contest, reason } => ("cancel", json!({ "contest": contest, "reason": reason })),
        Command::RegisterClause { contest, rule_id, text } => {
            ("register_clause", json!({ "contest": contest, "rule_id": rule_id, "text": text }))
        }
        Command::Submit { contest, body } => ("submit", json!({ "contest": contest, "body": body })),
        Command::Withdraw { submission } => ("withdraw", json!({ "submission": submission })),
        Command::Decide { submission, to, reason } => {
            ("decide", json!({ "submission": submission, "to": to, "reason": reason }))
        }
        Command::FileChallenge { submission, kind, target, text } => {
            let with = json!({ "submission": submission, "kind": kind, "target": target, "text": text });
            ("file_challenge", with)
        }
        Command::RuleChallenge { challenge, upheld, reason } => {
            ("rule_challenge", json!({ "challenge": challenge, "upheld": upheld, "reason": reason }))
        }
        Command::CastVote { submission, is_for } => {
            ("cast_vote", json!({ "submission": submission, "is_for": is_for }))
        }
        Command::Score { submission, tenths, reason } => {
            ("score", json!({ "submission": submission, "tenths": tenths, "reason": reason }))
        }
        Command::RecordScorecard { contest, scorecard } => {
            ("record_scorecard", json!({ "contest": contest, "points": written_scorecard(scorecard) }))
        }
        Command::PromiseReward { submission, kind, expires_at } => {
            let expires_at = expires_at.map(|at| at.to_string());
            ("promise_reward", json!({ "submission": submission, "kind": kind, "expires_at": expires_at }))
        }
        Command::AdvanceReward { reward, to, reason } => {
            ("advance_reward", json!({ "reward": reward, "to": to, "reason": reason }))
        }
    }
}

/// Points by strategy as decimal strings; `null` for a run that was blocked.
fn written_scorecard(scorecard: &Scorecard) -> Value {
    match scorecard {
        Scorecard::Blocked => Value::Null,
        Scorecard::Completed(points) => points
            .iter()
            .map(|(strategy, points)| (strategy.to_string(), json!(points.to_string())))
            .collect(),
    }
}

/// Reads a line of a journal.
pub fn read(line: &Value) -> Result<Stamped, Faults> {
    let mut faults = Faults::default();
    let known = ["version", "at", "by", "do", "with"];
    let read = Object::read(line, &Pointer::default(), &known, &mut faults).and_then(|object| {
        if object.whole("version", &mut faults)? != JOURNAL_VERSION {
            faults.add(&object.at("version"), format!("only version {JOURNAL_VERSION} can be read"));
        }
        let at = object.parsed::<Moment>("at", &mut faults);
        let by = object.required("by", &mut faults);
        let by = by.and_then(|by| actor(by, &object.at("by"), &mut faults));
        let name = object.text("do", &mut faults)?;
        let with = object.required("with", &mut faults)?;
        let command = command_at(name, with, &object.at("with"), &mut faults);
        Some(Stamped { at: at?, by: by?, command: command? })
    });
    faults.or(read)
}

/// Reads the members of the command `name`, as a request holds them.
pub fn command(name: &str, with: &Value) -> Result<Command, Faults> {
    let mut faults = Faults::default();
    let read = command_at(name, with, &Pointer::default(), &mut faults);
    faults.or(read)
}

fn actor(by: &Value, at: &Pointer, faults: &mut Faults) -> Option<Actor> {
    let known = ["agent", "operator", "reputation", "admin", "staff", "role", "system"];
    let object = Object::read(by, at, &known, faults)?;
    let name = |key: &str, faults: &mut Faults| object.text(key, faults).map(str::to_owned);
    if object.optional("agent").is_some() {
        let (id, operator) = (name("agent", faults), name("operator", faults));
        let reputation = object.whole("reputation", faults);
        return Some(Actor::Agent { id: id?, operator: operator?, reputation: reputation? });
    }
    if object.optional("admin").is_some() {
        return name("admin", faults).map(Actor::Admin);
    }
    if object.optional("staff").is_some() {
        let role = object.word("role", Role::named, faults);
        return Some(Actor::Staff { name: name("staff", faults)?, role: role? });
    }
    if object.optional("system") == Some(&Value::Bool(true)) {
        return Some(Actor::System);
    }
    faults.add(at, "expected an agent with its operator and reputation, an admin, staff or the system");
    None
}

/// Every command with the members that it has.
pub const COMMANDS: &[(&str, &[&str])] = &[
    ("propose", &["manifest"]),
    ("activate", &["contest"]),
    ("close_submissions", &["contest"]),
    ("close", &["contest", "reason"]),
    ("cancel", &["contest", "reason"]),
    ("register_clause", &["contest", "rule_id", "text"]),
    ("submit", &["contest", "body"]),
    ("withdraw", &["submission"]),
    ("decide", &["submission", "to", "reason"]),
    ("file_challenge", &["submission", "kind", "target", "text"]),
    ("rule_challenge", &["challenge", "upheld", "reason"]),
    ("cast_vote", &["submission", "is_for"]),
    ("score", &["submission", "tenths", "reason"]),
    ("record_scorecard", &["contest", "points"]),
    ("promise_reward", &["submission", "kind", "expires_at"]),
    ("advance_reward", &["reward", "to", "reason"]),
];

fn command_at(name: &str, with: &Value, at: &Pointer, faults: &mut Faults) -> Option<Command> {
    let Some((_, known)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
        faults.add(at, "no command has this name");
        return None;
    };
    let object = Object::read(with, at, known, faults)?;
    let read = of_contest(name, &object, faults).or_else(|| of_submission(name, &object, faults));
    read.or_else(|| of_reward(name, &object, faults))
}

/// A member of text, owned.
fn owned(object: &Object<'_>, key: &str, faults: &mut Faults) -> Option<String> {
    object.text(key, faults).map(str::to_owned)
}

fn of_contest(name: &str, object: &Object<'_>, faults: &mut Faults) -> Option<Command> {
    Some(match name {
        "propose" => {
            let document = object.required("manifest", faults)?;
            match Manifest::of(document.clone()) {
                Ok(manifest) => Command::Propose(Box::new(manifest)),
                Err(inner) => {
                    for fault in inner.0 {
                        faults.add(&object.at("manifest").join(&fault.pointer), fault.message);
                    }
                    return None;
                }
            }
        }
        "activate" => Command::Activate { contest: owned(object, "contest", faults)? },
        "close_submissions" => Command::CloseSubmissions { contest: owned(object, "contest", faults)? },
        "close" | "cancel" => {
            let (contest, reason) = (owned(object, "contest", faults), owned(object, "reason", faults));
            let (contest, reason) = (contest?, reason?);
            match name {
                "close" => Command::Close { contest, reason },
                _ => Command::Cancel { contest, reason },
            }
        }
        "register_clause" => {
            let [contest, rule_id, text] =
                ["contest", "rule_id", "text"].map(|key| owned(object, key, faults));
            Command::RegisterClause { contest: contest?, rule_id: rule_id?, text: text? }
        }
        "submit" => {
            let (contest, body) = (owned(object, "contest", faults), object.required("body", faults));
            Command::Submit { contest: contest?, body: body?.clone() }
        }
        "record_scorecard" => {
            let contest = owned(object, "contest", faults);
            let scorecard = match object.optional("points") {
                None | Some(Value::Null) => Some(Scorecard::Blocked),
                Some(points) => read_points(points, &object.at("points"), faults),
            };
            Command::RecordScorecard { contest: contest?, scorecard: scorecard? }
        }
        _ => return None,
    })
}

fn read_points(points: &Value, at: &Pointer, faults: &mut Faults) -> Option<Scorecard> {
    let Some(members) = points.as_object().filter(|members| members.len() <= STRATEGIES_MAX) else {
        faults
            .add(at, format!("expected an object of at most {STRATEGIES_MAX} strategies with their points"));
        return None;
    };
    let mut read = BTreeMap::new();
    for (strategy, points) in members {
        let at = at.key(strategy);
        let points = points.as_str().and_then(|points| points.parse::<i64>().ok());
        match (strategy.parse::<Digest>(), points) {
            (Ok(strategy), Some(points)) => {
                read.insert(strategy, points);
            }
            (Err(why), _) => faults.add(&at, why.to_string()),
            (_, None) => faults.add(&at, "expected points as a decimal string"),
        }
    }
    Some(Scorecard::Completed(read))
}

fn of_submission(name: &str, object: &Object<'_>, faults: &mut Faults) -> Option<Command> {
    let text = |key: &str, faults: &mut Faults| owned(object, key, faults);
    Some(match name {
        "withdraw" => Command::Withdraw { submission: text("submission", faults)? },
        "decide" => {
            let (submission, reason) = (text("submission", faults), text("reason", faults));
            let to = object.word("to", SubmissionStatus::named, faults);
            Command::Decide { submission: submission?, to: to?, reason: reason? }
        }
        "file_challenge" => {
            let [submission, target, said] = ["submission", "target", "text"].map(|key| text(key, faults));
            let kind = object.word("kind", ChallengeKind::named, faults);
            Command::FileChallenge { submission: submission?, kind: kind?, target: target?, text: said? }
        }
        "rule_challenge" => {
            let (challenge, reason) = (text("challenge", faults), text("reason", faults));
            let upheld = object.boolean("upheld", faults);
            Command::RuleChallenge { challenge: challenge?, upheld: upheld?, reason: reason? }
        }
        "cast_vote" => {
            let submission = text("submission", faults);
            let is_for = object.boolean("is_for", faults);
            Command::CastVote { submission: submission?, is_for: is_for? }
        }
        "score" => {
            let (submission, reason) = (text("submission", faults), text("reason", faults));
            let tenths = object.whole("tenths", faults);
            let tenths = tenths.map(|tenths| u8::try_from(tenths).unwrap_or(u8::MAX));
            Command::Score { submission: submission?, tenths: tenths?, reason: reason? }
        }
        _ => return None,
    })
}

fn of_reward(name: &str, object: &Object<'_>, faults: &mut Faults) -> Option<Command> {
    Some(match name {
        "promise_reward" => {
            let (submission, kind) = (owned(object, "submission", faults), owned(object, "kind", faults));
            let expires_at = match object.optional("expires_at") {
                None | Some(Value::Null) => None,
                Some(_) => Some(object.parsed("expires_at", faults)?),
            };
            Command::PromiseReward { submission: submission?, kind: kind?, expires_at }
        }
        "advance_reward" => {
            let (reward, reason) = (owned(object, "reward", faults), owned(object, "reason", faults));
            let to = object.word("to", RewardStatus::named, faults);
            Command::AdvanceReward { reward: reward?, to: to?, reason: reason? }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
