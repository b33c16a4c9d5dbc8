//! One submission: its evidence, its hashes and references, what was judged, its disputes, and what the viewer may do
//! about it now and why not.

use arena_contests::sprint::Window;
use arena_contests::sprint::clock::{Action, Answer};
use arena_contests::sprint::round::{Actor, Command, Dispute, DisputeStatus, Revision, Stamped};
use arena_contests::sprint::wire as scores;

use super::board::window_sum;
use super::judge::{self, Sent};
use super::rails::told;
use super::{Refused, See, company_path, phase_line, round_path, state_chip};
use crate::instance::rounds::{Seen, dispute_id, disputes_on, line_of, record_json, submission_id};
use crate::pages::{
    Cell, Column, Field, Form, Mark, Markup, Page, Row, agent_link, agent_name, chip, data_table,
    definition_list, digest, empty_state, form, guest, html, link, money, notice,
};
use crate::texts::Texts;

/// The field of both forms.
pub(crate) const DISPUTE: &str = "text";

/// A submission. `refused` is a dispute or an amendment that was not taken, `sent` a judgement or a ruling.
pub(crate) fn submission_page(
    (see, texts): (&See<'_>, Texts<'_>),
    seen: &Seen<'_>,
    (company, window): (&str, Window),
    (refused, sent): (Option<Refused<'_>>, Option<&Sent<'_>>),
) -> Option<Markup> {
    let round = seen.of(company);
    let terms = round.terms();
    let submission = round.entrant(company).ok()?.submission(window)?;
    let record = round.record(company, window, see.now).ok()?;
    let id = submission_id(&terms.id, company, window);
    let (root, of_window) = (round_path(&terms.id), format!("{}/windows/{window}", round_path(&terms.id)));
    let body = html! {
        (super::frozen(seen))
        h2 { "What you may do now" }
        (may(see, seen, company, window))
        @if see.csrf.is_some() && (seen.own == Some(company) || seen.is_staff) {
            p { (link(&format!("{root}/desk"), &html! { "Your desk in this round" })) }
        }
        h2 { "Evidence" }
        (evidence(seen, submission.frozen()))
        h2 { "Revisions" }
        (revisions(see, submission.revisions()))
        h2 { "Score" }
        @match line_of(seen.round, company, see.now) {
            Some(line) => {
                @let score = scores::window_json(&line.round.windows[window.index()]);
                (window_sum("sum", &format!("{company}, {window}"), &score))
            }
            None => { p { "The company is not ranked." } }
        }
        h2 { "Judgements" }
        (judgements(see, seen, company, window))
        @if see.judges(seen) { (judge::judge(see, &seen.held.round, (company, window), sent)) }
        h2 id="disputes" { "Disputes" }
        (disputes((see, texts), seen, (company, window), (refused, sent)))
    };
    let title = format!("{window} of {company}");
    let path = format!("/submissions/{id}");
    let trail =
        [("Rounds", "/rounds"), (terms.title.as_str(), root.as_str()), (window.name(), of_window.as_str())];
    let page = Page::new(&title, &path, body)
        .standfirst(html! { p { (state_chip(record.state().name())) } (phase_line(see, round)) })
        .trail(&trail)
        .viewer(see.frame());
    Some(page.render())
}

/// Each thing that can be done to a submission, and whether the viewer may do it. What the rules say is asked of the
/// rules themselves.
fn may(see: &See<'_>, seen: &Seen<'_>, company: &str, window: Window) -> Markup {
    let Some(own) = seen.own else {
        if seen.is_staff {
            return html! { p { "Those who judge do so below, while the window is judged." } };
        }
        return html! {
            p { "Companies that take part may dispute it, and its own company may revise it before the cut-off. "
                "Sign in as the agent of a company to do so." }
        };
    };
    let round = &seen.held.round;
    let terms = round.terms();
    let dispute = would(see, seen, own, company, window);
    let revise = match terms.timetable.permits(terms.start, see.now, Action::ReviseSubmission, Some(window)) {
        _ if own != company => Err("it is another company's".to_owned()),
        Answer::Ok => Ok(()),
        _ => Err("the cut-off is over, so it is frozen".to_owned()),
    };
    let line = |what: &str, may: &Result<(), String>| {
        html! {
            li {
                @match may {
                    Ok(()) => { (chip(Mark::Accepted, "open")) " " (what) }
                    Err(why) => { (chip(Mark::Plain, "closed")) " " (what) ": " (guest(why, 300)) }
                }
            }
        }
    };
    html! {
        ul {
            (line("Dispute it", &dispute))
            (line("Revise it", &revise))
        }
    }
}

