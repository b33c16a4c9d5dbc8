//! Attacks by money: rings, farms, spent stakes, delay.

use std::sync::Arc;

use arena_canon::json::Value;
use arena_claims::life::{Command, Event, Instance, Phase, World};
use arena_claims::params::Params;
use arena_claims::settle::{Case, Challenger, Ending, Reviewer, Vote, settle};
use arena_claims::simulate::stamped;
use serde_json::json;

use super::super::script::{OPERATOR, Script};
use super::{AUDITED, RUNNING, at};

const AGENTS: &str = "given agents=sue,fay,a,b,c,d\n";
const HONEST: &str = "run c1 @runner 02:04 x=10.0 fuel=7 -> run_committed draw_committed:audit-coin:0\n";

fn party(name: String, record_ok: bool) -> Challenger {
    Challenger { name, record_ok: Some(record_ok), revealed: true }
}

/// How much all of a ring together have more or less after a settlement: the runner, every challenger, the whole panel,
/// and where `funded`, the pool as well.
fn ring_gains(case: &Case, funded: bool) -> i64 {
    let params = &case.params;
    let outside = |name: &str| name == "treasury" || name == "pool" || !funded && name == "funders";
    let out = settle(case).balances;
    let out: u64 = out.iter().filter(|(name, _)| !outside(name)).map(|(_, amount)| amount.units()).sum();
    let challengers = (case.agree.len() + case.disagree.len()) as u64;
    let mut stakes = params.runner_stake.units()
        + challengers * params.challenger_stake.units()
        + case.reviewers.len() as u64 * params.reviewer_stake.units();
    if funded {
        stakes += params.pool_min().expect("an amount").units();
    }
    i64::try_from(out).expect("small") - i64::try_from(stakes).expect("small")
}

/// However many of the parts are one hand in disguise, disputing with oneself costs the tax.
#[test]
fn threat_06_rings_of_hidden_agents() {
    let params = Params::published();
    let (fee, tax) = (1_000, i64::try_from(params.tax.units()).expect("small"));
    for ending in [Ending::RunnerWrong, Ending::RunnerRight] {
        for challengers in 1..=16 {
            for agreeing in 0..=2 {
                for panel in [0, 5, 7, 12] {
                    let disagree = (0..challengers).map(|i| party(format!("d{i}"), true)).collect();
                    let agree = (0..agreeing).map(|i| party(format!("a{i}"), false)).collect();
                    let vote = Vote::For(ending);
                    let reviewers = (0..panel).map(|i| Reviewer { name: format!("r{i}"), vote }).collect();
                    let case = Case { agree, disagree, reviewers, ..Case::bare(ending, params.clone()) };
                    let what = format!(
                        "{ending}, {challengers} challengers, {agreeing} agreeing, a panel of {panel}"
                    );
                    let alone = ring_gains(&case, false);
                    // Being right is paid by the pool, as it would be without any dispute.
                    let honest = if ending == Ending::RunnerRight { fee } else { 0 };
                    assert!(alone <= honest - tax, "{what}: {alone}");
                    let whole = ring_gains(&case, true);
                    assert!(whole <= -tax, "{what}, and the funders: {whole}");
                }
            }
        }
    }
}

