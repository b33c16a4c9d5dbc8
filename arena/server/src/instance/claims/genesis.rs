//! What an instance of claims is, from its beginning: which beacon, whose rounds, which parameters.

use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_claims::founding::{self, FoundingError, ROUNDS};
use arena_claims::life::{Instance, Party, World};
use arena_claims::params::Params;
use arena_draw::beacon::{HashChain, HashChainError, Source};
use arena_ledger::Asset;
use serde_json::json;

use crate::config::{ChainParty, Claims, ClaimsBeacon};
use crate::instance::agents::is_name;

/// What money is counted in.
const ASSET: &str = "units";
/// Who publishes the reference's records, as the records call it.
const OPERATOR: &str = "operator";
const NAME_BYTES_MAX: usize = 64;

/// Name, beacon, asset, operator and parameters: what everything that is signed and drawn depends on.
#[derive(Debug, Clone)]
pub struct Genesis(World);

/// Why no instance of claims can be founded on a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfounded {
    /// Its name.
    #[error(
        "the name `{0}` is not 1 to 64 of a-z, 0-9 and `-`, or its beginning does not suit the beacon: one with the \
         `test` beacon begins with `test-`, one on drand does not"
    )]
    Name(String),
    /// Parameters where there are none but the published ones.
    #[error("`params` are the published ones, unless the name begins with `test-`")]
    Published,
    /// Parameters that are none.
    #[error("`params`: {0}")]
    Params(String),
    /// Parameters that claims cannot be settled by.
    #[error("`params` miss {id}: {says}")]
    Violated {
        /// Which condition.
        id: &'static str,
        /// What it says.
        says: &'static str,
    },
    /// Parties of another beacon.
    #[error("`parties` are those of the beacon `hashchain`, and there are {0} of them for another one")]
    Strangers(usize),
    /// The chains are no beacon.
    #[error("`parties`: {0}")]
    Anchors(#[from] HashChainError),
    /// The parties cannot be.
    #[error("`parties`: {0}")]
    Parties(#[from] FoundingError),
    /// A party that can be no agent here.
    #[error("`parties`: `{0}` is no name of an agent, which is 1 to 64 of a-z, 0-9 and `-`")]
    NoAgent(String),
    /// No chain has so many rounds.
    #[error("`parties`: a chain has 1 to 1000000 rounds; that of `{agent}` has {rounds}")]
    Rounds {
        /// Whose.
        agent: String,
        /// As it was given.
        rounds: u64,
    },
    /// Money is not counted so.
    #[error("no asset is called `{ASSET}`")]
    Asset,
}

fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain) && !name.starts_with('-')
}

/// Whether the name is one of a trial, whose clocks need not be those of the published parameters.
fn is_trial(name: &str) -> bool {
    name.starts_with("test-")
}

/// Whether a text can name an instance with this beacon. What everybody can compute is for trials alone; what is on
/// drand is no trial; a hash chain may be either.
fn suits(name: &str, source: &Source) -> bool {
    is_plain(name)
        && match source {
            Source::Test => is_trial(name),
            Source::HashChain(_) => true,
            _ => !is_trial(name),
        }
}

impl Genesis {
    /// Of this name, by the published parameters. A test beacon is one that everybody can compute.
    pub fn new(name: &str, is_test: bool) -> Option<Self> {
        let source = if is_test { Source::Test } else { Source::DrandQuicknet };
        Self::of(name, source, Vec::new(), Params::published()).ok()
    }

    /// What a configuration states.
    pub fn configured(claims: &Claims) -> Result<Self, Unfounded> {
        let (source, parties) = match claims.beacon {
            ClaimsBeacon::HashChain => chain(&claims.parties)?,
            _ if !claims.parties.is_empty() => return Err(Unfounded::Strangers(claims.parties.len())),
            ClaimsBeacon::Drand => (Source::DrandQuicknet, Vec::new()),
            ClaimsBeacon::Test => (Source::Test, Vec::new()),
        };
        let params = parameters(claims)?;
        if let Some(missed) = params.violations().first() {
            return Err(Unfounded::Violated { id: missed.id, says: missed.says });
        }
        Self::of(&claims.name, source, parties, params)
    }

