use std::fmt;

use arena_canon::json::Pointer;
use serde::Serialize;

/// One thing that is wrong at one place of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// JSON pointer of the place; empty for the whole document.
    pub pointer: String,
    /// What is wrong there and what would be right.
    pub message: String,
}

/// Everything that is wrong with a document, in the order in which its members are described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Finding>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.0.iter().enumerate() {
            let line_break = if i == 0 { "" } else { "\n" };
            let at = if finding.pointer.is_empty() { "(document)" } else { &finding.pointer };
            write!(f, "{line_break}{}: {}", at.escape_debug(), finding.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Most findings kept; a document can be wrong in a million places.
const FINDINGS_MAX: usize = 200;

/// Collects findings and counts those beyond what anybody would read.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Finding>,
    dropped: usize,
}

impl Findings {
    pub(crate) fn add(&mut self, at: &Pointer, message: impl Into<String>) {
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(Finding { pointer: at.as_str().to_owned(), message: message.into() });
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// `value`, if nothing was found.
    pub(crate) fn or_none<T>(mut self, value: Option<T>) -> Result<T, Faults> {
        if self.dropped > 0 {
            let message = format!("{} more findings are not shown", self.dropped);
            self.kept.push(Finding { pointer: String::new(), message });
        }
        match value {
            Some(value) if self.kept.is_empty() => Ok(value),
            _ => Err(Faults(self.kept)),
        }
    }
}
