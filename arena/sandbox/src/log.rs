//! What a guest says, kept within its allowance. Too much is dropped and counted, never punished.

use arena_engine::campus::{LogLevel, LogLine};
use arena_engine::limits::Limits;

#[derive(Debug)]
pub(crate) struct GuestLog {
    lines: Vec<LogLine>,
    dropped_bytes: u64,
    turn_bytes_max: usize,
    turn_bytes_left: usize,
    episode_bytes_left: usize,
}

impl GuestLog {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            lines: Vec::new(),
            dropped_bytes: 0,
            turn_bytes_max: limits.turn_log_bytes_max as usize,
            turn_bytes_left: limits.turn_log_bytes_max as usize,
            episode_bytes_left: limits.episode_log_bytes_max as usize,
        }
    }

    pub(crate) fn start_turn(&mut self) {
        self.turn_bytes_left = self.turn_bytes_max;
    }

    /// Bytes of text the next line may keep.
    pub(crate) fn room(&self) -> usize {
        self.turn_bytes_left.min(self.episode_bytes_left).saturating_sub(1)
    }

    /// Keeps what fits of `text`, of which the guest offered `offered` bytes. A line takes its text
    /// and one byte more, so that empty lines run out too.
    pub(crate) fn add(&mut self, turn: u32, level: LogLevel, text: &str, offered: usize) {
        let kept = prefix(text, self.room());
        self.drop_bytes((offered - kept.len()) as u64);
        if self.turn_bytes_left.min(self.episode_bytes_left) > kept.len() {
            self.turn_bytes_left -= kept.len() + 1;
            self.episode_bytes_left -= kept.len() + 1;
            self.lines.push(LogLine { turn, level, text: kept.to_owned() });
        }
    }

    /// Counts text that is not kept.
    pub(crate) fn drop_bytes(&mut self, bytes: u64) {
        self.dropped_bytes = self.dropped_bytes.saturating_add(bytes);
    }

    pub(crate) fn take(&mut self) -> (Vec<LogLine>, u64) {
        (std::mem::take(&mut self.lines), self.dropped_bytes)
    }
}

/// The longest prefix of at most `most` bytes that ends on a character.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::GuestLog;
    use arena_engine::campus::LogLevel::Info;
    use arena_engine::limits::V1;

    #[test]
    fn a_long_line_is_cut_on_a_character_and_the_rest_counted() {
        let mut log = GuestLog::new(&V1);
        log.add(0, Info, &"é".repeat(1 << 20), 2 << 20);
        log.add(0, Info, "no room left for this", 21);
        let (lines, dropped) = log.take();
        let kept: usize = lines.iter().map(|line| line.text.len()).sum();
        assert_eq!(kept, 8190);
        assert_eq!(kept as u64 + dropped, (2 << 20) + 21);
    }

    #[test]
    fn a_new_turn_has_a_new_allowance_within_the_episodes() {
        let mut log = GuestLog::new(&V1);
        for turn in 0..100 {
            log.start_turn();
            log.add(turn, Info, &"x".repeat(10_000), 10_000);
        }
        let (lines, dropped) = log.take();
        let kept: usize = lines.iter().map(|line| line.text.len() + 1).sum();
        assert_eq!(kept, 256 << 10);
        assert_eq!(kept as u64 - lines.len() as u64 + dropped, 1_000_000);
    }

    #[test]
    fn empty_lines_run_out_too() {
        let mut log = GuestLog::new(&V1);
        (0..100_000).for_each(|_| log.add(0, Info, "", 0));
        assert_eq!(log.take().0.len(), 8 << 10);
    }
}
