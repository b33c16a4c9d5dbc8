//! Seating by a round of drand's quicknet.

use arena_tournament::{Plan, freeze};

use super::natives;

const ROUND_1000: &str =
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";

fn plan(seating: &str) -> Plan {
    natives::plan("matrix", &["cooperator", "defector", "copycat", "lucky", "talker"], seating)
}

#[test]
fn a_beacon_changes_the_seating_and_must_hold() {
    let components: Vec<_> = plan("")
        .strategies
        .iter()
        .map(|planned| arena_tournament::Component {
            sha256: natives::sha256(&planned.component),
            world: "native".to_owned(),
        })
        .collect();
    let frozen =
        |seating: &str| freeze(&plan(seating), &components, &[], &natives::secret(), &natives::pins());
    let (alone, by_secret) = frozen("").expect("frozen");
    let held = format!("[seating]\nround = 1000\nsignature = \"{ROUND_1000}\"");
    let (with_beacon, by_beacon) = frozen(&held).expect("frozen");
    assert_ne!(by_secret, by_beacon);
    assert_eq!(alone.seating.subject, with_beacon.seating.subject);
    for wrong in [
        held.replace("1000", "1001"),
        held.replace("b446", "B446"),
        held.replace("b446", "b447"),
        held.replace("5e39", "5e3"),
    ] {
        let why = frozen(&wrong).expect_err("refused").to_string();
        assert!(why.starts_with("the seating's beacon does not hold"), "{why}");
    }
}

#[test]
fn a_run_that_was_seated_by_a_beacon_verifies_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(&format!("[seating]\nround = 1000\nsignature = \"{ROUND_1000}\""));
    natives::play(folder.path(), &plan, &mut natives::in_process()).expect("played");
    assert!(arena_tournament::verify(folder.path(), &natives::pins()).expect("read").is_ok());
    let receipt = natives::json(folder.path(), "receipt.json");
    assert_eq!(receipt["identities"]["seating"], "drand quicknet round 1000 and the secret");
}
