//! Forms that post and redirect. A control has a visible label, its hint and its fault are tied to it, and
//! all faults stand at the top once more as links.

use maud::{Markup, html};

use crate::pages::marks::{Mark, mark};

/// A form. `fields` are drawn in their order.
#[derive(Debug, Clone)]
pub(crate) struct Form<'a> {
    /// Unique on the page; ids of its controls begin with it.
    pub(crate) id: &'a str,
    /// Path it goes to.
    pub(crate) action: &'a str,
    /// The session's token; `None` for a form that only asks (it is sent with GET).
    pub(crate) csrf: Option<&'a str>,
    /// What the button says: a verb, and what it does it to.
    pub(crate) submit: &'a str,
    /// The controls.
    pub(crate) fields: Vec<Field<'a>>,
    /// Values that go along, such as the turn: name and value.
    pub(crate) hidden: &'a [(&'a str, &'a str)],
    /// It cannot be taken back, so its button is red.
    pub(crate) drastic: bool,
}

/// One control. Made by one of the functions, then told more.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    name: &'a str,
    label: &'a str,
    kind: Kind<'a>,
    value: String,
    hint: Option<&'a str>,
    fault: Option<&'a str>,
    required: bool,
}

#[derive(Debug, Clone)]
enum Kind<'a> {
    Number { unit: &'a str, min: Option<&'a str>, max: Option<&'a str>, step: &'a str },
    Text { chars_max: usize },
    Area { chars_max: usize, rows: u8, code: bool },
    Select { options: &'a [(&'a str, &'a str)] },
    Radios { options: &'a [(&'a str, &'a str)] },
    Checkbox,
    File { accept: &'a str },
}

impl<'a> Field<'a> {
    const fn new(name: &'a str, label: &'a str, kind: Kind<'a>) -> Self {
        Self { name, label, kind, value: String::new(), hint: None, fault: None, required: false }
    }

    /// A number in `unit`. The limits are written out, so that they are shown as the rules write them; they
    /// are repeated in words below the label.
    pub(crate) const fn number(
        name: &'a str,
        label: &'a str,
        unit: &'a str,
        (min, max): (Option<&'a str>, Option<&'a str>),
        step: &'a str,
    ) -> Self {
        Self::new(name, label, Kind::Number { unit, min, max, step })
    }

    /// A line of at most `chars_max` characters.
    pub(crate) const fn text(name: &'a str, label: &'a str, chars_max: usize) -> Self {
        Self::new(name, label, Kind::Text { chars_max })
    }

    /// Lines of text.
    pub(crate) const fn textarea(name: &'a str, label: &'a str, chars_max: usize) -> Self {
        Self::new(name, label, Kind::Area { chars_max, rows: 8, code: false })
    }

    /// A document to paste: in a fixed-width font.
    pub(crate) const fn code(name: &'a str, label: &'a str, chars_max: usize) -> Self {
        Self::new(name, label, Kind::Area { chars_max, rows: 14, code: true })
    }

    /// One of several, as `(value, words)`.
    pub(crate) const fn select(name: &'a str, label: &'a str, options: &'a [(&'a str, &'a str)]) -> Self {
        Self::new(name, label, Kind::Select { options })
    }

    /// One of a few, all of them in sight, as `(value, words)`.
    pub(crate) const fn radios(name: &'a str, label: &'a str, options: &'a [(&'a str, &'a str)]) -> Self {
        Self::new(name, label, Kind::Radios { options })
    }

    /// Yes or not; sent as `on`.
    pub(crate) const fn checkbox(name: &'a str, label: &'a str) -> Self {
        Self::new(name, label, Kind::Checkbox)
    }

    /// A file. `accept` as HTML has it: `application/wasm,.wasm`.
    pub(crate) const fn file(name: &'a str, label: &'a str, accept: &'a str) -> Self {
        Self::new(name, label, Kind::File { accept })
    }

    /// What it holds. After a refusal this is what was sent, so nobody types it again. A checkbox is ticked
    /// by `on`.
    pub(crate) fn value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }

    /// A sentence below the label.
    pub(crate) const fn hint(mut self, hint: &'a str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// What was wrong with it, in a sentence; `None` if nothing was.
    pub(crate) const fn error(mut self, fault: Option<&'a str>) -> Self {
        self.fault = fault;
        self
    }

    /// Must be given.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    fn limits(&self) -> Option<String> {
        match self.kind {
            Kind::Number { unit, min: Some(min), max: Some(max), .. } => {
                Some(format!("From {} to {} {unit}.", signed(min), signed(max)))
            }
            Kind::Number { unit, min: Some(min), max: None, .. } => {
                Some(format!("At least {} {unit}.", signed(min)))
            }
            Kind::Number { unit, min: None, max: Some(max), .. } => {
                Some(format!("At most {} {unit}.", signed(max)))
            }
            Kind::Text { chars_max } | Kind::Area { chars_max, .. } => {
                Some(format!("At most {chars_max} characters."))
            }
            _ => None,
        }
    }
}

/// A limit with a minus sign in place of its hyphen.
fn signed(limit: &str) -> String {
    limit.strip_prefix('-').map_or_else(|| limit.to_owned(), |digits| format!("−{digits}"))
}

/// The form. All faults of its fields stand above it, each a link to its control.
pub(crate) fn form(form: &Form<'_>) -> Markup {
    let faulty: Vec<_> = form.fields.iter().filter(|field| field.fault.is_some()).collect();
    let files = form.fields.iter().any(|field| matches!(field.kind, Kind::File { .. }));
    let summary_id = format!("{}-faults", form.id);
    html! {
        @if !faulty.is_empty() {
            div.faults role="group" tabindex="-1" aria-labelledby=(summary_id) {
                h2 id=(summary_id) {
                    @if faulty.len() == 1 { "One field needs another look" }
                    @else { (faulty.len()) " fields need another look" }
                }
                ul {
                    @for field in &faulty {
                        li {
                            a href=(format!("#{}", first_control(form.id, field))) {
                                (field.label) ": " (field.fault.unwrap_or_default())
                            }
                        }
                    }
                }
            }
        }
        form.form id=(form.id) action=(form.action)
            method=(if form.csrf.is_some() { "post" } else { "get" })
            enctype=[files.then_some("multipart/form-data")]
        {
            @if let Some(csrf) = form.csrf { input type="hidden" name="csrf" value=(csrf); }
            @for (name, value) in form.hidden { input type="hidden" name=(name) value=(value); }
            @for field in &form.fields { (control(form.id, field)) }
            button.danger[form.drastic] type="submit" { (form.submit) }
        }
    }
}

fn id_of(form: &str, field: &Field<'_>) -> String {
    format!("{form}-{}", field.name)
}

fn first_control(form: &str, field: &Field<'_>) -> String {
    match field.kind {
        Kind::Radios { .. } => format!("{}-0", id_of(form, field)),
        _ => id_of(form, field),
    }
}

fn control(form: &str, field: &Field<'_>) -> Markup {
    let id = id_of(form, field);
    match field.kind {
        Kind::Radios { options } => radios(&id, field, options),
        Kind::Checkbox => html! {
            div.field.faulty[field.fault.is_some()] {
                (fault(&id, field))
                div.choice {
                    input type="checkbox" id=(id) name=(field.name) value="on" checked[field.value == "on"]
                        required[field.required] aria-describedby=[described_by(&id, field)]
                        aria-invalid=[field.fault.map(|_| "true")];
                    label for=(id) { (field.label) }
                }
                (hint(&id, field))
            }
        },
        _ => html! {
            div.field.faulty[field.fault.is_some()] {
                label for=(id) { (field.label) (optional(field)) }
                (hint(&id, field))
                (fault(&id, field))
                (single(&id, field))
            }
        },
    }
}

fn single(id: &str, field: &Field<'_>) -> Markup {
    let described = described_by(id, field);
    let invalid = field.fault.map(|_| "true");
    html! {
        @match field.kind {
            Kind::Number { unit, min, max, step } => {
                div.row {
                    input type="number" inputmode="decimal" id=(id) name=(field.name) value=(field.value)
                        min=[min] max=[max] step=(step) required[field.required]
                        aria-describedby=[described] aria-invalid=[invalid];
                    span.unit { (unit) }
                }
            }
            Kind::Text { chars_max } => {
                input type="text" id=(id) name=(field.name) value=(field.value) maxlength=(chars_max)
                    autocomplete="off" required[field.required]
                    aria-describedby=[described] aria-invalid=[invalid];
            }
            Kind::Area { chars_max, rows, code } => {
                // A parser drops a line break that follows the tag at once; this one is there to be dropped.
                textarea.code[code] id=(id) name=(field.name) rows=(rows) maxlength=(chars_max)
                    spellcheck=[code.then_some("false")] required[field.required]
                    aria-describedby=[described] aria-invalid=[invalid] { "\n" (field.value) }
            }
            Kind::Select { options } => {
                select id=(id) name=(field.name) required[field.required]
                    aria-describedby=[described] aria-invalid=[invalid]
                {
                    @for (value, words) in options {
                        option value=(value) selected[*value == field.value] { (words) }
                    }
                }
            }
            Kind::File { accept } => {
                input type="file" id=(id) name=(field.name) accept=(accept) required[field.required]
                    aria-describedby=[described] aria-invalid=[invalid];
            }
            Kind::Radios { .. } | Kind::Checkbox => {}
        }
    }
}

fn radios(id: &str, field: &Field<'_>, options: &[(&str, &str)]) -> Markup {
    html! {
        fieldset.field.faulty[field.fault.is_some()] aria-describedby=[described_by(id, field)] {
            legend { (field.label) (optional(field)) }
            (hint(id, field))
            (fault(id, field))
            @for (i, (value, words)) in options.iter().enumerate() {
                div.choice {
                    input type="radio" id=(format!("{id}-{i}")) name=(field.name) value=(value)
                        checked[*value == field.value] required[field.required];
                    label for=(format!("{id}-{i}")) { (words) }
                }
            }
        }
    }
}

fn optional(field: &Field<'_>) -> Markup {
    html! { @if !field.required { " " span.quiet { "(optional)" } } }
}

fn hint(id: &str, field: &Field<'_>) -> Markup {
    let limits = field.limits();
    html! {
        @if field.hint.is_some() || limits.is_some() {
            span.hint id=(format!("{id}-hint")) {
                @if let Some(hint) = field.hint { (hint) " " }
                @if let Some(limits) = limits { (limits) }
            }
        }
    }
}

fn fault(id: &str, field: &Field<'_>) -> Markup {
    html! {
        @if let Some(fault) = field.fault {
            span.fault id=(format!("{id}-fault")) {
                (mark(Mark::Order)) span.visually-hidden { "Wrong: " } (fault)
            }
        }
    }
}

fn described_by(id: &str, field: &Field<'_>) -> Option<String> {
    let hint = (field.hint.is_some() || field.limits().is_some()).then(|| format!("{id}-hint"));
    let fault = field.fault.map(|_| format!("{id}-fault"));
    match (hint, fault) {
        (Some(hint), Some(fault)) => Some(format!("{hint} {fault}")),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Form, form};

    fn drawn(fields: Vec<Field<'_>>) -> String {
        let it = Form {
            id: "f",
            action: "/go",
            csrf: Some("t\"k"),
            submit: "Go",
            fields,
            hidden: &[("turn", "7")],
            drastic: false,
        };
        form(&it).into_string()
    }

    #[test]
    fn what_is_wrong_is_told_at_the_control_and_at_the_top() {
        let number = Field::number("mw", "Curtail", "MW", (Some("0"), Some("40")), "0.1")
            .value("<9>")
            .error(Some("41 is more than 40"));
        let html = drawn(vec![number, Field::text("note", "Note", 20)]);
        assert!(html.contains("One field needs another look"), "{html}");
        assert!(html.contains("<a href=\"#f-mw\">Curtail: 41 is more than 40</a>"), "{html}");
        assert!(html.contains("aria-describedby=\"f-mw-hint f-mw-fault\""), "{html}");
        assert!(html.contains("From 0 to 40 MW."), "{html}");
        assert!(html.contains("value=\"&lt;9&gt;\"") && html.contains("value=\"t&quot;k\""), "{html}");
        assert!(html.contains("<input type=\"hidden\" name=\"turn\" value=\"7\">"), "{html}");
    }

    #[test]
    fn a_first_line_that_is_empty_survives_and_text_cannot_leave_its_box() {
        let html = drawn(vec![Field::textarea("a", "A", 9).value("\n</textarea><b>")]);
        assert!(html.contains(">\n\n&lt;/textarea&gt;&lt;b&gt;</textarea>"), "{html}");
    }

    #[test]
    fn a_form_without_a_token_only_asks() {
        let it = Form {
            id: "f",
            action: "/list",
            csrf: None,
            submit: "Show",
            fields: vec![],
            hidden: &[],
            drastic: false,
        };
        let html = form(&it).into_string();
        assert!(html.contains("method=\"get\"") && !html.contains("csrf"), "{html}");
    }
}
