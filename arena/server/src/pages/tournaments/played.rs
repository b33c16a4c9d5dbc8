//! One match of a tournament that has succeeded, move by move.

use arena_canon::json::Value;

use super::{See, grouped, path_of};
use crate::instance::tournaments::{Tournament, moves_json};
use crate::pages::chart::number::decimal;
use crate::pages::{
    Cell, Column, Mark, Markup, Page, Row, chip, data_table, definition_list, digest, guest, html, link,
    notice,
};
use crate::workshop::Card;

/// Moves of a matrix game in one row, and rows of a page.
const MOVES: usize = 50;
const ROWS_MAX: usize = 60;
/// Turns of a campus match that are shown.
const TURNS_MAX: usize = 300;

/// The page of a match.
pub(crate) fn match_page(see: &See<'_>, tournament: &Tournament, card: &Card, record: &Value) -> Markup {
    let told = moves_json(tournament, card, record);
    let id = told["match"].as_str().unwrap_or_default();
    let path = format!("{}/matches/{id}", path_of(tournament));
    let seats = [0, 1].map(|seat| Seat::of(&told, seat));
    let title = format!("{id}: {} against {}", seats[0].name, seats[1].name);
    let body = html! {
        h2 { "How it ended" }
        (facts(&told, &seats))
        (forfeits(&told, &seats))
        h2 { "Move by move" }
        @if told["moves"][0].is_string() { (letters(&told, &seats)) } @else { (actions(&told, &seats)) }
        p { "All of it as JSON: " (link(&format!("/api/v1{path}/moves"), &html! { "moves" })) "." }
    };
    let above = path_of(tournament);
    Page::new(&title, &path, body)
        .description("A match of a tournament, move by move.")
        .trail(&[("Tournaments", "/tournaments"), (tournament.text("title"), &above)])
        .viewer(see.frame)
        .render()
}

struct Seat {
    name: String,
    alias: String,
}

impl Seat {
    fn of(told: &Value, seat: usize) -> Self {
        let text = |member: &str| told["seats"][seat][member].as_str().unwrap_or("?").to_owned();
        Self { name: text("strategy"), alias: text("alias") }
    }

    fn shown(&self) -> Markup {
        html! { (guest(&self.name, 64)) " as " code { (self.alias) } }
    }
}

fn facts(told: &Value, seats: &[Seat; 2]) -> Markup {
    let outcome = match told["outcome"].as_str().unwrap_or_default() {
        "seat_0" => html! { (guest(&seats[0].name, 64)) " won" },
        "seat_1" => html! { (guest(&seats[1].name, 64)) " won" },
        other => guest(&other.replace('_', " "), 40),
    };
    let scenario = &told["scenario"];
    let scenario = match scenario["pack_id"].as_str() {
        Some(pack) => guest(pack, 64),
        None => {
            let payoff = |name: &str| scenario["payoffs"][name].as_i64().unwrap_or_default();
            let rounds = scenario["rounds"].as_u64().unwrap_or_default();
            html! {
                (grouped(rounds)) " rounds, R " (payoff("r")) ", S " (payoff("s")) ", T " (payoff("t")) ", P "
                (payoff("p"))
            }
        }
    };
    let number = |place: &Value| grouped(place.as_u64().unwrap_or_default());
    let fuel = |seat: usize| number(&told["fuel"][seat]["total"]);
    let mut facts = vec![
        ("First seat", seats[0].shown()),
        ("Second seat", seats[1].shown()),
        ("Played at", scenario),
        ("Time of this pair", html! { (number(&told["repetition"])) }),
        ("Score", html! { span.nowrap { (told["scores"][0]) " : " (told["scores"][1]) } }),
        ("Outcome", outcome),
        ("Fuel", html! { span.nowrap { (fuel(0)) " : " (fuel(1)) } }),
        ("Digest of the record", digest(told["digest"].as_str().unwrap_or_default())),
    ];
    if told["settlements"].is_array() {
        let stars = |seat: usize| number(&told["settlements"][seat]["stars"]);
        facts.insert(5, ("Stars", html! { span.nowrap { (stars(0)) " : " (stars(1)) } }));
    }
    definition_list(facts)
}

