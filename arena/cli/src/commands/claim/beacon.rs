//! Where an instance's luck comes from, as its folder keeps it: what is public in `instance.json`, the operator's
//! own secret in `sealed/`, and in `rounds/` every round that a draw rests on, so that a stranger needs no network.

use std::path::{Path, PathBuf};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::life::{Command, Event, Seen, Stamped};
use arena_draw::beacon::{Beacon as _, EcvrfOperator, HashChain, Kind, OperatorKey, Schedule, Source};
use arena_engine::Excerpt;
use serde_json::json;

use super::instance::{Reading, broken, io_failure};
use super::parties;
use crate::commands::chain::{self, Chain};
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::luck;

/// The operator's key of a verifiable random function, in `sealed/`.
const KEY: &str = "beacon.key";
/// The operator's chain of preimages, in `sealed/`.
const CHAIN: &str = "beacon.chain";
const ROUND_BYTES_MAX: u64 = 4_096;
const DOING: &str = "use the beacon";

fn ecvrf(public_key: [u8; 32]) -> Source {
    Source::EcvrfOperator(EcvrfOperator::new(public_key, Some(Schedule::QUICKNET)))
}

/// Whether a beacon of that kind can be made with these anchors of outside parties.
pub(super) fn check(kind: Kind, outside: &[Digest]) -> Result<(), Failure> {
    const DOING: &str = "make the instance";
    if kind != Kind::HashChain {
        let why = format_args!("a beacon of kind {kind} has no anchors");
        return if outside.is_empty() { Ok(()) } else { Err(Failure::usage(DOING, why)) };
    }
    // The operator's own is made later, of what nobody can have given.
    let anchors = [&[Digest::of(b"the operator's")], outside].concat();
    HashChain::new(anchors, None).map(drop).map_err(|why| {
        Failure::usage(DOING, why)
            .hint("each outside party makes a chain with `arena key chain`; give its anchor with --anchor")
    })
}

/// Makes the beacon of a new instance in `dir`, with the secret that the operator needs for it.
pub(super) fn make(dir: &Path, kind: Kind, outside: &[Digest], rounds: u64) -> Result<Source, Failure> {
    let sealed = |name: &str| dir.join("sealed").join(name);
    match kind {
        Kind::DrandQuicknet => Ok(Source::DrandQuicknet),
        Kind::Test => Ok(Source::Test),
        Kind::EcvrfOperator => {
            let place = sealed(KEY);
            if !place.exists() {
                let seed = Digest::from_bytes(luck::secret_bytes()?);
                files::write_private(&place, format!("{seed}\n").as_bytes(), Existing::Keep)?;
            }
            let key = operator_key(&place)?
                .ok_or_else(|| broken(&place, "the key that was just written is not there"))?;
            Ok(ecvrf(key.public_key()))
        }
        Kind::HashChain => {
            let place = sealed(CHAIN);
            let own = match place.exists() {
                true => chain::read(&place)?,
                false => chain::make(&place, rounds)?,
            };
            if own.rounds() != rounds {
                let why = format_args!("the chain in the folder has {} rounds, not {rounds}", own.rounds());
                return Err(Failure::usage("make the instance", why)
                    .hint(format_args!("give --rounds {}", own.rounds())));
            }
            let anchors = [&[own.anchor()], outside].concat();
            let beacon = HashChain::new(anchors, None);
            beacon.map(Source::HashChain).map_err(|why| Failure::usage("make the instance", why))
        }
    }
}

/// A round with its proof, or of a chain what the outside parties revealed.
pub(super) struct Round {
    pub(super) number: u64,
    proof: Vec<u8>,
    /// Whether the operator's own part is still missing.
    outside_alone: bool,
}

impl Round {
    /// Reads `{"round": …, "signature": "…"}` or `{"round": …, "preimages": ["…"]}`; whatever else is in it is
    /// passed over.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let number = value.get("round")?;
        let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
        if let Some(text) = value.get("signature") {
            return Some(Self { number, proof: bytes(text)?, outside_alone: false });
        }
        let preimages = value.get("preimages")?.as_array().filter(|list| (1..=8).contains(&list.len()))?;
        let preimages = preimages.iter().map(|text| bytes(text).filter(|bytes| bytes.len() == 32));
        let proof = preimages.collect::<Option<Vec<_>>>()?.concat();
        Some(Self { number, proof, outside_alone: true })
    }
}

