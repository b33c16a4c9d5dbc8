//! The frozen file: everything that decides a tournament, written down before anything runs, with
//! aliases where the plan had names and no generator left in it.

use arena_canon::Digest;
use arena_canon::json::{self, Pointer};
use arena_engine::campus::{Faults, Finding};
use arena_engine::matrix::{Payoffs, Rules};
use serde::{Deserialize, Serialize};

use crate::canonical::Text;
use crate::names::{
    Alias, MATCHUPS_MAX, MatchId, STRATEGIES_MAX, fault_of_name, fault_of_slug, fault_of_text,
};

/// The format of the frozen file.
pub const FROZEN_SCHEMA: &str = "tournament.frozen.v1";
/// Version of the rules of a tournament: seating, scoring, endings.
pub(crate) const PROTOCOL_VERSION: &str = "1";
/// Version of what the scorecard counts.
pub(crate) const SCORE_VERSION: &str = "tournament-v1";
/// Largest frozen file that is read.
pub const FROZEN_BYTES_MAX: usize = 64 << 20;
/// Room for one matchup.
const MATCHUP_BYTES: usize = 256;

/// A frozen tournament. Members are declared in the order of their names: then they are written without a
/// detour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// What may be spent.
    pub budget: Budget,
    /// The game that is played.
    pub game: Game,
    /// Every matchup, in the order in which they count.
    pub matchups: Vec<Matchup>,
    /// How matchups are played and scored.
    pub protocol: Protocol,
    /// The format of this file.
    pub schema: String,
    /// What the draw of the aliases is about.
    pub seating: SeatingPin,
    /// Commitment to the secret.
    pub secret_commit: Digest,
    /// Its name in folders.
    pub slug: String,
    /// The strategies, as the plan lists them; the list is no mapping to aliases.
    pub strategies: Vec<StrategyPin>,
    /// Its name for people.
    pub title: String,
}

/// What the draw of the aliases is about; the secret is its randomness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatingPin {
    /// A round of drand's quicknet that came after the commitment to the secret: then an operator cannot
    /// have tried many secrets. Without it, the secret alone is the randomness.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beacon: Option<BeaconPin>,
    /// SHA-256 of the tournament as it is here, but with the strategies' indices in place of aliases.
    pub subject: Digest,
}

/// A round of drand's quicknet with its proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeaconPin {
    /// The round.
    pub round: u64,
    /// Its signature: 96 lower-case hexadecimal digits.
    pub signature: String,
}

/// A game of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Game {
    /// The data-centre campus: each seat plays its own episode of the same pack.
    Campus,
    /// The iterated 2×2 game.
    Matrix,
}

/// A strategy under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyPin {
    /// Its place in this list.
    pub index: u32,
    /// What people call it; two may share a name.
    pub name: String,
    /// SHA-256 of the component.
    pub sha256: Digest,
    /// Its author's version.
    pub version: String,
    /// The world it was built for.
    pub world: String,
}

/// Who meets whom, and at what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matchup {
    /// Its id, by its place.
    pub id: MatchId,
    /// Which of the repetitions of this pair and scenario, from 1.
    pub repetition: u32,
    /// What is played.
    pub scenario: Scenario,
    /// Who plays.
    pub seats: [Alias; 2],
}

/// What is played.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scenario {
    /// A pack of the campus game.
    Campus(PackPin),
    /// An iterated 2×2 game.
    Matrix(MatrixRules),
}

/// A pack by its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackPin {
    /// Its name.
    pub pack_id: String,
    /// Its version.
    pub pack_version: String,
    /// SHA-256 of its canonical JSON.
    pub sha256: Digest,
}

/// Payoffs and length of an iterated game.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixRules {
    /// Points of a round.
    pub payoffs: PayoffTable,
    /// Rounds of a game.
    pub rounds: u32,
}

/// Payoffs as a plan and the frozen file spell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayoffTable {
    /// Punishment: both defect.
    #[serde(alias = "P")]
    pub p: i32,
    /// Reward: both cooperate.
    #[serde(alias = "R")]
    pub r: i32,
    /// Sucker: it cooperates, the other defects.
    #[serde(alias = "S")]
    pub s: i32,
    /// Temptation: it defects, the other cooperates.
    #[serde(alias = "T")]
    pub t: i32,
}

impl MatrixRules {
    /// What the engine plays by, if the rounds are within its bounds.
    pub fn rules(&self) -> Option<Rules> {
        let PayoffTable { r, s, t, p } = self.payoffs;
        Rules::new(Payoffs { r, s, t, p }, self.rounds).ok()
    }
}

/// What an invalid action leads to. *Invalid* is what is not finite or outside its static range;
/// what depends on the state is only ever a clamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MoveValidation {
    /// It is cut to its limits, and reported.
    #[default]
    Clamp,
    /// It forfeits that turn.
    Forfeit,
    /// It ends the run.
    Block,
}

