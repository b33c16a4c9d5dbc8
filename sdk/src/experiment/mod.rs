//! Experiments: computations that a claim pins and anybody reruns.
//!
//! An experiment is given [arguments](Run::argument) and pinned [inputs](Run::input), and [reports](Report)
//! metrics. It depends on this crate with the feature `experiment`. The same component, inputs and arguments must give the same metrics, outputs, log and fuel
//! everywhere: that is what a rerun compares. There is no clock and no network; luck is whatever an argument
//! seeds.
//!
//! # Numbers
//! Prefer integers and [decimals](Report::decimal), which are calculated exactly. A
//! [binary64](Report::f64) is compared by its bits.

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
mod report;
mod run;
pub mod testing;

#[doc(hidden)]
pub use component::Component;
pub use report::{Report, SCALE_MAX};
pub use run::Run;

/// A computation that a claim can pin.
///
/// ```
/// use arena_sdk::experiment::{Experiment, Report, Run};
///
/// /// The sum of the numbers in an input, one a line.
/// struct Sum;
///
/// impl Experiment for Sum {
///     fn run(run: &mut Run) -> Result<Report, String> {
///         let mut sum = 0;
///         for line in run.input_text("numbers.txt")?.lines() {
///             sum += line.parse::<i64>().map_err(|why| format!("`{line}`: {why}"))?;
///         }
///         Ok(Report::new().int("sum", sum))
///     }
/// }
///
/// arena_sdk::export_experiment!(Sum);
/// ```
pub trait Experiment: 'static {
    /// Runs once. An error says in words why there is nothing to report; the claim then cannot be run as it
    /// is written.
    fn run(run: &mut Run) -> Result<Report, String>;
}

/// Makes the crate an experiment: `export_experiment!(MyExperiment);`, once, where `MyExperiment` implements
/// [`experiment::Experiment`](crate::experiment::Experiment).
///
/// In a WebAssembly build it exports the contract's `run`, and makes panics reach the log. In a native build,
/// where unit tests run, it only checks the type.
#[cfg(any(feature = "experiment", not(target_arch = "wasm32")))]
#[macro_export]
macro_rules! export_experiment {
    ($experiment:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            // Not a name that an author could want for an experiment.
            type ArenaRunExperiment = $crate::experiment::Component<$experiment>;
            $crate::experiment::bindings::export_run!(ArenaRunExperiment with_types_in $crate::experiment::bindings);
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&mut $crate::experiment::Run) -> Result<$crate::experiment::Report, String> =
            <$experiment as $crate::experiment::Experiment>::run;
    };
}
