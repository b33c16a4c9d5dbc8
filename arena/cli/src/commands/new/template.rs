//! The files of a project that are its author's from then on.

use super::Game;

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/", $name))
    };
}

/// Path in the project and text; `{{name}}` stands for the project's name.
const SHARED: [(&str, &str); 2] =
    [(".gitignore", template!("strategy/gitignore")), ("Cargo.toml", template!("strategy/Cargo.toml"))];

/// What is another file for each game.
fn own(game: Game) -> [(&'static str, &'static str); 2] {
    match game {
        Game::Campus => {
            [("README.md", template!("strategy/README.md")), ("src/lib.rs", template!("strategy/src/lib.rs"))]
        }
        Game::Matrix => {
            [("README.md", template!("matrix/README.md")), ("src/lib.rs", template!("matrix/src/lib.rs"))]
        }
    }
}

pub(super) fn files(name: &str, game: Game) -> Vec<(String, String)> {
    let files = SHARED.into_iter().chain(own(game));
    files.map(|(path, text)| (path.to_owned(), text.replace("{{name}}", name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_placeholder_is_left() {
        for (path, text) in
            [Game::Campus, Game::Matrix].into_iter().flat_map(|game| files("my-strategy", game))
        {
            assert!(!text.contains("{{"), "{path}");
        }
    }

    /// What authors build with is what the examples are measured with.
    #[test]
    fn the_profile_is_that_of_the_examples() {
        let examples = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-examples/Cargo.toml"));
        let profile = |text: &str| {
            let lines = text.lines().skip_while(|line| *line != "[profile.release]");
            lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(profile(SHARED[1].1), profile(examples));
        assert!(profile(examples).len() > 1);
    }
}
