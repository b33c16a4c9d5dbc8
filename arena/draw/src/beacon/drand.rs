use arena_canon::Digest;
use drand_verify::{G2PubkeyRfc, Pubkey};

use super::{Beacon, BeaconError, Kind, Schedule};
use crate::hex;

/// drand's quicknet: a threshold of independent operators signs the number of each round, and one signature
/// is all there can be. The proof is the signature, the randomness its SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrandQuicknet;

/// SHA-256 of the network's description, as it publishes it.
const CHAIN: &str = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";

/// The key of the group, a point of G2.
const PUBLIC_KEY: &str = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c\
    8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca7\
    3bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";

const SIGNATURE_BYTES: usize = 48;

impl Beacon for DrandQuicknet {
    fn kind(&self) -> Kind {
        Kind::DrandQuicknet
    }

    fn chain_hash(&self) -> Digest {
        CHAIN.parse().expect("the constant is a digest")
    }

    fn schedule(&self) -> Option<Schedule> {
        Some(Schedule::QUICKNET)
    }

    fn verify(&self, round: u64, proof: &[u8]) -> Result<[u8; 32], BeaconError> {
        let kind = self.kind();
        if round == 0 {
            return Err(BeaconError::NoRound);
        }
        if proof.len() != SIGNATURE_BYTES {
            return Err(BeaconError::Length { kind, bytes: proof.len(), wanted: SIGNATURE_BYTES });
        }
        // A signature that is no point is no better than one that does not fit.
        match public_key().verify(round, &[], proof) {
            Ok(true) => Ok(*Digest::of(proof).as_bytes()),
            Ok(false) | Err(_) => Err(BeaconError::Proof { kind, round }),
        }
    }
}

fn public_key() -> G2PubkeyRfc {
    let bytes = hex::decode(PUBLIC_KEY).expect("the constant is hexadecimal");
    G2PubkeyRfc::from_variable(&bytes).expect("the constant is a point of G2")
}
