//! A data-centre campus on a stressed grid: one action a turn, every clamp reported, two metrics.

mod action;
mod brief;
mod check;
mod clamp;
mod episode;
mod event;
mod fault;
#[cfg(feature = "hindsight")]
pub mod hindsight;
mod log;
mod numbers;
mod pack;
mod play;
mod record;
mod schema;
mod settlement;
mod validate;
mod verify;

pub use action::{Action, Given, NonFinite, RawAction, read_actions};
pub use brief::brief;
pub use check::{Checked, PackName, Unchecked, check, read_moves};
pub use clamp::{Amount, Clamp, ClampReason, Field};
pub use episode::{Episode, EventShare, Notice, Observation, Relief, Resolution};
pub use event::{Event, EventKind, Status};
pub use fault::{Faults, Finding};
pub use log::{EpisodeLog, LogLevel, LogLine, MEMBERS, NonFiniteValue, Pins, Run, SEAL};
pub use pack::{Battery, Generator, Grid, Metric, MetricId, Pack, PackDocument, Scoring, Site, Time};
pub use play::{Competitor, Recorder, Witness, play, replay};
pub use record::{
    EventRecord, ObservationRecord, ResolutionRecord, ShareRecord, TurnRecord, VisibleEvent, VisibleKind,
};
pub use schema::{episode_schema, pack_schema};
pub use settlement::{Better, DoNothing, Ledger, MetricValue, Settlement, Totals};
pub use verify::verify;

/// Moves that the contract names and no pack uses yet. Playing one is an error that says so.
pub const RESERVED_MOVES: [&str; 5] = [
    "build_onsite_generation",
    "interconnection_request",
    "islanding_agreement",
    "network_change_request",
    "der_contract",
];

/// Largest document that is read: a pack of 100 000 turns fits, and so does its log.
pub const DOCUMENT_BYTES_MAX: usize = 512 << 20;
