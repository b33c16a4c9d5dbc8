//! What an operator sets: one file, every limit in it, nothing silent.

mod bounds;
mod faults;

use std::net::{IpAddr, SocketAddr};

use arena_canon::Digest;
use arena_ledger::Amount;

pub(crate) use bounds::Bound;
pub use faults::{ConfigError, ConfigFault};

use crate::instance::claims::Genesis;

/// Most seconds for compiling and probing a component.
const ADMISSION_SECONDS_MAX: u64 = 25;

/// How the server runs. None of it is in a record.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where its figures are served; on a loopback address.
    pub metrics: Option<SocketAddr>,
    /// Addresses that may say in `X-Forwarded-For` for whom they ask.
    pub trusted_proxies: Vec<IpAddr>,
    /// What is allowed.
    pub limits: Limits,
    /// What an instance of claims is made with. One that has begun stays what it is.
    pub claims: Claims,
    /// What tournaments and their strategies may take.
    pub tournaments: Tournaments,
}

/// What an instance of claims is made with.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    /// Where its luck comes from.
    pub beacon: ClaimsBeacon,
    /// Its name, which records are signed for.
    pub name: String,
    /// Who reveals the rounds of a hash chain, the operator's party first: two to eight of them, for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parties: Vec<ChainParty>,
    /// What differs from the published parameters, by name; only where the instance's name begins with `test-`. So a
    /// trial run need not wait for a day: `[claims.params.clocks]`, `window_s = 60`.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub params: serde_json::Map<String, serde_json::Value>,
}

/// A party of a hash chain: one `[[claims.parties]]` of the file, with all four of its members.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ChainParty {
    /// The agent that reveals, and whose money the stake is.
    pub agent: String,
    /// What its chain comes to, from `arena key chain`.
    pub anchor: Digest,
    /// How many rounds its chain has.
    pub rounds: u64,
    /// What is held of it while a job is open.
    pub stake: Amount,
}

/// Where the luck of claims comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimsBeacon {
    /// drand's quicknet. Its rounds are posted by whoever has them, and fetched where the server was started with relays.
    Drand,
    /// Chains of preimages whose rounds `parties` reveal, each with a stake.
    HashChain,
    /// Rounds that anybody can compute, for names that begin with `test-`.
    Test,
}

impl Default for Claims {
    fn default() -> Self {
        let (name, params) = ("arena".to_owned(), serde_json::Map::new());
        Self { beacon: ClaimsBeacon::Drand, name, parties: Vec::new(), params }
    }
}

/// Limits of requests. Counts are for each key, or for each address (of IPv6: each /64) without one. Over all of its
/// keys and sessions an agent may do three times as much as with one.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests a minute.
    pub requests_per_minute: u32,
    /// Requests at once, on top of that.
    pub burst: u32,
    /// Anonymous reads a second.
    pub anonymous_per_second: u32,
    /// Actions of players a second.
    pub play_per_second: u32,
    /// Actions of players at once.
    pub play_burst: u32,
    /// Submissions a minute.
    pub submits_per_minute: u32,
    /// Failed logins and failed admin tokens a minute, for each address.
    pub failures_per_minute: u32,
    /// Uploads of components an hour, for each agent.
    pub uploads_per_hour: u32,
    /// Keys that an agent may make for itself in an hour.
    pub keys_per_hour: u32,
    /// Open event streams of a key.
    pub streams_per_key: usize,
    /// Open event streams of an address.
    pub streams_per_address: usize,
    /// Open event streams in all.
    pub streams_max: usize,
    /// Connections in all.
    pub connections_max: usize,
    /// Bytes of a JSON body.
    pub json_bytes: usize,
    /// Bytes of a component.
    pub component_bytes: usize,
    /// Bytes of a blob in the Locker.
    pub blob_bytes: usize,
    /// Bytes of a replay or a frozen matrix.
    pub replay_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            metrics: None,
            trusted_proxies: Vec::new(),
            limits: Limits::default(),
            claims: Claims::default(),
            tournaments: Tournaments::default(),
        }
    }
}

