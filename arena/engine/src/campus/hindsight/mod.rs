//! The provable best of a pack: the least cost of any schedule that delivers a given relief share.
//!
//! Whoever plays sees three turns ahead; this sees them all. It is a yardstick beside the two
//! metrics, never a score, and knows nothing of what the battery holds after the last turn.
//!
//! The mechanics become a mixed-integer program that never costs more than the engine charges, so
//! its optimum is a lower bound; the schedule it finds is played in the engine, so its cost is an
//! upper bound. A point is only handed out when the two agree within [`gap_usd_per_mwh`].

mod appeals;
mod facts;
mod model;
mod schedule;
mod tension;

use std::sync::Arc;

use self::appeals::{Acceptance, acceptances};
use self::facts::Facts;
use self::model::Model;
use self::schedule::{Played, play};
use super::action::Action;
use super::pack::Pack;
use super::settlement::Settlement;

pub use self::tension::{Limit, Requirement, Tension, obey_only, tension};

#[cfg(test)]
mod tests;

/// Most turns of a pack whose optimum is sought: a day of five-minute turns takes seconds to a
/// minute, a pack of 24 turns milliseconds. Beyond that, [`NODES_MAX`] would end most searches.
pub const TURNS_MAX: u32 = 300;

/// Most nodes of the branch-and-bound searches behind one optimum: about a minute at [`TURNS_MAX`].
/// A count and not a time, so that every machine finds the same or gives up alike.
pub const NODES_MAX: u64 = 40_000;

/// Most ways to answer the appeals that are tried, should some charge instead of paying.
pub const ACCEPTANCES_MAX: usize = 8;

/// Relief shares of a [`Frontier`]: 0, 1/20 … 1.
pub const STEPS: u32 = 20;

/// How far below its target a replayed relief share may be, since shares are sums of roundings.
pub const SHARE_TOLERANCE: f64 = 1e-9;

/// Most tightenings of one program. Each quarters what a price slope leaves open; six are usual.
const ROUNDS_MAX: u32 = 40;

/// How far apart the proven bound and the replayed cost of a point may be: 1e-4 usd per MWh, or a
/// ten-millionth of a cost above 1 000.
pub fn gap_usd_per_mwh(cost_usd_per_mwh: f64) -> f64 {
    1e-4 * f64::max(1.0, cost_usd_per_mwh.abs() / 1_000.0)
}

/// The least cost of a pack at each relief share.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontier {
    /// Shares 0, 0.05 … 1; costs and bounds never fall along them.
    pub points: Vec<FrontierPoint>,
}

/// The least cost of a pack at one relief share.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPoint {
    /// The relief share that is demanded.
    pub relief_share: f64,
    /// No schedule with that share costs less, over IT demand.
    pub bound_usd_per_mwh: f64,
    /// What [`FrontierPoint::schedule`] costs in the engine, over IT demand.
    pub cost_usd_per_mwh: f64,
    /// What it delivers in the engine: the share demanded or more.
    pub delivered_share: f64,
    /// One action a turn. The engine plays it without a clamp.
    pub schedule: Vec<Action>,
}

/// Why a pack has no provable best, or none was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HindsightError {
    /// The pack is longer than what is solved in sensible time.
    #[error("the pack has {turns} turns; hindsight is offered up to {TURNS_MAX}")]
    TooManyTurns {
        /// Turns of the pack.
        turns: u32,
    },
    /// More import makes import cheaper, which makes the cost concave: tangents bound nothing.
    #[error("the price slope is negative on turn {turn}; hindsight is offered for slopes from 0 up")]
    NegativeSlope {
        /// The first such turn.
        turn: u32,
    },
    /// Appeals that charge overlap with appeals that pay in too many places to try every answer.
    #[error(
        "appeals with a negative credit make acceptance a question on {questions} turns; \
         at most {ACCEPTANCES_MAX} answers are tried"
    )]
    TooManyAcceptances {
        /// Turns on which accepting may help or harm.
        questions: usize,
    },
    /// Cost per MWh of IT demand has no value.
    #[error("the pack has no IT demand, so no cost per MWh")]
    NoDemand,
    /// The caller asked for something that is not a share.
    #[error("a relief share lies between 0 and 1; {0} does not")]
    NotAShare(f64),
    /// The search was given up.
    #[error("no optimum is proven after {NODES_MAX} nodes of the search")]
    NodesSpent,
    /// The solver failed; its own words.
    #[error("the solver failed: {0}")]
    Solver(String),
    /// The engine does not confirm what the solver found.
    #[error(
        "a cost of {bound_usd_per_mwh} per MWh is the proven bound, but the best replay is {replayed_usd_per_mwh}"
    )]
    Unconfirmed {
        /// No schedule costs less, says the solver.
        bound_usd_per_mwh: f64,
        /// Cost of its best schedule that delivers the share, infinite if there is none.
        replayed_usd_per_mwh: f64,
    },
}

