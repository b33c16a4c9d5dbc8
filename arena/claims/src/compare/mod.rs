//! Whether a claim holds and whether two reruns agree, in exact arithmetic over decimal texts.
//!
//! Nothing is asserted by a party: outcome and agreement are computed here from the records. A
//! tolerance's reference is the claim, never one of two runs, so no comparison is lopsided.

mod judge;
mod metric;
mod report;
mod value;

pub use judge::{Comparison, compare, conclude, reason, reruns};
pub(crate) use metric::is_name as is_metric_name;
pub use metric::{ClaimTolerance, Direction, Kind, METRICS_MAX, Metric, RerunTolerance, Rules, Tolerance};
pub use report::{Cmp, Row, Status};
pub use value::{Measured, Reported, first_differing_byte};

#[cfg(test)]
mod tests;
