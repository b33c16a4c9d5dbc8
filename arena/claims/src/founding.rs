//! What the luck of an instance is founded on, as documents state it: the beacon, and the parties of a hash chain with
//! what each of them has to lose. A folder and a server state it in the same words.

use std::ops::RangeInclusive;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_draw::beacon::{
    EcvrfOperator, HashChain, HashChainError, Kind, ROUND_MAX, Schedule, Source, UnknownKind,
};
use arena_ledger::{Amount, Asset};
use serde_json::json;

use crate::life::{Party, Refusal, check_name};
use crate::params::Params;

/// How many rounds a chain can have.
pub const ROUNDS: RangeInclusive<u64> = 1..=ROUND_MAX;

/// Why an instance cannot be founded on this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoundingError {
    /// No beacon that there is.
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    /// A member of the beacon is missing, or is none of its kind.
    #[error("{0}")]
    Member(&'static str),
    /// The anchors are no beacon.
    #[error(transparent)]
    Anchors(#[from] HashChainError),
    /// Only a hash chain has parties.
    #[error("a beacon of kind {0} has none")]
    NoParties(Kind),
    /// Not one party for each anchor.
    #[error("{parties} parties with stakes, and {anchors} anchors, the operator's first")]
    Count {
        /// Parties given.
        parties: usize,
        /// Anchors given.
        anchors: usize,
    },
    /// A party stands twice.
    #[error("`{0}` stands twice")]
    Twice(String),
    /// A party that runs the instance.
    #[error("`{0}` is who runs the instance; its party has a name of its own")]
    Operator(String),
    /// A party that can be no agent.
    #[error("`{name}` cannot be a name: {why}")]
    Name {
        /// As it was given.
        name: String,
        /// Why not.
        why: String,
    },
    /// The parameters do not say what a party loses.
    #[error("parties have stakes, and the parameters have no `party_slash`")]
    NoSlash,
    /// A stake that does not cover what is lost of it at once.
    #[error("the stake of `{agent}` is {stake}; `party_slash` is {need}")]
    Stake {
        /// Whose.
        agent: String,
        /// As it was given.
        stake: Amount,
        /// The least.
        need: Amount,
    },
}

/// A name in a message.
fn shown(name: &str) -> String {
    name.chars().take(64).collect::<String>().escape_debug().to_string()
}

/// The member of an instance's document that says which beacon it is: a word, or an object where the word does not do.
pub fn beacon_json(source: &Source, parties: &[Party]) -> Value {
    let kind = source.kind().name();
    match source {
        Source::DrandQuicknet | Source::Test => json!(kind),
        Source::EcvrfOperator(beacon) => {
            json!({ "kind": kind, "public_key": Digest::from_bytes(*beacon.public_key()) })
        }
        Source::HashChain(beacon) if parties.is_empty() => {
            json!({ "kind": kind, "anchors": beacon.anchors() })
        }
        Source::HashChain(beacon) => {
            let parties: Vec<Value> = parties
                .iter()
                .map(|Party { agent, stake, rounds }| match rounds {
                    Some(rounds) => json!({ "agent": agent, "stake": stake, "rounds": rounds }),
                    None => json!({ "agent": agent, "stake": stake }),
                })
                .collect();
            json!({ "kind": kind, "anchors": beacon.anchors(), "parties": parties })
        }
    }
}

/// The beacon that it says. Rounds of an operator's key are due when quicknet's are; those of a chain follow one
/// another as they are revealed.
pub fn read_beacon(value: &Value) -> Result<Source, FoundingError> {
    let kind = value.as_str().or_else(|| value.get("kind")?.as_str()).unwrap_or_default();
    let digest = |value: &Value| value.as_str().and_then(|text| text.parse::<Digest>().ok());
    match kind.parse()? {
        Kind::DrandQuicknet => Ok(Source::DrandQuicknet),
        Kind::Test => Ok(Source::Test),
        Kind::EcvrfOperator => {
            let key = value.get("public_key").and_then(digest);
            let key = key.ok_or(FoundingError::Member("it has no public_key"))?;
            Ok(Source::EcvrfOperator(EcvrfOperator::new(*key.as_bytes(), Some(Schedule::QUICKNET))))
        }
        Kind::HashChain => {
            let anchors = value.get("anchors").and_then(Value::as_array);
            let anchors = anchors.ok_or(FoundingError::Member("it has no anchors"))?.iter();
            let anchors: Option<Vec<Digest>> = anchors.map(digest).collect();
            let anchors = anchors.ok_or(FoundingError::Member("an anchor is no digest"))?;
            Ok(Source::HashChain(HashChain::new(anchors, None)?))
        }
    }
}

/// The parties that it names: none, or one for each anchor.
pub fn read_parties(value: &Value, source: &Source) -> Result<Vec<Party>, FoundingError> {
    let Some(list) = value.get("parties") else { return Ok(Vec::new()) };
    let Source::HashChain(chain) = source else { return Err(FoundingError::NoParties(source.kind())) };
    let party = |value: &Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        // Instances from before it was told do not tell it.
        let rounds = match value.get("rounds") {
            Some(rounds) => Some(rounds.as_u64().filter(|rounds| ROUNDS.contains(rounds))?),
            None => None,
        };
        Some(Party { agent: text("agent")?.to_owned(), stake: text("stake")?.parse().ok()?, rounds })
    };
    let list = list.as_array().ok_or(FoundingError::Member("it is no array"))?;
    let parties: Option<Vec<Party>> = list.iter().map(party).collect();
    let parties = parties.ok_or(FoundingError::Member(
        "a party is {\"agent\": …, \"stake\": …}, both texts, with `rounds` a number",
    ))?;
    check_count(parties.len(), chain.anchors().len())?;
    check_once(&parties)?;
    Ok(parties)
}

/// Whether there is one party for each anchor.
pub fn check_count(parties: usize, anchors: usize) -> Result<(), FoundingError> {
    if parties == anchors { Ok(()) } else { Err(FoundingError::Count { parties, anchors }) }
}

/// Whether each of them stands once.
pub fn check_once(parties: &[Party]) -> Result<(), FoundingError> {
    let twice = parties
        .iter()
        .enumerate()
        .find(|(place, party)| parties.iter().take(*place).any(|other| other.agent == party.agent));
    twice.map_or(Ok(()), |(_, party)| Err(FoundingError::Twice(shown(&party.agent))))
}

/// Whether each can be an agent, and so pay its stake in.
pub fn check_names(parties: &[Party], asset: &Asset, operator: &str) -> Result<(), FoundingError> {
    for Party { agent, .. } in parties {
        if agent == operator {
            return Err(FoundingError::Operator(shown(agent)));
        }
        check_name(asset, agent).map_err(|why| match why {
            Refusal::BadName { name, why } => FoundingError::Name { name: shown(&name), why },
            other => FoundingError::Name { name: shown(agent), why: other.to_string() },
        })?;
    }
    Ok(())
}

/// Whether each stake covers what is lost of it at once.
pub fn check_stakes(parties: &[Party], params: &Params) -> Result<(), FoundingError> {
    if parties.is_empty() {
        return Ok(());
    }
    let need = params.party_slash.ok_or(FoundingError::NoSlash)?;
    match parties.iter().find(|party| party.stake < need) {
        Some(Party { agent, stake, .. }) => {
            Err(FoundingError::Stake { agent: shown(agent), stake: *stake, need })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
