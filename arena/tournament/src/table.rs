//! Plays one matchup: seats both strategies, lets them act, and keeps what happened.

use std::sync::Arc;

use arena_canon::{Digest, json};
use arena_engine::campus::{Action, Episode, Pack};
use arena_engine::matrix::{self, move_string};
use arena_engine::{During, ForfeitRecord, HostFault, Turn};
use serde_json::json;

use crate::frozen::{MatrixRules, MoveValidation, Scenario};
use crate::job::Job;
use crate::record::{CampusMove, Facts, ForfeitFact, FuelFact, Moves, Record, is_invalid};
use crate::roster::{CampusSeat, Roster, Usage};

/// What playing a matchup came to.
#[derive(Debug, Clone)]
pub enum Played {
    /// A record, and what the guests said, if they said anything.
    Match {
        /// The record.
        record: Box<Record>,
        /// The bytes of the guest file.
        guest: Option<Vec<u8>>,
    },
    /// An invalid action, where the protocol lets none pass.
    Violation(Violation),
}

/// An invalid action that ends the run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// Whose.
    pub seat: u32,
    /// On which turn.
    pub turn: u32,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seat {} asked on turn {} for what is outside of its static range", self.seat, self.turn)
    }
}

/// Plays `job` with the strategies of `roster`.
pub fn play(job: &Job, roster: &mut dyn Roster) -> Result<Played, HostFault> {
    let ((moves, forfeits, usages), pack) = match &job.matchup.scenario {
        Scenario::Matrix(rules) => (matrix(job, rules, roster)?, None),
        Scenario::Campus(pin) => {
            let pack = roster.pack(pin.sha256)?;
            match campus(job, &pack, roster)? {
                Err(violation) => return Ok(Played::Violation(violation)),
                Ok(seated) => (seated, Some(pack)),
            }
        }
    };
    let guest = guest_file(job, &forfeits, &usages);
    let facts = Facts {
        forfeits: forfeits.each_ref().map(|forfeit| forfeit.as_ref().map(ForfeitFact::of)),
        fuel: usages.map(|usage| FuelFact {
            brief: usage.brief_fuel,
            total: usage.fuel.iter().fold(usage.brief_fuel, |sum, turn| sum.saturating_add(*turn)),
            turns: usage.fuel,
        }),
        guest_sha256: guest.as_deref().map(Digest::of),
        moves,
    };
    let record = Record::derive(job, facts, pack.as_ref())
        .map_err(|why| HostFault { doing: "deriving the record of a match", source: why.into() })?;
    Ok(Played::Match { record: Box::new(record), guest })
}

/// What both seats asked for, how they ended, and what they used.
type Seated = (Moves, [Option<ForfeitRecord>; 2], [Usage; 2]);

fn matrix(job: &Job, rules: &MatrixRules, roster: &mut dyn Roster) -> Result<Seated, HostFault> {
    let rules = rules.rules().ok_or_else(|| HostFault {
        doing: "setting up a matrix game",
        source: "the rounds are out of bounds".into(),
    })?;
    let mut first = roster.matrix(job.strategies[0], job.seed, 0)?;
    let mut second = roster.matrix(job.strategies[1], job.seed, 1)?;
    let mut game = matrix::Game::new(rules);
    let forfeits = matrix::play(&mut game, [first.as_mut(), second.as_mut()])?;
    let moves = [0, 1].map(|seat| move_string(game.moves(seat)));
    let usages = [first.usage(game.round()), second.usage(game.round())];
    Ok((Moves::Matrix(moves), forfeits, usages))
}

/// Both seats play their own episode of the same pack. Both are briefed before either plays, since
/// nothing is played if neither can.
fn campus(
    job: &Job,
    pack: &Arc<Pack>,
    roster: &mut dyn Roster,
) -> Result<Result<Seated, Violation>, HostFault> {
    let mut seats = [
        roster.campus(job.strategies[0], job.seed, 0, pack)?,
        roster.campus(job.strategies[1], job.seed, 1, pack)?,
    ];
    let mut forfeits = [None, None];
    for (seat, forfeit) in seats.iter_mut().zip(&mut forfeits) {
        let failed = seat.brief(pack)?;
        *forfeit = failed.map(|(during, why)| ForfeitRecord::new(0, during, why));
    }
    let mut moves = [Vec::new(), Vec::new()];
    let no_contest = forfeits.iter().all(Option::is_some);
    for (index, seat) in seats.iter_mut().enumerate().filter(|_| !no_contest) {
        match episode(seat.as_mut(), pack, &mut forfeits[index], job.move_validation)? {
            Ok(asked) => moves[index] = asked,
            Err(turn) => return Ok(Err(Violation { seat: index as u32, turn })),
        }
    }
    let turns = if no_contest { 0 } else { pack.turns() };
    let usages = seats.map(|seat| seat.usage(turns));
    Ok(Ok((Moves::Campus(moves), forfeits, usages)))
}

/// What was asked on every turn, or the turn of an action that ends the run.
fn episode(
    seat: &mut dyn CampusSeat,
    pack: &Arc<Pack>,
    forfeit: &mut Option<ForfeitRecord>,
    validation: MoveValidation,
) -> Result<Result<Vec<CampusMove>, u32>, HostFault> {
    let mut episode = Episode::new(Arc::clone(pack));
    let mut moves = Vec::with_capacity(pack.turns() as usize);
    while let Some(seen) = episode.observe() {
        let mut asked = None;
        if forfeit.is_none() {
            match seat.act(&seen)? {
                Turn::Acted(action) => asked = Some(action),
                Turn::Forfeited(why) => {
                    *forfeit = Some(ForfeitRecord::new(seen.turn(), During::Turn, why));
                }
            }
        }
        let action = asked.unwrap_or(Action::EMPTY);
        let invalid = is_invalid(&action, seen.it_demand_mw(), pack);
        if invalid && validation == MoveValidation::Block {
            return Ok(Err(seen.turn()));
        }
        let passed = !(invalid && validation == MoveValidation::Forfeit);
        episode.commit(if passed { action } else { Action::EMPTY });
        moves.push(CampusMove { asked: asked.map(Into::into) });
    }
    Ok(Ok(moves))
}

/// What the guests said and how they ended, in their own words: kept apart from the record, so that
/// no guest can write a rival's name into it.
fn guest_file(job: &Job, forfeits: &[Option<ForfeitRecord>; 2], usages: &[Usage; 2]) -> Option<Vec<u8>> {
    let silent = |usage: &Usage| usage.log.is_empty() && usage.log_dropped_bytes == 0;
    if forfeits.iter().all(Option::is_none) && usages.iter().all(silent) {
        return None;
    }
    let seats = forfeits.iter().zip(usages).map(|(forfeit, usage)| {
        json!({
            "forfeit": forfeit,
            "log": usage.log,
            "log_dropped_bytes": usage.log_dropped_bytes,
        })
    });
    let file = json!({ "id": job.matchup.id, "seats": seats.collect::<Vec<_>>() });
    Some(json::canonical(&file))
}
