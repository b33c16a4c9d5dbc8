//! What must not become public: secrets, data of persons, and what a company marked as its own.
//!
//! A text is looked at before anything of it is stored. A finding names its rule, the field and the
//! place, and never what stands there. Text that was cut into pieces or encoded is not seen.

mod entropy;
mod fold;
mod person;
mod rules;

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};
use regex::bytes::{Regex, RegexBuilder};

pub use entropy::millibits;
use fold::Folded;
use rules::{PLACEHOLDERS, RULES, Rule};

use crate::words::words;

/// Bytes of a text or a text artifact that are looked at; what is larger is refused unseen.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Findings that are told of one text.
pub const FINDINGS_MAX: usize = 100;

words! {
    /// What follows from a finding.
    pub enum Severity {
        /// It is refused: the finding proves itself by its form or a check digit.
        Block = "block",
        /// It goes on, and a person looks at it.
        Review = "review",
        /// It goes on.
        Warn = "warn",
    }
}

/// Something that should not be public. It does not hold what was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Finding {
    /// Of which field.
    pub field: String,
    /// Byte in the text.
    pub offset: usize,
    /// The rule it breaks.
    pub rule: &'static str,
    /// What follows.
    pub severity: Severity,
}

/// Rules that are no pattern of a secret.
const OTHER_RULES: [&str; 8] =
    ["text_too_large", "canary", "marker", "lt_personal_code", "payment_card", "iban", "email", "phone"];

/// The rule of this name.
pub fn rule_named(name: &str) -> Option<&'static str> {
    RULES.iter().map(|rule| rule.id).chain(OTHER_RULES).find(|rule| *rule == name)
}

/// Marks that a text was not meant for the public.
pub const MARKERS: &[&str] =
    &["internal-only", "internal only", "do not publish", "not for publication", "company confidential"];

/// Bytes of a canary; a shorter one would be met by chance.
pub const CANARY_BYTES_MIN: usize = 12;

/// Canaries one scanner looks for.
pub const CANARIES_MAX: usize = 10_000;
/// Bytes of all of them.
pub const CANARIES_BYTES_MAX: usize = 1 << 20;

/// Looks for everything that must not become public.
#[derive(Debug, Clone)]
pub struct Scanner {
    canaries: Option<AhoCorasick>,
    markers: Option<AhoCorasick>,
    is_blind: bool,
}

/// Why a scanner cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScannerError {
    /// A canary that would be met by chance.
    #[error("canary {index} has {bytes} bytes; at least {CANARY_BYTES_MIN} are needed")]
    CanaryTooShort {
        /// Which.
        index: usize,
        /// Its bytes.
        bytes: usize,
    },
    /// More or longer ones than can be looked for.
    #[error("the canaries and markers are too many or too long")]
    TooLarge,
}

impl Scanner {
    /// One that finds nothing, for what was looked at when it came: what is looked for today does not change it.
    pub const fn blind() -> Self {
        Self { canaries: None, markers: None, is_blind: true }
    }

    /// One that knows the canaries of companies, matched exactly, and `markers`, in any letter case.
    pub fn new(canaries: &[String], markers: &[&str]) -> Result<Self, ScannerError> {
        let is_short = |canary: &String| canary.len() < CANARY_BYTES_MIN;
        if let Some(index) = canaries.iter().position(is_short) {
            return Err(ScannerError::CanaryTooShort { index, bytes: canaries[index].len() });
        }
        let size: usize = canaries.iter().map(String::len).sum();
        if size > CANARIES_BYTES_MAX || canaries.len() > CANARIES_MAX || markers.len() > 1_000 {
            return Err(ScannerError::TooLarge);
        }
        // A canary in compatibility forms is looked for as it looks, as the text is.
        let canaries: Vec<Vec<u8>> =
            canaries.iter().map(|canary| Folded::of(canary).bytes.into_owned()).collect();
        let build = |patterns: &[&[u8]], any_case: bool| {
            // One is made for each text of a round: a table of every state and byte costs more than it saves.
            let kind = Some(AhoCorasickKind::NoncontiguousNFA);
            let built = AhoCorasickBuilder::new().ascii_case_insensitive(any_case).kind(kind).build(patterns);
            built.map_err(|_| ScannerError::TooLarge).map(|found| (!patterns.is_empty()).then_some(found))
        };
        let canaries: Vec<&[u8]> = canaries.iter().map(Vec::as_slice).collect();
        let markers: Vec<&[u8]> = markers.iter().map(|marker| marker.as_bytes()).collect();
        Ok(Self { canaries: build(&canaries, false)?, markers: build(&markers, true)?, is_blind: false })
    }

    /// Everything found in `text`, which is `field`, by its place.
    pub fn scan(&self, field: &str, text: &str) -> Vec<Finding> {
        if self.is_blind {
            return Vec::new();
        }
        let found = |offset, rule, severity| Finding { field: field.to_owned(), offset, rule, severity };
        if text.len() > TEXT_BYTES_MAX {
            return vec![found(0, "text_too_large", Severity::Block)];
        }
        let folded = Folded::of(text);
        let mut findings = Vec::new();
        let mut add = |at: usize, rule, severity| findings.push(found(folded.place(at), rule, severity));
        for (automaton, rule, severity) in
            [(&self.canaries, "canary", Severity::Block), (&self.markers, "marker", Severity::Review)]
        {
            let matches = automaton.iter().flat_map(|found| found.find_iter(&folded.bytes[..]));
            matches.take(FINDINGS_MAX).for_each(|found| add(found.start(), rule, severity));
        }
        secrets(&folded.bytes, &mut add);
        persons(&folded.bytes, &mut add);
        findings.sort();
        findings.dedup();
        // What blocks is never pushed out by what does not.
        findings.sort_by_key(|finding| finding.severity);
        findings.truncate(FINDINGS_MAX);
        findings.sort();
        findings
    }
}

