//! A whole episode in one call, for whoever does not step it by hand.

use std::sync::Arc;

use super::action::{Action, Given, NonFinite, RawAction};
use super::clamp::Field;
use super::episode::{Episode, Observation, Resolution};
use super::pack::Pack;
use super::record::{ObservationRecord, ResolutionRecord, TurnRecord};
use crate::competitor::{During, Forfeit, ForfeitRecord, HostFault, Turn};

/// Who plays: a component in the sandbox, a person at a form, a native strategy in a test.
pub trait Competitor {
    /// Told once, before turn 0. A forfeit here costs the whole episode.
    fn brief(&mut self, pack: &Pack) -> Result<Option<(During, Forfeit)>, HostFault>;

    /// Asked once a turn. Not called again after it forfeited.
    fn act(&mut self, seen: &Observation<'_>) -> Result<Turn<Action>, HostFault>;
}

/// Who watches an episode being played.
pub trait Witness {
    /// Before the action of a turn.
    fn seen(&mut self, seen: &Observation<'_>);

    /// After the turn is resolved; `asked` is `None` for the empty actions after a forfeit.
    fn resolved(&mut self, asked: Option<&Action>, resolution: &Resolution, pack: &Pack);
}

/// Nobody watches.
impl Witness for () {
    fn seen(&mut self, _: &Observation<'_>) {}
    fn resolved(&mut self, _: Option<&Action>, _: &Resolution, _: &Pack) {}
}

/// Plays `episode` to its end. What the competitor does wrong is returned as data; only a broken
/// host is an error, and then nothing may be recorded.
pub fn play(
    episode: &mut Episode,
    who: &mut dyn Competitor,
    witness: &mut dyn Witness,
) -> Result<Option<ForfeitRecord>, HostFault> {
    let pack = Arc::clone(episode.pack());
    let mut forfeit = who.brief(&pack)?.map(|(during, why)| ForfeitRecord::new(episode.turn(), during, why));
    while let Some(seen) = episode.observe() {
        witness.seen(&seen);
        let asked = if forfeit.is_some() {
            None
        } else {
            match who.act(&seen)? {
                Turn::Acted(action) => Some(action),
                Turn::Forfeited(why) => {
                    forfeit = Some(ForfeitRecord::new(seen.turn(), During::Turn, why));
                    None
                }
            }
        };
        let resolution = episode.commit(asked.unwrap_or(Action::EMPTY));
        witness.resolved(asked.as_ref(), resolution, &pack);
    }
    Ok(forfeit)
}

/// A witness that keeps every turn for the log.
#[derive(Debug, Default)]
pub struct Recorder {
    turns: Vec<TurnRecord>,
    nonfinite: Vec<(u32, Field, NonFinite)>,
    seen: Option<ObservationRecord>,
}

impl Recorder {
    /// A recorder for an episode of `turns` turns.
    pub fn new(turns: u32) -> Self {
        Self { turns: Vec::with_capacity(turns as usize), ..Self::default() }
    }

    /// What was kept: the turns, and the values JSON cannot hold.
    pub fn into_parts(self) -> (Vec<TurnRecord>, Vec<(u32, Field, NonFinite)>) {
        (self.turns, self.nonfinite)
    }

    fn keep(&mut self, action: RawAction, resolution: &Resolution, pack: &Pack) {
        let observation = self.seen.take().expect("a turn is seen before it is resolved");
        let resolution = ResolutionRecord::of(resolution, pack);
        self.turns.push(TurnRecord { turn: observation.turn, observation, action, resolution });
    }
}

impl Witness for Recorder {
    fn seen(&mut self, seen: &Observation<'_>) {
        self.seen = Some(ObservationRecord::of(seen));
    }

    fn resolved(&mut self, asked: Option<&Action>, resolution: &Resolution, pack: &Pack) {
        let turn = self.turns.len() as u32;
        let raw = asked.map_or_else(RawAction::default, |action| {
            let (raw, lost) = RawAction::of(action);
            self.nonfinite.extend(lost.map(|(field, value)| (turn, field, value)));
            raw
        });
        self.keep(raw, resolution, pack);
    }
}

/// Plays recorded actions, padded with empty ones, and keeps every turn with its action as given.
/// `nonfinite` puts back the values JSON could not hold, in turn order.
pub fn replay(
    pack: &Arc<Pack>,
    actions: &[RawAction],
    nonfinite: &[(u32, Field, NonFinite)],
) -> (Episode, Recorder) {
    let mut episode = Episode::new(Arc::clone(pack));
    let mut recorder = Recorder::new(pack.turns());
    recorder.nonfinite = nonfinite.to_vec();
    let mut lost = nonfinite.iter().peekable();
    while let Some(seen) = episode.observe() {
        let turn = seen.turn();
        recorder.seen(&seen);
        let raw = actions.get(turn as usize).copied().unwrap_or_default();
        let of_this_turn = std::iter::from_fn(|| lost.next_if(|(t, ..)| *t == turn));
        let action = raw.action_with(of_this_turn.map(|(_, field, value)| (*field, *value)));
        let resolution = episode.commit(action);
        recorder.keep(raw, resolution, pack);
    }
    (episode, recorder)
}

impl RawAction {
    /// The action that does nothing, as a forfeited turn shows it.
    pub(super) fn is_empty(&self) -> bool {
        self.curtail_mw == Given::Missing
            && self.battery_mw == Given::Missing
            && self.diesel_mw == Given::Missing
            && self.accept_offer == Given::Missing
    }
}
