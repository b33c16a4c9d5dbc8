//! A pack as a text: what is not JSON, what is too much, what is only odd, and what does not matter.

use arena_canon::json::{self, Value};
use arena_engine::campus::{DOCUMENT_BYTES_MAX, Faults, Pack};
use serde_json::json;

use super::pack_faults::{good, put, with};

fn refused(text: &[u8]) -> String {
    match Pack::parse(text) {
        Ok(pack) => panic!("{pack} is accepted"),
        Err(Faults(findings)) => {
            assert_eq!(findings.len(), 1, "{findings:?}");
            findings[0].to_string()
        }
    }
}

#[test]
fn what_is_not_one_json_document_is_refused() {
    let text = good().to_string();
    let twice = |key: &str, value: &str| {
        text.replacen(&format!("\"{key}\":"), &format!("\"{key}\":{value},\"{key}\":"), 1)
    };
    for (wrong, words) in [
        (String::new(), "EOF while parsing a value at line 1 column 0"),
        (text[..text.len() - 1].to_owned(), "EOF while parsing an object"),
        (text.clone() + "{}", "trailing characters"),
        (text.replace("900.5", "1e999"), "number out of range"),
        (text.replace("900.5", "NaN"), "expected value"),
        (text.replace("900.5", "Infinity"), "expected value"),
        (text.replace("900.5", "0900.5"), "invalid number"),
        (text.replace("900.5", "+900.5"), "expected value"),
        (text.replace("Small", "\\ud800"), "end of hex escape"),
        (text.replace("Small", "a\nb"), "control character"),
        (twice("turns", "4"), "the key \"turns\" stands twice"),
        (twice("kind", "\"curtailment_order\""), "the key \"kind\" stands twice"),
        (twice("schema", "1"), "the key \"schema\" stands twice"),
        ("[".repeat(100_000), "recursion limit exceeded"),
        (format!("{{\"x_deep\":{}1{}}}", "[".repeat(200), "]".repeat(200)), "recursion limit exceeded"),
        ("\u{feff}".to_owned() + &text, "expected value"),
        ("null".to_owned(), "expected an object, found null"),
        ("[]".to_owned(), "expected an object, found an array"),
    ] {
        let told = refused(wrong.as_bytes());
        assert!(told.contains(words), "{told:?} does not say {words:?}");
        assert!(told.starts_with("(document): "), "{told}");
    }
    assert!(refused(b"\"\xff\"").contains("invalid unicode code point"));
    for cut in 0..text.len() {
        assert!(refused(&text.as_bytes()[..cut]).contains("EOF while parsing"), "cut at {cut}");
    }
}

#[test]
fn a_document_beyond_the_limit_is_refused_unread() {
    // Not JSON anywhere: reading any of it would say so. Zeros cost no memory.
    let huge = vec![0; DOCUMENT_BYTES_MAX + 1];
    assert_eq!(refused(&huge), "(document): the document is 536870913 bytes; the limit is 536870912");
}

#[test]
fn the_largest_pack_is_read_and_played() {
    const TURNS: usize = 100_000;
    let mut document = with("/time/turns", Some(json!(TURNS)));
    for (strip, value) in [
        ("/site/it_demand_mw", json!(80.25)),
        ("/grid/price_usd_per_mwh", json!(1517.1185129044802)),
        ("/grid/system_status", json!("emergency")),
        ("/grid/price_slope_usd_per_mwh_per_mw", json!(0.1)),
    ] {
        put(&mut document, strip, Some(vec![value; TURNS].into()));
    }
    put(&mut document, "/events/1/end_turn", Some(json!(1_000_000)));
    let pack = Pack::parse(document.to_string().as_bytes()).expect("a pack of the most turns there may be");
    assert_eq!(pack.local_time(99_999), "2029-11-12T05:30:00+01:00");
    assert_eq!(pack.do_nothing().metrics[1].denominator, 30.0 * 0.5 * 99_999.0);
}

#[test]
fn the_layout_of_a_pack_is_not_part_of_it() {
    let document = good();
    let digest = Pack::from_value(&document).expect("valid").sha256();
    let compact = document.to_string();
    let pretty = format!("{document:#}\n\n");
    let members: Vec<String> = document
        .as_object()
        .expect("an object")
        .iter()
        .rev()
        .map(|(key, value)| format!("{} :\t{value}", json!(key)))
        .collect();
    let backwards = format!(" {{\r\n{}\r\n}} ", members.join(" ,\r\n"));
    let spelt =
        compact.replace("900.5", "9.005e2").replace("\"Small\"", "\"\\u0053mall\"").replace("40.0", "40");
    for text in [compact, pretty, backwards, spelt] {
        let pack = Pack::parse(text.as_bytes()).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        assert_eq!(pack.sha256(), digest, "{text}");
    }
    let canonical = json::canonical(&document);
    assert_eq!(arena_canon::Digest::of(&canonical), digest);
    for (pointer, other) in [
        ("/brief_md", json!("Four turns!")),
        ("/x_note", json!(1)),
        ("/grid/price_usd_per_mwh/1", json!(900.5000000000001)),
    ] {
        let edited = Pack::from_value(&with(pointer, Some(other))).expect("valid");
        assert_ne!(edited.sha256(), digest, "{pointer}");
    }
}

