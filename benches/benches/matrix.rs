//! Criterion benches of the matrix game. Machines are noisy: compare figures within one run.

use std::time::Duration;

use arena_benches::{matrix as bodies, tit_for_tat_component};
use arena_sandbox::{Host, HostOptions, MatrixFloor, Seats, Strategy, admit};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn strategy() -> Strategy {
    let host = Host::new(&HostOptions::new(Seats::Pooled(16))).expect("a host");
    host.load(&admit(&tit_for_tat_component()).expect("admitted")).expect("compiled")
}

fn rounds(c: &mut Criterion) {
    let (strategy, rules) = (strategy(), bodies::rules(100_000));
    let mut group = c.benchmark_group("matrix round");
    group.throughput(Throughput::Elements(1));
    let mut floor = MatrixFloor::new(&strategy, &rules).expect("seated");
    group.bench_function("one guest call", |b| b.iter(|| floor.call()));
    group.throughput(Throughput::Elements(rules.rounds().into()));
    group.bench_function("native", |b| b.iter(|| bodies::native_game(&rules)));
    group.bench_function("sandboxed, both seats", |b| {
        b.iter_batched_ref(
            || bodies::Rounds::setup(&strategy, &rules).expect("seated"),
            |rounds| rounds.run().expect("played"),
            BatchSize::PerIteration,
        )
    });
}

fn games(c: &mut Criterion) {
    let (strategy, rules) = (strategy(), bodies::rules(200));
    let mut group = c.benchmark_group("matrix game");
    group.bench_function("200 rounds", |b| b.iter(|| bodies::sandboxed_game(&strategy, &rules)));
}

criterion_group! {
    name = matrix;
    config = Criterion::default().sample_size(30).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = rounds, games
}
criterion_main!(matrix);
