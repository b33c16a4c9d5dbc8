//! Every guest of `tests/hostile`: its ending as its second line says it, and to the unit of fuel as
//! `tests/golden/hostile.txt` keeps it; then laws that all of them obey.

use std::fmt::Write as _;

use arena_engine::campus::{Run, verify};
use arena_engine::limits::V1;
use arena_engine::{During, Forfeit, ForfeitRecord, FuelScope, TrapKind};
use arena_sandbox::{Host, Played};
use arena_tests::repository;

use super::guest::{component, host, host_on_demand, hostile, pack, play_component};

#[test]
fn every_guest_ends_as_it_says_with_the_fuel_it_is_known_to_use() {
    let (mut found, mut wrong) = (String::new(), String::new());
    found += "# guest | linker | ending | fuel: brief, turns | memory | log kept, dropped\n";
    for (name, text) in hostile() {
        let played = play_component(host(), &component(&text));
        let line = line(&name, &played);
        let expected = text.lines().nth(1).and_then(|line| line.strip_prefix(";; -> "));
        let expected = expected.unwrap_or_else(|| panic!("{name}: the second line says the ending"));
        let ending = ending(played.forfeit.as_ref());
        if !ending.starts_with(expected) {
            writeln!(wrong, "{name}: expected `{expected}`, found `{ending}`").expect("writing to a string");
        }
        found += &line;
    }
    assert!(wrong.is_empty(), "{wrong}");
    check_golden("hostile.txt", &found);
}

/// Compares with a file of `tests/golden`, or writes it when `ARENA_BLESS=1` is set.
#[track_caller]
pub(crate) fn check_golden(file: &str, found: &str) {
    let path = repository().join("tests/golden").join(file);
    if std::env::var_os("ARENA_BLESS").is_some() {
        std::fs::write(&path, found).expect("a writable checkout");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differ = kept.lines().zip(found.lines()).find(|(kept, found)| kept != found);
    assert!(kept == found, "{file} differs; run `cargo xtask bless` and read the change. First: {differ:#?}");
}

fn line(name: &str, played: &Played) -> String {
    let run = run(played);
    let kept: usize = run.log.iter().map(|line| line.text.len()).sum();
    // How deep the native stack goes is the machine's.
    let varies = |record: &ForfeitRecord| record.build_dependent && record.during == During::Turn;
    let fuel = if played.forfeit.as_ref().is_some_and(varies) { "varies".to_owned() } else { fuel(run) };
    let ending = ending(played.forfeit.as_ref());
    let memory = played.memory_bytes >> 10;
    format!(
        "{name} | {} | {ending} | {fuel} | {memory} KiB | {kept} B in {} lines, {} B dropped\n",
        run.linker,
        run.log.len(),
        run.log_dropped_bytes,
    )
}

fn run(played: &Played) -> &Run {
    played.log.run.as_ref().expect("a sandboxed episode has a run")
}

/// The brief's fuel, then the turns', with equal neighbours told once.
fn fuel(run: &Run) -> String {
    let mut text = format!("{},", run.brief_fuel);
    for equal in run.fuel.chunk_by(|a, b| a == b) {
        let times = if equal.len() > 1 { format!("×{}", equal.len()) } else { String::new() };
        write!(text, " {}{times}", equal[0]).expect("writing to a string");
    }
    text
}

/// An ending on one line: what, where, and what more is told.
pub(crate) fn ending(record: Option<&ForfeitRecord>) -> String {
    let Some(record) = record else { return "acted".to_owned() };
    let place = match record.during {
        During::Start => "start".to_owned(),
        During::Brief => "brief".to_owned(),
        During::Turn => format!("turn {}", record.turn),
    };
    let (what, more) = match &record.forfeit {
        Forfeit::FuelSpent { scope, budget } => (scope_name(*scope).to_owned(), budget.to_string()),
        Forfeit::MemoryCapped { limit, then, frames } => {
            (format!("{limit} then {}", kind_name(*then)), stack(frames))
        }
        Forfeit::Trapped { kind, frames } => (kind_name(*kind), stack(frames)),
        Forfeit::Unreadable { why } | Forfeit::StartFailed { why } => (String::new(), why.clone()),
        Forfeit::Overtime { limit_seconds } => (String::new(), format!("{limit_seconds} s")),
    };
    let what = if what.is_empty() { what } else { format!(" {what}") };
    let more = if more.is_empty() { more } else { format!(": {more}") };
    let build = if record.build_dependent { " (depends on the build)" } else { "" };
    format!("{}{what} on {place}{more}{build}", record.forfeit.code())
}

fn scope_name(scope: FuelScope) -> &'static str {
    match scope {
        FuelScope::Brief => "brief",
        FuelScope::Turn => "turn",
        FuelScope::Episode => "episode",
    }
}

