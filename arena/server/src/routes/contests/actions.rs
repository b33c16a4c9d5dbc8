//! The actions of the admin: the words of the contest module for its commands.

use arena_canon::json::{Map, Pointer, Value};
use arena_contests::contest::{Command, wire};
use arena_contests::document::{Faults, Object};

/// An action: its name, the command that it is, its members with their names in the command, and members that it
/// always has.
struct Action {
    name: &'static str,
    command: &'static str,
    members: &'static [(&'static str, &'static str)],
    always: &'static [(&'static str, &'static str)],
}

const CONTEST: (&str, &str) = ("contest_id", "contest");
const SUBMISSION: (&str, &str) = ("submission_id", "submission");
const CHALLENGE: (&str, &str) = ("challenge_id", "challenge");
const REWARD: (&str, &str) = ("reward_id", "reward");
const REASON: (&str, &str) = ("reason", "reason");
/// Points of 0 to 10, with at most one decimal.
const SCORE: (&str, &str) = ("score", "tenths");

const ACTIONS: &[Action] = &[
    Action { name: "activate-contest", command: "activate", members: &[CONTEST], always: &[] },
    Action { name: "close-submissions", command: "close_submissions", members: &[CONTEST], always: &[] },
    Action {
        name: "judge",
        command: "decide",
        members: &[SUBMISSION, ("decision", "to"), REASON],
        always: &[],
    },
    Action { name: "score", command: "score", members: &[SUBMISSION, SCORE, REASON], always: &[] },
    Action { name: "close", command: "close", members: &[CONTEST, REASON], always: &[] },
    Action { name: "cancel", command: "cancel", members: &[CONTEST, REASON], always: &[] },
    Action {
        name: "register-clause",
        command: "register_clause",
        members: &[CONTEST, ("rule_id", "rule_id"), ("text", "text")],
        always: &[],
    },
    Action {
        name: "rule-challenge",
        command: "rule_challenge",
        members: &[CHALLENGE, ("upheld", "upheld"), REASON],
        always: &[],
    },
    Action {
        name: "record-scorecard",
        command: "record_scorecard",
        members: &[CONTEST, ("points", "points")],
        always: &[],
    },
    Action {
        name: "promise-reward",
        command: "promise_reward",
        members: &[SUBMISSION, ("kind", "kind"), ("expires_at", "expires_at")],
        always: &[],
    },
    Action {
        name: "approve-payout",
        command: "advance_reward",
        members: &[REWARD, REASON],
        always: &[("to", "approved")],
    },
    Action {
        name: "fulfil-payout",
        command: "advance_reward",
        members: &[REWARD, REASON],
        always: &[("to", "fulfilled")],
    },
    Action {
        name: "decline-payout",
        command: "advance_reward",
        members: &[REWARD, REASON],
        always: &[("to", "declined")],
    },
];

/// Reads `{"action": …}` with the members of the action; every fault is told at its place.
pub(in crate::routes) fn read(document: &Value) -> Result<Command, Faults> {
    let mut faults = Faults::default();
    let Some(members) = document.as_object() else {
        faults.add(&Pointer::default(), "expected an object");
        return Err(faults);
    };
    let action = members.get("action").and_then(Value::as_str);
    let Some(action) = ACTIONS.iter().find(|known| Some(known.name) == action) else {
        let known: Vec<&str> = ACTIONS.iter().map(|action| action.name).collect();
        faults.add(&Pointer::default().key("action"), format!("expected one of {}", known.join(", ")));
        return Err(faults);
    };
    let mut known: Vec<&str> = action.members.iter().map(|(sent, _)| *sent).collect();
    known.push("action");
    Object::read(document, &Pointer::default(), &known, &mut faults);
    let mut with = Map::new();
    for (sent, wired) in action.members {
        let Some(value) = members.get(*sent) else { continue };
        let value = if (*sent, *wired) == SCORE {
            match tenths(value) {
                Some(tenths) => tenths.into(),
                None => {
                    faults.add(&Pointer::default().key(sent), "expected 0 to 10 with at most one decimal");
                    0.into()
                }
            }
        } else {
            value.clone()
        };
        with.insert((*wired).to_owned(), value);
    }
    for (wired, value) in action.always {
        with.insert((*wired).to_owned(), (*value).into());
    }
    let command = match wire::command(action.command, &Value::Object(with)) {
        Ok(command) => Some(command),
        Err(inner) => {
            for fault in inner.0 {
                faults.add(&sent_place(action, fault.pointer.as_str()), fault.message);
            }
            None
        }
    };
    faults.or(command)
}

