use std::fmt;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use jiff::civil::DateTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{Event, EventKind, Status};
use super::fault::{Faults, Finding};
use super::settlement::DoNothing;
use super::{Episode, validate};

/// A scenario pack as its file says it (`scenario-pack.v0`).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ScenarioPack")]
pub struct PackDocument {
    /// The format of this file.
    #[schemars(extend("const" = "scenario-pack.v0"))]
    pub schema: String,
    /// The pack's name in logs: 1 to 64 printable ASCII characters.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[ -~]+$"))]
    pub pack_id: String,
    /// Version of this pack: 1 to 64 printable ASCII characters.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[ -~]+$"))]
    pub pack_version: String,
    /// What people call it.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
    /// The briefing in Markdown, at most 64 KiB of UTF-8.
    #[schemars(length(max = 65_536))]
    pub brief_md: String,
    /// Version of the scoring the thresholds were made for: 1 to 64 printable ASCII characters.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[ -~]+$"))]
    pub score_version: String,
    /// When it takes place.
    pub time: Time,
    /// The campus.
    pub site: Site,
    /// The grid.
    pub grid: Grid,
    /// What the grid operator asks and offers.
    #[schemars(length(max = 1_000))]
    pub events: Vec<Event>,
    /// What is scored.
    pub scoring: Scoring,
}

/// When a pack takes place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Time {
    /// Start of turn 0: RFC 3339 local time with its numeric offset, in whole seconds.
    #[schemars(regex(
        pattern = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}[+-]([01][0-9]|2[0-3]):[0-5][0-9]$"
    ))]
    pub start_local: String,
    /// Number of turns.
    #[schemars(range(min = 1, max = 100_000))]
    pub turns: u32,
    /// Length of a turn in minutes.
    #[schemars(range(min = 1, max = 525_600))]
    pub step_minutes: u32,
}

/// The campus.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Site {
    /// IT load of each turn, MW.
    #[schemars(inner(range(min = 0.0, max = 1e12)))]
    pub it_demand_mw: Vec<f64>,
    /// Price of shedding IT load.
    #[schemars(range(min = -1e12, max = 1e12))]
    pub sla_usd_per_mwh: f64,
    /// The battery.
    pub battery: Battery,
    /// The natural-gas generator.
    pub generator: Generator,
}

/// The battery.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Battery {
    /// Energy it can hold.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub capacity_mwh: f64,
    /// Largest charge and discharge power.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub power_mw: f64,
    /// Energy stored per energy taken from the grid; the whole loss is paid on filling.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub round_trip_efficiency: f64,
    /// State of charge before turn 0; at most the capacity.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub initial_soc_mwh: f64,
}

/// The natural-gas generator.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Generator {
    /// Largest output.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub capacity_mw: f64,
    /// Price of its output.
    #[schemars(range(min = -1e12, max = 1e12))]
    pub fuel_usd_per_mwh: f64,
    /// Hours it may run; any output uses up the whole turn.
    #[schemars(range(min = 0.0, max = 1e12))]
    pub permit_hours: f64,
}

/// The grid.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Grid {
    /// Price of each turn at the campus' nominal draw.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub price_usd_per_mwh: Vec<f64>,
    /// Status of each turn.
    pub system_status: Vec<Status>,
    /// How much one MW of deviation from the IT demand moves the price; absent: a price taker.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<f64>", default, inner(range(min = -1e12, max = 1e12)))]
    pub price_slope_usd_per_mwh_per_mw: Option<Vec<f64>>,
}

/// What is scored: exactly two metrics.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Scoring {
    /// The two metrics, in the order in which they are shown.
    pub metrics: [Metric; 2],
}

/// One metric with its thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Metric {
    /// What is measured.
    pub id: MetricId,
    /// Thresholds of one, two and three stars; a star is earned when both metrics meet it.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub stars: [f64; 3],
}

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MetricId {
    /// Cost over IT demand; lower is better. Demand, not served load: shedding cannot shrink it.
    CostUsdPerMwh,
    /// Relief delivered over relief asked; higher is better; 1 when nothing is asked.
    ReliefShare,
    /// IT load served over IT demand; higher is better.
    ItServedShare,
}

impl MetricId {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::CostUsdPerMwh, Self::ReliefShare, Self::ItServedShare];

    /// As packs and logs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CostUsdPerMwh => "cost_usd_per_mwh",
            Self::ReliefShare => "relief_share",
            Self::ItServedShare => "it_served_share",
        }
    }
}

