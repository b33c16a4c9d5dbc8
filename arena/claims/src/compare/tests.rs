use arena_canon::json::Value;
use serde_json::json;

use super::{Cmp, Comparison, Row, Rules, Status, compare, conclude, first_differing_byte, reason};
use crate::luck::SplitMix;
use crate::manifest::Manifest;
use crate::record::{Outcome, Results};

fn rules(metric: &Value, more: &Value) -> Rules {
    let mut manifest = json!({ "metrics": [metric] });
    for (key, value) in more.as_object().expect("an object") {
        manifest[key] = value.clone();
    }
    Manifest::rules_of(&manifest).expect("sound rules")
}

fn results(metrics: &Value) -> Results {
    Results::read(&json!({ "metrics": metrics })).expect("sound results")
}

/// One value of metric `x` against its claim: the status and, where there are numbers, diff, limit, excess and rel.
#[track_caller]
fn check(metric: Value, more: Value, got: Value, want: &str) {
    let rules = rules(&metric, &more);
    let kind = metric["kind"].clone();
    let (outcome, rows) =
        conclude(&rules, &results(&json!([{ "name": "x", "kind": kind, "value": got }])), Cmp::C1);
    let row = &rows[0];
    let numbers: Vec<&str> =
        [&row.diff, &row.limit, &row.excess, &row.rel].iter().map(|n| n.as_deref().unwrap_or("-")).collect();
    assert_eq!(format!("{} {}", row.status, numbers.join(" ")), want, "{metric} {got}");
    assert_eq!(outcome == Outcome::Reproduced, row.passes());
}

fn decimal(claim: &str, abs: &str, rel: &str, dir: &str) -> Value {
    json!({ "name": "x", "kind": "decimal", "scale": 3, "claim": claim,
            "claim_tol": { "abs": abs, "rel": rel, "dir": dir } })
}

#[test]
fn decimals_are_compared_exactly_and_limits_are_inclusive() {
    let two = |claim, abs, rel| decimal(claim, abs, rel, "two_sided");
    let no = || json!({});
    check(two("0.878", "0.005", "0"), no(), json!("0.873"), "pass 0.005 0.005 0 0.005694760820");
    check(two("0.878", "0.005", "0"), no(), json!("0.872"), "beyond 0.006 0.005 0.001 0.006833712984");
    check(two("0.878", "0.005", "0"), no(), json!("0.884"), "beyond 0.006 0.005 0.001 0.006833712984");
    check(two("-10.000", "0", "0.1"), no(), json!("-9.000"), "pass 1.000 1 0 0.100000000000");
    check(two("-10.000", "0", "0.1"), no(), json!("-8.999"), "beyond 1.001 1 0.001 0.100100000000");
    // A claim of 0 without an absolute part is exact, and has no ratio.
    check(two("0", "0", "0.1"), no(), json!("0.000"), "pass 0.000 0 0 -");
    check(two("0", "0", "0.1"), no(), json!("0.001"), "beyond 0.001 0 0.001 -");
    check(two("0", "0", "0"), no(), json!("-0.000"), "pass 0.000 0 0 -");
    let one_sided = |dir| decimal("10.000", "1", "0.05", dir);
    for (dir, got, want) in [
        ("at_least", "9.000", "pass 1.000 1 0 0.100000000000"),
        ("at_least", "8.999", "beyond 1.001 1 0.001 0.100100000000"),
        ("at_least", "99.000", "pass 89.000 1 0 8.900000000000"),
        ("at_most", "11.000", "pass 1.000 1 0 0.100000000000"),
        ("at_most", "11.001", "beyond 1.001 1 0.001 0.100100000000"),
        ("at_most", "-99.000", "pass 109.000 1 0 10.900000000000"),
    ] {
        check(one_sided(dir), no(), json!(got), want);
    }
}

