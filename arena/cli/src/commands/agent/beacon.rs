//! Bringing the beacon's rounds to a server that fetches none itself; a server that does asks relays in the same way.
//!
//! Rounds of a test beacon are known to everybody. Those of drand come from relays that are named on the command line:
//! whatever one says is checked against the network's own key before anything is sent on, so a relay can be silent and
//! nothing worse.

use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_draw::beacon::{Beacon as _, DrandQuicknet, Schedule};
use serde_json::json;

use super::Stop;
use super::http::{Address, Relay, Trouble};
use super::view::{Seen, claim_name};
use super::work::{PASSED, Worker};
use crate::failure::Failure;
use crate::io::Io;

/// Bytes of a relay's answer; a round has a few hundred.
const ANSWER_BYTES_MAX: u64 = 4 << 10;
/// Longest that one answer is waited for, and all answers of one look: other work waits meanwhile.
const PATIENCE_MAX: Duration = Duration::from_secs(5);
const LOOK_MAX: Duration = Duration::from_secs(20);
/// The newest round that a server knows may be so old where a draw is to be committed.
const FRESH_S: u64 = 60;
/// Where a claim may wait for a draw.
const WAITING: [&str; 4] = ["drawing", "committed", "seating", "voting"];
/// Relays of one program.
pub(crate) const RELAYS_MAX: usize = 8;

/// A round, with the proof that it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    number: u64,
    signature: String,
}

impl Round {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What proves it.
    pub(crate) fn proof(&self) -> Vec<u8> {
        unhex(&self.signature).unwrap_or_default()
    }

    /// Reads what a relay says and checks it.
    fn read(value: &Value) -> Result<Self, String> {
        let number = value["round"].as_u64().ok_or("it gives no round")?;
        let signature = value["signature"].as_str().ok_or("it gives no signature")?;
        let bytes = unhex(signature).ok_or("its signature is not hexadecimal")?;
        DrandQuicknet.verify(number, &bytes).map_err(|why| why.to_string())?;
        Ok(Self { number, signature: signature.to_ascii_lowercase() })
    }
}

/// Whole pairs of digits, no more than a signature has.
fn unhex(text: &str) -> Option<Vec<u8>> {
    const DIGITS_MAX: usize = 192;
    let is_hex = text.len() <= DIGITS_MAX
        && text.len().is_multiple_of(2)
        && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    is_hex.then(|| text.as_bytes().chunks(2).map(byte).collect()).flatten()
}

/// Where rounds of drand come from.
pub(crate) struct Relays {
    all: Vec<Relay>,
}

/// What relays gave, and what is wrong with those that gave nothing.
pub(crate) struct Fetched {
    /// With the relay that it came from.
    pub(crate) round: Option<(Round, String)>,
    pub(crate) faults: Vec<String>,
}

