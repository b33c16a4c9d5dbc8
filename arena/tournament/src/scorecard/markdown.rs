//! The scorecard for people.

use std::io::{self, Write};

use arena_engine::Excerpt;

use super::Source;
use crate::folder::{JOURNAL, RECEIPT, SCORECARD, match_name};
use crate::frozen::Game;
use crate::rating::Rating;

/// Records that are listed one by one; the others are in the scorecard for programs.
const RECORDS_MAX: usize = 1_000;
/// Pairs that are listed one by one.
const CELLS_MAX: usize = 2_000;

/// Writes it.
pub(crate) fn markdown(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    let frozen = source.frozen;
    writeln!(out, "# {}\n", plain(&frozen.title))?;
    writeln!(out, "**success**: the matrix is complete and every identity is verified.\n")?;
    writeln!(out, "- tournament `{}`, game {}", frozen.slug, frozen.game.name())?;
    writeln!(out, "- frozen as `{}`", source.frozen_sha256)?;
    let (planned, completed) = (frozen.matchups.len(), source.digests.len());
    writeln!(out, "- {completed} of {planned} matchups completed\n")?;
    records(source, out)?;
    standings(source, out)?;
    cells(source, out)?;
    identities(source, out)?;
    writeln!(out, "## Receipt\n\n[{RECEIPT}]({RECEIPT})")
}

fn records(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "## Move records\n\nChained in `{JOURNAL}`.\n\n| matchup | record | digest |\n|---|---|---|"
    )?;
    let rows = source.frozen.matchups.iter().zip(source.digests);
    for (matchup, digest) in rows.take(RECORDS_MAX) {
        let name = match_name(matchup.id);
        writeln!(out, "| {} | [{name}]({name}) | `{digest}` |", matchup.id)?;
    }
    let more = source.digests.len().saturating_sub(RECORDS_MAX);
    if more > 0 {
        writeln!(out, "\n{more} more are listed in [{SCORECARD}]({SCORECARD}).")?;
    }
    writeln!(out)
}

fn standings(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    let how = match source.frozen.game {
        Game::Campus => {
            "Two points for a won matchup, one for a draw: more stars win, then the Pareto order."
        }
        Game::Matrix => "The sum of payoffs.",
    };
    writeln!(
        out,
        "## Scores\n\n{how} Ranks are by score, self-play included; wins, draws and losses are of"
    )?;
    writeln!(out, "games against others.\n")?;
    writeln!(out, "| # | strategy | score | without self-play | W | D | L | no contest | rating (95 %) |")?;
    writeln!(out, "|---:|---|---:|---:|---:|---:|---:|---:|---|")?;
    for standing in source.rows {
        let rating = match standing.rating {
            Rating::Rated { elo, low, high } => format!("{elo:.1} ({low:.1} to {high:.1})"),
            Rating::Insufficient { reason } => format!("insufficient: {reason}"),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} (#{}) | {} | {} | {} | {} | {rating} |",
            standing.rank,
            plain(&standing.strategy),
            standing.score,
            standing.score_without_self_play,
            standing.rank_without_self_play,
            standing.wins,
            standing.draws,
            standing.losses,
            standing.no_contests,
        )?;
    }
    writeln!(out)
}

fn cells(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "### Pairs\n\nMean score of both over the repetitions; 95 % interval where they differ.\n"
    )?;
    writeln!(out, "| first | second | played | games | first's score | second's score |")?;
    writeln!(out, "|---|---|---|---:|---|---|")?;
    for cell in source.standings.cells().take(CELLS_MAX) {
        let score = |seat: usize| {
            let estimate = &cell.scores[seat];
            match estimate.interval {
                Some([low, high]) => format!("{:.3} ({low:.3} to {high:.3})", estimate.mean),
                None => format!("{:.3}", estimate.mean),
            }
        };
        let played = cell.pack_id.as_deref().unwrap_or("matrix");
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            plain(&cell.a),
            plain(&cell.b),
            plain(played),
            cell.scores[0].games,
            score(0),
            score(1)
        )?;
    }
    writeln!(out, "\nAll pairs are in [{SCORECARD}]({SCORECARD}).\n")
}

fn identities(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## Identities\n\n| alias | strategy | commitment | |\n|---|---|---|---|")?;
    for identity in source.identities {
        let pin = &source.frozen.strategies[identity.index as usize];
        let name = plain(&pin.name);
        writeln!(out, "| {} | {name} | `{}` | verified |", identity.alias, identity.commitment)?;
    }
    writeln!(out)
}

/// Text that cannot break out of a table, nor become markup.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let shown = Excerpt { text, max: 120 }.to_string();
    for letter in shown.chars() {
        if letter.is_ascii_punctuation() && !"-.,:/".contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}
