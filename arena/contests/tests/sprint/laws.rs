//! What holds for every record and every board.

use arena_contests::Moment;
use arena_contests::sprint::rank::{merit, standings};
use arena_contests::sprint::record::{Record, Stamp, Written};
use arena_contests::sprint::score::{self, RoundScore, WINDOW_SCORE_MAX, WINDOW_SCORE_MIN};
use arena_contests::sprint::stake::{self, StakeResult};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const STATES: [&str; 9] = [
    "accepted",
    "accepted_with_penalty",
    "rejected",
    "late",
    "disputed",
    "reversed",
    "operator_assisted",
    "missing",
    "pending",
];
const PENALTIES: [&str; 5] =
    ["duplicate", "claim_mismatch", "reversal", "undisclosed_intervention", "disclosure_violation"];

fn written() -> impl Strategy<Value = Written> {
    let points = || select(vec![0_i64, 10, 20]);
    let words = (
        select(STATES.to_vec()),
        select(vec!["external", "internal_supporting"]),
        subsequence(PENALTIES.to_vec(), 0..=5),
        select(vec!["none", "disclosed", "required"]),
        select(vec![None, Some("accepted"), Some("rejected")]),
    );
    let numbers = (select(vec![0_i64, 20, 40, 60]), points(), points(), points(), 0..4_i64);
    (words, numbers).prop_map(|((state, class, penalties, declared, outcome), numbers)| {
        let (delivery, evidence, continuity, budget, at) = numbers;
        Written {
            state: state.to_owned(),
            assisted_outcome: outcome.map(str::to_owned),
            artifact_class: class.to_owned(),
            delivery: Some(delivery),
            evidence: Some(evidence),
            continuity: Some(continuity),
            budget: Some(budget),
            penalties: penalties.into_iter().map(str::to_owned).collect(),
            operator_intervention: declared.to_owned(),
            before: None,
            submitted_at: Some(Stamp::from(Moment::from_unix_ms(at))),
        }
    })
}

/// One that keeps the rules; nearly half of what is written does once its contradictions are mended.
fn record() -> impl Strategy<Value = Record> {
    written().prop_map(mended).prop_filter_map("breaks a rule", |written| written.check().ok())
}

fn mended(mut written: Written) -> Written {
    let accepted = written.state.starts_with("accepted");
    if written.state != "operator_assisted" {
        written.assisted_outcome = None;
    }
    if accepted {
        written.operator_intervention = "none".to_owned();
    }
    let (plain, reversed) = (written.state == "accepted", written.state == "reversed");
    let unjudged = matches!(written.state.as_str(), "missing" | "pending");
    let declared = written.operator_intervention != "none";
    written.penalties.retain(|word| match word.as_str() {
        _ if unjudged || plain => false,
        "reversal" => reversed,
        "undisclosed_intervention" => !declared && !accepted,
        "disclosure_violation" => !accepted && written.assisted_outcome.as_deref() != Some("accepted"),
        _ => true,
    });
    written
}

