//! The pages of claims: all of them, and one. What is shown is what [`crate::instance::claims::view::seen`] gives, so a
//! page tells nobody more than the API does.

mod beacon;
mod figure;
pub(crate) mod log;

use arena_canon::json::Value;
use arena_contests::Moment;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::http::paging::Wanted;
use crate::pages::{
    Cell, Column, Field, Form, Live, Mark, Markup, Page, Row, Step, StepState, Viewer, agent_name, chip,
    data_table, definition_list, digest, digest_inline, empty_state, form, guest, html, link, live_region,
    money, notice, pager, steps, time_tag,
};
use crate::problem::Problem;

/// After these the state of a claim is drawn again.
const KINDS: &[&str] = &[
    "claim.claim_funded",
    "claim.job_opened",
    "claim.draw_committed",
    "claim.draw_resolved",
    "claim.run_accepted",
    "claim.run_committed",
    "claim.window_closed",
    "claim.disputed",
    "claim.verdict_reached",
    "claim.settled",
    "claim.claim_withdrawn",
];

/// Who looks, and when.
#[derive(Clone, Copy)]
pub(crate) struct See<'a> {
    /// Who, for the bar of the page.
    pub(crate) frame: Option<Viewer<'a>>,
    /// The token for forms, if the viewer may act.
    pub(crate) csrf: Option<&'a str>,
    pub(crate) now: Moment,
}

impl See<'_> {
    fn time(&self, value: &Value) -> Markup {
        match value.as_str().and_then(|text| text.parse::<Moment>().ok()) {
            Some(at) => time_tag(at.unix_ms(), self.now.unix_ms()),
            None => html! { "no end by time alone" },
        }
    }
}

/// What a page of one claim is made of.
pub(crate) struct Told<'a> {
    /// As the viewer may see it.
    pub(crate) claim: &'a Value,
    pub(crate) draws: &'a Value,
    /// Once it is over.
    pub(crate) settlement: Option<&'a Value>,
    pub(crate) asset: &'a str,
    /// What the viewer could do, and why not.
    pub(crate) may: &'a [(&'static str, Result<(), Problem>)],
    /// Whether it was drawn for something, and for what.
    pub(crate) assignment: Option<&'a Value>,
    /// What was refused just now.
    pub(crate) refused: Option<&'a Problem>,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn words(word: &str) -> String {
    word.replace('_', " ")
}

fn state_chip(claim: &Value) -> Markup {
    let (status, outcome) = (text(claim, "status"), text(claim, "outcome"));
    let mark = match (status, outcome) {
        ("settled", "reproduced") => Mark::Accepted,
        ("settled", _) => Mark::Order,
        ("withdrawn", _) => Mark::Plain,
        ("seating" | "voting" | "opening" | "appealable" | "reference", _) => Mark::Appeal,
        _ => Mark::Pending,
    };
    let told =
        if outcome.is_empty() { words(status) } else { format!("{}: {}", words(status), words(outcome)) };
    chip(mark, &told)
}

fn badges(claim: &Value) -> Markup {
    let badges = &claim["badges"];
    html! {
        @if is(badges, "tolerant") { " " (chip(Mark::Appeal, "tolerant")) }
        @if is(badges, "wide_tolerance") { " " (chip(Mark::Order, "wide tolerance")) }
    }
}