/// Where a fault of the command is in what was sent.
fn sent_place(action: &Action, pointer: &str) -> Pointer {
    let mut segments = pointer.split('/').skip(1);
    let first = segments.next().unwrap_or("");
    let named = action.members.iter().find(|(_, wired)| *wired == first).map_or(first, |(sent, _)| *sent);
    segments.fold(Pointer::default().key(named), |at, segment| {
        at.key(&segment.replace("~1", "/").replace("~0", "~"))
    })
}

/// A score in tenths, from a number or its text: `7`, `7.5`, `"10"`.
fn tenths(score: &Value) -> Option<u8> {
    let text = match score {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let (whole, tenth) = text.split_once('.').unwrap_or((&text, "0"));
    let is_digits =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(tenth) || tenth.len() > 1 {
        return None;
    }
    let tenths = whole.parse::<u16>().ok()? * 10 + tenth.parse::<u16>().ok()?;
    u8::try_from(tenths).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    /// The commands that have a route of their own: method and path.
    const ROUTED: &[(&str, &str, &str)] = &[
        ("propose", "post", "/api/modules/contest/propose"),
        ("submit", "post", "/api/modules/contest/{id}/submit"),
        ("withdraw", "post", "/api/modules/contest/{id}/submissions/{submission_id}/withdraw"),
        ("decide", "post", "/api/modules/contest/{id}/judge"),
        ("file_challenge", "post", "/api/modules/contest/{id}/challenge"),
        ("cast_vote", "post", "/api/modules/contest/{id}/vote"),
    ];

    #[test]
    fn every_command_has_a_route_or_an_action_with_all_its_members() {
        let by_route = ROUTED.iter().map(|(command, ..)| *command);
        let by_action = ACTIONS.iter().map(|action| action.command);
        let reached: BTreeSet<&str> = by_route.chain(by_action).collect();
        let all: BTreeSet<&str> = wire::COMMANDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(reached, all);
        for action in ACTIONS {
            let (_, members) = wire::COMMANDS.iter().find(|(name, _)| *name == action.command).unwrap();
            let given = action.members.iter().map(|(_, wired)| *wired);
            let given: BTreeSet<&str> = given.chain(action.always.iter().map(|(wired, _)| *wired)).collect();
            assert_eq!(given, members.iter().copied().collect(), "{}", action.name);
            assert!(crate::pages::contests::has_form(action.name), "{} has no form", action.name);
        }
    }

    #[test]
    fn every_route_of_the_module_is_in_the_document_and_does_a_command_or_reads() {
        let document = crate::routes::document();
        let paths = document["paths"].as_object().unwrap();
        for (command, method, path) in ROUTED {
            assert!(paths.get(*path).is_some_and(|verbs| verbs.get(*method).is_some()), "{command}");
        }
        let of_module = paths.iter().filter(|(path, _)| path.starts_with("/api/modules/contest"));
        for (path, verbs) in of_module {
            for verb in verbs.as_object().unwrap().keys() {
                let is_command = ROUTED.iter().any(|(_, method, routed)| (*method, *routed) == (verb, path));
                let is_admin = path == "/api/modules/contest/admin" && verb == "post";
                assert!(verb == "get" || is_command || is_admin, "{verb} {path} does no command");
            }
        }
    }

    #[test]
    fn a_score_has_at_most_one_decimal() {
        for (score, expected) in [
            (json!(0), Some(0)),
            (json!(7.5), Some(75)),
            (json!("7.5"), Some(75)),
            (json!(7.0), Some(70)),
            (json!(10), Some(100)),
            (json!(10.5), Some(105)),
            (json!(7.25), None),
            (json!(-1), None),
            (json!(100), None),
            (json!("7."), None),
            (json!("+7"), None),
            (json!("x"), None),
            (json!(1e300), None),
            (json!(null), None),
        ] {
            assert_eq!(tenths(&score), expected, "{score}");
        }
    }

    #[test]
    fn faults_are_told_where_they_were_sent() {
        let places = |document: Value| -> Vec<String> {
            let faults = read(&document).expect_err("a fault");
            faults.0.iter().map(|fault| fault.pointer.as_str().to_owned()).collect()
        };
        assert_eq!(places(json!([])), [""]);
        assert_eq!(places(json!({ "action": "win" })), ["/action"]);
        assert_eq!(
            places(json!({ "action": "judge", "decision": "maybe" })),
            ["/submission_id", "/reason", "/decision"]
        );
        let found =
            places(json!({ "action": "score", "submission_id": "s", "score": 7.25, "reason": "r", "x": 1 }));
        assert_eq!(found, ["/x", "/score"]);
        let found =
            places(json!({ "action": "record-scorecard", "contest_id": "c", "points": { "ab": "1" } }));
        assert_eq!(found, ["/points/ab"]);
        let found = places(json!({ "action": "activate-contest", "contest": "c" }));
        assert_eq!(found, ["/contest", "/contest_id"]);
    }
}
