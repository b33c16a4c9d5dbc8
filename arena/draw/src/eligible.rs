//! Who may be drawn, in the one order that is committed. No stake, no standing: callers decide who is in.

use std::sync::Arc;

use arena_canon::Digest;

use crate::merkle;

/// Most entries of one draw.
pub const ENTRIES_MAX: usize = 100_000;
/// Most bytes of an agent's or an operator's id.
pub const ID_BYTES_MAX: usize = 128;
/// Most tickets of all entries together, 2^63 - 1: every sum of a pool is a bound the stream can draw below.
pub const TICKETS_MAX: u64 = i64::MAX as u64;

/// One agent that may be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id, unique in the set.
    pub agent: String,
    /// Who runs it. With one agent of an operator seated, the others leave the pool.
    pub operator: String,
    /// Its chances, at least 1.
    pub tickets: u64,
}

impl Entry {
    /// An entry of these parts.
    pub fn new(agent: impl Into<String>, operator: impl Into<String>, tickets: u64) -> Self {
        Self { agent: agent.into(), operator: operator.into(), tickets }
    }

    /// `lp(agent) || lp(operator) || u64(tickets)`, as it is hashed into the tree.
    pub(crate) fn leaf(&self) -> Vec<u8> {
        let mut leaf = Vec::with_capacity(16 + self.agent.len() + self.operator.len());
        self.write_leaf(&mut leaf);
        leaf
    }

    fn write_leaf(&self, leaf: &mut Vec<u8>) {
        for id in [&self.agent, &self.operator] {
            let length = u32::try_from(id.len()).expect("an id has at most 128 bytes");
            leaf.extend_from_slice(&length.to_be_bytes());
            leaf.extend_from_slice(id.as_bytes());
        }
        leaf.extend_from_slice(&self.tickets.to_be_bytes());
    }
}

/// Why entries are no eligible set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EligibleError {
    /// More entries than one draw takes.
    #[error("{count} entries; a draw takes at most {ENTRIES_MAX}")]
    TooMany {
        /// Entries given.
        count: usize,
    },
    /// One entry that cannot stand where it stands.
    #[error("entry {index}: {fault}")]
    Entry {
        /// Its position, from 0.
        index: usize,
        /// What is wrong with it.
        fault: EntryFault,
    },
}

/// What is wrong with one entry, in itself or after those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// The agent's id is empty or too long.
    #[error("the agent's id has {bytes} bytes; an id has 1 to {ID_BYTES_MAX}")]
    AgentLength {
        /// Its bytes.
        bytes: usize,
    },
    /// The operator's id is empty or too long.
    #[error("the operator's id has {bytes} bytes; an id has 1 to {ID_BYTES_MAX}")]
    OperatorLength {
        /// Its bytes.
        bytes: usize,
    },
    /// No tickets.
    #[error("0 tickets; an entry has at least 1")]
    NoTickets,
    /// The agent was already named by the entry before.
    #[error("the agent stands twice")]
    Twice,
    /// The agent's id sorts before the entry before.
    #[error("out of order: entries ascend by the bytes of the agent's id")]
    OutOfOrder,
    /// With this entry the tickets exceed what can be drawn below.
    #[error("the tickets up to here exceed {TICKETS_MAX}")]
    TooManyTickets,
}

/// Entries that may be committed: ascending by agent, none twice, sums within bounds. There may be none.
/// Copies share the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Eligible {
    entries: Arc<[Entry]>,
    total: u64,
    root: Digest,
}

impl Eligible {
    /// Takes entries that are in order already; anything else is no commitment.
    pub fn new(entries: Vec<Entry>) -> Result<Self, EligibleError> {
        if entries.len() > ENTRIES_MAX {
            return Err(EligibleError::TooMany { count: entries.len() });
        }
        if let Some((index, fault)) = faults(&entries).next() {
            return Err(EligibleError::Entry { index, fault });
        }
        let total = entries.iter().map(|entry| entry.tickets).sum();
        let root = merkle::root(&leaf_hashes(&entries));
        Ok(Self { entries: entries.into(), total, root })
    }

