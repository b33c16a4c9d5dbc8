//! Sealed results: a digest now, what it stands for later.

use arena_canon::json::{self, Pointer, Value};
use arena_canon::{Digest, Preimage};
use serde_json::json;

use crate::document::Object;
use crate::envelope;
use crate::fault::{Faults, Findings};
use crate::manifest::ID_BYTES_MAX;
use crate::record::Record;

/// The format of a commitment.
pub const COMMITMENT_VERSION: &str = "arena-commitment/v1";

/// What is committed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sealed {
    /// The runner's record.
    Run,
    /// A challenger's record.
    Challenge,
    /// A reviewer's ballot.
    Vote,
}

impl Sealed {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Run, Self::Challenge, Self::Vote];

    /// The word that is hashed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Challenge => "challenge",
            Self::Vote => "vote",
        }
    }
}

/// The commitment of `agent` to a document. The agent is in it, so nobody can pass off another's.
pub fn commitment(kind: Sealed, job: Digest, agent: &str, nonce: Digest, document: Digest) -> Digest {
    Preimage::new("ARENA-COMMIT-V1")
        .bytes(kind.name().as_bytes())
        .bytes(job.as_bytes())
        .bytes(agent.as_bytes())
        .bytes(nonce.as_bytes())
        .bytes(document.as_bytes())
        .digest()
}

/// A commitment as a document: what is published before anything is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commitment {
    /// What is committed to.
    pub kind: Sealed,
    /// For which job.
    pub job: Digest,
    /// By whom.
    pub agent: String,
    /// What [`commitment`] gives.
    pub digest: Digest,
}

impl Commitment {
    /// Reads a commitment. All faults are reported at once.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(value, Pointer::default(), &mut findings);
        let read = object.and_then(|object| {
            object.only(&["v", "kind", "job", "agent", "digest"], &mut findings);
            object.constant("v", COMMITMENT_VERSION, &mut findings);
            let kind = object.read("kind", "run, challenge or vote", &mut findings, |value| {
                Sealed::ALL.into_iter().find(|kind| Some(kind.name()) == value.as_str())
            });
            let job = object.digest("job", &mut findings);
            let agent = object.text("agent", ID_BYTES_MAX, &mut findings);
            let digest = object.digest("digest", &mut findings);
            Some(Self { kind: kind?, job: job?, agent: agent?.to_owned(), digest: digest? })
        });
        findings.or_none(read)
    }

    /// The document.
    pub fn to_json(&self) -> Value {
        json!({
            "v": COMMITMENT_VERSION, "kind": self.kind.name(), "job": self.job, "agent": self.agent,
            "digest": self.digest,
        })
    }
}

/// What opens a commitment, as a document: the nonce, with what was sealed.
#[derive(Debug, Clone, PartialEq)]
pub struct Reveal {
    /// The nonce.
    pub nonce: Digest,
    /// What was sealed. Whether it is any good is judged where it is used.
    pub sealed: Opened,
}

/// What was sealed.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// A record.
    Record(Value),
    /// The envelope in which a record is signed.
    Envelope(Value),
    /// A ballot.
    Ballot(Value),
}

