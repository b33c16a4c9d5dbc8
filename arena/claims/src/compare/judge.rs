//! The comparisons themselves: C1 and C2 against the claim, C3 between two reruns.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use arena_canon::json::Value;

use super::metric::{ClaimTolerance, Direction, Kind, Metric, RerunTolerance, Rules, Tolerance};
use super::report::{Cmp, Row, Status};
use super::value::{Measured, Reported, ulps_between};
use crate::decimal::Decimal;
use crate::record::{Outcome, Results};

/// Digits of `rel`.
const REL_PLACES: u32 = 12;

/// What follows from two records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The outcome of the runner's record.
    pub runner: Outcome,
    /// The outcome of the challenger's record.
    pub challenger: Outcome,
    /// Same outcome, and every rerun comparison passes.
    pub agrees: bool,
    /// Different outcomes although every rerun comparison passes: no dispute, the claim is flagged.
    pub boundary: bool,
    /// All rows: C1, C2, C3, each in the manifest's order.
    pub rows: Vec<Row>,
}

/// Compares the challenger's results with the claim and with the runner's.
pub fn compare(rules: &Rules, runner: &Results, challenger: &Results) -> Comparison {
    let (first, mut rows) = conclude(rules, runner, Cmp::C1);
    let (second, c2) = conclude(rules, challenger, Cmp::C2);
    let c3 = reruns(rules, runner, challenger);
    let close = c3.iter().all(Row::passes);
    rows.extend(c2);
    rows.extend(c3);
    let same = first == second;
    // Only where both could be carried out: that one could not is a difference like any other.
    let computed = |outcome| matches!(outcome, Outcome::Reproduced | Outcome::NotReproduced);
    let boundary = !same && close && computed(first) && computed(second);
    Comparison { runner: first, challenger: second, agrees: same && close, boundary, rows }
}

/// The outcome of a record with the rows it follows from. A run that could not be carried out says
/// so itself; whether the claim holds is computed.
pub fn conclude(rules: &Rules, results: &Results, cmp: Cmp) -> (Outcome, Vec<Row>) {
    let reported = ByName::new(&results.metrics);
    let mut rows: Vec<Row> = rules
        .metrics
        .iter()
        .enumerate()
        .map(|(place, metric)| against_claim(cmp, metric, reported.at(place, &metric.name), rules))
        .collect();
    if !rules.extra_ignored {
        rows.extend(
            extras(rules, &results.metrics).map(|extra| Row {
                a: Some(plain(&extra.value)),
                ..Row::bare(cmp, &extra.name, Status::Extra)
            }),
        );
    }
    let outcome = match results.outcome {
        own @ (Outcome::SpecIssue | Outcome::InputMismatch) => own,
        Outcome::Reproduced | Outcome::NotReproduced if rows.iter().all(Row::passes) => Outcome::Reproduced,
        Outcome::Reproduced | Outcome::NotReproduced => Outcome::NotReproduced,
    };
    (outcome, rows)
}

/// Why the claim does not hold, by the rows of `cmp`: a forbidden NaN or infinity before all else, since it makes
/// the record invalid; otherwise what the first row found that does not pass.
pub fn reason(rules: &Rules, rows: &[Row], cmp: Cmp) -> Option<Status> {
    let found = || rows.iter().filter(|row| row.cmp == cmp && !row.passes()).map(|row| row.status);
    let invalid = found().find(|status| *status == Status::Nonfinite && !rules.nonfinite_allowed);
    invalid.or_else(|| found().next())
}

/// C3: whether two reruns agree.
pub fn reruns(rules: &Rules, a: &Results, b: &Results) -> Vec<Row> {
    let (of_a, of_b) = (ByName::new(&a.metrics), ByName::new(&b.metrics));
    let mut rows: Vec<Row> = rules
        .metrics
        .iter()
        .enumerate()
        .map(|(place, metric)| {
            let name = metric.name.as_str();
            between(metric, of_a.at(place, name), of_b.at(place, name), rules)
        })
        .collect();
    if !rules.extra_ignored {
        let names: BTreeSet<&str> = extras(rules, &a.metrics)
            .chain(extras(rules, &b.metrics))
            .map(|extra| extra.name.as_str())
            .collect();
        rows.extend(names.into_iter().map(|name| {
            let (a, b) = (of_a.find(name), of_b.find(name));
            equal_or(name, a.map(|r| plain(&r.value)), b.map(|r| plain(&r.value)), Status::Extra)
        }));
    }
    if rules.exact {
        rows.extend(traces(a, b));
    }
    rows
}

