//! Two claims: one that was run, challenged and found to be reproduced; one that may be challenged now.

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::commitment::{Sealed, commitment, nonce};
use arena_claims::envelope::{Scope, SecretKey, sign};
use arena_claims::manifest::Manifest;
use arena_claims::record::{Place, Record, Role, assemble};
use arena_contests::Moment;
use serde_json::json;

use super::DemoError;
use super::cast::COMPANIES;
use super::stage::{By, Stage, lacks, text};

const SUBMITTER: &str = "bees";
const FUNDERS: [&str; 2] = ["cedar", "delta"];
/// How long a draw waits for the round of the beacon that it named.
const BEACON_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;

/// The signing key of an agent of the demo, which is worth nothing anywhere else.
fn secret(name: &str) -> SecretKey {
    SecretKey::from_seed(Digest::of_parts(&[b"arena demo claims key", name.as_bytes()]).as_bytes())
}

/// Both.
pub(super) async fn both(stage: &Stage) -> Result<(), DemoError> {
    stage.until(stage.time(-7, 8, 0)).await;
    for company in &COMPANIES {
        let bound = json!({ "key": secret(company.name).public(), "capabilities": ["wasm"] });
        stage.post(By::Agent(company.name), "/api/v1/claims/agents", bound).await?;
        let money = json!({ "agent": company.name, "amount": "20000" });
        stage.post(By::Admin, "/api/v1/deposits", money).await?;
    }
    let payout = json!({ "agent": "mosaic", "amount": "2500" });
    stage.post(By::Admin, "/api/v1/payouts", payout).await?;
    reproduced(stage).await?;
    challengeable(stage).await
}

struct Story<'a> {
    stage: &'a Stage,
    claim: String,
    counter: u64,
}

async fn reproduced(stage: &Stage) -> Result<(), DemoError> {
    let about = About {
        title: "The planner saves a tenth of the cost of Two Spikes",
        value: "10.4",
        claim: "10.0",
        tolerance: "0.5",
    };
    let (mut story, runner) = run(stage, stage.time(-6, 9, 0), &about).await?;
    let challenger = story.stranger().await?;
    let later = stage.clock().plus_ms(5 * HOUR_MS);
    stage.until(later).await;
    story.commit(&challenger, Sealed::Challenge, about.value).await?;
    stage.until(later.plus_ms(20 * HOUR_MS)).await;
    story.reveal(&runner, Sealed::Run, about.value).await?;
    stage.until(later.plus_ms(21 * HOUR_MS)).await;
    story.reveal(&challenger, Sealed::Challenge, about.value).await
}

async fn challengeable(stage: &Stage) -> Result<(), DemoError> {
    // So late that its window is open at whatever time of the day this is looked at.
    let begins = stage.end().plus_ms(-6 * HOUR_MS);
    stage.until(begins).await;
    let about = About {
        title: "An episode of Dunkelflaute without a shortfall",
        value: "0.0",
        claim: "0.0",
        tolerance: "0.1",
    };
    run(stage, begins, &about).await.map(drop)
}

/// What is claimed.
struct About {
    title: &'static str,
    value: &'static str,
    claim: &'static str,
    tolerance: &'static str,
}

/// Listed and funded, its runner drawn; who accepts, runs and commits.
async fn run<'a>(stage: &'a Stage, begins: Moment, about: &About) -> Result<(Story<'a>, String), DemoError> {
    stage.until(begins).await;
    let body = json!({ "manifest": manifest(stage, about).await?, "deposit": "500" });
    let listed = stage.post(By::Agent(SUBMITTER), "/api/v1/claims", body).await?;
    let story = Story { stage, claim: text(&listed, "claim")?, counter: 0 };
    for (place, funder) in (1..).zip(FUNDERS) {
        stage.until(begins.plus_ms(place * 20 * 60_000)).await;
        stage.post(By::Agent(funder), &story.of("fund"), json!({ "amount": "1750" })).await?;
    }
    story.resolve().await?;
    let seen = story.seen(By::Agent(SUBMITTER)).await?;
    let runner = text(&seen["run"], "runner")?;
    let accept = format!("/api/v1/assignments/{}-runner/accept", story.claim);
    stage.until(stage.clock().plus_ms(10 * 60_000)).await;
    stage.bare(By::Agent(&runner), &accept).await?;
    stage.post(By::Agent(&runner), "/api/v1/runs", json!({ "claim": story.claim, "inputs": [] })).await?;
    stage.until(stage.clock().plus_ms(7 * 60_000)).await;
    story.commit(&runner, Sealed::Run, about.value).await?;
    story.resolve().await?;
    Ok((story, runner))
}

