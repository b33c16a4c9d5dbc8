use std::time::{Duration, Instant};

use arena_tournament::{Used, Watch};
use indicatif::ProgressBar;

use crate::io::Io;

/// A bar on a terminal, a plain line now and then anywhere else.
pub(super) struct Progress<'i, 'o> {
    io: &'i mut Io<'o>,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
    /// What was completed when this attempt began.
    before: Option<(usize, Used)>,
    rounds: bool,
}

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl<'i, 'o> Progress<'i, 'o> {
    /// `rounds`: turns are rounds of a matrix game.
    pub(super) fn new(io: &'i mut Io<'o>, rounds: bool) -> Self {
        let now = Instant::now();
        Self { io, bar: None, started: now, last_line: now, before: None, rounds }
    }

    fn rate(&self, completed: usize, used: Used) -> String {
        let (before, at_start) = self.before.unwrap_or_default();
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let matches = completed.saturating_sub(before) as f64 / seconds;
        let turns = used.turns.saturating_sub(at_start.turns) as f64 / seconds;
        let what = if self.rounds { "rounds" } else { "turns" };
        format!("{matches:.0} matches/s, {turns:.0} {what}/s")
    }
}

impl Watch for Progress<'_, '_> {
    fn progress(&mut self, completed: usize, planned: usize, used: Used) {
        self.before.get_or_insert((completed, used));
        let bar = self.bar.get_or_insert_with(|| self.io.progress("playing", planned as u64)).clone();
        bar.set_position(completed as u64);
        if !bar.is_hidden() {
            let (rate, left) = (self.rate(completed, used), seconds(bar.eta()));
            bar.set_message(format!("{rate}, {left} left"));
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            let rate = self.rate(completed, used);
            self.io.talk(format_args!("playing   {completed} of {planned}, {rate}"));
        }
        if completed == planned {
            bar.finish_and_clear();
        }
    }

    fn talk(&mut self, line: &str) {
        match &self.bar {
            Some(bar) if !bar.is_hidden() => bar.suspend(|| self.io.talk(line)),
            _ => self.io.talk(line),
        }
    }
}

/// `3 s`, `2 min 5 s`.
fn seconds(left: Duration) -> String {
    match left.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

impl Drop for Progress<'_, '_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
