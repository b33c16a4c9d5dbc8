//! The forms of whoever runs the platform: a new round, and what is done with one. What is sent is read as the API
//! reads it.

use std::collections::BTreeMap;

use arena_canon::json::Value;
use arena_contests::sprint::round::{AwardStatus, Rail, Stage};
use serde_json::json;

use super::{Refused, See, round_path};
use crate::instance::rounds::Seen;
use crate::pages::{Field, Form, Mark, Markup, form, guest, html, notice};

/// What a form may do with a round, and the members that go with it.
pub(super) const VERBS: [(&str, &[&str]); 6] = [
    ("announce", &[]),
    ("cancel", &["reason"]),
    ("settle", &[]),
    ("approve", &["company", "rail", "agent"]),
    ("disqualify", &["company", "reason"]),
    ("decide_award", &["award", "pay", "reason"]),
];

/// The command that the fields ask for, by its name, with its members.
pub(crate) fn asked(fields: &BTreeMap<String, String>) -> Option<(&'static str, Value)> {
    let named = fields.get("do")?;
    let (name, members) = VERBS.iter().find(|(name, _)| name == named)?;
    let mut document = json!({});
    for member in *members {
        let text = fields.get(*member).map(|text| text.trim()).unwrap_or_default();
        document[*member] = if *member == "pay" { json!(text == "true") } else { json!(text) };
    }
    Some((name, document))
}

/// The terms of a new round, as a document of the API.
pub(crate) fn terms_of(fields: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| fields.get(name).map(|text| text.trim()).unwrap_or_default();
    let count = |name: &str| text(name).parse::<u64>().map_or_else(|_| json!(text(name)), |it| json!(it));
    let placements: Vec<&str> = text("placements").split_whitespace().collect();
    let start = text("start");
    let start = if start.len() == 10 { format!("{start}T00:00:00Z") } else { start.to_owned() };
    json!({
        "id": text("id"), "title": text("title"), "start": start, "asset": text("asset"),
        "entrants_max": count("entrants_max"), "base_budget_atomic": text("base_budget_atomic"),
        "hold_cap_atomic": text("hold_cap_atomic"), "stake_min_atomic": text("stake_min_atomic"),
        "dispute_stake_atomic": text("dispute_stake_atomic"), "stake_policy": text("stake_policy"),
        "prizes": {
            "placements_atomic": placements, "external_window_atomic": text("external_window_atomic"),
            "hygiene_atomic": text("hygiene_atomic"),
        },
        "standings_freeze": text("standings_freeze") == "on",
    })
}

const POLICIES: &[(&str, &str)] = &[("burn", "burn: lost for good"), ("lock", "lock: kept for a while")];

/// The form of a new round.
pub(super) fn new_round(see: &See<'_>, sent: Option<(&BTreeMap<String, String>, Refused<'_>)>) -> Markup {
    let value = |name: &str, or: &str| {
        sent.map_or_else(|| or.to_owned(), |(fields, _)| fields.get(name).cloned().unwrap_or_default())
    };
    let amount = |name: &'static str, label: &'static str, or: &str| {
        Field::text(name, label, 19).value(value(name, or)).required()
    };
    let fields = vec![
        Field::text("id", "Name", 64)
            .hint("Of a-z, 0-9 and -; it is in addresses.")
            .value(value("id", ""))
            .required(),
        Field::text("title", "Title", 200).value(value("title", "")).required(),
        Field::text("start", "Day 0", 40)
            .hint("Such as 2026-12-24; it begins at midnight UTC.")
            .value(value("start", ""))
            .required(),
        Field::text("asset", "Asset", 32).value(value("asset", "EXO")).required(),
        Field::text("entrants_max", "Companies at most", 3).value(value("entrants_max", "16")).required(),
        amount("base_budget_atomic", "Budget of a company, atomic", "200000000"),
        amount("hold_cap_atomic", "Hold, atomic", "50000000"),
        amount("stake_min_atomic", "Least stake, atomic", "1000000"),
        amount("dispute_stake_atomic", "Stake of a dispute, atomic", "500000"),
        Field::select("stake_policy", "Stakes that are lost", POLICIES).value(value("stake_policy", "burn")),
        Field::text("placements", "Prizes by place, atomic", 400)
            .hint("First place first, with blanks between.")
            .value(value("placements", "60000000 30000000 15000000")),
        amount("external_window_atomic", "For an accepted external window, atomic", "5000000"),
        amount("hygiene_atomic", "For hygiene, atomic", "2000000"),
        Field::checkbox("standings_freeze", "Freeze the standings from the last cut-off to the closeout")
            .value(value("standings_freeze", "")),
    ];
    html! {
        h2 id="new" { "A new round" }
        p { "It is a draft until it is announced. The timetable and the rules are those of sprint-v1." }
        (refusal(sent.map(|(_, refused)| refused)))
        (form(&Form {
            id: "round",
            action: "/rounds",
            csrf: see.csrf,
            submit: "Make the draft",
            fields,
            hidden: &[],
            drastic: false,
        }))
    }
}

