//! The two example experiments: what they measure is what their claims say, to the bit and on every host.

use arena_canon::Digest;
use arena_sandbox::experiment::{ExperimentEnding, InputRefusal, Inputs, Ran};
use arena_tests::{guest, repository};
use serde_json::Value;

use super::guest::{run, task};

fn claim(name: &str) -> Value {
    let path = repository().join("guest-examples").join(name).join("claim.json");
    serde_json::from_slice(&std::fs::read(path).expect("it is in the repository")).expect("it is JSON")
}

fn ran(name: &str, inputs: &[(&str, &[u8])]) -> Ran {
    let claim = claim(name);
    let arguments = claim["arguments"].as_object().expect("arguments").iter();
    let arguments: Vec<(&str, &str)> =
        arguments.map(|(name, text)| (name.as_str(), text.as_str().expect("a text"))).collect();
    run(&guest(name), &task(&arguments, inputs))
}

fn measured(ran: &Ran) -> Vec<(String, &'static str, String)> {
    let ExperimentEnding::Measured(metrics) = &ran.ending else { panic!("{}", ran.ending) };
    metrics.iter().map(|metric| (metric.name.clone(), metric.value.kind(), metric.value.text())).collect()
}

const PRICES: &str = "de_lu_da_2024-12-11_12.csv";

fn prices() -> Vec<u8> {
    let path = repository().join("guest-examples/price-statistics/inputs").join(PRICES);
    std::fs::read(path).expect("it is in the repository")
}

#[test]
fn the_statistics_are_those_of_the_claim() {
    let ran = ran("price-statistics", &[(PRICES, &prices())]);
    let found = measured(&ran);
    let claimed = claim("price-statistics");
    let claimed = claimed["metrics"].as_array().expect("metrics");
    assert_eq!(found.len(), claimed.len());
    for ((name, kind, value), claimed) in found.iter().zip(claimed) {
        assert_eq!(
            [name, *kind, value],
            ["name", "kind", "claim"].map(|key| claimed[key].as_str().expect("a text"))
        );
    }
    assert_eq!(ran.log[0].text, format!("48 prices of `{PRICES}`, the highest at 2024-12-12T17:00:00+01:00"));
    assert_eq!((ran.outputs[0].name.as_str(), ran.outputs.len()), ("sorted.txt", 1));
    assert_eq!(Digest::of(&ran.outputs[0].bytes), ran.outputs[0].sha256);
}

#[test]
fn the_points_are_those_of_the_seed() {
    let ran = ran("monte-carlo", &[]);
    let found = measured(&ran);
    let expected = [
        ("samples", "int", "1000000"),
        ("inside", "int", "785402"),
        ("pi", "decimal", "3.141608"),
        ("third", "f64", "3fd5595b6ae495e6"),
    ];
    assert_eq!(found, expected.map(|(name, kind, value)| (name.to_owned(), kind, value.to_owned())));
    assert!(ran.outputs.is_empty() && ran.memory_bytes < 1 << 20);
}

#[test]
fn other_bytes_are_no_input() {
    let mut changed = prices();
    changed[100] ^= 1;
    let pinned = (PRICES.to_owned(), Digest::of(&prices()), changed.clone());
    let refused = Inputs::pin([pinned]).expect_err("one bit is another");
    assert!(matches!(refused, InputRefusal::Mismatch { found, .. } if found == Digest::of(&changed)));
    // Without its input, it says so in words.
    let ran = ran("price-statistics", &[]);
    assert_eq!(ran.ending, ExperimentEnding::Declined(format!("there is no input `{PRICES}`")));
}
