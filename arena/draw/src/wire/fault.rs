use std::fmt;

use arena_canon::json::Pointer;

/// One thing that is wrong with a document, at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Pointer,
    /// What is wrong there and what would be right.
    pub message: String,
}

/// Everything that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names of members are the document's.
        match self.at.as_str() {
            "" => write!(f, "(document): {}", self.message),
            at => write!(f, "{}: {}", at.escape_debug(), self.message),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.0.iter().enumerate() {
            let line_break = if i == 0 { "" } else { "\n" };
            write!(f, "{line_break}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

/// Most faults kept; a document can be wrong in a million places.
const FAULTS_MAX: usize = 200;

/// Collects faults and counts those beyond what anybody would read.
#[derive(Debug, Default)]
pub(super) struct Collector {
    kept: Vec<Fault>,
    dropped: usize,
}

impl Collector {
    pub(super) fn add(&mut self, at: &Pointer, message: impl Into<String>) {
        if self.kept.len() < FAULTS_MAX {
            self.kept.push(Fault { at: at.clone(), message: message.into() });
        } else {
            self.dropped += 1;
        }
    }

    /// `read`, if nothing was wrong.
    pub(super) fn judge<T>(mut self, read: Option<T>) -> Result<T, Faults> {
        if self.dropped > 0 {
            let message = format!("{} more faults are not shown", self.dropped);
            self.kept.push(Fault { at: Pointer::default(), message });
        }
        match read {
            Some(read) if self.kept.is_empty() => Ok(read),
            _ => Err(Faults(self.kept)),
        }
    }
}
