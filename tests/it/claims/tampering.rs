//! Whatever is changed in an instance's folder, `arena verify` refuses it, and says what is wrong and where.

use std::path::PathBuf;

use arena_canon::{Digest, json};
use arena_cli::Exit;
use serde_json::{Value, json};

use super::Lab;
use crate::cli::Ran;

/// A settled claim with an audit.
fn settled() -> Lab {
    let mut lab = Lab::open();
    let (runner, auditor) = lab.run();
    lab.claim(&format!("accept c1 --as {auditor}"));
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key --results {{}}/results.json"));
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
    lab
}

fn read(lab: &Lab, name: &str) -> String {
    std::fs::read_to_string(lab.folder.at(name)).expect("a file")
}

fn write(lab: &Lab, name: &str, text: &str) {
    std::fs::write(lab.folder.at(name), text).expect("written");
}

/// What is said of the folder, which must be refused.
#[track_caller]
fn refused(lab: &Lab, what: &str) -> String {
    let Ran { exit, out, err } = lab.folder.arena("verify {}/lab");
    assert_ne!(exit, Exit::Success, "{what} is not found: {out}");
    assert_ne!(exit, Exit::Internal, "{what}: {err}");
    out + &err
}

fn files(lab: &Lab, folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(lab.folder.at(folder)).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn name(path: &std::path::Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

/// A chain of digests over lines: an edited line is told by the one after it, a missing one by its number.
#[test]
fn lines_of_the_journal() {
    let lab = settled();
    let whole = read(&lab, "lab/journal.ndjson");
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines.len() > 15, "{}", lines.len());
    for at in [0, 5, lines.len() - 2] {
        let mut edited: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let digit = edited[at].rfind("\"at\":\"1").expect("a time") + 8;
        let other = if edited[at].as_bytes()[digit] == b'8' { "9" } else { "8" };
        edited[at].replace_range(digit..=digit, other);
        write(&lab, "lab/journal.ndjson", &(edited.join("\n") + "\n"));
        let said = refused(&lab, &format!("an edit of line {}", at + 1));
        assert!(
            said.contains(&format!("line {} of the journal", at + 2))
                || said.contains(&format!("/journal/{}/", at + 1)),
            "{said}"
        );
    }
    for at in [0, 5, lines.len() - 2] {
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        write(&lab, "lab/journal.ndjson", &(swapped.join("\n") + "\n"));
        let said = refused(&lab, "a swap");
        assert!(said.contains(&format!("line {} of the journal: does not follow", at + 1)), "{said}");
        let mut cut = lines.clone();
        cut.remove(at);
        write(&lab, "lab/journal.ndjson", &(cut.join("\n") + "\n"));
        let said = refused(&lab, "a line that is missing");
        assert!(said.contains(&format!("line {} of the journal: does not follow", at + 1)), "{said}");
        let mut twice = lines.clone();
        twice.insert(at, lines[at]);
        write(&lab, "lab/journal.ndjson", &(twice.join("\n") + "\n"));
        let said = refused(&lab, "a line that stands twice");
        assert!(said.contains(&format!("line {} of the journal: does not follow", at + 2)), "{said}");
    }
    // What is cut within its last line is what a crash leaves, as long as no checkpoint of that line has its name: it is
    // said, and does not count.
    write(&lab, "lab/journal.ndjson", &whole[..whole.len() - 9]);
    assert!(refused(&lab, "a line that was signed").contains("are left out"));
    let notes = std::fs::read_dir(lab.folder.at("lab/checkpoints")).expect("a folder");
    let size = |path: &std::path::PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
    let last = notes.map(|note| note.expect("a note").path()).max_by_key(size).expect("a note");
    std::fs::rename(&last, last.with_file_name("next.note")).expect("renamed");
    let ran = lab.folder.arena("verify {}/lab --json");
    assert_eq!((ran.exit, &ran.json()[0]["over"]), (Exit::Success, &json!(0)), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("never confirmed"), "{}", ran.err);
}

/// A journal of these lines, its chain made anew.
pub(super) fn chained(lines: impl IntoIterator<Item = Value>) -> String {
    let (mut last, mut text) = (Value::Null, String::new());
    for (i, mut line) in lines.into_iter().enumerate() {
        // What the first one follows from stays.
        if i > 0 {
            line["prev"] = last;
        }
        line["seq"] = json!((i + 1).to_string());
        let bytes = json::canonical(&line);
        last = json!(Digest::of(&bytes));
        text += std::str::from_utf8(&bytes).expect("text");
        text.push('\n');
    }
    text
}

pub(super) fn parsed(whole: &str) -> Vec<Value> {
    whole.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A journal whose chain is made anew around one change: then an event does not follow, and its place is told.
#[test]
fn events_of_a_forged_journal() {
    let lab = settled();
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    for (name, pointer, to) in [
        ("deposited", "/amount", json!("20001")),
        ("claim_listed", "/submitter", json!("fay")),
        ("claim_listed", "/manifest/title", json!("another")),
        ("claim_listed", "/job", json!("ab".repeat(32))),
        ("claim_funded", "/amount", json!("501")),
        ("draw_committed", "/round", json!(7)),
        ("draw_committed", "/entries/0/2", json!(9)),
        ("draw_committed", "/last_round_seen", json!(7)),
        ("draw_resolved", "/picks/0", json!("fay")),
        ("draw_resolved", "/transcript/seed", json!("ab".repeat(32))),
        ("run_committed", "/digest", json!("ab".repeat(32))),
        ("challenge_committed", "/digest", json!("ab".repeat(32))),
        ("window_closed", "/salt", json!("ab".repeat(32))),
        ("standing_changed", "/change", json!(20)),
        ("valid_run_counted", "/valid", json!(false)),
        ("settled", "/outcome", json!("not_reproduced")),
        ("settled", "/transaction/postings/0/2", json!("1")),
    ] {
        let mut forged = lines.clone();
        let mut events = forged.iter_mut().enumerate().flat_map(|(i, line)| {
            line["events"].as_array_mut().expect("events").iter_mut().map(move |event| (i + 1, event))
        });
        let (line, event) = events.find(|(_, event)| event["event"] == name).expect(name);
        let place = event.pointer_mut(pointer).unwrap_or_else(|| panic!("{name} has no {pointer}"));
        assert_ne!(*place, to, "{name}{pointer}");
        *place = to;
        write(&lab, "lab/journal.ndjson", &chained(forged));
        let said = refused(&lab, &format!("{name}{pointer}"));
        let place = [format!("/journal/{line}/"), format!("line {line} of the journal")];
        let later = said.contains("does not follow") && said.contains("/journal/");
        assert!(later || place.iter().any(|place| said.contains(place)), "{name}{pointer}: {said}");
    }
}

/// Who could be drawn follows from who registered, and nothing that happened can be left out.
#[test]
fn what_a_forged_journal_leaves_out() {
    let lab = settled();
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let mut other = lines.clone();
    let registers = |line: &&mut Value| line["events"][0]["agent"] == "a";
    other.iter_mut().find(registers).expect("registered")["events"][0]["operator"] = json!("op-other");
    write(&lab, "lab/journal.ndjson", &chained(other));
    let said = refused(&lab, "another operator");
    assert!(said.contains("does not follow") && said.contains("op-other"), "{said}");
    let first = |line: &Value| line["events"][0]["event"].clone();
    for (missing, said_of) in [
        ("run_accepted", "inputs_checked does not follow"),
        ("inputs_checked", "run_committed does not follow"),
        ("claim_listed", "of units has 3500; 4000 are needed"),
    ] {
        let kept = lines.iter().filter(|line| first(line) != missing).cloned();
        write(&lab, "lab/journal.ndjson", &chained(kept));
        let said = refused(&lab, missing);
        assert!(said.contains(said_of), "{missing}: {said}");
    }
}

/// A line tells everything that follows from its command: cut anywhere, it is found, the last one as well.
#[test]
fn lines_that_end_too_early() {
    let lab = settled();
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let mut cuts = 0;
    for i in 0..lines.len() {
        let events = lines[i]["events"].as_array().expect("events");
        for left in 1..events.len() {
            let mut forged = lines.clone();
            forged[i]["events"] = json!(events[..left]);
            write(&lab, "lab/journal.ndjson", &chained(forged));
            let said = refused(&lab, &format!("line {} with {left} events", i + 1));
            let place = said.contains("of the journal") || said.contains("follow");
            assert!(place, "line {} with {left} events: {said}", i + 1);
            cuts += 1;
        }
    }
    assert!(cuts > 6, "{cuts}");
    let mut unsettled = lines.clone();
    let last = unsettled.last_mut().expect("a line")["events"].as_array_mut().expect("events");
    last.truncate(1);
    write(&lab, "lab/journal.ndjson", &chained(unsettled));
    let said = refused(&lab, "a claim that is not settled");
    assert!(said.contains("follows, and the line does not tell it"), "{said}");
}

/// Who acted stands in the journal, and it is who it was: of every line, told and not told.
#[test]
fn who_is_said_to_have_acted() {
    let lab = settled();
    let lines = parsed(&read(&lab, "lab/journal.ndjson"));
    let mut sealed = 0;
    for i in 0..lines.len() {
        for other in [json!("fay"), json!("nobody-known"), Value::Null] {
            let mut forged = lines.clone();
            if forged[i]["by"] == other {
                continue;
            }
            sealed += u32::from(forged[i]["by"].is_null());
            forged[i]["by"] = other.clone();
            write(&lab, "lab/journal.ndjson", &chained(forged));
            let said = refused(&lab, &format!("line {} by {other}", i + 1));
            assert!(said.contains(&format!("/journal/{}/by", i + 1)), "{said}");
        }
    }
    assert!(sealed > 0, "a line that is all sealed names nobody");
}

/// What is named by its digest is what its name says, and what is pinned is there.
#[test]
fn blobs() {
    let lab = settled();
    let blobs = files(&lab, "lab/blobs");
    assert!(blobs.len() >= 2, "{blobs:?}");
    for path in blobs {
        let kept = std::fs::read(&path).expect("a blob");
        let mut other = kept.clone();
        other.push(b' ');
        std::fs::write(&path, other).expect("written");
        let said = refused(&lab, "a blob that was changed");
        assert!(said.contains(&name(&path)) && said.contains("SHA-256"), "{said}");
        std::fs::remove_file(&path).expect("removed");
        let said = refused(&lab, &format!("that {} is missing", name(&path)));
        assert!(said.contains(&name(&path)), "{said}");
        std::fs::write(&path, kept).expect("put back");
    }
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// What was sealed is needed to derive it: each file, whichever is missing or not what it was.
#[test]
fn what_is_sealed() {
    let lab = settled();
    let mut kinds = std::collections::BTreeSet::new();
    for path in files(&lab, "lab/sealed") {
        let name = name(&path);
        let kind = name.split('-').next().expect("a kind").to_owned();
        // What a runner kept for itself is nobody's evidence.
        if kind == "record" {
            continue;
        }
        let kept = std::fs::read(&path).expect("a file");
        std::fs::remove_file(&path).expect("removed");
        let said = refused(&lab, &format!("that {name} is missing"));
        let place = said.contains("/journal/") || said.contains(&name);
        assert!(place, "{name}: {said}");
        std::fs::write(&path, "{}").expect("written");
        let said = refused(&lab, &format!("that {name} is empty"));
        assert!(said.contains("/journal/") || said.contains(&name), "{name}: {said}");
        std::fs::write(&path, kept).expect("put back");
        kinds.insert(if kind.len() > 20 { "event".to_owned() } else { kind });
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["event", "opening", "salt"]);
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// A signature by another key, of another record, or with a bit that is not its own.
#[test]
fn signatures() {
    let lab = settled();
    let openings: Vec<PathBuf> =
        files(&lab, "lab/sealed").into_iter().filter(|path| name(path).starts_with("opening-")).collect();
    assert_eq!(openings.len(), 2, "a run and a challenge");
    let read = |path: &PathBuf| -> Value {
        serde_json::from_slice(&std::fs::read(path).expect("an opening")).expect("JSON")
    };
    for (mine, other) in [(&openings[0], &openings[1]), (&openings[1], &openings[0])] {
        let kept = read(mine);
        let changes: [(&str, Value, &str); 4] = [
            (
                "/envelope/signatures/0/sig",
                read(other)["envelope"]["signatures"][0]["sig"].clone(),
                "envelope_refused",
            ),
            ("/envelope", read(other)["envelope"].clone(), "envelope_refused"),
            ("/envelope/payload", read(other)["envelope"]["payload"].clone(), "envelope_refused"),
            ("/nonce", json!("ab".repeat(32)), "other_commitment"),
        ];
        for (pointer, value, code) in changes {
            let mut forged = kept.clone();
            *forged.pointer_mut(pointer).expect("it is there") = value;
            std::fs::write(mine, forged.to_string()).expect("written");
            let said = refused(&lab, pointer);
            assert!(said.contains(code) && said.contains("_revealed does not follow"), "{pointer}: {said}");
        }
        std::fs::write(mine, json::canonical(&kept)).expect("put back");
    }
    assert_eq!(lab.folder.arena("verify {}/lab").exit, Exit::Success);
}

/// The instance is what everything was done under.
#[test]
fn the_instance() {
    let lab = settled();
    let kept: Value = serde_json::from_str(&read(&lab, "lab/instance.json")).expect("JSON");
    for (pointer, value) in [
        ("/name", json!("test-other")),
        ("/beacon", json!("drand-quicknet")),
        ("/asset", json!("euros")),
        ("/operator", json!("somebody")),
        ("/params/fee", json!("1001")),
        ("/params/clocks/window_s", json!(86_401)),
        ("/params/tax", json!("99999")),
        ("/params/slots", json!(0)),
    ] {
        let mut other = kept.clone();
        let place = other.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there"));
        assert_ne!(*place, value, "{pointer}");
        *place = value;
        write(&lab, "lab/instance.json", &other.to_string());
        let said = refused(&lab, pointer);
        assert!(
            said.contains("/journal/") || said.contains("instance") || said.contains("journal"),
            "{pointer}: {said}"
        );
    }
    for text in ["", "{}", "[]", "not JSON"] {
        write(&lab, "lab/instance.json", text);
        let said = refused(&lab, text);
        assert!(said.contains("lab"), "{text}: {said}");
    }
}
