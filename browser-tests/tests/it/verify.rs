//! Somebody checks a replay in the page, with the engine itself and without asking the server for its opinion.

use arena_browser_tests::{Browser, Driver, Scripts, Served};
use serde_json::{Value, json};

/// Bytes that are changed, one at a time, over the length of the log.
const FLIPS: u32 = 60;

/// An agent's key.
fn player(served: &Served) -> String {
    served.as_admin("POST", "/api/v1/agents", Some(&json!({ "id": "bees", "operator": "hive" })));
    let made = served.as_admin("POST", "/api/v1/agents/bees/keys", Some(&json!({ "scopes": ["play"] })));
    made["key"].as_str().expect("a key").to_owned()
}

/// An episode that was played to its end over the API.
fn played(served: &Served, key: &str, pack: &str) -> String {
    let packs = served.as_admin("GET", "/api/v1/packs", None);
    let packs = packs["items"].as_array().expect("packs");
    let pack = packs.iter().find(|it| it["id"] == pack).expect("it is played here");
    let wanted = json!({ "pack": pack["id"], "version": pack["version"] });
    let made = served.with_key(key, "POST", "/api/v1/episodes", Some(&wanted));
    let id = made["episode"].as_str().expect("an episode").to_owned();
    for turn in 0..pack["turns"].as_u64().expect("a number") {
        let action = json!({ "battery_mw": if turn % 2 == 0 { -9.5 } else { 1000.0 }, "accept_offer": true });
        served.with_key(key, "PUT", &format!("/api/v1/episodes/{id}/turns/{turn}/action"), Some(&action));
    }
    id
}

fn shown(browser: &Browser<'_>, state: &str) -> String {
    browser.text(&format!("#own-check [role=status] [data-state={state}]"))
}

#[track_caller]
fn comes_to(browser: &Browser<'_>, state: &str) -> String {
    browser.wait(&format!("it does not come to `{state}`"), |browser| !shown(browser, state).is_empty());
    for other in ["busy", "verified", "departs", "refused", "failed"] {
        assert!(other == state || shown(browser, other).is_empty(), "{other} is shown beside {state}");
    }
    shown(browser, state)
}

#[test]
fn a_spectator_verifies_a_replay_in_the_page() {
    let Some(driver) = Driver::start("a_spectator_verifies_a_replay_in_the_page") else { return };
    let served = Served::start(&[]);
    let key = player(&served);
    let id = played(&served, &key, "two-spikes");
    let other = played(&served, &key, "sunny-sunday");
    let browser = Browser::open(&driver, &served.url, Scripts::Allowed);
    browser.go(&format!("/episodes/{id}"));
    assert!(
        browser.has("#own-check"),
        "the server has no verifier; `cargo xtask guests` builds it, and the server with it"
    );
    the_stored_log_is_what_it_comes_to(&browser, &id);
    a_changed_log_is_refused_with_its_turn(&browser, &served, &id);
    a_log_of_another_pack_is_checked_against_that(&browser, &served, &other);
    what_is_no_log_is_told(&browser);
    the_module_says_what_the_server_says(&browser, &id);
    assert_eq!(browser.console(), [""; 0]);
    what_cannot_be_fetched_says_nothing_about_the_log(&browser);
    the_chart_is_a_picture(&browser, &id);
}

fn the_stored_log_is_what_it_comes_to(browser: &Browser<'_>, id: &str) {
    browser.click("#own-check button");
    let told = comes_to(browser, "verified");
    assert!(told.contains("The stored score is the score of the replay"), "{told}");
    let api = browser.script(&format!(
        "return fetch('/api/v1/episodes/{id}/log').then((it) => it.text())\n\
             .then((body) => fetch('/api/v1/replays/verify',\n\
                 {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body }}))\n\
             .then((it) => it.json())"
    ));
    assert_eq!(api["verdict"], "verified");
    let value = |path: &str| browser.text(&format!("#own-check [data-path='{path}']"));
    for path in ["stored.sha256", "replayed.sha256", "log_sha256", "replayed_log_sha256"] {
        let wanted = api.pointer(&format!("/{}", path.replace('.', "/"))).and_then(Value::as_str);
        assert_eq!(Some(value(path).as_str()), wanted, "{path}");
    }
    assert_eq!(value("stored.sha256"), value("replayed.sha256"));
    let equal = browser.script(
        "return [...document.querySelectorAll('#own-check tbody tr')]\n\
             .map((row) => [...row.querySelectorAll('[data-same]')].filter((it) => !it.hidden)\n\
                 .map((it) => it.dataset.same).join())",
    );
    assert_eq!(equal, json!(vec!["equal"; 5]));
    browser.resize(320, 640);
    let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.script(wide), 0, "it scrolls sideways");
    browser.resize(1280, 1000);
}

fn a_changed_log_is_refused_with_its_turn(browser: &Browser<'_>, served: &Served, id: &str) {
    let mut log = served.as_admin("GET", &format!("/api/v1/episodes/{id}/log"), None);
    log["turns"][17]["action"]["battery_mw"] = json!(1.25);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("forged.json");
    std::fs::write(&path, log.to_string()).expect("a file");
    browser.choose("#own-check input", &path);
    let told = comes_to(browser, "departs");
    assert!(
        told.contains("forged.json") && told.contains("The first turn that departs is turn 17."),
        "{told}"
    );
    assert!(told.contains("#/turns/17"), "{told}");
    let digests = "return ['stored', 'replayed'].map((it) => document\n\
         .querySelector(`#own-check [data-path='${it}.sha256']`).textContent)";
    let digests = browser.script(digests);
    assert_ne!(digests[0], digests[1]);
    assert!(browser.text("#own-check table").contains("differs"));
}

