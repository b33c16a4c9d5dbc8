//! The laws again, with the example strategies in the sandbox.

use std::collections::BTreeSet;
use std::sync::Arc;

use arena_engine::campus::{EpisodeLog, Pack};
use arena_sandbox::{Host, HostOptions, Seats, Strategy, admit, seed};
use arena_tests::{guest, guests, guests_of, packs, repository};

use super::{laws, playthroughs};

fn host(seats: Seats) -> Host {
    Host::new(&HostOptions::new(seats)).expect("a host")
}

fn load(host: &Host, name: &str, bytes: &[u8]) -> Strategy {
    let admitted = admit(bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
    host.load(&admitted).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn play(strategy: &Strategy, pack: &Arc<Pack>, luck: &str) -> EpisodeLog {
    let seed = seed(luck).expect("a seed");
    arena_sandbox::play(strategy, pack, seed).expect("the host is sound").log
}

fn shipped() -> Vec<Arc<Pack>> {
    packs().iter().map(|(_, bytes)| Pack::parse(bytes).expect("a shipped pack is valid")).collect()
}

#[test]
fn every_law_holds_for_every_pack_and_guest() {
    let host = host(Seats::OnDemand);
    for (name, bytes) in guests_of("campus") {
        let strategy = load(&host, &name, &bytes);
        laws::check(&name, &|pack| play(&strategy, pack, "1"));
    }
}

#[test]
fn no_guest_forfeits() {
    let host = host(Seats::OnDemand);
    for (name, bytes) in guests_of("campus") {
        let strategy = load(&host, &name, &bytes);
        for pack in shipped() {
            let run = play(&strategy, &pack, "2").run.expect("a sandboxed run");
            assert_eq!(run.forfeit, None, "{name} on {pack}");
            assert_eq!(run.log_dropped_bytes, 0, "{name} on {pack}");
        }
    }
}

#[test]
fn where_a_seat_lives_changes_no_byte() {
    let (pooled, on_demand) = (host(Seats::Pooled(2)), host(Seats::OnDemand));
    for (name, bytes) in guests_of("campus") {
        let (one, other) = (load(&pooled, &name, &bytes), load(&on_demand, &name, &bytes));
        for pack in shipped() {
            let (log, again) = (play(&one, &pack, "3"), play(&other, &pack, "3"));
            assert!(log.to_bytes() == again.to_bytes(), "{name} on {pack}");
        }
    }
}

/// Only luck may differ, and only who draws from it does.
#[test]
fn another_seed_is_another_game_for_the_gambler_alone() {
    let host = host(Seats::OnDemand);
    let pack = Arc::clone(&shipped()[0]);
    for (name, bytes) in guests_of("campus") {
        let strategy = load(&host, &name, &bytes);
        let (one, other) = (play(&strategy, &pack, "4"), play(&strategy, &pack, "5"));
        assert_eq!(one.turns == other.turns, name != "gambler", "{name}");
    }
}

#[test]
fn every_guest_is_played() {
    let folders = std::fs::read_dir(repository().join("guest-examples")).expect("the guests are here");
    let paths = folders.map(|entry| entry.expect("a readable folder").path());
    let sources: BTreeSet<String> = paths
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let built: BTreeSet<String> = guests().into_iter().map(|(name, _)| name).collect();
    assert_eq!(built, sources, "build them with `cargo xtask guests`");
}

#[test]
fn the_playthroughs_of_guests_are_as_they_were() {
    let host = host(Seats::OnDemand);
    for (pack_name, name) in playthroughs::GUESTS {
        let (_, bytes) = packs().into_iter().find(|(pack, _)| pack == pack_name).expect("a shipped pack");
        let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
        let strategy = load(&host, name, &guest(name));
        playthroughs::check(pack_name, name, &pack, &play(&strategy, &pack, "1"));
    }
}

/// The bytes of every log, on any machine and from any build: the demo holds a release build to the
/// same file. A guest from another compiler is another guest, and its lines are kept as they are.
#[test]
fn every_log_is_the_recorded_one() {
    const GOLDEN: &str = "tests/golden/episodes.txt";
    let recorded = std::fs::read_to_string(repository().join(GOLDEN)).unwrap_or_default();
    let host = host(Seats::OnDemand);
    let mut text =
        String::from("# log, digest of the strategy, digest of the log; arena demo writes the same\n");
    for (name, bytes) in guests_of("campus") {
        let strategy = load(&host, &name, &bytes);
        for pack in shipped() {
            let log = format!("{name}-{}.json", pack.document().pack_id);
            let start = format!("{log} {} ", strategy.digest());
            let other = |line: &&str| line.starts_with(&format!("{log} ")) && !line.starts_with(&start);
            match recorded.lines().find(other) {
                Some(line) if !arena_tests::blessing() => text.push_str(line),
                _ => {
                    let digest = arena_canon::Digest::of(&play(&strategy, &pack, "0").to_bytes());
                    text.push_str(&format!("{start}{digest}"));
                }
            }
            text.push('\n');
        }
    }
    arena_tests::committed(GOLDEN, &text);
}
