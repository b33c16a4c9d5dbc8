//! Streams and pollables: input is at its end, output is counted and dropped, all is ready at once.

use wasmtime::component::{ComponentType, Lift, Linker, LinkerInstance, Lower, Resource, WasmList};
use wasmtime::{Result, StoreContextMut};

use super::{
    InputStream, IoError, OutputStream, Pollable, check_length, constant, interface, opener, resource,
    unreadable,
};
use crate::cell::{Cell, charge};

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
pub(super) enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<IoError>),
    #[component(name = "closed")]
    Closed,
}

/// Bytes a guest is told it may write at once.
const WRITE_BYTES_MAX: u64 = 64 << 10;
/// Pollables in one call; more cannot be told apart anyway.
const POLL_MAX: usize = 4_096;

pub(super) fn add_to(linker: &mut Linker<Cell>) -> Result<()> {
    let mut error = interface(linker, "wasi:io/error")?;
    resource::<IoError>(&mut error, "error")?;
    constant::<(Resource<IoError>,), String>(&mut error, "[method]error.to-debug-string", String::new)?;
    add_poll(&mut interface(linker, "wasi:io/poll")?)?;
    let mut streams = interface(linker, "wasi:io/streams")?;
    resource::<InputStream>(&mut streams, "input-stream")?;
    resource::<OutputStream>(&mut streams, "output-stream")?;
    add_input(&mut streams)?;
    add_output(&mut streams)
}

fn add_poll(poll: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    type Self_ = (Resource<Pollable>,);
    resource::<Pollable>(poll, "pollable")?;
    constant::<Self_, bool>(poll, "[method]pollable.ready", || true)?;
    poll.func_wrap("[method]pollable.block", |mut store, _: Self_| charge(&mut store, 0))?;
    poll.func_wrap("poll", |mut store, (all,): (WasmList<Resource<Pollable>>,)| {
        charge(&mut store, all.len().saturating_mul(4))?;
        if all.len() > POLL_MAX {
            return Err(unreadable("poll was given too many pollables"));
        }
        let ready: Vec<u32> = (0u32..).take(all.len()).collect();
        Ok((ready,))
    })
}

fn add_input(streams: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    type Read = (Resource<InputStream>, u64);
    for name in ["read", "blocking-read"] {
        let name = format!("[method]input-stream.{name}");
        constant::<Read, Result<Vec<u8>, StreamError>>(streams, &name, || Err(StreamError::Closed))?;
    }
    for name in ["skip", "blocking-skip"] {
        let name = format!("[method]input-stream.{name}");
        constant::<Read, Result<u64, StreamError>>(streams, &name, || Err(StreamError::Closed))?;
    }
    opener::<(Resource<InputStream>,), Pollable>(streams, "[method]input-stream.subscribe")
}

fn add_output(streams: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    type Self_ = (Resource<OutputStream>,);
    type Done = Result<(), StreamError>;
    constant::<Self_, Result<u64, StreamError>>(streams, "[method]output-stream.check-write", || {
        Ok(WRITE_BYTES_MAX)
    })?;
    for name in ["flush", "blocking-flush"] {
        constant::<Self_, Done>(streams, &format!("[method]output-stream.{name}"), || Ok(()))?;
    }
    for name in ["write", "blocking-write-and-flush"] {
        let name = format!("[method]output-stream.{name}");
        streams.func_wrap(&name, |mut store, (_, bytes): (Resource<OutputStream>, WasmList<u8>)| {
            let done = drop_output(&mut store, bytes.len() as u64)?;
            check_length(&store, bytes.len())?;
            Ok(done)
        })?;
    }
    for name in ["write-zeroes", "blocking-write-zeroes-and-flush"] {
        let name = format!("[method]output-stream.{name}");
        streams.func_wrap(&name, |mut store, (_, length): (Resource<OutputStream>, u64)| {
            drop_output(&mut store, length)
        })?;
    }
    for name in ["splice", "blocking-splice"] {
        type Splice = (Resource<OutputStream>, Resource<InputStream>, u64);
        let name = format!("[method]output-stream.{name}");
        constant::<Splice, Result<u64, StreamError>>(streams, &name, || Err(StreamError::Closed))?;
    }
    opener::<Self_, Pollable>(streams, "[method]output-stream.subscribe")
}

/// Charged before anything is looked at, so the size of a write costs the guest and not the host.
fn drop_output(store: &mut StoreContextMut<'_, Cell>, bytes: u64) -> Result<(Result<(), StreamError>,)> {
    charge(store, usize::try_from(bytes).unwrap_or(usize::MAX))?;
    store.data_mut().log.drop_bytes(bytes);
    Ok((Ok(()),))
}