/// Rewards come out of the runner's slash alone, and are less.
#[test]
fn threat_13_a_runner_and_a_challenger_farm_rewards() {
    let params = Params::published();
    for challengers in 1..=16 {
        let disagree = (0..challengers).map(|i| party(format!("d{i}"), true)).collect();
        let case = Case { disagree, ..Case::bare(Ending::RunnerWrong, params.clone()) };
        let gains = ring_gains(&case, false);
        let rewards = 1_500 + 450 * i64::min(challengers - 1, 2);
        assert_eq!(gains, rewards - 4_000, "{challengers} challengers");
        assert!(settle(&case).balances["funders"].units() >= 4_000, "the pool pays none of it");
    }
    // The same as it is played: the runner lies so that its friend may find it.
    let mut script = Script::after(&[AGENTS, RUNNING]);
    script.plays("run c1 @runner 02:04 x=10.0 fuel=1 -> run_committed draw_committed:audit-coin:0\n");
    script.plays(AUDITED);
    script.plays("given agents=friend\n");
    script.plays(
        "\
accept c1 @auditor 02:06 -> audit_accepted
challenge c1 friend 02:06 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 friend 26:05 -> challenge_revealed disputed
reference c1 operator 27:00 x=10.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:reproduced
avail c1 @runner 27:00 -> 16000
avail - friend 27:00 -> 21500
",
    );
    script.check_laws("threat 13");
}

/// Who lists what cannot be run pays the runner itself, and waits longer each time before listing it again. (That it is
/// refused before anybody is drawn is in the tests of the command.)
#[test]
fn threat_22_listing_what_cannot_be_run() {
    let mut script = Script::after(&[AGENTS, RUNNING]);
    script.plays("run c1 @runner 02:04 spec_issue fuel=0 -> run_committed draw_committed:audit-coin:0\n");
    script.plays(AUDITED);
    script.plays(
        "\
accept c1 @auditor 02:06 -> audit_accepted
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed settled:spec_issue
avail c1 @runner 26:05 -> 20500
avail - sue 26:05 -> 19500
avail - fay 26:05 -> 20000
relist c1 sue 27:04 500 claim=10.1 -> ! cooling_down
relist c1 sue 27:05 500 -> ! not_corrected
relist c1 sue 27:05 500 claim=10.1 -> claim_relisted claim_funded
fund c1 fay 27:06 3500 -> claim_funded job_opened draw_committed:runner:0
draw c1 - 27:07 -> draw_resolved:1
accept c1 @runner 27:08 -> run_accepted
inputs c1 @runner 27:08 bad -> settled:input_mismatch
relist c1 sue 29:07 500 claim=10.2 -> ! cooling_down
relist c1 sue 29:08 500 claim=10.2 -> claim_relisted claim_funded
",
    );
    let params = Params::published();
    let made_whole = params.fee.units() * params.spec_issue_bps / 10_000;
    assert!(made_whole >= params.assumptions.cost.units(), "a run for nothing is paid for");
    script.check_laws("threat 22");
}

/// A stake is locked in the very event that needs it, so it is there once.
#[test]
fn threat_28_spending_a_stake_twice() {
    let mut script = Script::after(&["given agents=sue,fay\ngiven agents=a stake=4000\n"]);
    script.plays(
        "\
list c1 sue 02:00 500 -> claim_listed claim_funded
list c2 sue 02:00 500 claim=10.1 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
fund c2 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
draw c1 - 02:02 -> draw_resolved:1
draw c2 - 02:02 -> draw_resolved:0 claim_withdrawn:no_runner
avail - a 02:02 -> 0
payout - a 02:02 1 -> ! ledger_refused
",
    );
    script.check_laws("threat 28");
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=v stake=2500\n"]);
    script.plays(
        "\
challenge c1 v 02:06 -> challenge_committed
payout - v 02:06 1 -> ! ledger_refused
list c2 v 02:06 500 -> ! ledger_refused
",
    );
    script.check_laws("threat 28, a challenger");
}

