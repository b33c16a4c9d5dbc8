//! One round: who takes part, what they published and submitted, how it was judged, what it paid.
//!
//! [`Round::decide`] looks at a command and says which events follow from it, or why none does;
//! [`Round::evolve`] applies an event and has no rules. Both are pure: time and actors come in with the
//! command. A journal keeps the commands, in the form of [`wire`].

mod board;
mod command;
mod decide;
mod entrant;
mod event;
mod judging;
mod money;
mod package;
mod rails;
mod refusal;
mod settle;
mod terms;
mod terms_wire;
pub mod wire;
mod work;

use arena_canon::Digest;
use arena_cow::{CowMap, Shared};
use arena_ledger::Ledger;

pub use board::{Entry, Snapshot};
pub use command::{Actor, Command, Intent, ReceiptKind, Stamped, Target};
pub use entrant::{Entrant, IntentStub, Kickoff, Left, Rail, Team};
pub use event::{Event, Happened, Receipt};
pub use judging::{Advice, Amendment, Dispute, DisputeStatus, Judgement, Resemblance, Ruling, Verdict};
pub use money::{Award, AwardKind, AwardStatus, Purse};
pub use package::{CLAIM, NOTE, Omission, Package, Revision, Submission, VERIFICATION};
pub use rails::{ARTIFACT_BYTES_MAX, Artifact, Evidence, Locker, Post, PostKind, Town, locker_reference};
pub use refusal::Refusal;
pub use terms::{ENTRANTS_MAX, LOCK_DAYS, Prizes, StakePolicy, Terms};

use crate::leak::Finding;
use crate::moment::Moment;
use crate::words::words;

/// A round as its events made it. A copy shares with it what they have in common, so what a command comes to can be
/// tried on one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    terms: Shared<Terms>,
    status: Status,
    entrants: CowMap<String, Entrant>,
    locker: Locker,
    town: Town,
    disputes: CowMap<String, Dispute>,
    receipts: CowMap<String, Receipt>,
    /// Texts that may not be shown any more, and why.
    withheld: CowMap<Digest, String>,
    snapshots: Shared<Vec<Snapshot>>,
    awards: CowMap<String, Award>,
    flagged: Shared<Vec<(String, Finding)>>,
    ledger: Ledger,
    seq: u64,
    last_at: Option<Moment>,
}

words! {
    /// Where a round is at a time.
    pub enum Stage {
        /// Not public yet.
        Draft = "draft",
        /// Public, and not begun.
        Announced = "announced",
        /// From its start to the end of its last window.
        Running = "running",
        /// From then on until it is settled.
        Closing = "closing",
        /// Settled.
        Final = "final",
        /// Ended before its end.
        Cancelled = "cancelled",
    }
}

/// Where a round is, as far as the clock does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Draft,
    Announced,
    Cancelled,
    Settled,
}

impl Status {
    const fn name(self) -> &'static str {
        match self {
            Self::Draft => "a draft",
            Self::Announced => "announced",
            Self::Cancelled => "cancelled",
            Self::Settled => "final",
        }
    }
}

impl Round {
    /// A draft on these terms.
    pub fn draft(terms: Terms) -> Self {
        Self {
            terms: terms.into(),
            status: Status::Draft,
            entrants: CowMap::new(),
            locker: Locker::default(),
            town: Town::default(),
            disputes: CowMap::new(),
            receipts: CowMap::new(),
            withheld: CowMap::new(),
            snapshots: Shared::default(),
            awards: CowMap::new(),
            flagged: Shared::default(),
            ledger: Ledger::new(),
            seq: 0,
            last_at: None,
        }
    }

    /// Why a text may not be shown any more, by its digest, if it may not.
    pub fn withheld(&self, sha256: &Digest) -> Option<&str> {
        self.withheld.get(sha256).map(String::as_str)
    }

