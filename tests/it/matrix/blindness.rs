//! A guest is given nothing that tells whom it plays: what reaches it is the same to the last byte,
//! whatever the components' digests are.

use arena_sandbox::{PlayedMatrix, Strategy};

use super::guest::{component, host, load, play};

/// Writes every argument it is ever given into its log, four bits a letter, and defects in odd rounds.
const SPY: &str = r#"(module
    (import "arena:matrix/host@0.1.0" "log" (func $log (param i32 i32 i32)))
    (import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))
    (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
    (memory (export "memory") 1)
    (global $end (mut i32) (i32.const 0))
    (func $write (param $value i64) (local $digits i32)
      (local.set $digits (i32.const 16))
      (loop
        (i32.store8 (global.get $end)
          (i32.add (i32.const 97) (i32.and (i32.wrap_i64 (local.get $value)) (i32.const 15))))
        (global.set $end (i32.add (global.get $end) (i32.const 1)))
        (local.set $value (i64.shr_u (local.get $value) (i64.const 4)))
        (br_if 0 (local.tee $digits (i32.sub (local.get $digits) (i32.const 1))))))
    (func $say (call $log (i32.const 1) (i32.const 0) (global.get $end)) (global.set $end (i32.const 0)))
    (func (export "brief") (type $brief)
      (call $write (i64.extend_i32_u (local.get 0))) (call $write (i64.extend_i32_u (local.get 1)))
      (call $write (i64.extend_i32_u (local.get 2))) (call $write (i64.extend_i32_u (local.get 3)))
      (call $write (i64.extend_i32_u (local.get 4))) (call $say))
    (func (export "act") (type $act)
      (call $write (i64.extend_i32_u (local.get 0))) (call $write (i64.extend_i32_u (local.get 1)))
      (call $write (i64.extend_i32_u (local.get 2))) (call $write (i64.extend_i32_u (local.get 3)))
      (call $write (local.get 4)) (call $write (local.get 5))
      (call $write (call $random)) (call $write (call $now)) (call $say)
      (i32.and (local.get 0) (i32.const 1))))"#;

/// The same component under another digest: a custom section that nobody reads.
fn renamed(component: &[u8], name: &str) -> Vec<u8> {
    let name = name.as_bytes();
    let length = u8::try_from(name.len()).expect("a short name");
    [component, &[0, length + 1, length], name].concat()
}

fn heard(played: &PlayedMatrix, seat: usize) -> Vec<&str> {
    played.usage[seat].log.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn what_a_guest_is_given_does_not_depend_on_any_digest() {
    let spy = component(SPY);
    let other = component(r#"(module (func (export "act") (type $act) (i32.const 1)))"#);
    let strategy = |bytes: &[u8], name: &str| -> Strategy { load(host(), &renamed(bytes, name)) };
    let (first, second) = (strategy(&spy, "one"), strategy(&other, "two"));
    let played = play(&first, &second, 6);
    assert_eq!(heard(&played, 0).len(), 7, "the brief and every round");
    for (own, opponent) in [("another", "two"), ("one", "a longer name"), ("x", "tit-for-tat")] {
        let again = play(&strategy(&spy, own), &strategy(&other, opponent), 6);
        assert_ne!(strategy(&spy, own).digest() == first.digest(), own != "one");
        assert_eq!(again, played, "{own} vs {opponent}");
    }
}

/// The seat shows in nothing but the luck, which has to differ.
#[test]
fn what_a_guest_is_given_does_not_tell_its_seat() {
    let spy = load(host(), &component(SPY));
    let other = load(host(), &component(r#"(module (func (export "act") (type $act) (i32.const 1)))"#));
    let (first, second) = (play(&spy, &other, 6), play(&other, &spy, 6));
    let without_luck = |line: &&str| {
        assert!(line.is_ascii());
        // Six arguments, the luck, the clock; the brief has five and no more.
        if line.len() == 8 * 16 {
            format!("{}{}", &line[..6 * 16], &line[7 * 16..])
        } else {
            (*line).to_owned()
        }
    };
    let told = |played: &PlayedMatrix, seat| heard(played, seat).iter().map(without_luck).collect::<Vec<_>>();
    assert_eq!(told(&first, 0), told(&second, 1));
    assert_ne!(heard(&first, 0), heard(&second, 1), "the luck differs");
}
