//! Every way that a claim can go, in a folder: whatever happened, `arena verify` derives it again, in the middle of it and
//! at the end.

use arena_cli::Exit;
use serde_json::{Value, json};

use super::Lab;
use crate::cli::Folder;

const DAY: u64 = 86_400;
const HOUR: u64 = 3_600;

impl Lab {
    /// A lab with agents to spare and other parameters.
    fn with(changes: &[(&str, Value)], agents: &str) -> Self {
        let folder = Folder::new();
        let mut params = folder.arena("claim params show --json").json();
        for (pointer, value) in changes {
            *params.pointer_mut(pointer).expect("a parameter") = value.clone();
        }
        folder.file("params.json", params.to_string());
        let mut lab = Self { folder, now: 1_800_000_000 };
        lab.plain("claim init --name test-lab --beacon test --dir {}/lab --params {}/params.json");
        lab.populate(agents);
        lab.now += 2 * HOUR;
        lab
    }

    fn populate(&mut self, agents: &str) {
        for agent in agents.split(' ') {
            self.plain(&format!("key new {{}}/{agent}.key"));
            self.claim(&format!("agent {agent} --operator op-{agent} --key {{}}/{agent}.key --can wasm"));
            self.claim(&format!("deposit 20000 --as {agent}"));
        }
        self.folder.file("run.wasm", arena_tests::guest("monte-carlo"));
        self.plain(
            "claim new {}/manifest.json --as sue --component {}/run.wasm --metric elo=1532.25 --dir {}/lab",
        );
        self.results("results.json", "1532.25", 9);
    }

    /// What somebody says that a run measured.
    fn results(&self, file: &str, elo: &str, fuel: u64) {
        let metrics = json!([{ "name": "elo", "kind": "decimal", "value": elo }]);
        let results = json!({ "metrics": metrics, "fuel": fuel.to_string(), "log_sha256": "ab".repeat(32) });
        self.folder.file(file, results.to_string());
    }

    /// Lists and funds, and draws the first runner.
    fn drawn(&mut self) -> String {
        self.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
        self.claim("fund c1 3500 --as fay");
        self.assigned()
    }

    fn assigned(&mut self) -> String {
        assert_eq!(self.claim("assign c1"), ["draw_resolved"]);
        self.runner()
    }

    fn runner(&self) -> String {
        self.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned()
    }

    fn auditor(&self) -> Option<String> {
        let audit = self.folder.arena("claim audit c1 --dir {}/lab").json();
        audit["auditor"].as_str().map(str::to_owned)
    }

    fn keyed(&mut self, verb: &str, agent: &str, more: &str) -> Vec<String> {
        self.claim(&format!("{verb} c1 --as {agent} --key {{}}/{agent}.key{more}"))
    }

    fn later(&mut self, seconds: u64, line: &str) -> Vec<String> {
        self.now += seconds;
        self.claim(line)
    }

    /// It verifies, with so many claims that are over.
    #[track_caller]
    fn verifies(&self, over: u64) -> Value {
        let ran = self.folder.arena("verify {}/lab --json");
        assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
        let found = ran.json()[0].clone();
        assert_eq!((&found["verified"], &found["over"]), (&json!(true), &json!(over)), "{found}");
        found
    }

    fn outcome(&self) -> String {
        self.show()["claims"][0]["outcome"].as_str().unwrap_or_default().to_owned()
    }
}

fn has(events: &[String], name: &str) -> bool {
    events.iter().any(|event| event == name)
}

#[test]
fn never_funded_and_contributions_taken_back() {
    let mut lab = Lab::open();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    lab.claim("fund c1 1000 --as fay");
    lab.claim("fund c1 500 --as a");
    assert_eq!(lab.claim("withdraw c1 --as a"), ["funds_withdrawn"]);
    lab.claim("payout 300 --as b");
    lab.claim("position c1 --as c");
    lab.verifies(0);
    assert_eq!(lab.later(30 * DAY, "tick c1"), ["claim_withdrawn"]);
    assert_eq!(lab.outcome(), "unfunded");
    lab.verifies(1);
}

#[test]
fn declined_with_a_reason_without_one_and_in_silence() {
    let mut lab = Lab::open();
    let first = lab.drawn();
    assert_eq!(
        lab.claim(&format!("decline c1 --as {first} --reason busy")),
        ["role_vacated", "draw_committed"]
    );
    let second = lab.assigned();
    let declined = lab.claim(&format!("decline c1 --as {second}"));
    assert_eq!(declined, ["standing_changed", "role_vacated", "draw_committed"]);
    lab.verifies(0);
    let third = lab.assigned();
    assert!(first != second && second != third && first != third);
    let lapsed = lab.later(HOUR, "tick c1");
    assert_eq!(lapsed, ["standing_changed", "role_vacated", "claim_withdrawn"]);
    assert_eq!(lab.outcome(), "no_runner");
    assert_eq!(lab.verifies(1)["draws"], 3);
}

