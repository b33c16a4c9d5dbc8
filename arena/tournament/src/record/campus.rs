use std::cmp::Ordering;
use std::sync::Arc;

use arena_engine::campus::{
    Action, Amount, Better, Clamp, ClampReason, Episode, Field, MetricId, MetricValue, Pack, Resolution,
    Settlement,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Derived, DerivedMoves, ForfeitFact, RecordFault, forfeits_the_turn, is_no_contest, outcome};
use crate::frozen::MoveValidation;

/// What a seat asked for on one turn; nothing after it forfeited.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct CampusMove {
    /// The action as given.
    pub asked: Option<Asked>,
}

/// An action as given. JSON has no word for what is not finite, so a record has one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub(super) accept_offer: bool,
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub(super) battery_mw: f64,
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub(super) curtail_mw: f64,
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub(super) diesel_mw: f64,
}

/// A turn as a record keeps it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DerivedMove {
    pub(super) applied: Asked,
    pub(super) asked: Option<Asked>,
    pub(super) clamps: Vec<Cut>,
    /// The action was invalid, and cost its seat the turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) invalid: bool,
}

/// A limit that changed a member of an action.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Cut {
    applied: Amount,
    field: Field,
    reason: ClampReason,
    requested: Amount,
}

/// Stars and metrics of one episode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Settled {
    /// Both metrics, in the pack's order; never one number.
    pub metrics: [Measured; 2],
    /// Stars earned, 0 to 3.
    pub stars: u8,
}

/// One metric with what it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// Which way is good.
    pub better: Better,
    /// By what is divided.
    pub denominator: f64,
    /// What is measured.
    pub id: MetricId,
    /// What is divided.
    pub numerator: f64,
    /// The quotient; `null` where it has no value.
    pub value: Option<f64>,
}

impl From<MetricValue> for Measured {
    fn from(metric: MetricValue) -> Self {
        let MetricValue { id, value, numerator, denominator, better } = metric;
        Self { better, denominator, id, numerator, value }
    }
}

impl From<Clamp> for Cut {
    fn from(clamp: Clamp) -> Self {
        let Clamp { field, requested, applied, reason } = clamp;
        Self { applied, field, reason, requested }
    }
}

impl From<Action> for Asked {
    fn from(action: Action) -> Self {
        let Action { curtail_mw, battery_mw, diesel_mw, accept_offer } = action;
        Self { curtail_mw, battery_mw, diesel_mw, accept_offer }
    }
}

impl From<Asked> for Action {
    fn from(asked: Asked) -> Self {
        let Asked { curtail_mw, battery_mw, diesel_mw, accept_offer } = asked;
        Self { curtail_mw, battery_mw, diesel_mw, accept_offer }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn write<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match *value {
        finite if finite.is_finite() => serializer.serialize_f64(finite),
        nan if nan.is_nan() => serializer.serialize_str("NaN"),
        positive if positive > 0.0 => serializer.serialize_str("Infinity"),
        _ => serializer.serialize_str("-Infinity"),
    }
}

fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Number;
    impl serde::de::Visitor<'_> for Number {
        type Value = f64;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a number, or NaN, Infinity, -Infinity")
        }
        fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
            Ok(value)
        }
        fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<f64, E> {
            match word {
                "NaN" => Ok(f64::NAN),
                "Infinity" => Ok(f64::INFINITY),
                "-Infinity" => Ok(f64::NEG_INFINITY),
                _ => Err(E::invalid_value(serde::de::Unexpected::Str(word), &self)),
            }
        }
    }
    deserializer.deserialize_any(Number)
}

/// Whether an action is outside its static range on a turn of this demand: what can be said of it
/// without the state of the campus.
pub(crate) fn is_invalid(action: &Action, demand_mw: f64, pack: &Pack) -> bool {
    let site = &pack.document().site;
    let power_mw = site.battery.power_mw;
    let within = |value: f64, low: f64, high: f64| value >= low && value <= high;
    // A comparison with NaN is false, so what is not a number is outside of everything.
    !(within(action.curtail_mw, 0.0, demand_mw)
        && within(action.battery_mw, -power_mw, power_mw)
        && within(action.diesel_mw, 0.0, site.generator.capacity_mw))
}

