//! Nothing survives from game to game: not in memory, not in globals, not in tables.

use arena_sandbox::{Host, HostOptions, Seats, play};

use super::guest::{component, load, pack, play_wat, seed};
use super::hostile::ending;

/// Leaves a mark wherever it can, and gives up if it finds one of an earlier game.
const MARKS: &str = r#"(module
    (memory (export "memory") 1)
    (data (i32.const 64) "canary")
    (global $mark (mut i64) (i64.const 0))
    (table $t 1 funcref)
    (elem declare func $f)
    (func $f)
    (func (export "brief") (type $brief)
      (if (i64.ne (global.get $mark) (i64.const 0)) (then unreachable))
      (if (i32.eqz (ref.is_null (table.get $t (i32.const 0)))) (then unreachable))
      (if (i32.ne (i32.load8_u (i32.const 64)) (i32.const 0x63)) (then unreachable))
      (if (i32.ne (memory.size) (i32.const 1)) (then unreachable))
      (if (i32.ne (table.size $t) (i32.const 1)) (then unreachable))
      (call $must_be_zero (i32.const 72) (i32.const 32768))
      (global.set $mark (i64.const 0x796c65666f72706d))
      (table.set $t (i32.const 0) (ref.func $f))
      (drop (table.grow $t (ref.func $f) (i32.const 5000)))
      (drop (memory.grow (i32.const 1023)))
      (call $must_be_zero (i32.const 65536) (i32.const 67108864))
      (memory.fill (i32.const 64) (i32.const 0xcc) (i32.const 67108800)))
    (func $must_be_zero (param $at i32) (param $end i32)
      (loop
        (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
        (br_if 0 (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end))))))"#;

/// Has no data of its own, so its memory is another kind of slot.
const LOOKS: &str = r#"(module
    (memory (export "memory") 1024)
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "brief") (type $brief) (local $at i32)
      (local.set $at (i32.const 65536))
      (loop
        (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
        (br_if 0 (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 67108864))))))"#;

/// A pool of one seat gives every game the same slot.
#[test]
fn a_later_game_finds_nothing_of_an_earlier_one() {
    for seats in [Seats::Pooled(1), Seats::OnDemand] {
        let host = Host::new(&HostOptions::new(seats)).expect("a host");
        let (marks, looks) = (load(&host, &component(MARKS)), load(&host, &component(LOOKS)));
        for (i, strategy) in [&marks, &marks, &looks, &marks].into_iter().enumerate() {
            let played = play(strategy, &pack(), seed()).expect("no host fault");
            assert_eq!(ending(played.forfeit.as_ref()), "acted", "{seats:?}, game {i}");
        }
    }
}

/// A guest that traps half-way leaves no more behind than one that ends well.
#[test]
fn a_trap_leaves_nothing_behind() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(1))).expect("a host");
    let trapping = MARKS.replace("(i32.const 67108800)))", "(i32.const 67108800)) unreachable)");
    assert_ne!(trapping, MARKS);
    let (marks, looks) = (load(&host, &component(&trapping)), load(&host, &component(LOOKS)));
    for _ in 0..2 {
        let played = play(&marks, &pack(), seed()).expect("no host fault");
        assert!(ending(played.forfeit.as_ref()).starts_with("trapped unreachable on brief"));
        let played = play(&looks, &pack(), seed()).expect("no host fault");
        assert_eq!(ending(played.forfeit.as_ref()), "acted");
    }
}

/// The guest's own view of what the host lowers: the text is there, and nothing around it.
#[test]
fn what_the_host_hands_over_has_nothing_around_it() {
    let played = play_wat(
        r#"(module
            (memory (export "memory") 2)
            (global $next (mut i32) (i32.const 65536))
            ;; Every allocation stands alone, 64 bytes from the next.
            (func (export "cabi_realloc") (param i32 i32 i32) (param $size i32) (result i32)
              (local $at i32)
              (local.set $at (global.get $next))
              (global.set $next (i32.and (i32.add (i32.add (local.get $at) (local.get $size)) (i32.const 127)) (i32.const -64)))
              (i32.store8 (i32.add (local.get $at) (local.get $size)) (i32.const 0))
              (local.get $at))
            ;; After the brief, every byte that is not of an allocation is still zero.
            (func (export "act") (type $act) (local $at i32)
              (local.set $at (i32.const 64))
              (loop
                (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
                (br_if 0 (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 65536))))
              (i32.const 0)))"#,
    );
    assert_eq!(ending(played.forfeit.as_ref()), "acted");
}
