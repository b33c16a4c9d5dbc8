//! Claims on a hash chain: founded on the parties of the configuration, drawn by what each reveals, and a party that
//! keeps its part back pays by time alone.

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::commitment::Sealed;
use arena_draw::beacon::Preimages;
use arena_server::{ChainParty, Claims, ClaimsBeacon, Config};
use serde_json::json;

use crate::audit::audit;
use crate::claims_stage::{HOUR, START, Stage, amount, config, secret};
use crate::support::Bench;

const PARTIES: [&str; 2] = ["ops", "pat"];
const ROUNDS: u64 = 200;

fn chain(name: &str) -> Preimages {
    Preimages::new(*Digest::of(format!("chain of {name}").as_bytes()).as_bytes(), ROUNDS)
}

fn party(name: &str) -> ChainParty {
    let stake = "6000".parse().unwrap();
    ChainParty { agent: name.to_owned(), anchor: chain(name).anchor(), rounds: ROUNDS, stake }
}

/// A server's configuration with these parties.
fn on_chain(parties: &[&str]) -> Config {
    let parties = parties.iter().map(|name| party(name)).collect();
    let claims =
        Claims { beacon: ClaimsBeacon::HashChain, name: "lab".to_owned(), parties, ..Claims::default() };
    Config { claims, ..config() }
}

fn part(name: &str, round: u64) -> Value {
    let preimage = chain(name).reveal(round).map(Digest::from_bytes).unwrap();
    json!({ "round": round.to_string(), "preimage": preimage })
}

/// A stage on a hash chain, whose parties have bound their keys, paid their stakes in and revealed the first round.
async fn stage() -> Stage {
    let mut stage = Stage::with(on_chain(&PARTIES)).await;
    for name in PARTIES {
        let key = stage.bench.agent(name, &format!("op-{name}"), &["submit", "read"]).await;
        stage.keys.insert(name.to_owned(), key);
        let bound = json!({ "key": secret(name).public(), "capabilities": [] });
        stage.post(name, "/claims/agents", bound).await.expect(201);
        stage.post("admin", "/deposits", json!({ "agent": name, "amount": "20000" })).await.expect(200);
    }
    stage
}

async fn reveal(stage: &Stage, round: u64) {
    for name in PARTIES {
        stage.post(name, "/beacons/preimages", part(name, round)).await.expect(200);
    }
}

/// The round that parties are asked for.
async fn wanted(stage: &Stage) -> u64 {
    stage.see(Some("pat"), "/beacons").await["wanted"].as_str().unwrap().parse().unwrap()
}

/// A claim that waits for the draw of its runner.
async fn listed(stage: &mut Stage) {
    let body = json!({ "manifest": stage.manifest().await, "deposit": "500" });
    stage.post("sue", "/claims", body).await.expect(201);
    stage.post("fay", "/claims/c1/fund", json!({ "amount": "3500" })).await.expect(200);
    stage.wait(1).await;
}

/// The same to the commitment of its run, and the coin of its audit; gives the runner.
async fn run(stage: &mut Stage) -> String {
    listed(stage).await;
    reveal(stage, 2).await;
    stage.wait(1).await;
    let runner = stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
    stage.bare(&runner, "/assignments/c1-runner/accept").await.expect(200);
    stage.post(&runner, "/runs", json!({ "claim": "c1", "inputs": [] })).await.expect(200);
    stage.commit(&runner, Sealed::Run, "10.0").await.expect(200);
    assert_eq!(wanted(stage).await, 3);
    reveal(stage, 3).await;
    stage.wait(1).await;
    runner
}

