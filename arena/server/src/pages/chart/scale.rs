//! From numbers to places: finite points only, round ticks, and no more points than there are columns to
//! draw.

/// What is larger is not drawn; no quantity of ours comes near.
const LARGEST: f64 = 1e15;
/// Points that are looked at, at most.
const POINTS_MAX: usize = 100_000;

/// Whether a number can be drawn.
pub(super) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= LARGEST
}

/// A range of values on a range of places. Places may run downwards, as `y` does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Between ticks, where it is settled.
    step: Option<f64>,
}

/// One tick: its place and its text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: String,
}

impl Scale {
    /// That takes in all of `values`; a range that would be empty is widened.
    pub(super) fn around(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let (low, high) = values
            .filter(|value| drawable(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = match (low, high) {
            _ if low > high => (0.0, 1.0),
            // So near each other that a tick would not move: they are one value.
            _ if high - low <= high.abs().max(low.abs()).max(1e-6) * 1e-9 => {
                let margin = high.abs().max(1.0) * 0.5;
                (low - margin, high + margin)
            }
            both => both,
        };
        Self { low, high, from, to, step: None }
    }

    /// Widened to the ticks around it, so that the edges of a drawing are round numbers.
    pub(super) fn rounded(self, count: usize) -> Self {
        let step = round_step((self.high - self.low) / count.max(1) as f64);
        let low = (self.low / step + 1e-9).floor() * step;
        let high = (self.high / step - 1e-9).ceil() * step;
        Self { low: low.min(self.low), high: high.max(self.high), step: Some(step), ..self }
    }

    /// Where a value is.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// At most about `count` ticks at round values.
    pub(super) fn ticks(&self, count: usize) -> Vec<Tick> {
        let step = self.step.unwrap_or_else(|| round_step((self.high - self.low) / count.max(1) as f64));
        let decimals = decimals_of(step);
        // A bound that is a tick itself may come out a hair beside it.
        let first = (self.low / step - 1e-9).ceil();
        // Widening adds at most one step at each end.
        (0..=count + 2)
            .map(|i| (first + i as f64) * step)
            .take_while(|value| *value <= self.high + step * 1e-9)
            .map(|value| Tick { at: self.at(value), text: super::number::decimal(value, decimals) })
            .collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `raw`.
fn round_step(raw: f64) -> f64 {
    let mut power = 1.0;
    while power * 10.0 <= raw {
        power *= 10.0;
    }
    while power > raw && power > 1e-9 {
        power /= 10.0;
    }
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= raw)
        .unwrap_or(power * 10.0)
}

fn decimals_of(step: f64) -> usize {
    let mut decimals = 0;
    let mut scaled = step;
    while decimals < 9 && (scaled - scaled.round()).abs() > 1e-6 {
        scaled *= 10.0;
        decimals += 1;
    }
    decimals
}

/// The points that can be drawn, by `x`, as places. Where several fall into one column of one unit, the
/// first, the lowest, the highest and the last of them stay, in their order: no extreme is lost.
pub(super) fn places(points: &[(f64, f64)], x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
    let mut all: Vec<_> = points
        .iter()
        .take(POINTS_MAX)
        .filter(|(a, b)| drawable(*a) && drawable(*b))
        .map(|(a, b)| (x.at(*a), y.at(*b)))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut kept = Vec::new();
    for column in all.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        kept.extend(extremes(column).into_iter().map(|i| column[i]));
    }
    kept
}

fn extremes(column: &[(f64, f64)]) -> Vec<usize> {
    let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
    let low = (0..column.len()).min_by(by_height);
    let high = (0..column.len()).max_by(by_height);
    let mut kept: Vec<_> = [Some(0), low, high, column.len().checked_sub(1)].into_iter().flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::{Scale, places};

    fn texts(values: &[f64], count: usize) -> Vec<String> {
        Scale::around(values.iter().copied(), (0.0, 100.0))
            .ticks(count)
            .into_iter()
            .map(|tick| tick.text)
            .collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&[0.0, 100.0], 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(&[-0.3, 0.2], 5), ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2"]);
        assert_eq!(texts(&[7.0], 2), ["5", "10"]);
        assert_eq!(texts(&[], 2), ["0.0", "0.5", "1.0"]);
    }

    #[test]
    fn rounded_edges_are_ticks() {
        for values in [[18.4, 62.0], [-12.0, 36.2], [0.0, 0.3], [99.0, 101.0], [-1e9, 3e12]] {
            let ticks = Scale::around(values.into_iter(), (0.0, 100.0)).rounded(3).ticks(3);
            let (first, last) = (ticks.first().unwrap().at, ticks.last().unwrap().at);
            assert!(first.abs() < 1e-6 && (last - 100.0).abs() < 1e-6, "{values:?}: {ticks:?}");
        }
    }

    #[test]
    fn a_column_keeps_its_extremes_in_their_order() {
        let scale = Scale::around([0.0, 10.0].into_iter(), (0.0, 10.0));
        let points: Vec<_> =
            [(3.0, 5.0), (3.1, 9.0), (3.2, 6.0), (3.3, 1.0), (3.4, 5.0), (f64::NAN, 1.0)].into();
        let ys: Vec<_> = places(&points, &scale, &scale).into_iter().map(|(_, y)| y).collect();
        assert_eq!(ys, [5.0, 9.0, 1.0, 5.0]);
    }
}