/// What tournaments and their strategies may take.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tournaments {
    /// Strategies of one agent.
    pub strategies_per_agent: usize,
    /// Components that are compiled and probed at once.
    pub admissions_at_once: usize,
    /// Uploads that may wait for that.
    pub admissions_queued: usize,
    /// Seconds for compiling and probing one; below the 30 s that a request may take.
    pub admission_seconds: u64,
    /// Tournaments of one agent that are not over.
    pub open_per_agent: usize,
    /// Tournaments that one agent may draft in 24 hours; their files are kept.
    pub drafts_per_day: usize,
    /// Tournaments that are played or wait to be.
    pub queued_max: usize,
    /// Tournaments that are played at once.
    pub at_once: usize,
    /// Worker processes of each.
    pub workers: u16,
    /// Strategies of one tournament.
    pub strategies_max: usize,
    /// Matchups of one.
    pub matchups_max: u64,
    /// Turns of all its matchups.
    pub turns_max: u64,
    /// Seconds of one; one that takes longer is exhausted.
    pub wall_seconds_max: u64,
}

impl Default for Tournaments {
    fn default() -> Self {
        Self {
            strategies_per_agent: 100,
            admissions_at_once: 2,
            admissions_queued: 8,
            admission_seconds: 20,
            open_per_agent: 5,
            drafts_per_day: 20,
            queued_max: 16,
            at_once: 1,
            workers: 2,
            strategies_max: 64,
            matchups_max: 10_000,
            turns_max: 10_000_000,
            wall_seconds_max: 900,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: 60,
            burst: 30,
            anonymous_per_second: 20,
            play_per_second: 50,
            play_burst: 200,
            submits_per_minute: 6,
            failures_per_minute: 5,
            uploads_per_hour: 10,
            keys_per_hour: 10,
            streams_per_key: 5,
            streams_per_address: 8,
            streams_max: 4_096,
            connections_max: 8_192,
            json_bytes: 256 << 10,
            component_bytes: 32 << 20,
            blob_bytes: 16 << 20,
            replay_bytes: 4 << 20,
        }
    }
}

impl Config {
    /// Reads a configuration.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        faults::read(text)
    }

    /// Every value that cannot be.
    fn faults(&self) -> Vec<ConfigFault> {
        let mut faults = Vec::new();
        let mut add = |key: &str, why: String| faults.push(ConfigFault { key: key.to_owned(), why });
        let limits = &self.limits;
        let rates = [
            ("limits.requests_per_minute", limits.requests_per_minute),
            ("limits.burst", limits.burst),
            ("limits.anonymous_per_second", limits.anonymous_per_second),
            ("limits.play_per_second", limits.play_per_second),
            ("limits.play_burst", limits.play_burst),
            ("limits.submits_per_minute", limits.submits_per_minute),
            ("limits.failures_per_minute", limits.failures_per_minute),
            ("limits.uploads_per_hour", limits.uploads_per_hour),
            ("limits.keys_per_hour", limits.keys_per_hour),
        ];
        for (name, rate) in rates {
            if rate == 0 {
                add(name, "it is 0; it must be at least 1".to_owned());
            }
        }
        if let Err(why) = Genesis::configured(&self.claims) {
            add("claims", why.to_string());
        }
        let seconds = self.tournaments.admission_seconds;
        if !(1..=ADMISSION_SECONDS_MAX).contains(&seconds) {
            let rule = "what is told of a component is told within the 30 seconds of its request";
            let why = format!("it is {seconds}; it must be 1 to {ADMISSION_SECONDS_MAX}: {rule}");
            add("tournaments.admission_seconds", why);
        }
        if let Some(metrics) = self.metrics.filter(|address| !address.ip().is_loopback()) {
            add("metrics", format!("it is {metrics}; figures are served on a loopback address only"));
        }
        faults
    }
}
