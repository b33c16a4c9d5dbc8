//! The game a second time, written from its rules on paper and from nothing else: no shared code, no
//! shared types, one long turn. What both agree on to the last bit is what the rules say.

use arena_canon::json::Value;
use serde_json::json;

/// What is asked on one turn: curtail, battery, diesel, and whether the offer is taken.
pub(crate) type Asked = ([f64; 3], bool);

fn f(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn most(a: f64, b: f64) -> f64 {
    if a >= b { a } else { b }
}

fn least(a: f64, b: f64) -> f64 {
    if a <= b { a } else { b }
}

#[derive(Default)]
struct State {
    soc: f64,
    permit_min: i64,
    accepted: Vec<bool>,
    /// cost, shed, delivered, asked
    ledger: [f64; 4],
    /// demand, served, import, charge, discharge, gas, energy, fuel, sla, credit
    totals: [f64; 10],
    generator_turns: u32,
    clamps: usize,
}

/// The episode without its versions, as its log should have it.
pub(crate) fn episode(pack: &Value, asked: &[Asked]) -> Value {
    let (turns, settled) = run(pack, asked);
    let (_, nothing) = run(pack, &[]);
    let mut settlement = settled;
    settlement["do_nothing"] = json!({
        "cost_usd": nothing["ledger"]["cost_usd"], "metrics": nothing["metrics"], "stars": nothing["stars"]
    });
    json!({ "turns": turns, "settlement": settlement })
}

fn run(pack: &Value, asked: &[Asked]) -> (Vec<Value>, Value) {
    let events = pack["events"].as_array().expect("events");
    let mut state = State {
        soc: f(&pack["site"]["battery"]["initial_soc_mwh"]),
        permit_min: (f(&pack["site"]["generator"]["permit_hours"]) * 60.0 + 0.5).floor() as i64,
        accepted: vec![false; events.len()],
        ..State::default()
    };
    let n = pack["time"]["turns"].as_u64().expect("turns") as usize;
    let mut turns = Vec::new();
    for t in 0..n {
        let observation = observe(pack, t, &state);
        let action = asked.get(t).copied().unwrap_or(([0.0; 3], false));
        let resolution = resolve(pack, t, action, &mut state);
        turns.push(json!({ "turn": t, "observation": observation, "resolution": resolution }));
    }
    (turns, settle(pack, &state))
}

fn turn_of(event: &Value, key: &str) -> usize {
    event[key].as_u64().expect("a turn") as usize
}

fn is_active(event: &Value, t: usize) -> bool {
    turn_of(event, "start_turn") <= t && t < turn_of(event, "end_turn")
}

fn observe(pack: &Value, t: usize, state: &State) -> Value {
    let grid = &pack["grid"];
    let n = pack["time"]["turns"].as_u64().expect("turns") as usize;
    let forecast: Vec<Value> = (t + 1..n.min(t + 4))
        .map(|u| json!({ "turn": u, "price_usd_per_mwh": grid["price_usd_per_mwh"][u], "system_status": grid["system_status"][u] }))
        .collect();
    let mut visible = Vec::new();
    for (i, event) in pack["events"].as_array().expect("events").iter().enumerate() {
        let notice = if event["notice_turn"].is_null() { "start_turn" } else { "notice_turn" };
        if turn_of(event, notice) <= t && t < turn_of(event, "end_turn") {
            let mut shown = json!({ "id": event["id"], "kind": event["kind"], "start_turn": event["start_turn"],
                "end_turn": event["end_turn"], "active": is_active(event, t) });
            if event["kind"] == "conservation_appeal" {
                shown["credit_usd_per_mwh"] = event["credit_usd_per_mwh"].clone();
                shown["accepted"] = json!(state.accepted[i]);
            } else {
                shown["requested_mw"] = event["requested_mw"].clone();
            }
            visible.push(shown);
        }
    }
    json!({
        "turn": t, "local_time": local_time(pack, t), "price_usd_per_mwh": grid["price_usd_per_mwh"][t],
        "system_status": grid["system_status"][t], "forecast": forecast, "events": visible,
        "site": { "it_demand_mw": pack["site"]["it_demand_mw"][t], "soc_mwh": state.soc,
                  "permit_hours_remaining": state.permit_min as f64 / 60.0 },
        "ledger": ledger(state),
    })
}

/// Local time by counting days, for starts in February 2024 (29 days) as the random packs have them.
fn local_time(pack: &Value, t: usize) -> String {
    let start = pack["time"]["start_local"].as_str().expect("a start");
    let number = |from: usize, to: usize| start[from..to].parse::<u64>().expect("digits");
    assert_eq!(&start[..8], "2024-02-");
    let minute = (number(8, 10) * 24 + number(11, 13)) * 60 + number(14, 16);
    let now = minute + t as u64 * pack["time"]["step_minutes"].as_u64().expect("minutes");
    let (mut day, mut month) = (now / (24 * 60), 2);
    for (this, days) in [(2, 29), (3, 31), (4, 30)] {
        if month == this && day > days {
            (day, month) = (day - days, month + 1);
        }
    }
    let (hour, minute) = (now / 60 % 24, now % 60);
    format!("2024-{month:02}-{day:02}T{hour:02}:{minute:02}:{}", &start[17..])
}

fn ledger(state: &State) -> Value {
    let [cost, shed, delivered, asked] = state.ledger;
    json!({ "cost_usd": cost, "shed_mwh": shed, "relief_delivered_mwh": delivered, "relief_asked_mwh": asked })
}

/// One field of an action on its way through its limits.
struct Cut<'c> {
    field: &'static str,
    value: f64,
    clamps: &'c mut Vec<Value>,
}

