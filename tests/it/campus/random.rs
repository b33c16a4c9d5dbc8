//! Random packs, valid by construction and odd on purpose, and random actions to play on them.

use std::sync::Arc;

use arena_canon::json::Value;
use arena_engine::campus::{Field, Given, NonFinite, NonFiniteValue, Pack, RawAction};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::json;

use super::reference::Asked;

/// A pack and what is asked in it.
#[derive(Debug, Clone)]
pub(crate) struct Game {
    pub(crate) document: Value,
    pub(crate) actions: Vec<RawAction>,
    pub(crate) nonfinite: Vec<NonFiniteValue>,
}

impl Game {
    pub(crate) fn pack(&self) -> Arc<Pack> {
        Pack::from_value(&self.document).unwrap_or_else(|faults| panic!("{faults}\n{}", self.document))
    }

    /// The actions as plain numbers.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let number = |given| if let Given::Value(value) = given { value } else { 0.0 };
        let plain = |raw: &RawAction| {
            let numbers = [raw.curtail_mw, raw.battery_mw, raw.diesel_mw].map(number);
            (numbers, raw.accept_offer == Given::Value(true))
        };
        let mut asked: Vec<Asked> = self.actions.iter().map(plain).collect();
        for lost in &self.nonfinite {
            let numbers = &mut asked[lost.turn as usize].0;
            numbers[lost.field as usize] = match lost.value {
                NonFinite::NaN => f64::NAN,
                NonFinite::Infinity => f64::INFINITY,
                NonFinite::NegativeInfinity => f64::NEG_INFINITY,
            };
        }
        asked
    }
}

/// Runs `test` on that many random games, always the same ones; a failure is shown at its smallest.
#[track_caller]
pub(crate) fn for_random_games(cases: u32, test: impl Fn(&Game) -> Result<(), String>) {
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let luck = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, luck);
    let outcome = runner.run(&game(), |game| test(&game).map_err(TestCaseError::fail));
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Mostly of a size that people have, on a grid coarse enough for ties.
fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        8 => (0u32..60).prop_map(|steps| f64::from(steps) * 2.5),
        6 => 0.0..120.0,
        1 => select(&[1e12, 1e-9, 5e-324, -0.0][..]),
    ]
}

fn money() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-20i32..60).prop_map(|steps| f64::from(steps) * 12.5),
        6 => -200.0..5000.0,
        1 => select(&[0.0, -0.0, 1e12, -1e12][..]),
    ]
}

fn event() -> impl Strategy<Value = Value> {
    let credit = prop_oneof![select(&[100.0, 250.0][..]), money()];
    let span = (0u32..14, prop_oneof![1 => Just(0u32), 6 => 1u32..9], option::of(0u32..16));
    (any::<bool>(), span, credit, amount()).prop_map(|(appeal, (start, length, notice), credit, asked)| {
        let mut event = json!({ "start_turn": start, "end_turn": start + length });
        if let Some(notice) = notice {
            event["notice_turn"] = json!(notice);
        }
        let (kind, amount, value) = if appeal {
            ("conservation_appeal", "credit_usd_per_mwh", credit)
        } else {
            ("curtailment_order", "requested_mw", asked.abs())
        };
        event["kind"] = json!(kind);
        event[amount] = json!(value);
        event
    })
}

fn battery() -> impl Strategy<Value = Value> {
    let efficiency = prop_oneof![
        3 => select(&[1.0, 0.87, 0.5][..]),
        3 => 0.01..1.0,
        1 => select(&[5e-324, 1e-300][..]),
    ];
    let filled = prop_oneof![select(&[0.0, 0.5, 1.0][..]), 0.0..=1.0];
    (amount(), amount(), efficiency, filled).prop_map(|(capacity, power, efficiency, filled)| {
        json!({ "capacity_mwh": capacity, "power_mw": power, "round_trip_efficiency": efficiency,
                "initial_soc_mwh": capacity * filled })
    })
}

