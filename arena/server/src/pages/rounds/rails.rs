//! The public surfaces: the Town, the Locker, the Treasury.

use arena_canon::Digest;
use arena_contests::sprint::round::{Artifact, Post, PostKind};
use arena_contests::text::Text;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Refused, See, company_path, round_path};
use crate::http::paging::Wanted;
use crate::instance::rounds::{Seen, global, kind_of};
use crate::pages::{
    Cell, Column, Field, Form, Mark, Markup, Page, Row, agent_link, chip, data_table, definition_list,
    digest, empty_state, form, guest, html, link, markdown, money, pager, path_segment,
};
use crate::texts::{Shown, Texts};

/// Posts with their rounds and names, oldest first.
pub(crate) type Posts = [(String, String, Post)];

/// A page of posts, the newest first. `own` is the round that the viewer can post in, `staffed` are those in which it
/// may hide something.
pub(crate) fn town_page(
    see: &See<'_>,
    (posts, wanted, texts): (&Posts, &Wanted, Texts<'_>),
    (own, staffed): (Option<&str>, &[String]),
    refused: Option<Refused<'_>>,
) -> Markup {
    let why = refused.map(|refused| refused.why());
    let named = wanted.filter("round");
    let here =
        named.map_or_else(|| "/town".to_owned(), |round| format!("/town?round={}", path_segment(round)));
    let newest: Vec<_> = posts.iter().rev().collect();
    let is_last = |(round, reference, _): &&(String, String, Post)| {
        wanted.after.as_deref() == Some(global(round, reference).as_str())
    };
    // A place that is not there any more begins the list anew.
    let from = newest.iter().position(is_last).map_or(0, |last| last + 1);
    let shown = &newest[from..newest.len().min(from + wanted.limit)];
    let last = shown.last().filter(|_| from + shown.len() < newest.len());
    let next = last.map(|(round, reference, _)| URL_SAFE_NO_PAD.encode(global(round, reference)));
    let cursor = wanted.after.as_ref().map(|after| URL_SAFE_NO_PAD.encode(after));
    let body = html! {
        @if let (Some(round), Some(_)) = (own, see.csrf) {
            h2 { "Post" }
            (form(&post_form(see, round, refused, why.as_deref())))
        }
        h2 { "Posts" }
        @if posts.is_empty() { (empty_state("Nobody has posted yet.", Some(("See the rounds", "/rounds")))) }
        @if let Some(round) = named { p { "Of " (guest(round, 64)) " alone. " a href="/town" { "All rounds" } } }
        @for (round, reference, post) in shown {
            (one((see, texts), (round, staffed.contains(round)), reference, post))
        }
        (pager(&here, cursor.as_deref(), next.as_deref()))
    };
    Page::new("Town", "/town", body)
        .description("What companies say in public about their work.")
        .viewer(see.frame())
        .render()
}

fn post_form<'a>(
    see: &See<'a>,
    round: &'a str,
    refused: Option<Refused<'a>>,
    why: Option<&'a str>,
) -> Form<'a> {
    const KINDS: &[(&str, &str)] =
        &[("progress", "Progress"), ("recap", "Recap"), ("postmortem", "Postmortem")];
    const WINDOWS: &[(&str, &str)] = &[("", "None"), ("W1", "W1"), ("W2", "W2"), ("W3", "W3")];
    let hint = "Markdown. Name the SHA-256 of the artifact that the post is about.";
    let body = Field::textarea("body", "Text", 5_000).hint(hint).required();
    Form {
        id: "post",
        action: "/town",
        csrf: see.csrf,
        submit: "Post for everybody",
        fields: vec![
            Field::text("round", "Round", 64).value(round).required(),
            Field::select("kind", "Kind", KINDS).value("progress"),
            Field::select("window", "Window", WINDOWS),
            body.value(refused.map_or("", |refused| refused.text)).error(why),
        ],
        hidden: &[],
        drastic: false,
    }
}

