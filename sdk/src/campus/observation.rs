//! What a strategy sees on a turn, whole: the record the host passes, the brief, and every event and
//! clamp it was told of.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Brief, Clamp, LocalTime, SystemStatus};

/// Everything a strategy may know when it acts on [`turn`](Self::turn).
///
/// Quantities are plain numbers whose names end in their unit: power in MW, energy in MWh, money in
/// the pack's currency (`usd` in names), prices in usd per MWh. Power held for a turn is energy by
/// [`Brief::turn_hours`], which is not always 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What stays the same for the whole episode: the site, the score and the limits.
    pub brief: Brief,
    /// The turn to act on, from 0.
    pub turn: u32,
    /// Grid price this turn, usd per MWh, at the campus' nominal draw.
    pub price_usd_per_mwh: f64,
    /// Grid status this turn.
    pub system_status: SystemStatus,
    /// The next turns, exact: three of them, fewer when the episode ends sooner.
    pub forecast: Forecast,
    /// The campus this turn.
    pub site: Site,
    /// Every visible event in the pack's order: those that are active, and those announced.
    pub events: Vec<Event>,
    /// What the turns before this one add up to.
    pub ledger: Ledger,
    /// What was cut from the last action, and by which limit; empty if nothing was.
    pub clamps: Vec<Clamp>,
}

/// The turns ahead, the next one first: a slice of three, or fewer when the episode ends sooner.
///
/// ```
/// # let brief = arena_sdk::campus::testing::brief();
/// # let seen = arena_sdk::campus::testing::turn(&brief, 5).forecast([60.0, 90.0, 70.0]).build();
/// let dearest = seen.forecast.iter().map(|ahead| ahead.price_usd_per_mwh).fold(f64::MIN, f64::max);
/// assert_eq!(dearest, 90.0);
/// ```
#[derive(Clone, Copy)]
pub struct Forecast {
    turns: [ForecastTurn; 3],
    len: usize,
}

/// One turn of the forecast. It always comes true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForecastTurn {
    /// The turn it is about.
    pub turn: u32,
    /// Grid price on that turn, usd per MWh.
    pub price_usd_per_mwh: f64,
    /// Grid status on that turn.
    pub system_status: SystemStatus,
}

impl Forecast {
    /// What `ahead` says of the turns after `turn`, as far as the episode's `turns` go.
    pub(super) fn new(turn: u32, turns: u32, ahead: [(f64, SystemStatus); 3]) -> Self {
        let [one, two, three] = ahead;
        let after = |by, (price_usd_per_mwh, system_status)| ForecastTurn {
            turn: turn.wrapping_add(by),
            price_usd_per_mwh,
            system_status,
        };
        let len = turns.saturating_sub(turn).saturating_sub(1).min(3) as usize;
        Self { turns: [after(1, one), after(2, two), after(3, three)], len }
    }
}

impl Deref for Forecast {
    type Target = [ForecastTurn];

    fn deref(&self) -> &[ForecastTurn] {
        &self.turns[..self.len.min(3)]
    }
}

impl DerefMut for Forecast {
    fn deref_mut(&mut self) -> &mut [ForecastTurn] {
        &mut self.turns[..self.len.min(3)]
    }
}

impl<'a> IntoIterator for &'a Forecast {
    type Item = &'a ForecastTurn;
    type IntoIter = std::slice::Iter<'a, ForecastTurn>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Forecast {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// The campus at the start of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// IT load this turn, MW.
    pub it_demand_mw: f64,
    /// State of charge, MWh.
    pub soc_mwh: f64,
    /// Hours the generator may still run. Any output uses up the whole turn.
    pub permit_hours_remaining: f64,
}

/// Sums over the turns before this one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ledger {
    /// Cost, usd.
    pub cost_usd: f64,
    /// IT load shed, MWh.
    pub shed_mwh: f64,
    /// Relief delivered to curtailment orders, MWh.
    pub relief_delivered_mwh: f64,
    /// Relief asked by curtailment orders, MWh.
    pub relief_asked_mwh: f64,
}

/// An event that is visible.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the pack.
    pub index: u32,
    /// The pack's name for it.
    pub id: String,
    /// What it asks or offers.
    pub kind: EventKind,
    /// First turn on which it is active.
    pub start_turn: u32,
    /// First turn on which it no longer is.
    pub end_turn: u32,
    /// Whether it is active this turn.
    pub active: bool,
}

/// What an event asks or offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// A voluntary offer to pay for reduction.
    ConservationAppeal {
        /// Credit per MWh of reduction beyond what orders ask, usd per MWh.
        credit_usd_per_mwh: f64,
        /// Whether it was accepted on an earlier turn.
        accepted: bool,
    },
    /// A mandatory directive to draw less than the IT demand.
    CurtailmentOrder {
        /// The reduction it asks for, MW.
        requested_mw: f64,
    },
}

