//! Every bound that an operator sets, in words: the one place that pages tell them from.

use super::{Config, Limits, Tournaments};

/// A bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Its name in the configuration, such as `limits.burst`.
    pub(crate) name: &'static str,
    /// What is bounded.
    pub(crate) what: &'static str,
    /// How much it may be, with its unit.
    pub(crate) at_most: String,
}

fn bound(name: &'static str, what: &'static str, at_most: impl Into<String>) -> Bound {
    Bound { name, what, at_most: at_most.into() }
}

fn bytes(count: usize) -> String {
    match count {
        count if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count if count >= 1 << 10 && count.is_multiple_of(1 << 10) => format!("{} KiB", count >> 10),
        count => format!("{count} bytes"),
    }
}

fn per(count: u32, unit: &str) -> String {
    format!("{count} {unit}")
}

impl Config {
    /// All of them, in the order of the file.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let mut bounds = self.limits.bounds();
        bounds.extend(self.tournaments.bounds());
        bounds
    }
}

impl Limits {
    // Taken apart by name: a limit that is added has to be told here before anything compiles.
    fn bounds(&self) -> Vec<Bound> {
        let Self {
            requests_per_minute,
            burst,
            anonymous_per_second,
            play_per_second,
            play_burst,
            submits_per_minute,
            failures_per_minute,
            uploads_per_hour,
            keys_per_hour,
            streams_per_key,
            streams_per_address,
            streams_max,
            connections_max,
            json_bytes,
            component_bytes,
            blob_bytes,
            replay_bytes,
        } = self;
        vec![
            bound(
                "limits.requests_per_minute",
                "Requests with a key; three times as many of all keys and sessions of an agent together",
                per(*requests_per_minute, "a minute"),
            ),
            bound("limits.burst", "Requests with a key at once, on top of that", burst.to_string()),
            bound(
                "limits.anonymous_per_second",
                "Reads without a key",
                per(*anonymous_per_second, "a second, for each address"),
            ),
            bound("limits.play_per_second", "Actions of players", per(*play_per_second, "a second")),
            bound("limits.play_burst", "Actions of players at once, on top of that", play_burst.to_string()),
            bound("limits.submits_per_minute", "Submissions", per(*submits_per_minute, "a minute")),
            bound(
                "limits.failures_per_minute",
                "Wrong keys, tokens and links",
                per(*failures_per_minute, "a minute, for each address"),
            ),
            bound(
                "limits.uploads_per_hour",
                "Uploads of components",
                per(*uploads_per_hour, "an hour, for each agent"),
            ),
            bound(
                "limits.keys_per_hour",
                "Keys that an agent makes for itself",
                per(*keys_per_hour, "an hour"),
            ),
            bound("limits.streams_per_key", "Open streams of a key", streams_per_key.to_string()),
            bound(
                "limits.streams_per_address",
                "Open streams of an address",
                streams_per_address.to_string(),
            ),
            bound("limits.streams_max", "Open streams in all", streams_max.to_string()),
            bound("limits.connections_max", "Connections in all", connections_max.to_string()),
            bound("limits.json_bytes", "A JSON body", bytes(*json_bytes)),
            bound("limits.component_bytes", "A component", bytes(*component_bytes)),
            bound("limits.blob_bytes", "A blob of the Locker", bytes(*blob_bytes)),
            bound("limits.replay_bytes", "A replay or a frozen matrix", bytes(*replay_bytes)),
        ]
    }
}

impl Tournaments {
    fn bounds(&self) -> Vec<Bound> {
        let Self {
            strategies_per_agent,
            admissions_at_once,
            admissions_queued,
            admission_seconds,
            open_per_agent,
            drafts_per_day,
            queued_max,
            at_once,
            workers,
            strategies_max,
            matchups_max,
            turns_max,
            wall_seconds_max,
        } = self;
        let seconds = |count: &u64| format!("{count} s");
        vec![
            bound(
                "tournaments.strategies_per_agent",
                "Strategies of an agent",
                strategies_per_agent.to_string(),
            ),
            bound(
                "tournaments.admissions_at_once",
                "Components that are compiled and probed at once",
                admissions_at_once.to_string(),
            ),
            bound(
                "tournaments.admissions_queued",
                "Uploads that wait for that; the next one is asked to come again",
                admissions_queued.to_string(),
            ),
            bound(
                "tournaments.admission_seconds",
                "Compiling and probing a component",
                seconds(admission_seconds),
            ),
            bound(
                "tournaments.open_per_agent",
                "Tournaments of an agent that are not over",
                open_per_agent.to_string(),
            ),
            bound(
                "tournaments.drafts_per_day",
                "Tournaments that an agent drafts",
                format!("{drafts_per_day} in 24 hours"),
            ),
            bound(
                "tournaments.queued_max",
                "Tournaments that are played or wait to be",
                queued_max.to_string(),
            ),
            bound("tournaments.at_once", "Tournaments that are played at once", at_once.to_string()),
            bound("tournaments.workers", "Processes that play one tournament", workers.to_string()),
            bound("tournaments.strategies_max", "Strategies of a tournament", strategies_max.to_string()),
            bound("tournaments.matchups_max", "Matchups of a tournament", matchups_max.to_string()),
            bound("tournaments.turns_max", "Turns of all its matchups", turns_max.to_string()),
            bound(
                "tournaments.wall_seconds_max",
                "Time that a tournament may take; it ends as exhausted then",
                seconds(wall_seconds_max),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// Names of everything in a configuration that is a number.
    fn numbers(value: &Value, name: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Number(_) => {
                found.insert(name.to_owned());
            }
            Value::Object(members) => {
                for (member, inner) in members {
                    let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                    numbers(inner, &name, found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_number_of_a_configuration_is_told_once() {
        let config = Config::default();
        let mut found = BTreeSet::new();
        numbers(&serde_json::to_value(&config).unwrap(), "", &mut found);
        let told: Vec<String> = config.bounds().iter().map(|bound| bound.name.to_owned()).collect();
        assert_eq!(told.iter().cloned().collect::<BTreeSet<_>>(), found);
        assert_eq!(told.len(), found.len(), "one is told twice");
    }

    #[test]
    fn what_is_told_is_what_is_set() {
        // Each bound is a number of its own, so that none can stand for another.
        let mut value = serde_json::to_value(Config::default()).unwrap();
        let mut next = 1_001;
        for section in ["limits", "tournaments"] {
            for number in value[section].as_object_mut().unwrap().values_mut() {
                *number = next.into();
                next += 1;
            }
        }
        let config: Config = serde_json::from_value(value.clone()).unwrap();
        for Bound { name, at_most, .. } in config.bounds() {
            let set = &value[name.split('.').next().unwrap()][name.split('.').nth(1).unwrap()];
            assert_eq!(at_most.split(' ').next(), Some(set.to_string().as_str()), "{name}");
        }
    }
}
