//! Every schema against its reader: documents are changed thousands of times, and what one of the two accepts, so does
//! the other, but for what no schema can say.

use std::collections::BTreeSet;

use arena_canon::json::Value;
use arena_canon::{Digest, json};
use arena_claims::commitment::{Commitment, Opened, Reveal, Sealed, commitment};
use arena_claims::compare::{compare, conclude};
use arena_claims::life::{Ballot, Claim};
use arena_claims::luck::SplitMix;
use arena_claims::manifest::Manifest;
use arena_claims::params::Params;
use arena_claims::record::{Record, Results, Role};
use arena_claims::schema;
use arena_claims::settle::Case;
use arena_draw::{TRANSCRIPT_SCHEMA, Transcript};
use serde_json::json;

use super::script::Script;

/// What a reader says of a document.
type Read<'a> = &'a dyn Fn(&Value) -> Result<(), Vec<String>>;

fn validator(text: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(text).expect("JSON");
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "not a schema of draft 2020-12");
    jsonschema::validator_for(&schema).expect("a valid schema")
}

#[track_caller]
fn in_schema(document: &Value, validator: &jsonschema::Validator) {
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new(), "{document}");
}

/// Holds reader and schema against each other over mutations of `good`. `beyond` are the words of what only the reader
/// can say; each must have been the only reason once.
#[track_caller]
fn agree(schema: &str, good: &[Value], more: &[(&str, Value)], beyond: &[&str], read: Read<'_>) {
    let validator = validator(schema);
    let mut luck = SplitMix::new(11);
    let mut reasons = BTreeSet::new();
    let mut opinion = |document: &Value| match read(document) {
        Ok(()) => {
            in_schema(document, &validator);
            true
        }
        Err(findings) => {
            if validator.is_valid(document) {
                for finding in findings {
                    let known = beyond.iter().find(|words| finding.contains(**words));
                    let known =
                        known.unwrap_or_else(|| panic!("the schema accepts, but {finding}: {document}"));
                    reasons.insert(*known);
                }
            }
            false
        }
    };
    for document in good {
        assert!(opinion(document), "{document}: {:?}", read(document));
    }
    let mut accepted = 0;
    for round in 0..3_000 {
        let mut document = good[round % good.len()].clone();
        for _ in 0..=luck.below(2) {
            mutate(&mut document, &mut luck);
        }
        accepted += usize::from(opinion(&document));
    }
    assert!((100..2_900).contains(&accepted), "{accepted} of 3000 are valid: the mutations prove little");
    for (pointer, value) in more {
        let mut document = good[0].clone();
        let place = document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there"));
        *place = value.clone();
        assert!(!opinion(&document), "{pointer}: {value} is read");
    }
    let unused: Vec<_> = beyond.iter().filter(|reason| !reasons.contains(**reason)).collect();
    assert!(unused.is_empty(), "never the reason: {unused:?}");
}

/// Changes one place of the document, chosen by luck.
fn mutate(document: &mut Value, luck: &mut SplitMix) {
    let mut place = &mut *document;
    loop {
        let deeper = match place {
            Value::Object(members) if !members.is_empty() => luck.below(8) != 0,
            Value::Array(items) if !items.is_empty() => luck.below(4) != 0,
            _ => false,
        };
        if !deeper {
            break;
        }
        place = match place {
            Value::Object(members) => {
                let at = luck.below(members.len() as u64) as usize;
                members.values_mut().nth(at).expect("within")
            }
            Value::Array(items) => {
                let at = luck.below(items.len() as u64) as usize;
                &mut items[at]
            }
            _ => unreachable!("only objects and arrays are walked into"),
        };
    }
    change(place, luck);
}

