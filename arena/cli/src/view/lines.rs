//! Text in lines of a given width.

/// Columns `text` takes on a terminal, colours not counted because it has none yet.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// `parts` with dots between them, as few lines as fit `columns`.
pub(crate) fn dotted(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(part) <= columns => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

/// Words in lines of at most `columns`; a longer word has a line for itself.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line of Markdown, as it is if it fits, else in several; what belongs to a list is indented.
pub(crate) fn folded(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let mut lines = wrapped(line, columns.saturating_sub(indent.len()));
    lines.iter_mut().skip(1).for_each(|line| line.insert_str(0, indent));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_not_overfilled() {
        let parts = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(dotted(&parts, 9), ["one · two", "three"]);
        assert_eq!(dotted(&parts, 80), ["one · two · three"]);
        assert_eq!(wrapped("a bb  ccc\ndddddd", 5), ["a bb", "ccc", "dddddd"]);
    }
}
