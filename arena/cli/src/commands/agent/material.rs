//! Getting what a claim pins: from this machine, or from the server. Every byte is checked against its digest before it
//! is used, wherever it came from.

use std::path::Path;

use arena_canon::Digest;
use arena_claims::manifest::{INPUT_BYTES_MAX, Input, Manifest, Program};
use arena_engine::campus::DOCUMENT_BYTES_MAX;
use arena_engine::limits::V1;
use arena_tournament::{FROZEN_BYTES_MAX, Frozen};

use super::Stop;
use super::folder::Folder;
use super::http::{Server, Trouble};
use crate::files::{self, Existing};

/// Components and packs of one frozen matrix that are fetched.
const PARTS_MAX: usize = 512;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gathered {
    /// Everything is in the folder, under its digest.
    All,
    /// These are nowhere.
    Missing(Vec<Digest>),
    /// The inputs are at hand, and one is not what is pinned.
    Others(Vec<Input>),
}

/// Where it is looked for.
pub(super) struct Sources<'a> {
    pub(super) folder: &'a Folder,
    pub(super) server: &'a Server,
    /// A folder with inputs, by their digest or their name.
    pub(super) inputs: Option<&'a Path>,
}

impl Sources<'_> {
    /// Brings everything that a manifest pins into the folder.
    pub(super) fn gather(&self, manifest: &Manifest) -> Result<Gathered, Stop> {
        let mut missing = Vec::new();
        for (sha256, limit) in self.program(manifest, &mut missing)? {
            if self.bring(sha256, limit)?.is_none() {
                missing.push(sha256);
            }
        }
        let mut found = Vec::new();
        for input in &manifest.inputs {
            match self.input(input)? {
                Some(bytes) => found.push(bytes),
                None => missing.push(input.sha256),
            }
        }
        Ok(match missing.is_empty() {
            false => Gathered::Missing(missing),
            true if found == manifest.inputs => Gathered::All,
            true => Gathered::Others(found),
        })
    }

    /// The program's parts, with the most bytes that each may have.
    fn program(&self, manifest: &Manifest, missing: &mut Vec<Digest>) -> Result<Vec<(Digest, u64)>, Stop> {
        let (component_max, document_max) = (V1.component_bytes_max, DOCUMENT_BYTES_MAX as u64);
        Ok(match &manifest.program {
            Program::Experiment { component } => vec![(*component, component_max)],
            Program::Episode { component, pack } => vec![(*component, component_max), (*pack, document_max)],
            Program::Tournament { frozen } => {
                let Some(bytes) = self.bring(*frozen, FROZEN_BYTES_MAX as u64)? else {
                    missing.push(*frozen);
                    return Ok(Vec::new());
                };
                // What is no frozen matrix is told by the run.
                let Ok(frozen) = Frozen::parse(&bytes) else { return Ok(Vec::new()) };
                let components = frozen.strategies.iter().map(|pin| (pin.sha256, component_max));
                let packs = frozen.packs().into_iter().map(|pack| (pack, document_max));
                components.chain(packs).take(PARTS_MAX).collect()
            }
        })
    }

    /// The bytes of a digest, in the folder from then on; nothing if they are nowhere.
    fn bring(&self, sha256: Digest, limit: u64) -> Result<Option<Vec<u8>>, Stop> {
        let place = self.folder.blob(sha256);
        if let Some(bytes) = file(&place, limit).filter(|bytes| Digest::of(bytes) == sha256) {
            return Ok(Some(bytes));
        }
        let bytes = match self.server.blob(sha256, limit) {
            Ok(bytes) => bytes,
            // One that does not come is this claim's trouble alone; whether the server is away the next request tells.
            Err(Trouble::Away(_)) => return Ok(None),
            Err(Trouble::Refused { status: 404 | 410, .. }) => return Ok(None),
            Err(trouble) => return Err(trouble.into()),
        };
        files::write(&place, &bytes, Existing::Replace)?;
        Ok(Some(bytes))
    }

    /// An input as it was found. The pinned one counts before another that bears its name.
    fn input(&self, input: &Input) -> Result<Option<Input>, Stop> {
        let names = [input.sha256.to_string(), input.name.clone()];
        let at_hand = self.inputs.into_iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
        let at_hand: Vec<Vec<u8>> = at_hand.filter_map(|place| file(&place, INPUT_BYTES_MAX)).collect();
        let is_pinned =
            |bytes: &&Vec<u8>| bytes.len() as u64 == input.bytes && Digest::of(bytes) == input.sha256;
        if let Some(bytes) = at_hand.iter().find(is_pinned) {
            files::write(&self.folder.blob(input.sha256), bytes, Existing::KeepEqual)?;
        }
        let brought = self.bring(input.sha256, INPUT_BYTES_MAX)?;
        let other = || at_hand.into_iter().next();
        Ok(brought.or_else(other).map(|bytes| Input {
            name: input.name.clone(),
            sha256: Digest::of(&bytes),
            bytes: bytes.len() as u64,
        }))
    }
}

fn file(place: &Path, limit: u64) -> Option<Vec<u8>> {
    files::read_regular(place, limit).ok()
}
