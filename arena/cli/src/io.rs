use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;
use crate::files;
use crate::ink::{Colour, Ink, Tone};

/// Where a command reads and writes: results on `out`, talk (progress, hints, warnings) on `err`.
///
/// Writing never fails on the spot. A closed pipe is no error, since whoever reads has seen enough;
/// any other trouble is kept and ends the run as [`crate::Exit::Internal`].
pub struct Io<'a> {
    input: Box<dyn Read + 'a>,
    out: Sink<'a>,
    err: Sink<'a>,
    env: Env,
    colour: Colour,
}

/// What a command knows of the place it runs in.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// Results go to a terminal.
    pub out_is_terminal: bool,
    /// Talk goes to a terminal.
    pub err_is_terminal: bool,
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// Columns of the terminal; none where results do not go to one.
    pub columns: Option<usize>,
    /// Folder for compiled strategies; none: they are compiled anew each time.
    pub cache: Option<PathBuf>,
    /// The binary `arena` itself, for cargo to run in front of the compiler; none in a test.
    pub program: Option<PathBuf>,
}

/// Columns to fill where there is no terminal.
const COLUMNS: usize = 120;

impl Env {
    /// What this process says.
    pub fn of_this_process() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let out_is_terminal = io::stdout().is_terminal();
        let cache = set("ARENA_CACHE").map(PathBuf::from).or_else(|| {
            let home = || Some(PathBuf::from(set("HOME")?).join(".cache"));
            Some(set("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?.join("arena"))
        });
        Self {
            out_is_terminal,
            err_is_terminal: io::stderr().is_terminal(),
            no_color: set("NO_COLOR").is_some(),
            columns: columns(),
            cache,
            program: std::env::current_exe().ok(),
        }
    }
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

impl<'a> Io<'a> {
    /// Streams and surroundings of somebody's choice, as a test has them.
    pub fn new(input: impl Read + 'a, out: impl Write + 'a, err: impl Write + 'a, env: Env) -> Self {
        let colour = Colour::default();
        Self { input: Box::new(input), out: Sink::new(out), err: Sink::new(err), env, colour }
    }

    /// The streams of this process.
    pub fn of_this_process() -> Io<'static> {
        Io::new(io::stdin(), io::BufWriter::new(io::stdout()), io::stderr(), Env::of_this_process())
    }

    /// A part of the result, on a line of its own.
    pub fn print(&mut self, line: impl Display) {
        self.out.write(format_args!("{line}\n"));
    }

    /// The result as one JSON document on one line.
    pub fn print_json(&mut self, result: &impl Serialize) {
        match serde_json::to_string(result) {
            Ok(text) => self.print(text),
            Err(why) => self.out.trouble = Some(io::Error::other(why)),
        }
    }

    /// Hands over what was printed, for someone who watches.
    pub fn flush(&mut self) {
        self.out.flush();
    }

    /// A line of talk.
    pub fn talk(&mut self, line: impl Display) {
        self.out.flush();
        self.err.write(format_args!("{line}\n"));
    }

    /// A line of talk that starts with `warning:`.
    pub fn warn(&mut self, line: impl Display) {
        let label = self.err_ink().paint(Tone::Warn, "warning:");
        self.talk(format_args!("{label} {line}"));
    }

    /// A bar that shows how far a command is, on a terminal; nothing anywhere else.
    pub(crate) fn progress(&self, label: &'static str, steps: u64) -> ProgressBar {
        if !self.env.err_is_terminal {
            return ProgressBar::hidden();
        }
        let bar = if self.err_ink() == Ink::NONE { "{bar:20}" } else { "{bar:20.cyan}" };
        let template = format!("{{prefix}}  {{pos}} of {{len}}  {bar}  {{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(steps).with_style(style.progress_chars("█▌ ")).with_prefix(label)
    }

    /// Tells why a command failed.
    pub fn fail(&mut self, failure: &Failure) {
        self.talk(failure.shown(self.err_ink()));
    }

    /// The standard input.
    pub fn input(&mut self) -> &mut dyn Read {
        &mut self.input
    }

    /// Both standard streams as they are, for a program that talks to another.
    pub(crate) fn streams(&mut self) -> (&mut dyn Read, &mut dyn Write) {
        (&mut self.input, &mut self.out.stream)
    }

    /// Colours for results.
    pub fn ink(&self) -> Ink {
        self.colour.ink(self.env.out_is_terminal, self.env.no_color)
    }

    /// Colours for talk.
    pub fn err_ink(&self) -> Ink {
        self.colour.ink(self.env.err_is_terminal, self.env.no_color)
    }

    /// Columns a result may fill.
    pub fn columns(&self) -> usize {
        self.env.columns.unwrap_or(COLUMNS)
    }

    /// Columns a row of a table may fill: without a terminal a row stays one line, for `grep`.
    pub(crate) fn row_columns(&self) -> usize {
        self.env.columns.unwrap_or(usize::MAX)
    }

    /// What is known of the place.
    pub fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn set_colour(&mut self, colour: Colour) {
        self.colour = colour;
    }

    /// Writes out what is left, and tells what could not be written.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.out.flush();
        self.err.flush();
        let trouble = self.out.trouble.take();
        trouble.map_or(Ok(()), |why| Err(Failure::internal("write the result", files::plain(&why))))
    }
}

/// A stream that may be closed at any time.
struct Sink<'a> {
    stream: Box<dyn Write + 'a>,
    closed: bool,
    trouble: Option<io::Error>,
}

impl<'a> Sink<'a> {
    fn new(stream: impl Write + 'a) -> Self {
        Self { stream: Box::new(stream), closed: false, trouble: None }
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        if !self.closed {
            let written = self.stream.write_fmt(text);
            self.note(written);
        }
    }

    fn flush(&mut self) {
        if !self.closed {
            let flushed = self.stream.flush();
            self.note(flushed);
        }
    }

    fn note(&mut self, outcome: io::Result<()>) {
        if let Err(why) = outcome {
            self.closed = true;
            if why.kind() != io::ErrorKind::BrokenPipe {
                self.trouble = Some(why);
            }
        }
    }
}
