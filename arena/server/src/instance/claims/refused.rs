//! Refusals of the life of a claim over HTTP, with all their faults.

use arena_claims::Faults;
use arena_claims::life::Refusal;

use crate::problem::Problem;

/// A refusal over HTTP: its code is the domain's, its status is that of the table.
pub fn problem(refusal: &Refusal) -> Problem {
    let (prefix, faults) = match refusal {
        Refusal::ManifestFaults(faults) => ("/manifest", faults),
        Refusal::RecordFaults(faults) => ("/envelope", faults),
        Refusal::BallotFaults(faults) => ("/ballot", faults),
        other => return Problem::new(other.code(), other),
    };
    faulty(refusal.code(), prefix, faults)
}

fn faulty(code: &'static str, prefix: &str, faults: &Faults) -> Problem {
    let mut problem = Problem::new(code, format_args!("it has {} faults", faults.0.len()));
    for finding in &faults.0 {
        problem.push(&format!("{prefix}{}", finding.pointer), code, &finding.message);
    }
    problem
}

#[cfg(test)]
mod tests {
    use arena_canon::Digest;
    use arena_claims::Faults;
    use arena_claims::envelope::EnvelopeRefusal;
    use arena_claims::life::Refusal;
    use arena_ledger::Amount;

    use super::problem;
    use crate::problem::code_named;

    fn refusals() -> Vec<Refusal> {
        use Refusal as R;
        let (text, digest, zero) = (String::new, Digest::of(b""), Amount::ZERO);
        vec![
            R::TimeGoesBack { at: 0, now: 1 },
            R::DeadlinePassed { claim: text() },
            R::UnknownAgent { agent: text() },
            R::AgentExists { agent: text() },
            R::BadName { name: text(), why: text() },
            R::WeakKey,
            R::KeyInUse { agent: text() },
            R::UnknownClaim { claim: text() },
            R::ClaimExists { claim: text() },
            R::NotYours { who: "x" },
            R::WrongPhase { have: "a", need: "b" },
            R::FunderHoldsNoRole,
            R::HoldsAnotherRole,
            R::OperatorHoldsRole { operator: text() },
            R::HoldsMarketPosition,
            R::StandingTooLow { have: 0, need: 1 },
            R::AmountTooSmall { have: zero, need: zero },
            R::StakeBelowMinimum { have: zero, need: zero },
            R::ManifestFaults(Faults(Vec::new())),
            R::OtherParams { have: digest, need: digest },
            R::NotCorrected,
            R::CoolingDown { from: 0 },
            R::NoParty,
            R::RoundNotWanted { round: 2, wanted: 1 },
            R::PartyUnstaked { agent: text(), have: zero, need: zero },
            R::RoundsSpent { left: 0, need: 1 },
            R::NoDraw,
            R::NoDrawDue,
            R::DrawCommitted,
            R::NothingSeen,
            R::RoundNotDue { round: 0, due: 0 },
            R::DrawRefused { why: text() },
            R::OtherSalt,
            R::AuditPending,
            R::InputsUnchecked,
            R::WindowFull { have: 0, limit: 0 },
            R::DuplicateCommitment,
            R::AlreadyCommitted,
            R::NotCommitted,
            R::AlreadyRevealed,
            R::OtherCommitment,
            R::Envelope(EnvelopeRefusal::BadSignature),
            R::RecordFaults(Faults(Vec::new())),
            R::BallotFaults(Faults(Vec::new())),
            R::NoSeat,
            R::RecordCount { have: 0, need: 2 },
            R::NoCanary,
        ]
    }

    /// A new one does not compile until it is here, and in the list.
    fn is_known(refusal: &Refusal) -> bool {
        use Refusal as R;
        match refusal {
            R::TimeGoesBack { .. }
            | R::DeadlinePassed { .. }
            | R::UnknownAgent { .. }
            | R::AgentExists { .. }
            | R::BadName { .. }
            | R::WeakKey
            | R::KeyInUse { .. }
            | R::UnknownClaim { .. }
            | R::ClaimExists { .. }
            | R::NotYours { .. }
            | R::WrongPhase { .. }
            | R::FunderHoldsNoRole
            | R::HoldsAnotherRole
            | R::OperatorHoldsRole { .. }
            | R::HoldsMarketPosition
            | R::StandingTooLow { .. }
            | R::AmountTooSmall { .. }
            | R::StakeBelowMinimum { .. }
            | R::Ledger(_)
            | R::ManifestFaults(_)
            | R::OtherParams { .. }
            | R::NotCorrected
            | R::CoolingDown { .. }
            | R::NoParty
            | R::RoundNotWanted { .. }
            | R::PartyUnstaked { .. }
            | R::RoundsSpent { .. }
            | R::NoDraw
            | R::NoDrawDue
            | R::DrawCommitted
            | R::NothingSeen
            | R::RoundNotDue { .. }
            | R::DrawRefused { .. }
            | R::OtherSalt
            | R::AuditPending
            | R::InputsUnchecked
            | R::WindowFull { .. }
            | R::DuplicateCommitment
            | R::AlreadyCommitted
            | R::NotCommitted
            | R::AlreadyRevealed
            | R::OtherCommitment
            | R::Envelope(_)
            | R::RecordFaults(_)
            | R::BallotFaults(_)
            | R::NoSeat
            | R::RecordCount { .. }
            | R::NoCanary => true,
        }
    }

    #[test]
    fn every_refusal_has_its_code_in_the_table() {
        for refusal in refusals() {
            assert!(is_known(&refusal));
            let code =
                code_named(refusal.code()).unwrap_or_else(|| panic!("`{}` is missing", refusal.code()));
            let told = problem(&refusal);
            assert_eq!((told.code(), told.status().as_u16()), (refusal.code(), code.status));
        }
        assert_eq!(code_named("ledger_refused").map(|code| code.status), Some(409));
    }
}
