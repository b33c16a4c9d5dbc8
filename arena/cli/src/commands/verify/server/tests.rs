//! Servers that show what they like of logs that they signed.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use arena_canon::{Preimage, json as canon};
use arena_claims::envelope::SecretKey;
use arena_claims::log::Tree;
use arena_draw::merkle;

use super::*;

const NAME: &[u8] = b"lab";

fn instance() -> Digest {
    Digest::of(NAME)
}

fn key() -> SecretKey {
    SecretKey::from_seed(&[7; 32])
}

/// A log whose events past the first `common` are those of `branch`; the event of number n happened at 10 n.
struct Log {
    branch: &'static str,
    common: u64,
}

const MAIN: Log = Log { branch: "main", common: 0 };
const FORK: Log = Log { branch: "fork", common: 2 };

impl Log {
    fn event(&self, seq: u64) -> Value {
        let branch = if seq <= self.common { MAIN.branch } else { self.branch };
        json!({ "event": "deposited", "branch": branch, "n": seq.to_string() })
    }

    fn leaf(&self, seq: u64, at: u64) -> Digest {
        let preimage = Preimage::new("ARENA-EVENT-V1").bytes(instance().as_bytes()).number(seq).number(at);
        let digest = preimage.bytes(b"").bytes(&canon::canonical(&self.event(seq))).digest();
        merkle::leaf_hash(digest.as_bytes())
    }

    fn tree(&self, size: u64) -> Tree {
        let mut tree = Tree::default();
        (1..=size).for_each(|seq| tree.push(self.leaf(seq, 10 * seq)));
        tree
    }

    fn note(&self, size: u64, at: u64) -> String {
        Checkpoint::sign(&origin(instance()), size, self.tree(size).root(), at, &key())
    }

    /// The receipt of the last event of a size, signed at a time.
    fn receipt(&self, size: u64, at: u64) -> (String, Value) {
        let inclusion = self.tree(size).path(size - 1, size).expect("it is there");
        let document = json!({
            "v": "arena-receipt/v1", "instance": instance(), "genesis": instance(), "seq": size.to_string(),
            "at": (10 * size).to_string(), "by": null, "event": self.event(size), "draw": null,
            "leaf": self.leaf(size, 10 * size), "inclusion": inclusion, "checkpoint": self.note(size, at),
        });
        (format!("{}-{size}.json", self.branch), document)
    }
}

type Answers = dyn FnMut(&str) -> (u16, Value) + Send;

/// A server that says this; what it was asked.
fn serve(mut answers: Box<Answers>) -> (Relay, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let keeps = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut read, mut head) = ([0; 1_024], Vec::new());
            while !head.windows(4).any(|four| four == b"\r\n\r\n") {
                match stream.read(&mut read) {
                    Ok(n) if n > 0 => head.extend_from_slice(&read[..n]),
                    _ => break,
                }
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let (status, body) = answers(&path);
            keeps.lock().expect("kept").push(path);
            let body = body.to_string();
            let length = body.len();
            let said = format!(
                "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            stream.write_all(said.as_bytes()).ok();
        }
    });
    (Relay::new(address.parse().expect("an address"), PATIENCE).expect("a client"), asked)
}

fn problem(status: u16, code: &str) -> (u16, Value) {
    (status, json!({ "code": code, "detail": "try again in 1 s" }))
}

/// A server that shows this checkpoint, and proves whatever follows from any of its logs, be they forks.
fn shows(note: Option<String>) -> Box<Answers> {
    Box::new(move |path| {
        if path == "/api/v1/log/checkpoint" {
            return (
                200,
                json!({ "instance_id": instance(), "public_key": key().public(), "checkpoint": note }),
            );
        }
        let query = path.split_once('?').map_or("", |(_, query)| query);
        let wanted: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let number = |name: &str| wanted[name].parse::<u64>().expect("a number");
        let (from, to) = (number("from"), number("to"));
        let root: Digest = wanted["root"].parse().expect("a root");
        let tree = [MAIN, FORK].iter().map(|log| log.tree(12)).find(|tree| tree.root_at(to) == Some(root));
        match tree.and_then(|tree| tree.consistency(from, to)) {
            Some(proof) => (200, json!({ "proof": proof })),
            None => problem(404, "not_found"),
        }
    })
}

fn standings(relay: &Relay, receipts: &[(String, Value)]) -> Vec<Standing> {
    let present = present(relay).expect("it says what it shows");
    let key = present.key;
    let shown = present.signed(key);
    Witness { relay, instance: present.instance, key, shown }.standings(receipts)
}

fn names(note: Option<String>, receipts: &[(String, Value)]) -> Vec<&'static str> {
    let (relay, _) = serve(shows(note));
    standings(&relay, receipts).iter().map(Standing::name).collect()
}

#[test]
fn receipts_of_one_log_that_grows_hold_whatever_of_it_is_shown() {
    let receipts: Vec<_> = [9, 3, 5, 5, 1].map(|size| MAIN.receipt(size, 10 * size)).to_vec();
    for shown in [1, 2, 4, 5, 9, 12] {
        assert_eq!(names(Some(MAIN.note(shown, 10 * shown)), &receipts), ["holds"; 5], "{shown}");
    }
}

