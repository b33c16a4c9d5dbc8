//! The log of an instance: signed checkpoints, transcripts that carry them, and receipts that tell what was left out or
//! written anew.

use std::path::PathBuf;

use arena_canon::Digest;
use arena_cli::Exit;
use serde_json::{Value, json};

use super::Lab;
use super::tampering::{chained, parsed};

fn read(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.folder.at(name)).expect("a file")
}

fn write(lab: &Lab, name: &str, text: &str) {
    std::fs::write(lab.folder.at(name), text).expect("written");
}

fn key(lab: &Lab) -> String {
    let instance: Value = serde_json::from_str(&read(lab, "lab/instance.json")).expect("JSON");
    instance["log"]["public_key"].as_str().expect("a key").to_owned()
}

fn checkpoints(lab: &Lab) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(lab.folder.at("lab/checkpoints")).expect("a folder");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    found
}

#[track_caller]
fn holds(lab: &Lab, options: &str) -> Value {
    let ran = lab.folder.arena(&format!("verify {{}}/lab{options} --json"));
    assert_eq!(ran.exit, Exit::Success, "{options}: {}{}", ran.out, ran.err);
    ran.json()[0].clone()
}

/// What is said of a folder that must be refused.
#[track_caller]
fn refused(lab: &Lab, options: &str, why: &str) {
    let ran = lab.folder.arena(&format!("verify {{}}/lab{options}"));
    assert_eq!(ran.exit, Exit::Rejected, "{options}: {}{}", ran.out, ran.err);
    assert!(ran.out.contains(why), "{why} is not in:\n{}", ran.out);
}

/// A receipt for an event, in a file.
fn receipted(lab: &Lab, options: &str, name: &str) -> Value {
    let ran = lab.folder.arena(&format!("claim receipt --dir {{}}/lab{options} --json"));
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    lab.folder.file(name, &ran.out);
    ran.json()
}

fn settled() -> Lab {
    let mut lab = Lab::open();
    let (runner, auditor) = lab.run();
    lab.claim(&format!("accept c1 --as {auditor}"));
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key --results {{}}/results.json"));
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    lab
}

#[test]
fn transcripts_carry_the_checkpoint_of_their_commitment() {
    let lab = settled();
    let about = holds(&lab, "");
    assert_eq!((&about["checkpoints"], &about["receipts"]), (&json!(6), &json!(0)), "{about}");
    let (key, other) = (key(&lab), Digest::of(b"another"));
    let draws = lab.show()["claims"][0]["draws"].as_array().expect("draws").clone();
    assert_eq!(draws.len(), 3, "the runner's, the coin's and the auditor's");
    for (i, draw) in draws.iter().enumerate() {
        assert!(draw["log"]["checkpoint"].as_str().expect("a note").starts_with("arena-claims/"), "{draw}");
        lab.folder.file(&format!("draw{i}.json"), draw.to_string());
        lab.plain(&format!("draw verify {{}}/draw{i}.json"));
        let ran = lab.folder.arena(&format!("draw verify {{}}/draw{i}.json --log-key {key} --json"));
        assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
        let log = &ran.json()[0]["log"];
        assert_eq!(log["seq"], draw["committed_seq"], "{log}");
        assert!(log["signed_at"].is_string(), "{log}");
        let ran = lab.folder.arena(&format!("draw verify {{}}/draw{i}.json --log-key {other}"));
        assert_eq!(ran.exit, Exit::Rejected, "{}", ran.out);
        assert!(ran.out.contains("/log/checkpoint"), "{}", ran.out);
        // It is a receipt as well.
        assert_eq!(holds(&lab, &format!(" --receipt {{}}/draw{i}.json"))["receipts"], 1);
    }
    // Whatever of the commitment is told otherwise is not what is in the log.
    let alone = |draw: &Value| {
        lab.folder.file("changed.json", draw.to_string());
        lab.folder.arena(&format!("draw verify {{}}/changed.json --log-key {key}"))
    };
    for (member, value) in [("committed_seq", json!("9")), ("last_round_seen", json!("7"))] {
        let mut changed = draws[0].clone();
        changed[member] = value;
        let ran = alone(&changed);
        assert_eq!(ran.exit, Exit::Rejected, "{member}: {}", ran.out);
        assert!(ran.out.contains("/log/inclusion"), "{member}: {}", ran.out);
    }
    let mut without = draws[0].clone();
    without.as_object_mut().expect("an object").remove("log");
    // Whoever has the log's key is told where one is missing, and only then.
    let ran = alone(&without);
    assert_eq!(ran.exit, Exit::Rejected, "{}", ran.out);
    assert!(ran.out.contains("#/log: there is none"), "{}", ran.out);
    lab.plain("draw verify {}/changed.json");
    let mut unnumbered = draws[0].clone();
    unnumbered.as_object_mut().expect("an object").remove("committed_seq");
    assert!(alone(&unnumbered).out.contains("/committed_seq"));
}

