//! What somebody wants of a round, and who they are.

use arena_canon::Digest;
use arena_ledger::Amount;

use super::entrant::{Rail, Team};
use super::judging::{Ruling, Verdict};
use super::package::Package;
use super::rails::PostKind;
use crate::leak::Finding;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::clock::Action;
use crate::sprint::record::{ArtifactClass, Penalty};
use crate::text::Text;
use crate::words::words;

use std::collections::BTreeSet;

/// Who acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent, for its company.
    Company {
        /// The company.
        company: String,
        /// The agent that writes.
        agent: String,
    },
    /// Somebody who judges.
    Evaluator(String),
    /// Somebody who runs the platform.
    Operator(String),
    /// The platform itself, when it is time.
    System,
}

/// A command with its time and its actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamped {
    /// The receipt of the request, taken once and before its body was read.
    pub at: Moment,
    /// Who it is.
    pub by: Actor,
    /// What is wanted.
    pub command: Command,
}

words! {
    /// Of what kind an intervention was.
    pub enum ReceiptKind {
        /// An operator helped; it counts for the company's eligibility.
        Operator = "operator",
        /// An evaluator or an admin decided something; it does not count.
        Evaluator = "evaluator",
    }
}

/// What must be hidden again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A post, by its name.
    Post(String),
    /// An artifact.
    Artifact(Digest),
    /// A text that lies elsewhere, by its digest.
    Text(Digest),
}

/// What is planned for a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// What is to be reached.
    pub objective: String,
    /// The class that is planned.
    pub planned_class: ArtifactClass,
    /// What the company means to spend.
    pub declared_posture_exo: u64,
    /// Who does the work.
    pub owner: String,
    /// Who reviews it; somebody else.
    pub reviewer: String,
}

/// What somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Makes the round public, with its money put aside.
    Announce,
    /// Ends it before its end.
    Cancel {
        /// Why.
        reason: String,
    },
    /// Registers a company.
    Register {
        /// Its team.
        team: Team,
        /// Texts that must never become public.
        canaries: Vec<String>,
    },
    /// Acknowledges the rules.
    AcknowledgeRules {
        /// The digest of what was read.
        rules_sha256: Digest,
    },
    /// Enters the call.
    EnterCall {
        /// The hold.
        hold_cap: Amount,
    },
    /// Approves writes to a rail.
    Approve {
        /// For whom.
        company: String,
        /// Which rail.
        rail: Rail,
        /// The agent the approval is for.
        agent: String,
    },
    /// Publishes the kickoff profile.
    PublishKickoff {
        /// The objective of the round.
        objective: String,
        /// Who the company is.
        profile: String,
    },
    /// Writes the intent stub of a window, or replaces it.
    PutIntent {
        /// The window.
        window: Window,
        /// What is planned.
        intent: Intent,
    },
    /// Stores an artifact.
    StoreArtifact {
        /// Its bytes.
        bytes: Vec<u8>,
        /// What it is.
        media_type: String,
        /// Whether anybody may read it.
        public_read: bool,
    },
    /// Keeps an artifact whose bytes lie elsewhere, with what was found when they were looked at.
    KeepArtifact {
        /// The digest of its bytes.
        artifact: Digest,
        /// Their number.
        size_bytes: u64,
        /// What it is.
        media_type: String,
        /// Whether anybody may read it.
        public_read: bool,
        /// What [`Round::look_at`](super::Round::look_at) found in them.
        findings: Vec<Finding>,
    },
    /// Lets anybody read an artifact.
    GrantPublicRead {
        /// Which.
        artifact: Digest,
    },
    /// Points to what speaks for an artifact.
    PutEvidence {
        /// Which.
        artifact: Digest,
        /// What kind of evidence.
        kind: String,
        /// What it shows.
        description: Text,
    },
    /// Posts for the public.
    Post {
        /// What it is.
        kind: PostKind,
        /// The window it is about.
        window: Option<Window>,
        /// Its text.
        body: Text,
        /// What it refers to.
        refs: Vec<String>,
        /// The post it corrects.
        corrects: Option<String>,
    },
    /// Submits the evidence package of a window.
    Submit(Package),
    /// Replaces it before the cut-off.
    Revise(Package),
    /// Judges a submission.
    Judge {
        /// Whose.
        company: String,
        /// Of which window.
        window: Window,
        /// What it is worth.
        verdict: Verdict,
    },
    /// Disputes a submission.
    FileDispute {
        /// Whose.
        company: String,
        /// Of which window.
        window: Window,
        /// Why.
        ground: Text,
    },
    /// Adds to one's dispute; the only evidence after the cut-off, and marked as such.
    AmendDispute {
        /// Which.
        dispute: String,
        /// What is added.
        text: Text,
    },
    /// Rules on a dispute.
    RuleDispute {
        /// Which.
        dispute: String,
        /// How.
        ruling: Ruling,
        /// Why.
        rationale: String,
    },
    /// Reverses an accepted window.
    Invalidate {
        /// Whose.
        company: String,
        /// Which.
        window: Window,
        /// What is subtracted besides the reversal.
        penalties: BTreeSet<Penalty>,
        /// Why.
        rationale: String,
    },
    /// Makes an intervention public.
    RecordIntervention {
        /// In whose work.
        company: String,
        /// In which window.
        window: Window,
        /// What was done.
        text: Text,
    },
    /// Hides what must not have become public, and keeps its digest.
    Hide {
        /// What.
        target: Target,
        /// Why.
        reason: String,
    },
    /// Stops taking part.
    Withdraw,
    /// Ends a company's part.
    Disqualify {
        /// Whose.
        company: String,
        /// Why.
        reason: String,
    },
    /// Records the standings after a window.
    TakeSnapshot {
        /// Which.
        after: Window,
    },
    /// Ends the round: stakes, awards, holds.
    Settle,
    /// Decides on an award that waits.
    DecideAward {
        /// Which.
        award: String,
        /// Whether it is paid.
        pay: bool,
        /// Why.
        reason: String,
    },
    /// Gives locked stakes back.
    ReleaseLocked,
}

