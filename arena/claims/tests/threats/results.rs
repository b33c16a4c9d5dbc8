//! Attacks on what a run or an audit is said to have found.

use arena_canon::json::Value;
use arena_claims::commitment::Sealed;
use arena_claims::life::{Command, Event, Refusal};
use arena_claims::manifest::Manifest;
use arena_claims::record::{Record, Role};
use arena_claims::simulate::{Measurement, stamped};

use super::super::script::Script;
use super::{AUDITED, RUNNING, at};

const AGENTS: &str = "given agents=sue,fay,a,b,c,d\n";
const HONEST: &str = "run c1 @runner 02:04 x=10.0 fuel=7 -> run_committed draw_committed:audit-coin:0\n";
const CLOSED: &str = "\
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
";

/// A drawn auditor has to commit a whole record: what only running shows gives an echo away, and agreeing with a
/// wrong run costs half the stake.
#[test]
fn threat_15_an_auditor_that_does_not_run() {
    let mut echo = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    echo.plays("challenge c1 @auditor 02:06 x=10.0 fuel=0 -> challenge_committed\n");
    echo.plays(CLOSED);
    echo.plays(
        "\
reveal c1 @auditor 26:06 -> challenge_revealed disputed
rows c1 @auditor 26:06 -> C3:#fuel:beyond
reference c1 operator 27:00 x=10.0 fuel=7 -> reference_published:runner_right valid_run_counted:true settled:runner_right:reproduced
avail c1 @auditor 27:00 -> 17500
",
    );
    echo.check_laws("threat 15, an echo");
    // Waved through by agreement, found by a volunteer: no fee, and half the stake.
    let mut agreeing = Script::after(&[AGENTS, RUNNING]);
    agreeing.plays("run c1 @runner 02:04 x=10.0 fuel=1 -> run_committed draw_committed:audit-coin:0\n");
    agreeing.plays(AUDITED);
    agreeing.plays("given agents=volunteer\n");
    agreeing.plays(
        "\
challenge c1 @auditor 02:06 x=10.0 fuel=1 -> challenge_committed
challenge c1 volunteer 02:06 x=11.0 fuel=7 -> challenge_committed
",
    );
    agreeing.plays(CLOSED);
    agreeing.plays(
        "\
reveal c1 @auditor 26:06 -> challenge_revealed
reveal c1 volunteer 26:06 -> challenge_revealed disputed
reference c1 operator 27:00 x=11.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced
avail c1 @runner 27:00 -> 16000
avail c1 @auditor 27:00 -> 18750
avail - volunteer 27:00 -> 21500
",
    );
    agreeing.check_laws("threat 15, agreeing");
    // Accepting and saying nothing costs a quarter of it.
    let mut silent = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    silent.plays(
        "\
accept c1 @auditor 02:06 -> audit_accepted
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed settled:reproduced
avail c1 @auditor 26:05 -> 19375
standing c1 @auditor 26:05 -> 30
",
    );
}

/// The whole stake goes, as for a wrong run, and who committed is paid.
#[test]
fn threat_19_withholding_after_others_committed() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=v\n"]);
    script.plays(
        "\
challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed
challenge c1 v 02:06 x=11.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 v 26:05 -> challenge_revealed
reveal c1 @auditor 26:05 -> challenge_revealed
reveal c1 @runner 32:04 -> ! deadline_passed
tick c1 - 32:04 -> valid_run_counted:false claim_withdrawn:withheld
avail c1 @runner 32:04 -> 16000
avail - v 32:04 -> 20450
avail c1 @auditor 32:04 -> 21050
standing c1 @runner 32:04 -> 0
",
    );
    script.check_laws("threat 19");
}

/// It can be challenged like any other outcome, and is worth less than running.
#[test]
fn threat_23_a_false_spec_issue() {
    let mut script = Script::after(&[AGENTS, RUNNING]);
    script.plays("run c1 @runner 02:04 spec_issue fuel=0 -> run_committed draw_committed:audit-coin:0\n");
    script.plays(AUDITED);
    script.plays("challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed\n");
    script.plays(CLOSED);
    script.plays(
        "\
reveal c1 @auditor 26:06 -> challenge_revealed disputed
reference c1 operator 27:00 x=10.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:reproduced
avail c1 @runner 27:00 -> 16000
avail c1 @auditor 27:00 -> 22100
",
    );
    script.check_laws("threat 23");
    // That inputs differ is found by comparing them, not by saying so: a record of it does not pass.
    let mut script = Script::after(&[AGENTS, RUNNING]);
    let runner = script.claim("c1").runner().expect("drawn").to_owned();
    let record = record_of(&script, &runner, |value| value["outcome"] = "input_mismatch".into());
    commits(&mut script, &runner, &record);
    let Err(Refusal::RecordFaults(faults)) = reveals(&mut script, &runner, &record) else {
        panic!("a mismatch that is not one was revealed");
    };
    assert!(faults.to_string().contains("/inputs: "), "{faults}");
    let params = &script.claim("c1").params;
    assert!(params.inequalities().iter().all(|row| !row.id.starts_with("I12") || row.holds()));
}

/// The record of an honest run with a change.
fn record_of(script: &Script, agent: &str, change: impl FnOnce(&mut Value)) -> Record {
    let claim = script.claim("c1");
    let measured = Measurement { x: "10.0".into(), fuel: 7, log: arena_canon::Digest::of(b"") };
    let record = script.actors[agent].record(&script.world, claim, Role::Runner, &measured.results());
    let mut value = record.expect("a record").value().clone();
    change(&mut value);
    Record::read(value).expect("a record still")
}

