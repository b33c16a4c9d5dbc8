use arena_contests::sprint::wire;

use super::question::Source;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Ask the clock of a round
///
/// `{"round_start", "now"}` gives `{"phase", "window"}`. With `"action"`, and `"window"` where the
/// action is for one, it gives `{"result"}`: ok, late or refused. Times are RFC 3339 in any offset.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
}

const AFTER_HELP: &str = r#"Examples:
  arena sprint phase question.json
  echo '{"round_start": "2026-07-09T00:00:00Z", "now": "2026-07-10T22:00:00Z",
         "action": "submit", "window": "W1"}' | arena sprint phase"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let question = args.source.read(io)?;
    let answer = wire::phase(&question.value).map_err(|faults| question.unusable(faults))?;
    io.print_json(&answer);
    Ok(Exit::Success)
}
