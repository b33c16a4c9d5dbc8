//! What follows from a command: who may do it, when, and in which state of the round.

use super::command::{Actor, Command, ReceiptKind, Stamped};
use super::entrant::{Entrant, Left, Rail, check_id};
use super::event::{Event, Happened, Receipt};
use super::judging::{Dispute, DisputeStatus, Judgement, Ruling, Verdict};
use super::refusal::Refusal;
use super::{Round, Status};
use crate::document::{Faults, Length};
use crate::leak::{Finding, MARKERS, Scanner, Severity};
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::clock::{Action, Answer, Phase};
use crate::sprint::record::{Record, State};
use crate::text::Text;
use arena_canon::Digest;
use arena_canon::json::Pointer;
use arena_ledger::{Transaction, transfer};

/// Events, with money checked as it moves.
pub(super) type Decision = Result<Vec<Event>, Refusal>;

/// Characters of a reason or a rationale.
pub(super) const REASON: Length = Length::new(3, 2_000);
const GROUND: Length = Length::new(20, 2_000);
const AMENDMENTS_MAX: usize = 20;

impl Round {
    /// The events that follow from a command, or why none does.
    pub fn decide(&self, stamped: &Stamped) -> Result<Vec<Happened>, Refusal> {
        let Stamped { at, by, command } = stamped;
        if let Some(last) = self.last_at.filter(|last| at < last) {
            return Err(Refusal::TimeGoesBack { at: *at, last });
        }
        self.check_status(command)?;
        let is_late = self.check_time(*at, command)?;
        let events = match by {
            Actor::Company { company, agent } => self.company_decides(company, agent, *at, command, is_late),
            Actor::Operator(name) => self.operator_decides(name, *at, command),
            Actor::Evaluator(name) => self.evaluator_decides(name, *at, command),
            Actor::System => self.system_decides(*at, command),
        }?;
        Ok(events.into_iter().map(|event| Happened { at: *at, event }).collect())
    }

    /// A command as a journal keeps it: its texts are laid by, each at the place whose digest `place` tells. What is
    /// decided of the one is decided of the other, so this one needs no text when it is decided again.
    #[must_use]
    pub fn laid_by(&self, mut command: Command, place: &mut dyn FnMut(&str) -> Digest) -> Command {
        for (field, text) in command.texts_mut() {
            let findings = text.said().map(|said| self.scanner().scan(field, said)).unwrap_or_default();
            text.lay_by(findings, place);
        }
        command
    }

    fn check_status(&self, command: &Command) -> Result<(), Refusal> {
        let is_open = match command {
            Command::Announce => self.status == Status::Draft,
            Command::DecideAward { .. } | Command::ReleaseLocked => self.status == Status::Settled,
            Command::Post { kind: super::rails::PostKind::Postmortem, .. } | Command::Hide { .. } => {
                matches!(self.status, Status::Announced | Status::Settled)
            }
            _ => self.status == Status::Announced,
        };
        if is_open { Ok(()) } else { Err(Refusal::RoundIs { status: self.status.name() }) }
    }

    /// Whether it is time, and whether it is late.
    fn check_time(&self, at: Moment, command: &Command) -> Result<bool, Refusal> {
        let Some((action, window)) = command.action() else { return Ok(false) };
        match self.terms.timetable.permits(self.terms.start, at, action, window) {
            Answer::Ok => Ok(false),
            Answer::Late => Ok(true),
            Answer::Refused => Err(self.not_the_time(at, action, window)),
        }
    }

    fn not_the_time(&self, at: Moment, action: Action, window: Option<Window>) -> Refusal {
        let (phase, _) = self.terms.timetable.at(self.terms.start, at);
        Refusal::NotTheTime { action, phase, window }
    }

    fn company_decides(
        &self,
        company: &str,
        agent: &str,
        at: Moment,
        command: &Command,
        is_late: bool,
    ) -> Decision {
        if let Command::Register { team, canaries } = command {
            return self.register(company, agent, team, canaries);
        }
        let entrant = self.entrant(company)?;
        if entrant.agent != agent {
            return Err(Refusal::WrongActor { who: "the company's own agent" });
        }
        if let Some(how) = entrant.left {
            return Err(Refusal::RoundIs { status: how.name() });
        }
        match command {
            Command::AcknowledgeRules { rules_sha256 } => self.acknowledge(company, entrant, rules_sha256),
            Command::EnterCall { hold_cap } => self.enter(company, entrant, *hold_cap),
            Command::PublishKickoff { objective, profile } => {
                self.kickoff(company, entrant, objective, profile)
            }
            Command::Withdraw => {
                Ok(vec![Event::LeftRound { company: company.to_owned(), how: Left::Withdrawn }])
            }
            Command::FileDispute { company: target, window, ground } => {
                self.file_dispute(company, at, (target, *window), ground)
            }
            Command::AmendDispute { dispute, text } => self.amend_dispute(company, at, dispute, text),
            _ => self.work_decides((company, entrant), at, command, is_late),
        }
    }

