//! The record of a match: what the strategies did, and everything that follows from it.
//!
//! What the sandbox found out are the [`Facts`]; the rest of a record is derived from them by the
//! engine. So a record is checked by deriving it again: it must be the very same bytes.

mod campus;
mod matrix;
mod text;

use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json;
use arena_engine::campus::Pack;
use arena_engine::{During, ForfeitRecord};
use serde::{Deserialize, Serialize};

pub(crate) use campus::is_invalid;
pub use campus::{Asked, CampusMove, Settled};

use crate::frozen::{MoveValidation, Scenario};
use crate::job::Job;
use crate::names::{Alias, MatchId};

/// The format of a match record.
pub(crate) const RECORD_SCHEMA: &str = "tournament.match.v1";
/// Largest record that is read or sent.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// What only playing can tell. Members of records are declared in the order of their names: then they are
/// written without a detour.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// How each seat lost the ability to act, if it did.
    pub forfeits: [Option<ForfeitFact>; 2],
    /// What each seat used.
    pub fuel: [FuelFact; 2],
    /// Digest of what the guests said, if they said anything.
    pub guest_sha256: Option<Digest>,
    /// What each seat asked for.
    pub moves: Moves,
}

/// How a seat lost the ability to act: codes of the host only. The guest's own words are elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForfeitFact {
    /// Whether another build of the host may see another ending.
    pub build_dependent: bool,
    /// The ending's name.
    pub code: String,
    /// What the guest was doing.
    pub during: During,
    /// SHA-256 of the whole ending with the guest's words, as the guest file holds it.
    pub text_sha256: Digest,
    /// First turn that was played with the empty action.
    pub turn: u32,
}

/// Fuel of one seat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FuelFact {
    /// Of the brief.
    pub brief: u64,
    /// Of all of it.
    pub total: u64,
    /// Of each turn.
    pub turns: Vec<u64>,
}

/// [`Facts`] as a record of one game has them; its other members are derived, and passed over here.
#[derive(Deserialize)]
struct FactsOf<M> {
    forfeits: [Option<ForfeitFact>; 2],
    fuel: [FuelFact; 2],
    guest_sha256: Option<Digest>,
    moves: [M; 2],
}

impl<M> FactsOf<M> {
    fn with(self, moves: impl FnOnce([M; 2]) -> Moves) -> Facts {
        let Self { forfeits, fuel, guest_sha256, moves: given } = self;
        Facts { forfeits, fuel, guest_sha256, moves: moves(given) }
    }
}

/// What both seats asked for, turn by turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Moves {
    /// `C` and `D`, one letter a round.
    Matrix([String; 2]),
    /// Actions of both episodes.
    Campus([Vec<CampusMove>; 2]),
}

/// How a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The first seat won.
    #[serde(rename = "seat_0")]
    First,
    /// The second seat won.
    #[serde(rename = "seat_1")]
    Second,
    /// Neither.
    Draw,
    /// Neither, and both forfeited.
    DoubleForfeit,
    /// Both failed before the first turn: nothing was played.
    NoContest,
}

/// A whole record.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    forfeits: [Option<ForfeitFact>; 2],
    frozen_sha256: Digest,
    fuel: [FuelFact; 2],
    guest_sha256: Option<Digest>,
    id: MatchId,
    moves: DerivedMoves,
    outcome: Outcome,
    repetition: u32,
    scenario: Scenario,
    schema: &'static str,
    scores: [i64; 2],
    seats: [Alias; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    settlements: Option<[campus::Settled; 2]>,
    strategies: [Digest; 2],
    /// Turns of the seats together, as a budget counts them.
    turns: u64,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum DerivedMoves {
    Matrix([String; 2]),
    Campus([Vec<campus::DerivedMove>; 2]),
}

/// What of a match counts for budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// Fuel of both seats.
    pub fuel: u64,
    /// Turns.
    pub turns: u64,
}

impl Used {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { fuel: self.fuel.saturating_add(other.fuel), turns: self.turns.saturating_add(other.turns) }
    }
}

/// Why bytes are not the record of a match.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// They cannot be read.
    #[error("it is no match record: {0}")]
    Unreadable(String),
    /// What it says of itself does not follow from its moves.
    #[error("{pointer} does not follow from what was played: it says {found}, the replay says {derived}")]
    Differs {
        /// JSON pointer of the first difference.
        pointer: String,
        /// What stands there.
        found: String,
        /// What the replay gives.
        derived: String,
    },
    /// It says the right things in other bytes.
    #[error("it is not in canonical form")]
    NotCanonical,
    /// Its facts contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

