use serde_json::json;

use super::*;

const ODD_NAMES: [&str; 6] = ["", "a\"b", "a\\b", "żółw", "\u{7f}", "\n"];

fn receipt(files: usize) -> Receipt {
    let file = |n: usize| {
        let path = ODD_NAMES.get(n).map_or_else(|| format!("matches/m{n:05}.json"), ToString::to_string);
        let bytes = if n.is_multiple_of(2) { n as u64 } else { u64::MAX - n as u64 };
        json!({ "path": path, "sha256": Digest::of(&n.to_be_bytes()), "bytes": bytes })
    };
    let digest = Digest::of(b"a digest");
    let value = json!({
        "schema": RECEIPT_SCHEMA, "slug": "żółw", "run_id": "id", "terminal": "stalled", "reason": "\"why\"\n",
        "matchup": "m00007", "frozen_sha256": digest,
        "protocol": {
            "engine_version": "1", "host_retries": 2, "identity": { "hidden": true }, "limits_version": 1,
            "move_validation": "clamp", "protocol_version": "1", "score_version": "v", "scoring": "payoff_sum",
            "wasmtime": "48",
        },
        "strategies": [{ "index": 0, "name": "n", "sha256": digest, "version": "1", "world": "w" }],
        "versions": { "arena": "0.1.0", "engine": "1", "score": "s", "limits": 1, "wasmtime": "48" },
        "started_at": "t", "finished_at": "u",
        "matchups": { "planned": 9, "completed": 6, "remaining": ["m00007", "m00008", "m00009"] },
        "budget": { "limit": { "fuel": 5 }, "used": { "fuel": 1, "matchups": 2, "turns": 3 }, "wall_seconds": 4 },
        "scorecard": { "path": SCORECARD, "sha256": digest },
        "identities": { "hidden": true, "verified": false, "mismatches": ["m"], "seating": "s" },
        "files": (0..files).map(file).collect::<Vec<_>>(), "journal_head": digest, "record_digest": digest,
    });
    serde_json::from_value(value).expect("a receipt")
}

/// What is hashed is the receipt as it is written, canonical, without the members that two runs of the same
/// tournament differ in: whatever else a receipt has.
#[test]
fn the_digest_is_that_of_the_receipt_without_its_times() {
    for files in [0, 1, 300] {
        let receipt = receipt(files);
        let mut value = serde_json::to_value(&receipt).expect("a document");
        let members = value.as_object_mut().expect("an object");
        for member in ["run_id", "started_at", "finished_at", "record_digest"] {
            assert!(members.remove(member).is_some(), "{member}");
        }
        let budget = members.get_mut("budget").and_then(serde_json::Value::as_object_mut).expect("an object");
        assert!(budget.remove("wall_seconds").is_some());
        assert_eq!(receipt.own_digest(), Digest::of(&json::canonical(&value)), "{files} files");
    }
}
