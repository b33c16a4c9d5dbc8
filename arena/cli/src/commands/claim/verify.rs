//! Derives an instance's journal again, event by event: every event must be what a command or the passing of
//! time comes to in the state before it. That takes in signatures, commitments, comparisons, draws and money.

use std::collections::BTreeSet;
use std::path::Path;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::life::{Claim, Command, Event, Seen, Stamped, Vacancy, World, decide, follow};
use arena_claims::manifest::{INPUT_BYTES_MAX, Input, Manifest, Program};
use arena_draw::beacon::{Schedule, Source};
use arena_engine::campus::Finding;
use arena_tournament::{FROZEN_BYTES_MAX, Frozen};

use super::beacon;
use super::instance::{Kept, Line, Reading};
use super::log::{self, Commitment};
use super::material::blob;
use crate::failure::Failure;
use crate::files;
use crate::io::Io;

/// What was found to be as it says.
#[derive(Debug)]
pub(crate) struct Verified {
    /// Events that were derived again.
    pub(crate) events: u64,
    /// Claims, and how many of them are over.
    pub(crate) claims: usize,
    pub(crate) over: usize,
    /// Signed records.
    pub(crate) records: u64,
    /// Draws.
    pub(crate) draws: u64,
    /// Files that are what their names say.
    pub(crate) blobs: u64,
    /// Checkpoints that are signed and of this journal; nothing in folders from before there was a log.
    pub(crate) checkpoints: Option<u64>,
    /// Receipts that hold.
    pub(crate) receipts: u64,
}

/// Most findings that are told; what follows from the first is seldom news.
const FINDINGS_MAX: usize = 8;

/// Whether a folder is an instance of claims.
pub(crate) fn is_instance(dir: &Path) -> bool {
    dir.join("instance.json").is_file() && dir.join("journal.ndjson").is_file()
}

/// Derives everything in an instance's folder again. Nothing is changed and nothing is run.
///
/// Receipts, and transcripts that carry their log, are held against it.
pub(crate) fn verify(
    dir: &Path,
    receipts: &[(String, Value)],
    io: &mut Io<'_>,
) -> Result<Result<Verified, Vec<Finding>>, Failure> {
    let mut walk = Walk::new(dir);
    let reading = Reading::open_watched(dir, io, &mut |world, line, i| walk.event(world, line, i))?;
    walk.whole(&reading.world);
    walk.blobs(dir)?;
    if let Some(key) = reading.log {
        let (checkpoints, findings) = log::verify(&reading, key, &walk.commitments);
        walk.verified.checkpoints = Some(checkpoints);
        findings.into_iter().for_each(|finding| walk.find(finding.pointer, finding.message));
    }
    for (name, receipt) in receipts {
        let findings = log::hold(&reading, receipt);
        walk.verified.receipts += u64::from(findings.is_empty());
        for Finding { pointer, message } in findings {
            walk.find(pointer, format!("by the receipt {name}: {message}"));
        }
    }
    let mut verified = walk.verified;
    verified.claims = reading.world.claims.len();
    verified.over = reading.world.claims.values().filter(|claim| claim.phase.is_terminal()).count();
    Ok(if walk.findings.is_empty() { Ok(verified) } else { Err(walk.findings) })
}

/// Reads an instance and derives its journal again; what does not follow in it, if anything.
pub(super) fn derived(dir: &Path) -> Result<(Reading, Vec<Finding>), Failure> {
    let mut walk = Walk::new(dir);
    let reading = Reading::quietly(dir, &mut |world, line, i| walk.event(world, line, i))?;
    walk.whole(&reading.world);
    Ok((reading, walk.findings))
}

struct Walk {
    kept: Kept,
    /// How many of the next events were derived together with one before them.
    derived: usize,
    /// An event did not follow: what comes after it rests on what never was, and is not derived.
    ended: bool,
    /// The number and time of the last line, and the claim that it was about.
    line: Option<(u64, u64, String)>,
    /// The latest round that anybody must know by now.
    known: u64,
    /// The names of the blobs that what was listed rests on.
    pinned: BTreeSet<String>,
    /// Draws that were committed.
    commitments: Vec<Commitment>,
    verified: Verified,
    findings: Vec<Finding>,
}

