//! `/docs/design`: every piece once, with made-up figures, so that it can be seen, audited and copied from.

use maud::{Markup, html};

use crate::pages::chart::{
    Axis, Band, Bands, Bars, Heat, Moment, Panel, Plot, Series, Shape, Span, band_chart, bar_chart, heat_map,
    line_chart, sparkline, step_chart,
};
use crate::pages::{
    Cell, Column, Field, Form, Line, Live, Mark, Page, Row, Step, StepState, Sum, Viewer, agent_link, chip,
    data_table, definition_list, digest, digest_inline, empty_state, form, live_region, markdown, money,
    notice, pager, quantity, replay_bar, steps, sum_breakdown, time_tag,
};

/// 2026-11-30 17:45:12 UTC; the page has no clock.
const NOW_MS: i64 = 1_796_060_712_000;
const SHA256: &str = "9f1c3e7a52b08d64c1f7e29b60a4d3851e7f90c2b6a8d4e3f1027c5b9a8e6d40";

/// The page.
pub(crate) fn page(viewer: Option<Viewer<'_>>) -> Markup {
    let body = html! {
        (marks())
        (words())
        (standings())
        (order_of_things())
        (charts())
        (forms())
        (writing())
    };
    let live =
        Live { events: "/api/v1/events?topic=design", kinds: &["standings.snapshot"], region: "standings" };
    Page::new("Pieces of a page", "/docs/design", body)
        .description("Every piece that pages here are made of, with made-up figures.")
        .standfirst(
            html! { p { "Every piece that pages here are made of. All names and figures are made up." } },
        )
        .trail(&[("Docs", "/docs")])
        .viewer(viewer)
        .live(live)
        .render()
}

fn marks() -> Markup {
    html! {
        h2 { "Marks" }
        p {
            "A colour never stands without a shape, nor a shape without words. "
            "Red is obligation or failure, yellow is option or caution."
        }
        div.swatches {
            (chip(Mark::Order, "ORDER")) (chip(Mark::Appeal, "APPEAL")) (chip(Mark::Accepted, "accepted"))
            (chip(Mark::Pending, "frozen")) (chip(Mark::Plain, "draft"))
        }
        (notice(Mark::Order, "Grid emergency until 19:00", html! {
            p { "Curtailment of 20 MW is mandatory." }
        }))
        (notice(Mark::Appeal, "The grid asks for relief", html! {
            p { "Curtail up to 12 MW by choice; " a href="/rules/1" { "how relief is paid" } "." }
        }))
        (notice(Mark::Accepted, "Every identity is verified", html! {
            p { "660 records lead to this scorecard." }
        }))
        (notice(Mark::Pending, "The standings were frozen with 60 minutes remaining", html! {
            p { "Later submissions are shown as pending." }
        }))
        (notice(Mark::Plain, "Round 8 begins on Monday", html! { p { "Entries are open." } }))
    }
}

fn words() -> Markup {
    html! {
        h2 { "In a line" }
        (definition_list([
            ("Begun", time_tag(NOW_MS - 11_520_000, NOW_MS)),
            ("Ends", time_tag(NOW_MS + 187_200_000, NOW_MS)),
            ("Stake", money("3445000", "credits")),
            ("Burned", money("-1200", "credits")),
            ("Cost", quantity(1252.4, 2, "$/MWh")),
            ("By", agent_link("/companies/7", "Bees & Co <script>\u{202e}")),
            ("Log", digest(SHA256)),
            ("Scores", sparkline("Scores of Bees", &[12.0, 40.0, 31.0, 55.0, 83.0, 80.0, 91.0], 0)),
        ]))
        p { "Within a sentence a digest is eight digits long: " (digest_inline(SHA256)) "." }
    }
}

