//! The log of claims: signed checkpoints, draws that carry them, receipts, and proofs; the same after a restart, and
//! nothing in it for anybody of what is sealed.

use std::os::unix::fs::PermissionsExt as _;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::Sealed;
use arena_claims::log::{Checkpoint, Receipt, check_transcript, is_consistent, origin};
use arena_draw::Transcript;
use serde_json::json;

use crate::claims_stage::{HOUR, NAMES, Stage, config, digest};
use crate::support::{ADMIN, Bench};

/// A checkpoint, checked by the key that is served with it.
struct Seen {
    size: u64,
    root: Digest,
    key: Digest,
    signed_at: u64,
}

fn checked(about: &Value) -> Seen {
    let instance = digest(&about["instance_id"]);
    let note = about["checkpoint"].as_str().expect("it is signed");
    let read = Checkpoint::read(note).unwrap();
    let key = digest(&about["public_key"]);
    let signed_at = read.verify(&origin(instance), key).unwrap();
    assert_eq!(
        (about["size"].as_str(), digest(&about["root"])),
        (Some(read.size.to_string().as_str()), read.root)
    );
    assert_eq!(about["origin"], origin(instance));
    assert!(about["verifier_key"].as_str().unwrap().starts_with(&format!("{}+", origin(instance))));
    Seen { size: read.size, root: read.root, key, signed_at }
}

async fn latest(stage: &Stage) -> Seen {
    checked(&stage.see(None, "/log/checkpoint").await)
}

fn proof(said: &Value) -> Vec<Digest> {
    said["proof"].as_array().unwrap().iter().map(digest).collect()
}

/// The receipt that an answer names, read and checked.
async fn receipt(stage: &Stage, name: &str, done: &Value) -> (Value, Checkpoint) {
    let path = done["receipt"].as_str().unwrap_or_else(|| panic!("{done}"));
    let said = stage.bench.get(path, stage.key(name)).await.expect(200).json();
    let key = latest(stage).await.key;
    let (checkpoint, _) = Receipt::read(&said).unwrap_or_else(|why| panic!("{why}")).signed(key).unwrap();
    (said, checkpoint)
}

/// Lists and funds a claim, so that a draw is committed.
async fn drawn(stage: &Stage) -> Value {
    let body = json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    stage.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200).json()
}

#[tokio::test]
async fn a_draw_carries_a_checkpoint_from_before_its_round() {
    let mut stage = Stage::new().await;
    drawn(&stage).await;
    let draws = stage.see(None, "/claims/c1/draws").await;
    let now = latest(&stage).await;
    let committed = &draws["committed"];
    // It is there before the round is, under the root of what everybody is shown.
    let note = Checkpoint::read(committed["log"]["checkpoint"].as_str().unwrap()).unwrap();
    assert_eq!((note.size, note.root), (now.size, now.root));
    assert_eq!(committed["committed_at"].as_str().unwrap(), "2027-01-15T10:00:00.000Z");
    assert_eq!(now.signed_at, 1_800_007_200);
    let before = committed["log"].clone();
    stage.resolve().await;
    let draws = stage.see(None, "/claims/c1/draws").await;
    let transcript = draws["transcripts"][0].clone();
    assert_eq!(transcript["log"], before, "the same, once it is resolved");
    let check = |transcript: &Value, key: Digest| {
        let read = arena_draw::verify(&json::canonical(transcript)).map_err(|why| why.to_string())?;
        check_transcript(&read, Some(key)).map_err(|fault| fault.to_string())
    };
    let log = check(&transcript, now.key).unwrap().unwrap();
    assert_eq!((log.size, log.root, log.signed_at), (now.size, now.root, Some(now.signed_at)));
    // Whatever of it is told otherwise is not what was signed.
    assert!(check(&transcript, Digest::of(b"another")).is_err());
    for (pointer, value) in [
        ("/committed_seq", json!("9")),
        ("/last_round_seen", json!("7")),
        ("/log/inclusion", json!([])),
        ("/log/checkpoint", json!("a\n1\nb\n")),
    ] {
        let mut changed = transcript.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(check(&changed, now.key).is_err(), "{pointer}");
    }
    let mut without = transcript;
    without.as_object_mut().unwrap().remove("log");
    assert!(check(&without, now.key).is_err());
}