fn a_log_of_another_pack_is_checked_against_that(browser: &Browser<'_>, served: &Served, other: &str) {
    let log = served.as_admin("GET", &format!("/api/v1/episodes/{other}/log"), None);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sunny.json");
    // One line of canonical JSON, as it was downloaded: this log has no number that is written in two ways.
    std::fs::write(&path, format!("{log}\n")).expect("a file");
    browser.choose("#own-check input", &path);
    let told = comes_to(browser, "verified");
    assert!(told.contains("sunny.json"), "{told}");
}

fn what_is_no_log_is_told(browser: &Browser<'_>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("holiday.json");
    std::fs::write(&path, b"\x89PNG").expect("a file");
    browser.choose("#own-check input", &path);
    let told = comes_to(browser, "refused");
    assert!(told.contains("holiday.json") && told.contains("not JSON"), "{told}");
    assert_eq!(browser.text("#own-check table"), "", "there is nothing to compare");
    std::fs::write(&path, vec![b' '; (4 << 20) + 1]).expect("a file");
    browser.choose("#own-check input", &path);
    assert!(comes_to(browser, "failed").contains("4194305 bytes"));
}

/// The bytes that the page runs, over a log with a byte changed here and there.
fn the_module_says_what_the_server_says(browser: &Browser<'_>, id: &str) {
    let script = format!(
        r#"return (async () => {{
        const {{ module, worker, pack }} = document.getElementById('own-check').dataset;
        const read = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
        const [log, its] = [await read('/api/v1/episodes/{id}/log'), await read(pack)];
        const ask = (log) => new Promise((done, fail) => {{
            const other = new Worker(worker);
            other.onmessage = ({{ data }}) => {{ other.terminate(); done(data.answer); }};
            other.onerror = (event) => fail(event.message);
            other.postMessage({{ module, pack: its.slice().buffer, log: log.slice().buffer }});
        }});
        const different = [], verdicts = {{}};
        for (let n = 0; n < {FLIPS}; n += 1) {{
            const forged = log.slice();
            if (n) forged[Math.floor(log.length * n / {FLIPS})] ^= [1, 2, 16, 128][n % 4];
            const [ours, theirs] = [await ask(forged), await fetch('/api/v1/replays/verify',
                {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: forged }})
                .then((it) => it.json())];
            verdicts[ours.verdict] = (verdicts[ours.verdict] || 0) + 1;
            const same = ours.verdict === 'refused' ? ours.code === theirs.code && ours.detail === theirs.detail
                : JSON.stringify(ours) === JSON.stringify(theirs);
            if (!same) different.push([n, ours, theirs]);
        }}
        return {{ different, verdicts }};
    }})()"#
    );
    let told = browser.script(&script);
    assert_eq!(told["different"], json!([]));
    assert_eq!(told["verdicts"]["verified"], 1, "the one that was not changed: {told}");
    assert!(told["verdicts"]["departs"].as_u64().is_some_and(|it| it > 10), "{told}");
    // The server refuses what is not JSON with a status, of which the console tells.
    let refused = told["verdicts"]["refused"].as_u64().unwrap_or_default();
    assert_eq!(browser.console().len() as u64, refused);
}

/// That the check could not be made is no verdict.
fn what_cannot_be_fetched_says_nothing_about_the_log(browser: &Browser<'_>) {
    browser.script("window.fetch = async () => { throw new Error('the network is gone'); }; return null");
    browser.click("#own-check button");
    let told = comes_to(browser, "failed");
    assert!(told.contains("the network is gone") && told.contains("nothing about the log"), "{told}");
}

/// As another site would: in an `<img>`, and alone.
fn the_chart_is_a_picture(browser: &Browser<'_>, id: &str) {
    browser.go(&format!("/episodes/{id}/chart.svg"));
    let drawn = browser.script(
        "const style = getComputedStyle(document.querySelector('text.strong'));\n\
         return [document.documentElement.nodeName, style.fontWeight, document.querySelectorAll('parsererror').length]",
    );
    assert_eq!(drawn, json!(["svg", "600", 0]));
    assert_eq!(browser.console(), [""; 0]);
    browser.go("/docs");
    let width = browser.script(&format!(
        "const it = new Image(); it.src = '/episodes/{id}/chart.svg'; return it.decode().then(() => it.naturalWidth)"
    ));
    assert_eq!(width, 720);
}

#[test]
fn without_scripts_there_is_what_the_server_found() {
    let Some(driver) = Driver::start("without_scripts_there_is_what_the_server_found") else { return };
    let served = Served::start(&[]);
    let id = played(&served, &player(&served), "two-spikes");
    let browser = Browser::open(&driver, &served.url, Scripts::Forbidden);
    browser.go(&format!("/episodes/{id}"));
    let told = browser.text("main");
    assert!(
        told.contains("The stored score is the score of the replay") && told.contains("arena verify"),
        "{told}"
    );
    assert_eq!(browser.text("#own-check"), "", "what needs scripts is not offered");
}
