//! Runs the lines of a table against the real state machine.

mod chain;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::{Sealed, canary_commitment};
use arena_claims::life::{
    Claim, Command, Event, Instance, Party, Refusal, Stamped, World, evolve, execute, follow, replay,
    report_of,
};
use arena_claims::manifest::Input;
use arena_claims::params::Params;
use arena_claims::record::{Record, Role};
use arena_claims::simulate::{Actor, Measurement, Population, stamped};
use arena_draw::beacon::{HashChain, Preimages, Source};
use arena_ledger::{Account, Amount, Asset};
use serde_json::json;

pub(crate) const START: u64 = 1_800_000_000;
pub(crate) const OPERATOR: &str = "operator";

pub(crate) struct Script {
    pub(crate) world: World,
    start: World,
    pub(crate) history: Vec<(u64, Event)>,
    pub(crate) actors: BTreeMap<String, Actor>,
    records: BTreeMap<(String, String), Record>,
    ballots: BTreeMap<(String, String), Value>,
    determinism: &'static str,
    chains: BTreeMap<String, Preimages>,
}

fn world(change: &Value) -> World {
    World::new(Instance {
        name: "test-scripts".into(),
        source: Source::Test,
        params: Arc::new(Params::overridden(change).expect("parameters")),
        asset: Asset::new("units").expect("a name"),
        operator: OPERATOR.into(),
        parties: Vec::new(),
    })
}

impl Default for Script {
    fn default() -> Self {
        Self {
            world: world(&json!({})),
            start: world(&json!({})),
            history: Vec::new(),
            actors: [(OPERATOR.into(), Actor::new(OPERATOR, Population::Honest))].into(),
            records: BTreeMap::new(),
            ballots: BTreeMap::new(),
            determinism: "exact",
            chains: BTreeMap::new(),
        }
    }
}

struct Line<'a> {
    verb: &'a str,
    claim: &'a str,
    actor: String,
    at: u64,
    words: Vec<&'a str>,
}

impl Line<'_> {
    fn arg(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    fn amount(&self) -> Amount {
        self.words.iter().find_map(|word| word.parse().ok()).unwrap_or_default()
    }
}

/// `26:30` is two and a half hours into the second day.
fn time(text: &str) -> u64 {
    let mut parts = text.split(':').map(|part| part.parse::<u64>().expect("a number"));
    let mut next = || parts.next().unwrap_or_default();
    START + next() * 3_600 + next() * 60 + next()
}

impl Script {
    /// `given agents=amy,ben@op-a stake=20000`, `given params={…}`, `given determinism=tolerant`, and a hash chain of
    /// parties with stakes: `given parties=op:6000,out:6000`, or with the rounds of their chains `op:6000:30`.
    pub(crate) fn given(&mut self, line: &str) {
        let Some(rest) = line.trim().strip_prefix("given ") else { return };
        if let Some(change) = rest.strip_prefix("params=") {
            let change: Value = serde_json::from_str(change).expect("JSON");
            (self.world, self.start) = (world(&change), world(&change));
        } else if let Some(parties) = rest.strip_prefix("parties=") {
            self.found_parties(parties);
        } else if rest == "determinism=tolerant" {
            self.determinism = "tolerant";
        } else {
            let agents = rest.strip_prefix("agents=").expect("agents");
            let (names, stake) = agents.split_once(" stake=").unwrap_or((agents, "20000"));
            for name in names.split(',') {
                let (name, operator) =
                    name.split_once('@').map_or((name, format!("op-{name}")), |(n, o)| (n, o.into()));
                let actor = Actor::new(name, Population::Honest);
                let (operator, key) = (operator, actor.public_key());
                let capabilities = vec!["wasm".to_owned()];
                let amount = stake.parse().expect("an amount");
                for command in
                    [Command::Register { operator, key, capabilities }, Command::Deposit { amount }]
                {
                    let at = self.world.now.max(START);
                    self.execute(&actor.stamped(at, command)).expect("registered");
                }
                self.actors.insert(name.to_owned(), actor);
            }
        }
    }

    /// The world before the first event.
    pub(crate) fn beginning(&self) -> World {
        self.start.clone()
    }

