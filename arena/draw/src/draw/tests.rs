//! The published vectors, and the pool against the walk that defines it.

use std::collections::BTreeSet;

use arena_canon::Digest;
use proptest::prelude::*;

use super::{Draw, Pick, Pool, sample};
use crate::{Eligible, Entry, Purpose, TICKETS_MAX, Words};

const VECTORS: &str = include_str!("../../../../tests/vectors/draw/vectors.txt");

/// The seeds of the vectors with the lines below each.
fn seeds() -> Vec<(Digest, Vec<&'static str>)> {
    let mut seeds = Vec::new();
    for line in VECTORS.lines() {
        if let Some(seed) = line.strip_prefix("seed ") {
            seeds.push((seed.parse().expect("a seed"), Vec::new()));
        } else if line.starts_with("root ") {
            break;
        } else if let Some((_, lines)) = seeds.last_mut() {
            lines.push(line.trim());
        }
    }
    seeds
}

#[test]
fn words_are_those_of_chacha20() {
    let seeds = seeds();
    assert_eq!(seeds.len(), 3);
    for (seed, lines) in &seeds {
        let line = lines.iter().find_map(|line| line.strip_prefix("u64 ")).expect("words");
        let mut words = Words::new(*seed);
        for want in line.split(' ') {
            assert_eq!(format!("{:016x}", words.next_word()), want, "{seed}");
        }
        assert_eq!(words.consumed(), 10);
    }
}

#[test]
fn numbers_below_a_bound_and_the_words_they_take() {
    let mut checked = 0;
    for (seed, lines) in seeds() {
        for line in lines.iter().filter_map(|line| line.strip_prefix("below ")) {
            let (bound, rest) = line.split_once(": ").expect("a bound");
            let bound: u64 = bound.parse().expect("a number");
            let mut words = Words::new(seed);
            let drawn: Vec<u64> = (0..8).map(|_| words.below(bound)).collect();
            assert_eq!(format!("{drawn:?} words={}", words.consumed()), rest, "{seed} below {bound}");
            checked += 1;
        }
    }
    assert_eq!(checked, 30);
}

#[test]
#[should_panic(expected = "a bound is from 1 to 2^63")]
fn nothing_is_below_zero() {
    Words::new(Digest::of(b"")).below(0);
}

#[test]
#[should_panic(expected = "a bound is from 1 to 2^63")]
fn a_bound_beyond_the_stream_is_a_bug() {
    Words::new(Digest::of(b"")).below((1 << 63) + 1);
}

fn agents(picks: &[Pick]) -> Vec<&str> {
    picks.iter().map(|pick| pick.agent.as_str()).collect()
}

#[test]
fn uniform_draws() {
    let entries: Vec<Entry> =
        (0..20).map(|i| Entry::new(format!("u{i:02}"), format!("o{i:02}"), 1)).collect();
    let wanted: Vec<&str> =
        VECTORS.lines().filter_map(|line| line.strip_prefix("uniform20 panel7 ")).collect();
    let found: Vec<String> = seeds()
        .iter()
        .map(|(seed, _)| {
            format!("{:?}", agents(&sample(&mut Words::new(*seed), &entries, 7))).replace('"', "'")
        })
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(found.len(), 3);
}

/// The eligible set of the end-to-end vectors.
pub(crate) fn seven() -> Eligible {
    let entries = [
        ("agent-a", "op-1", 4),
        ("agent-b", "op-1", 4),
        ("agent-c", "op-2", 1),
        ("agent-d", "op-3", 7),
        ("agent-e", "op-4", 2),
        ("agent-f", "op-5", 2),
        ("agent-g", "op-6", 1),
    ];
    Eligible::new(entries.map(|(agent, operator, tickets)| Entry::new(agent, operator, tickets)).to_vec())
        .expect("in order")
}

fn digest(text: &str) -> Digest {
    text.parse().expect("a digest")
}

fn end_to_end(purpose: Purpose, seats: u32) -> Draw {
    Draw {
        instance: Digest::of(b"instance test"),
        purpose,
        subject: Digest::of(b"job test"),
        attempt: 0,
        params_hash: Digest::of(b"params test"),
        entries: seven(),
        seats,
        beacon_chain_hash: digest("52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"),
        round: 1000,
        randomness: digest("fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd")
            .as_bytes()
            .to_vec(),
    }
}

