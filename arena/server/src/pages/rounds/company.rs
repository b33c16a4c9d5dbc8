//! A company over its rounds and windows.

use arena_contests::sprint::Window;
use arena_contests::sprint::wire as scores;

use super::board::window_sum;
use super::{See, round_path, state_chip, submission_path};
use crate::instance::rounds::{Seen, intents, line_of, submission_id};
use crate::pages::{
    Cell, Column, Markup, Page, Row, agent_name, data_table, definition_list, guest, html, link,
};

/// A company, in every round that somebody may see.
pub(crate) fn company_page(see: &See<'_>, company: &str, rounds: &[Seen<'_>]) -> Markup {
    let body = html! {
        @for seen in rounds {
            @let round = seen.of(company);
            @let terms = round.terms();
            h2 { (guest(&terms.title, 200)) }
            (super::frozen(seen))
            p { (link(&round_path(&terms.id), &html! { "The round" })) }
            @if let Ok(entrant) = round.entrant(company) {
                (definition_list([
                    ("Agent", agent_name(&entrant.agent)),
                    ("Objective", entrant.kickoff.as_ref().map_or_else(
                        || html! { "no kickoff profile yet" }, |kickoff| guest(&kickoff.objective, 500))),
                    ("Principal", guest(&entrant.team.principal, 100)),
                    ("Engineering coordinator", guest(&entrant.team.engineering_coordinator, 100)),
                    ("Engineering owner", guest(&entrant.team.engineering_owner, 100)),
                    ("Quality reviewer", guest(&entrant.team.quality_reviewer, 100)),
                    ("Stewardship", guest(&entrant.team.stewardship, 100)),
                ]))
            }
            (history(see, seen, company))
        }
    };
    let path = super::company_path(company);
    Page::new(company, &path, body).trail(&[("Rounds", "/rounds")]).viewer(see.frame()).render()
}

fn history(see: &See<'_>, seen: &Seen<'_>, company: &str) -> Markup {
    let round = seen.of(company);
    let id = &round.terms().id;
    let standing = line_of(seen.round, company, see.now);
    let columns = [
        Column::name("Window"),
        Column::words("Intent"),
        Column::words("Submission"),
        Column::number("Score").unit("points"),
    ];
    let rows = Window::ALL.iter().map(|window| {
        let intent = intents(seen, *window, see.now).into_iter().find(|(name, _)| *name == company);
        let record = round.record(company, *window, see.now);
        let has = round.entrant(company).is_ok_and(|entrant| entrant.submission(*window).is_some());
        let submission = html! {
            @if let Ok(record) = &record { (state_chip(record.state().name())) " " }
            @if has {
                (link(&submission_path(&submission_id(id, company, *window)), &html! { "Evidence of " (window.name()) }))
            }
        };
        let score = standing.as_ref().map(|line| {
            let score = scores::window_json(&line.round.windows[window.index()]);
            let table = format!("sum-{id}-{window}");
            Cell::from(window_sum(&table, &format!("{company}, {window}"), &score))
        });
        Row::new([
            window.name().into(),
            intent.map_or_else(|| Cell::none("nothing to read"), |(_, stub)| guest(&stub.objective, 500).into()),
            submission.into(),
            score.unwrap_or_else(|| Cell::none("not ranked")),
        ])
    });
    data_table(&format!("history-{id}"), &html! { "Windows of " (company) }, &columns, rows)
}
