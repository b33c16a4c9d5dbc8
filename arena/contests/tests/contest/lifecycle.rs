//! A contest from its draft to its rewards.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_contests::contest::{
    Actor, ChallengeKind, Command, ContestStatus, Event, Line, RewardStatus, Role, Scorecard,
    SubmissionStatus, weight,
};
use serde_json::{Value, json};

use super::{CONTEST, Stage, admin, agent, manifest, noon, redline};

fn body(n: usize) -> Value {
    let proposed =
        ["Harm is paid by whoever deploys.", "Operators answer for agents.", "Logs are kept a year."];
    redline("CBR14", proposed[n % 3])
}

fn named(contest: &str) -> String {
    contest.to_owned()
}

fn reason() -> String {
    "as the rules say".to_owned()
}

fn to(id: &str, to: SubmissionStatus) -> Command {
    Command::Decide { submission: id.to_owned(), to, reason: reason() }
}

#[test]
fn one_contest_of_a_type_is_open_at_a_time() {
    let mut stage = Stage::open();
    let second = manifest(&json!({ "id": "00000000-0000-4000-8000-000000000002", "slug": "SECOND" }));
    let other_type = manifest(&json!({
        "id": "00000000-0000-4000-8000-000000000003", "slug": "OTHER", "contest_type": "module-build",
    }));
    let again = manifest(&json!({}));
    assert_eq!(stage.code(noon(1), agent("amy"), Command::Propose(Box::new(again.clone()))), Some("exists"));
    let slug = manifest(&json!({ "id": "00000000-0000-4000-8000-000000000004" }));
    assert_eq!(stage.code(noon(1), agent("amy"), Command::Propose(Box::new(slug))), Some("exists"));
    stage.must(noon(1), agent("amy"), Command::Propose(Box::new(second)));
    stage.must(noon(1), agent("amy"), Command::Propose(Box::new(other_type)));
    let activate = |slug: &str| Command::Activate { contest: named(slug) };
    assert_eq!(stage.code(noon(1), agent("amy"), activate("OTHER")), Some("wrong_actor"));
    stage.must(noon(1), admin(), activate("OTHER"));
    assert_eq!(stage.code(noon(1), admin(), activate("SECOND")), Some("type_is_open"));
    let close = Command::CloseSubmissions { contest: named(CONTEST) };
    assert_eq!(stage.code(noon(2), Actor::System, close.clone()), Some("not_over"));
    assert_eq!(stage.code(noon(2), agent("amy"), close.clone()), Some("wrong_actor"));
    stage.must(noon(2), admin(), close.clone());
    assert_eq!(stage.code(noon(2), admin(), close), Some("not_in_status"));
    assert_eq!(
        stage.code(noon(2), admin(), activate("SECOND")),
        Some("type_is_open"),
        "judging counts as well"
    );
    stage.must(noon(2), admin(), Command::Close { contest: named(CONTEST), reason: reason() });
    stage.must(noon(2), admin(), activate("SECOND"));
    let cancel = Command::Cancel { contest: named("SECOND"), reason: reason() };
    stage.must(noon(2), admin(), cancel.clone());
    assert_eq!(stage.code(noon(2), admin(), cancel), Some("not_in_status"));
    assert_eq!(stage.contests.contest("SECOND").expect("there").status, ContestStatus::Cancelled);
    assert_eq!(stage.code(noon(2), admin(), activate("NONE")), Some("unknown_reference"));
    assert_eq!(stage.code(noon(1), admin(), activate("SECOND")), Some("time_goes_back"));
}

#[test]
fn drafts_of_one_proposer_are_counted() {
    let mut stage = Stage::empty();
    let draft = |n: usize| {
        let id = format!("00000000-0000-4000-8000-{n:012}");
        Command::Propose(Box::new(manifest(&json!({ "id": id, "slug": format!("DRAFT-{n}") }))))
    };
    for n in 0..10 {
        stage.must(noon(1), agent("amy"), draft(n));
    }
    assert_eq!(stage.code(noon(1), agent("amy"), draft(10)), Some("too_many_drafts"));
    assert_eq!(stage.code(noon(1), agent("ben"), draft(10)), None);
    stage.must(noon(1), admin(), Command::Cancel { contest: named("DRAFT-3"), reason: reason() });
    assert_eq!(stage.code(noon(1), agent("amy"), draft(10)), None);
}

