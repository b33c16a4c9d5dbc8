//! Populations of honest and dishonest agents over many claims, through the real state machine and ledger.
//!
//! Everybody is drawn, funded, slashed and paid by the rules that are in force; only behaviour is made up. Luck is
//! a seed, so a result repeats. Money is compared per drawn seat, less what honest work costs.

mod actor;
mod behaviour;
mod round;

pub use actor::{Actor, Measurement, stamped};
pub use behaviour::Population;

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::Value;
use arena_draw::beacon::Source;
use arena_ledger::{Amount, Asset};
use serde_json::json;

use crate::life::{Command, Instance, Refusal, World, execute};
use crate::luck::SplitMix;
use crate::params::{PPM, Params};
use round::Round;

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Config {
    /// What all luck follows from.
    pub seed: u64,
    /// How many claims.
    pub claims: u64,
    /// Agents of each population, each with an operator of its own.
    pub populations: BTreeMap<Population, u64>,
    /// How many claims claim a wrong value.
    pub wrong_ppm: u64,
    /// How often a reviewer that looks sees right.
    pub reviewer_ppm: u64,
    /// Compare what only running shows (fuel, log), as exact manifests do.
    pub traces: bool,
    /// By which parameters.
    pub params: Params,
}

impl Config {
    /// A mixed field under the published parameters. Disputes go to panels, so that these are seen at work.
    pub fn mixed(seed: u64, claims: u64) -> Self {
        let populations = [
            (Population::Honest, 24),
            (Population::Lazy, 3),
            (Population::Echoing, 3),
            (Population::Copying, 3),
            (Population::Colluding, 3),
            (Population::Bribing, 3),
            (Population::Griefing, 3),
        ];
        let params = Params { fast_referee: false, ..Params::published() };
        Self {
            seed,
            claims,
            populations: populations.into(),
            wrong_ppm: PPM / 5,
            reviewer_ppm: params.assumptions.reviewer_ppm,
            traces: true,
            params,
        }
    }
}

/// What a population came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Times it was drawn to run.
    pub runs: u64,
    /// Times it sat on a panel.
    pub reviews: u64,
    /// Times it challenged or audited.
    pub challenges: u64,
    /// Runs that were overturned or withheld.
    pub overturned: u64,
    /// What it earned in roles, less what its work cost.
    pub profit: i64,
    /// The part of that from runs.
    pub run_profit: i64,
    /// The part of that from reviews.
    pub review_profit: i64,
    /// Commands of it that were refused as copies.
    pub copies_refused: u64,
}

/// What a simulation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// By population.
    pub tallies: BTreeMap<Population, Tally>,
    /// Claims by how they ended.
    pub endings: BTreeMap<String, u64>,
    /// What the treasury has.
    pub treasury: Amount,
    /// Claims whose outcome is not what is true.
    pub false_outcomes: u64,
    /// Events in all.
    pub events: u64,
    /// SHA-256 over all events: two runs of one seed have the same.
    pub history: Digest,
}

impl Report {
    /// The report as a document.
    pub fn to_json(&self) -> Value {
        let each = |profit: i64, times: u64| {
            i64::try_from(times)
                .ok()
                .and_then(|times| profit.checked_div_euclid(times))
                .map(|n| n.to_string())
        };
        let tally = |tally: &Tally| {
            json!({
                "runs": tally.runs, "reviews": tally.reviews, "challenges": tally.challenges,
                "overturned": tally.overturned, "profit": tally.profit.to_string(),
                "profit_per_run": each(tally.run_profit, tally.runs),
                "profit_per_review": each(tally.review_profit, tally.reviews),
                "copies_refused": tally.copies_refused,
            })
        };
        let tallies = self.tallies.iter().map(|(population, of)| (population.name().to_owned(), tally(of)));
        json!({
            "populations": tallies.collect::<serde_json::Map<_, _>>(),
            "endings": self.endings,
            "treasury": self.treasury,
            "false_outcomes": self.false_outcomes,
            "events": self.events,
            "history_sha256": self.history,
        })
    }
}

/// Runs a simulation. The refusal, if there is one, is a fault of this crate or of the configuration.
pub fn simulate(config: &Config) -> Result<Report, Refusal> {
    let mut luck = SplitMix::new(config.seed);
    let asset =
        Asset::new("units").map_err(|why| Refusal::BadName { name: "units".into(), why: why.to_string() })?;
    let mut world = World::new(Instance {
        name: format!("test-simulation-{}", config.seed),
        source: Source::Test,
        params: Arc::new(config.params.clone()),
        asset,
        operator: "operator".into(),
    });
    let mut actors = BTreeMap::new();
    let mut at = 1_800_000_000;
    for name in ["submitter", "funder"] {
        enlist(&mut world, &mut actors, Actor::new(name, Population::Honest), at)?;
    }
    for (population, count) in &config.populations {
        for i in 0..*count {
            let actor = Actor::new(&format!("{}-{i:03}", population.name()), *population);
            enlist(&mut world, &mut actors, actor, at)?;
        }
    }
    let mut report = Report {
        tallies: config.populations.keys().map(|population| (*population, Tally::default())).collect(),
        endings: BTreeMap::new(),
        treasury: Amount::ZERO,
        false_outcomes: 0,
        events: 0,
        history: Digest::of(b""),
    };
    for n in 0..config.claims {
        // A week apart: standing recovers, and stakes are at rest.
        at = Round {
            config,
            world: &mut world,
            actors: &mut actors,
            luck: &mut luck,
            report: &mut report,
            at,
            n,
        }
        .play()?
        .saturating_add(3 * 86_400);
    }
    report.treasury = world.ledger.balance(&arena_ledger::Account::treasury(&world.instance.asset));
    Ok(report)
}

/// What an agent starts with: enough for every stake it may have at once.
const PURSE: u64 = 1_000_000_000;

fn enlist(
    world: &mut World,
    actors: &mut BTreeMap<String, Actor>,
    actor: Actor,
    at: u64,
) -> Result<(), Refusal> {
    let register = Command::Register {
        operator: format!("op-{}", actor.name),
        key: actor.public_key(),
        capabilities: vec!["wasm".into()],
    };
    let deposit = Command::Deposit { amount: Amount::new(PURSE).unwrap_or_default() };
    for command in [register, deposit] {
        execute(world, &actor.stamped(at, command))?;
    }
    actors.insert(actor.name.clone(), actor);
    Ok(())
}

#[cfg(test)]
mod tests;
