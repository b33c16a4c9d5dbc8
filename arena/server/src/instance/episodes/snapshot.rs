//! Episodes in a snapshot: what is played and what was, without the indexes and the open seats, which follow from it.

use std::borrow::Cow;
use std::sync::Arc;

use arena_canon::Digest;
use arena_contests::Moment;
use arena_engine::campus::{Given, MetricId, RawAction};
use serde::{Deserialize, Serialize};

use super::{Measured, Outcome, Pinned, Record};

#[derive(Serialize, Deserialize)]
pub(in crate::instance) struct Episodes<'a> {
    pins: Vec<Cow<'a, Pinned>>,
    /// In the order of their numbers.
    #[serde(borrow)]
    all: Vec<Row<'a>>,
}

/// A record; its pins by their place. Times are in milliseconds.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    number: u64,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    joined_at_ms: i64,
    last_at_ms: i64,
    pins: usize,
    turn: u32,
    end: Option<End>,
    actions: Vec<Action>,
}

#[derive(Serialize, Deserialize)]
struct End {
    log_sha256: [u8; 32],
    log_bytes: u64,
    stars: u8,
    metrics: [(MetricId, Option<f64>); 2],
    clamps: u64,
}

/// An action as it was written, with what was left out of it.
#[derive(Serialize, Deserialize)]
struct Action {
    curtail_mw: Said<f64>,
    battery_mw: Said<f64>,
    diesel_mw: Said<f64>,
    accept_offer: Said<bool>,
}

#[derive(Serialize, Deserialize)]
enum Said<T> {
    Missing,
    Null,
    Value(T),
}

impl<T> From<Given<T>> for Said<T> {
    fn from(given: Given<T>) -> Self {
        match given {
            Given::Missing => Self::Missing,
            Given::Null => Self::Null,
            Given::Value(value) => Self::Value(value),
        }
    }
}

impl<T> From<Said<T>> for Given<T> {
    fn from(said: Said<T>) -> Self {
        match said {
            Said::Missing => Self::Missing,
            Said::Null => Self::Null,
            Said::Value(value) => Self::Value(value),
        }
    }
}

impl From<&RawAction> for Action {
    fn from(action: &RawAction) -> Self {
        let RawAction { curtail_mw, battery_mw, diesel_mw, accept_offer } = *action;
        let (curtail_mw, battery_mw, diesel_mw) = (curtail_mw.into(), battery_mw.into(), diesel_mw.into());
        Self { curtail_mw, battery_mw, diesel_mw, accept_offer: accept_offer.into() }
    }
}

impl From<Action> for RawAction {
    fn from(action: Action) -> Self {
        let Action { curtail_mw, battery_mw, diesel_mw, accept_offer } = action;
        let (curtail_mw, battery_mw, diesel_mw) = (curtail_mw.into(), battery_mw.into(), diesel_mw.into());
        Self { curtail_mw, battery_mw, diesel_mw, accept_offer: accept_offer.into() }
    }
}

impl From<&Outcome> for End {
    fn from(outcome: &Outcome) -> Self {
        let Outcome { log_sha256, log_bytes, stars, metrics, clamps } = outcome;
        let metrics = metrics.map(|Measured { id, value }| (id, value));
        let log_sha256 = *log_sha256.as_bytes();
        Self { log_sha256, log_bytes: *log_bytes, stars: *stars, metrics, clamps: *clamps }
    }
}

impl From<End> for Outcome {
    fn from(end: End) -> Self {
        let End { log_sha256, log_bytes, stars, metrics, clamps } = end;
        let metrics = metrics.map(|(id, value)| Measured { id, value });
        Self { log_sha256: Digest::from_bytes(log_sha256), log_bytes, stars, metrics, clamps }
    }
}

impl super::Episodes {
    pub(in crate::instance) fn written(&self) -> Episodes<'_> {
        let Self { all, open: _, finished: _, finished_by: _, finished_on: _, pins, seats: _, clock: _ } =
            self;
        let place = |wanted: &Arc<Pinned>| pins.iter().position(|it| Arc::ptr_eq(it, wanted));
        let all = all.values().map(|record| {
            let Record { number, agent, joined_at, last_at, pins, turn, end, actions, seat: _, used: _ } =
                record;
            Row {
                number: *number,
                agent: agent.into(),
                joined_at_ms: joined_at.unix_ms(),
                last_at_ms: last_at.unix_ms(),
                // A place that is none would be refused when it is read.
                pins: place(pins).unwrap_or(usize::MAX),
                turn: *turn,
                end: end.as_ref().map(End::from),
                actions: actions.iter().map(Action::from).collect(),
            }
        });
        Episodes { pins: pins.iter().map(|pins| Cow::Borrowed(&**pins)).collect(), all: all.collect() }
    }
}

impl Episodes<'_> {
    pub(in crate::instance) fn read(self) -> Option<super::Episodes> {
        let mut episodes = super::Episodes {
            pins: self.pins.into_iter().map(|pins| Arc::new(pins.into_owned())).collect(),
            ..super::Episodes::default()
        };
        for row in self.all {
            let record = Record {
                number: row.number,
                agent: row.agent.into_owned(),
                joined_at: Moment::from_unix_ms(row.joined_at_ms),
                last_at: Moment::from_unix_ms(row.last_at_ms),
                pins: Arc::clone(episodes.pins.get(row.pins)?),
                turn: row.turn,
                end: row.end.map(Outcome::from),
                actions: row.actions.into_iter().map(RawAction::from).collect(),
                seat: None,
                used: 0,
            };
            let (number, agent) = (record.number, record.agent.clone());
            if record.end.is_some() {
                episodes.keep_finished(number, agent, record.pins.pack_sha256);
            } else {
                episodes.open.get_or_default(agent).insert(number);
            }
            episodes.all.set(number, record);
        }
        Some(episodes)
    }
}

#[cfg(test)]
impl super::Episodes {
    /// The same without the cache of open seats.
    pub(in crate::instance) fn without_seats(&self) -> Self {
        let mut episodes = self.clone();
        (episodes.seats, episodes.clock) = (arena_cow::CowMap::new(), 0);
        let numbers: Vec<u64> = episodes.all.keys().copied().collect();
        for number in numbers {
            if let Some(record) = episodes.all.get_mut(&number) {
                (record.seat, record.used) = (None, 0);
            }
        }
        episodes
    }
}
