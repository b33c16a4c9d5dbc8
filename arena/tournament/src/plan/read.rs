//! The walk over a plan's document: it checks and builds in one pass, and goes on after a fault.

use std::collections::BTreeSet;

use arena_canon::json::{Map, Pointer, Value};
use arena_engine::campus::{Faults, Finding};
use arena_engine::matrix::ROUNDS_MAX;

use super::{PLAN_BYTES_MAX, Pairing, Plan, PlannedScenarios, PlannedStrategy};
use crate::canonical::COUNT_MAX;
use crate::frozen::{BeaconPin, Budget, Game, MoveValidation, PayoffTable, whole};
use crate::names::{STRATEGIES_MAX, fault_of_name, fault_of_slug, fault_of_text};

/// Most packs of a plan.
const PACKS_MAX: usize = 256;
/// Most repetitions of a pair.
const REPETITIONS_MAX: u64 = 10_000;
/// Most findings kept: a document can be wrong in a million places.
const FINDINGS_MAX: usize = 200;

pub(super) fn plan(text: &str) -> Result<Plan, Faults> {
    if text.len() > PLAN_BYTES_MAX {
        return Err(whole(format_args!("the plan is {} bytes; the limit is {PLAN_BYTES_MAX}", text.len())));
    }
    let table: toml::Table = text.parse().map_err(|why: toml::de::Error| whole(syntax(&why)))?;
    let document = serde_json::to_value(table).map_err(|why| whole(format_args!("not a plan: {why}")))?;
    let mut walk = Walk::default();
    let plan = walk.plan(&document);
    match plan {
        Some(plan) if walk.findings.is_empty() => Ok(plan),
        _ => {
            walk.findings.truncate(FINDINGS_MAX);
            Err(Faults(walk.findings))
        }
    }
}

/// The parser's words without its drawing of the line, which the message would break into pieces.
fn syntax(why: &toml::de::Error) -> String {
    let text = why.to_string();
    let place = text.lines().next().unwrap_or_default().trim_start_matches("TOML parse error ");
    format!("not TOML {place}: {}", why.message())
}

#[derive(Default)]
struct Walk {
    findings: Vec<Finding>,
}

impl Walk {
    fn found(&mut self, at: &Pointer, message: impl Into<String>) {
        self.findings.push(Finding { pointer: at.to_string(), message: message.into() });
    }

    fn found_if(&mut self, at: &Pointer, message: Option<String>) {
        if let Some(message) = message {
            self.found(at, message);
        }
    }

    fn plan(&mut self, document: &Value) -> Option<Plan> {
        let root = Pointer::default();
        let members = ["slug", "title", "game", "strategies", "matrix", "protocol", "budget", "seating"];
        let plan = self.table(&root, Some(document), &members)?;
        let slug = self.text(&root, plan, "slug");
        self.found_if(&root.key("slug"), slug.as_deref().and_then(fault_of_slug));
        let title = self.text(&root, plan, "title");
        self.found_if(&root.key("title"), title.as_deref().and_then(|title| fault_of_text(title, 120)));
        let games = [("campus", Game::Campus), ("matrix", Game::Matrix)];
        let game = self.word(&root, plan, "game", &games, None);
        let strategies = self.strategies(&root.key("strategies"), plan.get("strategies"));
        let matrix = self.matrix(&root.key("matrix"), plan.get("matrix"), game, &strategies);
        let (move_validation, host_retries) = self.protocol(&root.key("protocol"), plan.get("protocol"));
        let budget = self.budget(&root.key("budget"), plan.get("budget"));
        let beacon = self.beacon(&root.key("seating"), plan.get("seating"));
        let (pairing, self_play, repetitions, scenarios) = matrix?;
        Some(Plan {
            slug: slug?,
            title: title?,
            game: game?,
            strategies,
            pairing,
            self_play,
            repetitions,
            scenarios,
            move_validation: move_validation?,
            host_retries,
            budget,
            beacon,
        })
    }