impl Record {
    /// What follows from `facts`. `pack` is the pack of a campus matchup.
    pub fn derive(job: &Job, facts: Facts, pack: Option<&Arc<Pack>>) -> Result<Self, RecordFault> {
        let derived = match (&job.matchup.scenario, facts.moves, pack) {
            (Scenario::Matrix(rules), Moves::Matrix(moves), _) => {
                matrix::derive(rules, moves, &facts.forfeits)?
            }
            (Scenario::Campus(_), Moves::Campus(moves), Some(pack)) => {
                campus::derive(pack, moves, &facts.forfeits, job.move_validation)?
            }
            _ => return Err(RecordFault::Contradiction("its moves are those of another game".to_owned())),
        };
        check_fuel(&facts.fuel, &facts.forfeits, derived.turns_each)?;
        Ok(Self {
            forfeits: facts.forfeits,
            frozen_sha256: job.frozen_sha256,
            fuel: facts.fuel,
            guest_sha256: facts.guest_sha256,
            id: job.matchup.id,
            moves: derived.moves,
            outcome: derived.outcome,
            repetition: job.matchup.repetition,
            scenario: job.matchup.scenario.clone(),
            schema: RECORD_SCHEMA,
            scores: derived.scores,
            seats: job.matchup.seats,
            settlements: derived.settlements,
            strategies: job.strategies,
            turns: derived.turns,
        })
    }

    /// Reads the record of `job`: it must be the very bytes that its facts lead to.
    pub fn read(bytes: &[u8], job: &Job, pack: Option<&Arc<Pack>>) -> Result<Self, RecordFault> {
        let unreadable = |why: String| RecordFault::Unreadable(why);
        if bytes.len() > RECORD_BYTES_MAX {
            return Err(unreadable(format!("{} bytes; the limit is {RECORD_BYTES_MAX}", bytes.len())));
        }
        if let Scenario::Matrix(_) = &job.matchup.scenario
            && let Some(text::Quiet { facts, fuel }) = text::Quiet::read(bytes)
            && let Ok(record) = Self::derive(job, facts, pack)
            && text::sealed_again(&record, fuel) == bytes
        {
            return Ok(record);
        }
        let facts = match &job.matchup.scenario {
            Scenario::Matrix(_) => {
                serde_json::from_slice(bytes).map(|facts: FactsOf<String>| facts.with(Moves::Matrix))
            }
            Scenario::Campus(_) => {
                serde_json::from_slice(bytes).map(|facts: FactsOf<Vec<CampusMove>>| facts.with(Moves::Campus))
            }
        };
        let facts = facts.map_err(|why| unreadable(why.to_string()))?;
        let record = Self::derive(job, facts, pack)?;
        let derived = record.to_bytes();
        if derived == bytes { Ok(record) } else { Err(difference(bytes, &derived)) }
    }

    /// The file's bytes: canonical JSON, its own digest first.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.sealed().0
    }

    /// The file's bytes, and the digest they bear.
    pub(crate) fn sealed(&self) -> (Vec<u8>, Digest) {
        text::sealed(self)
    }

    /// Who won.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Points of both seats.
    pub fn scores(&self) -> [i64; 2] {
        self.scores
    }

    /// The moves of a matrix game, one letter a round.
    pub fn matrix_moves(&self) -> Option<&[String; 2]> {
        match &self.moves {
            DerivedMoves::Matrix(moves) => Some(moves),
            DerivedMoves::Campus(_) => None,
        }
    }

    /// Stars and metrics of both seats of a campus matchup.
    pub fn settlements(&self) -> Option<&[campus::Settled; 2]> {
        self.settlements.as_ref()
    }

    /// How each seat lost the ability to act, if it did.
    pub fn forfeits(&self) -> &[Option<ForfeitFact>; 2] {
        &self.forfeits
    }

    /// Digest of what the guests said.
    pub fn guest_sha256(&self) -> Option<Digest> {
        self.guest_sha256
    }

    /// Whether the endings in the guest file are those that the forfeits are the digests of.
    pub(crate) fn agrees_with_guest(&self, said: Option<&[u8]>) -> bool {
        if self.forfeits.iter().all(Option::is_none) {
            return true;
        }
        let Some(said) = said.and_then(|said| json::read(said, RECORD_BYTES_MAX).ok()) else { return false };
        self.forfeits.iter().enumerate().all(|(seat, forfeit)| {
            let told = said.pointer(&format!("/seats/{seat}/forfeit")).filter(|told| !told.is_null());
            told.map(|told| Digest::of(&json::canonical(told))) == forfeit.as_ref().map(|it| it.text_sha256)
        })
    }

    /// Who sat where.
    pub fn seats(&self) -> [Alias; 2] {
        self.seats
    }

    /// What counts for budgets.
    pub fn used(&self) -> Used {
        Used { fuel: self.fuel.iter().map(|seat| seat.total).sum(), turns: self.turns }
    }
}

/// Bytes of a record before its content: `{"digest":"…",` without the brace of the content.
const HEAD: usize = "{\"digest\":\"".len() + 64 + "\",".len();

