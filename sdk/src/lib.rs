//! What a strategy author depends on: implement one trait, write one macro line, and the crate builds
//! into a WebAssembly component that plays in Arena's sandbox.
//!
//! # From nothing to a playing strategy
//! ```text
//! arena new my-strategy                 # a crate that builds, with this SDK beside it
//! arena build my-strategy               # compiles and checks it, and says where the component is
//! arena check COMPONENT                 # what it imports, what a call costs, whether it is deterministic
//! arena play two-spikes COMPONENT       # one episode, turn by turn
//! ```
//! All of the strategy is in `my-strategy/src/lib.rs`. This is one that meets every order by shedding
//! load, which scores nothing, since shedding is the dearest way to do it:
//!
//! ```
//! use arena_sdk::campus::{Action, Brief, Observation, Strategy};
//!
//! struct Obey;
//!
//! impl Strategy for Obey {
//!     fn brief(_brief: &Brief) -> Self {
//!         Obey
//!     }
//!
//!     fn act(&mut self, seen: &Observation) -> Action {
//!         Action { curtail_mw: seen.order_mw(), ..Action::default() }
//!     }
//! }
//!
//! arena_sdk::export_campus!(Obey);
//! ```
//!
//! [`campus`] has the rules in short, [`Observation`](campus::Observation) what you may know, and
//! [`Action`](campus::Action) what you may do. Next steps that pay off: use the battery before shedding,
//! charge it while power is cheap (the [forecast](campus::Observation::forecast) is exact), run the
//! generator on the dearest turns its permit allows, and accept appeals, which cost nothing.
//!
//! # The other game
//! [`matrix`] is the iterated 2×2 game, the prisoner's dilemma among them: implement
//! [`matrix::Strategy`] and write [`export_matrix!`] instead. A crate plays one game.
//!
//! # Experiments
//! A computation that a claim pins is a third kind of crate: see [`experiment`] and
//! [`export_experiment!`]. Its Cargo.toml asks for the feature `experiment`.
//!
//! # Test it before you play it
//! A strategy is ordinary Rust and runs natively. [`campus::testing`] makes briefs and observations by
//! hand:
//!
//! ```
//! # use arena_sdk::campus::{Action, Brief, Observation, Strategy};
//! # struct Obey;
//! # impl Strategy for Obey {
//! #     fn brief(_brief: &Brief) -> Self { Obey }
//! #     fn act(&mut self, seen: &Observation) -> Action {
//! #         Action { curtail_mw: seen.order_mw(), ..Action::default() }
//! #     }
//! # }
//! use arena_sdk::campus::testing;
//!
//! let brief = testing::brief();
//! let mut obey = Obey::brief(&brief);
//! let ordered = testing::turn(&brief, 8).order(8..12, 24.0).build();
//! assert_eq!(obey.act(&ordered).curtail_mw, 24.0);
//! let over = testing::turn(&brief, 12).build();
//! assert_eq!(obey.act(&over), Action::default());
//! ```
//!
//! # Find out why it lost
//! [`info!`] and its siblings write to the episode's [`log`]. A panic is logged too, with its message and
//! line, before it ends the game: the turns that are left are played with empty actions. What a limit cut
//! from an action is told a turn later in [`clamps`](campus::Observation::clamps).
//!
//! # Limits
//! Every call is metered in fuel, which counts WebAssembly instructions and not time, so a busy machine
//! costs nobody a turn. The [limits](campus::Limits) are in the brief. There is no clock, no randomness
//! and no file; the same observations give the same actions, or the replay of the log says otherwise.

pub mod campus;
// Natively always, so that it is tested and documented.
#[cfg(any(feature = "experiment", not(target_arch = "wasm32")))]
pub mod experiment;
pub mod log;
pub mod matrix;
#[cfg(any(target_arch = "wasm32", test))]
mod panics;