#[test]
fn a_run_that_never_comes_and_a_beacon_that_is_silent() {
    let mut lab = Lab::open();
    let first = lab.drawn();
    lab.claim(&format!("accept c1 --as {first}"));
    let over = lab.later(3 * DAY, "tick c1");
    assert!(has(&over, "role_vacated") && has(&over, "draw_committed"), "{over:?}");
    assert_eq!(lab.later(HOUR, "tick c1"), ["beacon_stalled"]);
    lab.verifies(0);
    let second = lab.assigned();
    assert_ne!(first, second);
    lab.claim(&format!("accept c1 --as {second}"));
    lab.later(3 * DAY, "tick c1");
    lab.verifies(0);
    assert_eq!(lab.later(7 * DAY, "tick c1"), ["claim_withdrawn"]);
    assert_eq!(lab.outcome(), "no_runner");
    lab.verifies(1);
}

#[test]
fn withheld_by_the_runner() {
    let mut lab = Lab::open();
    let (_, auditor) = lab.run();
    lab.keyed("challenge", &auditor, " --results {}/results.json");
    assert_eq!(lab.later(DAY, "tick c1"), ["window_closed"]);
    lab.keyed("reveal", &auditor, "");
    lab.verifies(0);
    let ended = lab.later(6 * HOUR, "tick c1");
    assert!(has(&ended, "claim_withdrawn"), "{ended:?}");
    assert_eq!(lab.outcome(), "withheld");
    assert_eq!(lab.verifies(1)["records"], 1);
}

#[test]
fn audits_that_are_declined_lapse_or_come_to_nothing() {
    let mut lab = Lab::with(&[], "sue fay a b c d");
    let runner = lab.drawn();
    commits(&mut lab, &runner, "results.json");
    let first = lab.auditor().expect("drawn");
    assert_eq!(lab.claim(&format!("decline c1 --as {first} --reason ill")), ["audit_vacated", "sealed"]);
    assert_eq!(lab.claim("assign c1"), ["coin_tossed"]);
    let second = lab.auditor().expect("drawn");
    // Whoever lets time pass learns nothing by it.
    assert_eq!(lab.later(HOUR, "tick c1"), ["sealed", "sealed"]);
    lab.verifies(0);
    assert_eq!(lab.claim("assign c1"), ["coin_tossed"]);
    let third = lab.auditor().expect("drawn");
    assert!(first != second && second != third && first != third);
    assert_eq!(lab.claim(&format!("accept c1 --as {third}")), ["audit_accepted"]);
    lab.verifies(0);
    lab.later(DAY, "tick c1");
    let ended = lab.keyed("reveal", &runner, "");
    assert!(has(&ended, "settled"), "{ended:?}");
    // It accepted and never committed: a quarter of its stake.
    assert_eq!(lab.show()["agents"][&third]["avail"], "19375");
    lab.verifies(1);
}

/// Accepts, checks inputs, runs and commits, and tosses the coin.
fn commits(lab: &mut Lab, runner: &str, results: &str) {
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/{results} --dir {{}}/lab"));
    lab.keyed("commit", runner, "");
    assert_eq!(lab.claim("assign c1"), ["coin_tossed"]);
}

#[test]
fn a_window_that_is_extended_and_one_that_opens_again() {
    let mut lab = Lab::with(&[], "sue fay a b c d");
    let runner = lab.drawn();
    commits(&mut lab, &runner, "results.json");
    let auditor = lab.auditor().expect("drawn");
    lab.claim(&format!("accept c1 --as {auditor}"));
    let mut free: Vec<&str> =
        ["a", "b", "c", "d"].into_iter().filter(|a| *a != runner && *a != auditor).collect();
    let (late, option) = (free.remove(0), free.remove(0));
    lab.now += 23 * HOUR;
    let extended = lab.keyed("challenge", late, " --results {}/results.json");
    assert_eq!(extended, ["challenge_committed", "window_extended"]);
    assert_eq!(lab.later(3 * HOUR, "tick c1"), ["window_closed"]);
    lab.keyed("reveal", &runner, "");
    assert_eq!(lab.later(7 * HOUR, "tick c1"), ["window_reopened"]);
    lab.verifies(0);
    lab.keyed("challenge", option, " --results {}/results.json");
    assert_eq!(lab.later(12 * HOUR, "tick c1"), ["window_closed"]);
    let ended = lab.keyed("reveal", option, "");
    assert!(has(&ended, "settled"), "{ended:?}");
    assert_eq!(lab.show()["agents"][late]["avail"], "17500");
    lab.verifies(1);
}