#[tokio::test]
async fn a_claim_on_a_hash_chain_lives_from_its_first_draw_to_its_settlement() {
    let mut stage = stage().await;
    let about = stage.see(None, "/beacons").await;
    assert_eq!((&about["instance"], &about["beacon"]), (&json!("lab"), &json!("hashchain")));
    assert_eq!(about["parties"][1]["agent"], "pat");
    assert_eq!(about["parties"][1]["anchor"], json!(chain("pat").anchor()));
    assert_eq!(about["parties"][1]["rounds"], ROUNDS);
    assert_eq!(about["parties"][1]["stake"], "6000");
    assert_eq!(about["params"]["party_slash"], "6000");
    assert!(about["parties"][0]["revealed"].is_null() && about.get("wanted").is_none());
    assert_eq!(wanted(&stage).await, 1);
    let page = stage.bench.get("/claims", None).await.expect(200).text;
    assert!(page.contains("No draw has taken a round yet.") && !page.contains("come to round"), "{page}");
    // No draw is committed before everybody has shown the first round.
    listed(&mut stage).await;
    stage.post("ops", "/beacons/preimages", part("ops", 1)).await.expect(200);
    stage.wait(1).await;
    assert!(stage.see(None, "/claims/c1").await["draw"].is_null());
    stage.post("pat", "/beacons/preimages", part("pat", 1)).await.expect(200);
    stage.wait(1).await;
    let draw = stage.see(None, "/claims/c1").await["draw"].clone();
    assert_eq!((&draw["round"], &draw["last_round_seen"]), (&json!("2"), &json!("1")));
    // It is due when a round of its kind is, not when drand's second was.
    assert!(draw["due"].as_str().unwrap() > draw["committed_at"].as_str().unwrap(), "{draw}");
    assert_eq!(amount(&stage.see(Some("pat"), "/claims/agents/pat").await["free"]), 14_000);
    // What a party is held to can be read whole, and compared.
    let page = stage.bench.get("/claims", None).await.expect(200).text;
    let anchor = format!("<code class=\"whole\">{}</code>", chain("pat").anchor());
    assert!(
        page.contains(&anchor) && page.contains("<data class=\"money\" value=\"6000\">6\u{202f}000"),
        "{page}"
    );
    assert_eq!(audit(&page), Vec::<String>::new());
    // One part is no round.
    stage.post("pat", "/beacons/preimages", part("pat", 2)).await.expect(200);
    stage.wait(1).await;
    assert_eq!(stage.status().await, "drawing");
    stage.bench.restart_with(on_chain(&PARTIES)).unwrap();
    stage.post("ops", "/beacons/preimages", part("ops", 2)).await.expect(200);
    stage.wait(1).await;
    assert_eq!(stage.status().await, "offered");
    let runner = stage.see(None, "/claims/c1").await["run"]["runner"].as_str().unwrap().to_owned();
    assert!(!PARTIES.contains(&runner.as_str()));
    stage.bare(&runner, "/assignments/c1-runner/accept").await.expect(200);
    stage.post(&runner, "/runs", json!({ "claim": "c1", "inputs": [] })).await.expect(200);
    stage.commit(&runner, Sealed::Run, "10.0").await.expect(200);
    reveal(&stage, 3).await;
    stage.wait(1).await;
    stage.wait(30 * HOUR).await;
    stage.reveal(&runner, Sealed::Run, "10.0").await.expect(200);
    stage.wait(7 * HOUR).await;
    let seen = stage.see(None, "/claims/c1").await;
    assert_eq!((&seen["status"], &seen["outcome"]), (&json!("settled"), &json!("reproduced")), "{seen}");
    // Stakes came back, nothing was made, and every draw verifies.
    for name in PARTIES {
        assert_eq!(amount(&stage.see(Some(name), &format!("/claims/agents/{name}")).await["free"]), 20_000);
    }
    let draws = stage.see(None, "/claims/c1/draws").await;
    let transcripts = draws["transcripts"].as_array().unwrap();
    assert!(transcripts.len() >= 2, "{draws}");
    for transcript in transcripts {
        assert_eq!(transcript["beacon"]["kind"], "hashchain");
        arena_draw::verify(&json::canonical(transcript)).unwrap();
    }
    // The page shows what the API does.
    let page = stage.bench.get("/claims", None).await.expect(200).text;
    assert_eq!(audit(&page), Vec::<String>::new());
    assert!(page.contains("hashchain") && page.contains(">pat<"), "{page}");
    assert!(page.contains("Draws have come to round ") && !page.contains("No draw has taken"), "{page}");
}