impl Relays {
    pub(crate) fn new(addresses: &[Address], timeout: Duration) -> Result<Self, Failure> {
        let timeout = timeout.min(PATIENCE_MAX);
        let all = addresses.iter().map(|address| Relay::new(address.clone(), timeout));
        Ok(Self { all: all.collect::<Result<_, _>>()? })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Asks one after the other, until one gives what is wanted: this round, or the newest, which has to be this one at
    /// least. If none does, the newest of those that are true is taken for the newest.
    pub(crate) fn fetch(&self, wanted: Wanted, silent: &mut Vec<usize>, until: Instant) -> Fetched {
        let chain = DrandQuicknet.chain_hash();
        let path = match wanted {
            Wanted::This(round) => format!("/{chain}/public/{round}"),
            Wanted::Newest(_) => format!("/{chain}/public/latest"),
        };
        let mut fetched = Fetched { round: None, faults: Vec::new() };
        for (place, relay) in self.all.iter().enumerate() {
            if silent.contains(&place) || Instant::now() >= until {
                continue;
            }
            let answer = relay.ask(&path, ANSWER_BYTES_MAX).and_then(|value| Round::read(&value));
            match answer {
                Ok(round) if wanted.is_met(&round) => {
                    fetched.round = Some((round, relay.to_string()));
                    return fetched;
                }
                Ok(Round { number, .. }) if matches!(wanted, Wanted::This(_)) => {
                    fetched.faults.push(format!("{relay}: asked for another round, it gives {number}"));
                }
                Ok(round) => {
                    let newest = fetched.round.as_ref().map_or(0, |(round, _)| round.number);
                    fetched.faults.push(format!("{relay}: its newest round, {}, is old", round.number));
                    if round.number > newest {
                        fetched.round = Some((round, relay.to_string()));
                    }
                }
                Err(why) => {
                    // It is not asked again at this look.
                    silent.push(place);
                    fetched.faults.push(format!("{relay}: {why}"));
                }
            }
        }
        fetched
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// This one.
    This(u64),
    /// With the round that it has to be at least.
    Newest(u64),
}

impl Wanted {
    fn is_met(self, round: &Round) -> bool {
        match self {
            Self::This(number) => round.number == number,
            Self::Newest(least) => round.number >= least,
        }
    }
}

/// What the claims of a server wait for.
#[derive(Debug, Default)]
struct Due {
    /// Claims whose draw can be resolved.
    draws: Vec<Seen>,
    /// Whether one waits for its draw to be committed, which takes a round that is known.
    waits: bool,
    now: u64,
}

impl Worker {
    /// Says what the beacon said, as far as it can and anybody waits for it. What goes wrong is told, and is no reason
    /// to let other work wait; only a server that is away ends the look.
    pub(super) fn speak_for_the_beacon(
        &mut self,
        first: &mut Result<(), Stop>,
        io: &mut Io<'_>,
    ) -> Result<(), Stop> {
        if !self.instance.is_test && (!self.instance.is_drand || self.relays.is_empty()) {
            return Ok(());
        }
        let said = self.due(first, io).and_then(|due| match self.instance.is_test {
            true => due.draws.iter().try_for_each(|seen| self.resolve(seen, due.now, io)),
            false => self.bring_rounds(&due, io),
        });
        said.or_else(|stop| self.tells("the beacon", stop, first, io))
    }

    /// Claims that may wait for a draw, and the time at the server.
    fn waiting(&self) -> Result<(Vec<String>, Option<u64>), Stop> {
        let (page, now) = self.server.read("/api/v1/claims?limit=100")?;
        // Where there are more, those that are over stand in front of them.
        if !page["next_cursor"].is_null() {
            let lists = WAITING.into_iter().map(|status| self.claims_in(status));
            return Ok((lists.collect::<Result<Vec<_>, _>>()?.concat(), now));
        }
        let mut claims = Vec::new();
        for line in page["items"].as_array().into_iter().flatten() {
            let waits = line["status"].as_str().is_some_and(|status| WAITING.contains(&status));
            if let Some(claim) = line["claim"].as_str().filter(|_| waits) {
                claims.push(claim_name(claim)?);
            }
        }
        Ok((claims, now))
    }

    /// A claim that cannot be read is told and passed over.
    fn due(&mut self, first: &mut Result<(), Stop>, io: &mut Io<'_>) -> Result<Due, Stop> {
        let (claims, now) = self.waiting()?;
        let Some(now) = now else { return Ok(Due::default()) };
        let mut due = Due { now, ..Due::default() };
        self.undrawn.retain(|_, since| since.elapsed() < PASSED);
        for claim in claims {
            if self.undrawn.contains_key(&claim) {
                continue;
            }
            let seen = match self.see(&claim) {
                Ok(seen) => seen,
                Err(stop) => {
                    self.tells(&claim, stop, first, io)?;
                    continue;
                }
            };
            match seen.draw_due {
                Some(at) if at <= now => due.draws.push(seen),
                Some(_) => {}
                None if seen.is_open => {
                    self.undrawn.insert(claim, Instant::now());
                }
                None => due.waits |= seen.awaits_a_draw(),
            }
        }
        Ok(due)
    }

    /// The rounds of a test beacon are known to everybody; somebody has to say them.
    fn resolve(&mut self, seen: &Seen, now: u64, io: &mut Io<'_>) -> Result<(), Stop> {
        let path = format!("/api/v1/claims/{}/draws/resolve", seen.claim);
        let about = self.about(seen, &format!("resolve {now}"));
        match self.server.post(&path, Some(&json!({ "signature": "" })), &about) {
            Ok(_) => self.teller.did(seen, "resolved", "its draw, by the test beacon", io),
            // Somebody else was faster, or it is too early.
            Err(Trouble::Refused { .. }) => {}
            Err(trouble) => return Err(trouble.into()),
        }
        Ok(())
    }

    /// Fetches what is waited for, once for all claims that wait for it. That no relay gives it is told, and is no
    /// reason to let other work wait.
    fn bring_rounds(&mut self, Due { draws, waits, now }: &Due, io: &mut Io<'_>) -> Result<(), Stop> {
        let known = latest(&self.server.get("/api/v1/beacons")?);
        let mut wanted: Vec<Wanted> = Vec::new();
        for round in draws.iter().filter_map(|seen| seen.draw_round) {
            if !wanted.contains(&Wanted::This(round)) {
                wanted.push(Wanted::This(round));
            }
        }
        let least = Schedule::QUICKNET.round_for(now.saturating_sub(FRESH_S));
        if known.is_none() || (*waits && known < Some(least)) {
            wanted.push(Wanted::Newest(least));
        }
        let (mut silent, until) = (Vec::new(), Instant::now() + LOOK_MAX);
        for wanted in wanted {
            let Fetched { round, faults } = self.relays.fetch(wanted, &mut silent, until);
            for fault in &faults {
                self.teller.relay(fault, io);
            }
            // What the server knows already is no news to it.
            let is_news = |round: &Round| matches!(wanted, Wanted::This(_)) || Some(round.number) > known;
            if let Some((round, from)) = round.filter(|(round, _)| is_news(round)) {
                self.show(&round, &from, io)?;
            }
        }
        Ok(())
    }

    fn show(&mut self, round: &Round, from: &str, io: &mut Io<'_>) -> Result<(), Stop> {
        let number = round.number.to_string();
        let body = json!({ "round": number, "signature": round.signature });
        match self.server.post("/api/v1/beacons", Some(&body), &Digest::of(b"round")) {
            Ok(_) => self.teller.showed(&number, from, io),
            Err(trouble @ Trouble::Refused { .. }) => self.teller.relay(&trouble.to_string(), io),
            Err(trouble) => return Err(trouble.into()),
        }
        Ok(())
    }
}

/// The newest round that a server knows.
fn latest(beacon: &Value) -> Option<u64> {
    beacon["latest"]["round"].as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: &str =
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";

    #[test]
    fn a_round_is_one_by_its_signature_alone() {
        let read = |round: Value, signature: &str| {
            Round::read(&json!({ "round": round, "signature": signature, "randomness": "00" }))
        };
        assert_eq!(
            read(json!(1000), &SIGNATURE.to_ascii_uppercase()),
            Ok(Round { number: 1000, signature: SIGNATURE.to_owned() })
        );
        for (round, signature, why) in [
            (json!(1001), SIGNATURE, "1001"),
            (json!(0), SIGNATURE, "round"),
            (json!("1000"), SIGNATURE, "it gives no round"),
            (json!(-1), SIGNATURE, "it gives no round"),
            (json!(1000.5), SIGNATURE, "it gives no round"),
            (json!(1000), "", "0 bytes"),
            (json!(1000), &SIGNATURE[1..], "not hexadecimal"),
            (json!(1000), &SIGNATURE[2..], "47 bytes"),
            (json!(1000), &SIGNATURE.replace('b', "g"), "not hexadecimal"),
            (json!(1000), &SIGNATURE.replace("b4", "a4"), "1000"),
            (json!(1000), &SIGNATURE.repeat(3), "not hexadecimal"),
        ] {
            let said = read(round.clone(), signature).expect_err("refused");
            assert!(said.contains(why), "{round} {signature}: {said}");
        }
    }
}
