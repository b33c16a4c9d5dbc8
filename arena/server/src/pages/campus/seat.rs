//! `/play/{episode}`: the seat of a person. What is seen, one action, what came of the last one.

use arena_engine::campus::{ObservationRecord, brief};
use arena_engine::limits::limits;
use maud::{Markup, html};

use super::{timeline, turn, words};
use crate::pages::{Field, Form, Mark, Page, Viewer, form, guest, link, markdown, notice, path_segment};
use crate::play::{Reach, Step, Story};

/// What was wrong with what was sent: the field, what it held, and in words why.
#[derive(Debug, Clone, Default)]
pub(crate) struct Faulty {
    pub(crate) given: Vec<(String, String)>,
    pub(crate) faults: Vec<(&'static str, String)>,
}

impl Faulty {
    fn given(&self, name: &str) -> String {
        self.given
            .iter()
            .find(|(field, _)| field == name)
            .map_or_else(String::new, |(_, value)| value.clone())
    }

    fn fault(&self, name: &str) -> Option<&str> {
        self.faults.iter().find(|(field, _)| *field == name).map(|(_, why)| why.as_str())
    }
}

/// What the page is made of.
pub(crate) struct Seat<'a> {
    pub(crate) story: &'a Story,
    pub(crate) viewer: Option<Viewer<'a>>,
    /// A turn that was sent again or too late.
    pub(crate) stale: Option<u32>,
    pub(crate) faulty: &'a Faulty,
}

/// The page.
pub(crate) fn seat_page(seat: &Seat<'_>) -> Markup {
    let story = seat.story;
    let id = story.record.id();
    let path = format!("/play/{id}");
    let seen = story.seat.observe().map(|seen| ObservationRecord::of(&seen));
    let body = html! {
        (stale(seat))
        @match &seen {
            Some(seen) => (open(seat, seen)),
            None => (over(story)),
        }
    };
    let title = story.pack.document().name.clone();
    let turns = story.pack.turns();
    let where_ = match &seen {
        Some(seen) => {
            format!("Turn {} of {}, {}", seen.turn, turns - 1, words::clock(&seen.local_time, true))
        }
        None => format!("All {turns} turns are played"),
    };
    Page::new(&title, &path, body)
        .description("One campus, one action a turn. Every limit that bites is told.")
        .standfirst(html! { p { (where_) } })
        .trail(&[("Play", "/play")])
        .viewer(seat.viewer)
        .render()
}

/// A turn that was played before is no error: what happened on it is shown.
fn stale(seat: &Seat<'_>) -> Markup {
    let step = seat.stale.and_then(|turn| seat.story.steps.get(turn as usize));
    html! {
        @if let Some(step) = step {
            (notice(
                Mark::Pending,
                &format!("Turn {} was played before", step.turn.turn),
                html! {
                    p { "An action is for good, so what you sent just now changed nothing. This is what was played." }
                },
            ))
            h2 { "Turn " (step.turn.turn) ", as it was played" }
            (turn::action("stale", &step.turn))
        }
    }
}

fn open(seat: &Seat<'_>, seen: &ObservationRecord) -> Markup {
    let story = seat.story;
    let pack = &story.pack;
    html! {
        @if let Some(last) = story.steps.last() { (happened(last, story)) } @else { (briefing(story)) }
        h2 { "What you see on turn " (seen.turn) }
        (turn::observation("now", seen, pack))
        h2 { "Your action" }
        (act(seat, seen))
        h2 { "So far" }
        @let caption = html! { "Both metrics over the turns before this one" };
        (turn::metrics("so-far", &caption, &story.seat.running(), pack))
        (timeline::timeline("timeline", story, Some(seen.turn as usize)))
        @if !story.steps.is_empty() {
            details.more { summary { "The brief" } (brief_of(story)) }
        }
    }
}

fn briefing(story: &Story) -> Markup {
    html! { h2 { "The brief" } (brief_of(story)) }
}

fn brief_of(story: &Story) -> Markup {
    let row = limits(story.record.pins.limits_version).unwrap_or(&arena_engine::limits::V1);
    markdown(&brief(&story.pack, row))
}

fn happened(last: &Step, story: &Story) -> Markup {
    let clamps = turn::clamps_told(&last.turn);
    let words = match clamps.len() {
        0 => format!("Turn {} was done as you asked", last.turn.turn),
        1 => format!("On turn {} one limit changed what you asked", last.turn.turn),
        n => format!("On turn {} {n} limits changed what you asked", last.turn.turn),
    };
    let mark = if clamps.is_empty() { Mark::Accepted } else { Mark::Appeal };
    let shortfall = last.turn.resolution.relief.shortfall_mw;
    html! {
        h2 { "What happened on turn " (last.turn.turn) }
        (notice(mark, &words, html! {
            @let cost = words::dollars(last.turn.resolution.turn_cost_usd);
            @if clamps.is_empty() { p { "The turn cost " (cost) "." } }
            @for clamp in &clamps { p { (clamp) "." } }
        }))
        @if shortfall > 0.0 {
            @let words = format!("{} short of the orders", words::mw(shortfall));
            (notice(Mark::Order, &words, html! { p { "It counts against relief." } }))
        }
        details.more {
            summary { "The turn in full" }
            (turn::action("last", &last.turn))
            (turn::arithmetic("last", &last.turn, &story.pack))
        }
    }
}