/// A record of valid runs comes of runs that somebody looked at, and each costs the ring an auditor's fee; standing drifts
/// back.
#[test]
fn threat_31_farming_a_record_with_claims_of_ones_own() {
    let counted = |script: &Script| {
        let counts =
            script.history.iter().filter(|(_, event)| matches!(event, Event::ValidRunCounted { .. }));
        counts.count()
    };
    // Nobody but the runner is eligible, so nobody audits, and the run counts for nothing.
    let mut alone = Script::after(&["given agents=sue,fay,a\n", RUNNING, HONEST, AUDITED]);
    alone.plays(
        "\
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed settled:reproduced
standing - a 26:05 -> 52
standing - a 50:05 -> 51
standing - a 74:05 -> 50
",
    );
    assert_eq!((counted(&alone), alone.world.valid_runs.len()), (0, 0));
    let mut audited = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    audited.plays(
        "\
challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed valid_run_counted:true settled:reproduced
",
    );
    let runner = audited.claim("c1").runner().expect("drawn").to_owned();
    let ring: u64 = ["sue", "fay", &runner].iter().map(|agent| audited.avail(agent)).sum();
    assert_eq!((counted(&audited), ring), (1, 60_000 - 600));
    // From a record that is there, one overturned run takes everything.
    let operator = audited.world.agents[&runner].operator.clone();
    assert_eq!(audited.world.valid_runs[&(operator, "wasm".to_owned())], 1);
    audited.check_laws("threat 31");
}

/// All challenges of a run are one dispute, funders are paid for the wait, and silence at every step ends it.
#[test]
fn threat_32_delaying_the_end() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED, "given agents=u,v,w\n"]);
    script.plays(
        "\
challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed
challenge c1 u 02:06 x=11.0 -> challenge_committed
challenge c1 v 02:06 x=12.0 -> challenge_committed
challenge c1 w 02:06 x=13.0 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:05 -> challenge_revealed
reveal c1 u 26:05 -> challenge_revealed
reveal c1 v 26:05 -> challenge_revealed
reveal c1 w 26:05 -> challenge_revealed disputed
reference c1 operator 27:00 x=10.0 fuel=7 -> reference_published:runner_right valid_run_counted:true settled:runner_right:reproduced
avail - u 27:00 -> 17500
avail - v 27:00 -> 17500
avail - w 27:00 -> 17500
avail c1 @runner 27:00 -> 22500
",
    );
    script.check_laws("threat 32");
    for ending in [Ending::RunnerWrong, Ending::Withheld] {
        let disagree = vec![party("d".into(), true)];
        let case = Case { disagree, ..Case::bare(ending, Params::published()) };
        assert_eq!(settle(&case).balances["funders"].units(), 4_500, "{ending}");
    }
    // The longest way there is, everybody at the last moment: it is bounded by the clocks.
    let mut slow = Script::after(&["given params={\"fast_referee\":false}\n"]);
    let names: Vec<String> = (0..30).map(|i| format!("n{i:02}")).collect();
    slow.plays(&format!("given agents=sue,fay,{}\n", names.join(",")));
    slow.plays(super::OPENED);
    let opened = slow.claim("c1").opened_at;
    for _ in 0..400 {
        let claim = slow.claim("c1");
        if claim.phase.is_terminal() {
            break;
        }
        drag(&mut slow);
    }
    let claim = slow.claim("c1");
    assert_eq!(claim.phase.name(), "settled");
    let (took, bound) = (claim.ended_at - opened, longest(&claim.params, claim.manifest.limits.wall_seconds));
    assert!(took > bound / 2 && took <= bound, "{took} of {bound} seconds");
    slow.check_laws("threat 32, as slowly as can be");
}

