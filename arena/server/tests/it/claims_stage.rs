//! A server with agents that have keys and money, for tests of claims.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_claims::commitment::{Sealed, commitment, nonce};
use arena_claims::envelope::{Scope, SecretKey, sign};
use arena_claims::manifest::Manifest;
use arena_claims::record::{Place, Record, Role, assemble};
use arena_contests::Moment;
use arena_server::{Claims, ClaimsBeacon, Config};
use serde_json::json;

use crate::support::{ADMIN, Bench, Said};

pub(crate) const START: &str = "2027-01-15T08:00:00Z";
pub(crate) const NAMES: [&str; 12] =
    ["sue", "fay", "amy", "ben", "cat", "dan", "eve", "fox", "gil", "hal", "ivy", "jon"];
pub(crate) const HOUR: i64 = 3_600;

pub(crate) fn config() -> Config {
    let claims = Claims { beacon: ClaimsBeacon::Test, name: "test-lab".to_owned(), ..Claims::default() };
    let mut config = Config { claims, ..Config::default() };
    for rate in [
        &mut config.limits.requests_per_minute,
        &mut config.limits.burst,
        &mut config.limits.anonymous_per_second,
        &mut config.limits.failures_per_minute,
    ] {
        *rate = 1_000_000;
    }
    config
}

/// A server with agents that have keys and money.
pub(crate) struct Stage {
    pub(crate) bench: Bench,
    pub(crate) keys: BTreeMap<String, String>,
    pub(crate) now: Moment,
    pub(crate) counters: BTreeMap<String, u64>,
    /// Reruns may differ a little, so that a panel decides and not at once the reference.
    pub(crate) is_tolerant: bool,
}

pub(crate) fn secret(name: &str) -> SecretKey {
    SecretKey::from_seed(Digest::of(format!("key of {name}").as_bytes()).as_bytes())
}

pub(crate) fn digest(value: &Value) -> Digest {
    value.as_str().unwrap().parse().unwrap()
}

