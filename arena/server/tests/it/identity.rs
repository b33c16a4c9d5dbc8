use serde_json::json;

use crate::support::{ADMIN, Bench, request};

const NOW: &str = "2026-12-01T00:00:00Z";

#[tokio::test]
async fn a_key_is_shown_once_works_and_can_be_revoked() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read", "submit"]).await;
    let me = bench.get("/api/v1/me", Some(&key)).await.expect(200).json();
    assert_eq!((&me["id"], &me["operator"]), (&json!("bees"), &json!("hive")));
    let keys = bench.get("/api/v1/keys", Some(&key)).await.expect(200);
    assert!(!keys.text.contains(&key), "a key was shown twice");
    let id = keys.json()["items"][0]["key_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/keys/{id}");
    let revoke = request("DELETE", &path, Some(&key)).body(axum::body::Body::empty()).unwrap();
    bench.send(revoke).await.expect(200);
    let refused = bench.get("/api/v1/me", Some(&key)).await.expect(401);
    assert_eq!(refused.code(), "unauthorized");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read"]).await;
    let before = bench.get("/api/v1/me", Some(&key)).await.expect(200).text;
    bench.restart();
    assert_eq!(bench.get("/api/v1/me", Some(&key)).await.expect(200).text, before);
}

#[tokio::test]
async fn wrong_keys_of_every_kind_are_refused() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read"]).await;
    let mut typo = key.clone();
    typo.replace_range(20..21, if &key[20..21] == "a" { "b" } else { "a" });
    for wrong in [typo.as_str(), "", "ak_", "nonsense", &"a".repeat(600), &key[..key.len() - 1]] {
        assert_eq!(bench.get("/api/v1/me", Some(wrong)).await.code(), "unauthorized", "{wrong}");
    }
    let both = request("GET", "/api/v1/me", Some(&key)).header("x-admin-token", ADMIN);
    let both = bench.send(both.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(both.code(), "unauthorized");
    let other = request("GET", "/api/v1/me", None).header("authorization", format!("Basic {key}"));
    assert_eq!(bench.send(other.body(axum::body::Body::empty()).unwrap()).await.code(), "unauthorized");
}

#[tokio::test]
async fn a_key_ends_when_it_says() {
    let bench = Bench::at(NOW);
    bench.agent("bees", "hive", &["read"]).await;
    let body = json!({ "scopes": ["read"], "expires_at": "2026-12-01T01:00:00Z" });
    let made = bench.post("/api/v1/agents/bees/keys", Some(ADMIN), &body).await.expect(201).json();
    let key = made["key"].as_str().unwrap();
    bench.set("2026-12-01T00:59:59.999Z").await;
    bench.get("/api/v1/me", Some(key)).await.expect(200);
    bench.set("2026-12-01T01:00:00Z").await;
    bench.get("/api/v1/me", Some(key)).await.expect(401);
}

#[tokio::test]
async fn no_agent_gives_itself_more_power_or_anything_to_others() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read"]).await;
    bench.agent("wasps", "nest", &["read"]).await;
    let more = json!({ "scopes": ["admin"] });
    let said = bench.post("/api/v1/agents/bees/keys", Some(&key), &more).await;
    assert_eq!(said.expect(403).code(), "scope_missing");
    let said = bench.post("/api/v1/agents/wasps/keys", Some(&key), &json!({ "scopes": ["read"] })).await;
    assert_eq!(said.expect(404).code(), "not_found");
    let said = bench.post("/api/v1/agents", Some(&key), &json!({ "id": "x", "operator": "y" })).await;
    assert_eq!(said.expect(403).code(), "scope_missing");
    let said = bench.post("/api/v1/agents", None, &json!({ "id": "x", "operator": "y" })).await;
    assert_eq!(said.expect(401).code(), "unauthorized");
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_answered_again_and_done_once() {
    let bench = Bench::at(NOW);
    let body = json!({ "id": "bees", "operator": "hive" });
    let headers = [("idempotency-key", "one")];
    let send = async |body| bench.send_json("POST", "/api/v1/agents", Some(ADMIN), &headers, body).await;
    let first = send(&body).await.expect(201);
    let again = send(&body).await.expect(201);
    assert_eq!(first.text, again.text);
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    let other = json!({ "id": "wasps", "operator": "hive" });
    let other = send(&other).await;
    assert_eq!(other.expect(422).code(), "idempotency_key_reused");
    bench.restart();
    assert_eq!(send(&body).await.expect(201).header("idempotency-replayed"), "true");
    bench.set("2026-12-02T00:00:01Z").await;
    assert_eq!(send(&body).await.expect(409).code(), "exists");
}

