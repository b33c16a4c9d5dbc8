//! Every boundary of the timetable, a millisecond to either side, in any offset.

use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::clock::{Action, Answer, Phase, Slot, Timetable, TimetableError};
use arena_contests::sprint::wire;
use serde_json::json;

const START: &str = "2026-07-09T00:00:00Z";

fn start() -> Moment {
    START.parse().expect("a moment")
}

/// `moment` as a clock at `minutes` east of Greenwich shows it.
fn shown(moment: Moment, minutes: i64) -> String {
    let there = moment.plus_seconds(minutes * 60).to_string();
    let (sign, minutes) = if minutes < 0 { ('-', -minutes) } else { ('+', minutes) };
    format!("{}{sign}{:02}:{:02}", there.trim_end_matches('Z'), minutes / 60, minutes % 60)
}

#[test]
fn a_start_belongs_to_its_phase_and_an_end_does_not() {
    let table = Timetable::sprint_v1();
    let mut before = (Phase::BeforeRound, None);
    for slot in table.slots() {
        let from = start().plus_seconds(slot.from_s);
        let within = (slot.phase, slot.window);
        for (moment, expected) in [(from.plus_ms(-1), before), (from, within), (from.plus_ms(1), within)] {
            assert_eq!(table.at(start(), moment), expected, "{moment}");
            for minutes in [-720, -570, -1, 0, 120, 345, 840] {
                let asked = json!({ "round_start": shown(start(), -minutes), "now": shown(moment, minutes) });
                let expected = json!({ "phase": expected.0, "window": expected.1 });
                assert_eq!(wire::phase(&asked).expect("read"), expected, "{asked}");
            }
        }
        before = within;
    }
    let end = table.end(start());
    assert_eq!(end.to_string(), "2026-07-13T12:00:00Z");
    assert_eq!(table.at(start(), end.plus_ms(-1)).0, Phase::Closeout);
    assert_eq!(table.at(start(), end).0, Phase::Final);
}

#[test]
fn a_nanosecond_decides() {
    let table = Timetable::sprint_v1();
    let cut = |text: &str| table.at(start(), text.parse().expect("a moment")).0;
    assert_eq!(cut("2026-07-10T21:59:59.999999999Z"), Phase::Submission);
    assert_eq!(cut("2026-07-10T22:00:00.000000000Z"), Phase::Evaluation);
}

#[test]
fn the_table_of_actions_is_what_it_is() {
    let expected = [
        (Action::Register, "registration"),
        (Action::AckRules, "registration"),
        (Action::EnterCall, "registration"),
        (Action::PublishKickoff, "registration pre_window"),
        (Action::PutIntent, "intent"),
        (Action::PutLocker, "intent execution submission"),
        (Action::PostTown, "registration pre_window intent execution submission closeout"),
        (Action::Submit, "submission"),
        (Action::ReviseSubmission, "submission"),
        (Action::FileDispute, "evaluation"),
        (Action::AmendDispute, "evaluation"),
        (Action::Judge, "evaluation"),
        (Action::Recap, "closeout"),
        (Action::Postmortem, "final"),
    ];
    assert_eq!(expected.map(|(action, _)| action), Action::ALL);
    for (action, phases) in expected {
        let ok = Phase::ALL.iter().filter(|phase| action.during(**phase) == Answer::Ok);
        assert_eq!(ok.map(|phase| phase.name()).collect::<Vec<_>>().join(" "), phases, "{action}");
        for phase in Phase::ALL {
            let late = action.during(*phase) == Answer::Late;
            assert_eq!(late, action == Action::Submit && *phase == Phase::Evaluation);
        }
    }
}

#[test]
fn an_action_for_a_window_is_refused_on_another_day() {
    let table = Timetable::sprint_v1();
    for slot in table.slots() {
        let now = start().plus_seconds(slot.from_s);
        for action in Action::ALL {
            for window in Window::ALL {
                let answer = table.permits(start(), now, *action, Some(*window));
                let its_day = slot.window == Some(*window);
                let unnamed = table.permits(start(), now, *action, None);
                assert_eq!(
                    answer,
                    if its_day { unnamed } else { Answer::Refused },
                    "{action} {window} {now}"
                );
            }
        }
    }
}

#[test]
fn a_timetable_has_no_gap_and_no_empty_interval() {
    let slot = |from_s, to_s| Slot { phase: Phase::Closeout, window: None, from_s, to_s };
    assert_eq!(Timetable::new(vec![]), Err(TimetableError::Empty));
    assert!(matches!(Timetable::new(vec![slot(0, 0)]), Err(TimetableError::Backwards { index: 0, .. })));
    for wrong in [vec![slot(1, 2)], vec![slot(0, 1), slot(2, 3)], vec![slot(0, 2), slot(1, 3)]] {
        assert!(matches!(Timetable::new(wrong), Err(TimetableError::NotContiguous { .. })));
    }
    let without = Slot { phase: Phase::Intent, ..slot(0, 1) };
    assert!(matches!(Timetable::new(vec![without]), Err(TimetableError::Misplaced { .. })));
    let v1 = Timetable::sprint_v1();
    assert_eq!(Timetable::new(v1.slots().to_vec()).as_ref(), Ok(&v1));
}