/// Two views of one log do not go together, whoever shows them.
#[test]
fn two_checkpoints_of_one_size_have_one_root() {
    let lab = settled();
    let draw = lab.show()["claims"][0]["draws"][0].clone();
    lab.folder.file("one.json", draw.to_string());
    // Another instance of the same name, with the same number of events and other agents.
    let mut twin = Lab::open();
    twin.now += 1;
    let (_, _) = twin.run();
    for claim in 0..1 {
        twin.now += 90_000;
        twin.claim("tick c1");
        twin.now += 90_000;
        twin.claim("tick c1");
        assert_eq!(twin.show()["claims"][claim]["phase"], "withdrawn");
    }
    let other = twin.show()["claims"][0]["draws"][0].clone();
    assert_eq!(other["committed_seq"], draw["committed_seq"]);
    lab.folder.file("two.json", other.to_string());
    let ran = lab.folder.arena("draw verify {}/one.json {}/two.json");
    assert_eq!(ran.exit, Exit::Rejected, "{}", ran.out);
    assert!(ran.out.contains("with another root"), "{}", ran.out);
}

#[test]
fn what_is_left_out_is_told_by_whoever_has_a_receipt() {
    let mut lab = settled();
    receipted(&lab, "", "last.json");
    receipted(&lab, " --seq 3", "third.json");
    assert_eq!(holds(&lab, " --receipt {}/last.json --receipt {}/third.json")["receipts"], 2);
    // What comes later changes nothing.
    lab.claim("deposit 1 --as a");
    assert_eq!(holds(&lab, " --receipt {}/last.json")["receipts"], 1);
    // The last lines go, with every checkpoint of them: nothing is missed but by a receipt.
    let whole = read(&lab, "lab/journal.ndjson");
    let lines = parsed(&whole);
    let listed = lines.iter().position(|line| line["events"][0]["event"] == "claim_listed").expect("listed");
    write(&lab, "lab/journal.ndjson", &chained(lines.iter().take(listed + 1).cloned()));
    for path in checkpoints(&lab) {
        std::fs::remove_file(path).expect("removed");
    }
    holds(&lab, "");
    refused(&lab, " --receipt {}/last.json", "are left out");
    refused(&lab, " --receipt {}/third.json", "are left out");
    // A line in the middle, and the chain made anew.
    let cut = lines.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, line)| line.clone());
    write(&lab, "lab/journal.ndjson", &chained(cut.take(8)));
    holds(&lab, "");
    refused(&lab, " --receipt {}/third.json", "and not the agent_registered that was receipted");
}

