//! From the listing to the settlement, by programs alone.

use std::time::{Duration, Instant};

use arena_canon::Digest;
use arena_tests::{guest, repository};
use serde_json::{Value, json};

use super::{Arena, Process};

const PRICES: &str = "de_lu_da_2024-12-11_12.csv";

fn prices() -> Vec<u8> {
    let path = repository().join("guest-examples/price-statistics/inputs").join(PRICES);
    std::fs::read(path).expect("the example has its input")
}

/// The example's manifest; `mean` is what it is claimed to be.
fn manifest(arena: &Arena, mean: &str) -> Value {
    let path = repository().join("guest-examples/price-statistics/claim.json");
    let claim: Value = serde_json::from_slice(&std::fs::read(path).expect("a claim")).expect("JSON");
    let mut manifest = json!({
        "v": "arena-manifest/v1", "title": format!("the mean is {mean}"), "submitter": "sue",
        "program": { "kind": "experiment", "component": Digest::of(&guest("price-statistics")) },
        "inputs": [{ "name": PRICES, "sha256": Digest::of(&prices()), "bytes": prices().len().to_string() }],
        "arguments": claim["arguments"], "metrics": claim["metrics"], "limits": claim["limits"],
        "engine": { "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": arena_sandbox::engine_digest() },
        "capabilities": ["wasm"], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
        "determinism": "exact", "protocol_params_sha256": arena.get("/beacons", None)["params_sha256"],
    });
    let metrics = manifest["metrics"].as_array_mut().expect("metrics");
    let metric = metrics.iter_mut().find(|metric| metric["name"] == "mean").expect("a mean");
    metric["claim"] = json!(mean);
    manifest
}

/// Lists a claim, brings what it pins, and fills its pool.
pub(super) fn list(arena: &Arena, sue: &str, fay: &str, mean: &str) -> String {
    let body = json!({ "manifest": manifest(arena, mean), "deposit": "500" });
    assert_eq!(arena.post("/claims?dry_run=true", sue, &body).expect(200).json()["dry_run"], true);
    let claim =
        arena.post("/claims", sue, &body).expect(201).json()["claim"].as_str().expect("its name").to_owned();
    for bytes in [guest("price-statistics"), prices()] {
        let path = format!("/claims/blobs/{}", Digest::of(&bytes));
        let said = arena.send("PUT", &path, Some(sue), "application/octet-stream", &bytes);
        assert!(matches!(said.status, 200 | 201), "{}", String::from_utf8_lossy(&said.body));
    }
    arena.post(&format!("/claims/{claim}/fund"), fay, &json!({ "amount": "3500" })).expect(200);
    claim
}

/// A key of Ed25519 for somebody who signs nothing.
pub(super) fn public(arena: &Arena, name: &str) -> String {
    arena.folder.arena(&format!("key new {{}}/{name}.sign")).out.trim().to_owned()
}

pub(super) fn free(arena: &Arena, name: &str) -> i64 {
    let about = arena.get(&format!("/claims/agents/{name}"), Some("admin"));
    let amount =
        |key: &str| about[key].as_str().and_then(|text| text.parse::<i64>().ok()).expect("an amount");
    assert_eq!(amount("locked"), 0, "{name}");
    amount("free")
}

/// What an agent asked of the server, in order: method and path.
fn asked(arena: &Arena, name: &str) -> Vec<String> {
    let log = std::fs::read_to_string(arena.folder.at("requests.log")).expect("a log");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let lines = lines.filter(|line| line["agent"] == name);
    lines
        .map(|line| {
            format!("{} {}", line["method"].as_str().unwrap_or(""), line["path"].as_str().unwrap_or(""))
        })
        .collect()
}

/// A program, of whom, and which of both it is.
struct Member {
    name: &'static str,
    what: &'static str,
    process: Process,
}

impl Member {
    fn restart(&mut self, arena: &Arena) {
        self.process.kill();
        self.process = arena.start(self.what, self.name);
    }
}

/// Kills one program after the other, whatever it is doing.
struct Monkey {
    next: usize,
    last: Instant,
}

