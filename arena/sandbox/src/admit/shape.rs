//! What a component is made of, from its bytes alone. The validator sees every byte, so what is
//! read here is well-formed under the features a guest may use.

use arena_engine::Excerpt;
use wasmparser::component_types::{ComponentAnyTypeId, ComponentEntityType, ComponentInstanceTypeId};
use wasmparser::types::{Types, TypesRef};
use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentType, ComponentTypeRef, Encoding,
    Instance, Parser, Payload, ValidPayload, Validator, WasmFeatures,
};

use super::Refusal;
use crate::config;

/// The parts of a component that admission rules speak of.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) imports: Vec<Import>,
    pub(super) exports: Vec<Export>,
    pub(super) core_instances: u64,
    pub(super) component_instances: u64,
    /// Functions that cross the border of the component, and the like.
    pub(super) canonical_functions: u64,
    /// Imported and its own.
    pub(super) resource_types: u64,
    /// Sums over all core instances, or of one module that is larger than that.
    pub(super) memories: u64,
    pub(super) tables: u64,
    pub(super) memory_bytes_min: u64,
    pub(super) table_elements_min: u64,
    /// Parameters or results of the function type that has most. A branch moves as many values for
    /// one unit of fuel.
    pub(super) values_max: u64,
    /// Functions, globals, imports and segments.
    pub(super) definitions_max: u64,
    /// Why values would pass between inner components, if they would.
    pub(super) adapter: Option<&'static str>,
}

#[derive(Debug)]
pub(super) struct Import {
    pub(super) name: String,
    /// Its type if it is an interface.
    pub(super) instance: Option<ComponentInstanceTypeId>,
}

#[derive(Debug)]
pub(super) struct Export {
    pub(super) name: String,
    pub(super) instance: ComponentInstanceTypeId,
}

/// Reads and validates every byte.
pub(super) fn read(bytes: &[u8]) -> Result<(Shape, Types), Refusal> {
    read_valid(bytes).map_err(|error| {
        let what = Excerpt { text: error.message(), max: 400 };
        let what = format!("{what} (at byte {})", error.offset());
        if Validator::new_with_features(WasmFeatures::all()).validate_all(bytes).is_ok() {
            let message = format!("it uses a feature of WebAssembly that is off here: {what}");
            let hint = "build for the features of Wasm 2.0 alone, as `arena build` does";
            return Refusal::new("admit.feature_not_allowed", message, hint);
        }
        let hint = "was the file cut short? build it again with `arena build`";
        Refusal::new("admit.invalid", format!("not a valid component: {what}"), hint)
    })
}

fn read_valid(bytes: &[u8]) -> wasmparser::Result<(Shape, Types)> {
    let mut validator = Validator::new_with_features(config::features());
    let mut reader = Reader::default();
    let mut scratch = wasmparser::FuncValidatorAllocations::default();
    let mut outermost = None;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        match validator.payload(&payload)? {
            ValidPayload::Func(function, body) => {
                let mut function = function.into_validator(scratch);
                function.validate(&body)?;
                scratch = function.into_allocations();
            }
            ValidPayload::End(types) => outermost = Some(types),
            ValidPayload::Ok | ValidPayload::Parser(_) => {}
        }
        reader.payload(payload)?;
    }
    let types = outermost.expect("a validated component has an end");
    Ok((reader.finish(&types), types))
}

/// Where a component function or instance comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Host,
    Inside,
}

/// What one instance of a core module takes.
#[derive(Debug, Clone, Copy, Default)]
struct Module {
    memories: u64,
    tables: u64,
    memory_bytes_min: u64,
    table_elements_min: u64,
    /// Functions, globals, imports and segments.
    definitions: u64,
}

#[derive(Default)]
struct Reader {
    shape: Shape,
    /// What is open: the outermost component first.
    open: Vec<Encoding>,
    /// The module being read, and those read so far, of the outermost component.
    module: Module,
    modules: Vec<Module>,
    /// All core instances together.
    instantiated: Module,
    functions: Vec<Origin>,
    instances: Vec<Origin>,
    /// Names and instance indices, resolved to types at the end.
    imports: Vec<(String, Option<u32>)>,
    exports: Vec<(String, u32)>,
}

impl Shape {
    fn at_least(&mut self, module: &Module) {
        self.memories = self.memories.max(module.memories);
        self.tables = self.tables.max(module.tables);
        self.memory_bytes_min = self.memory_bytes_min.max(module.memory_bytes_min);
        self.table_elements_min = self.table_elements_min.max(module.table_elements_min);
        self.definitions_max = self.definitions_max.max(module.definitions);
    }
}

