use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use arena_tournament::NatsAddress;

/// A NATS server with a folder of its own, which outlives its process.
pub(super) struct Server {
    child: Option<Child>,
    port: u16,
    folder: tempfile::TempDir,
    program: PathBuf,
    arguments: Vec<&'static str>,
}

impl Server {
    /// Starts one; nothing where none is installed, which is a failure in continuous integration.
    pub(super) fn start(test: &str) -> Option<Self> {
        Self::start_with(test, &[])
    }

    pub(super) fn start_with(test: &str, arguments: &[&'static str]) -> Option<Self> {
        let Some(program) = find() else {
            skip(test, "nats-server is not installed; `cargo xtask setup` gets it, as root on Debian");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Self { child: None, port: 0, folder, program, arguments: arguments.to_vec() };
        // A free port may be taken by somebody else before the server has it.
        for _ in 0..5 {
            server.port = free_port();
            if server.run() {
                return Some(server);
            }
        }
        panic!("nats-server does not start; see {}", server.folder.path().join("log").display());
    }

    /// Ends it at once, in the midst of whatever it does.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
        }
    }

    /// Starts it again, where it was.
    pub(super) fn restart(&mut self) {
        self.kill();
        assert!(self.run(), "nats-server does not start again");
    }

    pub(super) fn address(&self) -> NatsAddress {
        self.url("").parse().expect("an address")
    }

    /// Its address with who one says one is.
    pub(super) fn url(&self, who: &str) -> String {
        format!("nats://{who}127.0.0.1:{}", self.port)
    }

    fn run(&mut self) -> bool {
        let log = std::fs::File::create(self.folder.path().join("log")).expect("a log");
        let child = Command::new(&self.program)
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js", "-sd"])
            .arg(self.folder.path())
            .args(&self.arguments)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let child = self.child.insert(child);
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            if child.try_wait().expect("it can be asked").is_some() {
                self.child = None;
                return false;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Debian keeps it where only root looks.
#[allow(clippy::disallowed_methods, reason = "where programs are is told by the environment")]
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
}

#[allow(clippy::print_stderr, reason = "the harness has no other way to tell of a test that did not run")]
#[allow(clippy::disallowed_methods, reason = "whether somebody watches is told by the environment")]
fn skip(test: &str, why: &str) {
    let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
    assert!(!ci, "nats::{test} cannot run: {why}");
    eprintln!("skipped: nats::{test}: {why}");
}
