//! The maximum of the likelihood within one group, and how sharp it is.
//!
//! The logarithm of the likelihood is concave in the logarithms of the strengths. Its second derivative
//! is a Laplacian: every pair pulls with the weight games × chance × chance. A Laplacian can be
//! eliminated without one subtraction (a node's neighbours are joined as a star becomes a mesh), so that
//! no digit is lost however unequal the weights are.

use super::exp::chances;

/// Most Newton steps. Ordinary tables take about eight. A step goes about one nat of the largest distance
/// between two that met, and 99,999 games allow for twelve of those.
const STEPS_MAX: usize = 500;
/// The step before which gradient × direction is below this is the last one. That product is the square of
/// the step in standard errors, so nobody is moved by more than 1e-8 of its own.
const SETTLED: f64 = 1e-16;
/// Added to chance × chance, per game. Whoever has met only the far stronger and the far weaker would have
/// no weight at all in 64 bits; this keeps the steps finite, and makes the variance so large that there is
/// no figure.
const WEIGHT_MIN: f64 = 1e-20;

/// Variance of a distance, in square nats, beyond which the distance counts as unknown: a standard error
/// of a thousand nats, which is 174 thousand rating points.
const VARIANCE_MAX: f64 = 1e6;

/// Games between two members.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    /// Points of both; a draw is half a point each.
    pub(super) won: [f64; 2],
}

/// What is known of one member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    /// Natural logarithm of its strength; the mean of all that are known is zero.
    pub(super) log_strength: f64,
    /// Of that figure: the diagonal of the inverse of the information, with the mean fixed.
    pub(super) variance: f64,
}

/// Fits `members` strategies, of which each must have scored against each at least through others.
/// `None` if the maximum was not reached; no [`Fit`] for a member whose distance to the best known one is
/// unknown.
pub(super) fn fit(members: usize, pairs: &[Pair]) -> Option<Vec<Option<Fit>>> {
    // The elimination of a member that met few joins few.
    let order = Order::rising(&totals(members, pairs, |_| 1.0));
    let pairs = order.renamed(pairs);
    let mut logs = vec![0.0; members];
    for _ in 0..STEPS_MAX {
        let (gradient, weights) = slope(&logs, &pairs);
        let direction = Eliminated::of(weights)?.solve(&gradient);
        let length = longest(&direction, &pairs);
        let share = step(&logs, &pairs, &direction, length);
        for (log, by) in logs.iter_mut().zip(&direction) {
            *log += share * by;
        }
        if gradient.iter().zip(&direction).map(|(slope, by)| slope * by).sum::<f64>() < SETTLED {
            return Some(order.undone(&measured(&logs, &pairs)?));
        }
    }
    None
}

/// The figures at the maximum. Distances are measured from the member with the most information: it is
/// well known to somebody, because the strongest member alone has a quarter of a game's.
fn measured(logs: &[f64], pairs: &[Pair]) -> Option<Vec<Option<Fit>>> {
    let order = Order::rising(&totals(logs.len(), pairs, |pair| weight(logs, pair)));
    let logs = order.moved(logs);
    let (_, weights) = slope(&logs, &order.renamed(pairs));
    Some(order.undone(&fits(&logs, &Eliminated::of(weights)?)))
}

/// For each member the sum of `of` over the pairs it is in.
fn totals(members: usize, pairs: &[Pair], of: impl Fn(&Pair) -> f64) -> Vec<f64> {
    let mut totals = vec![0.0; members];
    for pair in pairs {
        let value = of(pair);
        totals[pair.a] += value;
        totals[pair.b] += value;
    }
    totals
}

/// Members in another order.
struct Order {
    /// Where each member stands.
    place: Vec<usize>,
}

