//! Who plays under which alias: a verifiable draw of all seats, fed by the secret.

use arena_canon::Digest;
use arena_canon::json;
use arena_draw::beacon::{Beacon, DrandQuicknet};
use arena_draw::{Draw, Eligible, Entry, Purpose, chain_hash};
use serde::Serialize;

use crate::frozen::{
    BeaconPin, Budget, Frozen, Game, Matchup, Protocol, Scenario, ScenarioText, StrategyPin, with_matchups,
};
use crate::names::Alias;
use crate::secret::Secret;

/// The assignment of aliases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seating {
    alias_of: Vec<Alias>,
    index_of: Vec<u32>,
}

/// The assignment is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeatingFault {
    /// Not every strategy has exactly one alias.
    #[error("the assignment of {strategies} strategies is no bijection: {alias} is wrong")]
    NoBijection {
        /// Number of strategies.
        strategies: usize,
        /// The first alias that has no strategy, or a second one.
        alias: Alias,
    },
    /// The draw could not be made.
    #[error("the seating draw failed: {0}")]
    Draw(String),
    /// The beacon's proof does not hold.
    #[error("the seating's beacon does not hold: {0}")]
    Beacon(String),
}

impl Seating {
    /// The assignment in which the k-th alias is that of `index_of[k]`.
    pub fn new(index_of: Vec<u32>) -> Result<Self, SeatingFault> {
        let strategies = index_of.len();
        let mut alias_of = vec![None; strategies];
        for (k, index) in index_of.iter().enumerate() {
            let alias = Alias(k as u16);
            match alias_of.get_mut(*index as usize) {
                Some(free @ None) => *free = Some(alias),
                _ => return Err(SeatingFault::NoBijection { strategies, alias }),
            }
        }
        Ok(Self { alias_of: alias_of.into_iter().flatten().collect(), index_of })
    }

    /// Draws all seats of `frozen`: the k-th pick plays as the k-th alias.
    pub(crate) fn draw(frozen: &Frozen, secret: &Secret) -> Result<Self, SeatingFault> {
        let strategies = frozen.strategies.len();
        let entries = (0..strategies).map(|index| Entry::new(name(index), name(index), 1)).collect();
        let (beacon_chain_hash, round, randomness) = randomness(frozen.seating.beacon.as_ref(), secret)?;
        let draw = Draw {
            instance: Digest::of(frozen.slug.as_bytes()),
            purpose: Purpose::Seating,
            subject: frozen.seating.subject,
            attempt: 0,
            params_hash: params_hash(frozen),
            beacon_chain_hash,
            round,
            randomness,
            entries: Eligible::new(entries).map_err(|why| SeatingFault::Draw(why.to_string()))?,
            seats: strategies as u32,
        };
        let index = |name: &str| name.strip_prefix('s').and_then(|digits| digits.parse().ok());
        let picks: Option<Vec<u32>> =
            draw.resolve().picks.iter().map(|pick| index(pick.agent.as_ref())).collect();
        let picks = picks.ok_or_else(|| SeatingFault::Draw("a pick is no strategy".to_owned()))?;
        Self::new(picks)
    }

    /// The alias of the strategy with this index.
    pub fn alias_of(&self, index: u32) -> Option<Alias> {
        self.alias_of.get(index as usize).copied()
    }

    /// The index of the strategy that plays under this alias.
    pub fn index_of(&self, alias: Alias) -> Option<u32> {
        self.index_of.get(usize::from(alias.0)).copied()
    }

    /// Number of strategies.
    pub fn len(&self) -> usize {
        self.index_of.len()
    }

    /// Whether nobody is seated.
    pub fn is_empty(&self) -> bool {
        self.index_of.is_empty()
    }

    /// Every alias with its strategy's index.
    pub fn iter(&self) -> impl Iterator<Item = (Alias, u32)> + '_ {
        self.index_of.iter().enumerate().map(|(k, index)| (Alias(k as u16), *index))
    }
}

/// The agent, and the operator, that a strategy is in the draw.
fn name(index: usize) -> String {
    format!("s{index:04}")
}

