//! What the machine does is nobody's fault, and what a guest does cannot wear the machine down.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arena_engine::campus::{Episode, play as play_episode};
use arena_engine::{Forfeit, FuelScope};
use arena_sandbox::{Host, HostOptions, OutOfTime, Seats, Strategy, play};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::guest::{component, host, hostile, load, pack, play_component, seed};
use super::hostile::ending;

/// Runs one ignored test of this file in a process of its own.
#[track_caller]
fn alone(test: &str) {
    let this = std::env::current_exe().expect("a test has a path");
    let name = format!("sandbox::machine::{test}");
    let output = Command::new(this).args([&name, "--exact", "--ignored", "--nocapture"]).output();
    let output = output.expect("a test can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{name}: {}\n{said}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn ten_thousand_seats_that_fail_leave_nothing_behind() {
    alone("ten_thousand_seats");
}

#[test]
#[ignore = "counts what its process holds, so it runs in one of its own"]
fn ten_thousand_seats() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(2))).expect("a host");
    let names = [
        "act-traps-on-turn-7",
        "start-traps",
        "brief-traps",
        "grows-until-refused",
        "logs-at-no-level",
        "act-recurses",
        "opens-2000-handles",
        "act-returns-nan",
    ];
    let guests: Vec<Strategy> = hostile()
        .into_iter()
        .filter(|(name, _)| names.contains(&name.as_str()))
        .map(|(_, text)| load(&host, &component(&text)))
        .collect();
    assert_eq!(guests.len(), names.len());
    let pack = pack();
    let play = |times: usize| {
        for strategy in guests.iter().cycle().take(times) {
            let mut seat = strategy.seat(seed(), 0).expect("no host fault");
            let mut episode = Episode::new(std::sync::Arc::clone(&pack));
            play_episode(&mut episode, &mut seat, &mut ()).expect("no host fault");
        }
    };
    play(500);
    let before = Held::by_this_process();
    play(10_000);
    let after = Held::by_this_process();
    assert_eq!((before.descriptors, before.threads), (after.descriptors, after.threads));
    let grown_kib = after.resident_kib.saturating_sub(before.resident_kib);
    assert!(grown_kib < 4 << 10, "{grown_kib} KiB more are resident");
}

/// What a process holds, as the kernel counts it.
struct Held {
    descriptors: usize,
    threads: String,
    resident_kib: u64,
}

impl Held {
    fn by_this_process() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").expect("a Linux process has a status");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the status has it");
            line.trim().trim_end_matches(" kB").to_owned()
        };
        Self {
            descriptors: std::fs::read_dir("/proc/self/fd").expect("a Linux process has descriptors").count(),
            threads: field("Threads:"),
            resident_kib: field("VmRSS:").parse().expect("a number"),
        }
    }
}

#[test]
fn growth_the_machine_cannot_give_is_a_host_fault() {
    alone("growth_without_memory");
}

#[test]
#[ignore = "limits the memory of its process, so it runs in one of its own"]
fn growth_without_memory() {
    for seats in [Seats::Pooled(1), Seats::OnDemand] {
        let host = Host::new(&HostOptions::new(seats)).expect("a host");
        let strategy = load(&host, &component(&text_of("grows-until-refused")));
        let held = status_kib("VmData:") << 10;
        let found = under(Resource::Data, held + (40 << 20), || play(&strategy, &pack(), seed()));
        let fault = found.expect_err("a machine's fault is not scored").to_string();
        assert!(fault.contains("growing a strategy's memory"), "{seats:?}: {fault}");
        let ending = ending(play(&strategy, &pack(), seed()).expect("no host fault").forfeit.as_ref());
        assert!(ending.starts_with("memory_capped"), "{seats:?}: {ending}");
    }
}

#[test]
fn a_seat_the_machine_cannot_give_is_a_host_fault() {
    alone("seat_without_memory");
}

#[test]
#[ignore = "limits the address space of its process, so it runs in one of its own"]
fn seat_without_memory() {
    let host = Host::new(&HostOptions::new(Seats::OnDemand)).expect("a host");
    let strategy = load(&host, &component("(module)"));
    let held = status_kib("VmSize:") << 10;
    let found = under(Resource::As, held + (64 << 20), || play(&strategy, &pack(), seed()));
    let fault = found.expect_err("a machine's fault is not scored").to_string();
    assert!(fault.contains("running a strategy"), "{fault}");
    assert!(play(&strategy, &pack(), seed()).is_ok_and(|played| played.forfeit.is_none()));
}

