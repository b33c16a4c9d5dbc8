//! The observation as turns and notices go by.

use super::*;
use crate::campus::testing;
use crate::campus::{ActionField, Clamp, ClampReason};

const ORDER: wire::EventKind = wire::EventKind::CurtailmentOrder(30.0);
const APPEAL: wire::EventKind = wire::EventKind::ConservationAppeal(500.0);

fn observation(turns: u32) -> Observation {
    Observation::before_play(Brief { turns, ..testing::brief() })
}

fn visible(index: u32, kind: wire::EventKind, start_turn: u32, end_turn: u32) -> Notice {
    Notice::Visible(wire::Event { index, id: format!("event-{index}"), kind, start_turn, end_turn })
}

fn record(turn: u32) -> wire::Observation {
    wire::Observation {
        turn,
        price_usd_per_mwh: 10.0,
        forecast_one_usd_per_mwh: 11.0,
        forecast_two_usd_per_mwh: 12.0,
        forecast_three_usd_per_mwh: 13.0,
        system_status: SystemStatus::Normal,
        forecast_one_status: SystemStatus::Watch,
        forecast_two_status: SystemStatus::Emergency,
        forecast_three_status: SystemStatus::Watch,
        it_demand_mw: 100.0,
        soc_mwh: 20.0,
        permit_hours_remaining: 4.0,
        cost_usd: 1.0,
        shed_mwh: 2.0,
        relief_delivered_mwh: 3.0,
        relief_asked_mwh: 4.0,
    }
}

/// What the strategy sees on `turn`, as one line an event.
fn see(seen: &mut Observation, turn: u32, notices: impl IntoIterator<Item = Notice>) -> Vec<String> {
    seen.end_turn();
    notices.into_iter().for_each(|notice| seen.hear(notice));
    seen.begin_turn(&record(turn));
    let line = |event: &Event| {
        let accepted = matches!(event.kind, EventKind::ConservationAppeal { accepted: true, .. });
        let words = [(event.active, " active"), (accepted, " accepted")];
        words.iter().filter(|(holds, _)| *holds).fold(event.id.clone(), |line, (_, word)| line + word)
    };
    seen.events.iter().map(line).collect()
}

#[test]
fn an_event_is_announced_starts_and_ends() {
    let mut seen = observation(24);
    assert_eq!(see(&mut seen, 0, []), [""; 0]);
    assert_eq!(see(&mut seen, 1, [visible(0, ORDER, 3, 5)]), ["event-0"]);
    assert_eq!((seen.order_mw(), seen.order_mw_on(3), seen.order_mw_on(5)), (0.0, 30.0, 0.0));
    assert_eq!(see(&mut seen, 2, []), ["event-0"]);
    assert_eq!(see(&mut seen, 3, [Notice::Started(0)]), ["event-0 active"]);
    assert_eq!(seen.order_mw(), 30.0);
    assert_eq!(see(&mut seen, 4, []), ["event-0 active"]);
    assert_eq!(see(&mut seen, 5, [Notice::Ended(0)]), [""; 0]);
    assert_eq!(seen.order_mw(), 0.0);
}

#[test]
fn an_event_may_become_visible_and_start_on_one_turn() {
    let mut seen = observation(24);
    assert_eq!(see(&mut seen, 4, [visible(2, ORDER, 4, 9), Notice::Started(2)]), ["event-2 active"]);
}

#[test]
fn an_event_without_length_is_announced_and_over() {
    let mut seen = observation(24);
    assert_eq!(see(&mut seen, 2, [visible(0, ORDER, 4, 4)]), ["event-0"]);
    assert_eq!(see(&mut seen, 4, [Notice::Ended(0)]), [""; 0]);
}

