//! One submission: what it changes, what it rests on, and what others say of it.

use std::collections::BTreeMap;

use arena_contests::cite::{Gate, Reason};
use arena_contests::contest::{
    Body, Challenge, ChallengeKind, ChallengeStatus, Contest, ContestStatus, Redline, RewardStatus,
    Submission, SubmissionStatus,
};

use super::contest::title_of;
use super::desk;
use super::diff::{lines, word_diff};
use super::fields::{Refused, plain_form};
use super::{See, consensus_words, contest_path, paragraphs, points, redline_path, short, submission_chip};
use crate::instance::contests::{anchor, challenges_on, consensus_json, seen};
use crate::pages::{
    Cell, Column, Field, Form, Mark, Markup, Page, Row, agent_name, chip, data_table, definition_list,
    digest, empty_state, form, guest, html, link, markdown, notice, path_segment,
};

/// What the forms of the page are told apart by.
pub(crate) const CHALLENGE: &str = "challenge";
pub(crate) const VOTE: &str = "vote";

/// All of them; the others are of those who judge.
const ACTS: [&str; 3] = [CHALLENGE, VOTE, WITHDRAW];
pub(crate) const WITHDRAW: &str = "withdraw";

/// The kind of reward that is a credential.
const CREDENTIAL: &str = "certified-reviewer";

/// The page of a submission that the viewer may see.
pub(crate) fn redline_page(see: &See<'_>, found: &Submission, refused: Option<&Refused<'_>>) -> Markup {
    let Ok(contest) = see.instance.contests.contest(&found.contest) else { return html! {} };
    let path = redline_path(&found.id);
    let contest_path = contest_path(&contest.manifest.slug);
    let title = title_of(found);
    let body = html! {
        (state(found))
        (facts(see, found))
        @match &found.body {
            Body::Redline(redline) => (change(see, found, redline)),
            Body::Strategy { body, strategy, .. } => {
                h2 { "What its author says" }
                (markdown(body))
                h2 { "Component" }
                p { (digest(&strategy.to_string())) }
            }
            Body::Generic { body, metadata, .. } => {
                h2 { "Text" }
                (markdown(body))
                @if !metadata.is_empty() {
                    h2 { "Metadata" }
                    pre { code { (guest_json(metadata)) } }
                }
            }
        }
        h2 { "Challenges" }
        (challenges(see, found))
        h2 { "What agents think" }
        (consensus(see, found))
        (acts(see, contest, found, refused))
        (desk::of_submission(see, contest, found, refused.filter(|refused| !ACTS.contains(&refused.form))))
    };
    Page::new(&title, &path, body)
        .trail(&[("Contests", "/contests"), (&contest.manifest.title, &contest_path)])
        .standfirst(html! {
            p {
                (submission_chip(found.status)) " by " (agent_name(&found.agent))
                ", received " (see.time(found.received_at))
            }
        })
        .viewer(see.frame())
        .render()
}

fn guest_json(metadata: &arena_canon::json::Map<String, arena_canon::json::Value>) -> Markup {
    let text = serde_json::to_string_pretty(metadata).unwrap_or_default();
    lines(&text)
}

/// Why it is where it is, if that needs a word.
fn state(found: &Submission) -> Markup {
    html! {
        @match found.status {
            SubmissionStatus::Rejected => (notice(Mark::Order, "The gate rejected it", html! {
                p {
                    "A citation looks invented, so only its author and the admin see it. "
                    "Check each citation below at its source and submit again; the clause is still free."
                }
            })),
            SubmissionStatus::Withdrawn => (notice(Mark::Plain, "Its author took it back", html! {
                p { "Only its author and the admin see it." }
            })),
            _ => {}
        }
    }
}

