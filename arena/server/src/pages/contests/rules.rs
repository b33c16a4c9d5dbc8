//! The rules of a manifest in prose. They are an open object: what is known is told in sentences, and
//! whatever else is there is told as it stands.

use arena_canon::json::Value;
use arena_contests::contest::{Automated, Contest, ContestStatus, Role};

use super::{See, paragraphs, short};
use crate::pages::{Markup, Step, StepState, definition_list, guest, html, steps};

/// How deep a value is followed.
const DEPTH_MAX: u8 = 4;
/// Members of one object or list that are shown.
const MEMBERS_MAX: usize = 60;

fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Who may enter, and with what.
pub(super) fn who(contest: &Contest) -> Markup {
    let document = contest.manifest.document();
    let manifest = &contest.manifest;
    html! {
        @if let Some(who) = text_at(document, "/contest/rules/eligibility/who") { (paragraphs(who)) }
        @if let Some(note) = text_at(document, "/entry/note") { (paragraphs(note)) }
        (definition_list([
            ("Reputation", html! {
                @if manifest.min_reputation_score == 0 { "None is needed." }
                @else { "At least " (manifest.min_reputation_score) "." }
            }),
            ("Submissions", html! {
                @if manifest.submissions_private { "Private: between their authors and those who judge." }
                @else { "Public once the gate has let them through. What it rejects only its author sees." }
            }),
            ("Key", html! { code { "Authorization: Bearer ak_…" } " with the scope " code { "submit" } "." }),
        ]))
    }
}

/// The rewards. The contest and its rules may say it differently, so both are shown.
pub(super) fn rewards(contest: &Contest) -> Markup {
    let document = contest.manifest.document();
    let rewards = &document["contest"]["rules"]["rewards"];
    html! {
        @if let Some(text) = text_at(document, "/contest/reward_description") {
            h3 { "As the contest says" }
            (paragraphs(text))
        }
        @if !rewards.is_null() {
            h3 { "As its rules say" }
            (open(rewards, 0))
            p.quiet {
                "The ledger of rewards follows the rules. "
                "Every reward is promised, approved and handed over by a person."
            }
        }
    }
}

/// The stages of the evaluation in their order.
pub(super) fn stages(see: &See<'_>, contest: &Contest) -> Markup {
    let told = contest.manifest.document().pointer("/contest/rules/evaluation_pipeline");
    let status = contest.status_at(see.now);
    let list: Vec<Step<'_>> = contest
        .manifest
        .stages
        .iter()
        .enumerate()
        .map(|(i, stage)| {
            let about = told.and_then(|told| told[i]["description"].as_str());
            let automated = match stage.automated {
                Automated::Yes => "by itself",
                Automated::No => "by hand",
                Automated::Partial => "in part by itself",
            };
            let note = html! {
                (short(&stage.actor)) ", " (automated) ". "
                @if let Some(about) = about { (guest(about, 2_000)) }
            };
            Step { name: &stage.name, state: state_of(stage.role, status), note: Some(note) }
        })
        .collect();
    if list.is_empty() {
        return html! { p { "The manifest names no stages." } };
    }
    steps("Stages of the evaluation", &list)
}

/// The gate works while submissions come, people after it; the vote of all is for a later phase.
const fn state_of(role: Role, status: ContestStatus) -> StepState {
    match (role, status) {
        (Role::Dao, _) | (_, ContestStatus::Cancelled) => StepState::Skipped,
        (Role::System, ContestStatus::Active) | (Role::LegalityReviewer, ContestStatus::Judging) => {
            StepState::Current
        }
        (Role::System, ContestStatus::Judging) | (_, ContestStatus::Closed) => StepState::Done,
        _ => StepState::Ahead,
    }
}

/// All rules but those that have a place of their own on the page.
pub(super) fn others(contest: &Contest) -> Markup {
    let told_elsewhere = ["rewards", "evaluation_pipeline"];
    let is_other = |(name, _): &(&String, &Value)| !told_elsewhere.contains(&name.as_str());
    let rules = contest.manifest.document()["contest"]["rules"].as_object();
    html! {
        @if let Some(rules) = rules {
            @for (name, value) in rules.iter().filter(is_other).take(MEMBERS_MAX) {
                @if value.is_object() || value.is_array() {
                    h3 { (words(name)) }
                    (open(value, 0))
                } @else {
                    p { strong { (words(name)) } ": " (open(value, 0)) }
                }
            }
        }
    }
}

/// `min_reputation_score` as words.
fn words(name: &str) -> Markup {
    let spaced = name.replace(['_', '-'], " ");
    let mut letters = spaced.chars();
    let text: String =
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    guest(&text, 100)
}

/// A value of the manifest as it stands.
fn open(value: &Value, depth: u8) -> Markup {
    html! {
        @match value {
            Value::Object(members) if depth < DEPTH_MAX => {
                dl.facts {
                    @for (name, value) in members.iter().take(MEMBERS_MAX) {
                        dt { (words(name)) } dd { (open(value, depth + 1)) }
                    }
                }
            }
            Value::Array(items) if depth < DEPTH_MAX => {
                ul { @for item in items.iter().take(MEMBERS_MAX) { li { (open(item, depth + 1)) } } }
            }
            Value::String(text) => (guest(text, 3_000)),
            Value::Bool(true) => "yes",
            Value::Bool(false) => "no",
            Value::Null => "none",
            other => (guest(&other.to_string(), 1_000)),
        }
    }
}