impl Order {
    /// The lowest of `keys` first, and of equal ones the highest index.
    fn rising(keys: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| keys[*a].total_cmp(&keys[*b]).then(b.cmp(a)));
        let mut place = vec![0; keys.len()];
        for (at, member) in order.into_iter().enumerate() {
            place[member] = at;
        }
        Self { place }
    }

    /// `pairs` by the new places, the lower one first.
    fn renamed(&self, pairs: &[Pair]) -> Vec<Pair> {
        let rename = |pair: &Pair| {
            let (a, b) = (self.place[pair.a], self.place[pair.b]);
            let [of_a, of_b] = pair.won;
            if a < b { Pair { a, b, won: [of_a, of_b] } } else { Pair { a: b, b: a, won: [of_b, of_a] } }
        };
        pairs.iter().map(rename).collect()
    }

    fn moved(&self, values: &[f64]) -> Vec<f64> {
        let mut moved = vec![0.0; values.len()];
        for (place, value) in self.place.iter().zip(values) {
            moved[*place] = *value;
        }
        moved
    }

    /// In the order of the members again.
    fn undone<T: Copy>(&self, moved: &[T]) -> Vec<T> {
        self.place.iter().map(|at| moved[*at]).collect()
    }
}

/// First derivative of the log-likelihood at `logs`, and the weights of the negative second one.
fn slope(logs: &[f64], pairs: &[Pair]) -> (Vec<f64>, Square) {
    let mut gradient = vec![0.0; logs.len()];
    let mut weights = Square::new(logs.len());
    for pair in pairs {
        let [of_a, of_b] = chances(logs[pair.a] - logs[pair.b]);
        // Points less expected points, without the difference of two large numbers.
        let more = pair.won[0] * of_b - pair.won[1] * of_a;
        gradient[pair.a] += more;
        gradient[pair.b] -= more;
        weights.row_mut(pair.a)[pair.b] = weight(logs, pair);
    }
    (gradient, weights)
}

/// How much the games of a pair say of its distance.
fn weight(logs: &[f64], pair: &Pair) -> f64 {
    let [of_a, of_b] = chances(logs[pair.a] - logs[pair.b]);
    (pair.won[0] + pair.won[1]) * (of_a * of_b + WEIGHT_MIN)
}

/// By how much `direction` moves two that met apart, at most.
fn longest(direction: &[f64], pairs: &[Pair]) -> f64 {
    let apart = pairs.iter().map(|pair| (direction[pair.a] - direction[pair.b]).abs());
    apart.fold(0.0, f64::max)
}

/// How much of `direction` to go.
///
/// Along it the third derivative is at most `length` times the second. So any share up to
/// ln(1 + length) ÷ length makes the likelihood larger, and 2 ÷ (2 + length) is below that. A larger share
/// is as safe if the likelihood is still rising there, because it is concave.
fn step(logs: &[f64], pairs: &[Pair], direction: &[f64], length: f64) -> f64 {
    let safe = 2.0 / (2.0 + length);
    let mut share = 1.0;
    while share > safe {
        if rises(logs, pairs, direction, share) {
            return share;
        }
        share /= 2.0;
    }
    safe
}

/// Whether the likelihood still rises when `share` of `direction` is gone.
fn rises(logs: &[f64], pairs: &[Pair], direction: &[f64], share: f64) -> bool {
    let slopes = pairs.iter().map(|pair| {
        let apart = direction[pair.a] - direction[pair.b];
        let [of_a, of_b] = chances(logs[pair.a] - logs[pair.b] + share * apart);
        (pair.won[0] * of_b - pair.won[1] * of_a) * apart
    });
    slopes.sum::<f64>() >= 0.0
}

/// A square table. Of a symmetric one, only what is right of the diagonal is kept.
struct Square {
    side: usize,
    cells: Vec<f64>,
}

impl Square {
    fn new(side: usize) -> Self {
        Self { side, cells: vec![0.0; side * side] }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.cells[at * self.side..(at + 1) * self.side]
    }

    fn row_mut(&mut self, at: usize) -> &mut [f64] {
        &mut self.cells[at * self.side..(at + 1) * self.side]
    }

    /// A row, and all rows after it.
    fn split(&mut self, at: usize) -> (&[f64], &mut [f64]) {
        let (upper, lower) = self.cells.split_at_mut((at + 1) * self.side);
        (&upper[at * self.side..], lower)
    }
}

