//! `/rounds/{r}/desk`: what somebody may do in a round at a browser, whoever it is: a company that takes part, those
//! who judge, whoever runs the platform. Each form is a command of the API with its members.

mod company;
mod staff;

use std::collections::BTreeMap;

use arena_canon::json::{Map, Value};
use axum::http::{HeaderMap, HeaderValue, header};
use serde_json::json;

use super::{See, round_path};
use crate::http::versioned::etag;
use crate::instance::rounds::{Seen, local};
use crate::pages::contests::Refused;
use crate::pages::{Field, Form, Mark, Markup, Page, definition_list, form, guest, html, notice, steps};

/// What the file of an artifact is sent as.
pub(crate) const ARTIFACT_FORM: &str = "artifact";

/// One form: the command, which one of several, its controls.
struct Ask<'a> {
    name: &'static str,
    /// What tells it from others of the same command, such as the window.
    which: Option<&'a str>,
    submit: &'a str,
    controls: Vec<Control>,
    hidden: Vec<(&'static str, String)>,
    /// What is saved now of the document that it changes.
    saved: Option<Value>,
    is_drastic: bool,
}

/// A control: where its value goes in the document of the command, as a pointer without its first stroke.
#[derive(Clone)]
struct Control {
    at: &'static str,
    label: &'static str,
    hint: &'static str,
    kind: Kind,
    value: String,
    is_required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Line(usize),
    Text(usize),
    /// One of these; sent as a word.
    Choice(&'static [(&'static str, &'static str)]),
    Tick,
}

/// The hidden field of the version that a form was made of.
const VERSION: &str = "version";
/// Most characters of what is saved that are shown beside a form.
const SAVED_CHARS_MAX: usize = 10_000;

/// The commands that have a form on this page.
pub(crate) const DESK_COMMANDS: [&str; 14] = [
    "register",
    "acknowledge_rules",
    "enter_call",
    "withdraw",
    "publish_kickoff",
    "put_intent",
    "submit",
    "put_evidence",
    "grant_public_read",
    "record_intervention",
    "hide",
    "invalidate",
    "take_snapshot",
    "release_locked",
];

const WINDOWS: &[(&str, &str)] = &[("W1", "W1"), ("W2", "W2"), ("W3", "W3")];
const CLASSES: &[(&str, &str)] = &[("external", "external"), ("internal_supporting", "internal, supporting")];

impl Control {
    const fn new(at: &'static str, label: &'static str, kind: Kind) -> Self {
        Self { at, label, hint: "", kind, value: String::new(), is_required: true }
    }

    const fn line(at: &'static str, label: &'static str, chars_max: usize) -> Self {
        Self::new(at, label, Kind::Line(chars_max))
    }

    const fn text(at: &'static str, label: &'static str, chars_max: usize) -> Self {
        Self::new(at, label, Kind::Text(chars_max))
    }

    const fn choice(
        at: &'static str,
        label: &'static str,
        options: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::new(at, label, Kind::Choice(options))
    }

    const fn tick(at: &'static str, label: &'static str) -> Self {
        Self::new(at, label, Kind::Tick).optional()
    }

    const fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }

    const fn optional(mut self) -> Self {
        self.is_required = false;
        self
    }

    fn holds(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    fn field(&self) -> Field<'static> {
        let field = match self.kind {
            Kind::Line(chars_max) => Field::text(self.at, self.label, chars_max),
            Kind::Text(chars_max) => Field::textarea(self.at, self.label, chars_max),
            Kind::Choice(options) => Field::select(self.at, self.label, options),
            Kind::Tick => Field::checkbox(self.at, self.label),
        };
        let field = if self.hint.is_empty() { field } else { field.hint(self.hint) };
        if self.is_required { field.required() } else { field }
    }
}

impl<'a> Ask<'a> {
    fn new(name: &'static str, submit: &'a str, controls: Vec<Control>) -> Self {
        Self { name, which: None, submit, controls, hidden: Vec::new(), saved: None, is_drastic: false }
    }

    /// It changes a document that has a version: the form carries the one that it shows.
    fn of_version(mut self, now: Option<&Value>) -> Self {
        self.hidden.push((VERSION, tag_of(now)));
        self.saved = now.cloned();
        self
    }

    fn drastic(mut self) -> Self {
        self.is_drastic = true;
        self
    }

    fn id(&self) -> String {
        form_id(self.name, self.which)
    }
}

