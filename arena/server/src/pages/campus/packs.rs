//! `/play`: choose a pack. `/packs/{p}/{v}`: what a pack is.

use std::sync::Arc;

use arena_engine::campus::{EventKind, brief};
use arena_engine::limits::V1;
use maud::{Markup, html};

use super::words;
use crate::instance::episodes::Record;
use crate::pages::chart::{Axis, Plot, Series, step_chart};
use crate::pages::{
    Cell, Column, Field, Form, Live, Mark, Page, Row, Viewer, agent_name, chip, data_table, definition_list,
    digest, empty_state, form, guest, link, live_region, markdown, notice, path_segment, time_tag,
};
use crate::play::Published;

const NAME_CHARS_MAX: usize = 200;

/// The page of all packs, with one's own episodes and the newest of everybody.
pub(crate) fn chooser(
    packs: &[Arc<Published>],
    own: &[Record],
    finished: &[Record],
    viewer: Option<Viewer<'_>>,
    now_ms: i64,
) -> Markup {
    let body = html! {
        @if !own.is_empty() {
            h2 { "Your open episodes" }
            @let path = |record: &Record| format!("/play/{}", record.id());
            (episodes("own", &html! { "They wait as long as you like" }, own, now_ms, path))
        }
        h2 { "Start an episode" }
        (start(packs, viewer))
        @if let Some(viewer) = viewer { (come_back(viewer)) }
        h2 { "Finished episodes" }
        (live_region("news", news(finished).as_deref(), recent(finished, now_ms)))
    };
    let live = Live { events: "/api/v1/events?topic=episodes", kinds: &["match.finished"], region: "news" };
    Page::new("Play", "/play", body)
        .live(live)
        .description("Run a data-centre campus on a stressed grid, one action a turn.")
        .standfirst(html! {
            p {
                "Run a data-centre campus on a stressed grid: one action a turn, and every limit that bites is "
                "told. No account is needed."
            }
        })
        .viewer(viewer)
        .render()
}

fn recent(finished: &[Record], now_ms: i64) -> Markup {
    let path = |record: &Record| format!("/episodes/{}", record.id());
    episodes("finished", &html! { "The newest first" }, finished, now_ms, path)
}

/// A session ends; what was begun does not.
fn come_back(viewer: Viewer<'_>) -> Markup {
    html! {
        h2 { "Come back, or let a program play on" }
        p {
            "You are " (agent_name(viewer.name)) ". A session lasts twelve hours at most; with a key you sign in "
            "again, and a program plays the same episodes over the API."
        }
        (form(&Form {
            id: "key",
            action: "/play/key",
            csrf: Some(viewer.csrf),
            submit: "Make a key",
            fields: Vec::new(),
            hidden: &[],
            drastic: false,
        }))
    }
}

/// A key, shown once.
pub(crate) fn key_page(key: &str, viewer: Option<Viewer<'_>>) -> Markup {
    let body = html! {
        @let advice = html! { p { "Keep it as you keep a password." } };
        (notice(Mark::Appeal, "This is the only time that you see it", advice))
        p { code { (key) } }
        p {
            "To come back, paste it on the " a href="/login" { "sign-in page" } ". A program sends it as "
            code { "Authorization: Bearer" } "; what it can do is in the "
            a href="/openapi.json" { "document of the API" } "."
        }
        p { a href="/play" { "Back to your episodes" } }
    };
    Page::new("Your key", "/play/key", body).trail(&[("Play", "/play")]).viewer(viewer).render()
}

/// The newest one in a sentence.
fn news(finished: &[Record]) -> Option<String> {
    let newest = finished.first()?;
    let stars = newest.end.as_ref()?.stars;
    Some(format!("Episode {} on {} ended with {stars} of 3 stars", newest.id(), newest.pins.pack_id))
}

fn start(packs: &[Arc<Published>], viewer: Option<Viewer<'_>>) -> Markup {
    if packs.is_empty() {
        return empty_state("No pack is offered here.", None);
    }
    let options: Vec<(String, String)> = packs
        .iter()
        .map(|published| {
            let about = published.pack.document();
            let hours = f64::from(about.time.turns) * published.pack.hours_per_turn();
            let words = format!(
                "{}: {} turns of {} min, {} h",
                about.name,
                about.time.turns,
                about.time.step_minutes,
                words::short(hours, 1)
            );
            (format!("{}/{}", about.pack_id, about.pack_version), words)
        })
        .collect();
    let options: Vec<(&str, &str)> =
        options.iter().map(|(value, words)| (value.as_str(), words.as_str())).collect();
    let first = options.first().map_or("", |(value, _)| value);
    let field = Field::radios("pack", "Pack", &options).value(first).required();
    html! {
        (form(&Form {
            id: "start",
            action: "/play",
            csrf: Some(super::token(viewer)),
            submit: "Start the episode",
            fields: vec![field],
            hidden: &[],
            drastic: false,
        }))
        p {
            "About the packs: "
            @for (i, published) in packs.iter().enumerate() {
                @let about = published.pack.document();
                @if i > 0 { ", " }
                (link(&path_of(published), &html! { (guest(&about.name, NAME_CHARS_MAX)) }))
            }
            ". A pack's page tells all that is going to happen."
        }
    }
}

