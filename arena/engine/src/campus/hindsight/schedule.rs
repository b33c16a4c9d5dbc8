//! From a plan of the solver to a schedule that the engine has played.

use std::sync::Arc;

use super::FrontierPoint;
use super::appeals::Acceptance;
use super::facts::Facts;
use super::model::{Move, NOISE};
use crate::campus::action::Action;
use crate::campus::episode::Episode;
use crate::campus::pack::{MetricId, Pack};
use crate::campus::settlement::{Settlement, measure};

/// A schedule, and what the engine made of it.
pub(super) struct Played {
    pub(super) cost_usd_per_mwh: f64,
    pub(super) delivered_share: f64,
    schedule: Vec<Action>,
}

impl Played {
    pub(super) fn into_point(self, relief_share: f64, bound_usd_per_mwh: f64) -> FrontierPoint {
        FrontierPoint {
            relief_share,
            // The solver rounds too; a cost that was reached is never below the bound.
            bound_usd_per_mwh: f64::min(bound_usd_per_mwh, self.cost_usd_per_mwh),
            cost_usd_per_mwh: self.cost_usd_per_mwh,
            delivered_share: self.delivered_share,
            schedule: self.schedule,
        }
    }
}

/// Plays `moves` and keeps what was applied, so that playing it again clamps nothing.
pub(super) fn play(pack: &Arc<Pack>, facts: &Facts, acceptance: &Acceptance, moves: &[Move]) -> Played {
    let mut episode = Episode::new(Arc::clone(pack));
    let noise_mw = NOISE * facts.largest_power_mw();
    let mut schedule = Vec::with_capacity(moves.len());
    for (planned, &accept_offer) in moves.iter().zip(&acceptance.accept) {
        let mut action = Action {
            curtail_mw: planned.curtail_mw,
            battery_mw: planned.discharge_mw - planned.charge_mw,
            diesel_mw: planned.diesel_mw,
            accept_offer,
        };
        // The solver's rounding may leave an order a hair short of what the plan counts on.
        let short_mw = planned.relief_mw - episode.clone().commit(action).relief.delivered_mw;
        if short_mw > 0.0 && short_mw < noise_mw {
            action.curtail_mw += short_mw + NOISE * noise_mw;
        }
        schedule.push(episode.commit(action).applied);
    }
    let settled = episode.settle();
    let (cost, share) = settled.map_or((None, None), |settled| metrics(&settled));
    Played {
        cost_usd_per_mwh: cost.unwrap_or(f64::INFINITY),
        delivered_share: share.unwrap_or(0.0),
        schedule,
    }
}

/// Cost per MWh of IT demand and relief share of a run, whichever two metrics its pack scores.
pub(super) fn metrics(run: &Settlement) -> (Option<f64>, Option<f64>) {
    let value = |id| measure(id, &run.ledger, &run.totals).value;
    (value(MetricId::CostUsdPerMwh), value(MetricId::ReliefShare))
}
