//! Whether a pack pulls its player both ways: a pack worth shipping makes relief cost money, and
//! rewards neither doing nothing nor doing only as told.

use std::fmt;
use std::sync::Arc;

use super::{FrontierPoint, HindsightError, gap_usd_per_mwh, optimum, schedule};
use crate::campus::action::Action;
use crate::campus::episode::Episode;
use crate::campus::pack::Pack;
use crate::campus::settlement::{DoNothing, Settlement};

/// Full relief must cost at least this part of what could be saved at all.
const RELIEF_PRICE_MIN: f64 = 0.03;

/// A schedule that only minds its cost must deliver less than this share.
const COST_OPTIMAL_SHARE_MAX: f64 = 0.9;

/// What a pack asks of its player, from four runs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tension {
    /// No actions at all.
    pub do_nothing: DoNothing,
    /// Cost of doing nothing, over IT demand.
    pub do_nothing_usd_per_mwh: f64,
    /// Every order obeyed to the MW, and nothing else; see [`obey_only`].
    pub obey_only: Settlement,
    /// The least cost, whatever it delivers: C*(0).
    pub least_cost: FrontierPoint,
    /// The least cost with 90 % of the relief: C*(0.9).
    pub much_relief: FrontierPoint,
    /// The least cost with all relief: C*(1).
    pub full_relief: FrontierPoint,
}

/// One thing a shipped pack must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirement {
    /// What is measured.
    pub what: &'static str,
    /// The figure; `None` where it has no value, which keeps no limit.
    pub value: Option<f64>,
    /// What it must be.
    pub limit: Limit,
}

/// What a figure must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// More than this.
    Above(f64),
    /// Less than this.
    Below(f64),
}

/// Measures the tension of `pack`: three optima and two runs.
pub fn tension(pack: &Arc<Pack>) -> Result<Tension, HindsightError> {
    let least_cost = optimum(pack, 0.0)?;
    let obey_only = obey_only(pack);
    Ok(Tension {
        do_nothing: *pack.do_nothing(),
        do_nothing_usd_per_mwh: pack.do_nothing().cost_usd / obey_only.totals.demand_mwh,
        least_cost,
        much_relief: optimum(pack, COST_OPTIMAL_SHARE_MAX)?,
        full_relief: optimum(pack, 1.0)?,
        obey_only,
    })
}

/// The run that curtails exactly what active orders ask, at most the IT demand, and does nothing
/// else.
pub fn obey_only(pack: &Arc<Pack>) -> Settlement {
    let mut episode = Episode::new(Arc::clone(pack));
    while episode.observe().is_some() {
        // What is asked does not depend on what is done.
        let asked_mw = episode.clone().commit(Action::EMPTY).relief.asked_mw;
        episode.commit(Action { curtail_mw: asked_mw, ..Action::EMPTY });
    }
    episode.settle().expect("every turn was played")
}

impl Tension {
    /// Every requirement with its figure.
    ///
    /// Two of them say that caring for cost alone is not enough. The cost optimum need not be
    /// unique, so beside the share of the schedule that was found stands what 90 % relief adds to
    /// the least cost: more than the gap means that no cost-optimal schedule delivers as much.
    pub fn requirements(&self) -> [Requirement; 5] {
        let least = self.least_cost.cost_usd_per_mwh;
        let saving = Some(self.do_nothing_usd_per_mwh - least).filter(|&s| s > gap_usd_per_mwh(least));
        let price_of_relief = self.full_relief.cost_usd_per_mwh - least;
        [
            Requirement {
                what: "price of full relief, as a part of what can be saved",
                value: saving.map(|saving| price_of_relief / saving),
                limit: Limit::AtLeast(RELIEF_PRICE_MIN),
            },
            Requirement {
                what: "relief share of the cost optimum",
                value: Some(self.least_cost.delivered_share),
                limit: Limit::Below(COST_OPTIMAL_SHARE_MAX),
            },
            Requirement {
                what: "what 90 % relief adds to the least cost, usd per MWh",
                value: Some(self.much_relief.bound_usd_per_mwh - least),
                limit: Limit::Above(gap_usd_per_mwh(least)),
            },
            Requirement {
                what: "stars for doing nothing",
                value: Some(f64::from(self.do_nothing.stars)),
                limit: Limit::AtMost(0.0),
            },
            Requirement {
                what: "stars for obeying orders and nothing else",
                value: Some(f64::from(self.obey_only.stars)),
                limit: Limit::AtMost(0.0),
            },
        ]
    }

    /// Cost over IT demand and relief share of the run that only obeys.
    pub fn obey_only_metrics(&self) -> (Option<f64>, Option<f64>) {
        schedule::metrics(&self.obey_only)
    }
}

impl Requirement {
    /// Whether the figure has a value and the value is within its limit.
    pub fn holds(&self) -> bool {
        self.value.is_some_and(|value| match self.limit {
            Limit::AtLeast(limit) => value >= limit,
            Limit::AtMost(limit) => value <= limit,
            Limit::Above(limit) => value > limit,
            Limit::Below(limit) => value < limit,
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(f, "at least {limit}"),
            Self::AtMost(limit) => write!(f, "at most {limit}"),
            Self::Above(limit) => write!(f, "above {limit}"),
            Self::Below(limit) => write!(f, "below {limit}"),
        }
    }
}
