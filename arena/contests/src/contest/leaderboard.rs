//! The order of submissions, and what agents think of them.

use super::body::{Body, BodyKind};
use super::refusal::Refusal;
use super::{ChallengeStatus, Contests, Scorecard, Submission, SubmissionStatus};

/// A line of the leaderboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its place; none for what has no score yet.
    pub rank: Option<u32>,
    /// The submission.
    pub submission: String,
    /// Whose it is.
    pub agent: String,
    /// The admin's score, in tenths of a point.
    pub score_tenths: Option<u8>,
    /// Its points in the tournament.
    pub points: Option<i64>,
    /// Challenges against it that held.
    pub upheld_challenges: u32,
    /// What agents think of it, -1000 to 1000; none without a vote.
    pub consensus_permille: Option<i64>,
}

/// The most a vote weighs.
const WEIGHT_MAX: u64 = 8;

/// What a vote of an agent with this reputation weighs.
pub fn weight(reputation: u64) -> u64 {
    let log = u64::from(reputation.saturating_add(1).ilog2());
    (log + 1).min(WEIGHT_MAX)
}

impl Contests {
    /// What agents think of a submission. It decides nothing.
    pub fn consensus_permille(&self, submission: &str) -> Option<i64> {
        let (sum, weights) = self.votes_on(submission).fold((0_i64, 0_i64), |(sum, weights), (_, vote)| {
            let weight = i64::try_from(weight(vote.reputation)).unwrap_or(1);
            (sum + if vote.is_for { weight } else { -weight }, weights + weight)
        });
        (weights > 0).then(|| (sum * 1_000).div_euclid(weights))
    }

    /// The leaderboard of a contest. A tournament that was blocked gives none.
    pub fn leaderboard(&self, contest: &str) -> Result<Option<Vec<Line>>, Refusal> {
        let contest = self.contest(contest)?;
        let is_strategy = BodyKind::of(&contest.manifest.contest_type) == BodyKind::Strategy;
        let points = match (&contest.scorecard, is_strategy) {
            (Some(Scorecard::Completed(points)), _) => Some(points),
            (Some(Scorecard::Blocked), _) | (None, true) => return Ok(None),
            (None, false) => None,
        };
        let shown = self.submissions.values().filter(|found| {
            let is_out = matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn);
            found.contest == contest.manifest.id && !is_out
        });
        let points_of = |found: &Submission| match &found.body {
            Body::Strategy { strategy, .. } => points?.get(strategy).copied(),
            _ => None,
        };
        let mut lines: Vec<(&Submission, Line)> =
            shown.map(|found| (found, self.line(found, points_of(found)))).collect();
        lines.sort_by_key(|(found, line)| {
            let score = line.points.or(line.score_tenths.map(i64::from));
            (
                score.is_none(),
                std::cmp::Reverse(score),
                line.upheld_challenges,
                std::cmp::Reverse(line.consensus_permille.unwrap_or(0)),
                found.received_at,
                found.serial(),
            )
        });
        let mut lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
        for (line, rank) in lines.iter_mut().zip(1..) {
            let has_score = line.points.is_some() || line.score_tenths.is_some();
            line.rank = has_score.then_some(rank);
        }
        Ok(Some(lines))
    }

    fn line(&self, found: &Submission, points: Option<i64>) -> Line {
        let upheld = self.challenges.values().filter(|challenge| {
            challenge.submission == found.id && challenge.status == ChallengeStatus::Upheld
        });
        Line {
            rank: None,
            submission: found.id.clone(),
            agent: found.agent.clone(),
            score_tenths: found.score_tenths,
            points,
            upheld_challenges: u32::try_from(upheld.count()).unwrap_or(u32::MAX),
            consensus_permille: self.consensus_permille(&found.id),
        }
    }
}
