use super::super::{Game, Move, Observation, Payoffs, Rules, move_string};
use super::{Competitor, play};
use crate::{During, Forfeit, ForfeitRecord, HostFault, Turn};

/// A seat that does what its list says, then defects.
#[derive(Default)]
struct Scripted {
    brief: Option<(During, Forfeit)>,
    /// The round on which it forfeits, or on which the host breaks.
    forfeits_on: Option<u32>,
    breaks_on: Option<u32>,
    seen: Vec<Observation>,
}

fn why(text: &str) -> Forfeit {
    Forfeit::Unreadable { why: text.to_owned() }
}

fn broken() -> HostFault {
    HostFault { doing: "testing", source: "a broken host".into() }
}

impl Competitor for Scripted {
    fn brief(&mut self, _: &Rules) -> Result<Option<(During, Forfeit)>, HostFault> {
        Ok(self.brief.clone())
    }

    fn act(&mut self, seen: &Observation) -> Result<Turn<Move>, HostFault> {
        self.seen.push(*seen);
        match seen.round {
            round if self.breaks_on == Some(round) => Err(broken()),
            round if self.forfeits_on == Some(round) => Ok(Turn::Forfeited(why("as it was told"))),
            _ => Ok(Turn::Acted(Move::Defect)),
        }
    }
}

fn played(first: &mut Scripted, second: &mut Scripted) -> (Game, [Option<ForfeitRecord>; 2]) {
    let mut game = Game::new(Rules::new(Payoffs::default(), 4).unwrap());
    let forfeits = play(&mut game, [first, second]).unwrap();
    (game, forfeits)
}

fn moves(game: &Game) -> [String; 2] {
    [move_string(game.moves(0)), move_string(game.moves(1))]
}

#[test]
fn a_forfeited_seat_cooperates_to_the_end_and_is_not_asked_again() {
    for failing in [0, 1] {
        let mut seats = [Scripted::default(), Scripted::default()];
        seats[failing].forfeits_on = Some(2);
        let [first, second] = &mut seats;
        let (game, forfeits) = played(first, second);
        assert_eq!(moves(&game)[failing], "DDCC");
        assert_eq!(moves(&game)[1 - failing], "DDDD");
        assert_eq!(game.scores()[failing], 2);
        let record = ForfeitRecord::new(2, During::Turn, why("as it was told"));
        assert_eq!(forfeits[failing], Some(record));
        assert_eq!(forfeits[1 - failing], None);
        assert_eq!(seats.map(|seat| seat.seen.len())[failing], 3);
    }
}

#[test]
fn both_seats_may_forfeit_in_the_same_round() {
    let mut seats = [1, 1].map(|round| Scripted { forfeits_on: Some(round), ..Scripted::default() });
    let [first, second] = &mut seats;
    let (game, forfeits) = played(first, second);
    assert_eq!(moves(&game), ["DCCC", "DCCC"]);
    assert_eq!(forfeits.map(|forfeit| forfeit.map(|it| it.turn)), [Some(1), Some(1)]);
}

#[test]
fn who_fails_before_round_0_still_leaves_the_other_a_game() {
    for during in [During::Start, During::Brief] {
        for failing in [0, 1] {
            let mut seats = [Scripted::default(), Scripted::default()];
            seats[failing].brief = Some((during, why("not ready")));
            let [first, second] = &mut seats;
            let (game, forfeits) = played(first, second);
            assert_eq!(moves(&game)[failing], "CCCC");
            assert_eq!(moves(&game)[1 - failing], "DDDD");
            assert_eq!(forfeits[failing], Some(ForfeitRecord::new(0, during, why("not ready"))));
            assert_eq!(forfeits[1 - failing], None);
            assert!(seats[failing].seen.is_empty());
        }
    }
}

#[test]
fn when_both_fail_before_round_0_no_round_is_played() {
    let mut seats = [During::Start, During::Brief]
        .map(|during| Scripted { brief: Some((during, why("not ready"))), ..Scripted::default() });
    let [first, second] = &mut seats;
    let (game, forfeits) = played(first, second);
    assert_eq!((game.round(), game.scores()), (0, [0, 0]));
    assert!(forfeits.iter().all(Option::is_some));
}

#[test]
fn a_broken_host_is_an_error_whatever_the_seats_did() {
    for broken in [0, 1] {
        let mut seats = [Scripted::default(), Scripted::default()];
        seats[broken].breaks_on = Some(1);
        seats[1 - broken].forfeits_on = Some(1);
        let [first, second] = &mut seats;
        let mut game = Game::new(Rules::new(Payoffs::default(), 4).unwrap());
        let fault = play(&mut game, [first, second]).unwrap_err();
        assert_eq!(fault.to_string(), "the host failed while testing: a broken host");
    }
}

#[test]
fn both_are_asked_about_the_same_state() {
    let mut seats = [Scripted::default(), Scripted { forfeits_on: Some(3), ..Scripted::default() }];
    let [first, second] = &mut seats;
    played(first, second);
    for (first, second) in seats[0].seen.iter().zip(&seats[1].seen) {
        assert_eq!((first.round, first.played), (second.round, second.played));
        assert_eq!((first.own_last, first.own_score), (second.other_last, second.other_score));
        assert_eq!((first.other_last, first.other_score), (second.own_last, second.own_score));
    }
}
