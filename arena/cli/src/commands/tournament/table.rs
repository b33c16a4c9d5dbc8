//! Standings as a table.

use arena_engine::Excerpt;
use arena_tournament::Standing;
use serde::Deserialize;

use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// What of a scorecard's row is shown.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    pub(super) rank: u32,
    pub(super) strategy: String,
    pub(super) index: u32,
    score: i64,
    score_without_self_play: i64,
    wins: u64,
    draws: u64,
    losses: u64,
    no_contests: u64,
    self_play_games: u64,
    forfeits: u64,
    rating: Rating,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Rating {
    Rated { elo: f64, low: f64, high: f64 },
    Insufficient { reason: String },
}

/// The rows of a scorecard that is being written: as they will be read from it.
pub(super) fn rows(standings: &[Standing]) -> Result<Vec<Row>, Failure> {
    let rows = serde_json::to_value(standings).and_then(serde_json::from_value);
    rows.map_err(|why| Failure::internal("show the standings", why))
}

pub(super) fn show(rows: &[Row], io: &mut Io<'_>) {
    let with_self_play = rows.iter().any(|row| row.self_play_games > 0);
    let no_contests = rows.iter().any(|row| row.no_contests > 0);
    let forfeits = rows.iter().any(|row| row.forfeits > 0);
    let mut columns = vec![Column::right("#").after(0), Column::left("strategy"), Column::right("score")];
    if with_self_play {
        columns.push(Column::right("w/o self"));
    }
    columns.extend(["W", "D", "L"].map(Column::right));
    if no_contests {
        columns.push(Column::right("no contest"));
    }
    if forfeits {
        columns.push(Column::right("forfeits"));
    }
    columns.push(Column::left("rating (95 %)"));
    let mut table = Table::new(columns);
    for row in rows {
        let mut name = Excerpt { text: &row.strategy, max: 32 }.to_string();
        if rows.iter().filter(|other| other.strategy == row.strategy).count() > 1 {
            name += &format!(" [{}]", row.index);
        }
        let tone = if row.rank == 1 { Tone::Good } else { Tone::Strong };
        let mut cells: Vec<Cell> =
            vec![row.rank.to_string().into(), Cell::toned(tone, name), signed(row.score).into()];
        if with_self_play {
            cells.push(signed(row.score_without_self_play).into());
        }
        cells.extend([row.wins, row.draws, row.losses].map(|games| count(games).into()));
        if no_contests {
            cells.push(count(row.no_contests).into());
        }
        if forfeits {
            let tone = if row.forfeits > 0 { Tone::Bad } else { Tone::Quiet };
            cells.push(Cell::toned(tone, count(row.forfeits)));
        }
        cells.push(match &row.rating {
            Rating::Rated { elo, low, high } => format!("{elo:.0} ({low:.0} to {high:.0})").into(),
            Rating::Insufficient { reason } => {
                let reason = Excerpt { text: &reason.replace('_', " "), max: 40 }.to_string();
                Cell::toned(Tone::Quiet, reason)
            }
        });
        table.push(cells);
    }
    for line in table.lines(io.row_columns(), io.ink()) {
        io.print(line);
    }
}

fn signed(score: i64) -> String {
    let digits = count(score.unsigned_abs());
    if score < 0 { format!("-{digits}") } else { digits }
}
