//! The request log and the figures: what they tell, and that they tell no secret.

use arena_server::Config;
use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{ADMIN, Bench, request};

const NOW: &str = "2026-12-01T00:00:00Z";

fn lines(bench: &Bench) -> Vec<Value> {
    bench.logged().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_request_is_one_line_with_who_asked_and_what_came_of_it() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read"]).await;
    let before = bench.logged().len();
    let said = bench.get("/api/v1/me?fields=all", Some(&key)).await.expect(200);
    bench.get("/api/v1/me", None).await.expect(401);
    bench.post("/api/v1/agents", Some(ADMIN), &json!({ "id": "bees", "operator": "x" })).await.expect(409);
    let lines = lines(&bench).split_off(before);
    let told: Vec<Value> = lines
        .iter()
        .map(|line| json!([line["method"], line["path"], line["status"], line["agent"], line["code"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!(["GET", "/api/v1/me", 200, "bees", null]),
            json!(["GET", "/api/v1/me", 401, "anonymous", "unauthorized"]),
            json!(["POST", "/api/v1/agents", 409, "admin", "exists"]),
        ]
    );
    assert_eq!(lines[0]["id"], said.header("x-request-id"));
    assert_eq!(lines[0]["time"], NOW);
    assert!(lines[0]["ms"].is_u64());
}

#[tokio::test]
async fn no_secret_is_in_the_log_wherever_it_was_sent() {
    let bench = Bench::at(NOW);
    let key = bench.agent("bees", "hive", &["read", "submit"]).await;
    let login =
        bench.post("/api/v1/logins", Some(ADMIN), &json!({ "agent": "bees" })).await.expect(201).json();
    let login = login["path"].as_str().unwrap().rsplit('=').next().unwrap().to_owned();
    let cookie = "5e".repeat(32);
    let mut typo = key.clone();
    typo.truncate(key.len() - 1);
    let wrong_token = format!("{ADMIN}0");
    for secret in [&key, &typo, &login, &cookie, ADMIN, &wrong_token] {
        for path in [
            format!("/api/v1/agents/{secret}/keys"),
            format!("/{secret}"),
            format!("/problems/{secret}"),
            format!("/login?token={secret}"),
            format!("/api/v1/events.ndjson?since={secret}"),
            format!("/api/v1/me?key={secret}"),
        ] {
            for method in ["GET", "POST", "DELETE"] {
                let about = |name: &str, value: String| request(method, &path, None).header(name, value);
                for asked in [
                    request(method, &path, None),
                    about("authorization", format!("Bearer {secret}")),
                    about("authorization", secret.to_string()),
                    about("x-admin-token", secret.to_string()),
                    about("cookie", format!("__Host-arena={secret}")),
                    about("user-agent", secret.to_string()),
                    about("referer", format!("http://127.0.0.1/{secret}")),
                    about("x-request-id", secret.to_string()),
                    about("idempotency-key", secret.to_string()),
                    about("x-forwarded-for", secret.to_string()),
                ] {
                    for kind in ["application/json", "application/x-www-form-urlencoded"] {
                        let body = format!("{{\"id\":\"{secret}\",\"token={secret}\":\"{secret}\"}}");
                        let asked = clone(&asked, kind);
                        bench.send(asked.body(Body::from(body)).unwrap()).await;
                    }
                }
            }
        }
        let method = Method::from_bytes(secret.replace('_', "-").as_bytes()).unwrap();
        let asked =
            axum::http::Request::builder().method(method).uri("/api/v1/me").body(Body::empty()).unwrap();
        bench.send(asked).await;
    }
    let log = bench.logged();
    assert!(log.len() > 1_000, "{}", log.len());
    assert!(log.iter().any(|line| line.contains("/api/v1/agents/~") && line.contains("/keys\"")));
    let parts = [&key[14..30], &login[..20], &cookie[..20], &ADMIN[..20], &key[..14]];
    for line in &log {
        assert!(line.len() <= arena_server::LINE_BYTES_MAX, "{line}");
        for part in parts {
            assert!(!line.contains(part), "{part} is in {line}");
        }
    }
}

fn clone(asked: &axum::http::request::Builder, kind: &str) -> axum::http::request::Builder {
    let mut made = axum::http::Request::builder()
        .method(asked.method_ref().unwrap())
        .uri(asked.uri_ref().unwrap())
        .header("content-type", kind);
    for (name, value) in asked.headers_ref().unwrap() {
        made = made.header(name, value);
    }
    made
}

/// What a server says over a socket to one request.
async fn ask(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let asked = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    said
}

#[tokio::test]
async fn figures_are_told_on_their_own_port_and_nobody_is_named_in_them() {
    let config = Config {
        listen: ([127, 0, 0, 1], 0).into(),
        metrics: Some(([127, 0, 0, 1], 0).into()),
        ..Config::default()
    };
    let bench = Bench::with(NOW, config);
    bench.agent("bees", "hive", &["read"]).await;
    bench.get("/api/v1/me", None).await.expect(401);
    bench.get("/metrics", None).await.expect(404);
    let server = bench.take();
    let doors = server.listen().await.unwrap();
    let public = doors.public.local_addr().unwrap();
    let metrics = doors.metrics.as_ref().unwrap().local_addr().unwrap();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(doors, async {
        let _ = ended.await;
    }));
    assert!(ask(public, "/metrics").await.starts_with("HTTP/1.1 404"));
    let mut open = tokio::net::TcpStream::connect(public).await.unwrap();
    open.write_all(b"GET /api/v1/events HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 64];
    let _ = open.read(&mut first).await.unwrap();
    let text = ask(metrics, "/metrics").await;
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("text/plain; version=0.0.4"), "{text}");
    for line in [
        "arena_requests_total{class=\"api_write\",status=\"201\"} 2",
        "arena_requests_total{class=\"api_read\",status=\"401\"} 1",
        "arena_requests_total{class=\"stream\",status=\"200\"} 1",
        "arena_request_duration_seconds_count{class=\"api_write\"} 2",
        "arena_streams_open 1",
        "arena_connections_open 1",
        "arena_queue_refusals_total 0",
        "arena_journal_seq 3",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is not in\n{text}");
    }
    assert!(!text.contains("bees") && !text.contains("hive"), "{text}");
    assert!(ask(metrics, "/api/v1/me").await.starts_with("HTTP/1.1 404"));
    drop(open);
    end.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test]
async fn a_client_that_goes_away_before_its_answer_leaves_a_line() {
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    let bench = Bench::with(NOW, config);
    let server = bench.take();
    let doors = server.listen().await.unwrap();
    let public = doors.public.local_addr().unwrap();
    let running = tokio::spawn(server.run(doors, std::future::pending()));
    let mut open = tokio::net::TcpStream::connect(public).await.unwrap();
    let head = format!(
        "POST /api/v1/agents HTTP/1.1\r\nhost: x\r\nx-admin-token: {ADMIN}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{\"id\":"
    );
    open.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    drop(open);
    for _ in 0..500 {
        if !bench.logged().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let lines = lines(&bench);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((&lines[0]["path"], &lines[0]["agent"]), (&json!("/api/v1/agents"), &json!("admin")));
    assert!(lines[0]["status"].is_null() || lines[0]["status"].as_u64().unwrap() >= 400, "{lines:?}");
    running.abort();
}

#[tokio::test]
async fn figures_are_never_told_to_the_network() {
    let config = Config {
        listen: ([127, 0, 0, 1], 0).into(),
        metrics: Some(([0, 0, 0, 0], 0).into()),
        ..Config::default()
    };
    assert!(Config::parse("metrics = \"0.0.0.0:9100\"").is_err());
    let bench = Bench::with(NOW, config);
    let refused = bench.take().listen().await.unwrap_err();
    assert!(refused.to_string().contains("loopback"), "{refused}");
}
