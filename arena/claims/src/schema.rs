//! The JSON Schemas of the documents that are read and written here. What a schema refuses, its reader refuses; what
//! only the reader can say is in each schema's description. Draws bring their own: [`arena_draw::TRANSCRIPT_SCHEMA`].

/// Of a manifest.
pub const MANIFEST: &str = include_str!("../schema/manifest.v1.schema.json");
/// Of a record.
pub const RECORD: &str = include_str!("../schema/record.v1.schema.json");
/// Of a commitment.
pub const COMMITMENT: &str = include_str!("../schema/commitment.v1.schema.json");
/// Of what opens one.
pub const REVEAL: &str = include_str!("../schema/reveal.v1.schema.json");
/// Of a reviewer's ballot.
pub const BALLOT: &str = include_str!("../schema/ballot.v1.schema.json");
/// Of a parameter set.
pub const PARAMS: &str = include_str!("../schema/params.v1.schema.json");
/// Of a case that is settled.
pub const CASE: &str = include_str!("../schema/case.v1.schema.json");
/// Of the report of a comparison.
pub const REPORT: &str = include_str!("../schema/report.v1.schema.json");
