//! What everybody may know of an event. What the gate rejected, what is sealed, and what was written in a
//! submission or a challenge are in none of these rows.

use arena_canon::json::Value;
use arena_contests::contest::{
    Body, Contest, ContestStatus, Contests, Event, Happened, Scorecard, Submission, SubmissionStatus,
};
use serde_json::json;

use crate::instance::Row;

/// The public rows of an event, by the contests as they were before it.
pub(super) fn rows(contests: &Contests, happened: &Happened) -> Vec<Row> {
    let told = match &happened.event {
        Event::StatusChanged { contest, to } => return changed(contests, happened, contest, *to),
        Event::Proposed { manifest, by } => {
            let body =
                json!({ "contest": manifest.id, "slug": manifest.slug, "title": manifest.title, "by": by });
            Some((manifest.id.clone(), "contest.proposed", body))
        }
        Event::ClauseRegistered { contest, rule_id, .. } => {
            let body = json!({ "contest": contest, "rule_id": rule_id });
            Some((contest.clone(), "contest.clause_registered", body))
        }
        Event::ScorecardRecorded { contest, scorecard: Scorecard::Completed(_) } => {
            Some((contest.clone(), "contest.leaderboard", json!({ "contest": contest })))
        }
        // A run that was blocked has no event either.
        Event::ScorecardRecorded { scorecard: Scorecard::Blocked, .. } | Event::TournamentPlanned { .. } => {
            None
        }
        Event::Submitted { submission } => {
            contests.may_see(submission, None).then(|| received(submission, "submission.received"))
        }
        Event::SubmissionMoved { submission, to } => {
            let kind = match to {
                SubmissionStatus::Withdrawn => "submission.withdrawn",
                _ => "submission.judged",
            };
            about(contests, submission, kind, json!({ "status": to }))
        }
        Event::Scored { submission, tenths } => {
            about(contests, submission, "contest.scored", json!({ "score_tenths": tenths }))
        }
        Event::Voted { submission, .. } => about(contests, submission, "contest.voted", json!({})),
        Event::Challenged { reference, challenge } => {
            let more = json!({ "challenge": reference, "kind": challenge.kind, "by": challenge.agent });
            about(contests, &challenge.submission, "contest.challenged", more)
        }
        Event::ChallengeRuled { reference, status } => {
            contests.challenges().get(reference).and_then(|challenge| {
                let more = json!({ "challenge": reference, "status": status });
                about(contests, &challenge.submission, "contest.challenge_ruled", more)
            })
        }
        Event::RewardPromised { reference, reward } => {
            let (kind, agent, status) = (&reward.kind, &reward.agent, reward.status);
            let more = json!({ "reward": reference, "kind": kind, "agent": agent, "status": status });
            about(contests, &reward.submission, "contest.reward_promised", more)
        }
        Event::RewardMoved { reference, to } => contests.rewards().get(reference).and_then(|reward| {
            let more =
                json!({ "reward": reference, "kind": reward.kind, "agent": reward.agent, "status": to });
            about(contests, &reward.submission, "contest.reward_moved", more)
        }),
        Event::CredentialDue { statement, .. } => {
            let body =
                json!({ "contest": statement.contest, "kind": statement.kind, "agent": statement.agent });
            Some((statement.contest.clone(), "contest.credential", body))
        }
        Event::Logged { by, action, of, reason } => logged(contests, by, action, of, reason),
    };
    told.map(|told| row(happened, told)).into_iter().collect()
}