    fn found_parties(&mut self, parties: &str) {
        let mut named = Vec::new();
        for word in parties.split(',') {
            let (agent, rest) = word.split_once(':').expect("agent:stake");
            let (stake, rounds) =
                rest.split_once(':').map_or((rest, None), |(stake, rounds)| (stake, Some(rounds)));
            let rounds = rounds.map(|rounds| rounds.parse().expect("a number"));
            let chain = Preimages::new(*Digest::of(agent.as_bytes()).as_bytes(), rounds.unwrap_or(100));
            self.chains.insert(agent.to_owned(), chain);
            named.push(Party { agent: agent.to_owned(), stake: stake.parse().expect("an amount"), rounds });
        }
        let anchors = named.iter().map(|party| self.chains[&party.agent].anchor()).collect();
        let source = Source::HashChain(HashChain::new(anchors, None).expect("a beacon"));
        for world in [&mut self.world, &mut self.start] {
            world.instance.source = source.clone();
            world.instance.parties.clone_from(&named);
        }
    }

    pub(crate) fn execute(&mut self, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
        let before = format!("{:?}", self.world);
        let result = execute(&mut self.world, stamped);
        match &result {
            Ok(events) => self.history.extend(events.iter().map(|event| (stamped.at, event.clone()))),
            Err(_) => assert!(format!("{:?}", self.world) == before, "a refused command leaves no trace"),
        }
        result
    }

    fn actor(&self, claim: &str, name: &str) -> String {
        let claim = self.world.claims.get(claim);
        let of = |claim: &Claim| match name.strip_prefix('@')? {
            "runner" => claim.runner().map(str::to_owned),
            "auditor" => claim.audit.auditor.clone(),
            seat => {
                let place: usize = seat.strip_prefix("seat")?.parse().ok()?;
                claim.panel()?.seats.get(place - 1).map(|seat| seat.agent.clone())
            }
        };
        claim.and_then(of).unwrap_or_else(|| name.to_owned())
    }

    /// Plays lines with their verdicts: how they went, and those that went otherwise.
    pub(crate) fn play(&mut self, lines: &str) -> (String, Vec<String>) {
        let (mut rendered, mut wrong) = (String::new(), Vec::new());
        for line in lines.lines() {
            let want = line.trim_end();
            let (command, _) = want.split_once("->").unwrap_or((want, ""));
            let mut got = want.to_owned();
            if command.trim().is_empty() || command.starts_with('#') || command.starts_with("given ") {
                self.given(command);
            } else {
                got = format!("{command}-> {}", self.run(command));
            }
            if got != want {
                wrong.push(format!("  want {want}\n  got  {got}"));
            }
            rendered.push_str(&format!("{got}\n"));
        }
        (rendered, wrong)
    }

    pub(crate) fn run(&mut self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let mut next = || words.next().unwrap_or_else(|| panic!("too few words: {line}"));
        let (verb, claim, actor, at) = (next(), next(), next(), time(next()));
        let actor = self.actor(claim, actor);
        if actor.starts_with('@') {
            return "! nobody".into();
        }
        let line = Line { verb, claim, actor, at, words: words.collect() };
        match line.verb {
            "avail" => return self.world.avail(&line.actor).to_string(),
            "treasury" => {
                let treasury = Account::treasury(&self.world.instance.asset);
                return self.world.ledger.balance(&treasury).to_string();
            }
            "standing" => return self.world.agents[&line.actor].standing_on(line.at).to_string(),
            "phase" => return self.world.claims[line.claim].phase.name().to_owned(),
            "rows" => return self.rows(&line),
            _ => {}
        }
        let stamped = self.command(&line);
        match self.execute(&stamped) {
            Ok(events) => {
                let told = events.iter().filter(|event| !matches!(event, Event::StandingChanged { .. }));
                let told: Vec<String> = told.map(told_as).collect();
                if told.is_empty() { "nothing".to_owned() } else { told.join(" ") }
            }
            Err(refusal) => format!("! {}", refusal.code()),
        }
    }

    fn rows(&self, line: &Line<'_>) -> String {
        let report = report_of(&self.world.claims[line.claim]);
        let of = report
            .iter()
            .filter(|(agent, _)| *agent == line.actor)
            .flat_map(|(_, comparison)| &comparison.rows);
        let rows: Vec<String> = of
            .filter(|row| !row.passes())
            .map(|row| format!("{}:{}:{}", row.cmp, row.metric, row.status))
            .collect();
        if rows.is_empty() { "agrees".into() } else { rows.join(" ") }
    }