fn forfeits(told: &Value, seats: &[Seat; 2]) -> Markup {
    let forfeited = [0, 1].into_iter().filter(|seat| told["forfeits"][*seat].is_object());
    html! {
        @for seat in forfeited {
            @let forfeit = &told["forfeits"][seat];
            (notice(Mark::Appeal, "A forfeit", html! {
                p {
                    (guest(&seats[seat].name, 64)) " could not act any more from turn "
                    (forfeit["turn"].as_u64().unwrap_or_default()) " on: "
                    code { (guest(forfeit["code"].as_str().unwrap_or_default(), 40)) } "."
                }
            }))
        }
    }
}

/// `C` and `D`, some in a row.
fn letters(told: &Value, seats: &[Seat; 2]) -> Markup {
    let line = |seat: usize| told["moves"][seat].as_str().unwrap_or_default();
    let (first, second) = (line(0), line(1));
    let chunk = |line: &str, row: usize| {
        line.get(row * MOVES..((row + 1) * MOVES).min(line.len())).map(str::to_owned)
    };
    let rows_max = first.len().div_ceil(MOVES);
    let heads = seats.each_ref().map(|seat| format!("{} ({})", seat.name, seat.alias));
    let columns = [Column::name("Rounds"), Column::words(&heads[0]), Column::words(&heads[1])];
    let rows = (0..rows_max.min(ROWS_MAX)).map(|row| {
        let last = ((row + 1) * MOVES).min(first.len());
        let cell = |line: &str| Cell::from(html! { code { (chunk(line, row).unwrap_or_default()) } });
        let rounds = format!("{} to {}", row * MOVES + 1, last);
        Row::new([rounds.into(), cell(first), cell(second)])
    });
    let caption = html! { "Moves" small { "C is cooperate, D is defect; both are chosen at once." } };
    html! {
        (data_table("moves", &caption, &columns, rows))
        @if rows_max > ROWS_MAX { p { "The first " (ROWS_MAX * MOVES) " rounds of " (grouped(first.len() as u64)) "." } }
    }
}

/// The actions of both episodes, side by side.
fn actions(told: &Value, seats: &[Seat; 2]) -> Markup {
    let list = |seat: usize| told["moves"][seat].as_array().map(Vec::as_slice).unwrap_or_default();
    let (first, second) = (list(0), list(1));
    let turns = first.len().max(second.len());
    let heads = seats.each_ref().map(|seat| format!("{} ({})", seat.name, seat.alias));
    let columns = [Column::name("Turn"), Column::words(&heads[0]), Column::words(&heads[1])];
    let rows = (0..turns.min(TURNS_MAX)).map(|turn| {
        let cell = |moves: &[Value]| match moves.get(turn) {
            Some(action) => Cell::from(applied(action)),
            None => Cell::none("not played"),
        };
        Row::new([(turn as i64).into(), cell(first), cell(second)])
    });
    let caption = html! { "Actions" small { "As they were applied, in MW; limits that bit are counted." } };
    html! {
        (data_table("moves", &caption, &columns, rows))
        @if turns > TURNS_MAX { p { "The first " (TURNS_MAX) " turns of " (grouped(turns as u64)) "." } }
    }
}

fn applied(action: &Value) -> Markup {
    let applied = &action["applied"];
    let parts = [("curtail", "curtail_mw"), ("battery", "battery_mw"), ("generator", "diesel_mw")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(name, member)| {
            let value = applied[member].as_f64().filter(|value| *value != 0.0)?;
            Some(format!("{name} {}", decimal(value, 2)))
        })
        .collect();
    let clamps = action["clamps"].as_array().map_or(0, Vec::len);
    html! {
        @if parts.is_empty() { "nothing" } @else { (parts.join(", ")) }
        @if applied["accept_offer"] == true { ", accepts" }
        @if action["asked"].is_null() { " " (chip(Mark::Appeal, "forfeited")) }
        @if clamps > 0 { " " (chip(Mark::Appeal, if clamps == 1 { "1 limit bit" } else { "several limits bit" })) }
    }
}
