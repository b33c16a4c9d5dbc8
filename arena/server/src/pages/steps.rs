//! States in their order, with the one that is now.

use maud::{Markup, html};

/// Where a state is in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepState {
    /// Behind.
    Done,
    /// Now. At most one of a list.
    Current,
    /// To come.
    Ahead,
    /// Did not and will not happen.
    Skipped,
}

impl StepState {
    const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Current => "current",
            Self::Ahead => "ahead",
            Self::Skipped => "skipped",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Current => "now",
            Self::Ahead => "to come",
            Self::Skipped => "skipped",
        }
    }
}

/// One state.
#[derive(Debug, Clone)]
pub(crate) struct Step<'a> {
    /// Its name; ours.
    pub(crate) name: &'a str,
    /// Where it is in time.
    pub(crate) state: StepState,
    /// When it began or will ([`super::time_tag`]), and what happened in it or may be done now.
    pub(crate) note: Option<Markup>,
}

/// The states as an ordered list; `label` names the list for those who hear the page.
pub(crate) fn steps(label: &str, list: &[Step<'_>]) -> Markup {
    html! {
        ol.steps aria-label=(label) {
            @for step in list {
                li.(step.state.class()) aria-current=[(step.state == StepState::Current).then_some("step")] {
                    span.name { (step.name) } " " span.state { "(" (step.state.words()) ")" }
                    @if let Some(note) = &step.note { p { (note) } }
                }
            }
        }
    }
}
