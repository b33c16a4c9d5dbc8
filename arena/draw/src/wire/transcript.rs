use arena_canon::Digest;
use arena_canon::json::{self, Pointer, Value};

use super::fault::Faults;
use super::fields;
use super::reader::{Object, Reader};
use super::request::{self, Refusal, Request, document};
use super::written::Written;
use crate::{ENTRIES_MAX, Pick, Resolution};

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
        let read =
            reader.object(&document, Pointer::default()).and_then(|object| reader.whole_transcript(&object));
        reader.faults.judge(read)
    }

    /// The document, as it is written.
    pub fn to_value(&self) -> Value {
        Written::transcript(self).to_value()
    }

    /// The canonical bytes of the document.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical_of(self)
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

impl Request {
    /// The document, as it is written.
    pub fn to_value(&self) -> Value {
        Written::request(self).to_value()
    }
}

impl Reader {
    /// A transcript, and nothing else with it.
    pub(super) fn whole_transcript(&mut self, object: &Object<'_>) -> Option<Transcript> {
        let names: Vec<&str> = request::MEMBERS.iter().chain(&MEMBERS).copied().collect();
        self.known(object, &names);
        self.transcript(object)
    }

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