/// A limit as a person may type it: cut towards zero, so that it is never too much.
fn limit(value: f64) -> String {
    let cut = (value * 1_000.0).trunc() / 1_000.0;
    // No negative zero, which a form would show.
    format!("{}", cut + 0.0)
}

fn act(seat: &Seat<'_>, seen: &ObservationRecord) -> Markup {
    let story = seat.story;
    let Some(reach) = Reach::of(&story.seat) else { return html! {} };
    let site = &story.pack.document().site;
    let n = |value: f64| words::short(value, 3);
    let hints = [
        format!("Shedding costs {} $/MWh.", n(site.sla_usd_per_mwh)),
        format!(
            "Positive gives, negative takes. It holds {} of {}; of what is taken, {} arrives.",
            words::mwh(seen.site.soc_mwh),
            words::mwh(site.battery.capacity_mwh),
            n(site.battery.round_trip_efficiency)
        ),
        format!(
            "Fuel costs {} $/MWh. {} h of the permit are left; any output takes the whole turn.",
            n(site.generator.fuel_usd_per_mwh),
            n(seen.site.permit_hours_remaining)
        ),
    ];
    let ends = [
        ("0".to_owned(), limit(reach.curtail_mw)),
        (limit(reach.charge_mw), limit(reach.discharge_mw)),
        ("0".to_owned(), limit(reach.generator_mw)),
    ];
    let names = [("curtail_mw", "Shed load"), ("battery_mw", "Battery"), ("diesel_mw", "Generator")];
    let faulty = seat.faulty;
    let mut fields = Vec::new();
    for (((name, label), (least, most)), hint) in names.into_iter().zip(&ends).zip(&hints) {
        let value = faulty.given(name);
        let value = if value.is_empty() { "0".to_owned() } else { value };
        let field = Field::number(name, label, "MW", (Some(least), Some(most)), "any");
        fields.push(field.hint(hint).value(value).error(faulty.fault(name)).required());
    }
    if reach.has_offer {
        let offer = Field::checkbox("accept_offer", "Accept every appeal that is active now, until it ends");
        fields.push(offer.value(faulty.given("accept_offer")));
    }
    let (action, turn) = (format!("/play/{}", story.record.id()), seen.turn.to_string());
    let submit = format!("Play turn {turn}");
    html! {
        (form(&Form {
            id: "act",
            action: &action,
            csrf: Some(super::token(seat.viewer)),
            submit: &submit,
            fields,
            hidden: &[("turn", &turn)],
            drastic: false,
        }))
        p.quiet {
            "The limits are those of each field alone. Together they may be less: what goes beyond is cut, and "
            "told. "
            "There is no clock; the episode waits for you."
        }
    }
}

fn over(story: &Story) -> Markup {
    let id = story.record.id();
    let last = story.steps.last();
    html! {
        @if let Some(last) = last { (happened(last, story)) }
        h2 { "Settlement" }
        (settlement(story))
        p { (link(&format!("/episodes/{id}"), &html! { "The whole episode, and how to check it" })) }
        p { (link(&format!("/episodes/{id}/turns/0"), &html! { "Replay it turn by turn" })) }
        p { a href="/play" { "Play another one" } }
    }
}

/// Stars and both metrics, beside those of doing nothing.
pub(super) fn settlement(story: &Story) -> Markup {
    let Some(settlement) = story.steps.last().and_then(|step| step.settlement.as_ref()) else {
        return html! {};
    };
    let nothing = &settlement.do_nothing;
    html! {
        p { (words::stars(settlement.stars)) " · " (settlement.clamp_count) " limits bit over the episode" }
        @let caption = html! { "Both metrics, which are never combined" };
        (turn::metrics("settled", &caption, &settlement.metrics, &story.pack))
        p {
            "Doing nothing: "
            @for (i, metric) in nothing.metrics.iter().enumerate() {
                @if i > 0 { ", " }
                (words::metric(metric.id)) " " (words::metric_value(metric.id, metric.value))
            }
            ", " (words::stars(nothing.stars)) "."
        }
    }
}

/// The pack as a link.
pub(super) fn pack_link(story: &Story) -> Markup {
    let pins = &story.record.pins;
    let path = format!("/packs/{}/{}", path_segment(&pins.pack_id), path_segment(&pins.pack_version));
    link(&path, &html! { (guest(&pins.pack_id, 64)) " " (guest(&pins.pack_version, 64)) })
}
