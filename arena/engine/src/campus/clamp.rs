//! The limits on an action, in the order in which they bite. Every limit that changes a value
//! leaves a clamp behind.

use arrayvec::ArrayVec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::action::Action;
use super::numbers::max;

/// A field of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `curtail_mw`
    CurtailMw,
    /// `battery_mw`
    BatteryMw,
    /// `diesel_mw`
    DieselMw,
    /// `accept_offer`
    AcceptOffer,
}

/// The limit that changed a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClampReason {
    /// The value was NaN or infinite and counts as 0.
    NotFinite,
    /// Less than zero was asked of a field that starts at zero.
    BelowZero,
    /// More load was to be shed than there is.
    ItDemand,
    /// Beyond the battery's charge or discharge power.
    PowerLimit,
    /// Beyond the energy left in the battery.
    SocEmpty,
    /// Beyond the room left in the battery.
    SocFull,
    /// Beyond the generator's capacity.
    Capacity,
    /// Beyond the campus' own load: nothing is exported.
    NoExport,
    /// Fewer permit minutes are left than a turn takes.
    PermitHours,
    /// An offer was accepted while no appeal was active.
    NoActiveOffer,
}

impl Field {
    /// All of them, in the order in which they are settled.
    pub const ALL: [Self; 4] = [Self::CurtailMw, Self::BatteryMw, Self::DieselMw, Self::AcceptOffer];

    /// As actions spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CurtailMw => "curtail_mw",
            Self::BatteryMw => "battery_mw",
            Self::DieselMw => "diesel_mw",
            Self::AcceptOffer => "accept_offer",
        }
    }
}

impl ClampReason {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::NotFinite,
        Self::BelowZero,
        Self::ItDemand,
        Self::PowerLimit,
        Self::SocEmpty,
        Self::SocFull,
        Self::Capacity,
        Self::NoExport,
        Self::PermitHours,
        Self::NoActiveOffer,
    ];

    /// As logs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "not_finite",
            Self::BelowZero => "below_zero",
            Self::ItDemand => "it_demand",
            Self::PowerLimit => "power_limit",
            Self::SocEmpty => "soc_empty",
            Self::SocFull => "soc_full",
            Self::Capacity => "capacity",
            Self::NoExport => "no_export",
            Self::PermitHours => "permit_hours",
            Self::NoActiveOffer => "no_active_offer",
        }
    }
}

/// What was asked or granted: MW, or yes and no for `accept_offer`. `null` stands for a value that
/// was not finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    /// Power.
    Mw(f64),
    /// Whether the offer is taken.
    Offer(bool),
    /// NaN or an infinity.
    NotFinite(()),
}

/// One limit that changed one field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Clamp {
    /// The field.
    pub field: Field,
    /// Its value before this limit.
    pub requested: Amount,
    /// Its value after this limit.
    pub applied: Amount,
    /// The limit.
    pub reason: ClampReason,
}

/// At most: one for `curtail_mw`, three each for `battery_mw` and `diesel_mw`, one for
/// `accept_offer`.
pub(super) const CLAMPS_MAX: usize = 8;

pub(super) type Clamps = ArrayVec<Clamp, CLAMPS_MAX>;

/// What bounds an action on one turn.
pub(super) struct Bounds {
    pub(super) demand_mw: f64,
    pub(super) hours: f64,
    pub(super) battery_power_mw: f64,
    pub(super) battery_capacity_mwh: f64,
    pub(super) efficiency: f64,
    pub(super) soc_mwh: f64,
    pub(super) generator_capacity_mw: f64,
    pub(super) permit_for_a_turn: bool,
    pub(super) offer_active: bool,
}