    /// Puts entries in order first. An agent that stands twice is still an error.
    pub fn sorted(mut entries: Vec<Entry>) -> Result<Self, EligibleError> {
        entries.sort_by(|a, b| a.agent.cmp(&b.agent));
        Self::new(entries)
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many there are.
    pub fn n(&self) -> u64 {
        self.entries.len() as u64
    }

    /// All tickets together.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The root of the tree over the entries (RFC 6962, SHA-256): what is committed.
    pub fn root(&self) -> Digest {
        self.root
    }

    /// What shows that the entry at `index` is under the root: the neighbours on its way up (RFC 6962).
    pub fn inclusion(&self, index: usize) -> Option<Vec<Digest>> {
        (index < self.entries.len()).then(|| merkle::path(index, &leaf_hashes(&self.entries)))
    }

    /// A set of everybody else, as for a draw after one operator dropped out.
    #[must_use]
    pub fn without_operator(&self, operator: &str) -> Self {
        let stays = |entry: &&Entry| entry.operator != operator;
        let entries: Vec<Entry> = self.entries.iter().filter(stays).cloned().collect();
        Self::new(entries).expect("a part of an eligible set, in its order, is one")
    }
}

/// Whether `entry` is the one at `index` of the `n` entries under `root`.
pub fn includes(root: Digest, n: u64, index: u64, entry: &Entry, path: &[Digest]) -> bool {
    let short = |id: &String| (1..=ID_BYTES_MAX).contains(&id.len());
    short(&entry.agent)
        && short(&entry.operator)
        && merkle::root_of_path(n, index, merkle::leaf_hash(&entry.leaf()), path) == Some(root)
}

fn leaf_hashes(entries: &[Entry]) -> Vec<Digest> {
    let mut leaf = Vec::new();
    let hash = |entry: &Entry| {
        leaf.clear();
        entry.write_leaf(&mut leaf);
        merkle::leaf_hash(&leaf)
    };
    entries.iter().map(hash).collect()
}

/// Everything that is wrong with `entries`, by position.
pub(crate) fn faults(entries: &[Entry]) -> impl Iterator<Item = (usize, EntryFault)> {
    let mut before: Option<&str> = None;
    let mut sum = Some(0_u64);
    entries.iter().enumerate().flat_map(move |(index, entry)| {
        let mut found = Vec::new();
        let bad_length = |id: &str| !(1..=ID_BYTES_MAX).contains(&id.len());
        if bad_length(&entry.agent) {
            found.push(EntryFault::AgentLength { bytes: entry.agent.len() });
        }
        if bad_length(&entry.operator) {
            found.push(EntryFault::OperatorLength { bytes: entry.operator.len() });
        }
        if entry.tickets == 0 {
            found.push(EntryFault::NoTickets);
        }
        match before.map(|before| before.cmp(entry.agent.as_str())) {
            Some(std::cmp::Ordering::Equal) => found.push(EntryFault::Twice),
            Some(std::cmp::Ordering::Greater) => found.push(EntryFault::OutOfOrder),
            Some(std::cmp::Ordering::Less) | None => {}
        }
        before = Some(&entry.agent);
        // Told once, where it happens.
        if let Some(so_far) = sum {
            sum = so_far.checked_add(entry.tickets).filter(|sum| *sum <= TICKETS_MAX);
            if sum.is_none() {
                found.push(EntryFault::TooManyTickets);
            }
        }
        found.into_iter().map(move |fault| (index, fault))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(entries: Vec<Entry>, index: usize, fault: EntryFault) {
        assert_eq!(Eligible::new(entries), Err(EligibleError::Entry { index, fault }));
    }

    #[test]
    fn what_cannot_be_committed_is_refused() {
        let a = || Entry::new("a", "x", 1);
        refused(vec![a(), Entry::new("a", "y", 1)], 1, EntryFault::Twice);
        refused(vec![Entry::new("b", "x", 1), a()], 1, EntryFault::OutOfOrder);
        refused(vec![Entry::new("", "x", 1)], 0, EntryFault::AgentLength { bytes: 0 });
        refused(vec![Entry::new("a", "", 1)], 0, EntryFault::OperatorLength { bytes: 0 });
        let long = "é".repeat(65);
        refused(
            vec![a(), Entry::new(&*long, "x", 1)].split_off(1),
            0,
            EntryFault::AgentLength { bytes: 130 },
        );
        refused(vec![a(), Entry::new("b", "x", 0)], 1, EntryFault::NoTickets);
        refused(vec![a(), Entry::new("b", "x", TICKETS_MAX)], 1, EntryFault::TooManyTickets);
        refused(vec![a(), Entry::new("b", "x", u64::MAX)], 1, EntryFault::TooManyTickets);
        assert_eq!(
            Eligible::new(vec![Entry::new("a", "x", TICKETS_MAX)]).map(|set| set.total()),
            Ok(TICKETS_MAX)
        );
        let many = (0..=ENTRIES_MAX).map(|i| Entry::new(format!("{i:06}"), "x", 1)).collect();
        assert_eq!(Eligible::new(many), Err(EligibleError::TooMany { count: ENTRIES_MAX + 1 }));
    }

    #[test]
    fn order_is_that_of_bytes() {
        // By UTF-16 units the last two would stand the other way round.
        let ids = ["A", "Z", "a", "\u{ffff}", "\u{1f980}"];
        let set = Eligible::new(ids.map(|id| Entry::new(id, id, 1)).to_vec()).expect("ascending");
        let reversed = set.entries().iter().rev().cloned().collect();
        assert_eq!(Eligible::sorted(reversed), Ok(set));
    }

    #[test]
    fn nobody_is_a_set_too() {
        let nobody = Eligible::new(Vec::new()).expect("no entry is wrong");
        assert_eq!((nobody.n(), nobody.total(), nobody.root()), (0, 0, Digest::of(b"")));
    }

    #[test]
    fn inclusion_holds_for_its_entry_alone() {
        for n in [1_u64, 2, 3, 4, 5, 7, 8, 13] {
            let entry = |i: u64| Entry::new(format!("{i:03}"), "x", i + 1);
            let set = Eligible::new((0..n).map(entry).collect()).expect("in order");
            for index in 0..n {
                let path = set.inclusion(index as usize).expect("it is there");
                for other in 0..n + 2 {
                    let holds = includes(set.root(), n, index, &entry(other), &path);
                    assert_eq!(holds, other == index, "{other} at {index} of {n}");
                }
                assert!(!includes(set.root(), n, index + 1, &entry(index), &path));
                let mut longer = path.clone();
                longer.push(set.root());
                assert!(!includes(set.root(), n, index, &entry(index), &longer));
            }
            assert_eq!(set.inclusion(n as usize), None);
        }
    }
}
