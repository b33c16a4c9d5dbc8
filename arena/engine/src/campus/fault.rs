use std::fmt;

use arena_canon::json::Pointer;
use serde::Serialize;

use crate::Excerpt;

/// One thing that is wrong, or worth a warning, at one place of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// JSON pointer of the place; empty for the whole document.
    pub pointer: String,
    /// What is wrong there and what would be right.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.pointer.is_empty() { "(document)" } else { &self.pointer };
        write!(f, "{}: {}", Excerpt::line(at), self.message)
    }
}

/// Everything that is wrong with a document, in the order in which its members are described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Finding>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.0.iter().enumerate() {
            let line_break = if i == 0 { "" } else { "\n" };
            write!(f, "{line_break}{finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Most findings kept; a document can be wrong in a million places.
const FINDINGS_MAX: usize = 200;

/// Collects findings and counts those beyond what anybody would read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    dropped: usize,
}

impl Findings {
    pub(super) fn add(&mut self, at: &Pointer, message: impl Into<String>) {
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(Finding { pointer: at.as_str().to_owned(), message: message.into() });
        } else {
            self.dropped += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn into_vec(mut self) -> Vec<Finding> {
        if self.dropped > 0 {
            let message = format!("{} more findings are not shown", self.dropped);
            self.kept.push(Finding { pointer: String::new(), message });
        }
        self.kept
    }
}
