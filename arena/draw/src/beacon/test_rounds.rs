use arena_canon::Digest;

use super::{Beacon, BeaconError, Kind, Schedule, chain_hash};

/// Rounds that anybody can compute, SHA-256 of the round's number: for tests and for trying things out.
/// Only an instance whose name says so may use them, and only [`TestRounds::of`] makes them.
///
/// The proof is empty. The schedule is quicknet's, so that a test has the times of the real thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRounds(());

/// What a name starts with that may use test rounds.
const PREFIX: &str = "test-";

/// Why there are no test rounds for an instance.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotATest {
    /// Its name is not given.
    #[error("a `test` beacon needs the instance's name, to see that it starts with `{PREFIX}`")]
    NoName,
    /// Its name is that of an instance that counts.
    #[error("a `test` beacon is only for instances whose name starts with `{PREFIX}`")]
    Name,
    /// The name is another instance's.
    #[error("the instance is not the SHA-256 of that name")]
    OtherInstance,
}

impl TestRounds {
    /// The rounds, if `name` is the name of `instance` and says that it is a test.
    pub fn of(instance: Digest, name: Option<&str>) -> Result<Self, NotATest> {
        let name = name.ok_or(NotATest::NoName)?;
        if !name.starts_with(PREFIX) {
            return Err(NotATest::Name);
        }
        if Digest::of(name.as_bytes()) != instance {
            return Err(NotATest::OtherInstance);
        }
        Ok(Self(()))
    }

    /// The randomness of `round`.
    pub fn round(round: u64) -> [u8; 32] {
        *Digest::of(&round.to_be_bytes()).as_bytes()
    }
}

impl Beacon for TestRounds {
    fn kind(&self) -> Kind {
        Kind::Test
    }

    fn chain_hash(&self) -> Digest {
        chain_hash(self.kind().name(), b"")
    }

    fn schedule(&self) -> Option<Schedule> {
        Some(Schedule::QUICKNET)
    }

    fn verify(&self, round: u64, proof: &[u8]) -> Result<[u8; 32], BeaconError> {
        if round == 0 {
            return Err(BeaconError::NoRound);
        }
        if !proof.is_empty() {
            return Err(BeaconError::Length { kind: self.kind(), bytes: proof.len(), wanted: 0 });
        }
        Ok(Self::round(round))
    }
}