impl Cut<'_> {
    fn new<'c>(field: &'static str, asked: f64, clamps: &'c mut Vec<Value>) -> Cut<'c> {
        let mut cut = Cut { field, value: asked, clamps };
        if !asked.is_finite() {
            cut.value = f64::NAN;
            cut.to(0.0, "not_finite");
        }
        cut
    }

    fn to(&mut self, limit: f64, reason: &str) {
        // JSON has no NaN: it becomes the null that the rules ask for.
        self.clamps.push(
            json!({ "field": self.field, "requested": self.value, "applied": limit, "reason": reason }),
        );
        self.value = limit;
    }
}

fn limit(
    pack: &Value,
    t: usize,
    (asked, accept): Asked,
    state: &State,
    clamps: &mut Vec<Value>,
) -> (f64, f64, f64, bool) {
    let h = f(&pack["time"]["step_minutes"]) / 60.0;
    let d = f(&pack["site"]["it_demand_mw"][t]);
    let (battery, generator) = (&pack["site"]["battery"], &pack["site"]["generator"]);

    let mut cut = Cut::new("curtail_mw", asked[0], clamps);
    if cut.value < 0.0 {
        cut.to(0.0, "below_zero")
    }
    if cut.value > d {
        cut.to(d, "it_demand")
    }
    let curtail = cut.value;

    let power = f(&battery["power_mw"]);
    let mut cut = Cut::new("battery_mw", asked[1], clamps);
    if cut.value > power {
        cut.to(power, "power_limit")
    }
    if cut.value < -power {
        cut.to(-power, "power_limit")
    }
    if cut.value > 0.0 {
        if cut.value > state.soc / h {
            cut.to(state.soc / h, "soc_empty")
        }
        if cut.value > d - curtail {
            cut.to(d - curtail, "no_export")
        }
    } else if cut.value < 0.0 {
        let free = f(&battery["capacity_mwh"]) - state.soc;
        let room = if free == 0.0 { 0.0 } else { free / (f(&battery["round_trip_efficiency"]) * h) };
        if cut.value < -room + 0.0 {
            cut.to(-room + 0.0, "soc_full")
        }
    }
    let battery_mw = cut.value;

    let left = most(0.0, d - curtail - most(0.0, battery_mw));
    let capacity = f(&generator["capacity_mw"]);
    let mut cut = Cut::new("diesel_mw", asked[2], clamps);
    if cut.value < 0.0 {
        cut.to(0.0, "below_zero")
    }
    if cut.value > capacity {
        cut.to(capacity, "capacity")
    }
    if cut.value > left {
        cut.to(left, "no_export")
    }
    let step = pack["time"]["step_minutes"].as_i64().expect("minutes");
    if cut.value > 0.0 && state.permit_min < step {
        cut.to(0.0, "permit_hours")
    }
    let diesel = cut.value;

    let events = pack["events"].as_array().expect("events");
    let offered = events.iter().any(|event| event["kind"] == "conservation_appeal" && is_active(event, t));
    if accept && !offered {
        clamps.push(json!({ "field": "accept_offer", "requested": true, "applied": false, "reason": "no_active_offer" }));
    }
    (curtail, battery_mw, diesel, accept && offered)
}

