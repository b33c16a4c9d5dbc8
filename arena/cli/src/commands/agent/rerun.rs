//! Running a claim in a process of its own: whatever it does there, the program goes on, and what it owes is on disk.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::manifest::{MANIFEST_BYTES_MAX, Manifest};
use arena_claims::record::RECORD_BYTES_MAX;

use super::Stop;
use super::http::Trouble;
use super::leave::Leave;
use crate::commands::claim;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

const DOING: &str = "run the claim";
/// Beyond the manifest's own time: to start, to compile, to write the results down.
const GRACE_S: u64 = 120;
const STEP: Duration = Duration::from_millis(20);

/// Run one claim that a program takes part in
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  arena rerun --folder work --job 00000000000000000000000000000000000000000000000000000000000000aa"
)]
pub(crate) struct Args {
    /// The folder with what the claim pins
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,

    /// The claim's job; its manifest comes on standard input
    #[arg(long, value_name = "SHA256")]
    job: Digest,
}

/// The child's part: the manifest comes in, the results go out.
pub(crate) fn run(args: &Args, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let bytes = files::read_stream(io.input(), MANIFEST_BYTES_MAX as u64)
        .map_err(|why| Failure::usage("read the manifest", why))?;
    let manifest = Manifest::parse(&bytes).map_err(|why| Failure::usage("read the manifest", why))?;
    limit(&manifest);
    let results = claim::rerun_here(&args.folder, &manifest, args.job, io)?;
    io.print_json(&results);
    Ok(Exit::Success)
}

/// What the sandbox does not limit is limited by the system: the processor's time, and dumps of memory. The child ends
/// with whoever started it.
#[cfg(target_os = "linux")]
fn limit(manifest: &Manifest) {
    use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
    set_parent_process_death_signal(Some(Signal::KILL)).ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let seconds = manifest.limits.wall_seconds.saturating_add(GRACE_S).saturating_mul(cores);
    for (resource, most) in [(Resource::Cpu, seconds), (Resource::Core, 0)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).ok();
    }
}

#[cfg(not(target_os = "linux"))]
fn limit(_: &Manifest) {}

/// The results of a run, for somebody who waits for nothing else and hears nothing of it.
pub(crate) fn rerun_apart(
    folder: &Path,
    manifest: &Manifest,
    job: Digest,
    io: &mut Io<'_>,
) -> Result<Value, Failure> {
    rerun_saying(folder, manifest, job, (&Leave::default(), Stdio::null()), io)
        .map_err(|stop| stop.ending(DOING))
}

/// The results of a run, for a record. What it pins is in the folder, under its digest.
pub(super) fn rerun(
    folder: &Path,
    manifest: &Manifest,
    job: Digest,
    leave: &Leave,
    io: &mut Io<'_>,
) -> Result<Value, Stop> {
    rerun_saying(folder, manifest, job, (leave, Stdio::inherit()), io)
}

fn rerun_saying(
    folder: &Path,
    manifest: &Manifest,
    job: Digest,
    (leave, says): (&Leave, Stdio),
    io: &mut Io<'_>,
) -> Result<Value, Stop> {
    let Some(program) = io.env().program.clone() else {
        return Ok(claim::rerun_here(folder, manifest, job, io)?);
    };
    let mut command = Command::new(program);
    command.args(["rerun", "--folder"]).arg(folder).arg("--job").arg(job.to_string());
    if let Some(cache) = &io.env().cache {
        command.env("ARENA_CACHE", cache);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(says);
    let failed = |why: &std::io::Error| Failure::internal(DOING, files::plain(why));
    let child = command.spawn().map_err(|why| failed(&why))?;
    let most = Duration::from_secs(manifest.limits.wall_seconds.saturating_add(GRACE_S));
    let bytes = finished(child, &json::canonical(manifest.value()), most, leave)?;
    json::read(&bytes, bytes.len()).map_err(|why| Failure::internal(DOING, why).into())
}

/// What a child says, if it ends well in its time.
fn finished(mut child: Child, given: &[u8], most: Duration, leave: &Leave) -> Result<Vec<u8>, Stop> {
    let out = child.stdout.take();
    let reads = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.map(|out| out.take(RECORD_BYTES_MAX as u64).read_to_end(&mut bytes));
        bytes
    });
    // It reads everything before it does anything; a child that died does not.
    drop(child.stdin.take().map(|mut input| input.write_all(given)));
    let end = Instant::now() + most;
    let ended = loop {
        let is_late = Instant::now() >= end;
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if !is_late && !leave.is_said() => std::thread::sleep(STEP),
            _ => {
                child.kill().ok();
                child.wait().ok();
                break None;
            }
        }
    };
    let bytes = reads.join().unwrap_or_default();
    match ended {
        Some(status) if status.success() => Ok(bytes),
        _ if leave.is_said() => Err(Trouble::Left.into()),
        None => Err(Failure::new(Exit::Stalled, DOING, "it does not end in its time").into()),
        Some(status) => {
            Err(Failure::new(Exit::Stalled, DOING, format_args!("its process ended with {status}")).into())
        }
    }
}
