use arena_canon::Digest;

use super::{Beacon, BeaconError, Kind, Schedule, chain_hash};

/// Most rounds of a chain of preimages: each round is hashed back to the anchor when it is checked.
pub const ROUND_MAX: u64 = 1_000_000;
/// Most parties of such a beacon, with the operator.
pub const PARTIES_MAX: usize = 8;

/// Chains of preimages. The operator and at least one outside party each publish an anchor, `SHA256`
/// applied N times to a secret; in round `i` each reveals what gives its anchor after `i` more times.
///
/// The anchors commit everybody to every contribution before the first round. The proof of a round is the
/// preimages in the order of the anchors, 32 bytes each. The randomness is the operator's preimage XOR the
/// SHA-256 of each of the others: nobody knows it before the last of them has revealed. Who does not reveal
/// can stop a round, and it shows who.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashChain {
    anchors: Vec<Digest>,
    schedule: Option<Schedule>,
}

/// Why anchors are no beacon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashChainError {
    /// Nobody but the operator, or more than are checked.
    #[error("{count} anchors; there are 2 to {PARTIES_MAX}: the operator's and those of outside parties")]
    Parties {
        /// Anchors given.
        count: usize,
    },
    /// Two parties with one chain, whose contributions would not be two.
    #[error("anchor {index} stands twice")]
    Twice {
        /// Position of the second one, from 0.
        index: usize,
    },
}

impl HashChain {
    /// The beacon of these anchors, the operator's first.
    pub fn new(anchors: Vec<Digest>, schedule: Option<Schedule>) -> Result<Self, HashChainError> {
        if !(2..=PARTIES_MAX).contains(&anchors.len()) {
            return Err(HashChainError::Parties { count: anchors.len() });
        }
        match (1..anchors.len()).find(|index| anchors[..*index].contains(&anchors[*index])) {
            Some(index) => Err(HashChainError::Twice { index }),
            None => Ok(Self { anchors, schedule }),
        }
    }

    pub(super) fn without_schedule(self) -> Self {
        Self { schedule: None, ..self }
    }

    /// The anchors, the operator's first.
    pub fn anchors(&self) -> &[Digest] {
        &self.anchors
    }

    /// Whether `preimage` is what the party at `index` alone reveals in `round`.
    pub fn check_part(&self, index: usize, round: u64, preimage: Digest) -> Result<(), BeaconError> {
        check_round(round)?;
        let proves = self.anchors.get(index).is_some_and(|anchor| hashed(preimage, round) == *anchor);
        if proves { Ok(()) } else { Err(BeaconError::Proof { kind: self.kind(), round }) }
    }
}

fn check_round(round: u64) -> Result<(), BeaconError> {
    match round {
        0 => Err(BeaconError::NoRound),
        1..=ROUND_MAX => Ok(()),
        _ => Err(BeaconError::BeyondTheChain { round }),
    }
}

impl Beacon for HashChain {
    fn kind(&self) -> Kind {
        Kind::HashChain
    }

    fn chain_hash(&self) -> Digest {
        let key: Vec<u8> = self.anchors.iter().flat_map(|anchor| *anchor.as_bytes()).collect();
        chain_hash(self.kind().name(), &key)
    }

    fn schedule(&self) -> Option<Schedule> {
        self.schedule
    }

    fn verify(&self, round: u64, proof: &[u8]) -> Result<[u8; 32], BeaconError> {
        let kind = self.kind();
        let (preimages, rest) = proof.as_chunks::<32>();
        check_round(round)?;
        if preimages.len() != self.anchors.len() || !rest.is_empty() {
            return Err(BeaconError::Length { kind, bytes: proof.len(), wanted: 32 * self.anchors.len() });
        }
        let leads = |(preimage, anchor): (&[u8; 32], &Digest)| {
            hashed(Digest::from_bytes(*preimage), round) == *anchor
        };
        if !preimages.iter().zip(&self.anchors).all(leads) {
            return Err(BeaconError::Proof { kind, round });
        }
        let mut randomness = preimages[0];
        for preimage in &preimages[1..] {
            for (byte, other) in randomness.iter_mut().zip(Digest::of(preimage).as_bytes()) {
                *byte ^= other;
            }
        }
        Ok(randomness)
    }
}

/// What a chain gives so many rounds before the one that `preimage` is of: a round reveals all before it. Nothing
/// where that is more rounds than a chain has.
pub fn rounds_before(preimage: Digest, rounds: u64) -> Option<Digest> {
    (rounds < ROUND_MAX).then(|| hashed(preimage, rounds))
}

/// SHA-256 applied `times` times.
fn hashed(start: Digest, times: u64) -> Digest {
    (0..times).fold(start, |digest, _| Digest::of(digest.as_bytes()))
}

/// What one party keeps: its secret and how many rounds it is good for.
pub struct Preimages {
    secret: Digest,
    rounds: u64,
}

