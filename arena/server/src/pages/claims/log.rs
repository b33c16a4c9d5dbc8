//! The log of claims: what it is verified by, and what to do with a receipt.

use arena_canon::json::Value;

use super::text;
use crate::pages::{Markup, definition_list, digest, html};

/// What everybody can hold against this server.
pub(crate) fn section(log: &Value) -> Markup {
    html! {
        h2 { "The log" }
        p {
            "Everything that happens to claims is in one log, and this server signs it: with each draw, before its round "
            "is known, and with each command. Whoever did something has a receipt, which its answer names. Keep it; this "
            "tells what was left out since or written anew:"
        }
        pre { code { "arena verify --receipt FILE --server URL --log-key KEY" } }
        p { "Draws carry their checkpoint:" }
        pre { code { "arena draw verify TRANSCRIPT --log-key KEY" } }
        (definition_list([
            ("Key", digest(text(log, "public_key"))),
            ("For programs that read signed notes", html! { code { (text(log, "verifier_key")) } }),
            ("Now", html! {
                a href="/api/v1/log/checkpoint" { "the checkpoint" } " of " (text(log, "size")) " events"
            }),
        ]))
    }
}
