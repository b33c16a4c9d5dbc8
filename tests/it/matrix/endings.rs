//! Who forfeits what: in either seat, in both at once, before round 0 and on the last one.

use arena_engine::matrix::{Move, move_string};
use arena_engine::{During, ForfeitRecord, HostFault};
use arena_sandbox::{Game, HostOptions, PlayedMatrix, SeatError, Seats, Strategy, matrix_play};

use super::guest::{example, load, mirrored, play, rules, seed, strategy};
use crate::sandbox::hostile::ending;

/// Defects until that round, and then gives up.
fn gives_up_on(round: u32) -> Strategy {
    strategy(&format!(
        r#"(module (func (export "act") (type $act)
             (if (i32.eq (local.get 0) (i32.const {round})) (then unreachable)) (i32.const 1)))"#
    ))
}

fn moves(played: &PlayedMatrix) -> [String; 2] {
    [move_string(&played.moves[0]), move_string(&played.moves[1])]
}

fn endings(played: &PlayedMatrix) -> [String; 2] {
    [ending(played.forfeits[0].as_ref()), ending(played.forfeits[1].as_ref())]
}

/// The same game with the failing strategy in either seat, its own side first.
fn in_either_seat(failing: &Strategy, other: &Strategy) -> PlayedMatrix {
    let played = play(failing, other, 5);
    assert_eq!(mirrored(play(other, failing, 5)), played, "the seat does not matter");
    played
}

#[test]
fn a_forfeit_is_the_failing_seats_own_and_the_rest_is_cooperation() {
    let played = in_either_seat(&gives_up_on(2), &example("defector"));
    assert_eq!(endings(&played), ["trapped unreachable on turn 2: function[0]", "acted"]);
    assert_eq!(moves(&played), ["DDCCC", "DDDDD"]);
    assert_eq!(played.scores, [2, 17]);
    let called: Vec<bool> = played.usage[0].fuel.iter().map(|fuel| *fuel > 0).collect();
    assert_eq!(called, [true, true, true, false, false], "it is not called again");
}

#[test]
fn the_other_seat_sees_cooperation_and_nothing_of_the_forfeit() {
    let played = in_either_seat(&gives_up_on(1), &example("tit-for-tat"));
    assert_eq!(moves(&played), ["DCCCC", "CDCCC"]);
}

#[test]
fn both_seats_may_fail_in_the_same_round() {
    let played = play(&gives_up_on(3), &gives_up_on(3), 5);
    assert_eq!(endings(&played), ["trapped unreachable on turn 3: function[0]"; 2]);
    assert_eq!(moves(&played), ["DDDCC", "DDDCC"]);
    assert_eq!(played.scores, [9, 9]);
}

#[test]
fn both_seats_may_fail_in_different_rounds_and_ways() {
    let spends = strategy(
        r#"(module (func (export "act") (type $act)
             (if (i32.eq (local.get 0) (i32.const 3)) (then (loop (br 0)))) (i32.const 1)))"#,
    );
    let played = in_either_seat(&gives_up_on(1), &spends);
    let expected = ["trapped unreachable on turn 1: function[0]", "fuel_spent turn on turn 3: 20000000"];
    assert_eq!(endings(&played), expected);
    assert_eq!(moves(&played), ["DCCCC", "DDDCC"]);
}

#[test]
fn a_failure_on_the_last_round_still_counts() {
    let played = in_either_seat(&gives_up_on(4), &example("cooperator"));
    assert_eq!(endings(&played)[0], "trapped unreachable on turn 4: function[0]");
    assert_eq!(moves(&played)[0], "DDDDC");
}

const DOES_NOT_START: &str = "(module (func $start unreachable) (start $start))";
const DOES_NOT_TAKE_THE_BRIEF: &str = r#"(module (func (export "brief") (type $brief) unreachable))"#;

