//! A whole run as one download: nobody has it before its time, and a stranger can compute it anew.

use std::collections::BTreeMap;
use std::path::Path;

use arena_server::Workshop as _;
use arena_tournament::{Difference, Verification, verify};
use axum::body::Body;
use axum::http::Response;
use serde_json::json;

use crate::support::{ADMIN, Bench, limitless, request};
use crate::tournaments::{frozen, plan, played, post, ready, status};
use crate::workshop::{Mood, Script, component, until, upload};

/// Everybody who may ask: a stranger, another agent, the owner, the admin.
async fn everybody(bench: &Bench, owner: &str) -> Vec<Option<String>> {
    let wasps = bench.agent("wasps", "nest", &["read", "submit"]).await;
    vec![None, Some(wasps), Some(owner.to_owned()), Some(ADMIN.to_owned())]
}

fn path(id: &str) -> String {
    format!("/api/v1/tournaments/{id}/run")
}

async fn ask(bench: &Bench, id: &str, headers: &[(&str, &str)], key: Option<&str>) -> Response<Body> {
    let mut asked = request("GET", &path(id), key);
    for (name, value) in headers {
        asked = asked.header(*name, *value);
    }
    bench.head(asked.body(Body::empty()).unwrap()).await
}

async fn bytes_of(response: Response<Body>) -> Vec<u8> {
    axum::body::to_bytes(response.into_body(), 1 << 30).await.unwrap().to_vec()
}

/// The files of a tar, read by what its format says.
fn files(tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut at) = (BTreeMap::new(), 0);
    while tar[at] != 0 {
        let text = |from: usize, length: usize| {
            let field = &tar[at + from..at + from + length];
            let end = field.iter().position(|byte| *byte == 0).unwrap_or(length);
            std::str::from_utf8(&field[..end]).unwrap().to_owned()
        };
        let length = usize::from_str_radix(&text(124, 12), 8).unwrap();
        let body = at + 512;
        assert!(files.insert(text(0, 100), tar[body..body + length].to_vec()).is_none());
        at = body + length.next_multiple_of(512);
    }
    assert!(tar[at..].len() == 1_024 && tar[at..].iter().all(|byte| *byte == 0));
    files
}

