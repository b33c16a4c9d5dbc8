//! The routes. A handler reads a request, asks the rules, and writes the answer; it decides nothing.
//!
//! Route and document come from one macro, so they cannot differ in path or method.

mod admin;
mod claim_pages;
mod claims;
mod contest_pages;
mod contests;
mod credentials;
mod episodes;
mod front;
mod identity;
mod live;
mod meta;
mod openapi;
mod play;
mod query;
mod replay;
mod round_desk;
mod round_pages;
mod rounds;
mod strategies;
mod strategy_form;
mod tournament_pages;
mod tournaments;
mod web;

use utoipa_axum::router::OpenApiRouter;

use crate::app::Shared;

pub(crate) use openapi::document;

/// Every route of the API with its document.
pub(crate) fn api() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .merge(claims::routes())
        .merge(contests::routes())
        .merge(credentials::routes())
        .merge(episodes::routes())
        .merge(identity::routes())
        .merge(live::routes())
        .merge(meta::routes())
        .merge(rounds::routes())
        .merge(strategies::routes())
        .merge(tournaments::routes())
}

/// The pages and what belongs to them; no part of the API's document.
pub(crate) fn pages() -> axum::Router<Shared> {
    web::routes()
        .merge(front::routes())
        .merge(admin::routes())
        .merge(round_pages::routes())
        .merge(round_desk::routes())
        .merge(contest_pages::routes())
        .merge(claim_pages::routes())
        .merge(tournament_pages::routes())
        .merge(play::routes())
        .merge(replay::routes())
}
