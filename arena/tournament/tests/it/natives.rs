//! Native strategies, a clock that stands still, and plans to play with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arena_canon::Digest;
use arena_engine::campus::{self, Action, Observation, Pack};
use arena_engine::matrix::{self, Move, Rules};
use arena_engine::{During, Forfeit, HostFault, TrapKind, Turn};
use arena_tournament::{
    CampusSeat, Clock, Component, Ended, Executor, Frozen, InProcess, Inputs, MatrixSeat, PackPin, Pins,
    Plan, Roster, Run, RunFault, Secret, Usage, Used, Watch, freeze,
};

/// A strategy by its bytes, which are its name.
pub(crate) const NAMES: [&str; 8] =
    ["cooperator", "defector", "copycat", "panics-3", "no-start", "lucky", "talker", "overasks"];

pub(crate) fn sha256(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

pub(crate) fn pins() -> Pins {
    Pins { limits_version: 1, wasmtime: "0".to_owned() }
}

pub(crate) fn secret() -> Secret {
    Secret::from_bytes([7; 32])
}

/// Seats native strategies.
#[derive(Default, Clone)]
pub(crate) struct Natives {
    /// Matches after which the host fails once, by number of seats given.
    pub(crate) fail_seatings: Vec<u32>,
    seated: u32,
}

impl Natives {
    pub(crate) fn failing(seatings: impl IntoIterator<Item = u32>) -> Self {
        Self { fail_seatings: seatings.into_iter().collect(), seated: 0 }
    }

    fn seat(&mut self, sha256: Digest, seed: Digest, seat: usize) -> Result<Native, HostFault> {
        self.seated += 1;
        if self.fail_seatings.contains(&self.seated) {
            return Err(HostFault { doing: "seating", source: "the host is out of memory".into() });
        }
        let name = NAMES.into_iter().find(|name| self::sha256(name) == sha256);
        let name = name.ok_or(HostFault { doing: "seating", source: "no such strategy".into() })?;
        let luck = Digest::of_parts(&[seed.as_bytes(), &[seat as u8]]);
        Ok(Native { name, luck, turns: 0, fuel: Vec::new(), forfeited: false })
    }
}

pub(crate) struct Native {
    name: &'static str,
    luck: Digest,
    turns: u32,
    fuel: Vec<u64>,
    forfeited: bool,
}

impl Native {
    fn started(&mut self) -> Option<(During, Forfeit)> {
        if self.name != "no-start" {
            return None;
        }
        self.forfeited = true;
        Some((During::Start, Forfeit::StartFailed { why: "trapped, says defector".to_owned() }))
    }

    fn trap(&mut self) -> Option<Forfeit> {
        self.turns += 1;
        self.fuel.push(100 + u64::from(self.turns));
        (self.name == "panics-3" && self.turns == 4).then(|| {
            self.forfeited = true;
            Forfeit::Trapped { kind: TrapKind::Unreachable, frames: Vec::new() }
        })
    }

    fn usage(mut self, turns: u32) -> Usage {
        self.fuel.resize(turns as usize, 0);
        let said = self.name == "talker" && turns > 0;
        let line = campus::LogLine { turn: 0, level: campus::LogLevel::Info, text: "defector".to_owned() };
        let log = if said { vec![line] } else { Vec::new() };
        Usage { brief_fuel: 10, fuel: self.fuel, log, log_dropped_bytes: 0 }
    }

    fn luck(&self) -> bool {
        self.luck.as_bytes()[self.turns as usize % 32] & 1 == 1
    }
}

impl matrix::Competitor for Native {
    fn brief(&mut self, _rules: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(self.started())
    }

    fn act(&mut self, seen: &matrix::Observation) -> Result<Turn<Move>, HostFault> {
        assert!(!self.forfeited, "a seat that forfeited is not asked again");
        if let Some(forfeit) = self.trap() {
            return Ok(Turn::Forfeited(forfeit));
        }
        Ok(Turn::Acted(match self.name {
            "defector" | "panics-3" => Move::Defect,
            "copycat" if seen.played => seen.other_last,
            "lucky" if self.luck() => Move::Defect,
            _ => Move::Cooperate,
        }))
    }
}

impl campus::Competitor for Native {
    fn brief(&mut self, _pack: &Pack) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(self.started())
    }

    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault> {
        if let Some(forfeit) = self.trap() {
            return Ok(Turn::Forfeited(forfeit));
        }
        let mut action = Action::EMPTY;
        match self.name {
            "copycat" => action.diesel_mw = 1.0,
            "lucky" if self.luck() => action.battery_mw = -1.0,
            "overasks" if seen.turn() == 2 => action.curtail_mw = f64::NAN,
            // Its battery has a power of megawatts, not of thousands.
            "overasks" if seen.turn() == 3 => action.battery_mw = 1e9,
            _ => {}
        }
        Ok(Turn::Acted(action))
    }
}

impl MatrixSeat for Native {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        (*self).usage(turns)
    }
}

