//! One configuration for admission and running. Everything here that could change a result is
//! frozen with the limits, and `settings` names it; ARCHITECTURE.md lists it.

mod settings;

use arena_engine::limits::{Limits, V1};
use wasmparser::WasmFeatures;
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OperatorCost, OptLevel, PoolingAllocationConfig,
    RegallocAlgorithm,
};

use crate::host::Seats;

pub use settings::{engine_digest, engine_settings};

/// Native stack of a guest. Call guests on threads with at least four times as much.
const WASM_STACK_BYTES: usize = 512 << 10;
/// One NaN for all: its bits would tell machines apart.
const NAN_CANONICALIZATION: bool = true;
/// Relaxed instructions are refused; were they not, they would have to be the same everywhere.
const RELAXED_SIMD_DETERMINISTIC: bool = true;

/// What one component may be made of. The pool reserves room for it, and admission refuses more.
pub(crate) struct Parts {
    pub(crate) component_instances: u32,
    pub(crate) core_instances: u32,
    pub(crate) memories: u32,
    pub(crate) tables: u32,
    /// Functions, globals, imports and segments: what the bookkeeping of modules grows with.
    pub(crate) definitions: u32,
    /// Parameters or results of one type: a branch moves as many values for one unit of fuel, which
    /// must not be slower than a load that misses every cache.
    pub(crate) values_per_type: u32,
    /// Lifted and lowered functions of the component: what its own bookkeeping grows with.
    pub(crate) canonical_functions: u32,
    /// Resource types, imported and its own: the same.
    pub(crate) resource_types: u32,
}

/// Ordinary Python output has the most of all: a main module, its libraries and adapters.
pub(crate) const PARTS: Parts = Parts {
    component_instances: 64,
    core_instances: 32,
    memories: 4,
    tables: 8,
    definitions: 60_000,
    values_per_type: 100,
    canonical_functions: 10_000,
    resource_types: 1_000,
};

/// Most bookkeeping of the runtime for one instance; what admission lets through fits.
const INSTANCE_BYTES: usize = 4 << 20;

/// The proposals a guest may use: what is deterministic and needed, nothing else.
pub(crate) fn features() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::REFERENCE_TYPES
        | WasmFeatures::MULTI_VALUE
        | WasmFeatures::BULK_MEMORY
        | WasmFeatures::SIMD
        | WasmFeatures::FLOATS
        | WasmFeatures::COMPONENT_MODEL
}

pub(crate) fn config(seats: Seats, optimised: bool) -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .operator_cost(operator_cost())
        .epoch_interruption(true)
        .cranelift_nan_canonicalization(NAN_CANONICALIZATION)
        .cranelift_regalloc_algorithm(RegallocAlgorithm::Backtracking)
        .max_wasm_stack(WASM_STACK_BYTES)
        .memory_init_cow(true)
        .relaxed_simd_deterministic(RELAXED_SIMD_DETERMINISTIC)
        .cranelift_opt_level(if optimised { OptLevel::Speed } else { OptLevel::None })
        .wasm_backtrace_details(wasmtime::WasmBacktraceDetails::Enable)
        .wasm_features(WasmFeatures::all().difference(features()), false);
    if let Seats::Pooled(seats) = seats {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(seats, &V1)));
    }
    config
}

/// So few seats may keep some of their memory between two guests.
const FEW_SEATS: u32 = 64;
/// What a seat keeps of a memory: all of a small Rust guest's, and what it grows by.
const RESIDENT_BYTES: usize = 256 << 10;
/// What a seat keeps of a table.
const TABLE_RESIDENT_BYTES: usize = 4 << 10;

fn pool(seats: u32, limits: &Limits) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(seats)
        // Every seat may have all its parts at once: a guest that takes them cannot empty the pool.
        .total_core_instances(seats.saturating_mul(PARTS.core_instances))
        .total_memories(seats.saturating_mul(PARTS.memories))
        .total_tables(seats.saturating_mul(PARTS.tables))
        .max_core_instances_per_component(PARTS.core_instances)
        .max_memories_per_component(PARTS.memories)
        .max_tables_per_component(PARTS.tables)
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_memories_per_module(1)
        .max_tables_per_module(PARTS.tables)
        .max_memory_size(limits.memory_bytes_max as usize)
        .table_elements(limits.table_elements_max as usize);
    if seats <= FEW_SEATS {
        // Cleared by writing, not by unmapping: a small guest's next seat then meets no page fault. Where the
        // kernel can say which pages were written, only these are.
        pool.linear_memory_keep_resident(RESIDENT_BYTES)
            .table_keep_resident(TABLE_RESIDENT_BYTES)
            .pagemap_scan(Enabled::Auto);
    }
    pool
}

/// Loads 4, stores 2, division, square root and remainder 8, calls 2, growth 255 whatever its size,
/// bulk operations 1 a byte or element, what generates no code 0, the rest 1.
fn operator_cost() -> OperatorCost {
    let mut cost = OperatorCost::new();
    macro_rules! set {
        ($price:literal: $($operator:ident)*) => { $(cost.$operator = $price;)* };
    }
    set!(4: I32Load I64Load F32Load F64Load I32Load8S I32Load8U I32Load16S I32Load16U I64Load8S I64Load8U
        I64Load16S I64Load16U I64Load32S I64Load32U V128Load V128Load8x8S V128Load8x8U V128Load16x4S
        V128Load16x4U V128Load32x2S V128Load32x2U V128Load8Splat V128Load16Splat V128Load32Splat
        V128Load64Splat V128Load32Zero V128Load64Zero V128Load8Lane V128Load16Lane V128Load32Lane
        V128Load64Lane);
    set!(2: I32Store I64Store F32Store F64Store I32Store8 I32Store16 I64Store8 I64Store16 I64Store32
        V128Store V128Store8Lane V128Store16Lane V128Store32Lane V128Store64Lane);
    set!(8: I32DivS I32DivU I64DivS I64DivU I32RemS I32RemU I64RemS I64RemU F32Div F64Div F32Sqrt F64Sqrt
        F32x4Div F64x2Div F32x4Sqrt F64x2Sqrt);
    set!(2: Call CallIndirect CallRef ReturnCall ReturnCallIndirect ReturnCallRef);
    set!(255: MemoryGrow TableGrow);
    // A price per page would turn `memory.grow(-1)` into spent fuel.
    cost.variable.memory_grow_per_page = 0;
    cost.variable.table_grow_per_element = 0;
    cost
}
