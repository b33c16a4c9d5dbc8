//! The API's document, walked: what it promises of every operation, and whether each operation keeps it when it is
//! called by the wrong people with the wrong things.

use arena_server::problem::code_named;
use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{ADMIN, Bench, request};

const NOW: &str = "2026-12-01T00:00:00Z";
const METHODS: [&str; 7] = ["get", "put", "post", "delete", "patch", "head", "options"];
/// What any operation may answer.
const REFUSALS: [&str; 12] =
    ["400", "401", "403", "404", "405", "408", "409", "413", "415", "422", "429", "503"];

struct Operation {
    method: String,
    path: String,
    about: Value,
    parameters: Vec<Value>,
}

impl Operation {
    fn names(&self) -> Vec<&str> {
        self.path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect()
    }

    fn with(&self, id: &str) -> String {
        let mut path = self.path.clone();
        for name in self.names() {
            path = path.replace(&format!("{{{name}}}"), id);
        }
        path
    }

    fn is_stream(&self) -> bool {
        self.path == "/api/v1/events" || self.path == "/api/v1/events.ndjson"
    }
}

async fn operations(bench: &Bench) -> Vec<Operation> {
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let shared = item["parameters"].as_array().cloned().unwrap_or_default();
        for (method, about) in item.as_object().unwrap() {
            if !METHODS.contains(&method.as_str()) {
                continue;
            }
            let own = about["parameters"].as_array().cloned().unwrap_or_default();
            let parameters = [shared.clone(), own].concat();
            let method = method.to_ascii_uppercase();
            all.push(Operation { method, path: path.clone(), about: about.clone(), parameters });
        }
    }
    assert!(all.len() >= 20, "only {} operations are documented", all.len());
    all
}

#[tokio::test]
async fn every_operation_says_what_it_does_what_its_ids_are_and_how_it_refuses() {
    let bench = Bench::at(NOW);
    let mut faults = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for operation in operations(&bench).await {
        let name = format!("{} {}", operation.method, operation.path);
        if operation.about["summary"].as_str().is_none_or(|summary| summary.trim().is_empty()) {
            faults.push(format!("{name} has no summary"));
        }
        if operation.about["tags"].as_array().is_none_or(Vec::is_empty) {
            faults.push(format!("{name} has no tag"));
        }
        let id = operation.about["operationId"].as_str().unwrap_or_default().to_owned();
        if id.is_empty() || !ids.insert(id.clone()) {
            faults.push(format!("{name}: its operationId `{id}` is missing or another's"));
        }
        for wanted in operation.names() {
            let found = operation.parameters.iter().find(|it| it["in"] == "path" && it["name"] == wanted);
            match found {
                None => faults.push(format!("{name}: `{wanted}` is not documented")),
                Some(it)
                    if it["schema"]["pattern"].is_null()
                        && it["schema"]["enum"].is_null()
                        && it["schema"]["type"] != "integer"
                        && it["schema"]["$ref"].is_null() =>
                {
                    faults.push(format!("{name}: `{wanted}` has no pattern"));
                }
                Some(_) => {}
            }
        }
        for status in REFUSALS {
            let schema = &operation.about["responses"][status];
            if schema.is_null() {
                faults.push(format!("{name} does not document {status}"));
            }
        }
        let is_fine = |status: &String| status.starts_with('2') || status.starts_with('3');
        if !operation.about["responses"].as_object().is_some_and(|all| all.keys().any(is_fine)) {
            faults.push(format!("{name} documents no success"));
        }
        if operation.about["responses"]
            .as_object()
            .is_some_and(|all| all.keys().any(|it| it.starts_with("50") && it != "503"))
        {
            faults.push(format!("{name} documents a fault of the server"));
        }
    }
    assert_eq!(faults, [""; 0]);
}

/// What is sent: a media type and bytes.
fn bodies() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let long = json!({ "text": "a".repeat(300_000) }).to_string().into_bytes();
    vec![
        ("nothing", "", Vec::new()),
        ("not JSON", "application/json", b"{\"a\":".to_vec()),
        ("not UTF-8", "application/json", vec![b'"', 0xff, b'"']),
        ("a list", "application/json", b"[]".to_vec()),
        ("a number", "application/json", b"1e400".to_vec()),
        ("an empty object", "application/json", b"{}".to_vec()),
        ("null", "application/json", b"null".to_vec()),
        ("an unknown field", "application/json", b"{\"no-such-field\":{\"a\":[1,2,3]}}".to_vec()),
        ("a key twice", "application/json", b"{\"a\":1,\"a\":2}".to_vec()),
        ("too deep", "application/json", "[".repeat(10_000).into_bytes()),
        ("too long", "application/json", long),
        ("a form", "application/x-www-form-urlencoded", b"a=1".to_vec()),
    ]
}

