//! A sprint under test: two companies and somebody who judges, on a clock that is set by hand.

use arena_canon::Digest;
use arena_contests::sprint::wire::{self as scores, Said as Score};
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{ADMIN, Bench, Said, request};

pub(crate) const BEFORE: &str = "2026-07-08T12:00:00Z";
pub(crate) const ROUND: &str = "/api/v1/rounds/s0-r1";
pub(crate) const PLAN: &str = "reach twelve schools by a plan that nobody else may know";

pub(crate) fn at(day: u32, time: &str) -> String {
    format!("2026-07-{:02}T{time}:00Z", 9 + day)
}

pub(crate) fn of(what: &str) -> String {
    format!("{ROUND}/{what}")
}

pub(crate) fn terms(freeze: bool) -> Value {
    json!({
        "id": "s0-r1", "title": "Public Producer Sprint", "start": "2026-07-09T00:00:00Z", "asset": "EXO",
        "entrants_max": 8, "base_budget_atomic": "200000000", "hold_cap_atomic": "50000000",
        "stake_min_atomic": "1000000", "dispute_stake_atomic": "500000", "stake_policy": "burn",
        "prizes": {
            "placements_atomic": ["60000000", "30000000"], "external_window_atomic": "5000000",
            "hygiene_atomic": "2000000",
        },
        "standings_freeze": freeze,
    })
}

/// A request without a body.
pub(crate) async fn bare(bench: &Bench, path: &str, key: &str) -> Said {
    bench.send(request("POST", path, Some(key)).body(Body::empty()).unwrap()).await
}

/// A round with two companies and somebody who judges.
pub(crate) struct Sprint {
    pub(crate) bench: Bench,
    pub(crate) ann: String,
    pub(crate) bob: String,
    pub(crate) eva: String,
}

impl Sprint {
    /// Announced, and nobody in it.
    pub(crate) async fn announced(freeze: bool) -> Self {
        let bench = Bench::at(BEFORE);
        bench.post("/api/v1/rounds", Some(ADMIN), &terms(freeze)).await.expect(201);
        bare(&bench, &of("announce"), ADMIN).await.expect(200);
        Self::with(bench).await
    }

    async fn with(bench: Bench) -> Self {
        let ann = bench.agent("ann", "op-ann", &["read", "submit"]).await;
        let bob = bench.agent("bob", "op-bob", &["read", "submit"]).await;
        let eva = bench.agent("eva", "op-eva", &["read", "judge"]).await;
        Self { bench, ann, bob, eva }
    }

    /// Day 0 is done: `acme` by `ann` and `bolt` by `bob` are in.
    pub(crate) async fn entered(freeze: bool) -> Self {
        Self::announced(freeze).await.with_both().await
    }

    /// The same with a round that was announced already.
    pub(crate) async fn of(bench: Bench) -> Self {
        Self::with(bench).await.with_both().await
    }

    async fn with_both(self) -> Self {
        let sprint = self;
        sprint.set(0, "01:00").await;
        for (company, agent, key) in [("acme", "ann", &sprint.ann), ("bolt", "bob", &sprint.bob)] {
            sprint.enter(company, agent, key).await;
        }
        sprint
    }

    pub(crate) async fn set(&self, day: u32, time: &str) {
        self.bench.set(&at(day, time)).await;
    }

    async fn enter(&self, company: &str, agent: &str, key: &str) {
        let bench = &self.bench;
        let said = bench.post(&of("entries"), Some(key), &register(company)).await.expect(201);
        assert_eq!(said.header("location"), of(&format!("entries/{company}")));
        assert_eq!(
            (said.header("x-phase"), said.header("x-phase-ends")),
            ("registration", "2026-07-09T12:00:00.000Z")
        );
        let rules = bench.get(ROUND, None).await.expect(200).json()["rules_sha256"].clone();
        let rules = json!({ "rules_sha256": rules });
        bench.post(&of("entries/me/acknowledgement"), Some(key), &rules).await.expect(200);
        let hold = json!({ "hold_cap_atomic": "50000000" });
        bench.post(&of("entries/me/call"), Some(key), &hold).await.expect(200);
        for rail in ["locker", "town", "boards"] {
            let approval = json!({ "company": company, "rail": rail, "agent": agent });
            bench.post(&of("approvals"), Some(ADMIN), &approval).await.expect(200);
        }
        self.put("entries/me/kickoff", key, Some("\"none\""), &kickoff(company)).await.expect(200);
    }

    pub(crate) async fn put(&self, what: &str, key: &str, tag: Option<&str>, body: &Value) -> Said {
        let headers: Vec<(&str, &str)> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
        self.bench.send_json("PUT", &of(what), Some(key), &headers, body).await
    }

    pub(crate) async fn intend(&self, key: &str, window: &str) {
        self.put(&format!("windows/{window}/intent"), key, Some("\"none\""), &intent(PLAN)).await.expect(200);
    }

    pub(crate) async fn upload(&self, key: &str, bytes: &[u8], query: &str) -> Said {
        let path = format!("/api/v1/locker/blobs/{}?{query}", Digest::of(bytes));
        let put = request("PUT", &path, Some(key)).header("content-type", "text/plain");
        self.bench.send(put.body(Body::from(bytes.to_vec())).unwrap()).await
    }