    fn command(&mut self, line: &Line<'_>) -> Stamped {
        let claim = line.claim.to_owned();
        let command = match line.verb {
            "register" => {
                let key = match line.arg("key") {
                    Some("weak") => Digest::from_bytes([0; 32]),
                    Some(other) => self.actors[other].public_key(),
                    None => Actor::new(&line.actor, Population::Honest).public_key(),
                };
                let operator = line.arg("operator").unwrap_or("op").to_owned();
                Command::Register { operator, key, capabilities: Vec::new() }
            }
            "deposit" => Command::Deposit { amount: line.amount() },
            "payout" => Command::PayOut { amount: line.amount() },
            "list" => {
                let manifest = self.manifest(line);
                let mark =
                    line.arg("canary").map(|salt| canary_commitment(&claim, Digest::of(salt.as_bytes())));
                Command::List { claim, manifest, deposit: line.amount(), canary: mark }
            }
            "relist" => Command::Relist { claim, manifest: self.manifest(line), deposit: line.amount() },
            "fund" => Command::Fund { claim, amount: line.amount() },
            "withdraw" => Command::Withdraw { claim },
            "contribute" => self.contribution(line),
            "commit_draw" => Command::CommitDraw { claim },
            "draw" => {
                Command::ResolveDraw { claim, proof: line.arg("proof").map_or(Vec::new(), |p| p.into()) }
            }
            "accept" => Command::Accept { claim },
            "decline" => Command::Decline { claim, reason: line.arg("reason").map(str::to_owned) },
            "inputs" => {
                let bad = Input { name: "data.csv".into(), sha256: Digest::of(b"other"), bytes: 5 };
                let found = if line.words.contains(&"bad") { vec![bad] } else { Vec::new() };
                Command::CheckInputs { claim, found }
            }
            "run" | "challenge" => self.commit(line),
            "reveal" => self.reveal(line),
            "vote" => self.vote(line),
            "open" => self.open(line),
            "appeal" => Command::Appeal { claim },
            "reference" => {
                let of = |words: &str| self.record(line, Role::Reference, words).value().clone();
                let first = of(&line.words.join(" "));
                let second = line.arg("second").map_or(first.clone(), |x| of(&format!("x={x}")));
                let mut records = vec![first, second];
                if line.words.contains(&"one") {
                    records.pop();
                }
                if line.words.contains(&"tampered") {
                    records[0]["outcome"] = "not_reproduced".into();
                }
                Command::PublishReference { claim, records }
            }
            "position" => Command::DeclarePosition { claim },
            "canary" => {
                let salt = Digest::of(line.arg("salt").unwrap_or_default().as_bytes());
                Command::OpenCanary { claim, salt }
            }
            "tick" => Command::Tick { claim },
            other => panic!("unknown verb {other}"),
        };
        let mut stamped = stamped(&line.actor, line.at, command);
        if line.words.contains(&"unseen") {
            stamped.seen = None;
        }
        if let Some(salt) = line.arg("salt") {
            stamped.salt = Some(Digest::of(salt.as_bytes()));
        }
        stamped
    }

    fn contribution(&self, line: &Line<'_>) -> Command {
        let round = line.amount().units();
        let whose = self.chains.get(line.arg("of").unwrap_or(&line.actor));
        let preimage = whose.and_then(|chain| chain.reveal(round)).map(Digest::from_bytes);
        Command::RevealRound { round, preimage: preimage.unwrap_or_else(|| Digest::of(b"")) }
    }

