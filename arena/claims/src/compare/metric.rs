//! The metrics of a manifest and what they tolerate.

use std::collections::BTreeSet;

use arena_canon::json::{Pointer, Value};

use super::value::Measured;
use crate::decimal::Decimal;
use crate::document::{Object, shown};
use crate::fault::Findings;

/// Most metrics of a manifest.
pub const METRICS_MAX: usize = 256;
/// Most digits behind the point of a decimal metric.
const SCALE_MAX: u64 = 64;
/// Longest name of a metric.
const NAME_MAX: usize = 64;

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SHA-256 of an output file.
    Hash,
    /// An integer.
    Int,
    /// A decimal with a fixed number of digits behind the point.
    Decimal {
        /// That number.
        scale: u32,
    },
    /// Yes or no.
    Bool,
    /// A text.
    Text,
    /// A binary64, by its bits.
    F64,
}

impl Kind {
    /// The word for it in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Int => "int",
            Self::Decimal { .. } => "decimal",
            Self::Bool => "bool",
            Self::Text => "text",
            Self::F64 => "f64",
        }
    }
}

/// How far a number may be from the claim: the larger of `abs` and `rel · |claim|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerance {
    /// In the metric's own unit.
    pub abs: Decimal,
    /// As a part of the claim's distance from zero.
    pub rel: Decimal,
}

impl Tolerance {
    /// The distance that is still allowed.
    pub fn limit(&self, claim: &Decimal) -> Decimal {
        let relative = self.rel.times(&claim.abs()).shortened();
        if relative > self.abs { relative } else { self.abs.clone() }
    }
}

/// In which direction a claim may be missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Neither way by more than the limit.
    TwoSided,
    /// Not below it by more than the limit.
    AtLeast,
    /// Not above it by more than the limit.
    AtMost,
}

/// When a claim holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimTolerance {
    /// Only the very value.
    Exact,
    /// Within a limit of the claim.
    Within(Tolerance, Direction),
    /// Within some units in the last place (binary64 only).
    Ulps(u64),
}

/// When two reruns agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RerunTolerance {
    /// Only on the very value.
    Exact,
    /// Within a limit of each other. It is taken from the claim, not from either run.
    Within(Tolerance),
    /// Within some units in the last place (binary64 only).
    Ulps(u64),
}

/// A metric of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Its name, unique in the manifest.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What is claimed.
    pub claim: Measured,
    /// When the claim holds.
    pub claim_tolerance: ClaimTolerance,
    /// When two reruns agree.
    pub rerun_tolerance: RerunTolerance,
}

/// What a manifest says about comparing records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// In the manifest's order.
    pub metrics: Vec<Metric>,
    /// Metrics beyond those claimed are passed over.
    pub extra_ignored: bool,
    /// NaN and infinities may be claimed and reported.
    pub nonfinite_allowed: bool,
    /// Reruns are compared exactly, with their fuel, log and outputs.
    pub exact: bool,
    /// Tolerances may be wider than the caps, and everybody is shown that they may.
    pub wide_tolerance: bool,
}

impl Rules {
    /// Members of a manifest that are read here.
    pub(crate) const MEMBERS: [&'static str; 5] =
        ["metrics", "extra", "nonfinite", "determinism", "wide_tolerance"];

    /// Reads them; where they are to be `listed`, tolerances beyond the caps are faults.
    pub(crate) fn read(object: &Object<'_>, listed: bool, findings: &mut Findings) -> Option<Self> {
        let word = |key: &str, yes: &str, no: &str, findings: &mut Findings| {
            let what = format!("\"{yes}\" or \"{no}\"");
            object.read_or(key, &what, false, findings, |value| match value.as_str() {
                Some(text) if text == yes => Some(true),
                Some(text) if text == no => Some(false),
                _ => None,
            })
        };
        let extra_ignored = word("extra", "ignore", "fail", findings);
        let nonfinite_allowed = word("nonfinite", "allow", "forbid", findings);
        let tolerant = word("determinism", "tolerant", "exact", findings);
        let wide_tolerance = object.flag_or("wide_tolerance", false, findings);
        let mut rules = Self {
            metrics: Vec::new(),
            extra_ignored: extra_ignored.unwrap_or_default(),
            nonfinite_allowed: nonfinite_allowed.unwrap_or_default(),
            exact: !tolerant.unwrap_or_default(),
            wide_tolerance: wide_tolerance.unwrap_or_default(),
        };
        let mut names = BTreeSet::new();
        for (at, value) in object.list("metrics", METRICS_MAX, findings) {
            let name = value.get("name").and_then(Value::as_str).filter(|name| is_name(name));
            if name.is_some_and(|name| !names.insert(name.to_owned())) {
                findings.add(&at.key("name"), "another metric has this name");
            }
            rules.metrics.extend(read_metric(value, &at, &rules, listed, findings));
        }
        if object.get("metrics").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            findings.add(&object.place("metrics"), "a manifest claims at least one metric");
        }
        Some(rules)
    }

