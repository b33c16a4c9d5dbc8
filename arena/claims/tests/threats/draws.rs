//! Attacks on who is drawn.

use std::collections::BTreeSet;

use arena_canon::{Digest, json};
use arena_claims::envelope::SecretKey;
use arena_claims::life::{Command, CommittedDraw, Event, Refusal, Seen, evolve};
use arena_claims::log::{Checkpoint, Logged, Receipt, check_transcript, leaf, origin};
use arena_claims::params::Params;
use arena_claims::simulate::stamped;
use arena_draw::beacon::{
    Beacon, BeaconError, DrandQuicknet, HashChain, HashChainError, MARGIN_SECONDS, Preimages, Schedule,
};
use arena_draw::{Request, merkle};
use serde_json::json;

use super::super::script::Script;
use super::{OPENED, RUNNING, at};

fn committed(script: &Script) -> CommittedDraw {
    script.last(|event| match event {
        Event::DrawCommitted(draw) => Some((**draw).clone()),
        _ => None,
    })
}

fn resolved(script: &Script) -> (json::Value, Vec<String>) {
    script.last(|event| match event {
        Event::DrawResolved { transcript, picks, .. } => Some((transcript.to_value(), picks.clone())),
        _ => None,
    })
}

/// There is one commitment for each draw, before its round, and it fixes all that the seed is made of.
#[test]
fn threat_01_grinding_the_draw() {
    let mut script = Script::after(&["given agents=sue,fay,a,b,c\n", OPENED]);
    let draw = committed(&script);
    script.plays(
        "\
commit_draw c1 operator 02:01 -> ! draw_committed
withdraw c1 fay 02:01 -> ! wrong_phase
draw c1 - 02:01:29 -> ! round_not_due
draw c1 - 02:02 proof=x -> ! draw_refused
draw c1 - 02:02 -> draw_resolved:1
draw c1 - 02:02 -> ! no_draw
commit_draw c1 operator 02:02 -> ! no_draw_due
",
    );
    let due = Schedule::QUICKNET.time_of(draw.round).expect("a round");
    assert!(draw.committed_at < due, "committed at {}, due at {due}", draw.committed_at);
    let (transcript, _) = resolved(&script);
    let claim = script.claim("c1");
    let entries: Vec<_> =
        draw.entries.entries().iter().map(|e| json!([e.agent, e.operator, e.tickets.to_string()])).collect();
    for (member, fixed) in [
        ("/entries", json!(entries)),
        ("/beacon/round", json!(draw.round.to_string())),
        ("/attempt", json!(draw.attempt)),
        ("/seats", json!(draw.seats)),
        ("/subject", json!(claim.job)),
        ("/params_hash", json!(claim.params.digest())),
        ("/instance", json!(script.world.instance.id())),
    ] {
        assert_eq!(transcript.pointer(member), Some(&fixed), "{member}");
    }
    script.check_laws("threat 1");
}

/// Whoever knows a round can no longer commit a draw to it, and a transcript that says otherwise is refused.
#[test]
fn threat_02_backdating_a_commitment() {
    let waiting = OPENED.replace(
        "3500 -> claim_funded job_opened draw_committed:runner:0",
        "3500 unseen -> claim_funded job_opened",
    );
    let mut script = Script::after(&["given agents=sue,fay,a,b,c\n", &waiting]);
    let now = at(121);
    let taken = Schedule::QUICKNET.round_for(now + MARGIN_SECONDS);
    for (known, open) in [(taken + 1_000, false), (taken, false), (taken - 1, true)] {
        let mut commit = stamped("operator", now, Command::CommitDraw { claim: "c1".into() });
        commit.seen = Some(Seen { round: known, proof: Vec::new() });
        match script.execute(&commit) {
            Ok(_) => assert!(open, "round {known} was known"),
            Err(refusal) => {
                assert!(!open && matches!(refusal, Refusal::DrawRefused { .. }), "{refusal}");
            }
        }
    }
    // Nor does the clock go back to before it.
    let early = stamped("operator", now - 60, Command::CommitDraw { claim: "c1".into() });
    assert_eq!(script.refused(&early), "time_goes_back");
    script.plays("draw c1 - 02:02 -> draw_resolved:1\n");
    let (transcript, _) = resolved(&script);
    arena_draw::verify(&json::canonical(&transcript)).expect("it is as it was");
    for (member, backdated) in
        [("last_round_seen", taken.to_string()), ("committed_at", "2027-01-15T10:02:00Z".to_owned())]
    {
        let mut forged = transcript.clone();
        assert_ne!(forged[member], json!(backdated));
        forged[member] = json!(backdated);
        let why = arena_draw::verify(&json::canonical(&forged)).expect_err(member).to_string();
        assert!(why.contains(member), "{why}");
    }
}

