//! Components that come over HTTP: what `arena check` says, the server says; what costs too much costs one refusal.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Server;
use crate::matrix::guest;

/// A component whose functions keep the compiler busy for far longer than it is given.
fn bomb() -> Vec<u8> {
    let mut body = String::new();
    for n in 0..4_000 {
        let _ = write!(
            body,
            "local.get 0 local.get 1 i64.mul i64.const {n} i64.xor local.tee 0 i64.const 7 i64.rotl local.set 1 block local.get 0 i64.eqz br_if 0 local.get 1 local.set 0 end "
        );
    }
    let functions: String =
        (0..80).map(|_| format!("(func (param i64 i64) (result i64) {body} local.get 0)")).collect();
    guest::component(&format!("(module {functions})"))
}

#[test]
fn guests_are_admitted_and_refused_as_on_the_command_line() {
    let server = Server::start("");
    let bearer = server.agent("bees");
    for name in ["tit-for-tat", "greedy"] {
        let component = arena_tests::guest(name);
        let made = server.upload(&bearer, name, &component).expect(202);
        assert!(made.head.contains("location: /api/v1/strategies/s"), "{}", made.head);
        std::fs::write(server.at("it.wasm"), &component).expect("written");
        let checked = server.arena(&["check", "data/it.wasm", "--json"]);
        let checked: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
        let told = made.json();
        for member in ["sha256", "size_bytes", "world", "imports"] {
            assert_eq!(told[member], checked[0][member], "{name}: {member}");
        }
        assert_eq!(told["admission"]["linker"], checked[0]["linker"]);
    }
    let core = wat::parse_str("(module (func (export \"act\")))").expect("a module");
    let cut = &arena_tests::guest("tit-for-tat")[..2_000];
    for (name, component) in [("core", core.as_slice()), ("cut", cut)] {
        let refused = server.upload(&bearer, name, component).expect(422).json();
        assert_eq!(refused["code"], "not_admitted");
        std::fs::write(server.at("it.wasm"), component).expect("written");
        let checked = server.arena(&["check", "data/it.wasm", "--json"]);
        let checked: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
        let reasons = checked[0]["refusals"].as_array().expect("reasons");
        let errors = refused["errors"].as_array().expect("errors");
        assert_eq!(errors.len(), reasons.len());
        for (error, reason) in errors.iter().zip(reasons) {
            let detail = error["detail"].as_str().expect("a text");
            let message = reason["message"].as_str().expect("a text");
            assert!(detail.starts_with(reason["code"].as_str().expect("a text")), "{detail}");
            assert!(detail.contains(&message[..message.len().min(200)]), "{detail} | {message}");
        }
    }
}

#[test]
fn a_compile_bomb_costs_one_refusal_and_delays_nobody() {
    let server = Server::start("[tournaments]\nadmission_seconds = 2\nadmissions_at_once = 1\n");
    let bearer = server.agent("bees");
    let bomb = bomb();
    assert!(bomb.len() < 32 << 20);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let exploding = scope.spawn(|| server.upload(&bearer, "Bomb", &bomb));
        let mut worst = Duration::ZERO;
        while !exploding.is_finished() {
            let asked = Instant::now();
            server.get("/api/v1/tournaments").expect(200);
            worst = worst.max(asked.elapsed());
        }
        let refused = exploding.join().expect("it ends").expect(422);
        let told = String::from_utf8_lossy(&refused.body).into_owned();
        assert!(told.contains("admit.too_costly") && told.contains("2 s"), "{told}");
        assert!(worst < Duration::from_secs(5), "{worst:?}");
    });
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    // Nothing is left of it, and the next one has its turn.
    assert_eq!(std::fs::read_dir(server.at("uploads")).expect("a folder").count(), 0);
    let again = (0..10).map(|_| server.upload(&bearer, "Good", &arena_tests::guest("tit-for-tat")));
    assert!(again.map(|said| said.status).any(|status| status == 202 || status == 200));
}
