//! Memory and tables of one seat. What the guest asks beyond its limits is refused with -1; what
//! the machine cannot give is a host fault and never the guest's.

use arena_engine::limits::Limits;
use wasmtime::ResourceLimiter;

use crate::ending::Stop;

pub(crate) struct Limiter {
    memory_bytes_max: usize,
    table_elements_max: usize,
    memory_bytes: usize,
    table_elements: usize,
    /// What a growth in progress was granted, to be taken back if it fails.
    granted: usize,
    memory_bytes_peak: usize,
    /// The limit that refused a growth since this was last reset.
    refused: Option<u64>,
    /// Whether the growth in progress is impossible by the guest's own declaration or the pool's size,
    /// which is that of the limits.
    beyond_declared: bool,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_bytes_max: limits.memory_bytes_max as usize,
            table_elements_max: limits.table_elements_max as usize,
            memory_bytes: 0,
            table_elements: 0,
            granted: 0,
            memory_bytes_peak: 0,
            refused: None,
            beyond_declared: false,
        }
    }

    pub(crate) fn memory_bytes_peak(&self) -> u64 {
        self.memory_bytes_peak as u64
    }

    /// Forgets an earlier refusal: a guest that lived with it did not end by it.
    pub(crate) fn start_call(&mut self) {
        self.refused = None;
    }

    pub(crate) fn refused(&self) -> Option<u64> {
        self.refused
    }

    fn failed(
        &mut self,
        error: wasmtime::Error,
        resource: fn(&mut Self) -> &mut usize,
    ) -> wasmtime::Result<()> {
        let granted = std::mem::take(&mut self.granted);
        *resource(self) -= granted;
        if std::mem::take(&mut self.beyond_declared) {
            return Ok(());
        }
        Err(wasmtime::Error::from(Stop::HostMemory(error.to_string())))
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.granted = 0;
        self.beyond_declared = max.is_some_and(|max| desired > max);
        let more = desired.saturating_sub(current);
        let total = self.memory_bytes.saturating_add(more);
        if total > self.memory_bytes_max {
            self.refused = Some(self.memory_bytes_max as u64);
            return Ok(false);
        }
        self.granted = more;
        self.memory_bytes = total;
        if !self.beyond_declared {
            self.memory_bytes_peak = self.memory_bytes_peak.max(total);
        }
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.failed(error, |limiter| &mut limiter.memory_bytes)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        max: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.granted = 0;
        self.beyond_declared = max.is_some_and(|max| desired > max);
        let more = desired.saturating_sub(current);
        let total = self.table_elements.saturating_add(more);
        if total > self.table_elements_max {
            self.refused = Some(self.table_elements_max as u64);
            return Ok(false);
        }
        self.granted = more;
        self.table_elements = total;
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        self.failed(error, |limiter| &mut limiter.table_elements)
    }
}
