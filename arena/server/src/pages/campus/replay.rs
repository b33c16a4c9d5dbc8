//! `/episodes/{e}` and its turns: what happened, and how to check it.

use arena_engine::campus::Checked;
use maud::{Markup, html};

use super::own_check::own_check;
use super::{seat, timeline, turn, words};
use crate::instance::episodes::Record;
use crate::pages::chart::picture;
use crate::pages::{
    Mark, Page, Viewer, agent_name, definition_list, digest, link, notice, replay_bar, time_tag,
};
use crate::play::Story;

/// What the server found when it replayed the stored log.
pub(crate) enum Proof {
    /// It is finished, and this is what came of it.
    Checked(Box<Checked>),
    /// It is still open, so there is no log yet.
    Open,
}

/// An episode and what surrounds it.
pub(crate) struct Told<'a> {
    pub(crate) story: &'a Story,
    pub(crate) viewer: Option<Viewer<'a>>,
    pub(crate) proof: &'a Proof,
    /// Finished episodes of the same pack, to put beside it.
    pub(crate) others: &'a [Record],
    pub(crate) now_ms: i64,
}

/// A turn as a page of its own.
pub(crate) fn replay_page(told: &Told<'_>, at: usize) -> Markup {
    let story = told.story;
    let id = story.record.id();
    let path = format!("/episodes/{id}/turns/{at}");
    let Some(step) = story.steps.get(at) else { return episode_page(told) };
    let pack = &story.pack;
    let caption = html! { "Both metrics after turn " (at) };
    let body = html! {
        (replay_bar(at, story.steps.len().saturating_sub(1), |turn| format!("/episodes/{id}/turns/{turn}")))
        (timeline::timeline("timeline", story, Some(at)))
        h2 { "What was seen" }
        (turn::observation("seen", &step.turn.observation, pack))
        h2 { "What was asked and done" }
        (turn::action("turn", &step.turn))
        h2 { "What came of it" }
        (turn::arithmetic("turn", &step.turn, pack))
        (turn::metrics("turn", &caption, &step.running, pack))
        (beside(told, at))
        (check_it(told))
    };
    let title = format!("Turn {at} of {}", pack.document().name);
    Page::new(&title, &path, body)
        .description("What was seen, asked and granted on one turn, with every number.")
        .standfirst(standfirst(told))
        .trail(&[("Play", "/play"), (&id, &format!("/episodes/{id}"))])
        .viewer(told.viewer)
        .render()
}

fn standfirst(told: &Told<'_>) -> Markup {
    html! {
        p { "Played by " (agent_name(&told.story.record.agent)) " on pack " (seat::pack_link(told.story)) "." }
    }
}

/// The episode as a whole.
pub(crate) fn episode_page(told: &Told<'_>) -> Markup {
    let story = told.story;
    let record = &story.record;
    let id = record.id();
    let path = format!("/episodes/{id}");
    let state = if record.end.is_some() { "finished" } else { "open" };
    let last = story.steps.len().saturating_sub(1);
    let body = html! {
        (definition_list([
            ("Begun", time_tag(record.joined_at.unix_ms(), told.now_ms)),
            ("Last turn played", time_tag(record.last_at.unix_ms(), told.now_ms)),
            ("State", html! { (state) ", " (story.steps.len()) " of " (record.pins.turns) " turns played" }),
            ("Engine", html! { (record.pins.engine_version) }),
            ("Scoring", html! { (record.pins.score_version) }),
            ("Limits", html! { (record.pins.limits_version) }),
            ("Pack's digest", digest(&record.pins.pack_sha256.to_string())),
        ]))
        @if story.steps.is_empty() {
            p { "No turn has been played yet." }
        } @else {
            p {
                (link(&format!("{path}/turns/0"), &html! { "Replay from the first turn" })) " · "
                (link(&format!("{path}/turns/{last}"), &html! { "The last turn" }))
            }
        }
        @if record.end.is_some() { h2 { "Settlement" } (seat::settlement(story)) }
        h2 { "Turn by turn" }
        (timeline::timeline("timeline", story, None))
        @if record.end.is_some() {
            p { (link(&format!("{path}/chart.svg"), &html! { "The chart as a picture" })) ", for pages elsewhere." }
        }
        (beside(told, 0))
        (check_it(told))
    };
    let title = format!("{}, {id}", story.pack.document().name);
    Page::new(&title, &path, body)
        .description("An episode of the campus: its outcome, its turns, and how to check it.")
        .standfirst(standfirst(told))
        .trail(&[("Play", "/play")])
        .viewer(told.viewer)
        .render()
}

