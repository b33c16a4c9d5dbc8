//! One name for one thing: the engine's documents, their schemas, the WIT and the printed brief.

use std::collections::{BTreeMap, BTreeSet};

use arena_canon::json::Value;
use arena_engine::campus::{
    ClampReason, Field, MetricId, ObservationRecord, Pack, RESERVED_MOVES, Status, brief, episode_schema,
    pack_schema,
};
use arena_engine::limits::V1;
use arena_tests::{packs, repository};
use serde_json::json;
use wit_parser::{Resolve, TypeDefKind};

/// The record, enum and variant types of the WIT with their members, all as WIT spells them.
fn wit() -> BTreeMap<String, Vec<String>> {
    let mut resolve = Resolve::default();
    resolve.push_path(repository().join("wit/campus")).expect("the WIT is read");
    let mut types = BTreeMap::new();
    for (_, of) in resolve.types.iter() {
        let members: Vec<String> = match &of.kind {
            TypeDefKind::Record(record) => record.fields.iter().map(|field| field.name.clone()).collect(),
            TypeDefKind::Enum(of) => of.cases.iter().map(|case| case.name.clone()).collect(),
            TypeDefKind::Variant(of) => of.cases.iter().map(|case| case.name.clone()).collect(),
            _ => continue,
        };
        types.insert(of.name.clone().unwrap_or_default(), members);
    }
    types
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

fn kebabs<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(kebab).collect()
}

/// Names of the members of an object in a schema.
fn properties(schema: &Value, definition: &str) -> BTreeSet<String> {
    let properties = schema["$defs"][definition]["properties"].as_object();
    properties.unwrap_or_else(|| panic!("no {definition}")).keys().map(|key| kebab(key)).collect()
}

/// The constants of an enumeration in a schema.
fn constants(schema: &Value, definition: &str) -> Vec<String> {
    let cases = schema["$defs"][definition]["oneOf"].as_array();
    let cases = cases.unwrap_or_else(|| panic!("no {definition}")).iter();
    cases.map(|case| kebab(case["const"].as_str().expect("a constant"))).collect()
}

#[test]
fn enumerations_have_the_same_cases_in_the_same_order() {
    let (wit, episode) = (wit(), episode_schema());
    let level = ["debug", "info", "warn", "error"];
    for (name, definition, cases) in [
        ("system-status", "Status", kebabs(Status::ALL.map(Status::name))),
        ("action-field", "Field", kebabs(Field::ALL.map(Field::name))),
        ("clamp-reason", "ClampReason", kebabs(ClampReason::ALL.map(ClampReason::name))),
        ("metric-id", "MetricId", kebabs(MetricId::ALL.map(MetricId::name))),
        ("level", "LogLevel", kebabs(level)),
    ] {
        assert_eq!(wit[name], cases, "{name} in the WIT");
        assert_eq!(constants(&episode, definition), cases, "{definition} in the schema");
    }
    assert_eq!(wit["reserved-move"], kebabs(RESERVED_MOVES));
    assert_eq!(episode["$defs"]["ReservedMove"]["enum"], json!(RESERVED_MOVES));
    let described = pack_schema()["description"].to_string();
    assert!(RESERVED_MOVES.iter().all(|name| described.contains(name)), "{described}");
    assert_eq!(wit["notice"], kebabs(["visible", "started", "accepted", "ended", "clamped"]));
}

#[test]
fn names_are_spelt_in_snake_case_in_json() {
    for (name, case) in Status::ALL.map(|it| (json!(it), it.name())) {
        assert_eq!(name, json!(case));
    }
    for (name, case) in Field::ALL.map(|it| (json!(it), it.name())) {
        assert_eq!(name, json!(case));
    }
    for (name, case) in ClampReason::ALL.map(|it| (json!(it), it.name())) {
        assert_eq!(name, json!(case));
    }
    for (name, case) in MetricId::ALL.map(|it| (json!(it), it.name())) {
        assert_eq!(name, json!(case));
    }
}

