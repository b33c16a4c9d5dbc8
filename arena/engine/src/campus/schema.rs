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
    schema["description"] = Value::String(format!(
        "{} Keys that begin with x_ are carried and ignored; any other unknown key is a warning. Reserved \
         moves, which no pack plays yet: {}.",
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
    schema["$defs"]["Action"]["propertyNames"] = json!({ "not": { "$ref": "#/$defs/ReservedMove" } });
    close(&mut schema);
    schema
}

fn generate<T: schemars::JsonSchema>(id: &str, title: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = schemars::generate::Contract::Serialize;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    without_formats(&mut value);
    value["$id"] = Value::String(format!("{id}.schema.json"));
    value["title"] = Value::String(title.to_owned());
    value
}

/// `double`, `uint32` and the like are Rust's names, which strict validators refuse to know.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|key, value| key != "format" || !value.is_string());
            members.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

/// An episode may carry members of others at its top level; nothing unknown rides along further in.
fn close(schema: &mut Value) {
    let definitions = schema["$defs"].as_object_mut().into_iter().flatten();
    for (_, definition) in definitions.filter(|(name, of)| *name != "Relief" && of["type"] == "object") {
        let word = if definition.get("oneOf").is_some() { "unevaluatedProperties" } else { CLOSED };
        definition[word] = json!(false);
    }
    // An order's share is a relief with a name, so a relief is closed only where it stands alone.
    schema["$defs"]["Resolution"]["properties"]["relief"]["unevaluatedProperties"] = json!(false);
    let endings = schema["$defs"]["Forfeit"]["oneOf"].as_array_mut().into_iter().flatten();
    endings.for_each(|ending| ending["properties"]["detail"][CLOSED] = json!(false));
}

const CLOSED: &str = "additionalProperties";
