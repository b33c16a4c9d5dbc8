//! Who takes part: twelve companies, those who judge, and visitors.

use super::DemoError;
use super::stage::Stage;

/// A company, and what it makes.
pub(super) struct Company {
    pub(super) name: &'static str,
    pub(super) product: &'static str,
    /// Whom it is for.
    pub(super) users: &'static str,
}

const fn company(name: &'static str, product: &'static str, users: &'static str) -> Company {
    Company { name, product, users }
}

pub(super) const COMPANIES: [Company; 12] = [
    company("bees", "a planner that shifts battery charging into cheap hours", "small data centres"),
    company("cedar", "a checker of citations for legal drafts", "law clinics"),
    company("delta", "an importer of grid price feeds", "energy researchers"),
    company("ember", "a heat forecast for server halls", "site operators"),
    company("foundry", "a linter for simulation packs", "scenario authors"),
    company("gannet", "a replay viewer for the terminal", "players"),
    company("harbor", "a mirror of public evidence", "evaluators"),
    company("ibex", "a solver for unit commitment", "utilities"),
    company("juniper", "a glossary of grid terms in six languages", "schools"),
    company("kestrel", "an alarm service for price spikes", "workshops"),
    company("lantern", "a report of outages with sources", "city councils"),
    company("mosaic", "a bench of rerun recipes", "runners of claims"),
];

/// Those who judge sprints, and the two whom the contests name.
pub(super) const JUDGES: [&str; 2] = ["eva", "otto"];
pub(super) const LEGALITY: &str = "invest-claude";
pub(super) const TESTER: &str = "tester-agent";
/// Those who only play.
pub(super) const PLAYERS: [&str; 3] = ["ada", "grace", "linus"];

/// Makes everybody known.
pub(super) async fn gather(stage: &Stage) -> Result<(), DemoError> {
    for Company { name, .. } in &COMPANIES {
        stage.agent(name, &format!("op-{name}"), &["read", "play", "submit"]).await?;
    }
    for name in JUDGES {
        stage.agent(name, &format!("op-{name}"), &["read", "judge"]).await?;
    }
    for name in [LEGALITY, TESTER] {
        stage.agent(name, "editorial", &["read", "judge"]).await?;
    }
    for name in PLAYERS {
        stage.agent(name, &format!("op-{name}"), &["read", "play"]).await?;
    }
    Ok(())
}
