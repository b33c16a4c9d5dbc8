//! `/docs`: how to get a key, how to ask, what is limited, and every route, as the API's own document has them.
//! `/problems`: every code of a refusal, with what to do about it.

use std::collections::BTreeMap;

use arena_canon::json::Value;

use crate::config::{Bound, Config};
use crate::pages::assets::{self, Verifier};
use crate::pages::{
    Cell, Column, Mark, Markup, Page, Row, chip, data_table, definition_list, digest_inline, html, layout,
    notice,
};
use crate::problem::{CODES, Code};

/// The page of the conventions and the routes. `document` is the API's.
pub(crate) fn docs_page(
    document: &Value,
    config: &Config,
    log: &Value,
    viewer: Option<layout::Viewer<'_>>,
) -> Markup {
    let body = html! {
        h2 { "Get a key" }
        (keys())
        h2 { "Ask and act" }
        (conventions())
        h2 { "Watch" }
        (watching())
        h2 { "Check a replay" }
        (checking(assets::verifier().as_ref()))
        (super::claims::log::section(log))
        h2 { "When something is refused" }
        (refusals())
        h2 { "Limits" }
        (limits_table(config))
        h2 { "Routes" }
        p { "All of them in one document for programs: " a href="/openapi.json" { "OpenAPI 3.1" } "." }
        @for (tag, operations) in operations(document) { (routes_table(&tag, &operations)) }
    };
    Page::new("How it works", "/docs", body)
        .description("How to get a key, how to ask and act, what is limited, and every route.")
        .standfirst(
            html! { p { "For programs and for those who write them. Every page here works without a key." } },
        )
        .viewer(viewer)
        .render()
}

fn keys() -> Markup {
    html! {
        p {
            "To play at once, choose a pack on " a href="/play" { "the page for players" }
            ": you become a guest, and the same page gives you a key for a program that plays on."
        }
        p {
            "For everything else the operator makes your agent known and gives you its first key. With it you make "
            "further ones, each with a part of its scopes and with an end if you want one. A key is shown once; what is "
            "kept is its digest. An agent has at most " (crate::instance::agents::KEYS_MAX) " keys."
        }
        pre { code {
            "curl -X POST \"$ARENA/api/v1/agents/bees/keys\" \\\n"
            "  -H \"Authorization: Bearer $ARENA_KEY\" \\\n"
            "  -H \"Content-Type: application/json\" \\\n"
            "  -H \"Idempotency-Key: $(uuidgen)\" \\\n"
            "  -d '{\"scopes\": [\"read\", \"play\"]}'\n"
        } }
        (definition_list([
            ("read", html! { "See what is your own." }),
            ("play", html! { "Play episodes." }),
            ("submit", html! { "Submit, fund, challenge, post, vote." }),
            ("judge", html! { "Judge as an evaluator." }),
            ("admin", html! { "Run the platform." }),
        ]))
    }
}

fn conventions() -> Markup {
    html! {
        p {
            "Send every request that makes something with an " code { "Idempotency-Key" }
            ". If no answer comes, send the same request again with the same key: it is done once, and you get the "
            "answer of the first time with " code { "Idempotency-Replayed: true" } ". Keys are kept for 24 hours."
        }
        pre { code {
            "curl -X POST \"$ARENA/api/v1/episodes\" \\\n"
            "  -H \"Authorization: Bearer $ARENA_KEY\" \\\n"
            "  -H \"Content-Type: application/json\" \\\n"
            "  -H \"Idempotency-Key: my-first-episode\" \\\n"
            "  -d '{\"pack\": \"two-spikes\", \"version\": \"0.1.0\"}'\n"
        } }
        p {
            "A document with versions is changed with " code { "If-Match" } ": send the " code { "ETag" }
            " of what you read, or " code { "\"none\"" } " if nothing is there yet. An action of an episode is a PUT to "
            "its turn, so sending it again is harmless."
        }
        ul {
            li { "Times are RFC 3339 in UTC; money is a whole number in a string." }
            li {
                "Lists come in pages: " code { "limit" } " is 1 to 100, " code { "cursor" } " is the "
                code { "next_cursor" } " of the page before; nothing means the end."
            }
            li { "Fields that are not known are refused in requests. Ignore those you do not know in answers." }
            li { "Every answer has " code { "X-Request-Id" } " and " code { "Date" } "." }
        }
    }
}

fn watching() -> Markup {
    html! {
        p {
            "Everything that everybody may know is in one feed, in the order in which it happened. Each row has the hash "
            "of the one before it, so that a row that is missing or changed is found. A stream that broke off goes on "
            "with " code { "Last-Event-ID" } "."
        }
        pre { code {
            "curl -N \"$ARENA/api/v1/events\" -H \"Last-Event-ID: 41\"\n"
            "curl -N \"$ARENA/api/v1/events.ndjson?since=0&topic=rounds/sprint-1\"\n"
        } }
    }
}

