//! Pages of tournaments and strategies. What identities hide is not given to them before it may be shown.

mod list;
mod played;
mod strategies;
mod tournament;

use arena_contests::Moment;
use arena_tournament::Class;

use super::{Mark, Markup, chip, layout, time_tag};
use crate::auth::Viewer;
use crate::http::paging::Wanted;
use crate::instance::Instance;
use crate::instance::tournaments::{Status, Tournament};
use crate::problem::Problem;

pub(crate) use list::{document_of, list_page};
pub(crate) use played::match_page;
pub(crate) use strategies::{UPLOAD_FIELDS, strategies_page, strategy_page};
pub(crate) use tournament::tournament_page;

/// Who looks, at what, and when.
pub(crate) struct See<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) viewer: &'a Viewer,
    pub(crate) frame: Option<layout::Viewer<'a>>,
    /// The session's token, for forms.
    pub(crate) csrf: Option<&'a str>,
    pub(crate) now: Moment,
}

/// What was refused just now.
pub(crate) struct Refused<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) fields: &'a std::collections::BTreeMap<String, String>,
}

impl See<'_> {
    fn time(&self, at: Moment) -> Markup {
        time_tag(at.unix_ms(), self.now.unix_ms())
    }
}

/// The state of a tournament, in words and with a mark. `is_played`: right now.
fn status_chip(tournament: &Tournament, is_played: bool) -> Markup {
    match tournament.status() {
        Status::Draft => chip(Mark::Plain, "draft"),
        Status::Frozen => chip(Mark::Plain, "frozen, not started"),
        Status::Started if is_played => chip(Mark::Pending, "being played"),
        Status::Started => chip(Mark::Pending, "waits to be played"),
        Status::Over(Class::Success) => chip(Mark::Accepted, "success"),
        Status::Over(Class::Stalled) => chip(Mark::Appeal, "stalled"),
        Status::Over(Class::Blocked) => chip(Mark::Order, "blocked"),
        Status::Over(Class::Exhausted) => chip(Mark::Appeal, "exhausted"),
    }
}

fn path_of(tournament: &Tournament) -> String {
    format!("/tournaments/{}", tournament.id())
}

/// The cursor of this page of a list, as it stands in an address.
fn cursor_of(wanted: &Wanted) -> Option<String> {
    wanted.after.as_ref().map(|after| encoded(after))
}

fn encoded(place: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(place)
}

fn grouped(count: u64) -> String {
    super::chart::number::grouped_integer(&count.to_string()).unwrap_or_default()
}