fn change(place: &mut Value, luck: &mut SplitMix) {
    match place {
        Value::Object(members) if luck.below(3) != 0 => {
            let at = luck.below(members.len().max(1) as u64) as usize;
            let key = members.keys().nth(at).cloned().unwrap_or_default();
            let value = members.get(&key).cloned().unwrap_or_default();
            match luck.below(3) {
                0 => _ = members.remove(&key),
                1 => _ = members.insert(format!("{key}s"), value),
                _ => _ = members.insert("x_note".to_owned(), value),
            }
        }
        Value::Array(items) if luck.below(3) != 0 && !items.is_empty() => {
            let at = luck.below(items.len() as u64) as usize;
            match luck.below(2) {
                0 => _ = items.remove(at),
                _ => items.insert(at, items[at].clone()),
            }
        }
        Value::Number(number) if luck.below(2) == 0 => {
            let n = number.as_i64().unwrap_or_default();
            let near = [
                json!(n + 1),
                json!(n - 1),
                json!(-n),
                json!(n as f64),
                json!(n.to_string()),
                json!(format!("0{n}")),
            ];
            *place = near[luck.below(6) as usize].clone();
        }
        Value::String(text) if luck.below(2) == 0 => {
            let cut: String = text.chars().skip(1).collect();
            let near = [
                text.to_uppercase(),
                format!("{text}\n"),
                cut,
                text.repeat(9),
                format!("0{text}"),
                format!("{text}0"),
            ];
            *place = json!(near[luck.below(6) as usize]);
        }
        other => *other = another(luck),
    }
}

fn another(luck: &mut SplitMix) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(""),
        json!([]),
        json!({}),
        json!(0),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(3),
        json!(1u64 << 53),
        json!((1u64 << 53) + 1),
        json!(u64::MAX),
        json!("0"),
        json!("-1"),
        json!("1"),
        json!("1.5"),
        json!("1e-3"),
        json!("NaN"),
        json!("18446744073709551616"),
        json!("9223372036854775808"),
        json!("exact"),
        json!("ignore"),
        json!("tolerant"),
        json!("runner"),
        json!("abstain"),
        json!("e".repeat(64)),
        json!("e".repeat(65)),
        json!("e".repeat(129)),
        json!("a\u{7f}b"),
        json!("3ff0000000000000"),
        json!("reproduced"),
    ];
    values[luck.below(values.len() as u64) as usize].clone()
}

fn said<T, E: ToString>(result: Result<T, E>) -> Result<(), Vec<String>> {
    result.map(|_| ()).map_err(|why| why.to_string().lines().map(str::to_owned).collect())
}

/// A claim that is disputed, with its records.
fn disputed() -> Script {
    let mut script = Script::default();
    let (played, wrong) = script.play(
        "\
given params={\"fast_referee\":false}
given agents=sue,fay,a,b,c,d,e,f,g,h
list c1 sue 02:00 500 -> claim_listed claim_funded
fund c1 fay 02:01 3500 -> claim_funded job_opened draw_committed:runner:0
draw c1 - 02:02 -> draw_resolved:1
accept c1 @runner 02:03 -> run_accepted
inputs c1 @runner 02:03 -> inputs_checked
run c1 @runner 02:04 -> run_committed draw_committed:audit-coin:0
draw c1 - 02:05 -> coin_tossed:audit
challenge c1 @auditor 02:06 x=11.0 -> challenge_committed
tick c1 - 26:04 -> window_closed
reveal c1 @runner 26:05 -> run_revealed
reveal c1 @auditor 26:06 -> challenge_revealed disputed draw_committed:panel:0
",
    );
    assert!(wrong.is_empty(), "{played}");
    script
}

/// A manifest with one of every kind of metric, program, tolerance.
fn manifests() -> Vec<Value> {
    let digest = "ab".repeat(32);
    let base = json!({
        "v": "arena-manifest/v1", "title": "a claim", "submitter": "sue",
        "program": { "kind": "experiment", "component": digest },
        "inputs": [{ "name": "data.csv", "sha256": digest, "bytes": 5 }, { "name": "b", "sha256": digest, "bytes": "7" }],
        "arguments": { "k": "v", "empty": "" },
        "metrics": [
            { "name": "elo.alice", "kind": "decimal", "scale": 4, "claim": "1532.2500",
              "claim_tol": { "abs": "0.5", "rel": "0", "dir": "two_sided" }, "rerun_tol": { "mode": "exact" } },
            { "name": "games", "kind": "int", "claim": "640", "claim_tol": { "abs": "1e1", "rel": "0", "dir": "at_least" } },
            { "name": "digest", "kind": "hash", "claim": digest, "claim_tol": { "mode": "exact" } },
            { "name": "fair", "kind": "bool", "claim": true, "claim_tol": { "abs": "0", "rel": "0.0" } },
            { "name": "word", "kind": "text", "claim": "yes" },
            { "name": "bits", "kind": "f64", "claim": "3ff0000000000000", "claim_tol": { "mode": "bits" } },
        ],
        "limits": { "fuel": "10000000000", "memory_bytes": 1_048_576, "output_bytes": 0, "wall_seconds": 60 },
        "engine": { "wasmtime": "48.0.8", "config_sha256": digest },
        "capabilities": ["wasm", "fast"], "extra": "fail", "nonfinite": "forbid", "wide_tolerance": false,
        "determinism": "exact", "protocol_params_sha256": digest,
    });
    let mut tolerant = base.clone();
    tolerant["determinism"] = "tolerant".into();
    tolerant["nonfinite"] = "allow".into();
    tolerant["wide_tolerance"] = true.into();
    tolerant["program"] = json!({ "kind": "episode", "component": digest, "pack": digest });
    tolerant["metrics"][0]["rerun_tol"] = json!({ "mode": "tol", "abs": "0.5", "rel": "-0" });
    tolerant["metrics"][1]["claim"] = json!(640);
    tolerant["metrics"][5]["claim_tol"] = json!({ "mode": "ulps", "ulps": 2 });
    tolerant["metrics"][5]["rerun_tol"] = json!({ "mode": "ulps", "ulps": "2" });
    let mut frozen = base.clone();
    frozen["program"] = json!({ "kind": "tournament", "frozen": digest });
    frozen["metrics"] = json!([{ "name": "x", "kind": "decimal", "scale": 0, "claim": "1e3" }]);
    vec![base, tolerant, frozen]
}

