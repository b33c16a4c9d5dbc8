//! Agents, who runs them, their keys and one-time logins.

pub(super) mod snapshot;

use arena_canon::Digest;
use arena_contests::Moment;
use arena_cow::CowMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Answer, Decision, Instance, Known, Request, Row};
use crate::auth::{KEY_BYTES, Key, KeyId, Scope, Scopes, Viewer};
use crate::instance::stamp;
use crate::problem::Problem;

/// The kind of the rows that the fold reads.
pub const FACT: &str = "agents.fact";

/// Keys of one agent that are good at once.
pub const KEYS_MAX: usize = 5;
/// Agents there may be.
pub const AGENTS_MAX: usize = 1_000_000;
const NAME_BYTES_MAX: usize = 64;
/// Names that mean something in accounts, logs or addresses.
const RESERVED: [&str; 10] =
    ["admin", "agents", "anonymous", "funders", "me", "operator", "pool", "runner", "system", "treasury"];
/// How long a login link is good.
const LOGIN_MS: i64 = 15 * 60_000;
/// Reputation that an agent starts with.
const REPUTATION_START: u64 = 0;

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Who runs it: agents of one operator do not judge each other.
    pub operator: String,
    /// Its reputation.
    pub reputation: u64,
    /// Whether it was made for somebody who came by to play.
    pub is_guest: bool,
    /// Since when.
    pub since: Moment,
}

/// What is kept of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Whose.
    pub agent: String,
    /// The digest of the whole key.
    pub sha256: Digest,
    /// What it may be used for.
    pub scopes: Scopes,
    /// Since when.
    pub since: Moment,
    /// Until when, if it ends.
    pub expires_at: Option<Moment>,
    /// Whether it was revoked.
    pub is_revoked: bool,
}

impl KeyRecord {
    /// Whether it opens anything at a time.
    pub fn is_good(&self, now: Moment) -> bool {
        !self.is_revoked && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A link that starts one session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Login {
    agent: Option<String>,
    scopes: Scopes,
    until: Moment,
}

/// All agents and keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    agents: CowMap<String, Agent>,
    keys: CowMap<KeyId, KeyRecord>,
    logins: CowMap<Digest, Login>,
}

/// What can be wanted of them.
#[derive(Debug, Clone)]
pub enum Command {
    /// Makes an agent known.
    Create {
        /// Its name.
        id: String,
        /// Who runs it.
        operator: String,
    },
    /// Changes what is thought of it.
    SetReputation {
        /// Whose.
        id: String,
        /// To what.
        reputation: u64,
    },
    /// Makes a key.
    IssueKey {
        /// For whom.
        agent: String,
        /// What it may be used for.
        scopes: Scopes,
        /// Until when, if it ends.
        expires_at: Option<Moment>,
    },
    /// Ends a key.
    RevokeKey {
        /// Which.
        key: String,
    },
    /// Makes a link that starts one session.
    IssueLogin {
        /// For whom; the admin if nobody is named.
        agent: Option<String>,
    },
    /// Uses such a link.
    UseLogin {
        /// Its token.
        token: String,
    },
    /// Makes an agent for somebody who came by.
    Guest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Event {
    Created { id: String, operator: String, guest: bool },
    ReputationSet { id: String, reputation: u64 },
    KeyIssued { key: String, agent: String, sha256: Digest, scopes: Vec<String>, expires_at_ms: Option<i64> },
    KeyRevoked { key: String },
    LoginIssued { sha256: Digest, agent: Option<String>, until_ms: i64 },
    LoginUsed { sha256: Digest },
}

impl Agents {
    /// The agent of this name.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        self.agents.get(id)
    }

    /// All agents by name.
    pub fn all(&self) -> &CowMap<String, Agent> {
        &self.agents
    }

    /// The keys of an agent.
    pub fn keys_of<'a>(&'a self, agent: &'a str) -> impl Iterator<Item = (&'a KeyId, &'a KeyRecord)> {
        self.keys.iter().filter(move |(_, key)| key.agent == agent)
    }

    /// Who somebody with this key is. An unknown id takes as long as a wrong secret.
    pub fn viewer(&self, key: &Key, now: Moment) -> Option<Viewer> {
        let nobody = Digest::of(b"no key has this digest");
        let record = self.keys.get(key.id());
        let is_it = key.is_of(record.map_or(&nobody, |record| &record.sha256));
        let record = record.filter(|record| is_it && record.is_good(now))?;
        self.viewer_of(&record.agent, record.scopes.clone())
    }

    /// Who an agent is in a session.
    pub fn viewer_of(&self, agent: &str, scopes: Scopes) -> Option<Viewer> {
        let known = self.agents.get(agent)?;
        Some(Viewer::Agent { id: agent.to_owned(), operator: known.operator.clone(), scopes })
    }
}

/// Whether a text can name an agent, a company or a round.
pub fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('-')
}

