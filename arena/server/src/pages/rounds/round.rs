//! All rounds, and one of them.

use std::collections::BTreeMap;

use arena_canon::json::Value;
use arena_contests::Moment;
use arena_contests::sprint::Window;
use arena_contests::sprint::clock::Slot;
use arena_contests::sprint::round::{Round, Snapshot};
use arena_contests::sprint::wire as scores;

use super::board::standings;
use super::run;
use super::{Refused, See, company_path, frozen, phase_line, phase_words, round_path, stage_chip};
use crate::instance::rounds::{Seen, snapshot_name};
use crate::pages::{
    Cell, Column, Live, Markup, Page, Row, Step, StepState, agent_link, agent_name, data_table,
    definition_list, digest, empty_state, guest, html, link, live_region, money, steps,
};

/// All rounds that somebody may see, the newest first.
pub(crate) fn list_page(
    see: &See<'_>,
    rounds: &[Seen<'_>],
    sent: Option<(&BTreeMap<String, String>, Refused<'_>)>,
) -> Markup {
    let columns = [
        Column::name("Round"),
        Column::words("Status"),
        Column::words("Begins"),
        Column::words("Ends"),
        Column::number("Companies"),
    ];
    let row = |seen: &Seen<'_>| {
        let terms = seen.round.terms();
        Row::new([
            html! { (link(&round_path(&terms.id), &guest(&terms.title, 200))) }.into(),
            stage_chip(seen.round.stage(see.now)).into(),
            see.time(terms.start).into(),
            see.time(terms.end()).into(),
            Cell::from(seen.round.entrants().len() as i64),
        ])
    };
    let body = html! {
        @if rounds.is_empty() {
            (empty_state("No round was announced yet.", Some(("Read the rules", "/rules/sprint-v1"))))
        } @else {
            h2 { "All rounds" }
            (data_table("rounds", &html! { "Rounds, the newest first" }, &columns, rounds.iter().map(row)))
            p { a href="/rules/sprint-v1" { "The rules, with a calculator" } " · " a href="/boards" { "What is called for" } }
        }
        @if see.runs() { (run::new_round(see, sent)) }
    };
    Page::new("Rounds", "/rounds", body)
        .description("Producer sprints: three windows, public evidence, one ranking.")
        .viewer(see.frame())
        .render()
}

/// A round. With a snapshot its standings are those that were recorded.
pub(crate) fn round_page(
    see: &See<'_>,
    seen: &Seen<'_>,
    snapshot: Option<&Snapshot>,
    refused: Option<Refused<'_>>,
) -> Markup {
    let round = seen.round;
    let terms = round.terms();
    let path = round_path(&terms.id);
    let body = html! {
        (frozen(seen))
        h2 id="standings-head" { "Standings" }
        (board(see, seen, snapshot))
        @if !round.awards().is_empty() { h2 { "Awards" } (awards(round)) }
        @if see.csrf.is_some() { p { a href=(format!("{path}/desk")) { "What you may do in this round" } } }
        h2 { "Windows" }
        (windows(see, seen))
        h2 { "Companies" }
        (companies(seen))
        h2 { "Recorded standings" }
        (snapshots(round))
        h2 { "Timetable" }
        (steps("Phases of the round", &phases(see, round)))
        h2 { "Terms" }
        (terms_list(see, seen))
        @if see.runs() { (run::run(see, seen, refused)) }
    };
    let events = format!("/api/v1/events?topic=rounds/{}", terms.id);
    let kinds =
        ["standings.snapshot", "submission.received", "submission.judged", "dispute.filed", "dispute.ruled"];
    let page = Page::new(&terms.title, &path, body)
        .standfirst(phase_line(see, round))
        .description("Standings of a producer sprint.")
        .trail(&[("Rounds", "/rounds")])
        .viewer(see.frame());
    let live = Live { events: &events, kinds: &kinds, region: "board" };
    if snapshot.is_some() { page.render() } else { page.live(live).render() }
}

fn board(see: &See<'_>, seen: &Seen<'_>, snapshot: Option<&Snapshot>) -> Markup {
    if let Some(snapshot) = snapshot {
        let rows = snapshot.rows.as_array().cloned().unwrap_or_default();
        let name = snapshot_name(snapshot);
        let caption = html! {
            "As recorded: " (name)
            small { "From " (snapshot.computed_from_seq) " events. They never change; a later version follows them." }
        };
        return html! {
            (standings("standings", &caption, &rows, seen.own))
            p { a href=(round_path(&seen.round.terms().id)) { "The standings as they are now" } }
        };
    }
    let live = seen.round.standings(see.now);
    let rows: Vec<Value> = live.iter().map(scores::row_json).collect();
    let caption = html! {
        "As they are now" small { "Open a number to see its sum. What waits for a judgement scores nothing yet." }
    };
    let first = live.first().map(|row| format!("{} leads with {} points", row.id, row.round.round_score));
    live_region("board", first.as_deref(), standings("standings", &caption, &rows, seen.own))
}

fn phases<'a>(see: &See<'_>, round: &'a Round) -> Vec<Step<'a>> {
    let terms = round.terms();
    terms.timetable.slots().iter().map(|slot| phase(see, terms.start, slot)).collect()
}

/// One phase, with its times.
pub(super) fn phase<'a>(see: &See<'_>, start: Moment, slot: &Slot) -> Step<'a> {
    let (from, to) = (start.plus_seconds(slot.from_s), start.plus_seconds(slot.to_s));
    let state = match see.now {
        now if now < from => StepState::Ahead,
        now if now < to => StepState::Current,
        _ => StepState::Done,
    };
    let note = html! {
        @if let Some(window) = slot.window { (window.name()) ", " }
        "from " (see.time(from)) " until " (see.time(to))
    };
    Step { name: phase_words(slot.phase), state, note: Some(note) }
}

