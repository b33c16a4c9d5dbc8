//! What is left of a body that nobody reads on: taken in and thrown away for a while, so that its sender sees the answer.
//!
//! A connection that is closed while its client still writes is reset, and a browser in the middle of a file shows a
//! broken connection instead of the page that says what was wrong. So the answer goes out at once, and the rest of the
//! body is read beside it: as much as any body here may have, and for as long as one may take. Whoever sends more, or
//! slower, is cut off.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::config::Limits;

/// Bytes of a form around the largest file that is taken.
const FORM_BYTES: u64 = 1 << 20;

/// How much of a body is taken in after its answer.
#[derive(Debug, Clone)]
pub(crate) struct Lingering {
    bytes_max: u64,
    patience: Duration,
    /// Whether the server ends: then nobody lingers.
    ends: watch::Receiver<bool>,
}

impl Lingering {
    /// As much as the largest body that is taken, for as long as `patience`.
    pub(crate) fn new(limits: &Limits, patience: Duration, ends: watch::Receiver<bool>) -> Self {
        let files = [limits.component_bytes, limits.blob_bytes, limits.replay_bytes, limits.json_bytes];
        let largest = files.into_iter().max().unwrap_or(0) as u64;
        Self { bytes_max: largest.saturating_add(FORM_BYTES), patience, ends }
    }

    /// The body of a request, of which the rest is taken in when it is dropped.
    pub(crate) fn on(&self, body: Incoming, headers: &HeaderMap) -> Rest {
        // Whoever asks first whether to send it is told by the answer, and sends nothing.
        let is_asked_for = !headers.contains_key(header::EXPECT);
        Rest { body: Some(body), is_asked_for, is_over: false, lingering: self.clone() }
    }

    async fn drain(self, mut body: Incoming) {
        let Self { bytes_max, patience, mut ends } = self;
        let all = async {
            let mut left = bytes_max;
            while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
                let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
                let Some(less) = left.checked_sub(bytes) else { return };
                left = less;
            }
        };
        tokio::select! {
            () = all => {}
            () = tokio::time::sleep(patience) => {}
            _ = ends.wait_for(|ends| *ends) => {}
        }
    }
}

/// A body, as its handler reads it.
pub(crate) struct Rest {
    body: Option<Incoming>,
    is_asked_for: bool,
    is_over: bool,
    lingering: Lingering,
}

impl Body for Rest {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        self.is_asked_for = true;
        self.is_over |= matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        let body =
            self.body.take().filter(|body| self.is_asked_for && !self.is_over && !body.is_end_stream());
        if let (Some(body), Ok(runtime)) = (body, Handle::try_current()) {
            runtime.spawn(self.lingering.clone().drain(body));
        }
    }
}