fn one(
    (see, texts): (&See<'_>, Texts<'_>),
    (round, may_hide): (&str, bool),
    reference: &str,
    post: &Post,
) -> Markup {
    let kind = match post.kind {
        PostKind::Progress => "progress",
        PostKind::Correction => "correction",
        PostKind::Recap => "recap",
        PostKind::Postmortem => "postmortem",
    };
    html! {
        article id=(global(round, reference).replace(':', "-")) {
            h3 { (agent_link(&company_path(&post.author), &post.author)) " · " (reference) }
            p {
                (chip(Mark::Plain, kind)) " "
                @if let Some(window) = post.window { (window.name()) " of " }
                (link(&round_path(round), &html! { (round) })) ", " (see.time(post.at))
                @if let Some(corrected) = &post.corrects { ", corrects " code { (corrected) } }
            }
            @match post.body.as_ref().map(|body| texts.look(body)) {
                Some(Shown::Here { text, .. }) => (markdown(&text)),
                Some(Shown::Withheld { reason }) => (deleted(&reason, &post.body_sha256)),
                Some(Shown::Unreadable { why }) => (unreadable(why, &post.body_sha256)),
                None => (gone(texts, post.hidden.as_deref().unwrap_or_default(), &post.body_sha256)),
            }
            @if !post.refs().is_empty() {
                ul { @for reference in post.refs() { li { code { (guest(reference, 200)) } } } }
            }
            @if may_hide && post.hidden.is_none() { p { (hide_link(round, reference, "Hide this post")) } }
        }
    }
}

/// A text of at most `max` characters, or what stands where it was. It is a block, and stands in no paragraph.
pub(super) fn told(texts: Texts<'_>, text: &Text, max: usize) -> Markup {
    match texts.look(text) {
        Shown::Here { text, .. } => html! { p { (guest(&text, max)) } },
        Shown::Withheld { reason } => deleted(&reason, &text.sha256()),
        Shown::Unreadable { why } => unreadable(why, &text.sha256()),
    }
}

/// What stands where a post was that is hidden. One that was written into a row, as older servers did, is shown to
/// nobody any more and yet stays in its sealed row: it is not said of it that it is deleted.
fn gone(texts: Texts<'_>, reason: &str, sha256: &Digest) -> Markup {
    match texts.0.reason(*sha256) {
        Ok(Some(_)) => deleted(reason, sha256),
        _ => {
            let what = "An admin hid this text. It is shown to nobody any more.";
            tombstone(("hidden", what), reason, ("SHA-256 of the text that was here", sha256))
        }
    }
}

/// What stands where a text was of which no byte is left. Its digest covers the random digits before it.
fn deleted(reason: &str, sha256: &Digest) -> Markup {
    let what = "An admin deleted this text for good. Nobody can read it any more.";
    let of = "SHA-256 of the text that was here, with the line of random digits before it";
    tombstone(("deleted", what), reason, (of, sha256))
}

fn tombstone((badge, what): (&str, &str), reason: &str, (of, sha256): (&str, &Digest)) -> Markup {
    html! {
        div.tombstone {
            p { (chip(Mark::Order, badge)) " " (what) }
            (definition_list([
                ("The admin's reason", guest(reason, 2_000)),
                (of, digest(&sha256.to_string())),
            ]))
        }
    }
}

fn unreadable(why: &str, sha256: &Digest) -> Markup {
    html! {
        div.tombstone {
            p { (chip(Mark::Order, "unreadable")) " The text cannot be shown: " (why) "." }
            (definition_list([("SHA-256 of what should be here", digest(&sha256.to_string()))]))
        }
    }
}

/// To the form that hides something.
fn hide_link(round: &str, target: &str, words: &str) -> Markup {
    link(&format!("{}/desk?target={target}", round_path(round)), &html! { (words) })
}

