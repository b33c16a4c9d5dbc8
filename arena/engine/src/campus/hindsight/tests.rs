//! Two other solvers' optima for the shipped packs, a pencil's for small ones, and a search over
//! every schedule of a coarse grid for random ones.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::campus::episode::Episode;

const SHIPPED: [(&str, &[u8]); 6] = [
    ("cap-to-floor", include_bytes!("../../../../../scenarios/cap-to-floor.json")),
    ("christmas-eve-alley", include_bytes!("../../../../../scenarios/christmas-eve-alley.json")),
    ("deep-freeze-appeal", include_bytes!("../../../../../scenarios/deep-freeze-appeal.json")),
    ("dunkelflaute", include_bytes!("../../../../../scenarios/dunkelflaute.json")),
    ("sunny-sunday", include_bytes!("../../../../../scenarios/sunny-sunday.json")),
    ("two-spikes", include_bytes!("../../../../../scenarios/two-spikes.json")),
];

fn shipped(name: &str) -> Arc<Pack> {
    let (_, bytes) = SHIPPED.into_iter().find(|(shipped, _)| *shipped == name).unwrap();
    Pack::parse(bytes).unwrap()
}

/// A pack of hourly turns: 10 MW, SLA 1 000, an empty 5 MWh battery of 5 MW that gives back half, no
/// generator, no events; `change` makes it something else.
fn small(prices: &[f64], change: impl FnOnce(&mut Value)) -> Arc<Pack> {
    let turns = prices.len();
    let mut pack = json!({
        "schema": "scenario-pack.v0", "pack_id": "small", "pack_version": "1", "name": "Small",
        "brief_md": "", "score_version": "1",
        "time": { "start_local": "2025-01-01T00:00:00+00:00", "turns": turns, "step_minutes": 60 },
        "site": {
            "it_demand_mw": vec![10.0; turns], "sla_usd_per_mwh": 1000.0,
            "battery": {
                "capacity_mwh": 5.0, "power_mw": 5.0, "round_trip_efficiency": 0.5, "initial_soc_mwh": 0.0
            },
            "generator": { "capacity_mw": 0.0, "fuel_usd_per_mwh": 50.0, "permit_hours": 0.0 },
        },
        "grid": { "price_usd_per_mwh": prices, "system_status": vec!["normal"; turns] },
        "events": [],
        "scoring": { "metrics": [
            { "id": "cost_usd_per_mwh", "stars": [3.0, 2.0, 1.0] },
            { "id": "relief_share", "stars": [0.5, 0.8, 0.95] },
        ]},
    });
    change(&mut pack);
    Pack::from_value(&pack).unwrap()
}

fn order(start: u32, end: u32, mw: f64) -> Value {
    let id = format!("order-{start}");
    json!({ "id": id, "kind": "curtailment_order", "start_turn": start, "end_turn": end, "requested_mw": mw })
}

fn appeal(start: u32, end: u32, credit: f64) -> Value {
    let id = format!("appeal-{start}-{end}");
    json!({
        "id": id, "kind": "conservation_appeal", "start_turn": start, "end_turn": end,
        "credit_usd_per_mwh": credit
    })
}

fn replay(pack: &Arc<Pack>, schedule: &[Action]) -> Settlement {
    let mut episode = Episode::new(Arc::clone(pack));
    for turn in 0..pack.turns() as usize {
        episode.commit(schedule.get(turn).copied().unwrap_or(Action::EMPTY));
    }
    episode.settle().unwrap()
}

/// A point is what the engine makes of its schedule.
#[track_caller]
fn check_confirmed(pack: &Arc<Pack>, point: &FrontierPoint) {
    let run = replay(pack, &point.schedule);
    let (cost, share) = schedule::metrics(&run);
    assert_eq!(cost, Some(point.cost_usd_per_mwh));
    assert_eq!(share, Some(point.delivered_share));
    assert_eq!(run.clamp_count, 0);
    assert!(point.delivered_share >= point.relief_share - SHARE_TOLERANCE, "{}", point.delivered_share);
    let open = point.cost_usd_per_mwh - point.bound_usd_per_mwh;
    assert!((0.0..=gap_usd_per_mwh(point.bound_usd_per_mwh)).contains(&open), "{open} is open");
}

