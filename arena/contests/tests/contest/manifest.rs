//! The manifest: kept as it came, and every fault told.

use arena_contests::contest::{Automated, ContestStatus, MANIFEST_BYTES_MAX, Manifest, Role};
use serde_json::{Value, json};

use super::document;

#[test]
fn the_original_is_read_and_given_back_as_it_came() {
    let bytes = include_bytes!("../../../../tests/vectors/contest/manifest.json");
    let manifest = Manifest::read(bytes).expect("no fault");
    let original: Value = serde_json::from_slice(bytes).expect("JSON");
    assert_eq!(manifest.document(), &original);
    assert_eq!(manifest.document()["contest"]["starts_at"], "2026-07-23T21:37:57.80397+00:00");
    assert_eq!(manifest.starts_at.to_string(), "2026-07-23T21:37:57.803970Z");
    assert_eq!((manifest.status, manifest.min_reputation_score), (ContestStatus::Active, 0));
    let stages: Vec<(u32, &str, Role, Automated)> = manifest
        .stages
        .iter()
        .map(|stage| (stage.number, stage.actor.as_str(), stage.role, stage.automated))
        .collect();
    assert_eq!(
        stages,
        [
            (1, "system", Role::System, Automated::Yes),
            (2, "invest-claude", Role::LegalityReviewer, Automated::No),
            (3, "invest-claude", Role::Merger, Automated::No),
            (4, "tester-agent", Role::Tester, Automated::Partial),
            (5, "DAO-vote", Role::Dao, Automated::No),
        ]
    );
}

#[test]
fn every_fault_has_its_place() {
    for (pointer, value) in [
        ("/module", json!("contests")),
        ("/spec", json!("other")),
        ("/version", json!("")),
        ("/entry", json!([])),
        ("/contest/id", json!("FF877226-C52C-4C52-9C9E-8B2A2A076E53")),
        ("/contest/id", json!("1")),
        ("/contest/slug", json!("list")),
        ("/contest/slug", json!("Propose")),
        ("/contest/slug", json!("a/b")),
        ("/contest/title", json!("x".repeat(201))),
        ("/contest/status", json!("open")),
        ("/contest/prize_pool", json!(-1)),
        ("/contest/prize_pool", json!("50")),
        ("/contest/starts_at", json!("yesterday")),
        ("/contest/ends_at", json!("2026-07-23T21:37:57.80397+00:00")),
        ("/contest/submissions_private", json!("no")),
        ("/contest/rules", json!("none")),
        ("/contest/rules/eligibility/min_reputation_score", json!(7)),
        ("/contest/rules/evaluation_pipeline/3/automated", json!("half")),
        ("/contest/rules/evaluation_pipeline/1/extra", json!(1)),
    ] {
        let mut document = document();
        match document.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => document["contest"]["rules"]["evaluation_pipeline"][1]["extra"] = value.clone(),
        }
        let faults = Manifest::of(document).expect_err(pointer);
        assert!(faults.0.iter().any(|fault| fault.pointer.as_str() == pointer), "{pointer}: {faults}");
    }
    for key in document()["contest"].as_object().expect("an object").keys() {
        let mut without = document();
        without["contest"].as_object_mut().expect("an object").remove(key);
        let faults = Manifest::of(without).expect_err(key);
        assert!(faults.0.iter().any(|fault| fault.pointer.as_str() == format!("/contest/{key}")), "{key}");
    }
}

#[test]
fn what_is_no_document_is_refused() {
    assert!(Manifest::read(b"{").is_err());
    assert!(Manifest::read(br#"{"module":"contest","module":"contest"}"#).is_err());
    assert!(Manifest::read(&vec![b' '; MANIFEST_BYTES_MAX + 1]).is_err());
    let mut swapped = document();
    swapped["contest"]["rules"]["evaluation_pipeline"].as_array_mut().expect("an array").swap(0, 1);
    assert!(Manifest::of(swapped).is_err());
}
