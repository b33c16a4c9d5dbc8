//! Claims at the command line: the pure commands by their published numbers, and a whole life in a folder.

mod beacons;
mod folder;
mod log;
mod parties;
mod paths;
mod rerun;
mod schemas;
mod tampering;
mod tournament;
mod wall;

use arena_cli::Exit;
use serde_json::{Value, json};

use crate::cli::{Folder, arena};

const PANEL: &str = r#"[{"name":"m1","vote":"X"},{"name":"m2","vote":"X"},{"name":"m3","vote":"X"},{"name":"min","vote":"Y"},{"name":"abs","vote":"abstain"}]"#;

#[test]
fn published_settlements_come_out_of_the_shipped_command() {
    let folder = Folder::new();
    let reviewers = PANEL.replace('X', "runner_wrong").replace('Y', "runner_right");
    folder.file(
        "case.json",
        format!(
            r#"{{"outcome":"runner_wrong","agree":[{{"name":"a","record_ok":null,"revealed":true}}],"disagree":[{{"name":"d","record_ok":true,"revealed":true}}],"reviewers":{reviewers},"auditor":null,"params":null}}"#
        ),
    );
    let ran = folder.arena("claim settle {}/case.json --json");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let want = json!({
        "funders": "4500", "runner": "0", "a": "1250", "d": "4000", "m1": "1800", "m2": "1800", "m3": "1800",
        "min": "0", "abs": "1400", "treasury": "3950", "pool": "0",
    });
    assert_eq!(ran.json()["balances"], want);
    assert!(folder.arena("claim settle {}/case.json --table").out.contains("treasury      3950"));
    folder.file("wrong.json", r#"{"outcome":"maybe","agree":[{"name":"pool"}]}"#);
    let ran = folder.arena("claim settle {}/wrong.json");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.err.contains("wrong.json#/outcome: must be one of"), "{}", ran.err);
    assert!(ran.err.contains("wrong.json#/agree/0/name: `pool` is not an agent's name"), "{}", ran.err);
    folder.file("broke.json", r#"{"outcome":"reproduced","params":{"runner_stake":"3999"}}"#);
    assert_eq!(folder.arena("claim settle {}/broke.json").exit, Exit::Rejected);
}

#[test]
fn the_smallest_stake_is_told_as_published() {
    let folder = Folder::new();
    let line = "claim explore --fee 1000 --cost 400 --p 0.10 --q 0.95";
    let ran = folder.arena(line);
    let plain = ran.out.replace(char::is_whitespace, " ");
    let want = "smallest runner stake that makes honest running beat faking: 3 445   (brute force agrees; 3 444 does not) \
                honest earns 577.78, faking 577.73 · honest profits · with the default stake 4 000: 575 against 525 ";
    assert_eq!(plain, want);
    assert_eq!(folder.arena(&format!("{line} --json")).json()["stake_min"], 3_445);
    assert_eq!(folder.arena("claim explore --fee 1000 --cost 400 --p 0 --q 0.95").exit, Exit::Rejected);
    assert_eq!(folder.arena("claim explore --fee 1000 --cost 400 --p 1.5 --q 0.95").exit, Exit::Usage);
    let ran = folder.arena("claim explore --fee 1000 --cost 400 --table --svg {}/grid.svg --json");
    let cell = |p: u64, q: u64| {
        let cells = ran.json();
        let found =
            cells.as_array().expect("cells").iter().find(|c| c["p_ppm"] == p && c["q_ppm"] == q).cloned();
        found.expect("a cell")["stake_min"].clone()
    };
    assert_eq!((cell(50_000, 750_000), cell(250_000, 950_000)), (json!(15_001), json!(778)));
    assert!(std::fs::read_to_string(folder.at("grid.svg")).expect("written").starts_with("<svg"));
    // The published fee and cost need not be told.
    assert_eq!(folder.arena("claim explore --table --json").json(), ran.json());
    assert_eq!(folder.arena("claim explore --p 0.1 --q 0.95").exit, Exit::Usage);
}

#[test]
fn parameters_are_checked_with_their_slack() {
    let folder = Folder::new();
    let published = arena(["claim", "params", "show", "--json"]);
    folder.file("params.json", &published.out);
    let ran = folder.arena("claim params check {}/params.json --json");
    assert_eq!((ran.exit, &ran.json()["holds"]), (Exit::Success, &json!(true)));
    let mut missed = published.json();
    missed["tax"] = json!("101");
    folder.file("missed.json", missed.to_string());
    let ran = folder.arena("claim params check {}/missed.json --json");
    assert_eq!(ran.exit, Exit::Rejected);
    let rows = ran.json();
    let broken: Vec<&str> = rows["inequalities"]
        .as_array()
        .expect("rows")
        .iter()
        .filter(|row| row["holds"] == json!(false))
        .filter_map(|row| row["id"].as_str())
        .collect();
    assert_eq!(broken, ["I5", "I5'", "I6'"]);
    assert_eq!(
        folder.arena("claim init --name lab --dir {}/lab --params {}/missed.json").exit,
        Exit::Rejected
    );
}

#[test]
fn comparisons_are_exact() {
    let folder = Folder::new();
    folder.file(
        "manifest.json",
        r#"{"metrics":[{"name":"x","kind":"decimal","scale":3,"claim":"0.878","claim_tol":{"abs":"0.005","rel":"0","dir":"two_sided"}}]}"#,
    );
    let record = |x: &str, fuel: u64| {
        format!(r#"{{"metrics":[{{"name":"x","kind":"decimal","value":"{x}"}}],"fuel":"{fuel}"}}"#)
    };
    folder.file("edge.json", record("0.873", 7));
    folder.file("beyond.json", record("0.872", 7));
    folder.file("echo.json", record("0.873", 8));
    let one = folder.arena("claim compare {}/manifest.json {}/edge.json --json");
    assert_eq!((one.exit, &one.json()["outcome"]), (Exit::Success, &json!("reproduced")));
    let two = folder.arena("claim compare {}/manifest.json {}/edge.json {}/beyond.json --json").json();
    assert_eq!((&two["agrees"], &two["challenger_outcome"]), (&json!(false), &json!("not_reproduced")));
    let echo = folder.arena("claim compare {}/manifest.json {}/edge.json {}/echo.json --json").json();
    let failed: Vec<&Value> =
        echo["rows"].as_array().expect("rows").iter().filter(|row| row["status"] != "pass").collect();
    assert_eq!(failed.len(), 1);
    assert_eq!((&failed[0]["metric"], &failed[0]["diff"]), (&json!("#fuel"), &json!("1")));
}

/// A life in a folder: everybody with a key of their own, every verb one command.
struct Lab {
    folder: Folder,
    now: u64,
}

impl Lab {
    fn open() -> Self {
        let mut lab = Self { folder: Folder::new(), now: 1_800_000_000 };
        lab.plain("claim init --name test-lab --beacon test --dir {}/lab");
        for agent in ["sue", "fay", "a", "b", "c"] {
            lab.plain(&format!("key new {{}}/{agent}.key"));
            lab.claim(&format!("agent {agent} --operator op-{agent} --key {{}}/{agent}.key --can wasm"));
            lab.claim(&format!("deposit 20000 --as {agent}"));
        }
        lab.folder.file("run.wasm", arena_tests::guest("monte-carlo"));
        lab.plain(
            "claim new {}/manifest.json --as sue --component {}/run.wasm --metric elo=1532.25 --dir {}/lab",
        );
        lab.plain("claim check {}/manifest.json");
        let log = "ab".repeat(32);
        let metrics = r#"[{"name":"elo","kind":"decimal","value":"1532.25"}]"#;
        lab.folder
            .file("results.json", format!(r#"{{"metrics":{metrics},"fuel":"9","log_sha256":"{log}"}}"#));
        lab.now += 7_200;
        lab
    }

    fn plain(&self, line: &str) {
        let ran = self.folder.arena(line);
        assert_eq!(ran.exit, Exit::Success, "{line}: {}", ran.err);
    }

    /// A command at the next minute; the names of its events.
    fn claim(&mut self, line: &str) -> Vec<String> {
        self.now += 60;
        let at = self.now;
        let ran = self.folder.arena(&format!("claim {line} --dir {{}}/lab --at {at} --json"));
        assert_eq!(ran.exit, Exit::Success, "{line}: {}", ran.err);
        let events = ran.json()["events"].as_array().expect("events").clone();
        events.iter().map(|event| event["event"].as_str().expect("a name").to_owned()).collect()
    }

    fn show(&self) -> Value {
        self.folder.arena("claim show --dir {}/lab --json").json()
    }

    fn run(&mut self) -> (String, String) {
        self.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
        self.claim("fund c1 3500 --as fay");
        assert_eq!(self.claim("assign c1"), ["draw_resolved"]);
        let runner = self.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
        self.claim(&format!("accept c1 --as {runner}"));
        self.claim(&format!("inputs c1 --as {runner}"));
        self.plain(&format!("claim run c1 --as {runner} --results {{}}/results.json --dir {{}}/lab"));
        self.claim(&format!("commit c1 --as {runner} --key {{}}/{runner}.key"));
        assert_eq!(self.claim("assign c1"), ["coin_tossed"]);
        let audit = self.folder.arena("claim audit c1 --dir {}/lab").json();
        (runner, audit["auditor"].as_str().expect("drawn").to_owned())
    }
}

#[test]
fn a_claim_lives_in_a_folder() {
    let mut lab = Lab::open();
    let (runner, auditor) = lab.run();
    lab.claim(&format!("accept c1 --as {auditor}"));
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key --results {{}}/results.json"));
    lab.now += 86_400;
    assert_eq!(lab.claim("tick c1"), ["window_closed"]);
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    let ended = lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    assert_eq!(ended, ["challenge_revealed", "standing_changed", "valid_run_counted", "settled"]);
    let shown = lab.show();
    assert_eq!(shown["claims"][0]["outcome"], "reproduced");
    assert_eq!(shown["agents"][&runner]["avail"], "21000");
    assert_eq!(shown["agents"][&auditor]["avail"], "20600");
    // Every draw of it can be drawn again by anybody.
    for (i, draw) in shown["claims"][0]["draws"].as_array().expect("draws").iter().enumerate() {
        lab.folder.file(&format!("draw{i}.json"), draw.to_string());
        lab.plain(&format!("draw verify {{}}/draw{i}.json"));
    }
}

#[test]
fn who_audits_and_what_was_found_is_not_in_the_journal() {
    let mut lab = Lab::open();
    let (_, auditor) = lab.run();
    let public = |lab: &Lab| std::fs::read_to_string(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    let before = public(&lab).lines().count();
    lab.claim(&format!("accept c1 --as {auditor}"));
    let added: String = public(&lab).lines().skip(before).collect();
    assert!(added.contains("sealed") && !added.contains(&format!("\"{auditor}\"")), "{added}");
    assert!(!public(&lab).contains("1532.25\",\"value"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &str| std::fs::metadata(lab.folder.at(path)).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode("lab/sealed"), mode("a.key")), (0o700, 0o600));
    }
}

/// A commitment under somebody else's key could never be opened: the stake would be lost by a slip of the hand.
#[test]
fn a_commitment_takes_the_agents_own_key() {
    let mut lab = Lab::open();
    let (_, auditor) = lab.run();
    lab.claim(&format!("accept c1 --as {auditor}"));
    let before = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    let with = |lab: &Lab, key: &str| {
        let results = "--results {}/results.json --dir {}/lab";
        lab.folder.arena(&format!(
            "claim challenge c1 --as {auditor} --key {{}}/{key}.key {results} --at {}",
            lab.now
        ))
    };
    let ran = with(&lab, "sue");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.out);
    assert!(ran.err.contains("sue.key` is not the one that is bound to the agent"), "{}", ran.err);
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), before);
    assert_eq!(with(&lab, &auditor).exit, Exit::Success);
}

#[test]
fn a_journal_that_was_changed_is_refused_and_a_torn_line_is_dropped() {
    let mut lab = Lab::open();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    let path = lab.folder.at("lab/journal.ndjson");
    let whole = std::fs::read_to_string(&path).expect("a journal");
    for cut in [1, 40, 200] {
        std::fs::write(&path, &whole[..whole.len() - cut]).expect("written");
        let ran = lab.folder.arena("claim show --dir {}/lab --json");
        assert_eq!((ran.exit, ran.json()["claims"].as_array().map(Vec::len)), (Exit::Success, Some(0)));
        assert!(ran.err.contains("never confirmed"), "{}", ran.err);
    }
    // What comes next is written in its place.
    lab.claim("deposit 1 --as a");
    assert_eq!(lab.show()["agents"]["a"]["avail"], "20001");
    for (from, to) in [("\"20000\"", "\"90000\""), ("\"seq\":\"3\"", "\"seq\":\"4\""), ("op-a", "op-b")] {
        std::fs::write(&path, whole.replacen(from, to, 1)).expect("written");
        let ran = lab.folder.arena("claim show --dir {}/lab");
        assert_eq!(ran.exit, Exit::Rejected, "{from}");
        assert!(ran.err.contains("of the journal"), "{}", ran.err);
    }
}

#[test]
fn refusals_name_their_code_and_change_nothing() {
    let lab = Lab::open();
    let before = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    for (line, code) in [
        ("claim fund c9 10 --as fay --dir {}/lab", "unknown_claim"),
        ("claim deposit 10 --as nobody --dir {}/lab", "unknown_agent"),
        ("claim payout 20001 --as fay --dir {}/lab", "ledger_refused"),
        ("claim deposit 10 --as fay --dir {}/lab --at 1700000000", "time_goes_back"),
        (
            "claim list c1 {}/manifest.json --component {}/run.wasm --deposit 1 --as sue --dir {}/lab",
            "amount_too_small",
        ),
        (
            "claim list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as fay --dir {}/lab",
            "not_yours",
        ),
    ] {
        let ran = lab.folder.arena(line);
        assert_eq!(ran.exit, Exit::Rejected, "{line}: {}", ran.err);
        assert!(ran.err.contains(&format!(": {code}: ")), "{line}: {}", ran.err);
    }
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), before);
}

/// Nothing in a stranger's folder makes a reader wait, or leads out of it.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_in_an_instance_is_an_error_and_no_wait() {
    let folder = Folder::new();
    assert_eq!(folder.arena("claim init --dir {}/c --name test-pipes --beacon test").exit, Exit::Success);
    for name in ["instance.json", "journal.ndjson"] {
        let path = folder.at("c").join(name);
        let kept = std::fs::read(&path).expect("it is there");
        std::fs::remove_file(&path).expect("removed");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo starts");
        assert!(made.success());
        for line in ["claim show --dir {}/c", "verify {}/c"] {
            let ran = folder.arena(line);
            assert_ne!(ran.exit, Exit::Success, "{name}: {line}");
        }
        std::fs::remove_file(&path).and_then(|()| std::fs::write(&path, kept)).expect("put back");
    }
    assert_eq!(folder.arena("verify {}/c").exit, Exit::Success);
}
