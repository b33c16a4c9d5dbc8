//! What no pack and no action can break: energy, the battery, the permit, relief, credits and sums
//! add up, and the rules written a second time give the same bits.

use arena_canon::json;
use arena_engine::campus::{
    EpisodeLog, MetricId, Pack, ResolutionRecord, Settlement, ShareRecord, TurnRecord, verify,
};

use super::laws::{self, Case, equal};
use super::random::{Game, for_random_games};
use super::reference;

fn holds(what: &str, true_of_it: bool) -> Result<(), String> {
    if true_of_it { Ok(()) } else { Err(format!("it does not hold that {what}")) }
}

fn replay(game: &Game) -> EpisodeLog {
    EpisodeLog::replay(&game.pack(), &game.actions, &game.nonfinite)
}

/// `-0.0` is `0.0`: no rule tells them apart.
fn same(what: &str, found: f64, wanted: f64) -> Result<(), String> {
    equal(what, &(found + 0.0).to_bits(), &(wanted + 0.0).to_bits())
        .map_err(|_| format!("{what}: {found:?} instead of {wanted:?}"))
}

#[test]
fn the_rules_written_twice_give_the_same_bits() {
    for_random_games(400, |game| {
        let written = reference::episode(&game.document, &game.asked());
        let log = serde_json::to_value(replay(game)).expect("a log is JSON");
        let turns = written["turns"].as_array().ok_or("no turns")?;
        equal("turns", &log["turns"].as_array().map(Vec::len), &Some(turns.len()))?;
        for (t, turn) in turns.iter().enumerate() {
            for part in ["turn", "observation", "resolution"] {
                if let Some(difference) = json::first_difference(&log["turns"][t][part], &turn[part]) {
                    return Err(format!("turn {t}, {part}: {difference:?}"));
                }
            }
        }
        match json::first_difference(&log["settlement"], &written["settlement"]) {
            None => Ok(()),
            Some(difference) => Err(format!("settlement: {difference:?}")),
        }
    });
}

#[test]
fn every_turn_adds_up() {
    for_random_games(400, |game| {
        let pack = game.pack();
        let log = replay(game);
        let mut soc_mwh = pack.document().site.battery.initial_soc_mwh;
        let mut permit_hours = f64::INFINITY;
        for turn in &log.turns {
            let checked = energy(turn)
                .and_then(|()| battery(turn, &pack, soc_mwh))
                .and_then(|()| relief(turn))
                .and_then(|()| credits(turn, &pack))
                .and_then(|()| money(&turn.resolution));
            checked.map_err(|why| format!("turn {}: {why}", turn.turn))?;
            let left = turn.resolution.permit_hours_remaining;
            holds("the permit is never overdrawn", left >= 0.0 && left <= permit_hours)?;
            (soc_mwh, permit_hours) = (turn.resolution.soc_mwh, left);
        }
        Ok(())
    });
}

/// Import serves what battery and generator do not, and fills the battery. Nothing is exported.
fn energy(turn: &TurnRecord) -> Result<(), String> {
    let (done, demand_mw) = (&turn.resolution, turn.observation.site.it_demand_mw);
    let (discharge, charge) = (done.applied.battery_mw.max(0.0), (-done.applied.battery_mw).max(0.0));
    let left = done.it_served_mw - discharge - done.applied.diesel_mw;
    same("served", done.it_served_mw, demand_mw - done.applied.curtail_mw)?;
    holds("battery and gas serve no more than the load", left >= 0.0)?;
    same("import", done.grid_import_mw, left + charge)?;
    same("reduction", done.reduction_mw, (demand_mw - done.grid_import_mw).max(0.0))?;
    holds("nothing is exported", done.grid_import_mw >= 0.0 && done.it_served_mw >= 0.0)
}

