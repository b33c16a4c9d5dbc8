//! What the season of a demo is played with: ready components that are part of this program, so that neither the
//! repository nor a compiler for guests is needed.
//!
//! They are the examples of `guest-examples`, built by the compiler that this repository pins; a test holds them
//! against the digests that are recorded there.

use std::cell::RefCell;
use std::sync::Arc;

use arena_canon::Digest;
use arena_canon::json::{self, Value};
use arena_claims::manifest::Manifest;
use arena_server::Workshop;
use arena_server::demo::{Experiment, Lab, Props};
use serde_json::json;

use crate::commands::{agent, claim};
use crate::failure::Failure;
use crate::files::{self, Existing};
use crate::io::Io;
use crate::packs;

macro_rules! guest {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../guests/", $name, ".wasm")).as_slice())
    };
}

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../../../guest-examples/", $name))
    };
}

/// Strategies of the matrix game; one of them tosses a coin.
const STRATEGIES: [(&str, &[u8]); 6] = [
    guest!("cooperator"),
    guest!("defector"),
    guest!("grudger"),
    guest!("random"),
    guest!("tit-for-tat"),
    guest!("win-stay-lose-shift"),
];
const STATISTICS: (&str, &[u8]) = guest!("price-statistics");
const STATISTICS_CLAIM: &str = example!("price-statistics/claim.json");
const PRICES: &str = "de_lu_da_2024-12-11_12.csv";
const PRICES_CSV: &str = example!("price-statistics/inputs/de_lu_da_2024-12-11_12.csv");
const CHANCE: (&str, &[u8]) = guest!("monte-carlo");
const CHANCE_CLAIM: &str = example!("monte-carlo/claim.json");
/// What is claimed to be pi: further off than the claim's own tolerance, so that a challenge pays.
const WRONG_PI: &str = "3.151593";

fn claimed(text: &str) -> Result<Value, Failure> {
    json::read(text.as_bytes(), text.len()).map_err(|why| Failure::internal("read an example's claim", why))
}

fn experiments() -> Result<(Experiment, Experiment), Failure> {
    let settled = Experiment {
        component: STATISTICS.1.to_vec(),
        inputs: vec![(PRICES.to_owned(), PRICES_CSV.as_bytes().to_vec())],
        claim: claimed(STATISTICS_CLAIM)?,
    };
    let mut wrong = claimed(CHANCE_CLAIM)?;
    wrong["title"] = json!(format!("A million seeded points make pi {WRONG_PI}"));
    for metric in wrong["metrics"].as_array_mut().into_iter().flatten() {
        if metric["name"] == "pi" {
            metric["claim"] = json!(WRONG_PI);
        }
    }
    Ok((settled, Experiment { component: CHANCE.1.to_vec(), inputs: Vec::new(), claim: wrong }))
}

/// Everything that the season is played with.
pub(super) fn props<'a>(
    workshop: Option<Arc<dyn Workshop>>,
    lab: &'a dyn Lab,
    on_day: &'a dyn Fn(u32),
) -> Result<Props<'a>, Failure> {
    let (settled, open) = experiments()?;
    let strategies = STRATEGIES.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
    let (packs, strategies) = (packs::documents(), strategies.collect());
    Ok(Props { packs, strategies, workshop, settled, open, lab, on_day })
}

/// Runs claims as an agent does, each in a process of its own.
pub(super) struct Bench<'a, 'io>(pub(super) RefCell<&'a mut Io<'io>>);

impl Bench<'_, '_> {
    fn rerun(&self, of: &Experiment, manifest: &Manifest, job: Digest) -> Result<Value, Failure> {
        let doing = "lay out what a claim pins";
        let folder = tempfile::tempdir().map_err(|why| Failure::internal(doing, files::plain(&why)))?;
        files::make_folder(&folder.path().join("blobs"))?;
        let inputs = of.inputs.iter().map(|(_, bytes)| bytes);
        for bytes in std::iter::once(&of.component).chain(inputs) {
            files::write(&claim::blob(folder.path(), Digest::of(bytes)), bytes, Existing::KeepEqual)?;
        }
        let mut io = self.0.borrow_mut();
        agent::rerun::rerun_apart(folder.path(), manifest, job, &mut io)
    }
}

impl Lab for Bench<'_, '_> {
    fn engine(&self) -> Value {
        json!({ "wasmtime": arena_sandbox::WASMTIME_VERSION, "config_sha256": arena_sandbox::engine_digest() })
    }

    fn run(&self, of: &Experiment, manifest: &Manifest, job: Digest) -> Result<Value, String> {
        self.rerun(of, manifest, job).map_err(|failure| failure.message())
    }
}
