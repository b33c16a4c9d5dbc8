use super::*;

const MANIFEST: &[u8] = include_bytes!("../../../../../tests/vectors/contest/manifest.json");

/// One of every command; a new one does not compile until it is here.
fn every_command() -> Vec<Command> {
    let text = || "some text".to_owned();
    let points = BTreeMap::from([(Digest::of(b"a"), -3), (Digest::of(b"b"), i64::MAX)]);
    let all = vec![
        Command::Propose(Box::new(Manifest::read(MANIFEST).unwrap())),
        Command::Activate { contest: text() },
        Command::CloseSubmissions { contest: text() },
        Command::Close { contest: text(), reason: text() },
        Command::Cancel { contest: text(), reason: text() },
        Command::RegisterClause { contest: text(), rule_id: text(), text: text() },
        Command::Submit { contest: text(), body: json!({ "title": "t", "body": "b", "metadata": {} }) },
        Command::Withdraw { submission: text() },
        Command::Decide { submission: text(), to: SubmissionStatus::Merged, reason: text() },
        Command::FileChallenge {
            submission: text(),
            kind: ChallengeKind::Logic,
            target: text(),
            text: text(),
        },
        Command::RuleChallenge { challenge: text(), upheld: true, reason: text() },
        Command::CastVote { submission: text(), is_for: false },
        Command::Score { submission: text(), tenths: 73, reason: text() },
        Command::RecordScorecard { contest: text(), scorecard: Scorecard::Completed(points) },
        Command::RecordScorecard { contest: text(), scorecard: Scorecard::Blocked },
        Command::PromiseReward {
            submission: text(),
            kind: text(),
            expires_at: Some(Moment::from_unix_ms(1_786_000_000_001)),
        },
        Command::AdvanceReward { reward: text(), to: RewardStatus::Approved, reason: text() },
    ];
    for command in &all {
        match command {
            Command::Propose(_)
            | Command::Activate { .. }
            | Command::CloseSubmissions { .. }
            | Command::Close { .. }
            | Command::Cancel { .. }
            | Command::RegisterClause { .. }
            | Command::Submit { .. }
            | Command::Withdraw { .. }
            | Command::Decide { .. }
            | Command::FileChallenge { .. }
            | Command::RuleChallenge { .. }
            | Command::CastVote { .. }
            | Command::Score { .. }
            | Command::RecordScorecard { .. }
            | Command::PromiseReward { .. }
            | Command::AdvanceReward { .. } => {}
        }
    }
    all
}

fn every_actor() -> [Actor; 4] {
    [
        Actor::Agent { id: "bees".to_owned(), operator: "hive".to_owned(), reputation: 12 },
        Actor::Admin("root".to_owned()),
        Actor::Staff { name: "lex".to_owned(), role: Role::ALL[0] },
        Actor::System,
    ]
}

#[test]
fn every_command_of_every_actor_reads_back_as_it_was_written() {
    for command in every_command() {
        for by in every_actor() {
            let stamped =
                Stamped { at: Moment::from_unix_ms(1_785_000_000_000), by, command: command.clone() };
            let line = write(&stamped);
            assert_eq!(read(&line).as_ref(), Ok(&stamped), "{line}");
        }
    }
}

#[test]
fn the_table_has_every_command_with_its_members_and_no_other() {
    let mut told: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    told.sort_unstable();
    let mut names: Vec<&str> = every_command().iter().map(|command| super::written(command).0).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(told, names);
    for command in every_command() {
        let (name, with) = super::written(&command);
        let (_, members) = COMMANDS.iter().find(|(known, _)| *known == name).unwrap();
        let mut members = members.to_vec();
        members.sort_unstable();
        let with: Vec<&str> = with.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(with, members, "{name}");
    }
}

#[test]
fn a_member_too_many_or_too_few_is_told_with_its_place() {
    for command in every_command() {
        let stamped = Stamped { at: Moment::from_unix_ms(0), by: Actor::System, command };
        let mut line = write(&stamped);
        line["with"]["more"] = json!(1);
        let faults = read(&line).unwrap_err();
        assert!(faults.0.iter().any(|fault| fault.pointer.as_str() == "/with/more"), "{line}: {faults}");
        let with = line["with"].as_object_mut().unwrap();
        with.remove("more");
        // What may be absent is not missed.
        for optional in ["expires_at", "points"] {
            with.remove(optional);
        }
        let Some(first) = with.keys().next().cloned() else { continue };
        with.remove(&first);
        let faults = read(&line).unwrap_err();
        let place = format!("/with/{first}");
        assert!(faults.0.iter().any(|fault| fault.pointer.as_str() == place), "{line}: {faults}");
    }
}
