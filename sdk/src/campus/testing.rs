//! Briefs and observations by hand, so that a strategy can be tested natively, with `cargo test`.
//!
//! ```
//! use arena_sdk::campus::{Action, Brief, Observation, Strategy, testing};
//!
//! struct Obey;
//!
//! impl Strategy for Obey {
//!     fn brief(_brief: &Brief) -> Self {
//!         Obey
//!     }
//!     fn act(&mut self, seen: &Observation) -> Action {
//!         Action { curtail_mw: seen.order_mw(), ..Action::default() }
//!     }
//! }
//!
//! let brief = Brief { step_minutes: 15, ..testing::brief() };
//! let seen = testing::turn(&brief, 9).price(410.0).order(8..12, 20.0).build();
//! let action = Obey::brief(&brief).act(&seen);
//! assert_eq!(action.curtail_mw, 20.0);
//! ```
//!
//! What a strategy logs is kept for [`log::take`](crate::log::take).

use std::ops::Range;

use super::{
    Battery, Brief, Clamp, Event, EventKind, Forecast, Generator, Ledger, Limits, Metric, MetricId,
    Observation, SystemStatus,
};

/// A plain campus: 24 turns of an hour, a battery of 40 MWh and 20 MW that is half full, a generator of
/// 15 MW with four permit hours, an SLA price of 1 000 usd per MWh and no price slope. Change what
/// matters: `Brief { step_minutes: 15, ..testing::brief() }`.
pub fn brief() -> Brief {
    Brief {
        pack_id: "by-hand".to_owned(),
        pack_version: "0.1.0".to_owned(),
        name: "By hand".to_owned(),
        brief_md: String::new(),
        start_local: "2024-01-15T00:00:00+00:00".to_owned(),
        turns: 24,
        step_minutes: 60,
        battery: Battery {
            capacity_mwh: 40.0,
            power_mw: 20.0,
            round_trip_efficiency: 0.85,
            initial_soc_mwh: 20.0,
        },
        generator: Generator { capacity_mw: 15.0, fuel_usd_per_mwh: 120.0, permit_hours: 4.0 },
        sla_usd_per_mwh: 1_000.0,
        has_price_slope: false,
        first_metric: Metric {
            id: MetricId::CostUsdPerMwh,
            one_star: 100.0,
            two_stars: 80.0,
            three_stars: 60.0,
        },
        second_metric: Metric { id: MetricId::ReliefShare, one_star: 0.5, two_stars: 0.8, three_stars: 0.95 },
        engine_version: "1".to_owned(),
        score_version: "cost-relief.v1".to_owned(),
        limits: Limits {
            version: 1,
            brief_fuel: 200_000_000,
            turn_fuel: 20_000_000,
            episode_fuel: 500_000_000,
            component_bytes: 32 << 20,
            memory_bytes: 64 << 20,
            table_elements: 10_000,
            turn_log_bytes: 8 << 10,
            episode_log_bytes: 256 << 10,
            guest_text_bytes: 1 << 20,
            call_cpu_seconds: 600,
            host_call_fuel: 200,
        },
    }
}

/// Begins the observation of `turn`: price 50 usd per MWh now and ahead, status normal, IT demand 50 MW,
/// the battery and the permit as the brief has them, no events, nothing in the ledger.
///
/// # Panics
/// If the brief has no such turn.
#[track_caller]
pub fn turn(brief: &Brief, turn: u32) -> TurnBuilder {
    assert!(turn < brief.turns, "the brief has {} turns; there is no turn {turn}", brief.turns);
    let mut seen = Observation::before_play(brief.clone());
    seen.turn = turn;
    seen.site.it_demand_mw = 50.0;
    seen.forecast = Forecast::new(turn, brief.turns, [(0.0, SystemStatus::Normal); 3]);
    TurnBuilder { seen, told: 0 }.price(50.0).forecast([50.0; 3])
}

/// An observation in the making; see [`turn`].
#[derive(Clone, Debug)]
pub struct TurnBuilder {
    seen: Observation,
    /// Events told so far, those that are over included.
    told: u32,
}

impl TurnBuilder {
    /// Grid price now, usd per MWh.
    pub fn price(mut self, usd_per_mwh: f64) -> Self {
        self.seen.price_usd_per_mwh = usd_per_mwh;
        self
    }

