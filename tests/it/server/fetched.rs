//! A stranger takes a whole run from a server and computes it anew; a server that lies is found out, and whatever it
//! sends, nothing of it stays.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arena_canon::Digest;
use serde_json::{Value, json};

use super::{Server, program, until};

const GUESTS: [&str; 3] = ["tit-for-tat", "random", "bully"];

/// A server with a run of these that has succeeded.
fn played() -> Server {
    let server = Server::start("");
    let bearer = server.agent("bees");
    let key = ("authorization", bearer.as_str());
    for name in GUESTS {
        server.upload(&bearer, name, &arena_tests::guest(name)).expect(202);
    }
    let plan = json!({
        "slug": "friday", "title": "Friday", "game": "matrix", "strategies": ["s1", "s2", "s3"],
        "matrix": { "kind": "round_robin", "self_play": true, "repetitions": 15, "rounds": 30 },
    });
    server.post("/api/v1/tournaments", key, Some(&plan)).expect(201);
    server.post("/api/v1/tournaments/t1/freeze", key, None).expect(200);
    server
}

fn start(server: &Server) {
    let token = std::fs::read_to_string(server.at("admin.token")).expect("the admin's token");
    server.post("/api/v1/tournaments/t1/start", ("x-admin-token", token.trim()), None).expect(200);
    until("it is over", Duration::from_secs(60), || server.tournament("t1")["terminal"].is_object());
    assert_eq!(server.tournament("t1")["status"], "success");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[track_caller]
fn ends(output: &Output, code: i32, words: &[&str]) {
    let text = said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is missing\n{text}");
    }
}

/// Every file below a folder, by name.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("within").to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&path).expect("readable"));
            }
        }
    }
    files
}

