//! What is worth keeping for later turns: energy in the battery, and turns on the generator's permit.

use arena_sdk::campus::Observation;

use crate::outlook::{Outlook, Turn};

/// Uses that something scarce could be put to, the best first.
pub(crate) struct Uses {
    /// What a unit saves, usd, and how many units the use can take.
    best_first: Vec<(f64, f64)>,
}

impl Uses {
    fn of(mut uses: Vec<(f64, f64)>) -> Self {
        uses.retain(|&(saved_usd, _)| saved_usd > 0.0);
        uses.sort_by(|a, b| b.0.total_cmp(&a.0));
        Self { best_first: uses }
    }

    /// What `units` save when each goes to the best use that is left, usd.
    pub(crate) fn total_usd(&self, units: f64) -> f64 {
        let mut left = units;
        let mut total_usd = 0.0;
        for &(saved_usd, most) in &self.best_first {
            if left <= 0.0 {
                break;
            }
            total_usd += saved_usd * most.min(left);
            left -= most;
        }
        total_usd
    }

    /// What the last of `units` saves, usd; 0 if there are more units than uses.
    fn last_usd(&self, units: u32) -> f64 {
        let last = self.best_first.get(units.saturating_sub(1) as usize);
        last.map_or(0.0, |&(saved_usd, _)| saved_usd)
    }
}

/// What energy that is left in the battery after the forecast will be good for, by the MWh.
pub(crate) fn stored_energy(seen: &Observation, outlook: &Outlook) -> Uses {
    let sla = seen.brief.sla_usd_per_mwh;
    let (power_mw, hours) = (seen.brief.battery.power_mw, seen.brief.turn_hours());
    let mut generator_turns = seen.generator_turns_left();
    let mut uses = Vec::with_capacity(2 * outlook.later.len());
    for turn in &outlook.later {
        let mut due_mw = turn.due_mw;
        if due_mw > 0.0 && generator_turns > 0 {
            generator_turns -= 1;
            due_mw = (due_mw - seen.brief.generator.capacity_mw).max(0.0);
        }
        let due_mw = due_mw.min(power_mw);
        uses.push((sla, due_mw * hours));
        uses.push((turn.power_usd_per_mwh(sla), (power_mw - due_mw) * hours));
    }
    Uses::of(uses)
}

/// What one turn of the generator must save to be worth its place on the permit, usd; `None` when no
/// turn is left on it.
pub(crate) fn generator_turn_usd(seen: &Observation, outlook: &Outlook) -> Option<f64> {
    let turns = seen.generator_turns_left();
    let uses = outlook.all().map(|turn| (generator_saves_usd(seen, turn), 1.0)).collect();
    // A hair less than the last turn that fits on the permit saves, so that it does fit.
    (turns > 0).then(|| Uses::of(uses).last_usd(turns) * 0.999)
}

fn generator_saves_usd(seen: &Observation, turn: &Turn) -> f64 {
    let (generator, sla) = (&seen.brief.generator, seen.brief.sla_usd_per_mwh);
    let output_mw = generator.capacity_mw.min(turn.demand_mw);
    let for_orders_mw = output_mw.min(turn.due_mw);
    let orders = for_orders_mw * (sla - generator.fuel_usd_per_mwh);
    let rest = (output_mw - for_orders_mw) * (turn.power_usd_per_mwh(sla) - generator.fuel_usd_per_mwh);
    ((orders + rest.max(0.0)) * seen.brief.turn_hours()).max(0.0)
}
