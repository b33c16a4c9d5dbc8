//! The forms of those who run a contest and judge what comes in: each is an action of the API with its members.

use std::collections::BTreeMap;

use arena_canon::json::{self, Value};
use arena_contests::contest::{
    Body, BodyKind, ChallengeStatus, Contest, ContestStatus, MANIFEST_BYTES_MAX, RewardStatus, Submission,
    SubmissionStatus,
};
use serde_json::json;

use super::fields::Refused;
use super::{See, contest_path, redline_path};
use crate::auth::Scope;
use crate::instance::contests::{challenges_on, decides};
use crate::pages::{Field, Form, Mark, Markup, form, guest, html, notice};
use crate::problem::Problem;

/// The form of a manifest.
pub(crate) const PROPOSE: &str = "propose";
/// Characters of one in a form: what a browser makes of it has to fit its body.
const MANIFEST_CHARS_MAX: usize = 64 << 10;

/// Actions of a contest, and of a submission: the address says which. Of the rest a hidden field does.
const OF_CONTEST: [&str; 6] =
    ["activate-contest", "close-submissions", "close", "cancel", "register-clause", "record-scorecard"];
const OF_SUBMISSION: [&str; 3] = ["judge", "score", "promise-reward"];
#[cfg(test)]
const OF_OTHERS: [&str; 4] = ["rule-challenge", "approve-payout", "fulfil-payout", "decline-payout"];
/// Members that are texts.
const TEXTS: [&str; 8] =
    ["reason", "decision", "score", "rule_id", "text", "kind", "challenge_id", "reward_id"];

/// Whether an action has a form.
#[cfg(test)]
pub(crate) fn has_form(action: &str) -> bool {
    OF_CONTEST.iter().chain(&OF_SUBMISSION).chain(&OF_OTHERS).any(|known| *known == action)
}

/// The action that was asked for.
pub(crate) fn action_of(fields: &BTreeMap<String, String>) -> &str {
    fields.get("do").map_or("", String::as_str)
}

/// The id of the form that was sent.
pub(crate) fn form_of(fields: &BTreeMap<String, String>) -> String {
    let subject = ["challenge_id", "reward_id"].iter().find_map(|name| fields.get(*name));
    form_id(action_of(fields), subject.map(String::as_str))
}

fn form_id(action: &str, subject: Option<&str>) -> String {
    let number = subject.and_then(|subject| subject.rsplit(':').next());
    let number = number.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    number.map_or_else(|| action.to_owned(), |number| format!("{action}-{number}"))
}

/// What the fields ask for, as a document of the API. `of` is what the address names.
pub(crate) fn document_of(fields: &BTreeMap<String, String>, of: &str) -> Value {
    let action = action_of(fields);
    let mut document = json!({ "action": action });
    if OF_CONTEST.contains(&action) {
        document["contest_id"] = of.into();
    } else if OF_SUBMISSION.contains(&action) {
        document["submission_id"] = of.into();
    }
    for (name, value) in fields {
        let text = value.replace("\r\n", "\n");
        match name.as_str() {
            name if TEXTS.contains(&name) => document[name] = text.trim().into(),
            "upheld" => document[name] = json!(text == "true"),
            "points" if !text.trim().is_empty() => document[name] = points_of(&text),
            "expires_at" => {
                let day = text.trim();
                let at = if day.len() == 10 { format!("{day}T00:00:00Z") } else { day.to_owned() };
                document[name] = if at.is_empty() { Value::Null } else { at.into() };
            }
            _ => {}
        }
    }
    document
}

/// `digest points`, one a line. A line that is none is told as what it says.
fn points_of(text: &str) -> Value {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let pairs = lines.map(|line| {
        let (strategy, points) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        (strategy.to_owned(), Value::from(points.trim()))
    });
    Value::Object(pairs.collect())
}

/// The manifest in the fields, or every fault of it at its field.
pub(crate) fn manifest_of(fields: &BTreeMap<String, String>) -> Result<Value, Problem> {
    let text = fields.get("manifest").map(String::as_str).unwrap_or_default();
    json::read(text.as_bytes(), MANIFEST_BYTES_MAX).map_err(|why| {
        let mut problem = Problem::new("form", "the form is not filled in");
        problem.push("/manifest", "form", why);
        problem
    })
}

