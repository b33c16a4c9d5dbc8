//! The tree of a log with all of its hashes, so that a leaf is added and anything proven without hashing it all again.
//!
//! Nodes are shared: a copy of a tree costs as much as its right edge, and the tree it was copied from may go on
//! growing.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arena_canon::Digest;
use arena_draw::merkle;

/// A whole subtree: its root, and its halves if it has more than one leaf.
struct Node {
    root: Digest,
    halves: Option<(Arc<Node>, Arc<Node>)>,
}

/// A Merkle tree of RFC 6962 that grows by one hashed leaf at a time.
#[derive(Clone, Default)]
pub struct Tree {
    /// Whole subtrees from left to right, each smaller than the one before: how many leaves, and the subtree.
    whole: Vec<(u64, Arc<Node>)>,
    size: u64,
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({} leaves, {})", self.size, self.root())
    }
}

fn above(left: Digest, right: Digest) -> Digest {
    merkle::root(&[left, right])
}

/// Where a tree over a range of two leaves or more is split.
fn middle(of: &Range<u64>) -> u64 {
    let below = of.end.saturating_sub(of.start).saturating_sub(1).max(1);
    of.start.saturating_add(1 << below.ilog2())
}

fn length(of: &Range<u64>) -> u64 {
    of.end.saturating_sub(of.start)
}

impl Tree {
    /// How many leaves it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a hashed leaf.
    pub fn push(&mut self, leaf: Digest) {
        let (mut leaves, mut node) = (1_u64, Arc::new(Node { root: leaf, halves: None }));
        while let Some((_, left)) = self.whole.pop_if(|(size, _)| *size == leaves) {
            let root = above(left.root, node.root);
            node = Arc::new(Node { root, halves: Some((left, node)) });
            leaves = leaves.saturating_mul(2);
        }
        self.whole.push((leaves, node));
        self.size = self.size.saturating_add(1);
    }

    /// The root over all leaves.
    pub fn root(&self) -> Digest {
        let mut from_right = self.whole.iter().rev().map(|(_, node)| node.root);
        let last = from_right.next().unwrap_or_else(|| merkle::root(&[]));
        from_right.fold(last, |right, left| above(left, right))
    }

    /// The root over the first `size` leaves; nothing if there are fewer.
    pub fn root_at(&self, size: u64) -> Option<Digest> {
        match size {
            0 => Some(merkle::root(&[])),
            _ if size > self.size => None,
            _ => self.over(&(0..size)),
        }
    }

    /// The leaf at a place, counted from 0.
    pub fn leaf(&self, index: u64) -> Option<Digest> {
        self.kept(&(index..index.checked_add(1)?))
    }

    /// The way from a leaf to the root over the first `size`, the lowest neighbour first; nothing if it is not there.
    pub fn path(&self, index: u64, size: u64) -> Option<Vec<Digest>> {
        (index < size && size <= self.size).then_some(())?;
        let (mut range, mut path) = (0..size, Vec::new());
        while length(&range) > 1 {
            let middle = middle(&range);
            let (stay, leave) = match index < middle {
                true => (range.start..middle, middle..range.end),
                false => (middle..range.end, range.start..middle),
            };
            path.push(self.over(&leave)?);
            range = stay;
        }
        path.reverse();
        Some(path)
    }

    /// That the tree of the first `from` leaves is the beginning of that of the first `to`; nothing if there are fewer.
    pub fn consistency(&self, from: u64, to: u64) -> Option<Vec<Digest>> {
        (from <= to && to <= self.size).then_some(())?;
        let (mut range, mut proof, mut is_known) = (0..to, Vec::new(), true);
        if from == 0 || from == to {
            return Some(proof);
        }
        while range.end != from {
            let middle = middle(&range);
            let (stay, leave) = match from <= middle {
                true => (range.start..middle, middle..range.end),
                false => (middle..range.end, range.start..middle),
            };
            is_known = is_known && from <= middle;
            proof.push(self.over(&leave)?);
            range = stay;
        }
        if !is_known {
            proof.push(self.over(&range)?);
        }
        proof.reverse();
        Some(proof)
    }

    /// The root over a range as trees are split into.
    fn over(&self, range: &Range<u64>) -> Option<Digest> {
        if let Some(root) = self.kept(range) {
            return Some(root);
        }
        (length(range) > 1).then_some(())?;
        let middle = middle(range);
        Some(above(self.over(&(range.start..middle))?, self.over(&(middle..range.end))?))
    }

    /// The same of a whole subtree, which is looked up.
    fn kept(&self, range: &Range<u64>) -> Option<Digest> {
        let mut start = 0_u64;
        for (leaves, node) in &self.whole {
            let end = start.saturating_add(*leaves);
            if range.start < end {
                return find(node, start..end, range);
            }
            start = end;
        }
        None
    }
}

fn find(node: &Node, at: Range<u64>, range: &Range<u64>) -> Option<Digest> {
    let (mut node, mut at) = (node, at);
    while at != *range {
        let middle = middle(&at);
        let (left, right) = node.halves.as_ref()?;
        (node, at) = match (range.end <= middle, range.start >= middle) {
            (true, _) => (&**left, at.start..middle),
            (_, true) => (&**right, middle..at.end),
            _ => return None,
        };
        (at.start <= range.start && range.end <= at.end).then_some(())?;
    }
    Some(node.root)
}

/// A tree by its size and its root.
pub type Head = (u64, Digest);