/// A history that follows, and is not the one that was receipted: it is told where.
#[test]
fn what_is_written_anew_is_told_by_whoever_has_a_receipt() {
    let lab = Lab::open();
    let receipt = receipted(&lab, " --seq 7", "seventh.json");
    assert_eq!((&receipt["seq"], &receipt["v"]), (&json!("7"), &json!("arena-receipt/v1")));
    let whole = read(&lab, "lab/journal.ndjson");
    let doubled = |line: usize| {
        let mut lines = parsed(&whole);
        let text = lines[line].to_string().replace("20000", "40000");
        lines[line] = serde_json::from_str(&text).expect("JSON");
        write(&lab, "lab/journal.ndjson", &chained(lines));
        holds(&lab, "");
    };
    // Lines are one event each here: two for every agent.
    doubled(7);
    refused(&lab, " --receipt {}/seventh.json", "#/journal/8/events/0: by the receipt");
    doubled(1);
    refused(&lab, " --receipt {}/seventh.json", "among the events 1 to 4, not all are what was signed");
    let mut lines = parsed(&whole);
    lines[6]["events"][0]["capabilities"] = json!(["gpu"]);
    write(&lab, "lab/journal.ndjson", &chained(lines));
    refused(&lab, " --receipt {}/seventh.json", "#/journal/7/events/0: by the receipt");
    // A receipt that was changed, or is of another instance or key, holds nothing against anybody.
    write(&lab, "lab/journal.ndjson", &whole);
    let held = |receipt: &Value, why: &str| {
        lab.folder.file("forged.json", receipt.to_string());
        refused(&lab, " --receipt {}/forged.json", why);
    };
    for (member, other, why) in [
        ("event", json!({}), "does not follow from the event"),
        ("seq", json!("8"), "does not follow from the event"),
        ("instance", json!(Digest::of(b"other")), "is of the instance"),
        ("inclusion", json!([]), "/log/inclusion"),
        ("checkpoint", json!("a\n1\nb\n"), "/log/checkpoint"),
        ("v", json!("arena-receipt/v9"), "/v"),
    ] {
        let mut forged = receipt.clone();
        forged[member] = other;
        held(&forged, why);
    }
    let twin = Lab::open();
    held(&receipted(&twin, " --seq 7", "twin.json"), "no signature of the key");
}

/// A receipt shows an event: that one, or it holds nothing.
#[test]
fn a_receipt_of_a_draw_shows_what_the_journal_has() {
    let lab = settled();
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let events = lines.iter().flat_map(|line| line["events"].as_array().expect("events"));
    let seq = events.take_while(|event| event["event"] != "draw_committed").count() + 1;
    let receipt = receipted(&lab, &format!(" --seq {seq}"), "draw.json");
    assert_eq!(receipt["event"]["event"], "draw_committed", "{receipt}");
    assert_eq!(holds(&lab, " --receipt {}/draw.json")["receipts"], 1);
    let other = json!(Digest::of(b"another"));
    for (pointer, value, why) in [
        ("/by", json!("sue"), "shows another `by` of event"),
        ("/genesis", other.clone(), "shows another `genesis` of event"),
        ("/event/claim", json!("c2"), "shows another `event` of event"),
        ("/event/audit_ppm", json!(7), "shows another `event` of event"),
        ("/event/entries", json!([["a", "op-a", 100]]), "does not follow from the event"),
        ("/event/round", json!(3), "does not follow from the event"),
        ("/at", json!("1800000000"), "does not follow from the event"),
        ("/draw/subject", other, "does not follow from the event"),
        ("/draw", Value::Null, "does not follow from the event"),
    ] {
        let mut forged = receipt.clone();
        let place = forged.pointer_mut(pointer).expect(pointer);
        assert_ne!(*place, value, "{pointer}");
        *place = value;
        lab.folder.file("forged.json", forged.to_string());
        refused(&lab, " --receipt {}/forged.json", why);
    }
    // The way of another event leads to no commitment.
    let mut plain = receipted(&lab, " --seq 3", "third.json");
    plain["event"] = receipt["event"].clone();
    lab.folder.file("forged.json", plain.to_string());
    refused(&lab, " --receipt {}/forged.json", "does not follow from the event");
}

