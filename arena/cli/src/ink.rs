use std::fmt::Display;

/// How a word stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tone {
    /// As the rest.
    #[default]
    Plain,
    /// A heading, or the word that matters.
    Strong,
    /// What can be skipped.
    Quiet,
    /// In order.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
    /// The first data series.
    Blue,
    /// The second data series.
    Magenta,
    /// The third data series.
    Cyan,
}

/// Colours, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ink {
    on: bool,
}

impl Ink {
    /// No colours.
    pub const NONE: Self = Self { on: false };

    /// Colours if `on`.
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    /// `text` in the colour of `tone`.
    pub fn paint(self, tone: Tone, text: impl Display) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Warn => "33",
            Tone::Bad => "1;31",
            Tone::Blue => "34",
            Tone::Magenta => "35",
            Tone::Cyan => "36",
        };
        if self.on && !code.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    /// An explicit choice wins over `NO_COLOR`, which wins over the terminal.
    pub(crate) fn ink(self, terminal: bool, no_color: bool) -> Ink {
        Ink::new(match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => terminal && !no_color,
        })
    }
}
