//! Two things at once, where neither needs the other.

use std::panic::resume_unwind;

/// Both results. The first is found by a thread of its own.
pub(crate) fn side_by_side<A: Send, B>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
    })
}