#[test]
fn a_stranger_fetches_a_run_and_computes_it_anew() {
    let server = played();
    let url = format!("http://{}/tournaments/t1", server.address);
    let out = server.folder.path().join("run");
    let fetch =
        |more: &[&str]| server.arena(&[&["tournament", "fetch", &url, "--out", "run"], more].concat());
    ends(&fetch(&[]), 10, &["it is not over (`frozen`)", "hidden until then"]);
    assert!(!out.exists(), "nothing stays of what was not fetched");
    start(&server);
    ends(&fetch(&["--max-mib", "0"]), 2, &["--max-mib"]);
    ends(&fetch(&[]), 0, &["90 records", "absent    3 components", "next: arena verify run"]);
    assert!(!out.join("components").exists());
    // Everything but what the components do.
    let verified = server.arena(&["verify", "run"]);
    ends(&verified, 0, &["ok:", "90 records, scorecard, identities, receipt; none re-executed"]);
    ends(
        &verified,
        0,
        &["not checked: whether 90 of 90 matches", "strategies 0 `tit-for-tat`, 1 `random`, 2 `bully`"],
    );
    ends(&server.arena(&["verify", "run", "--all"]), 2, &["everything else holds", "--component"]);
    // With components from elsewhere: some, then all of them, in a folder.
    let guests = server.folder.path().join("guests");
    std::fs::create_dir(&guests).expect("made");
    for name in GUESTS {
        std::fs::write(guests.join(format!("{name}.wasm")), arena_tests::guest(name)).expect("written");
    }
    let some =
        ["verify", "run", "--component", "guests/bully.wasm", "--component", "guests/random.wasm", "--json"];
    let told: Value = serde_json::from_slice(&server.arena(&some).stdout).expect("JSON");
    assert_eq!(told[0]["absent_components"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!((&told[0]["not_playable"], &told[0]["replayed"]), (&json!(45), &json!(45)), "{told}");
    let all = server.arena(&["verify", "run", "--all", "--component", "guests"]);
    ends(&all, 0, &["90 matches re-executed, all equal"]);
    assert!(!said(&all).contains("not checked"), "{}", said(&all));
    // It is the run that the server shows, and running the command again fetches nothing.
    let receipt = server.get("/api/v1/tournaments/t1/receipt").expect(200).body;
    assert!(std::fs::read(out.join("receipt.json")).expect("there") == receipt);
    let before = files(&out);
    let again: Value = serde_json::from_slice(&fetch(&["--json"]).stdout).expect("JSON");
    assert_eq!((&again["fetched"], &again["replaced"]), (&json!(0), &json!(0)), "{again}");
    assert_eq!(again["verify"], "arena verify run");
    // A record that was tampered with is named, and fetched anew.
    let record = out.join("matches/m00031.json");
    let text = std::fs::read_to_string(&record).expect("there");
    std::fs::write(&record, text.replacen("\"turns\":30", "\"turns\":31", 1)).expect("written");
    for args in [&["verify", "run"][..], &["verify", "run", "--all", "--component", "guests"]] {
        ends(&server.arena(args), 20, &["m00031"]);
    }
    ends(&fetch(&[]), 0, &["replaced  1 file"]);
    assert_eq!(files(&out), before);
    only_fetching_completes(&server, &out, &before);
    // The stream is a tar for everybody.
    let tar = server.get("/api/v1/tournaments/t1/run").expect(200).body;
    std::fs::write(server.folder.path().join("t1.tar"), tar).expect("written");
    let folder = server.folder.path().join("by-tar");
    std::fs::create_dir(&folder).expect("made");
    let mut unpack = std::process::Command::new("tar");
    let unpack = unpack.args(["-xf", "../t1.tar"]).current_dir(&folder).output().expect("there is a tar");
    assert!(unpack.status.success(), "{}", said(&unpack));
    assert_eq!(files(&folder), before);
}

/// Nothing can be played in a fetched run: whoever tries loses nothing, and is told what helps.
fn only_fetching_completes(server: &Server, out: &Path, whole: &BTreeMap<String, Vec<u8>>) {
    ends(&server.arena(&["tournament", "resume", "run"]), 2, &["was fetched", "arena verify"]);
    assert_eq!(&files(out), whole);
    assert!(!out.join("components").exists(), "nothing was made in it");
    let receipt = std::fs::read(out.join("receipt.json")).expect("there");
    std::fs::remove_file(out.join("receipt.json")).expect("removed");
    ends(&server.arena(&["tournament", "resume", "run"]), 2, &["was fetched", "arena tournament fetch"]);
    ends(&server.arena(&["verify", "run"]), 20, &["not fetched whole; fetch it again"]);
    ends(&server.arena(&["tournament", "show", "run"]), 2, &["receipt", "arena tournament fetch"]);
    std::fs::write(out.join("receipt.json"), receipt).expect("written");
    assert_eq!(&files(out), whole);
    ends(&server.arena(&["tournament", "show", "run"]), 0, &["tit-for-tat"]);
}

#[test]
fn a_folder_with_other_things_in_it_is_left_alone() {
    let server = played();
    start(&server);
    let url = format!("http://{}/tournaments/t1", server.address);
    let fetch = |out: &str| server.arena(&["tournament", "fetch", &url, "--out", out]);
    let at = |name: &str| server.folder.path().join(name);
    for (folder, name) in [("a", "notes.txt"), ("b", "matches/m99999.json"), ("c", "secret"), ("d", "sub/x")]
    {
        let path = at(folder).join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, "mine").expect("written");
        ends(&fetch(folder), 2, &["no file of this run", "name a new folder with --out"]);
        assert_eq!(files(&at(folder)), BTreeMap::from([(name.to_owned(), b"mine".to_vec())]));
    }
    std::fs::create_dir(at("e")).expect("made");
    std::fs::write(at("e").join("frozen.json"), "{}").expect("written");
    ends(&fetch("e"), 2, &["another run is in it"]);
    // A link does not lead out of the folder.
    std::fs::create_dir_all(at("f")).expect("made");
    std::fs::create_dir_all(at("elsewhere")).expect("made");
    std::os::unix::fs::symlink(at("elsewhere"), at("f").join("matches")).expect("linked");
    ends(&fetch("f"), 2, &["no file of this run"]);
    assert!(files(&at("elsewhere")).is_empty());
    // What an interruption left is no obstacle.
    std::fs::create_dir_all(at("g/matches")).expect("made");
    std::fs::write(at("g/matches/m00001.json.tmp"), "half").expect("written");
    ends(&fetch("g"), 0, &["90 records"]);
    assert!(!at("g/matches/m00001.json.tmp").exists());
    ends(
        &server.arena(&["tournament", "fetch", "http://127.0.0.1:1/tournaments/t1", "--out", "h"]),
        10,
        &["it does not listen"],
    );
    let unknown = format!("http://{}/tournaments/t77", server.address);
    ends(
        &server.arena(&["tournament", "fetch", &unknown, "--out", "h"]),
        2,
        &["not_found", "copy the address"],
    );
    assert!(!at("h").exists());
}

/// What a liar answers to a path: the head without its lengths, and a body that may never end.
type Answers = dyn Fn(&str, Option<u64>) -> Lie + Send + Sync;

enum Lie {
    /// This body, with a length that says so.
    Whole(u16, Vec<u8>),
    /// A part from a place on.
    Part(u64, Vec<u8>, u64),
    /// This body, and then the connection is closed, whatever the length said.
    Cut(Vec<u8>, usize),
    /// These bytes, again and again.
    Endless(Vec<u8>),
}

/// A server that says what a test wants.
struct Liar {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Liar {
    fn start(answers: Arc<Answers>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), answers, seen) = (stream, Arc::clone(&answers), Arc::clone(&seen)) else {
                    return;
                };
                std::thread::spawn(move || drop(answer(stream, &*answers, &seen)));
            }
        });
        Self { address, asked }
    }
}