fn form_id(name: &str, which: Option<&str>) -> String {
    which.map_or_else(|| name.to_owned(), |which| format!("{name}-{which}"))
}

/// The version of a document, as its hidden field has it.
fn tag_of(now: Option<&Value>) -> String {
    now.map_or_else(|| "none".to_owned(), |now| etag(&arena_canon::json::canonical(now)).replace('"', ""))
}

/// The command that a form asks for.
pub(crate) fn command_of(fields: &BTreeMap<String, String>) -> &str {
    fields.get("do").map_or("", String::as_str)
}

/// The id of the form that was sent.
pub(crate) fn sent_form(fields: &BTreeMap<String, String>) -> String {
    let which = ["window", "window_id"].iter().find_map(|name| fields.get(*name)).map(String::as_str);
    let has_several = matches!(command_of(fields), "put_intent" | "submit");
    form_id(command_of(fields), which.filter(|_| has_several))
}

/// The version that a form was made of.
pub(crate) fn version_of_form(fields: &BTreeMap<String, String>) -> Option<HeaderMap> {
    let version = fields.get(VERSION)?;
    let mut headers = HeaderMap::new();
    let value = HeaderValue::from_str(&format!("\"{version}\"")).unwrap_or(HeaderValue::from_static("\"\""));
    headers.insert(header::IF_MATCH, value);
    Some(headers)
}

/// Members of commands that are lists, one of their things a line.
const LISTS: [&str; 2] = ["canaries", "receipts"];
/// Fields that say something of the form itself, or are members of no command.
const NO_MEMBERS: [&str; 4] = ["csrf", "do", VERSION, "target"];

/// What the fields say, as a document of the API.
pub(crate) fn members_of(fields: &BTreeMap<String, String>) -> Value {
    let mut document = Map::new();
    for (name, value) in fields.iter().filter(|(name, _)| !NO_MEMBERS.contains(&name.as_str())) {
        let text = value.replace("\r\n", "\n").trim().to_owned();
        let (place, member) = match name.split_once('/') {
            Some((place, member)) => (below(&mut document, place), member),
            None => (&mut document, name.as_str()),
        };
        let value = if LISTS.contains(&member) {
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
        } else {
            Value::from(text)
        };
        place.insert(member.to_owned(), value);
    }
    let mut document = Value::Object(document);
    match command_of(fields) {
        "invalidate" => {
            let ticked = staff::PENALTIES.iter().filter(|(name, _)| fields.contains_key(*name));
            let names: Vec<&str> = ticked.map(|(name, _)| *name).collect();
            if let Some(members) = document.as_object_mut() {
                for (name, _) in staff::PENALTIES {
                    members.remove(name);
                }
            }
            document["penalties"] = json!(names);
        }
        "hide" => hide(&mut document, fields.get("target").map_or("", |target| target.trim())),
        "register" => {
            if let Some(members) = document.as_object_mut() {
                members.remove("company");
                members.entry("canaries").or_insert_with(|| json!([]));
            }
        }
        _ => {}
    }
    document
}

/// The object that is a member of another; what is none gives way.
fn below<'a>(document: &'a mut Map<String, Value>, place: &str) -> &'a mut Map<String, Value> {
    let inner = document.entry(place).or_insert_with(|| json!({}));
    if !inner.is_object() {
        *inner = json!({});
    }
    match inner {
        Value::Object(inner) => inner,
        _ => unreachable!("it is one now"),
    }
}

/// A post by either of its names, an artifact by its digest, or a text by its digest behind `text:`.
fn hide(document: &mut Value, target: &str) {
    let is_digest = target.len() == 64 && target.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(text) = target.strip_prefix("text:") {
        document["text_sha256"] = text.into();
    } else if is_digest {
        document["artifact_hash"] = target.into();
    } else {
        let post = local("town", target).map_or_else(|| target.to_owned(), |(_, name)| name);
        document["post"] = post.into();
    }
}

/// What a refusal is about, by its code.
const PLACES: [(&str, &str); 11] = [
    ("bad_id", "company"),
    ("not_own", "company"),
    ("unknown_company", "company"),
    ("other_rules", "rules_sha256"),
    ("hold_not_of_the_call", "hold_cap_atomic"),
    ("owner_reviews_own_work", "reviewer"),
    ("stake_below_minimum", "stake_atomic"),
    ("stake_above_free_hold", "stake_atomic"),
    ("stake_cannot_change", "stake_atomic"),
    ("unknown_receipt", "receipts"),
    ("unknown_reference", "target"),
];