fn commits(script: &mut Script, agent: &str, record: &Record) {
    let digest = script.actors[agent].seal(script.claim("c1"), Sealed::Run, record.digest);
    script.does(agent, at(124), Command::CommitRun { claim: "c1".into(), digest });
    script.plays("draw c1 - 02:05 -> coin_tossed:audit\ntick c1 - 26:04 -> window_closed\n");
}

fn reveals(script: &mut Script, agent: &str, record: &Record) -> Result<Vec<Event>, Refusal> {
    let actor = &script.actors[agent];
    let nonce = actor.nonce(script.claim("c1"), Sealed::Run);
    let envelope = actor.envelope(&script.world, record, at(1_565));
    script.execute(&stamped(agent, at(1_565), Command::Reveal { claim: "c1".into(), nonce, envelope }))
}

/// Wide tolerances are refused or shown, and two exact runs are compared exactly whatever is tolerated of the claim.
#[test]
fn threat_24_a_tolerance_that_always_holds() {
    let mut script = Script::after(&[AGENTS]);
    script.plays("list c1 sue 02:00 500 abs=1.1 -> ! manifest_faults\nlist c1 sue 02:00 500 abs=1 -> claim_listed claim_funded\n");
    let tolerances = [
        (r#"{"abs":"1.1","rel":"0"}"#, "exact", false),
        (r#"{"abs":"0","rel":"0.11"}"#, "exact", false),
        (r#"{"abs":"0","rel":"0.10"}"#, "exact", true),
        (r#"{"abs":"1","rel":"0.10"}"#, "exact", true),
    ];
    let honest = script.claim("c1").manifest.value().clone();
    for (tolerance, determinism, listed) in tolerances {
        let mut manifest = honest.clone();
        manifest["metrics"][0]["claim_tol"] = serde_json::from_str(tolerance).expect("JSON");
        manifest["determinism"] = determinism.into();
        let read = Manifest::read(manifest.clone());
        assert_eq!(read.is_ok(), listed, "{tolerance}");
        assert!(read.is_err() || !read.expect("listed").rules.badge(), "{tolerance}");
        // Whoever asks for more is marked, and audited more.
        manifest["wide_tolerance"] = true.into();
        assert!(Manifest::read(manifest).expect("listed").rules.badge(), "{tolerance}");
    }
    let params = &script.claim("c1").params;
    assert!(params.audit_ppm(1_000, true) > params.audit_ppm(1_000, false));
    // Both hold, and they are not the same run.
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    script.plays("challenge c1 @auditor 02:06 x=10.1 fuel=7 -> challenge_committed\n");
    script.plays(CLOSED);
    script.plays(
        "\
reveal c1 @auditor 26:06 -> challenge_revealed disputed
rows c1 @auditor 26:06 -> C3:x:beyond
",
    );
    script.check_laws("threat 24");
}

/// That the machine is to blame takes two references that contradict each other; one wrong run is a wrong run. Engine
/// and configuration are those of the manifest.
#[test]
fn threat_25_blaming_nondeterminism() {
    for (reference, runner) in [
        (
            "x=11.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced",
            16_000,
        ),
        ("x=11.0 fuel=7 second=12.0 -> reference_published:spec_issue settled:spec_issue", 20_500),
    ] {
        let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
        script.plays("challenge c1 @auditor 02:06 x=11.0 fuel=7 -> challenge_committed\n");
        script.plays(CLOSED);
        script.plays("reveal c1 @auditor 26:06 -> challenge_revealed disputed\n");
        script
            .plays(&format!("reference c1 operator 27:00 {reference}\navail c1 @runner 27:00 -> {runner}\n"));
        script.check_laws("threat 25");
    }
    for (pointer, other) in [("/engine/wasmtime", "47.0.0"), ("/engine/config_sha256", &"cd".repeat(32))] {
        let mut script = Script::after(&[AGENTS, RUNNING]);
        let runner = script.claim("c1").runner().expect("drawn").to_owned();
        let record = record_of(&script, &runner, |value| {
            *value.pointer_mut(pointer).expect("it is there") = other.into();
        });
        commits(&mut script, &runner, &record);
        let Err(Refusal::RecordFaults(faults)) = reveals(&mut script, &runner, &record) else {
            panic!("a record of another engine was revealed");
        };
        assert_eq!(faults.to_string(), "/engine: is not the engine that the manifest pins");
    }
}

/// The auditor is drawn from outside, pays nobody, and is paid from what the runner loses: whoever lists a wrong claim
/// and runs it loses the stake.
#[test]
fn threat_33_a_submitter_that_runs_its_own_wrong_claim() {
    let mut script = Script::after(&["given agents=sue@op-s,sid@op-s,fay@op-s,a,b,c,d\n"]);
    script.plays(
        "\
list c1 sue 02:00 500 claim=11.0 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
",
    );
    let draw = script.last(|event| match event {
        Event::DrawCommitted(draw) => Some((**draw).clone()),
        _ => None,
    });
    assert!(
        draw.entries.entries().iter().all(|entry| entry.operator != "op-s"),
        "no agent of the submitter's is drawn"
    );
    // Hidden behind another operator, it says what was claimed.
    script.plays(
        "\
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:03 -> run_accepted
inputs c1 @runner 02:03 -> inputs_checked
run c1 @runner 02:04 x=11.0 fuel=7 -> run_committed draw_committed:audit-coin:0
draw c1 - 02:05 -> coin_tossed:audit
challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed disputed
reference c1 operator 27:00 x=10.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced
avail c1 @runner 27:00 -> 16000
",
    );
    let runner = script.claim("c1").runner().expect("drawn").to_owned();
    let ring: u64 = ["sue", "sid", "fay", &runner].iter().map(|agent| script.avail(agent)).sum();
    assert!(ring < 80_000 - 4_000 + 500, "the ring has {ring} of 80000");
    script.check_laws("threat 33");
}
