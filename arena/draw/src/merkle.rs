//! The Merkle tree of RFC 6962 over SHA-256: leaves and nodes are hashed under different first bytes.

use arena_canon::Digest;

/// The hash of a leaf.
pub fn leaf_hash(leaf: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], leaf])
}

fn node_hash(left: Digest, right: Digest) -> Digest {
    Digest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The largest power of two below `n`, for `n` of 2 and more: where a tree is split.
fn split(n: usize) -> usize {
    1 << (n - 1).ilog2()
}

/// The root over hashed leaves.
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node_hash(root(left), root(right))
        }
    }
}

/// The neighbours on the way from the leaf at `index` to the root, the lowest first.
pub fn path(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let at = split(leaves.len());
    let (left, right) = leaves.split_at(at);
    let (mut below, neighbour) =
        if index < at { (path(index, left), root(right)) } else { (path(index - at, right), root(left)) };
    below.push(neighbour);
    below
}

/// The root that a path leads to; nothing if it does not fit a tree of `n` leaves.
pub fn root_of_path(n: u64, index: u64, leaf: Digest, path: &[Digest]) -> Option<Digest> {
    if index >= n {
        return None;
    }
    let (mut node, mut last) = (index, n - 1);
    let mut hash = leaf;
    for neighbour in path {
        if last == 0 {
            return None;
        }
        if node & 1 == 1 || node == last {
            hash = node_hash(*neighbour, hash);
            // The last node of a level without a partner rises until it has one.
            while node & 1 == 0 && node != 0 {
                node >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(hash, *neighbour);
        }
        node >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(hash)
}

/// The neighbours of a path, each with the leaves under it: from which on, and how many. Nothing if the path does not fit
/// a tree of `n` leaves.
pub fn neighbours(n: u64, index: u64, path: &[Digest]) -> Option<Vec<(std::ops::Range<u64>, Digest)>> {
    let mut ranges = Vec::new();
    let (mut from, mut to) = (0, n);
    while to.checked_sub(from)? > 1 {
        let middle = from + (1_u64 << (to - from - 1).ilog2());
        if index < middle {
            ranges.push(middle..to);
            to = middle;
        } else {
            ranges.push(from..middle);
            from = middle;
        }
    }
    ranges.reverse();
    (index < n && ranges.len() == path.len()).then(|| ranges.into_iter().zip(path.iter().copied()).collect())
}

/// A tree that grows: its root at every size, without hashing what was hashed before.
#[derive(Debug, Clone, Default)]
pub struct Growing {
    /// Whole subtrees from left to right, each smaller than the one before: how many leaves, and their root.
    whole: Vec<(u64, Digest)>,
}

impl Growing {
    /// Adds a hashed leaf.
    pub fn push(&mut self, leaf: Digest) {
        let (mut size, mut hash) = (1, leaf);
        while let Some((left, root)) = self.whole.pop_if(|(left, _)| *left == size) {
            (size, hash) = (left + size, node_hash(root, hash));
        }
        self.whole.push((size, hash));
    }

    /// The root over all leaves so far.
    pub fn root(&self) -> Digest {
        let mut from_right = self.whole.iter().rev().map(|(_, root)| *root);
        let last = from_right.next().unwrap_or_else(|| root(&[]));
        from_right.fold(last, |right, left| node_hash(left, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leaves with which certificate logs test their trees.
    const LEAVES: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];

    #[test]
    fn the_tree_is_that_of_certificate_logs() {
        let leaves = LEAVES.map(leaf_hash);
        for (n, want) in [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ] {
            assert_eq!(root(&leaves[..n]).to_string(), want, "{n} leaves");
        }
    }

    #[test]
    fn a_growing_tree_is_the_same_tree() {
        let leaves: Vec<Digest> = (0..70_u8).map(|i| leaf_hash(&[i])).collect();
        let mut growing = Growing::default();
        assert_eq!(growing.root(), root(&[]));
        for n in 1..=leaves.len() {
            growing.push(leaves[n - 1]);
            assert_eq!(growing.root(), root(&leaves[..n]), "{n} leaves");
            for index in 0..n {
                let path = path(index, &leaves[..n]);
                let found = neighbours(n as u64, index as u64, &path).expect("it fits");
                for (range, hash) in found {
                    let under = &leaves[range.start as usize..range.end as usize];
                    assert_eq!(root(under), hash, "{range:?} beside {index} of {n}");
                }
                assert_eq!(neighbours(n as u64, n as u64, &path), None);
            }
        }
    }

    #[test]
    fn every_path_leads_to_the_root() {
        let leaves: Vec<Digest> = (0..40_u8).map(|i| leaf_hash(&[i])).collect();
        for n in 1..=leaves.len() {
            for index in 0..n {
                let path = path(index, &leaves[..n]);
                let found = root_of_path(n as u64, index as u64, leaves[index], &path);
                assert_eq!(found, Some(root(&leaves[..n])), "{index} of {n}");
            }
        }
    }
}
