use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};

use super::fault::Faults;
use super::fields::{self, time_text};
use super::reader::{Object, Reader};
use super::{
    CHECKPOINT_BYTES_MAX, DOCUMENT_BYTES_MAX, INCLUSION_MAX, NAME_BYTES_MAX, SALT_BYTES, SEATS_MAX, VERSION,
};
use crate::beacon::{
    Beacon, BeaconError, EcvrfOperator, HashChain, HashChainError, Kind, NotATest, PARTIES_MAX, Source,
};
use crate::eligible::{self, Eligible, Entry, EntryFault};
use crate::{Draw, ENTRIES_MAX, Purpose};

/// A draw before it is resolved: what was committed, and the proof of the beacon's round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// SHA-256 of the instance's name.
    pub instance: Digest,
    /// The name itself. A `test` beacon is refused without it.
    pub instance_name: Option<String>,
    /// What the draw is for.
    pub purpose: Purpose,
    /// What it is about.
    pub subject: Digest,
    /// 0 for the first draw.
    pub attempt: u32,
    /// How many seats are to be filled.
    pub seats: u32,
    /// SHA-256 of the rules in force.
    pub params_hash: Digest,
    /// The number of the event that committed the draw. Carried: nothing here can check it.
    pub committed_seq: Option<u64>,
    /// When that was, in Unix time.
    pub committed_at: Option<u64>,
    /// The latest round that was known then.
    pub last_round_seen: Option<u64>,
    /// Who may be drawn.
    pub entries: Eligible,
    /// A secret that was committed before and is opened now. It follows the beacon's randomness.
    pub salt: Option<Vec<u8>>,
    /// Which beacon.
    pub source: Source,
    /// Which of its rounds.
    pub round: u64,
    /// The round's proof; empty for `test`.
    pub proof: Vec<u8>,
    /// Where the commitment stands in the log of events. Carried: nothing here can check it.
    pub log: Option<Log>,
}

/// Where an event stands in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// The signed note with the log's size and root.
    pub checkpoint: String,
    /// From the event up to that root.
    pub inclusion: Vec<Digest>,
}

/// Why a draw that can be read is not resolved. None of these is repaired by drawing otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The name that is given is not the instance's.
    #[error("the instance is not the SHA-256 of its name")]
    Name,
    /// Test rounds outside of a test.
    #[error(transparent)]
    NotATest(#[from] NotATest),
    /// The round was known when the draw was committed.
    #[error("the commitment knew round {last} already; round {round} was no longer open")]
    RoundKnown {
        /// The latest round known.
        last: u64,
        /// The round of the draw.
        round: u64,
    },
    /// The round was due when the draw was committed.
    #[error("committed at {}, but round {round} was due at {}", at(*committed), at(*due))]
    CommittedLate {
        /// When it was committed, in Unix time.
        committed: u64,
        /// The round of the draw.
        round: u64,
        /// When that was due, in Unix time.
        due: u64,
    },
    /// The round's proof does not hold.
    #[error(transparent)]
    Beacon(#[from] BeaconError),
}

fn at(seconds: u64) -> String {
    time_text(seconds).unwrap_or_else(|| format!("second {seconds}"))
}

impl Refusal {
    /// The place of the document that is to blame, as a JSON pointer.
    pub fn pointer(&self) -> &'static str {
        match self {
            Self::Name | Self::NotATest(_) => "/instance_name",
            Self::RoundKnown { .. } => "/last_round_seen",
            Self::CommittedLate { .. } => "/committed_at",
            Self::Beacon(BeaconError::NoRound | BeaconError::BeyondTheChain { .. }) => "/beacon/round",
            Self::Beacon(BeaconError::Key) => "/beacon/public_key",
            Self::Beacon(BeaconError::Length { .. } | BeaconError::Proof { .. }) => "/beacon/signature",
        }
    }
}

/// Members of a request. A transcript has these and more.
pub(super) const MEMBERS: [&str; 15] = [
    "v",
    "instance",
    "instance_name",
    "purpose",
    "subject",
    "attempt",
    "seats",
    "params_hash",
    "committed_seq",
    "committed_at",
    "last_round_seen",
    "entries",
    "salt",
    "beacon",
    "log",
];

/// Members of its beacon, by kind.
pub(super) fn beacon_members(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::DrandQuicknet | Kind::Test => &["kind", "round", "signature"],
        Kind::EcvrfOperator => &["kind", "public_key", "round", "signature"],
        Kind::HashChain => &["kind", "anchors", "round", "signature"],
    }
}

impl Request {
    /// Reads a request; all of its faults if there are any.
    pub fn read(bytes: &[u8]) -> Result<Self, Faults> {
        let document = document(bytes)?;
        let mut reader = Reader::default();
        let read = reader.object(&document, Pointer::default()).and_then(|object| {
            reader.known(&object, &MEMBERS);
            let beacon = reader.inner(&object, "beacon");
            if let Some(beacon) = &beacon {
                reader.beacon_known(beacon, &[]);
            }
            reader.request(&object, beacon.as_ref())
        });
        reader.faults.judge(read)
    }

