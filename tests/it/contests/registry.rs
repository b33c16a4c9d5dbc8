//! The registry of acts: what was looked up at a source, and what was not.

use arena_cli::Exit;
use serde_json::{Value, json};

use super::{answer, ask};
use crate::cli::arena;

#[test]
fn an_act_that_nobody_looked_up_is_marked() {
    let ran = arena(["contest", "registry"]);
    assert_eq!((ran.exit, ran.err.as_str()), (Exit::Success, ""));
    let line = |id: &str| {
        let mut lines = ran.out.lines().filter(|line| line.split_whitespace().next() == Some(id));
        lines.next().unwrap_or_else(|| panic!("no {id} in\n{}", ran.out)).to_owned()
    };
    assert_eq!(line("LT-CC").matches("unchecked").count(), 2);
    assert_eq!(line("GDPR").matches("unchecked").count(), 1);
    assert!(line("GDPR").contains("text as adopted"), "{}", line("GDPR"));
    assert_eq!(line("BRUSSELS1").matches("consolidated text").count(), 2);
    assert!(!line("BRUSSELS1").contains("unchecked"), "{}", line("BRUSSELS1"));
}

#[test]
fn a_version_is_what_it_was() {
    let of = |version: &str| arena(["contest", "registry", "--json", "--registry", version]).json();
    let (v1, v2) = (of("1"), of("2"));
    assert_eq!(arena(["contest", "registry", "--json"]).json(), v2);
    let none = json!({ "last_article": null, "inserted": null });
    let acts = |registry: &Value| registry["acts"].as_array().cloned().expect("acts");
    assert!(acts(&v1).iter().all(|act| act["checked"] == none));
    let gdpr = acts(&v2).into_iter().find(|act| act["id"] == "GDPR").expect("there");
    let source = &gdpr["checked"]["last_article"];
    assert_eq!(source["path"], "eu/6e/32016R0679.md");
    assert_eq!(source["text"], "as_adopted");
    let ran = arena(["contest", "registry", "--registry", "3"]);
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Usage, ""));
}

#[test]
fn a_citation_is_judged_by_version_one_unless_another_is_asked_for() {
    let citation = json!({
        "act": "Brussels I Recast",
        "article": "Art. 71a",
        "jurisdiction": "EU",
        "url": "https://eur-lex.europa.eu/eli/reg/2012/1215/oj",
    });
    let confidence = |command: &str| answer(command, &citation)["confidence"].clone();
    assert_eq!(confidence("contest cite"), 10);
    assert_eq!(confidence("contest cite --registry 1"), 10);
    assert_eq!(confidence("contest cite --registry 2"), 100);
    assert_eq!(ask("contest cite --registry 0", &citation).exit, Exit::Usage);
}