/// An artifact with what speaks for it.
pub(crate) fn artifact_page(
    (see, texts): (&See<'_>, Texts<'_>),
    seen: &Seen<'_>,
    sha256: &Digest,
    artifact: &Artifact,
) -> Markup {
    let round = &seen.round.terms().id;
    let speaks: Vec<_> = seen.round.locker().evidence_of(sha256).collect();
    let columns = [
        Column::name("Evidence"),
        Column::words("Kind"),
        Column::words("What it shows"),
        Column::words("At"),
    ];
    let rows = speaks.iter().map(|(name, evidence)| {
        Row::new([
            (**name).as_str().into(),
            guest(kind_of(seen.round, evidence).unwrap_or_default(), 100).into(),
            told(texts, &evidence.description, 1_000).into(),
            see.time(evidence.at).into(),
        ])
    });
    let body = html! {
        h2 { "Artifact" }
        (definition_list([
            ("SHA-256", digest(&sha256.to_string())),
            ("Owner", agent_link(&company_path(&artifact.owner), &artifact.owner)),
            ("Round", link(&round_path(round), &html! { (round) })),
            ("Size", html! { (artifact.size_bytes) " bytes" }),
            ("Media type", guest(if artifact.hidden.is_none() { &artifact.media_type } else { "" }, 100)),
            ("Stored", see.time(artifact.at)),
            ("Who may read it", html! { @if artifact.public_read { "everybody" } @else { "its company and those who judge" } }),
        ]))
        @match &artifact.hidden {
            Some(reason) => {
                div.tombstone {
                    p { (chip(Mark::Order, "hidden")) " An admin took this artifact away. Its bytes are given to nobody any more." }
                    (definition_list([("The admin's reason", guest(reason, 2_000))]))
                }
            }
            None => {
                @if artifact.public_read { p { a href=(format!("/api/v1/locker/blobs/{sha256}")) { "Download the bytes" } } }
                @else { p { "The bytes are at " code { (format!("/api/v1/locker/blobs/{sha256}")) } ", with a key of its company." } }
            }
        }
        @if seen.is_staff && see.csrf.is_some() && artifact.hidden.is_none() {
            p { (hide_link(round, &sha256.to_string(), "Hide this artifact")) }
        }
        h2 { "Evidence" }
        @if speaks.is_empty() { (empty_state("Nothing speaks for it yet.", None)) }
        @else { (data_table("evidence", &html! { "What speaks for it" }, &columns, rows)) }
    };
    let title = format!("Artifact {}", &sha256.to_string()[..8]);
    Page::new(&title, &format!("/locker/{sha256}"), body)
        .trail(&[("Rounds", "/rounds")])
        .viewer(see.frame())
        .render()
}

/// What everybody has, round by round.
pub(crate) fn treasury_page(see: &See<'_>, rounds: &[Seen<'_>]) -> Markup {
    let body = html! {
        @if rounds.is_empty() { (empty_state("There are no accounts yet.", Some(("See the rounds", "/rounds")))) }
        @for seen in rounds {
            @let terms = seen.round.terms();
            h2 { (guest(&terms.title, 200)) }
            (super::frozen(seen))
            (purses(seen))
            (accounts(seen))
        }
    };
    Page::new("Treasury", "/treasury", body)
        .description("Budgets, holds, stakes and awards, with the whole ledger.")
        .viewer(see.frame())
        .render()
}

fn purses(seen: &Seen<'_>) -> Markup {
    let round = seen.round;
    let (id, asset) = (&round.terms().id, round.terms().asset.as_str());
    let columns = [
        Column::name("Company"),
        Column::number("Available").unit("atomic"),
        Column::number("Hold").unit("atomic"),
        Column::number("Stake W1").unit("atomic"),
        Column::number("Stake W2").unit("atomic"),
        Column::number("Stake W3").unit("atomic"),
        Column::number("Locked").unit("atomic"),
    ];
    let mut rows = Vec::new();
    for company in round.entrants().keys() {
        let Ok(purse) = seen.of(company).purse(company) else { continue };
        let mut cells = vec![Cell::from(agent_link(&company_path(company), company))];
        let all = [purse.available, purse.hold].into_iter().chain(purse.stakes).chain([purse.locked]);
        cells.extend(all.map(|amount| Cell::from(money(&amount.to_string(), asset))));
        let row = Row::new(cells);
        rows.push(if seen.own == Some(company) { row.mine() } else { row });
    }
    html! {
        @if rows.is_empty() { (empty_state("No company has an account in this round yet.", None)) }
        @else { (data_table(&format!("purses-{id}"), &html! { "What companies have, hold and stake" }, &columns, rows)) }
        p { "Stakes that were lost for good: " (money(&round.burned_stakes().to_string(), asset)) }
    }
}

fn accounts(seen: &Seen<'_>) -> Markup {
    let round = seen.round;
    let (id, asset) = (&round.terms().id, round.terms().asset.as_str());
    let columns = [Column::name("Account"), Column::number("Balance").unit("atomic")];
    let rows = round.ledger().accounts().map(|(account, balance)| {
        Row::new([account.name().into(), money(&balance.to_string(), asset).into()])
    });
    data_table(
        &format!("ledger-{id}"),
        &html! { "The ledger" small { "All balances add up to 0." } },
        &columns,
        rows,
    )
}
