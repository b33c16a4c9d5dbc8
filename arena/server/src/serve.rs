//! Starts the server, answers connections, and ends without losing an answer.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner, ScannerError};
use arena_store::{Event, Options, Store, StoreFault};
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt as _;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::app::{App, Shared};
use crate::auth::{AdminToken, Sessions, Viewer};
use crate::config::Config;
use crate::figures::{self, Figures};
use crate::http::arrival::Peer;
use crate::http::kept::KeptPages;
use crate::http::limit::Limiter;
use crate::http::linger::Lingering;
use crate::http::log::Log;
use crate::http::{finish, who};
use crate::instance::claims::{self, Genesis, Unfounded};
use crate::instance::{Command, Known, Request};
use crate::keeper::{Keeper, Sent};
use crate::live::Live;
use crate::outside::Outside;
use crate::play::{Shelf, ShelfError};
use crate::signing::{InstanceKey, KeyError, LogKey};
use crate::workshop::{Floor, Runner, Workshop};
use crate::{notes, routes};

/// How long a client may take to send its headers.
const HEADERS_PATIENCE: Duration = Duration::from_secs(10);
/// How long a handler may take, its body included.
const HANDLER_PATIENCE: Duration = Duration::from_secs(30);
/// How long answers that are under way are waited for at the end.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// How often the platform looks for what is due.
const TICK: Duration = Duration::from_millis(500);
/// How long a blob is kept that nothing in the journal names: an upload whose command never came.
const UNBOOKED_KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Connections at once that ask for figures.
const FIGURES_CONNECTIONS_MAX: usize = 8;
/// How often counts of limits are swept.
const SWEEP: Duration = Duration::from_secs(60);

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The store.
    #[error("{0}")]
    Store(#[from] StoreFault),
    /// The key of the server.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// The rules of what must not become public.
    #[error("{0}")]
    Scanner(#[from] ScannerError),
    /// The packs.
    #[error("{0}")]
    Shelf(#[from] ShelfError),
    /// The folders of the workshop.
    #[error("cannot make the folders of the workshop: {0}")]
    Floor(std::io::Error),
    /// The instance of claims.
    #[error("no instance of claims can be founded: {0}")]
    Claims(#[from] Unfounded),
    /// The instance of claims was founded on other parties than the configuration states.
    #[error(
        "the claims of this folder were founded otherwise, and for good: {0}; state them again as they were founded, or \
         use another folder"
    )]
    Founded(String),
    /// What it was founded on could not be written down.
    #[error("cannot write down what claims are founded on: {0}")]
    Unwritten(String),
    /// That it is up again could not be written down.
    #[error("cannot write down that the server is up again: {0}")]
    Unresumed(String),
    /// The address.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        why: std::io::Error,
    },
}

/// A server that is ready to answer.
pub struct Server {
    /// Ended before anything else is let go.
    runner: Option<Runner>,
    app: Shared,
    router: Router,
}

/// What a server is made with.
pub struct Setup {
    /// How it runs.
    pub config: Config,
    /// The admin's token.
    pub admin: AdminToken,
    /// Time and luck.
    pub outside: Arc<dyn Outside>,
    /// The documents of the packs that are played.
    pub packs: Vec<Vec<u8>>,
    /// Where a line for each request goes, if anywhere.
    pub log: Option<Log>,
}

/// Where a server listens.
#[derive(Debug)]
pub struct Doors {
    /// For everybody.
    pub public: TcpListener,
    /// For its figures, on a loopback address.
    pub metrics: Option<TcpListener>,
}

impl Server {
    /// Opens the folder with everything that is known, or makes it.
    pub fn open(folder: &Path, setup: Setup) -> Result<Self, ServeError> {
        Self::open_with(folder, setup, Options::default())
    }

    /// The same for a folder that is worth something only when it has been closed again: nobody waits for the disk.
    pub(crate) fn open_to_fill(folder: &Path, setup: Setup) -> Result<Self, ServeError> {
        Self::open_with(folder, setup, Options { is_durable: false, ..Options::default() })
    }

