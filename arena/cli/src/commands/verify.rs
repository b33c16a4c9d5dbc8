mod receipt;
mod server;
mod tournament;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_engine::Excerpt;
use arena_engine::campus::{self, DOCUMENT_BYTES_MAX, Faults, Finding, MEMBERS, Pack, SEAL};
use arena_sandbox::{Seats, Strategy, WASMTIME_VERSION};
use serde_json::json;

use crate::commands::Output;
use crate::commands::agent::Address;
use crate::commands::claim;
use crate::commands::tournament::{Checked, Given, Replayed, verify as verify_tournament};
use crate::exit::Exit;
use crate::failure::{Failure, place};
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::packs::{self, Named};
use crate::strategies;

/// Derive what a file says of itself anew, and compare
///
/// Of an episode log, replays the actions and compares every number, bit for bit. With `--strategy` the
/// component plays again and has to do the same.
///
/// Of the folder of a tournament, recomputes records, journal, identities, scorecard and receipt, and
/// plays a sample of the matches again, or all of them. A run that was fetched from a server has no
/// components: what can be checked without them is, and what cannot is told.
///
/// Of the folder of an instance of claims, derives every event of the journal again: draws, commitments,
/// signatures, comparisons and money; and checks the signed checkpoints, and receipts that are given.
///
/// Of a receipt of a server, with `--server`, asks it for its present checkpoint and for proofs, and says whether
/// what was signed then holds, was left out since, or was written anew.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Episode logs, and folders of tournaments or claims
    #[arg(required_unless_present_any = ["server", "receipts"], value_name = "LOG|DIR")]
    logs: Vec<PathBuf>,

    /// Play every match of a tournament again, not only a sample
    #[arg(long)]
    all: bool,

    /// The pack's file, or the name of a built-in pack, where the log's own pins do not lead to one
    #[arg(long, value_name = "PACK")]
    pack: Option<std::ffi::OsString>,

    /// Let this component play again, and compare everything
    #[arg(long, value_name = "FILE")]
    strategy: Option<PathBuf>,

    /// A component that the folder of a tournament does not have, or a folder of them: found by its SHA-256
    #[arg(long = "component", value_name = "FILE|DIR")]
    components: Vec<PathBuf>,

    /// Hold this receipt, or a transcript of a draw that carries its log, against the folders of claims and the server
    #[arg(long = "receipt", value_name = "FILE")]
    receipts: Vec<PathBuf>,

    /// The server that gave the receipts: https://host[:port], or http://
    #[arg(long, value_name = "URL", requires = "receipts")]
    server: Option<Address>,

    /// The public key of the server's log, as you know it [default: the one that the server names now]
    #[arg(long, value_name = "KEY", requires = "server", value_parser = receipt::log_key)]
    log_key: Option<Digest>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena verify two-spikes-3f9c1a20.json
  arena verify episodes/*.json
  arena verify episode.json --strategy my.wasm
  arena verify episode.json --pack my-pack.json --json
  arena verify lab --receipt receipt.json
  arena verify --receipt receipt.json --server https://arena.example
  arena verify .outline/loops/axelrod/20261130T174500Z-7c1e0b44 --all
  arena verify fetched --all --component mine.wasm --component others";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let pack = args.pack.as_deref().map(packs::find).transpose()?;
    if let Some(pack) = &pack {
        pack.warn(io);
    }
    let strategy = match &args.strategy {
        Some(path) => Some(strategies::load_campus(&strategies::host(Seats::OnDemand, io)?, path)?),
        None => None,
    };
    let given = Given::read(&args.components)?;
    let receipts = args.receipts.iter().map(|path| receipt::read(path)).collect::<Result<Vec<_>, _>>()?;
    let has_folder = args.logs.iter().any(|path| claim::is_instance(path));
    if !receipts.is_empty() && !has_folder && args.server.is_none() {
        let why = match args.logs.is_empty() {
            true => "there is nothing to hold it against",
            false => "none of these is the folder of an instance of claims",
        };
        return Err(Failure::usage("hold the receipt", why)
            .hint("name the server that gave it with --server URL, or the folder of the instance"));
    }
    let mut exit = Exit::Success;
    let mut results = Vec::new();
    for path in &args.logs {
        let shown = files::shown(path);
        let verdict = if claim::is_instance(path) {
            claims(path, &receipts, io)?
        } else if path.is_dir() {
            run_of(path, args.all, &given, io)?
        } else {
            examine(path, pack.as_ref(), strategy.as_ref())?
        };
        // Among several files, as a shell names them, one that is no log is passed over.
        if !matches!(verdict, Verdict::NoLog) || args.logs.len() == 1 {
            exit = exit.or_worse(verdict.exit());
        }
        if args.output.json {
            results.push(verdict.json(&shown));
        } else {
            show(&shown, &verdict, io);
        }
    }
    if let Some(address) = &args.server {
        let results = args.output.json.then_some(&mut results);
        exit = exit.or_worse(server::hold((address, args.log_key), &receipts, (results, io))?);
    }
    if args.output.json {
        io.print_json(&results);
    }
    Ok(exit)
}

const NO_LOG: &str = "not an episode log: it has neither a schema nor a settlement";

/// What came of one log.
enum Verdict {
    /// It cannot be examined.
    Unread(Failure),
    /// It departs from what it should be.
    Rejected { findings: Vec<Finding>, hint: Option<String> },
    /// Everything that was looked at is as it should be.
    Verified { pack: String, stars: Value, sealed: bool, rerun: Rerun },
    /// The run of a tournament is what its folder says.
    Tournament(Checked),
    /// Every event of an instance of claims follows.
    Claims(claim::Verified),
    /// It is another kind of document, as lies beside the log of a forfeit.
    NoLog,
}

/// What came of playing again.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rerun {
    NotAsked,
    Equal,
    /// The ending is marked as depending on the build, and here it is another.
    DependsOnBuild(String),
}

fn examine(path: &Path, pack: Option<&Named>, strategy: Option<&Strategy>) -> Result<Verdict, Failure> {
    let bytes = match files::read(path, DOCUMENT_BYTES_MAX as u64) {
        Ok(bytes) => bytes,
        Err(unread) => return Ok(Verdict::Unread(unread.reading("log", path))),
    };
    let log = match json::read(&bytes, DOCUMENT_BYTES_MAX) {
        Ok(log) => log,
        Err(why) => return Ok(rejected(String::new(), why.to_string())),
    };
    if log.get("schema").is_none() && log.get("settlement").is_none() {
        return Ok(Verdict::NoLog);
    }
    let pack = match pack {
        Some(pack) => Arc::clone(&pack.pack),
        None => match pack_of(&log) {
            Some(named) => named.pack,
            None => return Ok(Verdict::Unread(no_pack(&log, path))),
        },
    };
    if let Err(Faults(findings)) = campus::verify(&bytes, &pack) {
        let pinned = findings.iter().any(|finding| finding.pointer == "/pins/pack_sha256");
        let hint = pinned.then(|| "is it the log of another pack? name that one with --pack".to_owned());
        return Ok(Verdict::Rejected { findings, hint });
    }
    let rerun = match strategy {
        None => Rerun::NotAsked,
        Some(strategy) => match play_again(&log, &pack, strategy)? {
            Ok(rerun) => rerun,
            Err(rejected) => return Ok(rejected),
        },
    };
    let (stars, sealed) = (log["settlement"]["stars"].clone(), log.get(SEAL).is_some());
    Ok(Verdict::Verified { pack: pack.to_string(), stars, sealed, rerun })
}

/// The run of a tournament.
fn run_of(path: &Path, all: bool, given: &Given, io: &mut Io<'_>) -> Result<Verdict, Failure> {
    let replayed = if all { Replayed::All } else { Replayed::Sample };
    Ok(match verify_tournament(path, replayed, given, io) {
        Ok(Ok(checked)) => Verdict::Tournament(checked),
        Ok(Err(difference)) => rejected(String::new(), difference),
        Err(failure) => Verdict::Unread(failure),
    })
}

/// An instance of claims.
fn claims(path: &Path, receipts: &[(String, Value)], io: &mut Io<'_>) -> Result<Verdict, Failure> {
    Ok(match claim::verify(path, receipts, io) {
        Ok(Ok(verified)) => Verdict::Claims(verified),
        Ok(Err(findings)) => Verdict::Rejected { findings, hint: None },
        Err(failure) => Verdict::Unread(failure),
    })
}

fn rejected(pointer: String, message: String) -> Verdict {
    Verdict::Rejected { findings: vec![Finding { pointer, message }], hint: None }
}

/// The built-in pack a log was played on: by its pin, else by name and version.
fn pack_of(log: &Value) -> Option<Named> {
    let pin = log.pointer("/pins/pack_sha256").and_then(Value::as_str);
    let by_pin = pin.and_then(|pin| packs::with_digest(pin.parse::<Digest>().ok()?));
    by_pin.or_else(|| packs::with_id(log["pack_id"].as_str()?, log["pack_version"].as_str()))
}

fn no_pack(log: &Value, path: &Path) -> Failure {
    let doing = format!("verify `{}`", files::shown(path));
    match log["pack_id"].as_str() {
        Some(id) => Failure::usage(doing, format_args!("its pack `{}` is not built in", Excerpt::line(id))),
        None => Failure::usage(doing, "it does not say which pack it was played on"),
    }
    .hint("name the pack with --pack FILE")
}

/// Plays with the log's own seed and compares all that does not depend on the build.
fn play_again(log: &Value, pack: &Arc<Pack>, strategy: &Strategy) -> Result<Result<Rerun, Verdict>, Failure> {
    let at = |pointer: &str| log.pointer(pointer).and_then(Value::as_str);
    let Some(played_by) = at("/run/strategy_sha256") else {
        return Ok(Err(rejected(
            "/run".to_owned(),
            "no strategy played this: it is a bare replay".to_owned(),
        )));
    };
    let digest = strategy.digest().to_string();
    if played_by != digest {
        let message = format!("the log says {}, the component is {digest}", Excerpt::line(played_by));
        return Ok(Err(rejected("/run/strategy_sha256".to_owned(), message)));
    }
    let Some(seed) = at("/run/seed").and_then(|seed| seed.parse::<Digest>().ok()) else {
        return Ok(Err(rejected("/run/seed".to_owned(), "not a seed of 64 hexadecimal digits".to_owned())));
    };
    let again = arena_sandbox::play(strategy, pack, seed)?;
    let again = json!(again.log);
    Ok(compare(log, &again))
}

fn compare(log: &Value, again: &Value) -> Result<Rerun, Verdict> {
    // Members of others are carried, not compared.
    let mut stored = log.clone();
    if let (Some(members), Some(own)) = (stored.as_object_mut(), again.as_object()) {
        members.retain(|key, _| own.contains_key(key) || MEMBERS.contains(&key.as_str()) && key != SEAL);
    }
    let Some((pointer, left, right)) = json::first_difference(&stored, again) else {
        return Ok(Rerun::Equal);
    };
    let (shown_left, shown_right) = (shown(left), shown(right));
    let message = format!("the log says {shown_left}, playing again gives {shown_right}");
    if let Some(turn) = build_decides_from(&stored, again)
        && json::first_difference(&until(&stored, turn), &until(again, turn)).is_none()
    {
        return Ok(Rerun::DependsOnBuild(format!("{pointer}: {message}")));
    }
    let pointer = pointer.to_string();
    let other = stored.pointer("/pins/wasmtime").and_then(Value::as_str);
    let other = other.filter(|version| *version != WASMTIME_VERSION).map(|version| {
        let version = Excerpt { text: version, max: 40 };
        format!("it was played with wasmtime {version}; this arena has {WASMTIME_VERSION}, which may count fuel otherwise")
    });
    Err(Verdict::Rejected { findings: vec![Finding { pointer, message }], hint: other })
}

/// The first turn whose outcome may differ from build to build, if either ending is marked so.
fn build_decides_from(stored: &Value, again: &Value) -> Option<usize> {
    let marked = |log: &Value| {
        let forfeit = log.pointer("/run/forfeit")?;
        let turn = forfeit["turn"].as_u64()?;
        (forfeit["build_dependent"] == Value::Bool(true)).then_some(turn as usize)
    };
    [marked(stored), marked(again)].into_iter().flatten().min()
}

/// What of a log does not depend on how `turn` and the turns after it went.
fn until(log: &Value, turn: usize) -> Value {
    let turns: Vec<&Value> = log["turns"].as_array().into_iter().flatten().take(turn).collect();
    let fuel: Vec<&Value> = log["run"]["fuel"].as_array().into_iter().flatten().take(turn).collect();
    let said = log["run"]["log"].as_array().into_iter().flatten();
    let said: Vec<&Value> =
        said.filter(|line| line["turn"].as_u64().is_some_and(|t| t < turn as u64)).collect();
    let same = ["strategy_sha256", "seed", "world", "linker"].map(|member| &log["run"][member]);
    let briefed = log["run"]["forfeit"]["during"] == "turn" || log["run"]["forfeit"].is_null();
    let brief_fuel = if briefed { &log["run"]["brief_fuel"] } else { &Value::Null };
    json!({ "pins": log["pins"], "turns": turns, "brief": brief_fuel, "fuel": fuel, "log": said, "run": same })
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(
        || "nothing".to_owned(),
        |value| Excerpt { text: &value.to_string(), max: 100 }.to_string(),
    )
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Unread(failure) => failure.exit(),
            Self::Rejected { .. } => Exit::Rejected,
            Self::Verified { .. } | Self::Tournament(_) | Self::Claims(_) => Exit::Success,
            Self::NoLog => Exit::Usage,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Self::Unread(failure) => json!({ "file": file, "verified": null, "error": failure.message() }),
            Self::Rejected { findings, hint } => {
                json!({ "file": file, "verified": false, "findings": findings, "hint": hint })
            }
            Self::NoLog => json!({ "file": file, "verified": null, "error": NO_LOG }),
            Self::Tournament(checked) => tournament::json(file, checked),
            Self::Claims(found) => json!({
                "file": file, "verified": true, "events": found.events, "claims": found.claims,
                "over": found.over, "records": found.records, "draws": found.draws, "blobs": found.blobs,
                "checkpoints": found.checkpoints, "receipts": found.receipts,
            }),
            Self::Verified { pack, stars, sealed, rerun } => {
                let rerun = match rerun {
                    Rerun::NotAsked => Value::Null,
                    Rerun::Equal => json!("equal"),
                    Rerun::DependsOnBuild(_) => json!("depends_on_build"),
                };
                json!({ "file": file, "verified": true, "pack": pack, "stars": stars, "sealed": sealed, "rerun": rerun })
            }
        }
    }
}

fn show(file: &str, verdict: &Verdict, io: &mut Io<'_>) {
    let ink = io.ink();
    match verdict {
        Verdict::Unread(failure) => io.fail(failure),
        Verdict::Rejected { findings, hint } => {
            io.print(format_args!("{} {file}", ink.paint(Tone::Bad, "rejected:")));
            for finding in findings {
                io.print(format_args!("  {}", place(file, finding)));
            }
            if let Some(hint) = hint {
                io.print(format_args!("  {} {hint}", ink.paint(Tone::Strong, "hint:")));
            }
        }
        Verdict::Tournament(checked) => tournament::show(file, checked, io),
        Verdict::Claims(found) => {
            let claim::Verified { events, claims, over, records, draws, blobs, checkpoints, receipts } =
                found;
            let log = match checkpoints {
                None => "no log".to_owned(),
                Some(1) => "1 checkpoint".to_owned(),
                Some(some) => format!("{some} checkpoints"),
            };
            let held = match receipts {
                0 => String::new(),
                1 => ", 1 receipt holds".to_owned(),
                some => format!(", {some} receipts hold"),
            };
            io.print(format_args!(
                "{} {file} · {claims} claims, {over} over · {events} events follow, {draws} draws, {records} \
                 signed records, {blobs} blobs · {log}{held}",
                ink.paint(Tone::Good, "ok:")
            ));
        }
        Verdict::NoLog => io.warn(format_args!("`{file}`: {NO_LOG}")),
        Verdict::Verified { pack, stars, sealed, rerun } => {
            let stars = stars.as_u64().map(|stars| crate::view::outcome::stars(stars as u8));
            let rerun_words = match rerun {
                Rerun::NotAsked if !sealed => {
                    "the score follows from its actions · not sealed, the rest is unchecked"
                }
                Rerun::NotAsked => "every number follows from its actions",
                Rerun::Equal => "every number follows from its actions · played again, all equal",
                Rerun::DependsOnBuild(_) => "every number follows from its actions · depends on the build",
            };
            let stars = stars.unwrap_or_default();
            io.print(format_args!(
                "{} {file} · {pack} · {stars} · {rerun_words}",
                ink.paint(Tone::Good, "ok:")
            ));
            if let Rerun::DependsOnBuild(difference) = rerun {
                io.warn(format_args!(
                    "{file}: its ending depends on the build; here it is another: {difference}"
                ));
            }
        }
    }
}
