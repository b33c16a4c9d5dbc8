//! The contract's own types, with the few conversions between units that every strategy needs.

use super::LocalTime;
#[doc(inline)]
pub use super::bindings::arena::campus::types::{
    Action, ActionField, Battery, Brief, Clamp, ClampReason, Generator, Limits, Metric, MetricId,
    SystemStatus,
};

impl Default for Action {
    /// The empty action: shed nothing, leave the battery and the generator alone, accept nothing.
    fn default() -> Self {
        Self { curtail_mw: 0.0, battery_mw: 0.0, diesel_mw: 0.0, accept_offer: false }
    }
}

impl Brief {
    /// Length of a turn in hours: what turns power (MW) into energy (MWh).
    ///
    /// ```
    /// let brief = arena_sdk::campus::testing::brief();
    /// let filled_in_one_turn_mwh = brief.battery.power_mw * brief.turn_hours();
    /// # assert_eq!(filled_in_one_turn_mwh, 20.0);
    /// ```
    pub fn turn_hours(&self) -> f64 {
        f64::from(self.step_minutes) / 60.0
    }

    /// Local time at the start of `turn`, in the numeric offset of the pack's start.
    ///
    /// # Panics
    /// If `start_local` is not an RFC 3339 time with an offset. A host never sends such a brief.
    pub fn local_time(&self, turn: u32) -> LocalTime {
        let start = LocalTime::parse(&self.start_local).expect("start_local is RFC 3339 with an offset");
        start.plus_minutes(i64::from(turn) * i64::from(self.step_minutes))
    }

    /// The metric with this id and its stars' thresholds, if the pack scores it.
    pub fn metric(&self, id: MetricId) -> Option<&Metric> {
        [&self.first_metric, &self.second_metric].into_iter().find(|metric| metric.id == id)
    }
}
