//! Budgets: counted in the order of the matrix, whoever finishes first.

use arena_tournament::Class;

use super::natives::{self, in_process, json, plan, play};

fn ended(budget: &str) -> (tempfile::TempDir, arena_tournament::Ended) {
    let folder = tempfile::tempdir().expect("a folder");
    let plan =
        plan("matrix", &["cooperator", "defector", "copycat", "talker"], &format!("[budget]\n{budget}"));
    let ended = play(folder.path(), &plan, &mut in_process()).expect("played");
    (folder, ended)
}

/// Six matchups of six rounds.
#[test]
fn a_budget_that_ends_at_completion_is_a_success_and_one_before_is_not() {
    for (budget, completed) in [
        ("matchups = 6", 6),
        ("matchups = 7", 6),
        ("matchups = 5", 5),
        ("matchups = 0", 0),
        ("turns = 36", 6),
        ("turns = 31", 6),
        ("turns = 30", 5),
        ("turns = 1", 1),
        ("fuel = 1", 1),
        ("wall_seconds = 100000", 6),
        ("wall_seconds = 0", 0),
    ] {
        let (folder, ended) = ended(budget);
        let receipt = json(folder.path(), "receipt.json");
        let class = if completed == 6 { Class::Success } else { Class::Exhausted };
        assert_eq!(
            (ended.ending.class, &receipt["matchups"]["completed"]),
            (class, &completed.into()),
            "{budget}"
        );
        assert_eq!(
            receipt["matchups"]["remaining"].as_array().map(Vec::len),
            Some(6 - completed),
            "{budget}"
        );
        assert_eq!(folder.path().join("scorecard.json").exists(), completed == 6, "{budget}");
        let records = std::fs::read_dir(folder.path().join("matches")).expect("a folder").count();
        assert_eq!(records, completed, "{budget}: what does not count is nobody's record");
    }
}

#[test]
fn resuming_an_exhausted_run_gives_the_same_again() {
    let (folder, _) = ended("matchups = 4");
    let before = natives::files(folder.path());
    let again = natives::resume(folder.path(), &mut in_process()).expect("resumed");
    assert_eq!(again.ending.class, Class::Exhausted);
    assert_eq!(natives::files(folder.path()), before);
}
