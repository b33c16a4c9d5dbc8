//! The configuration as data: everything of it that decides what a guest computes, what that costs, and where
//! it ends. How fast it runs is not in it, nor on which machine.

use std::collections::BTreeMap;

use arena_canon::{Digest, json};
use arena_engine::limits::{Limits, V1};

use super::{NAN_CANONICALIZATION, PARTS, Parts, RELAXED_SIMD_DETERMINISTIC, WASM_STACK_BYTES};
use crate::WASMTIME_VERSION;
use crate::experiment;
use crate::wasi;

/// The settings by name, each as text. Two sandboxes with the same settings give the same results.
pub fn engine_settings() -> BTreeMap<&'static str, String> {
    let features = super::features();
    let features: Vec<_> = features.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    let mut settings = BTreeMap::from([
        ("wasmtime", WASMTIME_VERSION.to_owned()),
        ("features", features.join(" ")),
        ("nan_canonicalization", NAN_CANONICALIZATION.to_string()),
        ("relaxed_simd_deterministic", RELAXED_SIMD_DETERMINISTIC.to_string()),
        ("wasm_stack_bytes", WASM_STACK_BYTES.to_string()),
        // Fuel of every operator, those that keep the runtime's own price included.
        ("operator_cost_sha256", Digest::of(&json::canonical_of(&super::operator_cost())).to_string()),
        ("wasi", wasi::VERSION.to_owned()),
    ]);
    settings.extend(limits(&V1).map(|(name, value)| (name, value.to_string())));
    settings.extend(parts(&PARTS).map(|(name, value)| (name, value.to_string())));
    settings.extend(experiments().map(|(name, value)| (name, value.to_string())));
    settings
}

/// SHA-256 of the canonical JSON of [`engine_settings`]: what a claim pins as its engine's configuration.
pub fn engine_digest() -> Digest {
    Digest::of(&json::canonical_of(&engine_settings()))
}

/// Named one by one: a new limit does not compile until it is in the digest.
fn limits(limits: &Limits) -> [(&'static str, u64); 12] {
    let Limits {
        version,
        component_bytes_max,
        memory_bytes_max,
        table_elements_max,
        brief_fuel_max,
        turn_fuel_max,
        episode_fuel_max,
        turn_log_bytes_max,
        episode_log_bytes_max,
        guest_text_bytes_max,
        call_cpu_seconds_max,
        host_call_fuel,
    } = *limits;
    [
        ("limits_version", version.into()),
        ("component_bytes_max", component_bytes_max),
        ("memory_bytes_max", memory_bytes_max),
        ("table_elements_max", table_elements_max.into()),
        ("brief_fuel_max", brief_fuel_max),
        ("turn_fuel_max", turn_fuel_max),
        ("episode_fuel_max", episode_fuel_max),
        ("turn_log_bytes_max", turn_log_bytes_max.into()),
        ("episode_log_bytes_max", episode_log_bytes_max.into()),
        ("guest_text_bytes_max", guest_text_bytes_max.into()),
        ("call_cpu_seconds_max", call_cpu_seconds_max.into()),
        ("host_call_fuel", host_call_fuel),
    ]
}

/// What a component may be made of: it decides who is admitted.
fn parts(parts: &Parts) -> [(&'static str, u64); 8] {
    let Parts {
        component_instances,
        core_instances,
        memories,
        tables,
        definitions,
        values_per_type,
        canonical_functions,
        resource_types,
    } = *parts;
    [
        ("component_instances_max", component_instances.into()),
        ("core_instances_max", core_instances.into()),
        ("memories_max", memories.into()),
        ("tables_max", tables.into()),
        ("definitions_max", definitions.into()),
        ("values_per_type_max", values_per_type.into()),
        ("canonical_functions_max", canonical_functions.into()),
        ("resource_types_max", resource_types.into()),
    ]
}

fn experiments() -> [(&'static str, u64); 7] {
    [
        ("experiment_fuel_max", experiment::FUEL_MAX),
        ("experiment_memory_bytes_max", experiment::MEMORY_BYTES_MAX),
        ("experiment_inputs_max", experiment::INPUTS_MAX as u64),
        ("experiment_input_bytes_max", experiment::INPUT_BYTES_MAX),
        ("experiment_outputs_max", experiment::OUTPUTS_MAX as u64),
        ("experiment_output_bytes_max", experiment::OUTPUT_BYTES_MAX),
        ("experiment_metrics_max", experiment::METRICS_MAX as u64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims pin it: when it changes, every manifest is of another engine. Then raise the version that says
    /// why, and write both down in the changelog.
    #[test]
    fn the_digest_is_pinned() {
        let settings: Vec<_> =
            engine_settings().into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
        assert_eq!(engine_digest().to_string(), PINNED, "\n{}", settings.join("\n"));
    }

    const PINNED: &str = "1cbca390ea1045464e480c061becf43c530f83041e4afa9944008193a423574e";

    #[test]
    fn how_fast_it_runs_is_not_in_it() {
        for (name, value) in engine_settings() {
            let text = format!("{name} {value}");
            for word in
                ["pool", "opt_level", "regalloc", "cache", std::env::consts::ARCH, std::env::consts::OS]
            {
                assert!(!text.contains(word), "{text}");
            }
        }
        assert_eq!(engine_settings().len(), 34);
    }
}