    fn strategies(&mut self, at: &Pointer, list: Option<&Value>) -> Vec<PlannedStrategy> {
        let list = self.list(at, list, STRATEGIES_MAX, "strategies");
        let mut strategies = Vec::new();
        for (i, entry) in list.iter().enumerate() {
            let at = at.index(i);
            let members = ["name", "version", "component", "path"];
            let Some(table) = self.table(&at, Some(entry), &members) else { continue };
            let name = self.text(&at, table, "name");
            self.found_if(&at.key("name"), name.as_deref().and_then(fault_of_name));
            let version = match table.get("version") {
                None => Some("0".to_owned()),
                Some(_) => self.text(&at, table, "version"),
            };
            self.found_if(&at.key("version"), version.as_deref().and_then(|text| fault_of_text(text, 64)));
            let spelled = if table.contains_key("path") { "path" } else { "component" };
            let component = self.text(&at, table, spelled);
            strategies.push(PlannedStrategy {
                name: name.unwrap_or_default(),
                version: version.unwrap_or_default(),
                component: component.unwrap_or_default(),
            });
        }
        strategies
    }

    fn matrix(
        &mut self,
        at: &Pointer,
        matrix: Option<&Value>,
        game: Option<Game>,
        strategies: &[PlannedStrategy],
    ) -> Option<(Pairing, bool, u32, PlannedScenarios)> {
        let members =
            ["kind", "self_play", "repetitions", "pairs", "challengers", "packs", "payoffs", "rounds"];
        let matrix = self.table(at, matrix, &members)?;
        let pairing = self.pairing(at, matrix, strategies);
        let self_play = self.flag(at, matrix, "self_play").unwrap_or(false);
        if self_play && matches!(pairing, Some(Pairing::Pairs(_))) {
            self.found(&at.key("self_play"), "with pairs, write a pair of a strategy with itself");
        }
        let repetitions = self.number(at, matrix, "repetitions", 1..=REPETITIONS_MAX).unwrap_or(1);
        let scenarios = match game? {
            Game::Campus => self.packs(at, matrix),
            Game::Matrix => self.payoffs(at, matrix),
        };
        Some((pairing?, self_play, repetitions as u32, scenarios?))
    }

    fn pairing(
        &mut self,
        at: &Pointer,
        matrix: &Map<String, Value>,
        strategies: &[PlannedStrategy],
    ) -> Option<Pairing> {
        let kinds = [("round_robin", "round_robin"), ("gauntlet", "gauntlet"), ("pairs", "pairs")];
        let default = if matrix.contains_key("pairs") { "pairs" } else { "round_robin" };
        let kind = self.word(at, matrix, "kind", &kinds, Some(default))?;
        for (member, of) in [("pairs", "pairs"), ("challengers", "gauntlet")] {
            if matrix.contains_key(member) && kind != of {
                self.found(&at.key(member), format!("it belongs to kind = \"{of}\""));
            }
        }
        match kind {
            "pairs" => self.pairs(&at.key("pairs"), matrix.get("pairs"), strategies).map(Pairing::Pairs),
            "gauntlet" => {
                let at = at.key("challengers");
                let Some(list) = matrix.get("challengers") else { return Some(Pairing::Gauntlet(vec![0])) };
                let list = self.list(&at, Some(list), STRATEGIES_MAX, "challengers");
                let mut found = BTreeSet::new();
                for (i, who) in list.iter().enumerate() {
                    if let Some(index) = self.who(&at.index(i), who, strategies)
                        && !found.insert(index)
                    {
                        self.found(&at.index(i), "this strategy stands twice");
                    }
                }
                Some(Pairing::Gauntlet(found.into_iter().collect()))
            }
            _ => Some(Pairing::RoundRobin),
        }
    }

