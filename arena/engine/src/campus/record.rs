//! Turns as a log keeps them. Their shape is normative (`episode.v0.schema.json`).

use schemars::JsonSchema;
use serde::Serialize;

use super::action::RawAction;
use super::clamp::Clamp;
use super::episode::{EventShare, Observation, Relief, Resolution};
use super::event::{EventKind, Status};
use super::pack::Pack;
use super::settlement::Ledger;

/// One turn: what was seen, asked and granted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Turn")]
pub struct TurnRecord {
    /// The turn, from 0.
    pub turn: u32,
    /// What the competitor saw before it acted.
    pub observation: ObservationRecord,
    /// What it asked for, as given.
    pub action: RawAction,
    /// What came of it.
    pub resolution: ResolutionRecord,
}

/// What a competitor saw.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Observation")]
pub struct ObservationRecord {
    /// The turn, from 0.
    pub turn: u32,
    /// Local time at the start of the turn, RFC 3339.
    pub local_time: String,
    /// Grid price now, at the campus' nominal draw.
    pub price_usd_per_mwh: f64,
    /// Grid status now.
    pub system_status: Status,
    /// The next three turns, fewer at the end; exact.
    #[schemars(length(max = 3))]
    pub forecast: Vec<ForecastRecord>,
    /// The campus.
    pub site: SiteRecord,
    /// Every visible event, in pack order.
    pub events: Vec<VisibleEvent>,
    /// Sums over the turns before this one.
    pub ledger: Ledger,
}

/// Price and status of a coming turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Forecast")]
pub struct ForecastRecord {
    /// The turn.
    pub turn: u32,
    /// Its price.
    pub price_usd_per_mwh: f64,
    /// Its status.
    pub system_status: Status,
}

/// The campus at the start of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SiteState")]
pub struct SiteRecord {
    /// IT load this turn.
    pub it_demand_mw: f64,
    /// State of charge.
    pub soc_mwh: f64,
    /// Hours the generator may still run.
    pub permit_hours_remaining: f64,
}

/// A visible event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VisibleEvent {
    /// Its name.
    pub id: String,
    /// First turn on which it is active.
    pub start_turn: u32,
    /// First turn on which it no longer is.
    pub end_turn: u32,
    /// Whether it is active now.
    pub active: bool,
    /// What it asks or offers.
    #[serde(flatten)]
    pub kind: VisibleKind,
}

/// What a visible event asks or offers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum VisibleKind {
    /// A voluntary offer.
    ConservationAppeal {
        /// Credit per MWh of reduction beyond what orders ask.
        credit_usd_per_mwh: f64,
        /// Whether it was accepted on an earlier turn.
        accepted: bool,
    },
    /// A mandatory directive.
    CurtailmentOrder {
        /// Reduction asked.
        requested_mw: f64,
    },
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Resolution")]
pub struct ResolutionRecord {
    /// The action after all limits.
    pub applied: AppliedAction,
    /// Every limit that changed the action, in order.
    pub clamps: Vec<Clamp>,
    /// Power drawn from the grid.
    pub grid_import_mw: f64,
    /// IT load served.
    pub it_served_mw: f64,
    /// Price paid, slope included.
    pub effective_price_usd_per_mwh: f64,
    /// Reduction against this turn's own IT demand.
    pub reduction_mw: f64,
    /// All active orders together.
    pub relief: Relief,
    /// The active orders, then the active appeals, each group in pack order.
    pub events: Vec<EventRecord>,
    /// Paid for energy.
    pub energy_cost_usd: f64,
    /// Paid for fuel.
    pub fuel_cost_usd: f64,
    /// Paid for shedding.
    pub sla_cost_usd: f64,
    /// Earned from appeals.
    pub credit_usd: f64,
    /// Cost of the turn.
    pub turn_cost_usd: f64,
    /// State of charge after the turn.
    pub soc_mwh: f64,
    /// Hours the generator may still run after the turn.
    pub permit_hours_remaining: f64,
}

