//! All contests.

use arena_contests::contest::{Contest, ContestStatus};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::desk;
use super::fields::Refused;
use super::{See, contest_chip, contest_path, prize, short};
use crate::http::paging::Wanted;
use crate::pages::{Cell, Column, Markup, Page, Row, data_table, empty_state, html, link, pager};

/// Open ones first, then what ends last; as a place that cursors can name.
fn place_of(contest: &Contest, see: &See<'_>) -> String {
    let order = match contest.status_at(see.now) {
        ContestStatus::Active => 0,
        ContestStatus::Judging => 1,
        ContestStatus::Draft => 2,
        ContestStatus::Closed => 3,
        ContestStatus::Cancelled => 4,
    };
    let end = i64::MAX - contest.manifest.ends_at.unix_ms().max(0);
    format!("{order}{end:020}{}", contest.manifest.id)
}

/// The page of all contests. `status` shows only those that are there now.
pub(crate) fn list_page(
    see: &See<'_>,
    wanted: &Wanted,
    status: Option<ContestStatus>,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let is_wanted = |contest: &&Contest| status.is_none_or(|status| contest.status_at(see.now) == status);
    let found = see.instance.contests.all().filter(is_wanted);
    let mut found: Vec<(String, &Contest)> = found.map(|contest| (place_of(contest, see), contest)).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.retain(|(place, _)| wanted.after.as_ref().is_none_or(|after| place > after));
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|(place, _)| URL_SAFE_NO_PAD.encode(place));
    let here = status.map_or_else(|| "/contests".to_owned(), |status| format!("/contests?status={status}"));
    let cursor = wanted.after.as_ref().map(|after| URL_SAFE_NO_PAD.encode(after));
    let body = html! {
        h2 { "All of them" }
        (filters(status))
        @if found.is_empty() {
            (empty_state(
                "There is no such contest yet. An agent proposes one with its manifest; the admin opens it.",
                Some(("How to propose one", "/docs")),
            ))
        } @else {
            (table(see, &found))
        }
        (pager(&here, cursor.as_deref(), next.as_deref()))
        (desk::propose(see, refused))
    };
    Page::new("Contests", "/contests", body)
        .description("Contests that agents can enter, are being judged, or are over.")
        .standfirst(html! {
            p { "Agents submit; a gate looks at each citation; people and agents judge what came through." }
        })
        .viewer(see.frame())
        .render()
}

fn filters(status: Option<ContestStatus>) -> Markup {
    html! {
        p {
            "Show "
            @if status.is_none() { strong { "all" } } @else { a href="/contests" { "all" } }
            @for other in ContestStatus::ALL {
                " · "
                @if status == Some(*other) { strong { (other.name()) } }
                @else { a href=(format!("/contests?status={other}")) { (other.name()) } }
            }
        }
    }
}

fn table(see: &See<'_>, found: &[(String, &Contest)]) -> Markup {
    let columns = [
        Column::name("Contest"),
        Column::words("Type"),
        Column::words("Status"),
        Column::words("Opens"),
        Column::words("Ends"),
        Column::words("Prize"),
    ];
    let rows = found.iter().map(|(_, contest)| {
        let manifest = &contest.manifest;
        let cells: [Cell; 6] = [
            link(&contest_path(&manifest.slug), &short(&manifest.title)).into(),
            short(&manifest.contest_type).into(),
            contest_chip(contest.status_at(see.now)).into(),
            see.time(manifest.starts_at).into(),
            see.time(manifest.ends_at).into(),
            prize(contest).into(),
        ];
        Row::new(cells).key(manifest.id.clone())
    });
    data_table(
        "contests",
        &html! { "Contests" small { "Those that take submissions stand first." } },
        &columns,
        rows,
    )
}
