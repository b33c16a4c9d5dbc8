use arena_canon::Digest;
use arena_canon::json::{self, Map, Pointer, Value};
use serde_json::json;

use super::VERSION;
use super::fault::Faults;
use super::fields::{self, time_text};
use super::reader::{Object, Reader};
use super::request::{self, Refusal, Request, document};
use crate::beacon::Source;
use crate::{ENTRIES_MAX, Pick, Resolution, hex};

/// A draw after it is resolved, with everything that is needed to draw again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// What was committed, and the round's proof.
    pub request: Request,
    /// What stands for the beacon in the seed.
    pub chain: Digest,
    /// What the round gave, without the salt.
    pub randomness: Digest,
    /// What the draw came to.
    pub resolution: Resolution,
}

/// Why a transcript is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is no transcript.
    #[error("{0}")]
    Malformed(#[from] Faults),
    /// No draw may be made like that.
    #[error("{at}: {0}", at = .0.pointer())]
    Refused(#[from] Refusal),
    /// The draw comes to something else.
    #[error("{0}")]
    Differs(#[from] Difference),
}

/// The first thing that does not follow from what stands before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {}", self.message())]
pub struct Difference {
    /// Where.
    pub at: Pointer,
    /// What stands there.
    pub stated: String,
    /// What should.
    pub derived: String,
}

impl Difference {
    /// Both values, in words that follow the place.
    pub fn message(&self) -> String {
        format!("the transcript says {}, the draw gives {}", self.stated, self.derived)
    }
}

/// Members a transcript has beside those of its request, and its beacon beside those of the request's.
const MEMBERS: [&str; 6] = ["root", "n", "total", "seed", "words_consumed", "picks"];
const BEACON_MEMBERS: [&str; 2] = ["chain", "randomness"];

impl Transcript {
    /// Reads a transcript without drawing again; all of its faults if there are any.
    pub fn read(bytes: &[u8]) -> Result<Self, Faults> {
        let document = document(bytes)?;
        let mut reader = Reader::default();
        let read = reader.object(&document, Pointer::default()).and_then(|object| {
            let names: Vec<&str> = request::MEMBERS.iter().chain(&MEMBERS).copied().collect();
            reader.known(&object, &names);
            reader.transcript(&object)
        });
        reader.faults.judge(read)
    }

    /// The document, as it is written.
    pub fn to_value(&self) -> Value {
        let Self { request, chain, randomness, resolution } = self;
        let mut beacon = beacon_members(request);
        beacon.insert("chain".to_owned(), json!(chain));
        beacon.insert("randomness".to_owned(), json!(randomness));
        let mut members = request_members(request, beacon);
        let pick = |pick: &Pick| {
            json!({
                "seat": pick.seat,
                "r": pick.r.to_string(),
                "of": pick.of.to_string(),
                "agent": pick.agent,
            })
        };
        let more = [
            ("root", json!(resolution.root)),
            ("n", json!(resolution.n.to_string())),
            ("total", json!(resolution.total.to_string())),
            ("seed", json!(resolution.seed)),
            ("words_consumed", json!(resolution.words_consumed.to_string())),
            ("picks", resolution.picks.iter().map(pick).collect()),
        ];
        members.extend(more.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(members)
    }

    /// The canonical bytes of the document.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical(&self.to_value())
    }

    /// Draws again, and compares in the order in which one thing follows from another.
    ///
    /// `committed_seq` and `log` are carried: that the commitment is in the log is for whoever has the log.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let Self { request, chain, randomness, resolution: stated } = self;
        let place = Pointer::default();
        let beacon = request.permitted()?;
        same(&place.key("root"), stated.root, request.entries.root())?;
        same(&place.key("n"), stated.n, request.entries.n())?;
        same(&place.key("total"), stated.total, request.entries.total())?;
        same(&place.key("beacon").key("chain"), *chain, beacon.chain_hash())?;
        let drawn = request.randomness(&*beacon)?;
        same(&place.key("beacon").key("randomness"), *randomness, Digest::from_bytes(drawn))?;
        let derived = request.draw(&*beacon, &drawn).resolve();
        same(&place.key("seed"), stated.seed, derived.seed)?;
        same_picks(&place.key("picks"), &stated.picks, &derived.picks)?;
        same(&place.key("words_consumed"), stated.words_consumed, derived.words_consumed)?;
        Ok(())
    }
}

/// Reads a transcript and draws again.
pub fn verify(bytes: &[u8]) -> Result<Transcript, VerifyError> {
    let transcript = Transcript::read(bytes)?;
    transcript.verify()?;
    Ok(transcript)
}

fn same<T: PartialEq + ToString>(at: &Pointer, stated: T, derived: T) -> Result<(), Difference> {
    if stated == derived {
        return Ok(());
    }
    Err(Difference { at: at.clone(), stated: stated.to_string(), derived: derived.to_string() })
}

fn same_picks(at: &Pointer, stated: &[Pick], derived: &[Pick]) -> Result<(), Difference> {
    for (i, (stated, derived)) in stated.iter().zip(derived).enumerate() {
        let at = at.index(i);
        same(&at.key("seat"), stated.seat, derived.seat)?;
        same(&at.key("of"), stated.of, derived.of)?;
        same(&at.key("r"), stated.r, derived.r)?;
        same(&at.key("agent"), fields::quoted(&stated.agent), fields::quoted(&derived.agent))?;
    }
    same(at, stated.len(), derived.len()).map_err(|Difference { at, stated, derived }| Difference {
        at,
        stated: format!("{stated} picks"),
        derived,
    })
}

/// Everything of a request, as it is written.
fn request_members(request: &Request, beacon: Map<String, Value>) -> Map<String, Value> {
    let entry = |entry: &crate::Entry| json!([entry.agent, entry.operator, entry.tickets.to_string()]);
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| members.insert(name.to_owned(), value);
    set("v", json!(VERSION));
    set("instance", json!(request.instance));
    set("purpose", json!(request.purpose.name()));
    set("subject", json!(request.subject));
    set("attempt", json!(request.attempt));
    set("seats", json!(request.seats));
    set("params_hash", json!(request.params_hash));
    set("entries", request.entries.entries().iter().map(entry).collect());
    set("beacon", Value::Object(beacon));
    let committed_at = request.committed_at.and_then(time_text);
    let log = request.log.as_ref();
    let optional = [
        ("instance_name", request.instance_name.as_ref().map(|name| json!(name))),
        ("committed_seq", request.committed_seq.map(|seq| json!(seq.to_string()))),
        ("committed_at", committed_at.map(|time| json!(time))),
        ("last_round_seen", request.last_round_seen.map(|round| json!(round.to_string()))),
        ("salt", request.salt.as_ref().map(|salt| json!(hex::encode(salt)))),
        ("log", log.map(|log| json!({ "checkpoint": log.checkpoint, "inclusion": log.inclusion }))),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            set(name, value);
        }
    }
    members
}

