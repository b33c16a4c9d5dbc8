//! The public surfaces, as values: what is in the Locker and on the Town, and what was hidden again.
//!
//! Both only grow. What was published and must not have been is hidden behind its digest.

use arena_cow::CowMap;

use arena_canon::Digest;
use arena_canon::json::Pointer;

use super::{Command, Refusal, Round};
use crate::document::Faults;
use crate::moment::Moment;
use crate::sprint::Window;
use crate::text::Text;
use crate::words::words;

/// Bytes of one artifact.
pub const ARTIFACT_BYTES_MAX: usize = 16 << 20;

/// An artifact. The same bytes are the same artifact; the first company to store them owns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Whose it is.
    pub owner: String,
    /// Its bytes' number.
    pub size_bytes: u64,
    /// What it is.
    pub media_type: String,
    /// Whether anybody may read it.
    pub public_read: bool,
    /// When it came.
    pub at: Moment,
    /// Why it cannot be read any more.
    pub hidden: Option<String>,
}

/// Something that speaks for an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Whose it is.
    pub owner: String,
    /// The artifact.
    pub artifact: Digest,
    /// What kind of evidence.
    pub kind: String,
    /// What it shows.
    pub description: Text,
    /// When it came.
    pub at: Moment,
}

/// Custody of artifacts and evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locker {
    pub(super) artifacts: CowMap<Digest, Artifact>,
    pub(super) evidence: CowMap<String, Evidence>,
}

impl Locker {
    /// The artifact with this digest.
    pub fn artifact(&self, digest: &Digest) -> Option<&Artifact> {
        self.artifacts.get(digest)
    }

    /// The artifact of a reference such as `locker:0f3c…`.
    pub fn by_reference(&self, reference: &str) -> Option<(Digest, &Artifact)> {
        let digest = reference.strip_prefix("locker:")?.parse().ok()?;
        self.artifact(&digest).map(|artifact| (digest, artifact))
    }

    /// What speaks for an artifact, by its name.
    pub fn evidence_of(&self, artifact: &Digest) -> impl Iterator<Item = (&String, &Evidence)> {
        let artifact = *artifact;
        self.evidence.iter().filter(move |(_, evidence)| evidence.artifact == artifact)
    }

    /// The evidence of this name.
    pub fn evidence(&self, reference: &str) -> Option<&Evidence> {
        self.evidence.get(reference)
    }
}

/// The reference of an artifact.
pub fn locker_reference(artifact: &Digest) -> String {
    format!("locker:{artifact}")
}

words! {
    /// What a post is.
    pub enum PostKind {
        /// What a company did.
        Progress = "progress",
        /// It corrects an earlier post, which stays.
        Correction = "correction",
        /// It looks back on the round.
        Recap = "recap",
        /// It says what was learned.
        Postmortem = "postmortem",
    }
}

/// A post for the public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Whose it is.
    pub author: String,
    /// What it is.
    pub kind: PostKind,
    /// The window it is about.
    pub window: Option<Window>,
    /// Its text, unless it was hidden.
    pub body: Option<Text>,
    /// The digest of its text, as [`Text::sha256`] gives it.
    pub body_sha256: Digest,
    /// What it refers to, as its row says for good.
    pub(super) refs: Vec<String>,
    /// The post it corrects.
    pub corrects: Option<String>,
    /// When it came.
    pub at: Moment,
    /// Why its text cannot be read any more.
    pub hidden: Option<String>,
}

impl Post {
    /// What it refers to. Of a hidden post that is nothing any more: what an author wrote there before references had
    /// a grammar may be any text.
    pub fn refs(&self) -> &[String] {
        if self.hidden.is_some() { &[] } else { &self.refs }
    }

    /// Whether it names an artifact, by its reference or by its digest in the text.
    pub fn names(&self, artifact: &Digest) -> bool {
        let digest = artifact.to_string();
        let in_refs = self.refs.iter().any(|reference| reference.ends_with(&digest));
        in_refs || self.body.as_ref().is_some_and(|body| body.names(artifact))
    }
}

/// Characters of a kind of evidence.
const KIND_CHARS_MAX: usize = 32;

impl Round {
    /// What is asked of a command when it comes, and not of one that stands in a journal already: what cannot be
    /// taken away again, for it stands in the row itself, has no room for a text.
    pub fn check_new(&self, command: &Command) -> Result<(), Refusal> {
        let (root, mut faults) = (Pointer::default(), Faults::default());
        match command {
            Command::Post { refs, .. } => {
                for (i, reference) in refs.iter().enumerate().filter(|(_, it)| !self.can_refer_to(it)) {
                    let said = reference.chars().take(SHOWN_CHARS).collect::<String>();
                    let message = format!("`{said}` is no reference: {REFERENCES}");
                    faults.add(&root.key("refs").index(i), message);
                }
            }
            Command::PutEvidence { kind, .. } if !is_kind(kind) => {
                let message =
                    format!("expected 1 to {KIND_CHARS_MAX} of a-z 0-9 - _ that begin with a letter");
                faults.add(&root.key("kind"), message);
            }
            _ => {}
        }
        faults.or(Some(())).map_err(Refusal::Form)
    }

    /// Whether a reference names something of this round or in the Locker. It need not be there yet.
    fn can_refer_to(&self, reference: &str) -> bool {
        let Some((what, rest)) = reference.split_once(':') else { return false };
        let own = |rest: &'_ str| rest.strip_prefix(&*self.terms.id)?.strip_prefix(':').map(str::to_owned);
        let is_number =
            |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_company = |company: &str| self.entrants.contains_key(company);
        match what {
            "locker" => rest.parse::<Digest>().is_ok(),
            "town" | "evidence" | "receipt" | "dispute" | "award" => {
                is_number(rest) || own(rest).is_some_and(|number| is_number(&number))
            }
            "boards" | "intent" => own(rest).is_some_and(|rest| {
                let mut parts = rest.split(':');
                let company = parts.next().is_some_and(is_company);
                let window = parts.next().is_some_and(|window| Window::named(window).is_some());
                let revision = parts.next().is_none_or(|number| what == "boards" && is_number(number));
                company && window && revision && parts.next().is_none()
            }),
            "kickoff" => rest
                .split_once(':')
                .is_some_and(|(company, digest)| is_company(company) && digest.parse::<Digest>().is_ok()),
            _ => false,
        }
    }
}

/// The references there are, in words.
const REFERENCES: &str = "`locker:` and a digest, `town:`, `evidence:`, `receipt:`, `dispute:` or `award:` and a number, \
    `boards:`, `intent:` or `kickoff:` as the round gives them";
/// Characters of a wrong one that are shown.
const SHOWN_CHARS: usize = 40;

fn is_kind(kind: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    kind.len() <= KIND_CHARS_MAX
        && kind.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && kind.bytes().all(is_inside)
}

/// What companies say in public.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Town {
    pub(super) posts: CowMap<String, Post>,
}

impl Town {
    /// The post of this name.
    pub fn post(&self, reference: &str) -> Option<&Post> {
        self.posts.get(reference)
    }

    /// All posts, by name.
    pub fn posts(&self) -> impl Iterator<Item = (&String, &Post)> {
        self.posts.iter()
    }
}
