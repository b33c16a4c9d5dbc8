use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_engine::campus::read_actions;

use super::*;
use crate::auth::Scopes;
use crate::play::Shelf;

const SPIKES: &[u8] = include_bytes!("../../../../../scenarios/two-spikes.json");

fn known(packs: &[Vec<u8>]) -> Known {
    let scanner = Scanner::new(&[], MARKERS).unwrap();
    Known {
        registry: Registry::v2().clone(),
        scanner,
        packs: Shelf::read(packs).unwrap(),
        claims: crate::instance::claims::Genesis::new("arena", false).unwrap(),
        log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
    }
}

fn viewer(agent: &str) -> Viewer {
    Viewer::Agent { id: agent.to_owned(), operator: agent.to_owned(), scopes: Scopes::from([Scope::Play]) }
}

/// Carries a command out, as the keeper does.
fn carry_out(
    instance: &mut Instance,
    known: &Known,
    agent: &str,
    command: Command,
) -> Result<Vec<Row>, Problem> {
    let command = super::super::Command::Episodes(command);
    let at = Moment::from_unix_ms(1_796_000_000_000);
    let request = Request { at, by: viewer(agent), luck: [7; 64], command };
    let decision = instance.decide(&request, known)?;
    for row in &decision.rows {
        instance.evolve(row, known).unwrap();
    }
    Ok(decision.rows)
}

fn join(instance: &mut Instance, known: &Known, agent: &str) -> Vec<Row> {
    let command = Command::Join { pack: "two-spikes".to_owned(), version: "0.1.0".to_owned() };
    carry_out(instance, known, agent, command).unwrap()
}

fn act(
    instance: &mut Instance,
    known: &Known,
    agent: &str,
    episode: &str,
    turn: u32,
) -> Result<Vec<Row>, Problem> {
    let action = read_actions(&json!([{ "curtail_mw": 1.25, "battery_mw": null }]), 1).unwrap()[0];
    let command = Command::Act { episode: episode.to_owned(), turn, action, end: None };
    carry_out(instance, known, agent, command)
}

#[test]
fn an_id_has_one_spelling() {
    assert_eq!(number_of("e1"), Some(1));
    assert_eq!(number_of("e999999999999"), Some(999_999_999_999));
    for wrong in ["", "e", "e0", "e01", "1", "e+1", "E1", "e1 ", "e1000000000000", "e-1"] {
        assert_eq!(number_of(wrong), None, "{wrong}");
    }
}

#[test]
fn seats_are_bounded_and_one_that_went_is_made_again_as_it_was() {
    let known = known(&[SPIKES.to_vec()]);
    let mut instance = Instance::default();
    join(&mut instance, &known, "first");
    for turn in 0..3 {
        act(&mut instance, &known, "first", "e1", turn).unwrap();
    }
    let before = instance.episodes.all[&1].seat().unwrap().clone();
    for n in 0..SEATS_MAX + 10 {
        join(&mut instance, &known, &format!("agent-{}", n / OPEN_MAX));
    }
    let kept = instance.episodes.all.values().filter(|record| record.seat.is_some()).count();
    assert_eq!((kept, instance.episodes.seats.len()), (SEATS_MAX, SEATS_MAX));
    assert!(instance.episodes.all[&1].seat.is_none());
    act(&mut instance, &known, "first", "e1", 3).unwrap();
    let after = instance.episodes.all[&1].seat().unwrap();
    let mut expected = before;
    expected.commit(instance.episodes.all[&1].actions()[3].action());
    assert_eq!(after.running(), expected.running());
    assert_eq!((after.turn(), expected.turn()), (4, 4));
    let kept = instance.episodes.all.values().filter(|record| record.seat.is_some()).count();
    assert_eq!((kept, instance.episodes.seats.len()), (SEATS_MAX, SEATS_MAX));
}

/// A journal is folded whatever is on the shelf today: what cannot be played any more says so.
#[test]
fn an_episode_outlives_its_pack() {
    let (with, without) = (known(&[SPIKES.to_vec()]), known(&[]));
    let mut instance = Instance::default();
    let mut rows = join(&mut instance, &with, "bees");
    for turn in 0..3 {
        rows.extend(act(&mut instance, &with, "bees", "e1", turn).unwrap());
    }
    let mut later = Instance::default();
    for row in &rows {
        later.evolve(row, &without).unwrap();
    }
    let record = later.episodes.seen(&viewer("bees"), "e1").unwrap();
    assert_eq!(record.to_json(), instance.episodes.all[&1].to_json());
    assert_eq!(pack_of(record, &without).unwrap_err().code(), "conflict");
    // Back on the shelf, it goes on.
    act(&mut later, &with, "bees", "e1", 3).unwrap();
    act(&mut instance, &with, "bees", "e1", 3).unwrap();
    let seat = |instance: &Instance| instance.episodes.all[&1].seat().unwrap().running();
    assert_eq!(seat(&later), seat(&instance));
}

#[test]
fn an_episode_of_another_engine_is_not_played_on() {
    let known = known(&[SPIKES.to_vec()]);
    let mut instance = Instance::default();
    let mut fact = join(&mut instance, &known, "bees").remove(0);
    fact.body["pins"]["engine_version"] = json!("0");
    let mut old = Instance::default();
    old.evolve(&fact, &known).unwrap();
    let refused = pack_of(old.episodes.seen(&viewer("bees"), "e1").unwrap(), &known).unwrap_err();
    assert!(refused.detail().contains("engine 0"), "{}", refused.detail());
}