/// What the seating draw is about: the frozen file with indices in place of aliases, and without what
/// follows from the secret.
pub(crate) fn subject(frozen: &Frozen, index_of: impl Fn(Alias) -> Option<u32>) -> Option<Digest> {
    let indices = |matchup: &Matchup| {
        let [a, b] = [index_of(matchup.seats[0])?, index_of(matchup.seats[1])?];
        Some([a.min(b), a.max(b)])
    };
    let rows = frozen.matchups.iter().map(|matchup| {
        let Matchup { repetition, scenario, .. } = matchup;
        indices(matchup).map(|seats| Meeting { repetition: *repetition, scenario, seats })
    });
    let mut matchups = rows.collect::<Option<Vec<Meeting<'_>>>>()?;
    matchups.sort_unstable_by_key(|meeting| (meeting.seats, meeting.scenario, meeting.repetition));
    let Frozen { budget, game, protocol, slug, strategies, title, .. } = frozen;
    let subject = Subject { budget, game: *game, matchups: [], protocol, slug, strategies, title };
    let mut scenarios = ScenarioText::default();
    let bytes = with_matchups(&subject, &matchups, |text, meeting| {
        let Meeting { repetition, scenario, seats: [one, other] } = meeting;
        text.raw("{\"repetition\":").number((*repetition).into());
        text.key("scenario").written(scenarios.of(scenario));
        text.key("seats").raw("[").number((*one).into()).raw(",").number((*other).into()).raw("]}");
    });
    Some(Digest::of(&bytes))
}

/// The frozen file before aliases are drawn.
#[derive(Serialize)]
struct Subject<'f> {
    budget: &'f Budget,
    game: Game,
    /// They are many, and put in by hand.
    matchups: [(); 0],
    protocol: &'f Protocol,
    slug: &'f str,
    strategies: &'f [StrategyPin],
    title: &'f str,
}

/// A matchup before aliases are drawn.
struct Meeting<'f> {
    repetition: u32,
    scenario: &'f Scenario,
    /// Indices of the strategies, the smaller one first.
    seats: [u32; 2],
}

/// What is hashed as the beacon's: its own randomness and the secret, or the secret alone.
fn randomness(beacon: Option<&BeaconPin>, secret: &Secret) -> Result<(Digest, u64, Vec<u8>), SeatingFault> {
    let Some(pin) = beacon else {
        return Ok((chain_hash("secret", b""), 0, secret.as_bytes().to_vec()));
    };
    let signature = bytes(&pin.signature)
        .ok_or_else(|| SeatingFault::Beacon("a signature is lower-case hexadecimal digits".to_owned()))?;
    let drawn = DrandQuicknet.verify(pin.round, &signature);
    let drawn = drawn.map_err(|why| SeatingFault::Beacon(why.to_string()))?;
    Ok((DrandQuicknet.chain_hash(), pin.round, [drawn, *secret.as_bytes()].concat()))
}

/// The bytes of lower-case hexadecimal digits.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let plain = hex.len() <= 1_024 && hex.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let pairs = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok());
    if plain { pairs.collect() } else { None }
}

/// The hash of the protocol in force, which the draw binds.
fn params_hash(frozen: &Frozen) -> Digest {
    Digest::of(&json::canonical_of(&frozen.protocol))
}

/// The seats of a matchup, the smaller alias first: their order must not tell the order of the plan.
pub(crate) fn in_order([a, b]: [Alias; 2]) -> [Alias; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::frozen::tests::{frozen, pack};

    #[test]
    fn the_draw_is_about_canonical_json_with_indices_in_order() {
        let frozen = frozen();
        let index_of = |alias: Alias| Some(2 - u32::from(alias.0));
        let mut subject = serde_json::to_value(&frozen).expect("a document");
        let members = subject.as_object_mut().expect("an object");
        for follows in ["schema", "seating", "secret_commit"] {
            members.remove(follows);
        }
        let mut rows = Vec::new();
        for seats in [[0, 1], [0, 2], [1, 2]] {
            for (scenario, repetition) in [(pack("a"), 1), (pack("a"), 2), (pack("b"), 1)] {
                rows.push(json!({ "repetition": repetition, "scenario": scenario, "seats": seats }));
            }
        }
        members.insert("matchups".to_owned(), rows.into());
        assert_eq!(
            super::subject(&frozen, index_of),
            Some(Digest::of(&arena_canon::json::canonical(&subject)))
        );
    }
}
