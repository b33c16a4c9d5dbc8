//! Every guest of `tests/hostile/matrix`: its ending as its second line says it, in both seats and on
//! both kinds of seats, and to the unit of fuel as `tests/golden/hostile-matrix.txt` keeps it.

use std::fmt::Write as _;

use arena_engine::During;
use arena_engine::limits::V1;
use arena_engine::matrix::Move;
use arena_sandbox::{PlayedMatrix, SeatUsage};
use arena_tests::repository;

use super::guest::{component, example, host, host_on_demand, load, mirrored, play};
use crate::sandbox::hostile::{check_golden, ending};

const ROUNDS: u32 = 12;

/// Every guest: its name and its text, by name.
fn guests() -> Vec<(String, String)> {
    let folder = std::fs::read_dir(repository().join("tests/hostile/matrix"));
    let mut guests: Vec<(String, String)> = folder
        .expect("the guests are in the repository")
        .map(|file| file.expect("a readable folder").path())
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(".wat")?.to_owned();
            Some((name, std::fs::read_to_string(path).expect("a readable guest")))
        })
        .collect();
    guests.sort();
    assert!(!guests.is_empty(), "the folder has guests");
    guests
}

/// A game of the guest in seat 0 against one that never lets it go unpunished.
fn played(text: &str) -> PlayedMatrix {
    play(&load(host(), &component(text)), &example("tit-for-tat"), ROUNDS)
}

#[test]
fn every_guest_ends_as_it_says_with_the_fuel_it_is_known_to_use() {
    let (mut found, mut wrong) = (String::new(), String::new());
    found += "# guest | ending | fuel: brief, rounds | memory | log kept, dropped\n";
    for (name, text) in guests() {
        let played = played(&text);
        let expected = text.lines().nth(1).and_then(|line| line.strip_prefix(";; -> "));
        let expected = expected.unwrap_or_else(|| panic!("{name}: the second line says the ending"));
        let ending = ending(played.forfeits[0].as_ref());
        if !ending.starts_with(expected) {
            writeln!(wrong, "{name}: expected `{expected}`, found `{ending}`").expect("writing to a string");
        }
        writeln!(found, "{name} | {ending} | {}", used(&played.usage[0])).expect("writing to a string");
    }
    assert!(wrong.is_empty(), "{wrong}");
    check_golden("hostile-matrix.txt", &found);
}

/// The brief's fuel, then the rounds', with equal neighbours told once; then memory and log.
fn used(usage: &SeatUsage) -> String {
    let mut text = format!("{},", usage.brief_fuel);
    for equal in usage.fuel.chunk_by(|a, b| a == b) {
        let times = if equal.len() > 1 { format!("×{}", equal.len()) } else { String::new() };
        write!(text, " {}{times}", equal[0]).expect("writing to a string");
    }
    let kept: usize = usage.log.iter().map(|line| line.text.len()).sum();
    let (memory, lines) = (usage.memory_bytes >> 10, usage.log.len());
    format!("{text} | {memory} KiB | {kept} B in {lines} lines, {} B dropped", usage.log_dropped_bytes)
}

#[test]
fn neither_the_seat_nor_where_it_lives_changes_what_happens() {
    for (name, text) in guests() {
        let component = component(&text);
        let tit_for_tat = arena_tests::guest("tit-for-tat");
        let (guest, other) = (load(host(), &component), load(host(), &tit_for_tat));
        let first = play(&guest, &other, ROUNDS);
        assert_eq!(first, mirrored(play(&other, &guest, ROUNDS)), "{name}");
        let on_demand = (load(host_on_demand(), &component), load(host_on_demand(), &tit_for_tat));
        assert_eq!(first, play(&on_demand.0, &on_demand.1, ROUNDS), "{name}");
    }
}

#[test]
fn every_guest_obeys_the_laws() {
    for (name, text) in guests() {
        let played = played(&text);
        let [usage, other] = &played.usage;
        assert_eq!(played.forfeits[1], None, "{name}: the other seat never suffers");
        assert!(other.fuel.iter().all(|fuel| *fuel > 0), "{name}: the other seat plays every round");
        let kept: usize = usage.log.iter().map(|line| line.text.len() + 1).sum();
        assert!(usage.brief_fuel <= V1.brief_fuel_max, "{name}");
        assert!(usage.fuel.iter().all(|fuel| *fuel <= V1.turn_fuel_max), "{name}");
        assert!(usage.fuel.iter().sum::<u64>() <= V1.episode_fuel_max, "{name}");
        assert!(usage.memory_bytes <= V1.memory_bytes_max, "{name}");
        assert!(kept as u64 <= u64::from(V1.episode_log_bytes_max), "{name}");
        let Some(forfeit) = &played.forfeits[0] else { continue };
        let from = forfeit.turn as usize;
        let called = from + usize::from(forfeit.during == During::Turn);
        assert!(usage.fuel[called..].iter().all(|fuel| *fuel == 0), "{name}: it is not called again");
        assert!(played.moves[0][from..].iter().all(|made| *made == Move::Cooperate), "{name}");
    }
}
