//! The document that describes a contest. It is kept as it came, and given back as it came.

use arena_canon::json::{self, Pointer, Value};

use crate::document::{Faults, Length, Object};
use crate::moment::Moment;
use crate::words::words;

/// Bytes of a manifest.
pub const MANIFEST_BYTES_MAX: usize = 256 << 10;

words! {
    /// Where a contest is.
    pub enum ContestStatus {
        /// Proposed.
        Draft = "draft",
        /// It takes submissions, between its two times.
        Active = "active",
        /// It is being judged.
        Judging = "judging",
        /// It is over.
        Closed = "closed",
        /// It ended before its end.
        Cancelled = "cancelled",
    }
}

words! {
    /// Who carries out a stage of the evaluation, whatever the manifest calls the actor.
    pub enum Role {
        /// The gate.
        System = "system",
        /// Looks at legality.
        LegalityReviewer = "legality_reviewer",
        /// Works accepted redlines into the draft.
        Merger = "merger",
        /// Tests the merged draft.
        Tester = "tester",
        /// Votes, in a later phase.
        Dao = "dao",
    }
}

/// How far a stage runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Automated {
    /// Wholly.
    Yes,
    /// Not at all.
    No,
    /// In part.
    Partial,
}

/// A stage of the evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The actor as the manifest names it.
    pub actor: String,
    /// Who carries it out.
    pub role: Role,
    /// How far it runs by itself.
    pub automated: Automated,
}

/// A contest as its manifest describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// A UUID.
    pub id: String,
    /// Its short name.
    pub slug: String,
    /// What it is called.
    pub title: String,
    /// Where it is, according to the document.
    pub status: ContestStatus,
    /// What kind of contest.
    pub contest_type: String,
    /// When it begins to take submissions.
    pub starts_at: Moment,
    /// When it stops.
    pub ends_at: Moment,
    /// The reputation that is needed.
    pub min_reputation_score: u64,
    /// Whether submissions stay between their authors and the admin.
    pub submissions_private: bool,
    /// The stages of the evaluation.
    pub stages: Vec<Stage>,
    document: Value,
}

/// Words that are routes and cannot be slugs.
const RESERVED_SLUGS: [&str; 3] = ["list", "propose", "admin"];

const TOP: [&str; 10] =
    ["module", "version", "spec", "phase", "contest", "entry", "endpoints", "auth", "payout", "dao_vote"];

const CONTEST: [&str; 16] = [
    "id",
    "slug",
    "title",
    "description",
    "status",
    "contest_type",
    "reward_type",
    "reward_description",
    "prize_pool",
    "prize_currency",
    "starts_at",
    "ends_at",
    "rules",
    "min_reputation_score",
    "created_at",
    "submissions_private",
];

impl Manifest {
    /// Reads a manifest; every fault of it is told.
    pub fn read(bytes: &[u8]) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        match json::read(bytes, MANIFEST_BYTES_MAX) {
            Ok(document) => Self::of(document),
            Err(why) => {
                faults.add(&Pointer::default(), why.to_string());
                Err(faults)
            }
        }
    }

    /// As [`Manifest::read`], of a document that was read.
    pub fn of(document: Value) -> Result<Self, Faults> {
        let mut faults = Faults::default();
        let read = read(&document, &mut faults);
        let manifest = faults.or(read)?;
        Ok(Self { document, ..manifest })
    }

    /// The document as it came.
    pub fn document(&self) -> &Value {
        &self.document
    }
}

fn read(document: &Value, faults: &mut Faults) -> Option<Manifest> {
    let top = Object::read(document, &Pointer::default(), &TOP, faults)?;
    for (key, expected) in [("module", "contest"), ("spec", "defici-contest-module-v1")] {
        if top.text(key, faults).is_some_and(|found| found != expected) {
            faults.add(&top.at(key), format!("expected {expected:?}"));
        }
    }
    for key in ["version", "phase"] {
        top.bounded(key, Length::new(1, 50), faults);
    }
    for key in ["entry", "endpoints", "auth", "payout", "dao_vote"] {
        if top.required(key, faults).is_some_and(|value| !value.is_object()) {
            faults.add(&top.at(key), "expected an object");
        }
    }
    let contest = top.required("contest", faults)?;
    let contest = Object::read(contest, &top.at("contest"), &CONTEST, faults)?;
    read_contest(&contest, faults)
}

