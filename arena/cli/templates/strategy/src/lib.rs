//! Serves what the grid orders, trades on the prices it can see, and takes every offer.
//!
//! A start to build on: it looks no further than the forecast, and keeps nothing for orders to come.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// The strategy. Fields of it would be its memory, from turn to turn.
pub struct MyStrategy;

impl Strategy for MyStrategy {
    /// Before turn 0: everything that stays the same, units in the names.
    fn brief(brief: &Brief) -> Self {
        arena_sdk::info!("playing {}, {} turns of {} min", brief.name, brief.turns, brief.step_minutes);
        MyStrategy
    }

    /// Once a turn. What is asked beyond a limit is cut to it, so nothing here can fail.
    fn act(&mut self, seen: &Observation) -> Action {
        let order_mw = seen.order_mw();
        let battery_mw = battery_mw(seen, order_mw);
        let missing_mw = (order_mw - battery_mw.max(0.0)).max(0.0);
        let diesel_mw = if is_worth_gas(seen) { seen.max_diesel_mw() } else { missing_mw };
        // Shedding load is the dearest way to serve an order, so it is the last.
        let curtail_mw = (missing_mw - diesel_mw.min(seen.max_diesel_mw())).max(0.0);
        // An offer pays for what is saved anyway, and asks for nothing.
        Action { curtail_mw, battery_mw, diesel_mw, accept_offer: seen.has_offer() }
    }
}

arena_sdk::export_campus!(MyStrategy);

/// Above zero discharges, below zero charges.
fn battery_mw(seen: &Observation, order_mw: f64) -> f64 {
    let dearest = ahead(seen).fold(f64::NEG_INFINITY, f64::max);
    // Only a part of what is bought can be used later, so a price must rise by more than is lost.
    let worth_later = dearest * seen.brief.battery.round_trip_efficiency;
    if order_mw > 0.0 {
        seen.max_discharge_mw().min(order_mw)
    } else if seen.price_usd_per_mwh < worth_later {
        -seen.max_charge_mw()
    } else if seen.price_usd_per_mwh >= dearest {
        seen.max_discharge_mw()
    } else {
        0.0
    }
}

/// The permit covers a few turns only, so gas is for those that are dearest as far as one can see.
fn is_worth_gas(seen: &Observation) -> bool {
    let price = seen.price_usd_per_mwh;
    price > seen.brief.generator.fuel_usd_per_mwh && ahead(seen).all(|later| price >= later)
}

/// Prices of the turns ahead, which always come true.
fn ahead(seen: &Observation) -> impl Iterator<Item = f64> {
    seen.forecast.iter().map(|turn| turn.price_usd_per_mwh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::testing::{self, TurnBuilder};

    fn act(turn: TurnBuilder) -> Action {
        let seen = turn.build();
        MyStrategy::brief(&seen.brief).act(&seen)
    }

    #[test]
    fn charges_before_a_peak_and_discharges_on_it() {
        let turn = || testing::turn(&testing::brief(), 5);
        assert_eq!(act(turn().price(50.0).forecast([60.0, 90.0, 70.0])).battery_mw, -20.0);
        assert_eq!(act(turn().price(80.0).forecast([60.0, 90.0, 70.0])).battery_mw, 0.0);
        assert_eq!(act(turn().price(90.0).forecast([60.0, 90.0, 70.0])).battery_mw, 20.0);
    }

    #[test]
    fn serves_an_order_from_the_battery_then_with_gas_then_by_shedding() {
        let ordered = |mw| act(testing::turn(&testing::brief(), 5).price(50.0).order(5..8, mw));
        let served = |mw| [ordered(mw).battery_mw, ordered(mw).diesel_mw, ordered(mw).curtail_mw];
        assert_eq!(served(12.0), [12.0, 0.0, 0.0]);
        assert_eq!(served(30.0), [20.0, 10.0, 0.0]);
        assert_eq!(served(40.0), [20.0, 20.0, 5.0]);
    }

    #[test]
    fn takes_an_offer_while_there_is_one() {
        assert!(act(testing::turn(&testing::brief(), 5).appeal(4..7, 300.0)).accept_offer);
        assert!(!act(testing::turn(&testing::brief(), 5)).accept_offer);
    }
}