fn refusal(refused: Option<Refused<'_>>) -> Markup {
    let Some(refused) = refused else { return html! {} };
    let body = html! {
        p { (guest(refused.problem.detail(), 600)) }
        @if !refused.problem.errors().is_empty() {
            ul {
                @for fault in refused.problem.errors() {
                    li { code { (guest(&fault.pointer, 100)) } " " (guest(&fault.detail, 600)) }
                }
            }
        }
    };
    notice(Mark::Order, "It was not taken", body)
}

/// What the admin may do with a round now.
pub(super) fn run(see: &See<'_>, seen: &Seen<'_>, refused: Option<Refused<'_>>) -> Markup {
    let round = &seen.held.round;
    let action = format!("{}/run", round_path(&round.terms().id));
    let one = |id: &str, submit: &str, fields: Vec<Field<'_>>, hidden: &[(&str, &str)], drastic: bool| {
        form(&Form { id, action: &action, csrf: see.csrf, submit, fields, hidden, drastic })
    };
    let why = || Field::text("reason", "Why", 2_000).hint("Public.").required();
    let stage = round.stage(see.now);
    let waiting = round.awards().iter().filter(|(_, award)| award.status == AwardStatus::Held);
    html! {
        h2 id="run" { "Run it" }
        (refusal(refused))
        @if stage == Stage::Draft { (one("announce", "Announce the round", Vec::new(), &[("do", "announce")], false)) }
        @if stage == Stage::Closing { (one("settle", "Settle the round", Vec::new(), &[("do", "settle")], false)) }
        @for (company, entrant) in round.entrants() {
            @for rail in Rail::ALL {
                @if entrant.left.is_none() && !entrant.approvals.contains_key(rail) {
                    @let (id, words) = (format!("approve-{company}-{}", rail.name()), format!("Approve {} for {company}", rail.name()));
                    (one(&id, &words, Vec::new(), &[("do", "approve"), ("company", company), ("rail", rail.name()), ("agent", &entrant.agent)], false))
                }
            }
        }
        @for (reference, award) in waiting {
            @let id = format!("award-{}", reference.replace(':', "-"));
            @let words = format!("Decide on {reference} of {}", award.company);
            (one(&id, &words, vec![Field::select("pay", "Decision", &[("true", "pay it"), ("false", "decline it")]), why()], &[("do", "decide_award"), ("award", reference)], false))
        }
        @if stage == Stage::Running || stage == Stage::Closing {
            (one("disqualify", "Disqualify the company", vec![Field::text("company", "Company", 64).required(), why()], &[("do", "disqualify")], true))
        }
        @if !matches!(stage, Stage::Final | Stage::Cancelled) {
            (one("cancel", "Cancel the round", vec![why()], &[("do", "cancel")], true))
        }
    }
}
