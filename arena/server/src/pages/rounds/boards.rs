//! `/boards`: what is called for, and what was submitted for it.

use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::round::Stage;

use super::{See, company_path, phase_words, round_path, stage_chip, state_chip, submission_path};
use crate::instance::rounds::{Seen, phase_ends, submission_id};
use crate::pages::{
    Cell, Column, Markup, Page, Row, agent_link, data_table, empty_state, guest, html, link, money,
};

/// Submissions of the page.
const SUBMISSIONS_MAX: usize = 50;

/// The calls, those that are open first, and the newest submissions.
pub(crate) fn boards_page(see: &See<'_>, rounds: &[Seen<'_>]) -> Markup {
    let is_over = |seen: &&Seen<'_>| {
        matches!(seen.round.stage(see.now), Stage::Draft | Stage::Final | Stage::Cancelled)
    };
    let (over, open): (Vec<_>, Vec<_>) = rounds.iter().partition(is_over);
    let body = html! {
        h2 { "Open calls" }
        @if open.is_empty() {
            (empty_state("Nothing is called for now.", Some(("See all rounds", "/rounds"))))
        } @else {
            (calls(see, "open-calls", "Calls of rounds that run or are announced", &open))
        }
        @if !over.is_empty() {
            h2 { "Earlier calls" }
            (calls(see, "earlier-calls", "Calls of rounds that are over", &over))
        }
        h2 { "Submissions" }
        (submissions(see, rounds))
    };
    Page::new("Boards", "/boards", body)
        .description("What is called for, on which terms, and what was submitted.")
        .standfirst(html! {
            p { "Each round is a call: an artifact for each window, a stake with it, and prizes for what holds. "
                a href="/rules/sprint-v1" { "The rules" } "." }
        })
        .trail(&[("Rounds", "/rounds")])
        .viewer(see.frame())
        .render()
}

fn calls(see: &See<'_>, id: &str, caption: &str, rounds: &[&Seen<'_>]) -> Markup {
    let columns = [
        Column::name("Call"),
        Column::words("Stage"),
        Column::words("Now"),
        Column::number("Hold").unit("atomic"),
        Column::number("Least stake").unit("atomic"),
        Column::number("First prize").unit("atomic"),
        Column::number("Companies"),
    ];
    let rows = rounds.iter().map(|seen| {
        let terms = seen.round.terms();
        let (phase, window) = terms.timetable.at(terms.start, see.now);
        let now = html! {
            @if let Some(window) = window { (window.name()) ": " }
            (phase_words(phase))
            @if let Some(ends) = phase_ends(seen.round, see.now) { " until " (see.time(ends)) }
        };
        let first = terms.prizes.placements.first();
        let cells: [Cell; 7] = [
            link(&round_path(&terms.id), &guest(&terms.title, 200)).into(),
            stage_chip(seen.round.stage(see.now)).into(),
            now.into(),
            money(&terms.hold_cap.to_string(), terms.asset.as_str()).into(),
            money(&terms.stake_min.to_string(), terms.asset.as_str()).into(),
            first.map_or_else(
                || Cell::none("none"),
                |first| money(&first.to_string(), terms.asset.as_str()).into(),
            ),
            Cell::from(i64::try_from(seen.round.entrants().len()).unwrap_or(i64::MAX)),
        ];
        Row::new(cells).key(terms.id.clone())
    });
    data_table(id, &html! { (caption) }, &columns, rows)
}

/// What everybody may know of a submission here.
struct Listed<'a> {
    at: Moment,
    company: &'a str,
    window: Window,
    seen: &'a Seen<'a>,
}

fn submissions(see: &See<'_>, rounds: &[Seen<'_>]) -> Markup {
    let mut all: Vec<Listed<'_>> = Vec::new();
    for seen in rounds {
        for company in seen.round.entrants().keys() {
            let Ok(entrant) = seen.of(company).entrant(company) else { continue };
            let found = Window::ALL.iter().filter_map(|window| Some((*window, entrant.submission(*window)?)));
            all.extend(found.map(|(window, it)| Listed { at: it.frozen().at, company, window, seen }));
        }
    }
    if all.is_empty() {
        return empty_state("Nothing was submitted yet.", None);
    }
    all.sort_by_key(|listed| std::cmp::Reverse(listed.at));
    let count = all.len();
    let columns = [
        Column::name("Submission"),
        Column::words("Company"),
        Column::words("State"),
        Column::words("Claim"),
        Column::words("Received"),
    ];
    let rows = all.iter().take(SUBMISSIONS_MAX).filter_map(|listed| row(see, listed));
    html! {
        (data_table("submissions", &html! { "Submissions, the newest first" }, &columns, rows))
        @if count > SUBMISSIONS_MAX {
            p.quiet { "The newest " (SUBMISSIONS_MAX) " of " (count) "; the others are on the pages of their windows." }
        }
    }
}

fn row(see: &See<'_>, listed: &Listed<'_>) -> Option<Row> {
    let Listed { company, window, seen, .. } = *listed;
    let round = seen.of(company);
    let frozen = round.entrant(company).ok()?.submission(window)?.frozen();
    let record = round.record(company, window, see.now).ok()?;
    let id = &round.terms().id;
    let path = submission_path(&submission_id(id, company, window));
    let row = Row::new([
        link(&path, &html! { (window.name()) " of " (id) }).into(),
        agent_link(&company_path(company), company).into(),
        state_chip(record.state().name()).into(),
        guest(&frozen.package.claim_summary, 1_000).into(),
        see.time(frozen.at).into(),
    ]);
    Some(if seen.own == Some(company) { row.mine() } else { row })
}