pub(super) fn decide(
    instance: &Instance,
    request: &Request,
    command: &Command,
    _known: &Known,
) -> Result<Decision, Problem> {
    let agents = &instance.agents;
    let (event, answer) = match command {
        Command::Create { id, operator } => create(agents, request, id, operator)?,
        Command::SetReputation { id, reputation } => {
            request.by.admin()?;
            known_agent(agents, id)?;
            let event = Event::ReputationSet { id: id.clone(), reputation: *reputation };
            (event, Answer::ok(json!({ "id": id, "reputation": reputation })))
        }
        Command::IssueKey { agent, scopes, expires_at } => {
            issue(agents, request, agent, scopes, *expires_at)?
        }
        Command::RevokeKey { key } => revoke(agents, request, key)?,
        Command::IssueLogin { agent } => login(agents, request, agent.as_deref())?,
        Command::UseLogin { token } => use_login(agents, request, token)?,
        Command::Guest => guest(agents, request)?,
    };
    let body = serde_json::to_value(&event).map_err(|_| Problem::internal())?;
    let mut rows = vec![Row::fact(request.at, "agents", FACT, body)];
    if let Event::Created { id, operator, guest: false } = &event {
        let body = json!({ "agent": id, "operator": operator });
        rows.push(Row::announcement(request.at, format!("agents/{id}"), "agent.registered", body));
    }
    Ok(Decision { rows, answer })
}

fn known_agent<'a>(agents: &'a Agents, id: &str) -> Result<&'a Agent, Problem> {
    agents.agent(id).ok_or_else(|| Problem::new("unknown_reference", "there is no agent of this name"))
}

fn create(agents: &Agents, request: &Request, id: &str, operator: &str) -> Result<(Event, Answer), Problem> {
    request.by.admin()?;
    let mut problem = Problem::new("form", "the body is not of its form");
    for (pointer, text) in [("/id", id), ("/operator", operator)] {
        if !is_name(text) {
            problem.push(pointer, "form", "1 to 64 of a-z 0-9 -, and no - at its start");
        }
    }
    if RESERVED.contains(&id) {
        problem.push("/id", "form", "this name means something else here; choose another");
    }
    if !problem.errors().is_empty() {
        return Err(problem);
    }
    if agents.agents.contains_key(id) {
        return Err(Problem::new("exists", format_args!("there is an agent `{id}`")));
    }
    if agents.agents.len() >= AGENTS_MAX {
        return Err(Problem::new("overloaded", format_args!("there are {AGENTS_MAX} agents, the limit")));
    }
    let event = Event::Created { id: id.to_owned(), operator: operator.to_owned(), guest: false };
    let body = json!({ "id": id, "operator": operator, "reputation": REPUTATION_START });
    Ok((event, Answer::created(format!("/api/v1/agents/{id}"), body)))
}

/// An admin makes keys for anybody; an agent for itself, with no more power than the key it uses.
fn issue(
    agents: &Agents,
    request: &Request,
    agent: &str,
    scopes: &Scopes,
    expires_at: Option<Moment>,
) -> Result<(Event, Answer), Problem> {
    match &request.by {
        by if by.is_admin() => {}
        Viewer::Agent { id, scopes: own, .. } if id == agent => {
            if let Some(more) = scopes.difference(own).next() {
                let detail = format_args!("your key lacks `{}`, so it cannot give it on", more.name());
                return Err(Problem::new("scope_missing", detail));
            }
        }
        Viewer::Agent { .. } => return Err(Problem::new("not_found", "there is no such agent of yours")),
        _ => return Err(Problem::new("unauthorized", "this needs a key")),
    }
    known_agent(agents, agent)?;
    if scopes.is_empty() {
        let mut problem = Problem::new("form", "a key without a scope opens nothing");
        problem.push("/scopes", "form", "name at least one of read, play, submit, judge, admin");
        return Err(problem);
    }
    if agents.keys_of(agent).filter(|(_, key)| key.is_good(request.at)).count() >= KEYS_MAX {
        return Err(Problem::new(
            "conflict",
            format_args!("the agent has {KEYS_MAX} keys; revoke one first"),
        ));
    }
    let mut random = [0; KEY_BYTES];
    random.copy_from_slice(&request.luck[..KEY_BYTES]);
    let key = Key::from_random(&random);
    if agents.keys.contains_key(key.id()) {
        return Err(Problem::new("conflict", "the id of the key is taken; ask again"));
    }
    let names: Vec<String> = scopes.iter().map(|scope| scope.name().to_owned()).collect();
    let id = key.id().as_str();
    let body = json!({
        "key_id": id, "agent": agent, "scopes": names, "expires_at": expires_at.map(stamp),
    });
    let mut answer = Answer::created(format!("/api/v1/keys/{id}"), body);
    answer.once = Some(json!({ "key": key.token() }));
    let event = Event::KeyIssued {
        key: id.to_owned(),
        agent: agent.to_owned(),
        sha256: key.sha256(),
        scopes: names,
        expires_at_ms: expires_at.map(Moment::unix_ms),
    };
    Ok((event, answer))
}