/// A claim with everything: the log is the same after every start, and every transcript that may be seen carries it.
#[tokio::test]
async fn a_log_is_the_same_after_every_start() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    let challenger = stage.volunteers().await.remove(0);
    stage.commit(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    stage.wait(30 * HOUR).await;
    let done = stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200).json();
    stage.reveal(&challenger, Sealed::Challenge, "10.0").await.expect(200);
    stage.wait(7 * HOUR).await;
    assert_eq!(stage.status().await, "settled");
    let all = || async {
        let log = stage.see(None, "/log/checkpoint").await;
        let draws = stage.see(None, "/claims/c1/draws").await;
        let (receipt, _) = receipt(&stage, &runner, &done).await;
        (log, draws, receipt)
    };
    let before = all().await;
    stage.bench.restart();
    assert_eq!(all().await, before);
    let key = checked(&before.0).key;
    let transcripts = before.1["transcripts"].as_array().unwrap();
    let mut logged = 0;
    for transcript in transcripts {
        let read = Transcript::read(&json::canonical(transcript)).unwrap();
        logged += usize::from(check_transcript(&read, Some(key)).unwrap().is_some());
    }
    assert!(logged >= 2 && logged >= transcripts.len() - 1, "{logged} of {}", transcripts.len());
    // What happens next goes on from there.
    let (_, old) = receipt(&stage, &runner, &done).await;
    let more =
        stage.post("sue", "/claims", json!({ "manifest": stage.manifest().await, "deposit": "500" })).await;
    let (_, new) = receipt(&stage, "sue", &more.expect(201).json()).await;
    let path = format!("/log/consistency?from={}&to={}&root={}", old.size, new.size, new.root);
    let said = stage.see(None, &path).await;
    assert!(is_consistent((old.size, old.root), (new.size, new.root), &proof(&said)));
}

#[tokio::test]
async fn every_size_that_is_shown_is_proven_and_no_other() {
    let stage = Stage::new().await;
    drawn(&stage).await;
    let now = latest(&stage).await;
    // Every command was signed; whoever runs the instance has all receipts.
    let mut heads = std::collections::BTreeMap::new();
    for seq in 1..=now.size {
        let said = stage.bench.get(&format!("/api/v1/log/receipts/{seq}"), Some(ADMIN)).await;
        if said.status == 200 {
            let (checkpoint, _) = Receipt::read(&said.json()).unwrap().signed(now.key).unwrap();
            heads.insert(checkpoint.size, checkpoint.root);
        }
    }
    assert!(heads.len() > 20 && heads.get(&now.size) == Some(&now.root), "{heads:?}");
    for (from, to) in heads.iter().flat_map(|from| heads.iter().map(move |to| (from, to))) {
        let said =
            stage.bench.get(&format!("/api/v1/log/consistency?from={}&to={}", from.0, to.0), None).await;
        if from.0 > to.0 {
            said.expect(404);
            continue;
        }
        let said = said.expect(200).json();
        let [(from, from_root), (to, to_root)] = [from, to].map(|(size, root)| (*size, *root));
        assert_eq!((&said["from"], &said["to"]), (&json!(from.to_string()), &json!(to.to_string())));
        assert!(is_consistent((from, from_root), (to, to_root), &proof(&said)), "{from} {to}");
    }
    assert_eq!(stage.see(None, "/log/consistency?from=0").await["to"], now.size.to_string());
    let more = now.size + 1;
    let zero = "0".repeat(64);
    for (query, status, code) in [
        (String::new(), 400, "query"),
        ("?to=1".to_owned(), 400, "query"),
        ("?from=01".to_owned(), 400, "query"),
        ("?from=-1".to_owned(), 400, "query"),
        ("?from=1&to=x".to_owned(), 400, "query"),
        ("?from=1&root=ab".to_owned(), 400, "query"),
        ("?from=1&size=2".to_owned(), 400, "query"),
        ("?from=3&to=2".to_owned(), 404, "not_found"),
        (format!("?from=1&to={more}"), 404, "not_found"),
        (format!("?from={more}"), 404, "not_found"),
        (format!("?from=1&to={more}&root={zero}"), 404, "not_found"),
        (format!("?from=1&to=2&root={zero}"), 404, "not_found"),
        ("?from=1&to=999999999999999999".to_owned(), 404, "not_found"),
    ] {
        let said = stage.bench.get(&format!("/api/v1/log/consistency{query}"), None).await.expect(status);
        assert_eq!(said.code(), code, "{query}");
    }
    for seq in ["0", "01", "x", "999999999999999999", &more.to_string()] {
        let said =
            stage.bench.get(&format!("/api/v1/log/receipts/{seq}"), stage.key("fay")).await.expect(404);
        assert_eq!(said.code(), "not_found", "{seq}");
    }
}

