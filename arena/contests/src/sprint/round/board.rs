//! The standings, as they are now and as they were after each window.

use arena_canon::Digest;
use arena_canon::json::{self, Value};

use super::Round;
use super::judging::{DisputeStatus, Judgement};
use super::package::Revision;
use super::refusal::Refusal;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::clock::Phase;
use crate::sprint::rank::{Row, standings};
use crate::sprint::record::{Record, State};
use crate::sprint::score::{self, SCORE_VERSION};
use crate::sprint::wire;

/// The standings as they were; never changed, only followed by another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The window that was over; none for the final standings.
    pub after: Option<Window>,
    /// Counted from 1 for each window.
    pub version: u32,
    /// Events it was computed from.
    pub computed_from_seq: u64,
    /// The version of the scoring.
    pub score_version: &'static str,
    /// The rows as they are shown.
    pub rows: Value,
    /// The digest of their canonical JSON.
    pub sha256: Digest,
}

/// A submission as the public sees it on the Boards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Whose it is.
    pub company: &'a str,
    /// The revision that counts.
    pub revision: &'a Revision,
    /// Whether it came after the cut-off.
    pub is_late: bool,
    /// Where it is now.
    pub state: State,
    /// Its judgements, oldest first.
    pub judgements: &'a [Judgement],
}

impl Round {
    /// The submissions of a window, by company.
    pub fn entries(&self, window: Window, now: Moment) -> Vec<Entry<'_>> {
        let submitted = self.entrants.iter().filter_map(|(company, entrant)| {
            let submission = entrant.submission(window)?;
            Some(Entry {
                company,
                revision: submission.frozen(),
                is_late: submission.is_late,
                state: self.record(company, window, now).ok()?.state(),
                judgements: entrant.judgements(window),
            })
        });
        submitted.collect()
    }

    /// The record of a window without regard to disputes.
    pub(super) fn standing(&self, company: &str, window: Window) -> Result<Record, Refusal> {
        let entrant = self.entrant(company)?;
        let submission = entrant.submission(window).ok_or(Refusal::NoSubmission { window })?;
        if let Some(judgement) = entrant.judgements(window).last() {
            return Ok(judgement.record.clone());
        }
        let frozen = submission.frozen();
        let (class, intervention) = (frozen.package.class, frozen.package.intervention);
        Ok(match submission.is_late {
            true => Record::late(class, intervention, frozen.at),
            false => Record::pending(intervention, frozen.at),
        })
    }

    /// The record of a window as it counts at `now`.
    pub fn record(&self, company: &str, window: Window, now: Moment) -> Result<Record, Refusal> {
        if self.entrant(company)?.submission(window).is_none() {
            return Ok(if self.is_over(window, now) { Record::missing() } else { Record::upcoming() });
        }
        let standing = self.standing(company, window)?;
        let is_disputed = self.disputes.values().any(|dispute| {
            dispute.status == DisputeStatus::Open && dispute.company == company && dispute.window == window
        });
        Ok(if is_disputed { standing.disputed() } else { standing })
    }

    /// Whether the day of a window is over.
    pub fn is_over(&self, window: Window, now: Moment) -> bool {
        let day = self.terms.timetable.span(self.terms.start, Phase::Evaluation, Some(window));
        day.is_some_and(|(_, end)| now >= end)
    }

    /// The standings of everybody who takes part, at `now`.
    pub fn standings(&self, now: Moment) -> Vec<Row> {
        let active = self.entrants.iter().filter(|(_, entrant)| entrant.missing_step().is_none());
        let rounds = active.filter_map(|(company, _)| {
            let records =
                [Window::W1, Window::W2, Window::W3].map(|window| self.record(company, window, now));
            let [Ok(w1), Ok(w2), Ok(w3)] = records else { return None };
            Some((company.clone(), score::round(&[w1, w2, w3])))
        });
        standings(rounds.collect())
    }

    /// The standings at `now` as the next version of those after a window.
    pub(super) fn snapshot(&self, after: Option<Window>, now: Moment) -> Snapshot {
        let rows: Value = self.standings(now).iter().map(wire::row_json).collect();
        let earlier = self.snapshots.iter().filter(|snapshot| snapshot.after == after).count();
        Snapshot {
            after,
            version: u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1),
            computed_from_seq: self.seq,
            score_version: SCORE_VERSION,
            sha256: Digest::of(&json::canonical(&rows)),
            rows,
        }
    }
}