/// How matchups are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// More stars win; equal stars: at least as good on both metrics and better on one; 2, 1, 0.
    StarsThenPareto,
    /// The sum of payoffs.
    PayoffSum,
}

/// How matchups are played and scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Version of the rules of play.
    pub engine_version: String,
    /// Times a matchup is tried again after the host failed.
    pub host_retries: u32,
    /// Whether strategies play under aliases.
    pub identity: Identity,
    /// Row of the limits table.
    pub limits_version: u32,
    /// What an invalid action leads to.
    pub move_validation: MoveValidation,
    /// Version of the rules of a tournament.
    pub protocol_version: String,
    /// Version of what the scorecard counts.
    pub score_version: String,
    /// How a matchup is scored.
    pub scoring: Scoring,
    /// Version of the runtime whose fuel is counted.
    pub wasmtime: String,
}

/// Whether strategies play under aliases. They always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// `true`: the assignment is disclosed when the run has succeeded.
    pub hidden: bool,
}

/// What may be spent. The first three are counted over matchups in their order; the last is the
/// host's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Fuel of all seats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fuel: Option<u64>,
    /// Matchups.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub matchups: Option<u64>,
    /// Turns: rounds of a matrix game, turns of both episodes of a campus matchup.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turns: Option<u64>,
    /// Seconds on the clock, summed over resumed attempts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wall_seconds: Option<u64>,
}

impl Frozen {
    /// The file's bytes: canonical JSON and nothing else, so that its digest is the file's.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut scenarios = ScenarioText::default();
        let bytes = with_matchups(&self.without_matchups(), &self.matchups, |text, matchup| {
            let Matchup { id, repetition, scenario, seats: [one, other] } = matchup;
            text.raw("{\"id\":").id(*id).key("repetition").number((*repetition).into());
            text.key("scenario").written(scenarios.of(scenario));
            text.key("seats").raw("[").alias(*one).raw(",").alias(*other).raw("]}");
        });
        debug_assert_eq!(bytes, json::canonical_of(self), "not what canonical JSON is");
        bytes
    }

    /// The digest that binds all of it.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.to_bytes())
    }

    /// Reads a frozen file and checks everything that can be checked without the strategies.
    pub fn parse(bytes: &[u8]) -> Result<Self, Faults> {
        let value = json::read(bytes, FROZEN_BYTES_MAX).map_err(whole)?;
        let frozen: Self = serde_json::from_value(value.clone())
            .map_err(|why| whole(format_args!("not a frozen tournament: {why}")))?;
        if json::canonical(&value) != bytes || frozen.to_bytes() != bytes {
            return Err(whole("it is not canonical JSON, so its digest is not what was frozen"));
        }
        let findings = frozen.findings();
        if findings.is_empty() { Ok(frozen) } else { Err(Faults(findings)) }
    }

    /// Everything that no freeze would have written.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let root = Pointer::default();
        let mut findings = Vec::new();
        let mut found = |at: &Pointer, why: Option<String>| {
            findings.extend(why.map(|message| Finding { pointer: at.to_string(), message }));
        };
        let unless = |fine: bool, why: &str| (!fine).then(|| why.to_owned());
        found(&root.key("schema"), unless(self.schema == FROZEN_SCHEMA, "not tournament.frozen.v1"));
        found(&root.key("slug"), fault_of_slug(&self.slug));
        found(&root.key("title"), fault_of_text(&self.title, 120));
        let count = self.strategies.len();
        let fits = (1..=STRATEGIES_MAX).contains(&count);
        found(&root.key("strategies"), unless(fits, "a tournament has 1 to 1000 strategies"));
        for (i, strategy) in self.strategies.iter().enumerate() {
            let at = root.key("strategies").index(i);
            found(&at.key("index"), unless(strategy.index as usize == i, "not its place in the list"));
            found(&at.key("name"), fault_of_name(&strategy.name));
            found(&at.key("version"), fault_of_text(&strategy.version, 64));
        }
        let many = self.matchups.len();
        let fits = (1..=MATCHUPS_MAX).contains(&many);
        found(&root.key("matchups"), unless(fits, "a tournament has 1 to 99999 matchups"));
        for (i, matchup) in self.matchups.iter().enumerate() {
            let at = root.key("matchups").index(i);
            found(&at.key("id"), unless(matchup.id.0 as usize == i + 1, "not its place in the list"));
            let seated = matchup.seats.iter().all(|alias| usize::from(alias.0) < count);
            found(&at.key("seats"), unless(seated, "an alias beyond the number of strategies"));
            found(&at.key("scenario"), self.fault_of_scenario(&matchup.scenario));
            let after = i == 0 || self.matchups[i - 1].order() < matchup.order();
            found(&at, unless(after, "matchups are sorted by alias, and none stands twice"));
        }
        let at = root.key("protocol");
        found(&at.key("identity").key("hidden"), unless(self.protocol.identity.hidden, "must be true"));
        let version = &self.protocol.protocol_version;
        found(&at.key("protocol_version"), unless(version == PROTOCOL_VERSION, "this host plays version 1"));
        findings
    }

    fn fault_of_scenario(&self, scenario: &Scenario) -> Option<String> {
        match (self.game, scenario) {
            (Game::Campus, Scenario::Campus(_)) => None,
            (Game::Matrix, Scenario::Matrix(matrix)) if matrix.rules().is_some() => None,
            (Game::Matrix, Scenario::Matrix(_)) => Some("a game has 1 to 100000 rounds".to_owned()),
            _ => Some("it belongs to another game".to_owned()),
        }
    }

    /// Everything but the matchups, which are many.
    pub(crate) fn without_matchups(&self) -> Self {
        Self {
            budget: self.budget,
            game: self.game,
            matchups: Vec::new(),
            protocol: self.protocol.clone(),
            schema: self.schema.clone(),
            seating: self.seating.clone(),
            secret_commit: self.secret_commit,
            slug: self.slug.clone(),
            strategies: self.strategies.clone(),
            title: self.title.clone(),
        }
    }

    /// What is at `id`.
    pub fn matchup(&self, id: MatchId) -> Option<&Matchup> {
        self.matchups.get((id.0 as usize).checked_sub(1)?)
    }

    /// The digests of the packs that are played, each once, in order.
    pub fn packs(&self) -> std::collections::BTreeSet<Digest> {
        self.matchups.iter().filter_map(pack_of).collect()
    }
}

