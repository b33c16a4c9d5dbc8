//! The schemas that the command prints, against what the command writes.

use arena_cli::Exit;
use serde_json::Value;

use super::Lab;
use crate::cli::arena;

const CLAIMS: [&str; 9] =
    ["manifest", "record", "commitment", "reveal", "ballot", "params", "transcript", "case", "report"];

fn validator(name: &str) -> jsonschema::Validator {
    let ran = arena(["schema", name]);
    assert_eq!(ran.exit, Exit::Success, "{}", ran.err);
    let schema = ran.json();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name} is no schema of draft 2020-12");
    jsonschema::validator_for(&schema).expect("a valid schema")
}

#[track_caller]
fn in_schema(name: &str, document: &Value) {
    let validator = validator(name);
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new(), "{name}: {document}");
}

#[test]
fn every_schema_is_printed() {
    for name in CLAIMS.into_iter().chain(["pack", "episode"]) {
        validator(name);
    }
    assert_eq!(arena(["schema", "wishes"]).exit, Exit::Usage);
}

/// A settled claim's folder, its parameters, its draws and a report are in their schemas.
#[test]
fn what_a_life_leaves_is_in_the_schemas() {
    let mut lab = Lab::open();
    let (runner, auditor) = lab.run();
    lab.claim(&format!("challenge c1 --as {auditor} --key {{}}/{auditor}.key --results {{}}/results.json"));
    lab.now += 86_400;
    lab.claim("tick c1");
    lab.claim(&format!("reveal c1 --as {runner} --key {{}}/{runner}.key"));
    lab.claim(&format!("reveal c1 --as {auditor} --key {{}}/{auditor}.key"));
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(lab.folder.at(name)).expect("a file")).expect("JSON")
    };
    in_schema("manifest", &read("manifest.json"));
    in_schema("params", &read("lab/instance.json")["params"]);
    in_schema("params", &arena(["claim", "params", "show", "--json"]).json());
    let draws = lab.show()["claims"][0]["draws"].clone();
    assert_eq!(draws.as_array().map(Vec::len), Some(3), "the runner, the coin, the auditor");
    draws.as_array().expect("draws").iter().for_each(|draw| in_schema("transcript", draw));
    let (mut records, mut reveals) = (0, 0);
    for entry in std::fs::read_dir(lab.folder.at("lab/sealed")).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name.starts_with("opening-") {
            in_schema("reveal", &read(&format!("lab/sealed/{name}")));
            reveals += 1;
        }
        if name.starts_with("record-") {
            in_schema("record", &read(&format!("lab/sealed/{name}")));
            records += 1;
        }
    }
    // The runner's as it was made, and what both committed to.
    assert_eq!((records, reveals), (3, 2));
    for line in [
        "claim compare {}/manifest.json {}/results.json --json",
        "claim compare {}/manifest.json {}/results.json {}/results.json --json",
    ] {
        in_schema("report", &lab.folder.arena(line).json());
    }
}
