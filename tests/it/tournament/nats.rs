//! Workers on other machines, which here are processes that share nothing but a NATS server.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Plan, differences, ended, files};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

struct Server {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    running: Option<Running>,
}

impl Server {
    fn start() -> Option<Self> {
        let program = nats_server()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
        let port = port.expect("a free port").port();
        let mut server =
            Self { program, folder: tempfile::tempdir().expect("a folder"), port, running: None };
        server.restart();
        Some(server)
    }

    fn restart(&mut self) {
        self.running = None;
        let mut command = Command::new(&self.program);
        command.args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-js", "-sd"]).arg(self.folder.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        self.running = Some(Running(child));
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(Instant::now() < until, "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn worker(&self, plan: &Plan) -> Running {
        let mut command = plan.command(&["worker", "--nats", &self.url(), "--slots", "1"]);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a worker starts"))
    }
}

/// Debian keeps it where only root looks.
#[expect(clippy::print_stderr, reason = "the harness has no other way to tell of a test that did not run")]
fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file());
    if found.is_none() {
        let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
        assert!(!ci, "tournament::nats cannot run: nats-server is not installed");
        eprintln!("skipped: tournament::nats: nats-server is not installed; `cargo xtask setup` gets it");
    }
    found
}

fn records(plan: &Plan, out: &str) -> usize {
    std::fs::read_dir(plan.at(out).join("matches")).map_or(0, Iterator::count)
}

#[test]
fn two_workers_a_lost_one_and_a_restarted_server_leave_the_bytes_of_a_local_run() {
    let Some(mut server) = Server::start() else { return };
    let strategies = [("Tit For Tat", "tit-for-tat"), ("Random", "random"), ("Bully", "bully")];
    let plan = Plan::new("matrix", &strategies, "self_play = true\nrepetitions = 60\nrounds = 2000");
    ended(&plan.run("local", &[]), 0);
    let url = server.url();
    let args =
        ["tournament", "run", "plan.toml", "--secret", "given-secret", "--out", "far", "--executor", &url];
    let coordinator = plan.command(&args).spawn().expect("the coordinator starts");
    let mut coordinator = Some(coordinator);
    let (first, _second) = (server.worker(&plan), server.worker(&plan));
    let until = Instant::now() + Duration::from_secs(120);
    let mut wait = |count: usize| {
        while records(&plan, "far") < count {
            let over =
                coordinator.as_mut().is_some_and(|it| it.try_wait().is_ok_and(|ended| ended.is_some()));
            assert!(!over && Instant::now() < until, "{count} records do not come");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait(20);
    drop(first);
    wait(40);
    server.restart();
    let _third = server.worker(&plan);
    let coordinator = coordinator.take().expect("it runs");
    ended(&coordinator.wait_with_output().expect("it ends"), 0);
    assert_eq!(differences(&files(&plan.at("local")), &files(&plan.at("far"))), [""; 0]);
    ended(&plan.arena(&["verify", "far"]), 0);
}

#[test]
fn a_server_that_is_not_there_is_told_and_the_run_can_be_taken_up() {
    let plan = Plan::small();
    let free =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr()).expect("a port");
    let url = format!("nats://{free}");
    let output = plan.run("run", &["--executor", &url]);
    assert_ne!(output.status.code(), Some(0));
    assert!(super::said(&output).contains("error: cannot hand out the matchups"), "{}", super::said(&output));
    ended(&plan.arena(&["tournament", "resume", "run"]), 0);
}
