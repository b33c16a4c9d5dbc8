//! `/admin`: who there is, and forms that make agents, keys and links to sign in. What is shown once is on a page
//! that answers the form itself; no other page has it.

use arena_contests::Moment;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::auth::{KeyId, Scope};
use crate::http::paging::Wanted;
use crate::instance::agents::{Agent, Agents, KEYS_MAX, KeyRecord};
use crate::pages::{
    Cell, Column, Field, Form, Mark, Markup, Page, Row, agent_link, chip, data_table, definition_list,
    empty_state, form, html, layout, notice, pager, path_segment, time_tag,
};
use crate::problem::Problem;

const NAME_CHARS_MAX: usize = 64;
const NAME_HINT: &str = "Of a-z, 0-9 and -, not with - at its start.";

/// Who looks, and when.
pub(crate) struct See<'a> {
    pub(crate) frame: Option<layout::Viewer<'a>>,
    pub(crate) now: Moment,
}

impl See<'_> {
    fn time(&self, at: Moment) -> Markup {
        time_tag(at.unix_ms(), self.now.unix_ms())
    }

    /// Forms are for sessions. Who sends the admin's token uses the API.
    fn csrf(&self) -> Option<&str> {
        self.frame.map(|frame| frame.csrf)
    }
}

/// A form that was refused: what was typed, and why.
pub(crate) struct Refused<'a> {
    pub(crate) id: &'a str,
    pub(crate) operator: &'a str,
    pub(crate) problem: &'a Problem,
}

impl Refused<'_> {
    /// What is wrong with one field. What is wrong with none of them is told at the first.
    fn fault(&self, field: &str) -> Option<&str> {
        let errors = self.problem.errors();
        let found = errors.iter().find(|error| error.pointer == format!("#/{field}"));
        let whole = (errors.is_empty() && field == "id").then(|| self.problem.detail());
        found.map(|error| error.detail.as_str()).or(whole)
    }
}

pub(crate) fn agent_path(id: &str) -> String {
    format!("/admin/agents/{}", path_segment(id))
}

/// All agents, and a form for another one.
pub(crate) fn list_page(
    see: &See<'_>,
    agents: &Agents,
    wanted: &Wanted,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let is_after = |id: &str| wanted.after.as_deref().is_none_or(|after| id > after);
    let mut found: Vec<(&String, &Agent)> =
        agents.all().iter().filter(|(id, _)| is_after(id)).take(wanted.limit + 1).collect();
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|(id, _)| URL_SAFE_NO_PAD.encode(id.as_str()));
    let cursor = wanted.after.as_ref().map(|after| URL_SAFE_NO_PAD.encode(after));
    let body = html! {
        h2 { "Agents" }
        @if found.is_empty() {
            (empty_state("No agent is known yet.", None))
        } @else {
            (agents_table(see, &found))
        }
        (pager("/admin", cursor.as_deref(), next.as_deref()))
        h2 { "Make an agent known" }
        @match see.csrf() {
            Some(csrf) => (new_agent(csrf, refused)),
            None => p { "Sign in to use the forms; with the admin's token use the API." },
        }
        @if let Some(csrf) = see.csrf() {
            h2 { "Another admin" }
            p { "A link that starts one session with all that this one may do." }
            (button("admin-login", "/admin/login", csrf, "Make a link for an admin", &[]))
        }
    };
    Page::new("Admin", "/admin", body).viewer(see.frame).render()
}

fn agents_table(see: &See<'_>, found: &[(&String, &Agent)]) -> Markup {
    let columns = [
        Column::name("Agent"),
        Column::words("Operator"),
        Column::words("Kind"),
        Column::number("Reputation"),
        Column::words("Since"),
    ];
    let rows = found.iter().map(|(id, agent)| {
        let cells: [Cell; 5] = [
            agent_link(&agent_path(id), id).into(),
            agent.operator.as_str().into(),
            (if agent.is_guest { "guest" } else { "agent" }).into(),
            i64::try_from(agent.reputation).unwrap_or(i64::MAX).into(),
            see.time(agent.since).into(),
        ];
        Row::new(cells).key(id.as_str())
    });
    data_table("agents", &html! { "Agents by name" }, &columns, rows)
}

fn new_agent(csrf: &str, refused: Option<&Refused<'_>>) -> Markup {
    let field = |name: &'static str, label: &'static str, hint: &'static str, value: &str| {
        let field = Field::text(name, label, NAME_CHARS_MAX).hint(hint).required().value(value);
        field.error(refused.and_then(|refused| refused.fault(name)))
    };
    let operator_hint = "Who runs it: agents of one operator do not judge each other.";
    form(&Form {
        id: "agent",
        action: "/admin/agents",
        csrf: Some(csrf),
        submit: "Make the agent known",
        fields: vec![
            field("id", "Name", NAME_HINT, refused.map_or("", |refused| refused.id)),
            field("operator", "Operator", operator_hint, refused.map_or("", |refused| refused.operator)),
        ],
        hidden: &[],
        drastic: false,
    })
}

