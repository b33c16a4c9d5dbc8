//! What a command costs must not grow with what is there already: no state is copied for it.

use arena_contests::Moment;
use arena_contests::cite::Registry;
use arena_contests::leak::{MARKERS, Scanner};
use arena_contests::sprint::round::{Command, Team, Terms};
use arena_server::auth::{Scope, Viewer};
use arena_server::instance::claims::Genesis;
use arena_server::instance::rounds::{self, Act};
use arena_server::instance::{self, Instance, Known, Request, agents};
use arena_server::play::Shelf;
use serde_json::json;

use crate::round_bench::terms;

/// CPU of this thread so far, whatever else the machine does.
fn cpu_ns() -> u64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

struct World {
    known: Known,
    instance: Instance,
    drawn: u64,
}

impl World {
    fn new() -> Self {
        let known = Known {
            registry: Registry::v2().clone(),
            scanner: Scanner::new(&[], MARKERS).unwrap(),
            packs: Shelf::read(&[]).unwrap(),
            claims: Genesis::new("arena", false).unwrap(),
            log: arena_claims::envelope::SecretKey::from_seed(&[7; 32]),
        };
        Self { known, instance: Instance::default(), drawn: 0 }
    }

    /// Does a command as the store does: on a copy that shares with what readers have. Tells what it cost.
    fn does(&mut self, at: &str, by: Viewer, command: instance::Command) -> u64 {
        self.drawn += 1;
        let mut luck = [7; 64];
        luck[..8].copy_from_slice(&self.drawn.to_be_bytes());
        let request = Request { at: at.parse::<Moment>().unwrap(), by, luck, command };
        let since = cpu_ns();
        let published = self.instance.clone();
        let decision = self.instance.decide(&request, &self.known).unwrap();
        for row in &decision.rows {
            self.instance.evolve(row, &self.known).unwrap();
        }
        drop(published);
        cpu_ns() - since
    }
}

fn admin() -> Viewer {
    Viewer::Admin { name: "ada".to_owned() }
}

fn median(costs: &mut [u64]) -> u64 {
    costs.sort_unstable();
    costs[costs.len() / 2]
}

#[test]
fn a_command_to_a_large_round_costs_what_one_to_a_small_round_does() {
    const COMPANIES: usize = 500;
    let mut world = World::new();
    let mut document = terms(false);
    document["entrants_max"] = COMPANIES.into();
    document.as_object_mut().unwrap().remove("standings_freeze");
    document["timetable"] = "sprint-v1".into();
    document["rules_sha256"] = json!("0".repeat(64));
    let terms = Box::new(Terms::read(&document).unwrap());
    let round = |command, company: Option<&str>| {
        let company = company.map(str::to_owned);
        let act = Act { round: "s0-r1".to_owned(), company, command, text: None, if_match: None };
        instance::Command::Rounds(rounds::Command::Act(Box::new(act)))
    };
    let before = "2026-07-08T12:00:00Z";
    let create = rounds::Command::Create { terms, freezes: false };
    world.does(before, admin(), instance::Command::Rounds(create));
    world.does(before, admin(), round(Command::Announce, None));
    let mut costs = Vec::new();
    for n in 0..COMPANIES {
        let id = format!("agent-{n}");
        let create = agents::Command::Create { id: id.clone(), operator: id.clone() };
        world.does(before, admin(), instance::Command::Agents(create));
        let person = |role: &str| format!("{id}-{role}");
        let team = Team {
            principal: person("a"),
            engineering_coordinator: person("b"),
            engineering_owner: person("c"),
            quality_reviewer: person("d"),
            stewardship: person("e"),
        };
        let register = Command::Register { team, canaries: Vec::new() };
        let viewer = Viewer::Agent { id: id.clone(), operator: id.clone(), scopes: [Scope::Submit].into() };
        let company = format!("company-{n}");
        costs.push(world.does("2026-07-09T01:00:00Z", viewer, round(register, Some(&company))));
    }
    let (first, last) = (median(&mut costs[10..110]), median(&mut costs[COMPANIES - 100..]));
    println!("a registration costs {} µs with 60 companies, {} µs with 450", first / 1_000, last / 1_000);
    assert!(last < 3 * first, "{last} ns with 450 companies, {first} ns with 60");
}
