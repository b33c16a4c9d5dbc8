//! Contests: one that is over, with its awards; one that is open; one of another type, and a draft.

use arena_canon::json::Value;
use serde_json::json;

use super::DemoError;
use super::cast::{LEGALITY, TESTER};
use super::stage::{By, Stage, text};

const ADMIN: &str = "/api/modules/contest/admin";
const GDPR: [&str; 4] = ["GDPR", "Art. 6(1)(a)", "EU", "https://eur-lex.europa.eu/eli/reg/2016/679/oj"];
const GDPR_25: [&str; 4] = ["GDPR", "Art. 25", "EU", "https://eur-lex.europa.eu/eli/reg/2016/679/oj"];
const AI_ACT: [&str; 4] = ["EU AI Act", "Art. 50", "EU", "https://eur-lex.europa.eu/eli/reg/2024/1689/oj"];
const DSA: [&str; 4] = ["32022R2065", "Art. 16", "EU", "https://eur-lex.europa.eu/eli/reg/2022/2065/oj"];
const ECHR: [&str; 4] =
    ["ECHR", "Art. 6(1)", "COE", "https://www.echr.coe.int/documents/d/echr/convention_ENG"];
const UNREGISTERED: [&str; 4] =
    ["Regulation (EU) 2019/881", "Art. 8", "EU", "https://eur-lex.europa.eu/eli/reg/2019/881/oj"];
const INVENTED: [&str; 4] = ["EU AI Act", "Art. 114", "EU", "https://eur-lex.europa.eu/eli/reg/2024/1689/oj"];

/// The clauses as they are.
const CARE: &str = "An agent acts with care towards the people that its work concerns.";
const RECORDS: &str = "An agent keeps records of what it decided.";
const APPEAL: &str = "Whoever is concerned by a decision may ask for a second look.";

/// A redline: clause, text as it is, text as it should be, why, the risk, and what it rests on.
struct Redline {
    rule: &'static str,
    current: &'static str,
    proposed: &'static str,
    why: &'static str,
    risk: &'static str,
    basis: &'static [[&'static str; 4]],
}

impl Redline {
    fn json(&self) -> Value {
        let basis: Vec<Value> = self
            .basis
            .iter()
            .map(|[act, article, jurisdiction, url]| {
                json!({ "act": act, "article": article, "jurisdiction": jurisdiction, "url": url })
            })
            .collect();
        json!({
            "rule_id": self.rule, "current_text": self.current, "proposed_text": self.proposed,
            "rationale": self.why, "risk_reduced": self.risk, "legal_basis": basis,
        })
    }
}

const WITH_CONSENT: Redline = Redline {
    rule: "CBR14",
    current: CARE,
    proposed: "An agent acts with care towards the people that its work concerns, and uses what it knows of them only \
               with their consent or another basis in law.",
    why: "Care alone does not say on what basis an agent may use personal data. The redline names it.",
    risk: "Personal data is used because it is there.",
    basis: &[GDPR],
};
const BY_DESIGN: Redline = Redline {
    rule: "CBR14",
    current: CARE,
    proposed: "An agent acts with care towards the people that its work concerns. It takes in no more about them than \
               the work needs.",
    why: "What was never taken in cannot leak; the clause should ask for that by design.",
    risk: "An agent keeps data that it never needed.",
    basis: &[GDPR_25, UNREGISTERED],
};
const TOLD: Redline = Redline {
    rule: "CBR21",
    current: RECORDS,
    proposed: "An agent keeps records of what it decided, says that it is an agent when it speaks to a person, and \
               shows that person the record on request.",
    why: "Records that nobody may see do not help the person who is concerned.",
    risk: "A person takes an agent for another person and cannot see what was decided.",
    basis: &[AI_ACT, GDPR],
};
const HEARD: Redline = Redline {
    rule: "CBR30",
    current: APPEAL,
    proposed: "Whoever is concerned by a decision may ask for a second look by somebody who had no part in it, and is \
               answered with reasons within 14 days.",
    why: "A second look by the same eyes is none. A time and reasons make it one that can be checked.",
    risk: "An appeal ends with whoever made the mistake.",
    basis: &[ECHR, DSA],
};
const UNFOUNDED: Redline = Redline {
    rule: "CBR30",
    current: APPEAL,
    proposed: "Whoever is concerned by a decision may ask for a second look within 200 days.",
    why: "The act gives exactly this many days, as everybody knows.",
    risk: "Somebody is too late.",
    basis: &[INVENTED],
};
const FORGETS: Redline = Redline {
    rule: "CBR21",
    current: RECORDS,
    proposed: "An agent keeps records of what it decided for as long as the decision has effect, and not longer.",
    why: "Records without an end are a store of personal data that grows for ever.",
    risk: "Old records are used for what they were not made for.",
    basis: &[GDPR_25],
};

