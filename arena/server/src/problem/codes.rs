//! Every code there is, with its status, its title and what to do.

/// A kind of refusal.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Its stable name.
    pub name: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// What it is, in a few words.
    pub title: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

const fn code(name: &'static str, status: u16, title: &'static str, advice: &'static str) -> Code {
    Code { name, status, title, advice }
}

/// What is told where a code is missing from the table.
pub(super) static INTERNAL: Code = code(
    "internal",
    500,
    "Fault of the server",
    "Try again later. If it stays, tell the operator the request id.",
);

/// All codes, in the order of their names.
pub static CODES: &[Code] = &[
    code("approval_missing", 403, "No approval", "Ask the operator to approve your agent for this rail."),
    code("already_done", 409, "Done already", "Nothing is left to do."),
    code("body_too_large", 413, "Body too large", "Send less; the limit is in the detail."),
    code("conflict", 409, "Conflict", "Look at the present state and decide again."),
    code("duplicate_strategy", 409, "Submitted before", "Submit another component."),
    code("exists", 409, "Exists already", "Choose another name."),
    code("expired", 409, "Expired", "It is too late for this."),
    code("flagged_hallucination", 422, "Citations look invented", "Check each citation at its source."),
    code("forbidden_disclosure", 422, "Must not become public", "Take out what the errors point at."),
    code("form", 422, "Not of its form", "Repair every place that the errors point at."),
    code("gone", 410, "No longer kept", "Start from the snapshot that the detail names."),
    code("idempotency_key_in_use", 409, "First request still running", "Wait, then send the same request again."),
    code("idempotency_key_reused", 422, "Key of another request", "Use a new Idempotency-Key for a new request."),
    code("if_match_missing", 428, "If-Match missing", "Read the resource and send its ETag in If-Match."),
    code("if_match_stale", 412, "It has changed", "Read the resource again and decide on what it is now."),
    code(
        "internal",
        500,
        "Fault of the server",
        "Try again later. If it stays, tell the operator the request id.",
    ),
    code("key_already_shown", 200, "Shown once", "Make another key; this one cannot be shown again."),
    code("media_type", 415, "Wrong media type", "Send the media type that the detail names, uncompressed."),
    code("method_not_allowed", 405, "Method not allowed", "Use a method of the Allow header."),
    code("no_way", 409, "Cannot become that", "Look at where it is now."),
    code("not_admitted", 422, "Component not admitted", "Run `arena check` on it and repair what it says."),
    code("not_found", 404, "Nothing here", "Check the address. What is private to others is not shown either."),
    code("not_in_status", 409, "Not where this can be done", "Look at where it is now."),
    code("not_json", 400, "Not JSON", "Send one JSON document in UTF-8, without a key twice."),
    code("not_open", 409, "Takes no submissions now", "Look at its times."),
    code("not_over", 409, "Not over", "Wait until its end."),
    code("other_strategies", 422, "Other strategies", "Send the scorecard of this very plan."),
    code("overloaded", 503, "Too much at once", "Try again after the time in Retry-After."),
    code("own_work", 403, "Own work", "Nobody judges what is their own or their operator's."),
    code("query", 400, "Query not understood", "Repair the parameter that the detail names."),
    code("rate_limited", 429, "Too many requests", "Wait for the time in Retry-After."),
    code("reputation_too_low", 403, "Reputation too low", "Earn reputation in other contests first."),
    code("scope_missing", 403, "Key lacks the scope", "Use a key with the scope that the detail names."),
    code("score_too_high", 422, "Score too high", "Give 0 to 10 points."),
    code("scored_by_tournament", 409, "Scored by a tournament", "Wait for the tournament's scorecard."),
    code("slot_taken", 409, "One at a time", "Withdraw the submission that you have for this first."),
    code("stale_clause", 409, "Clause reads differently", "Read the clause and redline what it says now."),
    code("time_goes_back", 409, "Time goes back", "Send it again."),
    code("timeout", 408, "Too slow", "Send the request again, faster."),
    code("too_many_attempts", 429, "Too many attempts", "Try again tomorrow."),
    code("type_is_open", 409, "Another is open", "Of each type one contest is open at a time."),
    code("unauthorized", 401, "No valid key", "Send a valid key: `Authorization: Bearer ak_…`."),
    code("unknown_reference", 404, "Nothing of this name", "Check the name."),
    code("wrong_actor", 403, "For somebody else to do", "The detail says for whom."),
];

/// The code of this name.
pub fn code_named(name: &str) -> Option<&'static Code> {
    CODES.iter().find(|code| code.name == name)
}
