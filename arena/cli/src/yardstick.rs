//! What a run could have cost, for packs short enough to find out while somebody waits.

use std::sync::Arc;

use arena_engine::campus::hindsight::{Frontier, SHARE_TOLERANCE, STEPS, frontier, optimum};
use arena_engine::campus::{Pack, Settlement};

/// Most turns of such a pack: its optimum takes a fraction of a second.
const TURNS_MAX: u32 = 60;

/// The least cost anybody could have had with the relief of this run, or with a little less: at the
/// next share of the frontier below it.
pub(crate) fn best_at(pack: &Arc<Pack>, run: &Settlement) -> Option<f64> {
    if pack.turns() > TURNS_MAX {
        return None;
    }
    let (asked, delivered) = (run.ledger.relief_asked_mwh, run.ledger.relief_delivered_mwh);
    let share = if asked == 0.0 { 1.0 } else { delivered / asked };
    let step = ((share + SHARE_TOLERANCE) * f64::from(STEPS)).floor();
    Some(optimum(pack, step / f64::from(STEPS)).ok()?.cost_usd_per_mwh)
}

/// The frontier runs of this pack are measured against.
pub(crate) fn of(pack: &Arc<Pack>) -> Option<Frontier> {
    if pack.turns() > TURNS_MAX {
        return None;
    }
    frontier(pack, &mut |_, _| {}).ok()
}
