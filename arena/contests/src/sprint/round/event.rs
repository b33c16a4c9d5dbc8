//! What happened in a round. A round is what its events made of its terms.

use arena_canon::Digest;
use arena_ledger::Transaction;

use super::board::Snapshot;
use super::command::{ReceiptKind, Target};
use super::entrant::{Entrant, IntentStub, Kickoff, Left, Rail};
use super::judging::{Dispute, DisputeStatus, Judgement};
use super::money::{Award, AwardStatus};
use super::package::Revision;
use super::rails::{Artifact, Evidence, Post};
use crate::leak::Finding;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::stake::StakeResult;
use crate::text::Text;

/// An event with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    /// When.
    pub at: Moment,
    /// What.
    pub event: Event,
}

/// A public receipt of an intervention or a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// In whose work.
    pub company: String,
    /// In which window.
    pub window: Window,
    /// Of what kind.
    pub kind: ReceiptKind,
    /// Who acted.
    pub actor: String,
    /// What was done.
    pub text: Text,
    /// When.
    pub at: Moment,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the values of the commands and the nouns of their modules")]
pub enum Event {
    /// The round is public.
    Announced,
    /// It ended before its end.
    Cancelled { reason: String },
    /// A company takes part.
    Registered { company: String, entrant: Box<Entrant> },
    /// It acknowledged the rules.
    RulesAcknowledged { company: String },
    /// It entered the call.
    CallEntered { company: String },
    /// It may write to a rail.
    Approved { company: String, rail: Rail, agent: String },
    /// It told who it is and what it wants.
    KickoffPublished { company: String, kickoff: Kickoff },
    /// It told what it plans.
    IntentPut { company: String, window: Window, stub: IntentStub },
    /// An artifact lies in the Locker.
    ArtifactStored { digest: Digest, artifact: Artifact },
    /// Anybody may read it.
    PublicReadGranted { digest: Digest },
    /// Something speaks for it.
    EvidencePut { reference: String, evidence: Evidence },
    /// Something was said in public.
    Posted { reference: String, post: Box<Post> },
    /// A package came.
    Submitted { company: String, revision: Box<Revision>, is_late: bool },
    /// It was replaced.
    Revised { company: String, revision: Box<Revision> },
    /// A text went on that somebody should look at.
    Flagged { company: String, findings: Vec<Finding> },
    /// A window was judged.
    Judged { company: String, window: Window, judgement: Box<Judgement> },
    /// A receipt is public.
    ReceiptIssued { reference: String, receipt: Receipt },
    /// A submission is disputed.
    DisputeFiled { reference: String, dispute: Dispute },
    /// Something was added to a dispute.
    DisputeAmended { reference: String, text: Text },
    /// A dispute is over.
    DisputeClosed { reference: String, status: DisputeStatus, receipt: Option<String> },
    /// Something was hidden again.
    Hidden { target: Target, reason: String },
    /// A company does not take part any more.
    LeftRound { company: String, how: Left },
    /// The standings as they were.
    Snapshotted { snapshot: Box<Snapshot> },
    /// What became of a stake.
    StakeSettled { company: String, window: Window, result: StakeResult },
    /// Something is paid, or waits to be.
    Awarded { reference: String, award: Award },
    /// An award that waited was decided on.
    AwardDecided { reference: String, status: AwardStatus },
    /// Money moved.
    Moved { transaction: Transaction },
    /// The round is over.
    Settled,
}

impl Event {
    /// The reference it gave to what it brought.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::EvidencePut { reference, .. }
            | Self::Posted { reference, .. }
            | Self::ReceiptIssued { reference, .. }
            | Self::DisputeFiled { reference, .. }
            | Self::Awarded { reference, .. } => Some(reference),
            Self::IntentPut { stub, .. } => Some(&stub.reference),
            Self::Submitted { revision, .. } | Self::Revised { revision, .. } => {
                Some(&revision.boards_submission_ref)
            }
            _ => None,
        }
    }
}
