//! A sprint whose first window is judged, so that its page of standings has something to tell.

use std::net::SocketAddr;

use arena_canon::Digest;
use serde_json::{Value, json};

use crate::wire::{ADMIN, Connection, request};
use crate::{Failed, Machine};

pub(crate) const ROUND: &str = "s0-r1";
pub(crate) const COMPANIES: usize = 24;

fn of(what: &str) -> String {
    format!("/api/v1/rounds/{ROUND}/{what}")
}

fn terms() -> Value {
    json!({
        "id": ROUND, "title": "Public Producer Sprint", "start": "2026-07-09T00:00:00Z", "asset": "EXO",
        "entrants_max": COMPANIES, "base_budget_atomic": "200000000", "hold_cap_atomic": "50000000",
        "stake_min_atomic": "1000000", "dispute_stake_atomic": "500000", "stake_policy": "burn",
        "prizes": {
            "placements_atomic": ["60000000", "30000000"], "external_window_atomic": "5000000",
            "hygiene_atomic": "2000000",
        },
        "standings_freeze": false,
    })
}

struct Company {
    name: String,
    key: String,
}

/// Plays it up to the judgements of the first window.
pub(crate) async fn play(address: SocketAddr, machine: &Machine) -> Result<(), Failed> {
    let mut to = Connection::open(address).await?;
    machine.set("2026-07-08T12:00:00Z")?;
    to.call("POST", "/api/v1/rounds", ADMIN, "", &terms()).await?;
    to.call("POST", &of("announce"), ADMIN, "", &Value::Null).await?;
    let mut companies = Vec::new();
    for n in 0..COMPANIES {
        let (name, scopes) = (format!("company-{n}"), ["read", "submit"]);
        companies.push(Company { key: agent(&mut to, &name, &scopes).await?, name });
    }
    let judge = agent(&mut to, "eva", &["read", "judge"]).await?;
    machine.set("2026-07-09T01:00:00Z")?;
    for company in &companies {
        enter(&mut to, company).await?;
    }
    machine.set("2026-07-10T01:00:00Z")?;
    let none = "if-match: \"none\"\r\n";
    for Company { name, key } in &companies {
        let intent = json!({
            "objective": format!("{name} reaches a school"), "planned_artifact_class": "external",
            "declared_posture_exo": "1000", "owner": "the owner", "reviewer": "the reviewer",
        });
        to.call("PUT", &of("windows/W1/intent"), key, none, &intent).await?;
    }
    machine.set("2026-07-10T19:00:00Z")?;
    let mut packages = Vec::new();
    for company in &companies {
        packages.push(publish(&mut to, company).await?);
    }
    machine.set("2026-07-10T20:05:00Z")?;
    for (Company { key, .. }, package) in companies.iter().zip(&packages) {
        to.call("PUT", &of("windows/W1/submission"), key, none, package).await?;
    }
    machine.set("2026-07-10T22:30:00Z")?;
    for Company { name, .. } in &companies {
        let verdict = json!({
            "state": "accepted", "delivery": 60, "evidence": 20, "continuity": 20, "budget": 20, "penalties": [],
            "rationale": "installed and verified",
        });
        let path = format!("/api/v1/submissions/boards:{ROUND}:{name}:W1/judgements");
        to.call("POST", &path, &judge, "", &json!({ "verdict": verdict })).await?;
    }
    Ok(())
}

async fn agent(to: &mut Connection, id: &str, scopes: &[&str]) -> Result<String, Failed> {
    let agent = json!({ "id": id, "operator": format!("op-{id}") });
    to.call("POST", "/api/v1/agents", ADMIN, "", &agent).await?;
    let path = format!("/api/v1/agents/{id}/keys");
    let made = to.call("POST", &path, ADMIN, "", &json!({ "scopes": scopes })).await?;
    Ok(made["key"].as_str().unwrap_or_default().to_owned())
}

async fn enter(to: &mut Connection, Company { name, key }: &Company) -> Result<(), Failed> {
    let person = |role: &str| format!("{name}-{role}");
    let entry = json!({
        "company": name,
        "team": {
            "principal": person("principal"), "engineering_coordinator": person("coordinator"),
            "engineering_owner": person("owner"), "quality_reviewer": person("reviewer"),
            "stewardship": person("steward"),
        },
        "canaries": [format!("canary-{name}-5d2f")],
    });
    to.call("POST", &of("entries"), key, "", &entry).await?;
    let round = to.call("GET", &format!("/api/v1/rounds/{ROUND}"), key, "", &Value::Null).await?;
    let rules = json!({ "rules_sha256": round["rules_sha256"] });
    to.call("POST", &of("entries/me/acknowledgement"), key, "", &rules).await?;
    to.call("POST", &of("entries/me/call"), key, "", &json!({ "hold_cap_atomic": "50000000" })).await?;
    for rail in ["locker", "town", "boards"] {
        let approval = json!({ "company": name, "rail": rail, "agent": name });
        to.call("POST", &of("approvals"), ADMIN, "", &approval).await?;
    }
    let kickoff = json!({
        "objective": format!("{name}: a planner that schools can run by themselves"),
        "profile": format!("{name} builds tools that others can install and verify."),
    });
    to.call("PUT", &of("entries/me/kickoff"), key, "if-match: \"none\"\r\n", &kickoff).await?;
    Ok(())
}

/// Artifact, evidence and post; the package that binds them.
async fn publish(to: &mut Connection, Company { name, key }: &Company) -> Result<Value, Failed> {
    let claim = format!("{name} published a planner that a school installed.");
    let artifact = Digest::of(claim.as_bytes());
    let path = format!("/api/v1/locker/blobs/{artifact}?public_read=true");
    to.exchange(&request("PUT", &path, key, "", &claim)).await?;
    let evidence =
        json!({ "artifact_hash": artifact, "kind": "benchmark", "description": "a run anybody can repeat" });
    let evidence = to.call("POST", "/api/v1/locker/evidence", key, "", &evidence).await?;
    let post = json!({
        "round": ROUND, "kind": "progress", "window": "W1", "body": format!("{claim} Artifact {artifact}."),
    });
    let post = to.call("POST", "/api/v1/town/posts", key, "", &post).await?;
    Ok(json!({
        "window_id": "W1", "intent_stub_ref": format!("intent:{ROUND}:{name}:W1"), "artifact_class": "external",
        "artifact_hash": artifact, "locker_artifact_ref": format!("locker:{artifact}"),
        "locker_evidence_ref": evidence["ref"], "town_post_ref": post["ref"], "claim_summary": claim,
        "verification_summary": "Run the script in the artifact; it prints the numbers.",
        "operator_intervention": "none",
        "budget_impact": { "spent_exo": "900", "declared_posture_exo": "1000", "note": "" },
        "stake_atomic": "1000000",
    }))
}