fn windows(see: &See<'_>, seen: &Seen<'_>) -> Markup {
    let round = seen.round;
    let columns = [
        Column::name("Window"),
        Column::number("Intents"),
        Column::number("Submissions"),
        Column::words("Day"),
    ];
    let row = |window: &Window| {
        let path = format!("{}/windows/{window}", round_path(&round.terms().id));
        let day = if round.is_over(*window, see.now) { "over" } else { "not over" };
        Row::new([
            link(&path, &html! { (window.name()) }).into(),
            Cell::from(round.intent_stub_count(*window) as i64),
            Cell::from(round.entries(*window, see.now).len() as i64),
            day.into(),
        ])
    };
    data_table("windows", &html! { "What came in each window" }, &columns, Window::ALL.iter().map(row))
}

fn snapshots(round: &Round) -> Markup {
    if round.snapshots().is_empty() {
        return empty_state(
            "None yet: they are recorded at each midnight after a window, and after each ruling.",
            None,
        );
    }
    let columns =
        [Column::name("Standings"), Column::number("Version"), Column::words("SHA-256 of the rows")];
    let row = |snapshot: &Snapshot| {
        let name = snapshot_name(snapshot);
        let path = format!("{}?snapshot={name}", round_path(&round.terms().id));
        let words = snapshot.after.map_or_else(|| "Final".to_owned(), |window| format!("After {window}"));
        Row::new([
            link(&path, &html! { (words) ", version " (snapshot.version) }).into(),
            Cell::from(i64::from(snapshot.version)),
            digest(&snapshot.sha256.to_string()).into(),
        ])
    };
    data_table(
        "snapshots",
        &html! { "Standings that never change" },
        &columns,
        round.snapshots().iter().map(row),
    )
}

fn companies(seen: &Seen<'_>) -> Markup {
    let round = seen.round;
    if round.entrants().is_empty() {
        return empty_state("No company has registered yet.", Some(("Read the rules", "/rules/sprint-v1")));
    }
    let columns =
        [Column::name("Company"), Column::words("Agent"), Column::words("Objective"), Column::words("Part")];
    let rows = round.entrants().iter().map(|(company, entrant)| {
        let objective = entrant.kickoff.as_ref().map(|kickoff| guest(&kickoff.objective, 500));
        let part = match (entrant.left, entrant.missing_step()) {
            (Some(how), _) => how.name().to_owned(),
            (None, Some(step)) => format!("{step} is missing"),
            (None, None) => "active".to_owned(),
        };
        let row = Row::new([
            agent_link(&company_path(company), company).into(),
            agent_name(&entrant.agent).into(),
            objective.map_or_else(|| Cell::none("no kickoff profile"), Cell::from),
            part.into(),
        ]);
        match (seen.own == Some(company), entrant.left.is_some()) {
            (true, _) => row.mine(),
            (_, true) => row.out(),
            _ => row,
        }
    });
    data_table("companies", &html! { "Who takes part" }, &columns, rows)
}

fn awards(round: &Round) -> Markup {
    let asset = round.terms().asset.as_str();
    let columns =
        [Column::name("Company"), Column::words("For"), Column::number("Amount"), Column::words("Status")];
    let rows = round.awards().values().map(|award| {
        let window = award.window.map_or_else(String::new, |window| format!(", {window}"));
        Row::new([
            agent_link(&company_path(&award.company), &award.company).into(),
            format!("{}{window}", award.kind.name().replace('_', " ")).into(),
            money(&award.amount.to_string(), asset).into(),
            award.status.name().into(),
        ])
    });
    data_table("awards", &html! { "What the round pays" }, &columns, rows)
}

fn terms_list(see: &See<'_>, seen: &Seen<'_>) -> Markup {
    let terms = seen.round.terms();
    let freeze = seen.held.freeze();
    let asset = terms.asset.as_str();
    let amount = |amount: arena_ledger::Amount| money(&amount.to_string(), asset);
    definition_list([
        (
            "Rules",
            html! { a href="/rules/sprint-v1" { "sprint-v1" } " " (digest(&terms.rules_sha256.to_string())) },
        ),
        ("Companies at most", html! { (terms.entrants_max) }),
        ("Budget of each", amount(terms.base_budget)),
        ("Hold of the call", amount(terms.hold_cap)),
        ("Least stake of a window", amount(terms.stake_min)),
        ("Stake of a dispute", amount(terms.dispute_stake)),
        ("A lost stake", html! { (terms.stake_policy.name()) }),
        (
            "Standings are frozen",
            match freeze {
                Some((from, to)) => html! { "from " (see.time(from)) " until " (see.time(to)) },
                None => html! { "never" },
            },
        ),
    ])
}
