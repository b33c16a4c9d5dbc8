use std::borrow::Borrow;
use std::fmt;
use std::ops::RangeBounds;

use crate::CowMap;

/// A set in the order of its members, whose copies share what they have in common.
#[derive(Clone, PartialEq, Eq)]
pub struct CowSet<K>(CowMap<K, ()>);

impl<K> CowSet<K> {
    /// Nothing.
    pub fn new() -> Self {
        Self(CowMap::new())
    }

    /// How many members it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.keys()
    }
}

impl<K: Ord> CowSet<K> {
    /// Whether it has this member.
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// The members within bounds, in order.
    pub fn range<'a, Q, R>(&'a self, bounds: R) -> impl DoubleEndedIterator<Item = &'a K>
    where
        Q: Ord + ?Sized + 'a,
        K: Borrow<Q>,
        R: RangeBounds<Q>,
    {
        self.0.range(bounds).map(|(key, ())| key)
    }
}

impl<K: Ord + Clone> CowSet<K> {
    /// Puts a member in; whether it is new.
    pub fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// Takes a member out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key).is_some()
    }
}

impl<K> Default for CowSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Clone> FromIterator<K> for CowSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(members: I) -> Self {
        Self(members.into_iter().map(|key| (key, ())).collect())
    }
}

impl<K: fmt::Debug> fmt::Debug for CowSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
