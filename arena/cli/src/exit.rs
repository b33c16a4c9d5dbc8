use serde::Serialize;

/// How a run of `arena` ended, as its exit code.
///
/// The numbers are part of the interface: scripts and other programs decide by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Exit {
    /// Done, and what was examined is in order.
    Success = 0,
    /// The machine or arena itself failed.
    Internal = 1,
    /// The command line or an input cannot be used.
    Usage = 2,
    /// A strategy lost the ability to act. Its log is written all the same.
    Forfeited = 3,
    /// A matchup could not finish: the host failed, again and again.
    Stalled = 10,
    /// A run broke its protocol or what it pins has changed, or something outside is missing.
    Blocked = 11,
    /// A budget ran out before the matrix was complete.
    Exhausted = 12,
    /// What was examined was refused.
    Rejected = 20,
}

impl Exit {
    /// All of them, by number.
    pub const ALL: [Self; 8] = [
        Self::Success,
        Self::Internal,
        Self::Usage,
        Self::Forfeited,
        Self::Stalled,
        Self::Blocked,
        Self::Exhausted,
        Self::Rejected,
    ];

    /// The number a shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Internal => "internal",
            Self::Usage => "usage",
            Self::Forfeited => "forfeited",
            Self::Stalled => "stalled",
            Self::Blocked => "blocked",
            Self::Exhausted => "exhausted",
            Self::Rejected => "rejected",
        }
    }

    /// What it says, for the table in the help.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done, and what was examined is in order",
            Self::Internal => "the machine or arena itself failed (a full disk, too little memory, a bug)",
            Self::Usage => "the command line or an input cannot be used (missing, malformed, in the way)",
            Self::Forfeited => "the strategy forfeited; its log is written and replays all the same",
            Self::Stalled => "a matchup could not finish: the host failed again and again; resume the run",
            Self::Blocked => {
                "a run broke its protocol, or what it pins has changed; or a toolchain is missing"
            }
            Self::Exhausted => "a budget ran out before the matrix was complete",
            Self::Rejected => {
                "what was examined was refused: a component, a log, a pack that is to be shipped"
            }
        }
    }

    /// The graver of two endings, for a command that goes on after the first.
    #[must_use]
    pub fn or_worse(self, other: Self) -> Self {
        if other.gravity() > self.gravity() { other } else { self }
    }

    fn gravity(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Forfeited => 1,
            Self::Rejected => 2,
            Self::Exhausted => 3,
            Self::Blocked => 4,
            Self::Stalled => 5,
            Self::Usage => 6,
            Self::Internal => 7,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
