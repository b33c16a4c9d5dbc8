//! Who takes part, as it is written on a command line: `honest=24,lazy=3`, or only how many.

use std::collections::BTreeMap;

use arena_claims::simulate::{Config, Population};
use arena_engine::Excerpt;
use arena_ledger::{Amount, split};

use crate::failure::Failure;

/// Agents of each population.
pub(super) type Field = BTreeMap<Population, u64>;

/// Most agents in all. Every one of them is in every draw.
const AGENTS_MAX: u64 = 1_000;

/// Reads a list of populations; everything that is wrong with it is told at once.
pub(super) fn parse(text: &str) -> Result<Field, Failure> {
    let (field, faults) = match text.trim().parse::<u64>() {
        Ok(total) => proportioned(total),
        Err(_) => listed(text),
    };
    if faults.is_empty() {
        return Ok(field);
    }
    let why = if faults.len() == 1 { "1 fault".to_owned() } else { format!("{} faults", faults.len()) };
    let names = Population::ALL.map(Population::name).join(", ");
    let failure = Failure::usage(format_args!("read --agents `{}`", Excerpt::line(text)), why);
    Err(failure
        .details(faults)
        .hint(format_args!("such as honest=24,lazy=3, of {names}; or a number of agents")))
}

/// That many agents in the proportions of the ordinary field.
fn proportioned(total: u64) -> (Field, Vec<String>) {
    let ordinary = Config::mixed_field();
    let amounts = ordinary.values().map(|count| Amount::new(*count).unwrap_or_default());
    let weights: Vec<Amount> = amounts.collect();
    let shares = Amount::new(total).and_then(|total| split(total, &weights).ok()).unwrap_or_default();
    let field = ordinary.into_keys().zip(shares.into_iter().map(Amount::units));
    (field.filter(|(_, count)| *count > 0).collect(), limits(total).into_iter().collect())
}

fn limits(total: u64) -> Option<String> {
    match total {
        0 => Some("there are no agents; at least 1 is needed".to_owned()),
        1..=AGENTS_MAX => None,
        _ => Some(format!("{total} agents; the limit is {AGENTS_MAX}")),
    }
}

fn listed(text: &str) -> (Field, Vec<String>) {
    let mut field = Field::new();
    let mut faults = Vec::new();
    for (i, item) in text.split(',').map(str::trim).enumerate() {
        let place = format!("item {} `{}`", i + 1, Excerpt::line(item));
        let (name, count) = match item.split_once('=') {
            Some((name, count)) => (name.trim(), Some(count.trim())),
            None => (item, None),
        };
        let population = Population::named(name);
        if population.is_none() {
            faults.push(format!("{place}: {}", unknown(name)));
        }
        let number = count.and_then(|count| count.parse::<u64>().ok()).filter(|count| *count <= AGENTS_MAX);
        if number.is_none() {
            let example = population.map_or("honest", Population::name);
            faults.push(format!("{place}: a population has 0 to {AGENTS_MAX} agents, such as {example}=3"));
        }
        let (Some(population), Some(number)) = (population, number) else { continue };
        if field.insert(population, number).is_some() {
            faults.push(format!("{place}: {name} stands twice; give all of its agents in one item"));
        }
    }
    if faults.is_empty() {
        faults.extend(limits(field.values().sum()));
    }
    field.retain(|_, count| *count > 0);
    (field, faults)
}

fn unknown(name: &str) -> String {
    let likeness = |population: &Population| {
        // Far enough apart to be an order.
        (strsim::jaro_winkler(name, population.name()) * 1_000.0) as u32
    };
    let nearest = Population::ALL.into_iter().max_by_key(likeness).filter(|nearest| likeness(nearest) > 700);
    let meant = nearest.map_or(String::new(), |nearest| format!("; did you mean `{}`?", nearest.name()));
    format!("there is no population of this name{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ink::Ink;

    fn faults(text: &str) -> String {
        parse(text).expect_err("faulty").shown(Ink::NONE)
    }

    #[test]
    fn a_list_and_a_number_are_read() {
        let field = parse(" honest=24, lazy = 3,griefing=0").expect("a field");
        assert_eq!(field, [(Population::Honest, 24), (Population::Lazy, 3)].into());
        assert_eq!(parse("42").expect("a field"), Config::mixed_field());
        let half = parse("21").expect("a field");
        assert_eq!((half[&Population::Honest], half.values().sum::<u64>()), (12, 21));
        assert_eq!(parse("1").expect("a field"), [(Population::Honest, 1)].into());
        assert_eq!(parse("patient=1000").expect("a field"), [(Population::Patient, 1_000)].into());
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let told = faults("honst=24,lazy,echoing=3,echoing=4,copying=-1,=2,bribing=1001");
        for part in [
            "6 faults",
            "item 1 `honst=24`: there is no population of this name; did you mean `honest`?",
            "item 2 `lazy`: a population has 0 to 1000 agents, such as lazy=3",
            "item 4 `echoing=4`: echoing stands twice",
            "item 5 `copying=-1`: a population has",
            "item 6 `=2`: there is no population of this name\n",
            "item 7 `bribing=1001`",
            "hint: such as honest=24,lazy=3, of honest, lazy,",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        for (text, part) in [
            ("0", "there are no agents"),
            ("honest=0", "there are no agents"),
            ("1001", "1001 agents; the limit is 1000"),
            ("honest=600,lazy=600", "1200 agents"),
            ("", "item 1 ``: there is no population"),
            ("18446744073709551616", "no population"),
        ] {
            assert!(faults(text).contains(part), "{text}: {}", faults(text));
        }
    }
}
