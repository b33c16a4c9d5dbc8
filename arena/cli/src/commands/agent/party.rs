//! A party of a hash chain: reveals its part of the rounds that draws take, and of no others.
//!
//! A round once told gives away all before it, and what is wanted is said by the server alone. So nothing is revealed
//! beyond the round after the latest that anybody is shown to have revealed: what the others revealed is checked against
//! their anchors, and the anchors are those of the first start. Nor is more than a few rounds revealed beyond those that
//! draws took for all to see: a server that only asks for one round after the other gets no further. That a draw took a
//! round is the server's word as well, but one that everybody hears. What is due follows from what the server says, so
//! there is nothing to lose when it is killed.

use std::path::PathBuf;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_draw::beacon::{HashChain, Kind, PARTIES_MAX, ROUND_MAX};
use arena_engine::Excerpt;
use arena_ledger::Amount;
use serde_json::json;

use super::http::{Address, Trouble};
use super::receipts::{Deed, keep_receipt};
use super::tell::Teller;
use super::view::{Instance, Me};
use super::{Door, Joined, Looks, Stop, go_on, meet};
use crate::commands::chain::{self, Chain};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// Reveal a party's rounds of a server's hash chain: what draws take, and no more
///
/// For an agent that is a party of the instance, as the server's configuration states it. Reveals the first round, and
/// then what each draw takes, in time; who keeps a round back loses a part of its stake. It reveals nothing beyond the
/// round after the latest that anybody revealed, which it checks against the parties' anchors, and only a few rounds
/// beyond those that the server says, to everybody, that draws took. Killed at any moment and started again, it goes on.
/// Works until it is interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Party {
    /// The server: https://host[:port], or http:// on this machine
    #[arg(long, value_name = "URL")]
    server: Address,

    /// The file with the agent's key for the server, ak_…
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The party's chain, from `arena key chain`
    #[arg(long, value_name = "FILE")]
    chain: PathBuf,

    /// The folder with what it knows of the others; made if it is not there [default: the key's name with .work]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// The key that is bound to the agent, from `arena key new` [default: one of its own in the folder]
    #[arg(long, value_name = "FILE")]
    signing_key: Option<PathBuf>,

    /// Reveal what is due and leave
    #[arg(long)]
    once: bool,

    /// Seconds between two looks at the server; at most half of the time that the instance gives for a round
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    every: u64,

    /// Seconds that an answer of the server may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,

    /// Send the key over a network unencrypted, if the server is http:// and elsewhere
    #[arg(long)]
    allow_plain_http: bool,

    #[command(flatten)]
    output: crate::commands::Output,
}

const HELP: &str = "\
The server's operator states the agent, the chain's anchor and the number of its rounds in the configuration, and
pays the stake in. The first start binds a key to the agent and keeps who the parties are; keep the folder. In it
are the receipts of what was revealed: hold them against the server with `arena verify --receipt`. Which rounds
draws take is the server's word: watch the draws that it shows.

Examples:
  arena key chain pat.chain
  arena party --server https://arena.example --key pat.key --chain pat.chain
  arena party --server http://127.0.0.1:8080 --key pat.key --chain pat.chain --once --json";

const DOING: &str = "reveal rounds";
/// Looks between two at the stake.
const STAKE_LOOKS: u64 = 6;

/// One party, as the server tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Other {
    agent: String,
    anchor: Digest,
    rounds: Option<u64>,
    stake: Amount,
    /// The latest round that it revealed, with what its chain gives there.
    revealed: Option<(u64, Digest)>,
}

/// What the server tells of the beacon.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    parties: Vec<Other>,
    /// The latest round that a draw took for all to see; 0 if none did.
    drawn: u64,
    /// The round that is asked for.
    wanted: u64,
}

fn foreign(why: impl std::fmt::Display) -> Trouble {
    Trouble::Foreign(why.to_string())
}

fn round(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok().filter(|round| (1..=ROUND_MAX).contains(round))
}

fn digest(value: &Value) -> Option<Digest> {
    value.as_str()?.parse().ok()
}