impl CampusSeat for Native {
    fn usage(self: Box<Self>, turns: u32) -> Usage {
        (*self).usage(turns)
    }
}

impl Roster for Natives {
    fn pack(&mut self, sha256: Digest) -> Result<Arc<Pack>, HostFault> {
        let pack = pack();
        assert_eq!(pack.sha256(), sha256);
        Ok(pack)
    }

    fn campus(
        &mut self,
        of: Digest,
        seed: Digest,
        seat: usize,
        _: &Pack,
    ) -> Result<Box<dyn CampusSeat>, HostFault> {
        Ok(Box::new(self.seat(of, seed, seat)?))
    }

    fn matrix(&mut self, of: Digest, seed: Digest, seat: usize) -> Result<Box<dyn MatrixSeat>, HostFault> {
        Ok(Box::new(self.seat(of, seed, seat)?))
    }
}

const PACK: &str = include_str!("../../../../scenarios/two-spikes.json");

fn pack() -> Arc<Pack> {
    Pack::parse(PACK.as_bytes()).expect("a pack of the product")
}

/// A clock that goes on by itself, a second a look.
#[derive(Default)]
pub(crate) struct TestClock(std::cell::Cell<u64>);

impl Clock for TestClock {
    fn unix_ms(&self) -> u64 {
        1_796_000_000_000
    }

    fn monotonic(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_secs(self.0.get())
    }
}

/// Notes what it is told.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Vec<String>);

impl Watch for Notes {
    fn progress(&mut self, _completed: usize, _planned: usize, _used: Used) {}
    fn talk(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }
}

/// A plan of these strategies; `rest` is what follows the matrix's kind.
pub(crate) fn plan(game: &str, names: &[&str], rest: &str) -> Plan {
    let strategies: String =
        names.iter().map(|name| format!("{{ name = \"{name}\", component = \"{name}\" }},")).collect();
    let what = if game == "matrix" { "rounds = 6" } else { "packs = [\"two-spikes\"]" };
    let text = format!(
        "slug = \"native\"\ntitle = \"Native\"\ngame = \"{game}\"\nstrategies = [{strategies}]\n\
         [matrix]\n{what}\n{rest}"
    );
    Plan::parse(&text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

pub(crate) fn frozen(plan: &Plan) -> Frozen {
    let components: Vec<Component> = plan
        .strategies
        .iter()
        .map(|planned| Component { sha256: sha256(&planned.component), world: "native".to_owned() })
        .collect();
    let pack = pack();
    let document = pack.document();
    let pin = PackPin {
        pack_id: document.pack_id.clone(),
        pack_version: document.pack_version.clone(),
        sha256: pack.sha256(),
    };
    let packs = if plan.game == arena_tournament::Game::Campus { vec![pin] } else { Vec::new() };
    freeze(plan, &components, &packs, &secret(), &pins()).expect("the plan freezes").0
}

pub(crate) fn inputs(plan: &Plan) -> Inputs {
    let component = |planned: &arena_tournament::PlannedStrategy| {
        (sha256(&planned.component), planned.component.as_bytes().to_vec())
    };
    Inputs {
        components: plan.strategies.iter().map(component).collect(),
        packs: BTreeMap::from([(pack().sha256(), PACK.as_bytes().to_vec())]),
        violations: Vec::new(),
    }
}

/// Sets up and plays `plan` in `root`.
pub(crate) fn play(root: &Path, plan: &Plan, executor: &mut dyn Executor) -> Result<Ended, RunFault> {
    let clock = TestClock::default();
    let run = Run::create(root, frozen(plan), &secret(), &inputs(plan), &pins(), &clock)?;
    match run {
        Ok(run) => run.play(executor, &mut Notes::default(), &clock),
        Err(halted) => halted.end(&clock),
    }
}

pub(crate) fn resume(root: &Path, executor: &mut dyn Executor) -> Result<Ended, RunFault> {
    let clock = TestClock::default();
    match Run::resume(root, &pins())? {
        Ok(run) => run.play(executor, &mut Notes::default(), &clock),
        Err(halted) => halted.end(&clock),
    }
}

pub(crate) fn in_process() -> InProcess<Natives> {
    InProcess::new(Natives::default())
}

/// Every file of a run with its bytes, the receipt's times aside.
pub(crate) fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in ["", "matches", "guest", "components", "packs"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a run's folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_file() {
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                files.insert(name, std::fs::read(entry.path()).expect("readable"));
            }
        }
    }
    if let Some(receipt) = files.get_mut("/receipt.json") {
        let mut value: serde_json::Value = serde_json::from_slice(receipt).expect("a receipt");
        for member in ["run_id", "started_at", "finished_at"] {
            value[member] = serde_json::Value::Null;
        }
        value["budget"]["wall_seconds"] = serde_json::Value::Null;
        *receipt = value.to_string().into_bytes();
    }
    files
}

pub(crate) fn json(root: &Path, name: &str) -> serde_json::Value {
    let bytes = std::fs::read(root.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    serde_json::from_slice(&bytes).unwrap_or_else(|why| panic!("{name}: {why}"))
}
