//! A whole round of four companies on an injected clock, as a script that anybody can read and run:
//! intents, artifacts, posts, packages, one that comes late, one that would leak, a dispute, an
//! intervention, a reversal, awards.

use arena_canon::Digest;
use arena_ledger::{Amount, Asset};

use super::Window;
use super::clock::Timetable;
use super::record::{ArtifactClass, Components, Intervention, Outcome, Penalty, State};
use super::round::{
    Actor, Command, Happened, Intent, Package, PostKind, Prizes, Rail, Refusal, Round, Ruling, StakePolicy,
    Stamped, Target, Team, Terms, Verdict, locker_reference,
};
use crate::moment::Moment;

/// The companies, in the order of the alphabet.
pub const COMPANIES: [&str; 4] = ["acme", "bolt", "cobalt", "dune"];

/// What was asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Moment,
    /// In one line, who wanted what.
    pub what: String,
    /// The command itself.
    pub stamped: Stamped,
    /// The events, or the refusal.
    pub outcome: Result<Vec<Happened>, Refusal>,
}

/// A round that is played step by step.
#[derive(Debug, Clone)]
pub struct Stage {
    /// As it is now.
    pub round: Round,
    /// Everything so far.
    pub steps: Vec<Step>,
}

/// The start of the example's Day 0.
pub fn start() -> Moment {
    // 2026-07-09T00:00:00Z
    Moment::from_unix_ms(1_783_555_200_000)
}

/// `day` and time of day.
pub fn at(day: i64, hour: i64, minute: i64) -> Moment {
    start().plus_seconds(day * 86_400 + hour * 3_600 + minute * 60)
}

/// The terms of the example.
pub fn terms() -> Terms {
    let units = |units| Amount::new(units).expect("a small amount");
    Terms {
        id: "s0-r1".to_owned(),
        title: "Public Producer Sprint".to_owned(),
        start: start(),
        timetable: Timetable::sprint_v1(),
        rules_sha256: Digest::of(b"the rules"),
        asset: Asset::new("EXO").expect("a name"),
        entrants_max: 8,
        base_budget: units(200_000_000),
        hold_cap: units(50_000_000),
        stake_min: units(1_000_000),
        dispute_stake: units(500_000),
        stake_policy: StakePolicy::Burn,
        prizes: Prizes {
            placements: vec![units(60_000_000), units(30_000_000), units(10_000_000)],
            external_window: units(5_000_000),
            hygiene: units(2_000_000),
        },
    }
}

/// The agent of a company.
pub fn agent(company: &str) -> String {
    format!("persistent_agent:{company}")
}

/// A company as an actor.
pub fn of(company: &str) -> Actor {
    Actor::Company { company: company.to_owned(), agent: agent(company) }
}

/// The evaluator.
pub fn evaluator() -> Actor {
    Actor::Evaluator("eva".to_owned())
}

/// The operator.
pub fn operator() -> Actor {
    Actor::Operator("olga".to_owned())
}

/// Delivery, evidence, continuity, budget.
pub fn parts(delivery: u8, evidence: u8, continuity: u8, budget: u8) -> Components {
    Components { delivery, evidence, continuity, budget }
}

/// A verdict with a reason.
pub fn verdict(state: State, components: Components, penalties: &[Penalty], rationale: &str) -> Verdict {
    Verdict {
        state,
        components,
        penalties: penalties.iter().copied().collect(),
        rationale: rationale.to_owned(),
        external_effect: None,
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new(terms())
    }
}

impl Stage {
    /// A draft on these terms.
    pub fn new(terms: Terms) -> Self {
        Self { round: Round::draft(terms), steps: Vec::new() }
    }

    /// Tries one command, and keeps what came of it.
    pub fn step(&mut self, at: Moment, by: Actor, command: Command, what: impl Into<String>) -> bool {
        let stamped = Stamped { at, by, command };
        let outcome = self.round.decide(&stamped);
        if let Ok(events) = &outcome {
            self.round = events.iter().fold(self.round.clone(), Round::evolve);
        }
        let is_done = outcome.is_ok();
        self.steps.push(Step { at, what: what.into(), stamped, outcome });
        is_done
    }

    /// Day 0: everybody registers, acknowledges, enters, is approved and tells what it wants.
    pub fn enter_all(&mut self) {
        self.step(at(0, 0, 0), operator(), Command::Announce, "olga announces the round");
        for (company, minute) in COMPANIES.iter().zip((0..).step_by(5)) {
            self.enter(company, at(0, 1, minute));
        }
    }