/// The parties, each as it stands there.
fn parties(about: &Value) -> Result<&[Value], Trouble> {
    let list = about["parties"].as_array().filter(|list| (2..=PARTIES_MAX).contains(&list.len()));
    list.map(Vec::as_slice).ok_or_else(|| foreign("its beacon has no parties"))
}

/// Whether the agent is a party, by what the server tells of its beacon. Asked before anything is bound, as the answer
/// may well be no: then there is nothing to do there.
fn check_is_party(about: &Value, instance: &Instance, me: &Me) -> Result<(), Stop> {
    let name = Excerpt { text: &instance.name, max: 64 };
    let kind = about["beacon"].as_str().unwrap_or_default();
    if kind != Kind::HashChain.name() {
        let kind = Excerpt { text: kind, max: 64 };
        let why = format_args!("draws of `{name}` take their randomness from `{kind}`, which has no parties")
            .to_string();
        let hint =
            "parties are of an instance that was founded on chains of theirs, `beacon = \"hashchain\"`";
        return Err(Failure::usage(DOING, why).hint(hint).into());
    }
    let names: Option<Vec<&str>> = parties(about)?.iter().map(|party| party["agent"].as_str()).collect();
    let names = names.ok_or_else(|| foreign("its parties are none"))?;
    if !names.contains(&me.agent.as_str()) {
        return Err(stranger(me, &name.to_string(), names).into());
    }
    // Only a party is told which round is wanted.
    Told::read(about)?;
    Ok(())
}

/// Somebody who is none of the parties, and who these are.
fn stranger<'a>(me: &Me, instance: &str, parties: impl IntoIterator<Item = &'a str>) -> Failure {
    let shown = |text: &str| format!("`{}`", Excerpt { text, max: 64 });
    let mut parties: Vec<String> = parties.into_iter().map(shown).collect();
    let last = parties.pop().unwrap_or_default();
    let why = format!(
        "{} is no party of `{instance}`: these are {} and {last}",
        shown(&me.agent),
        parties.join(", ")
    );
    Failure::usage(DOING, why).hint("name the key of a party with --key, and its chain with --chain")
}

impl Told {
    fn read(value: &Value) -> Result<Self, Trouble> {
        let party = |value: &Value| {
            let revealed = match &value["revealed"] {
                Value::Null => None,
                revealed => Some((round(&revealed["round"])?, digest(&revealed["preimage"])?)),
            };
            Some(Other {
                agent: value["agent"].as_str().filter(|agent| agent.len() <= 128)?.to_owned(),
                anchor: digest(&value["anchor"])?,
                rounds: value["rounds"].as_u64(),
                stake: value["stake"].as_str()?.parse().ok()?,
                revealed,
            })
        };
        let parties: Option<Vec<Other>> = parties(value)?.iter().map(party).collect();
        let parties = parties.ok_or_else(|| foreign("its parties are none"))?;
        let wanted =
            round(&value["wanted"]).ok_or_else(|| foreign("it does not say which round is wanted"))?;
        let drawn =
            value["drawn"].as_str().and_then(|text| text.parse().ok()).filter(|round| *round <= ROUND_MAX);
        let drawn = drawn.ok_or_else(|| foreign("it does not say which round draws took"))?;
        Ok(Self { parties, drawn, wanted })
    }

    /// The place of a party.
    fn place_of(&self, agent: &str) -> Option<usize> {
        self.parties.iter().position(|party| party.agent == agent)
    }

    /// What is to be the same for good.
    fn founding(&self) -> Value {
        let parties = self.parties.iter();
        let parties = parties
            .map(|party| json!({ "agent": party.agent, "anchor": party.anchor, "rounds": party.rounds }));
        json!({ "v": "arena-party/v1", "parties": parties.collect::<Vec<_>>() })
    }
}

/// What is known of a round that is asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    wanted: u64,
    /// The latest that the party itself revealed, and that anybody did.
    own: u64,
    latest: u64,
    /// The latest that a draw took for all to see, and how many beyond it draws in secret may have taken.
    drawn: u64,
    in_secret: u64,
    /// The length of the chain.
    rounds: u64,
}

