//! The least cost of the built-in packs by relief: worked out once, checked in beside the packs, and
//! looked up here, since proving them takes seconds.

use arena_canon::Digest;
use arena_engine::campus::hindsight::{Frontier, FrontierPoint};
use arena_engine::campus::{Pack, Settlement};
use serde::{Deserialize, Serialize};

use crate::packs::BUILT_IN;

/// A frontier as `arena pack optimum --json` prints it and as `scenarios/frontier/` keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) pack_id: String,
    pub(crate) pack_version: String,
    pub(crate) pack_sha256: Digest,
    pub(crate) points: Vec<Point>,
}

/// One point of it; the schedule is not kept.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Point {
    relief_share: f64,
    cost_usd_per_mwh: f64,
    bound_usd_per_mwh: f64,
    delivered_share: f64,
}

impl Record {
    pub(crate) fn new(pack: &Pack, frontier: &Frontier) -> Self {
        let document = pack.document();
        Self {
            pack_id: document.pack_id.clone(),
            pack_version: document.pack_version.clone(),
            pack_sha256: pack.sha256(),
            points: frontier.points.iter().map(Point::from).collect(),
        }
    }

    fn frontier(self) -> Frontier {
        let point = |point: Point| FrontierPoint {
            relief_share: point.relief_share,
            bound_usd_per_mwh: point.bound_usd_per_mwh,
            cost_usd_per_mwh: point.cost_usd_per_mwh,
            delivered_share: point.delivered_share,
            schedule: Vec::new(),
        };
        Frontier { points: self.points.into_iter().map(point).collect() }
    }
}

impl From<&FrontierPoint> for Point {
    fn from(point: &FrontierPoint) -> Self {
        Self {
            relief_share: point.relief_share,
            cost_usd_per_mwh: point.cost_usd_per_mwh,
            bound_usd_per_mwh: point.bound_usd_per_mwh,
            delivered_share: point.delivered_share,
        }
    }
}

/// What is known of a pack without working it out: the frontier of a built-in pack, if this is the
/// very pack it was worked out for.
pub(crate) fn known(pack: &Pack) -> Option<Frontier> {
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == pack.document().pack_id)?;
    let record: Record = serde_json::from_str(built_in.frontier).ok()?;
    (record.pack_sha256 == pack.sha256()).then(|| record.frontier())
}

/// The least cost anybody could have had at the relief of this run.
pub(crate) fn best_at(pack: &Pack, run: &Settlement) -> Option<f64> {
    let (asked, delivered) = (run.ledger.relief_asked_mwh, run.ledger.relief_delivered_mwh);
    let share = if asked == 0.0 { 1.0 } else { delivered / asked };
    Some(known(pack)?.below(share)?.cost_usd_per_mwh)
}

/// How much of what could be saved at its relief a run saved.
pub(crate) fn closeness(pack: &Pack, run: &Settlement) -> Option<f64> {
    known(pack)?.closeness(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_pack_has_its_frontier() {
        for built_in in &BUILT_IN {
            let pack = built_in.pack();
            let frontier = known(&pack).unwrap_or_else(|| {
                let name = built_in.name;
                panic!("work it out: arena pack optimum {name} --json > scenarios/frontier/{name}.json")
            });
            assert_eq!(frontier.points.len(), 21);
        }
    }
}
