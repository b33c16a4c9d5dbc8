//! Compares an interface's functions with what this host plays, type by type, and names the first
//! difference.

use wasmparser::component_types::{
    ComponentDefinedType, ComponentEntityType, ComponentFuncTypeId, ComponentInstanceTypeId, ComponentValType,
};
use wasmparser::types::TypesRef;

use crate::game::Game;

/// The interfaces of a game as this host plays it, one line a place: `place: type`. Generated from
/// `wit/`.
struct Spelled {
    functions: &'static [&'static str],
    player: &'static str,
    host: &'static str,
}

fn spelled(game: Game) -> Spelled {
    match game {
        Game::Campus => Spelled {
            functions: &["act", "brief", "notice"],
            player: include_str!("campus-player.txt"),
            host: include_str!("campus-host.txt"),
        },
        Game::Matrix => Spelled {
            functions: &["act", "brief"],
            player: include_str!("matrix-player.txt"),
            host: include_str!("matrix-host.txt"),
        },
    }
}

/// The same of an experiment.
const EXPERIMENT_RUNNER: &str = include_str!("experiment-runner.txt");
const EXPERIMENT_HOST: &str = include_str!("experiment-host.txt");

/// Checks the exported `player`: every function must be there, and extra ones are never called.
pub(super) fn check_player(
    game: Game,
    types: TypesRef<'_>,
    found: ComponentInstanceTypeId,
) -> Result<(), String> {
    let spelled = spelled(game);
    for function in spelled.functions {
        let id = function_of(types, found, function)
            .ok_or_else(|| format!("player does not export the function `{function}`"))?;
        compare(spelled.player, types, function, id)?;
    }
    Ok(())
}

/// Checks the imported `host`: whatever is imported must be there.
pub(super) fn check_host(
    game: Game,
    types: TypesRef<'_>,
    found: ComponentInstanceTypeId,
) -> Result<(), String> {
    for (name, item) in &types[found].exports {
        let shown = arena_engine::Excerpt { text: name, max: 80 };
        match item.ty {
            ComponentEntityType::Func(id) if name == "log" => compare(spelled(game).host, types, name, id)?,
            ComponentEntityType::Type { .. } => {}
            _ => return Err(format!("host has no `{shown}`; it offers `log`")),
        }
    }
    Ok(())
}

/// Checks the imported `types`: they are types, and nothing to call.
pub(super) fn check_types(types: TypesRef<'_>, found: ComponentInstanceTypeId) -> Result<(), String> {
    let other =
        types[found].exports.iter().find(|(_, item)| !matches!(item.ty, ComponentEntityType::Type { .. }));
    match other {
        None => Ok(()),
        Some((name, _)) => {
            let shown = arena_engine::Excerpt { text: name, max: 80 };
            Err(format!("types has no `{shown}`; it offers types alone"))
        }
    }
}

/// Checks the exported `runner` of an experiment.
pub(super) fn check_runner(types: TypesRef<'_>, found: ComponentInstanceTypeId) -> Result<(), String> {
    let run = function_of(types, found, "run").ok_or("runner does not export the function `run`")?;
    compare(EXPERIMENT_RUNNER, types, "run", run)
}

/// Checks an experiment's imported `host`: whatever is imported must be there.
pub(super) fn check_experiment_host(
    types: TypesRef<'_>,
    found: ComponentInstanceTypeId,
) -> Result<(), String> {
    const OFFERED: [&str; 5] = ["input-names", "input-len", "read-input", "output", "log"];
    for (name, item) in &types[found].exports {
        match item.ty {
            ComponentEntityType::Func(id) if OFFERED.contains(&name.as_str()) => {
                compare(EXPERIMENT_HOST, types, name, id)?;
            }
            ComponentEntityType::Type { .. } => {}
            _ => {
                let shown = arena_engine::Excerpt { text: name, max: 80 };
                return Err(format!("host has no `{shown}`; it offers {}", OFFERED.join(", ")));
            }
        }
    }
    Ok(())
}

fn function_of(
    types: TypesRef<'_>,
    instance: ComponentInstanceTypeId,
    name: &str,
) -> Option<ComponentFuncTypeId> {
    match types[instance].exports.get(name)?.ty {
        ComponentEntityType::Func(id) => Some(id),
        _ => None,
    }
}

