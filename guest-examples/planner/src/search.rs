//! Dynamic programming over the turns in sight: from the last one back, the least that each state of
//! charge can still cost, by trying a handful of moves.

use arena_sdk::campus::{Action, Battery, Generator, Observation};

use crate::outlook::{Outlook, Turn};
use crate::stores;

/// States of charge that are worked out on each turn.
const LEVELS: usize = 9;

/// The cheapest action now, everything in sight considered.
pub(crate) fn best_action(seen: &Observation) -> Action {
    let outlook = Outlook::of(seen);
    let site = Site {
        hours: seen.brief.turn_hours(),
        sla_usd_per_mwh: seen.brief.sla_usd_per_mwh,
        battery: seen.brief.battery,
        generator: seen.brief.generator,
        generator_turn_usd: stores::generator_turn_usd(seen, &outlook),
    };
    let stored = stores::stored_energy(seen, &outlook);

    let (now, ahead) = outlook.near.split_first().expect("this turn is in sight");
    let mut after =
        Costs::of(&site, seen.site.soc_mwh, outlook.near.len(), |soc_mwh| -stored.total_usd(soc_mwh));
    for turn in ahead.iter().rev() {
        after = after.map(|soc_mwh| site.best(turn, soc_mwh, &after).usd);
    }
    within_load(now.demand_mw, site.best(now, seen.site.soc_mwh, &after).action)
}

/// Cuts what serves load to the load that is left, term by term as the rules do, so that no rounding
/// comes back as a clamp.
fn within_load(demand_mw: f64, action: Action) -> Action {
    let battery_mw = action.battery_mw.min(demand_mw - action.curtail_mw);
    let left_mw = (demand_mw - action.curtail_mw - battery_mw.max(0.0)).max(0.0);
    Action { battery_mw, diesel_mw: action.diesel_mw.min(left_mw), ..action }
}

/// The least cost from some turn on, by the state of charge it begins with; straight lines in between.
struct Costs {
    lowest_soc_mwh: f64,
    step_mwh: f64,
    usd: [f64; LEVELS],
}

impl Costs {
    /// Spans what the battery can reach from `soc_mwh` within `turns`.
    fn of(site: &Site, soc_mwh: f64, turns: usize, usd: impl Fn(f64) -> f64) -> Self {
        let reach_mwh = site.battery.power_mw * site.hours * turns as f64;
        let lowest_soc_mwh = (soc_mwh - reach_mwh).max(0.0);
        let highest_soc_mwh = (soc_mwh + reach_mwh).min(site.battery.capacity_mwh);
        let step_mwh = (highest_soc_mwh - lowest_soc_mwh) / (LEVELS - 1) as f64;
        Self { lowest_soc_mwh, step_mwh, usd: [0.0; LEVELS] }.map(usd)
    }

    fn map(&self, usd: impl Fn(f64) -> f64) -> Self {
        let level = |index| usd(self.lowest_soc_mwh + self.step_mwh * index as f64);
        Self { usd: std::array::from_fn(level), ..*self }
    }

    fn usd(&self, soc_mwh: f64) -> f64 {
        if self.step_mwh <= 0.0 {
            return self.usd[0];
        }
        let place = ((soc_mwh - self.lowest_soc_mwh) / self.step_mwh).max(0.0);
        let below = (place as usize).min(LEVELS - 2);
        let above = (place - below as f64).min(1.0);
        self.usd[below] * (1.0 - above) + self.usd[below + 1] * above
    }
}

/// What does not change from turn to turn.
struct Site {
    hours: f64,
    sla_usd_per_mwh: f64,
    battery: Battery,
    generator: Generator,
    generator_turn_usd: Option<f64>,
}

/// A way to play a turn, with what it and the turns after it cost.
struct Move {
    usd: f64,
    action: Action,
}

impl Site {
    fn best(&self, turn: &Turn, soc_mwh: f64, after: &Costs) -> Move {
        let mut best = Move { usd: f64::INFINITY, action: Action::default() };
        let mut consider = |battery_mw, diesel_mw| {
            let found = self.play(turn, soc_mwh, battery_mw, diesel_mw, after);
            if found.usd < best.usd {
                best = found;
            }
        };
        let stored_mw = soc_mwh / self.hours;
        let discharge_mw = self.battery.power_mw.min(stored_mw).min(turn.demand_mw).max(0.0);
        let room_mwh = self.battery.capacity_mwh - soc_mwh;
        let filling_mw = room_mwh / (self.battery.round_trip_efficiency * self.hours);
        let charge_mw = self.battery.power_mw.min(filling_mw).max(0.0);

        // The last two serve what is due exactly: alone, and beside the generator.
        let due_alone_mw = turn.due_mw.min(discharge_mw);
        let due_beside_mw = (turn.due_mw - self.generator.capacity_mw).max(0.0).min(discharge_mw);
        let (half_out_mw, half_in_mw) = (discharge_mw / 2.0, charge_mw / 2.0);
        let moves = [0.0, discharge_mw, half_out_mw, -charge_mw, -half_in_mw, due_alone_mw, due_beside_mw];
        let worth_trying = if turn.due_mw > 0.0 { 7 } else { 5 };
        for &battery_mw in &moves[..worth_trying] {
            consider(battery_mw, 0.0);
            if self.generator_turn_usd.is_some() {
                consider(battery_mw, self.generator.capacity_mw);
            }
        }
        best
    }

    /// Costs a turn played so, with load shed where that is due or cheaper than serving it. The campus is
    /// taken not to move the price, which is not quite so in packs with a slope.
    fn play(&self, turn: &Turn, soc_mwh: f64, battery_mw: f64, diesel_mw: f64, after: &Costs) -> Move {
        let (discharge_mw, charge_mw) = (battery_mw.max(0.0), (-battery_mw).max(0.0));
        let diesel_mw = diesel_mw.min(turn.demand_mw - discharge_mw).max(0.0);
        let unserved_mw = (turn.demand_mw - discharge_mw - diesel_mw).max(0.0);
        let curtail_mw = if turn.price_usd_per_mwh + turn.credit_usd_per_mwh > self.sla_usd_per_mwh {
            unserved_mw
        } else if turn.due_mw > 0.0 {
            (turn.due_mw + charge_mw - discharge_mw - diesel_mw).max(0.0).min(unserved_mw)
        } else {
            0.0
        };
        let import_mw = unserved_mw - curtail_mw + charge_mw;
        let reduction_mw = (turn.demand_mw - import_mw).max(0.0);

        let energy = import_mw * turn.price_usd_per_mwh + diesel_mw * self.generator.fuel_usd_per_mwh;
        let shedding = (curtail_mw + (turn.due_mw - reduction_mw).max(0.0)) * self.sla_usd_per_mwh;
        let credit = (reduction_mw - turn.ordered_mw).max(0.0) * turn.credit_usd_per_mwh;
        let permit = if diesel_mw > 0.0 { self.generator_turn_usd.unwrap_or(0.0) } else { 0.0 };
        let stored_mw = charge_mw * self.battery.round_trip_efficiency - discharge_mw;
        let later = after.usd(soc_mwh + stored_mw * self.hours);
        Move {
            usd: (energy + shedding - credit) * self.hours + permit + later,
            action: Action { curtail_mw, battery_mw, diesel_mw, accept_offer: false },
        }
    }
}
