use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use super::WorkerCommand;
use super::worker::Reply;
use crate::fault::RunFault;
use crate::frames;
use crate::job::Job;

/// A worker process with a thread that listens to it.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    /// Jobs that it was given, as frames.
    outgoing: Vec<u8>,
    listener: Option<JoinHandle<()>>,
}

/// What a worker process told at once.
pub(super) struct Told {
    pub(super) generation: u64,
    pub(super) replies: Vec<Reply>,
    /// Whether it tells nothing any more.
    pub(super) ended: bool,
}

/// Replies are read in pieces of this size.
const REPLIES_BYTES: usize = 64 << 10;

impl Process {
    pub(super) fn start(
        command: &WorkerCommand,
        generation: u64,
        tell: Sender<Told>,
    ) -> Result<Self, RunFault> {
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ours: nothing is read from it, so nothing can fill a pipe.
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(RunFault::io("start worker", &command.program))?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let listener = std::thread::spawn(move || {
            let Some(output) = output else { return };
            let mut output = BufReader::with_capacity(REPLIES_BYTES, output);
            loop {
                let (replies, ended) = listen(&mut output);
                if tell.send(Told { generation, replies, ended }).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { child, input, outgoing: Vec::new(), listener: Some(listener) })
    }

    /// Takes a job that goes out with the next [`Process::send`].
    pub(super) fn give(&mut self, job: &Job) {
        if frames::append(&mut self.outgoing, job).is_err() {
            self.input = None;
        }
    }

    /// Sends the jobs that it was given. A pipe that is closed is told by the listener, which also knows
    /// what was answered before.
    pub(super) fn send(&mut self) {
        if self.outgoing.is_empty() {
            return;
        }
        let sent = self.input.as_mut().is_some_and(|input| input.write_all(&self.outgoing).is_ok());
        if !sent {
            self.input = None;
        }
        self.outgoing.clear();
    }

    /// Ends it, whatever it is at. That it has ended is certain only once it is waited for.
    pub(super) fn kill(&mut self) {
        self.input = None;
        // It may be gone already; then there is only its end to take note of.
        self.child.kill().ok();
    }

    /// Waits until it has ended, which something else must have seen to.
    pub(super) fn wait(&mut self) {
        self.child.wait().ok();
        if let Some(listener) = self.listener.take() {
            listener.join().ok();
        }
    }
}

/// The next reply and those that came with it, and whether there will be no more.
fn listen(output: &mut BufReader<ChildStdout>) -> (Vec<Reply>, bool) {
    let mut replies = Vec::new();
    loop {
        match frames::read(output) {
            Ok(Some(reply)) => replies.push(reply),
            _ => return (replies, true),
        }
        if output.buffer().is_empty() {
            return (replies, false);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        self.wait();
    }
}
