use arena_engine::matrix::{Rules, read_moves, replay, replay_text};

use super::{Derived, DerivedMoves, ForfeitFact, RecordFault, is_no_contest, outcome};
use crate::frozen::MatrixRules;

/// Scores from the moves; a seat that forfeited has cooperated from then on.
pub(super) fn derive(
    scenario: &MatrixRules,
    moves: [String; 2],
    forfeits: &[Option<ForfeitFact>; 2],
) -> Result<Derived, RecordFault> {
    let contradiction = |text: String| RecordFault::Contradiction(text);
    let rules = scenario.rules().ok_or_else(|| contradiction("/scenario has no rounds".to_owned()))?;
    let no_contest = is_no_contest(forfeits);
    if no_contest && moves.iter().any(|moves| !moves.is_empty()) {
        return Err(contradiction("/moves has moves, and nobody could play".to_owned()));
    }
    for (seat, (moves, forfeit)) in moves.iter().zip(forfeits).enumerate() {
        let after = forfeit.as_ref().and_then(|forfeit| moves.get(forfeit.turn as usize..));
        if after.is_some_and(|after| after.bytes().any(|letter| letter != b'C')) {
            return Err(contradiction(format!("/moves/{seat} does not cooperate after the forfeit")));
        }
    }
    let scores = if no_contest { [0; 2] } else { scores(&rules, &moves)? };
    let rounds = if no_contest { 0 } else { rules.rounds() };
    Ok(Derived {
        moves: DerivedMoves::Matrix(moves),
        outcome: outcome(forfeits, scores[0].cmp(&scores[1])),
        scores,
        settlements: None,
        turns_each: rounds as usize,
        turns: rounds.into(),
    })
}

/// The points of the moves, or what is wrong with them.
fn scores(rules: &Rules, moves: &[String; 2]) -> Result<[i64; 2], RecordFault> {
    if let Some(scores) = replay_text(rules, moves.each_ref().map(String::as_str)) {
        return Ok(scores);
    }
    let contradiction = |text: String| RecordFault::Contradiction(text);
    let read =
        |seat: usize| read_moves(&moves[seat]).map_err(|why| contradiction(format!("/moves/{seat}: {why}")));
    let (first, second) = (read(0)?, read(1)?);
    replay(rules, [&first, &second]).map_err(|why| contradiction(format!("/moves: {why}")))
}
