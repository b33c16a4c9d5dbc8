//! Claims about tournaments: the frozen matrix is played again, and two honest reruns agree byte for byte.

use arena_canon::Digest;
use arena_cli::Exit;
use arena_tests::repository;
use serde_json::{Value, json};

use super::Lab;

/// Four strategies of the classic, everybody against everybody and itself.
fn plan(repetitions: u32, rounds: u32) -> String {
    let guests = repository().join("target/guests");
    let strategies: String = ["tit-for-tat", "defector", "random", "grudger"]
        .iter()
        .map(|name| {
            let path = guests.join(format!("{name}.wasm"));
            format!("[[strategies]]\nname = \"The {name}\"\nversion = \"0.1.0\"\ncomponent = {path:?}\n")
        })
        .collect();
    format!(
        "slug = \"small\"\ntitle = \"Four of the classic\"\ngame = \"matrix\"\n{strategies}[matrix]\nkind = \
         \"round_robin\"\nself_play = true\nrepetitions = {repetitions}\nrounds = {rounds}\npayoffs = {{ r = 3, s = 0, \
         t = 5, p = 1 }}\n"
    )
}

/// A lab with a finished tournament in `run` and a manifest that claims what it came to.
fn lab() -> Lab {
    let lab = Lab::open();
    lab.folder.file("plan.toml", plan(2, 20));
    lab.plain("tournament run {}/plan.toml --out {}/run");
    std::fs::remove_file(lab.folder.at("manifest.json")).expect("the lab has one");
    lab.plain("claim new {}/manifest.json --as sue --tournament {}/run --dir {}/lab");
    lab.plain("claim check {}/manifest.json");
    lab
}

