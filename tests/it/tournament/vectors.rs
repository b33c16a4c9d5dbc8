//! The five classic strategies, against results that were computed elsewhere: every score and every move,
//! through the command, its workers and the scorecard.

use super::{Plan, ended, json};

const FIVE: [(&str, &str); 5] = [
    ("Tit For Tat", "tit-for-tat"),
    ("Cooperator", "cooperator"),
    ("Defector", "defector"),
    ("Grudger", "grudger"),
    ("Alternator", "alternator"),
];

#[test]
fn scores_and_moves_of_the_five_are_those_of_others() {
    let expected = json(&arena_tests::repository().join("tests/vectors/matrix/axelrod_five.json"));
    let plan = Plan::new("matrix", &FIVE, "self_play = true\nrounds = 200");
    ended(&plan.run("run", &[]), 0);
    let card = json(&plan.at("run/scorecard.json"));
    let index = |name: &str| FIVE.iter().position(|(known, _)| *known == name).expect("one of the five");
    let pairs = card["pairs"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 15);
    for pair in pairs {
        let (a, b) = (pair["a"].as_str().expect("a name"), pair["b"].as_str().expect("a name"));
        let (i, j) = (index(a), index(b));
        assert_eq!(pair["scores"][0], expected["payoff"][i][j], "{a} vs {b}");
        assert_eq!(pair["scores"][1], expected["payoff"][j][i], "{a} vs {b}");
        let cooperations =
            |seat: usize| pair["moves"][seat].as_str().expect("moves").matches('C').count() as u64;
        assert_eq!(expected["cooperations"][i][j], cooperations(0), "{a} vs {b}");
        assert_eq!(expected["cooperations"][j][i], cooperations(1), "{a} vs {b}");
        let traces = &expected["action_traces"];
        let (straight, swapped) = (&traces[format!("{a} vs {b}")], &traces[format!("{b} vs {a}")]);
        if straight.is_array() {
            assert_eq!(&pair["moves"], straight, "{a} vs {b}");
        } else if swapped.is_array() {
            assert_eq!((&pair["moves"][0], &pair["moves"][1]), (&swapped[1], &swapped[0]), "{a} vs {b}");
        }
    }
    for standing in card["standings"].as_array().expect("standings") {
        let i = index(standing["strategy"].as_str().expect("a name"));
        let sum: i64 = (0..5).map(|j| expected["payoff"][i][j].as_i64().expect("points")).sum();
        assert_eq!(standing["score"], sum);
        assert_eq!(
            standing["score_without_self_play"],
            sum - expected["payoff"][i][i].as_i64().expect("points")
        );
    }
}
