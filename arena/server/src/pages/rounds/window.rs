//! One window: its phases, its intents, what was submitted.

use arena_contests::sprint::Window;

use super::round::phase;
use super::{See, company_path, frozen, phase_line, round_path, state_chip, submission_path};
use crate::instance::rounds::{Seen, intents, submission_id};
use crate::pages::{
    Cell, Column, Markup, Page, Row, Step, agent_link, data_table, empty_state, guest, html, link, steps,
};

/// A window of a round.
pub(crate) fn window_page(see: &See<'_>, seen: &Seen<'_>, window: Window) -> Markup {
    let round = seen.round;
    let terms = round.terms();
    let root = round_path(&terms.id);
    let slots = terms.timetable.slots().iter().filter(|slot| slot.window == Some(window));
    let phases: Vec<Step<'_>> = slots.map(|slot| phase(see, terms.start, slot)).collect();
    let body = html! {
        (frozen(seen))
        h2 { "Phases" }
        (steps("Phases of the window", &phases))
        h2 { "Submissions" }
        (submissions(see, seen, window))
        h2 { "Intents" }
        (planned(see, seen, window))
    };
    let title = format!("{window} of {}", terms.title);
    Page::new(&title, &format!("{root}/windows/{window}"), body)
        .standfirst(phase_line(see, round))
        .trail(&[("Rounds", "/rounds"), (&terms.title, &root)])
        .viewer(see.frame())
        .render()
}

fn submissions(see: &See<'_>, seen: &Seen<'_>, window: Window) -> Markup {
    let id = &seen.round.terms().id;
    let columns = [
        Column::name("Company"),
        Column::words("State"),
        Column::words("Class"),
        Column::words("Received"),
        Column::number("Revision"),
        Column::words("Submission"),
    ];
    let mut rows = Vec::new();
    for company in seen.round.entrants().keys() {
        let round = seen.of(company);
        let Ok(entrant) = round.entrant(company) else { continue };
        let (Some(submission), Ok(record)) =
            (entrant.submission(window), round.record(company, window, see.now))
        else {
            continue;
        };
        let frozen = submission.frozen();
        let path = submission_path(&submission_id(id, company, window));
        let row = Row::new([
            agent_link(&company_path(company), company).into(),
            state_chip(record.state().name()).into(),
            frozen.package.class.name().replace('_', " ").into(),
            see.time(frozen.at).into(),
            Cell::from(submission.revisions().len() as i64),
            link(&path, &html! { "Evidence of " (company) }).into(),
        ]);
        rows.push(if seen.own == Some(company) { row.mine() } else { row });
    }
    if rows.is_empty() {
        return empty_state("Nothing was submitted for this window.", None);
    }
    data_table("submissions", &html! { "Submissions of " (window.name()) }, &columns, rows)
}

fn planned(see: &See<'_>, seen: &Seen<'_>, window: Window) -> Markup {
    let count = seen.round.intent_stub_count(window);
    let shown = intents(seen, window, see.now);
    let columns = [
        Column::name("Company"),
        Column::words("Objective"),
        Column::words("Class"),
        Column::words("Owner and reviewer"),
        Column::number("Revision"),
    ];
    let rows = shown.iter().map(|(company, stub)| {
        let row = Row::new([
            agent_link(&company_path(company), company).into(),
            guest(&stub.objective, 500).into(),
            stub.planned_class.name().replace('_', " ").into(),
            html! { (guest(&stub.owner, 100)) ", " (guest(&stub.reviewer, 100)) }.into(),
            Cell::from(i64::from(stub.revision)),
        ]);
        if seen.own == Some(*company) { row.mine() } else { row }
    });
    html! {
        p { "Intents that were written: " (count) ". Their texts are public after the cut-off." }
        @if shown.is_empty() {
            (empty_state("No intent of this window can be read now.", None))
        } @else {
            (data_table("intents", &html! { "Intents of " (window.name()) }, &columns, rows))
        }
    }
}