fn metrics() -> impl Strategy<Value = Value> {
    const PAIRS: [[&str; 2]; 3] = [
        ["cost_usd_per_mwh", "relief_share"],
        ["relief_share", "it_served_share"],
        ["it_served_share", "cost_usd_per_mwh"],
    ];
    let goals = || vec(prop_oneof![-100.0..600.0, 0.0..1.1, select(&[0.0, 1.0, 1e12, -1e12][..])], 3);
    (select(&PAIRS[..]), any::<bool>(), goals(), goals()).prop_map(|(ids, swapped, first, second)| {
        let [a, b] = if swapped { [ids[1], ids[0]] } else { ids };
        json!([{ "id": a, "stars": first }, { "id": b, "stars": second }])
    })
}

fn document() -> impl Strategy<Value = Value> {
    let status = select(&["normal", "watch", "emergency"][..]);
    let turn = (amount(), money(), status, -2.0..6.0);
    let generator = (amount(), money(), prop_oneof![0.0..4.0, select(&[0.0, 0.49, 1.0, 1e12][..])]);
    let step = select(&[1u32, 5, 15, 30, 60, 1440][..]);
    let no_demand = prop_oneof![9 => Just(false), 1 => Just(true)];
    let sloped = any::<bool>();
    (vec(turn, 1..=12), (step, 1u32..=28, 0u32..24), (battery(), generator, money()), vec(event(), 0..7), metrics(), (sloped, no_demand))
        .prop_map(|(turns, (step, day, hour), (battery, generator, sla), mut events, metrics, (sloped, no_demand))| {
            for (i, event) in events.iter_mut().enumerate() {
                event["id"] = json!(format!("e{i}"));
            }
            let strip = |of: fn(&(f64, f64, &'static str, f64)) -> Value| turns.iter().map(of).collect::<Vec<_>>();
            let demand = if no_demand { strip(|_| json!(0.0)) } else { strip(|turn| json!(turn.0)) };
            let (capacity, fuel, permit) = generator;
            let mut document = json!({
                "schema": "scenario-pack.v0", "pack_id": "random", "pack_version": "1", "name": "Random",
                "brief_md": "", "score_version": "s1",
                "time": { "start_local": format!("2024-02-{day:02}T{hour:02}:30:00-05:00"), "turns": turns.len(), "step_minutes": step },
                "site": { "it_demand_mw": demand, "sla_usd_per_mwh": sla, "battery": battery,
                    "generator": { "capacity_mw": capacity, "fuel_usd_per_mwh": fuel, "permit_hours": permit } },
                "grid": { "price_usd_per_mwh": strip(|turn| json!(turn.1)), "system_status": strip(|turn| json!(turn.2)) },
                "events": events, "scoring": { "metrics": metrics },
            });
            if sloped {
                document["grid"]["price_slope_usd_per_mwh_per_mw"] = json!(strip(|turn| json!(turn.3)));
            }
            document
        })
}

/// A number that is asked, and what of it JSON loses.
fn asked() -> impl Strategy<Value = (Given<f64>, Option<NonFinite>)> {
    let given = |number: f64| match NonFinite::of(number) {
        None => (Given::Value(number), None),
        lost => (Given::Null, lost),
    };
    prop_oneof![
        2 => Just((Given::Missing, None)),
        1 => Just((Given::Null, None)),
        8 => amount().prop_map(given),
        6 => amount().prop_map(move |number| given(-number)),
        2 => select(&super::scripts::EDGES[..]).prop_map(given),
    ]
}

fn game() -> impl Strategy<Value = Game> {
    let accept = select(&[Given::Missing, Given::Null, Given::Value(false), Given::Value(true)][..]);
    let action = (asked(), asked(), asked(), accept);
    (document(), vec(action, 0..=12)).prop_map(|(document, mut asked)| {
        asked.truncate(document["time"]["turns"].as_u64().unwrap_or_default() as usize);
        let mut nonfinite = Vec::new();
        let mut actions = Vec::new();
        for (turn, (curtail, battery, diesel, accept_offer)) in (0u32..).zip(asked) {
            for (field, (_, lost)) in Field::ALL.into_iter().zip([curtail, battery, diesel]) {
                nonfinite.extend(lost.map(|value| NonFiniteValue { turn, field, value }));
            }
            let (curtail_mw, battery_mw, diesel_mw) = (curtail.0, battery.0, diesel.0);
            actions.push(RawAction { curtail_mw, battery_mw, diesel_mw, accept_offer });
        }
        Game { document, actions, nonfinite }
    })
}
