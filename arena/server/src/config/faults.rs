//! What is wrong with a configuration: all of it at once, each with its key.

use std::fmt;

use super::Config;

/// Faults that are told; a file can be wrong in every line.
const FAULTS_MAX: usize = 50;

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

/// Reads a configuration.
pub(super) fn read(text: &str) -> Result<Config, ConfigError> {
    let table: toml::Table = toml::from_str(text)?;
    let mut faults = Vec::new();
    for (key, value) in &table {
        match value {
            toml::Value::Table(section) if !section.is_empty() => {
                for (inner, value) in section {
                    let alone = toml::Table::from_iter([(inner.clone(), value.clone())]);
                    check_alone(key, &format!("{key}.{inner}"), alone.into(), &mut faults);
                }
            }
            value => check_alone(key, key, value.clone(), &mut faults),
        }
    }
    if !faults.is_empty() {
        return Err(ConfigError::Faults(faults));
    }
    let config: Config = toml::from_str(text)?;
    match config.faults() {
        none if none.is_empty() => Ok(config),
        faults => Err(ConfigError::Faults(faults)),
    }
}

/// Everything has a value that holds without it, so each can be read by itself, and one that is wrong hides no other.
fn check_alone(key: &str, place: &str, value: toml::Value, faults: &mut Vec<ConfigFault>) {
    let alone = toml::Table::from_iter([(key.to_owned(), value)]);
    if let Err(why) = alone.try_into::<Config>() {
        let fault = ConfigFault { key: place.to_owned(), why: why.message().to_owned() };
        // A section that is not known is wrong once, whatever is in it.
        if place.split_once('.').is_some() && why.message().contains(&format!("unknown field `{key}`")) {
            let fault = ConfigFault { key: key.to_owned(), ..fault };
            if !faults.contains(&fault) {
                faults.push(fault);
            }
            return;
        }
        faults.push(fault);
    }
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
    fn one_fault_is_one_line_and_no_toml_has_its_line() {
        let told = Config::parse("[limits]\nburst = 0\n").unwrap_err().to_string();
        assert_eq!(told, "`limits.burst`: it is 0; it must be at least 1");
        let told = Config::parse("[limits]\nburst = = 1\n").unwrap_err().to_string();
        assert!(told.contains("line 2"), "{told}");
        assert!(Config::parse("listen = \"127.0.0.1:0\"\n[limits]\n[claims]\n").is_ok());
    }
}
