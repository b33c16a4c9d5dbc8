use schemars::JsonSchema;
use serde::Serialize;

use super::pack::{Metric, MetricId, Scoring};

/// Sums over the turns so far, as a competitor sees them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Ledger {
    /// Cost of all turns, in the pack's currency.
    pub cost_usd: f64,
    /// IT energy shed.
    pub shed_mwh: f64,
    /// Relief delivered to orders.
    pub relief_delivered_mwh: f64,
    /// Relief asked by orders.
    pub relief_asked_mwh: f64,
}

/// Sums over the whole episode.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Totals {
    /// IT energy demanded.
    pub demand_mwh: f64,
    /// IT energy served.
    pub served_mwh: f64,
    /// Energy drawn from the grid.
    pub import_mwh: f64,
    /// Energy drawn to fill the battery.
    pub charge_mwh: f64,
    /// Energy delivered by the battery.
    pub discharge_mwh: f64,
    /// Energy delivered by the generator.
    pub gas_mwh: f64,
    /// Paid for energy.
    pub energy_cost_usd: f64,
    /// Paid for fuel.
    pub fuel_cost_usd: f64,
    /// Paid for shedding.
    pub sla_cost_usd: f64,
    /// Earned from appeals.
    pub credit_usd: f64,
}

/// Which way a metric is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
}

/// One metric with what it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MetricValue {
    /// What is measured.
    pub id: MetricId,
    /// The quotient; `null` where the denominator is zero and the metric has no value there.
    pub value: Option<f64>,
    /// What is divided.
    pub numerator: f64,
    /// By what.
    pub denominator: f64,
    /// Which way is good.
    pub better: Better,
}

/// The outcome of the same pack with no actions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DoNothing {
    /// Its cost.
    pub cost_usd: f64,
    /// Both metrics.
    pub metrics: [MetricValue; 2],
    /// Stars it earns, 0 to 3.
    #[schemars(range(max = 3))]
    pub stars: u8,
}

/// The outcome of an episode. Nothing is combined into one number.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Settlement {
    /// Version of the scoring, as the pack declares it.
    pub score_version: String,
    /// Both metrics, in the pack's order.
    pub metrics: [MetricValue; 2],
    /// Stars earned, 0 to 3: star k needs both metrics at their k-th threshold and every lower star.
    #[schemars(range(max = 3))]
    pub stars: u8,
    /// Sums a competitor saw.
    pub ledger: Ledger,
    /// Sums over the episode.
    pub totals: Totals,
    /// State of charge after the last turn; it has no value of its own.
    pub final_soc_mwh: f64,
    /// Turns on which the generator ran.
    pub generator_turns: u32,
    /// Clamps over the episode.
    pub clamp_count: u64,
    /// The same pack with no actions.
    pub do_nothing: DoNothing,
}

/// The metric `id` from an episode's sums.
pub(super) fn measure(id: MetricId, ledger: &Ledger, totals: &Totals) -> MetricValue {
    let (numerator, denominator, better, of_nothing) = match id {
        MetricId::CostUsdPerMwh => (ledger.cost_usd, totals.demand_mwh, Better::Lower, None),
        MetricId::ReliefShare => {
            (ledger.relief_delivered_mwh, ledger.relief_asked_mwh, Better::Higher, Some(1.0))
        }
        MetricId::ItServedShare => (totals.served_mwh, totals.demand_mwh, Better::Higher, None),
    };
    let quotient = || Some(numerator / denominator).filter(|value| value.is_finite());
    let value = if denominator == 0.0 { of_nothing } else { quotient() };
    MetricValue { id, value, numerator, denominator, better }
}

/// Both metrics of a pack, and the stars they earn.
pub(super) fn score(scoring: &Scoring, ledger: &Ledger, totals: &Totals) -> ([MetricValue; 2], u8) {
    let metrics = scoring.metrics.map(|metric| measure(metric.id, ledger, totals));
    let earned = |k: usize| scoring.metrics.iter().zip(&metrics).all(|(goal, got)| meets(goal, got, k));
    let stars = (0..3).take_while(|&k| earned(k)).count();
    (metrics, stars as u8)
}

fn meets(goal: &Metric, got: &MetricValue, k: usize) -> bool {
    got.value.is_some_and(|value| match got.better {
        Better::Lower => value <= goal.stars[k],
        Better::Higher => value >= goal.stars[k],
    })
}
