//! A tournament over HTTP comes to the very bytes of one on the command line, even if the server is killed in it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Server, until};

const GUESTS: [&str; 3] = ["tit-for-tat", "random", "bully"];

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Every file of a run but those with times, as its receipt lists them.
fn listed(receipt: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let list = receipt["files"].as_array().expect("files").iter();
    list.map(|file| (text(&file["path"]), text(&file["sha256"]))).collect()
}

/// Once a run is over, its folder has the records and nothing else, even if the server was killed before it could
/// remove the rest; and they are those of the command line.
fn only_records_are_left(server: &mut Server, run: &Path) {
    let root = server.at("tournaments/t1");
    server.kill();
    for name in ["components/left.wasm", "journal.ndjson", "../t1.log"] {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, "left over").expect("written");
    }
    server.open();
    let names = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    };
    let is_clear = || names(&root) == ["matches"] && !server.at("tournaments/t1.log").exists();
    until("the rest is removed", Duration::from_secs(30), is_clear);
    let (ours, theirs) = (root.join("matches"), run.join("matches"));
    assert_eq!(names(&ours), names(&theirs));
    for name in names(&ours) {
        assert!(std::fs::read(ours.join(&name)).ok() == std::fs::read(theirs.join(&name)).ok(), "{name}");
    }
    server.get("/api/v1/tournaments/t1/matches/m00001/moves").expect(200);
}

#[test]
fn killed_in_mid_run_it_ends_as_on_the_command_line() {
    let mut server = Server::start("");
    let bearer = server.agent("bees");
    let key = ("authorization", bearer.as_str());
    let components = server.folder.path().join("components");
    std::fs::create_dir(&components).expect("a folder");
    let mut ids = Vec::new();
    for name in GUESTS {
        let component = arena_tests::guest(name);
        std::fs::write(components.join(format!("{name}.wasm")), &component).expect("written");
        let made = server.upload(&bearer, name, &component).expect(202).json();
        ids.push(made["strategy"].clone());
    }
    let plan = json!({
        "slug": "killed", "title": "Killed and taken up", "game": "matrix", "strategies": ids,
        "matrix": { "kind": "round_robin", "self_play": true, "repetitions": 400, "rounds": 100 },
    });
    let drafted = server.post("/api/v1/tournaments", key, Some(&plan)).expect(201).json();
    assert_eq!(drafted["matchups"]["planned"], 2_400);
    server.post("/api/v1/tournaments/t1/freeze", key, None).expect(200);
    server.post("/api/v1/tournaments/t1/start", key, None).expect(200);
    let root = server.at("tournaments/t1");
    let journal = root.join("journal.ndjson");
    let played = || std::fs::metadata(&journal).map_or(0, |about| about.len());
    for _ in 0..3 {
        let before = played();
        until("matchups are played", Duration::from_secs(60), || played() > before);
        server.kill();
        server.open();
    }
    let over = || server.tournament("t1")["terminal"].is_object();
    until("it is over", Duration::from_secs(120), over);
    let told = server.tournament("t1");
    assert_eq!(told["status"], "success", "{told}");
    // The same frozen file and secret on the command line.
    let frozen = server.get("/api/v1/tournaments/t1/frozen").expect(200).body;
    let identities = server.get("/api/v1/tournaments/t1/identities").expect(200).json();
    let secret = identities["secret"].as_str().expect("the secret is told").to_owned();
    std::fs::write(server.folder.path().join("frozen.json"), frozen).expect("written");
    std::fs::write(server.folder.path().join("secret"), secret).expect("written");
    let ran = server.arena(&[
        "tournament",
        "run",
        "frozen.json",
        "--secret",
        "secret",
        "--files",
        "components",
        "--out",
        "run",
    ]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let own = std::fs::read(server.folder.path().join("run/scorecard.json")).expect("a scorecard");
    assert!(own == server.get("/api/v1/tournaments/t1/scorecard").expect(200).body, "the scorecards differ");
    let receipt = server.get("/api/v1/tournaments/t1/receipt").expect(200).json();
    let run = server.folder.path().join("run");
    assert_eq!(listed(&receipt), listed(&json_of(&run.join("receipt.json"))));
    let verified = server.arena(&["verify", "run"]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stderr));
    only_records_are_left(&mut server, &run);
    // What was journaled is in the feed, once.
    let terminal = server.arena(&["journal", "export", "data"]);
    let text = String::from_utf8_lossy(&terminal.stdout).into_owned();
    assert_eq!(text.matches("\"tournament.terminal\"").count(), 1, "{}", text.len());
}

#[test]
fn a_campus_tournament_is_played_and_its_record_read() {
    let server = Server::start("");
    let bearer = server.agent("bees");
    let key = ("authorization", bearer.as_str());
    for name in ["greedy", "idle"] {
        server.upload(&bearer, name, &arena_tests::guest(name)).expect(202);
    }
    let plan = json!({
        "slug": "campus", "title": "Greed", "game": "campus", "strategies": ["s1", "s2"],
        "matrix": { "packs": ["two-spikes", "sunny-sunday"] },
    });
    server.post("/api/v1/tournaments", key, Some(&plan)).expect(201);
    server.post("/api/v1/tournaments/t1/freeze", key, None).expect(200);
    server.post("/api/v1/tournaments/t1/start", key, None).expect(200);
    until("it is over", Duration::from_secs(60), || server.tournament("t1")["terminal"].is_object());
    let matrix = server.get("/api/v1/tournaments/t1/matrix").expect(200).json();
    assert_eq!(matrix["standings"][0]["strategy"], "greedy", "{matrix}");
    let moves = server.get("/api/v1/tournaments/t1/matches/m00001/moves").expect(200).json();
    assert_eq!(moves["moves"][0].as_array().expect("turns").len(), 24);
}