#[tokio::test]
async fn who_did_something_has_a_receipt_and_nobody_else() {
    let stage = Stage::new().await;
    let done = drawn(&stage).await;
    let (said, checkpoint) = receipt(&stage, "fay", &done).await;
    assert_eq!(said["opening"]["event"]["event"], "claim_funded", "{said}");
    assert_eq!((&said["opening"]["event"]["agent"], &said["by"]), (&json!("fay"), &Value::Null));
    assert_eq!((checkpoint.size, checkpoint.root), (latest(&stage).await.size, latest(&stage).await.root));
    let path = done["receipt"].as_str().unwrap();
    let seq: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
    for (key, status) in
        [(None, 404), (stage.key("sue"), 404), (stage.key("admin"), 200), (stage.key("fay"), 200)]
    {
        stage.bench.get(path, key).await.expect(status);
    }
    // The commitment of the draw came of it, and is shown among the draws.
    let mut names = Vec::new();
    for seq in seq..=checkpoint.size {
        let said = stage.bench.get(&format!("/api/v1/log/receipts/{seq}"), stage.key("fay")).await;
        match said.status.as_u16() {
            200 => names.push(said.json()["opening"]["event"]["event"].as_str().unwrap().to_owned()),
            _ => assert!(said.expect(404).text.contains("among the draws of its claim")),
        }
    }
    assert_eq!(names, ["claim_funded", "job_opened"]);
    // It shows that event and no other, and holds by that key and no other.
    let key = latest(&stage).await.key;
    for (pointer, value) in [
        ("/opening/event/amount", json!("9")),
        ("/opening/nonce", json!(Digest::of(b"other"))),
        ("/opening", json!({})),
        ("/event/sealed", json!(Digest::of(b"other"))),
        ("/at", json!("1800000000")),
        ("/by", json!("fay")),
        ("/genesis", json!(Digest::of(b"other"))),
    ] {
        let mut changed = said.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(Receipt::read(&changed).is_err(), "{pointer}");
    }
    assert!(Receipt::read(&said).unwrap().signed(Digest::of(b"other")).is_err());
    assert!(Receipt::read(&said).unwrap().signed(key).is_ok());
    // Sent again under its key, it is answered with the same receipt.
    let once = [("idempotency-key", "one")];
    let body = json!({ "amount": "1" });
    let mut paths = Vec::new();
    for _ in 0..2 {
        let said = stage
            .bench
            .send_json("POST", "/api/v1/claims/c1/positions", stage.key("amy"), &once, &body)
            .await;
        paths.push(said.json()["receipt"].clone());
    }
    assert_eq!(paths[0], paths[1]);
}