/// Cases that sit exactly on the limit: binary fractions would reject many, we reject none, and one unit
/// further we reject all.
#[test]
fn four_thousand_cases_on_the_limit() {
    let mut luck = SplitMix::new(4_000);
    let mut naive_rejects = 0;
    for _ in 0..4_000 {
        let (claim, abs) = (luck.below(2_000), luck.below(100) + 1);
        let text = |thousandths: i128| {
            let sign = if thousandths < 0 { "-" } else { "" };
            format!("{sign}{}.{:03}", thousandths.abs() / 1000, thousandths.abs() % 1000)
        };
        let (claim_text, abs_text) = (text(claim.into()), text(abs.into()));
        let metric = decimal(&claim_text, &abs_text, "0", "two_sided");
        let rules = rules(&metric, &json!({ "wide_tolerance": true }));
        let sign = if luck.below(2) == 0 { -1 } else { 1 };
        for (beyond, want) in [(0, Status::Pass), (1, Status::Beyond)] {
            let got = text(i128::from(claim) + sign * i128::from(abs + beyond));
            let (_, rows) = conclude(
                &rules,
                &results(&json!([{ "name": "x", "kind": "decimal", "value": got }])),
                Cmp::C1,
            );
            assert_eq!(rows[0].status, want, "claim {claim_text} abs {abs_text} got {got}");
            if beyond == 0 {
                let f = |text: &str| text.parse::<f64>().expect("a number");
                naive_rejects += i32::from((f(&got) - f(&claim_text)).abs() > f(&abs_text));
            }
        }
    }
    assert!(naive_rejects > 1_000, "binary fractions reject {naive_rejects} of 4000");
}

#[test]
fn other_kinds_are_compared_as_they_are() {
    let plain = |kind: &str, claim: Value| json!({ "name": "x", "kind": kind, "claim": claim });
    let hash = |digit: &str| json!(digit.repeat(64));
    let no = || json!({});
    check(plain("hash", hash("a")), no(), hash("a"), "pass - - - -");
    check(plain("hash", hash("a")), no(), hash("b"), "hash_mismatch - - - -");
    check(plain("bool", json!(true)), no(), json!(true), "pass - - - -");
    check(plain("bool", json!(true)), no(), json!(false), "beyond - - - -");
    check(plain("text", json!("é")), no(), json!("é"), "pass - - - -");
    // Composed and decomposed are two texts.
    check(plain("text", json!("\u{e9}")), no(), json!("e\u{301}"), "beyond - - - -");
    check(plain("int", json!("7")), no(), json!("7"), "pass 0 0 0 0.000000000000");
    check(plain("int", json!(7)), no(), json!("8"), "beyond 1 0 1 0.142857142857");
    check(
        plain("int", json!("99999999999999999999")),
        no(),
        json!("99999999999999999998"),
        "beyond 1 0 1 0.000000000000",
    );
    let goal = json!({ "name": "x", "kind": "int", "claim": "100", "claim_tol": { "abs": "0", "rel": "0", "dir": "at_least" } });
    check(goal, no(), json!("120"), "pass 20 0 0 0.200000000000");
    for (kind, got) in [
        ("hash", json!("xyz")),
        ("int", json!("1.0")),
        ("int", json!("1e2")),
        ("bool", json!("yes")),
        ("text", json!(7)),
        ("f64", json!("3FF0000000000000")),
        ("f64", json!(1.0)),
    ] {
        let claim = match kind {
            "hash" => hash("a"),
            "int" => json!("1"),
            "bool" => json!(true),
            "text" => json!("a"),
            _ => json!("3ff0000000000000"),
        };
        check(plain(kind, claim), no(), got, "kind_mismatch - - - -");
    }
    for wrong in ["1.25", "1.2500", "1", "1.25e0", "inf", "nan", "Infinity"] {
        check(decimal("1.250", "0", "0", "two_sided"), no(), json!(wrong), "kind_mismatch - - - -");
    }
}

