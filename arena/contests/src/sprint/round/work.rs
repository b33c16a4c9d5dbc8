//! What a company does: enters, plans, publishes, submits.

use arena_canon::json::Pointer;
use arena_canon::{Digest, Preimage};
use arena_ledger::{Amount, transfer};

use super::Round;
use super::command::{Command, Intent, ReceiptKind};
use super::decide::{Decision, flagged};
use super::entrant::{Entrant, IntentStub, Kickoff, Rail, Team};
use super::event::Event;
use super::package::{CLAIM, NOTE, Package, Revision, VERIFICATION};
use super::rails::{ARTIFACT_BYTES_MAX, Artifact, Evidence, Post, PostKind};
use super::refusal::Refusal;
use super::terms::ENTRANTS_MAX;
use crate::document::{Faults, Length};
use crate::leak::{self, CANARY_BYTES_MIN, Finding, Scanner, Severity, TEXT_BYTES_MAX};
use crate::moment::Moment;
use crate::sprint::Window;
use crate::text::Text;

const NAME: Length = Length::new(1, 100);
const OBJECTIVE: Length = Length::new(10, 500);
const PROFILE: Length = Length::new(10, 5_000);
const BODY: Length = Length::new(10, 5_000);
const DESCRIPTION: Length = Length::new(3, 1_000);
const REFS_MAX: usize = 20;
/// Canaries of one company.
const CANARIES_MAX: usize = 20;
const CANARY_BYTES_MAX: usize = 100;

const _: () = assert!(
    ENTRANTS_MAX * CANARIES_MAX <= leak::CANARIES_MAX
        && ENTRANTS_MAX * CANARIES_MAX * CANARY_BYTES_MAX <= leak::CANARIES_BYTES_MAX,
    "one scanner knows the canaries of every company"
);
const REVISIONS_MAX: usize = 50;
/// Artifacts, evidence and posts of one company.
const PIECES_MAX: usize = 500;

impl Round {
    pub(super) fn register(&self, company: &str, agent: &str, team: &Team, canaries: &[String]) -> Decision {
        self.check_new_id(company)?;
        if agent.starts_with("operator:") {
            return Err(Refusal::ApprovalNotForOwnAgent);
        }
        let limit = self.terms.entrants_max as usize;
        if self.entrants.len() >= limit {
            return Err(Refusal::TooMany { what: "entrants", limit });
        }
        if canaries.len() > CANARIES_MAX {
            return Err(Refusal::TooMany { what: "canaries", limit: CANARIES_MAX });
        }
        let mut faults = Faults::default();
        for (i, canary) in canaries.iter().enumerate() {
            if !(CANARY_BYTES_MIN..=CANARY_BYTES_MAX).contains(&canary.len()) {
                let message = format!(
                    "has {} bytes; {CANARY_BYTES_MIN} to {CANARY_BYTES_MAX} are allowed",
                    canary.len()
                );
                faults.add(&Pointer::default().key("canaries").index(i), message);
            }
        }
        faults.or(Some(())).map_err(Refusal::Form)?;
        let findings = self.screened(&[
            ("agent", agent, NAME),
            ("team/principal", &team.principal, NAME),
            ("team/engineering_coordinator", &team.engineering_coordinator, NAME),
            ("team/engineering_owner", &team.engineering_owner, NAME),
            ("team/quality_reviewer", &team.quality_reviewer, NAME),
            ("team/stewardship", &team.stewardship, NAME),
        ])?;
        let entrant = Box::new(Self::new_entrant(agent, team, canaries));
        let registered = Event::Registered { company: company.to_owned(), entrant };
        Ok([vec![registered], flagged(company, findings)].concat())
    }

    pub(super) fn acknowledge(&self, company: &str, entrant: &Entrant, rules: &Digest) -> Decision {
        if *rules != self.terms.rules_sha256 {
            return Err(Refusal::OtherRules);
        }
        if entrant.acknowledged {
            return Err(Refusal::AlreadyDone { what: "the acknowledgement" });
        }
        Ok(vec![Event::RulesAcknowledged { company: company.to_owned() }])
    }

    /// Everybody gets the same budget, and holds back the same part of it.
    pub(super) fn enter(&self, company: &str, entrant: &Entrant, hold_cap: Amount) -> Decision {
        if !entrant.acknowledged {
            return Err(Refusal::NotActive { missing: "the acknowledgement of the rules" });
        }
        if entrant.entered_at.is_some() {
            return Err(Refusal::AlreadyDone { what: "the entry" });
        }
        if hold_cap != self.terms.hold_cap {
            return Err(Refusal::HoldNotOfTheCall { have: hold_cap, need: self.terms.hold_cap });
        }
        let available = self.available(company);
        let transaction = transfer(&self.pot(), &available, self.terms.base_budget).and(
            &available,
            &self.hold(company),
            hold_cap,
        );
        let mut events = vec![Event::CallEntered { company: company.to_owned() }];
        events.extend(self.moved_if_any(transaction)?);
        Ok(events)
    }

