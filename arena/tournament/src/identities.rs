//! Hidden identities: committed before the first match, disclosed and checked after the last.

use std::collections::{BTreeMap, BTreeSet};

use arena_canon::{Digest, Preimage, json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::folder::IDENTITIES_BYTES_MAX;
use crate::freeze;
use crate::frozen::{Frozen, StrategyPin};
use crate::names::Alias;
use crate::seating::{self, Seating};
use crate::secret::Secret;

/// The format of the commitments.
pub(crate) const COMMITMENTS_SCHEMA: &str = "tournament.identities.commit.v1";
/// The format of the disclosure.
const DISCLOSURE_SCHEMA: &str = "tournament.identities.v1";

/// Everything that ties an alias to a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What it played as.
    pub alias: Alias,
    /// Its place in the frozen list.
    pub index: u32,
    /// SHA-256 of the component.
    pub strategy_sha256: Digest,
    /// The salt of its commitment.
    pub salt: Digest,
    /// The commitment that was public before the first match.
    pub commitment: Digest,
}

/// The identities of a run, as they are disclosed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosure {
    /// The format.
    pub schema: String,
    /// Digest of the frozen file.
    pub frozen_sha256: Digest,
    /// The secret, hexadecimal.
    pub secret: Digest,
    /// Every alias.
    pub identities: Vec<Identity>,
}

/// What is wrong with the identities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch(pub(crate) String);

/// `SHA256(lp(label) || lp(frozen digest) || lp(alias) || lp(strategy) || u64(index) || lp(salt))`
fn commitment(frozen: Digest, alias: Alias, strategy: Digest, index: u32, salt: Digest) -> Digest {
    Preimage::new("ARENA-IDENTITY-V1")
        .bytes(frozen.as_bytes())
        .bytes(alias.to_string().as_bytes())
        .bytes(strategy.as_bytes())
        .number(index.into())
        .bytes(salt.as_bytes())
        .digest()
}

/// Every identity, in the order of the aliases. A frozen file's digest is given with it: it may be long.
pub(crate) fn identities(
    (frozen, digest): (&Frozen, Digest),
    seating: &Seating,
    secret: &Secret,
) -> Vec<Identity> {
    let identity = |(alias, index): (Alias, u32)| {
        let strategy_sha256 = frozen.strategies[index as usize].sha256;
        let salt = secret.salt(alias);
        let commitment = commitment(digest, alias, strategy_sha256, index, salt);
        Identity { alias, index, strategy_sha256, salt, commitment }
    };
    seating.iter().map(identity).collect()
}

/// The bytes of the commitments' file, which is public before the first match.
pub(crate) fn commitments_file(frozen: Digest, identities: &[Identity]) -> Vec<u8> {
    let commitment =
        |identity: &Identity| json!({ "alias": identity.alias, "commitment": identity.commitment });
    json::canonical(&json!({
        "schema": COMMITMENTS_SCHEMA,
        "frozen_sha256": frozen,
        "commitments": identities.iter().map(commitment).collect::<Vec<_>>(),
    }))
}

/// The bytes of the disclosure.
pub(crate) fn disclosure_file(frozen: Digest, secret: &Secret, identities: Vec<Identity>) -> Vec<u8> {
    json::canonical_of(&Disclosure {
        schema: DISCLOSURE_SCHEMA.to_owned(),
        frozen_sha256: frozen,
        secret: Digest::from_bytes(*secret.as_bytes()),
        identities,
    })
}

/// Checks that everything public before disclosure opens to one consistent assignment, and told nobody
/// of it: the secret opens its commitment, the seating is the one that draws itself, the commitments
/// open, and neither file names a strategy, its digest or a salt.
pub(crate) fn validate(
    (frozen, digest): (&Frozen, Digest),
    seating: &Seating,
    secret: &Secret,
    commitments: &[u8],
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if secret.commitment() != frozen.secret_commit {
        mismatches.push(Mismatch("the secret does not open the commitment of frozen.json".to_owned()));
    }
    if seating::subject(frozen, |alias| seating.index_of(alias)) != Some(frozen.seating.subject) {
        let why = "the matchups, read by the disclosed identities, are not those the seating was drawn for";
        mismatches.push(Mismatch(why.to_owned()));
    }
    match freeze::seating(frozen, secret) {
        Ok(drawn) if drawn == *seating => {}
        Ok(drawn) => {
            let wrong = seating.iter().find(|(alias, index)| drawn.index_of(*alias) != Some(*index));
            let alias = wrong.map_or_else(String::new, |(alias, _)| alias.to_string());
            mismatches.push(Mismatch(format!("alias {alias} is not what the seating draw gives")));
        }
        Err(why) => mismatches.push(Mismatch(why.to_string())),
    }
    let identities = identities((frozen, digest), seating, secret);
    let expected = commitments_file(digest, &identities);
    if commitments != expected {
        mismatches.push(Mismatch(first_wrong_commitment(commitments, &expected)));
    }
    mismatches.extend(leaks(frozen, &identities, commitments));
    mismatches
}

