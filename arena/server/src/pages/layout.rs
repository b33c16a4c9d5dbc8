//! The frame of every page: what stands above it, where one is, what is said, what stands below.

use maud::{DOCTYPE, Markup, html};

use crate::pages::assets;
use crate::pages::inline::{agent_name, guest};
use crate::pages::marks::{Mark, notice};

/// Label and path of each section, in the order of the bar.
const SECTIONS: [(&str, &str); 9] = [
    ("Now", "/"),
    ("Rounds", "/rounds"),
    ("Contests", "/contests"),
    ("Claims", "/claims"),
    ("Tournaments", "/tournaments"),
    ("Play", "/play"),
    ("Town", "/town"),
    ("Treasury", "/treasury"),
    ("Docs", "/docs"),
];

/// Which section a page belongs to that does not lie under its path.
const BELONGS: [(&str, &str); 10] = [
    ("/boards", "/rounds"),
    ("/companies", "/rounds"),
    ("/episodes", "/play"),
    ("/locker", "/rounds"),
    ("/packs", "/play"),
    ("/problems", "/docs"),
    ("/redlines", "/contests"),
    ("/rules", "/docs"),
    ("/strategies", "/tournaments"),
    ("/submissions", "/rounds"),
];

/// Who looks at the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewer<'a> {
    /// A stranger's text; escaped here.
    pub(crate) name: &'a str,
    /// Of the session, for the button that ends it.
    pub(crate) csrf: &'a str,
}

/// A part of the page that is drawn again when something happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Live<'a> {
    /// Path of the event stream, such as `/api/v1/events?topic=round.7`.
    pub(crate) events: &'a str,
    /// Kinds of events after which the part is fetched again.
    pub(crate) kinds: &'a [&'a str],
    /// The id that [`live_region`] gave it. The script asks for the page's own address with
    /// `fragment=<this>` in its query, and the answer has to contain an element with this id.
    pub(crate) region: &'a str,
}

/// A page. Make it with [`Page::new`], add what it has, then [`Page::render`].
#[derive(Debug, Clone)]
pub(crate) struct Page<'a> {
    title: &'a str,
    path: &'a str,
    body: Markup,
    description: &'a str,
    standfirst: Option<Markup>,
    trail: &'a [(&'a str, &'a str)],
    viewer: Option<Viewer<'a>>,
    live: Option<Live<'a>>,
}

impl<'a> Page<'a> {
    /// `title` is the only `<h1>` of the page, so `body` begins with `<h2>`. It is escaped, and characters
    /// that hide are shown, so it may contain a stranger's name. `path` is the page's own, without its
    /// query.
    pub(crate) fn new(title: &'a str, path: &'a str, body: Markup) -> Self {
        Self { title, path, body, description: "", standfirst: None, trail: &[], viewer: None, live: None }
    }

    /// One sentence for search engines and previews.
    pub(crate) fn description(self, description: &'a str) -> Self {
        Self { description, ..self }
    }

    /// A sentence or chips below the title.
    pub(crate) fn standfirst(self, standfirst: Markup) -> Self {
        Self { standfirst: Some(standfirst), ..self }
    }

    /// The way here as `(label, path)`, from the section to the page above this one.
    pub(crate) fn trail(self, trail: &'a [(&'a str, &'a str)]) -> Self {
        Self { trail, ..self }
    }

    /// Who looks at it. Without, the bar offers to sign in.
    pub(crate) fn viewer(self, viewer: Option<Viewer<'a>>) -> Self {
        Self { viewer, ..self }
    }

    /// With a part that stays fresh.
    pub(crate) fn live(self, live: Live<'a>) -> Self {
        Self { live: Some(live), ..self }
    }

    /// The whole document.
    pub(crate) fn render(self) -> Markup {
        let title = guest_line(self.title);
        let kinds = self.live.map(|live| live.kinds.join(" "));
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    title { (title) " · Arena" }
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    @if !self.description.is_empty() { meta name="description" content=(self.description); }
                    link rel="stylesheet" href=(assets::style_path());
                    link rel="icon" type="image/svg+xml" href=(assets::icon_path());
                    script src=(assets::script_path()) defer {}
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    (masthead(self.path, self.viewer))
                    div.frame {
                        (trail(self.trail, &title))
                        main id="main" tabindex="-1"
                            data-live=[self.live.map(|live| live.events)]
                            data-region=[self.live.map(|live| live.region)]
                            data-kinds=[kinds]
                        {
                            h1 { (title) }
                            @if let Some(standfirst) = &self.standfirst { div.standfirst { (standfirst) } }
                            (self.body)
                        }
                        div.visually-hidden id="announcements" role="status" aria-live="polite" {}
                    }
                    (foot())
                }
            }
        }
    }
}

/// A part of a page that may be sent alone. `say` is the sentence about what changed last ("Bees moved to
/// second, 320 points"); it is read out when it differs from the one before, at most one in ten seconds.
pub(crate) fn live_region(id: &str, say: Option<&str>, body: Markup) -> Markup {
    html! { div id=(id) data-say=[say] { (body) } }
}

fn guest_line(text: &str) -> String {
    arena_engine::Excerpt::line(text).to_string()
}

