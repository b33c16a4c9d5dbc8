use std::collections::BTreeMap;

use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::sprint::example::{self, Stage, Step};
use arena_contests::sprint::round::{Award, Round, Snapshot};
use serde_json::json;

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::numbers::count;
use crate::view::table::{Cell, Column, Table};

/// Play a whole round of four companies on an injected clock
///
/// Three windows with intents, artifacts, posts and packages; one comes late, one would leak, one is
/// disputed, one is reversed. Shows what happened, the standings after each window with the
/// arithmetic of every cell, the awards, and that no money was made or lost.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena sprint demo
  arena sprint demo --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let stage = example::four_companies();
    if args.output.json {
        io.print_json(&document(&stage));
        return Ok(Exit::Success);
    }
    let ink = io.ink();
    io.print(ink.paint(Tone::Strong, "What happened"));
    stage.steps.iter().filter(|step| is_told(step)).for_each(|step| io.print(line_of(step)));
    for snapshot in stage.round.snapshots() {
        io.print("");
        io.print(ink.paint(Tone::Strong, title(snapshot)));
        standings(snapshot, io);
    }
    io.print("");
    io.print(ink.paint(Tone::Strong, "Awards"));
    awards(&stage.round, io);
    io.print("");
    io.print(ink.paint(Tone::Strong, "Accounts"));
    accounts(&stage.round, io);
    Ok(Exit::Success)
}

/// What everybody does alike is not told.
fn is_told(step: &Step) -> bool {
    let routine =
        ["registers", "acknowledges", "enters", "approves", "kickoff", "stores", "points", "posts about"];
    step.outcome.is_err() || !routine.iter().any(|word| step.what.contains(word))
}

fn line_of(Step { at, what, outcome, .. }: &Step) -> String {
    let when = clock(*at);
    match outcome {
        Ok(_) => format!("  {when}  {what}"),
        Err(why) => format!("  {when}  {what}: refused, {} ({why})", why.code()),
    }
}

/// `D1 20:05`
fn clock(at: Moment) -> String {
    let minutes = (at.unix_ms() - example::start().unix_ms()) / 60_000;
    format!("D{} {:02}:{:02}", minutes / 1_440, minutes / 60 % 24, minutes % 60)
}

fn title(snapshot: &Snapshot) -> String {
    let after =
        snapshot.after.map_or_else(|| "Final standings".to_owned(), |w| format!("Standings after {w}"));
    if snapshot.version > 1 { format!("{after}, version {}", snapshot.version) } else { after }
}

fn standings(snapshot: &Snapshot, io: &mut Io<'_>) {
    let columns = [
        Column::right("rank").after(0),
        Column::left("company"),
        Column::right("score"),
        Column::left("window"),
        Column::left("arithmetic"),
    ];
    let mut table = Table::new(columns);
    for row in snapshot.rows.as_array().into_iter().flatten() {
        let bonus = &row["external_completion_bonus"];
        let score = |window: &str| row["windows"][window]["window_score"].to_string();
        let sum = format!("{} + {} + {} + {bonus} bonus", score("W1"), score("W2"), score("W3"));
        table.push([
            row["rank"].to_string().into(),
            Cell::toned(Tone::Strong, text(&row["id"])),
            row["round_score"].to_string().into(),
            Cell::from("round"),
            sum.into(),
        ]);
        for window in ["W1", "W2", "W3"] {
            let cell = &row["windows"][window];
            let arithmetic = arithmetic(cell);
            table.push([
                Cell::default(),
                Cell::default(),
                cell["window_score"].to_string().into(),
                window.into(),
                arithmetic.into(),
            ]);
        }
    }
    for line in table.lines(io.row_columns(), io.ink()) {
        io.print(format_args!("  {line}"));
    }
}

