//! What the vectors say, the commands say.

use arena_cli::Exit;
use serde_json::{Value, json};

use super::{answer, ask, cases, vectors};
use crate::cli::arena;

#[test]
fn windows_and_rounds_are_scored() {
    let vectors = vectors("sprint/score_vectors.json");
    for case in cases(&vectors, "windows") {
        let question = json!({ "window": case["window"], "previous": case["previous"] });
        assert_eq!(answer("sprint score", &question), case["expect"], "{}", case["name"]);
    }
    for case in cases(&vectors, "rounds") {
        let question = json!({ "entrants": case["entrants"] });
        assert_eq!(answer("sprint score", &question), case["expect"], "{}", case["name"]);
    }
    for case in cases(&vectors, "invalid") {
        let ran = ask("sprint score", &json!({ "window": case["window"], "previous": null }));
        assert_eq!((ran.exit, ran.json()), (Exit::Rejected, json!({ "error": case["error"] })), "{case}");
    }
}

#[test]
fn the_clock_and_the_stakes_answer() {
    let vectors = vectors("sprint/score_vectors.json");
    for case in cases(&vectors, "phases") {
        let question = json!({ "round_start": case["round_start"], "now": case["now"] });
        assert_eq!(answer("sprint phase", &question), case["expect"], "{case}");
    }
    for mut case in cases(&vectors, "actions") {
        let expected = case.as_object_mut().and_then(|case| case.remove("expect")).expect("a result");
        assert_eq!(answer("sprint phase", &case), json!({ "result": expected }), "{case}");
    }
    for case in cases(&vectors, "stakes") {
        let question = json!({ "window": case["window"] });
        assert_eq!(answer("sprint stake", &question), json!({ "result": case["expect"] }), "{case}");
    }
}

#[test]
fn citations_and_claims_are_judged() {
    for case in cases(&vectors("contest/citations.json"), "examples") {
        assert_eq!(answer("contest cite", &case["citation"]), case["expect"], "{case}");
    }
    for case in cases(&vectors("contest/overlap.json"), "pairs") {
        let said = answer("contest overlap", &json!({ "a": case["a"], "b": case["b"] }));
        for member in ["duplicate", "jaccard_permille", "containment_permille"] {
            assert_eq!(said[member], case[member], "{member} of {case}");
        }
        assert_eq!(said.as_object().map(serde_json::Map::len), Some(3));
    }
}

#[test]
fn a_manifest_comes_back_as_it_was() {
    let path = arena_tests::repository().join("tests/vectors/contest/manifest.json");
    let path = path.to_str().expect("a plain name");
    let ran = arena(["contest", "manifest", path]);
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let original: Value = vectors("contest/manifest.json");
    assert_eq!(ran.json(), original);
}