/// Cuts `asked` to the bounds: curtail, battery, diesel, accept, in this order.
pub(super) fn clamp(asked: Action, bounds: &Bounds, clamps: &mut Clamps) -> Action {
    let curtail_mw = curtail(asked.curtail_mw, bounds, clamps);
    let battery_mw = battery(asked.battery_mw, curtail_mw, bounds, clamps);
    let discharge_mw = max(0.0, battery_mw);
    let diesel_mw = diesel(asked.diesel_mw, curtail_mw, discharge_mw, bounds, clamps);
    let accept_offer = accept(asked.accept_offer, bounds, clamps);
    Action { curtail_mw, battery_mw, diesel_mw, accept_offer }
}

/// A field on its way through its limits.
struct Knob<'c> {
    field: Field,
    value: f64,
    clamps: &'c mut Clamps,
}

impl<'c> Knob<'c> {
    fn new(field: Field, asked: f64, clamps: &'c mut Clamps) -> Self {
        let mut knob = Self { field, value: asked, clamps };
        if !asked.is_finite() {
            knob.value = 0.0;
            knob.report(Amount::NotFinite(()), ClampReason::NotFinite);
        }
        knob
    }

    fn at_most(&mut self, limit: f64, reason: ClampReason) {
        if self.value > limit {
            self.set(limit, reason);
        }
    }

    fn at_least(&mut self, limit: f64, reason: ClampReason) {
        if self.value < limit {
            self.set(limit, reason);
        }
    }

    fn set(&mut self, limit: f64, reason: ClampReason) {
        let requested = Amount::Mw(self.value);
        self.value = limit;
        self.report(requested, reason);
    }

    fn report(&mut self, requested: Amount, reason: ClampReason) {
        self.clamps.push(Clamp { field: self.field, requested, applied: Amount::Mw(self.value), reason });
    }
}

fn curtail(asked: f64, bounds: &Bounds, clamps: &mut Clamps) -> f64 {
    let mut knob = Knob::new(Field::CurtailMw, asked, clamps);
    knob.at_least(0.0, ClampReason::BelowZero);
    knob.at_most(bounds.demand_mw, ClampReason::ItDemand);
    knob.value
}

fn battery(asked: f64, curtail_mw: f64, bounds: &Bounds, clamps: &mut Clamps) -> f64 {
    let mut knob = Knob::new(Field::BatteryMw, asked, clamps);
    knob.at_most(bounds.battery_power_mw, ClampReason::PowerLimit);
    knob.at_least(-bounds.battery_power_mw, ClampReason::PowerLimit);
    if knob.value > 0.0 {
        knob.at_most(bounds.soc_mwh / bounds.hours, ClampReason::SocEmpty);
        knob.at_most(bounds.demand_mw - curtail_mw, ClampReason::NoExport);
    } else if knob.value < 0.0 {
        let room_mwh = bounds.battery_capacity_mwh - bounds.soc_mwh;
        // The smallest efficiencies make the divisor 0, and no room over 0 is not a number.
        let room_mw = if room_mwh > 0.0 { room_mwh / (bounds.efficiency * bounds.hours) } else { 0.0 };
        knob.at_least(-room_mw + 0.0, ClampReason::SocFull);
    }
    knob.value
}

fn diesel(asked: f64, curtail_mw: f64, discharge_mw: f64, bounds: &Bounds, clamps: &mut Clamps) -> f64 {
    let mut knob = Knob::new(Field::DieselMw, asked, clamps);
    knob.at_least(0.0, ClampReason::BelowZero);
    knob.at_most(bounds.generator_capacity_mw, ClampReason::Capacity);
    knob.at_most(max(0.0, bounds.demand_mw - curtail_mw - discharge_mw), ClampReason::NoExport);
    if knob.value > 0.0 && !bounds.permit_for_a_turn {
        knob.set(0.0, ClampReason::PermitHours);
    }
    knob.value
}

fn accept(asked: bool, bounds: &Bounds, clamps: &mut Clamps) -> bool {
    if asked && !bounds.offer_active {
        let (requested, applied) = (Amount::Offer(true), Amount::Offer(false));
        clamps.push(Clamp {
            field: Field::AcceptOffer,
            requested,
            applied,
            reason: ClampReason::NoActiveOffer,
        });
    }
    asked && bounds.offer_active
}
