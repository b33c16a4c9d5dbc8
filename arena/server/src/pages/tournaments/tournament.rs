//! One tournament: what is played, how far it is, how it ended, and how to check it.

use arena_tournament::{Class, Outcome};

use super::{See, cursor_of, encoded, grouped, path_of, status_chip};
use crate::http::paging::Wanted;
use crate::instance::tournaments::{Ended, Status, Tournament};
use crate::pages::chart::number::decimal;
use crate::pages::chart::{Heat, heat_map};
use crate::pages::{
    Cell, Column, Form, Live, Mark, Markup, Page, Row, agent_name, chip, data_table, definition_list, digest,
    form, guest, html, link, live_region, notice, pager,
};
use crate::problem::Problem;
use crate::workshop::{Card, Played, Rated};

/// The part of the page that stays fresh.
const NOW: &str = "now";
/// The events after which it has changed.
const KINDS: [&str; 3] = ["match.started", "match.finished", "tournament.terminal"];

/// The page of a tournament. `card` is there only where everything may be shown; `progress` while it is played; `own` is
/// the address of this server, as whoever looks came to it.
pub(crate) fn tournament_page(
    see: &See<'_>,
    wanted: &Wanted,
    tournament: &Tournament,
    (progress, card, own): (Option<u64>, Option<&Card>, &str),
    refused: Option<&Problem>,
) -> Markup {
    let path = path_of(tournament);
    let body = html! {
        @if let Some(problem) = refused {
            (notice(Mark::Order, problem.title(), html! { p { (guest(problem.detail(), 600)) } }))
        }
        (live_region(NOW, None, now(see, tournament, progress)))
        (actions(see, tournament))
        @if let Some(card) = card {
            (standings(card))
            (matrix(card))
            (matches(wanted, tournament, card))
            (identities(card))
            (checking(tournament, own))
        } @else {
            (strategies(see, tournament))
        }
        (receipt(tournament))
    };
    let title = tournament.text("title");
    let events = format!("/api/v1/events?topic=tournaments/{}", tournament.id());
    let standfirst = html! { p { (status_chip(tournament, progress.is_some())) } };
    let page = Page::new(title, &path, body)
        .description("A tournament between strategies.")
        .trail(&[("Tournaments", "/tournaments")])
        .standfirst(standfirst)
        .viewer(see.frame);
    match tournament.status() {
        Status::Started => page.live(Live { events: &events, kinds: &KINDS, region: NOW }).render(),
        _ => page.render(),
    }
}

fn now(see: &See<'_>, tournament: &Tournament, progress: Option<u64>) -> Markup {
    let completed = match &tournament.end {
        Some((_, ended)) => ended.completed,
        None => progress.unwrap_or_default(),
    };
    let time = |at: Option<_>| at.map_or_else(|| html! { "not yet" }, |at| see.time(at));
    let owner = tournament.owner.as_deref().map_or_else(|| html! { "the platform" }, agent_name);
    let rounds = tournament.plan.pointer("/matrix/rounds").and_then(|it| it.as_u64());
    let mut facts = vec![
        ("State", status_chip(tournament, progress.is_some())),
        ("Game", guest(tournament.text("game"), 16)),
        (
            "Matchups",
            html! {
                (grouped(completed)) " of " (grouped(tournament.matchups)) " "
                progress max=(tournament.matchups) value=(completed) aria-label="Matchups that are over" {}
            },
        ),
        ("Turns in all", html! { (grouped(tournament.turns)) }),
        ("Drafted by", owner),
        ("Drafted", see.time(tournament.at)),
        ("Frozen", time(tournament.frozen.as_ref().map(|frozen| frozen.at))),
        ("Started", time(tournament.started_at)),
        ("Ended", time(tournament.end.as_ref().map(|(at, _)| *at))),
    ];
    if let Some(rounds) = rounds {
        facts.insert(2, ("Rounds of a game", html! { (grouped(rounds)) }));
    }
    html! {
        h2 { "Where it stands" }
        (definition_list(facts))
        @match &tournament.end {
            Some((_, ended)) if ended.class != Class::Success => (unsuccessful(ended)),
            Some(_) => {}
            None if tournament.frozen.is_some() => {
                p {
                    "Who plays under which alias is hidden until the run has succeeded; until then only the number \
                     of matchups is told."
                }
            }
            None => { p { "Only you see this draft. Freezing it writes down for good what decides it." } }
        }
    }
}

fn unsuccessful(ended: &Ended) -> Markup {
    let (mark, words) = match ended.class {
        Class::Blocked => {
            (Mark::Order, "It is blocked: the protocol was violated, or what was frozen has changed.")
        }
        Class::Stalled => {
            (Mark::Appeal, "It has stalled: the machine failed, and the run can be started again.")
        }
        _ => (Mark::Appeal, "A budget ran out before the matrix was complete."),
    };
    notice(
        mark,
        words,
        html! {
            p {
                @if let Some(id) = ended.matchup { "At " code { (id) } ": " }
                (guest(&ended.reason, 600)) ". There is no scorecard, and the identities stay hidden."
            }
        },
    )
}

