//! Citations: the vectors, every form, every result, and what must never pass.

use arena_canon::json::{Pointer, Value};
use arena_contests::cite::{
    self, Act, Check, Checked, Citation, Gate, Reason, Registry, THRESHOLD, TextRead, Verdict, YEAR_NOW,
};
use arena_contests::document::Faults;
use proptest::prelude::*;
use serde_json::json;

use crate::cases;

fn check(act: &str, article: &str, jurisdiction: &str, url: &str) -> Verdict {
    let owned = |text: &str| text.to_owned();
    let citation = Citation {
        act: owned(act),
        article: owned(article),
        jurisdiction: owned(jurisdiction),
        url: owned(url),
    };
    cite::check(&citation, Registry::v1(), YEAR_NOW)
}

const GDPR: &str = "https://eur-lex.europa.eu/eli/reg/2016/679/oj";
const CC: &str = "https://www.e-tar.lt/portal/lt/legalAct/TAR.8A39C83848CB/asr";

fn reasons(verdict: &Verdict) -> String {
    verdict.reasons.iter().map(|reason| reason.name()).collect::<Vec<_>>().join(" ")
}

/// `confidence: reasons`, for a table.
fn told(verdict: &Verdict) -> String {
    format!("{}: {}", verdict.confidence, reasons(verdict)).trim_end().to_owned()
}

#[test]
fn citations_are_judged_as_the_vectors_say() {
    let vectors = crate::vectors("contest/citations.json");
    assert_eq!(
        (vectors["threshold"].clone(), vectors["year_now"].clone()),
        (json!(THRESHOLD), json!(YEAR_NOW))
    );
    for case in cases(&vectors, "examples") {
        let mut faults = Faults::default();
        let citation = Citation::read(&case["citation"], &Pointer::default(), &mut faults).expect("read");
        assert_eq!(cite::check(&citation, Registry::v1(), YEAR_NOW).json(), case["expect"], "{case}");
    }
}

#[test]
fn the_registry_is_the_one_that_is_pinned() {
    let registry = Registry::v1();
    let pinned = "922d090853d3bc240f3a648b8a49859b27df5a5e4b80d76f75bac0bbb0a1d533";
    assert_eq!((registry.version(), registry.acts().len()), (1, 28));
    assert_eq!(registry.sha256().to_string(), pinned, "a correction is version 2, never an edit");
    let vectors = crate::vectors("contest/citations.json");
    let acts: Value = serde_json::from_str(include_str!("../data/acts-v1.json")).expect("JSON");
    assert_eq!(acts["acts"], vectors["registry"]);
}

#[test]
fn version_two_says_what_was_looked_up_and_corrects_one_act() {
    let (v1, v2) = (Registry::v1(), Registry::v2());
    let pinned = "d869f57706b714a9e2fc12bb9a911fef0e01908391a97c4cc1ccc5cd857787a7";
    assert_eq!((v2.version(), v2.sha256().to_string().as_str()), (2, pinned), "a correction is version 3");
    assert_eq!(
        [1, 2, 3].map(|version| Registry::of_version(version).map(Registry::version)),
        [Some(1), Some(2), None]
    );
    let articles = |act: &Act| {
        let inserted = act.inserted().map(str::to_owned).collect::<Vec<_>>();
        (act.id().to_owned(), act.family(), act.last_article(), inserted)
    };
    let changed: Vec<_> =
        v1.acts().iter().zip(v2.acts()).filter(|(a, b)| articles(a) != articles(b)).collect();
    let [(before, after)] = changed[..] else { panic!("{changed:?}") };
    assert_eq!((before.id(), before.inserted().count()), ("BRUSSELS1", 0));
    assert_eq!(after.inserted().collect::<Vec<_>>(), ["71a", "71b", "71c", "71d"]);
    assert!(v1.acts().iter().all(|act| *act.checked() == Checked::default()));
    let unchecked = |of: fn(&Checked) -> &Option<Check>| -> Vec<&str> {
        v2.acts().iter().filter(|act| of(act.checked()).is_none()).map(Act::id).collect()
    };
    assert_eq!(unchecked(|checked| &checked.last_article), ["DSM", "TSD", "PLD", "LT-CC", "ECHR", "UNC"]);
    assert_eq!(unchecked(|checked| &checked.inserted).len(), v2.acts().len() - 1);
    // A text as it was adopted cannot say what was inserted into it.
    for act in v2.acts() {
        assert!(act.checked().inserted.as_ref().is_none_or(|check| check.text == TextRead::Consolidated));
    }
}