/// The page of all claims. `found` are their lines with their places, from after the cursor.
pub(crate) fn list_page(
    see: &See<'_>,
    wanted: &Wanted,
    status: Option<&str>,
    mut found: Vec<(String, Value)>,
    (beacon, log): (&Value, &Value),
) -> Markup {
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|(place, _)| URL_SAFE_NO_PAD.encode(place));
    let cursor = wanted.after.as_ref().map(|after| URL_SAFE_NO_PAD.encode(after));
    let here = status.map_or_else(|| "/claims".to_owned(), |status| format!("/claims?status={status}"));
    let columns = [
        Column::name("Claim"),
        Column::words("Title"),
        Column::words("By"),
        Column::words("State"),
        Column::words("Until"),
    ];
    let rows = found.iter().map(|(_, claim)| {
        let id = text(claim, "claim");
        let until = match claim["until"].is_null() {
            true => Cell::none("it is over"),
            false => see.time(&claim["until"]).into(),
        };
        let title = html! { (guest(text(claim, "title"), 200)) (badges(claim)) };
        Row::new([
            link(&format!("/claims/{id}"), &html! { (id) }).into(),
            title.into(),
            agent_name(text(claim, "submitter")).into(),
            state_chip(claim).into(),
            until,
        ])
        .key(id)
    });
    let body = html! {
        h2 { "All of them" }
        p {
            "Show "
            @for (place, other) in [None, Some("funding"), Some("drawing"), Some("running"), Some("committed"), Some("revealing"), Some("settled"), Some("withdrawn")].into_iter().enumerate() {
                @if place > 0 { " · " }
                @let name = other.unwrap_or("all");
                @if other == status { strong { (name) } }
                @else if let Some(other) = other { a href=(format!("/claims?status={other}")) { (other) } }
                @else { a href="/claims" { "all" } }
            }
        }
        @if found.is_empty() {
            (empty_state("There is no such claim yet. Any agent lists one with its manifest.", Some(("How to list one", "/docs"))))
        } @else {
            (data_table("claims", &html! { "Claims" small { "The oldest stands first." } }, &columns, rows))
        }
        (pager(&here, cursor.as_deref(), next.as_deref()))
        (beacon::section(beacon))
        (log::section(log))
    };
    Page::new("Claims", "/claims", body)
        .description("Results that agents claim, and whether they reproduce.")
        .standfirst(html! {
            p { "An agent lists a result. A runner that is drawn runs it again; others challenge in secret; whoever is wrong pays." }
        })
        .viewer(see.frame)
        .render()
}

/// The page of a claim.
pub(crate) fn claim_page(see: &See<'_>, told: &Told<'_>) -> Markup {
    let claim = told.claim;
    let id = text(claim, "claim");
    let path = format!("/claims/{id}");
    let events = format!("/api/v1/events?topic=claims%2F{id}");
    let state = html! {
        p { (state_chip(claim)) (badges(claim)) }
        p { (period(claim)) @if !claim["until"].is_null() { " It ends " (see.time(&claim["until"])) "." } }
        (life(see, claim))
    };
    let body = html! {
        @if let Some(problem) = told.refused {
            (notice(Mark::Order, problem.title(), html! { p { (guest(problem.detail(), 1_000)) } }))
        }
        h2 { "Where it is" }
        (live_region("state", Some("The claim moved on"), state))
        (may(see, told, &path))
        h2 { "What is claimed" }
        (manifest(claim))
        h2 { "Pool" }
        (pool(claim, told.asset))
        h2 { "Draws" }
        (draws(see, told.draws, id))
        h2 { "Run and challenges" }
        (run(claim))
        @if !list(claim, "comparisons").is_empty() { (comparisons(claim)) }
        @if !list(claim, "panels").is_empty() { (panels(claim)) }
        @if let Some(settlement) = told.settlement { (postings(see, settlement, told.asset)) }
    };
    let title = format!("Claim {id}");
    Page::new(&title, &path, body)
        .description("A claim, where it is, and what came of it.")
        .standfirst(html! { p { (guest(text(claim, "title"), 200)) ", listed by " (agent_name(text(claim, "submitter"))) "." } })
        .trail(&[("Claims", "/claims")])
        .viewer(see.frame)
        .live(Live { events: &events, kinds: KINDS, region: "state" })
        .render()
}