/// Bytes of a match before and after its keyword; a longer secret is known by its first part.
const BEFORE: usize = 160;
const AFTER: usize = 400;

/// Runs the rules, each only around its own keywords.
fn secrets(text: &[u8], add: &mut impl FnMut(usize, &'static str, Severity)) {
    static KEYWORDS: LazyLock<(AhoCorasick, Vec<usize>)> = LazyLock::new(|| {
        let pairs = RULES.iter().enumerate();
        let pairs: Vec<_> =
            pairs.flat_map(|(i, rule)| rule.keywords.iter().map(move |word| (*word, i))).collect();
        let automaton = AhoCorasickBuilder::new()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(pairs.iter().map(|(word, _)| word));
        (automaton.expect("the keywords are constants"), pairs.iter().map(|(_, i)| *i).collect())
    });
    let (automaton, rule_of) = &*KEYWORDS;
    let mut ranges: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for hit in automaton.find_overlapping_iter(text) {
        let rule = rule_of[hit.pattern().as_usize()];
        let (from, to) = (hit.start().saturating_sub(BEFORE), (hit.end() + AFTER).min(text.len()));
        let ranges = ranges.entry(rule).or_default();
        match ranges.last_mut() {
            Some(last) if last.1 >= from => last.1 = last.1.max(to),
            _ => ranges.push((from, to)),
        }
    }
    for (rule, ranges) in ranges {
        let (rule, regex) = (&RULES[rule], compiled(rule));
        let matches = ranges
            .iter()
            .flat_map(|&(from, to)| regex.captures_iter(&text[from..to]).map(move |found| (from, found)));
        let secret = |(from, found): (usize, regex::bytes::Captures<'_>)| {
            let whole = found.get(0)?;
            let random = found.get(1).unwrap_or(whole);
            is_secret(rule, random.as_bytes()).then_some(from + whole.start())
        };
        matches.filter_map(secret).take(FINDINGS_MAX).for_each(|at| add(at, rule.id, rule.severity));
    }
}

fn is_secret(rule: &Rule, random: &[u8]) -> bool {
    static ALLOWED: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let built = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(PLACEHOLDERS);
        built.expect("the placeholders are constants")
    });
    rule.entropy_min_millibits == 0
        || (millibits(random) >= rule.entropy_min_millibits && !ALLOWED.is_match(random))
}

/// A rule is compiled when a text first has one of its keywords.
fn compiled(rule: usize) -> &'static Regex {
    static COMPILED: LazyLock<Vec<OnceLock<Regex>>> =
        LazyLock::new(|| RULES.iter().map(|_| OnceLock::new()).collect());
    COMPILED[rule].get_or_init(|| bytes_regex(RULES[rule].pattern))
}

fn bytes_regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the pattern is a constant")
}

struct Persons {
    digits: Regex,
    iban: Regex,
    email: Regex,
    phone: Regex,
}

fn persons(text: &[u8], add: &mut impl FnMut(usize, &'static str, Severity)) {
    static PERSONS: LazyLock<Persons> = LazyLock::new(|| Persons {
        digits: bytes_regex("[0-9](?:[ -]?[0-9]){10,18}"),
        iban: bytes_regex("[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}"),
        email: bytes_regex(r"[A-Za-z0-9._%+\-]{1,64}@(?:[A-Za-z0-9\-]{1,63}\.){1,8}[A-Za-z]{2,24}"),
        phone: bytes_regex(r"\+[1-9](?:[ ().\-]{0,2}[0-9]){7,14}"),
    });
    let is_part = |at: Option<&u8>| at.is_some_and(u8::is_ascii_alphanumeric);
    let stands_alone = |from: usize, to: usize| {
        !is_part(from.checked_sub(1).and_then(|at| text.get(at))) && !is_part(text.get(to))
    };
    for found in PERSONS.digits.find_iter(text).filter(|found| stands_alone(found.start(), found.end())) {
        if person::is_personal_code(found.as_bytes()) {
            add(found.start(), "lt_personal_code", Severity::Block);
        } else if person::is_card(found.as_bytes()) {
            add(found.start(), "payment_card", Severity::Block);
        }
    }
    for found in PERSONS.iban.find_iter(text) {
        // What follows an IBAN may look like more of it.
        let whole = found.as_bytes();
        let is_iban = (15..=whole.len())
            .any(|end| stands_alone(found.start(), found.start() + end) && person::is_iban(&whole[..end]));
        if is_iban {
            add(found.start(), "iban", Severity::Block);
        }
    }
    if text.contains(&b'@') {
        let found = PERSONS.email.find_iter(text).filter(|found| !is_reserved(found.as_bytes()));
        found.take(FINDINGS_MAX).for_each(|found| add(found.start(), "email", Severity::Review));
    }
    if text.contains(&b'+') {
        let found = PERSONS.phone.find_iter(text);
        found.take(FINDINGS_MAX).for_each(|found| add(found.start(), "phone", Severity::Warn));
    }
}

/// Addresses nobody can have (RFC 2606), and those nobody reads.
fn is_reserved(address: &[u8]) -> bool {
    let address = address.to_ascii_lowercase();
    let ends = ["example.com", "example.org", "example.net", ".example", ".invalid", ".test", ".localhost"];
    ends.iter().any(|end| address.ends_with(end.as_bytes()))
        || address.starts_with(b"noreply@")
        || address.starts_with(b"no-reply@")
}
