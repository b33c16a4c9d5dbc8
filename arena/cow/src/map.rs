use std::borrow::Borrow;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Bound, Index, RangeBounds};
use std::slice;
use std::sync::Arc;

/// Entries of a page. A change copies the keys of one page and one value, so a page is small; a copy of the list of
/// pages is what is left, so a page is not too small.
const PAGE_MAX: usize = 64;
/// Below it, a page is joined with the next.
const PAGE_MIN: usize = PAGE_MAX / 4;

type Entry<K, V> = (K, Arc<V>);
type Page<K, V> = Vec<Entry<K, V>>;

/// A map in the order of its keys, whose copies share what they have in common.
///
/// A copy costs as much as that of a pointer. A change costs what it costs in any ordered map, and where copies
/// share, the keys of one page, one value, and a pointer for each page.
pub struct CowMap<K, V> {
    /// No page is empty.
    pages: Arc<Vec<Arc<Page<K, V>>>>,
    len: usize,
}

impl<K, V> CowMap<K, V> {
    /// Nothing.
    pub fn new() -> Self {
        Self { pages: Arc::default(), len: 0 }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { pages: &self.pages, front: [].iter(), back: [].iter() }
    }

    /// All keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The entry that comes first.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.pages.first()?.first().map(|(key, value)| (key, &**value))
    }

    /// The entry that comes last.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.pages.last()?.last().map(|(key, value)| (key, &**value))
    }
}

/// Where a key is, or would be.
struct Place {
    page: usize,
    entry: Result<usize, usize>,
}

impl<K: Ord, V> CowMap<K, V> {
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Place
    where
        K: Borrow<Q>,
    {
        let begins_at_or_before =
            |page: &Arc<Page<K, V>>| page.first().is_some_and(|(first, _)| first.borrow() <= key);
        let page = self.pages.partition_point(begins_at_or_before).saturating_sub(1);
        let entry = self
            .pages
            .get(page)
            .map_or(Err(0), |page| page.binary_search_by(|(found, _)| found.borrow().cmp(key)));
        Place { page, entry }
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let Place { page, entry } = self.place(key);
        Some(&*self.pages.get(page)?[entry.ok()?].1)
    }

    /// Whether there is a value for a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).entry.is_ok()
    }

    /// The entries whose keys are within bounds, in order. Bounds that exclude each other hold nothing.
    pub fn range<Q, R>(&self, bounds: R) -> Iter<'_, K, V>
    where
        Q: Ord + ?Sized,
        K: Borrow<Q>,
        R: RangeBounds<Q>,
    {
        let from = match bounds.start_bound() {
            Bound::Unbounded => (0, 0),
            Bound::Included(key) => self.cut(key, false),
            Bound::Excluded(key) => self.cut(key, true),
        };
        let to = match bounds.end_bound() {
            Bound::Unbounded => (self.pages.len(), 0),
            Bound::Included(key) => self.cut(key, true),
            Bound::Excluded(key) => self.cut(key, false),
        };
        if from >= to {
            return Iter { pages: &[], front: [].iter(), back: [].iter() };
        }
        let of = |page: usize| self.pages.get(page).map_or(&[][..], |page| page.as_slice());
        if from.0 == to.0 {
            return Iter { pages: &[], front: of(from.0)[from.1..to.1].iter(), back: [].iter() };
        }
        let front = of(from.0)[from.1..].iter();
        Iter { pages: &self.pages[from.0 + 1..to.0], front, back: of(to.0)[..to.1].iter() }
    }

    /// The place before a key, or after it.
    fn cut<Q: Ord + ?Sized>(&self, key: &Q, after: bool) -> (usize, usize)
    where
        K: Borrow<Q>,
    {
        let Place { page, entry } = self.place(key);
        (page, entry.map_or_else(|would_be| would_be, |at| at + usize::from(after)))
    }
}

impl<K: Ord + Clone, V: Clone> CowMap<K, V> {
    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let Place { page, entry } = self.place(key);
        let entry = entry.ok()?;
        let page = Arc::make_mut(Arc::make_mut(&mut self.pages).get_mut(page)?);
        Some(Arc::make_mut(&mut page[entry].1))
    }
}

impl<K: Ord + Clone, V> CowMap<K, V> {
    /// Puts a value in; gives the one that was there. Who shares that one keeps it.
    pub fn insert(&mut self, key: K, value: V) -> Option<Arc<V>> {
        let place = self.place(&key);
        let value = Arc::new(value);
        match place.entry {
            Ok(entry) => {
                let page = Arc::make_mut(&mut Arc::make_mut(&mut self.pages)[place.page]);
                Some(std::mem::replace(&mut page[entry].1, value))
            }
            Err(entry) => {
                self.insert_at((place.page, entry), key, value);
                None
            }
        }
    }