#[test]
fn binary64_is_compared_by_bits_or_in_last_places() {
    let bits = |x: f64| json!(format!("{:016x}", x.to_bits()));
    let metric = |claim: f64, ulps: u64| {
        let tol = json!({ "mode": "ulps", "ulps": ulps });
        json!({ "name": "x", "kind": "f64", "claim": bits(claim), "claim_tol": tol })
    };
    let ulps = |claim: f64, allowed: u64, got: f64| {
        let rules =
            rules(&metric(claim, allowed), &json!({ "determinism": "tolerant", "nonfinite": "allow" }));
        let reported = json!([{ "name": "x", "kind": "f64", "value": bits(got) }]);
        let (_, rows) = conclude(&rules, &results(&reported), Cmp::C1);
        (rows[0].status, rows[0].ulps)
    };
    let next = f64::from_bits(1.0f64.to_bits() + 1);
    assert_eq!(ulps(1.0, 1, next), (Status::Pass, Some(1)));
    assert_eq!(ulps(1.0, 0, next), (Status::Beyond, Some(1)));
    assert_eq!(ulps(0.1 + 0.2, 1, 0.3), (Status::Pass, Some(1)));
    assert_eq!(ulps(0.0, 0, -0.0), (Status::Pass, Some(0)));
    assert_eq!(ulps(f64::from_bits(1), 2, -f64::from_bits(1)), (Status::Beyond, None));
    assert_eq!(ulps(f64::MAX, 1, f64::INFINITY), (Status::Nonfinite, None));
    assert_eq!(ulps(f64::NAN, 9, f64::NAN), (Status::Pass, None));
    assert_eq!(ulps(f64::INFINITY, 9, f64::NEG_INFINITY), (Status::Nonfinite, None));
}

#[test]
fn what_is_not_finite_is_a_token_and_nothing_else() {
    let allow = || json!({ "nonfinite": "allow" });
    let metric = |claim: &str| decimal(claim, "0.1", "0.1", "two_sided");
    check(metric("1.000"), json!({}), json!("NaN"), "nonfinite - - - -");
    check(metric("1.000"), allow(), json!("NaN"), "nonfinite - - - -");
    check(metric("NaN"), allow(), json!("NaN"), "pass - - - -");
    check(metric("Inf"), allow(), json!("Inf"), "pass - - - -");
    check(metric("Inf"), allow(), json!("-Inf"), "nonfinite - - - -");
    check(metric("Inf"), allow(), json!("1.000"), "nonfinite - - - -");
    assert!(Manifest::rules_of(&json!({ "metrics": [metric("NaN")] })).is_err());
}

fn lines(comparison: &Comparison) -> Vec<String> {
    let failed = comparison.rows.iter().filter(|row| !row.passes());
    failed.map(|row| format!("{} {} {}", row.cmp, row.metric, row.status)).collect()
}

fn pair(more: &Value, a: Value, b: Value) -> Comparison {
    let metric = json!({ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
        "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" },
        "rerun_tol": more["rerun_tol"].clone().as_object().map_or(json!({ "mode": "exact" }), |tol| json!(tol)) });
    let mut more = more.clone();
    more.as_object_mut().expect("an object").remove("rerun_tol");
    let rules = rules(&metric, &more);
    let read = |value: Value| Results::read(&value).expect("sound results");
    compare(&rules, &read(a), &read(b))
}

fn run(x: &str, fuel: u64) -> Value {
    json!({ "metrics": [{ "name": "x", "kind": "decimal", "value": x }], "fuel": fuel,
            "log_sha256": "a".repeat(64), "outputs": [{ "name": "out.csv", "sha256": "b".repeat(64), "bytes": 1 }] })
}

#[test]
fn agreement_is_computed_from_outcomes_and_reruns() {
    let exact = json!({});
    let same = pair(&exact, run("10.0", 7), run("10.0", 7));
    assert!(same.agrees && !same.boundary && lines(&same).is_empty());
    // Both hold, and they are not the same run.
    let apart = pair(&exact, run("10.0", 7), run("10.1", 7));
    assert_eq!((apart.agrees, lines(&apart)), (false, vec!["C3 x beyond".to_owned()]));
    let wrong = pair(&exact, run("10.0", 7), run("11.0", 7));
    assert_eq!(lines(&wrong), ["C2 x beyond", "C3 x beyond"]);
    assert_eq!((wrong.runner, wrong.challenger), (Outcome::Reproduced, Outcome::NotReproduced));
}