impl Monkey {
    const EVERY: Duration = Duration::from_secs(3);

    fn strike(&mut self, arena: &Arena, members: &mut [Member]) {
        if self.last.elapsed() >= Self::EVERY {
            let place = self.next % members.len();
            members[place].restart(arena);
            self.next += 1;
            self.last = Instant::now();
        }
    }
}

/// The programs of three runners and a challenger, bound and with money.
fn staffed(arena: &Arena) -> Vec<Member> {
    let team = [("ben", "runner"), ("cat", "runner"), ("dan", "runner"), ("eve", "challenger")];
    let programs: Vec<_> = team
        .into_iter()
        .map(|(name, what)| {
            arena.agent(name);
            Member { name, what, process: arena.start(what, name) }
        })
        .collect();
    let bound = || arena.get("/claims/agents", None)["items"].as_array().map_or(0, Vec::len);
    arena.until("the programs bind their keys", || bound() == 6);
    for name in ["ben", "cat", "dan", "eve", "sue", "fay"] {
        arena.post("/deposits", "admin", &json!({ "agent": name, "amount": "20000" })).expect(200);
    }
    programs
}

#[test]
fn an_honest_and_a_false_claim_are_settled_by_programs_that_are_killed_meanwhile() {
    let arena = Arena::new();
    let (sue, fay) = (arena.agent("sue"), arena.agent("fay"));
    for (name, key) in [("sue", &sue), ("fay", &fay)] {
        let body = json!({ "key": public(&arena, name), "capabilities": [] });
        arena.post("/claims/agents", key, &body).expect(201);
    }
    let mut programs = staffed(&arena);
    std::thread::sleep(Duration::from_secs(2));
    let (honest, wrong) = (list(&arena, &sue, &fay, "330.9415"), list(&arena, &sue, &fay, "331.9415"));
    let see = |claim: &str| arena.get(&format!("/claims/{claim}"), None);
    let mut monkey = Monkey { next: 0, last: Instant::now() };
    // Killed between the commitment and the reveal, and started again; once with everything lost but the keys.
    for claim in [&honest, &wrong] {
        arena.until("it is run", || {
            monkey.strike(&arena, &mut programs);
            see(claim)["status"] == "committed"
        });
        let runner = see(claim)["run"]["runner"].as_str().expect("drawn").to_owned();
        let member = programs.iter_mut().find(|member| member.name == runner).expect("ours");
        if claim == &wrong {
            member.process.kill();
            let folder = arena.folder.at(&format!("{runner}.ak.work"));
            std::fs::remove_dir_all(folder.join("jobs")).expect("removed");
            std::fs::remove_dir_all(folder.join("blobs")).expect("removed");
        }
        member.restart(&arena);
    }
    for claim in [&honest, &wrong] {
        arena.until("it is settled", || {
            monkey.strike(&arena, &mut programs);
            see(claim)["status"] == "settled"
        });
    }
    assert!(monkey.next >= 20, "{} were killed", monkey.next);
    programs_are_quiet(&arena, &mut programs);
    let ended = (see(&honest), see(&wrong));
    assert_eq!((&ended.0["outcome"], &ended.1["outcome"]), (&json!("reproduced"), &json!("not_reproduced")));
    for seen in [&ended.0, &ended.1] {
        let runner = seen["run"]["runner"].as_str().expect("drawn");
        let claim = seen["claim"].as_str().expect("a name");
        assert!(
            seen["comparisons"].as_array().is_some_and(|all| all.iter().all(|one| one["agrees"] == true))
        );
        // None is told where it was killed before it could.
        assert!(arena.did(runner, claim).iter().filter(|did| *did == "committed").count() <= 1);
        assert_eq!(seen["run"]["revealed"], true, "{}", arena.said());
    }
    // Who challenges of its own will has a reason to.
    let challenged = |seen: &Value| {
        let all = seen["challenges"].as_array().expect("challenges").clone();
        all.iter().any(|challenge| challenge["agent"] == "eve")
    };
    assert_eq!((challenged(&ended.0), challenged(&ended.1)), (false, true), "{}", arena.said());
    // Nobody lost anything; runs and audits were paid.
    let team: Vec<i64> = ["ben", "cat", "dan", "eve"].iter().map(|name| free(&arena, name)).collect();
    assert!(team.iter().all(|free| *free >= 20_000), "{team:?}\n{}", arena.said());
    assert_eq!(team.iter().sum::<i64>(), 80_000 + 2 * 1_000 + 2 * 600, "{}", arena.said());
    asks_nothing_of_the_run(&arena, &wrong);
    receipts_hold(&arena);
    for Member { name, process, .. } in programs {
        assert_eq!(process.interrupt(), Some(0), "{name}");
    }
    let secrets = ["ben", "cat", "dan", "eve"]
        .map(|name| std::fs::read_to_string(arena.folder.at(&format!("{name}.ak"))));
    for secret in secrets {
        assert!(!arena.said().contains(secret.expect("a key").trim()), "a key was told");
    }
}

