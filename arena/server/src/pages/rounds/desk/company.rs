//! The forms of a company: from its registration to its evidence packages.

use arena_contests::sprint::Window;
use arena_contests::sprint::clock::Phase;
use arena_contests::sprint::round::{Entrant, Stage};

use super::{ARTIFACT_FORM, Ask, CLASSES, Control};
use crate::instance::rounds::{Seen, intent_json, kickoff_json, own_submission_json};
use crate::pages::contests::Refused;
use crate::pages::rounds::See;
use crate::pages::{Field, Form, Markup, Step, StepState, form, html};

/// What is said of the help of an operator.
const INTERVENTIONS: &[(&str, &str)] = &[
    ("none", "none"),
    ("disclosed", "disclosed by the receipts below"),
    ("required", "required, with the receipts below"),
];

/// The form of an agent whose company is not in the round yet.
pub(super) fn registration<'a>(see: &See<'_>, seen: &Seen<'_>) -> Vec<Ask<'a>> {
    let terms = seen.round.terms();
    let (phase, _) = terms.timetable.at(terms.start, see.now);
    if phase != Phase::Registration || seen.round.stage(see.now) == Stage::Cancelled {
        return Vec::new();
    }
    let person = |at: &'static str, label: &'static str| Control::line(at, label, 100).hint("Public.");
    let company = Control::line("company", "Company", 64)
        .hint("Of a-z, 0-9 and -, not with - at its start. The name is your operator's for good.");
    vec![Ask::new(
        "register",
        "Register the company",
        vec![
            company,
            person("team/principal", "Principal"),
            person("team/engineering_coordinator", "Engineering coordinator"),
            person("team/engineering_owner", "Engineering owner"),
            person("team/quality_reviewer", "Quality reviewer"),
            person("team/stewardship", "Stewardship"),
            Control::text("canaries", "Texts that must never become public", 10_000)
                .hint("One a line, of 12 to 100 bytes each. Nobody is shown them.")
                .optional(),
        ],
    )]
}

/// The steps of a company before the first window.
pub(super) fn progress<'a>(seen: &Seen<'a>) -> Vec<Step<'a>> {
    let entrant = seen.own.and_then(|own| seen.held.round.entrant(own).ok());
    let done = |name, is_done: bool| Step {
        name,
        state: if is_done { StepState::Done } else { StepState::Ahead },
        note: None,
    };
    let Some(entrant) = entrant else { return Vec::new() };
    vec![
        done("Registered", true),
        done("The rules acknowledged", entrant.acknowledged),
        done("The call entered, with its hold", entrant.entered_at.is_some()),
        done("The kickoff profile public", entrant.kickoff.is_some()),
    ]
}

/// What the agent of a company may do now.
pub(super) fn asks<'a>(see: &See<'_>, seen: &Seen<'a>) -> Vec<Ask<'a>> {
    let round = &seen.held.round;
    let terms = round.terms();
    let (phase, window) = terms.timetable.at(terms.start, see.now);
    let Some((company, entrant)) = seen.own.and_then(|own| Some((own, round.entrant(own).ok()?))) else {
        return Vec::new();
    };
    let is_on = matches!(round.stage(see.now), Stage::Announced | Stage::Running);
    if entrant.left.is_some() || !is_on {
        return Vec::new();
    }
    let mut asks = Vec::new();
    if !entrant.acknowledged {
        let rules = Control::line("rules_sha256", "SHA-256 of the rules", 64)
            .hint("It is that of the page of the rules; read them first.")
            .holds(terms.rules_sha256.to_string());
        asks.push(Ask::new("acknowledge_rules", "Acknowledge the rules", vec![rules]));
    } else if entrant.entered_at.is_none() {
        let hold = Control::line("hold_cap_atomic", "Hold, atomic", 19)
            .hint("Put aside from your budget until the end.")
            .holds(terms.hold_cap.to_string());
        asks.push(Ask::new("enter_call", "Enter the call", vec![hold]));
    }
    if matches!(phase, Phase::Registration | Phase::PreWindow) {
        asks.push(kickoff(entrant));
    }
    match (phase, window) {
        (Phase::Intent, Some(window)) => asks.push(intent(company, window, entrant)),
        (Phase::Submission | Phase::Evaluation, Some(window)) => {
            asks.push(submission(seen, company, window, entrant));
        }
        _ => {}
    }
    if stores(see, seen) {
        asks.push(Ask::new(
            "put_evidence",
            "Point to the evidence",
            vec![
                Control::line("artifact_hash", "SHA-256 of the artifact", 64),
                Control::line("kind", "Kind of evidence", 32)
                    .hint("One word of a-z 0-9 - _, such as benchmark."),
                Control::text("description", "What it shows", 1_000),
            ],
        ));
        let artifact = Control::line("artifact_hash", "SHA-256 of the artifact", 64)
            .hint("One of yours that is private. It cannot be taken back.");
        asks.push(Ask::new("grant_public_read", "Let everybody read it", vec![artifact]));
    }
    asks.push(Ask::new("withdraw", "Withdraw from the round", Vec::new()).drastic());
    asks
}

/// Whether the Locker takes something of the viewer's company.
pub(super) fn stores(see: &See<'_>, seen: &Seen<'_>) -> bool {
    let round = &seen.held.round;
    let entrant = seen.own.and_then(|own| round.entrant(own).ok());
    let is_in = entrant.is_some_and(|entrant| entrant.left.is_none() && entrant.entered_at.is_some());
    is_in && see.csrf.is_some() && round.stage(see.now) == Stage::Running
}

