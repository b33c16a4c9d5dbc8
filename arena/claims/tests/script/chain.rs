//! What a claim comes to while nobody does anything: a chain of states without a dead end and without a circle.

use std::collections::{BTreeMap, BTreeSet};

use arena_claims::life::{Claim, Command, World, execute};
use arena_claims::simulate::stamped;
use arena_draw::beacon::Schedule;

use super::OPERATOR;

/// What can change for good: the phase, the runners drawn, the seats drawn, the re-opened window.
type State = (&'static str, u32, usize, u32, bool);

fn state(claim: &Claim) -> State {
    let seats = claim.panels.iter().map(|panel| panel.attempt).sum::<u32>();
    (claim.phase.name(), claim.attempt, claim.panels.len(), seats + claim.audit.attempt, claim.reopened)
}

#[derive(Default)]
pub(crate) struct Chain {
    edges: BTreeMap<State, BTreeSet<State>>,
    ends: BTreeSet<State>,
}

impl Chain {
    /// Lets time pass from this state of the world to the end, once without a word of the beacon and once with.
    pub(crate) fn follow(&mut self, world: &World, claim: &str) {
        for spoken in [false, true] {
            self.run_out(world.clone(), claim, spoken);
        }
    }

    fn run_out(&mut self, mut world: World, claim: &str, spoken: bool) {
        for _ in 0..80 {
            let about = &world.claims[claim];
            let before = state(about);
            if about.phase.is_terminal() {
                self.ends.insert(before);
                return;
            }
            let id = claim.to_owned();
            let command = match &about.draw {
                Some(draw) if spoken && !draw.stalled => {
                    let due = Schedule::QUICKNET.time_of(draw.round).expect("a round").max(world.now);
                    stamped(OPERATOR, due, Command::ResolveDraw { claim: id, proof: Vec::new() })
                }
                _ => stamped(OPERATOR, about.until.max(world.now), Command::Tick { claim: id }),
            };
            let mut command = command;
            if !spoken {
                command.seen = None;
            }
            if execute(&mut world, &command).is_err() {
                // A draw whose time is over, or whose secret is another: then the deadline comes.
                let tick = Command::Tick { claim: claim.to_owned() };
                let at = world.claims[claim].until.max(world.now);
                execute(&mut world, &stamped(OPERATOR, at, tick)).expect("time passes");
            }
            let after = state(&world.claims[claim]);
            if after != before {
                self.edges.entry(before).or_default().insert(after);
            }
        }
        panic!("it does not end by time alone: {:?}", state(&world.claims[claim]));
    }

    /// Every phase was there, each that is no end leads on, and nothing leads back.
    pub(crate) fn check(&self) {
        let seen: BTreeSet<&str> = self.edges.keys().chain(&self.ends).map(|state| state.0).collect();
        let phases = [
            "appealable",
            "committed",
            "drawing",
            "funding",
            "offered",
            "opening",
            "reference",
            "revealing",
            "running",
            "seating",
            "settled",
            "voting",
            "withdrawn",
        ];
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), phases);
        let terminal = |state: &State| state.0 == "settled" || state.0 == "withdrawn";
        assert!(self.ends.iter().all(terminal) && !self.edges.keys().any(terminal));
        let all: BTreeSet<&State> = self.edges.values().flatten().collect();
        assert!(all.iter().all(|state| terminal(state) || self.edges.contains_key(*state)), "a dead end");
        // Take away whatever leads only to what is taken away already: nothing may be left.
        let mut left: BTreeSet<&State> = self.edges.keys().collect();
        while !left.is_empty() {
            let done: Vec<&State> = left
                .iter()
                .filter(|state| self.edges[**state].iter().all(|next| !left.contains(next)))
                .copied()
                .collect();
            assert!(!done.is_empty(), "a circle among {left:?}");
            left.retain(|state| !done.contains(state));
        }
    }
}