fn resolve(pack: &Value, t: usize, asked: Asked, state: &mut State) -> Value {
    let mut clamps = Vec::new();
    let (curtail, battery_mw, diesel, accept) = limit(pack, t, asked, state, &mut clamps);
    let h = f(&pack["time"]["step_minutes"]) / 60.0;
    let d = f(&pack["site"]["it_demand_mw"][t]);
    let (discharge, charge) = (most(0.0, battery_mw), most(0.0, -battery_mw));
    let import = most(0.0, d - curtail - discharge - diesel) + charge;
    let slopes = &pack["grid"]["price_slope_usd_per_mwh_per_mw"];
    let price = f(&pack["grid"]["price_usd_per_mwh"][t]);
    let eff = if slopes.is_null() { price } else { price + f(&slopes[t]) * (import - d) };
    let reduction = most(0.0, d - import);
    let (ordered, delivered, mut shares) = orders(pack, t, d, reduction);
    let voluntary = most(0.0, reduction - ordered);
    let (credit, paid) = appeals(pack, t, voluntary * h, voluntary, accept, state);
    shares.extend(paid);

    let energy_cost = (import * h) * eff;
    let fuel_cost = (diesel * h) * f(&pack["site"]["generator"]["fuel_usd_per_mwh"]);
    let sla_cost = (curtail * h) * f(&pack["site"]["sla_usd_per_mwh"]);
    let turn_cost = ((energy_cost + fuel_cost) + sla_cost) - credit;
    use_stores(pack, (charge * h, discharge * h, diesel), state);
    let of_ledger = [turn_cost, curtail * h, delivered * h, ordered * h];
    let of_energy = [d * h, (d - curtail) * h, import * h, charge * h, discharge * h, diesel * h];
    let of_money = [energy_cost, fuel_cost, sla_cost, credit];
    state.ledger.iter_mut().zip(of_ledger).for_each(|(sum, more)| *sum += more);
    state.totals.iter_mut().zip(of_energy.into_iter().chain(of_money)).for_each(|(sum, more)| *sum += more);
    state.clamps += clamps.len();
    json!({
        "applied": { "curtail_mw": curtail, "battery_mw": battery_mw, "diesel_mw": diesel, "accept_offer": accept },
        "clamps": clamps, "grid_import_mw": import, "it_served_mw": d - curtail, "effective_price_usd_per_mwh": eff,
        "reduction_mw": reduction, "events": shares,
        "relief": { "asked_mw": ordered, "delivered_mw": delivered, "shortfall_mw": ordered - delivered },
        "energy_cost_usd": energy_cost, "fuel_cost_usd": fuel_cost, "sla_cost_usd": sla_cost, "credit_usd": credit,
        "turn_cost_usd": turn_cost, "soc_mwh": state.soc, "permit_hours_remaining": state.permit_min as f64 / 60.0,
    })
}

/// Active events of that kind, with their positions in the pack.
fn active<'p>(pack: &'p Value, kind: &'static str, t: usize) -> Vec<(usize, &'p Value)> {
    let all = pack["events"].as_array().expect("events").iter().enumerate();
    all.filter(|(_, event)| event["kind"] == kind && is_active(event, t)).collect()
}

