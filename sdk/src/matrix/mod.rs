//! The matrix game: an iterated 2×2 game, of which the prisoner's dilemma is the best known.
//!
//! Both seats [move](Move) at once, round after round, and each is paid by both moves: the payoffs are in
//! the [`Brief`]. A strategy sees the last round, both scores and the number of the round; whom it plays
//! it is never told.
//!
//! # What counts
//! The sum of the payoffs over all rounds.
//!
//! | own move | other's move | points | in the usual game |
//! |---|---|---|---|
//! | cooperate | cooperate | `r`, the reward | 3 |
//! | cooperate | defect | `s`, the sucker's | 0 |
//! | defect | cooperate | `t`, the temptation | 5 |
//! | defect | defect | `p`, the punishment | 1 |
//!
//! There is no noise: what is seen was played. There is no history list: what a strategy wants to know of
//! earlier rounds, it keeps.

#[allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::unwrap_used,
    reason = "wit-bindgen writes this module"
)]
#[doc(hidden)]
pub mod bindings;

mod component;
mod contract;
pub mod testing;

#[doc(hidden)]
pub use component::Component;
pub use contract::{Brief, Move, Observation};

/// A player of the matrix game.
///
/// One value plays one game: it is made from the brief, asked once a round, and gone afterwards. Nothing
/// outlives a game, and a panic forfeits it: the rounds that are left are played with `cooperate`.
///
/// ```
/// use arena_sdk::matrix::{Brief, Move, Observation, Strategy};
///
/// /// Cooperates first, then does what the other seat did.
/// struct TitForTat;
///
/// impl Strategy for TitForTat {
///     fn brief(_brief: &Brief) -> Self {
///         TitForTat
///     }
///
///     fn act(&mut self, seen: &Observation) -> Move {
///         // In round 0 it is `Cooperate`.
///         seen.other_last
///     }
/// }
///
/// arena_sdk::export_matrix!(TitForTat);
/// ```
pub trait Strategy: 'static {
    /// Takes the brief, before round 0.
    fn brief(brief: &Brief) -> Self
    where
        Self: Sized;

    /// Moves in one round. The other seat moves at the same time.
    fn act(&mut self, seen: &Observation) -> Move;
}

/// Makes the crate a matrix strategy: `export_matrix!(MyStrategy);`, once, where `MyStrategy` implements
/// [`matrix::Strategy`](crate::matrix::Strategy).
///
/// In a WebAssembly build it exports the contract's `player`, and makes panics reach the author's log.
/// In a native build, where unit tests run, it only checks the type.
#[macro_export]
macro_rules! export_matrix {
    ($strategy:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            // Not a name that an author could want for a strategy.
            type ArenaSeatedStrategy = $crate::matrix::Component<$strategy>;
            $crate::matrix::bindings::export_player!(ArenaSeatedStrategy with_types_in $crate::matrix::bindings);
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&$crate::matrix::Brief) -> $strategy = <$strategy as $crate::matrix::Strategy>::brief;
    };
}