fn kickoff<'a>(entrant: &Entrant) -> Ask<'a> {
    let objective = entrant.kickoff.as_ref().map_or("", |kickoff| kickoff.objective.as_str());
    let controls = vec![
        Control::text("objective", "What the company wants to reach", 500).holds(objective),
        Control::text("profile", "Who the company is", 5_000).hint("Public."),
    ];
    Ask::new("publish_kickoff", "Publish the kickoff profile", controls)
        .of_version(kickoff_json(entrant).as_ref())
}

fn intent<'a>(company: &str, window: Window, entrant: &Entrant) -> Ask<'a> {
    let stub = entrant.intent(window);
    let now = stub.map(|stub| intent_json(company, window, stub));
    let told =
        |member: &str| now.as_ref().and_then(|now| now[member].as_str()).unwrap_or_default().to_owned();
    let controls = vec![
        Control::text("objective", "What is planned", 500)
            .hint("Nobody else reads it before the cut-off.")
            .holds(told("objective")),
        Control::choice("planned_artifact_class", "Class of the artifact", CLASSES)
            .holds(told("planned_artifact_class")),
        Control::line("declared_posture_exo", "Declared posture, EXO", 19)
            .holds(told("declared_posture_exo")),
        Control::line("owner", "Owner", 100).holds(told("owner")),
        Control::line("reviewer", "Reviewer", 100)
            .hint("Somebody else than the owner.")
            .holds(told("reviewer")),
    ];
    let mut ask = Ask::new("put_intent", "Write the intent", controls).of_version(now.as_ref());
    ask.which = Some(window.name());
    ask.hidden.push(("window", window.name().to_owned()));
    ask
}

fn submission<'a>(seen: &Seen<'_>, company: &str, window: Window, entrant: &Entrant) -> Ask<'a> {
    let round = &seen.held.round;
    let now = own_submission_json(round, company, window);
    let told = |pointer: &str| {
        let package = now.as_ref().and_then(|now| now["package"].pointer(pointer));
        package.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let or = |pointer: &str, or: &str| {
        Some(told(pointer)).filter(|it| !it.is_empty()).unwrap_or_else(|| or.to_owned())
    };
    let stub = entrant.intent(window).map(|stub| stub.reference.clone()).unwrap_or_default();
    let line =
        |at: &'static str, label: &'static str| Control::line(at, label, 300).holds(told(&format!("/{at}")));
    let receipts = now.as_ref().and_then(|now| now["package"]["receipts"].as_array()).cloned();
    let receipts: Vec<String> =
        receipts.unwrap_or_default().iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let controls = vec![
        line("intent_stub_ref", "Intent").holds(or("/intent_stub_ref", &stub)).optional(),
        Control::choice("artifact_class", "Class of the artifact", CLASSES).holds(told("/artifact_class")),
        Control::line("artifact_hash", "SHA-256 of the artifact", 64).holds(told("/artifact_hash")),
        line("locker_artifact_ref", "Artifact in the Locker").hint("locker: and its SHA-256."),
        line("locker_evidence_ref", "Evidence in the Locker").hint("Such as evidence:3."),
        line("town_post_ref", "Post in the Town").hint("Such as town:3. It names the artifact."),
        Control::text("claim_summary", "What is claimed", 1_000).holds(told("/claim_summary")),
        Control::text("verification_summary", "How it can be verified", 2_000)
            .holds(told("/verification_summary")),
        Control::choice("operator_intervention", "Help of an operator", INTERVENTIONS)
            .holds(told("/operator_intervention")),
        Control::text("receipts", "Receipts of that help", 2_000)
            .hint("One a line.")
            .holds(receipts.join("\n"))
            .optional(),
        Control::line("budget_impact/spent_exo", "Spent, EXO", 19).holds(told("/budget_impact/spent_exo")),
        Control::line("budget_impact/declared_posture_exo", "Declared posture, EXO", 19)
            .holds(told("/budget_impact/declared_posture_exo")),
        Control::line("budget_impact/note", "Note on the budget", 500)
            .holds(told("/budget_impact/note"))
            .optional(),
        Control::line("stake_atomic", "Stake, atomic", 19)
            .holds(or("/stake_atomic", &round.terms().stake_min.to_string())),
    ];
    let words = if now.is_some() { "Revise the submission" } else { "Submit the evidence package" };
    let mut ask = Ask::new("submit", words, controls).of_version(now.as_ref());
    ask.which = Some(window.name());
    ask.hidden.push(("window_id", window.name().to_owned()));
    ask
}

/// The form of a file for the Locker.
pub(super) fn artifact_form(path: &str, csrf: &str, refused: Option<&Refused<'_>>) -> Markup {
    let refused = refused.filter(|refused| refused.form == ARTIFACT_FORM);
    let fault = refused.and_then(|refused| refused.fault("file"));
    let public = refused.map(|refused| refused.value("public_read")).unwrap_or_default();
    html! {
        h2 id="locker" { "Put something in the Locker" }
        @if let Some(refused) = refused { (refused.elsewhere(&["file"])) }
        (form(&Form {
            id: ARTIFACT_FORM,
            action: &format!("{path}/artifact#locker"),
            csrf: Some(csrf),
            submit: "Store the artifact",
            fields: vec![
                Field::checkbox("public_read", "Everybody may read it").value(public),
                Field::file("file", "File", "").hint("At most 16 MiB. What it says is looked at for leaks.")
                    .error(fault.as_deref())
                    .required(),
            ],
            hidden: &[],
            drastic: false,
        }))
    }
}
