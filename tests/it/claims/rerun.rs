//! Claims that are run: what is listed can be run, what is run is what is pinned, and everything that comes of
//! it can be derived again.

use arena_cli::Exit;
use arena_tests::{guest, repository};

use serde_json::{Value, json};

use super::Lab;

const PRICES: &str = "de_lu_da_2024-12-11_12.csv";

/// A lab with an example's component, inputs and manifest.
fn lab(name: &str) -> Lab {
    let lab = Lab::open();
    let example = repository().join("guest-examples").join(name);
    lab.folder.file("run.wasm", guest(name));
    lab.folder.file("claim.json", std::fs::read(example.join("claim.json")).expect("a claim"));
    std::fs::create_dir(lab.folder.at("data")).expect("a folder");
    let mut input = String::new();
    if let Ok(prices) = std::fs::read(example.join("inputs").join(PRICES)) {
        lab.folder.file(&format!("data/{PRICES}"), prices);
        input = format!(" --input {{}}/data/{PRICES}");
    }
    std::fs::remove_file(lab.folder.at("manifest.json")).expect("the lab has one");
    lab.plain(&format!(
        "claim new {{}}/manifest.json --as sue --component {{}}/run.wasm --like {{}}/claim.json{input} --dir {{}}/lab"
    ));
    lab.plain("claim check {}/manifest.json");
    lab
}

/// Lists, funds, draws and accepts; gives the runner.
fn assigned(lab: &mut Lab) -> String {
    assigned_with(lab, "--inputs {}/data")
}