    fn of(name: &str, source: Source, parties: Vec<Party>, params: Params) -> Result<Self, Unfounded> {
        if !suits(name, &source) {
            return Err(Unfounded::Name(
                name.chars().take(80).collect::<String>().escape_debug().to_string(),
            ));
        }
        let asset = Asset::new(ASSET).map_err(|_| Unfounded::Asset)?;
        founding::check_once(&parties)?;
        founding::check_names(&parties, &asset, OPERATOR)?;
        founding::check_stakes(&parties, &params)?;
        let (name, operator, params) = (name.to_owned(), OPERATOR.to_owned(), Arc::new(params));
        Ok(Self(World::new(Instance { name, source, params, asset, operator, parties })))
    }

    /// The instance, empty.
    pub fn world(&self) -> &World {
        &self.0
    }

    /// Whether it is written down before anything happens: what its parties are is for good from the first start on.
    pub(crate) fn is_pinned(&self) -> bool {
        !self.0.instance.parties.is_empty()
    }

    /// What of a configuration is not as an instance with parties was founded; or that it has parties, and the instance
    /// has none.
    pub(crate) fn differs_from(&self, founded: &World) -> Option<String> {
        let (stated, founded) = (&self.0.instance, &founded.instance);
        if stated.parties.is_empty() && founded.parties.is_empty() {
            return None;
        }
        let differences = differences(stated, founded);
        (!differences.is_empty()).then(|| differences.join("; "))
    }

    /// The document of `instance.json` of `arena claim`.
    pub fn to_json(&self) -> Value {
        let of = &self.0.instance;
        json!({
            "v": "arena-instance/v1", "name": of.name, "beacon": founding::beacon_json(&of.source, &of.parties),
            "operator": of.operator, "asset": of.asset.as_str(), "params": of.params.to_json(),
        })
    }

    /// Reads it.
    pub fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let beacon = value.get("beacon")?;
        let source = founding::read_beacon(beacon).ok()?;
        let parties = founding::read_parties(beacon, &source).ok()?;
        // A chain without stakes needs a folder, and an operator's own key is in none that is served.
        let is_served = match source {
            Source::DrandQuicknet | Source::Test => true,
            Source::HashChain(_) => !parties.is_empty(),
            Source::EcvrfOperator(_) => false,
        };
        let is_ours = is_served && text("asset")? == ASSET && text("operator")? == OPERATOR;
        let params = Params::parse(&json::canonical(value.get("params")?)).ok()?;
        is_ours.then(|| Self::of(text("name")?, source, parties, params).ok()).flatten()
    }
}

/// The beacon of these parties.
fn chain(stated: &[ChainParty]) -> Result<(Source, Vec<Party>), Unfounded> {
    let chain = HashChain::new(stated.iter().map(|party| party.anchor).collect(), None)?;
    let party = |ChainParty { agent, rounds, stake, .. }: &ChainParty| {
        if !is_name(agent) {
            let agent = agent.chars().take(80).collect::<String>().escape_debug().to_string();
            return Err(Unfounded::NoAgent(agent));
        }
        if !ROUNDS.contains(rounds) {
            return Err(Unfounded::Rounds { agent: agent.clone(), rounds: *rounds });
        }
        Ok(Party { agent: agent.clone(), stake: *stake, rounds: Some(*rounds) })
    };
    let parties = stated.iter().map(party).collect::<Result<_, _>>()?;
    Ok((Source::HashChain(chain), parties))
}

/// The parameters: the published ones, with what differs.
fn parameters(claims: &Claims) -> Result<Params, Unfounded> {
    let published = match claims.beacon {
        ClaimsBeacon::HashChain => Params::published_with_parties(),
        _ => Params::published(),
    };
    if claims.params.is_empty() {
        return Ok(published);
    }
    if !is_trial(&claims.name) {
        return Err(Unfounded::Published);
    }
    let mut stated = claims.params.clone();
    if let Some(slash) = published.party_slash {
        stated.entry("party_slash").or_insert_with(|| json!(slash));
    }
    Params::overridden(&stated.into()).map_err(|why| Unfounded::Params(why.to_string()))
}

