//! The parties of a hash chain and their stakes, as a folder and the command line name them.

use std::path::Path;

use arena_canon::Digest;
use arena_claims::founding::{self, FoundingError, ROUNDS};
use arena_claims::life::{Command, Party};
use arena_claims::params::Params;
use arena_draw::beacon::{Kind, ROUND_MAX};
use arena_engine::campus::Finding;
use arena_ledger::Asset;

use super::{beacon, verify};
use crate::commands::chain;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;

/// What money is counted in, in every folder.
const ASSET: &str = "units";

/// `AGENT=STAKE` or `AGENT=STAKE:ROUNDS`.
pub(super) fn parse(text: &str) -> Result<Party, String> {
    let (agent, rest) = text.rsplit_once('=').ok_or("it is AGENT=STAKE, such as dan=6000")?;
    let (stake, rounds) = match rest.split_once(':') {
        Some((stake, rounds)) => (stake, Some(rounds)),
        None => (rest, None),
    };
    let stake = stake.parse().map_err(|why| format!("the stake: {why}"))?;
    let told = |text: &str| text.parse().ok().filter(|rounds| ROUNDS.contains(rounds));
    let rounds = match rounds {
        Some(text) => Some(told(text).ok_or(format!("a chain has 1 to {ROUND_MAX} rounds"))?),
        None => None,
    };
    if agent.is_empty() {
        return Err("it names no agent".to_owned());
    }
    Ok(Party { agent: agent.to_owned(), stake, rounds })
}

/// The parties of a new instance, each with the number of its chain's rounds: the operator's is the one that is made,
/// and of the others as many as `arena key chain` gives a chain, unless they are told.
pub(super) fn with_rounds(parties: &[Party], own: u64) -> Result<Vec<Party>, Failure> {
    let mut parties = parties.to_vec();
    for (i, party) in parties.iter_mut().enumerate() {
        let rounds = if i == 0 { own } else { party.rounds.unwrap_or(chain::ROUNDS) };
        if let Some(other) = party.rounds.replace(rounds).filter(|other| *other != rounds) {
            let why = format_args!("the operator's chain has {rounds} rounds, its party {other}");
            return Err(Failure::usage("make the instance", why)
                .hint("say with --rounds how many the operator's chain has"));
        }
    }
    Ok(parties)
}

/// Whether these can be the parties of a new instance with so many anchors of outside parties.
pub(super) fn check(
    kind: Kind,
    outside: usize,
    operator: &str,
    parties: &[Party],
    set: &Params,
) -> Result<(), Failure> {
    const DOING: &str = "make the instance";
    if parties.is_empty() {
        return Ok(());
    }
    if kind != Kind::HashChain {
        return Err(Failure::usage(DOING, format_args!("a beacon of kind {kind} has no parties")));
    }
    let judged = || -> Result<(), FoundingError> {
        founding::check_count(parties.len(), outside.saturating_add(1))?;
        founding::check_once(parties)?;
        founding::check_stakes(parties, set)
    };
    judged().map_err(|why| Failure::usage(DOING, why))?;
    check_names(parties, operator).map_err(|why| Failure::usage(DOING, why))
}

/// Whether each can be an agent, and so pay its stake in.
pub(super) fn check_names(parties: &[Party], operator: &str) -> Result<(), String> {
    let asset = Asset::new(ASSET).map_err(|why| why.to_string())?;
    founding::check_names(parties, &asset, operator).map_err(|why| why.to_string())
}

/// A round given as a file, where the journal has to tell who revealed it.
pub(super) fn not_by_file() -> Failure {
    Failure::usage("use the beacon", "its parties have stakes, so each reveals its own part in the journal")
        .hint("each party reveals with `arena claim contribute`; leave --beacon out")
}

/// What a party's chain gives in a round: the one that the latest draw takes, if none is named.
///
/// A round once told gives away all before it, and the journal is whatever the operator wrote: nothing is told to one
/// that does not follow, nor of a round that no draw can have come to.
pub(super) fn contribution(dir: &Path, chain: Option<&Path>, round: Option<u64>) -> Result<Command, Failure> {
    const DOING: &str = "reveal the round";
    let (reading, findings) = verify::derived(dir)?;
    if let Some(Finding { pointer, message }) = findings.first() {
        let why =
            format_args!("the journal does not hold: {}#{pointer}: {message}", files::shown(dir)).to_string();
        return Err(Failure::new(Exit::Rejected, DOING, why));
    }
    let own = match chain {
        Some(path) => Some(chain::read(path)?),
        None => beacon::own_chain(&reading)?,
    };
    let own = own.ok_or_else(|| {
        Failure::usage(DOING, "the folder has no chain of the operator's")
            .hint("name the party's with --chain")
    })?;
    let told = reading.world.revealed.values().map(|revealed| revealed.round).max().unwrap_or_default();
    let due = reading.world.latest_drawn.max(1);
    if round.is_none() && due > told.saturating_add(1) {
        let why = format_args!("round {due} is waited for, and {told} is the latest that anybody revealed");
        return Err(Failure::new(Exit::Rejected, DOING, why));
    }
    let round = round.unwrap_or(due);
    let preimage = own
        .reveal(round)
        .ok_or_else(|| Failure::usage(DOING, format_args!("the chain has no round {round}")))?;
    Ok(Command::RevealRound { round, preimage: Digest::from_bytes(preimage) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_is_an_agent_with_a_stake_and_the_rounds_of_its_chain() {
        let mut parties = ["ops=6000", "a=b=7000:50"].map(|text| parse(text).expect("a party")).to_vec();
        assert_eq!((parties[1].agent.as_str(), parties[1].rounds), ("a=b", Some(50)));
        // One that tells no rounds is one from before they were told.
        assert_eq!(parties[0].rounds, None);
        parties = with_rounds(&parties, 400).expect("parties");
        assert_eq!((parties[0].rounds, parties[1].rounds), (Some(400), Some(50)));
        let told = |text: &str| vec![parse("ops=6000:400").expect("one"), parse(text).expect("one")];
        assert!(with_rounds(&told("out=6000"), 401).is_err());
        assert_eq!(with_rounds(&told("out=6000"), 400).expect("two")[1].rounds, Some(chain::ROUNDS));
        let wrong =
            ["ops", "=6000", "ops=", "ops=-1", "ops=1.5", "", "ops=6000:", "ops=6000:0", "ops=6000:1000001"];
        for wrong in wrong {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