/// Whole pairs of digits and nothing else: a sign or an odd last digit is no proof.
fn bytes(text: &Value) -> Option<Vec<u8>> {
    let is_hex = |text: &&str| {
        text.len() <= 1_024
            && text.len().is_multiple_of(2)
            && text.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let text = text.as_str().filter(is_hex)?;
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    text.as_bytes().chunks(2).map(byte).collect()
}

fn operator_key(place: &Path) -> Result<Option<OperatorKey>, Failure> {
    if !place.exists() {
        return Ok(None);
    }
    let bytes = files::read_regular(place, 128).map_err(|unread| unread.reading("key", place))?;
    let text = std::str::from_utf8(&bytes).ok().map(str::trim);
    let seed = text.and_then(|text| text.parse::<Digest>().ok());
    let seed = seed.ok_or_else(|| broken(place, "it is no key of 64 hexadecimal digits"))?;
    Ok(Some(OperatorKey::from_seed(seed.as_bytes())))
}

/// The whole proof of a given round: of a chain, the operator's preimage comes first.
fn whole(reading: &Reading, given: &Round) -> Result<Vec<u8>, Failure> {
    if !given.outside_alone {
        return Ok(given.proof.clone());
    }
    let Source::HashChain(_) = &reading.world.instance.source else {
        let kind = reading.world.instance.source.kind();
        return Err(Failure::usage(DOING, format_args!("a round of {kind} has a signature, not preimages")));
    };
    let own = own_chain(reading)?.and_then(|chain| chain.reveal(given.number));
    let own = own.ok_or_else(|| {
        let why = format!("the operator's chain is not in the folder, or has no round {}", given.number);
        Failure::usage(DOING, why)
    })?;
    Ok([&own[..], &given.proof].concat())
}

/// The operator's chain, if it is in the folder.
pub(super) fn own_chain(reading: &Reading) -> Result<Option<Chain>, Failure> {
    let place = reading.private(CHAIN);
    if place.exists() { chain::read(&place).map(Some) } else { Ok(None) }
}

/// The latest round that is known at `at`, where it is known here.
pub(super) fn seen(reading: &Reading, at: u64, given: Option<&Round>) -> Result<Option<Seen>, Failure> {
    // Where parties have stakes, the journal tells what they revealed.
    if !reading.world.instance.parties.is_empty() {
        return if given.is_none() { Ok(None) } else { Err(parties::not_by_file()) };
    }
    let due = Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1);
    match (&reading.world.instance.source, given) {
        (Source::Test, _) => Ok(Some(Seen { round: due, proof: Vec::new() })),
        (Source::HashChain(chain), Some(given)) => {
            let seen = Seen { round: given.number, proof: whole(reading, given)? };
            // What was revealed stays known, whatever becomes of the command.
            if chain.verify(seen.round, &seen.proof).is_ok() {
                put(reading.path(), &seen)?;
            }
            let latest = latest(reading.path())?.map(|(round, proof)| Seen { round, proof });
            Ok(latest.filter(|latest| latest.round > seen.round).or(Some(seen)))
        }
        (_, Some(given)) => Ok(Some(Seen { round: given.number, proof: whole(reading, given)? })),
        (Source::HashChain(_), None) => {
            Ok(latest(reading.path())?.map(|(round, proof)| Seen { round, proof }))
        }
        (Source::EcvrfOperator(_), None) => {
            let key = operator_key(&reading.private(KEY))?;
            Ok(key.map(|key| Seen { round: due, proof: key.prove(due).to_vec() }))
        }
        (Source::DrandQuicknet, None) => Ok(None),
    }
}

/// The proof of the round that the draw of `claim` takes.
pub(super) fn proof(reading: &Reading, claim: &str, given: Option<&Round>) -> Result<Vec<u8>, Failure> {
    match (given, reading.world.instance.parties.is_empty()) {
        (Some(given), true) => return whole(reading, given),
        (Some(_), false) => return Err(parties::not_by_file()),
        (None, true) => {}
        (None, false) => return Ok(Vec::new()),
    }
    let draw = reading.world.claims.get(claim).and_then(|claim| claim.draw.as_ref());
    let needs = |what: &str| {
        let round =
            draw.map_or_else(|| "the draw's round".to_owned(), |draw| format!("round {}", draw.round));
        Err(Failure::usage("resolve the draw", format_args!("{round} is not given"))
            .hint(format_args!("give {what} with --beacon FILE")))
    };
    match (&reading.world.instance.source, draw) {
        // The state machine says that there is none.
        (_, None) | (Source::Test, _) => Ok(Vec::new()),
        (Source::DrandQuicknet, Some(_)) => needs("the round as drand's API tells it"),
        (Source::HashChain(_), Some(draw)) => match kept(reading.path(), draw.round) {
            Some(proof) => Ok(proof),
            None => needs("{\"round\": …, \"preimages\": [\"…\"]}, from `arena key reveal`,"),
        },
        (Source::EcvrfOperator(_), Some(draw)) => match operator_key(&reading.private(KEY))? {
            Some(key) => Ok(key.prove(draw.round).to_vec()),
            None => needs("{\"round\": …, \"signature\": \"…\"}"),
        },
    }
}

