//! A server over a folder of its own, with a clock that is set by hand.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_contests::Moment;
use arena_server::auth::AdminToken;
use arena_server::{Config, Log, Outside, ServeError, Server, Setup, Workshop};
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use tower::ServiceExt as _;

pub(crate) const ADMIN: &str = "8d1f0c7e5b3a29461f7e0d9c8b5a4321";

/// Time by hand, and luck that is counted.
pub(crate) struct Hand {
    ms: AtomicI64,
    drawn: AtomicU64,
}

impl Outside for Hand {
    fn now(&self) -> Moment {
        Moment::from_unix_ms(self.ms.load(Ordering::SeqCst))
    }

    fn luck(&self) -> [u8; 64] {
        let n = self.drawn.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        let halves = [Digest::of_parts(&[b"a", &n]), Digest::of_parts(&[b"b", &n])];
        let mut luck = [0; 64];
        luck[..32].copy_from_slice(halves[0].as_bytes());
        luck[32..].copy_from_slice(halves[1].as_bytes());
        luck
    }
}

/// A server under test.
pub(crate) struct Bench {
    folder: TempDir,
    outside: Arc<Hand>,
    server: Mutex<Option<Server>>,
    logged: Arc<Mutex<Vec<String>>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("{why}: {}", self.text))
    }

    /// The code of a problem.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        self.json()["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }
}

/// The packs that every server under test offers.
pub(crate) fn packs() -> Vec<Vec<u8>> {
    let sources = [
        include_str!("../../../../../scenarios/sunny-sunday.json"),
        include_str!("../../../../../scenarios/two-spikes.json"),
        include_str!("../../../../../scenarios/cap-to-floor.json"),
    ];
    sources.map(|source| source.as_bytes().to_vec()).to_vec()
}

pub(crate) fn limitless() -> Config {
    let mut config = Config::default();
    let limits = &mut config.limits;
    for rate in [
        &mut limits.requests_per_minute,
        &mut limits.burst,
        &mut limits.anonymous_per_second,
        &mut limits.play_per_second,
        &mut limits.play_burst,
        &mut limits.submits_per_minute,
        &mut limits.failures_per_minute,
        &mut limits.uploads_per_hour,
        &mut limits.keys_per_hour,
    ] {
        *rate = 1_000_000;
    }
    config
}

impl Bench {
    /// At a time, such as `2026-12-01T00:00:00Z`.
    pub(crate) fn at(time: &str) -> Self {
        Self::with(time, limitless())
    }

    pub(crate) fn with(time: &str, config: Config) -> Self {
        Self::over(TempDir::new().unwrap(), time, config)
    }

    /// Over a folder that is there already.
    pub(crate) fn over(folder: TempDir, time: &str, config: Config) -> Self {
        let ms = time.parse::<Moment>().unwrap().unix_ms();
        let bench = Self {
            folder,
            outside: Arc::new(Hand { ms: AtomicI64::new(ms), drawn: AtomicU64::new(0) }),
            server: Mutex::new(None),
            logged: Arc::default(),
        };
        bench.open(config);
        bench
    }

    fn open(&self, config: Config) {
        self.try_open(config).unwrap();
    }

    fn try_open(&self, config: Config) -> Result<(), ServeError> {
        let logged = Arc::clone(&self.logged);
        let log: Log = Box::new(move |line| logged.lock().unwrap().push(line.to_owned()));
        let admin = AdminToken::new(ADMIN).unwrap();
        let setup = Setup { config, admin, outside: self.outside.clone(), packs: packs(), log: Some(log) };
        let server = Server::open(self.folder.path(), setup)?;
        *self.server.lock().unwrap() = Some(server);
        Ok(())
    }

    /// Ends the server and opens it again from what is on disk.
    pub(crate) fn restart(&self) {
        let old = self.server.lock().unwrap().take();
        drop(old);
        self.open(limitless());
    }

    /// The same with another configuration, which the server may refuse.
    pub(crate) fn restart_with(&self, config: Config) -> Result<(), ServeError> {
        let old = self.server.lock().unwrap().take();
        drop(old);
        self.try_open(config)
    }

    /// The same at another time: the server was down in between, and has not looked yet for what is due.
    pub(crate) fn restart_at(&self, time: &str, config: Config) {
        let old = self.server.lock().unwrap().take();
        drop(old);
        self.outside.ms.store(time.parse::<Moment>().unwrap().unix_ms(), Ordering::SeqCst);
        self.open(config);
    }

    /// Sets the clock, and does what is due.
    pub(crate) async fn set(&self, time: &str) {
        self.outside.ms.store(time.parse::<Moment>().unwrap().unix_ms(), Ordering::SeqCst);
        let app = self.server.lock().unwrap().as_ref().unwrap().app().clone();
        app.tick().await;
    }

    /// The lines of the request log so far.
    pub(crate) fn logged(&self) -> Vec<String> {
        self.logged.lock().unwrap().clone()
    }

    /// Brings a workshop into the server that is open now.
    pub(crate) fn bring(&self, workshop: Arc<dyn Workshop>) {
        let mut server = self.server.lock().unwrap();
        *server = server.take().map(|server| server.with_workshop(workshop));
    }

    /// Takes the server out, to be run over real sockets.
    pub(crate) fn take(&self) -> Server {
        self.server.lock().unwrap().take().unwrap()
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Said {
        let router = self.server.lock().unwrap().as_ref().unwrap().router();
        let response = router.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 64 << 20).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Said { status: parts.status, headers: parts.headers, text }
    }

    /// The head of an answer; its body is not waited for.
    pub(crate) async fn head(&self, request: Request<Body>) -> axum::response::Response {
        let router = self.server.lock().unwrap().as_ref().unwrap().router();
        router.oneshot(request).await.unwrap()
    }

    /// The start of a live stream: everything that is sent until `enough` says so.
    pub(crate) async fn stream(&self, request: Request<Body>, enough: impl Fn(&str) -> bool) -> String {
        use futures_util::StreamExt as _;
        let router = self.server.lock().unwrap().as_ref().unwrap().router();
        let response = router.oneshot(request).await.unwrap();
        let mut stream = response.into_body().into_data_stream();
        let mut text = String::new();
        while !enough(&text) {
            let next = tokio::time::timeout(std::time::Duration::from_secs(20), stream.next()).await;
            let bytes = next.expect("the stream says nothing more").unwrap().unwrap();
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
        text
    }

    pub(crate) async fn get(&self, path: &str, key: Option<&str>) -> Said {
        self.send(request("GET", path, key).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Said {
        self.send_json("POST", path, key, &[], body).await
    }

    pub(crate) async fn send_json(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Said {
        let mut request = request(method, path, key).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Makes an agent with a key of these scopes; gives the key.
    pub(crate) async fn agent(&self, id: &str, operator: &str, scopes: &[&str]) -> String {
        let body = json!({ "id": id, "operator": operator });
        self.post("/api/v1/agents", Some(ADMIN), &body).await.expect(201);
        let path = format!("/api/v1/agents/{id}/keys");
        let made = self.post(&path, Some(ADMIN), &json!({ "scopes": scopes })).await.expect(201);
        made.json()["key"].as_str().unwrap().to_owned()
    }
}

/// A request; `key` is an agent's key or the admin's token.
pub(crate) fn request(method: &str, path: &str, key: Option<&str>) -> axum::http::request::Builder {
    let request = Request::builder().method(method).uri(path);
    match key {
        Some(ADMIN) => request.header("x-admin-token", ADMIN),
        Some(key) => request.header("authorization", format!("Bearer {key}")),
        None => request,
    }
}
