use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
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
    listener: Option<JoinHandle<()>>,
}

/// What a worker process told, or that it tells nothing any more.
pub(super) struct Told {
    pub(super) generation: u64,
    pub(super) reply: Result<Reply, ()>,
}

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
            let mut output = BufReader::new(output);
            loop {
                let reply = frames::read::<Reply>(&mut output).ok().flatten().ok_or(());
                let ended = reply.is_err();
                if tell.send(Told { generation, reply }).is_err() || ended {
                    return;
                }
            }
        });
        Ok(Self { child, input, listener: Some(listener) })
    }

    /// Gives it a job. One that cannot be given is told by the listener as lost.
    pub(super) fn send(&mut self, job: &Job) {
        let failed = self
            .input
            .as_mut()
            .is_none_or(|input| frames::write(input, job).and_then(|()| input.flush()).is_err());
        if failed {
            self.input = None;
        }
    }

    /// Ends it, whatever it is at.
    pub(super) fn kill(&mut self) {
        self.input = None;
        // It may be gone already; then there is only its end to take note of.
        self.child.kill().ok();
        self.child.wait().ok();
        if let Some(listener) = self.listener.take() {
            listener.join().ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