    fn operator_decides(&self, name: &str, at: Moment, command: &Command) -> Decision {
        match command {
            Command::Announce => {
                self.terms.check()?;
                let transaction = self.funding(self.terms.cost_max()?);
                Ok(vec![Event::Announced, self.moved(transaction)?])
            }
            Command::Cancel { reason } => self.cancel(reason),
            Command::Approve { company, rail, agent } => self.approve(company, *rail, agent),
            Command::RecordIntervention { company, window, text } => {
                self.entrant(company)?;
                let findings = self.screened_text(&[], ("text", text, REASON))?;
                let (_, receipt) =
                    self.receipt((company, *window), ReceiptKind::Operator, name, text.clone(), at);
                Ok([vec![receipt], flagged(company, findings)].concat())
            }
            Command::Disqualify { company, reason } => {
                self.entrant(company)?;
                self.screened(&[("reason", reason, REASON)])?;
                Ok(vec![Event::LeftRound { company: company.clone(), how: Left::Disqualified }])
            }
            Command::Invalidate { company, window, penalties, rationale } => {
                self.check_not_over(at)?;
                self.screened(&[("rationale", rationale, REASON)])?;
                let record = self.reversed(company, *window, penalties)?;
                Ok(self.judgement((company, *window), name, (record, rationale, None), at))
            }
            Command::Judge { company, window, verdict } => {
                // An admin decides what is left when the round is over and blocks its end.
                let is_left =
                    at >= self.terms.end() && self.standing(company, *window)?.state() == State::Pending;
                if !is_left {
                    return Err(Refusal::WrongActor { who: "an evaluator" });
                }
                self.judge((company, *window), name, verdict, at)
            }
            Command::DecideAward { award, pay, reason } => self.decide_award(award, *pay, reason),
            Command::Hide { target, reason } => self.hide(target, reason),
            _ => Err(Refusal::WrongActor { who: "somebody else than an operator" }),
        }
    }

    fn evaluator_decides(&self, name: &str, at: Moment, command: &Command) -> Decision {
        match command {
            Command::Judge { company, window, verdict } => {
                let now = self.terms.timetable.permits(self.terms.start, at, Action::Judge, Some(*window));
                let is_pending = self.standing(company, *window)?.state() == State::Pending;
                let is_left = is_pending && self.is_over(*window, at) && at < self.terms.end();
                if now != Answer::Ok && !is_left {
                    return Err(self.not_the_time(at, Action::Judge, Some(*window)));
                }
                self.judge((company, *window), name, verdict, at)
            }
            Command::RuleDispute { dispute, ruling, rationale } => {
                self.check_not_over(at)?;
                self.rule(name, dispute, ruling, rationale, at)
            }
            Command::Hide { target, reason } => self.hide(target, reason),
            _ => Err(Refusal::WrongActor { who: "somebody else than an evaluator" }),
        }
    }

    fn system_decides(&self, at: Moment, command: &Command) -> Decision {
        match command {
            Command::TakeSnapshot { after } if !self.is_over(*after, at) => {
                Err(Refusal::WindowNotOver { window: *after })
            }
            Command::TakeSnapshot { after } => {
                Ok(vec![Event::Snapshotted { snapshot: Box::new(self.snapshot(Some(*after), at)) }])
            }
            Command::Settle => self.settle(at),
            Command::ReleaseLocked => self.release_locked(at),
            _ => Err(Refusal::WrongActor { who: "somebody else than the platform" }),
        }
    }

    fn check_not_over(&self, at: Moment) -> Result<(), Refusal> {
        if at < self.terms.end() {
            return Ok(());
        }
        Err(Refusal::NotTheTime { action: Action::Judge, phase: Phase::Final, window: None })
    }

    fn approve(&self, company: &str, rail: Rail, agent: &str) -> Decision {
        let entrant = self.entrant(company)?;
        if agent.starts_with("operator:") || entrant.agent != agent {
            return Err(Refusal::ApprovalNotForOwnAgent);
        }
        Ok(vec![Event::Approved { company: company.to_owned(), rail, agent: agent.to_owned() }])
    }