type Told = (String, &'static str, Value);

fn row(happened: &Happened, (contest, kind, body): Told) -> Row {
    Row::announcement(happened.at, format!("contests/{contest}"), kind, body)
}

fn received(submission: &Submission, kind: &'static str) -> Told {
    let rule_id = match &submission.body {
        Body::Redline(redline) => Some(&redline.rule_id),
        Body::Strategy { .. } | Body::Generic { .. } => None,
    };
    let Submission { id, contest, agent, .. } = submission;
    let body = json!({ "contest": contest, "submission": id, "agent": agent, "rule_id": rule_id });
    (contest.clone(), kind, body)
}

/// Something about a submission, if everybody may see it.
fn about(contests: &Contests, submission: &str, kind: &'static str, mut body: Value) -> Option<Told> {
    let found = contests.submission(submission).ok().filter(|found| contests.may_see(found, None))?;
    body["contest"] = found.contest.clone().into();
    body["submission"] = found.id.clone().into();
    Some((found.contest.clone(), kind, body))
}

/// A new status, and what is unsealed by it.
fn changed(contests: &Contests, happened: &Happened, contest: &str, to: ContestStatus) -> Vec<Row> {
    let body = json!({ "contest": contest, "status": to });
    let mut rows = vec![row(happened, (contest.to_owned(), "contest.status", body))];
    let Ok(before) = contests.contest(contest) else { return rows };
    let after = Contest { status: to, ..before.clone() };
    if before.is_sealed() && !after.is_sealed() {
        // As the platform sees them: what is neither rejected nor taken back.
        let everything = arena_contests::contest::Actor::Admin(String::new());
        let found = contests.visible(contest, &everything).unwrap_or_default();
        let is_out = |found: &Submission| {
            matches!(found.status, SubmissionStatus::Rejected | SubmissionStatus::Withdrawn)
        };
        let disclosed = found.into_iter().filter(|found| !is_out(found));
        rows.extend(disclosed.map(|found| row(happened, received(found, "contest.disclosed"))));
    }
    rows
}

/// An entry of the public log. What it says of a sealed submission is withheld.
fn logged(contests: &Contests, by: &str, action: &str, of: &str, reason: &str) -> Option<Told> {
    let submission = contests.subject_of(of);
    let Some(found) = submission else {
        let contest = contests.contest(of).ok()?.manifest.id.clone();
        let body = json!({ "contest": contest, "by": by, "action": action, "of": of, "reason": reason });
        return Some((contest, "contest.logged", body));
    };
    let body = if contests.may_see(found, None) {
        json!({ "contest": found.contest, "by": by, "action": action, "of": of, "reason": reason })
    } else {
        json!({ "contest": found.contest, "by": by, "action": action, "withheld": true })
    };
    Some((found.contest.clone(), "contest.logged", body))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arena_canon::Digest;
    use arena_contests::Moment;
    use arena_contests::cite::Registry;
    use arena_contests::contest::{Actor, Admission, Command, Manifest, Stamped, Surroundings};
    use arena_contests::leak::Scanner;

    use super::*;

    const MANIFEST: &[u8] = include_bytes!("../../../../../tests/vectors/contest/manifest.json");

    struct Everything;

    impl Admission for Everything {
        fn refusal(&self, _: &Digest) -> Option<String> {
            None
        }
    }

    /// Carries commands out; gives the public rows of the last one.
    fn told(contests: &mut Contests, by: Actor, command: Command) -> Vec<Row> {
        let scanner = Scanner::new(&[], &[]).unwrap();
        let around = Surroundings { registry: Registry::v2(), admission: &Everything, scanner: &scanner };
        let at: Moment = "2026-08-01T00:00:00Z".parse().unwrap();
        let happened = contests.decide(&Stamped { at, by, command }, &around).unwrap();
        let rows = happened.iter().flat_map(|happened| rows(contests, happened)).collect();
        *contests = happened.iter().fold(std::mem::take(contests), Contests::evolve);
        rows
    }

    fn kinds(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| row.kind.as_str()).collect()
    }

    #[test]
    fn strategies_are_unsealed_by_rows_of_their_own_when_the_contest_is_closed() {
        let mut document: Value = serde_json::from_slice(MANIFEST).unwrap();
        document["contest"]["contest_type"] = "strategy".into();
        let contest = document["contest"]["id"].as_str().unwrap().to_owned();
        let manifest = Manifest::of(document).unwrap();
        let admin = || Actor::Admin("ada".to_owned());
        let agent = |id: &str| Actor::Agent { id: id.to_owned(), operator: id.to_owned(), reputation: 0 };
        let mut all = Contests::default();
        told(&mut all, admin(), Command::Propose(Box::new(manifest)));
        told(&mut all, admin(), Command::Activate { contest: contest.clone() });
        let digests = [Digest::of(b"1"), Digest::of(b"2"), Digest::of(b"3")];
        for (digest, who) in digests.iter().zip(["amy", "ben", "cat"]) {
            let body = json!({ "title": "t", "body": "b", "metadata": { "strategy": digest } });
            let rows = told(&mut all, agent(who), Command::Submit { contest: contest.clone(), body });
            assert_eq!(kinds(&rows), [""; 0], "a sealed submission is no news");
        }
        let taken = Command::Withdraw { submission: "submission:3".to_owned() };
        assert_eq!(kinds(&told(&mut all, agent("cat"), taken)), [""; 0]);
        let accept = Command::Decide {
            submission: "submission:1".to_owned(),
            to: SubmissionStatus::Accepted,
            reason: "it plays well".to_owned(),
        };
        let rows = told(&mut all, admin(), accept);
        assert_eq!((kinds(&rows), &rows[0].body["withheld"]), (vec!["contest.logged"], &json!(true)));
        assert!(!rows[0].body.to_string().contains("plays well"));
        let rows = told(&mut all, admin(), Command::CloseSubmissions { contest: contest.clone() });
        assert_eq!(kinds(&rows), ["contest.status", "contest.logged"]);
        let blocked = Command::RecordScorecard { contest: contest.clone(), scorecard: Scorecard::Blocked };
        assert_eq!(
            kinds(&told(&mut all.clone(), Actor::System, blocked)),
            [""; 0],
            "what was blocked has no event"
        );
        let points: BTreeMap<Digest, i64> =
            digests[..2].iter().zip([3, 5]).map(|(one, points)| (*one, points)).collect();
        let scorecard = Scorecard::Completed(points);
        let rows =
            told(&mut all, Actor::System, Command::RecordScorecard { contest: contest.clone(), scorecard });
        assert_eq!(kinds(&rows), ["contest.leaderboard"]);
        for row in &rows {
            assert!(digests.iter().all(|digest| !row.body.to_string().contains(&digest.to_string())));
        }
        let mut cancelled = all.clone();
        let over = "it is over".to_owned();
        let cancel = Command::Cancel { contest: contest.clone(), reason: over.clone() };
        assert_eq!(kinds(&told(&mut cancelled, admin(), cancel)), ["contest.status", "contest.logged"]);
        let rows = told(&mut all, admin(), Command::Close { contest, reason: over });
        assert_eq!(
            kinds(&rows),
            ["contest.status", "contest.disclosed", "contest.disclosed", "contest.logged"]
        );
        let disclosed: Vec<&Value> = rows[1..3].iter().map(|row| &row.body["agent"]).collect();
        assert_eq!(disclosed, ["amy", "ben"], "what was taken back stays where it is");
    }
}