#[test]
fn nothing_holds_where_nothing_is_shown() {
    let receipts = [MAIN.receipt(1, 10), MAIN.receipt(5, 50)];
    assert_eq!(names(None, &receipts), ["left out"; 2]);
    // An empty log begins every other, and is signed as well.
    assert_eq!(names(Some(MAIN.note(0, 5)), &receipts), ["left out"; 2]);
}

#[test]
fn forks_do_not_hold_together_though_each_is_proven_alone() {
    let shown = || Some(MAIN.note(2, 20));
    for (one, other) in [
        // Beyond what is shown, at other sizes and at one.
        (MAIN.receipt(4, 40), FORK.receipt(5, 50)),
        (FORK.receipt(4, 40), MAIN.receipt(9, 90)),
        (MAIN.receipt(4, 40), FORK.receipt(4, 40)),
        (MAIN.receipt(4, 40), FORK.receipt(4, 41)),
    ] {
        assert_eq!(names(shown(), std::slice::from_ref(&one)), ["holds"]);
        assert_eq!(names(shown(), std::slice::from_ref(&other)), ["holds"]);
        assert_eq!(names(shown(), &[one.clone(), other.clone()]), ["written anew"; 2]);
        // What is of both stays: it was signed before they parted.
        let all = [other, MAIN.receipt(2, 20), one];
        assert_eq!(names(shown(), &all), ["written anew", "holds", "written anew"]);
    }
    // Where one of them is shown, it is known which.
    let receipts = [MAIN.receipt(4, 40), FORK.receipt(5, 50)];
    assert_eq!(names(Some(MAIN.note(6, 60)), &receipts), ["holds", "written anew"]);
}

#[test]
fn times_never_fall_with_the_size() {
    for (note, receipts, wanted) in [
        // Among receipts, below and beyond what is shown.
        (MAIN.note(9, 200), vec![MAIN.receipt(3, 150), MAIN.receipt(5, 149)], vec!["written anew"; 2]),
        (MAIN.note(2, 20), vec![MAIN.receipt(3, 150), MAIN.receipt(5, 149)], vec!["written anew"; 2]),
        // Against what is shown: signed before what it has more, or after what it has less.
        (MAIN.note(6, 60), vec![MAIN.receipt(5, 61)], vec!["written anew"]),
        (MAIN.note(3, 51), vec![MAIN.receipt(5, 50)], vec!["written anew"]),
        // Equal times are no fall.
        (MAIN.note(6, 70), vec![MAIN.receipt(3, 70), MAIN.receipt(5, 70)], vec!["holds"; 2]),
        // Those between which it fell are named, and no others.
        (
            MAIN.note(9, 200),
            vec![MAIN.receipt(1, 10), MAIN.receipt(3, 150), MAIN.receipt(5, 149)],
            vec!["holds", "written anew", "written anew"],
        ),
    ] {
        assert_eq!(names(Some(note), &receipts), wanted);
    }
}

#[test]
fn what_is_signed_before_it_happened_is_no_receipt() {
    let note = || Some(MAIN.note(9, 90));
    assert_eq!(names(note(), &[MAIN.receipt(5, 49)]), ["rejected"]);
    assert_eq!(names(note(), &[MAIN.receipt(5, 50)]), ["holds"]);
}

#[test]
fn too_many_questions_are_asked_again_and_no_receipt_is_refused_for_them() {
    let mut answers = shows(Some(MAIN.note(9, 90)));
    let mut count = 0;
    let (relay, asked) = serve(Box::new(move |path| {
        count += 1;
        if count % 2 == 1 { problem(429, "too_many_requests") } else { answers(path) }
    }));
    let receipts = [MAIN.receipt(3, 30), MAIN.receipt(5, 50)];
    let found: Vec<_> = standings(&relay, &receipts).iter().map(Standing::name).collect();
    assert_eq!(found, ["holds"; 2]);
    assert_eq!(asked.lock().expect("kept").len(), 6, "each of three questions twice");
}

#[test]
fn what_was_told_is_not_lost_when_a_server_says_no_more() {
    for (status, code) in [(429, "too_many_requests"), (403, "forbidden"), (400, "query"), (503, "busy")] {
        let mut answers = shows(Some(MAIN.note(9, 90)));
        let mut proofs = 0;
        let (relay, asked) = serve(Box::new(move |path| {
            proofs += usize::from(path.contains("/consistency"));
            if proofs > 1 { problem(status, code) } else { answers(path) }
        }));
        let receipts = [MAIN.receipt(3, 30), MAIN.receipt(5, 50), MAIN.receipt(6, 60)];
        let stand = standings(&relay, &receipts);
        let found: Vec<_> = stand.iter().map(Standing::name).collect();
        assert_eq!(found, ["holds", "unknown", "unknown"], "{status}");
        assert_eq!(stand[1].exit(), Exit::Stalled, "{status}");
        // Nobody is asked for ever, nor for each receipt anew.
        assert!(asked.lock().expect("kept").len() <= 6, "{status}");
    }
}