/// Faults of a manifest where its form shows them.
pub(crate) fn at_manifest(refused: &Problem) -> Problem {
    let mut problem = refused.clone().without_errors();
    for error in refused.errors() {
        let place = error.pointer.trim_start_matches('#').trim_start_matches("/manifest");
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        problem.push("/manifest", error.code, format_args!("{place}{}", error.detail));
    }
    problem
}

/// The form that proposes a contest.
pub(super) fn propose(see: &See<'_>, refused: Option<&Refused<'_>>) -> Markup {
    let may = see.viewer.is_admin() || see.viewer.agent_with(Scope::Submit).is_ok();
    let Some(csrf) = see.csrf.filter(|_| may) else { return html! {} };
    let refused = refused.filter(|refused| refused.form == PROPOSE);
    let faults: Vec<&str> = refused
        .iter()
        .flat_map(|refused| refused.problem.errors())
        .map(|error| error.detail.as_str())
        .collect();
    let fault = match faults.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        more => Some(format!("it has {} faults, listed above", more.len())),
    };
    let field = Field::code("manifest", "Manifest", MANIFEST_CHARS_MAX)
        .hint("A JSON document, such as the manifest of a contest above.")
        .value(refused.map(|refused| refused.value("manifest")).unwrap_or_default())
        .error(fault.as_deref())
        .required();
    html! {
        h2 id="propose-head" { "Propose one" }
        p { "A contest is its manifest. It is a draft, which everybody may read, until the admin opens it." }
        @if let Some(refused) = refused {
            @if faults.len() > 1 {
                (notice(Mark::Order, "The manifest has faults", html! {
                    ul { @for fault in &faults { li { (guest(fault, 600)) } } }
                }))
            } @else { (refused.elsewhere(&["manifest"])) }
        }
        (form(&Form {
            id: PROPOSE,
            action: "/contests#propose-head",
            csrf: Some(csrf),
            submit: "Propose the contest",
            fields: vec![field],
            hidden: &[],
            drastic: false,
        }))
    }
}

/// A control of one of the forms.
#[derive(Clone, Copy)]
enum Control {
    Reason,
    Clause,
    ClauseText,
    Decision(&'static [(&'static str, &'static str)]),
    Score,
    Reward,
    Until,
    Upheld,
    Points,
}

impl Control {
    const fn name(self) -> &'static str {
        match self {
            Self::Reason => "reason",
            Self::Clause => "rule_id",
            Self::ClauseText => "text",
            Self::Decision(_) => "decision",
            Self::Score => "score",
            Self::Reward => "kind",
            Self::Until => "expires_at",
            Self::Upheld => "upheld",
            Self::Points => "points",
        }
    }

    const fn field(self) -> Field<'static> {
        let name = self.name();
        match self {
            Self::Reason => Field::textarea(name, "Why", 2_000)
                .hint("For the public log. From 3 characters on.")
                .required(),
            Self::Clause => {
                Field::text(name, "Clause", 100).hint("Its identifier, such as CBR14.").required()
            }
            Self::ClauseText => Field::textarea(name, "Its exact text", 5_000).required(),
            Self::Decision(options) => Field::radios(name, "Decision", options).required(),
            Self::Score => Field::number(name, "Score", "points", (Some("0"), Some("10")), "0.1").required(),
            Self::Reward => Field::text(name, "Reward", 100)
                .hint("Such as certified-reviewer, which becomes a signed credential.")
                .required(),
            Self::Until => {
                Field::text(name, "Until", 40).hint("Such as 2027-12-31; without an end if empty.")
            }
            Self::Upheld => {
                Field::radios(name, "The challenge is", &[("true", "upheld"), ("false", "dismissed")])
                    .required()
            }
            Self::Points => Field::code(name, "Points", MANIFEST_CHARS_MAX).hint(
                "One strategy a line: its SHA-256 and its points. Empty if the tournament was blocked.",
            ),
        }
    }
}

/// One form: its action, what its button says, its controls, and what it is about.
struct Ask<'a> {
    action: &'static str,
    submit: &'a str,
    controls: &'a [Control],
    about: Option<(&'a str, &'a str)>,
    is_drastic: bool,
}

const fn ask<'a>(action: &'static str, submit: &'a str, controls: &'a [Control]) -> Ask<'a> {
    Ask { action, submit, controls, about: None, is_drastic: false }
}

