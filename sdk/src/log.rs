//! Lines for the author: [`debug!`](crate::debug), [`info!`](crate::info), [`warn!`](crate::warn) and
//! [`error!`](crate::error).
//!
//! In the sandbox a line goes to the host, which keeps as much as the brief's limits allow and counts
//! the rest; a line costs 200 fuel and one more a byte. Natively it goes to stderr and is kept for
//! [`take`], so that a unit test can look at it.

use std::fmt::{self, Write};

/// Bytes of one line that are sent. The rest is cut, and the cut is marked with `…`.
pub const LINE_BYTES_MAX: usize = 2_048;

const CUT: &str = "…";

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Of use while a strategy is being written.
    Debug,
    /// What a strategy decided, and why.
    Info,
    /// Not as expected, and handled.
    Warn,
    /// Wrong. Panics are told on this level.
    Error,
}

/// Sends one line; the macros call it.
#[doc(hidden)]
pub fn write(level: Level, message: fmt::Arguments<'_>) {
    sink::send(level, &bounded(message));
}

/// Formats no more than a line may hold.
pub(crate) fn bounded(message: fmt::Arguments<'_>) -> String {
    let mut line = Line { text: String::new() };
    if line.write_fmt(message).is_err() {
        line.text.push_str(CUT);
    }
    line.text
}

/// Text that refuses to grow beyond a line, which also ends the formatting that would follow.
struct Line {
    text: String,
}

impl Write for Line {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = LINE_BYTES_MAX - CUT.len() - self.text.len();
        // `get` rather than an index: a panic that quotes the text would be a tenth of a small component.
        let fitting = more.get(..more.floor_char_boundary(room)).unwrap_or_default();
        self.text.push_str(fitting);
        if fitting.len() < more.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(target_arch = "wasm32")]
pub(crate) use sink::send_to;
#[cfg(not(target_arch = "wasm32"))]
pub use sink::{KEPT_BYTES_MAX, take};

/// The host of whichever game this component plays.
#[cfg(target_arch = "wasm32")]
mod sink {
    use super::Level;
    use std::cell::Cell;

    type Send = fn(Level, &str);

    thread_local! {
        static HOST: Cell<Option<Send>> = const { Cell::new(None) };
    }

    pub(crate) fn send_to(host: Send) {
        HOST.set(Some(host));
    }

    pub(super) fn send(level: Level, text: &str) {
        if let Some(send) = HOST.get() {
            send(level, text);
        }
    }
}

/// The test that runs on this thread, and whoever reads stderr.
#[cfg(not(target_arch = "wasm32"))]
mod sink {
    use super::Level;
    use std::cell::RefCell;

    /// Bytes of text kept for [`take`]; lines beyond it still go to stderr. The sandbox keeps as much
    /// of an episode.
    pub const KEPT_BYTES_MAX: usize = 256 * 1_024;

    thread_local! {
        static KEPT: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
    }

    /// Takes the lines that this thread has logged since the last call.
    ///
    /// ```
    /// use arena_sdk::log::{self, Level};
    ///
    /// arena_sdk::warn!("{} MWh left", 3.5);
    /// assert_eq!(log::take(), [(Level::Warn, "3.5 MWh left".to_owned())]);
    /// assert_eq!(log::take(), []);
    /// ```
    pub fn take() -> Vec<(Level, String)> {
        KEPT.take()
    }

    #[expect(clippy::print_stderr, reason = "natively there is no host to keep the line")]
    pub(super) fn send(level: Level, text: &str) {
        eprintln!("{level:?}: {text}");
        KEPT.with_borrow_mut(|kept| {
            let bytes: usize = kept.iter().map(|(_, text)| text.len()).sum();
            if bytes + text.len() <= KEPT_BYTES_MAX {
                kept.push((level, text.to_owned()));
            }
        });
    }
}

/// Logs a line of use while a strategy is being written. Takes what [`format!`] takes.
#[macro_export]
macro_rules! debug {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Debug, ::core::format_args!($($message)+)) };
}

/// Logs what a strategy decided, and why. Takes what [`format!`] takes.
///
/// ```
/// # let (price, soc) = (410.0, 12.5);
/// arena_sdk::info!("holding: price {price:.0}, {soc:.1} MWh stored");
/// ```
#[macro_export]
macro_rules! info {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Info, ::core::format_args!($($message)+)) };
}

/// Logs what was not as expected and was handled. Takes what [`format!`] takes.
#[macro_export]
macro_rules! warn {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Warn, ::core::format_args!($($message)+)) };
}

/// Logs what is wrong. Takes what [`format!`] takes.
#[macro_export]
macro_rules! error {
    ($($message:tt)+) => { $crate::log::write($crate::log::Level::Error, ::core::format_args!($($message)+)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_in_order_with_their_level() {
        crate::debug!("a");
        crate::error!("{}-{b}", 1, b = 2);
        assert_eq!(take(), [(Level::Debug, "a".to_owned()), (Level::Error, "1-2".to_owned())]);
    }

    #[test]
    fn a_long_line_is_cut_on_a_character_and_marked() {
        crate::info!("{}{}", "é".repeat(LINE_BYTES_MAX), "never reached");
        let text = take().remove(0).1;
        assert!(text.len() <= LINE_BYTES_MAX, "{} bytes", text.len());
        assert!(text.ends_with("é…"));
    }

    #[test]
    fn a_line_that_just_fits_is_whole() {
        let longest = "x".repeat(LINE_BYTES_MAX - CUT.len());
        assert_eq!(bounded(format_args!("{longest}")), longest);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        for _ in 0..KEPT_BYTES_MAX / LINE_BYTES_MAX + 2 {
            write(Level::Debug, format_args!("{}", "x".repeat(LINE_BYTES_MAX - CUT.len())));
        }
        let kept: usize = take().iter().map(|(_, text)| text.len()).sum();
        assert!(kept <= KEPT_BYTES_MAX && kept > KEPT_BYTES_MAX - LINE_BYTES_MAX);
    }
}
