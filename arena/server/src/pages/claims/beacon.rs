//! Where the luck of claims comes from, and who has a part in it. It shows what the API tells the same viewer.

use arena_canon::json::Value;

use super::{figure, list, plain, text};
use crate::pages::{Cell, Column, Markup, Row, agent_name, data_table, digest, html, money};

/// The section of the page of all claims.
pub(super) fn section(beacon: &Value) -> Markup {
    let kind = text(beacon, "beacon");
    html! {
        h2 { "Where luck comes from" }
        p {
            "Records are signed for the instance " strong { (text(beacon, "instance")) } ". Draws take rounds of "
            strong { (kind) } @match kind {
                "hashchain" => ": each party reveals its part of a round when a draw has taken it, and who keeps it back pays.",
                "test" => ": rounds that everybody can compute, for trials alone.",
                _ => ": rounds that nobody knew when the draw was committed.",
            }
            " " a href="/api/v1/beacons" { "All of it as one document" } "."
        }
        @if !list(beacon, "parties").is_empty() { (parties(beacon)) }
    }
}

fn parties(beacon: &Value) -> Markup {
    let columns = [
        Column::name("Party"),
        Column::words("Anchor"),
        Column::number("Rounds"),
        Column::number("Stake"),
        Column::words("Revealed last"),
    ];
    let rows = list(beacon, "parties").iter().map(|party| {
        let revealed = &party["revealed"]["round"];
        let revealed = if revealed.is_null() { Cell::none("nothing yet") } else { plain(revealed).into() };
        Row::new([
            agent_name(text(party, "agent")).into(),
            digest(text(party, "anchor")).into(),
            figure::grouped(&party["rounds"]).into(),
            money(&plain(&party["stake"]), text(beacon, "asset")).into(),
            revealed,
        ])
    });
    let drawn = text(beacon, "drawn");
    let caption = html! {
        "Parties"
        small {
            "The operator's stands first. "
            @if drawn == "0" { "No draw has taken a round yet." } @else { "Draws have come to round " (drawn) "." }
        }
    };
    data_table("parties", &caption, &columns, rows)
}
