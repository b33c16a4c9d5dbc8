//! An episode as a chart: price, import and battery as panels, orders, appeals and acceptance as bands, and
//! the moments that one would jump to.

use std::collections::BTreeMap;

use arena_engine::campus::{ObservationRecord, ShareRecord, VisibleEvent, VisibleKind};
use maud::Markup;

use super::turn::clamps_told;
use super::words;
use crate::pages::Mark;
use crate::pages::chart::{Band, Bands, Moment, Panel, Shape, Span, band_chart};
use crate::play::Story;

/// Something to jump to.
pub(super) struct Key {
    pub(super) turn: usize,
    pub(super) words: String,
    pub(super) href: String,
}

/// What stood out: limits that bit, accepted appeals, orders that were not met.
pub(super) fn keys(story: &Story) -> Vec<Key> {
    let id = story.record.id();
    let mut keys = Vec::new();
    for step in &story.steps {
        let turn = &step.turn;
        let mut told = Vec::new();
        if turn.resolution.applied.accept_offer && turn.observation.events.iter().any(is_open_appeal) {
            told.push("appeal accepted".to_owned());
        }
        if turn.resolution.relief.shortfall_mw > 0.0 {
            told.push(format!("{} short of the orders", words::mw(turn.resolution.relief.shortfall_mw)));
        }
        told.extend(clamps_told(turn));
        let href = format!("/episodes/{id}/turns/{}", turn.turn);
        if !told.is_empty() {
            keys.push(Key { turn: turn.turn as usize, words: told.join("; "), href });
        }
    }
    keys
}

/// An appeal that can be accepted and was not yet.
fn is_open_appeal(event: &VisibleEvent) -> bool {
    event.active && matches!(event.kind, VisibleKind::ConservationAppeal { accepted: false, .. })
}

struct Told {
    from: usize,
    to: usize,
    mark: Mark,
    words: String,
}

fn spans(told: &[Told]) -> Vec<Span<'_>> {
    told.iter().map(|it| Span { from: it.from, to: it.to, mark: it.mark, words: &it.words }).collect()
}

/// Every event that was seen so far.
fn seen_events<'a>(seen: impl Iterator<Item = &'a ObservationRecord>) -> Vec<&'a VisibleEvent> {
    let mut events: BTreeMap<(u32, &str), &VisibleEvent> = BTreeMap::new();
    for event in seen.flat_map(|seen| &seen.events) {
        events.insert((event.start_turn, &event.id), event);
    }
    events.into_values().collect()
}

fn bands(story: &Story, now: Option<&ObservationRecord>) -> [Vec<Told>; 3] {
    let (mut orders, mut appeals, mut accepted) = (Vec::new(), Vec::new(), Vec::<Told>::new());
    for event in seen_events(story.steps.iter().map(|step| &step.turn.observation).chain(now)) {
        let (from, to) = (event.start_turn as usize, event.end_turn as usize);
        match event.kind {
            VisibleKind::CurtailmentOrder { requested_mw } => {
                let words = format!("{} less", words::mw(requested_mw));
                orders.push(Told { from, to, mark: Mark::Order, words });
            }
            VisibleKind::ConservationAppeal { credit_usd_per_mwh, .. } => {
                let words = format!("{} $/MWh", words::short(credit_usd_per_mwh, 2));
                appeals.push(Told { from, to, mark: Mark::Appeal, words });
            }
        }
    }
    for (turn, step) in story.steps.iter().enumerate() {
        let is_in =
            |share: &ShareRecord| matches!(share, ShareRecord::ConservationAppeal { accepted: true, .. });
        if !step.turn.resolution.events.iter().any(|event| is_in(&event.share)) {
            continue;
        }
        match accepted.last_mut() {
            Some(last) if last.to == turn => last.to = turn + 1,
            _ => accepted.push(Told {
                from: turn,
                to: turn + 1,
                mark: Mark::Accepted,
                words: "accepted".to_owned(),
            }),
        }
    }
    [orders, appeals, accepted]
}

/// The chart. `now` is the turn of this page.
pub(super) fn timeline(id: &str, story: &Story, now: Option<usize>) -> Markup {
    let pack = &story.pack;
    let turns = pack.turns() as usize;
    let seen = story.seat.observe().map(|seen| ObservationRecord::of(&seen));
    let days = f64::from(pack.turns()) * pack.hours_per_turn() > 24.0;
    let slots: Vec<String> =
        (0..pack.turns()).map(|turn| words::clock(&pack.local_time(turn), days)).collect();
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let mut price: Vec<Option<f64>> =
        story.steps.iter().map(|step| Some(step.turn.observation.price_usd_per_mwh)).collect();
    if let Some(seen) = &seen {
        price.push(Some(seen.price_usd_per_mwh));
        price.extend(seen.forecast.iter().map(|ahead| Some(ahead.price_usd_per_mwh)));
    }
    price.truncate(turns);
    let of = |value: fn(&crate::play::Step) -> f64| -> Vec<Option<f64>> {
        story.steps.iter().map(|step| Some(value(step))).collect()
    };
    let import = of(|step| step.turn.resolution.grid_import_mw);
    let battery = of(|step| step.turn.resolution.applied.battery_mw);
    let soc = of(|step| step.turn.resolution.soc_mwh);
    let panels = [
        Panel { name: "price", unit: "$/MWh", decimals: 2, values: &price, shape: Shape::Step },
        Panel { name: "drawn from the grid", unit: "MW", decimals: 1, values: &import, shape: Shape::Step },
        Panel { name: "battery", unit: "MW, out is up", decimals: 1, values: &battery, shape: Shape::Bars },
        Panel { name: "in the battery", unit: "MWh", decimals: 1, values: &soc, shape: Shape::Step },
    ];
    let [orders, appeals, accepted] = bands(story, seen.as_ref());
    let (orders, appeals, accepted) = (spans(&orders), spans(&appeals), spans(&accepted));
    let keys = keys(story);
    let moments: Vec<Moment<'_>> =
        keys.iter().map(|key| Moment { slot: key.turn, words: &key.words, href: &key.href }).collect();
    band_chart(&Bands {
        id,
        title: "Turn by turn",
        description: "What the grid asked and what the campus did. Key moments are links below.",
        slots: &slots,
        panels: &panels,
        bands: &[
            Band { name: "orders", spans: &orders },
            Band { name: "appeals", spans: &appeals },
            Band { name: "accepted", spans: &accepted },
        ],
        now,
        moments: &moments,
    })
}