fn standings_rows() -> [Row; 3] {
    let late = [
        Line::Plus { label: "Volume", points: 60, cap: Some("stops at 60; 74 were earned".to_owned()) },
        Line::Plus { label: "Evidence", points: 20, cap: None },
        Line::Plus { label: "First of its kind", points: 10, cap: None },
        Line::Plus { label: "References", points: 20, cap: Some("stops at 20; 34 were earned".to_owned()) },
        Line::Times {
            label: "Late revision",
            factor: "0.85",
            gives: 93,
            cap: Some("93.5, rounded down".to_owned()),
        },
        Line::Minus { label: "Upheld dispute", points: 10, gives: 83, cap: None },
    ];
    let plain = [
        Line::Plus { label: "Volume", points: 40, cap: None },
        Line::Plus { label: "Evidence", points: 20, cap: None },
    ];
    let opened = |id, of, total, lines| Cell::from(sum_breakdown(&Sum { id, of, total, lines }));
    [
        Row::new([
            1.into(),
            agent_link("/companies/7", "Bees").into(),
            opened("sum-bees-1", "Bees, window 1", 60, &plain),
            opened("sum-bees-2", "Bees, window 2", 83, &late),
            Cell::held(html! { "pending" }),
            143.into(),
            chip(Mark::Accepted, "eligible").into(),
        ])
        .key("bees"),
        Row::new([
            2.into(),
            html! { (agent_link("/companies/9", "Ants")) " (you)" }.into(),
            opened("sum-ants-1", "Ants, window 1", 60, &plain),
            Cell::none("not submitted"),
            Cell::held(html! { "pending" }),
            60.into(),
            chip(Mark::Pending, "disputed").into(),
        ])
        .key("ants")
        .mine(),
        Row::new([
            Cell::none("no rank"),
            agent_link("/companies/4", "Wasps").into(),
            0.into(),
            0.into(),
            Cell::none("not submitted"),
            0.into(),
            chip(Mark::Order, "disqualified").into(),
        ])
        .key("wasps")
        .out(),
    ]
}

fn standings() -> Markup {
    let columns = [
        Column::number("Rank"),
        Column::name("Company"),
        Column::number("Window 1").unit("points"),
        Column::number("Window 2").unit("points"),
        Column::number("Window 3").unit("points"),
        Column::number("Total").unit("points"),
        Column::words("State"),
    ];
    let caption =
        html! { "Standings of round 7" small { "After window 2. Each figure opens into its sum." } };
    html! {
        h2 { "A table that stays fresh" }
        (live_region(
            "standings",
            Some("Bees moved to second, 320 points"),
            data_table("standings-table", &caption, &columns, standings_rows()),
        ))
        (pager("/rounds/7?sort=total", Some("a"), Some("b")))
        h2 { "Where nothing is yet" }
        (empty_state("Nobody has entered this round yet.", Some(("Enter it", "/rounds/7/enter"))))
    }
}

fn order_of_things() -> Markup {
    let list = [
        Step { name: "Kickoff", state: StepState::Done, note: Some(time_tag(NOW_MS - 90_000_000, NOW_MS)) },
        Step { name: "Appeal", state: StepState::Skipped, note: None },
        Step {
            name: "Window 2",
            state: StepState::Current,
            note: Some(
                html! { "You may submit one revision. " a href="/rounds/7/windows/2" { "Submit it" } },
            ),
        },
        Step { name: "Window 3", state: StepState::Ahead, note: Some(time_tag(NOW_MS + 3_600_000, NOW_MS)) },
        Step { name: "Closeout", state: StepState::Ahead, note: None },
    ];
    html! { h2 { "States in their order" } (steps("Phases of round 7", &list))
    h2 { "A replay" }
    (replay_bar(9, 23, |turn| format!("/episodes/two-spikes/turns/{turn}"))) }
}

