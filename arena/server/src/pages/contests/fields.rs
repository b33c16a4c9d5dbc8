//! The form of a submission: its fields, the body that they make, and what was wrong with it.

use std::collections::BTreeMap;

use arena_canon::json::Value;
use arena_contests::contest::BodyKind;
use serde_json::json;

use crate::pages::{Field, Form, Mark, Markup, form, guest, html, notice};
use crate::problem::Problem;

/// What was sent and refused, so that nobody types it again.
pub(crate) struct Refused<'a> {
    /// Of which form.
    pub(crate) form: &'a str,
    pub(crate) fields: &'a BTreeMap<String, String>,
    pub(crate) problem: &'a Problem,
}

impl Refused<'_> {
    /// What was sent in a field.
    pub(crate) fn value(&self, name: &str) -> String {
        self.fields.get(name).cloned().unwrap_or_default()
    }

    /// What is wrong with it: every fault of a member of this name, or below it.
    pub(crate) fn fault(&self, name: &str) -> Option<String> {
        let within = |pointer: &str| {
            let rest = pointer.strip_prefix("#/")?.strip_prefix(name)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
        };
        let faults = self.problem.errors().iter().filter_map(|error| {
            let rest = within(&error.pointer)?;
            let unit = if name == "legal_basis" { "citation" } else { "line" };
            Some(format!("{}{}", place_words(&rest, unit), error.detail))
        });
        let faults: Vec<String> = faults.collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// What is wrong with no field of the form.
    pub(crate) fn elsewhere(&self, names: &[&str]) -> Markup {
        let is_of_field = |pointer: &str| {
            names.iter().any(|name| {
                pointer
                    .strip_prefix("#/")
                    .and_then(|at| at.strip_prefix(name))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let others: Vec<&str> = self
            .problem
            .errors()
            .iter()
            .filter(|error| !is_of_field(&error.pointer))
            .map(|error| error.detail.as_str())
            .collect();
        html! {
            @if self.problem.errors().is_empty() {
                (notice(Mark::Order, self.problem.title(), html! {
                    p { (guest(self.problem.detail(), 1_000)) }
                }))
            } @else if !others.is_empty() {
                (notice(Mark::Order, self.problem.title(), html! {
                    ul { @for other in &others { li { (guest(other, 600)) } } }
                }))
            }
        }
    }
}

/// `/0/article` of the legal basis as `citation 1, article: `.
fn place_words(rest: &str, unit: &str) -> String {
    let mut segments = rest.split('/').skip(1);
    match segments.next().map(|first| (first.parse::<usize>(), first)) {
        None => String::new(),
        Some((Ok(index), _)) => match segments.next() {
            Some(member) => format!("{unit} {}, {member}: ", index.saturating_add(1)),
            None => format!("{unit} {}: ", index.saturating_add(1)),
        },
        Some((Err(_), member)) => format!("{member}: "),
    }
}

/// A field: its name, label, most characters, hint, and whether it has several lines.
struct Wanted {
    name: &'static str,
    label: &'static str,
    chars_max: usize,
    hint: &'static str,
    is_long: bool,
    is_required: bool,
}

const fn wanted(
    name: &'static str,
    label: &'static str,
    chars_max: usize,
    hint: &'static str,
    is_long: bool,
) -> Wanted {
    Wanted { name, label, chars_max, hint, is_long, is_required: true }
}

const REDLINE: &[Wanted] = &[
    wanted(
        "rule_id",
        "Clause",
        100,
        "Its identifier, such as CBR14. One redline of yours for each clause.",
        false,
    ),
    wanted("current_text", "The clause as it is", 5_000, "Its exact text.", true),
    wanted("proposed_text", "The clause as it should be", 5_000, "", true),
    wanted("rationale", "Why", 3_000, "At least 10 characters.", true),
    wanted("risk_reduced", "Which risk it closes", 1_000, "", true),
    wanted(
        "legal_basis",
        "Legal basis",
        24_000,
        "One act a line, 1 to 10: act | article | jurisdiction | link. Such as: \
         GDPR | Art. 6(1)(a) | EU | https://eur-lex.europa.eu/eli/reg/2016/679/oj",
        true,
    ),
];

const STRATEGY: &[Wanted] = &[
    wanted("title", "Title", 200, "", false),
    wanted("body", "What you say of it", 20_000, "Everybody reads it when the contest is closed.", true),
    wanted(
        "metadata",
        "Component",
        64,
        "The SHA-256 of a component that you uploaded: 64 hexadecimal digits.",
        false,
    ),
];

const GENERIC: &[Wanted] = &[
    wanted("title", "Title", 200, "", false),
    wanted("body", "Text", 20_000, "Markdown.", true),
    Wanted {
        name: "metadata",
        label: "Metadata",
        chars_max: 16_384,
        hint: "A JSON object with members of your own.",
        is_long: true,
        is_required: false,
    },
];

const fn wanted_of(kind: BodyKind) -> &'static [Wanted] {
    match kind {
        BodyKind::Redline => REDLINE,
        BodyKind::Strategy => STRATEGY,
        BodyKind::Generic => GENERIC,
    }
}

/// The id of the form, and what a refusal of it is told by.
pub(crate) const SUBMIT: &str = "submit";

/// The form for a submission of this kind.
pub(super) fn submit_form(kind: BodyKind, action: &str, csrf: &str, refused: Option<&Refused<'_>>) -> Markup {
    let refused = refused.filter(|refused| refused.form == SUBMIT);
    let all = wanted_of(kind);
    let names: Vec<&str> = all.iter().map(|field| field.name).collect();
    let faults: Vec<Option<String>> =
        all.iter().map(|field| refused.and_then(|refused| refused.fault(field.name))).collect();
    let fields = all.iter().zip(&faults).map(|(wanted, fault)| {
        let field = match (wanted.is_long, wanted.name) {
            (true, "legal_basis" | "metadata") => Field::code(wanted.name, wanted.label, wanted.chars_max),
            (true, _) => Field::textarea(wanted.name, wanted.label, wanted.chars_max),
            (false, _) => Field::text(wanted.name, wanted.label, wanted.chars_max),
        };
        let field = if wanted.hint.is_empty() { field } else { field.hint(wanted.hint) };
        let field = if wanted.is_required { field.required() } else { field };
        let value = refused.map(|refused| refused.value(wanted.name)).unwrap_or_default();
        field.value(value).error(fault.as_deref())
    });
    let fields = fields.collect();
    html! {
        @if let Some(refused) = refused { (refused.elsewhere(&names)) }
        (form(&plain_form(SUBMIT, (action, csrf), "Submit it", fields)))
    }
}

/// A form with nothing hidden in it that can be taken back.
pub(super) fn plain_form<'a>(
    id: &'a str,
    (action, csrf): (&'a str, &'a str),
    submit: &'a str,
    fields: Vec<Field<'a>>,
) -> Form<'a> {
    Form { id, action, csrf: Some(csrf), submit, fields, hidden: &[], drastic: false }
}

