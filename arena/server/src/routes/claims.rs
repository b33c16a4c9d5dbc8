//! Claims over the API: each command of their life has one route.
//!
//! A run, a panel and a reference are those of a claim's present job and are named as the claim.

mod bodies;
mod listing;
mod log;
mod material;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::life::{self, Seen};
use arena_claims::manifest::{INPUTS_MAX, Input};
use arena_contests::document::Object;
use arena_ledger::Amount;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::body::{Bare, Posted};
use crate::http::paging::Wanted;
use crate::http::versioned::document;
use crate::http::who::Who;
use crate::instance::claims::{self, view};
use crate::instance::{self, Instance};
use crate::problem::Problem;
use bodies::{
    AmountBody, BindBody, CanaryBody, CommitmentBody, DeclineBody, MoneyBody, PreimageBody, ProofBody,
    ReferenceBody, RevealBody, RoundBody, RunBody, VoteBody, one_digest, parsed, proof, read,
};

const CAPABILITIES_MAX: usize = 64;
const RECORDS_MAX: usize = 4;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(list, listing::list_claim))
        .routes(routes!(claim))
        .routes(routes!(fund))
        .routes(routes!(withdraw))
        .routes(routes!(listing::relist))
        .routes(routes!(positions))
        .routes(routes!(draws, commit_draw))
        .routes(routes!(resolve_draw))
        .routes(routes!(tick))
        .routes(routes!(appeal))
        .routes(routes!(reference))
        .routes(routes!(canary))
        .routes(routes!(settlement))
        .routes(routes!(agents, bind))
        .routes(routes!(material::blob, material::put_blob))
        .routes(routes!(material::pinned))
        .routes(routes!(agent))
        .routes(routes!(beacon, show_round))
        .routes(routes!(reveal_round))
        .routes(routes!(assignments))
        .routes(routes!(accept))
        .routes(routes!(decline))
        .routes(routes!(check_inputs))
        .routes(routes!(commit_run))
        .routes(routes!(reveal))
        .routes(routes!(challenge))
        .routes(routes!(vote))
        .routes(routes!(reveal_vote))
        .routes(routes!(deposit))
        .routes(routes!(pay_out))
        .routes(routes!(log::checkpoint))
        .routes(routes!(log::consistency))
        .routes(routes!(log::receipt))
}

async fn send(
    app: &Shared,
    (who, arrival): (Who, Arrival),
    command: claims::Command,
    slot: Option<arena_store::Slot>,
) -> Result<Response, Problem> {
    let command = instance::Command::Claims(command);
    Ok(app.execute(who.viewer, arrival.at, command, slot).await?.into_response())
}

/// Looks at the world of claims.
fn look<T>(
    app: &Shared,
    look: impl FnOnce(&Instance, &life::World) -> Result<T, Problem>,
) -> Result<T, Problem> {
    app.look(|instance| look(instance, instance.claims.world(app.known())))?
}

/// All claims, in the order in which they were listed.
#[utoipa::path(
    get, path = "/api/v1/claims", tag = "claims",
    params(("status" = Option<String>, Query, pattern = "^[a-z]{1,16}$"),
           ("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "One page of them"))
)]
async fn list(State(app): State<Shared>, headers: HeaderMap, wanted: Wanted) -> Result<Response, Problem> {
    wanted.only(&["status"])?;
    let status = super::query::word(&wanted, "status")?;
    look(&app, |_, world| {
        let mut found: Vec<_> = world
            .claims
            .values()
            .filter(|claim| status.is_none_or(|status| claim.phase.name() == status))
            .map(|claim| (view::place_of(claim), claim))
            .collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(wanted.page(&headers, found.into_iter().map(|(place, claim)| (place, view::line(claim)))))
    })
}

/// A claim, as you may see it: what is sealed is in it only for whom it is.
#[utoipa::path(
    get, path = "/api/v1/claims/{claim}", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The claim"))
)]
async fn claim(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        let claim = view::claim_of(world, &id)?;
        Ok(document(&headers, &view::seen(&who.viewer, instance.claims.end_of(claim), world, claim)))
    })
}

/// Adds to a claim's pool.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/fund", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = AmountBody),
    responses((status = 200, description = "It is in the pool"))
)]
async fn fund(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let amount = read(&posted.document, &["amount"], |object, faults| parsed(object, "amount", faults))?;
    let command = claims::Command::Act(life::Command::Fund { claim, amount });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Takes your contributions back from a claim that has not opened.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/withdraw", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "They are yours again"))
)]
async fn withdraw(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), claims::Command::Act(life::Command::Withdraw { claim }), bare.slot).await
}