    fn manifest(&self, line: &Line<'_>) -> Value {
        let zero = "0".repeat(64);
        let rerun = match self.determinism {
            "tolerant" => json!({ "mode": "tol", "abs": "0.2", "rel": "0" }),
            _ => json!({ "mode": "exact" }),
        };
        let params = match line.arg("params") {
            Some(_) => Digest::of(b"other"),
            None => self.world.instance.params.digest(),
        };
        json!({
            "v": "arena-manifest/v1", "title": "a claim", "submitter": line.actor,
            "program": { "kind": "experiment", "component": zero },
            "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": line.arg("claim").unwrap_or("10.0"),
                "claim_tol": { "abs": line.arg("abs").unwrap_or("0.5"), "rel": "0", "dir": "two_sided" }, "rerun_tol": rerun }],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": "48.0.8", "config_sha256": zero },
            "capabilities": ["wasm"], "determinism": self.determinism, "protocol_params_sha256": params,
        })
    }

    fn record(&self, line: &Line<'_>, role: Role, words: &str) -> Record {
        let arg = |key: &str, default: &str| {
            let found = words.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            found.unwrap_or(default).to_owned()
        };
        let measured = Measurement {
            x: arg("x", "10.0"),
            fuel: arg("fuel", "7").parse().expect("a number"),
            log: Digest::of(arg("log", "").as_bytes()),
        };
        let mut results = measured.results();
        if words.contains("spec_issue") {
            results["outcome"] = "spec_issue".into();
        }
        let claim = &self.world.claims[line.claim];
        self.actors[&line.actor].record(&self.world, claim, role, &results).expect("a record")
    }

    fn commit(&mut self, line: &Line<'_>) -> Command {
        let (role, kind) = match line.verb {
            "run" => (Role::Runner, Sealed::Run),
            _ => (Role::Challenger, Sealed::Challenge),
        };
        let record = self.record(line, role, &line.words.join(" "));
        let claim = &self.world.claims[line.claim];
        let mut digest = self.actors[&line.actor].seal(claim, kind, record.digest);
        if line.words.contains(&"copy") {
            digest = claim.run.as_ref().and_then(|run| run.digest).expect("a run");
        }
        let key = (line.claim.to_owned(), line.actor.clone());
        self.records.entry(key).or_insert(record);
        match kind {
            Sealed::Run => Command::CommitRun { claim: line.claim.to_owned(), digest },
            _ => Command::CommitChallenge { claim: line.claim.to_owned(), digest },
        }
    }

    fn reveal(&self, line: &Line<'_>) -> Command {
        let claim = &self.world.claims[line.claim];
        let runs = claim.runner() == Some(line.actor.as_str());
        let (role, kind) =
            if runs { (Role::Runner, Sealed::Run) } else { (Role::Challenger, Sealed::Challenge) };
        let actor = &self.actors[&line.actor];
        let own = self.records.get(&(line.claim.to_owned(), line.actor.clone())).cloned();
        let record = match line.arg("x") {
            Some(_) => self.record(line, role, &line.words.join(" ")),
            None => own.unwrap_or_else(|| self.record(line, role, "x=10.0")),
        };
        let signer = line.arg("key").map_or(actor, |other| &self.actors[other]);
        let mut envelope = signer.envelope(&self.world, &record, line.at);
        if line.words.contains(&"late") {
            envelope = signer.envelope(&self.world, &record, line.at - 7_200);
        }
        if line.words.contains(&"elsewhere") {
            let mut other = self.world.clone();
            other.instance.name = "test-elsewhere".into();
            envelope = signer.envelope(&other, &record, line.at);
        }
        Command::Reveal { claim: line.claim.to_owned(), nonce: actor.nonce(claim, kind), envelope }
    }

    fn vote(&mut self, line: &Line<'_>) -> Command {
        let claim = &self.world.claims[line.claim];
        let verdict = line.words[0];
        let names = line.arg("confirms").map_or(Vec::new(), |names| names.split(',').collect());
        let confirms: Vec<String> = names.into_iter().map(|name| self.actor(line.claim, name)).collect();
        let row = line.arg("cites").unwrap_or("C3:x");
        let (cmp, metric) = row.split_once(':').expect("cmp:metric");
        let cited = match verdict {
            "abstain" => json!([]),
            _ => json!([{ "cmp": cmp, "metric": metric }]),
        };
        let ballot =
            json!({ "verdict": verdict, "confirms": confirms, "rationale": cited, "rerun_sha256": null });
        let document = Digest::of(&json::canonical(&ballot));
        let digest = self.actors[&line.actor].seal(claim, Sealed::Vote, document);
        self.ballots.insert((line.claim.to_owned(), line.actor.clone()), ballot);
        Command::CommitVote { claim: line.claim.to_owned(), digest }
    }

    fn open(&self, line: &Line<'_>) -> Command {
        let key = (line.claim.to_owned(), line.actor.clone());
        let ballot = self.ballots.get(&key).cloned().unwrap_or_else(|| json!({}));
        let nonce = self.actors[&line.actor].nonce(&self.world.claims[line.claim], Sealed::Vote);
        Command::RevealVote { claim: line.claim.to_owned(), nonce, ballot }
    }

    /// Money is conserved, a replay gives the same state, events read back, transcripts verify, and by time alone
    /// everything ends with every stake back.
    pub(crate) fn check_laws(&mut self, name: &str) {
        let asset = self.world.instance.asset.clone();
        assert_eq!(self.world.ledger.sum(&asset), 0, "{name}");
        let again = replay(self.start.clone(), self.history.iter().map(|(at, event)| (*at, event)));
        assert!(format!("{again:?}") == format!("{:?}", self.world), "{name}: the replay differs");
        let mut read_back = self.start.clone();
        for (at, event) in &self.history {
            let text = serde_json::to_string(event).expect("written");
            evolve(&mut read_back, *at, &serde_json::from_str(&text).expect("read"));
        }
        assert!(format!("{read_back:?}") == format!("{:?}", self.world), "{name}: events do not read back");
        for transcript in self.world.claims.values().flat_map(|claim| &claim.transcripts) {
            arena_draw::verify(&json::canonical(transcript)).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        self.check_time(name);
        self.run_out(name);
        let locked = |account: &str| {
            account.starts_with("lock:") || account.starts_with("pool:") || account.starts_with("bucket:")
        };
        for (account, balance) in self.world.ledger.accounts() {
            assert!(!locked(account.name()) || balance == 0, "{name}: {balance} left in {account}");
        }
    }

    /// Stakes of parties are held and released by time alone: whoever derives the history finds each of these events
    /// again without a command.
    fn check_time(&self, name: &str) {
        let mut world = self.start.clone();
        for (at, event) in &self.history {
            if let Event::PartiesHeld { claim, .. } | Event::PartiesReleased { claim, .. } = event {
                let tick = stamped(OPERATOR, *at, Command::Tick { claim: claim.clone() });
                let by_time = follow(&world, &world.claims[claim], &tick);
                assert_eq!(by_time, std::slice::from_ref(event), "{name}: it does not follow");
            }
            evolve(&mut world, *at, event);
        }
    }

    /// Time alone, without a word from anybody, ends every claim.
    fn run_out(&mut self, name: &str) {
        let claims: Vec<String> = self.world.claims.keys().cloned().collect();
        for claim in claims {
            for _ in 0..40 {
                let state = &self.world.claims[&claim];
                if state.phase.is_terminal() {
                    break;
                }
                let at = state.until.max(self.world.now);
                let mut tick = stamped(OPERATOR, at, Command::Tick { claim: claim.clone() });
                tick.seen = None;
                self.execute(&tick).expect("time passes");
            }
            let phase = self.world.claims[&claim].phase;
            assert!(phase.is_terminal(), "{name}: {claim} is stuck in {phase:?}");
        }
    }
}

fn told_as(event: &Event) -> String {
    let name = event.name();
    match event {
        Event::Settled { outcome, ending, .. } if outcome.name() == ending.name() => {
            format!("{name}:{outcome}")
        }
        Event::Settled { outcome, ending, .. } => format!("{name}:{ending}:{outcome}"),
        Event::ClaimWithdrawn { why, .. } => format!("{name}:{}", word(&json!(why))),
        Event::RoleVacated { why, .. } | Event::AuditVacated { why, .. } => {
            format!("{name}:{}", word(&json!(why)))
        }
        Event::DrawCommitted(draw) => format!("{name}:{}:{}", draw.purpose, draw.attempt),
        Event::DrawResolved { picks, .. } => format!("{name}:{}", picks.len()),
        Event::CoinTossed { audited, .. } => {
            format!("{name}:{}", if *audited { "audit" } else { "no_audit" })
        }
        Event::VerdictReached { verdict, .. } => format!("{name}:{verdict}"),
        Event::ReferencePublished { verdict, .. } => format!("{name}:{verdict}"),
        Event::Escalated { level, .. } => format!("{name}:{level}"),
        Event::ValidRunCounted { valid, .. } => format!("{name}:{valid}"),
        _ => name,
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
