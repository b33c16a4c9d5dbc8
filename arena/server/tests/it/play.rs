//! The human seat: sessions, guests, forms, and pages that everybody can use.

use axum::body::Body;
use serde_json::json;

use crate::audit::audit;
use crate::episodes::{act, join};
use crate::support::{ADMIN, Bench, Said, request};

const NOW: &str = "2026-12-01T00:00:00Z";
const TURNS: u32 = 24;

/// A browser: it keeps one cookie.
pub(crate) struct Browser<'a> {
    bench: &'a Bench,
    pub(crate) cookie: Option<String>,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(bench: &'a Bench) -> Self {
        Self { bench, cookie: None }
    }

    async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Said {
        let mut request = request(method, path, None).header("accept", "text/html");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("other=1; __Host-arena={cookie}"));
        }
        let said = self.bench.send(request.body(Body::from(body)).unwrap()).await;
        if let Some(cookie) = said.header("set-cookie").strip_prefix("__Host-arena=") {
            let value = cookie.split(';').next().unwrap().to_owned();
            self.cookie = Some(value).filter(|value| !value.is_empty());
        }
        said
    }

    /// A page, which has to be one that everybody can use.
    pub(crate) async fn see(&mut self, path: &str) -> Said {
        let said = self.send("GET", path, &[], String::new()).await;
        if said.header("content-type").starts_with("text/html") {
            assert_eq!(audit(&said.text), [""; 0], "{path}\n{}", said.text);
        }
        said
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Said {
        self.post_from(path, fields, "same-origin").await
    }

    async fn post_from(&mut self, path: &str, fields: &[(&str, &str)], site: &str) -> Said {
        let text = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect();
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let said = self.send("POST", path, &[kind, ("sec-fetch-site", site)], body.join("&")).await;
        if said.header("content-type").starts_with("text/html") {
            assert_eq!(audit(&said.text), [""; 0], "{path}\n{}", said.text);
        }
        said
    }

    /// Starts an episode; gives its page.
    pub(crate) async fn start(&mut self) -> String {
        let mut fields = vec![("pack", "two-spikes/0.1.0")];
        let csrf = if self.cookie.is_some() { csrf(&self.see("/play").await.text) } else { String::new() };
        fields.push(("csrf", &csrf));
        let said = self.post("/play", &fields).await.expect(303);
        said.header("location").to_owned()
    }

    /// Signs in by a link of the admin.
    pub(crate) async fn sign_in(&mut self, agent: &str) -> Said {
        let made =
            self.bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": agent })).await.expect(201);
        let path = made.json()["path"].as_str().unwrap().to_owned();
        for _ in 0..3 {
            // Whoever only looks at the link does not use it up.
            assert!(self.see(&path).await.expect(200).header("set-cookie").is_empty());
        }
        let token = path.rsplit_once('=').unwrap().1.to_owned();
        let page = self.see(&path).await.text;
        self.post("/login", &[("token", &token), ("csrf", &csrf(&page))]).await
    }
}

/// The token that the forms of a page carry.
pub(crate) fn csrf(page: &str) -> String {
    let after = page.split("name=\"csrf\" value=\"").nth(1).unwrap_or_default();
    after.split('"').next().unwrap_or_default().to_owned()
}

