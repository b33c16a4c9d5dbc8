//! Whatever else of WASI a component imports is there and says no: files, sockets, name look-ups.
//! Its own import types decide the shape of the answer.

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Val};
use wasmtime::{Engine, Result, StoreContextMut};

use super::{DEFINED, Denied, InputStream, IoError, OutputStream, Pollable, handle, resource, unreadable};
use crate::cell::{Cell, charge};

/// The names under which error codes spell a refusal.
const REFUSALS: [&str; 3] = ["access-denied", "access", "not-permitted"];

/// Defines the imports of `component` that have no definition of their own.
pub(crate) fn add(linker: &mut Linker<Cell>, component: &Component, engine: &Engine) -> Result<()> {
    let ty = component.component_type();
    for (name, import) in ty.imports(engine) {
        let ComponentItem::ComponentInstance(instance) = import.ty else { continue };
        let interface = name.split('@').next().unwrap_or_default();
        if DEFINED.contains(&interface) || !name.starts_with("wasi:") {
            continue;
        }
        let mut denied = linker.instance(name)?;
        for (item, export) in instance.exports(engine) {
            match export.ty {
                ComponentItem::Resource(_) => add_resource(&mut denied, item)?,
                ComponentItem::ComponentFunc(_) => denied.func_new(item, deny)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Resources of other interfaces bear their own names wherever they are used.
fn add_resource(interface: &mut LinkerInstance<'_, Cell>, name: &str) -> Result<()> {
    match name {
        "pollable" => resource::<Pollable>(interface, name),
        "input-stream" => resource::<InputStream>(interface, name),
        "output-stream" => resource::<OutputStream>(interface, name),
        "error" => resource::<IoError>(interface, name),
        _ => resource::<Denied>(interface, name),
    }
}

fn deny(
    mut store: StoreContextMut<'_, Cell>,
    function: ComponentFunc,
    _: &[Val],
    results: &mut [Val],
) -> Result<()> {
    charge(&mut store, 0)?;
    for (result, ty) in results.iter_mut().zip(function.results()) {
        *result = answer(&mut store, &ty)?;
    }
    Ok(())
}

/// The least a function can answer: a refusal, nothing, or a handle that opens nothing.
fn answer(store: &mut StoreContextMut<'_, Cell>, ty: &Type) -> Result<Val> {
    match ty {
        Type::Result(result) => match result.err() {
            Some(Type::Enum(codes)) => {
                let refusal = REFUSALS.into_iter().find(|name| codes.names().any(|code| code == *name));
                let refusal = refusal.ok_or_else(|| unreadable("a WASI function is denied here"))?;
                Ok(Val::Result(Err(Some(Box::new(Val::Enum(refusal.to_owned()))))))
            }
            None => Ok(Val::Result(Err(None))),
            Some(_) => Err(unreadable("a WASI function is denied here")),
        },
        Type::List(_) => Ok(Val::List(Vec::new())),
        Type::Option(_) => Ok(Val::Option(None)),
        Type::Own(ty) if *ty == ResourceType::host::<Denied>() => {
            let denied: Resource<Denied> = handle(store)?;
            Ok(Val::Resource(ResourceAny::try_from_resource(denied, store)?))
        }
        Type::Own(ty) if *ty == ResourceType::host::<Pollable>() => {
            let ready: Resource<Pollable> = handle(store)?;
            Ok(Val::Resource(ResourceAny::try_from_resource(ready, store)?))
        }
        _ => Err(unreadable("a WASI function is denied here")),
    }
}
