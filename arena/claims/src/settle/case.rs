//! Cases: what settlement depends on, as a document that anybody can write down.

use std::collections::BTreeSet;

use arena_canon::json::{self, Pointer, Value};
use arena_ledger::Amount;

use super::ending::{Ending, Vote};
use crate::document::{Object, shown};
use crate::fault::{Faults, Findings};
use crate::manifest::ID_BYTES_MAX;
use crate::params::Params;

const CASE_BYTES_MAX: usize = 1 << 20;
const PARTIES_MAX: usize = 256;

/// Names that balances use themselves.
pub(crate) const RESERVED: [&str; 4] = ["funders", "runner", "treasury", "pool"];

/// A challenger that committed, volunteer or auditor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenger {
    /// Its name.
    pub name: String,
    /// Whether its record was confirmed; nothing where records were not judged.
    pub record_ok: Option<bool>,
    /// Whether it revealed what it had committed to.
    pub revealed: bool,
}

/// A reviewer that was seated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewer {
    /// Its name.
    pub name: String,
    /// What it said.
    pub vote: Vote,
}

/// An appeal against a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appeal {
    /// Who appealed: a party of the case, or `runner`.
    pub name: String,
    /// Whether the verdict fell.
    pub won: bool,
}

/// What settlement depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// How it ended.
    pub ending: Ending,
    /// Challengers that agree with the runner, in the order of their commitments.
    pub agree: Vec<Challenger>,
    /// Challengers that disagree, in the order of their commitments.
    pub disagree: Vec<Challenger>,
    /// Reviewers of all panels.
    pub reviewers: Vec<Reviewer>,
    /// The challenger that was drawn to audit.
    pub auditor: Option<String>,
    /// Appeals; at most one of each party.
    pub appeals: Vec<Appeal>,
    /// The runner itself said that the manifest cannot be run: it is right, and paid the reduced fee.
    pub self_report: bool,
    /// Nobody could find out in time: reviewers are not slashed for what they said.
    pub undecided: bool,
    /// What everything costs.
    pub params: Params,
}

