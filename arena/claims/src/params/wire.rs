//! Parameter sets as documents. Amounts are decimal strings, everything else integers.

use arena_canon::json::{self, Map, Pointer, Value};
use arena_ledger::Amount;

use super::{BPS, PARAMS_VERSION, PPM, Params};
use crate::document::{Object, number_of};
use crate::fault::{Faults, Findings};
use crate::manifest::FUEL_MAX;

const PARAMS_BYTES_MAX: usize = 1 << 16;
const DAYS_MAX: u64 = 3_660 * 86_400;

/// Why bytes are no parameter set.
#[derive(Debug, thiserror::Error)]
pub enum ParamsError {
    /// Not a JSON document within bounds.
    #[error(transparent)]
    Read(#[from] json::ReadError),
    /// A document that is no parameter set.
    #[error("{0}")]
    Faults(#[from] Faults),
}

/// A member: its name, its symbol in the conditions ("" if it has none), and where it is kept.
enum Slot<'a> {
    Money(&'static str, &'static str, &'a mut Amount),
    /// An amount that older sets do not have; where it is absent, it is not written either.
    MaybeMoney(&'static str, &'a mut Option<Amount>),
    Number(&'static str, &'static str, std::ops::RangeInclusive<u64>, &'a mut u64),
    Flag(&'static str, &'a mut bool),
}

impl Slot<'_> {
    fn names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Money(name, symbol, _) | Self::Number(name, symbol, ..) => (name, symbol),
            Self::MaybeMoney(name, _) | Self::Flag(name, _) => (name, ""),
        }
    }
}

fn slots(p: &mut Params) -> Vec<Slot<'_>> {
    use Slot::{Flag, MaybeMoney, Money, Number};
    let count = || 1..=31;
    vec![
        Money("fee", "F", &mut p.fee),
        Money("auditor_fee", "A", &mut p.auditor_fee),
        Money("reviewer_reserve", "V", &mut p.reviewer_reserve),
        Money("runner_stake", "S", &mut p.runner_stake),
        Money("challenger_stake", "S_c", &mut p.challenger_stake),
        Money("reviewer_stake", "S_r", &mut p.reviewer_stake),
        Money("lead_reward", "R_c", &mut p.lead_reward),
        Money("follower_reward", "R_f", &mut p.follower_reward),
        Money("reviewer_reward", "R_r", &mut p.reviewer_reward),
        Money("runner_compensation", "W_r", &mut p.runner_compensation),
        Money("tax", "", &mut p.tax),
        Money("delay_compensation", "D", &mut p.delay_compensation),
        Money("abstain_slash", "abst", &mut p.abstain_slash),
        Money("reviewer_no_show_slash", "", &mut p.reviewer_no_show_slash),
        Money("submitter_deposit_min", "", &mut p.submitter_deposit_min),
        MaybeMoney("party_slash", &mut p.party_slash),
        Number("slash_bps", "sigma", 0..=BPS, &mut p.slash_bps),
        Number("runner_no_show_bps", "", 0..=BPS, &mut p.runner_no_show_bps),
        Number("offer_lapse_bps", "", 0..=BPS, &mut p.offer_lapse_bps),
        Number("agreeing_wrong_bps", "", 0..=BPS, &mut p.agreeing_wrong_bps),
        Number("auditor_no_show_bps", "", 0..=BPS, &mut p.auditor_no_show_bps),
        Number("spec_issue_bps", "rho", 0..=BPS, &mut p.spec_issue_bps),
        Number("input_mismatch_bps", "", 0..=BPS, &mut p.input_mismatch_bps),
        Number("slots", "", 1..=16, &mut p.slots),
        Number("panel_seats", "k", count(), &mut p.panel_seats),
        Number("panel2_seats", "k2", count(), &mut p.panel2_seats),
        Number("quorum", "", count(), &mut p.quorum),
        Number("volunteers_max", "", 1..=64, &mut p.volunteers_max),
        Number("tickets_max", "", 1..=1_000_000, &mut p.tickets_max),
        Number("redraws_max", "", 0..=20, &mut p.redraws_max),
        Number("audit_floor_ppm", "", 0..=PPM, &mut p.audit_floor_ppm),
        Number("audit_floor_new_ppm", "", 0..=PPM, &mut p.audit_floor_new_ppm),
        Number("canary_bps", "", 0..=BPS, &mut p.canary_bps),
        Number("fuel_per_unit", "", 1..=FUEL_MAX, &mut p.fuel_per_unit),
        Flag("fast_referee", &mut p.fast_referee),
    ]
}

fn clock_slots(p: &mut Params) -> Vec<Slot<'_>> {
    use Slot::Number;
    let c = &mut p.clocks;
    let time = || 1..=DAYS_MAX;
    vec![
        Number("funding_s", "", time(), &mut c.funding_s),
        Number("drawing_s", "", time(), &mut c.drawing_s),
        Number("beacon_s", "", time(), &mut c.beacon_s),
        Number("accept_s", "", time(), &mut c.accept_s),
        Number("run_times", "", 1..=100, &mut c.run_times),
        Number("window_s", "", time(), &mut c.window_s),
        Number("late_s", "", time(), &mut c.late_s),
        Number("late_max", "", 0..=100, &mut c.late_max),
        Number("reopen_s", "", time(), &mut c.reopen_s),
        Number("reveal_s", "", time(), &mut c.reveal_s),
        Number("seating_s", "", time(), &mut c.seating_s),
        Number("vote_s", "", time(), &mut c.vote_s),
        Number("vote_reveal_s", "", time(), &mut c.vote_reveal_s),
        Number("appeal_s", "", time(), &mut c.appeal_s),
        Number("reference_s", "", time(), &mut c.reference_s),
        Number("relist_s", "", time(), &mut c.relist_s),
        Number("rest_s", "", 0..=DAYS_MAX, &mut c.rest_s),
    ]
}

