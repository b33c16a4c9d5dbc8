use arena_contests::sprint::wire;

use super::question::{self, Source};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Score windows and rank companies
///
/// `{"entrants": [{"id", "windows": {"W1", "W2", "W3"}}]}` gives the standings, and `{"window",
/// "previous"}` the score of one window, as JSON. Every rule that takes something away is named in
/// `caps`. A record that breaks a rule gives `{"error"}` with the rule's name, and exit code 20.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = r#"Examples:
  arena sprint score board.json
  echo '{"window": {"state": "missing"}, "previous": null}' | arena sprint score"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let question = args.source.read(io)?;
    let said = wire::score(&question.value).map_err(|faults| question.unusable(faults))?;
    Ok(question::answer(&said, io))
}