#[test]
fn what_has_ended_is_being_judged_before_anybody_says_so() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    let contest = stage.contests.contest(CONTEST).expect("there");
    let end = contest.manifest.ends_at;
    assert_eq!(contest.status_at(end.plus_ms(-1)).name(), "active");
    assert_eq!(contest.status_at(end).name(), "judging");
    let withdraw = Command::Withdraw { submission: id };
    assert_eq!(stage.code(end.plus_ms(-1), agent("amy"), withdraw.clone()), None);
    assert_eq!(stage.code(end, agent("amy"), withdraw), Some("not_in_status"));
}

#[test]
fn what_somebody_may_not_see_is_not_there_for_them() {
    let mut sealed = Stage::of(manifest(&json!({ "submissions_private": true })));
    let id = sealed.submit(2, "amy", body(0));
    let mut open = Stage::open();
    let mut invented = body(0);
    invented["legal_basis"][0]["article"] = json!("Art. 100");
    let rejected = open.submit(2, "amy", invented);
    for (stage, id) in [(&sealed, id), (&open, rejected)] {
        let challenge = Command::FileChallenge {
            submission: id.clone(),
            kind: ChallengeKind::Logic,
            target: named("rationale"),
            text: reason(),
        };
        let vote = Command::CastVote { submission: id.clone(), is_for: true };
        for command in [challenge, vote, Command::Withdraw { submission: id.clone() }] {
            let code = stage.code(noon(2), agent("ben"), command.clone());
            assert_eq!(code, Some("unknown_reference"), "{command:?}");
        }
        let found = stage.contests.submission(&id).expect("stored");
        let sees = |viewer: &Actor| stage.contests.may_see(found, Some(viewer));
        assert_eq!((sees(&agent("amy")), sees(&agent("ben")), sees(&admin())), (true, false, true));
        assert!(!stage.contests.may_see(found, None));
    }
}

#[test]
fn the_platform_closes_when_it_is_time() {
    let mut stage = Stage::open();
    let close = Command::CloseSubmissions { contest: named(CONTEST) };
    let end = stage.contests.contest(CONTEST).expect("there").manifest.ends_at;
    assert_eq!(stage.code(end.plus_ms(-1), Actor::System, close.clone()), Some("not_over"));
    stage.must(end, Actor::System, close);
}

#[test]
fn stages_belong_to_their_roles() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    let staff = |role| Actor::Staff { name: "sam".to_owned(), role };
    for (by, code) in [
        (staff(Role::Merger), Some("wrong_actor")),
        (staff(Role::Tester), Some("wrong_actor")),
        (agent("ben"), Some("wrong_actor")),
        (staff(Role::LegalityReviewer), None),
        (admin(), None),
    ] {
        assert_eq!(stage.code(noon(2), by, to(&id, SubmissionStatus::Accepted)), code);
    }
    assert_eq!(stage.code(noon(2), admin(), to(&id, SubmissionStatus::Merged)), Some("no_way"));
    stage.must(noon(2), staff(Role::LegalityReviewer), to(&id, SubmissionStatus::Accepted));
    let merged = to(&id, SubmissionStatus::Merged);
    assert_eq!(stage.code(noon(2), staff(Role::LegalityReviewer), merged.clone()), Some("wrong_actor"));
    stage.must(noon(2), staff(Role::Merger), merged);
    let log: Vec<(&str, &str)> =
        stage.contests.log().iter().map(|entry| (&*entry.by, entry.action)).collect();
    assert_eq!(log, [("ada", "activate"), ("sam", "accepted"), ("sam", "merged")]);
    let silent = Command::Decide { submission: id, to: SubmissionStatus::Declined, reason: String::new() };
    assert!(stage.code(noon(2), admin(), silent).is_some());
}