    fn pairs(
        &mut self,
        at: &Pointer,
        list: Option<&Value>,
        strategies: &[PlannedStrategy],
    ) -> Option<Vec<[u32; 2]>> {
        let list = self.list(at, list, crate::names::MATCHUPS_MAX, "pairs");
        let mut met = BTreeSet::new();
        let mut pairs = Vec::new();
        for (i, pair) in list.iter().enumerate() {
            let at = at.index(i);
            let Some([a, b]) = pair.as_array().and_then(|pair| <&[Value; 2]>::try_from(pair.as_slice()).ok())
            else {
                self.found(&at, "a pair is a list of two strategies");
                continue;
            };
            let seats = [self.who(&at.index(0), a, strategies), self.who(&at.index(1), b, strategies)];
            if let [Some(a), Some(b)] = seats {
                if !met.insert((a.min(b), a.max(b))) {
                    self.found(&at, "this pair stands twice; use `repetitions` to play it more often");
                }
                pairs.push([a, b]);
            }
        }
        Some(pairs)
    }

    /// A strategy by its index, or by its name where only one bears it.
    fn who(&mut self, at: &Pointer, who: &Value, strategies: &[PlannedStrategy]) -> Option<u32> {
        if let Some(index) = who.as_u64() {
            if (index as usize) < strategies.len() {
                return Some(index as u32);
            }
            self.found(at, format!("no strategy has index {index}; there are {}", strategies.len()));
            return None;
        }
        let Some(name) = who.as_str() else {
            self.found(at, "a strategy's name, or its index in the list");
            return None;
        };
        let mut bearers = strategies.iter().enumerate().filter(|(_, strategy)| strategy.name == name);
        match (bearers.next(), bearers.next()) {
            (Some((index, _)), None) => return Some(index as u32),
            (Some((one, _)), Some((other, _))) => {
                self.found(at, format!("strategies {one} and {other} bear this name; write the index"));
            }
            (None, _) => self.found(at, "no strategy bears this name"),
        }
        None
    }

    fn packs(&mut self, at: &Pointer, matrix: &Map<String, Value>) -> Option<PlannedScenarios> {
        for member in ["payoffs", "rounds"] {
            if matrix.contains_key(member) {
                self.found(&at.key(member), "it belongs to game = \"matrix\"");
            }
        }
        let at = at.key("packs");
        let list = self.list(&at, matrix.get("packs"), PACKS_MAX, "packs");
        let mut packs = Vec::new();
        for (i, pack) in list.iter().enumerate() {
            match pack.as_str() {
                Some(pack) => packs.push(pack.to_owned()),
                None => self.found(&at.index(i), "a built-in pack's name, or a file"),
            }
        }
        Some(PlannedScenarios::Packs(packs))
    }

    fn payoffs(&mut self, at: &Pointer, matrix: &Map<String, Value>) -> Option<PlannedScenarios> {
        if matrix.contains_key("packs") {
            self.found(&at.key("packs"), "it belongs to game = \"campus\"");
        }
        let rounds = self.number(at, matrix, "rounds", 1..=u64::from(ROUNDS_MAX));
        if !matrix.contains_key("rounds") {
            self.found(&at.key("rounds"), "it is missing: the number of rounds of a game");
        }
        let payoffs = match matrix.get("payoffs") {
            None => Some(PayoffTable { r: 3, s: 0, t: 5, p: 1 }),
            Some(table) => match serde_json::from_value(table.clone()) {
                Ok(payoffs) => Some(payoffs),
                Err(why) => {
                    self.found(&at.key("payoffs"), format!("four 32-bit integers r, s, t, p: {why}"));
                    None
                }
            },
        };
        Some(PlannedScenarios::Matrix { payoffs: payoffs?, rounds: rounds? as u32 })
    }

    fn protocol(&mut self, at: &Pointer, protocol: Option<&Value>) -> (Option<MoveValidation>, u32) {
        let empty = Value::Object(Map::new());
        let members = ["move_validation", "host_retries"];
        let Some(protocol) = self.table(at, Some(protocol.unwrap_or(&empty)), &members) else {
            return (None, 0);
        };
        let words = [
            ("clamp", MoveValidation::Clamp),
            ("forfeit", MoveValidation::Forfeit),
            ("block", MoveValidation::Block),
        ];
        let default = Some(MoveValidation::Clamp);
        let validation = self.word(at, protocol, "move_validation", &words, default);
        (validation, self.number(at, protocol, "host_retries", 0..=100).unwrap_or(2) as u32)
    }

