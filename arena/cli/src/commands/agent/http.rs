//! A client of one server: bounded answers, bounded patience, no redirects. The key goes to that server alone and is
//! never shown.
//!
//! What may be sent again is: a read, and a write under an idempotency key. Absent: cookies, compression, proxies.

use std::fmt;
use std::io::Read as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use arena_canon::json::{self, Value};
use arena_canon::{Digest, Preimage};
use arena_engine::Excerpt;
use ureq::http::{HeaderMap, Response, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, Error};

use super::leave::Leave;
use crate::failure::Failure;

/// Bytes of an answer in JSON: a claim's record may have a megabyte, and a claim may have several.
const ANSWER_BYTES_MAX: u64 = 8 << 20;
const HEADER_BYTES_MAX: usize = 32 << 10;
/// Attempts of one request, with pauses that double.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Whatever a server asks for, nobody waits longer than this for one request.
const PAUSE_MAX: Duration = Duration::from_secs(30);
const TOKEN_BYTES_MAX: usize = 256;

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    is_secure: bool,
    host: String,
    port: Option<u16>,
}

impl Address {
    /// Whether what is sent leaves this machine unencrypted.
    pub(crate) fn is_exposed(&self) -> bool {
        // A name may begin with 127. and be anywhere.
        let is_loopback = self.host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
        let here = self.host == "localhost" || is_loopback || self.host == "[::1]";
        !self.is_secure && !here
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "a server is http://host[:port] or https://host[:port], and nothing behind it";
        let (scheme, rest) = text.split_once("://").ok_or(FORM)?;
        let is_secure = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(FORM),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let split = match rest.rfind(']') {
            Some(end) => rest[end..].find(':').map(|at| end + at),
            None => rest.find(':'),
        };
        let (host, port) = match split {
            Some(at) => (&rest[..at], Some(rest[at + 1..].parse().map_err(|_| FORM)?)),
            None => (rest, None),
        };
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_host = match inner {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)),
        };
        if host.is_empty() || host.len() > 253 || !is_host {
            return Err(FORM);
        }
        Ok(Self { is_secure, host: host.to_ascii_lowercase(), port })
    }
}

/// What opens the server to an agent. It has no text of its own.
pub(super) struct Token(String);

impl Token {
    /// Reads one, if it is of the form of a key.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_key = text.starts_with("ak_") && text.len() <= TOKEN_BYTES_MAX && text.bytes().all(plain);
        is_key.then(|| Self(format!("Bearer {text}")))
    }
}

/// Why there is no answer that could be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not reached, or has too much to do. That may pass.
    Away(String),
    /// It refuses, for this reason.
    Refused {
        /// The status.
        status: u16,
        /// The stable name of the reason.
        code: String,
        /// In words.
        detail: String,
    },
    /// What it answers is nothing that an arena's server says.
    Foreign(String),
    /// Whoever started this has seen enough.
    Left,
}

impl Trouble {
    /// Whether it is refused for this reason.
    pub(crate) fn is(&self, wanted: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == wanted)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(why) => write!(f, "the server is away: {why}"),
            Self::Refused { code, detail, .. } => write!(f, "the server refuses: {code}: {detail}"),
            Self::Foreign(why) => write!(f, "this is no answer of an arena's server: {why}"),
            Self::Left => write!(f, "it was interrupted"),
        }
    }
}

/// A client that follows no redirect and is patient for so long.
fn client(address: &Address, timeout: Duration) -> Result<Agent, Failure> {
    let mut config = Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .accept_encoding("identity")
        .user_agent(concat!("arena/", env!("CARGO_PKG_VERSION")))
        .max_response_header_size(HEADER_BYTES_MAX)
        .timeout_connect(Some(timeout))
        .timeout_global(Some(timeout));
    if address.is_secure {
        config = config.tls_config(trust()?);
    }
    Ok(config.build().new_agent())
}

/// Somebody who says public things, and is told nothing: no key goes there.
pub(crate) struct Relay {
    address: Address,
    agent: Agent,
}

impl Relay {
    pub(crate) fn new(address: Address, timeout: Duration) -> Result<Self, Failure> {
        let agent = client(&address, timeout)?;
        Ok(Self { address, agent })
    }

