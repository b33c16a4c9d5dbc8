//! The server as its clients see it: every route through all layers, over a real store.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod admin;
/// Whether a page can be used by everybody; the pages' own tests have it too.
#[allow(dead_code)]
#[path = "../../src/pages/audit.rs"]
mod audit;
mod claim_pages;
mod claims;
mod claims_log;
mod claims_material;
mod claims_parties;
mod claims_resumed;
mod claims_stage;
mod contest_desk;
mod contest_pages;
mod contests;
mod cost;
mod demo;
mod durable;
mod episodes;
mod front;
mod hidden_post;
mod identity;
mod judge_pages;
mod linger;
mod openapi;
mod play;
mod queries;
mod replay;
mod request_log;
mod round_bench;
mod round_desk;
mod round_pages;
mod round_rules;
mod rounds;
mod snapshots;
mod strategies;
mod support;
mod texts;
mod tournament_pages;
mod tournaments;
mod upload_form;
mod verifier;
mod whole_runs;
mod workshop;
