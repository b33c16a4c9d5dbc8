//! Texts of users lie in blobs: one that leaked can be deleted, and is then nowhere, while the journal stays whole.

use std::fs;
use std::path::{Path, PathBuf};

use arena_canon::json::Value;
use arena_canon::{Digest, Preimage};
use arena_store::rusqlite::{Connection, params};
use arena_store::{
    Append, BLOBS, Domain, Event, JOURNAL, Journal, Options, Report, Stop, Store, Unfit, Wanted, verify,
};
use serde_json::json;
use tempfile::TempDir;

use crate::audit::audit;
use crate::play::Browser;
use crate::round_bench::{Sprint, of};
use crate::support::{ADMIN, Bench, limitless};

const TEXT: &str = "the customer is Violet Vane of Harbour Street";
/// A journal of a program that kept posts in rows: four posts, the last of which was hidden.
const IN_ROWS: &str = include_str!("../../../../tests/vectors/journal/town-posts-in-rows.ndjson");

/// The files of a folder that have these bytes.
fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let (mut found, mut ahead) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = ahead.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ahead.push(path);
            } else if fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes) {
                found.push(path);
            }
        }
    }
    found
}

fn blobs(folder: &Path) -> usize {
    let (mut count, mut ahead) = (0, vec![folder.join(BLOBS)]);
    while let Some(next) = ahead.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                count += 1;
            }
        }
    }
    count
}

fn verified(folder: &Path) -> Report {
    let named = |event: &Event| arena_server::named_blobs(event);
    verify(folder, &Wanted { blobs: true, named: Some(&named), ..Wanted::default() }).unwrap()
}

fn post_of(text: &str) -> Value {
    json!({ "round": "s0-r1", "kind": "progress", "window": "W1", "body": text })
}

/// In the middle of the first window.
async fn posting() -> Sprint {
    let sprint = Sprint::entered(false).await;
    sprint.set(1, "19:00").await;
    sprint
}

async fn publish(sprint: &Sprint, key: &str, text: &str, headers: &[(&str, &str)]) -> Value {
    let path = "/api/v1/town/posts";
    sprint.bench.send_json("POST", path, Some(key), headers, &post_of(text)).await.expect(201).json()
}

async fn hide(sprint: &Sprint, name: &Value) -> Value {
    let hide = json!({ "post": name, "reason": "it named a customer" });
    sprint.bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200).json()
}

/// The digest by which the request of a post is known again.
fn request_of(text: &str) -> Digest {
    let line = "POST /api/v1/town/posts";
    Preimage::new("ARENA-REQUEST-V1")
        .bytes(line.as_bytes())
        .bytes(post_of(text).to_string().as_bytes())
        .digest()
}

/// A page says in words that a text is gone, who did it and why, and what its digits are; an answer says why.
fn is_told_as_deleted(page: &str, reason: &str, sha256: &Value) {
    assert!(page.contains(reason), "{page}");
    if page.starts_with('{') {
        return;
    }
    let stones = page.split("class=\"tombstone\"").skip(1).map(|rest| rest.split("</dl>").next().unwrap());
    let stone: Vec<_> = stones.filter(|stone| stone.contains(reason)).collect();
    assert_eq!(stone.len(), 1, "{page}");
    for told in [
        "An admin deleted this text for good.",
        "<dt>The admin's reason</dt>",
        "<dt>SHA-256 of the text that was here, with the line of random digits before it</dt>",
        sha256.as_str().unwrap(),
    ] {
        assert!(stone[0].contains(told), "{told} is missing: {}", stone[0]);
    }
    assert_eq!(audit(page), Vec::<String>::new());
}

/// What strangers see of a reason is text, and no element.
#[tokio::test]
async fn the_reason_of_a_deletion_is_escaped() {
    let sprint = posting().await;
    let made = publish(&sprint, &sprint.ann, TEXT, &[]).await;
    let hide = json!({ "post": made["ref"], "reason": "<b>it</b> named & hurt a customer" });
    sprint.bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200);
    let page = Browser::new(&sprint.bench).see("/town").await.text;
    is_told_as_deleted(&page, "&lt;b&gt;it&lt;/b&gt; named &amp; hurt a customer", &made["body_sha256"]);
}