/// A history as a log: the hashed leaf of each event.
fn leaves_of(script: &Script, history: &[(u64, Event)]) -> Vec<Digest> {
    let mut world = script.beginning();
    let mut leaves = Vec::new();
    for (at, event) in history {
        let written = serde_json::to_value(event).expect("written");
        let logged = Logged { seq: world.seq + 1, at: *at, by: None, written: &written };
        leaves.push(leaf(Digest::of(b"genesis"), &world, event, &logged));
        evolve(&mut world, *at, event);
    }
    leaves
}

/// The transcript with its commitment in the log of these leaves, signed at a time.
fn carried(script: &Script, transcript: &json::Value, leaves: &[Digest], at: u64) -> arena_draw::Transcript {
    let seq: usize = transcript["committed_seq"].as_str().expect("a number").parse().expect("digits");
    let origin = origin(script.world.instance.id());
    let note = Checkpoint::sign(&origin, leaves.len() as u64, merkle::root(leaves), at, &log_key());
    let mut carried = transcript.clone();
    carried["log"] = json!({ "checkpoint": note, "inclusion": merkle::path(seq - 1, leaves) });
    arena_draw::verify(&json::canonical(&carried)).expect("the draw is what it was")
}

fn log_key() -> SecretKey {
    SecretKey::from_seed(&[9; 32])
}

/// An operator that wants another draw, once it knows the round, writes history anew: it cannot sign in time what it
/// makes up too late, and whoever has a receipt from before shows that what was there is gone.
#[test]
fn threat_02_writing_history_anew() {
    let mut script = Script::after(&["given agents=sue,fay,a,b,c\n", OPENED]);
    let key = Some(log_key().public());
    let committed_at = script.world.now;
    let before = script.history.clone();
    script.plays("draw c1 - 02:02 -> draw_resolved:1\n");
    let (transcript, _) = resolved(&script);
    let due = Schedule::QUICKNET.time_of(committed(&script).round).expect("a round");
    // As it should be: signed after the commitment and before the round.
    let leaves = leaves_of(&script, &before);
    let honest = carried(&script, &transcript, &leaves, committed_at);
    let logged = check_transcript(&honest, key).expect("it holds").expect("it carries a log");
    assert_eq!((logged.size, logged.signed_at), (leaves.len() as u64, Some(committed_at)));
    // Signed once the round is known, or before what it covers.
    for wrong in [due, due + 60, committed_at - 1] {
        let late = carried(&script, &transcript, &leaves, wrong);
        assert_eq!(check_transcript(&late, key).expect_err("too late").at, "/log/checkpoint", "{wrong}");
    }
    // Another eligible set, as if it had been committed then: the draw follows from it, the old log does not have it,
    // and a new one is another than the one that somebody has a receipt of.
    let mut forged = before.clone();
    let Some((_, Event::DrawCommitted(draw))) = forged.last_mut() else {
        panic!("the draw is committed last")
    };
    let fewer = draw.entries.entries().iter().skip(1).cloned().collect();
    draw.entries = arena_draw::Eligible::new(fewer).expect("entries");
    let mut request = honest.request.clone();
    request.entries = draw.entries.clone();
    let other = request.clone().resolve().expect("it draws");
    assert_eq!(check_transcript(&other, key).expect_err("not in the log").at, "/log/inclusion");
    let remade = leaves_of(&script, &forged);
    let mut bare = other.to_value();
    bare.as_object_mut().expect("an object").remove("log");
    let backdated = carried(&script, &bare, &remade, committed_at);
    assert!(check_transcript(&backdated, key).expect("it holds in itself").is_some());
    let held = Receipt::of(&honest).expect("a receipt").held().expect("it holds");
    let shown = Receipt::of(&backdated).expect("a receipt").held().expect("it holds");
    assert_eq!(held.size, shown.size);
    assert_ne!(held.root, shown.root, "two roots of one size: both are signed, so the operator is convicted");
    // An event that is left out moves all that come after it: the receipt leads nowhere.
    let mut without = before;
    let is_last = |event: &Event| matches!(event, Event::AgentRegistered { agent, .. } if agent == "c");
    without.retain(|(_, event)| !is_last(event));
    assert_eq!(without.len() + 1, leaves.len());
    let left_out = leaves_of(&script, &without);
    assert_ne!(left_out.get(logged.seq as usize - 1), Some(&leaves[logged.seq as usize - 1]));
}

