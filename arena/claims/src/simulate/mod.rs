//! Populations of honest and dishonest agents over many claims, through the real state machine and ledger.
//!
//! Everybody is drawn, funded, slashed and paid by the rules that are in force; only behaviour is made up. Luck is
//! a seed, so a result repeats. Money is compared per drawn seat, less what honest work costs. What the agents could
//! pay each other beside the ledger, such as bribes, is not counted.
//!
//! The world is a rehearsal unless [`Config::signed`] says otherwise: records come unsigned and transcripts of
//! draws are not kept, which changes no event.

mod actor;
mod behaviour;
mod book;
mod report;
mod round;
mod sweep;
mod tally;

pub use actor::{Actor, Measurement, stamped};
pub use behaviour::Population;
pub use report::{Report, Standing};
pub use sweep::{Axis, Point, Predicted, Sweep, sweep};
pub use tally::{Estimate, Hundredths, Sample, Tally};

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_draw::beacon::Source;
use arena_ledger::{Account, Amount, Asset, Ledger, apply, deposit};

use crate::life::{Command, Instance, Phase, Refusal, World, execute};
use crate::luck::SplitMix;
use crate::params::{PPM, Params};
use actor::salt_of;
use book::Book;
use round::{Case, OPERATOR, Pending, Round};

const SUBMITTER: &str = "submitter";
const FUNDER: &str = "funder";
/// Claims after which accounts are cleared that nothing is in.
const CLEARED_EVERY: u64 = 64;

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
    /// Every operator starts with a record of valid runs that is as long as can be, so that it is audited no more
    /// than anybody must be.
    pub established: bool,
    /// Records are signed and signatures verified. It changes no event and takes twice the time.
    pub signed: bool,
    /// By which parameters.
    pub params: Params,
}

impl Config {
    /// A mixed field under the published parameters. Disputes go to panels, so that these are seen at work.
    pub fn mixed(seed: u64, claims: u64) -> Self {
        let params = Params { fast_referee: false, ..Params::published() };
        Self {
            seed,
            claims,
            populations: Self::mixed_field(),
            wrong_ppm: PPM / 5,
            reviewer_ppm: params.assumptions.reviewer_ppm,
            traces: true,
            established: false,
            signed: false,
            params,
        }
    }

    /// The agents of a mixed field: many that are honest, and some of everybody else but the patient, whom only a long
    /// time tells from the honest.
    pub fn mixed_field() -> BTreeMap<Population, u64> {
        let others = [
            Population::Lazy,
            Population::Echoing,
            Population::Copying,
            Population::Colluding,
            Population::Bribing,
            Population::Griefing,
        ];
        others.into_iter().map(|other| (other, 3)).chain([(Population::Honest, 24)]).collect()
    }
}

/// Runs a simulation. The refusal, if there is one, is a fault of this crate or of the configuration.
pub fn simulate(config: &Config) -> Result<Report, Refusal> {
    simulate_with(config, &mut |_| ())
}

/// The same; `done` hears how many claims are over.
pub fn simulate_with(config: &Config, done: &mut dyn FnMut(u64)) -> Result<Report, Refusal> {
    let mut luck = SplitMix::new(config.seed);
    let genesis = 1_800_000_000;
    let mut world = found(config)?;
    let actors = enlist_all(config, &mut world, genesis)?;
    // The next day: money that just came in is not at rest.
    let mut at = genesis.saturating_add(86_400);
    let mut report = Report::of(config.populations.keys().copied());
    for n in 0..config.claims {
        let id = format!("claim-{n:06}");
        let round = Round {
            config,
            world: &mut world,
            actors: &actors,
            report: &mut report,
            at,
            id: id.clone(),
            salt: salt_of(&id),
            book: Book::default(),
            pending: Pending::default(),
            case: Case::new(config, &mut luck),
            luck: &mut luck,
        };
        // Some days apart: standing recovers, and stakes are at rest.
        at = round.play()?.saturating_add(3 * 86_400);
        forget(&mut world, &id, n);
        done(n.saturating_add(1));
    }
    report.treasury = world.ledger.balance(&Account::treasury(&world.instance.asset));
    Ok(report)
}

