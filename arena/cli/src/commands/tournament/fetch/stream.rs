//! The stream of a run, taken apart by what its receipt says: no name and no length comes from the stream itself.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use arena_tournament::{Bundle, Part};
use ureq::http::{HeaderMap, StatusCode, header};

use super::folder::Target;
use crate::commands::agent::{Relay, Trouble};
use crate::failure::Failure;
use crate::files::plain;
use crate::io::Io;

/// A server that is slower than this is given up.
const SLOWEST_BYTES_PER_SECOND: u64 = 32 << 10;
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Why a stream ended early.
pub(super) enum Broken {
    /// It broke off. What came before is kept.
    Off(String),
    /// There was no stream.
    Answer(Trouble),
    /// It is not what the receipt lists.
    False(String),
    /// This machine failed.
    Here(Failure),
}

/// Fetches from the first to the last file that is missing, and takes what is missing of them.
pub(super) fn fetch(
    relay: &Relay,
    path: &str,
    bundle: &Bundle,
    (target, missing): (&Target, &mut BTreeSet<usize>),
    io: &mut Io<'_>,
) -> Result<(), Broken> {
    let (Some(first), Some(last)) = (missing.first().copied(), missing.last().copied()) else {
        return Ok(());
    };
    let parts = &bundle.parts()[first..=last];
    let span = (bundle.parts()[first].at, bundle.parts()[last].end() - 1);
    // A server that gives no parts sends everything before it, too.
    let patience = PATIENCE + Duration::from_secs((span.1 + 1) / SLOWEST_BYTES_PER_SECOND);
    let response = relay.open(path, Some(span), patience).map_err(Broken::Answer)?;
    let skipped = skipped(response.status(), response.headers(), span, bundle.length())?;
    let mut stream = Stream { reader: response.into_body().into_reader(), buffer: vec![0; 64 << 10] };
    stream.pass(skipped, |_| Ok(()))?;
    let all = bundle.parts().len() as u64;
    let bar = io.progress("fetching", all);
    let mut line = Instant::now();
    for (place, part) in (first..).zip(parts) {
        stream.header(part)?;
        if missing.contains(&place) {
            stream.take(part, target)?;
            missing.remove(&place);
        } else {
            stream.pass(part.bytes, |_| Ok(()))?;
        }
        stream.padding(part)?;
        let here = all - missing.len() as u64 - 1;
        bar.set_position(here);
        if bar.is_hidden() && line.elapsed() >= LINE_EVERY {
            line = Instant::now();
            io.talk(format_args!("fetching  {here} of {} files", all - 1));
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// The bytes that come before the part that was asked for.
fn skipped(
    status: StatusCode,
    headers: &HeaderMap,
    (from, to): (u64, u64),
    length: u64,
) -> Result<u64, Broken> {
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if text(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Broken::False("it sends the run in another form than it was asked for".to_owned()));
    }
    match status {
        StatusCode::OK => Ok(from),
        StatusCode::PARTIAL_CONTENT => {
            let wanted = format!("bytes {from}-{to}/{length}");
            if text(header::CONTENT_RANGE) == Some(wanted.as_str()) {
                return Ok(0);
            }
            Err(Broken::False(format!("it was asked for {wanted}, and sends another part")))
        }
        other => Err(Broken::Answer(Trouble::Foreign(format!("it answers {other}")))),
    }
}

struct Stream<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: Read> Stream<R> {
    /// Hands on the next bytes, as many as are named.
    fn pass(&mut self, bytes: u64, mut take: impl FnMut(&[u8]) -> Result<(), Broken>) -> Result<(), Broken> {
        let mut left = bytes;
        while left > 0 {
            let most = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = match self.reader.read(&mut self.buffer[..most]) {
                Ok(0) => return Err(Broken::Off("the server broke off".to_owned())),
                Ok(read) => read,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(Broken::Off(format!("the server broke off: {}", plain(&why)))),
            };
            take(&self.buffer[..read])?;
            left -= read as u64;
        }
        Ok(())
    }

    /// The header of this very file.
    fn header(&mut self, part: &Part) -> Result<(), Broken> {
        let mut found = Vec::new();
        let wanted = part.header();
        self.pass(wanted.len() as u64, |bytes| {
            found.extend_from_slice(bytes);
            Ok(())
        })?;
        if found == wanted {
            return Ok(());
        }
        Err(Broken::False(format!("where `{}` should begin, something else comes", part.path)))
    }

    /// The bytes of a file, which gets its name if they are what the receipt lists.
    fn take(&mut self, part: &Part, target: &Target) -> Result<(), Broken> {
        let mut arriving = target.begin(part).map_err(Broken::Here)?;
        self.pass(part.bytes, |bytes| arriving.write(bytes).map_err(Broken::Here))?;
        match arriving.finish(part.sha256).map_err(Broken::Here)? {
            Ok(()) => Ok(()),
            Err(found) => {
                let Part { path, sha256, .. } = part;
                Err(Broken::False(format!("`{path}` has SHA-256 {found}, and its receipt lists {sha256}")))
            }
        }
    }

    fn padding(&mut self, part: &Part) -> Result<(), Broken> {
        let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let after =
            || Broken::False(format!("after `{}` comes something that belongs to no file", part.path));
        self.pass(
            part.end() - part.body() - part.bytes,
            |bytes| {
                if is_blank(bytes) { Ok(()) } else { Err(after()) }
            },
        )
    }
}