/// Where a fault of the document stands in the form.
pub(crate) fn at_fields(
    problem: &crate::problem::Problem,
    fields: &BTreeMap<String, String>,
) -> crate::problem::Problem {
    // A refusal of the whole is told beside the field that it is about, where that is plain.
    let place = PLACES.iter().find(|(code, field)| *code == problem.code() && fields.contains_key(*field));
    if let Some((_, field)) = place.filter(|_| problem.errors().is_empty()) {
        let mut told = problem.clone();
        told.push(&format!("/{field}"), problem.code(), problem.detail());
        return told;
    }
    if command_of(fields) != "hide" {
        return problem.clone();
    }
    let mut told = problem.clone().without_errors();
    for error in problem.errors() {
        let place = match error.pointer.as_str() {
            "#/post" | "#/artifact_hash" | "#" => "/target",
            other => other.trim_start_matches('#'),
        };
        told.push(place, error.code, &error.detail);
    }
    told
}

/// Whether a form was refused since its sender has not seen what is saved now.
fn is_unseen(refused: &Refused<'_>) -> bool {
    matches!(refused.problem.code(), "if_match_stale" | "if_match_missing")
}

/// What somebody is told who did not know what is saved: the form beside it is of that version from now on.
fn replaced(ask: &Ask<'_>) -> Markup {
    let Some(saved) = &ask.saved else {
        return notice(Mark::Appeal, "Nothing is saved now; what you send again is the first.", html! {});
    };
    let told = |member: &str| match &saved[member] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let fields = ask.controls.iter().map(|control| (control.label, control.value.clone()));
    let facts = fields.chain([("Reference", told("ref")), ("Revision", told("revision"))]);
    let facts = facts.filter(|(_, text)| !text.is_empty());
    notice(
        Mark::Appeal,
        "What you send again replaces what was saved meanwhile. Saved now is:",
        definition_list(facts.map(|(label, text)| (label, guest(&text, SAVED_CHARS_MAX)))),
    )
}

/// What goes along with a form. One that was refused keeps its version until its sender was shown what is saved now.
fn along<'a>(ask: &'a Ask<'_>, refused: Option<&'a Refused<'_>>) -> Vec<(&'a str, &'a str)> {
    let old = refused.filter(|refused| !is_unseen(refused));
    let old = old.and_then(|refused| refused.fields.get(VERSION)).map(String::as_str);
    let now = ask.hidden.iter().map(|(name, value)| match old {
        Some(old) if *name == VERSION => (*name, old),
        _ => (*name, value.as_str()),
    });
    std::iter::once(("do", ask.name)).chain(now).collect()
}

fn drawn(ask: &Ask<'_>, (path, csrf): (&str, &str), refused: Option<&Refused<'_>>) -> Markup {
    let id = ask.id();
    let refused = refused.filter(|refused| refused.form == id);
    let names: Vec<&str> = ask.controls.iter().map(|control| control.at).collect();
    let faults: Vec<Option<String>> =
        names.iter().map(|name| refused.and_then(|refused| refused.fault(name))).collect();
    let fields = ask.controls.iter().zip(&faults).map(|(control, fault)| {
        let value = refused.map_or_else(|| control.value.clone(), |refused| refused.value(control.at));
        control.field().value(value).error(fault.as_deref())
    });
    // After a refusal the browser shows this form, not the top of the page.
    let head = format!("{id}-head");
    let path = format!("{path}#{head}");
    let hidden = along(ask, refused);
    html! {
        h3 id=(head) { (ask.submit) }
        @if let Some(refused) = refused {
            (refused.elsewhere(&names))
            @if is_unseen(refused) { (replaced(ask)) }
        }
        (form(&Form {
            id: &id,
            action: &path,
            csrf: Some(csrf),
            submit: ask.submit,
            fields: fields.collect(),
            hidden: &hidden,
            drastic: ask.is_drastic,
        }))
    }
}

/// What a link to the page asks it to have filled in.
pub(crate) type Filled<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

