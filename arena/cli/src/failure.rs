use std::fmt;

use arena_engine::campus::{Faults, Finding};
use arena_engine::{Excerpt, HostFault};

use crate::exit::Exit;
use crate::ink::{Ink, Tone};

/// Why a command could not do what it was asked to do. Printed as
///
/// ```text
/// error: cannot read pack `tow-spikes`: no such file, and no built-in pack has this name
///   hint: did you mean `two-spikes`?
/// ```
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    doing: String,
    why: String,
    /// Everything that is wrong, one by one, where it is more than one thing.
    details: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// `doing` follows "cannot", `why` follows the colon; both are fragments in lower case. Text
    /// from outside must come as an [`Excerpt`].
    pub fn new(exit: Exit, doing: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self { exit, doing: doing.to_string(), why: why.to_string(), details: Vec::new(), hint: None }
    }

    /// What was given cannot be used.
    pub fn usage(doing: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, doing, why)
    }

    /// The machine or arena itself failed.
    pub fn internal(doing: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self::new(Exit::Internal, doing, why)
    }

    /// Everything that is wrong with one document, told at once.
    pub fn faults(exit: Exit, doing: impl fmt::Display, document: &str, faults: Faults) -> Self {
        let why = match faults.0.len() {
            1 => "1 fault".to_owned(),
            many => format!("{many} faults"),
        };
        Self::new(exit, doing, why).details(faults.0.iter().map(|finding| place(document, finding)))
    }

    /// Lines that tell it one by one.
    #[must_use]
    pub(crate) fn details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }

    /// What to try instead.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The exit code it stands for.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The words after `error: `, for a result that holds them.
    pub fn message(&self) -> String {
        format!("cannot {}: {}", self.doing, self.why)
    }

    /// The lines for a person, in colour where `ink` has any.
    pub(crate) fn shown(&self, ink: Ink) -> String {
        let mut lines = vec![format!("{} {}", ink.paint(Tone::Bad, "error:"), self.message())];
        lines.extend(self.details.iter().map(|detail| format!("  {detail}")));
        lines.extend(self.hint.iter().map(|hint| format!("  {} {hint}", ink.paint(Tone::Strong, "hint:"))));
        lines.join("\n")
    }
}

/// `file#/json/pointer: what is wrong there`.
pub(crate) fn place(document: &str, finding: &Finding) -> String {
    let pointer = if finding.pointer.is_empty() { String::new() } else { format!("#{}", finding.pointer) };
    let pointer = Excerpt::line(&pointer).to_string();
    let message = Excerpt { text: &finding.message, max: 600 };
    format!("{document}{pointer}: {message}")
}

impl From<HostFault> for Failure {
    fn from(fault: HostFault) -> Self {
        Self::internal("go on", fault)
    }
}