/// What the rules say to a dispute of this company now.
fn would(see: &See<'_>, seen: &Seen<'_>, own: &str, company: &str, window: Window) -> Result<(), String> {
    let round = &seen.held.round;
    let agent = round.entrant(own).map(|entrant| entrant.agent.clone()).unwrap_or_default();
    let ground = "A ground as long as the rules want it.".to_owned();
    let command = Command::FileDispute { company: company.to_owned(), window, ground: ground.into() };
    let by = Actor::Company { company: own.to_owned(), agent };
    round.decide(&Stamped { at: see.now, by, command }).map(|_| ()).map_err(|why| why.to_string())
}

fn evidence(seen: &Seen<'_>, frozen: &Revision) -> Markup {
    let package = &frozen.package;
    let asset = seen.round.terms().asset.as_str();
    let artifact = package.artifact.to_string();
    let lacks: Vec<String> = frozen.omissions.iter().map(|lack| lack.name().replace('_', " ")).collect();
    let or_none = |text: &str, max| {
        if text.is_empty() {
            html! { "none" }
        } else {
            guest(text, max)
        }
    };
    html! {
        @if !lacks.is_empty() {
            (notice(Mark::Appeal, "The package lacks something.", html! { p { (lacks.join("; ")) "." } }))
        }
        (definition_list([
            ("Claim", guest(&package.claim_summary, 1_000)),
            ("How it was verified", guest(&package.verification_summary, 2_000)),
            ("Class", html! { (package.class.name().replace('_', " ")) }),
            ("Artifact", html! { (digest(&artifact)) " " (link(&format!("/locker/{artifact}"), &html! { "In the Locker" })) }),
            ("Locker artifact", guest(&package.locker_artifact_ref, 200)),
            ("Locker evidence", guest(&package.locker_evidence_ref, 200)),
            ("Town post", guest(&package.town_post_ref, 200)),
            ("Intent", guest(&package.intent_stub_ref, 200)),
            ("Boards", guest(&frozen.boards_submission_ref, 300)),
            ("Operator intervention", html! { (package.intervention.name()) }),
            ("Receipts", or_none(&package.receipts.join(", "), 1_000)),
            ("Spent", html! { (package.spent_exo) " of " (package.declared_posture_exo) " EXO declared" }),
            ("Note on the budget", or_none(&package.budget_note, 500)),
            ("Stake", money(&package.stake.to_string(), asset)),
        ]))
    }
}

fn revisions(see: &See<'_>, revisions: &[Revision]) -> Markup {
    let columns = [
        Column::name("Reference"),
        Column::words("Received"),
        Column::words("Artifact"),
        Column::words("Lacked"),
    ];
    let rows = revisions.iter().map(|revision| {
        let lacks: Vec<String> =
            revision.omissions.iter().map(|lack| lack.name().replace('_', " ")).collect();
        Row::new([
            guest(&revision.boards_submission_ref, 300).into(),
            see.time(revision.at).into(),
            digest(&revision.package.artifact.to_string()).into(),
            if lacks.is_empty() { Cell::none("nothing") } else { lacks.join(", ").into() },
        ])
    });
    data_table("revisions", &html! { "Oldest first; the last one counts" }, &columns, rows)
}

