//! The real server, in a folder of its own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::http::ask;
use crate::running::Running;

/// Limits are for those who are not tests.
const CONFIG: &str = "[limits]\nrequests_per_minute = 1000000\nburst = 1000000\nanonymous_per_second = 1000000\n\
                      play_per_second = 1000000\nplay_burst = 1000000\nfailures_per_minute = 1000000\n";
const TOKEN: &str = "7f1d0c7e5b3a29461f7e0d9c8b5a4321";

/// A server that listens.
pub struct Served {
    /// Where.
    pub url: String,
    /// What it said when it began.
    pub told: Value,
    port: u16,
    _running: Running,
    _folder: TempDir,
}

/// The binary, which stands beside the folder of the tests' own.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a path");
    let folder = tests.parent().and_then(std::path::Path::parent).expect("cargo has its folders");
    let binary = folder.join("arena");
    assert!(binary.is_file(), "the binary is not built; build it with `cargo build --package arena-cli`");
    binary
}

impl Served {
    /// Starts one, with more words for `arena serve`.
    ///
    /// # Panics
    ///
    /// When it does not begin.
    pub fn start(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, token) = (folder.path().join("arena.toml"), folder.path().join("token"));
        std::fs::write(&config, CONFIG).expect("a file");
        std::fs::write(&token, TOKEN).expect("a file");
        let mut command = Command::new(program());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"])
            .arg(folder.path().join("data"));
        command.arg("--config").arg(&config).arg("--admin-token").arg(&token).args(more);
        let mut running =
            Running::start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut line = String::new();
        let said = running.0.stdout.take().expect("it has an output");
        BufReader::new(said).read_line(&mut line).expect("it says where it listens");
        let told: Value = serde_json::from_str(&line).expect("it says so in JSON");
        let url = told["url"].as_str().expect("a url").to_owned();
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        Self { url, told, port, _running: running, _folder: folder }
    }

    /// Asks the API for something as its admin.
    #[track_caller]
    pub fn as_admin(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.ask(method, path, &[("x-admin-token", TOKEN)], body)
    }

    /// Asks the API for something with a key.
    #[track_caller]
    pub fn with_key(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.ask(method, path, &[("authorization", &format!("Bearer {key}"))], body)
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Value {
        let said = ask(self.port, method, path, headers, body).expect("the server answers");
        assert!((200..300).contains(&said.status), "{method} {path}: {} {}", said.status, said.body);
        said.body
    }
}
