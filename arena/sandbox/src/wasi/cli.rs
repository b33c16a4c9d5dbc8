//! The command-line world: no environment, no arguments, no terminal.

use wasmtime::Error;
use wasmtime::Result;
use wasmtime::component::{Linker, Resource};

use super::{
    InputStream, OutputStream, TerminalInput, TerminalOutput, constant, interface, opener, resource,
};
use crate::cell::{Cell, charge};
use crate::ending::Stop;

pub(super) fn add_to(linker: &mut Linker<Cell>) -> Result<()> {
    let mut environment = interface(linker, "wasi:cli/environment")?;
    constant::<(), Vec<(String, String)>>(&mut environment, "get-environment", Vec::new)?;
    constant::<(), Vec<String>>(&mut environment, "get-arguments", Vec::new)?;
    constant::<(), Option<String>>(&mut environment, "initial-cwd", || None)?;

    let mut exit = interface(linker, "wasi:cli/exit")?;
    exit.func_wrap("exit", |mut store, _: (Result<(), ()>,)| {
        charge(&mut store, 0)?;
        Err::<(), _>(Error::from(Stop::Exited))
    })?;

    opener::<(), InputStream>(&mut interface(linker, "wasi:cli/stdin")?, "get-stdin")?;
    opener::<(), OutputStream>(&mut interface(linker, "wasi:cli/stdout")?, "get-stdout")?;
    opener::<(), OutputStream>(&mut interface(linker, "wasi:cli/stderr")?, "get-stderr")?;
    add_terminals(linker)
}

fn add_terminals(linker: &mut Linker<Cell>) -> Result<()> {
    resource::<TerminalInput>(&mut interface(linker, "wasi:cli/terminal-input")?, "terminal-input")?;
    resource::<TerminalOutput>(&mut interface(linker, "wasi:cli/terminal-output")?, "terminal-output")?;
    let mut stdin = interface(linker, "wasi:cli/terminal-stdin")?;
    constant::<(), Option<Resource<TerminalInput>>>(&mut stdin, "get-terminal-stdin", || None)?;
    for name in ["stdout", "stderr"] {
        let mut terminal = interface(linker, &format!("wasi:cli/terminal-{name}"))?;
        let function = format!("get-terminal-{name}");
        constant::<(), Option<Resource<TerminalOutput>>>(&mut terminal, &function, || None)?;
    }
    Ok(())
}