/// Says that you have a position on the claim in some market. You take no part in it then.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/positions", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "It is known"))
)]
async fn positions(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), claims::Command::Act(life::Command::DeclarePosition { claim }), bare.slot)
        .await
}

/// The draws of a claim: the one that is committed with everybody who may be drawn, and the transcripts, which
/// `arena draw verify` checks. Those of audits follow when the claim is over.
#[utoipa::path(
    get, path = "/api/v1/claims/{claim}/draws", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The draws"))
)]
async fn draws(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        let claim = view::claim_of(world, &id)?;
        Ok(document(&headers, &view::draws(&who.viewer, &instance.claims, world, claim)))
    })
}

/// Commits the draw that the claim waits for, before its round exists.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/draws", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "It is committed"))
)]
async fn commit_draw(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), claims::Command::Act(life::Command::CommitDraw { claim }), bare.slot).await
}

/// Resolves the committed draw with the proof of its round.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/draws/resolve", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = ProofBody),
    responses((status = 200, description = "It is resolved"))
)]
async fn resolve_draw(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let proof = read(&posted.document, &["signature"], proof)?;
    let command = claims::Command::Act(life::Command::ResolveDraw { claim, proof });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Lets time pass for a claim. The platform does it by itself as well.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/tick", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "What was due has happened"))
)]
async fn tick(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), claims::Command::Act(life::Command::Tick { claim }), bare.slot).await
}

/// Asks for the reference against a panel's verdict, for a bond.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/appeal", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The reference is to run it"))
)]
async fn appeal(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), claims::Command::Act(life::Command::Appeal { claim }), bare.slot).await
}

/// Publishes the reference's records; for the operator.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/reference", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = ReferenceBody),
    responses((status = 200, description = "They are published"))
)]
async fn reference(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let records = read(&posted.document, &["records"], |object, faults| {
        object.array("records", RECORDS_MAX, faults).map(<[Value]>::to_vec)
    })?;
    let command = claims::Command::Operate(life::Command::PublishReference { claim, records });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Opens a canary after its end; for the operator.
#[utoipa::path(
    post, path = "/api/v1/claims/{claim}/canary", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = CanaryBody),
    responses((status = 200, description = "It is open"))
)]
async fn canary(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let salt = one_digest(&posted.document, "salt")?;
    let command = claims::Command::Operate(life::Command::OpenCanary { claim, salt });
    send(&app, (who, arrival), command, posted.slot).await
}

/// How a claim ended, with every movement of money.
#[utoipa::path(
    get, path = "/api/v1/claims/{claim}/settlement", tag = "claims",
    params(("claim" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")),
    responses((status = 200, description = "The settlement"))
)]
async fn settlement(
    State(app): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        Ok(document(&headers, &view::settlement(&instance.claims, view::claim_of(world, &id)?)?))
    })
}

/// Agents whose keys are bound.
#[utoipa::path(
    get, path = "/api/v1/claims/agents", tag = "claims",
    params(("limit" = Option<u32>, Query, minimum = 1, maximum = 100),
           ("cursor" = Option<String>, Query, max_length = 256)),
    responses((status = 200, description = "One page of them"))
)]
async fn agents(
    State(app): State<Shared>,
    who: Who,
    headers: HeaderMap,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&[])?;
    look(&app, |_, world| {
        let told = |name: &String| Some((name.clone(), view::agent_json(&who.viewer, world, name)?));
        Ok(wanted.page(&headers, world.agents.keys().filter_map(told)))
    })
}

/// Binds your key, which your records are signed by. It stays.
#[utoipa::path(
    post, path = "/api/v1/claims/agents", tag = "claims", request_body(content = BindBody),
    responses((status = 201, description = "It is bound"))
)]
async fn bind(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["key", "capabilities"], |object, faults| {
        let key = parsed::<Digest>(object, "key", faults);
        let capabilities = object.texts("capabilities", CAPABILITIES_MAX, faults);
        Some(claims::Command::Bind { key: key?, capabilities: capabilities? })
    })?;
    send(&app, (who, arrival), command, posted.slot).await
}

/// An agent whose key is bound. What it has locked for a sealed role counts as free for others.
#[utoipa::path(
    get, path = "/api/v1/claims/agents/{agent}", tag = "claims",
    params(("agent" = String, Path, pattern = "^[a-z0-9][a-z0-9-]{0,63}$")),
    responses((status = 200, description = "The agent"))
)]
async fn agent(
    State(app): State<Shared>,
    Path(id): Path<String>,
    who: Who,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    look(&app, |_, world| {
        let found = view::agent_json(&who.viewer, world, &id);
        let missing = || Problem::new("not_found", "no agent of this name has bound a key");
        Ok(document(&headers, &found.ok_or_else(missing)?))
    })
}