/// The round that is due of a party, if one is.
fn due(Asked { wanted, own, latest, drawn, in_secret, rounds }: Asked) -> Result<Option<u64>, String> {
    if wanted <= own {
        return Ok(None);
    }
    // The first is revealed before any draw.
    if wanted > drawn.max(1).saturating_add(in_secret) {
        return Err(format!(
            "the server asks for round {wanted}, and {drawn} is the latest that it says a draw took: more than \
             {in_secret} beyond it are not revealed"
        ));
    }
    if wanted > latest.saturating_add(1) {
        return Err(format!(
            "the server asks for round {wanted}, and {latest} is the latest that anybody revealed: no draw can have \
             come to it, and nothing is revealed"
        ));
    }
    if wanted > rounds {
        return Err(format!("the server asks for round {wanted}, and the chain has {rounds}"));
    }
    Ok(Some(wanted))
}

/// A party at work.
struct Revealer {
    joined: Joined,
    chain: Chain,
    /// What was shown of each and holds, by its place: it is not hashed again.
    held: Vec<Option<(u64, Digest)>>,
    /// Whether the chain was found to be the one that the server was told of.
    is_checked: bool,
    looks: u64,
}

impl Revealer {
    /// What the server tells, if it is of those who were the parties at the first start, and true.
    fn told(&mut self) -> Result<Told, Stop> {
        let told = Told::read(&self.joined.server.get("/api/v1/beacons")?)?;
        let refused = |why: &str| Failure::new(Exit::Rejected, DOING, why.to_owned());
        let place = self.joined.folder.path().join("party.json");
        let founding = json::canonical(&told.founding());
        if place.exists() {
            let kept =
                files::read_regular(&place, 16 << 10).map_err(|unread| unread.reading("parties", &place))?;
            if kept != founding {
                return Err(refused("the server's parties are others than at the first start").into());
            }
        } else {
            files::write_private(&place, &founding, Existing::Keep)?;
        }
        let anchors = told.parties.iter().map(|party| party.anchor).collect();
        let beacon = HashChain::new(anchors, None).map_err(foreign)?;
        self.held.resize(told.parties.len(), None);
        for (place, party) in told.parties.iter().enumerate() {
            let Some((round, preimage)) = party.revealed.filter(|shown| self.held[place] != Some(*shown))
            else {
                continue;
            };
            beacon.check_part(place, round, preimage).map_err(|_| {
                let agent = Excerpt { text: &party.agent, max: 64 };
                foreign(format_args!(
                    "what it shows of `{agent}` in round {round} is not what its anchor says"
                ))
            })?;
            self.held[place] = Some((round, preimage));
        }
        Ok(told)
    }

    /// Whether the chain is the one that the server was told of.
    fn check(&mut self, told: &Told) -> Result<(), Stop> {
        let (anchor, rounds) = (self.chain.anchor(), self.chain.rounds());
        let Joined { me: who, instance, .. } = &self.joined;
        let me = &who.agent;
        let why = match told.place_of(me).and_then(|place| told.parties.get(place)) {
            None => {
                let name = Excerpt { text: &instance.name, max: 64 }.to_string();
                let parties = told.parties.iter().map(|party| party.agent.as_str());
                return Err(stranger(who, &name, parties).into());
            }
            Some(own) if own.anchor != anchor => {
                format!("the chain's anchor is {anchor}, and that of `{me}` is {}", own.anchor)
            }
            Some(own) if own.rounds != Some(rounds) => {
                let stated = own.rounds.map_or_else(|| "an untold number of".to_owned(), |n| n.to_string());
                format!("the chain has {rounds} rounds, and that of `{me}` {stated}")
            }
            Some(_) => {
                self.is_checked = true;
                return Ok(());
            }
        };
        Err(Failure::usage(DOING, why).hint("name the party's own chain with --chain").into())
    }

    /// Says so if the stake is not there: nothing is drawn before it is.
    fn look_at_the_stake(&mut self, stake: Amount, io: &mut Io<'_>) -> Result<(), Stop> {
        let about = self.joined.server.get(&format!("/api/v1/claims/agents/{}", self.joined.me.agent))?;
        let amount = |key: &str| about[key].as_str().and_then(|text| text.parse::<Amount>().ok());
        let free = amount("free").unwrap_or_default();
        if free < stake && amount("locked").unwrap_or_default() < stake {
            let what = format!("{free} is free, and a stake of {stake} is held while a job is open");
            self.joined.teller.waits("the stake", &what, io);
        }
        Ok(())
    }