/// How much there is shows to whoever has receipts, one of another claim no less: never what it is, or whose.
async fn how_much_there_is_shows(stage: &Stage, quiet: &Value) {
    let about = "/log/checkpoint";
    let seq_of = |done: &Value| -> u64 {
        done["receipt"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap()
    };
    let body = json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    let mut seqs: Vec<u64> = Vec::new();
    for in_between in [None, Some(stage.volunteers().await.remove(0)), None] {
        if let Some(other) = in_between {
            stage.commit(&other, Sealed::Challenge, "11.0").await.expect(200);
        }
        let done = stage.post("fay", "/claims/c2/fund", json!({ "amount": "1" })).await.expect(200).json();
        let (said, own) = receipt(stage, "fay", &done).await;
        assert_eq!((own.size, &said["opening"]["event"]["claim"]), (seq_of(&done), &json!("c2")));
        for seq in seqs.last().map_or(own.size, |last| last + 1)..own.size {
            let path = format!("/api/v1/log/receipts/{seq}");
            stage.bench.get(&path, stage.key("fay")).await.expect(404);
        }
        seqs.push(own.size);
    }
    assert_eq!([seqs[1] - seqs[0], seqs[2] - seqs[1]], [2, 1]);
    assert_eq!(stage.see(None, about).await, *quiet);
    // A draw that everybody may see is signed at once: everybody is shown a size that counts what is sealed.
    stage.post("fay", "/claims/c2/fund", json!({ "amount": "3497" })).await.expect(200);
    let drawn = stage.see(None, about).await;
    assert!(
        checked(&drawn).size > seqs[2] && stage.see(None, "/claims/c2/draws").await["committed"].is_object()
    );
}

/// While anything is sealed, everybody is shown what they were shown before, and whoever did it can still prove it.
#[tokio::test]
async fn what_is_sealed_does_not_show_in_the_log() {
    let mut stage = Stage::new().await;
    let runner = stage.run("10.0").await;
    let about = "/log/checkpoint";
    let quiet = stage.see(None, about).await;
    let size = checked(&quiet).size;
    let challenger = stage.volunteers().await.remove(0);
    let done = stage.commit(&challenger, Sealed::Challenge, "11.0").await.expect(200).json();
    let (said, own) = receipt(&stage, &challenger, &done).await;
    assert_eq!(said["opening"]["event"]["event"], "challenge_committed");
    assert!(own.size > size, "{} {size}", own.size);
    for name in [None, Some("sue"), Some(runner.as_str()), Some(challenger.as_str()), Some("admin")] {
        assert_eq!(stage.see(name, about).await, quiet, "{name:?}");
        let key = name.and_then(|name| stage.key(name));
        for to in size + 1..=own.size + 1 {
            let path = format!("/api/v1/log/consistency?from={size}&to={to}");
            stage.bench.get(&path, key).await.expect(404);
        }
    }
    // Whoever has its root is proven that it is there.
    let path = format!("/log/consistency?from={size}&to={}&root={}", own.size, own.root);
    let proven = proof(&stage.see(None, &path).await);
    assert!(is_consistent((size, checked(&quiet).root), (own.size, own.root), &proven));
    // Nobody has the receipt of another, or of what a draw in secret came to.
    let jon = stage.bench.get("/api/v1/claims/c1", stage.key("jon")).await.json();
    assert!(jon["audit"].is_null());
    for seq in 1..=own.size + 1 {
        let path = format!("/api/v1/log/receipts/{seq}");
        stage.bench.get(&path, None).await.expect(404);
        let said = stage.bench.get(&path, stage.key("jon")).await;
        if said.status == 200 {
            assert_ne!(said.json()["opening"]["event"]["event"], "coin_tossed");
        }
    }
    let toss = (1..=own.size).rev();
    let mut tossed = 0;
    for seq in toss {
        let said = stage.bench.get(&format!("/api/v1/log/receipts/{seq}"), Some(ADMIN)).await;
        let is_toss = said.status == 200 && said.json()["opening"]["event"]["event"] == "coin_tossed";
        if is_toss {
            tossed += 1;
            for name in NAMES {
                let path = format!("/api/v1/log/receipts/{seq}");
                stage.bench.get(&path, stage.key(name)).await.expect(404);
            }
        }
    }
    assert_eq!(tossed, 1);
    stage.bench.restart();
    assert_eq!(stage.see(None, about).await, quiet);
    how_much_there_is_shows(&stage, &quiet).await;
    // The window is over: who challenged is told, and so is the log.
    stage.wait(30 * HOUR).await;
    let open = latest(&stage).await;
    assert!(open.size > own.size);
    let path = format!("/log/consistency?from={}&to={}", own.size, open.size);
    assert!(is_consistent(
        (own.size, own.root),
        (open.size, open.root),
        &proof(&stage.see(None, &path).await)
    ));
}

/// An auditor that is drawn again is committed in secret, and signed all the same.
#[tokio::test]
async fn a_draw_in_secret_has_no_log_for_anybody() {
    let mut stage = Stage::new().await;
    stage.run("10.0").await;
    let auditor = |seen: &Value| seen["audit"]["auditor"].as_str().map(str::to_owned);
    let first = auditor(&stage.see(Some("admin"), "/claims/c1").await).expect("a first run is audited");
    let quiet = (stage.see(None, "/log/checkpoint").await, stage.see(None, "/claims/c1/draws").await);
    let declined = json!({ "reason": "ill" });
    let done = stage.post(&first, "/assignments/c1-auditor/decline", declined).await.expect(200).json();
    stage.wait(1).await;
    let draws = stage.see(Some("admin"), "/claims/c1/draws").await;
    assert_eq!((&draws["committed"]["purpose"], &draws["committed"]["log"]), (&json!("audit"), &Value::Null));
    assert_eq!((stage.see(None, "/log/checkpoint").await, stage.see(None, "/claims/c1/draws").await), quiet);
    let (said, checkpoint) = receipt(&stage, &first, &done).await;
    assert_eq!(said["opening"]["event"]["event"], "audit_vacated");
    assert!(checkpoint.size > checked(&quiet.0).size);
}

#[tokio::test]
async fn before_anything_there_is_a_key_and_nothing_signed() {
    let bench = Bench::with("2027-01-15T08:00:00Z", config());
    let about = bench.get("/api/v1/log/checkpoint", None).await.expect(200).json();
    assert_eq!(
        (&about["size"], &about["checkpoint"], &about["signed_at"]),
        (&json!("0"), &Value::Null, &Value::Null)
    );
    let key = about["public_key"].clone();
    bench.restart();
    assert_eq!(bench.get("/api/v1/log/checkpoint", None).await.expect(200).json()["public_key"], key);
    let said = bench.get("/api/v1/log/consistency?from=0", None).await.expect(200).json();
    assert_eq!((&said["to"], &said["proof"]), (&json!("0"), &json!([])));
    let mode = std::fs::metadata(bench.folder().join("keys/log")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

/// The journal names the key: with another one, or none, there is no server.
#[tokio::test]
async fn a_key_that_is_lost_or_changed_is_refused() {
    let stage = Stage::new().await;
    let place = stage.bench.folder().join("keys/log");
    let kept = std::fs::read(&place).unwrap();
    drop(stage.bench.take());
    let open = || stage.bench.restart_with(config()).map_err(|why| why.to_string());
    std::fs::remove_file(&place).unwrap();
    let lost = open().unwrap_err();
    assert!(lost.contains("keys/log is gone") && lost.contains("put the file back"), "{lost}");
    assert!(!place.exists(), "none is made instead");
    std::fs::write(&place, format!("{}\n", Digest::of(b"another"))).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o600)).unwrap();
    let changed = open().unwrap_err();
    assert!(changed.contains("is the key") && changed.contains("put it back"), "{changed}");
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(open().unwrap_err().contains("has mode 640"));
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&place, kept).unwrap();
    open().unwrap();
}