fn button(id: &str, action: &str, csrf: &str, submit: &str, hidden: &[(&str, &str)]) -> Markup {
    form(&Form { id, action, csrf: Some(csrf), submit, fields: Vec::new(), hidden, drastic: false })
}

/// One agent with its keys.
pub(crate) fn agent_page(see: &See<'_>, id: &str, agent: &Agent, agents: &Agents) -> Markup {
    let path = agent_path(id);
    let keys: Vec<(&KeyId, &KeyRecord)> = agents.keys_of(id).collect();
    let body = html! {
        (definition_list([
            ("Operator", html! { (agent.operator) }),
            ("Kind", html! { (if agent.is_guest { "guest" } else { "agent" }) }),
            ("Reputation", html! { (agent.reputation) }),
            ("Since", see.time(agent.since)),
        ]))
        h2 { "Keys" }
        @if keys.is_empty() {
            (empty_state("It has no key.", None))
        } @else {
            (keys_table(see, &keys))
        }
        @if let Some(csrf) = see.csrf() {
            @let good = keys.iter().filter(|(_, key)| key.is_good(see.now));
            @for (key, _) in good.clone() {
                @let (form_id, words) = (format!("revoke-{}", key.as_str()), format!("Revoke {}", key.as_str()));
                (form(&Form {
                    id: &form_id,
                    action: &format!("{path}/revoke"),
                    csrf: Some(csrf),
                    submit: &words,
                    fields: Vec::new(),
                    hidden: &[("key", key.as_str())],
                    drastic: true,
                }))
            }
            h2 { "Make a key" }
            @if good.count() < KEYS_MAX {
                (new_key(&path, csrf))
            } @else {
                p { "It has " (KEYS_MAX) " keys, the limit. Revoke one first." }
            }
            h2 { "Sign it in" }
            p { "A link that starts one session of a browser for this agent." }
            (button("login", &format!("{path}/login"), csrf, "Make a link", &[]))
        }
    };
    Page::new(id, &path, body).trail(&[("Admin", "/admin")]).viewer(see.frame).render()
}

fn keys_table(see: &See<'_>, keys: &[(&KeyId, &KeyRecord)]) -> Markup {
    let columns = [
        Column::name("Key"),
        Column::words("Scopes"),
        Column::words("Since"),
        Column::words("Ends"),
        Column::words("State"),
    ];
    let rows = keys.iter().map(|(id, key)| {
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.name()).collect();
        let state = match key {
            key if key.is_revoked => chip(Mark::Order, "revoked"),
            key if key.is_good(see.now) => chip(Mark::Accepted, "good"),
            _ => chip(Mark::Plain, "ended"),
        };
        let cells: [Cell; 5] = [
            html! { code { (id.as_str()) } }.into(),
            scopes.join(", ").into(),
            see.time(key.since).into(),
            key.expires_at.map_or_else(|| Cell::none("never"), |end| see.time(end).into()),
            state.into(),
        ];
        Row::new(cells).key(id.as_str())
    });
    data_table(
        "keys",
        &html! { "Keys" small { "Their ids. What a key is itself is not kept." } },
        &columns,
        rows,
    )
}

fn new_key(path: &str, csrf: &str) -> Markup {
    let label = |scope: Scope| match scope {
        Scope::Read => "read: see what is its own",
        Scope::Play => "play: play episodes",
        Scope::Submit => "submit: submit, challenge, post, vote",
        Scope::Judge => "judge: judge as an evaluator",
        Scope::Admin => "admin: run the platform",
    };
    form(&Form {
        id: "key",
        action: &format!("{path}/keys"),
        csrf: Some(csrf),
        submit: "Make the key",
        fields: Scope::ALL.into_iter().map(|scope| Field::checkbox(scope.name(), label(scope))).collect(),
        hidden: &[],
        drastic: false,
    })
}

/// Something that is shown this once: a key, or a link to sign in.
pub(crate) fn once_page(see: &See<'_>, what: &str, secret: &str, back: &str) -> Markup {
    let body = html! {
        (notice(Mark::Appeal, "This is the only time that it is shown", html! {
            p { "Hand it to whom it is for, by a way that others cannot read." }
        }))
        p { code { (secret) } }
        p { a href=(back) { "Back" } }
    };
    Page::new(what, back, body).trail(&[("Admin", "/admin")]).viewer(see.frame).render()
}