const MANY: &str = "sue fay a b c d e f g h i j k l m n o p q r s t u";

/// A dispute before panels: the runner says one thing, the auditor another.
fn disputed(lab: &mut Lab) -> (String, String) {
    lab.results("wrong.json", "1532.25", 1);
    lab.results("right.json", "1600.25", 9);
    let runner = lab.drawn();
    commits(lab, &runner, "wrong.json");
    let auditor = lab.auditor().expect("drawn");
    lab.keyed("challenge", &auditor, " --results {}/right.json");
    lab.later(DAY, "tick c1");
    lab.keyed("reveal", &runner, "");
    let disputed = lab.keyed("reveal", &auditor, "");
    assert_eq!(disputed, ["challenge_revealed", "disputed", "draw_committed"]);
    (runner, auditor)
}

/// Resolves the draw of a panel, and gives who sits on it.
fn seats(lab: &mut Lab) -> Vec<String> {
    lab.now += 60;
    let ran = lab.folder.arena(&format!("claim assign c1 --dir {{}}/lab --at {} --json", lab.now));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let picks = ran.json()["events"][0]["picks"].clone();
    picks.as_array().expect("picks").iter().map(|pick| pick.as_str().expect("an agent").to_owned()).collect()
}

fn ballot(lab: &Lab, file: &str, verdict: &str, confirms: &[&str]) {
    let rationale = match verdict {
        "abstain" => json!([]),
        _ => json!([{ "cmp": "C3", "metric": "elo" }]),
    };
    let ballot =
        json!({ "verdict": verdict, "confirms": confirms, "rerun_sha256": null, "rationale": rationale });
    lab.folder.file(file, ballot.to_string());
}

#[test]
fn a_panel_with_a_declined_seat_an_appeal_and_the_reference() {
    let mut lab = Lab::with(&[("/fast_referee", json!(false))], MANY);
    let (runner, auditor) = disputed(&mut lab);
    let mut panel = seats(&mut lab);
    assert_eq!(panel.len(), 5);
    let leaver = panel.remove(0);
    assert_eq!(
        lab.claim(&format!("decline c1 --as {leaver} --reason ill")),
        ["role_vacated", "draw_committed"]
    );
    lab.verifies(0);
    panel.extend(seats(&mut lab));
    assert_eq!(panel.len(), 5);
    ballot(&lab, "bribed.json", "runner_right", &[]);
    ballot(&lab, "honest.json", "runner_wrong", &[&auditor]);
    for (i, seat) in panel.iter().enumerate() {
        let file = if i < 4 { "bribed.json" } else { "honest.json" };
        lab.keyed("review", seat, &format!(" --ballot {{}}/{file}"));
    }
    lab.verifies(0);
    for seat in &panel {
        lab.keyed("reveal", seat, "");
    }
    assert_eq!(lab.show()["claims"][0]["phase"], "appealable");
    assert_eq!(lab.claim(&format!("appeal c1 --as {auditor}")), ["appealed"]);
    lab.verifies(0);
    let ended = lab.claim("reference c1 {}/right.json {}/right.json");
    assert!(has(&ended, "reference_published") && has(&ended, "settled"), "{ended:?}");
    assert_eq!(
        (lab.outcome().as_str(), &lab.show()["agents"][&runner]["avail"]),
        ("not_reproduced", &json!("16000"))
    );
    let found = lab.verifies(1);
    assert_eq!((&found["records"], &found["draws"]), (&json!(4), &json!(4)));
}

