//! The one folder there is: an experiment's pinned inputs at `/inputs`, read-only, in the order of their
//! names, all of one time. Whatever else of files a component imports says no.

use wasmtime::component::{
    Component, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Val, types::ComponentItem,
};
use wasmtime::{Engine, Error, Result, StoreContextMut};

use super::io::StreamError;
use super::{InputStream, check_length, denied, interface, unreadable};
use crate::cell::{Cell, charge};
use crate::experiment::{Cursor, Desk};
use crate::seat::MATRIX_START_SECONDS as START_SECONDS;

const FOLDER: &str = "/inputs";
/// Bytes that come at once through a stream.
const READ_BYTES_MAX: u64 = 1 << 20;
/// The same without one, where every byte is a value of its own on the host.
const PLAIN_READ_BYTES_MAX: u64 = 16 << 10;

/// The folder or one of its files, by what it is a handle of: 0 is the folder, n + 1 the n-th input.
enum Descriptor {}
enum Entries {}

/// Defines what a component imports of files, over the refusals it has been linked with.
pub(crate) fn add(linker: &mut Linker<Cell>, component: &Component, engine: &Engine) -> Result<()> {
    linker.allow_shadowing(true);
    add_streams(&mut interface(linker, "wasi:io/streams")?)?;
    let ty = component.component_type();
    for (name, import) in ty.imports(engine) {
        let ComponentItem::ComponentInstance(_) = import.ty else { continue };
        match name.split('@').next().unwrap_or_default() {
            "wasi:filesystem/preopens" => add_preopens(&mut linker.instance(name)?)?,
            "wasi:filesystem/types" => add_types(&mut linker.instance(name)?)?,
            _ => {}
        }
    }
    linker.allow_shadowing(false);
    Ok(())
}

fn add_streams(streams: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    streams.resource("input-stream", ResourceType::host::<InputStream>(), |mut store, rep| {
        charge(&mut store, 0)?;
        desk(&mut store)?.close_cursor(rep);
        Ok(())
    })?;
    type Read = (Resource<InputStream>, u64);
    for name in ["read", "blocking-read"] {
        let name = format!("[method]input-stream.{name}");
        streams.func_wrap(&name, |mut store: StoreContextMut<'_, Cell>, (this, len): Read| {
            let Some((bytes, range)) = desk(&mut store)?.advance(this.rep(), len.min(READ_BYTES_MAX)) else {
                charge(&mut store, 0)?;
                return Ok((Err(StreamError::Closed),));
            };
            charge(&mut store, range.len())?;
            Ok((Ok(bytes[range].to_vec()),))
        })?;
    }
    for name in ["skip", "blocking-skip"] {
        let name = format!("[method]input-stream.{name}");
        streams.func_wrap(&name, |mut store: StoreContextMut<'_, Cell>, (this, len): Read| {
            charge(&mut store, 0)?;
            let part = desk(&mut store)?.advance(this.rep(), len);
            Ok((part.map(|(_, range)| range.len() as u64).ok_or(StreamError::Closed),))
        })?;
    }
    Ok(())
}

fn add_preopens(preopens: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    add_descriptor(preopens)?;
    preopens.func_new("get-directories", |mut store, _, _, results| {
        charge(&mut store, FOLDER.len())?;
        let folder = handle::<Descriptor>(&mut store, 0)?;
        results[0] = Val::List(vec![Val::Tuple(vec![folder, Val::String(FOLDER.to_owned())])]);
        Ok(())
    })
}

/// A resource bears its name wherever it is used.
fn add_descriptor(interface: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    interface.resource("descriptor", ResourceType::host::<Descriptor>(), |mut store, _| charge(&mut store, 0))
}

type Store<'s> = StoreContextMut<'s, Cell>;
/// What a method answers: its value, or the name of an error code.
type Answer = std::result::Result<Option<Val>, &'static str>;

fn add_types(types: &mut LinkerInstance<'_, Cell>) -> Result<()> {
    add_descriptor(types)?;
    types.resource("directory-entry-stream", ResourceType::host::<Entries>(), |mut store, rep| {
        charge(&mut store, 0)?;
        desk(&mut store)?.close_cursor(rep);
        Ok(())
    })?;
    method::<Descriptor>(types, "descriptor.open-at", open)?;
    method::<Descriptor>(types, "descriptor.get-flags", |_, _, _| {
        Ok(Ok(Some(Val::Flags(vec!["read".to_owned()]))))
    })?;
    method::<Descriptor>(types, "descriptor.get-type", |_, rep, _| Ok(Ok(Some(kind(rep)))))?;
    method::<Descriptor>(types, "descriptor.stat", |store, rep, _| Ok(Ok(Some(stat(store, rep)?))))?;
    method::<Descriptor>(types, "descriptor.stat-at", |store, rep, given| {
        match at(store, rep, given.get(1))? {
            Ok(rep) => Ok(Ok(Some(stat(store, rep)?))),
            Err(code) => Ok(Err(code)),
        }
    })?;
    method::<Descriptor>(types, "descriptor.metadata-hash", |_, rep, _| Ok(Ok(Some(hash(rep)))))?;
    method::<Descriptor>(types, "descriptor.metadata-hash-at", |store, rep, given| {
        Ok(at(store, rep, given.get(1))?.map(|rep| Some(hash(rep))))
    })?;
    method::<Descriptor>(types, "descriptor.read", read)?;
    method::<Descriptor>(types, "descriptor.read-via-stream", |store, rep, given| {
        let (Some(file), Some(Val::U64(offset))) = (rep.checked_sub(1), given.first()) else {
            return Ok(Err("is-directory"));
        };
        let cursor = desk(store)?.open_cursor(Cursor::File { file, offset: *offset })?;
        Ok(Ok(Some(handle::<InputStream>(store, cursor)?)))
    })?;
    method::<Descriptor>(types, "descriptor.read-directory", |store, rep, _| {
        if rep != 0 {
            return Ok(Err("not-directory"));
        }
        let cursor = desk(store)?.open_cursor(Cursor::Folder { next: 0 })?;
        Ok(Ok(Some(handle::<Entries>(store, cursor)?)))
    })?;
    method::<Entries>(types, "directory-entry-stream.read-directory-entry", |store, rep, _| {
        let entry = desk(store)?.next_name(rep).map(|name| {
            let members = [("type", kind(1)), ("name", Val::String(name))];
            Box::new(record(members))
        });
        Ok(Ok(Some(Val::Option(entry))))
    })
}

