//! ECVRF-EDWARDS25519-SHA512-TAI (RFC 9381): for each round a key has exactly one output, and a proof of it.

use arena_canon::Digest;
use curve25519_dalek::edwards::CompressedEdwardsY;
use curve25519_dalek::scalar::clamp_integer;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{EdwardsPoint, Scalar};
use sha2::{Digest as _, Sha512};

use super::{Beacon, BeaconError, Kind, Schedule, chain_hash};

/// An operator's key that was published before anything was drawn. The operator cannot choose a round's
/// output, only withhold it, and that shows.
///
/// The input of round `r` is `lp("ARENA-ECVRF-V1") || u64(r)`; the proof is the 80 bytes of the RFC; the
/// randomness is SHA-256 of its 64-byte output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcvrfOperator {
    public_key: [u8; 32],
    schedule: Option<Schedule>,
}

impl EcvrfOperator {
    /// The beacon of a public key. Its schedule, where it has one, is the installation's.
    pub fn new(public_key: [u8; 32], schedule: Option<Schedule>) -> Self {
        Self { public_key, schedule }
    }

    pub(super) fn without_schedule(self) -> Self {
        Self { schedule: None, ..self }
    }

    /// The key.
    pub fn public_key(&self) -> &[u8; 32] {
        &self.public_key
    }
}

impl Beacon for EcvrfOperator {
    fn kind(&self) -> Kind {
        Kind::EcvrfOperator
    }

    fn chain_hash(&self) -> Digest {
        chain_hash(self.kind().name(), &self.public_key)
    }

    fn schedule(&self) -> Option<Schedule> {
        self.schedule
    }

    fn verify(&self, round: u64, proof: &[u8]) -> Result<[u8; 32], BeaconError> {
        let kind = self.kind();
        if round == 0 {
            return Err(BeaconError::NoRound);
        }
        let Ok(proof) = <&[u8; PROOF_BYTES]>::try_from(proof) else {
            return Err(BeaconError::Length { kind, bytes: proof.len(), wanted: PROOF_BYTES });
        };
        let key = point(&self.public_key).filter(|key| !key.is_small_order()).ok_or(BeaconError::Key)?;
        let output = verify(&self.public_key, &key, &input(round), proof);
        output.map(|output| *Digest::of(&output).as_bytes()).ok_or(BeaconError::Proof { kind, round })
    }
}

fn input(round: u64) -> Vec<u8> {
    const LABEL: &[u8] = b"ARENA-ECVRF-V1";
    [&(LABEL.len() as u32).to_be_bytes(), LABEL, &round.to_be_bytes()].concat()
}

/// The key an operator keeps, as it makes proofs.
pub struct OperatorKey {
    secret: Scalar,
    nonce_prefix: [u8; 32],
    public: [u8; 32],
}

impl OperatorKey {
    /// The key of 32 random bytes, as an Ed25519 key is made.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let [low, high] = halves(Sha512::digest(seed).into());
        // Reduced by the group's order: every point it multiplies is of that order.
        let secret = Scalar::from_bytes_mod_order(clamp_integer(low));
        let public = EdwardsPoint::mul_base(&secret).compress().to_bytes();
        Self { secret, nonce_prefix: high, public }
    }

    /// What is published.
    pub fn public_key(&self) -> [u8; 32] {
        self.public
    }

    /// The proof of `round`.
    pub fn prove(&self, round: u64) -> [u8; 80] {
        self.prove_input(&input(round))
    }

    fn prove_input(&self, input: &[u8]) -> [u8; PROOF_BYTES] {
        let hashed = hash_to_curve(&self.public, input);
        let gamma = self.secret * hashed;
        let nonce = sha512(&[&self.nonce_prefix, hashed.compress().as_bytes()]);
        let nonce = Scalar::from_bytes_mod_order_wide(&nonce);
        let points = [hashed, gamma, EdwardsPoint::mul_base(&nonce), nonce * hashed];
        let c = challenge(&self.public, points);
        let s = nonce + scalar(&c) * self.secret;
        let mut proof = [0; PROOF_BYTES];
        proof[..32].copy_from_slice(gamma.compress().as_bytes());
        proof[32..48].copy_from_slice(&c);
        proof[48..].copy_from_slice(s.as_bytes());
        proof
    }
}

const PROOF_BYTES: usize = 80;
const CHALLENGE_BYTES: usize = 16;
const SUITE: u8 = 3;

/// The output for `input`, if `proof` holds. `key` is the point of `public`, and no point of small order.
fn verify(
    public: &[u8; 32],
    key: &EdwardsPoint,
    input: &[u8],
    proof: &[u8; PROOF_BYTES],
) -> Option<[u8; 64]> {
    let (gamma, rest) = proof.split_first_chunk::<32>()?;
    let (c, s) = rest.split_first_chunk::<CHALLENGE_BYTES>()?;
    let gamma = point(gamma)?;
    // One spelling of each number, or there would be two proofs of one output.
    let s = Option::<Scalar>::from(Scalar::from_canonical_bytes(s.try_into().ok()?))?;
    let minus_c = -scalar(c);
    let hashed = hash_to_curve(public, input);
    let u = EdwardsPoint::vartime_double_scalar_mul_basepoint(&minus_c, key, &s);
    let v = s * hashed + minus_c * gamma;
    (challenge(public, [hashed, gamma, u, v]) == *c).then(|| output(&gamma))
}

