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
    let mut text = String::with_capacity(moves.len());
    text.extend(moves.iter().map(|played| played.letter()));
    text
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

/// [`replay`] of moves as records keep them: the same scores. Nothing, where that tells a fault.
pub fn replay_text(rules: &Rules, moves: [&str; 2]) -> Option<[i64; 2]> {
    let [first, second] = moves.map(str::as_bytes);
    let rounds = rules.rounds() as usize;
    if first.len() != rounds || second.len() != rounds {
        return None;
    }
    // By both letters: CC, CD, DC, DD.
    let mut played = [0_i64; 4];
    for (own, other) in first.iter().zip(second) {
        let defects = |letter: &u8| match letter {
            b'C' => Some(0),
            b'D' => Some(1),
            _ => None,
        };
        played[2 * defects(own)? + defects(other)?] += 1;
    }
    let payoffs = rules.payoffs();
    let points = |own, other, times| i64::from(payoffs.points(own, other)) * times;
    let seat = |[both, alone, against, none]: [i64; 4]| {
        points(Move::Cooperate, Move::Cooperate, both)
            + points(Move::Cooperate, Move::Defect, alone)
            + points(Move::Defect, Move::Cooperate, against)
            + points(Move::Defect, Move::Defect, none)
    };
    let [both, alone, against, none] = played;
    Some([seat(played), seat([both, against, alone, none])])
}

#[cfg(test)]
mod tests {
    use super::super::{Payoffs, Rules};
    use super::{Move, MovesFault, move_string, read_moves, replay, replay_text};

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
        assert_eq!(replay_text(&rules, ["CCDD", "CDCD"]), Some([9, 9]));
        assert_eq!(replay_text(&rules, ["DDDD", "CCCC"]), Some([20, 0]));
        let short = replay(&rules, [&of("CCCC"), &of("CCC")]);
        assert_eq!(short, Err(MovesFault::Count { seat: 1, moves: 3, rounds: 4 }));
        assert!(replay(&rules, [&of("CCCCC"), &of("CCCCC")]).is_err());
    }

    /// Every two lists of four moves, under payoffs that tell all pairs apart.
    #[test]
    fn text_is_paid_as_moves_are() {
        let payoffs = Payoffs { r: 1_000, s: -100, t: 10, p: i32::MIN };
        let rules = Rules::new(payoffs, 4).unwrap();
        let list = |bits: u32| (0..4).map(|i| if bits >> i & 1 == 0 { 'C' } else { 'D' }).collect::<String>();
        for (first, second) in (0..256).map(|both| (list(both & 15), list(both >> 4))) {
            let moves = [&first, &second].map(|text| read_moves(text).unwrap());
            let scores = replay(&rules, [&moves[0], &moves[1]]).unwrap();
            assert_eq!(replay_text(&rules, [&first, &second]), Some(scores), "{first} {second}");
        }
        for wrong in ["CCC", "CCCCC", "CCcC", "CéC", ""] {
            assert_eq!(replay_text(&rules, [wrong, "CCCC"]), None, "{wrong}");
            assert_eq!(replay_text(&rules, ["CCCC", wrong]), None, "{wrong}");
        }
    }
}
