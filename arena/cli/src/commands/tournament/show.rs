use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use arena_engine::Excerpt;
use arena_tournament::{RECEIPT, SCORECARD, open_regular};
use serde::Deserialize;
use serde_json::{Value, json};

use super::table::{self, Row};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::ink::Tone;
use crate::io::Io;
use crate::view::heat::{Heat, blocks, svg};

/// Show how a run ended: standings, and who scored what against whom
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The run's folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the heat map of the matrix to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Replace the file if it is there
    #[arg(long, requires = "svg")]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament show run
  arena tournament show run --svg matrix.svg
  arena tournament show run --json | jq '.standings[0].strategy'";

/// Largest scorecard that is read; its rows are skipped as they come.
const SCORECARD_BYTES_MAX: u64 = 64 << 30;

/// What of a scorecard is shown; the rows of single matchups are passed over.
#[derive(Debug, Deserialize)]
struct Card {
    title: String,
    slug: String,
    game: String,
    completed: Value,
    standings: Vec<Row>,
    cells: Vec<Pair>,
}

/// Two strategies at one scenario.
#[derive(Debug, Deserialize)]
struct Pair {
    indices: [u32; 2],
    scores: [Estimate; 2],
}

#[derive(Debug, Deserialize)]
struct Estimate {
    games: u64,
    mean: f64,
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let path = args.folder.join(SCORECARD);
    // The receipt comes last: what has none has not ended, or was not fetched whole.
    if !path.exists() || !args.folder.join(RECEIPT).exists() {
        return no_scorecard(args, io);
    }
    let card = read(&path)?;
    let heat = heat(&card);
    if let Some(path) = &args.svg {
        files::write(path, svg::draw(&heat).as_bytes(), Existing::replace_if(args.force))?;
    }
    if args.output.json {
        return raw(&path, io);
    }
    let title = Excerpt { text: &card.title, max: 120 };
    io.print(io.ink().paint(Tone::Strong, title));
    let count = |member: &str| card.completed.get(member).and_then(Value::as_u64).unwrap_or_default();
    let (completed, planned) = (count("completed"), count("planned"));
    let (slug, game) = (Excerpt { text: &card.slug, max: 64 }, Excerpt { text: &card.game, max: 16 });
    io.print(format_args!("{slug}, game {game}, {completed} of {planned} matchups\n"));
    table::show(&card.standings, io);
    io.print("");
    for line in blocks::draw(&heat, io.columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}

fn read(path: &Path) -> Result<Card, Failure> {
    let doing = format!("read scorecard `{}`", files::shown(path));
    let file = open_regular(path).map_err(|why| Failure::usage(&doing, files::plain(&why)))?;
    let bounded = BufReader::with_capacity(1 << 20, file.take(SCORECARD_BYTES_MAX));
    serde_json::from_reader(bounded).map_err(|why| Failure::usage(&doing, why))
}

/// The standings and cells as they stand in the file.
fn raw(path: &Path, io: &mut Io<'_>) -> Result<Exit, Failure> {
    #[derive(Deserialize)]
    struct Raw {
        slug: Value,
        title: Value,
        game: Value,
        terminal: Value,
        completed: Value,
        standings: Value,
        cells: Value,
    }
    let doing = format!("read scorecard `{}`", files::shown(path));
    let file = open_regular(path).map_err(|why| Failure::usage(&doing, files::plain(&why)))?;
    let raw: Raw = serde_json::from_reader(BufReader::new(file.take(SCORECARD_BYTES_MAX)))
        .map_err(|why| Failure::usage(&doing, why))?;
    io.print_json(&json!({
        "slug": raw.slug, "title": raw.title, "game": raw.game, "terminal": raw.terminal,
        "completed": raw.completed, "standings": raw.standings, "cells": raw.cells,
    }));
    Ok(Exit::Success)
}

/// What the receipt says, where there is no scorecard.
fn no_scorecard(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let path = args.folder.join(RECEIPT);
    let bytes = files::read(&path, 256 << 20).map_err(|unread| {
        unread.reading("receipt", &path).hint(
            "a run that has not ended goes on with `arena tournament resume DIR`; one that was not fetched whole, with the \
             same `arena tournament fetch`",
        )
    })?;
    let doing = format!("read receipt `{}`", files::shown(&path));
    let mut receipt: Value = serde_json::from_slice(&bytes).map_err(|why| Failure::usage(&doing, why))?;
    if args.output.json {
        if let Some(members) = receipt.as_object_mut() {
            members.remove("files");
        }
        io.print_json(&receipt);
        return Ok(Exit::Success);
    }
    let text = |member: &str| receipt.get(member).and_then(Value::as_str).unwrap_or("?").to_owned();
    let (terminal, reason) = (text("terminal"), text("reason"));
    io.print(format_args!(
        "{}  {}",
        io.ink().paint(Tone::Bad, Excerpt { text: &terminal, max: 16 }),
        Excerpt { text: &reason, max: 600 }
    ));
    io.print("there is no scorecard: only a success has one");
    Ok(Exit::Success)
}

/// Mean score of the row's strategy against the column's, over all scenarios.
fn heat(card: &Card) -> Heat {
    let mut order: Vec<&Row> = card.standings.iter().collect();
    order.sort_by_key(|row| (row.rank, row.index));
    let place: BTreeMap<u32, usize> = order.iter().enumerate().map(|(k, row)| (row.index, k)).collect();
    let count = order.len();
    let mut sums = vec![vec![(0.0, 0u64); count]; count];
    for pair in &card.cells {
        let [Some(a), Some(b)] = pair.indices.map(|index| place.get(&index).copied()) else { continue };
        let seats = if a == b { &[(a, b, 0)][..] } else { &[(a, b, 0), (b, a, 1)][..] };
        for (row, column, seat) in seats {
            let estimate = &pair.scores[*seat];
            let (sum, games) = &mut sums[*row][*column];
            *sum += estimate.mean * estimate.games as f64;
            *games += estimate.games;
        }
    }
    let mean = |(sum, games): (f64, u64)| (games > 0).then(|| sum / games as f64);
    Heat {
        names: order.iter().map(|row| row.strategy.clone()).collect(),
        cells: sums.into_iter().map(|row| row.into_iter().map(mean).collect()).collect(),
        unit: "mean score of the row against the column".to_owned(),
        title: card.title.clone(),
    }
}
