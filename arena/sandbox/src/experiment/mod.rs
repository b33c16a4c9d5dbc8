//! Experiments: one instance for one run over pinned inputs. What the guest does wrong is an ending; only a
//! broken host is an error.

mod desk;
mod metric;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::campus::LogLine;
use arena_engine::{Blame, Excerpt, Forfeit, HostFault};

pub(crate) use desk::{Cursor, Desk};
pub use metric::{Measured, Metric};
pub(crate) use run::run;

/// Most fuel of a run.
pub const FUEL_MAX: u64 = 1_000_000_000_000;
/// Most linear memory of a run, in bytes.
pub const MEMORY_BYTES_MAX: u64 = 256 << 20;
/// Most inputs of a run.
pub const INPUTS_MAX: usize = 64;
/// Most bytes of one input.
pub const INPUT_BYTES_MAX: u64 = 64 << 20;
/// Most bytes of all outputs together.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Most outputs of a run.
pub const OUTPUTS_MAX: usize = 64;
/// Most metrics of a run.
pub const METRICS_MAX: usize = 256;

const NAME_BYTES_MAX: usize = 128;

/// What a run may use, by its claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExperimentLimits {
    /// Fuel of `run`. Spent: the run ends.
    pub fuel: u64,
    /// Linear memory, all memories together. Refused growth gives the guest -1.
    pub memory_bytes: u64,
    /// All outputs together. More ends the run.
    pub output_bytes: u64,
}

/// Limits above those of every experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {value}; the limit of experiments is {limit}")]
pub struct LimitsRefusal {
    what: &'static str,
    value: u64,
    limit: u64,
}

impl ExperimentLimits {
    /// Whether they are within the limits of every experiment; the first that is not is named.
    pub fn check(&self) -> Result<(), LimitsRefusal> {
        let all = [
            ("fuel", self.fuel, FUEL_MAX),
            ("bytes of memory", self.memory_bytes, MEMORY_BYTES_MAX),
            ("bytes of output", self.output_bytes, OUTPUT_BYTES_MAX),
        ];
        match all.into_iter().find(|(_, value, limit)| value > limit) {
            Some((what, value, limit)) => Err(LimitsRefusal { what, value, limit }),
            None => Ok(()),
        }
    }
}

/// Inputs that are what their claim pins: only [`Inputs::pin`] makes them.
#[derive(Debug, Clone, Default)]
pub struct Inputs(BTreeMap<String, Arc<[u8]>>);

/// Why inputs are not those that are pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputRefusal {
    /// Other bytes than those that are pinned.
    #[error("input `{}` has SHA-256 {found}; {pinned} is pinned", Excerpt::line(name))]
    Mismatch {
        /// Its name.
        name: String,
        /// The digest that the claim states.
        pinned: Digest,
        /// The digest of the bytes.
        found: Digest,
    },
    /// More bytes than an experiment may be given.
    #[error("input `{}` has {bytes} bytes; the limit is {INPUT_BYTES_MAX}", Excerpt::line(name))]
    TooLarge {
        /// Its name.
        name: String,
        /// How many it has.
        bytes: usize,
    },
    /// More inputs than an experiment may be given.
    #[error("{0} inputs; the limit is {INPUTS_MAX}")]
    TooMany(usize),
    /// A name that cannot stand beside the others.
    #[error("`{}` is no name for an input: two have it, or it is no file's name", Excerpt::line(.0))]
    Name(String),
}

impl Inputs {
    /// Checks every input against the digest that is pinned. Nothing runs on other bytes.
    pub fn pin(inputs: impl IntoIterator<Item = (String, Digest, Vec<u8>)>) -> Result<Self, InputRefusal> {
        let mut pinned = BTreeMap::new();
        for (name, sha256, bytes) in inputs {
            if bytes.len() as u64 > INPUT_BYTES_MAX {
                return Err(InputRefusal::TooLarge { name, bytes: bytes.len() });
            }
            let found = Digest::of(&bytes);
            if found != sha256 {
                return Err(InputRefusal::Mismatch { name, pinned: sha256, found });
            }
            if !is_file_name(&name) || pinned.contains_key(&name) {
                return Err(InputRefusal::Name(name));
            }
            pinned.insert(name, Arc::from(bytes));
        }
        match pinned.len() {
            count if count > INPUTS_MAX => Err(InputRefusal::TooMany(count)),
            _ => Ok(Self(pinned)),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn get(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.0.get(name)
    }
}

/// 1 to 128 bytes of letters, digits, `.`, `_` and `-`, not starting with a point.
fn is_file_name(name: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(fine)
}

/// What an experiment is run with.
#[derive(Debug, Clone)]
pub struct Task {
    /// Arguments by name.
    pub arguments: BTreeMap<String, String>,
    /// Its inputs.
    pub inputs: Inputs,
    /// What it may use.
    pub limits: ExperimentLimits,
    /// What its luck starts from, where it asks WASI for some.
    pub seed: Digest,
}

/// An output of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ExperimentEnding {
    /// It reported.
    Measured(Vec<Metric>),
    /// It said that it has nothing to report.
    Declined(String),
    /// It spent its fuel.
    FuelSpent {
        /// The limit.
        fuel: u64,
    },
    /// It reported more than it may.
    OverLimit {
        /// Of what.
        what: &'static str,
        /// How much there may be.
        limit: u64,
    },
    /// It reported a metric that is none.
    BadMetric {
        /// Its name, or as much of it as can be shown.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// It ended otherwise: a trap, refused memory, what cannot be read.
    Forfeited {
        /// How.
        forfeit: Forfeit,
        /// Whether another build may end otherwise.
        build_dependent: bool,
    },
}

impl ExperimentEnding {
    /// The stable name of the ending.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Measured(_) => "measured",
            Self::Declined(_) => "declined",
            Self::FuelSpent { .. } => "fuel_spent",
            Self::OverLimit { .. } => "over_limit",
            Self::BadMetric { .. } => "bad_metric",
            Self::Forfeited { forfeit, .. } => forfeit.code(),
        }
    }