impl Walk {
    fn new(dir: &Path) -> Self {
        Self {
            kept: Kept(dir.to_owned()),
            derived: 0,
            ended: false,
            line: None,
            known: 0,
            pinned: BTreeSet::new(),
            commitments: Vec::new(),
            verified: Verified::nothing(),
            findings: Vec::new(),
        }
    }

    fn event(&mut self, world: &World, line: &Line, i: usize) {
        let event = &line.events[i];
        if i == 0 {
            self.whole(world);
            let about = line.events.iter().find_map(Event::claim);
            self.line = about.map(|claim| (line.number, line.at, claim.to_owned()));
        }
        self.verified.events += 1;
        match event {
            Event::RunRevealed { .. } | Event::ChallengeRevealed { .. } => self.verified.records += 1,
            Event::ReferencePublished { records, .. } => self.verified.records += records.len() as u64,
            Event::DrawResolved { .. } | Event::CoinTossed { .. } => self.verified.draws += 1,
            _ => {}
        }
        self.rounds(world, event, line.number, i);
        if let Event::DrawCommitted(draw) = event {
            let (seq, pointer) = (world.seq + 1, format!("/journal/{}/events/{i}", line.number));
            let (at, round, is_sealed) = (draw.committed_at, draw.round, event.is_sealed());
            self.commitments.push(Commitment { seq, at, round, is_sealed, pointer });
        }
        if let Event::ClaimListed { manifest, .. } | Event::ClaimRelisted { manifest, .. } = event {
            self.pins(manifest);
        }
        if i == 0 {
            self.derived = 0;
        }
        if self.derived > 0 {
            self.derived -= 1;
            return;
        }
        if self.ended {
            return;
        }
        match self.derive(world, line.at, &line.events[i..]) {
            Ok((together, by)) => {
                self.derived = together - 1;
                if i == 0 {
                    self.actor(world, line, by);
                }
            }
            Err(why) => {
                let pointer = format!("/journal/{}/events/{i}", line.number);
                self.find(pointer, format!("{} does not follow: {why}", event.name()));
                self.ended = true;
            }
        }
    }

    /// Whether the last line tells everything that follows from it, as the state after it shows. What needs luck that a
    /// command brings along may wait for another.
    fn whole(&mut self, world: &World) {
        let Some((number, at, claim)) = self.line.take().filter(|_| !self.ended) else { return };
        let Some(state) = world.claims.get(&claim) else { return };
        let command = Command::Tick { claim };
        let time = Stamped { at, by: String::new(), seen: None, salt: None, command };
        if let Some(missing) = follow(world, state, &time).first() {
            let pointer = format!("/journal/{number}/events");
            self.find(pointer, format!("{} follows, and the line does not tell it", missing.name()));
        }
    }

    /// Whether the line names who did what stands in it. What is all sealed names nobody; what follows from time alone
    /// was noticed by whoever runs the instance.
    fn actor(&mut self, world: &World, line: &Line, by: Option<String>) {
        let by = by.unwrap_or_else(|| world.instance.operator.clone());
        let by = Some(by).filter(|_| !line.events.iter().all(Event::is_sealed));
        if line.by != by {
            let shown = |by: &Option<String>| match by {
                Some(by) => format!("`{}`", arena_engine::Excerpt::line(by)),
                None => "nobody".to_owned(),
            };
            let why = format!("the journal says {}, it was {}", shown(&line.by), shown(&by));
            self.find(format!("/journal/{}/by", line.number), why);
        }
    }

    /// Notes what a manifest pins, itself included.
    fn pins(&mut self, manifest: &Value) {
        let Ok(manifest) = Manifest::read(manifest.clone()) else { return };
        self.pinned.insert(format!("{}.json", manifest.digest));
        let program = match manifest.program {
            Program::Experiment { component } => vec![component],
            Program::Episode { component, pack } => vec![component, pack],
            Program::Tournament { frozen } => {
                let bytes = files::read_regular(&blob(&self.kept.0, frozen), FROZEN_BYTES_MAX as u64);
                let read = bytes.ok().and_then(|bytes| Frozen::parse(&bytes).ok());
                let strategies = read.iter().flat_map(|frozen| &frozen.strategies).map(|pin| pin.sha256);
                let packs = read.iter().flat_map(Frozen::packs);
                strategies.chain(packs).chain([frozen]).collect()
            }
        };
        let inputs = manifest.inputs.iter().map(|input| input.sha256);
        self.pinned.extend(inputs.chain(program).map(|digest| digest.to_string()));
    }