fn answer(mut stream: TcpStream, answers: &Answers, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut from = None;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(range) = header.strip_prefix("range: bytes=") {
            from = range.split('-').next().and_then(|from| from.parse().ok());
        }
    }
    seen.lock().expect("a lock").push(format!("{path} {from:?}"));
    let kind = if path.ends_with("/run") { "application/x-tar" } else { "application/json" };
    let head = |status: &str| format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {kind}\r\n");
    match answers(&path, from) {
        Lie::Whole(status, body) => {
            write!(stream, "{}content-length: {}\r\n\r\n", head(&format!("{status} x")), body.len())?;
            stream.write_all(&body)
        }
        Lie::Part(from, body, length) => {
            let last = from + body.len() as u64 - 1;
            let range = format!("content-range: bytes {from}-{last}/{length}\r\n");
            write!(stream, "{}{range}content-length: {}\r\n\r\n", head("206 x"), body.len())?;
            stream.write_all(&body)
        }
        Lie::Cut(body, at) => {
            write!(stream, "{}content-length: {}\r\n\r\n", head("200 x"), body.len())?;
            stream.write_all(&body[..at])
        }
        Lie::Endless(bytes) => {
            write!(stream, "{}\r\n", head("200 x"))?;
            loop {
                stream.write_all(&bytes)?;
            }
        }
    }
}

/// What an honest server said of a run, for liars to start from.
struct Honest {
    told: Value,
    receipt: Vec<u8>,
    tar: Vec<u8>,
    server: Server,
}

impl Honest {
    fn new() -> Self {
        let server = played();
        start(&server);
        let receipt = server.get("/api/v1/tournaments/t1/receipt").expect(200).body;
        let tar = server.get("/api/v1/tournaments/t1/run").expect(200).body;
        Self { told: server.tournament("t1"), receipt, tar, server }
    }

    /// Asks a liar whose answers to the run are `run`, and whose receipt is `receipt`.
    fn ask(
        &self,
        receipt: Vec<u8>,
        run: impl Fn(Option<u64>) -> Lie + Send + Sync + 'static,
    ) -> (Output, PathBuf, Vec<String>) {
        let mut told = self.told.clone();
        told["terminal"]["receipt_sha256"] = json!(Digest::of(&receipt));
        let liar = Liar::start(Arc::new(move |path, from| match path.rsplit('/').next() {
            Some("run") => run(from),
            Some("receipt") => Lie::Whole(200, receipt.clone()),
            _ => Lie::Whole(200, told.to_string().into_bytes()),
        }));
        let folder = tempfile::Builder::new().tempdir_in(self.server.folder.path()).expect("a folder").keep();
        let out = folder.join("out");
        let url = format!("http://{}/tournaments/t1", liar.address);
        let mut command = std::process::Command::new(program());
        command.args(["tournament", "fetch", &url, "--max-mib", "64", "--out"]).arg(&out);
        let output = command.output().expect("the binary starts");
        let asked = liar.asked.lock().expect("a lock").clone();
        (output, out, asked)
    }

    /// The receipt with a change.
    fn receipt_with(&self, change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut receipt: Value = serde_json::from_slice(&self.receipt).expect("a receipt");
        change(&mut receipt);
        receipt.to_string().into_bytes()
    }