#[test]
fn nobody_judges_what_is_their_own_or_their_operators() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    let vote = Command::CastVote { submission: id.clone(), is_for: true };
    let challenge = Command::FileChallenge {
        submission: id.clone(),
        kind: ChallengeKind::Citation,
        target: "/legal_basis/0".to_owned(),
        text: "the article says nothing of the kind".to_owned(),
    };
    let sister = Actor::Agent { id: "ann".to_owned(), operator: "op-amy".to_owned(), reputation: 99 };
    for (by, code) in [
        (agent("amy"), Some("own_work")),
        (sister, Some("own_work")),
        (admin(), Some("wrong_actor")),
        (agent("ben"), None),
    ] {
        assert_eq!(stage.code(noon(2), by.clone(), vote.clone()), code);
        assert_eq!(stage.code(noon(2), by, challenge.clone()), code);
    }
    stage.must(noon(2), agent("ben"), vote.clone());
    stage.must(noon(2), agent("ben"), challenge.clone());
    assert_eq!(stage.code(noon(2), agent("ben"), vote), Some("already_done"));
    assert_eq!(stage.code(noon(2), agent("ben"), challenge), Some("already_done"));
    let rule = |challenge: &str, upheld| Command::RuleChallenge {
        challenge: named(challenge),
        upheld,
        reason: reason(),
    };
    assert_eq!(stage.code(noon(2), agent("cat"), rule("challenge:1", true)), Some("wrong_actor"));
    stage.must(noon(2), admin(), rule("challenge:1", true));
    assert_eq!(stage.code(noon(2), admin(), rule("challenge:1", false)), Some("not_in_status"));
    assert_eq!(stage.code(noon(2), admin(), rule("challenge:2", false)), Some("unknown_reference"));
}

#[test]
fn votes_weigh_by_the_logarithm_of_reputation() {
    for (reputation, expected) in [(0, 1), (1, 2), (2, 2), (3, 3), (126, 7), (127, 8), (u64::MAX, 8)] {
        assert_eq!(weight(reputation), expected, "{reputation}");
    }
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    assert_eq!(stage.contests.consensus_permille(&id), None);
    for (who, reputation, is_for) in [("ben", 3, true), ("cat", 0, false), ("dan", 1, false)] {
        let by = Actor::Agent { id: named(who), operator: named(who), reputation };
        stage.must(noon(2), by, Command::CastVote { submission: id.clone(), is_for });
    }
    assert_eq!(stage.contests.consensus_permille(&id), Some(0));
    let by = Actor::Agent { id: named("eve"), operator: named("eve"), reputation: 0 };
    stage.must(noon(2), by, Command::CastVote { submission: id.clone(), is_for: false });
    assert_eq!(stage.contests.consensus_permille(&id), Some(-143), "-1/7, rounded down");
}

#[test]
fn the_leaderboard_ranks_by_score_and_then_by_everything_else() {
    let mut stage = Stage::open();
    let ids: Vec<String> = ["amy", "ben", "cat", "dan", "eve"]
        .iter()
        .enumerate()
        .map(|(n, who)| stage.submit(2, who, body(n)))
        .collect();
    let score = |id: &str, tenths| Command::Score { submission: id.to_owned(), tenths, reason: reason() };
    assert_eq!(stage.code(noon(2), agent("fay"), score(&ids[0], 50)), Some("wrong_actor"));
    assert_eq!(stage.code(noon(2), admin(), score(&ids[0], 101)), Some("score_too_high"));
    for (id, tenths) in ids.iter().zip([75, 90, 75, 75]) {
        stage.must(noon(2), admin(), score(id, tenths));
    }
    let text = "it contradicts the clause before it".to_owned();
    let challenge = Command::FileChallenge {
        submission: ids[0].clone(),
        kind: ChallengeKind::Conflict,
        target: named("proposed_text"),
        text,
    };
    stage.must(noon(2), agent("fay"), challenge);
    let upheld = Command::RuleChallenge { challenge: named("challenge:1"), upheld: true, reason: reason() };
    stage.must(noon(2), admin(), upheld);
    stage.must(noon(2), agent("fay"), Command::CastVote { submission: ids[3].clone(), is_for: true });
    let lines = stage.contests.leaderboard(CONTEST).expect("there").expect("a board");
    let told: Vec<(Option<u32>, &str)> = lines.iter().map(|line| (line.rank, &*line.agent)).collect();
    assert_eq!(told, [(Some(1), "ben"), (Some(2), "dan"), (Some(3), "cat"), (Some(4), "amy"), (None, "eve")]);
}