fn status_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the status has it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Does something under a limit of this process.
fn under<T>(resource: Resource, most: u64, what: impl FnOnce() -> T) -> T {
    let before = getrlimit(resource);
    setrlimit(resource, Rlimit { current: Some(most), maximum: before.maximum }).expect("a limit can sink");
    let result = what();
    setrlimit(resource, before).expect("a soft limit can rise again");
    result
}

fn text_of(name: &str) -> String {
    let mut guests = hostile().into_iter();
    guests.find(|(guest, _)| guest == name).unwrap_or_else(|| panic!("no guest `{name}`")).1
}

#[test]
fn a_pool_without_a_free_seat_is_a_host_fault() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(1))).expect("a host");
    let strategy = load(&host, &component("(module)"));
    let taken = strategy.seat(seed(), 0).expect("the only seat");
    let fault = strategy.seat(seed(), 0).err().expect("no second seat").to_string();
    assert!(fault.contains("running a strategy"), "{fault}");
    drop(taken);
    assert!(strategy.seat(seed(), 0).is_ok());
}

/// A guest with all the parts it may have takes no more than its own seat.
#[test]
fn a_guest_of_many_parts_does_not_empty_the_pool() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(3))).expect("a host");
    let strategy = load(&host, &super::admission::component_of_many_parts());
    let seats: Vec<_> = (0..3).map(|_| strategy.seat(seed(), 0)).collect();
    assert!(seats.iter().all(Result::is_ok), "{:?}", seats.into_iter().find_map(Result::err));
}

/// Hundreds of times what the budgets can take is not to be waited for: the stop is set lower here.
#[test]
fn the_safety_stop_ends_what_fuel_would_end_later() {
    let stopped = HostOptions {
        tick: Duration::from_millis(1),
        call_cpu_max: Duration::from_millis(5),
        ..HostOptions::new(Seats::OnDemand)
    };
    let guest = component(&text_of("brief-loops"));
    let forfeit = |host: &Host| play_component(host, &guest).forfeit.expect("it never ends");
    let early = forfeit(&Host::new(&stopped).expect("a host"));
    assert!(matches!(early.forfeit, Forfeit::Overtime { .. }), "{early:?}");
    assert!(early.build_dependent);
    let late = forfeit(host());
    let by_fuel = matches!(late.forfeit, Forfeit::FuelSpent { scope: FuelScope::Brief, .. });
    assert!(by_fuel && !late.build_dependent, "{late:?}");
}

/// Wall time is the host's: whatever runs then is no ending of the guest's.
#[test]
fn a_guest_that_nobody_waits_for_is_no_forfeit() {
    let late = HostOptions {
        tick: Duration::from_millis(1),
        wall_max: Some(Duration::ZERO),
        ..HostOptions::new(Seats::OnDemand)
    };
    let late = Host::new(&late).expect("a host");
    assert!(late.check_time().is_err() && host().check_time().is_ok());
    let strategy = load(&late, &component(&text_of("brief-loops")));
    let fault = play(&strategy, &pack(), seed()).expect_err("nobody waits");
    assert!(fault.source.is::<OutOfTime>(), "{fault}");
    assert_eq!(fault.source.to_string(), "it took more than 0 s on the clock");
}

/// The stop counts CPU time of the call's own thread: others may take all the machine has.
#[test]
fn a_loaded_machine_changes_nothing() {
    let quiet = bytes_of_all(host());
    let options = HostOptions {
        tick: Duration::from_millis(1),
        call_cpu_max: Duration::from_secs(60),
        ..HostOptions::new(Seats::Pooled(4))
    };
    let host = Host::new(&options).expect("a host");
    let done = AtomicBool::new(false);
    let loaded = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop()
                }
            });
        }
        let loaded = bytes_of_all(&host);
        done.store(true, Ordering::Relaxed);
        loaded
    });
    assert!(quiet == loaded);
}

#[test]
fn four_threads_play_as_one_does() {
    let one = bytes_of_all(host());
    let four: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| bytes_of_all(host()))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(four.iter().all(|bytes| *bytes == one));
}

/// Logs of guests that end in every way there is, without the slowest.
fn bytes_of_all(host: &Host) -> Vec<Vec<u8>> {
    let slow = [
        "chases-pointers",
        "brief-loops",
        "start-loops",
        "initializer-loops",
        "realloc-loops",
        "uses-its-budget-every-turn",
    ];
    let guests = hostile().into_iter().filter(|(name, _)| !slow.contains(&name.as_str()));
    guests.map(|(_, text)| play_component(host, &component(&text)).log.to_bytes()).collect()
}