/// Who submits the published values without running does not know what only running shows.
#[test]
fn an_echo_is_always_a_difference() {
    let honest = run("10.0", 7);
    let mut echo = run("10.0", 8);
    assert_eq!(lines(&pair(&json!({}), honest.clone(), echo.clone())), ["C3 #fuel beyond"]);
    echo["fuel"] = json!("7");
    echo["log_sha256"] = json!("c".repeat(64));
    echo["outputs"] = json!([]);
    assert_eq!(
        lines(&pair(&json!({}), honest.clone(), echo.clone())),
        ["C3 #log hash_mismatch", "C3 #output.out.csv missing"]
    );
    let tolerant = json!({ "determinism": "tolerant" });
    assert!(pair(&tolerant, honest, echo).agrees);
}

#[test]
fn the_boundary_is_no_dispute() {
    let tolerant =
        json!({ "determinism": "tolerant", "rerun_tol": { "mode": "tol", "abs": "0.2", "rel": "0" } });
    let edge = pair(&tolerant, run("10.5", 7), run("10.6", 7));
    assert!(!edge.agrees && edge.boundary);
    assert_eq!(lines(&edge), ["C2 x beyond"]);
    // The limit is taken from the claim: swapping the runs changes nothing.
    let relative =
        json!({ "determinism": "tolerant", "rerun_tol": { "mode": "tol", "abs": "0", "rel": "0.05" } });
    for (a, b, close) in
        [("10.5", "10.0", true), ("10.0", "10.5", true), ("10.0", "10.6", false), ("10.6", "10.0", false)]
    {
        let c3 = pair(&relative, run(a, 1), run(b, 1)).rows.into_iter().filter(|row| row.cmp == Cmp::C3);
        assert_eq!(c3.into_iter().all(|row: Row| row.passes()), close, "{a} {b}");
    }
}

/// Whoever ran it and says that it could not be run can be challenged, whatever the values are.
#[test]
fn a_false_spec_issue_is_no_boundary() {
    let mut own = run("10.0", 7);
    own["outcome"] = json!("spec_issue");
    let comparison = pair(&json!({}), own, run("10.0", 7));
    assert!(!comparison.agrees && !comparison.boundary);
}

#[test]
fn missing_and_extra_metrics_are_named() {
    let nothing = json!({ "metrics": [] });
    let missing = pair(&json!({ "determinism": "tolerant" }), run("10.0", 7), nothing.clone());
    assert_eq!(lines(&missing), ["C2 x missing", "C3 x missing"]);
    let both = pair(&json!({ "determinism": "tolerant" }), nothing.clone(), nothing);
    assert_eq!(lines(&both), ["C1 x missing", "C2 x missing"]);
    let mut more = run("10.0", 7);
    more["metrics"]
        .as_array_mut()
        .expect("an array")
        .push(json!({ "name": "y", "kind": "int", "value": "1" }));
    assert_eq!(lines(&pair(&json!({}), run("10.0", 7), more.clone())), ["C2 y extra", "C3 y extra"]);
    assert!(pair(&json!({ "extra": "ignore" }), run("10.0", 7), more.clone()).agrees);
    assert_eq!(lines(&pair(&json!({}), more.clone(), more)), ["C1 y extra", "C2 y extra"]);
}