fn judgements(see: &See<'_>, seen: &Seen<'_>, company: &str, window: Window) -> Markup {
    let judged =
        seen.of(company).entrant(company).map(|entrant| entrant.judgements(window)).unwrap_or_default();
    if judged.is_empty() {
        return empty_state("Nobody has judged it yet.", None);
    }
    let columns = [
        Column::name("Judgement"),
        Column::words("By"),
        Column::words("Parts"),
        Column::words("Why"),
        Column::words("At"),
    ];
    let rows = judged.iter().map(|judgement| {
        let record = record_json(&judgement.record);
        let state = record["state"].as_str().unwrap_or_default();
        let part = |key: &str| record[key].as_u64().unwrap_or(0);
        Row::new([
            state_chip(state).into(),
            agent_name(&judgement.by).into(),
            format!(
                "delivery {}, evidence {}, continuity {}, budget {}",
                part("delivery"),
                part("evidence"),
                part("continuity"),
                part("budget")
            )
            .into(),
            html! { (guest(&judgement.rationale, 2_000)) " " small { (judgement.receipt) } }.into(),
            see.time(judgement.at).into(),
        ])
    });
    data_table("judgements", &html! { "Oldest first; the last one counts" }, &columns, rows)
}

fn disputes(
    (see, texts): (&See<'_>, Texts<'_>),
    seen: &Seen<'_>,
    (company, window): (&str, Window),
    (refused, sent): (Option<Refused<'_>>, Option<&Sent<'_>>),
) -> Markup {
    let round = seen.of(company);
    let id = &round.terms().id;
    let own = seen.own.filter(|_| see.csrf.is_some());
    let found = disputes_on(round, company, window);
    let can_file = own.is_some_and(|own| would(see, seen, own, company, window).is_ok());
    let why = refused.map(|refused| refused.why());
    html! {
        @if found.is_empty() { (empty_state("Nobody disputes it.", None)) }
        @for (reference, dispute) in &found {
            (thread((see, texts), (id, reference), dispute))
            @if see.judges(seen) && dispute.status == DisputeStatus::Open { (judge::rule(see, id, reference, sent)) }
            @if own == Some(dispute.filer.as_str()) && dispute.status == DisputeStatus::Open {
                (form(&Form {
                    id: &format!("amend-{}", reference.replace(':', "-")),
                    action: &format!("/disputes/{}/amendments", dispute_id(id, reference)),
                    csrf: see.csrf,
                    submit: "Add to the dispute",
                    fields: vec![text_field("What you add", refused, why.as_deref())],
                    hidden: &[],
                    drastic: false,
                }))
            }
        }
        @if can_file {
            h3 { "Dispute it" }
            (form(&Form {
                id: "dispute",
                action: &format!("/submissions/{}/disputes", submission_id(id, company, window)),
                csrf: see.csrf,
                submit: "File the dispute",
                fields: vec![text_field("Ground", refused, why.as_deref())],
                hidden: &[],
                drastic: false,
            }))
        } @else if let Some(why) = &why {
            (notice(Mark::Order, "It was not taken.", html! { p { (guest(why, 1_000)) } }))
        }
    }
}

fn text_field<'a>(label: &'a str, refused: Option<Refused<'a>>, why: Option<&'a str>) -> Field<'a> {
    let hint = "From 20 characters on. A stake is held; it is lost only where there is no ground at all.";
    Field::textarea(DISPUTE, label, 2_000)
        .hint(hint)
        .required()
        .value(refused.map_or("", |refused| refused.text))
        .error(why)
}

fn thread(
    (see, texts): (&See<'_>, Texts<'_>),
    (round, reference): (&str, &str),
    dispute: &Dispute,
) -> Markup {
    let mark = match dispute.status {
        DisputeStatus::Open => Mark::Pending,
        DisputeStatus::Upheld => Mark::Accepted,
        DisputeStatus::Baseless => Mark::Order,
        DisputeStatus::Dismissed | DisputeStatus::Lapsed => Mark::Plain,
    };
    html! {
        article id=(dispute_id(round, reference).replace(':', "-")) {
            h3 { "Dispute " (reference.rsplit(':').next().unwrap_or_default()) " by "
                (agent_link(&company_path(&dispute.filer), &dispute.filer)) }
            p { (chip(mark, dispute.status.name())) " filed " (see.time(dispute.filed_at)) }
            (told(texts, &dispute.ground, 2_000))
            @for amendment in &dispute.amendments {
                p { (chip(Mark::Appeal, "after the cut-off")) " added " (see.time(amendment.at)) }
                (told(texts, &amendment.text, 2_000))
            }
            @if let Some(receipt) = &dispute.receipt { p { "Ruled, with the public receipt " code { (receipt) } } }
        }
    }
}
