//! The end of a round: what is left open lapses, stakes and holds go where they belong, awards are
//! paid, and what is hidden stays hidden.

use arena_canon::Digest;
use arena_ledger::{Account, transfer};

use super::command::Target;
use super::decide::{Decision, REASON};
use super::event::{Event, Happened};
use super::judging::DisputeStatus;
use super::money::AwardStatus;
use super::refusal::Refusal;
use super::{LOCK_DAYS, Round};
use crate::moment::Moment;
use crate::sprint::Window;
use crate::sprint::record::State;
use crate::sprint::stake::{self, StakeResult};
use crate::text::Text;

/// A round that runs ahead of its events while a decision of many steps is made.
struct Ahead {
    round: Round,
    at: Moment,
    events: Vec<Event>,
}

impl Ahead {
    fn push(&mut self, event: Event) {
        let happened = Happened { at: self.at, event };
        self.round.apply(&happened);
        self.events.push(happened.event);
    }
}

impl Round {
    pub(super) fn settle(&self, at: Moment) -> Decision {
        let end = self.terms.end();
        if at < end {
            return Err(Refusal::NotOver { end });
        }
        let mut ahead = Ahead { round: self.clone(), at, events: Vec::new() };
        let open = self.disputes.iter().filter(|(_, dispute)| dispute.status == DisputeStatus::Open);
        for (reference, dispute) in open {
            let closing = ahead.round.close_dispute(reference, dispute, DisputeStatus::Lapsed, None)?;
            closing.into_iter().for_each(|event| ahead.push(event));
        }
        for (company, entrant) in &self.entrants {
            for window in Window::ALL.iter().filter(|window| entrant.submission(**window).is_some()) {
                let record = ahead.round.standing(company, *window)?;
                if record.state() == State::Pending && entrant.left.is_none() {
                    return Err(Refusal::PendingBlocksFinal { company: company.clone(), window: *window });
                }
                // Nobody judges what a company left behind, so its stake comes back.
                let result = match stake::settle(&record) {
                    StakeResult::Held => StakeResult::Returned,
                    result => result,
                };
                ahead.push(Event::StakeSettled { company: company.clone(), window: *window, result });
                let transaction = ahead.round.settle_stake(company, *window, result);
                if let Some(moved) = ahead.round.moved_if_any(transaction)? {
                    ahead.push(moved);
                }
            }
        }
        self.pay(&mut ahead)?;
        self.release_holds(&mut ahead)?;
        ahead.push(Event::Settled);
        Ok(ahead.events)
    }

    /// The final standings, and what they pay. An award that waits stays in the pot.
    fn pay(&self, ahead: &mut Ahead) -> Result<(), Refusal> {
        let snapshot = ahead.round.snapshot(None, ahead.at);
        ahead.push(Event::Snapshotted { snapshot: Box::new(snapshot) });
        let rows = ahead.round.standings(ahead.at);
        for (i, award) in ahead.round.awards_of(&rows).into_iter().enumerate() {
            if award.status == AwardStatus::Paid {
                let to = ahead.round.available(&award.company);
                let moved = ahead.round.moved(transfer(&ahead.round.pot(), &to, award.amount))?;
                ahead.push(moved);
            }
            ahead.push(Event::Awarded { reference: format!("award:{}", i + 1), award });
        }
        Ok(())
    }

    /// Every hold is lifted; what was put aside and is not waiting goes to the treasury.
    fn release_holds(&self, ahead: &mut Ahead) -> Result<(), Refusal> {
        for company in self.entrants.keys() {
            let (hold, available) = (ahead.round.hold(company), ahead.round.available(company));
            if let Some(moved) = ahead.round.moved_if_any(ahead.round.all_of(&hold, &available))? {
                ahead.push(moved);
            }
        }
        let waiting = ahead.round.awards.values().filter(|award| award.status == AwardStatus::Held);
        let waiting = arena_ledger::Amount::checked_sum(waiting.map(|award| award.amount));
        let pot = ahead.round.pot();
        let rest = ahead.round.ledger.balance(&pot).less(waiting.unwrap_or_default());
        let to_treasury = transfer(&pot, &Account::treasury(&self.terms.asset), rest);
        if let Some(moved) = ahead.round.moved_if_any(to_treasury)? {
            ahead.push(moved);
        }
        Ok(())
    }

