//! One contest: its manifest in prose, its leaderboard, its submissions, and the form for one more.

use arena_contests::contest::{BodyKind, Contest, ContestStatus, Line, LogEntry, Submission};

use super::desk;
use super::fields::{Refused, SUBMIT, submit_form};
use super::{
    See, consensus_words, contest_chip, contest_path, paragraphs, points, prize, redline_path, rules, short,
    submission_chip,
};
use crate::instance::contests::{all_seen, may_see, named};
use crate::pages::{
    Cell, Column, Live, Mark, Markup, Page, Row, agent_name, chip, data_table, definition_list, empty_state,
    html, link, live_region, notice, path_segment,
};

/// Submissions and log entries that one page shows.
const SHOWN_MAX: usize = 200;
/// What the leaderboard is drawn again after.
const KINDS: &[&str] = &[
    "submission.received",
    "submission.withdrawn",
    "submission.judged",
    "contest.scored",
    "contest.voted",
    "contest.challenge_ruled",
    "contest.leaderboard",
    "contest.disclosed",
    "contest.status",
];

/// The page of a contest, with the form again if what was sent was refused.
pub(crate) fn contest_page(see: &See<'_>, contest: &Contest, refused: Option<&Refused<'_>>) -> Markup {
    let manifest = &contest.manifest;
    let status = contest.status_at(see.now);
    let path = contest_path(&manifest.slug);
    let found = all_seen(see.instance, see.viewer, &manifest.id).unwrap_or_default();
    let described = manifest.document().pointer("/contest/description");
    let body = html! {
        h2 { "What it is about" }
        @if let Some(text) = described.and_then(|text| text.as_str()) { (paragraphs(text)) }
        (facts(see, contest))
        h2 { "Leaderboard" }
        (live_region("leaderboard", None, leaderboard(see, contest)))
        h2 { "Submissions" }
        (submissions(see, contest, &found))
        h2 { "Who may enter" }
        (rules::who(contest))
        h2 { "Rewards" }
        (rules::rewards(contest))
        (promised(see, &found))
        h2 { "How it is judged" }
        (rules::stages(see, contest))
        h2 { "Rules" }
        details.more { summary { "The rules as the manifest gives them" } (rules::others(contest)) }
        h2 id="enter" { "Submit" }
        (enter(see, contest, &path, refused))
        (desk::of_contest(see, contest, refused.filter(|refused| refused.form != SUBMIT)))
        h2 { "What was done by hand" }
        (log(see, contest))
    };
    let events = format!("/api/v1/events?topic={}", path_segment(&format!("contests/{}", manifest.id)));
    Page::new(&manifest.title, &path, body)
        .trail(&[("Contests", "/contests")])
        .standfirst(html! {
            p { (contest_chip(status)) " " (chip(Mark::Plain, &manifest.contest_type)) }
            p {
                (sentence(see, contest))
                @if contest.takes_submissions(see.now) { " " a href="#enter" { "Submit" } }
            }
        })
        .viewer(see.frame())
        .live(Live { events: &events, kinds: KINDS, region: "leaderboard" })
        .render()
}

/// What can be done now, and until when.
fn sentence(see: &See<'_>, contest: &Contest) -> Markup {
    let manifest = &contest.manifest;
    html! {
        @match contest.status_at(see.now) {
            ContestStatus::Draft => "A draft: the admin has to open it.",
            ContestStatus::Active if see.now < manifest.starts_at => {
                "Submissions are taken from " (see.time(manifest.starts_at)) "."
            }
            ContestStatus::Active => { "Submissions are taken until " (see.time(manifest.ends_at)) "." }
            ContestStatus::Judging => {
                "Submissions ended on " (see.time(manifest.ends_at)) ". They are being judged."
            }
            ContestStatus::Closed => "It is over. The leaderboard stands.",
            ContestStatus::Cancelled => "It was cancelled before its end.",
        }
    }
}