/// Whether a proof leads from one tree to another that begins with it, as RFC 9162 has it.
pub fn is_consistent((from, from_root): Head, (to, to_root): Head, proof: &[Digest]) -> bool {
    if from == 0 {
        return proof.is_empty() && from_root == merkle::root(&[]);
    }
    if from >= to {
        return from == to && proof.is_empty() && from_root == to_root;
    }
    let (mut node, mut last) = (from.saturating_sub(1), to.saturating_sub(1));
    while node & 1 == 1 {
        (node, last) = (node >> 1, last >> 1);
    }
    let mut rest = proof.iter().copied();
    // Of a whole tree the verifier has the root already.
    let first = if from.is_power_of_two() { Some(from_root) } else { rest.next() };
    let Some(first) = first else { return false };
    let (mut old, mut new) = (first, first);
    for neighbour in rest {
        if last == 0 {
            return false;
        }
        if node & 1 == 1 || node == last {
            (old, new) = (above(neighbour, old), above(neighbour, new));
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            new = above(new, neighbour);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    last == 0 && old == from_root && new == to_root
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 70;

    fn leaves() -> Vec<Digest> {
        (0..MOST as u8).map(|i| merkle::leaf_hash(&[i])).collect()
    }

    fn grown(size: usize) -> Tree {
        let mut tree = Tree::default();
        leaves()[..size].iter().for_each(|leaf| tree.push(*leaf));
        tree
    }

    /// RFC 6962, as it is written there: `SUBPROOF(m, D[n], b)`.
    fn written(m: usize, leaves: &[Digest], is_known: bool) -> Vec<Digest> {
        let n = leaves.len();
        if m == n {
            return if is_known { Vec::new() } else { vec![merkle::root(leaves)] };
        }
        let k = 1 << (n - 1).ilog2();
        if m <= k {
            let mut proof = written(m, &leaves[..k], is_known);
            proof.push(merkle::root(&leaves[k..]));
            proof
        } else {
            let mut proof = written(m - k, &leaves[k..], false);
            proof.push(merkle::root(&leaves[..k]));
            proof
        }
    }

    #[test]
    fn it_is_the_tree_that_is_hashed_anew_at_every_size_and_place() {
        let leaves = leaves();
        let mut tree = Tree::default();
        assert_eq!((tree.size(), tree.root()), (0, merkle::root(&[])));
        for size in 1..=MOST {
            let before = tree.clone();
            tree.push(leaves[size - 1]);
            assert_eq!((tree.size(), tree.root()), (size as u64, merkle::root(&leaves[..size])));
            assert_eq!(before.root(), merkle::root(&leaves[..size - 1]), "a copy stays as it was");
        }
        for size in 1..=MOST {
            assert_eq!(tree.root_at(size as u64), Some(merkle::root(&leaves[..size])), "{size}");
            for index in 0..size {
                let path = tree.path(index as u64, size as u64);
                assert_eq!(path, Some(merkle::path(index, &leaves[..size])), "{index} of {size}");
            }
            assert_eq!(tree.leaf(size as u64 - 1), Some(leaves[size - 1]));
        }
        let most = MOST as u64;
        assert_eq!((tree.root_at(0), tree.root_at(most + 1)), (Some(merkle::root(&[])), None));
        assert_eq!((tree.leaf(most), tree.leaf(u64::MAX)), (None, None));
        assert_eq!((tree.path(5, 5), tree.path(0, most + 1)), (None, None));
        assert_eq!((tree.consistency(3, 2), tree.consistency(1, most + 1)), (None, None));
    }

    #[test]
    fn every_tree_is_shown_to_begin_every_later_one() {
        let leaves = leaves();
        let tree = grown(MOST);
        let head = |size: usize| (size as u64, merkle::root(&leaves[..size]));
        for to in 1..=MOST {
            for from in 1..=to {
                let proof = tree.consistency(from as u64, to as u64).expect("a proof");
                assert_eq!(proof, written(from, &leaves[..to], true), "{from} in {to}");
                assert!(is_consistent(head(from), head(to), &proof), "{from} in {to}");
            }
            assert_eq!(tree.consistency(0, to as u64), Some(Vec::new()));
            assert!(is_consistent(head(0), head(to), &[]));
        }
    }

    #[test]
    fn whatever_is_changed_in_a_proof_leads_nowhere() {
        let leaves = leaves();
        let tree = grown(MOST);
        let head = |size: usize| (size as u64, merkle::root(&leaves[..size]));
        let other = Digest::of(b"other");
        for (from, to) in (1..=20).flat_map(|to| (1..=to).map(move |from| (from, to))) {
            let good = tree.consistency(from as u64, to as u64).expect("a proof");
            let holds = |proof: &[Digest]| is_consistent(head(from), head(to), proof);
            for place in 0..good.len() {
                let mut changed = good.clone();
                changed[place] = other;
                assert!(!holds(&changed), "{from} in {to} at {place}");
                changed.remove(place);
                assert!(!holds(&changed), "{from} in {to} without {place}");
            }
            assert!(!holds(&[&good[..], &[other]].concat()), "{from} in {to} with more");
            assert!(!is_consistent((from as u64, other), head(to), &good), "{from} in {to}");
            assert!(!is_consistent(head(from), (to as u64, other), &good), "{from} in {to}");
            if from < to {
                assert!(!is_consistent(head(to), head(from), &good), "{to} in {from}");
            }
        }
        assert!(!is_consistent((0, other), head(3), &[]) && !is_consistent(head(0), head(3), &[other]));
        assert!(!is_consistent((u64::MAX - 1, other), (u64::MAX, other), &[other]));
    }
}