impl Event {
    /// Whether the event is active on `turn`, as far as its start and end say.
    pub fn is_active_on(&self, turn: u32) -> bool {
        (self.start_turn..self.end_turn).contains(&turn)
    }

    /// The reduction an order asks for, MW; `None` for an appeal.
    pub fn requested_mw(&self) -> Option<f64> {
        match self.kind {
            EventKind::CurtailmentOrder { requested_mw } => Some(requested_mw),
            EventKind::ConservationAppeal { .. } => None,
        }
    }

    /// What an appeal pays, usd per MWh; `None` for an order.
    pub fn credit_usd_per_mwh(&self) -> Option<f64> {
        match self.kind {
            EventKind::ConservationAppeal { credit_usd_per_mwh, .. } => Some(credit_usd_per_mwh),
            EventKind::CurtailmentOrder { .. } => None,
        }
    }
}

impl Observation {
    /// Local time at the start of this turn.
    ///
    /// # Panics
    /// As [`Brief::local_time`]: never on what a host sends.
    pub fn local_time(&self) -> LocalTime {
        self.brief.local_time(self.turn)
    }

    /// Turns that are still to be played, this one included.
    pub fn turns_left(&self) -> u32 {
        self.brief.turns.saturating_sub(self.turn)
    }

    /// The reduction that orders ask this turn, MW: the sum of the active ones, cut to the IT demand
    /// as the score cuts it. Reduction is IT demand less grid import, however it comes about.
    pub fn order_mw(&self) -> f64 {
        total_requested_mw(self.events.iter().filter(|event| event.active)).min(self.site.it_demand_mw)
    }

    /// The reduction that visible orders will ask on `turn`, MW, before it is cut to that turn's IT
    /// demand. Orders that are not yet visible are not in it.
    pub fn order_mw_on(&self, turn: u32) -> f64 {
        total_requested_mw(self.events.iter().filter(|event| event.is_active_on(turn)))
    }

    /// What the best visible appeal that covers `turn` pays for reduction beyond the orders once it
    /// is accepted, usd per MWh; 0 without one.
    pub fn credit_usd_per_mwh_on(&self, turn: u32) -> f64 {
        let offers = self.events.iter().filter(|event| event.is_active_on(turn));
        offers.filter_map(Event::credit_usd_per_mwh).fold(0.0, f64::max)
    }

    /// Whether an appeal is active, so that `accept_offer` has something to accept. Accepting again
    /// what was accepted before changes nothing.
    pub fn has_offer(&self) -> bool {
        self.events.iter().any(|event| event.active && event.credit_usd_per_mwh().is_some())
    }

    /// The most the battery can discharge this turn, MW, if nothing is curtailed: its power, the
    /// energy left in it, and the campus' own load each limit it.
    pub fn max_discharge_mw(&self) -> f64 {
        let stored = self.site.soc_mwh / self.brief.turn_hours();
        self.brief.battery.power_mw.min(stored).min(self.site.it_demand_mw)
    }

    /// The most the battery can charge this turn, MW from the grid: its power, and the room left in
    /// it over the round-trip efficiency, which is paid on filling. Ask for it as a negative
    /// `battery_mw`.
    pub fn max_charge_mw(&self) -> f64 {
        let battery = &self.brief.battery;
        let room_mwh = battery.capacity_mwh - self.site.soc_mwh;
        let filling = room_mwh / (battery.round_trip_efficiency * self.brief.turn_hours());
        battery.power_mw.min(filling)
    }

    /// The most the generator can give this turn, MW, if nothing else serves the load: its capacity
    /// and the campus' own load, or 0 when no whole turn is left on its permit.
    pub fn max_diesel_mw(&self) -> f64 {
        if self.generator_turns_left() == 0 {
            return 0.0;
        }
        self.brief.generator.capacity_mw.min(self.site.it_demand_mw)
    }

    /// Whole turns that the generator's permit still covers, at most [`turns_left`](Self::turns_left).
    pub fn generator_turns_left(&self) -> u32 {
        // The host counts whole minutes and tells hours, so the product is off by rounding only.
        let minutes = (self.site.permit_hours_remaining * 60.0 + 0.5) as u32;
        (minutes / self.brief.step_minutes.max(1)).min(self.turns_left())
    }
}

/// From 0.0, because an empty `sum` of floats is -0.0.
fn total_requested_mw<'a>(events: impl Iterator<Item = &'a Event>) -> f64 {
    events.filter_map(Event::requested_mw).fold(0.0, |sum, requested_mw| sum + requested_mw)
}

#[cfg(test)]
mod tests;