/// Defines a method that may fail with an error code. What it is given is charged like everywhere.
fn method<R: 'static>(
    types: &mut LinkerInstance<'_, Cell>,
    name: &str,
    answer: fn(&mut Store<'_>, u32, &[Val]) -> Result<Answer>,
) -> Result<()> {
    types.func_new(&format!("[method]{name}"), move |mut store, _, given, results| {
        let offered = given.iter().map(denied::bytes).fold(0, usize::saturating_add);
        charge(&mut store, offered)?;
        check_length(&store, offered)?;
        let Some((Val::Resource(this), given)) = given.split_first() else {
            return Err(unreadable("a method without its object"));
        };
        let this = this.try_into_resource::<R>(&mut store)?.rep();
        results[0] = match answer(&mut store, this, given)? {
            Ok(value) => Val::Result(Ok(value.map(Box::new))),
            Err(code) => Val::Result(Err(Some(Box::new(Val::Enum(code.to_owned()))))),
        };
        Ok(())
    })
}

/// `path-flags, path, open-flags, descriptor-flags`: nothing but to read.
fn open(store: &mut Store<'_>, rep: u32, given: &[Val]) -> Result<Answer> {
    let found = at(store, rep, given.get(1))?;
    let has = |flags: Option<&Val>, names: &[&str]| match flags {
        Some(Val::Flags(set)) => set.iter().any(|flag| names.contains(&flag.as_str())),
        _ => false,
    };
    let (open, access) = (given.get(2), given.get(3));
    if has(open, &["create", "exclusive", "truncate"]) || has(access, &["write", "mutate-directory"]) {
        return Ok(Err("read-only"));
    }
    match found {
        Ok(file) if file != 0 && has(open, &["directory"]) => Ok(Err("not-directory")),
        Ok(found) => Ok(Ok(Some(handle::<Descriptor>(store, found)?))),
        Err(code) => Ok(Err(code)),
    }
}

/// `length, offset`.
fn read(store: &mut Store<'_>, rep: u32, given: &[Val]) -> Result<Answer> {
    let (Some(file), [Val::U64(length), Val::U64(offset)]) = (rep.checked_sub(1), given) else {
        return Ok(Err("is-directory"));
    };
    let length = (*length).min(PLAIN_READ_BYTES_MAX);
    let (bytes, range) = desk(store)?.file_part(file, *offset, length).ok_or_else(gone)?;
    charge(store, range.len())?;
    let end = range.end == bytes.len();
    let list = bytes[range].iter().map(|byte| Val::U8(*byte)).collect();
    Ok(Ok(Some(Val::Tuple(vec![Val::List(list), Val::Bool(end)]))))
}

/// What a path leads to from the folder.
fn at(store: &mut Store<'_>, rep: u32, path: Option<&Val>) -> Result<std::result::Result<u32, &'static str>> {
    let Some(Val::String(path)) = path else { return Err(unreadable("a path that is no text")) };
    if rep != 0 {
        return Ok(Err("not-directory"));
    }
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Ok(Err("not-permitted"));
    }
    match (parts.next(), parts.next()) {
        (None, _) => Ok(Ok(0)),
        (Some(name), None) => Ok(desk(store)?.file_named(name).map(|file| file + 1).ok_or("no-entry")),
        (Some(_), Some(_)) => Ok(Err("no-entry")),
    }
}

fn kind(rep: u32) -> Val {
    Val::Enum(if rep == 0 { "directory" } else { "regular-file" }.to_owned())
}

fn stat(store: &mut Store<'_>, rep: u32) -> Result<Val> {
    let size = match rep.checked_sub(1) {
        Some(file) => desk(store)?.file_part(file, 0, u64::MAX).ok_or_else(gone)?.0.len() as u64,
        None => 0,
    };
    let time = || {
        let stamp = record([("seconds", Val::U64(START_SECONDS)), ("nanoseconds", Val::U32(0))]);
        Val::Option(Some(Box::new(stamp)))
    };
    Ok(record([
        ("type", kind(rep)),
        ("link-count", Val::U64(1)),
        ("size", Val::U64(size)),
        ("data-access-timestamp", time()),
        ("data-modification-timestamp", time()),
        ("status-change-timestamp", time()),
    ]))
}

fn hash(rep: u32) -> Val {
    record([("lower", Val::U64(rep.into())), ("upper", Val::U64(0))])
}

fn record<const N: usize>(members: [(&str, Val); N]) -> Val {
    Val::Record(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn handle<T: 'static>(store: &mut Store<'_>, rep: u32) -> Result<Val> {
    Ok(Val::Resource(ResourceAny::try_from_resource(Resource::<T>::new_own(rep), store)?))
}

fn gone() -> Error {
    unreadable("a handle of no input")
}

fn desk<'s>(store: &'s mut Store<'_>) -> Result<&'s mut Desk> {
    store.data_mut().desk.as_deref_mut().ok_or_else(|| unreadable("only a run of an experiment has inputs"))
}
