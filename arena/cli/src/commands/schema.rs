use arena_claims::schema;
use arena_draw::TRANSCRIPT_SCHEMA;
use arena_engine::campus::{episode_schema, pack_schema};
use clap::ValueEnum;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::io::Io;

/// Print a normative JSON Schema
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Of which document
    document: Document,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Document {
    /// A scenario pack
    Pack,
    /// The log of an episode
    Episode,
    /// The manifest of a claim
    Manifest,
    /// What a run of a claim found
    Record,
    /// A sealed record or ballot
    Commitment,
    /// What opens one
    Reveal,
    /// A reviewer's ballot
    Ballot,
    /// The parameters of claims
    Params,
    /// A draw that is resolved
    Transcript,
    /// A case that is settled
    Case,
    /// The report of a comparison
    Report,
}

const AFTER_HELP: &str = "\
Examples:
  arena schema pack > scenario-pack.v0.schema.json
  arena schema episode > episode.v0.schema.json
  arena schema manifest > manifest.v1.schema.json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let schema = match args.document {
        Document::Pack => return generated(&pack_schema(), io),
        Document::Episode => return generated(&episode_schema(), io),
        Document::Manifest => schema::MANIFEST,
        Document::Record => schema::RECORD,
        Document::Commitment => schema::COMMITMENT,
        Document::Reveal => schema::REVEAL,
        Document::Ballot => schema::BALLOT,
        Document::Params => schema::PARAMS,
        Document::Transcript => TRANSCRIPT_SCHEMA,
        Document::Case => schema::CASE,
        Document::Report => schema::REPORT,
    };
    io.print(schema.trim_end());
    Ok(Exit::Success)
}

/// One that follows from the types that are read and written.
fn generated(schema: &arena_canon::json::Value, io: &mut Io<'_>) -> Result<Exit, Failure> {
    io.print(format_args!("{schema:#}"));
    Ok(Exit::Success)
}