fn revoke(agents: &Agents, request: &Request, key: &str) -> Result<(Event, Answer), Problem> {
    let nothing = || Problem::new("not_found", "there is no such key of yours");
    let record = KeyId::parse(key).and_then(|id| agents.keys.get(&id)).ok_or_else(nothing)?;
    match &request.by {
        by if by.is_admin() => {}
        Viewer::Agent { id, .. } if *id == record.agent => {}
        Viewer::Anonymous => return Err(Problem::new("unauthorized", "this needs a key")),
        _ => return Err(nothing()),
    }
    if record.is_revoked {
        return Err(Problem::new("already_done", "the key is revoked"));
    }
    let answer = Answer::ok(json!({ "key_id": key, "revoked": true }));
    Ok((Event::KeyRevoked { key: key.to_owned() }, answer))
}

fn login(agents: &Agents, request: &Request, agent: Option<&str>) -> Result<(Event, Answer), Problem> {
    request.by.admin()?;
    if let Some(agent) = agent {
        known_agent(agents, agent)?;
    }
    let token: String = request.luck[..32].iter().map(|byte| format!("{byte:02x}")).collect();
    let until = request.at.plus_ms(LOGIN_MS);
    let mut answer = Answer::created("/login", json!({ "agent": agent, "until": stamp(until) }));
    answer.once = Some(json!({ "path": format!("/login?token={token}") }));
    let event = Event::LoginIssued {
        sha256: Digest::of(token.as_bytes()),
        agent: agent.map(str::to_owned),
        until_ms: until.unix_ms(),
    };
    Ok((event, answer))
}

fn use_login(agents: &Agents, request: &Request, token: &str) -> Result<(Event, Answer), Problem> {
    let sha256 = Digest::of(token.as_bytes());
    let login = agents.logins.get(&sha256).filter(|login| request.at < login.until);
    let login =
        login.ok_or_else(|| Problem::new("expired", "this link was used or is too old; ask for another"))?;
    let scopes: Vec<&str> = login.scopes.iter().map(|scope| scope.name()).collect();
    let answer = Answer::ok(json!({ "agent": login.agent, "scopes": scopes }));
    Ok((Event::LoginUsed { sha256 }, answer))
}

fn guest(agents: &Agents, request: &Request) -> Result<(Event, Answer), Problem> {
    if agents.agents.len() >= AGENTS_MAX {
        return Err(Problem::new("overloaded", format_args!("there are {AGENTS_MAX} agents, the limit")));
    }
    let id: String = request.luck[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("guest-{id}");
    if agents.agents.contains_key(&id) {
        return Err(Problem::new("conflict", "that name is taken; ask again"));
    }
    let answer = Answer::created(format!("/api/v1/agents/{id}"), json!({ "id": id }));
    Ok((Event::Created { operator: id.clone(), id, guest: true }, answer))
}

pub(super) fn evolve(instance: &mut Instance, row: &Row) -> Result<(), String> {
    let event: Event = serde::Deserialize::deserialize(&row.body).map_err(|why| why.to_string())?;
    let agents = &mut instance.agents;
    match event {
        Event::Created { id, operator, guest } => {
            let agent = Agent { operator, reputation: REPUTATION_START, is_guest: guest, since: row.at };
            agents.agents.insert(id, agent);
        }
        Event::ReputationSet { id, reputation } => {
            agents.agents.get_mut(&id).ok_or("no such agent")?.reputation = reputation;
        }
        Event::KeyIssued { key, agent, sha256, scopes, expires_at_ms } => {
            let scopes = scopes.iter().filter_map(|name| Scope::named(name)).collect();
            let expires_at = expires_at_ms.map(Moment::from_unix_ms);
            let record = KeyRecord { agent, sha256, scopes, since: row.at, expires_at, is_revoked: false };
            agents.keys.insert(KeyId::parse(&key).ok_or("no id of a key")?, record);
        }
        Event::KeyRevoked { key } => {
            let id = KeyId::parse(&key).ok_or("no id of a key")?;
            agents.keys.get_mut(&id).ok_or("no such key")?.is_revoked = true;
        }
        Event::LoginIssued { sha256, agent, until_ms } => {
            let scopes = match &agent {
                Some(_) => Scopes::from([Scope::Read, Scope::Play, Scope::Submit, Scope::Judge]),
                None => Scopes::from(Scope::ALL),
            };
            let until = Moment::from_unix_ms(until_ms);
            agents.logins.retain(|_, login| row.at < login.until);
            agents.logins.insert(sha256, Login { agent, scopes, until });
        }
        Event::LoginUsed { sha256 } => {
            agents.logins.remove(&sha256);
        }
    }
    Ok(())
}