    fn forfeited(forfeit: Forfeit, while_starting: bool) -> Self {
        match forfeit {
            Forfeit::FuelSpent { budget, .. } if !while_starting => Self::FuelSpent { fuel: budget },
            forfeit => {
                let build_dependent = while_starting || forfeit.blame() == Blame::Build;
                Self::Forfeited { forfeit, build_dependent }
            }
        }
    }
}

impl fmt::Display for ExperimentEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(metrics) => write!(f, "{} metrics", metrics.len()),
            Self::Declined(why) => write!(f, "declined: {}", Excerpt { text: why, max: 160 }),
            Self::FuelSpent { fuel } => write!(f, "fuel_spent: the limit is {fuel}"),
            Self::OverLimit { what, limit } => write!(f, "over_limit: {what}; the limit is {limit}"),
            Self::BadMetric { name, why } => write!(f, "bad_metric: `{}` {why}", Excerpt::line(name)),
            Self::Forfeited { forfeit, .. } => {
                let why = forfeit.to_string();
                write!(f, "{}: {}", forfeit.code(), Excerpt { text: &why, max: 160 })
            }
        }
    }
}

/// A run and everything it left.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// How it ended.
    pub ending: ExperimentEnding,
    /// Fuel used by `run`, instantiation not included.
    pub fuel: u64,
    /// High-water mark of its linear memory.
    pub memory_bytes: u64,
    /// SHA-256 over every line it logged, whether kept or not.
    pub log_sha256: Digest,
    /// The lines that were kept.
    pub log: Vec<LogLine>,
    /// Bytes of log text that were not.
    pub log_dropped_bytes: u64,
    /// What it wrote, by name.
    pub outputs: Vec<Output>,
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its claim asks for more than any experiment gets.
    #[error(transparent)]
    Limits(#[from] LimitsRefusal),
    /// Its claim's memory does not fit into a place of the pool.
    #[error("{bytes} bytes of memory need a host with seats on demand; a pooled one has {limit}")]
    NeedsOnDemand {
        /// What the claim asks for.
        bytes: u64,
        /// What a place of the pool has.
        limit: u64,
    },
    /// The host is broken.
    #[error(transparent)]
    Host(#[from] HostFault),
}

#[cfg(test)]
mod tests {
    use super::{ExperimentLimits, FUEL_MAX, InputRefusal, Inputs, MEMORY_BYTES_MAX, OUTPUT_BYTES_MAX};
    use arena_canon::Digest;

    #[test]
    fn limits_are_those_of_every_experiment_at_most() {
        let most = ExperimentLimits {
            fuel: FUEL_MAX,
            memory_bytes: MEMORY_BYTES_MAX,
            output_bytes: OUTPUT_BYTES_MAX,
        };
        assert_eq!(most.check(), Ok(()));
        for beyond in [
            ExperimentLimits { fuel: FUEL_MAX + 1, ..most },
            ExperimentLimits { memory_bytes: MEMORY_BYTES_MAX + 1, ..most },
            ExperimentLimits { output_bytes: OUTPUT_BYTES_MAX + 1, ..most },
        ] {
            assert!(beyond.check().is_err(), "{beyond:?}");
        }
    }

    #[test]
    fn only_the_pinned_bytes_are_inputs() {
        let pinned = |name: &str, bytes: &[u8]| (name.to_owned(), Digest::of(b"price"), bytes.to_vec());
        assert!(Inputs::pin([pinned("a.csv", b"price")]).is_ok());
        let found = Digest::of(b"prices");
        let wanted = InputRefusal::Mismatch { name: "a.csv".into(), pinned: Digest::of(b"price"), found };
        assert_eq!(Inputs::pin([pinned("a.csv", b"prices")]).expect_err("other bytes"), wanted);
        for names in [["a", "a"], ["a", ".."], ["a", "b/c"], ["a", ""]] {
            let refused = Inputs::pin(names.map(|name| pinned(name, b"price"))).expect_err("a bad name");
            assert_eq!(refused, InputRefusal::Name(names[1].into()));
        }
        let many = (0..65).map(|n| pinned(&format!("f{n}"), b"price"));
        assert_eq!(Inputs::pin(many).expect_err("too many"), InputRefusal::TooMany(65));
    }
}
