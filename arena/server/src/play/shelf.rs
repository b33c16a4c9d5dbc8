//! The packs that are played here. They are given at the start and never change while the server runs.

use std::sync::Arc;

use arena_canon::{Digest, json};
use arena_engine::campus::{Faults, Pack};

/// Turns of a pack that is played here: its log then fits what a replay may have.
pub const TURNS_MAX: u32 = 2_000;
const PACK_BYTES_MAX: usize = 4 << 20;

/// A pack with its document.
#[derive(Debug)]
pub struct Published {
    /// The pack, ready to be played.
    pub pack: Arc<Pack>,
    /// Its canonical document, whose digest is the pack's.
    pub bytes: Vec<u8>,
}

/// All packs, in the order in which they were given.
#[derive(Debug, Default)]
pub struct Shelf(Vec<Arc<Published>>);

/// Why packs cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// Not JSON.
    #[error("pack {place}: {why}")]
    Json {
        /// Which, from 0.
        place: usize,
        /// What is wrong.
        why: json::ReadError,
    },
    /// Not a pack.
    #[error("pack {place}: {faults}")]
    Pack {
        /// Which, from 0.
        place: usize,
        /// What is wrong.
        faults: Faults,
    },
    /// Longer than is played here.
    #[error("pack {name} has {turns} turns; the limit is {TURNS_MAX}")]
    Long {
        /// Which.
        name: String,
        /// Its turns.
        turns: u32,
    },
    /// Two of one name and version.
    #[error("pack {name} is given twice")]
    Twice {
        /// Which.
        name: String,
    },
}

impl Shelf {
    /// Reads packs from their documents.
    pub fn read(documents: &[Vec<u8>]) -> Result<Self, ShelfError> {
        let mut shelf = Self::default();
        for (place, document) in documents.iter().enumerate() {
            let value =
                json::read(document, PACK_BYTES_MAX).map_err(|why| ShelfError::Json { place, why })?;
            let pack = Pack::from_value(&value).map_err(|faults| ShelfError::Pack { place, faults })?;
            let name = pack.to_string();
            if pack.turns() > TURNS_MAX {
                return Err(ShelfError::Long { name, turns: pack.turns() });
            }
            if shelf.find(&pack.document().pack_id, &pack.document().pack_version).is_some() {
                return Err(ShelfError::Twice { name });
            }
            shelf.0.push(Arc::new(Published { pack, bytes: json::canonical(&value) }));
        }
        Ok(shelf)
    }

    /// All of them.
    pub fn all(&self) -> &[Arc<Published>] {
        &self.0
    }

    /// The pack of this name and version.
    pub fn find(&self, id: &str, version: &str) -> Option<&Arc<Published>> {
        self.0.iter().find(|it| {
            let document = it.pack.document();
            document.pack_id == id && document.pack_version == version
        })
    }

    /// The pack of this digest.
    pub fn with_digest(&self, sha256: Digest) -> Option<&Arc<Published>> {
        self.0.iter().find(|it| it.pack.sha256() == sha256)
    }
}
