//! Queries that are not as the API's document says, and callers without a key who know what to ask for.

use serde_json::{Value, json};

use crate::support::Bench;

const NOW: &str = "2026-12-01T00:00:00Z";

/// Values that a schema does not allow.
fn wrong(schema: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if !schema["pattern"].is_null() {
        wrong.extend(["", "0.5", "A b", "-x", "%00"].map(str::to_owned));
        wrong.push("a".repeat(300));
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        wrong.push("a".repeat(usize::try_from(most).unwrap() + 1));
    }
    if schema["type"].as_str() == Some("integer")
        || schema["type"].as_array().is_some_and(|all| all.contains(&json!("integer")))
    {
        wrong.extend(["x", "-1", "1.5", ""].map(str::to_owned));
    }
    wrong
}

#[tokio::test]
async fn a_query_that_the_document_does_not_allow_is_refused() {
    let bench = Bench::at(NOW);
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let (mut asked, mut faults) = (0, Vec::new());
    for (path, item) in document["paths"].as_object().unwrap() {
        for parameter in item["get"]["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] != "query" || path.contains('{') {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            for value in wrong(&parameter["schema"]) {
                asked += 1;
                let query = format!("{path}?{name}={}", value.replace('%', "%25").replace(' ', "%20"));
                // A stream that is let in does not end: its head is enough.
                let request =
                    crate::support::request("GET", &query, None).body(axum::body::Body::empty()).unwrap();
                let status = bench.head(request).await.status();
                if !status.is_client_error() {
                    faults.push(format!("{query}: {status}"));
                }
            }
        }
    }
    assert!(asked > 60, "{asked}");
    assert_eq!(faults, [""; 0]);
}

/// Who has no key is told so, and not whether something is there.
#[tokio::test]
async fn a_caller_without_a_key_is_not_told_what_is_there() {
    let bench = Bench::at(NOW);
    let zero = "0".repeat(64);
    for (path, body) in [
        (
            "/api/v1/interventions",
            json!({ "round": "none", "company": "c", "window": "W1", "text": "restarted" }),
        ),
        (
            "/api/v1/locker/evidence",
            json!({ "round": "none", "artifact_hash": zero, "kind": "run", "description": "a run" }),
        ),
        ("/api/v1/town/posts", json!({ "round": "none", "kind": "progress", "body": "we begin our work" })),
    ] {
        assert_eq!(bench.post(path, None, &body).await.expect(401).code(), "unauthorized", "{path}");
        let player = bench.agent(&format!("p{}", path.len()), "op-p", &["play"]).await;
        assert_eq!(
            bench.post(path, Some(&player), &body).await.expect(403).code(),
            "scope_missing",
            "{path}"
        );
    }
}

/// Wherever a key or the admin's token is needed, that comes before the body is read.
#[tokio::test]
async fn who_has_no_key_is_asked_for_one_before_a_body_is_looked_at() {
    let bench = Bench::at(NOW);
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let (mut asked, mut faults) = (0, Vec::new());
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, about) in item.as_object().unwrap() {
            let needs = about["security"].as_array().is_some_and(|all| all.iter().all(|it| it != &json!({})));
            if !needs || method == "get" {
                continue;
            }
            let path: String = path
                .split('{')
                .map(|part| part.split_once('}').map_or(part.to_owned(), |(_, rest)| format!("x{rest}")))
                .collect();
            for body in [json!(null), json!([]), json!({ "no-such-member": 1 })] {
                asked += 1;
                let said = bench.send_json(&method.to_uppercase(), &path, None, &[], &body).await;
                if !matches!(said.status.as_u16(), 401 | 404 | 413 | 415) {
                    faults.push(format!("{method} {path} with {body}: {}", said.status));
                }
            }
        }
    }
    assert!(asked > 60, "{asked}");
    assert_eq!(faults, [""; 0]);
}

/// What is not there to be done is told to everybody.
#[tokio::test]
async fn a_method_that_a_path_does_not_have_is_told_with_those_it_has() {
    let bench = Bench::at(NOW);
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let path: String = path
            .split('{')
            .map(|part| part.split_once('}').map_or(part.to_owned(), |(_, rest)| format!("x{rest}")))
            .collect();
        for method in ["PUT", "POST", "PATCH", "DELETE"] {
            // Another path may fit as well, such as `me` in place of a name.
            if item[method.to_lowercase()].is_null() && !path.ends_with("/me") {
                let said = bench.send_json(method, &path, None, &[], &json!({})).await;
                if said.status == 405 {
                    assert!(!said.header("allow").is_empty(), "{method} {path}");
                    asked += 1;
                } else {
                    panic!("{method} {path}: {}", said.status);
                }
            }
        }
    }
    assert!(asked > 100, "{asked}");
}
