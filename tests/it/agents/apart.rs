//! What goes wrong or takes long with one claim is no reason to let another wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use arena_canon::Digest;
use arena_cli::Exit;
use serde_json::{Value, json};

use super::hostile::{Server, document, fake, http, signed_within};
use crate::cli::Folder;

/// Requests, in their order.
type Asked = Arc<Mutex<Vec<String>>>;

/// Where a request stands among all of them.
#[track_caller]
fn place(asked: &Asked, request: &str) -> usize {
    let asked = asked.lock().expect("kept");
    let found = asked.iter().position(|line| line == request);
    found.unwrap_or_else(|| panic!("{request} was never asked: {asked:#?}"))
}

fn assigned(claims: &[&str]) -> Vec<u8> {
    let items = claims.iter().map(|claim| {
        json!({
            "assignment": format!("{claim}-runner"), "claim": claim, "role": "runner", "status": "offered",
            "accepted": false, "until": "2026-12-01T08:00:01.000Z",
        })
    });
    document(&json!({ "items": items.collect::<Vec<_>>() }))
}

/// A claim of this name, with a component of its own.
fn claim(folder: &Folder, name: &str) -> (Server, Value, String) {
    let component = format!("the component of {name}");
    let server = Server::new(folder, component.as_bytes());
    let mut claim = server.claim();
    claim["claim"] = json!(name);
    claim["job"] = json!(server.job_of(name));
    let blob = format!("GET /api/v1/claims/blobs/{}", Digest::of(component.as_bytes()));
    (server, claim, blob)
}

/// Bytes that never come: nothing is said, or the answer breaks off.
fn withheld() -> [Vec<u8>; 2] {
    let broken =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: 99\r\n\r\nhalf";
    [Vec::new(), broken.to_vec()]
}

#[test]
fn bytes_that_do_not_come_are_one_claims_trouble() {
    for said in withheld() {
        let folder = Folder::new();
        let ((server, one, blob), (_, two, _)) = (claim(&folder, "c1"), claim(&folder, "c2"));
        let mut over = two.clone();
        over["status"] = json!("settled");
        let (asked, is_accepted): (Asked, _) = (Arc::default(), AtomicBool::new(false));
        let (keeps, withheld) = (Arc::clone(&asked), blob.clone());
        let url = fake(move |request| {
            keeps.lock().expect("kept").push(request.to_owned());
            match request {
                "GET /api/v1/assignments" => assigned(&["c1", "c2"]),
                "GET /api/v1/claims/c2" if is_accepted.load(Ordering::SeqCst) => document(&over),
                "GET /api/v1/claims/c2" => document(&two),
                "POST /api/v1/assignments/c2-runner/accept" => {
                    is_accepted.store(true, Ordering::SeqCst);
                    document(&two)
                }
                "POST /api/v1/assignments/c1-runner/decline" => document(&one),
                other if other == withheld => said.clone(),
                other => server.answer(other, &one, b"the component of c2"),
            }
        });
        let ran = signed_within(&folder, &url, 1, "");
        assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
        assert!(place(&asked, &blob) < place(&asked, "POST /api/v1/assignments/c2-runner/accept"));
        // It is too late to wait for them any longer, so somebody else may have the run.
        place(&asked, "POST /api/v1/assignments/c1-runner/decline");
        assert!(ran.out.contains("are not on the server"), "{}", ran.out);
    }
}

#[test]
fn a_reveal_does_not_wait_behind_what_takes_long() {
    let folder = Folder::new();
    let (server, mut mine, _) = claim(&folder, "c9");
    let ((_, one, slow), (_, two, next)) = (claim(&folder, "c1"), claim(&folder, "c2"));
    let stage = Arc::new(Mutex::new("running"));
    let asked: Asked = Arc::default();
    mine["run"]["inputs_checked"] = json!(true);
    let (keeps, at) = (Arc::clone(&asked), Arc::clone(&stage));
    let (first, second) = (slow.clone(), next.clone());
    let url = fake(move |request| {
        keeps.lock().expect("kept").push(request.to_owned());
        let mut at = at.lock().expect("a stage");
        match request {
            "GET /api/v1/assignments" if *at == "running" => assigned(&["c9"]),
            "GET /api/v1/assignments" => assigned(&["c1", "c2"]),
            "POST /api/v1/runs/c9/commitment" => {
                *at = "committed";
                document(&mine)
            }
            "POST /api/v1/runs/c9/reveal" => {
                *at = "settled";
                document(&mine)
            }
            "GET /api/v1/claims/c9" => {
                let mut seen = mine.clone();
                seen["status"] = json!(*at);
                document(&seen)
            }
            "GET /api/v1/claims/c1" => document(&one),
            "GET /api/v1/claims/c2" => document(&two),
            decline if decline.ends_with("-runner/decline") => document(&one),
            other if other == first => {
                // Its window closes while something else takes long.
                *at = if *at == "committed" { "revealing" } else { *at };
                Vec::new()
            }
            other if other == second => http(
                "404 Not Found",
                "application/problem+json",
                br#"{"code":"unknown_reference","detail":"none"}"#,
            ),
            other => server.answer(other, &mine, b"the component of c9"),
        }
    });
    // What it is, is no component: that is a result like any other, and committed.
    let ran = signed_within(&folder, &url, 5, "");
    assert!(ran.exit == Exit::Success && ran.out.contains("c9: committed: "), "{}{}", ran.out, ran.err);
    let ran = signed_within(&folder, &url, 1, " --every 1");
    assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
    let reveal = place(&asked, "POST /api/v1/runs/c9/reveal");
    assert!(place(&asked, &slow) < reveal && reveal < place(&asked, &next), "{asked:#?}");
}
