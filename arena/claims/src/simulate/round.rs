//! One claim, from its listing to its end.

use std::collections::BTreeMap;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use serde_json::json;

use super::actor::{Actor, Measurement, stamped};
use super::behaviour::Population;
use super::{Config, Report};
use crate::commitment::Sealed;
use crate::life::{Claim, Command, Event, Phase, Refusal, World, execute};
use crate::luck::SplitMix;
use crate::record::{Outcome, Record, Role};
use crate::settle::Ending;

const OPERATOR: &str = "operator";
/// What losing a run does to standing.
const OVERTURNED: i32 = -50;

pub(super) struct Round<'a> {
    pub(super) config: &'a Config,
    pub(super) world: &'a mut World,
    pub(super) actors: &'a mut BTreeMap<String, Actor>,
    pub(super) luck: &'a mut SplitMix,
    pub(super) report: &'a mut Report,
    pub(super) at: u64,
    pub(super) n: u64,
}

/// What the agents have handed in and not revealed.
#[derive(Default)]
struct Pending {
    records: BTreeMap<String, Record>,
    ballots: BTreeMap<String, Value>,
    costs: BTreeMap<String, u64>,
}

impl Round<'_> {
    fn id(&self) -> String {
        format!("claim-{:06}", self.n)
    }

    /// Plays the claim; says when it ended.
    pub(super) fn play(&mut self) -> Result<u64, Refusal> {
        let before: BTreeMap<String, i64> =
            self.actors.keys().map(|name| (name.clone(), self.world.avail(name).signed())).collect();
        let truth = Measurement {
            x: format!("1{:02}.{:02}", self.luck.below(100), self.luck.below(100)),
            fuel: self.luck.below(1_000_000).saturating_add(1_000_000),
            log: Digest::of(&self.luck.next_word().to_be_bytes()),
        };
        let wrong = self.luck.happens(self.config.wrong_ppm);
        let claimed = if wrong { "500.00".to_owned() } else { truth.x.clone() };
        self.open(&claimed)?;
        let mut pending = Pending::default();
        for _ in 0..400 {
            let phase = self.claim().phase;
            if phase.is_terminal() {
                break;
            }
            self.step(phase, &claimed, &truth, &mut pending)?;
        }
        self.book(&before, &pending, wrong);
        Ok(self.at)
    }

    fn claim(&self) -> &Claim {
        &self.world.claims[&self.id()]
    }

    fn run(&mut self, by: &str, command: Command) -> Result<(), Refusal> {
        let events = execute(self.world, &stamped(by, self.at, command))?;
        for event in &events {
            self.report.events = self.report.events.saturating_add(1);
            let line = serde_json::to_vec(event).unwrap_or_default();
            self.report.history = Digest::of_parts(&[self.report.history.as_bytes(), &line]);
            if let Event::Settled { ending, .. } = event {
                self.count(ending.name());
            }
            if let Event::StandingChanged { agent, change: OVERTURNED } = event {
                let tally = self.report.tallies.entry(self.population(agent)).or_default();
                tally.overturned = tally.overturned.saturating_add(1);
            }
            if let Event::ClaimWithdrawn { why, .. } = event {
                self.count(why.name());
            }
        }
        Ok(())
    }

    fn count(&mut self, ending: &str) {
        let count = self.report.endings.entry(ending.to_owned()).or_default();
        *count = count.saturating_add(1);
    }

    fn open(&mut self, claimed: &str) -> Result<(), Refusal> {
        let zero = "0".repeat(64);
        let tolerant = !self.config.traces;
        let manifest = json!({
            "v": "arena-manifest/v1", "title": "a simulated claim", "submitter": "submitter",
            "program": { "kind": "experiment", "component": zero },
            "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 2, "claim": claimed,
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" } }],
            "limits": { "fuel": 1_000_000_000, "memory_bytes": 1_048_576, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
            "capabilities": ["wasm"],
            "determinism": if tolerant { "tolerant" } else { "exact" },
            "protocol_params_sha256": self.world.instance.params.digest(),
        });
        let params = self.world.instance.params.clone();
        let deposit = params.submitter_deposit_min;
        let rest = params.pool_min().unwrap_or_default().less(deposit);
        self.run("submitter", Command::List { claim: self.id(), manifest, deposit, canary: None })?;
        self.run("funder", Command::Fund { claim: self.id(), amount: rest })
    }

    fn step(
        &mut self,
        phase: Phase,
        claimed: &str,
        truth: &Measurement,
        pending: &mut Pending,
    ) -> Result<(), Refusal> {
        if self.claim().draw.is_some() {
            // The next minute, the round has spoken.
            self.at = self.at.saturating_add(60);
            return self.run(OPERATOR, Command::ResolveDraw { claim: self.id(), proof: Vec::new() });
        }
        match phase {
            Phase::Offered => self.answer(),
            Phase::Running => self.publish(claimed, truth, pending),
            Phase::Committed => self.challenge(claimed, truth, pending),
            Phase::Revealing => self.reveal(pending),
            Phase::Voting { .. } => self.vote(pending),
            Phase::Opening { .. } => self.open_votes(pending),
            Phase::Reference => self.reference(truth),
            _ => self.wait(),
        }
    }

    /// Until the next deadline.
    fn wait(&mut self) -> Result<(), Refusal> {
        self.at = self.at.max(self.claim().until);
        self.run(OPERATOR, Command::Tick { claim: self.id() })
    }

    fn population(&self, agent: &str) -> Population {
        self.actors.get(agent).map_or(Population::Honest, |actor| actor.population)
    }

    fn answer(&mut self) -> Result<(), Refusal> {
        let runner = self.claim().runner().unwrap_or_default().to_owned();
        if self.population(&runner) == Population::Griefing && self.luck.happens(500_000) {
            return self.run(&runner, Command::Decline { claim: self.id(), reason: None });
        }
        self.run(&runner, Command::Accept { claim: self.id() })
    }

    fn measured(
        &mut self,
        agent: &str,
        role: Role,
        claimed: &str,
        truth: &Measurement,
        pending: &mut Pending,
    ) -> Option<Record> {
        let population = self.population(agent);
        let measured = population.measure(claimed, truth, self.luck);
        if population.works() {
            pending.costs.insert(agent.to_owned(), self.config.params.assumptions.cost.units());
        }
        let actor = self.actors.get(agent)?;
        actor.record(self.world, self.claim(), role, &measured.results()).ok()
    }

    fn publish(&mut self, claimed: &str, truth: &Measurement, pending: &mut Pending) -> Result<(), Refusal> {
        let runner = self.claim().runner().unwrap_or_default().to_owned();
        self.run(&runner, Command::CheckInputs { claim: self.id(), found: Vec::new() })?;
        let Some(record) = self.measured(&runner, Role::Runner, claimed, truth, pending) else {
            return self.wait();
        };
        let digest = self.actors[&runner].seal(self.claim(), Sealed::Run, record.digest);
        pending.records.insert(runner.clone(), record);
        self.run(&runner, Command::CommitRun { claim: self.id(), digest })
    }

    fn challenge(
        &mut self,
        claimed: &str,
        truth: &Measurement,
        pending: &mut Pending,
    ) -> Result<(), Refusal> {
        let auditor = self.claim().audit.auditor.clone();
        let mut all: Vec<String> = auditor.iter().cloned().collect();
        for name in self.actors.keys() {
            if self.actors[name].population.volunteers(self.luck) && Some(name) != auditor.as_ref() {
                all.push(name.clone());
            }
        }
        for agent in all {
            let copies = self.population(&agent) == Population::Copying && Some(&agent) != auditor.as_ref();
            if copies {
                let digest = self.claim().run.as_ref().and_then(|run| run.digest).unwrap_or(self.claim().job);
                let copied = self.run(&agent, Command::CommitChallenge { claim: self.id(), digest });
                if matches!(copied, Err(Refusal::DuplicateCommitment)) {
                    let tally = self.report.tallies.entry(Population::Copying).or_default();
                    tally.copies_refused = tally.copies_refused.saturating_add(1);
                }
                continue;
            }
            let Some(record) = self.measured(&agent, Role::Challenger, claimed, truth, pending) else {
                continue;
            };
            let digest = self.actors[&agent].seal(self.claim(), Sealed::Challenge, record.digest);
            // Who has a role already, or an operator with one, is refused; that is as it should be.
            if self.run(&agent, Command::CommitChallenge { claim: self.id(), digest }).is_ok() {
                pending.records.insert(agent, record);
            }
        }
        self.wait()
    }

    fn reveal(&mut self, pending: &mut Pending) -> Result<(), Refusal> {
        let runner = self.claim().runner().unwrap_or_default().to_owned();
        let challengers = self.claim().challenges.iter().map(|challenge| challenge.agent.clone());
        let all: Vec<String> = std::iter::once(runner.clone()).chain(challengers).collect();
        for agent in all {
            let holds_back = self.population(&agent) == Population::Griefing && self.luck.happens(300_000);
            let Some(record) = pending.records.remove(&agent).filter(|_| !holds_back) else { continue };
            let kind = if agent == runner { Sealed::Run } else { Sealed::Challenge };
            let actor = &self.actors[&agent];
            let nonce = actor.nonce(self.claim(), kind);
            let envelope = actor.envelope(self.world, &record, self.at);
            self.run(&agent, Command::Reveal { claim: self.id(), nonce, envelope })?;
            if self.claim().phase != Phase::Revealing {
                return Ok(());
            }
        }
        self.wait()
    }

    fn vote(&mut self, pending: &mut Pending) -> Result<(), Refusal> {
        let runner = self.claim().runner().unwrap_or_default().to_owned();
        let runner_works = self.population(&runner).works();
        let seats: Vec<String> =
            self.claim().panel().iter().flat_map(|p| &p.seats).map(|seat| seat.agent.clone()).collect();
        let report = crate::life::report_of(self.claim());
        let row = report.iter().flat_map(|(_, c)| &c.rows).find(|row| !row.passes());
        let cited = row.map(|row| json!({ "cmp": row.cmp.name(), "metric": row.metric }));
        for agent in seats {
            let population = self.population(&agent);
            let blind = population.votes_blindly(self.population(&runner));
            if !blind {
                let cost = self.config.params.assumptions.review_cost.units();
                let costs = pending.costs.entry(agent.clone()).or_default();
                *costs = costs.saturating_add(cost);
            }
            let sees_right = self.luck.happens(self.config.reviewer_ppm);
            let right = blind || (runner_works == sees_right);
            let works = |name: &&String| self.population(name).works();
            let confirms: Vec<&String> = match right {
                true => Vec::new(),
                false => report.iter().map(|(name, _)| name).filter(works).collect(),
            };
            let verdict = if right { Ending::RunnerRight } else { Ending::RunnerWrong };
            let ballot = json!({
                "verdict": verdict.name(), "confirms": confirms,
                "rationale": cited.iter().collect::<Vec<_>>(), "rerun_sha256": null,
            });
            let document = Digest::of(&json::canonical(&ballot));
            let digest = self.actors[&agent].seal(self.claim(), Sealed::Vote, document);
            pending.ballots.insert(agent.clone(), ballot);
            self.run(&agent, Command::CommitVote { claim: self.id(), digest })?;
        }
        match self.claim().phase {
            Phase::Voting { .. } if self.claim().draw.is_none() => self.wait(),
            _ => Ok(()),
        }
    }

    fn open_votes(&mut self, pending: &mut Pending) -> Result<(), Refusal> {
        for (agent, ballot) in std::mem::take(&mut pending.ballots) {
            let nonce = self.actors[&agent].nonce(self.claim(), Sealed::Vote);
            self.run(&agent, Command::RevealVote { claim: self.id(), nonce, ballot })?;
        }
        if !matches!(self.claim().phase, Phase::Opening { .. }) {
            return self.appeal();
        }
        self.wait()
    }

    /// An honest party that a panel wronged asks for the reference.
    fn appeal(&mut self) -> Result<(), Refusal> {
        let Some((_, verdict)) = self.claim().verdict else { return Ok(()) };
        let runner = self.claim().runner().unwrap_or_default().to_owned();
        let wronged = match verdict {
            Ending::RunnerWrong => Some(runner).filter(|runner| self.population(runner).works()),
            _ if self.population(&runner).works() => None,
            _ => self.claim().challenges.iter().map(|c| c.agent.clone()).find(|c| self.population(c).works()),
        };
        // Whether it may is for the rules to say.
        if let Some(party) = wronged {
            let _ = self.run(&party, Command::Appeal { claim: self.id() });
        }
        Ok(())
    }

    fn reference(&mut self, truth: &Measurement) -> Result<(), Refusal> {
        let actor = Actor::new(OPERATOR, Population::Honest);
        let record = actor.record(self.world, self.claim(), Role::Reference, &truth.results());
        let Ok(record) = record else { return self.wait() };
        let records = vec![record.value().clone(), record.value().clone()];
        self.run(OPERATOR, Command::PublishReference { claim: self.id(), records })
    }

    /// Who gained what: balances after less balances before, less what work cost.
    fn book(&mut self, before: &BTreeMap<String, i64>, pending: &Pending, wrong: bool) {
        let claim = &self.world.claims[&self.id()];
        let true_outcome = if wrong { Outcome::NotReproduced } else { Outcome::Reproduced };
        if matches!(claim.phase, Phase::Settled(outcome) if outcome != true_outcome) {
            self.report.false_outcomes = self.report.false_outcomes.saturating_add(1);
        }
        let runner = claim.runner().unwrap_or_default();
        let seats: Vec<&String> =
            claim.panels.iter().flat_map(|panel| &panel.seats).map(|seat| &seat.agent).collect();
        for (name, actor) in self.actors.iter() {
            let Some(tally) = self.report.tallies.get_mut(&actor.population) else { continue };
            if name == "submitter" || name == "funder" {
                continue;
            }
            let cost = pending.costs.get(name).copied().unwrap_or_default();
            let change =
                self.world.avail(name).signed().saturating_sub(before.get(name).copied().unwrap_or_default());
            let profit = change.saturating_sub_unsigned(cost);
            tally.profit = tally.profit.saturating_add(profit);
            let add = |count: &mut u64, yes: bool| *count = count.saturating_add(u64::from(yes));
            add(&mut tally.runs, name == runner);
            add(&mut tally.challenges, claim.challenge(name).is_some());
            add(&mut tally.reviews, seats.contains(&name));
            if name == runner {
                tally.run_profit = tally.run_profit.saturating_add(profit);
            }
            if seats.contains(&name) {
                tally.review_profit = tally.review_profit.saturating_add(profit);
            }
        }
    }
}