#[tokio::test]
async fn a_key_that_is_asked_for_twice_is_not_shown_twice() {
    let bench = Bench::at(NOW);
    bench.agent("bees", "hive", &["read"]).await;
    let headers = [("idempotency-key", "k")];
    let body = json!({ "scopes": ["read"] });
    let path = "/api/v1/agents/bees/keys";
    let first = bench.send_json("POST", path, Some(ADMIN), &headers, &body).await.expect(201).json();
    let again = bench.send_json("POST", path, Some(ADMIN), &headers, &body).await.expect(200);
    assert_eq!(again.json()["code"], "key_already_shown");
    assert!(!again.text.contains(first["key"].as_str().unwrap()));
}

#[tokio::test]
async fn all_faults_of_a_body_are_told_at_once() {
    let bench = Bench::at(NOW);
    let body = json!({ "id": 3, "more": true });
    let said = bench.post("/api/v1/agents", Some(ADMIN), &body).await.expect(422).json();
    let places: Vec<&str> =
        said["errors"].as_array().unwrap().iter().map(|error| error["pointer"].as_str().unwrap()).collect();
    for place in ["#/id", "#/operator", "#/more"] {
        assert!(places.contains(&place), "{place} is not in {places:?}");
    }
}

#[tokio::test]
async fn a_seal_keeps_facts_from_the_feed_and_the_chain_can_be_followed() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read"]).await;
    let feed = request("GET", "/api/v1/events.ndjson?since=0", None).body(axum::body::Body::empty()).unwrap();
    let text = bench.stream(feed, |text| text.lines().filter(|line| !line.is_empty()).count() >= 3).await;
    let digest = arena_canon::Digest::of(key.as_bytes()).to_string();
    assert!(!text.contains(&key[14..46]) && !text.contains("key_issued") && !text.contains(&digest));
    assert!(text.contains("agent.registered") && text.contains("\"kind\":\"sealed\""), "{text}");
    let lines: Vec<serde_json::Value> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for pair in lines.windows(2) {
        assert_eq!(pair[0]["hash"], pair[1]["prev"]);
    }
}