fn first_wrong_commitment(found: &[u8], expected: &[u8]) -> String {
    let read = |bytes| json::read(bytes, IDENTITIES_BYTES_MAX as usize).ok();
    let (Some(found), Some(expected)) = (read(found), read(expected)) else {
        return "identities.commit.json cannot be read".to_owned();
    };
    let place = json::first_difference(&found, &expected).map(|(at, ..)| at);
    let alias = place.as_ref().and_then(|at| {
        let index: usize = at.as_str().strip_prefix("/commitments/")?.split('/').next()?.parse().ok()?;
        expected.pointer(&format!("/commitments/{index}/alias"))?.as_str().map(ToOwned::to_owned)
    });
    match (alias, place) {
        (Some(alias), _) => format!("the commitment of alias {alias} does not open"),
        (None, Some(at)) => {
            let at = arena_engine::Excerpt { text: at.as_str(), max: 80 };
            format!("identities.commit.json holds at {at} what it should not")
        }
        (None, None) => "identities.commit.json is not in canonical form".to_owned(),
    }
}

/// What was public before disclosure, the list of strategies apart, must tell nothing of them.
fn leaks(frozen: &Frozen, identities: &[Identity], commitments: &[u8]) -> Vec<Mismatch> {
    let public = public_part(frozen);
    let committed = json::read(commitments, IDENTITIES_BYTES_MAX as usize).unwrap_or(Value::Null);
    let secret_of = |identity: &Identity| [identity.strategy_sha256, identity.salt];
    let hidden: BTreeMap<Digest, Alias> =
        identities.iter().flat_map(|identity| secret_of(identity).map(|it| (it, identity.alias))).collect();
    let mut found = Vec::new();
    for (file, document) in [("frozen.json", &public), ("identities.commit.json", &committed)] {
        let strings = strings(document);
        for alias in strings.iter().flat_map(|text| hidden_in(text, &hidden)) {
            found.push(Mismatch(format!("{file} tells the digest or the salt of {alias}")));
        }
        for strategy in frozen.strategies.iter().filter(|strategy| strings.contains(strategy.name.as_str())) {
            found.push(Mismatch(format!("{file} names strategy {}", strategy.index)));
        }
    }
    let raw = commitments.windows(32).filter_map(|window| Some(Digest::from_bytes(window.try_into().ok()?)));
    for alias in raw.filter_map(|bytes| hidden.get(&bytes)) {
        found.push(Mismatch(format!("identities.commit.json holds the digest or the salt of {alias}")));
    }
    found
}

/// The frozen file without the list of strategies, which is no mapping, and without the title, which is
/// the operator's own text. Of the matchups, one for each scenario: ids and aliases are never names.
fn public_part(frozen: &Frozen) -> Value {
    let mut scenarios = BTreeSet::new();
    let matchups = frozen.matchups.iter().filter(|matchup| scenarios.insert(&matchup.scenario)).cloned();
    let public = Frozen { matchups: matchups.collect(), ..frozen.without_matchups() };
    let mut public = serde_json::to_value(public).expect("a frozen tournament has string keys");
    if let Some(members) = public.as_object_mut() {
        members.remove("strategies");
        members.remove("title");
    }
    public
}

/// The strategies whose names stand in the frozen file for something else: they would look like a leak.
pub(crate) fn taken_names(frozen: &Frozen) -> Vec<u32> {
    let public = public_part(frozen);
    let strings = strings(&public);
    let taken = |strategy: &&StrategyPin| strings.contains(strategy.name.as_str());
    frozen.strategies.iter().filter(taken).map(|strategy| strategy.index).collect()
}

fn hidden_in<'h>(text: &str, hidden: &'h BTreeMap<Digest, Alias>) -> Vec<&'h Alias> {
    let windows = text.as_bytes().windows(64).filter_map(|window| std::str::from_utf8(window).ok());
    let digests = windows.filter_map(|hex| hex.to_ascii_lowercase().parse::<Digest>().ok());
    digests.filter_map(|digest| hidden.get(&digest)).collect()
}

/// Every whole string of a document, keys included.
fn strings(value: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                found.insert(text.as_str());
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                found.extend(members.keys().map(String::as_str));
                open.extend(members.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}
