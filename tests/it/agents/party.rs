//! Parties of a hash chain as programs: a claim from its first draw to its settlement, and servers that ask for more than
//! is due.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arena_canon::{Digest, json as canon};
use arena_cli::Exit;
use arena_draw::beacon::Preimages;
use serde_json::{Value, json};

use super::hostile::{document, fake_with_bodies, http};
use super::settled::{free, list, public};
use super::{Arena, Process, program};
use crate::cli::{Folder, Ran};

const PARTIES: [&str; 2] = ["ops", "pat"];

const CONFIG: &str = r#"
[claims]
beacon = "hashchain"
name = "test-chain"

[claims.params.clocks]
accept_s = 90
window_s = 60
late_s = 1
reveal_s = 120
rest_s = 0
beacon_s = 20

[limits]
requests_per_minute = 1000000
burst = 1000000
anonymous_per_second = 1000000
"#;

/// A server on the chains of two parties, whose files are in its folder.
fn founded() -> Arena {
    let folder = Folder::new();
    let mut config = CONFIG.to_owned();
    for name in PARTIES {
        let made = folder.arena(&format!("key chain {{}}/{name}.chain --rounds 300"));
        let anchor = made.out.trim();
        config.push_str(&format!(
            "\n[[claims.parties]]\nagent = \"{name}\"\nanchor = \"{anchor}\"\nrounds = 300\nstake = \"6000\"\n"
        ));
    }
    Arena::serving(folder, &config, &[])
}

fn start(arena: &Arena, name: &str) -> Process {
    let chain = arena.folder.at(&format!("{name}.chain"));
    arena.start_with("party", name, &["--chain", chain.to_str().expect("a path")])
}

/// The rounds that a party's programs said they revealed.
fn revealed(arena: &Arena, name: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(arena.folder.at(&format!("{name}.out"))).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let lines = lines.filter(|line| line["did"] == "revealed");
    lines.map(|line| line["round"].as_str().and_then(|round| round.parse().ok()).expect("a round")).collect()
}

#[test]
fn a_claim_on_a_hash_chain_is_settled_by_programs_and_a_silent_party_pays_by_time_alone() {
    let arena = founded();
    let (sue, fay) = (arena.agent("sue"), arena.agent("fay"));
    for (name, key) in [("sue", &sue), ("fay", &fay)] {
        let body = json!({ "key": public(&arena, name), "capabilities": [] });
        arena.post("/claims/agents", key, &body).expect(201);
    }
    let team = [("ben", "runner"), ("cat", "runner"), ("dan", "runner"), ("eve", "challenger")];
    let mut programs = Vec::new();
    for (name, what) in team {
        arena.agent(name);
        programs.push((name, arena.start(what, name)));
    }
    for name in PARTIES {
        arena.agent(name);
        programs.push((name, start(&arena, name)));
    }
    let bound = || arena.get("/claims/agents", None)["items"].as_array().map_or(0, Vec::len);
    arena.until("the programs bind their keys", || bound() == 8);
    for name in ["sue", "fay", "ben", "cat", "dan", "eve", "ops", "pat"] {
        arena.post("/deposits", "admin", &json!({ "agent": name, "amount": "20000" })).expect(200);
    }
    // The first round is revealed by itself, and each of the others when a draw took it.
    arena.until("the first round is revealed", || {
        let parties = arena.get("/beacons", None)["parties"].clone();
        parties.as_array().is_some_and(|all| all.iter().all(|party| party["revealed"]["round"] == "1"))
    });
    let claim = list(&arena, &sue, &fay, "331.9415");
    let see = || arena.get(&format!("/claims/{claim}"), None);
    arena.until("it is run", || see()["status"] == "committed");
    // One is killed and goes on where it was.
    let (_, mut killed) = programs.pop().expect("pat's");
    killed.kill();
    programs.push(("pat", start(&arena, "pat")));
    arena.until("it is settled", || see()["status"] == "settled");
    assert_eq!(see()["outcome"], "not_reproduced", "{}", arena.said());
    for name in PARTIES {
        // Nobody was late, and the stakes came back.
        arena.until("the stakes are free", || {
            arena.get(&format!("/claims/agents/{name}"), Some("admin"))["locked"] == "0"
        });
        assert_eq!(free(&arena, name), 20_000, "{}", arena.said());
        let rounds = revealed(&arena, name);
        assert!(rounds.first() == Some(&1) && rounds.is_sorted() && rounds.len() >= 2, "{rounds:?}");
    }
    let draws = arena.get(&format!("/claims/{claim}/draws"), None);
    let transcripts = draws["transcripts"].as_array().expect("draws");
    assert!(transcripts.len() >= 2, "{draws}");
    for transcript in transcripts {
        arena_draw::verify(&canon::canonical(transcript)).expect("it holds");
    }
    keeps_a_round_back(&arena, &sue, &fay, &mut programs);
    for (name, process) in programs {
        assert_eq!(process.interrupt(), Some(0), "{name}");
    }
    for name in PARTIES {
        receipts_hold(&arena, name);
    }
    let secret = std::fs::read_to_string(arena.folder.at("pat.chain")).expect("a chain");
    let secret: Value = serde_json::from_str(&secret).expect("JSON");
    assert!(!arena.said().contains(secret["secret"].as_str().expect("a secret")), "a chain was told");
}

