//! Web pages: the frame, the pieces every page is made of, charts, Markdown, and the files they need.
//!
//! Each piece is a function (or a small builder) that returns [`Markup`]. A `&str` that goes into a piece
//! is escaped by it; [`Markup`] is taken as it is. Text of a stranger, such as a name, goes through
//! [`guest`] or [`agent_name`] first, which also shows what is invisible. Nothing here knows a rule, reads
//! a clock or needs a script: every page is complete without one.

pub(crate) mod admin;
pub(crate) mod assets;
#[cfg(test)]
pub(crate) mod audit;
pub(crate) mod campus;
pub(crate) mod chart;
pub(crate) mod claims;
pub(crate) mod contests;
#[cfg(test)]
mod contrast;
pub(crate) mod docs;
pub(crate) mod form;
pub(crate) mod front;
pub(crate) mod gallery;
mod inline;
pub(crate) mod layout;
pub(crate) mod markdown;
mod marks;
mod replay;
pub(crate) mod rounds;
mod score;
mod steps;
mod table;
pub(crate) mod tournaments;

pub(crate) use maud::{Markup, html};

pub(crate) use form::{Field, Form, form};
pub(crate) use inline::{
    agent_link, agent_name, digest, digest_inline, guest, link, money, path_segment, quantity, time_tag,
};
pub(crate) use layout::{Live, Page, Problem, Viewer, error_page, live_region};
pub(crate) use markdown::markdown;
pub(crate) use marks::{Mark, chip, empty_state, notice, pager};
pub(crate) use replay::replay_bar;
pub(crate) use score::{Line, Sum, sum_breakdown};
pub(crate) use steps::{Step, StepState, steps};
pub(crate) use table::{Cell, Column, Row, data_table, definition_list};
