//! Attacks on the judgement.

use arena_canon::{Digest, json};
use arena_claims::commitment::Sealed;
use arena_claims::life::{Command, Phase};
use arena_claims::params::Params;
use arena_claims::settle::{Case, Challenger, Ending, Reviewer, Vote, settle};
use arena_claims::simulate::stamped;
use serde_json::json;

use super::super::script::Script;
use super::{AUDITED, RUNNING, at};

const AGENTS: &str = "given params={\"fast_referee\":false}\ngiven agents=sue,fay,a,b,c,d,e,f,g,h\n";

/// A disputed claim with a panel: the runner was lazy, the auditor was not.
fn seated() -> Script {
    let mut script = Script::after(&[AGENTS, RUNNING]);
    script.plays("run c1 @runner 02:04 x=10.0 fuel=1 -> run_committed draw_committed:audit-coin:0\n");
    script.plays(AUDITED);
    script.plays(
        "\
challenge c1 @auditor 02:06 x=11.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed disputed draw_committed:panel:0
draw c1 - 26:07 -> draw_resolved:5
",
    );
    script
}

/// What a reviewer of a panel of five is left with, of 1 500, when the others uphold the run.
fn left_with(vote: Vote) -> u64 {
    let voting = |name: &str, vote| Reviewer { name: name.into(), vote };
    let right = Vote::For(Ending::RunnerRight);
    let mut reviewers: Vec<Reviewer> = ["b", "c", "d", "e"].map(|name| voting(name, right)).into();
    reviewers.push(voting("a", vote));
    let disagree = vec![Challenger { name: "x".into(), record_ok: Some(false), revealed: true }];
    let case = Case { disagree, reviewers, ..Case::bare(Ending::RunnerRight, Params::published()) };
    settle(&case).balances["a"].units()
}

/// Guessing loses, always saying the usual loses, abstaining costs less than either; and a vote cites what there is.
#[test]
fn threat_16_a_reviewer_that_does_not_look() {
    let stake = 1_500;
    let (right, wrong) =
        (left_with(Vote::For(Ending::RunnerRight)), left_with(Vote::For(Ending::RunnerWrong)));
    let abstained = left_with(Vote::Abstain);
    // In expectation over a thousand votes, of which some are on the side that it ends.
    let gained = |on_the_side: u64| {
        i64::try_from(on_the_side * right + (1_000 - on_the_side) * wrong).expect("small") - 1_000 * stake
    };
    assert!(gained(500) < 0, "a coin: {}", gained(500));
    assert!(gained(833) < 0 && gained(834) > 0, "the usual verdict pays from five in six");
    let abstaining = i64::try_from(abstained).expect("small") - stake;
    assert!(abstaining < 0 && 1_000 * abstaining > gained(500), "abstaining beats a coin");
    assert!(left_with(Vote::NoShow) < abstained, "saying nothing costs more than abstaining");
    let mut script = seated();
    script.plays(
        "\
vote c1 @seat1 26:08 runner_right cites=C3:y -> vote_committed
vote c1 @seat2 26:08 runner_right cites=C2:x -> vote_committed
tick c1 - 50:07 -> votes_opened
open c1 @seat1 50:08 -> ! ballot_faults
open c1 @seat2 50:08 -> vote_revealed
",
    );
    let claim = script.claim("c1");
    let nothing = json!({ "verdict": "runner_right", "confirms": [], "rationale": [], "rerun_sha256": null });
    let why = arena_claims::life::Ballot::read(&nothing, claim).expect_err("cites nothing").to_string();
    assert_eq!(why, "/rationale: a vote cites at least one row of the report");
    script.check_laws("threat 16");
}

/// A bribed majority stands until a party asks for the reference, and is paid by what that says; buying it costs more
/// than any party can win.
#[test]
fn threat_17_bribing_the_panel() {
    let mut script = seated();
    for seat in 1..=4 {
        script.plays(&format!("vote c1 @seat{seat} 26:08 runner_right -> vote_committed\n"));
    }
    script.plays("vote c1 @seat5 26:08 runner_wrong confirms=@auditor -> vote_committed votes_opened\n");
    for seat in 1..=4 {
        script.plays(&format!("open c1 @seat{seat} 26:09 -> vote_revealed\n"));
    }
    script.plays(
        "\
open c1 @seat5 26:09 -> vote_revealed verdict_reached:runner_right
tick c1 - 50:08 -> nothing
appeal c1 @auditor 50:08 -> appealed
reference c1 operator 51:00 x=11.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced
avail c1 @seat1 51:00 -> 18500
avail c1 @seat4 51:00 -> 18500
avail c1 @seat5 51:00 -> 20300
avail c1 @runner 51:00 -> 16000
avail c1 @auditor 51:00 -> 22100
",
    );
    script.check_laws("threat 17");
    let params = Params::published();
    let majority = params.panel_seats / 2 + 1;
    let bribes = majority * (params.reviewer_reward.units() + params.reviewer_stake.units());
    let swing = |a: u64, b: u64| a + b;
    let runner = swing(params.fee.units(), params.runner_stake.units());
    let challenger = swing(params.lead_reward.units(), params.challenger_stake.units());
    assert!(bribes > runner.max(challenger), "{bribes} against {runner} and {challenger}");
}

/// Votes are sealed, each under its voter's name; an opened one comes too late to be copied.
#[test]
fn threat_18_copying_a_vote() {
    let mut script = seated();
    script.plays("vote c1 @seat1 26:08 runner_wrong confirms=@auditor -> vote_committed\n");
    let claim = script.claim("c1").clone();
    let seats: Vec<String> =
        claim.panel().expect("seated").seats.iter().map(|seat| seat.agent.clone()).collect();
    let first = claim.panel().expect("seated").seats[0].digest.expect("committed");
    let vote = |digest| Command::CommitVote { claim: "c1".into(), digest };
    assert_eq!(script.refused(&stamped(&seats[1], at(1_569), vote(first))), "duplicate_commitment");
    // It holds the seat open with something, to fill in what the others say.
    script.does(&seats[1], at(1_569), vote(Digest::of(b"later")));
    script.plays("open c1 @seat1 26:10 -> ! wrong_phase\ntick c1 - 50:07 -> votes_opened\nopen c1 @seat1 50:08 -> vote_revealed\n");
    let rationale = json!([{ "cmp": "C3", "metric": "x" }]);
    let auditor = claim.audit.auditor.clone().expect("drawn");
    let ballot = json!({ "verdict": "runner_wrong", "confirms": [auditor], "rationale": rationale, "rerun_sha256": null });
    let nonce = script.actors[&seats[0]].nonce(&claim, Sealed::Vote);
    let document = Digest::of(&json::canonical(&ballot));
    let opened = arena_claims::commitment::commitment(Sealed::Vote, claim.job, &seats[0], nonce, document);
    assert_eq!(opened, first, "this opens the vote of the first seat");
    let copy = Command::RevealVote { claim: "c1".into(), nonce, ballot };
    assert_eq!(script.refused(&stamped(&seats[1], at(3_009), copy)), "other_commitment");
    assert_eq!(script.claim("c1").phase, Phase::Opening { level: 1 });
    script.check_laws("threat 18");
}
