//! Agents, their keys and their logins in a snapshot.

use std::borrow::Cow;

use arena_canon::Digest;
use arena_contests::Moment;
use serde::{Deserialize, Serialize};

use super::{Agent, KeyRecord, Login};
use crate::auth::{KeyId, Scope, Scopes};

type Bytes = [u8; 32];

/// In the order of their names.
#[derive(Serialize, Deserialize)]
pub(in crate::instance) struct Agents<'a> {
    #[serde(borrow)]
    agents: Vec<(Cow<'a, str>, Who<'a>)>,
    #[serde(borrow)]
    keys: Vec<(Cow<'a, str>, Key<'a>)>,
    #[serde(borrow)]
    logins: Vec<(Bytes, Link<'a>)>,
}

#[derive(Serialize, Deserialize)]
struct Who<'a> {
    #[serde(borrow)]
    operator: Cow<'a, str>,
    reputation: u64,
    is_guest: bool,
    since_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct Link<'a> {
    #[serde(borrow)]
    agent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    scopes: Vec<Cow<'a, str>>,
    until_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct Key<'a> {
    #[serde(borrow)]
    agent: Cow<'a, str>,
    sha256: Bytes,
    #[serde(borrow)]
    scopes: Vec<Cow<'a, str>>,
    since_ms: i64,
    expires_at_ms: Option<i64>,
    is_revoked: bool,
}

fn names(scopes: &Scopes) -> Vec<Cow<'_, str>> {
    scopes.iter().map(|scope| Cow::Borrowed(scope.name())).collect()
}

fn scopes(names: &[Cow<'_, str>]) -> Option<Scopes> {
    names.iter().map(|name| Scope::named(name)).collect()
}

impl super::Agents {
    pub(in crate::instance) fn written(&self) -> Agents<'_> {
        let Self { agents, keys, logins } = self;
        let agents = agents.iter().map(|(id, Agent { operator, reputation, is_guest, since })| {
            let (reputation, is_guest, since_ms) = (*reputation, *is_guest, since.unix_ms());
            (id.into(), Who { operator: operator.into(), reputation, is_guest, since_ms })
        });
        let keys = keys.iter().map(|(id, key)| {
            let KeyRecord { agent, sha256, scopes, since, expires_at, is_revoked } = key;
            let key = Key {
                agent: agent.into(),
                sha256: *sha256.as_bytes(),
                scopes: names(scopes),
                since_ms: since.unix_ms(),
                expires_at_ms: expires_at.map(Moment::unix_ms),
                is_revoked: *is_revoked,
            };
            (id.as_str().into(), key)
        });
        let logins = logins.iter().map(|(sha256, Login { agent, scopes, until })| {
            let (agent, until_ms) = (agent.as_ref().map(Into::into), until.unix_ms());
            (*sha256.as_bytes(), Link { agent, scopes: names(scopes), until_ms })
        });
        Agents { agents: agents.collect(), keys: keys.collect(), logins: logins.collect() }
    }
}

impl Agents<'_> {
    pub(in crate::instance) fn read(self) -> Option<super::Agents> {
        let agents = self.agents.into_iter().map(|(id, who)| {
            let Who { operator, reputation, is_guest, since_ms } = who;
            let (operator, since) = (operator.into_owned(), Moment::from_unix_ms(since_ms));
            (id.into_owned(), Agent { operator, reputation, is_guest, since })
        });
        let keys = self.keys.into_iter().map(|(id, key)| {
            let record = KeyRecord {
                agent: key.agent.into_owned(),
                sha256: Digest::from_bytes(key.sha256),
                scopes: scopes(&key.scopes)?,
                since: Moment::from_unix_ms(key.since_ms),
                expires_at: key.expires_at_ms.map(Moment::from_unix_ms),
                is_revoked: key.is_revoked,
            };
            Some((KeyId::parse(&id)?, record))
        });
        let logins = self.logins.into_iter().map(|(sha256, link)| {
            let (agent, until) = (link.agent.map(Cow::into_owned), Moment::from_unix_ms(link.until_ms));
            Some((Digest::from_bytes(sha256), Login { agent, scopes: scopes(&link.scopes)?, until }))
        });
        let (keys, logins) = (keys.collect::<Option<_>>()?, logins.collect::<Option<_>>()?);
        Some(super::Agents { agents: agents.collect(), keys, logins })
    }
}