impl Preimages {
    /// A chain of `rounds` rounds from 32 random bytes; of [`ROUND_MAX`] if more are asked for.
    pub fn new(secret: [u8; 32], rounds: u64) -> Self {
        Self { secret: Digest::from_bytes(secret), rounds: rounds.min(ROUND_MAX) }
    }

    /// How many rounds it is good for.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// What is published before the first round.
    pub fn anchor(&self) -> Digest {
        hashed(self.secret, self.rounds)
    }

    /// What is revealed in `round`; nothing before the first round and after the last.
    pub fn reveal(&self, round: u64) -> Option<[u8; 32]> {
        let left = self.rounds.checked_sub(round).filter(|_| round > 0)?;
        Some(*hashed(self.secret, left).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parties() -> [Preimages; 3] {
        [1, 2, 3].map(|secret| Preimages::new([secret; 32], 10))
    }

    fn beacon() -> HashChain {
        HashChain::new(parties().map(|party| party.anchor()).to_vec(), None).expect("three anchors")
    }

    fn proof(round: u64) -> Vec<u8> {
        parties().iter().flat_map(|party| party.reveal(round).expect("a round of ten")).collect()
    }

    #[test]
    fn rounds_follow_from_the_anchors() {
        let drawn: Vec<_> =
            (1..=10).map(|round| beacon().verify(round, &proof(round)).expect("it holds")).collect();
        for (i, one) in drawn.iter().enumerate() {
            assert!(!drawn[..i].contains(one), "round {} repeats", i + 1);
        }
        // By hand: the last round reveals the secrets themselves.
        let mut last = [1_u8; 32];
        for other in [Digest::of(&[2; 32]), Digest::of(&[3; 32])] {
            last.iter_mut().zip(other.as_bytes()).for_each(|(byte, other)| *byte ^= other);
        }
        assert_eq!(drawn[9], last);
        assert_eq!((parties()[0].reveal(0), parties()[0].reveal(11)), (None, None));
        assert_eq!(parties()[0].rounds(), 10);
    }

    #[test]
    fn every_preimage_counts() {
        let beacon = beacon();
        let kind = Kind::HashChain;
        for at in 0..96 {
            let mut flipped = proof(4);
            flipped[at] ^= 1;
            assert_eq!(beacon.verify(4, &flipped), Err(BeaconError::Proof { kind, round: 4 }));
        }
        assert_eq!(beacon.verify(5, &proof(4)), Err(BeaconError::Proof { kind, round: 5 }));
        assert_eq!(beacon.verify(0, &proof(4)), Err(BeaconError::NoRound));
        let beyond = ROUND_MAX + 1;
        assert_eq!(beacon.verify(beyond, &proof(4)), Err(BeaconError::BeyondTheChain { round: beyond }));
        for wrong in [&proof(4)[..64], &proof(4)[..95], b""] {
            let bytes = wrong.len();
            assert_eq!(beacon.verify(4, wrong), Err(BeaconError::Length { kind, bytes, wanted: 96 }));
        }
    }

    #[test]
    fn a_party_s_part_is_checked_alone() {
        let (beacon, kind) = (beacon(), Kind::HashChain);
        for (index, party) in parties().iter().enumerate() {
            let part = |round| Digest::from_bytes(party.reveal(round).expect("a round of ten"));
            assert_eq!(beacon.check_part(index, 7, part(7)), Ok(()));
            assert_eq!(rounds_before(part(7), 3), Some(part(4)));
            for beyond in [ROUND_MAX, ROUND_MAX + 1, 1 << 53, u64::MAX] {
                assert_eq!(rounds_before(part(7), beyond), None);
            }
            let wrong = Err(BeaconError::Proof { kind, round: 7 });
            assert_eq!(beacon.check_part(index, 7, part(6)), wrong);
            assert_eq!(beacon.check_part((index + 1) % 3, 7, part(7)), wrong);
            assert_eq!(beacon.check_part(3, 7, part(7)), wrong);
        }
        let beyond = ROUND_MAX + 1;
        assert_eq!(beacon.check_part(0, 0, Digest::of(b"")), Err(BeaconError::NoRound));
        assert_eq!(
            beacon.check_part(0, beyond, Digest::of(b"")),
            Err(BeaconError::BeyondTheChain { round: beyond })
        );
    }

    #[test]
    fn an_operator_alone_is_no_beacon() {
        let [one, two, three] = parties().map(|party| party.anchor());
        let of = |anchors: &[Digest]| HashChain::new(anchors.to_vec(), None);
        assert_eq!(of(&[]), Err(HashChainError::Parties { count: 0 }));
        assert_eq!(of(&[one]), Err(HashChainError::Parties { count: 1 }));
        assert_eq!(of(&[one; 9]), Err(HashChainError::Parties { count: 9 }));
        assert_eq!(of(&[one, two, one]), Err(HashChainError::Twice { index: 2 }));
        assert_ne!(
            of(&[one, two, three]).map(|b| b.chain_hash()),
            of(&[one, three, two]).map(|b| b.chain_hash())
        );
    }
}
