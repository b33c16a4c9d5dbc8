use arena_canon::json::{Pointer, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clamp::Field;
use super::fault::{Faults, Findings};
use super::validate::{Checker, describe, nearest};
use super::{RESERVED_MOVES, fault::Finding};

/// What a competitor asks for on one turn. Any number is allowed: limits are applied, and reported,
/// by the episode.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Action {
    /// IT load to shed, MW.
    pub curtail_mw: f64,
    /// Discharge (positive) or charge (negative) of the battery, MW.
    pub battery_mw: f64,
    /// Output of the natural-gas generator, MW.
    pub diesel_mw: f64,
    /// Accept every active appeal.
    pub accept_offer: bool,
}

impl Action {
    /// Do nothing.
    pub const EMPTY: Self = Self { curtail_mw: 0.0, battery_mw: 0.0, diesel_mw: 0.0, accept_offer: false };

    fn get_mut(&mut self, field: Field) -> Option<&mut f64> {
        match field {
            Field::CurtailMw => Some(&mut self.curtail_mw),
            Field::BatteryMw => Some(&mut self.battery_mw),
            Field::DieselMw => Some(&mut self.diesel_mw),
            Field::AcceptOffer => None,
        }
    }
}

/// A member of an action as it was written: a log keeps it as given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Given<T> {
    /// The key is absent: counts as zero or no.
    #[default]
    Missing,
    /// `null`: counts as zero or no.
    Null,
    /// A value.
    Value(T),
}

impl<T: Copy + Default> Given<T> {
    fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    fn value(self) -> T {
        match self {
            Self::Missing | Self::Null => T::default(),
            Self::Value(value) => value,
        }
    }
}

impl<T: Serialize> Serialize for Given<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing | Self::Null => serializer.serialize_none(),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Given<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<T>::json_schema(generator)
    }
}

/// An action as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[schemars(rename = "Action")]
pub struct RawAction {
    /// IT load to shed, 0 to the IT demand, MW.
    #[serde(default, skip_serializing_if = "Given::is_missing")]
    pub curtail_mw: Given<f64>,
    /// Positive discharges to serve load, negative charges from the grid, MW.
    #[serde(default, skip_serializing_if = "Given::is_missing")]
    pub battery_mw: Given<f64>,
    /// Output of the natural-gas generator (a legacy wire name), 0 to its capacity, MW.
    #[serde(default, skip_serializing_if = "Given::is_missing")]
    pub diesel_mw: Given<f64>,
    /// Accept every appeal that is active now, until it ends.
    #[serde(default, skip_serializing_if = "Given::is_missing")]
    pub accept_offer: Given<bool>,
}

/// A value of an action that JSON cannot hold; the action itself shows `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NonFinite {
    /// Not a number.
    #[serde(rename = "NaN")]
    NaN,
    /// Positive infinity.
    Infinity,
    /// Negative infinity.
    #[serde(rename = "-Infinity")]
    NegativeInfinity,
}

impl NonFinite {
    /// Which of them `value` is, if it is not finite.
    pub fn of(value: f64) -> Option<Self> {
        match value {
            finite if finite.is_finite() => None,
            nan if nan.is_nan() => Some(Self::NaN),
            positive if positive > 0.0 => Some(Self::Infinity),
            _ => Some(Self::NegativeInfinity),
        }
    }

    pub(super) fn value(self) -> f64 {
        match self {
            Self::NaN => f64::NAN,
            Self::Infinity => f64::INFINITY,
            Self::NegativeInfinity => f64::NEG_INFINITY,
        }
    }
}

impl RawAction {
    /// How `action` is written, and what of it JSON cannot hold.
    pub fn of(action: &Action) -> (Self, impl Iterator<Item = (Field, NonFinite)> + use<>) {
        let written = |value: f64| if value.is_finite() { Given::Value(value) } else { Given::Null };
        let raw = Self {
            curtail_mw: written(action.curtail_mw),
            battery_mw: written(action.battery_mw),
            diesel_mw: written(action.diesel_mw),
            accept_offer: Given::Value(action.accept_offer),
        };
        let values = [
            (Field::CurtailMw, action.curtail_mw),
            (Field::BatteryMw, action.battery_mw),
            (Field::DieselMw, action.diesel_mw),
        ];
        let lost = values.into_iter().filter_map(|(field, v)| NonFinite::of(v).map(|lost| (field, lost)));
        (raw, lost)
    }

