//! Companies that take part: who acts for them, and how far they have come.

use std::collections::BTreeMap;

use arena_canon::Digest;

use super::refusal::Refusal;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::record::ArtifactClass;
use crate::words::words;

words! {
    /// A public surface that a company writes to.
    pub enum Rail {
        /// Custody of artifacts by their digest, and evidence that points to them.
        Locker = "locker",
        /// What a company says in public.
        Town = "town",
        /// Intent stubs, submissions, standings.
        Boards = "boards",
    }
}

/// Who does what in a company; shown to the public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Sets the objective and the posture.
    pub principal: String,
    /// Sequences outcomes and publication.
    pub engineering_coordinator: String,
    /// Does the work of a window.
    pub engineering_owner: String,
    /// Verifies it before it is public.
    pub quality_reviewer: String,
    /// Manages waits and history.
    pub stewardship: String,
}

/// A company that takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrant {
    /// The agent that acts for it.
    pub agent: String,
    /// Its team.
    pub team: Team,
    /// Texts that must never become public; known to the platform alone.
    pub(super) canaries: Vec<String>,
    /// Whether it acknowledged the rules.
    pub acknowledged: bool,
    /// When it entered the call with its hold.
    pub entered_at: Option<Moment>,
    /// What it wants to reach in this round.
    pub kickoff: Option<Kickoff>,
    /// For which agent each rail is approved.
    pub approvals: BTreeMap<Rail, String>,
    /// Whether it left, or had to.
    pub left: Option<Left>,
    pub(super) days: [Day; 3],
}

/// What a company declares before Window 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kickoff {
    /// The objective of the round.
    pub objective: String,
    /// The profile's reference.
    pub reference: String,
}

words! {
    /// How a company stopped taking part.
    pub enum Left {
        /// By itself.
        Withdrawn = "withdrawn",
        /// By an operator.
        Disqualified = "disqualified",
    }
}

/// What a company has done in one window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) intent: Option<IntentStub>,
    pub(super) submission: Option<super::package::Submission>,
    pub(super) judgements: Vec<super::judging::Judgement>,
}

/// What a company intends to do in a window. The last one before the cut-off counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentStub {
    /// Its reference.
    pub reference: String,
    /// What is to be reached.
    pub objective: String,
    /// The class that is planned.
    pub planned_class: ArtifactClass,
    /// What the company means to spend.
    pub declared_posture_exo: u64,
    /// Who does the work.
    pub owner: String,
    /// Who reviews it.
    pub reviewer: String,
    /// The digest of its text.
    pub body_sha256: Digest,
    /// How often it was written, from 1.
    pub revision: u32,
    /// When it was last written.
    pub at: Moment,
}

impl Entrant {
    /// The first step that is missing before the company is active.
    pub fn missing_step(&self) -> Option<&'static str> {
        if self.left.is_some() {
            Some("taking part")
        } else if !self.acknowledged {
            Some("the acknowledgement of the rules")
        } else if self.entered_at.is_none() {
            Some("the hold")
        } else if self.kickoff.is_none() {
            Some("the kickoff profile")
        } else {
            None
        }
    }

    /// The intent stub of a window.
    pub fn intent(&self, window: Window) -> Option<&IntentStub> {
        self.days[window.index()].intent.as_ref()
    }

    /// The submission of a window, with its revisions.
    pub fn submission(&self, window: Window) -> Option<&super::package::Submission> {
        self.days[window.index()].submission.as_ref()
    }

    /// The judgements of a window, oldest first.
    pub fn judgements(&self, window: Window) -> &[super::judging::Judgement] {
        &self.days[window.index()].judgements
    }
}

/// A name that can stand in a reference and an account.
pub(super) fn check_id(id: &str) -> Result<(), Refusal> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    if (1..=64).contains(&id.len()) && id.bytes().all(is_plain) {
        return Ok(());
    }
    Err(Refusal::BadId { id: id.chars().take(64).collect() })
}
