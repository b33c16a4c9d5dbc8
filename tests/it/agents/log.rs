//! The log of a server's claims, held against it with the command: draws by their transcripts, and receipts before and
//! after its journal was put back or went another way.

use std::path::Path;
use std::time::Duration;

use arena_canon::Digest;
use arena_cli::Exit;
use serde_json::{Value, json};

use super::Arena;
use crate::cli::Ran;

/// An agent that is bound and has money; its key for the server.
fn bound(arena: &Arena, name: &str) -> String {
    let key = arena.agent(name);
    let public = arena.folder.arena(&format!("key new {{}}/{name}.sign")).out.trim().to_owned();
    let body = json!({ "key": public, "capabilities": ["wasm"] });
    arena.post("/claims/agents", &key, &body).expect(201);
    arena.post("/deposits", "admin", &json!({ "agent": name, "amount": "20000" })).expect(200);
    key
}

fn manifest(arena: &Arena) -> Value {
    let zero = "0".repeat(64);
    json!({
        "v": "arena-manifest/v1", "title": "x comes to ten", "submitter": "sue",
        "program": { "kind": "experiment", "component": zero }, "inputs": [], "arguments": {},
        "metrics": [{ "name": "x", "kind": "decimal", "scale": 1, "claim": "10.0",
            "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } }],
        "limits": { "fuel": 1_000_000, "memory_bytes": 65_536, "output_bytes": 0, "wall_seconds": 60 },
        "engine": { "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": zero },
        "capabilities": ["wasm"], "determinism": "exact",
        "protocol_params_sha256": arena.get("/beacons", None)["params_sha256"],
    })
}

/// Keeps the receipt that an answer names in a file.
fn keep(arena: &Arena, done: &Value, key: &str, name: &str) {
    let path = done["receipt"].as_str().and_then(|path| path.strip_prefix("/api/v1")).expect("a receipt");
    arena.folder.file(name, arena.get(path, Some(key)).to_string());
}

fn held(arena: &Arena, file: &str, options: &str) -> Ran {
    arena.folder.arena(&format!("verify --receipt {{}}/{file} --server http://{}{options}", arena.host))
}

#[track_caller]
fn stands(arena: &Arena, file: &str, key: &str, standing: &str) {
    let ran = held(arena, file, &format!(" --log-key {key} --json"));
    let said = &ran.json()[0];
    assert_eq!(said["standing"], standing, "{said}{}", ran.err);
    let exit = if standing == "holds" { Exit::Success } else { Exit::Rejected };
    assert_eq!((ran.exit, &said["verified"]), (exit, &json!(standing == "holds")), "{said}");
    let ran = held(arena, file, &format!(" --log-key {key}"));
    assert!(ran.out.starts_with(&format!("{standing}: ")), "{}", ran.out);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let place = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &place),
            false => drop(std::fs::copy(entry.path(), place).expect("copied")),
        }
    }
}

impl Arena {
    /// Ends the server, has its folder changed, and starts it again.
    fn meanwhile(&mut self, change: impl FnOnce(&Path)) {
        self._server.kill();
        change(&self.folder.at("data"));
        (self._server, self.host) = Self::serve(&self.folder);
    }
}

#[test]
fn a_server_is_held_to_what_it_signed() {
    let mut arena = Arena::new();
    let keys: Vec<String> =
        ["sue", "fay", "ben", "cat", "dan"].iter().map(|name| bound(&arena, name)).collect();
    let (sue, fay) = (keys[0].as_str(), keys[1].as_str());
    let key = arena.get("/log/checkpoint", None)["public_key"].as_str().expect("a key").to_owned();
    std::thread::sleep(Duration::from_secs(1));
    let body = json!({ "manifest": manifest(&arena), "deposit": "500" });
    let listed = arena.post("/claims", sue, &body).expect(201).json();
    keep(&arena, &listed, sue, "listed.json");
    let before = arena.folder.at("before");
    arena.meanwhile(|data| copy(data, &before));
    let funded = arena.post("/claims/c1/fund", fay, &json!({ "amount": "3500" })).expect(200).json();
    keep(&arena, &funded, fay, "funded.json");
    for file in ["listed.json", "funded.json"] {
        stands(&arena, file, &key, "holds");
    }
    // The draw, by its transcript and the key alone.
    let resolve =
        || arena.post("/claims/c1/draws/resolve", "admin", &json!({ "signature": "" })).status == 200;
    let is_drawn = || arena.get("/claims/c1", None)["status"] == "offered";
    arena.until("the runner is drawn", || is_drawn() || resolve());
    let draw = arena.get("/claims/c1/draws", None)["transcripts"][0].clone();
    arena.folder.file("draw.json", draw.to_string());
    let verified =
        |file: &str| arena.folder.arena(&format!("draw verify {{}}/{file} --log-key {key} --json"));
    let ran = verified("draw.json");
    assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
    assert_eq!(ran.json()[0]["log"]["seq"], draw["committed_seq"]);
    for (pointer, value) in
        [("/committed_seq", json!("9")), ("/last_round_seen", json!("7")), ("/log/inclusion", json!([]))]
    {
        let mut changed = draw.clone();
        *changed.pointer_mut(pointer).expect(pointer) = value;
        arena.folder.file("changed.json", changed.to_string());
        assert_eq!(verified("changed.json").exit, Exit::Rejected, "{pointer}");
    }
    stands(&arena, "draw.json", &key, "holds");
    // A receipt that was changed is none, whatever the server says; one by another key neither.
    let text = std::fs::read_to_string(arena.folder.at("funded.json")).expect("a receipt");
    arena.folder.file("forged.json", text.replace("3500", "3501"));
    stands(&arena, "forged.json", &key, "rejected");
    stands(&arena, "funded.json", &Digest::of(b"another").to_string(), "rejected");
    // Without a key that one knows, the server's own word for it is taken, and it is said so.
    let ran = held(&arena, "funded.json", "");
    assert_eq!(ran.exit, Exit::Success, "{}", ran.out);
    assert!(ran.err.contains("--log-key"), "{}", ran.err);
    // The journal is put back: what came after is left out, what came before holds.
    arena.meanwhile(|data| {
        std::fs::remove_dir_all(data).expect("removed");
        copy(&before, data);
    });
    stands(&arena, "listed.json", &key, "holds");
    stands(&arena, "funded.json", &key, "left out");
    // It goes another way, and as far: the same events are not there.
    for _ in 0..6 {
        arena.post("/deposits", "admin", &json!({ "agent": "ben", "amount": "1" })).expect(200);
    }
    stands(&arena, "listed.json", &key, "holds");
    stands(&arena, "funded.json", &key, "written anew");
    stands(&arena, "draw.json", &key, "written anew");
    for (line, why) in [
        ("verify --server http://127.0.0.1:9", "--receipt"),
        ("verify {}/before --log-key 00", "--log-key"),
        ("verify --receipt {}/none.json --server http://127.0.0.1:9", "none.json"),
        ("verify --receipt {}/listed.json --server http://a/b", "a server is"),
    ] {
        let ran = arena.folder.arena(line);
        assert_eq!(ran.exit, Exit::Usage, "{line}: {}", ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
    }
    let ran = arena.folder.arena("verify --receipt {}/listed.json --server http://127.0.0.1:9");
    assert_eq!(ran.exit, Exit::Stalled, "{}", ran.err);
}