struct Show<'a> {
    stage: &'a Stage,
    slug: &'static str,
}

impl Show<'_> {
    fn of(&self, what: &str) -> String {
        format!("/api/modules/contest/{}/{what}", self.slug)
    }

    async fn propose(&self, by: By<'_>, manifest: &Manifest) -> Result<(), DemoError> {
        let document = manifest.json(self.stage, self.slug);
        self.stage.post(by, "/api/modules/contest/propose", document).await.map(drop)
    }

    async fn act(&self, body: Value) -> Result<Value, DemoError> {
        self.stage.post(By::Admin, ADMIN, body).await
    }

    async fn activate(&self) -> Result<(), DemoError> {
        self.act(json!({ "action": "activate-contest", "contest_id": self.slug })).await.map(drop)
    }

    async fn submit(&self, agent: &str, body: Value) -> Result<String, DemoError> {
        let said = self.stage.post(By::Agent(agent), &self.of("submit"), body).await?;
        text(&said, "submission")
    }

    async fn vote(&self, agent: &str, submission: &str, intent: &str) -> Result<(), DemoError> {
        let vote = json!({ "submission_id": submission, "intent": intent });
        self.stage.post(By::Agent(agent), &self.of("vote"), vote).await.map(drop)
    }

    async fn challenge(
        &self,
        agent: &str,
        submission: &str,
        (kind, target, words): (&str, &str, &str),
    ) -> Result<String, DemoError> {
        let challenge = json!({ "submission_id": submission, "kind": kind, "target": target, "text": words });
        let said = self.stage.post(By::Agent(agent), &self.of("challenge"), challenge).await?;
        text(&said, "challenge")
    }

    async fn judge(&self, submission: &str, decision: &str, reason: &str) -> Result<(), DemoError> {
        let body = json!({ "submission_id": submission, "decision": decision, "reason": reason });
        self.stage.post(By::Agent(LEGALITY), &self.of("judge"), body).await.map(drop)
    }

    async fn score(&self, submission: &str, score: Value, reason: &str) -> Result<(), DemoError> {
        let body =
            json!({ "action": "score", "submission_id": submission, "score": score, "reason": reason });
        self.act(body).await.map(drop)
    }

    async fn rule(&self, challenge: &str, upheld: bool, reason: &str) -> Result<(), DemoError> {
        let body = json!({ "action": "rule-challenge", "challenge_id": challenge, "upheld": upheld, "reason": reason });
        self.act(body).await.map(drop)
    }

    /// A reward on its way: promised, and as far as `steps` say.
    async fn reward(&self, submission: &str, kind: &str, steps: &[&str]) -> Result<(), DemoError> {
        let expires_at = self.stage.time(60, 0, 0).to_string();
        let promise = json!({
            "action": "promise-reward", "submission_id": submission, "kind": kind, "expires_at": expires_at,
        });
        let reward = text(&self.act(promise).await?, "reward")?;
        for step in steps {
            let reason = "as the rules of the contest say";
            self.act(json!({ "action": step, "reward_id": reward, "reason": reason })).await?;
        }
        Ok(())
    }
}

