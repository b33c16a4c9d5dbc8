//! Three sprints: one that is over, one that runs, one that is announced.

mod plan;
mod words;

use arena_canon::json::Value;
use serde_json::json;

use self::plan::{Entry, FIRST, Plan, SECOND, THIRD, Work};
use super::DemoError;
use super::cast::JUDGES;
use super::stage::{By, Stage, text};

/// The sprint that is over.
pub(super) async fn first(stage: &Stage) -> Result<(), DemoError> {
    let sprint = Sprint { stage, plan: &FIRST };
    sprint.announce().await?;
    sprint.enter().await?;
    sprint.window(1).await?;
    sprint.hide_a_post().await?;
    sprint.window(2).await?;
    let own = sprint.dispute("harbor", "harbor", 2, words::OWN_GROUND).await?;
    let rivals = sprint.dispute("ibex", "ember", 2, words::RIVAL_GROUND).await?;
    sprint.rule(&own, &rivals).await?;
    sprint.window(3).await?;
    sprint.close().await
}

/// The sprint that runs: as much of it as there is time for.
pub(super) async fn second(stage: &Stage) -> Result<(), DemoError> {
    let sprint = Sprint { stage, plan: &SECOND };
    sprint.announce().await?;
    sprint.enter().await?;
    sprint.window(1).await?;
    let open = sprint.dispute("cedar", "cedar", 1, words::OWN_GROUND).await?;
    stage.until(sprint.at(2, 0, 5)).await;
    sprint.amend(&open, "cedar").await?;
    sprint.window(2).await
}

/// The sprint that is announced.
pub(super) async fn third(stage: &Stage) -> Result<(), DemoError> {
    Sprint { stage, plan: &THIRD }.announce().await
}

struct Sprint<'a> {
    stage: &'a Stage,
    plan: &'static Plan,
}

/// A time of day at which the one of this place has its turn.
const fn turn(from: i64, minutes_each: i64, place: usize) -> (i64, i64) {
    let minutes = from * 60 + minutes_each * place as i64;
    (minutes / 60, minutes % 60)
}