/// The body that the fields of the form make. Browsers send line breaks as two characters; the rules count
/// one.
pub(crate) fn body_of(kind: BodyKind, fields: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| fields.get(name).map(|text| text.replace("\r\n", "\n")).unwrap_or_default();
    match kind {
        BodyKind::Redline => {
            let basis: Vec<Value> =
                text("legal_basis").lines().filter(|line| !line.trim().is_empty()).map(citation).collect();
            json!({
                "rule_id": text("rule_id"), "current_text": text("current_text"),
                "proposed_text": text("proposed_text"), "rationale": text("rationale"),
                "risk_reduced": text("risk_reduced"), "legal_basis": basis,
            })
        }
        BodyKind::Strategy => json!({
            "title": text("title"), "body": text("body"), "metadata": { "strategy": text("metadata").trim() },
        }),
        BodyKind::Generic => {
            let metadata = text("metadata");
            let metadata = match metadata.trim() {
                "" => json!({}),
                // What is no JSON is told as what it is: not an object.
                other => {
                    arena_canon::json::read(other.as_bytes(), other.len()).unwrap_or_else(|_| other.into())
                }
            };
            json!({ "title": text("title"), "body": text("body"), "metadata": metadata })
        }
    }
}

/// `act | article | jurisdiction | link`; what is missing is empty, and told as such.
fn citation(line: &str) -> Value {
    let mut parts = line.splitn(4, '|').map(str::trim);
    let mut next = || parts.next().unwrap_or("");
    let [act, article, jurisdiction, url] = [next(), next(), next(), next()];
    json!({ "act": act, "article": article, "jurisdiction": jurisdiction, "url": url })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_makes_the_body_that_a_program_would_send() {
        let fields = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let redline = fields(&[
            ("rule_id", "CBR14"),
            ("current_text", "one\r\ntwo"),
            ("legal_basis", "GDPR | Art. 6 | EU | https://x.lt/a|b\r\n\r\nDSA|Art. 3\r\n"),
        ]);
        let body = body_of(BodyKind::Redline, &redline);
        assert_eq!((&body["rule_id"], &body["current_text"]), (&json!("CBR14"), &json!("one\ntwo")));
        assert_eq!(
            body["legal_basis"],
            json!([
                { "act": "GDPR", "article": "Art. 6", "jurisdiction": "EU", "url": "https://x.lt/a|b" },
                { "act": "DSA", "article": "Art. 3", "jurisdiction": "", "url": "" },
            ])
        );
        let generic = fields(&[("title", "t"), ("body", "b"), ("metadata", "{\"a\": 1}")]);
        assert_eq!(body_of(BodyKind::Generic, &generic)["metadata"], json!({ "a": 1 }));
        let broken = fields(&[("metadata", "{")]);
        assert_eq!(body_of(BodyKind::Generic, &broken)["metadata"], json!("{"));
        let strategy = fields(&[("metadata", " ab ")]);
        assert_eq!(body_of(BodyKind::Strategy, &strategy)["metadata"], json!({ "strategy": "ab" }));
    }

    #[test]
    fn faults_find_their_fields() {
        let mut problem = Problem::new("form", "the body is not of its form");
        problem.push("/legal_basis/0/article", "form", "is empty");
        problem.push("/rule_id", "form", "is long");
        problem.push("", "slot_taken", "you have one");
        let refused = Refused { form: SUBMIT, fields: &BTreeMap::new(), problem: &problem };
        assert_eq!(refused.fault("legal_basis").as_deref(), Some("citation 1, article: is empty"));
        assert_eq!(refused.fault("rule_id").as_deref(), Some("is long"));
        assert_eq!(refused.fault("rule"), None);
        let told = refused.elsewhere(&["legal_basis", "rule_id"]).into_string();
        assert!(told.contains("you have one") && !told.contains("is long"), "{told}");
    }
}