const TOO_LONG: &str = "é";

#[test]
fn manifests_and_their_schema_agree() {
    let long = |times: usize| json!(TOO_LONG.repeat(times));
    agree(
        schema::MANIFEST,
        &manifests(),
        &[
            ("/title", long(150)),
            ("/arguments/k", long(4_000)),
            ("/arguments", json!({ TOO_LONG.repeat(60): "v" })),
            ("/metrics/0/claim_tol/rel", json!("0.2")),
            ("/metrics/0/claim_tol/abs", json!("1e401")),
            ("/metrics/0/claim", json!("NaN")),
            ("/metrics/1/name", json!("elo.alice")),
            ("/metrics/0/rerun_tol", json!({ "mode": "tol", "abs": "0", "rel": "0" })),
            ("/inputs/1/name", json!("data.csv")),
            ("/limits/fuel", json!("9999999999999")),
            ("/metrics/1/claim", json!(640.0)),
            ("/metrics/4/claim", long(4_000)),
        ],
        &[
            "bytes without control characters",
            "must be a text of at most 4096 bytes",
            "an integer from ",
            "an integer in a string",
            "is above ",
            "another metric has this name",
            "another input has this name",
            "is not finite",
            "needs \"determinism\"",
            "behind the point",
            "must be a decimal string, not below 0",
        ],
        &|document| said(Manifest::read(document.clone())),
    );
}

#[test]
fn records_and_their_schema_agree() {
    let script = disputed();
    let claim = script.claims_one();
    let mut record =
        claim.run.as_ref().and_then(|run| run.record.as_ref()).expect("revealed").value().clone();
    record["inputs"] = json!([{ "name": "data.csv", "sha256": "ab".repeat(32), "bytes": 5 }, { "name": "b", "sha256": "ab".repeat(32), "bytes": 5 }]);
    record["outputs"] = json!([{ "name": "out.csv", "sha256": "ab".repeat(32), "bytes": 5 }, { "name": "b", "sha256": "ab".repeat(32), "bytes": 5 }]);
    record["metrics"] = json!([{ "name": "x", "kind": "decimal", "value": "10.0" }, { "name": "y", "kind": "int", "value": 3 }]);
    agree(
        schema::RECORD,
        &[record],
        &[
            ("/agent", json!(TOO_LONG.repeat(100))),
            ("/reason", json!(TOO_LONG.repeat(200))),
            ("/metrics/1/name", json!("x")),
            ("/outputs/1/name", json!("out.csv")),
            ("/inputs/1/name", json!("data.csv")),
            ("/fuel", json!("99999999999999999999")),
        ],
        &[
            "bytes without control characters",
            "a text of at most 256 bytes",
            "an integer from ",
            "stands twice",
            "another input has this name",
        ],
        &|document| said(Record::read(document.clone())),
    );
}

