//! The timetable of a round: which phase a moment is in, and what may be done then.
//!
//! Every interval is half-open: its start belongs to it and its end does not. Moments come in from
//! outside; the one that counts is the server's receipt of a request, taken once and before its body
//! is read.

use super::Window;
use crate::moment::Moment;
use crate::words::words;

words! {
    /// A part of the round.
    pub enum Phase {
        /// Day 0 has not begun.
        BeforeRound = "before_round",
        /// Companies enter.
        Registration = "registration",
        /// Kickoff profiles only.
        PreWindow = "pre_window",
        /// Intent stubs.
        Intent = "intent",
        /// Work.
        Execution = "execution",
        /// Evidence packages.
        Submission = "submission",
        /// Judgements and disputes.
        Evaluation = "evaluation",
        /// Recaps, and what is left to rule on.
        Closeout = "closeout",
        /// Nothing changes a score any more.
        Final = "final",
    }
}

words! {
    /// What somebody wants to do.
    pub enum Action {
        /// Register a company.
        Register = "register",
        /// Acknowledge the rules.
        AckRules = "ack_rules",
        /// Enter the call with a hold.
        EnterCall = "enter_call",
        /// Publish the kickoff profile.
        PublishKickoff = "publish_kickoff",
        /// Write the intent stub of a window.
        PutIntent = "put_intent",
        /// Store an artifact or point to evidence.
        PutLocker = "put_locker",
        /// Post for the public.
        PostTown = "post_town",
        /// Submit an evidence package.
        Submit = "submit",
        /// Replace it before the cut-off.
        ReviseSubmission = "revise_submission",
        /// Dispute a submission.
        FileDispute = "file_dispute",
        /// Add to one's dispute.
        AmendDispute = "amend_dispute",
        /// Judge a submission.
        Judge = "judge",
        /// Look back on the round.
        Recap = "recap",
        /// Write what was learned.
        Postmortem = "postmortem",
    }
}

words! {
    /// What the clock says to an action.
    pub enum Answer {
        /// It is time.
        Ok = "ok",
        /// It is taken, and classed as late.
        Late = "late",
        /// It is not the time for it.
        Refused = "refused",
    }
}

/// One interval of a timetable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// What it is.
    pub phase: Phase,
    /// The window it belongs to, if any.
    pub window: Option<Window>,
    /// Its start, in seconds after the start of the round.
    pub from_s: i64,
    /// Its end, which is outside.
    pub to_s: i64,
}

/// A round's intervals, without a gap between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    slots: Vec<Slot>,
}

/// Why a list of intervals is no timetable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimetableError {
    /// No interval at all.
    #[error("a timetable has at least one interval")]
    Empty,
    /// An interval that ends before it begins, or at once.
    #[error("interval {index} ends at {to_s} s and begins at {from_s} s")]
    Backwards {
        /// Which.
        index: usize,
        /// Its start.
        from_s: i64,
        /// Its end.
        to_s: i64,
    },
    /// It does not begin where the one before ends.
    #[error("interval {index} begins at {from_s} s; the one before it ends at {expected_s} s")]
    NotContiguous {
        /// Which.
        index: usize,
        /// Its start.
        from_s: i64,
        /// The end of the one before, or 0.
        expected_s: i64,
    },
    /// A phase that an interval cannot be, or a window where the phase has none.
    #[error("interval {index} cannot be {phase} {} a window", if *.has_window { "with" } else { "without" })]
    Misplaced {
        /// Which.
        index: usize,
        /// Its phase.
        phase: Phase,
        /// Whether it names a window.
        has_window: bool,
    },
}

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

impl Timetable {
    /// A timetable of `slots`, if they are sorted, without a gap, and none is empty.
    pub fn new(slots: Vec<Slot>) -> Result<Self, TimetableError> {
        let mut expected_s = 0;
        for (index, &Slot { phase, window, from_s, to_s }) in slots.iter().enumerate() {
            let has_window = window.is_some();
            if from_s != expected_s {
                return Err(TimetableError::NotContiguous { index, from_s, expected_s });
            }
            if to_s <= from_s {
                return Err(TimetableError::Backwards { index, from_s, to_s });
            }
            if matches!(phase, Phase::BeforeRound | Phase::Final) || has_window != phase.is_of_a_window() {
                return Err(TimetableError::Misplaced { index, phase, has_window });
            }
            expected_s = to_s;
        }
        if slots.is_empty() { Err(TimetableError::Empty) } else { Ok(Self { slots }) }
    }

