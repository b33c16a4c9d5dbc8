//! What a run comes to, and what its files say.

use arena_tournament::{Class, InProcess, verify};

use super::natives::{self, Natives, in_process, json, plan, play};

fn standing<'v>(card: &'v serde_json::Value, name: &str) -> &'v serde_json::Value {
    let standings = card["standings"].as_array().expect("standings");
    standings.iter().find(|row| row["strategy"] == name).expect("everybody stands somewhere")
}

#[test]
fn a_complete_matrix_succeeds_and_verifies() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &natives::NAMES, "self_play = true\nrepetitions = 2");
    let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
    assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
    let card = json(folder.path(), "scorecard.json");
    assert_eq!(card["completed"]["completed"], 72);
    for row in card["standings"].as_array().expect("standings") {
        let sum: u64 =
            ["wins", "draws", "losses", "no_contests"].iter().map(|m| row[m].as_u64().unwrap()).sum();
        assert_eq!(sum, 14, "{row}");
        assert_eq!(row["games"], 14);
        assert_eq!(row["self_play_games"], 2);
    }
    // Ahead of a cooperator when it panics: a forfeit loses whatever the points, but against who forfeits.
    assert_eq!(
        (&standing(&card, "panics-3")["losses"], &standing(&card, "panics-3")["draws"]),
        (&12.into(), &2.into())
    );
    assert_eq!(standing(&card, "no-start")["forfeits"], 14 + 2 * 2);
    assert!(!folder.path().join("secret").exists() && !folder.path().join("state.json").exists());
    let verified = verify(folder.path(), &natives::pins()).expect("read").expect("it holds");
    let all = verified.choose(None, 0);
    let replayed = verified.replay(&all, &mut in_process(), &mut |_| {}).expect("played").expect("equal");
    assert_eq!((replayed.records, replayed.replayed), (72, 72));
}

#[test]
fn both_seats_may_forfeit_on_the_same_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &["panics-3"], "self_play = true");
    play(folder.path(), &plan, &mut in_process()).expect("played");
    let record = json(folder.path(), "matches/m00001.json");
    assert_eq!(record["outcome"], "double_forfeit");
    assert_eq!((&record["forfeits"][0]["turn"], &record["forfeits"][1]["turn"]), (&3.into(), &3.into()));
    assert_eq!(record["moves"], serde_json::json!(["DDDCCC", "DDDCCC"]));
    assert_eq!(record["scores"], serde_json::json!([12, 12]));
}

#[test]
fn who_cannot_start_loses_in_either_seat_and_two_of_them_have_no_contest() {
    for game in ["matrix", "campus"] {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = plan(game, &["no-start", "cooperator"], "self_play = true");
        let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
        assert_eq!(ended.ending.class, Class::Success, "{:?}", ended.ending);
        let outcomes = json(folder.path(), "scorecard.json")["pairs"].clone();
        for pair in outcomes.as_array().expect("pairs") {
            let expected = match (pair["a"].as_str(), pair["b"].as_str()) {
                (Some("no-start"), Some("no-start")) => "no_contest",
                (Some("no-start"), _) => "seat_1",
                (_, Some("no-start")) => "seat_0",
                _ => "draw",
            };
            assert_eq!(pair["outcome"], expected, "{game}");
        }
        let card = json(folder.path(), "scorecard.json");
        assert_eq!(standing(&card, "no-start")["wins"], 0);
        assert_eq!(standing(&card, "cooperator")["wins"], 1);
    }
}

#[test]
fn a_host_that_fails_now_and_then_costs_nobody_anything() {
    let plan = plan("matrix", &["cooperator", "defector", "copycat"], "");
    let calm = tempfile::tempdir().expect("a folder");
    play(calm.path(), &plan, &mut in_process()).expect("played");
    let stormy = tempfile::tempdir().expect("a folder");
    let mut executor = InProcess::new(Natives::failing([2, 3, 7]));
    let ended = play(stormy.path(), &plan, &mut executor).expect("played");
    assert_eq!(ended.ending.class, Class::Success);
    assert_eq!(natives::files(calm.path()), natives::files(stormy.path()));
}