/// Whatever somebody tries after a commitment, and is refused, the commitment can still be opened.
#[test]
fn what_is_committed_is_not_written_over() {
    let mut lab = Lab::with(&[("/fast_referee", json!(false))], MANY);
    let refused = |lab: &Lab, verb: &str, agent: &str, more: &str| {
        let key = format!("--as {agent} --key {{}}/{agent}.key --dir {{}}/lab --at {}", lab.now);
        let ran = lab.folder.arena(&format!("claim {verb} c1{more} {key}"));
        assert_eq!(ran.exit, Exit::Rejected, "{verb}: {}", ran.err);
    };
    lab.results("wrong.json", "1532.25", 1);
    lab.results("right.json", "1600.25", 9);
    let runner = lab.drawn();
    commits(&mut lab, &runner, "wrong.json");
    refused(&lab, "challenge", &runner, " --results {}/right.json");
    lab.folder.arena(&format!("claim run c1 --as {runner} --results {{}}/right.json --dir {{}}/lab"));
    refused(&lab, "commit", &runner, "");
    let auditor = lab.auditor().expect("drawn");
    lab.keyed("challenge", &auditor, " --results {}/right.json");
    refused(&lab, "challenge", &auditor, " --results {}/wrong.json");
    lab.later(DAY, "tick c1");
    assert_eq!(lab.keyed("reveal", &runner, ""), ["run_revealed"]);
    let disputed = lab.keyed("reveal", &auditor, "");
    assert_eq!(disputed, ["challenge_revealed", "disputed", "draw_committed"]);
    let panel = seats(&mut lab);
    ballot(&lab, "first.json", "runner_wrong", &[&auditor]);
    ballot(&lab, "second.json", "runner_right", &[]);
    for seat in &panel[..4] {
        lab.keyed("review", seat, " --ballot {}/first.json");
        refused(&lab, "review", seat, " --ballot {}/second.json");
    }
    lab.keyed("review", &panel[4], " --ballot {}/first.json");
    for seat in &panel {
        lab.keyed("reveal", seat, "");
    }
    assert_eq!(lab.show()["claims"][0]["phase"], "appealable");
    lab.verifies(0);
}

#[test]
fn a_tie_a_second_panel_without_a_quorum_and_a_silent_reference() {
    let mut lab = Lab::with(&[("/fast_referee", json!(false))], MANY);
    let (runner, auditor) = disputed(&mut lab);
    let first = seats(&mut lab);
    ballot(&lab, "right.ballot", "runner_right", &[]);
    ballot(&lab, "wrong.ballot", "runner_wrong", &[&auditor]);
    ballot(&lab, "abstain.ballot", "abstain", &[]);
    for (seat, file) in first.iter().zip(["right", "wrong", "right", "wrong", "abstain"]) {
        lab.keyed("review", seat, &format!(" --ballot {{}}/{file}.ballot"));
    }
    let mut last = Vec::new();
    for seat in &first {
        last = lab.keyed("reveal", seat, "");
    }
    assert_eq!(last, ["vote_revealed", "escalated", "draw_committed"]);
    lab.verifies(0);
    let second = seats(&mut lab);
    assert_eq!(second.len(), 7);
    assert!(first.iter().all(|seat| !second.contains(seat)));
    lab.keyed("review", &second[0], " --ballot {}/right.ballot");
    assert_eq!(lab.later(DAY, "tick c1"), ["votes_opened"]);
    let escalated = lab.keyed("reveal", &second[0], "");
    assert_eq!(escalated, ["vote_revealed", "escalated"]);
    lab.verifies(0);
    let ended = lab.later(7 * DAY, "tick c1");
    assert!(has(&ended, "settled"), "{ended:?}");
    assert_eq!(
        (lab.outcome().as_str(), &lab.show()["agents"][&runner]["avail"]),
        ("spec_issue", &json!("20500"))
    );
    lab.verifies(1);
}

#[test]
fn a_panel_that_stands_without_an_appeal() {
    let mut lab = Lab::with(&[("/fast_referee", json!(false))], MANY);
    let (_, auditor) = disputed(&mut lab);
    ballot(&lab, "honest.json", "runner_wrong", &[&auditor]);
    let panel = seats(&mut lab);
    for seat in &panel {
        lab.keyed("review", seat, " --ballot {}/honest.json");
    }
    for seat in &panel {
        lab.keyed("reveal", seat, "");
    }
    let ended = lab.later(DAY, "tick c1");
    assert!(has(&ended, "settled"), "{ended:?}");
    assert_eq!(lab.outcome(), "not_reproduced");
    lab.verifies(1);
}

