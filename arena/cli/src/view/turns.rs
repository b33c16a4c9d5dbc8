//! An episode as a table: what each turn was like, what was asked, what was granted and why not
//! more.

use arena_engine::ForfeitRecord;
use arena_engine::campus::{
    Amount, Clamp, EpisodeLog, Field, Pack, Status, TurnRecord, VisibleEvent, VisibleKind,
};

use crate::ink::Tone;
use crate::view::chart::clock;
use crate::view::numbers::{decimals, grouped};
use crate::view::table::{Cell, Column, Table};

/// One row a turn; a clamp is a note.
pub(crate) fn table(log: &EpisodeLog, pack: &Pack, forfeit: Option<&ForfeitRecord>) -> Table {
    let places = Places::of(log);
    let days = u64::from(pack.turns()) * u64::from(pack.document().time.step_minutes) > 24 * 60;
    let mut table = Table::new([
        Column::right("t").after(1),
        Column::right("local").after(1),
        Column::right("price").after(1),
        Column::left("st").after(1),
        Column::right("curtail"),
        Column::right("battery").after(1),
        Column::right("gas").after(1),
        Column::left("offer").after(1),
        Column::right("relief").after(1),
        Column::right("import"),
        Column::right("cost $").after(1),
    ]);
    for turn in &log.turns {
        table.push(row(turn, &places, days));
        let note = clamps(&turn.resolution.clamps);
        if forfeit.is_some_and(|forfeit| forfeit.turn == turn.turn) {
            table.note(Cell::toned(Tone::Bad, "forfeited: empty actions from here on"));
        } else if !note.is_empty() {
            table.note(Cell::toned(Tone::Warn, note));
        }
    }
    table
}

/// Decimals of the two columns whose size depends on the pack.
struct Places {
    price: usize,
    cost: usize,
}

impl Places {
    fn of(log: &EpisodeLog) -> Self {
        let turns = || log.turns.iter();
        Self {
            price: decimals(turns().map(|turn| turn.observation.price_usd_per_mwh)),
            cost: decimals(turns().map(|turn| turn.resolution.turn_cost_usd)),
        }
    }
}

fn row(turn: &TurnRecord, places: &Places, days: bool) -> [Cell; 11] {
    let seen = &turn.observation;
    let done = &turn.resolution;
    let asked = turn.action.action();
    let lost = |field| done.clamps.iter().any(|clamp| clamp.field == field && is_lost(clamp));
    let mw = |field, value: f64, sign: bool| {
        if lost(field) { "NaN/∞".into() } else { power(value, sign) }
    };
    [
        Cell::toned(Tone::Quiet, turn.turn.to_string()),
        time(&seen.local_time, days).into(),
        grouped(seen.price_usd_per_mwh, places.price).into(),
        status(seen.system_status),
        mw(Field::CurtailMw, asked.curtail_mw, false),
        mw(Field::BatteryMw, asked.battery_mw, true),
        mw(Field::DieselMw, asked.diesel_mw, false),
        offer(asked.accept_offer, &seen.events),
        relief(done.relief.asked_mw, done.relief.delivered_mw),
        grouped(done.grid_import_mw, 1).into(),
        grouped(done.turn_cost_usd, places.cost).into(),
    ]
}

/// `18:15`, with the date where an episode takes longer than a day.
pub(crate) fn time(local_time: &str, days: bool) -> String {
    let date = local_time.get(5..10).filter(|_| days).map(|date| format!("{date} "));
    format!("{}{}", date.unwrap_or_default(), clock(local_time))
}

pub(crate) fn status(status: Status) -> Cell {
    match status {
        Status::Normal => Cell::toned(Tone::Quiet, "·"),
        Status::Watch => Cell::toned(Tone::Warn, "W"),
        Status::Emergency => Cell::toned(Tone::Bad, "E!"),
    }
}

fn power(value: f64, sign: bool) -> Cell {
    // What nobody means to ask takes no more room than what somebody does.
    let text = if value.abs() < 1e5 { grouped(value, 1) } else { format!("{value:.0e}") };
    match text.as_str() {
        "0.0" => Cell::toned(Tone::Quiet, "·"),
        _ if sign && value > 0.0 => format!("+{text}").into(),
        _ => text.into(),
    }
}

/// Whether an offer was taken, and whether there was one.
fn offer(asked: bool, events: &[VisibleEvent]) -> Cell {
    let open = events.iter().filter(|event| event.active).find_map(|event| match event.kind {
        VisibleKind::ConservationAppeal { accepted, .. } => Some(accepted),
        VisibleKind::CurtailmentOrder { .. } => None,
    });
    match (asked, open) {
        (true, _) => Cell::toned(Tone::Good, "yes"),
        (false, Some(true)) => Cell::toned(Tone::Good, "taken"),
        (false, Some(false)) => Cell::toned(Tone::Quiet, "open"),
        (false, None) => Cell::default(),
    }
}

/// `12.5/20.0`: delivered of what orders asked.
fn relief(asked_mw: f64, delivered_mw: f64) -> Cell {
    if asked_mw == 0.0 {
        return Cell::default();
    }
    let tone = if delivered_mw < asked_mw { Tone::Bad } else { Tone::Good };
    Cell::toned(tone, format!("{}/{}", grouped(delivered_mw, 1), grouped(asked_mw, 1)))
}

/// `battery 36.2 (soc_empty), gas 0.0 (permit_hours)`: what was granted instead, and every limit
/// that bit on the way.
fn clamps(clamps: &[Clamp]) -> String {
    let of_one_field = clamps.chunk_by(|a, b| a.field == b.field);
    let told = of_one_field.filter_map(|clamps| {
        let last = clamps.last()?;
        let reasons: Vec<&str> = clamps.iter().map(|clamp| clamp.reason.name()).collect();
        Some(format!("{} {} ({})", word(last.field), amount(last.applied), reasons.join(", ")))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn word(field: Field) -> &'static str {
    match field {
        Field::CurtailMw => "curtail",
        Field::BatteryMw => "battery",
        Field::DieselMw => "gas",
        Field::AcceptOffer => "offer",
    }
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Mw(value) => grouped(value, 1),
        Amount::Offer(yes) => if yes { "yes" } else { "no" }.to_owned(),
        Amount::NotFinite(()) => "NaN/∞".to_owned(),
    }
}

fn is_lost(clamp: &Clamp) -> bool {
    matches!(clamp.requested, Amount::NotFinite(()))
}