#[test]
fn events_stand_in_the_packs_order_whenever_they_are_told() {
    let mut seen = observation(24);
    assert_eq!(see(&mut seen, 0, [visible(1, ORDER, 2, 9)]), ["event-1"]);
    assert_eq!(
        see(&mut seen, 1, [visible(0, ORDER, 5, 9), visible(2, APPEAL, 1, 3), Notice::Started(2)]),
        ["event-0", "event-1", "event-2 active"]
    );
    assert_eq!(see(&mut seen, 3, [Notice::Ended(2), Notice::Started(1)]), ["event-0", "event-1 active"]);
}

#[test]
fn an_acceptance_belongs_to_the_appeal_until_it_ends() {
    let mut seen = observation(24);
    see(&mut seen, 0, [visible(0, APPEAL, 0, 3), Notice::Started(0)]);
    assert!(seen.has_offer());
    assert_eq!(see(&mut seen, 1, [Notice::Accepted(0)]), ["event-0 active accepted"]);
    assert_eq!(see(&mut seen, 2, []), ["event-0 active accepted"]);
    assert_eq!(see(&mut seen, 3, [Notice::Ended(0)]), [""; 0]);
    assert!(!seen.has_offer());
}

#[test]
fn notices_about_what_is_not_visible_change_nothing() {
    let mut seen = observation(24);
    see(&mut seen, 0, [visible(0, APPEAL, 0, 1), Notice::Started(0)]);
    assert_eq!(see(&mut seen, 1, [Notice::Ended(0), Notice::Accepted(0)]), [""; 0]);
    assert_eq!(see(&mut seen, 2, [Notice::Started(7), Notice::Ended(7)]), [""; 0]);
}

#[test]
fn an_order_cannot_be_accepted() {
    let mut seen = observation(24);
    assert_eq!(
        see(&mut seen, 0, [visible(0, ORDER, 0, 9), Notice::Started(0), Notice::Accepted(0)]),
        ["event-0 active"]
    );
}

#[test]
fn the_forecast_ends_with_the_episode() {
    let mut seen = observation(6);
    let mut told = |turn| {
        see(&mut seen, turn, []);
        seen.forecast.iter().map(|ahead| (ahead.turn, ahead.price_usd_per_mwh)).collect::<Vec<_>>()
    };
    assert_eq!(told(0), [(1, 11.0), (2, 12.0), (3, 13.0)]);
    assert_eq!(told(2), [(3, 11.0), (4, 12.0), (5, 13.0)]);
    assert_eq!(told(3), [(4, 11.0), (5, 12.0)]);
    assert_eq!(told(4), [(5, 11.0)]);
    assert_eq!(told(5), []);
}

#[test]
fn the_record_is_taken_over_whole() {
    let mut seen = observation(24);
    see(&mut seen, 7, []);
    assert_eq!((seen.turn, seen.price_usd_per_mwh, seen.system_status), (7, 10.0, SystemStatus::Normal));
    assert_eq!(seen.site, Site { it_demand_mw: 100.0, soc_mwh: 20.0, permit_hours_remaining: 4.0 });
    let ledger = Ledger { cost_usd: 1.0, shed_mwh: 2.0, relief_delivered_mwh: 3.0, relief_asked_mwh: 4.0 };
    assert_eq!(seen.ledger, ledger);
    let statuses: Vec<_> = seen.forecast.iter().map(|ahead| ahead.system_status).collect();
    assert_eq!(statuses, [SystemStatus::Watch, SystemStatus::Emergency, SystemStatus::Watch]);
}

#[test]
fn clamps_are_those_of_the_last_action() {
    let clamp = |applied, reason| Clamp { field: ActionField::BatteryMw, requested: 50.0, applied, reason };
    let (power, empty) = (clamp(20.0, ClampReason::PowerLimit), clamp(5.0, ClampReason::SocEmpty));
    let mut seen = observation(24);
    see(&mut seen, 1, [Notice::Clamped(power), Notice::Clamped(empty)]);
    assert_eq!(seen.clamps, [power, empty]);
    see(&mut seen, 2, []);
    assert_eq!(seen.clamps, []);
}
