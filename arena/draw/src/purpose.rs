use std::fmt;
use std::str::FromStr;

/// What a draw is for. It is hashed into the seed, so that no draw serves as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Who runs a job.
    Runner,
    /// Who audits a run.
    Audit,
    /// Whether a run is audited.
    AuditCoin,
    /// Who sits on the panel.
    Panel,
    /// Who sits on the second panel.
    Panel2,
    /// Under which alias a strategy plays a tournament.
    Seating,
    /// Which claims are canaries.
    Canary,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Runner, Self::Audit, Self::AuditCoin, Self::Panel, Self::Panel2, Self::Seating, Self::Canary];

    /// The word that is hashed and written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runner => "runner",
            Self::Audit => "audit",
            Self::AuditCoin => "audit-coin",
            Self::Panel => "panel",
            Self::Panel2 => "panel2",
            Self::Seating => "seating",
            Self::Canary => "canary",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no purpose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a purpose is one of {}", Purpose::ALL.map(Purpose::name).join(", "))]
pub struct UnknownPurpose;

impl FromStr for Purpose {
    type Err = UnknownPurpose;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == text).ok_or(UnknownPurpose)
    }
}
