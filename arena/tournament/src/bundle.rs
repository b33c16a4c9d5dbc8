//! A run as one stream: what of its files may leave a server, one after the other, as a tar.
//!
//! Where everything stands in the stream follows from the receipt alone. So whoever writes it can begin anywhere, and
//! whoever reads it takes no name and no size from it that the receipt does not list. Components are left out: they
//! belong to whoever built them.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_engine::Excerpt;
use arena_engine::campus::DOCUMENT_BYTES_MAX;

use crate::ending::Class;
use crate::folder::{
    COMMITMENTS, COMPONENT_BYTES_MAX, COMPONENTS, FROZEN, GUEST, IDENTITIES, IDENTITIES_BYTES_MAX, JOURNAL,
    MATCHES, PACKS, RECEIPT, SCORECARD, SCORECARD_MD, component_name, guest_name, match_name, pack_name,
};
use crate::frozen::FROZEN_BYTES_MAX;
use crate::names::{MATCHUPS_MAX, MatchId};
use crate::receipt::{FileSize, Receipt};
use crate::record::RECORD_BYTES_MAX;

/// Largest scorecard of a run that travels, and largest receipt.
pub const CARD_BYTES_MAX: u64 = 64 << 20;
/// Most packs of a run.
const PACKS_MAX: usize = 256;
/// What a tar ends with.
pub const TRAILER: [u8; 2 * BLOCK] = [0; 2 * BLOCK];
/// Everything in a tar begins at a multiple of this.
const BLOCK: usize = 512;
/// What a header can say of a length: eleven octal digits.
const LENGTH_MAX: u64 = (1 << 33) - 1;

const _: () = assert!(RECORD_BYTES_MAX as u64 <= LENGTH_MAX && DOCUMENT_BYTES_MAX as u64 <= LENGTH_MAX);

/// Files of every run that has succeeded.
const ALWAYS: [&str; 6] = [FROZEN, COMMITMENTS, IDENTITIES, JOURNAL, SCORECARD, SCORECARD_MD];

/// Where each file of a run stands in its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    parts: Vec<Part>,
    apart: Vec<FileSize>,
}

/// A file in the stream: a header, its bytes, and zeros up to the next block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name in the run's folder.
    pub path: String,
    /// Its digest.
    pub sha256: Digest,
    /// Its size.
    pub bytes: u64,
    /// Where its header begins.
    pub at: u64,
}

/// Why there is no stream of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleFault {
    /// Only of a success everything is open.
    #[error("the run ended as {class}; only a success is open", class = .0.name())]
    Closed(Class),
    /// No run has such a file.
    #[error("its receipt lists `{path}`, which is no file of a run", path = Excerpt::line(.0))]
    Unknown(String),
    /// Names are in order, so each stands once.
    #[error("its receipt lists `{path}` out of order, or twice", path = Excerpt::line(.0))]
    OutOfOrder(String),
    /// A file that is larger than it may be.
    #[error("its receipt lists `{path}` with {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// Which.
        path: String,
        /// Its size.
        bytes: u64,
        /// The most it may have.
        limit: u64,
    },
    /// A file whose digest is known from elsewhere, and is another.
    #[error("its receipt lists `{0}` with another digest than the one that it pins")]
    Another(String),
    /// More packs than a plan may name.
    #[error("its receipt lists more than {PACKS_MAX} packs, the limit")]
    Packs,
    /// A file that is in every run.
    #[error("its receipt does not list `{0}`")]
    Missing(String),
}

impl Bundle {
    /// The stream of the run with this receipt, which has this digest and so many bytes.
    pub fn of(receipt: &Receipt, sha256: Digest, bytes: u64) -> Result<Self, BundleFault> {
        if receipt.terminal != Class::Success {
            return Err(BundleFault::Closed(receipt.terminal));
        }
        check(receipt)?;
        let (mut parts, mut apart, mut at) = (Vec::new(), Vec::new(), 0);
        let own = FileSize { path: RECEIPT.to_owned(), sha256, bytes };
        for file in receipt.files.iter().chain([&own]) {
            if file.path.split('/').next() == Some(COMPONENTS) {
                apart.push(file.clone());
                continue;
            }
            let FileSize { path, sha256, bytes } = file.clone();
            let part = Part { path, sha256, bytes, at };
            at = part.end();
            parts.push(part);
        }
        Ok(Self { parts, apart })
    }

    /// The files, in the order in which they come; the receipt is the last.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The files of the run that are not in the stream: its components.
    pub fn apart(&self) -> &[FileSize] {
        &self.apart
    }