    /// Where rounds have no times, the order of the journal must show that nobody knew the one a draw takes.
    fn rounds(&mut self, world: &World, event: &Event, line: u64, i: usize) {
        if !matches!(world.instance.source, Source::HashChain(_)) {
            return;
        }
        match event {
            Event::DrawCommitted(draw) if draw.last_round_seen < self.known => {
                let (seen, known) = (draw.last_round_seen, self.known);
                let why = format!("the draw rests on round {seen} as the latest; round {known} was known");
                self.find(format!("/journal/{line}/events/{i}/last_round_seen"), why);
            }
            Event::DrawCommitted(draw) => self.known = draw.last_round_seen,
            Event::DrawResolved { transcript, .. } | Event::CoinTossed { transcript, .. } => {
                self.known = self.known.max(transcript.request.round);
            }
            _ => {}
        }
    }

    fn find(&mut self, pointer: String, message: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding { pointer, message });
        }
    }

    /// How many of the events that come next one command or one step of time comes to; of a command, whose it was.
    fn derive(&self, world: &World, at: u64, next: &[Event]) -> Result<(usize, Option<String>), String> {
        let about = next.iter().find_map(Event::claim);
        let claim = about.and_then(|claim| world.claims.get(claim));
        let mut why = "nothing leads to it".to_owned();
        if let Some(claim) = claim {
            let time =
                self.stamped(world, at, Some(claim), next, "", Command::Tick { claim: claim.id.clone() });
            let events = follow(world, claim, &time);
            if !events.is_empty() && next.starts_with(&events) {
                return Ok((events.len(), None));
            }
        }
        let in_rounds = world.instance.parties.is_empty();
        if let Some(round) = committed(next).filter(|round| in_rounds && self.proof(world, *round).is_none())
        {
            return Err(format!("the proof of round {round}, which was the latest, is not in rounds/"));
        }
        let (by, command) = self.command(world, claim, next)?;
        match decide(world, &self.stamped(world, at, claim, next, &by, command)) {
            Ok(events) if !events.is_empty() && next.starts_with(&events) => {
                return Ok((events.len(), Some(by)));
            }
            Ok(events) => {
                if let Some((there, here)) = events.iter().zip(next).find(|(there, here)| there != here) {
                    why = difference(there, here);
                }
            }
            Err(refusal) => why = format!("{}: {refusal}", refusal.code()),
        }
        Err(why)
    }

    fn stamped(
        &self,
        world: &World,
        at: u64,
        claim: Option<&Claim>,
        next: &[Event],
        by: &str,
        command: Command,
    ) -> Stamped {
        let round = match (&world.instance.source, committed(next)) {
            (_, Some(round)) => Some(round),
            (Source::Test, None) => Some(Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1)),
            (_, None) => None,
        };
        let seen = round.and_then(|round| Some(Seen { round, proof: self.proof(world, round)? }));
        let salt = claim.and_then(|claim| self.kept.salt(claim.job));
        Stamped { at, by: by.to_owned(), seen, salt, command }
    }

    /// The proof of a round that a draw rests on.
    fn proof(&self, world: &World, round: u64) -> Option<Vec<u8>> {
        match world.instance.source {
            Source::Test => Some(Vec::new()),
            _ => beacon::kept(&self.kept.0, round),
        }
    }

    /// The command that these events are of, and whose it was.
    fn command(
        &self,
        world: &World,
        claim: Option<&Claim>,
        next: &[Event],
    ) -> Result<(String, Command), String> {
        let first = next.iter().find(|event| event.claim().is_some()).unwrap_or(&next[0]);
        let runner = || claim.and_then(Claim::runner).unwrap_or_default().to_owned();
        let operator = || world.instance.operator.clone();
        let id = || first.claim().unwrap_or_default().to_owned();
        Ok(match first {
            Event::AgentRegistered { agent, operator, key, capabilities } => {
                let (operator, capabilities) = (operator.clone(), capabilities.clone());
                (agent.clone(), Command::Register { operator, key: *key, capabilities })
            }
            Event::Deposited { agent, amount, .. } => (agent.clone(), Command::Deposit { amount: *amount }),
            Event::PaidOut { agent, transaction } => {
                let most = transaction.postings().iter().map(|posting| posting.change.unsigned_abs()).max();
                let amount = most.unwrap_or_default().to_string().parse();
                (agent.clone(), Command::PayOut { amount: amount.map_err(|_| "an amount of nothing")? })
            }
            Event::PositionDeclared { agent, .. } => {
                (agent.clone(), Command::DeclarePosition { claim: id() })
            }
            Event::ClaimListed { submitter, manifest, canary, .. } => {
                let (deposit, manifest) = (deposit_in(next)?, manifest.clone());
                (submitter.clone(), Command::List { claim: id(), manifest, deposit, canary: *canary })
            }
            Event::ClaimRelisted { manifest, .. } => {
                let by = claim.map(|claim| claim.submitter.clone()).unwrap_or_default();
                (by, Command::Relist { claim: id(), manifest: manifest.clone(), deposit: deposit_in(next)? })
            }
            Event::ClaimFunded { agent, amount, .. } => {
                (agent.clone(), Command::Fund { claim: id(), amount: *amount })
            }
            Event::FundsWithdrawn { agent, .. } => (agent.clone(), Command::Withdraw { claim: id() }),
            Event::RoundRevealed { agent, round, preimage } => {
                (agent.clone(), Command::RevealRound { round: *round, preimage: *preimage })
            }
            Event::DrawCommitted(_) => (operator(), Command::CommitDraw { claim: id() }),
            Event::DrawResolved { transcript, .. } | Event::CoinTossed { transcript, .. } => {
                let drawn =
                    arena_draw::verify(&json::canonical_of(transcript)).map_err(|why| why.to_string())?;
                (operator(), Command::ResolveDraw { claim: id(), proof: drawn.request.proof })
            }
            Event::RoleVacated { agent, why, .. } | Event::AuditVacated { agent, why, .. } => {
                let reason = (*why == Vacancy::Declined).then(|| "a reason".to_owned());
                (agent.clone(), Command::Decline { claim: id(), reason })
            }
            Event::RunAccepted { .. } => (runner(), Command::Accept { claim: id() }),
            Event::AuditAccepted { agent, .. } => (agent.clone(), Command::Accept { claim: id() }),
            Event::InputsChecked { .. } => {
                let found = claim.map(|claim| claim.manifest.inputs.clone()).unwrap_or_default();
                (runner(), Command::CheckInputs { claim: id(), found })
            }
            // By time it was none: then inputs were found that are not those that are pinned.
            Event::Settled { .. } => {
                let other = Input { name: "another".into(), sha256: Digest::of(b""), bytes: 0 };
                (runner(), Command::CheckInputs { claim: id(), found: vec![other; 65] })
            }
            _ => return self.sealed_command(world, claim, first),
        })
    }

    /// The same of what is committed, opened and judged.
    fn sealed_command(
        &self,
        world: &World,
        claim: Option<&Claim>,
        first: &Event,
    ) -> Result<(String, Command), String> {
        let runner = || claim.and_then(Claim::runner).unwrap_or_default().to_owned();
        let operator = || world.instance.operator.clone();
        let id = || first.claim().unwrap_or_default().to_owned();
        Ok(match first {
            Event::RunCommitted { digest, .. } => {
                (runner(), Command::CommitRun { claim: id(), digest: *digest })
            }
            Event::ChallengeCommitted { agent, digest, .. } => {
                (agent.clone(), Command::CommitChallenge { claim: id(), digest: *digest })
            }
            Event::VoteCommitted { agent, digest, .. } => {
                (agent.clone(), Command::CommitVote { claim: id(), digest: *digest })
            }
            Event::RunRevealed { .. } => (runner(), self.opened(world, first, id())?),
            Event::ChallengeRevealed { agent, .. } | Event::VoteRevealed { agent, .. } => {
                (agent.clone(), self.opened(world, first, id())?)
            }
            Event::Appealed { agent, .. } => (agent.clone(), Command::Appeal { claim: id() }),
            Event::ReferencePublished { records, .. } => {
                (operator(), Command::PublishReference { claim: id(), records: records.clone() })
            }
            Event::CanaryOpened { salt, .. } => {
                (operator(), Command::OpenCanary { claim: id(), salt: *salt })
            }
            _ => return Err("it comes by time alone, and it is not time".into()),
        })
    }

    /// The command that opened a commitment, from what was kept of it.
    fn opened(&self, world: &World, event: &Event, claim: String) -> Result<Command, String> {
        let none = "the nonce and signature that opened its commitment are not kept, or not those of it";
        let opening = self.kept.opening(world, event).ok_or(none)?;
        let nonce = opening.get("nonce").and_then(Value::as_str).and_then(|nonce| nonce.parse().ok());
        let nonce: Digest = nonce.ok_or(none)?;
        let document = |member: &str| opening.get(member).cloned().ok_or_else(|| none.to_owned());
        Ok(match event {
            Event::VoteRevealed { .. } => Command::RevealVote { claim, nonce, ballot: document("ballot")? },
            _ => Command::Reveal { claim, nonce, envelope: document("envelope")? },
        })
    }

    /// Every file among the blobs is named by its digest, and what is pinned is among them.
    fn blobs(&mut self, dir: &Path) -> Result<(), Failure> {
        let folder = dir.join("blobs");
        let unread =
            |why| Failure::usage(format_args!("read folder `{}`", files::shown(&folder)), files::plain(&why));
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<Result<_, _>>())
            .map_err(unread)?;
        names.sort();
        // What another arena is writing, or one that was killed has left, is no blob yet.
        names.retain(|name| !files::is_temporary(Path::new(name)));
        for missing in
            self.pinned.clone().into_iter().filter(|name| !names.iter().any(|found| found == name.as_str()))
        {
            self.find("/blobs".to_owned(), format!("{missing} is missing"));
        }
        for name in names {
            let path = folder.join(&name);
            let bytes = files::read_regular(&path, INPUT_BYTES_MAX)
                .map_err(|unread| unread.reading("blob", &path))?;
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            if stem == Digest::of(&bytes).to_string() {
                self.verified.blobs += 1;
            } else {
                let name = files::shown(Path::new(&name));
                self.find("/blobs".to_owned(), format!("{name} has SHA-256 {}", Digest::of(&bytes)));
            }
        }
        Ok(())
    }
}