    pub(super) fn decide_award(&self, reference: &str, pay: bool, reason: &str) -> Decision {
        self.screened(&[("reason", reason, REASON)])?;
        let award = self.awards.get(reference).ok_or(Refusal::Unknown { what: "award" })?;
        if award.status != AwardStatus::Held {
            return Err(Refusal::AlreadyDone { what: "this award" });
        }
        let (status, to) = match pay {
            true => (AwardStatus::Paid, self.available(&award.company)),
            false => (AwardStatus::Declined, Account::treasury(&self.terms.asset)),
        };
        let moved = self.moved(transfer(&self.pot(), &to, award.amount))?;
        Ok(vec![Event::AwardDecided { reference: reference.to_owned(), status }, moved])
    }

    pub(super) fn release_locked(&self, at: Moment) -> Decision {
        let end = self.terms.end().plus_seconds(LOCK_DAYS * 86_400);
        if at < end {
            return Err(Refusal::NotOver { end });
        }
        self.unlock().into_iter().map(|transaction| self.moved(transaction)).collect()
    }

    /// Everything at stake or held back goes home, and the rest to the treasury.
    pub(super) fn cancel(&self, reason: &str) -> Decision {
        self.screened(&[("reason", reason, REASON)])?;
        let mut events = vec![Event::Cancelled { reason: reason.to_owned() }];
        for company in self.entrants.keys() {
            let available = self.available(company);
            let mut accounts = vec![self.hold(company)];
            accounts.extend(Window::ALL.iter().map(|window| self.stake_account(company, *window)));
            let filed = self.disputes.iter().filter(|(_, dispute)| &dispute.filer == company);
            accounts.extend(filed.map(|(reference, _)| self.dispute_account(reference, company)));
            for account in accounts {
                events.extend(self.moved_if_any(self.all_of(&account, &available))?);
            }
        }
        let treasury = Account::treasury(&self.terms.asset);
        events.extend(self.moved_if_any(self.all_of(&self.pot(), &treasury))?);
        Ok(events)
    }

    /// Whether a text that anybody wrote here lies under a digest. Of a post there is the post to hide.
    fn has_text(&self, sha256: &Digest) -> bool {
        let disputes = self.disputes.values().flat_map(|dispute| {
            std::iter::once(&dispute.ground).chain(dispute.amendments.iter().map(|it| &it.text))
        });
        let evidence = self.locker.evidence.values().map(|evidence| &evidence.description);
        let receipts = self.receipts.values().map(|receipt| &receipt.text);
        let mut kept = disputes.chain(evidence).chain(receipts).filter_map(Text::kept);
        kept.any(|kept| kept.sha256 == *sha256)
    }

    pub(super) fn hide(&self, target: &Target, reason: &str) -> Decision {
        self.screened(&[("reason", reason, REASON)])?;
        let hidden = match target {
            Target::Post(reference) => self.town.post(reference).map(|post| post.hidden.is_some()),
            Target::Artifact(digest) => {
                self.locker.artifact(digest).map(|artifact| artifact.hidden.is_some())
            }
            Target::Text(digest) => self.has_text(digest).then(|| self.withheld.contains_key(digest)),
        };
        match hidden {
            None => Err(Refusal::Unknown { what: "post, artifact or text" }),
            Some(true) => Err(Refusal::AlreadyDone { what: "hiding it" }),
            Some(false) => Ok(vec![Event::Hidden { target: target.clone(), reason: reason.to_owned() }]),
        }
    }
}