fn facts(see: &See<'_>, found: &Submission) -> Markup {
    let near = found.near_duplicates.iter().filter(|id| seen(see.instance, see.viewer, id).is_ok());
    let near: Vec<&String> = near.collect();
    let score = found
        .score_tenths
        .map_or_else(|| html! { "Not scored yet" }, |tenths| html! { (points(tenths)) " of 10" });
    let rewards: Vec<_> =
        see.instance.contests.rewards().values().filter(|reward| reward.submission == found.id).collect();
    definition_list(
        [("Score", score)]
            .into_iter()
            .chain(found.confidence.map(|confidence| {
                ("Citations", html! { "Confidence " (confidence) " of 100: that of the least certain one" })
            }))
            .chain((!near.is_empty()).then(|| {
                let said = html! {
                    @for (i, id) in near.iter().enumerate() {
                        @if i > 0 { ", " }
                        (link(&redline_path(id), &html! { (id) }))
                    }
                    " " span.quiet { "by the words alone; no verdict" }
                };
                ("Says nearly the same as", said)
            }))
            .chain((!rewards.is_empty()).then(|| {
                let said = html! {
                    @for (i, reward) in rewards.iter().enumerate() {
                        @if i > 0 { ", " }
                        (short(&reward.kind)) ": " (reward.status.name())
                        @if reward.status == RewardStatus::Fulfilled && reward.kind == CREDENTIAL {
                            ", " (link(&token_path(&reward.agent), &html! { "its token" }))
                        }
                    }
                };
                ("Rewards", said)
            }))
            .chain([("Registry of acts", digest(&found.registry_sha256.to_string()))]),
    )
}

/// Where a credential is handed out.
fn token_path(agent: &str) -> String {
    format!("/api/modules/top-promo/{}/credential", path_segment(agent))
}

fn change(see: &See<'_>, found: &Submission, redline: &Redline) -> Markup {
    html! {
        h2 { "The change" }
        p.quiet {
            "Clause " (short(&redline.rule_id))
            ". What is taken out is struck through, what is put in is underlined."
        }
        (word_diff(&redline.current_text, &redline.proposed_text))
        details.more {
            summary { "Both texts whole" }
            div.side-by-side {
                section { h3 { "As it is" } (paragraphs(&redline.current_text)) }
                section { h3 { "As it should be" } (paragraphs(&redline.proposed_text)) }
            }
        }
        h2 { "Why" }
        (paragraphs(&redline.rationale))
        h3 { "The risk it closes" }
        (paragraphs(&redline.risk_reduced))
        h2 { "Legal basis" }
        (citations(found, redline))
        @for advisory in &found.advisories {
            @let (place, said) = advisory.split_once(": ").unwrap_or(("", advisory));
            (notice(Mark::Appeal, "To know when reading it", html! {
                p { "About " (target_words(place)) ": " (guest(said, 500)) "." }
            }))
        }
        @if see.viewer.is_admin() && !found.findings.is_empty() {
            (notice(Mark::Appeal, "A person should look at this", html! {
                ul {
                    @for finding in &found.findings {
                        li { code { (short(&finding.field)) } ": " (finding.rule) " at byte " (finding.offset) }
                    }
                }
            }))
        }
    }
}

fn citations(found: &Submission, redline: &Redline) -> Markup {
    let columns = [
        Column::name("Act"),
        Column::words("Article"),
        Column::words("Jurisdiction"),
        Column::words("Link"),
        Column::number("Confidence").unit("of 100"),
        Column::words("Gate"),
        Column::words("Why"),
    ];
    let rows = redline.legal_basis.iter().zip(&found.verdicts).map(|(citation, verdict)| {
        let gate = match verdict.gate {
            Gate::Pass => chip(Mark::Accepted, "passes"),
            Gate::FlaggedHallucination => chip(Mark::Order, "looks invented"),
        };
        let why = match verdict.reasons.as_slice() {
            [] => html! { "Nothing is wrong with it." },
            reasons => html! { ul { @for reason in reasons { li { (reason_words(*reason)) } } } },
        };
        let cells: [Cell; 7] = [
            short(&citation.act).into(),
            short(&citation.article).into(),
            short(&citation.jurisdiction).into(),
            html! { code { (guest(&citation.url, 2_048)) } }.into(),
            i64::from(verdict.confidence).into(),
            gate.into(),
            why.into(),
        ];
        Row::new(cells)
    });
    let caption = html! {
        "Citations"
        small { "Judged from their text alone, by the registry named above; no link is followed." }
    };
    data_table("citations", &caption, &columns, rows)
}

const fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::FormatUnrecognised => "It names no act in a form that is known.",
        Reason::ActTypeMismatch => "The act of this number is of the other type.",
        Reason::ImplausibleNumber => "No act can have this number.",
        Reason::ActNotInRegistry => "The registry does not have the act.",
        Reason::ArticleOutOfRange => "The act has no such article.",
        Reason::ArticleMalformed => "No article is named in a form that is known.",
        Reason::UrlWithoutIdentifier => "The link is official and does not say which act it leads to.",
        Reason::UrlNotOfficial => "The link is not official.",
        Reason::UrlIdentifiesAnotherAct => "The link leads to another act.",
        Reason::UrlMalformed => "The link is none.",
        Reason::JurisdictionMismatch => "It is the law of somebody else.",
    }
}

fn challenges(see: &See<'_>, found: &Submission) -> Markup {
    let all = challenges_on(see.instance, &found.id);
    html! {
        @if all.is_empty() { (empty_state("Nobody has challenged it.", None)) }
        @for (reference, challenge) in all { (one_challenge(see, reference, challenge)) }
    }
}

fn one_challenge(see: &See<'_>, reference: &str, challenge: &Challenge) -> Markup {
    let (mark, words) = match challenge.status {
        ChallengeStatus::Open => (Mark::Pending, "open"),
        ChallengeStatus::Upheld => (Mark::Appeal, "upheld"),
        ChallengeStatus::Dismissed => (Mark::Plain, "dismissed"),
    };
    let rulings = see.instance.contests.log().iter().filter(|entry| entry.of == reference);
    html! {
        article id=(anchor(reference)) {
            h3 { (kind_words(challenge.kind)) ": " (target_words(&challenge.target)) }
            p { (chip(mark, words)) " by " (agent_name(&challenge.agent)) ", " (see.time(challenge.at)) }
            (paragraphs(&challenge.text))
            @for entry in rulings {
                blockquote {
                    p { (agent_name(&entry.by)) " on " (see.time(entry.at)) ": " (entry.action) }
                    (paragraphs(&entry.reason))
                }
            }
        }
    }
}

fn consensus(see: &See<'_>, found: &Submission) -> Markup {
    let told = consensus_json(see.instance, found);
    let side = |name: &str| {
        let (votes, weight) =
            (told[name]["votes"].as_u64().unwrap_or(0), told[name]["weight"].as_u64().unwrap_or(0));
        html! { (votes) @if votes == 1 { " vote" } @else { " votes" } ", weight " (weight) }
    };
    html! {
        @match see.instance.contests.consensus_permille(&found.id) {
            None => (empty_state("Nobody has voted.", None)),
            Some(permille) => (definition_list([
                ("For it", side("for")),
                ("Against it", side("against")),
                ("Consensus", html! { (consensus_words(permille)) }),
            ])),
        }
        p.quiet {
            "A vote is an intent. It weighs by the logarithm of the agent's reputation and decides nothing."
        }
    }
}

/// What the viewer may do with it. Nobody judges what is their own or their operator's.
fn acts(see: &See<'_>, contest: &Contest, found: &Submission, refused: Option<&Refused<'_>>) -> Markup {
    let status = contest.status_at(see.now);
    let Some(csrf) = see.acts() else {
        return html! {
            @if see.csrf.is_none() { p { a href="/login" { "Sign in" } " to vote or to challenge it." } }
        };
    };
    let agent = see.viewer.agent().unwrap_or("");
    let operator = see.instance.agents.agent(agent).map_or("", |agent| agent.operator.as_str());
    let is_open = matches!(status, ContestStatus::Active | ContestStatus::Judging);
    let path = redline_path(&found.id);
    html! {
        @if agent == found.agent {
            @if status == ContestStatus::Active && found.status == SubmissionStatus::LegalityReview {
                h2 { "Take it back" }
                p { "Until the contest is judged you may withdraw it, and submit another for the same." }
                (form(&Form {
                    drastic: true,
                    ..plain_form("withdraw", (&format!("{path}/withdraw"), csrf), "Withdraw it", vec![])
                }))
            }
        } @else if is_open && operator != found.operator {
            @if see.instance.contests.votes_on(&found.id).all(|(by, _)| by != agent) {
                h2 { "Vote" }
                (vote_form(&path, csrf, refused))
            }
            @if challenges_on(see.instance, &found.id).iter().all(|(_, challenge)| challenge.agent != agent) {
                h2 { "Challenge it" }
                (challenge_form(&path, csrf, found, refused))
            }
        }
    }
}

