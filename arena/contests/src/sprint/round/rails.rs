//! The public surfaces, as values: what is in the Locker and on the Town, and what was hidden again.
//!
//! Both only grow. What was published and must not have been is hidden behind its digest.

use arena_cow::CowMap;

use arena_canon::Digest;

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
    /// What it refers to.
    pub refs: Vec<String>,
    /// The post it corrects.
    pub corrects: Option<String>,
    /// When it came.
    pub at: Moment,
    /// Why its text cannot be read any more.
    pub hidden: Option<String>,
}

impl Post {
    /// Whether it names an artifact, by its reference or by its digest in the text.
    pub fn names(&self, artifact: &Digest) -> bool {
        let digest = artifact.to_string();
        let in_refs = self.refs.iter().any(|reference| reference.ends_with(&digest));
        in_refs || self.body.as_ref().is_some_and(|body| body.names(artifact))
    }
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