/// Why a document is no case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Not a JSON document within bounds.
    #[error(transparent)]
    Read(#[from] json::ReadError),
    /// A document that is no case.
    #[error("{0}")]
    Faults(#[from] Faults),
    /// Parameters that could not pay what must be paid.
    #[error("these parameters cannot settle: {id} is missed by {slack} ({says})")]
    Insolvent {
        /// The condition.
        id: &'static str,
        /// By how much.
        slack: String,
        /// What it says.
        says: &'static str,
    },
}

impl Case {
    /// A case of this ending without anybody but the runner.
    pub fn bare(ending: Ending, params: Params) -> Self {
        Self {
            ending,
            agree: Vec::new(),
            disagree: Vec::new(),
            reviewers: Vec::new(),
            auditor: None,
            appeals: Vec::new(),
            self_report: false,
            undecided: false,
            params,
        }
    }

    /// Reads a case. All faults are reported at once.
    pub fn parse(bytes: &[u8]) -> Result<Self, CaseError> {
        let value = json::read(bytes, CASE_BYTES_MAX)?;
        let mut findings = Findings::default();
        let object = Object::of(&value, Pointer::default(), &mut findings);
        let case = object.and_then(|object| Self::of(&object, &mut findings));
        let case = findings.or_none(case)?;
        match case.params.violations().into_iter().find(super::super::params::Inequality::is_solvency) {
            Some(missed) => {
                let slack = missed.slack.abs().to_string();
                Err(CaseError::Insolvent { id: missed.id, slack, says: missed.says })
            }
            None => Ok(case),
        }
    }

    fn of(object: &Object<'_>, findings: &mut Findings) -> Option<Self> {
        let known = [
            "outcome",
            "agree",
            "disagree",
            "reviewers",
            "auditor",
            "params",
            "appeals",
            "self_report",
            "undecided",
        ];
        object.only(&known, findings);
        let what = format!("one of {}", Ending::ALL.map(Ending::name).join(", "));
        let ending = object.read("outcome", &what, findings, |value| Ending::named(value.as_str()?));
        let mut names = BTreeSet::new();
        let agree = challengers(object, "agree", &mut names, findings);
        let disagree = challengers(object, "disagree", &mut names, findings);
        let reviewers = reviewers(object, &mut names, findings);
        let auditor = auditor(object, &reviewers, findings);
        let appeals = appeals(object, &names, findings);
        let params = match object.get("params") {
            None | Some(Value::Null) => Some(Params::published()),
            Some(value) => Some(Params::overridden_at(value, object.place("params"), findings)),
        };
        let self_report = object.flag_or("self_report", false, findings);
        let undecided = object.flag_or("undecided", false, findings);
        let case = Self {
            ending: ending?,
            agree,
            disagree,
            reviewers,
            auditor,
            appeals,
            self_report: self_report?,
            undecided: undecided?,
            params: params?,
        };
        if case.total_in().is_none() {
            let most = Amount::MAX;
            findings.add(&object.at, format!("what all put in together is above {most}, the largest amount"));
        }
        Some(case)
    }

    /// What all put in: the pool, stakes and bonds. Nothing where that is beyond all amounts.
    pub(crate) fn total_in(&self) -> Option<Amount> {
        let params = &self.params;
        let staked = |each: Amount, heads: usize| each.checked_mul(u64::try_from(heads).ok()?);
        let challengers = self.agree.len().saturating_add(self.disagree.len());
        // A saturated bond is above what any runner's stake leaves room for.
        Amount::checked_sum([
            params.pool_min()?,
            params.runner_stake,
            staked(params.challenger_stake, challengers)?,
            staked(params.reviewer_stake, self.reviewers.len())?,
            staked(params.appeal_bond(), self.appeals.len())?,
        ])
    }
}

/// A name that is free: none of the reserved, and nobody else's.
fn name(object: &Object<'_>, names: &mut BTreeSet<String>, findings: &mut Findings) -> Option<String> {
    let name = object.text("name", ID_BYTES_MAX, findings)?;
    if RESERVED.contains(&name) {
        findings.add(&object.place("name"), format!("{} is not an agent's name", shown(name)));
        return None;
    }
    if !names.insert(name.to_owned()) {
        findings.add(&object.place("name"), format!("{} has a role already", shown(name)));
        return None;
    }
    Some(name.to_owned())
}

fn challengers(
    object: &Object<'_>,
    key: &str,
    names: &mut BTreeSet<String>,
    findings: &mut Findings,
) -> Vec<Challenger> {
    let mut all = Vec::new();
    for (at, value) in object.list_or_empty(key, PARTIES_MAX, findings) {
        let Some(party) = Object::of(value, at, findings) else { continue };
        party.only(&["name", "record_ok", "revealed"], findings);
        let name = name(&party, names, findings);
        let record_ok = match party.get("record_ok") {
            None | Some(Value::Null) => Some(None),
            Some(_) => party.flag_or("record_ok", false, findings).map(Some),
        };
        let revealed = party.flag_or("revealed", true, findings);
        if let (Some(name), Some(record_ok), Some(revealed)) = (name, record_ok, revealed) {
            all.push(Challenger { name, record_ok, revealed });
        }
    }
    all
}

fn reviewers(object: &Object<'_>, names: &mut BTreeSet<String>, findings: &mut Findings) -> Vec<Reviewer> {
    let mut all = Vec::new();
    for (at, value) in object.list_or_empty("reviewers", PARTIES_MAX, findings) {
        let Some(party) = Object::of(value, at, findings) else { continue };
        party.only(&["name", "vote"], findings);
        let name = name(&party, names, findings);
        let what = "an outcome, abstain or no_show";
        let vote = party.read("vote", what, findings, |value| Vote::named(value.as_str()?));
        if let (Some(name), Some(vote)) = (name, vote) {
            all.push(Reviewer { name, vote });
        }
    }
    all
}

/// Who was drawn to audit: a challenger of the case, or one that is not in it as it never committed.
fn auditor(object: &Object<'_>, reviewers: &[Reviewer], findings: &mut Findings) -> Option<String> {
    object.get("auditor").filter(|value| !value.is_null())?;
    let name = object.text("auditor", ID_BYTES_MAX, findings)?;
    if RESERVED.contains(&name) {
        findings.add(&object.place("auditor"), format!("{} is not an agent's name", shown(name)));
    } else if reviewers.iter().any(|reviewer| reviewer.name == name) {
        findings.add(&object.place("auditor"), format!("{} has a role already", shown(name)));
    }
    Some(name.to_owned())
}

fn appeals(object: &Object<'_>, names: &BTreeSet<String>, findings: &mut Findings) -> Vec<Appeal> {
    let mut all: Vec<Appeal> = Vec::new();
    for (at, value) in object.list_or_empty("appeals", PARTIES_MAX, findings) {
        let Some(appeal) = Object::of(value, at, findings) else { continue };
        appeal.only(&["name", "won"], findings);
        let name = appeal.text("name", ID_BYTES_MAX, findings);
        let won = appeal.flag_or("won", false, findings);
        let (Some(name), Some(won)) = (name, won) else { continue };
        if name != "runner" && !names.contains(name) {
            findings.add(&appeal.place("name"), "only a party appeals");
        } else if all.iter().any(|other| other.name == name) {
            findings.add(&appeal.place("name"), "a party appeals once");
        }
        all.push(Appeal { name: name.to_owned(), won });
    }
    all
}
