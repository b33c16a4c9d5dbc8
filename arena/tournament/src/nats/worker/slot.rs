//! One thread that plays: a job, its match, its result, and only then the job's acknowledgement.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arena_canon::json;
use async_nats::jetstream;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::{AckKind, Acker, PublishMessage};
use futures_util::StreamExt;

use super::super::answer::{self, Carried, GUEST_INLINE_MAX, Head, RECORD_INLINE_MAX, Told};
use super::super::link::{PAUSE, Task, text};
use super::super::names::RunKey;
use super::super::shelf::NatsShelf;
use super::runs::Taken;
use super::{RosterMaker, Shared};
use crate::job::Job;
use crate::names::MatchId;
use crate::roster::Roster;
use crate::table::{self, Played};

/// How long a request for a job stands.
const PULL_EXPIRES: Duration = Duration::from_secs(1);
/// A job that took so many workers with it is told as a failure of the host.
const DELIVERIES_MAX: i64 = 5;
/// How long the stream of results may be away before the run counts as over.
const RUN_GONE_AFTER: Duration = Duration::from_secs(2);
/// Largest job.
const JOB_BYTES_MAX: usize = 64 << 10;

type Rosters = BTreeMap<RunKey, Box<dyn Roster>>;

/// Plays until the worker is over.
pub(super) fn work(shared: &Shared<'_>, roster: RosterMaker<'_>) {
    let mut rosters = Rosters::new();
    while !shared.is_over() {
        let runs = shared.runs();
        rosters.retain(|key, _| runs.iter().any(|run| run.key == *key));
        if runs.is_empty() {
            std::thread::sleep(PAUSE);
        }
        for run in runs.iter() {
            if shared.is_over() {
                return;
            }
            // Whoever takes part in several runs does not wait long for any of them.
            let expires = PULL_EXPIRES / u32::try_from(runs.len()).unwrap_or(u32::MAX);
            match shared.link.wait(pull(run, expires.max(PAUSE))) {
                Ok(None) => {}
                Ok(Some(message)) => serve(shared, run, message, &mut rosters, roster),
                // The server is away, or the run is over: who looks for runs will know.
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// A job, if there is one within that time.
async fn pull(run: &Taken, expires: Duration) -> Result<Option<jetstream::Message>, String> {
    let request = run.pull.batch().max_messages(1).expires(expires);
    let mut batch = request.messages().await.map_err(text)?;
    match tokio::time::timeout(expires + Duration::from_secs(1), batch.next()).await {
        Err(_) => Err("the server does not answer".to_owned()),
        Ok(None) => Ok(None),
        Ok(Some(message)) => message.map(Some).map_err(text),
    }
}

fn serve(
    shared: &Shared<'_>,
    run: &Taken,
    message: jetstream::Message,
    rosters: &mut Rosters,
    roster: RosterMaker<'_>,
) {
    let delivered = message.info().map_or(1, |info| info.delivered);
    let (message, acker) = message.split();
    let acker = Arc::new(acker);
    let Some(id) = run.key.id_of(&message.subject) else {
        shared.link.wait(acker.ack_with(AckKind::Term)).ok();
        return;
    };
    let stirring = stir(shared, run, &acker);
    let played = match read_job(run, id, &message.payload) {
        Err(why) => Err(format!("its job cannot be read: {why}")),
        Ok(_) if delivered > DELIVERIES_MAX => {
            Err(format!("worker_lost: {} workers were lost while they played it", delivered - 1))
        }
        Ok(job) => {
            let make = || roster(Box::new(NatsShelf::new(Arc::clone(&shared.link), run.objects.clone())));
            let roster = rosters.entry(run.key.clone()).or_insert_with(make);
            table::play(&job, roster.as_mut()).map_err(text)
        }
    };
    let counter = if played.is_ok() { &shared.matches } else { &shared.faults };
    let told = tell(shared, run, id, played);
    drop(stirring);
    // A result that is not told is told by whoever gets the job next.
    if told.is_ok_and(|told| told) {
        counter.fetch_add(1, Ordering::Relaxed);
        acknowledge(shared, &acker);
    }
}

/// The server's copy of the job goes. If it cannot be told so, the job comes again, and gives the same.
fn acknowledge(shared: &Shared<'_>, acker: &Acker) {
    for _ in 0..3 {
        if shared.link.wait(acker.double_ack()).is_ok() {
            return;
        }
    }
}

/// Keeps a long match: tells the server time and again that somebody is at it.
fn stir(shared: &Shared<'_>, run: &Taken, acker: &Arc<Acker>) -> Task {
    let (every, acker) = (run.ack_wait / 3, Arc::clone(acker));
    shared.link.spawn(async move {
        loop {
            tokio::time::sleep(every).await;
            acker.ack_with(AckKind::Progress).await.ok();
        }
    })
}

fn read_job(run: &Taken, id: MatchId, payload: &[u8]) -> Result<Job, String> {
    let job = json::read(payload, JOB_BYTES_MAX).map_err(text)?;
    let job: Job = serde_json::from_value(job).map_err(text)?;
    if job.frozen_sha256 != run.frozen_sha256 || job.matchup.id != id {
        return Err("it belongs elsewhere".to_owned());
    }
    Ok(job)
}

/// Tells what a job came to; `false` if there is nobody any more who wants to know.
fn tell(
    shared: &Shared<'_>,
    run: &Taken,
    id: MatchId,
    played: Result<Played, String>,
) -> Result<bool, String> {
    let (told, record, guest) = match played {
        Err(why) => (Told::Fault { why: answer::reason(&why) }, Vec::new(), Vec::new()),
        Ok(Played::Violation(violation)) => (Told::Violation { violation }, Vec::new(), Vec::new()),
        Ok(Played::Match { record, guest }) => {
            let (bytes, digest) = record.sealed();
            let max = shared.link.payload_max();
            let (record, bytes) = carry(shared, run, bytes, RECORD_INLINE_MAX.min(max / 2))?;
            let (guest, said) = match guest {
                None => (None, Vec::new()),
                Some(said) => {
                    let (guest, said) = carry(shared, run, said, GUEST_INLINE_MAX.min(max / 4))?;
                    (Some(guest), said)
                }
            };
            (Told::Match { digest, record, guest }, bytes, said)
        }
    };
    let head = Head { frozen_sha256: run.frozen_sha256, id, worker: shared.name.clone(), told };
    publish(shared, run, id, &answer::write(&head, &record, &guest))
}

/// Bytes that are too large for a message go into the store.
fn carry(
    shared: &Shared<'_>,
    run: &Taken,
    bytes: Vec<u8>,
    inline_max: usize,
) -> Result<(Carried, Vec<u8>), String> {
    let carried = Carried::of(&bytes, bytes.len() > inline_max);
    if !carried.stored {
        return Ok((carried, bytes));
    }
    let link = &shared.link;
    let name = carried.sha256.to_string();
    let stored =
        link.persist("storing a result", async || run.objects.put(&name, &link.nonce(), &bytes).await);
    stored.map_err(text)?;
    Ok((carried, Vec::new()))
}

/// Whether the server has the result now.
fn publish(shared: &Shared<'_>, run: &Taken, id: MatchId, message: &[u8]) -> Result<bool, String> {
    let link = &shared.link;
    let (subject, name) = (run.key.result_subject(id), link.nonce());
    let mut gone_since = None;
    let sent = link.persist("telling a result", async || {
        let message = PublishMessage::build().message_id(&name).payload(message.to_vec().into());
        let sent = match link.jetstream().send_publish(subject.clone(), message).await {
            Ok(sent) => sent.await,
            Err(why) => Err(why),
        };
        match sent {
            Ok(_) => Ok(true),
            Err(why) if why.kind() == PublishErrorKind::StreamNotFound => {
                let since: Instant = *gone_since.get_or_insert_with(Instant::now);
                if since.elapsed() > RUN_GONE_AFTER { Ok(false) } else { Err(text(why)) }
            }
            Err(why) => {
                gone_since = None;
                Err(text(why))
            }
        }
    });
    sent.map_err(text)
}
