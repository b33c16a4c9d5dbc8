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
use super::props::{Experiment, Props};
use super::stage::{By, Stage, lacks, text};

const SUBMITTER: &str = "bees";
const FUNDERS: [&str; 2] = ["cedar", "delta"];
/// How long a draw waits for the round of the beacon that it named.
const BEACON_MS: i64 = 60_000;
/// How long a run takes, until its commitment comes.
const RUN_MS: i64 = 90_000;
const HOUR_MS: i64 = 3_600_000;

/// The signing key of an agent of the demo, which is worth nothing anywhere else.
fn secret(name: &str) -> SecretKey {
    SecretKey::from_seed(Digest::of_parts(&[b"arena demo claims key", name.as_bytes()]).as_bytes())
}

/// Both.
pub(super) async fn both(stage: &Stage, props: &Props<'_>) -> Result<(), DemoError> {
    stage.until(stage.time(-7, 8, 0)).await;
    for company in &COMPANIES {
        let bound = json!({ "key": secret(company.name).public(), "capabilities": ["wasm"] });
        stage.post(By::Agent(company.name), "/api/v1/claims/agents", bound).await?;
        let money = json!({ "agent": company.name, "amount": "20000" });
        stage.post(By::Admin, "/api/v1/deposits", money).await?;
    }
    let payout = json!({ "agent": "mosaic", "amount": "2500" });
    stage.post(By::Admin, "/api/v1/payouts", payout).await?;
    reproduced(stage, props).await?;
    challengeable(stage, props).await
}

struct Story<'a> {
    stage: &'a Stage,
    claim: String,
    /// What its program gives whoever runs it.
    results: Value,
    counter: u64,
}

async fn reproduced(stage: &Stage, props: &Props<'_>) -> Result<(), DemoError> {
    let (mut story, runner) = run(stage, stage.time(-6, 9, 0), &props.settled, props).await?;
    let challenger = story.stranger().await?;
    let later = stage.clock().plus_ms(5 * HOUR_MS);
    stage.until(later).await;
    story.commit(&challenger, Sealed::Challenge).await?;
    stage.until(later.plus_ms(20 * HOUR_MS)).await;
    story.reveal(&runner, Sealed::Run).await?;
    stage.until(later.plus_ms(21 * HOUR_MS)).await;
    story.reveal(&challenger, Sealed::Challenge).await
}

async fn challengeable(stage: &Stage, props: &Props<'_>) -> Result<(), DemoError> {
    // So late that its window is open at whatever time of the day this is looked at.
    let begins = stage.end().plus_ms(-6 * HOUR_MS);
    stage.until(begins).await;
    run(stage, begins, &props.open, props).await.map(drop)
}

/// Listed and funded, its material brought, its runner drawn; who accepts, runs and commits.
async fn run<'a>(
    stage: &'a Stage,
    begins: Moment,
    experiment: &Experiment,
    props: &Props<'_>,
) -> Result<(Story<'a>, String), DemoError> {
    stage.until(begins).await;
    let manifest = manifest(stage, experiment, props).await?;
    let body = json!({ "manifest": manifest, "deposit": "500" });
    let listed = stage.post(By::Agent(SUBMITTER), "/api/v1/claims", body).await?;
    let mut story = Story { stage, claim: text(&listed, "claim")?, results: Value::Null, counter: 0 };
    bring(stage, experiment).await?;
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
    let checked = json!({ "claim": story.claim, "inputs": manifest["inputs"] });
    stage.post(By::Agent(&runner), "/api/v1/runs", checked).await?;
    let pinned = Manifest::read(seen["manifest"].clone()).map_err(|why| lacks(&why.to_string()))?;
    story.results = props.lab.run(experiment, &pinned, digest(&seen["job"])?).map_err(|why| lacks(&why))?;
    // A run that takes three times as long as its manifest allows is lost.
    stage.until(stage.clock().plus_ms(RUN_MS)).await;
    story.commit(&runner, Sealed::Run).await?;
    story.resolve().await?;
    Ok((story, runner))
}

async fn manifest(stage: &Stage, experiment: &Experiment, props: &Props<'_>) -> Result<Value, DemoError> {
    let params = stage.get(By::Admin, "/api/v1/beacons").await?["params_sha256"].clone();
    let Experiment { component, inputs, claim } = experiment;
    let inputs = inputs.iter().map(|(name, bytes)| {
        json!({ "name": name, "sha256": Digest::of(bytes), "bytes": bytes.len().to_string() })
    });
    Ok(json!({
        "v": "arena-manifest/v1", "title": claim["title"], "submitter": SUBMITTER,
        "program": { "kind": "experiment", "component": Digest::of(component) },
        "inputs": inputs.collect::<Vec<_>>(), "arguments": claim["arguments"], "metrics": claim["metrics"],
        "limits": claim["limits"], "engine": props.lab.engine(), "capabilities": ["wasm"],
        "determinism": "exact", "protocol_params_sha256": params,
    }))
}

/// Brings what the claim pins, for whoever runs it.
async fn bring(stage: &Stage, experiment: &Experiment) -> Result<(), DemoError> {
    let inputs = experiment.inputs.iter().map(|(_, bytes)| bytes);
    for bytes in std::iter::once(&experiment.component).chain(inputs) {
        let path = format!("/api/v1/claims/blobs/{}", Digest::of(bytes));
        stage.bring("PUT", By::Agent(SUBMITTER), &path, "application/octet-stream", bytes).await?;
    }
    Ok(())
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

    async fn record(&self, name: &str, role: Role) -> Result<Record, DemoError> {
        let seen = self.seen(By::Agent(name)).await?;
        let manifest = Manifest::read(seen["manifest"].clone()).map_err(|why| lacks(&why.to_string()))?;
        let (operator, job) = (format!("op-{name}"), digest(&seen["job"])?);
        let place =
            Place { claim: &self.claim, job, role, agent: name, operator: &operator, manifest: &manifest };
        assemble(&place, &self.results).map_err(|why| lacks(&why.to_string()))
    }

    async fn nonce(&self, name: &str, kind: Sealed) -> Result<(Digest, Digest), DemoError> {
        let job = digest(&self.seen(By::Agent(name)).await?["job"])?;
        Ok((job, nonce(&secret(name).seed(), job, kind)))
    }

    async fn commit(&self, name: &str, kind: Sealed) -> Result<(), DemoError> {
        let (role, what) = match kind {
            Sealed::Run => (Role::Runner, "commitment"),
            _ => (Role::Challenger, "challenges"),
        };
        let record = self.record(name, role).await?;
        let (job, nonce) = self.nonce(name, kind).await?;
        let sealed = json!({ "commitment": commitment(kind, job, name, nonce, record.digest) });
        self.stage
            .post(By::Agent(name), &format!("/api/v1/runs/{}/{what}", self.claim), sealed)
            .await
            .map(drop)
    }

    async fn reveal(&mut self, name: &str, kind: Sealed) -> Result<(), DemoError> {
        let role = if matches!(kind, Sealed::Run) { Role::Runner } else { Role::Challenger };
        let record = self.record(name, role).await?;
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