    fn budget(&mut self, at: &Pointer, budget: Option<&Value>) -> Budget {
        let empty = Value::Object(Map::new());
        let members = ["fuel", "matchups", "turns", "wall_seconds"];
        let Some(budget) = self.table(at, Some(budget.unwrap_or(&empty)), &members) else {
            return Budget::default();
        };
        let mut limit = |member| self.number(at, budget, member, 0..=COUNT_MAX);
        Budget {
            fuel: limit("fuel"),
            matchups: limit("matchups"),
            turns: limit("turns"),
            wall_seconds: limit("wall_seconds"),
        }
    }
}

/// Where the seating's randomness comes from.
impl Walk {
    fn beacon(&mut self, at: &Pointer, seating: Option<&Value>) -> Option<BeaconPin> {
        let seating = self.table(at, Some(seating?), &["round", "signature"])?;
        let round = self.number(at, seating, "round", 1..=COUNT_MAX);
        if !seating.contains_key("round") {
            self.found(&at.key("round"), "it is missing: a round of drand's quicknet");
        }
        let signature = self.text(at, seating, "signature");
        Some(BeaconPin { round: round?, signature: signature? })
    }
}

/// Members by their kind.
impl Walk {
    fn table<'v>(
        &mut self,
        at: &Pointer,
        value: Option<&'v Value>,
        members: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Some(table) = value.and_then(Value::as_object) else {
            self.found(at, if value.is_none() { "it is missing" } else { "it must be a table" });
            return None;
        };
        for key in table.keys().filter(|key| !members.contains(&key.as_str())) {
            self.found(&at.key(key), format!("unknown; known here: {}", members.join(", ")));
        }
        Some(table)
    }

    fn list<'v>(&mut self, at: &Pointer, value: Option<&'v Value>, max: usize, what: &str) -> &'v [Value] {
        match value.and_then(Value::as_array) {
            Some(list) if (1..=max).contains(&list.len()) => list,
            Some(list) => {
                self.found(at, format!("{} {what}; from 1 to {max} are allowed", list.len()));
                &[]
            }
            None => {
                let why = if value.is_none() { "it is missing" } else { "it must be a list" };
                self.found(at, format!("{why}: a list of {what}"));
                &[]
            }
        }
    }

    fn text(&mut self, at: &Pointer, table: &Map<String, Value>, member: &str) -> Option<String> {
        match table.get(member) {
            Some(Value::String(text)) if !text.is_empty() => return Some(text.clone()),
            Some(Value::String(_)) => self.found(&at.key(member), "it is empty"),
            Some(_) => self.found(&at.key(member), "it must be a text"),
            None => self.found(&at.key(member), "it is missing"),
        }
        None
    }

    fn flag(&mut self, at: &Pointer, table: &Map<String, Value>, member: &str) -> Option<bool> {
        let value = table.get(member)?;
        if value.as_bool().is_none() {
            self.found(&at.key(member), "it must be true or false");
        }
        value.as_bool()
    }

    fn number(
        &mut self,
        at: &Pointer,
        table: &Map<String, Value>,
        member: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = table.get(member)?;
        let number = value.as_u64().filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = (range.start(), range.end());
            self.found(&at.key(member), format!("it must be an integer from {low} to {high}"));
        }
        number
    }

    fn word<T: Copy>(
        &mut self,
        at: &Pointer,
        table: &Map<String, Value>,
        member: &str,
        words: &[(&str, T)],
        default: Option<T>,
    ) -> Option<T> {
        let found = match table.get(member) {
            None if default.is_some() => return default,
            None => None,
            Some(value) => words.iter().find(|(word, _)| value == word).map(|(_, meaning)| *meaning),
        };
        if found.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            self.found(&at.key(member), format!("it must be {}", words.join(" or ")));
        }
        found
    }
}