fn battery(turn: &TurnRecord, pack: &Pack, before_mwh: f64) -> Result<(), String> {
    let (site, done) = (&pack.document().site.battery, &turn.resolution);
    same("soc seen", turn.observation.site.soc_mwh, before_mwh)?;
    holds("soc stays within the battery", (0.0..=site.capacity_mwh).contains(&done.soc_mwh))?;
    holds("power stays within the battery", done.applied.battery_mw.abs() <= site.power_mw)?;
    let change = done.soc_mwh - before_mwh;
    let hours = pack.hours_per_turn();
    let expected = match done.applied.battery_mw {
        charging if charging < 0.0 => -charging * hours * site.round_trip_efficiency,
        discharging => -discharging * hours,
    };
    let rounding = 1e-9 * (1.0 + before_mwh.abs() + expected.abs());
    holds("soc changes by what flows, losses paid on filling", (change - expected).abs() <= rounding)
}

fn relief(turn: &TurnRecord) -> Result<(), String> {
    let (done, all) = (&turn.resolution, turn.resolution.relief);
    holds("orders ask no more than the demand", all.asked_mw <= turn.observation.site.it_demand_mw)?;
    holds("no more is delivered than asked", all.delivered_mw <= all.asked_mw)?;
    holds("no more is delivered than reduced", all.delivered_mw <= done.reduction_mw)?;
    let mut split = [0.0; 2];
    for event in &done.events {
        if let ShareRecord::CurtailmentOrder(share) = event.share {
            same("shortfall", share.shortfall_mw, share.asked_mw - share.delivered_mw)?;
            holds("a share is not negative", share.asked_mw >= 0.0 && share.delivered_mw >= 0.0)?;
            split = [split[0] + share.asked_mw, split[1] + share.delivered_mw];
        }
    }
    let close = |sum: f64, whole: f64| (sum - whole).abs() <= 1e-9 * (1.0 + whole);
    holds("the shares are the whole", close(split[0], all.asked_mw) && close(split[1], all.delivered_mw))
}

/// Each MWh beyond what orders ask is paid once, by the best accepted appeal.
fn credits(turn: &TurnRecord, pack: &Pack) -> Result<(), String> {
    let done = &turn.resolution;
    let voluntary_mw = (done.reduction_mw - done.relief.asked_mw).max(0.0);
    let (mut payers, mut taken, mut sum) = (0, false, 0.0);
    for event in &done.events {
        let ShareRecord::ConservationAppeal { accepted, credited_mw, credit_usd } = event.share else {
            continue;
        };
        taken |= accepted;
        sum += credit_usd;
        if credited_mw != 0.0 {
            payers += 1;
            holds("only an accepted appeal pays", accepted)?;
            same("MW paid", credited_mw, voluntary_mw)?;
        }
    }
    holds("one MWh is paid once", payers <= 1)?;
    holds("what is accepted and reduced is paid", !taken || voluntary_mw == 0.0 || payers == 1)?;
    holds("events are shown while active", done.events.len() <= pack.document().events.len())?;
    same("credit", done.credit_usd, sum)
}

fn money(done: &ResolutionRecord) -> Result<(), String> {
    let gross = (done.energy_cost_usd + done.fuel_cost_usd) + done.sla_cost_usd;
    same("turn cost", done.turn_cost_usd, gross - done.credit_usd)
}

