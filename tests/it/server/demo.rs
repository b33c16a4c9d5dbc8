//! The demo as somebody sees it who has the binary and nothing else.

use std::time::Duration;

use arena_canon::Digest;
use arena_tests::repository;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LIMITS, Server, until};

/// In a folder outside of the repository.
fn demo() -> Server {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("arena.toml"), LIMITS).expect("written");
    let mut server = Server { folder, child: None, address: String::new() };
    server.open_with(&["--demo"]);
    server
}

#[test]
fn its_tournament_is_played_and_its_claims_are_run_again_by_programs() {
    let server = demo();
    until("the tournament is over", Duration::from_secs(60), || {
        server.tournament("t1")["terminal"].is_object()
    });
    let told = server.tournament("t1");
    assert_eq!((&told["status"], &told["matchups"]["completed"]), (&json!("success"), &json!(105)), "{told}");
    let matrix = server.get("/api/v1/tournaments/t1/matrix").expect(200).json();
    assert_eq!(matrix["standings"].as_array().expect("standings").len(), 6);
    assert!(matrix["identities"].as_array().expect("identities").iter().all(|it| it["verified"] == true));
    server.get("/api/v1/tournaments/t1/receipt").expect(200);
    the_settled_claim_comes_to_the_same_again(&server);
    the_open_one_is_challenged(&server);
}

fn see(server: &Server, claim: &str) -> Value {
    server.get(&format!("/api/v1/claims/{claim}")).expect(200).json()
}

/// What is revealed is what the example claims, and its fuel and log are those of the sandbox.
fn the_settled_claim_comes_to_the_same_again(server: &Server) {
    let settled = see(server, "c1");
    assert_eq!((&settled["status"], &settled["outcome"]), (&json!("settled"), &json!("reproduced")));
    let record = &settled["run"]["record"];
    let folder = server.folder.path().join("again");
    std::fs::create_dir_all(folder.join("blobs")).expect("a folder");
    let pinned = server.get("/api/v1/claims/c1/blobs").expect(200).json();
    let pinned: Vec<&Value> = pinned["items"].as_array().expect("items").iter().collect();
    assert!(pinned.iter().all(|item| item["kept"] == true), "{pinned:?}");
    for path in [
        "arena/cli/guests/price-statistics.wasm",
        "guest-examples/price-statistics/inputs/de_lu_da_2024-12-11_12.csv",
    ] {
        let bytes = std::fs::read(repository().join(path)).expect("it is there");
        let sha256 = Digest::of(&bytes).to_string();
        assert!(pinned.iter().any(|item| item["sha256"] == sha256), "{path} is not pinned");
        std::fs::write(folder.join("blobs").join(sha256), bytes).expect("written");
    }
    let manifest = server.folder.path().join("manifest.json");
    std::fs::write(&manifest, settled["manifest"].to_string()).expect("written");
    let mut rerun = std::process::Command::new(super::program());
    let job = settled["job"].as_str().expect("a job");
    rerun.args(["rerun", "--folder"]).arg(&folder).args(["--job", job]);
    let ran = rerun.stdin(std::fs::File::open(manifest).expect("it is there")).output().expect("it starts");
    let again: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&ran.stderr)));
    for member in ["metrics", "outputs", "fuel", "log_sha256"] {
        assert_eq!(again[member], record[member], "{member}");
    }
}

/// A program that knows nothing of the demo finds the wrong claim, and challenges it.
fn the_open_one_is_challenged(server: &Server) {
    let token = std::fs::read_to_string(server.at("admin.token")).expect("the admin's token");
    let admin = ("x-admin-token", token.trim());
    let bearer = server.agent("newcomer");
    let key = bearer.strip_prefix("Bearer ").expect("a key");
    std::fs::write(server.folder.path().join("newcomer.ak"), key).expect("written");
    let url = format!("http://{}", server.address);
    let challenge = || {
        let ran = server.arena(&["challenger", "--server", &url, "--key", "newcomer.ak", "--once"]);
        let said = [ran.stdout.as_slice(), ran.stderr.as_slice()].concat();
        (ran.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    // The first look makes it known; then it has what a challenge locks.
    let met = challenge();
    let money = json!({ "agent": "newcomer", "amount": "20000" });
    server.post("/api/v1/deposits", admin, Some(&money)).expect(200);
    let (code, said) = challenge();
    assert!(code == Some(0) && said.contains("c2: committed: "), "{met:?}\n{said}");
}

/// Components that are part of the program are those that the recorded digests speak of.
#[test]
fn what_is_built_in_are_the_examples() {
    let recorded = std::fs::read_to_string(repository().join("guest-examples/DIGESTS")).expect("digests");
    let folder = repository().join("arena/cli/guests");
    let bless = std::env::var_os("ARENA_BLESS").is_some();
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_recorded =
            |bytes: &[u8]| recorded.contains(&format!(" {name} sha256:{}\n", Digest::of(bytes)));
        let built = arena_tests::guest(&name);
        // What another compiler made is not recorded, and not taken in.
        if bless && is_recorded(&built) {
            std::fs::write(&path, &built).expect("written");
        }
        let bytes = std::fs::read(&path).expect("a component");
        assert!(
            is_recorded(&bytes),
            "{name}: no compiler of guest-examples/DIGESTS made it; run `cargo xtask bless`"
        );
        compared += 1;
    }
    assert_eq!(compared, 8);
}
