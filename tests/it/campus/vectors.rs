//! Expected episodes that two other implementations agreed on, bit for bit.

use arena_canon::json::{self, Value};
use arena_engine::campus::{EpisodeLog, Pack, read_actions};
use arena_tests::repository;

fn vectors() -> Vec<(String, Value)> {
    let folder = repository().join("tests/vectors/campus");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the vectors are in the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .map(|path| {
            let bytes = std::fs::read(&path).expect("a readable vector");
            (path.display().to_string(), json::read(&bytes, 1 << 20).expect("a vector is JSON"))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn every_number_of_every_vector_comes_out() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 3);
    for (name, vector) in vectors {
        let pack = Pack::from_value(&vector["pack"]).expect("a valid pack");
        let actions = read_actions(&vector["actions"], pack.turns()).expect("valid actions");
        let log = serde_json::to_value(EpisodeLog::replay(&pack, &actions, &[])).expect("JSON");
        for (member, expected) in vector["episode"].as_object().expect("an object") {
            if member != "engine_version" {
                let difference = json::first_difference(&log[member], expected);
                assert!(difference.is_none(), "{name} {member}: {difference:?}");
            }
        }
    }
}