    /// Whether any tolerance is beyond the caps: the badge on the claim.
    pub fn badge(&self) -> bool {
        self.wide_tolerance || !self.exact
    }
}

fn read_metric(
    value: &Value,
    at: &Pointer,
    rules: &Rules,
    listed: bool,
    findings: &mut Findings,
) -> Option<Metric> {
    let object = Object::of(value, at.clone(), findings)?;
    let known = ["name", "kind", "scale", "claim", "claim_tol", "rerun_tol"];
    object.only(&known, findings);
    let what = "1 to 64 of a-z, 0-9, `_` and `.`";
    let name = object.read("name", what, findings, |value| value.as_str().filter(|name| is_name(name)));
    let kind = read_kind(&object, findings);
    let claim = kind.and_then(|kind| {
        let claim = object.need("claim", findings)?;
        match read_claim(kind, claim) {
            Ok(claim) => Some(claim),
            Err(what) => {
                findings.add(&object.place("claim"), format!("must be {what}"));
                None
            }
        }
    });
    if claim.as_ref().is_some_and(|claim| claim.is_nonfinite() && !rules.nonfinite_allowed) {
        findings.add(&object.place("claim"), "is not finite, and the manifest does not allow that");
    }
    let kind = kind?;
    let capped = listed && !rules.wide_tolerance;
    let claim_tolerance = read_claim_tolerance(&object, kind, claim.as_ref(), capped, findings);
    let rerun_tolerance = read_rerun_tolerance(&object, kind, claim.as_ref(), (rules, capped), findings);
    Some(Metric {
        name: name?.to_owned(),
        kind,
        claim: claim?,
        claim_tolerance: claim_tolerance?,
        rerun_tolerance: rerun_tolerance?,
    })
}

/// `[a-z0-9_.]{1,64}`
pub(crate) fn is_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'.';
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(fine)
}

fn read_kind(object: &Object<'_>, findings: &mut Findings) -> Option<Kind> {
    let what = "one of hash, int, decimal, bool, text, f64";
    let kind = object.read("kind", what, findings, |value| match value.as_str()? {
        "hash" => Some(Kind::Hash),
        "int" => Some(Kind::Int),
        "decimal" => Some(Kind::Decimal { scale: 0 }),
        "bool" => Some(Kind::Bool),
        "text" => Some(Kind::Text),
        "f64" => Some(Kind::F64),
        _ => None,
    })?;
    if kind == (Kind::Decimal { scale: 0 }) {
        let scale = object.number("scale", SCALE_MAX, findings)?;
        return u32::try_from(scale).ok().map(|scale| Kind::Decimal { scale });
    }
    if object.get("scale").is_some() {
        findings
            .add(&object.place("scale"), format!("only a decimal has a scale, this is `{}`", kind.name()));
    }
    Some(kind)
}

/// A claim may be written with fewer digits than the records have.
fn read_claim(kind: Kind, value: &Value) -> Result<Measured, String> {
    let Kind::Decimal { scale } = kind else { return Measured::read(kind, value) };
    let written = value.as_str().and_then(|text| Decimal::parse(text).ok());
    match written.filter(|number| number.scale() <= scale) {
        Some(number) => Ok(Measured::Number(number)),
        None => Measured::read(kind, value)
            .map_err(|_| format!("a decimal string with at most {scale} digits behind the point")),
    }
}

fn read_bound(object: &Object<'_>, key: &str, findings: &mut Findings) -> Option<Decimal> {
    let what = "a decimal string, not below 0";
    object.read(key, what, findings, |value| {
        let number = Decimal::parse(value.as_str()?).ok()?;
        (!number.is_negative()).then_some(number)
    })
}

