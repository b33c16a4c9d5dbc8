//! `arena pack …`

use std::collections::BTreeSet;

use arena_cli::Exit;

use super::{Folder, arena, scenarios};

/// What is compiled in is what lies in the repository.
#[test]
fn the_built_in_packs_are_the_scenarios() {
    let list = arena(["pack", "list", "--json"]).json();
    let packs = list.as_array().expect("an array");
    let names: BTreeSet<_> = packs.iter().filter_map(|pack| pack["pack_id"].as_str()).collect();
    let scenarios = scenarios();
    let files: BTreeSet<_> = scenarios.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    assert_eq!(names, files);
}

#[test]
fn the_list_is_short() {
    insta::assert_snapshot!(arena(["pack", "list"]).told());
}

#[test]
fn a_pack_is_shown_with_brief_chart_and_turns() {
    insta::assert_snapshot!(arena(["pack", "show", "two-spikes"]).told());
}

#[test]
fn every_fault_of_a_pack_is_told_at_once() {
    let folder = Folder::new();
    let bad = r#"{"schema": "scenario-pack.v9", "pack_id": "\u0007", "turns": 3,
        "time": {"start_local": "yesterday", "turns": 0, "step_minutes": "60"},
        "site": {"it_demand_mw": [1, -2], "battery": {"round_trip_efficiency": 1.5}},
        "grid": {"price_usd_per_mwh": [], "system_status": ["calm"]},
        "events": [{"id": "a", "kind": "strike"}, {"id": "a", "kind": "conservation_appeal"}],
        "scoring": {"metrics": []}}"#;
    folder.file("bad.json", bad);
    let ran = folder.arena("pack check {}/bad.json");
    insta::assert_snapshot!(ran.told());
    // The same words, whoever meets the pack.
    let replayed = folder.arena("replay --pack {}/bad.json --actions -");
    assert_eq!(replayed.exit, Exit::Usage);
    for fault in ran.out.lines().skip(1) {
        assert!(replayed.err.contains(fault), "{fault}");
    }
}

#[test]
fn what_is_no_pack_is_refused() {
    let folder = Folder::new();
    folder.file("empty.json", "");
    folder.file("text.json", "not json\u{1b}[2J");
    folder.file("twice.json", r#"{"schema": 1, "schema": 2}"#);
    folder.file("deep.json", "[".repeat(100_000));
    let ran =
        folder.arena("pack check {}/empty.json {}/text.json {}/twice.json {}/deep.json {}/none.json {}");
    assert_eq!(ran.exit, Exit::Usage);
    insta::assert_snapshot!(ran.told());
}

#[test]
fn an_unknown_pack_is_answered_with_the_known_ones() {
    insta::assert_snapshot!(arena(["pack", "show", "tow-spikes"]).told());
}

#[test]
fn a_chart_is_one_svg_file() {
    let folder = Folder::new();
    let ran = folder.arena("pack show cap-to-floor --svg {}/chart.svg --json");
    assert_eq!(ran.exit, Exit::Success);
    let svg = std::fs::read_to_string(folder.at("chart.svg")).expect("written");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(folder.arena("pack show cap-to-floor --svg {}/chart.svg").exit, Exit::Usage);
}