/// The last to reveal has one valid value and nothing to choose; a round needs every party.
#[test]
fn threat_03_choosing_by_revealing_last() {
    let parties = [[1; 32], [2; 32]].map(|secret| Preimages::new(secret, 64));
    let anchors = parties.each_ref().map(Preimages::anchor);
    let chain = HashChain::new(anchors.to_vec(), None).expect("two parties");
    let proofs: Vec<[u8; 32]> = parties.iter().map(|party| party.reveal(9).expect("a round")).collect();
    let whole = [proofs[0], proofs[1]].concat();
    let luck = chain.verify(9, &whole).expect("both revealed");
    for byte in 32..64 {
        let mut chosen = whole.clone();
        chosen[byte] ^= 1;
        assert!(matches!(chain.verify(9, &chosen), Err(BeaconError::Proof { .. })), "byte {byte}");
    }
    let other = [proofs[0], parties[1].reveal(10).expect("a round")].concat();
    assert!(chain.verify(9, &other).is_err());
    assert!(chain.verify(9, &proofs[0]).is_err(), "without the other party there is no round");
    // What the operator alone knows is not the round's luck, and alone it is no beacon.
    assert_ne!(luck, proofs[0]);
    assert!(matches!(HashChain::new(vec![anchors[0]], None), Err(HashChainError::Parties { .. })));
    // Of a drand round there is one signature.
    let signature = hex(
        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    );
    assert!(DrandQuicknet.verify(1_000, &signature).is_ok());
    for at in [0, 1, 24, 47] {
        let mut chosen = signature.clone();
        chosen[at] ^= 1;
        assert!(DrandQuicknet.verify(1_000, &chosen).is_err(), "byte {at}");
    }
    assert!(DrandQuicknet.verify(1_001, &signature).is_err());
}

/// A party that is the runner's friend keeps the audit's round back: nobody audits, the run is taken for good. It costs
/// the two more than being found out, whoever paid for the claim, and a job later it can be done again only at the
/// same price.
#[test]
fn threat_03_keeping_a_round_back() {
    const STAKED: &str = "\
given params={\"party_slash\":6000}
given parties=op:6000,out:6000
given agents=op,out,sue,fay,a,b,c
contribute - op 00:10 1 -> round_revealed
contribute - out 00:10 1 -> round_revealed
list c1 sue 02:00 500 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened parties_held draw_committed:runner:0
contribute - op 02:02 2 -> round_revealed
contribute - out 02:02 2 -> round_revealed
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:03 -> run_accepted
inputs c1 @runner 02:03 -> inputs_checked
run c1 @runner 02:04 x=10.0 fuel=1 -> run_committed draw_committed:audit-coin:0
contribute - op 02:05 3 -> round_revealed
";
    let begun = || {
        let script = Script::after(&[STAKED]);
        let runner = script.claim("c1").runner().expect("drawn").to_owned();
        (script, runner)
    };
    // What each ring has in the end, of what it began with; who pays for the claim may be of it.
    let net = |script: &Script, ring: &[&str]| {
        let has: u64 = ring.iter().map(|agent| script.avail(agent)).sum();
        i128::from(has) - 20_000 * ring.len() as i128
    };
    let (mut silent, runner) = begun();
    silent.plays(&format!(
        "\
tick c1 - 26:04 -> beacon_stalled party_slashed window_closed
reveal c1 {runner} 26:05 -> run_revealed settled:reproduced parties_released
avail - out 26:05 -> 14000
avail - op 26:05 -> 20000
"
    ));
    silent.check_laws("threat 3, silent");
    let (mut caught, same) = begun();
    assert_eq!(runner, same);
    caught.plays(&format!(
        "\
contribute - out 02:05 3 -> round_revealed
draw c1 - 02:05 -> coin_tossed:audit
challenge c1 @auditor 02:06 x=11.0 fuel=7 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 {runner} 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed disputed
reference c1 operator 26:07 x=11.0 fuel=7 -> reference_published:runner_wrong valid_run_counted:false settled:runner_wrong:not_reproduced parties_released
"
    ));
    caught.check_laws("threat 3, caught");
    for ring in [&[runner.as_str(), "out"][..], &[runner.as_str(), "out", "fay", "sue"]] {
        let (kept_back, found_out) = (net(&silent, ring), net(&caught, ring));
        assert!(kept_back < found_out && kept_back < 0, "{ring:?}: {kept_back}, found out {found_out}");
    }
    // Whatever the figures of a set: an instance does not start under one where it would pay.
    let (params, mut cheap) = (Params::published_with_parties(), Params::published_with_parties());
    assert_eq!(params.violations(), []);
    cheap.party_slash = Some("5500".parse().expect("an amount"));
    assert_eq!(cheap.violations().iter().map(|missed| missed.id).collect::<Vec<_>>(), ["I17"]);
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("text"), 16).expect("digits"))
        .collect()
}

