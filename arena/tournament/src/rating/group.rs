//! Who can be compared with whom: strongly connected components.

/// Members, in order, of the largest set in which each reaches each along `next`; of equally large ones,
/// the one that holds the smallest index.
pub(super) fn largest(nodes: usize, next: &[Vec<usize>]) -> Vec<usize> {
    let group_of = groups(nodes, next);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (node, group) in group_of.into_iter().enumerate() {
        members[group].push(node);
    }
    let order = |group: &Vec<usize>| (std::cmp::Reverse(group.len()), group.first().copied());
    members.into_iter().filter(|group| !group.is_empty()).min_by_key(order).unwrap_or_default()
}

/// The group of each node, by Kosaraju's two passes. Neither recurses: a chain may be as long as there
/// are nodes.
fn groups(nodes: usize, next: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); nodes];
    for (node, followers) in next.iter().enumerate() {
        for follower in followers {
            back[*follower].push(node);
        }
    }
    let mut seen = vec![false; nodes];
    let mut finished = Vec::with_capacity(nodes);
    for node in 0..nodes {
        visit(node, next, &mut seen, &mut |done| finished.push(done));
    }
    let mut seen = vec![false; nodes];
    let mut group_of = vec![0; nodes];
    for (group, node) in finished.into_iter().rev().enumerate() {
        visit(node, &back, &mut seen, &mut |done| group_of[done] = group);
    }
    group_of
}

/// Goes to all that can be reached from `start` and was not seen; `leave` hears of each node when
/// everything behind it is done.
fn visit(start: usize, next: &[Vec<usize>], seen: &mut [bool], leave: &mut dyn FnMut(usize)) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    // Each node with how many of its followers were looked at.
    let mut path = vec![(start, 0)];
    while let Some((node, looked)) = path.last_mut() {
        match next[*node].get(*looked) {
            Some(&follower) => {
                *looked += 1;
                if !std::mem::replace(&mut seen[follower], true) {
                    path.push((follower, 0));
                }
            }
            None => {
                leave(*node);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn the_largest_cycle_wins_and_ties_go_to_the_smallest_index() {
        assert_eq!(largest(0, &[]), Vec::<usize>::new());
        assert_eq!(largest(2, &[vec![1], vec![]]), [0]);
        assert_eq!(largest(5, &[vec![1], vec![0], vec![3], vec![4, 1], vec![2]]), [2, 3, 4]);
        assert_eq!(largest(4, &[vec![3], vec![2], vec![1], vec![0]]), [0, 3]);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let nodes = 100_000;
        let ring: Vec<Vec<usize>> = (0..nodes).map(|node| vec![(node + 1) % nodes]).collect();
        assert_eq!(largest(nodes, &ring).len(), nodes);
    }

    /// Against the definition, on all graphs of four nodes.
    #[test]
    fn it_agrees_with_the_definition() {
        for edges in 0_u32..1 << 12 {
            let pairs = (0..4_usize).flat_map(|a| (0..4).filter(move |b| *b != a).map(move |b| (a, b)));
            let mut next = vec![Vec::new(); 4];
            let mut reach = [[false; 4]; 4];
            for (bit, (a, b)) in pairs.enumerate() {
                if edges >> bit & 1 == 1 {
                    next[a].push(b);
                    reach[a][b] = true;
                }
            }
            for via in 0..4 {
                for a in 0..4 {
                    for b in 0..4 {
                        reach[a][b] |= reach[a][via] && reach[via][b];
                    }
                }
            }
            let group = |a: usize| (0..4).filter(|b| *b == a || reach[a][*b] && reach[*b][a]).collect();
            let groups: Vec<Vec<usize>> = (0..4).map(group).collect();
            let longest = groups.iter().map(Vec::len).max().unwrap();
            let first = groups.iter().find(|group| group.len() == longest).unwrap();
            assert_eq!(&largest(4, &next), first, "{next:?}");
        }
    }
}
