//! What is submitted: a redline of a clause, a strategy, or text.

use arena_canon::Digest;
use arena_canon::json::{Map, Pointer, Value};

use crate::cite::Citation;
use crate::document::{Faults, Length, Object};

/// What a contest takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    /// Clause-level redlines with their legal basis.
    Redline,
    /// A component that plays.
    Strategy,
    /// A title, a text, and members of its own.
    Generic,
}

impl BodyKind {
    /// What contests of a type take.
    pub fn of(contest_type: &str) -> Self {
        match contest_type {
            "rules-review" => Self::Redline,
            "strategy" => Self::Strategy,
            _ => Self::Generic,
        }
    }
}

/// A change of one clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redline {
    /// Which clause.
    pub rule_id: String,
    /// Why.
    pub rationale: String,
    /// The clause as it is.
    pub current_text: String,
    /// The clause as it should be.
    pub proposed_text: String,
    /// What gets better.
    pub risk_reduced: String,
    /// The acts it rests on.
    pub legal_basis: Vec<Citation>,
}

/// What is submitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A change of one clause.
    Redline(Redline),
    /// A component.
    Strategy {
        /// What it is called.
        title: String,
        /// What its author says of it.
        body: String,
        /// Its digest; the bytes are elsewhere.
        strategy: Digest,
    },
    /// Anything else.
    Generic {
        /// What it is called.
        title: String,
        /// The text.
        body: String,
        /// Members of its own.
        metadata: Map<String, Value>,
    },
}

const TITLE: Length = Length::new(1, 200);
const TEXT: Length = Length::new(1, 20_000);
const METADATA_BYTES_MAX: usize = 16_384;
const BASES_MAX: usize = 10;

impl Body {
    /// Reads a body of this kind; what is stored is what was sent.
    pub fn read(kind: BodyKind, value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let read = match kind {
            BodyKind::Redline => redline(value, &mut faults).map(Self::Redline),
            BodyKind::Strategy => strategy(value, &mut faults),
            BodyKind::Generic => generic(value, &mut faults),
        };
        faults.or(read)
    }

    /// What of it one agent may have once: the clause of a redline.
    pub fn slot(&self) -> &str {
        match self {
            Self::Redline(redline) => &redline.rule_id,
            Self::Strategy { .. } | Self::Generic { .. } => "",
        }
    }

    /// Every text of it that becomes public, with its place.
    pub fn texts(&self) -> Vec<(String, String)> {
        let named = |pairs: &[(&str, &String)]| -> Vec<(String, String)> {
            pairs.iter().map(|(place, text)| ((*place).to_owned(), (*text).clone())).collect()
        };
        match self {
            Self::Redline(redline) => {
                let mut texts = named(&[
                    ("/rule_id", &redline.rule_id),
                    ("/rationale", &redline.rationale),
                    ("/current_text", &redline.current_text),
                    ("/proposed_text", &redline.proposed_text),
                    ("/risk_reduced", &redline.risk_reduced),
                ]);
                for (i, Citation { act, article, jurisdiction, url }) in
                    redline.legal_basis.iter().enumerate()
                {
                    let fields =
                        [("act", act), ("article", article), ("jurisdiction", jurisdiction), ("url", url)];
                    texts.extend(fields.map(|(key, text)| (format!("/legal_basis/{i}/{key}"), text.clone())));
                }
                texts
            }
            Self::Strategy { title, body, .. } => named(&[("/title", title), ("/body", body)]),
            Self::Generic { title, body, metadata } => {
                let mut texts = named(&[("/title", title), ("/body", body)]);
                let at = Pointer::default().key("metadata");
                metadata.iter().for_each(|(key, value)| collect(&at, key, value, &mut texts));
                texts
            }
        }
    }
}

/// Keys and texts, however deep.
fn collect(at: &Pointer, key: &str, value: &Value, texts: &mut Vec<(String, String)>) {
    let at = at.key(key);
    texts.push((at.to_string(), key.to_owned()));
    match value {
        Value::String(text) => texts.push((at.to_string(), text.clone())),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| collect(&at, &i.to_string(), item, texts));
        }
        Value::Object(members) => members.iter().for_each(|(key, member)| collect(&at, key, member, texts)),
        Value::Number(number) => texts.push((at.to_string(), number.to_string())),
        Value::Null | Value::Bool(_) => {}
    }
}

fn redline(value: &Value, faults: &mut Faults) -> Option<Redline> {
    let known = ["rule_id", "rationale", "current_text", "proposed_text", "risk_reduced", "legal_basis"];
    let object = Object::read(value, &Pointer::default(), &known, faults)?;
    let [rule_id, rationale, current_text, proposed_text, risk_reduced] = [
        ("rule_id", Length::new(1, 100)),
        ("rationale", Length::new(10, 3_000)),
        ("current_text", Length::new(5, 5_000)),
        ("proposed_text", Length::new(5, 5_000)),
        ("risk_reduced", Length::new(1, 1_000)),
    ]
    .map(|(key, length)| object.bounded(key, length, faults));
    let items = object.array("legal_basis", BASES_MAX, faults);
    if items.is_some_and(<[Value]>::is_empty) {
        faults.add(&object.at("legal_basis"), "at least one act is needed");
    }
    let at = object.at("legal_basis");
    let read = |(i, item)| Citation::within(Citation::BOUNDS, item, &at.index(i), faults);
    let legal_basis = items.map(|items| items.iter().enumerate().filter_map(read).collect());
    Some(Redline {
        rule_id: rule_id?,
        rationale: rationale?,
        current_text: current_text?,
        proposed_text: proposed_text?,
        risk_reduced: risk_reduced?,
        legal_basis: legal_basis?,
    })
}

fn strategy(value: &Value, faults: &mut Faults) -> Option<Body> {
    let object = Object::read(value, &Pointer::default(), &["title", "body", "metadata"], faults)?;
    let title = object.bounded("title", TITLE, faults);
    let body = object.bounded("body", TEXT, faults);
    let metadata = object.required("metadata", faults)?;
    let metadata = Object::read(metadata, &object.at("metadata"), &["strategy"], faults)?;
    let strategy = metadata.parsed::<Digest>("strategy", faults);
    Some(Body::Strategy { title: title?, body: body?, strategy: strategy? })
}

fn generic(value: &Value, faults: &mut Faults) -> Option<Body> {
    let object = Object::read(value, &Pointer::default(), &["title", "body", "metadata"], faults)?;
    let title = object.bounded("title", TITLE, faults);
    let body = object.bounded("body", TEXT, faults);
    let metadata = match object.optional("metadata") {
        None => Map::new(),
        Some(Value::Object(members)) => {
            let bytes = Value::Object(members.clone()).to_string().len();
            if bytes > METADATA_BYTES_MAX {
                let message = format!("has {bytes} bytes; the limit is {METADATA_BYTES_MAX}");
                faults.add(&object.at("metadata"), message);
            }
            members.clone()
        }
        Some(_) => {
            faults.add(&object.at("metadata"), "expected an object");
            Map::new()
        }
    };
    Some(Body::Generic { title: title?, body: body?, metadata })
}