    fn enter(&mut self, company: &str, at: Moment) {
        let person = |role: &str| format!("{company}-{role}");
        let team = Team {
            principal: person("principal"),
            engineering_coordinator: person("coordinator"),
            engineering_owner: person("owner"),
            quality_reviewer: person("reviewer"),
            stewardship: person("steward"),
        };
        let canaries = vec![format!("canary-{company}-5d2f")];
        let rules_sha256 = self.round.terms().rules_sha256;
        let hold_cap = self.round.terms().hold_cap;
        self.step(at, of(company), Command::Register { team, canaries }, format!("{company} registers"));
        let acknowledge = Command::AcknowledgeRules { rules_sha256 };
        self.step(at, of(company), acknowledge, format!("{company} acknowledges the rules"));
        self.step(
            at,
            of(company),
            Command::EnterCall { hold_cap },
            format!("{company} enters with its hold"),
        );
        for rail in Rail::ALL {
            let approve =
                Command::Approve { company: company.to_owned(), rail: *rail, agent: agent(company) };
            self.step(at, operator(), approve, format!("olga approves {rail} for {company}"));
        }
        let kickoff = Command::PublishKickoff {
            objective: format!("{company}: a planner that schools can run by themselves"),
            profile: format!("{company} builds tools that others can install and verify."),
        };
        self.step(at, of(company), kickoff, format!("{company} publishes its kickoff profile"));
    }

    /// The intent stub of a company for a window.
    pub fn intend(&mut self, company: &str, window: Window, class: ArtifactClass) -> bool {
        let intent = Intent {
            objective: format!("{company}: reach the goal of {window} and prove it"),
            planned_class: class,
            declared_posture_exo: 1_000,
            owner: format!("{company}-owner"),
            reviewer: format!("{company}-reviewer"),
        };
        let what = format!("{company} plans {window}");
        self.step(at(day(window), 1, 0), of(company), Command::PutIntent { window, intent }, what)
    }

    /// Artifact, evidence and post of a company for a window; the package that binds them.
    pub fn publish(&mut self, company: &str, window: Window, claim: &str, public_read: bool) -> Package {
        let bytes = format!("{company} {window}: {claim}\n").into_bytes();
        let artifact = Digest::of(&bytes);
        let time = at(day(window), 19, 0);
        let store = Command::StoreArtifact { bytes, media_type: "text/plain".to_owned(), public_read };
        self.step(time, of(company), store, format!("{company} stores its artifact of {window}"));
        let evidence = Command::PutEvidence {
            artifact,
            kind: "benchmark".to_owned(),
            description: "a run anybody can repeat".into(),
        };
        self.step(time, of(company), evidence, format!("{company} points to its evidence of {window}"));
        let evidence = self.last_reference();
        let post = Command::Post {
            kind: PostKind::Progress,
            window: Some(window),
            body: format!("{claim} Artifact {artifact}.").into(),
            refs: vec![locker_reference(&artifact)],
            corrects: None,
        };
        self.step(time, of(company), post, format!("{company} posts about {window}"));
        let town_post_ref = self.last_reference();
        Package {
            window,
            intent_stub_ref: format!("intent:{}:{company}:{window}", self.round.terms().id),
            class: ArtifactClass::External,
            artifact,
            locker_artifact_ref: locker_reference(&artifact),
            locker_evidence_ref: evidence,
            town_post_ref,
            claim_summary: claim.to_owned(),
            verification_summary: "Run the script in the artifact; it prints the numbers.".to_owned(),
            intervention: Intervention::None,
            receipts: Vec::new(),
            spent_exo: 900,
            declared_posture_exo: 1_000,
            budget_note: String::new(),
            stake: self.round.terms().stake_min,
        }
    }

    fn last_reference(&self) -> String {
        let last = self.steps.last().and_then(|step| step.outcome.as_ref().ok()?.first());
        last.and_then(|happened| happened.event.reference()).unwrap_or_default().to_owned()
    }

    /// Submits a package at some minutes past 20:00 of its day.
    pub fn submit(&mut self, company: &str, package: Package, minute: i64) -> bool {
        let (time, window) = (at(day(package.window), 20, minute), package.window);
        self.step(time, of(company), Command::Submit(package), format!("{company} submits {window}"))
    }