impl Verified {
    fn nothing() -> Self {
        Self { events: 0, claims: 0, over: 0, records: 0, draws: 0, blobs: 0, checkpoints: None, receipts: 0 }
    }
}

/// The latest round when the draw among these events was committed.
fn committed(next: &[Event]) -> Option<u64> {
    next.iter().find_map(|event| match event {
        Event::DrawCommitted(draw) => Some(draw.last_round_seen),
        _ => None,
    })
}

/// The submitter's own contribution, which is told right after the listing.
fn deposit_in(next: &[Event]) -> Result<arena_ledger::Amount, String> {
    let funded = next.iter().find_map(|event| match event {
        Event::ClaimFunded { amount, .. } => Some(*amount),
        _ => None,
    });
    funded.ok_or_else(|| "nothing was put in".to_owned())
}

/// Where the derived event and the one in the journal part.
fn difference(derived: &Event, found: &Event) -> String {
    let value = |event| serde_json::to_value(event).unwrap_or_default();
    let (derived, found) = (value(derived), value(found));
    let shown = |value: Option<&Value>| {
        let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
        arena_engine::Excerpt { text: &text, max: 100 }.to_string()
    };
    match json::first_difference(&derived, &found) {
        Some((at, derived, found)) => {
            format!("{at}: the journal says {}, it comes to {}", shown(found), shown(derived))
        }
        None => "it is of another kind".to_owned(),
    }
}
