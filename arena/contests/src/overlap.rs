//! How much two claims say the same, by their words and pairs of words. It is lexical: a paraphrase
//! is for a person to see.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use arena_canon::json::{Pointer, Value};
use regex::Regex;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use crate::document::{Faults, Object};

/// Shared features over all features, from which claims are duplicates, in permille.
pub const JACCARD_PERMILLE: u64 = 500;
/// Shared features over those of the smaller claim, from which claims are duplicates, in permille.
pub const CONTAINMENT_PERMILLE: u64 = 800;
/// Features the smaller claim needs for its containment to count.
pub const FEATURES_MIN: usize = 8;

const STOP_WORDS: &str = "a an and are as at be been by can do does for from has have in is it its now of on \
    or our so that the their then there this to under was we were will with without you your";

/// How much two claims overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Whether they count as one.
    pub duplicate: bool,
    /// Shared over all.
    pub jaccard_permille: u64,
    /// Shared over the smaller.
    pub containment_permille: u64,
}

/// Compares two claims.
pub fn compare(a: &str, b: &str) -> Overlap {
    Features::of(a).compare(&Features::of(b))
}

/// Bytes of a claim that is compared.
const CLAIM_BYTES_MAX: usize = 1 << 20;

/// `{"a", "b"}` gives the overlap as it is shown.
pub fn answer(question: &Value) -> Result<Value, Faults> {
    let mut faults = Faults::default();
    let read = Object::read(question, &Pointer::default(), &["a", "b"], &mut faults).and_then(|object| {
        let [a, b] = ["a", "b"].map(|key| {
            let claim = object.text(key, &mut faults)?;
            if claim.len() > CLAIM_BYTES_MAX {
                let message = format!("has {} bytes; the limit is {CLAIM_BYTES_MAX}", claim.len());
                faults.add(&object.at(key), message);
            }
            Some(claim)
        });
        Some((a?, b?))
    });
    let (a, b) = faults.or(read)?;
    let Overlap { duplicate, jaccard_permille, containment_permille } = compare(a, b);
    Ok(json!({
        "duplicate": duplicate,
        "jaccard_permille": jaccard_permille,
        "containment_permille": containment_permille,
    }))
}

/// The words and pairs of words of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features(BTreeSet<(String, Option<String>)>);

impl Features {
    /// Those of `claim`.
    pub fn of(claim: &str) -> Self {
        let tokens = tokens(claim);
        let pairs = tokens.windows(2).map(|pair| (pair[0].clone(), Some(pair[1].clone())));
        Self(tokens.iter().map(|token| (token.clone(), None)).chain(pairs).collect())
    }

    /// Compares two claims. An empty one overlaps with nothing.
    pub fn compare(&self, other: &Self) -> Overlap {
        let shared = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - shared;
        let smaller = self.0.len().min(other.0.len());
        let permille = |of: usize| if of == 0 { 0 } else { shared as u64 * 1_000 / of as u64 };
        let (jaccard_permille, containment_permille) = (permille(all), permille(smaller));
        let is_contained = containment_permille >= CONTAINMENT_PERMILLE && smaller >= FEATURES_MIN;
        Overlap {
            duplicate: jaccard_permille >= JACCARD_PERMILLE || is_contained,
            jaccard_permille,
            containment_permille,
        }
    }
}

fn tokens(claim: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\p{L}\p{Nd}]+").expect("the pattern is a constant"));
    static STOP: LazyLock<BTreeSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    let plain = claim.nfkc().collect::<String>().to_lowercase();
    let words = WORD.find_iter(&plain).map(|word| word.as_str());
    words.filter(|word| !STOP.contains(word)).map(|word| stem(word).to_owned()).collect()
}

/// An English word without the first of these endings that leaves three letters.
fn stem(word: &str) -> &str {
    if !word.bytes().all(|letter| letter.is_ascii_alphabetic()) {
        return word;
    }
    let mut stems = ["ing", "ed", "es", "s"].into_iter().filter_map(|ending| word.strip_suffix(ending));
    stems.find(|stem| stem.len() >= 3).unwrap_or(word)
}
