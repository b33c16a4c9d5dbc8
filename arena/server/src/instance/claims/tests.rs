use arena_canon::json;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};

use super::*;
use crate::auth::Scopes;
use crate::play::Shelf;

fn known() -> Known {
    known_by(Genesis::new("test-rows", true).unwrap())
}

pub(super) fn known_by(claims: Genesis) -> Known {
    let scanner = Scanner::new(&[], MARKERS).unwrap();
    let log = arena_claims::envelope::SecretKey::from_seed(&[7; 32]);
    Known { registry: Registry::v2().clone(), scanner, packs: Shelf::read(&[]).unwrap(), claims, log }
}

fn request(at: i64, luck: u8) -> Request {
    Request {
        at: arena_contests::Moment::from_unix_ms(at * 1_000),
        by: Viewer::Agent {
            id: "sue".to_owned(),
            operator: "op".to_owned(),
            scopes: Scopes::from(Scope::ALL),
        },
        luck: [luck; 64],
        command: super::super::Command::Tick,
    }
}

pub(super) fn manifest(submitter: &str, params: Digest) -> Value {
    let zero = "0".repeat(64);
    json!({
        "v": "arena-manifest/v1", "title": "a claim", "submitter": submitter,
        "program": { "kind": "experiment", "component": zero }, "inputs": [], "arguments": {},
        "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
            "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }],
        "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
        "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
        "capabilities": ["wasm"], "determinism": "exact", "protocol_params_sha256": params,
    })
}

/// As many agents as there may be, all with the longest names: every row of their draws fits.
#[test]
fn the_draws_of_a_full_instance_fit_into_rows() {
    let known = known();
    let mut instance = Instance::default();
    let start = 1_800_000_000_i64;
    let do_it = |at: i64, by: &str, command: life::Command, instance: &mut Instance| {
        let decision = carry_out(instance, &request(at, 7), by, command, &known).unwrap();
        for row in &decision.rows {
            let bytes = json::canonical(&row.body).len();
            assert!(bytes <= arena_store::BODY_BYTES_MAX, "{} has {bytes} bytes", row.kind);
            instance.evolve(row, &known).unwrap();
        }
    };
    let name = |n: usize| format!("{n:0>64}");
    let mut world = known.claims.world().clone();
    let mut events = Vec::new();
    for n in 0..AGENTS_MAX {
        let seed = Digest::of(&n.to_be_bytes());
        let key = arena_claims::envelope::SecretKey::from_seed(seed.as_bytes()).public();
        let capabilities = vec!["wasm".to_owned()];
        for command in [
            life::Command::Register { operator: format!("o{n:0>63}"), key, capabilities },
            life::Command::Deposit { amount: Amount::new(1_000_000_000_000).unwrap() },
        ] {
            let at = u64::try_from(start).unwrap();
            let stamped = Stamped { at, by: name(n), seen: None, salt: None, command };
            events.extend(life::execute(&mut world, &stamped).unwrap());
        }
    }
    for row in facts(&instance.claims, &request(start, 0), &known, "sue", &events).unwrap() {
        instance.evolve(&row, &known).unwrap();
    }
    let manifest = manifest(&name(0), world.params_sha256());
    let claim = || "c1".to_owned();
    let deposit = Amount::new(4_000).unwrap();
    do_it(
        start + 7_200,
        &name(0),
        life::Command::List { claim: claim(), manifest, deposit, canary: None },
        &mut instance,
    );
    let proof = Vec::new;
    do_it(
        start + 7_300,
        "operator",
        life::Command::ResolveDraw { claim: claim(), proof: proof() },
        &mut instance,
    );
    let runner = instance.claims.world(&known).claims["c1"].runner().unwrap().to_owned();
    for command in [
        life::Command::Accept { claim: claim() },
        life::Command::CheckInputs { claim: claim(), found: Vec::new() },
        life::Command::CommitRun { claim: claim(), digest: Digest::of(b"run") },
    ] {
        do_it(start + 7_400, &runner, command, &mut instance);
    }
    do_it(
        start + 7_500,
        "operator",
        life::Command::ResolveDraw { claim: claim(), proof: proof() },
        &mut instance,
    );
    let found = &instance.claims.world(&known).claims["c1"];
    assert_eq!(found.audit.coin, Some(true), "a first run is audited for certain");
    assert_eq!(found.transcripts.len(), 3);
}

