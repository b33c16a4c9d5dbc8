use arena_engine::During;

use super::super::{ForfeitFact, RecordFault};
use super::*;
use crate::frozen::{Matchup, MatrixRules, MoveValidation, PayoffTable, Scenario};
use crate::job::Job;
use crate::names::{Alias, MatchId};

const ROUNDS: u32 = 5;

fn job() -> Job {
    let payoffs = PayoffTable { r: 3, s: -7, t: i32::MAX, p: i32::MIN };
    let matchup = Matchup {
        id: MatchId(7),
        repetition: 12,
        scenario: Scenario::Matrix(MatrixRules { payoffs, rounds: ROUNDS }),
        seats: [Alias(0), Alias(11)],
    };
    Job {
        frozen_sha256: Digest::of(b"frozen"),
        matchup,
        strategies: [Digest::of(b"one"), Digest::of(b"two")],
        seed: Digest::of(b"seed"),
        move_validation: MoveValidation::Clamp,
    }
}

fn fuel(brief: u64, turns: &[u64]) -> FuelFact {
    FuelFact { brief, total: turns.iter().sum::<u64>() + brief, turns: turns.to_vec() }
}

fn quiet() -> Facts {
    Facts {
        forfeits: [None, None],
        fuel: [fuel(0, &[0, 1, 10, 999, 123_456_789_012]), fuel(42, &[1, 2, 3, 4, 5])],
        guest_sha256: None,
        moves: Moves::Matrix(["CDCDC".to_owned(), "DDCCC".to_owned()]),
    }
}

/// A seat that ended on turn 2, or before the first.
fn forfeit(during: During, turn: u32) -> ForfeitFact {
    ForfeitFact {
        build_dependent: true,
        code: "trapped".to_owned(),
        during,
        text_sha256: Digest::of(b"text"),
        turn,
    }
}

fn all() -> Vec<Facts> {
    let gone = |during, turn| Some(forfeit(during, turn));
    vec![
        quiet(),
        Facts { guest_sha256: Some(Digest::of(b"said")), ..quiet() },
        Facts {
            forfeits: [None, gone(During::Turn, 2)],
            fuel: [fuel(1, &[9; 5]), fuel(2, &[8, 8, 8, 0, 0])],
            ..quiet()
        },
        Facts {
            forfeits: [gone(During::Start, 0), gone(During::Brief, 0)],
            fuel: [fuel(0, &[]), fuel(5, &[])],
            guest_sha256: Some(Digest::of(b"said")),
            moves: Moves::Matrix([String::new(), String::new()]),
        },
    ]
}

#[test]
fn a_record_is_canonical_json_with_its_digest() {
    for facts in all() {
        let record = Record::derive(&job(), facts, None).expect("a record");
        let (bytes, digest) = sealed(&record);
        let content = json::canonical_of(&record);
        assert_eq!(digest, Digest::of(&content));
        let text = format!("{{\"digest\":\"{digest}\",{}", &String::from_utf8_lossy(&content)[1..]);
        assert_eq!(String::from_utf8_lossy(&bytes), text);
        assert_eq!(Record::read(&bytes, &job(), None).expect("the same").to_bytes(), bytes);
    }
}

#[test]
fn only_records_without_a_forfeit_and_a_word_are_read_as_they_were_put_down() {
    let read = all().into_iter().map(|facts| {
        let bytes = Record::derive(&job(), facts.clone(), None).expect("a record").to_bytes();
        Quiet::read(&bytes).map(|read| assert_eq!(read.facts, facts)).is_some()
    });
    assert_eq!(read.collect::<Vec<_>>(), [true, false, false, false]);
}

/// Wherever a byte is another one, or the text ends: never a record, and never a panic.
#[test]
fn no_other_text_is_a_record() {
    let bytes = Record::derive(&job(), quiet(), None).expect("a record").to_bytes();
    for at in 0..bytes.len() {
        assert!(Record::read(&bytes[..at], &job(), None).is_err(), "cut at {at}");
        for other in [b'0', b'9', b'C', b'D', b'"', b',', b']', b'x', 0xff] {
            let mut changed = bytes.clone();
            changed[at] = other;
            let same = bytes[at] == other;
            assert_eq!(Record::read(&changed, &job(), None).is_ok(), same, "byte {at} is {other}");
        }
    }
}

