//! What the helpers say about observations made by hand.

use crate::campus::{Brief, MetricId, testing};

#[test]
fn orders_add_up_and_stop_at_the_demand() {
    let turn =
        |demand| testing::turn(&testing::brief(), 5).demand(demand).order(3..6, 30.0).order(5..9, 25.0);
    let seen = turn(100.0).order(6..9, 5.0).appeal(5..9, 500.0).build();
    assert_eq!(seen.order_mw(), 55.0);
    assert_eq!([4, 5, 6, 9].map(|turn| seen.order_mw_on(turn)), [30.0, 55.0, 30.0, 0.0]);
    assert_eq!(turn(20.0).build().order_mw(), 20.0);
}

#[test]
fn the_best_appeal_counts() {
    let seen = testing::turn(&testing::brief(), 5).appeal(3..6, 300.0).accepted_appeal(5..7, 500.0).build();
    assert!(seen.has_offer());
    assert_eq!([4, 5, 6, 7].map(|turn| seen.credit_usd_per_mwh_on(turn)), [300.0, 500.0, 500.0, 0.0]);
    assert!(!testing::turn(&testing::brief(), 5).appeal(6..9, 300.0).order(5..6, 1.0).build().has_offer());
}

#[test]
fn the_battery_gives_what_power_energy_and_load_allow() {
    let brief = Brief { step_minutes: 15, ..testing::brief() };
    let turn = || testing::turn(&brief, 0).demand(50.0);
    assert_eq!(turn().soc(40.0).build().max_discharge_mw(), 20.0);
    assert_eq!(turn().soc(2.0).build().max_discharge_mw(), 8.0);
    assert_eq!(turn().soc(40.0).demand(12.0).build().max_discharge_mw(), 12.0);
    assert_eq!(turn().soc(0.0).build().max_discharge_mw(), 0.0);
}

#[test]
fn the_battery_takes_what_power_and_room_allow() {
    let mut brief = Brief { step_minutes: 30, ..testing::brief() };
    brief.battery.round_trip_efficiency = 0.8;
    let soc = |mwh| testing::turn(&brief, 0).soc(mwh).build().max_charge_mw();
    assert_eq!(soc(0.0), 20.0);
    assert_eq!(soc(38.0), 5.0, "2 MWh of room over 0.8 and half an hour");
    assert_eq!(soc(40.0), 0.0);
}

#[test]
fn the_generator_runs_on_whole_turns_of_permit() {
    let brief = Brief { step_minutes: 45, ..testing::brief() };
    let turn = |hours| testing::turn(&brief, 0).permit_hours(hours).build();
    assert_eq!([0.0, 0.7, 0.75, 1.4, 1.5].map(|h| turn(h).generator_turns_left()), [0, 0, 1, 1, 2]);
    assert_eq!((turn(0.7).max_diesel_mw(), turn(0.75).max_diesel_mw()), (0.0, 15.0));
    assert_eq!(turn(1_000.0).generator_turns_left(), 24, "no more than the episode has");
}

#[test]
fn a_third_of_an_hour_is_not_lost_to_rounding() {
    let brief = Brief { step_minutes: 20, ..testing::brief() };
    let seen = testing::turn(&brief, 0).permit_hours(20.0 / 60.0).build();
    assert_eq!(seen.generator_turns_left(), 1);
}

#[test]
fn time_and_turns_run_with_the_episode() {
    let brief = Brief { start_local: "2022-12-23T12:00:00-05:00".to_owned(), ..testing::brief() };
    let seen = testing::turn(&brief, 13).build();
    assert_eq!(seen.local_time().to_string(), "2022-12-24T01:00:00-05:00");
    assert_eq!(seen.turns_left(), 11);
}

#[test]
fn a_metric_is_found_by_what_it_is() {
    let brief = testing::brief();
    assert_eq!(brief.metric(MetricId::ReliefShare).map(|metric| metric.two_stars), Some(0.8));
    assert_eq!(brief.metric(MetricId::ItServedShare), None);
}