#[test]
fn a_commitment_has_its_checkpoint_before_its_round() {
    let mut lab = Lab::open();
    lab.claim("list c1 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    assert!(lab.claim("fund c1 3500 --as fay").contains(&"draw_committed".to_owned()));
    let notes = checkpoints(&lab);
    assert_eq!(notes.len(), 1, "{notes:?}");
    let good = std::fs::read_to_string(&notes[0]).expect("a note");
    assert_eq!(holds(&lab, "")["checkpoints"], 1);
    // Signed when the round had been due, it proves nothing.
    let late = receipted(&lab, &format!(" --at {}", lab.now + 3_600), "late.json");
    std::fs::write(&notes[0], late["checkpoint"].as_str().expect("a note")).expect("written");
    refused(&lab, "", "when the round had been due");
    for changed in [good.replace("arena-claims/", "arena-claims/0"), good.replacen('=', "", 1), String::new()]
    {
        std::fs::write(&notes[0], changed).expect("written");
        refused(&lab, "", "#/checkpoints/");
    }
    let other = notes[0].with_file_name("3.note");
    std::fs::rename(&notes[0], &other).expect("renamed");
    std::fs::write(&other, &good).expect("written");
    refused(&lab, "", "it covers");
    std::fs::remove_file(&other).expect("removed");
    refused(&lab, "", "no checkpoint covers this commitment");
    // A command that was killed before the checkpoint had its name: it counts, and gets it.
    let next = notes[0].with_file_name("next.note");
    std::fs::write(&next, &good).expect("written");
    holds(&lab, "");
    lab.claim("deposit 1 --as a");
    assert_eq!(checkpoints(&lab), notes);
    assert_eq!(std::fs::read_to_string(&notes[0]).expect("a note"), good);
    // One of a line that never came to be is gone.
    std::fs::write(&next, good.replacen("arena", "arenb", 1)).expect("written");
    holds(&lab, "");
    lab.claim("deposit 1 --as a");
    assert_eq!(checkpoints(&lab), notes);
    // Without the key, no draw is committed, and nothing is lost.
    lab.claim("assign c1");
    let runner = lab.show()["claims"][0]["runner"].as_str().expect("drawn").to_owned();
    // A transcript that was signed when its round had been due is no receipt, though all of it is in the journal.
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let mut events = lines.iter().flat_map(|line| line["events"].as_array().expect("events"));
    let resolved = events.find(|event| event["event"] == "draw_resolved").expect("it is drawn");
    let mut draw = resolved["transcript"].clone();
    assert_eq!((&late["event"]["event"], &late["seq"]), (&json!("draw_committed"), &draw["committed_seq"]));
    draw["log"] = json!({ "checkpoint": good, "inclusion": late["inclusion"] });
    lab.folder.file("draw.json", draw.to_string());
    assert_eq!(holds(&lab, " --receipt {}/draw.json")["receipts"], 1);
    draw["log"]["checkpoint"] = late["checkpoint"].clone();
    lab.folder.file("draw.json", draw.to_string());
    refused(&lab, " --receipt {}/draw.json", "when the round had been due");
    let before = read(&lab, "lab/journal.ndjson");
    let key = read(&lab, "lab/keys/log");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &str| {
            std::fs::metadata(lab.folder.at(path)).expect("it is there").permissions().mode() & 0o777
        };
        assert_eq!((mode("lab/keys"), mode("lab/keys/log")), (0o700, 0o600));
    }
    std::fs::remove_file(lab.folder.at("lab/keys/log")).expect("removed");
    let line = format!("claim decline c1 --as {runner} --dir {{}}/lab --at {}", lab.now);
    let ran = lab.folder.arena(&line);
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
    assert_eq!(read(&lab, "lab/journal.ndjson"), before);
    write(&lab, "lab/keys/log", &key);
    assert_eq!(lab.folder.arena(&line).exit, Exit::Success);
    assert_eq!(holds(&lab, "")["checkpoints"], 2);
}