/// A party keeps a receipt of each round that it said it revealed, and the server is held to all of them at once.
fn receipts_hold(arena: &Arena, name: &str) {
    let work = arena.folder.at(&format!("{name}.ak.work"));
    let mut rounds = Vec::new();
    let mut line = format!("verify --server http://{} --json", arena.host);
    for entry in std::fs::read_dir(work.join("receipts")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let receipt: Value = serde_json::from_slice(&std::fs::read(&path).expect("a receipt")).expect("JSON");
        let event = &receipt["opening"]["event"];
        assert_eq!((&event["event"], &event["agent"]), (&json!("round_revealed"), &json!(name)), "{receipt}");
        rounds.push(event["round"].to_string().trim_matches('"').parse::<u64>().expect("a round"));
        line.push_str(&format!(" --receipt {}", path.to_str().expect("a path")));
    }
    rounds.sort_unstable();
    assert_eq!(rounds, revealed(arena, name), "{}", arena.said());
    let key: Value =
        serde_json::from_slice(&std::fs::read(work.join("log.json")).expect("a key")).expect("JSON");
    assert_eq!(key["public_key"], arena.get("/log/checkpoint", None)["public_key"]);
    let ran = arena.folder.arena(&line);
    assert_eq!(ran.exit, Exit::Success, "{}{}", ran.out, ran.err);
}

/// One party is away when a draw takes a round: it pays by time alone, and the draw waits for it.
fn keeps_a_round_back(arena: &Arena, sue: &str, fay: &str, programs: &mut Vec<(&str, Process)>) {
    let (name, mut away) = programs.pop().expect("pat's");
    away.kill();
    let claim = list(arena, sue, fay, "330.9415");
    let see = || arena.get(&format!("/claims/{claim}"), None);
    arena.until("the silence is told", || see()["draw"]["stalled"] == true);
    let own = |name: &str| arena.get(&format!("/claims/agents/{name}"), Some("admin"));
    assert_eq!((&own("pat")["free"], &own("pat")["locked"]), (&json!("14000"), &json!("0")));
    assert_eq!((&own("ops")["free"], &own("ops")["locked"]), (&json!("14000"), &json!("6000")));
    programs.push((name, start(arena, name)));
    arena.until("a runner is drawn after all", || see()["run"]["runner"].is_string());
}

/// What a server says of its beacon, and what was sent to it.
struct Fake {
    folder: Folder,
    url: String,
    told: Arc<Mutex<Value>>,
    sent: Arc<Mutex<Vec<Value>>>,
    /// The last of them, as a server would show it.
    last: Arc<Mutex<Value>>,
    /// What it answers to a round.
    done: Arc<Mutex<Value>>,
    /// How often it is to be asked for its beacon before it is away for four times.
    leaves_after: Arc<AtomicUsize>,
    other: Preimages,
}

