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

/// Fewest jobs that are under way at a worker, so that it is never idle between two.
const QUEUE_MIN: usize = 4;
/// Most of them: those of short matches go out and come back in bunches, so that few wake anybody.
const QUEUE_MAX: usize = 64;
/// The time that the jobs of a worker should take.
const QUEUE_TIME: Duration = Duration::from_millis(20);
/// How many times the window a job may be ahead of the first that has not counted: so that a long match does not
/// hold up the other workers.
const AHEAD: usize = 4;
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
    /// Jobs that no worker has.
    waiting: VecDeque<Job>,
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
    /// Its own, in the order in which it plays them.
    jobs: VecDeque<Job>,
    /// How many of them it was given.
    given: usize,
    /// How many it is given one at a time, because one of them may be what ended its predecessor.
    suspects: usize,
    heard: Instant,
    /// What a match took of late, as far as the host's clock can tell. It sizes queues and nothing else.
    pace: Duration,
}

impl Worker {
    /// Jobs that it should have.
    fn queue(&self) -> usize {
        let in_time = QUEUE_TIME.as_nanos() / self.pace.as_nanos().max(1);
        usize::try_from(in_time).unwrap_or(QUEUE_MAX).clamp(QUEUE_MIN, QUEUE_MAX)
    }

    /// How long its jobs will take it.
    fn load(&self) -> u128 {
        self.pace.as_nanos() * self.jobs.len() as u128
    }
}

impl Local {
    /// Starts `workers` processes. They live no longer than the thread that starts them: a worker's parent is that
    /// thread, and its death is how a worker knows that its coordinator was killed.
    pub fn start(command: WorkerCommand, workers: usize) -> Result<Self, RunFault> {
        let (tell, told) = channel();
        let mut local = Self {
            command,
            workers: Vec::new(),
            waiting: VecDeque::new(),
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
        Ok(Worker {
            process,
            generation: self.generation,
            jobs: VecDeque::new(),
            given: 0,
            suspects: 0,
            heard: Instant::now(),
            // Until it is known, a worker is given no more than it needs to be at work.
            pace: QUEUE_TIME,
        })
    }

    /// The process is gone. If it was at one job, that may be what ended it, and is told as failed. If it
    /// had several, nobody knows which, and none is blamed: its successor gets them one at a time.
    fn lost(&mut self, index: usize, why: &str) -> Result<(), RunFault> {
        self.losses += 1;
        if self.losses > LOSSES_MAX {
            return Err(RunFault::Executor("worker processes end as soon as they start".to_owned()));
        }
        let successor = self.spawn()?;
        let mut lost = std::mem::replace(&mut self.workers[index], successor);
        lost.process.kill();
        lost.process.wait();
        let worker = &mut self.workers[index];
        worker.suspects = lost.suspects;
        if lost.given > 1 {
            worker.suspects = lost.given;
        } else if lost.given == 1
            && let Some(job) = lost.jobs.pop_front()
        {
            self.finished.push_back(Finished { id: job.matchup.id, result: Err(why.to_owned()) });
        }
        worker.jobs = lost.jobs;
        Ok(())
    }

    /// Gives each job that waits to the worker that will be at it first.
    fn share(&mut self) {
        while !self.waiting.is_empty() {
            let wants = self.workers.iter_mut().filter(|worker| worker.jobs.len() < worker.queue());
            let Some(worker) = wants.min_by_key(|worker| worker.load()) else { return };
            worker.jobs.extend(self.waiting.pop_front());
        }
    }

    /// Sends every worker what it may be given.
    fn send(&mut self) {
        self.share();
        for worker in &mut self.workers {
            if worker.given == 0 {
                worker.heard = Instant::now();
            }
            let most = if worker.suspects > 0 { 1 } else { worker.jobs.len() };
            while worker.given < most.min(worker.jobs.len()) {
                worker.process.give(&worker.jobs[worker.given]);
                worker.given += 1;
            }
            worker.process.send();
        }
    }

    fn hear(&mut self, told: Told) -> Result<(), RunFault> {
        let Some(index) = self.workers.iter().position(|worker| worker.generation == told.generation) else {
            return Ok(());
        };
        let worker = &mut self.workers[index];
        let since = std::mem::replace(&mut worker.heard, Instant::now());
        if let Ok(count @ 1..) = u32::try_from(told.replies.len()) {
            worker.pace = (worker.pace + since.elapsed() / count) / 2;
        }
        for reply in told.replies {
            let worker = &mut self.workers[index];
            let (given, id) = (worker.given > 0, reply.id());
            let Some(job) = worker.jobs.pop_front_if(|job| given && job.matchup.id == id) else {
                return self.lost(index, "worker_lost: its worker process answered what nobody asked");
            };
            worker.given -= 1;
            worker.suspects = worker.suspects.saturating_sub(1);
            self.losses = 0;
            self.finished.push_back(finished(job.matchup.id, reply));
        }
        if told.ended { self.lost(index, "worker_lost: its worker process ended") } else { Ok(()) }
    }

    fn find_silent(&mut self) -> Result<(), RunFault> {
        let silent = |worker: &Worker| worker.given > 0 && worker.heard.elapsed() > SILENCE_MAX;
        while let Some(index) = self.workers.iter().position(silent) {
            self.lost(index, "worker_lost: its worker process said nothing for 15 minutes")?;
        }
        Ok(())
    }
}

fn finished(id: MatchId, reply: Reply) -> Finished {
    let result = match reply {
        Reply::Match { digest, used, guest, .. } => {
            Ok(Done::Match { digest, used, body: Body::Staged { guest } })
        }
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
        self.workers.iter().map(Worker::queue).sum()
    }

    fn ahead(&self) -> usize {
        AHEAD * self.window()
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.waiting.push_back(job.clone());
        Ok(())
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        if self.finished.is_empty() {
            self.send();
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
        self.waiting.clear();
        for worker in &mut self.workers {
            worker.process.kill();
            worker.jobs.clear();
        }
        // Who had no job wrote nothing after its last reply: nobody needs to wait for its end.
        for worker in &mut self.workers {
            if std::mem::take(&mut worker.given) > 0 {
                worker.process.wait();
            }
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
