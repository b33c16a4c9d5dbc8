//! Strategies: one's own, how to upload one, and one of them.

use std::sync::Arc;

use super::{Refused, See, cursor_of, encoded, grouped};
use crate::auth::Scope;
use crate::http::paging::Wanted;
use crate::instance::strategies::Strategy;
use crate::pages::{
    Cell, Column, Field, Form, Mark, Markup, Page, Row, agent_name, chip, data_table, definition_list,
    digest, empty_state, form, guest, html, link, notice, pager,
};

const UPLOAD: &str = "\
arena new my-strategy
arena build my-strategy --out my-strategy.wasm
arena check my-strategy.wasm
curl --data-binary @my-strategy.wasm \\
     -H 'Authorization: Bearer ak_…' -H 'Content-Type: application/wasm' \\
     'https://this.server/api/v1/strategies?name=My%20strategy&version=1.0.0'";

/// The fields of the form, but for its token.
pub(crate) const UPLOAD_FIELDS: [&str; 3] = ["name", "version", "component"];

/// The page of one's own strategies; of all of them for the admin. With the form again if what was sent was refused.
pub(crate) fn strategies_page(see: &See<'_>, wanted: &Wanted, refused: Option<&Refused<'_>>) -> Markup {
    let strategies = &see.instance.strategies;
    let after = |it: &&Arc<Strategy>| wanted.after.as_ref().is_none_or(|after| it.place() > *after);
    let mut found: Vec<&Arc<Strategy>> = match see.viewer.agent() {
        _ if see.viewer.is_admin() => strategies.all().filter(after).take(wanted.limit + 1).collect(),
        Some(agent) => strategies.of(agent).filter(after).take(wanted.limit + 1).collect(),
        None => Vec::new(),
    };
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|it| encoded(&it.place()));
    let body = html! {
        h2 { "Yours" }
        @if see.frame.is_none() {
            (empty_state(
                "Strategies are their owner's until a tournament discloses them. Sign in to see yours.",
                Some(("Sign in", "/login")),
            ))
        } @else if found.is_empty() {
            (empty_state("You have no strategy here yet.", None))
        } @else {
            (table(see, &found))
            (pager("/strategies", cursor_of(wanted).as_deref(), next.as_deref()))
        }
        h2 id="upload" { "Upload one" }
        p {
            "A strategy is a WebAssembly component of at most 32 MiB. It is compiled and probed when it comes in; \
             what refuses it is told in full, in the words of " code { "arena check" } ". How many are taken an hour is among the "
            a href="/docs" { "limits of this server" } "."
        }
        (uploading(see, refused))
        h3 { "Or from a terminal" }
        pre { code { (UPLOAD) } }
    };
    Page::new("Strategies", "/strategies", body)
        .description("Strategies that were uploaded, and how to upload one.")
        .viewer(see.frame)
        .render()
}

/// What was wrong with a field.
fn fault_of(refused: Option<&Refused<'_>>, name: &str) -> Option<String> {
    let errors = refused?.problem.errors().iter();
    let mut faults = errors.filter(|error| error.pointer == format!("#/{name}"));
    let first = faults.next()?;
    // A component is refused for as many reasons as there are; they are told as a list.
    let others = faults.count();
    Some(if others == 0 {
        first.detail.clone()
    } else {
        format!("refused for {} reasons, listed above", others + 1)
    })
}

/// The reasons that are told beside no field: those of a component that is refused for several, and a refusal of
/// the whole.
fn reasons(refused: &Refused<'_>) -> Markup {
    let problem = refused.problem;
    let of_component = problem.errors().iter().filter(|error| error.pointer == "#/component");
    let details: Vec<&str> = of_component.map(|error| error.detail.as_str()).collect();
    html! {
        @if problem.errors().is_empty() {
            (notice(Mark::Order, problem.title(), html! { p { (guest(problem.detail(), 1_000)) } }))
        } @else if details.len() > 1 {
            (notice(Mark::Order, "This component may not play here", html! {
                ul { @for detail in &details { li { (guest(detail, 1_000)) } } }
            }))
        }
    }
}

