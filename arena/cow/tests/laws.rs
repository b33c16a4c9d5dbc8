//! The map is one of the standard library's, whatever is done to it, and no copy of it ever sees what is done to
//! another.

use std::collections::BTreeMap;
use std::ops::Bound;

use arena_cow::{CowMap, CowSet, Shared};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Insert(u16, u32),
    Set(u16, u32),
    Remove(u16),
    Change(u16, u32),
    Make(u16, u32),
    PopFirst,
    Retain(u32),
    Copy,
    Forget,
}

fn step() -> impl Strategy<Value = Step> {
    let key = || prop_oneof![0..400u16, 0..20u16];
    prop_oneof![
        8 => (key(), any::<u32>()).prop_map(|(key, value)| Step::Insert(key, value)),
        2 => (key(), any::<u32>()).prop_map(|(key, value)| Step::Set(key, value)),
        4 => key().prop_map(Step::Remove),
        3 => (key(), any::<u32>()).prop_map(|(key, value)| Step::Change(key, value)),
        2 => (key(), any::<u32>()).prop_map(|(key, value)| Step::Make(key, value)),
        1 => Just(Step::PopFirst),
        1 => (2..9u32).prop_map(Step::Retain),
        1 => Just(Step::Copy),
        1 => Just(Step::Forget),
    ]
}

fn text(key: u16) -> String {
    format!("{key:05}")
}

fn same(map: &CowMap<String, u32>, model: &BTreeMap<String, u32>) {
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
    assert!(map.iter().eq(model.iter()) && map.iter().rev().eq(model.iter().rev()));
    assert!(map.keys().eq(model.keys()) && map.values().eq(model.values()));
    assert_eq!(map.first_key_value(), model.first_key_value());
    assert_eq!(map.last_key_value(), model.last_key_value());
    assert_eq!(format!("{map:?}"), format!("{model:?}"));
}

/// One step on a map and on its model; what came of it is the same.
fn take(step: &Step, map: &mut CowMap<String, u32>, model: &mut BTreeMap<String, u32>) {
    match step {
        Step::Insert(key, value) => {
            assert_eq!(map.insert(text(*key), *value).map(|old| *old), model.insert(text(*key), *value));
        }
        Step::Set(key, value) => {
            map.set(text(*key), *value);
            model.insert(text(*key), *value);
        }
        Step::Remove(key) => {
            assert_eq!(map.remove(&text(*key)).map(|old| *old), model.remove(&text(*key)));
        }
        Step::Change(key, value) => {
            let (one, other) = (map.get_mut(&text(*key)), model.get_mut(&text(*key)));
            assert_eq!(one, other);
            one.into_iter().chain(other).for_each(|it| *it = *value);
        }
        Step::Make(key, value) => {
            let one = map.get_or_insert_with(text(*key), || *value);
            assert_eq!(one, model.entry(text(*key)).or_insert(*value));
            *one = value.wrapping_add(1);
            model.insert(text(*key), value.wrapping_add(1));
        }
        Step::PopFirst => {
            assert_eq!(map.pop_first().map(|(key, value)| (key, *value)), model.pop_first());
        }
        Step::Retain(n) => {
            map.retain(|_, value| !value.is_multiple_of(*n));
            model.retain(|_, value| !value.is_multiple_of(*n));
        }
        Step::Copy | Step::Forget => {}
    }
}

proptest! {
    #[test]
    fn a_map_is_the_standard_one_and_copies_are_apart(
        steps in vec(step(), 0..900),
        bounds in vec((0..420u16, 0..420u16, 0..9u8), 20),
    ) {
        let (mut map, mut model) = (CowMap::new(), BTreeMap::new());
        let mut copies = Vec::new();
        for step in &steps {
            match step {
                Step::Copy => copies.push((map.clone(), model.clone())),
                Step::Forget => drop(copies.pop()),
                other => take(other, &mut map, &mut model),
            }
        }
        same(&map, &model);
        copies.iter().for_each(|(map, model)| same(map, model));
        for key in 0..420 {
            prop_assert_eq!(map.get(&text(key)), model.get(&text(key)));
            prop_assert_eq!(map.contains_key(text(key).as_str()), model.contains_key(&text(key)));
        }
        let rebuilt: CowMap<_, _> = model.clone().into_iter().collect();
        prop_assert_eq!(&rebuilt, &map);
        for (from, to, kind) in bounds {
            let bound = |kind: u8, key: u16| match kind {
                0 => Bound::Unbounded,
                1 => Bound::Included(text(key)),
                _ => Bound::Excluded(text(key)),
            };
            let (low, high) = (bound(kind % 3, from), bound(kind / 3, to));
            let within = |key: &String| {
                let after = match &low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => key >= low,
                    Bound::Excluded(low) => key > low,
                };
                let before = match &high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => key <= high,
                    Bound::Excluded(high) => key < high,
                };
                after && before
            };
            let expected: Vec<_> = model.iter().filter(|(key, _)| within(key)).collect();
            let found: Vec<_> = map.range((low.clone(), high.clone())).collect();
            prop_assert_eq!(&found, &expected);
            let mut back: Vec<_> = map.range((low.clone(), high.clone())).rev().collect();
            back.reverse();
            prop_assert_eq!(&back, &expected);
            // From both ends at once, every entry comes once.
            let (mut ends, mut iter) = (Vec::new(), map.range((low, high)));
            while let Some(one) = iter.next() {
                ends.push(one);
                ends.extend(iter.next_back());
            }
            ends.sort_unstable();
            prop_assert_eq!(ends, expected);
        }
    }

    #[test]
    fn a_set_has_what_was_put_in(
        members in vec(0..300u64, 0..500),
        out in vec(0..300u64, 0..200),
        from in 0..300u64,
    ) {
        let (mut set, mut model) = (CowSet::new(), std::collections::BTreeSet::new());
        for member in members {
            prop_assert_eq!(set.insert(member), model.insert(member));
        }
        let before = set.clone();
        let all = model.clone();
        for member in out {
            prop_assert_eq!(set.remove(&member), model.remove(&member));
        }
        prop_assert!(set.iter().eq(model.iter()) && before.iter().eq(all.iter()));
        prop_assert!(set.range(..from).rev().eq(model.range(..from).rev()));
        prop_assert!(set.range(from..).eq(model.range(from..)));
        prop_assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
        prop_assert_eq!(set.contains(&from), model.contains(&from));
    }
}

#[test]
fn what_is_in_order_fills_its_pages_and_what_is_gone_leaves_none() {
    let mut map: CowMap<u64, u64> = (0..10_000).map(|n| (n, n)).collect();
    for n in 0..10_000 {
        assert_eq!(map.remove(&n).as_deref(), Some(&n));
    }
    assert!(map.is_empty() && map.iter().next().is_none() && map.iter().next_back().is_none());
    assert_eq!(map, CowMap::new());
}

#[test]
fn a_shared_value_changes_for_one_alone() {
    let mut one = Shared::new(vec![1]);
    let other = one.clone();
    assert!(one.is_same(&other));
    one.push(2);
    assert_eq!((one.len(), other.len()), (2, 1));
    assert!(!one.is_same(&other) && !Shared::new(0).is_same(&Shared::new(0)));
    assert_eq!(other.into_inner(), [1]);
}