#[test]
fn commitments_and_reveals_and_their_schemas_agree() {
    let made = Commitment {
        kind: Sealed::Run,
        job: Digest::of(b"job"),
        agent: "rex".into(),
        digest: Digest::of(b"d"),
    };
    agree(
        schema::COMMITMENT,
        &[made.to_json()],
        &[("/agent", json!(TOO_LONG.repeat(100)))],
        &["bytes without control characters"],
        &|document| said(Commitment::read(document)),
    );
    let nonce = Digest::of(b"nonce");
    let good = [
        json!({ "nonce": nonce, "record": { "a": 1, "b": 2, "c": 3 } }),
        json!({ "nonce": nonce, "envelope": { "a": 1, "b": 2, "c": 3 } }),
        json!({ "nonce": nonce, "ballot": { "a": 1, "b": 2, "c": 3 } }),
    ];
    agree(schema::REVEAL, &good, &[], &[], &|document| said(Reveal::read(document)));
    let both = json!({ "nonce": nonce, "record": {}, "ballot": {} });
    assert!(Reveal::read(&both).is_err() && !validator(schema::REVEAL).is_valid(&both));
}

/// What is revealed opens its own commitment and no other.
#[test]
fn a_reveal_opens_its_commitment_alone() {
    let script = disputed();
    let claim = script.claims_one();
    let runner = claim.runner().expect("drawn");
    let actor = &script.actors[runner];
    let record = claim.run.as_ref().and_then(|run| run.record.clone()).expect("revealed");
    let (job, nonce) = (claim.job, actor.nonce(claim, Sealed::Run));
    let of = |kind: Sealed, agent: &str, document: Digest| Commitment {
        kind,
        job,
        agent: agent.to_owned(),
        digest: commitment(kind, job, agent, nonce, document),
    };
    let made = of(Sealed::Run, runner, record.digest);
    assert_eq!(Commitment::read(&made.to_json()), Ok(made.clone()));
    let envelope = actor.envelope(&script.world, &record, script.world.now);
    let ballot = json!({ "verdict": "abstain" });
    let vote = of(Sealed::Vote, runner, Digest::of(&json::canonical(&ballot)));
    let reveal = |sealed: Opened| Reveal { nonce, sealed };
    assert!(reveal(Opened::Record(record.value().clone())).opens(&made));
    assert!(reveal(Opened::Envelope(envelope.clone())).opens(&made));
    assert!(reveal(Opened::Ballot(ballot.clone())).opens(&vote));
    for other in [
        Commitment { kind: Sealed::Challenge, ..made.clone() },
        Commitment { kind: Sealed::Vote, ..made.clone() },
        Commitment { agent: "sue".into(), ..made.clone() },
        Commitment { job: Digest::of(b"other"), ..made.clone() },
        Commitment { digest: vote.digest, ..made.clone() },
    ] {
        assert!(!reveal(Opened::Envelope(envelope.clone())).opens(&other), "{other:?}");
    }
    assert!(!reveal(Opened::Ballot(record.value().clone())).opens(&made), "a record is no ballot");
    assert!(!Reveal { nonce: Digest::of(b"other"), sealed: Opened::Envelope(envelope) }.opens(&made));
}

#[test]
fn ballots_and_their_schema_agree() {
    let script = disputed();
    let claim = script.claims_one();
    let auditor = claim.audit.auditor.clone().expect("drawn");
    let rows = json!([{ "cmp": "C3", "metric": "x" }, { "cmp": "C2", "metric": "x" }]);
    let full = json!({ "verdict": "runner_wrong", "confirms": [auditor], "rationale": rows, "rerun_sha256": "ab".repeat(32) });
    let empty = json!({ "verdict": "abstain", "confirms": [], "rationale": [], "rerun_sha256": null });
    agree(
        schema::BALLOT,
        &[full, empty],
        &[("/rationale/0/metric", json!(TOO_LONG.repeat(200)))],
        &["must be a challenger of the run", "is no row of the report", "bytes without control characters"],
        &|document| said(Ballot::read(document, claim)),
    );
}

#[test]
fn parameters_and_their_schema_agree() {
    let mut spelled = Params::published().to_json();
    spelled["slots"] = json!("3");
    spelled["clocks"]["rest_s"] = json!("0");
    agree(
        schema::PARAMS,
        &[Params::published_with_parties().to_json(), Params::published().to_json(), spelled],
        &[
            ("/fee", json!("9999999999999999999")),
            ("/slots", json!("17")),
            ("/party_slash", json!(6_000)),
            ("/party_slash", Value::Null),
        ],
        &["must be an amount", "an integer from "],
        &|document| said(Params::parse(document.to_string().as_bytes())),
    );
}

