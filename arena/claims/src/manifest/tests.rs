use arena_canon::json::{self, Value};
use serde_json::json;

use super::Manifest;
use crate::record::{Place, Record, Role, assemble};

/// A manifest with one of everything.
pub(crate) fn sample() -> Value {
    let digest = "ab".repeat(32);
    json!({
        "v": "arena-manifest/v1", "title": "Alice's rating", "submitter": "sue",
        "program": { "kind": "experiment", "component": digest },
        "inputs": [{ "name": "games.csv", "sha256": digest, "bytes": 1234 }],
        "arguments": { "k": "32" },
        "metrics": [
            { "name": "elo.alice", "kind": "decimal", "scale": 4, "claim": "1532.2500",
              "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } },
            { "name": "games", "kind": "int", "claim": "640" }
        ],
        "limits": { "fuel": "10000000000", "memory_bytes": 1_048_576, "output_bytes": 0, "wall_seconds": 60 },
        "engine": { "wasmtime": "48.0.8", "config_sha256": digest },
        "capabilities": ["wasm"], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
        "determinism": "exact", "protocol_params_sha256": digest,
    })
}

pub(crate) fn results() -> Value {
    json!({
        "metrics": [
            { "name": "elo.alice", "kind": "decimal", "value": "1532.0000" },
            { "name": "games", "kind": "int", "value": "640" }
        ],
        "fuel": "123456789012345678", "log_sha256": "cd".repeat(32),
        "outputs": [{ "name": "table.csv", "sha256": "ef".repeat(32), "bytes": 10 }],
    })
}

pub(crate) fn record(manifest: &Manifest, role: Role, results: &Value) -> Record {
    let job = arena_canon::Digest::of(b"job");
    let place = Place { claim: "c1", job, role, agent: "rex", operator: "op-rex", manifest };
    assemble(&place, results).expect("a record")
}

#[test]
fn the_digest_does_not_depend_on_spelling() {
    let manifest = Manifest::read(sample()).expect("no faults");
    let pretty = serde_json::to_vec_pretty(&sample()).expect("written");
    assert_eq!(Manifest::parse(&pretty).expect("no faults").digest, manifest.digest);
    assert_eq!(Manifest::parse(&json::canonical(&sample())).expect("no faults"), manifest);
    assert!(Manifest::parse(br#"{"v":"arena-manifest/v1","v":"arena-manifest/v1"}"#).is_err());
}

/// Whatever member is missing, of another kind or too large, it is named by its pointer.
#[test]
fn every_fault_is_named_at_once() {
    let mut wrong = sample();
    let edits = [
        ("/v", json!("arena-manifest/v2")),
        ("/title", json!("")),
        ("/program/kind", json!("shell")),
        ("/inputs/0/name", json!("../passwd")),
        ("/inputs/0/bytes", json!(1u64 << 40)),
        ("/arguments/k", json!(32)),
        ("/limits/fuel", json!("0")),
        ("/limits/memory_bytes", json!(1u64 << 50)),
        ("/engine/config_sha256", json!("AB")),
        ("/capabilities/0", json!("a\nb")),
        ("/protocol_params_sha256", json!(null)),
        ("/metrics/0/claim", json!("1532.25000")),
    ];
    for (pointer, value) in &edits {
        *wrong.pointer_mut(pointer).expect("it is there") = value.clone();
    }
    let text = Manifest::read(wrong).expect_err("faults").to_string();
    for (pointer, _) in &edits {
        assert!(text.contains(&format!("{pointer}: ")), "{pointer} is not named in:\n{text}");
    }
    for member in sample().as_object().expect("an object").keys() {
        let mut missing = sample();
        missing.as_object_mut().expect("an object").remove(member);
        let optional = ["extra", "nonfinite", "determinism", "wide_tolerance"].contains(&member.as_str());
        assert_eq!(Manifest::read(missing).is_ok(), optional, "without {member}");
        let mut other = sample();
        other[member] = json!([[]]);
        assert!(Manifest::read(other).is_err(), "{member} of another kind");
    }
    let mut more = sample();
    more["note"] = json!("x");
    assert!(Manifest::read(more).is_err());
}

/// No fault hides another: any two are both told.
#[test]
fn any_two_faults_are_both_named() {
    let mut sound = sample();
    sound["metrics"][0]["rerun_tol"] = json!({ "mode": "tol", "abs": "0", "rel": "0" });
    sound["determinism"] = json!("tolerant");
    assert!(Manifest::read(sound.clone()).is_ok());
    let faults = [
        ("/metrics/0/name", json!("Elo"), "/metrics/0/name"),
        ("/metrics/1/name", json!("elo.alice"), "/metrics/1/name"),
        ("/metrics/1/claim", json!("many"), "/metrics/1/claim"),
        ("/metrics/1/note", json!("x"), "/metrics/1/note"),
        ("/metrics/0/claim_tol/dir", json!("up"), "/metrics/0/claim_tol/dir"),
        ("/metrics/0/claim_tol/abs", json!("900"), "/metrics/0/claim_tol/abs"),
        ("/metrics/0/claim_tol/rel", json!("0.5"), "/metrics/0/claim_tol/rel"),
        ("/metrics/0/rerun_tol/abs", json!("-1"), "/metrics/0/rerun_tol/abs"),
        ("/metrics/0/rerun_tol/rel", json!("x"), "/metrics/0/rerun_tol/rel"),
        ("/determinism", json!("exact"), "/metrics/0/rerun_tol/mode"),
        ("/nonfinite", json!("perhaps"), "/nonfinite"),
        ("/limits/fuel", json!("0"), "/limits/fuel"),
        ("/limits/wall_seconds", json!("-1"), "/limits/wall_seconds"),
        ("/inputs/0/sha256", json!("AB"), "/inputs/0/sha256"),
        ("/inputs/0/bytes", json!("x"), "/inputs/0/bytes"),
        ("/program/component", json!("AB"), "/program/component"),
        ("/program/note", json!("x"), "/program/note"),
        ("/engine/wasmtime", json!(""), "/engine/wasmtime"),
    ];
    let put = |manifest: &mut Value, pointer: &str, value: &Value| {
        let (place, member) = pointer.rsplit_once('/').expect("a pointer");
        manifest.pointer_mut(place).expect("it is there")[member] = value.clone();
    };
    for (i, (pointer, value, at)) in faults.iter().enumerate() {
        for (other_pointer, other_value, other_at) in &faults[i + 1..] {
            let mut wrong = sound.clone();
            put(&mut wrong, pointer, value);
            put(&mut wrong, other_pointer, other_value);
            // With its first name, the metric no longer stands twice.
            if (*pointer, *other_pointer) == ("/metrics/0/name", "/metrics/1/name") {
                continue;
            }
            let told = Manifest::read(wrong).expect_err(pointer).to_string();
            for at in [at, other_at] {
                assert!(told.lines().any(|line| line.starts_with(&format!("{at}: "))), "{at} of:\n{told}");
            }
        }
    }
}

#[test]
fn counts_are_bounded() {
    let metric = sample()["metrics"][0].clone();
    let with = |count: usize| {
        let mut manifest = sample();
        let metrics = (0..count).map(|i| {
            let mut metric = metric.clone();
            metric["name"] = json!(format!("m{i}"));
            metric
        });
        manifest["metrics"] = metrics.collect();
        manifest
    };
    assert!(Manifest::read(with(256)).is_ok());
    assert!(Manifest::read(with(257)).is_err());
    assert!(Manifest::read(with(0)).is_err());
    // A million faults are no reason for a million lines.
    let mut faulty = sample();
    faulty["metrics"] = (0..256).map(|_| json!({ "a": 1, "b": 2, "c": 3 })).collect();
    let faults = Manifest::read(faulty).expect_err("faults");
    assert!(faults.0.len() <= 201, "{}", faults.0.len());
}

#[test]
fn a_record_is_published_only_as_it_is_computed() {
    let manifest = Manifest::read(sample()).expect("no faults");
    let whole = record(&manifest, Role::Runner, &results());
    assert_eq!(whole.check(&manifest), Ok(()));
    assert_eq!(Record::parse(&json::canonical(whole.value())).expect("reads back"), whole);
    for (pointer, value, place) in [
        ("/outcome", json!("not_reproduced"), "/outcome: the values come to reproduced"),
        ("/metrics/0/value", json!("1400.0000"), "/comparisons: are not what the values come to"),
        ("/metrics/0/value", json!("1532.0"), "/metrics/0/value: must be a decimal string with 4 digits"),
        ("/metrics/1/kind", json!("text"), "/metrics/1/kind: the manifest says int"),
        ("/engine/wasmtime", json!("47.0.0"), "/engine: is not the engine"),
        ("/inputs/0/bytes", json!(1), "/inputs: must be the manifest's inputs"),
        ("/manifest_sha256", json!("00".repeat(32)), "/manifest_sha256: the claim's manifest is"),
    ] {
        let mut wrong = whole.value().clone();
        *wrong.pointer_mut(pointer).expect("it is there") = value;
        let record = Record::read(wrong).expect("a record all the same");
        let text = record.check(&manifest).expect_err("faults").to_string();
        assert!(text.contains(place), "{place} is not in:\n{text}");
    }
    let mut twice = results();
    let metric = twice["metrics"][0].clone();
    twice["metrics"].as_array_mut().expect("an array").push(metric);
    let job = arena_canon::Digest::of(b"job");
    let place =
        Place { claim: "c1", job, role: Role::Runner, agent: "rex", operator: "op-rex", manifest: &manifest };
    let text = assemble(&place, &twice).expect_err("faults").to_string();
    assert!(text.contains("/metrics/2/name: the metric `elo.alice` stands twice"), "{text}");
}

/// Beyond the caps nothing is listed that does not say so; records are compared under it all the same.
#[test]
fn tolerances_are_capped_at_listing() {
    let with = |at: &str, tolerance: Value, wide: bool| {
        let mut manifest = sample();
        manifest["metrics"][0][at] = tolerance;
        manifest["wide_tolerance"] = json!(wide);
        manifest["determinism"] = json!("tolerant");
        manifest
    };
    for at in ["claim_tol", "rerun_tol"] {
        let tolerance = |abs: &str, rel: &str| {
            let mut tolerance = json!({ "abs": abs, "rel": rel });
            if at == "rerun_tol" {
                tolerance["mode"] = json!("tol");
            }
            tolerance
        };
        assert!(Manifest::read(with(at, tolerance("153.225", "0.10"), false)).is_ok(), "{at}");
        for (abs, rel, want) in [
            ("153.2251", "0", format!("/metrics/0/{at}/abs: 153.2251 is above 153.225,")),
            ("0", "0.1000001", format!("/metrics/0/{at}/rel: 0.1000001 is above 0.10")),
        ] {
            let manifest = with(at, tolerance(abs, rel), false);
            let refused = Manifest::read(manifest.clone()).expect_err("beyond the caps").to_string();
            assert!(refused.starts_with(&want), "{refused}");
            assert!(Manifest::rules_of(&manifest).is_ok(), "{at} {abs} {rel}");
            assert!(Manifest::read(with(at, tolerance(abs, rel), true)).is_ok(), "{at} {abs} {rel}");
        }
    }
}

#[test]
fn a_record_with_a_forbidden_token_says_why_it_is_not_reproduced() {
    let manifest = Manifest::read(sample()).expect("no faults");
    let mut found = results();
    assert_eq!(record(&manifest, Role::Runner, &found).reason, "");
    found["metrics"][0]["value"] = json!("NaN");
    found["metrics"][1]["value"] = json!("641");
    for role in [Role::Runner, Role::Challenger, Role::Reference] {
        let record = record(&manifest, role, &found);
        assert_eq!((record.results.outcome.name(), record.reason.as_str()), ("not_reproduced", "nonfinite"));
    }
}

/// Every record repeats the claimed values, so that all together have a bound as well.
#[test]
fn claimed_values_are_bounded_together() {
    let with = |bytes: usize| {
        let mut manifest = sample();
        let text = |name: &str, bytes: usize| {
            json!({ "name": name, "kind": "text", "claim": "x".repeat(bytes), "rerun_tol": { "mode": "exact" },
                "claim_tol": { "abs": "0", "rel": "0", "dir": "two_sided" } })
        };
        let whole = (0..bytes / 4_096).map(|i| text(&format!("t{i}"), 4_096));
        let rest = text("rest", bytes % 4_096);
        manifest["metrics"] = whole.chain([rest]).collect();
        Manifest::read(manifest).err().map(|faults| faults.to_string())
    };
    assert_eq!(with((32 << 10) - 1), None);
    let told = with((32 << 10) + 1).expect("refused");
    assert!(told.contains("/metrics: the claimed values have 32769 bytes together"), "{told}");
}
