use arena_canon::json::Value;
use arena_contests::sprint::wire::{self, Said};
use serde_json::json;

use crate::cases;

fn vectors() -> Value {
    crate::vectors("sprint/score_vectors.json")
}

fn answer(said: Said) -> Value {
    match said {
        Said::Answer(value) => value,
        Said::Refused(why, at) => panic!("{at}: {why}"),
    }
}

#[test]
fn windows_score_as_the_vectors_say() {
    for case in cases(&vectors(), "windows") {
        let question = json!({ "window": case["window"], "previous": case["previous"] });
        assert_eq!(answer(wire::score(&question).expect("read")), case["expect"], "{}", case["name"]);
    }
}

#[test]
fn rounds_rank_as_the_vectors_say_in_whatever_order_they_come() {
    for case in cases(&vectors(), "rounds") {
        let mut entrants = case["entrants"].as_array().expect("an array").clone();
        for _ in 0..entrants.len() {
            entrants.rotate_left(1);
            let question = json!({ "entrants": entrants });
            assert_eq!(answer(wire::score(&question).expect("read")), case["expect"], "{}", case["name"]);
        }
    }
}

#[test]
fn records_are_refused_as_the_vectors_say() {
    for case in cases(&vectors(), "invalid") {
        let question = json!({ "window": case["window"], "previous": null });
        match wire::score(&question).expect("read") {
            Said::Refused(why, at) => {
                assert_eq!((why.name(), at.as_str()), (case["error"].as_str().expect("a text"), "/window"));
            }
            Said::Answer(answer) => panic!("{case} scores {answer}"),
        }
    }
}

#[test]
fn the_clock_says_what_the_vectors_say() {
    for case in cases(&vectors(), "phases") {
        let question = json!({ "round_start": case["round_start"], "now": case["now"] });
        assert_eq!(wire::phase(&question).expect("read"), case["expect"], "{case}");
    }
    for case in cases(&vectors(), "actions") {
        let mut question = case.clone();
        question.as_object_mut().expect("an object").remove("expect");
        assert_eq!(wire::phase(&question).expect("read")["result"], case["expect"], "{case}");
    }
}

#[test]
fn stakes_end_as_the_vectors_say() {
    for case in cases(&vectors(), "stakes") {
        let question = json!({ "window": case["window"] });
        assert_eq!(answer(wire::stake(&question).expect("read"))["result"], case["expect"], "{case}");
    }
}
