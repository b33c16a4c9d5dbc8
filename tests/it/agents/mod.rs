//! Runners and challengers as programs, against a server in a process of its own, and against servers that are none.

mod apart;
mod fetch;
mod hostile;
mod log;
mod party;
mod relay;
mod settled;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::Folder;

/// The binary, which stands beside the folder of the tests' own.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a path");
    let folder = tests.parent().and_then(std::path::Path::parent).expect("cargo has its folders");
    let binary = folder.join(format!("arena{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "the binary is not built; build it with `cargo build --package arena-cli`");
    binary
}

/// A process that does not outlive its test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Process {
    /// Ends it at once, as a power cut would.
    fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("ended");
    }

    /// Asks it to leave, as somebody at a keyboard would; its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).expect("an id")).expect("an id");
        rustix::process::kill_process(id, rustix::process::Signal::INT).expect("signalled");
        self.0.wait().expect("ended").code()
    }
}

/// An answer.
struct Said {
    status: u16,
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
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

/// A server in a process of its own, whose claims take a minute or two instead of two days.
struct Arena {
    folder: Folder,
    host: String,
    admin: String,
    _server: Process,
}

const CONFIG: &str = r#"
[claims]
beacon = "test"
name = "test-agents"

[claims.params.clocks]
accept_s = 90
window_s = 90
late_s = 1
reveal_s = 120
rest_s = 0

[limits]
requests_per_minute = 1000000
burst = 1000000
anonymous_per_second = 1000000
"#;

impl Arena {
    fn new() -> Self {
        Self::with(CONFIG)
    }

    fn with(config: &str) -> Self {
        Self::serving(Folder::new(), config, &[])
    }

    /// With more on its command line.
    fn serving(folder: Folder, config: &str, more: &[&str]) -> Self {
        folder.file("config.toml", config);
        let (server, host) = Self::serve_with(&folder, more);
        let admin =
            std::fs::read_to_string(folder.at("data/admin.token")).expect("a token").trim().to_owned();
        Self { folder, host, admin, _server: server }
    }

    /// Starts a server over what is in the folder; where it listens.
    fn serve(folder: &Folder) -> (Process, String) {
        Self::serve_with(folder, &[])
    }

    /// The same with more on its command line. What it says to whoever started it is in `serve.err`.
    fn serve_with(folder: &Folder, more: &[&str]) -> (Process, String) {
        let mut command = Command::new(program());
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.arg("--data").arg(folder.at("data")).arg("--config").arg(folder.at("config.toml"));
        command.arg("--log").arg(folder.at("requests.log"));
        command.args(more).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(std::fs::File::create(folder.at("serve.err")).expect("a file"));
        let mut server = Process(command.spawn().expect("the binary starts"));
        let mut line = String::new();
        let out = server.0.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let host =
            told["url"].as_str().and_then(|url| url.strip_prefix("http://")).expect("a URL").to_owned();
        (server, host)
    }

    fn send(&self, method: &str, path: &str, key: Option<&str>, media: &str, body: &[u8]) -> Said {
        let key = match key {
            Some("admin") => format!("x-admin-token: {}\r\n", self.admin),
            Some(key) => format!("authorization: Bearer {key}\r\n"),
            None => String::new(),
        };
        let media = if body.is_empty() { String::new() } else { format!("content-type: {media}\r\n") };
        let host = &self.host;
        let head = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{key}{media}content-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(host).expect("it listens");
        stream.write_all(&[head.as_bytes(), body].concat()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Said { status, body: answer[end + 4..].to_vec() }
    }

    fn get(&self, path: &str, key: Option<&str>) -> Value {
        self.send("GET", path, key, "", b"").expect(200).json()
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> Said {
        self.send("POST", path, Some(key), "application/json", body.to_string().as_bytes())
    }

    /// An agent with an operator of its own, and its key in a file.
    fn agent(&self, name: &str) -> String {
        let body = json!({ "id": name, "operator": format!("op-{name}") });
        self.post("/agents", "admin", &body).expect(201);
        let scopes = json!({ "scopes": ["read", "submit"] });
        let made = self.post(&format!("/agents/{name}/keys"), "admin", &scopes).expect(201).json();
        let key = made["key"].as_str().expect("a key").to_owned();
        self.folder.file(&format!("{name}.ak"), format!("{key}\n"));
        key
    }

    /// Starts a program for an agent.
    fn start(&self, what: &str, name: &str) -> Process {
        self.start_with(what, name, &[])
    }

    /// The same with more on its command line.
    fn start_with(&self, what: &str, name: &str, more: &[&str]) -> Process {
        let file = |end: &str| {
            let path = self.folder.at(&format!("{name}.{end}"));
            std::fs::File::options().create(true).append(true).open(path).expect("a file")
        };
        let mut command = Command::new(program());
        command.args([what, "--every", "1", "--json", "--server", &format!("http://{}", self.host)]);
        command.arg("--key").arg(self.folder.at(&format!("{name}.ak"))).args(more);
        command.env("ARENA_CACHE", self.folder.at("cache")).stdin(Stdio::null());
        command.stdout(file("out")).stderr(file("err"));
        Process(command.spawn().expect("the binary starts"))
    }

    /// What the programs of an agent said that they did, in order: `accepted`, `ran`, …
    fn did(&self, name: &str, claim: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.at(&format!("{name}.out"))).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
        let did =
            lines.filter(|line| line["claim"] == claim).map(|line| line["did"].as_str().map(str::to_owned));
        did.map(|did| did.expect("a word")).collect()
    }

    /// What everything that the programs said comes to, for a failure.
    fn said(&self) -> String {
        let names =
            self.folder.names().into_iter().filter(|name| name.ends_with(".out") || name.ends_with(".err"));
        let text = |name: String| {
            std::fs::read_to_string(self.folder.at(&name)).map(|text| format!("--- {name}\n{text}"))
        };
        names.filter_map(|name| text(name).ok()).collect()
    }

    /// Waits until something holds.
    #[track_caller]
    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(300);
        while !holds() {
            assert!(Instant::now() < end, "{what}: not in time\n{}", self.said());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}