fn actions(see: &See<'_>, tournament: &Tournament) -> Markup {
    let Some(csrf) = see.csrf.filter(|_| tournament.is_own(see.viewer)) else { return html! {} };
    let (verb, submit, words) = match tournament.status() {
        Status::Draft => {
            ("freeze", "Freeze it", "Nothing of it can be changed after this, and everybody sees it.")
        }
        Status::Frozen => ("start", "Start it", "It is played when its turn comes."),
        Status::Over(Class::Stalled) => ("start", "Start it again", "What was played is kept."),
        _ => return html! {},
    };
    let action = format!("{}/{verb}", path_of(tournament));
    let drawn = Form {
        id: verb,
        action: &action,
        csrf: Some(csrf),
        submit,
        fields: Vec::new(),
        hidden: &[],
        drastic: false,
    };
    html! { h2 { "What you may do" } p { (words) } (form(&drawn)) }
}

/// The frozen list: names, and nothing of who plays under which alias.
fn strategies(see: &See<'_>, tournament: &Tournament) -> Markup {
    let columns = [
        Column::number("Index"),
        Column::name("Strategy"),
        Column::words("Version"),
        Column::words("SHA-256 of the component"),
    ];
    let rows = tournament.strategies.iter().enumerate().map(|(index, number)| {
        let Some(strategy) = see.instance.strategies.get(*number) else { return Row::new([]) };
        let cells: [Cell; 4] = [
            (index as i64).into(),
            guest(&strategy.name, 64).into(),
            guest(&strategy.version, 64).into(),
            digest(&strategy.admission.sha256.to_string()).into(),
        ];
        Row::new(cells)
    });
    let caption = html! { "Strategies" small { "As they are frozen; the list is no mapping to aliases." } };
    html! { h2 { "Who takes part" } (data_table("strategies", &caption, &columns, rows)) }
}

fn name_of(card: &Card, name: &str, index: u32) -> String {
    let is_shared = card.standings.iter().filter(|row| row.strategy == name).count() > 1;
    if is_shared { format!("{name} [{index}]") } else { name.to_owned() }
}

fn standings(card: &Card) -> Markup {
    let columns = [
        Column::number("Rank"),
        Column::name("Strategy"),
        Column::number("Score"),
        Column::number("Without self-play"),
        Column::number("Won"),
        Column::number("Drawn"),
        Column::number("Lost"),
        Column::number("No contest"),
        Column::number("Forfeits"),
        Column::words("Rating, 95 %"),
    ];
    let count = |count: u64| Cell::from(grouped(count));
    let rows = card.standings.iter().map(|row| {
        let rating = match &row.rating {
            Rated::Rated { elo, low, high } => {
                let (elo, low, high) = (decimal(*elo, 0), decimal(*low, 0), decimal(*high, 0));
                html! { span.nowrap { (elo) " (" (low) " to " (high) ")" } }.into()
            }
            Rated::Insufficient { reason } => Cell::from(guest(&reason.replace('_', " "), 60)),
        };
        Row::new([
            i64::from(row.rank).into(),
            guest(&name_of(card, &row.strategy, row.index), 80).into(),
            row.score.into(),
            row.score_without_self_play.into(),
            count(row.wins),
            count(row.draws),
            count(row.losses),
            count(row.no_contests),
            count(row.forfeits),
            rating,
        ])
    });
    let caption = html! { "Standings" small { "By points of all games; ties share a rank." } };
    html! { h2 { "Standings" } (data_table("standings", &caption, &columns, rows)) }
}

