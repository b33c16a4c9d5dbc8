//! Where the request log goes: a file that only its owner reads, or standard output.
//!
//! Lines are written on a thread of their own, so that a slow disk delays no answer. If too many wait, further ones
//! are left out and counted: the log is for the operator, and no answer depends on it.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use arena_server::Log;

use crate::failure::Failure;
use crate::files;

/// Lines that may wait.
const WAITING_MAX: usize = 8_192;

enum Job {
    Line(String),
    End,
}

/// The log while it is open.
pub(super) struct RequestLog {
    sender: SyncSender<Job>,
    left_out: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl RequestLog {
    /// Opens the file, at its end, or standard output for `-`.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let doing = || format!("write the request log `{}`", files::shown(path));
        let out: Box<dyn Write + Send> = if path == Path::new("-") {
            Box::new(std::io::stdout())
        } else {
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt as _;
                options.mode(0o600);
            }
            Box::new(options.open(path).map_err(|why| Failure::usage(doing(), files::plain(&why)))?)
        };
        let (sender, jobs) = sync_channel(WAITING_MAX);
        let thread = thread::Builder::new()
            .name("request-log".to_owned())
            .spawn(move || write(out, &jobs))
            .map_err(|why| Failure::internal(doing(), files::plain(&why)))?;
        Ok(Self { sender, left_out: Arc::default(), thread })
    }

    /// What the server is given.
    pub(super) fn sink(&self) -> Log {
        let (sender, left_out) = (self.sender.clone(), Arc::clone(&self.left_out));
        Box::new(move |line| {
            if sender.try_send(Job::Line(line.to_owned())).is_err() {
                left_out.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Writes what waits; tells how many lines were left out.
    pub(super) fn end(self) -> u64 {
        let _ = self.sender.send(Job::End);
        let _ = self.thread.join();
        self.left_out.load(Ordering::Relaxed)
    }
}

/// Until the end, or until nobody can send a line any more. A line that cannot be written is lost; the next one may
/// find room.
fn write(out: Box<dyn Write + Send>, jobs: &Receiver<Job>) {
    let mut out = BufWriter::new(out);
    loop {
        let job = match jobs.try_recv() {
            Ok(job) => job,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                let _ = out.flush();
                match jobs.recv() {
                    Ok(job) => job,
                    Err(_) => break,
                }
            }
        };
        match job {
            Job::Line(line) => {
                let _ = writeln!(out, "{line}");
            }
            Job::End => break,
        }
    }
    let _ = out.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_there_in_order_when_it_ends_and_a_second_run_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.log");
        for run in 0..2 {
            let log = RequestLog::open(&path).unwrap();
            let sink = log.sink();
            (0..100).for_each(|n| sink(&format!("{run} {n}")));
            assert_eq!(log.end(), 0);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<String> = (0..2).flat_map(|run| (0..100).map(move |n| format!("{run} {n}"))).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }
}