#[track_caller]
fn check_optimum(pack: &Arc<Pack>, relief_share: f64, usd: f64) {
    let point = optimum(pack, relief_share).unwrap();
    check_confirmed(pack, &point);
    let demand_mwh = replay(pack, &[]).totals.demand_mwh;
    let found = point.cost_usd_per_mwh * demand_mwh;
    assert!((found - usd).abs() < 1e-3, "{found} usd, expected {usd}: {:?}", point.schedule);
}

#[test]
fn shipped_packs_have_the_optima_of_two_other_solvers() {
    for (name, bytes) in SHIPPED {
        let pack = Pack::parse(bytes).unwrap();
        let document: Value = serde_json::from_slice(bytes).unwrap();
        let reference = &document["x_reference"]["hindsight_cost_usd_per_mwh"];
        for (share, expected) in reference.as_object().unwrap() {
            let point = optimum(&pack, share.parse().unwrap()).unwrap();
            check_confirmed(&pack, &point);
            let off = (point.cost_usd_per_mwh - expected.as_f64().unwrap()).abs();
            // Their four decimals, and the thousandth that their tangents leave open.
            assert!(off < 1e-3, "{name} at {share}: {} is not {expected}", point.cost_usd_per_mwh);
        }
    }
}

#[test]
fn shipped_packs_keep_their_tension() {
    for (name, bytes) in SHIPPED {
        let tension = tension(&Pack::parse(bytes).unwrap()).unwrap();
        for requirement in tension.requirements() {
            assert!(requirement.holds(), "{name}: {requirement:?}");
        }
        let (_, obeyed) = tension.obey_only_metrics();
        assert!(obeyed.is_some_and(|share| share > 1.0 - SHARE_TOLERANCE), "{name}: {obeyed:?}");
    }
}

#[test]
fn a_pack_without_orders_has_no_tension() {
    let tension = tension(&small(&[10.0, 100.0], |_| {})).unwrap();
    let kept = tension.requirements().map(|requirement| requirement.holds());
    assert_eq!(kept, [false, false, false, true, true]);
    let nothing_to_save = self::tension(&small(&[10.0], |_| {})).unwrap();
    assert_eq!(nothing_to_save.requirements()[0].value, None);
    assert!(!nothing_to_save.requirements()[0].holds());
}

#[test]
fn energy_is_moved_to_where_it_is_dear() {
    // 5 MWh bought at 10 bring 2.5 MWh at 100.
    check_optimum(&small(&[10.0, 100.0], |_| {}), 0.0, 15.0 * 10.0 + 7.5 * 100.0);
    // Half is lost: not worth it.
    check_optimum(&small(&[60.0, 100.0], |_| {}), 0.0, 1_600.0);
}

#[test]
fn what_is_left_in_the_battery_has_no_value() {
    let full = |pack: &mut Value| pack["site"]["battery"]["initial_soc_mwh"] = json!(5.0);
    check_optimum(&small(&[20.0, 10.0], full), 0.0, 5.0 * 20.0 + 10.0 * 10.0);
}

#[test]
fn a_full_battery_cannot_charge_at_a_negative_price() {
    let full = |pack: &mut Value| pack["site"]["battery"]["initial_soc_mwh"] = json!(5.0);
    check_optimum(&small(&[-100.0], full), 0.0, -1_000.0);
    // Making room for the 2.5 MWh that 5 MW leave takes a turn of its own.
    check_optimum(&small(&[-10.0, -100.0], full), 0.0, -7.5 * 10.0 - 15.0 * 100.0);
}

#[test]
fn charging_and_discharging_at_once_is_ruled_out() {
    // A charge of 5 MW at -100 needs 1 MWh of room. Doing both at once would make it for nothing;
    // discharging forgoes 1 MW at -1.
    let nearly_full = |pack: &mut Value| {
        pack["site"]["battery"]["initial_soc_mwh"] = json!(2.5);
        pack["site"]["battery"]["capacity_mwh"] = json!(4.0);
    };
    check_optimum(&small(&[-1.0, -100.0], nearly_full), 0.0, -9.0 - 15.0 * 100.0);
}