#[test]
fn rewards_move_by_hand_and_end_in_time() {
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    let promise = Command::PromiseReward {
        submission: id.clone(),
        kind: named("certified-reviewer"),
        expires_at: Some(noon(20)),
    };
    assert_eq!(stage.code(noon(2), admin(), promise.clone()), Some("not_in_status"));
    stage.must(noon(2), admin(), to(&id, SubmissionStatus::Accepted));
    stage.must(noon(2), admin(), promise);
    assert_eq!(stage.contests.rewards()["reward:1"].status.name(), "pending_defici_approval");
    let advance = |to| Command::AdvanceReward { reward: named("reward:1"), to, reason: reason() };
    assert_eq!(stage.code(noon(3), admin(), advance(RewardStatus::Fulfilled)), Some("no_way"));
    assert_eq!(stage.code(noon(3), agent("amy"), advance(RewardStatus::Approved)), Some("wrong_actor"));
    assert_eq!(stage.code(noon(20), admin(), advance(RewardStatus::Approved)), Some("expired"));
    assert_eq!(stage.code(noon(20), admin(), advance(RewardStatus::Declined)), None);
    stage.must(noon(3), admin(), advance(RewardStatus::Approved));
    let events = stage.must(noon(3), admin(), advance(RewardStatus::Fulfilled));
    let due = events.iter().find_map(|happened| match &happened.event {
        Event::CredentialDue { statement, .. } => Some(statement.clone()),
        _ => None,
    });
    assert_eq!(
        due.map(|statement| (statement.agent, statement.expires_at)),
        Some((named("amy"), Some(noon(20))))
    );
    let kept: Vec<&str> = stage.contests.credentials_of("amy").map(|it| it.kind.as_str()).collect();
    assert_eq!((kept, stage.contests.credentials_of("ben").count()), (vec!["certified-reviewer"], 0));
    assert_eq!(stage.code(noon(3), admin(), advance(RewardStatus::Declined)), Some("no_way"));
}

