//! How populations behave. Nothing here can do what the rules refuse.

use arena_canon::Digest;

use super::actor::Measurement;
use crate::luck::SplitMix;

/// A way to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Population {
    /// Does what it is drawn for, and reports what it measures.
    Honest,
    /// Publishes a guess; as a reviewer it votes for the runner without looking.
    Lazy,
    /// Publishes what is claimed, without running.
    Echoing,
    /// Hands in what somebody else has committed as its own, in every part; works only where nobody came before.
    Copying,
    /// Fakes, challenges in agreement, and votes for its own.
    Colluding,
    /// Fakes, and its like sell their votes to any runner.
    Bribing,
    /// Declines, challenges everything, and often does not reveal.
    Griefing,
    /// Honest while it is watched. Once its record is so long that it is audited no more than anybody must be, it
    /// publishes what is claimed without running. Not in the ordinary field; it is who the audit floor is for.
    Patient,
}

impl Population {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Honest,
        Self::Lazy,
        Self::Echoing,
        Self::Copying,
        Self::Colluding,
        Self::Bribing,
        Self::Griefing,
        Self::Patient,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Lazy => "lazy",
            Self::Echoing => "echoing",
            Self::Copying => "copying",
            Self::Colluding => "colluding",
            Self::Bribing => "bribing",
            Self::Griefing => "griefing",
            Self::Patient => "patient",
        }
    }

    /// The population of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|population| population.name() == name)
    }

    /// Whether it runs the program when it has to hand in a record, which costs it C. `unwatched`: it is the runner, and
    /// is audited no more than anybody must be.
    pub(super) fn works(self, unwatched: bool) -> bool {
        match self {
            Self::Honest | Self::Copying => true,
            Self::Patient => !unwatched,
            Self::Lazy | Self::Echoing | Self::Colluding | Self::Bribing | Self::Griefing => false,
        }
    }

    /// What it hands in without running, given what is claimed.
    pub(super) fn make_up(self, claimed: &str, luck: &mut SplitMix) -> Measurement {
        let fuel = luck.below(1_000_000);
        let log = Digest::of(&luck.next_word().to_be_bytes());
        let x = match self {
            Self::Lazy | Self::Griefing => format!("{}.{:02}", luck.below(200), luck.below(100)),
            Self::Honest
            | Self::Echoing
            | Self::Copying
            | Self::Colluding
            | Self::Bribing
            | Self::Patient => claimed.to_owned(),
        };
        Measurement { x, fuel, log }
    }

    /// Whether it challenges of its own accord.
    pub(super) fn volunteers(self, luck: &mut SplitMix) -> bool {
        match self {
            Self::Griefing | Self::Copying => luck.happens(200_000),
            Self::Colluding => luck.happens(100_000),
            Self::Honest | Self::Lazy | Self::Echoing | Self::Bribing | Self::Patient => false,
        }
    }

    /// Whether it votes for the runner, whatever is true.
    pub(super) fn votes_blindly(self, runner: Self) -> bool {
        match self {
            Self::Lazy | Self::Echoing | Self::Bribing => true,
            Self::Colluding => runner == Self::Colluding,
            Self::Honest | Self::Copying | Self::Griefing | Self::Patient => false,
        }
    }
}
