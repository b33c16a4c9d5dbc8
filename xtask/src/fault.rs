//! What went wrong and what to do about it. No causes chained, no codes: a person reads it at a terminal.

use std::fmt;
use std::path::Path;

/// A failed step: one sentence of what is wrong and, where there is one, the thing to do.
#[derive(Debug)]
pub(crate) struct Fault {
    what: String,
    hint: Option<String>,
}

/// The result of everything here that can fail.
pub(crate) type Outcome<T = ()> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// For `map_err`: an operation on a path that the system refused.
    pub(crate) fn at<E: fmt::Display>(doing: &str, path: &Path) -> impl FnOnce(E) -> Self {
        move |why| Self::new(format!("cannot {doing} {}: {why}", path.display()))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", hint.replace('\n', "\n        ")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_of_two_lines_stays_aligned() {
        let fault = Fault::new("no compiler").hint("type\nrustup show");
        assert_eq!(fault.to_string(), "no compiler\n  hint: type\n        rustup show");
    }
}
