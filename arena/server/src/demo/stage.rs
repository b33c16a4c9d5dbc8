//! Who asks what of the server when. Stories are written as if each were alone; whoever waits for the earliest time
//! goes on next, so the clock never goes back.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_contests::Moment;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, header};
use serde_json::json;
use tower::ServiceExt as _;

use super::clock::Walk;
use super::{DAY_MS, DemoError};
use crate::app::Shared;
use crate::outside::Outside as _;
use crate::serve::Server;

const ANSWER_BYTES_MAX: usize = 8 << 20;
const HOUR_MS: i64 = 3_600_000;

/// Something that happens over days.
pub(super) type Story<'a> = Pin<Box<dyn Future<Output = Result<(), DemoError>> + 'a>>;

/// Who asks.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    Admin,
    Agent(&'a str),
}

/// The server, its clock, and everybody's keys.
pub(super) struct Stage {
    router: axum::Router,
    app: Shared,
    walk: Arc<Walk>,
    token: String,
    keys: RefCell<BTreeMap<String, String>>,
    /// The present day.
    today: Moment,
    /// The end of the season.
    now: Moment,
    /// Set by a story that waits, and taken by whoever lets the stories go on.
    waits: Cell<Option<Moment>>,
}

/// The admin's token of one season.
pub(super) fn token(key: &[u8; 64]) -> String {
    Digest::of_parts(&[b"arena demo admin", key]).to_string()
}

impl Stage {
    pub(super) fn new(server: &Server, walk: Arc<Walk>, token: String, days: (Moment, Moment)) -> Self {
        let (today, now) = days;
        let (router, app) = (server.router(), server.app().clone());
        Self { router, app, walk, token, keys: RefCell::default(), today, now, waits: Cell::new(None) }
    }

    /// A time of a day; the present one is day 0.
    pub(super) fn time(&self, day: i64, hour: i64, minute: i64) -> Moment {
        self.today.plus_ms(day * DAY_MS + (hour * 60 + minute) * 60_000)
    }

    /// When the season ends.
    pub(super) fn end(&self) -> Moment {
        self.now
    }

    pub(super) fn clock(&self) -> Moment {
        self.walk.now()
    }

    /// Waits until a time. What is past is now.
    pub(super) async fn until(&self, at: Moment) {
        let mut asked = false;
        poll_fn(|_| {
            if asked {
                return Poll::Ready(());
            }
            asked = true;
            self.waits.set(Some(at));
            Poll::Pending
        })
        .await;
    }

    /// Makes an agent known, with a key that is good for the season.
    pub(super) async fn agent(&self, id: &str, operator: &str, scopes: &[&str]) -> Result<(), DemoError> {
        self.post(By::Admin, "/api/v1/agents", json!({ "id": id, "operator": operator })).await?;
        let key = json!({ "scopes": scopes, "expires_at": self.now.to_string() });
        let made = self.post(By::Admin, &format!("/api/v1/agents/{id}/keys"), key).await?;
        let key = text(&made, "key")?;
        self.keys.borrow_mut().insert(id.to_owned(), key);
        Ok(())
    }

    pub(super) async fn get(&self, by: By<'_>, path: &str) -> Result<Value, DemoError> {
        self.ask("GET", by, path, &[], Body::empty()).await
    }

    pub(super) async fn post(&self, by: By<'_>, path: &str, body: Value) -> Result<Value, DemoError> {
        self.ask("POST", by, path, &JSON, document(&body)).await
    }

    /// A request that has no body.
    pub(super) async fn bare(&self, by: By<'_>, path: &str) -> Result<Value, DemoError> {
        self.ask("POST", by, path, &[], Body::empty()).await
    }

    /// An action of a turn, which is no versioned document.
    pub(super) async fn act(&self, by: By<'_>, path: &str, body: Value) -> Result<Value, DemoError> {
        self.ask("PUT", by, path, &JSON, document(&body)).await
    }

    /// The first version of a document.
    pub(super) async fn put(&self, by: By<'_>, path: &str, body: Value) -> Result<Value, DemoError> {
        self.ask("PUT", by, path, &[JSON[0], ("if-match", "\"none\"")], document(&body)).await
    }

    /// Puts a text into the Locker for everybody to read.
    pub(super) async fn upload(&self, by: By<'_>, round: &str, text: &str) -> Result<Digest, DemoError> {
        let digest = Digest::of(text.as_bytes());
        let path = format!("/api/v1/locker/blobs/{digest}?round={round}&public_read=true");
        let plain = [("content-type", "text/plain")];
        self.ask("PUT", by, &path, &plain, Body::from(text.to_owned())).await?;
        Ok(digest)
    }

