//! A run that has succeeded as one stream, so that a stranger has everything that verification reads.
//!
//! What stands where follows from the receipt, and each file is held against it before a byte of it goes out. In memory
//! are the list of files, one file, and a piece of the stream. Components are in no stream: whoever uploaded one keeps
//! it.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arena_canon::Digest;
use arena_store::{Blobs, Found};
use arena_tournament::{
    Bundle, CARD_BYTES_MAX, COMMITMENTS, FROZEN, IDENTITIES, Part, RECEIPT, Receipt, SCORECARD, TRAILER,
    open_regular,
};
use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::{oneshot, watch};

use super::WorkshopFault;
use crate::app::{App, Shared};
use crate::instance::tournaments::{Pin, Tournament};
use crate::live::Ticket;
use crate::problem::Problem;

/// Bytes that are handed over at once.
const PIECE: usize = 256 << 10;
/// Bytes of a blob that keeps files which would be gone.
const KEPT_PIECE: usize = 4 << 20;
/// Bytes of all of them: guests may have said more than anybody wants to keep, and then the run cannot be fetched.
const KEPT_BYTES_MAX: u64 = 256 << 20;
/// A client that is slower than this for long loses its place.
const SLOWEST_BYTES_PER_SECOND: u64 = 32 << 10;
const PATIENCE: Duration = Duration::from_secs(60);

/// Records stay in the run's folder.
const RECORDS: &str = "matches/";
/// Components are blobs that are nobody else's.
const COMPONENTS: &str = "components/";

/// Whether a file of a run is kept with others: journal, what guests said, packs, the scorecard for people.
fn is_kept(path: &str) -> bool {
    let elsewhere = [FROZEN, COMMITMENTS, IDENTITIES, SCORECARD, RECEIPT];
    !elsewhere.contains(&path) && !path.starts_with(RECORDS) && !path.starts_with(COMPONENTS)
}

/// Keeps what of a success would be gone with its folder: one file after the other as the receipt lists them, in
/// pieces. Nothing if that is too much.
pub(super) fn keep(app: &App, folder: &Path, receipt: &Receipt) -> Result<Vec<Pin>, WorkshopFault> {
    let fault = |why: &dyn std::fmt::Display| WorkshopFault { doing: "keep the run", why: why.to_string() };
    let kept: Vec<_> = receipt.files.iter().filter(|file| is_kept(&file.path)).collect();
    if kept.iter().map(|file| file.bytes).sum::<u64>() > KEPT_BYTES_MAX {
        return Ok(Vec::new());
    }
    let mut pins = Vec::new();
    let mut put = |piece: &[u8]| {
        let sha256 = app.store.blobs().put(piece).map_err(|why| fault(&why))?;
        pins.push(Pin { sha256, bytes: piece.len() as u64 });
        Ok(())
    };
    let mut piece = Vec::new();
    for file in kept {
        let whole = read(&folder.join(&file.path), file.sha256, file.bytes).map_err(|why| fault(&why))?;
        piece.extend_from_slice(&whole);
        let whole_pieces = piece.len() / KEPT_PIECE * KEPT_PIECE;
        piece[..whole_pieces].chunks(KEPT_PIECE).try_for_each(&mut put)?;
        piece.drain(..whole_pieces);
    }
    if !piece.is_empty() {
        put(&piece)?;
    }
    Ok(pins)
}

/// A file of a run, if it is the one that the receipt lists.
fn read(path: &Path, sha256: Digest, bytes: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    open_regular(path)?.take(bytes + 1).read_to_end(&mut read)?;
    if Digest::of(&read) == sha256 {
        Ok(read)
    } else {
        Err(io::Error::other("a file is not what was listed"))
    }
}

/// A run that can be sent.
pub(crate) struct Whole {
    bundle: Arc<Bundle>,
    blobs: Blobs,
    folder: PathBuf,
    /// Files that are blobs of their own.
    named: BTreeMap<&'static str, Pin>,
    /// The pieces of those that are kept with others, and where each of these begins.
    kept: Vec<Pin>,
    begins: BTreeMap<usize, u64>,
    receipt: Digest,
}

impl Whole {
    /// The run of a tournament that has succeeded.
    pub(crate) async fn of(app: &Shared, tournament: &Arc<Tournament>) -> Result<Self, Problem> {
        let (app, tournament) = (Arc::clone(app), Arc::clone(tournament));
        let found = tokio::task::spawn_blocking(move || Self::find(&app, &tournament));
        found.await.map_err(|_| Problem::internal())?
    }

