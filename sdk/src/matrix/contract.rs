//! The contract's own types, with what every strategy needs of them.

use std::ops::Not;

#[doc(inline)]
pub use super::bindings::arena::matrix::types::{Brief, Move, Observation};

impl Move {
    /// Cooperates.
    pub const C: Self = Self::Cooperate;
    /// Defects.
    pub const D: Self = Self::Defect;

    /// `C` or `D`, as records spell it.
    pub fn letter(self) -> char {
        match self {
            Self::Cooperate => 'C',
            Self::Defect => 'D',
        }
    }
}

impl Not for Move {
    type Output = Self;

    /// The other move.
    fn not(self) -> Self {
        match self {
            Self::Cooperate => Self::Defect,
            Self::Defect => Self::Cooperate,
        }
    }
}

impl Brief {
    /// What a seat earns in one round with `own` against `other`.
    pub fn points(&self, own: Move, other: Move) -> i32 {
        match (own, other) {
            (Move::Cooperate, Move::Cooperate) => self.r,
            (Move::Cooperate, Move::Defect) => self.s,
            (Move::Defect, Move::Cooperate) => self.t,
            (Move::Defect, Move::Defect) => self.p,
        }
    }
}

impl Observation {
    /// The last round's moves, own first; `None` in round 0.
    ///
    /// ```
    /// use arena_sdk::matrix::{Move, testing};
    ///
    /// assert_eq!(testing::round(0).build().last(), None);
    /// let seen = testing::round(1).last(Move::C, Move::D).build();
    /// assert_eq!(seen.last(), Some((Move::C, Move::D)));
    /// ```
    pub fn last(&self) -> Option<(Move, Move)> {
        self.played.then_some((self.own_last, self.other_last))
    }
}
