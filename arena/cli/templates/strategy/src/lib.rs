//! Serves what the grid orders, trades on the prices it can see, and takes every offer.
//!
//! A start to build on: it looks no further than the forecast, and saves nothing for orders to come.

use arena_sdk::campus::{Action, Brief, MetricId, Observation, Strategy};

/// The strategy. Its fields are its memory, from turn to turn.
pub struct MyStrategy {
    /// Share of the ordered relief that is worth shedding load for.
    relief_share: f64,
}

impl Strategy for MyStrategy {
    /// Before turn 0: everything that stays the same, units in the names.
    fn brief(brief: &Brief) -> Self {
        arena_sdk::info!(
            "playing {}, {} turns of {} min",
            brief.name,
            brief.turns,
            brief.step_minutes
        );
        let relief = brief.metric(MetricId::ReliefShare);
        MyStrategy {
            relief_share: relief.map_or(0.0, |metric| metric.three_stars),
        }
    }

    /// Once a turn. What is asked beyond a limit is cut to it, so nothing here can fail.
    fn act(&mut self, seen: &Observation) -> Action {
        let battery_mw = battery_mw(seen);
        let diesel_mw = diesel_mw(seen, battery_mw);
        let curtail_mw = self.curtail_mw(seen, battery_mw.max(0.0) + diesel_mw);
        // An offer pays for what is saved anyway, and asks for nothing.
        Action {
            curtail_mw,
            battery_mw,
            diesel_mw,
            accept_offer: seen.has_offer(),
        }
    }
}

arena_sdk::export_campus!(MyStrategy);

impl MyStrategy {
    /// Sheds what an order still lacks while the stars ask for it, and everything while power costs
    /// more than shedding.
    fn curtail_mw(&self, seen: &Observation, served_mw: f64) -> f64 {
        let ledger = &seen.ledger;
        if seen.price_usd_per_mwh > seen.brief.sla_usd_per_mwh {
            seen.site.it_demand_mw - served_mw
        } else if ledger.relief_delivered_mwh < self.relief_share * ledger.relief_asked_mwh {
            (seen.order_mw() - served_mw).max(0.0)
        } else {
            0.0
        }
    }
}

/// Above zero discharges, below zero charges.
fn battery_mw(seen: &Observation) -> f64 {
    let price = seen.price_usd_per_mwh;
    let dearest = ahead(seen).fold(f64::NEG_INFINITY, f64::max);
    if seen.order_mw() > 0.0 {
        seen.max_discharge_mw().min(seen.order_mw())
    } else if price < dearest * seen.brief.battery.round_trip_efficiency {
        // A part of what is bought is lost, so the price must rise by more than that.
        -seen.max_charge_mw()
    } else if price >= dearest {
        seen.max_discharge_mw()
    } else {
        0.0
    }
}

/// The permit covers a few turns only: gas is for orders, and for the dearest turns in sight.
fn diesel_mw(seen: &Observation, battery_mw: f64) -> f64 {
    let price = seen.price_usd_per_mwh;
    let is_dearest = ahead(seen).all(|later| price >= later);
    if is_dearest && price > seen.brief.generator.fuel_usd_per_mwh {
        seen.max_diesel_mw()
    } else {
        (seen.order_mw() - battery_mw.max(0.0))
            .max(0.0)
            .min(seen.max_diesel_mw())
    }
}

/// Prices of the turns ahead, which always come true.
fn ahead(seen: &Observation) -> impl Iterator<Item = f64> {
    seen.forecast.iter().map(|turn| turn.price_usd_per_mwh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::Ledger;
    use arena_sdk::campus::testing::{self, TurnBuilder};

    fn act(turn: TurnBuilder) -> Action {
        let seen = turn.build();
        MyStrategy::brief(&seen.brief).act(&seen)
    }

    #[test]
    fn charges_before_a_peak_and_discharges_on_it() {
        let turn = || testing::turn(&testing::brief(), 5);
        assert_eq!(
            act(turn().price(50.0).forecast([60.0, 90.0, 70.0])).battery_mw,
            -20.0
        );
        assert_eq!(
            act(turn().price(80.0).forecast([60.0, 90.0, 70.0])).battery_mw,
            0.0
        );
        assert_eq!(
            act(turn().price(90.0).forecast([60.0, 90.0, 70.0])).battery_mw,
            20.0
        );
    }

    #[test]
    fn serves_an_order_from_the_battery_then_with_gas() {
        let ordered = |mw| {
            act(testing::turn(&testing::brief(), 5)
                .price(50.0)
                .order(5..8, mw))
        };
        let served = |mw| [ordered(mw).battery_mw, ordered(mw).diesel_mw];
        assert_eq!(served(12.0), [12.0, 0.0]);
        assert_eq!(served(30.0), [20.0, 10.0]);
        assert_eq!(served(40.0), [20.0, 15.0]);
    }

    #[test]
    fn sheds_what_an_order_lacks_only_while_relief_is_short_of_the_stars() {
        let ordered = |relief_delivered_mwh| {
            let ledger = Ledger {
                relief_asked_mwh: 100.0,
                relief_delivered_mwh,
                ..Ledger::default()
            };
            act(testing::turn(&testing::brief(), 5)
                .price(50.0)
                .order(5..8, 40.0)
                .ledger(ledger))
        };
        assert_eq!(ordered(90.0).curtail_mw, 5.0);
        assert_eq!(ordered(95.0).curtail_mw, 0.0);
    }

    #[test]
    fn sheds_everything_that_is_left_while_power_costs_more_than_shedding() {
        let action = act(testing::turn(&testing::brief(), 5).price(1_500.0));
        assert_eq!(
            [action.battery_mw, action.diesel_mw, action.curtail_mw],
            [20.0, 15.0, 15.0]
        );
    }

    #[test]
    fn takes_an_offer_while_there_is_one() {
        assert!(act(testing::turn(&testing::brief(), 5).appeal(4..7, 300.0)).accept_offer);
        assert!(!act(testing::turn(&testing::brief(), 5)).accept_offer);
    }
}
