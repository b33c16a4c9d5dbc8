//! From a plan to the frozen file. Aliases are drawn first; then the matrix is written out.

use arena_canon::Digest;
use arena_engine::ENGINE_VERSION;

use crate::frozen::{
    FROZEN_SCHEMA, Frozen, Identity, Matchup, MatrixRules, PROTOCOL_VERSION, PackPin, Protocol,
    SCORE_VERSION, Scenario, SeatingPin, StrategyPin,
};
use crate::identities;
use crate::names::{Alias, MATCHUPS_MAX, MatchId};
use crate::plan::{Plan, PlannedScenarios};
use crate::seating::{self, Seating, SeatingFault};
use crate::secret::Secret;

/// What the machine that freezes pins beside the engine's own version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    /// Row of the limits table.
    pub limits_version: u32,
    /// Version of the runtime.
    pub wasmtime: String,
}

/// A component that was read and admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its digest.
    pub sha256: Digest,
    /// The world it was built for.
    pub world: String,
}

/// Why a plan cannot be frozen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FreezeFault {
    /// The matrix has no matchup.
    #[error("the matrix is empty: one strategy has nobody to meet; add another or `self_play = true`")]
    Empty,
    /// The matrix has too many.
    #[error("the matrix has {matchups} matchups; the limit is {MATCHUPS_MAX}")]
    TooMany {
        /// How many.
        matchups: u64,
    },
    /// A strategy bears a name that stands in the frozen file for something else.
    #[error("strategy {index} is called `{name}`, like a pack, a version or the slug of this tournament")]
    NameTaken {
        /// Its index.
        index: u32,
        /// Its name.
        name: String,
    },
    /// A pack is listed twice.
    #[error("pack `{pack_id}` stands twice; use `repetitions` to play it more often")]
    PackTwice {
        /// Its name.
        pack_id: String,
    },
    /// The draw failed.
    #[error(transparent)]
    Seating(#[from] SeatingFault),
}

/// Freezes `plan`: `components` are its strategies in order, `packs` its packs.
pub fn freeze(
    plan: &Plan,
    components: &[Component],
    packs: &[PackPin],
    secret: &Secret,
    pins: &Pins,
) -> Result<(Frozen, Seating), FreezeFault> {
    let scenarios = scenarios(plan, packs)?;
    let pairs = plan.pairs();
    let count = pairs.len() as u64 * scenarios.len() as u64 * u64::from(plan.repetitions);
    if count == 0 {
        return Err(FreezeFault::Empty);
    }
    if count > MATCHUPS_MAX as u64 {
        return Err(FreezeFault::TooMany { matchups: count });
    }
    // Under indices first: that is what the draw is about. An index serves as its own alias here.
    let by_index = matchups(&pairs, &scenarios, plan.repetitions);
    let mut frozen = Frozen {
        schema: FROZEN_SCHEMA.to_owned(),
        slug: plan.slug.clone(),
        title: plan.title.clone(),
        game: plan.game,
        strategies: strategies(plan, components),
        matchups: by_index,
        protocol: protocol(plan, pins),
        budget: plan.budget,
        secret_commit: secret.commitment(),
        seating: SeatingPin { subject: Digest::of(b""), beacon: plan.beacon.clone() },
    };
    frozen.seating.subject = seating::subject(&frozen, |alias| Some(u32::from(alias.0)))
        .expect("an index serves as its own alias");
    if let Some(index) = identities::taken_names(&frozen).first() {
        let name = frozen.strategies[*index as usize].name.clone();
        return Err(FreezeFault::NameTaken { index: *index, name });
    }
    let seating = seating(&frozen, secret)?;
    let drawn = |index: Alias| seating.alias_of(index.0.into()).expect("the draw seats everybody");
    for matchup in &mut frozen.matchups {
        matchup.seats = seating::in_order(matchup.seats.map(drawn));
    }
    put_in_order(&mut frozen.matchups);
    Ok((frozen, seating))
}

/// The seating that `secret` gives to `frozen`.
pub(crate) fn seating(frozen: &Frozen, secret: &Secret) -> Result<Seating, SeatingFault> {
    Seating::draw(frozen, secret)
}

fn scenarios(plan: &Plan, packs: &[PackPin]) -> Result<Vec<Scenario>, FreezeFault> {
    let PlannedScenarios::Matrix { payoffs, rounds } = &plan.scenarios else {
        let mut scenarios: Vec<_> = packs.iter().cloned().map(Scenario::Campus).collect();
        scenarios.sort();
        if let Some(twice) = scenarios.windows(2).find(|pair| pair[0] == pair[1])
            && let Scenario::Campus(pin) = &twice[0]
        {
            return Err(FreezeFault::PackTwice { pack_id: pin.pack_id.clone() });
        }
        return Ok(scenarios);
    };
    Ok(vec![Scenario::Matrix(MatrixRules { payoffs: *payoffs, rounds: *rounds })])
}

/// Every matchup, under indices.
fn matchups(pairs: &[[u32; 2]], scenarios: &[Scenario], repetitions: u32) -> Vec<Matchup> {
    let mut matchups = Vec::with_capacity(pairs.len() * scenarios.len() * repetitions as usize);
    for pair in pairs {
        let seats = seating::in_order(pair.map(|index| Alias(index as u16)));
        for scenario in scenarios {
            for repetition in 1..=repetitions {
                let id = MatchId(0);
                matchups.push(Matchup { id, scenario: scenario.clone(), seats, repetition });
            }
        }
    }
    put_in_order(&mut matchups);
    matchups
}

/// Their order must not tell how they came about.
fn put_in_order(matchups: &mut [Matchup]) {
    matchups.sort_by(|a, b| a.order().cmp(&b.order()));
    for (i, matchup) in matchups.iter_mut().enumerate() {
        matchup.id = MatchId(i as u32 + 1);
    }
}

fn strategies(plan: &Plan, components: &[Component]) -> Vec<StrategyPin> {
    let pins = plan.strategies.iter().zip(components).enumerate();
    pins.map(|(i, (planned, component))| StrategyPin {
        index: i as u32,
        name: planned.name.clone(),
        version: planned.version.clone(),
        sha256: component.sha256,
        world: component.world.clone(),
    })
    .collect()
}

fn protocol(plan: &Plan, pins: &Pins) -> Protocol {
    Protocol {
        protocol_version: PROTOCOL_VERSION.to_owned(),
        move_validation: plan.move_validation,
        scoring: plan.game.scoring(),
        identity: Identity { hidden: true },
        host_retries: plan.host_retries,
        limits_version: pins.limits_version,
        engine_version: ENGINE_VERSION.to_owned(),
        score_version: SCORE_VERSION.to_owned(),
        wasmtime: pins.wasmtime.clone(),
    }
}
