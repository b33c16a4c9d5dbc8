//! The files of a project that are its author's from then on.

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/strategy/", $name))
    };
}

/// Path in the project and text; `{{name}}` stands for the project's name.
const FILES: [(&str, &str); 4] = [
    (".gitignore", template!("gitignore")),
    ("Cargo.toml", template!("Cargo.toml")),
    ("README.md", template!("README.md")),
    ("src/lib.rs", template!("src/lib.rs")),
];

pub(super) fn files(name: &str) -> Vec<(String, String)> {
    FILES.iter().map(|(path, text)| ((*path).to_owned(), text.replace("{{name}}", name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_placeholder_is_left() {
        for (path, text) in files("my-strategy") {
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
        assert_eq!(profile(FILES[1].1), profile(examples));
        assert!(profile(examples).len() > 1);
    }
}
