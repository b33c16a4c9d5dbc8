use arena_contests::cite::{Act, Check, Registry, TextRead};
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ink::Tone;
use crate::io::Io;
use crate::view::table::{Cell, Column, Table};

/// Show the acts that citations are compared with
///
/// For each act the number of its last article, how many articles were inserted into it, and in which
/// text each of the two was looked up; with --json also the articles and the sources. What nobody
/// looked up is marked `unchecked`. Citations are judged by version 1 unless another one is asked for;
/// a correction is a new version.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    version: Version,
    #[command(flatten)]
    output: Output,
}

/// Which version of the registry.
#[derive(Debug, clap::Args)]
pub(crate) struct Version {
    /// The version of the registry of acts: 1 or 2
    #[arg(long, value_name = "VERSION")]
    registry: Option<u32>,
}

const AFTER_HELP: &str = "\
Examples:
  arena contest registry
  arena contest registry --registry 1 --json";

impl Version {
    /// The registry that was asked for, or else `default`.
    pub(crate) fn or(&self, default: &'static Registry) -> Result<&'static Registry, Failure> {
        let Some(version) = self.registry else { return Ok(default) };
        Registry::of_version(version).ok_or_else(|| {
            let doing = format_args!("use version {version} of the registry");
            Failure::usage(doing, "there are the versions 1 and 2")
        })
    }
}

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let registry = args.version.or(Registry::v2())?;
    if args.output.json {
        io.print_json(&document(registry));
        return Ok(Exit::Success);
    }
    io.print(format_args!("version {}, sha256 {}", registry.version(), registry.sha256()));
    io.print("");
    let columns = [
        Column::left("act").after(0),
        Column::left("last article"),
        Column::left("looked up in"),
        Column::right("inserted"),
        Column::left("looked up in"),
    ];
    let mut table = Table::new(columns);
    for act in registry.acts() {
        let checked = act.checked();
        table.push([
            Cell::toned(Tone::Strong, act.id()),
            act.last_article().into(),
            text_read(checked.last_article.as_ref()).into(),
            act.inserted().count().to_string().into(),
            text_read(checked.inserted.as_ref()).into(),
        ]);
    }
    for line in table.lines(io.row_columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}

fn text_read(check: Option<&Check>) -> &'static str {
    match check.map(|check| check.text) {
        None => "unchecked",
        Some(TextRead::AsAdopted) => "text as adopted",
        Some(TextRead::Consolidated) => "consolidated text",
    }
}

fn document(registry: &Registry) -> Value {
    let check = |check: &Check| {
        let Check { source, commit, path, text } = check;
        json!({ "source": source, "commit": commit, "path": path, "text": text })
    };
    let act = |act: &Act| {
        let checked = act.checked();
        json!({
            "id": act.id(),
            "family": act.family(),
            "last_article": act.last_article(),
            "inserted": act.inserted().collect::<Vec<_>>(),
            "checked": {
                "last_article": checked.last_article.as_ref().map(check),
                "inserted": checked.inserted.as_ref().map(check),
            },
        })
    };
    json!({
        "version": registry.version(),
        "sha256": registry.sha256(),
        "acts": registry.acts().iter().map(act).collect::<Vec<_>>(),
    })
}