/// `(60 + 20 + 0 + 20) x 100%  accepted  capped: continuity_prev_window`
fn arithmetic(window: &Value) -> String {
    let parts =
        ["delivery", "evidence", "continuity", "budget"].map(|part| window[part].as_i64().unwrap_or(0));
    let raw = window["raw"].as_i64().unwrap_or(0);
    let joined = parts.map(|part| part.to_string()).join(" + ");
    let sum = if parts.iter().sum::<i64>() == raw {
        format!("({joined})")
    } else {
        format!("min({joined}, {raw})")
    };
    let mut told = format!("{sum} x {}%", window["multiplier_pct"]);
    let penalties = words(&window["penalties"]);
    let waits = window["penalty_total"] == 0 && !penalties.is_empty();
    if !penalties.is_empty() && !waits {
        told.push_str(&format!(" - {} ({penalties})", window["penalty_total"]));
    }
    told.push_str(&format!("  {}", text(&window["state"])));
    if waits {
        told.push_str(&format!("  waiting: {penalties}"));
    }
    let caps = words(&window["caps"]);
    if !caps.is_empty() {
        told.push_str(&format!("  capped: {caps}"));
    }
    told
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn words(value: &Value) -> String {
    value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ")
}

fn awards(round: &Round, io: &mut Io<'_>) {
    let columns = [
        Column::left("company").after(0),
        Column::left("for"),
        Column::right("EXO, atomic"),
        Column::left("status"),
        Column::left("evidence"),
    ];
    let mut table = Table::new(columns);
    for Award { kind, company, window, amount, evidence_refs, status } in round.awards().values() {
        let of = window.map_or_else(|| kind.to_string(), |window| format!("{kind} {window}"));
        table.push([
            Cell::toned(Tone::Strong, company),
            of.into(),
            count(amount.units()).into(),
            status.name().into(),
            evidence_refs.join(" ").into(),
        ]);
    }
    for line in table.lines(io.row_columns(), io.ink()) {
        io.print(format_args!("  {line}"));
    }
}

fn accounts(round: &Round, io: &mut Io<'_>) {
    let mut table = Table::new([Column::left("account").after(0), Column::right("EXO, atomic")]);
    for (account, balance) in round.ledger().accounts().filter(|(_, balance)| *balance != 0) {
        let sign = if balance < 0 { "-" } else { "" };
        table.push([account.name().into(), format!("{sign}{}", count(balance.unsigned_abs())).into()]);
    }
    let sum = round.ledger().sum(&round.terms().asset);
    table.push([Cell::toned(Tone::Strong, "all of them"), sum.to_string().into()]);
    for line in table.lines(io.row_columns(), io.ink()) {
        io.print(format_args!("  {line}"));
    }
}

fn document(stage: &Stage) -> Value {
    let round = &stage.round;
    let step = |step: &Step| {
        let refused =
            step.outcome.as_ref().err().map(|why| json!({ "code": why.code(), "why": why.to_string() }));
        json!({ "at": step.at.to_string(), "what": step.what, "refused": refused })
    };
    let snapshot = |snapshot: &Snapshot| {
        json!({
            "after": snapshot.after,
            "version": snapshot.version,
            "computed_from_seq": snapshot.computed_from_seq,
            "score_version": snapshot.score_version,
            "sha256": snapshot.sha256,
            "rows": snapshot.rows,
        })
    };
    let award = |award: &Award| {
        json!({
            "kind": award.kind,
            "company": award.company,
            "window": award.window,
            "amount": award.amount,
            "evidence_refs": award.evidence_refs,
            "status": award.status,
        })
    };
    let accounts = round.ledger().accounts();
    let accounts = accounts.map(|(account, balance)| (account.name().to_owned(), balance.to_string()));
    json!({
        "steps": stage.steps.iter().map(step).collect::<Vec<_>>(),
        "standings": round.snapshots().iter().map(snapshot).collect::<Vec<_>>(),
        "awards": round.awards().values().map(award).collect::<Vec<_>>(),
        "accounts": accounts.collect::<BTreeMap<_, _>>(),
        "sum": round.ledger().sum(&round.terms().asset).to_string(),
    })
}
