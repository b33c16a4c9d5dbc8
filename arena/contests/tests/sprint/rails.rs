//! What the platform and the accounts refuse.

use arena_canon::Digest;
use arena_canon::json;
use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::example::{Stage, at, evaluator, of, operator, terms};
use arena_contests::sprint::record::ArtifactClass;
use arena_contests::sprint::round::{Actor, Command, Refusal, Stamped, Terms, wire};
use arena_ledger::Amount;

const W1: Window = Window::W1;

fn code(stage: &Stage, time: Moment, by: Actor, command: Command) -> Option<&'static str> {
    stage.round.decide(&Stamped { at: time, by, command }).err().map(|why| why.code())
}

/// Day 0 is over, and acme has submitted in W1.
fn submitted(terms: Terms) -> Stage {
    let mut stage = Stage::new(terms);
    stage.enter_all();
    assert!(stage.intend("acme", W1, ArtifactClass::External));
    let package = stage.publish("acme", W1, "Published a planner that three schools installed.", true);
    assert!(stage.submit("acme", package, 5));
    stage
}

#[test]
fn standings_are_kept_from_the_moment_the_day_is_over() {
    let stage = submitted(terms());
    let snapshot = Command::TakeSnapshot { after: W1 };
    let last = at(2, 0, 0).plus_ms(-1);
    assert_eq!(code(&stage, last, Actor::System, snapshot.clone()), Some("window_not_over"));
    assert_eq!(code(&stage, at(2, 0, 0), Actor::System, snapshot.clone()), None);
    for by in [of("acme"), evaluator(), operator()] {
        assert_eq!(code(&stage, at(2, 0, 0), by, snapshot.clone()), Some("wrong_actor"));
    }
}

#[test]
fn a_dispute_costs_what_the_hold_has() {
    let ground = "The numbers of the claim cannot be found in the artifact.".to_owned();
    let dispute = Command::FileDispute { company: "acme".to_owned(), window: W1, ground: ground.into() };
    let hold = terms().hold_cap.units();
    for (stake, expected) in [(hold, None), (hold + 1, Some("money"))] {
        let dispute_stake = Amount::new(stake).expect("an amount");
        let stage = submitted(Terms { dispute_stake, ..terms() });
        assert_eq!(code(&stage, at(1, 22, 10), of("bolt"), dispute.clone()), expected, "{stake}");
    }
}

/// Bytes that lie elsewhere are kept by what was found in them, and come to the same as bytes in the command.
#[test]
fn an_artifact_that_lies_elsewhere_is_the_same_artifact() {
    let stage = submitted(terms());
    // Put together here so that no scanner takes this file for one that leaks.
    let key = ["ak", "_", "q7Rt2Lm9", "Xw4Zc8Vb", "5Nk3Hd6P"].concat();
    let texts =
        ["a table of numbers", "write to jonas.jonaitis@imone.lt, internal only", "call +370 600 12345"];
    let blocked = [key.as_str(), "this has canary-bolt-5d2f in it"];
    let binary: &[u8] = &[0xff, 0xfe, 0];
    let all = texts.iter().chain(&blocked).map(|text| text.as_bytes()).chain([binary]);
    for bytes in all {
        let (media_type, public_read) = ("text/plain".to_owned(), true);
        let store =
            Command::StoreArtifact { bytes: bytes.to_vec(), media_type: media_type.clone(), public_read };
        let keep = Command::KeepArtifact {
            artifact: Digest::of(bytes),
            size_bytes: bytes.len() as u64,
            media_type,
            public_read,
            findings: stage.round.look_at(bytes),
        };
        let stamped = |command| Stamped { at: at(1, 21, 0), by: of("acme"), command };
        let is_blocked = blocked.iter().any(|text| text.as_bytes() == bytes);
        let kept = stage.round.decide(&stamped(keep.clone()));
        assert_eq!(kept, stage.round.decide(&stamped(store)));
        assert!(is_blocked || kept.is_ok(), "{kept:?}");
        assert_eq!(matches!(kept, Err(Refusal::ForbiddenDisclosure(_))), is_blocked, "{bytes:?}");
        let line = json::canonical(&wire::write(&stamped(keep.clone())));
        let line = json::read(&line, 1 << 20).expect("JSON");
        assert_eq!(wire::read(&line).expect("a line"), stamped(keep));
    }
    let large = Command::KeepArtifact {
        artifact: Digest::of(b"large"),
        size_bytes: (16 << 20) + 1,
        media_type: "x".to_owned(),
        public_read: false,
        findings: Vec::new(),
    };
    assert_eq!(code(&stage, at(1, 21, 0), of("acme"), large), Some("too_many"));
}