/// A Laplacian after elimination: each node's share in what its later neighbours know, and its pivot.
struct Eliminated {
    shares: Square,
    /// One for each node but the last, whose value is zero.
    pivots: Vec<f64>,
}

impl Eliminated {
    /// `None` if a node is joined to nobody.
    fn of(mut weights: Square) -> Option<Self> {
        let side = weights.side;
        let mut pivots = Vec::with_capacity(side - 1);
        for k in 0..side - 1 {
            let pivot: f64 = weights.row(k)[k + 1..].iter().sum();
            if pivot <= 0.0 {
                return None;
            }
            pivots.push(pivot);
            weights.row_mut(k)[k + 1..].iter_mut().for_each(|weight| *weight /= pivot);
            let (shares, later) = weights.split(k);
            for (i, row) in (k + 1..).zip(later.chunks_exact_mut(side)) {
                let pull = shares[i] * pivot;
                if pull > 0.0 {
                    add(&mut row[i + 1..], pull, &shares[i + 1..]);
                }
            }
        }
        Some(Self { shares: weights, pivots })
    }

    /// The potentials at which these flows (of sum zero) go in, the last node's being zero.
    fn solve(&self, flows: &[f64]) -> Vec<f64> {
        let last = self.pivots.len();
        let mut values = flows.to_vec();
        for k in 0..last {
            let flow = values[k];
            add(&mut values[k + 1..], flow, &self.shares.row(k)[k + 1..]);
        }
        values[last] = 0.0;
        for k in (0..last).rev() {
            let around: f64 =
                self.shares.row(k)[k + 1..].iter().zip(&values[k + 1..]).map(|(s, v)| s * v).sum();
            values[k] = values[k] / self.pivots[k] + around;
        }
        values
    }

    /// Diagonal of the inverse, the last node's value being fixed. Every term of it is positive.
    fn variances(&self) -> Vec<f64> {
        let last = self.pivots.len();
        // Row k of the inverse of the triangular factor, from those below it.
        let mut inverse = Square::new(last);
        let mut variances = vec![0.0; last + 1];
        for k in (0..last).rev() {
            let mut row = vec![0.0; last];
            row[k] = 1.0;
            for (m, share) in self.shares.row(k)[..last].iter().enumerate().skip(k + 1) {
                if *share > 0.0 {
                    add(&mut row[m..], *share, &inverse.row(m)[m..]);
                }
            }
            for ((j, cell), pivot) in row.iter().enumerate().zip(&self.pivots).skip(k) {
                variances[k] += cell * cell / pivot;
                inverse.row_mut(k)[j] = *cell;
            }
        }
        variances
    }
}

/// `to` + `factor` × `from`.
fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    for (cell, other) in to.iter_mut().zip(from) {
        *cell += factor * other;
    }
}

/// Both figures, with the mean of the known as zero instead of the last member.
fn fits(logs: &[f64], eliminated: &Eliminated) -> Vec<Option<Fit>> {
    let variances = eliminated.variances();
    let known: Vec<bool> = variances.iter().map(|variance| *variance <= VARIANCE_MAX).collect();
    let count = known.iter().filter(|known| **known).count() as f64;
    let mean_of = |values: &[f64]| {
        let known = values.iter().zip(&known).filter(|(_, known)| **known);
        known.map(|(value, _)| value).sum::<f64>() / count
    };
    let mean = mean_of(logs);
    // Covariance of each member with the mean: the potentials when each known one takes in 1 ÷ count.
    let flows: Vec<f64> = known.iter().map(|known| if *known { 1.0 / count } else { 0.0 }).collect();
    let with_mean = eliminated.solve(&flows);
    let of_mean = mean_of(&with_mean);
    let fit = |at: usize| Fit {
        log_strength: logs[at] - mean,
        // Not below zero, to which rounding could bring it.
        variance: (variances[at] - 2.0 * with_mean[at] + of_mean).max(0.0),
    };
    known.iter().enumerate().map(|(at, known)| known.then(|| fit(at))).collect()
}
