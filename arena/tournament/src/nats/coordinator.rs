//! The side that gives out jobs, believes nothing that comes back, and acknowledges what lasts.

mod judge;
mod session;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arena_engine::Excerpt;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::{AckKind, Acker, PublishMessage};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use futures_util::future::BoxFuture;

use super::address::NatsAddress;
use super::answer::{self, Told};
use super::link::{Link, text};
use super::names::RunKey;
use crate::executor::{Executor, Finished};
use crate::fault::RunFault;
use crate::frozen::Frozen;
use crate::job::Job;
use crate::names::MatchId;
use crate::roster::{Roster, Shelf};
use judge::Verdict;
pub(super) use session::RunObject;
use session::{Arrival, Session};

/// Most complaints that are told one by one.
const COMPLAINTS_MAX: usize = 100;
/// Before a result is looked at again that came while nobody waited for it.
const LATER: Duration = Duration::from_millis(500);
/// Jobs whose whereabouts are asked for in one go.
const AUDIT_MAX: usize = 16;
/// Longest time that leaving may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// How a coordinator works with a server.
#[derive(Debug, Clone)]
pub struct NatsOptions {
    /// Where it is.
    pub server: NatsAddress,
    /// Jobs that may be under way at once: about four for each worker.
    pub window: usize,
    /// A worker that does not stir for so long is lost, and its job is given to another.
    pub ack_wait: Duration,
    /// How long the server may be away before the run is given up.
    pub patience: Duration,
}

impl NatsOptions {
    /// What suits most.
    pub fn new(server: NatsAddress) -> Self {
        Self { server, window: 64, ack_wait: Duration::from_secs(30), patience: Duration::from_secs(60) }
    }
}

/// Plays jobs by workers that a NATS server knows.
///
/// A run has its streams and its store on the server for as long as it is played. When it stops, they
/// are removed; what a crash left of them is removed when the run is taken up again, and what was not
/// committed is then played again.
pub struct Nats {
    link: Arc<Link>,
    session: Session,
    roster: Box<dyn Roster>,
    options: NatsOptions,
    jobs: BTreeMap<MatchId, Entry>,
    sending: Vec<Sending>,
    finished: VecDeque<Finished>,
    complaints: Vec<String>,
    more_complaints: usize,
    /// Attempts so far, so that no two messages have the same name.
    attempts: u64,
    kept_up: Instant,
    stopped: bool,
}

/// A job that is on its way to the server. The server knows it by its name: sent twice, it is one.
struct Sending {
    subject: String,
    name: String,
    payload: Vec<u8>,
    stored: BoxFuture<'static, Result<(), String>>,
}

/// A job that was given out, and what is known of it.
struct Entry {
    job: Job,
    /// Since when nothing was known of its whereabouts.
    since: Instant,
    /// Whether somebody waits for it.
    under_way: bool,
    /// What it came to, and who told it; nobody once it was played here.
    verdict: Option<(Verdict, Option<String>)>,
    /// Results that are acknowledged once they last, by their place in the stream.
    held: BTreeMap<u64, Arc<Acker>>,
    /// Objects that are not needed any more then.
    objects: Vec<String>,
    committed: bool,
}

impl Nats {
    /// Sets up the run `frozen` on a server. Components and packs come from `shelf`; with `roster` a
    /// matchup is played here where workers contradict each other.
    pub fn start(
        options: NatsOptions,
        frozen: &Frozen,
        shelf: &mut dyn Shelf,
        roster: Box<dyn Roster>,
    ) -> Result<Self, RunFault> {
        let key = RunKey::of(frozen.digest());
        let link = Arc::new(Link::open(&options.server, &format!("arena run {key}"), options.patience)?);
        let session = Session::start(&link, key, frozen, shelf, options.ack_wait)?;
        Ok(Self {
            link,
            session,
            roster,
            options,
            jobs: BTreeMap::new(),
            sending: Vec::new(),
            finished: VecDeque::new(),
            complaints: Vec::new(),
            more_complaints: 0,
            attempts: 0,
            kept_up: Instant::now(),
            stopped: false,
        })
    }

    /// What the run is called on the server.
    pub fn run(&self) -> &RunKey {
        &self.session.key
    }

