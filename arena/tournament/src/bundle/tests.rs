use serde_json::{Value, json};

use super::*;

const DIGEST: [u8; 32] = [7; 32];

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// The receipt of a success with two strategies and three matches, one of which said something.
fn receipt() -> Value {
    let components = [digest("a"), digest("b")];
    let mut files: Vec<(String, Digest, u64)> =
        ALWAYS.iter().map(|name| ((*name).to_owned(), digest(name), 3)).collect();
    files.extend(components.map(|sha256| (component_name(sha256), sha256, 900)));
    files.extend((1..=3).map(|n| (match_name(MatchId(n)), digest("match"), 512 * u64::from(n))));
    files.push((guest_name(MatchId(2)), digest("said"), 0));
    files.push((pack_name(digest("pack")), digest("as written"), 1));
    files.sort();
    let files: Vec<Value> = files
        .into_iter()
        .map(|(path, sha256, bytes)| json!({ "path": path, "sha256": sha256, "bytes": bytes }))
        .collect();
    let strategy = |index: usize| json!({ "index": index, "name": "n", "sha256": components[index], "version": "1", "world": "w" });
    let other = Digest::from_bytes(DIGEST);
    json!({
        "schema": "tournament.receipt.v1", "slug": "s", "run_id": "id", "terminal": "success", "reason": "r",
        "matchup": null, "frozen_sha256": digest(FROZEN),
        "protocol": {
            "engine_version": "1", "host_retries": 2, "identity": { "hidden": true }, "limits_version": 1,
            "move_validation": "clamp", "protocol_version": "1", "score_version": "v", "scoring": "payoff_sum",
            "wasmtime": "48",
        },
        "strategies": [strategy(0), strategy(1)],
        "versions": { "arena": "0.1.0", "engine": "1", "score": "s", "limits": 1, "wasmtime": "48" },
        "started_at": "t", "finished_at": "u",
        "matchups": { "planned": 3, "completed": 3, "remaining": [] },
        "budget": { "limit": {}, "used": { "fuel": 1, "matchups": 3, "turns": 3 }, "wall_seconds": 4 },
        "scorecard": { "path": SCORECARD, "sha256": digest(SCORECARD) },
        "identities": { "hidden": true, "verified": true, "mismatches": [], "seating": "s" },
        "files": files, "journal_head": other, "record_digest": other,
    })
}

fn of(receipt: Value) -> Result<Bundle, BundleFault> {
    let receipt = serde_json::from_value(receipt).expect("a receipt");
    Bundle::of(&receipt, digest("receipt"), 10_000)
}

fn place(receipt: &Value, path: &str) -> usize {
    let files = receipt["files"].as_array().expect("files");
    files.iter().position(|file| file["path"] == path).unwrap_or_else(|| panic!("{path} is not listed"))
}

#[test]
fn the_stream_holds_every_file_but_the_components_and_the_receipt_last() {
    let receipt = receipt();
    let bundle = of(receipt.clone()).expect("a bundle");
    let listed = receipt["files"].as_array().expect("files").iter();
    let listed: Vec<&str> = listed.map(|file| file["path"].as_str().expect("a path")).collect();
    let parts: Vec<&str> = bundle.parts().iter().map(|part| part.path.as_str()).collect();
    let mut wanted: Vec<&str> =
        listed.iter().copied().filter(|path| !path.starts_with("components/")).collect();
    wanted.push("receipt.json");
    assert_eq!(parts, wanted);
    assert_eq!(bundle.apart().len() + parts.len(), listed.len() + 1);
    let mut at = 0;
    for part in bundle.parts() {
        assert_eq!((part.at, part.body(), part.at % 512), (at, at + 512, 0), "{}", part.path);
        at = part.end();
        assert!((0..512).contains(&(at - part.body() - part.bytes)));
    }
    assert_eq!(bundle.length(), at + 1_024);
}