fn matrix(card: &Card) -> Markup {
    let names: Vec<String> =
        card.standings.iter().map(|row| name_of(card, &row.strategy, row.index)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let best = card.standings.first().map(|row| row.strategy.as_str()).unwrap_or_default();
    let description =
        format!("Mean score of the row against the column, in the order of the standings; first is {best}.");
    let means = card.means();
    html! {
        h2 { "Who scored what against whom" }
        (heat_map(&Heat {
            id: "matrix",
            title: "Mean score, row against column",
            description: &description,
            unit: "points a game",
            decimals: 1,
            names: &names,
            values: &means,
        }))
    }
}

fn outcome(played: &Played) -> Markup {
    match played.outcome {
        Outcome::First => html! { (guest(&played.a, 64)) " won" },
        Outcome::Second => html! { (guest(&played.b, 64)) " won" },
        Outcome::Draw => html! { "drawn" },
        Outcome::DoubleForfeit => chip(Mark::Appeal, "both forfeited"),
        Outcome::NoContest => chip(Mark::Appeal, "no contest"),
    }
}

fn matches(wanted: &Wanted, tournament: &Tournament, card: &Card) -> Markup {
    let after = |it: &&Played| wanted.after.as_ref().is_none_or(|after| it.id > *after);
    let mut found: Vec<&Played> = card.pairs.iter().filter(after).take(wanted.limit + 1).collect();
    let has_more = found.len() > wanted.limit;
    found.truncate(wanted.limit);
    let next = found.last().filter(|_| has_more).map(|it| encoded(&it.id));
    let columns = [
        Column::name("Match"),
        Column::words("First seat"),
        Column::words("Second seat"),
        Column::words("At"),
        Column::number("Time"),
        Column::words("Score"),
        Column::words("Outcome"),
    ];
    let path = path_of(tournament);
    let rows = found.iter().map(|it| {
        let pack = it.pack_id.as_deref().unwrap_or("the payoffs");
        Row::new([
            link(&format!("{path}/matches/{}", it.id), &html! { (it.id) }).into(),
            guest(&it.a, 64).into(),
            guest(&it.b, 64).into(),
            guest(pack, 64).into(),
            i64::from(it.repetition).into(),
            html! { span.nowrap { (it.scores[0]) " : " (it.scores[1]) } }.into(),
            outcome(it).into(),
        ])
    });
    let caption = html! { "Matches" small { "In the order of the frozen matrix." } };
    html! {
        h2 { "Match by match" }
        (data_table("matches", &caption, &columns, rows))
        (pager(&path, cursor_of(wanted).as_deref(), next.as_deref()))
    }
}

fn identities(card: &Card) -> Markup {
    let columns = [
        Column::name("Alias"),
        Column::words("Was"),
        Column::words("Commitment from before the first match"),
        Column::words("Check"),
    ];
    let rows = card.identities.iter().map(|it| {
        let check =
            if it.verified { chip(Mark::Accepted, "opens") } else { chip(Mark::Order, "does not open") };
        let cells: [Cell; 4] = [
            html! { code { (it.alias) } }.into(),
            guest(&name_of(card, &it.strategy, it.index), 80).into(),
            digest(&it.commitment.to_string()).into(),
            check.into(),
        ];
        Row::new(cells)
    });
    let caption = html! {
        "Who was who"
        small { "Each commitment was published before the first match, and opens to this strategy." }
    };
    html! {
        h2 { "Identities" }
        (data_table("identities", &caption, &columns, rows))
        p { "Randomness of the seating: " (guest(&card.seating, 200)) "." }
    }
}

/// Every digest that there is by now, and how to play it all again.
fn receipt(tournament: &Tournament) -> Markup {
    let Some(frozen) = &tournament.frozen else { return html! {} };
    let api = format!("/api/v1{}", path_of(tournament));
    let file = |name: &str, sha256: arena_canon::Digest| {
        html! { (digest(&sha256.to_string())) " " (link(&format!("{api}/{name}"), &html! { (name) })) }
    };
    let mut facts = vec![
        ("Frozen file", file("frozen", frozen.file.sha256)),
        ("Commitment to the secret", digest(&frozen.secret.commitment().to_string())),
    ];
    if let Some((_, pin)) = tournament.begun {
        facts.push(("Commitments to the identities", file("commitments", pin.sha256)));
    }
    let ended = tournament.end.as_ref().map(|(_, ended)| ended);
    for (label, name, pin) in [
        ("Receipt", "receipt", ended.and_then(|it| it.receipt)),
        ("Scorecard", "scorecard", ended.and_then(|it| it.scorecard)),
        ("Identities and secret", "identities", ended.and_then(|it| it.identities)),
    ] {
        if let Some(pin) = pin {
            facts.push((label, file(name, pin.sha256)));
        }
    }
    if let Some(record) = ended.and_then(|it| it.record_digest) {
        facts.push(("Digest of the result", digest(&record.to_string())));
    }
    html! { h2 { "Receipt" } (definition_list(facts)) }
}

/// How to compute all of it anew, without trust in this server.
fn checking(tournament: &Tournament, own: &str) -> Markup {
    let (id, path) = (tournament.id(), path_of(tournament));
    let is_kept = tournament.disclosed().is_ok_and(|ended| !ended.kept.is_empty());
    html! {
        h2 id="check" { "Check it yourself" }
        @if is_kept {
            p {
                "The first command fetches the run, the second computes it anew: who sat where, every record, the journal, \
                 the standings and each digest of the receipt."
            }
            pre { code {
                "arena tournament fetch " (own) (path) " --out " (id) "\n"
                "arena verify " (id)
            } }
            p {
                "The components are not handed out; they belong to whoever uploaded them. Who has them plays the matches \
                 again, and each must give its record:"
            }
            pre { code { "arena verify " (id) " --all --component FILE.wasm --component FILE.wasm" } }
            p {
                "All files in one: " (link(&format!("/api/v1{path}/run"), &html! { (id) ".tar" }))
                ", for programs of your own."
            }
        } @else {
            p {
                "Of this run the journal and the guests' words were not kept. Who has the components in a folder plays the \
                 whole tournament again; the scorecard has the same digest, whatever the machine."
            }
            pre { code {
                "curl -o frozen.json " (own) "/api/v1" (path) "/frozen\n"
                "curl " (own) "/api/v1" (path) "/identities | jq -r .secret > secret\n"
                "arena tournament run frozen.json --secret secret --files components --out run\n"
                "arena verify run --all\n"
                "sha256sum run/scorecard.json"
            } }
        }
    }
}