    fn open_with(folder: &Path, setup: Setup, options: Options) -> Result<Self, ServeError> {
        let packs = Shelf::read(&setup.packs)?;
        let scanner = Scanner::new(&[], MARKERS)?;
        let claims = Genesis::configured(&setup.config.claims)?;
        let log_key = LogKey::find(folder, &setup.outside.secret())?;
        let known = Known { registry: Registry::v2().clone(), scanner, packs, claims, log: log_key.secret() };
        let known = Arc::new(known);
        // The writer wakes the feed, which is there only after the writer is.
        let feed: Arc<OnceLock<Weak<Live>>> = Arc::default();
        let wakes = Arc::clone(&feed);
        let on_commit = Box::new(move |events: &[Event]| {
            if let Some(live) = wakes.get().and_then(Weak::upgrade) {
                live.advance(events);
            }
        });
        let unbooked_before = setup.outside.now().plus_ms(-UNBOOKED_KEPT_MS).unix_ms();
        let unbooked_before_ms = u64::try_from(unbooked_before).ok();
        let log = setup.log.map(Arc::new);
        let on_note = notes::taking(log.clone(), Arc::clone(&setup.outside));
        let options = Options { on_commit, on_note, unbooked_before_ms, ..options };
        let store = Store::open(folder, Keeper::new(Arc::clone(&known)), Vec::new(), options)?;
        // After the store is locked: two servers do not make a key at once.
        let signed_by = store.look(|instance| instance.claims.log().key())?;
        log_key.settle(signed_by)?;
        found(&store, &known, setup.outside.as_ref())?;
        resume(&store, setup.outside.as_ref())?;
        let head = store.journal().head()?.seq;
        let live = Arc::new(Live::new(store.journal().clone(), head));
        let _ = feed.set(Arc::downgrade(&live));
        let limiter = Limiter::new(&setup.config.limits);
        let (ends, _) = watch::channel(false);
        let Setup { config, admin, outside, packs: _, log: _ } = setup;
        let sessions = Sessions::default();
        let key = InstanceKey::open(folder, &outside.secret())?;
        let (figures, kept) = (Figures::default(), KeptPages::default());
        let floor = Floor::open(folder, &config.tournaments).map_err(ServeError::Floor)?;
        let app = App {
            config,
            store,
            known,
            outside,
            admin,
            key,
            sessions,
            limiter,
            live,
            kept,
            floor,
            downloads: Arc::new(tokio::sync::Semaphore::new(crate::app::DOWNLOADS_MAX)),
            figures,
            log,
            ends,
        };
        let app = Arc::new(app);
        let router = router(Arc::clone(&app));
        Ok(Self { runner: None, app, router })
    }

    /// With a workshop: components can be uploaded, and tournaments that were started are played from now on, those
    /// first that were broken off.
    #[must_use]
    pub fn with_workshop(mut self, workshop: Arc<dyn Workshop>) -> Self {
        self.app.floor.bring(workshop);
        self.runner = Some(Runner::start(&self.app));
        self
    }

    /// The routes with all their layers, for tests that need no socket.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// What the handlers share.
    pub fn app(&self) -> &Shared {
        &self.app
    }

    /// Listens on the configured addresses; tells which they are, since a port may have been left open.
    pub async fn listen(&self) -> Result<Doors, ServeError> {
        let public = bind(self.app.config.listen).await?;
        let metrics = match self.app.config.metrics {
            None => None,
            Some(address) if address.ip().is_loopback() => Some(bind(address).await?),
            Some(address) => {
                let why = std::io::Error::other("figures are served on a loopback address only");
                return Err(ServeError::Listen { address, why });
            }
        };
        Ok(Doors { public, metrics })
    }

    /// Answers connections until `end`, then finishes what is under way.
    pub async fn run(self, doors: Doors, end: impl Future<Output = ()>) {
        let ticking = tokio::spawn(tick(Arc::clone(&self.app)));
        let telling =
            doors.metrics.map(|listener| tokio::spawn(tell_figures(Arc::clone(&self.app), listener)));
        self.accept(doors.public, end).await;
        // Whoever is stopped has let go of the store: when this returns, the folder is free.
        for task in [Some(ticking), telling].into_iter().flatten() {
            task.abort();
            let _ = task.await;
        }
    }

