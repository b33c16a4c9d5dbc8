use arena_contests::sprint::wire;

use super::question::{self, Source};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Say what becomes of the stake of a window
///
/// `{"window"}` gives `{"result"}`: returned, burned, held or none.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = r#"Examples:
  arena sprint stake window.json
  echo '{"window": {"state": "pending"}}' | arena sprint stake"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let question = args.source.read(io)?;
    let said = wire::stake(&question.value).map_err(|faults| question.unusable(faults))?;
    Ok(question::answer(&said, io))
}