/// A frozen tournament with its file. Matchups are many: the file is written and digested once.
#[derive(Debug, Clone)]
pub struct FrozenFile {
    pub(crate) document: Frozen,
    pub(crate) bytes: Vec<u8>,
    pub(crate) sha256: Digest,
}

impl From<Frozen> for FrozenFile {
    fn from(document: Frozen) -> Self {
        let bytes = document.to_bytes();
        let sha256 = Digest::of(&bytes);
        Self { document, bytes, sha256 }
    }
}

impl From<&Frozen> for FrozenFile {
    fn from(document: &Frozen) -> Self {
        document.clone().into()
    }
}

impl FrozenFile {
    /// What it says.
    pub fn document(&self) -> &Frozen {
        &self.document
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its digest.
    pub fn sha256(&self) -> Digest {
        self.sha256
    }
}

/// Canonical JSON of a `document` whose list of matchups is empty, with `matchups` in it, each as `put` puts it.
pub(crate) fn with_matchups<'m, M>(
    document: &impl Serialize,
    matchups: &'m [M],
    mut put: impl FnMut(&mut Text, &'m M),
) -> Vec<u8> {
    const EMPTY: &[u8] = b"\"matchups\":[]";
    let document = json::canonical_of(document);
    // The first such list is the document's own: nothing before it is anybody's text.
    let at = document.windows(EMPTY.len()).position(|window| window == EMPTY).expect("a list of matchups");
    let (before, after) = document.split_at(at + EMPTY.len() - 1);
    let mut text = Text(Vec::with_capacity(document.len() + MATCHUP_BYTES * matchups.len()));
    text.0.extend_from_slice(before);
    for (at, matchup) in matchups.iter().enumerate() {
        text.raw(if at > 0 { "," } else { "" });
        put(&mut text, matchup);
    }
    text.0.extend_from_slice(after);
    text.0
}

/// The text of scenarios. There are few, and those of matchups that follow each other are mostly the same.
#[derive(Default)]
pub(crate) struct ScenarioText<'m>(Option<(&'m Scenario, Vec<u8>)>);

impl<'m> ScenarioText<'m> {
    /// Of one.
    pub(crate) fn of(&mut self, scenario: &'m Scenario) -> &[u8] {
        if self.0.as_ref().is_none_or(|(known, _)| *known != scenario) {
            self.0 = Some((scenario, json::canonical_of(scenario)));
        }
        self.0.as_ref().map_or(&[], |(_, text)| text)
    }
}

/// The digest of the pack that a matchup is played at, if it is played at one.
pub(crate) fn pack_of(matchup: &Matchup) -> Option<Digest> {
    match &matchup.scenario {
        Scenario::Campus(pin) => Some(pin.sha256),
        Scenario::Matrix(_) => None,
    }
}

/// One fault of the document as a whole.
pub(crate) fn whole(message: impl std::fmt::Display) -> Faults {
    Faults(vec![Finding { pointer: String::new(), message: message.to_string() }])
}

impl Matchup {
    /// What they are sorted by before they are numbered.
    pub(crate) fn order(&self) -> ([Alias; 2], &Scenario, u32) {
        (self.seats, &self.scenario, self.repetition)
    }
}

impl Game {
    /// As plans and records spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Campus => "campus",
            Self::Matrix => "matrix",
        }
    }

    /// How its matchups are scored.
    pub fn scoring(self) -> Scoring {
        match self {
            Self::Campus => Scoring::StarsThenPareto,
            Self::Matrix => Scoring::PayoffSum,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
