//! `arena claim simulate`: populations under the real rules, as a table, as JSON and as a chart.

use arena_cli::Exit;
use serde_json::{Value, json};

use super::{Folder, arena};

fn simulate(line: &str) -> super::Ran {
    arena(format!("claim simulate {line}").split_whitespace())
}

#[test]
fn json_holds_the_whole_report() {
    let ran = simulate("--agents honest=12,lazy=3,echoing=2 --rounds 40 --seed 3 --json");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let report = ran.json();
    assert_eq!((&report["seed"], &report["rounds"]), (&json!(3), &json!(40)));
    assert_eq!(report["agents"], json!({ "honest": 12, "lazy": 3, "echoing": 2 }));
    let populations = report["populations"].as_object().expect("populations");
    assert_eq!(populations.keys().collect::<Vec<_>>(), ["echoing", "honest", "lazy"]);
    let endings = report["endings"].as_object().expect("endings");
    assert_eq!(endings.values().filter_map(Value::as_u64).sum::<u64>(), 40, "every claim ends once");
    let axes: Vec<&Value> = report["stops"].as_array().expect("stops").iter().map(|s| &s["axis"]).collect();
    assert_eq!(axes, ["audit", "slash", "accuracy"]);
    assert_eq!(report["history_sha256"].as_str().map(str::len), Some(64));
    assert_eq!(report["missed"], json!([]));
}

/// The seed decides everything, and nothing else does.
#[test]
fn a_seed_repeats() {
    let line = "--agents 14 --rounds 25 --json";
    let one = simulate(&format!("{line} --seed 8"));
    assert_eq!(one.out, simulate(&format!("{line} --seed 8")).out);
    assert_ne!(one.json()["history_sha256"], simulate(&format!("{line} --seed 9")).json()["history_sha256"]);
    let table = "--agents 14 --rounds 25 --seed 8";
    assert_eq!(simulate(table).out, simulate(table).out);
}

#[test]
fn the_table_names_everybody_and_says_who_is_best_off() {
    let ran = simulate("--agents honest=12,lazy=3,griefing=3 --rounds 60");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let rows: Vec<&str> = ran.out.lines().collect();
    for population in ["honest", "lazy", "griefing"] {
        let named = rows.iter().filter(|row| row.starts_with(&format!("{population}  "))).count();
        assert_eq!(named, 2, "in both tables: {}", ran.out);
    }
    for said in
        ["profit per seat", "per audit", "endings: ", "false outcomes: ", "honest agents are best off"]
    {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    assert!(ran.out.contains("honesty stops paying with") && ran.out.contains("8.89 %"), "{}", ran.out);
    assert!(ran.err.contains("history sha256:"), "{}", ran.err);
}

#[test]
fn a_sweep_is_a_chart_that_is_never_written_over_unasked() {
    let folder = Folder::new();
    let line = "claim simulate --sweep=slash --rounds 3 --agents honest=6,patient=6 --svg {}/chart.svg";
    let ran = folder.arena(&format!("{line} --json"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let svg = std::fs::read_to_string(folder.at("chart.svg")).expect("written");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    let again = folder.arena(line);
    assert_ne!(again.exit, Exit::Success);
    assert!(again.err.contains("chart.svg") && again.err.contains("--force"), "{}", again.err);
    assert_eq!(folder.arena(&format!("{line} --force")).exit, Exit::Success);
    assert_eq!(std::fs::read_to_string(folder.at("chart.svg")).expect("written"), svg, "the same seed");
    assert_eq!(folder.names(), ["chart.svg"], "nothing else is left behind");
}

/// Everything that is wrong with a list of agents is told at once.
#[test]
fn wrong_agents_are_all_told() {
    let ran = simulate("--agents honest=x,nobody=2,lazy=3,lazy=1,,echoing=1001 --rounds 5");
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{}", ran.err);
    for said in
        ["6 faults", "item 1 `honest=x`", "item 2 `nobody=2`", "lazy stands twice", "item 5 ``", "item 6"]
    {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }
    for (agents, said) in [("0", "at least 1"), ("1001", "the limit is 1000"), ("honest=0", "at least 1")] {
        let ran = simulate(&format!("--agents {agents} --rounds 5"));
        assert_eq!(ran.exit, Exit::Usage, "{agents}");
        assert!(ran.err.contains(said), "{agents}: {}", ran.err);
    }
}

#[test]
fn wrong_arguments_are_refused() {
    for line in [
        "--rounds 0",
        "--rounds 1000001",
        "--rounds many",
        "--seed -1",
        "--reviewer-ppm 1000001",
        "--audit-ppm 1000001 --unsound",
        "--slash-bps 10001 --unsound",
        "--sweep=weather",
        "--svg chart.svg",
        "--sweep=audit --force",
    ] {
        let ran = simulate(line);
        assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""), "{line}: {}", ran.err);
    }
}

/// A set that misses its own conditions is simulated only if that is asked for, and then it is said.
#[test]
fn unsound_sets_are_asked_for() {
    let line = "--agents honest=8,lazy=2 --rounds 5 --slash-bps 1000";
    let ran = simulate(line);
    assert_eq!(ran.exit, Exit::Rejected, "{}", ran.err);
    for id in ["I1 ", "I5 "] {
        assert!(ran.err.contains(id), "{id}: {}", ran.err);
    }
    assert!(ran.err.contains("--unsound"), "{}", ran.err);
    let ran = simulate(&format!("{line} --unsound --json"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    assert!(ran.err.contains("these parameters miss"), "{}", ran.err);
    assert!(ran.json()["missed"].as_array().is_some_and(|missed| missed.contains(&json!("I1"))));
    let folder = Folder::new();
    folder.file("set.json", r#"{"v":"arena-params/v1","fee":1}"#);
    let ran = folder.arena("claim simulate --params {}/set.json --rounds 5");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
    for fault in ["set.json#/fee", "set.json#", "tax"] {
        assert!(ran.err.contains(fault), "{fault}: {}", ran.err);
    }
}
