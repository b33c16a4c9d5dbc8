//! The document of the API: OpenAPI 3.1, from the routes themselves.

use std::sync::OnceLock;

use serde_json::{Value, json};
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(info(
    title = "Arena",
    description = "Play, submit, challenge and watch. Every refusal is a problem document (RFC 9457) with a stable \
                   code; `/problems/{code}` says what to do about it.",
    license(name = "MIT OR Apache-2.0")
))]
struct Api;

/// Statuses that any operation may answer with, beside its own.
const REFUSALS: [(&str, &str); 12] = [
    ("400", "Not JSON, or a query that is not understood"),
    ("401", "No valid key"),
    ("403", "Not for this agent to do"),
    ("404", "Nothing here"),
    ("405", "Another method"),
    ("408", "Too slow"),
    ("409", "A conflict with the present state"),
    ("413", "Body too large"),
    ("415", "Another media type"),
    ("422", "Well-formed, and refused"),
    ("429", "Too many requests"),
    ("503", "Too much at once"),
];

/// Statuses of an operation that changes a version of something, besides.
const VERSIONED: [(&str, &str); 2] =
    [("412", "Another version is there now"), ("428", "If-Match is missing")];

/// The document.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let (_, api) = utoipa_axum::router::OpenApiRouter::with_openapi(Api::openapi())
            .merge(super::api())
            .split_for_parts();
        let mut document = serde_json::to_value(api).unwrap_or_default();
        complete(&mut document);
        document
    })
}

/// What is the same for all operations is said for each, since readers look at one.
fn complete(document: &mut Value) {
    document["components"]["schemas"]["Problem"] = problem_schema();
    document["components"]["securitySchemes"] = json!({
        "key": { "type": "http", "scheme": "bearer", "description": "A key of an agent: ak_…" },
        "admin": { "type": "apiKey", "in": "header", "name": "x-admin-token" },
    });
    let Some(paths) = document["paths"].as_object_mut() else { return };
    let items = paths.iter_mut().filter_map(|(path, item)| Some((path, item.as_object_mut()?)));
    let operations =
        items.flat_map(|(path, item)| item.iter_mut().map(move |(method, it)| (method, path, it)));
    for (method, path, operation) in operations {
        operation["operationId"] = operation_id(method, path).into();
        let is_versioned = operation["parameters"]
            .as_array()
            .is_some_and(|parameters| parameters.iter().any(|parameter| parameter["name"] == "If-Match"));
        let Some(responses) = operation["responses"].as_object_mut() else { continue };
        let versioned = VERSIONED.into_iter().filter(|_| is_versioned);
        for (status, description) in REFUSALS.into_iter().chain(versioned) {
            responses.entry(status).or_insert_with(|| {
                let schema = json!({ "schema": { "$ref": "#/components/schemas/Problem" } });
                json!({ "description": description, "content": { "application/problem+json": schema } })
            });
        }
    }
}

/// A name that no other operation has: the method and the words of the path.
fn operation_id(method: &str, path: &str) -> String {
    let path = path.trim_start_matches("/api/v1").trim_start_matches("/api/modules");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}

fn problem_schema() -> Value {
    let text = || json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "instance", "code", "errors"],
        "properties": {
            "type": text(), "title": text(), "status": { "type": "integer" }, "detail": text(),
            "instance": text(), "code": text(),
            "errors": { "type": "array", "items": {
                "type": "object", "required": ["pointer", "code", "detail"],
                "properties": { "pointer": text(), "code": text(), "detail": text() },
            }},
        },
    })
}
