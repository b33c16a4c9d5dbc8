//! Bodies of the benches: what is measured, apart from who measures it. Criterion (`cargo bench`)
//! and `arena bench` call the same functions, so their figures speak of the same thing.

mod guest;
pub mod matrix;

use std::sync::Arc;

use arena_canon::Digest;
use arena_engine::HostFault;
use arena_engine::campus::{self, Action, Episode, Pack, RawAction, Settlement};
use arena_sandbox::Strategy;

pub use guest::{empty_component, logging_component, tit_for_tat_component};

/// The shipped packs, by name.
pub const PACKS: [(&str, &str); 6] = [
    ("sunny-sunday", include_str!("../../scenarios/sunny-sunday.json")),
    ("deep-freeze-appeal", include_str!("../../scenarios/deep-freeze-appeal.json")),
    ("dunkelflaute", include_str!("../../scenarios/dunkelflaute.json")),
    ("two-spikes", include_str!("../../scenarios/two-spikes.json")),
    ("christmas-eve-alley", include_str!("../../scenarios/christmas-eve-alley.json")),
    ("cap-to-floor", include_str!("../../scenarios/cap-to-floor.json")),
];

/// One shipped pack, parsed.
pub fn pack(name: &str) -> Arc<Pack> {
    let (_, text) = PACKS.iter().find(|(known, _)| *known == name).expect("a shipped pack");
    Pack::parse(text.as_bytes()).expect("shipped packs are valid")
}

/// `two-spikes` repeated to `turns` turns, for episodes of any length.
pub fn long_pack(turns: usize) -> Arc<Pack> {
    let (_, text) = PACKS[3];
    let mut pack = arena_canon::json::read(text.as_bytes(), 1 << 20).expect("shipped packs are JSON");
    pack["time"]["turns"] = turns.into();
    for strip in [
        "/site/it_demand_mw",
        "/grid/price_usd_per_mwh",
        "/grid/system_status",
        "/grid/price_slope_usd_per_mwh_per_mw",
    ] {
        let strip = pack.pointer_mut(strip).and_then(|value| value.as_array_mut()).expect("a strip");
        let repeated = strip.iter().cycle().take(turns).cloned().collect();
        *strip = repeated;
    }
    Pack::from_value(&pack).expect("a repeated pack is valid")
}

/// The actions of the native bodies: every field is used, some clamp.
pub fn actions(pack: &Pack) -> Vec<Action> {
    (0..pack.turns())
        .map(|turn| Action {
            curtail_mw: f64::from(turn % 3),
            battery_mw: f64::from(turn % 7) * 10.0 - 30.0,
            diesel_mw: f64::from(turn % 2) * 5.0,
            accept_offer: turn % 5 == 0,
        })
        .collect()
}

/// A whole native episode without a log: observe and commit each turn.
pub fn native_episode(pack: &Arc<Pack>, actions: &[Action]) -> Option<Settlement> {
    let mut episode = Episode::new(Arc::clone(pack));
    let mut seen_price = 0.0;
    for action in actions {
        let seen = episode.observe()?;
        seen_price += seen.price_usd_per_mwh() + seen.forecast(1).map_or(0.0, |(price, _)| price);
        episode.commit(*action);
    }
    std::hint::black_box(seen_price);
    episode.settle()
}

/// The actions of a parsed log.
pub fn parsed_log(actions: &[Action]) -> Vec<RawAction> {
    actions.iter().map(|action| RawAction::of(action).0).collect()
}

/// A replay from a parsed log to its score.
pub fn replay_episode(pack: &Arc<Pack>, log: &[RawAction]) -> Option<Settlement> {
    let mut episode = Episode::new(Arc::clone(pack));
    for raw in log {
        episode.observe()?;
        episode.commit(raw.action());
    }
    episode.settle()
}

/// A fresh seat that is dropped at once.
pub fn seat(strategy: &Strategy) -> Result<(), HostFault> {
    Ok(strategy.seat(Digest::of(b"bench"), 0).map(drop)?)
}

/// A whole sandboxed episode without a log: seat, brief, turns, settlement.
pub fn sandboxed_episode(strategy: &Strategy, pack: &Arc<Pack>) -> Result<Option<Settlement>, HostFault> {
    let mut seat = strategy.seat(Digest::of(b"bench"), pack.start_seconds_since_1970())?;
    let mut episode = Episode::new(Arc::clone(pack));
    campus::play(&mut episode, &mut seat, &mut ())?;
    Ok(episode.settle())
}

/// Only the turns of a sandboxed episode; the seat is made by `setup`, outside of what is timed.
pub struct Turns {
    seat: arena_sandbox::Seat,
    episode: Episode,
}

impl Turns {
    /// A briefed seat before turn 0.
    pub fn setup(strategy: &Strategy, pack: &Arc<Pack>) -> Result<Self, HostFault> {
        let mut seat = strategy.seat(Digest::of(b"bench"), pack.start_seconds_since_1970())?;
        campus::Competitor::brief(&mut seat, pack)?;
        Ok(Self { seat, episode: Episode::new(Arc::clone(pack)) })
    }

    /// Every turn to the end.
    pub fn run(&mut self) -> Result<(), HostFault> {
        while let Some(seen) = self.episode.observe() {
            let asked = match campus::Competitor::act(&mut self.seat, &seen)? {
                arena_engine::Turn::Acted(action) => action,
                arena_engine::Turn::Forfeited(_) => Action::EMPTY,
            };
            self.episode.commit(asked);
        }
        Ok(())
    }
}

/// Resident memory that `seats` live seats take, in bytes; `None` where the system does not tell.
pub fn resident_bytes(strategy: &Strategy, seats: u32) -> Result<Option<u64>, HostFault> {
    let before = resident();
    let seated: Result<Vec<_>, _> = (0..seats).map(|_| strategy.seat(Digest::of(b"bench"), 0)).collect();
    let after = resident();
    seated?;
    Ok(after.zip(before).map(|(after, before)| after.saturating_sub(before)))
}

fn resident() -> Option<u64> {
    const PAGE_BYTES: u64 = 4_096;
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE_BYTES)
}
