//! What a simulation came to.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_ledger::Amount;
use serde_json::json;

use super::behaviour::Population;
use super::tally::{Estimate, Tally};
use crate::life::Event;

/// What a simulation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// By population.
    pub tallies: BTreeMap<Population, Tally>,
    /// Claims by how they ended.
    pub endings: BTreeMap<String, u64>,
    /// What the treasury has.
    pub treasury: Amount,
    /// Claims whose outcome is not what is true.
    pub false_outcomes: u64,
    /// Events in all.
    pub events: u64,
    /// SHA-256 over all events, one after another: two runs of one seed have the same. For who may be drawn stands the
    /// root of the set, and for a transcript the seed, which is a digest of everything that a draw follows from.
    pub history: Digest,
    line: Vec<u8>,
}

/// How the honest population compares with the best of the others, per seat that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What honesty earned.
    pub honest: Estimate,
    /// Who earned most of the others.
    pub other: Population,
    /// What that was.
    pub best: Estimate,
}

impl Standing {
    /// By how many hundredths honesty is ahead; negative where it is behind.
    pub fn lead(&self) -> i128 {
        self.honest.mean.saturating_sub(self.best.mean)
    }

    /// Whether the intervals do not touch.
    pub fn is_clear(&self) -> bool {
        self.honest.low() > self.best.high() || self.honest.high() < self.best.low()
    }

    /// The comparison as a document.
    pub fn to_json(&self) -> Value {
        json!({
            "honest": self.honest.to_json(), "other": self.other.name(), "best_other": self.best.to_json(),
            "honest_is_best": self.lead() > 0, "intervals_apart": self.is_clear(),
        })
    }
}

/// Writes an event as it goes into the history. Into memory, and an event is JSON: this does not fail.
fn write(line: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
    match event {
        Event::DrawCommitted(draw) => {
            let draw = &**draw;
            let when = (draw.round, draw.last_round_seen, draw.committed_at);
            let who = (draw.entries.root(), draw.salt_sha256, draw.audit_ppm);
            let what = (&draw.purpose, draw.attempt, draw.seats);
            serde_json::to_writer(line, &("draw_committed", &draw.claim, what, when, who))
        }
        Event::DrawResolved { claim, transcript, picks, transaction } => {
            let seed = transcript.resolution.seed;
            serde_json::to_writer(line, &("draw_resolved", claim, seed, picks, transaction))
        }
        Event::CoinTossed { claim, transcript, audited, audit, picks, salt } => {
            let audit = audit.as_ref().map(|audit| audit.resolution.seed);
            let seed = transcript.resolution.seed;
            serde_json::to_writer(line, &("coin_tossed", claim, seed, audited, audit, picks, salt))
        }
        other => serde_json::to_writer(line, other),
    }
}

impl Report {
    pub(super) fn of(populations: impl Iterator<Item = Population>) -> Self {
        Self {
            tallies: populations.map(|population| (population, Tally::default())).collect(),
            endings: BTreeMap::new(),
            treasury: Amount::ZERO,
            false_outcomes: 0,
            events: 0,
            history: Digest::of(b""),
            line: Vec::new(),
        }
    }

    pub(super) fn take_in(&mut self, event: &Event) {
        self.events = self.events.saturating_add(1);
        self.line.clear();
        let written = write(&mut self.line, event);
        debug_assert!(written.is_ok(), "{event:?}");
        self.history = Digest::of_parts(&[self.history.as_bytes(), &self.line]);
        let ending = match event {
            Event::Settled { ending, .. } => ending.name(),
            Event::ClaimWithdrawn { why, .. } => why.name(),
            _ => return,
        };
        match self.endings.get_mut(ending) {
            Some(count) => *count = count.saturating_add(1),
            None => drop(self.endings.insert(ending.to_owned(), 1)),
        }
    }

    /// Honesty against the best of the others; nothing where one of both was hardly drawn.
    pub fn standing(&self) -> Option<Standing> {
        let honest = self.tallies.get(&Population::Honest)?.per_seat()?;
        let others = self.tallies.iter().filter(|(population, _)| **population != Population::Honest);
        let others = others.filter_map(|(population, tally)| Some((*population, tally.per_seat()?)));
        let (other, best) = others.max_by_key(|(_, estimate)| estimate.mean)?;
        Some(Standing { honest, other, best })
    }

    /// The report as a document.
    pub fn to_json(&self) -> Value {
        let tallies =
            self.tallies.iter().map(|(population, tally)| (population.name().to_owned(), tally.to_json()));
        json!({
            "populations": tallies.collect::<serde_json::Map<_, _>>(),
            "per_drawn_seat": self.standing().map(|standing| standing.to_json()),
            "endings": self.endings,
            "treasury": self.treasury,
            "false_outcomes": self.false_outcomes,
            "events": self.events,
            "history_sha256": self.history,
        })
    }
}
