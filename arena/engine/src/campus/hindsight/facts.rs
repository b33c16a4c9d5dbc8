//! What a pack brings that no action changes.

use std::sync::Arc;

use super::{HindsightError, TURNS_MAX};
use crate::campus::action::Action;
use crate::campus::episode::Episode;
use crate::campus::numbers::min;
use crate::campus::pack::Pack;
use crate::campus::settlement::Ledger;

/// A pack in the form the optimum needs.
pub(super) struct Facts {
    pub(super) turns: Vec<TurnFacts>,
    pub(super) hours_per_turn: f64,
    pub(super) demand_mwh: f64,
    pub(super) asked_mwh: f64,
    pub(super) efficiency: f64,
    pub(super) capacity_mwh: f64,
    pub(super) initial_soc_mwh: f64,
    /// Turns on which the generator may run.
    pub(super) generator_turns: usize,
    pub(super) sla_usd_per_mwh: f64,
    pub(super) fuel_usd_per_mwh: f64,
}

/// One turn of it.
pub(super) struct TurnFacts {
    pub(super) demand_mw: f64,
    /// What all active orders ask, at most the demand.
    pub(super) asked_mw: f64,
    pub(super) price_usd_per_mwh: f64,
    pub(super) slope_usd_per_mwh_per_mw: f64,
    pub(super) charge_max_mw: f64,
    pub(super) discharge_max_mw: f64,
    pub(super) diesel_max_mw: f64,
}

impl Facts {
    /// Read off the pack, and off the engine's own account of an idle episode.
    pub(super) fn of(pack: &Arc<Pack>) -> Result<Self, HindsightError> {
        if pack.turns() > TURNS_MAX {
            return Err(HindsightError::TooManyTurns { turns: pack.turns() });
        }
        let mut idle = Episode::new(Arc::clone(pack));
        let generator_turns = generator_turns(&idle);
        let mut turns = Vec::with_capacity(pack.turns() as usize);
        let (mut demand_mwh, mut ledger) = (0.0, Ledger::default());
        for turn in 0..pack.turns() {
            let asked_mw = idle.commit(Action::EMPTY).relief.asked_mw;
            turns.push(TurnFacts::of(pack, turn, asked_mw)?);
        }
        if let Some(settled) = idle.settle() {
            (demand_mwh, ledger) = (settled.totals.demand_mwh, settled.ledger);
        }
        if demand_mwh == 0.0 {
            return Err(HindsightError::NoDemand);
        }
        let site = &pack.document().site;
        Ok(Self {
            turns,
            hours_per_turn: pack.hours_per_turn(),
            demand_mwh,
            asked_mwh: ledger.relief_asked_mwh,
            efficiency: site.battery.round_trip_efficiency,
            capacity_mwh: site.battery.capacity_mwh,
            initial_soc_mwh: site.battery.initial_soc_mwh,
            generator_turns,
            sla_usd_per_mwh: site.sla_usd_per_mwh,
            fuel_usd_per_mwh: site.generator.fuel_usd_per_mwh,
        })
    }

    /// The largest power of the pack: the solver counts in it, so that its absolute tolerances mean
    /// the same for every pack.
    pub(super) fn largest_power_mw(&self) -> f64 {
        let powers = self.turns.iter().flat_map(|turn| [turn.demand_mw, turn.charge_max_mw]);
        powers.fold(0.0, f64::max)
    }
}

impl TurnFacts {
    fn of(pack: &Pack, turn: u32, asked_mw: f64) -> Result<Self, HindsightError> {
        let (document, t) = (pack.document(), turn as usize);
        let slopes = document.grid.price_slope_usd_per_mwh_per_mw.as_ref();
        let slope_usd_per_mwh_per_mw = slopes.map_or(0.0, |slopes| slopes[t]);
        if slope_usd_per_mwh_per_mw < 0.0 {
            return Err(HindsightError::NegativeSlope { turn });
        }
        let (battery, generator) = (&document.site.battery, &document.site.generator);
        let demand_mw = document.site.it_demand_mw[t];
        let hours = pack.hours_per_turn();
        let full_mw = battery.capacity_mwh / (battery.round_trip_efficiency * hours);
        Ok(Self {
            demand_mw,
            asked_mw,
            price_usd_per_mwh: document.grid.price_usd_per_mwh[t],
            slope_usd_per_mwh_per_mw,
            charge_max_mw: min(battery.power_mw, full_mw),
            discharge_max_mw: min(min(battery.power_mw, battery.capacity_mwh / hours), demand_mw),
            diesel_max_mw: min(generator.capacity_mw, demand_mw),
        })
    }
}

/// Any output uses up a whole turn of the permit, so the permit is a number of turns.
fn generator_turns(before_the_first: &Episode) -> usize {
    let step_minutes = before_the_first.pack().document().time.step_minutes;
    let hours = before_the_first.observe().map_or(0.0, |seen| seen.permit_hours_remaining());
    // The engine counts whole minutes; its hours are those minutes over 60.
    let minutes = (hours * 60.0).round() as u64;
    usize::try_from(minutes / u64::from(step_minutes)).unwrap_or(usize::MAX)
}
