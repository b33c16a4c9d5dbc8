//! The terms of a round as JSON: what whoever runs the platform sends, and what a journal keeps.

use arena_canon::json::{Pointer, Value};
use arena_ledger::{Amount, Asset};
use serde_json::json;

use super::terms::{Prizes, StakePolicy, Terms};
use crate::document::{Faults, Length, Object};
use crate::sprint::Window;
use crate::sprint::clock::{Phase, Slot, Timetable};

const FIELDS: [&str; 13] = [
    "id",
    "title",
    "start",
    "timetable",
    "rules_sha256",
    "asset",
    "entrants_max",
    "base_budget_atomic",
    "hold_cap_atomic",
    "stake_min_atomic",
    "dispute_stake_atomic",
    "stake_policy",
    "prizes",
];
const TITLE: Length = Length::new(3, 200);
/// The name of the built-in timetable.
const SPRINT_V1: &str = "sprint-v1";
const SLOTS_MAX: usize = 64;
/// Seconds that a time of a timetable may have.
const SECONDS_MAX: u64 = 400 * 86_400;
const PLACEMENTS_MAX: usize = 100;

impl Terms {
    /// Reads terms. Whether a round can be held on them is not looked at: [`Terms::check`] does.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let read = Object::read(value, &Pointer::default(), &FIELDS, &mut faults)
            .and_then(|object| read_terms(&object, &mut faults));
        faults.or(read)
    }

    /// As they are sent.
    pub fn json(&self) -> Value {
        json!({
            "id": self.id,
            "title": self.title,
            "start": self.start.to_string(),
            "timetable": timetable_json(&self.timetable),
            "rules_sha256": self.rules_sha256,
            "asset": self.asset.as_str(),
            "entrants_max": self.entrants_max,
            "base_budget_atomic": self.base_budget,
            "hold_cap_atomic": self.hold_cap,
            "stake_min_atomic": self.stake_min,
            "dispute_stake_atomic": self.dispute_stake,
            "stake_policy": self.stake_policy,
            "prizes": {
                "placements_atomic": self.prizes.placements,
                "external_window_atomic": self.prizes.external_window,
                "hygiene_atomic": self.prizes.hygiene,
            },
        })
    }
}

fn read_terms(object: &Object<'_>, faults: &mut Faults) -> Option<Terms> {
    let id = object.text("id", faults).map(str::to_owned);
    let title = object.bounded("title", TITLE, faults);
    let start = object.parsed("start", faults);
    let timetable = object.required("timetable", faults);
    let timetable = timetable.and_then(|value| read_timetable(value, &object.at("timetable"), faults));
    let rules_sha256 = object.parsed("rules_sha256", faults);
    let asset = object.text("asset", faults).and_then(|name| match Asset::new(name) {
        Ok(asset) => Some(asset),
        Err(why) => {
            faults.add(&object.at("asset"), why.to_string());
            None
        }
    });
    let entrants_max = object.whole("entrants_max", faults).and_then(|number| {
        let small = u32::try_from(number).ok();
        if small.is_none() {
            faults.add(&object.at("entrants_max"), format!("{number} is more than there can be"));
        }
        small
    });
    let amounts = ["base_budget_atomic", "hold_cap_atomic", "stake_min_atomic", "dispute_stake_atomic"];
    let [base_budget, hold_cap, stake_min, dispute_stake] =
        amounts.map(|key| object.parsed::<Amount>(key, faults));
    let stake_policy = object.word("stake_policy", StakePolicy::named, faults);
    let prizes = object.required("prizes", faults);
    let prizes = prizes.and_then(|value| read_prizes(value, &object.at("prizes"), faults));
    Some(Terms {
        id: id?,
        title: title?,
        start: start?,
        timetable: timetable?,
        rules_sha256: rules_sha256?,
        asset: asset?,
        entrants_max: entrants_max?,
        base_budget: base_budget?,
        hold_cap: hold_cap?,
        stake_min: stake_min?,
        dispute_stake: dispute_stake?,
        stake_policy: stake_policy?,
        prizes: prizes?,
    })
}