fn uploading(see: &See<'_>, refused: Option<&Refused<'_>>) -> Markup {
    let may = see.viewer.agent_with(Scope::Submit).is_ok();
    let Some(csrf) = see.csrf.filter(|_| may) else {
        return html! { p { "Sign in as an agent that may submit to upload one here." } };
    };
    let sent = |name: &str| refused.and_then(|refused| refused.fields.get(name)).cloned().unwrap_or_default();
    let faults = UPLOAD_FIELDS.map(|name| fault_of(refused, name));
    let [name, version, component] = faults.each_ref().map(Option::as_deref);
    let file_hint = if refused.is_some() {
        "A .wasm file. Choose it once more: a browser does not keep it."
    } else {
        "A .wasm file, as arena build makes it."
    };
    let fields = vec![
        Field::text("name", "Name", 64)
            .value(sent("name"))
            .hint("What people call it. Tournaments show it once they are over.")
            .error(name)
            .required(),
        Field::text("version", "Version", 64)
            .value(sent("version"))
            .hint("Yours to choose; 0 if you leave it out.")
            .error(version),
        Field::file("component", "Component", "application/wasm,.wasm")
            .hint(file_hint)
            .error(component)
            .required(),
    ];
    let drawn = Form {
        id: "upload-form",
        action: "/strategies#upload",
        csrf: Some(csrf),
        submit: "Upload the strategy",
        fields,
        hidden: &[],
        drastic: false,
    };
    html! {
        @if let Some(refused) = refused { (reasons(refused)) }
        (form(&drawn))
    }
}

fn game_of(strategy: &Strategy) -> &'static str {
    strategy.admission.game().map_or("none", arena_tournament::Game::name)
}

fn table(see: &See<'_>, found: &[&Arc<Strategy>]) -> Markup {
    let columns = [
        Column::name("Strategy"),
        Column::words("Name"),
        Column::words("Version"),
        Column::words("Game"),
        Column::words("Probe"),
        Column::words("SHA-256"),
        Column::words("Uploaded"),
    ];
    let rows = found.iter().map(|it| {
        let cells: [Cell; 7] = [
            link(&format!("/strategies/{}", it.id()), &html! { (it.id()) }).into(),
            guest(&it.name, 64).into(),
            guest(&it.version, 64).into(),
            game_of(it).into(),
            probe_chip(it).into(),
            digest(&it.admission.sha256.to_string()).into(),
            see.time(it.at).into(),
        ];
        Row::new(cells).key(it.id())
    });
    data_table("strategies", &html! { "Strategies" small { "The newest stands first." } }, &columns, rows)
}

fn probe_chip(strategy: &Strategy) -> Markup {
    if strategy.admission.probe.forfeit.is_null() {
        chip(Mark::Accepted, "played")
    } else {
        chip(Mark::Appeal, "forfeits")
    }
}

/// The page of one strategy.
pub(crate) fn strategy_page(see: &See<'_>, strategy: &Strategy) -> Markup {
    let admission = &strategy.admission;
    let probe = &admission.probe;
    let imports = html! {
        @if admission.imports.is_empty() { "nothing" }
        @for (i, import) in admission.imports.iter().enumerate() {
            @if i > 0 { ", " } code { (guest(import, 120)) }
        }
    };
    let facts = [
        ("Owner", agent_name(&strategy.owner)),
        ("Version", guest(&strategy.version, 64)),
        ("Uploaded", see.time(strategy.at)),
        ("World", html! { code { (guest(&admission.world, 120)) } }),
        ("Imports", imports),
        ("Linked with", guest(&admission.linker, 40)),
        ("Size", html! { (grouped(admission.size_bytes)) " bytes" }),
        ("SHA-256", digest(&admission.sha256.to_string())),
        ("Fuel of its dearest call", html! { (grouped(probe.fuel_max)) }),
        ("Memory at most", html! { (grouped(probe.memory_bytes_max)) " bytes" }),
    ];
    let body = html! {
        h2 { "What admission says" }
        p { (chip(Mark::Accepted, "admitted")) " " (probe_chip(strategy)) }
        @if !probe.forfeit.is_null() {
            (notice(Mark::Appeal, "It forfeits in its probe.", html! {
                p { "It may play, and it will lose every matchup in which this happens. " code { "arena check" } " \
                     tells on which turn and why." }
            }))
        }
        (definition_list(facts))
    };
    let path = format!("/strategies/{}", strategy.id());
    Page::new(&strategy.name, &path, body).trail(&[("Strategies", "/strategies")]).viewer(see.frame).render()
}