    fn find(app: &App, tournament: &Tournament) -> Result<Self, Problem> {
        let ended = tournament.disclosed()?;
        if ended.kept.is_empty() {
            let detail = "the records are here, but journal and guests' words were not kept: it ended before whole \
                          runs were, or its guests said too much";
            return Err(Problem::new("gone", detail));
        }
        let frozen = tournament.frozen.as_ref().map(|frozen| frozen.file);
        let commitments = tournament.begun.map(|(_, pin)| pin);
        let pins = [
            (FROZEN, frozen),
            (COMMITMENTS, commitments),
            (IDENTITIES, ended.identities),
            (SCORECARD, ended.scorecard),
            (RECEIPT, ended.receipt),
        ];
        let named =
            pins.into_iter().map(|(name, pin)| Some((name, pin?))).collect::<Option<BTreeMap<_, _>>>();
        let named = named.ok_or_else(Problem::internal)?;
        let sha256 = named[RECEIPT].sha256;
        let bundle = match app.floor.bundle(sha256) {
            Some(bundle) => bundle,
            None => bundle_of(app, named[RECEIPT])?,
        };
        let (mut begins, mut at) = (BTreeMap::new(), 0);
        for (place, part) in bundle.parts().iter().enumerate() {
            if is_kept(&part.path) {
                begins.insert(place, at);
                at += part.bytes;
            }
        }
        if at != ended.kept.iter().map(|pin| pin.bytes).sum::<u64>() {
            return Err(Problem::internal());
        }
        let (blobs, folder) = (app.store.blobs().clone(), app.floor.run_folder(tournament.number));
        Ok(Self { bundle, blobs, folder, named, kept: ended.kept.clone(), begins, receipt: sha256 })
    }

    /// Bytes of all of it.
    pub(crate) fn length(&self) -> u64 {
        self.bundle.length()
    }

    /// The stream has a version: the receipt decides every byte of it.
    pub(crate) fn tag(&self) -> String {
        format!("\"{}\"", &self.receipt.to_string()[..32])
    }

    /// A part of the stream as the body of an answer. Its place is free when it is sent, when the client is gone, or
    /// when that has been too slow for too long.
    pub(crate) fn send(self, range: Range<u64>, ticket: Ticket, ends: watch::Receiver<bool>) -> Body {
        let seconds = (range.end - range.start) / SLOWEST_BYTES_PER_SECOND;
        let patience = PATIENCE + Duration::from_secs(seconds);
        let reader = Reader { whole: self, at: range.start, end: range.end, file: None, piece: None };
        let reader = Arc::new(Mutex::new(Some((reader, ticket))));
        let (held, let_go) = oneshot::channel::<()>();
        let late = Arc::clone(&reader);
        tokio::spawn(async move {
            if tokio::time::timeout(patience, let_go).await.is_err() {
                // While the client takes nothing, nobody asks for the next bytes: what they come from goes here.
                let _ = tokio::task::spawn_blocking(move || drop(take(&late))).await;
            }
        });
        Body::from_stream(stream::unfold(Some((reader, held, ends)), async |sending| {
            let (reader, held, ends) = sending?;
            if *ends.borrow() {
                return Some((Err(io::Error::from(io::ErrorKind::TimedOut)), None));
            }
            let of = Arc::clone(&reader);
            match tokio::task::spawn_blocking(move || next(&of)).await {
                Ok(Ok((piece, is_last))) => Some((Ok(piece), (!is_last).then_some((reader, held, ends)))),
                Ok(Err(why)) => Some((Err(why), None)),
                Err(why) => Some((Err(io::Error::other(why)), None)),
            }
        }))
    }

    fn part(&self, place: usize) -> Option<&Part> {
        self.bundle.parts().get(place)
    }

    /// The part that holds a byte of the stream; beyond the last one is the end.
    fn place_of(&self, at: u64) -> usize {
        self.bundle.parts().partition_point(|part| part.end() <= at)
    }
}

/// The layout of the run with this receipt, which may list a hundred thousand files.
fn bundle_of(app: &App, Pin { sha256, bytes }: Pin) -> Result<Arc<Bundle>, Problem> {
    let receipt = match app.store.blobs().read(sha256, bytes.min(CARD_BYTES_MAX)) {
        Ok(Found::Content(bytes)) => serde_json::from_slice::<Receipt>(&bytes).ok(),
        Ok(Found::Withheld { reason }) => {
            return Err(Problem::new("gone", format_args!("it is withheld: {reason}")));
        }
        _ => None,
    };
    let bundle = receipt.and_then(|receipt| Bundle::of(&receipt, sha256, bytes).ok());
    let bundle = Arc::new(bundle.ok_or_else(Problem::internal)?);
    app.floor.keep_bundle(sha256, &bundle);
    Ok(bundle)
}

