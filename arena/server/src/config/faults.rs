//! What is wrong with a configuration: all of it at once, each with its key.

use std::fmt;

use arena_canon::Digest;
use arena_ledger::Amount;

use super::{ChainParty, Config};

/// Faults that are told; a file can be wrong in every line.
const FAULTS_MAX: usize = 50;
/// Of a value that cannot be, so many characters are told.
const VALUE_CHARS_MAX: usize = 60;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where, as it is written: `limits.burst`.
    pub key: String,
    /// What.
    pub why: String,
}

/// Why a file is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is no TOML; with the line.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// Keys that are not known, and values that cannot be.
    #[error("{}", Lines(.0))]
    Faults(Vec<ConfigFault>),
}

/// One a line.
struct Lines<'a>(&'a [ConfigFault]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_one = self.0.len() == 1;
        if !is_one {
            write!(f, "{} faults", self.0.len())?;
        }
        for ConfigFault { key, why } in self.0.iter().take(FAULTS_MAX) {
            write!(f, "{}`{key}`: {why}", if is_one { "" } else { "\n  " })?;
        }
        Ok(())
    }
}

/// Reads a configuration. Everything has a value that holds without it, so each thing is read by itself, and one that
/// is wrong hides no other.
pub(super) fn read(text: &str) -> Result<Config, ConfigError> {
    let table: toml::Table = toml::from_str(text)?;
    let mut faults = Vec::new();
    let mut readable = toml::Table::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(section) if !section.is_empty() => {
                let mut whole = toml::Table::new();
                for (inner, value) in section {
                    let place = format!("{key}.{inner}");
                    let checked = check(&place, &value, &mut faults, |value| {
                        alone(&key, toml::Table::from_iter([(inner.clone(), value)]).into())
                    });
                    whole.extend(checked.then_some((inner, value)));
                }
                readable.extend((!whole.is_empty()).then_some((key, whole.into())));
            }
            value => {
                let checked = check(&key, &value, &mut faults, |value| alone(&key, value));
                readable.extend(checked.then_some((key, value)));
            }
        }
    }
    let config: Config = readable.try_into()?;
    let is_half_read = |place: &str| faults.iter().any(|fault| fault.key.starts_with(&format!("{place}.")));
    let of_values = config.faults().into_iter().filter(|fault| !is_half_read(&fault.key));
    let of_values: Vec<_> = of_values.collect();
    faults.extend(of_values);
    if faults.is_empty() { Ok(config) } else { Err(ConfigError::Faults(faults)) }
}

/// A configuration of one thing.
fn alone(key: &str, value: toml::Value) -> Result<Config, toml::de::Error> {
    toml::Table::from_iter([(key.to_owned(), value)]).try_into()
}

/// Whether `value` is one for `place`, as `read` reads it; of a list, each of its items is looked at.
fn check(
    place: &str,
    value: &toml::Value,
    faults: &mut Vec<ConfigFault>,
    read: impl Fn(toml::Value) -> Result<Config, toml::de::Error>,
) -> bool {
    let Err(why) = read(value.clone()) else { return true };
    let before = faults.len();
    if let toml::Value::Array(items) = value {
        for (at, item) in items.iter().enumerate() {
            check_item(&format!("{place}[{at}]"), item, faults, &read);
        }
    }
    if faults.len() == before {
        faults.push(ConfigFault { key: place.to_owned(), why: told(place, why.message(), value) });
    }
    // A section that is not known is wrong once, whatever is in it.
    if let Some((section, _)) = place.split_once('.')
        && why.message().contains(&format!("unknown field `{section}`"))
    {
        faults.truncate(before);
        let fault = ConfigFault { key: section.to_owned(), why: why.message().to_owned() };
        faults.extend((!faults.contains(&fault)).then_some(fault));
    }
    false
}

/// One item of a list. Members of a table are looked at beside others that hold.
fn check_item(
    place: &str,
    item: &toml::Value,
    faults: &mut Vec<ConfigFault>,
    read: &impl Fn(toml::Value) -> Result<Config, toml::de::Error>,
) {
    let is_one = |item: toml::Value| read(vec![item].into());
    let Some(members) = item.as_table().filter(|_| is_one(a_party().into()).is_ok()) else {
        if let Err(why) = is_one(item.clone()) {
            faults.push(ConfigFault { key: place.to_owned(), why: told(place, why.message(), item) });
        }
        return;
    };
    for (member, value) in members {
        let mut party = a_party();
        party.insert(member.clone(), value.clone());
        if let Err(why) = is_one(party.into()) {
            let key = format!("{place}.{member}");
            faults.push(ConfigFault { why: told(&key, why.message(), value), key });
        }
    }
    for member in a_party().keys().filter(|member| !members.contains_key(*member)) {
        faults.push(ConfigFault { key: format!("{place}.{member}"), why: "it is missing".to_owned() });
    }
}