impl Fake {
    fn new() -> Self {
        let folder = Folder::new();
        let key = folder.arena("key new {}/pat.sign").out.trim().to_owned();
        let anchor = folder.arena("key chain {}/pat.chain --rounds 100").out.trim().to_owned();
        folder.file("pat.ak", "ak_aaaaaaaaaa_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb_cccccc");
        let other = Preimages::new([7; 32], 100);
        let mut params = crate::cli::arena(["claim", "params", "show", "--json"]).json();
        params["party_slash"] = json!("6000");
        let party = |agent: &str, anchor: Value| json!({ "agent": agent, "anchor": anchor, "rounds": 100, "stake": "6000", "revealed": null });
        let told = Arc::new(Mutex::new(json!({
            "instance": "lab", "instance_id": Digest::of(b"lab"), "beacon": "hashchain", "asset": "units",
            "params_sha256": Digest::of(&canon::canonical(&params)), "params": params, "latest": null,
            "parties": [party("ops", json!(other.anchor())), party("pat", json!(anchor))], "drawn": "0", "wanted": "1",
        })));
        let sent: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (done, last) = (Arc::new(Mutex::new(json!({}))), Arc::new(Mutex::new(Value::Null)));
        let (tells, keeps, does, lasts) =
            (Arc::clone(&told), Arc::clone(&sent), Arc::clone(&done), Arc::clone(&last));
        let leaves_after = Arc::new(AtomicUsize::new(usize::MAX - 4));
        let (leaves, asked) = (Arc::clone(&leaves_after), AtomicUsize::new(0));
        let url = fake_with_bodies(move |request, body| match request {
            "GET /api/v1/beacons"
                if asked.fetch_add(1, Ordering::SeqCst).wrapping_sub(leaves.load(Ordering::SeqCst)) < 4 =>
            {
                http("503 Service Unavailable", "text/plain", b"")
            }
            "GET /api/v1/beacons" => document(&tells.lock().expect("told")),
            "GET /api/v1/me" => document(&json!({ "id": "pat", "operator": "op-pat" })),
            "POST /api/v1/beacons/preimages" => {
                let body: Value = serde_json::from_str(body).expect("JSON");
                *lasts.lock().expect("kept") = body.clone();
                keeps.lock().expect("kept").push(body);
                document(&does.lock().expect("told"))
            }
            _ => document(&json!({ "agent": "pat", "key": key, "free": "0", "locked": "0" })),
        });
        Self { folder, url, told, sent, last, done, leaves_after, other }
    }

    fn set(&self, place: &str, value: Value) {
        *self.told.lock().expect("told").pointer_mut(place).expect("a place") = value;
    }

    /// Shows what the party sent last as what it revealed.
    fn echo(&self) {
        let last = self.last.lock().expect("kept").clone();
        self.set("/parties/1/revealed", last);
    }

    /// What the other party revealed.
    fn other_in(&self, round: u64) -> Value {
        let preimage = self.other.reveal(round).map(Digest::from_bytes).expect("a round");
        json!({ "round": round.to_string(), "preimage": preimage })
    }

    fn look(&self) -> Ran {
        let url = &self.url;
        self.folder.arena(&format!(
            "party --server {url} --key {{}}/pat.ak --signing-key {{}}/pat.sign --chain {{}}/pat.chain --once --timeout 5"
        ))
    }

    fn sent(&self) -> Vec<String> {
        let sent = std::mem::take(&mut *self.sent.lock().expect("kept"));
        sent.iter().map(|body| body["round"].as_str().expect("a round").to_owned()).collect()
    }

    #[track_caller]
    fn refuses(&self, exit: Exit, why: &str) {
        let ran = self.look();
        assert_eq!(ran.exit, exit, "{why}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{why}: {}", ran.err);
        assert_eq!(self.sent(), [] as [String; 0], "{why}");
    }
}

#[test]
fn nothing_is_revealed_but_what_is_due() {
    let fake = Fake::new();
    let ran = fake.look();
    assert_eq!((ran.exit, fake.sent()), (Exit::Success, vec!["1".to_owned()]), "{}", ran.err);
    assert!(ran.out.contains("round 1: revealed"), "{}", ran.out);
    assert!(ran.err.contains("0 is free, and a stake of 6000 is held"), "{}", ran.err);
    // Beyond the round after the latest that anybody revealed, be it that draws took it.
    fake.set("/drawn", json!("1000000"));
    for wanted in ["3", "100", "1000000"] {
        fake.set("/wanted", json!(wanted));
        fake.refuses(Exit::Rejected, "is the latest that anybody revealed");
    }
    // Nobody is believed to have revealed what does not give its anchor.
    fake.set("/wanted", json!("50"));
    for wrong in [
        json!({ "round": "49", "preimage": Digest::of(b"x") }),
        json!({ "round": "49", "preimage": fake.other_in(48)["preimage"] }),
    ] {
        fake.set("/parties/0/revealed", wrong);
        fake.refuses(Exit::Rejected, "what it shows of `ops` in round 49 is not what its anchor says");
    }
    fake.set("/wanted", json!("101"));
    fake.set("/parties/0/revealed", fake.other_in(100));
    fake.refuses(Exit::Rejected, "the chain has 100");
    fake.set("/wanted", json!("1000001"));
    fake.refuses(Exit::Rejected, "it does not say which round is wanted");
    // After a while away, it goes on with what is wanted now.
    fake.set("/wanted", json!("7"));
    fake.set("/parties/0/revealed", fake.other_in(6));
    assert_eq!((fake.look().exit, fake.sent()), (Exit::Success, vec!["7".to_owned()]));
}