    /// Artifact, evidence and post for a window; the package that binds them.
    pub(crate) async fn publish(&self, key: &str, company: &str, window: &str, claim: &str) -> Value {
        let bytes = format!("{company} {window}: {claim}\n");
        let artifact = Digest::of(bytes.as_bytes());
        self.upload(key, bytes.as_bytes(), "public_read=true").await.expect(201);
        let evidence = json!({ "artifact_hash": artifact, "kind": "benchmark", "description": "a run anybody can repeat" });
        let evidence =
            self.bench.post("/api/v1/locker/evidence", Some(key), &evidence).await.expect(201).json();
        let post = json!({
            "round": "s0-r1", "kind": "progress", "window": window, "body": format!("{claim} Artifact {artifact}."),
        });
        let post = self.bench.post("/api/v1/town/posts", Some(key), &post).await.expect(201).json();
        json!({
            "window_id": window, "intent_stub_ref": format!("intent:s0-r1:{company}:{window}"),
            "artifact_class": "external", "artifact_hash": artifact,
            "locker_artifact_ref": format!("locker:{artifact}"), "locker_evidence_ref": evidence["ref"],
            "town_post_ref": post["ref"], "claim_summary": claim,
            "verification_summary": "Run the script in the artifact; it prints the numbers.",
            "operator_intervention": "none",
            "budget_impact": { "spent_exo": "900", "declared_posture_exo": "1000", "note": "" },
            "stake_atomic": "1000000",
        })
    }

    pub(crate) async fn submit(&self, key: &str, package: &Value) -> Said {
        let window = package["window_id"].as_str().unwrap();
        self.put(&format!("windows/{window}/submission"), key, Some("\"none\""), package).await
    }

    pub(crate) async fn judge(&self, company: &str, window: &str, verdict: &Value) -> Said {
        let path = format!("/api/v1/submissions/boards:s0-r1:{company}:{window}/judgements");
        self.bench.post(&path, Some(&self.eva), &json!({ "verdict": verdict })).await
    }

    /// A window of both companies up to its cut-off.
    pub(crate) async fn window(&self, day: u32) {
        let window = format!("W{day}");
        self.set(day, "01:00").await;
        self.intend(&self.ann, &window).await;
        self.intend(&self.bob, &window).await;
        self.set(day, "19:00").await;
        let [a, b] = CLAIMS[day as usize - 1];
        let acme = self.publish(&self.ann, "acme", &window, a).await;
        let bolt = self.publish(&self.bob, "bolt", &window, b).await;
        self.set(day, "20:05").await;
        self.submit(&self.ann, &acme).await.expect(201);
        self.submit(&self.bob, &bolt).await.expect(201);
    }

    /// The standings, and that they are what the rules of scoring make of the records.
    pub(crate) async fn standings(&self) -> Value {
        let told = self.bench.get(&of("standings"), None).await.expect(200).json();
        let mut entrants = Vec::new();
        for company in ["acme", "bolt"] {
            let mut windows = json!({});
            for window in ["W1", "W2", "W3"] {
                let path = format!("/api/v1/submissions/boards:s0-r1:{company}:{window}");
                let said = self.bench.get(&path, None).await;
                windows[window] = match said.status.as_u16() {
                    404 => json!({ "state": "missing" }),
                    _ => {
                        let submission = said.expect(200).json();
                        let mut record = submission["record"].clone();
                        record["artifact_class"] = submission["package"]["artifact_class"].clone();
                        record["operator_intervention"] =
                            submission["package"]["operator_intervention"].clone();
                        record
                    }
                };
            }
            entrants.push(json!({ "id": company, "windows": windows }));
        }
        let question = json!({ "entrants": entrants });
        match scores::score(&question) {
            Ok(Score::Answer(rows)) => assert_eq!(told["rows"], rows),
            other => panic!("{other:?}"),
        }
        let dry = self.bench.post(&of("score"), None, &question).await.expect(200).json();
        assert_eq!(told["rows"], dry);
        told
    }
}

pub(crate) const CLAIMS: [[&str; 2]; 3] = [
    ["Published a planner that three schools installed.", "Wrote the alarm service for the pilot site."],
    [
        "Cut the planning time of a school from 40 to 3 minutes.",
        "Two operators confirm the importer in their posts.",
    ],
    [
        "Twelve classes plan their week with it, by their own word.",
        "Sold the first yearly licence, with a receipt.",
    ],
];

pub(crate) fn register(company: &str) -> Value {
    let person = |role: &str| format!("{company}-{role}");
    json!({
        "company": company,
        "team": {
            "principal": person("principal"), "engineering_coordinator": person("coordinator"),
            "engineering_owner": person("owner"), "quality_reviewer": person("reviewer"),
            "stewardship": person("steward"),
        },
        "canaries": [format!("canary-{company}-5d2f")],
    })
}

pub(crate) fn kickoff(company: &str) -> Value {
    json!({
        "objective": format!("{company}: a planner that schools can run by themselves"),
        "profile": format!("{company} builds tools that others can install and verify."),
    })
}

pub(crate) fn intent(objective: &str) -> Value {
    json!({
        "objective": objective, "planned_artifact_class": "external", "declared_posture_exo": "1000",
        "owner": "the owner", "reviewer": "the reviewer",
    })
}

pub(crate) fn accepted() -> Value {
    json!({
        "state": "accepted", "delivery": 60, "evidence": 20, "continuity": 20, "budget": 20, "penalties": [],
        "rationale": "installed and verified",
    })
}

pub(crate) fn rejected() -> Value {
    json!({
        "state": "rejected", "delivery": 0, "evidence": 20, "continuity": 0, "budget": 20,
        "penalties": ["claim_mismatch"], "rationale": "cannot be repeated",
    })
}
