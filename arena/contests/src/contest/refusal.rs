//! Why a command is refused. Nothing of it happened.

use super::gate::GateFailure;
use crate::document::Faults;
use crate::leak::Finding;
use crate::moment::Moment;

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A command of an earlier time than the one before it.
    #[error("the command is of {at}; the one before it was of {last}")]
    TimeGoesBack {
        /// Of this command.
        at: Moment,
        /// Of the one before.
        last: Moment,
    },
    /// It is for somebody else to do.
    #[error("this is for {who} to do")]
    WrongActor {
        /// For whom.
        who: &'static str,
    },
    /// There is nothing of this name.
    #[error("there is no {what} of this name")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
    },
    /// There is something of this name.
    #[error("there is a contest with this {what}")]
    Exists {
        /// Which member.
        what: &'static str,
    },
    /// Too many drafts of one proposer.
    #[error("there are {limit} drafts of yours, the limit; wait until one is activated or cancelled")]
    TooManyDrafts {
        /// How many there may be.
        limit: usize,
    },
    /// Another contest of the type is open.
    #[error("`{slug}` is open; of each type one contest is open at a time")]
    TypeIsOpen {
        /// The other one.
        slug: String,
    },
    /// It is not where this can be done.
    #[error("the {what} is {status}")]
    NotInStatus {
        /// What.
        what: &'static str,
        /// Where it is.
        status: &'static str,
    },
    /// It cannot go there from where it is.
    #[error("the {what} is {from} and cannot become {to}")]
    NoWay {
        /// What.
        what: &'static str,
        /// Where it is.
        from: &'static str,
        /// Where it should go.
        to: &'static str,
    },
    /// Submissions are not over.
    #[error("submissions end at {ends_at}")]
    NotOver {
        /// When.
        ends_at: Moment,
    },
    /// The gate refuses the submission, for all of these reasons.
    #[error("the gate refuses the submission: {}", told(.0))]
    Gate(Vec<GateFailure>),
    /// A text that is not of its form.
    #[error("{0}")]
    Form(Faults),
    /// Something in it must not become public.
    #[error("{} of the text must not become public", .0.len())]
    ForbiddenDisclosure(Vec<Finding>),
    /// Nobody judges what is their own or their operator's.
    #[error("nobody judges what is their own or their operator's")]
    OwnWork,
    /// It was done once, and that is enough.
    #[error("{what} is done already")]
    AlreadyDone {
        /// What.
        what: &'static str,
    },
    /// More tenths than ten points have.
    #[error("the score is {tenths} tenths; the most is 100")]
    ScoreTooHigh {
        /// As it was given.
        tenths: u8,
    },
    /// A tournament scores these.
    #[error("submissions of a strategy contest are scored by their tournament")]
    ScoredByTournament,
    /// A scorecard that is not about the strategies of the plan.
    #[error("the scorecard has {have} strategies, the plan has {need}, and they are not the same")]
    OtherStrategies {
        /// In the scorecard.
        have: usize,
        /// In the plan.
        need: usize,
    },
    /// The promise has ended.
    #[error("the reward expired at {at}")]
    Expired {
        /// When.
        at: Moment,
    },
}

fn told(failures: &[GateFailure]) -> String {
    failures.iter().map(GateFailure::code).collect::<Vec<_>>().join(", ")
}

impl Refusal {
    /// Its stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TimeGoesBack { .. } => "time_goes_back",
            Self::WrongActor { .. } => "wrong_actor",
            Self::Unknown { .. } => "unknown_reference",
            Self::Exists { .. } => "exists",
            Self::TooManyDrafts { .. } => "too_many_drafts",
            Self::TypeIsOpen { .. } => "type_is_open",
            Self::NotInStatus { .. } => "not_in_status",
            Self::NoWay { .. } => "no_way",
            Self::NotOver { .. } => "not_over",
            Self::Gate(failures) => failures.first().map_or("gate", GateFailure::code),
            Self::Form(_) => "form",
            Self::ForbiddenDisclosure(_) => "forbidden_disclosure",
            Self::OwnWork => "own_work",
            Self::AlreadyDone { .. } => "already_done",
            Self::ScoreTooHigh { .. } => "score_too_high",
            Self::ScoredByTournament => "scored_by_tournament",
            Self::OtherStrategies { .. } => "other_strategies",
            Self::Expired { .. } => "expired",
        }
    }

    /// The status of an answer over HTTP.
    pub fn status(&self) -> u16 {
        match self {
            Self::WrongActor { .. } | Self::OwnWork => 403,
            Self::Unknown { .. } => 404,
            Self::Gate(failures) => failures.first().map_or(422, GateFailure::status),
            Self::Form(_) | Self::ForbiddenDisclosure(_) | Self::ScoreTooHigh { .. } => 422,
            Self::OtherStrategies { .. } => 422,
            Self::TimeGoesBack { .. }
            | Self::Exists { .. }
            | Self::TooManyDrafts { .. }
            | Self::TypeIsOpen { .. }
            | Self::NotInStatus { .. }
            | Self::NoWay { .. }
            | Self::NotOver { .. }
            | Self::AlreadyDone { .. }
            | Self::ScoredByTournament
            | Self::Expired { .. } => 409,
        }
    }
}
