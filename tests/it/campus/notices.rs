//! What a competitor is told has changed, turn by turn: the order of it, and the odd events.

use arena_canon::json::Value;
use arena_engine::campus::{Action, Episode, Notice, Pack};
use serde_json::json;

use super::pack_faults::{good, put};

/// `appeal 1..3`, `order 2..5 noticed 4`: an event by its kind, its span and its notice.
fn event(index: usize, line: &str) -> Value {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (start, end) = words[1].split_once("..").expect("a span");
    let turn = |text: &str| text.parse::<u32>().expect("a turn");
    let mut event = json!({ "id": format!("e{index}"), "start_turn": turn(start), "end_turn": turn(end) });
    let (kind, amount) = match words[0] {
        "appeal" => ("conservation_appeal", "credit_usd_per_mwh"),
        "order" => ("curtailment_order", "requested_mw"),
        other => panic!("no event is a {other}"),
    };
    event["kind"] = json!(kind);
    event[amount] = json!(10.0);
    if let ["noticed", notice] = words[2..] {
        event["notice_turn"] = json!(turn(notice));
    }
    event
}

/// Plays six turns of 80 MW with those events, saying yes on the turns in `accept` and asking for
/// 100 MW of curtailment on the turns in `beyond`; compares what is told on each turn.
#[track_caller]
fn check(events: &[&str], accept: &[u32], beyond: &[u32], expected: &[&str]) {
    let mut document = good();
    put(&mut document, "/time/turns", Some(json!(6)));
    put(&mut document, "/site/it_demand_mw", Some(vec![80.0; 6].into()));
    put(&mut document, "/grid/price_usd_per_mwh", Some(vec![40.0; 6].into()));
    put(&mut document, "/grid/system_status", Some(vec!["normal"; 6].into()));
    put(&mut document, "/grid/price_slope_usd_per_mwh_per_mw", None);
    let events: Vec<Value> = events.iter().enumerate().map(|(i, line)| event(i, line)).collect();
    put(&mut document, "/events", Some(json!(events)));
    let pack = Pack::from_value(&document).unwrap_or_else(|faults| panic!("{faults}"));
    let mut episode = Episode::new(pack);
    let mut told = Vec::new();
    while let Some(seen) = episode.observe() {
        let turn = seen.turn();
        let notices: Vec<String> = seen.notices().map(|notice| words(&notice)).collect();
        if !notices.is_empty() {
            told.push(format!("{turn}: {}", notices.join(", ")));
        }
        let curtail_mw = if beyond.contains(&turn) { 100.0 } else { 0.0 };
        episode.commit(Action { curtail_mw, accept_offer: accept.contains(&turn), ..Action::EMPTY });
    }
    assert_eq!(told, expected, "{document:#}");
}

fn words(notice: &Notice<'_>) -> String {
    match notice {
        Notice::Ended(index) => format!("ended {index}"),
        Notice::Visible(index, event) => {
            assert_eq!(event.id, format!("e{index}"));
            format!("visible {index}")
        }
        Notice::Started(index) => format!("started {index}"),
        Notice::Accepted(index) => format!("accepted {index}"),
        Notice::Clamped(clamp) => format!("clamped {}", clamp.reason.name()),
    }
}

#[test]
fn an_event_is_seen_then_starts_then_ends() {
    check(&["order 2..4 noticed 1"], &[], &[], &["1: visible 0", "2: started 0", "4: ended 0"]);
    check(&["order 2..4"], &[], &[], &["2: visible 0, started 0", "4: ended 0"]);
    check(&["order 0..1"], &[], &[], &["0: visible 0, started 0", "1: ended 0"]);
    check(&["order 0..6"], &[], &[], &["0: visible 0, started 0"]);
    check(&["order 5..900 noticed 0"], &[], &[], &["0: visible 0", "5: started 0"]);
    check(&["order 6..9 noticed 5"], &[], &[], &["5: visible 0"]);
    check(&["order 6..9"], &[], &[], &[]);
    check(&[], &[], &[], &[]);
}

#[test]
fn an_event_without_length_never_starts() {
    check(&["order 2..2"], &[], &[], &[]);
    check(&["order 2..2 noticed 2"], &[], &[], &[]);
    check(&["order 2..2 noticed 1"], &[], &[], &["1: visible 0", "2: ended 0"]);
    check(&["order 0..0"], &[], &[], &[]);
}

#[test]
fn a_late_notice_tells_what_is_under_way() {
    check(&["order 1..4 noticed 2"], &[], &[], &["2: visible 0, started 0", "4: ended 0"]);
    check(&["order 1..4 noticed 3"], &[], &[], &["3: visible 0, started 0", "4: ended 0"]);
    check(&["order 1..4 noticed 4"], &[], &[], &[]);
    check(&["order 1..4 noticed 5"], &[], &[], &[]);
}

#[test]
fn an_acceptance_is_told_once_on_the_next_turn() {
    check(&["appeal 1..4"], &[1, 2, 3], &[], &["1: visible 0, started 0", "2: accepted 0", "4: ended 0"]);
    check(&["appeal 1..4"], &[2], &[], &["1: visible 0, started 0", "3: accepted 0", "4: ended 0"]);
    // Accepted on its last turn: it is over when that is told.
    check(&["appeal 1..4"], &[3], &[], &["1: visible 0, started 0", "4: ended 0, accepted 0"]);
    check(&["appeal 4..6"], &[5], &[], &["4: visible 0, started 0"]);
    // Active and not yet seen: an offer is taken by its span, not by its notice.
    check(&["appeal 1..4 noticed 3"], &[1], &[], &["2: accepted 0", "3: visible 0, started 0", "4: ended 0"]);
    check(
        &["order 1..4", "appeal 2..3 noticed 1"],
        &[0, 1],
        &[],
        &[
            "1: visible 0, visible 1, started 0, clamped no_active_offer",
            "2: started 1, clamped no_active_offer",
            "3: ended 1",
            "4: ended 0",
        ],
    );
}

#[test]
fn ended_comes_first_and_clamps_last_each_in_the_order_of_the_pack() {
    check(
        &["appeal 0..2", "order 2..4 noticed 2", "appeal 0..2", "order 2..3 noticed 1", "appeal 1..5"],
        &[1],
        &[1],
        &[
            "0: visible 0, visible 2, started 0, started 2",
            "1: visible 3, visible 4, started 4",
            "2: ended 0, ended 2, visible 1, started 1, started 3, accepted 0, accepted 2, accepted 4, clamped it_demand",
            "3: ended 3",
            "4: ended 1",
            "5: ended 4",
        ],
    );
}

#[test]
fn clamps_are_told_once_in_the_order_of_the_limits() {
    check(&[], &[0], &[0, 3], &["1: clamped it_demand, clamped no_active_offer", "4: clamped it_demand"]);
}
