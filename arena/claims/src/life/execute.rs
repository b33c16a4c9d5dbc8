//! Commands one after another: what they come to, and everything that follows by itself.

use super::command::{Command, Stamped};
use super::decide::decide;
use super::event::Event;
use super::evolve::evolve;
use super::follow::follow;
use super::refusal::Refusal;
use super::world::World;

/// No claim takes more steps than this at one moment.
const STEPS_MAX: usize = 64;

/// Does what `stamped` says and everything that follows from it at once. A refused command changes nothing.
pub fn execute(world: &mut World, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
    let mut events = decide(world, stamped)?;
    for event in &events {
        evolve(world, stamped.at, event);
    }
    if let Some(claim) = stamped.command.claim() {
        events.extend(settle_down(world, claim, stamped));
    }
    Ok(events)
}

/// What happens to `claim` by `at` without anybody's doing.
pub fn tick(world: &mut World, claim: &str, stamped: &Stamped) -> Result<Vec<Event>, Refusal> {
    let command = Command::Tick { claim: claim.to_owned() };
    execute(world, &Stamped { command, ..stamped.clone() })
}

fn settle_down(world: &mut World, claim: &str, stamped: &Stamped) -> Vec<Event> {
    let mut all = Vec::new();
    for _ in 0..STEPS_MAX {
        let Some(state) = world.claims.get(claim) else { break };
        let events = follow(world, state, stamped);
        if events.is_empty() {
            break;
        }
        for event in &events {
            evolve(world, stamped.at, event);
        }
        all.extend(events);
    }
    all
}

/// The state after a history. Every replay gives the same.
pub fn replay<'a>(start: World, history: impl IntoIterator<Item = (u64, &'a Event)>) -> World {
    let mut world = start;
    for (at, event) in history {
        evolve(&mut world, at, event);
    }
    world
}
