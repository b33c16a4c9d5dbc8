//! `/`: what runs now, what comes next, and what happened last.

use arena_contests::Moment;
use arena_contests::contest::{Contest, ContestStatus};
use arena_contests::sprint::round::Stage;
use arena_store::Event;

use crate::auth::Viewer;
use crate::instance::Instance;
use crate::instance::rounds::{Seen, phase_ends, visible};
use crate::pages::{
    Cell, Column, Live, Mark, Markup, Page, Row, chip, data_table, definition_list, empty_state, guest, html,
    layout, link, live_region, path_segment, time_tag,
};

/// Things of one list here; each has a page with all of them.
const SHOWN_MAX: usize = 10;
/// Finished episodes are counted up to here.
const COUNTED_MAX: usize = 1_000;
const REGION: &str = "now";
/// After these the page is drawn again. What happens at every turn is not among them.
const KINDS: [&str; 13] = [
    "agent.registered",
    "award.paid",
    "contest.leaderboard",
    "contest.status",
    "entrant.registered",
    "match.finished",
    "match.started",
    "round.announced",
    "round.cancelled",
    "round.closed",
    "standings.snapshot",
    "submission.judged",
    "tournament.terminal",
];

/// Who looks, at what, and when.
pub(crate) struct Front<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) viewer: &'a Viewer,
    pub(crate) frame: Option<layout::Viewer<'a>>,
    pub(crate) now: Moment,
    /// The last announcements, the newest first.
    pub(crate) events: &'a [Event],
}

impl Front<'_> {
    fn time(&self, at: Moment) -> Markup {
        time_tag(at.unix_ms(), self.now.unix_ms())
    }
}

/// The page.
pub(crate) fn front_page(front: &Front<'_>) -> Markup {
    let body = live_region(
        REGION,
        None,
        html! {
            h2 { "Rounds" }
            (rounds(front))
            h2 { "Contests" }
            (contests(front))
            h2 { "Episodes" }
            (episodes(front))
            h2 { "What happened last" }
            (news(front))
            h2 { "In figures" }
            (figures(front))
        },
    );
    Page::new("Now and next", "/", body)
        .description("What runs now, what comes next, and what happened last.")
        .standfirst(html! {
            p {
                "People and agents play, submit, challenge and watch here. "
                a href="/play" { "Play an episode" } ", or read " a href="/docs" { "how to get a key" } "."
                @if front.viewer.is_admin() { " " a href="/admin" { "Run the platform" } "." }
            }
        })
        .viewer(front.frame)
        .live(Live { events: "/api/v1/events", kinds: &KINDS, region: REGION })
        .render()
}

fn rounds(front: &Front<'_>) -> Markup {
    let all = front.instance.rounds.all().keys();
    let seen = all.filter_map(|id| visible(front.instance, front.viewer, id, front.now).ok());
    let is_on = |seen: &Seen<'_>| {
        matches!(seen.round.stage(front.now), Stage::Announced | Stage::Running | Stage::Closing)
    };
    let mut seen: Vec<Seen<'_>> = seen.filter(is_on).collect();
    seen.sort_by_key(|seen| seen.round.terms().start);
    if seen.is_empty() {
        return empty_state("No round runs, and none is announced.", Some(("All rounds", "/rounds")));
    }
    let columns =
        [Column::name("Round"), Column::words("Stage"), Column::words("Next"), Column::number("Companies")];
    let rows = seen.iter().take(SHOWN_MAX).map(|seen| {
        let terms = seen.round.terms();
        let stage = seen.round.stage(front.now);
        let next = phase_ends(seen.round, front.now);
        let next = next.map_or_else(|| Cell::none("nothing"), |next| front.time(next).into());
        let cells: [Cell; 4] = [
            link(&format!("/rounds/{}", path_segment(&terms.id)), &guest(&terms.title, 200)).into(),
            chip(if stage == Stage::Running { Mark::Accepted } else { Mark::Pending }, stage.name()).into(),
            next,
            i64::try_from(seen.round.entrants().len()).unwrap_or(i64::MAX).into(),
        ];
        Row::new(cells).key(terms.id.clone())
    });
    data_table("rounds", &html! { "Rounds that run or are announced" }, &columns, rows)
}

fn contests(front: &Front<'_>) -> Markup {
    let status = |contest: &Contest| contest.status_at(front.now);
    let is_on =
        |contest: &&Contest| matches!(status(contest), ContestStatus::Active | ContestStatus::Judging);
    let mut on: Vec<&Contest> = front.instance.contests.all().filter(is_on).collect();
    on.sort_by_key(|contest| contest.manifest.ends_at);
    if on.is_empty() {
        return empty_state("No contest is open or being judged.", Some(("All contests", "/contests")));
    }
    let columns = [Column::name("Contest"), Column::words("Status"), Column::words("Ends")];
    let rows = on.iter().take(SHOWN_MAX).map(|contest| {
        let is_active = status(contest) == ContestStatus::Active;
        let mark = if is_active { Mark::Accepted } else { Mark::Pending };
        let cells: [Cell; 3] = [
            link(&contest_path(contest), &guest(&contest.manifest.title, 200)).into(),
            chip(mark, status(contest).name()).into(),
            front.time(contest.manifest.ends_at).into(),
        ];
        Row::new(cells).key(contest.manifest.id.clone())
    });
    data_table("contests", &html! { "Contests that are open or being judged" }, &columns, rows)
}

fn contest_path(contest: &Contest) -> String {
    format!("/contests/{}", path_segment(&contest.manifest.slug))
}

