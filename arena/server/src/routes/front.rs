//! The pages that belong to no area: what runs now, how it works, and what each refusal means.

use arena_store::rusqlite::params;
use arena_store::{Event, Journal, StoreFault};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;

use super::web::{page, shown};
use crate::app::Shared;
use crate::http::arrival::Arrival;
use crate::http::paging::Wanted;
use crate::http::who::Who;
use crate::pages::docs::{docs_page, problems_page};
use crate::pages::front::{Front, front_page};
use crate::problem::Problem;

/// Announcements that the first page shows.
const NEWS_MAX: u32 = 10;
/// Rows of the journal that are looked through for them: facts stand in between.
const LOOKED_THROUGH_MAX: u64 = 10_000;

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/", get(front)).route("/docs", get(docs)).route("/problems", get(problems))
}

async fn front(
    State(app): State<Shared>,
    who: Who,
    arrival: Arrival,
    wanted: Wanted,
) -> Result<Response, Problem> {
    wanted.only(&["fragment"])?;
    let (journal, head) = (app.store.journal().clone(), app.live.head());
    let news = tokio::task::spawn_blocking(move || announcements(&journal, head)).await;
    let events = news.ok().and_then(Result::ok).ok_or_else(Problem::internal)?;
    app.look(|instance| {
        let frame = shown(&who);
        page(front_page(&Front { instance, viewer: &who.viewer, frame, now: arrival.at, events: &events }))
    })
}

/// The last rows that everybody may see, the newest first.
fn announcements(journal: &Journal, head: u64) -> Result<Vec<Event>, StoreFault> {
    let from = i64::try_from(head.saturating_sub(LOOKED_THROUGH_MAX)).unwrap_or(i64::MAX);
    let places: Vec<i64> = journal.read(|db| {
        let select = "SELECT seq FROM events WHERE seq > ?1 AND salt IS NULL ORDER BY seq DESC LIMIT ?2";
        db.prepare_cached(select)?.query_map(params![from, NEWS_MAX], |row| row.get(0))?.collect()
    })?;
    let mut events = Vec::new();
    for place in places {
        events.extend(journal.event(place.unsigned_abs())?.filter(|event| !event.is_sealed()));
    }
    Ok(events)
}

async fn docs(State(app): State<Shared>, who: Who) -> Result<Response, Problem> {
    app.look(|instance| {
        let log = instance.claims.log().checkpoint(instance.claims.world(app.known()), app.known());
        page(docs_page(super::document(), &app.config, &log, shown(&who)))
    })
}

async fn problems(who: Who) -> Response {
    page(problems_page(shown(&who)))
}