/// Who keeps a result back is found out by everybody: it follows from what was committed.
#[test]
fn threat_04_withholding_a_draw() {
    let mut script = Script::after(&["given agents=sue,fay,a,b,c\n", OPENED]);
    let draw = committed(&script);
    let claim = script.claim("c1").clone();
    let anybody = Request {
        instance: script.world.instance.id(),
        instance_name: Some(script.world.instance.name.clone()),
        purpose: draw.purpose.parse().expect("a purpose"),
        subject: claim.job,
        attempt: draw.attempt,
        seats: draw.seats,
        params_hash: claim.params.digest(),
        committed_seq: None,
        committed_at: Some(draw.committed_at),
        last_round_seen: Some(draw.last_round_seen),
        entries: draw.entries.clone(),
        salt: None,
        source: script.world.instance.source.clone(),
        round: draw.round,
        proof: Vec::new(),
        log: None,
    };
    let known = anybody.resolve().expect("the round has spoken").resolution;
    // The silence is told, the source is not switched, and the round stays the one that was committed.
    script.plays(
        "\
tick c1 - 02:11:29 -> nothing
tick c1 - 02:11:30 -> beacon_stalled
commit_draw c1 operator 02:12 -> ! draw_committed
",
    );
    let mut late = script;
    late.plays("draw c1 - 26:00 -> draw_resolved:1\n");
    let (_, picks) = resolved(&late);
    assert_eq!(picks, known.picks.iter().map(|pick| pick.agent.clone()).collect::<Vec<_>>());
    late.check_laws("threat 4");
    // A draw that never comes costs nobody anything.
    let mut never = Script::after(&["given agents=sue,fay,a,b,c\n", OPENED]);
    never.plays(
        "\
tick c1 - 170:01 -> claim_withdrawn:no_runner
avail - fay 170:01 -> 20000
avail - sue 170:01 -> 20000
",
    );
}

/// Tickets are stake that was at rest before the job: neither registering nor splitting after seeing it helps.
#[test]
fn threat_05_registering_after_seeing_a_job() {
    let mut script = Script::after(&[
        "given agents=sue,fay,a\n",
        "given agents=w@op-whole stake=12000\n",
        "given agents=x@op-split,y@op-split,z@op-split stake=4000\n",
        "given agents=rich stake=900000\n",
        "register - early 01:00 operator=op-early -> agent_registered\n",
        "deposit - early 01:01 4000 -> deposited\n",
        "register - late 01:02 operator=op-late -> agent_registered\n",
        "deposit - late 01:30 40000 -> deposited\n",
        "deposit - a 01:59 40000 -> deposited\n",
        OPENED,
    ]);
    // It names no capability, so it is not drawn, whatever it deposits; the others are.
    script.plays("given agents=seen stake=90000\ndecline c1 x 02:01 -> ! wrong_phase\n");
    let of = |draw: &CommittedDraw, operator: &str| -> u64 {
        draw.entries
            .entries()
            .iter()
            .filter(|entry| entry.operator == operator)
            .map(|entry| entry.tickets)
            .sum()
    };
    let draw = committed(&script);
    assert_eq!((of(&draw, "op-whole"), of(&draw, "op-split")), (3, 3), "splitting buys nothing");
    assert_eq!(of(&draw, "op-rich"), 16, "tickets are capped");
    assert_eq!(of(&draw, "op-a"), 5, "what came in within the hour before is not at rest");
    // Whoever is drawn and declines goes with all agents of its operator, and who came later is not there.
    let mut operators: BTreeSet<String> =
        draw.entries.entries().iter().map(|entry| entry.operator.clone()).collect();
    for attempt in 1..=4 {
        let minute = 2 * attempt;
        script.plays(&format!("draw c1 - 02:{minute:02} -> draw_resolved:1\n"));
        let runner = script.claim("c1").runner().expect("drawn").to_owned();
        let operator = script.world.agents[&runner].operator.clone();
        assert!(operators.remove(&operator), "{operator} is drawn once");
        script.run(&format!("decline c1 @runner 02:{:02} reason=busy", minute + 1));
        if operators.is_empty() {
            break;
        }
        let again: BTreeSet<String> =
            committed(&script).entries.entries().iter().map(|entry| entry.operator.clone()).collect();
        assert_eq!(again, operators);
        assert!(!again.contains("op-seen"));
    }
    script.check_laws("threat 5");
}