    fn place_of(&self, name: &str) -> usize {
        self.tar.chunks(512).position(|block| block.starts_with(name.as_bytes())).expect("it is there") * 512
    }
}

/// Nothing half-written is there, and what is there is what the receipt lists.
#[track_caller]
fn holds_no_lie(out: &Path, receipt: &[u8]) {
    let receipt: Value = serde_json::from_slice(receipt).expect("a receipt");
    for (name, bytes) in files(out) {
        let listed =
            receipt["files"].as_array().expect("files").iter().find(|file| file["path"] == name.as_str());
        let listed = listed.unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(listed["sha256"], json!(Digest::of(&bytes)), "{name}");
    }
    assert!(!out.join("receipt.json").exists());
}

#[test]
fn a_server_that_lies_is_found_out_and_nothing_of_it_stays() {
    let honest = Honest::new();
    let tar = honest.tar.clone();
    // A list that no run has: refused before anything is asked for.
    let file = |path: &str, bytes: u64| json!({ "path": path, "sha256": Digest::of(b"x"), "bytes": bytes });
    for (path, bytes) in [("../../escape", 1), ("/etc/motd", 1), ("a/b", 1), ("matches/m99999.json", 1)] {
        let receipt =
            honest.receipt_with(|it| it["files"].as_array_mut().expect("files").insert(0, file(path, bytes)));
        let (output, out, asked) = honest.ask(receipt, |_| Lie::Whole(200, Vec::new()));
        ends(&output, 20, &["which is no file of a run"]);
        assert!(!out.exists() && asked.iter().all(|path| !path.contains("/run")), "{asked:?}");
    }
    let large = |bytes: u64, wanted: &str, code: i32| {
        let receipt = honest.receipt_with(|it| {
            let files = it["files"].as_array_mut().expect("files");
            let record = files.iter_mut().find(|file| file["path"] == "matches/m00001.json").expect("listed");
            record["bytes"] = json!(bytes);
        });
        let (output, out, _) = honest.ask(receipt, |_| Lie::Endless(vec![b'a'; 1 << 16]));
        ends(&output, code, &[wanted]);
        assert!(!out.exists());
    };
    large(u64::MAX / 4, "the limit is 67108864", 20);
    large(64 << 20, "the limit is 64 MiB", 2);
    let (output, out, _) = honest.ask(b"{}".to_vec(), |_| Lie::Whole(200, Vec::new()));
    ends(&output, 20, &["its receipt cannot be read"]);
    assert!(!out.exists());
    // Streams that are not the run.
    let at = honest.place_of("matches/m00040.json");
    let body = at + 512;
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut tar = tar.clone();
        change(&mut tar);
        tar
    };
    for (lie, wanted) in [
        (with(&|tar| tar[body + 20] ^= 1), "`matches/m00040.json` has SHA-256"),
        (
            with(&|tar| tar[at..at + 12].copy_from_slice(b"../../escape")),
            "where `matches/m00040.json` should begin",
        ),
        (with(&|tar| tar[at + 124] = b'7'), "where `matches/m00040.json` should begin"),
        (with(&|tar| tar[at + 156] = b'2'), "where `matches/m00040.json` should begin"),
        (with(&|tar| drop(tar.drain(at..at + 512))), "where `matches/m00040.json` should begin"),
    ] {
        let (output, out, _) = honest.ask(honest.receipt.clone(), move |_| Lie::Whole(200, lie.clone()));
        ends(&output, 20, &[wanted]);
        assert!(!out.join("matches/m00040.json").exists() && out.join("matches/m00039.json").exists());
        holds_no_lie(&out, &honest.receipt);
    }
    let (output, out, _) = honest.ask(honest.receipt.clone(), |_| Lie::Endless(b"../x".repeat(1 << 14)));
    ends(&output, 20, &["where `frozen.json` should begin"]);
    assert!(files(&out).is_empty() && !out.exists());
    let part = tar.clone();
    let (output, _, _) =
        honest.ask(honest.receipt.clone(), move |_| Lie::Part(512, part[512..].to_vec(), part.len() as u64));
    ends(&output, 20, &["sends another part"]);
}

