//! A form with a file, part by part, in the order in which a browser sends them: its small fields first, so that its
//! token is known before the file is taken in. The file is never held in memory.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::header;
use futures_util::{Stream, StreamExt as _};
use multer::{Field, Multipart};

use super::body::check_type;
use crate::problem::Problem;

/// Bytes that are given to the parser at once.
const SIP_BYTES: usize = 16 << 10;
/// Bytes that the parser may hold before it comes to a part, or to the next piece of one.
const ROOM_BYTES: usize = 64 << 10;
/// Parts of one form.
const PARTS_MAX: usize = 20;
/// Letters of a boundary, by RFC 2046.
const BOUNDARY_CHARS_MAX: usize = 70;

/// The parts of a form.
pub(crate) struct Parts {
    multipart: Multipart<'static>,
    room: Arc<AtomicUsize>,
    count: usize,
}

/// One of them; a stream of its bytes.
pub(crate) struct Part {
    field: Field<'static>,
    room: Arc<AtomicUsize>,
}

fn not_of_its_form() -> Problem {
    Problem::new("query", "the form broke off, or is not one that a browser sends")
}

impl Parts {
    /// Of a request with a form that has a file.
    pub(crate) fn of(request: Request) -> Result<Self, Problem> {
        check_type(request.headers(), "multipart/form-data")?;
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let boundary = kind.and_then(|kind| multer::parse_boundary(kind).ok());
        let is_boundary = |boundary: &String| (1..=BOUNDARY_CHARS_MAX).contains(&boundary.len());
        let boundary = boundary.filter(is_boundary).ok_or_else(|| {
            Problem::new("media_type", format_args!("its boundary has 1 to {BOUNDARY_CHARS_MAX} letters"))
        })?;
        let room = Arc::new(AtomicUsize::new(ROOM_BYTES));
        let sips = Sips {
            body: request.into_body().into_data_stream(),
            left: Bytes::new(),
            room: Arc::clone(&room),
            rests: false,
        };
        Ok(Self { multipart: Multipart::new(sips, boundary), room, count: 0 })
    }

    /// The next part. The one before it has to be gone.
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, Problem> {
        self.room.store(ROOM_BYTES, Ordering::Relaxed);
        let Some(field) = self.multipart.next_field().await.map_err(|_| not_of_its_form())? else {
            return Ok(None);
        };
        self.count += 1;
        if self.count > PARTS_MAX {
            return Err(Problem::new("body_too_large", format_args!("a form has at most {PARTS_MAX} parts")));
        }
        Ok(Some(Part { field, room: Arc::clone(&self.room) }))
    }
}

impl Part {
    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        self.field.name().unwrap_or("")
    }

    /// Whether it is a file that nobody chose: browsers send an empty one without a name.
    pub(crate) fn is_nameless(&self) -> bool {
        self.field.file_name().is_none_or(str::is_empty)
    }

    /// What its sender says that it is, if that can be kept.
    pub(crate) fn media_type(&self, bytes_max: usize) -> Option<String> {
        let kind = self.field.content_type()?.essence_str();
        (kind.len() <= bytes_max).then(|| kind.to_owned())
    }

    /// All of it as text. What is too long or no text is refused, and its name told.
    pub(crate) async fn text(mut self, bytes_max: usize) -> Result<String, Problem> {
        let wrong = |detail: &dyn std::fmt::Display| {
            let mut problem = Problem::new("form", "the form is not of its form");
            problem.push("", "form", detail);
            problem
        };
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await {
            bytes.extend_from_slice(&piece.map_err(|_| not_of_its_form())?);
            if bytes.len() > bytes_max {
                return Err(wrong(&format_args!("a field has more than {bytes_max} bytes")));
            }
        }
        String::from_utf8(bytes).map_err(|_| wrong(&"a field is not UTF-8"))
    }
}

impl Stream for Part {
    type Item = Result<Bytes, multer::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let piece = Pin::new(&mut self.field).poll_next(context);
        if matches!(piece, Poll::Ready(Some(Ok(_)))) {
            self.room.store(ROOM_BYTES, Ordering::Relaxed);
        }
        piece
    }
}

/// The body in sips. The parser reads for as long as there is something to read, so it is made to wait after each
/// sip; and what it reads without coming any further is counted, since it keeps all of that.
struct Sips {
    body: BodyDataStream,
    left: Bytes,
    room: Arc<AtomicUsize>,
    rests: bool,
}

/// Why a body is not read on.
#[derive(Debug, thiserror::Error)]
enum Spilt {
    #[error("the body broke off")]
    BrokenOff,
    #[error("what stands before a part has more than {ROOM_BYTES} bytes")]
    NoRoom,
}

impl Stream for Sips {
    type Item = Result<Bytes, Spilt>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.rests) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        while self.left.is_empty() {
            match Pin::new(&mut self.body).poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(Spilt::BrokenOff))),
                Poll::Ready(Some(Ok(piece))) => self.left = piece,
            }
        }
        let bytes = self.left.len().min(SIP_BYTES);
        let Some(room) = self.room.load(Ordering::Relaxed).checked_sub(bytes) else {
            return Poll::Ready(Some(Err(Spilt::NoRoom)));
        };
        self.room.store(room, Ordering::Relaxed);
        self.rests = true;
        Poll::Ready(Some(Ok(self.left.split_to(bytes))))
    }
}
