//! Killed at any moment: what was answered is there, and the chain is whole.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use arena_store::{BLOBS, Found, Options, Store, Wanted, verify};

use super::tally::{Command, Tally, add, did, open_with, sums, sums_table};

/// Snapshots are written so often that a kill hits one from time to time.
fn open(root: &Path) -> Store<Tally> {
    open_with(root, Options { snapshot_every: 20, ..Options::default() }).expect("it opens")
}

/// Not a test: what the test below runs and kills. It is told the folder on its standard input.
#[test]
#[ignore = "the other half of a test"]
fn append_until_killed() {
    let mut root = String::new();
    std::io::stdin().read_line(&mut root).expect("a folder");
    let store = open(Path::new(root.trim_end()));
    thread::scope(|scope| {
        for submitter in 0..8 {
            let store = store.clone();
            scope.spawn(move || {
                for n in 0_u64.. {
                    let text = format!("{submitter}-{n}");
                    let seq = if n % 10 == 4 {
                        did(&store, Command::Keep { text: text.clone() })
                    } else if n % 10 == 9 {
                        let sha256 = store.blobs().put(text.as_bytes()).expect("put");
                        did(&store, Command::Book { sha256, bytes: text.len() as u64 })
                    } else {
                        did(&store, add(&text, 1))
                    };
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "did {seq} {text}").and_then(|()| out.flush()).expect("somebody reads");
                }
            });
        }
    });
}

#[test]
fn what_was_answered_before_a_kill_is_there_after_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut acknowledged = 0;
    for round in 0..6_u64 {
        let program = std::env::current_exe().expect("this test");
        let mut child = Process::new(program)
            .args(["--ignored", "--exact", "crash::append_until_killed", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        writeln!(child.stdin.take().expect("a pipe"), "{}", folder.path().display()).expect("told");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let listener = thread::spawn(move || {
            let mut heard = Vec::new();
            for line in out.lines().map_while(Result::ok) {
                // The harness writes its own words before the first.
                if let Some((_, told)) = line.split_once("did ")
                    && let Some((seq, text)) = told.split_once(' ')
                {
                    heard.push((seq.parse::<u64>().expect("a place"), text.to_owned()));
                }
            }
            heard
        });
        // At another moment each time, from within the set-up to well into the work.
        let moment = [5, 60, 150, 233, 377, 610][round as usize];
        thread::sleep(Duration::from_millis(moment));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let heard = listener.join().expect("listened");
        acknowledged += heard.len();
        check(folder.path(), &heard, round);
    }
    assert!(acknowledged > 100, "{acknowledged}");
}

fn check(root: &Path, heard: &[(u64, String)], round: u64) {
    // A reader needs nobody to clean up first. The first kill may have come before there was anything.
    match verify(root, &Wanted { blobs: true, ..Wanted::default() }) {
        Ok(report) => assert!(report.is_sound(), "{:?}", report.findings),
        Err(why) => assert!(heard.is_empty() && round == 0, "{why}"),
    }
    let started = Instant::now();
    // A killed writer's lock goes with it.
    let store = open(root);
    assert!(started.elapsed() < Duration::from_secs(20));
    let report = verify(root, &Wanted { blobs: true, ..Wanted::default() }).expect("looked at");
    assert!(report.is_sound(), "{:?}", report.findings);
    let left = std::fs::read_dir(root.join(BLOBS).join("pending")).expect("a folder").count();
    assert_eq!(left, 0, "round {round}");
    for (seq, text) in heard {
        let event = store.journal().event(*seq).expect("read").expect("what was answered is there");
        let body = event.json().expect("JSON");
        match body["blob"].as_str() {
            None => assert_eq!(body["name"], text.as_str()),
            Some(sha256) => {
                let found = store.blobs().read(sha256.parse().expect("a digest"), 100).expect("read");
                assert_eq!(found, Found::Content(text.clone().into_bytes()));
            }
        }
    }
    assert_eq!(sums(&store), sums_table(&store), "round {round}");
}
