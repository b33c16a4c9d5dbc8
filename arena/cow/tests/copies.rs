//! What a copy costs, and what a change costs where copies share: counted in keys and values that are copied, so that
//! no machine is too slow for it.

use std::cell::Cell;

use arena_cow::{CowMap, CowSet, Shared};

thread_local! {
    static COPIED: Cell<usize> = const { Cell::new(0) };
}

/// A number that knows when it is copied.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Counted(u64);

impl Clone for Counted {
    fn clone(&self) -> Self {
        COPIED.with(|copied| copied.set(copied.get() + 1));
        Self(self.0)
    }
}

fn copied<T>(what: impl FnOnce() -> T) -> (T, usize) {
    let before = COPIED.with(Cell::get);
    let done = what();
    (done, COPIED.with(Cell::get) - before)
}

/// Keys of one page.
const PAGE: usize = 64;

#[test]
fn a_copy_costs_nothing_and_a_change_the_keys_of_a_page() {
    let mut keys: CowMap<Counted, u64> = (0..50_000).map(|n| (Counted(n), n)).collect();
    let (copy, cost) = copied(|| keys.clone());
    assert_eq!(cost, 0, "of a copy");
    for n in [0, 777, 25_000, 49_999] {
        let copy = keys.clone();
        let (_, cost) = copied(|| *keys.get_mut(&Counted(n)).unwrap() = 7);
        assert!((1..=PAGE).contains(&cost), "{cost} keys for a change");
        let (_, cost) = copied(|| *keys.get_mut(&Counted(n)).unwrap() = 8);
        assert_eq!(cost, 0, "by then the page is one's own");
        drop(copy);
        let copy = keys.clone();
        let (_, cost) = copied(|| keys.remove(&Counted(n)));
        assert!(cost <= 2 * PAGE, "{cost} keys to take one out");
        let (_, cost) = copied(|| keys.insert(Counted(n), n));
        assert!(cost <= 2 * PAGE, "{cost} keys to put one in");
        drop(copy);
    }
    assert!(copy.iter().all(|(key, value)| key.0 == *value), "a copy is apart");
}

#[test]
fn a_change_copies_one_value_and_only_if_somebody_else_has_it() {
    let mut values: CowMap<u64, Counted> = (0..10_000).map(|n| (n, Counted(n))).collect();
    let (_, cost) = copied(|| values.get_mut(&5_000).unwrap().0 = 1);
    assert_eq!(cost, 0);
    let copy = values.clone();
    let (_, cost) = copied(|| values.get_mut(&5_000).unwrap().0 = 2);
    assert_eq!(cost, 1);
    let (_, cost) = copied(|| {
        values.set(5_000, Counted(3));
        values.insert(10_001, Counted(4));
        values.retain(|key, _| key % 2 == 1);
        values.remove(&10_001);
    });
    assert_eq!((cost, copy[&5_000].0, values.len()), (0, 1, 5_000));
}

#[test]
fn a_shared_value_is_copied_when_it_is_changed_and_others_have_it() {
    let mut own = Shared::new(Counted(1));
    let other = own.clone();
    let (_, cost) = copied(|| own.0 = 2);
    assert_eq!((cost, own.0, other.0), (1, 2, 1));
    let (_, cost) = copied(|| own.0 = 3);
    assert_eq!(cost, 0);
    let (_, cost) = copied(|| own.into_inner());
    assert_eq!(cost, 0);
    let set: CowSet<Counted> = (0..1_000).map(Counted).collect();
    assert_eq!(copied(|| set.clone()).1, 0);
}
