//! Two episodes on one clock: the same turn side by side, and where they part.

use arena_engine::campus::{Better, MetricValue};
use maud::{Markup, html};

use super::{seat, turn, words};
use crate::pages::chart::{Axis, Plot, Series, step_chart};
use crate::pages::{Mark, Page, Viewer, agent_name, link, notice, replay_bar};
use crate::play::Story;

/// The first turn on which the two differ: in what was asked, in what came of it, or because one has no such
/// turn.
pub(crate) fn divergence(a: &Story, b: &Story) -> Option<usize> {
    let turns = a.steps.len().max(b.steps.len());
    (0..turns).find(|turn| match (a.steps.get(*turn), b.steps.get(*turn)) {
        (Some(a), Some(b)) => {
            a.turn.action.action() != b.turn.action.action()
                || a.turn.observation != b.turn.observation
                || a.turn.resolution != b.turn.resolution
        }
        _ => true,
    })
}

fn leads(better: Better, a: &MetricValue, b: &MetricValue) -> Option<bool> {
    let (a, b) = (a.value?, b.value?);
    let first = match better {
        Better::Lower => a < b,
        Better::Higher => a > b,
    };
    (a != b).then_some(first)
}

/// Turns after which the first metric puts the other one ahead.
fn lead_changes(a: &Story, b: &Story) -> Vec<(usize, bool)> {
    let mut changes = Vec::new();
    let mut leader = None;
    for (turn, (a, b)) in a.steps.iter().zip(&b.steps).enumerate() {
        let [ours, theirs] = [&a.running[0], &b.running[0]];
        let now = leads(ours.better, ours, theirs);
        if let Some(first) = now.filter(|now| leader.is_some_and(|before| before != *now)) {
            changes.push((turn, first));
        }
        leader = now.or(leader);
    }
    changes
}

/// The page.
pub(crate) fn versus_page(a: &Story, b: &Story, at: usize, viewer: Option<Viewer<'_>>) -> Markup {
    let (id_a, id_b) = (a.record.id(), b.record.id());
    let base = format!("/episodes/{id_a}/versus/{id_b}/turns");
    let last = a.steps.len().max(b.steps.len()).saturating_sub(1);
    let parts = divergence(a, b);
    let body = html! {
        (replay_bar(at, last, |turn| format!("{base}/{turn}")))
        @if a.record.pins.pack_sha256 != b.record.pins.pack_sha256 {
            @let body = html! { p { "Their turns stand side by side by number only." } };
            (notice(Mark::Appeal, "These are episodes of two packs", body))
        }
        (parting(parts, at, &base))
        (moments(a, b, &base))
        (costs(a, b))
        h2 { "Turn " (at) }
        div.side-by-side {
            (side("a", a, at))
            (side("b", b, at))
        }
    };
    let title = format!("{id_a} and {id_b}, turn {at}");
    Page::new(&title, &format!("{base}/{at}"), body)
        .description("Two episodes side by side, with the turn on which they part.")
        .trail(&[("Play", "/play"), (&id_a, &format!("/episodes/{id_a}"))])
        .viewer(viewer)
        .render()
}

fn parting(parts: Option<usize>, at: usize, base: &str) -> Markup {
    match parts {
        None => notice(Mark::Accepted, "They are the same on every turn", html! {}),
        Some(turn) if turn == at => notice(
            Mark::Appeal,
            &format!("They part on this turn, {turn}"),
            html! { p { "Before it they are the same." } },
        ),
        Some(turn) => {
            let words = if turn > at { "They are the same up to here" } else { "They have parted" };
            let body = html! { p { "They part on " (link(&format!("{base}/{turn}"), &html! { "turn " (turn) })) "." } };
            notice(Mark::Plain, words, body)
        }
    }
}

fn moments(a: &Story, b: &Story, base: &str) -> Markup {
    let changes = lead_changes(a, b);
    html! {
        @if !changes.is_empty() {
            h2 { "Changes of the lead" }
            ul.moments {
                @for (turn, first) in &changes {
                    li {
                        (link(&format!("{base}/{turn}"), &html! { "Turn " (turn) })) " "
                        (if *first { a.record.id() } else { b.record.id() }) " goes ahead in "
                        (words::metric(a.steps[*turn].running[0].id).to_lowercase())
                    }
                }
            }
        }
    }
}

fn costs(a: &Story, b: &Story) -> Markup {
    let points = |story: &Story| -> Vec<(f64, f64)> {
        let mut sum = 0.0;
        let costs = story.steps.iter().map(|step| {
            sum += step.turn.resolution.turn_cost_usd;
            (f64::from(step.turn.turn), sum)
        });
        costs.collect()
    };
    let (of_a, of_b) = (points(a), points(b));
    let (name_a, name_b) = (a.record.id(), b.record.id());
    step_chart(&Plot {
        id: "costs",
        title: "Cost so far",
        description: "Both on one clock.",
        x: Axis { label: "turn", unit: "", decimals: 0 },
        y: Axis { label: "cost", unit: "$", decimals: 2 },
        series: &[Series { name: &name_a, points: &of_a }, Series { name: &name_b, points: &of_b }],
    })
}

fn side(prefix: &str, story: &Story, at: usize) -> Markup {
    let id = story.record.id();
    let caption = html! { "Both metrics after turn " (at) };
    html! {
        section {
            @let path = format!("/episodes/{id}/turns/{at}");
            h3 { (link(&path, &html! { (id) })) " by " (agent_name(&story.record.agent)) }
            p { "Pack " (seat::pack_link(story)) }
            @match story.steps.get(at) {
                None => p { "This episode has no such turn." },
                Some(step) => {
                    (turn::action(prefix, &step.turn))
                    (turn::metrics(prefix, &caption, &step.running, &story.pack))
                    (turn::arithmetic(prefix, &step.turn, &story.pack))
                }
            }
        }
    }
}