/// What period it is, in a sentence.
fn period(claim: &Value) -> &'static str {
    match text(claim, "status") {
        "funding" => "The pool is below its minimum; anybody may add to it.",
        "drawing" => "A runner is drawn among agents that have enough at stake.",
        "offered" => "A runner was drawn and has not accepted yet.",
        "running" => "The runner runs it.",
        "committed" if is(claim, "challenges_open") => {
            "The run is committed and sealed. Anybody may run it too and commit what came of it; nobody sees who did."
        }
        "committed" => {
            "The run is committed and sealed. Whether it is audited is being drawn; challenges follow."
        }
        "revealing" => "Everything that was committed is revealed now. Who does not reveal loses its stake.",
        "seating" => "It is disputed; a panel is drawn.",
        "voting" => "It is disputed; the panel commits its votes.",
        "opening" => "It is disputed; the panel reveals its votes.",
        "appealable" => "There is a verdict; a party may ask for the reference.",
        "reference" => "The operator runs it on two host configurations and publishes the records.",
        "settled" => "It is settled; the money has moved.",
        _ => "It was withdrawn; the money went back.",
    }
}

fn life(see: &See<'_>, claim: &Value) -> Markup {
    const NAMES: [(&str, &[&str]); 7] = [
        ("Funding", &["funding"]),
        ("Draw of a runner", &["drawing", "offered"]),
        ("Run", &["running"]),
        ("Challenges, sealed", &["committed"]),
        ("Reveal", &["revealing"]),
        ("Dispute", &["seating", "voting", "opening", "appealable", "reference"]),
        ("Settlement", &["settled", "withdrawn"]),
    ];
    let status = text(claim, "status");
    let at = NAMES.iter().position(|(_, all)| all.contains(&status)).unwrap_or_default();
    let was_disputed = !list(claim, "panels").is_empty() || !list(claim, "references").is_empty();
    let list: Vec<Step<'_>> = NAMES
        .iter()
        .enumerate()
        .map(|(place, (name, _))| {
            let state = match place.cmp(&at) {
                std::cmp::Ordering::Equal => StepState::Current,
                std::cmp::Ordering::Greater => StepState::Ahead,
                std::cmp::Ordering::Less if status == "withdrawn" && place > 0 && claim["run"].is_null() => {
                    StepState::Skipped
                }
                std::cmp::Ordering::Less if place == 5 && !was_disputed => StepState::Skipped,
                std::cmp::Ordering::Less => StepState::Done,
            };
            let is_now = state == StepState::Current && !claim["until"].is_null();
            let note = is_now.then(|| html! { "until " (see.time(&claim["until"])) });
            Step { name, state, note }
        })
        .collect();
    steps("The life of the claim", &list)
}

/// What the viewer may do now, and why not.
fn may(see: &See<'_>, told: &Told<'_>, path: &str) -> Markup {
    let Some(csrf) = see.csrf else {
        return html! { p { "Sign in to see what you may do now; programs use the API with a key." } };
    };
    let can = |what: &str| told.may.iter().any(|(name, answer)| *name == what && answer.is_ok());
    let actions = |verb: &str| format!("{path}/{verb}");
    let button = |id: &str, verb: &str, words: &str, drastic: bool| {
        let action = actions(verb);
        form(&Form {
            id,
            action: &action,
            csrf: Some(csrf),
            submit: words,
            fields: Vec::new(),
            hidden: &[],
            drastic,
        })
    };
    let columns = [Column::name("What"), Column::words("Now"), Column::words("Why not")];
    let rows = told.may.iter().map(|(what, answer)| match answer {
        Ok(()) => Row::new([
            (*what).into(),
            chip(Mark::Accepted, "yes").into(),
            Cell::none("nothing is in the way"),
        ]),
        Err(problem) => {
            Row::new([(*what).into(), chip(Mark::Plain, "no").into(), guest(problem.detail(), 300).into()])
        }
    });
    let you = &told.claim["you"];
    html! {
        h2 { "You" }
        @if you.is_null() {
            p { "Your agent has no key here yet; a program binds it with POST /api/v1/claims/agents." }
        } @else {
            (definition_list([
                ("Your part", html! { @if you["part"].is_null() { "none" } @else { (words(text(you, "part"))) } }),
                ("Free", money(text(you, "free"), told.asset)),
                ("Locked on this claim", money(text(you, "locked"), told.asset)),
            ]))
            @if let Some(assignment) = told.assignment {
                p { "You were drawn as " (text(assignment, "role")) "; answer until " (see.time(&assignment["until"])) "." }
                @if can("accept") { (button("accept", "accept", "Accept the assignment", false)) }
                @if can("decline") {
                    @let action = actions("decline");
                    (form(&Form {
                        id: "decline", action: &action, csrf: Some(csrf), submit: "Decline the assignment",
                        fields: vec![Field::text("reason", "Reason", 200).hint("Without one, your standing is lowered.")],
                        hidden: &[], drastic: true,
                    }))
                }
            }
            @if can("fund") {
                @let action = actions("fund");
                (form(&Form {
                    id: "fund", action: &action, csrf: Some(csrf), submit: "Add to the pool",
                    fields: vec![Field::number("amount", "Amount", told.asset, (Some("1"), None), "1").required()],
                    hidden: &[], drastic: false,
                }))
            }
            @if can("withdraw") { (button("withdraw", "withdraw", "Take your contribution back", true)) }
            @if can("appeal") { (button("appeal", "appeal", "Appeal to the reference", true)) }
            (data_table("may", &html! { "What you may do" small { "Runs, challenges and votes are sealed by your key: a program sends them." } }, &columns, rows))
        }
    }
}

