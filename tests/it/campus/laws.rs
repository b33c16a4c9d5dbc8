//! What holds for every pack and every competitor. A new pack, script or guest is held to it without
//! being told.

use std::collections::BTreeSet;
use std::sync::Arc;

use arena_canon::json::{self, Value};
use arena_engine::campus::{
    Amount, Clamp, ClampReason, EpisodeLog, Field, Given, NonFinite, NonFiniteValue, Pack, RawAction,
    TurnRecord, verify,
};
use arena_tests::packs;

use super::future;
use super::scripts::{SCRIPTS, Script, SplitMix, play};

/// One competitor's episode, and the means to let it play another.
pub(crate) struct Case<'c> {
    pub(crate) document: &'c Value,
    pub(crate) pack: &'c Arc<Pack>,
    pub(crate) log: &'c EpisodeLog,
    pub(crate) play: &'c dyn Fn(&Arc<Pack>) -> EpisodeLog,
}

pub(crate) type Law = fn(&Case<'_>) -> Result<(), String>;

pub(crate) const LAWS: &[(&str, Law)] = &[
    ("the written file replays to its score", replay_is_score),
    ("the same competitor plays the same episode", again_is_equal),
    ("forecasts come true", forecasts_come_true),
    ("every clamp is reported", clamps_are_reported),
    ("a flat slope equals a price taker", flat_slope_is_taker),
    ("do nothing is a run of empty actions", do_nothing_is_empty),
    ("nothing of the future shows", future::is_hidden),
];

/// Holds one competitor to every law on every pack.
pub(crate) fn check(who: &str, play: &dyn Fn(&Arc<Pack>) -> EpisodeLog) {
    let mut broken = Vec::new();
    for (name, bytes) in packs() {
        let document = json::read(&bytes, bytes.len()).expect("a shipped pack is JSON");
        let pack = Pack::from_value(&document).expect("a shipped pack is valid");
        let log = play(&pack);
        let case = Case { document: &document, pack: &pack, log: &log, play };
        for (law, holds) in LAWS {
            if let Err(why) = holds(&case) {
                broken.push(format!("{who} on {name}: {law}: {why}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_law_holds_for_every_pack_and_script() {
    assert_eq!(packs().len(), 6);
    for script in SCRIPTS {
        check(script.name, &|pack| play(pack, script));
    }
}

#[test]
fn between_them_the_scripts_meet_every_limit() {
    let mut met = BTreeSet::new();
    each_pack_and_script(|_, _, log| {
        met.extend(log.turns.iter().flat_map(|turn| &turn.resolution.clamps).map(|clamp| clamp.reason));
    });
    assert_eq!(met, BTreeSet::from(ClampReason::ALL));
}

#[test]
fn what_the_limits_allow_is_never_clamped() {
    each_pack_and_script(|pack, script, log| {
        let clamped = log.turns.iter().find(|turn| {
            let of_generator = |clamp: &Clamp| clamp.field == Field::DieselMw;
            turn.resolution.clamps.iter().any(|clamp| !of_generator(clamp))
        });
        if ["idle", "limits"].contains(&script.name) {
            assert_eq!(clamped, None, "{} on {pack}", script.name);
        }
    });
}

#[test]
fn threads_and_their_order_change_nothing() {
    let mut jobs = Vec::new();
    each_pack_and_script(|pack, script, log| jobs.push((Arc::clone(pack), script, log.to_bytes())));
    SplitMix::seed(7).shuffle(&mut jobs);
    let share = jobs.len().div_ceil(4);
    std::thread::scope(|scope| {
        for jobs in jobs.chunks(share) {
            scope.spawn(move || {
                for (pack, script, bytes) in jobs {
                    assert_eq!(&play(pack, script).to_bytes(), bytes, "{} on {pack}", script.name);
                }
            });
        }
    });
}

fn each_pack_and_script(mut with: impl FnMut(&Arc<Pack>, &'static Script, &EpisodeLog)) {
    for (_, bytes) in packs() {
        let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
        for script in SCRIPTS {
            with(&pack, script, &play(&pack, script));
        }
    }
}

/// What a log's actions are made of, to be played again.
pub(crate) fn actions(log: &EpisodeLog) -> (Vec<RawAction>, &[NonFiniteValue]) {
    (log.turns.iter().map(|turn| turn.action).collect(), &log.nonfinite)
}

pub(crate) fn replay_is_score(case: &Case<'_>) -> Result<(), String> {
    let read = verify(&case.log.to_bytes(), case.pack).map_err(|faults| faults.to_string())?;
    let (actions, nonfinite) = actions(case.log);
    let replayed = EpisodeLog::replay(case.pack, &actions, nonfinite);
    equal("settlement", &replayed.settlement, &case.log.settlement)?;
    let stored = serde_json::to_value(&replayed.settlement).expect("a settlement is JSON");
    match json::first_difference(&read["settlement"], &stored) {
        None => Ok(()),
        Some(difference) => Err(format!("the file departs from what was played: {difference:?}")),
    }
}

fn again_is_equal(case: &Case<'_>) -> Result<(), String> {
    if (case.play)(case.pack).to_bytes() == case.log.to_bytes() { Ok(()) } else { Err("it does not".into()) }
}

fn forecasts_come_true(case: &Case<'_>) -> Result<(), String> {
    let turns = &case.log.turns;
    for (t, turn) in turns.iter().enumerate() {
        let seen = &turn.observation;
        equal("turns ahead", &seen.forecast.len(), &3.min(turns.len() - 1 - t))?;
        for (ahead, told) in (t + 1..).zip(&seen.forecast) {
            let later = &turns[ahead].observation;
            equal("turn told", &(told.turn as usize), &ahead)?;
            equal("price", &told.price_usd_per_mwh, &later.price_usd_per_mwh)?;
            equal("status", &told.system_status, &later.system_status)?;
        }
    }
    Ok(())
}

pub(crate) fn clamps_are_reported(case: &Case<'_>) -> Result<(), String> {
    for turn in &case.log.turns {
        for field in Field::ALL {
            field_is_reported(turn, field, &case.log.nonfinite)
                .map_err(|why| format!("turn {}, {}: {why}", turn.turn, field.name()))?;
        }
    }
    let told: usize = case.log.turns.iter().map(|turn| turn.resolution.clamps.len()).sum();
    equal("clamps counted", &case.log.settlement.clamp_count, &(told as u64))
}

/// From what was asked to what counted, every step is a clamp, and every clamp is a step.
fn field_is_reported(turn: &TurnRecord, field: Field, nonfinite: &[NonFiniteValue]) -> Result<(), String> {
    let mut value = asked(&turn.action, field);
    let is_lost = |lost: &&NonFiniteValue| (lost.turn, lost.field) == (turn.turn, field);
    if nonfinite.iter().any(|lost| is_lost(&lost)) {
        value = Amount::NotFinite(());
    }
    for clamp in turn.resolution.clamps.iter().filter(|clamp| clamp.field == field) {
        equal("asked before the limit", &clamp.requested, &value)?;
        if clamp.applied == clamp.requested {
            return Err(format!("{} changed nothing", clamp.reason.name()));
        }
        value = clamp.applied;
    }
    let applied = &turn.resolution.applied;
    let counted = match field {
        Field::CurtailMw => Amount::Mw(applied.curtail_mw),
        Field::BatteryMw => Amount::Mw(applied.battery_mw),
        Field::DieselMw => Amount::Mw(applied.diesel_mw),
        Field::AcceptOffer => Amount::Offer(applied.accept_offer),
    };
    equal("what counted", &counted, &value)
}

fn asked(action: &RawAction, field: Field) -> Amount {
    let number = |given| match given {
        Given::Missing | Given::Null => Amount::Mw(0.0),
        Given::Value(value) => Amount::Mw(value),
    };
    match field {
        Field::CurtailMw => number(action.curtail_mw),
        Field::BatteryMw => number(action.battery_mw),
        Field::DieselMw => number(action.diesel_mw),
        Field::AcceptOffer => Amount::Offer(action.accept_offer == Given::Value(true)),
    }
}

fn flat_slope_is_taker(case: &Case<'_>) -> Result<(), String> {
    const SLOPE: &str = "price_slope_usd_per_mwh_per_mw";
    let mut taker = case.document.clone();
    let grid = taker["grid"].as_object_mut().ok_or("no grid")?;
    grid.remove(SLOPE);
    let mut flat = taker.clone();
    flat["grid"][SLOPE] = vec![0.0; case.pack.turns() as usize].into();
    let (actions, nonfinite) = actions(case.log);
    let replay = |document: &Value| {
        let pack = Pack::from_value(document).map_err(|faults| faults.to_string())?;
        Ok::<_, String>(EpisodeLog::replay(&pack, &actions, nonfinite))
    };
    let (taker, mut flat) = (replay(&taker)?, replay(&flat)?);
    let (Some(flat_pins), Some(pins)) = (&mut flat.pins, &taker.pins) else { return Err("no pins".into()) };
    if flat_pins.pack_sha256 == pins.pack_sha256 {
        return Err("both have the digest of the same pack".into());
    }
    flat_pins.pack_sha256 = pins.pack_sha256;
    if flat.to_bytes() == taker.to_bytes() { Ok(()) } else { Err("the bytes differ".into()) }
}

fn do_nothing_is_empty(case: &Case<'_>) -> Result<(), String> {
    let empty = EpisodeLog::replay(case.pack, &[], &[]).settlement;
    let stored = &case.log.settlement.do_nothing;
    equal("cost", &stored.cost_usd, &empty.ledger.cost_usd)?;
    equal("metrics", &stored.metrics, &empty.metrics)?;
    equal("stars", &stored.stars, &empty.stars)?;
    equal("its own baseline", &empty.do_nothing, stored)
}

pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} instead of {wanted:?}")) }
}

#[test]
fn what_is_not_finite_keeps_its_kind_in_the_file() {
    let (_, bytes) = packs().swap_remove(0);
    let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
    let log = play(&pack, super::scripts::script("edges"));
    let kinds: Vec<_> = log.nonfinite.iter().map(|lost| lost.value).collect();
    for kind in [NonFinite::NaN, NonFinite::Infinity, NonFinite::NegativeInfinity] {
        assert!(kinds.contains(&kind), "{kind:?} was never asked");
    }
    let read = verify(&log.to_bytes(), &pack).expect("it replays");
    let stored = serde_json::to_value(&log.nonfinite).expect("JSON");
    assert_eq!(read["nonfinite"], stored);
}
