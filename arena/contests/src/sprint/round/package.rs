//! The evidence package: what a company submits for a window, and how complete it is.
//!
//! A package that is not of its form is refused. One that refers to what is not there is taken, with
//! what it lacks; a later revision may mend it until the cut-off.

use arena_canon::Digest;
use arena_canon::json::{Pointer, Value};
use arena_ledger::Amount;
use serde_json::json;

use super::rails::{Locker, Town};
use crate::document::{Faults, Length, Object};
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::record::{ArtifactClass, Intervention};
use crate::words::words;

/// Characters of the claim.
pub const CLAIM: Length = Length::new(20, 1_000);
/// Characters of what verifies it.
pub const VERIFICATION: Length = Length::new(20, 2_000);
/// Characters of the note on the budget.
pub const NOTE: Length = Length::new(0, 500);
const REFERENCE: Length = Length::new(1, 200);
const RECEIPTS_MAX: usize = 20;

/// What a company submits for a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The window.
    pub window: Window,
    /// The locked intent stub.
    pub intent_stub_ref: String,
    /// What the artifact is said to be.
    pub class: ArtifactClass,
    /// The artifact's digest.
    pub artifact: Digest,
    /// Where it lies.
    pub locker_artifact_ref: String,
    /// What speaks for it.
    pub locker_evidence_ref: String,
    /// What the company said in public about it.
    pub town_post_ref: String,
    /// What is claimed.
    pub claim_summary: String,
    /// How it was verified.
    pub verification_summary: String,
    /// What is declared about operators.
    pub intervention: Intervention,
    /// Receipts of what is declared.
    pub receipts: Vec<String>,
    /// What was spent.
    pub spent_exo: u64,
    /// What was meant to be spent.
    pub declared_posture_exo: u64,
    /// About the budget.
    pub budget_note: String,
    /// What is at stake.
    pub stake: Amount,
}

/// The thirteen fields, and the receipts of an intervention.
pub(super) const FIELDS: [&str; 14] = [
    "window_id",
    "intent_stub_ref",
    "artifact_class",
    "artifact_hash",
    "locker_artifact_ref",
    "locker_evidence_ref",
    "boards_submission_ref",
    "town_post_ref",
    "claim_summary",
    "verification_summary",
    "operator_intervention",
    "budget_impact",
    "stake_atomic",
    "receipts",
];

impl Package {
    /// Reads a package as it is sent. Its own reference is given by the platform and may not be in it.
    pub fn read(value: &Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let read = Self::read_at(value, &Pointer::default(), &mut faults);
        faults.or(read)
    }

    pub(super) fn read_at(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        let object = Object::read(value, at, &FIELDS, faults)?;
        if object.optional("boards_submission_ref").is_some() {
            faults.add(&object.at("boards_submission_ref"), "is given by the platform; leave it out");
        }
        let word = |key: &str, faults: &mut Faults| object.text(key, faults).map(str::to_owned);
        let window = object.word("window_id", Window::named, faults);
        let class = object.word("artifact_class", ArtifactClass::named, faults);
        let intervention = object.word("operator_intervention", Intervention::named, faults);
        let artifact = object.parsed::<Digest>("artifact_hash", faults);
        let stake = object.parsed::<Amount>("stake_atomic", faults);
        let texts = [
            "intent_stub_ref",
            "locker_artifact_ref",
            "locker_evidence_ref",
            "town_post_ref",
            "claim_summary",
            "verification_summary",
        ]
        .map(|key| word(key, faults));
        let receipts = receipts(&object, faults);
        let budget = object.required("budget_impact", faults);
        let budget = budget.and_then(|value| Budget::read(value, &object.at("budget_impact"), faults));
        let [intent, locker, evidence, town, claim, verification] = texts;
        let budget = budget?;
        let package = Self {
            window: window?,
            intent_stub_ref: intent?,
            class: class?,
            artifact: artifact?,
            locker_artifact_ref: locker?,
            locker_evidence_ref: evidence?,
            town_post_ref: town?,
            claim_summary: claim?,
            verification_summary: verification?,
            intervention: intervention?,
            receipts: receipts?,
            spent_exo: budget.spent_exo,
            declared_posture_exo: budget.declared_posture_exo,
            budget_note: budget.note,
            stake: stake?,
        };
        package.check(at, faults);
        Some(package)
    }

    /// As it is sent.
    pub fn json(&self) -> Value {
        json!({
            "window_id": self.window,
            "intent_stub_ref": self.intent_stub_ref,
            "artifact_class": self.class,
            "artifact_hash": self.artifact,
            "locker_artifact_ref": self.locker_artifact_ref,
            "locker_evidence_ref": self.locker_evidence_ref,
            "town_post_ref": self.town_post_ref,
            "claim_summary": self.claim_summary,
            "verification_summary": self.verification_summary,
            "operator_intervention": self.intervention,
            "receipts": self.receipts,
            "budget_impact": {
                "spent_exo": self.spent_exo.to_string(),
                "declared_posture_exo": self.declared_posture_exo.to_string(),
                "note": self.budget_note,
            },
            "stake_atomic": self.stake,
        })
    }

    /// The bounds of its texts.
    pub(super) fn check(&self, root: &Pointer, faults: &mut Faults) {
        let budget = root.key("budget_impact");
        for (at, text, length) in [
            (root.key("intent_stub_ref"), &self.intent_stub_ref, REFERENCE),
            (root.key("locker_artifact_ref"), &self.locker_artifact_ref, REFERENCE),
            (root.key("locker_evidence_ref"), &self.locker_evidence_ref, REFERENCE),
            (root.key("town_post_ref"), &self.town_post_ref, REFERENCE),
            (root.key("claim_summary"), &self.claim_summary, CLAIM),
            (root.key("verification_summary"), &self.verification_summary, VERIFICATION),
            (budget.key("note"), &self.budget_note, NOTE),
        ] {
            if let Some(fault) = length.fault(text) {
                faults.add(&at, fault);
            }
        }
        let has_receipts = !self.receipts.is_empty();
        if has_receipts != (self.intervention != Intervention::None) {
            let message = match has_receipts {
                true => "receipts are of an intervention, and none is declared",
                false => "an intervention is declared with at least one receipt",
            };
            faults.add(&root.key("receipts"), message);
        }
    }