    /// Bytes of the whole stream.
    pub fn length(&self) -> u64 {
        self.parts.last().map_or(0, Part::end) + TRAILER.len() as u64
    }
}

impl Part {
    /// Where its bytes begin.
    pub fn body(&self) -> u64 {
        self.at + BLOCK as u64
    }

    /// Where the next one begins.
    pub fn end(&self) -> u64 {
        self.body() + self.bytes.next_multiple_of(BLOCK as u64)
    }

    /// Its header: a regular file that everybody may read, of nobody, and of no time.
    pub fn header(&self) -> [u8; BLOCK] {
        let mut header = [0; BLOCK];
        let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        put(0, &self.path);
        put(100, "0000644");
        put(108, "0000000");
        put(116, "0000000");
        put(124, &format!("{:011o}", self.bytes));
        put(136, "00000000000");
        // The checksum counts its own field as blanks.
        put(148, "        ");
        put(156, "0");
        put(257, "ustar");
        put(263, "00");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        header
    }
}

/// Whether every file that is listed is one that a run has, of a size that it can have.
fn check(receipt: &Receipt) -> Result<(), BundleFault> {
    let mut before: Option<&str> = None;
    let mut listed = BTreeSet::new();
    for FileSize { path, sha256, bytes } in &receipt.files {
        let Some((limit, pinned)) = kind_of(path, receipt) else {
            return Err(BundleFault::Unknown(path.clone()));
        };
        if before.is_some_and(|before| before >= path.as_str()) {
            return Err(BundleFault::OutOfOrder(path.clone()));
        }
        if *bytes > limit {
            return Err(BundleFault::TooLarge { path: path.clone(), bytes: *bytes, limit });
        }
        if pinned.is_some_and(|pinned| pinned != *sha256) {
            return Err(BundleFault::Another(path.clone()));
        }
        before = Some(path);
        listed.insert(path.as_str());
    }
    if listed.iter().filter(|path| path.split('/').next() == Some(PACKS)).count() > PACKS_MAX {
        return Err(BundleFault::Packs);
    }
    let components = receipt.strategies.iter().map(|pin| component_name(pin.sha256));
    let matches = 1..=receipt.matchups.planned.min(MATCHUPS_MAX as u64) as u32;
    let matches = matches.map(|number| match_name(MatchId(number)));
    let mut wanted = ALWAYS.map(str::to_owned).into_iter().chain(components).chain(matches);
    wanted.find(|path| !listed.contains(path.as_str())).map_or(Ok(()), |path| Err(BundleFault::Missing(path)))
}

/// The most bytes of a file of this name, and its digest where the receipt tells it elsewhere; nothing if no run has
/// such a file.
fn kind_of(path: &str, receipt: &Receipt) -> Option<(u64, Option<Digest>)> {
    match path {
        FROZEN => return Some((FROZEN_BYTES_MAX as u64, Some(receipt.frozen_sha256))),
        COMMITMENTS | IDENTITIES => return Some((IDENTITIES_BYTES_MAX, None)),
        JOURNAL => return Some((MATCHUPS_MAX as u64 * 1_024, None)),
        SCORECARD => return Some((CARD_BYTES_MAX, receipt.scorecard.as_ref().map(|card| card.sha256))),
        SCORECARD_MD => return Some((CARD_BYTES_MAX, None)),
        _ => {}
    }
    let (folder, name) = path.split_once('/')?;
    let id = || name.strip_suffix(".json")?.parse::<MatchId>().ok();
    let planned = |id: &MatchId| (1..=receipt.matchups.planned).contains(&u64::from(id.0));
    match folder {
        MATCHES => {
            let known = id().filter(planned).filter(|id| match_name(*id) == path);
            known.map(|_| (RECORD_BYTES_MAX as u64, None))
        }
        GUEST => {
            let known = id().filter(planned).filter(|id| guest_name(*id) == path);
            known.map(|_| (RECORD_BYTES_MAX as u64, None))
        }
        COMPONENTS => {
            let sha256: Digest = name.strip_suffix(".wasm")?.parse().ok()?;
            let is_seated = receipt.strategies.iter().any(|pin| pin.sha256 == sha256);
            (is_seated && component_name(sha256) == path).then_some((COMPONENT_BYTES_MAX, Some(sha256)))
        }
        PACKS => {
            let sha256: Digest = name.strip_suffix(".json")?.parse().ok()?;
            (pack_name(sha256) == path).then_some((DOCUMENT_BYTES_MAX as u64, None))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
