use std::fmt;

/// Text from outside (a guest, a file, a name), cut and escaped for a log, a terminal or a page.
///
/// Control characters, terminal escapes and characters that turn the writing direction are shown as
/// escapes; what is cut is counted.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a> {
    /// The text as it came.
    pub text: &'a str,
    /// Most characters shown.
    pub max: usize,
}

impl<'a> Excerpt<'a> {
    /// Enough for a name or a message on one line.
    pub fn line(text: &'a str) -> Self {
        Self { text, max: 200 }
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.text.chars();
        for character in characters.by_ref().take(self.max) {
            if needs_escape(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        match characters.count() {
            0 => Ok(()),
            rest => write!(f, "… ({rest} more characters)"),
        }
    }
}

fn needs_escape(character: char) -> bool {
    let bidirectional_or_invisible = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    character.is_control() || bidirectional_or_invisible
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    #[test]
    fn what_could_move_a_cursor_or_hide_is_shown_as_an_escape() {
        let shown = Excerpt::line("a\n\u{1b}[2J\u{202e}b é 🦀").to_string();
        assert_eq!(shown, r"a\n\u{1b}[2J\u{202e}b é 🦀");
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(Excerpt { text: "ééééé", max: 2 }.to_string(), "éé… (3 more characters)");
    }
}