/// The page.
pub(crate) fn desk_page(
    see: &See<'_>,
    seen: &Seen<'_>,
    filled: Filled<'_>,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let terms = seen.round.terms();
    let path = format!("{}/desk", round_path(&terms.id));
    let asks = match see.csrf {
        None => Vec::new(),
        Some(_) if seen.own.is_some() => company::asks(see, seen),
        Some(_) if seen.is_staff => staff::asks(see, seen, filled),
        Some(_) => company::registration(see, seen),
    };
    let is_shown = |refused: &&Refused<'_>| asks.iter().any(|ask| ask.id() == refused.form);
    let body = html! {
        @match see.csrf {
            None => (notice(Mark::Plain, "Sign in to act here", html! {
                p { "A company acts by its agent, with a key or at this page. " a href="/login" { "Sign in" } }
            })),
            Some(csrf) => {
                @if seen.own.is_some() {
                    h2 { "Where you are" }
                    (steps("Steps of your company", &company::progress(seen)))
                    p { a href="/rules/sprint-v1" { "The rules" } " · " a href=(round_path(&terms.id)) { "The round" } }
                }
                h2 { "What you may do now" }
                @if let Some(refused) = refused.filter(|refused| !is_shown(refused) && refused.form != ARTIFACT_FORM) {
                    (refused.elsewhere(&[]))
                }
                @if asks.is_empty() && !company::stores(see, seen) {
                    p { "Nothing at this time; the timetable of the round says what comes next." }
                }
                @for ask in &asks { (drawn(ask, (&path, csrf), refused)) }
                @if company::stores(see, seen) { (company::artifact_form(&path, csrf, refused)) }
            }
        }
    };
    Page::new("Your desk", &path, body)
        .standfirst(super::phase_line(see, &seen.held.round))
        .trail(&[("Rounds", "/rounds"), (&terms.title, &round_path(&terms.id))])
        .viewer(see.frame())
        .render()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arena_contests::sprint::round::wire;

    use super::*;
    use crate::pages::rounds::run::VERBS;

    fn fields(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// What a program can do in a round, a person at a browser can.
    #[test]
    fn every_command_has_a_form() {
        let elsewhere = ["judge", "rule_dispute", "file_dispute", "amend_dispute", "post"];
        // A submission that is sent again is a revision; the bytes of an artifact come as a file.
        let others = ["revise", "store_artifact", "keep_artifact"];
        let run = VERBS.iter().map(|(name, _)| *name);
        let reached: BTreeSet<&str> =
            DESK_COMMANDS.into_iter().chain(run).chain(elsewhere).chain(others).collect();
        let all: BTreeSet<&str> = wire::COMMANDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(reached, all);
    }

    #[test]
    fn a_form_makes_the_document_that_a_program_would_send() {
        let register = fields(&[
            ("csrf", "x"),
            ("do", "register"),
            ("company", "acme"),
            ("team/principal", " ann "),
            ("canaries", "one two three\r\n\r\nfour five six\r\n"),
        ]);
        assert_eq!(
            members_of(&register),
            json!({ "team": { "principal": "ann" }, "canaries": ["one two three", "four five six"] })
        );
        let digest = "ab".repeat(32);
        for (target, wanted) in [
            ("town:3", json!({ "post": "town:3", "reason": "r" })),
            (" town:s0-r1:3 ", json!({ "post": "town:3", "reason": "r" })),
            (digest.as_str(), json!({ "artifact_hash": digest, "reason": "r" })),
            (&*format!("text:{digest}"), json!({ "text_sha256": digest, "reason": "r" })),
            ("", json!({ "post": "", "reason": "r" })),
        ] {
            let hide = fields(&[("do", "hide"), ("target", target), ("reason", "r")]);
            assert_eq!(members_of(&hide), wanted, "{target}");
        }
        let reversed =
            fields(&[("do", "invalidate"), ("reversal", "on"), ("window", "W1"), ("rationale", "r")]);
        assert_eq!(
            members_of(&reversed),
            json!({ "penalties": ["reversal"], "window": "W1", "rationale": "r" })
        );
        let intent = fields(&[("do", "put_intent"), ("window", "W2"), ("version", "none")]);
        assert_eq!(
            (sent_form(&intent).as_str(), version_of_form(&intent).unwrap().len()),
            ("put_intent-W2", 1)
        );
        let hostile = fields(&[("do", "submit"), ("budget_impact", "x"), ("budget_impact/note", "n")]);
        assert_eq!(members_of(&hostile)["budget_impact"]["note"], "n");
        assert_eq!(tag_of(None), "none");
    }
}
