//! Why a strategy can no longer act, told to its author.

use arena_engine::campus::{EpisodeLog, LogLevel, LogLine};
use arena_engine::{During, Excerpt, Forfeit, ForfeitRecord, Frame};

use crate::ink::{Ink, Tone};
use crate::view::chart::clock;
use crate::view::lines::width;

/// Most frames shown: the innermost say where it went wrong, the outermost how it got there.
const FRAMES_MAX: usize = 16;

/// The ending, the guest's stack and its last words.
pub(crate) fn lines(forfeit: &ForfeitRecord, log: &EpisodeLog, ink: Ink) -> Vec<String> {
    let when = place(forfeit, log);
    let why = Excerpt { text: &forfeit.forfeit.to_string(), max: 400 }.to_string();
    let mut lines = vec![format!("{} {when}: {why}", ink.paint(Tone::Bad, "forfeit"))];
    lines.extend(stack(&forfeit.forfeit));
    if let Some(words) = last_words(forfeit, log) {
        lines.push(format!("guest said: \"{}\"", Excerpt { text: words, max: 400 }));
    }
    if forfeit.build_dependent {
        lines.push("another build of arena may see another ending: this one is nobody's fault".to_owned());
    }
    lines
}

/// `at turn 7 (17:45)`
fn place(forfeit: &ForfeitRecord, log: &EpisodeLog) -> String {
    match forfeit.during {
        During::Start => "before turn 0, while starting".to_owned(),
        During::Brief => "before turn 0, in the brief".to_owned(),
        During::Turn => {
            let turn = log.turns.get(forfeit.turn as usize);
            let at = turn.map(|turn| format!(" ({})", clock(&turn.observation.local_time)));
            format!("at turn {}{}", forfeit.turn, at.unwrap_or_default())
        }
    }
}

/// `guest, turn 7, warn: the text`
pub(crate) fn guest_line(line: &LogLine) -> String {
    let level = match line.level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    };
    format!("guest, turn {}, {level}: {}", line.turn, Excerpt { text: &line.text, max: 1_000 })
}

fn stack(forfeit: &Forfeit) -> Vec<String> {
    let frames: &[Frame] = match forfeit {
        Forfeit::Trapped { frames, .. } | Forfeit::MemoryCapped { frames, .. } => frames,
        Forfeit::FuelSpent { .. }
        | Forfeit::Unreadable { .. }
        | Forfeit::Overtime { .. }
        | Forfeit::StartFailed { .. } => &[],
    };
    let frames = without_machinery(frames);
    let names: Vec<String> = frames
        .iter()
        .take(FRAMES_MAX)
        .map(|frame| Excerpt { text: &frame.function, max: 100 }.to_string())
        .collect();
    let widest = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut lines: Vec<String> = frames
        .iter()
        .zip(&names)
        .map(|(frame, name)| match &frame.at {
            Some(at) => {
                let padding = " ".repeat(widest - width(name));
                format!("  {name}{padding}   {}", Excerpt { text: at, max: 160 })
            }
            None => format!("  {name}"),
        })
        .collect();
    if frames.len() > FRAMES_MAX {
        lines.push(format!("  … {} more", frames.len() - FRAMES_MAX));
    }
    lines
}

/// How a panic comes to its trap is the same every time and not the author's.
fn without_machinery(frames: &[Frame]) -> &[Frame] {
    const MACHINERY: [&str; 4] =
        ["__rustc::", "core::panicking::", "std::panicking::", "std::sys::backtrace::"];
    let is_machinery = |frame: &Frame| MACHINERY.iter().any(|prefix| frame.function.starts_with(prefix));
    let own = frames.iter().position(|frame| !is_machinery(frame)).unwrap_or_default();
    &frames[own..]
}

/// The last error the guest logged on the turn it ended: the SDK's panic hook puts the message
/// there.
fn last_words<'a>(forfeit: &ForfeitRecord, log: &'a EpisodeLog) -> Option<&'a str> {
    let lines = &log.run.as_ref()?.log;
    let of_turn = |line: &&LogLine| line.turn == forfeit.turn && line.level == LogLevel::Error;
    Some(lines.iter().rev().find(of_turn)?.text.as_str())
}
