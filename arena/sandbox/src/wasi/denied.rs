//! Whatever else of WASI a component imports is there and says no: files, sockets, name look-ups.
//! Its own import types decide the shape of the answer.

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceAny, ResourceType, Val};
use wasmtime::{Engine, Result, StoreContextMut};

use super::{
    DEFINED, Denied, InputStream, IoError, OutputStream, Pollable, check_length, handle, resource, unreadable,
};
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
    parameters: &[Val],
    results: &mut [Val],
) -> Result<()> {
    let offered = parameters.iter().map(bytes).fold(0, usize::saturating_add);
    charge(&mut store, offered)?;
    check_length(&store, offered)?;
    parameters.iter().try_for_each(|value| give_back(&mut store, value))?;
    for (result, ty) in results.iter_mut().zip(function.results()) {
        *result = answer(&mut store, &ty)?;
    }
    Ok(())
}

/// The values inside a value.
fn inner(value: &Val) -> Box<dyn Iterator<Item = &Val> + '_> {
    match value {
        Val::List(values) | Val::FixedLengthList(values) | Val::Tuple(values) => Box::new(values.iter()),
        Val::Record(fields) => Box::new(fields.iter().map(|(_, value)| value)),
        Val::Map(pairs) => Box::new(pairs.iter().flat_map(|(key, value)| [key, value])),
        Val::Option(Some(value)) | Val::Variant(_, Some(value)) => Box::new(std::iter::once(&**value)),
        Val::Result(Ok(Some(value)) | Err(Some(value))) => Box::new(std::iter::once(&**value)),
        _ => Box::new(std::iter::empty()),
    }
}

/// What an item of a list takes on the host, about; the same on every machine, since it is a price.
const ITEM_BYTES: usize = 40;

/// Bytes of text and of lists in a value, as the host holds them: it was copied before anyone could
/// say no.
pub(super) fn bytes(value: &Val) -> usize {
    let inside = inner(value).map(bytes).fold(0, usize::saturating_add);
    match value {
        Val::String(text) => text.len(),
        Val::List(items) => inside.saturating_add(items.len().saturating_mul(ITEM_BYTES)),
        _ => inside,
    }
}

/// Lets go of the handles in a value: what was lent must be back when the call ends.
fn give_back(store: &mut StoreContextMut<'_, Cell>, value: &Val) -> Result<()> {
    match value {
        Val::Resource(handle) => handle.resource_drop(store),
        other => inner(other).try_for_each(|value| give_back(store, value)),
    }
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
            Ok(Val::Resource(ResourceAny::try_from_resource(handle::<Denied>(), store)?))
        }
        Type::Own(ty) if *ty == ResourceType::host::<Pollable>() => {
            Ok(Val::Resource(ResourceAny::try_from_resource(handle::<Pollable>(), store)?))
        }
        _ => Err(unreadable("a WASI function is denied here")),
    }
}
