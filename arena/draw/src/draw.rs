use arena_canon::{Digest, Preimage};

use crate::eligible::{Eligible, Entry};
use crate::purpose::Purpose;
use crate::words::Words;

/// Everything a draw follows from. All but the randomness is fixed before the beacon speaks.
///
/// ```
/// use arena_canon::Digest;
/// use arena_draw::{Draw, Eligible, Entry, Purpose, chain_hash};
///
/// let seats = ["s0000", "s0001", "s0002", "s0003"];
/// let seating = Draw {
///     instance: Digest::of(b"spring cup"),
///     purpose: Purpose::Seating,
///     subject: Digest::of(b"the plan"),
///     attempt: 0,
///     params_hash: Digest::of(b"the protocol"),
///     entries: Eligible::new(seats.map(|id| Entry::new(id, id, 1)).to_vec())?,
///     seats: 4,
///     beacon_chain_hash: chain_hash("secret", b""),
///     round: 0,
///     randomness: vec![7; 32],
/// };
/// let resolution = seating.resolve();
/// assert_eq!(resolution.picks.len(), 4);
/// # Ok::<(), arena_draw::EligibleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// SHA-256 of the instance's name.
    pub instance: Digest,
    /// What it is for.
    pub purpose: Purpose,
    /// What it is about: a job, a plan.
    pub subject: Digest,
    /// 0 for the first draw; one more after each that left a seat vacant.
    pub attempt: u32,
    /// SHA-256 of the rules in force: seats, tickets, fees.
    pub params_hash: Digest,
    /// Who may be drawn.
    pub entries: Eligible,
    /// How many are wanted. If fewer operators are left, fewer are picked.
    pub seats: u32,
    /// Which beacon: see [`crate::chain_hash`].
    pub beacon_chain_hash: Digest,
    /// Which of its rounds, fixed before it exists.
    pub round: u64,
    /// What the round gave, followed by the salt where there is one.
    pub randomness: Vec<u8>,
}

/// What a draw comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The root of the eligible set.
    pub root: Digest,
    /// Entries in it.
    pub n: u64,
    /// Tickets in it.
    pub total: u64,
    /// What the picks follow from.
    pub seed: Digest,
    /// In the order in which they were drawn.
    pub picks: Vec<Pick>,
    /// Words of the stream that were taken.
    pub words_consumed: u64,
}

/// One seat that was filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// Which one, from 0.
    pub seat: u32,
    /// The number that was drawn.
    pub r: u64,
    /// The tickets of the pool it was drawn below.
    pub of: u64,
    /// Who holds that ticket.
    pub agent: String,
}

impl Draw {
    /// The seed: everything above in one hash. A draw that is not of seats, such as a coin, takes its
    /// [`Words`] from it.
    pub fn seed(&self) -> Digest {
        Preimage::new("ARENA-DRAW-V1")
            .bytes(self.instance.as_bytes())
            .bytes(self.purpose.name().as_bytes())
            .bytes(self.subject.as_bytes())
            .number(self.attempt.into())
            .bytes(self.params_hash.as_bytes())
            .bytes(self.entries.root().as_bytes())
            .number(self.entries.n())
            .number(self.entries.total())
            .bytes(self.beacon_chain_hash.as_bytes())
            .number(self.round)
            .bytes(&self.randomness)
            .digest()
    }

    /// Fills the seats. The same draw gives the same picks everywhere.
    pub fn resolve(&self) -> Resolution {
        let seed = self.seed();
        let mut words = Words::new(seed);
        let picks = sample(&mut words, self.entries.entries(), self.seats);
        Resolution {
            root: self.entries.root(),
            n: self.entries.n(),
            total: self.entries.total(),
            seed,
            picks,
            words_consumed: words.consumed(),
        }
    }
}

/// Draws by tickets; with each pick the whole operator leaves the pool.
fn sample(words: &mut Words, entries: &[Entry], seats: u32) -> Vec<Pick> {
    let mut pool = Pool::new(entries);
    let mut picks = Vec::new();
    for seat in 0..seats {
        if pool.tickets == 0 {
            break;
        }
        let of = pool.tickets;
        let r = words.below(of);
        let index = pool.holder(r);
        picks.push(Pick { seat, r, of, agent: entries[index].agent.clone() });
        pool.remove_operator(index);
    }
    picks
}

/// The entries that can still be drawn.
///
/// Sums of tickets are kept in a Fenwick tree, so that a seat costs its operator's entries and a logarithm,
/// not a walk: as many seats as entries are fine. It finds what the walk in committed order finds.
struct Pool<'a> {
    entries: &'a [Entry],
    /// Positions of entries, those of one operator next to each other.
    by_operator: Vec<u32>,
    /// At `i`, counted from 1: the tickets of the entries before `i` that `i`'s lowest bit spans.
    sums: Vec<u64>,
    tickets: u64,
}

impl<'a> Pool<'a> {
    fn new(entries: &'a [Entry]) -> Self {
        let mut by_operator: Vec<u32> = (0..entries.len() as u32).collect();
        by_operator.sort_by(|a, b| entries[*a as usize].operator.cmp(&entries[*b as usize].operator));
        let mut sums = vec![0; entries.len() + 1];
        for i in 1..sums.len() {
            sums[i] += entries[i - 1].tickets;
            let parent = i + (1 << i.trailing_zeros());
            if parent < sums.len() {
                sums[parent] += sums[i];
            }
        }
        let tickets = entries.iter().map(|entry| entry.tickets).sum();
        Self { entries, by_operator, sums, tickets }
    }

    /// The entry that holds ticket `r` of those left, counted in committed order.
    fn holder(&self, mut r: u64) -> usize {
        let mut before = 0;
        let mut span = self.sums.len().next_power_of_two();
        while span > 0 {
            let next = before + span;
            if next < self.sums.len() && self.sums[next] <= r {
                r -= self.sums[next];
                before = next;
            }
            span /= 2;
        }
        before
    }

    fn remove_operator(&mut self, index: usize) {
        let entries = self.entries;
        let operator = |position: &u32| entries[*position as usize].operator.as_str();
        let gone = entries[index].operator.as_str();
        let first = self.by_operator.partition_point(|position| operator(position) < gone);
        let same = self.by_operator[first..].iter().take_while(|position| operator(position) == gone);
        for position in same {
            let position = *position as usize;
            let tickets = entries[position].tickets;
            self.tickets -= tickets;
            let mut i = position + 1;
            while i < self.sums.len() {
                self.sums[i] -= tickets;
                i += 1 << i.trailing_zeros();
            }
        }
    }
}

#[cfg(test)]
mod tests;