    fn judge(&self, of: (&str, Window), by: &str, verdict: &Verdict, at: Moment) -> Decision {
        let (company, window) = of;
        if self.standing(company, window)?.state() == State::Late {
            return Err(Refusal::LateIsNotJudged);
        }
        if verdict.state == State::Reversed {
            return Err(Refusal::NotAJudgement { state: "reversed" });
        }
        let effect = verdict.external_effect.as_deref().unwrap_or("none");
        self.screened(&[("rationale", &verdict.rationale, REASON), ("external_effect", effect, REASON)])?;
        let record = self.judged(company, window, verdict)?;
        let effect = verdict.external_effect.clone();
        Ok(self.judgement(of, by, (record, &verdict.rationale, effect), at))
    }

    /// A judgement with its public receipt.
    fn judgement(
        &self,
        (company, window): (&str, Window),
        by: &str,
        (record, rationale, external_effect): (Record, &str, Option<String>),
        at: Moment,
    ) -> Vec<Event> {
        let (receipt, issued) =
            self.receipt((company, window), ReceiptKind::Evaluator, by, rationale.into(), at);
        let (by, rationale) = (by.to_owned(), rationale.to_owned());
        let judgement = Judgement { record, by, rationale, external_effect, receipt, at };
        vec![issued, Event::Judged { company: company.to_owned(), window, judgement: Box::new(judgement) }]
    }

    /// A public receipt: its name, and the event that issues it.
    fn receipt(
        &self,
        (company, window): (&str, Window),
        kind: ReceiptKind,
        actor: &str,
        text: Text,
        at: Moment,
    ) -> (String, Event) {
        let reference = format!("receipt:{}", self.receipts.len() + 1);
        let (company, actor) = (company.to_owned(), actor.to_owned());
        let receipt = Receipt { company, window, kind, actor, text, at };
        (reference.clone(), Event::ReceiptIssued { reference, receipt })
    }

    fn file_dispute(&self, filer: &str, at: Moment, of: (&str, Window), ground: &Text) -> Decision {
        let (company, window) = of;
        if let Some(missing) = self.entrant(filer)?.missing_step() {
            return Err(Refusal::NotActive { missing });
        }
        let submission = self.entrant(company)?.submission(window);
        submission.ok_or(Refusal::NoSubmission { window })?;
        let findings = self.screened_text(&[], ("ground", ground, GROUND))?;
        let is_open = self.disputes.values().any(|dispute| {
            dispute.status == DisputeStatus::Open
                && (&*dispute.filer, &*dispute.company, dispute.window) == (filer, company, window)
        });
        if is_open {
            return Err(Refusal::DisputeOpen);
        }
        let reference = format!("dispute:{}", self.disputes.len() + 1);
        let stake = self.terms.dispute_stake;
        let locked = transfer(&self.hold(filer), &self.dispute_account(&reference, filer), stake);
        let dispute = Dispute {
            company: company.to_owned(),
            window,
            filer: filer.to_owned(),
            ground: ground.clone(),
            stake,
            filed_at: at,
            amendments: Vec::new(),
            status: DisputeStatus::Open,
            receipt: None,
        };
        let mut events = vec![Event::DisputeFiled { reference, dispute }];
        events.extend(self.moved_if_any(locked)?);
        events.extend(flagged(filer, findings));
        Ok(events)
    }

    fn open_dispute(&self, reference: &str) -> Result<&Dispute, Refusal> {
        let dispute = self.disputes.get(reference).ok_or(Refusal::Unknown { what: "dispute" })?;
        if dispute.status == DisputeStatus::Open { Ok(dispute) } else { Err(Refusal::DisputeClosed) }
    }

    /// While a dispute is open its filer may add to it, until the round ends.
    fn amend_dispute(&self, filer: &str, at: Moment, reference: &str, text: &Text) -> Decision {
        self.check_not_over(at)?;
        let dispute = self.open_dispute(reference)?;
        if dispute.filer != filer {
            return Err(Refusal::NotOwn { what: "dispute" });
        }
        if dispute.amendments.len() >= AMENDMENTS_MAX {
            return Err(Refusal::TooMany { what: "amendments", limit: AMENDMENTS_MAX });
        }
        let findings = self.screened_text(&[], ("text", text, GROUND))?;
        let amended = Event::DisputeAmended { reference: reference.to_owned(), text: text.clone() };
        Ok([vec![amended], flagged(filer, findings)].concat())
    }