fn beacon_members(request: &Request) -> Map<String, Value> {
    let key = match &request.source {
        Source::DrandQuicknet | Source::Test => None,
        Source::EcvrfOperator(operator) => Some(("public_key", json!(hex::encode(operator.public_key())))),
        Source::HashChain(chain) => Some(("anchors", json!(chain.anchors()))),
    };
    let members = [
        ("kind", json!(request.source.kind().name())),
        ("round", json!(request.round.to_string())),
        ("signature", json!(hex::encode(&request.proof))),
    ];
    members.into_iter().chain(key).map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Request {
    /// The document, as it is written.
    pub fn to_value(&self) -> Value {
        Value::Object(request_members(self, beacon_members(self)))
    }
}

impl Reader {
    fn transcript(&mut self, object: &Object<'_>) -> Option<Transcript> {
        let beacon = self.inner(object, "beacon");
        if let Some(beacon) = &beacon {
            self.beacon_known(beacon, &BEACON_MEMBERS);
        }
        let request = self.request(object, beacon.as_ref());
        let chain = beacon.as_ref().and_then(|beacon| self.member(beacon, "chain", fields::digest));
        let randomness = beacon.as_ref().and_then(|beacon| self.member(beacon, "randomness", fields::digest));
        let root = self.member(object, "root", fields::digest);
        let n = self.member(object, "n", fields::decimal);
        let total = self.member(object, "total", fields::decimal);
        let seed = self.member(object, "seed", fields::digest);
        let words_consumed = self.member(object, "words_consumed", fields::decimal);
        let picks = self.picks(object);
        Some(Transcript {
            request: request?,
            chain: chain?,
            randomness: randomness?,
            resolution: Resolution {
                root: root?,
                n: n?,
                total: total?,
                seed: seed?,
                picks: picks?,
                words_consumed: words_consumed?,
            },
        })
    }

    fn picks(&mut self, object: &Object<'_>) -> Option<Vec<Pick>> {
        let (items, at) = self.array(object, "picks", ENTRIES_MAX)?;
        let read: Vec<Option<Pick>> =
            items.iter().enumerate().map(|(i, item)| self.pick(item, at.index(i))).collect();
        read.into_iter().collect()
    }

    fn pick(&mut self, item: &Value, at: Pointer) -> Option<Pick> {
        let pick = self.object(item, at)?;
        self.known(&pick, &["seat", "r", "of", "agent"]);
        let seat = self.member(&pick, "seat", |value| fields::number(value, 0..=super::SEATS_MAX));
        let r = self.member(&pick, "r", fields::decimal);
        let of = self.member(&pick, "of", fields::decimal);
        let agent = self.member(&pick, "agent", |value| fields::text(value, 1..=crate::ID_BYTES_MAX));
        Some(Pick { seat: seat?, r: r?, of: of?, agent: agent? })
    }
}