fn hidden(page: &str, name: &str) -> String {
    let after = page.split(&format!("name=\"{name}\" value=\"")).nth(1);
    after.unwrap_or_else(|| panic!("no {name} in {page}")).split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_guest_plays_an_episode_without_a_script() {
    let bench = Bench::at(NOW);
    let mut browser = Browser::new(&bench);
    let chooser = browser.see("/play").await.expect(200).text;
    assert!(chooser.contains("two-spikes/0.1.0") && chooser.contains("/login"));
    let said = browser.post("/play", &[("pack", "two-spikes/0.1.0"), ("csrf", "")]).await.expect(303);
    let cookie = said.header("set-cookie");
    for part in ["__Host-arena=", "Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
        assert!(cookie.contains(part) && !cookie.contains("Domain"), "{cookie}");
    }
    let seat = said.header("location").to_owned();
    assert_eq!(seat, "/play/e1");
    for turn in 0..TURNS {
        let page = browser.see(&seat).await.expect(200).text;
        assert_eq!(hidden(&page, "turn"), turn.to_string());
        for wanted in ["guest-", "$/MWh", "Forecast", "So far", "From "] {
            assert!(
                page.contains(wanted) || (wanted == "Forecast" && turn == TURNS - 1),
                "{wanted} on {turn}"
            );
        }
        let token = csrf(&page);
        let turn = turn.to_string();
        let fields = [
            ("csrf", token.as_str()),
            ("turn", turn.as_str()),
            ("curtail_mw", ""),
            ("battery_mw", "1e6"),
            ("diesel_mw", " 2.5 "),
        ];
        assert_eq!(browser.post(&seat, &fields).await.expect(303).header("location"), seat);
        let page = browser.see(&seat).await.expect(200).text;
        assert!(
            page.contains("the battery has no more power") || page.contains("the battery holds no more"),
            "{page}"
        );
    }
    let page = browser.see(&seat).await.expect(200).text;
    assert!(
        page.contains("Settlement") && page.contains("of 3 stars") && page.contains("/episodes/e1/turns/0")
    );
    let played = bench.get("/api/v1/episodes/e1", None).await.expect(200).json();
    assert!(played["agent"].as_str().unwrap().starts_with("guest-"));
    // It is listed now, and what it links to is there.
    let mut nobody = Browser::new(&bench);
    assert!(nobody.see("/play").await.expect(200).text.contains("/episodes/e1\""));
    assert_eq!(nobody.see("/play/e1").await.expect(303).header("location"), "/episodes/e1");
    nobody.see("/episodes/e1").await.expect(200);
}

#[tokio::test]
async fn the_form_and_the_api_play_the_same_episode() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let mut browser = Browser::new(&bench);
    browser.sign_in("bees").await.expect(303);
    let seat = browser.start().await;
    let id = seat.trim_start_matches("/play/").to_owned();
    let page = browser.see(&seat).await.text;
    let token = csrf(&page);
    let numbers = [("curtail_mw", "1.5"), ("battery_mw", "0"), ("diesel_mw", "0"), ("csrf", &token)];
    browser.post(&seat, &[&numbers[..], &[("turn", "0")]].concat()).await.expect(303);
    // The same action from the API is the same action.
    let same = json!({ "curtail_mw": 1.5, "battery_mw": 0, "diesel_mw": 0, "accept_offer": false });
    act(&bench, &key, &id, 0, &same).await.expect(200);
    act(&bench, &key, &id, 1, &json!({ "curtail_mw": 2 })).await.expect(200);
    // The page that still shows turn 1 is told what was played, and nothing is lost.
    let said = browser.post(&seat, &[&numbers[..], &[("turn", "1")]].concat()).await.expect(303);
    assert_eq!(said.header("location"), format!("{seat}?stale=1"));
    let page = browser.see(said.header("location")).await.expect(200).text;
    assert!(page.contains("Turn 1 was played before") && hidden(&page, "turn") == "2", "{page}");
    // Sent twice, as browsers do after going back: nothing happens twice.
    for _ in 0..2 {
        let said = browser.post(&seat, &[&numbers[..], &[("turn", "2")]].concat()).await.expect(303);
        assert_eq!(said.header("location"), seat);
    }
    let about = bench.get(&format!("/api/v1/episodes/{id}"), Some(&key)).await.json();
    assert_eq!(about["turn"], 3);
    // A turn that is not there yet shows where one is.
    browser.post(&seat, &[&numbers[..], &[("turn", "9")]].concat()).await.expect(303);
    for turn in ["x", "-1", "99"] {
        browser.post(&seat, &[&numbers[..], &[("turn", turn)]].concat()).await.expect(404);
    }
}