/// It shows the party's own words as the latest, and asks for one more, look for look.
#[test]
fn a_server_that_asks_for_one_round_after_the_other_does_not_get_the_chain() {
    let fake = Fake::new();
    let few = fake.told.lock().expect("told")["params"]["redraws_max"]
        .as_str()
        .map_or(5, |text| text.parse::<u64>().expect("a number"))
        + 1;
    for drawn in [0, 3] {
        fake.set("/drawn", json!(drawn.to_string()));
        let most = u64::max(drawn, 1) + few;
        let from: u64 =
            fake.told.lock().expect("told")["wanted"].as_str().and_then(|w| w.parse().ok()).expect("one");
        for wanted in from..=most {
            fake.set("/wanted", json!(wanted.to_string()));
            let ran = fake.look();
            assert_eq!((ran.exit, fake.sent()), (Exit::Success, vec![wanted.to_string()]), "{}", ran.err);
            fake.echo();
        }
        fake.set("/wanted", json!((most + 1).to_string()));
        fake.refuses(Exit::Rejected, &format!("{drawn} is the latest that it says a draw took"));
    }
}

/// It is away just when the program would check its chain: nothing is revealed before that is made good.
#[test]
fn a_chain_that_could_not_be_checked_at_the_start_is_checked_later() {
    for is_own in [true, false] {
        let fake = Fake::new();
        if !is_own {
            fake.folder.arena("key chain {}/other.chain --rounds 100");
            std::fs::rename(fake.folder.at("other.chain"), fake.folder.at("pat.chain")).expect("renamed");
        }
        fake.leaves_after.store(1, Ordering::SeqCst);
        let mut command = Command::new(program());
        command.args(["party", "--server", &fake.url, "--every", "1", "--timeout", "5"]);
        for (option, file) in [("--key", "pat.ak"), ("--signing-key", "pat.sign"), ("--chain", "pat.chain")] {
            command.arg(option).arg(fake.folder.at(file));
        }
        let told = fake.folder.at("pat.err");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(std::fs::File::create(&told).expect("a file"));
        let program = Process(command.spawn().expect("the binary starts"));
        let end = Instant::now() + Duration::from_secs(60);
        let told = || std::fs::read_to_string(&told).expect("what it said");
        let is_over =
            || if is_own { !fake.sent().is_empty() } else { told().contains("the chain's anchor is") };
        while !is_over() {
            assert!(Instant::now() < end, "{}", told());
            std::thread::sleep(Duration::from_millis(200));
        }
        // And it stays so, look after look.
        std::thread::sleep(Duration::from_secs(2));
        assert!(told().contains("the server is away: it answers 503"), "{}", told());
        assert!(is_own || fake.sent().is_empty(), "it revealed a chain that is not the party's");
        drop(program);
    }
}

/// A receipt that is none is told, and the round is revealed all the same.
#[test]
fn a_worthless_receipt_is_told_and_not_kept() {
    let fake = Fake::new();
    *fake.done.lock().expect("told") = json!({ "receipt": "/api/v1/log/receipts/7" });
    let ran = fake.look();
    assert_eq!((ran.exit, fake.sent()), (Exit::Success, vec!["1".to_owned()]), "{}", ran.err);
    assert!(ran.err.contains("the receipt of event 7: "), "{}", ran.err);
    let kept = std::fs::read_dir(fake.folder.at("pat.ak.work/receipts")).expect("a folder").count();
    assert_eq!(kept, 0);
    assert!(!fake.folder.at("pat.ak.work/log.json").exists());
}

