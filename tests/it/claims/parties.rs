//! A hash chain whose parties have something to lose: each reveals in the journal, and who keeps a round back pays.

use arena_cli::Exit;
use serde_json::{Value, json};

use super::Lab;
use crate::cli::Folder;

/// A folder with the chain of one outside party.
fn outside() -> (Folder, String) {
    let folder = Folder::new();
    let made = folder.arena("key chain {}/out.chain --rounds 50");
    assert_eq!(made.exit, Exit::Success, "{}", made.err);
    (folder, made.out.trim().to_owned())
}

/// A lab with two parties, and a claim that is listed.
fn lab() -> Lab {
    lab_of(50)
}

/// The same, of which it is said that the outside party has so many rounds.
fn lab_of(rounds: u64) -> Lab {
    let (folder, anchor) = outside();
    let mut lab = Lab { folder, now: 1_800_000_000 };
    lab.plain(&format!(
        "claim init --name lab --beacon hashchain --anchor {anchor} --party ops=6000 --party out=7000:{rounds} --dir {{}}/lab"
    ));
    for agent in ["ops", "out", "sue", "fay", "a", "b", "c"] {
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
    lab
}

/// Both parties reveal the round that is waited for.
fn both(lab: &mut Lab) {
    assert_eq!(lab.claim("contribute --as ops"), ["round_revealed"]);
    assert_eq!(lab.claim("contribute --as out --chain {}/out.chain"), ["round_revealed"]);
}

fn avail(lab: &Lab, agent: &str) -> Value {
    lab.show()["agents"][agent]["avail"].clone()
}

#[track_caller]
fn refused(lab: &Lab, line: &str, exit: Exit, why: &str) {
    let at = lab.now + 30;
    let ran = lab.folder.arena(&format!("claim {line} --dir {{}}/lab --at {at}"));
    assert_eq!(ran.exit, exit, "{line}: {}{}", ran.out, ran.err);
    assert!(ran.err.contains(why), "{line}: {}", ran.err);
}

#[test]
fn a_silent_party_pays_and_the_folder_tells_it_all() {
    let mut lab = lab();
    refused(&lab, "contribute --as a --chain {}/out.chain", Exit::Rejected, "no_party");
    refused(&lab, "contribute --as ops --chain {}/out.chain", Exit::Rejected, "draw_refused");
    refused(&lab, "contribute --as out --chain {}/out.chain --round 2", Exit::Rejected, "round_not_wanted");
    refused(&lab, "contribute --as out --chain {}/out.chain --round 51", Exit::Usage, "no round 51");
    both(&mut lab);
    let opened = lab.claim("fund c1 3500 --as fay");
    assert_eq!(opened, ["claim_funded", "job_opened", "parties_held", "draw_committed"]);
    assert_eq!((avail(&lab, "ops"), avail(&lab, "out")), (json!("14000"), json!("13000")));
    refused(&lab, "assign c1", Exit::Rejected, "has not revealed round 2");
    lab.folder.file("round.json", r#"{"round":2,"signature":""}"#);
    refused(&lab, "assign c1 --beacon {}/round.json", Exit::Usage, "reveals its own part in the journal");
    both(&mut lab);
    assert_eq!(lab.claim("assign c1"), ["draw_resolved"]);
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    assert!(!["ops", "out", "sue", "fay"].contains(&runner.as_str()), "{runner}");
    lab.claim(&format!("accept c1 --as {runner}"));
    lab.claim(&format!("inputs c1 --as {runner}"));
    lab.plain(&format!("claim run c1 --as {runner} --results {{}}/results.json --dir {{}}/lab"));
    lab.claim(&format!("commit c1 --as {runner} --key {{}}/{runner}.key"));
    // The outside party keeps the audit's round back.
    assert_eq!(lab.claim("contribute --as ops"), ["round_revealed"]);
    lab.now += 700;
    assert_eq!(lab.claim("tick c1"), ["beacon_stalled", "party_slashed"]);
    lab.now += 86_400;
    assert_eq!(lab.claim("tick c1"), ["window_closed"]);
    let ended = lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    assert_eq!(ended, ["run_revealed", "standing_changed", "settled", "parties_released"]);
    assert_eq!((avail(&lab, "ops"), avail(&lab, "out")), (json!("20000"), json!("14000")));
    // A stranger derives it again: nothing beside the journal is needed for the rounds.
    std::fs::remove_file(lab.folder.at("lab/sealed/beacon.chain")).expect("removed");
    let verified = lab.folder.arena("verify {}/lab");
    assert_eq!(verified.exit, Exit::Success, "{}{}", verified.out, verified.err);
    for draw in lab.show()["claims"][0]["draws"].as_array().expect("draws") {
        lab.folder.file("draw.json", draw.to_string());
        lab.plain("draw verify {}/draw.json");
    }
    tampered(&lab);
}

/// Whoever lets a party off, or charges one that revealed, has a journal that does not follow.
fn tampered(lab: &Lab) {
    let path = lab.folder.at("lab/journal.ndjson");
    let whole = std::fs::read_to_string(&path).expect("a journal");
    let lines = super::tampering::parsed(&whole);
    let is = |event: &Value, name: &str| event["event"] == name;
    type Edit<'a> = (&'a str, &'a dyn Fn(&mut Vec<Value>));
    let edits: [Edit<'_>; 5] = [
        ("stakes that are not given back", &|events| events.retain(|event| !is(event, "parties_released"))),
        // So many rounds would be hashed for years.
        ("a round beyond all chains", &|events| {
            for event in events.iter_mut().filter(|event| is(event, "round_revealed")) {
                event["round"] = json!(1_u64 << 53);
            }
        }),
        ("a slash left out", &|events| events.retain(|event| !is(event, "party_slashed"))),
        ("somebody else slashed", &|events| {
            for event in events.iter_mut().filter(|event| is(event, "party_slashed")) {
                event["agent"] = json!("ops");
            }
        }),
        ("a round that nobody revealed", &|events| {
            for event in events.iter_mut().filter(|event| is(event, "round_revealed")) {
                event["preimage"] = json!("ab".repeat(32));
            }
        }),
    ];
    for (what, edit) in edits {
        let edited = lines.iter().cloned().map(|mut line| {
            edit(line["events"].as_array_mut().expect("events"));
            line
        });
        std::fs::write(&path, super::tampering::chained(edited)).expect("written");
        let ran = lab.folder.arena("verify {}/lab");
        assert_eq!(ran.exit, Exit::Rejected, "{what}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("follow") || ran.err.contains("of the journal"), "{what}: {}", ran.out);
        if what.contains("given back") {
            assert!(
                ran.out.contains("parties_released follows, and the line does not tell it"),
                "{}",
                ran.out
            );
        }
    }
    std::fs::write(&path, whole).expect("put back");
}

/// Where no draw is due, asking for one holds nobody's stake, and the journal goes on being one that follows.
#[test]
fn a_draw_that_is_not_due_holds_no_stake() {
    let mut lab = lab();
    both(&mut lab);
    let follows = |lab: &Lab| assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
    refused(&lab, "open c1", Exit::Rejected, "no_draw_due");
    assert_eq!(avail(&lab, "out"), json!("20000"));
    follows(&lab);
    lab.claim("fund c1 3500 --as fay");
    both(&mut lab);
    lab.claim("assign c1");
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    refused(&lab, "open c1", Exit::Rejected, "no_draw_due");
    lab.now += 86_400 * 40;
    lab.claim("tick c1");
    lab.now += 86_400 * 40;
    lab.claim("tick c1");
    assert_eq!(lab.show()["claims"][0]["phase"], "withdrawn", "{runner}");
    refused(&lab, "open c1", Exit::Rejected, "no_draw_due");
    follows(&lab);
}

/// The end of a chain is told beforehand: nothing is begun that would need what there is not, and nobody is charged.
#[test]
fn a_chain_that_ends_ends_no_job_in_its_middle() {
    let mut lab = lab_of(20);
    let instance = std::fs::read_to_string(lab.folder.at("lab/instance.json")).expect("an instance");
    let instance: Value = serde_json::from_str(&instance).expect("JSON");
    assert_eq!(instance["beacon"]["parties"][0]["rounds"], 10_000);
    assert_eq!(instance["beacon"]["parties"][1]["rounds"], 20);
    both(&mut lab);
    let opened = lab.claim("fund c1 3500 --as fay");
    assert_eq!(opened, ["claim_funded", "job_opened", "claim_withdrawn"]);
    for (agent, has) in [("ops", "20000"), ("out", "20000"), ("fay", "20000"), ("sue", "20000")] {
        assert_eq!(avail(&lab, agent), json!(has), "{agent}");
    }
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// Whoever could never pay a stake in is no party: not of a new instance, and not of one that says so.
#[test]
fn a_party_is_who_can_be_an_agent() {
    let (folder, anchor) = outside();
    let long = "n".repeat(129);
    let names = [
        ("operator", "is who runs the instance"),
        ("treasury", "money uses it"),
        ("pool", "money uses it"),
        ("runner", "money uses it"),
        ("funders", "money uses it"),
        ("a\u{7}b", "control characters"),
        (&long, "control characters"),
    ];
    let init = |party: &str, to: &str| {
        let chain = ["--beacon", "hashchain", "--anchor", &anchor, "--party", "ops=6000", "--party", party];
        let dir = folder.at(to);
        let line = ["claim", "init", "--name", "lab", "--dir", dir.to_str().expect("a path")];
        crate::cli::arena(line.into_iter().chain(chain))
    };
    for (name, why) in names {
        let ran = init(&format!("{name}=6000"), "lab");
        assert_eq!(ran.exit, Exit::Usage, "{name}: {}", ran.err);
        assert!(ran.err.contains(why), "{name}: {}", ran.err);
        assert!(!folder.at("lab").exists(), "{name}");
    }
    assert_eq!(init("out=6000", "lab").exit, Exit::Success);
    let path = folder.at("lab/instance.json");
    let kept: Value = serde_json::from_slice(&std::fs::read(&path).expect("an instance")).expect("JSON");
    for (name, why) in names {
        let mut other = kept.clone();
        other["beacon"]["parties"][1]["agent"] = json!(name);
        std::fs::write(&path, other.to_string()).expect("written");
        let ran = folder.arena("verify {}/lab");
        assert_eq!(ran.exit, Exit::Rejected, "{name}: {}", ran.err);
        assert!(ran.err.contains(why), "{name}: {}", ran.err);
    }
    // What an instance does not say of its parties' rounds, it need not have said.
    let mut older = kept;
    for party in older["beacon"]["parties"].as_array_mut().expect("parties") {
        party.as_object_mut().expect("a party").remove("rounds");
    }
    std::fs::write(&path, older.to_string()).expect("written");
    assert_eq!(folder.arena("verify {}/lab").exit, Exit::Success);
}

#[test]
fn a_party_without_its_stake_lets_nothing_be_drawn() {
    let mut lab = lab();
    both(&mut lab);
    lab.claim("payout 13001 --as out");
    assert_eq!(lab.claim("fund c1 3500 --as fay"), ["claim_funded", "job_opened"]);
    refused(&lab, "open c1", Exit::Rejected, "party_unstaked");
    lab.claim("deposit 1 --as out");
    assert_eq!(lab.claim("open c1"), ["parties_held", "draw_committed"]);
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

#[test]
fn parties_that_are_none_are_refused_before_anything_is_made() {
    let (folder, anchor) = outside();
    let plain = folder.arena("claim params show --json");
    folder.file("plain.json", &plain.out);
    let chain = format!("--beacon hashchain --anchor {anchor}");
    for (options, why) in [
        (format!("{chain} --party ops=6000"), "1 parties with stakes, and 2 anchors"),
        (format!("{chain} --party ops=6000 --party ops=6000"), "`ops` stands twice"),
        (format!("{chain} --party ops=6000 --party out=5999"), "the stake of `out` is 5999"),
        (format!("{chain} --party ops=6000 --party out"), "AGENT=STAKE"),
        (format!("{chain} --party ops=6000 --party out=lots"), "the stake"),
        (format!("{chain} --party ops=6000 --party out=6000:0"), "1 to 1000000 rounds"),
        (format!("{chain} --party ops=6000:50 --party out=6000"), "the operator's chain has 10000 rounds"),
        (format!("{chain} --party ops=6000 --party out=6000 --params {{}}/plain.json"), "no `party_slash`"),
        ("--party ops=6000".to_owned(), "drand-quicknet has no parties"),
    ] {
        let ran = folder.arena(&format!("claim init --name lab --dir {{}}/lab {options}"));
        assert_eq!(ran.exit, Exit::Usage, "{options}: {}", ran.err);
        assert!(ran.err.contains(why), "{options}: {}", ran.err);
        assert!(!folder.at("lab").exists(), "{options}");
    }
    // A slash that pays for keeping a round back is no parameter to start with.
    let mut cheap: Value = plain.json();
    cheap["party_slash"] = json!("5500");
    folder.file("cheap.json", cheap.to_string());
    let checked = folder.arena("claim params check {}/cheap.json");
    assert_eq!(checked.exit, Exit::Rejected, "{}", checked.out);
    assert!(checked.out.contains("I17"), "{}", checked.out);
    let parties = "--party ops=6000 --party out=6000 --params {}/cheap.json";
    let ran = folder.arena(&format!("claim init --name lab --dir {{}}/lab {chain} {parties}"));
    assert_eq!(ran.exit, Exit::Rejected, "{}", ran.err);
    // Without stakes it is as it always was, and says so.
    let ran = folder.arena(&format!("claim init --name lab --dir {{}}/lab {chain}"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    assert!(ran.err.contains("nothing to lose"), "{}", ran.err);
    let instance = std::fs::read_to_string(folder.at("lab/instance.json")).expect("an instance");
    assert!(!instance.contains("part"), "{instance}");
}

/// A round once told gives away all before it: a journal that does not follow is told none.
#[test]
fn a_forged_journal_gets_no_round_out_of_a_party() {
    let mut lab = lab();
    both(&mut lab);
    lab.claim("fund c1 3500 --as fay");
    let path = lab.folder.at("lab/journal.ndjson");
    let whole = std::fs::read_to_string(&path).expect("a journal");
    let lines = super::tampering::parsed(&whole);
    let last = lines.last().expect("the draw is committed last").clone();
    let events = last["events"].as_array().expect("events");
    let draw = events.iter().find(|event| event["event"] == "draw_committed").expect("a draw");
    for (round, options) in [(50, ""), (50, " --round 50"), (3, ""), (3, " --round 2")] {
        let mut forged = last.clone();
        let mut event = draw.clone();
        event["round"] = json!(round);
        event["last_round_seen"] = json!(round - 1);
        forged["events"] = json!([event]);
        std::fs::write(&path, super::tampering::chained(lines.iter().cloned().chain([forged])))
            .expect("written");
        let before = std::fs::read(&path).expect("a journal");
        let line = format!("contribute --as out --chain {{}}/out.chain{options}");
        refused(&lab, &line, Exit::Rejected, "the journal does not hold");
        assert_eq!(std::fs::read(&path).expect("a journal"), before, "{round}{options}");
    }
    std::fs::write(&path, whole).expect("put back");
    both(&mut lab);
    assert_eq!(lab.claim("assign c1"), ["draw_resolved"]);
}