fn read_contest(contest: &Object<'_>, faults: &mut Faults) -> Option<Manifest> {
    let id = contest
        .text("id", faults)
        .filter(|id| is_uuid(id) || fault(contest, "id", "expected a UUID", faults));
    let slug = contest.text("slug", faults).filter(|slug| {
        is_slug(slug)
            || fault(contest, "slug", "expected 1 to 100 letters, digits or `-`, and no route", faults)
    });
    let title = contest.bounded("title", Length::new(1, 200), faults);
    let contest_type = contest.bounded("contest_type", Length::new(1, 50), faults);
    contest.bounded("description", Length::new(1, 5_000), faults);
    contest.bounded("reward_type", Length::new(1, 50), faults);
    contest.bounded("reward_description", Length::new(0, 2_000), faults);
    contest.bounded("prize_currency", Length::new(0, 20), faults);
    contest.whole("prize_pool", faults);
    let status = contest.word("status", ContestStatus::named, faults);
    let [starts_at, ends_at, _created] =
        ["starts_at", "ends_at", "created_at"].map(|key| contest.parsed::<Moment>(key, faults));
    if starts_at.zip(ends_at).is_some_and(|(start, end)| start >= end) {
        faults.add(&contest.at("ends_at"), "is not after starts_at");
    }
    let min_reputation_score = contest.whole("min_reputation_score", faults);
    let submissions_private = contest.boolean("submissions_private", faults);
    let stages = read_rules(contest, min_reputation_score, faults);
    Some(Manifest {
        id: id?.to_owned(),
        slug: slug?.to_owned(),
        title: title?,
        status: status?,
        contest_type: contest_type?,
        starts_at: starts_at?,
        ends_at: ends_at?,
        min_reputation_score: min_reputation_score?,
        submissions_private: submissions_private?,
        stages: stages?,
        document: Value::Null,
    })
}

/// The rules are an open object; what the platform acts by is looked at.
fn read_rules(contest: &Object<'_>, min_reputation: Option<u64>, faults: &mut Faults) -> Option<Vec<Stage>> {
    let rules = contest.required("rules", faults)?;
    let at = contest.at("rules");
    if !rules.is_object() {
        faults.add(&at, "expected an object");
        return None;
    }
    let again = rules.pointer("/eligibility/min_reputation_score").and_then(Value::as_u64);
    if again.is_some() && again != min_reputation {
        faults.add(&at.key("eligibility").key("min_reputation_score"), "differs from that of the contest");
    }
    let Some(stages) = rules.get("evaluation_pipeline") else { return Some(Vec::new()) };
    let at = at.key("evaluation_pipeline");
    let stages = crate::document::array(stages, &at, 20, faults)?;
    let mut read = Vec::with_capacity(stages.len());
    for (i, stage) in stages.iter().enumerate() {
        let known = ["name", "actor", "stage", "automated", "description", "phase"];
        let stage = Object::read(stage, &at.index(i), &known, faults);
        read.extend(stage.and_then(|stage| read_stage(&stage, faults)));
    }
    if !is_counted(&read) {
        faults.add(&at, "stages are numbered 1, 2, 3 and so on");
    }
    Some(read)
}

fn is_counted(stages: &[Stage]) -> bool {
    stages.iter().zip(1..).all(|(stage, number)| stage.number == number)
}

fn read_stage(stage: &Object<'_>, faults: &mut Faults) -> Option<Stage> {
    let automated = match stage.required("automated", faults)? {
        Value::Bool(true) => Automated::Yes,
        Value::Bool(false) => Automated::No,
        Value::String(word) if word == "partial" => Automated::Partial,
        _ => {
            faults.add(&stage.at("automated"), "expected true, false or \"partial\"");
            return None;
        }
    };
    let number = u32::try_from(stage.whole("stage", faults)?).ok()?;
    let role = match number {
        1 => Role::System,
        2 => Role::LegalityReviewer,
        3 => Role::Merger,
        4 => Role::Tester,
        _ => Role::Dao,
    };
    let name = stage.bounded("name", Length::new(1, 100), faults)?;
    let actor = stage.bounded("actor", Length::new(1, 100), faults)?;
    Some(Stage { number, name, actor, role, automated })
}

fn fault(object: &Object<'_>, key: &str, message: &str, faults: &mut Faults) -> bool {
    faults.add(&object.at(key), message);
    false
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    let is_hex =
        |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    groups.iter().map(|group| group.len()).eq(lengths) && groups.iter().all(is_hex)
}

fn is_slug(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_route = RESERVED_SLUGS.iter().any(|reserved| text.eq_ignore_ascii_case(reserved));
    (1..=100).contains(&text.len()) && text.bytes().all(is_plain) && !is_route
}