fn output(gamma: &EdwardsPoint) -> [u8; 64] {
    sha512(&[&[SUITE, 3], gamma.mul_by_cofactor().compress().as_bytes(), &[0]])
}

/// Try and increment: the first hash that is a point, cleared of its cofactor.
fn hash_to_curve(public: &[u8; 32], input: &[u8]) -> EdwardsPoint {
    let candidate = |attempt: u8| {
        let [low, _] = halves(sha512(&[&[SUITE, 1], public, input, &[attempt, 0]]));
        point(&low).map(|point| point.mul_by_cofactor()).filter(|point| !point.is_identity())
    };
    (0..=u8::MAX).find_map(candidate).expect("each of 256 hashes is a point with even odds")
}

fn challenge(public: &[u8; 32], points: [EdwardsPoint; 4]) -> [u8; CHALLENGE_BYTES] {
    let [hashed, gamma, u, v] = points.map(|point| point.compress().to_bytes());
    let hash = sha512(&[&[SUITE, 2], public, &hashed, &gamma, &u, &v, &[0]]);
    hash.first_chunk().copied().expect("64 bytes begin with 16")
}

/// The point that `bytes` spell, if they spell it as RFC 8032 does.
fn point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    // Decompression alone takes a coordinate beyond the field's size, too.
    CompressedEdwardsY(*bytes).decompress().filter(|point| point.compress().as_bytes() == bytes)
}

fn scalar(challenge: &[u8; CHALLENGE_BYTES]) -> Scalar {
    Scalar::from(u128::from_le_bytes(*challenge))
}

fn sha512(parts: &[&[u8]]) -> [u8; 64] {
    parts.iter().fold(Sha512::new(), |hasher, part| hasher.chain_update(part)).finalize().into()
}

fn halves(bytes: [u8; 64]) -> [[u8; 32]; 2] {
    [0, 32].map(|at| bytes[at..at + 32].try_into().expect("half of 64 is 32"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// RFC 9381, appendix B.3: secret key, public key, input, proof, output.
    const RFC: [[&str; 5]; 3] = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d97\
             27d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805",
            "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff66b71dda49d2de59d03450451af02679\
             8e8f81cd2e333de5cdf4f3e140fdd8ae",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465\
             301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02",
            "eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb5e33821bc613efb94db5e5b54c70a848\
             a0bef4553a41befc57663b56373a5031",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0\
             e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e",
            "645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c452118fec1219202a0edcf038bb6373241\
             578be7217ba85a2687f7a0310b2df19f",
        ],
    ];

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        hex::decode(text).expect("hexadecimal").try_into().expect("of that length")
    }

    #[test]
    fn the_vectors_of_the_rfc() {
        for [secret, public, input, proof, wanted] in RFC {
            let key = OperatorKey::from_seed(&bytes(secret));
            assert_eq!(hex::encode(&key.public_key()), public);
            let input = hex::decode(input).expect("hexadecimal");
            assert_eq!(hex::encode(&key.prove_input(&input)), proof);
            let point = point(&bytes(public)).expect("a point");
            let found = verify(&bytes(public), &point, &input, &bytes(proof));
            assert_eq!(found.map(|output| hex::encode(&output)).as_deref(), Some(wanted));
            assert_eq!(verify(&bytes(public), &point, b"another", &bytes(proof)), None);
        }
    }

    #[test]
    fn no_other_proof_is_taken() {
        let key = OperatorKey::from_seed(&[7; 32]);
        let beacon = EcvrfOperator::new(key.public_key(), None);
        let proof = key.prove(5);
        assert!(beacon.verify(5, &proof).is_ok());
        assert_eq!(beacon.verify(6, &proof), Err(BeaconError::Proof { kind: Kind::EcvrfOperator, round: 6 }));
        assert_eq!(beacon.verify(0, &proof), Err(BeaconError::NoRound));
        assert!(beacon.verify(5, &proof[..79]).is_err());
        for bit in (0..proof.len() * 8).step_by(5) {
            let mut flipped = proof;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(beacon.verify(5, &flipped).is_err(), "bit {bit}");
        }
        let other = EcvrfOperator::new(OperatorKey::from_seed(&[8; 32]).public_key(), None);
        assert!(other.verify(5, &proof).is_err());
    }

    /// The same number written with the group's order added: as good a proof to whoever reduces it.
    #[test]
    fn a_number_has_one_spelling() {
        const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
        let key = OperatorKey::from_seed(&[7; 32]);
        let mut proof = key.prove(5);
        let mut carry = 0;
        for (byte, more) in proof[48..].iter_mut().zip(bytes::<32>(ORDER)) {
            let sum = u16::from(*byte) + u16::from(more) + carry;
            (*byte, carry) = (sum as u8, sum >> 8);
        }
        assert_eq!(carry, 0, "it fits");
        assert!(EcvrfOperator::new(key.public_key(), None).verify(5, &proof).is_err());
    }

    /// Keys of small order prove every output, and keys have one spelling as well.
    #[test]
    fn keys_that_prove_everything_are_refused() {
        let proof = OperatorKey::from_seed(&[7; 32]).prove(1);
        for key in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            // The identity again, with the size of the field added; and with a sign that zero does not have.
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0100000000000000000000000000000000000000000000000000000000000080",
            // No point at all.
            "0200000000000000000000000000000000000000000000000000000000000000",
        ] {
            let beacon = EcvrfOperator::new(bytes(key), None);
            assert_eq!(beacon.verify(1, &proof), Err(BeaconError::Key), "{key}");
        }
    }
}
