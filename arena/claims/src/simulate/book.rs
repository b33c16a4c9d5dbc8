//! Who did what in one claim, and what it earned by it: read off the events, not off the rules.

use std::collections::BTreeMap;

use arena_draw::Purpose;
use arena_ledger::Amount;

use super::actor::Actor;
use super::behaviour::Population;
use super::{Report, Tally};
use crate::life::{Challenge, Event, transaction_of};

/// What losing a run does to standing.
const OVERTURNED: i32 = -50;

/// What somebody was drawn to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seat {
    Run,
    Audit,
    Review,
}

/// The books of one claim.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// What agents gained, less what their work cost.
    profits: BTreeMap<String, i64>,
    seats: BTreeMap<String, Seat>,
    overturned: BTreeMap<Population, u64>,
}

impl Book {
    /// What work costs, which no ledger sees.
    pub(super) fn spend(&mut self, agent: &str, cost: Amount) {
        let profit = self.profits.entry(agent.to_owned()).or_default();
        *profit = profit.saturating_sub(cost.signed());
    }

    pub(super) fn take_in(&mut self, event: &Event, population: impl Fn(&str) -> Option<Population>) {
        for posting in transaction_of(event).into_iter().flat_map(|transaction| transaction.postings()) {
            if let Some(agent) = posting.account.name().strip_prefix("avail:") {
                match self.profits.get_mut(agent) {
                    Some(profit) => *profit = profit.saturating_add(posting.change),
                    None => drop(self.profits.insert(agent.to_owned(), posting.change)),
                }
            }
        }
        match event {
            Event::DrawResolved { picks, transcript, .. } => {
                let runs = transcript.request.purpose == Purpose::Runner;
                let seat = if runs { Seat::Run } else { Seat::Review };
                self.seats.extend(picks.iter().map(|agent| (agent.clone(), seat)));
            }
            Event::CoinTossed { picks, .. } => {
                self.seats.extend(picks.iter().map(|agent| (agent.clone(), Seat::Audit)));
            }
            Event::StandingChanged { agent, change: OVERTURNED } => {
                let count =
                    population(agent).map(|population| self.overturned.entry(population).or_default());
                if let Some(count) = count {
                    *count = count.saturating_add(1);
                }
            }
            _ => {}
        }
    }

    /// Into the tallies of the populations. An agent has one part in a claim, so its profit has one source.
    pub(super) fn close(
        self,
        challenges: &[Challenge],
        actors: &BTreeMap<String, Actor>,
        report: &mut Report,
    ) {
        let mut by_population: BTreeMap<(Population, Option<Seat>), (u64, i64)> = BTreeMap::new();
        for (agent, profit) in &self.profits {
            let Some(actor) = actors.get(agent).filter(|actor| actor.is_counted()) else { continue };
            let source = by_population.entry((actor.population, self.seats.get(agent).copied()));
            let (_, sum) = source.or_default();
            *sum = sum.saturating_add(*profit);
        }
        for (agent, seat) in &self.seats {
            let Some(actor) = actors.get(agent) else { continue };
            let (times, _) = by_population.entry((actor.population, Some(*seat))).or_default();
            *times = times.saturating_add(1);
        }
        let volunteers = challenges.iter().filter(|challenge| !self.seats.contains_key(&challenge.agent));
        for volunteer in volunteers.filter_map(|challenge| actors.get(&challenge.agent)) {
            if let Some(tally) = report.tallies.get_mut(&volunteer.population) {
                tally.challenges = tally.challenges.saturating_add(1);
            }
        }
        for (population, tally) in &mut report.tallies {
            let of = |seat| by_population.get(&(*population, seat)).copied().unwrap_or_default();
            tally.take_in([of(Some(Seat::Run)), of(Some(Seat::Audit)), of(Some(Seat::Review))], of(None).1);
            let overturned = self.overturned.get(population).copied().unwrap_or_default();
            tally.overturned = tally.overturned.saturating_add(overturned);
        }
    }
}

impl Tally {
    /// One claim: runs, audits and reviews with their profits, and what else was earned or lost.
    fn take_in(&mut self, [runs, audits, reviews]: [(u64, i64); 3], beside: i64) {
        for (sample, (times, profit)) in
            [(&mut self.runs, runs), (&mut self.audits, audits), (&mut self.reviews, reviews)]
        {
            sample.add(times, profit);
        }
        let seats = [runs, audits, reviews];
        let times = seats.iter().fold(0u64, |sum, (times, _)| sum.saturating_add(*times));
        let profit = seats.iter().fold(0i64, |sum, (_, profit)| sum.saturating_add(*profit));
        self.seats.add(times, profit);
        self.claims.add(1, profit.saturating_add(beside));
    }
}