/// What can be done as late as it may be, and nothing that brings the end nearer.
fn drag(script: &mut Script) {
    let claim = script.claim("c1").clone();
    let draws = claim.draw.is_some();
    let last = (claim.until - 1 - super::at(0)) / 60;
    let now = (script.world.now - super::at(0)) / 60;
    let clock = |minutes: u64| format!("{}:{:02}", minutes / 60, minutes % 60);
    let (soon, late) = (clock(now + 1), clock(last.max(now)));
    let lines = match claim.phase {
        Phase::Drawing | Phase::Seating { .. } if draws => vec![format!("draw c1 - {late}")],
        // The last runner there may be does run.
        Phase::Offered if claim.attempt > 5 => vec![format!("accept c1 @runner {late}")],
        Phase::Running => {
            vec![format!("inputs c1 @runner {late}"), format!("run c1 @runner {late} x=10.0 fuel=7")]
        }
        Phase::Committed if draws && claim.audit.coin.is_none() => vec![format!("draw c1 - {soon}")],
        Phase::Committed => {
            let made = claim.challenges.len();
            vec![format!("challenge c1 n{:02} {late} x=1{made}.0", 29 - made), format!("tick c1 - {late}")]
        }
        Phase::Revealing if claim.reopened => {
            let challenger = claim.challenges.iter().find(|c| !c.expired).map_or("-", |c| &c.agent);
            vec![format!("reveal c1 @runner {late}"), format!("reveal c1 {challenger} {late}")]
        }
        Phase::Revealing => vec![format!("reveal c1 @runner {late}")],
        Phase::Appealable => vec![format!("appeal c1 @runner {late}")],
        _ => Vec::new(),
    };
    for line in lines {
        script.run(&line);
    }
    let after = script.claim("c1");
    if (after.phase, after.until) == (claim.phase, claim.until) {
        let tick = stamped(OPERATOR, claim.until, Command::Tick { claim: "c1".into() });
        script.execute(&tick).expect("time passes");
    }
}

/// No claim takes longer from its opening, whoever delays.
fn longest(params: &Params, wall_seconds: u64) -> u64 {
    let clocks = &params.clocks;
    let drawn = clocks.drawing_s + clocks.accept_s + wall_seconds * clocks.run_times;
    let window = clocks.window_s + clocks.late_max * clocks.late_s + clocks.reopen_s + 2 * clocks.reveal_s;
    let panel = clocks.seating_s + (1 + params.redraws_max) * clocks.vote_s + clocks.vote_reveal_s;
    (1 + params.redraws_max) * drawn + window + 2 * panel + clocks.appeal_s + clocks.reference_s
}

/// A claim is settled by what was in force when it was listed.
#[test]
fn threat_34_changing_the_parameters_of_a_running_claim() {
    let mut script = Script::after(&[AGENTS, RUNNING, HONEST, AUDITED]);
    let frozen = script.world.instance.params.digest();
    let other =
        Params::overridden(&json!({ "fee": "1001", "auditor_fee": "601", "clocks": { "reveal_s": 1 } }));
    let other = other.expect("in range");
    assert_ne!(other.digest(), frozen);
    // The operator starts the instance again, with everything in it, under another set.
    let restarted = World::new(Instance { params: Arc::new(other.clone()), ..script.world.instance.clone() });
    let before = std::mem::replace(&mut script.world, restarted);
    script.world.agents = before.agents;
    script.world.ledger = before.ledger;
    script.world.claims = before.claims;
    (script.world.now, script.world.seq) = (before.now, before.seq);
    script.plays(
        "\
challenge c1 @auditor 02:06 x=10.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:06 -> run_revealed
reveal c1 @auditor 27:00 -> challenge_revealed valid_run_counted:true settled:reproduced
avail c1 @runner 27:00 -> 21000
avail c1 @auditor 27:00 -> 20600
",
    );
    assert_eq!(script.claim("c1").params.digest(), frozen);
    let audit = script.claim("c1").transcripts.last().expect("drawn").clone();
    assert_eq!(audit["params_hash"], json!(frozen), "the draws name them");
    // What is listed now names those that are in force now.
    let mut old = script.claim("c1").manifest.value().clone();
    let list = |manifest: &Value| Command::List {
        claim: "c2".into(),
        manifest: manifest.clone(),
        deposit: "500".parse().expect("an amount"),
        canary: None,
    };
    assert_eq!(script.refused(&stamped("sue", at(1_620), list(&old))), "other_params");
    old["protocol_params_sha256"] = json!(other.digest());
    script.does("sue", at(1_620), list(&old));
}
