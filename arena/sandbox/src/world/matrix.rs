//! The matrix world: what the engine has, as the guest is told it.

use arena_engine::matrix::{Move, Observation, Rules};

wasmtime::component::bindgen!({
    inline: "
        package arena:seat;
        world matrix {
            export arena:matrix/player@0.1.0;
        }
    ",
    path: "../../wit/matrix",
    world: "arena:seat/matrix",
    ownership: Borrowing { duplicate_if_necessary: true },
});

pub(crate) use arena::matrix::types;

/// Everything static, as the guest is told it.
pub(crate) fn brief(rules: &Rules) -> types::Brief {
    let payoffs = rules.payoffs();
    types::Brief { rounds: rules.rounds(), r: payoffs.r, s: payoffs.s, t: payoffs.t, p: payoffs.p }
}

/// One round as a flat record: nothing of it touches the guest's memory.
pub(crate) fn observation(seen: &Observation) -> types::Observation {
    types::Observation {
        round: seen.round,
        played: seen.played,
        own_last: told(seen.own_last),
        other_last: told(seen.other_last),
        own_score: seen.own_score,
        other_score: seen.other_score,
    }
}

/// A move on its way to the guest.
fn told(made: Move) -> types::Move {
    match made {
        Move::Cooperate => types::Move::Cooperate,
        Move::Defect => types::Move::Defect,
    }
}

/// A move as the guest made it.
pub(crate) fn made(told: types::Move) -> Move {
    match told {
        types::Move::Cooperate => Move::Cooperate,
        types::Move::Defect => Move::Defect,
    }
}