#[test]
fn an_inserted_article_counts_from_the_version_that_has_it() {
    let citation = Citation {
        act: "Brussels I Recast".to_owned(),
        article: "Art. 71a(2)".to_owned(),
        jurisdiction: "EU".to_owned(),
        url: "https://eur-lex.europa.eu/eli/reg/2012/1215/oj".to_owned(),
    };
    let of = |registry| told(&cite::check(&citation, registry, YEAR_NOW));
    assert_eq!(
        (of(Registry::v1()).as_str(), of(Registry::v2()).as_str()),
        ("10: article_out_of_range", "100:")
    );
}

#[test]
fn a_registry_says_of_each_act_whether_it_was_checked() {
    let act = json!({
        "id": "X", "family": "echr", "max": 5, "ins": [], "aliases": ["x"],
        "checked": { "last_article": null, "inserted": null },
    });
    let read = |schema: &str, changes: Value| {
        let mut act = act.clone();
        for (key, value) in changes.as_object().expect("an object") {
            act[key] = value.clone();
        }
        let document = json!({ "schema": schema, "version": 3, "acts": [act] });
        match Registry::read(document.to_string().as_bytes()) {
            Ok(_) => Vec::new(),
            Err(Faults(faults)) => faults.iter().map(|fault| fault.pointer.as_str().to_owned()).collect(),
        }
    };
    let source = json!({ "source": "s", "commit": "c", "path": "p", "text": "as_adopted" });
    let odd = json!({ "source": "s", "commit": "c", "path": "p", "text": "seen somewhere" });
    for (changes, expected) in [
        (json!({}), Vec::new()),
        (json!({ "checked": { "last_article": source, "inserted": null } }), Vec::new()),
        (json!({ "checked": null }), vec!["/acts/0/checked"]),
        (json!({ "checked": { "last_article": null } }), vec!["/acts/0/checked/inserted"]),
        (
            json!({ "checked": { "last_article": odd, "inserted": "yes" } }),
            vec!["/acts/0/checked/last_article/text", "/acts/0/checked/inserted"],
        ),
    ] {
        assert_eq!(read("arena.contest.registry.v2", changes.clone()), expected, "{changes}");
    }
    assert_eq!(read("arena.contest.registry.v1", json!({})), ["/acts/0/checked"]);
    assert_eq!(read("arena.contest.registry.v3", json!({})), ["/schema"]);
}

