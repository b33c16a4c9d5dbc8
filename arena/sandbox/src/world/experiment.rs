//! The experiment world: one call into the guest, and what it may ask of the host meanwhile.

use wasmtime::component::{Linker, LinkerInstance, WasmList, WasmStr};
use wasmtime::{Error, Result, StoreContextMut};

use super::Level;
use crate::cell::{Cell, charge};
use crate::ending::Stop;
use crate::experiment::Desk;
use crate::log::prefix;

wasmtime::component::bindgen!({
    inline: "
        package arena:seat;
        world experiment {
            export arena:experiment/runner@0.1.0;
        }
    ",
    path: "../../wit/experiment",
    world: "arena:seat/experiment",
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use arena::experiment::types;

const HOST: &str = "arena:experiment/host@0.1.0";
/// A name that is longer is that of nothing.
const NAME_BYTES_MAX: usize = 128;

/// Defines the host's half of the world.
pub(crate) fn add_host(linker: &mut Linker<Cell>) -> Result<()> {
    let mut host = linker.instance(HOST)?;
    host.func_wrap("input-names", |mut store: StoreContextMut<'_, Cell>, (): ()| {
        let names = desk(&mut store)?.input_names();
        charge(&mut store, names.iter().map(String::len).sum())?;
        Ok((names,))
    })?;
    host.func_wrap("input-len", |mut store: StoreContextMut<'_, Cell>, (name,): (WasmStr,)| {
        let name = read_name(&mut store, &name)?;
        Ok((desk(&mut store)?.input_len(&name),))
    })?;
    type Part = (WasmStr, u64, u32);
    host.func_wrap("read-input", |mut store: StoreContextMut<'_, Cell>, (name, offset, len): Part| {
        let name = read_name(&mut store, &name)?;
        let Some((bytes, range)) = desk(&mut store)?.part(&name, offset, len) else {
            return Ok((None,));
        };
        charge(&mut store, range.len())?;
        Ok((Some(bytes[range].to_vec()),))
    })?;
    add_output(&mut host)?;
    add_log(&mut host)
}

fn add_output(host: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    host.func_wrap(
        "output",
        |mut store: StoreContextMut<'_, Cell>, (name, chunk): (WasmStr, WasmList<u8>)| {
            let name = read_name(&mut store, &name)?;
            charge(&mut store, chunk.len())?;
            let chunk = chunk.as_le_slice(&store).to_vec();
            desk(&mut store)?.write(&name, &chunk).map_err(Error::from)
        },
    )
}

/// As the strategies' `log`, and every line goes into a digest whether it is kept or not.
fn add_log(host: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    host.func_wrap("log", |mut store: StoreContextMut<'_, Cell>, (level, text): (Level, WasmStr)| {
        let text = {
            let text = text.to_str(&store).map_err(|why| Stop::Unreadable(format!("log text: {why}")))?;
            text.into_owned()
        };
        charge(&mut store, text.len())?;
        desk(&mut store)?.say(level.into(), &text);
        let room = store.data().log.room();
        store.data_mut().say(level.into(), prefix(&text, room), text.len());
        Ok(())
    })
}

/// A name, charged like every text.
fn read_name(store: &mut StoreContextMut<'_, Cell>, name: &WasmStr) -> Result<String> {
    let (kept, offered) = {
        let name = name.to_str(&*store).map_err(|why| Stop::Unreadable(format!("a name: {why}")))?;
        let kept = if name.len() <= NAME_BYTES_MAX { name.clone().into_owned() } else { String::new() };
        (kept, name.len())
    };
    charge(store, offered)?;
    Ok(kept)
}

fn desk<'s>(store: &'s mut StoreContextMut<'_, Cell>) -> Result<&'s mut Desk> {
    // A strategy is not admitted with these imports.
    let none = || Error::from(Stop::Unreadable("only a run of an experiment has inputs".into()));
    store.data_mut().desk.as_deref_mut().ok_or_else(none)
}
