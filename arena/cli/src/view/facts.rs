//! A short list of facts: a label, the value, and what to compare it with.

use crate::ink::{Ink, Tone};
use crate::view::lines::{dotted, width, wrapped};

/// One line: `cost     512.40 $/MWh   do nothing 1 252.00`
#[derive(Debug)]
pub(crate) struct Fact {
    label: &'static str,
    value: String,
    tone: Tone,
    aside: String,
}

/// Facts in the order in which they are told.
#[derive(Debug, Default)]
pub(crate) struct Facts(Vec<Fact>);

impl Facts {
    /// Adds a fact.
    pub(crate) fn add(&mut self, label: &'static str, value: impl Into<String>) -> &mut Fact {
        self.0.push(Fact { label, value: value.into(), tone: Tone::Plain, aside: String::new() });
        self.0.last_mut().expect("it was just added")
    }

    /// The lines, none wider than `columns` where words allow it. Asides stand below each other.
    pub(crate) fn lines(&self, columns: usize, ink: Ink) -> Vec<String> {
        let label = self.0.iter().map(|fact| width(fact.label)).max().unwrap_or_default() + 2;
        let beside = self.0.iter().filter(|fact| !fact.aside.is_empty());
        let value = beside.map(|fact| width(&fact.value)).max().unwrap_or_default() + 2;
        let mut lines = Vec::new();
        for fact in &self.0 {
            let padding = " ".repeat(label - width(fact.label));
            let head = format!("{}{padding}", ink.paint(Tone::Quiet, fact.label));
            let painted = ink.paint(fact.tone, &fact.value);
            if fact.aside.is_empty() {
                lines.push(format!("{head}{painted}"));
                continue;
            }
            let value = if fact.value.is_empty() { 0 } else { value };
            let room = columns.saturating_sub(label + value).max(20);
            let padding = " ".repeat(value.saturating_sub(width(&fact.value)));
            for (i, words) in in_room(&fact.aside, room).into_iter().enumerate() {
                let before =
                    if i == 0 { format!("{head}{painted}{padding}") } else { " ".repeat(label + value) };
                lines.push(format!("{before}{words}"));
            }
        }
        lines
    }
}

/// Broken at its dots first, and within a part only where that is still too wide.
fn in_room(aside: &str, room: usize) -> Vec<String> {
    let parts: Vec<String> = aside.split(" · ").map(str::to_owned).collect();
    let lines = dotted(&parts, room);
    let fit = |line: String| if width(&line) <= room { vec![line] } else { wrapped(&line, room) };
    lines.into_iter().flat_map(fit).collect()
}

impl Fact {
    /// In the colour of `tone`.
    pub(crate) fn toned(&mut self, tone: Tone) -> &mut Self {
        self.tone = tone;
        self
    }

    /// What to compare it with.
    pub(crate) fn aside(&mut self, aside: impl Into<String>) -> &mut Self {
        self.aside = aside.into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asides_are_wrapped_in_their_own_column() {
        let mut facts = Facts::default();
        facts.add("cost", "12.00").aside("do nothing 24.00, best at this relief 10.00");
        facts.add("log", "a-name-longer-than-any-value.json");
        assert_eq!(
            facts.lines(36, Ink::NONE),
            [
                "cost  12.00  do nothing 24.00, best",
                "             at this relief 10.00",
                "log   a-name-longer-than-any-value.json"
            ]
        );
    }
}
