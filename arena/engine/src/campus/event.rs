use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The grid operator's word on a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Enough supply.
    Normal,
    /// Supply is getting short.
    Watch,
    /// Supply is short.
    Emergency,
}

impl Status {
    /// All of them, in rising order.
    pub const ALL: [Self; 3] = [Self::Normal, Self::Watch, Self::Emergency];

    /// As packs and logs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Watch => "watch",
            Self::Emergency => "emergency",
        }
    }
}

/// One scripted event of a pack.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// Its name, unique in the pack: 1 to 64 printable ASCII characters.
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[ -~]+$"))]
    pub id: String,
    /// First turn on which a competitor sees it; `start_turn` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    #[schemars(default, range(max = 1_000_000))]
    pub notice_turn: Option<u32>,
    /// First turn on which it is active.
    #[schemars(range(max = 1_000_000))]
    pub start_turn: u32,
    /// First turn on which it no longer is; an end beyond the episode is cut by its end.
    #[schemars(range(max = 1_000_000))]
    pub end_turn: u32,
    /// What it asks or offers.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What an event asks or offers. New kinds are added here; the turn loop never changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// A voluntary offer that pays for demonstrated reduction once it is accepted.
    ConservationAppeal {
        /// Credit per MWh of reduction beyond what orders ask.
        #[schemars(range(min = -1e12, max = 1e12))]
        credit_usd_per_mwh: f64,
    },
    /// A mandatory directive; its shortfall shows in `relief_share`.
    CurtailmentOrder {
        /// Reduction asked, against the turn's own IT demand.
        #[schemars(range(min = 0.0, max = 1e12))]
        requested_mw: f64,
    },
}

impl Event {
    /// Whether it counts on turn `t`.
    pub fn is_active(&self, t: u32) -> bool {
        self.start_turn <= t && t < self.end_turn
    }

    /// Whether a competitor sees it on turn `t`.
    pub fn is_visible(&self, t: u32) -> bool {
        self.first_visible_turn() <= t && t < self.end_turn
    }

    /// The turn it is first seen, should it be visible at all.
    pub fn first_visible_turn(&self) -> u32 {
        self.notice_turn.unwrap_or(self.start_turn)
    }
}

impl EventKind {
    /// As packs and logs spell it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ConservationAppeal { .. } => "conservation_appeal",
            Self::CurtailmentOrder { .. } => "curtailment_order",
        }
    }
}