/// Keeps the rounds that `events` rest on, before they are written down.
pub(super) fn keep(reading: &Reading, stamped: &Stamped, events: &[Event]) -> Result<(), Failure> {
    let in_journal = !reading.world.instance.parties.is_empty();
    if reading.world.instance.source == Source::Test || in_journal {
        return Ok(());
    }
    for event in events {
        match (event, &stamped.command, &stamped.seen) {
            (Event::DrawCommitted(_), _, Some(seen)) => put(reading.path(), seen)?,
            (Event::DrawResolved { transcript, .. } | Event::CoinTossed { transcript, .. }, command, _) => {
                if let Command::ResolveDraw { proof, .. } = command {
                    put(reading.path(), &Seen { round: transcript.request.round, proof: proof.clone() })?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn rounds(dir: &Path) -> PathBuf {
    dir.join("rounds")
}

fn put(dir: &Path, seen: &Seen) -> Result<(), Failure> {
    files::make_folder(&rounds(dir))?;
    let signature: String = seen.proof.iter().map(|byte| format!("{byte:02x}")).collect();
    let document = json!({ "round": seen.round.to_string(), "signature": signature });
    let place = rounds(dir).join(format!("{}.json", seen.round));
    files::write(&place, &json::canonical(&document), Existing::KeepEqual)
}

/// The proof of a round that was kept.
pub(super) fn kept(dir: &Path, round: u64) -> Option<Vec<u8>> {
    let bytes = files::read_regular(&rounds(dir).join(format!("{round}.json")), ROUND_BYTES_MAX).ok()?;
    let found = Round::read(&json::read(&bytes, bytes.len()).ok()?)?;
    (found.number == round && !found.outside_alone).then_some(found.proof)
}

/// The latest round that was kept.
fn latest(dir: &Path) -> Result<Option<(u64, Vec<u8>)>, Failure> {
    let place = rounds(dir);
    let entries = match std::fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(io_failure(&place, "read folder", &why)),
    };
    let number = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        name.to_str()?.strip_suffix(".json")?.parse::<u64>().ok()
    };
    let latest = entries.filter_map(|entry| number(entry.ok()?)).max();
    let Some(round) = latest else { return Ok(None) };
    match kept(dir, round) {
        Some(proof) => Ok(Some((round, proof))),
        None => Err(broken(&place, format_args!("round {round} cannot be read"))),
    }
}

/// The round in a file that is not one.
pub(super) fn no_round(path: &Path) -> Failure {
    Failure::usage(
        format_args!("read the round `{}`", Excerpt::line(&path.to_string_lossy())),
        "it needs `round`, and `signature` or the outside parties' `preimages`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_read_as_drand_gives_them() {
        let round =
            Round::read(&json!({ "round": 1000, "signature": "b446", "randomness": "00" })).expect("a round");
        assert_eq!((round.number, round.proof, round.outside_alone), (1_000, vec![0xb4, 0x46], false));
        for wrong in
            [json!({}), json!({ "round": 1, "signature": "xy" }), json!({ "round": -1, "signature": "" })]
        {
            assert!(Round::read(&wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn preimages_of_outside_parties_are_whole_digests() {
        let read = |list: Value| Round::read(&json!({ "round": "7", "preimages": list }));
        let digest = "ab".repeat(32);
        let round = read(json!([digest, digest])).expect("two preimages");
        assert_eq!((round.number, round.proof.len(), round.outside_alone), (7, 64, true));
        for wrong in [json!([]), json!([digest, "ab"]), json!(digest), json!(vec![digest; 9])] {
            assert!(read(wrong.clone()).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_proof_is_whole_pairs_of_hexadecimal_digits() {
        let read = |text: &str| bytes(&json!(text));
        assert_eq!(read("0aFf"), Some(vec![10, 255]));
        assert_eq!(read(""), Some(Vec::new()));
        for wrong in ["+f", "abc", "0g", " 0", "-1", "éé", &"ab".repeat(513)] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