/// What is wrong with an answer, if anything.
async fn fault(bench: &Bench, operation: &Operation, asked: axum::http::Request<Body>) -> Option<String> {
    let response = bench.head(asked).await;
    let status = response.status();
    let (head, body) = response.into_parts();
    let number = status.as_u16().to_string();
    if operation.about["responses"][&number].is_null() && status.as_u16() != 304 {
        return Some(format!("{number} is not documented"));
    }
    if status.is_server_error() {
        return Some(format!("{number} is a fault of the server"));
    }
    if status.is_success() && operation.is_stream() {
        return None;
    }
    let bytes = axum::body::to_bytes(body, 64 << 20).await.unwrap();
    if !status.is_client_error() {
        return None;
    }
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    if header("content-type") != "application/problem+json" {
        return Some(format!("{number} is `{}`, no problem document", header("content-type")));
    }
    if operation.method == "HEAD" {
        return None;
    }
    let problem: Value = match serde_json::from_slice(&bytes) {
        Ok(problem) => problem,
        Err(why) => return Some(format!("{number} has no JSON: {why}")),
    };
    let code = code_named(problem["code"].as_str().unwrap_or(""));
    let wanted = code.is_some_and(|code| {
        code.status == status.as_u16()
            && problem["status"] == code.status
            && problem["title"] == code.title
            && problem["type"] == format!("/problems/{}", code.name)
            && problem["instance"] == header("x-request-id")
            && problem["detail"].as_str().is_some_and(|detail| !detail.is_empty())
            && problem["errors"].is_array()
    });
    if !wanted {
        return Some(format!("{number} is told as {problem}"));
    }
    let needs = match status.as_u16() {
        401 => "www-authenticate",
        405 => "allow",
        429 | 503 => "retry-after",
        _ => return None,
    };
    header(needs).is_empty().then(|| format!("{number} has no `{needs}`"))
}

#[tokio::test]
async fn every_operation_refuses_wrong_callers_ids_and_bodies_as_it_is_documented() {
    let bench = Bench::at(NOW);
    let useless = bench.agent("wasps", "nest", &["read"]).await;
    let useful = bench.agent("bees", "hive", &["read", "play", "submit", "judge"]).await;
    let callers = [
        ("nobody", None),
        ("a key of no use", Some(useless.as_str())),
        ("a key", Some(useful.as_str())),
        ("the admin", Some(ADMIN)),
    ];
    let long = "a".repeat(300);
    let ids =
        ["x", "1", "e1", "w1", "W1", &"a".repeat(64), &long, "%00", "..%2F..", "%FF", "submission:1", "-"];
    let mut faults = Vec::new();
    let mut asked = 0;
    for operation in operations(&bench).await {
        let ids: &[&str] = if operation.names().is_empty() { &["x"] } else { &ids };
        for (id_place, id) in ids.iter().enumerate() {
            for (caller, key) in callers {
                for (body_place, (body, media_type, bytes)) in bodies().into_iter().enumerate() {
                    // Every id with some bodies, and the first ids with all of them.
                    if id_place > 1 && body_place % 5 != id_place % 5 {
                        continue;
                    }
                    let name = format!("{} {} by {caller} with {body}", operation.method, operation.with(id));
                    let mut request = request(&operation.method, &operation.with(id), key);
                    if !media_type.is_empty() {
                        request = request.header("content-type", media_type);
                    }
                    let Ok(request) = request.body(Body::from(bytes)) else { continue };
                    asked += 1;
                    if let Some(fault) = fault(&bench, &operation, request).await {
                        faults.push(format!("{name}: {fault}"));
                    }
                }
            }
        }
        let asked = request("TRACE", &operation.with("x"), None).body(Body::empty()).unwrap();
        if let Some(fault) = fault(&bench, &operation, asked).await {
            faults.push(format!("TRACE {}: {fault}", operation.path));
        }
    }
    assert!(asked > 2_000, "{asked}");
    assert!(faults.is_empty(), "{} of {asked}:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
}

/// Whoever must say which version is meant can be told that it was not said, or is another now.
#[tokio::test]
async fn what_wants_a_version_documents_its_refusals() {
    let bench = Bench::at(NOW);
    let document = bench.get("/openapi.json", None).await.expect(200).json();
    let mut versioned = 0;
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let wants = operation["parameters"]
                .as_array()
                .is_some_and(|parameters| parameters.iter().any(|parameter| parameter["name"] == "If-Match"));
            let told = ["412", "428"].map(|status| operation["responses"].get(status).is_some());
            assert_eq!(told, [wants; 2], "{}", operation["operationId"]);
            versioned += usize::from(wants);
        }
    }
    assert!(versioned >= 4, "{versioned}");
}
