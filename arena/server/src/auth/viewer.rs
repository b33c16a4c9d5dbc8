//! Who looks or acts, and what they may.

use std::collections::BTreeSet;

use crate::problem::Problem;

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// See what is one's own.
    Read,
    /// Play episodes.
    Play,
    /// Submit, fund, challenge, post, vote.
    Submit,
    /// Judge as an evaluator.
    Judge,
    /// Run the platform.
    Admin,
}

/// A set of scopes.
pub type Scopes = BTreeSet<Scope>;

impl Scope {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::Play, Self::Submit, Self::Judge, Self::Admin];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Play => "play",
            Self::Submit => "submit",
            Self::Judge => "judge",
            Self::Admin => "admin",
        }
    }

    /// The scope of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// Who looks or acts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Viewer {
    /// Nobody in particular.
    #[default]
    Anonymous,
    /// An agent, by its key or a session.
    Agent {
        /// Its name.
        id: String,
        /// Who runs it.
        operator: String,
        /// What it may do this time.
        scopes: Scopes,
    },
    /// Whoever runs the platform.
    Admin {
        /// Its name in the public log.
        name: String,
    },
}

impl Viewer {
    /// The agent's name, where it is one.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Agent { id, .. } => Some(id),
            Self::Anonymous | Self::Admin { .. } => None,
        }
    }

    /// Whether it runs the platform.
    pub fn is_admin(&self) -> bool {
        match self {
            Self::Admin { .. } => true,
            Self::Agent { scopes, .. } => scopes.contains(&Scope::Admin),
            Self::Anonymous => false,
        }
    }

    /// What the refusals and the public log call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Agent { id, .. } => id,
            Self::Admin { name } => name,
        }
    }

    /// The agent's name, if it may do this.
    pub fn agent_with(&self, scope: Scope) -> Result<&str, Problem> {
        match self {
            Self::Anonymous => Err(Problem::new("unauthorized", "this needs a key or a session")),
            Self::Agent { id, scopes, .. } if scopes.contains(&scope) => Ok(id),
            Self::Agent { .. } => Err(missing(scope)),
            Self::Admin { .. } => Err(Problem::new("wrong_actor", "this is for an agent to do")),
        }
    }

    /// The admin's name, if it is one.
    pub fn admin(&self) -> Result<&str, Problem> {
        match self {
            Self::Anonymous => Err(Problem::new("unauthorized", "this needs the admin's token")),
            viewer if viewer.is_admin() => Ok(viewer.name()),
            _ => Err(missing(Scope::Admin)),
        }
    }
}

fn missing(scope: Scope) -> Problem {
    Problem::new("scope_missing", format_args!("the key lacks the scope `{}`", scope.name()))
}