    /// Judges a window shortly after 22:00 of its day.
    pub fn judge(&mut self, company: &str, window: Window, verdict: Verdict) -> bool {
        let what = format!("eva judges {window} of {company}: {}", verdict.state.name());
        let command = Command::Judge { company: company.to_owned(), window, verdict };
        self.step(at(day(window), 22, 30), evaluator(), command, what)
    }

    /// Records the standings when the day of a window is over.
    pub fn snapshot(&mut self, after: Window) {
        let what = format!("the standings after {after} are recorded");
        self.step(at(day(after) + 1, 0, 0), Actor::System, Command::TakeSnapshot { after }, what);
    }
}

const fn day(window: Window) -> i64 {
    window.index() as i64 + 1
}

/// The round of the demonstration, from its draft to the last award.
pub fn four_companies() -> Stage {
    let mut stage = Stage::default();
    stage.enter_all();
    first_window(&mut stage);
    second_window(&mut stage);
    third_window(&mut stage);
    closeout(&mut stage);
    stage
}

fn first_window(stage: &mut Stage) {
    let window = Window::W1;
    COMPANIES.iter().for_each(|company| _ = stage.intend(company, window, ArtifactClass::External));
    let acme = stage.publish("acme", window, "Published a planner that three schools installed.", true);
    let mut bolt = stage.publish("bolt", window, "Wrote the report on tariffs for the pilot site.", false);
    let cobalt = stage.publish("cobalt", window, "Released the importer for meter readings.", true);
    let dune = stage.publish("dune", window, "Opened the offer for the first ten customers.", true);
    stage.submit("acme", acme, 5);
    bolt.class = ArtifactClass::InternalSupporting;
    stage.submit("bolt", bolt.clone(), 10);
    let grant = Command::GrantPublicRead { artifact: bolt.artifact };
    stage.step(at(1, 20, 20), of("bolt"), grant, "bolt lets anybody read its artifact");
    stage.step(at(1, 20, 25), of("bolt"), Command::Revise(bolt), "bolt revises W1");
    // Put together here so that no scanner takes this file for one that leaks.
    let key = ["ak", "_", "q7Rt2Lm9", "Xw4Zc8Vb", "5Nk3Hd6P"].concat();
    let mut leaking = cobalt.clone();
    leaking.verification_summary = format!("Call the API with {key} and compare the numbers.");
    stage.step(at(1, 20, 30), of("cobalt"), Command::Submit(leaking), "cobalt submits W1 with a key in it");
    stage.submit("cobalt", cobalt, 40);
    stage.step(at(1, 22, 5), of("dune"), Command::Submit(dune), "dune submits W1 after the cut-off");
    stage.judge(
        "acme",
        window,
        verdict(State::Accepted, parts(60, 20, 20, 20), &[], "installed and verified"),
    );
    stage.judge(
        "bolt",
        window,
        verdict(State::Accepted, parts(40, 10, 20, 20), &[], "solid, after a repair"),
    );
    stage.judge(
        "cobalt",
        window,
        verdict(State::Accepted, parts(20, 20, 20, 20), &[], "partial, reviewable"),
    );
    stage.snapshot(window);
}

