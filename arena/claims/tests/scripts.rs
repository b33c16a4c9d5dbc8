//! The rules as tables: each line a command, and what it comes to. Reading a table is reading the mechanism.
//!
//! `verb claim actor time arguments -> events`, or `-> ! refusal`. `@runner`, `@auditor` and `@seat1` stand for
//! whoever was drawn. After every table, the history is replayed, and money is counted.

mod schemas;
mod script;
mod threats;

use script::Script;

#[track_caller]
fn check(table: &str) {
    let mut wrong = Vec::new();
    let mut rendered = String::new();
    for test in table.split("\ntest ").skip(1) {
        let (name, lines) = test.split_once('\n').expect("a name and lines");
        let mut script = Script::default();
        let (played, otherwise) = script.play(lines);
        rendered.push_str(&format!("\ntest {name}\n{played}"));
        wrong.extend(otherwise.into_iter().map(|line| format!("{name}\n{line}")));
        script.check_laws(name);
    }
    assert!(wrong.is_empty(), "{}\n=====\n{rendered}=====", wrong.join("\n"));
}

macro_rules! tables {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("../../../tests/scripts/claims_", stringify!($name), ".table")));
        }
    )*};
}

tables! { life draws parties challenges panels ends conflicts refusals precedence }

/// Every refusal there is stands in some table.
#[test]
fn no_refusal_is_without_a_line() {
    let source = include_str!("../src/life/refusal.rs");
    let codes = source.lines().filter_map(|line| line.split_once("=> \"")?.1.strip_suffix("\","));
    let tables = [
        include_str!("../../../tests/scripts/claims_life.table"),
        include_str!("../../../tests/scripts/claims_draws.table"),
        include_str!("../../../tests/scripts/claims_parties.table"),
        include_str!("../../../tests/scripts/claims_challenges.table"),
        include_str!("../../../tests/scripts/claims_panels.table"),
        include_str!("../../../tests/scripts/claims_ends.table"),
        include_str!("../../../tests/scripts/claims_conflicts.table"),
        include_str!("../../../tests/scripts/claims_refusals.table"),
    ]
    .concat();
    let unseen: Vec<&str> = codes.filter(|code| !tables.contains(&format!("-> ! {code}\n"))).collect();
    assert_eq!(unseen, [] as [&str; 0]);
}
