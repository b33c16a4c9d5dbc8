//! What a project may be called: what cargo takes without a warning, and no name that is taken.

use arena_engine::Excerpt;

use super::lock;
use crate::failure::Failure;

const LENGTH_MAX: usize = 64;

/// The language's words, those reserved for later ones included.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];
/// Crates that every crate sees, and folders that cargo makes beside what it builds.
const TAKEN: [&str; 9] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "proc_macro", "std", "test"];
/// Windows has no file of these names.
const DEVICES: [&str; 22] = [
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Says everything that is wrong with a name at once.
pub(super) fn check(name: &str) -> Result<(), Failure> {
    let faults = faults(name);
    if faults.is_empty() {
        return Ok(());
    }
    let doing = format!("name a project `{}`", Excerpt { text: name, max: LENGTH_MAX });
    let failure = match faults.as_slice() {
        [fault] => Failure::usage(doing, fault),
        many => Failure::usage(doing, format_args!("{} faults", many.len())).details(many.iter().cloned()),
    };
    Err(match better(name) {
        Some(better) => failure.hint(format_args!("`{better}` would do")),
        None => failure.hint("a name is like `my-strategy`: lower-case letters, digits, - and _"),
    })
}

fn faults(name: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(first) = name.chars().next() else { return vec!["it is empty".to_owned()] };
    if name.len() > LENGTH_MAX {
        faults.push(format!("it has {} bytes; the limit is {LENGTH_MAX}", name.len()));
    }
    if first.is_ascii_digit() || matches!(first, '-' | '_') {
        faults.push(format!("it begins with `{first}`, not with a letter"));
    }
    let mut strange: Vec<char> = Vec::new();
    for letter in name.chars() {
        let allowed = matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
        if !allowed && !strange.contains(&letter) {
            strange.push(letter);
        }
    }
    if !strange.is_empty() {
        let strange: String = strange.into_iter().collect();
        let shown = Excerpt { text: &strange, max: 20 };
        faults.push(format!("it may have lower-case letters, digits, - and _ only, not `{shown}`"));
    }
    faults.extend(taken(name));
    faults
}

/// Why a well-formed name cannot be had.
fn taken(name: &str) -> Option<String> {
    let as_crate = name.replace('-', "_");
    let is_dependency = |package: &str| package.replace('-', "_") == as_crate;
    if KEYWORDS.contains(&as_crate.as_str()) {
        Some("it is a word of the Rust language".to_owned())
    } else if TAKEN.contains(&as_crate.as_str()) {
        Some("Rust or cargo has this name for itself".to_owned())
    } else if DEVICES.contains(&as_crate.as_str()) {
        Some("Windows cannot have a file of this name".to_owned())
    } else if lock::packages().any(is_dependency) {
        Some("a package that the SDK is built with has this name".to_owned())
    } else {
        None
    }
}

/// The nearest name that has no fault.
fn better(name: &str) -> Option<String> {
    let letters = name.trim().chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9' | '_') => letter,
        _ => '-',
    });
    let mut better = String::new();
    for letter in letters {
        let doubled = letter == '-' && better.ends_with('-');
        if !doubled && better.len() < LENGTH_MAX {
            better.push(letter);
        }
    }
    let begins = |letter: char| !letter.is_ascii_lowercase();
    let trimmed = better.trim_start_matches(begins).trim_end_matches(['-', '_']);
    let candidates = [trimmed.to_owned(), format!("{trimmed}-strategy")];
    candidates.into_iter().find(|it| !trimmed.is_empty() && faults(it).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::ink::Ink;

    #[test]
    fn names_of_packages_ok() {
        for name in ["a", "my-strategy", "my_strategy2", &"x".repeat(LENGTH_MAX)] {
            assert!(check(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn other_names_fails_with_every_fault() {
        let cases: [(&str, &[&str]); 14] = [
            ("", &["it is empty", "like `my-strategy`"]),
            ("My Strategy", &["not `M S`", "`my-strategy` would do"]),
            ("2fast", &["begins with `2`", "`fast` would do"]),
            ("-x", &["begins with `-`"]),
            ("../evil", &["not `./`", "`evil` would do"]),
            ("crab🦀", &["not `🦀`", "`crab` would do"]),
            ("a\nb\u{202e}", &[r"not `\n\u{202e}`"]),
            ("match", &["word of the Rust language", "`match-strategy` would do"]),
            ("proc-macro", &["for itself"]),
            ("con", &["Windows"]),
            ("arena-sdk", &["the SDK is built with"]),
            ("wit_bindgen", &["the SDK is built with"]),
            ("9 lives", &["2 faults", "begins with `9`", "not ` `", "`lives` would do"]),
            (&"é".repeat(5_000), &["it has 10000 bytes; the limit is 64", "more characters)"]),
        ];
        for (name, expected) in cases {
            let failure = check(name).expect_err("it has a fault");
            assert_eq!(failure.exit(), Exit::Usage);
            let text = failure.shown(Ink::NONE);
            assert!(text.len() < 600, "{text}");
            for part in expected {
                assert!(text.contains(part), "{part} is missing in:\n{text}");
            }
        }
    }
}