#[test]
fn an_act_is_known_by_all_its_forms() {
    let crd = "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX%3A32011L0083";
    for (act, article, jurisdiction, url) in [
        ("gdpr", "Art. 6", "EU", GDPR),
        ("Regulation (EU) 2016/679", "Article 6 (1) (a)", "EU", GDPR),
        ("regulation (eu) No 679/2016", "Art.6", "eu", GDPR),
        ("  Regulation\u{a0}(EU)  2016/679 ", "ART. 99", "EU", "http://data.europa.eu/eli/reg/2016/679/oj"),
        (
            "Ｒegulation (EU) 2016/679",
            "Art. 1",
            "EU",
            "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:32016R0679",
        ),
        (
            "32016r0679",
            "Art. 1",
            "EU",
            "https://EUR-LEX.europa.eu:443/legal-content/lt/ALL/?uri=celex=32016R0679#art",
        ),
        ("Directive 2011/83/EU", "Art. 6a", "EU", crd),
        ("Directive 2011/83/EU", "Art. 16E(2)", "EU", crd),
        ("Directive (EU) 2022/2555", "Art. 46", "EU", "https://eur-lex.europa.eu/eli/dir/2022/2555"),
        (
            "Council Directive 93/13/EEC",
            "Art. 8b",
            "EU",
            "https://eur-lex.europa.eu/eli/dir/1993/13/2022-05-28",
        ),
        ("Regulation (EU) No 910/2014", "Art. 5f", "EU", "https://eur-lex.europa.eu/eli/reg/2014/910/oj"),
        (
            "Lietuvos Respublikos civilinio kodekso patvirtinimo įstatymas Nr. VIII-1864",
            "straipsnis 6.228–3",
            "LT",
            CC,
        ),
        (
            "LT No VIII-1864",
            "str. 1.138",
            "LT",
            "https://e-seimas.lrs.lt/portal/legalAct/lt/TAD/TAIS.107687/asr",
        ),
        ("LT Constitution", "str. 154", "LT", "https://e-tar.lt/portal/lt/legalAct/TAR.47BB952431DA"),
        (
            "European Convention on Human Rights",
            "Article 59",
            "ECHR",
            "https://www.coe.int/en/web/Conventions/x",
        ),
        ("UN Charter", "Art. 2(4)", "UN", "https://www.un.org/en/about-us/un-charter/full-text"),
    ] {
        let verdict = check(act, article, jurisdiction, url);
        assert_eq!(told(&verdict), "100:", "{act} {article} {url}");
    }
}

#[test]
fn superscripts_are_read_before_they_are_flattened() {
    for article in ["str. 6.228³", "str. 6.228\u{2070}", "str. 6.228-3", "str. 6.228−3", "str. 6.364¹²(1)"]
    {
        assert_eq!(check("LT Civil Code", article, "LT", CC).confidence, 100, "{article}");
    }
    assert_eq!(told(&check("LT Civil Code", "str. 6.3641", "LT", CC)), "10: article_out_of_range");
    assert_eq!(told(&check("GDPR", "Art. 6¹", "EU", GDPR)), "20: article_malformed");
}

#[test]
fn every_dash_is_a_dash() {
    // The dashes of Unicode, and the minus sign.
    let dashes = "-\u{58a}\u{5be}\u{1400}\u{1806}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\u{2e17}\
        \u{2e1a}\u{2e3a}\u{2e3b}\u{2e40}\u{2e5d}\u{301c}\u{3030}\u{30a0}\u{fe31}\u{fe32}\u{fe58}\u{fe63}\u{ff0d}\
        \u{10d6e}\u{10ead}";
    for dash in dashes.chars() {
        let verdict = check("LT Civil Code", &format!("str. 6.228{dash}3"), "LT", CC);
        assert_eq!(told(&verdict), "100:", "{dash:?}");
    }
}

#[test]
fn articles_end_where_the_act_ends() {
    for (act, article, jurisdiction, url, expected) in [
        ("GDPR", "Art. 99", "EU", GDPR, "100:"),
        ("GDPR", "Art. 100", "EU", GDPR, "10: article_out_of_range"),
        ("GDPR", "Art. 0", "EU", GDPR, "10: article_out_of_range"),
        ("GDPR", "Art. 99999999999999999999", "EU", GDPR, "10: article_out_of_range"),
        ("GDPR", "Art. 6a", "EU", GDPR, "10: article_out_of_range"),
        ("GDPR", "6", "EU", GDPR, "20: article_malformed"),
        ("GDPR", "Art. VI", "EU", GDPR, "20: article_malformed"),
        ("GDPR", "Art. 6.1", "EU", GDPR, "20: article_malformed"),
        ("GDPR", "Art. 6(1", "EU", GDPR, "20: article_malformed"),
        ("LT Civil Code", "str. 6.1018", "LT", CC, "100:"),
        ("LT Civil Code", "str. 6.1019", "LT", CC, "10: article_out_of_range"),
        ("LT Civil Code", "str. 7.1", "LT", CC, "10: article_out_of_range"),
        ("LT Civil Code", "str. 6", "LT", CC, "20: article_malformed"),
    ] {
        assert_eq!(told(&check(act, article, jurisdiction, url)), expected, "{act} {article}");
    }
}