/// What the instance is that records are signed for, its parameters, and the latest round that was shown. Of a hash
/// chain: its parties, what each revealed last, and for them the round that is wanted.
#[utoipa::path(
    get, path = "/api/v1/beacons", tag = "claims",
    responses((status = 200, description = "The instance and its beacon"))
)]
async fn beacon(State(app): State<Shared>, who: Who, headers: HeaderMap) -> Result<Response, Problem> {
    look(&app, |instance, world| {
        Ok(document(&headers, &view::beacon_json(&who.viewer, &instance.claims, world)))
    })
}

/// Shows a round of the beacon. Its signature is checked; draws that wait for it are resolved.
#[utoipa::path(
    post, path = "/api/v1/beacons", tag = "claims", request_body(content = RoundBody),
    responses((status = 200, description = "It is one"))
)]
async fn show_round(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let seen = read(&posted.document, &["round", "signature"], |object, faults| {
        let round = parsed::<u64>(object, "round", faults);
        let proof = proof(object, faults);
        Some(Seen { round: round?, proof: proof? })
    })?;
    send(&app, (who, arrival), claims::Command::Beacon(seen), posted.slot).await
}

/// Reveals what your chain gives in a round, as a party of a hash chain with a stake.
#[utoipa::path(
    post, path = "/api/v1/beacons/preimages", tag = "claims", request_body(content = PreimageBody),
    responses((status = 200, description = "It is one"))
)]
async fn reveal_round(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["round", "preimage"], |object, faults| {
        let round = parsed::<u64>(object, "round", faults);
        let preimage = parsed::<Digest>(object, "preimage", faults);
        Some(life::Command::RevealRound { round: round?, preimage: preimage? })
    })?;
    send(&app, (who, arrival), claims::Command::Act(command), posted.slot).await
}

/// What you were drawn for.
#[utoipa::path(
    get, path = "/api/v1/assignments", tag = "claims",
    responses((status = 200, description = "Your assignments"))
)]
async fn assignments(State(app): State<Shared>, who: Who, headers: HeaderMap) -> Result<Response, Problem> {
    let me = claims::own(&who.viewer)
        .ok_or_else(|| Problem::new("unauthorized", "this needs a key of an agent"))?;
    look(&app, |_, world| {
        let items: Vec<Value> = view::assignments(world, me).map(view::assignment_json).collect();
        Ok(document(&headers, &json!({ "items": items })))
    })
}

/// Accepts an assignment.
#[utoipa::path(
    post, path = "/api/v1/assignments/{assignment}/accept", tag = "claims",
    params(("assignment" = String, Path, pattern = "^c[1-9][0-9]{0,11}-(runner|auditor|reviewer)$")),
    responses((status = 200, description = "It is accepted"))
)]
async fn accept(
    State(app): State<Shared>,
    Path(assignment): Path<String>,
    who: Who,
    arrival: Arrival,
    bare: Bare,
) -> Result<Response, Problem> {
    let command = claims::Command::Answer { assignment, accepts: true, reason: None };
    send(&app, (who, arrival), command, bare.slot).await
}

/// Declines an assignment before anything is committed.
#[utoipa::path(
    post, path = "/api/v1/assignments/{assignment}/decline", tag = "claims",
    params(("assignment" = String, Path, pattern = "^c[1-9][0-9]{0,11}-(runner|auditor|reviewer)$")),
    request_body(content = DeclineBody),
    responses((status = 200, description = "It is declined"))
)]
async fn decline(
    State(app): State<Shared>,
    Path(assignment): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let reason = read(&posted.document, &["reason"], |object, faults| {
        Some(object.optional_text("reason", faults).map(str::to_owned))
    })?;
    let command = claims::Command::Answer { assignment, accepts: false, reason };
    send(&app, (who, arrival), command, posted.slot).await
}

