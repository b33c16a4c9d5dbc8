use arena_canon::json::{Map, Pointer, Value};

use super::fault::Collector;
use super::fields::{Read, describe, quoted};

/// An object of the document with its place.
pub(super) struct Object<'v> {
    members: &'v Map<String, Value>,
    pub(super) at: Pointer,
}

impl<'v> Object<'v> {
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.members.get(name)
    }
}

/// Walks a document, collecting what is wrong. Every reader gives nothing after it has said why.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) faults: Collector,
}

impl Reader {
    pub(super) fn object<'v>(&mut self, value: &'v Value, at: Pointer) -> Option<Object<'v>> {
        let members = value.as_object();
        if members.is_none() {
            self.faults.add(&at, format!("expected an object, found {}", describe(value)));
        }
        members.map(|members| Object { members, at })
    }

    /// Members that nobody knows are refused: they would be taken for part of what was checked.
    pub(super) fn known(&mut self, object: &Object<'_>, names: &[&str]) {
        let unknown = object.members.keys().filter(|key| !names.contains(&key.as_str()));
        for key in unknown {
            // A key may be as long as the document.
            let short: String = key.chars().take(80).collect();
            let message = format!("unknown member {}; known here: {}", quoted(key), names.join(", "));
            self.faults.add(&object.at.key(&short), message);
        }
    }

    /// What `read` makes of a member, which has to be there.
    pub(super) fn member<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&Value) -> Read<T>,
    ) -> Option<T> {
        match object.members.get(name) {
            Some(value) => self.value(value, &object.at.key(name), read),
            None => {
                self.faults.add(&object.at, format!("the member {name:?} is missing"));
                None
            }
        }
    }

    /// The same, if it is there; `Some(None)` if it is not: absent and wrong are two answers.
    pub(super) fn optional<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&Value) -> Read<T>,
    ) -> Option<Option<T>> {
        match object.members.get(name) {
            Some(value) => self.value(value, &object.at.key(name), read).map(Some),
            None => Some(None),
        }
    }

    /// What `read` makes of a value.
    pub(super) fn value<T>(
        &mut self,
        value: &Value,
        at: &Pointer,
        read: impl FnOnce(&Value) -> Read<T>,
    ) -> Option<T> {
        read(value).map_err(|why| self.faults.add(at, why)).ok()
    }

    /// An array of at most `most` items, with its place.
    pub(super) fn array<'v>(
        &mut self,
        object: &Object<'v>,
        name: &str,
        most: usize,
    ) -> Option<(&'v [Value], Pointer)> {
        let at = object.at.key(name);
        match object.members.get(name) {
            Some(Value::Array(items)) if items.len() <= most => return Some((items, at)),
            Some(Value::Array(items)) => {
                self.faults.add(&at, format!("{} items; there are at most {most}", items.len()));
            }
            Some(other) => self.faults.add(&at, format!("expected an array, found {}", describe(other))),
            None => self.faults.add(&object.at, format!("the member {name:?} is missing")),
        }
        None
    }

    /// A member that is an object of its own.
    pub(super) fn inner<'v>(&mut self, object: &Object<'v>, name: &str) -> Option<Object<'v>> {
        match object.members.get(name) {
            Some(value) => self.object(value, object.at.key(name)),
            None => {
                self.faults.add(&object.at, format!("the member {name:?} is missing"));
                None
            }
        }
    }
}