#[tokio::test]
async fn a_post_that_was_hidden_is_in_no_byte_of_the_folder() {
    let sprint = posting().await;
    let (bench, text) = (&sprint.bench, format!("Done: {TEXT}."));
    let key = [("idempotency-key", "p1")];
    let made = publish(&sprint, &sprint.ann, &text, &key).await;
    assert_eq!((&made["body"], made["body_salt"].as_str().unwrap().len()), (&json!(text), 64));
    // It lies in one place, and its digest is that of the salt and the text.
    let folder = bench.folder();
    assert_eq!(files_with(folder, TEXT.as_bytes()).len(), 1, "{:?}", files_with(folder, TEXT.as_bytes()));
    let salted = format!("{}\n{text}", made["body_salt"].as_str().unwrap());
    assert_eq!(made["body_sha256"], json!(Digest::of(salted.as_bytes())));
    assert!(!made.to_string().contains(&Digest::of(text.as_bytes()).to_string()));
    let again = publish(&sprint, &sprint.ann, &text, &key).await;
    assert_eq!(again, made);
    bench.restart();
    let path = format!("/api/v1/town/posts/{}", made["id"].as_str().unwrap());
    assert_eq!(bench.get(&path, None).await.expect(200).json(), made);

    assert_eq!(
        files_with(folder, request_of(&text).as_bytes()).len(),
        1,
        "the digest of the request is kept"
    );
    let told = hide(&sprint, &made["ref"]).await;
    assert_eq!((&told["body"], &told["hidden"]), (&Value::Null, &json!("it named a customer")));
    for bytes in [TEXT.as_bytes(), request_of(&text).as_bytes()] {
        assert_eq!(files_with(folder, bytes), Vec::<PathBuf>::new(), "at work");
    }
    let copy = TempDir::new().unwrap();
    let backup = arena_store::backup(folder, &copy.path().join("later")).unwrap();
    assert_eq!((backup.faults.len(), backup.withheld), (0, 1));
    bench.restart();
    for folder in [folder, copy.path()] {
        // Neither it, nor what a guess of it could be compared with.
        for bytes in [
            TEXT.as_bytes(),
            made["body_salt"].as_str().unwrap().as_bytes(),
            Digest::of(text.as_bytes()).to_string().as_bytes(),
            Digest::of(text.as_bytes()).as_bytes(),
            request_of(&text).as_bytes(),
        ] {
            assert_eq!(files_with(folder, bytes), Vec::<PathBuf>::new());
        }
    }
    let report = verified(folder);
    assert_eq!((report.is_sound(), report.withheld), (true, 1), "{:?}", report.findings);
    // Sent again it is not done again, and not answered with the text.
    let path = "/api/v1/town/posts";
    let said = bench.send_json("POST", path, Some(&sprint.ann), &key, &post_of(&text)).await.expect(422);
    assert_eq!(said.code(), "idempotency_key_reused");
    assert!(!said.text.contains(TEXT));
    assert_eq!(bench.get(path, None).await.expect(200).json()["items"].as_array().unwrap().len(), 1);
    let page = Browser::new(bench).see("/town").await.text;
    assert!(!page.contains(TEXT), "{page}");
    is_told_as_deleted(&page, "it named a customer", &made["body_sha256"]);
    assert_eq!(files_with(folder, TEXT.as_bytes()), Vec::<PathBuf>::new());
}