fn unpack(tar: &[u8], root: &Path) {
    for (name, bytes) in files(tar) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn verified(root: &Path) -> Result<Verification, Difference> {
    verify(root, &Script::new().pins()).unwrap()
}

#[tokio::test]
async fn nobody_has_a_run_before_it_has_succeeded() {
    let (bench, script, bees) = ready(limitless()).await;
    let everybody = everybody(&bench, &bees).await;
    let refused = async |id: &str, wanted: &str| {
        for key in &everybody {
            let said = bench.get(&path(id), key.as_deref()).await.expect(409);
            assert_eq!(said.code(), wanted, "{key:?}");
            for hidden in ["p0000", "salt", "\"secret\""] {
                assert!(!said.text.contains(hidden), "{}", said.text);
            }
        }
    };
    bench.post("/api/v1/tournaments", Some(&bees), &plan()).await.expect(201);
    for (key, wanted) in everybody.iter().zip([404, 404, 409, 409]) {
        bench.get(&path("t1"), key.as_deref()).await.expect(wanted);
    }
    for id in ["t9", "x", "t01", "t1.tar"] {
        bench.get(&path(id), Some(ADMIN)).await.expect(404);
    }
    post(&bench, "/api/v1/tournaments/t1/freeze", Some(&bees)).await.expect(200);
    refused("t1", "not_over").await;
    script.set(Mood::Hangs);
    post(&bench, "/api/v1/tournaments/t1/start", Some(&bees)).await.expect(200);
    until("it is played", async || status(&bench, "t1").await["is_played_now"] == true).await;
    refused("t1", "not_over").await;
    script.set(Mood::Fails);
    until("it has stalled", async || status(&bench, "t1").await["status"] == "stalled").await;
    refused("t1", "no_scorecard").await;
    script.set(Mood::Plays);
    let mut short = plan();
    short["budget"] = json!({ "matchups": 5 });
    let cut = frozen(&bench, &bees, &short).await;
    assert_eq!(played(&bench, &bees, &cut).await["status"], "exhausted");
    refused(&cut, "no_scorecard").await;
    let blocked = frozen(&bench, &bees, &plan()).await;
    let sha256 = arena_canon::Digest::of(&component("matrix defect")).to_string();
    let blob = bench.folder().join("blobs").join(&sha256[..2]).join(&sha256);
    let kept = std::fs::read(&blob).unwrap();
    std::fs::remove_file(&blob).unwrap();
    assert_eq!(played(&bench, &bees, &blocked).await["status"], "blocked");
    refused(&blocked, "no_scorecard").await;
    // The one that stalled is started again, and is open once it has succeeded.
    std::fs::write(&blob, kept).unwrap();
    assert_eq!(played(&bench, &bees, "t1").await["terminal"]["run_is_kept"], true);
    bench.get(&path("t1"), None).await.expect(200);
    bench.restart();
    refused(&cut, "no_scorecard").await;
    bench.get(&path("t1"), None).await.expect(200);
}

#[tokio::test]
async fn a_stranger_computes_a_run_anew_and_a_change_is_named() {
    let (bench, _, bees) = ready(limitless()).await;
    // More words than fit into one piece of what is kept.
    upload(&bench, &bees, "Louder", "matrix talk 700000").await.expect(202);
    let mut plan = plan();
    plan["strategies"] = json!(["s1", "s2", "s4"]);
    let id = frozen(&bench, &bees, &plan).await;
    let over = played(&bench, &bees, &id).await;
    assert_eq!(over["status"], "success", "{over}");
    until("the rest is cleared up", async || {
        !bench.folder().join(format!("tournaments/{id}/guest")).exists()
    })
    .await;
    let mut bodies = Vec::new();
    for key in everybody(&bench, &bees).await {
        let response = ask(&bench, &id, &[], key.as_deref()).await;
        assert_eq!(response.status(), 200);
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "application/x-tar");
        assert_eq!(header("content-disposition"), format!("attachment; filename=\"{id}.tar\""));
        let length: usize = header("content-length").parse().unwrap();
        let body = bytes_of(response).await;
        assert_eq!(body.len(), length);
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "it is the same for everybody");
    let found = files(&bodies[0]);
    assert!(found.keys().all(|name| !name.starts_with("components/")), "{:?}", found.keys());
    assert!(found.keys().filter(|name| name.starts_with("guest/")).count() >= 6);
    let component = component("matrix talk 700000");
    assert!(!bodies[0].windows(component.len()).any(|window| window == component));
    let folder = tempfile::tempdir().unwrap();
    unpack(&bodies[0], folder.path());
    let verification = verified(folder.path()).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(verification.records(), 12);
    let absent: Vec<&str> = verification.absent().iter().map(|pin| pin.name.as_str()).collect();
    assert_eq!(absent, ["Nice", "Mean", "Louder"]);
    assert!(verification.choose(None, 1).is_empty());
    drop(verification);
    for (name, bytes) in &found {
        let path = folder.path().join(name);
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        std::fs::write(&path, changed).unwrap();
        assert!(verified(folder.path()).is_err(), "{name} was changed");
        std::fs::remove_file(&path).unwrap();
        assert!(
            verify(folder.path(), &Script::new().pins()).map_or(true, |it| it.is_err()),
            "{name} is missing"
        );
        std::fs::write(&path, bytes).unwrap();
    }
    let record = "matches/m00007.json";
    let text = String::from_utf8(found[record].clone()).unwrap();
    std::fs::write(folder.path().join(record), text.replacen("\"turns\":5", "\"turns\":6", 1)).unwrap();
    let why = verified(folder.path()).err().unwrap();
    assert!(why.contains(record), "{why}");
    // What is in the download is what is served one by one.
    for (part, name) in [
        ("frozen", "frozen.json"),
        ("commitments", "identities.commit.json"),
        ("identities", "identities.json"),
        ("scorecard", "scorecard.json"),
        ("receipt", "receipt.json"),
    ] {
        let said = bench.get(&format!("/api/v1/tournaments/{id}/{part}"), None).await.expect(200);
        assert_eq!(said.text.as_bytes(), found[name], "{name}");
    }
    bench.restart();
    assert!(bytes_of(ask(&bench, &id, &[], None).await).await == bodies[0], "after a restart");
}

