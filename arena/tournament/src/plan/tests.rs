use super::{Pairing, Plan};

const PLAN: &str = r#"
slug = "small"
title = "A small one"
game = "matrix"
strategies = [
    { name = "A", version = "1", component = "a.wasm" },
    { name = "B", component = "b.wasm" },
    { name = "B", path = "c.wasm" },
]
[matrix]
kind = "round_robin"
rounds = 10
"#;

fn faults(plan: &str) -> Vec<String> {
    Plan::parse(plan).expect_err("refused").0.into_iter().map(|f| f.pointer).collect()
}

fn with_matrix(matrix: &str) -> String {
    PLAN.replace("kind = \"round_robin\"", matrix)
}

#[test]
fn rules_are_expanded_to_pairs() {
    let pairs = |matrix: &str| Plan::parse(&with_matrix(matrix)).expect("valid").pairs();
    assert_eq!(pairs("kind = \"round_robin\""), [[0, 1], [0, 2], [1, 2]]);
    let with_self = pairs("kind = \"round_robin\"\nself_play = true");
    assert_eq!(with_self, [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]);
    assert_eq!(pairs("kind = \"gauntlet\""), [[0, 1], [0, 2]]);
    assert_eq!(pairs("kind = \"gauntlet\"\nchallengers = [2]"), [[0, 2], [1, 2]]);
    assert_eq!(pairs("pairs = [[2, \"A\"], [1, 1]]"), [[0, 2], [1, 1]]);
}

#[test]
fn a_plan_says_what_it_does_not_say() {
    let plan = Plan::parse(PLAN).expect("valid");
    assert_eq!((plan.repetitions, plan.host_retries, plan.self_play), (1, 2, false));
    assert_eq!(plan.pairing, Pairing::RoundRobin);
    assert_eq!(plan.strategies[1].version, "0");
}

#[test]
fn every_fault_is_told_at_once() {
    let wrong = r#"
        slug = "No Slug"
        game = "chess"
        colour = "red"
        strategies = [{ name = "p0001", component = 3 }]
        [matrix]
        kind = "swiss"
        [protocol]
        move_validation = "maybe"
        [budget]
        fuel = -1
    "#;
    let expected = [
        "/colour",
        "/slug",
        "/title",
        "/game",
        "/strategies/0/name",
        "/strategies/0/component",
        "/matrix/kind",
        "/protocol/move_validation",
        "/budget/fuel",
    ];
    assert_eq!(faults(wrong), expected);
}

#[test]
fn pairs_that_mean_nothing_are_named() {
    let matrix = "pairs = [[\"B\", 0], [0, 9], [0], [0, 1], [1, 0], [0, \"X\"]]";
    let expected =
        ["/matrix/pairs/0/0", "/matrix/pairs/1/1", "/matrix/pairs/2", "/matrix/pairs/4", "/matrix/pairs/5/1"];
    assert_eq!(faults(&with_matrix(matrix)), expected);
}

#[test]
fn what_belongs_to_the_other_game_is_refused() {
    assert_eq!(faults(&with_matrix("packs = [\"two-spikes\"]")), ["/matrix/packs"]);
    let campus =
        PLAN.replace("\"matrix\"\nstr", "\"campus\"\nstr").replace("game = \"matrix\"", "game = \"campus\"");
    assert_eq!(faults(&campus), ["/matrix/rounds", "/matrix/packs"]);
}

#[test]
fn no_strategies_and_broken_text_are_refused() {
    assert_eq!(
        faults("slug = \"a\"\ntitle = \"a\"\ngame = \"matrix\"\nstrategies = []\n[matrix]\nrounds = 1"),
        ["/strategies"]
    );
    assert_eq!(faults("slug = "), [""]);
}