#[tokio::test]
async fn refusals_below_the_handlers_are_problems_too() {
    let bench = Bench::at(NOW);
    let said = bench.get("/nothing/here", None).await.expect(404);
    assert_eq!(said.code(), "not_found");
    assert_eq!(said.json()["instance"].as_str().unwrap(), said.header("x-request-id"));
    let said = bench.post("/api/v1/me", None, &json!({})).await.expect(405);
    assert_eq!(said.code(), "method_not_allowed");
    assert!(said.header("allow").contains("GET"), "{:?}", said.headers);
    let long = json!({ "id": "a".repeat(300_000), "operator": "b" });
    assert_eq!(bench.post("/api/v1/agents", Some(ADMIN), &long).await.expect(413).code(), "body_too_large");
    let text = request("POST", "/api/v1/agents", Some(ADMIN)).header("content-type", "text/plain");
    assert_eq!(bench.send(text.body("{}".into()).unwrap()).await.expect(415).code(), "media_type");
    let packed = request("POST", "/api/v1/agents", Some(ADMIN))
        .header("content-type", "application/json")
        .header("content-encoding", "gzip");
    assert_eq!(bench.send(packed.body("{}".into()).unwrap()).await.expect(415).code(), "media_type");
    let broken = request("POST", "/api/v1/agents", Some(ADMIN)).header("content-type", "application/json");
    let twice = r#"{"id":"a","id":"b","operator":"c"}"#;
    assert_eq!(bench.send(broken.body(twice.into()).unwrap()).await.expect(400).code(), "not_json");
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back() {
    let mut config = arena_server::Config::default();
    config.limits.anonymous_per_second = 2;
    let bench = Bench::with(NOW, config);
    let mut refused = None;
    for _ in 0..50 {
        let said = bench.get("/openapi.json", None).await;
        if said.status == 429 {
            refused = Some(said);
            break;
        }
    }
    let refused = refused.expect("nothing was refused");
    assert_eq!(refused.code(), "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn nobody_is_called_what_means_something_else() {
    let bench = Bench::at(NOW);
    for name in ["admin", "anonymous", "me", "operator", "treasury"] {
        let said = bench.post("/api/v1/agents", Some(ADMIN), &json!({ "id": name, "operator": "x" })).await;
        assert_eq!(said.expect(422).json()["errors"][0]["pointer"], "#/id", "{name}");
    }
}

/// Another key of an agent, made by the admin.
async fn another_key(bench: &Bench, agent: &str) -> (String, String) {
    let body = json!({ "scopes": ["read"] });
    let made =
        bench.post(&format!("/api/v1/agents/{agent}/keys"), Some(ADMIN), &body).await.expect(201).json();
    let member = |name: &str| made[name].as_str().unwrap().to_owned();
    (member("key_id"), member("key"))
}

#[tokio::test]
async fn an_agent_gains_little_by_other_keys_and_nothing_by_new_ones() {
    let mut config = crate::support::limitless();
    // The admin's own requests are counted by the address, and there are fewer of them.
    (config.limits.burst, config.limits.requests_per_minute) = (40, 1);
    let bench = Bench::with(NOW, config);
    bench.agent("bees", "hive", &["read"]).await;
    let ask = async |key: &str| bench.get("/api/v1/me", Some(key)).await.status.as_u16();
    let (mut answered, mut asked) = (0, 0);
    // Each key is used up, revoked, and followed by another.
    for _ in 0..6 {
        let (id, key) = another_key(&bench, "bees").await;
        for _ in 0..41 {
            asked += 1;
            match ask(&key).await {
                200 => answered += 1,
                status => assert_eq!(status, 429),
            }
        }
        let path = format!("/api/v1/keys/{id}");
        let gone = request("DELETE", &path, Some(ADMIN)).body(axum::body::Body::empty()).unwrap();
        bench.send(gone).await.expect(200);
    }
    assert_eq!((answered, asked), (120, 246), "three keys' worth, however many there are");
    let mut browser = crate::play::Browser::new(&bench);
    browser.sign_in("bees").await.expect(303);
    browser.see("/strategies").await.expect(429);
    // Nobody else pays for it.
    let wasps = bench.agent("wasps", "nest", &["read"]).await;
    for _ in 0..40 {
        assert_eq!(ask(&wasps).await, 200);
    }
    assert_eq!(ask(&wasps).await, 429, "one key has no more than it had");
}

#[tokio::test]
async fn an_agent_makes_so_many_keys_an_hour() {
    let mut config = crate::support::limitless();
    config.limits.keys_per_hour = 3;
    let bench = Bench::with(NOW, config);
    let bees = bench.agent("bees", "hive", &["read"]).await;
    let scopes = json!({ "scopes": ["read"] });
    for _ in 0..3 {
        let made = bench.post("/api/v1/agents/bees/keys", Some(&bees), &scopes).await.expect(201).json();
        // A place for the next one.
        let path = format!("/api/v1/keys/{}", made["key_id"].as_str().unwrap());
        let gone = request("DELETE", &path, Some(&bees)).body(axum::body::Body::empty()).unwrap();
        bench.send(gone).await.expect(200);
    }
    let late = bench.post("/api/v1/agents/bees/keys", Some(&bees), &scopes).await.expect(429);
    assert!(late.header("retry-after").parse::<u64>().unwrap() > 60);
    bench.get("/api/v1/keys", Some(&bees)).await.expect(200);
    bench.post("/api/v1/agents/bees/keys", Some(ADMIN), &scopes).await.expect(201);
}
