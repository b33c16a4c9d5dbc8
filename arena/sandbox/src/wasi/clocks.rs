//! Clocks that start with the episode and move only by its turns.

use wasmtime::Result;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};

use super::{Pollable, constant, interface, opener};
use crate::cell::{Cell, charge};

#[derive(ComponentType, Lift, Lower)]
#[component(record)]
struct Datetime {
    seconds: u64,
    nanoseconds: u32,
}

const NANOSECONDS: u64 = 1_000_000_000;

pub(super) fn add_to(linker: &mut Linker<Cell>) -> Result<()> {
    let mut monotonic = interface(linker, "wasi:clocks/monotonic-clock")?;
    monotonic.func_wrap("now", |mut store, (): ()| {
        charge(&mut store, 0)?;
        Ok((store.data().elapsed_ns,))
    })?;
    constant::<(), u64>(&mut monotonic, "resolution", || NANOSECONDS)?;
    for name in ["subscribe-instant", "subscribe-duration"] {
        opener::<(u64,), Pollable>(&mut monotonic, name)?;
    }

    let mut wall = interface(linker, "wasi:clocks/wall-clock")?;
    wall.func_wrap("now", |mut store, (): ()| {
        charge(&mut store, 0)?;
        let cell = store.data();
        let elapsed = cell.elapsed_ns / NANOSECONDS;
        Ok((Datetime { seconds: cell.start_seconds.saturating_add(elapsed), nanoseconds: 0 },))
    })?;
    constant::<(), Datetime>(&mut wall, "resolution", || Datetime { seconds: 1, nanoseconds: 0 })
}