#[test]
fn end_to_end_vectors() {
    for (purpose, seats) in
        [(Purpose::Runner, 1), (Purpose::Panel, 5), (Purpose::Panel, 6), (Purpose::Audit, 1)]
    {
        let found = end_to_end(purpose, seats).resolve();
        let head = format!("{purpose} 0 {seats} {} ", found.seed);
        let wanted = VECTORS.lines().find(|line| line.starts_with(&head));
        let picks = format!("{:?}", agents(&found.picks)).replace('"', "'");
        assert_eq!(wanted, Some(&*format!("{head}{picks}")));
        assert!(VECTORS.contains(&format!("\nroot {} n {} W {}\n", found.root, found.n, found.total)));
    }
}

#[test]
fn leaves_are_framed() {
    let leaf = seven().entries()[0].leaf();
    let hex: String = leaf.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(VECTORS.contains(&format!("\nleaf0 {hex} {}\n", crate::merkle::leaf_hash(&leaf))));
}

#[test]
fn the_next_attempt_without_the_operator_who_declined() {
    let declined = end_to_end(Purpose::Runner, 1);
    let redraw = Draw {
        attempt: 1,
        entries: declined.entries.without_operator("op-3"),
        round: 657_413,
        randomness: digest("fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587")
            .as_bytes()
            .to_vec(),
        ..declined
    };
    let found = redraw.resolve();
    let line = format!(
        "redraw root1 {} n {} W {} seed {} {:?}",
        found.root,
        found.n,
        found.total,
        found.seed,
        agents(&found.picks)
    );
    assert!(VECTORS.contains(&line.replace('"', "'")), "{line}");
}

#[test]
fn there_may_be_fewer_picks_than_seats() {
    let found = end_to_end(Purpose::Panel, 9).resolve();
    assert_eq!(found.picks.len(), 6);
    let nobody = Draw { entries: Eligible::new(Vec::new()).expect("empty"), ..end_to_end(Purpose::Panel, 9) };
    assert_eq!((nobody.resolve().picks, nobody.resolve().words_consumed), (Vec::new(), 0));
}