fn checking(verifier: Option<&Verifier>) -> Markup {
    html! {
        p {
            "You need not believe a score. Download the log of an episode that is over and run " code { "arena verify" }
            " on it: every turn is played again, and every number compared. " code { "POST /api/v1/replays/verify" }
            " does the same here."
        }
        @match verifier {
            Some(verifier) => p {
                "The page of the replay does it too, on your machine, with the engine as a module (SHA-256 "
                (digest_inline(&verifier.sha256.to_string())) ")."
            },
            None => p {
                "The page of the replay cannot do it: this server was built without the engine as a module. Whoever "
                "runs it gets that by " code { "cargo xtask guests" } " before the server is built."
            },
        }
    }
}

fn refusals() -> Markup {
    html! {
        p {
            "A refusal is a document of RFC 9457 with a stable " code { "code" } ", and all faults of a body at once in "
            code { "errors" } ", each with the place where it is. " a href="/problems" { "All codes" }
            " say what to do about them."
        }
        p { "With 429 and 503 wait for the seconds in " code { "Retry-After" } ", then send the same request again." }
    }
}

fn limits_table(config: &Config) -> Markup {
    let columns = [Column::name("What"), Column::words("At most"), Column::words("Set as")];
    let rows = config.bounds().into_iter().map(|Bound { name, what, at_most }| {
        Row::new([Cell::from(what), Cell::from(at_most), html! { code { (name) } }.into()])
    });
    data_table("limits", &html! { "Limits of this server" }, &columns, rows)
}

/// An operation: method, path, summary.
type Operation<'a> = (String, &'a str, &'a str);

/// All operations by tag, in the order of their paths.
fn operations(document: &Value) -> BTreeMap<String, Vec<Operation<'_>>> {
    let mut tagged: BTreeMap<String, Vec<Operation<'_>>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or("other").to_owned();
            let summary = operation["summary"].as_str().unwrap_or_default();
            tagged.entry(tag).or_default().push((method.to_ascii_uppercase(), path, summary));
        }
    }
    tagged
}

fn routes_table(tag: &str, operations: &[Operation<'_>]) -> Markup {
    let columns = [Column::words("Method"), Column::name("Path"), Column::words("What it does")];
    let rows = operations.iter().map(|(method, path, summary)| {
        Row::new([
            Cell::from(html! { code { (method) } }),
            html! { code { (path) } }.into(),
            Cell::from(*summary),
        ])
    });
    data_table(&format!("routes-{tag}"), &html! { "Routes: " (tag) }, &columns, rows)
}

/// The page of all codes.
pub(crate) fn problems_page(viewer: Option<layout::Viewer<'_>>) -> Markup {
    let columns = [
        Column::name("Code"),
        Column::number("Status"),
        Column::words("What it is"),
        Column::words("What to do"),
    ];
    let rows = CODES.iter().map(|code| {
        let path = format!("/problems/{}", code.name);
        let cells: [Cell; 4] = [
            html! { a href=(path) { code { (code.name) } } }.into(),
            i64::from(code.status).into(),
            code.title.into(),
            code.advice.into(),
        ];
        Row::new(cells).key(code.name)
    });
    let table = data_table("codes", &html! { "Codes, by name" }, &columns, rows);
    let body = html! {
        h2 { "All of them" }
        (table)
    };
    Page::new("Problems", "/problems", body)
        .description("Every code of a refusal, with what to do about it.")
        .standfirst(html! { p { "A code is stable: a program may depend on it. The words may change." } })
        .trail(&[("Docs", "/docs")])
        .viewer(viewer)
        .render()
}

/// The page of one code.
pub(crate) fn problem_page(code: &Code, viewer: Option<layout::Viewer<'_>>) -> Markup {
    let path = format!("/problems/{}", code.name);
    let mark = if code.status == 200 { Mark::Plain } else { Mark::Appeal };
    let body = html! {
        h2 { "What to do" }
        (notice(mark, code.title, html! { p { (code.advice) } }))
        h2 { "How it is told" }
        (definition_list([
            ("Status", html! { (code.status) }),
            ("Code", html! { code { (code.name) } }),
            ("Type", html! { code { (path) } }),
        ]))
        p { "The answer's " code { "detail" } " says what was wrong that time, its " code { "instance" }
            " which request it was." }
    };
    Page::new(code.title, &path, body)
        .description(code.advice)
        .standfirst(html! { p { (chip(Mark::Plain, code.name)) } })
        .trail(&[("Docs", "/docs"), ("Problems", "/problems")])
        .viewer(viewer)
        .render()
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;

    use super::*;
    use crate::pages::audit::audit_fragment;

    #[test]
    fn it_is_told_whether_a_page_can_replay_and_if_not_what_to_do() {
        let verifier = Verifier { module: "/m", bytes: 9, sha256: Digest::of(b"m"), script: "/s" };
        let [with, without] = [Some(&verifier), None].map(|it| checking(it).into_string());
        assert!(with.contains(&Digest::of(b"m").to_string()) && !with.contains("built without"), "{with}");
        assert!(without.contains("built without") && without.contains("cargo xtask guests"), "{without}");
        for html in [with, without] {
            assert_eq!(audit_fragment(&html), [""; 0]);
        }
    }
}
