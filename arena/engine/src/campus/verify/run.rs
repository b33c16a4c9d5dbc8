//! What of a sandboxed run can be checked without the strategy: what follows from the actions and
//! from the limits that the log pins. Fuel, log text, seed and the strategy's digest do not.

use std::collections::BTreeSet;

use arena_canon::json::{Pointer, Value};

use super::super::action::RawAction;
use super::super::clamp::Field;
use super::super::fault::Findings;
use super::super::log::{LogLine, NonFiniteValue, Pins, Run};
use super::read_whole;
use crate::competitor::{During, Forfeit, ForfeitRecord, FuelScope};
use crate::limits::{Limits, limits};

pub(super) fn check(
    log: &Value,
    pins: Option<&Pins>,
    (actions, nonfinite): (&[RawAction], &[NonFiniteValue]),
    findings: &mut Findings,
) {
    let at = Pointer::default().key("run");
    let row = pinned_limits(log, pins, findings);
    let Some(run) = log.get("run").and_then(|run| read_whole::<Run>(run, &at, findings)) else { return };
    if !["lean", "wasi"].contains(&run.linker.as_str()) {
        findings.add(&at.key("linker"), "expected lean or wasi");
    }
    check_acted(run.forfeit.as_ref(), (actions, nonfinite), &at, findings);
    check_lines(&run, actions, &at, findings);
    if let Some(row) = row {
        check_fuel(&run, row, actions.len(), &at.key("fuel"), findings);
        check_log_bytes(&run, row, &at.key("log"), findings);
    }
    if let Some(forfeit) = &run.forfeit {
        check_forfeit(forfeit, row, &at.key("forfeit"), findings);
    }
}

/// A run is held to a row of the limits table; a bare replay to none.
fn pinned_limits(log: &Value, pins: Option<&Pins>, findings: &mut Findings) -> Option<&'static Limits> {
    let at = Pointer::default().key("pins");
    let Some(pins) = pins else {
        if log.get("run").is_some() && log.get("pins").is_none() {
            findings.add(&at, "missing: a run is pinned to its limits and its runtime");
        }
        return None;
    };
    if pins.wasmtime.is_some() != log.get("run").is_some() {
        findings.add(&at.key("wasmtime"), "expected the runtime's version for a run, and null without one");
    }
    let at = at.key("limits_version");
    match (log.get("run"), pins.limits_version) {
        (None, None) => None,
        (None, Some(_)) => {
            findings.add(&at, "expected null: nothing was limited in a replay without a sandbox");
            None
        }
        (Some(_), None) => {
            findings.add(&at, "expected the version of the limits that the strategy played under");
            None
        }
        (Some(_), Some(version)) => {
            let row = limits(version);
            if row.is_none() {
                findings.add(&at, format!("there are no limits of version {version}"));
            }
            row
        }
    }
}

/// A strategy that can act gives all of its action, and one that forfeited gives nothing.
fn check_acted(
    forfeit: Option<&ForfeitRecord>,
    (actions, nonfinite): (&[RawAction], &[NonFiniteValue]),
    at: &Pointer,
    findings: &mut Findings,
) {
    let lost: BTreeSet<(u32, Field)> = nonfinite.iter().map(|it| (it.turn, it.field)).collect();
    let forfeited_on = forfeit.map_or(actions.len(), |forfeit| forfeit.turn as usize);
    for (turn, action) in actions.iter().enumerate() {
        let at = if forfeit.is_some() { at.key("forfeit").key("turn") } else { at.key("forfeit") };
        let lost = |field| lost.contains(&(turn as u32, field));
        if turn < forfeited_on && !Field::ALL.into_iter().all(|field| action.has_value(field) || lost(field))
        {
            let message = format!("turn {turn} has no whole action, yet it was not forfeited");
            return findings.add(&at, message);
        }
        if turn >= forfeited_on && !action.is_empty() {
            let message = format!("forfeited on turn {forfeited_on}, yet turn {turn} has an action");
            return findings.add(&at, message);
        }
    }
    if forfeit.is_some() && forfeited_on >= actions.len() {
        findings.add(&at.key("forfeit").key("turn"), "the episode has no such turn");
    }
}