/// What is stated otherwise than it was founded, in words.
fn differences(stated: &Instance, founded: &Instance) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, stated: String, founded: String| {
        if stated != founded {
            found.push(format!("{what} was {founded} and is {stated} in the configuration"));
        }
    };
    differ("the name", format!("`{}`", stated.name), format!("`{}`", founded.name));
    let kind = |of: &Instance| of.source.kind().name().to_owned();
    differ("the beacon", kind(stated), kind(founded));
    let (now, then) = (told(stated), told(founded));
    for place in 0..now.len().max(then.len()) {
        let at = |of: &[String]| of.get(place).cloned().unwrap_or_else(|| "nobody".to_owned());
        differ(&format!("party {}", place.saturating_add(1)), at(&now), at(&then));
    }
    let digest = |of: &Instance| format!("of SHA-256 {}", of.params.digest());
    differ("the set of parameters", digest(stated), digest(founded));
    found
}

/// Each party of an instance in words.
fn told(of: &Instance) -> Vec<String> {
    let anchors = match &of.source {
        Source::HashChain(chain) => chain.anchors(),
        _ => &[],
    };
    let parties = of.parties.iter().zip(anchors);
    let told = parties.map(|(Party { agent, stake, rounds }, anchor)| {
        let rounds = rounds.map_or_else(|| "untold".to_owned(), |rounds| rounds.to_string());
        format!("`{agent}` (anchor {anchor}, rounds {rounds}, stake {stake})")
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;

    use super::*;

    fn party(agent: &str) -> ChainParty {
        let stake = "6000".parse().unwrap();
        ChainParty { agent: agent.to_owned(), anchor: Digest::of(agent.as_bytes()), rounds: 500, stake }
    }

    fn claims(beacon: ClaimsBeacon, name: &str, parties: &[&str]) -> Claims {
        let parties = parties.iter().map(|agent| party(agent)).collect();
        Claims { beacon, name: name.to_owned(), parties, ..Claims::default() }
    }

    fn founded(claims: &Claims) -> Genesis {
        Genesis::configured(claims).unwrap()
    }

    #[test]
    fn a_genesis_reads_as_it_was_written() {
        for claims in [
            claims(ClaimsBeacon::Drand, "arena", &[]),
            claims(ClaimsBeacon::Test, "test-lab", &[]),
            claims(ClaimsBeacon::HashChain, "lab", &["ops", "dan", "eve"]),
            claims(ClaimsBeacon::HashChain, "test-lab", &["ops", "dan"]),
        ] {
            let genesis = founded(&claims);
            let read = Genesis::read(&genesis.to_json()).unwrap();
            assert_eq!(read.to_json(), genesis.to_json());
            assert_eq!(read.world().params_sha256(), genesis.world().params_sha256());
            assert_eq!(read.world().instance.parties, genesis.world().instance.parties);
            assert_eq!(genesis.differs_from(read.world()), None);
        }
        let mut stakeless = founded(&claims(ClaimsBeacon::HashChain, "lab", &["ops", "dan"])).to_json();
        stakeless["beacon"].as_object_mut().unwrap().remove("parties");
        assert!(Genesis::read(&stakeless).is_none(), "nothing is served without stakes");
    }

    #[test]
    fn only_a_name_that_says_so_uses_the_test_beacon() {
        let is = |name: &str, source: &Source| suits(name, source);
        let chain = chain(&[party("a"), party("b")]).unwrap().0;
        assert!(is("test-a", &Source::Test) && is("arena", &Source::DrandQuicknet));
        assert!(!is("arena", &Source::Test) && !is("test-a", &Source::DrandQuicknet));
        assert!(is("arena", &chain) && is("test-a", &chain));
        assert!(!is("", &chain) && !is("A", &chain) && !is("-a", &chain) && !is(&"a".repeat(65), &chain));
    }

    #[test]
    fn what_cannot_be_founded_says_why() {
        let why = |change: &dyn Fn(&mut Claims)| {
            let mut claims = claims(ClaimsBeacon::HashChain, "test-lab", &["ops", "dan"]);
            change(&mut claims);
            Genesis::configured(&claims).map(|_| ()).unwrap_err().to_string()
        };
        type Change<'a> = &'a dyn Fn(&mut Claims);
        let cases: [(Change<'_>, &str); 12] = [
            (&|claims| claims.parties.truncate(1), "1 anchors; there are 2 to 8"),
            (&|claims| claims.parties = vec![party("a"); 9], "9 anchors; there are 2 to 8"),
            (&|claims| claims.parties[1].anchor = claims.parties[0].anchor, "anchor 1 stands twice"),
            (&|claims| claims.parties[1].agent = "ops".to_owned(), "`ops` stands twice"),
            (
                &|claims| claims.parties[1].agent = "operator".to_owned(),
                "`operator` is who runs the instance",
            ),
            (&|claims| claims.parties[1].agent = "Dan".to_owned(), "`Dan` is no name of an agent"),
            (&|claims| claims.parties[1].agent = "treasury".to_owned(), "`treasury` cannot be a name"),
            (&|claims| claims.parties[0].rounds = 0, "that of `ops` has 0"),
            (&|claims| claims.parties[0].rounds = 1_000_001, "that of `ops` has 1000001"),
            (&|claims| claims.parties[0].stake = "5999".parse().unwrap(), "the stake of `ops` is 5999"),
            (&|claims| claims.beacon = ClaimsBeacon::Test, "there are 2 of them for another one"),
            (
                &|claims| {
                    claims.name = "lab".to_owned();
                    claims.params.insert("clocks".to_owned(), json!({ "window_s": 60 }));
                },
                "the published ones, unless the name begins with `test-`",
            ),
        ];
        for (change, part) in cases {
            let said = why(change);
            assert!(said.contains(part), "{said} has no {part}");
        }
    }

    #[test]
    fn what_differs_from_the_founding_is_told_by_name() {
        let base = claims(ClaimsBeacon::HashChain, "test-lab", &["ops", "dan"]);
        let journal = founded(&base);
        let differs = |change: &dyn Fn(&mut Claims)| {
            let mut other = base.clone();
            change(&mut other);
            founded(&other).differs_from(journal.world())
        };
        assert_eq!(differs(&|_| {}), None);
        for (change, parts) in [
            (
                &(|claims: &mut Claims| claims.parties[1] = party("eve")) as &dyn Fn(&mut Claims),
                &["party 2", "`dan`", "`eve`"][..],
            ),
            (&|claims| claims.parties.swap(0, 1), &["party 1 was `ops`", "party 2 was `dan`"]),
            (&|claims| claims.parties[0].rounds = 501, &["party 1", "rounds 500", "rounds 501"]),
            (&|claims| claims.parties[0].stake = "7000".parse().unwrap(), &["stake 6000", "stake 7000"]),
            (&|claims| claims.parties.push(party("eve")), &["party 3 was nobody"]),
            (&|claims| claims.name = "lab".to_owned(), &["the name was `test-lab`"]),
            (
                &|claims| {
                    claims.params.insert("clocks".to_owned(), json!({ "window_s": 60 }));
                },
                &["the set of parameters"],
            ),
            (
                &|claims| *claims = Claims::default(),
                &[
                    "the name",
                    "the beacon was hashchain and is drand-quicknet",
                    "is nobody in the configuration",
                ],
            ),
        ] {
            let said = differs(change).unwrap();
            assert!(parts.iter().all(|part| said.contains(part)), "{said} has not {parts:?}");
        }
        // Without parties on either side, what is configured later is passed over.
        let (one, other) = (claims(ClaimsBeacon::Test, "test-a", &[]), claims(ClaimsBeacon::Drand, "b", &[]));
        assert_eq!(founded(&one).differs_from(founded(&other).world()), None);
        assert!(founded(&base).differs_from(founded(&other).world()).is_some());
    }
}