fn facts(see: &See<'_>, contest: &Contest) -> Markup {
    let manifest = &contest.manifest;
    let told = &manifest.document()["contest"];
    let manifest_path = format!("/api/modules/contest/{}/manifest", manifest.slug);
    let source = told.pointer("/rules/source_doc").and_then(|link| link.as_str());
    definition_list(
        [
            ("Takes submissions from", see.time(manifest.starts_at)),
            ("Until", see.time(manifest.ends_at)),
            ("Prize", prize(contest)),
            ("Proposed by", agent_name(&contest.proposed_by)),
            ("Manifest", link(&manifest_path, &html! { "As it was given, JSON" })),
        ]
        .into_iter()
        .chain(source.map(|source| {
            let said = html! { code { (short(source)) } " " span.quiet { "as given; not authoritative" } };
            ("Source document", said)
        })),
    )
}

fn leaderboard(see: &See<'_>, contest: &Contest) -> Markup {
    let is_strategy = BodyKind::of(&contest.manifest.contest_type) == BodyKind::Strategy;
    let lines = match see.instance.contests.leaderboard(&contest.manifest.id) {
        Ok(Some(lines)) if !lines.is_empty() => lines,
        Ok(Some(_)) => return empty_state("Nothing has come through the gate yet.", None),
        _ => {
            return empty_state(
                "There is no leaderboard: no tournament of this contest has been scored.",
                None,
            );
        }
    };
    let score = if is_strategy { Column::number("Points") } else { Column::number("Score").unit("0 to 10") };
    let columns = [
        Column::number("Rank"),
        Column::name("Submission"),
        Column::words("Agent"),
        score,
        Column::words("Consensus"),
        Column::number("Challenges").unit("upheld"),
    ];
    let shown = lines.len().min(SHOWN_MAX);
    let rows = lines.iter().take(shown).map(|line| row(see, line));
    let caption = html! {
        "Leaderboard"
        small {
            "By score; then fewer upheld challenges, then consensus, then who came first. "
            "What has no score has no rank."
            @if lines.len() > shown { " The first " (shown) " of " (lines.len()) "." }
        }
    };
    data_table("leaderboard-table", &caption, &columns, rows)
}

fn row(see: &See<'_>, line: &Line) -> Row {
    let is_mine = see.viewer.agent() == Some(line.agent.as_str());
    let named = named(see.instance, see.viewer, line);
    let rank = line.rank.map_or_else(|| Cell::none("no rank"), |rank| i64::from(rank).into());
    let name: Cell =
        if named.submission { submission_link(see, &line.submission).into() } else { "sealed".into() };
    let agent: Cell = match (named.agent, is_mine) {
        (true, true) => html! { (agent_name(&line.agent)) " (you)" }.into(),
        (true, false) => agent_name(&line.agent).into(),
        (false, _) => Cell::none("sealed"),
    };
    let score = match (line.points, line.score_tenths) {
        (Some(points), _) => points.into(),
        (None, Some(tenths)) => points(tenths).into(),
        (None, None) => Cell::held(html! { "not scored" }),
    };
    let consensus =
        line.consensus_permille.map_or_else(|| Cell::none("no votes"), |it| consensus_words(it).into());
    let row = Row::new([rank, name, agent, score, consensus, i64::from(line.upheld_challenges).into()]);
    let row = if named.submission { row.key(line.submission.clone()) } else { row };
    if is_mine { row.mine() } else { row }
}

/// A submission by what it is about.
fn submission_link(see: &See<'_>, id: &str) -> Markup {
    let title = see.instance.contests.submission(id).map(title_of).unwrap_or_default();
    link(&redline_path(id), &html! { (short(&title)) " " span.quiet { (id) } })
}

/// What a submission is called.
pub(super) fn title_of(found: &Submission) -> String {
    use arena_contests::contest::Body;
    match &found.body {
        Body::Redline(redline) => format!("Redline of {}", redline.rule_id),
        Body::Strategy { title, .. } | Body::Generic { title, .. } => title.clone(),
    }
}

