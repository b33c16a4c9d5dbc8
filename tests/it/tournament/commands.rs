//! The commands, as far as they go beyond what the crate's own tests hold.

use std::process::Stdio;

use super::{Plan, ended, files, json, said};

#[test]
fn a_frozen_tournament_and_its_secret_give_the_same_run_as_the_plan() {
    let plan = Plan::small();
    ended(&plan.run("from-plan", &[]), 0);
    ended(
        &plan.arena(&["tournament", "freeze", "plan.toml", "--secret", "given-secret", "--out", "frozen"]),
        0,
    );
    ended(&plan.arena(&["tournament", "run", "frozen/frozen.json", "--out", "from-frozen"]), 0);
    assert_eq!(files(&plan.at("from-plan")), files(&plan.at("from-frozen")));
    // Elsewhere, with the components found by their digests.
    std::fs::remove_file(plan.at("frozen/sources.json")).expect("removed");
    let args =
        ["tournament", "run", "frozen/frozen.json", "--out", "elsewhere", "--files", "from-plan/components"];
    ended(&plan.arena(&args), 0);
    assert_eq!(files(&plan.at("from-plan")), files(&plan.at("elsewhere")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| std::fs::metadata(plan.at(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode("frozen/secret"), 0o600);
        assert_eq!(mode("from-frozen"), 0o755, "disclosed");
    }
}

#[test]
fn what_changes_after_freezing_blocks_the_run_and_is_named() {
    let plan = Plan::small();
    ended(&plan.arena(&["tournament", "freeze", "plan.toml", "--out", "frozen"]), 0);
    let again = plan.arena(&["tournament", "freeze", "plan.toml", "--out", "frozen"]);
    ended(&again, 2);
    assert!(said(&again).contains("it exists already"), "{}", said(&again));
    std::fs::copy(plan.at("0.wasm"), plan.at("1.wasm")).expect("changed");
    let run = plan.arena(&["tournament", "run", "frozen/frozen.json", "--out", "run"]);
    ended(&run, 11);
    assert!(
        said(&run).contains("strategy 1 `Random`") && said(&run).contains("has changed"),
        "{}",
        said(&run)
    );
    let receipt = json(&plan.at("run/receipt.json"));
    assert_eq!((&receipt["terminal"], &receipt["matchups"]["completed"]), (&"blocked".into(), &0.into()));
    assert!(!plan.at("run/scorecard.json").exists());
}

#[test]
fn a_pack_that_changes_after_freezing_blocks_the_run() {
    let strategies = [("greedy", "greedy"), ("idle", "idle")];
    let plan = Plan::new("campus", &strategies, "packs = [\"mine.json\"]");
    let pack =
        std::fs::read_to_string(arena_tests::repository().join("scenarios/two-spikes.json")).expect("a pack");
    std::fs::write(plan.at("mine.json"), &pack).expect("written");
    ended(&plan.arena(&["tournament", "freeze", "plan.toml", "--out", "frozen"]), 0);
    ended(&plan.arena(&["tournament", "run", "frozen/frozen.json", "--out", "before"]), 0);
    let changed = pack.replacen("0.1.0", "0.1.1", 1);
    assert_ne!(pack, changed);
    std::fs::write(plan.at("mine.json"), changed).expect("written");
    let run = plan.arena(&["tournament", "run", "frozen/frozen.json", "--out", "after"]);
    ended(&run, 11);
    assert!(said(&run).contains("pack `two-spikes` has changed"), "{}", said(&run));
}

#[test]
fn every_fault_of_a_plan_and_its_files_is_told_at_once() {
    let plan = Plan::small();
    std::fs::write(plan.at("0.wasm"), b"no component").expect("written");
    std::fs::remove_file(plan.at("2.wasm")).expect("removed");
    let run = plan.run("run", &[]);
    ended(&run, 2);
    let told = said(&run);
    assert!(told.contains("/strategies/0/component") && told.contains("/strategies/2/component"), "{told}");
    assert!(!plan.at("run").exists());
    let campus = Plan::new("campus", &[("bully", "bully")], "self_play = true\npacks = [\"nowhere\"]");
    let told = said(&campus.run("run", &[]));
    assert!(told.contains("this tournament plays campus") && told.contains("/matrix/packs/0"), "{told}");
}

#[test]
fn two_runners_do_not_share_a_folder_and_a_full_one_is_not_taken() {
    let plan =
        Plan::new("matrix", &[("a", "tit-for-tat"), ("b", "random")], "repetitions = 200\nrounds = 2000");
    let args = ["tournament", "run", "plan.toml", "--out", "run", "--workers", "1"];
    let mut first = plan.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    while !plan.at("run/frozen.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = plan.arena(&["tournament", "resume", "run"]);
    first.kill().and_then(|()| first.wait()).expect("killed");
    ended(&second, 2);
    assert!(said(&second).contains("another runner is at work"), "{}", said(&second));
    let third = plan.run("run", &[]);
    ended(&third, 2);
    assert!(said(&third).contains("it is not empty"), "{}", said(&third));
}

/// A disk that takes no more: no half file, no lost record, and the run goes on elsewhere in time.
#[test]
fn a_disk_that_is_full_stalls_the_run_which_goes_on_later() {
    let strategies = [("Tit For Tat", "tit-for-tat"), ("Random", "random"), ("Bully", "bully")];
    let plan = Plan::new("matrix", &strategies, "self_play = true\nrepetitions = 100\nrounds = 4");
    ended(&plan.run("calm", &[]), 0);
    let calm = files(&plan.at("calm"));
    let set_up = |name: &&String| name.starts_with("components/") || *name == "frozen.json";
    let largest = calm.keys().filter(set_up).map(|name| calm[name].len()).max().expect("files");
    assert!(calm["journal.ndjson"].len() > largest + 2_048, "the journal is what does not fit");
    // In KiB. The first is too little to set up the run, the second to play all of it.
    for (limit, begun) in [(1, false), (largest / 1_024 + 1, true)] {
        let program = super::program().display().to_string();
        let script = format!(
            "trap '' XFSZ; ulimit -f {limit}; \
             exec '{program}' tournament run plan.toml --secret given-secret --out full"
        );
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &script]).current_dir(plan.folder.path()).env("ARENA_CACHE", super::cache());
        let output = shell.output().expect("bash starts");
        // Stalled, or not even that, since a receipt needs room as well.
        assert!(matches!(output.status.code(), Some(1 | 10)), "{}", said(&output));
        assert!(said(&output).contains("file too large"), "{}", said(&output));
        assert!(!plan.at("full/scorecard.json").exists());
        assert_eq!(plan.at("full").exists(), begun, "a run that was not set up leaves nothing");
    }
    ended(&plan.arena(&["tournament", "resume", "full"]), 0);
    assert_eq!(super::differences(&calm, &files(&plan.at("full"))), [""; 0]);
}

#[test]
fn results_are_shown_as_text_as_json_and_as_a_picture() {
    let plan = Plan::small();
    let run = plan.run("run", &["--json"]);
    ended(&run, 0);
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON on stdout");
    assert_eq!(told["receipt"]["terminal"], "success");
    ended(&plan.arena(&["tournament", "show", "run", "--svg", "matrix.svg"]), 0);
    let svg = std::fs::read_to_string(plan.at("matrix.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("Tit For Tat"));
    let shown = plan.arena(&["tournament", "show", "run", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON on stdout");
    assert_eq!(shown["standings"].as_array().map(Vec::len), Some(3));
    let verified = plan.arena(&["verify", "run", "--all", "--json"]);
    let verified: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("JSON on stdout");
    assert_eq!(verified[0]["replayed"], 90);
    std::fs::write(plan.at("run/scorecard.md"), "all well").expect("changed");
    ended(&plan.arena(&["verify", "run"]), 20);
}
