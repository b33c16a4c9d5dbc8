//! Time that nobody had: whoever runs the instance was away, and nobody could do anything.
//!
//! A folder is there whenever somebody commands it, and nothing of this happens to one. A server that was down says in
//! its journal when it was up again; from then on, whoever owes something has a while for it, whatever the clock says.

use arena_draw::beacon::MARGIN_SECONDS;

use super::world::{Claim, Phase, World};

/// How long whoever owes something has after a start: as long as a role is offered, and no less than a round of the
/// beacon may take, so that who keeps one back pays before the claim ends of it.
fn patience(claim: &Claim) -> u64 {
    let clocks = &claim.params.clocks;
    clocks.accept_s.max(MARGIN_SECONDS.saturating_add(clocks.beacon_s))
}

/// Whether somebody was drawn to audit and has not answered.
fn is_asked(claim: &Claim) -> bool {
    claim.phase == Phase::Committed && claim.audit.auditor.is_some() && !claim.audit.accepted
}

/// Whether anything is under way that a deadline may cost somebody something in. It rests on nothing that is sealed.
pub fn is_waiting(world: &World) -> bool {
    world.claims.values().any(|claim| !claim.phase.is_terminal())
}

/// The instance is up again at a time. No deadline of a claim that is not over comes sooner than a while after it, and
/// none comes sooner than it would have.
pub fn resume(world: &mut World, at: u64) {
    world.resumed_at = world.resumed_at.max(at);
    let soon = |claim: &&Claim| {
        let from = at.saturating_add(patience(claim));
        !claim.phase.is_terminal() && (claim.until < from || is_asked(claim) && claim.audit.until < from)
    };
    let claims: Vec<String> = world.claims.values().filter(soon).map(|claim| claim.id.clone()).collect();
    for id in claims {
        let Some(claim) = world.claims.get_mut(&id) else { continue };
        let from = at.saturating_add(patience(claim));
        claim.until = claim.until.max(from);
        if is_asked(claim) {
            claim.audit.until = claim.audit.until.max(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arena_draw::beacon::Source;
    use arena_ledger::Asset;

    use super::super::event::Event;
    use super::super::evolve::evolve;
    use super::super::world::Instance;
    use super::*;
    use crate::params::Params;

    const AT: u64 = 1_800_000_000;

    fn world() -> World {
        World::new(Instance {
            name: "test-a".to_owned(),
            source: Source::Test,
            params: Arc::new(Params::published()),
            asset: Asset::new("units").unwrap(),
            operator: "operator".to_owned(),
            parties: Vec::new(),
        })
    }

    /// With a claim whose deadline is `left` seconds away from `AT`.
    fn waiting(left: u64) -> World {
        let mut world = world();
        let params = world.params_sha256();
        let manifest = manifest(params);
        let (claim, submitter, job) = ("c1".to_owned(), "sue".to_owned(), params);
        evolve(&mut world, AT - 1, &Event::ClaimListed { claim, submitter, manifest, job, canary: None });
        world.claims.get_mut("c1").unwrap().until = AT + left;
        world
    }

    fn manifest(params: arena_canon::Digest) -> arena_canon::json::Value {
        let zero = "0".repeat(64);
        serde_json::json!({
            "v": "arena-manifest/v1", "title": "a claim", "submitter": "sue",
            "program": { "kind": "experiment", "component": zero }, "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
            "capabilities": ["wasm"], "determinism": "exact", "protocol_params_sha256": params,
        })
    }

    #[test]
    fn a_start_moves_what_would_come_too_soon_and_nothing_else() {
        for (left, moved) in [(0, 1_800), (1_799, 1_800), (1_800, 1_800), (1_801, 1_801)] {
            let mut world = waiting(left);
            assert!(is_waiting(&world));
            resume(&mut world, AT);
            assert_eq!((world.claims["c1"].until, world.resumed_at), (AT + moved, AT), "{left}");
            // Neither the state's own time nor its count of events are touched: it is no event of a claim.
            assert_eq!((world.now, world.seq), (AT - 1, 1));
            // Time never goes back.
            resume(&mut world, AT - 1_000);
            assert_eq!((world.claims["c1"].until, world.resumed_at), (AT + moved, AT), "{left}");
        }
    }

    #[test]
    fn who_was_asked_to_audit_has_a_while_to_answer_and_nobody_else_waits_for_it() {
        for (auditor, accepted, until) in
            [(Some("amy"), false, AT + 1_800), (Some("amy"), true, AT + 5), (None, false, AT + 5)]
        {
            let mut world = waiting(86_400);
            let claim = world.claims.get_mut("c1").unwrap();
            claim.phase = Phase::Committed;
            claim.audit.auditor = auditor.map(str::to_owned);
            (claim.audit.accepted, claim.audit.until) = (accepted, AT + 5);
            resume(&mut world, AT);
            let claim = &world.claims["c1"];
            assert_eq!((claim.audit.until, claim.until), (until, AT + 86_400), "{auditor:?} {accepted}");
        }
    }

    #[test]
    fn what_is_over_stays_so() {
        let mut world = waiting(0);
        let claim = world.claims.get_mut("c1").unwrap();
        (claim.phase, claim.until) = (Phase::Settled(crate::record::Outcome::Reproduced), AT - 5);
        assert!(!is_waiting(&world));
        resume(&mut world, AT);
        assert_eq!(world.claims["c1"].until, AT - 5);
    }
}