/// The chart of a finished episode as a picture of its own.
pub(crate) fn episode_chart(story: &Story) -> Option<String> {
    story.record.end.as_ref()?;
    picture(&timeline::timeline("timeline", story, None))
}

/// The way to two episodes side by side, at a turn.
fn beside(told: &Told<'_>, at: usize) -> Markup {
    let id = told.story.record.id();
    html! {
        @if !told.others.is_empty() && !told.story.steps.is_empty() {
            h2 { "Side by side with" }
            ul {
                @for other in told.others {
                    li {
                        (link(&format!("/episodes/{id}/versus/{}/turns/{at}", other.id()), &html! { (other.id()) }))
                        " by " (agent_name(&other.agent)) ", "
                        @if let Some(end) = &other.end { (words::stars(end.stars)) }
                    }
                }
            }
        }
    }
}

/// What everybody can do alone, done here once.
fn check_it(told: &Told<'_>) -> Markup {
    html! {
        h2 { "Check it yourself" }
        @match told.proof {
            Proof::Open => p { "The episode is open. Its log is sealed when the last turn is played." },
            Proof::Checked(checked) => (checked_log(told, checked)),
        }
    }
}

fn checked_log(told: &Told<'_>, checked: &Checked) -> Markup {
    let story = told.story;
    let id = story.record.id();
    let score = |settlement: &arena_canon::json::Value| -> String {
        let metrics = story.pack.document().scoring.metrics.iter().enumerate().map(|(i, goal)| {
            let value =
                settlement.pointer(&format!("/metrics/{i}/value")).and_then(arena_canon::json::Value::as_f64);
            format!("{} {}", words::metric(goal.id), words::metric_value(goal.id, value))
        });
        metrics.collect::<Vec<_>>().join(", ")
    };
    let (replayed, none) = (checked.replayed.as_ref(), || html! { "none" });
    let pins = &story.record.pins;
    let pack = format!("/api/v1/packs/{}/{}", pins.pack_id, pins.pack_version);
    let log = format!("/api/v1/episodes/{id}/log");
    let (mark, words) = if checked.is_sound() {
        (Mark::Accepted, "The stored score is the score of the replay")
    } else {
        (Mark::Order, "The stored log is not what its actions come to")
    };
    html! {
        (notice(mark, words, html! {
            p { "This server replayed the stored log just now, with the engine that everybody has." }
            @for fault in checked.faults.iter().take(5) { p { code { (fault.pointer) } " " (fault.message) } }
        }))
        (definition_list([
            ("Stored score", html! { (score(&checked.stored.0)) }),
            ("Replayed score", html! { (replayed.map_or_else(none, |it| html! { (score(&it.0)) })) }),
            ("Stored outcome", digest(&checked.stored.1.to_string())),
            ("Replayed outcome", replayed.map_or_else(none, |it| digest(&it.1.to_string()))),
            ("Stored log", digest(&checked.log_sha256.to_string())),
            ("Replayed log", checked.replayed_log_sha256.map_or_else(none, |it| digest(&it.to_string()))),
        ]))
        p {
            "Download " (link(&log, &html! { "the log" })) " and "
            (link(&pack, &html! { "the pack" })) ", then run " code { "arena verify" } " on the log, or send it to "
            code { "POST /api/v1/replays/verify" } "."
        }
        (own_check(&story.pack, &log, &pack))
    }
}