fn masthead(path: &str, viewer: Option<Viewer<'_>>) -> Markup {
    html! {
        header.masthead {
            div.frame {
                a.brand href="/" {
                    svg viewBox="0 0 16 16" aria-hidden="true" focusable="false" {
                        path d="M8 1 15 14H11.2L8 7.6 4.8 14H1Z" {}
                    }
                    "Arena"
                }
                nav aria-label="Sections" {
                    ul {
                        @for (label, section) in SECTIONS {
                            li { a href=(section) aria-current=[current(path, section)] { (label) } }
                        }
                    }
                }
                div.viewer {
                    @match viewer {
                        Some(viewer) => {
                            span { (agent_name(viewer.name)) }
                            form method="post" action="/logout" {
                                input type="hidden" name="csrf" value=(viewer.csrf);
                                button.quiet.small type="submit" { "Sign out" }
                            }
                        }
                        None => { a href="/login" { "Sign in" } }
                    }
                }
            }
        }
    }
}

/// `page` where one is on the section's own page, `true` where one is within it.
fn current(path: &str, section: &str) -> Option<&'static str> {
    if path == section {
        return Some("page");
    }
    let within =
        |root: &str| path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    let belongs = BELONGS.iter().any(|(root, to)| *to == section && within(root));
    (section != "/" && within(section) || belongs).then_some("true")
}

fn trail(trail: &[(&str, &str)], here: &str) -> Markup {
    html! {
        @if !trail.is_empty() {
            nav.trail aria-label="Breadcrumb" {
                ol {
                    @for (label, path) in trail { li { a href=(path) { (guest_line(label)) } } }
                    li { span aria-current="page" { (here) } }
                }
            }
        }
    }
}

fn foot() -> Markup {
    html! {
        footer.foot {
            div.frame {
                p { "Arena " (env!("CARGO_PKG_VERSION")) }
                p { a href="/docs" { "How it works" } }
                p { a href="/openapi.json" { "API" } }
                p { "All times are UTC. Every result here can be recomputed." }
            }
        }
    }
}

/// What a problem body says (RFC 9457), for a person.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Problem<'a> {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Stable, such as `turn_already_committed`; the page `/problems/<code>` explains it.
    pub(crate) code: &'a str,
    /// In a few words.
    pub(crate) title: &'a str,
    /// In a sentence, with the value and the limit. May quote a stranger.
    pub(crate) detail: &'a str,
    /// The id of the request.
    pub(crate) instance: &'a str,
    /// Each faulty field: its JSON pointer, its code, what is wrong with it.
    pub(crate) errors: &'a [(&'a str, &'a str, &'a str)],
    /// Where to go on, as `(label, path)`.
    pub(crate) onward: Option<(&'a str, &'a str)>,
}

/// A whole page that tells a problem. `path` is the one that was asked for.
pub(crate) fn error_page(problem: &Problem<'_>, path: &str, viewer: Option<Viewer<'_>>) -> Markup {
    let body = html! {
        (notice(Mark::Order, &format!("{} · {}", problem.status, problem.code), html! {
            p { (guest(problem.detail, 1_000)) }
        }))
        @if !problem.errors.is_empty() {
            h2 { "What is wrong" }
            ul {
                @for (pointer, code, detail) in problem.errors {
                    li {
                        code { (guest(pointer, 200)) } " " (guest(detail, 600)) " "
                        span.quiet { "(" (code) ")" }
                    }
                }
            }
        }
        p {
            @if let Some((label, path)) = problem.onward { a href=(path) { (label) } " · " }
            a href=(format!("/problems/{}", problem.code)) { "What this problem means" }
        }
        p.quiet { "Request " code { (guest(problem.instance, 80)) } }
    };
    Page::new(problem.title, path, body).viewer(viewer).render()
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::{Live, Page, Problem, Viewer, current, error_page};
    use crate::pages::audit::audit;

    #[test]
    fn one_section_is_current() {
        for (path, section, want) in [
            ("/", "/", Some("page")),
            ("/rounds", "/", None),
            ("/rounds", "/rounds", Some("page")),
            ("/rounds/7/windows/2", "/rounds", Some("true")),
            ("/roundsabout", "/rounds", None),
            ("/companies/3", "/rounds", Some("true")),
            ("/episodes/e/turns/4", "/play", Some("true")),
        ] {
            assert_eq!(current(path, section), want, "{path} in {section}");
        }
    }

    #[test]
    fn a_page_with_everything_has_no_fault() {
        let live = Live {
            events: "/api/v1/events?topic=round.7",
            kinds: &["standings.snapshot"],
            region: "standings",
        };
        let page = Page::new("Round <7>\u{202e}", "/rounds/7", html! { h2 { "Standings" } })
            .description("The \"seventh\" round")
            .standfirst(html! { "Window 2 of 3" })
            .trail(&[("Rounds", "/rounds")])
            .viewer(Some(Viewer { name: "<script>", csrf: "\"><b>" }))
            .live(live)
            .render()
            .into_string();
        assert_eq!(audit(&page), [""; 0]);
        assert!(page.contains("Round &lt;7&gt;\\u{202e} · Arena</title>"), "{page}");
        assert!(page.contains("data-kinds=\"standings.snapshot\""));
        assert!(!page.contains("<script>") && page.contains("value=\"&quot;&gt;&lt;b&gt;\""));
    }

    #[test]
    fn a_problem_is_told_with_its_fields_and_the_way_on() {
        let problem = Problem {
            status: 422,
            code: "kickoff_refused",
            title: "The kickoff was refused",
            detail: "2 fields are <wrong>",
            instance: "req-1",
            errors: &[("#/legal_basis/0/article", "unknown_article", "no article 999\u{1b}")],
            onward: Some(("Back to the round", "/rounds/7")),
        };
        let page = error_page(&problem, "/rounds/7", None).into_string();
        assert_eq!(audit(&page), [""; 0]);
        assert!(
            page.contains("2 fields are &lt;wrong&gt;") && page.contains("no article 999\\u{1b}"),
            "{page}"
        );
    }
}
