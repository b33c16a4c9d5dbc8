//! Derives an instance's journal again, event by event: every event must be what a command or the passing of
//! time comes to in the state before it. That takes in signatures, commitments, comparisons, draws and money.

use std::path::Path;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::life::{Claim, Command, Event, Seen, Stamped, Vacancy, World, decide, follow};
use arena_claims::manifest::Input;
use arena_draw::beacon::{Schedule, Source};
use arena_engine::campus::Finding;
use arena_sandbox::experiment::INPUT_BYTES_MAX;

use super::folder::{Folder, Kept, Line};
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
}

/// Most findings that are told; what follows from the first is seldom news.
const FINDINGS_MAX: usize = 8;

/// Whether a folder is an instance of claims.
pub(crate) fn is_instance(dir: &Path) -> bool {
    dir.join("instance.json").is_file() && dir.join("journal.ndjson").is_file()
}

/// Derives everything in an instance's folder again. Nothing is changed and nothing is run.
pub(crate) fn verify(dir: &Path, io: &mut Io<'_>) -> Result<Result<Verified, Vec<Finding>>, Failure> {
    let mut walk =
        Walk { kept: Kept(dir.to_owned()), derived: 0, verified: Verified::nothing(), findings: Vec::new() };
    let folder = Folder::open_watched(dir, io, &mut |world, line, i| walk.event(world, line, i))?;
    walk.blobs(dir)?;
    let mut verified = walk.verified;
    verified.claims = folder.world.claims.len();
    verified.over = folder.world.claims.values().filter(|claim| claim.phase.is_terminal()).count();
    Ok(if walk.findings.is_empty() { Ok(verified) } else { Err(walk.findings) })
}

struct Walk {
    kept: Kept,
    /// How many of the next events were derived together with one before them.
    derived: usize,
    verified: Verified,
    findings: Vec<Finding>,
}

impl Walk {
    fn event(&mut self, world: &World, line: &Line, i: usize) {
        let event = &line.events[i];
        self.verified.events += 1;
        match event {
            Event::RunRevealed { .. } | Event::ChallengeRevealed { .. } => self.verified.records += 1,
            Event::ReferencePublished { records, .. } => self.verified.records += records.len() as u64,
            Event::DrawResolved { .. } | Event::CoinTossed { .. } => self.verified.draws += 1,
            _ => {}
        }
        if i == 0 {
            self.derived = 0;
        }
        if self.derived > 0 {
            self.derived -= 1;
            return;
        }
        match self.derive(world, line.at, &line.events[i..]) {
            Ok(together) => self.derived = together - 1,
            Err(why) => {
                let pointer = format!("/journal/{}/events/{i}", line.number);
                self.find(pointer, format!("{} does not follow: {why}", event.name()));
            }
        }
    }

    fn find(&mut self, pointer: String, message: String) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(Finding { pointer, message });
        }
    }

    /// How many of the events that come next one command or one step of time comes to.
    fn derive(&self, world: &World, at: u64, next: &[Event]) -> Result<usize, String> {
        let about = next.iter().find_map(Event::claim);
        let claim = about.and_then(|claim| world.claims.get(claim));
        let mut why = "nothing leads to it".to_owned();
        if let Some(claim) = claim {
            let time =
                self.stamped(world, at, Some(claim), next, "", Command::Tick { claim: claim.id.clone() });
            let events = follow(world, claim, &time);
            if !events.is_empty() && next.starts_with(&events) {
                return Ok(events.len());
            }
        }
        let (by, command) = self.command(world, claim, next)?;
        match decide(world, &self.stamped(world, at, claim, next, &by, command)) {
            Ok(events) if !events.is_empty() && next.starts_with(&events) => return Ok(events.len()),
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
        let committed = next.iter().find_map(|event| match event {
            Event::DrawCommitted(draw) => Some(draw.last_round_seen),
            _ => None,
        });
        let round = match (&world.instance.source, committed) {
            (_, Some(round)) => Some(round),
            (Source::Test, None) => Some(Schedule::QUICKNET.round_for(at).saturating_sub(1).max(1)),
            (_, None) => None,
        };
        let seen = round.map(|round| Seen { round, proof: Vec::new() });
        let salt = claim.and_then(|claim| self.kept.salt(claim.job));
        Stamped { at, by: by.to_owned(), seen, salt, command }
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
            Event::DrawCommitted(_) => (operator(), Command::CommitDraw { claim: id() }),
            Event::DrawResolved { transcript, .. } | Event::CoinTossed { transcript, .. } => {
                let drawn =
                    arena_draw::verify(&json::canonical(transcript)).map_err(|why| why.to_string())?;
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

    /// Every file among the blobs is named by its digest.
    fn blobs(&mut self, dir: &Path) -> Result<(), Failure> {
        let folder = dir.join("blobs");
        let unread =
            |why| Failure::usage(format_args!("read folder `{}`", files::shown(&folder)), files::plain(&why));
        let mut names: Vec<_> = std::fs::read_dir(&folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<Result<_, _>>())
            .map_err(unread)?;
        names.sort();
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
        Self { events: 0, claims: 0, over: 0, records: 0, draws: 0, blobs: 0 }
    }
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