    /// Where it is at `now`.
    pub fn stage(&self, now: Moment) -> Stage {
        match self.status {
            Status::Draft => Stage::Draft,
            Status::Cancelled => Stage::Cancelled,
            Status::Settled => Stage::Final,
            Status::Announced if now < self.terms.start => Stage::Announced,
            Status::Announced if self.is_over(super::Window::W3, now) => Stage::Closing,
            Status::Announced => Stage::Running,
        }
    }

    /// What it was announced with.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Companies by name.
    pub fn entrants(&self) -> &CowMap<String, Entrant> {
        &self.entrants
    }

    /// The company of this name.
    pub fn entrant(&self, company: &str) -> Result<&Entrant, Refusal> {
        let unknown = || Refusal::UnknownCompany { company: company.chars().take(64).collect() };
        self.entrants.get(company).ok_or_else(unknown)
    }

    /// The Locker.
    pub fn locker(&self) -> &Locker {
        &self.locker
    }

    /// The Town.
    pub fn town(&self) -> &Town {
        &self.town
    }

    /// The Treasury.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Disputes by name.
    pub fn disputes(&self) -> &CowMap<String, Dispute> {
        &self.disputes
    }

    /// Public receipts by name.
    pub fn receipts(&self) -> &CowMap<String, Receipt> {
        &self.receipts
    }

    /// The standings that were recorded, oldest first.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// Awards by name.
    pub fn awards(&self) -> &CowMap<String, Award> {
        &self.awards
    }

    /// What somebody should look at, and whose text it is in.
    pub fn flagged(&self) -> &[(String, Finding)] {
        &self.flagged
    }

    /// Events that made it.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// How many companies have an intent stub of a window: all that spectators see before its cut-off.
    pub fn intent_stub_count(&self, window: super::Window) -> usize {
        self.entrants.values().filter(|entrant| entrant.intent(window).is_some()).count()
    }

    /// Intent stubs as the public sees them: with their text only after the cut-off.
    pub fn public_intents(
        &self,
        window: super::Window,
        now: Moment,
    ) -> impl Iterator<Item = (&String, &IntentStub)> {
        let span = self.terms.timetable.span(self.terms.start, super::clock::Phase::Intent, Some(window));
        let is_public = span.is_some_and(|(_, end)| now >= end);
        let stubs = self
            .entrants
            .iter()
            .filter_map(move |(company, entrant)| Some((company, entrant.intent(window)?)));
        stubs.filter(move |_| is_public)
    }

    /// Applies what happened. It cannot be refused: [`Round::decide`] made it from this very state.
    #[must_use]
    pub fn evolve(mut self, happened: &Happened) -> Self {
        self.apply(happened);
        self
    }

    fn apply(&mut self, happened: &Happened) {
        self.seq += 1;
        self.last_at = Some(happened.at);
        match &happened.event {
            Event::Announced => self.status = Status::Announced,
            Event::Cancelled { .. } => self.status = Status::Cancelled,
            Event::Settled => self.status = Status::Settled,
            Event::Moved { transaction } => {
                arena_ledger::apply(&mut self.ledger, transaction)
                    .expect("the decision checked the accounts");
            }
            Event::Snapshotted { snapshot } => self.snapshots.push((**snapshot).clone()),
            Event::StakeSettled { .. } => {}
            Event::Flagged { company, findings } => {
                self.flagged.extend(findings.iter().map(|finding| (company.clone(), finding.clone())));
            }
            Event::ReceiptIssued { reference, receipt } => {
                self.receipts.insert(reference.clone(), receipt.clone());
            }
            Event::Awarded { reference, award } => {
                self.awards.insert(reference.clone(), award.clone());
            }
            Event::AwardDecided { reference, status } => {
                if let Some(award) = self.awards.get_mut(reference) {
                    award.status = *status;
                }
            }
            rails @ (Event::ArtifactStored { .. }
            | Event::PublicReadGranted { .. }
            | Event::EvidencePut { .. }
            | Event::Posted { .. }
            | Event::Hidden { .. }) => self.evolve_rails(rails),
            disputes @ (Event::DisputeFiled { .. }
            | Event::DisputeAmended { .. }
            | Event::DisputeClosed { .. }) => self.evolve_disputes(disputes, happened.at),
            of_company => self.evolve_entrant(of_company, happened.at),
        }
    }

