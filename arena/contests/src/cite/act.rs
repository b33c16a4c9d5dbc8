//! Which act a text names, by the forms in which acts are cited.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::registry::{Act, EuNumber, Family, Registry};

/// An act as a citation names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'r> {
    pub(super) family: Family,
    /// Its number, where it is an act of the European Union.
    pub(super) eu: Option<EuNumber>,
    /// The registry's act of that name and type.
    pub(super) known: Option<&'r Act>,
    /// The registry has the year and number with the other type.
    pub(super) is_other_type: bool,
    /// No act can have this year and number.
    pub(super) is_implausible: bool,
}

struct Forms {
    regulation: Regex,
    directive: Regex,
    celex: Regex,
    lithuanian: Regex,
}

/// What may stand before the kind of an act.
const ADOPTED: &str = "(?:(?:commission|council) )?(?:(?:implementing|delegated) )?";

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let form = |pattern: &str| {
        RegexBuilder::new(pattern).case_insensitive(true).build().expect("the pattern is a constant")
    };
    let regulation = r"regulation \((?:eu|ec|eec)\) (no )?([0-9]+)/([0-9]+)";
    let directive = r"directive (?:\((?:eu|ec)\) )?([0-9]{2}|[0-9]{4})/([0-9]+)(?:/(?:ec|eu|eec))?";
    Forms {
        regulation: form(&format!("^{ADOPTED}{regulation}$")),
        directive: form(&format!("^{ADOPTED}{directive}$")),
        celex: form("^3([0-9]{4})([rl])([0-9]{4})$"),
        lithuanian: form(
            r"^(?:lt|lithuanian|lietuvos respublikos) (?:.* )?(?:no|nr)\.? ?([ivxlcdm]+-[0-9]+)$",
        ),
    }
});

/// The first form that fits `text`, which has been cleaned.
pub(super) fn named<'r>(text: &str, registry: &'r Registry, year_now: u32) -> Option<Named<'r>> {
    if let Some(act) = registry.by_alias(text) {
        let known = Some(act);
        return Some(Named {
            family: act.family,
            eu: act.eu,
            known,
            is_other_type: false,
            is_implausible: false,
        });
    }
    if let Some(eu) = eu_number(text) {
        let known = registry.by_number(eu);
        return Some(Named {
            family: eu.family(),
            eu: Some(eu),
            known,
            is_other_type: registry.by_number(eu.other_type()).is_some(),
            is_implausible: is_implausible(eu, year_now),
        });
    }
    let law = FORMS.lithuanian.captures(text)?;
    Some(Named {
        family: Family::LtLaw,
        eu: None,
        known: registry.by_law(&law[1]),
        is_other_type: false,
        is_implausible: false,
    })
}

fn eu_number(text: &str) -> Option<EuNumber> {
    // Too many digits are no year and no number of any act.
    let number = |digits: &str| digits.parse().unwrap_or(u32::MAX);
    let year = |digits: &str| number(digits) + if digits.len() == 2 { 1_900 } else { 0 };
    if let Some(found) = FORMS.regulation.captures(text) {
        let has_no = found.get(1).is_some();
        let (year_at, number_at) = if has_no { (3, 2) } else { (2, 3) };
        return Some(EuNumber {
            is_directive: false,
            year: year(&found[year_at]),
            number: number(&found[number_at]),
        });
    }
    if let Some(found) = FORMS.directive.captures(text) {
        return Some(EuNumber { is_directive: true, year: year(&found[1]), number: number(&found[2]) });
    }
    let found = FORMS.celex.captures(text)?;
    let is_directive = found[2].eq_ignore_ascii_case("l");
    Some(EuNumber { is_directive, year: number(&found[1]), number: number(&found[3]) })
}

/// The first year of the treaties is 1958; from 2015 on all acts of a year share one numbering.
fn is_implausible(eu: EuNumber, year_now: u32) -> bool {
    let most = match eu {
        EuNumber { year: 2015.., .. } => 3_500,
        EuNumber { is_directive: true, .. } => 999,
        EuNumber { is_directive: false, .. } => 4_500,
    };
    !(1_958..=year_now).contains(&eu.year) || !(1..=most).contains(&eu.number)
}