#[tokio::test]
async fn only_a_party_reveals_and_only_its_own_part_of_a_round_that_is_wanted() {
    let mut stage = stage().await;
    let reveal_by = async |stage: &Stage, name: &str, body: Value, status: u16| {
        stage.post(name, "/beacons/preimages", body).await.expect(status).code()
    };
    assert_eq!(reveal_by(&stage, "amy", part("pat", 1), 403).await, "no_party");
    stage.bench.post("/api/v1/beacons/preimages", None, &part("pat", 1)).await.expect(401);
    // Another's part, another round's part, a round that no draw took.
    assert_eq!(reveal_by(&stage, "pat", part("ops", 1), 422).await, "draw_refused");
    let mut wrong = part("pat", 2);
    wrong["round"] = json!("1");
    assert_eq!(reveal_by(&stage, "pat", wrong, 422).await, "draw_refused");
    assert_eq!(reveal_by(&stage, "pat", part("pat", 2), 409).await, "round_not_wanted");
    let seen = stage.see(Some("admin"), "/beacons").await;
    assert!(seen["parties"].as_array().unwrap().iter().all(|party| party["revealed"].is_null()), "{seen}");
    reveal(&stage, 1).await;
    assert_eq!(reveal_by(&stage, "pat", part("pat", 1), 409).await, "already_revealed");
    // Nobody shows a round of a chain in one piece, and nobody who is a party is drawn.
    let whole = json!({ "round": "1", "signature": "ab".repeat(64) });
    assert_eq!(stage.post("amy", "/beacons", whole).await.expect(422).code(), "draw_refused");
    listed(&mut stage).await;
    let draw = stage.see(None, "/claims/c1").await["draw"].clone();
    let pool = draw["pool"].as_array().unwrap();
    assert!(pool.iter().all(|entry| !PARTIES.contains(&entry["agent"].as_str().unwrap())) && pool.len() >= 8);
}

