use std::collections::BTreeMap;

use arena_ledger::{Account, Amount, Asset, Ledger, apply, deposit};

use super::case::RESERVED;
use super::testing::SplitMix;
use super::{Appeal, Case, CaseError, Challenger, Ending, Funder, Reviewer, Vote, settle, settle_into};
use crate::params::Params;

/// One test to the line: the case, and balances at the end.
fn check(case: &str, want: &[(&str, u64)]) {
    let settlement = settle(&Case::parse(case.as_bytes()).expect("a case"));
    for (name, want) in want {
        let have = settlement.balances.get(*name).map(|amount| amount.units());
        assert_eq!(have, Some(*want), "{name} in {case}\n{:#?}", settlement.movements);
    }
    assert_eq!(settlement.short, Amount::ZERO, "{case}");
}

const THREE_ONE_ONE: &str = r#"[{"name":"m1","vote":"X"},{"name":"m2","vote":"X"},{"name":"m3","vote":"X"},
    {"name":"min","vote":"Y"},{"name":"abs","vote":"abstain"}]"#;

fn panel(right: &str, wrong: &str) -> String {
    THREE_ONE_ONE.replace('X', right).replace('Y', wrong)
}

#[test]
fn the_published_numbers_come_out() {
    let upheld = panel("runner_right", "runner_wrong");
    check(
        &format!(
            r#"{{"outcome":"runner_right","agree":[],"disagree":[{{"name":"d","record_ok":false,"revealed":true}}],"reviewers":{upheld},"auditor":null,"params":null}}"#
        ),
        &[
            ("funders", 3000),
            ("runner", 5500),
            ("d", 0),
            ("m1", 1800),
            ("min", 0),
            ("abs", 1400),
            ("treasury", 2700),
            ("pool", 0),
        ],
    );
    let overturned = panel("runner_wrong", "runner_right");
    check(
        &format!(
            r#"{{"outcome":"runner_wrong","agree":[{{"name":"a","record_ok":null,"revealed":true}}],"disagree":[{{"name":"d","record_ok":true,"revealed":true}}],"reviewers":{overturned},"auditor":null,"params":null}}"#
        ),
        &[
            ("funders", 4500),
            ("runner", 0),
            ("a", 1250),
            ("d", 4000),
            ("m2", 1800),
            ("min", 0),
            ("abs", 1400),
            ("treasury", 3950),
        ],
    );
    let five = r#"[{"name":"r1","vote":"runner_wrong"},{"name":"r2","vote":"runner_wrong"},{"name":"r3","vote":"runner_wrong"},{"name":"r4","vote":"runner_wrong"},{"name":"r5","vote":"runner_wrong"}]"#;
    check(
        &format!(
            r#"{{"outcome":"runner_wrong","agree":[],"disagree":[{{"name":"d1","record_ok":true,"revealed":true}},{{"name":"d2","record_ok":true,"revealed":true}},{{"name":"d3","record_ok":true,"revealed":true}}],"reviewers":{five},"auditor":null,"params":null}}"#
        ),
        &[
            ("funders", 4000),
            ("runner", 0),
            ("d1", 4000),
            ("d2", 2950),
            ("d3", 2950),
            ("r5", 1800),
            ("treasury", 100),
        ],
    );
    let issue = panel("spec_issue", "runner_right");
    check(
        &format!(
            r#"{{"outcome":"spec_issue","agree":[],"disagree":[{{"name":"d","record_ok":true,"revealed":true}}],"reviewers":{issue},"auditor":null,"params":null}}"#
        ),
        &[
            ("funders", 2100),
            ("runner", 4500),
            ("d", 3000),
            ("m3", 1800),
            ("min", 0),
            ("abs", 1400),
            ("treasury", 1600),
        ],
    );
    check(
        r#"{"outcome":"no_show","agree":[],"disagree":[],"reviewers":[],"auditor":null,"params":null}"#,
        &[("funders", 500), ("runner", 3000), ("treasury", 500), ("pool", 4000)],
    );
}