/// The same of what needs other files beside its component.
fn assigned_with(lab: &mut Lab, options: &str) -> String {
    lab.claim(&format!(
        "list c1 {{}}/manifest.json --component {{}}/run.wasm {options} --deposit 500 --as sue"
    ));
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

/// From the listing to the end, with two real runs.
fn settled(name: &str) -> Lab {
    let mut lab = lab(name);
    settles(&mut lab, "--inputs {}/data", "reproduced");
    lab
}

/// The same of any manifest, with the outcome that it has.
fn settles(lab: &mut Lab, options: &str, outcome: &str) {
    let runner = assigned_with(lab, options);
    let ran = run(lab, &runner);
    assert!(ran.starts_with(&format!("{outcome} sha256:")), "{ran}");
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
    assert!(ended.contains(&"settled".to_owned()), "{ended:?}");
    assert_eq!(lab.show()["claims"][0]["outcome"], outcome);
    let verified = lab.folder.arena("verify {}/lab");
    assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
}

/// Changes the manifest of a lab.
fn change(lab: &Lab, change: impl FnOnce(&mut Value)) {
    let bytes = std::fs::read(lab.folder.at("manifest.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_slice(&bytes).expect("JSON");
    change(&mut manifest);
    lab.folder.file("manifest.json", manifest.to_string());
}

/// A value that is not what comes out ends the claim so, whichever metric it is.
#[test]
fn a_wrong_figure_is_not_reproduced() {
    for (metric, wrong) in [(0, "47"), (3, "936.29"), (4, "2024-12-12T18:00:00+01:00")] {
        let mut lab = lab("price-statistics");
        change(&lab, |manifest| manifest["metrics"][metric]["claim"] = wrong.into());
        settles(&mut lab, "--inputs {}/data", "not_reproduced");
    }
}

#[test]
fn both_examples_are_claims_that_reproduce_and_verify() {
    for (name, blobs) in [("price-statistics", 3), ("monte-carlo", 2)] {
        let lab = settled(name);
        let shown = lab.show();
        assert_eq!(shown["claims"][0]["outcome"], "reproduced", "{name}");
        let verified = lab.folder.arena("verify {}/lab --json");
        assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
        let found = &verified.json()[0];
        assert_eq!((&found["verified"], &found["over"]), (&true.into(), &1.into()));
        assert_eq!((&found["records"], &found["draws"]), (&2.into(), &2.into()));
        assert_eq!(found["blobs"], blobs, "{name}");
        let told = lab.folder.arena("verify {}/lab").out;
        assert!(told.starts_with("ok: {}/lab · 1 claims, 1 over · "), "{told}");
    }
}

#[test]
fn what_cannot_be_run_is_not_listed() {
    let lab = lab("price-statistics");
    let manifest = std::fs::read_to_string(lab.folder.at("manifest.json")).expect("a manifest");
    let journal = std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    let pinned = |bytes: &[u8]| {
        let (old, new) =
            (arena_canon::Digest::of(&guest("price-statistics")), arena_canon::Digest::of(bytes));
        manifest.replace(&old.to_string(), &new.to_string())
    };
    let list = |file: &str, component: &str| {
        lab.folder.arena(&format!(
            "claim list c1 {{}}/{file} --component {{}}/{component} --inputs {{}}/data --deposit 500 --as sue --dir {{}}/lab"
        ))
    };
    lab.folder.file("idle.wasm", guest("idle"));
    lab.folder.file("text.wasm", "(module)");
    lab.folder.file("idle.json", pinned(&guest("idle")));
    lab.folder.file("text.json", pinned(b"(module)"));
    lab.folder.file("memory.json", manifest.replace("16777216", "268435457"));
    lab.folder.file("engine.json", manifest.replace("48.0.8", "47.0.0"));
    for (file, component, why) in [
        ("manifest.json", "idle.wasm", "the manifest pins"),
        ("idle.json", "idle.wasm", "not_runnable: admit.wrong_world"),
        ("text.json", "text.wasm", "not_runnable: admit.not_wasm"),
        ("memory.json", "run.wasm", "memory.json#/limits/memory_bytes: "),
        ("engine.json", "run.wasm", "not_runnable: the manifest pins wasmtime 47.0.0"),
    ] {
        let ran = list(file, component);
        assert_eq!(ran.exit, Exit::Rejected, "{file}: {}", ran.out);
        assert!(ran.err.contains(why), "{file}: {}", ran.err);
    }
    lab.folder.file(&format!("data/{PRICES}"), "other prices");
    let ran = list("manifest.json", "run.wasm");
    assert_eq!(ran.exit, Exit::Rejected);
    assert!(ran.err.contains(&format!("not_runnable: input `{PRICES}` has SHA-256")), "{}", ran.err);
    let missing = lab.folder.arena("claim list c1 {}/manifest.json --deposit 500 --as sue --dir {}/lab");
    assert_eq!(missing.exit, Exit::Usage);
    assert!(missing.err.contains("--component"), "{}", missing.err);
    assert_eq!(std::fs::read(lab.folder.at("lab/journal.ndjson")).expect("a journal"), journal);
}

#[test]
fn other_inputs_end_the_run_before_anything_runs() {
    let mut lab = lab("price-statistics");
    let runner = assigned(&mut lab);
    lab.folder.file(&format!("data/{PRICES}"), "other prices");
    lab.now += 60;
    let at = lab.now;
    let ran =
        lab.folder.arena(&format!("claim run c1 --as {runner} --inputs {{}}/data --dir {{}}/lab --at {at}"));
    assert_eq!((ran.exit, ran.out.trim()), (Exit::Success, "input_mismatch"), "{}", ran.err);
    assert_eq!(lab.show()["claims"][0]["outcome"], "input_mismatch");
    let verified = lab.folder.arena("verify {}/lab");
    assert_eq!(verified.exit, Exit::Success, "{}", verified.out);
}

#[test]
fn a_program_that_does_not_report_what_the_manifest_says_is_a_spec_issue() {
    let mut lab = lab("monte-carlo");
    let manifest = std::fs::read_to_string(lab.folder.at("manifest.json")).expect("a manifest");
    let scale = manifest.replace("\"scale\": 6", "\"scale\": 7");
    let fuel = manifest.replace("\"fuel\": 1000000000", "\"fuel\": 1000");
    let samples = manifest.replace("\"samples\": \"1000000\"", "\"samples\": \"none\"");
    for changed in [&scale, &fuel, &samples] {
        assert_ne!(*changed, manifest);
    }
    lab.folder.file("manifest.json", fuel);
    let runner = assigned(&mut lab);
    assert!(run(&mut lab, &runner).starts_with("spec_issue sha256:"));
    for (id, document) in [("c2", scale), ("c3", samples)] {
        lab.folder.file("manifest.json", document);
        lab.claim(&format!("list {id} {{}}/manifest.json --component {{}}/run.wasm --deposit 500 --as sue"));
    }
}

#[test]
fn an_episode_is_a_claim_too() {
    let mut lab = episode();
    settles(&mut lab, "--pack {}/pack.json", "reproduced");
}

#[test]
fn a_wrong_figure_of_an_episode_is_not_reproduced() {
    let mut lab = episode();
    change(&lab, |manifest| {
        let bits = manifest["metrics"][1]["claim"].as_str().expect("16 digits").to_owned();
        let last = if bits.ends_with('0') { "1" } else { "0" };
        manifest["metrics"][1]["claim"] = format!("{}{last}", &bits[..15]).into();
    });
    settles(&mut lab, "--pack {}/pack.json", "not_reproduced");
}

/// A lab with an episode of a built-in pack, and a manifest that claims what playing it says.
fn episode() -> Lab {
    let lab = lab("monte-carlo");
    let pack = repository().join("scenarios/two-spikes.json");
    let pack = std::fs::read(pack).expect("a pack");
    lab.folder.file("pack.json", &pack);
    lab.folder.file("run.wasm", guest("greedy"));
    let digest = arena_canon::Digest::of;
    let mut manifest: Value =
        serde_json::from_slice(&std::fs::read(lab.folder.at("manifest.json")).expect("a manifest"))
            .expect("JSON");
    let (component, pack) = (digest(&guest("greedy")), digest(&pack));
    manifest["program"] = json!({ "kind": "episode", "component": component, "pack": pack });
    // What is claimed is what playing it says.
    let played = lab.folder.arena("play two-spikes {}/run.wasm --seed 1 --json").json();
    let settlement = &played["settlement"];
    let metric = &settlement["metrics"][0];
    let bits = format!("{:016x}", metric["value"].as_f64().expect("a number").to_bits());
    manifest["metrics"] = json!([
        { "name": "stars", "kind": "int", "claim": settlement["stars"].to_string() },
        { "name": metric["id"], "kind": "f64", "claim": bits },
    ]);
    manifest["arguments"] = json!({ "seed": "1" });
    manifest["extra"] = "ignore".into();
    lab.folder.file("manifest.json", manifest.to_string());
    lab
}

/// Whatever is changed in the folder of a settled claim, verifying finds it.
#[test]
fn what_was_tampered_with_is_found() {
    let lab = settled("price-statistics");
    let verify = || lab.folder.arena("verify {}/lab");
    assert_eq!(verify().exit, Exit::Success);
    let mut places = vec![];
    for folder in ["lab/sealed", "lab/blobs"] {
        for entry in std::fs::read_dir(lab.folder.at(folder)).expect("a folder") {
            let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
            places.push(format!("{folder}/{name}"));
        }
    }
    let mut changed = 0;
    for place in &places {
        // What a runner kept for itself is nobody's evidence.
        if place.contains("/record-") {
            continue;
        }
        let path = lab.folder.at(place);
        let bytes = std::fs::read(&path).expect("a file");
        for at in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 5] {
            let mut other = bytes.clone();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            std::fs::write(&path, &other).expect("written");
            assert_eq!(verify().exit, Exit::Rejected, "{place} at {at}");
        }
        std::fs::write(&path, &bytes).expect("written");
        changed += 1;
    }
    assert!(changed >= 8, "{places:?}");
    assert_eq!(verify().exit, Exit::Success);
}

/// A journal that is forged whole, every link of its chain made anew, does not follow either.
#[test]
fn a_forged_journal_does_not_follow() {
    let lab = settled("monte-carlo");
    let path = lab.folder.at("lab/journal.ndjson");
    let whole = std::fs::read_to_string(&path).expect("a journal");
    for (from, to) in [
        ("\"agent\":\"fay\",\"amount\":\"3500\"", "\"agent\":\"fay\",\"amount\":\"3600\""),
        ("\"outcome\":\"reproduced\"", "\"outcome\":\"not_reproduced\""),
        ("\"change\":2", "\"change\":20"),
        ("\"operator\":\"op-a\"", "\"operator\":\"op-b\""),
        ("\"event\":\"run_accepted\"", "\"event\":\"inputs_checked\""),
    ] {
        assert!(whole.contains(from), "{from}");
        std::fs::write(&path, forged(&whole, from, to)).expect("written");
        let ran = lab.folder.arena("verify {}/lab");
        assert_eq!(ran.exit, Exit::Rejected, "{from}: {}", ran.out);
        assert!(
            ran.out.contains("does not follow") || ran.err.contains("of the journal"),
            "{from}: {}{}",
            ran.out,
            ran.err
        );
    }
}

/// The journal with one change and a chain that fits it.
fn forged(whole: &str, from: &str, to: &str) -> String {
    let first: Value = serde_json::from_str(whole.lines().next().expect("a line")).expect("JSON");
    let mut last = first["prev"].as_str().expect("what it follows").to_owned();
    let mut text = String::new();
    let changed = whole.replacen(from, to, 1);
    for line in changed.lines() {
        let mut value: Value = serde_json::from_str(line).expect("JSON");
        value["prev"] = last.into();
        let bytes = arena_canon::json::canonical(&value);
        last = arena_canon::Digest::of(&bytes).to_string();
        text += std::str::from_utf8(&bytes).expect("JSON is text");
        text.push('\n');
    }
    text
}

/// A runner that only echoes what the manifest claims, up to the challenger's disagreement.
fn echoed(determinism: &str) -> (Lab, String, String) {
    let mut lab = lab("monte-carlo");
    let path = lab.folder.at("manifest.json");
    let manifest = std::fs::read_to_string(&path).expect("a manifest");
    let stated = format!("\"determinism\": \"{determinism}\"");
    std::fs::write(&path, manifest.replace("\"determinism\": \"exact\"", &stated)).expect("written");
    for agent in ["d", "e", "f", "g", "h", "i", "j"] {
        lab.plain(&format!("key new {{}}/{agent}.key"));
        lab.claim(&format!("agent {agent} --operator op-{agent} --key {{}}/{agent}.key --can wasm"));
        lab.claim(&format!("deposit 20000 --as {agent}"));
    }
    lab.now += 7_200;
    let runner = assigned(&mut lab);
    let claim = std::fs::read(lab.folder.at("claim.json")).expect("a claim");
    let claim: Value = serde_json::from_slice(&claim).expect("JSON");
    let echo =
        |metric: &Value| json!({ "name": metric["name"], "kind": metric["kind"], "value": metric["claim"] });
    let metrics: Vec<Value> = claim["metrics"].as_array().expect("metrics").iter().map(echo).collect();
    let echo = json!({ "metrics": metrics, "fuel": "30000000", "log_sha256": "ab".repeat(32) });
    lab.folder.file("echo.json", echo.to_string());
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/echo.json --dir {{}}/lab"));
    lab.claim(&format!("commit c1 --as {runner} --key {{}}/{runner}.key"));
    lab.claim("assign c1");
    let audit = lab.folder.arena("claim audit c1 --dir {}/lab").json();
    let auditor = audit["auditor"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {auditor}"));
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key"));
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    let disputed = lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    assert!(disputed.contains(&"disputed".to_owned()), "{disputed:?}");
    (lab, runner, auditor)
}

#[track_caller]
fn lost_and_verified(lab: &Lab, runner: &str) {
    let shown = lab.show();
    assert_eq!(shown["claims"][0]["phase"], "settled", "{}", shown["claims"][0]);
    // 20 000 less the stake, and no fee.
    assert_eq!(shown["agents"][runner]["avail"], "16000");
    let verified = lab.folder.arena("verify {}/lab --json");
    assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
}

/// Where reruns are exact, two reference runs on two kinds of host decide.
#[test]
fn an_echo_loses_to_the_reference() {
    let (mut lab, runner, _) = echoed("exact");
    let published = lab.claim("reference c1");
    assert!(published.contains(&"reference_published".to_owned()), "{published:?}");
    lost_and_verified(&lab, &runner);
}

/// Where they are not, a panel that looks at the difference.
#[test]
fn an_echo_loses_to_a_panel() {
    let (mut lab, runner, auditor) = echoed("tolerant");
    lab.now += 60;
    let drawn = lab.folder.arena(&format!("claim assign c1 --dir {{}}/lab --at {} --json", lab.now));
    let picks = drawn.json()["events"][0]["picks"].clone();
    let agent = |pick: &Value| pick.as_str().expect("an agent").to_owned();
    let seats: Vec<String> = picks.as_array().expect("picks").iter().map(agent).collect();
    assert_eq!(seats.len(), 5, "{picks}");
    let ballot = json!({ "verdict": "runner_wrong", "confirms": [auditor], "rerun_sha256": null,
        "rationale": [{ "cmp": "C3", "metric": "pi" }] });
    lab.folder.file("ballot.json", ballot.to_string());
    for seat in &seats {
        lab.claim(&format!("review c1 --as {seat} --key {{}}/{seat}.key --ballot {{}}/ballot.json"));
    }
    for seat in &seats {
        lab.claim(&format!("reveal c1 --as {seat} --key {{}}/{seat}.key"));
    }
    lab.now += 86_400;
    lab.claim("tick c1");
    lost_and_verified(&lab, &runner);
}
