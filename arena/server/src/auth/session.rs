//! Sessions of browsers: a cookie that scripts cannot read, and a token that every form carries.
//!
//! Sessions live in memory: after a restart a person follows a new link. They hold no power of their own; what the
//! agent may do is looked up at each request.

use std::collections::BTreeMap;
use std::sync::Mutex;

use arena_canon::Digest;

use super::viewer::Scopes;

/// How long a session lives, in milliseconds.
const LIFE_MS: i64 = 12 * 3_600_000;
/// Sessions at once. The oldest goes first.
const SESSIONS_MAX: usize = 10_000;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Whose; `None` for the admin.
    pub agent: Option<String>,
    /// What may be done in it.
    pub scopes: Scopes,
    /// What its forms carry.
    pub csrf: String,
    started_ms: i64,
}

/// All of them, by the digest of their cookie.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<BTreeMap<Digest, Session>>);

impl Sessions {
    /// Starts one with 64 random bytes; gives the value of its cookie.
    pub fn start(&self, agent: Option<String>, scopes: Scopes, random: &[u8; 64], now_ms: i64) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (cookie, csrf) = (hex(&random[..32]), hex(&random[32..]));
        let session = Session { agent, scopes, csrf, started_ms: now_ms };
        let mut sessions = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions.retain(|_, session| session.is_alive(now_ms));
        if sessions.len() >= SESSIONS_MAX {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.started_ms).map(|(key, _)| *key);
            oldest.and_then(|key| sessions.remove(&key));
        }
        sessions.insert(Digest::of(cookie.as_bytes()), session);
        cookie
    }

    /// The session of a cookie.
    pub fn find(&self, cookie: &str, now_ms: i64) -> Option<Session> {
        let sessions = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions.get(&Digest::of(cookie.as_bytes())).filter(|session| session.is_alive(now_ms)).cloned()
    }

    /// Ends one.
    pub fn end(&self, cookie: &str) {
        let mut sessions = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions.remove(&Digest::of(cookie.as_bytes()));
    }
}

impl Session {
    fn is_alive(&self, now_ms: i64) -> bool {
        now_ms.saturating_sub(self.started_ms) < LIFE_MS
    }
}
