//! One turn: what was seen, what was asked and granted, the sum that follows, the metrics after it.

use arena_engine::campus::{
    ClampReason, Field, Given, MetricValue, ObservationRecord, Pack, RawAction, ShareRecord, TurnRecord,
    VisibleKind,
};
use maud::{Markup, html};

use super::words;
use crate::pages::chart::number::decimal;
use crate::pages::{Cell, Column, Mark, Row, chip, data_table, definition_list, guest, quantity};

/// Most characters of an event's name.
const NAME_CHARS_MAX: usize = 64;

/// What is seen at the start of a turn. `prefix` keeps ids apart.
pub(super) fn observation(prefix: &str, seen: &ObservationRecord, pack: &Pack) -> Markup {
    let site = &pack.document().site;
    let capacity = site.battery.capacity_mwh;
    html! {
        (definition_list([
            ("Local time", html! { (words::clock(&seen.local_time, true)) }),
            ("Grid", words::status(seen.system_status)),
            ("Price", quantity(seen.price_usd_per_mwh, 2, "$/MWh")),
            ("IT demand", html! { (words::mw(seen.site.it_demand_mw)) }),
            ("In the battery", html! { (words::mwh(seen.site.soc_mwh)) " of " (words::mwh(capacity)) }),
            ("Left of the permit", html! { (words::short(seen.site.permit_hours_remaining, 2)) " h" }),
        ]))
        (events(prefix, seen))
        (forecast(prefix, seen, pack))
    }
}

fn events(prefix: &str, seen: &ObservationRecord) -> Markup {
    let columns = [
        Column::name("Event"),
        Column::words("Kind"),
        Column::words("What it asks or offers"),
        Column::words("Turns"),
        Column::words("Now"),
    ];
    let rows = seen.events.iter().map(|event| {
        Row::new([
            guest(&event.id, NAME_CHARS_MAX).into(),
            words::event_mark(&event.kind).into(),
            words::event(&event.kind).into(),
            format!("{} to {}", event.start_turn, event.end_turn.saturating_sub(1)).into(),
            if event.active { chip(Mark::Plain, "active").into() } else { Cell::from("to come") },
        ])
    });
    html! {
        @if seen.events.is_empty() {
            p { "The grid asks for nothing and offers nothing." }
        } @else {
            (data_table(&format!("{prefix}-events"), &html! { "Orders and appeals" }, &columns, rows))
        }
    }
}

fn forecast(prefix: &str, seen: &ObservationRecord, pack: &Pack) -> Markup {
    let columns = [
        Column::name("Turn"),
        Column::words("Local time"),
        Column::number("Price").unit("$/MWh"),
        Column::words("Grid"),
    ];
    let rows = seen.forecast.iter().map(|ahead| {
        Row::new([
            ahead.turn.to_string().into(),
            words::clock(&pack.local_time(ahead.turn), false).into(),
            decimal(ahead.price_usd_per_mwh, 2).into(),
            words::status(ahead.system_status).into(),
        ])
    });
    html! {
        @if seen.forecast.is_empty() {
            p { "This is the last turn." }
        } @else {
            @let caption = html! { "Forecast" small { "It is exact." } };
            (data_table(&format!("{prefix}-forecast"), &caption, &columns, rows))
        }
    }
}

fn given(action: &RawAction, field: Field) -> String {
    let number = |given: Given<f64>| match given {
        Given::Missing => "not given".to_owned(),
        Given::Null => "null".to_owned(),
        Given::Value(value) => words::short(value, 6),
    };
    match field {
        Field::CurtailMw => number(action.curtail_mw),
        Field::BatteryMw => number(action.battery_mw),
        Field::DieselMw => number(action.diesel_mw),
        Field::AcceptOffer => match action.accept_offer {
            Given::Missing => "not given".to_owned(),
            Given::Null => "null".to_owned(),
            Given::Value(yes) => if yes { "yes" } else { "no" }.to_owned(),
        },
    }
}

/// The action as it was asked, what was done, and every limit that bit.
pub(super) fn action(prefix: &str, turn: &TurnRecord) -> Markup {
    let done = &turn.resolution.applied;
    let columns = [
        Column::name("Field"),
        Column::number("Asked").unit("MW"),
        Column::number("Done").unit("MW"),
        Column::words("Limits that bit"),
    ];
    let rows = Field::ALL.map(|field| {
        let applied = match field {
            Field::CurtailMw => words::short(done.curtail_mw, 6),
            Field::BatteryMw => words::short(done.battery_mw, 6),
            Field::DieselMw => words::short(done.diesel_mw, 6),
            Field::AcceptOffer => if done.accept_offer { "yes" } else { "no" }.to_owned(),
        };
        let clamps: Vec<_> = turn.resolution.clamps.iter().filter(|clamp| clamp.field == field).collect();
        let limits = html! {
            @for clamp in &clamps {
                div {
                    (chip(Mark::Appeal, "limit")) " " (words::clamp(clamp)) " "
                    span.quiet { "(" (clamp.reason.name()) ")" }
                }
            }
        };
        let limits = if clamps.is_empty() { Cell::none("no limit bit") } else { limits.into() };
        Row::new([words::field(field).into(), given(&turn.action, field).into(), applied.into(), limits])
    });
    let caption = html! { "Asked and done" small { "A positive battery gives, a negative one takes." } };
    data_table(&format!("{prefix}-action"), &caption, &columns, rows)
}