fn charts() -> Markup {
    let market: Vec<(f64, f64)> = (0..96)
        .map(|i| {
            (
                f64::from(i) / 4.0,
                60.0 + f64::from((i * 37) % 23) + if (68..76).contains(&i) { 420.0 } else { 0.0 },
            )
        })
        .collect();
    let forecast: Vec<(f64, f64)> = (0..96)
        .map(|i| {
            (
                f64::from(i) / 4.0,
                66.0 + f64::from((i * 31) % 13) + if (67..75).contains(&i) { 300.0 } else { 0.0 },
            )
        })
        .collect();
    let scores: Vec<(f64, f64)> = [0.0, 60.0, 60.0, 143.0, 133.0, 226.0]
        .iter()
        .enumerate()
        .map(|(i, score)| (i as f64, *score))
        .collect();
    let series = [Series { name: "price", points: &market }, Series { name: "forecast", points: &forecast }];
    let hours = Axis { label: "hour of the day", unit: "h", decimals: 2 };
    let names = ["Grudger", "Tit for tat", "Generous", "Win-stay", "Random", "Defector"];
    let values: Vec<Option<f64>> =
        (0..36).map(|i| (i != 21).then(|| f64::from((i * 7 + i / 6 * 5) % 31) / 10.0)).collect();
    html! {
        h2 { "Charts" }
        (line_chart(&Plot {
            id: "price", title: "Price and its forecast",
            description: "Quiet all day; a spike in the evening, foreseen a little early and too low.",
            x: hours, y: Axis { label: "price", unit: "$/MWh", decimals: 2 }, series: &series,
        }))
        (step_chart(&Plot {
            id: "score", title: "Score of Bees", description: "A ruling after window 2 took ten points.",
            x: Axis { label: "snapshot", unit: "", decimals: 0 },
            y: Axis { label: "score", unit: "points", decimals: 0 },
            series: &[Series { name: "Bees", points: &scores }],
        }))
        (bar_chart(&Bars {
            id: "cost", title: "Cost by strategy", description: "Lower is better; do-nothing pays 1 252.",
            unit: "$/MWh", decimals: 1,
            bars: &[("planner", 421.5), ("greedy", 512.4), ("idle", 1252.0), ("arbitrage", -38.2)],
        }))
        (episode())
        (heat_map(&Heat {
            id: "matrix", title: "Points a round",
            description: "The row's points against each column; one pair was not played.",
            unit: "points", decimals: 1, names: &names, values: &values,
        }))
    }
}

fn episode() -> Markup {
    let slots: Vec<String> = (0..24).map(|i| format!("{:02}:{:02}", 16 + i / 4, i % 4 * 15)).collect();
    let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
    let price: Vec<_> =
        (0..24).map(|i| Some(if (7..11).contains(&i) { 480.0 } else { 60.0 + f64::from(i % 5) })).collect();
    let import: Vec<_> = (0..24)
        .map(|i| (i < 18).then(|| if (8..11).contains(&i) { 18.4 } else { 62.0 - f64::from(i % 3) }))
        .collect();
    let battery: Vec<_> = (0..24)
        .map(|i| {
            (i < 18).then(|| {
                if i < 5 {
                    -12.0
                } else if (7..10).contains(&i) {
                    36.2
                } else {
                    0.0
                }
            })
        })
        .collect();
    let panels = [
        Panel { name: "price", unit: "$/MWh", decimals: 2, values: &price, shape: Shape::Step },
        Panel { name: "import", unit: "MW", decimals: 1, values: &import, shape: Shape::Step },
        Panel { name: "battery", unit: "MW, out is up", decimals: 1, values: &battery, shape: Shape::Bars },
    ];
    let orders = [Span { from: 8, to: 12, mark: Mark::Order, words: "curtail 20 MW" }];
    let appeals = [
        Span { from: 4, to: 8, mark: Mark::Appeal, words: "12 MW asked" },
        Span { from: 14, to: 15, mark: Mark::Appeal, words: "4 MW asked" },
        Span { from: 16, to: 20, mark: Mark::Pending, words: "not answered" },
    ];
    let offers = [Span { from: 5, to: 8, mark: Mark::Accepted, words: "8 MW taken" }];
    band_chart(&Bands {
        id: "episode",
        title: "Two spikes, turn by turn",
        description: "The battery is filled before the first spike and empties in it; one discharge was cut.",
        slots: &slots,
        panels: &panels,
        bands: &[
            Band { name: "orders", spans: &orders },
            Band { name: "appeals", spans: &appeals },
            Band { name: "offers", spans: &offers },
        ],
        now: Some(9),
        moments: &[
            Moment { slot: 5, words: "offer accepted", href: "/episodes/two-spikes/turns/5" },
            Moment {
                slot: 9,
                words: "battery cut from +40.0 to +36.2 MW: it was empty",
                href: "/episodes/two-spikes/turns/9",
            },
        ],
    })
}

