//! A newcomer looks at the season of `arena serve --demo`.

use std::collections::BTreeSet;

use arena_browser_tests::{Browser, Driver, Scripts, Served};
use serde_json::json;

/// Keys of a keyboard, as a WebDriver names them.
const RIGHT: &str = "\u{e014}";
const LEFT: &str = "\u{e012}";
const HOME: &str = "\u{e011}";
const END: &str = "\u{e010}";
/// Pages that are looked at on a narrow screen.
const PAGES_MAX: usize = 60;

#[test]
fn a_newcomer_sees_a_living_site() {
    let Some(driver) = Driver::start("a_newcomer_sees_a_living_site") else { return };
    let served = Served::start(&["--demo"]);
    let browser = Browser::open(&driver, &served.url, Scripts::Allowed);
    a_replay_is_stepped_by_keyboard(&browser);
    the_standings_change_while_somebody_looks(&browser, &served);
    the_link_makes_a_browser_the_admins(&browser, &served);
    every_page_can_be_used_by_everybody(&browser, &served);
    an_audit_finds_what_is_wrong(&browser);
}

fn a_replay_is_stepped_by_keyboard(browser: &Browser<'_>) {
    let at = |turn: &str| format!("/episodes/e1/turns/{turn}");
    let comes_to = |turn: &str| {
        browser.wait(&format!("turn {turn} does not come"), |browser| browser.path() == at(turn));
    };
    browser.go(&at("0"));
    for (key, turn) in [(RIGHT, "1"), (RIGHT, "2"), (LEFT, "1"), (END, "23"), (LEFT, "22"), (HOME, "0")] {
        browser.press(key);
        comes_to(turn);
    }
    browser.press(" ");
    browser.wait("it does not play", |browser| browser.path().starts_with(&at("1#play=")));
    browser.press(" ");
    browser.wait("it does not pause", |browser| !browser.path().contains('#'));
    assert_eq!(browser.console(), [""; 0]);
}

/// An evaluator rules on the dispute that is open; a spectator's page changes by itself.
fn the_standings_change_while_somebody_looks(browser: &Browser<'_>, served: &Served) {
    browser.go("/rounds/season-0-round-2");
    let row = "[data-key=cedar]";
    let before = browser.text(row);
    assert!(before.contains("disputed"), "{before}");
    browser.script("window.isTheSamePage = true; return null");
    let made =
        served.as_admin("POST", "/api/v1/agents/eva/keys", Some(&json!({ "scopes": ["judge", "read"] })));
    let key = made["key"].as_str().expect("a key");
    let ruling = json!({
        "ruling": "upheld", "rationale": "the second run agrees",
        "verdict": {
            "state": "accepted", "delivery": 60, "evidence": 20, "continuity": 20, "budget": 20, "penalties": [],
            "rationale": "installed and verified",
        },
    });
    let path = "/api/v1/disputes/dispute:season-0-round-2:1/ruling";
    served.with_key(key, "POST", path, Some(&ruling));
    browser.wait("the standings do not change", |browser| {
        let now = browser.text(row);
        !now.is_empty() && now != before
    });
    assert_eq!(browser.script("return window.isTheSamePage"), true, "it was not opened again");
    assert_eq!(browser.console(), [""; 0]);
}

fn the_link_makes_a_browser_the_admins(browser: &Browser<'_>, served: &Served) {
    let link = served.told["demo"]["admin_login"].as_str().expect("a link");
    browser.go(link);
    browser.click("#login button[type=submit]");
    browser.wait("nobody is signed in", |browser| browser.path() == "/play");
    browser.go("/admin");
    assert!(browser.has("main h2"), "the admin's page is shown");
}

/// As the admin, who sees the most: on a wide and on a narrow screen, in light and in dark, no page has a fault, none
/// scrolls sideways, and the console says nothing.
fn every_page_can_be_used_by_everybody(browser: &Browser<'_>, served: &Served) {
    let first = served.told["demo"]["pages"].as_array().expect("pages").iter();
    let mut found: Vec<String> =
        first.map(|page| page["path"].as_str().expect("a path").to_owned()).collect();
    found.extend(["/boards", "/rules/sprint-v1", "/docs", "/admin", "/login"].map(str::to_owned));
    let mut shapes: BTreeSet<String> = BTreeSet::new();
    let mut looked = 0;
    while looked < found.len().min(PAGES_MAX) {
        let path = found[looked].clone();
        browser.resize(1280, 1000);
        browser.go(&path);
        assert_eq!(browser.audit(), [""; 0], "{path}");
        browser.resize(320, 640);
        assert_eq!(browser.audit(), [""; 0], "{path} on a narrow screen");
        let wide = browser.script(
            "const all = [...document.body.querySelectorAll('*')];\n\
             const page = document.documentElement;\n\
             if (page.scrollWidth <= page.clientWidth) return [];\n\
             return all.filter((it) => it.getBoundingClientRect().right > page.clientWidth + 1)\n\
                 .map((it) => it.outerHTML.slice(0, 120)).slice(0, 5);",
        );
        assert_eq!(wide, json!([]), "{path} scrolls sideways");
        assert_eq!(browser.console(), [""; 0], "{path}");
        let links = browser.script("return [...document.links].map((it) => it.getAttribute('href'))");
        for link in links.as_array().into_iter().flatten().filter_map(|link| link.as_str()) {
            let page = link.split(['#', '?']).next().unwrap_or_default();
            // One of each kind of page is enough.
            let others = ["/api/", "/assets/", "/openapi.json"];
            let is_page = !page.ends_with(".svg") && !others.iter().any(|root| page.starts_with(root));
            let is_ours = page.starts_with('/') && is_page;
            if is_ours && !found.iter().any(|known| known == page) && shapes.insert(shape(page)) {
                found.push(page.to_owned());
            }
        }
        looked += 1;
    }
    assert!(looked > 25, "{looked} pages");
}

/// That nothing is found is worth as much as what would be.
fn an_audit_finds_what_is_wrong(browser: &Browser<'_>) {
    browser.go("/");
    browser.script(
        "const main = document.querySelector('main');\n\
         const add = (name, style) => { const it = document.createElement(name); Object.assign(it.style, style);\n\
             it.textContent = 'x'; main.append(it); return it; };\n\
         add('p', { color: '#999', background: '#fff' }).id = 'main';\n\
         for (let n = 0; n < 2; n += 1) add('button', { all: 'unset', display: 'inline-block', width: '9px',\n\
             height: '9px' });\n\
         add('button', {}).textContent = '';\n\
         return null",
    );
    let found = browser.audit().join("\n");
    for wanted in
        ["Light: contrast 2.8", "Dark: contrast 2.8", "9 by 9", "the id main", "button\" without a name"]
    {
        assert!(found.contains(wanted), "{wanted} is not among\n{found}");
    }
}

/// The kind of a page: its address without what names one of many.
fn shape(path: &str) -> String {
    let part = |part: &str| {
        let is_name = part.contains(['-', ':']) || part.bytes().any(|byte| byte.is_ascii_digit());
        if is_name { "*".to_owned() } else { part.to_owned() }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