fn found(config: &Config) -> Result<World, Refusal> {
    let asset =
        Asset::new("units").map_err(|why| Refusal::BadName { name: "units".into(), why: why.to_string() })?;
    let instance = Instance {
        name: format!("test-simulation-{}", config.seed),
        source: Source::Test,
        params: Arc::new(config.params.clone()),
        asset,
        operator: OPERATOR.into(),
        parties: Vec::new(),
    };
    Ok(if config.signed { World::new(instance) } else { World::rehearsed(instance) })
}

fn enlist_all(config: &Config, world: &mut World, at: u64) -> Result<BTreeMap<String, Actor>, Refusal> {
    let (agents, funders) = purses(config);
    let mut actors = BTreeMap::new();
    for name in [SUBMITTER, FUNDER] {
        enlist(world, &mut actors, Actor::new(name, Population::Honest), funders, at)?;
    }
    for (population, count) in &config.populations {
        for i in 0..*count {
            let actor = Actor::new(&format!("{}-{i:03}", population.name()), *population);
            if config.established {
                world.valid_runs.insert((operator_of(&actor), "wasm".into()), u64::MAX >> 1);
            }
            enlist(world, &mut actors, actor, agents, at)?;
        }
    }
    actors.insert(OPERATOR.to_owned(), Actor::new(OPERATOR, Population::Honest));
    Ok(actors)
}

/// What agents and those who pay start with: enough for every stake it may have at once and for all it can
/// lose, as far as there are amounts.
fn purses(config: &Config) -> (Amount, Amount) {
    let params = &config.params;
    let stakes = [params.runner_stake, params.challenger_stake, params.reviewer_stake, params.appeal_bond()];
    let most = stakes.into_iter().max().unwrap_or_default().units().max(1_000);
    let times = config.claims.saturating_add(1_000);
    // All purses together stay far below the largest amount.
    let limit = Amount::MAX.units() >> 12;
    let pool = params.pool_min().unwrap_or_default().units();
    let purse = |each: u64| Amount::new(each.saturating_mul(times).min(limit)).unwrap_or_default();
    (purse(most), purse(pool))
}

fn operator_of(actor: &Actor) -> String {
    format!("op-{}", actor.name)
}

fn enlist(
    world: &mut World,
    actors: &mut BTreeMap<String, Actor>,
    actor: Actor,
    amount: Amount,
    at: u64,
) -> Result<(), Refusal> {
    let register = Command::Register {
        operator: operator_of(&actor),
        key: actor.public_key(),
        capabilities: vec!["wasm".into()],
    };
    for command in [register, Command::Deposit { amount }] {
        execute(world, &actor.stamped(at, command))?;
    }
    actors.insert(actor.name.clone(), actor);
    Ok(())
}

/// Forgets what nothing depends on any more, so that a million claims fit into memory: claims that are over, but for
/// one that shows that the submitter's claims settle, and accounts that nothing is in.
fn forget(world: &mut World, id: &str, n: u64) {
    let shows = |world: &World| world.claims.values().any(|claim| matches!(claim.phase, Phase::Settled(_)));
    let over = world.claims.remove(id).map(Arc::unwrap_or_clone);
    if let Some(over) = over.filter(|over| matches!(over.phase, Phase::Settled(_)) && !shows(world)) {
        world.claims.insert(id.to_owned(), over);
    }
    if n.checked_rem(CLEARED_EVERY) == Some(0) {
        world.ledger = cleared(&world.ledger);
    }
}

fn cleared(ledger: &Ledger) -> Ledger {
    let mut kept = Ledger::new();
    for (account, _) in ledger.accounts() {
        let amount = ledger.balance(account);
        if !amount.is_zero() {
            // What is positive in all was paid in from outside in all.
            let applied = apply(&mut kept, &deposit(account, amount));
            debug_assert!(applied.is_ok(), "{account}: {applied:?}");
        }
    }
    kept
}

#[cfg(test)]
mod tests;