/// As POSIX lays a header out, read by nothing that wrote it.
#[test]
fn a_header_says_name_mode_length_and_its_own_sum() {
    for part in of(receipt()).expect("a bundle").parts() {
        let header = part.header();
        let text = |from: usize, length: usize| {
            let field = &header[from..from + length];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(length);
            std::str::from_utf8(&field[..end]).expect("text")
        };
        let octal = |from: usize, length: usize| u64::from_str_radix(text(from, length).trim(), 8).unwrap();
        assert_eq!((text(0, 100), octal(100, 8), octal(124, 12)), (part.path.as_str(), 0o644, part.bytes));
        assert_eq!((header[156], text(257, 6), text(263, 2)), (b'0', "ustar", "00"));
        let blank = |at: usize| if (148..156).contains(&at) { b' ' } else { header[at] };
        assert_eq!(octal(148, 8), (0..512).map(|at| u64::from(blank(at))).sum::<u64>());
    }
}

#[test]
fn what_no_run_has_is_refused_by_name() {
    for path in [
        "../escape",
        "/etc/passwd",
        "matches/../../x",
        "matches/m00004.json",
        "matches/m00000.json",
        "matches/m1.json",
        "matches/m00001.json.tmp",
        "matches/m00001",
        "guest/m00009.json",
        "secret",
        "state.json",
        "receipt.json",
        "packs/x.json",
        "packs/../x.json",
        "matches",
        "matches/",
        "",
        ".",
        "components/x.wasm",
        "matches\\m00001.json",
        "guest/m00001.json\0",
        "FROZEN.json",
        "a\nb",
    ] {
        let mut receipt = receipt();
        receipt["files"].as_array_mut().expect("files").insert(
            0,
            json!({
                "path": path, "sha256": digest("x"), "bytes": 1,
            }),
        );
        assert_eq!(of(receipt), Err(BundleFault::Unknown(path.to_owned())), "{path}");
    }
    // A component that no strategy has.
    let mut other = receipt();
    let path = component_name(digest("c"));
    other["files"].as_array_mut().expect("files").insert(
        0,
        json!({
            "path": path, "sha256": digest("c"), "bytes": 1,
        }),
    );
    assert_eq!(of(other), Err(BundleFault::Unknown(path)));
}

#[test]
fn what_stands_twice_is_missing_or_contradicts_itself_is_refused() {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut receipt = receipt();
        change(&mut receipt);
        of(receipt).expect_err("it is refused").to_string()
    };
    let twice = changed(&|it| {
        let files = it["files"].as_array_mut().expect("files");
        files.insert(1, files[0].clone());
    });
    assert!(twice.contains("out of order, or twice"), "{twice}");
    let swapped = changed(&|it| it["files"].as_array_mut().expect("files").swap(4, 5));
    assert!(swapped.contains("out of order"), "{swapped}");
    let all = receipt();
    for file in all["files"].as_array().expect("files") {
        let path = file["path"].as_str().expect("a path");
        if path.starts_with("guest/") || path.starts_with("packs/") {
            continue;
        }
        let at = place(&all, path);
        let told = changed(&|it| drop(it["files"].as_array_mut().expect("files").remove(at)));
        assert_eq!(told, format!("its receipt does not list `{path}`"));
    }
    for path in [FROZEN, SCORECARD, &component_name(digest("a"))] {
        let at = place(&all, path);
        let told = changed(&|it| it["files"][at]["sha256"] = json!(digest("another")));
        assert!(told.contains(path) && told.contains("another digest"), "{told}");
    }
    for (path, bytes) in
        [("matches/m00001.json", 64_u64 << 20), ("scorecard.md", 64 << 20), ("frozen.json", 64 << 20)]
    {
        let at = place(&all, path);
        let told = changed(&|it| it["files"][at]["bytes"] = json!(bytes + 1));
        assert!(told.contains(path) && told.contains(&bytes.to_string()), "{told}");
    }
    for class in ["blocked", "stalled", "exhausted"] {
        let told = changed(&|it| it["terminal"] = json!(class));
        assert!(told.contains(class) && told.contains("only a success"), "{told}");
    }
    let packs = changed(&|it| {
        let files = it["files"].as_array_mut().expect("files");
        files.retain(|file| file["path"].as_str().is_some_and(|path| !path.starts_with("packs/")));
        let more = (0..257_u32).map(|n| {
            let path = pack_name(Digest::of(&n.to_be_bytes()));
            json!({ "path": path, "sha256": digest("x"), "bytes": 1 })
        });
        files.extend(more);
        files.sort_by_key(|file| file["path"].as_str().expect("a path").to_owned());
    });
    assert!(packs.contains("more than 256 packs"), "{packs}");
}
