//! The text of a record: what canonical JSON writes, put down member by member, and read as it was put down.
//! A run writes every record twice, once to keep it and once to check it.

use arena_canon::{Digest, json};

use super::campus::{Asked, DerivedMove};
use super::{DerivedMoves, Facts, FuelFact, HEAD, Moves, RECORD_SCHEMA, Record};
use crate::canonical::{Scan, Text, WORD_END};

/// Room for the members of which every record has one.
const MEMBERS_BYTES: usize = 1_024;
/// Room for one turn of one seat: its fuel and its move.
const TURN_BYTES: usize = 10;

/// Room for the turns of a game that is as long as most are.
const TURNS_EXPECTED: usize = 256;

/// The bytes of a record, its own digest first, and that digest.
pub(super) fn sealed(record: &Record) -> (Vec<u8>, Digest) {
    sealed_with(record, |text| {
        text.raw("[").fuel(&record.fuel[0]).raw(",").fuel(&record.fuel[1]).raw("]");
    })
}

/// The bytes of a record whose fuel is written already, as canonical JSON writes it.
pub(super) fn sealed_again(record: &Record, fuel: &[u8]) -> Vec<u8> {
    sealed_with(record, |text| text.0.extend_from_slice(fuel)).0
}

/// A record's bytes and their digest, where the fuel is put down by `fuel`.
fn sealed_with(record: &Record, fuel: impl FnOnce(&mut Text)) -> (Vec<u8>, Digest) {
    let turns: usize = record.fuel.iter().map(|fuel| fuel.turns.len()).sum();
    let mut text = Text(Vec::with_capacity(MEMBERS_BYTES + TURN_BYTES * turns));
    text.raw("{\"digest\":").digest(&Digest::from_bytes([0; 32]));
    text.key("forfeits");
    match &record.forfeits {
        [None, None] => text.raw("[null,null]"),
        forfeits => text.any(forfeits),
    };
    text.key("frozen_sha256").digest(&record.frozen_sha256);
    fuel(text.key("fuel"));
    text.key("guest_sha256");
    match &record.guest_sha256 {
        Some(sha256) => text.digest(sha256),
        None => text.raw("null"),
    };
    text.key("id").id(record.id);
    text.key("moves");
    match &record.moves {
        // Letters only, so there is nothing to escape.
        DerivedMoves::Matrix([first, second]) => {
            text.raw("[\"").raw(first).raw("\",\"").raw(second).raw("\"]");
        }
        DerivedMoves::Campus([first, second]) => {
            text.raw("[").campus_moves(first).raw(",").campus_moves(second).raw("]");
        }
    }
    text.key("outcome").any(&record.outcome);
    text.key("repetition").number(record.repetition.into());
    text.key("scenario").any(&record.scenario);
    text.key("schema").raw("\"").raw(RECORD_SCHEMA).raw("\"");
    let ([first, second], [one, other]) = (record.scores, record.seats);
    text.key("scores").raw("[").signed(first).raw(",").signed(second).raw("]");
    text.key("seats").raw("[").alias(one).raw(",").alias(other).raw("]");
    if let Some(settlements) = &record.settlements {
        text.key("settlements").any(settlements);
    }
    let [first, second] = &record.strategies;
    text.key("strategies").raw("[").digest(first).raw(",").digest(second).raw("]");
    text.key("turns").number(record.turns).raw("}");
    let (bytes, digest) = text.seal();
    debug_assert_eq!(bytes[HEAD..], json::canonical_of(record)[1..], "not what canonical JSON is");
    (bytes, digest)
}

/// The record of a matrix game that both seats played to its end without a word: most records are of such.
pub(super) struct Quiet<'t> {
    pub(super) facts: Facts,
    /// The fuel as it is written, which is as canonical JSON writes it.
    pub(super) fuel: &'t [u8],
}

