use std::path::PathBuf;

use arena_claims::manifest::{Manifest, ManifestError};
use arena_engine::Excerpt;
use serde_json::json;

use super::{faulty, read, shown};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;
use crate::view::facts::Facts;

/// Check whether a manifest can be listed
///
/// Every fault is named at once, by its JSON pointer. The digest is what claims, records and signatures name.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The manifest, or `-` for the standard input
    #[arg(value_name = "MANIFEST")]
    manifest: PathBuf,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena claim check manifest.json
  arena claim check manifest.json --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bytes = read("manifest", &args.manifest, io)?;
    let document = shown(&args.manifest);
    let manifest = match Manifest::parse(&bytes) {
        Ok(manifest) => manifest,
        Err(ManifestError::Read(why)) => {
            let why = why.to_string();
            let doing = format_args!("read manifest `{document}`").to_string();
            return Err(Failure::usage(doing, Excerpt { text: &why, max: 300 }));
        }
        Err(ManifestError::Faults(faults)) => {
            return Err(faulty(Exit::Rejected, "list manifest", &document, faults));
        }
    };
    let metrics = manifest.rules.metrics.len();
    let badge = manifest.rules.badge();
    if args.output.json {
        io.print_json(&json!({
            "sha256": manifest.digest, "metrics": metrics, "exact": manifest.rules.exact,
            "wide_tolerance": badge, "protocol_params_sha256": manifest.params,
        }));
        return Ok(Exit::Success);
    }
    let mut facts = Facts::default();
    facts.add("title", Excerpt::line(&manifest.title).to_string());
    facts.add("submitter", Excerpt::line(&manifest.submitter).to_string());
    facts.add("metrics", metrics.to_string());
    facts.add("reruns", if manifest.rules.exact { "exact" } else { "tolerant" });
    facts.add("badge", if badge { "wide tolerance" } else { "none" });
    facts.add("digest", format!("sha256:{}", manifest.digest));
    for line in facts.lines(io.columns(), io.ink()) {
        io.print(line);
    }
    Ok(Exit::Success)
}
