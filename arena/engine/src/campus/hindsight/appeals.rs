//! Which appeals to accept, and what reduction beyond the orders is worth on each turn then.
//!
//! An appeal that pays is accepted as early as it can be. Only one that charges (a negative credit)
//! makes acceptance a question, because all active appeals are accepted together; the few turns on
//! which it is a question are tried both ways.

use super::{ACCEPTANCES_MAX, HindsightError};
use crate::campus::pack::{Pack, Scripted};

/// One way to answer every appeal.
pub(super) struct Acceptance {
    /// For each turn, whether the active appeals are accepted.
    pub(super) accept: Vec<bool>,
    /// For each turn, credit per MWh of reduction beyond what orders ask.
    pub(super) credit_usd_per_mwh: Vec<f64>,
}

/// Every way that can be the best one.
pub(super) fn acceptances(pack: &Pack) -> Result<Vec<Acceptance>, HindsightError> {
    let (certain, doubtful) = certain_and_doubtful(pack);
    let ways = u32::try_from(doubtful.len()).ok().and_then(|n| 1_usize.checked_shl(n));
    match ways {
        Some(ways) if ways <= ACCEPTANCES_MAX => Ok((0..ways)
            .map(|way| {
                let mut accept = certain.clone();
                for (bit, &turn) in doubtful.iter().enumerate() {
                    accept[turn as usize] = way >> bit & 1 == 1;
                }
                Acceptance { credit_usd_per_mwh: credits(pack, &accept), accept }
            })
            .collect()),
        _ => Err(HindsightError::TooManyAcceptances { questions: doubtful.len() }),
    }
}

/// On which turns to accept for sure, and on which acceptance may help or harm.
///
/// Accepting is sure while only paying appeals are active, and useless while no paying appeal is
/// active that was not accepted already. In between, the first turn of a run of turns with the same
/// active appeals is the only one in question: while a paying appeal is active and accepted, one
/// that charges does no harm, so accepting later in the run is never better.
fn certain_and_doubtful(pack: &Pack) -> (Vec<bool>, Vec<u32>) {
    let (mut certain, mut doubtful) = (Vec::new(), Vec::new());
    let mut accepted: Vec<u32> = Vec::new();
    let mut previously: Vec<u32> = Vec::new();
    for turn in 0..pack.turns() {
        let active: Vec<&Scripted> = active(pack, turn).collect();
        let charges = active.iter().any(|appeal| appeal.amount < 0.0);
        let sure = !active.is_empty() && !charges;
        if sure {
            accepted.extend(active.iter().map(|appeal| appeal.index));
        }
        let pays = active.iter().any(|a| a.amount >= 0.0 && !accepted.contains(&a.index));
        let indices = active.iter().map(|appeal| appeal.index).collect();
        if charges && pays && previously != indices {
            doubtful.push(turn);
        }
        certain.push(sure);
        previously = indices;
    }
    (certain, doubtful)
}

/// The best accepted active appeal's credit on each turn; 0 where none is accepted.
fn credits(pack: &Pack, accept: &[bool]) -> Vec<f64> {
    let mut accepted: Vec<u32> = Vec::new();
    let credit = |(turn, &accept): (u32, &bool)| {
        if accept {
            accepted.extend(active(pack, turn).map(|appeal| appeal.index));
        }
        let paid = active(pack, turn).filter(|appeal| accepted.contains(&appeal.index));
        paid.map(|appeal| appeal.amount).reduce(f64::max).unwrap_or(0.0)
    };
    (0u32..).zip(accept).map(credit).collect()
}

fn active(pack: &Pack, turn: u32) -> impl Iterator<Item = &Scripted> {
    pack.appeals().iter().filter(move |appeal| appeal.is_active(turn))
}
