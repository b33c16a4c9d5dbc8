//! Pages that many look at, kept ready for as long as nothing that they tell of has changed.
//!
//! Only what is shown to somebody without a session is kept here: it is the same for all of them. A page is told
//! from its area as it is and from the time, so it is kept while the area is the very one, and within one second: no
//! phase of anything begins within a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arena_contests::Moment;
use arena_cow::Shared;
use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::instance::rounds::Rounds;
use crate::pages::Markup;

/// Pages that are kept.
const PAGES_MAX: usize = 64;
/// Bytes of one of them.
const PAGE_BYTES_MAX: usize = 512 << 10;

#[derive(Default)]
struct Kept {
    second: i64,
    pages: BTreeMap<String, (Shared<Rounds>, Bytes)>,
}

/// The pages of rounds.
#[derive(Default)]
pub(crate) struct KeptPages(Mutex<Kept>);

impl KeptPages {
    /// A page of the rounds at a time, made if it is not there. `name` is all that it depends on besides.
    pub(crate) fn page<E>(
        &self,
        (name, rounds, now): (&str, &Shared<Rounds>, Moment),
        make: impl FnOnce() -> Result<Markup, E>,
    ) -> Result<Response, E> {
        let second = now.unix_ms().div_euclid(1_000);
        if let Some(page) = self.at(second).pages.get(name).filter(|(of, _)| of.is_same(rounds)) {
            return Ok(html(page.1.clone()));
        }
        let page = Bytes::from(make()?.into_string());
        let mut kept = self.at(second);
        if page.len() <= PAGE_BYTES_MAX && (kept.pages.len() < PAGES_MAX || kept.pages.contains_key(name)) {
            kept.pages.insert(name.to_owned(), (rounds.clone(), page.clone()));
        }
        drop(kept);
        Ok(html(page))
    }

    /// What is kept of a second; of another one there is nothing.
    fn at(&self, second: i64) -> MutexGuard<'_, Kept> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.second != second {
            *kept = Kept { second, pages: BTreeMap::new() };
        }
        kept
    }
}

fn html(page: Bytes) -> Response {
    let mut response = page.into_response();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(response: Response) -> String {
        let body = axum::body::to_bytes(response.into_body(), 1_000);
        let bytes = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(body).unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_page_is_kept_until_its_area_or_the_second_is_another() {
        let kept = KeptPages::default();
        let (one, other) = (Shared::<Rounds>::default(), Shared::<Rounds>::default());
        let at = |ms| Moment::from_unix_ms(ms);
        let page = |rounds: &Shared<Rounds>, name: &str, ms, text: &str| {
            let make = || Ok::<_, ()>(maud::PreEscaped(text.to_owned()));
            told(kept.page((name, rounds, at(ms)), make).unwrap())
        };
        assert_eq!(page(&one, "a", 5_000, "1"), "1");
        assert_eq!(page(&one, "a", 5_999, "2"), "1", "kept");
        assert_eq!(page(&one.clone(), "a", 5_999, "2"), "1", "a copy is the same until it changes");
        assert_eq!(page(&one, "b", 5_999, "3"), "3", "another page");
        assert_eq!(page(&other, "a", 5_999, "4"), "4", "other rounds");
        assert_eq!(page(&other, "a", 6_000, "5"), "5", "another second");
        assert_eq!(page(&other, "a", 5_999, "6"), "6", "whichever comes first");
        kept.page(("c", &one, at(0)), || Err::<Markup, _>(())).unwrap_err();
        assert_eq!(page(&one, "c", 0, "7"), "7", "a refusal is not kept");
        for n in 0..2 * PAGES_MAX {
            assert_eq!(page(&one, &format!("n{n}"), 9_000, "8"), "8");
        }
        assert_eq!(kept.at(9).pages.len(), PAGES_MAX);
    }
}