impl<'t> Quiet<'t> {
    /// What `bytes` say. Whether they are those of a record, only writing it again can tell.
    pub(super) fn read(bytes: &'t [u8]) -> Option<Self> {
        let mut scan = Scan(bytes.get(HEAD..)?);
        scan.past("\"forfeits\":[null,null],\"frozen_sha256\":")?.by(66)?.past(",\"fuel\":")?;
        let start = scan.0;
        scan.past("[")?;
        let first = scan.fuel()?;
        scan.past(",")?;
        let fuel = [first, scan.fuel()?];
        scan.past("]")?;
        let written = &start[..start.len() - scan.0.len()];
        scan.past(",\"guest_sha256\":null,\"id\":")?.by(8)?.past(",\"moves\":[")?;
        let first = scan.moves()?;
        scan.past(",")?;
        let moves = Moves::Matrix([first, scan.moves()?]);
        let facts = Facts { forfeits: [None, None], fuel, guest_sha256: None, moves };
        Some(Self { facts, fuel: written })
    }
}

impl Scan<'_> {
    fn fuel(&mut self) -> Option<FuelFact> {
        let brief = self.past("{\"brief\":")?.number()?;
        let total = self.past(",\"total\":")?.number()?;
        self.past(",\"turns\":[")?;
        let mut turns = Vec::with_capacity(TURNS_EXPECTED);
        loop {
            turns.push(self.number()?);
            if self.past(",").is_none() {
                break;
            }
        }
        self.past("]}")?;
        Some(FuelFact { brief, total, turns })
    }

    fn moves(&mut self) -> Option<String> {
        self.past("\"")?;
        let length = self.0.iter().position(|byte| *byte == b'"')?;
        let (moves, rest) = self.0.split_at(length);
        self.0 = rest;
        self.past("\"")?;
        let letters = moves.iter().all(|byte| matches!(byte, b'C' | b'D'));
        std::str::from_utf8(moves).ok().filter(|_| letters).map(ToOwned::to_owned)
    }
}

impl Text {
    /// A number that may be any; nearly all of them are whole.
    fn float(&mut self, number: f64) -> &mut Self {
        if number.is_nan() {
            return self.raw("\"NaN\"");
        }
        if number.is_infinite() {
            return self.raw(if number > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" });
        }
        let size = number.abs();
        if size < WORD_END as f64 && size.fract() == 0.0 {
            let sign = if number < 0.0 { "-" } else { "" };
            return self.raw(sign).number(size as u64);
        }
        self.any(&number);
        self
    }

    fn asked(&mut self, asked: &Asked) -> &mut Self {
        let Asked { accept_offer, battery_mw, curtail_mw, diesel_mw } = *asked;
        self.raw("{\"accept_offer\":").raw(if accept_offer { "true" } else { "false" });
        self.raw(",\"battery_mw\":").float(battery_mw);
        self.raw(",\"curtail_mw\":").float(curtail_mw);
        self.raw(",\"diesel_mw\":").float(diesel_mw).raw("}")
    }

    fn campus_moves(&mut self, moves: &[DerivedMove]) -> &mut Self {
        self.raw("[");
        for (turn, DerivedMove { applied, asked, clamps, invalid }) in moves.iter().enumerate() {
            self.raw(if turn > 0 { ",{\"applied\":" } else { "{\"applied\":" }).asked(applied);
            self.raw(",\"asked\":");
            match asked {
                Some(asked) => self.asked(asked),
                None => self.raw("null"),
            };
            self.raw(",\"clamps\":");
            if clamps.is_empty() {
                self.raw("[]");
            } else {
                self.any(clamps);
            }
            self.raw(if *invalid { ",\"invalid\":true}" } else { "}" });
        }
        self.raw("]")
    }

    fn fuel(&mut self, fuel: &FuelFact) -> &mut Self {
        self.raw("{\"brief\":").number(fuel.brief).raw(",\"total\":").number(fuel.total).raw(",\"turns\":[");
        for (turn, used) in fuel.turns.iter().enumerate() {
            if turn > 0 {
                self.raw(",");
            }
            self.number(*used);
        }
        self.raw("]}")
    }

    /// Puts the digest of everything else where its place was left.
    fn seal(self) -> (Vec<u8>, Digest) {
        let mut bytes = self.0;
        let digest = Digest::of_parts(&[b"{", &bytes[HEAD..]]);
        let mut head = Self(Vec::with_capacity(HEAD));
        head.raw("{\"digest\":").digest(&digest).raw(",");
        bytes[..HEAD].copy_from_slice(&head.0);
        (bytes, digest)
    }
}

#[cfg(test)]
mod tests;