    fn reveal(&mut self, round: u64, io: &mut Io<'_>) -> Result<(), Stop> {
        let preimage = self.chain.reveal(round).map(Digest::from_bytes);
        let preimage = preimage.ok_or_else(|| Failure::usage(DOING, "the chain has no such round"))?;
        let body = json!({ "round": round.to_string(), "preimage": preimage });
        match self.joined.server.post("/api/v1/beacons/preimages", Some(&body), &Digest::of(b"reveal")) {
            Ok(done) => {
                let Joined { server, folder, me, instance, teller, .. } = &mut self.joined;
                let sent = Some(("preimage", preimage));
                let deed = Deed { instance: instance.id, agent: &me.agent, claim: None, sent };
                if let Some(fault) = keep_receipt((server, folder), &done, deed)? {
                    teller.receipt(&fault, io);
                }
                teller.revealed(round, io);
            }
            Err(trouble) if trouble.is("already_revealed") => {}
            // The tick that tells what follows from the silence comes first.
            Err(trouble) if trouble.is("deadline_passed") => {
                self.joined.teller.waits(&format!("round {round}"), &trouble.to_string(), io);
            }
            Err(trouble) => return Err(trouble.into()),
        }
        Ok(())
    }
}

impl Looks for Revealer {
    fn look(&mut self, io: &mut Io<'_>) -> Result<(), Stop> {
        let told = self.told()?;
        if !self.is_checked {
            self.check(&told)?;
        }
        let own = told.place_of(&self.joined.me.agent).and_then(|place| told.parties.get(place));
        let own = own.ok_or_else(|| foreign("its parties are others than at the start"))?;
        let latest = told.parties.iter().filter_map(|party| party.revealed).map(|(round, _)| round).max();
        let wanted = due(Asked {
            wanted: told.wanted,
            own: own.revealed.map_or(0, |(round, _)| round),
            latest: latest.unwrap_or_default(),
            drawn: told.drawn,
            in_secret: self.joined.instance.params.redraws_max.saturating_add(1),
            rounds: self.chain.rounds(),
        });
        let wanted = wanted.map_err(|why| Failure::new(Exit::Rejected, DOING, why))?;
        if let Some(round) = wanted {
            self.reveal(round, io)?;
        }
        if self.looks.is_multiple_of(STAKE_LOOKS) {
            self.look_at_the_stake(own.stake, io)?;
        }
        self.looks += 1;
        Ok(())
    }

    fn teller(&mut self) -> &mut Teller {
        &mut self.joined.teller
    }
}

pub(crate) fn run(args: &Party, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let chain = chain::read(&args.chain)?;
    let mut door = Door {
        server: &args.server,
        key: &args.key,
        work: args.work.as_deref(),
        signing_key: args.signing_key.as_deref(),
        once: args.once,
        every: args.every,
        timeout: args.timeout,
        allow_plain_http: args.allow_plain_http,
        json: args.output.json,
    };
    let Some(met) = meet(&door, io)? else { return Ok(Exit::Success) };
    check_is_party(&met.beacon, &met.instance, &met.me).map_err(|stop| stop.ending(DOING))?;
    let Some(joined) = met.join(&door, &[], io)? else { return Ok(Exit::Success) };
    let leave = joined.leave.clone();
    let given = joined.instance.params.clocks.beacon_s;
    door.every = pace(args.every, given);
    if door.every < args.every {
        let every = door.every;
        io.warn(format_args!(
            "it looks every {every} s: a round has to be revealed within {given} s, or the stake pays"
        ));
    }
    let mut revealer = Revealer { joined, chain, held: Vec::new(), is_checked: false, looks: 0 };
    match revealer.told().and_then(|told| revealer.check(&told)) {
        Ok(()) => {}
        // What a server cannot say now it may say at the next look, which checks before it reveals.
        Err(stop @ Stop::Trouble(Trouble::Away(_))) if !args.once => {
            revealer.teller().trouble("the server", &stop, io);
        }
        Err(stop) => return Err(stop.ending(DOING)),
    }
    go_on(revealer, &door, &leave, io)
}