fn path_of(published: &Published) -> String {
    let about = published.pack.document();
    format!("/packs/{}/{}", path_segment(&about.pack_id), path_segment(&about.pack_version))
}

fn episodes(
    id: &str,
    caption: &Markup,
    records: &[Record],
    now_ms: i64,
    path: impl Fn(&Record) -> String,
) -> Markup {
    let columns = [
        Column::name("Episode"),
        Column::words("Pack"),
        Column::words("Played by"),
        Column::number("Turns played"),
        Column::words("Stars"),
        Column::words("Metrics"),
        Column::words("Last turn"),
    ];
    let rows = records.iter().map(|record| {
        let end = record.end.as_ref();
        let metrics = end.map(|end| {
            let told = end
                .metrics
                .iter()
                .map(|it| format!("{} {}", words::metric(it.id), words::metric_value(it.id, it.value)));
            told.collect::<Vec<_>>().join(", ")
        });
        Row::new([
            link(&path(record), &html! { (record.id()) }).into(),
            guest(&record.pins.pack_id, 64).into(),
            agent_name(&record.agent).into(),
            format!("{} of {}", record.turn, record.pins.turns).into(),
            end.map_or_else(|| Cell::none("not finished"), |end| words::stars(end.stars).into()),
            metrics.map_or_else(|| Cell::none("not finished"), Cell::from),
            time_tag(record.last_at.unix_ms(), now_ms).into(),
        ])
        .key(record.id())
    });
    html! {
        @if records.is_empty() {
            (empty_state("Nobody has played an episode to its end yet.", None))
        } @else {
            (data_table(id, caption, &columns, rows))
        }
    }
}

/// The page of a pack.
pub(crate) fn pack_page(
    published: &Published,
    finished: &[Record],
    viewer: Option<Viewer<'_>>,
    now_ms: i64,
) -> Markup {
    let about = published.pack.document();
    let path = path_of(published);
    let api = format!("/api/v1{path}");
    let time = &about.time;
    let body = html! {
        (definition_list([
            ("Name and version", html! { (guest(&about.pack_id, 64)) " " (guest(&about.pack_version, 64)) }),
            ("Time", html! {
                (time.turns) " turns of " (time.step_minutes) " minutes from "
                (words::clock(&time.start_local, true)) ", local time"
            }),
            ("Scoring", html! { (guest(&about.score_version, 64)) }),
            ("Digest", digest(&published.pack.sha256().to_string())),
            ("Document", link(&api, &html! { "Download the pack" })),
        ]))
        p { a.button href="/play" { "Play it" } }
        h2 { "The brief" }
        (markdown(&brief(&published.pack, &V1)))
        h2 { "What is going to happen" }
        details.more {
            summary { "Show prices and events; who plays for the first time may not want to know" }
            (script(published))
        }
        h2 { "Finished episodes" }
        (recent(finished, now_ms))
    };
    Page::new(&about.name, &path, body)
        .description("A scenario of the campus: its brief, its limits, its score.")
        .trail(&[("Play", "/play")])
        .viewer(viewer)
        .render()
}

fn script(published: &Published) -> Markup {
    let about = published.pack.document();
    let points: Vec<(f64, f64)> =
        about.grid.price_usd_per_mwh.iter().enumerate().map(|(turn, price)| (turn as f64, *price)).collect();
    let columns =
        [Column::name("Event"), Column::words("Kind"), Column::words("What"), Column::words("Turns")];
    let rows = about.events.iter().map(|event| {
        let (mark, what) = match event.kind {
            EventKind::CurtailmentOrder { requested_mw } => {
                (chip(Mark::Order, "ORDER"), format!("{} less than the IT demand", words::mw(requested_mw)))
            }
            EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                (chip(Mark::Appeal, "APPEAL"), format!("pays {} $/MWh", words::short(credit_usd_per_mwh, 2)))
            }
        };
        let turns = format!("{} to {}", event.start_turn, event.end_turn.saturating_sub(1));
        Row::new([guest(&event.id, 64).into(), mark.into(), what.into(), turns.into()])
    });
    html! {
        (step_chart(&Plot {
            id: "price",
            title: "Price by turn",
            description: "At the campus' nominal draw.",
            x: Axis { label: "turn", unit: "", decimals: 0 },
            y: Axis { label: "price", unit: "$/MWh", decimals: 2 },
            series: &[Series { name: "price", points: &points }],
        }))
        (data_table("events", &html! { "Orders and appeals" }, &columns, rows))
    }
}
