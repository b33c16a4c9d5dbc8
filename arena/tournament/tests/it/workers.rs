//! Any number of workers, any order of completion: the same bytes.

use std::time::Duration;

use arena_tournament::{Class, Executor, Finished, InProcess, Job, RunFault};

use super::natives::{self, Natives, files, in_process, plan, play};

/// Finishes what it is given in an order of its own.
struct Shuffled {
    inner: InProcess<Natives>,
    window: usize,
    held: Vec<Finished>,
    state: u64,
}

impl Shuffled {
    fn new(window: usize, seed: u64) -> Self {
        Self { inner: in_process(), window, held: Vec::new(), state: seed }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % below
    }
}

impl Executor for Shuffled {
    fn window(&self) -> usize {
        self.window
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.inner.submit(job)
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        while let Some(finished) = self.inner.next(within)? {
            self.held.push(finished);
        }
        if self.held.is_empty() {
            return Ok(None);
        }
        let at = self.draw(self.held.len());
        Ok(Some(self.held.swap_remove(at)))
    }
}

#[test]
fn the_order_of_completion_is_nowhere_in_the_result() {
    for rest in ["self_play = true\nrepetitions = 4", "repetitions = 5\n[budget]\nfuel = 20000"] {
        let plan = plan("matrix", &natives::NAMES[..6], rest);
        let straight = tempfile::tempdir().expect("a folder");
        let class = play(straight.path(), &plan, &mut in_process()).expect("played").ending.class;
        let expected = files(straight.path());
        for (window, seed) in [(1, 1), (2, 5), (8, 9), (32, 3), (32, 4), (1_000, 7)] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut executor = Shuffled::new(window, seed);
            let ended = play(folder.path(), &plan, &mut executor).expect("played");
            assert_eq!(ended.ending.class, class);
            assert_eq!(files(folder.path()), expected, "window {window}, seed {seed}");
        }
        assert_eq!(class == Class::Exhausted, rest.contains("budget"));
    }
}

/// Is at its first job until so many others have come back.
struct Slow {
    inner: InProcess<Natives>,
    first: Option<Finished>,
    others: usize,
    /// Whether there was nothing to do when it was asked last.
    idle: bool,
}

impl Executor for Slow {
    fn window(&self) -> usize {
        4
    }

    fn ahead(&self) -> usize {
        16
    }

    fn submit(&mut self, job: &Job) -> Result<(), RunFault> {
        self.inner.submit(job)
    }

    fn next(&mut self, within: Duration) -> Result<Option<Finished>, RunFault> {
        let Some(finished) = self.inner.next(within)? else {
            if self.others == 0 {
                return Ok(self.first.take());
            }
            assert!(!std::mem::replace(&mut self.idle, true), "held up, with {} to come", self.others);
            return Ok(None);
        };
        self.idle = false;
        if finished.id.0 == 1 {
            self.first = Some(finished);
            return self.next(within);
        }
        self.others = self.others.saturating_sub(1);
        Ok(Some(finished))
    }
}

/// Were the window counted from the first match that is out, three others would be played and then none.
#[test]
fn a_match_that_takes_long_holds_nobody_else_up() {
    let plan = plan("matrix", &natives::NAMES[..6], "repetitions = 2");
    let straight = tempfile::tempdir().expect("a folder");
    play(straight.path(), &plan, &mut in_process()).expect("played");
    let folder = tempfile::tempdir().expect("a folder");
    let mut slow = Slow { inner: in_process(), first: None, others: 12, idle: false };
    play(folder.path(), &plan, &mut slow).expect("played");
    assert_eq!(files(folder.path()), files(straight.path()));
}

#[test]
fn every_match_has_luck_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan("matrix", &["lucky", "cooperator"], "repetitions = 40");
    play(folder.path(), &plan, &mut in_process()).expect("played");
    let card = natives::json(folder.path(), "scorecard.json");
    let moves: std::collections::BTreeSet<String> =
        card["pairs"].as_array().expect("pairs").iter().map(|pair| pair["moves"].to_string()).collect();
    assert!(moves.len() > 20, "forty matches show {} different games", moves.len());
    assert!(!card["cells"][0]["scores"][0]["interval"].is_null());
}