fn manifest(lab: &Lab) -> Value {
    let bytes = std::fs::read(lab.folder.at("manifest.json")).expect("a manifest");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Lists, funds, draws and accepts; then what was the submitter's is gone. Gives the runner.
fn assigned(lab: &mut Lab) -> String {
    lab.claim("list c1 {}/manifest.json --frozen {}/run/frozen.json --deposit 500 --as sue");
    std::fs::remove_dir_all(lab.folder.at("run")).expect("the run is a folder");
    lab.claim("fund c1 3500 --as fay");
    lab.claim("assign c1");
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {runner}"));
    runner
}

fn run(lab: &mut Lab, runner: &str) -> String {
    lab.now += 60;
    let at = lab.now;
    let ran = lab.folder.arena(&format!("claim run c1 --as {runner} --dir {{}}/lab --at {at}"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    ran.out
}

/// The record that somebody keeps.
fn record(lab: &Lab) -> Value {
    let sealed = std::fs::read_dir(lab.folder.at("lab/sealed")).expect("a folder");
    let path = sealed.map(|entry| entry.expect("an entry").path());
    let path = path.into_iter().find(|path| path.to_string_lossy().contains("/record-")).expect("a record");
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// From the commitment to the auditor's challenge, which is a rerun.
fn audited(lab: &mut Lab, runner: &str) -> (String, Vec<String>) {
    lab.claim(&format!("commit c1 --as {runner} --key {{}}/{runner}.key"));
    lab.claim("assign c1");
    let audit = lab.folder.arena("claim audit c1 --dir {}/lab").json();
    let auditor = audit["auditor"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {auditor}"));
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key"));
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    let ended = lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    (auditor, ended)
}

#[test]
fn a_tournament_reproduces_from_what_the_instance_keeps() {
    let mut lab = lab();
    let scorecard = std::fs::read(lab.folder.at("run/scorecard.json")).expect("a scorecard");
    let stated = manifest(&lab);
    let names: Vec<&str> =
        stated["metrics"].as_array().expect("metrics").iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, ["score.0", "score.1", "score.2", "score.3", "scorecard"]);
    let runner = assigned(&mut lab);
    assert!(run(&mut lab, &runner).starts_with("reproduced sha256:"));
    let record = record(&lab);
    assert_eq!(record["metrics"][4]["value"], Digest::of(&scorecard).to_string());
    for (metric, claimed) in record["metrics"]
        .as_array()
        .expect("metrics")
        .iter()
        .zip(stated["metrics"].as_array().expect("metrics"))
    {
        assert_eq!((&metric["name"], &metric["value"]), (&claimed["name"], &claimed["claim"]));
    }
    let (_, ended) = audited(&mut lab, &runner);
    assert!(ended.contains(&"settled".to_owned()), "{ended:?}");
    assert_eq!(lab.show()["claims"][0]["outcome"], "reproduced");
    let verified = lab.folder.arena("verify {}/lab --json");
    assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
    // The manifest, the frozen matrix and four components.
    assert_eq!(verified.json()[0]["blobs"], 6);
}

/// Packs are kept as canonical JSON, however they were written.
#[test]
fn a_tournament_at_the_campus_keeps_its_packs() {
    let mut lab = Lab::open();
    let guests = repository().join("target/guests");
    let pack = std::fs::read_to_string(repository().join("scenarios/sunny-sunday.json")).expect("a pack");
    lab.folder.file("pack.json", format!("\n  {pack}\n"));
    let plan = format!(
        "slug = \"tiny\"\ntitle = \"Two\"\ngame = \"campus\"\n[[strategies]]\nname = \"One\"\nversion = \"1\"\n\
         component = {:?}\n[[strategies]]\nname = \"Two\"\nversion = \"1\"\ncomponent = {:?}\n[matrix]\nkind = \
         \"round_robin\"\nrepetitions = 1\npacks = [\"two-spikes\", \"pack.json\"]\n",
        guests.join("greedy.wasm"),
        guests.join("idle.wasm"),
    );
    lab.folder.file("plan.toml", plan);
    lab.plain("tournament run {}/plan.toml --out {}/run");
    std::fs::remove_file(lab.folder.at("manifest.json")).expect("the lab has one");
    // Of a run that is over; one that is not has nothing to claim.
    lab.plain("tournament freeze {}/plan.toml --out {}/frozen");
    let early = lab.folder.arena("claim new {}/early.json --as sue --tournament {}/frozen --dir {}/lab");
    assert_eq!(early.exit, Exit::Usage);
    assert!(early.err.contains("identities.json"), "{}", early.err);
    lab.plain("claim new {}/manifest.json --as sue --tournament {}/run --dir {}/lab");
    let runner = assigned(&mut lab);
    assert!(run(&mut lab, &runner).starts_with("reproduced sha256:"));
    assert_eq!(lab.folder.arena("verify {}/lab --json").json()[0]["blobs"], 6);
}

#[test]
fn a_wrong_score_is_not_reproduced() {
    let mut lab = lab();
    let mut wrong = manifest(&lab);
    let score: i64 = wrong["metrics"][1]["claim"].as_str().expect("a score").parse().expect("a number");
    wrong["metrics"][1]["claim"] = (score + 1).to_string().into();
    lab.folder.file("manifest.json", wrong.to_string());
    let runner = assigned(&mut lab);
    assert!(run(&mut lab, &runner).starts_with("not_reproduced sha256:"));
    audited(&mut lab, &runner);
    assert_eq!(lab.show()["claims"][0]["outcome"], "not_reproduced");
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// A runner that says what is claimed, of a claim that is wrong, loses to two reference runs on two hosts.
#[test]
fn an_echoed_score_loses_to_the_reference() {
    let mut lab = lab();
    let mut wrong = manifest(&lab);
    wrong["metrics"][0]["claim"] = "12345".into();
    lab.folder.file("manifest.json", wrong.to_string());
    let runner = assigned(&mut lab);
    let echo =
        |metric: &Value| json!({ "name": metric["name"], "kind": metric["kind"], "value": metric["claim"] });
    let metrics: Vec<Value> = wrong["metrics"].as_array().expect("metrics").iter().map(echo).collect();
    let echo = json!({ "metrics": metrics, "fuel": "1", "log_sha256": "ab".repeat(32) });
    lab.folder.file("echo.json", echo.to_string());
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/echo.json --dir {{}}/lab"));
    let (_, ended) = audited(&mut lab, &runner);
    assert!(ended.contains(&"disputed".to_owned()), "{ended:?}");
    let published = lab.claim("reference c1");
    assert!(published.contains(&"reference_published".to_owned()), "{published:?}");
    let shown = lab.show();
    assert_eq!(shown["claims"][0]["outcome"], "not_reproduced", "{}", shown["claims"][0]);
    assert_eq!(shown["agents"][&runner]["avail"], "16000");
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

#[test]
fn what_cannot_be_played_is_not_listed() {
    let lab = lab();
    let journal = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut changed = manifest(&lab);
        change(&mut changed);
        lab.folder.file("changed.json", changed.to_string());
    };
    let list = |options: &str| {
        lab.folder
            .arena(&format!("claim list c1 {{}}/changed.json --deposit 500 --as sue --dir {{}}/lab{options}"))
    };
    let frozen = " --frozen {}/run/frozen.json";
    for (change, options, exit, why) in [
        (
            &(|m: &mut Value| m["arguments"] = json!({})) as &dyn Fn(&mut Value),
            frozen,
            Exit::Rejected,
            "`secret`",
        ),
        (
            &|m| m["arguments"]["secret"] = "ab".repeat(32).into(),
            frozen,
            Exit::Rejected,
            "does not open the commitment",
        ),
        (&|m| m["metrics"][0]["name"] = "score.4".into(), frozen, Exit::Rejected, "score.0 to score.3"),
        (&|m| m["metrics"][0]["name"] = "score.00".into(), frozen, Exit::Rejected, "metric score.00 as int"),
        (&|m| m["program"]["frozen"] = "ab".repeat(32).into(), frozen, Exit::Rejected, "the manifest pins"),
        (&|_| {}, "", Exit::Usage, "--frozen"),
        (&|_| {}, " --frozen {}/alone/frozen.json", Exit::Usage, "--files"),
        (&|_| {}, " --frozen {}/alone/frozen.json --files {}/alone", Exit::Usage, "--files"),
        (&|_| {}, " --frozen {}/run", Exit::Usage, "it is a folder"),
    ] {
        std::fs::create_dir_all(lab.folder.at("alone")).expect("a folder");
        std::fs::copy(lab.folder.at("run/frozen.json"), lab.folder.at("alone/frozen.json")).expect("copied");
        changed(change);
        let ran = list(options);
        assert_eq!(ran.exit, exit, "{options}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
    }
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), journal);
    // Beside the frozen matrix alone, the components are found by their digests.
    changed(&|_| {});
    let guests = repository().join("target/guests");
    let ran = list(&format!(" --frozen {{}}/alone/frozen.json --files {}", guests.display()));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
}

#[test]
fn a_manifest_that_gives_too_little_fuel_is_a_spec_issue() {
    let mut lab = lab();
    let mut tight = manifest(&lab);
    tight["limits"]["fuel"] = 1_000.into();
    lab.folder.file("manifest.json", tight.to_string());
    let runner = assigned(&mut lab);
    assert!(run(&mut lab, &runner).starts_with("spec_issue sha256:"));
    let record = record(&lab);
    assert_eq!(record["reason"], "fuel_spent: the limit is 1000");
    assert_eq!((&record["fuel"], &record["metrics"]), (&"1000".into(), &json!([])));
}

/// The clock costs nobody anything: there is no record, and the claim waits for another run.
#[test]
fn a_tournament_that_takes_too_long_is_no_result() {
    let mut lab = Lab::open();
    lab.folder.file("plan.toml", plan(99, 100_000));
    lab.plain("tournament freeze {}/plan.toml --out {}/run");
    let frozen = std::fs::read(lab.folder.at("run/frozen.json")).expect("a frozen matrix");
    let secret: [u8; 32] =
        std::fs::read(lab.folder.at("run/secret")).expect("a secret").try_into().expect("32 bytes");
    let mut claimed = manifest(&lab);
    claimed["program"] = json!({ "kind": "tournament", "frozen": Digest::of(&frozen) });
    claimed["arguments"] = json!({ "secret": Digest::from_bytes(secret) });
    claimed["metrics"] = json!([{ "name": "score.0", "kind": "int", "claim": "1",
        "claim_tol": { "abs": "0", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }]);
    claimed["limits"] = json!({ "fuel": 1_000_000_000_000u64, "memory_bytes": 1 << 20, "output_bytes": 1 << 20, "wall_seconds": 1 });
    lab.folder.file("manifest.json", claimed.to_string());
    let runner = assigned(&mut lab);
    let at = lab.now + 1;
    let ran = lab.folder.arena(&format!("claim run c1 --as {runner} --dir {{}}/lab --at {at}"));
    assert_eq!(ran.exit, Exit::Stalled, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("1 s on the clock") && ran.err.contains("run it again"), "{}", ran.err);
    assert_eq!(lab.show()["claims"][0]["phase"], "running");
}
