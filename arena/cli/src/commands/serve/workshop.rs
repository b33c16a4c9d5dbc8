//! The server's workshop: this program once more, in a process that limits itself and is killed when it takes too
//! long. The server itself never compiles or plays a component.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use arena_server::{Admission, Probe, Refused, Verdict, Workshop, WorkshopFault};
use arena_tournament::Pins;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::commands::tournament;
use crate::failure::Failure;
use crate::files;

/// The folder of compiled strategies, in the server's own.
const CACHE: &str = "cache";
/// How often a process is looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Most of what a process may say.
const SAID_BYTES_MAX: u64 = 4 << 20;
/// Most of a forfeit in a probe that is kept.
const FORFEIT_BYTES_MAX: usize = 8 << 10;

/// Processes of this program.
pub(super) struct Processes {
    program: PathBuf,
    cache: PathBuf,
    workers: u16,
}

/// How a process ended.
enum End {
    Ended(ExitStatus),
    /// It took too long, or was told to stop, and is dead.
    Killed,
}

/// A process with everything that it started; dead when this is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn fault(doing: &'static str, why: impl std::fmt::Display) -> WorkshopFault {
    WorkshopFault { doing, why: why.to_string() }
}

impl Processes {
    /// Of `program`, with compiled strategies in the server's folder, and so many worker processes a tournament.
    pub(super) fn new(program: PathBuf, data: &Path, workers: u16) -> Result<Self, Failure> {
        let made = std::path::absolute(data.join(CACHE)).and_then(|cache| {
            DirBuilder::new().recursive(true).mode(0o700).create(&cache)?;
            Ok(cache)
        });
        let cache = made
            .map_err(|why| Failure::internal("make the folder of compiled strategies", files::plain(&why)))?;
        Ok(Self { program, cache, workers: workers.max(1) })
    }

    /// This program as the child of this thread, which has to wait for it: it is killed with it.
    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["workshop", verb, "--server", &std::process::id().to_string()]);
        command.env_clear().env("ARENA_CACHE", &self.cache).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).process_group(0);
        command
    }
}

/// Waits for a process, for so long at most and for as long as it is to go on.
fn wait(command: &mut Command, patience: Duration, pulse: &mut dyn FnMut() -> bool) -> std::io::Result<End> {
    let mut group = Group(command.spawn()?);
    let started = Instant::now();
    loop {
        if let Some(status) = group.0.try_wait()? {
            return Ok(End::Ended(status));
        }
        if started.elapsed() >= patience || !pulse() {
            return Ok(End::Killed);
        }
        sleep(LOOK);
    }
}

impl Workshop for Processes {
    fn pins(&self) -> Pins {
        tournament::pins()
    }

    fn admit(&self, component: &Path, patience: Duration) -> Result<Verdict, WorkshopFault> {
        let doing = "look at a component";
        let mut said = tempfile::tempfile().map_err(|why| fault(doing, why))?;
        let told = said.try_clone().map_err(|why| fault(doing, why))?;
        let mut command = self.command("admit");
        // Threads share the time: what counts is the wall, and this bounds what it can cost meanwhile.
        command
            .args(["--cpu-seconds", &(4 * patience.as_secs().max(1)).to_string()])
            .arg("--")
            .arg(component);
        command.stdout(told).stderr(Stdio::null());
        let end = wait(&mut command, patience, &mut || true).map_err(|why| fault(doing, why))?;
        let status = match end {
            End::Killed => return Ok(too_costly(&format!("it took more than {} s", patience.as_secs()))),
            End::Ended(status) => status,
        };
        // A process that did not end by itself ran into a limit; so it is the component that is too much.
        if status.code().is_none() {
            return Ok(too_costly("it took more memory or time than a component is given"));
        }
        let mut text = Vec::new();
        let read = said.rewind().and_then(|()| (&mut said).take(SAID_BYTES_MAX).read_to_end(&mut text));
        read.map_err(|why| fault(doing, why))?;
        let told: Value = serde_json::from_slice(&text)
            .map_err(|_| fault(doing, format_args!("the process ended with {status} and said nothing")))?;
        verdict(&told[0]).ok_or_else(|| fault(doing, "what the process said is not understood"))
    }

    fn play(
        &self,
        folder: &Path,
        patience: Duration,
        pulse: &mut dyn FnMut() -> bool,
    ) -> Result<(), WorkshopFault> {
        let doing = "play";
        let log = log_of(folder).map_err(|why| fault(doing, why))?;
        let mut command = self.command("play");
        command.args(["--workers", &self.workers.to_string()]).arg("--").arg(folder);
        command.stdout(Stdio::null()).stderr(log);
        match wait(&mut command, patience, pulse).map_err(|why| fault(doing, why))? {
            End::Killed => Err(fault(doing, "the run was broken off")),
            // Every terminal class has a receipt; any other end has not.
            End::Ended(status) if matches!(status.code(), Some(0 | 10 | 11 | 12)) => Ok(()),
            End::Ended(status) => Err(fault(doing, format_args!("the process ended with {status}"))),
        }
    }
}