fn forms() -> Markup {
    let act = Form {
        id: "act",
        action: "/play/two-spikes",
        csrf: Some("made-up"),
        submit: "Play turn 9",
        fields: vec![
            Field::number("curtail", "Curtail", "MW", (Some("0"), Some("40")), "0.1")
                .value("55")
                .required()
                .hint("The grid has ordered 20 MW.")
                .error(Some("55 MW is more than the 40 MW that can be curtailed")),
            Field::number("battery", "Battery", "MW", (Some("-40"), Some("40")), "0.1")
                .value("36.2")
                .hint("Out is positive, in is negative."),
            Field::radios(
                "offer",
                "The offer of 8 MW",
                &[("accept", "Accept it"), ("decline", "Decline it")],
            )
            .value("accept")
            .required(),
            Field::select("pace", "Next page", &[("turn", "The next turn"), ("event", "The next event")])
                .value("turn"),
            Field::text("note", "Note to yourself", 200),
            Field::checkbox("sure", "I have read the order"),
        ],
        hidden: &[("turn", "9")],
        drastic: false,
    };
    let upload = Form {
        id: "upload",
        action: "/strategies",
        csrf: Some("made-up"),
        submit: "Withdraw the claim",
        fields: vec![
            Field::file("component", "Component", "application/wasm,.wasm")
                .hint("At most 32 MiB.")
                .required(),
            Field::textarea("why", "Reason", 2_000).required(),
            Field::code("manifest", "Manifest, as JSON", 65_536).value("{\n  \"claim\": \"…\"\n}"),
        ],
        hidden: &[],
        drastic: true,
    };
    html! {
        h2 { "Forms" }
        (form(&act))
        h3 { "One that cannot be taken back" }
        (form(&upload))
    }
}

fn writing() -> Markup {
    let post = "# We are hiring\n\n\
                The *Bees* sell **heat maps**, see [our site](https://bees.example) or `arena play`.\n\n\
                - fast\n- exact\n\n> Quoted with care.\n\n```\nlet total = 60 + 20;\n```\n\n\
                <script>alert(1)</script>";
    html! {
        h2 { "A stranger's words" }
        (markdown(post))
        h2 { "A change of a clause" }
        p { "The producer shall deliver within " del { "thirty" } " " ins { "fourteen" } " days." }
    }
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::pages::Viewer;
    use crate::pages::audit::audit;

    #[test]
    fn every_piece_is_sound() {
        for viewer in [None, Some(Viewer { name: "Ants", csrf: "t" })] {
            let html = page(viewer).into_string();
            assert_eq!(audit(&html), [""; 0]);
        }
    }

    #[test]
    fn a_stranger_s_text_is_text() {
        let html = page(None).into_string();
        assert!(!html.contains("<script>") && html.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn every_class_has_a_rule() {
        let style = include_str!("../../assets/style.css");
        let html = page(None).into_string();
        let classes = html
            .split("class=\"")
            .skip(1)
            .filter_map(|it| it.split('"').next())
            .flat_map(str::split_whitespace);
        let known = |class: &str| {
            style
                .split(&format!(".{class}"))
                .skip(1)
                .any(|after| !after.starts_with(|it: char| it.is_alphanumeric() || it == '-'))
        };
        let unknown: std::collections::BTreeSet<_> = classes.filter(|class| !known(class)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
