//! Worker processes: any number of them, and what becomes of them.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Plan, differences, ended, files};

#[test]
fn one_two_and_eight_workers_leave_the_same_bytes() {
    let plan = Plan::small();
    ended(&plan.run("one", &["--workers", "1"]), 0);
    let expected = files(&plan.at("one"));
    for workers in ["2", "8"] {
        ended(&plan.run(workers, &["--workers", workers]), 0);
        assert_eq!(differences(&expected, &files(&plan.at(workers))), [""; 0], "{workers} workers");
    }
    let campus =
        Plan::new("campus", &[("greedy", "greedy"), ("gambler", "gambler")], "packs = [\"two-spikes\"]");
    ended(&campus.run("one", &["--workers", "1"]), 0);
    ended(&campus.run("two", &["--workers", "2"]), 0);
    assert_eq!(differences(&files(&campus.at("one")), &files(&campus.at("two"))), [""; 0]);
    ended(&campus.arena(&["verify", "two", "--all"]), 0);
}

/// With no second try and a job or none for each, the loss of one worker at its start ends the run.
#[test]
fn a_run_that_nobody_disturbs_loses_no_worker() {
    let strategies = [("a", "tit-for-tat"), ("b", "bully"), ("c", "grudger"), ("d", "alternator")];
    let plan = Plan::new("matrix", &strategies, "rounds = 30\n[protocol]\nhost_retries = 0");
    for workers in ["3", "6", "16"] {
        let run = plan.run(workers, &["--workers", workers]);
        ended(&run, 0);
        assert!(!String::from_utf8_lossy(&run.stderr).contains("played again"), "{workers} workers");
    }
}

/// The children of a process, by the kernel's word.
fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid as i32).expect("a process id");
    kill_process(pid, Signal::KILL).ok();
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{what} does not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_worker_that_is_killed_costs_one_match_played_again() {
    let plan = Plan::small();
    ended(&plan.run("calm", &[]), 0);
    let expected = files(&plan.at("calm"));
    for round in 0..3 {
        let out = format!("stormy-{round}");
        let args =
            ["tournament", "run", "plan.toml", "--secret", "given-secret", "--out", &out, "--workers", "2"];
        let run = plan.command(&args).spawn().expect("the binary starts");
        let workers = wait_for("a worker", || Some(children(run.id())).filter(|found| !found.is_empty()));
        std::thread::sleep(Duration::from_millis(20 * round));
        kill(workers[0]);
        ended(&run.wait_with_output().expect("it ends"), 0);
        assert_eq!(differences(&expected, &files(&plan.at(&out))), [""; 0], "round {round}");
    }
}

#[test]
fn no_worker_outlives_its_coordinator() {
    let plan =
        Plan::new("matrix", &[("a", "tit-for-tat"), ("b", "random")], "repetitions = 400\nrounds = 5000");
    let args = ["tournament", "run", "plan.toml", "--out", "run", "--workers", "3"];
    let mut run = plan.command(&args).spawn().expect("the binary starts");
    let workers = wait_for("three workers", || Some(children(run.id())).filter(|found| found.len() == 3));
    run.kill().and_then(|()| run.wait()).expect("killed");
    let alive = |pid: &u32| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let started = Instant::now();
    while workers.iter().any(alive) {
        assert!(started.elapsed() < Duration::from_secs(2), "a worker is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
