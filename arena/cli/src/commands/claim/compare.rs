use std::path::{Path, PathBuf};

use arena_claims::compare::{self, Cmp, Measured, Row, Rules, Status, compare, conclude};
use arena_claims::manifest::Manifest;
use arena_claims::record::{Outcome, Results};
use arena_engine::Excerpt;
use arena_engine::campus::Finding;
use serde_json::{Value, json};

use super::{faulty, read_json, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::ink::Tone;
use crate::io::Io;
use crate::view::table::{Cell, Column, Table};

/// Compare records with a claim and with each other
///
/// In exact arithmetic over decimal texts; nothing is rounded. With one record: does the claim hold? With two,
/// the runner's and a challenger's: do they agree? Every compared metric is one row of the report.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The manifest: what is claimed, and what is tolerated
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    /// The runner's record
    #[arg(value_name = "RECORD")]
    record: PathBuf,

    /// A challenger's record
    #[arg(value_name = "CHALLENGE")]
    challenge: Option<PathBuf>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Of the manifest, only what comparing needs is read: metrics, extra, nonfinite, determinism, wide_tolerance.
Of a record: metrics, outcome, fuel, log_sha256, outputs.

Examples:
  arena claim compare manifest.json run.json
  arena claim compare manifest.json run.json challenge.json --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let manifest = read_json("manifest", &args.manifest, io)?;
    let rules = Manifest::rules_of(&manifest)
        .map_err(|faults| faulty(Exit::Rejected, "compare under", &shown(&args.manifest), faults))?;
    let runner = results(&rules, &args.record, io)?;
    let report = match &args.challenge {
        None => {
            let (outcome, rows) = conclude(&rules, &runner, Cmp::C1);
            Report { outcome, rows, challenge: None }
        }
        Some(path) => {
            let challenger = results(&rules, path, io)?;
            let found = compare(&rules, &runner, &challenger);
            let challenge = Some((found.challenger, found.agrees, found.boundary));
            Report { outcome: found.runner, rows: found.rows, challenge }
        }
    };
    if args.output.json {
        io.print_json(&report.json(&rules))
    } else {
        report.show(io)
    }
    Ok(Exit::Success)
}

struct Report {
    outcome: Outcome,
    rows: Vec<Row>,
    challenge: Option<(Outcome, bool, bool)>,
}

/// The results of a record that could be published: each value of its metric's kind.
fn results(rules: &Rules, path: &Path, io: &mut Io<'_>) -> Result<Results, Failure> {
    let value = read_json("record", path, io)?;
    let document = shown(path);
    let results =
        Results::read(&value).map_err(|faults| faulty(Exit::Rejected, "compare", &document, faults))?;
    for (i, reported) in results.metrics.iter().enumerate() {
        let Some(metric) = rules.metrics.iter().find(|metric| metric.name == reported.name) else { continue };
        let kind = metric.kind.name();
        let fits = reported.kind == kind && Measured::read(metric.kind, &reported.value).is_ok();
        if !fits {
            let message = format!("is no `{kind}` as the manifest has it; such a record cannot be published");
            let finding = Finding { pointer: format!("/metrics/{i}"), message };
            io.warn(place(&document, &finding));
        }
    }
    Ok(results)
}

impl Report {
    fn json(&self, rules: &Rules) -> Value {
        let reason = |cmp: Cmp| compare::reason(rules, &self.rows, cmp).map(Status::name);
        let rows: Vec<Value> = self.rows.iter().map(Row::to_json).collect();
        let mut report = json!({ "outcome": self.outcome.name(), "reason": reason(Cmp::C1), "rows": rows });
        if let Some((outcome, agrees, boundary)) = self.challenge {
            report["challenger_outcome"] = json!(outcome.name());
            report["challenger_reason"] = json!(reason(Cmp::C2));
            report["agrees"] = json!(agrees);
            report["boundary"] = json!(boundary);
        }
        report
    }

    fn show(&self, io: &mut Io<'_>) {
        let ink = io.ink();
        let tone = |good: bool| if good { Tone::Good } else { Tone::Bad };
        let word = |outcome: Outcome| ink.paint(tone(outcome == Outcome::Reproduced), outcome.name());
        match self.challenge {
            None => io.print(word(self.outcome)),
            Some((challenger, agrees, boundary)) => {
                let verdict = match (agrees, boundary) {
                    (true, _) => ink.paint(Tone::Good, "agrees"),
                    (false, true) => ink.paint(Tone::Warn, "boundary: the tolerance should be wider"),
                    (false, false) => ink.paint(Tone::Bad, "disagrees"),
                };
                io.print(format_args!(
                    "run {}, challenge {}: {verdict}",
                    word(self.outcome),
                    word(challenger)
                ));
            }
        }
        let columns = [
            Column::left("").after(0),
            Column::left("metric"),
            Column::left("status"),
            Column::right("claim"),
            Column::right("run"),
            Column::right("challenge"),
            Column::right("apart"),
            Column::right("limit"),
            Column::right("beyond"),
        ];
        let mut table = Table::new(columns);
        for row in &self.rows {
            let text = |value: &Option<String>| cut(value.as_deref().unwrap_or_default());
            // A challenge against the claim stands in the challenge's column.
            let none = None;
            let (run, challenge) = if row.cmp == Cmp::C2 { (&none, &row.a) } else { (&row.a, &row.b) };
            table.push([
                row.cmp.name().into(),
                Excerpt::line(&row.metric).to_string().into(),
                Cell::toned(tone(row.passes()), row.status.name()),
                text(&row.reference).into(),
                text(run).into(),
                text(challenge).into(),
                text(&row.diff).into(),
                text(&row.limit).into(),
                text(&row.excess).into(),
            ]);
        }
        for line in table.lines(io.columns(), ink) {
            io.print(line);
        }
    }
}

/// A value as far as a table has room for it; digests are told apart by their start.
fn cut(value: &str) -> String {
    let short: String = value.chars().take(12).collect();
    let value = if value.chars().count() > 24 { format!("{short}…") } else { value.to_owned() };
    Excerpt::line(&value).to_string()
}