fn drawn(asked: &Ask<'_>, (path, csrf): (&str, &str), refused: Option<&Refused<'_>>) -> (String, Markup) {
    let id = form_id(asked.action, asked.about.map(|(_, subject)| subject));
    let refused = refused.filter(|refused| refused.form == id);
    let names: Vec<&str> = asked.controls.iter().map(|control| control.name()).collect();
    let faults: Vec<Option<String>> =
        names.iter().map(|name| refused.and_then(|refused| refused.fault(name))).collect();
    let fields = asked.controls.iter().zip(&faults).map(|(control, fault)| {
        let value = refused.map(|refused| refused.value(control.name())).unwrap_or_default();
        control.field().value(value).error(fault.as_deref())
    });
    let hidden: Vec<(&str, &str)> = std::iter::once(("do", asked.action)).chain(asked.about).collect();
    // After a refusal the browser shows this form, not the top of the page.
    let head = format!("{id}-head");
    let path = format!("{path}#{head}");
    let markup = html! {
        h3 id=(head) { (asked.submit) }
        @if let Some(refused) = refused { (refused.elsewhere(&names)) }
        (form(&Form {
            id: &id,
            action: &path,
            csrf: Some(csrf),
            submit: asked.submit,
            fields: fields.collect(),
            hidden: &hidden,
            drastic: asked.is_drastic,
        }))
    };
    (id, markup)
}

/// All forms, and the refusal of one that is not there any more.
fn all(asks: &[Ask<'_>], of: (&str, &str), refused: Option<&Refused<'_>>) -> Markup {
    let forms: Vec<(String, Markup)> = asks.iter().map(|asked| drawn(asked, of, refused)).collect();
    let is_ours = |refused: &&Refused<'_>| {
        let action = action_of(refused.fields);
        !action.is_empty() && forms.iter().all(|(id, _)| *id != refused.form)
    };
    html! {
        @if let Some(refused) = refused.filter(is_ours) { (refused.elsewhere(&[])) }
        @for (_, form) in &forms { (form) }
    }
}

/// What the admin may do with a contest now.
pub(super) fn of_contest(see: &See<'_>, contest: &Contest, refused: Option<&Refused<'_>>) -> Markup {
    let Some(csrf) = see.csrf.filter(|_| see.viewer.is_admin()) else { return html! {} };
    let path = format!("{}/desk", contest_path(&contest.manifest.slug));
    let is_strategy = BodyKind::of(&contest.manifest.contest_type) == BodyKind::Strategy;
    let mut asks = Vec::new();
    match contest.status {
        ContestStatus::Draft => asks.push(ask("activate-contest", "Open the contest", &[])),
        ContestStatus::Active => asks.push(ask("close-submissions", "End the submissions", &[])),
        ContestStatus::Judging => {
            if is_strategy && contest.plan.is_some() && contest.scorecard.is_none() {
                asks.push(ask("record-scorecard", "Record the scorecard", &[Control::Points]));
            }
            asks.push(ask("close", "Close the contest", &[Control::Reason]));
        }
        ContestStatus::Closed | ContestStatus::Cancelled => {}
    }
    if !matches!(contest.status, ContestStatus::Closed | ContestStatus::Cancelled) {
        asks.push(ask("register-clause", "Register the clause", &[Control::Clause, Control::ClauseText]));
        let cancel = ask("cancel", "Cancel the contest", &[Control::Reason]);
        asks.push(Ask { is_drastic: true, ..cancel });
    }
    html! {
        h2 id="run" { "Run it" }
        @if asks.is_empty() && refused.is_none() { p { "There is nothing left to do with it." } }
        (all(&asks, (&path, csrf), refused))
    }
}

const REVIEWED: &[(&str, &str)] = &[("accepted", "accepted"), ("declined", "declined")];
const MERGED: &[(&str, &str)] = &[("merged", "merged"), ("declined", "declined")];

