//! What claims pin, brought to the server; and a listing that is only tried.

use arena_canon::Digest;
use arena_canon::json::Value;
use axum::body::Body;
use serde_json::json;

use crate::claims_stage::{HOUR, Stage};
use crate::support::{Said, request};

const COMPONENT: &[u8] = b"\0asm a component";
const INPUT: &[u8] = b"an input";

async fn put(stage: &Stage, name: Option<&str>, sha256: Digest, bytes: &[u8]) -> Said {
    let key = name.and_then(|name| stage.key(name));
    let put = request("PUT", &format!("/api/v1/claims/blobs/{sha256}"), key);
    let put = put.header("content-type", "application/octet-stream");
    stage.bench.send(put.body(Body::from(bytes.to_vec())).unwrap()).await
}

async fn get(stage: &Stage, sha256: Digest) -> Said {
    stage.bench.get(&format!("/api/v1/claims/blobs/{sha256}"), None).await
}

/// A manifest with a component and an input.
async fn manifest(stage: &Stage) -> Value {
    let mut manifest = stage.manifest().await;
    manifest["program"]["component"] = json!(Digest::of(COMPONENT));
    manifest["inputs"] =
        json!([{ "name": "in.txt", "sha256": Digest::of(INPUT), "bytes": INPUT.len().to_string() }]);
    manifest
}

async fn listed() -> Stage {
    let stage = Stage::new().await;
    let body = json!({ "manifest": manifest(&stage).await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    stage
}

#[tokio::test]
async fn what_a_claim_pins_is_brought_once_and_read_by_everybody() {
    let stage = listed().await;
    let (component, input) = (Digest::of(COMPONENT), Digest::of(INPUT));
    assert_eq!(get(&stage, component).await.expect(404).code(), "unknown_reference");
    assert_eq!(put(&stage, None, component, COMPONENT).await.expect(401).code(), "unauthorized");
    put(&stage, Some("sue"), component, COMPONENT).await.expect(201);
    put(&stage, Some("ben"), component, COMPONENT).await.expect(200);
    let shelf = stage.see(None, "/claims/c1/blobs").await;
    let kept: Vec<bool> =
        shelf["items"].as_array().unwrap().iter().map(|item| item["kept"] == json!(true)).collect();
    assert_eq!((kept.len(), kept.iter().filter(|kept| **kept).count()), (2, 1), "{shelf}");
    put(&stage, Some("sue"), input, INPUT).await.expect(201);
    stage.bench.restart();
    for (sha256, bytes) in [(component, COMPONENT), (input, INPUT)] {
        let said = get(&stage, sha256).await.expect(200);
        assert_eq!(said.text.as_bytes(), bytes);
        assert_eq!(said.header("content-disposition"), "attachment");
    }
}

#[tokio::test]
async fn nothing_else_is_taken_and_no_other_blob_is_opened_by_its_digest() {
    let stage = listed().await;
    let other = Digest::of(b"somebody's own");
    assert_eq!(put(&stage, Some("sue"), other, b"somebody's own").await.expect(404).code(), "not_pinned");
    let input = Digest::of(INPUT);
    assert_eq!(put(&stage, Some("sue"), input, b"another").await.expect(422).code(), "digest_differs");
    assert_eq!(get(&stage, input).await.expect(404).code(), "unknown_reference");
    let huge = vec![0; (32 << 20) + 1];
    assert_eq!(put(&stage, Some("sue"), input, &huge).await.expect(413).code(), "body_too_large");
    // A digest that is pinned opens nothing that was not brought here.
    assert_eq!(get(&stage, other).await.expect(404).code(), "unknown_reference");
}

#[tokio::test]
async fn nobody_finds_other_inputs_where_the_pinned_ones_are_kept() {
    for is_kept in [false, true] {
        let mut stage = listed().await;
        if is_kept {
            put(&stage, Some("sue"), Digest::of(INPUT), INPUT).await.expect(201);
        }
        stage.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200);
        stage.resolve().await;
        let runner = stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
        stage.bare(&runner, "/assignments/c1-runner/accept").await.expect(200);
        let found = |bytes: &[u8]| {
            json!({ "claim": "c1", "inputs": [{ "name": "in.txt", "sha256": Digest::of(bytes),
                "bytes": bytes.len().to_string() }] })
        };
        let said = stage.post(&runner, "/runs", found(b"another")).await;
        if is_kept {
            assert_eq!(said.expect(409).code(), "inputs_are_kept");
            stage.post(&runner, "/runs", found(INPUT)).await.expect(200);
        } else {
            assert_eq!(said.expect(200).json()["outcome"], "input_mismatch");
        }
        stage.wait(HOUR).await;
    }
}

#[tokio::test]
async fn a_listing_is_tried_without_being_one() {
    let stage = Stage::new().await;
    let manifest = manifest(&stage).await;
    let mut faulty = manifest.clone();
    faulty["metrics"] = json!([]);
    faulty["title"] = json!(7);
    let tried = "/claims?dry_run=true";
    let refused = stage.post("sue", tried, json!({ "manifest": faulty, "deposit": "500" })).await.expect(422);
    let errors = refused.json()["errors"].as_array().unwrap().len();
    assert!(errors >= 2, "{}", refused.text);
    let body = json!({ "manifest": manifest, "deposit": "500" });
    let before = stage.feed().await;
    let told = stage.post("sue", tried, body.clone()).await.expect(200).json();
    assert_eq!(
        (&told["dry_run"], &told["claim"], &told["status"]),
        (&json!(true), &json!("c1"), &json!("funding"))
    );
    assert_eq!(stage.feed().await, before);
    assert_eq!(stage.see(None, "/claims").await["items"], json!([]));
    assert_eq!(stage.post("sue", "/claims?dry_run=yes", body.clone()).await.expect(400).code(), "query");
    stage.post("sue", "/claims", body).await.expect(201);
}

/// A download holds its bytes until the last is sent: so many at once, and whoever does not read keeps others waiting,
/// not the memory growing.
#[tokio::test]
async fn downloads_at_once_are_bounded() {
    let stage = listed().await;
    let component = Digest::of(COMPONENT);
    put(&stage, Some("sue"), component, COMPONENT).await.expect(201);
    let path = format!("/api/v1/claims/blobs/{component}");
    let ask = || request("GET", &path, None).body(Body::empty()).unwrap();
    let mut unread = Vec::new();
    for _ in 0..32 {
        let answer = stage.bench.head(ask()).await;
        assert_eq!(answer.status(), 200);
        unread.push(answer);
    }
    let busy = get(&stage, component).await.expect(503);
    assert_eq!((busy.code().as_str(), busy.header("retry-after")), ("overloaded", "5"));
    unread.pop();
    assert_eq!(get(&stage, component).await.expect(200).text.as_bytes(), COMPONENT);
    drop(unread);
    get(&stage, component).await.expect(200);
}