fn assumption_slots(p: &mut Params) -> Vec<Slot<'_>> {
    use Slot::{Money, Number};
    let a = &mut p.assumptions;
    vec![
        Money("cost", "C", &mut a.cost),
        Money("review_cost", "C_r", &mut a.review_cost),
        Number("q_ppm", "q", 0..=PPM, &mut a.q_ppm),
        Number("panel_q_ppm", "Q", 0..=PPM, &mut a.panel_q_ppm),
        Number("reviewer_ppm", "a", 0..=PPM, &mut a.reviewer_ppm),
    ]
}

type Group = (&'static str, fn(&mut Params) -> Vec<Slot<'_>>);
const GROUPS: [Group; 3] = [("", slots), ("clocks", clock_slots), ("assumptions", assumption_slots)];

pub(super) fn write(params: &Params) -> Value {
    let mut params = params.clone();
    let mut document = Map::new();
    document.insert("v".into(), PARAMS_VERSION.into());
    for (group, slots) in GROUPS {
        let members: Map<String, Value> = slots(&mut params)
            .into_iter()
            .filter_map(|slot| {
                Some(match slot {
                    Slot::Money(name, _, amount) => (name.to_owned(), amount.to_string().into()),
                    Slot::MaybeMoney(name, amount) => (name.to_owned(), (*amount)?.to_string().into()),
                    Slot::Number(name, _, _, number) => (name.to_owned(), (*number).into()),
                    Slot::Flag(name, flag) => (name.to_owned(), (*flag).into()),
                })
            })
            .collect();
        if group.is_empty() {
            document.extend(members);
        } else {
            document.insert(group.to_owned(), Value::Object(members));
        }
    }
    Value::Object(document)
}

pub(super) fn parse(bytes: &[u8]) -> Result<Params, ParamsError> {
    let value = json::read(bytes, PARAMS_BYTES_MAX)?;
    let mut findings = Findings::default();
    if let Some(object) = Object::of(&value, Pointer::default(), &mut findings) {
        object.constant("v", PARAMS_VERSION, &mut findings);
    }
    let params = fill(&value, Pointer::default(), true, &mut findings);
    Ok(findings.or_none(Some(params))?)
}

pub(super) fn overridden(value: &Value) -> Result<Params, ParamsError> {
    let mut findings = Findings::default();
    let params = overridden_at(value, Pointer::default(), &mut findings);
    Ok(findings.or_none(Some(params))?)
}

/// The same for a set that stands at `at` in another document.
pub(super) fn overridden_at(value: &Value, at: Pointer, findings: &mut Findings) -> Params {
    if value.get("v").is_some()
        && let Some(object) = Object::of(value, at.clone(), findings)
    {
        object.constant("v", PARAMS_VERSION, findings);
    }
    fill(value, at, false, findings)
}

/// The published set, with what `value` says in its place. A `whole` set names every member, by its name.
fn fill(value: &Value, at: Pointer, whole: bool, findings: &mut Findings) -> Params {
    let mut params = Params::published();
    let Some(object) = Object::of(value, at, findings) else { return params };
    for (group, slots) in GROUPS {
        let inner = match group {
            "" => Some(object.clone()),
            _ if whole || object.get(group).is_some() => object
                .need(group, findings)
                .and_then(|value| Object::of(value, object.place(group), findings)),
            _ => None,
        };
        let Some(inner) = inner else { continue };
        let mut known = vec![];
        for slot in slots(&mut params) {
            let (name, symbol) = slot.names();
            known.push(name);
            let by_symbol = !whole && !symbol.is_empty() && inner.get(symbol).is_some();
            known.extend(by_symbol.then_some(symbol));
            if by_symbol && inner.get(name).is_some() {
                findings.add(&inner.place(symbol), format!("is also given as `{name}`"));
            }
            let key = if by_symbol { symbol } else { name };
            let needed = whole && !matches!(slot, Slot::MaybeMoney(..));
            if needed || inner.get(key).is_some() {
                set(slot, &inner, key, whole, findings);
            }
        }
        if group.is_empty() {
            known.extend(["v", "clocks", "assumptions"]);
        }
        inner.only(&known, findings);
    }
    params
}

fn set(slot: Slot<'_>, object: &Object<'_>, key: &str, whole: bool, findings: &mut Findings) {
    let what = "an amount: a decimal string of atomic units";
    let read = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        other if !whole => number_of(other).and_then(Amount::new),
        _ => None,
    };
    match slot {
        Slot::Money(_, _, amount) => {
            *amount = object.read(key, what, findings, read).unwrap_or(*amount);
        }
        Slot::MaybeMoney(_, amount) => *amount = object.read(key, what, findings, read).or(*amount),
        Slot::Number(_, _, range, number) => {
            let what = format!("an integer from {} to {}", range.start(), range.end());
            let read = |value: &Value| number_of(value).filter(|number| range.contains(number));
            *number = object.read(key, &what, findings, read).unwrap_or(*number);
        }
        Slot::Flag(_, flag) => {
            if whole {
                object.need(key, findings);
            }
            *flag = object.flag_or(key, *flag, findings).unwrap_or(*flag);
        }
    }
}
