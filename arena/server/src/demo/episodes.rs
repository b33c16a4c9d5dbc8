//! Episodes of the campus: careful ones, careless ones, and one that is half played.

use arena_canon::json::Value;
use serde_json::json;

use super::DemoError;
use super::stage::{By, Stage, lacks, text};

/// How somebody plays.
#[derive(Clone, Copy)]
enum Style {
    /// Charges when power is cheap, sells when it is dear, takes part in appeals.
    Careful,
    /// Asks for more than there is.
    Careless,
    /// Does nothing.
    Idle,
}

struct Play {
    agent: &'static str,
    pack: &'static str,
    style: Style,
    /// Day and hour at which it begins, from the present day on.
    begins: (i64, i64),
    minutes_each: i64,
    /// Turns that are played, if not all.
    turns: Option<u64>,
}

const PLAYS: [Play; 8] = [
    play("ada", "two-spikes", Style::Careful, (-6, 10)),
    play("bees", "two-spikes", Style::Careless, (-6, 16)),
    play("grace", "sunny-sunday", Style::Careful, (-5, 9)),
    play("ember", "sunny-sunday", Style::Idle, (-4, 7)),
    play("linus", "dunkelflaute", Style::Careful, (-4, 19)),
    play("kestrel", "deep-freeze-appeal", Style::Careful, (-3, 12)),
    play("linus", "two-spikes", Style::Idle, (-2, 9)),
    Play { turns: Some(11), ..play("ada", "christmas-eve-alley", Style::Careful, (-1, 15)) },
];

const fn play(agent: &'static str, pack: &'static str, style: Style, begins: (i64, i64)) -> Play {
    Play { agent, pack, style, begins, minutes_each: 3, turns: None }
}

/// All of them, one after the other.
pub(super) async fn played(stage: &Stage) -> Result<(), DemoError> {
    let packs = stage.get(By::Admin, "/api/v1/packs").await?;
    let packs: Vec<(String, Value)> = packs["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|pack| Some((pack["id"].as_str()?.to_owned(), pack["version"].clone())))
        .collect();
    for play in &PLAYS {
        // A server that does not offer a pack has no episode of it.
        if let Some((_, version)) = packs.iter().find(|(id, _)| id == play.pack) {
            one(stage, play, version).await?;
        }
    }
    Ok(())
}

async fn one(stage: &Stage, play: &Play, version: &Value) -> Result<(), DemoError> {
    let ((day, hour), by) = (play.begins, By::Agent(play.agent));
    stage.until(stage.time(day, hour, 0)).await;
    let made = stage.post(by, "/api/v1/episodes", json!({ "pack": play.pack, "version": version })).await?;
    let episode = text(&made, "episode")?;
    let turns = made["turns"].as_u64().ok_or_else(|| lacks("turns"))?;
    let mut minute = 0;
    for turn in 0..play.turns.unwrap_or(turns) {
        minute += play.minutes_each;
        stage.until(stage.time(day, hour, minute)).await;
        let seen = stage.get(by, &format!("/api/v1/episodes/{episode}/observation")).await?;
        let action = play.style.action(&seen["observation"]);
        stage.act(by, &format!("/api/v1/episodes/{episode}/turns/{turn}/action"), action).await?;
    }
    Ok(())
}

impl Style {
    /// What it does when it sees this. A battery that discharges delivers a positive power.
    fn action(self, seen: &Value) -> Value {
        match self {
            Self::Idle => json!({}),
            Self::Careless => json!({ "battery_mw": 400, "curtail_mw": 12.5, "diesel_mw": 80 }),
            Self::Careful => careful(seen),
        }
    }
}

fn careful(seen: &Value) -> Value {
    let price = seen["price_usd_per_mwh"].as_f64().unwrap_or_default();
    let coming = seen["forecast"].as_array().into_iter().flatten();
    let coming: Vec<f64> = coming.filter_map(|turn| turn["price_usd_per_mwh"].as_f64()).collect();
    let is_dearer = coming.iter().any(|later| *later > price * 1.5 + 10.0);
    let events = |kind: &'static str| {
        seen["events"].as_array().into_iter().flatten().filter(move |event| event["kind"] == kind)
    };
    let is_active = |event: &&Value| event["active"] == true;
    let orders = events("curtailment_order").filter(is_active);
    let ordered = orders.filter_map(|event| event["requested_mw"].as_f64()).fold(0.0, f64::max);
    let is_asked = events("conservation_appeal").any(|event| is_active(&event));
    let is_order_ahead = events("curtailment_order").next().is_some();
    let stored = seen["site"]["soc_mwh"].as_f64().unwrap_or_default();
    let mut action = json!({ "accept_offer": is_asked, "battery_mw": 0 });
    if ordered > 0.0 {
        // An order comes first: from the battery, then from the load.
        let by_battery = if stored > ordered { ordered } else { 0.0 };
        action["battery_mw"] = json!(by_battery);
        action["curtail_mw"] = json!(ordered - by_battery);
    } else if is_dearer || is_order_ahead {
        action["battery_mw"] = json!(-15);
    } else if price > 200.0 && stored > 5.0 {
        action["battery_mw"] = json!(15);
    }
    action
}