/// What those who judge may do with a submission now, and what the admin may.
pub(super) fn of_submission(
    see: &See<'_>,
    contest: &Contest,
    found: &Submission,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let is_admin = see.viewer.is_admin();
    let may = is_admin || decides(see.instance, see.viewer, found);
    let Some(csrf) = see.csrf.filter(|_| may) else { return html! {} };
    let path = format!("{}/desk", redline_path(&found.id));
    let is_over = matches!(contest.status, ContestStatus::Closed | ContestStatus::Cancelled);
    let mut asks = Vec::new();
    match found.status {
        SubmissionStatus::LegalityReview => {
            asks.push(ask("judge", "Record the decision", &[Control::Decision(REVIEWED), Control::Reason]));
        }
        SubmissionStatus::Accepted => {
            asks.push(ask("judge", "Record the decision", &[Control::Decision(MERGED), Control::Reason]));
        }
        _ => {}
    }
    let is_scored = !matches!(found.body, Body::Strategy { .. })
        && !matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn);
    if is_admin && is_scored && !is_over {
        asks.push(ask("score", "Record the score", &[Control::Score, Control::Reason]));
    }
    let is_taken = matches!(found.status, SubmissionStatus::Accepted | SubmissionStatus::Merged);
    if is_admin && is_taken {
        asks.push(ask("promise-reward", "Promise the reward", &[Control::Reward, Control::Until]));
    }
    let (rulings, payouts) =
        if is_admin { (rulings(see, found), payouts(see, found)) } else { Default::default() };
    asks.extend(rulings.iter().map(|(about, submit)| Ask {
        about: Some(("challenge_id", about)),
        ..ask("rule-challenge", submit, &[Control::Upheld, Control::Reason])
    }));
    asks.extend(payouts.iter().map(|(action, about, submit)| Ask {
        about: Some(("reward_id", about)),
        is_drastic: *action == "decline-payout",
        ..ask(action, submit, &[Control::Reason])
    }));
    html! {
        @if !asks.is_empty() || refused.is_some() {
            h2 { "Judge it" }
            (all(&asks, (&path, csrf), refused))
        }
    }
}

/// The challenges that wait for a ruling, with what their buttons say.
fn rulings(see: &See<'_>, found: &Submission) -> Vec<(String, String)> {
    let all = challenges_on(see.instance, &found.id).into_iter();
    let open = all.filter(|(_, challenge)| challenge.status == ChallengeStatus::Open);
    open.map(|(name, _)| (name.to_owned(), format!("Rule on {}", name.replace(':', " ")))).collect()
}

/// The ways on of its rewards: the action, the reward, what the button says.
fn payouts(see: &See<'_>, found: &Submission) -> Vec<(&'static str, String, String)> {
    let rewards = see.instance.contests.rewards().iter().filter(|(_, reward)| reward.submission == found.id);
    let mut ways = Vec::new();
    for (name, reward) in rewards {
        let onward: &[(&str, &str)] = match reward.status {
            RewardStatus::Pending => &[("approve-payout", "Approve"), ("decline-payout", "Decline")],
            RewardStatus::Approved => &[("fulfil-payout", "Hand over"), ("decline-payout", "Decline")],
            RewardStatus::Fulfilled | RewardStatus::Declined => &[],
        };
        for (action, verb) in onward {
            ways.push((*action, name.clone(), format!("{verb} {}, {}", name.replace(':', " "), reward.kind)));
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_form_makes_the_document_that_a_program_would_send() {
        let score = fields(&[("csrf", "x"), ("do", "score"), ("score", " 7.5 "), ("reason", "one\r\ntwo")]);
        assert_eq!(
            document_of(&score, "submission:1"),
            json!({ "action": "score", "submission_id": "submission:1", "score": "7.5", "reason": "one\ntwo" })
        );
        let ruled = fields(&[
            ("do", "rule-challenge"),
            ("challenge_id", "challenge:3"),
            ("upheld", "false"),
            ("reason", "no"),
        ]);
        let document = document_of(&ruled, "submission:1");
        assert_eq!((&document["upheld"], document.get("submission_id")), (&json!(false), None));
        assert_eq!(form_of(&ruled), "rule-challenge-3");
        let promised = fields(&[("do", "promise-reward"), ("kind", "k"), ("expires_at", "2027-12-31")]);
        assert_eq!(document_of(&promised, "s")["expires_at"], "2027-12-31T00:00:00Z");
        let endless = fields(&[("do", "promise-reward"), ("kind", "k"), ("expires_at", "")]);
        assert_eq!(document_of(&endless, "s")["expires_at"], Value::Null);
        let points = fields(&[("do", "record-scorecard"), ("points", "ab 12\r\n\r\ncd  -3\r\nef")]);
        assert_eq!(document_of(&points, "c")["points"], json!({ "ab": "12", "cd": "-3", "ef": "" }));
        let blocked = fields(&[("do", "record-scorecard"), ("points", " ")]);
        assert_eq!(document_of(&blocked, "c").get("points"), None);
        assert_eq!(form_of(&fields(&[("do", "x"), ("reward_id", "\"><b>")])), "x");
    }
}
