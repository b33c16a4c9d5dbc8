use arena_contests::overlap;

use crate::commands::sprint::question::Source;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Say how much two claims overlap
///
/// `{"a", "b"}` gives `{"duplicate", "jaccard_permille", "containment_permille"}`. Words and pairs of
/// words are compared; a paraphrase is not seen.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = r#"Examples:
  arena contest overlap claims.json
  echo '{"a": "Shipped the importer.", "b": "The importer shipped."}' | arena contest overlap"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let question = args.source.read(io)?;
    let answer = overlap::answer(&question.value).map_err(|faults| question.unusable(faults))?;
    io.print_json(&answer);
    Ok(Exit::Success)
}
