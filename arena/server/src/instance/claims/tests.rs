use arena_canon::json;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};

use super::*;
use crate::auth::Scopes;
use crate::play::Shelf;

fn known() -> Known {
    let claims = Genesis::new("test-rows", true).unwrap();
    let scanner = Scanner::new(&[], MARKERS).unwrap();
    Known { registry: Registry::v2().clone(), scanner, packs: Shelf::read(&[]).unwrap(), claims }
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

fn manifest(submitter: &str, params: Digest) -> Value {
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