    async fn accept(&self, listener: TcpListener, end: impl Future<Output = ()>) {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_PATIENCE)
            .max_headers(64)
            .max_buf_size(64 << 10);
        let connections = Arc::new(Semaphore::new(self.app.config.limits.connections_max));
        let graceful = GracefulShutdown::new();
        let lingering = Lingering::new(&self.app.config.limits, HANDLER_PATIENCE, self.app.ends.subscribe());
        let mut end = std::pin::pin!(end);
        loop {
            let permit = Arc::clone(&connections).acquire_owned();
            let accepted = tokio::select! {
                () = &mut end => break,
                accepted = async { (permit.await, listener.accept().await) } => accepted,
            };
            let (Ok(permit), Ok((stream, peer))) = accepted else {
                // Out of descriptors, as a rule: some are given back soon.
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let lingering = lingering.clone();
            let router = self.router.clone().map_request(move |request: hyper::Request<_>| {
                let (mut parts, body) = request.into_parts();
                parts.extensions.insert(Peer(peer));
                let body = lingering.on(body, &parts.headers);
                hyper::Request::from_parts(parts, axum::body::Body::new(body))
            });
            let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
            let connection = graceful.watch(connection);
            let counted = self.app.figures.connected();
            tokio::spawn(async move {
                // A client that goes away is no fault of ours.
                let _ = connection.await;
                drop((permit, counted));
            });
        }
        self.app.ends.send_replace(true);
        let _ = tokio::time::timeout(END_PATIENCE, graceful.shutdown()).await;
    }
}

/// What the parties of a hash chain are stands in the journal from the first start on. A later start has to state the same.
fn found(store: &Store<Keeper>, known: &Known, outside: &dyn Outside) -> Result<(), ServeError> {
    let founded =
        store.look(|instance| instance.claims.founded().map(|world| known.claims.differs_from(world)));
    match founded.map_err(|why| ServeError::Unwritten(why.to_string()))? {
        Some(Some(differs)) => Err(ServeError::Founded(differs)),
        None if known.claims.is_pinned() => {
            write(store, outside, claims::Command::Found).map_err(ServeError::Unwritten)
        }
        _ => Ok(()),
    }
}

/// That the server is up again, before anything else is done: what was due while it was down waits for whoever owes it.
fn resume(store: &Store<Keeper>, outside: &dyn Outside) -> Result<(), ServeError> {
    let is_waiting = store.look(|instance| instance.claims.is_waiting());
    if is_waiting.map_err(|why| ServeError::Unresumed(why.to_string()))? {
        write(store, outside, claims::Command::Resume).map_err(ServeError::Unresumed)?;
    }
    Ok(())
}

/// Writes down what the server itself does before it answers anybody; what went wrong in words.
fn write(store: &Store<Keeper>, outside: &dyn Outside, command: claims::Command) -> Result<(), String> {
    let by = Viewer::Admin { name: "the platform".to_owned() };
    let request = Request { at: outside.now(), by, luck: outside.luck(), command: Command::Claims(command) };
    let written = store.submit(Sent { request, slot: None }).wait();
    written.map(drop).map_err(|why| format!("{why:?}"))
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|why| ServeError::Listen { address, why })
}

/// The second port: nothing but figures, a few connections at once.
async fn tell_figures(app: Shared, listener: TcpListener) {
    let router = figures::router(app);
    let connections = Arc::new(Semaphore::new(FIGURES_CONNECTIONS_MAX));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await;
        let (Ok(permit), Ok((stream, _))) = (permit, listener.accept().await) else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let router =
            router.clone().map_request(|request: hyper::Request<_>| request.map(axum::body::Body::new));
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADERS_PATIENCE).keep_alive(false);
        let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
        tokio::spawn(async move {
            let _ = connection.await;
            drop(permit);
        });
    }
}

async fn tick(app: Shared) {
    let mut since_sweep = Duration::ZERO;
    loop {
        tokio::time::sleep(TICK).await;
        app.tick().await;
        since_sweep += TICK;
        if since_sweep >= SWEEP {
            since_sweep = Duration::ZERO;
            app.limiter.sweep();
        }
    }
}

/// The layers, from the outside in: the id of the request and the form of refusals; panics; patience; who asks.
fn router(app: Shared) -> Router {
    let (api, _) = routes::api().split_for_parts();
    api.merge(routes::pages())
        .layer(from_fn_with_state(Arc::clone(&app), who::identify))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, HANDLER_PATIENCE))
        .layer(CatchPanicLayer::new())
        .layer(from_fn_with_state(Arc::clone(&app), finish::finish))
        .with_state(app)
}