fn compare(
    expected: &str,
    types: TypesRef<'_>,
    name: &str,
    found: ComponentFuncTypeId,
) -> Result<(), String> {
    let start = format!("{name}(");
    let mut expected = expected.lines().filter(|line| line.starts_with(&start));
    // One line more than expected is enough to tell; a type can be larger than memory when spelled.
    let mut lines = Lines { most: expected.clone().count() + 1, lines: Vec::new() };
    lines.function(types, name, found);
    let mut found = lines.lines.into_iter();
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return Ok(()),
            (Some(wanted), Some(line)) if wanted == line => {}
            (wanted, line) => {
                let wanted = wanted.unwrap_or("nothing more");
                let line = line.unwrap_or_else(|| "nothing more".to_owned());
                let line = arena_engine::Excerpt { text: &line, max: 160 };
                return Err(format!("found `{line}` where this host has `{wanted}`"));
            }
        }
    }
}

/// A function's type spelled out, one line a place.
struct Lines {
    most: usize,
    lines: Vec<String>,
}

impl Lines {
    fn function(&mut self, types: TypesRef<'_>, name: &str, id: ComponentFuncTypeId) {
        let function = &types[id];
        if function.async_ {
            self.push(&format!("{name}()"), "async");
        }
        let parameters: Vec<&str> = function.params.iter().map(|(name, _)| name.as_str()).collect();
        self.push(&format!("{name}({})", parameters.join(", ")), "func");
        for (parameter, ty) in &function.params {
            self.value(types, &format!("{name}({parameter})"), *ty);
        }
        if let Some(result) = function.result {
            self.value(types, &format!("{name}() ->"), result);
        }
    }

    fn push(&mut self, place: &str, ty: &str) {
        if self.lines.len() < self.most {
            self.lines.push(format!("{place}: {ty}"));
        }
    }

    fn full(&self) -> bool {
        self.lines.len() >= self.most
    }

    fn value(&mut self, types: TypesRef<'_>, place: &str, ty: ComponentValType) {
        match ty {
            ComponentValType::Primitive(primitive) => self.push(place, &primitive.to_string()),
            ComponentValType::Type(id) => self.defined(types, place, &types[id]),
        }
    }

    fn defined(&mut self, types: TypesRef<'_>, place: &str, ty: &ComponentDefinedType) {
        if self.full() {
            return;
        }
        match ty {
            ComponentDefinedType::Primitive(primitive) => self.push(place, &primitive.to_string()),
            ComponentDefinedType::Record(record) => {
                self.push(place, "record");
                let fields = record.fields.iter().map(|(name, ty)| (name.as_str(), Some(*ty)));
                self.members(types, place, fields);
            }
            ComponentDefinedType::Variant(variant) => {
                self.push(place, "variant");
                let cases = variant.cases.iter().map(|(name, case)| (name.as_str(), case.ty));
                self.members(types, place, cases);
            }
            ComponentDefinedType::Enum(names) => {
                let names: Vec<&str> = names.iter().take(64).map(|name| name.as_str()).collect();
                self.push(place, &format!("enum {}", names.join(" ")));
            }
            ComponentDefinedType::List { element: item, .. } => {
                self.push(place, "list");
                self.value(types, &format!("{place}[]"), *item);
            }
            ComponentDefinedType::Option { ty, .. } => {
                self.push(place, "option");
                self.value(types, &format!("{place}?"), *ty);
            }
            ComponentDefinedType::Result { ok, err, .. } => {
                self.push(place, "result");
                self.members(types, place, [("ok", *ok), ("err", *err)].into_iter());
            }
            // The worlds have no other types; that one is there is difference enough.
            other => self.push(place, &kind(other)),
        }
    }

    fn members<'n>(
        &mut self,
        types: TypesRef<'_>,
        place: &str,
        members: impl Iterator<Item = (&'n str, Option<ComponentValType>)>,
    ) {
        for (name, ty) in members {
            if self.full() {
                return;
            }
            let place = format!("{place}.{name}");
            match ty {
                Some(ty) => self.value(types, &place, ty),
                None => self.push(&place, "case"),
            }
        }
    }
}

fn kind(ty: &ComponentDefinedType) -> String {
    let debug = format!("{ty:?}");
    debug.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
