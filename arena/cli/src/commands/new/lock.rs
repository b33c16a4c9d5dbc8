//! The project's Cargo.lock: the versions that the example strategies are built with, so that the
//! first build gives what was tested, and the same bytes to everybody.

/// The lock file of the example strategies, which has everything the SDK needs.
const EXAMPLES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../guest-examples/Cargo.lock"));

const BETWEEN: &str = "\n[[package]]\n";
const SDK: &str = "arena-sdk";

/// The lock file of a project that depends on the SDK.
pub(super) fn of(name: &str) -> String {
    let project = format!("name = \"{name}\"\nversion = \"0.1.0\"\ndependencies = [\n \"{SDK}\",\n]\n");
    let mut blocks = needed();
    blocks.push(Block { name, text: &project });
    blocks.sort_by_key(|block| block.name);
    let mut text = EXAMPLES.split(BETWEEN).next().unwrap_or_default().to_owned();
    for block in blocks {
        text.push_str(BETWEEN);
        text.push_str(block.text);
    }
    text
}

/// Names of the packages that every project is built with.
pub(super) fn packages() -> impl Iterator<Item = &'static str> {
    needed().into_iter().map(|block| block.name)
}

/// One `[[package]]`, without this line.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Block<'a> {
    name: &'a str,
    text: &'a str,
}

/// The SDK's package and, over and over, what they depend on.
fn needed() -> Vec<Block<'static>> {
    let all: Vec<_> = EXAMPLES.split(BETWEEN).skip(1).filter_map(Block::read).collect();
    let mut names = vec![SDK];
    let mut needed = Vec::new();
    while let Some(name) = names.pop() {
        // With two versions of one package the version would follow its name; then both are kept.
        for block in all.iter().filter(|block| block.name == name) {
            if !needed.contains(block) {
                needed.push(*block);
                names.extend(block.dependencies());
            }
        }
    }
    needed
}

impl Block<'static> {
    fn read(text: &'static str) -> Option<Self> {
        let name = text.strip_prefix("name = \"")?.split('"').next()?;
        Some(Self { name, text })
    }

    fn dependencies(&self) -> impl Iterator<Item = &'static str> + use<> {
        let lines = self.text.lines().skip_while(|line| *line != "dependencies = [").skip(1);
        lines.take_while(|line| *line != "]").filter_map(|line| {
            let entry = line.trim().trim_start_matches('"');
            entry.split(['"', ' ']).next()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_has_the_project_and_what_the_sdk_needs() {
        let text = of("my-strategy");
        for part in
            ["version = 4", "name = \"my-strategy\"", "name = \"arena-sdk\"", "name = \"wit-bindgen\""]
        {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("\"gambler\""), "the examples themselves are not in it");
        assert!(!text.contains("\n\n\n") && text.ends_with("]\n") || text.ends_with("\"\n"), "{text}");
    }

    #[test]
    fn packages_stand_in_order() {
        let text = of("b");
        let names: Vec<_> = text.split(BETWEEN).skip(1).map(|block| block.lines().next()).collect();
        assert!(names.is_sorted(), "{names:?}");
    }
}