/// That an auditor is drawn again is sealed, and signed in time all the same: when it was committed cannot be chosen
/// afterwards. Where a checkpoint is does not tell what is sealed.
#[test]
fn what_is_sealed_has_its_checkpoint_as_well() {
    let redrawn = |mut lab: Lab| {
        let (_, auditor) = lab.run();
        assert_eq!(
            lab.claim(&format!("decline c1 --as {auditor} --reason ill")),
            ["audit_vacated", "sealed"]
        );
        lab
    };
    let lab = redrawn(Lab::open());
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let mut events = 0;
    for line in &lines {
        let list = line["events"].as_array().expect("events");
        events += list.len();
        let tells =
            list.iter().any(|event| event["event"] == "draw_committed" || event["sealed"].is_string());
        let place = lab.folder.at(&format!("lab/checkpoints/{events}.note"));
        assert_eq!(place.is_file(), tells, "{line}");
    }
    let last = lab.folder.at(&format!("lab/checkpoints/{events}.note"));
    let good = std::fs::read_to_string(&last).expect("a note");
    let late = receipted(&lab, &format!(" --at {}", lab.now + 3_600), "late.json");
    std::fs::write(&last, late["checkpoint"].as_str().expect("a note")).expect("written");
    refused(&lab, "", "when the round had been due");
    std::fs::remove_file(&last).expect("removed");
    refused(&lab, "", "no checkpoint covers this commitment");
    std::fs::write(&last, good).expect("put back");
    holds(&lab, "");
    // Folders from before do not say it, and need not have them.
    let before = Lab::open();
    let mut instance: Value = serde_json::from_str(&read(&before, "lab/instance.json")).expect("JSON");
    assert_eq!(instance["log"].as_object_mut().expect("a log").remove("sealed"), Some(json!(true)));
    write(&before, "lab/instance.json", &instance.to_string());
    let mut lines = parsed(&read(&before, "lab/journal.ndjson"));
    lines[0]["prev"] = json!(Digest::of(&arena_canon::json::canonical(&instance)));
    write(&before, "lab/journal.ndjson", &chained(lines));
    let before = redrawn(before);
    let size = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
    let last = checkpoints(&before).into_iter().max_by_key(size).expect("a note");
    std::fs::remove_file(last).expect("removed");
    holds(&before, "");
}

/// Folders from before there was a log are what they were, and it is said that they have none.
#[test]
fn a_folder_without_a_log_is_what_it_was() {
    let mut lab = settled();
    let mut instance: Value = serde_json::from_str(&read(&lab, "lab/instance.json")).expect("JSON");
    instance.as_object_mut().expect("an object").remove("log");
    write(&lab, "lab/instance.json", &instance.to_string());
    let mut lines = parsed(&read(&lab, "lab/journal.ndjson"));
    lines[0]["prev"] = json!(Digest::of(&arena_canon::json::canonical(&instance)));
    write(&lab, "lab/journal.ndjson", &chained(lines));
    std::fs::remove_dir_all(lab.folder.at("lab/checkpoints")).expect("removed");
    std::fs::remove_file(lab.folder.at("lab/keys/log")).expect("removed");
    assert_eq!(holds(&lab, "")["checkpoints"], Value::Null);
    assert!(lab.folder.arena("verify {}/lab").out.contains("no log"));
    assert!(lab.show()["claims"][0]["draws"][0].get("log").is_none());
    let ran = lab.folder.arena("claim receipt --dir {}/lab");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.err);
    lab.claim("list c2 {}/manifest.json --component {}/run.wasm --deposit 500 --as sue");
    lab.claim("fund c2 3500 --as fay");
    holds(&lab, "");
    for (line, why) in [
        ("claim receipt --dir {}/none", "cannot read"),
        ("verify {}/lab --receipt {}/none.json", "none.json"),
        ("verify {}/manifest.json --receipt {}/manifest.json", "is the folder of an instance"),
    ] {
        let ran = lab.folder.arena(line);
        assert_eq!(ran.exit, Exit::Usage, "{line}: {}", ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
    }
}