/// A pack that passed its validator, ready to be played.
#[derive(Debug, Clone)]
pub struct Pack {
    document: PackDocument,
    sha256: Digest,
    warnings: Vec<Finding>,
    start: DateTime,
    offset: String,
    /// Orders and appeals apart, each in pack order, so that a turn walks only what it needs.
    orders: Vec<Scripted>,
    appeals: Vec<Scripted>,
    do_nothing: Option<DoNothing>,
}

/// An order or an appeal as the turn loop wants it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scripted {
    /// Position in the pack.
    pub(super) index: u32,
    pub(super) start_turn: u32,
    pub(super) end_turn: u32,
    /// MW asked, or credit per MWh.
    pub(super) amount: f64,
}

impl Scripted {
    pub(super) fn is_active(&self, t: u32) -> bool {
        self.start_turn <= t && t < self.end_turn
    }
}

impl Pack {
    /// Reads and validates a pack: every fault at once, each with its pointer.
    pub fn parse(bytes: &[u8]) -> Result<Arc<Self>, Faults> {
        let document = json::read(bytes, super::DOCUMENT_BYTES_MAX)
            .map_err(|error| Faults(vec![Finding { pointer: String::new(), message: error.to_string() }]))?;
        Self::from_value(&document)
    }

    /// Validates a pack that was read already.
    pub fn from_value(value: &Value) -> Result<Arc<Self>, Faults> {
        let checked = validate::check(value).map_err(Faults)?;
        let (orders, appeals) = split(&checked.document.events);
        let mut pack = Self {
            sha256: Digest::of(&json::canonical(value)),
            document: checked.document,
            warnings: checked.warnings,
            start: checked.start,
            offset: checked.offset,
            orders,
            appeals,
            do_nothing: None,
        };
        let baseline = Episode::new(Arc::new(pack.clone())).play_empty();
        pack.do_nothing = Some(baseline);
        Ok(Arc::new(pack))
    }

    /// What the file says.
    pub fn document(&self) -> &PackDocument {
        &self.document
    }

    /// Digest of the pack's canonical JSON, members the engine ignores included.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// What the validator found odd but playable.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// Number of turns.
    pub fn turns(&self) -> u32 {
        self.document.time.turns
    }

    /// Length of a turn in hours.
    pub fn hours_per_turn(&self) -> f64 {
        f64::from(self.document.time.step_minutes) / 60.0
    }

    /// The outcome of the same pack with no actions.
    pub fn do_nothing(&self) -> &DoNothing {
        self.do_nothing.as_ref().expect("set before a pack is handed out")
    }

    /// Local time at the start of turn `turn`, with the pack's own offset (no daylight-saving
    /// jump).
    pub fn local_time(&self, turn: u32) -> String {
        let minutes = i64::from(turn) * i64::from(self.document.time.step_minutes);
        let at = self.start.saturating_add(jiff::SignedDuration::from_mins(minutes));
        format!("{}{}", at.strftime("%Y-%m-%dT%H:%M:%S"), self.offset)
    }

    /// Seconds from 1970-01-01T00:00:00Z to the start of turn 0; 0 for a start before that.
    pub fn start_seconds_since_1970(&self) -> u64 {
        let local = self.start.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0)).as_secs();
        let offset: i64 = {
            let sign = if self.offset.starts_with('-') { -1 } else { 1 };
            let digits = |range: std::ops::Range<usize>| self.offset[range].parse::<i64>().unwrap_or(0);
            sign * (digits(1..3) * 3_600 + digits(4..6) * 60)
        };
        u64::try_from(local - offset).unwrap_or(0)
    }

    pub(super) fn orders(&self) -> &[Scripted] {
        &self.orders
    }

    pub(super) fn appeals(&self) -> &[Scripted] {
        &self.appeals
    }
}

fn split(events: &[Event]) -> (Vec<Scripted>, Vec<Scripted>) {
    let (mut orders, mut appeals) = (Vec::new(), Vec::new());
    for (index, event) in (0u32..).zip(events) {
        let scripted =
            |amount| Scripted { index, start_turn: event.start_turn, end_turn: event.end_turn, amount };
        match event.kind {
            EventKind::CurtailmentOrder { requested_mw } => orders.push(scripted(requested_mw)),
            EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                appeals.push(scripted(credit_usd_per_mwh))
            }
        }
    }
    (orders, appeals)
}

impl fmt::Display for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.document.pack_id, self.document.pack_version)
    }
}