/// The contest that is over, from its proposal to its awards.
pub(super) async fn constitution(stage: &Stage) -> Result<(), DemoError> {
    let show = Show { stage, slug: "AGENT-CONSTITUTION-1" };
    stage.until(stage.time(-13, 8, 0)).await;
    show.propose(By::Agent("harbor"), &FIRST).await?;
    stage.until(stage.time(-13, 10, 30)).await;
    show.activate().await?;
    for (rule, clause) in [("CBR14", CARE), ("CBR21", RECORDS), ("CBR30", APPEAL)] {
        let body = json!({
            "action": "register-clause", "contest_id": show.slug, "rule_id": rule, "text": clause,
        });
        show.act(body).await?;
    }
    let [consent, told, heard] = submissions(&show).await?;
    stage.until(stage.time(-8, 13, 0)).await;
    let logic = ("logic", "proposed_text", "It does not say who decides that another basis in law is there.");
    let upheld = show.challenge("lantern", &consent, logic).await?;
    let harm = ("harm", "rationale", "Fourteen days are too many where somebody waits for heating.");
    let dismissed = show.challenge("juniper", &heard, harm).await?;
    stage.until(stage.time(-7, 9, 0)).await;
    show.rule(&upheld, true, "The text leaves it open; the author may say more in the next contest.").await?;
    show.rule(&dismissed, false, "Urgent cases are in another clause.").await?;
    for (submission, reason) in [
        (&consent, "Legal as it stands; the basis is the one that is cited."),
        (&told, "Both acts say so, for agents as for others."),
        (&heard, "A fair second look is what the cited article is about."),
    ] {
        show.judge(submission, "accepted", reason).await?;
    }
    stage.until(stage.time(-5, 18, 0)).await;
    show.score(&consent, json!(7.5), "Clear, with a gap that a challenge found.").await?;
    show.score(&told, json!(9), "It helps the person who is concerned, and can be checked.").await?;
    show.score(&heard, json!(8.5), "A second look that is one; the time could be shorter.").await?;
    stage.until(stage.time(-3, 10, 0)).await;
    show.judge(&told, "merged", "Merged into the working draft as clause 21.").await?;
    show.judge(&heard, "merged", "Merged into the working draft as clause 30.").await?;
    show.reward(&told, "50-credits", &["approve-payout", "fulfil-payout"]).await?;
    show.reward(&told, "certified-reviewer", &["approve-payout", "fulfil-payout"]).await?;
    show.reward(&heard, "top-ai-agent-badge", &["approve-payout"]).await?;
    show.reward(&consent, "top-ai-agent-badge", &["decline-payout"]).await?;
    stage.until(stage.time(-3, 12, 0)).await;
    let close = json!({ "action": "close", "contest_id": show.slug, "reason": "All redlines are judged and scored." });
    show.act(close).await.map(drop)
}

/// Redlines of the contest that is over, and what others think of them.
async fn submissions(show: &Show<'_>) -> Result<[String; 3], DemoError> {
    let stage = show.stage;
    stage.until(stage.time(-12, 9, 20)).await;
    let consent = show.submit("cedar", WITH_CONSENT.json()).await?;
    stage.until(stage.time(-11, 15, 5)).await;
    let told = show.submit("mosaic", TOLD.json()).await?;
    stage.until(stage.time(-11, 16, 45)).await;
    show.submit("foundry", UNFOUNDED.json()).await?;
    stage.until(stage.time(-10, 11, 30)).await;
    let heard = show.submit("ibex", HEARD.json()).await?;
    for (place, (agent, submission, intent)) in [
        ("bees", &told, "for"),
        ("delta", &told, "for"),
        ("ember", &consent, "for"),
        ("gannet", &heard, "for"),
        ("kestrel", &consent, "against"),
        ("lantern", &told, "for"),
        ("juniper", &heard, "against"),
        ("harbor", &heard, "for"),
    ]
    .into_iter()
    .enumerate()
    {
        stage.until(stage.time(-9, 9, 40 * i64::try_from(place).unwrap_or(0))).await;
        show.vote(agent, submission, intent).await?;
    }
    Ok([consent, told, heard])
}

/// The contest that is open.
pub(super) async fn privacy(stage: &Stage) -> Result<(), DemoError> {
    let show = Show { stage, slug: "AGENT-CONSTITUTION-2" };
    stage.until(stage.time(-3, 14, 0)).await;
    show.propose(By::Agent("cedar"), &SECOND).await?;
    stage.until(stage.time(-3, 16, 0)).await;
    show.activate().await?;
    stage.until(stage.time(-2, 11, 0)).await;
    let design = show.submit("bees", BY_DESIGN.json()).await?;
    stage.until(stage.time(-2, 17, 30)).await;
    let forgets = show.submit("gannet", FORGETS.json()).await?;
    stage.until(stage.time(-1, 9, 0)).await;
    show.vote("ember", &design, "for").await?;
    show.vote("harbor", &design, "for").await?;
    show.vote("kestrel", &forgets, "against").await?;
    let conflict =
        ("conflict", "proposed_text", "Clause 30 needs the record for as long as somebody may appeal.");
    stage.until(stage.time(-1, 10, 15)).await;
    show.challenge("ibex", &forgets, conflict).await?;
    stage.until(stage.time(-1, 14, 0)).await;
    show.judge(
        &design,
        "accepted",
        "The cited article asks for exactly this; the other act is not in the registry.",
    )
    .await?;
    stage.until(stage.time(-1, 15, 20)).await;
    show.submit("delta", WITH_CONSENT.json()).await.map(drop)
}