/// The journal says who did it, when, why and to what.
#[tokio::test]
async fn who_hid_a_text_and_why_stays_in_the_journal() {
    let sprint = posting().await;
    let made = publish(&sprint, &sprint.ann, TEXT, &[]).await;
    hide(&sprint, &made["ref"]).await;
    let events = Journal::open(sprint.bench.folder()).unwrap().after(0, 1_000).unwrap();
    let told = events.iter().find(|event| event.kind == "text.hidden").unwrap().json().unwrap();
    assert_eq!((&told["body_sha256"], &told["post"]), (&made["body_sha256"], &made["id"]));
    let fact = events.iter().rev().find(|event| event.kind == "rounds.fact").unwrap();
    let line = &fact.json().unwrap()["line"];
    assert_eq!(line["do"], json!("hide"));
    assert!(line["by"]["operator"].is_string(), "{line}");
    assert_eq!(line["with"]["reason"], json!("it named a customer"));
    assert!(line["at"].as_str().unwrap().starts_with("2026-07-10T19:00:00"));
    // The post is a row of the second version, and only that names a text.
    let named: Vec<_> = events.iter().filter(|event| !arena_server::named_blobs(event).is_empty()).collect();
    assert_eq!(named.len(), 1);
    assert_eq!((named[0].version, named[0].is_sealed()), (2, true));
    assert_eq!(json!(arena_server::named_blobs(named[0])[0]), made["body_sha256"]);
}

/// Each has random bytes of its own, so what is withheld of one says nothing of the other.
#[tokio::test]
async fn of_two_posts_that_are_alike_one_can_be_hidden() {
    let sprint = posting().await;
    let one = publish(&sprint, &sprint.ann, TEXT, &[]).await;
    let other = publish(&sprint, &sprint.bob, TEXT, &[]).await;
    assert_ne!(one["body_sha256"], other["body_sha256"]);
    assert_eq!(blobs(sprint.bench.folder()), 2);
    hide(&sprint, &one["ref"]).await;
    sprint.bench.restart();
    let told = sprint.bench.get("/api/v1/town/posts", None).await.expect(200).json();
    assert_eq!((&told["items"][0]["body"], &told["items"][1]["body"]), (&Value::Null, &json!(TEXT)));
    assert_eq!(files_with(sprint.bench.folder(), TEXT.as_bytes()).len(), 1);
}

/// Between the row and the removal of the file the machine may stop.
#[tokio::test]
async fn a_text_goes_at_the_next_start_if_the_machine_stopped_before() {
    let sprint = posting().await;
    let (bench, made) = (&sprint.bench, publish(&sprint, &sprint.ann, TEXT, &[]).await);
    let file = files_with(bench.folder(), TEXT.as_bytes()).remove(0);
    let content = fs::read(&file).unwrap();
    hide(&sprint, &made["ref"]).await;
    drop(bench.take());
    fs::write(&file, content).unwrap();
    fs::remove_file(file.with_extension("withheld")).unwrap();
    assert!(!verified(bench.folder()).is_sound());
    bench.restart();
    assert_eq!(files_with(bench.folder(), TEXT.as_bytes()), Vec::<PathBuf>::new());
    let report = verified(bench.folder());
    assert_eq!((report.is_sound(), report.withheld), (true, 1));
}

#[tokio::test]
async fn a_text_that_is_missing_or_another_is_an_error_and_not_withheld() {
    let sprint = posting().await;
    let bench = &sprint.bench;
    let made = publish(&sprint, &sprint.ann, TEXT, &[]).await;
    let path = format!("/api/v1/town/posts/{}", made["id"].as_str().unwrap());
    let file = files_with(bench.folder(), TEXT.as_bytes()).remove(0);
    let content = fs::read_to_string(&file).unwrap();
    for (instead, why) in
        [(None, "it is missing"), (Some(content.replace("Violet", "Sebald")), "it is damaged")]
    {
        fs::remove_file(&file).unwrap();
        instead.iter().for_each(|text| fs::write(&file, text).unwrap());
        for _ in 0..2 {
            let told = bench.get(&path, None).await.expect(200).json();
            assert_eq!((&told["body"], &told["body_unreadable"]), (&Value::Null, &json!(why)));
            assert_eq!((&told["hidden"], told.get("body_withheld")), (&Value::Null, None));
            let page = Browser::new(bench).see("/town").await.text;
            assert!(page.contains(why) && page.contains("unreadable") && !page.contains("Vane"), "{page}");
            // The fold needs no text.
            bench.restart();
        }
        let report = verified(bench.folder());
        let events = Journal::open(bench.folder()).unwrap().after(0, 1_000).unwrap();
        let seq = events.iter().find(|event| !arena_server::named_blobs(event).is_empty()).unwrap().seq;
        let what = why.trim_start_matches("it ");
        let sha256 = made["body_sha256"].as_str().unwrap();
        assert_eq!(report.findings[0].to_string(), format!("event {seq}: blob {sha256} {what}"));
        fs::write(&file, &content).unwrap();
    }
    assert!(verified(bench.folder()).is_sound());
    assert_eq!(bench.get(&path, None).await.expect(200).json(), made);
}

