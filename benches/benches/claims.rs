//! Criterion benches of claims. Machines are noisy: compare figures within one run.

use std::hint::black_box;
use std::time::Duration;

use arena_canon::Digest;
use arena_claims::compare::{Rules, compare};
use arena_claims::manifest::Manifest;
use arena_claims::params::Params;
use arena_claims::record::Results;
use arena_claims::settle::{Case, Challenger, Ending, Reviewer, Vote, settle};
use arena_claims::simulate::{Config, simulate};
use arena_draw::beacon::{Beacon, DrandQuicknet};
use arena_draw::{Draw, Eligible, Entry, Purpose, chain_hash};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// The most a manifest may have.
const METRICS: u64 = 256;
const ENTRIES: u64 = 100_000;
const CLAIMS: u64 = 1_000;

/// A claim of as many metrics as there may be, each with a tolerance of both kinds.
fn rules() -> Rules {
    let metric = |i: u64| {
        json!({
            "name": format!("metric.{i}"), "kind": "decimal", "scale": 4, "claim": format!("{}.2500", 1_000 + i),
            "claim_tol": { "abs": "0.5", "rel": "0.001", "dir": "two_sided" },
        })
    };
    let metrics: Vec<Value> = (0..METRICS).map(metric).collect();
    Manifest::rules_of(&json!({ "metrics": metrics, "determinism": "exact" })).expect("rules")
}

/// What a run found: of every eighth metric something else.
fn results(off: u64) -> Results {
    let metric = |i: u64| {
        let fraction = if i.is_multiple_of(8) { 2_500 + off } else { 2_500 };
        json!({ "name": format!("metric.{i}"), "kind": "decimal", "value": format!("{}.{fraction}", 1_000 + i) })
    };
    let metrics: Vec<Value> = (0..METRICS).map(metric).collect();
    let log = Digest::of(b"log");
    Results::read(&json!({ "metrics": metrics, "fuel": "1000", "log_sha256": log })).expect("results")
}

/// An overturned run with a full panel and as many finders as are paid.
fn case() -> Case {
    let challenger =
        |i: u64| Challenger { name: format!("finder-{i}"), record_ok: Some(true), revealed: true };
    let reviewer = |i: u64| {
        let vote = if i == 0 { Ending::RunnerRight } else { Ending::RunnerWrong };
        Reviewer { name: format!("reviewer-{i}"), vote: Vote::For(vote) }
    };
    Case {
        disagree: (0..3).map(challenger).collect(),
        reviewers: (0..5).map(reviewer).collect(),
        ..Case::bare(Ending::RunnerWrong, Params::published())
    }
}

fn settlement(c: &mut Criterion) {
    let (rules, runner, challenger, case) = (rules(), results(0), results(7), case());
    let comparison = compare(&rules, &runner, &challenger);
    assert!(!comparison.agrees && comparison.rows.len() as u64 >= 3 * METRICS);
    let mut group = c.benchmark_group("a claim of 256 metrics");
    group.throughput(Throughput::Elements(METRICS));
    group.bench_function("compare and settle", |b| {
        b.iter(|| {
            let comparison = compare(black_box(&rules), black_box(&runner), black_box(&challenger));
            (comparison, settle(black_box(&case)))
        })
    });
    group.finish();
}

fn simulation(c: &mut Criterion) {
    let mut group = c.benchmark_group("simulation");
    group.throughput(Throughput::Elements(CLAIMS)).sample_size(10);
    group.bench_function("1 000 claims", |b| {
        b.iter(|| simulate(&Config::mixed(1, black_box(CLAIMS))).expect("no refusal"))
    });
    group.finish();
}

fn entries() -> Vec<Entry> {
    (0..ENTRIES)
        .map(|i| Entry::new(format!("agent-{i:06}"), format!("op-{:05}", i / 3), i % 16 + 1))
        .collect()
}

fn draws(c: &mut Criterion) {
    let entries = entries();
    let draw = Draw {
        instance: Digest::of(b"bench"),
        purpose: Purpose::Panel2,
        subject: Digest::of(b"a job"),
        attempt: 0,
        params_hash: Digest::of(b"parameters"),
        entries: Eligible::new(entries.clone()).expect("in order"),
        seats: 7,
        beacon_chain_hash: chain_hash("test", b""),
        round: 1,
        randomness: vec![7; 32],
    };
    let mut group = c.benchmark_group("100 000 entries");
    group.sample_size(10);
    group.bench_function("draw 7", |b| b.iter(|| black_box(&draw).resolve()));
    group.bench_function("commit", |b| b.iter(|| Eligible::new(black_box(entries.clone()))));
    group.finish();
}

/// Round 1000 of quicknet.
const SIGNATURE: &str =
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39";

fn beacon(c: &mut Criterion) {
    let byte = |i: usize| u8::from_str_radix(&SIGNATURE[i..i + 2], 16).expect("hexadecimal");
    let signature: Vec<u8> = (0..SIGNATURE.len()).step_by(2).map(byte).collect();
    c.bench_function("verify a round of drand", |b| {
        b.iter(|| DrandQuicknet.verify(black_box(1_000), black_box(&signature)).expect("a round"))
    });
}

criterion_group! {
    name = claims;
    config = Criterion::default().sample_size(30).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = settlement, simulation, draws, beacon
}
criterion_main!(claims);
