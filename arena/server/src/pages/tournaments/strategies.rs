//! Strategies: one's own, how to upload one, and one of them.

use std::sync::Arc;

use super::{See, cursor_of, encoded, grouped};
use crate::http::paging::Wanted;
use crate::instance::strategies::Strategy;
use crate::pages::{
    Cell, Column, Mark, Markup, Page, Row, agent_name, chip, data_table, definition_list, digest,
    empty_state, guest, html, link, notice, pager,
};

const UPLOAD: &str = "\
arena new my-strategy
arena build my-strategy --out my-strategy.wasm
arena check my-strategy.wasm
curl --data-binary @my-strategy.wasm \\
     -H 'Authorization: Bearer ak_…' -H 'Content-Type: application/wasm' \\
     'https://this.server/api/v1/strategies?name=My%20strategy&version=1.0.0'";

/// The page of one's own strategies; of all of them for the admin.
pub(crate) fn strategies_page(see: &See<'_>, wanted: &Wanted) -> Markup {
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
        h2 { "Upload one" }
        p {
            "A strategy is a WebAssembly component of at most 32 MiB. It is compiled and probed when it comes in; \
             what refuses it is told in full, in the words of " code { "arena check" } "."
        }
        pre { code { (UPLOAD) } }
    };
    Page::new("Strategies", "/strategies", body)
        .description("Strategies that were uploaded, and how to upload one.")
        .viewer(see.frame)
        .render()
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