/// One change makes exactly this warning, and the pack plays.
#[track_caller]
fn warned(pointer: &str, value: Value, expected: &[&str]) {
    let document = with(pointer, Some(value));
    let pack = Pack::from_value(&document).unwrap_or_else(|faults| panic!("{faults}"));
    let told: Vec<String> = pack.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(told, expected, "{pointer}");
}

#[test]
fn what_is_odd_is_told_and_played() {
    warned(
        "/grid/price_slope_usd_per_mwh_per_mw/2",
        json!(-1e-9),
        &["/grid/price_slope_usd_per_mwh_per_mw: a negative slope makes more import cheaper"],
    );
    warned(
        "/site/it_demand_mw",
        json!([0, 0.0, -0.0, 0]),
        &["/site/it_demand_mw: no turn has any demand: costs have no denominator"],
    );
    warned(
        "/events/0/end_turn",
        json!(1),
        &["/events/0: has no length (turn 1 to 1), so it is never active"],
    );
    warned(
        "/events/0/notice_turn",
        json!(2),
        &["/events/0/notice_turn: noticed on turn 2, after it has started on turn 1"],
    );
    warned(
        "/events/0",
        json!({ "id": "a", "kind": "conservation_appeal", "start_turn": 4, "end_turn": 9, "credit_usd_per_mwh": 1 }),
        &["/events/0/start_turn: turn 4 is after the last turn"],
    );
    warned(
        "/events",
        json!([]),
        &["/scoring/metrics: relief_share is scored but no order asks for relief: it is always 1"],
    );
    warned("/events/1/end_turn", json!(900), &[]);
    warned("/time/turns", json!(4.0), &[]);
}

#[test]
fn a_misspelt_key_is_told_with_what_was_meant() {
    for (pointer, told) in [
        ("/breif_md", "/breif_md: unknown key, ignored; did you mean \"brief_md\"?"),
        ("/time/turn", "/time/turn: unknown key, ignored; did you mean \"turns\"?"),
        (
            "/site/battery/capacity_mw",
            "/site/battery/capacity_mw: unknown key, ignored; did you mean \"capacity_mwh\"?",
        ),
        (
            "/site/generator/colour",
            "/site/generator/colour: unknown key, ignored; known here: capacity_mw, fuel_usd_per_mwh, permit_hours",
        ),
        (
            "/grid/price_slope_usd_per_mwh",
            "/grid/price_slope_usd_per_mwh: unknown key, ignored; did you mean \"price_slope_usd_per_mwh_per_mw\"?",
        ),
        (
            "/events/0/requested_mw",
            "/events/0/requested_mw: unknown key, ignored; known here: id, kind, notice_turn, start_turn, end_turn, credit_usd_per_mwh",
        ),
        (
            "/events/1/notice_turns",
            "/events/1/notice_turns: unknown key, ignored; did you mean \"notice_turn\"?",
        ),
        ("/scoring/metrics/0/star", "/scoring/metrics/0/star: unknown key, ignored; did you mean \"stars\"?"),
        ("/scoring/X_note", "/scoring/X_note: unknown key, ignored; known here: metrics"),
    ] {
        warned(pointer, json!([]), &[told]);
    }
    for carried in
        ["/x_source", "/time/x_zone", "/site/battery/x_", "/events/0/x_y", "/scoring/metrics/1/x_1"]
    {
        warned(carried, json!({ "deep": [1, null] }), &[]);
    }
}

#[test]
fn a_key_of_any_length_is_only_unknown() {
    let key = format!("brief_md{}", "d".repeat(1 << 20));
    let pack = Pack::from_value(&with(&format!("/{key}"), Some(json!(1)))).expect("only a warning");
    let told = pack.warnings()[0].to_string();
    assert!(told.contains("unknown key, ignored; known here: schema"), "{told}");
    assert!(told.len() < 600, "{} bytes", told.len());
}

#[test]
fn numbers_beyond_what_binary64_counts_are_carried() {
    let document = with("/x_big", Some(json!([u64::MAX, i64::MIN, 1e300])));
    assert!(Pack::parse(document.to_string().as_bytes()).is_ok());
}
