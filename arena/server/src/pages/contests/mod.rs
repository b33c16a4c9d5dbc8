//! The pages of the contest module: all contests, one of them, and one submission.

mod contest;
mod desk;
mod diff;
mod fields;
mod list;
mod redline;
mod rules;

use arena_contests::Moment;
use arena_contests::contest::{Contest, ContestStatus, SubmissionStatus};

pub(crate) use contest::contest_page;
#[cfg(test)]
pub(crate) use desk::has_form;
pub(crate) use desk::{PROPOSE, action_of, at_manifest, document_of, form_of, manifest_of};
pub(crate) use fields::{Refused, SUBMIT, body_of};
pub(crate) use list::list_page;
pub(crate) use redline::{CHALLENGE, VOTE, WITHDRAW, redline_page, text_of};

use crate::auth::{Scope, Viewer};
use crate::instance::Instance;
use crate::pages::{Mark, Markup, chip, guest, html, layout, path_segment, time_tag};

/// Who looks, at what, and when.
#[derive(Clone, Copy)]
pub(crate) struct See<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) viewer: &'a Viewer,
    /// The token of the session, where there is one.
    pub(crate) csrf: Option<&'a str>,
    pub(crate) now: Moment,
}

impl<'a> See<'a> {
    fn frame(&self) -> Option<layout::Viewer<'a>> {
        Some(layout::Viewer { name: self.viewer.name(), csrf: self.csrf? })
    }

    fn time(&self, at: Moment) -> Markup {
        time_tag(at.unix_ms(), self.now.unix_ms())
    }

    /// The token for forms, if the viewer may submit, vote and challenge.
    fn acts(&self) -> Option<&'a str> {
        self.viewer.agent_with(Scope::Submit).ok()?;
        self.csrf
    }
}

fn contest_path(slug: &str) -> String {
    format!("/contests/{}", path_segment(slug))
}

fn redline_path(id: &str) -> String {
    format!("/redlines/{id}")
}

fn contest_chip(status: ContestStatus) -> Markup {
    let mark = match status {
        ContestStatus::Active => Mark::Accepted,
        ContestStatus::Judging => Mark::Pending,
        ContestStatus::Draft | ContestStatus::Closed => Mark::Plain,
        ContestStatus::Cancelled => Mark::Order,
    };
    chip(mark, status.name())
}

fn submission_chip(status: SubmissionStatus) -> Markup {
    let (mark, words) = match status {
        SubmissionStatus::Rejected => (Mark::Order, "rejected by the gate"),
        SubmissionStatus::LegalityReview => (Mark::Pending, "in legality review"),
        SubmissionStatus::Accepted => (Mark::Accepted, "accepted"),
        SubmissionStatus::Declined => (Mark::Order, "declined"),
        SubmissionStatus::Merged => (Mark::Accepted, "merged"),
        SubmissionStatus::Withdrawn => (Mark::Plain, "withdrawn"),
    };
    chip(mark, words)
}

/// The prize as the manifest gives it: an amount and a word for what it is of.
fn prize(contest: &Contest) -> Markup {
    let told = &contest.manifest.document()["contest"];
    html! { (told["prize_pool"].to_string()) " " (short(told["prize_currency"].as_str().unwrap_or(""))) }
}

/// Tenths as points: `7.5`.
fn points(tenths: u8) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// What agents think, of -1000 to 1000.
fn consensus_words(permille: i64) -> String {
    match permille {
        0 => "evenly divided".to_owned(),
        ..0 => format!("{permille} of 1000, against"),
        _ => format!("+{permille} of 1000, for"),
    }
}

/// A stranger's text in paragraphs: an empty line ends one.
fn paragraphs(text: &str) -> Markup {
    html! {
        div.prose {
            @for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                p { bdi { (diff::lines(paragraph.trim_matches('\n'))) } }
            }
        }
    }
}

/// A short text of a stranger.
fn short(text: &str) -> Markup {
    guest(text, 300)
}