#[tokio::test]
async fn a_refused_text_leaves_nothing() {
    let sprint = posting().await;
    let bench = &sprint.bench;
    let before = blobs(bench.folder());
    // Put together here, so that no file of the sources has it.
    let secret = format!("AKIA{}", "IOSFODNN7QZXWVUT");
    let texts = [
        format!("our key is {secret} and it works"),
        "canary-acme-5d2f is here, too".to_owned(),
        "short".to_owned(),
    ];
    for text in &texts {
        for headers in [&[][..], &[("idempotency-key", "p1")]] {
            let path = "/api/v1/town/posts";
            let said =
                bench.send_json("POST", path, Some(&sprint.ann), headers, &post_of(text)).await.expect(422);
            assert!(!said.text.contains(text.as_str()), "{}", said.text);
        }
    }
    // Not allowed to, and not of a form that is taken.
    bench.post("/api/v1/town/posts", Some(&sprint.eva), &post_of(TEXT)).await.expect(403);
    let made = publish(&sprint, &sprint.ann, "Something that everybody may read.", &[]).await;
    for body in [
        json!({ "kept_text": made["body_sha256"] }),
        json!({ "sha256": made["body_sha256"], "bytes": 5, "names": [], "findings": [] }),
    ] {
        let post = json!({ "round": "s0-r1", "kind": "progress", "window": "W1", "body": body });
        bench.post("/api/v1/town/posts", Some(&sprint.bob), &post).await.expect(422);
    }
    assert_eq!(blobs(bench.folder()), before + 1);
    bench.restart();
    for text in [secret.as_str(), "canary-acme-5d2f is here", TEXT] {
        assert_eq!(files_with(bench.folder(), text.as_bytes()), Vec::<PathBuf>::new());
    }
}