fn second_window(stage: &mut Stage) {
    let window = Window::W2;
    COMPANIES.iter().for_each(|company| _ = stage.intend(company, window, ArtifactClass::External));
    let help = Command::RecordIntervention {
        company: "bolt".to_owned(),
        window,
        text: "restarted the build machine for bolt".into(),
    };
    stage.step(at(2, 12, 0), operator(), help, "olga helps bolt, with a receipt");
    let receipt = stage.last_reference();
    let mut packages = Vec::new();
    for (company, claim, minute) in [
        ("acme", "Cut the planning time of a school from 40 to 3 minutes.", 1),
        ("bolt", "Shipped the alarm service to two pilot sites.", 2),
        ("cobalt", "The importer now reads the format of every grid operator.", 3),
        ("dune", "Ten customers signed, confirmed by their own posts.", 4),
    ] {
        let mut package = stage.publish(company, window, claim, true);
        if company == "bolt" {
            (package.intervention, package.receipts) = (Intervention::Disclosed, vec![receipt.clone()]);
        }
        packages.push((company, package, minute));
    }
    for (company, package, minute) in packages {
        stage.submit(company, package, minute);
    }
    let assisted = State::OperatorAssisted(Outcome::Accepted);
    let doubt =
        verdict(State::Rejected, parts(0, 20, 0, 20), &[Penalty::ClaimMismatch], "cannot be repeated");
    stage.judge("acme", window, doubt);
    stage.judge("bolt", window, verdict(assisted, parts(60, 20, 20, 10), &[], "works, with help"));
    stage.judge("cobalt", window, verdict(State::Accepted, parts(60, 20, 20, 20), &[], "verified"));
    stage.judge("dune", window, verdict(State::Accepted, parts(60, 20, 20, 20), &[], "confirmed"));
    let ground = "The run was repeated with the published script; the evaluator used an old artifact.";
    let dispute = Command::FileDispute { company: "acme".to_owned(), window, ground: ground.into() };
    stage.step(at(2, 23, 0), of("acme"), dispute, "acme disputes the rejection of its W2");
    stage.snapshot(window);
    let amend = Command::AmendDispute {
        dispute: "dispute:1".to_owned(),
        text: "Marked as an amendment: the log of the second run, with the same numbers.".into(),
    };
    stage.step(at(3, 0, 30), of("acme"), amend, "acme amends its dispute");
    let right = verdict(State::Accepted, parts(60, 20, 20, 20), &[], "the second run agrees");
    let ruling = Command::RuleDispute {
        dispute: "dispute:1".to_owned(),
        ruling: Ruling::Upheld(right),
        rationale: "the artifact was verified anew".to_owned(),
    };
    stage.step(at(3, 1, 0), evaluator(), ruling, "eva upholds the dispute");
    stage.step(at(3, 1, 0), Actor::System, Command::TakeSnapshot { after: window }, "W2 is recorded anew");
}

fn third_window(stage: &mut Stage) {
    let window = Window::W3;
    for company in ["acme", "bolt", "cobalt"] {
        stage.intend(company, window, ArtifactClass::External);
    }
    let mut packages = Vec::new();
    for (company, claim, minute) in [
        ("acme", "Twelve schools now plan their week with it, by their own word.", 10),
        ("bolt", "Documented every alarm of the service for its operators.", 20),
        ("cobalt", "Sold the first yearly licence, with a public receipt.", 30),
    ] {
        let mut package = stage.publish(company, window, claim, true);
        if company == "bolt" {
            package.class = ArtifactClass::InternalSupporting;
        }
        packages.push((company, package, minute));
    }
    let unplanned = stage.publish("dune", window, "A demo that nobody was told of before.", true);
    packages.push(("dune", unplanned, 40));
    for (company, package, minute) in packages {
        stage.submit(company, package, minute);
    }
    stage.judge("acme", window, verdict(State::Accepted, parts(60, 20, 20, 20), &[], "confirmed"));
    stage.judge("bolt", window, verdict(State::Accepted, parts(40, 20, 20, 20), &[], "complete"));
    stage.judge(
        "cobalt",
        window,
        verdict(State::Accepted, parts(60, 20, 20, 20), &[], "the receipt is public"),
    );
    stage.snapshot(window);
}

fn closeout(stage: &mut Stage) {
    let invalidate = Command::Invalidate {
        company: "cobalt".to_owned(),
        window: Window::W2,
        penalties: [Penalty::ClaimMismatch].into(),
        rationale: "two operators report that their format is not read".to_owned(),
    };
    stage.step(at(4, 2, 0), operator(), invalidate, "olga reverses W2 of cobalt");
    let post =
        stage.round.town().posts().find(|(_, post)| post.author == "cobalt").map(|(name, _)| name.clone());
    if let Some(post) = post {
        let hide = Command::Hide { target: Target::Post(post), reason: "it named a customer".to_owned() };
        stage.step(at(4, 3, 0), evaluator(), hide, "eva hides a post of cobalt behind its digest");
    }
    let recap = |kind, body: &str| Command::Post {
        kind,
        window: None,
        body: body.into(),
        refs: Vec::new(),
        corrects: None,
    };
    let text = "Three windows, three accepted outcomes; the dispute cost us a night.";
    stage.step(at(4, 4, 0), of("acme"), recap(PostKind::Recap, text), "acme looks back");
    stage.step(at(4, 12, 0), Actor::System, Command::Settle, "the round is settled");
    let text = "Publish the script together with the artifact, not after it.";
    stage.step(at(4, 13, 0), of("acme"), recap(PostKind::Postmortem, text), "acme writes what it learned");
}