/// One role for an agent and for its whole operator. (What hidden agents of one hand could gain is in
/// `threat_06_rings_of_hidden_agents`.)
#[test]
fn threat_06_holding_two_roles() {
    let mut script = Script::after(&[
        "given params={\"fast_referee\":false}\n",
        "given agents=sue@op-s,sam@op-s,fay,a@op-x,b@op-x,c@op-x,d,e,f,g,h,i,j,k,l\n",
        OPENED,
    ]);
    let draw = committed(&script);
    assert!(
        draw.entries.entries().iter().all(|entry| entry.operator != "op-s" && entry.operator != "op-fay"),
        "{draw:?}"
    );
    script.plays(
        "\
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:03 -> run_accepted
inputs c1 @runner 02:03 -> inputs_checked
run c1 @runner 02:04 -> run_committed draw_committed:audit-coin:0
draw c1 - 02:05 -> coin_tossed:audit
challenge c1 @auditor 02:06 x=11.0 -> challenge_committed
challenge c1 @runner 02:06 -> ! holds_another_role
challenge c1 sue 02:06 -> ! funder_holds_no_role
challenge c1 sam 02:06 -> ! funder_holds_no_role
challenge c1 fay 02:06 -> ! funder_holds_no_role
fund c1 a 02:06 1 -> ! wrong_phase
",
    );
    let taken = operators_with_a_part(&script);
    let idle = script.world.agents.keys().filter(|agent| !script.claim("c1").parts.contains_key(*agent));
    let idle: Vec<(String, bool)> =
        idle.map(|agent| (agent.clone(), taken.contains(&operator_of(&script, agent)))).collect();
    for (agent, shares) in &idle {
        let got = script.run(&format!("challenge c1 {agent} 02:07"));
        assert_eq!(got.starts_with("! "), *shares, "{agent}: {got}");
        if !shares {
            break;
        }
    }
    // The panel is of operators that have no part yet.
    script.plays(
        "\
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed
",
    );
    for (volunteer, _) in idle.iter().filter(|(_, shares)| !shares).take(1) {
        script.run(&format!("reveal c1 {volunteer} 26:07"));
    }
    script.run("tick c1 - 32:05");
    let taken = operators_with_a_part(&script);
    let draw = committed(&script);
    assert_eq!(draw.purpose, "panel");
    let free = draw.entries.entries().iter().filter(|entry| !taken.contains(&entry.operator)).count();
    assert!(free == draw.entries.entries().len() && free >= 5, "{draw:?}");
    script.check_laws("threat 6");
}

fn operator_of(script: &Script, agent: &str) -> String {
    script.world.agents[agent].operator.clone()
}

fn operators_with_a_part(script: &Script) -> BTreeSet<String> {
    script.claim("c1").parts.keys().map(|agent| operator_of(script, agent)).collect()
}

/// Who declines does not know who comes next, is not drawn again, and pays in standing or in stake.
#[test]
fn threat_07_declining_until_a_friend_is_drawn() {
    let mut script = Script::after(&["given agents=sue,fay,a,b,c,d,e,f,g,h\n", OPENED]);
    let mut rounds = BTreeSet::new();
    let mut gone = BTreeSet::new();
    for attempt in 0..=5u32 {
        let draw = committed(&script);
        assert_eq!(draw.attempt, attempt);
        assert!(rounds.insert(draw.round), "each attempt has a round of its own");
        assert!(
            draw.entries.entries().iter().all(|entry| !gone.contains(&entry.agent)),
            "{gone:?} in {draw:?}"
        );
        let minute = 2 + 2 * attempt;
        script.plays(&format!("draw c1 - 02:{minute:02} -> draw_resolved:1\n"));
        let runner = script.claim("c1").runner().expect("drawn").to_owned();
        let next = if attempt < 5 {
            format!("draw_committed:runner:{}", attempt + 1)
        } else {
            "claim_withdrawn:no_runner".to_owned()
        };
        script.plays(&format!(
            "decline c1 {runner} 02:{:02} -> role_vacated:declined_unexplained {next}\nstanding - {runner} 02:{:02} -> 45\n",
            minute + 1,
            minute + 1
        ));
        gone.insert(runner);
    }
    script.check_laws("threat 7");
    // Accepting and quitting costs a quarter of the stake.
    let mut quit = Script::after(&["given agents=sue,fay,a,b,c\n", RUNNING]);
    let runner = quit.claim("c1").runner().expect("drawn").to_owned();
    quit.plays(&format!(
        "\
tick c1 - 02:33 -> role_vacated:no_show draw_committed:runner:1
avail - {runner} 02:33 -> 19000
standing - {runner} 02:33 -> 30
"
    ));
    quit.check_laws("threat 7, quitting");
}
