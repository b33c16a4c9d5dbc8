use super::*;
use arena_sdk::campus::testing::{self, TurnBuilder};

fn act(turn: TurnBuilder) -> Action {
    let seen = turn.build();
    Planner::brief(&seen.brief).act(&seen)
}

fn served_mw(action: Action) -> f64 {
    action.battery_mw + action.diesel_mw + action.curtail_mw
}

#[test]
fn buys_before_a_peak_and_serves_load_on_it() {
    let turn = || testing::turn(&testing::brief(), 5).permit_hours(0.0);
    assert_eq!(act(turn().price(40.0).forecast([50.0, 400.0, 400.0])).battery_mw, -20.0);
    assert_eq!(act(turn().price(400.0).forecast([60.0, 50.0, 50.0])).battery_mw, 20.0);
}

#[test]
fn leaves_nothing_in_the_battery_at_the_end() {
    let last = act(testing::turn(&testing::brief(), 23).price(20.0).soc(8.0));
    assert_eq!(last.battery_mw, 8.0);
}

#[test]
fn takes_energy_that_pays_for_being_taken() {
    let action = act(testing::turn(&testing::brief(), 5).price(-40.0).forecast([50.0, 60.0, 70.0]));
    assert_eq!(action.battery_mw, -20.0);
    assert_eq!((action.diesel_mw, action.curtail_mw), (0.0, 0.0));
}

#[test]
fn meets_an_order_but_for_what_three_stars_excuse() {
    let order = act(testing::turn(&testing::brief(), 23).price(50.0).soc(0.0).order(20..24, 30.0));
    assert_eq!(order.diesel_mw, 15.0);
    let short_mw = 30.0 - served_mw(order);
    assert!(short_mw > 0.0 && short_mw < 30.0 * 0.05, "{short_mw} MW short");
}

#[test]
fn sheds_nothing_that_is_only_announced() {
    let action = act(testing::turn(&testing::brief(), 5).price(50.0).order(7..9, 30.0));
    assert_eq!(action.curtail_mw, 0.0);
}

#[test]
fn sheds_everything_while_power_costs_more_than_shedding() {
    let turn = || testing::turn(&testing::brief(), 5).price(1_500.0).forecast([1_500.0; 3]);
    assert_eq!(act(turn().soc(0.0).permit_hours(0.0)).curtail_mw, 50.0);
    let appeal = testing::turn(&testing::brief(), 5).price(700.0).forecast([700.0; 3]).appeal(5..9, 400.0);
    let paid = act(appeal.soc(0.0).permit_hours(0.0));
    assert_eq!((paid.curtail_mw, paid.accept_offer), (50.0, true));
}

#[test]
fn keeps_the_permit_for_dearer_turns() {
    let brief = testing::brief();
    let turn =
        |price, ahead| act(testing::turn(&brief, 21).price(price).forecast(ahead).permit_hours(1.0).soc(0.0));
    assert_eq!(turn(200.0, [300.0, 100.0, 0.0]).diesel_mw, 0.0);
    assert_eq!(turn(300.0, [200.0, 100.0, 0.0]).diesel_mw, 15.0);
}

#[test]
fn plays_sites_without_a_battery_a_generator_or_load() {
    let mut brief = testing::brief();
    brief.battery.power_mw = 0.0;
    brief.battery.capacity_mwh = 0.0;
    brief.battery.initial_soc_mwh = 0.0;
    brief.generator.capacity_mw = 0.0;
    for demand in [0.0, 50.0] {
        for now in [0, 20, 23] {
            let action = act(testing::turn(&brief, now).demand(demand).order(0..24, 10.0));
            assert!(action.curtail_mw.is_finite() && action.battery_mw == 0.0, "{action:?}");
        }
    }
}
