use std::path::PathBuf;

use arena_claims::settle::{Case, CaseError, Movement, Purse, Settlement, settle};
use arena_engine::Excerpt;
use serde_json::{Value, json};

use super::{faulty, read, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::view::table::{Column, Table};

/// Settle a case: who gets what
///
/// A case says how a job ended, who challenged and who reviewed. The result is what everybody has at the end,
/// stakes included, and the movements in the order in which they are made.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The case, or `-` for the standard input
    #[arg(value_name = "CASE")]
    case: PathBuf,

    /// Show the result as tables, for people, instead of as one JSON document
    #[arg(long, conflicts_with = "json")]
    table: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = r#"A case:
  {"outcome": "runner_wrong", "agree": [], "auditor": null, "params": null,
   "disagree": [{"name": "dan", "record_ok": true, "revealed": true}],
   "reviewers": [{"name": "rae", "vote": "runner_wrong"}, {"name": "rob", "vote": "abstain"}]}

Outcomes: reproduced, not_reproduced, runner_right, runner_wrong, spec_issue, input_mismatch, no_show,
withheld. A vote is an outcome, abstain or no_show. Parameters may be given by name or by symbol.
A claim of a folder is settled by itself, with `arena claim tick`.

Examples:
  arena claim settle case.json
  arena claim settle case.json --table"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bytes = read("case", &args.case, io)?;
    let document = shown(&args.case);
    let case = Case::parse(&bytes).map_err(|error| match error {
        CaseError::Faults(faults) => faulty(Exit::Usage, "settle case", &document, faults),
        CaseError::Read(why) => {
            let why = why.to_string();
            Failure::usage(format_args!("read case `{document}`"), Excerpt { text: &why, max: 300 })
        }
        insolvent @ CaseError::Insolvent { .. } => {
            Failure::new(Exit::Rejected, format_args!("settle case `{document}`"), insolvent)
        }
    })?;
    let settlement = settle(&case);
    if args.table && !args.output.json {
        show(&settlement, io);
    } else {
        io.print_json(&document_of(&settlement));
    }
    Ok(Exit::Success)
}

fn document_of(settlement: &Settlement) -> Value {
    let posting = |movement: &Movement| {
        json!({
            "step": movement.step.name(),
            "from": purse(&movement.from),
            "to": purse(&movement.to),
            "amount": movement.amount,
        })
    };
    json!({
        "balances": settlement.balances,
        "postings": settlement.movements.iter().map(posting).collect::<Vec<_>>(),
        "short": settlement.short,
    })
}

fn purse(purse: &Purse) -> String {
    match purse {
        Purse::RunnerLock => "lock:runner".into(),
        Purse::ChallengerLock(name) => format!("lock:challenger:{name}"),
        Purse::ReviewerLock(name) => format!("lock:reviewer:{name}"),
        Purse::BondLock(name) => format!("lock:appeal:{name}"),
        Purse::Bucket => "bucket".into(),
        Purse::Pool => "pool".into(),
        Purse::Runner => "runner".into(),
        Purse::Agent(name) => name.clone(),
        Purse::Funders => "funders".into(),
        Purse::Treasury => "treasury".into(),
    }
}

fn show(settlement: &Settlement, io: &mut Io<'_>) {
    let mut table = Table::new([
        Column::left("step").after(0),
        Column::right("amount"),
        Column::left("from"),
        Column::left("to"),
    ]);
    for movement in &settlement.movements {
        table.push([
            movement.step.name().into(),
            movement.amount.to_string().into(),
            Excerpt::line(&purse(&movement.from)).to_string().into(),
            Excerpt::line(&purse(&movement.to)).to_string().into(),
        ]);
    }
    let mut balances = Table::new([Column::left("at the end").after(0), Column::right("amount")]);
    for (name, amount) in &settlement.balances {
        balances.push([Excerpt::line(name).to_string().into(), amount.to_string().into()]);
    }
    for line in table.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    io.print("");
    for line in balances.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    if !settlement.short.is_zero() {
        io.warn(format_args!("{} that had to be paid in full was not there", settlement.short));
    }
}
