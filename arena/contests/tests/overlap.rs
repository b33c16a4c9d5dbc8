use arena_contests::overlap::{CONTAINMENT_PERMILLE, FEATURES_MIN, JACCARD_PERMILLE, Overlap, compare};
use proptest::prelude::*;
use serde_json::json;

use crate::cases;

#[test]
fn claims_overlap_as_the_vectors_say() {
    let vectors = crate::vectors("contest/overlap.json");
    assert_eq!(vectors["jaccard_permille"], json!(JACCARD_PERMILLE));
    assert_eq!(vectors["containment_permille"], json!(CONTAINMENT_PERMILLE));
    assert_eq!(vectors["min_features"], json!(FEATURES_MIN));
    for case in cases(&vectors, "pairs") {
        let text = |key: &str| case[key].as_str().expect("a text");
        let found = compare(text("a"), text("b"));
        let shown = json!([found.duplicate, found.jaccard_permille, found.containment_permille]);
        let wanted = json!([case["duplicate"], case["jaccard_permille"], case["containment_permille"]]);
        assert_eq!(shown, wanted, "{case}");
    }
}

#[test]
fn spelling_makes_no_difference() {
    let plain = "Publié: le régulateur économise 15 kWh, testé avec trente foyers à Vilnius";
    let decomposed = plain.replace('é', "e\u{301}").replace('à', "a\u{300}");
    for other in
        [&decomposed, &plain.to_uppercase(), &plain.replace("15", "１５"), &plain.replace(' ', "\u{3000}")]
    {
        assert_eq!(compare(plain, other).jaccard_permille, 1_000, "{other}");
    }
    assert_eq!(compare("", ""), Overlap { duplicate: false, jaccard_permille: 0, containment_permille: 0 });
    assert_eq!(compare("the of and", "— … !").jaccard_permille, 0);
}

#[test]
fn endings_are_stripped_only_where_a_word_is_left() {
    for (a, b, same) in [
        ("shipping", "shipp", true),
        ("uses", "use", true),
        ("ring", "r", false),
        ("tests", "test", true),
        ("v2s", "v2", false),
        ("naïves", "naïve", false),
    ] {
        assert_eq!(compare(a, b).jaccard_permille == 1_000, same, "{a} {b}");
    }
}

#[test]
fn a_small_claim_within_a_large_one_needs_eight_features() {
    let large =
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron rho sigma tau upsilon";
    assert!(!compare("alpha beta gamma delta", large).duplicate);
    assert!(compare("alpha beta gamma delta epsilon", large).duplicate);
    // Five words of which one stands twice: four words and four pairs, eight in all.
    let eight = "alpha beta gamma delta beta";
    assert!(compare(eight, &format!("{eight} {large}")).duplicate);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn overlap_is_symmetric_and_bounded(a in "[a-f éЖ0-3]{0,60}", b in "\\PC{0,60}") {
        let found = compare(&a, &b);
        prop_assert_eq!(found, compare(&b, &a));
        prop_assert!(found.jaccard_permille <= found.containment_permille);
        prop_assert!(found.containment_permille <= 1_000);
        let itself = compare(&b, &b).jaccard_permille;
        prop_assert!(itself == 1_000 || itself == 0);
    }
}
