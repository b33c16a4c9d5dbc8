//! Shaves peaks with the battery and uses nothing else.

use arena_sdk::campus::{Action, Brief, Observation, Strategy};

/// Knows the mean of every price it has been told, forecasts included.
pub struct PeakShaver {
    sum_usd_per_mwh: f64,
    prices: u32,
}

impl PeakShaver {
    fn learn(&mut self, price_usd_per_mwh: f64) {
        self.sum_usd_per_mwh += price_usd_per_mwh;
        self.prices += 1;
    }

    fn mean_usd_per_mwh(&self) -> f64 {
        self.sum_usd_per_mwh / f64::from(self.prices)
    }
}

impl Strategy for PeakShaver {
    fn brief(_brief: &Brief) -> Self {
        PeakShaver { sum_usd_per_mwh: 0.0, prices: 0 }
    }

    fn act(&mut self, seen: &Observation) -> Action {
        // Each turn's price is learnt once: the first turns all at the start, then the furthest ahead.
        if seen.turn == 0 {
            self.learn(seen.price_usd_per_mwh);
            seen.forecast.iter().for_each(|ahead| self.learn(ahead.price_usd_per_mwh));
        } else if let Some(furthest) = seen.forecast.get(2) {
            self.learn(furthest.price_usd_per_mwh);
        }

        let mean = self.mean_usd_per_mwh();
        let battery_mw = if seen.price_usd_per_mwh > mean {
            seen.max_discharge_mw()
        } else if seen.price_usd_per_mwh < mean * seen.brief.battery.round_trip_efficiency {
            -seen.max_charge_mw()
        } else {
            0.0
        };
        Action { battery_mw, ..Action::default() }
    }
}

arena_sdk::export_campus!(PeakShaver);

#[cfg(test)]
mod tests {
    use super::*;
    use arena_sdk::campus::testing;

    #[test]
    fn buys_below_the_mean_and_serves_load_above_it() {
        let brief = testing::brief();
        let mut shaver = PeakShaver::brief(&brief);
        let mut act = |turn, price, forecast| {
            shaver.act(&testing::turn(&brief, turn).price(price).forecast(forecast).build()).battery_mw
        };
        assert_eq!(act(0, 10.0, [10.0, 40.0, 40.0]), -20.0, "the mean is 25");
        assert_eq!(act(1, 10.0, [40.0, 40.0, 25.0]), -20.0);
        assert_eq!(act(2, 40.0, [40.0, 25.0, 25.0]), 20.0);
        assert_eq!(act(4, 25.0, [25.0, 25.0, 25.0]), 0.0, "losses would eat the difference");
    }
}
