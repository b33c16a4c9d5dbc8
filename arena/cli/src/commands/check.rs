use std::path::PathBuf;
use std::time::Instant;

use arena_canon::Digest;
use arena_engine::limits::V1;
use arena_sandbox::{
    Admitted, AdmittedExperiment, Call, EXPERIMENT_WORLD, Host, LoadError, Probe, Rejection, Seats, Strategy,
    probe,
};
use serde_json::{Value, json};

use crate::commands::Output;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::ink::Tone;
use crate::io::Io;
use crate::strategies::{self, Refused};
use crate::view::facts::Facts;
use crate::view::numbers::count;

/// Check whether strategies are admitted, and what they use
///
/// Says what the gate says, word for word, and every reason at once. What is admitted is compiled and
/// plays a small probe twice, in fresh seats. An experiment is compiled and not run: it needs the
/// arguments and inputs of a claim.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The strategies: WebAssembly components
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    output: Output,
}

const AFTER_HELP: &str = "\
Examples:
  arena check my.wasm
  arena check target/guests/*.wasm
  arena check my.wasm --json";

pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let host = strategies::host(Seats::OnDemand, io)?;
    let mut exit = Exit::Success;
    let mut results = Vec::new();
    for path in &args.files {
        let shown = files::shown(path);
        let verdict = examine(&host, path, io)?;
        exit = exit.or_worse(verdict.exit());
        if args.output.json {
            results.push(verdict.json(&shown));
        } else {
            show(&shown, &verdict, io);
        }
    }
    if args.output.json {
        io.print_json(&results);
    }
    Ok(exit)
}

/// What came of one file.
enum Verdict {
    Unread(Failure),
    Refused(Rejection),
    Admitted(Box<Report>),
    /// Compiled, not run.
    Experiment(AdmittedExperiment),
}

struct Report {
    admitted: Admitted,
    probe: Probe,
}

fn examine(host: &Host, path: &std::path::Path, io: &mut Io<'_>) -> Result<Verdict, Failure> {
    let admitted = match strategies::read(path) {
        Ok(admitted) => admitted,
        Err(Refused::Unread(unread)) => return Ok(Verdict::Unread(unread.reading("strategy", path))),
        Err(Refused::Experiment(admitted)) => {
            return match host.load_experiment(&admitted) {
                Ok(_) => Ok(Verdict::Experiment(admitted)),
                Err(LoadError::Rejected(rejection)) => Ok(Verdict::Refused(rejection)),
                Err(LoadError::Host(fault)) => Err(fault.into()),
            };
        }
        Err(Refused::Rejected(rejection)) => return Ok(Verdict::Refused(rejection)),
    };
    let started = Instant::now();
    let strategy: Strategy = match host.load(&admitted) {
        Ok(strategy) => strategy,
        Err(LoadError::Rejected(rejection)) => return Ok(Verdict::Refused(rejection)),
        Err(LoadError::Host(fault)) => return Err(fault.into()),
    };
    let spent = started.elapsed().as_secs_f64() * 1_000.0;
    io.talk(format_args!("{}: compiled or found in the cache in {spent:.1} ms", files::shown(path)));
    Ok(Verdict::Admitted(Box::new(Report { probe: probe(&strategy)?, admitted })))
}

impl Verdict {
    fn exit(&self) -> Exit {
        match self {
            Self::Unread(failure) => failure.exit(),
            Self::Refused(_) => Exit::Rejected,
            Self::Admitted(report) if !report.probe.deterministic => Exit::Rejected,
            Self::Admitted(report) if report.probe.forfeit.is_some() => Exit::Forfeited,
            Self::Admitted(_) | Self::Experiment(_) => Exit::Success,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Self::Unread(failure) => json!({ "file": file, "admitted": null, "error": failure.message() }),
            Self::Refused(rejection) => {
                let refusals = rejection.refusals.iter().map(|refusal| {
                    json!({ "code": refusal.code, "message": refusal.message, "hint": refusal.hint })
                });
                json!({ "file": file, "admitted": false, "refusals": refusals.collect::<Vec<_>>() })
            }
            Self::Admitted(report) => report.json(file),
            Self::Experiment(admitted) => json!({
                "file": file,
                "admitted": true,
                "sha256": admitted.digest(),
                "size_bytes": admitted.size(),
                "world": EXPERIMENT_WORLD,
                "imports": admitted.imports(),
                "linker": admitted.linker(),
                "probe": null,
            }),
        }
    }
}

impl Report {
    fn json(&self, file: &str) -> Value {
        let Self { admitted, probe } = self;
        let calls = probe.calls.iter().map(|call| json!({ "call": call.name, "fuel": call.fuel }));
        json!({
            "file": file,
            "admitted": true,
            "sha256": admitted.digest(),
            "size_bytes": admitted.size(),
            "world": admitted.world(),
            "imports": admitted.imports(),
            "linker": admitted.linker(),
            "probe": {
                "calls": calls.collect::<Vec<_>>(),
                "memory_bytes_max": probe.memory_bytes,
                "log_dropped_bytes": probe.log_dropped_bytes,
                "forfeit": probe.forfeit,
                "deterministic": probe.deterministic,
            },
        })
    }

    fn facts(&self) -> Facts {
        let Self { admitted, probe } = self;
        let mut facts = Facts::default();
        facts.add("world", admitted.world());
        about(&mut facts, admitted.imports(), admitted.linker(), admitted.size(), admitted.digest());
        facts.add("fuel", "").aside(fuel(&probe.calls));
        let most = format!("{} bytes of {}", count(probe.memory_bytes), count(V1.memory_bytes_max));
        facts.add("memory", most);
        let (tone, word) = if probe.deterministic { (Tone::Good, "yes") } else { (Tone::Bad, "no") };
        facts.add("deterministic", word).toned(tone);
        if let Some(forfeit) = &probe.forfeit {
            let why = arena_engine::Excerpt { text: &forfeit.forfeit.to_string(), max: 200 }.to_string();
            let when = format!("on turn {} of the probe: {why}", forfeit.turn);
            facts.add("forfeit", "").aside(when);
        }
        facts
    }
}

/// What is told of every component.
fn about(facts: &mut Facts, imports: &[String], linker: &str, size: usize, digest: Digest) {
    let imports: Vec<String> =
        imports.iter().map(|name| arena_engine::Excerpt { text: name, max: 120 }.to_string()).collect();
    let imports = if imports.is_empty() { "nothing".to_owned() } else { imports.join(" ") };
    facts.add("imports", "").aside(imports);
    facts.add("linker", linker);
    facts.add("size", format!("{} bytes", count(size as u64)));
    facts.add("digest", format!("sha256:{digest}"));
}

/// What every call used; many turns in a row that used the same are told together.
fn fuel(calls: &[Call]) -> String {
    const MANY: usize = 8;
    let of_a_turn = |call: &Call| call.name.strip_prefix("turn ").map(str::to_owned);
    let equal = |one: &Call, next: &Call| one.fuel == next.fuel && of_a_turn(one).is_some();
    let runs = calls.chunk_by(equal).flat_map(|run| match (run.first(), run.last()) {
        (Some(first), Some(last)) if run.len() >= MANY => {
            let turns = [first, last].map(|call| of_a_turn(call).unwrap_or_default());
            vec![format!("turns {}: {}", turns.join(" to "), count(first.fuel))]
        }
        _ => run.iter().map(|call| format!("{}: {}", call.name, count(call.fuel))).collect(),
    });
    runs.collect::<Vec<_>>().join(" · ")
}

fn show(file: &str, verdict: &Verdict, io: &mut Io<'_>) {
    let ink = io.ink();
    match verdict {
        Verdict::Unread(failure) => io.fail(failure),
        Verdict::Refused(rejection) => {
            io.print(ink.paint(Tone::Strong, file));
            for refusal in &rejection.refusals {
                io.print(format_args!("{} {}", ink.paint(Tone::Bad, "refused:"), refusal.code));
                io.print(format_args!("  {}", refusal.message));
                if let Some(hint) = &refusal.hint {
                    io.print(format_args!("  {} {hint}", ink.paint(Tone::Strong, "hint:")));
                }
            }
        }
        Verdict::Experiment(admitted) => {
            io.print(format_args!("{} {}", ink.paint(Tone::Strong, file), ink.paint(Tone::Good, "admitted")));
            let mut facts = Facts::default();
            facts.add("world", EXPERIMENT_WORLD);
            about(&mut facts, admitted.imports(), admitted.linker(), admitted.size(), admitted.digest());
            facts.add("run", "not run: it needs the arguments and inputs of a claim");
            for line in facts.lines(io.columns().saturating_sub(2), ink) {
                io.print(format_args!("  {line}"));
            }
        }
        Verdict::Admitted(report) => {
            let word = match &report.probe.forfeit {
                None => ink.paint(Tone::Good, "admitted"),
                Some(_) => ink.paint(Tone::Warn, "admitted, and forfeits"),
            };
            io.print(format_args!("{} {word}", ink.paint(Tone::Strong, file)));
            for line in report.facts().lines(io.columns().saturating_sub(2), ink) {
                io.print(format_args!("  {line}"));
            }
        }
    }
}