#[test]
fn records_have_the_same_fields() {
    let (wit, episode, pack) = (wit(), episode_schema(), pack_schema());
    let fields = |name: &str| wit[name].iter().cloned().collect::<BTreeSet<_>>();
    for (record, schema, definition) in [
        ("action", &episode, "Action"),
        ("action", &episode, "AppliedAction"),
        ("clamp", &episode, "Clamp"),
        ("battery", &pack, "Battery"),
        ("generator", &pack, "Generator"),
    ] {
        assert_eq!(fields(record), properties(schema, definition), "{record} and {definition}");
    }
    assert_eq!(wit["metric"], ["id", "one-star", "two-stars", "three-stars"]);
    assert_eq!(properties(&pack, "Metric"), BTreeSet::from(["id", "stars"].map(str::to_owned)));
    // An index names an event in later notices; a notice of its own tells when it is active.
    let mut event = fields("event");
    assert!(event.remove("index") && event.remove("kind"));
    let mut visible = properties(&episode, "VisibleEvent");
    assert!(visible.remove("active"));
    assert_eq!(event, visible);
    let mut scripted = properties(&pack, "Event");
    assert!(scripted.remove("notice-turn"));
    assert_eq!(event, scripted);
    for (schema, definition) in [(&pack, "Event"), (&episode, "VisibleEvent"), (&episode, "EventShare")] {
        let kinds = schema["$defs"][definition]["oneOf"].as_array().expect("kinds").iter();
        let mut kinds: Vec<String> =
            kinds.map(|kind| kebab(kind["properties"]["kind"]["const"].as_str().expect("a kind"))).collect();
        kinds.sort();
        assert_eq!(kinds, wit["event-kind"], "{definition}");
    }
}

/// Where each field of the WIT's observation stands in the engine's.
const OBSERVATION: [(&str, &str); 16] = [
    ("turn", "/turn"),
    ("price-usd-per-mwh", "/price_usd_per_mwh"),
    ("forecast-one-usd-per-mwh", "/forecast/0/price_usd_per_mwh"),
    ("forecast-two-usd-per-mwh", "/forecast/1/price_usd_per_mwh"),
    ("forecast-three-usd-per-mwh", "/forecast/2/price_usd_per_mwh"),
    ("system-status", "/system_status"),
    ("forecast-one-status", "/forecast/0/system_status"),
    ("forecast-two-status", "/forecast/1/system_status"),
    ("forecast-three-status", "/forecast/2/system_status"),
    ("it-demand-mw", "/site/it_demand_mw"),
    ("soc-mwh", "/site/soc_mwh"),
    ("permit-hours-remaining", "/site/permit_hours_remaining"),
    ("cost-usd", "/ledger/cost_usd"),
    ("shed-mwh", "/ledger/shed_mwh"),
    ("relief-delivered-mwh", "/ledger/relief_delivered_mwh"),
    ("relief-asked-mwh", "/ledger/relief_asked_mwh"),
];

/// What an observation has and the WIT tells otherwise: by the brief's start and the turn, and by
/// notices.
const TOLD_OTHERWISE: [&str; 5] =
    ["/events", "/forecast/0/turn", "/forecast/1/turn", "/forecast/2/turn", "/local_time"];

#[test]
fn an_observation_says_the_same_everywhere() {
    let fields: Vec<&str> = OBSERVATION.iter().map(|(field, _)| *field).collect();
    assert_eq!(wit()["observation"], fields);
    let (_, bytes) = packs().swap_remove(0);
    let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
    let episode = arena_engine::campus::Episode::new(pack);
    let seen = json!(ObservationRecord::of(&episode.observe().expect("the first turn")));
    let mut leaves = BTreeSet::new();
    collect_leaves(&seen, "", &mut leaves);
    let places = OBSERVATION.iter().map(|(_, place)| *place).chain(TOLD_OTHERWISE);
    assert_eq!(leaves, places.map(str::to_owned).collect());
    for (field, place) in OBSERVATION {
        let last = kebab(place.rsplit('/').next().unwrap_or_default());
        let ahead = field.strip_prefix("forecast-").and_then(|rest| rest.split_once('-'));
        match ahead {
            None => assert_eq!(field, last),
            Some((_, unit)) => assert!(last.ends_with(unit), "{field} is {last}"),
        }
    }
}

fn collect_leaves(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, inner)| collect_leaves(inner, &format!("{at}/{key}"), found));
        }
        Value::Array(items) if !items.is_empty() => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, inner)| collect_leaves(inner, &format!("{at}/{i}"), found));
        }
        _ => _ = found.insert(at.to_owned()),
    }
}

