//! A turn allocates nothing on the host, native or sandboxed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use arena_engine::campus::{Action, Competitor, Episode, Pack};
use arena_engine::{HostFault, Turn};
use arena_sandbox::{Host, HostOptions, Seats, admit};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is an unsafe trait; this one only counts and passes on")]
// SAFETY: every call goes to the system's allocator with the caller's own arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    // A thread that is going away has no counter any more.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Asks for something on every turn, so that every limit bites somewhere.
struct Busy;

impl Competitor for Busy {
    fn brief(
        &mut self,
        _: &Pack,
    ) -> Result<Option<(arena_engine::During, arena_engine::Forfeit)>, HostFault> {
        Ok(None)
    }

    fn act(&mut self, seen: &arena_engine::campus::Observation<'_>) -> Result<Turn<Action>, HostFault> {
        let swing = f64::from(seen.turn() % 5) * 40.0 - 80.0;
        let noticed = seen.notices().count() + seen.events().count();
        Ok(Turn::Acted(Action {
            curtail_mw: swing,
            battery_mw: swing,
            diesel_mw: noticed as f64,
            accept_offer: true,
        }))
    }
}

/// Plays all turns and gives how many of them allocated.
fn turns_that_allocated(pack: &Arc<Pack>, who: &mut dyn Competitor) -> Vec<u32> {
    let mut episode = Episode::new(Arc::clone(pack));
    assert!(matches!(who.brief(pack), Ok(None)));
    let mut allocated = Vec::with_capacity(pack.turns() as usize);
    while let Some(seen) = episode.observe() {
        let (turn, before) = (seen.turn(), allocations());
        let Ok(Turn::Acted(asked)) = who.act(&seen) else { panic!("turn {turn} was forfeited") };
        episode.commit(asked);
        if allocations() != before {
            allocated.push(turn);
        }
    }
    allocated
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(Box::new(1)));
    assert!(allocations() > before);
}

#[test]
fn a_native_turn_allocates_nothing() {
    for (name, _) in arena_benches::PACKS {
        assert_eq!(turns_that_allocated(&arena_benches::pack(name), &mut Busy), [0u32; 0], "{name}");
    }
}

#[test]
fn a_matrix_round_allocates_nothing() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(2))).expect("a host");
    let admitted = admit(&arena_benches::tit_for_tat_component()).expect("admitted");
    let strategy = host.load(&admitted).expect("compiled");
    let rules = arena_benches::matrix::rules(1_000);
    let mut rounds = arena_benches::matrix::Rounds::setup(&strategy, &rules).expect("seated");
    let before = allocations();
    rounds.run().expect("played");
    assert_eq!(allocations() - before, 0, "in a thousand rounds of both seats");
}

#[test]
fn a_sandboxed_turn_allocates_nothing() {
    let host = Host::new(&HostOptions::new(Seats::Pooled(1))).expect("a host");
    let admitted = admit(&arena_benches::empty_component()).expect("admitted");
    let strategy = host.load(&admitted).expect("compiled");
    for (name, _) in arena_benches::PACKS {
        let pack = arena_benches::pack(name);
        let mut seat = strategy.seat(arena_canon::Digest::of(b"seed"), 0).expect("seated");
        assert_eq!(turns_that_allocated(&pack, &mut seat), [0u32; 0], "{name}");
    }
}