/// What is asked and delivered, and each order's part of it.
fn orders(pack: &Value, t: usize, d: f64, reduction: f64) -> (f64, f64, Vec<Value>) {
    let mut requested = 0.0;
    for (_, order) in active(pack, "curtailment_order", t) {
        requested += f(&order["requested_mw"]);
    }
    let ordered = least(requested, d);
    let delivered = least(ordered, reduction);
    let (mut left_ask, mut left_del) = (ordered, delivered);
    let mut shares = Vec::new();
    for (_, order) in active(pack, "curtailment_order", t) {
        let a = least(f(&order["requested_mw"]), left_ask);
        let g = least(a, left_del);
        shares.push(json!({ "id": order["id"], "kind": order["kind"], "asked_mw": a, "delivered_mw": g, "shortfall_mw": a - g }));
        left_ask -= a;
        left_del -= g;
    }
    (ordered, delivered, shares)
}

/// What is earned, and each appeal's part of it.
fn appeals(pack: &Value, t: usize, mwh: f64, mw: f64, accept: bool, state: &mut State) -> (f64, Vec<Value>) {
    let offered = active(pack, "conservation_appeal", t);
    let mut best: Option<(usize, f64)> = None;
    for (i, appeal) in &offered {
        state.accepted[*i] |= accept;
        let rate = f(&appeal["credit_usd_per_mwh"]);
        if state.accepted[*i] && best.is_none_or(|(_, most)| rate > most) {
            best = Some((*i, rate));
        }
    }
    let (mut credit, mut shares) = (0.0, Vec::new());
    for (i, appeal) in offered {
        let pays = best.is_some_and(|(best, _)| best == i);
        let (mw, mwh) = if pays { (mw, mwh) } else { (0.0, 0.0) };
        let usd = mwh * f(&appeal["credit_usd_per_mwh"]);
        shares.push(json!({ "id": appeal["id"], "kind": appeal["kind"], "accepted": state.accepted[i],
            "credited_mw": mw, "credit_usd": usd }));
        credit += usd;
    }
    (credit, shares)
}

fn use_stores(pack: &Value, (charged, discharged, diesel): (f64, f64, f64), state: &mut State) {
    let battery = &pack["site"]["battery"];
    if charged > 0.0 {
        state.soc += charged * f(&battery["round_trip_efficiency"]);
    } else if discharged > 0.0 {
        state.soc -= discharged;
    }
    state.soc = least(most(state.soc, 0.0), f(&battery["capacity_mwh"]));
    if diesel > 0.0 {
        state.permit_min -= pack["time"]["step_minutes"].as_i64().expect("minutes");
        state.generator_turns += 1;
    }
}

fn settle(pack: &Value, state: &State) -> Value {
    let [demand, served, import, charge, discharge, gas, energy, fuel, sla, credit] = state.totals;
    let mut metrics = Vec::new();
    let mut meets = [true; 3];
    for metric in pack["scoring"]["metrics"].as_array().expect("metrics") {
        let (numerator, denominator, better, of_nothing) = match metric["id"].as_str() {
            Some("cost_usd_per_mwh") => (state.ledger[0], demand, "lower", None),
            Some("relief_share") => (state.ledger[2], state.ledger[3], "higher", Some(1.0)),
            _ => (served, demand, "higher", None),
        };
        let value = if denominator == 0.0 { of_nothing } else { Some(numerator / denominator) };
        for (k, star) in meets.iter_mut().enumerate() {
            let goal = f(&metric["stars"][k]);
            *star &= value.is_some_and(|v| if better == "lower" { v <= goal } else { v >= goal });
        }
        metrics.push(json!({ "id": metric["id"], "value": value, "numerator": numerator, "denominator": denominator, "better": better }));
    }
    let stars = if !meets[0] {
        0
    } else if !meets[1] {
        1
    } else if !meets[2] {
        2
    } else {
        3
    };
    json!({
        "score_version": pack["score_version"], "metrics": metrics, "stars": stars, "ledger": ledger(state),
        "totals": { "demand_mwh": demand, "served_mwh": served, "import_mwh": import, "charge_mwh": charge,
            "discharge_mwh": discharge, "gas_mwh": gas, "energy_cost_usd": energy, "fuel_cost_usd": fuel,
            "sla_cost_usd": sla, "credit_usd": credit },
        "final_soc_mwh": state.soc, "generator_turns": state.generator_turns, "clamp_count": state.clamps,
    })
}
