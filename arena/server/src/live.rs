//! Live events: the journal, as it grows, over server-sent events and as lines of JSON.
//!
//! The wake-up carries a number only. What is sent comes from the journal, or from the last rows of it that are kept
//! in memory; so whoever lags loses nothing. Only durable rows have an `id`, and it is their place.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use arena_store::{Event, Journal, Shown, line};
use axum::body::{Body, Bytes};
use futures_util::stream::{self, Stream};
use tokio::sync::watch;

/// Rows that are kept in memory.
const RECENT_MAX: usize = 8_192;
/// Bytes of them.
const RECENT_BYTES_MAX: usize = 32 << 20;
/// Rows that are read from the journal at once.
const PAGE: usize = 256;
/// After this much silence a stream says that it is alive.
const HEARTBEAT_SSE: Duration = Duration::from_secs(15);
const HEARTBEAT_LINES: Duration = Duration::from_secs(7);

/// How rows are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`.
    Sse,
    /// `application/x-ndjson`.
    Lines,
}

impl Framing {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }

    const fn heartbeat(self) -> (Duration, &'static [u8]) {
        match self {
            Self::Sse => (HEARTBEAT_SSE, b": alive\n\n"),
            Self::Lines => (HEARTBEAT_LINES, b"\n"),
        }
    }
}

/// A row as everybody may see it, in both framings.
struct Frame {
    seq: u64,
    topic: String,
    sse: Bytes,
    line: Bytes,
}

impl Frame {
    /// A sealed row shows its place and its hash, so that the chain can be followed, and nothing else.
    fn of(event: &Event) -> Self {
        let text = line(event, Shown::Public);
        let kind = if event.is_sealed() { "sealed" } else { &event.kind };
        let mut sse = format!("id: {}\nevent: {kind}\ndata: ", event.seq).into_bytes();
        sse.extend_from_slice(&text);
        sse.extend_from_slice(b"\n\n");
        let topic = if event.is_sealed() { String::new() } else { event.topic.clone() };
        Self { seq: event.seq, topic, sse: sse.into(), line: [text, b"\n".to_vec()].concat().into() }
    }

    fn bytes(&self, framing: Framing) -> Bytes {
        match framing {
            Framing::Sse => self.sse.clone(),
            Framing::Lines => self.line.clone(),
        }
    }
}

#[derive(Default)]
struct Recent {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
}

impl Recent {
    fn push(&mut self, frame: Frame) {
        if self.frames.back().is_some_and(|last| last.seq + 1 != frame.seq) {
            // There are no gaps here.
            (self.frames, self.bytes) = (VecDeque::new(), 0);
        }
        self.bytes += frame.sse.len() + frame.line.len();
        self.frames.push_back(Arc::new(frame));
        while self.frames.len() > RECENT_MAX || self.bytes > RECENT_BYTES_MAX {
            let Some(old) = self.frames.pop_front() else { break };
            self.bytes -= old.sse.len() + old.line.len();
        }
    }

    /// The frames after a place, if all of them are here.
    fn after(&self, seq: u64) -> Option<Vec<Arc<Frame>>> {
        let first = self.frames.front()?.seq;
        let from = usize::try_from((seq + 1).checked_sub(first)?).ok()?;
        Some(self.frames.iter().skip(from).take(PAGE).cloned().collect())
    }
}

/// The feed.
pub struct Live {
    journal: Journal,
    recent: RwLock<Recent>,
    head: watch::Sender<u64>,
    streams: Mutex<BTreeMap<String, usize>>,
}

/// A place among the open streams; it is free again when this is dropped.
pub(crate) struct Ticket {
    live: Arc<Live>,
    names: Vec<String>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut streams = self.live.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &self.names {
            match streams.get_mut(name) {
                Some(count) if *count > 1 => *count -= 1,
                _ => {
                    streams.remove(name);
                }
            }
        }
    }
}

impl Live {
    /// The feed of a journal, from its present end on.
    pub(crate) fn new(journal: Journal, head: u64) -> Self {
        let recent = RwLock::new(Recent::default());
        Self { journal, recent, head: watch::Sender::new(head), streams: Mutex::new(BTreeMap::new()) }
    }