/// A party of which every member can be read.
fn a_party() -> toml::Table {
    let party = ChainParty {
        agent: "agent".to_owned(),
        anchor: Digest::from_bytes([0; 32]),
        rounds: 1,
        stake: Amount::ZERO,
    };
    // Were it none, a party would be told as a whole, like any other item.
    toml::Table::try_from(party).unwrap_or_default()
}

/// What is wrong, what stands there, and how such a thing looks.
fn told(place: &str, why: &str, value: &toml::Value) -> String {
    let found = match value {
        _ if why.starts_with("unknown field") => String::new(),
        toml::Value::Table(_) | toml::Value::Array(_) => String::new(),
        value => format!("; it is {}", value.to_string().chars().take(VALUE_CHARS_MAX).collect::<String>()),
    };
    let looks = match place.split('[').next() {
        Some("listen" | "metrics") => ", and an address is such as \"127.0.0.1:8080\"",
        Some("trusted_proxies") => ", and an address is such as \"10.0.0.1\"",
        _ => "",
    };
    format!("{why}{found}{looks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        match Config::parse(text) {
            Err(ConfigError::Faults(faults)) => faults.into_iter().map(|fault| fault.key).collect(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn all_faults_are_told_at_once_each_with_its_key() {
        let text = "listen = \"here\"\nlog = 1\n[limits]\nburst = \"many\"\nbrust = 3\njson_bytes = -1\n\
                    [sundries]\na = 1\nb = 2\n[tournaments]\nat_once = []\n[claims]\nbeacon = \"moon\"\n";
        let mut found = keys(text);
        found.sort();
        let expected = [
            "claims.beacon",
            "limits.brust",
            "limits.burst",
            "limits.json_bytes",
            "listen",
            "log",
            "sundries",
            "tournaments.at_once",
        ];
        assert_eq!(found, expected);
        let told = Config::parse(text).unwrap_err().to_string();
        assert!(told.starts_with("8 faults\n") && told.lines().count() == 9, "{told}");
        assert!(told.contains("\n  `limits.brust`: unknown field `brust`, expected one of"), "{told}");
    }

    #[test]
    fn all_values_that_cannot_be_are_told_at_once() {
        let text = "metrics = \"0.0.0.0:9100\"\n[limits]\nburst = 0\nplay_burst = 0\n\
                    [tournaments]\nadmission_seconds = 26\n[claims]\nname = \"NO\"\n";
        let expected =
            ["limits.burst", "limits.play_burst", "claims", "tournaments.admission_seconds", "metrics"];
        assert_eq!(keys(text), expected);
    }

    #[test]
    fn items_of_a_list_are_told_each_by_its_place() {
        let text = "listen = \"nowhere\"\nmetrics = \"0.0.0.0:9100\"\ntrusted_proxies = [\"10.0.0.1\", \"foo\", 7]\n\
                    [claims]\nbeacon = \"hashchain\"\n\
                    [[claims.parties]]\nagent = \"a\"\nanchor = \"zz\"\nrounds = -1\nstake = \"-5\"\n\
                    [[claims.parties]]\nagent = 5\nanchors = \"\"\nrounds = 3\n";
        let mut found = keys(text);
        found.sort();
        let expected = [
            "claims.parties[0].anchor",
            "claims.parties[0].rounds",
            "claims.parties[0].stake",
            "claims.parties[1].agent",
            "claims.parties[1].anchor",
            "claims.parties[1].anchors",
            "claims.parties[1].stake",
            "listen",
            "metrics",
            "trusted_proxies[1]",
            "trusted_proxies[2]",
        ];
        assert_eq!(found, expected);
        let told = Config::parse(text).unwrap_err().to_string();
        assert!(told.contains("; it is \"nowhere\", and an address is such as \"127.0.0.1:8080\""), "{told}");
        assert!(told.contains("`claims.parties[1].stake`: it is missing"), "{told}");
        assert!(told.contains("`claims.parties[0].anchor`: a SHA-256 digest is"), "{told}");
    }

    #[test]
    fn one_fault_is_one_line_and_no_toml_has_its_line() {
        let told = Config::parse("[limits]\nburst = 0\n").unwrap_err().to_string();
        assert_eq!(told, "`limits.burst`: it is 0; it must be at least 1");
        let told = Config::parse("[limits]\nburst = = 1\n").unwrap_err().to_string();
        assert!(told.contains("line 2"), "{told}");
        assert!(Config::parse("listen = \"127.0.0.1:0\"\n[limits]\n[claims]\n").is_ok());
    }
}