/// An action after all limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct AppliedAction {
    /// IT load shed, MW.
    pub curtail_mw: f64,
    /// Discharge (positive) or charge (negative) of the battery, MW.
    pub battery_mw: f64,
    /// Output of the natural-gas generator, MW.
    pub diesel_mw: f64,
    /// Whether the active appeals were accepted.
    pub accept_offer: bool,
}

/// An active event's share of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "EventShare")]
pub struct EventRecord {
    /// Its name.
    pub id: String,
    /// What it got.
    #[serde(flatten)]
    pub share: ShareRecord,
}

/// What an active event got.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShareRecord {
    /// An order's part of the turn's relief.
    CurtailmentOrder(Relief),
    /// An appeal's part of the turn's reduction.
    ConservationAppeal {
        /// Whether it is accepted, this turn's acceptance included.
        accepted: bool,
        /// Reduction it pays for.
        credited_mw: f64,
        /// What it pays.
        credit_usd: f64,
    },
}

impl ObservationRecord {
    /// What `seen` shows.
    pub fn of(seen: &Observation<'_>) -> Self {
        let forecast = (1..=3).filter_map(|ahead| {
            let (price_usd_per_mwh, system_status) = seen.forecast(ahead)?;
            Some(ForecastRecord { turn: seen.turn() + ahead, price_usd_per_mwh, system_status })
        });
        let events = seen.events().map(|(event, accepted)| VisibleEvent {
            id: event.id.clone(),
            start_turn: event.start_turn,
            end_turn: event.end_turn,
            active: event.is_active(seen.turn()),
            kind: match event.kind {
                EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                    VisibleKind::ConservationAppeal { credit_usd_per_mwh, accepted }
                }
                EventKind::CurtailmentOrder { requested_mw } => {
                    VisibleKind::CurtailmentOrder { requested_mw }
                }
            },
        });
        Self {
            turn: seen.turn(),
            local_time: seen.local_time(),
            price_usd_per_mwh: seen.price_usd_per_mwh(),
            system_status: seen.system_status(),
            forecast: forecast.collect(),
            site: SiteRecord {
                it_demand_mw: seen.it_demand_mw(),
                soc_mwh: seen.soc_mwh(),
                permit_hours_remaining: seen.permit_hours_remaining(),
            },
            events: events.collect(),
            ledger: *seen.ledger(),
        }
    }
}

impl ResolutionRecord {
    /// What `resolution` says, with the events' names from `pack`.
    pub fn of(resolution: &Resolution, pack: &Pack) -> Self {
        let applied = resolution.applied;
        Self {
            applied: AppliedAction {
                curtail_mw: applied.curtail_mw,
                battery_mw: applied.battery_mw,
                diesel_mw: applied.diesel_mw,
                accept_offer: applied.accept_offer,
            },
            clamps: resolution.clamps.to_vec(),
            grid_import_mw: resolution.grid_import_mw,
            it_served_mw: resolution.it_served_mw,
            effective_price_usd_per_mwh: resolution.effective_price_usd_per_mwh,
            reduction_mw: resolution.reduction_mw,
            relief: resolution.relief,
            events: resolution.events.iter().map(|share| EventRecord::of(share, pack)).collect(),
            energy_cost_usd: resolution.energy_cost_usd,
            fuel_cost_usd: resolution.fuel_cost_usd,
            sla_cost_usd: resolution.sla_cost_usd,
            credit_usd: resolution.credit_usd,
            turn_cost_usd: resolution.turn_cost_usd,
            soc_mwh: resolution.soc_mwh,
            permit_hours_remaining: resolution.permit_hours_remaining,
        }
    }
}

impl EventRecord {
    fn of(share: &EventShare, pack: &Pack) -> Self {
        let (index, share) = match *share {
            EventShare::Order { index, relief } => (index, ShareRecord::CurtailmentOrder(relief)),
            EventShare::Appeal { index, accepted, credited_mw, credit_usd } => {
                (index, ShareRecord::ConservationAppeal { accepted, credited_mw, credit_usd })
            }
        };
        Self { id: pack.document().events[index as usize].id.clone(), share }
    }
}