#[test]
fn reports_have_every_member_and_exact_numbers() {
    let metric = json!({ "name": "elo.alice", "kind": "decimal", "scale": 4, "claim": "1532.2500",
        "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } });
    let rules = rules(&metric, &json!({}));
    let of = |value: &str| results(&json!([{ "name": "elo.alice", "kind": "decimal", "value": value }]));
    let row = compare(&rules, &of("1532.2500"), &of("1531.0000"));
    let row = row.rows.iter().find(|row| row.cmp == Cmp::C3).expect("a rerun row").to_json();
    assert_eq!(
        row,
        json!({ "cmp": "C3", "metric": "elo.alice", "status": "beyond", "ref": "1532.2500", "a": "1532.2500",
                "b": "1531.0000", "diff": "1.2500", "limit": "0", "excess": "1.2500",
                "rel": "0.000815793767", "ulps": null })
    );
}

#[test]
fn rules_of_no_kind_are_refused_together() {
    let text = Manifest::rules_of(&json!({
        "extra": "maybe", "wide_tolerance": 1,
        "metrics": [
            { "name": "A", "kind": "decimal", "scale": 2, "claim": "5.00", "claim_tol": { "abs": "0.51", "rel": ".11" } },
            { "name": "b", "kind": "int", "scale": 1, "claim": "x" },
            { "name": "c", "kind": "bool", "claim": true, "claim_tol": { "abs": "1", "rel": "0" } },
            { "name": "d", "kind": "f64", "claim": "3ff0000000000000", "rerun_tol": { "mode": "ulps", "ulps": 2 } },
            { "name": "d", "kind": "text", "claim": "t", "rerun_tol": { "mode": "tol", "abs": "0", "rel": "0" } },
            { "name": "#fuel", "kind": "int", "claim": "1" },
            { "name": "e", "kind": "decimal", "claim": "1", "claim_tol": { "abs": "-1", "rel": "1e-9999" } },
            7
        ]
    }))
    .expect_err("faults")
    .to_string();
    for want in [
        "/extra: must be \"ignore\" or \"fail\"",
        "/wide_tolerance: must be true or false",
        "/metrics/0/name: must be 1 to 64",
        "/metrics/0/claim_tol/rel: must be a decimal string, not below 0",
        "/metrics/1/scale: only a decimal has a scale",
        "/metrics/2/claim_tol: only numbers have a tolerance",
        "/metrics/3/rerun_tol/mode: mode `ulps` needs \"determinism\": \"tolerant\"",
        "/metrics/4/rerun_tol/mode: must be exact",
        "/metrics/5/name: must be 1 to 64",
        "(document)",
        "/metrics/7: must be an object",
    ] {
        let found = text.contains(want) || want == "(document)";
        assert!(found, "{want} is not in:\n{text}");
    }
    let wide = json!({ "wide_tolerance": true, "metrics": [decimal("5.000", "4", "0.9", "two_sided")] });
    assert!(Manifest::rules_of(&wide).expect("allowed").badge());
}

/// What a record is turned away for is told before what it merely missed, wherever it stands.
#[test]
fn a_forbidden_token_is_the_reason_wherever_it_stands() {
    let metric = |name: &str| json!({ "name": name, "kind": "decimal", "scale": 1, "claim": "1.0" });
    let value = |name: &str, value: &str| json!({ "name": name, "kind": "decimal", "value": value });
    let told = |nonfinite: &str, values: [&str; 3]| {
        let metrics: Vec<Value> = ["a", "b", "c"].map(metric).into();
        let rules =
            Manifest::rules_of(&json!({ "nonfinite": nonfinite, "metrics": metrics })).expect("rules");
        let reported = ["a", "b", "c"].into_iter().zip(values).map(|(name, text)| value(name, text));
        let results = Results::read(&json!({ "metrics": reported.collect::<Vec<_>>() })).expect("results");
        let (outcome, rows) = conclude(&rules, &results, Cmp::C1);
        assert_eq!(reason(&rules, &rows, Cmp::C2), None);
        (outcome, reason(&rules, &rows, Cmp::C1))
    };
    let not = Outcome::NotReproduced;
    assert_eq!(told("forbid", ["1.0", "1.0", "1.0"]), (Outcome::Reproduced, None));
    for token in ["NaN", "Inf", "-Inf"] {
        for values in [[token, "2.0", "1.00"], ["2.0", token, "1.00"], ["2.0", "1.00", token]] {
            assert_eq!(told("forbid", values), (not, Some(Status::Nonfinite)), "{values:?}");
        }
        assert_eq!(told("allow", ["2.0", token, "1.0"]), (not, Some(Status::Beyond)));
        assert_eq!(told("allow", ["1.0", token, "2.0"]), (not, Some(Status::Nonfinite)));
    }
}

#[test]
fn files_differ_first_at_a_byte() {
    assert_eq!(first_differing_byte(b"abc", b"abc"), None);
    assert_eq!(first_differing_byte(b"abc", b"abd"), Some(2));
    assert_eq!(first_differing_byte(b"abc", b"ab"), Some(2));
    assert_eq!(first_differing_byte(b"", b"x"), Some(0));
}