    /// The timetable `sprint-v1`: three days with a window each, and half a day on either side.
    pub fn sprint_v1() -> Self {
        let mut slots = vec![
            Slot { phase: Phase::Registration, window: None, from_s: 0, to_s: 12 * HOUR },
            Slot { phase: Phase::PreWindow, window: None, from_s: 12 * HOUR, to_s: DAY },
        ];
        for (day, window) in (1..).zip(Window::ALL) {
            let hours = [
                (Phase::Intent, 0, 2),
                (Phase::Execution, 2, 20),
                (Phase::Submission, 20, 22),
                (Phase::Evaluation, 22, 24),
            ];
            slots.extend(hours.map(|(phase, from, to)| Slot {
                phase,
                window: Some(*window),
                from_s: day * DAY + from * HOUR,
                to_s: day * DAY + to * HOUR,
            }));
        }
        let closeout = (4 * DAY, 4 * DAY + 12 * HOUR);
        slots.push(Slot { phase: Phase::Closeout, window: None, from_s: closeout.0, to_s: closeout.1 });
        Self { slots }
    }

    /// The intervals, in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The phase at `now`, and the window it belongs to.
    pub fn at(&self, round_start: Moment, now: Moment) -> (Phase, Option<Window>) {
        if now < round_start {
            return (Phase::BeforeRound, None);
        }
        let slot = self.slots.iter().find(|slot| now < round_start.plus_seconds(slot.to_s));
        slot.map_or((Phase::Final, None), |slot| (slot.phase, slot.window))
    }

    /// When a phase begins and ends; of `window`, where it belongs to one.
    pub fn span(&self, start: Moment, phase: Phase, window: Option<Window>) -> Option<(Moment, Moment)> {
        let slot = self.slots.iter().find(|slot| slot.phase == phase && slot.window == window)?;
        Some((start.plus_seconds(slot.from_s), start.plus_seconds(slot.to_s)))
    }

    /// When everything is over.
    pub fn end(&self, round_start: Moment) -> Moment {
        let to_s = self.slots.last().map_or(0, |slot| slot.to_s);
        round_start.plus_seconds(to_s)
    }

    /// Whether `action` may be done at `now`. One that names a window may be done only within that
    /// window's day.
    pub fn permits(&self, round_start: Moment, now: Moment, action: Action, named: Option<Window>) -> Answer {
        let (phase, current) = self.at(round_start, now);
        if named.is_some() && named != current {
            return Answer::Refused;
        }
        action.during(phase)
    }
}

impl Phase {
    /// Whether it is a part of a window's day.
    pub const fn is_of_a_window(self) -> bool {
        matches!(self, Self::Intent | Self::Execution | Self::Submission | Self::Evaluation)
    }
}

impl Action {
    /// What the clock says to it in a phase.
    pub const fn during(self, phase: Phase) -> Answer {
        use Phase as P;
        let is_time = match self {
            Self::Register | Self::AckRules | Self::EnterCall => matches!(phase, P::Registration),
            Self::PublishKickoff => matches!(phase, P::Registration | P::PreWindow),
            Self::PutIntent => matches!(phase, P::Intent),
            Self::PutLocker => matches!(phase, P::Intent | P::Execution | P::Submission),
            Self::PostTown => !matches!(phase, P::Evaluation | P::BeforeRound | P::Final),
            Self::Submit if matches!(phase, P::Evaluation) => return Answer::Late,
            Self::Submit | Self::ReviseSubmission => matches!(phase, P::Submission),
            Self::FileDispute | Self::AmendDispute | Self::Judge => matches!(phase, P::Evaluation),
            Self::Recap => matches!(phase, P::Closeout),
            Self::Postmortem => matches!(phase, P::Final),
        };
        if is_time { Answer::Ok } else { Answer::Refused }
    }
}
