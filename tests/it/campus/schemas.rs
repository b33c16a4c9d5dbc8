//! Both normative schemas: the committed files are what the types give, what the product writes is in
//! them, and they agree with the validator about every document, but for what a schema cannot say.

use std::collections::BTreeSet;

use arena_canon::json::{self, Value};
use arena_engine::campus::{Faults, Pack, episode_schema, pack_schema};
use arena_tests::{committed, packs};
use serde_json::json;

use super::logs::sandboxed;
use super::pack_faults::{good, with};
use super::scripts::{SCRIPTS, SplitMix, play};

fn validator(schema: &Value) -> jsonschema::Validator {
    assert!(jsonschema::draft202012::meta::is_valid(schema), "not a schema of draft 2020-12");
    jsonschema::validator_for(schema).expect("a valid schema")
}

#[track_caller]
fn in_schema(what: &str, document: &Value, validator: &jsonschema::Validator) {
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new(), "{what}");
}

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    for (name, schema) in [("scenario-pack", pack_schema()), ("episode", episode_schema())] {
        committed(&format!("scenarios/schema/{name}.v0.schema.json"), &format!("{schema:#}\n"));
    }
}

#[test]
fn shipped_packs_and_every_log_on_them_are_in_the_schemas() {
    let (of_packs, of_episodes) = (validator(&pack_schema()), validator(&episode_schema()));
    for (name, bytes) in packs() {
        in_schema(&name, &json::read(&bytes, bytes.len()).expect("JSON"), &of_packs);
        let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
        for script in SCRIPTS {
            let bytes = play(&pack, script).to_bytes();
            let log = json::read(&bytes, bytes.len()).expect("JSON");
            in_schema(&format!("{} on {name}", script.name), &log, &of_episodes);
        }
    }
    let bytes = sandboxed().1.to_bytes();
    in_schema("a sandboxed run", &json::read(&bytes, bytes.len()).expect("JSON"), &of_episodes);
}

/// What the validator refuses and no schema can: how the words of such findings begin or go on.
const BEYOND_SCHEMAS: [&str; 9] = [
    " elements, expected ",
    " is above the battery's capacity of ",
    " is already that of event ",
    ", before it starts on turn ",
    " is named twice",
    "the episode would end after the year 9999",
    " bytes; a brief has at most ",
    // The 30th of February has the right shape.
    "expected an RFC 3339 local time",
    " more findings are not shown",
];

/// Both opinions of one document.
#[track_caller]
fn agree(document: &Value, validator: &jsonschema::Validator, reasons: &mut BTreeSet<&'static str>) -> bool {
    let schema_accepts = validator.is_valid(document);
    let Err(Faults(findings)) = Pack::from_value(document) else {
        assert!(schema_accepts, "valid, and the schema refuses it: {document}");
        return true;
    };
    if schema_accepts {
        for finding in findings {
            let known = BEYOND_SCHEMAS.iter().find(|words| finding.message.contains(**words));
            reasons.insert(known.unwrap_or_else(|| panic!("the schema accepts, but {finding}: {document}")));
        }
    }
    false
}

#[test]
fn validator_and_schema_agree_about_thousands_of_mutations() {
    let validator = validator(&pack_schema());
    let mut luck = SplitMix::seed(11);
    let shipped: Vec<Value> =
        packs().iter().map(|(_, bytes)| json::read(bytes, bytes.len()).expect("JSON")).collect();
    let mut reasons = BTreeSet::new();
    let mut accepted = 0;
    for round in 0..4_000 {
        let mut document = if round % 4 == 0 { luck.pick(&shipped).clone() } else { good() };
        for _ in 0..=luck.below(2) {
            mutate(&mut document, &mut luck);
        }
        accepted += usize::from(agree(&document, &validator, &mut reasons));
    }
    assert!((200..3_800).contains(&accepted), "{accepted} of 4000 are valid: the mutations prove little");
    for (pointer, value) in [
        ("/time/start_local", json!("2023-02-30T22:00:00+01:00")),
        ("/time/start_local", json!("9999-12-31T23:00:00+01:00")),
        ("/brief_md", json!("\u{e9}".repeat(60_000))),
        ("/events/1/id", json!("appeal-a")),
        ("/events/1/end_turn", json!(0)),
        ("/site/battery/initial_soc_mwh", json!(40.5)),
        ("/scoring/metrics/1/id", json!("cost_usd_per_mwh")),
        ("/grid/system_status", json!(["normal"])),
    ] {
        agree(&with(pointer, Some(value)), &validator, &mut reasons);
    }
    let unused: Vec<_> = BEYOND_SCHEMAS[..8].iter().filter(|reason| !reasons.contains(**reason)).collect();
    assert!(unused.is_empty(), "never the only reason: {unused:?}");
}

/// Changes one place of the document, chosen by luck.
fn mutate(document: &mut Value, luck: &mut SplitMix) {
    let mut place = &mut *document;
    // Walk down; the deeper, the likelier to stop.
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
                let at = luck.below(members.len());
                members.values_mut().nth(at).expect("within")
            }
            Value::Array(items) => {
                let at = luck.below(items.len());
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
            let at = luck.below(members.len().max(1));
            let key = members.keys().nth(at).cloned().unwrap_or_default();
            let value = members.get(&key).cloned().unwrap_or_default();
            match luck.below(3) {
                0 => _ = members.remove(&key),
                1 => _ = members.insert(format!("{key}s"), value),
                _ => _ = members.insert("x_note".to_owned(), value),
            }
        }
        Value::Array(items) if luck.below(3) != 0 && !items.is_empty() => {
            let at = luck.below(items.len());
            match luck.below(2) {
                0 => _ = items.remove(at),
                _ => items.insert(at, items[at].clone()),
            }
        }
        Value::Number(number) if luck.below(2) == 0 => {
            let number = number.as_f64().expect("a number");
            *place = json!(luck.pick(&[number + 1.0, number - 1.0, -number, number * 0.5, number.next_up()]));
        }
        Value::String(text) if luck.below(2) == 0 => {
            let cut: String = text.chars().skip(1).collect();
            *place = json!(luck.pick(&[text.to_uppercase(), format!("{text}\n"), cut, text.repeat(9)]));
        }
        other => *other = another(luck),
    }
}

fn another(luck: &mut SplitMix) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!("watch"),
        json!("conservation_appeal"),
        json!(""),
        json!("2024-02-28T22:00:00-00:00"),
        json!("e".repeat(64)),
        json!("e".repeat(65)),
        json!([]),
        json!({}),
        json!(0),
        json!(-0.0),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(3),
        json!(4.0),
        json!(1e12),
        json!(-1e12),
        json!(1_000_000_000_001.0),
        json!(1e300),
        json!(100_001),
        json!(1_000_000),
        json!(u64::MAX),
    ];
    luck.pick(&values).clone()
}

#[test]
fn an_unknown_member_stands_only_at_the_top_of_an_episode() {
    let validator = validator(&episode_schema());
    let bytes = sandboxed().1.to_bytes();
    let log = json::read(&bytes, bytes.len()).expect("JSON");
    let mut pointers = Vec::new();
    objects(&log, "", &mut pointers);
    assert!(pointers.len() > 40, "{pointers:?}");
    for pointer in pointers {
        let mut more = log.clone();
        more.pointer_mut(&pointer).expect("an object")["score"] = json!(3);
        assert_eq!(validator.is_valid(&more), pointer.is_empty(), "{pointer}/score");
    }
}

fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.push(at.to_owned());
            members.iter().for_each(|(key, inner)| objects(inner, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| objects(inner, &format!("{at}/{i}"), found));
        }
        _ => {}
    }
}