/// `abs` and `rel`, where `capped` within the caps.
fn read_tolerance(
    object: &Object<'_>,
    claim: Option<&Measured>,
    capped: bool,
    findings: &mut Findings,
) -> Option<Tolerance> {
    let abs = read_bound(object, "abs", findings);
    let rel = read_bound(object, "rel", findings);
    let tenth = Decimal::parse("0.1").ok()?;
    if let Some(rel) = rel.as_ref().filter(|rel| **rel > tenth && capped) {
        findings.add(
            &object.place("rel"),
            format!("{rel} is above 0.10; say \"wide_tolerance\": true to list it"),
        );
    }
    if let (Some(abs), Some(Measured::Number(claim))) = (&abs, claim) {
        let cap = tenth.times(&claim.abs().max(Decimal::integer(1))).shortened();
        if *abs > cap && capped {
            let message = format!("{abs} is above {cap}, a tenth of the claim (at least of 1)");
            findings.add(&object.place("abs"), format!("{message}; say \"wide_tolerance\": true to list it"));
        }
    }
    Some(Tolerance { abs: abs?, rel: rel? })
}

fn read_claim_tolerance(
    metric: &Object<'_>,
    kind: Kind,
    claim: Option<&Measured>,
    capped: bool,
    findings: &mut Findings,
) -> Option<ClaimTolerance> {
    let Some(value) = metric.get("claim_tol") else { return Some(ClaimTolerance::Exact) };
    let object = Object::of(value, metric.place("claim_tol"), findings)?;
    if object.get("mode").is_some() {
        return match read_mode(&object, kind, false, findings)? {
            Mode::Ulps(ulps) => Some(ClaimTolerance::Ulps(ulps)),
            Mode::Exact | Mode::Tol => Some(ClaimTolerance::Exact),
        };
    }
    object.only(&["abs", "rel", "dir"], findings);
    let what = "two_sided, at_least or at_most";
    let direction =
        object.read_or("dir", what, Direction::TwoSided, findings, |value| match value.as_str()? {
            "two_sided" => Some(Direction::TwoSided),
            "at_least" => Some(Direction::AtLeast),
            "at_most" => Some(Direction::AtMost),
            _ => None,
        });
    let tolerance = read_tolerance(&object, claim, capped, findings);
    let (direction, tolerance) = direction.zip(tolerance)?;
    if matches!(kind, Kind::Int | Kind::Decimal { .. }) {
        return Some(ClaimTolerance::Within(tolerance, direction));
    }
    if !tolerance.abs.is_zero() || !tolerance.rel.is_zero() || direction != Direction::TwoSided {
        findings
            .add(&object.at, format!("only numbers have a tolerance; `{}` is compared exactly", kind.name()));
    }
    Some(ClaimTolerance::Exact)
}

enum Mode {
    Exact,
    Tol,
    Ulps(u64),
}

fn read_mode(object: &Object<'_>, kind: Kind, tol: bool, findings: &mut Findings) -> Option<Mode> {
    let (what, tol) = match kind {
        Kind::Decimal { .. } if tol => ("exact or tol", true),
        Kind::F64 => ("exact, bits or ulps", false),
        _ => ("exact", false),
    };
    let mode = object.read("mode", what, findings, |value| match value.as_str()? {
        "exact" => Some("exact"),
        "bits" if kind == Kind::F64 => Some("exact"),
        "ulps" if kind == Kind::F64 => Some("ulps"),
        "tol" if tol => Some("tol"),
        _ => None,
    })?;
    match mode {
        "ulps" => {
            object.only(&["mode", "ulps"], findings);
            object.number("ulps", u64::from(u32::MAX), findings).map(Mode::Ulps)
        }
        "tol" => Some(Mode::Tol),
        _ => {
            object.only(&["mode"], findings);
            Some(Mode::Exact)
        }
    }
}

fn read_rerun_tolerance(
    metric: &Object<'_>,
    kind: Kind,
    claim: Option<&Measured>,
    (rules, capped): (&Rules, bool),
    findings: &mut Findings,
) -> Option<RerunTolerance> {
    let Some(value) = metric.get("rerun_tol") else { return Some(RerunTolerance::Exact) };
    let object = Object::of(value, metric.place("rerun_tol"), findings)?;
    let mode = read_mode(&object, kind, true, findings)?;
    if rules.exact && !matches!(mode, Mode::Exact) {
        let mode = object.get("mode").and_then(Value::as_str).unwrap_or_default();
        let message = format!("mode {} needs \"determinism\": \"tolerant\" in the manifest", shown(mode));
        findings.add(&object.place("mode"), message);
    }
    Some(match mode {
        Mode::Exact => RerunTolerance::Exact,
        Mode::Ulps(ulps) => RerunTolerance::Ulps(ulps),
        Mode::Tol => {
            object.only(&["mode", "abs", "rel"], findings);
            RerunTolerance::Within(read_tolerance(&object, claim, capped, findings)?)
        }
    })
}