    /// The place of the last row that everybody may know.
    pub(crate) fn head(&self) -> u64 {
        *self.head.borrow()
    }

    /// Takes in the rows of a commit, and wakes whoever follows. Rows that this was never told of are in the journal.
    pub(crate) fn advance(&self, events: &[Event]) {
        let frames: Vec<Frame> = events.iter().map(Frame::of).collect();
        let Some(last) = frames.last().map(|frame| frame.seq) else { return };
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        frames.into_iter().for_each(|frame| recent.push(frame));
        drop(recent);
        self.head.send_if_modified(|head| {
            let is_new = last > *head;
            *head = last.max(*head);
            is_new
        });
    }

    /// Opens a stream, if there are not too many under any of these names.
    pub(crate) fn open(self: &Arc<Self>, names: &[(String, usize)]) -> Option<Ticket> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |(name, most): &(String, usize)| streams.get(name).copied().unwrap_or(0) >= *most;
        if names.iter().any(is_full) {
            return None;
        }
        for (name, _) in names {
            *streams.entry(name.clone()).or_default() += 1;
        }
        let names = names.iter().map(|(name, _)| name.clone()).collect();
        Some(Ticket { live: Arc::clone(self), names })
    }

    /// How many streams are open.
    pub(crate) fn streams(&self, name: &str) -> usize {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.get(name).copied().unwrap_or(0)
    }

    /// The rows after `seq`, a page of them. Memory first; what is not there any more is in the journal.
    async fn after(self: &Arc<Self>, seq: u64) -> Option<Vec<Arc<Frame>>> {
        if let Some(frames) = self.recent.read().unwrap_or_else(PoisonError::into_inner).after(seq) {
            return Some(frames);
        }
        let live = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || live.journal.after(seq, PAGE)).await;
        let events = read.ok()?.ok()?;
        Some(events.iter().map(|event| Arc::new(Frame::of(event))).collect())
    }

    /// A body that follows the journal from after `since` on, of these topics only if any are named.
    pub(crate) fn follow(
        self: &Arc<Self>,
        ticket: Ticket,
        since: u64,
        topic: Option<String>,
        framing: Framing,
        ends: watch::Receiver<bool>,
    ) -> Body {
        let follower = Follower {
            // Subscribed before anything is read, so that nothing is missed in between.
            head: self.head.subscribe(),
            live: Arc::clone(self),
            _ticket: ticket,
            at: since,
            topic,
            framing,
            ends,
            first: true,
        };
        Body::from_stream(follower.stream())
    }
}

struct Follower {
    live: Arc<Live>,
    head: watch::Receiver<u64>,
    _ticket: Ticket,
    at: u64,
    topic: Option<String>,
    framing: Framing,
    ends: watch::Receiver<bool>,
    first: bool,
}

impl Follower {
    fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut follower| async move {
            let bytes = follower.next().await?;
            Some((Ok(bytes), follower))
        })
    }

    /// The next frames, or a sign of life; nothing once the server ends.
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.first) {
            // Headers and the first bytes go out at once, so that a client knows that it is connected.
            return Some(Bytes::from_static(self.framing.heartbeat().1));
        }
        let (patience, alive) = self.framing.heartbeat();
        let deadline = tokio::time::Instant::now() + patience;
        loop {
            if *self.ends.borrow() {
                return None;
            }
            let head = *self.head.borrow_and_update();
            if self.at < head {
                let frames = self.live.after(self.at).await?;
                self.at = frames.last().map(|frame| frame.seq)?;
                let mut bytes = Vec::new();
                for frame in frames.iter().filter(|frame| self.wants(frame)) {
                    bytes.extend_from_slice(&frame.bytes(self.framing));
                }
                if !bytes.is_empty() {
                    return Some(bytes.into());
                }
                continue;
            }
            tokio::select! {
                changed = self.head.changed() => changed.ok()?,
                _ = self.ends.changed() => {}
                () = tokio::time::sleep_until(deadline) => return Some(Bytes::from_static(alive)),
            }
        }
    }

    fn wants(&self, frame: &Frame) -> bool {
        let Some(topic) = &self.topic else { return true };
        frame.topic == *topic || frame.topic.strip_prefix(topic).is_some_and(|rest| rest.starts_with('/'))
    }
}
