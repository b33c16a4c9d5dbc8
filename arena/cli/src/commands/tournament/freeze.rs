use std::path::{Path, PathBuf};

use serde_json::json;

use super::{home, inputs};
use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;

/// Write down what decides a tournament, before anything runs
///
/// Reads a plan (TOML), admits and compiles every strategy, draws the aliases, and writes
/// `frozen.json`, which is public, and `secret`, which is yours until the run is over: together they
/// give the same records on any machine. `sources.json` says where the components and packs were.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,

    /// Folder for the files [default: .outline/loops/SLUG/frozen-DIGEST]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Take the secret from this file (32 bytes, or 64 hexadecimal digits) instead of drawing one
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,

    /// Replace files that are in the way
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena tournament freeze tournaments/axelrod.toml
  arena tournament freeze my.toml --out frozen
  arena tournament run frozen/frozen.json

A plan:
  slug = \"friday\"
  title = \"Friday's four\"
  game = \"matrix\"                        # or \"campus\"
  [[strategies]]
  name = \"Tit For Tat\"
  version = \"1.0.0\"
  component = \"tit-for-tat.wasm\"         # relative to the plan
  # … more strategies
  [matrix]
  kind = \"round_robin\"                   # or \"gauntlet\" with challengers, or \"pairs\" with pairs
  self_play = true
  repetitions = 10
  rounds = 200                           # campus: packs = [\"two-spikes\", \"my-pack.json\"]
  payoffs = { r = 3, s = 0, t = 5, p = 1 }
  [protocol]
  move_validation = \"clamp\"              # or \"forfeit\", or \"block\"
  [budget]
  matchups = 1000                        # and fuel, turns, wall_seconds
  [seating]                              # optional, see `arena tournament secret`
  round = 27946612
  signature = \"…\"";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let setup = inputs::from_plan(&args.plan, args.secret.as_deref(), io)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => home(&setup.frozen.document().slug).join(format!("frozen-{}", setup.frozen.sha256().short())),
    };
    files::make_folder(&out)?;
    let existing = Existing::replace_if(args.force);
    let sources = serde_json::to_vec_pretty(&setup.sources)
        .map_err(|why| Failure::usage("write down where the components are", why))?;
    for name in ["frozen.json", "secret", inputs::SOURCES] {
        files::may_write(&out.join(name), existing)?;
    }
    write_secret(&out.join("secret"), setup.secret.as_bytes(), existing)?;
    files::write(&out.join(inputs::SOURCES), &sources, existing)?;
    files::write(&out.join("frozen.json"), setup.frozen.bytes(), existing)?;
    show(args, &out, &setup, io);
    Ok(Exit::Success)
}

fn show(args: &Args, out: &Path, setup: &inputs::Setup, io: &mut Io<'_>) {
    let frozen = setup.frozen.document();
    let (matchups, strategies) = (frozen.matchups.len(), frozen.strategies.len());
    let path = out.join("frozen.json");
    if args.output.json {
        return io.print_json(&json!({
            "frozen": files::shown(&path),
            "secret": files::shown(&out.join("secret")),
            "frozen_sha256": setup.frozen.sha256(),
            "secret_commit": frozen.secret_commit,
            "strategies": strategies,
            "matchups": matchups,
        }));
    }
    io.print(format_args!("frozen    {}", setup.frozen.sha256()));
    io.print(format_args!("matchups  {matchups} between {strategies} strategies, identities hidden"));
    io.print(format_args!("public    {}", files::shown(&path)));
    io.print(format_args!("yours     {} (until the run is over)", files::shown(&out.join("secret"))));
    io.talk(format_args!("next: arena tournament run {}", files::shown(&path)));
}

/// Its owner's alone.
fn write_secret(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), Failure> {
    files::write_private(path, bytes, existing)
}