#[test]
fn strategies_are_sealed_play_and_are_ranked_by_their_points() {
    let mut stage = Stage::of(manifest(&json!({ "contest_type": "strategy" })));
    let digest = |n: u8| Digest::of(&[n]);
    let entry =
        |n: u8| json!({ "title": "t", "body": "b", "metadata": { "strategy": digest(n).to_string() } });
    stage.admission.0.insert(digest(9));
    let submit = |body| Command::Submit { contest: named(CONTEST), body };
    assert_eq!(stage.code(noon(2), agent("amy"), submit(entry(9))), Some("not_admitted"));
    assert_eq!(stage.code(noon(2), agent("amy"), submit(redline("x", "yyyyy"))), Some("form"));
    stage.submit(2, "amy", entry(1));
    assert_eq!(stage.code(noon(2), agent("ben"), submit(entry(1))), Some("duplicate_strategy"));
    assert_eq!(stage.code(noon(2), agent("amy"), submit(entry(2))), Some("slot_taken"));
    stage.submit(2, "ben", entry(2));
    let seen = |stage: &Stage, viewer: &Actor| stage.contests.visible(CONTEST, viewer).expect("there").len();
    assert_eq!((seen(&stage, &agent("amy")), seen(&stage, &admin())), (1, 2));
    let score = Command::Score { submission: named("submission:1"), tenths: 50, reason: reason() };
    assert_eq!(stage.code(noon(2), admin(), score), Some("scored_by_tournament"));
    let record = |scorecard| Command::RecordScorecard { contest: named(CONTEST), scorecard };
    let points = |pairs: &[(u8, i64)]| {
        Scorecard::Completed(
            pairs.iter().map(|(n, points)| (digest(*n), *points)).collect::<BTreeMap<_, _>>(),
        )
    };
    assert_eq!(stage.code(noon(3), Actor::System, record(points(&[]))), Some("not_in_status"));
    let events = stage.must(noon(3), admin(), Command::CloseSubmissions { contest: named(CONTEST) });
    let plan = events.iter().find_map(|happened| match &happened.event {
        Event::TournamentPlanned { strategies, .. } => Some(strategies.clone()),
        _ => None,
    });
    let mut expected = vec![digest(1), digest(2)];
    expected.sort();
    assert_eq!(plan, Some(expected));
    assert_eq!(stage.contests.leaderboard(CONTEST).expect("there"), None);
    assert_eq!(stage.code(noon(3), agent("amy"), record(points(&[(1, 3), (2, 5)]))), Some("wrong_actor"));
    for wrong in [points(&[(1, 3)]), points(&[(1, 3), (9, 5)])] {
        assert_eq!(stage.code(noon(3), Actor::System, record(wrong)), Some("other_strategies"));
    }
    let mut blocked = Stage { contests: stage.contests.clone(), ..Stage::empty() };
    blocked.must(noon(3), Actor::System, record(Scorecard::Blocked));
    assert_eq!(blocked.contests.leaderboard(CONTEST).expect("there"), None);
    stage.must(noon(3), Actor::System, record(points(&[(1, 3), (2, 5)])));
    assert_eq!(stage.code(noon(3), Actor::System, record(Scorecard::Blocked)), Some("already_done"));
    let lines: Vec<Line> = stage.contests.leaderboard(CONTEST).expect("there").expect("a board");
    let told: Vec<_> = lines.iter().map(|line| (line.rank, &*line.agent, line.points)).collect();
    assert_eq!(told, [(Some(1), "ben", Some(5)), (Some(2), "amy", Some(3))]);
    stage.must(noon(4), admin(), Command::Close { contest: named(CONTEST), reason: reason() });
    assert_eq!(seen(&stage, &agent("cat")), 2);
}

#[test]
fn a_leak_is_refused_in_what_is_said_about_submissions() {
    let key = ["g", "hp_", "R4t8Ym2Kq9Vw3Zx7", "Lc5Nb6Hd1Jf0PsTe", "Ua42"].concat();
    let mut stage = Stage::open();
    let id = stage.submit(2, "amy", body(0));
    let leaking = || format!("for a reason: {key}");
    let challenge = |target: String, text: String| Command::FileChallenge {
        submission: id.clone(),
        kind: ChallengeKind::Harm,
        target,
        text,
    };
    for (by, command) in [
        (agent("ben"), challenge(leaking(), reason())),
        (agent("ben"), challenge(named("rationale"), leaking())),
        (agent("ben"), challenge(named("rationale"), named("it says canary-of-the-house"))),
        (admin(), Command::Score { submission: id.clone(), tenths: 1, reason: leaking() }),
        (admin(), Command::Cancel { contest: named(CONTEST), reason: leaking() }),
        (
            admin(),
            Command::Decide { submission: id.clone(), to: SubmissionStatus::Declined, reason: leaking() },
        ),
        (admin(), Command::RegisterClause { contest: named(CONTEST), rule_id: named("x"), text: leaking() }),
    ] {
        assert_eq!(stage.code(noon(2), by, command.clone()), Some("forbidden_disclosure"), "{command:?}");
    }
    let leaking = manifest(
        &json!({ "id": "00000000-0000-4000-8000-000000000002", "slug": "L", "description": leaking() }),
    );
    let propose = Command::Propose(Box::new(leaking));
    assert_eq!(stage.code(noon(2), agent("ben"), propose), Some("forbidden_disclosure"));
}
