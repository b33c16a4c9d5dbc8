//! The WebDriver of Chromium.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::http::ask;
use crate::running::{Running, free_port};

const CHROMIUM: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const DRIVER: [&str; 1] = ["chromedriver"];
const PATIENCE: Duration = Duration::from_secs(30);

/// A driver that listens; browsers are started through it.
pub struct Driver {
    pub(crate) port: u16,
    pub(crate) chromium: PathBuf,
    _running: Running,
}

fn found(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|program| program.is_file())
}

impl Driver {
    /// Starts it. Where Chromium or its driver is not installed, the test `name` is skipped by that name, and fails
    /// with CI set.
    ///
    /// # Panics
    ///
    /// When it does not start.
    #[expect(
        clippy::print_stderr,
        reason = "the harness has no other way to tell of a test that did not run"
    )]
    pub fn start(name: &str) -> Option<Self> {
        let (Some(chromium), Some(program)) = (found(&CHROMIUM), found(&DRIVER)) else {
            let ci = std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"));
            assert!(!ci, "browser::{name} cannot run: chromium and chromedriver are not installed");
            eprintln!(
                "skipped: browser::{name}: chromium and chromedriver are not installed; `cargo xtask test` gets them"
            );
            return None;
        };
        let port = free_port();
        let mut command = Command::new(program);
        command.arg(format!("--port={port}"));
        let running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let until = Instant::now() + PATIENCE;
        let is_ready =
            || ask(port, "GET", "/status", &[], None).is_ok_and(|said| said.body["value"]["ready"] == true);
        while !is_ready() {
            assert!(Instant::now() < until, "chromedriver does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Self { port, chromium, _running: running })
    }
}

#[cfg(test)]
mod tests {
    use super::Driver;

    /// Addresses at which somebody listens on a port, as the kernel writes them.
    fn listeners(port: u16) -> Vec<String> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
        let lines =
            tables.into_iter().flatten().map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        let lines: Vec<String> = lines.flatten().collect();
        let listens = |line: &String| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (address, at) = words.get(1)?.split_once(':')?;
            let is_it = u16::from_str_radix(at, 16).ok()? == port && *words.get(3)? == "0A";
            is_it.then(|| address.to_owned())
        };
        lines.iter().filter_map(listens).collect()
    }

    #[test]
    fn whoever_drives_a_browser_does_it_from_this_machine() {
        let Some(driver) = Driver::start("whoever_drives_a_browser_does_it_from_this_machine") else {
            return;
        };
        let found = listeners(driver.port);
        assert!(!found.is_empty(), "nobody listens on {}", driver.port);
        // 127.0.0.1, ::1, and the first as an address of IPv6.
        const LOOPBACK: [&str; 3] =
            ["0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"];
        assert!(found.iter().all(|address| LOOPBACK.contains(&address.as_str())), "{found:?}");
    }
}
