//! Luck from the match's seed: the same in every replay, different in every seat.

use wasmtime::Result;
use wasmtime::component::{Linker, LinkerInstance};

use super::{interface, unreadable};
use crate::cell::{Cell, charge};
use crate::seed::{Luck, Stream, draw, draw_u64};

/// Random bytes a guest may ask for in one call.
const BYTES_MAX: u64 = 64 << 10;

pub(super) fn add_to(linker: &mut Linker<Cell>) -> Result<()> {
    add_stream(&mut interface(linker, "wasi:random/random")?, "random", |luck| &mut luck.secure)?;
    add_stream(&mut interface(linker, "wasi:random/insecure")?, "insecure-random", |luck| {
        &mut luck.insecure
    })?;
    interface(linker, "wasi:random/insecure-seed")?.func_wrap("insecure-seed", |mut store, (): ()| {
        charge(&mut store, 16)?;
        let stream = &mut store.data_mut().luck.insecure;
        Ok(((draw_u64(stream), draw_u64(stream)),))
    })
}

fn add_stream(
    interface: &mut LinkerInstance<'_, Cell>,
    name: &str,
    stream: fn(&mut Luck) -> &mut Stream,
) -> Result<()> {
    interface.func_wrap(&format!("get-{name}-bytes"), move |mut store, (length,): (u64,)| {
        charge(&mut store, usize::try_from(length).unwrap_or(usize::MAX))?;
        if length > BYTES_MAX {
            return Err(unreadable("more than 64 KiB of random bytes were asked for in one call"));
        }
        Ok((draw(stream(&mut store.data_mut().luck), length as usize),))
    })?;
    interface.func_wrap(&format!("get-{name}-u64"), move |mut store, (): ()| {
        charge(&mut store, 8)?;
        Ok((draw_u64(stream(&mut store.data_mut().luck)),))
    })
}
