//! The check of a replay in the page itself: the same engine, on the reader's machine.
//!
//! All of it is here, hidden; the script shows what applies and fills in what came out. Without the script nothing of it
//! is seen, and what the server found stands above it. A server that was built without the module says so in its place.

use arena_engine::campus::Pack;
use maud::{Markup, html};

use super::words;
use crate::pages::assets::{self, Verifier};
use crate::pages::{Cell, Column, Mark, Row, chip, data_table, digest_inline, notice};

/// Bytes of a file that is taken; the module has the same limit.
const BYTES_MAX: usize = 4 << 20;

/// The check, or why there is none here.
pub(super) fn own_check(pack: &Pack, log: &str, pack_path: &str) -> Markup {
    offered(assets::verifier().as_ref(), pack, log, pack_path)
}

fn offered(verifier: Option<&Verifier>, pack: &Pack, log: &str, pack_path: &str) -> Markup {
    match verifier {
        Some(verifier) => section(verifier, pack, log, pack_path),
        None => html! {
            p {
                "This server was built without the engine as a module, so this page cannot replay the log on your "
                "machine; " code { "arena verify" } " can."
            }
        },
    }
}

fn section(verifier: &Verifier, pack: &Pack, log: &str, pack_path: &str) -> Markup {
    html! {
        section id="own-check" aria-labelledby="own-check-title" hidden
            data-module=(verifier.module) data-worker=(verifier.script) data-bytes-max=(BYTES_MAX)
            data-log=(log) data-pack=(pack_path) data-packs="/api/v1/packs"
        {
            h3 id="own-check-title" { "On your machine" }
            p {
                "The engine itself, a module of " (verifier.bytes.div_ceil(1024)) " KiB, replays the log in this page. "
                "You need not trust this server for it: " code { "cargo xtask guests" } " builds the same module and "
                "prints its digest (" (digest_inline(&verifier.sha256.to_string())) ")."
            }
            div.own-check {
                button type="button" { "Replay it here" }
                div {
                    label for="own-check-file" { "or check a log of your own" }
                    input type="file" id="own-check-file" accept=".json,application/json";
                }
            }
            div role="status" { (states()) }
            div data-state="verified departs" hidden { (comparison(pack)) }
        }
        script src=(verifier.script) defer {}
    }
}

/// What is said while it goes on and when it is over. One of them is shown, in a region that is read out.
fn states() -> Markup {
    let name = html! { span data-slot="name" {} };
    html! {
        div data-state="busy" hidden { (notice(Mark::Pending, "Replaying", html! {})) }
        div data-state="verified" hidden {
            (notice(Mark::Accepted, "The stored score is the score of the replay", html! {
                p { "Checked here: " (name) ", in " span data-slot="seconds" {} " s." }
            }))
        }
        div data-state="departs" hidden {
            (notice(Mark::Order, "The log is not what its actions come to", html! {
                p { "Checked here: " (name) ". " span data-slot="turn" {} }
                div data-faults {}
            }))
        }
        div data-state="refused" hidden {
            (notice(Mark::Order, "This is no log that can be replayed", html! {
                p { "Looked at here: " (name) "; " span data-slot="detail" {} "." }
            }))
        }
        div data-state="failed" hidden {
            (notice(Mark::Appeal, "The check could not be made", html! {
                p { span data-slot="why" {} ". This says nothing about the log. Try again, or run " code { "arena verify" } "." }
            }))
        }
    }
}

/// Stored and replayed, to the last digit. Each value says where the script finds it.
fn comparison(pack: &Pack) -> Markup {
    let columns =
        [Column::name("What"), Column::words("Equal"), Column::words("Stored"), Column::words("Replayed")];
    let both = |what: &str| [format!("stored.{what}"), format!("replayed.{what}")];
    let metrics = pack.document().scoring.metrics.iter().enumerate();
    let metrics = metrics
        .map(|(i, goal)| (words::metric(goal.id).to_owned(), both(&format!("settlement.metrics.{i}.value"))));
    let facts = metrics.chain([
        ("Stars".to_owned(), both("settlement.stars")),
        ("Digest of turns and settlement".to_owned(), both("sha256")),
        ("Digest of the log".to_owned(), ["log_sha256", "replayed_log_sha256"].map(str::to_owned)),
    ]);
    let rows = facts.map(|(what, paths)| {
        let [stored, replayed] =
            paths.map(|path| Cell::from(html! { code.sha256[path.ends_with("sha256")] data-path=(path) {} }));
        Row::new([what.into(), same().into(), stored, replayed])
    });
    let caption = html! {
        "Stored and replayed, to the last digit"
        small { "The log of a strategy also tells of its sandbox, which a replay has not; then the logs are not compared." }
    };
    data_table("own-check-values", &caption, &columns, rows)
}

fn same() -> Markup {
    html! {
        span data-same="equal" hidden { (chip(Mark::Accepted, "equal")) }
        span data-same="differs" hidden { (chip(Mark::Order, "differs")) }
        span data-same="none" hidden { "nothing to compare" }
    }
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;

    use super::*;
    use crate::pages::audit::audit_fragment;

    /// Whichever this build is, both are seen.
    #[test]
    fn a_page_offers_the_check_or_says_why_it_does_not() {
        let pack = Pack::parse(include_bytes!("../../../../../scenarios/two-spikes.json")).unwrap();
        let verifier = Verifier {
            module: "/assets/m.wasm",
            bytes: 9_000,
            sha256: Digest::of(b"m"),
            script: "/assets/m.js",
        };
        let [with, without] =
            [Some(&verifier), None].map(|it| offered(it, &pack, "/log", "/pack").into_string());
        assert!(with.contains("data-module=\"/assets/m.wasm\"") && !with.contains("built without"));
        assert!(
            without.contains("built without") && without.contains("<code>arena verify</code>"),
            "{without}"
        );
        assert!(
            !without.contains("hidden") && !without.contains("<script"),
            "it is seen, and nothing is loaded"
        );
        assert_eq!(audit_fragment(&without), [""; 0]);
    }
}