fn round() -> impl Strategy<Value = RoundScore> {
    [record(), record(), record()].prop_map(|records| score::round(&records))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_window_stays_within_its_bounds(record in record(), previous in proptest::option::of(record())) {
        let scored = score::window(&record, previous.as_ref());
        prop_assert!((WINDOW_SCORE_MIN..=WINDOW_SCORE_MAX).contains(&scored.window_score), "{scored:?}");
        prop_assert!((0..=120).contains(&scored.raw));
        prop_assert!(scored.caps.is_sorted());
        let asked = record.components();
        let cut = [
            asked.delivery != scored.components.delivery,
            asked.continuity != scored.components.continuity,
            asked.budget != scored.components.budget,
        ];
        let named = scored.caps.iter().filter(|cap| cap.name() != "internal_raw_cap").count();
        let is_unjudged = matches!(record.state().name(), "missing" | "pending");
        prop_assert!(is_unjudged || cut.into_iter().filter(|cut| *cut).count() == named, "{scored:?}");
    }

    #[test]
    fn a_round_stays_within_its_bounds(round in round()) {
        prop_assert!((-270..=380).contains(&round.round_score));
        let sum: i32 = round.windows.iter().map(|window| window.window_score).sum();
        prop_assert_eq!(round.round_score, sum + round.external_completion_bonus);
    }

    #[test]
    fn more_of_a_component_never_scores_less(written in written(), more in 0..4_usize, previous in record()) {
        let mut better = mended(written);
        let base = better.clone();
        let (points, step) = match more {
            0 if base.artifact_class == "external" && base.delivery == Some(20) => (&mut better.delivery, 40),
            0 => (&mut better.delivery, 20),
            1 => (&mut better.evidence, 10),
            2 => (&mut better.continuity, 10),
            _ => (&mut better.budget, 10),
        };
        *points = points.map(|points| points + step);
        if let (Ok(base), Ok(better)) = (base.check(), better.check()) {
            let score = |record| score::window(record, Some(&previous)).window_score;
            prop_assert!(score(&better) >= score(&base));
        }
    }

    #[test]
    fn merit_is_a_total_preorder(a in round(), b in round(), c in round()) {
        prop_assert_eq!(merit(&a, &b), merit(&b, &a).reverse());
        prop_assert!(merit(&a, &a).is_eq());
        if merit(&a, &b).is_le() && merit(&b, &c).is_le() {
            prop_assert!(merit(&a, &c).is_le());
        }
    }

    #[test]
    fn standings_do_not_depend_on_the_order_and_keep_their_laws(
        rounds in proptest::collection::vec(round(), 0..12),
        turn in 0..12_usize,
    ) {
        let named = rounds.into_iter().enumerate().map(|(i, round)| (format!("c{i:02}"), round));
        let named: Vec<_> = named.collect();
        let rows = standings(named.clone());
        let mut turned = named.clone();
        turned.rotate_left(turn % named.len().max(1));
        turned.reverse();
        prop_assert_eq!(&standings(turned), &rows);
        prop_assert_eq!(rows.len(), named.len());
        let may_win = |row: &arena_contests::sprint::rank::Row| row.round.ineligible_reasons.is_empty();
        prop_assert_eq!(rows.iter().any(|row| row.rank == 1), rows.iter().any(may_win));
        let firsts = rows.iter().filter(|row| row.rank == 1).count();
        prop_assert!(rows.iter().take(firsts).all(|row| row.rank == 1 && may_win(row)));
        // Nobody who may win is better than who has won.
        let best = rows.iter().filter(|row| may_win(row)).min_by(|a, b| merit(&a.round, &b.round));
        if let Some(best) = best {
            prop_assert!(merit(&best.round, &rows[0].round).is_eq());
        }
        // Everybody else stands in the order of merit, with shared ranks for equals and none skipped.
        let vacant = u32::from(firsts == 0);
        for (i, pair) in rows.windows(2).enumerate().skip(firsts) {
            prop_assert!(merit(&pair[0].round, &pair[1].round).is_le());
            let equal = merit(&pair[0].round, &pair[1].round).is_eq();
            let next = u32::try_from(i).expect("few") + 2 + vacant;
            prop_assert_eq!(pair[1].rank, if equal { pair[0].rank } else { next });
        }
    }

    #[test]
    fn a_stake_ends_one_way(record in record()) {
        let result = stake::settle(&record);
        let accepted = record.state().is_accepted_family();
        prop_assert!(!accepted || result == StakeResult::Returned);
        prop_assert_eq!(result == StakeResult::None, record.state().name() == "missing");
    }
}

#[test]
fn the_bounds_are_reached() {
    let worst = Written {
        state: "reversed".to_owned(),
        artifact_class: "external".to_owned(),
        delivery: Some(0),
        evidence: Some(0),
        continuity: Some(0),
        budget: Some(0),
        penalties: PENALTIES.iter().map(|&word| word.to_owned()).collect(),
        operator_intervention: "none".to_owned(),
        ..Written::default()
    };
    let record = worst.check().expect("keeps the rules");
    assert_eq!(score::window(&record, None).window_score, WINDOW_SCORE_MIN);
    assert_eq!(score::round(&[record.clone(), record.clone(), record]).round_score, -270);
}

/// Prints how long 10 000 submissions take; the bound is for a release build.
#[test]
#[ignore = "measures"]
#[expect(clippy::disallowed_types, reason = "a measurement has a clock")]
fn ten_thousand_submissions_are_ranked_in_time() {
    let window = |i: i64| Written {
        state: "accepted".to_owned(),
        artifact_class: "external".to_owned(),
        delivery: Some(if i % 3 == 0 { 20 } else { 60 }),
        evidence: Some(i % 2 * 10 + 10),
        continuity: Some(i % 3 * 10),
        budget: Some(i % 3 * 10),
        operator_intervention: "none".to_owned(),
        submitted_at: Some(Stamp::from(Moment::from_unix_ms(i * 7 % 1_000))),
        ..Written::default()
    };
    let written: Vec<[Written; 3]> = (0..3_334).map(|i| [i, i + 1, i + 2].map(window)).collect();
    let started = std::time::Instant::now();
    let rounds = written.into_iter().enumerate().map(|(i, windows)| {
        let records = windows.map(|window| window.check().expect("keeps the rules"));
        (format!("company-{i}"), score::round(&records))
    });
    let rows = standings(rounds.collect());
    let took = started.elapsed();
    println!("10 002 submissions of {} companies: {:.1} ms", rows.len(), took.as_secs_f64() * 1e3);
    assert!(cfg!(debug_assertions) || took.as_millis() <= 50, "{took:?}");
}