#[test]
fn the_parties_are_those_of_the_first_start() {
    let fake = Fake::new();
    assert_eq!((fake.look().exit, fake.sent().len()), (Exit::Success, 1));
    let other = Preimages::new([8; 32], 100);
    let anchor = fake.told.lock().expect("told")["parties"][0]["anchor"].clone();
    fake.set("/parties/0/anchor", json!(other.anchor()));
    fake.refuses(Exit::Rejected, "the server's parties are others than at the first start");
    fake.set("/parties/0/anchor", anchor);
    assert_eq!((fake.look().exit, fake.sent().len()), (Exit::Success, 1));
    // The chain is the party's own, and the agent is one.
    let fake = Fake::new();
    fake.folder.arena("key chain {}/other.chain --rounds 100");
    std::fs::rename(fake.folder.at("other.chain"), fake.folder.at("pat.chain")).expect("renamed");
    fake.refuses(Exit::Usage, "the chain's anchor is");
    let fake = Fake::new();
    fake.set("/parties/1/rounds", json!(101));
    fake.refuses(Exit::Usage, "the chain has 100 rounds, and that of `pat` 101");
    let fake = Fake::new();
    fake.set("/parties/1/agent", json!("eve"));
    fake.refuses(Exit::Usage, "`pat` is no party of `lab`: these are `ops` and `eve`");
    let fake = Fake::new();
    fake.told.lock().expect("told").as_object_mut().expect("an object").remove("parties");
    fake.refuses(Exit::Rejected, "its beacon has no parties");
}

/// Whoever has nothing to reveal is told why, and nothing is bound, and no folder is made, for a mistake.
#[test]
fn who_is_no_party_hears_it_before_anything_is_bound() {
    let fake = Fake::new();
    let whole = fake.told.lock().expect("told").clone();
    let with = |changes: &[(&str, Value)]| {
        let mut told = whole.clone();
        // Nobody but a party is told which round is wanted.
        told.as_object_mut().expect("an object").remove("wanted");
        for (place, value) in changes {
            *told.pointer_mut(place).expect("a place") = value.clone();
        }
        document(&told)
    };
    let third = json!({ "agent": "\u{1b}[2J".repeat(100), "anchor": null });
    let parties = json!([whole["parties"][0], { "agent": "eve" }, third, { "agent": "z".repeat(300) }]);
    let escaped = format!("`ops`, `eve`, `{}… (", "\\u{1b}[2J".repeat(16));
    let unauthorized = http(
        "401 Unauthorized",
        "application/problem+json",
        br#"{"code":"unauthorized","detail":"a key has the form ak_<10>_<31>_<6>"}"#,
    );
    for (said, exit, why, hint) in [
        (
            with(&[("/parties/1/agent", json!("eve"))]),
            Exit::Usage,
            "`pat` is no party of `lab`: these are `ops` and `eve`",
            "--key",
        ),
        (with(&[("/parties", parties)]), Exit::Usage, escaped.as_str(), "--key"),
        (
            with(&[("/beacon", json!("test")), ("/parties", Value::Null)]),
            Exit::Usage,
            "draws of `lab` take their randomness from `test`, which has no parties",
            "`beacon = \"hashchain\"`",
        ),
        (
            with(&[("/beacon", json!("drand-quicknet"))]),
            Exit::Usage,
            "draws of `lab` take their randomness from `drand-quicknet`, which has no parties",
            "`beacon = \"hashchain\"`",
        ),
        (
            with(&[("/beacon", json!("\u{1b}".repeat(200)))]),
            Exit::Usage,
            r"take their randomness from `\u{1b}\u{1b}",
            "`beacon = \"hashchain\"`",
        ),
        (with(&[("/parties", Value::Null)]), Exit::Rejected, "its beacon has no parties", ""),
        (with(&[]), Exit::Rejected, "it does not say which round is wanted", ""),
        (unauthorized, Exit::Rejected, "a key has the form ak_", "is it the whole key"),
    ] {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&asked);
        let url = fake_with_bodies(move |request, _| {
            heard.lock().expect("heard").push(request.to_owned());
            match request {
                "GET /api/v1/beacons" => said.clone(),
                _ => document(&json!({ "id": "pat", "operator": "op-pat" })),
            }
        });
        let ran = fake.folder.arena(&format!(
            "party --server {url} --key {{}}/pat.ak --chain {{}}/pat.chain --once --timeout 5"
        ));
        assert_eq!(ran.exit, exit, "{why}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why) && ran.err.contains(hint), "{why}: {}", ran.err);
        assert!(!ran.err.contains('\u{1b}') && ran.err.len() < 1_500, "{}", ran.err);
        let asked = asked.lock().expect("heard");
        assert!(asked.iter().all(|request| request.starts_with("GET ")), "{why}: {asked:?}");
        assert!(!fake.folder.at("pat.ak.work").exists(), "{why}");
    }
}