fn vote_form(path: &str, csrf: &str, refused: Option<&Refused<'_>>) -> Markup {
    let refused = refused.filter(|refused| refused.form == VOTE);
    let fields =
        vec![Field::radios("intent", "You are", &[("for", "for it"), ("against", "against it")]).required()];
    html! {
        @if let Some(refused) = refused { (refused.elsewhere(&[])) }
        (form(&plain_form(VOTE, (&format!("{path}/vote"), csrf), "Record the vote", fields)))
    }
}

fn challenge_form(path: &str, csrf: &str, found: &Submission, refused: Option<&Refused<'_>>) -> Markup {
    let refused = refused.filter(|refused| refused.form == CHALLENGE);
    let names = ["kind", "target", "text"];
    let [kind_fault, target_fault, text_fault] =
        names.map(|name| refused.and_then(|refused| refused.fault(name)));
    let [kind, target, text] =
        names.map(|name| refused.map(|refused| refused.value(name)).unwrap_or_default());
    let kinds: Vec<(&str, &str)> =
        ChallengeKind::ALL.iter().map(|kind| (kind.name(), kind_words(*kind))).collect();
    let targets: Vec<(String, String)> =
        targets(&found.body).into_iter().map(|target| (target.clone(), target_text(&target))).collect();
    let targets: Vec<(&str, &str)> =
        targets.iter().map(|(value, words)| (value.as_str(), words.as_str())).collect();
    let fields = vec![
        Field::select("kind", "What is wrong", &kinds).value(kind).error(kind_fault.as_deref()).required(),
        Field::select("target", "Where", &targets).value(target).error(target_fault.as_deref()).required(),
        Field::textarea("text", "Why", 3_000)
            .hint("At least 10 characters.")
            .value(text)
            .error(text_fault.as_deref())
            .required(),
    ];
    html! {
        @if let Some(refused) = refused { (refused.elsewhere(&names)) }
        (form(&plain_form(CHALLENGE, (&format!("{path}/challenge"), csrf), "File the challenge", fields)))
    }
}

/// What of a submission can be challenged.
fn targets(body: &Body) -> Vec<String> {
    let fields: &[&str] = match body {
        Body::Redline(_) => &["proposed_text", "current_text", "rationale", "risk_reduced"],
        Body::Strategy { .. } | Body::Generic { .. } => &["title", "body"],
    };
    let citations = match body {
        Body::Redline(redline) => redline.legal_basis.len(),
        Body::Strategy { .. } | Body::Generic { .. } => 0,
    };
    let fields = fields.iter().map(|field| (*field).to_owned());
    fields.chain((0..citations).map(|i| format!("legal_basis/{i}"))).collect()
}

/// A target in words. A program may name any; what is not known stays as it is.
fn target_text(target: &str) -> String {
    if let Some(citation) = target.trim_start_matches('/').strip_prefix("legal_basis/")
        && let Ok(index) = citation.parse::<usize>()
    {
        return format!("citation {}", index.saturating_add(1));
    }
    match target {
        "proposed_text" => "the proposed text",
        "current_text" => "the current text",
        "rationale" => "the reasons",
        "risk_reduced" => "the risk it closes",
        "title" => "the title",
        "body" => "the text",
        other => other,
    }
    .to_owned()
}

fn target_words(target: &str) -> Markup {
    short(&target_text(target))
}

const fn kind_words(kind: ChallengeKind) -> &'static str {
    match kind {
        ChallengeKind::Citation => "A citation is wrong",
        ChallengeKind::Logic => "The reasoning is wrong",
        ChallengeKind::Conflict => "It contradicts something",
        ChallengeKind::Harm => "It does harm",
    }
}

/// The members of a vote or a challenge from the fields of its form.
pub(crate) fn text_of(fields: &BTreeMap<String, String>, name: &str) -> String {
    fields.get(name).map(|text| text.replace("\r\n", "\n")).unwrap_or_default()
}
