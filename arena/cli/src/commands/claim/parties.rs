//! The parties of a hash chain and their stakes, as a folder and the command line name them.

use std::path::Path;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::life::{Command, Party};
use arena_claims::params::Params;
use arena_draw::beacon::{Kind, Source};

use super::beacon;
use super::instance::Reading;
use crate::commands::chain;
use crate::failure::Failure;

/// `AGENT=STAKE`.
pub(super) fn parse(text: &str) -> Result<Party, String> {
    let (agent, stake) = text.rsplit_once('=').ok_or("it is AGENT=STAKE, such as dan=6000")?;
    let stake = stake.parse().map_err(|why| format!("the stake: {why}"))?;
    if agent.is_empty() {
        return Err("it names no agent".to_owned());
    }
    Ok(Party { agent: agent.to_owned(), stake })
}

/// The parties in the beacon of an `instance.json`: none, or one for each anchor.
pub(super) fn read(value: &Value, source: &Source) -> Result<Vec<Party>, String> {
    let Some(list) = value.get("parties") else { return Ok(Vec::new()) };
    let Source::HashChain(chain) = source else {
        return Err(format!("a beacon of kind {} has none", source.kind()));
    };
    let party = |value: &Value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Party { agent: text("agent")?.to_owned(), stake: text("stake")?.parse().ok()? })
    };
    let list = list.as_array().ok_or("it is no array")?;
    let parties: Option<Vec<Party>> = list.iter().map(party).collect();
    let parties = parties.ok_or("a party is {\"agent\": …, \"stake\": …}, both texts")?;
    same_count(parties.len(), chain.anchors().len())?;
    each_once(&parties)?;
    Ok(parties)
}

/// Whether these can be the parties of a new instance with so many anchors of outside parties.
pub(super) fn check(kind: Kind, outside: usize, parties: &[Party], set: &Params) -> Result<(), Failure> {
    const DOING: &str = "make the instance";
    let judged = || -> Result<(), String> {
        if parties.is_empty() {
            return Ok(());
        }
        if kind != Kind::HashChain {
            return Err(format!("a beacon of kind {kind} has no parties"));
        }
        same_count(parties.len(), outside.saturating_add(1))?;
        each_once(parties)?;
        check_stakes(parties, set)
    };
    judged().map_err(|why| Failure::usage(DOING, why))
}

/// Whether each stake covers what is lost of it at once.
pub(super) fn check_stakes(parties: &[Party], set: &Params) -> Result<(), String> {
    if parties.is_empty() {
        return Ok(());
    }
    let need = set.party_slash.ok_or("parties have stakes, and the parameters have no `party_slash`")?;
    match parties.iter().find(|party| party.stake < need) {
        Some(Party { agent, stake }) => {
            let agent = arena_engine::Excerpt::line(agent);
            Err(format!("the stake of `{agent}` is {stake}; `party_slash` is {need}"))
        }
        None => Ok(()),
    }
}

fn same_count(parties: usize, anchors: usize) -> Result<(), String> {
    match parties == anchors {
        true => Ok(()),
        false => Err(format!("{parties} parties with stakes, and {anchors} anchors, the operator's first")),
    }
}

fn each_once(parties: &[Party]) -> Result<(), String> {
    let twice = |(i, party): (usize, &Party)| parties[..i].iter().any(|other| other.agent == party.agent);
    match parties.iter().enumerate().find(|(i, party)| twice((*i, party))) {
        Some((_, party)) => Err(format!("`{}` stands twice", arena_engine::Excerpt::line(&party.agent))),
        None => Ok(()),
    }
}

/// A round given as a file, where the journal has to tell who revealed it.
pub(super) fn not_by_file() -> Failure {
    Failure::usage("use the beacon", "its parties have stakes, so each reveals its own part in the journal")
        .hint("each party reveals with `arena claim contribute`; leave --beacon out")
}

/// What a party's chain gives in a round: the one that the latest draw takes, if none is named.
pub(super) fn contribution(
    reading: &Reading,
    chain: Option<&Path>,
    round: Option<u64>,
) -> Result<Command, Failure> {
    const DOING: &str = "reveal the round";
    let own = match chain {
        Some(path) => Some(chain::read(path)?),
        None => beacon::own_chain(reading)?,
    };
    let own = own.ok_or_else(|| {
        Failure::usage(DOING, "the folder has no chain of the operator's")
            .hint("name the party's with --chain")
    })?;
    let round = round.unwrap_or_else(|| reading.world.latest_drawn.max(1));
    let preimage = own
        .reveal(round)
        .ok_or_else(|| Failure::usage(DOING, format_args!("the chain has no round {round}")))?;
    Ok(Command::RevealRound { round, preimage: Digest::from_bytes(preimage) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source() -> Source {
        let anchors = vec![Digest::of(b"a"), Digest::of(b"b")];
        Source::HashChain(arena_draw::beacon::HashChain::new(anchors, None).expect("two anchors"))
    }

    #[test]
    fn parties_are_read_as_they_were_written() {
        let parties = ["ops=6000", "a=b=7000"].map(|text| parse(text).expect("a party")).to_vec();
        assert_eq!(parties[1].agent, "a=b");
        let written = beacon::written(&source(), &parties);
        assert_eq!(read(&written, &source()), Ok(parties));
        assert_eq!(read(&beacon::written(&source(), &[]), &source()), Ok(Vec::new()));
        for wrong in ["ops", "=6000", "ops=", "ops=-1", "ops=1.5", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn there_is_one_party_for_each_anchor_with_enough_to_lose() {
        let party = |agent: &str, stake: &str| json!({ "agent": agent, "stake": stake });
        for wrong in [
            json!([]),
            json!([party("a", "6000")]),
            json!([party("a", "6000"), party("a", "6000")]),
            json!([party("a", "6000"), party("b", "6000"), party("c", "6000")]),
            json!([party("a", "6000"), { "agent": "b", "stake": 6000 }]),
            json!("a"),
        ] {
            assert!(read(&json!({ "parties": wrong }), &source()).is_err(), "{wrong}");
        }
        assert!(read(&json!({ "parties": [party("a", "6000")] }), &Source::Test).is_err());
        let parties = |stake: &str| {
            ["ops=6000".to_owned(), format!("dan={stake}")].map(|text| parse(&text).expect("one"))
        };
        let (plain, staked) = (Params::published(), Params::published_with_parties());
        assert!(check_stakes(&parties("6000"), &staked).is_ok());
        assert!(check_stakes(&parties("5999"), &staked).is_err());
        assert!(check_stakes(&parties("6000"), &plain).is_err());
        assert!(check_stakes(&[], &plain).is_ok());
    }
}