/// The least cost of any schedule of `pack` that delivers at least `relief_share`.
pub fn optimum(pack: &Arc<Pack>, relief_share: f64) -> Result<FrontierPoint, HindsightError> {
    if !(0.0..=1.0).contains(&relief_share) {
        return Err(HindsightError::NotAShare(relief_share));
    }
    let facts = Facts::of(pack)?;
    let points: Result<Vec<_>, _> = acceptances(pack)?
        .iter()
        .map(|acceptance| optimum_under(pack, &facts, acceptance, relief_share))
        .collect();
    let cheaper = |a: FrontierPoint, b: FrontierPoint| {
        let bound_usd_per_mwh = f64::min(a.bound_usd_per_mwh, b.bound_usd_per_mwh);
        let best = if b.cost_usd_per_mwh < a.cost_usd_per_mwh { b } else { a };
        FrontierPoint { bound_usd_per_mwh, ..best }
    };
    let best = points?.into_iter().reduce(cheaper);
    Ok(best.expect("there is always one way to answer the appeals"))
}

/// [`optimum`] at every share of the frontier. `progress` is told how many points are done, of how
/// many.
pub fn frontier(
    pack: &Arc<Pack>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Frontier, HindsightError> {
    let count = STEPS as usize + 1;
    let mut points: Vec<FrontierPoint> = Vec::with_capacity(count);
    for step in 0..=STEPS {
        let relief_share = f64::from(step) / f64::from(STEPS);
        let point = match points.last() {
            // Demanding less allows more: an optimum that delivers enough stays one.
            Some(last) if last.delivered_share >= relief_share => {
                FrontierPoint { relief_share, ..last.clone() }
            }
            _ => optimum(pack, relief_share)?,
        };
        points.push(point);
        progress(points.len(), count);
    }
    let mut frontier = Frontier { points };
    frontier.never_fall();
    Ok(frontier)
}

impl Frontier {
    /// The point that a run with `relief_share` is measured against: the greatest share that is not
    /// above it. A share within [`SHARE_TOLERANCE`] of a point counts as that point's.
    pub fn at(&self, relief_share: f64) -> Option<&FrontierPoint> {
        self.points.iter().rev().find(|point| point.relief_share <= relief_share + SHARE_TOLERANCE)
    }

    /// How much of what could be saved against doing nothing a run saved:
    /// `(do_nothing − cost) / (do_nothing − C*(ρ))`, where ρ is the frontier's share below the run's
    /// own and C*(ρ) the proven bound. At most 1; negative if the run cost more than doing nothing.
    ///
    /// `None` without IT demand, and where no schedule with that share saves anything.
    pub fn closeness(&self, run: &Settlement) -> Option<f64> {
        let (cost, relief_share) = schedule::metrics(run);
        let do_nothing = run.do_nothing.cost_usd / run.totals.demand_mwh;
        let best = self.at(relief_share?)?.bound_usd_per_mwh;
        let to_save = do_nothing - best;
        (to_save > gap_usd_per_mwh(best)).then_some((do_nothing - cost?) / to_save)
    }

    /// Points may be off by the gap; what holds for one share holds on one side of it as well.
    fn never_fall(&mut self) {
        for i in 1..self.points.len() {
            let proven = self.points[i - 1].bound_usd_per_mwh;
            let bound = &mut self.points[i].bound_usd_per_mwh;
            *bound = f64::max(*bound, proven);
        }
        for i in (1..self.points.len()).rev() {
            if self.points[i].cost_usd_per_mwh < self.points[i - 1].cost_usd_per_mwh {
                let (relief_share, bound_usd_per_mwh) =
                    (self.points[i - 1].relief_share, self.points[i - 1].bound_usd_per_mwh);
                self.points[i - 1] =
                    FrontierPoint { relief_share, bound_usd_per_mwh, ..self.points[i].clone() };
            }
        }
    }
}

/// Solve, play, tighten, until the engine confirms the solver.
fn optimum_under(
    pack: &Arc<Pack>,
    facts: &Facts,
    acceptance: &Acceptance,
    relief_share: f64,
) -> Result<FrontierPoint, HindsightError> {
    let mut model = Model::new(facts, &acceptance.credit_usd_per_mwh, relief_share);
    let mut best: Option<Played> = None;
    let mut bound = f64::NEG_INFINITY;
    let mut nodes_left = NODES_MAX;
    for _ in 0..ROUNDS_MAX {
        let plan = model.solve(nodes_left)?;
        nodes_left = nodes_left.saturating_sub(plan.nodes);
        bound = f64::max(bound, plan.bound_usd_per_mwh);
        let played = play(pack, facts, acceptance, &plan.moves);
        let delivers = played.delivered_share >= relief_share - SHARE_TOLERANCE;
        if delivers && best.as_ref().is_none_or(|best| played.cost_usd_per_mwh < best.cost_usd_per_mwh) {
            best = Some(played);
        }
        let gap = gap_usd_per_mwh(bound);
        match best {
            Some(best) if best.cost_usd_per_mwh - bound <= gap => {
                return Ok(best.into_point(relief_share, bound));
            }
            _ if model.tighten(&plan, gap) => {}
            _ => break,
        }
    }
    Err(HindsightError::Unconfirmed {
        bound_usd_per_mwh: bound,
        replayed_usd_per_mwh: best.map_or(f64::INFINITY, |best| best.cost_usd_per_mwh),
    })
}