/// Seconds between two looks, so that there are two before a round is late.
fn pace(every: u64, beacon_s: u64) -> u64 {
    every.min((beacon_s / 2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_due_beyond_the_round_after_the_latest_that_anybody_revealed() {
        for (wanted, own, latest, rounds, is_due) in [
            (1, 0, 0, 10, Ok(Some(1))),
            (1, 1, 1, 10, Ok(None)),
            (2, 1, 1, 10, Ok(Some(2))),
            (2, 1, 2, 10, Ok(Some(2))),
            // It was away for a while.
            (7, 2, 6, 10, Ok(Some(7))),
            (7, 2, 7, 10, Ok(Some(7))),
            (3, 1, 1, 10, Err("asks for round 3, and 1 is the latest")),
            (1_000_000, 1, 1, 10, Err("nothing is revealed")),
            (2, 0, 0, 10, Err("0 is the latest")),
            (11, 10, 10, 10, Err("the chain has 10")),
        ] {
            // Draws took all of them.
            match (due(Asked { wanted, own, latest, drawn: wanted, in_secret: 0, rounds }), is_due) {
                (Ok(found), Ok(due)) => assert_eq!(found, due, "{wanted} {own} {latest}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{why}"),
                (found, due) => panic!("{wanted} {own} {latest}: {found:?}, not {due:?}"),
            }
        }
    }

    #[test]
    fn a_few_rounds_are_due_beyond_those_that_draws_took_and_no_more() {
        for drawn in [0, 1, 2, 40] {
            let asked = |wanted: u64| {
                due(Asked { wanted, own: wanted - 1, latest: wanted - 1, drawn, in_secret: 6, rounds: 100 })
            };
            let most = drawn.max(1) + 6;
            (1..=most).for_each(|wanted| assert_eq!(asked(wanted), Ok(Some(wanted)), "{drawn}"));
            for wanted in [most + 1, most + 2, 99] {
                let why = asked(wanted).expect_err("too far");
                assert!(why.contains(&format!("{drawn} is the latest that it says a draw took")), "{why}");
            }
        }
    }

    #[test]
    fn there_are_two_looks_before_a_round_is_late() {
        for (every, beacon_s, paced) in [
            (10, 600, 10),
            (300, 600, 300),
            (3_600, 600, 300),
            (10, 20, 10),
            (10, 19, 9),
            (10, 1, 1),
            (10, 0, 1),
        ] {
            assert_eq!(pace(every, beacon_s), paced, "{every} {beacon_s}");
        }
    }

    #[test]
    fn what_is_told_is_read_whole_or_not_at_all() {
        let zero = Digest::of(b"a");
        let party = |agent: &str| json!({ "agent": agent, "anchor": zero, "rounds": 10, "stake": "6000", "revealed": null });
        let whole = json!({ "parties": [party("a"), party("b")], "drawn": "0", "wanted": "1" });
        assert!(Told::read(&whole).is_ok());
        for (place, wrong) in [
            ("/drawn", json!(1)),
            ("/drawn", Value::Null),
            ("/drawn", json!("1000001")),
            ("/wanted", json!(1)),
            ("/wanted", json!("0")),
            ("/wanted", json!("1000001")),
            ("/wanted", json!("-1")),
            ("/parties", json!([party("a")])),
            ("/parties", json!(vec![party("a"); 9])),
            ("/parties", json!("a")),
            ("/parties/1/agent", json!("a".repeat(200))),
            ("/parties/1/anchor", json!("aa")),
            ("/parties/1/stake", json!(6_000)),
            ("/parties/1/revealed", json!({ "round": "1" })),
            ("/parties/1/revealed", json!({ "round": "0", "preimage": zero })),
        ] {
            let mut told = whole.clone();
            *told.pointer_mut(place).expect("a place") = wrong.clone();
            assert!(Told::read(&told).is_err(), "{place} {wrong}");
        }
    }
}