    /// Puts a value in, in place of the one that was there.
    pub fn set(&mut self, key: K, value: V) {
        let place = self.place(&key);
        match place.entry {
            Ok(entry) => {
                let page = Arc::make_mut(&mut Arc::make_mut(&mut self.pages)[place.page]);
                let old = &mut page[entry].1;
                match Arc::get_mut(old) {
                    Some(own) => *own = value,
                    None => *old = Arc::new(value),
                }
            }
            Err(entry) => self.insert_at((place.page, entry), key, Arc::new(value)),
        }
    }

    /// Puts in what is not there.
    fn insert_at(&mut self, (at, entry): (usize, usize), key: K, value: Arc<V>) {
        self.len += 1;
        let pages = Arc::make_mut(&mut self.pages);
        let is_last = at + 1 == pages.len();
        let Some(page) = pages.get_mut(at) else {
            pages.push(Arc::new(vec![(key, value)]));
            return;
        };
        if page.len() < PAGE_MAX {
            Arc::make_mut(page).insert(entry, (key, value));
        } else if is_last && entry == PAGE_MAX {
            // What comes in order fills its pages.
            pages.push(Arc::new(vec![(key, value)]));
        } else {
            let page = Arc::make_mut(page);
            let mut rest = page.split_off(PAGE_MAX / 2);
            match entry.checked_sub(PAGE_MAX / 2) {
                Some(entry) => rest.insert(entry, (key, value)),
                None => page.insert(entry, (key, value)),
            }
            pages.insert(at + 1, Arc::new(rest));
        }
    }

    /// Takes a value out. Who shares it keeps it.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        let Place { page: at, entry } = self.place(key);
        let entry = entry.ok()?;
        self.len -= 1;
        let pages = Arc::make_mut(&mut self.pages);
        let page = Arc::make_mut(&mut pages[at]);
        let (_, removed) = page.remove(entry);
        if page.is_empty() {
            pages.remove(at);
        } else if page.len() < PAGE_MIN
            && let Some(next) = pages.get(at + 1)
            && next.len() + pages[at].len() <= PAGE_MAX - PAGE_MIN
        {
            let next = pages.remove(at + 1);
            Arc::make_mut(&mut pages[at]).extend(Arc::unwrap_or_clone(next));
        }
        Some(removed)
    }

    /// Takes the first entry out.
    pub fn pop_first(&mut self) -> Option<(K, Arc<V>)> {
        let first = self.first_key_value()?.0.clone();
        self.remove(&first).map(|value| (first, value))
    }

    /// Keeps only the entries that are wanted. What is wanted is not copied.
    pub fn retain(&mut self, mut wants: impl FnMut(&K, &V) -> bool) {
        let unwanted: Vec<K> =
            self.iter().filter(|(key, value)| !wants(key, value)).map(|(key, _)| key.clone()).collect();
        for key in unwanted {
            self.remove(&key);
        }
    }
}

impl<K: Ord + Clone, V: Clone> CowMap<K, V> {
    /// The value of a key, to be changed; made where there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(&key);
        let (page, entry) = match place.entry {
            Ok(entry) => (place.page, entry),
            Err(entry) => {
                self.insert_at((place.page, entry), key.clone(), Arc::new(make()));
                let place = self.place(&key);
                (place.page, place.entry.unwrap_or_default())
            }
        };
        let page = Arc::make_mut(&mut Arc::make_mut(&mut self.pages)[page]);
        Arc::make_mut(&mut page[entry].1)
    }

    /// The same with the value that a type begins with.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }
}

impl<K, V> Clone for CowMap<K, V> {
    fn clone(&self) -> Self {
        Self { pages: Arc::clone(&self.pages), len: self.len }
    }
}

impl<K, V> Default for CowMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for CowMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for CowMap<K, V> {}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for CowMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Ord + Clone, V> Extend<(K, V)> for CowMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.set(key, value);
        }
    }
}

impl<K: Ord + Clone, V> FromIterator<(K, V)> for CowMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for CowMap<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// If there is no value for the key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("there is a value for the key")
    }
}

impl<'a, K, V> IntoIterator for &'a CowMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

/// Entries of a map in the order of their keys.
pub struct Iter<'a, K, V> {
    pages: &'a [Arc<Page<K, V>>],
    front: slice::Iter<'a, Entry<K, V>>,
    back: slice::Iter<'a, Entry<K, V>>,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.front.next() {
                return Some((key, value));
            }
            match self.pages.split_first() {
                Some((page, rest)) => (self.front, self.pages) = (page.iter(), rest),
                None => return self.back.next().map(|(key, value)| (key, &**value)),
            }
        }
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.back.next_back() {
                return Some((key, value));
            }
            match self.pages.split_last() {
                Some((page, rest)) => (self.back, self.pages) = (page.iter(), rest),
                None => return self.front.next_back().map(|(key, value)| (key, &**value)),
            }
        }
    }
}

impl<K, V> FusedIterator for Iter<'_, K, V> {}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self { pages: self.pages, front: self.front.clone(), back: self.back.clone() }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}