pub(crate) fn amount(value: &Value) -> i64 {
    value.as_str().unwrap().parse().unwrap()
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        let bench = Bench::with(START, config);
        let mut keys = BTreeMap::new();
        for name in NAMES {
            let key = bench.agent(name, &format!("op-{name}"), &["submit", "read"]).await;
            let bound = json!({ "key": secret(name).public(), "capabilities": ["wasm"] });
            bench.post("/api/v1/claims/agents", Some(&key), &bound).await.expect(201);
            let money = json!({ "agent": name, "amount": "20000" });
            bench.post("/api/v1/deposits", Some(ADMIN), &money).await.expect(200);
            keys.insert(name.to_owned(), key);
        }
        let mut stage =
            Self { bench, keys, now: START.parse().unwrap(), counters: BTreeMap::new(), is_tolerant: false };
        stage.wait(2 * HOUR).await;
        stage
    }

    pub(crate) fn key(&self, name: &str) -> Option<&str> {
        Some(if name == "admin" { ADMIN } else { &self.keys[name] })
    }

    pub(crate) async fn wait(&mut self, seconds: i64) {
        self.now = self.now.plus_ms(seconds * 1_000);
        self.bench.set(&self.now.to_string()).await;
    }

    /// The server is down for so long, and up again; it has not looked yet for what is due.
    pub(crate) fn down(&mut self, seconds: i64, config: Config) {
        self.now = self.now.plus_ms(seconds * 1_000);
        self.bench.restart_at(&self.now.to_string(), config);
    }

    pub(crate) async fn post(&self, name: &str, path: &str, body: Value) -> Said {
        self.bench.post(&format!("/api/v1{path}"), self.key(name), &body).await
    }

    pub(crate) async fn bare(&self, name: &str, path: &str) -> Said {
        let request = crate::support::request("POST", &format!("/api/v1{path}"), self.key(name));
        self.bench.send(request.body(axum::body::Body::empty()).unwrap()).await
    }

    pub(crate) async fn see(&self, name: Option<&str>, path: &str) -> Value {
        let key = name.and_then(|name| self.key(name));
        self.bench.get(&format!("/api/v1{path}"), key).await.expect(200).json()
    }

    pub(crate) async fn manifest(&self) -> Value {
        let zero = "0".repeat(64);
        let params = self.see(None, "/beacons").await["params_sha256"].clone();
        let (determinism, rerun) = match self.is_tolerant {
            true => ("tolerant", json!({ "mode": "tol", "abs": "0.2", "rel": "0" })),
            false => ("exact", json!({ "mode": "exact" })),
        };
        json!({
            "v": "arena-manifest/v1", "title": "x comes to ten", "submitter": "sue",
            "program": { "kind": "experiment", "component": zero },
            "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": rerun }],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
            "capabilities": ["wasm"], "determinism": determinism, "protocol_params_sha256": params,
        })
    }

    pub(crate) async fn record(&self, name: &str, role: Role, x: &str) -> Record {
        let seen = self.see(Some(name), "/claims/c1").await;
        let manifest = Manifest::read(seen["manifest"].clone()).unwrap();
        let operator = if name == "operator" { name.to_owned() } else { format!("op-{name}") };
        let place = Place {
            claim: "c1",
            job: digest(&seen["job"]),
            role,
            agent: name,
            operator: &operator,
            manifest: &manifest,
        };
        let is_broken = x == "spec_issue";
        let value = if is_broken { "10.0" } else { x };
        let mut results = json!({
            "metrics": [{ "name": "x", "kind": "decimal", "value": value }], "fuel": "7",
            "log_sha256": Digest::of(b"log"),
        });
        if is_broken {
            results["outcome"] = json!("spec_issue");
        }
        assemble(&place, &results).unwrap()
    }

    pub(crate) async fn seal(&self, name: &str, kind: Sealed, document: Digest) -> (Digest, Digest) {
        let job = digest(&self.see(Some(name), "/claims/c1").await["job"]);
        let nonce = nonce(&secret(name).seed(), job, kind);
        (commitment(kind, job, name, nonce, document), nonce)
    }

    pub(crate) async fn commit(&self, name: &str, kind: Sealed, x: &str) -> Said {
        let (role, path) = match kind {
            Sealed::Run => (Role::Runner, "/runs/c1/commitment"),
            _ => (Role::Challenger, "/runs/c1/challenges"),
        };
        let record = self.record(name, role, x).await;
        let (sealed, _) = self.seal(name, kind, record.digest).await;
        self.post(name, path, json!({ "commitment": sealed })).await
    }

    pub(crate) async fn reveal(&mut self, name: &str, kind: Sealed, x: &str) -> Said {
        let role = if matches!(kind, Sealed::Run) { Role::Runner } else { Role::Challenger };
        let record = self.record(name, role, x).await;
        let (_, nonce) = self.seal(name, kind, record.digest).await;
        let instance = digest(&self.see(None, "/beacons").await["instance_id"]);
        let counter = self.counters.entry(name.to_owned()).or_default();
        *counter += 1;
        let expires = u64::try_from(self.now.unix_ms() / 1_000).unwrap() + 3_600;
        let envelope = sign(&record, Scope { instance, counter: *counter, expires }, &secret(name));
        self.post(name, "/runs/c1/reveal", json!({ "nonce": nonce, "envelope": envelope })).await
    }

    pub(crate) async fn status(&self) -> String {
        self.see(None, "/claims/c1").await["status"].as_str().unwrap().to_owned()
    }

    /// Lists and funds a claim, draws its runner, and has it accept and commit; gives its name.
    pub(crate) async fn run(&mut self, x: &str) -> String {
        self.run_marked(x, None).await
    }

    /// The same of a claim with a canary's mark.
    pub(crate) async fn run_marked(&mut self, x: &str, canary: Option<Digest>) -> String {
        let body = json!({ "manifest": self.manifest().await, "deposit": "500", "canary": canary });
        let listed = self.post("sue", "/claims", body).await.expect(201);
        assert_eq!(listed.header("location"), "/api/v1/claims/c1");
        self.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200);
        self.resolve().await;
        let runner = self.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
        self.bare(&runner, "/assignments/c1-runner/accept").await.expect(200);
        self.post(&runner, "/runs", json!({ "claim": "c1", "inputs": [] })).await.expect(200);
        self.commit(&runner, Sealed::Run, x).await.expect(200);
        assert_eq!(self.status().await, "committed");
        self.resolve().await;
        runner
    }

    /// Waits for the round of the committed draw and resolves it.
    pub(crate) async fn resolve(&mut self) {
        self.wait(60).await;
        self.post("jon", "/claims/c1/draws/resolve", json!({ "signature": "" })).await.expect(200);
    }

    /// Somebody who has no part yet.
    pub(crate) async fn volunteers(&self) -> Vec<String> {
        let mut free = Vec::new();
        for name in NAMES {
            if self.see(Some(name), "/claims/c1").await["you"]["part"].is_null() {
                free.push(name.to_owned());
            }
        }
        free
    }

    /// All that agents have, and what stays with the platform.
    pub(crate) async fn total(&self) -> i64 {
        let all = self.see(Some("admin"), "/claims/agents?limit=100").await;
        all["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| amount(&agent["free"]) + amount(&agent["locked"]))
            .sum()
    }

    pub(crate) async fn feed(&self) -> String {
        self.bench
            .stream(
                crate::support::request("GET", "/api/v1/events.ndjson?since=0", None)
                    .body(axum::body::Body::empty())
                    .unwrap(),
                |text| text.ends_with("\n\n"),
            )
            .await
    }
}
