//! Memory and tables of one seat. What the guest asks beyond its limits is refused with -1; what
//! the machine cannot give is a host fault and never the guest's.

use arena_engine::limits::Limits;
use wasmtime::ResourceLimiter;

use crate::ending::Stop;

pub(crate) struct Limiter {
    memory_bytes: Account,
    table_elements: Account,
    /// The limit that refused a growth since this was last reset.
    refused: Option<u64>,
}

/// What a seat holds of one resource, all its memories or tables together.
struct Account {
    max: usize,
    held: usize,
    peak: usize,
    /// What a growth in progress was granted, to be taken back if it fails.
    granted: usize,
    /// Whether the growth in progress is impossible by the guest's own declaration or the pool's size,
    /// which is that of the limits.
    beyond_declared: bool,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes: Account::new(limits.memory_bytes_max as usize),
            table_elements: Account::new(limits.table_elements_max as usize),
            refused: None,
        }
    }

    pub(crate) fn memory_bytes_peak(&self) -> u64 {
        self.memory_bytes.peak as u64
    }

    /// Forgets an earlier refusal: a guest that lived with it did not end by it.
    pub(crate) fn start_call(&mut self) {
        self.refused = None;
    }

    pub(crate) fn refused(&self) -> Option<u64> {
        self.refused
    }
}

impl Account {
    fn new(max: usize) -> Self {
        Self { max, held: 0, peak: 0, granted: 0, beyond_declared: false }
    }

    /// Grants a growth, or gives the limit that refuses it.
    fn grow(&mut self, current: usize, desired: usize, declared: Option<usize>) -> Result<(), u64> {
        self.granted = 0;
        self.beyond_declared = declared.is_some_and(|declared| desired > declared);
        let more = desired.saturating_sub(current);
        let total = self.held.saturating_add(more);
        if total > self.max {
            return Err(self.max as u64);
        }
        self.granted = more;
        self.held = total;
        if !self.beyond_declared {
            self.peak = self.peak.max(total);
        }
        Ok(())
    }

    /// A growth that was granted failed: by the guest's own declaration, or for want of memory.
    fn failed(&mut self, error: &wasmtime::Error) -> wasmtime::Result<()> {
        self.held -= std::mem::take(&mut self.granted);
        if std::mem::take(&mut self.beyond_declared) {
            return Ok(());
        }
        Err(wasmtime::Error::from(Stop::HostMemory(error.to_string())))
    }
}

/// Growth as the runtime asks for it: granted, or refused with a note of the limit.
fn answer(grown: Result<(), u64>, refused: &mut Option<u64>) -> bool {
    if let Err(limit) = grown {
        *refused = Some(limit);
    }
    grown.is_ok()
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(answer(self.memory_bytes.grow(current, desired, max), &mut self.refused))
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory_bytes.failed(&error)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(answer(self.table_elements.grow(current, desired, max), &mut self.refused))
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.table_elements.failed(&error)
    }
}
