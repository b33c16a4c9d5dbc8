//! The rules of the sprint, and a calculator that asks them.

use arena_canon::json::Value;
use serde_json::json;

use super::See;
use super::board::window_sum;
use crate::instance::rounds::{RULES, rules_sha256};
use crate::pages::{Field, Form, Mark, Markup, Page, digest, form, guest, html, markdown, notice};
use crate::problem::Problem;

/// The fields of the calculator.
pub(crate) const CALCULATOR: [&str; 9] = [
    "state",
    "artifact_class",
    "delivery",
    "evidence",
    "continuity",
    "budget",
    "penalty",
    "operator_intervention",
    "assisted_outcome",
];

const STATES: &[(&str, &str)] = &[
    ("accepted", "accepted"),
    ("accepted_with_penalty", "accepted with penalty"),
    ("rejected", "rejected"),
    ("late", "late"),
    ("disputed", "disputed"),
    ("reversed", "reversed"),
    ("operator_assisted", "operator assisted"),
    ("missing", "missing"),
];
const CLASSES: &[(&str, &str)] = &[("external", "external"), ("internal_supporting", "internal, supporting")];
const DELIVERY: &[(&str, &str)] = &[("60", "60"), ("40", "40"), ("20", "20"), ("0", "0")];
const POINTS: &[(&str, &str)] = &[("20", "20"), ("10", "10"), ("0", "0")];
const PENALTIES: &[(&str, &str)] = &[
    ("", "none"),
    ("duplicate", "duplicate, 10"),
    ("claim_mismatch", "claim mismatch, 15"),
    ("reversal", "reversal, 20"),
    ("undisclosed_intervention", "undisclosed intervention, 20"),
    ("disclosure_violation", "disclosure violation, 25"),
];
const INTERVENTIONS: &[(&str, &str)] =
    &[("none", "none"), ("disclosed", "disclosed"), ("required", "required")];
const OUTCOMES: &[(&str, &str)] = &[("", "not assisted"), ("accepted", "accepted"), ("rejected", "rejected")];

/// The question that the fields ask; nothing if they were not sent.
pub(crate) fn question_of<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<Value> {
    let state = field("state")?;
    let points = |key: &str| field(key).and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let word = |key: &str| field(key).filter(|word| !word.is_empty());
    Some(json!({ "window": {
        "state": state, "artifact_class": word("artifact_class").unwrap_or("external"),
        "delivery": points("delivery"), "evidence": points("evidence"), "continuity": points("continuity"),
        "budget": points("budget"), "penalties": word("penalty").into_iter().collect::<Vec<_>>(),
        "operator_intervention": word("operator_intervention").unwrap_or("none"),
        "assisted_outcome": word("assisted_outcome"),
    }}))
}

/// The rules with the calculator, and what it says.
pub(crate) fn rules_page<'a>(
    see: &See<'_>,
    field: impl Fn(&str) -> Option<&'a str>,
    said: Option<&Result<Value, Problem>>,
) -> Markup {
    let select = |name: &'static str, label, options| {
        Field::select(name, label, options).value(field(name).unwrap_or_default())
    };
    let calculator = Form {
        id: "calculator",
        action: "/rules/sprint-v1",
        csrf: None,
        submit: "Compute the score",
        fields: vec![
            select("state", "State", STATES),
            select("artifact_class", "Class of the artifact", CLASSES),
            select("delivery", "Delivery", DELIVERY),
            select("evidence", "Evidence", POINTS),
            select("continuity", "Continuity", POINTS),
            select("budget", "Budget", POINTS),
            select("penalty", "Penalty", PENALTIES),
            select("operator_intervention", "Declared intervention", INTERVENTIONS),
            select("assisted_outcome", "Outcome of an assisted window", OUTCOMES),
        ],
        hidden: &[],
        drastic: false,
    };
    let body = html! {
        h2 { "Rules" }
        (markdown(RULES))
        p { "Entrants acknowledge this text by its SHA-256." }
        (digest(&rules_sha256().to_string()))
        h2 id="calculator-head" { "Calculator" }
        p { "A first window by itself: nothing is kept." }
        @match said {
            Some(Ok(score)) => {
                h3 { "Score" }
                (window_sum("calculated", "the window", score))
            }
            Some(Err(problem)) => {
                (notice(Mark::Order, problem.title(), html! {
                    p { (guest(problem.detail(), 600)) " (" code { (problem.code()) } ")" }
                }))
            }
            None => {}
        }
        (form(&calculator))
    };
    Page::new("Rules: sprint-v1", "/rules/sprint-v1", body)
        .description("How a producer sprint runs and is scored, with a calculator.")
        .trail(&[("Docs", "/docs")])
        .viewer(see.frame())
        .render()
}
