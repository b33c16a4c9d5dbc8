//! Names stay apart from the words of the formats, and nobody is told whom they play.

use std::collections::BTreeSet;

use arena_tournament::{Plan, Secret, freeze};
use serde_json::Value;

use super::natives::{self, in_process, json, plan, play};

fn strings(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => {
            for (key, member) in members {
                found.insert(key.clone());
                strings(member, found);
            }
        }
        _ => {}
    }
}

/// Every word that a format uses, so that no strategy can bear it: the records of games with every
/// ending, the frozen file and the commitments.
#[test]
fn every_word_of_the_formats_is_refused_as_a_name() {
    let mut words = BTreeSet::new();
    for game in ["matrix", "campus"] {
        for validation in ["clamp", "forfeit", "block"] {
            let folder = tempfile::tempdir().expect("a folder");
            let rest = format!(
                "self_play = true\n[protocol]\nmove_validation = \"{validation}\"\n\
                 [budget]\nfuel = 1000000000\nturns = 1000000\nmatchups = 1000\nwall_seconds = 1000000"
            );
            play(folder.path(), &plan(game, &natives::NAMES, &rest), &mut in_process()).expect("played");
            let mut files: Vec<_> = std::fs::read_dir(folder.path().join("matches"))
                .expect("a folder")
                .map(|entry| format!("matches/{}", entry.expect("an entry").file_name().to_string_lossy()))
                .collect();
            files.extend(["frozen.json", "identities.commit.json"].map(str::to_owned));
            for name in files {
                let mut value = json(folder.path(), &name);
                for apart in ["strategies", "moves", "title", "slug"] {
                    value.as_object_mut().expect("an object").remove(apart);
                }
                strings(&value, &mut words);
            }
        }
    }
    assert!(words.contains("double_forfeit") && words.contains("no_contest"), "{words:?}");
    let mut free = Vec::new();
    for word in words {
        let text = format!(
            "slug = \"x\"\ntitle = \"X\"\ngame = \"campus\"\nstrategies = [{{ name = {word:?}, component = \"c\" }}, \
             {{ name = \"D\", component = \"d\" }}]\n[matrix]\npacks = [\"two-spikes\"]"
        );
        let pack = json_of_pack();
        let refused = match Plan::parse(&text) {
            Err(_) => true,
            Ok(plan) => {
                let component =
                    arena_tournament::Component { sha256: natives::sha256("c"), world: "native".to_owned() };
                let components = [component.clone(), component];
                freeze(&plan, &components, &[pack], &natives::secret(), &natives::pins()).is_err()
            }
        };
        if !refused {
            free.push(word);
        }
    }
    assert!(free.is_empty(), "words of the formats that can be a strategy's name: {free:?}");
}

fn json_of_pack() -> arena_tournament::PackPin {
    let frozen = natives::frozen(&plan("campus", &["lucky", "talker"], ""));
    match &frozen.matchups[0].scenario {
        arena_tournament::Scenario::Campus(pin) => pin.clone(),
        arena_tournament::Scenario::Matrix(_) => unreachable!("a campus plan"),
    }
}

/// A guest that ends with a rival's name on its lips, or says it, harms nobody: its words are elsewhere.
#[test]
fn a_rivals_name_in_a_guests_words_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &["talker", "no-start", "defector"], "");
    let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
    assert_eq!(ended.ending.class, arena_tournament::Class::Success, "{:?}", ended.ending);
    let said = std::fs::read_dir(folder.path().join("guest")).expect("a folder").count();
    assert_eq!(said, 3);
    for entry in std::fs::read_dir(folder.path().join("matches")).expect("a folder") {
        let record = std::fs::read_to_string(entry.expect("an entry").path()).expect("there");
        assert!(!record.contains("defector"), "{record}");
    }
}

/// The seating is the secret's alone: other names, another order of the matchups, the same aliases.
#[test]
fn the_frozen_file_tells_nothing_of_who_is_who() {
    let plan = plan("matrix", &["cooperator", "defector", "copycat", "lucky"], "repetitions = 2");
    let of = |secret: u8| {
        let components: Vec<_> = plan
            .strategies
            .iter()
            .map(|planned| arena_tournament::Component {
                sha256: natives::sha256(&planned.component),
                world: "native".to_owned(),
            })
            .collect();
        freeze(&plan, &components, &[], &Secret::from_bytes([secret; 32]), &natives::pins()).expect("frozen")
    };
    let mut seatings = BTreeSet::new();
    for secret in 0..40 {
        let (frozen, seating) = of(secret);
        assert_eq!(frozen.matchups, of(0).0.matchups, "the matrix is the same for every seating");
        seatings.insert(format!("{seating:?}"));
    }
    assert!(seatings.len() > 12, "of 24 there were {}", seatings.len());
}