fn read_prizes(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Prizes> {
    let known = ["placements_atomic", "external_window_atomic", "hygiene_atomic"];
    let object = Object::read(value, at, &known, faults)?;
    let placements = object.texts("placements_atomic", PLACEMENTS_MAX, faults);
    let placements = placements.and_then(|texts| {
        let read = |(i, text): (usize, &String)| match text.parse::<Amount>() {
            Ok(amount) => Some(amount),
            Err(why) => {
                faults.add(&object.at("placements_atomic").index(i), why.to_string());
                None
            }
        };
        texts.iter().enumerate().map(read).collect::<Option<Vec<_>>>()
    });
    let external_window = object.parsed("external_window_atomic", faults);
    let hygiene = object.parsed("hygiene_atomic", faults);
    Some(Prizes { placements: placements?, external_window: external_window?, hygiene: hygiene? })
}

/// The name of a built-in timetable, or a list of intervals.
fn read_timetable(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Timetable> {
    if let Value::String(name) = value {
        if name == SPRINT_V1 {
            return Some(Timetable::sprint_v1());
        }
        faults.add(at, format!("the built-in timetable is {SPRINT_V1:?}"));
        return None;
    }
    let items = crate::document::array(value, at, SLOTS_MAX, faults)?;
    let mut slots = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        slots.extend(read_slot(item, &at.index(i), faults));
    }
    if slots.len() < items.len() {
        return None;
    }
    match Timetable::new(slots) {
        Ok(timetable) => Some(timetable),
        Err(why) => {
            faults.add(at, why.to_string());
            None
        }
    }
}

fn read_slot(item: &Value, at: &Pointer, faults: &mut Faults) -> Option<Slot> {
    let object = Object::read(item, at, &["phase", "window", "from_s", "to_s"], faults)?;
    let phase = object.word("phase", Phase::named, faults);
    let window = object.optional_word("window", Window::named, faults);
    let [from_s, to_s] = ["from_s", "to_s"].map(|key| {
        let seconds = object.whole(key, faults)?;
        if seconds > SECONDS_MAX {
            faults.add(&object.at(key), format!("{seconds} s; the limit is {SECONDS_MAX}"));
            return None;
        }
        i64::try_from(seconds).ok()
    });
    Some(Slot { phase: phase?, window, from_s: from_s?, to_s: to_s? })
}

fn timetable_json(timetable: &Timetable) -> Value {
    if *timetable == Timetable::sprint_v1() {
        return json!(SPRINT_V1);
    }
    let slot = |slot: &Slot| json!({ "phase": slot.phase, "window": slot.window, "from_s": slot.from_s, "to_s": slot.to_s });
    timetable.slots().iter().map(slot).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::terms::Terms;
    use crate::sprint::clock::{Phase, Slot, Timetable};
    use crate::sprint::example;

    #[test]
    fn terms_come_back_as_they_were_written() {
        let whole = example::terms();
        assert_eq!(Terms::read(&whole.json()).expect("terms"), whole);
        let slot = |phase, from_s, to_s| Slot { phase, window: None, from_s, to_s };
        let slots = vec![slot(Phase::Registration, 0, 60), slot(Phase::Closeout, 60, 90)];
        let short = Terms { timetable: Timetable::new(slots).expect("a timetable"), ..whole };
        assert_eq!(Terms::read(&short.json()).expect("terms"), short);
    }

    #[test]
    fn every_fault_of_terms_has_its_place() {
        let mut wrong = example::terms().json();
        wrong["title"] = json!("x");
        wrong["asset"] = json!("a b");
        wrong["timetable"] = json!([{ "phase": "closeout", "from_s": 1, "to_s": 2 }]);
        wrong["prizes"]["placements_atomic"] = json!(["1", "-1"]);
        wrong["entrants_max"] = json!(u64::MAX);
        wrong["more"] = json!(1);
        let faults = Terms::read(&wrong).expect_err("refused").0;
        let found: Vec<&str> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
        let places =
            ["/title", "/asset", "/timetable", "/prizes/placements_atomic/1", "/entrants_max", "/more"];
        for place in places {
            assert!(found.contains(&place), "{place} is not in {found:?}");
        }
    }
}
