use super::game::{Game, Observation};
use super::moves::Move;
use super::rules::Rules;
use crate::competitor::{During, Forfeit, ForfeitRecord, HostFault, Turn};

/// Who plays: a component in the sandbox, a person at a form, a native strategy in a test.
pub trait Competitor {
    /// Told once, before round 0. A forfeit here costs the whole game.
    fn brief(&mut self, rules: &Rules) -> Result<Option<(During, Forfeit)>, HostFault>;

    /// Asked once a round. Not called again after it forfeited.
    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault>;
}

/// Plays `game` to its end. Both seats are asked before either answer counts, in every round and at
/// the brief, so neither can know or harm the other's. A seat that forfeits cooperates to the end.
///
/// If both forfeit before round 0 there is no contest, and no round is played. What a competitor does
/// wrong is returned as data; only a broken host is an error, and then nothing may be recorded.
pub fn play(
    game: &mut Game,
    mut seats: [&mut dyn Competitor; 2],
) -> Result<[Option<ForfeitRecord>; 2], HostFault> {
    let rules = *game.rules();
    let mut forfeits = [None, None];
    for (seat, forfeit) in seats.iter_mut().zip(&mut forfeits) {
        let failed = seat.brief(&rules)?;
        *forfeit = failed.map(|(during, why)| ForfeitRecord::new(game.round(), during, why));
    }
    if forfeits.iter().all(Option::is_some) {
        return Ok(forfeits);
    }
    while !game.is_over() {
        let seen = [game.observe(0), game.observe(1)];
        let mut moves = [Move::Cooperate; 2];
        for (index, seat) in seats.iter_mut().enumerate() {
            if forfeits[index].is_some() {
                continue;
            }
            match seat.act(&seen[index])? {
                Turn::Acted(chosen) => moves[index] = chosen,
                Turn::Forfeited(why) => {
                    forfeits[index] = Some(ForfeitRecord::new(seen[index].round, During::Turn, why));
                }
            }
        }
        game.commit(moves);
    }
    Ok(forfeits)
}

#[cfg(test)]
mod tests;
