//! One claim, from its listing to its end.

use std::collections::{BTreeMap, BTreeSet};

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use serde_json::json;

use super::actor::{Actor, Measurement, salted};
use super::behaviour::Population;
use super::book::Book;
use super::{Config, FUNDER, Report, SUBMITTER};
use crate::commitment::Sealed;
use crate::life::{Claim, Command, Phase, Refusal, World, execute, report_of};
use crate::luck::SplitMix;
use crate::record::{Outcome, Record, Role};
use crate::settle::Ending;

pub(super) const OPERATOR: &str = "operator";
/// More steps than any claim takes.
const STEPS_MAX: usize = 400;

pub(super) struct Round<'a> {
    pub(super) config: &'a Config,
    pub(super) world: &'a mut World,
    pub(super) actors: &'a BTreeMap<String, Actor>,
    pub(super) luck: &'a mut SplitMix,
    pub(super) report: &'a mut Report,
    pub(super) at: u64,
    pub(super) id: String,
    /// The secret of its audits.
    pub(super) salt: Digest,
    pub(super) book: Book,
    pub(super) pending: Pending,
    /// What is claimed and what is true.
    pub(super) case: Case,
}

pub(super) struct Case {
    claimed: String,
    truth: Measurement,
    outcome: Outcome,
}

/// What the agents have handed in and not revealed.
#[derive(Default)]
pub(super) struct Pending {
    records: BTreeMap<String, Record>,
    ballots: BTreeMap<String, Value>,
    /// Whose record is what a run gives.
    right: BTreeSet<String>,
    volunteered: bool,
}

impl Case {
    pub(super) fn new(config: &Config, luck: &mut SplitMix) -> Self {
        let truth = Measurement {
            x: format!("1{:02}.{:02}", luck.below(100), luck.below(100)),
            fuel: luck.below(1_000_000).saturating_add(1_000_000),
            log: Digest::of(&luck.next_word().to_be_bytes()),
        };
        let wrong = luck.happens(config.wrong_ppm);
        let claimed = if wrong { "500.00".to_owned() } else { truth.x.clone() };
        let outcome = if wrong { Outcome::NotReproduced } else { Outcome::Reproduced };
        Self { claimed, truth, outcome }
    }
}

