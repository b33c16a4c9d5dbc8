//! Whether a link leads to an official source, and to the act that is cited. Nothing is fetched.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::act::Named;
use super::registry::{EuNumber, Family, Registry};

/// What comes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// It names the act at an official source.
    Match,
    /// It leads to an official source and names no act.
    WithoutIdentifier,
    /// It leads somewhere else.
    Unofficial,
    /// It leads to another act, or to the source of other acts.
    Mismatch,
    /// It is no link.
    Malformed,
}

/// A publisher and its acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Eu,
    Lt,
    Echr,
    Un,
}

const OFFICIAL: [(Group, &[&str]); 4] = [
    (Group::Eu, &["eur-lex.europa.eu", "data.europa.eu", "publications.europa.eu"]),
    (Group::Lt, &["e-tar.lt", "www.e-tar.lt", "e-seimas.lrs.lt"]),
    (Group::Echr, &["www.echr.coe.int", "echr.coe.int", "www.coe.int", "rm.coe.int", "hudoc.echr.coe.int"]),
    (Group::Un, &["www.un.org", "un.org", "legal.un.org", "treaties.un.org"]),
];

const BYTES_MAX: usize = 2_048;

impl Group {
    fn of(family: Family) -> Self {
        match family {
            Family::EuRegulation | Family::EuDirective => Self::Eu,
            Family::LtLaw => Self::Lt,
            Family::Echr => Self::Echr,
            Family::UnCharter => Self::Un,
        }
    }

    fn publishing_at(host: &str) -> Option<Self> {
        OFFICIAL.iter().find(|(_, hosts)| hosts.contains(&host)).map(|(group, _)| *group)
    }
}

/// What comes of `url` for the act `named`.
pub(super) fn check(url: &str, named: &Named<'_>, registry: &Registry) -> Link {
    let Some((host, path)) = parts(url) else { return Link::Malformed };
    let group = Group::of(named.family);
    match Group::publishing_at(&host) {
        None => Link::Unofficial,
        Some(published) if published != group => Link::Mismatch,
        Some(Group::Eu) => eu(&path, named.eu),
        Some(Group::Lt) => lithuanian(&path, named, registry),
        Some(Group::Echr) => holds(&path, "convention"),
        Some(Group::Un) => holds(&path, "charter"),
    }
}

/// The host in lower case, and path and query with their escapes undone.
fn parts(url: &str) -> Option<(String, String)> {
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '\\';
    if url.chars().count() > BYTES_MAX || url.contains(is_odd) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return None;
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() || port.is_empty() => host,
        Some(_) => return None,
        None => authority,
    };
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.chars().all(|letter| letter.is_alphanumeric() || letter == '-')
    };
    if labels.len() < 2 || !labels.iter().all(is_label) {
        return None;
    }
    let path = path.split('#').next().unwrap_or_default();
    Some((host.to_lowercase(), unescaped(path)))
}

/// Undoes `%41`; what is no escape stays as it is.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        let escape = digits.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match escape.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                plain.push(decoded);
                at += 3;
            }
            _ => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

struct Identifiers {
    eli: Regex,
    celex: Regex,
    register: Regex,
}

static IDENTIFIERS: LazyLock<Identifiers> = LazyLock::new(|| {
    let form = |pattern: &str| {
        RegexBuilder::new(pattern).case_insensitive(true).build().expect("the pattern is a constant")
    };
    Identifiers {
        eli: form("/eli/(reg|reg_impl|reg_del|dir|dir_impl|dir_del)/([0-9]{4})/([0-9]{1,6})(?:[/?]|$)"),
        celex: form("(?:^|[^0-9a-z])3([0-9]{4})([rl])([0-9]{4})(?:[^0-9]|$)"),
        register: form("(?:^|[^0-9a-z])(TAR[.][0-9A-F]{12}|TAIS[.][0-9]+)(?:[^0-9a-z]|$)"),
    }
});

/// Every identifier in the link has to be that of the act.
fn eu(path: &str, act: Option<EuNumber>) -> Link {
    let number = |digits: &str| digits.parse().unwrap_or(u32::MAX);
    let elis = IDENTIFIERS.eli.captures_iter(path).map(|found| EuNumber {
        is_directive: found[1].to_ascii_lowercase().starts_with("dir"),
        year: number(&found[2]),
        number: number(&found[3]),
    });
    let celexes = IDENTIFIERS.celex.captures_iter(path).map(|found| EuNumber {
        is_directive: found[2].eq_ignore_ascii_case("l"),
        year: number(&found[1]),
        number: number(&found[3]),
    });
    verdict(elis.chain(celexes).map(|found| Some(found) == act))
}

/// Of an act whose number in this register nobody knows, an identifier says something only if it is
/// that of another act.
fn lithuanian(path: &str, named: &Named<'_>, registry: &Registry) -> Link {
    let is = |known: &Option<String>, found: &str| {
        known.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(found))
    };
    let compared = IDENTIFIERS.register.captures_iter(path).filter_map(|found| {
        let found = found.get(1)?.as_str();
        let in_tar = found[..4].eq_ignore_ascii_case("TAR.");
        let own = named.known.and_then(|act| if in_tar { act.tar.as_ref() } else { act.tais.as_ref() });
        match own {
            Some(own) => Some(own.eq_ignore_ascii_case(found)),
            None => {
                let of_another =
                    registry.acts().iter().any(|act| is(&act.tar, found) || is(&act.tais, found));
                of_another.then_some(false)
            }
        }
    });
    verdict(compared)
}

fn verdict(compared: impl Iterator<Item = bool>) -> Link {
    match compared.reduce(|all, this| all && this) {
        Some(true) => Link::Match,
        Some(false) => Link::Mismatch,
        None => Link::WithoutIdentifier,
    }
}

fn holds(path: &str, word: &str) -> Link {
    let path = path.split('?').next().unwrap_or_default();
    if path.to_lowercase().contains(word) { Link::Match } else { Link::WithoutIdentifier }
}