#[test]
fn cases_and_their_schema_agree() {
    let full = json!({
        "outcome": "runner_wrong",
        "agree": [{ "name": "a", "record_ok": null, "revealed": true }, { "name": "b" }],
        "disagree": [{ "name": "d", "record_ok": true }, { "name": "e", "record_ok": false, "revealed": false }],
        "reviewers": [{ "name": "r", "vote": "runner_wrong" }, { "name": "s", "vote": "abstain" }, { "name": "t", "vote": "no_show" }],
        "auditor": "a", "appeals": [{ "name": "runner", "won": false }, { "name": "d" }],
        "self_report": false, "undecided": false,
        "params": { "v": "arena-params/v1", "F": "1000", "tax": 100, "rho": 5_000, "slots": "3", "party_slash": 6_000, "fast_referee": false,
                    "clocks": { "reveal_s": 60 }, "assumptions": { "C": "400", "q": 950_000 } },
    });
    let bare = json!({ "outcome": "reproduced", "auditor": null, "params": null });
    agree(
        schema::CASE,
        &[full, bare],
        &[
            ("/disagree/0/name", json!("a")),
            ("/appeals/0/name", json!("nobody")),
            ("/appeals/0/name", json!("d")),
            ("/params", json!({ "F": "1000", "fee": "1000" })),
            ("/params", json!({ "F": "9223372036854775807" })),
            ("/params", json!({ "S": "100" })),
            ("/params/F", json!("9999999999999999999")),
            ("/auditor", json!(TOO_LONG.repeat(100))),
        ],
        &[
            "has a role already",
            "only a party appeals",
            "a party appeals once",
            "is also given as",
            "what all put in together is above",
            "cannot settle",
            "must be an amount",
            "an integer from ",
            "bytes without control characters",
        ],
        &|document| said(Case::parse(document.to_string().as_bytes())),
    );
}

#[test]
fn transcripts_and_their_schema_agree() {
    let script = disputed();
    let drawn = script.claims_one().transcripts.clone();
    assert!(drawn.iter().any(|transcript| transcript.get("salt").is_some()));
    let mut logged = drawn[0].clone();
    logged["log"] = json!({ "checkpoint": "log.example\n1\n", "inclusion": ["ab".repeat(32)] });
    let mut drand = logged.clone();
    let seal = |beacon: &Value, more: &Value| {
        let mut beacon = beacon.clone();
        for (key, value) in more.as_object().expect("members") {
            beacon[key] = value.clone();
        }
        beacon
    };
    drand["beacon"] =
        seal(&drand["beacon"], &json!({ "kind": "drand-quicknet", "signature": "ab".repeat(48) }));
    let mut vrf = logged.clone();
    vrf["beacon"] = seal(
        &vrf["beacon"],
        &json!({ "kind": "ecvrf-operator", "signature": "ab".repeat(80), "public_key": "ab".repeat(32) }),
    );
    let mut chain = logged.clone();
    let anchors = json!(["ab".repeat(32), "cd".repeat(32)]);
    chain["beacon"] = seal(
        &chain["beacon"],
        &json!({ "kind": "hashchain", "signature": "ab".repeat(64), "anchors": anchors }),
    );
    let mut good = vec![logged, drand, vrf, chain];
    good.extend(drawn);
    agree(
        TRANSCRIPT_SCHEMA,
        &good,
        &[
            ("/instance_name", json!(TOO_LONG.repeat(100))),
            ("/entries/0/0", json!(TOO_LONG.repeat(100))),
            ("/entries/1/0", json!("a")),
            ("/entries/0/0", json!("z")),
            ("/committed_at", json!("2026-02-30T00:00:00Z")),
            ("/beacon/round", json!("99999999999999999999")),
            ("/entries/0/2", json!("9999999999999999999")),
        ],
        &[
            " bytes; it has ",
            " bytes; an id has ",
            "stands twice",
            "order",
            "expected a time like",
            "a string of decimal digits up to",
            "exceed",
            "expected an integer from ",
        ],
        &|document| said(Transcript::read(document.to_string().as_bytes())),
    );
}