impl Round<'_> {
    /// Plays the claim; says when it ended.
    pub(super) fn play(mut self) -> Result<u64, Refusal> {
        self.open()?;
        for _ in 0..STEPS_MAX {
            let phase = self.claim().phase;
            if phase.is_terminal() {
                break;
            }
            self.step(phase)?;
        }
        if matches!(self.claim().phase, Phase::Settled(outcome) if outcome != self.case.outcome) {
            self.report.false_outcomes = self.report.false_outcomes.saturating_add(1);
        }
        self.book.close(&self.world.claims[&self.id].challenges, self.actors, self.report);
        Ok(self.at)
    }

    fn claim(&self) -> &Claim {
        &self.world.claims[&self.id]
    }

    fn run(&mut self, by: &str, command: Command) -> Result<(), Refusal> {
        let events = execute(self.world, &salted(by, self.at, self.salt, command))?;
        for event in &events {
            self.report.take_in(event);
            self.book.take_in(event, |agent| self.actors.get(agent).map(|actor| actor.population));
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Refusal> {
        let zero = "0".repeat(64);
        let manifest = json!({
            "v": "arena-manifest/v1", "title": "a simulated claim", "submitter": "submitter",
            "program": { "kind": "experiment", "component": zero },
            "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 2, "claim": self.case.claimed,
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" } }],
            "limits": { "fuel": 1_000_000_000, "memory_bytes": 1_048_576, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
            "capabilities": ["wasm"],
            "determinism": if self.config.traces { "exact" } else { "tolerant" },
            "protocol_params_sha256": self.world.params_sha256(),
        });
        let params = &self.world.instance.params;
        let deposit = params.submitter_deposit_min;
        let rest = params.pool_min().unwrap_or_default().less(deposit);
        self.run(SUBMITTER, Command::List { claim: self.id.clone(), manifest, deposit, canary: None })?;
        self.run(FUNDER, Command::Fund { claim: self.id.clone(), amount: rest })
    }

    fn step(&mut self, phase: Phase) -> Result<(), Refusal> {
        if self.claim().draw.is_some() {
            // The next minute, the round has spoken.
            self.at = self.at.saturating_add(60);
            return self.run(OPERATOR, Command::ResolveDraw { claim: self.id.clone(), proof: Vec::new() });
        }
        match phase {
            Phase::Offered => self.answer(),
            Phase::Running => self.publish(),
            Phase::Committed => self.challenge(),
            Phase::Revealing => self.reveal(),
            Phase::Voting { .. } => self.vote(),
            Phase::Opening { .. } => self.open_votes(),
            Phase::Reference => self.reference(),
            _ => self.wait(),
        }
    }

    /// Until the next deadline.
    fn wait(&mut self) -> Result<(), Refusal> {
        self.wait_until(self.claim().until)
    }

    fn wait_until(&mut self, until: u64) -> Result<(), Refusal> {
        self.at = self.at.max(until);
        self.run(OPERATOR, Command::Tick { claim: self.id.clone() })
    }

    fn population(&self, agent: &str) -> Population {
        self.actors.get(agent).map_or(Population::Honest, |actor| actor.population)
    }

    fn runner(&self) -> String {
        self.claim().runner().unwrap_or_default().to_owned()
    }

    fn answer(&mut self) -> Result<(), Refusal> {
        let (runner, claim) = (self.runner(), self.id.clone());
        if self.population(&runner) == Population::Griefing && self.luck.happens(500_000) {
            return self.run(&runner, Command::Decline { claim, reason: None });
        }
        self.run(&runner, Command::Accept { claim })
    }

    /// Whether the operator of `runner` is audited no more than anybody must be: the rule is public.
    fn is_unwatched(&self, runner: &str) -> bool {
        let operator = self.world.agents.get(runner).map_or("", |agent| agent.operator.as_str());
        let valid = self.world.valid_runs.get(&(operator.to_owned(), "wasm".to_owned()));
        let params = &self.config.params;
        params.audit_ppm(valid.copied().unwrap_or_default(), false) <= params.audit_floor_ppm
    }

    fn measured(&mut self, agent: &str, role: Role) -> Option<Record> {
        let population = self.population(agent);
        let works = population.works(role == Role::Runner && self.is_unwatched(agent));
        let measured = match works {
            true => self.case.truth.clone(),
            false => population.make_up(&self.case.claimed, self.luck),
        };
        if works {
            self.book.spend(agent, self.config.params.assumptions.cost);
        }
        // Without traces, whoever guesses the value is as right as whoever measured it.
        let truth = &self.case.truth;
        if measured == *truth || !self.config.traces && measured.x == truth.x {
            self.pending.right.insert(agent.to_owned());
        }
        let actor = self.actors.get(agent)?;
        actor.record(self.world, self.claim(), role, &measured.results()).ok()
    }

    fn publish(&mut self) -> Result<(), Refusal> {
        let runner = self.runner();
        self.run(&runner, Command::CheckInputs { claim: self.id.clone(), found: Vec::new() })?;
        let Some(record) = self.measured(&runner, Role::Runner) else { return self.wait() };
        let digest = self.actors[&runner].seal(self.claim(), Sealed::Run, record.digest);
        self.pending.records.insert(runner.clone(), record);
        self.run(&runner, Command::CommitRun { claim: self.id.clone(), digest })
    }

    fn challenge(&mut self) -> Result<(), Refusal> {
        let auditor = self.claim().audit.auditor.clone();
        let mut all: Vec<String> = auditor.iter().cloned().collect();
        if !std::mem::replace(&mut self.pending.volunteered, true) {
            for (name, actor) in self.actors {
                if actor.population.volunteers(self.luck) && Some(name) != auditor.as_ref() {
                    all.push(name.clone());
                }
            }
        }
        for agent in all {
            if self.population(&agent) == Population::Copying {
                let digest = self.claim().run.as_ref().and_then(|run| run.digest);
                self.copy(&agent, digest, |claim, digest| Command::CommitChallenge { claim, digest });
                continue;
            }
            let Some(record) = self.measured(&agent, Role::Challenger) else { continue };
            let digest = self.actors[&agent].seal(self.claim(), Sealed::Challenge, record.digest);
            // Who has a role already, or an operator with one, is refused; that is as it should be.
            if self.run(&agent, Command::CommitChallenge { claim: self.id.clone(), digest }).is_ok() {
                self.pending.records.insert(agent, record);
            }
        }
        // An auditor that never came forward is drawn again.
        let audit = &self.claim().audit;
        let silent = audit.auditor.as_deref().filter(|auditor| self.claim().challenge(auditor).is_none());
        match silent {
            Some(_) => self.wait_until(audit.until.min(self.claim().until)),
            None => self.wait(),
        }
    }

    /// Commits to what somebody else has committed to. Says whether there was anything to copy.
    fn copy(
        &mut self,
        agent: &str,
        digest: Option<Digest>,
        command: impl FnOnce(String, Digest) -> Command,
    ) -> bool {
        let Some(digest) = digest else { return false };
        let copied = self.run(agent, command(self.id.clone(), digest));
        if matches!(copied, Err(Refusal::DuplicateCommitment)) {
            let tally = self.report.tallies.entry(Population::Copying).or_default();
            tally.copies_refused = tally.copies_refused.saturating_add(1);
        }
        true
    }

    fn reveal(&mut self) -> Result<(), Refusal> {
        let runner = self.runner();
        let challengers = self.claim().challenges.iter().map(|challenge| challenge.agent.clone());
        let all: Vec<String> = std::iter::once(runner.clone()).chain(challengers).collect();
        for agent in all {
            let holds_back = self.population(&agent) == Population::Griefing && self.luck.happens(300_000);
            let Some(record) = self.pending.records.remove(&agent).filter(|_| !holds_back) else { continue };
            let kind = if agent == runner { Sealed::Run } else { Sealed::Challenge };
            let actor = &self.actors[&agent];
            let nonce = actor.nonce(self.claim(), kind);
            let envelope = match self.config.signed {
                true => actor.envelope(self.world, &record, self.at),
                false => actor.unsigned(self.world, record, self.at),
            };
            self.run(&agent, Command::Reveal { claim: self.id.clone(), nonce, envelope })?;
            if self.claim().phase != Phase::Revealing {
                return Ok(());
            }
        }
        self.wait()
    }

    fn vote(&mut self) -> Result<(), Refusal> {
        let seats = self.claim().panel().into_iter().flat_map(|panel| &panel.seats);
        let mut seats: Vec<String> = seats.map(|seat| seat.agent.clone()).collect();
        // Whoever wants to copy waits for the others.
        seats.sort_by_key(|agent| self.population(agent) == Population::Copying);
        let report = report_of(self.claim());
        let row = report.iter().flat_map(|(_, c)| &c.rows).find(|row| !row.passes());
        let cited = row.map(|row| json!({ "cmp": row.cmp.name(), "metric": row.metric }));
        let challengers: Vec<&String> = report.iter().map(|(agent, _)| agent).collect();
        for agent in seats {
            if self.population(&agent) == Population::Copying {
                let panel = self.claim().panel().into_iter().flat_map(|panel| &panel.seats);
                let other = panel.filter_map(|seat| seat.digest).next();
                if self.copy(&agent, other, |claim, digest| Command::CommitVote { claim, digest }) {
                    continue;
                }
            }
            let ballot = self.ballot(&agent, &challengers, cited.as_ref());
            let document = Digest::of(&json::canonical_of(&ballot));
            let digest = self.actors[&agent].seal(self.claim(), Sealed::Vote, document);
            self.pending.ballots.insert(agent.clone(), ballot);
            self.run(&agent, Command::CommitVote { claim: self.id.clone(), digest })?;
        }
        match self.claim().phase {
            Phase::Voting { .. } if self.claim().draw.is_none() => self.wait(),
            _ => Ok(()),
        }
    }

    /// What a reviewer says, which sees right as often as is assumed, unless it does not look.
    fn ballot(&mut self, agent: &str, challengers: &[&String], cited: Option<&Value>) -> Value {
        let runner = self.runner();
        let blind = self.population(agent).votes_blindly(self.population(&runner));
        if !blind {
            self.book.spend(agent, self.config.params.assumptions.review_cost);
        }
        let right = &self.pending.right;
        let sees_right = self.luck.happens(self.config.reviewer_ppm);
        let for_runner = blind || right.contains(&runner) == sees_right;
        let confirms: Vec<&&String> =
            challengers.iter().filter(|name| !for_runner && right.contains(**name)).collect();
        let verdict = if for_runner { Ending::RunnerRight } else { Ending::RunnerWrong };
        json!({
            "verdict": verdict.name(), "confirms": confirms,
            "rationale": cited.into_iter().collect::<Vec<_>>(), "rerun_sha256": null,
        })
    }

    fn open_votes(&mut self) -> Result<(), Refusal> {
        for (agent, ballot) in std::mem::take(&mut self.pending.ballots) {
            let nonce = self.actors[&agent].nonce(self.claim(), Sealed::Vote);
            self.run(&agent, Command::RevealVote { claim: self.id.clone(), nonce, ballot })?;
        }
        if !matches!(self.claim().phase, Phase::Opening { .. }) {
            return self.appeal();
        }
        self.wait()
    }

    /// A party whose record is right and that a panel wronged asks for the reference.
    fn appeal(&mut self) -> Result<(), Refusal> {
        let Some((_, verdict)) = self.claim().verdict else { return Ok(()) };
        let (runner, right) = (self.runner(), &self.pending.right);
        let wronged = match verdict {
            Ending::RunnerWrong => Some(runner).filter(|runner| right.contains(runner)),
            _ if right.contains(&runner) => None,
            _ => self.claim().challenges.iter().map(|c| c.agent.clone()).find(|c| right.contains(c)),
        };
        // Whether it may is for the rules to say.
        if let Some(party) = wronged {
            let _ = self.run(&party, Command::Appeal { claim: self.id.clone() });
        }
        Ok(())
    }

    fn reference(&mut self) -> Result<(), Refusal> {
        let operator = &self.actors[OPERATOR];
        let record = operator.record(self.world, self.claim(), Role::Reference, &self.case.truth.results());
        let Ok(record) = record else { return self.wait() };
        let records = vec![record.value().clone(), record.into_value()];
        self.run(OPERATOR, Command::PublishReference { claim: self.id.clone(), records })
    }
}
