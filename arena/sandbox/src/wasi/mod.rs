//! WASI 0.2 for strategies: enough for a language's runtime to start, nothing of the machine.
//!
//! Time moves by turns, luck comes from the match's seed, every pollable is ready at once (a sleep
//! must not hang a worker), input is at its end, output is counted and dropped, there are no files
//! but an experiment's inputs, and every socket is denied. Every call is charged.

mod cli;
mod clocks;
mod denied;
mod files;
mod io;
mod random;

use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceType};
use wasmtime::{Error, Result, StoreContextMut};

use crate::cell::{Cell, charge};
use crate::ending::Stop;

pub(crate) use denied::add as add_denied;
pub(crate) use files::add as add_files;

/// The version the interfaces are defined under; the runtime links every 0.2 to it.
pub(crate) const VERSION: &str = "0.2.6";

/// Interfaces that are defined here whatever a component imports.
const DEFINED: [&str; 18] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// Defines everything but what a component's own imports decide.
pub(crate) fn add_to(linker: &mut Linker<Cell>) -> Result<()> {
    io::add_to(linker)?;
    cli::add_to(linker)?;
    clocks::add_to(linker)?;
    random::add_to(linker)
}

/// What a handle stands for. None of them holds anything; the store counts them.
enum Pollable {}
enum InputStream {}
enum OutputStream {}
enum IoError {}
enum TerminalInput {}
enum TerminalOutput {}
enum Denied {}

fn interface<'l>(linker: &'l mut Linker<Cell>, name: &str) -> Result<LinkerInstance<'l, Cell>> {
    debug_assert!(DEFINED.contains(&name));
    linker.instance(&format!("{name}@{VERSION}"))
}

/// Defines a resource. To drop a handle costs as much as any call.
fn resource<T: 'static>(interface: &mut LinkerInstance<'_, Cell>, name: &str) -> Result<()> {
    interface.resource(name, ResourceType::host::<T>(), |mut store, _| charge(&mut store, 0))
}

/// A new handle. The store refuses more than [`crate::seat::HANDLES_MAX`] at once.
fn handle<T: 'static>() -> Resource<T> {
    Resource::new_own(0)
}

/// Refuses what is longer than a guest may hand over at once.
fn check_length(store: &StoreContextMut<'_, Cell>, bytes: usize) -> Result<()> {
    let most = store.data().limits.guest_text_bytes_max as usize;
    if bytes <= most { Ok(()) } else { Err(unreadable("more than 1 MiB was handed over in one call")) }
}

fn unreadable(why: &str) -> Error {
    Error::from(Stop::Unreadable(why.to_owned()))
}

/// A function that takes `P`, costs one call and returns `answer`.
fn constant<P, R>(interface: &mut LinkerInstance<'_, Cell>, name: &str, answer: fn() -> R) -> Result<()>
where
    P: wasmtime::component::ComponentNamedList + wasmtime::component::Lift + 'static,
    (R,): wasmtime::component::ComponentNamedList + wasmtime::component::Lower + 'static,
{
    interface.func_wrap(name, move |mut store: StoreContextMut<'_, Cell>, _: P| {
        charge(&mut store, 0)?;
        Ok((answer(),))
    })
}

/// A function that takes `P` and returns a new handle.
fn opener<P, T: 'static>(interface: &mut LinkerInstance<'_, Cell>, name: &str) -> Result<()>
where
    P: wasmtime::component::ComponentNamedList + wasmtime::component::Lift + 'static,
{
    interface.func_wrap(name, |mut store: StoreContextMut<'_, Cell>, _: P| {
        charge(&mut store, 0)?;
        Ok((handle::<T>(),))
    })
}