#[test]
fn links_are_what_they_lead_to() {
    for (url, expected) in [
        ("https://eur-lex.europa.eu/homepage.html", "90: url_without_identifier"),
        ("https://eur-lex.europa.eu/eli/dec/2016/679/oj", "90: url_without_identifier"),
        ("https://eur-lex.europa.eu/eli/reg/2016/6790/oj", "20: url_identifies_another_act"),
        ("https://eur-lex.europa.eu/eli/dir/2016/679/oj", "20: url_identifies_another_act"),
        (
            "https://eur-lex.europa.eu/eli/reg/2016/679/oj?uri=CELEX:32022R2065",
            "20: url_identifies_another_act",
        ),
        ("https://www.un.org/eli/reg/2016/679/oj", "20: url_identifies_another_act"),
        ("https://gdpr-info.eu/art-6-gdpr/", "80: url_not_official"),
        ("https://eur-lex.europa.eu.evil.example/eli/reg/2016/679/oj", "80: url_not_official"),
        ("https://evil.example/eur-lex.europa.eu/eli/reg/2016/679", "80: url_not_official"),
        ("https://eur-lex.europa.eu@evil.example/eli/reg/2016/679", "20: url_malformed"),
        ("https://evil.example\\@eur-lex.europa.eu/eli/reg/2016/679", "20: url_malformed"),
        ("https://eur-lex.europa.eu/eli/reg/2016/679 /oj", "20: url_malformed"),
        ("https://localhost/eli/reg/2016/679", "20: url_malformed"),
        ("https://eur-lex..eu/eli/reg/2016/679", "20: url_malformed"),
        ("https://eur-lex.europa.eu:99999/eli/reg/2016/679", "20: url_malformed"),
        ("javascript:alert(1)", "20: url_malformed"),
        ("//eur-lex.europa.eu/eli/reg/2016/679", "20: url_malformed"),
        ("", "20: url_malformed"),
    ] {
        assert_eq!(told(&check("GDPR", "Art. 6", "EU", url)), expected, "{url}");
    }
    for (url, expected) in [
        (CC, "100:"),
        ("https://e-seimas.lrs.lt/portal/legalAct/lt/TAD/TAIS.107687", "100:"),
        ("https://e-seimas.lrs.lt/portal/legalAct/lt/TAD/TAIS.1076870", "20: url_identifies_another_act"),
        ("https://e-tar.lt/portal/lt/legalAct/TAR.47BB952431DA", "20: url_identifies_another_act"),
        ("https://e-tar.lt/portal/lt/legalAct/TAR.8A39C83848CB00", "90: url_without_identifier"),
        ("https://e-tar.lt/portal/lt/legalAct/8a39c83848cb11e4", "90: url_without_identifier"),
        (GDPR, "20: url_identifies_another_act"),
    ] {
        assert_eq!(told(&check("LT Civil Code", "str. 1.1", "LT", url)), expected, "{url}");
    }
    let at_limit = format!("{GDPR}?{}", "x".repeat(2_048 - GDPR.len() - 1));
    assert_eq!(check("GDPR", "Art. 6", "EU", &at_limit).confidence, 100);
    assert_eq!(told(&check("GDPR", "Art. 6", "EU", &format!("{at_limit}x"))), "20: url_malformed");
}

#[test]
fn acts_that_are_not_known_are_weighed_by_their_source() {
    for (act, article, url, expected) in [
        (
            "Regulation (EU) 2019/881",
            "Art. 8",
            "https://eur-lex.europa.eu/eli/reg/2019/881/oj",
            "45: act_not_in_registry",
        ),
        (
            "Regulation (EU) 2019/881",
            "banana",
            "https://eur-lex.europa.eu/eli/reg/2019/881/oj",
            "20: act_not_in_registry article_malformed",
        ),
        (
            "Regulation (EU) 2019/881",
            "Art. 8",
            "https://eur-lex.europa.eu/eli/reg/2019/882/oj",
            "20: act_not_in_registry url_identifies_another_act",
        ),
        (
            "Regulation (EU) 2019/881",
            "Art. 8",
            "https://example.org/x",
            "25: act_not_in_registry url_not_official",
        ),
    ] {
        assert_eq!(told(&check(act, article, "EU", url)), expected, "{act} {url}");
    }
}

