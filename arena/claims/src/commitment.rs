//! Sealed results: a digest now, what it stands for later.

use arena_canon::{Digest, Preimage};

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
