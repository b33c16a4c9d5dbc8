use super::game::Game;
use super::rules::Rules;

/// What a seat does in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// `C`. Also what a forfeited seat plays to the end.
    Cooperate,
    /// `D`.
    Defect,
}

impl Move {
    /// `C` or `D`, as records spell it.
    pub fn letter(self) -> char {
        match self {
            Self::Cooperate => 'C',
            Self::Defect => 'D',
        }
    }

    /// The other move.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Cooperate => Self::Defect,
            Self::Defect => Self::Cooperate,
        }
    }
}

/// Why a list of moves is not that of a game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MovesFault {
    /// A character that is no move.
    #[error("move {round} is {found:?}; a move is C or D")]
    Letter {
        /// Its place.
        round: usize,
        /// The character.
        found: char,
    },
    /// More moves or fewer than rounds.
    #[error("seat {seat} has {moves} moves; the game has {rounds} rounds")]
    Count {
        /// Whose list.
        seat: usize,
        /// Its length.
        moves: usize,
        /// What it should be.
        rounds: u32,
    },
}

/// Moves as records keep them: `CDC…`, one letter a round.
pub fn move_string(moves: &[Move]) -> String {
    moves.iter().map(|played| played.letter()).collect()
}

/// Reads moves as records keep them.
pub fn read_moves(text: &str) -> Result<Vec<Move>, MovesFault> {
    let read = |(round, found)| match found {
        'C' => Ok(Move::Cooperate),
        'D' => Ok(Move::Defect),
        _ => Err(MovesFault::Letter { round, found }),
    };
    text.chars().enumerate().map(read).collect()
}

/// The scores of a finished game, from its moves alone.
pub fn replay(rules: &Rules, moves: [&[Move]; 2]) -> Result<[i64; 2], MovesFault> {
    let rounds = rules.rounds();
    for (seat, list) in moves.iter().enumerate() {
        if list.len() != rounds as usize {
            return Err(MovesFault::Count { seat, moves: list.len(), rounds });
        }
    }
    let mut game = Game::new(*rules);
    for (first, second) in moves[0].iter().zip(moves[1]) {
        game.commit([*first, *second]);
    }
    Ok(game.scores())
}

#[cfg(test)]
mod tests {
    use super::super::{Payoffs, Rules};
    use super::{Move, MovesFault, move_string, read_moves, replay};

    #[test]
    fn moves_are_letters_and_nothing_else() {
        let moves = read_moves("CDDC").unwrap();
        assert_eq!(moves, [Move::Cooperate, Move::Defect, Move::Defect, Move::Cooperate]);
        assert_eq!(move_string(&moves), "CDDC");
        assert_eq!(read_moves(""), Ok(Vec::new()));
        for (text, round, found) in [("Cd", 1, 'd'), ("é", 0, 'é'), ("CC D", 2, ' ')] {
            assert_eq!(read_moves(text), Err(MovesFault::Letter { round, found }));
        }
    }

    #[test]
    fn a_replay_pays_every_round_and_takes_no_other_number_of_moves() {
        let rules = Rules::new(Payoffs::default(), 4).unwrap();
        let of = |text| read_moves(text).unwrap();
        assert_eq!(replay(&rules, [&of("CCDD"), &of("CDCD")]), Ok([3 + 5 + 1, 3 + 5 + 1]));
        assert_eq!(replay(&rules, [&of("DDDD"), &of("CCCC")]), Ok([20, 0]));
        let short = replay(&rules, [&of("CCCC"), &of("CCC")]);
        assert_eq!(short, Err(MovesFault::Count { seat: 1, moves: 3, rounds: 4 }));
        assert!(replay(&rules, [&of("CCCCC"), &of("CCCCC")]).is_err());
    }
}