    /// What it refers to that is not as it has to be.
    pub(super) fn omissions(
        &self,
        company: &str,
        intent: &str,
        locker: &Locker,
        town: &Town,
    ) -> Vec<Omission> {
        let mut omissions = Vec::new();
        let mut lack = |omission, is_so: bool| {
            if is_so {
                omissions.push(omission);
            }
        };
        lack(Omission::IntentStubRefDiffers, self.intent_stub_ref != intent);
        match locker.by_reference(&self.locker_artifact_ref) {
            Some((digest, artifact)) if artifact.hidden.is_none() => {
                lack(Omission::ArtifactHashDiffers, digest != self.artifact);
                lack(Omission::ArtifactNotOwn, artifact.owner != company);
                lack(Omission::ArtifactNotPublic, !artifact.public_read);
            }
            _ => lack(Omission::ArtifactMissing, true),
        }
        match locker.evidence(&self.locker_evidence_ref) {
            Some(evidence) => {
                lack(Omission::EvidenceOfAnotherArtifact, evidence.artifact != self.artifact);
                lack(Omission::EvidenceNotOwn, evidence.owner != company);
            }
            None => lack(Omission::EvidenceMissing, true),
        }
        match town.post(&self.town_post_ref) {
            Some(post) if post.hidden.is_none() => {
                lack(Omission::TownPostNotOwn, post.author != company);
                lack(Omission::TownPostOfAnotherWindow, post.window != Some(self.window));
                lack(Omission::TownPostDoesNotNameTheHash, !post.names(&self.artifact));
            }
            _ => lack(Omission::TownPostMissing, true),
        }
        omissions
    }
}

struct Budget {
    spent_exo: u64,
    declared_posture_exo: u64,
    note: String,
}

impl Budget {
    fn read(value: &Value, at: &Pointer, faults: &mut Faults) -> Option<Self> {
        let object = Object::read(value, at, &["spent_exo", "declared_posture_exo", "note"], faults)?;
        let [spent_exo, declared_posture_exo] =
            ["spent_exo", "declared_posture_exo"].map(|key| object.parsed::<Amount>(key, faults));
        let note = object.optional_text("note", faults).unwrap_or_default().to_owned();
        Some(Self {
            spent_exo: spent_exo?.units(),
            declared_posture_exo: declared_posture_exo?.units(),
            note,
        })
    }
}

fn receipts(object: &Object<'_>, faults: &mut Faults) -> Option<Vec<String>> {
    if object.optional("receipts").is_none() {
        return Some(Vec::new());
    }
    object.texts("receipts", RECEIPTS_MAX, faults)
}

words! {
    /// What a package lacks.
    pub enum Omission {
        /// It names another intent stub.
        IntentStubRefDiffers = "intent_stub_ref_differs",
        /// The Locker does not have the artifact, or had to hide it.
        ArtifactMissing = "locker_artifact_missing",
        /// The Locker has it under another digest.
        ArtifactHashDiffers = "artifact_hash_differs",
        /// It is another company's.
        ArtifactNotOwn = "locker_artifact_not_own",
        /// Not everybody may read it.
        ArtifactNotPublic = "locker_artifact_not_public",
        /// The Locker does not have the evidence.
        EvidenceMissing = "locker_evidence_missing",
        /// It speaks for another artifact.
        EvidenceOfAnotherArtifact = "evidence_of_another_artifact",
        /// It is another company's.
        EvidenceNotOwn = "locker_evidence_not_own",
        /// The Town does not have the post, or had to hide it.
        TownPostMissing = "town_post_missing",
        /// It is another company's.
        TownPostNotOwn = "town_post_not_own",
        /// It is about another window.
        TownPostOfAnotherWindow = "town_post_of_another_window",
        /// It does not say which artifact it is about.
        TownPostDoesNotNameTheHash = "town_post_does_not_name_the_hash",
    }
}

/// One state of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Its reference, given by the platform.
    pub boards_submission_ref: String,
    /// What was sent.
    pub package: Package,
    /// What it lacked when it came.
    pub omissions: Vec<Omission>,
    /// When it came.
    pub at: Moment,
}

/// A submission with all its revisions; the last one before the cut-off is frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Whether it came after the cut-off.
    pub is_late: bool,
    pub(super) revisions: Vec<Revision>,
}

impl Submission {
    /// A submission begins with one revision.
    pub(super) fn new(first: Revision, is_late: bool) -> Self {
        Self { is_late, revisions: vec![first] }
    }

    /// Every revision, oldest first; there is at least one.
    pub fn revisions(&self) -> &[Revision] {
        &self.revisions
    }

    /// The revision that counts.
    pub fn frozen(&self) -> &Revision {
        &self.revisions[self.revisions.len() - 1]
    }

    /// What its evidence earns by its own checks: all for a package that was complete at once, half for
    /// one that was mended before the cut-off.
    pub fn evidence_max(&self) -> (u8, &'static str) {
        match (self.frozen().omissions.is_empty(), self.revisions[0].omissions.is_empty()) {
            (true, true) => (20, "the package was complete at once"),
            (true, false) => (10, "an omission was repaired before the cut-off"),
            (false, _) => (0, "the frozen package lacks something"),
        }
    }
}