#[test]
fn every_row_of_the_table_comes_out() {
    let agree = r#"[{"name":"a","record_ok":null,"revealed":true}]"#;
    let disagree = r#"[{"name":"d","record_ok":null,"revealed":true}]"#;
    let case = |outcome: &str, agree: &str, disagree: &str, auditor: &str| {
        format!(
            r#"{{"outcome":"{outcome}","agree":{agree},"disagree":{disagree},"reviewers":[],"auditor":{auditor},"params":null}}"#
        )
    };
    for outcome in ["reproduced", "not_reproduced"] {
        check(&case(outcome, "[]", "[]", "null"), &[("funders", 3000), ("runner", 5000), ("treasury", 0)]);
        check(&case(outcome, agree, "[]", "null"), &[("funders", 3000), ("runner", 5000), ("a", 2500)]);
        check(&case(outcome, agree, "[]", "\"a\""), &[("funders", 2400), ("runner", 5000), ("a", 3100)]);
    }
    check(
        &case("withheld", agree, disagree, "\"a\""),
        &[("funders", 3900), ("runner", 0), ("a", 3550), ("d", 2950), ("treasury", 2600)],
    );
    check(&case("spec_issue", agree, "[]", "\"a\""), &[("funders", 2900), ("runner", 4500), ("a", 3100)]);
    check(&case("spec_issue", "[]", disagree, "null"), &[("funders", 3000), ("runner", 4500), ("d", 3000)]);
    check(&case("input_mismatch", "[]", "[]", "null"), &[("funders", 3800), ("runner", 4200)]);
    // An auditor on the wrong side, or without a confirmed record, is not paid.
    check(&case("runner_wrong", agree, "[]", "\"a\""), &[("a", 1250), ("funders", 4500)]);
    check(
        &case("runner_wrong", "[]", disagree, "\"d\""),
        &[("d", 2500), ("funders", 4500), ("treasury", 3500)],
    );
    // Who is not in the lists takes no part.
    check(&case("reproduced", "[]", "[]", "\"ghost\""), &[("funders", 3000)]);
}

#[test]
fn not_revealing_costs_the_stake_whatever_the_outcome() {
    for ending in Ending::ALL {
        let params = Params::published();
        let silent = |name: &str| Challenger { name: name.into(), record_ok: None, revealed: false };
        let case = Case {
            agree: vec![silent("a")],
            disagree: vec![silent("d")],
            auditor: Some("a".into()),
            ..Case::bare(ending, params)
        };
        let settlement = settle(&case);
        assert_eq!(settlement.balances["a"], Amount::ZERO, "{ending}");
        assert_eq!(settlement.balances["d"], Amount::ZERO, "{ending}");
    }
}

#[test]
fn bonds_appeals_and_self_reports() {
    let params = Params::published();
    let party = |name: &str| Challenger { name: name.into(), record_ok: Some(false), revealed: true };
    let upheld = Case {
        disagree: vec![party("d")],
        appeals: vec![Appeal { name: "d".into(), won: false }],
        ..Case::bare(Ending::RunnerRight, params.clone())
    };
    let settlement = settle(&upheld);
    assert_eq!(settlement.balances["d"], Amount::ZERO);
    // Stake and bond: 2500 + 2100 - 500 to the runner.
    assert_eq!(settlement.balances["treasury"].units(), 4_100);
    let won = Case { appeals: vec![Appeal { name: "runner".into(), won: true }], ..upheld.clone() };
    assert_eq!(settle(&won).balances["runner"].units(), 4_000 + 2_100 + 500 + 1_000);
    let own = Case { self_report: true, appeals: Vec::new(), ..upheld };
    let settlement = settle(&own);
    assert_eq!(settlement.balances["runner"].units(), 4_000 + 500 + 500);
    assert_eq!(settlement.balances["d"], Amount::ZERO);
}

#[test]
fn what_is_no_case_is_refused_with_every_fault() {
    let text = |case: &str| Case::parse(case.as_bytes()).expect_err("refused").to_string();
    let all = text(
        r#"{"outcome":"won","agree":[{"name":"funders","revealed":1}],"disagree":[{"name":"x"},{"name":"x"}],
            "reviewers":[{"name":"r","vote":"maybe"}],"auditor":7,
            "params":{"F":"-1","nope":1,"v":"arena-params/v2","clocks":{"window_s":0}},"more":0}"#,
    );
    for want in [
        "/outcome: must be one of reproduced",
        "/agree/0/name: `funders` is not an agent's name",
        "/agree/0/revealed: must be true or false",
        "/disagree/1/name: `x` has a role already",
        "/reviewers/0/vote: must be an outcome, abstain or no_show",
        "/auditor: must be a text",
        "/params/F: must be an amount",
        "/params/nope: unknown member `nope`",
        "/params/v: must be \"arena-params/v1\"",
        "/params/clocks/window_s: must be an integer from 1",
        "/more: unknown member `more`",
    ] {
        assert!(all.contains(want), "{want} is not in:\n{all}");
    }
    assert_eq!(text(r#"{"outcome":"reproduced","params":[]}"#), "/params: must be an object");
    let insolvent = Case::parse(br#"{"outcome":"reproduced","params":{"S":3000}}"#);
    assert!(matches!(insolvent, Err(CaseError::Insolvent { id: "I5", .. })), "{insolvent:?}");
}

#[test]
fn an_auditor_is_an_agent_without_another_role() {
    let case = |auditor: &str| {
        let text = format!(
            r#"{{"outcome":"reproduced","agree":[{{"name":"a"}}],"disagree":[{{"name":"d"}}],
                "reviewers":[{{"name":"r","vote":"abstain"}}],"auditor":"{auditor}"}}"#
        );
        Case::parse(text.as_bytes()).map(|case| case.auditor).map_err(|error| error.to_string())
    };
    for fits in ["a", "d", "never-committed"] {
        assert_eq!(case(fits), Ok(Some(fits.to_owned())));
    }
    for reserved in RESERVED {
        assert_eq!(case(reserved), Err(format!("/auditor: `{reserved}` is not an agent's name")));
    }
    assert_eq!(case("r"), Err("/auditor: `r` has a role already".to_owned()));
}

