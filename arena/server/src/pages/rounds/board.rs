//! The standings as a table. A cell opens the sum of its window, with every cap that bit.

use arena_canon::json::Value;
use arena_contests::sprint::Window;
use arena_contests::sprint::record::Penalty;

use super::{company_path, state_chip};
use crate::pages::{
    Cell, Column, Line, Mark, Markup, Row, Sum, agent_link, chip, data_table, empty_state, html,
    sum_breakdown,
};

/// Rows of standings, as the API gives them: live ones and recorded ones alike.
pub(super) fn standings(id: &str, caption: &Markup, rows: &[Value], own: Option<&str>) -> Markup {
    if rows.is_empty() {
        return empty_state("No company takes part yet.", None);
    }
    let columns = [
        Column::number("Rank"),
        Column::name("Company"),
        Column::number("Score").unit("points"),
        Column::number("W1").unit("points"),
        Column::number("W2").unit("points"),
        Column::number("W3").unit("points"),
        Column::number("Bonus").unit("points"),
        Column::words("First place"),
    ];
    let rows = rows.iter().map(|row| line(id, row, own));
    data_table(id, caption, &columns, rows)
}

fn line(table: &str, row: &Value, own: Option<&str>) -> Row {
    let company = row["id"].as_str().unwrap_or_default();
    let is_own = own == Some(company);
    let whole = |key: &str| Cell::from(row[key].as_i64().unwrap_or(0));
    let name = html! {
        (agent_link(&company_path(company), company))
        @if is_own { " " small { "(you)" } }
    };
    let windows =
        Window::ALL.iter().map(|window| window_cell(table, company, *window, &row["windows"][window.name()]));
    let mut cells = vec![whole("rank"), name.into(), whole("round_score")];
    cells.extend(windows);
    cells.push(whole("external_completion_bonus"));
    cells.push(eligibility(row).into());
    let row = Row::new(cells).key(company);
    if is_own { row.mine() } else { row }
}

fn eligibility(row: &Value) -> Markup {
    if row["first_place_eligible"] == true {
        return chip(Mark::Accepted, "eligible");
    }
    let reasons = row["ineligible_reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let reasons: Vec<&str> = reasons
        .map(|reason| match reason {
            "no_accepted_external_window" => "no accepted external window",
            "two_or_more_interventions" => "two or more interventions",
            other => other,
        })
        .collect();
    html! { (chip(Mark::Appeal, "not eligible")) " " small { (reasons.join(", ")) } }
}

fn window_cell(table: &str, company: &str, window: Window, score: &Value) -> Cell {
    let state = score["state"].as_str().unwrap_or_default();
    let id = format!("{table}-{company}-{window}");
    let of = format!("{company}, {window}");
    let content = html! {
        (window_sum(&id, &of, score))
        (state_chip(state))
    };
    if matches!(state, "pending" | "disputed") { Cell::held(content) } else { content.into() }
}

/// The sum of a window.
pub(super) fn window_sum(id: &str, of: &str, score: &Value) -> Markup {
    let whole = |key: &str| score[key].as_i64().unwrap_or(0);
    let total = whole("window_score");
    let is_scored = !matches!(score["state"].as_str(), Some("missing" | "pending"));
    let multiplier = whole("multiplier_pct");
    let factor = format!("{}.{:02}", multiplier / 100, multiplier % 100);
    let mut lines = Vec::new();
    if is_scored {
        lines = parts(score);
        let raw = whole("raw");
        let gives = (raw * multiplier).div_euclid(100);
        let is_disputed = score["state"] == "disputed";
        let cap = is_disputed.then(|| "scores nothing until somebody rules; its penalties wait".to_owned());
        lines.push(Line::Times { label: "for the state", factor: &factor, gives, cap });
        let mut running = gives;
        for penalty in penalties(score).filter(|_| !is_disputed) {
            running -= i64::from(penalty.points());
            let (label, points) = (penalty_words(penalty), i64::from(penalty.points()));
            lines.push(Line::Minus { label, points, gives: running, cap: None });
        }
    }
    sum_breakdown(&Sum { id, of, total, lines: &lines })
}

fn penalties(score: &Value) -> impl Iterator<Item = Penalty> {
    let names = score["penalties"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.filter_map(Penalty::named)
}

const fn penalty_words(penalty: Penalty) -> &'static str {
    match penalty {
        Penalty::Duplicate => "duplicate",
        Penalty::ClaimMismatch => "claim mismatch",
        Penalty::Reversal => "reversal",
        Penalty::UndisclosedIntervention => "undisclosed intervention",
        Penalty::DisclosureViolation => "disclosure violation",
    }
}

/// The four parts, and the cap of internal work.
fn parts(score: &Value) -> Vec<Line<'static>> {
    let whole = |key: &str| score[key].as_i64().unwrap_or(0);
    let bites = |cap: &str| score["caps"].as_array().into_iter().flatten().any(|it| it == cap);
    let capped = |cap: &str, words: &str| bites(cap).then(|| words.to_owned());
    let parts = [
        ("delivery", capped("delivery_zero_for_state", "0: nothing is delivered in this state")),
        ("evidence", None),
        ("continuity", capped("continuity_prev_window", "held by the window before it")),
        ("budget", capped("budget_intervention", "held by an intervention")),
    ];
    let sum: i64 = parts.iter().map(|(key, _)| whole(key)).sum();
    let plus = |(label, cap): (&'static str, Option<String>)| Line::Plus { label, points: whole(label), cap };
    let mut lines: Vec<Line<'static>> = parts.into_iter().map(plus).collect();
    if bites("internal_raw_cap") {
        let raw = whole("raw");
        let cap = Some(format!("stops at {raw}; {sum} were earned"));
        lines.push(Line::Minus {
            label: "internal work counts at most 60",
            points: sum - raw,
            gives: raw,
            cap,
        });
    }
    lines
}