#[tokio::test]
async fn packs_come_with_a_campus_run() {
    let (bench, _, bees) = ready(limitless()).await;
    for name in ["Idle", "Sloth"] {
        upload(&bench, &bees, name, &format!("campus {name}")).await.expect(202);
    }
    let plan = json!({
        "slug": "campus", "title": "Two idlers", "game": "campus", "strategies": ["s4", "s5"],
        "matrix": { "packs": ["two-spikes", "sunny-sunday"] },
    });
    let id = frozen(&bench, &bees, &plan).await;
    played(&bench, &bees, &id).await;
    let folder = tempfile::tempdir().unwrap();
    unpack(&bytes_of(ask(&bench, &id, &[], None).await).await, folder.path());
    assert_eq!(std::fs::read_dir(folder.path().join("packs")).unwrap().count(), 2);
    assert_eq!(verified(folder.path()).unwrap_or_else(|why| panic!("{why}")).records(), 2);
}

#[tokio::test]
async fn a_download_that_broke_off_goes_on() {
    let (bench, _, bees) = ready(limitless()).await;
    upload(&bench, &bees, "Loud", "matrix talk 90000").await.expect(202);
    let mut plan = plan();
    plan["strategies"] = json!(["s1", "s4"]);
    let id = frozen(&bench, &bees, &plan).await;
    played(&bench, &bees, &id).await;
    let whole = ask(&bench, &id, &[], None).await;
    assert_eq!(whole.headers()["accept-ranges"], "bytes");
    let tag = whole.headers()["etag"].to_str().unwrap().to_owned();
    let whole = bytes_of(whole).await;
    let last = whole.len() - 1;
    let cuts = [0, 1, 511, 512, 513, 1_000, 100_000, 300_000, last - 1_024, last - 1_023, last];
    for (n, from) in cuts.into_iter().enumerate() {
        for to in cuts.into_iter().skip(n) {
            let range = format!("bytes={from}-{to}");
            let part = ask(&bench, &id, &[("range", &range), ("if-range", &tag)], None).await;
            assert_eq!(part.status(), 206, "{range}");
            assert_eq!(part.headers()["content-range"], format!("bytes {from}-{to}/{}", whole.len()));
            assert!(bytes_of(part).await == whole[from..=to], "{range}");
        }
        let range = format!("bytes={from}-");
        assert!(
            bytes_of(ask(&bench, &id, &[("range", &range)], None).await).await == whole[from..],
            "{range}"
        );
    }
    for headers in
        [&[("range", "bytes=5-"), ("if-range", "\"other\"")][..], &[("range", "bytes=9999999999-")]]
    {
        let all = ask(&bench, &id, headers, None).await;
        assert_eq!(all.status(), 200);
        assert!(bytes_of(all).await == whole, "{headers:?}");
    }
}

