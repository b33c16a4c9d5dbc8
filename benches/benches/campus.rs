//! Criterion benches of the campus game. Machines are noisy: compare figures within one run.

use std::sync::Arc;
use std::time::Duration;

use arena_benches as bodies;
use arena_sandbox::{Floor, Host, HostOptions, Seats, Strategy, admit};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn host(seats: Seats) -> Host {
    Host::new(&HostOptions::new(seats)).expect("a host")
}

fn strategy(host: &Host, component: &[u8]) -> Strategy {
    host.load(&admit(component).expect("admitted")).expect("compiled")
}

fn native(c: &mut Criterion) {
    let mut group = c.benchmark_group("native turn");
    for (name, _) in bodies::PACKS {
        let pack = bodies::pack(name);
        let actions = bodies::actions(&pack);
        let log = bodies::parsed_log(&actions);
        group.throughput(Throughput::Elements(pack.turns().into()));
        group.bench_function(format!("play {name}"), |b| b.iter(|| bodies::native_episode(&pack, &actions)));
        group.bench_function(format!("replay {name}"), |b| b.iter(|| bodies::replay_episode(&pack, &log)));
    }
}

fn sandboxed_turn(c: &mut Criterion) {
    let host = host(Seats::Pooled(16));
    let empty = strategy(&host, &bodies::empty_component());
    let pack = bodies::long_pack(10_000);
    let mut group = c.benchmark_group("sandboxed turn");
    group.throughput(Throughput::Elements(1));
    let mut floor = Floor::new(&empty, &pack).expect("seated");
    group.bench_function("empty call", |b| b.iter(|| floor.call()));
    group.throughput(Throughput::Elements(pack.turns().into()));
    group.bench_function("full turn", |b| {
        b.iter_batched_ref(
            || bodies::Turns::setup(&empty, &pack).expect("seated"),
            |turns| turns.run().expect("played"),
            BatchSize::PerIteration,
        )
    });
}

fn seats(c: &mut Criterion) {
    let mut group = c.benchmark_group("seat");
    for (name, seats) in [("pooled", Seats::Pooled(16)), ("on demand", Seats::OnDemand)] {
        let host = host(seats);
        let logging = strategy(&host, &bodies::logging_component());
        group.bench_function(name, |b| b.iter(|| bodies::seat(&logging)));
    }
}

fn episodes(c: &mut Criterion) {
    let host = host(Seats::Pooled(16));
    let logging = strategy(&host, &bodies::logging_component());
    let mut group = c.benchmark_group("sandboxed episode");
    for pack in [bodies::pack("two-spikes"), bodies::long_pack(288)] {
        let name = format!("{} turns", pack.turns());
        group.bench_function(name, |b| b.iter(|| bodies::sandboxed_episode(&logging, &pack)));
    }
}

fn loading(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let cached = HostOptions { cache: Some(folder.path().to_owned()), ..HostOptions::new(Seats::OnDemand) };
    let component = bodies::logging_component();
    let admitted = admit(&component).expect("admitted");
    Host::new(&cached).expect("a host").load(&admitted).expect("compiled");
    let mut group = c.benchmark_group("load");
    group.throughput(Throughput::Bytes(component.len() as u64));
    group.bench_function("admit", |b| b.iter(|| admit(&component)));
    let fresh = |options: &HostOptions| Arc::new(Host::new(options).expect("a host"));
    group.bench_function("compile", |b| {
        b.iter_batched(
            || fresh(&HostOptions::new(Seats::OnDemand)),
            |host| host.load(&admitted).map(|strategy| (strategy, Arc::clone(&host))).ok(),
            BatchSize::PerIteration,
        )
    });
    group.bench_function("from the disk cache", |b| {
        b.iter_batched(
            || fresh(&cached),
            |host| host.load(&admitted).map(|strategy| (strategy, Arc::clone(&host))).ok(),
            BatchSize::PerIteration,
        )
    });
}

criterion_group! {
    name = campus;
    config = Criterion::default().sample_size(30).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = native, sandboxed_turn, seats, episodes, loading
}
criterion_main!(campus);
