//! One worker process per core. A process shares nothing with another, so short matches scale with
//! cores, and a crash costs one match, which is played again.

mod process;
mod worker;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::executor::{Body, Done, Executor, Finished};
use crate::fault::RunFault;
use crate::job::Job;
use crate::names::MatchId;
use process::{Process, Told};

pub use worker::{Reply, serve};

/// Jobs that wait at a worker, so that it is never idle between two.
const QUEUE: usize = 4;
/// Processes that may be lost in a row without one answer.
const LOSSES_MAX: usize = 100;
/// A worker that says nothing for so long is lost: hundreds of times what the fuel of a match takes.
const SILENCE_MAX: Duration = Duration::from_secs(15 * 60);

/// How a worker process is started.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments; the folder of the run is added by whoever makes this.
    pub arguments: Vec<std::ffi::OsString>,
}

/// Plays jobs in worker processes.
pub struct Local {
    command: WorkerCommand,
    workers: Vec<Worker>,
    told: Receiver<Told>,
    tell: Sender<Told>,
    finished: VecDeque<Finished>,
    /// Distinguishes a process from the one it took the place of.
    generation: u64,
    /// Processes that were lost since one of them answered.
    losses: usize,
}

struct Worker {
    process: Process,
    generation: u64,
    /// Under way at it, in the order in which it plays them.
    jobs: VecDeque<Job>,
    heard: Instant,
}

impl Local {
    /// Starts `workers` processes.
    pub fn start(command: WorkerCommand, workers: usize) -> Result<Self, RunFault> {
        let (tell, told) = channel();
        let mut local = Self {
            command,
            workers: Vec::new(),
            told,
            tell,
            finished: VecDeque::new(),
            generation: 0,
            losses: 0,
        };
        for _ in 0..workers.max(1) {
            let worker = local.spawn()?;
            local.workers.push(worker);
        }
        Ok(local)
    }

    fn spawn(&mut self) -> Result<Worker, RunFault> {
        self.generation += 1;
        let process = Process::start(&self.command, self.generation, self.tell.clone())?;
        Ok(Worker { process, generation: self.generation, jobs: VecDeque::new(), heard: Instant::now() })
    }

    /// The process is gone. The job it was at may be what ended it, so that one is told as failed; those
    /// that waited behind it never began, and are given to its successor.
    fn lost(&mut self, index: usize, why: &str) -> Result<(), RunFault> {
        self.losses += 1;
        if self.losses > LOSSES_MAX {
            return Err(RunFault::Executor("worker processes end as soon as they start".to_owned()));
        }
        let successor = self.spawn()?;
        let mut lost = std::mem::replace(&mut self.workers[index], successor);
        lost.process.kill();
        if let Some(job) = lost.jobs.pop_front() {
            self.finished.push_back(Finished { id: job.matchup.id, result: Err(why.to_owned()) });
        }
        for job in lost.jobs {
            self.give(index, job)?;
        }
        Ok(())
    }

    fn give(&mut self, index: usize, job: Job) -> Result<(), RunFault> {
        let worker = &mut self.workers[index];
        if worker.jobs.is_empty() {
            worker.heard = Instant::now();
        }
        // A pipe that is closed is told by its reader, too, which also knows what was under way.
        worker.process.send(&job);
        worker.jobs.push_back(job);
        Ok(())
    }

    fn hear(&mut self, told: Told) -> Result<(), RunFault> {
        let generation = told.generation;
        let Some(index) = self.workers.iter().position(|worker| worker.generation == generation) else {
            return Ok(());
        };
        let worker = &mut self.workers[index];
        worker.heard = Instant::now();
        let Ok(reply) = told.reply else {
            return self.lost(index, "worker_lost: its worker process ended");
        };
        let Some(job) = worker.jobs.pop_front_if(|job| job.matchup.id == reply.id()) else {
            return self.lost(index, "worker_lost: its worker process answered what nobody asked");
        };
        self.losses = 0;
        self.finished.push_back(finished(job.matchup.id, reply));
        Ok(())
    }

    fn find_silent(&mut self) -> Result<(), RunFault> {
        let silent = |worker: &Worker| !worker.jobs.is_empty() && worker.heard.elapsed() > SILENCE_MAX;
        while let Some(index) = self.workers.iter().position(silent) {
            self.lost(index, "worker_lost: its worker process said nothing for 15 minutes")?;
        }
        Ok(())
    }
}

fn finished(id: MatchId, reply: Reply) -> Finished {
    let result = match reply {
        Reply::Match { digest, used, .. } => Ok(Done::Match { digest, used, body: Body::Staged }),
        Reply::Violation { violation, .. } => Ok(Done::Violation(violation)),
        Reply::Fault { why, .. } => Err(arena_engine::Excerpt { text: &why, max: 400 }.to_string()),
    };
    Finished { id, result }
}

impl Executor for Local {
    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn window(&self) -> usize {
        QUEUE * self.workers.len()
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        let shortest = (0..self.workers.len()).min_by_key(|index| self.workers[*index].jobs.len());
        self.give(shortest.unwrap_or_default(), job.clone())
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        if self.finished.is_empty() {
            match self.told.recv_timeout(within) {
                Ok(told) => self.hear(told)?,
                Err(RecvTimeoutError::Timeout) => self.find_silent()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RunFault::Executor("no worker is left".to_owned()));
                }
            }
        }
        Ok(self.finished.pop_front())
    }

    fn stop(&mut self) {
        for worker in &mut self.workers {
            worker.process.kill();
            worker.jobs.clear();
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The arguments of a worker process that stages its records in `root`.
pub fn worker_arguments(root: &Path) -> Vec<std::ffi::OsString> {
    vec!["worker".into(), "local".into(), "--folder".into(), root.into()]
}
