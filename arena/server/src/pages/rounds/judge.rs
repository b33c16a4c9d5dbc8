//! The forms of those who judge: a judgement, and a ruling on a dispute. What is sent is read as the API reads it.

use std::collections::BTreeMap;

use arena_canon::json::Value;
use arena_contests::sprint::Window;
use arena_contests::sprint::round::Round;
use serde_json::json;

use super::See;
use crate::instance::rounds::{dispute_id, submission_id};
use crate::pages::{Field, Form, Mark, Markup, form, guest, html, notice};
use crate::problem::Problem;

/// The form of a judgement.
pub(crate) const JUDGE: &str = "judge";

/// A form of theirs that was refused: which, what it held, and why.
pub(crate) struct Sent<'a> {
    pub(crate) form: &'a str,
    pub(crate) fields: &'a BTreeMap<String, String>,
    pub(crate) problem: &'a Problem,
}

impl Sent<'_> {
    fn value(sent: Option<&Self>, name: &str) -> String {
        sent.and_then(|sent| sent.fields.get(name)).cloned().unwrap_or_default()
    }
}

const STATES: &[(&str, &str)] = &[
    ("accepted", "accepted"),
    ("accepted_with_penalty", "accepted with penalty"),
    ("rejected", "rejected"),
    ("operator_assisted", "operator assisted"),
];
const OUTCOMES: &[(&str, &str)] = &[("", "not assisted"), ("accepted", "accepted"), ("rejected", "rejected")];
const DELIVERY: &[(&str, &str)] = &[("0", "0"), ("20", "20"), ("40", "40"), ("60", "60")];
const POINTS: &[(&str, &str)] = &[("0", "0"), ("10", "10"), ("20", "20")];
const PENALTIES: [(&str, &str); 5] = [
    ("duplicate", "Penalty: duplicate, 10"),
    ("claim_mismatch", "Penalty: claim mismatch, 15"),
    ("reversal", "Penalty: reversal, 20"),
    ("undisclosed_intervention", "Penalty: undisclosed intervention, 20"),
    ("disclosure_violation", "Penalty: disclosure violation, 25"),
];
const RULINGS: &[(&str, &str)] = &[
    ("upheld", "upheld: the verdict below holds from now on"),
    ("dismissed", "dismissed: what was judged before holds"),
    ("baseless", "baseless: dismissed, and its stake is lost"),
];

/// What the fields say of a submission, as a document of the API.
pub(crate) fn verdict_of(fields: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| fields.get(name).map(|text| text.trim()).unwrap_or_default();
    let points = |name: &str| text(name).parse::<u64>().map_or_else(|_| json!(text(name)), |it| json!(it));
    let penalties: Vec<&str> =
        PENALTIES.iter().map(|(name, _)| *name).filter(|name| text(name) == "on").collect();
    let mut verdict = json!({
        "state": text("state"), "delivery": points("delivery"), "evidence": points("evidence"),
        "continuity": points("continuity"), "budget": points("budget"), "penalties": penalties,
        "rationale": text("rationale"),
    });
    for name in ["assisted_outcome", "external_effect"] {
        if !text(name).is_empty() {
            verdict[name] = json!(text(name));
        }
    }
    verdict
}

/// What the fields say of a dispute. A verdict stands with `upheld`, and only there.
pub(crate) fn ruling_of(fields: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| fields.get(name).map(|text| text.trim()).unwrap_or_default();
    let mut ruling = json!({ "ruling": text("ruling"), "rationale": text("rationale") });
    if text("ruling") == "upheld" {
        ruling["verdict"] = verdict_of(fields);
    }
    ruling
}

fn fields<'a>(sent: Option<&Sent<'_>>) -> Vec<Field<'a>> {
    let select = |name, label, options| Field::select(name, label, options).value(Sent::value(sent, name));
    let mut fields = vec![
        select("state", "State", STATES),
        select("assisted_outcome", "Outcome of an assisted window", OUTCOMES),
        select("delivery", "Delivery", DELIVERY),
        select("evidence", "Evidence", POINTS),
        select("continuity", "Continuity", POINTS),
        select("budget", "Budget", POINTS),
    ];
    fields.extend(
        PENALTIES.iter().map(|(name, label)| Field::checkbox(name, label).value(Sent::value(sent, name))),
    );
    fields.push(
        Field::textarea("rationale", "Why", 2_000)
            .hint("Public. From 3 characters on.")
            .required()
            .value(Sent::value(sent, "rationale")),
    );
    fields.push(
        Field::textarea("external_effect", "Effect outside", 2_000)
            .hint("Only for an artifact that was submitted before: the different effect that it has outside.")
            .value(Sent::value(sent, "external_effect")),
    );
    fields
}

/// Why a form was not taken, with every fault of it.
fn refusal(sent: Option<&Sent<'_>>) -> Markup {
    let Some(sent) = sent else { return html! {} };
    let body = html! {
        p { (guest(sent.problem.detail(), 600)) }
        @if !sent.problem.errors().is_empty() {
            ul { @for fault in sent.problem.errors() { li { code { (guest(&fault.pointer, 100)) } " " (guest(&fault.detail, 600)) } } }
        }
    };
    notice(Mark::Order, "It was not taken", body)
}

/// What somebody should know before judging, and the form.
pub(super) fn judge(
    see: &See<'_>,
    round: &Round,
    (company, window): (&str, Window),
    sent: Option<&Sent<'_>>,
) -> Markup {
    let sent = sent.filter(|sent| sent.form == JUDGE);
    let action = format!("/submissions/{}/judgements", submission_id(&round.terms().id, company, window));
    html! {
        h3 { "Judge it" }
        (advice(round, company, window))
        (refusal(sent))
        (form(&Form {
            id: JUDGE,
            action: &action,
            csrf: see.csrf,
            submit: "Judge the submission",
            fields: fields(sent),
            hidden: &[],
            drastic: false,
        }))
    }
}

fn advice(round: &Round, company: &str, window: Window) -> Markup {
    let Ok(advice) = round.advice(company, window) else { return html! {} };
    let (evidence, why) = advice.evidence_max;
    html! {
        ul {
            li { "Evidence: at most " (evidence) ", since " (why) "." }
            li { "Budget: at most " (advice.budget_max) "." }
            @if advice.has_undisclosed_intervention {
                li { "A receipt shows an intervention that the company did not declare." }
            }
            @for earlier in &advice.resembles {
                li {
                    "It resembles " (earlier.window.name()) " of " (earlier.company)
                    @if earlier.same_artifact { ": the same artifact" }
                    @else { ": " (earlier.overlap.jaccard_permille) " of 1000 words and pairs are shared" }
                    "."
                }
            }
        }
    }
}

/// The form of a ruling on a dispute that is open.
pub(super) fn rule(see: &See<'_>, round: &str, reference: &str, sent: Option<&Sent<'_>>) -> Markup {
    let id = form_of(reference);
    let sent = sent.filter(|sent| sent.form == id);
    let mut all = vec![Field::select("ruling", "Ruling", RULINGS).value(Sent::value(sent, "ruling"))];
    all.extend(fields(sent));
    html! {
        h4 { "Rule on it" }
        (refusal(sent))
        (form(&Form {
            id: &id,
            action: &format!("/disputes/{}/ruling", dispute_id(round, reference)),
            csrf: see.csrf,
            submit: "Rule on the dispute",
            fields: all,
            hidden: &[],
            drastic: false,
        }))
    }
}

/// The form of the ruling on one dispute.
pub(crate) fn form_of(reference: &str) -> String {
    format!("rule-{}", reference.replace(':', "-"))
}