    /// What is asked: missing and `null` members count as zero or no.
    pub fn action(&self) -> Action {
        Action {
            curtail_mw: self.curtail_mw.value(),
            battery_mw: self.battery_mw.value(),
            diesel_mw: self.diesel_mw.value(),
            accept_offer: self.accept_offer.value(),
        }
    }

    /// [`RawAction::action`] with the values JSON could not hold put back.
    pub(super) fn action_with(&self, lost: impl Iterator<Item = (Field, NonFinite)>) -> Action {
        let mut action = self.action();
        for (field, value) in lost {
            if let Some(number) = action.get_mut(field) {
                *number = value.value();
            }
        }
        action
    }

    /// Whether the member is written with a value.
    pub(super) fn has_value(&self, field: Field) -> bool {
        match field {
            Field::CurtailMw => matches!(self.curtail_mw, Given::Value(_)),
            Field::BatteryMw => matches!(self.battery_mw, Given::Value(_)),
            Field::DieselMw => matches!(self.diesel_mw, Given::Value(_)),
            Field::AcceptOffer => matches!(self.accept_offer, Given::Value(_)),
        }
    }

    /// Whether the member is written as `null`.
    pub(super) fn is_null(&self, field: Field) -> bool {
        match field {
            Field::CurtailMw => self.curtail_mw == Given::Null,
            Field::BatteryMw => self.battery_mw == Given::Null,
            Field::DieselMw => self.diesel_mw == Given::Null,
            Field::AcceptOffer => self.accept_offer == Given::Null,
        }
    }
}

/// Reads a JSON array of actions, one a turn, for an episode of `turns` turns. Fewer are fine (the
/// rest is played with empty actions); every fault is told at once.
pub fn read_actions(document: &Value, turns: u32) -> Result<Vec<RawAction>, Faults> {
    let root = Pointer::default();
    let Value::Array(items) = document else {
        let message = format!("expected an array of action objects, found {}", describe(document));
        return Err(Faults(vec![Finding { pointer: String::new(), message }]));
    };
    let mut findings = Findings::default();
    if items.len() > turns as usize {
        let message = format!("{} actions for an episode of {turns} turns", items.len());
        findings.add(&root.index(turns as usize), message);
    }
    let actions =
        items.iter().enumerate().map(|(t, item)| read(item, &root.index(t), &mut findings)).collect();
    match findings.into_vec() {
        none if none.is_empty() => Ok(actions),
        found => Err(Faults(found)),
    }
}

/// Reads one action object.
pub(super) fn read(value: &Value, at: &Pointer, findings: &mut Findings) -> RawAction {
    let Value::Object(members) = value else {
        findings.add(at, format!("expected an action object, found {}", describe(value)));
        return RawAction::default();
    };
    let mut raw = RawAction::default();
    for (key, member) in members {
        let at = at.key(key);
        match key.as_str() {
            "curtail_mw" => raw.curtail_mw = number(member, &at, findings),
            "battery_mw" => raw.battery_mw = number(member, &at, findings),
            "diesel_mw" => raw.diesel_mw = number(member, &at, findings),
            "accept_offer" => raw.accept_offer = boolean(member, &at, findings),
            reserved if RESERVED_MOVES.contains(&reserved) => {
                findings.add(&at, "this move is reserved by the contract; no pack plays it yet");
            }
            unknown => {
                findings.add(&at, format!("unknown field{}", nearest(unknown, &Field::ALL.map(Field::name))))
            }
        }
    }
    raw
}

fn number(member: &Value, at: &Pointer, findings: &mut Findings) -> Given<f64> {
    match member {
        Value::Null => Given::Null,
        Value::Number(number) => Given::Value(Checker::as_f64(number)),
        other => {
            findings.add(at, format!("expected a number in MW, found {}", describe(other)));
            Given::Missing
        }
    }
}

fn boolean(member: &Value, at: &Pointer, findings: &mut Findings) -> Given<bool> {
    match member {
        Value::Null => Given::Null,
        Value::Bool(value) => Given::Value(*value),
        other => {
            findings.add(at, format!("expected true or false, found {}", describe(other)));
            Given::Missing
        }
    }
}
