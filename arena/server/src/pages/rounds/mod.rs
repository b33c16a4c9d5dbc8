//! The pages of the producer sprint: rounds, windows, companies, submissions, the Town, the Locker, the Treasury and
//! the rules. They show what [`crate::instance::rounds::visible`] gives, and ask for nothing else.

mod board;
mod boards;
mod company;
mod desk;
mod judge;
mod rails;
mod round;
mod rules;
mod run;
mod submission;
mod window;

use arena_contests::Moment;
use arena_contests::sprint::clock::Phase;
use arena_contests::sprint::round::{Round, Stage};

use crate::instance::rounds::Seen;
use crate::pages::{Mark, Markup, chip, html, layout, path_segment, time_tag};
use crate::problem::Problem;

pub(crate) use boards::boards_page;
pub(crate) use company::company_page;
pub(crate) use desk::{
    ARTIFACT_FORM, DESK_COMMANDS, Filled, at_fields, command_of, desk_page, members_of, sent_form,
    version_of_form,
};
pub(crate) use judge::{JUDGE, Sent, form_of, ruling_of, verdict_of};
pub(crate) use rails::{artifact_page, town_page, treasury_page};
pub(crate) use round::{list_page, round_page};
pub(crate) use rules::{CALCULATOR, question_of, rules_page};
pub(crate) use run::{asked, terms_of};
pub(crate) use submission::{DISPUTE, submission_page};
pub(crate) use window::window_page;

/// Who looks, and when.
#[derive(Clone, Copy)]
pub(crate) struct See<'a> {
    pub(crate) name: &'a str,
    /// The token of the session, where there is one.
    pub(crate) csrf: Option<&'a str>,
    /// Whether it runs the platform.
    pub(crate) is_admin: bool,
    pub(crate) now: Moment,
}

impl<'a> See<'a> {
    fn frame(&self) -> Option<layout::Viewer<'a>> {
        Some(layout::Viewer { name: self.name, csrf: self.csrf? })
    }

    /// Whether the forms of those who judge are for the viewer.
    fn judges(&self, seen: &Seen<'_>) -> bool {
        seen.is_staff && !self.is_admin && self.csrf.is_some()
    }

    /// Whether the forms of whoever runs the platform are for the viewer.
    fn runs(&self) -> bool {
        self.is_admin && self.csrf.is_some()
    }

    fn time(&self, at: Moment) -> Markup {
        time_tag(at.unix_ms(), self.now.unix_ms())
    }
}

/// A form that was refused: what was typed, and why.
#[derive(Clone, Copy)]
pub(crate) struct Refused<'a> {
    pub(crate) text: &'a str,
    pub(crate) problem: &'a Problem,
}

impl Refused<'_> {
    /// In one sentence, with what is wrong with the text itself.
    fn why(&self) -> String {
        let errors = self.problem.errors().iter().map(|error| error.detail.clone());
        let all: Vec<String> = std::iter::once(self.problem.detail().to_owned()).chain(errors).collect();
        all.join("; ")
    }
}

fn round_path(id: &str) -> String {
    format!("/rounds/{}", path_segment(id))
}

fn company_path(company: &str) -> String {
    format!("/companies/{}", path_segment(company))
}

fn submission_path(id: &str) -> String {
    format!("/submissions/{id}")
}

fn stage_chip(stage: Stage) -> Markup {
    let mark = match stage {
        Stage::Running => Mark::Accepted,
        Stage::Announced | Stage::Closing => Mark::Pending,
        Stage::Draft | Stage::Final => Mark::Plain,
        Stage::Cancelled => Mark::Order,
    };
    chip(mark, stage.name())
}

/// The state of a window, by its word.
fn state_chip(state: &str) -> Markup {
    let (mark, words) = match state {
        "accepted" => (Mark::Accepted, "accepted"),
        "accepted_with_penalty" => (Mark::Appeal, "accepted with penalty"),
        "operator_assisted" => (Mark::Appeal, "operator assisted"),
        "rejected" => (Mark::Order, "rejected"),
        "reversed" => (Mark::Order, "reversed"),
        "late" => (Mark::Order, "late"),
        "disputed" => (Mark::Pending, "disputed"),
        "pending" => (Mark::Pending, "pending"),
        "missing" => (Mark::Plain, "missing"),
        _ => (Mark::Plain, "unknown"),
    };
    chip(mark, words)
}

const fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::BeforeRound => "Before the round",
        Phase::Registration => "Registration",
        Phase::PreWindow => "Kickoff profiles",
        Phase::Intent => "Intents",
        Phase::Execution => "Execution",
        Phase::Submission => "Submissions",
        Phase::Evaluation => "Judgements and disputes",
        Phase::Closeout => "Closeout",
        Phase::Final => "Over",
    }
}

/// What phase it is, until when.
fn phase_line(see: &See<'_>, round: &Round) -> Markup {
    let terms = round.terms();
    let (phase, window) = terms.timetable.at(terms.start, see.now);
    let ends = crate::instance::rounds::phase_ends(round, see.now);
    html! {
        p {
            (stage_chip(round.stage(see.now))) " "
            @if let Some(window) = window { (window.name()) ": " }
            (phase_words(phase))
            @if let Some(ends) = ends { " until " (see.time(ends)) }
        }
    }
}

/// The sentence of a freeze.
fn frozen(seen: &Seen<'_>) -> Markup {
    html! {
        @if let Some(notice) = seen.notice() {
            (crate::pages::notice(Mark::Pending, "Frozen.", html! { p { (notice) } }))
        }
    }
}