impl Reader {
    fn payload(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::Version { encoding, .. } => self.start(encoding),
            Payload::End(_) => self.end(),
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    let ty = ty?;
                    let values = ty.params().len().max(ty.results().len()) as u64;
                    self.shape.values_max = self.shape.values_max.max(values);
                }
            }
            Payload::ImportSection(section) => self.define(section.count()),
            Payload::FunctionSection(section) => self.define(section.count()),
            Payload::GlobalSection(section) => self.define(section.count()),
            Payload::ElementSection(section) => self.define(section.count()),
            Payload::DataSection(section) => self.define(section.count()),
            Payload::MemorySection(section) => {
                for memory in section {
                    self.module.memories += 1;
                    let bytes = memory?.initial.saturating_mul(65_536);
                    self.module.memory_bytes_min = self.module.memory_bytes_min.saturating_add(bytes);
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    self.module.tables += 1;
                    let elements = table?.ty.initial;
                    self.module.table_elements_min = self.module.table_elements_min.saturating_add(elements);
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    self.canonical(&function?);
                }
            }
            other if self.open.len() == 1 => return self.outermost(other),
            // Instances that make instances double with every level.
            Payload::InstanceSection(_) | Payload::ComponentInstanceSection(_) => {
                self.adapter("a nested component makes instances");
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, encoding: Encoding) {
        if encoding == Encoding::Module {
            self.module = Module::default();
            if self.open.len() > 1 {
                self.adapter("a nested component has a core module");
            }
        }
        self.open.push(encoding);
    }

    fn end(&mut self) {
        if self.open.pop() == Some(Encoding::Module) {
            // The pool refuses what could not be made, though nothing makes it.
            self.shape.at_least(&self.module);
            if self.open.len() == 1 {
                self.modules.push(self.module);
            }
        }
    }

    fn define(&mut self, definitions: u32) {
        self.module.definitions += u64::from(definitions);
    }

    fn adapter(&mut self, why: &'static str) {
        self.shape.adapter.get_or_insert(why);
    }

    fn canonical(&mut self, function: &CanonicalFunction) {
        let nested = self.open.len() > 1;
        self.shape.canonical_functions += 1;
        match function {
            CanonicalFunction::Lift { .. } | CanonicalFunction::Lower { .. } if nested => {
                self.adapter("a nested component lifts or lowers functions");
            }
            CanonicalFunction::Lift { .. } => self.functions.push(Origin::Inside),
            CanonicalFunction::Lower { func_index, .. }
                if self.functions.get(*func_index as usize) != Some(&Origin::Host) =>
            {
                self.adapter("a function of an inner component is lowered");
            }
            _ => {}
        }
    }

    /// Sections of the outermost component.
    fn outermost(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::InstanceSection(section) => {
                for instance in section {
                    self.core_instance(&instance?);
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    instance?;
                    self.shape.component_instances += 1;
                    self.instances.push(Origin::Inside);
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section {
                    self.alias(&alias?);
                }
            }
            Payload::ComponentTypeSection(section) => {
                for ty in section {
                    self.shape.resource_types += u64::from(matches!(ty?, ComponentType::Resource { .. }));
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    let import = import?;
                    self.import(import.name.name, import.ty);
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    let export = export?;
                    self.export(export.name.name, export.kind, export.index);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn core_instance(&mut self, instance: &Instance<'_>) {
        self.shape.core_instances += 1;
        let Instance::Instantiate { module_index, .. } = instance else { return };
        let Some(module) = self.modules.get(*module_index as usize).copied() else { return };
        let all = &mut self.instantiated;
        all.memories += module.memories;
        all.tables += module.tables;
        all.memory_bytes_min = all.memory_bytes_min.saturating_add(module.memory_bytes_min);
        all.table_elements_min = all.table_elements_min.saturating_add(module.table_elements_min);
        all.definitions = all.definitions.saturating_add(module.definitions);
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) {
        match alias {
            ComponentAlias::InstanceExport { kind, instance_index, .. } => {
                let origin = self.instances.get(*instance_index as usize).copied().unwrap_or(Origin::Inside);
                self.add(*kind, origin);
            }
            // A core module that is aliased is not one of ours to count; nested ones are refused.
            ComponentAlias::CoreInstanceExport { .. } | ComponentAlias::Outer { .. } => {}
        }
    }

    fn import(&mut self, name: &str, ty: ComponentTypeRef) {
        let index = self.instances.len() as u32;
        self.add(ty.kind(), Origin::Host);
        let instance = (ty.kind() == ComponentExternalKind::Instance).then_some(index);
        self.imports.push((name.to_owned(), instance));
    }

    /// An export is an item of its own, with the origin of what it exports.
    fn export(&mut self, name: &str, kind: ComponentExternalKind, index: u32) {
        let space = match kind {
            ComponentExternalKind::Func => &self.functions,
            ComponentExternalKind::Instance => &self.instances,
            _ => return,
        };
        let origin = space.get(index as usize).copied().unwrap_or(Origin::Inside);
        self.add(kind, origin);
        if kind == ComponentExternalKind::Instance {
            self.exports.push((name.to_owned(), index));
        }
    }

    fn add(&mut self, kind: ComponentExternalKind, origin: Origin) {
        match kind {
            ComponentExternalKind::Func => self.functions.push(origin),
            ComponentExternalKind::Instance => self.instances.push(origin),
            _ => {}
        }
    }

    fn imported_resources(&self, types: TypesRef<'_>) -> u64 {
        let instances = self.imports.iter().filter_map(|(_, index)| *index);
        let items = instances.flat_map(|index| &types[types.component_instance_at(index)].exports);
        let resource =
            |ty| matches!(ty, ComponentEntityType::Type { created: ComponentAnyTypeId::Resource(_), .. });
        items.filter(|(_, item)| resource(item.ty)).count() as u64
    }

    fn finish(mut self, types: &Types) -> Shape {
        let types = types.as_ref();
        self.shape.at_least(&self.instantiated);
        self.shape.resource_types += self.imported_resources(types);
        self.shape.imports = self
            .imports
            .into_iter()
            .map(|(name, index)| {
                let instance = index.map(|index| types.component_instance_at(index));
                Import { name, instance }
            })
            .collect();
        self.shape.exports = self
            .exports
            .into_iter()
            .map(|(name, index)| Export { name, instance: types.component_instance_at(index) })
            .collect();
        self.shape
    }
}
