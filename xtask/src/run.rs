//! Child processes: what is run, how it is shown when it fails, and whether its output is wanted or passed
//! on.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::fault::{Fault, Outcome};

/// A command about to be run, which remembers how a person would type it.
pub(crate) struct Run {
    command: Command,
    shown: String,
}

impl Run {
    pub(crate) fn new(program: impl AsRef<OsStr>, dir: &Path) -> Self {
        let program = program.as_ref();
        let mut command = Command::new(program);
        command.current_dir(dir).stdin(Stdio::null());
        let name = Path::new(program).file_stem().unwrap_or(program);
        Self { command, shown: name.to_string_lossy().into_owned() }
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        for arg in args {
            let arg = arg.as_ref();
            self.shown.push(' ');
            self.shown.push_str(&arg.to_string_lossy());
            self.command.arg(arg);
        }
        self
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn envs(mut self, pairs: &[(&'static str, OsString)]) -> Self {
        self.command.envs(pairs.iter().map(|(name, value)| (name, value)));
        self
    }

    /// Runs it with its output passed on.
    pub(crate) fn pass(mut self) -> Outcome {
        let status = self.command.status().map_err(|why| self.not_started(&why))?;
        if status.success() { Ok(()) } else { Err(self.failed(&status.to_string())) }
    }

    /// Runs it with its talk passed on and its results dropped, unless it fails.
    pub(crate) fn pass_talk(mut self) -> Outcome {
        let output = self.command.stderr(Stdio::inherit()).output().map_err(|why| self.not_started(&why))?;
        if output.status.success() {
            return Ok(());
        }
        crate::talk::say(String::from_utf8_lossy(&output.stdout).trim_end());
        Err(self.failed(&output.status.to_string()))
    }

    /// Runs it and gives what it printed on stdout.
    pub(crate) fn text(mut self) -> Outcome<String> {
        let output = self.command.output().map_err(|why| self.not_started(&why))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(self.failed(&output.status.to_string()).hint(said))
    }

    /// Runs it and gives all of its output, however it ended; `None` where it could not be started.
    pub(crate) fn try_output(mut self) -> Option<Output> {
        self.command.output().ok()
    }

    fn not_started(&self, why: &std::io::Error) -> Fault {
        Fault::new(format!("cannot start `{}`: {why}", self.shown))
    }

    fn failed(&self, status: &str) -> Fault {
        Fault::new(format!("`{}` failed ({status})", self.shown))
    }
}
