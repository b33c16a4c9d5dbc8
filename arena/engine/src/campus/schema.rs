//! Both normative JSON Schemas, generated from the types that read and write the documents.

use arena_canon::json::Value;
use schemars::generate::SchemaSettings;
use serde_json::json;

use super::RESERVED_MOVES;
use super::log::EpisodeLog;
use super::pack::PackDocument;

/// `scenario-pack.v0.schema.json`
pub fn pack_schema() -> Value {
    let mut schema = generate::<PackDocument>("scenario-pack.v0", "A campus scenario pack");
    exact_length(&mut schema, "/$defs/Metric/properties/stars", 3);
    exact_length(&mut schema, "/$defs/Scoring/properties/metrics", 2);
    schema["description"] = Value::String(format!(
        "{} Keys that begin with x_ are carried and ignored. Reserved and not yet played: {}.",
        schema["description"].as_str().unwrap_or_default(),
        RESERVED_MOVES.join(", ")
    ));
    schema
}

/// `episode.v0.schema.json`
pub fn episode_schema() -> Value {
    let mut schema = generate::<EpisodeLog>("episode.v0", "A finished campus episode");
    schema["properties"]["content_sha256"] = json!({
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
        "description": "SHA-256 of the canonical JSON (RFC 8785) of all other members."
    });
    schema["$defs"]["ReservedMove"] = json!({
        "description": "Moves the contract names and no pack plays yet; an action that has one is refused.",
        "enum": RESERVED_MOVES
    });
    schema
}

fn generate<T: schemars::JsonSchema>(id: &str, title: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = schemars::generate::Contract::Serialize;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    value["$id"] = Value::String(format!("{id}.schema.json"));
    value["title"] = Value::String(title.to_owned());
    value
}

fn exact_length(schema: &mut Value, pointer: &str, length: u32) {
    if let Some(array) = schema.pointer_mut(pointer) {
        array["minItems"] = json!(length);
        array["maxItems"] = json!(length);
    }
}