/// Starts your run: says what the pinned inputs are. A mismatch ends the claim.
#[utoipa::path(
    post, path = "/api/v1/runs", tag = "claims", request_body(content = RunBody),
    responses((status = 200, description = "They are checked"))
)]
async fn check_inputs(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["claim", "inputs"], |object, faults| {
        let claim = object.text("claim", faults).map(str::to_owned);
        let inputs = object.array("inputs", INPUTS_MAX, faults);
        let found = inputs.map(|inputs| {
            inputs
                .iter()
                .enumerate()
                .filter_map(|(place, value)| {
                    let at = object.at("inputs").index(place);
                    let input = Object::read(value, &at, &["name", "sha256", "bytes"], faults)?;
                    let name = input.text("name", faults).map(str::to_owned);
                    let sha256 = parsed::<Digest>(&input, "sha256", faults);
                    let bytes = parsed::<u64>(&input, "bytes", faults);
                    Some(Input { name: name?, sha256: sha256?, bytes: bytes? })
                })
                .collect::<Vec<_>>()
        });
        Some(life::Command::CheckInputs { claim: claim?, found: found? })
    })?;
    send(&app, (who, arrival), claims::Command::Act(command), posted.slot).await
}

/// Commits your run without showing it.
#[utoipa::path(
    post, path = "/api/v1/runs/{run}/commitment", tag = "claims",
    params(("run" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = CommitmentBody),
    responses((status = 200, description = "It is committed; the window opens"))
)]
async fn commit_run(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let digest = one_digest(&posted.document, "commitment")?;
    let command = claims::Command::Act(life::Command::CommitRun { claim, digest });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Reveals what you committed about this run: the run itself, or your challenge.
#[utoipa::path(
    post, path = "/api/v1/runs/{run}/reveal", tag = "claims",
    params(("run" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = RevealBody),
    responses((status = 200, description = "It is revealed"))
)]
async fn reveal(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["nonce", "envelope"], |object, faults| {
        let nonce = parsed::<Digest>(object, "nonce", faults);
        let envelope = object.required("envelope", faults).cloned();
        Some(life::Command::Reveal { claim, nonce: nonce?, envelope: envelope? })
    })?;
    send(&app, (who, arrival), claims::Command::Act(command), posted.slot).await
}

/// Commits a challenge of the run. Nobody else knows before the window closes.
#[utoipa::path(
    post, path = "/api/v1/runs/{run}/challenges", tag = "claims",
    params(("run" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = CommitmentBody),
    responses((status = 200, description = "It is committed"))
)]
async fn challenge(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let digest = one_digest(&posted.document, "commitment")?;
    let command = claims::Command::Act(life::Command::CommitChallenge { claim, digest });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Commits your vote on a dispute without showing it.
#[utoipa::path(
    post, path = "/api/v1/panels/{panel}/votes", tag = "claims",
    params(("panel" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = CommitmentBody),
    responses((status = 200, description = "It is committed"))
)]
async fn vote(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let digest = one_digest(&posted.document, "commitment")?;
    let command = claims::Command::Act(life::Command::CommitVote { claim, digest });
    send(&app, (who, arrival), command, posted.slot).await
}

/// Reveals your vote.
#[utoipa::path(
    post, path = "/api/v1/panels/{panel}/votes/reveal", tag = "claims",
    params(("panel" = String, Path, pattern = "^c[1-9][0-9]{0,11}$")), request_body(content = VoteBody),
    responses((status = 200, description = "It is revealed"))
)]
async fn reveal_vote(
    State(app): State<Shared>,
    Path(claim): Path<String>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    let command = read(&posted.document, &["nonce", "ballot"], |object, faults| {
        let nonce = parsed::<Digest>(object, "nonce", faults);
        let ballot = object.required("ballot", faults).cloned();
        Some(life::Command::RevealVote { claim, nonce: nonce?, ballot: ballot? })
    })?;
    send(&app, (who, arrival), claims::Command::Act(command), posted.slot).await
}

fn money(body: &Value, is_out: bool) -> Result<claims::Command, Problem> {
    read(body, &["agent", "amount"], |object, faults| {
        let agent = object.text("agent", faults).map(str::to_owned);
        let amount = parsed::<Amount>(object, "amount", faults);
        Some(claims::Command::Money { agent: agent?, amount: amount?, is_out })
    })
}

/// Brings money in for an agent; for the admin.
#[utoipa::path(
    post, path = "/api/v1/deposits", tag = "claims", request_body(content = MoneyBody),
    responses((status = 200, description = "It is the agent's"))
)]
async fn deposit(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), money(&posted.document, false)?, posted.slot).await
}

/// Takes money out for an agent; for the admin.
#[utoipa::path(
    post, path = "/api/v1/payouts", tag = "claims", request_body(content = MoneyBody),
    responses((status = 200, description = "It is paid out"))
)]
async fn pay_out(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    posted: Posted,
) -> Result<Response, Problem> {
    send(&app, (who, arrival), money(&posted.document, true)?, posted.slot).await
}