/// The texts of a round that are blobs besides posts: wherever one is shown, it can be deleted. Names, objectives,
/// summaries and rationales stand in rows and are not among them.
#[tokio::test]
async fn texts_of_disputes_evidence_and_interventions_can_be_deleted() {
    let sprint = Sprint::entered(false).await;
    sprint.window(1).await;
    sprint.set(1, "22:30").await;
    sprint.judge("acme", "W1", &crate::round_bench::accepted()).await.expect(201);
    sprint.set(1, "23:00").await;
    let (bench, word) = (&sprint.bench, |what: &str| format!("{what}: {TEXT}, and more of it"));
    let dispute = json!({ "ground": word("ground") });
    let path = "/api/v1/submissions/boards:s0-r1:acme:W1/disputes";
    let key = [("idempotency-key", "d1")];
    let filed = bench.send_json("POST", path, Some(&sprint.bob), &key, &dispute).await.expect(201).json();
    let dispute_path = format!("/api/v1/disputes/{}", filed["id"].as_str().unwrap());
    let amend = json!({ "text": word("amendment") });
    let amended =
        bench.post(&format!("{dispute_path}/amendments"), Some(&sprint.bob), &amend).await.expect(201).json();
    let help = json!({ "round": "s0-r1", "company": "acme", "window": "W1", "text": word("intervention") });
    let receipt = bench.post("/api/v1/interventions", Some(ADMIN), &help).await.expect(201).json();
    sprint.set(2, "12:30").await;
    let sha = Digest::of(format!("acme W1: {}\n", crate::round_bench::CLAIMS[0][0]).as_bytes());
    let evidence = json!({ "artifact_hash": sha, "kind": "log", "description": word("evidence") });
    let evidence =
        bench.post("/api/v1/locker/evidence", Some(&sprint.ann), &evidence).await.expect(201).json();
    assert_eq!(files_with(bench.folder(), TEXT.as_bytes()).len(), 4);
    bench.restart();
    let submission_page = "/submissions/boards:s0-r1:acme:W1";
    let artifact_page = format!("/locker/{sha}");
    let evidence_path = format!("/api/v1/locker/evidence/{}", evidence["id"].as_str().unwrap());
    let places = [
        (filed["ground_sha256"].clone(), "ground", vec![dispute_path.as_str(), submission_page]),
        (
            amended["amendments"][0]["text_sha256"].clone(),
            "amendment",
            vec![dispute_path.as_str(), submission_page],
        ),
        (receipt["text_sha256"].clone(), "intervention", vec!["/api/v1/rounds/s0-r1/receipts"]),
        (
            evidence["description_sha256"].clone(),
            "evidence",
            vec![evidence_path.as_str(), artifact_page.as_str()],
        ),
    ];
    for (sha256, what, paths) in &places {
        for path in paths {
            let told = bench.get(path, Some(&sprint.ann)).await.expect(200).text;
            assert!(told.contains(&word(what)), "{path}: {told}");
        }
        let hide = json!({ "text_sha256": sha256, "reason": format!("the {what} named somebody") });
        bench.post(&of("tombstones"), Some(&sprint.bob), &hide).await.expect(403);
        bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200);
        bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(409);
        for path in paths {
            let told = bench.get(path, Some(&sprint.ann)).await.expect(200).text;
            assert!(!told.contains(&word(what)), "{path}: {told}");
            is_told_as_deleted(&told, &format!("the {what} named somebody"), sha256);
        }
    }
    // What its author called it goes with the description.
    assert_eq!(bench.get(&evidence_path, Some(&sprint.ann)).await.expect(200).json()["kind"], Value::Null);
    let again = bench.send_json("POST", path, Some(&sprint.bob), &key, &dispute).await.expect(422);
    assert!(!again.text.contains(TEXT));
    assert_eq!(files_with(bench.folder(), TEXT.as_bytes()), Vec::<PathBuf>::new());
    bench.restart();
    assert_eq!(files_with(bench.folder(), TEXT.as_bytes()), Vec::<PathBuf>::new());
    let report = verified(bench.folder());
    assert_eq!((report.is_sound(), report.withheld), (true, 4), "{:?}", report.findings);
    for (_, what, paths) in &places {
        for path in paths {
            let told = bench.get(path, Some(&sprint.ann)).await.expect(200).text;
            assert!(told.contains(&format!("the {what} named somebody")), "{path}: {told}");
        }
    }
}

/// A machine may stop between a text and the commit of what names it. The client sends it again, with other digits.
#[tokio::test]
async fn a_text_that_was_not_committed_is_gone_at_the_next_start() {
    let sprint = posting().await;
    let bench = &sprint.bench;
    let upload = b"an artifact whose command never came";
    let folder = bench.folder().to_owned();
    let shelf = folder.join(BLOBS).join(&Digest::of(upload).to_string()[..2]);
    drop(bench.take());
    let text = format!("{}\n{TEXT}", Digest::of(b"salt"));
    let aside = folder.join(BLOBS).join("pending").join(Digest::of(text.as_bytes()).to_string());
    fs::write(&aside, &text).unwrap();
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join(Digest::of(upload).to_string()), upload).unwrap();
    bench.restart();
    assert_eq!(files_with(&folder, TEXT.as_bytes()), Vec::<PathBuf>::new());
    assert_eq!(files_with(&folder, upload).len(), 1, "uploads are kept for days");
    let made = publish(&sprint, &sprint.ann, TEXT, &[]).await;
    hide(&sprint, &made["ref"]).await;
    assert_eq!(files_with(&folder, TEXT.as_bytes()), Vec::<PathBuf>::new());
}