/// What somebody does, folded; `is_old` is by a program that knew no log.
fn happens(
    instance: &mut Instance,
    known: &Known,
    (at, by): (i64, &str),
    command: life::Command,
    is_old: bool,
) {
    let decision = carry_out(instance, &request(at, 7), by, command, known).unwrap();
    for mut row in decision.rows {
        if is_old {
            row.body.as_object_mut().unwrap().remove("log");
        }
        instance.evolve(&row, known).unwrap();
    }
}

/// Ten agents with money, and a claim that waits for the draw of its runner.
fn drawing(known: &Known, is_old: bool) -> Instance {
    let (mut instance, start) = (Instance::default(), 1_800_000_000_i64);
    for n in 0..10 {
        let seed = Digest::of(&[n]);
        let key = arena_claims::envelope::SecretKey::from_seed(seed.as_bytes()).public();
        let (operator, capabilities) = (format!("o{n}"), vec!["wasm".to_owned()]);
        let amount = Amount::new(1_000_000).unwrap();
        for command in
            [life::Command::Register { operator, key, capabilities }, life::Command::Deposit { amount }]
        {
            happens(&mut instance, known, (start, &format!("a{n}")), command, is_old);
        }
    }
    let manifest = manifest("a0", instance.claims.world(known).params_sha256());
    let deposit = Amount::new(4_000).unwrap();
    let list = life::Command::List { claim: "c1".to_owned(), manifest, deposit, canary: None };
    happens(&mut instance, known, (start + 7_200, "a0"), list, is_old);
    instance
}

fn resolved(instance: &mut Instance, known: &Known, is_old: bool) -> Value {
    let command = life::Command::ResolveDraw { claim: "c1".to_owned(), proof: Vec::new() };
    happens(instance, known, (1_800_007_300, "operator"), command, is_old);
    view::draws(
        &Viewer::Anonymous,
        &instance.claims,
        instance.claims.world(known),
        &instance.claims.world(known).claims["c1"],
    )
}

/// A journal from before there was a log goes on with one; what happened before has a leaf that says nothing.
#[test]
fn an_old_journal_goes_on_with_a_log() {
    let known = known();
    let key = known.log.public();
    let mut instance = drawing(&known, true);
    assert_eq!(instance.claims.log().key(), None);
    let draws = resolved(&mut instance, &known, false);
    // The draw was committed before, so it has no log; what is done now is signed.
    assert_eq!((draws["transcripts"][0].get("log"), instance.claims.log().key()), (None, Some(key)));
    let about = instance.claims.log().checkpoint(instance.claims.world(&known), &known);
    assert_eq!(about["size"], instance.claims.world(&known).seq.to_string());
    assert!(instance.claims.log().kept(instance.claims.world(&known), 3).is_none());
    let seq = instance.claims.world(&known).seq;
    assert!(instance.claims.log().kept(instance.claims.world(&known), seq).is_some());
    let mut instance = drawing(&known, false);
    let draws = resolved(&mut instance, &known, false);
    assert!(draws["transcripts"][0]["log"]["checkpoint"].is_string(), "{draws}");
    // A row without a log in between is passed over as well.
    let mut instance = drawing(&known, false);
    let draws = resolved(&mut instance, &known, true);
    assert!(draws["transcripts"][0]["log"]["checkpoint"].is_string(), "{draws}");
    let pay = life::Command::Deposit { amount: Amount::new(1).unwrap() };
    happens(&mut instance, &known, (1_800_007_400, "a3"), pay, false);
    assert!(instance.claims.log().kept(instance.claims.world(&known), seq).is_none());
}

/// A row whose checkpoint is not of the log that follows was not written by these rules.
#[test]
fn a_row_that_was_signed_otherwise_is_not_taken_in() {
    let known = known();
    let mut instance = drawing(&known, false);
    let pay = || life::Command::Deposit { amount: Amount::new(1).unwrap() };
    let at = request(1_800_007_400, 7);
    let decision = carry_out(&instance, &at, "a3", pay(), &known).unwrap();
    for (pointer, value) in [
        ("/log/nonce", json!(Digest::of(b"other"))),
        ("/log/checkpoint", json!("no note")),
        ("/events/0/agent", json!("a4")),
    ] {
        let mut row = decision.rows[0].clone();
        *row.body.pointer_mut(pointer).unwrap() = value;
        assert!(instance.clone().evolve(&row, &known).is_err(), "{pointer}");
    }
    instance.evolve(&decision.rows[0], &known).unwrap();
}
