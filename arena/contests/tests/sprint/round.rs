//! Rules of a round: who may do what, and what is refused by which rule.

use std::collections::BTreeSet;

use arena_canon::Digest;
use arena_contests::sprint::Window;
use arena_contests::sprint::example::{Stage, at, evaluator, of, operator, parts, terms, verdict};
use arena_contests::sprint::record::{ArtifactClass, Intervention, Outcome, Penalty, State};
use arena_contests::sprint::round::{
    Actor, AwardStatus, Command, DisputeStatus, Event, Intent, Package, PostKind, Rail, Refusal, Ruling,
    StakePolicy, Stamped, Target, Team, Terms, Verdict,
};
use arena_ledger::Amount;

const W1: Window = Window::W1;

/// Day 0 is over, acme has planned W1 and published for it.
fn ready() -> (Stage, Package) {
    let mut stage = Stage::default();
    stage.enter_all();
    for company in ["acme", "bolt", "cobalt"] {
        assert!(stage.intend(company, W1, ArtifactClass::External));
    }
    let package = stage.publish("acme", W1, "Published a planner that three schools installed.", true);
    (stage, package)
}

fn submitted() -> Stage {
    let (mut stage, package) = ready();
    assert!(stage.submit("acme", package, 5));
    stage
}

fn good() -> Verdict {
    verdict(State::Accepted, parts(60, 20, 20, 20), &[], "verified")
}

/// The rule that refuses a command, or nothing.
fn code(stage: &Stage, time: arena_contests::Moment, by: Actor, command: Command) -> Option<&'static str> {
    stage.round.decide(&Stamped { at: time, by, command }).err().map(|why| why.code())
}

fn judge(window: Window, verdict: Verdict) -> Command {
    Command::Judge { company: "acme".to_owned(), window, verdict }
}

fn dispute(company: &str) -> Command {
    let ground = "The numbers of the claim cannot be found in the artifact.".to_owned();
    Command::FileDispute { company: company.to_owned(), window: W1, ground: ground.into() }
}

fn intent(owner: &str, reviewer: &str) -> Intent {
    Intent {
        objective: "reach the goal and prove it".to_owned(),
        planned_class: ArtifactClass::External,
        declared_posture_exo: 1_000,
        owner: owner.to_owned(),
        reviewer: reviewer.to_owned(),
    }
}

#[test]
fn nobody_takes_part_before_every_step_is_done() {
    let mut stage = Stage::default();
    let team = Team {
        principal: "p".to_owned(),
        engineering_coordinator: "c".to_owned(),
        engineering_owner: "o".to_owned(),
        quality_reviewer: "r".to_owned(),
        stewardship: "s".to_owned(),
    };
    let register = Command::Register { team, canaries: vec!["canary-acme-5d2f".to_owned()] };
    assert_eq!(code(&stage, at(0, 1, 0), of("acme"), register.clone()), Some("round_not_open"));
    stage.step(at(0, 0, 0), operator(), Command::Announce, "announce");
    assert!(stage.step(at(0, 1, 0), of("acme"), register.clone(), "register"));
    assert_eq!(code(&stage, at(0, 1, 0), of("acme"), register.clone()), Some("already_registered"));
    let odd = Actor::Company { company: "Acme Ltd".to_owned(), agent: "a".to_owned() };
    assert_eq!(code(&stage, at(0, 1, 0), odd, register.clone()), Some("bad_id"));
    let as_operator = Actor::Company { company: "evil".to_owned(), agent: "operator:olga".to_owned() };
    assert_eq!(code(&stage, at(0, 1, 0), as_operator, register.clone()), Some("approval_not_for_own_agent"));
    let hold_cap = stage.round.terms().hold_cap;
    let enter = Command::EnterCall { hold_cap };
    assert_eq!(code(&stage, at(0, 1, 1), of("acme"), enter.clone()), Some("not_active"));
    let other = Command::AcknowledgeRules { rules_sha256: Digest::of(b"other rules") };
    assert_eq!(code(&stage, at(0, 1, 1), of("acme"), other), Some("other_rules"));
    let rules = Command::AcknowledgeRules { rules_sha256: stage.round.terms().rules_sha256 };
    assert!(stage.step(at(0, 1, 2), of("acme"), rules.clone(), "acknowledge"));
    assert_eq!(code(&stage, at(0, 1, 2), of("acme"), rules), Some("already_done"));
    let less = Command::EnterCall { hold_cap: Amount::new(1).expect("small") };
    assert_eq!(code(&stage, at(0, 1, 2), of("acme"), less), Some("hold_not_of_the_call"));
    let kickoff = Command::PublishKickoff {
        objective: "a planner for schools".to_owned(),
        profile: "we build tools".to_owned(),
    };
    assert_eq!(code(&stage, at(0, 1, 3), of("acme"), kickoff.clone()), Some("not_active"));
    assert!(stage.step(at(0, 1, 3), of("acme"), enter, "enter"));
    assert_eq!(stage.round.standings(at(1, 0, 0)).len(), 0);
    assert!(stage.step(at(0, 23, 0), of("acme"), kickoff.clone(), "kickoff before Window 1"));
    assert_eq!(stage.round.standings(at(1, 0, 0)).len(), 1);
    assert_eq!(code(&stage, at(1, 0, 0), of("acme"), kickoff), Some("not_the_time"));
    let put = Command::PutIntent { window: W1, intent: intent("ann", "ben") };
    assert_eq!(code(&stage, at(1, 1, 0), of("acme"), put.clone()), Some("approval_missing"));
    for (company, agent, expected) in [
        ("nobody", "persistent_agent:nobody", Some("unknown_company")),
        ("acme", "operator:olga", Some("approval_not_for_own_agent")),
        ("acme", "persistent_agent:bolt", Some("approval_not_for_own_agent")),
        ("acme", "persistent_agent:acme", None),
    ] {
        let approve =
            Command::Approve { company: company.to_owned(), rail: Rail::Boards, agent: agent.to_owned() };
        assert_eq!(code(&stage, at(1, 0, 30), operator(), approve.clone()), expected, "{agent}");
        stage.step(at(1, 0, 30), operator(), approve, "approve");
    }
    assert_eq!(code(&stage, at(1, 1, 0), of("acme"), put), None);
}