    /// The beacon, if the instance may use it and is who it says it is.
    pub(super) fn permitted(&self) -> Result<Box<dyn Beacon>, Refusal> {
        let name = self.instance_name.as_deref();
        let beacon = self.source.beacon(self.instance, name)?;
        let named = name.is_none_or(|name| Digest::of(name.as_bytes()) == self.instance);
        if named { Ok(beacon) } else { Err(Refusal::Name) }
    }

    /// What the round gives, if the draw was committed before anybody knew it.
    pub(super) fn randomness(&self, beacon: &dyn Beacon) -> Result<[u8; 32], Refusal> {
        let round = self.round;
        if let Some(last) = self.last_round_seen.filter(|last| *last >= round) {
            return Err(Refusal::RoundKnown { last, round });
        }
        let due = beacon.time_of(round);
        if let Some((committed, due)) = self.committed_at.zip(due).filter(|(committed, due)| committed >= due)
        {
            return Err(Refusal::CommittedLate { committed, round, due });
        }
        Ok(beacon.verify(round, &self.proof)?)
    }

    /// The draw, once the round has spoken.
    pub(super) fn draw(&self, beacon: &dyn Beacon, randomness: &[u8; 32]) -> Draw {
        Draw {
            instance: self.instance,
            purpose: self.purpose,
            subject: self.subject,
            attempt: self.attempt,
            params_hash: self.params_hash,
            entries: self.entries.clone(),
            seats: self.seats,
            beacon_chain_hash: beacon.chain_hash(),
            round: self.round,
            randomness: [randomness, self.salt.as_deref().unwrap_or_default()].concat(),
        }
    }

    /// Draws, and says everything that is needed to draw again.
    pub fn resolve(self) -> Result<super::Transcript, Refusal> {
        let beacon = self.permitted()?;
        let randomness = self.randomness(&*beacon)?;
        let draw = self.draw(&*beacon, &randomness);
        let resolution = draw.resolve();
        Ok(super::Transcript {
            chain: draw.beacon_chain_hash,
            randomness: Digest::from_bytes(randomness),
            // A transcript is what stands in its document, so that what is read again is equal to it.
            request: Self { source: self.source.without_schedule(), ..self },
            resolution,
        })
    }
}

/// The document in `bytes`, or the one fault that it is none.
pub(super) fn document(bytes: &[u8]) -> Result<Value, Faults> {
    json::read(bytes, DOCUMENT_BYTES_MAX)
        .map_err(|why| Faults(vec![super::Fault { at: Pointer::default(), message: why.to_string() }]))
}

impl Reader {
    pub(super) fn request(&mut self, object: &Object<'_>, beacon: Option<&Object<'_>>) -> Option<Request> {
        let version = self.member(object, "v", version);
        let instance = self.member(object, "instance", fields::digest);
        let instance_name =
            self.optional(object, "instance_name", |value| fields::text(value, 1..=NAME_BYTES_MAX));
        let purpose = self.member(object, "purpose", fields::word::<Purpose>);
        let subject = self.member(object, "subject", fields::digest);
        let attempt = self.member(object, "attempt", |value| fields::number(value, 0..=u32::MAX));
        let seats = self.member(object, "seats", |value| fields::number(value, 1..=SEATS_MAX));
        let params_hash = self.member(object, "params_hash", fields::digest);
        let committed_seq = self.optional(object, "committed_seq", fields::decimal);
        let committed_at = self.optional(object, "committed_at", fields::time);
        let last_round_seen = self.optional(object, "last_round_seen", fields::decimal);
        let entries = self.entries(object);
        let salt = self.optional(object, "salt", |value| fields::bytes(value, SALT_BYTES));
        let round = beacon.and_then(|beacon| self.member(beacon, "round", fields::decimal));
        let source = beacon.and_then(|beacon| self.source(beacon));
        let proof = beacon.and_then(|beacon| self.proof(beacon));
        let log = self.log(object);
        version?;
        Some(Request {
            instance: instance?,
            instance_name: instance_name?,
            purpose: purpose?,
            subject: subject?,
            attempt: attempt?,
            seats: seats?,
            params_hash: params_hash?,
            committed_seq: committed_seq?,
            committed_at: committed_at?,
            last_round_seen: last_round_seen?,
            entries: entries?,
            salt: salt?,
            source: source?,
            round: round?,
            proof: proof?,
            log: log?,
        })
    }

    /// Says which members of the beacon nobody knows; `more` are those of a transcript.
    pub(super) fn beacon_known(&mut self, beacon: &Object<'_>, more: &[&str]) {
        // A kind that is none is told when it is read.
        if let Ok(kind) = beacon.get("kind").map_or(Err(String::new()), fields::word::<Kind>) {
            let names: Vec<&str> = beacon_members(kind).iter().chain(more).copied().collect();
            self.known(beacon, &names);
        }
    }