/// Lines come in the order of play, and none after a forfeit.
fn check_lines(run: &Run, actions: &[RawAction], at: &Pointer, findings: &mut Findings) {
    let last_turn = match &run.forfeit {
        Some(forfeit) => forfeit.turn,
        None => actions.len().saturating_sub(1) as u32,
    };
    let mut earliest = 0;
    for (i, line) in run.log.iter().enumerate() {
        if line.turn < earliest || line.turn > last_turn {
            let message = format!("expected a turn from {earliest} to {last_turn}, found {}", line.turn);
            findings.add(&at.key("log").index(i).key("turn"), message);
        }
        earliest = earliest.max(line.turn);
    }
}

fn check_fuel(run: &Run, row: &Limits, turns: usize, at: &Pointer, findings: &mut Findings) {
    if run.fuel.len() != turns {
        let message =
            format!("expected one count of fuel for each of {turns} turns, found {}", run.fuel.len());
        findings.add(at, message);
    }
    if run.brief_fuel > row.brief_fuel_max {
        let at = Pointer::default().key("run").key("brief_fuel");
        findings.add(&at, format!("more than the {} of the limits", row.brief_fuel_max));
    }
    let acted = match &run.forfeit {
        Some(ForfeitRecord { turn, during: During::Turn, .. }) => *turn as usize + 1,
        Some(_) => 0,
        None => turns,
    };
    let mut left = row.episode_fuel_max;
    for (turn, &fuel) in run.fuel.iter().enumerate() {
        let most = if turn < acted { row.turn_fuel_max.min(left) } else { 0 };
        if fuel > most {
            findings.add(&at.index(turn), format!("{fuel} is more than the {most} that this turn had"));
        }
        left = left.saturating_sub(fuel);
    }
}

fn check_log_bytes(run: &Run, row: &Limits, at: &Pointer, findings: &mut Findings) {
    // A line takes its text and one byte.
    let taken = |line: &LogLine| line.text.len() as u64 + 1;
    let bytes: u64 = run.log.iter().map(taken).sum();
    let most = u64::from(row.episode_log_bytes_max);
    if bytes > most {
        findings.add(at, format!("{bytes} bytes of text, more than the {most} of the limits"));
    }
    for lines in run.log.chunk_by(|one, next| one.turn == next.turn) {
        let (turn, bytes) = (lines[0].turn, lines.iter().map(taken).sum::<u64>());
        // Turn 0 has two allowances: the brief's lines bear its number too.
        let most = u64::from(row.turn_log_bytes_max) * if turn == 0 { 2 } else { 1 };
        if bytes > most {
            findings
                .add(at, format!("{bytes} bytes of text on turn {turn}, more than the {most} of the limits"));
        }
    }
}

fn check_forfeit(record: &ForfeitRecord, row: Option<&Limits>, at: &Pointer, findings: &mut Findings) {
    if record.during != During::Turn && record.turn != 0 {
        findings.add(&at.key("turn"), "what ends before the first turn forfeits from turn 0");
    }
    let again = ForfeitRecord::new(record.turn, record.during, record.forfeit.clone());
    if again.build_dependent != record.build_dependent {
        findings.add(&at.key("build_dependent"), format!("expected {}", again.build_dependent));
    }
    let Some(row) = row else { return };
    let detail = at.key("detail");
    match record.forfeit {
        Forfeit::FuelSpent { scope, budget } => {
            let expected = match scope {
                FuelScope::Brief => row.brief_fuel_max,
                FuelScope::Turn => row.turn_fuel_max,
                FuelScope::Episode => row.episode_fuel_max,
            };
            if budget != expected {
                findings.add(&detail.key("budget"), format!("expected {expected}, found {budget}"));
            }
            if (scope == FuelScope::Brief) == (record.during == During::Turn) {
                findings.add(&detail.key("scope"), "not the budget of what the strategy was doing");
            }
        }
        Forfeit::MemoryCapped { limit, .. } => {
            let (bytes, elements) = (row.memory_bytes_max, u64::from(row.table_elements_max));
            if limit != bytes && limit != elements {
                findings.add(&detail.key("limit"), format!("expected {bytes} or {elements}, found {limit}"));
            }
        }
        Forfeit::Trapped { .. }
        | Forfeit::Unreadable { .. }
        | Forfeit::Overtime { .. }
        | Forfeit::StartFailed { .. } => {}
    }
}