/// The fuel is taken over as it is written, so it must be written as canonical JSON writes it.
#[test]
fn a_number_has_one_text() {
    let bytes = Record::derive(&job(), quiet(), None).expect("a record").to_bytes();
    let text = String::from_utf8(bytes).expect("text");
    for (from, to) in [
        ("[0,1,10,", "[00,1,10,"),
        ("[0,1,10,", "[0,01,10,"),
        ("[0,1,10,", "[0,1,010,"),
        ("[0,1,10,", "[0,1,10.0,"),
        ("[0,1,10,", "[0,1,1e1,"),
        ("[0,1,10,", "[-0,1,10,"),
        ("\"brief\":42", "\"brief\":042"),
        ("\"total\":57", "\"total\":0000000000000000057"),
    ] {
        let digest = |text: &str| Digest::of_parts(&[b"{", &text.as_bytes()[HEAD..]]);
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let sealed = changed.replacen(&digest(&text).to_string(), &digest(&changed).to_string(), 1);
        assert!(Record::read(sealed.as_bytes(), &job(), None).is_err(), "{to}");
    }
}

/// What is wrong is told as if the text had been read with more care.
#[test]
fn a_fault_is_named_by_its_place() {
    let bytes = Record::derive(&job(), quiet(), None).expect("a record").to_bytes();
    let text = String::from_utf8(bytes).expect("text");
    let read = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Record::read(text.replacen(from, to, 1).as_bytes(), &job(), None).expect_err("another record")
    };
    assert!(
        matches!(read("\"repetition\":12", "\"repetition\":13"), RecordFault::Differs { pointer, .. } if pointer == "/repetition")
    );
    assert!(matches!(read("CDCDC", "CDCDX"), RecordFault::Contradiction(why) if why.starts_with("/moves/0")));
    assert!(
        matches!(read("\"total\":57", "\"total\":58"), RecordFault::Contradiction(why) if why.starts_with("/fuel/1"))
    );
    assert!(matches!(read(":[1,2,", ":[1, 2,"), RecordFault::NotCanonical));
    assert!(matches!(read("\"fuel\"", "\"fool\""), RecordFault::Unreadable(_)));
}

#[test]
fn numbers_are_written_as_canonical_json_writes_them() {
    let most = crate::canonical::COUNT_MAX;
    for number in
        [0, 1, 9, 10, 1_234_567, 9_999_999, WORD_END - 1, WORD_END, WORD_END + 7, 10 * WORD_END, most]
    {
        let mut text = Text(Vec::new());
        text.number(number);
        assert_eq!(String::from_utf8_lossy(&text.0), number.to_string());
    }
    let whole = WORD_END as f64;
    for number in [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 5e-324, 1e21, whole, -whole, whole - 1.0, 1e300, f64::MAX]
    {
        let mut text = Text(Vec::new());
        text.float(number);
        assert_eq!(text.0, json::canonical_of(&number), "{number}");
    }
}

/// Every kind of action, as asked and as applied; what is not finite has a word.
#[test]
fn actions_are_written_as_canonical_json_writes_them() {
    let numbers = [0.0, -0.0, 12.0, -3.25, 1e9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let asked = |i: usize| Asked {
        accept_offer: i.is_multiple_of(2),
        battery_mw: numbers[i % 8],
        curtail_mw: numbers[(i + 3) % 8],
        diesel_mw: numbers[(i + 5) % 8],
    };
    let moves: Vec<DerivedMove> = (0..32)
        .map(|i| DerivedMove {
            applied: asked(i),
            asked: (i % 3 > 0).then(|| asked(i + 1)),
            clamps: Vec::new(),
            invalid: i % 5 == 0,
        })
        .collect();
    for moves in [&moves[..], &moves[..1], &[]] {
        let mut text = Text(Vec::new());
        text.campus_moves(moves);
        assert_eq!(String::from_utf8_lossy(&text.0), String::from_utf8_lossy(&json::canonical_of(&moves)));
    }
}