/// Nobody owes anything any more, and everybody knows.
fn programs_are_quiet(arena: &Arena, members: &mut [Member]) {
    for member in members.iter_mut() {
        member.restart(arena);
        let name = member.name;
        let looks = || asked(arena, name).iter().filter(|line| line.ends_with("/assignments")).count();
        let before = looks();
        arena.until("it looks again", || looks() >= before + 2);
        let jobs = std::fs::read_dir(arena.folder.at(&format!("{name}.ak.work/jobs"))).expect("a folder");
        for job in jobs {
            let text = std::fs::read_to_string(job.expect("an entry").path()).expect("a part");
            assert!(!text.contains(r#""wish":"commit""#), "{name}: {text}");
        }
    }
}

/// Programs keep the receipts of what they did, and the server is held to each.
fn receipts_hold(arena: &Arena) {
    let mut kept = 0;
    for name in ["ben", "cat", "dan", "eve"] {
        let folder = arena.folder.at(&format!("{name}.ak.work/receipts"));
        for receipt in std::fs::read_dir(folder).expect("a folder") {
            let file = receipt.expect("an entry").file_name().into_string().expect("a name");
            let path = format!("{{}}/{name}.ak.work/receipts/{file}");
            let ran = arena.folder.arena(&format!("verify --receipt {path} --server http://{}", arena.host));
            assert_eq!(ran.exit, arena_cli::Exit::Success, "{file}: {}{}", ran.out, ran.err);
            kept += 1;
        }
    }
    // None of an honest server is taken for worthless.
    assert!(!arena.said().contains("is worth nothing"), "{}", arena.said());
    // Some are lost to the kills; what both runs came to is more than that.
    assert!(kept >= 4, "{kept} receipts are kept");
}

/// All that a challenger asks for: what it does itself, claims as everybody may see them, and what they pin.
fn asks_nothing_of_the_run(arena: &Arena, claim: &str) {
    let asked = asked(arena, "eve");
    let reveal = asked.iter().position(|line| *line == format!("POST /api/v1/runs/{claim}/reveal"));
    let before = &asked[..=reveal.expect("it was revealed")];
    let known = |line: &String| {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        let path = path.strip_prefix("/api/v1").expect("the API");
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        matches!(
            (method, parts.as_slice()),
            (
                "GET",
                ["me" | "beacons" | "assignments" | "claims"]
                    | ["claims", _]
                    | ["claims", "agents" | "blobs", _]
                    | ["log", "receipts", _]
                    | ["log", "checkpoint"]
            ) | (
                "POST",
                ["claims", "agents"]
                    | ["claims", _, "draws", "resolve"]
                    | ["runs", _, "challenges" | "reveal"]
            )
        )
    };
    let strange: Vec<&String> = before.iter().filter(|line| !known(line)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    // What it is told of the claim before that has no record in it; this is the server's to hold.
    assert!(before.iter().any(|line| line.contains(&format!("POST /api/v1/runs/{claim}/challenges"))));
}