/// What has no end is cut, and whoever is sent elsewhere does not go.
#[test]
fn answers_without_end_are_cut_and_redirections_not_followed() {
    let told = |class: &str| {
        let sha256 = Digest::of(b"");
        json!({ "terminal": { "class": class, "reason": "r\u{7}", "receipt_sha256": sha256 } }).to_string()
    };
    let fetch = |answers: Arc<Answers>| {
        let liar = Liar::start(answers);
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("http://{}/tournaments/t1", liar.address);
        let mut command = std::process::Command::new(program());
        command.args(["tournament", "fetch", &url, "--out", "out"]).current_dir(folder.path());
        let output = command.output().expect("the binary starts");
        assert!(!folder.path().join("out").exists());
        output
    };
    let endless = fetch(Arc::new(|_, _| Lie::Endless(vec![b' '; 1 << 16])));
    ends(&endless, 20, &["more than 8388608 bytes"]);
    let success = told("success");
    let endless = fetch(Arc::new(move |path, _| match path.ends_with("/receipt") {
        true => Lie::Endless(vec![b' '; 1 << 16]),
        false => Lie::Whole(200, success.clone().into_bytes()),
    }));
    ends(&endless, 20, &["more than 67108864 bytes"]);
    let success = told("success");
    let other = fetch(Arc::new(move |path, _| match path.ends_with("/receipt") {
        true => Lie::Whole(200, b"another".to_vec()),
        false => Lie::Whole(200, success.clone().into_bytes()),
    }));
    ends(&other, 20, &["its receipt has SHA-256"]);
    let elsewhere = fetch(Arc::new(|_, _| Lie::Whole(301, b"{}".to_vec())));
    ends(&elsewhere, 20, &["it sends elsewhere"]);
    for class in ["blocked", "exhausted", "stalled", "\u{1b}[31m"] {
        let told = told(class);
        let closed = fetch(Arc::new(move |_, _| Lie::Whole(200, told.clone().into_bytes())));
        ends(&closed, 20, &["it ended as", "identities disclosed"]);
        assert!(!said(&closed).contains(['\u{1b}', '\u{7}']), "{}", said(&closed));
    }
}

/// A server that breaks off is asked again, for what is missing only; and in the end the run is whole.
#[test]
fn a_server_that_breaks_off_is_asked_for_the_rest() {
    let honest = Honest::new();
    let tar = honest.tar.clone();
    let cuts = Mutex::new(vec![
        honest.place_of("journal.ndjson") + 700,
        honest.place_of("matches/m00033.json"),
        honest.place_of("matches/m00050.json") + 600,
    ]);
    // It knows no parts: everything comes from the start each time.
    let (output, out, asked) = honest.ask(honest.receipt.clone(), move |_| {
        let mut cuts = cuts.lock().expect("a lock");
        if cuts.is_empty() { Lie::Whole(200, tar.clone()) } else { Lie::Cut(tar.clone(), cuts.remove(0)) }
    });
    ends(&output, 0, &["90 records", "going on in"]);
    assert_eq!(asked.iter().filter(|path| path.contains("/run")).count(), 4, "{asked:?}");
    assert!(std::fs::read(out.join("receipt.json")).expect("there") == honest.receipt);
    let verified = honest.server.arena(&["verify", out.to_str().expect("a path")]);
    ends(&verified, 0, &["90 records"]);
    // One that never gives anything new is given up, and what is here is told.
    let tar = honest.tar.clone();
    let at = honest.place_of("matches/m00010.json") + 600;
    let (output, out, asked) = honest.ask(honest.receipt.clone(), move |_| Lie::Cut(tar.clone(), at));
    ends(&output, 10, &["the server broke off", "files are here", "it goes on from there"]);
    assert!(asked.iter().filter(|path| path.contains("/run")).count() <= 6, "{asked:?}");
    assert!(out.join("matches/m00009.json").exists() && !out.join("matches/m00010.json").exists());
    holds_no_lie(&out, &honest.receipt);
    // The same command at the honest server goes on from there, in one request.
    let url = format!("http://{}/tournaments/t1", honest.server.address);
    let again = honest.server.arena(&["tournament", "fetch", &url, "--out", out.to_str().expect("a path")]);
    ends(&again, 0, &["files that were here already"]);
    let verified = honest.server.arena(&["verify", out.to_str().expect("a path")]);
    ends(&verified, 0, &["90 records"]);
}
