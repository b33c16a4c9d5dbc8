//! Who sees what of a round. There is one function for it.

use arena_contests::Moment;
use arena_contests::sprint::round::{Round, Stage};

use super::{Held, unknown};
use crate::auth::{Scope, Viewer};
use crate::instance::Instance;
use crate::problem::Problem;

/// A round as somebody sees it.
pub(crate) struct Seen<'a> {
    /// What the server knows of it.
    pub(crate) held: &'a Held,
    /// The round as it is shown: while it is frozen, as it was when that began.
    pub(crate) round: &'a Round,
    /// Whether it is a frozen one.
    pub(crate) is_frozen: bool,
    /// The company that the viewer acts for.
    pub(crate) own: Option<&'a str>,
    /// Whether the viewer judges here, or runs the platform.
    pub(crate) is_staff: bool,
}

impl<'a> Seen<'a> {
    /// The round as it is shown in what is about one company: of one's own nothing is frozen.
    pub(crate) fn of(&self, company: &str) -> &'a Round {
        if self.own == Some(company) { &self.held.round } else { self.round }
    }

    /// What is said while standings are frozen.
    pub(crate) fn notice(&self) -> Option<String> {
        let (from, to) = self.held.freeze().filter(|_| self.is_frozen)?;
        let minutes = (to.unix_ms() - from.unix_ms()) / 60_000;
        Some(format!(
            "The standings were frozen with {minutes} minutes remaining; later submissions are shown as pending."
        ))
    }
}

/// The company that an agent acts for in a round.
pub(crate) fn company_of<'a>(round: &'a Round, agent: &str) -> Option<&'a str> {
    let found = round.entrants().iter().find(|(_, entrant)| entrant.agent == agent);
    found.map(|(company, _)| company.as_str())
}

/// A round as somebody may see it at a time. A draft is there for the admin alone.
pub(crate) fn visible<'a>(
    instance: &'a Instance,
    viewer: &Viewer,
    id: &str,
    now: Moment,
) -> Result<Seen<'a>, Problem> {
    let held = instance.rounds.held(id).ok_or_else(|| unknown("round"))?;
    if held.round.stage(now) == Stage::Draft && !viewer.is_admin() {
        return Err(unknown("round"));
    }
    let own = match viewer {
        Viewer::Agent { id, scopes, .. }
            if scopes.contains(&Scope::Read) || scopes.contains(&Scope::Submit) =>
        {
            company_of(&held.round, id)
        }
        _ => None,
    };
    let is_staff = viewer.is_admin() || judges(instance, viewer, held, now);
    let is_frozen = held.is_frozen(now) && !is_staff;
    let frozen = held.frozen.as_deref().filter(|_| is_frozen);
    Ok(Seen { held, round: frozen.unwrap_or(&held.round), is_frozen, own, is_staff })
}

/// Whether somebody judges here: an agent that was given a key to judge by, and whose operator has no part in the
/// round. The scope alone does not make it one, since the session of any agent has it.
fn judges(instance: &Instance, viewer: &Viewer, held: &Held, now: Moment) -> bool {
    let Viewer::Agent { id, operator, scopes } = viewer else { return false };
    let mut keys = instance.agents.keys_of(id);
    let is_evaluator = keys.any(|(_, key)| key.is_good(now) && key.scopes.contains(&Scope::Judge));
    scopes.contains(&Scope::Judge) && is_evaluator && !takes_part(instance, held, operator)
}

/// Whether an agent of an operator acts for a company here.
pub(super) fn takes_part(instance: &Instance, held: &Held, operator: &str) -> bool {
    let agents = held.round.entrants().values().filter_map(|entrant| instance.agents.agent(&entrant.agent));
    agents.into_iter().any(|agent| agent.operator == operator)
}
