use serde_json::{Value, json};

use super::*;

pub(crate) fn pack(name: &str) -> Value {
    json!({ "pack_id": name, "pack_version": "\"1\"", "sha256": Digest::of(name.as_bytes()) })
}

/// Two packs, three strategies, one repetition after the other; the title holds what the list of matchups
/// looks like while it is empty.
pub(crate) fn frozen() -> Frozen {
    let strategy = |index: u32| {
        json!({ "index": index, "name": format!("żółw {index}"), "sha256": Digest::of(b""), "version": "1",
            "world": "w" })
    };
    let mut matchups = Vec::new();
    for seats in [["p0000", "p0001"], ["p0000", "p0002"], ["p0001", "p0002"]] {
        for (scenario, repetition) in [(pack("a"), 1), (pack("a"), 2), (pack("b"), 1)] {
            let id = MatchId(matchups.len() as u32 + 1);
            matchups
                .push(json!({ "id": id, "repetition": repetition, "scenario": scenario, "seats": seats }));
        }
    }
    let value = json!({
        "budget": { "matchups": 5 }, "game": "campus", "matchups": matchups,
        "protocol": {
            "engine_version": "1", "host_retries": 2, "identity": { "hidden": true }, "limits_version": 1,
            "move_validation": "clamp", "protocol_version": "1", "score_version": "v",
            "scoring": "stars_then_pareto", "wasmtime": "48",
        },
        "schema": "tournament.frozen.v1", "seating": { "subject": Digest::of(b"") },
        "secret_commit": Digest::of(b""), "slug": "\"matchups\":[]",
        "strategies": [strategy(0), strategy(1), strategy(2)], "title": "\"matchups\":[] \\ żółw",
    });
    serde_json::from_value(value).expect("a frozen tournament")
}

#[test]
fn a_frozen_file_is_canonical_json() {
    let frozen = frozen();
    for matchups in [vec![], frozen.matchups[..1].to_vec(), frozen.matchups.clone()] {
        let frozen = Frozen { matchups, ..frozen.clone() };
        let value = serde_json::to_value(&frozen).expect("a document");
        assert_eq!(frozen.to_bytes(), arena_canon::json::canonical(&value));
    }
}
