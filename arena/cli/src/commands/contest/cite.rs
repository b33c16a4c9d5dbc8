use arena_canon::json::Pointer;
use arena_contests::cite::{self, Citation, Registry, YEAR_NOW};
use arena_contests::document::Faults;

use super::registry::Version;
use crate::commands::sprint::question::Source;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Say how far a citation can be trusted
///
/// `{"act", "article", "jurisdiction", "url"}` gives `{"confidence", "family", "resolved", "reasons",
/// "gate"}`. Nothing is fetched: the act, the article and the link are compared with the registry
/// that is built in. Below 30 the gate flags the citation.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    version: Version,
}

const AFTER_HELP: &str = r#"Examples:
  arena contest cite citation.json
  echo '{"act": "GDPR", "article": "Art. 6(1)(a)", "jurisdiction": "EU",
         "url": "https://eur-lex.europa.eu/eli/reg/2016/679/oj"}' | arena contest cite"#;

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let question = args.source.read(io)?;
    let mut faults = Faults::default();
    let citation = Citation::read(&question.value, &Pointer::default(), &mut faults);
    let citation = faults.or(citation).map_err(|faults| question.unusable(faults))?;
    io.print_json(&cite::check(&citation, args.version.or(Registry::v1())?, YEAR_NOW).json());
    Ok(Exit::Success)
}