/// What only running shows: fuel, log and outputs, under names no manifest can claim.
fn traces(a: &Results, b: &Results) -> Vec<Row> {
    let fuel = |of: &Results| of.fuel.map(|fuel| fuel.to_string());
    let log = |of: &Results| of.log_sha256.map(|digest| digest.to_string());
    let mut rows = vec![
        equal_or("#fuel", fuel(a), fuel(b), Status::Beyond),
        equal_or("#log", log(a), log(b), Status::HashMismatch),
    ];
    let names: BTreeSet<&String> = a.outputs.keys().chain(b.outputs.keys()).collect();
    rows.extend(names.into_iter().map(|name| {
        let of = |results: &Results| results.outputs.get(name).map(ToString::to_string);
        equal_or(&format!("#output.{name}"), of(a), of(b), Status::HashMismatch)
    }));
    for row in &mut rows {
        let numbers = [&row.a, &row.b].map(|text| text.as_deref().and_then(|text| Decimal::parse(text).ok()));
        if let (true, [Some(a), Some(b)]) = (row.metric == "#fuel", numbers) {
            let diff = a.minus(&b).abs().to_string();
            row.limit = Some("0".into());
            row.excess = Some(diff.clone());
            row.diff = Some(diff);
        }
    }
    rows
}

fn equal_or(name: &str, a: Option<String>, b: Option<String>, otherwise: Status) -> Row {
    let status = match (&a, &b) {
        (None, Some(_)) | (Some(_), None) if otherwise != Status::Extra => Status::Missing,
        _ if a == b => Status::Pass,
        _ => otherwise,
    };
    Row { a, b, ..Row::bare(Cmp::C3, name, status) }
}

/// Metrics of a record by their names. A record has them in the manifest's order as a rule; only where it has not is
/// there anything to look up.
struct ByName<'a> {
    reported: &'a [Reported],
    sorted: OnceCell<BTreeMap<&'a str, &'a Reported>>,
}

impl<'a> ByName<'a> {
    fn new(reported: &'a [Reported]) -> Self {
        Self { reported, sorted: OnceCell::new() }
    }

    /// The metric of this name, looked for at its place first.
    fn at(&self, place: usize, name: &str) -> Option<&'a Reported> {
        self.reported.get(place).filter(|reported| reported.name == name).or_else(|| self.find(name))
    }

    fn find(&self, name: &str) -> Option<&'a Reported> {
        let by_name = || self.reported.iter().map(|metric| (metric.name.as_str(), metric)).collect();
        self.sorted.get_or_init(by_name).get(name).copied()
    }
}