/// The digest that a record's bytes bear, whether or not it is theirs.
pub(crate) fn borne_digest(bytes: &[u8]) -> Option<Digest> {
    let text = bytes.get(..HEAD)?.strip_prefix(b"{\"digest\":\"")?.strip_suffix(b"\",")?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The digest that a record's bytes bear, if it is theirs.
pub(crate) fn sealed_digest(bytes: &[u8]) -> Option<Digest> {
    let said = borne_digest(bytes)?;
    (Digest::of_parts(&[b"{", &bytes[HEAD..]]) == said).then_some(said)
}

/// What one game makes of the moves.
struct Derived {
    moves: DerivedMoves,
    outcome: Outcome,
    scores: [i64; 2],
    settlements: Option<[campus::Settled; 2]>,
    /// Turns that each seat played.
    turns_each: usize,
    /// Turns as a budget counts them.
    turns: u64,
}

impl ForfeitFact {
    /// The fact of `record`, whose words go elsewhere.
    pub fn of(record: &ForfeitRecord) -> Self {
        let text = serde_json::to_value(record).expect("a forfeit has string keys");
        Self {
            turn: record.turn,
            during: record.during,
            code: record.forfeit.code().to_owned(),
            build_dependent: record.build_dependent,
            text_sha256: Digest::of(&json::canonical(&text)),
        }
    }

    fn is_before_the_first_turn(&self) -> bool {
        self.during != During::Turn
    }
}

/// Whether both failed before the first turn.
fn is_no_contest(forfeits: &[Option<ForfeitFact>; 2]) -> bool {
    forfeits.iter().all(|forfeit| forfeit.as_ref().is_some_and(ForfeitFact::is_before_the_first_turn))
}

/// Who won, where `by_points` is what the points alone say.
fn outcome(forfeits: &[Option<ForfeitFact>; 2], by_points: std::cmp::Ordering) -> Outcome {
    match (&forfeits[0], &forfeits[1]) {
        (Some(_), Some(_)) if is_no_contest(forfeits) => Outcome::NoContest,
        (Some(_), Some(_)) => Outcome::DoubleForfeit,
        (Some(_), None) => Outcome::Second,
        (None, Some(_)) => Outcome::First,
        (None, None) => match by_points {
            std::cmp::Ordering::Greater => Outcome::First,
            std::cmp::Ordering::Less => Outcome::Second,
            std::cmp::Ordering::Equal => Outcome::Draw,
        },
    }
}

/// Every ending that a record can name.
const CODES: [&str; 6] = ["fuel_spent", "memory_capped", "trapped", "unreadable", "overtime", "start_failed"];

fn check_fuel(
    fuel: &[FuelFact; 2],
    forfeits: &[Option<ForfeitFact>; 2],
    turns: usize,
) -> Result<(), RecordFault> {
    let contradiction = |text: String| Err(RecordFault::Contradiction(text));
    for (seat, (used, forfeit)) in fuel.iter().zip(forfeits).enumerate() {
        if used.turns.len() != turns {
            return contradiction(format!("/fuel/{seat}/turns has {} turns, not {turns}", used.turns.len()));
        }
        let sum = used.turns.iter().try_fold(used.brief, |sum, turn| sum.checked_add(*turn));
        if sum != Some(used.total) || used.total > crate::canonical::COUNT_MAX {
            return contradiction(format!("/fuel/{seat}/total is not the sum of its parts"));
        }
        if let Some(forfeit) = forfeit
            && !CODES.contains(&forfeit.code.as_str())
        {
            return contradiction(format!("/forfeits/{seat}/code is no ending"));
        }
        let gone = forfeit.as_ref().map_or(turns, |forfeit| match forfeit.during {
            During::Turn => (forfeit.turn as usize).saturating_add(1),
            During::Start | During::Brief => 0,
        });
        if used.turns.iter().skip(gone).any(|fuel| *fuel != 0) {
            return contradiction(format!("/fuel/{seat}/turns goes on after the forfeit"));
        }
    }
    Ok(())
}

/// The first place where bytes are not what they should be.
fn difference(found: &[u8], derived: &[u8]) -> RecordFault {
    let read = |bytes| json::read(bytes, RECORD_BYTES_MAX);
    let (found, derived) = match (read(found), read(derived)) {
        (Ok(found), Ok(derived)) => (found, derived),
        (Err(why), _) | (_, Err(why)) => return RecordFault::Unreadable(why.to_string()),
    };
    let shown = |value: Option<&json::Value>| {
        let text = value.map_or_else(|| "nothing".to_owned(), json::Value::to_string);
        arena_engine::Excerpt { text: &text, max: 80 }.to_string()
    };
    match json::first_difference(&found, &derived) {
        None => RecordFault::NotCanonical,
        Some((at, left, right)) => RecordFault::Differs {
            pointer: arena_engine::Excerpt { text: at.as_str(), max: 80 }.to_string(),
            found: shown(left),
            derived: shown(right),
        },
    }
}

/// Whether the policy lets an invalid action through as a clamp.
fn forfeits_the_turn(validation: MoveValidation, invalid: bool) -> bool {
    invalid && validation == MoveValidation::Forfeit
}
