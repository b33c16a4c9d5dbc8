//! Servers that are none, and hands that are not careful: every one is refused in plain words, and no key is told.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use arena_canon::{Digest, Preimage, json as canon};
use arena_cli::Exit;
use serde_json::{Value, json};

use crate::cli::{Folder, Ran};

const KEY: &str = "ak_aaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_cccccc";

/// What is answered to a method and a path, and the body.
type Answers = dyn Fn(&str, &str) -> Vec<u8> + Send + Sync;

/// A listener that answers as it is told to, until the test ends.
pub(super) fn fake(answers: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> String {
    fake_with_bodies(move |request, _| answers(request))
}

/// The same, with what is sent.
pub(super) fn fake_with_bodies(answers: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let answers: Arc<Answers> = Arc::new(answers);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || answer(stream, answers.as_ref()));
        }
    });
    format!("http://{address}")
}

/// Whether a request is there, with all of its body.
fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}

fn answer(mut stream: TcpStream, answers: &Answers) {
    let (mut read, mut head) = ([0; 4_096], Vec::new());
    while !is_whole(&head) {
        match stream.read(&mut read) {
            Ok(n) if n > 0 => head.extend_from_slice(&read[..n]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let words: Vec<&str> = head.split(' ').collect();
    let body = head.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let said = answers(&format!("{} {}", words[0], words[1]), body);
    if said.is_empty() {
        // It listens, and says nothing.
        std::thread::sleep(Duration::from_secs(20));
    }
    stream.write_all(&said).ok();
}

pub(super) fn http(status: &str, media: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {}\r\nconnection: close\r\ndate: Tue, 01 Dec 2026 08:00:00 GMT\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(super) fn document(value: &Value) -> Vec<u8> {
    http("200 OK", "application/json", value.to_string().as_bytes())
}

/// A program that looks once, in a folder of its own.
fn look(folder: &Folder, what: &str, server: &str, timeout: u64) -> Ran {
    folder.file("rex.ak", KEY);
    folder.arena(&format!("{what} --server {server} --key {{}}/rex.ak --once --timeout {timeout}"))
}

#[track_caller]
fn refused(ran: &Ran, exit: Exit, why: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(why), "{why}: {}", ran.err);
    assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY), "the key was told: {}", ran.err);
    assert!(ran.err.len() < 4_000, "{}", ran.err);
}

#[test]
fn answers_that_are_none_are_refused_in_plain_words() {
    let huge =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{".to_vec();
    let endless = {
        let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        [head.as_slice(), &chunk.repeat(9)].concat()
    };
    let headers = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(200_000)).into_bytes();
    let elsewhere =
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.2:1/\r\ncontent-length: 0\r\n\r\n".to_vec();
    let twice = http("200 OK", "application/json", br#"{"instance":"a","instance":"b"}"#);
    let other = json!({ "instance": "test-a", "instance_id": Digest::of(b"test-b") });
    let coded = {
        let text = "\u{1b}[2J\u{7}".repeat(500);
        http(
            "418 I'm a teapot",
            "application/problem+json",
            json!({ "code": text, "detail": text }).to_string().as_bytes(),
        )
    };
    for (said, exit, why) in [
        (huge, Exit::Rejected, "its answer has more than 8388608 bytes, the limit"),
        (endless, Exit::Rejected, "its answer has more than 8388608 bytes, the limit"),
        (headers, Exit::Rejected, "its headers have more than 32768 bytes, the limit"),
        (elsewhere, Exit::Rejected, "it sends elsewhere (302 Found), where the key is not sent"),
        (http("200 OK", "text/html", b"<p>welcome"), Exit::Rejected, "it answers 200 OK with no JSON"),
        (http("404 Not Found", "text/html", b"no"), Exit::Rejected, "it answers 404 Not Found with no JSON"),
        (http("200 OK", "application/json", b"{"), Exit::Rejected, "this is no answer of an arena's server"),
        (
            http("200 OK", "application/json", b"\xff"),
            Exit::Rejected,
            "this is no answer of an arena's server",
        ),
        (twice, Exit::Rejected, "this is no answer of an arena's server"),
        (document(&json!([])), Exit::Rejected, "it has no `instance`"),
        (document(&other), Exit::Rejected, "its instance's id is not that of its name"),
        (coded, Exit::Rejected, "the server refuses: "),
        (b"SSH-2.0-OpenSSH\r\n".to_vec(), Exit::Rejected, "it does not speak HTTP"),
        (
            http("502 Bad Gateway", "text/html", b""),
            Exit::Stalled,
            "the server is away: it answers 502 Bad Gateway",
        ),
        (Vec::new(), Exit::Stalled, "the server is away: it takes too long to answer"),
    ] {
        let timeout = if said.is_empty() { 1 } else { 20 };
        let server = fake(move |_| said.clone());
        let folder = Folder::new();
        for what in ["runner", "challenger"] {
            let ran = look(&folder, what, &server, timeout);
            refused(&ran, exit, why);
            assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
        }
    }
}

#[test]
fn a_key_goes_nowhere_it_should_not() {
    let folder = Folder::new();
    let ran = look(&folder, "runner", "http://arena.example", 5);
    refused(&ran, Exit::Usage, "the key would go over the network unencrypted to http://arena.example");
    let ran = look(&folder, "runner", "http://127.0.0.1:9/api", 5);
    refused(&ran, Exit::Usage, "a server is http://host[:port]");
    let ran = look(&folder, "runner", "http://127.0.0.1:1", 5);
    refused(&ran, Exit::Stalled, "the server is away: ");
    folder.file("no.ak", format!("{KEY} and more"));
    let ran = folder.arena("runner --server http://127.0.0.1:1 --key {}/no.ak --once");
    refused(&ran, Exit::Usage, "it is no key of a server");
    assert!(!ran.err.contains("ak_a"), "{}", ran.err);
    let missing = folder.arena("runner --server http://127.0.0.1:1 --key {}/none.ak --once");
    refused(&missing, Exit::Usage, "no such file");
}

/// A key that the server does not know leaves nothing behind, whatever program it was for.
#[test]
fn a_key_that_is_not_taken_leaves_no_folder() {
    let server = fake(|_| {
        http(
            "401 Unauthorized",
            "application/problem+json",
            br#"{"code":"unauthorized","detail":"the key is unknown, revoked or expired"}"#,
        )
    });
    for what in ["runner", "challenger"] {
        let folder = Folder::new();
        let ran = look(&folder, what, &server, 5);
        refused(&ran, Exit::Rejected, "the key is unknown, revoked or expired");
        assert!(ran.err.contains("hint: is it the whole key, and one of this server?"), "{}", ran.err);
        assert_eq!(folder.names(), ["rex.ak"], "{what}");
    }
}

/// A server that is one in everything but what a test changes.
pub(super) struct Server {
    key: String,
    pub(super) manifest: Value,
    component: Vec<u8>,
}

impl Server {
    pub(super) fn new(folder: &Folder, component: &[u8]) -> Self {
        let made = folder.arena("key new {}/rex.sign");
        let key = made.out.trim().to_owned();
        let params = crate::cli::arena(["claim", "params", "show", "--json"]).json();
        let manifest = json!({
            "v": "arena-manifest/v1", "title": "x comes to ten", "submitter": "sue",
            "program": { "kind": "experiment", "component": Digest::of(component) }, "inputs": [], "arguments": {},
            "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
                "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }],
            "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 600 },
            "engine": { "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": arena_sandbox::engine_digest() },
            "capabilities": [], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
            "determinism": "exact", "protocol_params_sha256": Digest::of(&canon::canonical(&params)),
        });
        Self { key, manifest, component: component.to_vec() }
    }

    fn job(&self) -> Digest {
        self.job_of("c1")
    }

    pub(super) fn job_of(&self, claim: &str) -> Digest {
        Preimage::new("ARENA-JOB-V1")
            .bytes(Digest::of(b"lab").as_bytes())
            .bytes(claim.as_bytes())
            .bytes(Digest::of(&canon::canonical(&self.manifest)).as_bytes())
            .number(0)
            .digest()
    }

    /// Offered to rex, as a run.
    pub(super) fn claim(&self) -> Value {
        json!({
            "claim": "c1", "job": self.job(), "status": "offered", "until": "2026-12-01T08:30:00.000Z",
            "manifest": self.manifest, "relists": 0, "challenges_open": false, "challenges": [], "draw": null,
            "run": { "runner": "rex", "inputs_checked": false, "commitment": null, "revealed": false, "record": null },
            "you": { "agent": "rex", "part": "runner", "free": "1", "locked": "1", "counter": "0" }, "outcome": null,
        })
    }

    pub(super) fn answer(&self, request: &str, claim: &Value, component: &[u8]) -> Vec<u8> {
        let params = crate::cli::arena(["claim", "params", "show", "--json"]).json();
        let document = |value: Value| document(&value);
        match request {
            "GET /api/v1/beacons" => document(json!({
                "instance": "lab", "instance_id": Digest::of(b"lab"), "beacon": "drand-quicknet", "asset": "units",
                "params_sha256": Digest::of(&canon::canonical(&params)), "params": params, "latest": null,
            })),
            "GET /api/v1/me" => document(json!({ "id": "rex", "operator": "op-rex" })),
            "GET /api/v1/claims/agents/rex" => {
                document(json!({ "agent": "rex", "key": self.key, "locked": "4000" }))
            }
            "GET /api/v1/assignments" => document(json!({ "items": [{
                "assignment": "c1-runner", "claim": "c1", "role": "runner", "status": "offered", "accepted": false,
                "until": "2026-12-01T08:30:00.000Z" }] })),
            "GET /api/v1/claims/c1" => document(claim.clone()),
            blob if blob.starts_with("GET /api/v1/claims/blobs/") => {
                http("200 OK", "application/octet-stream", component)
            }
            _ => http(
                "409 Conflict",
                "application/problem+json",
                br#"{"code":"too_bold","detail":"nothing is taken here"}"#,
            ),
        }
    }
}

/// One look of a runner with a signing key of its own.
fn signed(folder: &Folder, server: &str, more: &str) -> Ran {
    signed_within(folder, server, 5, more)
}

/// The same, that waits so many seconds for an answer.
pub(super) fn signed_within(folder: &Folder, server: &str, timeout: u64, more: &str) -> Ran {
    folder.file("rex.ak", KEY);
    folder.arena(&format!(
        "runner --server {server} --key {{}}/rex.ak --signing-key {{}}/rex.sign --once --timeout {timeout}{more}"
    ))
}

#[test]
fn what_is_served_is_what_is_pinned_or_it_is_not_used() {
    for (change, why) in [
        ("bytes", "has SHA-256"),
        ("manifest", "the job of c1 is not that of its manifest"),
        ("claim", "asked for c1, it gives c2"),
        ("name", "`../../x` is no name of a claim"),
        ("params", "c1 is settled by other parameters"),
    ] {
        let folder = Folder::new();
        let mut server = Server::new(&folder, b"a component");
        if change == "params" {
            server.manifest["protocol_params_sha256"] = json!("0".repeat(64));
        }
        let mut claim = server.claim();
        match change {
            "manifest" => claim["manifest"]["title"] = json!("another"),
            "name" => claim["claim"] = json!("../../x"),
            "claim" => {
                claim["claim"] = json!("c2");
                let job = Preimage::new("ARENA-JOB-V1").bytes(Digest::of(b"lab").as_bytes()).bytes(b"c2");
                let manifest = Digest::of(&canon::canonical(&server.manifest));
                claim["job"] = json!(job.bytes(manifest.as_bytes()).number(0).digest());
            }
            _ => {}
        }
        let component = if change == "bytes" { b"another".to_vec() } else { server.component.clone() };
        let url = fake(move |request| server.answer(request, &claim, &component));
        refused(&signed(&folder, &url, ""), Exit::Rejected, why);
        // Nothing of another digest is kept.
        assert!(folder.names().contains(&"rex.ak.work".to_owned()));
        assert_eq!(
            std::fs::read_dir(folder.at("rex.ak.work/blobs")).expect("a folder").count(),
            0,
            "{change}"
        );
    }
}

#[test]
fn a_folder_is_one_agents_and_one_programs() {
    let folder = Folder::new();
    let server = Server::new(&folder, b"a component");
    let claim = server.claim();
    let url = fake(move |request| server.answer(request, &claim, b"a component"));
    // The server takes nothing; that is told, and the folder is made.
    refused(
        &signed(&folder, &url, ""),
        Exit::Rejected,
        "the server refuses: too_bold: nothing is taken here",
    );
    // Another key to sign by is another agent's, or was lost: it is not what is bound.
    let other = folder.arena(&format!("runner --server {url} --key {{}}/rex.ak --work {{}}/other --once"));
    refused(&other, Exit::Usage, "the agent's records are signed by");
    folder.arena("key new {}/dan.sign");
    let taken = folder.arena(&format!(
        "runner --server {url} --key {{}}/rex.ak --signing-key {{}}/dan.sign --work {{}}/rex.ak.work --once"
    ));
    refused(&taken, Exit::Usage, "it belongs to another agent, key or instance");
    let lock = std::fs::File::options().append(true).open(folder.at("rex.ak.work/lock")).expect("a lock");
    lock.lock().expect("locked");
    refused(&signed(&folder, &url, ""), Exit::Usage, "another program is at work in it");
}

#[test]
fn what_is_beyond_ones_limits_is_declined_with_the_reason() {
    for (more, why) in [
        (" --fuel-max 999999", "1000000 fuel"),
        (" --wall-max 599", "600 s"),
        (" --fee-min 1001", "the fee is 1000"),
        (" --stake-max 3999", "4000 would be at stake"),
    ] {
        let folder = Folder::new();
        let server = Server::new(&folder, b"a component");
        let claim = server.claim();
        let url = fake(move |request| match request {
            "POST /api/v1/assignments/c1-runner/decline" => document(&claim),
            _ => server.answer(request, &claim, b"a component"),
        });
        let ran = signed(&folder, &url, more);
        assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
        assert!(ran.out.starts_with("c1: declined: ") && ran.out.contains(why), "{more}: {}", ran.out);
    }
}

#[test]
fn inputs_that_are_others_are_told_and_nothing_runs() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let pinned: &[u8] = b"1,2,3\n";
    // By its name, by its digest, and a stale one beside the right one.
    for (files, did) in [
        (vec![("in.csv".to_owned(), b"4,5,6\n".as_slice())], "input_mismatch"),
        (vec![("in.csv".to_owned(), pinned)], "checked"),
        (vec![(Digest::of(pinned).to_string(), pinned), ("in.csv".to_owned(), b"old".as_slice())], "checked"),
    ] {
        let folder = Folder::new();
        let component: &[u8] = b"a component";
        let mut server = Server::new(&folder, component);
        server.manifest["inputs"] =
            json!([{ "name": "in.csv", "sha256": Digest::of(pinned), "bytes": pinned.len().to_string() }]);
        std::fs::create_dir(folder.at("data")).expect("a folder");
        for (name, bytes) in files {
            folder.file(&format!("data/{name}"), bytes);
        }
        let mut claim = server.claim();
        claim["status"] = json!("running");
        let mut over = claim.clone();
        over["status"] = json!("settled");
        let is_told = AtomicBool::new(false);
        let blob = format!("GET /api/v1/claims/blobs/{}", Digest::of(component));
        let url = fake(move |request| match request {
            "POST /api/v1/runs" => {
                is_told.store(true, Ordering::SeqCst);
                document(&over)
            }
            "GET /api/v1/claims/c1" if is_told.load(Ordering::SeqCst) => document(&over),
            other if other.starts_with("GET /api/v1/claims/blobs/") && other != blob => http(
                "404 Not Found",
                "application/problem+json",
                br#"{"code":"unknown_reference","detail":"none"}"#,
            ),
            other => server.answer(other, &claim, component),
        });
        let ran = signed(&folder, &url, " --inputs {}/data");
        assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
        assert!(ran.out.starts_with(&format!("c1: {did}: ")) && !ran.out.contains("ran"), "{}", ran.out);
    }
}
