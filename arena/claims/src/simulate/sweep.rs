//! Where honesty stops being best: one thing is made worse step by step, everything else stays, and at each step a
//! simulation of the same seed is run. What the conditions say of it in closed form stands beside it.

use std::collections::BTreeMap;

use arena_canon::json::Value;
use serde_json::json;

use super::behaviour::Population;
use super::report::Standing;
use super::tally::Estimate;
use super::{Config, simulate_with};
use crate::life::Refusal;
use crate::params::{BPS, PPM, Params};

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// The audit floor: how often a run is audited whose operator has the longest record.
    Audit,
    /// σ: the part of the stake that is lost with an overturned run.
    Slash,
    /// How often a reviewer that looks sees right.
    Accuracy,
}

/// What is measured at one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The value, in the axis's unit.
    pub value: u64,
    /// Honesty against the best of the others, per drawn seat.
    pub standing: Option<Standing>,
    /// What the honest earn per review.
    pub review: Option<Estimate>,
}

/// The least value at which a condition holds, everything else being as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Predicted {
    /// The condition.
    pub id: &'static str,
    /// The least value; nothing if none is enough.
    pub least: Option<u64>,
    /// The same if a check were always right, as it nearly is where two records are compared exactly.
    pub with_sure_checks: Option<u64>,
}

/// An axis from end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// What is varied.
    pub axis: Axis,
    /// The agents.
    pub populations: BTreeMap<Population, u64>,
    /// Claims at each value.
    pub claims: u64,
    /// In ascending order.
    pub points: Vec<Point>,
    /// What the conditions say.
    pub predicted: Predicted,
}

impl Axis {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Audit, Self::Slash, Self::Accuracy];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Slash => "slash",
            Self::Accuracy => "accuracy",
        }
    }

    /// What its values are.
    pub fn title(self) -> &'static str {
        match self {
            Self::Audit => "audit floor",
            Self::Slash => "slashed part of the stake",
            Self::Accuracy => "accuracy of reviewers",
        }
    }

    /// Values that are one, in its unit.
    pub fn whole(self) -> u64 {
        match self {
            Self::Audit | Self::Accuracy => PPM,
            Self::Slash => BPS,
        }
    }

    /// The name of its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Audit | Self::Accuracy => "ppm",
            Self::Slash => "bps",
        }
    }

    /// What is looked at, and asked to be above 0.
    pub fn measure(self) -> &'static str {
        match self {
            Self::Audit | Self::Slash => "honest less best other, per drawn seat",
            Self::Accuracy => "honest, per review",
        }
    }

    /// The values that are tried.
    pub fn grid(self) -> &'static [u64] {
        match self {
            Self::Audit => {
                &[0, 20_000, 40_000, 60_000, 80_000, 100_000, 120_000, 150_000, 200_000, 300_000, 500_000]
            }
            Self::Slash => &[0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000, 10_000],
            Self::Accuracy => &[
                700_000, 800_000, 850_000, 880_000, 900_000, 910_000, 920_000, 930_000, 950_000, 980_000,
                1_000_000,
            ],
        }
    }

    /// Who shows it best. Audits and slashes are all that holds back those who fake where nobody volunteers to
    /// check; reviewers are needed where there are disputes.
    pub fn field(self) -> BTreeMap<Population, u64> {
        match self {
            Self::Audit | Self::Slash => [(Population::Honest, 24), (Population::Patient, 72)].into(),
            Self::Accuracy => Config::mixed_field(),
        }
    }

    /// Where a set of parameters stands on the axis.
    pub fn value(self, config: &Config) -> u64 {
        match self {
            Self::Audit => config.params.audit_floor_ppm,
            Self::Slash => config.params.slash_bps,
            Self::Accuracy => config.reviewer_ppm,
        }
    }

    /// Sets the value.
    pub fn set(self, config: &mut Config, value: u64) {
        self.set_params(&mut config.params, value);
        if self == Self::Accuracy {
            config.reviewer_ppm = value;
        }
    }

    fn set_params(self, params: &mut Params, value: u64) {
        match self {
            Self::Audit => {
                params.audit_floor_ppm = value;
                // What is new is not audited less than what is not.
                params.audit_floor_new_ppm = params.audit_floor_new_ppm.max(value);
            }
            Self::Slash => params.slash_bps = value,
            Self::Accuracy => params.assumptions.reviewer_ppm = value,
        }
    }

    /// What the conditions say.
    pub fn predicted(self, params: &Params) -> Predicted {
        let id = match self {
            Self::Audit | Self::Slash => "I1",
            Self::Accuracy => "I9",
        };
        let mut sure = params.clone();
        sure.assumptions.q_ppm = PPM;
        let with_sure_checks = match self {
            Self::Audit | Self::Slash => self.least(&sure, id),
            Self::Accuracy => None,
        };
        Predicted { id, least: self.least(params, id), with_sure_checks }
    }

    /// The least value at which condition `id` holds: it only gets easier with each of the axes.
    fn least(self, params: &Params, id: &str) -> Option<u64> {
        let holds = |value: u64| {
            let mut params = params.clone();
            self.set_params(&mut params, value);
            params.inequalities().iter().any(|inequality| inequality.id == id && inequality.holds())
        };
        let (mut low, mut high) = (0, self.whole());
        if !holds(high) {
            return None;
        }
        while low < high {
            let middle = low.midpoint(high);
            if holds(middle) {
                high = middle;
            } else {
                low = middle.saturating_add(1);
            }
        }
        Some(low)
    }
}

