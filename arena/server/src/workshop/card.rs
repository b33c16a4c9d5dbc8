//! A scorecard as the pages and the API read it. It is a blob; what of it is shown is kept ready for a while.

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_store::Found;
use arena_tournament::{Outcome, Receipt};
use serde::{Deserialize, Serialize};

use crate::app::{App, Shared};
use crate::instance::tournaments::{Ended, Pin, Tournament};
use crate::problem::Problem;

/// Largest scorecard and receipt that are read.
const BYTES_MAX: u64 = 64 << 20;

/// What of a scorecard is shown.
#[derive(Debug, Deserialize)]
pub(crate) struct Card {
    pub(crate) standings: Vec<Standing>,
    pub(crate) cells: Vec<Estimated>,
    pub(crate) pairs: Vec<Played>,
    pub(crate) identities: Vec<Known>,
    /// The digest of each match's file, as the receipt has it.
    #[serde(skip)]
    pub(crate) files: BTreeMap<String, Digest>,
    /// Where the seating's randomness came from.
    #[serde(skip)]
    pub(crate) seating: String,
}

/// What one strategy came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) rank: u32,
    pub(crate) strategy: String,
    pub(crate) index: u32,
    pub(crate) version: String,
    pub(crate) score: i64,
    pub(crate) score_without_self_play: i64,
    pub(crate) rank_without_self_play: u32,
    pub(crate) games: u64,
    pub(crate) wins: u64,
    pub(crate) draws: u64,
    pub(crate) losses: u64,
    pub(crate) no_contests: u64,
    pub(crate) self_play_games: u64,
    pub(crate) forfeits: u64,
    pub(crate) rating: Rated,
}

/// A rating, or why there is none.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Rated {
    Rated { elo: f64, low: f64, high: f64 },
    Insufficient { reason: String },
}

/// A pair at one scenario.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Estimated {
    pub(crate) indices: [u32; 2],
    pub(crate) scores: [Mean; 2],
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Mean {
    pub(crate) games: u64,
    pub(crate) mean: f64,
}

/// One match, by name.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Played {
    pub(crate) id: String,
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) repetition: u32,
    pub(crate) outcome: Outcome,
    pub(crate) scores: [i64; 2],
    pub(crate) pack_id: Option<String>,
}

/// Who was who.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Known {
    pub(crate) alias: String,
    pub(crate) index: u32,
    pub(crate) strategy: String,
    pub(crate) commitment: Digest,
    pub(crate) verified: bool,
}

impl Card {
    /// Mean score of the row's strategy against the column's over all scenarios, both in the order of the
    /// standings; nothing where they did not meet.
    pub(crate) fn means(&self) -> Vec<Option<f64>> {
        let count = self.standings.len();
        let place: BTreeMap<u32, usize> =
            self.standings.iter().enumerate().map(|(place, row)| (row.index, place)).collect();
        let mut sums = vec![(0.0, 0_u64); count * count];
        for pair in &self.cells {
            let [Some(a), Some(b)] = pair.indices.map(|index| place.get(&index).copied()) else { continue };
            let seats = if a == b { &[(a, b, 0)][..] } else { &[(a, b, 0), (b, a, 1)][..] };
            for (row, column, seat) in seats {
                let Mean { games, mean } = pair.scores[*seat];
                let (sum, all) = &mut sums[row * count + column];
                *sum += mean * games as f64;
                *all += games;
            }
        }
        sums.into_iter().map(|(sum, games)| (games > 0).then(|| sum / games as f64)).collect()
    }
}

/// The bytes of a file of a run that was kept as a blob.
pub(crate) async fn read_pin(app: &Shared, pin: Pin) -> Result<Vec<u8>, Problem> {
    let app = Arc::clone(app);
    let read = tokio::task::spawn_blocking(move || read(&app, pin));
    read.await.map_err(|_| Problem::internal())?
}

fn read(app: &App, pin: Pin) -> Result<Vec<u8>, Problem> {
    match app.store.blobs().read(pin.sha256, pin.bytes.min(BYTES_MAX)) {
        Ok(Found::Content(bytes)) => Ok(bytes),
        Ok(Found::Withheld { reason }) => Err(Problem::new("gone", format_args!("it is withheld: {reason}"))),
        _ => Err(Problem::internal()),
    }
}

/// The scorecard of a tournament that has succeeded.
pub(crate) async fn read_card(app: &Shared, tournament: &Tournament) -> Result<Arc<Card>, Problem> {
    let ended = tournament.disclosed()?;
    if let Some(card) = app.floor.card(tournament.number) {
        return Ok(card);
    }
    let pins = (ended.scorecard.ok_or_else(Problem::internal)?, ended.receipt.ok_or_else(Problem::internal)?);
    let (app, number) = (Arc::clone(app), tournament.number);
    let read = tokio::task::spawn_blocking(move || {
        let mut card: Card = serde_json::from_slice(&read(&app, pins.0)?).map_err(|_| Problem::internal())?;
        let receipt: Receipt =
            serde_json::from_slice(&read(&app, pins.1)?).map_err(|_| Problem::internal())?;
        card.files = receipt.files.into_iter().map(|file| (file.path, file.sha256)).collect();
        card.seating = receipt.identities.seating;
        let card = Arc::new(card);
        app.floor.keep_card(number, &card);
        Ok(card)
    });
    read.await.map_err(|_| Problem::internal())?
}

/// The record of a match of a tournament that has succeeded, as it was played.
pub(crate) async fn read_record(
    app: &Shared,
    tournament: &Tournament,
    card: &Card,
    id: &str,
) -> Result<Value, Problem> {
    let Ended { .. } = tournament.disclosed()?;
    let name = id.parse().map(arena_tournament::match_name);
    let name = name.map_err(|_| Problem::new("not_found", "a match is `m` and five digits"))?;
    let nothing = || Problem::new("not_found", "this tournament has no such match");
    let wanted = *card.files.get(&name).ok_or_else(nothing)?;
    let path = app.floor.run_folder(tournament.number).join(&name);
    let read = tokio::task::spawn_blocking(move || {
        let gone = |_| Problem::new("gone", "the run's folder is not here any more");
        let mut bytes = Vec::new();
        let file = arena_tournament::open_regular(&path).map_err(gone)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(file, BYTES_MAX), &mut bytes).map_err(gone)?;
        // A record that was changed on disk is not shown as true.
        if Digest::of(&bytes) != wanted {
            return Err(Problem::internal());
        }
        json::read(&bytes, bytes.len()).map_err(|_| Problem::internal())
    });
    read.await.map_err(|_| Problem::internal())?
}
