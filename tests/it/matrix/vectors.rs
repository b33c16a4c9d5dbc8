//! Five strategies of the literature as the Axelrod library (4.14.0) plays them, against the example
//! strategies in the sandbox.

use arena_engine::matrix::{Move, move_string, read_moves, replay};
use arena_tests::repository;
use serde_json::Value;

use super::guest::{example, play, rules};

fn vectors() -> Value {
    let text = std::fs::read(repository().join("tests/vectors/matrix/axelrod_five.json"));
    serde_json::from_slice(&text.expect("the vectors are in the repository")).expect("they are JSON")
}

#[test]
fn every_score_cooperation_and_move_is_that_of_the_vectors() {
    let vectors = vectors();
    let names: Vec<&str> =
        vectors["strategies"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let guest = |name: &str| example(&name.to_lowercase().replace(' ', "-"));
    let rounds = u32::try_from(vectors["turns"].as_u64().expect("a number")).expect("a small one");
    assert_eq!((names.len(), rounds), (5, 200));
    let mut traces = 0;
    for (i, row) in names.iter().enumerate() {
        for (j, column) in names.iter().enumerate() {
            let played = play(&guest(row), &guest(column), rounds);
            assert_eq!(played.forfeits, [None, None], "{row} vs {column}");
            let score = |i: usize, j: usize| vectors["payoff"][i][j].as_i64();
            assert_eq!(played.scores.map(Some), [score(i, j), score(j, i)], "{row} vs {column}");
            let cooperations = |seat: usize| {
                let made = &played.moves[seat];
                Some(made.iter().filter(|made| **made == Move::Cooperate).count() as u64)
            };
            let expected = |i: usize, j: usize| vectors["cooperations"][i][j].as_u64();
            assert_eq!(
                [cooperations(0), cooperations(1)],
                [expected(i, j), expected(j, i)],
                "{row} vs {column}"
            );
            let moves = [move_string(&played.moves[0]), move_string(&played.moves[1])];
            if let Some(trace) = vectors["action_traces"].get(format!("{row} vs {column}")) {
                assert_eq!(serde_json::json!(moves), *trace, "{row} vs {column}");
                traces += 1;
            }
            let read = moves.map(|moves| read_moves(&moves).expect("letters"));
            let again = replay(&rules(rounds), [&read[0], &read[1]]);
            assert_eq!(again, Ok(played.scores), "{row} vs {column}");
        }
    }
    let recorded = vectors["action_traces"].as_object().expect("an object").len();
    assert_eq!((traces, traces >= 15), (recorded, true), "every recorded game was compared");
}
