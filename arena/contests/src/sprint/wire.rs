//! The JSON shapes of the calculators: records, windows and standings in and out.

use std::collections::BTreeSet;

use arena_canon::json::{Pointer, Value};
use serde_json::json;

use super::Window;
use super::clock::{Action, Timetable};
use super::rank::{Row, standings};
use super::record::{Penalty, Points, Record, RecordError, Stamp, Written};
use super::score::{self, RoundScore, WindowScore};
use super::stake::{self, StakeResult};
use crate::document::{Faults, Object, kind_of, text};
use crate::moment::Moment;

/// Entrants of one question.
pub const ENTRANTS_MAX: usize = 100_000;
/// Bytes of an entrant's id.
const ID_BYTES_MAX: usize = 200;
/// More penalties than there are, so that one that stands twice is named as such.
const PENALTIES_MAX: usize = 64;

/// What a calculator says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// The answer.
    Answer(Value),
    /// A record breaks a rule; its name, and where the record stands.
    Refused(RecordError, Pointer),
}

const RECORD: [&str; 11] = [
    "state",
    "artifact_class",
    "delivery",
    "evidence",
    "continuity",
    "budget",
    "penalties",
    "operator_intervention",
    "assisted_outcome",
    "before",
    "submitted_at",
];

/// Reads a record as it is written; whether it keeps the rules is not looked at.
pub fn read_record(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Written> {
    let object = Object::read(value, at, &RECORD, faults)?;
    let state = object.text("state", faults)?.to_owned();
    let stamp = object.optional_text("submitted_at", faults);
    let submitted_at = stamp.and_then(|text| stamp_of(text, &object.at("submitted_at"), faults));
    let unjudged = matches!(state.as_str(), "missing" | "pending");
    if unjudged || super::record::State::named(&state, super::record::Outcome::Rejected).is_none() {
        // Nothing else of these is looked at, so nothing else of them has to be there. Of their
        // penalties only the one that burns a stake keeps its name.
        let penalties = object.optional("penalties").and_then(Value::as_array);
        let disclosure = Penalty::DisclosureViolation.name();
        let penalty = penalties.and_then(|words| {
            let is_disclosed = unjudged && words.iter().any(|word| word == disclosure);
            words.first().map(|_| if is_disclosed { disclosure.to_owned() } else { String::new() })
        });
        let declared = object.optional("operator_intervention").and_then(Value::as_str);
        return Some(Written {
            state,
            submitted_at,
            penalties: penalty.into_iter().collect(),
            operator_intervention: declared.unwrap_or_default().to_owned(),
            ..Written::default()
        });
    }
    let owned = |text: &str| text.to_owned();
    let [delivery, evidence, continuity, budget] =
        ["delivery", "evidence", "continuity", "budget"].map(|key| points(&object, key, faults));
    let penalties = object.array("penalties", PENALTIES_MAX, faults);
    let words = |(i, word)| text(word, &object.at("penalties").index(i), faults).map(owned);
    let penalties = penalties.map(|items| items.iter().enumerate().filter_map(words).collect::<Vec<_>>());
    Some(Written {
        state,
        assisted_outcome: object.optional_text("assisted_outcome", faults).map(owned),
        artifact_class: object.text("artifact_class", faults).map(owned).unwrap_or_default(),
        delivery,
        evidence,
        continuity,
        budget,
        penalties: penalties.unwrap_or_default(),
        operator_intervention: object.text("operator_intervention", faults).map(owned).unwrap_or_default(),
        before: object.optional_text("before", faults).map(owned),
        submitted_at,
    })
}

fn points(object: &Object<'_>, key: &str, faults: &mut Faults) -> Points {
    match object.required(key, faults)? {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < 1e15);
            number.as_i64().or(whole.map(|value| value as i64))
        }
        other => {
            faults.add(&object.at(key), format!("expected a number, found {}", kind_of(other)));
            None
        }
    }
}

fn stamp_of(text: &str, at: &Pointer, faults: &mut Faults) -> Option<Stamp> {
    match text.parse() {
        Ok(moment) => Some(Stamp { text: text.to_owned(), moment }),
        Err(why) => {
            faults.add(at, why.to_string());
            None
        }
    }
}

/// `{"entrants": […]}` gives the standings; `{"window", "previous"}` gives that window's score.
pub fn score(question: &Value) -> Result<Said, Faults> {
    let mut faults = Faults::default();
    let root = Pointer::default();
    if question.get("entrants").is_some() {
        let object = Object::read(question, &root, &["entrants"], &mut faults);
        let entrants = object.and_then(|object| read_entrants(&object, &mut faults));
        return Ok(score_entrants(faults.or(entrants)?));
    }
    let object = Object::read(question, &root, &["window", "previous", "entrants"], &mut faults);
    let records = object.and_then(|object| {
        let window = object.required("window", &mut faults)?;
        let window = read_record(window, &object.at("window"), &mut faults);
        let previous = object.optional("previous");
        let previous = previous.map(|value| read_record(value, &object.at("previous"), &mut faults));
        Some((window?, previous.flatten()))
    });
    let (window, previous) = faults.or(records)?;
    let root = Pointer::default();
    let checked = window.check().map_err(|why| (why, root.key("window")));
    let checked = checked.and_then(|window| match previous.map(Written::check) {
        Some(Err(why)) => Err((why, root.key("previous"))),
        Some(Ok(previous)) => Ok((window, Some(previous))),
        None => Ok((window, None)),
    });
    Ok(match checked {
        Ok((window, previous)) => Said::Answer(window_json(&score::window(&window, previous.as_ref()))),
        Err((why, at)) => Said::Refused(why, at),
    })
}