/// Reports are written and never read: every one is in the schema, which knows no other members and words.
#[test]
fn every_report_is_in_its_schema() {
    let validator = validator(schema::REPORT);
    let mut luck = SplitMix::new(5);
    let mut statuses = BTreeSet::new();
    for round in 0..1_500 {
        let manifests = manifests();
        let manifest = Manifest::read(manifests[round % 3].clone()).expect("no faults");
        let (a, b) = (results(&manifest, &mut luck), results(&manifest, &mut luck));
        let report = report(&manifest, &a, (luck.below(3) > 0).then_some(&b));
        in_schema(&report, &validator);
        for row in report["rows"].as_array().expect("rows") {
            statuses.insert(row["status"].as_str().expect("a word").to_owned());
        }
        let mut wrong = report.clone();
        match luck.below(5) {
            0 => wrong["x_note"] = json!(1),
            1 => wrong["outcome"] = json!("maybe"),
            2 => wrong["rows"][0]["diff"] = json!(1.5),
            3 => wrong["rows"][0]["x_note"] = json!(null),
            _ => _ = wrong["rows"][0].as_object_mut().expect("a row").remove("cmp"),
        }
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
    let all = ["beyond", "extra", "hash_mismatch", "kind_mismatch", "missing", "nonfinite", "pass"];
    assert_eq!(statuses.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

/// Results that are right, wrong, missing, of another kind or too many.
fn results(manifest: &Manifest, luck: &mut SplitMix) -> Results {
    let mut metrics = Vec::new();
    for metric in manifest.value()["metrics"].as_array().expect("metrics") {
        let value = match luck.below(6) {
            0 => continue,
            1 => json!("1.0"),
            2 => json!("NaN"),
            3 => another(luck),
            _ => metric["claim"].clone(),
        };
        metrics.push(json!({ "name": metric["name"], "kind": metric["kind"], "value": value }));
    }
    if luck.below(3) == 0 {
        metrics.push(json!({ "name": "more", "kind": "int", "value": "1" }));
    }
    let outputs = json!([{ "name": "o", "sha256": Digest::of(&[luck.below(2) as u8]), "bytes": 1 }]);
    let digest = Digest::of(&[luck.below(2) as u8]);
    Results::read(
        &json!({ "metrics": metrics, "fuel": luck.below(2), "log_sha256": digest, "outputs": outputs }),
    )
    .expect("read")
}

/// The report as `arena claim compare --json` writes it.
fn report(manifest: &Manifest, a: &Results, b: Option<&Results>) -> Value {
    use arena_claims::compare::{Cmp, Row, reason};
    let rules = &manifest.rules;
    let word = |rows: &[Row], cmp: Cmp| reason(rules, rows, cmp).map(|status| status.name());
    let Some(b) = b else {
        let (outcome, rows) = conclude(rules, a, Cmp::C1);
        let written: Vec<Value> = rows.iter().map(Row::to_json).collect();
        return json!({ "outcome": outcome.name(), "reason": word(&rows, Cmp::C1), "rows": written });
    };
    let found = compare(rules, a, b);
    let written: Vec<Value> = found.rows.iter().map(Row::to_json).collect();
    json!({
        "outcome": found.runner.name(), "reason": word(&found.rows, Cmp::C1), "rows": written,
        "challenger_outcome": found.challenger.name(), "challenger_reason": word(&found.rows, Cmp::C2),
        "agrees": found.agrees, "boundary": found.boundary,
    })
}

impl Script {
    /// The claim of a script that has one.
    fn claims_one(&self) -> &Claim {
        &self.world.claims["c1"]
    }
}

/// A record says how long its outputs are, and nothing else of them.
#[test]
fn outputs_of_a_record_are_read_to_the_last_member() {
    let script = disputed();
    let claim = script.claims_one();
    let with = |outputs: Value| {
        let results = json!({
            "metrics": [{ "name": "x", "kind": "decimal", "value": "10.0" }], "fuel": "7",
            "log_sha256": "ab".repeat(32), "outputs": outputs,
        });
        let runner = claim.runner().expect("drawn");
        script.actors[runner]
            .record(&script.world, claim, Role::Runner, &results)
            .map(|_| ())
            .map_err(|why| why.to_string())
    };
    let output = |more: &str| {
        serde_json::from_str::<Value>(&format!(r#"[{{"name":"o","sha256":"{}"{more}}}]"#, "ab".repeat(32)))
            .expect("JSON")
    };
    assert_eq!(with(output(r#","bytes":1"#)), Ok(()));
    assert_eq!(with(output("")), Err("/outputs/0: the member `bytes` is missing".into()));
    let more = with(output(r#","bytes":1,"path":"/etc/passwd""#)).expect_err("an unknown member");
    assert!(more.starts_with("/outputs/0/path: unknown member `path`"), "{more}");
}