#[test]
fn an_intent_is_locked_at_its_cut_off_and_secret_until_then() {
    let (mut stage, _) = ready();
    assert_eq!(stage.round.intent_stub_count(W1), 3);
    assert_eq!(stage.round.public_intents(W1, at(1, 1, 59)).count(), 0);
    assert_eq!(stage.round.public_intents(W1, at(1, 2, 0)).count(), 3);
    let put = |owner: &str| Command::PutIntent { window: Window::W2, intent: intent(owner, "ben") };
    assert_eq!(code(&stage, at(2, 0, 0), of("acme"), put("ben")), Some("owner_reviews_own_work"));
    assert!(stage.step(at(2, 0, 0), of("acme"), put("ann"), "plans"));
    assert!(stage.step(at(2, 1, 59), of("acme"), put("eve"), "plans anew"));
    let stub = stage.round.entrant("acme").expect("there").intent(Window::W2).expect("put").clone();
    assert_eq!((stub.owner.as_str(), stub.revision), ("eve", 2));
    assert_eq!(code(&stage, at(2, 2, 0), of("acme"), put("ann")), Some("not_the_time"));
}

#[test]
fn a_package_binds_what_is_there_and_says_what_is_not() {
    let (mut stage, package) = ready();
    let bolt = stage.publish("bolt", W1, "Wrote the report on tariffs for the pilot site.", false);
    let lacks = |package: &Package| -> Vec<&'static str> {
        let command = Command::Submit(package.clone());
        let events =
            stage.round.decide(&Stamped { at: at(1, 20, 0), by: of("acme"), command }).expect("taken");
        match &events[0].event {
            Event::Submitted { revision, .. } => revision.omissions.iter().map(|lack| lack.name()).collect(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(lacks(&package), Vec::<&str>::new());
    let with = |change: &dyn Fn(&mut Package)| {
        let mut changed = package.clone();
        change(&mut changed);
        changed
    };
    for (change, expected) in [
        (with(&|p| p.intent_stub_ref = "intent:other".to_owned()), vec!["intent_stub_ref_differs"]),
        (with(&|p| p.locker_artifact_ref = "locker:none".to_owned()), vec!["locker_artifact_missing"]),
        (
            with(&|p| p.locker_artifact_ref = bolt.locker_artifact_ref.clone()),
            vec!["artifact_hash_differs", "locker_artifact_not_own", "locker_artifact_not_public"],
        ),
        (with(&|p| p.locker_evidence_ref = "evidence:99".to_owned()), vec!["locker_evidence_missing"]),
        (
            with(&|p| p.locker_evidence_ref = bolt.locker_evidence_ref.clone()),
            vec!["evidence_of_another_artifact", "locker_evidence_not_own"],
        ),
        (with(&|p| p.town_post_ref = "town:99".to_owned()), vec!["town_post_missing"]),
        (
            with(&|p| p.town_post_ref = bolt.town_post_ref.clone()),
            vec!["town_post_not_own", "town_post_does_not_name_the_hash"],
        ),
    ] {
        assert_eq!(lacks(&change), expected);
    }
}

#[test]
fn evidence_earns_what_its_checks_give() {
    for (first_is_complete, last_is_complete, max) in
        [(true, true, 20), (false, true, 10), (false, false, 0), (true, false, 0)]
    {
        let (mut stage, package) = ready();
        let incomplete = Package { town_post_ref: "town:99".to_owned(), ..package.clone() };
        let pick = |complete: bool| if complete { package.clone() } else { incomplete.clone() };
        assert!(stage.submit("acme", pick(first_is_complete), 5));
        let revise = Command::Revise(pick(last_is_complete));
        assert!(stage.step(at(1, 21, 59), of("acme"), revise.clone(), "revises"));
        assert_eq!(code(&stage, at(1, 22, 0), of("acme"), revise), Some("not_the_time"));
        let advice = stage.round.advice("acme", W1).expect("submitted");
        assert_eq!(advice.evidence_max.0, max);
        for evidence in [0, 10, 20] {
            let given = verdict(State::Rejected, parts(0, evidence, 20, 20), &[], "a reason");
            let refused = code(&stage, at(1, 22, 30), evaluator(), judge(W1, given));
            assert_eq!(refused, (evidence > max).then_some("evidence_above_checks"), "{evidence} of {max}");
        }
    }
}

#[test]
fn a_frozen_package_changes_only_by_a_marked_amendment() {
    let mut stage = submitted();
    let frozen = |stage: &Stage| {
        let entrant = stage.round.entrant("acme").expect("there").clone();
        entrant.submission(W1).expect("submitted").clone()
    };
    let before = frozen(&stage);
    let package = before.frozen().package.clone();
    // Whatever a company tries after the cut-off, the package stays what it was.
    for (minute, command) in [
        (0, Command::Revise(package.clone())),
        (1, Command::Submit(package.clone())),
        (2, Command::GrantPublicRead { artifact: package.artifact }),
        (
            3,
            Command::Post {
                kind: PostKind::Progress,
                window: Some(W1),
                body: "more evidence".into(),
                refs: vec![],
                corrects: None,
            },
        ),
        (
            4,
            Command::StoreArtifact {
                bytes: b"late".to_vec(),
                media_type: "text/plain".to_owned(),
                public_read: true,
            },
        ),
        (
            5,
            Command::PutEvidence {
                artifact: package.artifact,
                kind: "log".to_owned(),
                description: "one more log".into(),
            },
        ),
    ] {
        let refused = code(&stage, at(1, 22, minute), of("acme"), command.clone());
        assert!(matches!(refused, Some("not_the_time" | "already_submitted")), "{command:?}: {refused:?}");
    }
    assert!(stage.step(at(1, 22, 10), of("acme"), dispute("acme"), "disputes"));
    let amend = Command::AmendDispute {
        dispute: "dispute:1".to_owned(),
        text: "Marked as an amendment: the log of the second run.".into(),
    };
    assert_eq!(code(&stage, at(1, 22, 20), of("bolt"), amend.clone()), Some("not_own"));
    assert!(stage.step(at(4, 11, 59), of("acme"), amend.clone(), "amends until the end"));
    assert_eq!(code(&stage, at(4, 12, 0), of("acme"), amend), Some("not_the_time"));
    assert_eq!(frozen(&stage), before);
    let amendments = &stage.round.disputes()["dispute:1"].amendments;
    assert_eq!((amendments.len(), amendments[0].at), (1, at(4, 11, 59)));
}

#[test]
fn a_late_package_is_a_fact_and_nothing_more() {
    let (mut stage, package) = ready();
    let submit = Command::Submit(package);
    assert_eq!(code(&stage, at(1, 19, 59), of("acme"), submit.clone()), Some("not_the_time"));
    assert!(stage.step(at(1, 22, 0), of("acme"), submit.clone(), "late"));
    assert_eq!(code(&stage, at(1, 23, 0), of("acme"), submit.clone()), Some("already_submitted"));
    assert_eq!(code(&stage, at(1, 23, 0), evaluator(), judge(W1, good())), Some("late_is_not_judged"));
    let entries = stage.round.entries(W1, at(2, 0, 0));
    assert_eq!((entries.len(), entries[0].company, entries[0].state.name()), (1, "acme", "late"));
    let (stage, package) = ready();
    assert_eq!(code(&stage, at(2, 0, 0), of("acme"), Command::Submit(package)), Some("not_the_time"));
    assert_eq!(stage.round.record("acme", W1, at(1, 23, 59)).expect("there").state().name(), "pending");
    assert_eq!(stage.round.record("acme", W1, at(2, 0, 0)).expect("there").state().name(), "missing");
}

#[test]
fn stakes_and_holds_bound_each_other() {
    let (stage, package) = ready();
    let submit = |stake: u64| {
        let stake = Amount::new(stake).expect("small");
        Command::Submit(Package { stake, ..package.clone() })
    };
    assert_eq!(code(&stage, at(1, 20, 0), of("acme"), submit(999_999)), Some("stake_below_minimum"));
    assert_eq!(code(&stage, at(1, 20, 0), of("acme"), submit(50_000_001)), Some("stake_above_free_hold"));
    assert_eq!(code(&stage, at(1, 20, 0), of("acme"), submit(50_000_000)), None);
    let stage = submitted();
    let revise =
        Command::Revise(Package { stake: Amount::new(2_000_000).expect("small"), ..package.clone() });
    assert_eq!(code(&stage, at(1, 20, 30), of("acme"), revise), Some("stake_cannot_change"));
    let wrong = Package { intent_stub_ref: "x".to_owned(), ..package };
    assert_eq!(code(&stage, at(1, 20, 30), of("bolt"), Command::Revise(wrong)), Some("no_submission"));
}

#[test]
fn judgements_keep_the_rules_of_the_record() {
    let mut stage = submitted();
    let time = at(1, 22, 30);
    for (given, expected) in [
        (good(), None),
        (verdict(State::Accepted, parts(40, 20, 20, 20), &[], "why"), Some("delivery_not_allowed_for_class")),
        (
            verdict(State::Accepted, parts(60, 20, 20, 20), &[Penalty::Duplicate], "why"),
            Some("accepted_cannot_carry_penalties"),
        ),
        (
            verdict(State::OperatorAssisted(Outcome::Accepted), parts(60, 20, 20, 20), &[], "why"),
            Some("operator_assisted_without_intervention"),
        ),
        (verdict(State::Late, parts(0, 0, 0, 0), &[], "why"), Some("not_a_judgement")),
        (verdict(State::Missing, parts(0, 0, 0, 0), &[], "why"), Some("not_a_judgement")),
        (verdict(State::Disputed, parts(0, 0, 0, 0), &[], "why"), Some("not_a_judgement")),
        (verdict(State::Reversed, parts(0, 0, 0, 0), &[], "why"), Some("not_a_judgement")),
        (verdict(State::Accepted, parts(60, 20, 20, 20), &[], ""), Some("form")),
    ] {
        assert_eq!(code(&stage, time, evaluator(), judge(W1, given.clone())), expected, "{given:?}");
    }
    assert_eq!(code(&stage, at(1, 21, 59), evaluator(), judge(W1, good())), Some("not_the_time"));
    assert_eq!(code(&stage, time, operator(), judge(W1, good())), Some("wrong_actor"));
    assert_eq!(code(&stage, time, of("bolt"), judge(W1, good())), Some("wrong_actor"));
    assert_eq!(
        code(&stage, at(3, 9, 0), evaluator(), judge(W1, good())),
        None,
        "pending may be judged later"
    );
    assert!(stage.judge("acme", W1, good()));
    assert_eq!(code(&stage, at(3, 9, 0), evaluator(), judge(W1, good())), Some("not_the_time"));
    let again = verdict(State::Rejected, parts(0, 0, 0, 0), &[], "on a second look");
    assert!(stage.step(at(1, 23, 0), evaluator(), judge(W1, again), "judges anew"));
    let history = stage.round.entrant("acme").expect("there").judgements(W1).to_vec();
    assert_eq!(
        history.iter().map(|judged| judged.record.state().name()).collect::<Vec<_>>(),
        ["accepted", "rejected"]
    );
    assert!(history.iter().all(|judged| stage.round.receipts().contains_key(&judged.receipt)));
}

#[test]
fn spending_above_the_declared_posture_is_shown_to_the_evaluator() {
    for (spent_exo, declared_posture_exo, max) in [(1_000, 1_000, 20), (1_001, 1_000, 10), (1_001, 2_000, 10)]
    {
        let (mut stage, package) = ready();
        assert!(stage.submit("acme", Package { spent_exo, declared_posture_exo, ..package }, 0));
        assert_eq!(stage.round.advice("acme", W1).expect("submitted").budget_max, max, "{spent_exo}");
    }
}

#[test]
fn an_intervention_shows_whether_it_is_declared_or_not() {
    let (mut stage, package) = ready();
    let help = Command::RecordIntervention {
        company: "acme".to_owned(),
        window: W1,
        text: "restarted the build".into(),
    };
    let declared = Package { intervention: Intervention::Disclosed, ..package.clone() };
    assert_eq!(code(&stage, at(1, 20, 0), of("acme"), Command::Submit(declared.clone())), Some("form"));
    let named = Package { receipts: vec!["receipt:1".to_owned()], ..declared };
    assert_eq!(
        code(&stage, at(1, 20, 0), of("acme"), Command::Submit(named.clone())),
        Some("unknown_receipt")
    );
    assert!(stage.step(at(1, 19, 30), operator(), help, "helps"));
    assert_eq!(code(&stage, at(1, 20, 0), of("acme"), Command::Submit(named)), None);
    assert!(stage.submit("acme", package, 0), "and it is not declared");
    assert!(stage.round.advice("acme", W1).expect("there").has_undisclosed_intervention);
    let time = at(1, 22, 30);
    assert_eq!(
        code(&stage, time, evaluator(), judge(W1, good())),
        Some("undisclosed_intervention_on_record")
    );
    let told = [Penalty::UndisclosedIntervention];
    let assisted =
        verdict(State::OperatorAssisted(Outcome::Accepted), parts(60, 20, 20, 20), &told, "helped");
    assert!(stage.judge("acme", W1, assisted));
    let row = stage.round.standings(at(2, 0, 0)).into_iter().find(|row| row.id == "acme").expect("there");
    assert_eq!((row.round.windows[0].window_score, row.round.interventions), (62, 1));
}

#[test]
fn a_repetition_is_accepted_only_with_its_penalty() {
    let mut stage = submitted();
    stage.judge("acme", W1, good());
    let claim = "Published a planner that three schools installed.";
    stage.intend("acme", Window::W2, ArtifactClass::External);
    let again = stage.publish("acme", Window::W2, claim, true);
    let other =
        stage.publish("acme", Window::W2, "Cut the planning time of a school to three minutes.", true);
    let first = stage.round.entrant("acme").expect("there").submission(W1).expect("there").frozen().clone();
    let same_artifact = Package { artifact: first.package.artifact, ..other.clone() };
    for (package, has_effect, expected) in [
        (again.clone(), false, Some("duplicate_needs_penalty")),
        (again, true, Some("duplicate_needs_penalty")),
        (same_artifact.clone(), false, Some("duplicate_needs_penalty")),
        (same_artifact, true, None),
        (other, false, None),
    ] {
        let mut stage = stage.clone();
        assert!(stage.submit("acme", package, 30));
        let effect = has_effect.then(|| "another utility uses it now".to_owned());
        let evidence = stage.round.advice("acme", Window::W2).expect("there").evidence_max.0;
        let components = parts(60, evidence, 20, 20);
        let plain = Verdict {
            external_effect: effect,
            ..verdict(State::AcceptedWithPenalty, components, &[Penalty::ClaimMismatch], "why")
        };
        let command = |verdict| Command::Judge { company: "acme".to_owned(), window: Window::W2, verdict };
        assert_eq!(code(&stage, at(2, 22, 30), evaluator(), command(plain.clone())), expected);
        let penalties: BTreeSet<Penalty> = [Penalty::Duplicate].into();
        let with_penalty = Verdict { penalties, ..plain };
        assert_eq!(code(&stage, at(2, 22, 30), evaluator(), command(with_penalty)), None);
    }
}

#[test]
fn disputes_cost_only_where_they_have_no_ground() {
    for (ruling, status, is_burned) in [
        (Ruling::Dismissed, DisputeStatus::Dismissed, false),
        (Ruling::Baseless, DisputeStatus::Baseless, true),
        (
            Ruling::Upheld(verdict(State::Reversed, parts(60, 20, 20, 20), &[], "it is not there")),
            DisputeStatus::Upheld,
            false,
        ),
    ] {
        let mut stage = submitted();
        stage.judge("acme", W1, good());
        assert!(stage.step(at(1, 22, 40), of("bolt"), dispute("acme"), "disputes"));
        assert_eq!(code(&stage, at(1, 22, 41), of("bolt"), dispute("acme")), Some("dispute_open"));
        assert_eq!(code(&stage, at(1, 22, 41), of("cobalt"), dispute("acme")), None);
        assert_eq!(code(&stage, at(1, 22, 41), of("bolt"), dispute("dune")), Some("no_submission"));
        assert_eq!(code(&stage, at(2, 0, 0), of("cobalt"), dispute("acme")), Some("not_the_time"));
        let record = stage.round.record("acme", W1, at(1, 22, 50)).expect("there");
        assert_eq!(record.state(), State::Disputed);
        let rule = |ruling| Command::RuleDispute {
            dispute: "dispute:1".to_owned(),
            ruling,
            rationale: "looked at it again".to_owned(),
        };
        assert_eq!(code(&stage, at(2, 9, 0), operator(), rule(Ruling::Dismissed)), Some("wrong_actor"));
        assert_eq!(code(&stage, at(4, 12, 0), evaluator(), rule(Ruling::Dismissed)), Some("not_the_time"));
        assert!(stage.step(at(4, 11, 59), evaluator(), rule(ruling.clone()), "rules"));
        assert_eq!(code(&stage, at(4, 11, 59), evaluator(), rule(ruling)), Some("dispute_closed"));
        assert_eq!(stage.round.disputes()["dispute:1"].status, status);
        let burned = stage.round.burned_stakes().units();
        assert_eq!(burned, if is_burned { 500_000 } else { 0 });
        let state = stage.round.record("acme", W1, at(4, 11, 59)).expect("there").state();
        assert_eq!(state, if status == DisputeStatus::Upheld { State::Reversed } else { State::Accepted });
    }
}

#[test]
fn what_nobody_ruled_on_lapses_and_its_awards_wait() {
    let mut stage = submitted();
    stage.judge("acme", W1, good());
    stage.step(at(1, 22, 40), of("bolt"), dispute("acme"), "disputes");
    assert_eq!(code(&stage, at(4, 11, 59), Actor::System, Command::Settle), Some("round_not_over"));
    assert!(stage.step(at(4, 12, 0), Actor::System, Command::Settle, "settles"));
    assert_eq!(stage.round.disputes()["dispute:1"].status, DisputeStatus::Lapsed);
    assert_eq!(stage.round.record("acme", W1, at(4, 12, 0)).expect("there").state(), State::Accepted);
    let held: Vec<(&String, &str)> = stage
        .round
        .awards()
        .iter()
        .filter(|(_, award)| award.status == AwardStatus::Held)
        .map(|(name, award)| (name, award.company.as_str()))
        .collect();
    assert!(held.iter().any(|(_, company)| *company == "acme"), "{held:?}");
    let name = held[0].0.clone();
    let decide =
        |pay| Command::DecideAward { award: name.clone(), pay, reason: "nobody was in doubt".to_owned() };
    assert_eq!(code(&stage, at(5, 0, 0), evaluator(), decide(true)), Some("wrong_actor"));
    assert!(stage.step(at(5, 0, 0), operator(), decide(true), "pays"));
    assert_eq!(code(&stage, at(5, 0, 0), operator(), decide(false)), Some("already_done"));
    assert_eq!(stage.round.ledger().sum(&stage.round.terms().asset), 0);
}

#[test]
fn what_is_pending_blocks_the_end_until_an_admin_decides() {
    let mut stage = submitted();
    assert_eq!(code(&stage, at(4, 12, 0), Actor::System, Command::Settle), Some("pending_blocks_final"));
    assert_eq!(code(&stage, at(4, 12, 0), evaluator(), judge(W1, good())), Some("not_the_time"));
    assert!(stage.step(at(4, 13, 0), operator(), judge(W1, good()), "an admin decides"));
    assert_eq!(stage.round.receipts().len(), 1);
    assert!(stage.step(at(4, 13, 0), Actor::System, Command::Settle, "settles"));
    assert_eq!(code(&stage, at(4, 14, 0), Actor::System, Command::Settle), Some("round_not_open"));
}

#[test]
fn locked_stakes_come_back_after_thirty_days() {
    let policy = Terms { stake_policy: StakePolicy::Lock, ..terms() };
    let mut stage = Stage::new(policy);
    stage.enter_all();
    stage.intend("acme", W1, ArtifactClass::External);
    let package = stage.publish("acme", W1, "Published a planner that three schools installed.", true);
    stage.submit("acme", package, 0);
    stage.judge("acme", W1, verdict(State::Rejected, parts(0, 0, 0, 0), &[], "not there"));
    assert!(stage.step(at(4, 12, 0), Actor::System, Command::Settle, "settles"));
    let available = |stage: &Stage| stage.round.purse("acme").expect("there").available.units();
    let before = available(&stage);
    assert_eq!(code(&stage, at(34, 11, 59), Actor::System, Command::ReleaseLocked), Some("round_not_over"));
    assert!(stage.step(at(34, 12, 0), Actor::System, Command::ReleaseLocked, "releases"));
    assert_eq!(available(&stage), before + 1_000_000);
}

#[test]
fn a_reversal_is_for_accepted_windows_and_until_the_end() {
    let mut stage = submitted();
    let invalidate = Command::Invalidate {
        company: "acme".to_owned(),
        window: W1,
        penalties: [Penalty::DisclosureViolation].into(),
        rationale: "a customer's data was in it".to_owned(),
    };
    assert_eq!(code(&stage, at(2, 0, 0), operator(), invalidate.clone()), Some("not_accepted"));
    stage.judge("acme", W1, good());
    assert_eq!(code(&stage, at(2, 0, 0), evaluator(), invalidate.clone()), Some("wrong_actor"));
    assert_eq!(code(&stage, at(4, 12, 0), operator(), invalidate.clone()), Some("not_the_time"));
    assert!(stage.step(at(4, 11, 59), operator(), invalidate.clone(), "reverses"));
    assert_eq!(code(&stage, at(4, 11, 59), operator(), invalidate), Some("not_accepted"));
    let row = stage.round.standings(at(4, 11, 59)).into_iter().find(|row| row.id == "acme").expect("there");
    assert_eq!(row.round.windows[0].window_score, -45);
}

#[test]
fn cancelling_gives_everything_back() {
    let mut stage = submitted();
    stage.step(at(1, 22, 40), of("bolt"), dispute("acme"), "disputes");
    let cancel = Command::Cancel { reason: "the evaluators are ill".to_owned() };
    assert!(stage.step(at(2, 0, 0), operator(), cancel, "cancels"));
    for company in ["acme", "bolt", "cobalt", "dune"] {
        assert_eq!(stage.round.purse(company).expect("there").available.units(), 200_000_000, "{company}");
    }
    assert_eq!(code(&stage, at(2, 0, 0), Actor::System, Command::Settle), Some("round_not_open"));
}

#[test]
fn time_does_not_go_back_and_terms_are_checked() {
    let stage = submitted();
    assert_eq!(code(&stage, at(1, 20, 4), evaluator(), judge(W1, good())), Some("time_goes_back"));
    let announce = |terms: Terms| code(&Stage::new(terms), at(0, 0, 0), operator(), Command::Announce);
    assert_eq!(announce(terms()), None);
    assert_eq!(announce(Terms { start: at(0, 0, 1), ..terms() }), Some("start_not_at_midnight"));
    assert_eq!(announce(Terms { id: "a b".to_owned(), ..terms() }), Some("bad_id"));
    assert_eq!(announce(Terms { entrants_max: 501, ..terms() }), Some("too_many"));
    assert_eq!(announce(Terms { base_budget: Amount::ZERO, ..terms() }), Some("hold_above_budget"));
    assert_eq!(announce(Terms { base_budget: Amount::MAX, ..terms() }), Some("too_much_money"));
}

#[test]
fn who_leaves_is_not_ranked() {
    let mut stage = submitted();
    assert!(stage.step(at(1, 21, 0), of("acme"), Command::Withdraw, "leaves"));
    assert_eq!(code(&stage, at(1, 21, 0), of("acme"), Command::Withdraw), Some("round_not_open"));
    let out = Command::Disqualify { company: "bolt".to_owned(), reason: "two agents of one".to_owned() };
    assert!(stage.step(at(1, 21, 0), operator(), out, "has to leave"));
    let ranked: Vec<String> = stage.round.standings(at(1, 21, 0)).into_iter().map(|row| row.id).collect();
    assert_eq!(ranked, ["cobalt", "dune"]);
    assert!(stage.step(at(4, 12, 0), Actor::System, Command::Settle, "its pending window blocks nothing"));
}

/// A key that no other scanner should find in this file.
fn made_up_key() -> String {
    ["g", "hp_", "R4t8Ym2Kq9Vw3Zx7", "Lc5Nb6Hd1Jf0PsTe", "Ua42"].concat()
}

/// A text that is fine but for the key in it.
fn text() -> String {
    format!("a text that is long enough to be taken {}", made_up_key())
}

/// It is refused, and what was found is not told.
#[track_caller]
fn assert_leaks(stage: &Stage, at: arena_contests::Moment, by: Actor, command: Command) {
    let refused = stage.round.decide(&Stamped { at, by, command: command.clone() });
    let Err(Refusal::ForbiddenDisclosure(findings)) = refused else { panic!("{command:?}: {refused:?}") };
    let told = format!("{findings:?}");
    assert!(!told.contains(&made_up_key()[4..]) && !told.contains("5d2f"), "{told}");
}

#[test]
fn a_leak_is_refused_in_every_text() {
    let (stage, package) = ready();
    let key = made_up_key();
    let post = |body: String, refs: Vec<String>| Command::Post {
        kind: PostKind::Progress,
        window: Some(W1),
        body: body.into(),
        refs,
        corrects: None,
    };
    let plain = "a text that is long enough to be taken".to_owned();
    let store = |bytes: &[u8], media_type: &str| Command::StoreArtifact {
        bytes: bytes.to_vec(),
        media_type: media_type.to_owned(),
        public_read: false,
    };
    let evidence = |kind: &str, description: &str| Command::PutEvidence {
        artifact: package.artifact,
        kind: kind.to_owned(),
        description: description.into(),
    };
    let plan = |change: &dyn Fn(&mut Intent)| {
        let mut changed = intent("ann", "ben");
        change(&mut changed);
        Command::PutIntent { window: Window::W2, intent: changed }
    };
    let acme = || of("acme");
    for (time, by, command) in [
        (at(1, 19, 0), acme(), post(text(), vec![])),
        (at(1, 19, 0), acme(), post(plain.clone(), vec![key.clone()])),
        (at(1, 19, 0), acme(), store(text().as_bytes(), "text/plain")),
        (at(1, 19, 0), acme(), store(b"x", &key)),
        (at(1, 19, 0), acme(), evidence(&key, "why")),
        (at(1, 19, 0), acme(), evidence("log", &text())),
        (at(2, 1, 0), acme(), plan(&|intent| intent.objective = text())),
        (at(2, 1, 0), acme(), plan(&|intent| intent.owner = key.clone())),
        (at(2, 1, 0), acme(), plan(&|intent| intent.reviewer = key.clone())),
        (
            at(1, 20, 0),
            operator(),
            Command::RecordIntervention { company: "acme".to_owned(), window: W1, text: text().into() },
        ),
        (at(1, 20, 0), operator(), Command::Cancel { reason: text() }),
        (at(1, 20, 0), operator(), Command::Disqualify { company: "acme".to_owned(), reason: text() }),
        (
            at(1, 20, 0),
            operator(),
            Command::Hide { target: Target::Artifact(package.artifact), reason: text() },
        ),
    ] {
        assert_leaks(&stage, time, by, command);
    }
}

#[test]
fn a_leak_is_refused_in_every_field_of_a_package() {
    let (stage, package) = ready();
    let key = made_up_key();
    let submit = |change: &dyn Fn(&mut Package)| {
        let mut changed = package.clone();
        change(&mut changed);
        Command::Submit(changed)
    };
    for command in [
        submit(&|p| p.claim_summary = text()),
        submit(&|p| p.verification_summary = text()),
        submit(&|p| p.budget_note = text()),
        submit(&|p| p.intent_stub_ref = key.clone()),
        submit(&|p| p.locker_artifact_ref = key.clone()),
        submit(&|p| p.locker_evidence_ref = key.clone()),
        submit(&|p| p.town_post_ref = key.clone()),
        submit(&|p| p.claim_summary = "The canary is canary-bolt-5d2f, as agreed.".to_owned()),
        submit(&|p| p.claim_summary = "The canary is canary-\u{200b}acme-5d2f.".to_owned()),
    ] {
        assert_leaks(&stage, at(1, 20, 0), of("acme"), command);
    }
}

#[test]
fn a_leak_is_refused_in_every_judgement() {
    let plain = "a text that is long enough to be taken".to_owned();
    let stage = submitted();
    let mut disputed = stage.clone();
    disputed.step(at(1, 22, 0), of("bolt"), dispute("acme"), "disputes");
    let amend = Command::AmendDispute { dispute: "dispute:1".to_owned(), text: text().into() };
    let rule =
        |ruling, rationale| Command::RuleDispute { dispute: "dispute:1".to_owned(), ruling, rationale };
    let leaking = Verdict { rationale: text(), ..good() };
    let file = Command::FileDispute { company: "acme".to_owned(), window: W1, ground: text().into() };
    for (by, command) in [
        (of("bolt"), amend),
        (of("cobalt"), file),
        (evaluator(), rule(Ruling::Dismissed, text())),
        (evaluator(), rule(Ruling::Upheld(leaking.clone()), plain)),
        (evaluator(), judge(W1, leaking)),
        (evaluator(), judge(W1, Verdict { external_effect: Some(text()), ..good() })),
    ] {
        assert_eq!(
            code(&disputed, at(1, 22, 30), by, command.clone()),
            Some("forbidden_disclosure"),
            "{command:?}"
        );
    }
}

#[test]
fn what_was_hidden_keeps_its_digest() {
    let mut stage = submitted();
    let package =
        stage.round.entrant("acme").expect("there").submission(W1).expect("there").frozen().package.clone();
    let post = stage.round.town().post(&package.town_post_ref).expect("posted").clone();
    let hide =
        Command::Hide { target: Target::Post(package.town_post_ref.clone()), reason: "a name".to_owned() };
    assert!(stage.step(at(1, 21, 0), evaluator(), hide.clone(), "hides"));
    assert_eq!(code(&stage, at(1, 21, 0), evaluator(), hide), Some("already_done"));
    let hidden = stage.round.town().post(&package.town_post_ref).expect("still there");
    assert_eq!((&hidden.body, hidden.body_sha256), (&None, post.body_sha256));
    let missing = Command::Hide { target: Target::Post("town:99".to_owned()), reason: "a name".to_owned() };
    assert_eq!(code(&stage, at(1, 21, 0), evaluator(), missing), Some("unknown_reference"));
}