    pub(super) fn kickoff(
        &self,
        company: &str,
        entrant: &Entrant,
        objective: &str,
        profile: &str,
    ) -> Decision {
        if entrant.entered_at.is_none() {
            return Err(Refusal::NotActive { missing: "the hold" });
        }
        let findings =
            self.screened(&[("objective", objective, OBJECTIVE), ("profile", profile, PROFILE)])?;
        let sha256 = Preimage::new("kickoff").bytes(objective.as_bytes()).bytes(profile.as_bytes()).digest();
        let kickoff =
            Kickoff { objective: objective.to_owned(), reference: format!("kickoff:{company}:{sha256}") };
        let published = Event::KickoffPublished { company: company.to_owned(), kickoff };
        Ok([vec![published], flagged(company, findings)].concat())
    }

    /// What only an active company does, with the approval of the rail it writes to.
    pub(super) fn work_decides(
        &self,
        who: (&str, &Entrant),
        at: Moment,
        command: &Command,
        is_late: bool,
    ) -> Decision {
        let (company, entrant) = who;
        match command {
            Command::PutIntent { window, intent } => {
                check_active(entrant, Rail::Boards)?;
                self.put_intent(who, *window, intent, at)
            }
            Command::StoreArtifact { bytes, media_type, public_read } => {
                check_active(entrant, Rail::Locker)?;
                let seen = (Digest::of(bytes), bytes.len() as u64, self.look_at(bytes));
                self.store(company, at, seen, (media_type, *public_read))
            }
            Command::KeepArtifact { artifact, size_bytes, media_type, public_read, findings } => {
                check_active(entrant, Rail::Locker)?;
                let seen = (*artifact, *size_bytes, findings.clone());
                self.store(company, at, seen, (media_type, *public_read))
            }
            Command::GrantPublicRead { artifact } => {
                check_active(entrant, Rail::Locker)?;
                self.own_artifact(company, artifact)?;
                Ok(vec![Event::PublicReadGranted { digest: *artifact }])
            }
            Command::PutEvidence { artifact, kind, description } => {
                check_active(entrant, Rail::Locker)?;
                self.put_evidence(company, at, artifact, (kind, description))
            }
            Command::Post { kind, window, body, refs, corrects } => {
                check_approved(entrant, Rail::Town)?;
                self.post(company, at, (*kind, *window), body, (refs, corrects.as_ref()))
            }
            Command::Submit(package) => {
                check_active(entrant, Rail::Boards)?;
                self.submit(who, package, at, is_late)
            }
            Command::Revise(package) => {
                check_active(entrant, Rail::Boards)?;
                self.revise(who, package, at)
            }
            _ => Err(Refusal::WrongActor { who: "somebody else than a company" }),
        }
    }

    fn put_intent(&self, who: (&str, &Entrant), window: Window, intent: &Intent, at: Moment) -> Decision {
        let (company, entrant) = who;
        let Intent { objective, planned_class, declared_posture_exo, owner, reviewer } = intent;
        let findings = self.screened(&[
            ("objective", objective, OBJECTIVE),
            ("owner", owner, NAME),
            ("reviewer", reviewer, NAME),
        ])?;
        if owner.trim() == reviewer.trim() {
            return Err(Refusal::OwnerReviewsOwnWork);
        }
        let revision = entrant.intent(window).map_or(0, |earlier| earlier.revision) + 1;
        let body_sha256 = Preimage::new("intent")
            .bytes(objective.as_bytes())
            .bytes(planned_class.name().as_bytes())
            .number(*declared_posture_exo)
            .bytes(owner.as_bytes())
            .bytes(reviewer.as_bytes())
            .digest();
        let stub = IntentStub {
            reference: format!("intent:{}:{company}:{window}", self.terms.id),
            objective: objective.clone(),
            planned_class: *planned_class,
            declared_posture_exo: *declared_posture_exo,
            owner: owner.clone(),
            reviewer: reviewer.clone(),
            body_sha256,
            revision,
            at,
        };
        let put = Event::IntentPut { company: company.to_owned(), window, stub };
        Ok([vec![put], flagged(company, findings)].concat())
    }