    /// Sends bytes that are no document.
    pub(super) async fn bring(
        &self,
        method: &'static str,
        by: By<'_>,
        path: &str,
        media: &str,
        bytes: &[u8],
    ) -> Result<Value, DemoError> {
        self.ask(method, by, path, &[("content-type", media)], Body::from(bytes.to_vec())).await
    }

    async fn ask(
        &self,
        method: &'static str,
        by: By<'_>,
        path: &str,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Result<Value, DemoError> {
        let mut request = Request::builder().method(method).uri(path);
        request = match by {
            By::Admin => request.header("x-admin-token", &self.token),
            By::Agent(id) => {
                let keys = self.keys.borrow();
                let key = keys.get(id).ok_or_else(|| lacks(&format!("key of {id}")))?;
                request.header(header::AUTHORIZATION, format!("Bearer {key}"))
            }
        };
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(|why| lacks(&why.to_string()))?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (status, bytes) = read(response).await?;
        if !(200..300).contains(&status) {
            let said = String::from_utf8_lossy(&bytes).into_owned();
            return Err(DemoError::Refused {
                at: self.clock().to_string(),
                method,
                path: path.to_owned(),
                status,
                said,
            });
        }
        json::read(&bytes, ANSWER_BYTES_MAX).map_err(|why| lacks(&why.to_string()))
    }

    /// Goes on to a time. The platform looks at every hour what is due, as it does when it runs.
    async fn walk_to(&self, at: Moment) {
        let mut now = self.clock();
        while now < at {
            let hour = now.unix_ms() - now.unix_ms().rem_euclid(HOUR_MS) + HOUR_MS;
            now = Moment::from_unix_ms(hour).min(at);
            self.walk.set(now);
            self.app.tick().await;
        }
    }
}

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn document(body: &Value) -> Body {
    Body::from(json::canonical(body))
}

async fn read(response: Response<Body>) -> Result<(u16, Bytes), DemoError> {
    let status = response.status().as_u16();
    let bytes = axum::body::to_bytes(response.into_body(), ANSWER_BYTES_MAX);
    Ok((status, bytes.await.map_err(|why| lacks(&why.to_string()))?))
}

/// An answer or the world lacks something.
pub(super) fn lacks(what: &str) -> DemoError {
    DemoError::Lacks { what: what.to_owned() }
}

/// A text of an answer.
pub(super) fn text(answer: &Value, key: &str) -> Result<String, DemoError> {
    answer[key].as_str().map(str::to_owned).ok_or_else(|| lacks(key))
}

/// Lines of a file that says something.
pub(super) fn lines<'a>(of: impl IntoIterator<Item = &'a str>) -> String {
    of.into_iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

/// Lets the stories go on, the one that waits for the earliest time first, up to the end of the season. What would
/// come later does not happen. `on_day` is told how many days are over.
pub(super) async fn act_out<'a>(
    stage: &Stage,
    stories: Vec<Story<'a>>,
    on_day: &dyn Fn(u32),
) -> Result<(), DemoError> {
    let (begun, mut told) = (stage.clock(), 0);
    let mut tell = || {
        let days = u32::try_from((stage.clock().unix_ms() - begun.unix_ms()) / DAY_MS).unwrap_or(0);
        (told + 1..=days).for_each(on_day);
        told = told.max(days);
    };
    let mut waiting: Vec<(Moment, Story<'a>)> =
        stories.into_iter().map(|story| (stage.clock(), story)).collect();
    loop {
        let next = (0..waiting.len()).min_by_key(|place| waiting[*place].0);
        let Some(place) = next.filter(|place| waiting[*place].0 < stage.now) else { break };
        let (at, story) = &mut waiting[place];
        stage.walk_to(*at).await;
        tell();
        match go_on(stage, story).await? {
            Some(later) => *at = later.max(stage.clock()),
            None => drop(waiting.remove(place)),
        }
    }
    stage.walk_to(stage.now).await;
    tell();
    Ok(())
}

/// Lets one story go on until it waits for a time, or ends.
async fn go_on(stage: &Stage, story: &mut Story<'_>) -> Result<Option<Moment>, DemoError> {
    poll_fn(|context| match story.as_mut().poll(context) {
        Poll::Ready(ended) => Poll::Ready(ended.map(|()| None)),
        Poll::Pending => match stage.waits.take() {
            Some(at) => Poll::Ready(Ok(Some(at))),
            None => Poll::Pending,
        },
    })
    .await
}