#[test]
fn a_permit_is_used_up_by_whole_turns() {
    let generator = |hours: f64| {
        move |pack: &mut Value| {
            pack["site"]["generator"] =
                json!({ "capacity_mw": 4.0, "fuel_usd_per_mwh": 50.0, "permit_hours": hours });
            pack["site"]["battery"]["power_mw"] = json!(0.0);
        }
    };
    check_optimum(&small(&[80.0, 100.0, 90.0], generator(1.9)), 0.0, 2_700.0 - 4.0 * 50.0);
    check_optimum(&small(&[80.0, 100.0, 90.0], generator(2.0)), 0.0, 2_700.0 - 4.0 * (50.0 + 40.0));
    check_optimum(&small(&[80.0, 100.0, 90.0], generator(9.0)), 0.0, 2_700.0 - 4.0 * 120.0);
}

#[test]
fn relief_is_bought_where_it_is_cheapest() {
    let orders = |pack: &mut Value| {
        pack["events"] = json!([order(1, 2, 4.0)]);
        pack["site"]["sla_usd_per_mwh"] = json!(200.0);
    };
    let pack = small(&[50.0, 50.0], orders);
    check_optimum(&pack, 0.0, 1_000.0);
    // 2.5 MWh from the battery cost 5 at 50 and save 2.5 at 50; the last 1.5 MWh are shed at 200.
    check_optimum(&pack, 0.5, 1_000.0 + 2.0 * 50.0);
    check_optimum(&pack, 1.0, 1_000.0 + 2.5 * 50.0 + 1.5 * 150.0);
}

#[test]
fn nothing_is_charged_for_the_order_it_breaks() {
    // Full relief on turn 0 forbids the charge that half the relief, on turn 1, allows.
    let orders = |pack: &mut Value| {
        pack["events"] = json!([order(0, 2, 2.0)]);
        pack["site"]["sla_usd_per_mwh"] = json!(300.0);
    };
    let pack = small(&[10.0, 400.0], orders);
    check_optimum(&pack, 0.5, 15.0 * 10.0 + 7.5 * 400.0 - 7.5 * 100.0);
    check_optimum(&pack, 1.0, 8.0 * 10.0 + 2.0 * 300.0 + 10.0 * 300.0);
}

#[test]
fn an_appeal_pays_beyond_what_orders_ask() {
    let events = |pack: &mut Value| {
        pack["events"] = json!([order(0, 1, 4.0), appeal(0, 1, 1_000.0), appeal(0, 1, 1_200.0)]);
        pack["events"][2]["id"] = json!("better");
        pack["site"]["sla_usd_per_mwh"] = json!(700.0);
    };
    // 10 MW are shed at 700, and the 6 that nobody asked for earn 1 200, once.
    check_optimum(&small(&[50.0], events), 0.0, 10.0 * 700.0 - 6.0 * 1_200.0);
    let small_credit = |pack: &mut Value| {
        events(pack);
        pack["events"][2]["credit_usd_per_mwh"] = json!(900.0);
    };
    check_optimum(&small(&[50.0], small_credit), 0.0, 500.0);
    // With the order met, the 6 beyond it are worth 1 000.
    check_optimum(&small(&[50.0], small_credit), 1.0, 10.0 * 700.0 - 6.0 * 1_000.0);
}

#[test]
fn an_appeal_that_charges_is_accepted_only_with_one_that_pays_more() {
    let events = |pay: f64| {
        move |pack: &mut Value| {
            // The one that pays cannot be accepted without the one that charges.
            pack["events"] = json!([appeal(0, 2, -80.0), appeal(0, 1, pay)]);
            pack["site"]["sla_usd_per_mwh"] = json!(100.0);
            pack["site"]["battery"]["power_mw"] = json!(0.0);
        }
    };
    // Accepted, turn 0 sheds at 100 and earns; turn 1 would save 50 by shedding, and be charged 80.
    check_optimum(&small(&[50.0, 150.0], events(120.0)), 0.0, 10.0 * (100.0 - 120.0) + 10.0 * 150.0);
    // Refused, turn 0 idles at 50 and turn 1 sheds at 100.
    check_optimum(&small(&[50.0, 150.0], events(90.0)), 0.0, 10.0 * 50.0 + 10.0 * 100.0);
}