/// What a run says to its operator, beside its folder.
fn log_of(folder: &Path) -> std::io::Result<File> {
    let path = folder.with_extension("log");
    match fs::remove_file(&path) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => return Err(why),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn refused(code: &str, message: impl Into<String>, hint: Option<&str>) -> Refused {
    Refused { code: code.to_owned(), message: message.into(), hint: hint.map(str::to_owned) }
}

fn too_costly(why: &str) -> Verdict {
    let message = format!("compiling and probing it is too costly: {why}");
    let hint = "make it smaller: split large functions, and build it with `opt-level = \"s\"`";
    Verdict::Refused(vec![refused("admit.too_costly", message, Some(hint))])
}

/// What `arena check --json` says of one file.
fn verdict(told: &Value) -> Option<Verdict> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if !told["admitted"].as_bool()? {
        let reasons = told["refusals"].as_array()?.iter().map(|reason| {
            Some(refused(reason["code"].as_str()?, reason["message"].as_str()?, reason["hint"].as_str()))
        });
        return reasons.collect::<Option<Vec<_>>>().map(Verdict::Refused);
    }
    let probe = &told["probe"];
    if probe["deterministic"].as_bool() == Some(false) {
        let message = "its two probes differ, although both were played with the same luck";
        return Some(Verdict::Refused(vec![refused("admit.nondeterministic", message, None)]));
    }
    let fuel = probe["calls"].as_array().into_iter().flatten().filter_map(|call| call["fuel"].as_u64());
    let forfeit = &probe["forfeit"];
    let is_short = forfeit.to_string().len() <= FORFEIT_BYTES_MAX;
    Some(Verdict::Admitted(Admission {
        sha256: told["sha256"].as_str()?.parse().ok()?,
        size_bytes: told["size_bytes"].as_u64()?,
        world: text(&told["world"])?,
        imports: told["imports"].as_array()?.iter().map(text).collect::<Option<Vec<_>>>()?,
        linker: text(&told["linker"])?,
        probe: Probe {
            fuel_max: fuel.max().unwrap_or_default(),
            memory_bytes_max: probe["memory_bytes_max"].as_u64().unwrap_or_default(),
            forfeit: if is_short { forfeit.clone() } else { Value::from("too long to be kept") },
        },
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_check_says_is_understood() {
        let refused = json!({
            "file": "x", "admitted": false,
            "refusals": [{ "code": "admit.a", "message": "m", "hint": "h" },
                         { "code": "admit.b", "message": "n", "hint": null }],
        });
        let Some(Verdict::Refused(reasons)) = verdict(&refused) else { panic!("it is refused") };
        assert_eq!(reasons.len(), 2);
        assert_eq!(reasons[0].hint.as_deref(), Some("h"));
        let mut admitted = json!({
            "file": "x", "admitted": true, "sha256": "ab".repeat(32), "size_bytes": 7, "world": "w",
            "imports": ["i"], "linker": "lean",
            "probe": { "calls": [{ "call": "brief", "fuel": 3 }, { "call": "turn 0", "fuel": 9 }],
                       "memory_bytes_max": 5, "log_dropped_bytes": 0, "forfeit": null, "deterministic": true },
        });
        let Some(Verdict::Admitted(it)) = verdict(&admitted) else { panic!("it is admitted") };
        assert_eq!((it.probe.fuel_max, it.probe.memory_bytes_max, it.size_bytes), (9, 5, 7));
        admitted["probe"]["deterministic"] = json!(false);
        assert!(matches!(verdict(&admitted), Some(Verdict::Refused(_))));
        assert_eq!(verdict(&json!({ "file": "x", "admitted": null, "error": "gone" })), None);
        assert_eq!(verdict(&json!(null)), None);
    }

    #[test]
    fn a_process_that_takes_too_long_is_dead_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("alive");
        let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]).process_group(0);
        let started = Instant::now();
        let end = wait(&mut command, Duration::from_millis(200), &mut || true).unwrap();
        assert!(matches!(end, End::Killed) && started.elapsed() < Duration::from_secs(10));
        sleep(Duration::from_millis(1_500));
        assert!(!mark.exists(), "its child lived on");
        let mut pulses = 0;
        let mut stop = || {
            pulses += 1;
            pulses < 3
        };
        let end = wait(Command::new("/bin/sleep").arg("60").process_group(0), Duration::MAX, &mut stop);
        assert!(matches!(end, Ok(End::Killed)));
    }
}
