//! The campus game: a data-centre campus on a stressed grid, with a battery, a gas generator, load that
//! can be shed at a price, and a grid that offers and orders.
//!
//! Every turn the campus buys what its IT load draws, less what the battery, the generator and shed load
//! take off it. A strategy sees the price now and exactly for the next three turns, the orders and
//! appeals that are visible, and the [`Brief`]; it answers with an [`Action`].
//!
//! # What counts
//! Two metrics, named in the brief with the thresholds of their stars; a star needs both. In the packs
//! that come with Arena they are the cost per MWh of IT *demand* (so shedding cannot shrink the
//! denominator) and the share of the relief that orders asked for.
//!
//! # What an action does
//! | field | is cut to | and then |
//! |---|---|---|
//! | `curtail_mw` | 0 … IT demand | is paid at the brief's `sla_usd_per_mwh` |
//! | `battery_mw` above 0 | its power, the energy stored, load less `curtail_mw` | comes out of the battery whole |
//! | `battery_mw` below 0 | its power, the room left | goes in times `round_trip_efficiency` |
//! | `diesel_mw` | its capacity, the load still left, the permit | costs its fuel and one turn of permit |
//! | `accept_offer` | while an appeal is active | holds until the appeal ends |
//!
//! What is cut is told in the next observation's [`clamps`](Observation::clamps) and is never punished.
//! With `reduction = max(0, IT demand - grid import)`, orders take the first part of it and accepted
//! appeals pay for the rest. Charging during an order is import like any other, and undoes relief.

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

mod assembly;
mod component;
mod contract;
mod local_time;
mod observation;
pub mod testing;

#[doc(hidden)]
pub use component::Component;
pub use contract::{
    Action, ActionField, Battery, Brief, Clamp, ClampReason, Generator, Limits, Metric, MetricId,
    SystemStatus,
};
pub use local_time::LocalTime;
pub use observation::{Event, EventKind, Forecast, ForecastTurn, Ledger, Observation, Site};

/// A player of the campus game.
///
/// One value plays one episode: it is made from the brief, asked once a turn, and gone afterwards.
/// Nothing outlives an episode, and a panic forfeits the turns that are left.
///
/// ```
/// use arena_sdk::campus::{Action, Brief, Observation, Strategy};
///
/// /// Discharges when the price is above what it has seen so far, on average.
/// struct Trader {
///     sum_usd_per_mwh: f64,
/// }
///
/// impl Strategy for Trader {
///     fn brief(_brief: &Brief) -> Self {
///         Trader { sum_usd_per_mwh: 0.0 }
///     }
///
///     fn act(&mut self, seen: &Observation) -> Action {
///         self.sum_usd_per_mwh += seen.price_usd_per_mwh;
///         let mean_usd_per_mwh = self.sum_usd_per_mwh / f64::from(seen.turn + 1);
///         let battery_mw = if seen.price_usd_per_mwh > mean_usd_per_mwh {
///             seen.max_discharge_mw()
///         } else {
///             -seen.max_charge_mw()
///         };
///         Action { battery_mw, ..Action::default() }
///     }
/// }
///
/// arena_sdk::export_campus!(Trader);
/// ```
pub trait Strategy: 'static {
    /// Takes the brief, before turn 0.
    fn brief(brief: &Brief) -> Self
    where
        Self: Sized;

    /// Acts on one turn. Every field is cut to its limits, so asking for too much is safe.
    fn act(&mut self, seen: &Observation) -> Action;
}

/// Makes the crate a campus strategy: `export_campus!(MyStrategy);`, once, where `MyStrategy` implements
/// [`campus::Strategy`](crate::campus::Strategy).
///
/// In a WebAssembly build it exports the contract's `player`, and makes panics reach the author's log.
/// In a native build, where unit tests run, it only checks the type.
#[macro_export]
macro_rules! export_campus {
    ($strategy:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            // Not a name that an author could want for a strategy.
            type ArenaSeatedStrategy = $crate::campus::Component<$strategy>;
            $crate::campus::bindings::export_player!(ArenaSeatedStrategy with_types_in $crate::campus::bindings);
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&$crate::campus::Brief) -> $strategy = <$strategy as $crate::campus::Strategy>::brief;
    };
}