    fn evolve_rails(&mut self, event: &Event) {
        match event {
            Event::ArtifactStored { digest, artifact } => {
                self.locker.artifacts.insert(*digest, artifact.clone());
            }
            Event::PublicReadGranted { digest } => {
                if let Some(artifact) = self.locker.artifacts.get_mut(digest) {
                    artifact.public_read = true;
                }
            }
            Event::EvidencePut { reference, evidence } => {
                self.locker.evidence.insert(reference.clone(), evidence.clone());
            }
            Event::Posted { reference, post } => {
                self.town.posts.insert(reference.clone(), (**post).clone());
            }
            Event::Hidden { target: Target::Post(reference), reason } => {
                if let Some(post) = self.town.posts.get_mut(reference) {
                    (post.body, post.hidden) = (None, Some(reason.clone()));
                }
            }
            Event::Hidden { target: Target::Artifact(digest), reason } => {
                if let Some(artifact) = self.locker.artifacts.get_mut(digest) {
                    artifact.hidden = Some(reason.clone());
                }
            }
            Event::Hidden { target: Target::Text(digest), reason } => {
                self.withheld.insert(*digest, reason.clone());
            }
            _ => {}
        }
    }

    fn evolve_disputes(&mut self, event: &Event, at: Moment) {
        match event {
            Event::DisputeFiled { reference, dispute } => {
                self.disputes.insert(reference.clone(), dispute.clone());
            }
            Event::DisputeAmended { reference, text } => {
                if let Some(dispute) = self.disputes.get_mut(reference) {
                    dispute.amendments.push(Amendment { text: text.clone(), at });
                }
            }
            Event::DisputeClosed { reference, status, receipt } => {
                if let Some(dispute) = self.disputes.get_mut(reference) {
                    (dispute.status, dispute.receipt) = (*status, receipt.clone());
                }
            }
            _ => {}
        }
    }

    fn evolve_entrant(&mut self, event: &Event, at: Moment) {
        if let Event::Registered { company, entrant } = event {
            self.entrants.insert(company.clone(), (**entrant).clone());
            return;
        }
        let Some(entrant) = event.company().and_then(|company| self.entrants.get_mut(company)) else {
            return;
        };
        match event {
            Event::RulesAcknowledged { .. } => entrant.acknowledged = true,
            Event::CallEntered { .. } => entrant.entered_at = Some(at),
            Event::Approved { rail, agent, .. } => {
                entrant.approvals.insert(*rail, agent.clone());
            }
            Event::KickoffPublished { kickoff, .. } => entrant.kickoff = Some(kickoff.clone()),
            Event::LeftRound { how, .. } => entrant.left = Some(*how),
            Event::IntentPut { window, stub, .. } => {
                entrant.days[window.index()].intent = Some(stub.clone());
            }
            Event::Submitted { revision, is_late, .. } => {
                let day = &mut entrant.days[revision.package.window.index()];
                day.submission = Some(Submission::new((**revision).clone(), *is_late));
            }
            Event::Revised { revision, .. } => {
                let day = &mut entrant.days[revision.package.window.index()];
                day.submission.iter_mut().for_each(|found| found.revisions.push((**revision).clone()));
            }
            Event::Judged { window, judgement, .. } => {
                entrant.days[window.index()].judgements.push((**judgement).clone());
            }
            _ => {}
        }
    }
}

impl Event {
    /// The company whose state it changes.
    fn company(&self) -> Option<&str> {
        match self {
            Self::RulesAcknowledged { company }
            | Self::CallEntered { company }
            | Self::Approved { company, .. }
            | Self::KickoffPublished { company, .. }
            | Self::LeftRound { company, .. }
            | Self::IntentPut { company, .. }
            | Self::Submitted { company, .. }
            | Self::Revised { company, .. }
            | Self::Judged { company, .. } => Some(company),
            _ => None,
        }
    }
}