#[test]
fn the_ledger_is_the_sum_of_the_turns_in_their_order() {
    for_random_games(200, |game| {
        let (pack, log) = (game.pack(), replay(game));
        let hours = pack.hours_per_turn();
        let sum = |of: &dyn Fn(&TurnRecord) -> f64| log.turns.iter().fold(0.0, |sum, turn| sum + of(turn));
        let Settlement { ledger, totals, .. } = &log.settlement;
        let done = |of: fn(&ResolutionRecord) -> f64| move |turn: &TurnRecord| of(&turn.resolution);
        let energy = |of: fn(&ResolutionRecord) -> f64| move |turn: &TurnRecord| of(&turn.resolution) * hours;
        same("cost", ledger.cost_usd, sum(&done(|it| it.turn_cost_usd)))?;
        same("shed", ledger.shed_mwh, sum(&energy(|it| it.applied.curtail_mw)))?;
        same("delivered", ledger.relief_delivered_mwh, sum(&energy(|it| it.relief.delivered_mw)))?;
        same("asked", ledger.relief_asked_mwh, sum(&energy(|it| it.relief.asked_mw)))?;
        same("demand", totals.demand_mwh, sum(&|turn| turn.observation.site.it_demand_mw * hours))?;
        same("served", totals.served_mwh, sum(&energy(|it| it.it_served_mw)))?;
        same("import", totals.import_mwh, sum(&energy(|it| it.grid_import_mw)))?;
        same("charge", totals.charge_mwh, sum(&energy(|it| (-it.applied.battery_mw).max(0.0))))?;
        same("discharge", totals.discharge_mwh, sum(&energy(|it| it.applied.battery_mw.max(0.0))))?;
        same("gas", totals.gas_mwh, sum(&energy(|it| it.applied.diesel_mw)))?;
        same("energy", totals.energy_cost_usd, sum(&done(|it| it.energy_cost_usd)))?;
        same("fuel", totals.fuel_cost_usd, sum(&done(|it| it.fuel_cost_usd)))?;
        same("sla", totals.sla_cost_usd, sum(&done(|it| it.sla_cost_usd)))?;
        same("credit", totals.credit_usd, sum(&done(|it| it.credit_usd)))?;
        let ran = log.turns.iter().filter(|turn| turn.resolution.applied.diesel_mw > 0.0).count();
        equal("generator turns", &(log.settlement.generator_turns as usize), &ran)?;
        let minutes = (pack.document().site.generator.permit_hours * 60.0 + 0.5).floor();
        let used = ran as f64 * f64::from(pack.document().time.step_minutes);
        let left = log.turns.last().map(|turn| turn.resolution.permit_hours_remaining);
        equal("permit left", &left, &Some((minutes - used) / 60.0))
    });
}

#[test]
fn laws_hold_for_random_games() {
    for_random_games(60, |game| {
        let (pack, log) = (game.pack(), replay(game));
        let play = |_: &std::sync::Arc<Pack>| replay(game);
        let case = Case { document: &game.document, pack: &pack, log: &log, play: &play };
        verify(&log.to_bytes(), &pack).map_err(|faults| faults.to_string())?;
        let skipped = ["nothing of the future shows"];
        for (law, holds) in laws::LAWS.iter().filter(|(law, _)| !skipped.contains(law)) {
            holds(&case).map_err(|why| format!("{law}: {why}"))?;
        }
        Ok(())
    });
}

#[test]
fn easier_thresholds_never_take_a_star() {
    for_random_games(150, |game| {
        let stars = replay(game).settlement.stars;
        let mut easier = game.clone();
        for metric in easier.document["scoring"]["metrics"].as_array_mut().into_iter().flatten() {
            let lower_is_better = metric["id"] == MetricId::CostUsdPerMwh.name();
            for goal in metric["stars"].as_array_mut().into_iter().flatten() {
                let threshold = goal.as_f64().ok_or("a threshold is a number")?;
                let eased = if lower_is_better { threshold + 5.0 } else { threshold - 0.05 };
                *goal = eased.clamp(-1e12, 1e12).into();
            }
        }
        holds("an easier pack gives as many stars", replay(&easier).settlement.stars >= stars)?;
        let goals = |k: usize| {
            let metrics = game.document["scoring"]["metrics"].as_array().into_iter().flatten();
            let values = log_values(game);
            metrics.zip(values).all(|(metric, value)| {
                let goal = metric["stars"][k].as_f64().unwrap_or(f64::NAN);
                let lower_is_better = metric["id"] == MetricId::CostUsdPerMwh.name();
                value.is_some_and(|value| if lower_is_better { value <= goal } else { value >= goal })
            })
        };
        let earned = (0..3).take_while(|&k| goals(k)).count();
        equal("stars", &usize::from(stars), &earned)
    });
}

fn log_values(game: &Game) -> Vec<Option<f64>> {
    replay(game).settlement.metrics.iter().map(|metric| metric.value).collect()
}