#[test]
fn a_slope_makes_import_dearer_the_more_is_drawn() {
    let slope = |pack: &mut Value| {
        pack["grid"]["price_slope_usd_per_mwh_per_mw"] = json!([10.0]);
        pack["site"]["sla_usd_per_mwh"] = json!(20.0);
    };
    // c MW shed: (10 - c) * (100 - 10 * c) + 20 * c, least at c = 9.
    check_optimum(&small(&[100.0], slope), 0.0, 10.0 + 180.0);
}

#[test]
fn a_frontier_never_falls_and_reaches_every_share() {
    let pack = shipped("two-spikes");
    let mut told = Vec::new();
    let frontier = frontier(&pack, &mut |done, of| told.push((done, of))).unwrap();
    assert_eq!(told, (1..=21).map(|done| (done, 21)).collect::<Vec<_>>());
    assert_eq!(frontier.points.len(), 21);
    for (step, point) in (0u32..).zip(&frontier.points) {
        assert_eq!(point.relief_share, f64::from(step) / 20.0);
        check_confirmed(&pack, point);
    }
    for pair in frontier.points.windows(2) {
        assert!(pair[0].cost_usd_per_mwh <= pair[1].cost_usd_per_mwh);
        assert!(pair[0].bound_usd_per_mwh <= pair[1].bound_usd_per_mwh);
    }
    let again = super::frontier(&pack, &mut |_, _| {}).unwrap();
    assert_eq!(frontier, again);
}

#[test]
fn closeness_is_measured_against_the_share_that_was_delivered() {
    let pack = shipped("deep-freeze-appeal");
    let frontier = frontier(&pack, &mut |_, _| {}).unwrap();
    assert_eq!(frontier.closeness(&replay(&pack, &[])), Some(0.0));
    for point in &frontier.points {
        let close = frontier.closeness(&replay(&pack, &point.schedule)).unwrap();
        assert!((close - 1.0).abs() < 1e-6 && close <= 1.0, "{close}");
    }
    // Full relief and nothing else costs more than doing nothing.
    assert!(frontier.closeness(&obey_only(&pack)).unwrap() < 0.0);
    let at = |share| frontier.at(share).unwrap().relief_share;
    assert_eq!([at(0.0), at(0.949), at(0.95 - 1e-12), at(1.0)], [0.0, 0.9, 0.95, 1.0]);
}

#[test]
fn closeness_has_no_value_where_nothing_can_be_saved() {
    let pack = small(&[50.0], |pack| pack["events"] = json!([order(0, 1, 4.0)]));
    let frontier = frontier(&pack, &mut |_, _| {}).unwrap();
    assert_eq!(frontier.closeness(&replay(&pack, &[])), None);
    let idle = small(&[50.0], |pack| pack["site"]["it_demand_mw"] = json!([0.0]));
    assert_eq!(frontier.closeness(&replay(&idle, &[])), None);
}

#[test]
fn what_is_not_offered_is_refused_by_name() {
    let refused = |pack: Arc<Pack>| optimum(&pack, 0.5).unwrap_err();
    let slope = |pack: &mut Value| pack["grid"]["price_slope_usd_per_mwh_per_mw"] = json!([0.0, -0.1]);
    assert_eq!(refused(small(&[1.0, 1.0], slope)), HindsightError::NegativeSlope { turn: 1 });
    let idle = |pack: &mut Value| pack["site"]["it_demand_mw"] = json!([0.0]);
    assert_eq!(refused(small(&[1.0], idle)), HindsightError::NoDemand);
    assert_eq!(refused(small(&[1.0; 301], |_| {})), HindsightError::TooManyTurns { turns: 301 });
    let knot = |pack: &mut Value| {
        pack["events"] = (0..4).flat_map(|t| [appeal(t, t + 2, -1.0), appeal(t, t + 3, 1.0)]).collect();
    };
    assert_eq!(refused(small(&[1.0; 8], knot)), HindsightError::TooManyAcceptances { questions: 5 });
    for share in [-0.1, 1.1, f64::NAN] {
        let error = optimum(&small(&[1.0], |_| {}), share).unwrap_err();
        assert!(matches!(error, HindsightError::NotAShare(_)));
    }
}

/// SplitMix64, so that a seed means the same pack for ever.
struct Luck(u64);