/// Whoever knows a text and its digits can upload the same bytes, and have its own artifact hidden.
#[tokio::test]
async fn a_text_of_another_is_not_taken_away_as_an_artifact() {
    let sprint = posting().await;
    let bench = &sprint.bench;
    let made = publish(&sprint, &sprint.bob, TEXT, &[]).await;
    let bytes = format!("{}\n{TEXT}", made["body_salt"].as_str().unwrap());
    assert_eq!(made["body_sha256"], json!(Digest::of(bytes.as_bytes())));
    sprint.upload(&sprint.ann, bytes.as_bytes(), "public_read=true").await.expect(201);
    let hide_it = json!({ "artifact_hash": made["body_sha256"], "reason": "it is mine" });
    bench.post(&of("tombstones"), Some(ADMIN), &hide_it).await.expect(200);
    let path = format!("/api/v1/town/posts/{}", made["id"].as_str().unwrap());
    let blob = format!("/api/v1/locker/blobs/{}", made["body_sha256"].as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(bench.get(&path, None).await.expect(200).json(), made);
        bench.get(&blob, Some(&sprint.ann)).await.expect(410);
        let report = verified(bench.folder());
        assert_eq!((report.is_sound(), report.withheld), (true, 0), "{:?}", report.findings);
        bench.restart();
    }
    // With the text the bytes go, whatever else they are.
    hide(&sprint, &made["ref"]).await;
    assert_eq!(files_with(bench.folder(), TEXT.as_bytes()), Vec::<PathBuf>::new());
    assert!(verified(bench.folder()).is_sound());
    // An artifact that is nothing else goes.
    sprint.upload(&sprint.ann, b"an artifact of acme alone", "public_read=true").await.expect(201);
    let sha256 = Digest::of(b"an artifact of acme alone");
    let told = bench.get(&format!("/api/v1/locker/artifacts/{sha256}?round=s0-r1"), None).await.expect(200);
    assert_eq!(told.json()["media_type"], json!("text/plain"));
    let hide_it = json!({ "artifact_hash": sha256, "reason": "it leaked" });
    let told = bench.post(&of("tombstones"), Some(ADMIN), &hide_it).await.expect(200).json();
    assert_eq!(told["media_type"], Value::Null, "{told}");
    let none = json!({ "text_sha256": Digest::of(b"none"), "reason": "there is none" });
    bench.post(&of("tombstones"), Some(ADMIN), &none).await.expect(404);
    assert_eq!(files_with(bench.folder(), b"an artifact of acme alone"), Vec::<PathBuf>::new());
}

/// What a row has for good is the name of something.
#[tokio::test]
async fn references_and_kinds_have_no_room_for_a_text() {
    let sprint = posting().await;
    let bench = &sprint.bench;
    let sha = Digest::of(b"an artifact");
    let post = |reference: &str| {
        json!({ "round": "s0-r1", "kind": "progress", "window": "W1", "body": "Something to read.",
            "refs": ["town:1", reference] })
    };
    let text = "the-customer-is-violet-vane";
    for reference in [
        TEXT.to_owned(),
        text.to_owned(),
        format!("https://example.org/{text}"),
        format!("locker:{text}"),
        format!("locker:{}", sha.to_string().to_uppercase()),
        format!("locker:{sha}{sha}"),
        format!("{text}:{sha}"),
        format!("town:{text}"),
        format!("town:{text}:1"),
        format!("boards:s0-r1:{text}:W1"),
        format!("boards:{text}:acme:W1"),
        format!("boards:s0-r1:acme:W1:1:{text}"),
        format!("intent:s0-r1:acme:{text}"),
        format!("kickoff:{text}:{sha}"),
        "town:1234567890".to_owned(),
        "town:".to_owned(),
        ":1".to_owned(),
        " town:1".to_owned(),
        String::new(),
    ] {
        let said = bench.post("/api/v1/town/posts", Some(&sprint.ann), &post(&reference)).await.expect(422);
        assert_eq!(said.json()["errors"][0]["pointer"], json!("#/refs/1"), "{reference}: {}", said.text);
    }
    for reference in [
        format!("locker:{sha}"),
        "town:1".to_owned(),
        "town:s0-r1:1".to_owned(),
        "evidence:3".to_owned(),
        "receipt:s0-r1:7".to_owned(),
        "dispute:1".to_owned(),
        "award:1".to_owned(),
        "boards:s0-r1:acme:W1".to_owned(),
        "boards:s0-r1:bolt:W3:2".to_owned(),
        "intent:s0-r1:acme:W2".to_owned(),
        format!("kickoff:acme:{sha}"),
    ] {
        let made = bench.post("/api/v1/town/posts", Some(&sprint.ann), &post(&reference)).await.expect(201);
        assert_eq!(made.json()["refs"][1], json!(reference));
    }
    sprint.upload(&sprint.ann, b"an artifact", "public_read=true").await.expect(201);
    let evidence = |kind: &str| json!({ "artifact_hash": sha, "kind": kind, "description": "a run of it" });
    for kind in [TEXT, "the customer", "Log", "", "1log", "a-kind-with-more-than-thirty-two-bytes", "log\n"] {
        let said =
            bench.post("/api/v1/locker/evidence", Some(&sprint.ann), &evidence(kind)).await.expect(422);
        assert_eq!(said.json()["errors"][0]["pointer"], json!("#/kind"), "{kind}: {}", said.text);
    }
    for kind in ["log", "benchmark", "screen_shot-2"] {
        bench.post("/api/v1/locker/evidence", Some(&sprint.ann), &evidence(kind)).await.expect(201);
    }
    bench.restart();
}