#[tokio::test]
async fn a_record_that_was_changed_on_disk_is_not_sent_as_true() {
    let (bench, _, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    played(&bench, &bees, &id).await;
    let whole = bytes_of(ask(&bench, &id, &[], None).await).await;
    let record = bench.folder().join(format!("tournaments/{id}/matches/m00002.json"));
    let text = std::fs::read_to_string(&record).unwrap();
    for change in [Some(text.replacen("\"turns\":5", "\"turns\":6", 1)), Some(format!("{text} ")), None] {
        match change {
            Some(change) => std::fs::write(&record, change).unwrap(),
            None => std::fs::remove_file(&record).unwrap(),
        }
        let response = ask(&bench, &id, &[], None).await;
        assert_eq!(response.status(), 200, "it is found out on the way");
        assert!(axum::body::to_bytes(response.into_body(), 1 << 30).await.is_err());
    }
    // A part that does not touch it is what it was.
    let end = ask(&bench, &id, &[("range", &format!("bytes={}-", whole.len() - 5_000))], None).await;
    assert!(bytes_of(end).await == whole[whole.len() - 5_000..]);
}

/// Whoever has a piece of a run can upload the same bytes, and have its own artifact hidden.
#[tokio::test]
async fn a_piece_of_a_run_is_not_taken_away_as_an_artifact() {
    let (bench, _, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    played(&bench, &bees, &id).await;
    let whole = bytes_of(ask(&bench, &id, &[], None).await).await;
    let db = arena_store::rusqlite::Connection::open(bench.folder().join(arena_store::JOURNAL)).unwrap();
    let booked = |sha256: &[u8]| {
        let select = "SELECT media_type FROM blobs_meta WHERE sha256 = ?1";
        db.query_row(select, [sha256], |row| row.get::<_, String>(0)).unwrap()
    };
    let select = "SELECT count(*) FROM blobs_meta WHERE media_type = 'application/octet-stream'";
    let uploads = || db.query_row(select, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(uploads(), 0, "nothing of a run is booked as an upload");
    let pieces = files(&whole).into_values().map(|bytes| arena_canon::Digest::of(&bytes));
    let is_kept = |sha256: &arena_canon::Digest| {
        let name = sha256.to_string();
        bench.folder().join(arena_store::BLOBS).join(&name[..2]).join(name).exists()
    };
    let kept: Vec<_> = pieces.filter(is_kept).collect();
    assert!(!kept.is_empty());
    for sha256 in kept {
        assert_ne!(booked(sha256.as_bytes()), "application/octet-stream", "{sha256}");
    }
}

#[tokio::test]
async fn so_many_are_sent_at_once_and_a_place_is_free_again() {
    let (bench, _, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    played(&bench, &bees, &id).await;
    let mut open = Vec::new();
    for _ in 0..4 {
        let response = ask(&bench, &id, &[], None).await;
        assert_eq!(response.status(), 200);
        open.push(response);
    }
    let more = bench.get(&path(&id), Some(&bees)).await.expect(429);
    assert!(more.code() == "rate_limited" && !more.header("retry-after").is_empty());
    open.pop();
    until("a place is free", async || ask(&bench, &id, &[], None).await.status() == 200).await;
    // So is one whose client took everything.
    for response in open.drain(..) {
        bytes_of(response).await;
    }
    until("they are free", async || {
        let all = [(); 4].map(|()| ask(&bench, &id, &[], None));
        futures_util::future::join_all(all).await.iter().all(|response| response.status() == 200)
    })
    .await;
}

#[tokio::test]
async fn a_page_says_how_to_check_it_with_its_own_address() {
    let (bench, script, bees) = ready(limitless()).await;
    let id = frozen(&bench, &bees, &plan()).await;
    let see = async |host: &str| {
        let asked = request("GET", &format!("/tournaments/{id}"), None).header("host", host);
        bench.send(asked.body(Body::empty()).unwrap()).await.expect(200).text
    };
    script.set(Mood::Hangs);
    post(&bench, &format!("/api/v1/tournaments/{id}/start"), Some(&bees)).await.expect(200);
    until("it is played", async || status(&bench, &id).await["is_played_now"] == true).await;
    assert!(!see("arena.example").await.contains("Check it yourself"));
    script.set(Mood::Plays);
    until("it is over", async || status(&bench, &id).await["status"] == "success").await;
    for (host, shown) in [
        ("arena.example", "arena tournament fetch https://arena.example/tournaments/t1 --out t1"),
        ("127.0.0.1:8080", "arena tournament fetch http://127.0.0.1:8080/tournaments/t1 --out t1"),
        ("a;b", "arena tournament fetch https://this.server/tournaments/t1 --out t1"),
    ] {
        let page = see(host).await;
        for told in
            [shown, "arena verify t1", "Check it yourself", "/api/v1/tournaments/t1/run", "not handed out"]
        {
            assert!(page.contains(told), "{told} is missing\n{page}");
        }
        assert_eq!(crate::audit::audit(&page), Vec::<String>::new());
    }
}