#[test]
fn rows_that_do_not_fit_are_told() {
    let known = known(&[SPIKES.to_vec()]);
    let mut instance = Instance::default();
    let joined = join(&mut instance, &known, "bees").remove(0);
    assert!(instance.evolve(&joined, &known).unwrap_err().contains("has begun already"));
    let acted = act(&mut instance, &known, "bees", "e1", 0).unwrap().remove(0);
    assert!(instance.evolve(&acted, &known).unwrap_err().contains("not the one to play"));
    let outcome = |end: Option<Outcome>, turn: u32| Command::Act {
        episode: "e1".to_owned(),
        turn,
        action: RawAction::default(),
        end,
    };
    let end = Outcome {
        log_sha256: Digest::of(b"log"),
        log_bytes: 3,
        stars: 3,
        metrics: [Measured { id: MetricId::CostUsdPerMwh, value: None }; 2],
        clamps: 0,
    };
    // The outcome belongs to the last turn, and to no other.
    let refused = carry_out(&mut instance, &known, "bees", outcome(Some(end), 1)).unwrap_err();
    assert_eq!(refused.code(), "conflict");
    for turn in 1..23 {
        act(&mut instance, &known, "bees", "e1", turn).unwrap();
    }
    assert_eq!(carry_out(&mut instance, &known, "bees", outcome(None, 23)).unwrap_err().code(), "conflict");
}

/// What a row has of an action is what was given: also what was left out, and what was said to be nothing.
#[test]
fn an_action_is_read_from_its_row_as_it_was_given() {
    let number = |value: u8| {
        [None, Some(json!(null)), Some(json!(-1.25)), Some(json!(3)), Some(json!(1e300))][usize::from(value)]
            .clone()
    };
    let yes = |value: u8| {
        [None, Some(json!(null)), Some(json!(true)), Some(json!(false)), None][usize::from(value)].clone()
    };
    for n in 0..5_u32.pow(4) {
        let [a, b, c, d] = [1, 5, 25, 125].map(|place| (n / place % 5) as u8);
        let mut given = serde_json::Map::new();
        for (name, value) in [
            ("curtail_mw", number(a)),
            ("battery_mw", number(b)),
            ("diesel_mw", number(c)),
            ("accept_offer", yes(d)),
        ] {
            value.map(|value| given.insert(name.to_owned(), value));
        }
        let raw = read_actions(&json!([given]), 1).unwrap()[0];
        let body =
            arena_canon::json::canonical_of(&json!({ "episode": 1, "turn": 0, "action": raw, "end": null }));
        let acted: Acted = serde_json::from_slice(&body).unwrap();
        assert_eq!(RawAction::from(acted.action), raw, "{given:?}");
    }
    for wrong in [json!({ "curtail_mw": "1" }), json!({ "swap_mw": 1 }), json!({ "accept_offer": 1 })] {
        let body = json!({ "episode": 1, "turn": 0, "action": wrong, "end": null });
        assert!(serde_json::from_value::<Acted>(body).is_err(), "{wrong}");
    }
}

/// A start leaves the seats, and whoever acts then has the one that was never left.
#[test]
fn a_start_without_seats_comes_to_the_same() {
    let known = known(&[SPIKES.to_vec()]);
    let mut instance = Instance::default();
    let mut rows = join(&mut instance, &known, "bees");
    rows.extend(join(&mut instance, &known, "cedar"));
    for turn in 0..5 {
        rows.extend(act(&mut instance, &known, "bees", "e1", turn).unwrap());
    }
    let events: Vec<Event> = (1..)
        .zip(&rows)
        .map(|(seq, row)| Event {
            seq,
            at_ms: u64::try_from(row.at.unix_ms()).unwrap(),
            topic: row.topic.clone(),
            kind: row.kind.clone(),
            version: row.version,
            body: arena_canon::json::canonical_of(&row.body),
            salt: None,
            content_sha256: Digest::of(b""),
            prev: Digest::of(b""),
            hash: Digest::of(b""),
        })
        .collect();
    let fold = |seats| {
        let mut instance = Instance::default();
        for event in events.iter().filter(|event| is_fact(&event.kind)) {
            read(&mut instance, Moment::from_unix_ms(event.at_ms as i64), event, &known, seats).unwrap();
        }
        instance
    };
    let [kept, mut left] = [Seats::Kept, Seats::Left].map(fold);
    let all = |instance: &Instance| format!("{:?}", instance.episodes.without_seats());
    assert_eq!((all(&kept), all(&left)), (all(&instance), all(&instance)));
    assert!(kept.episodes.all.values().all(|record| record.seat.is_some()));
    assert!(left.episodes.all.values().all(|record| record.seat.is_none()) && left.episodes.seats.is_empty());
    act(&mut left, &known, "bees", "e1", 5).unwrap();
    act(&mut instance, &known, "bees", "e1", 5).unwrap();
    let seat = |instance: &Instance| instance.episodes.all[&1].seat().unwrap().running();
    assert_eq!(seat(&left), seat(&instance));
    // A fact that does not fit is told with or without.
    let again = &events[0];
    assert!(read(&mut left, Moment::from_unix_ms(0), again, &known, Seats::Left).is_err());
}
