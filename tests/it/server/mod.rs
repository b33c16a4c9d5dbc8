//! The server as a process of its own: uploads that are compiled elsewhere, and tournaments that outlive it.

mod demo;
mod fetched;
mod tournament;
mod uploads;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Limits that no test of this kind is about.
const LIMITS: &str = "\
[limits]
requests_per_minute = 1000000
burst = 1000000
anonymous_per_second = 1000000
uploads_per_hour = 1000000
keys_per_hour = 1000000
";

/// The binary, which stands beside the folder of the tests' own.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a path");
    let folder = tests.parent().and_then(Path::parent).expect("cargo has its folders");
    let binary = folder.join(format!("arena{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "the binary is not built; build it with `cargo build --package arena-cli`");
    binary
}

/// A server with a folder of its own.
struct Server {
    folder: TempDir,
    child: Option<Child>,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An answer.
#[derive(Debug)]
struct Said {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Said {
    #[track_caller]
    fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("an answer in JSON")
    }
}

impl Server {
    /// With more of the configuration.
    fn start(more: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("arena.toml"), format!("{LIMITS}{more}")).expect("written");
        let mut server = Self { folder, child: None, address: String::new() };
        server.open();
        server
    }

    /// Starts the process, over whatever is there.
    fn open(&mut self) {
        self.open_with(&[]);
    }

    /// The same with more arguments.
    fn open_with(&mut self, more: &[&str]) {
        let mut command = Command::new(program());
        command.args(["serve", "--data", "data", "--config", "arena.toml"]);
        command.args(["--listen", "127.0.0.1:0", "--json"]).args(more);
        command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{why}: {line}"));
        let url = told["url"].as_str().expect("an address");
        self.address = url.strip_prefix("http://").expect("plain HTTP").to_owned();
        self.child = Some(child);
    }

    /// As a power cut would.
    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("data").join(name)
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Said {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: arena\r\nconnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n", body.len());
        // A server that refuses early may close before all is sent.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut said = Vec::new();
        stream.read_to_end(&mut said).expect("an answer");
        let end = said.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&said[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status");
        Said { status, head, body: said.split_off(end + 4) }
    }

    fn get(&self, path: &str) -> Said {
        self.send("GET", path, &[], &[])
    }

    fn post(&self, path: &str, key: (&str, &str), body: Option<&Value>) -> Said {
        match body {
            Some(body) => {
                let headers = [key, ("content-type", "application/json")];
                self.send("POST", path, &headers, body.to_string().as_bytes())
            }
            None => self.send("POST", path, &[key], &[]),
        }
    }

    /// Makes an agent that may submit; gives the value of its header.
    fn agent(&self, id: &str) -> String {
        let token = std::fs::read_to_string(self.at("admin.token")).expect("the admin's token");
        let admin = ("x-admin-token", token.trim());
        self.post("/api/v1/agents", admin, Some(&json!({ "id": id, "operator": id }))).expect(201);
        let path = format!("/api/v1/agents/{id}/keys");
        let made = self.post(&path, admin, Some(&json!({ "scopes": ["submit"] }))).expect(201).json();
        format!("Bearer {}", made["key"].as_str().expect("a key"))
    }

    fn upload(&self, bearer: &str, name: &str, component: &[u8]) -> Said {
        let headers = [("authorization", bearer), ("content-type", "application/wasm")];
        self.send("POST", &format!("/api/v1/strategies?name={name}"), &headers, component)
    }

    fn tournament(&self, id: &str) -> Value {
        self.get(&format!("/api/v1/tournaments/{id}")).expect(200).json()
    }

    /// `arena` in the server's folder.
    fn arena(&self, args: &[&str]) -> Output {
        let mut command = Command::new(program());
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("ARENA_CACHE", self.folder.path().join("cache"));
        command.output().expect("the binary starts")
    }
}

/// Waits until something holds.
#[track_caller]
fn until(what: &str, patience: Duration, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < patience, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
