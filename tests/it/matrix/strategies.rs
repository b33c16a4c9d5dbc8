//! The example strategies against definitions of their own, over all pairs, and laws of every pair.

use std::collections::BTreeSet;

use arena_engine::matrix::Move::{self, Cooperate as C, Defect as D};
use arena_engine::matrix::{Payoffs, Rules, move_string};
use arena_sandbox::{Game, admit, admit_experiment, matrix_play};
use arena_tests::{guests, guests_of};

use super::guest::{example, host_on_demand, load, mirrored, play, seed};

/// A strategy as the literature defines it: its next move from everything that was played. Written
/// apart from the guests, which remember no more than they need.
type Definition = fn(own: &[Move], other: &[Move]) -> Move;

const DEFINED: [(&str, Definition); 10] = [
    ("alternator", |own, _| if own.len().is_multiple_of(2) { C } else { D }),
    ("bully", |_, other| if other.last() == Some(&D) { C } else { D }),
    ("cooperator", |_, _| C),
    ("defector", |_, _| D),
    ("grudger", |_, other| if other.contains(&D) { D } else { C }),
    ("hard-tit-for-tat", |_, other| if other.iter().rev().take(3).any(|made| *made == D) { D } else { C }),
    ("suspicious-tit-for-tat", |_, other| *other.last().unwrap_or(&D)),
    ("tit-for-2-tats", |_, other| if other.ends_with(&[D, D]) { D } else { C }),
    ("tit-for-tat", |_, other| *other.last().unwrap_or(&C)),
    ("win-stay-lose-shift", |own, other| match (own.last(), other.last()) {
        (Some(own), Some(C)) => *own,
        (Some(own), Some(D)) => own.opposite(),
        _ => C,
    }),
];

fn names() -> Vec<&'static str> {
    DEFINED.iter().map(|(name, _)| *name).chain(["random"]).collect()
}

const ROUNDS: u32 = 200;

#[test]
fn every_strategy_plays_as_it_is_defined_against_every_other() {
    let mut met = [false; 3];
    for first in names() {
        for second in names() {
            let played = play(&example(first), &example(second), ROUNDS);
            assert_eq!(played.forfeits, [None, None], "{first} vs {second}");
            for (seat, name) in [first, second].into_iter().enumerate() {
                let (own, other) = (&played.moves[seat], &played.moves[1 - seat]);
                assert_eq!(own.len(), ROUNDS as usize);
                let Some((_, definition)) = DEFINED.iter().find(|(known, _)| *known == name) else {
                    continue;
                };
                let defined: Vec<Move> =
                    (0..own.len()).map(|round| definition(&own[..round], &other[..round])).collect();
                assert_eq!(move_string(own), move_string(&defined), "{first} vs {second}, seat {seat}");
                met[0] |= other.windows(2).any(|two| two == [D, D]);
                met[1] |= other.windows(4).any(|four| four == [D, C, C, C]);
                met[2] |= other.windows(3).any(|three| three == [C, D, C]);
            }
        }
    }
    assert_eq!(met, [true; 3], "the pairs tell every two definitions apart");
}

#[test]
fn the_list_is_that_of_the_folder() {
    let built: BTreeSet<String> = guests_of("matrix").into_iter().map(|(name, _)| name).collect();
    assert_eq!(built, names().into_iter().map(str::to_owned).collect());
    for (name, bytes) in guests() {
        let matrix = match admit(&bytes) {
            Ok(admitted) => admitted.game() == Game::Matrix,
            Err(_) => {
                admit_experiment(&bytes).expect("an example that plays no game is an experiment");
                false
            }
        };
        assert_eq!(matrix, built.contains(&name), "{name}");
    }
}

/// Luck is another in each seat, and nothing else is.
#[test]
fn seats_that_change_places_mirror_the_result() {
    for (first, _) in DEFINED {
        for (second, _) in DEFINED {
            let one = play(&example(first), &example(second), ROUNDS);
            let other = play(&example(second), &example(first), ROUNDS);
            assert_eq!(one, mirrored(other), "{first} vs {second}");
        }
    }
}

#[test]
fn two_runs_and_two_kinds_of_seats_give_the_same() {
    for first in names() {
        let second = example("random");
        let once = play(&example(first), &second, ROUNDS);
        assert_eq!(once, play(&example(first), &second, ROUNDS), "{first}");
        let on_demand = |name: &str| load(host_on_demand(), &arena_tests::guest(name));
        assert_eq!(once, play(&on_demand(first), &on_demand("random"), ROUNDS), "{first}");
    }
}

#[test]
fn luck_comes_from_the_seed_and_the_seat() {
    let random = example("random");
    let rules = Rules::new(Payoffs::default(), 2_000).expect("rules");
    let game = |seed| matrix_play(&[random.clone(), random.clone()], &rules, seed).expect("no host fault");
    let (one, other) = (game(seed()), game(arena_canon::Digest::of(b"another match")));
    assert_ne!(one.moves[0], one.moves[1], "the seats share the seed and not the luck");
    assert_ne!(one.moves[0], other.moves[0]);
    for moves in one.moves.iter().chain(&other.moves) {
        let defections = moves.iter().filter(|made| **made == D).count();
        // Ten standard deviations.
        assert!((776..=1_224).contains(&defections), "{defections} of 2000");
    }
}

/// Payoffs reach the guest and the score as they are, negative and large ones too.
#[test]
fn any_payoffs_are_paid() {
    let payoffs = Payoffs { r: -7, s: i32::MIN, t: i32::MAX, p: 0 };
    let rules = Rules::new(payoffs, 3).expect("rules");
    let score = |first, second| {
        matrix_play(&[example(first), example(second)], &rules, seed()).expect("no host fault").scores
    };
    assert_eq!(score("cooperator", "tit-for-tat"), [-21, -21]);
    assert_eq!(score("cooperator", "defector"), [i64::from(i32::MIN) * 3, i64::from(i32::MAX) * 3]);
    assert_eq!(score("defector", "tit-for-tat"), [i64::from(i32::MAX), i64::from(i32::MIN)]);
}

/// As long as a game may be; the budgets of fuel are enough for it.
#[test]
fn the_longest_game_is_played_to_its_end() {
    let most = arena_engine::matrix::ROUNDS_MAX;
    let played = play(&example("tit-for-tat"), &example("alternator"), most);
    assert_eq!(played.forfeits, [None, None]);
    assert_eq!(played.moves[0].len(), most as usize);
    assert_eq!(played.usage[1].fuel.len(), most as usize);
}