#[test]
fn who_fails_before_round_0_leaves_the_other_a_whole_game() {
    for (wat, during) in [(DOES_NOT_START, During::Start), (DOES_NOT_TAKE_THE_BRIEF, During::Brief)] {
        let played = in_either_seat(&strategy(wat), &example("alternator"));
        let [Some(ForfeitRecord { turn, during: found, build_dependent, .. }), None] = &played.forfeits
        else {
            panic!("{:?}", played.forfeits)
        };
        // What instantiation costs depends on the build, so an ending in it does.
        assert_eq!((*turn, *found, *build_dependent), (0, during, during == During::Start));
        assert_eq!(moves(&played), ["CCCCC", "CDCDC"]);
        assert_eq!(played.usage[0].fuel, [0; 5]);
        assert!(played.usage[1].fuel.iter().all(|fuel| *fuel > 0));
    }
}

#[test]
fn when_both_fail_before_round_0_no_round_is_played() {
    let played = in_either_seat(&strategy(DOES_NOT_START), &strategy(DOES_NOT_TAKE_THE_BRIEF));
    assert!(played.forfeits.iter().all(Option::is_some));
    assert_eq!((moves(&played), played.scores), ([String::new(), String::new()], [0, 0]));
    assert!(played.usage.iter().all(|usage| usage.fuel.is_empty()));
}

/// 25 rounds at the turn's limit are all that an episode's budget buys.
#[test]
fn the_episodes_budget_ends_who_spends_every_rounds() {
    let spends = strategy(
        r#"(module (func (export "act") (type $act) (local $left i32)
             (local.set $left (i32.const 3990000))
             (loop (br_if 0 (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
             (i32.const 1)))"#,
    );
    let played = play(&spends, &example("cooperator"), 40);
    assert_eq!(endings(&played), ["fuel_spent episode on turn 25: 500000000", "acted"]);
    let cooperations = played.moves[0].iter().filter(|made| **made == Move::Cooperate).count();
    assert_eq!(cooperations, 15);
}

#[test]
fn what_a_guest_logs_is_kept_with_its_round() {
    let talks = strategy(
        r#"(module
             (import "arena:matrix/host@0.1.0" "log" (func $log (param i32 i32 i32)))
             (memory (export "memory") 1)
             (data (i32.const 0) "brief act")
             (func (export "brief") (type $brief) (call $log (i32.const 1) (i32.const 0) (i32.const 5)))
             (func (export "act") (type $act)
               (call $log (i32.const 2) (i32.const 6) (i32.const 3)) (i32.const 0)))"#,
    );
    let played = play(&talks, &example("cooperator"), 2);
    let lines: Vec<_> = played.usage[0].log.iter().map(|line| (line.turn, line.text.as_str())).collect();
    assert_eq!(lines, [(0, "brief"), (0, "act"), (1, "act")]);
    assert!(played.usage[1].log.is_empty());
}

/// A pool with one seat has no room for a game of two: that is nobody's forfeit.
#[test]
fn a_host_without_room_is_a_fault_and_no_result() {
    let host = arena_sandbox::Host::new(&HostOptions::new(Seats::Pooled(1))).expect("a host");
    let tit_for_tat = load(&host, &arena_tests::guest("tit-for-tat"));
    let both = [tit_for_tat.clone(), tit_for_tat];
    let fault: HostFault = matrix_play(&both, &rules(5), seed()).expect_err("no room");
    assert_eq!(fault.doing, "running a strategy");
}

#[test]
fn a_strategy_is_seated_at_its_own_game_only() {
    let (matrix, campus) = (example("tit-for-tat"), example("idle"));
    assert_eq!((matrix.game(), campus.game()), (Game::Matrix, Game::Campus));
    assert!(matrix.matrix_seat(seed(), 0).is_ok() && campus.seat(seed(), 0).is_ok());
    let wrong = [
        (matrix.seat(seed(), 0).err(), "a matrix strategy cannot play the campus game"),
        (campus.matrix_seat(seed(), 0).err(), "a campus strategy cannot play the matrix game"),
    ];
    for (error, told) in wrong {
        let error = error.expect("it is refused");
        assert_eq!(error.to_string(), told);
        assert!(matches!(error, SeatError::WrongGame { .. }));
    }
}