#[test]
fn numbers_that_no_act_can_have_are_told() {
    for (act, article, url, expected) in [
        (
            "Directive (EU) 2016/679",
            "Art. 6",
            GDPR,
            "10: act_type_mismatch act_not_in_registry url_identifies_another_act",
        ),
        (
            "Regulation (EU) 679/2016",
            "Art. 6",
            GDPR,
            "10: implausible_number act_not_in_registry url_identifies_another_act",
        ),
        (
            "Regulation (EU) 2027/1",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/reg/2027/1/oj",
            "10: implausible_number act_not_in_registry",
        ),
        (
            "Regulation (EU) 2015/3500",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/reg/2015/3500/oj",
            "45: act_not_in_registry",
        ),
        (
            "Regulation (EU) 2015/3501",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/reg/2015/3501/oj",
            "10: implausible_number act_not_in_registry",
        ),
        (
            "Regulation (EC) No 4500/2014",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/reg/2014/4500/oj",
            "45: act_not_in_registry",
        ),
        (
            "Directive 98/999/EC",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/dir/1998/999/oj",
            "45: act_not_in_registry",
        ),
        (
            "Directive 98/1000/EC",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/dir/1998/1000/oj",
            "10: implausible_number act_not_in_registry",
        ),
        (
            "Directive 57/1/EEC",
            "Art. 6",
            "https://eur-lex.europa.eu/eli/dir/1957/1/oj",
            "10: implausible_number act_not_in_registry",
        ),
        ("The GDPR regulation", "Art. 6", GDPR, "0: format_unrecognised"),
        ("", "", "", "0: format_unrecognised"),
    ] {
        assert_eq!(told(&check(act, article, "EU", url)), expected, "{act} {url}");
    }
    assert_eq!(told(&check("GDPR", "Art. 6", "LT", GDPR)), "25: jurisdiction_mismatch");
}

#[test]
fn letters_that_only_look_alike_are_not_the_letters() {
    for act in ["GD\u{420}R", "G\u{200b}DPR", "\u{202e}RPDG"] {
        assert_eq!(told(&check(act, "Art. 6", "EU", GDPR)), "0: format_unrecognised", "{act:?}");
    }
    // Arabic digits are digits to some engines and none of an article here.
    assert_eq!(told(&check("GDPR", "Art. ٦", "EU", GDPR)), "20: article_malformed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_verdict_that_agrees_with_itself(
        act in prop_oneof![Just("GDPR".to_owned()), Just("Directive 93/13/EEC".to_owned()), "\\PC{0,40}",
                           "(Council )?(Regulation|Directive) \\((EU|EC)\\) (No )?[0-9]{1,5}/[0-9]{1,5}"],
        article in prop_oneof!["Art\\. [0-9]{1,3}[a-c]?(\\([0-9]\\))?", "\\PC{0,20}"],
        jurisdiction in prop_oneof![Just("EU".to_owned()), "\\PC{0,5}"],
        url in prop_oneof![Just(GDPR.to_owned()), "https://[a-z.]{1,20}/[a-z0-9/]{0,30}", "\\PC{0,40}"],
    ) {
        let verdict = check(&act, &article, &jurisdiction, &url);
        prop_assert!(verdict.confidence <= 100);
        prop_assert_eq!(verdict.gate == Gate::Pass, verdict.confidence >= THRESHOLD);
        prop_assert!(verdict.reasons.is_sorted());
        prop_assert_eq!(verdict.reasons.is_empty(), verdict.confidence == 100);
        let contradicts = |reason: &Reason| !matches!(
            reason,
            Reason::ActNotInRegistry | Reason::UrlWithoutIdentifier | Reason::UrlNotOfficial
        );
        if verdict.reasons.iter().any(contradicts) {
            prop_assert!(verdict.confidence < THRESHOLD);
        }
    }
}