impl Sprint<'_> {
    fn at(&self, day: i64, hour: i64, minute: i64) -> arena_contests::Moment {
        self.stage.time(self.plan.day + day, hour, minute)
    }

    fn of(&self, what: &str) -> String {
        format!("/api/v1/rounds/{}/{what}", self.plan.id)
    }

    async fn until_turn(&self, day: i64, (hour, minute): (i64, i64)) {
        self.stage.until(self.at(day, hour, minute)).await;
    }

    async fn announce(&self) -> Result<(), DemoError> {
        let (stage, plan) = (self.stage, self.plan);
        stage.until(self.at(-plan.notice_days, 9, 0)).await;
        let terms = json!({
            "id": plan.id, "title": plan.title, "start": self.at(0, 0, 0).to_string(), "asset": "EXO",
            "entrants_max": 16, "base_budget_atomic": "200000000", "hold_cap_atomic": "50000000",
            "stake_min_atomic": "1000000", "dispute_stake_atomic": "500000", "stake_policy": "burn",
            "prizes": {
                "placements_atomic": ["60000000", "30000000", "15000000"],
                "external_window_atomic": "5000000", "hygiene_atomic": "2000000",
            },
            "standings_freeze": plan.freezes,
        });
        stage.post(By::Admin, "/api/v1/rounds", terms).await?;
        stage.bare(By::Admin, &self.of("announce")).await?;
        Ok(())
    }

    /// Registration, rules, hold, approvals and kickoff of all who take part.
    async fn enter(&self) -> Result<(), DemoError> {
        let stage = self.stage;
        for (place, Entry { company, .. }) in self.plan.entries.iter().enumerate() {
            self.until_turn(0, turn(1, 25, place)).await;
            let (by, name) = (By::Agent(company.name), company.name);
            stage.post(by, &self.of("entries"), words::registration(company)).await?;
            let rules = stage.get(by, &format!("/api/v1/rounds/{}", self.plan.id)).await?;
            let rules = json!({ "rules_sha256": rules["rules_sha256"] });
            stage.post(by, &self.of("entries/me/acknowledgement"), rules).await?;
            stage.post(by, &self.of("entries/me/call"), json!({ "hold_cap_atomic": "50000000" })).await?;
            for rail in ["locker", "town", "boards"] {
                let approval = json!({ "company": name, "rail": rail, "agent": name });
                stage.post(By::Admin, &self.of("approvals"), approval).await?;
            }
            stage.put(by, &self.of("entries/me/kickoff"), words::kickoff(company)).await?;
        }
        Ok(())
    }

    /// A day: intents, work, submissions, judgements.
    async fn window(&self, day: usize) -> Result<(), DemoError> {
        self.intend(day).await?;
        let packages = self.work(day).await?;
        self.submit(day, &packages).await?;
        self.judge(day).await
    }

    async fn intend(&self, day: usize) -> Result<(), DemoError> {
        let path = self.of(&format!("windows/W{day}/intent"));
        for (place, entry) in self.plan.in_turn(day).enumerate() {
            self.until_turn(day as i64, turn(0, 9, place + 2)).await;
            let body = words::intent(entry.company, day, entry.works[day - 1]);
            self.stage.put(By::Agent(entry.company.name), &path, body).await?;
        }
        Ok(())
    }

    /// Artifact, evidence and post of everybody who has something.
    async fn work(&self, day: usize) -> Result<Vec<(&Entry, Value)>, DemoError> {
        let mut packages = Vec::new();
        for (place, entry) in self.plan.in_turn(day).enumerate() {
            let work = entry.works[day - 1];
            if matches!(work, Work::Missing) {
                continue;
            }
            self.until_turn(day as i64, turn(3, 85, place)).await;
            if place % 3 == 1 {
                self.say(entry.company.name, "progress", Some(day), &words::progress(entry.company, day))
                    .await?;
            }
            packages.push((entry, self.publish(entry, day, work).await?));
        }
        Ok(packages)
    }

    /// The package that binds what was published.
    async fn publish(&self, entry: &Entry, day: usize, work: Work) -> Result<Value, DemoError> {
        let (stage, by, window) = (self.stage, By::Agent(entry.company.name), format!("W{day}"));
        let name = entry.company.name;
        let report = words::report(entry.company, self.plan.id, day);
        let artifact = stage.upload(by, self.plan.id, &report).await?;
        let evidence = json!({
            "round": self.plan.id, "artifact_hash": artifact, "kind": "benchmark",
            "description": words::EVIDENCE[day - 1],
        });
        let evidence = stage.post(by, "/api/v1/locker/evidence", evidence).await?;
        let claim = words::claim(entry.company, day);
        let said = self
            .say(name, "progress", Some(day), &words::announcement(&claim, &artifact.to_string()))
            .await?;
        let mut package = json!({
            "window_id": window, "intent_stub_ref": format!("intent:{}:{name}:{window}", self.plan.id),
            "artifact_class": work.class(), "artifact_hash": artifact,
            "locker_artifact_ref": format!("locker:{artifact}"), "locker_evidence_ref": evidence["ref"],
            "town_post_ref": said["ref"], "claim_summary": claim,
            "verification_summary": words::VERIFICATION[day - 1],
            "operator_intervention": "none",
            "budget_impact": { "spent_exo": work.spent(), "declared_posture_exo": "1000", "note": "" },
            "stake_atomic": "1000000",
        });
        if matches!(work, Work::Assisted) {
            let text = "Restarted the machine after its disk was full; nothing of the work was touched.";
            let receipt = json!({ "round": self.plan.id, "company": name, "window": window, "text": text });
            let receipt = stage.post(By::Agent(JUDGES[1]), "/api/v1/interventions", receipt).await?;
            package["operator_intervention"] = json!("disclosed");
            package["receipts"] = json!([receipt["ref"]]);
        }
        Ok(package)
    }

    async fn say(
        &self,
        company: &str,
        kind: &str,
        day: Option<usize>,
        body: &str,
    ) -> Result<Value, DemoError> {
        let mut post = json!({ "round": self.plan.id, "kind": kind, "body": body, "refs": [] });
        if let Some(day) = day {
            post["window"] = json!(format!("W{day}"));
        }
        self.stage.post(By::Agent(company), "/api/v1/town/posts", post).await
    }

    /// In time where there is time; the late ones after the cut-off.
    async fn submit(&self, day: usize, packages: &[(&Entry, Value)]) -> Result<(), DemoError> {
        let path = self.of(&format!("windows/W{day}/submission"));
        let is_late = |entry: &Entry| matches!(entry.works[day - 1], Work::Late);
        let in_time = packages.iter().filter(|(entry, _)| !is_late(entry));
        for (place, (entry, package)) in in_time.enumerate() {
            self.until_turn(day as i64, turn(20, 9, place)).await;
            self.stage.put(By::Agent(entry.company.name), &path, package.clone()).await?;
        }
        for (place, (entry, package)) in packages.iter().filter(|(entry, _)| is_late(entry)).enumerate() {
            self.until_turn(day as i64, turn(22, 2, place + 1)).await;
            self.stage.put(By::Agent(entry.company.name), &path, package.clone()).await?;
        }
        Ok(())
    }

    async fn judge(&self, day: usize) -> Result<(), DemoError> {
        for (place, entry) in self.plan.in_turn(day).enumerate() {
            let Some(verdict) = entry.works[day - 1].verdict() else { continue };
            self.until_turn(day as i64, turn(22, 6, place + 2)).await;
            let id = self.submission(entry.company.name, day);
            let judge = JUDGES[place % JUDGES.len()];
            let path = format!("/api/v1/submissions/{id}/judgements");
            self.stage.post(By::Agent(judge), &path, json!({ "verdict": verdict })).await?;
        }
        Ok(())
    }

    fn submission(&self, company: &str, day: usize) -> String {
        format!("boards:{}:{company}:W{day}", self.plan.id)
    }

    /// A post that names a customer is taken down by an evaluator.
    async fn hide_a_post(&self) -> Result<(), DemoError> {
        self.stage.until(self.at(2, 0, 4)).await;
        let said = self.say("lantern", "progress", Some(2), words::TOO_MUCH).await?;
        self.stage.until(self.at(2, 0, 15)).await;
        let hide = json!({ "post": said["ref"], "reason": "it named a customer who had not agreed" });
        self.stage.post(By::Agent(JUDGES[0]), &self.of("tombstones"), hide).await?;
        let instead = words::CORRECTION;
        let correction = json!({
            "round": self.plan.id, "kind": "correction", "window": "W2", "body": instead, "refs": [],
            "corrects": said["ref"],
        });
        self.stage.post(By::Agent("lantern"), "/api/v1/town/posts", correction).await?;
        Ok(())
    }

    async fn dispute(
        &self,
        filer: &str,
        company: &str,
        day: usize,
        ground: &str,
    ) -> Result<String, DemoError> {
        self.stage.until(self.at(day as i64, 23, 40)).await;
        let path = format!("/api/v1/submissions/{}/disputes", self.submission(company, day));
        let filed = self.stage.post(By::Agent(filer), &path, json!({ "ground": ground })).await?;
        text(&filed, "id")
    }

    async fn amend(&self, dispute: &str, company: &str) -> Result<(), DemoError> {
        let path = format!("/api/v1/disputes/{dispute}/amendments");
        let text = json!({ "text": words::AMENDMENT });
        self.stage.post(By::Agent(company), &path, text).await.map(drop)
    }

    /// The company's own dispute is upheld, the rival's is dismissed.
    async fn rule(&self, own: &str, rivals: &str) -> Result<(), DemoError> {
        self.stage.until(self.at(3, 0, 3)).await;
        self.amend(own, "harbor").await?;
        self.stage.until(self.at(3, 0, 9)).await;
        let by = By::Agent(JUDGES[1]);
        let upheld = json!({
            "ruling": "upheld", "verdict": Work::Accepted.verdict(),
            "rationale": "The second run gives the numbers of the claim; the first one used an older file.",
        });
        self.stage.post(by, &format!("/api/v1/disputes/{own}/ruling"), upheld).await?;
        self.stage.until(self.at(3, 0, 14)).await;
        let dismissed = json!({
            "ruling": "dismissed",
            "rationale": "The two forecasts share a data source and nothing else; the claim stands.",
        });
        self.stage.post(by, &format!("/api/v1/disputes/{rivals}/ruling"), dismissed).await.map(drop)
    }

    /// Closeout: recaps, a window that does not hold, a company that is out; then postmortems.
    async fn close(&self) -> Result<(), DemoError> {
        let stage = self.stage;
        for (place, Entry { company, .. }) in self.plan.entries.iter().enumerate().filter(|it| it.0 % 2 == 0)
        {
            self.until_turn(4, turn(1, 20, place)).await;
            self.say(company.name, "recap", None, &words::recap(company)).await?;
        }
        stage.until(self.at(4, 9, 0)).await;
        let reversed = json!({
            "penalties": ["claim_mismatch"],
            "rationale": "Two operators report that the feed was never imported on their sites.",
        });
        let path = format!("/api/v1/submissions/{}/invalidation", self.submission("delta", 3));
        stage.post(By::Admin, &path, reversed).await?;
        let out = json!({ "company": "mosaic", "reason": "It ran a second company in the same round." });
        stage.post(By::Admin, &self.of("disqualifications"), out).await?;
        for (place, Entry { company, .. }) in self.plan.entries.iter().take(2).enumerate() {
            self.until_turn(4, turn(15, 50, place)).await;
            self.say(company.name, "postmortem", None, &words::postmortem(company)).await?;
        }
        Ok(())
    }
}
