use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::Pack;

use super::link::Link;
use super::objects::{OBJECT_BYTES_MAX, Objects};
use crate::roster::Shelf;

/// Components and packs of a run, out of its object store. What comes is what its digest says.
pub(super) struct NatsShelf {
    link: Arc<Link>,
    objects: Objects,
}

impl NatsShelf {
    pub(super) fn new(link: Arc<Link>, objects: Objects) -> Self {
        Self { link, objects }
    }

    fn object(&self, sha256: Digest) -> Result<Vec<u8>, String> {
        self.objects.fetch(&self.link, &sha256.to_string(), OBJECT_BYTES_MAX)
    }
}

impl Shelf for NatsShelf {
    fn component(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        let fault = |why: String| HostFault { doing: "fetching a component", source: why.into() };
        let bytes = self.object(sha256).map_err(fault)?;
        if Digest::of(&bytes) == sha256 {
            Ok(bytes)
        } else {
            Err(fault(format!("component {} is not what its digest says", sha256.short())))
        }
    }

    fn pack(&mut self, sha256: Digest) -> Result<Vec<u8>, HostFault> {
        let fault = |why: String| HostFault { doing: "fetching a pack", source: why.into() };
        let bytes = self.object(sha256).map_err(fault)?;
        // The digest of a pack is that of its canonical form; its file may be laid out for people.
        let is_it =
            Digest::of(&bytes) == sha256 || Pack::parse(&bytes).is_ok_and(|pack| pack.sha256() == sha256);
        if is_it {
            Ok(bytes)
        } else {
            Err(fault(format!("pack {} is not what its digest says", sha256.short())))
        }
    }
}
