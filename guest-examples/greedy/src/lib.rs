//! Takes what the price, the forecast and the orders offer now, and keeps nothing for later.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Meets orders with whatever is cheapest at hand, and trades on the three turns it can see.
pub struct Greedy;

impl Strategy for Greedy {
    fn brief(_brief: &Brief) -> Self {
        Greedy
    }

    fn act(&mut self, seen: &Observation) -> Action {
        let battery_mw = battery_mw(seen);
        let diesel_mw = diesel_mw(seen, battery_mw);
        let curtail_mw = curtail_mw(seen, battery_mw + diesel_mw);
        Action { curtail_mw, battery_mw, diesel_mw, accept_offer: seen.has_offer() }
    }
}

arena_sdk::export_campus!(Greedy);

/// Serves orders first, then sells on the dearest turn in sight, and buys what can be sold dearer.
fn battery_mw(seen: &Observation) -> f64 {
    let order_mw = seen.order_mw();
    let dearest = dearest_ahead_usd_per_mwh(seen);
    let kept = seen.brief.battery.round_trip_efficiency;
    if order_mw > 0.0 {
        seen.max_discharge_mw().min(order_mw)
    } else if seen.price_usd_per_mwh < dearest * kept {
        -seen.max_charge_mw()
    } else if seen.price_usd_per_mwh >= dearest {
        seen.max_discharge_mw()
    } else {
        0.0
    }
}

/// Runs when gas is cheaper than the grid or than shedding what is ordered.
fn diesel_mw(seen: &Observation, battery_mw: f64) -> f64 {
    let fuel = seen.brief.generator.fuel_usd_per_mwh;
    if seen.price_usd_per_mwh > fuel && seen.price_usd_per_mwh >= dearest_ahead_usd_per_mwh(seen) {
        return seen.max_diesel_mw();
    }
    (seen.order_mw() - battery_mw.max(0.0)).max(0.0).min(seen.max_diesel_mw())
}

/// Sheds what is still missing from an order, or everything while power costs more than shedding.
fn curtail_mw(seen: &Observation, served_mw: f64) -> f64 {
    let avoided = seen.price_usd_per_mwh + seen.credit_usd_per_mwh_on(seen.turn);
    let wanted_mw =
        if avoided > seen.brief.sla_usd_per_mwh { seen.site.it_demand_mw } else { seen.order_mw() };
    (wanted_mw - served_mw.max(0.0)).max(0.0)
}

fn dearest_ahead_usd_per_mwh(seen: &Observation) -> f64 {
    seen.forecast.iter().map(|ahead| ahead.price_usd_per_mwh).fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::testing::{self, TurnBuilder};

    fn act(turn: TurnBuilder) -> Action {
        let seen = turn.build();
        Greedy::brief(&seen.brief).act(&seen)
    }

    #[test]
    fn buys_before_a_peak_and_sells_on_it() {
        let turn = || testing::turn(&testing::brief(), 5);
        assert_eq!(act(turn().price(50.0).forecast([60.0, 90.0, 70.0])).battery_mw, -20.0);
        assert_eq!(act(turn().price(80.0).forecast([60.0, 90.0, 70.0])).battery_mw, 0.0);
        assert_eq!(act(turn().price(90.0).forecast([60.0, 90.0, 70.0])).battery_mw, 20.0);
    }

    #[test]
    fn serves_an_order_with_battery_then_gas_then_shedding() {
        let ordered = |mw| act(testing::turn(&testing::brief(), 5).price(50.0).order(5..8, mw));
        let served = |mw| {
            let Action { battery_mw, diesel_mw, curtail_mw, .. } = ordered(mw);
            [battery_mw, diesel_mw, curtail_mw]
        };
        assert_eq!(served(12.0), [12.0, 0.0, 0.0]);
        assert_eq!(served(30.0), [20.0, 10.0, 0.0]);
        assert_eq!(served(40.0), [20.0, 15.0, 5.0]);
    }

    #[test]
    fn sheds_everything_when_power_is_dearer_than_the_sla() {
        let action = act(testing::turn(&testing::brief(), 5).price(1_500.0).permit_hours(0.0).soc(0.0));
        assert_eq!(action.curtail_mw, 50.0);
    }
}
