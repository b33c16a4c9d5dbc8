//! The connection to a server, and the patience to wait for it: a server that is started again is found
//! again, and what was asked of it is asked again.

use std::fmt::Display;
use std::time::{Duration, Instant};

use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::{Context, consumer};
use async_nats::{Client, ConnectErrorKind};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::address::NatsAddress;
use super::fault::NatsFault;

/// Longest wait for one answer of the server; after it the same is asked again.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Pause before something is tried again.
pub(super) const PAUSE: Duration = Duration::from_millis(100);
/// Longest pause before a lost connection is tried again.
const RECONNECT_MAX: Duration = Duration::from_secs(1);
/// Longest greeting of a server that is read.
const GREETING_BYTES_MAX: u64 = 64 << 10;

/// The consumer of a stream, asked for its messages.
pub(super) type Pull = consumer::Consumer<consumer::pull::Config>;

/// A connection. It works on while its owner does something else.
pub(super) struct Link {
    runtime: Runtime,
    jetstream: Context,
    patience: Duration,
}

impl Link {
    /// Connects as `name`.
    pub(super) fn open(server: &NatsAddress, name: &str, patience: Duration) -> Result<Self, NatsFault> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|why| NatsFault::Thread { why: why.to_string() })?;
        let client = runtime.block_on(connect(server, name, patience))?;
        let answer_max = answer_max(patience);
        // It starts a task of its own.
        let inside = runtime.enter();
        let jetstream = ContextBuilder::new().timeout(answer_max).ack_timeout(answer_max).build(client);
        drop(inside);
        Ok(Self { runtime, jetstream, patience })
    }

    pub(super) fn jetstream(&self) -> &Context {
        &self.jetstream
    }

    pub(super) fn client(&self) -> Client {
        self.jetstream.client()
    }

    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits for what `future` gives.
    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// Begins with `task`, whose result is waited for later.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, String>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, String>> {
        let task = self.runtime.spawn(task);
        Box::pin(async { task.await.map_err(text)? })
    }

    /// Lets `task` run beside.
    pub(super) fn spawn<F>(&self, task: F) -> Task
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Task(self.runtime.spawn(task).abort_handle())
    }

    /// Tries until it succeeds, or the patience is over.
    pub(super) fn persist<T>(
        &self,
        doing: &'static str,
        attempt: impl AsyncFnMut() -> Result<T, String>,
    ) -> Result<T, NatsFault> {
        self.wait(persist(doing, self.patience, attempt))
    }

    /// Most bytes of a message that the server takes, with room left for headers.
    pub(super) fn payload_max(&self) -> usize {
        self.client().server_info().max_payload.saturating_sub(4 << 10)
    }

    /// A word that nobody else has.
    pub(super) fn nonce(&self) -> String {
        let inbox = self.client().new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }
}

/// A task that ends with whoever wanted it.
pub(super) struct Task(tokio::task::AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Tries until it succeeds, or `patience` is over.
pub(super) async fn persist<T>(
    doing: &'static str,
    patience: Duration,
    mut attempt: impl AsyncFnMut() -> Result<T, String>,
) -> Result<T, NatsFault> {
    let until = Instant::now() + patience;
    loop {
        match attempt().await {
            Ok(value) => return Ok(value),
            Err(why) if Instant::now() >= until => return Err(NatsFault::Patience { doing, patience, why }),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Nobody waits longer for one answer than for all.
fn answer_max(patience: Duration) -> Duration {
    ANSWER_MAX.min(patience)
}

/// An error as text.
pub(super) fn text(why: impl Display) -> String {
    why.to_string()
}

async fn connect(server: &NatsAddress, name: &str, patience: Duration) -> Result<Client, NatsFault> {
    let answer_max = answer_max(patience);
    let connected = persist("connecting to the NATS server", patience, async || {
        match tokio::time::timeout(answer_max, greeting(server)).await {
            Err(_) => return Err("it does not greet".to_owned()),
            Ok(Err(why)) => return Err(why),
            Ok(Ok(greeting)) if greeting.tls_required => {
                return Ok(Err(NatsFault::TlsWanted { server: server.to_string() }));
            }
            Ok(Ok(_)) => {}
        }
        let options = server
            .options()
            .name(name)
            .connection_timeout(answer_max)
            .request_timeout(Some(answer_max))
            .ping_interval(Duration::from_secs(10))
            .max_reconnects(None)
            .reconnect_delay_callback(|attempts| {
                RECONNECT_MAX.min(Duration::from_millis(20).saturating_mul(attempts as u32))
            });
        match options.connect(server.server().clone()).await {
            Ok(client) => Ok(Ok(client)),
            Err(why) => match why.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    Ok(Err(NatsFault::Refused { server: server.to_string(), why: why.to_string() }))
                }
                _ => Err(why.to_string()),
            },
        }
    });
    connected.await?
}

/// What a server says of itself to whoever connects. The client library would start TLS by itself, and
/// it is built without.
#[derive(Deserialize)]
struct Greeting {
    #[serde(default)]
    tls_required: bool,
}

async fn greeting(server: &NatsAddress) -> Result<Greeting, String> {
    let server = server.server();
    let stream = TcpStream::connect((server.host(), server.port())).await.map_err(text)?;
    let mut line = Vec::new();
    BufReader::new(stream.take(GREETING_BYTES_MAX)).read_until(b'\n', &mut line).await.map_err(text)?;
    let greeting = line.strip_prefix(b"INFO ").ok_or("what answers is no NATS server")?;
    serde_json::from_slice(greeting).map_err(text)
}