impl Reveal {
    /// Reads a reveal: `{nonce, record}`, `{nonce, envelope}` or `{nonce, ballot}`. All faults are reported at once.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut findings = Findings::default();
        let object = Object::of(value, Pointer::default(), &mut findings);
        let read = object.and_then(|object| {
            object.only(&["nonce", "record", "envelope", "ballot"], &mut findings);
            let nonce = object.digest("nonce", &mut findings);
            let mut opened = Vec::new();
            for key in ["record", "envelope", "ballot"].into_iter().filter(|key| object.get(key).is_some()) {
                let fits = |value: &Value| value.is_object().then(|| value.clone());
                let document = object.read(key, "an object", &mut findings, fits);
                opened.extend(document.map(|document| match key {
                    "record" => Opened::Record(document),
                    "envelope" => Opened::Envelope(document),
                    _ => Opened::Ballot(document),
                }));
            }
            if opened.len() != 1 {
                findings.add(&object.at, "opens one of `record`, `envelope` and `ballot`");
            }
            Some(Self { nonce: nonce?, sealed: opened.pop()? })
        });
        findings.or_none(read)
    }

    /// Whether this is what was committed to. Signatures are not looked at here.
    pub fn opens(&self, made: &Commitment) -> bool {
        let document = match &self.sealed {
            Opened::Record(value) => Record::read(value.clone()).ok().map(|record| record.digest),
            Opened::Envelope(envelope) => envelope::record_in(envelope).ok().map(|record| record.digest),
            Opened::Ballot(ballot) => Some(Digest::of(&json::canonical(ballot))),
        };
        let fits = matches!((&self.sealed, made.kind), (Opened::Ballot(_), Sealed::Vote))
            || !matches!(self.sealed, Opened::Ballot(_)) && made.kind != Sealed::Vote;
        let digest =
            document.map(|document| commitment(made.kind, made.job, &made.agent, self.nonce, document));
        fits && digest == Some(made.digest)
    }
}

/// The nonce an agent uses: derived from its key's seed, so that a crash between committing and
/// revealing loses nothing.
pub fn nonce(key_seed: &[u8; 32], job: Digest, kind: Sealed) -> Digest {
    Preimage::new("ARENA-NONCE-V1")
        .bytes(key_seed)
        .bytes(job.as_bytes())
        .bytes(kind.name().as_bytes())
        .digest()
}

/// The id of the `n`th job of a claim.
pub fn job_id(instance: Digest, claim: &str, manifest: Digest, n: u64) -> Digest {
    Preimage::new("ARENA-JOB-V1")
        .bytes(instance.as_bytes())
        .bytes(claim.as_bytes())
        .bytes(manifest.as_bytes())
        .number(n)
        .digest()
}

/// What the instance commits to before it knows whether and by whom a run is audited.
pub fn salt_commitment(job: Digest, salt: Digest) -> Digest {
    Preimage::new("ARENA-SALT-V1").bytes(job.as_bytes()).bytes(salt.as_bytes()).digest()
}

/// What marks a claim as a canary once it is opened.
pub fn canary_commitment(claim: &str, salt: Digest) -> Digest {
    Preimage::new("ARENA-CANARY-V1").bytes(claim.as_bytes()).bytes(salt.as_bytes()).digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_commitment_comes_out() {
        let mut nonce = [0; 32];
        for (i, byte) in nonce.iter_mut().enumerate() {
            *byte = i as u8;
        }
        let nonce = Digest::from_bytes(nonce);
        let (job, record) = (Digest::of(b"job test"), Digest::of(b"record test"));
        let digest = commitment(Sealed::Run, job, "agent-d", nonce, record).to_string();
        assert!(digest.starts_with("2da0f001") && digest.ends_with("37ae"), "{digest}");
        for other in [
            commitment(Sealed::Challenge, job, "agent-d", nonce, record),
            commitment(Sealed::Run, record, "agent-d", nonce, record),
            commitment(Sealed::Run, job, "agent-e", nonce, record),
            commitment(Sealed::Run, job, "agent-d", job, record),
            commitment(Sealed::Run, job, "agent-d", nonce, job),
        ] {
            assert_ne!(other.to_string(), digest);
        }
    }

    #[test]
    fn nonces_differ_by_key_job_and_kind() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let one = nonce(&[1; 32], a, Sealed::Run);
        assert_eq!(one, nonce(&[1; 32], a, Sealed::Run));
        for other in [
            nonce(&[2; 32], a, Sealed::Run),
            nonce(&[1; 32], b, Sealed::Run),
            nonce(&[1; 32], a, Sealed::Vote),
        ] {
            assert_ne!(one, other);
        }
    }
}
