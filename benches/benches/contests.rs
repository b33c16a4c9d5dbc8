//! Criterion benches of contests. Machines are noisy: compare figures within one run.

use std::hint::black_box;
use std::time::Duration;

use arena_contests::Moment;
use arena_contests::leak::{MARKERS, Scanner, TEXT_BYTES_MAX};
use arena_contests::sprint::rank::standings;
use arena_contests::sprint::record::{Stamp, Written};
use arena_contests::sprint::score;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

/// Of three windows each: 10 002 submissions.
const COMPANIES: i64 = 3_334;

/// Accepted, and of many different scores and moments.
fn submission(i: i64) -> Written {
    Written {
        state: "accepted".to_owned(),
        artifact_class: "external".to_owned(),
        delivery: Some(if i % 3 == 0 { 20 } else { 60 }),
        evidence: Some(i % 2 * 10 + 10),
        continuity: Some(i % 3 * 10),
        budget: Some(i % 3 * 10),
        operator_intervention: "none".to_owned(),
        submitted_at: Some(Stamp::from(Moment::from_unix_ms(i * 7 % 1_000))),
        ..Written::default()
    }
}

fn board(c: &mut Criterion) {
    let companies: Vec<[Written; 3]> = (0..COMPANIES).map(|i| [i, i + 1, i + 2].map(submission)).collect();
    let mut group = c.benchmark_group("board");
    group.throughput(Throughput::Elements(COMPANIES as u64 * 3));
    group.bench_function("check, score and rank 10 000 submissions", |b| {
        b.iter_batched(
            || companies.clone(),
            |companies| {
                let scored = companies.into_iter().enumerate().map(|(i, windows)| {
                    let records = windows.map(|window| window.check().expect("keeps the rules"));
                    (format!("company-{i}"), score::round(&records))
                });
                standings(scored.collect())
            },
            BatchSize::LargeInput,
        )
    });
}

/// `piece` over and over, up to the largest text that is scanned.
fn mebibyte(piece: &str) -> String {
    piece.repeat(TEXT_BYTES_MAX / piece.len())
}

fn leak(c: &mut Criterion) {
    let canaries = ["canary-of-the-house".to_owned()];
    let scanner = Scanner::new(&canaries, MARKERS).expect("a scanner");
    let mut group = c.benchmark_group("leak scan of 1 MiB");
    group.throughput(Throughput::Bytes(TEXT_BYTES_MAX as u64));
    for (name, piece) in [
        (
            "prose",
            "The router now serves 1,200 requests a second at 3 ms; see the town post and the locker. ",
        ),
        ("accents", "Régulateur: économies de 15 kWh à Vilnius, vérifié par un tiers. "),
        ("keywords", "token secret ak_ ghp_ :// sk-ant- authorization npm_ eyJ AKIA SG. dapi hvs. redis "),
        ("digits", "4539 1488 0343 6460 33309240065 LT12 1000 +370 a@b "),
    ] {
        let text = mebibyte(piece);
        group.bench_function(name, |b| b.iter(|| scanner.scan("text", black_box(&text))));
    }
}

criterion_group! {
    name = contests;
    config = Criterion::default().sample_size(30).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = board, leak
}
criterion_main!(contests);
