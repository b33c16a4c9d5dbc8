//! Attacks on the sealed window: who sees what when, and who may still come in.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::commitment::{Sealed, commitment, salt_commitment};
use arena_claims::life::{Command, Event};
use arena_claims::record::Role;
use arena_claims::simulate::{Measurement, stamped};
use serde_json::json;

use super::super::script::Script;
use super::{AUDITED, RUNNING, at};

const AGENTS: &str = "given agents=sue,fay,a,b,c,d\n";
const HONEST: &str = "run c1 @runner 02:04 x=10.0 fuel=7 -> run_committed draw_committed:audit-coin:0\n";

fn auditor(script: &Script) -> String {
    script.claim("c1").audit.auditor.clone().expect("drawn")
}

fn challenge(digest: Digest) -> Command {
    Command::CommitChallenge { claim: "c1".into(), digest }
}

/// There is nothing to copy before the window closes, and nothing may be committed after it.
#[test]
fn threat_08_copying_the_runners_result() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=late\n"]);
    let run = script.claim("c1").run.as_ref().and_then(|run| run.digest).expect("committed");
    assert_eq!(script.refused(&stamped("late", at(126), challenge(run))), "duplicate_commitment");
    script.plays(
        "\
reveal c1 @runner 02:07 -> ! wrong_phase
challenge c1 @auditor 02:08 x=10.0 fuel=8 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
challenge c1 late 26:05 x=10.0 fuel=7 -> ! wrong_phase
",
    );
    // Now that it is to be seen, the copy is not what was committed, whoever signs it.
    let (who, claim) = (auditor(&script), script.claim("c1").clone());
    let record = claim.run.as_ref().and_then(|run| run.record.clone()).expect("revealed");
    let actor = &script.actors[&who];
    let nonce = actor.nonce(&claim, Sealed::Challenge);
    let theirs = actor.envelope(&script.world, &record, at(1_566));
    let own = actor.record(
        &script.world,
        &claim,
        Role::Challenger,
        &Measurement { x: "10.0".into(), fuel: 7, log: Digest::of(b"") }.results(),
    );
    let own = actor.envelope(&script.world, &own.expect("a record"), at(1_566));
    for (envelope, code) in [(theirs, "envelope_refused"), (own, "other_commitment")] {
        let copy = Command::Reveal { claim: "c1".into(), nonce, envelope };
        assert_eq!(script.refused(&stamped(&who, at(1_566), copy)), code);
    }
    // An echo of the published value alone, without running, is a difference.
    script.plays(
        "\
reveal c1 @auditor 26:07 -> challenge_revealed disputed
rows c1 @auditor 26:07 -> C3:#fuel:beyond
",
    );
    script.check_laws("threat 8");
}

/// A commitment is its maker's: here it stands already, elsewhere it opens nothing.
#[test]
fn threat_09_replaying_anothers_commitment() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=v,w\n"]);
    script.plays("challenge c1 v 02:06 x=11.0 fuel=7 -> challenge_committed\n");
    let taken = script.claim("c1").challenge("v").expect("committed").digest;
    assert_eq!(script.refused(&stamped("w", at(127), challenge(taken))), "duplicate_commitment");
    // The same opening under another name, job or kind is another commitment.
    let job = script.claim("c1").job;
    let (nonce, record) = (Digest::of(b"nonce"), Digest::of(b"record"));
    let made = commitment(Sealed::Challenge, job, "v", nonce, record);
    for other in [
        commitment(Sealed::Challenge, job, "w", nonce, record),
        commitment(Sealed::Challenge, Digest::of(b"job"), "v", nonce, record),
        commitment(Sealed::Run, job, "v", nonce, record),
    ] {
        assert_ne!(made, other);
    }
    // Who commits a stranger's digest that is not here yet cannot open it, and pays.
    let foreign = commitment(Sealed::Challenge, job, "x", nonce, record);
    script.does("w", at(128), challenge(foreign));
    script.plays(
        "\
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 w 26:05 x=11.0 fuel=7 -> ! other_commitment
reveal c1 v 26:05 -> challenge_revealed
tick c1 - 32:04 -> disputed
reference c1 operator 33:00 x=11.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced
avail - w 33:00 -> 17500
",
    );
    script.check_laws("threat 9");
}

