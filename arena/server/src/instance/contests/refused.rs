//! Refusals of the module over HTTP, with all their faults.

use arena_contests::contest::{GateFailure, Refusal};
use arena_contests::document::Faults;
use arena_contests::leak::Finding;

use crate::problem::Problem;

/// A refusal of the module over HTTP. The first failure of the gate names it; all of them are told.
pub fn problem(refusal: &Refusal) -> Problem {
    let mut problem = match refusal {
        Refusal::Form(faults) => return Problem::form(faults),
        refusal => Problem::new(refusal.code(), refusal),
    };
    match refusal {
        Refusal::ForbiddenDisclosure(findings) => disclosed(&mut problem, findings),
        Refusal::Gate(failures) => {
            for failure in failures {
                match failure {
                    GateFailure::Form(faults) => malformed(&mut problem, faults),
                    GateFailure::ForbiddenDisclosure(findings) => disclosed(&mut problem, findings),
                    other => problem.push(place_of(other), other.code(), other),
                }
            }
        }
        _ => {}
    }
    problem
}

fn malformed(problem: &mut Problem, faults: &Faults) {
    for fault in &faults.0 {
        problem.push(fault.pointer.as_str(), "form", &fault.message);
    }
}

/// Where it is and which rule says so; never what was found.
fn disclosed(problem: &mut Problem, findings: &[Finding]) {
    for Finding { field, rule, offset, .. } in findings {
        let pointer = if field.starts_with('/') { field.clone() } else { format!("/{field}") };
        problem.push(&pointer, "forbidden_disclosure", format_args!("rule `{rule}` at byte {offset}"));
    }
}

/// The member that a failure is about, if it is about one.
const fn place_of(failure: &GateFailure) -> &'static str {
    match failure {
        GateFailure::NoChange => "/proposed_text",
        GateFailure::StaleClause => "/current_text",
        GateFailure::NotAdmitted(_) | GateFailure::DuplicateStrategy => "/metadata/strategy",
        GateFailure::FlaggedHallucination { .. } => "/legal_basis",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use arena_contests::Moment;
    use arena_contests::contest::{GateFailure, Refusal};
    use arena_contests::document::Faults;

    use super::problem;
    use crate::problem::code_named;

    fn failures() -> Vec<GateFailure> {
        use GateFailure as F;
        let all = vec![
            F::NotOpen,
            F::ReputationTooLow { have: 1, need: 2 },
            F::Form(Faults::default()),
            F::NoChange,
            F::StaleClause,
            F::SlotTaken,
            F::TooManyAttempts,
            F::DuplicateStrategy,
            F::NotAdmitted("why".to_owned()),
            F::ForbiddenDisclosure(Vec::new()),
            F::FlaggedHallucination { confidence: 1, need: 30 },
        ];
        // A new one does not compile until it is here, and in the list.
        for failure in &all {
            match failure {
                F::NotOpen
                | F::ReputationTooLow { .. }
                | F::Form(_)
                | F::NoChange
                | F::StaleClause
                | F::SlotTaken
                | F::TooManyAttempts
                | F::DuplicateStrategy
                | F::NotAdmitted(_)
                | F::ForbiddenDisclosure(_)
                | F::FlaggedHallucination { .. } => {}
            }
        }
        all
    }

    fn refusals() -> Vec<Refusal> {
        use Refusal as R;
        let at = Moment::from_unix_ms(0);
        let all = vec![
            R::TimeGoesBack { at, last: at },
            R::WrongActor { who: "an admin" },
            R::Unknown { what: "contest" },
            R::Exists { what: "slug" },
            R::TooManyDrafts { limit: 1 },
            R::TypeIsOpen { slug: "S".to_owned() },
            R::NotInStatus { what: "contest", status: "draft" },
            R::NoWay { what: "reward", from: "a", to: "b" },
            R::NotOver { ends_at: at },
            R::Form(Faults::default()),
            R::ForbiddenDisclosure(Vec::new()),
            R::OwnWork,
            R::AlreadyDone { what: "it" },
            R::ScoreTooHigh { tenths: 101 },
            R::ScoredByTournament,
            R::OtherStrategies { have: 1, need: 2 },
            R::Expired { at },
        ];
        for refusal in &all {
            match refusal {
                R::TimeGoesBack { .. }
                | R::WrongActor { .. }
                | R::Unknown { .. }
                | R::Exists { .. }
                | R::TooManyDrafts { .. }
                | R::TypeIsOpen { .. }
                | R::NotInStatus { .. }
                | R::NoWay { .. }
                | R::NotOver { .. }
                | R::Gate(_)
                | R::Form(_)
                | R::ForbiddenDisclosure(_)
                | R::OwnWork
                | R::AlreadyDone { .. }
                | R::ScoreTooHigh { .. }
                | R::ScoredByTournament
                | R::OtherStrategies { .. }
                | R::Expired { .. } => {}
            }
        }
        all.into_iter().chain(failures().into_iter().map(|failure| R::Gate(vec![failure]))).collect()
    }

    #[test]
    fn every_refusal_has_its_code_in_the_table_with_its_status() {
        for refusal in refusals() {
            let code =
                code_named(refusal.code()).unwrap_or_else(|| panic!("`{}` is missing", refusal.code()));
            let told = problem(&refusal);
            assert_eq!((told.code(), told.status().as_u16()), (refusal.code(), code.status));
            // A submission whose citations alone are bad is stored, so nobody is refused with this code
            // alone.
            let expected = if refusal.code() == "flagged_hallucination" { 201 } else { code.status };
            assert_eq!(refusal.status(), expected, "{refusal}");
        }
        for failure in failures() {
            assert!(code_named(failure.code()).is_some(), "{failure}");
        }
    }

    #[test]
    fn the_first_failure_of_the_gate_names_the_refusal_and_all_are_told() {
        let told = problem(&Refusal::Gate(failures()));
        assert_eq!(told.code(), "not_open");
        let codes: Vec<&str> = told.errors().iter().map(|error| error.code).collect();
        for code in ["not_open", "reputation_too_low", "no_change", "stale_clause", "flagged_hallucination"] {
            assert!(codes.contains(&code), "{codes:?}");
        }
    }
}
