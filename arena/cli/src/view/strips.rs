//! What a pack says of each turn, as a table.

use arena_engine::campus::{Event, EventKind, Pack};

use crate::view::numbers::{decimals, grouped};
use crate::view::table::{Cell, Column, Table};
use crate::view::turns::{status, time};

/// One row a turn: time, price, status, slope if there is one, demand and what is going on.
pub(crate) fn table(pack: &Pack) -> Table {
    let document = pack.document();
    let grid = &document.grid;
    let slope = grid.price_slope_usd_per_mwh_per_mw.as_ref();
    let mut columns = vec![
        Column::right("t").after(1),
        Column::right("local"),
        Column::right("price $/MWh"),
        Column::left("").after(1),
    ];
    columns.extend(slope.map(|_| Column::right("slope")));
    columns.extend([Column::right("demand MW"), Column::left("events")]);
    let mut table = Table::new(columns);
    let days = u64::from(pack.turns()) * u64::from(document.time.step_minutes) > 24 * 60;
    let places = decimals(grid.price_usd_per_mwh.iter().copied());
    for (t, turn) in (0..pack.turns()).map(|turn| (turn as usize, turn)) {
        let mut cells: Vec<Cell> = vec![
            turn.to_string().into(),
            time(&pack.local_time(turn), days).into(),
            grouped(grid.price_usd_per_mwh[t], places).into(),
            status(grid.system_status[t]),
        ];
        cells.extend(slope.map(|slope| grouped(slope[t], 2).into()));
        let events: Vec<String> = document.events.iter().filter_map(|event| told(event, turn)).collect();
        cells.extend([grouped(document.site.it_demand_mw[t], 2).into(), events.join(", ").into()]);
        table.push(cells);
    }
    table
}

/// What an event does on a turn, if anything.
fn told(event: &Event, turn: u32) -> Option<String> {
    if event.is_active(turn) {
        return Some(match event.kind {
            EventKind::CurtailmentOrder { requested_mw } => format!("{}: cut {requested_mw} MW", event.id),
            EventKind::ConservationAppeal { credit_usd_per_mwh } => {
                format!("{}: pays {credit_usd_per_mwh} $/MWh", event.id)
            }
        });
    }
    let announced = event.is_visible(turn) && turn == event.first_visible_turn();
    announced.then(|| format!("{} announced for turn {}", event.id, event.start_turn))
}
