//! Instances whose luck needs no network: an operator's key, and chains of preimages. Their folders verify offline.

use arena_canon::Digest;
use arena_cli::Exit;
use serde_json::{Value, json};

use super::Lab;
use crate::cli::Folder;

/// A lab with this beacon, and a claim that waits for its runner.
fn lab(beacon: &str) -> Lab {
    let mut lab = Lab { folder: Folder::new(), now: 1_800_000_000 };
    let anchors: Vec<String> = ["one", "two"]
        .iter()
        .map(|party| {
            let made = lab.folder.arena(&format!("key chain {{}}/{party}.chain --rounds 50"));
            assert_eq!(made.exit, Exit::Success, "{}", made.err);
            format!(" --anchor {}", made.out.trim())
        })
        .collect();
    let anchors = if beacon == "hashchain" { anchors.concat() } else { String::new() };
    lab.plain(&format!("claim init --name lab --beacon {beacon} --dir {{}}/lab{anchors}"));
    for agent in ["sue", "fay", "a", "b", "c"] {
        lab.plain(&format!("key new {{}}/{agent}.key"));
        lab.claim(&format!("agent {agent} --operator op-{agent} --key {{}}/{agent}.key --can wasm"));
        lab.claim(&format!("deposit 20000 --as {agent}"));
    }
    lab.folder.file("run.wasm", arena_tests::guest("monte-carlo"));
    lab.plain(
        "claim new {}/manifest.json --as sue --component {}/run.wasm --metric elo=1532.25 --dir {}/lab",
    );
    let metrics = r#"[{"name":"elo","kind":"decimal","value":"1532.25"}]"#;
    let log = "ab".repeat(32);
    lab.folder.file("results.json", format!(r#"{{"metrics":{metrics},"fuel":"9","log_sha256":"{log}"}}"#));
    lab.now += 7_200;
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    lab.claim("fund c1 3500 --as fay");
    lab
}

/// What the two outside parties reveal in a round.
fn revealed(lab: &Lab, round: u64) -> String {
    let ran = lab.folder.arena(&format!("key reveal {{}}/one.chain {{}}/two.chain --round {round}"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let name = format!("round-{round}.json");
    lab.folder.file(&name, ran.out);
    format!(" --beacon {{}}/{name}")
}

/// From the draw to the end; `round` says what to add where a round is needed.
fn settled(lab: &mut Lab, round: &dyn Fn(&Lab, u64) -> String) {
    let second = round(lab, 2);
    assert_eq!(lab.claim(&format!("assign c1{second}")), ["draw_resolved"]);
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/results.json --dir {{}}/lab"));
    lab.claim(&format!("commit c1 --as {runner} --key {{}}/{runner}.key"));
    let third = round(lab, 3);
    assert_eq!(lab.claim(&format!("assign c1{third}")), ["coin_tossed"]);
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    lab.now += 86_400;
    lab.claim("tick c1");
    assert_eq!(lab.show()["claims"][0]["phase"], "settled");
}

/// The folder verifies, its draws do, and so does a copy without anything that only the operator has.
#[track_caller]
fn verifies_offline(lab: &Lab, secret: &str) {
    let place = lab.folder.at(&format!("lab/sealed/{secret}"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&place).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
    }
    std::fs::remove_file(place).expect("removed");
    let verified = lab.folder.arena("verify {}/lab");
    assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
    let shown = lab.show();
    let draws = shown["claims"][0]["draws"].as_array().expect("draws").clone();
    assert!(draws.len() >= 2, "{draws:?}");
    for (i, draw) in draws.iter().enumerate() {
        lab.folder.file(&format!("draw{i}.json"), draw.to_string());
        lab.plain(&format!("draw verify {{}}/draw{i}.json"));
    }
    let mut places = Vec::new();
    for entry in std::fs::read_dir(lab.folder.at("lab/rounds")).expect("a folder") {
        places.push(entry.expect("an entry").path());
    }
    assert!(places.len() >= 2, "{places:?}");
    let mut missed = 0;
    for path in places {
        let bytes = std::fs::read(&path).expect("a round");
        let mut other: Value = serde_json::from_slice(&bytes).expect("JSON");
        let signature = other["signature"].as_str().expect("a proof").to_owned();
        let first = if signature.starts_with('0') { "1" } else { "0" };
        other["signature"] = format!("{first}{}", &signature[1..]).into();
        std::fs::write(&path, other.to_string()).expect("written");
        let changed = lab.folder.arena("verify {}/lab");
        std::fs::remove_file(&path).expect("removed");
        let removed = lab.folder.arena("verify {}/lab");
        assert_eq!(changed.exit, removed.exit, "{}", path.display());
        if removed.exit == Exit::Rejected {
            assert!(removed.out.contains("is not in rounds/"), "{}", removed.out);
            missed += 1;
        }
        std::fs::write(&path, bytes).expect("put back");
    }
    // Those that a commitment rests on; what a draw took is in its transcript.
    assert!(missed >= 2, "{missed}");
}

#[test]
fn an_operators_key_draws_without_a_network() {
    let mut lab = lab("ecvrf-operator");
    settled(&mut lab, &|_, _| String::new());
    verifies_offline(&lab, "beacon.key");
}

#[test]
fn chains_of_preimages_draw_round_by_round() {
    let mut lab = lab("hashchain");
    let refused = |lab: &Lab, line: &str, exit: Exit, why: &str| {
        let at = lab.now + 60;
        let ran = lab.folder.arena(&format!("claim {line} --dir {{}}/lab --at {at}"));
        assert_eq!(ran.exit, exit, "{line}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
    };
    // Nobody has revealed anything yet.
    refused(&lab, "open c1", Exit::Rejected, "nothing_seen");
    let first = revealed(&lab, 1);
    assert_eq!(lab.claim(&format!("open c1{first}")), ["draw_committed"]);
    refused(&lab, "assign c1", Exit::Usage, "round 2 is not given");
    refused(&lab, &format!("assign c1{first}"), Exit::Rejected, "draw_refused");
    let ran = lab.folder.arena("key reveal {}/two.chain {}/one.chain --round 2");
    lab.folder.file("swapped.json", ran.out);
    refused(&lab, "assign c1 --beacon {}/swapped.json", Exit::Rejected, "draw_refused");
    settled(&mut lab, &revealed);
    verifies_offline(&lab, "beacon.chain");
}

/// A draw that is committed when its round is known could have been chosen.
#[test]
fn a_known_round_is_never_drawn_by() {
    let mut lab = lab("hashchain");
    let fifth = revealed(&lab, 5);
    let first = revealed(&lab, 1);
    // The fifth is told, although the command comes to nothing.
    let ran = lab.folder.arena(&format!("claim fund c9 1 --as fay --dir {{}}/lab --at {}{fifth}", lab.now));
    assert_eq!(ran.exit, Exit::Rejected);
    lab.claim(&format!("open c1{first}"));
    let journal = std::fs::read_to_string(lab.folder.at("lab/journal.ndjson")).expect("a journal");
    assert!(journal.contains("\"round\":6"), "{journal}");
}

#[test]
fn what_is_no_beacon_is_refused_before_anything_is_made() {
    let folder = Folder::new();
    let anchor = Digest::of(b"an anchor");
    for (options, why) in [
        ("--beacon hashchain".to_owned(), "1 anchors"),
        (format!("--beacon hashchain --anchor {anchor} --anchor {anchor}"), "stands twice"),
        (format!("--beacon ecvrf-operator --anchor {anchor}"), "has no anchors"),
        ("--beacon test".to_owned(), "start with `test-`"),
        ("--beacon dice".to_owned(), "invalid value 'dice'"),
        ("--beacon hashchain --rounds 0".to_owned(), "0 is not in"),
    ] {
        let ran = folder.arena(&format!("claim init --name lab --dir {{}}/lab {options}"));
        assert_eq!(ran.exit, Exit::Usage, "{options}: {}", ran.err);
        assert!(ran.err.contains(why), "{options}: {}", ran.err);
        assert!(!folder.at("lab").exists(), "{options}");
    }
    let instance = |beacon: Value| {
        let made = folder.arena("claim init --name lab --dir {}/lab");
        assert_eq!(made.exit, Exit::Success, "{}", made.err);
        let path = folder.at("lab/instance.json");
        let text = std::fs::read_to_string(&path).expect("an instance");
        std::fs::write(&path, text.replace("\"drand-quicknet\"", &beacon.to_string())).expect("written");
        let shown = folder.arena("claim show --dir {}/lab");
        std::fs::remove_dir_all(folder.at("lab")).expect("removed");
        shown
    };
    for wrong in [
        json!("dice"),
        json!({ "kind": "hashchain", "anchors": [anchor] }),
        json!({ "kind": "ecvrf-operator" }),
    ] {
        let shown = instance(wrong.clone());
        assert_eq!(shown.exit, Exit::Rejected, "{wrong}");
        assert!(shown.err.contains("instance.json#/beacon"), "{}", shown.err);
    }
}

/// A name that no transcript can tell would leave a journal that nobody can read after the first draw.
#[test]
fn names_are_lines_that_every_transcript_can_tell() {
    let init = |name: &str, operator: &str| {
        let folder = Folder::new();
        let at = folder.at("lab");
        let words = ["claim", "init", "--name", name, "--beacon", "test", "--operator", operator, "--dir"];
        let words = words.iter().map(std::ffi::OsString::from).chain([at.clone().into()]);
        let ran = crate::cli::arena(words);
        (ran, at.exists())
    };
    let longest = format!("test-{}", "x".repeat(123));
    for (name, operator, is_one) in [
        (longest.as_str(), "ops", true),
        (&format!("{longest}x"), "ops", false),
        ("", "ops", false),
        ("test-\u{7}", "ops", false),
        ("test-a\nb", "ops", false),
        ("test-a", "", false),
        ("test-a", "o\tp", false),
        ("test-a", &"o".repeat(129), false),
        ("test-a", &"o".repeat(128), true),
    ] {
        let (ran, made) = init(name, operator);
        let exit = if is_one { Exit::Success } else { Exit::Usage };
        assert_eq!((ran.exit, made), (exit, is_one), "{name:?} {operator:?}: {}", ran.err);
    }
}

#[test]
fn chains_are_their_owners_and_end() {
    let folder = Folder::new();
    let made = folder.arena("key chain {}/p.chain --rounds 3 --json").json();
    let round = |n: u64| folder.arena(&format!("key reveal {{}}/p.chain --round {n} --json"));
    let preimage =
        |n: u64| round(n).json()["preimages"][0].as_str().expect("one").parse::<Digest>().expect("a digest");
    // Each hashes to the one before it, and the first to the anchor.
    let anchor: Digest = made["anchor"].as_str().expect("an anchor").parse().expect("a digest");
    assert_eq!(Digest::of(preimage(1).as_bytes()), anchor);
    assert_eq!(Digest::of(preimage(3).as_bytes()), preimage(2));
    assert_eq!((round(0).exit, round(4).exit), (Exit::Usage, Exit::Usage));
    assert_eq!(folder.arena("key chain {}/p.chain").exit, Exit::Usage);
    folder.file("none.chain", "{}");
    assert_eq!(folder.arena("key reveal {}/none.chain --round 1").exit, Exit::Usage);
}