    /// A document of an arena's server that everybody may see, asked for once, and again where it says that there are too
    /// many questions; otherwise its reason.
    pub(crate) fn see(&self, path: &str) -> Result<Value, Trouble> {
        let ask = || {
            let response = self.agent.get(format!("{}{path}", self.address)).call();
            answer(response.map_err(|why| trouble(&why))?)
        };
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match ask() {
                Err(Trouble::Refused { status: 429, detail, .. }) => {
                    std::thread::sleep(pause.max(seconds_in(&detail)).min(PAUSE_MAX));
                }
                other => return other,
            }
            pause *= 2;
        }
        match ask() {
            Err(Trouble::Refused { status: 429, detail, .. }) => Err(Trouble::Away(detail)),
            other => other,
        }
    }

    /// Bytes, so many at most, asked for once.
    pub(crate) fn bytes(&self, path: &str, limit: u64, patience: Duration) -> Result<Vec<u8>, Trouble> {
        body(self.open(path, None, patience)?, limit)
    }

    /// An answer whose bytes are left to whoever asks, and which must be over when `patience` is: all of it, or the part
    /// between two bytes, if the server gives parts.
    pub(crate) fn open(
        &self,
        path: &str,
        part: Option<(u64, u64)>,
        patience: Duration,
    ) -> Result<Response<Body>, Trouble> {
        let request = self.agent.get(format!("{}{path}", self.address));
        let request = match part {
            Some((first, last)) => request.header(header::RANGE, format!("bytes={first}-{last}")),
            None => request,
        };
        let request = request.config().timeout_global(Some(patience)).build();
        let response = request.call().map_err(|why| trouble(&why))?;
        if response.status().is_success() {
            return Ok(response);
        }
        answer(response).and(Err(Trouble::Foreign("no bytes came".to_owned())))
    }

    /// A document of so many bytes at most, asked for once; otherwise in words why there is none.
    pub(super) fn ask(&self, path: &str, limit: u64) -> Result<Value, String> {
        let document = || {
            let response = self.agent.get(format!("{}{path}", self.address)).call();
            let response = response.map_err(|why| trouble(&why))?;
            if response.status() != 200 {
                return Err(Trouble::Foreign(format!("it answers {}", response.status())));
            }
            let bytes = body(response, limit)?;
            json::read(&bytes, bytes.len())
                .map_err(|why| Trouble::Foreign(Excerpt { text: &why.to_string(), max: 200 }.to_string()))
        };
        document().map_err(|why| match why {
            Trouble::Away(why) | Trouble::Foreign(why) => why,
            other => other.to_string(),
        })
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

/// A server, and who asks it.
pub(super) struct Server {
    address: Address,
    agent: Agent,
    token: Token,
    leave: Leave,
}

impl Server {
    pub(super) fn new(
        address: Address,
        token: Token,
        timeout: Duration,
        leave: Leave,
    ) -> Result<Self, Failure> {
        let agent = client(&address, timeout)?;
        Ok(Self { address, agent, token, leave })
    }

    /// A document.
    pub(super) fn get(&self, path: &str) -> Result<Value, Trouble> {
        Ok(self.read(path)?.0)
    }

    /// A document, and the time at the server in seconds.
    pub(super) fn read(&self, path: &str) -> Result<(Value, Option<u64>), Trouble> {
        self.often(|| {
            let request = self.agent.get(self.url(path)).header(header::AUTHORIZATION, &self.token.0);
            let response = request.call().map_err(|why| trouble(&why))?;
            let now = date(response.headers());
            Ok((answer(response)?, now))
        })
    }

    /// Does something, once: sent again, it is the same request. `about` says what it is for, so that the same words
    /// for something else are another one.
    pub(super) fn post(&self, path: &str, body: Option<&Value>, about: &Digest) -> Result<Value, Trouble> {
        let bytes = body.map(json::canonical).unwrap_or_default();
        let key = Preimage::new("ARENA-AGENT-REQUEST-V1");
        let key = key.bytes(path.as_bytes()).bytes(&bytes).bytes(about.as_bytes()).digest().to_string();
        self.often(|| {
            let request = self.agent.post(self.url(path)).header(header::AUTHORIZATION, &self.token.0);
            let request = request.header("idempotency-key", &key);
            let sent = match body {
                Some(_) => request.content_type("application/json").send(&bytes[..]),
                None => request.send_empty(),
            };
            answer(sent.map_err(|why| trouble(&why))?)
        })
    }

    /// The bytes of this digest, of `limit` at most.
    pub(super) fn blob(&self, sha256: Digest, limit: u64) -> Result<Vec<u8>, Trouble> {
        let path = format!("/api/v1/claims/blobs/{sha256}");
        let bytes = self.often(|| {
            let request = self.agent.get(self.url(&path)).header(header::AUTHORIZATION, &self.token.0);
            let response = request.call().map_err(|why| trouble(&why))?;
            if response.status() != 200 {
                return answer(response).and(Err(Trouble::Foreign("no bytes came".to_owned())));
            }
            body(response, limit)
        })?;
        let found = Digest::of(&bytes);
        if found == sha256 {
            return Ok(bytes);
        }
        Err(Trouble::Foreign(format!("what it gives for SHA-256 {sha256} has SHA-256 {found}")))
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// Asks until there is an answer, a few times.
    fn often<T>(&self, mut ask: impl FnMut() -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match ask() {
                Err(Trouble::Away(_)) => {}
                Err(Trouble::Refused { status: 429, detail, .. }) => {
                    // It says when there is room again, within its rate of a minute.
                    pause = pause.max(seconds_in(&detail)).min(PAUSE_MAX);
                }
                other => return other,
            }
            if !self.leave.sleep(pause) {
                return Err(Trouble::Left);
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
        match ask() {
            Err(Trouble::Refused { status: 429, detail, .. }) => Err(Trouble::Away(detail)),
            other => other,
        }
    }
}

/// The pause that the words of a limit name.
fn seconds_in(detail: &str) -> Duration {
    let number = detail.split(' ').find_map(|word| word.parse().ok());
    Duration::from_secs(number.unwrap_or(1))
}

/// Whom this machine trusts.
fn trust() -> Result<TlsConfig, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> =
        found.certs.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    if roots.is_empty() {
        return Err(Failure::usage("use https", "this machine has no list of certificates that it trusts")
            .hint("install one, such as Debian's `ca-certificates`"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

/// When the server says it is.
fn date(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(header::DATE)?.to_str().ok()?;
    let at = jiff::fmt::rfc2822::parse(text).ok()?;
    u64::try_from(at.timestamp().as_second()).ok()
}

fn trouble(why: &Error) -> Trouble {
    match why {
        Error::Timeout(_) => Trouble::Away("it takes too long to answer".to_owned()),
        Error::HostNotFound => Trouble::Away("its host is not found".to_owned()),
        Error::ConnectionFailed => Trouble::Away("it does not listen".to_owned()),
        Error::Io(why) if why.kind() == std::io::ErrorKind::ConnectionRefused => {
            Trouble::Away("it does not listen".to_owned())
        }
        Error::LargeResponseHeader(..) => {
            Trouble::Foreign(format!("its headers have more than {HEADER_BYTES_MAX} bytes, the limit"))
        }
        Error::Protocol(_) => Trouble::Foreign("it does not speak HTTP".to_owned()),
        Error::Io(why) => Trouble::Away(crate::files::plain(why)),
        other => Trouble::Away(Excerpt { text: &other.to_string(), max: 200 }.to_string()),
    }
}

fn body(response: Response<Body>, limit: u64) -> Result<Vec<u8>, Trouble> {
    let too_large = || Trouble::Foreign(format!("its answer has more than {limit} bytes, the limit"));
    if response.body().content_length().is_some_and(|told| told > limit) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut reader = response.into_body().into_with_config().limit(limit + 2).reader().take(limit + 1);
    reader.read_to_end(&mut bytes).map_err(|why| match why.kind() {
        std::io::ErrorKind::TimedOut => Trouble::Away("it takes too long to answer".to_owned()),
        _ => Trouble::Away(format!("its answer broke off: {}", Excerpt { text: &why.to_string(), max: 200 })),
    })?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn text(value: &Value, key: &str, max: usize) -> String {
    let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
    Excerpt { text, max }.to_string()
}

/// A document, or the reason why there is none.
fn answer(response: Response<Body>) -> Result<Value, Trouble> {
    let status = response.status();
    if status.is_redirection() {
        let why = format!("it sends elsewhere ({status}), where the key is not sent");
        return Err(Trouble::Foreign(why));
    }
    if status.is_server_error() {
        return Err(Trouble::Away(format!("it answers {status}")));
    }
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = media.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !matches!(media.as_str(), "application/json" | "application/problem+json") {
        return Err(Trouble::Foreign(format!("it answers {status} with no JSON")));
    }
    let bytes = body(response, ANSWER_BYTES_MAX)?;
    let value = json::read(&bytes, bytes.len())
        .map_err(|why| Trouble::Foreign(Excerpt { text: &why.to_string(), max: 200 }.to_string()))?;
    if status.is_success() {
        return Ok(value);
    }
    let code = text(&value, "code", 64);
    if code.is_empty() {
        return Err(Trouble::Foreign(format!("it answers {status} without a reason")));
    }
    let faults = value["errors"].as_array().into_iter().flatten().take(4);
    let faults =
        faults.map(|fault| format!("; {}: {}", text(fault, "pointer", 80), text(fault, "detail", 160)));
    let detail = text(&value, "detail", 300) + &faults.collect::<String>();
    Err(Trouble::Refused { status: status.as_u16(), code, detail })
}

#[cfg(test)]
mod tests {
    use super::{Address, Token};

    #[test]
    fn a_server_is_a_host_and_nothing_behind_it() {
        for (text, shown, is_exposed) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", false),
            ("http://LocalHost/", "http://localhost", false),
            ("http://[::1]:80", "http://[::1]:80", false),
            ("https://arena.example", "https://arena.example", false),
            ("http://arena.example", "http://arena.example", true),
            ("http://127.0.0.1.example.com", "http://127.0.0.1.example.com", true),
            ("http://127.example", "http://127.example", true),
            ("http://127.1.2.3", "http://127.1.2.3", false),
        ] {
            let address: Address = text.parse().unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!((address.to_string().as_str(), address.is_exposed()), (shown, is_exposed));
        }
        for text in [
            "",
            "arena.example",
            "ftp://a",
            "http://",
            "http://a/b",
            "http://a?b",
            "http://a#b",
            "http://u@a",
            "http://u:p@a",
            "http://a:b",
            "http://a:99999",
            "http://[::1",
            "http://[x]",
            "http://a b",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_is_one_word_of_its_form() {
        assert!(Token::read(" ak_aaaa_bbbb_cc\n").is_some());
        for text in ["", "bk_a", "ak_a b", "ak_a\r\nx-admin-token: b", &format!("ak_{}", "a".repeat(300))] {
            assert!(Token::read(text).is_none(), "{text}");
        }
    }
}
