use arena_canon::Digest;

use super::{Beacon, BeaconError, DrandQuicknet, Kind, NotATest, Schedule, TestRounds, chain_hash};
use crate::hex;

/// Rounds of quicknet with their signatures and what follows from them.
const ROUNDS: [(u64, &str, &str); 3] = [
    (
        1000,
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
        "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd",
    ),
    (
        123,
        "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
        "fb8f7bc29bf24db51871ec8c79f3a1e4bd0557bc0dfcee9ed1d924e69d1c60dc",
    ),
    (
        657_413,
        "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b",
        "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587",
    ),
];

#[test]
fn signatures_of_quicknet_hold_for_their_round_alone() {
    for (round, signature, randomness) in ROUNDS {
        let signature = hex::decode(signature).expect("hexadecimal");
        let found = DrandQuicknet.verify(round, &signature).map(|bytes| hex::encode(&bytes));
        assert_eq!(found.as_deref(), Ok(randomness));
        let refused = BeaconError::Proof { kind: Kind::DrandQuicknet, round: round + 1 };
        assert_eq!(DrandQuicknet.verify(round + 1, &signature), Err(refused));
    }
}

#[test]
fn what_is_no_signature_is_refused() {
    let (round, signature, _) = ROUNDS[0];
    let signature = hex::decode(signature).expect("hexadecimal");
    assert_eq!(DrandQuicknet.verify(0, &signature), Err(BeaconError::NoRound));
    assert!(DrandQuicknet.verify(round, &signature[..47]).is_err());
    assert!(DrandQuicknet.verify(round, b"").is_err());
    let mut infinity = vec![0; 48];
    infinity[0] = 0xc0;
    // The flags, the sign, the coordinate's first and last bits, a point of no subgroup, and the point at
    // infinity.
    for (at, bit) in [(0, 0x80), (0, 0x40), (0, 0x20), (0, 0x10), (1, 1), (47, 1)] {
        let mut flipped = signature.clone();
        flipped[at] ^= bit;
        assert!(DrandQuicknet.verify(round, &flipped).is_err(), "byte {at}, bit {bit:#x}");
    }
    assert!(DrandQuicknet.verify(round, &infinity).is_err());
    assert!(DrandQuicknet.verify(round, &[0xff; 48]).is_err());
}

#[test]
fn rounds_and_their_times() {
    for (seconds, round) in [
        (1_776_643_200, 27_946_612),
        (1_776_643_201, 27_946_613),
        (1_692_803_367, 1),
        (1_692_803_368, 2),
        (1_692_803_370, 2),
        (1_692_803_371, 3),
        (0, 1),
    ] {
        assert_eq!(DrandQuicknet.round_for(seconds), Some(round), "{seconds}");
    }
    assert_eq!(DrandQuicknet.time_of(1), Some(1_692_803_367));
    assert_eq!(DrandQuicknet.time_of(0), None);
    assert_eq!(DrandQuicknet.time_of(u64::MAX), None);
    // The margin: ten rounds of three seconds.
    assert_eq!(DrandQuicknet.round_for_commit(1_776_643_200), Some(27_946_622));
    assert_eq!(DrandQuicknet.round_for_commit(u64::MAX), None);
}

#[test]
fn the_round_of_a_time_is_the_first_one_due() {
    let schedule = Schedule::QUICKNET;
    for seconds in schedule.genesis..schedule.genesis + 1_000 {
        let round = schedule.round_for(seconds);
        assert!(schedule.time_of(round).is_some_and(|due| due >= seconds));
        assert!(round == 1 || schedule.time_of(round - 1).is_some_and(|due| due < seconds));
    }
    assert_eq!(schedule.round_for(u64::MAX), (u64::MAX - schedule.genesis).div_ceil(3) + 1);
}

#[test]
fn test_rounds_are_for_tests() {
    let instance = |name: &str| Digest::of(name.as_bytes());
    let rounds = TestRounds::of(instance("test-one"), Some("test-one")).expect("its name says so");
    assert_eq!(rounds.verify(1000, b""), Ok(*Digest::of(&1000_u64.to_be_bytes()).as_bytes()));
    assert_eq!(rounds.verify(0, b""), Err(BeaconError::NoRound));
    assert!(rounds.verify(1000, b"x").is_err());
    assert_eq!(TestRounds::of(instance("test-one"), None), Err(NotATest::NoName));
    assert_eq!(TestRounds::of(instance("one"), Some("one")), Err(NotATest::Name));
    assert_eq!(TestRounds::of(instance("latest-one"), Some("latest-one")), Err(NotATest::Name));
    assert_eq!(TestRounds::of(instance("one"), Some("test-one")), Err(NotATest::OtherInstance));
}

#[test]
fn kinds_and_keys_are_told_apart() {
    let by_hand = Digest::of(b"\0\0\0\x0fARENA-BEACON-V1\0\0\0\x06secret\0\0\0\0");
    assert_eq!(chain_hash("secret", b""), by_hand);
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    assert!("secret".parse::<Kind>().is_err());
}