#[test]
fn a_host_that_fails_for_good_stalls_the_run_which_can_be_taken_up() {
    let plan = plan("matrix", &["cooperator", "defector", "copycat"], "");
    let folder = tempfile::tempdir().expect("a folder");
    let mut executor = InProcess::new(Natives::failing(3..100));
    let ended = play(folder.path(), &plan, &mut executor).expect("played");
    assert_eq!((ended.ending.class, ended.ending.matchup.map(|id| id.0)), (Class::Stalled, Some(2)));
    assert!(ended.ending.reason.contains("out of memory"), "{}", ended.ending.reason);
    let receipt = json(folder.path(), "receipt.json");
    assert_eq!(receipt["matchups"]["completed"], 1);
    assert_eq!(receipt["matchups"]["remaining"], serde_json::json!(["m00002", "m00003"]));
    assert!(receipt["scorecard"].is_null() && !folder.path().join("scorecard.json").exists());
    let ended = natives::resume(folder.path(), &mut in_process()).expect("resumed");
    assert_eq!(ended.ending.class, Class::Success);
    let calm = tempfile::tempdir().expect("a folder");
    play(calm.path(), &plan, &mut in_process()).expect("played");
    assert_eq!(natives::files(calm.path()), natives::files(folder.path()));
}

#[test]
fn what_is_out_of_its_static_range_is_cut_or_costs_a_turn_or_ends_the_run() {
    let of = |validation: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let rest = format!("[protocol]\nmove_validation = \"{validation}\"");
        let plan = plan("campus", &["overasks", "cooperator"], &rest);
        let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
        (folder, ended)
    };
    let (folder, ended) = of("clamp");
    assert_eq!(ended.ending.class, Class::Success);
    let seat = |record: &serde_json::Value| {
        let overasks = natives::sha256("overasks").to_string();
        usize::from(record["strategies"][1] == overasks.as_str())
    };
    let record = json(folder.path(), "matches/m00001.json");
    let moves = &record["moves"][seat(&record)];
    assert_eq!(moves[2]["asked"]["curtail_mw"], "NaN");
    assert_eq!(moves[2]["clamps"][0]["reason"], "not_finite");
    assert!(moves[3]["applied"]["battery_mw"].as_f64().expect("a number") > 0.0);
    let (folder, ended) = of("forfeit");
    assert_eq!(ended.ending.class, Class::Success);
    let record = json(folder.path(), "matches/m00001.json");
    let moves = &record["moves"][seat(&record)];
    assert_eq!((&moves[2]["invalid"], &moves[3]["invalid"]), (&true.into(), &true.into()));
    assert_eq!(moves[3]["applied"]["battery_mw"], 0);
    assert!(record["forfeits"][seat(&record)].is_null(), "it costs the turn, not the match");
    assert!(verify(folder.path(), &natives::pins()).expect("read").is_ok());
    let (folder, ended) = of("block");
    assert_eq!((ended.ending.class, ended.ending.matchup.map(|id| id.0)), (Class::Blocked, Some(1)));
    assert!(!folder.path().join("scorecard.json").exists());
}

#[test]
fn one_strategy_needs_itself_and_the_same_bytes_may_play_twice() {
    for (names, count) in [(&["lucky"][..], 1), (&["lucky", "lucky"], 3), (&["lucky", "copycat", "lucky"], 6)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = plan("matrix", names, "self_play = true");
        let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
        assert_eq!(ended.ending.class, Class::Success);
        let card = json(folder.path(), "scorecard.json");
        assert_eq!(card["completed"]["planned"], count);
        assert_eq!(card["standings"].as_array().map(Vec::len), Some(names.len()));
        assert!(!card.to_string().contains("NaN"));
    }
}