/// The line of a fact that comes after these, as a program wrote it that took whatever was said.
fn with_fact(lines: &str, at_ms: u64, line: &Value) -> String {
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let (seq, topic, kind) = (last["seq"].as_u64().unwrap() + 1, "rounds/s0-r1", "rounds.fact");
    let body = json!({ "event": "command", "round": "s0-r1", "line": line });
    let salt = *Digest::of(b"salt").as_bytes();
    let canonical = arena_canon::json::canonical(&body);
    let content = arena_store::content_sha256(at_ms, topic, kind, 1, &canonical, Some(&salt));
    let prev: Digest = last["hash"].as_str().unwrap().parse().unwrap();
    let hash = arena_store::link(seq, prev, content);
    let event = json!({ "at_ms": at_ms, "body": body, "content_sha256": content, "hash": hash, "kind": kind,
        "prev": prev, "salt": Digest::from_bytes(salt), "seq": seq, "topic": topic, "version": 1 });
    format!("{}\n{event}\n", lines.trim_end())
}

/// References were free once, and stand in rows for good.
#[tokio::test]
async fn of_a_hidden_post_no_reference_is_shown() {
    let folder = TempDir::new().unwrap();
    let with = json!({ "kind": "progress", "window": "W1", "body": "An old post with a reference.",
        "refs": [TEXT, "town:1"], "corrects": null });
    let by = json!({ "agent": "bob", "company": "bolt" });
    let line = json!({ "at": "2026-07-10T21:30:00Z", "by": by, "do": "post", "version": 1, "with": with });
    laid_out(folder.path(), &with_fact(IN_ROWS, 1_783_719_000_000, &line));
    let bench = Bench::over(folder, "2026-07-10T21:40:00Z", limitless());
    assert!(verify(bench.folder(), &Wanted::default()).unwrap().is_sound());
    let places = ["/api/v1/town/posts", "/api/v1/town/posts/town:s0-r1:5", "/town", "/companies/bolt"];
    let told = async |path: &str| bench.get(path, Some(ADMIN)).await.expect(200).text;
    for path in &places[..3] {
        assert!(told(path).await.contains(TEXT), "{path}");
    }
    let hide = json!({ "post": "town:5", "reason": "its reference named a customer" });
    let said = bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200);
    assert_eq!((&said.json()["refs"], said.text.contains(TEXT)), (&json!([]), false));
    for _ in 0..2 {
        for path in places {
            assert!(!told(path).await.contains(TEXT), "{path}");
        }
        let feed = bench.folder().join(JOURNAL);
        let public = Journal::open(feed.parent().unwrap()).unwrap().after(0, 1_000).unwrap();
        let shows = |event: &Event| !event.is_sealed() && event.json().unwrap().to_string().contains(TEXT);
        assert!(!public.iter().any(shows), "no public row has it");
        bench.restart();
    }
}

/// A domain of nothing, for a journal without a row.
struct Nothing;