    fn source(&mut self, beacon: &Object<'_>) -> Option<Source> {
        Some(match self.member(beacon, "kind", fields::word::<Kind>)? {
            Kind::DrandQuicknet => Source::DrandQuicknet,
            Kind::Test => Source::Test,
            Kind::EcvrfOperator => {
                let key = self.member(beacon, "public_key", fields::digest)?;
                Source::EcvrfOperator(EcvrfOperator::new(*key.as_bytes(), None))
            }
            Kind::HashChain => Source::HashChain(self.hash_chain(beacon)?),
        })
    }

    fn hash_chain(&mut self, beacon: &Object<'_>) -> Option<HashChain> {
        let (anchors, at) = self.digests(beacon, "anchors", PARTIES_MAX)?;
        let made = HashChain::new(anchors, None);
        made.map_err(|why| match why {
            HashChainError::Twice { index } => self.faults.add(&at.index(index), "the anchor stands twice"),
            HashChainError::Parties { .. } => self.faults.add(&at, why.to_string()),
        })
        .ok()
    }

    /// The proof, as long as proofs of the kind are. Whether it holds is the beacon's business.
    fn proof(&mut self, beacon: &Object<'_>) -> Option<Vec<u8>> {
        // A kind that is none is told where it stands.
        let kind = beacon.get("kind").and_then(|kind| fields::word::<Kind>(kind).ok())?;
        let length = match kind {
            Kind::DrandQuicknet => 48..=48,
            Kind::EcvrfOperator => 80..=80,
            Kind::HashChain => 64..=32 * PARTIES_MAX,
            Kind::Test => {
                let proof = self.optional(beacon, "signature", |value| fields::bytes(value, 0..=0))?;
                return Some(proof.unwrap_or_default());
            }
        };
        self.member(beacon, "signature", |value| fields::bytes(value, length))
    }

    fn digests(&mut self, object: &Object<'_>, name: &str, most: usize) -> Option<(Vec<Digest>, Pointer)> {
        let (items, at) = self.array(object, name, most)?;
        let read: Vec<Option<Digest>> = items
            .iter()
            .enumerate()
            .map(|(i, item)| self.value(item, &at.index(i), fields::digest))
            .collect();
        Some((read.into_iter().collect::<Option<_>>()?, at))
    }

    fn entries(&mut self, object: &Object<'_>) -> Option<Eligible> {
        let (items, at) = self.array(object, "entries", ENTRIES_MAX)?;
        let mut read = Vec::with_capacity(items.len());
        let mut places = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            if let Some(entry) = self.entry(item, &at.index(i)) {
                read.push(entry);
                places.push(i);
            }
        }
        for (i, fault) in eligible::faults(&read) {
            self.faults.add(&at.index(places[i]).index(column(&fault)), fault.to_string());
        }
        // Whatever is wrong with it has been told.
        Eligible::new(read).ok()
    }

    /// An entry whose agent can be read. For what else cannot, and was told, something harmless stands, so
    /// that order and sums are still checked; it goes no further.
    fn entry(&mut self, item: &Value, at: &Pointer) -> Option<Entry> {
        let Some([agent, operator, tickets]) = item.as_array().map(Vec::as_slice) else {
            let found = fields::describe(item);
            self.faults.add(at, format!("expected [agent, operator, tickets], found {found}"));
            return None;
        };
        let id = |value: &Value| fields::text(value, 0..=DOCUMENT_BYTES_MAX);
        let agent = self.value(agent, &at.index(0), id);
        let operator = self.value(operator, &at.index(1), id).unwrap_or_else(|| "unread".to_owned());
        let tickets = self.value(tickets, &at.index(2), fields::decimal).unwrap_or(1);
        agent.map(|agent| Entry { agent, operator, tickets })
    }

    fn log(&mut self, object: &Object<'_>) -> Option<Option<Log>> {
        if object.get("log").is_none() {
            return Some(None);
        }
        let log = self.inner(object, "log")?;
        self.known(&log, &["checkpoint", "inclusion"]);
        let checkpoint =
            self.member(&log, "checkpoint", |value| fields::text(value, 1..=CHECKPOINT_BYTES_MAX));
        let inclusion = self.digests(&log, "inclusion", INCLUSION_MAX);
        Some(Some(Log { checkpoint: checkpoint?, inclusion: inclusion?.0 }))
    }
}

/// Where in `[agent, operator, tickets]` the fault is.
fn column(fault: &EntryFault) -> usize {
    match fault {
        EntryFault::AgentLength { .. } | EntryFault::Twice | EntryFault::OutOfOrder => 0,
        EntryFault::OperatorLength { .. } => 1,
        EntryFault::NoTickets | EntryFault::TooManyTickets => 2,
    }
}

fn version(value: &Value) -> fields::Read<()> {
    match value.as_str() {
        Some(VERSION) => Ok(()),
        _ => Err(format!("expected {VERSION:?}, found {}", fields::describe(value))),
    }
}
