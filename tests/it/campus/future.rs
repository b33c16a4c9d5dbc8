//! A competitor sees three turns of prices ahead, the demand of now, and the events that are visible.
//! Whatever else a pack holds may be swapped without it noticing.

use std::sync::Arc;

use arena_canon::json::Value;
use arena_engine::campus::{Episode, ObservationRecord, Pack};
use serde_json::json;

use super::laws::{Case, actions, equal};

/// The pack with everything swapped that is hidden on turn `now` and on every turn before.
fn with_another_future(document: &Value, now: u32) -> Value {
    let mut other = document.clone();
    let after = |strip: &mut Value, turn: u32, change: fn(&Value) -> Value| {
        let items = strip.as_array_mut().into_iter().flatten();
        items.skip(turn as usize + 1).for_each(|item| *item = change(item));
    };
    let grid = &mut other["grid"];
    after(&mut grid["price_usd_per_mwh"], now + 3, |price| json!(-7.0 - number(price)));
    after(&mut grid["system_status"], now + 3, |status| {
        json!(if status == "watch" { "emergency" } else { "watch" })
    });
    if let Some(slope) = grid.get_mut("price_slope_usd_per_mwh_per_mw") {
        after(slope, now, |slope| json!(number(slope) + 1.0));
    }
    after(&mut other["site"]["it_demand_mw"], now, |demand| json!(number(demand) * 0.5 + 1.0));
    let events = other["events"].as_array_mut().expect("events are an array");
    for event in events.iter_mut() {
        let first_visible = event.get("notice_turn").unwrap_or(&event["start_turn"]).as_u64();
        if first_visible > Some(u64::from(now)) {
            change_event(event);
        }
    }
    events.push(json!({
        "id": "hidden", "kind": "curtailment_order", "start_turn": now + 1, "end_turn": now + 9, "requested_mw": 3.0
    }));
    other
}

fn change_event(event: &mut Value) {
    for (member, by) in [("notice_turn", 1.0), ("start_turn", 1.0), ("end_turn", 4.0), ("requested_mw", 5.0)]
    {
        if let Some(value) = event.get_mut(member) {
            *value = json!(number(value) + by);
        }
    }
    event["id"] = json!(format!("another-{}", event["id"].as_str().unwrap_or_default()));
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Every turn, action included, is the same up to the one after which the future is another.
pub(crate) fn is_hidden(case: &Case<'_>) -> Result<(), String> {
    let turns = case.pack.turns();
    for now in [0, turns / 3, turns - 5] {
        let document = with_another_future(case.document, now);
        let other = Pack::from_value(&document).map_err(|faults| faults.to_string())?;
        equal("pack", &(other.sha256() == case.pack.sha256()), &false)?;
        let played = (case.play)(&other);
        let seen = case.log.turns.iter().zip(&played.turns);
        for (turn, again) in seen.take(now as usize + 1) {
            equal(&format!("seen on turn {} of {now}", turn.turn), &again.observation, &turn.observation)?;
            equal(&format!("done on turn {} of {now}", turn.turn), &again.action, &turn.action)?;
        }
        equal("notices", &told(case, &other, now), &told(case, case.pack, now))?;
    }
    Ok(())
}

/// Everything that is told up to turn `now`, as text.
fn told(case: &Case<'_>, pack: &Arc<Pack>, now: u32) -> Vec<String> {
    let (actions, _) = actions(case.log);
    let mut episode = Episode::new(Arc::clone(pack));
    let mut told = Vec::new();
    while let Some(seen) = episode.observe().filter(|seen| seen.turn() <= now) {
        told.push(format!("{:?} {:?}", ObservationRecord::of(&seen), seen.notices().collect::<Vec<_>>()));
        episode.commit(actions[told.len() - 1].action());
    }
    told
}
