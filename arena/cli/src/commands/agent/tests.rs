//! Which step comes when: every state of a claim, for every part.

use arena_canon::Digest;
use arena_claims::manifest::Manifest;
use arena_claims::record::{Place, Record, Role, assemble};
use serde_json::json;

use super::folder::{Folder, Kept, Wish};
use super::plan::{Part, Step, next};
use super::view::{Duty, Run, Sealed, Seen};

fn manifest() -> Manifest {
    let zero = "0".repeat(64);
    Manifest::read(json!({
        "v": "arena-manifest/v1", "title": "x comes to ten", "submitter": "sue",
        "program": { "kind": "experiment", "component": zero }, "inputs": [], "arguments": {},
        "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
            "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }],
        "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
        "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
        "capabilities": [], "determinism": "exact", "protocol_params_sha256": zero,
    }))
    .expect("a manifest")
}

fn seen(status: &str) -> Seen {
    let sealed = Sealed { commitment: None, revealed: false };
    Seen {
        claim: "c1".to_owned(),
        job: Digest::of(b"job"),
        status: status.to_owned(),
        manifest: manifest(),
        is_open: true,
        part: None,
        counter: 0,
        run: Some(Run { runner: "rex".to_owned(), inputs_checked: false, sealed }),
        own: None,
        draw_due: None,
        draw_round: None,
        outcome: None,
    }
}

fn record(role: Role) -> Record {
    let manifest = manifest();
    let job = Digest::of(b"job");
    let place = Place { claim: "c1", job, role, agent: "rex", operator: "op", manifest: &manifest };
    let results = json!({ "metrics": [{ "name": "x", "kind": "decimal", "value": "10.0" }], "fuel": "7",
        "log_sha256": Digest::of(b"log") });
    assemble(&place, &results).expect("a record")
}

fn kept(role: Role, wish: Wish) -> Kept {
    let record = Some(record(role));
    Kept { claim: "c1".to_owned(), job: Digest::of(b"job"), role, wish, record, envelope: None }
}

#[test]
fn a_runner_goes_from_the_offer_to_the_reveal() {
    let part = Part::Drawn(Duty::Runner, false);
    let kept = kept(Role::Runner, Wish::Commit);
    let checked = |status: &str, revealed: bool| {
        let mut seen = seen(status);
        let sealed = Sealed { commitment: Some(Digest::of(b"c")), revealed };
        seen.run = Some(Run { runner: "rex".to_owned(), inputs_checked: true, sealed });
        seen
    };
    for (seen, with, without) in [
        (seen("offered"), Step::Answer, Step::Answer),
        (seen("running"), Step::CheckInputs, Step::CheckInputs),
        (checked("running", false), Step::Commit, Step::Run),
        (checked("committed", false), Step::Wait, Step::Wait),
        // What was lost can be found again: equal runs give equal records.
        (checked("revealing", false), Step::Reveal, Step::Run),
        (checked("revealing", true), Step::Wait, Step::Wait),
        (checked("voting", true), Step::Wait, Step::Wait),
        (checked("settled", true), Step::Done, Step::Done),
        (checked("withdrawn", false), Step::Done, Step::Done),
    ] {
        let status = seen.status.clone();
        assert_eq!(next(&seen, part, "rex", Some(&kept)), with, "{status}");
        assert_eq!(next(&seen, part, "rex", None), without, "{status}");
        if !seen.is_over() {
            assert_eq!(next(&seen, part, "dan", Some(&kept)), Step::Done, "somebody else's run: {status}");
        }
    }
}

#[test]
fn a_challenger_commits_in_the_window_and_reveals_behind_it() {
    let own = |revealed: bool| Some(Sealed { commitment: Some(Digest::of(b"c")), revealed });
    let of = |status: &str, own: Option<Sealed>| Seen { own, ..seen(status) };
    let shut = Seen { is_open: false, ..seen("committed") };
    let drawn = |accepted: bool| Part::Drawn(Duty::Auditor, accepted);
    let kept = kept(Role::Challenger, Wish::Commit);
    for (seen, part, with, without) in [
        (of("committed", None), Part::Volunteer, Step::Commit, Step::Run),
        (of("committed", None), drawn(false), Step::Answer, Step::Answer),
        (of("committed", None), drawn(true), Step::Commit, Step::Run),
        (shut, Part::Volunteer, Step::Wait, Step::Wait),
        (of("committed", own(false)), Part::Volunteer, Step::Wait, Step::Wait),
        (of("revealing", own(false)), Part::Volunteer, Step::Reveal, Step::Run),
        (of("revealing", own(false)), drawn(true), Step::Reveal, Step::Run),
        (of("revealing", own(true)), Part::Volunteer, Step::Wait, Step::Wait),
        (of("revealing", None), Part::Volunteer, Step::Done, Step::Done),
        (of("settled", own(true)), Part::Volunteer, Step::Done, Step::Done),
    ] {
        let status = seen.status.clone();
        assert_eq!(next(&seen, part, "dan", Some(&kept)), with, "{status} {part:?}");
        assert_eq!(next(&seen, part, "dan", None), without, "{status} {part:?}");
    }
}

#[test]
fn what_is_no_reason_to_challenge_is_not_run_again() {
    let kept = kept(Role::Challenger, Wish::Pass);
    assert_eq!(next(&seen("committed"), Part::Volunteer, "dan", Some(&kept)), Step::Done);
}

#[test]
fn a_seat_is_left_while_it_can_be() {
    let part = Part::Drawn(Duty::Reviewer, true);
    assert_eq!(next(&seen("voting"), part, "dan", None), Step::LeaveSeat);
    assert_eq!(next(&seen("opening"), part, "dan", None), Step::Wait);
}

#[test]
fn a_damaged_part_hides_no_other() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = Folder::open(&place.path().join("work")).expect("opened");
    folder.keep(&kept(Role::Runner, Wish::Commit)).expect("kept");
    for (name, bytes) in [("cut", &b"{\"v\":"[..]), ("empty", b""), ("other", b"{}")] {
        let file = place.path().join("work/jobs").join(format!("{name}.json"));
        std::fs::write(&file, bytes).expect("written");
        let (parts, damaged) = folder.open_parts().expect("read");
        assert_eq!(parts.len(), 1, "{name}");
        assert!(damaged.is_some(), "{name}");
        std::fs::remove_file(file).expect("removed");
    }
    assert!(folder.open_parts().expect("read").1.is_none());
}
