use std::collections::BTreeMap;

use super::exp::chances;
use super::newton::{Fit, Pair, fit};
use super::{POINTS_PER_NAT, Rating, Reason, Score, Tally, rate};

/// `won[0]` and `won[1]` games, and as many draws, between `a` and `b`.
#[derive(Debug, Clone, Copy)]
struct Games(u32, u32, [u64; 2], u64);

fn tally(strategies: usize, games: &[Games]) -> Tally {
    let mut tally = Tally::new(strategies);
    for &Games(a, b, won, draws) in games {
        for (count, score) in [(won[0], Score::Win), (won[1], Score::Loss), (draws, Score::Draw)] {
            (0..count).for_each(|_| tally.record(a, b, score));
        }
    }
    tally
}

/// As a crowd of games at once, in half points.
fn halves(strategies: usize, pairs: impl IntoIterator<Item = ((usize, usize), [u64; 2])>) -> Tally {
    Tally { strategies, halves: BTreeMap::from_iter(pairs) }
}

fn elo(rating: &Rating) -> f64 {
    match rating {
        Rating::Rated { elo, low, high } => {
            assert!(elo.is_finite() && low.is_finite() && high.is_finite() && low <= elo && elo <= high);
            *elo
        }
        Rating::Insufficient { reason } => panic!("not rated: {reason}"),
    }
}

fn reason(rating: &Rating) -> Option<Reason> {
    match rating {
        Rating::Rated { .. } => None,
        Rating::Insufficient { reason } => Some(*reason),
    }
}

/// A sequence of numbers that look random.
struct Lot(u64);

