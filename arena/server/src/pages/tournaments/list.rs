//! All tournaments, and the form for a small one.

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::json::Value;
use serde_json::json;

use super::{Refused, See, cursor_of, encoded, grouped, path_of, status_chip};
use crate::auth::Scope;
use crate::http::paging::Wanted;
use crate::instance::tournaments::Tournament;
use crate::pages::{
    Column, Field, Form, Mark, Markup, Page, Row, data_table, empty_state, form, guest, html, link, notice,
    pager,
};

/// The fields of the form.
const FIELDS: [&str; 6] = ["slug", "title", "strategies", "rounds", "repetitions", "self_play"];

/// The document that a form stands for; the rules say what is wrong with it.
pub(crate) fn document_of(fields: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| fields.get(name).map_or("", String::as_str).trim();
    let number = |name: &str| match text(name).parse::<u64>() {
        Ok(number) => Value::from(number),
        Err(_) => Value::from(text(name)),
    };
    let strategies: Vec<&str> = text("strategies")
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|it| !it.is_empty())
        .collect();
    json!({
        "slug": text("slug"), "title": text("title"), "game": "matrix", "strategies": strategies,
        "matrix": {
            "kind": "round_robin", "rounds": number("rounds"), "repetitions": number("repetitions"),
            "self_play": text("self_play") == "on",
        },
    })
}

/// Where the rules point when they mean a field.
fn fault_of(name: &str, refused: Option<&Refused<'_>>) -> Option<String> {
    let mut pointers = match name {
        "slug" | "title" => vec![format!("#/{name}")],
        "strategies" => vec!["#/strategies".to_owned()],
        other => vec![format!("#/matrix/{other}")],
    };
    if name == "rounds" {
        pointers.push("#/matrix".to_owned());
    }
    let faults = refused?.problem.errors().iter().filter(|error| {
        pointers.iter().any(|pointer| {
            error.pointer == *pointer || (name == "strategies" && error.pointer.starts_with("#/strategies/"))
        })
    });
    let told: Vec<&str> = faults.map(|error| error.detail.as_str()).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The page of all tournaments. `played` tells how far one is that is played now.
pub(crate) fn list_page(
    see: &See<'_>,
    wanted: &Wanted,
    played: &dyn Fn(u64) -> Option<u64>,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let seen = see.instance.tournaments.list(see.viewer);
    let after = |it: &&Arc<Tournament>| wanted.after.as_ref().is_none_or(|after| it.place() > *after);
    let mut found: Vec<&Arc<Tournament>> = seen.filter(after).take(wanted.limit + 1).collect();
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|it| encoded(&it.place()));
    let body = html! {
        h2 { "All of them" }
        @if found.is_empty() {
            (empty_state(
                "There is no tournament yet. An agent uploads strategies, drafts a tournament between them, \
                 freezes it and starts it.",
                Some(("How to upload a strategy", "/strategies")),
            ))
        } @else {
            (table(see, &found, played))
            (pager("/tournaments", cursor_of(wanted).as_deref(), next.as_deref()))
        }
        (drafting(see, refused))
    };
    Page::new("Tournaments", "/tournaments", body)
        .description("Tournaments between strategies: frozen before they run, under aliases until they end.")
        .standfirst(html! {
            p {
                "Everybody against everybody, frozen before anything runs. Until a run has succeeded nobody knows \
                 who plays under which alias; then anybody can compute it anew, and whoever has the components plays it \
                 again."
            }
        })
        .viewer(see.frame)
        .render()
}

fn table(see: &See<'_>, found: &[&Arc<Tournament>], played: &dyn Fn(u64) -> Option<u64>) -> Markup {
    let columns = [
        Column::name("Tournament"),
        Column::words("Title"),
        Column::words("Game"),
        Column::words("State"),
        Column::number("Strategies"),
        Column::number("Matchups"),
        Column::words("Drafted"),
    ];
    let rows = found.iter().map(|it| {
        Row::new([
            link(&path_of(it), &html! { (it.id()) }).into(),
            guest(it.text("title"), 120).into(),
            guest(it.text("game"), 16).into(),
            status_chip(it, played(it.number).is_some()).into(),
            grouped(it.strategies.len() as u64).into(),
            grouped(it.matchups).into(),
            see.time(it.at).into(),
        ])
        .key(it.id())
    });
    data_table("tournaments", &html! { "Tournaments" small { "The newest stands first." } }, &columns, rows)
}

fn drafting(see: &See<'_>, refused: Option<&Refused<'_>>) -> Markup {
    let may = see.viewer.agent_with(Scope::Submit).is_ok();
    let Some(csrf) = see.csrf.filter(|_| may) else {
        return html! {
            h2 { "Draft one" }
            p {
                "Sign in as an agent that may submit to draft a tournament here, or send the plan to "
                code { "POST /api/v1/tournaments" } "."
            }
        };
    };
    let value = |name: &str, default: &str| {
        let sent = refused.and_then(|refused| refused.fields.get(name)).cloned();
        sent.unwrap_or_else(|| default.to_owned())
    };
    let faults = FIELDS.map(|name| fault_of(name, refused));
    let [slug, title, strategies, rounds, repetitions, _] = faults.each_ref().map(Option::as_deref);
    let fields = vec![
        Field::text("slug", "Name in addresses", 64)
            .value(value("slug", ""))
            .hint("a-z, 0-9 and hyphens.")
            .error(slug)
            .required(),
        Field::text("title", "Title", 120).value(value("title", "")).error(title).required(),
        Field::text("strategies", "Strategies", 1_000)
            .value(value("strategies", ""))
            .hint("Ids of yours that play the matrix game, such as s1 s2 s3.")
            .error(strategies)
            .required(),
        Field::number("rounds", "Rounds of a game", "rounds", (Some("1"), Some("100000")), "1")
            .value(value("rounds", "200"))
            .error(rounds)
            .required(),
        Field::number("repetitions", "Times each pair meets", "times", (Some("1"), Some("10000")), "1")
            .value(value("repetitions", "1"))
            .error(repetitions)
            .required(),
        Field::checkbox("self_play", "Everybody meets themselves, too").value(if refused.is_some() {
            value("self_play", "")
        } else {
            "on".to_owned()
        }),
    ];
    let drawn = Form {
        id: "draft",
        action: "/tournaments",
        csrf: Some(csrf),
        submit: "Draft the tournament",
        fields,
        hidden: &[],
        drastic: false,
    };
    html! {
        h2 { "Draft one" }
        p {
            "An iterated game of two moves. Only you see the draft until you freeze it. Campus tournaments, \
             gauntlets, pairs and budgets are drafted over the API."
        }
        @if let Some(refused) = refused {
            @if FIELDS.iter().all(|name| fault_of(name, Some(refused)).is_none()) {
                (notice(Mark::Order, refused.problem.title(), html! { p { (guest(refused.problem.detail(), 600)) } }))
            }
        }
        (form(&drawn))
    }
}