#[test]
fn what_could_not_be_run_is_relisted_corrected() {
    let mut lab = Lab::open();
    let runner = lab.drawn();
    let log = "ab".repeat(32);
    lab.folder.file(
        "unrunnable.json",
        format!(
            r#"{{"outcome":"spec_issue","reason":"it traps","metrics":[],"fuel":"9","log_sha256":"{log}"}}"#
        ),
    );
    commits(&mut lab, &runner, "unrunnable.json");
    let auditor = lab.auditor().expect("drawn");
    lab.keyed("challenge", &auditor, " --results {}/unrunnable.json");
    lab.later(DAY, "tick c1");
    lab.keyed("reveal", &runner, "");
    let ended = lab.keyed("reveal", &auditor, "");
    assert!(has(&ended, "settled"), "{ended:?}");
    assert_eq!(lab.outcome(), "spec_issue");
    lab.verifies(1);
    lab.plain(
        "claim new {}/corrected.json --as sue --component {}/run.wasm --metric elo=1532.50 --dir {}/lab",
    );
    let relisted =
        lab.later(HOUR, "relist c1 {}/corrected.json --component {}/run.wasm --deposit 500 --as sue");
    assert_eq!(relisted, ["claim_relisted", "claim_funded"]);
    lab.claim("fund c1 3500 --as fay");
    lab.verifies(0);
    let again = lab.assigned();
    assert!(again != runner && again != auditor, "roles persist");
    lab.claim(&format!("accept c1 --as {again}"));
    lab.verifies(0);
}

#[test]
fn a_canary_is_opened_after_its_end() {
    let mut lab = Lab::open();
    let secret = "aa".repeat(32);
    lab.claim(&format!(
        "list c1 {{}}/manifest.json --component {{}}/run.wasm --deposit 500 --as sue --canary {secret}"
    ));
    lab.later(30 * DAY, "tick c1");
    lab.verifies(1);
    assert_eq!(lab.claim(&format!("canary c1 {secret}")), ["canary_opened"]);
    lab.verifies(1);
}

/// Rounds of drand as they were published.
const ROUNDS: [(u64, &str); 3] = [
    (123, "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92"),
    (
        1_000,
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    ),
    (
        657_413,
        "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
    ),
];

/// When that round was due, and the last second in which a draw is committed to it.
fn due(round: u64) -> (u64, u64) {
    let time = 1_692_803_367 + (round - 1) * 3;
    (time, time - 30)
}

/// The whole way by real rounds of drand: the runner by round 1000, the audit by round 657413.
#[test]
fn draws_by_published_rounds_of_drand() {
    let folder = Folder::new();
    let mut params = folder.arena("claim params show --json").json();
    params["clocks"]["accept_s"] = json!(40 * DAY);
    folder.file("params.json", params.to_string());
    for (round, signature) in ROUNDS {
        folder.file(&format!("{round}.json"), json!({ "round": round, "signature": signature }).to_string());
    }
    let mut lab = Lab { folder, now: 1_692_790_000 };
    lab.plain("claim init --name lab --dir {}/lab --params {}/params.json");
    lab.populate("sue fay a b c");
    lab.now = due(1_000).1 - 120;
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    // At the very second, with a round that was known: 1000 is drawn by.
    lab.now = due(1_000).1 - 60;
    let funded = lab.claim("fund c1 3500 --as fay --beacon {}/123.json");
    assert_eq!(funded, ["claim_funded", "job_opened", "draw_committed"]);
    let early = lab
        .folder
        .arena(&format!("claim assign c1 --dir {{}}/lab --at {} --beacon {{}}/1000.json", due(1_000).0 - 1));
    assert!(early.err.contains("round_not_due"), "{}", early.err);
    let other = lab
        .folder
        .arena(&format!("claim assign c1 --dir {{}}/lab --at {} --beacon {{}}/123.json", due(1_000).0));
    assert_eq!(other.exit, Exit::Rejected, "{}", other.err);
    lab.now = due(1_000).0;
    assert_eq!(lab.claim("assign c1 --beacon {}/1000.json"), ["draw_resolved"]);
    lab.verifies(0);
    let runner = lab.runner();
    lab.now = due(657_413).1 - 240;
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/results.json --dir {{}}/lab"));
    lab.now = due(657_413).1 - 60;
    let committed = lab.keyed("commit", &runner, " --beacon {}/1000.json");
    assert_eq!(committed, ["run_committed", "draw_committed"]);
    lab.now = due(657_413).0;
    assert_eq!(lab.claim("assign c1 --beacon {}/657413.json"), ["coin_tossed"]);
    let auditor = lab.auditor().expect("drawn");
    lab.keyed("challenge", &auditor, " --results {}/results.json");
    lab.later(DAY, "tick c1");
    lab.keyed("reveal", &runner, "");
    let ended = lab.keyed("reveal", &auditor, "");
    assert!(has(&ended, "settled"), "{ended:?}");
    assert_eq!(lab.verifies(1)["draws"], 2);
    for (i, draw) in lab.show()["claims"][0]["draws"].as_array().expect("draws").iter().enumerate() {
        lab.folder.file(&format!("draw{i}.json"), draw.to_string());
        lab.plain(&format!("draw verify {{}}/draw{i}.json"));
        assert_eq!(draw["beacon"]["kind"], "drand-quicknet");
    }
}