impl Point {
    /// What is asked to be above 0, in hundredths.
    pub fn margin(&self, axis: Axis) -> Option<i128> {
        match axis {
            Axis::Audit | Axis::Slash => self.standing.map(|standing| standing.lead()),
            Axis::Accuracy => self.review.map(|review| review.mean),
        }
    }

    /// Half the width of its 95 % interval. Of two estimates it is the sum of theirs, which is more than enough.
    pub fn margin_half(&self, axis: Axis) -> Option<i128> {
        match axis {
            Axis::Audit | Axis::Slash => {
                self.standing.map(|standing| standing.honest.half.saturating_add(standing.best.half))
            }
            Axis::Accuracy => self.review.map(|review| review.half),
        }
    }
}

impl Sweep {
    /// Between which values the margin goes above 0 for good. Nothing if it is above, or not, on the whole grid.
    pub fn crossing(&self) -> Option<(u64, u64)> {
        let above = |point: &Point| point.margin(self.axis).is_some_and(|margin| margin > 0);
        let last = self.points.iter().rposition(|point| !above(point))?;
        let next = self.points.get(last.saturating_add(1))?;
        Some((self.points[last].value, next.value))
    }

    /// Whether the margin is above 0 on the whole grid.
    pub fn never_breaks(&self) -> bool {
        self.points.iter().all(|point| point.margin(self.axis).is_some_and(|margin| margin > 0))
    }

    /// The axis as a document.
    pub fn to_json(&self) -> Value {
        let points = self.points.iter().map(|point| {
            let mut row = json!({
                "value": point.value,
                "per_drawn_seat": point.standing.map(|standing| standing.to_json()),
                "honest_per_review": point.review.map(|review| review.to_json()),
            });
            row["holds"] = point.margin(self.axis).map(|margin| margin > 0).into();
            row
        });
        let agents = self.populations.iter().map(|(population, n)| (population.name().to_owned(), json!(n)));
        json!({
            "axis": self.axis.name(), "unit": self.axis.unit(), "measure": self.axis.measure(),
            "agents": agents.collect::<serde_json::Map<_, _>>(),
            "rounds": self.claims,
            "points": points.collect::<Vec<_>>(),
            "crossing": self.crossing().map(|(below, above)| json!({ "below": below, "above": above })),
            "predicted": {
                "condition": self.predicted.id, "least": self.predicted.least,
                "least_with_sure_checks": self.predicted.with_sure_checks,
            },
        })
    }
}

/// Goes through `axis`, from the parameters, the seed and the number of claims of `base`; the agents are those of
/// [`Axis::field`] unless some are given. Operators start with long records, so that audits are at the floor.
/// `done` hears how many claims are over, of all points.
pub fn sweep(
    base: &Config,
    axis: Axis,
    agents: Option<&BTreeMap<Population, u64>>,
    done: &mut dyn FnMut(u64),
) -> Result<Sweep, Refusal> {
    let populations = agents.cloned().unwrap_or_else(|| axis.field());
    let mut config = Config { populations: populations.clone(), established: true, ..base.clone() };
    let mut points = Vec::new();
    let mut before: u64 = 0;
    for value in axis.grid() {
        axis.set(&mut config, *value);
        let report = simulate_with(&config, &mut |claims| done(before.saturating_add(claims)))?;
        before = before.saturating_add(config.claims);
        let honest = report.tallies.get(&Population::Honest);
        points.push(Point {
            value: *value,
            standing: report.standing(),
            review: honest.and_then(|tally| tally.per_review()),
        });
    }
    let predicted = axis.predicted(&base.params);
    Ok(Sweep { axis, populations, claims: base.claims, points, predicted })
}