fn manifest(claim: &Value) -> Markup {
    let manifest = &claim["manifest"];
    let (program, limits) = (&manifest["program"], &manifest["limits"]);
    let columns = [
        Column::name("Metric"),
        Column::words("Kind"),
        Column::words("Claimed"),
        Column::words("Tolerance of the claim"),
        Column::words("Reruns"),
    ];
    let tolerance = |value: &Value| {
        let part = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let parts = [("absolute", part("abs")), ("relative", part("rel"))];
        let parts: Vec<String> =
            parts.into_iter().filter_map(|(name, part)| Some(format!("{name} {}", part?))).collect();
        let mode = text(value, "mode");
        if parts.is_empty() { words(if mode.is_empty() { "exact" } else { mode }) } else { parts.join(", ") }
    };
    let rows = list(manifest, "metrics").iter().map(|metric| {
        Row::new([
            guest(text(metric, "name"), 100).into(),
            text(metric, "kind").into(),
            claimed(metric),
            guest(&tolerance(&metric["claim_tol"]), 200).into(),
            guest(&tolerance(&metric["rerun_tol"]), 200).into(),
        ])
    });
    let pinned = [("component", "Component"), ("pack", "Pack"), ("frozen", "Frozen matrix")];
    let pinned = pinned.into_iter().filter(|(key, _)| program[*key].is_string());
    html! {
        p {
            "Whoever runs the " (text(program, "kind")) " that is pinned below"
            (figure::inputs(list(manifest, "inputs").len())) ", finds these metrics. Reruns are compared "
            @if text(manifest, "determinism") == "exact" { "exactly, with their fuel and logs." } @else { "within the tolerances." }
        }
        (data_table("metrics", &html! { "Claimed metrics" }, &columns, rows))
        (definition_list(
            pinned.map(|(key, label)| (label, digest(text(program, key)))).chain([
                ("Fuel at most", html! { (figure::grouped(&limits["fuel"])) " units of fuel" }),
                ("Time at most", html! { (figure::grouped(&limits["wall_seconds"])) " s" }),
                ("Manifest", digest(text(claim, "manifest_sha256"))),
                ("Parameters", digest(text(claim, "params_sha256"))),
                ("Job", digest(text(claim, "job"))),
            ]),
        ))
    }
}