/// Until the claim is over, nothing of what anybody found is among what everybody may read.
#[test]
fn threat_10_reading_the_logs_early() {
    let mut script = Script::after(&[AGENTS, RUNNING]);
    script.plays("run c1 @runner 02:04 x=10.3 fuel=987654321 log=secret -> run_committed draw_committed:audit-coin:0\n");
    script.plays(AUDITED);
    script.plays("challenge c1 @auditor 02:06 x=10.3 fuel=987654321 log=secret -> challenge_committed\n");
    let found = ["987654321".to_owned(), "\"10.3\"".to_owned(), Digest::of(b"secret").to_string()];
    let leaks = |script: &Script| {
        let text = json!(script.public()).to_string();
        found.iter().filter(|value| text.contains(*value)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(leaks(&script), [] as [String; 0]);
    script.plays(
        "\
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed valid_run_counted:true settled:reproduced
",
    );
    assert_eq!(leaks(&script), [] as [String; 0]);
    // It is all in the sealed events, whose digests are public.
    let sealed: String = script
        .history
        .iter()
        .filter(|(_, event)| event.is_sealed())
        .map(|(_, event)| json!(event).to_string())
        .collect();
    assert!(found.iter().all(|value| sealed.contains(value)), "{sealed}");
    script.check_laws("threat 10");
}

/// Not revealing costs the whole stake whatever the outcome, and being there when the runner is wrong is not enough.
#[test]
fn threat_11_a_garbage_challenge_as_a_free_option() {
    let right = "reference c1 operator 33:00 x=10.0 fuel=7 -> reference_published:runner_right valid_run_counted:true settled:runner_right:reproduced\n";
    let wrong = "reference c1 operator 33:00 x=12.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced\n";
    for (reference, disagrees) in [(right, 17_500), (wrong, 20_000)] {
        let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=option,garbage\n"]);
        script.plays(
            "\
challenge c1 option 02:06 x=13.0 -> challenge_committed
challenge c1 garbage 02:06 x=11.0 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 garbage 26:05 -> challenge_revealed
tick c1 - 32:04 -> disputed
",
        );
        script.plays(reference);
        assert_eq!(script.avail("option"), 17_500, "{reference}");
        assert_eq!(script.avail("garbage"), disagrees, "{reference}");
        script.check_laws("threat 11");
    }
    // Where nobody disputes, silence costs as much.
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=option,honest\n"]);
    script.plays(
        "\
challenge c1 option 02:06 x=13.0 -> challenge_committed
challenge c1 honest 02:06 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 honest 26:05 -> challenge_revealed
tick c1 - 32:04 -> valid_run_counted:true settled:reproduced
avail - option 32:04 -> 17500
avail - honest 32:04 -> 20000
",
    );
}

/// What is committed is a record that exists: whoever works only once the run is to be seen has nothing to reveal.
#[test]
fn threat_12_working_only_after_the_reveal() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=lazy\n"]);
    script.plays(
        "\
challenge c1 lazy 02:06 x=0.0 fuel=0 -> challenge_committed
accept c1 @auditor 02:06 -> audit_accepted
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 lazy 26:06 x=10.0 fuel=7 -> ! other_commitment
tick c1 - 32:04 -> window_reopened
challenge c1 lazy 32:05 x=10.0 fuel=7 -> ! already_committed
tick c1 - 44:04 -> window_closed settled:reproduced
avail - lazy 44:04 -> 17500
",
    );
    script.check_laws("threat 12");
}

/// Public events of a claim after the run is committed, with what tells agents apart taken out.
fn outline(script: &Script) -> Vec<Value> {
    let mut events = script.public();
    let from = events.iter().position(|event| event["event"] == "run_committed").expect("committed");
    events.drain(..=from);
    events.retain(|event| event["event"] != "agent_registered" && event["event"] != "deposited");
    for event in &mut events {
        event["digest"] = json!(null);
        event["salt_sha256"] = json!(null);
    }
    events
}

/// Whether there is an auditor, and who it is, shows in nothing public until the window closes; then anybody can
/// draw it again.
#[test]
fn threat_14_finding_the_auditor_to_bribe_it() {
    let mut audited = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    let who = auditor(&audited);
    // The same agent, not drawn: somebody else is, and says nothing.
    let elsewhere = (0..99).find_map(|salt| {
        let mut other = Script::after(&[AGENTS, RUNNING]);
        other.plays(&HONEST.replace(" -> ", &format!(" salt=s{salt} -> ")));
        other.plays(&format!("draw c1 - 02:05 salt=s{salt} -> coin_tossed:audit\n"));
        (auditor(&other) != who).then_some(other)
    });
    let mut other = elsewhere.expect("secrets decide");
    audited.plays("accept c1 @auditor 02:05 -> audit_accepted\n");
    other.plays("accept c1 @auditor 02:05 -> audit_accepted\n");
    for script in [&mut audited, &mut other] {
        script.plays(&format!("challenge c1 {who} 02:06 x=10.0 fuel=7 -> challenge_committed\n"));
    }
    assert_eq!(outline(&audited), outline(&other));
    assert_eq!(outline(&audited).len(), 2, "the commitment of the draw, and that of the challenge");
    // The secret was committed before the round, and opens with the window.
    let committed = audited.last(|event| match event {
        Event::DrawCommitted(draw) => draw.salt_sha256,
        _ => None,
    });
    audited.plays("tick c1 - 26:04 -> window_closed\n");
    let salt = audited.last(|event| match event {
        Event::WindowClosed { salt, .. } => *salt,
        _ => None,
    });
    assert_eq!(committed, salt_commitment(audited.claim("c1").job, salt));
    let again: Vec<String> = audited
        .claim("c1")
        .transcripts
        .iter()
        .filter(|transcript| transcript["purpose"] == "audit")
        .map(|transcript| {
            assert_eq!(transcript["salt"], json!(salt));
            let bytes = arena_canon::json::canonical(transcript);
            let drawn = arena_draw::verify(&bytes).expect("it is drawn again");
            drawn.resolution.picks[0].agent.clone()
        })
        .collect();
    assert_eq!(again, [who]);
}

/// The window holds sixteen volunteers beside the auditor's seat, and opens again for those who were kept out.
#[test]
fn threat_20_flooding_the_window() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    let flood: Vec<String> = (1..=16).map(|i| format!("f{i:02}")).collect();
    script.plays(&format!("given agents={},honest\n", flood.join(",")));
    for friend in &flood {
        script.plays(&format!("challenge c1 {friend} 02:06 x=0.0 -> challenge_committed\n"));
    }
    script.plays(
        "\
challenge c1 honest 02:07 x=10.0 fuel=7 -> ! window_full
challenge c1 @auditor 02:07 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:05 -> challenge_revealed
tick c1 - 32:04 -> window_reopened
",
    );
    // The sixteen have lost their seats and their stakes with them.
    script.plays(
        "\
challenge c1 f01 32:05 x=10.0 fuel=7 -> ! already_committed
challenge c1 honest 32:05 x=10.0 fuel=7 -> challenge_committed
tick c1 - 44:04 -> window_closed
reveal c1 f01 44:05 -> ! not_committed
reveal c1 honest 44:05 -> challenge_revealed valid_run_counted:true settled:reproduced
avail - honest 44:05 -> 20000
",
    );
    for friend in &flood {
        assert_eq!(script.avail(friend), 17_500, "{friend}");
    }
    script.check_laws("threat 20");
}

/// A late commitment moves the end for everybody, three times at most; what counts is when it arrives.
#[test]
fn threat_21_challenging_in_the_last_second() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=v,w,x,y,z\n"]);
    script.plays(
        "\
accept c1 @auditor 02:06 -> audit_accepted
challenge c1 v 26:03:59 x=11.0 -> challenge_committed window_extended
challenge c1 w 26:03:58 x=11.0 -> ! time_goes_back
challenge c1 w 28:03:58 x=11.0 -> challenge_committed window_extended
challenge c1 x 30:03:57 x=11.0 -> challenge_committed window_extended
challenge c1 y 32:03:56 x=11.0 -> challenge_committed
challenge c1 z 32:03:57 x=11.0 -> ! deadline_passed
tick c1 - 32:03:57 -> window_closed
challenge c1 z 32:03:57 x=11.0 -> ! wrong_phase
reveal c1 @runner 38:03:57 -> ! deadline_passed
tick c1 - 38:03:57 -> valid_run_counted:false claim_withdrawn:withheld
",
    );
    script.check_laws("threat 21");
}