#[tokio::test]
async fn what_is_no_number_is_told_at_its_field_and_nothing_is_lost() {
    let bench = Bench::at(NOW);
    let mut browser = Browser::new(&bench);
    let seat = browser.start().await;
    let token = csrf(&browser.see(&seat).await.text);
    let fields = [
        ("csrf", token.as_str()),
        ("turn", "0"),
        ("curtail_mw", "1,5"),
        ("battery_mw", "inf\"><b>"),
        ("diesel_mw", "7.25"),
    ];
    let said = browser.post(&seat, &fields).await.expect(422);
    for wanted in
        ["2 fields need another look", "write the number with a point", "value=\"1,5\"", "value=\"7.25\""]
    {
        assert!(said.text.contains(wanted), "{wanted}");
    }
    assert!(!said.text.contains("<b>"));
    assert_eq!(bench.get("/api/v1/episodes/e1", Some(ADMIN)).await.json()["turn"], 0);
}

#[tokio::test]
async fn a_form_without_the_session_s_token_is_refused() {
    let bench = Bench::at(NOW);
    let mut browser = Browser::new(&bench);
    let seat = browser.start().await;
    let token = csrf(&browser.see(&seat).await.text);
    assert_eq!(token.len(), 64);
    for wrong in ["", "0", &"0".repeat(64), &token[..63]] {
        for path in [seat.as_str(), "/play", "/logout", "/login"] {
            let fields = [("csrf", wrong), ("turn", "0"), ("pack", "two-spikes/0.1.0"), ("token", "x")];
            browser.post(path, &fields).await.expect(403);
        }
    }
    let fields = [("csrf", token.as_str()), ("turn", "0"), ("pack", "two-spikes/0.1.0")];
    for site in ["cross-site", "same-site"] {
        browser.post_from(&seat, &fields, site).await.expect(403);
        // Nobody is made a guest, or signed in, by a page of another site.
        let mut other = Browser::new(&bench);
        other.post_from("/play", &fields, site).await.expect(403);
        other.post_from("/login", &[("token", "x")], site).await.expect(403);
        assert!(other.cookie.is_none());
    }
    assert_eq!(bench.get("/api/v1/episodes/e1", Some(ADMIN)).await.json()["turn"], 0);
    assert_eq!(bench.get("/api/v1/episodes/e2", Some(ADMIN)).await.code(), "not_found");
}

#[tokio::test]
async fn a_seat_is_its_player_s() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["play"]).await;
    let id = join(&bench, &key).await;
    act(&bench, &key, &id, 0, &json!({})).await.expect(200);
    let mut stranger = Browser::new(&bench);
    for path in [format!("/play/{id}"), format!("/episodes/{id}"), format!("/episodes/{id}/turns/0")] {
        assert!(stranger.see(&path).await.expect(404).text.contains("not_found"));
    }
    stranger.start().await;
    let token = csrf(&stranger.see("/play").await.text);
    for curtail in ["1", "wrong"] {
        let fields = [("csrf", token.as_str()), ("turn", "1"), ("curtail_mw", curtail)];
        stranger.post(&format!("/play/{id}"), &fields).await.expect(404);
    }
    let mut owner = Browser::new(&bench);
    owner.sign_in("bees").await.expect(303);
    owner.see(&format!("/play/{id}")).await.expect(200);
    owner.see(&format!("/episodes/{id}")).await.expect(200);
    owner.see(&format!("/episodes/{id}/turns/0")).await.expect(200);
    owner.see(&format!("/episodes/{id}/turns/1")).await.expect(404);
}