    /// What an artifact has in it that must not become public. What is no UTF-8, or larger, is no text that
    /// could be read on a page.
    pub fn look_at(&self, bytes: &[u8]) -> Vec<Finding> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= TEXT_BYTES_MAX);
        text.map(|text| self.scanner().scan("artifact", text)).unwrap_or_default()
    }

    /// A text that may be read by anybody was looked at before it is stored.
    fn store(
        &self,
        company: &str,
        at: Moment,
        (digest, size_bytes, found): (Digest, u64, Vec<Finding>),
        (media_type, public_read): (&str, bool),
    ) -> Decision {
        let mut findings = self.screened(&[("media_type", media_type, NAME)])?;
        if size_bytes > ARTIFACT_BYTES_MAX as u64 {
            return Err(Refusal::TooMany { what: "bytes of an artifact", limit: ARTIFACT_BYTES_MAX });
        }
        if self.locker.artifact(&digest).is_some() {
            return Err(Refusal::AlreadyDone { what: "storing these bytes" });
        }
        let owned = self.locker.artifacts.values().filter(|artifact| artifact.owner == company).count();
        check_room("artifacts", owned)?;
        findings.extend(unless_blocked(found)?);
        let artifact = Artifact {
            owner: company.to_owned(),
            size_bytes,
            media_type: media_type.to_owned(),
            public_read,
            at,
            hidden: None,
        };
        Ok([vec![Event::ArtifactStored { digest, artifact }], flagged(company, findings)].concat())
    }

    fn own_artifact(&self, company: &str, digest: &Digest) -> Result<&Artifact, Refusal> {
        let artifact = self.locker.artifact(digest).ok_or(Refusal::Unknown { what: "artifact" })?;
        if artifact.owner == company { Ok(artifact) } else { Err(Refusal::NotOwn { what: "artifact" }) }
    }

    fn put_evidence(&self, company: &str, at: Moment, artifact: &Digest, what: (&str, &Text)) -> Decision {
        let (kind, description) = what;
        self.own_artifact(company, artifact)?;
        let owned = self.locker.evidence.values().filter(|evidence| evidence.owner == company).count();
        check_room("pieces of evidence", owned)?;
        let findings =
            self.screened_text(&[("kind", kind, NAME)], ("description", description, DESCRIPTION))?;
        let reference = format!("evidence:{}", self.locker.evidence.len() + 1);
        let evidence = Evidence {
            owner: company.to_owned(),
            artifact: *artifact,
            kind: kind.to_owned(),
            description: description.clone(),
            at,
        };
        Ok([vec![Event::EvidencePut { reference, evidence }], flagged(company, findings)].concat())
    }

    fn post(
        &self,
        company: &str,
        at: Moment,
        (kind, window): (PostKind, Option<Window>),
        body: &Text,
        (refs, corrects): (&[String], Option<&String>),
    ) -> Decision {
        let mut fields: Vec<_> = body.said().map(|body| ("body", body, BODY)).into_iter().collect();
        fields.extend(refs.iter().map(|reference| ("refs", &**reference, Length::new(1, 200))));
        let findings = [body.findings().to_vec(), self.screened(&fields)?].concat();
        if refs.len() > REFS_MAX {
            return Err(Refusal::TooMany { what: "references", limit: REFS_MAX });
        }
        let owned = self.town.posts.values().filter(|post| post.author == company).count();
        check_room("posts", owned)?;
        if (kind == PostKind::Correction) != corrects.is_some() {
            return Err(Refusal::Unknown { what: "post to correct" });
        }
        if let Some(corrected) = corrects {
            let corrected = self.town.post(corrected).ok_or(Refusal::Unknown { what: "post to correct" })?;
            if corrected.author != company {
                return Err(Refusal::NotOwn { what: "post" });
            }
        }
        let post = Post {
            author: company.to_owned(),
            kind,
            window,
            body: Some(body.clone()),
            body_sha256: body.sha256(),
            refs: refs.to_vec(),
            corrects: corrects.cloned(),
            at,
            hidden: None,
        };
        let reference = format!("town:{}", self.town.posts.len() + 1);
        Ok([vec![Event::Posted { reference, post: Box::new(post) }], flagged(company, findings)].concat())
    }

    fn submit(&self, who: (&str, &Entrant), package: &Package, at: Moment, is_late: bool) -> Decision {
        let (company, entrant) = who;
        if entrant.submission(package.window).is_some() {
            return Err(Refusal::AlreadySubmitted);
        }
        let (revision, mut events) = self.revision(who, package, at, 1)?;
        let (have, need) = (package.stake, self.terms.stake_min);
        if have < need {
            return Err(Refusal::StakeBelowMinimum { have, need });
        }
        let free = self.ledger.balance(&self.hold(company));
        if have > free {
            return Err(Refusal::StakeAboveFreeHold { have: free, need: have });
        }
        let stake = transfer(&self.hold(company), &self.stake_account(company, package.window), have);
        events.insert(
            0,
            Event::Submitted { company: company.to_owned(), revision: Box::new(revision), is_late },
        );
        events.extend(self.moved_if_any(stake)?);
        Ok(events)
    }

    fn revise(&self, who: (&str, &Entrant), package: &Package, at: Moment) -> Decision {
        let (company, entrant) = who;
        let window = package.window;
        let earlier = entrant.submission(window).ok_or(Refusal::NoSubmission { window })?;
        let stake = earlier.frozen().package.stake;
        if package.stake != stake {
            return Err(Refusal::StakeCannotChange { stake });
        }
        let number = earlier.revisions().len() + 1;
        if number > REVISIONS_MAX {
            return Err(Refusal::TooMany { what: "revisions", limit: REVISIONS_MAX });
        }
        let (revision, mut events) = self.revision(who, package, at, number)?;
        events.insert(0, Event::Revised { company: company.to_owned(), revision: Box::new(revision) });
        Ok(events)
    }

    /// A package as it is stored, and what somebody should look at in it.
    fn revision(
        &self,
        (company, entrant): (&str, &Entrant),
        package: &Package,
        at: Moment,
        number: usize,
    ) -> Result<(Revision, Vec<Event>), Refusal> {
        let window = package.window;
        let intent = entrant.intent(window).ok_or(Refusal::NoIntentStub { window })?;
        let mut faults = Faults::default();
        package.check(&Pointer::default(), &mut faults);
        faults.or(Some(())).map_err(Refusal::Form)?;
        let findings = self.screened(&[
            ("claim_summary", &package.claim_summary, CLAIM),
            ("verification_summary", &package.verification_summary, VERIFICATION),
            ("budget_impact/note", &package.budget_note, NOTE),
        ])?;
        let scanner = self.scanner();
        for (field, text) in [
            ("intent_stub_ref", &package.intent_stub_ref),
            ("locker_artifact_ref", &package.locker_artifact_ref),
            ("locker_evidence_ref", &package.locker_evidence_ref),
            ("town_post_ref", &package.town_post_ref),
        ] {
            check_reference(&scanner, field, text)?;
        }
        for receipt in &package.receipts {
            self.check_receipt(company, window, receipt)?;
        }
        let revision = Revision {
            boards_submission_ref: format!("boards:{}:{company}:{window}:{number}", self.terms.id),
            package: package.clone(),
            omissions: package.omissions(company, &intent.reference, &self.locker, &self.town),
            at,
        };
        Ok((revision, flagged(company, findings)))
    }

    fn check_receipt(&self, company: &str, window: Window, receipt: &str) -> Result<(), Refusal> {
        let known = self.receipts.get(receipt).is_some_and(|receipt| {
            (&*receipt.company, receipt.window, receipt.kind) == (company, window, ReceiptKind::Operator)
        });
        if known {
            return Ok(());
        }
        Err(Refusal::UnknownReceipt { receipt: receipt.chars().take(64).collect() })
    }
}

