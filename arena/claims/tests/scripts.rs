//! The rules as tables: each line a command, and what it comes to. Reading a table is reading the mechanism.
//!
//! `verb claim actor time arguments -> events`, or `-> ! refusal`. `@runner`, `@auditor` and `@seat1` stand for
//! whoever was drawn. After every table, the history is replayed, and money is counted.

mod schemas;
mod script;
mod threats;

use arena_canon::Digest;
use arena_claims::life::{Event, World, evolve};
use arena_draw::beacon::ROUND_MAX;
use script::{START, Script};

#[track_caller]
fn check(table: &str) {
    let mut wrong = Vec::new();
    let mut rendered = String::new();
    for test in table.split("\ntest ").skip(1) {
        let (name, lines) = test.split_once('\n').expect("a name and lines");
        let mut script = Script::default();
        let (played, otherwise) = script.play(lines);
        rendered.push_str(&format!("\ntest {name}\n{played}"));
        wrong.extend(otherwise.into_iter().map(|line| format!("{name}\n{line}")));
        script.check_laws(name);
    }
    assert!(wrong.is_empty(), "{}\n=====\n{rendered}=====", wrong.join("\n"));
}

macro_rules! tables {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("../../../tests/scripts/claims_", stringify!($name), ".table")));
        }
    )*};
}

tables! { life draws parties challenges panels ends conflicts refusals precedence }

/// Every refusal there is stands in some table.
#[test]
fn no_refusal_is_without_a_line() {
    let source = include_str!("../src/life/refusal.rs");
    let codes = source.lines().filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","));
    let tables = [
        include_str!("../../../tests/scripts/claims_life.table"),
        include_str!("../../../tests/scripts/claims_draws.table"),
        include_str!("../../../tests/scripts/claims_parties.table"),
        include_str!("../../../tests/scripts/claims_challenges.table"),
        include_str!("../../../tests/scripts/claims_panels.table"),
        include_str!("../../../tests/scripts/claims_ends.table"),
        include_str!("../../../tests/scripts/claims_conflicts.table"),
        include_str!("../../../tests/scripts/claims_refusals.table"),
    ]
    .concat();
    let unseen: Vec<&str> = codes.filter(|code| !tables.contains(&format!("-> ! {code}\n"))).collect();
    assert_eq!(unseen, [] as [&str; 0]);
}

/// A claim of two parties that is over: its inputs were not those that were pinned.
fn ended_with_parties() -> Script {
    let mut script = Script::default();
    script.play(
        "given params={\"party_slash\":6000}
given parties=op:6000,out:7000
given agents=op,out,sue,fay,a
contribute - op 00:10 1
contribute - out 00:10 1
list c1 sue 02:00 500
fund c1 fay 02:01 3500
contribute - op 02:02 2
contribute - out 02:02 2
draw c1 - 02:03
accept c1 @runner 02:03
inputs c1 @runner 02:03 bad",
    );
    script
}

/// A history that somebody wrote may keep the stakes of a job that is over. Then its claim has no other job before they
/// are given back: the lock is named after the job, and nothing would ever open it again.
#[test]
fn a_claim_whose_job_holds_stakes_is_not_relisted() {
    let mut script = ended_with_parties();
    let mut held = script.beginning();
    for (at, event) in &script.history {
        if !matches!(event, Event::PartiesReleased { .. }) {
            evolve(&mut held, *at, event);
        }
    }
    script.world = held;
    let relist = "relist c1 sue 26:05 500 claim=10.2";
    assert_eq!(script.run(relist), "! deadline_passed");
    assert_eq!(script.run("tick c1 - 26:05"), "parties_released");
    assert_eq!(script.run(relist), "claim_relisted claim_funded");
}

/// What is said to be revealed is hashed back, and no further than a chain is long, whoever says it: it would take
/// years.
#[test]
fn a_round_beyond_all_chains_costs_no_work() {
    let said = |world: &mut World, round: u64| {
        for agent in ["op", "out"] {
            let event = Event::RoundRevealed { agent: agent.into(), round, preimage: Digest::of(b"any") };
            evolve(world, START, &event);
        }
    };
    for round in [ROUND_MAX + 1, 1 << 53, u64::MAX] {
        let mut script = ended_with_parties();
        script.run("list c2 sue 03:00 500");
        let opened = "claim_funded job_opened parties_held draw_committed:runner:0";
        assert_eq!(script.run("fund c2 fay 03:00 3500"), opened);
        said(&mut script.world, round);
        assert_eq!(script.run("draw c2 - 03:01"), "! draw_refused");
        // No later job is begun on it either.
        script.run("list c3 sue 03:02 500");
        let ended = "claim_funded job_opened claim_withdrawn:no_runner";
        assert_eq!(script.run("fund c3 fay 03:02 3500"), ended);
    }
}