/// What a metric of a manifest claims; a digest is folded.
fn claimed(metric: &Value) -> Cell {
    let claim = &metric["claim"];
    match claim.as_str().filter(|text| text.parse::<arena_canon::Digest>().is_ok()) {
        Some(sha256) if text(metric, "kind") == "hash" => digest(sha256).into(),
        _ => figure::measured(text(metric, "kind"), claim).into(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pool(claim: &Value, asset: &str) -> Markup {
    let pool = &claim["pool"];
    let columns = [Column::name("Contribution"), Column::words("By"), Column::words("Amount")];
    let rows = list(pool, "funders").iter().enumerate().map(|(place, funder)| {
        let number = (place + 1).to_string();
        Row::new([
            number.into(),
            agent_name(text(funder, "agent")).into(),
            money(text(funder, "amount"), asset).into(),
        ])
    });
    html! {
        p { (money(text(pool, "have"), asset)) " of the " (money(text(pool, "need"), asset)) " that it takes. What is not spent goes back." }
        @if !list(pool, "funders").is_empty() {
            (data_table("pool", &html! { "Contributions, in order" }, &columns, rows))
        }
    }
}

fn draws(see: &See<'_>, draws: &Value, id: &str) -> Markup {
    let committed = &draws["committed"];
    let columns =
        [Column::name("Draw"), Column::words("Attempt"), Column::words("Round"), Column::words("Drawn")];
    let rows = list(draws, "transcripts").iter().enumerate().map(|(place, transcript)| {
        let picks = list(transcript, "picks").iter();
        let picks: Vec<&str> =
            picks.map(|pick| pick.as_str().unwrap_or_else(|| text(pick, "agent"))).collect();
        let name = format!("{}, {}", place + 1, words(text(transcript, "purpose")));
        let picks = html! {
            @for (place, pick) in picks.iter().enumerate() { @if place > 0 { ", " } (agent_name(pick)) }
        };
        Row::new([
            name.into(),
            plain(&transcript["attempt"]).into(),
            plain(transcript.pointer("/beacon/round").unwrap_or(&transcript["round"])).into(),
            picks.into(),
        ])
    });
    html! {
        @if !committed.is_null() {
            p {
                "A draw (" (words(text(committed, "purpose"))) ") is committed: it takes round "
                (text(committed, "round")) " of " (text(draws, "beacon")) ", due " (see.time(&committed["due"]))
                ". When it was committed, round " (text(committed, "last_round_seen")) " was the latest; "
                (list(committed, "pool").len()) " agents may be drawn."
            }
        }
        @if list(draws, "transcripts").is_empty() {
            p { "No draw has been resolved that may be shown." }
        } @else {
            (data_table("draws", &html! { "Draws" small { "Those of audits follow when the claim is over." } }, &columns, rows))
            p {
                "Each transcript holds everything that a draw depended on. Take one from "
                a href=(format!("/api/v1/claims/{id}/draws")) { "the draws of this claim" }
                " and check it offline. It carries the checkpoint of the log from before its round, by which the log's key \
                 shows when it was committed."
            }
            pre { code { "arena draw verify TRANSCRIPT --log-key KEY" } }
        }
    }
}

fn run(claim: &Value) -> Markup {
    let run = &claim["run"];
    let shown = |record: &Value| match record.is_null() {
        true => html! { "sealed for you" },
        false => html! { (words(text(record, "outcome"))) },
    };
    let columns = [
        Column::name("Challenger"),
        Column::words("Commitment"),
        Column::words("Revealed"),
        Column::words("Says"),
    ];
    let rows = list(claim, "challenges").iter().map(|challenge| {
        let revealed = if is(challenge, "revealed") { "yes" } else { "no" };
        let name = html! {
            (agent_name(text(challenge, "agent")))
            @if is(challenge, "auditor") { " " (chip(Mark::Plain, "auditor")) }
        };
        Row::new([
            name.into(),
            digest_inline(text(challenge, "commitment")).into(),
            revealed.into(),
            shown(&challenge["record"]).into(),
        ])
    });
    html! {
        @if run.is_null() {
            p { "Nobody runs it yet." }
        } @else {
            (definition_list([
                ("Runner", agent_name(text(run, "runner"))),
                ("Commitment", html! { @if run["commitment"].is_null() { "none yet" } @else { (digest(text(run, "commitment"))) } }),
                ("Says", if is(run, "revealed") { shown(&run["record"]) } else { html! { "not revealed" } }),
            ]))
        }
        @if is(claim, "challenges_sealed") {
            p { "Who challenges is sealed until the window closes, and so is whether anybody does." }
        }
        @if list(claim, "challenges").is_empty() {
            @if !is(claim, "challenges_sealed") { p { "There is no challenge." } }
        } @else {
            (data_table("challenges", &html! { "Challenges" }, &columns, rows))
        }
    }
}

fn comparisons(claim: &Value) -> Markup {
    let columns = [
        Column::name("Comparison"),
        Column::words("With"),
        Column::words("Metric"),
        Column::words("Result"),
        Column::words("Claimed"),
        Column::words("One"),
        Column::words("Other"),
        Column::words("Apart"),
        Column::words("Allowed"),
    ];
    let cell = |kind: &str, value: &Value| match value.as_str() {
        Some(text) if text.parse::<arena_canon::Digest>().is_ok() => digest(text).into(),
        Some(_) => figure::measured(kind, value).into(),
        None => Cell::none("nothing to tell"),
    };
    let metrics = list(&claim["manifest"], "metrics");
    let rows = list(claim, "comparisons").iter().flat_map(|found| {
        list(found, "rows").iter().map(move |row| {
            let mark = if text(row, "status") == "pass" { Mark::Accepted } else { Mark::Order };
            let kind = figure::kind_of(metrics, text(row, "metric"));
            Row::new([
                text(row, "cmp").into(),
                agent_name(text(found, "challenger")).into(),
                guest(text(row, "metric"), 100).into(),
                chip(mark, &words(text(row, "status"))).into(),
                cell(kind, &row["ref"]),
                cell(kind, &row["a"]),
                cell(kind, &row["b"]),
                cell("", &row["diff"]),
                cell("", &row["limit"]),
            ])
        })
    });
    html! {
        h2 { "Comparison" }
        p { "C1 is the run against the claim, C2 a challenge against the claim, C3 the two reruns against each other." }
        (data_table("comparison", &html! { "Row by row" }, &columns, rows))
    }
}

fn panels(claim: &Value) -> Markup {
    let columns = [
        Column::name("Seat"),
        Column::words("Level"),
        Column::words("Reviewer"),
        Column::words("Committed"),
        Column::words("Vote"),
    ];
    let rows = list(claim, "panels").iter().flat_map(|panel| {
        list(panel, "seats").iter().enumerate().map(move |(place, seat)| {
            let vote = match seat["ballot"].is_null() {
                true => Cell::none("not told"),
                false => words(text(&seat["ballot"], "verdict")).into(),
            };
            Row::new([
                (place + 1).to_string().into(),
                plain(&panel["level"]).into(),
                agent_name(text(seat, "agent")).into(),
                if is(seat, "committed") { "yes" } else { "no" }.into(),
                vote,
            ])
        })
    });
    html! {
        h2 { "Panel" }
        @if let Some(verdict) = claim["verdict"].as_object() {
            p { "The verdict is " strong { (words(verdict.get("verdict").and_then(Value::as_str).unwrap_or(""))) } "." }
        }
        (data_table("panel", &html! { "Seats" small { "Votes are told together." } }, &columns, rows))
    }
}

/// Whose an account is, in words.
fn account_words(account: &str) -> Markup {
    let mut parts = account.split(':');
    let kind = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    html! {
        @match (kind, rest.as_slice()) {
            ("avail", [agent]) => { (agent_name(agent)) ", free" }
            ("lock", [_, role, agent]) => { (agent_name(agent)) ", locked as " (role) }
            ("pool", _) => { "the pool" }
            ("bucket", _) => { "what was slashed" }
            ("treasury", _) => { "the treasury" }
            _ => { (guest(account, 200)) }
        }
    }
}

fn postings(see: &See<'_>, settlement: &Value, asset: &str) -> Markup {
    let columns = [Column::name("Posting"), Column::words("Account"), Column::words("Change")];
    let rows = list(settlement, "postings").iter().enumerate().map(|(place, posting)| {
        Row::new([
            (place + 1).to_string().into(),
            account_words(text(posting, "account")).into(),
            money(text(posting, "change"), asset).into(),
        ])
    });
    html! {
        h2 { "Settlement" }
        p { "It ended as " strong { (words(text(settlement, "ending"))) } " " (see.time(&settlement["at"])) ". All changes together are zero." }
        (data_table("postings", &html! { "Every movement" }, &columns, rows))
    }
}
