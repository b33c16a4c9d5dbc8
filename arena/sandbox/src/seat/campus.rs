use std::time::Duration;

use arena_engine::campus::{Action, Competitor, Observation, Pack};
use arena_engine::{During, Forfeit, HostFault, Turn};
use wasmtime::Store;

use super::{Metered, Place, SeatUsage};
use crate::cell::Cell;
use crate::host::Strategy;
use crate::world::campus::{self, Campus, CampusPre, types};

/// A strategy seated at one episode of the campus game.
pub struct Seat(Metered<Campus>);

impl Seat {
    pub(crate) fn new(strategy: &Strategy, pre: &CampusPre<Cell>, place: &Place) -> Result<Self, HostFault> {
        Metered::new(strategy, place, |store| pre.instantiate(store)).map(Self)
    }

    /// `act` with nothing around it but a full turn's fuel.
    pub(crate) fn call_bare(&mut self, seen: types::Observation) -> Result<f64, HostFault> {
        let ask = |instance: &Campus, store: &mut _| instance.arena_campus_player().call_act(store, seen);
        Ok(self.0.bare(ask)?.curtail_mw)
    }

    /// What it used and said in an episode of `turns` turns; the seat is done.
    pub fn into_usage(self, turns: u32) -> SeatUsage {
        self.0.into_usage(turns)
    }
}

impl Competitor for Seat {
    fn brief(&mut self, pack: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        let step = Duration::from_secs(u64::from(pack.document().time.step_minutes) * 60);
        let told = campus::brief(pack, self.0.limits);
        self.0.brief(pack.turns(), step, |instance, store| {
            instance.arena_campus_player().call_brief(store, told)
        })
    }

    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault> {
        self.0.turn(seen.turn(), |instance, store| ask(instance, store, seen))
    }
}

/// The notices and the action of one turn, under one budget.
fn ask(instance: &Campus, store: &mut Store<Cell>, seen: &Observation<'_>) -> wasmtime::Result<Action> {
    let player = instance.arena_campus_player();
    for notice in seen.notices() {
        player.call_notice(&mut *store, campus::notice(&notice))?;
    }
    let action = player.call_act(&mut *store, campus::observation(seen))?;
    Ok(Action {
        curtail_mw: action.curtail_mw,
        battery_mw: action.battery_mw,
        diesel_mw: action.diesel_mw,
        accept_offer: action.accept_offer,
    })
}
