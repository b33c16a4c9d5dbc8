//! How fast it is: `cargo test -p arena-store --release -- --ignored --nocapture speed`.

use std::thread;
use std::time::Instant;

use arena_store::{Options, Store, Wanted, verify};

use super::tally::{Tally, add, did, open, open_with, sums, tables};

#[test]
#[ignore = "a measurement"]
fn speed_of_durable_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    const SUBMITTERS: usize = 64;
    const EACH: usize = 500;
    let started = Instant::now();
    let mut slowest: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..SUBMITTERS)
            .map(|submitter| {
                let store = store.clone();
                scope.spawn(move || {
                    let name = format!("name-{submitter}");
                    let times = (0..EACH).map(|_| {
                        let started = Instant::now();
                        did(&store, add(&name, 1));
                        started.elapsed()
                    });
                    times.collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|it| it.join().expect("done")).collect()
    });
    let (done, took) = (SUBMITTERS * EACH, started.elapsed());
    slowest.sort_unstable();
    let per_second = done as u128 * 1_000 / took.as_millis().max(1);
    println!(
        "{done} durable commands of {SUBMITTERS} submitters in {took:?}: {per_second} a second, median {:?}, 99% {:?}",
        slowest[done / 2],
        slowest[done * 99 / 100]
    );
    let started = Instant::now();
    for _ in 0..200 {
        did(&store, add("alone", 1));
    }
    println!("one submitter: {:?} each", started.elapsed() / 200);
}

#[test]
#[ignore = "a measurement"]
fn speed_of_a_restart_with_a_million_events() {
    const EVENTS: u64 = 1_000_000;
    let folder = tempfile::tempdir().expect("a folder");
    let options = || Options { queue_max: 10_000, batch_max: 5_000, ..Options::default() };
    let store = open_with(folder.path(), options()).expect("it opens");
    let started = Instant::now();
    let mut waiting = std::collections::VecDeque::new();
    for n in 0..EVENTS {
        waiting.push_back(store.submit(add(&format!("name-{}", n % 20_000), 1)));
        if waiting.len() == 8_000 {
            waiting.pop_front().expect("one").wait().expect("it succeeds");
        }
    }
    for pending in waiting {
        pending.wait().expect("it succeeds");
    }
    println!("{EVENTS} events appended in {:?}", started.elapsed());
    let expected = sums(&store);
    drop(store);
    let timed = |what: &str, discriminator| {
        let started = Instant::now();
        let domain = Tally { discriminator, ..Tally::default() };
        let store = Store::open(folder.path(), domain, tables(), options()).expect("it opens");
        println!("{what}: {:?}", started.elapsed());
        assert_eq!(sums(&store), expected);
    };
    timed("restart with a snapshot", "tally-1");
    timed("restart without one: every event checked and folded", "tally-2");
    let store = open(folder.path());
    let started = Instant::now();
    store.rebuild("sums").expect("built");
    println!("projection built anew: {:?}", started.elapsed());
    drop(store);
    let started = Instant::now();
    assert!(verify(folder.path(), &Wanted::default()).expect("looked at").is_sound());
    println!("verified: {:?}", started.elapsed());
}