#[tokio::test]
async fn a_link_signs_in_once_and_a_session_ends() {
    let bench = Bench::at(NOW);
    bench.agent("bees", "hive", &["play"]).await;
    let made =
        bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": "bees" })).await.expect(201).json();
    let token = made["path"].as_str().unwrap().rsplit_once('=').unwrap().1.to_owned();
    let mut browser = Browser::new(&bench);
    browser.see("/login").await.expect(200);
    browser.post("/login", &[("token", &token)]).await.expect(303);
    let page = browser.see("/play").await.expect(200).text;
    assert!(page.contains("bees") && page.contains("/logout"));
    let mut second = Browser::new(&bench);
    second.post("/login", &[("token", &token)]).await.expect(409);
    assert!(second.cookie.is_none());
    let old = browser.cookie.clone();
    browser.post("/logout", &[("csrf", &csrf(&page))]).await.expect(303);
    assert!(browser.cookie.is_none());
    browser.cookie = old;
    assert!(browser.see("/play").await.expect(200).text.contains("Sign in"));
    // A session is for pages: the API does not take it.
    let mut guest = Browser::new(&bench);
    guest.start().await;
    guest.see("/api/v1/episodes/e1").await.expect(404);
    bench.set("2026-12-01T12:00:01Z").await;
    assert!(guest.see("/play").await.expect(200).text.contains("Sign in"));
}

#[tokio::test]
async fn a_guest_comes_back_with_a_key_and_a_program_plays_on_with_it() {
    let bench = Bench::at(NOW);
    let mut guest = Browser::new(&bench);
    let seat = guest.start().await;
    let page = guest.see("/play").await.expect(200).text;
    let said = guest.post("/play/key", &[("csrf", &csrf(&page))]).await.expect(200);
    assert_eq!(said.header("cache-control"), "no-store");
    let key = said.text.split("<code>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(key.starts_with("ak_"), "{key}");
    act(&bench, &key, "e1", 0, &json!({ "curtail_mw": 1 })).await.expect(200);
    // It opens no more than playing takes.
    let more = json!({ "scopes": ["submit"] });
    let me = bench.get("/api/v1/me", Some(&key)).await.expect(200).json();
    let path = format!("/api/v1/agents/{}/keys", me["id"].as_str().unwrap());
    assert_eq!(bench.post(&path, Some(&key), &more).await.expect(403).code(), "scope_missing");
    // Sessions do not outlive the server; the key does.
    bench.restart();
    guest.see(&seat).await.expect(404);
    let mut again = Browser::new(&bench);
    for wrong in [&key[..key.len() - 1], "ak_", "ak_x_y_z"] {
        again.post("/login", &[("token", wrong)]).await.expect(401);
    }
    again.post("/login", &[("token", &key)]).await.expect(303);
    let page = again.see(&seat).await.expect(200).text;
    assert_eq!(hidden(&page, "turn"), "1");
    let mut nobody = Browser::new(&bench);
    nobody.post("/play/key", &[]).await.expect(401);
}

#[tokio::test]
async fn a_person_has_at_most_so_many_open_episodes() {
    let bench = Bench::at(NOW);
    let mut browser = Browser::new(&bench);
    for _ in 0..8 {
        browser.start().await;
    }
    let page = browser.see("/play").await.expect(200).text;
    assert!(page.contains("/play/e8") && page.contains("Your open episodes"));
    let fields = [("csrf", csrf(&page)), ("pack", "two-spikes/0.1.0".to_owned())];
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(browser.post("/play", &fields).await.expect(409).text.contains("too_many_open"));
    for wrong in ["", "two-spikes", "two-spikes/9"] {
        let mut other = Browser::new(&bench);
        let said = other.post("/play", &[("pack", wrong)]).await;
        assert!(said.status == 422 || said.status == 404, "{}", said.status);
    }
}

#[tokio::test]
async fn packs_have_pages() {
    let bench = Bench::at(NOW);
    let mut browser = Browser::new(&bench);
    for pack in ["sunny-sunday", "two-spikes", "cap-to-floor"] {
        let page = browser.see(&format!("/packs/{pack}/0.1.0")).await.expect(200).text;
        assert!(
            page.contains(&format!("/api/v1/packs/{pack}/0.1.0"))
                && page.contains("ORDER") | page.contains("APPEAL")
        );
    }
    browser.see("/packs/none/0.1.0").await.expect(404);
    assert_eq!(browser.see("/packs").await.expect(303).header("location"), "/play");
}
