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
    /// Runs honestly when drawn; as a challenger it hands in the runner's commitment as its own.
    Copying,
    /// Fakes, challenges in agreement, and votes for its own.
    Colluding,
    /// Fakes, and its like sell their votes to any runner.
    Bribing,
    /// Declines, challenges everything, and often does not reveal.
    Griefing,
}

impl Population {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Honest,
        Self::Lazy,
        Self::Echoing,
        Self::Copying,
        Self::Colluding,
        Self::Bribing,
        Self::Griefing,
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
        }
    }

    /// Whether it runs the program when it has to hand in a record, which costs it C.
    pub(super) fn works(self) -> bool {
        matches!(self, Self::Honest | Self::Copying)
    }

    /// What it hands in, given what is claimed and what is true.
    pub(super) fn measure(self, claimed: &str, truth: &Measurement, luck: &mut SplitMix) -> Measurement {
        let made_up =
            |luck: &mut SplitMix| (luck.below(1_000_000), Digest::of(&luck.next_word().to_be_bytes()));
        match self {
            Self::Honest | Self::Copying => truth.clone(),
            Self::Lazy | Self::Griefing => {
                let (fuel, log) = made_up(luck);
                let x = format!("{}.{:02}", luck.below(200), luck.below(100));
                Measurement { x, fuel, log }
            }
            Self::Echoing | Self::Colluding | Self::Bribing => {
                let (fuel, log) = made_up(luck);
                Measurement { x: claimed.to_owned(), fuel, log }
            }
        }
    }

    /// Whether it challenges of its own accord.
    pub(super) fn volunteers(self, luck: &mut SplitMix) -> bool {
        match self {
            Self::Griefing | Self::Copying => luck.happens(200_000),
            Self::Colluding => luck.happens(100_000),
            Self::Honest | Self::Lazy | Self::Echoing | Self::Bribing => false,
        }
    }

    /// Whether it votes for the runner, whatever is true.
    pub(super) fn votes_blindly(self, runner: Self) -> bool {
        match self {
            Self::Lazy | Self::Echoing | Self::Bribing => true,
            Self::Colluding => runner == Self::Colluding,
            Self::Honest | Self::Copying | Self::Griefing => false,
        }
    }
}