    /// Grid status now.
    pub fn status(mut self, status: SystemStatus) -> Self {
        self.seen.system_status = status;
        self
    }

    /// Grid prices one, two and three turns ahead, usd per MWh. Those beyond the last turn are dropped.
    pub fn forecast(mut self, usd_per_mwh: [f64; 3]) -> Self {
        for (forecast, price) in self.seen.forecast.iter_mut().zip(usd_per_mwh) {
            forecast.price_usd_per_mwh = price;
        }
        self
    }

    /// Grid statuses one, two and three turns ahead. Those beyond the last turn are dropped.
    pub fn forecast_status(mut self, statuses: [SystemStatus; 3]) -> Self {
        for (forecast, status) in self.seen.forecast.iter_mut().zip(statuses) {
            forecast.system_status = status;
        }
        self
    }

    /// IT load, MW.
    pub fn demand(mut self, mw: f64) -> Self {
        self.seen.site.it_demand_mw = mw;
        self
    }

    /// State of charge, MWh.
    pub fn soc(mut self, mwh: f64) -> Self {
        self.seen.site.soc_mwh = mwh;
        self
    }

    /// Hours left on the generator's permit.
    pub fn permit_hours(mut self, hours: f64) -> Self {
        self.seen.site.permit_hours_remaining = hours;
        self
    }

    /// A visible curtailment order over `turns` (its end is not in it), MW.
    pub fn order(self, turns: Range<u32>, requested_mw: f64) -> Self {
        self.event(turns, EventKind::CurtailmentOrder { requested_mw })
    }

    /// A visible appeal over `turns` (its end is not in it) that was not accepted, usd per MWh.
    pub fn appeal(self, turns: Range<u32>, credit_usd_per_mwh: f64) -> Self {
        self.event(turns, EventKind::ConservationAppeal { credit_usd_per_mwh, accepted: false })
    }

    /// A visible appeal over `turns` (its end is not in it) that was accepted earlier, usd per MWh.
    pub fn accepted_appeal(self, turns: Range<u32>, credit_usd_per_mwh: f64) -> Self {
        self.event(turns, EventKind::ConservationAppeal { credit_usd_per_mwh, accepted: true })
    }

    /// What earlier turns add up to.
    pub fn ledger(mut self, ledger: Ledger) -> Self {
        self.seen.ledger = ledger;
        self
    }

    /// One more limit that cut the last action.
    pub fn clamp(mut self, clamp: Clamp) -> Self {
        self.seen.clamps.push(clamp);
        self
    }

    /// The observation.
    pub fn build(self) -> Observation {
        self.seen
    }

    /// Shows an event as a game would: not at all once it is over.
    fn event(mut self, turns: Range<u32>, kind: EventKind) -> Self {
        let now = self.seen.turn;
        let index = self.told;
        self.told += 1;
        if now < turns.end {
            self.seen.events.push(Event {
                index,
                id: format!("event-{index}"),
                kind,
                start_turn: turns.start,
                end_turn: turns.end,
                active: turns.contains(&now),
            });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_turns_have_less_ahead_of_them() {
        let ahead = |now| turn(&brief(), now).forecast([1.0, 2.0, 3.0]).build().forecast;
        assert_eq!([0, 20, 21, 22, 23].map(|now| ahead(now).len()), [3, 3, 2, 1, 0]);
        assert_eq!(
            ahead(21).iter().map(|f| (f.turn, f.price_usd_per_mwh)).collect::<Vec<_>>(),
            [(22, 1.0), (23, 2.0)]
        );
    }

    #[test]
    #[should_panic(expected = "there is no turn 24")]
    fn a_turn_beyond_the_episode_is_a_mistake() {
        turn(&brief(), 24);
    }

    #[test]
    fn events_are_shown_until_they_are_over() {
        let shown = |now| {
            let seen = turn(&brief(), now).appeal(2..4, 90.0).order(3..6, 10.0).build();
            seen.events.into_iter().map(|event| (event.index, event.active)).collect::<Vec<_>>()
        };
        assert_eq!(shown(2), [(0, true), (1, false)]);
        assert_eq!(shown(3), [(0, true), (1, true)]);
        assert_eq!(shown(4), [(1, true)]);
        assert_eq!(shown(6), []);
    }
}