/// Up to the largest amount all that went in comes out; beyond it, a case is refused.
#[test]
fn what_all_put_in_is_an_amount() {
    let most = Amount::MAX.units();
    let published = Case::bare(Ending::Reproduced, Params::published());
    let parties = r#""agree":[{"name":"a","revealed":false},{"name":"b"}],"disagree":[{"name":"d","record_ok":true}],
        "reviewers":[{"name":"r","vote":"abstain"},{"name":"s","vote":"no_show"}],"appeals":[{"name":"runner","won":false}]"#;
    let alone = total_in(&published);
    let together = alone + 3 * 2_500 + 2 * 1_500 + 2_100;
    let case = |ending: Ending, name: &str, units: u64| {
        let text = format!(r#"{{"outcome":"{ending}",{parties},"params":{{"{name}":"{units}"}}}}"#);
        Case::parse(text.as_bytes())
    };
    for ending in Ending::ALL {
        for (name, usual, heads) in [
            ("fee", 1_000, 1),
            ("auditor_fee", 600, 1),
            ("reviewer_reserve", 2_400, 1),
            ("runner_stake", 4_000, 1),
            ("challenger_stake", 2_500, 3),
            ("reviewer_stake", 1_500, 2),
        ] {
            let largest = (most - (together - heads * usual)) / heads;
            let fits = case(ending, name, largest).unwrap_or_else(|error| panic!("{name}: {error}"));
            let out: u64 = settle(&fits).balances.values().map(|amount| amount.units()).sum();
            assert_eq!(out, together - heads * usual + heads * largest, "{ending} with {name}");
            for beyond in [largest + 1, most] {
                let why = case(ending, name, beyond).expect_err("beyond all amounts").to_string();
                assert!(why.ends_with("is above 9223372036854775807, the largest amount"), "{name}: {why}");
            }
        }
    }
}

fn random_case(luck: &mut SplitMix, possible: bool) -> Case {
    let mut names = 0u64;
    let mut name = || {
        names += 1;
        format!("n{names}")
    };
    let ending = Ending::ALL[luck.below(8) as usize];
    let mut side = |luck: &mut SplitMix, most: u64| -> Vec<Challenger> {
        (0..luck.below(most + 1))
            .map(|_| Challenger {
                name: name(),
                record_ok: [None, Some(true), Some(false)][luck.below(3) as usize],
                revealed: luck.below(4) > 0,
            })
            .collect()
    };
    let (agree, mut disagree) = (side(luck, 4), side(luck, 4));
    let disputed = matches!(ending, Ending::RunnerRight | Ending::RunnerWrong);
    if possible && disputed {
        // A dispute has a challenger that disagrees and revealed.
        disagree.push(Challenger { name: "lead".into(), record_ok: Some(true), revealed: true });
    }
    let votes = [
        Vote::For(Ending::RunnerRight),
        Vote::For(Ending::RunnerWrong),
        Vote::For(Ending::SpecIssue),
        Vote::Abstain,
        Vote::NoShow,
    ];
    let seats = if possible { 5 * luck.below(2) } else { luck.below(13) };
    let reviewers =
        (0..seats).map(|i| Reviewer { name: format!("r{i}"), vote: votes[luck.below(5) as usize] }).collect();
    let auditor = agree.iter().chain(&disagree).next().map(|party| party.name.clone());
    let appeals = match luck.below(4) {
        0 => vec![Appeal { name: "runner".into(), won: luck.below(2) == 0 }],
        _ => Vec::new(),
    };
    let self_report = luck.below(8) == 0;
    let params = Params::published();
    Case { ending, agree, disagree, reviewers, auditor, appeals, self_report, undecided: false, params }
}

fn total_in(case: &Case) -> u64 {
    let p = &case.params;
    let challengers = case.agree.len() + case.disagree.len();
    p.pool_min().expect("an amount").units()
        + p.runner_stake.units()
        + p.challenger_stake.units() * challengers as u64
        + p.reviewer_stake.units() * case.reviewers.len() as u64
        + p.appeal_bond().units() * case.appeals.len() as u64
}

#[test]
fn a_hundred_thousand_random_cases_conserve_and_never_overdraw() {
    let mut luck = SplitMix::new(20_261_130);
    for i in 0..100_000u32 {
        let possible = i % 2 == 0;
        let case = random_case(&mut luck, possible);
        let settlement = settle(&case);
        let out: u64 = settlement.balances.values().map(|amount| amount.units()).sum();
        assert_eq!(out, total_in(&case), "case {i}: {case:#?}");
        if possible {
            assert_eq!(settlement.short, Amount::ZERO, "case {i} is short: {case:#?}");
        }
        if i % 16 == 0 {
            through_the_ledger(&case, i);
        }
    }
}

/// The same settlement as postings: applied to a ledger with exactly the locks of the case.
fn through_the_ledger(case: &Case, i: u32) {
    let asset = Asset::new("units").expect("a name");
    let job = "j";
    let mut ledger = Ledger::new();
    let mut put = |account: Account, amount: Amount| {
        apply(&mut ledger, &deposit(&account, amount)).expect("deposited");
    };
    let lock = |role: &str, agent: &str| Account::lock(&asset, job, role, agent).expect("a name");
    put(lock("runner", "rex"), case.params.runner_stake);
    for party in case.agree.iter().chain(&case.disagree) {
        put(lock("challenger", &party.name), case.params.challenger_stake);
    }
    for reviewer in &case.reviewers {
        put(lock("reviewer", &reviewer.name), case.params.reviewer_stake);
    }
    for appeal in &case.appeals {
        let name = if appeal.name == "runner" { "rex" } else { &appeal.name };
        put(lock("appeal", name), case.params.appeal_bond());
    }
    let funder =
        |agent: &str, units: u64| Funder { agent: agent.into(), amount: Amount::new(units).expect("one") };
    let funders = [funder("sue", 500), funder("fay", 3_000), funder("fox", 777)];
    put(Account::pool(&asset, job).expect("a name"), Amount::new(4_277).expect("one"));
    let settlement = settle(case);
    let transaction =
        settle_into(case, &settlement, &asset, job, "rex", &funders, "sue").expect("names and weights");
    apply(&mut ledger, &transaction).unwrap_or_else(|refusal| panic!("case {i}: {refusal}\n{case:#?}"));
    let balances: BTreeMap<&str, i64> =
        ledger.accounts().map(|(account, balance)| (account.name(), balance)).collect();
    let of = |name: &str| balances.get(format!("avail:{name}").as_str()).copied().unwrap_or_default();
    for (name, want) in &settlement.balances {
        let want = want.signed();
        match name.as_str() {
            "runner" => assert_eq!(of("rex"), want, "case {i}"),
            "treasury" => assert_eq!(balances.get("treasury").copied().unwrap_or_default(), want, "case {i}"),
            "funders" => {
                let beyond = if case.ending == Ending::NoShow { 0 } else { 277 };
                assert_eq!(of("sue") + of("fay") + of("fox"), want + beyond, "case {i}");
            }
            "pool" => {}
            other => assert_eq!(of(other), want, "case {i}: {other}"),
        }
    }
    for (name, balance) in &balances {
        assert!(
            !(name.starts_with("lock:") || name.starts_with("bucket:")) || *balance == 0,
            "case {i}: {name}"
        );
    }
    assert_eq!(ledger.sum(&asset), 0);
}

#[test]
fn the_submitter_bears_an_unrunnable_claim_first() {
    let asset = Asset::new("units").expect("a name");
    let funder =
        |agent: &str, units: u64| Funder { agent: agent.into(), amount: Amount::new(units).expect("one") };
    let back = |ending: Ending, funders: &[Funder]| {
        let case = Case::bare(ending, Params::published());
        let settlement = settle(&case);
        let transaction =
            settle_into(&case, &settlement, &asset, "j", "rex", funders, "sue").expect("shared");
        let gain = |agent: &str| -> i64 {
            let account = Account::avail(&asset, agent).expect("a name");
            transaction.postings().iter().filter(|p| p.account == account).map(|p| p.change).sum()
        };
        (gain("sue"), gain("fay"), gain("fox"))
    };
    let all = [funder("sue", 500), funder("fay", 1_500), funder("fox", 2_000)];
    assert_eq!(back(Ending::SpecIssue, &all), (0, 1_500, 2_000));
    assert_eq!(back(Ending::InputMismatch, &all), (300, 1_500, 2_000));
    // Beyond the submitter's own, in proportion.
    let little = [funder("sue", 100), funder("fay", 1_950), funder("fox", 1_950)];
    assert_eq!(back(Ending::SpecIssue, &little), (0, 1_750, 1_750));
    assert_eq!(back(Ending::Reproduced, &all), (375, 1_125, 1_500));
}