impl Command {
    /// Its texts that a journal keeps elsewhere.
    pub fn texts(&self) -> Vec<&Text> {
        match self {
            Self::Post { body: text, .. }
            | Self::PutEvidence { description: text, .. }
            | Self::FileDispute { ground: text, .. }
            | Self::AmendDispute { text, .. }
            | Self::RecordIntervention { text, .. } => vec![text],
            _ => Vec::new(),
        }
    }

    /// The same to be changed, each with the name of its member.
    pub(super) fn texts_mut(&mut self) -> Vec<(&'static str, &mut Text)> {
        match self {
            Self::Post { body, .. } => vec![("body", body)],
            Self::PutEvidence { description, .. } => vec![("description", description)],
            Self::FileDispute { ground, .. } => vec![("ground", ground)],
            Self::AmendDispute { text, .. } | Self::RecordIntervention { text, .. } => vec![("text", text)],
            _ => Vec::new(),
        }
    }

    /// The clock's name of it, and the window it names, where the clock has a say.
    pub(super) fn action(&self) -> Option<(Action, Option<Window>)> {
        Some(match self {
            Self::Register { .. } => (Action::Register, None),
            Self::AcknowledgeRules { .. } => (Action::AckRules, None),
            Self::EnterCall { .. } => (Action::EnterCall, None),
            Self::PublishKickoff { .. } => (Action::PublishKickoff, None),
            Self::PutIntent { window, .. } => (Action::PutIntent, Some(*window)),
            Self::StoreArtifact { .. }
            | Self::KeepArtifact { .. }
            | Self::GrantPublicRead { .. }
            | Self::PutEvidence { .. } => (Action::PutLocker, None),
            Self::Post { kind: PostKind::Recap, .. } => (Action::Recap, None),
            Self::Post { kind: PostKind::Postmortem, .. } => (Action::Postmortem, None),
            Self::Post { window, .. } => (Action::PostTown, *window),
            Self::Submit(package) => (Action::Submit, Some(package.window)),
            Self::Revise(package) => (Action::ReviseSubmission, Some(package.window)),
            Self::FileDispute { window, .. } => (Action::FileDispute, Some(*window)),
            _ => return None,
        })
    }
}