/// A stream with its place, both of which may be taken away from whoever is too slow.
type Taken = Mutex<Option<(Reader, Ticket)>>;

fn take(sending: &Taken) -> Option<(Reader, Ticket)> {
    sending.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The next bytes, and whether they are the last: then the place is free again.
fn next(sending: &Taken) -> io::Result<(Bytes, bool)> {
    let mut sending = sending.lock().unwrap_or_else(PoisonError::into_inner);
    let (reader, _) = sending.as_mut().ok_or(io::ErrorKind::TimedOut)?;
    let piece = reader.next()?;
    let is_last = reader.at >= reader.end;
    if is_last {
        *sending = None;
    }
    Ok((piece, is_last))
}

/// Where a stream is.
struct Reader {
    whole: Whole,
    at: u64,
    end: u64,
    /// The file that is being sent, by its place.
    file: Option<(usize, Vec<u8>)>,
    /// The last piece of those that are kept that was read.
    piece: Option<(usize, Vec<u8>)>,
}

impl Reader {
    /// The next bytes.
    fn next(&mut self) -> io::Result<Bytes> {
        let mut bytes = Vec::with_capacity(PIECE);
        while self.at < self.end && bytes.len() < PIECE {
            let most = (PIECE - bytes.len()).min(usize::try_from(self.end - self.at).unwrap_or(PIECE));
            let before = bytes.len();
            self.put(&mut bytes, most)?;
            self.at += (bytes.len() - before) as u64;
        }
        Ok(bytes.into())
    }

    /// Some of what comes next, at least a byte.
    fn put(&mut self, bytes: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let place = self.whole.place_of(self.at);
        let Some(part) = self.whole.part(place).cloned() else {
            let trailer = self.whole.length() - TRAILER.len() as u64;
            bytes.extend(TRAILER.iter().skip((self.at - trailer) as usize).take(most));
            return Ok(());
        };
        let (body, end) = (part.body(), part.body() + part.bytes);
        if self.at < body {
            bytes.extend(part.header().iter().skip((self.at - part.at) as usize).take(most));
        } else if self.at < end {
            if self.file.as_ref().is_none_or(|(held, _)| *held != place) {
                self.file = None;
                self.file = Some((place, self.content(place, &part)?));
            }
            let file = self.file.as_ref().map_or(&[][..], |(_, file)| file);
            let from = (self.at - body) as usize;
            bytes.extend_from_slice(&file[from..file.len().min(from + most)]);
        } else {
            bytes.extend(std::iter::repeat_n(0, most.min((part.end() - self.at) as usize)));
        }
        Ok(())
    }

    /// A whole file, held against the receipt.
    fn content(&mut self, place: usize, part: &Part) -> io::Result<Vec<u8>> {
        if part.path.starts_with(RECORDS) {
            return read(&self.whole.folder.join(&part.path), part.sha256, part.bytes);
        }
        let content = match self.whole.begins.get(&place).copied() {
            Some(begin) => self.kept(begin, part.bytes)?,
            None => {
                let pin = self.whole.named.get(part.path.as_str()).ok_or(io::ErrorKind::NotFound)?;
                self.whole.blob(*pin)?
            }
        };
        let is_listed = content.len() as u64 == part.bytes && Digest::of(&content) == part.sha256;
        if is_listed { Ok(content) } else { Err(io::Error::other("a file is not what was listed")) }
    }

    /// So many bytes of what is kept, from a place on.
    fn kept(&mut self, begin: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let mut start = 0;
        for (number, pin) in self.whole.kept.iter().enumerate() {
            let (from, to) = (begin.max(start), (begin + bytes).min(start + pin.bytes));
            if from < to {
                if self.piece.as_ref().is_none_or(|(held, _)| *held != number) {
                    self.piece = None;
                    self.piece = Some((number, self.whole.blob(*pin)?));
                }
                let piece = self.piece.as_ref().map_or(&[][..], |(_, piece)| piece);
                content.extend_from_slice(&piece[(from - start) as usize..(to - start) as usize]);
            }
            start += pin.bytes;
        }
        Ok(content)
    }
}

impl Whole {
    /// A blob, hashed again.
    fn blob(&self, pin: Pin) -> io::Result<Vec<u8>> {
        match self.blobs.read(pin.sha256, pin.bytes) {
            Ok(Found::Content(bytes)) if bytes.len() as u64 == pin.bytes => Ok(bytes),
            _ => Err(io::Error::other("a file of the run is not here")),
        }
    }
}