fn kind_name(kind: TrapKind) -> String {
    let name = serde_json::to_value(kind).expect("a kind has a name");
    name.as_str().expect("the name is a string").to_owned()
}

fn stack(frames: &[arena_engine::Frame]) -> String {
    let names: Vec<&str> = frames.iter().take(3).map(|frame| frame.function.as_str()).collect();
    names.join(" < ")
}

/// What is true of every game, whatever the guest does.
type Law = fn(&Played) -> Result<(), String>;
const LAWS: &[(&str, Law)] = &[
    ("the written log verifies", the_written_log_verifies),
    ("no budget is exceeded", no_budget_is_exceeded),
    ("a seat is not called again after a forfeit", a_seat_is_not_called_again),
    ("what is told of a guest is bounded and printable", what_is_told_is_bounded),
];

#[test]
fn every_guest_obeys_the_laws() {
    for (name, text) in hostile() {
        let component = component(&text);
        let pooled = play_component(host(), &component);
        for (law, holds) in LAWS {
            holds(&pooled).unwrap_or_else(|why| panic!("{name}: {law}: {why}"));
        }
    }
}

#[test]
fn pooled_and_on_demand_give_the_same_bytes() {
    let bytes = |host: &Host, component: &[u8]| play_component(host, component).log.to_bytes();
    for (name, text) in hostile() {
        let component = component(&text);
        assert!(bytes(host(), &component) == bytes(host_on_demand(), &component), "{name}");
    }
}

fn the_written_log_verifies(played: &Played) -> Result<(), String> {
    verify(&played.log.to_bytes(), &pack()).map(drop).map_err(|faults| faults.to_string())
}

fn no_budget_is_exceeded(played: &Played) -> Result<(), String> {
    let run = run(played);
    let turns = run.fuel.iter().all(|&fuel| fuel <= V1.turn_fuel_max);
    let episode = run.fuel.iter().sum::<u64>() <= V1.episode_fuel_max;
    let memory = played.memory_bytes <= V1.memory_bytes_max;
    let text: usize = run.log.iter().map(|line| line.text.len() + 1).sum();
    let log = text as u64 <= u64::from(V1.episode_log_bytes_max);
    let all = run.brief_fuel <= V1.brief_fuel_max && turns && episode && memory && log;
    if all { Ok(()) } else { Err(format!("{run:?}, {} B", played.memory_bytes)) }
}

fn a_seat_is_not_called_again(played: &Played) -> Result<(), String> {
    let Some(forfeit) = &played.forfeit else { return Ok(()) };
    let from = forfeit.turn as usize;
    let played_on = match forfeit.during {
        During::Turn => from + 1,
        During::Start | During::Brief => from,
    };
    let run = run(played);
    let fuel = run.fuel[played_on..].iter().all(|&fuel| fuel == 0);
    let log = run.log.iter().all(|line| line.turn <= forfeit.turn);
    let empty = played.log.turns[from..].iter().all(|turn| {
        let action = serde_json::to_value(turn.action).expect("an action");
        action.as_object().is_some_and(serde_json::Map::is_empty)
    });
    if fuel && log && empty { Ok(()) } else { Err(format!("{run:?}")) }
}

fn what_is_told_is_bounded(played: &Played) -> Result<(), String> {
    let Some(forfeit) = &played.forfeit else { return Ok(()) };
    let text = format!("{} {}", ending(Some(forfeit)), forfeit.forfeit);
    let bounded = text.chars().count() < 2_000 && !text.chars().any(char::is_control);
    if bounded { Ok(()) } else { Err(text) }
}
