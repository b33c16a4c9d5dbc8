//! Refusals of a round over HTTP, with all their faults.

use arena_contests::leak::Finding;
use arena_contests::sprint::round::Refusal;

use crate::problem::Problem;

/// A refusal of a round over HTTP.
pub fn problem(refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::Form(faults) => Problem::form(faults),
        Refusal::ForbiddenDisclosure(findings) => {
            let mut problem = Problem::new(refusal.code(), refusal);
            findings.iter().for_each(|finding| disclosed(&mut problem, finding));
            problem
        }
        refusal => Problem::new(refusal.code(), refusal),
    }
}

/// Where it is and which rule says so; never what was found.
fn disclosed(problem: &mut Problem, Finding { field, rule, offset, .. }: &Finding) {
    problem.push(
        &format!("/{field}"),
        "forbidden_disclosure",
        format_args!("rule `{rule}` at byte {offset}"),
    );
}

#[cfg(test)]
mod tests {
    use arena_contests::Moment;
    use arena_contests::document::Faults;
    use arena_contests::sprint::Window;
    use arena_contests::sprint::clock::{Action, Phase};
    use arena_contests::sprint::record::RecordError;
    use arena_contests::sprint::round::{Rail, Refusal};
    use arena_ledger::Amount;

    use super::problem;
    use crate::problem::code_named;

    fn refusals() -> Vec<Refusal> {
        use Refusal as R;
        let (at, window) = (Moment::from_unix_ms(0), Window::W1);
        let (have, need) = (Amount::ZERO, Amount::ZERO);
        let text = || "x".to_owned();
        let mut all = vec![
            R::NotTheTime { action: Action::Submit, phase: Phase::Final, window: None },
            R::TimeGoesBack { at, last: at },
            R::RoundIs { status: "a draft" },
            R::WrongActor { who: "an evaluator" },
            R::BadId { id: text() },
            R::UnknownCompany { company: text() },
            R::AlreadyRegistered,
            R::TooMany { what: "entrants", limit: 1 },
            R::OtherRules,
            R::NotActive { missing: "the hold" },
            R::AlreadyDone { what: "it" },
            R::ApprovalMissing { rail: Rail::Town },
            R::ApprovalNotForOwnAgent,
            R::Form(Faults::default()),
            R::ForbiddenDisclosure(Vec::new()),
            R::OwnerReviewsOwnWork,
            R::NoIntentStub { window },
            R::AlreadySubmitted,
            R::NoSubmission { window },
            R::StakeBelowMinimum { have, need },
            R::StakeAboveFreeHold { have, need },
            R::StakeCannotChange { stake: need },
            R::HoldNotOfTheCall { have, need },
            R::HoldAboveBudget { hold: have, budget: need },
            R::UnknownReceipt { receipt: text() },
            R::Unknown { what: "post" },
            R::NotOwn { what: "post" },
            R::NotAJudgement { state: "late" },
            R::LateIsNotJudged,
            R::EvidenceAbove { max: 0, because: "it lacks something" },
            R::UndisclosedInterventionOnRecord,
            R::DuplicateNeedsPenalty,
            R::NotAccepted,
            R::DisputeOpen,
            R::DisputeClosed,
            R::WindowNotOver { window },
            R::NotOver { end: at },
            R::PendingBlocksFinal { company: text(), window },
            R::StartNotAtMidnight { start: at },
            R::TooMuchMoney,
            R::Money(arena_ledger::Refusal::Empty),
        ];
        all.extend(RecordError::ALL.iter().map(|why| R::Record(*why)));
        all
    }

    #[test]
    fn every_refusal_has_its_code_in_the_table() {
        for refusal in refusals() {
            let code =
                code_named(refusal.code()).unwrap_or_else(|| panic!("`{}` is missing", refusal.code()));
            let told = problem(&refusal);
            assert_eq!((told.code(), told.status().as_u16()), (refusal.code(), code.status));
            assert!((400..500).contains(&code.status), "{refusal}");
        }
    }
}