    fn complain(&mut self, complaint: String) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(complaint);
        } else {
            self.more_complaints += 1;
        }
    }

    /// Waits until the server has every job; what it did not take is sent again.
    fn make_sure(&mut self) -> Result<(), RunFault> {
        for sending in std::mem::take(&mut self.sending) {
            let Sending { subject, name, payload, stored } = sending;
            if self.link.wait(stored).is_ok() {
                continue;
            }
            self.link.persist("giving out a job", async || {
                let jetstream = self.link.jetstream().clone();
                publish(jetstream, subject.clone(), name.clone(), payload.clone()).await
            })?;
        }
        Ok(())
    }

    /// One result. What may be a lie is checked before anything is made of it.
    fn hear(&mut self, arrival: &Arrival) -> Result<(), RunFault> {
        let key = &self.session.key;
        let Some(id) = key.id_of(&arrival.subject).filter(|id| self.jobs.contains_key(id)) else {
            // Of an earlier session, or junk. Whatever is wanted is given out in this one.
            self.acknowledge(&arrival.acker);
            return Ok(());
        };
        let answer = match answer::read(&arrival.payload) {
            Ok(answer) => answer,
            Err(why) => {
                self.complain(format!("a result for {id} cannot be read: {why}"));
                self.acknowledge(&arrival.acker);
                self.host_failed(id, format!("its result cannot be read: {why}"));
                return Ok(());
            }
        };
        let head = &answer.head;
        if let Told::Fault { why } = &head.told {
            self.acknowledge(&arrival.acker);
            self.host_failed(id, format!("{}: {why}", head.worker));
            return Ok(());
        }
        let entry = &self.jobs[&id];
        if entry.verdict.is_none() && !entry.under_way {
            // It failed a moment ago, and is about to be given out again.
            self.postpone(&arrival.acker);
            return Ok(());
        }
        let read = judge::read(&self.link, &self.session.objects, &entry.job, &answer, self.roster.as_mut());
        let worker = head.worker.clone();
        match read {
            Ok(told) => self.weigh(id, told, worker, arrival),
            Err(why) => {
                self.complain(format!("worker `{worker}` told of {id} what does not hold: {why}"));
                self.acknowledge(&arrival.acker);
                self.host_failed(id, format!("worker `{worker}` told what does not hold: {why}"));
                Ok(())
            }
        }
    }

    /// A result that holds by itself: the first is taken, another like it is nothing new, and one that
    /// contradicts it is settled here.
    fn weigh(
        &mut self,
        id: MatchId,
        told: judge::Read,
        worker: String,
        arrival: &Arrival,
    ) -> Result<(), RunFault> {
        let Some(entry) = self.jobs.get_mut(&id) else { return Ok(()) };
        let verdict = Verdict::of(&told.done);
        let known = entry.verdict.as_ref().map(|(known, _)| known);
        // A violation ends the run, so one worker's word is not enough for it.
        let first_word = known.is_none() && !matches!(verdict, Verdict::Violation(_));
        if first_word {
            entry.verdict = Some((verdict, Some(worker)));
            entry.under_way = false;
            self.finished.push_back(Finished { id, result: Ok(told.done) });
        } else if known != Some(&verdict) {
            if let Some((_, None)) = &entry.verdict {
                self.complain(lie(&worker, id));
                self.acknowledge(&arrival.acker);
                return Ok(());
            }
            return self.settle(id, &verdict, &worker, arrival);
        }
        let Some(entry) = self.jobs.get_mut(&id) else { return Ok(()) };
        entry.objects.extend(told.objects);
        if entry.committed {
            self.acknowledge(&arrival.acker);
            self.forget_objects(id);
        } else {
            entry.held.insert(arrival.sequence, Arc::clone(&arrival.acker));
        }
        Ok(())
    }

    /// Plays the matchup here, and says who told something else.
    fn settle(
        &mut self,
        id: MatchId,
        verdict: &Verdict,
        worker: &str,
        arrival: &Arrival,
    ) -> Result<(), RunFault> {
        let Some(entry) = self.jobs.get_mut(&id) else { return Ok(()) };
        let played = judge::play(&entry.job, self.roster.as_mut()).map_err(|why| {
            let why = format!("what worker `{worker}` told of {id} cannot be settled here: {why}");
            RunFault::Executor(why)
        })?;
        let truth = Verdict::of(&played);
        let before = entry.verdict.replace((truth.clone(), None));
        let held = std::mem::take(&mut entry.held);
        let was_waited_for = std::mem::take(&mut entry.under_way);
        if *verdict != truth {
            self.complain(lie(worker, id));
        }
        // Whoever was believed first may have told what is now known to be false. Then what was told
        // on is told again, and it is for the run to say whether that comes in time.
        let mut told_on = false;
        if let Some((believed, by)) = before {
            told_on = believed == truth;
            if !told_on && let Some(liar) = by {
                self.complain(lie(&liar, id));
            }
        }
        if was_waited_for || !told_on {
            self.finished.push_back(Finished { id, result: Ok(played) });
        }
        // What was played here is here; no message is needed for it any more.
        held.values().chain([&arrival.acker]).for_each(|acker| self.acknowledge(acker));
        Ok(())
    }

    /// The host could not play a job, or a worker did not tell the truth about it.
    fn host_failed(&mut self, id: MatchId, why: String) {
        let Some(entry) = self.jobs.get_mut(&id) else { return };
        if entry.verdict.is_none() && std::mem::take(&mut entry.under_way) {
            let why = Excerpt { text: &why, max: 400 }.to_string();
            self.finished.push_back(Finished { id, result: Err(why) });
        }
    }

    /// What cannot be acknowledged comes again, and is known by then.
    fn acknowledge(&self, acker: &Acker) {
        self.link.wait(acker.ack()).ok();
    }

    fn postpone(&self, acker: &Acker) {
        self.link.wait(acker.ack_with(AckKind::Nak(Some(LATER)))).ok();
    }

    /// What is to be done from time to time.
    fn keep_up(&mut self) -> Result<(), RunFault> {
        if self.kept_up.elapsed() < self.options.ack_wait / 3 {
            return Ok(());
        }
        self.kept_up = Instant::now();
        // Results that do not last yet are not forgotten: the server need not deliver them again.
        for acker in self.jobs.values().flat_map(|entry| entry.held.values()) {
            self.link.wait(acker.ack_with(AckKind::Progress)).ok();
        }
        self.audit()
    }

    /// A job is in the stream of jobs until its result is in the other. One that is in neither was
    /// acknowledged by somebody who told nothing, or the server lost it.
    fn audit(&mut self) -> Result<(), RunFault> {
        let old = self.options.ack_wait * 2;
        let overdue = |entry: &Entry| entry.under_way && entry.since.elapsed() > old;
        let ids: Vec<MatchId> =
            self.jobs.iter().filter(|(_, entry)| overdue(entry)).map(|(id, _)| *id).take(AUDIT_MAX).collect();
        for id in ids {
            let there = self.is_somewhere(id)?;
            if let Some(entry) = self.jobs.get_mut(&id) {
                entry.since = Instant::now();
            }
            if !there {
                self.host_failed(id, "worker_lost: its job is gone, and no result came".to_owned());
            }
        }
        Ok(())
    }

    fn is_somewhere(&self, id: MatchId) -> Result<bool, RunFault> {
        let key = &self.session.key;
        let places =
            [(key.work_stream(), key.work_subject(id)), (key.results_stream(), key.result_subject(id))];
        for (stream, subject) in &places {
            let found = self.link.persist("looking for a job", async || {
                let stream = self.link.jetstream().get_stream_no_info(stream).await.map_err(text)?;
                match stream.get_last_raw_message_by_subject(subject).await {
                    Ok(_) => Ok(true),
                    Err(why) if why.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(false),
                    Err(why) => Err(text(why)),
                }
            })?;
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the objects of a record that lasts; one that stays goes with the run.
    fn forget_objects(&mut self, id: MatchId) {
        let Some(entry) = self.jobs.get_mut(&id) else { return };
        for name in std::mem::take(&mut entry.objects) {
            let removed = self.session.objects.delete(&name);
            self.link.wait(async { tokio::time::timeout(FAREWELL, removed).await }).ok();
        }
    }
}

async fn publish(jetstream: Context, subject: String, name: String, payload: Vec<u8>) -> Result<(), String> {
    let message = PublishMessage::build().message_id(&name).payload(payload.into());
    let sent = jetstream.send_publish(subject, message).await.map_err(text)?;
    sent.await.map(drop).map_err(text)
}

fn lie(worker: &str, id: MatchId) -> String {
    format!("worker `{worker}` told of {id} what is not what is played here")
}

impl Executor for Nats {
    fn window(&self) -> usize {
        self.options.window.max(1)
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        let id = job.matchup.id;
        self.attempts += 1;
        let name = format!("{}.{}", self.session.nonce, self.attempts);
        let subject = self.session.key.work_subject(id);
        let payload = arena_canon::json::canonical_of(job);
        let stored = publish(self.link.jetstream().clone(), subject.clone(), name.clone(), payload.clone());
        let stored = self.link.begin(stored);
        self.sending.push(Sending { subject, name, payload, stored });
        let entry = self.jobs.entry(id).or_insert_with(|| Entry {
            job: job.clone(),
            since: Instant::now(),
            under_way: true,
            verdict: None,
            held: BTreeMap::new(),
            objects: Vec::new(),
            committed: false,
        });
        entry.since = Instant::now();
        entry.under_way = true;
        Ok(())
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        let until = Instant::now() + within;
        self.make_sure()?;
        loop {
            if let Some(finished) = self.finished.pop_front() {
                return Ok(Some(finished));
            }
            self.keep_up()?;
            let left = until.saturating_duration_since(Instant::now());
            match self.session.receive(&self.link, left)? {
                Some(arrival) => self.hear(&arrival)?,
                None => return Ok(None),
            }
        }
    }

    fn committed(&mut self, ids: &[MatchId]) -> Result<(), RunFault> {
        for id in ids {
            let Some(entry) = self.jobs.get_mut(id) else { continue };
            entry.committed = true;
            let held = std::mem::take(&mut entry.held);
            for acker in held.values() {
                self.acknowledge(acker);
            }
            self.forget_objects(*id);
        }
        Ok(())
    }

    fn stop(&mut self) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        if let Err(why) = self.session.end(&self.link, FAREWELL.min(self.options.patience)) {
            self.complain(format!("what run {} left on the server is still there: {why}", self.session.key));
        }
    }

    fn complaints(&mut self) -> Vec<String> {
        let mut complaints = std::mem::take(&mut self.complaints);
        if self.more_complaints > 0 {
            complaints.push(format!("{} more complaints of this kind", self.more_complaints));
        }
        complaints
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.stop();
    }
}