type Entrant = (String, [(Written, Pointer); 3]);

fn read_entrants(object: &Object<'_>, faults: &mut Faults) -> Option<Vec<Entrant>> {
    let items = object.array("entrants", ENTRANTS_MAX, faults)?;
    let mut ids = BTreeSet::new();
    let mut entrants = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let at = object.at("entrants").index(i);
        let Some(entrant) = Object::read(item, &at, &["id", "windows"], faults) else { continue };
        let id = entrant.text("id", faults);
        let windows = read_windows(&entrant, faults);
        let Some(id) = id else { continue };
        if id.is_empty() || id.len() > ID_BYTES_MAX {
            faults.add(&at.key("id"), format!("has {} bytes; 1 to {ID_BYTES_MAX} are allowed", id.len()));
        }
        if !ids.insert(id) {
            faults.add(&at.key("id"), "an entrant before it has the same id");
        }
        entrants.extend(windows.map(|windows| (id.to_owned(), windows)));
    }
    Some(entrants)
}

fn read_windows(entrant: &Object<'_>, faults: &mut Faults) -> Option<[(Written, Pointer); 3]> {
    let names = Window::ALL.iter().map(|window| window.name()).collect::<Vec<_>>();
    let value = entrant.required("windows", faults)?;
    let windows = Object::read(value, &entrant.at("windows"), &names, faults)?;
    let read = [Window::W1, Window::W2, Window::W3].map(|window| {
        let at = windows.at(window.name());
        let value = windows.required(window.name(), faults)?;
        Some((read_record(value, &at, faults)?, at))
    });
    let [Some(w1), Some(w2), Some(w3)] = read else { return None };
    Some([w1, w2, w3])
}

fn score_entrants(entrants: Vec<Entrant>) -> Said {
    let mut rounds = Vec::with_capacity(entrants.len());
    for (id, windows) in entrants {
        let mut records: Vec<Record> = Vec::with_capacity(3);
        for (written, at) in windows {
            match written.check() {
                Ok(record) => records.push(record),
                Err(why) => return Said::Refused(why, at),
            }
        }
        if let Ok(records) = <[Record; 3]>::try_from(records) {
            rounds.push((id, score::round(&records)));
        }
    }
    Said::Answer(standings(rounds).iter().map(row_json).collect())
}

/// A window's score as it is shown.
pub fn window_json(window: &WindowScore) -> Value {
    json!({
        "state": window.state.name(),
        "delivery": window.components.delivery,
        "evidence": window.components.evidence,
        "continuity": window.components.continuity,
        "budget": window.components.budget,
        "raw": window.raw,
        "multiplier_pct": window.multiplier_pct,
        "penalties": window.penalties,
        "penalty_total": window.penalty_total,
        "caps": window.caps,
        "window_score": window.window_score,
    })
}

/// A line of the standings as it is shown.
pub fn row_json(row: &Row) -> Value {
    let Row { rank, id, round } = row;
    let RoundScore { windows: [w1, w2, w3], tie_break, .. } = round;
    json!({
        "rank": rank,
        "id": id,
        "windows": { "W1": window_json(w1), "W2": window_json(w2), "W3": window_json(w3) },
        "external_completion_bonus": round.external_completion_bonus,
        "round_score": round.round_score,
        "tie_break": {
            "external_accepted": tie_break.external_accepted,
            "accepted_delivery": tie_break.accepted_delivery,
            "operator_assisted": tie_break.operator_assisted,
            "reversals": tie_break.reversals,
            "w3_submitted_at": tie_break.w3_submitted_at.as_ref().map(|stamp| &stamp.text),
        },
        "interventions": round.interventions,
        "first_place_eligible": round.ineligible_reasons.is_empty(),
        "ineligible_reasons": round.ineligible_reasons,
        "hygiene_award": round.hygiene_award,
    })
}

/// `{"round_start", "now"}` gives the phase; with `action`, what the clock says to it.
pub fn phase(question: &Value) -> Result<Value, Faults> {
    let mut faults = Faults::default();
    let known = ["round_start", "now", "action", "window"];
    let read = Object::read(question, &Pointer::default(), &known, &mut faults).and_then(|object| {
        let [start, now] = ["round_start", "now"].map(|key| object.parsed::<Moment>(key, &mut faults));
        let action = object.optional_word("action", Action::named, &mut faults);
        let window = object.optional_word("window", Window::named, &mut faults);
        if action.is_none() && window.is_some() {
            faults.add(&object.at("window"), "a window is named only together with an action");
        }
        Some((start?, now?, action, window))
    });
    let (start, now, action, window) = faults.or(read)?;
    let timetable = Timetable::sprint_v1();
    Ok(match action {
        Some(action) => json!({ "result": timetable.permits(start, now, action, window) }),
        None => {
            let (phase, window) = timetable.at(start, now);
            json!({ "phase": phase, "window": window })
        }
    })
}

/// `{"window"}` gives what becomes of its stake. A disclosure burns it before anything else is asked.
pub fn stake(question: &Value) -> Result<Said, Faults> {
    let mut faults = Faults::default();
    let read = Object::read(question, &Pointer::default(), &["window"], &mut faults).and_then(|object| {
        let window = object.required("window", &mut faults)?;
        read_record(window, &object.at("window"), &mut faults)
    });
    let written = faults.or(read)?;
    if written.penalties.iter().any(|word| word == Penalty::DisclosureViolation.name()) {
        return Ok(Said::Answer(json!({ "result": StakeResult::Burned })));
    }
    Ok(match written.check() {
        Ok(record) => Said::Answer(json!({ "result": stake::settle(&record) })),
        Err(why) => Said::Refused(why, Pointer::default().key("window")),
    })
}