/// Plays both episodes again from what was asked.
pub(super) fn derive(
    pack: &Arc<Pack>,
    moves: [Vec<CampusMove>; 2],
    forfeits: &[Option<ForfeitFact>; 2],
    validation: MoveValidation,
) -> Result<Derived, RecordFault> {
    if is_no_contest(forfeits) {
        if moves.iter().any(|moves| !moves.is_empty()) {
            let text = "/moves has moves, and nobody could play".to_owned();
            return Err(RecordFault::Contradiction(text));
        }
        return Ok(Derived {
            moves: DerivedMoves::Campus([Vec::new(), Vec::new()]),
            outcome: outcome(forfeits, Ordering::Equal),
            scores: [0; 2],
            settlements: None,
            turns_each: 0,
            turns: 0,
        });
    }
    let [first, second] = moves;
    let (first, first_settled) = episode(0, pack, first, forfeits[0].as_ref(), validation)?;
    let (second, second_settled) = episode(1, pack, second, forfeits[1].as_ref(), validation)?;
    let by_points = compare(&first_settled, &second_settled);
    let outcome = outcome(forfeits, by_points);
    let scores = match (outcome, by_points) {
        (super::Outcome::First, _) | (super::Outcome::DoubleForfeit, Ordering::Greater) => [2, 0],
        (super::Outcome::Second, _) | (super::Outcome::DoubleForfeit, Ordering::Less) => [0, 2],
        _ => [1, 1],
    };
    let settled = |settlement: Settlement| Settled {
        metrics: settlement.metrics.map(Measured::from),
        stars: settlement.stars,
    };
    Ok(Derived {
        moves: DerivedMoves::Campus([first, second]),
        outcome,
        scores,
        settlements: Some([settled(first_settled), settled(second_settled)]),
        turns_each: pack.turns() as usize,
        turns: 2 * u64::from(pack.turns()),
    })
}

fn episode(
    seat: usize,
    pack: &Arc<Pack>,
    moves: Vec<CampusMove>,
    forfeit: Option<&ForfeitFact>,
    validation: MoveValidation,
) -> Result<(Vec<DerivedMove>, Settlement), RecordFault> {
    let contradiction = |text: String| RecordFault::Contradiction(text);
    if moves.len() != pack.turns() as usize {
        return Err(contradiction(format!("/moves/{seat} has {} turns, not {}", moves.len(), pack.turns())));
    }
    let gone = forfeit.map_or(u32::MAX, |forfeit| forfeit.turn);
    let mut episode = Episode::new(Arc::clone(pack));
    let mut derived = Vec::with_capacity(moves.len());
    for CampusMove { asked } in moves {
        let Some(seen) = episode.observe() else { break };
        let turn = seen.turn();
        if asked.is_none() != (turn >= gone) {
            return Err(contradiction(format!("/moves/{seat}/{turn} does not agree with the forfeit")));
        }
        let action: Action = asked.map_or(Action::EMPTY, Action::from);
        let invalid = forfeits_the_turn(validation, is_invalid(&action, seen.it_demand_mw(), pack));
        let resolution = episode.commit(if invalid { Action::EMPTY } else { action });
        derived.push(DerivedMove::new(asked, invalid, resolution));
    }
    let settlement = episode.settle().ok_or_else(|| contradiction("it is not over".to_owned()))?;
    Ok((derived, settlement))
}

impl DerivedMove {
    fn new(asked: Option<Asked>, invalid: bool, resolution: &Resolution) -> Self {
        Self {
            asked,
            applied: resolution.applied.into(),
            clamps: resolution.clamps.iter().copied().map(Cut::from).collect(),
            invalid,
        }
    }
}

/// More stars win; equal stars: at least as good on both metrics and better on one.
fn compare(first: &Settlement, second: &Settlement) -> Ordering {
    let by_metric = |k: usize| better(&first.metrics[k], &second.metrics[k]);
    first.stars.cmp(&second.stars).then_with(|| match (by_metric(0), by_metric(1)) {
        (Ordering::Equal, other) | (other, Ordering::Equal) => other,
        (one, other) if one == other => one,
        _ => Ordering::Equal,
    })
}

/// Which of two values of the same metric is the better one; one without a value is worse.
fn better(first: &MetricValue, second: &MetricValue) -> Ordering {
    match (first.value, second.value) {
        (Some(first_value), Some(second_value)) => {
            let order = first_value.partial_cmp(&second_value).unwrap_or(Ordering::Equal);
            if first.better == Better::Lower { order.reverse() } else { order }
        }
        (first, second) => first.is_some().cmp(&second.is_some()),
    }
}