/// The viewer's own open episodes. Another's is shown to nobody before its end.
fn episodes(front: &Front<'_>) -> Markup {
    let own = front.viewer.agent().into_iter().flat_map(|agent| front.instance.episodes.open_by(agent));
    let own: Vec<_> = own.collect();
    html! {
        @if own.is_empty() {
            (empty_state("You play no episode now.", Some(("Choose a pack", "/play"))))
        } @else {
            ul {
                @for record in own {
                    li {
                        a href=(format!("/play/{}", record.id())) { "Episode " (record.id()) }
                        ", turn " (record.turn)
                    }
                }
            }
        }
    }
}

fn news(front: &Front<'_>) -> Markup {
    if front.events.is_empty() {
        return empty_state("Nothing has happened yet.", Some(("How it works", "/docs")));
    }
    let columns = [Column::words("When"), Column::name("What"), Column::words("Where")];
    let rows = front.events.iter().map(|event| {
        let at = Moment::from_unix_ms(i64::try_from(event.at_ms).unwrap_or(i64::MAX));
        let cells: [Cell; 3] = [
            front.time(at).into(),
            words(&event.kind, &event.topic).into(),
            place(front, &event.topic).into(),
        ];
        Row::new(cells).key(event.seq.to_string())
    });
    html! {
        (data_table("news", &html! { "The last announcements" }, &columns, rows))
        p { "All of them, as they happen: " a href="/api/v1/events.ndjson?since=0" { "the feed" } "." }
    }
}

/// The kind of an announcement as a sentence. A kind that has none is told by its own words.
fn words(kind: &str, topic: &str) -> String {
    let of_tournament = topic.strip_prefix("tournaments/").and_then(|_| tournament_sentence(kind));
    of_tournament.or_else(|| sentence(kind)).map_or_else(|| told(kind), str::to_owned)
}

/// `claim.run_committed`: "Claim: run committed".
fn told(kind: &str) -> String {
    let (area, what) = kind.split_once('.').unwrap_or(("", kind));
    let mut area: String = area.replace('_', " ");
    if let Some(first) = area.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{area}: {}", what.replace(['_', '.'], " "))
}

/// Matches of a tournament are told by their number only.
fn tournament_sentence(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "match.finished" => "Matchups of a tournament are over",
        "match.started" => "A tournament began",
        "tournament.terminal" => "A tournament ended",
        _ => return None,
    })
}

fn sentence(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "agent.registered" => "An agent was made known",
        "award.paid" => "An award was paid",
        "contest.challenge_ruled" => "A challenge was ruled on",
        "contest.challenged" => "A submission was challenged",
        "contest.leaderboard" => "A leaderboard stands",
        "contest.proposed" => "A contest was proposed",
        "contest.scored" => "A submission was scored",
        "contest.status" => "A contest moved on",
        "contest.voted" => "A vote was cast",
        "dispute.filed" => "A dispute was filed",
        "dispute.ruled" => "A dispute was ruled on",
        "entrant.entered" => "A company entered the call",
        "entrant.registered" => "A company registered",
        "intent.counted" => "An intent was written",
        "intervention.recorded" => "An intervention was recorded",
        "match.finished" => "An episode was finished",
        "match.started" => "An episode was started",
        "match.turn" => "A turn was played",
        "round.announced" => "A round was announced",
        "round.cancelled" => "A round was cancelled",
        "round.closed" => "A round was settled",
        "standings.snapshot" => "Standings were recorded",
        "submission.judged" => "A submission was judged",
        "submission.received" => "A submission came in",
        "town.posted" => "A post came in",
        _ => return None,
    })
}

/// What an announcement is about, with a link where the viewer may see it.
fn place(front: &Front<'_>, topic: &str) -> Markup {
    let Front { instance, viewer, now, .. } = front;
    match topic.split_once('/') {
        Some(("rounds", id)) => match visible(instance, viewer, id, *now) {
            Ok(seen) => {
                link(&format!("/rounds/{}", path_segment(id)), &guest(&seen.round.terms().title, 200))
            }
            Err(_) => guest(topic, 128),
        },
        Some(("contests", id)) => match instance.contests.contest(id) {
            Ok(contest) => link(&contest_path(contest), &guest(&contest.manifest.title, 200)),
            Err(_) => guest(topic, 128),
        },
        Some(("episodes", id))
            if instance.episodes.seen(viewer, id).is_ok_and(|record| record.end.is_some()) =>
        {
            link(&format!("/episodes/{}", path_segment(id)), &html! { "Episode " (guest(id, 32)) })
        }
        Some(("episodes", id)) => html! { "Episode " (guest(id, 32)) },
        Some(("agents", id)) => html! { "Agent " (guest(id, 64)) },
        Some(("tournaments", id)) => {
            link(&format!("/tournaments/{}", path_segment(id)), &html! { "Tournament " (guest(id, 32)) })
        }
        Some(("claims", id)) => {
            link(&format!("/claims/{}", path_segment(id)), &html! { "Claim " (guest(id, 32)) })
        }
        _ => guest(topic, 128),
    }
}

fn figures(front: &Front<'_>) -> Markup {
    let instance = front.instance;
    let seen =
        instance.rounds.all().keys().filter_map(|id| visible(instance, front.viewer, id, front.now).ok());
    let finished = instance.episodes.list(&Viewer::Anonymous, None, None).take(COUNTED_MAX).count();
    let finished =
        if finished < COUNTED_MAX { finished.to_string() } else { format!("{COUNTED_MAX} or more") };
    let count = |n: usize| html! { (n) };
    definition_list([
        ("Agents, guests among them", count(instance.agents.all().len())),
        ("Rounds", count(seen.count())),
        ("Contests", count(instance.contests.all().count())),
        ("Finished episodes", html! { (finished) }),
        ("Rows of the journal", html! { (instance.seq) }),
    ])
}
