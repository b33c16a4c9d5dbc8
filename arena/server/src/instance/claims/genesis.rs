//! What an instance of claims is, from its beginning.

use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_claims::life::{Instance, World};
use arena_claims::params::Params;
use arena_draw::beacon::{Kind, Source};
use arena_ledger::Asset;
use serde_json::json;

/// What money is counted in.
const ASSET: &str = "units";
/// Who publishes the reference's records, as the records call it.
const OPERATOR: &str = "operator";
const NAME_BYTES_MAX: usize = 64;

/// Name, beacon, asset, operator and parameters: what everything that is signed and drawn depends on.
#[derive(Debug, Clone)]
pub struct Genesis(World);

/// Whether a text can name an instance that uses this beacon.
pub fn is_instance_name(name: &str, is_test: bool) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with('-')
        && name.starts_with("test-") == is_test
}

impl Genesis {
    /// Of this name, by the published parameters. A test beacon is one that everybody can compute.
    pub fn new(name: &str, is_test: bool) -> Option<Self> {
        Self::by(name, is_test, Params::published())
    }

    /// The same, by other parameters.
    pub fn by(name: &str, is_test: bool, params: Params) -> Option<Self> {
        let source = if is_test { Source::Test } else { Source::DrandQuicknet };
        Self::of(name, source, ASSET, OPERATOR, params)
    }

    fn of(name: &str, source: Source, asset: &str, operator: &str, params: Params) -> Option<Self> {
        if !is_instance_name(name, source == Source::Test) {
            return None;
        }
        let asset = Asset::new(asset).ok()?;
        let (name, operator, params) = (name.to_owned(), operator.to_owned(), Arc::new(params));
        Some(Self(World::new(Instance { name, source, params, asset, operator, parties: Vec::new() })))
    }

    /// The instance, empty.
    pub fn world(&self) -> &World {
        &self.0
    }

    /// The document of `instance.json` of `arena claim`.
    pub fn to_json(&self) -> Value {
        let of = &self.0.instance;
        json!({
            "v": "arena-instance/v1", "name": of.name, "beacon": of.source.kind().name(), "operator": of.operator,
            "asset": of.asset.as_str(), "params": of.params.to_json(),
        })
    }

    /// Reads it.
    pub fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let source = match text("beacon")?.parse().ok()? {
            Kind::DrandQuicknet => Source::DrandQuicknet,
            Kind::Test => Source::Test,
            _ => return None,
        };
        let params = Params::parse(&json::canonical(value.get("params")?)).ok()?;
        Self::of(text("name")?, source, text("asset")?, text("operator")?, params)
    }
}

#[cfg(test)]
mod tests {
    use super::{Genesis, is_instance_name};

    #[test]
    fn a_genesis_reads_as_it_was_written() {
        for (name, is_test) in [("arena", false), ("test-lab", true)] {
            let genesis = Genesis::new(name, is_test).unwrap();
            let read = Genesis::read(&genesis.to_json()).unwrap();
            assert_eq!(read.to_json(), genesis.to_json());
            assert_eq!(read.world().params_sha256(), genesis.world().params_sha256());
        }
    }

    #[test]
    fn only_a_name_that_says_so_uses_the_test_beacon() {
        assert!(is_instance_name("test-a", true) && is_instance_name("arena", false));
        assert!(!is_instance_name("arena", true) && !is_instance_name("test-a", false));
        assert!(!is_instance_name("", false) && !is_instance_name("A", false));
    }
}