/// Over many seeds each agent is drawn in proportion to its tickets: chi-squared with six degrees of
/// freedom stays below its 99.9 % quantile.
#[test]
fn tickets_are_chances() {
    let set = seven();
    let mut counts = [0_u32; 7];
    let draws = 21_000_u32;
    for i in 0..draws {
        let pick = &sample(&mut Words::new(Digest::of(&i.to_be_bytes())), set.entries(), 1)[0];
        counts[set.entries().iter().position(|entry| entry.agent == pick.agent).expect("an entry")] += 1;
    }
    let chi_squared: f64 = counts
        .iter()
        .zip(set.entries())
        .map(|(count, entry)| {
            let expected = f64::from(draws) * entry.tickets as f64 / set.total() as f64;
            (f64::from(*count) - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_squared < 22.46, "{counts:?}: {chi_squared}");
}

/// Second seats, too: after the first pick the chances are those of who is left.
#[test]
fn second_seats_go_by_what_is_left() {
    let set = seven();
    let of_six = |picks: &[Pick]| picks.iter().map(|pick| pick.of).collect::<Vec<_>>();
    let mut second_is_a = 0_u32;
    let draws = 20_000_u32;
    for i in 0..draws {
        let picks = sample(&mut Words::new(Digest::of(&i.to_le_bytes())), set.entries(), 2);
        assert!(of_six(&picks)[1] < set.total());
        second_is_a += u32::from(picks[1].agent == "agent-a");
    }
    // Over every first operator of `w` tickets: w/21 * 4/(21 - w), op-1 left out.
    let expected: f64 = [1.0, 7.0, 2.0, 2.0, 1.0].iter().map(|w| w / 21.0 * 4.0 / (21.0 - w)).sum();
    let share = f64::from(second_is_a) / f64::from(draws);
    assert!((share - expected).abs() < 0.01, "{share} against {expected}");
}

/// The definition: walk the entries in order, subtracting tickets; then drop the operator's.
fn walk(words: &mut Words, entries: &[Entry], seats: u32) -> Vec<Pick> {
    let mut pool = entries.to_vec();
    let mut picks = Vec::new();
    while !pool.is_empty() && picks.len() < seats as usize {
        let of = pool.iter().map(|entry| entry.tickets).sum();
        let r = words.below(of);
        let mut left = r;
        let held = |entry: &&Entry| {
            let holds = left < entry.tickets;
            left = left.wrapping_sub(entry.tickets);
            holds
        };
        let drawn = pool.iter().find(held).expect("a ticket is somebody's").clone();
        picks.push(Pick { seat: picks.len() as u32, r, of, agent: drawn.agent });
        pool.retain(|entry| entry.operator != drawn.operator);
    }
    picks
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let tickets = prop_oneof![4 => 1_u64..20, 1 => 1_u64..TICKETS_MAX / 64];
    let entry = ("[a-zé\u{ffff}\u{1f980}]{1,4}", 0_u8..12, tickets);
    proptest::collection::btree_map(entry.0, (entry.1, entry.2), 0..40).prop_map(|entries| {
        let entry = |(agent, (operator, tickets))| Entry::new(agent, format!("op-{operator}"), tickets);
        entries.into_iter().map(entry).collect()
    })
}

proptest! {
    #[test]
    fn the_pool_finds_what_the_walk_finds(entries in entries(), seed: [u8; 32], seats in 0_u32..20) {
        let seed = Digest::from_bytes(seed);
        let (mut fast, mut plain) = (Words::new(seed), Words::new(seed));
        prop_assert_eq!(sample(&mut fast, &entries, seats), walk(&mut plain, &entries, seats));
        prop_assert_eq!(fast.consumed(), plain.consumed());
    }

    #[test]
    fn every_ticket_has_its_holder(entries in entries().prop_filter("somebody", |e| !e.is_empty())) {
        let pool = Pool::new(&entries);
        let mut first = 0;
        for (index, entry) in entries.iter().enumerate() {
            prop_assert_eq!(pool.holder(first), index);
            first += entry.tickets;
            prop_assert_eq!(pool.holder(first - 1), index);
        }
        prop_assert_eq!(first, pool.tickets);
    }

    #[test]
    fn no_operator_sits_twice_and_none_is_left_out(
        entries in entries(), seed: [u8; 32], seats in 0_u32..20, shuffle: u64
    ) {
        let set = Eligible::new(entries.clone()).expect("a map is in order");
        let draw = Draw { entries: set, seats, randomness: seed.to_vec(), ..end_to_end(Purpose::Panel, 0) };
        let resolution = draw.resolve();
        let operator = |agent: &String| {
            &entries.iter().find(|entry| entry.agent == *agent).expect("who is drawn is eligible").operator
        };
        let picks = resolution.picks.iter();
        let seated: BTreeSet<_> = picks.map(|pick| operator(&pick.agent)).collect();
        let all: BTreeSet<_> = entries.iter().map(|entry| &entry.operator).collect();
        prop_assert_eq!(seated.len(), resolution.picks.len());
        prop_assert_eq!(seated.len(), all.len().min(seats as usize));
        prop_assert!(resolution.words_consumed >= resolution.picks.len() as u64);

        // In which order the entries come in makes no difference.
        let mut mixed = entries;
        mixed.sort_by_key(|entry| Digest::of(format!("{shuffle}{}", entry.agent).as_bytes()));
        let again = Draw { entries: Eligible::sorted(mixed).expect("the same entries"), ..draw };
        prop_assert_eq!(again.resolve(), resolution);
    }
}

#[test]
fn every_part_of_a_draw_moves_its_seed() {
    let draw = end_to_end(Purpose::Panel, 5);
    let other = Digest::of(b"other");
    let mut seeds = BTreeSet::from([draw.seed()]);
    let changes: [fn(&mut Draw, Digest); 11] = [
        |draw, other| draw.instance = other,
        |draw, _| draw.purpose = Purpose::Panel2,
        |draw, other| draw.subject = other,
        |draw, _| draw.attempt = 1,
        |draw, other| draw.params_hash = other,
        |draw, _| draw.entries = draw.entries.without_operator("op-6"),
        |draw, other| draw.beacon_chain_hash = other,
        |draw, _| draw.round += 1,
        |draw, _| draw.randomness[0] ^= 1,
        |draw, _| draw.randomness.push(0),
        |draw, _| std::mem::swap(&mut draw.subject, &mut draw.params_hash),
    ];
    for change in changes {
        let mut changed = draw.clone();
        change(&mut changed, other);
        seeds.insert(changed.seed());
    }
    assert_eq!(seeds.len(), 1 + changes.len());
}

/// Seven seats among the most entries there may be; measured by `--release --nocapture`.
#[test]
fn the_largest_draw_fills_every_seat() {
    let entry =
        |i: usize| Entry::new(format!("agent-{i:06}"), format!("operator-{:05}", i / 2), 1 + i as u64 % 16);
    let entries: Vec<Entry> = (0..crate::ENTRIES_MAX).map(entry).collect();
    let draw = Draw { entries: Eligible::new(entries).expect("in order"), ..end_to_end(Purpose::Panel2, 7) };
    assert_eq!(draw.resolve().picks.len(), 7);
    let all = Draw { seats: u32::MAX, ..draw };
    assert_eq!(all.resolve().picks.len(), crate::ENTRIES_MAX / 2);
}
