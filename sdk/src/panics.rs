//! Panics, told to the author. In the sandbox a panic ends in a trap, whose frames name functions; what
//! it said and where is told here, just before.

use std::panic::{self, PanicHookInfo};

use crate::log::{self, Level};

/// From now on, a panic is logged as an error before anything else becomes of it.
pub(crate) fn report() {
    panic::set_hook(Box::new(tell));
}

fn tell(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("(a payload that is not text)");
    match panic.location() {
        Some(place) => log::write(Level::Error, format_args!("panicked at {place}: {message}")),
        None => log::write(Level::Error, format_args!("panicked: {message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_author_reads_what_a_panic_said_and_where() {
        let before = panic::take_hook();
        report();
        let line = line!() + 1;
        let caught = panic::catch_unwind(|| panic!("I expected {} prices, got {}", 24, 3));
        panic::set_hook(before);

        assert!(caught.is_err());
        let logged = log::take();
        let [(Level::Error, text)] = logged.as_slice() else { panic!("one error, not {logged:?}") };
        let (place, message) = text.split_once(": ").expect("a place and a message");
        assert!(
            place.starts_with("panicked at ") && place.contains(&format!("panics.rs:{line}:")),
            "{place}"
        );
        assert_eq!(message, "I expected 24 prices, got 3");
    }
}