fn extras<'a>(rules: &'a Rules, reported: &'a [Reported]) -> impl Iterator<Item = &'a Reported> {
    let known: OnceCell<BTreeSet<&str>> = OnceCell::new();
    let is_known = move |place: usize, name: &str| {
        let names = || rules.metrics.iter().map(|metric| metric.name.as_str()).collect();
        rules.metrics.get(place).is_some_and(|metric| metric.name == name)
            || known.get_or_init(names).contains(name)
    };
    reported.iter().enumerate().filter(move |(i, it)| !is_known(*i, &it.name)).map(|(_, reported)| reported)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The value as the metric's kind, or the row that says why it is none.
fn measure(
    cmp: Cmp,
    metric: &Metric,
    reported: Option<&Reported>,
    rules: &Rules,
) -> Result<Measured, Box<Row>> {
    let failed = |status| {
        Box::new(Row {
            reference: Some(metric.claim.to_string()),
            a: reported.map(|reported| plain(&reported.value)),
            ..Row::bare(cmp, &metric.name, status)
        })
    };
    let Some(reported) = reported else { return Err(failed(Status::Missing)) };
    let measured = Some(()).filter(|()| reported.kind == metric.kind.name());
    match measured.and_then(|()| Measured::read(metric.kind, &reported.value).ok()) {
        None => Err(failed(Status::KindMismatch)),
        Some(measured) if measured.is_nonfinite() && !rules.nonfinite_allowed => {
            Err(failed(Status::Nonfinite))
        }
        Some(measured) => Ok(measured),
    }
}

fn against_claim(cmp: Cmp, metric: &Metric, reported: Option<&Reported>, rules: &Rules) -> Row {
    let got = match measure(cmp, metric, reported, rules) {
        Ok(got) => got,
        Err(row) => return *row,
    };
    let row = match (&metric.claim_tolerance, &metric.claim, &got) {
        (ClaimTolerance::Within(tolerance, direction), Measured::Number(claim), Measured::Number(number)) => {
            distance(cmp, metric, claim, number, claim, tolerance, *direction)
        }
        (ClaimTolerance::Ulps(limit), claim, got) => exact(cmp, metric, claim, got, Some(*limit)),
        (ClaimTolerance::Exact | ClaimTolerance::Within(..), claim, got) => {
            exact(cmp, metric, claim, got, None)
        }
    };
    Row { reference: Some(metric.claim.to_string()), a: Some(got.to_string()), b: None, ..row }
}

fn between(metric: &Metric, a: Option<&Reported>, b: Option<&Reported>, rules: &Rules) -> Row {
    let sides = |row: Row| Row {
        reference: Some(metric.claim.to_string()),
        a: a.map(|a| plain(&a.value)),
        b: b.map(|b| plain(&b.value)),
        ..row
    };
    if a.is_none() && b.is_none() {
        return sides(Row::bare(Cmp::C3, &metric.name, Status::Pass));
    }
    let (left, right) = (measure(Cmp::C3, metric, a, rules), measure(Cmp::C3, metric, b, rules));
    let (left, right) = match (left, right) {
        (Ok(left), Ok(right)) => (left, right),
        // Two runs that give the same forbidden value agree on it; that it is forbidden, C1 and C2 say.
        (Err(x), Err(y)) if x.status == Status::Nonfinite && y.status == x.status && x.a == y.a => {
            return sides(Row::bare(Cmp::C3, &metric.name, Status::Pass));
        }
        (Err(row), _) | (_, Err(row)) => return sides(*row),
    };
    let row = match (&metric.rerun_tolerance, &left, &right, &metric.claim) {
        (RerunTolerance::Within(tol), Measured::Number(x), Measured::Number(y), Measured::Number(claim)) => {
            distance(Cmp::C3, metric, x, y, claim, tol, Direction::TwoSided)
        }
        (RerunTolerance::Ulps(limit), x, y, _) => exact(Cmp::C3, metric, x, y, Some(*limit)),
        (RerunTolerance::Exact | RerunTolerance::Within(_), x, y, _) => exact(Cmp::C3, metric, x, y, None),
    };
    sides(row)
}

/// Two numbers against a limit that is taken from the claim. `direction` is seen from `from`.
fn distance(
    cmp: Cmp,
    metric: &Metric,
    from: &Decimal,
    to: &Decimal,
    claim: &Decimal,
    tolerance: &Tolerance,
    direction: Direction,
) -> Row {
    let limit = tolerance.limit(claim);
    let signed = to.minus(from);
    let missed = match direction {
        Direction::TwoSided => signed.abs(),
        Direction::AtLeast => from.minus(to),
        Direction::AtMost => signed.clone(),
    };
    let passes = missed <= limit;
    let status = if passes { Status::Pass } else { Status::Beyond };
    let excess = if passes { Decimal::integer(0) } else { missed.minus(&limit) };
    measured(
        Row {
            limit: Some(limit.to_string()),
            excess: Some(excess.to_string()),
            ..Row::bare(cmp, &metric.name, status)
        },
        &signed,
        claim,
    )
}

/// `row` with how far apart the two values are.
fn measured(row: Row, signed: &Decimal, claim: &Decimal) -> Row {
    let diff = signed.abs();
    let rel = diff.ratio_half_even(&claim.abs(), REL_PLACES).map(|rel| rel.to_string());
    Row { diff: Some(diff.to_string()), rel, ..row }
}

/// Two values that must be equal, or within `ulps` of each other.
fn exact(cmp: Cmp, metric: &Metric, x: &Measured, y: &Measured, ulps: Option<u64>) -> Row {
    let bare = |status| Row::bare(cmp, &metric.name, status);
    match (x, y) {
        (Measured::Number(x), Measured::Number(y)) => {
            let signed = y.minus(x);
            let status = if signed.is_zero() { Status::Pass } else { Status::Beyond };
            let excess = if signed.is_zero() { "0".to_owned() } else { signed.abs().to_string() };
            let row = Row { limit: Some("0".into()), excess: Some(excess), ..bare(status) };
            match &metric.claim {
                Measured::Number(claim) => measured(row, &signed, claim),
                _ => Row { diff: Some(signed.abs().to_string()), ..row },
            }
        }
        (Measured::F64(x), Measured::F64(y)) => {
            let finite = |bits: &u64| f64::from_bits(*bits).is_finite();
            let apart = if finite(x) && finite(y) { ulps_between(*x, *y) } else { None };
            let within = ulps.zip(apart).is_some_and(|(limit, apart)| apart <= limit);
            let nonfinite = !finite(x) || !finite(y);
            let status = match (x == y || within, nonfinite) {
                (true, _) => Status::Pass,
                (false, true) => Status::Nonfinite,
                (false, false) => Status::Beyond,
            };
            Row { ulps: apart, limit: ulps.map(|limit| limit.to_string()), ..bare(status) }
        }
        _ if x == y => bare(Status::Pass),
        (Measured::NonFinite(_), _) | (_, Measured::NonFinite(_)) => bare(Status::Nonfinite),
        _ if metric.kind == Kind::Hash => bare(Status::HashMismatch),
        _ => bare(Status::Beyond),
    }
}