    fn rule(&self, by: &str, reference: &str, ruling: &Ruling, rationale: &str, at: Moment) -> Decision {
        let dispute = self.open_dispute(reference)?;
        self.screened(&[("rationale", rationale, REASON)])?;
        let of = (&*dispute.company, dispute.window);
        let mut events = match ruling {
            Ruling::Upheld(verdict) => {
                self.screened(&[("rationale", &verdict.rationale, REASON)])?;
                let record = self.judged(of.0, of.1, verdict)?;
                self.judgement(of, by, (record, &verdict.rationale, verdict.external_effect.clone()), at)
            }
            Ruling::Dismissed | Ruling::Baseless => {
                vec![self.receipt(of, ReceiptKind::Evaluator, by, rationale.into(), at).1]
            }
        };
        let status = match ruling {
            Ruling::Upheld(_) => DisputeStatus::Upheld,
            Ruling::Dismissed => DisputeStatus::Dismissed,
            Ruling::Baseless => DisputeStatus::Baseless,
        };
        let receipt = Some(format!("receipt:{}", self.receipts.len() + 1));
        events.extend(self.close_dispute(reference, dispute, status, receipt)?);
        Ok(events)
    }

    /// The end of a dispute, and of its stake: lost only where there was no ground at all.
    pub(super) fn close_dispute(
        &self,
        reference: &str,
        dispute: &Dispute,
        status: DisputeStatus,
        receipt: Option<String>,
    ) -> Decision {
        let locked = self.dispute_account(reference, &dispute.filer);
        let to = match status {
            DisputeStatus::Baseless => self.burned(),
            _ => self.hold(&dispute.filer),
        };
        let transaction = self.all_of(&locked, &to);
        let reference = reference.to_owned();
        let mut events = vec![Event::DisputeClosed { reference, status, receipt }];
        events.extend(self.moved_if_any(transaction)?);
        Ok(events)
    }

    /// Money that moves, if the accounts allow it.
    pub(super) fn moved(&self, transaction: Transaction) -> Result<Event, Refusal> {
        self.ledger.check(&transaction)?;
        Ok(Event::Moved { transaction })
    }

    /// As [`Round::moved`], and nothing where nothing moves.
    pub(super) fn moved_if_any(&self, transaction: Transaction) -> Result<Option<Event>, Refusal> {
        if transaction.is_empty() { Ok(None) } else { self.moved(transaction).map(Some) }
    }

    /// Texts within their bounds, without what must not become public. Gives what a person should see.
    pub(super) fn screened(&self, fields: &[(&str, &str, Length)]) -> Result<Vec<Finding>, Refusal> {
        let mut faults = Faults::default();
        for (field, text, length) in fields {
            if let Some(fault) = length.fault(text) {
                faults.add(&Pointer::default().key(field), fault);
            }
        }
        if !faults.0.is_empty() {
            return Err(Refusal::Form(faults));
        }
        let scanner = self.scanner();
        let findings: Vec<Finding> =
            fields.iter().flat_map(|(field, text, _)| scanner.scan(field, text)).collect();
        if findings.iter().any(|finding| finding.severity == Severity::Block) {
            let blocking = findings.into_iter().filter(|finding| finding.severity == Severity::Block);
            return Err(Refusal::ForbiddenDisclosure(blocking.collect()));
        }
        Ok(findings)
    }

    /// The same, and a text that may lie elsewhere: then it was looked at already.
    pub(super) fn screened_text(
        &self,
        fields: &[(&str, &str, Length)],
        (field, text, length): (&str, &Text, Length),
    ) -> Result<Vec<Finding>, Refusal> {
        let mut fields = fields.to_vec();
        fields.extend(text.said().map(|said| (field, said, length)));
        Ok([self.screened(&fields)?, text.findings().to_vec()].concat())
    }

    /// It knows the canaries of every company: nobody may publish those of another one either.
    pub(super) fn scanner(&self) -> Scanner {
        let canaries: Vec<String> =
            self.entrants.values().flat_map(|entrant| entrant.canaries.iter().cloned()).collect();
        Scanner::new(&canaries, MARKERS).expect("canaries were checked when they came in")
    }

    pub(super) fn new_entrant(agent: &str, team: &super::Team, canaries: &[String]) -> Entrant {
        Entrant {
            agent: agent.to_owned(),
            team: team.clone(),
            canaries: canaries.to_vec(),
            acknowledged: false,
            entered_at: None,
            kickoff: None,
            approvals: std::collections::BTreeMap::new(),
            left: None,
            days: Default::default(),
        }
    }

    pub(super) fn check_new_id(&self, company: &str) -> Result<(), Refusal> {
        check_id(company)?;
        if self.entrants.contains_key(company) { Err(Refusal::AlreadyRegistered) } else { Ok(()) }
    }
}

/// What a person should look at, if anything.
pub(super) fn flagged(company: &str, findings: Vec<Finding>) -> Vec<Event> {
    if findings.is_empty() {
        return Vec::new();
    }
    vec![Event::Flagged { company: company.to_owned(), findings }]
}
