//! What is written is read again, and what cannot be is refused.

use super::*;

fn chain() -> Source {
    let anchors = vec![Digest::of(b"a"), Digest::of(b"b")];
    Source::HashChain(HashChain::new(anchors, None).expect("two anchors"))
}

fn parties(stake: &str, rounds: Option<u64>) -> Vec<Party> {
    let party = |(agent, stake): (&str, &str)| Party {
        agent: agent.to_owned(),
        stake: stake.parse().expect("an amount"),
        rounds,
    };
    [("ops", "6000"), ("dan", stake)].map(party).to_vec()
}

#[test]
fn a_beacon_and_its_parties_are_read_as_they_were_written() {
    let vrf = Source::EcvrfOperator(EcvrfOperator::new([7; 32], Some(Schedule::QUICKNET)));
    for source in [Source::DrandQuicknet, Source::Test, vrf, chain()] {
        assert_eq!(read_beacon(&beacon_json(&source, &[])), Ok(source.clone()));
        assert_eq!(read_parties(&beacon_json(&source, &[]), &source), Ok(Vec::new()));
    }
    // One that tells no rounds is one from before they were told.
    for rounds in [None, Some(1), Some(ROUND_MAX)] {
        let written = beacon_json(&chain(), &parties("7000", rounds));
        assert_eq!(read_beacon(&written), Ok(chain()));
        assert_eq!(read_parties(&written, &chain()), Ok(parties("7000", rounds)));
    }
    for wrong in [
        json!("dice"),
        json!({ "kind": "ecvrf-operator" }),
        json!({ "kind": "hashchain" }),
        json!({ "kind": "hashchain", "anchors": [Digest::of(b"a")] }),
        json!({ "kind": "hashchain", "anchors": [Digest::of(b"a"), "b"] }),
        json!(3),
        Value::Null,
    ] {
        assert!(read_beacon(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn there_is_one_party_for_each_anchor_with_enough_to_lose() {
    let party = |agent: &str, stake: &str| json!({ "agent": agent, "stake": stake });
    for wrong in [
        json!([]),
        json!([party("a", "6000")]),
        json!([party("a", "6000"), party("a", "6000")]),
        json!([party("a", "6000"), party("b", "6000"), party("c", "6000")]),
        json!([party("a", "6000"), { "agent": "b", "stake": 6000 }]),
        json!([party("a", "6000"), { "agent": "b", "stake": "6000", "rounds": 0 }]),
        json!([party("a", "6000"), { "agent": "b", "stake": "6000", "rounds": 1_000_001 }]),
        json!([party("a", "6000"), { "agent": "b", "stake": "6000", "rounds": "50" }]),
        json!("a"),
    ] {
        assert!(read_parties(&json!({ "parties": wrong }), &chain()).is_err(), "{wrong}");
    }
    let on_test = read_parties(&json!({ "parties": [party("a", "6000")] }), &Source::Test);
    assert_eq!(on_test, Err(FoundingError::NoParties(Kind::Test)));
    let (plain, staked) = (Params::published(), Params::published_with_parties());
    assert_eq!(check_stakes(&parties("6000", None), &staked), Ok(()));
    assert!(matches!(check_stakes(&parties("5999", None), &staked), Err(FoundingError::Stake { .. })));
    assert_eq!(check_stakes(&parties("6000", None), &plain), Err(FoundingError::NoSlash));
    assert_eq!(check_stakes(&[], &plain), Ok(()));
}

#[test]
fn a_party_is_an_agent_and_nobody_else() {
    let asset = Asset::new("units").expect("an asset");
    let check = |name: &str| {
        let mut parties = parties("6000", None);
        parties[1].agent = name.to_owned();
        check_names(&parties, &asset, "operator")
    };
    assert_eq!(check("dan"), Ok(()));
    assert_eq!(check("operator"), Err(FoundingError::Operator("operator".to_owned())));
    for wrong in ["treasury", "", "a\nb", &"x".repeat(200)] {
        assert!(matches!(check(wrong), Err(FoundingError::Name { .. })), "{wrong:?}");
    }
}