async fn manifest(stage: &Stage, about: &About) -> Result<Value, DemoError> {
    let params = stage.get(By::Admin, "/api/v1/beacons").await?["params_sha256"].clone();
    let component = Digest::of_parts(&[b"arena demo component", about.title.as_bytes()]);
    Ok(json!({
        "v": "arena-manifest/v1", "title": about.title, "submitter": SUBMITTER,
        "program": { "kind": "experiment", "component": component }, "inputs": [], "arguments": {},
        "metrics": [{
            "name": "result", "kind": "decimal", "scale": 1, "claim": about.claim,
            "claim_tol": { "abs": about.tolerance, "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" },
        }],
        "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
        "engine": { "wasmtime": "48.0.8", "config_sha256": "0".repeat(64) },
        "capabilities": ["wasm"], "determinism": "exact", "protocol_params_sha256": params,
    }))
}

impl Story<'_> {
    fn of(&self, what: &str) -> String {
        format!("/api/v1/claims/{}/{what}", self.claim)
    }

    async fn seen(&self, by: By<'_>) -> Result<Value, DemoError> {
        self.stage.get(by, &format!("/api/v1/claims/{}", self.claim)).await
    }

    /// Waits for the round of the committed draw, and shows it.
    async fn resolve(&self) -> Result<(), DemoError> {
        self.stage.until(self.stage.clock().plus_ms(BEACON_MS)).await;
        let proof = json!({ "signature": "" });
        self.stage.post(By::Agent("lantern"), &self.of("draws/resolve"), proof).await.map(drop)
    }

    /// Somebody who has no part in it yet.
    async fn stranger(&self) -> Result<String, DemoError> {
        for company in &COMPANIES {
            if self.seen(By::Agent(company.name)).await?["you"]["part"].is_null() {
                return Ok(company.name.to_owned());
            }
        }
        Err(lacks("agent without a part"))
    }

    async fn record(&self, name: &str, role: Role, value: &str) -> Result<Record, DemoError> {
        let seen = self.seen(By::Agent(name)).await?;
        let manifest = Manifest::read(seen["manifest"].clone()).map_err(|why| lacks(&why.to_string()))?;
        let (operator, job) = (format!("op-{name}"), digest(&seen["job"])?);
        let place =
            Place { claim: &self.claim, job, role, agent: name, operator: &operator, manifest: &manifest };
        let results = json!({
            "metrics": [{ "name": "result", "kind": "decimal", "value": value }], "fuel": "734118",
            "log_sha256": Digest::of_parts(&[b"arena demo log", self.claim.as_bytes()]),
        });
        assemble(&place, &results).map_err(|why| lacks(&why.to_string()))
    }

    async fn nonce(&self, name: &str, kind: Sealed) -> Result<(Digest, Digest), DemoError> {
        let job = digest(&self.seen(By::Agent(name)).await?["job"])?;
        Ok((job, nonce(&secret(name).seed(), job, kind)))
    }

    async fn commit(&self, name: &str, kind: Sealed, value: &str) -> Result<(), DemoError> {
        let (role, what) = match kind {
            Sealed::Run => (Role::Runner, "commitment"),
            _ => (Role::Challenger, "challenges"),
        };
        let record = self.record(name, role, value).await?;
        let (job, nonce) = self.nonce(name, kind).await?;
        let sealed = json!({ "commitment": commitment(kind, job, name, nonce, record.digest) });
        self.stage
            .post(By::Agent(name), &format!("/api/v1/runs/{}/{what}", self.claim), sealed)
            .await
            .map(drop)
    }

    async fn reveal(&mut self, name: &str, kind: Sealed, value: &str) -> Result<(), DemoError> {
        let role = if matches!(kind, Sealed::Run) { Role::Runner } else { Role::Challenger };
        let record = self.record(name, role, value).await?;
        let (_, nonce) = self.nonce(name, kind).await?;
        let instance = digest(&self.stage.get(By::Admin, "/api/v1/beacons").await?["instance_id"])?;
        self.counter += 1;
        let expires = u64::try_from(self.stage.clock().unix_ms() / 1_000).unwrap_or_default() + 3_600;
        let envelope = sign(&record, Scope { instance, counter: self.counter, expires }, &secret(name));
        let opened = json!({ "nonce": nonce, "envelope": envelope });
        self.stage
            .post(By::Agent(name), &format!("/api/v1/runs/{}/reveal", self.claim), opened)
            .await
            .map(drop)
    }
}

fn digest(value: &Value) -> Result<Digest, DemoError> {
    value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| lacks("digest"))
}