impl Domain for Nothing {
    type State = ();
    type Command = ();
    type Answer = ();
    type Refusal = ();

    fn initial(&self) {}
    fn knows(&self, _: &str, _: u32) -> bool {
        true
    }
    fn decide(&self, (): &(), (): (), _: &mut Append<'_>) -> Result<(), Stop<()>> {
        Ok(())
    }
    fn evolve(&self, (): &mut (), _: &Event) -> Result<(), Unfit> {
        Ok(())
    }
    fn discriminator(&self) -> String {
        "nothing".to_owned()
    }
}

/// Writes the lines of an export into a folder, as they once stood in it.
fn laid_out(folder: &Path, lines: &str) {
    drop(Store::open(folder, Nothing, Vec::new(), Options::default()).unwrap());
    let db = Connection::open(folder.join(JOURNAL)).unwrap();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let digest = |name: &str| line[name].as_str().unwrap().parse::<Digest>().unwrap();
        let salt = line.get("salt").map(|_| *digest("salt").as_bytes());
        let number = |name: &str| line[name].as_i64().unwrap();
        let text = |name: &str| line[name].as_str().unwrap();
        db.execute(
            "INSERT INTO events (seq, at_ms, topic, kind, version, body, salt, content_sha256, prev, hash)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                number("seq"),
                number("at_ms"),
                text("topic"),
                text("kind"),
                number("version"),
                arena_canon::json::canonical(&line["body"]),
                salt,
                digest("content_sha256").as_bytes(),
                digest("prev").as_bytes(),
                digest("hash").as_bytes(),
            ],
        )
        .unwrap();
        db.execute(
            "INSERT OR IGNORE INTO event_kinds (kind, version, first_seq) VALUES (?1, ?2, ?3)",
            params![text("kind"), number("version"), number("seq")],
        )
        .unwrap();
    }
}

/// What older programs wrote is read for good, and what is added to it has its texts in blobs.
#[tokio::test]
async fn a_journal_with_texts_in_its_rows_goes_on() {
    let folder = TempDir::new().unwrap();
    laid_out(folder.path(), IN_ROWS);
    let bench = Bench::over(folder, "2026-07-10T21:40:00Z", limitless());
    let told = bench.get("/api/v1/town/posts", None).await.expect(200).json();
    let posts = told["items"].as_array().unwrap();
    assert_eq!(posts.len(), 4, "{told}");
    let old = "An old post that is told to everybody.";
    assert_eq!(
        (&posts[2]["body"], &posts[2]["body_sha256"]),
        (&json!(old), &json!(Digest::of(old.as_bytes())))
    );
    assert_eq!((&posts[3]["body"], &posts[3]["hidden"]), (&Value::Null, &json!("it named a customer")));
    // A post names its artifact as it did.
    let submission = bench.get("/api/v1/submissions/boards:s0-r1:acme:W1", None).await.expect(200).json();
    assert_eq!(submission["revisions"][0]["omissions"], json!([]), "{submission}");
    let page = Browser::new(&bench).see("/town").await.text;
    assert!(page.contains(old) && page.contains("it named a customer"), "{page}");
    // One of the old posts is hidden now: as before it is shown nowhere, and stays in its sealed row.
    let hide = json!({ "post": posts[2]["ref"], "reason": "it is out of date" });
    let said = bench.post(&of("tombstones"), Some(ADMIN), &hide).await.expect(200).json();
    assert_eq!((&said["body"], &said["hidden"]), (&Value::Null, &json!("it is out of date")));
    bench.restart();
    let told = bench.get("/api/v1/town/posts", None).await.expect(200).text;
    assert!(!told.contains(old) && told.contains("it is out of date"), "{told}");
    // It is not told that it was deleted, which it was not.
    let page = Browser::new(&bench).see("/town").await.text;
    assert!(page.contains("An admin hid this text.") && !page.contains("deleted"), "{page}");
    assert_eq!(audit(&page), Vec::<String>::new());
    let chain = verify(bench.folder(), &Wanted::default()).unwrap();
    assert!(chain.is_sound(), "{:?}", chain.findings);
}
