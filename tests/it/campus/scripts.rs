//! Competitors written down here, so that laws and playthroughs need no sandbox. Between them they
//! meet every limit there is.

use std::sync::Arc;

use arena_engine::campus::{
    self, Action, Competitor, Episode, EpisodeLog, EventKind, Observation, Pack, Pins, Recorder,
};
use arena_engine::{During, Forfeit, HostFault, Turn};

/// SplitMix64: a stream that no upgrade of a crate changes.
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn seed(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `most - 1`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    /// A number from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A strategy as a function of what it sees and a stream of luck.
pub(crate) struct Script {
    pub(crate) name: &'static str,
    act: fn(&mut SplitMix, &Observation<'_>) -> Action,
}

pub(crate) const SCRIPTS: &[Script] = &[
    Script { name: "idle", act: |_, _| Action::EMPTY },
    Script { name: "obey", act: obey },
    Script { name: "accept", act: accept },
    Script { name: "peaks", act: peaks },
    Script { name: "charge", act: |_, _| Action { battery_mw: -1e9, ..Action::EMPTY } },
    Script { name: "burn", act: |_, _| Action { battery_mw: 1e9, diesel_mw: 1e9, ..Action::EMPTY } },
    Script { name: "everything", act: everything },
    Script { name: "limits", act: limits },
    Script { name: "wild", act: wild },
    Script { name: "edges", act: edges },
];

/// The script of that name.
pub(crate) fn script(name: &str) -> &'static Script {
    SCRIPTS.iter().find(|script| script.name == name).unwrap_or_else(|| panic!("no script is called {name}"))
}

/// Sheds exactly what is ordered.
fn obey(_: &mut SplitMix, seen: &Observation<'_>) -> Action {
    let ordered = |kind| match kind {
        EventKind::CurtailmentOrder { requested_mw } => requested_mw,
        EventKind::ConservationAppeal { .. } => 0.0,
    };
    let active = seen.events().filter(|(event, _)| event.is_active(seen.turn()));
    Action { curtail_mw: active.map(|(event, _)| ordered(event.kind)).sum(), ..Action::EMPTY }
}

/// Sheds a fifth and says yes to everything, asked or not.
fn accept(_: &mut SplitMix, seen: &Observation<'_>) -> Action {
    Action { curtail_mw: 0.2 * seen.it_demand_mw(), accept_offer: true, ..Action::EMPTY }
}

/// Fills the battery before a peak and empties it there.
fn peaks(_: &mut SplitMix, seen: &Observation<'_>) -> Action {
    let ahead: Vec<f64> = (1..=3).filter_map(|ahead| seen.forecast(ahead)).map(|(price, _)| price).collect();
    let price = seen.price_usd_per_mwh();
    let battery_mw = match () {
        () if ahead.iter().all(|&later| later <= price) => 40.0,
        () if ahead.iter().all(|&later| later >= price) => -15.0,
        () => 0.0,
    };
    Action { battery_mw, ..Action::EMPTY }
}

/// More of everything than there can be.
fn everything(_: &mut SplitMix, _: &Observation<'_>) -> Action {
    Action { curtail_mw: 1e9, battery_mw: 1e9, diesel_mw: 1e9, accept_offer: true }
}

/// What the limits allow, to the last bit: no clamp.
fn limits(luck: &mut SplitMix, seen: &Observation<'_>) -> Action {
    let site = &seen.pack().document().site;
    let most = [site.battery.power_mw, seen.soc_mwh() / seen.pack().hours_per_turn(), seen.it_demand_mw()];
    let battery_mw = most.into_iter().fold(f64::INFINITY, f64::min);
    let left_mw = seen.it_demand_mw() - battery_mw;
    let curtail = luck.below(2) == 0;
    Action { curtail_mw: if curtail { 0.0 } else { -0.0 }, battery_mw, diesel_mw: left_mw, ..Action::EMPTY }
}

/// Anything of the right size.
fn wild(luck: &mut SplitMix, seen: &Observation<'_>) -> Action {
    let size = 0.7 * seen.it_demand_mw();
    let mut around = |from: f64, to: f64| from + luck.unit() * (to - from);
    Action {
        curtail_mw: around(-0.1, 0.4) * size,
        battery_mw: around(-1.0, 1.0) * size,
        diesel_mw: around(-0.2, 0.6) * size,
        accept_offer: around(0.0, 1.0) > 0.5,
    }
}

/// What nobody asks for.
pub(crate) const EDGES: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    1e300,
    -1e300,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    0.0,
    -0.0,
    12.5,
    -12.5,
];

fn edges(luck: &mut SplitMix, _: &Observation<'_>) -> Action {
    Action {
        curtail_mw: *luck.pick(&EDGES),
        battery_mw: *luck.pick(&EDGES),
        diesel_mw: *luck.pick(&EDGES),
        accept_offer: luck.below(2) == 0,
    }
}

/// A script at an episode.
struct Player<'s> {
    script: &'s Script,
    luck: SplitMix,
}

impl Competitor for Player<'_> {
    fn brief(&mut self, _: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault> {
        Ok(Turn::Acted((self.script.act)(&mut self.luck, seen)))
    }
}

/// The log of a script on a pack. Its luck is always the same.
pub(crate) fn play(pack: &Arc<Pack>, script: &Script) -> EpisodeLog {
    let mut episode = Episode::new(Arc::clone(pack));
    let mut recorder = Recorder::new(pack.turns());
    let mut player = Player { script, luck: SplitMix::seed(2) };
    campus::play(&mut episode, &mut player, &mut recorder).expect("a script has no host to fail");
    let settlement = episode.settle().expect("an episode is played to its end");
    EpisodeLog::new(pack, recorder, settlement, Pins::of_replay(pack), None)
}