/// A reference is a name and no text, and must not carry what a text may not carry either.
fn check_reference(scanner: &Scanner, field: &str, text: &str) -> Result<(), Refusal> {
    unless_blocked(scanner.scan(field, text)).map(|_| ())
}

fn unless_blocked(findings: Vec<crate::leak::Finding>) -> Result<Vec<crate::leak::Finding>, Refusal> {
    if findings.iter().any(|finding| finding.severity == Severity::Block) {
        let blocking = findings.into_iter().filter(|finding| finding.severity == Severity::Block);
        return Err(Refusal::ForbiddenDisclosure(blocking.collect()));
    }
    Ok(findings)
}

fn check_active(entrant: &Entrant, rail: Rail) -> Result<(), Refusal> {
    if let Some(missing) = entrant.missing_step() {
        return Err(Refusal::NotActive { missing });
    }
    check_approved(entrant, rail)
}

/// An approval is for the agent that writes.
fn check_approved(entrant: &Entrant, rail: Rail) -> Result<(), Refusal> {
    if entrant.approvals.get(&rail) == Some(&entrant.agent) {
        return Ok(());
    }
    Err(Refusal::ApprovalMissing { rail })
}

fn check_room(what: &'static str, owned: usize) -> Result<(), Refusal> {
    if owned < PIECES_MAX { Ok(()) } else { Err(Refusal::TooMany { what, limit: PIECES_MAX }) }
}
