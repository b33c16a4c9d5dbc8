use std::error::Error;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one turn of a competitor came to: bad play is data.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn<A> {
    /// It acted.
    Acted(A),
    /// It can no longer act: this turn and the rest are played with the empty action.
    Forfeited(Forfeit),
}

/// A broken host is an error: nothing of it reaches a record, and it costs no competitor anything.
#[derive(Debug, thiserror::Error)]
#[error("the host failed while {doing}: {source}")]
pub struct HostFault {
    /// What was being done, as a phrase that follows "while".
    pub doing: &'static str,
    /// Why it failed.
    pub source: Box<dyn Error + Send + Sync>,
}

/// Which budget ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FuelScope {
    /// Instantiation and the brief.
    Brief,
    /// The notices and the action of one turn.
    Turn,
    /// All turns together.
    Episode,
}

/// The instruction or rule that stopped a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrapKind {
    /// `unreachable`: in Rust, a panic.
    Unreachable,
    /// A load or store outside linear memory.
    MemoryOutOfBounds,
    /// A table access outside the table.
    TableOutOfBounds,
    /// An indirect call to an empty table element.
    IndirectCallToNull,
    /// An indirect call with another signature.
    BadSignature,
    /// An integer operation overflowed.
    IntegerOverflow,
    /// An integer was divided by zero.
    IntegerDivisionByZero,
    /// A float did not fit the integer it was converted to.
    BadConversionToInteger,
    /// The guest's own stack in linear memory ran out: recursion too deep.
    Stack,
    /// The native stack ran out: recursion too deep. Depends on the build.
    NativeStack,
    /// The guest ended itself through WASI.
    Exited,
    /// The guest broke a rule of the component model.
    ComponentRule,
    /// Fuel ran out after growth was refused.
    FuelSpent,
    /// Any other trap.
    Other,
}

/// A function on the guest's stack when it stopped, innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Its name, or `function[index]` where the guest has no name section.
    pub function: String,
    /// Where, `file:line`, if the guest was built with debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", default)]
    pub at: Option<String>,
}

/// How a competitor lost the ability to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "ending", content = "detail", rename_all = "snake_case")]
pub enum Forfeit {
    /// A fuel budget ran out.
    FuelSpent {
        /// Which one.
        scope: FuelScope,
        /// Its size.
        budget: u64,
    },
    /// Growth of memory or a table was refused, and the guest then trapped.
    MemoryCapped {
        /// The limit that bit, in bytes of memory or elements of tables.
        limit: u64,
        /// How it trapped.
        then: TrapKind,
        /// Its stack.
        frames: Vec<Frame>,
    },
    /// The guest trapped.
    Trapped {
        /// How.
        kind: TrapKind,
        /// Its stack.
        frames: Vec<Frame>,
    },
    /// What the guest handed over could not be read.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
    /// A call took more CPU time than the safety stop allows.
    Overtime {
        /// The safety stop, in seconds.
        limit_seconds: u32,
    },
    /// The guest could not be instantiated.
    StartFailed {
        /// Why.
        why: String,
    },
}

/// Who answers for an ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The competitor: its own code did it, everywhere the same.
    Competitor,
    /// Nobody: the same code may end otherwise under another build.
    Build,
}

impl Forfeit {
    /// The stable name of the ending, as records spell it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::FuelSpent { .. } => "fuel_spent",
            Self::MemoryCapped { .. } => "memory_capped",
            Self::Trapped { .. } => "trapped",
            Self::Unreadable { .. } => "unreadable",
            Self::Overtime { .. } => "overtime",
            Self::StartFailed { .. } => "start_failed",
        }
    }

    /// Whose fault it is, from the ending alone.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Overtime { .. } => Blame::Build,
            Self::Trapped { kind, .. } | Self::MemoryCapped { then: kind, .. } => match kind {
                TrapKind::NativeStack => Blame::Build,
                TrapKind::Unreachable
                | TrapKind::MemoryOutOfBounds
                | TrapKind::TableOutOfBounds
                | TrapKind::IndirectCallToNull
                | TrapKind::BadSignature
                | TrapKind::IntegerOverflow
                | TrapKind::IntegerDivisionByZero
                | TrapKind::BadConversionToInteger
                | TrapKind::Stack
                | TrapKind::Exited
                | TrapKind::ComponentRule
                | TrapKind::FuelSpent
                | TrapKind::Other => Blame::Competitor,
            },
            Self::FuelSpent { .. } | Self::Unreadable { .. } | Self::StartFailed { .. } => Blame::Competitor,
        }
    }
}

/// What the guest was doing when it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum During {
    /// Its instantiation: start functions and constructors.
    Start,
    /// The brief.
    Brief,
    /// A turn: its notices and its action.
    Turn,
}

/// A forfeit as a log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Forfeit")]
pub struct ForfeitRecord {
    /// First turn that was played with the empty action.
    pub turn: u32,
    /// What the guest was doing.
    pub during: During,
    /// How it ended.
    #[serde(flatten)]
    pub forfeit: Forfeit,
    /// Whether another build of the host may see another ending: the safety stop, the native stack,
    /// and whatever happens during instantiation.
    pub build_dependent: bool,
}

impl ForfeitRecord {
    /// The record of `forfeit`, with its dependence on the build worked out.
    pub fn new(turn: u32, during: During, forfeit: Forfeit) -> Self {
        let build_dependent = during == During::Start || forfeit.blame() == Blame::Build;
        Self { turn, during, forfeit, build_dependent }
    }
}

impl fmt::Display for Forfeit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FuelSpent { scope, budget } => {
                let scope = match scope {
                    FuelScope::Brief => "brief",
                    FuelScope::Turn => "turn",
                    FuelScope::Episode => "episode",
                };
                write!(f, "fuel spent: the {scope} budget is {budget}")
            }
            Self::MemoryCapped { limit, then, .. } => {
                write!(f, "memory capped: growth beyond {limit} was refused, then {}", then.words())
            }
            Self::Trapped { kind, .. } => write!(f, "trapped: {}", kind.words()),
            Self::Unreadable { why } => write!(f, "unreadable: {why}"),
            Self::Overtime { limit_seconds } => {
                write!(f, "overtime: one call took more than {limit_seconds} s of CPU time")
            }
            Self::StartFailed { why } => write!(f, "start failed: {why}"),
        }
    }
}

impl TrapKind {
    /// What an author should read.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable (the guest panicked or gave up)",
            Self::MemoryOutOfBounds => "memory access out of bounds",
            Self::TableOutOfBounds => "table access out of bounds",
            Self::IndirectCallToNull => "indirect call to an empty table element",
            Self::BadSignature => "indirect call with another signature",
            Self::IntegerOverflow => "integer overflow",
            Self::IntegerDivisionByZero => "integer division by zero",
            Self::BadConversionToInteger => "a float does not fit the integer",
            Self::Stack => "the guest's stack ran out (recursion too deep?)",
            Self::NativeStack => "the native stack ran out (recursion too deep?)",
            Self::Exited => "the guest exited",
            Self::ComponentRule => "a rule of the component model was broken",
            Self::FuelSpent => "fuel spent",
            Self::Other => "a trap without a name of its own",
        }
    }
}