/// Where each field of the WIT's brief stands in a pack; what does not stand there is empty.
const BRIEF: [(&str, &str); 16] = [
    ("pack-id", "/pack_id"),
    ("pack-version", "/pack_version"),
    ("name", "/name"),
    ("brief-md", "/brief_md"),
    ("start-local", "/time/start_local"),
    ("turns", "/time/turns"),
    ("step-minutes", "/time/step_minutes"),
    ("battery", "/site/battery"),
    ("generator", "/site/generator"),
    ("sla-usd-per-mwh", "/site/sla_usd_per_mwh"),
    ("has-price-slope", ""),
    ("first-metric", "/scoring/metrics/0"),
    ("second-metric", "/scoring/metrics/1"),
    ("engine-version", ""),
    ("score-version", "/score_version"),
    ("limits", ""),
];

#[test]
fn the_printed_brief_says_all_that_the_other_brief_says() {
    let fields: Vec<&str> = BRIEF.iter().map(|(field, _)| *field).collect();
    assert_eq!(wit()["brief"], fields);
    for (name, bytes) in packs() {
        let pack = Pack::parse(&bytes).expect("a shipped pack is valid");
        let printed = brief(&pack, &V1);
        let document = json!(pack.document());
        let mut words = vec![format!("engine {}", arena_engine::ENGINE_VERSION)];
        for (_, place) in BRIEF.iter().filter(|(_, place)| !place.is_empty()) {
            values(document.pointer(place).unwrap_or_else(|| panic!("{name}: no {place}")), &mut words);
        }
        let sloped = !document["grid"]["price_slope_usd_per_mwh_per_mw"].is_null();
        words.push(if sloped { "your own draw moves" } else { "price taker" }.to_owned());
        for word in words {
            assert!(printed.contains(word.trim()), "{name}: the brief does not say {word:?}\n{printed}");
        }
        for missing in ["NaN", "inf", "Some(", "None"] {
            assert!(!printed.contains(missing), "{name}: {printed}");
        }
    }
}

/// Every value as a person reads it: whole numbers without a point.
fn values(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|inner| values(inner, found)),
        Value::Array(items) => items.iter().for_each(|inner| values(inner, found)),
        Value::Number(number) => found.push(number.as_f64().expect("a number").to_string()),
        Value::String(text) => found.push(text.clone()),
        other => panic!("{other} is not in a brief"),
    }
}

#[test]
fn every_limit_is_printed_and_told_by_the_wit() {
    let row = format!("{V1:?}");
    let row = row.trim_start_matches("Limits { ").trim_end_matches(" }");
    let named: BTreeMap<&str, &str> = row.split(", ").filter_map(|field| field.split_once(": ")).collect();
    let (_, bytes) = packs().swap_remove(0);
    let printed = brief(&Pack::parse(&bytes).expect("a shipped pack is valid"), &V1);
    let (_, section) = printed.split_once("## What a sandboxed strategy may use").expect("a section");
    for (name, value) in &named {
        assert!(
            section.contains(&format!(" {value}")),
            "{name} is {value}, which is not printed:\n{section}"
        );
    }
    let of_wit = wit();
    let told: BTreeSet<String> = of_wit["limits"]
        .iter()
        .map(|field| match field.replace('-', "_") {
            whole if whole == "version" || whole == "host_call_fuel" => whole,
            name => format!("{name}_max"),
        })
        .collect();
    assert_eq!(told, named.keys().map(|&name| name.to_owned()).collect());
}

/// A member without a word about it is not part of a contract. `kind` and `ending` are told by what
/// they choose.
#[test]
fn every_member_of_a_schema_is_described() {
    for schema in [pack_schema(), episode_schema()] {
        let mut silent = Vec::new();
        undescribed(&schema, "", &mut silent);
        assert_eq!(silent, Vec::<String>::new());
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}

fn undescribed(schema: &Value, at: &str, silent: &mut Vec<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (name, property) in properties {
            let chosen_by = property.get("const").is_some() || name == "detail";
            if property.get("description").is_none() && !chosen_by {
                silent.push(format!("{at}/{name}"));
            }
        }
    }
    match schema {
        Value::Object(members) => {
            members.iter().for_each(|(key, inner)| undescribed(inner, &format!("{at}/{key}"), silent));
        }
        Value::Array(items) => items.iter().for_each(|inner| undescribed(inner, at, silent)),
        _ => {}
    }
}