impl Lot {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Random games of `strategies`, of which not every pair meets.
fn some_games(strategies: u32, lot: &mut Lot) -> Vec<Games> {
    let pairs = (0..strategies).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut games = |(a, b)| Games(a, b, [lot.below(5), lot.below(5)], lot.below(3));
    pairs.filter(|(a, b)| (a + b) % 3 != 0 || a - b == 1).map(&mut games).collect()
}

#[test]
fn three_of_four_is_191_points() {
    let rated = |elo, low, high| Rating::Rated { elo, low, high };
    let expected = [rated(1595.4, 1556.1, 1634.7), rated(1404.6, 1365.3, 1443.9)];
    assert_eq!(rate(&tally(2, &[Games(0, 1, [75, 25], 0)])), expected);
    let with_draws = rate(&tally(2, &[Games(1, 0, [10, 60], 30)]));
    assert_eq!(with_draws, expected, "a draw is half a win each, whoever is named first");
}

#[test]
fn the_scale_is_400_for_tenfold_strength() {
    assert!((POINTS_PER_NAT * std::f64::consts::LN_10 - 400.0).abs() < 1e-12);
}

#[test]
fn equal_results_are_1500() {
    let ring = tally(4, &[0, 1, 2, 3].map(|a| Games(a, (a + 1) % 4, [1, 0], 0)));
    assert!(rate(&ring).iter().all(|rating| elo(rating) == 1500.0), "{:?}", rate(&ring));
}

#[test]
fn who_cannot_be_rated_is_told_why() {
    let reasons = |tally: &Tally| rate(tally).iter().map(reason).collect::<Vec<_>>();
    use Reason::{LostEveryGame, NoGames, NoPath, WonEveryGame};
    assert_eq!(reasons(&tally(0, &[])), []);
    assert_eq!(reasons(&tally(1, &[])), [Some(NoGames)]);
    let one_sided = tally(3, &[Games(1, 0, [3, 0], 0)]);
    assert_eq!(reasons(&one_sided), [Some(LostEveryGame), Some(WonEveryGame), Some(NoGames)]);
    let in_line = tally(3, &[Games(0, 1, [1, 0], 0), Games(1, 2, [1, 0], 0), Games(0, 2, [1, 0], 0)]);
    assert_eq!(reasons(&in_line), [Some(WonEveryGame), Some(NoPath), Some(LostEveryGame)]);
    let led = tally(3, &[Games(0, 1, [1, 1], 0), Games(2, 0, [9, 0], 0), Games(2, 1, [9, 0], 0)]);
    assert_eq!(reasons(&led), [None, None, Some(WonEveryGame)]);
}

#[test]
fn of_groups_without_a_path_the_largest_is_rated() {
    let three = [Games(2, 3, [2, 1], 0), Games(3, 4, [2, 1], 0), Games(4, 2, [1, 1], 1)];
    let two = Games(0, 1, [1, 1], 0);
    // Beating the others does not lead back from them.
    for between in [None, Some(Games(0, 2, [1, 0], 0)), Some(Games(4, 1, [1, 0], 0))] {
        let games: Vec<Games> = three.into_iter().chain([two]).chain(between).collect();
        let ratings = rate(&tally(5, &games));
        assert_eq!(ratings[..2].iter().map(reason).collect::<Vec<_>>(), [Some(Reason::NoPath); 2]);
        assert_eq!(ratings[2..], rate(&tally(5, &three))[2..], "games between groups say nothing");
    }
    let pairs = rate(&tally(4, &[Games(1, 3, [2, 1], 0), Games(0, 2, [2, 1], 0)]));
    assert_eq!(
        pairs.iter().map(|rating| reason(rating).is_none()).collect::<Vec<_>>(),
        [true, false, true, false]
    );
}

#[test]
fn neither_the_order_of_games_nor_that_of_names_matters() {
    let mut lot = Lot(7);
    for strategies in [3, 8, 20] {
        let mut games = some_games(strategies, &mut lot);
        let straight = rate(&tally(strategies as usize, &games));
        for at in (1..games.len()).rev() {
            games.swap(at, lot.below(at as u64 + 1) as usize);
        }
        assert_eq!(rate(&tally(strategies as usize, &games)), straight);
        let renamed = |name: u32| (name + 5) % strategies;
        let others: Vec<Games> = games
            .iter()
            .map(|Games(a, b, won, draws)| Games(renamed(*a), renamed(*b), *won, *draws))
            .collect();
        let others = rate(&tally(strategies as usize, &others));
        for name in 0..strategies {
            assert_eq!(others[renamed(name) as usize], straight[name as usize]);
        }
    }
}

/// Natural logarithm of the likelihood.
#[expect(clippy::disallowed_methods, reason = "an independent reckoning")]
fn log_likelihood(logs: &[f64], pairs: &[Pair]) -> f64 {
    let of_pair = |pair: &Pair| {
        let (a, b) = (logs[pair.a], logs[pair.b]);
        -pair.won[0] * (b - a).exp().ln_1p() - pair.won[1] * (a - b).exp().ln_1p()
    };
    pairs.iter().map(of_pair).sum()
}

fn fits(members: usize, pairs: &[Pair]) -> Vec<Fit> {
    fit(members, pairs).expect("a maximum").into_iter().map(|fit| fit.expect("a known distance")).collect()
}

fn pairs_of(tally: &Tally) -> Vec<Pair> {
    let pairs = tally.halves.iter();
    pairs.map(|(&(a, b), halves)| Pair { a, b, won: halves.map(|half| half as f64 / 2.0) }).collect()
}

/// Climbs one coordinate at a time, with ever smaller steps, by the likelihood alone.
#[test]
fn nothing_is_more_likely() {
    let mut lot = Lot(99);
    for strategies in 2..7_u32 {
        let table = tally(strategies as usize, &some_games(strategies, &mut lot));
        let ratings = rate(&table);
        if ratings.iter().any(|rating| reason(rating).is_some()) {
            panic!("a poor example: {table:?}");
        }
        let pairs = pairs_of(&table);
        let mut logs = vec![0.0; strategies as usize];
        let mut best = log_likelihood(&logs, &pairs);
        let mut by = 1.0;
        while by > 1e-6 {
            let mut moved = false;
            for at in 0..logs.len() {
                for by in [by, -by] {
                    logs[at] += by;
                    let here = log_likelihood(&logs, &pairs);
                    if here > best {
                        (best, moved) = (here, true);
                    } else {
                        logs[at] -= by;
                    }
                }
            }
            if !moved {
                by /= 2.0;
            }
        }
        let mean = logs.iter().sum::<f64>() / f64::from(strategies);
        for (log, rating) in logs.iter().zip(&ratings) {
            let climbed = 1500.0 + (log - mean) * 400.0 / std::f64::consts::LN_10;
            assert!((climbed - elo(rating)).abs() < 0.06, "{climbed}, not {}", elo(rating));
        }
    }
}

/// The variances against an inverse found by plain elimination of the information plus one in each cell:
/// that adds 1 ÷ count² to every cell of the inverse with the mean fixed.
#[test]
fn variances_are_those_of_the_inverse_information() {
    let mut lot = Lot(3);
    for members in [2_u32, 3, 5, 12] {
        let pairs = pairs_of(&tally(members as usize, &some_games(members, &mut lot)));
        let n = members as usize;
        let fits = fits(n, &pairs);
        let mut cells = vec![vec![1.0; 2 * n]; n];
        for (i, row) in cells.iter_mut().enumerate() {
            row[n..].iter_mut().enumerate().for_each(|(j, cell)| *cell = f64::from(u8::from(i == j)));
        }
        for pair in &pairs {
            let [of_a, of_b] = chances(fits[pair.a].log_strength - fits[pair.b].log_strength);
            let weight = (pair.won[0] + pair.won[1]) * of_a * of_b;
            for (i, j, sign) in
                [(pair.a, pair.a, 1.0), (pair.b, pair.b, 1.0), (pair.a, pair.b, -1.0), (pair.b, pair.a, -1.0)]
            {
                cells[i][j] += sign * weight;
            }
        }
        for k in 0..n {
            let pivot_row: Vec<f64> = cells[k].iter().map(|cell| cell / cells[k][k]).collect();
            for (i, row) in cells.iter_mut().enumerate() {
                let factor = if i == k { 0.0 } else { row[k] };
                let from = row.clone();
                for (j, cell) in row.iter_mut().enumerate() {
                    *cell = if i == k { pivot_row[j] } else { from[j] - factor * pivot_row[j] };
                }
            }
        }
        for (i, fit) in fits.iter().enumerate() {
            let expected = cells[i][n + i] - 1.0 / f64::from(members * members);
            assert!((fit.variance - expected).abs() < 1e-9 * expected, "{} is not {expected}", fit.variance);
        }
    }
}

#[test]
fn extreme_results_lose_no_digit() {
    // Each beats the next 10,000 to 1, which is 1,600 points.
    let chain = |count: usize| (1..count).map(|b| ((b - 1, b), [20_000, 2]));
    let ratings = rate(&halves(300, chain(300)));
    for (better, worse) in ratings.iter().zip(&ratings[1..]) {
        assert!((elo(better) - elo(worse) - 1600.0).abs() < 0.11, "{better:?} {worse:?}");
    }
    // One draw of the first with the last moves all of it, and settles as well.
    let bent = rate(&halves(60, chain(60).chain([((0, 59), [1, 1])])));
    assert!(bent.iter().zip(&bent[1..]).all(|(better, worse)| elo(better) > elo(worse)));
    assert!(elo(&bent[0]) - elo(&bent[59]) < 59.0 * 1600.0);
    // More games than a tournament has, and one against them.
    let vast = rate(&halves(3, [((0, 1), [1_999_998, 2]), ((1, 2), [1, 1])]));
    assert!((elo(&vast[0]) - elo(&vast[1]) - 2400.0).abs() < 0.11, "{vast:?}");
    assert!((elo(&vast[1]) - elo(&vast[2])).abs() < 0.11, "{vast:?}");
}

/// The third beat only the last of a long chain and lost only to its first.
#[test]
fn whoever_met_only_the_far_stronger_and_the_far_weaker_is_not_rated() {
    for (links, rated) in [(1, true), (3, true), (20, false), (200, false)] {
        let chain = (1..=links).map(|b| ((b - 1, b), [20_000, 2]));
        let between = links + 1;
        let ratings =
            rate(&halves(links + 2, chain.chain([((0, between), [2, 0]), ((links, between), [0, 2])])));
        assert_eq!(reason(&ratings[between]), (!rated).then_some(Reason::TooWide), "{links}");
        if rated {
            let middle = (elo(&ratings[0]) + elo(&ratings[links])) / 2.0;
            assert!((elo(&ratings[between]) - middle).abs() < 0.11, "{ratings:?}");
        }
        let away = elo(&ratings[0]) - elo(&ratings[links]);
        assert!((away / links as f64 - 1600.0).abs() < 2.0, "the others are rated as before: {away}");
    }
}

/// The same with more opponents than anybody else has: it still is not what the others are measured from.
#[test]
fn who_met_most_may_be_the_one_that_is_not_known() {
    let chain = (1..60).map(|b| ((b - 1, b), [20_000, 2]));
    let stronger = (0..5).map(|a| ((a, 60), [2, 0]));
    let weaker = (55..60).map(|a| ((a, 60), [0, 2]));
    let ratings = rate(&halves(61, chain.chain(stronger).chain(weaker)));
    assert_eq!(reason(&ratings[60]), Some(Reason::TooWide));
    for (better, worse) in ratings.iter().zip(&ratings[1..60]) {
        assert!((elo(better) - elo(worse) - 1600.0).abs() < 0.11, "{better:?} {worse:?}");
    }
}

/// Random and lopsided tables: always figures, and at a maximum the points are the expected ones.
#[test]
fn expected_points_are_the_points() {
    let mut lot = Lot(1);
    for round in 0..200 {
        let members = 2 + lot.below(12) as usize;
        let mut pairs = BTreeMap::new();
        for a in 0..members {
            for _ in 0..1 + lot.below(3) {
                let b = (a + 1 + lot.below(members as u64 - 1) as usize) % members;
                let digits = 1 + lot.below(6) as u32;
                let many = 1 + lot.below(10_u64.pow(digits));
                pairs.insert((a.min(b), a.max(b)), [1 + lot.below(3), many]);
            }
            if a > 0 {
                pairs.entry((a - 1, a)).or_insert([1, 1]);
            }
        }
        let table = halves(members, pairs);
        rate(&table).iter().for_each(|rating| assert!(elo(rating).is_finite()));
        let pairs = pairs_of(&table);
        let fits = fits(members, &pairs);
        let mut more = vec![(0.0_f64, 0.0_f64); members];
        for pair in &pairs {
            let [of_a, of_b] = chances(fits[pair.a].log_strength - fits[pair.b].log_strength);
            let surplus = pair.won[0] * of_b - pair.won[1] * of_a;
            for (member, surplus) in [(pair.a, surplus), (pair.b, -surplus)] {
                more[member].0 += surplus;
                more[member].1 += surplus.abs() + pair.won[0] * of_b;
            }
        }
        let even = more.iter().all(|(sum, size)| sum.abs() < 1e-8 * (1.0 + size));
        assert!(even, "round {round}: {more:?}");
    }
}

#[test]
fn five_hundred_strategies_stand_in_the_order_of_their_strength() {
    let strategies = 500_usize;
    let pairs = (0..strategies).flat_map(|a| (a + 1..strategies).map(move |b| (a, b)));
    let result = |(a, b): (usize, usize)| {
        let [of_a, _] = chances((b as f64 - a as f64) * 0.01);
        let halves = (of_a * 20_000.0).round() as u64;
        ((a, b), [halves, 20_000 - halves])
    };
    let ratings = rate(&halves(strategies, pairs.map(result)));
    let expected = |at: usize| 1500.0 + (249.5 - at as f64) * 1.737_178;
    for (at, rating) in ratings.iter().enumerate() {
        assert!((elo(rating) - expected(at)).abs() < 0.11, "{at}: {rating:?}");
        assert!(at == 0 || elo(rating) < elo(&ratings[at - 1]));
    }
}

#[test]
fn figures_have_one_decimal_in_json() {
    let ratings = rate(&tally(3, &[Games(0, 1, [2, 1], 0)]));
    let text = String::from_utf8(arena_canon::json::canonical_of(&ratings)).expect("text");
    let expected = concat!(
        r#"[{"elo":1560.2,"high":1768.7,"low":1351.7,"status":"rated"},"#,
        r#"{"elo":1439.8,"high":1648.3,"low":1231.3,"status":"rated"},"#,
        r#"{"reason":"no_games","status":"insufficient"}]"#
    );
    assert_eq!(text, expected);
}
