//! The three calls of a host, natively.

use super::*;
use crate::campus::{SystemStatus, testing};
use crate::log;

struct Diarist {
    turns_played: u32,
}

impl Strategy for Diarist {
    fn brief(brief: &Brief) -> Self {
        crate::info!("{} turns", brief.turns);
        Diarist { turns_played: 0 }
    }

    fn act(&mut self, seen: &Observation) -> Action {
        self.turns_played += 1;
        crate::info!("turn {}, {} clamps, order {}", seen.turn, seen.clamps.len(), seen.order_mw());
        Action { curtail_mw: f64::from(self.turns_played), ..Action::default() }
    }
}

type Played = Component<Diarist>;

fn record(turn: u32) -> wire::Observation {
    wire::Observation {
        turn,
        price_usd_per_mwh: 40.0,
        forecast_one_usd_per_mwh: 0.0,
        forecast_two_usd_per_mwh: 0.0,
        forecast_three_usd_per_mwh: 0.0,
        system_status: SystemStatus::Normal,
        forecast_one_status: SystemStatus::Normal,
        forecast_two_status: SystemStatus::Normal,
        forecast_three_status: SystemStatus::Normal,
        it_demand_mw: 50.0,
        soc_mwh: 20.0,
        permit_hours_remaining: 4.0,
        cost_usd: 0.0,
        shed_mwh: 0.0,
        relief_delivered_mwh: 0.0,
        relief_asked_mwh: 0.0,
    }
}

fn logged() -> Vec<String> {
    log::take().into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_game_from_brief_to_last_turn() {
    Played::brief(testing::brief());
    assert_eq!(Played::act(record(0)).curtail_mw, 1.0);

    let kind = wire::EventKind::CurtailmentOrder(7.5);
    let event = wire::Event { index: 0, id: "order".to_owned(), kind, start_turn: 1, end_turn: 9 };
    Played::notice(Notice::Visible(event));
    Played::notice(Notice::Started(0));
    Played::notice(Notice::Clamped(wire::Clamp {
        field: wire::ActionField::CurtailMw,
        requested: 1.0,
        applied: 0.5,
        reason: wire::ClampReason::ItDemand,
    }));
    assert_eq!(Played::act(record(1)).curtail_mw, 2.0);
    assert_eq!(Played::act(record(2)).curtail_mw, 3.0);
    assert_eq!(
        logged(),
        [
            "24 turns",
            "turn 0, 0 clamps, order 0",
            "turn 1, 1 clamps, order 7.5",
            "turn 2, 0 clamps, order 7.5"
        ]
    );
}

#[test]
fn without_a_brief_nothing_is_played() {
    Played::notice(Notice::Started(0));
    assert_eq!(Played::act(record(0)), Action::default());
}

#[test]
fn a_second_brief_begins_anew() {
    Played::brief(testing::brief());
    Played::act(record(0));
    Played::brief(testing::brief());
    assert_eq!(Played::act(record(0)).curtail_mw, 1.0);
}
