//! What an episode came to, as facts.

use std::collections::BTreeMap;

use arena_engine::campus::{Better, EpisodeLog, Metric, MetricId, MetricValue, Pack};
use arena_engine::limits::Limits;

use crate::ink::Tone;
use crate::view::facts::Facts;
use crate::view::numbers::{count, counted, grouped, optional};

/// Both metrics, stars, clamps and, if it was sandboxed, fuel. `best_usd_per_mwh` is the least
/// cost that anybody could have had at this relief, if it is known.
pub(crate) fn facts(log: &EpisodeLog, pack: &Pack, limits: &Limits, best_usd_per_mwh: Option<f64>) -> Facts {
    let mut facts = Facts::default();
    let settlement = &log.settlement;
    let baseline = &settlement.do_nothing.metrics;
    for (metric, nothing) in settlement.metrics.iter().zip(baseline) {
        let mut asides = vec![denominator(metric)];
        asides.extend(metric_aside(metric, nothing, best_usd_per_mwh));
        asides.retain(|aside| !aside.is_empty());
        facts.add(label(metric.id), metric_value(metric)).toned(Tone::Strong).aside(asides.join(" · "));
    }
    let tone = if settlement.stars == 0 { Tone::Quiet } else { Tone::Warn };
    facts.add("stars", stars(settlement.stars)).toned(tone).aside(next_star(
        &pack.document().scoring.metrics,
        &settlement.metrics,
        settlement.stars,
    ));
    facts.add("clamps", count(settlement.clamp_count)).aside(clamps(log));
    if let Some(run) = &log.run {
        let most = run.fuel.iter().copied().max().unwrap_or_default();
        let aside = format!("a turn at most; the limit is {}", count(limits.turn_fuel_max));
        facts.add("fuel", count(most)).aside(aside);
    }
    facts
}

/// `★★☆`
pub(crate) fn stars(earned: u8) -> String {
    (1..=3).map(|k| if k <= earned { '★' } else { '☆' }).collect()
}

pub(crate) fn label(id: MetricId) -> &'static str {
    match id {
        MetricId::CostUsdPerMwh => "cost",
        MetricId::ReliefShare => "relief",
        MetricId::ItServedShare => "served",
    }
}

/// `512.40 $/MWh`, `0.912`
pub(crate) fn metric_value(metric: &MetricValue) -> String {
    value(metric.id, metric.value)
}

fn value(id: MetricId, value: Option<f64>) -> String {
    match id {
        MetricId::CostUsdPerMwh => format!("{} $/MWh", optional(value, 2)),
        MetricId::ReliefShare | MetricId::ItServedShare => optional(value, 3),
    }
}

fn denominator(metric: &MetricValue) -> String {
    let of =
        |what| format!("{} of {} MWh {what}", grouped(metric.numerator, 1), grouped(metric.denominator, 1));
    match metric.id {
        MetricId::CostUsdPerMwh => String::new(),
        MetricId::ReliefShare if metric.denominator == 0.0 => "nothing was asked".to_owned(),
        MetricId::ReliefShare => of("asked"),
        MetricId::ItServedShare => of("demanded"),
    }
}

fn metric_aside(metric: &MetricValue, nothing: &MetricValue, best: Option<f64>) -> Vec<String> {
    if metric.id != MetricId::CostUsdPerMwh {
        return Vec::new();
    }
    let baseline = format!("do nothing {}", optional(nothing.value, 2));
    let best = best.map(|best| format!("best at this relief {}", grouped(best, 2)));
    std::iter::once(baseline).chain(best).collect()
}

/// What is missing for one star more.
fn next_star(goals: &[Metric; 2], got: &[MetricValue; 2], stars: u8) -> String {
    let k = usize::from(stars);
    if k >= 3 {
        return String::new();
    }
    let missing = goals.iter().zip(got).filter_map(|(goal, got)| {
        let threshold = goal.stars[k];
        let (sign, met) = match got.better {
            Better::Lower => ("≤", got.value.is_some_and(|value| value <= threshold)),
            Better::Higher => ("≥", got.value.is_some_and(|value| value >= threshold)),
        };
        (!met).then(|| format!("{} {sign} {}", label(goal.id), value(goal.id, Some(threshold))))
    });
    let next = ["the first", "the second", "the third"][k];
    format!("{next} needs {}", missing.collect::<Vec<_>>().join(" and "))
}

fn clamps(log: &EpisodeLog) -> String {
    let mut counts = BTreeMap::<&str, u64>::new();
    for clamp in log.turns.iter().flat_map(|turn| &turn.resolution.clamps) {
        *counts.entry(clamp.reason.name()).or_default() += 1;
    }
    counts.into_iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}

/// `two-spikes 0.1.0`, `24 turns of 15 min from 2024-05-08 16:00`, `80 MW campus`, versions.
pub(crate) fn header(log: &EpisodeLog, pack: &Pack) -> Vec<String> {
    let document = pack.document();
    let time = &document.time;
    let peak = document.site.it_demand_mw.iter().copied().fold(0.0, f64::max);
    let limits = log.pins.as_ref().and_then(|pins| pins.limits_version);
    let limits = limits.map(|version| format!(", limits {version}")).unwrap_or_default();
    vec![
        format!("{} {}", document.pack_id, document.pack_version),
        format!("{} of {} min", counted(u64::from(time.turns), "turn"), time.step_minutes),
        format!("{} MW campus", grouped(peak, 0)),
        format!("engine {}, score {}{limits}", log.engine_version, log.score_version),
    ]
}