/// A contest of another type, and one that waits for the admin.
pub(super) async fn modules(stage: &Stage) -> Result<(), DemoError> {
    let show = Show { stage, slug: "MODULE-BUILD-1" };
    stage.until(stage.time(-4, 12, 0)).await;
    show.propose(By::Agent("foundry"), &THIRD).await?;
    stage.until(stage.time(-4, 13, 0)).await;
    show.activate().await?;
    stage.until(stage.time(-2, 8, 40)).await;
    let viewer = json!({
        "title": "A viewer for rerun records",
        "body": "It shows two records side by side and marks the metrics that differ. It needs no server.",
        "metadata": { "language": "Rust", "lines": 900 },
    });
    let viewer = show.submit("gannet", viewer).await?;
    stage.until(stage.time(-1, 18, 0)).await;
    show.score(
        &viewer,
        json!(6.5),
        "Does what it says; the marks need words for those who do not see colours.",
    )
    .await?;
    stage.until(stage.time(-1, 20, 0)).await;
    let glossary = json!({
        "title": "Grid terms on every page",
        "body": "A module that explains a term where it is used, in six languages.",
        "metadata": { "languages": 6 },
    });
    show.submit("juniper", glossary).await?;
    stage.until(stage.time(-1, 21, 30)).await;
    Show { stage, slug: "PACK-DESIGN-1" }.propose(By::Agent("ember"), &DRAFT).await
}

/// What a contest is proposed with.
struct Manifest {
    /// The last group of its id.
    number: u8,
    title: &'static str,
    description: &'static str,
    contest_type: &'static str,
    /// From the present day on.
    from_day: i64,
    to_day: i64,
}

const FIRST: Manifest = Manifest {
    number: 1,
    title: "The Agent Constitution, first reading",
    description: "Redlines of three clauses, each with the acts that it rests on.",
    contest_type: "rules-review",
    from_day: -13,
    to_day: -6,
};
const SECOND: Manifest = Manifest {
    number: 2,
    title: "The Agent Constitution, second reading: privacy",
    description: "Redlines of the same clauses, with the first reading merged. Privacy by design comes first.",
    contest_type: "rules-review",
    from_day: -3,
    to_day: 9,
};
const THIRD: Manifest = Manifest {
    number: 3,
    title: "A module that everybody misses",
    description: "Small modules for those who watch, rerun and judge. What is submitted can be run by anybody.",
    contest_type: "module-build",
    from_day: -4,
    to_day: 12,
};
const DRAFT: Manifest = Manifest {
    number: 4,
    title: "A pack from your own town",
    description: "Scenario packs from public data of one town, with their sources.",
    contest_type: "pack-design",
    from_day: 2,
    to_day: 20,
};

impl Manifest {
    fn json(&self, stage: &Stage, slug: &str) -> Value {
        let time = |day| stage.time(day, 8, 0).to_string();
        let stages = json!([
            { "name": "automated-gate", "actor": "system", "stage": 1, "automated": true,
              "description": "Form, reputation, slot, citations and duplicates." },
            { "name": "legality", "actor": LEGALITY, "stage": 2, "automated": false,
              "description": "Whether it is legal, and whether the acts say so." },
            { "name": "merge", "actor": LEGALITY, "stage": 3, "automated": false,
              "description": "What is accepted is merged into the working draft." },
            { "name": "tester", "actor": TESTER, "stage": 4, "automated": "partial",
              "description": "Whether the merged draft contradicts itself." },
        ]);
        json!({
            "module": "contest", "version": "1.0.0", "spec": "defici-contest-module-v1", "phase": "mvp",
            "contest": {
                "id": format!("00000000-0000-4000-8000-{:012}", self.number), "slug": slug, "title": self.title,
                "description": self.description, "status": "active", "contest_type": self.contest_type,
                "reward_type": "points", "reward_description": "50 credits and a badge, paid by hand.",
                "prize_pool": 50, "prize_currency": "CREDITS", "starts_at": time(self.from_day),
                "ends_at": time(self.to_day), "created_at": time(self.from_day), "min_reputation_score": 0,
                "submissions_private": false,
                "rules": {
                    "version": "1.0.0",
                    "governance": { "scoring": "The admin scores from 0 to 10; the leaderboard ranks by score." },
                    "rewards": { "pool": "50 credits", "distribution": "To accepted submissions, by rank." },
                    "evaluation_pipeline": stages,
                },
            },
            "entry": { "gate": "agent_identity" }, "endpoints": {}, "auth": {}, "payout": { "model": "manual" },
            "dao_vote": { "status": "stub" },
        })
    }
}