#[tokio::test]
async fn a_party_that_keeps_a_round_back_pays_by_time_alone() {
    let mut stage = stage().await;
    reveal(&stage, 1).await;
    listed(&mut stage).await;
    stage.post("ops", "/beacons/preimages", part("ops", 2)).await.expect(200);
    let total = stage.total().await;
    stage.wait(25 * 60).await;
    let own = stage.see(Some("pat"), "/claims/agents/pat").await;
    assert_eq!((amount(&own["free"]), amount(&own["locked"])), (14_000, 0), "{own}");
    let other = stage.see(Some("ops"), "/claims/agents/ops").await;
    assert_eq!(amount(&other["free"]), 14_000);
    let feed = stage.feed().await;
    assert!(feed.contains("claim.party_slashed") && feed.contains("claim.beacon_stalled"), "{feed}");
    assert!(feed.contains(r#""agent":"pat""#) && !feed.contains("round_revealed"), "{feed}");
    // Funders have something for the delay, the rest went to the treasury.
    assert_eq!(stage.total().await, total - 6_000 + 500);
    stage.bench.restart_with(on_chain(&PARTIES)).unwrap();
    assert_eq!(amount(&stage.see(Some("pat"), "/claims/agents/pat").await["free"]), 14_000);
    // The draw kept its round: late is better than never.
    stage.post("pat", "/beacons/preimages", part("pat", 2)).await.expect(200);
    stage.wait(1).await;
    assert_eq!(stage.status().await, "offered");
}

/// What a party has free and what is locked of it.
async fn stake(stage: &Stage, name: &str) -> (i64, i64) {
    let own = stage.see(Some(name), &format!("/claims/agents/{name}")).await;
    (amount(&own["free"]), amount(&own["locked"]))
}

/// Nobody reveals anything to a server that is down: the time to do it counts from when it was up again.
#[tokio::test]
async fn a_server_that_was_down_costs_no_party_its_stake() {
    let mut stage = stage().await;
    reveal(&stage, 1).await;
    listed(&mut stage).await;
    assert_eq!(stage.see(None, "/beacons").await["resumed"], json!({ "times": "0", "at": null }));
    let total = stage.total().await;
    stage.down(11 * 60, on_chain(&PARTIES));
    let up = stage.now.to_string().replace('Z', ".000Z");
    assert_eq!(stage.see(None, "/beacons").await["resumed"], json!({ "times": "1", "at": up }));
    // What is revealed before it looks for what is due is taken, and nobody pays when it looks.
    stage.post("pat", "/beacons/preimages", part("pat", 2)).await.expect(200);
    for wait in [0, 1, 628] {
        stage.wait(wait).await;
        for name in PARTIES {
            assert_eq!(stake(&stage, name).await, (14_000, 6_000), "{name}");
        }
    }
    // Who is silent from then on pays as ever, and once.
    stage.wait(1).await;
    assert_eq!((stake(&stage, "ops").await, stake(&stage, "pat").await), ((14_000, 0), (14_000, 6_000)));
    assert_eq!(stage.total().await, total - 6_000 + 500);
    stage.down(1, on_chain(&PARTIES));
    stage.wait(HOUR).await;
    assert_eq!((stake(&stage, "ops").await, stake(&stage, "pat").await), ((14_000, 0), (14_000, 6_000)));
    // Everybody sees how often it was so.
    let feed = stage.feed().await;
    assert_eq!(feed.matches("claim.resumed").count(), 2, "{feed}");
    assert!(feed.contains(r#""times":"1""#) && feed.contains(r#""times":"2""#), "{feed}");
    assert_eq!(feed.matches("claim.party_slashed").count(), 1, "{feed}");
}

/// A silent party pays before its claim ends of it, however long the server was down.
#[tokio::test]
async fn a_claim_does_not_end_of_a_silence_before_the_silent_pay() {
    let mut stage = stage().await;
    reveal(&stage, 1).await;
    listed(&mut stage).await;
    stage.down(8 * 24 * HOUR, on_chain(&PARTIES));
    stage.wait(1).await;
    assert_eq!(stage.status().await, "drawing");
    stage.wait(2 * HOUR).await;
    assert_eq!(stage.status().await, "withdrawn");
    for name in PARTIES {
        assert_eq!(stake(&stage, name).await, (14_000, 0), "{name}");
    }
}

/// That an auditor is drawn again is hidden: of the round that it takes, nobody but parties and the operator hears.
#[tokio::test]
async fn a_round_of_a_draw_in_secret_is_told_to_parties_alone() {
    let mut stage = stage().await;
    reveal(&stage, 1).await;
    run(&mut stage).await;
    let auditor = stage.see(Some("admin"), "/claims/c1").await["audit"]["auditor"].clone();
    assert!(auditor.is_string(), "a first run is audited");
    // It says nothing, and somebody else is drawn.
    stage.wait(HOUR).await;
    assert_eq!(wanted(&stage).await, 4);
    let shown = |told: &Value, place: usize| told["parties"][place]["revealed"]["round"].clone();
    let strangers = [None, Some("amy"), Some("sue")];
    for named in strangers {
        let told = stage.see(named, "/beacons").await;
        assert!(told.get("wanted").is_none(), "{named:?}");
        assert_eq!((&told["drawn"], shown(&told, 0)), (&json!("3"), json!("3")));
    }
    reveal(&stage, 4).await;
    stage.wait(1).await;
    let other = stage.see(Some("admin"), "/claims/c1").await["audit"]["auditor"].clone();
    assert!(other.is_string() && other != auditor, "{other}");
    for named in [Some("pat"), Some("admin")] {
        let told = stage.see(named, "/beacons").await;
        assert_eq!((&told["wanted"], shown(&told, 0)), (&json!("4"), json!("4")), "{named:?}");
    }
    for named in strangers {
        let told = stage.see(named, "/beacons").await;
        assert_eq!((&told["drawn"], shown(&told, 1)), (&json!("3"), json!("3")), "{named:?}");
        // What it shows of the third round is what the fourth comes to.
        assert_eq!(told["parties"][1]["revealed"]["preimage"], part("pat", 3)["preimage"]);
    }
    let (feed, page) = (stage.feed().await, stage.bench.get("/claims", None).await.expect(200).text);
    assert!(!feed.contains(r#""round":"4""#) && !page.contains("<td>4</td>"), "{feed}");
}

#[tokio::test]
async fn what_a_hash_chain_was_founded_on_is_for_good_from_the_first_start() {
    let bench = Bench::with(START, on_chain(&PARTIES));
    // It is written down before anybody asked for anything, once.
    for _ in 0..2 {
        let server = bench.take();
        assert_eq!(server.app().look(|instance| instance.seq).unwrap(), 1);
        drop(server);
        bench.restart_with(on_chain(&PARTIES)).unwrap();
    }
    type Change = (Config, &'static str);
    let changes: [Change; 4] = [
        (on_chain(&["ops", "eve"]), "party 2 was `pat`"),
        (on_chain(&["pat", "ops"]), "party 1 was `ops`"),
        (on_chain(&["ops", "pat", "eve"]), "party 3 was nobody"),
        (Config::default(), "the beacon was hashchain and is drand-quicknet in the configuration"),
    ];
    for (other, part) in changes {
        let said = bench.restart_with(other).unwrap_err().to_string();
        assert!(said.contains("founded otherwise, and for good") && said.contains(part), "{said}");
        assert!(said.ends_with("state them again as they were founded, or use another folder"), "{said}");
    }
    bench.restart_with(on_chain(&PARTIES)).unwrap();
    let told = bench.get("/api/v1/beacons", None).await.expect(200).json();
    assert_eq!(told["parties"][1]["agent"], "pat");
    // Nor can one that began otherwise become a chain.
    let stage = Stage::new().await;
    let said = stage.bench.restart_with(on_chain(&PARTIES)).unwrap_err().to_string();
    assert!(said.contains("the beacon was test and is hashchain"), "{said}");
}
