//! One turn: what was seen, asked and granted, and what stands afterwards.

use std::sync::Arc;

use arena_canon::json::Value;
use arena_engine::campus::{
    Action, Episode, MetricValue, ObservationRecord, Pack, RawAction, ResolutionRecord, Settlement,
    TurnRecord,
};
use serde_json::json;

/// A turn that is resolved.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) turn: TurnRecord,
    /// Turns of the episode.
    pub(crate) turns: u32,
    /// Both metrics over the turns up to this one.
    pub(crate) running: [MetricValue; 2],
    /// What is seen next, if there is a next turn.
    pub(crate) next: Option<ObservationRecord>,
    /// The outcome, after the last turn.
    pub(crate) settlement: Option<Settlement>,
}

/// Resolves a turn; nothing if all are resolved.
pub(crate) fn step(episode: &mut Episode, action: &RawAction) -> Option<Step> {
    let observation = ObservationRecord::of(&episode.observe()?);
    let pack = Arc::clone(episode.pack());
    let resolution = ResolutionRecord::of(episode.commit(action.action()), &pack);
    let turn = TurnRecord { turn: observation.turn, observation, action: *action, resolution };
    let next = episode.observe().map(|seen| ObservationRecord::of(&seen));
    Some(Step { turn, turns: pack.turns(), running: episode.running(), next, settlement: episode.settle() })
}

/// An episode as it stands after these actions.
pub(crate) fn rebuild(pack: &Arc<Pack>, actions: &[RawAction]) -> Episode {
    let mut episode = Episode::new(Arc::clone(pack));
    for action in actions.iter().take(pack.turns() as usize) {
        episode.commit(action.action());
    }
    episode
}

/// Metrics with what they are made of.
pub(crate) fn metrics_json(metrics: &[MetricValue; 2]) -> Value {
    json!(metrics)
}

impl Step {
    /// As the API tells it. The same turn is told the same way, whenever it is asked.
    pub(crate) fn to_json(&self, episode: &str) -> Value {
        json!({
            "episode": episode,
            "turn": self.turn.turn,
            "turns": self.turns,
            "action": self.turn.action,
            "resolution": self.turn.resolution,
            "metrics": metrics_json(&self.running),
            "next": self.next,
            "settlement": self.settlement,
        })
    }
}

/// The furthest that each field goes on a turn, all others being zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reach {
    pub(crate) curtail_mw: f64,
    /// The most that the battery takes in, as a negative number.
    pub(crate) charge_mw: f64,
    pub(crate) discharge_mw: f64,
    pub(crate) generator_mw: f64,
    /// Whether an appeal is there to accept.
    pub(crate) has_offer: bool,
}

impl Reach {
    /// Asks the engine itself: what is far too much is cut to what goes.
    pub(crate) fn of(episode: &Episode) -> Option<Self> {
        episode.observe()?;
        let granted = |action: Action| episode.clone().commit(action).applied;
        let curtail = granted(Action { curtail_mw: f64::MAX, ..Action::EMPTY });
        let charge = granted(Action { battery_mw: f64::MIN, ..Action::EMPTY });
        let discharge = granted(Action { battery_mw: f64::MAX, ..Action::EMPTY });
        let generator = granted(Action { diesel_mw: f64::MAX, ..Action::EMPTY });
        let offer = granted(Action { accept_offer: true, ..Action::EMPTY });
        Some(Self {
            curtail_mw: curtail.curtail_mw,
            charge_mw: charge.battery_mw,
            discharge_mw: discharge.battery_mw,
            generator_mw: generator.diesel_mw,
            has_offer: offer.accept_offer,
        })
    }
}