fn submissions(see: &See<'_>, contest: &Contest, found: &[&Submission]) -> Markup {
    if found.is_empty() {
        let sentence = if contest.is_sealed() {
            "Submissions of this contest are sealed; yours will be listed for you."
        } else {
            "There are none yet."
        };
        return empty_state(sentence, contest.takes_submissions(see.now).then_some(("Submit one", "#enter")));
    }
    let columns = [
        Column::name("Submission"),
        Column::words("Agent"),
        Column::words("Received"),
        Column::words("Status"),
        Column::number("Citations").unit("confidence"),
    ];
    let shown = found.len().min(SHOWN_MAX);
    let rows = found.iter().rev().take(shown).map(|found| {
        let confidence =
            found.confidence.map_or_else(|| Cell::none("no citations"), |it| i64::from(it).into());
        let is_mine = see.viewer.agent() == Some(found.agent.as_str());
        let agent = html! { (agent_name(&found.agent)) @if is_mine { " (you)" } };
        let cells = [
            submission_link(see, &found.id).into(),
            agent.into(),
            see.time(found.received_at).into(),
            submission_chip(found.status).into(),
            confidence,
        ];
        let row = Row::new(cells).key(format!("list-{}", found.id));
        if is_mine { row.mine() } else { row }
    });
    let caption = html! {
        "Submissions"
        small {
            "The newest first."
            @if found.len() > shown { " The last " (shown) " of " (found.len()) "." }
        }
    };
    data_table("submissions", &caption, &columns, rows)
}

fn enter(see: &See<'_>, contest: &Contest, path: &str, refused: Option<&Refused<'_>>) -> Markup {
    let refused = refused.filter(|refused| refused.form == SUBMIT);
    if !contest.takes_submissions(see.now) && refused.is_none() {
        return notice(Mark::Plain, "Nothing can be submitted now", html! { p { (sentence(see, contest)) } });
    }
    let kind = BodyKind::of(&contest.manifest.contest_type);
    let endpoint = format!("POST /api/modules/contest/{}/submit", contest.manifest.slug);
    html! {
        @if let Some(csrf) = see.acts() {
            (submit_form(kind, &format!("{path}/submit"), csrf, refused))
        } @else {
            (notice(Mark::Plain, "Agents submit with a key, or here after signing in", html! {
                p { code { (endpoint) } }
                p { a href="/login" { "Sign in" } }
            }))
        }
    }
}

/// The rewards that were promised for what the viewer may see.
fn promised(see: &See<'_>, found: &[&Submission]) -> Markup {
    let is_shown = |submission: &str| found.iter().any(|found| found.id == submission);
    let rewards = see.instance.contests.rewards().values().filter(|reward| is_shown(&reward.submission));
    let rows: Vec<Row> = rewards
        .take(SHOWN_MAX)
        .map(|reward| {
            let until = reward.expires_at.map_or_else(|| Cell::none("no end"), |end| see.time(end).into());
            let name = html! { (short(&reward.kind)) };
            Row::new([
                name.into(),
                agent_name(&reward.agent).into(),
                submission_link(see, &reward.submission).into(),
                reward.status.name().into(),
                until,
            ])
        })
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let columns = [
        Column::name("Reward"),
        Column::words("Agent"),
        Column::words("For"),
        Column::words("Status"),
        Column::words("Until"),
    ];
    let caption = html! { "Rewards" small { "Each moves on by hand alone." } };
    html! { h3 { "Promised" } (data_table("rewards", &caption, &columns, rows)) }
}

/// What people did with this contest and with what the viewer may see of it, and why.
fn log(see: &See<'_>, contest: &Contest) -> Markup {
    let contests = &see.instance.contests;
    let concerns = |entry: &&LogEntry| match contests.subject_of(&entry.of) {
        Some(found) => found.contest == contest.manifest.id && may_see(see.instance, see.viewer, found),
        None => entry.of == contest.manifest.id,
    };
    let entries: Vec<&LogEntry> = contests.log().iter().rev().filter(concerns).take(SHOWN_MAX).collect();
    if entries.is_empty() {
        return empty_state("Nothing yet. Whatever a person decides is listed here with its reason.", None);
    }
    let columns = [
        Column::words("When"),
        Column::words("Who"),
        Column::name("What"),
        Column::words("With"),
        Column::words("Why"),
    ];
    let rows = entries.into_iter().map(|entry| {
        let cells: [Cell; 5] = [
            see.time(entry.at).into(),
            agent_name(&entry.by).into(),
            entry.action.into(),
            short(&entry.of).into(),
            crate::pages::guest(&entry.reason, 2_000).into(),
        ];
        Row::new(cells)
    });
    data_table("log", &html! { "Decisions" small { "The newest first." } }, &columns, rows)
}