/// Every limit that bit, as a sentence.
pub(super) fn clamps_told(turn: &TurnRecord) -> Vec<String> {
    let told = turn.resolution.clamps.iter().map(|clamp| {
        let what =
            if clamp.reason == ClampReason::NoActiveOffer { "Appeal" } else { words::field(clamp.field) };
        format!("{what}: {}", words::clamp(clamp))
    });
    told.collect()
}

/// The resolution as arithmetic, each line with its numbers.
pub(super) fn arithmetic(prefix: &str, turn: &TurnRecord, pack: &Pack) -> Markup {
    let columns = [Column::name("What"), Column::words("How"), Column::number("Result")];
    let rows = energy(turn, pack)
        .into_iter()
        .chain(money(turn, pack))
        .map(|(what, how, result)| Row::new([what.into(), how.into(), result.into()]));
    let caption =
        html! { "How it comes to that" small { "Every figure follows from the action and the pack." } };
    html! {
        (data_table(&format!("{prefix}-sum"), &caption, &columns, rows))
        (shares(prefix, turn))
    }
}

type Line = (&'static str, String, String);

fn energy(turn: &TurnRecord, pack: &Pack) -> Vec<Line> {
    let (seen, done) = (&turn.observation, &turn.resolution);
    let site = &pack.document().site;
    let n = |value: f64| words::short(value, 3);
    let (demand, shed, gas) = (seen.site.it_demand_mw, done.applied.curtail_mw, done.applied.diesel_mw);
    let (out, into) = (done.applied.battery_mw.max(0.0), (-done.applied.battery_mw).max(0.0));
    let hours = n(pack.hours_per_turn());
    let supply = format!(
        "demand {} − shed {} − battery {} − generator {}, at least 0, + charging {}",
        n(demand),
        n(shed),
        n(out),
        n(gas),
        n(into)
    );
    let soc = if into > 0.0 {
        let efficiency = n(site.battery.round_trip_efficiency);
        format!("{} + {} MW × {hours} h × {efficiency}", n(seen.site.soc_mwh), n(into))
    } else {
        format!("{} − {} MW × {hours} h", n(seen.site.soc_mwh), n(out))
    };
    let relief = &done.relief;
    vec![
        ("Drawn from the grid", supply, words::mw(done.grid_import_mw)),
        ("IT load served", format!("demand {} − shed {}", n(demand), n(shed)), words::mw(done.it_served_mw)),
        (
            "Reduction",
            format!("demand {} − drawn {}, at least 0", n(demand), n(done.grid_import_mw)),
            words::mw(done.reduction_mw),
        ),
        (
            "Relief asked by orders",
            "all active orders, at most the demand".to_owned(),
            words::mw(relief.asked_mw),
        ),
        (
            "Relief delivered",
            format!("the reduction {}, at most what was asked {}", n(done.reduction_mw), n(relief.asked_mw)),
            words::mw(relief.delivered_mw),
        ),
        (
            "Short of the orders",
            format!("{} − {}", n(relief.asked_mw), n(relief.delivered_mw)),
            words::mw(relief.shortfall_mw),
        ),
        ("In the battery afterwards", soc, words::mwh(done.soc_mwh)),
        (
            "Left of the permit afterwards",
            if gas > 0.0 {
                format!("any output takes the whole turn, {hours} h")
            } else {
                "the generator was off".to_owned()
            },
            format!("{} h", words::short(done.permit_hours_remaining, 2)),
        ),
    ]
}

fn money(turn: &TurnRecord, pack: &Pack) -> Vec<Line> {
    let (seen, done) = (&turn.observation, &turn.resolution);
    let document = pack.document();
    let n = |value: f64| words::short(value, 3);
    let hours = n(pack.hours_per_turn());
    let times = |mw: f64, price: f64| format!("{} MW × {hours} h × {} $/MWh", n(mw), n(price));
    let slope = document.grid.price_slope_usd_per_mwh_per_mw.as_ref();
    let price = match slope.and_then(|slope| slope.get(turn.turn as usize)) {
        None => "the grid's price; your own draw does not move it".to_owned(),
        Some(slope) => format!(
            "{} + {} × (drawn {} − demand {})",
            n(seen.price_usd_per_mwh),
            n(*slope),
            n(done.grid_import_mw),
            n(seen.site.it_demand_mw)
        ),
    };
    let cost = format!(
        "{} + {} + {} − {}",
        decimal(done.energy_cost_usd, 2),
        decimal(done.fuel_cost_usd, 2),
        decimal(done.sla_cost_usd, 2),
        decimal(done.credit_usd, 2)
    );
    let site = &document.site;
    vec![
        ("Price paid", price, format!("{} $/MWh", words::short(done.effective_price_usd_per_mwh, 3))),
        (
            "Energy",
            times(done.grid_import_mw, done.effective_price_usd_per_mwh),
            words::dollars(done.energy_cost_usd),
        ),
        (
            "Fuel",
            times(done.applied.diesel_mw, site.generator.fuel_usd_per_mwh),
            words::dollars(done.fuel_cost_usd),
        ),
        ("Shedding", times(done.applied.curtail_mw, site.sla_usd_per_mwh), words::dollars(done.sla_cost_usd)),
        ("Credit", credit(turn, &hours), words::dollars(done.credit_usd)),
        ("Cost of the turn", cost, words::dollars(done.turn_cost_usd)),
    ]
}

/// What the best accepted appeal pays for reduction beyond what orders ask.
fn credit(turn: &TurnRecord, hours: &str) -> String {
    let paid = turn.resolution.events.iter().find_map(|event| match event.share {
        ShareRecord::ConservationAppeal { credited_mw, .. } if credited_mw > 0.0 => {
            Some((event, credited_mw))
        }
        _ => None,
    });
    let Some((event, credited_mw)) = paid else {
        return "no accepted appeal had a reduction beyond orders to pay for".to_owned();
    };
    let offered = turn.observation.events.iter().find(|seen| seen.id == event.id);
    let price = offered.and_then(|seen| match seen.kind {
        VisibleKind::ConservationAppeal { credit_usd_per_mwh, .. } => {
            Some(words::short(credit_usd_per_mwh, 3))
        }
        VisibleKind::CurtailmentOrder { .. } => None,
    });
    format!("{} × {hours} h × {} $/MWh", words::mw(credited_mw), price.unwrap_or_else(|| "–".to_owned()))
}

/// What fell to each active event.
fn shares(prefix: &str, turn: &TurnRecord) -> Markup {
    let events = &turn.resolution.events;
    let columns = [Column::name("Event"), Column::words("Kind"), Column::words("What it got")];
    let rows = events.iter().map(|event| {
        let (mark, got) = match event.share {
            ShareRecord::CurtailmentOrder(relief) => {
                let (asked, delivered) = (words::mw(relief.asked_mw), words::mw(relief.delivered_mw));
                let short = if relief.shortfall_mw > 0.0 {
                    chip(Mark::Order, &format!("{} short", words::mw(relief.shortfall_mw)))
                } else {
                    chip(Mark::Accepted, "met")
                };
                (chip(Mark::Order, "ORDER"), html! { (delivered) " of " (asked) " " (short) })
            }
            ShareRecord::ConservationAppeal { accepted: true, credited_mw, credit_usd } => (
                chip(Mark::Appeal, "APPEAL"),
                html! {
                    (chip(Mark::Accepted, "accepted")) " "
                    (words::mw(credited_mw)) " credited, " (words::dollars(credit_usd))
                },
            ),
            ShareRecord::ConservationAppeal { .. } => {
                (chip(Mark::Appeal, "APPEAL"), html! { "not accepted" })
            }
        };
        Row::new([guest(&event.id, NAME_CHARS_MAX).into(), mark.into(), got.into()])
    });
    html! {
        @if !events.is_empty() {
            (data_table(&format!("{prefix}-shares"), &html! { "What each event got" }, &columns, rows))
        }
    }
}

/// Both metrics, with their denominators and the pack's thresholds.
pub(super) fn metrics(prefix: &str, caption: &Markup, metrics: &[MetricValue; 2], pack: &Pack) -> Markup {
    let columns =
        [Column::name("Metric"), Column::number("Value"), Column::words("Made of"), Column::words("Stars")];
    let goals = &pack.document().scoring.metrics;
    let rows = metrics.iter().zip(goals).map(|(metric, goal)| {
        let sign = match metric.better {
            arena_engine::campus::Better::Lower => "≤",
            arena_engine::campus::Better::Higher => "≥",
        };
        let thresholds: Vec<String> = goal
            .stars
            .iter()
            .zip(["★", "★★", "★★★"])
            .map(|(threshold, star)| format!("{star} {sign} {}", words::short(*threshold, 4)))
            .collect();
        Row::new([
            words::metric(metric.id).into(),
            words::metric_value(metric.id, metric.value).into(),
            words::quotient(metric).into(),
            thresholds.join(", ").into(),
        ])
    });
    data_table(&format!("{prefix}-metrics"), caption, &columns, rows)
}