impl Luck {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.draw() % from.len() as u64) as usize]
    }

    fn event(&mut self, index: usize) -> Value {
        let start = self.pick(&[0, 0, 1, 2]);
        let end = start + self.pick(&[1, 2, 3]);
        let mut event = match self.draw() % 2 {
            0 => order(start, end, self.pick(&[5.0, 20.0, 45.0, 100.0])),
            _ => appeal(start, end, self.pick(&[-150.0, 0.0, 80.0, 400.0, 900.0])),
        };
        event["id"] = json!(format!("event-{index}"));
        event
    }

    /// Three turns of half an hour with everything the rules know.
    fn pack(&mut self) -> Arc<Pack> {
        let prices: Vec<f64> = (0..3).map(|_| self.pick(&[-120.0, -5.0, 0.0, 40.0, 90.0, 800.0])).collect();
        small(&prices, |pack| {
            pack["time"]["step_minutes"] = json!(30);
            let demand: Vec<f64> = (0..3).map(|_| self.pick(&[0.0, 30.0, 60.0, 60.0])).collect();
            pack["site"]["it_demand_mw"] = json!(demand);
            pack["site"]["sla_usd_per_mwh"] = self.pick(&[-10.0, 60.0, 300.0, 1000.0]).into();
            let capacity_mwh = self.pick(&[0.0, 10.0, 30.0]);
            pack["site"]["battery"] = json!({
                "capacity_mwh": capacity_mwh, "power_mw": self.pick(&[10.0, 20.0, 40.0]),
                "round_trip_efficiency": self.pick(&[0.5, 0.8, 1.0]),
                "initial_soc_mwh": capacity_mwh * self.pick(&[0.0, 0.5, 1.0]),
            });
            pack["site"]["generator"] = json!({
                "capacity_mw": self.pick(&[0.0, 20.0, 80.0]), "fuel_usd_per_mwh": self.pick(&[-20.0, 50.0, 120.0]),
                "permit_hours": self.pick(&[0.0, 0.5, 1.0, 4.0]),
            });
            if self.draw().is_multiple_of(3) {
                let slope: Vec<f64> = (0..3).map(|_| self.pick(&[0.0, 0.5, 2.0])).collect();
                pack["grid"]["price_slope_usd_per_mwh_per_mw"] = json!(slope);
            }
            let events = self.pick(&[0, 1, 2, 3]);
            pack["events"] = (0..events).map(|index| self.event(index)).collect();
        })
    }
}

/// Cost per MWh and relief share of every schedule of a coarse grid.
fn every_schedule(episode: &Episode, found: &mut Vec<(f64, f64)>) {
    let Some(seen) = episode.observe() else {
        if let (Some(cost), Some(share)) = schedule::metrics(&episode.settle().unwrap()) {
            found.push((cost, share));
        }
        return;
    };
    let demand = seen.it_demand_mw();
    let curtail = [0.0, 0.25 * demand, demand];
    let battery = [-100.0, -20.0, 0.0, 10.0, 100.0];
    let mut tried: Vec<Action> = Vec::new();
    for (curtail_mw, battery_mw) in curtail.iter().flat_map(|c| battery.map(|b| (*c, b))) {
        for (diesel_mw, accept_offer) in [(0.0, true), (0.0, false), (100.0, true), (100.0, false)] {
            let mut after = episode.clone();
            let applied = after.commit(Action { curtail_mw, battery_mw, diesel_mw, accept_offer }).applied;
            if !tried.contains(&applied) {
                tried.push(applied);
                every_schedule(&after, found);
            }
        }
    }
}

#[test]
fn no_schedule_of_a_grid_beats_the_optimum() {
    for seed in 0..40 {
        let pack = Luck(seed).pack();
        let mut found = Vec::new();
        every_schedule(&Episode::new(Arc::clone(&pack)), &mut found);
        for relief_share in [0.0, 0.4, 1.0] {
            let point = match optimum(&pack, relief_share) {
                Err(HindsightError::NoDemand) => continue,
                found => found.unwrap_or_else(|error| panic!("seed {seed} at {relief_share}: {error}")),
            };
            check_confirmed(&pack, &point);
            let rivals = found.iter().filter(|(_, share)| *share >= relief_share);
            let best = rivals.map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
            let bound = point.bound_usd_per_mwh;
            assert!(best >= bound - 1e-6, "seed {seed} at {relief_share}: {best} is below {bound}");
        }
    }
}
